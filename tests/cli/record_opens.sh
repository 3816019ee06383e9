#!/bin/bash
# SPDX-License-Identifier: MIT
# What pstat record asks of the kernel is what perf record asks on the same command line, attr by attr and
# place by place. The differences on purpose stand in record_opens.py.
. "${0%/*}/../lib.sh"
need_perf
perf_without_kernel
need_cmd strace
need_cmd "$PYTHON"
need_paranoid 2
# The leak check cannot run under ptrace.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
# One for both: perf's differs between users, and what may be locked is for all that run at once.
rings="-m 4"

# opens FOLDER PROGRAM ARGUMENT...
opens()
{
	local folder=$1

	shift
	mkdir -p "$folder"
	strace -f --seccomp-bpf -v -s 200 -e trace=perf_event_open,ioctl -e signal=none -o "$folder/trace" \
		"$1" record $rings -o "$folder/x" "${@:2}" >"$folder/said" 2>&1 </dev/null
	echo $? >"$folder/status"
}

# beside_perf ARGUMENT...: of record. perf mostly waits, so those of a test run at the same time.
pid=none
n=0
declare -a names
beside_perf()
{
	local name="record $*"

	names[n += 1]=${name//$pid/PID}
	opens $n/perf perf "$@" &
	jobs[n]=$!
	# perf has stacks in its files, and no word for it.
	opens $n/pstat "$PSTAT" "${@/#dwarf/dwarf,raw}"
}

# compare [WHAT]: those until here, what they opened or were refused; $alike is done to both.
alike=cat
compare()
{
	local i

	ran=
	wait ${jobs[*]}
	"$PYTHON" "$ROOT/tests/cli/record_opens.py" "${1:-opened}" */*/trace
	for i in ${!names[*]}; do
		if [ -s $i/perf/trace.normal ]; then
			same "${names[i]}" "$($alike <$i/perf/trace.normal)" "$($alike <$i/pstat/trace.normal)"
		else
			fail "${names[i]}: perf opens something" "$(tail -n 5 $i/perf/said)"
		fi
	done
}

test_how_often()
{
	beside_perf -e task-clock:u -- true
	beside_perf -F 99 -e cpu-clock:u -- true
	beside_perf -F max -k monotonic -e cpu-clock:u -- true
	beside_perf -c 1000 -e cpu-clock:u -- true
	beside_perf -F 99 -e cpu-clock/period=100000/u,cpu-clock/freq=50/u,faults:u -- true
	compare
}

test_what_a_sample_holds()
{
	beside_perf -e cpu-clock:u --call-graph fp -- true
	beside_perf -e cpu-clock/call-graph=fp,max-stack=10/u,faults/call-graph=no/u -- true
	# What perf adds of itself: the data addresses.
	beside_perf -e cpu-clock:u --call-graph dwarf,4096 -d -- true
	beside_perf -e cpu-clock:u -d -- true
	beside_perf -e cpu-clock:u -W --data-page-size --code-page-size -- true
	beside_perf -e cpu-clock:u -T -P -R --sample-cpu --sample-identifier -- true
	beside_perf -e cpu-clock:u --no-timestamp -- true
	beside_perf -e cpu-clock:u --user-regs=ip,sp --intr-regs=ax -- true
	compare
}

test_what_else_is_recorded()
{
	beside_perf -e cpu-clock:u -s --switch-events -- true
	beside_perf -e cpu-clock:u -n -- true
	beside_perf -e cpu-clock:u -i -k CLOCK_BOOTTIME -- true
	beside_perf -e cpu-clock:u -D 5 -- true
	beside_perf -e cpu-clock:u -D -1 -- true
	# One ring, which perf then needs no times for.
	beside_perf -e cpu-clock:u --per-thread -T -- true
	compare
}

# perf leaves what tasks do to its first event, also where the ring of that is overwritten, or where it does
# not follow children that another one follows; pstat gives it to an event of its own.
without_tracking()
{
	grep -v SW_DUMMY | sed -E 's/ (bpf_event|comm|comm_exec|ksymbol|mmap|mmap2|task)=1//g' | sort
}

test_where_the_first_event_does_not_see_all()
{
	beside_perf -e cpu-clock:u --overwrite -- true
	beside_perf -e cpu-clock/overwrite/u -- true
	beside_perf -e '{faults:u,task-clock:u}:S' -e cpu-clock:u -g -- true
	alike=without_tracking
	compare
}

test_physical_addresses()
{
	need_paranoid 0
	beside_perf -e cpu-clock --phys-data -d -- true
	compare
}

test_events()
{
	beside_perf -e cpu-clock:u,faults:u,task-clock:u -- true
	beside_perf -e '{faults:u,task-clock:u}:S' -- true
	beside_perf -e cpu-clock:uG,faults:uI,minor-faults:uD,cpu-clock:uh -- true
	compare
}

test_breakpoints()
{
	need_breakpoints
	beside_perf -e mem:0x1000:w:u,mem:0x1000/8:rw:u,mem:0x1000:x:u -- true
	compare
}

# perf does not ask AMD's processors to leave guests out, whose unit for precise events cannot; pstat asks, and gives way
# where it is refused.
test_default_event()
{
	need_paranoid 1
	beside_perf -- true
	! grep -q AuthenticAMD /proc/cpuinfo || alike='sed s/.exclude_guest=1//'
	compare
}

test_kernel_side()
{
	need_paranoid 1
	beside_perf -e cpu-clock --namespaces --all-cgroups -- true
	beside_perf -e cpu-clock --all-user -- true
	beside_perf -e cpu-clock --all-kernel -- true
	beside_perf -e cpu-clock,cs:k -g -- true
	compare
}

test_tracepoints()
{
	need_tracefs
	need_paranoid -1
	beside_perf -e sched:sched_wakeup,sched:sched_switch -g -- true
	beside_perf -e sched:sched_switch --filter 'prev_pid == 1' -- true
	beside_perf -e sched:sched_switch --filter 'prev_pid == 1' --exclude-perf -a -- true
	beside_perf -e '{sched:sched_switch,sched:sched_wakeup}:S' -c 1 -- true
	beside_perf -e sched:sched_switch,cpu-clock -F 100 -- true
	compare
}

# Its readers and the thread that writes are other threads than the one that opens the events.
test_no_thread_of_its_own()
{
	local own

	need_tracefs
	need_paranoid -1
	need_first_pid_namespace
	"$PSTAT" record -q -o own -a -e syscalls:sys_enter_write,syscalls:sys_enter_poll,syscalls:sys_enter_pwrite64 \
		--exclude-perf --threads -m 8K -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; done; sleep 1.3' >out &
	own=$!
	wait "$own"
	same "status" 0 "$?"
	check "others are in it" test "$("$PSTAT" script -F pid -i own | wc -l)" -ge 9
	same "none of pstat itself" 0 "$("$PSTAT" script -F pid -i own | grep -cw "$own")"
}

test_whole_cpus()
{
	need_paranoid 0
	beside_perf -C 0 -e cpu-clock,faults -- true
	beside_perf -a -g -e '{cpu-clock,faults}' -- true
	beside_perf -a -d --namespaces --switch-events -e cpu-clock -- true
	compare
}

test_tasks()
{
	sleep 300 &
	pid=$!
	beside_perf -p $pid -e cpu-clock:u,faults:u -- true
	beside_perf -t $pid -e cpu-clock:u -- true
	beside_perf -p $pid -D 5 -e cpu-clock:u -- true
	beside_perf -p $pid -i -e '{faults:u,task-clock:u}:S' -- true
	beside_perf -p $pid --per-thread -T -e cpu-clock:u -- true
	compare
	kill $pid
}

test_tasks_of_a_user()
{
	need_root
	need_cmd setpriv
	getent passwd games >/dev/null || skip "needs the user games, who runs nothing"
	setpriv --reuid games --clear-groups sleep 300 &
	pid=$!
	until [ "$(stat -c %U /proc/$pid)" = games ]; do sleep 0.01; done
	beside_perf -u games -e cpu-clock,faults -- true
	compare
	kill $pid
}

test_cgroups()
{
	local root folder

	need_root
	need_paranoid 0
	root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }
		$3 == "cgroup2" && !v2 { v2 = $2 } END { print v2 }' /proc/mounts | head -1)
	folder=$root/pstat-opens-$$
	[ "$root" ] && mkdir "$folder" 2>/dev/null || skip "needs a cgroup for perf_event"
	beside_perf -a -e cpu-clock,faults -G "pstat-opens-$$,pstat-opens-$$" -- true
	compare
	rmdir "$folder"
}

# Without a counter unit there are no branch records either: the same is tried in vain. pstat says so, and
# does not take the clock for cycles, which has none.
test_branches()
{
	need_no_counter_unit
	need_paranoid 1
	beside_perf -e cpu-clock:u -b -- true
	beside_perf -e cpu-clock:u -j any_ret,ind_call,save_type -- true
	compare refused
	for folder in */; do
		same "record fails: perf, pstat" "not 0, not 0" "$(sed 's/^[^0].*/not 0/' \
			"$folder/perf/status" "$folder/pstat/status" | paste -sd, | sed 's/,/, /')"
	done
	for words in -b "-j any_call" "-e cycles:u -b" "--call-graph lbr"; do
		# shellcheck disable=SC2086 # words
		fails_with 125 "cannot be sampled: branch records are made by a CPU's counter unit" \
			"$PSTAT" record -o refused $words -- true
		has_not "$words: no clock instead" "sampling cpu-clock" "$err"
	done
	has "lbr: other callchains" "--call-graph fp or --call-graph dwarf" "$err"
}

run_tests
