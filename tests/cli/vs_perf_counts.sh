#!/bin/bash
# SPDX-License-Identifier: MIT
# What is counted: the same as perf, and the same as the work's own truth.
. "${0%/*}/vs_perf.bash"

# Of a program that has all its own pages by then: how many faults its start takes depends on the page cache.
test_page_faults()
{
	local p events=page-faults:u,minor-faults:u,major-faults:u

	"$EXACT" lock 2>/dev/null || skip "needs leave to lock a few MiB of memory (ulimit -l)"
	for p in perf "$PSTAT"; do
		waiting 1 lock wait pages:2000
		same "${p##*/}: 2000 pages are 2000 faults, all of them minor" "2000 2000 0" \
			"$(counted "$p" -e $events -p $pid -- "$release" $pid | paste -sd ' ')"
		kill $holder
	done
}

# near NUMBER NUMBER: at most 8 apart.
near() { test $(($1 - $2)) -ge -8 -a $(($1 - $2)) -le 8; }

# near_faults NAME EVENT: in one of a few pairs of runs; where the page cache changes between two, a pair differs.
near_faults()
{
	local try perfs own

	for try in {1..8}; do
		perfs=$(counted perf -e "$2" -- "$EXACT" pages:77)
		own=$(counted "$PSTAT" -e "$2" -- "$EXACT" pages:77)
		near "$perfs" "$own" 2>/dev/null && break
	done
	check "$1: $perfs and $own, pair $try" near "$perfs" "$own"
}

test_faults_from_the_start()
{
	near_faults "with the faults of the program's start" page-faults:u
	need_paranoid 1
	near_faults "also the kernel's at exec" page-faults
}

test_dummy_and_never()
{
	exactly "events that don't happen" "0 0 0" -e dummy:u,alignment-faults:u,emulation-faults:u \
		-- "$EXACT" pages:10 stores:10
}

# The task is tied to one CPU and moves N times: nobody else can move it.
test_migrations()
{
	need_cpus 2
	need_cmd taskset
	need_paranoid 1
	taskset -c 0 true || skip "needs CPU 0"
	local p

	for p in perf "$PSTAT"; do
		ran=
		same "${p##*/}: moves between CPUs" 50 \
			"$(taskset -c 0 setarch -R "$p" stat -x, -e cpu-migrations -- "$EXACT" migrations:50 2>&1 |
				cut -d, -f1)"
	done
}

# Between two lines of --control the kernel counts the same things for getrusage(2): not less than
# what is surely inside, not more than what may be inside.
test_switches_between_enable_and_disable()
{
	need_paranoid 1
	local p at_least at_most faults_least faults_most switches faults

	mkfifo ctl ack
	exec 10<>ctl 11<>ack
	for p in perf "$PSTAT"; do
		setarch -R "$p" stat -x, -o rows -D -1 --control fd:10,11 -e cs,faults -- \
			"$EXACT" enable sleeps:300 pages:400 disable sleeps:50 >truth 2>said
		read -r at_least at_most faults_least faults_most <truth
		switches=$(awk -F, '$3 ~ /cs/ { print $1 }' rows)
		faults=$(awk -F, '$3 ~ /faults/ { print $1 }' rows)
		# Not quite 300: so short a sleep can be over before it begins.
		check "${p##*/}: 0 < $at_least <= context switches $switches <= $at_most" \
			[ 0 -lt "$at_least" -a "$at_least" -le "$switches" -a "$switches" -le "$at_most" ]
		check "${p##*/}: 400 <= $faults_least <= page faults $faults <= $faults_most" \
			[ 400 -le "$faults_least" -a "$faults_least" -le "$faults" -a "$faults" -le "$faults_most" ]
	done
	exec 10<&- 11<&-
}

test_breakpoints()
{
	need_breakpoints
	exactly "stores to a variable" 1234 -e "$stores" -- "$EXACT" stores:1234
	exactly "a length" 7 -e "mem:$cell/4:w:u" -- "$EXACT" stores:7
	exactly "reads and writes: loads are none" 7 -e "mem:$cell/4:rw:u" -- "$EXACT" stores:7
	exactly "calls of a function" 4321 -e "mem:$called:x:u" -- "$EXACT" calls:4321
	exactly "both, and one is not the other" "20 30" -e "$stores,mem:$called:x:u" -- \
		"$EXACT" stores:20 calls:30
	exactly "several -e are one list" "20 30" -e "$stores" -e "mem:$called:x:u" -- \
		"$EXACT" stores:20 calls:30
	exactly "stores in user mode are none in the kernel" 0 -e "mem:$cell:w:h" -- "$EXACT" stores:20
}

test_groups()
{
	need_breakpoints
	exactly "a group" "20 30 0" -e "{$stores,mem:$called:x:u,dummy:u}" -- "$EXACT" stores:20 calls:30
	exactly "a weak group" "20 30" -e "{$stores,mem:$called:x:u}:W" -- "$EXACT" stores:20 calls:30
	exactly "a group with a name, and one outside" "20 30 20" \
		-e "pair{$stores,mem:$called:x:u},$stores" -- "$EXACT" stores:20 calls:30
	same "members of a group ran for the same time" 1 "$(rows "$PSTAT" \
		-e "{$stores,mem:$called:x:u,dummy:u}" -- "$EXACT" stores:9 calls:9 | cut -d '|' -f 4 | uniq | wc -l)"
}

test_repeat()
{
	need_breakpoints
	local p

	for p in perf "$PSTAT"; do
		ran=
		same "${p##*/}: three equal runs: mean and no deviation" "20||$stores|0.00% 30||mem:$called:x:u|0.00%" \
			"$(rows "$p" -r 3 -e "$stores,mem:$called:x:u" -- "$EXACT" stores:20 calls:30 |
				cut -d '|' -f 1-4 | paste -sd ' ')"
	done
}

test_intervals_add_up()
{
	need_breakpoints
	local p work=(stores:10 sleeps:300 stores:10 sleeps:300 stores:10)

	for p in perf "$PSTAT"; do
		setarch -R "$p" stat -I 10 --summary -x, -o rows -e "$stores" -- "$EXACT" "${work[@]}" 2>/dev/null
		ran=
		same "${p##*/}: intervals add up to all stores, and so does the summary" "30 30" "$(awk -F, -v e="$stores" '
			$4 == e && $1 ~ /summary/ { last += $2 } $4 == e && $1 !~ /summary/ { sum += $2 }
			END { print sum, last }' rows)"
	done
	check "in more than one interval" [ "$(grep -vc -e summary -e '^#' -e '^$' rows)" -gt 1 ]
}

test_all_user_and_all_kernel()
{
	need_breakpoints
	need_paranoid 1
	exactly "--all-user" "20" --all-user -e "mem:$cell:w" -- "$EXACT" stores:20
	# Not stores: the kernel itself clears the page of the variable at exec.
	exactly "--all-kernel" "0" --all-kernel -e "mem:$called:x" -- "$EXACT" calls:20
}

test_tracepoints()
{
	need_tracefs
	need_paranoid -1
	exactly "a system call" 20 -e syscalls:sys_enter_write -- "$EXACT" writes:20
	exactly "enter and exit, several threads" "80 80" \
		-e syscalls:sys_enter_write,syscalls:sys_exit_write -- "$EXACT" threads:4 writes:20
	# perf has them in the folder's order, pstat in the alphabet's: here both are equal.
	exactly "a pattern" "20 20" -e 'syscalls:sys_*_write' -- "$EXACT" writes:20
	exactly "a group of tracepoints" "20 20" \
		-e '{syscalls:sys_enter_write,syscalls:sys_exit_write}' -- "$EXACT" writes:20
	ran=
	same "a pattern: the same events" "$(rows perf -e 'syscalls:sys_*_write*' -- "$EXACT" writes:5 |
		cut -d '|' -f 1-3 | sort)" "$(rows "$PSTAT" -e 'syscalls:sys_*_write*' -- "$EXACT" writes:5 |
		cut -d '|' -f 1-3 | sort)"
}

test_filters()
{
	need_tracefs
	need_paranoid -1
	local two=(-- "$EXACT" writes:30:1 writes:20:2)

	exactly "a filter" 30 -e syscalls:sys_enter_write --filter 'fd == 1' "${two[@]}"
	exactly "a filter with ||" 50 -e syscalls:sys_enter_write --filter 'fd == 1 || fd == 2' "${two[@]}"
	exactly "a filter is of the -e before it" "30 50 20" -e syscalls:sys_enter_write --filter 'fd == 1' \
		-e syscalls:sys_exit_write -e syscalls:sys_enter_write --filter 'fd == 2' "${two[@]}"
	exactly "a filter that nothing passes" 0 -e syscalls:sys_enter_write --filter 'fd == 99' "${two[@]}"
	fails_with 255 "filter|field" perf stat -e syscalls:sys_enter_write --filter 'nonsense == 1' -- true
	fails_with 125 "it has no field 'nonsense'" "$PSTAT" stat -e syscalls:sys_enter_write \
		--filter 'nonsense == 1' -- true
	fails_with 125 "did you mean 'count'" "$PSTAT" record -o filtered -e syscalls:sys_enter_write \
		--filter 'fd == 1 && (coun == 3)' -- true
}

# The kernel opens ftrace's own event, which it writes without telling perf events: 0 for ever.
test_ftraces_own()
{
	need_tracefs
	need_root
	[ -w /sys/kernel/tracing/trace_marker ] || skip "needs trace_marker to be writable"
	[ -e /sys/kernel/tracing/events/ftrace/print/id ] || skip "needs ftrace:print to have an id"
	run "$PSTAT" stat -a -e ftrace:print,dummy -- sh -c 'echo one >/sys/kernel/tracing/trace_marker'
	has "what is never counted is not 0" "^ *<not supported> +ftrace:print +#  it goes to ftrace's own buffer" "$err"
}

# What a probe of a task cannot see, and whether there was something. With -a it counts in all programs, also for another
# user's run of this test: at least what is done here.
test_uprobes_and_other_tasks()
{
	local probe='uprobe/path='$EXACT',func=called/' less='(at least: without the children and new threads that ran: -a counts them)'
	local how works want mark row

	need_uprobes
	for how in "calls:3|3|" "calls:1 threads:3 calls:2|1|$less" "threads:3 calls:2|0|$less" \
		"forks:2 calls:2|0|$less" "pages:50 calls:7|7|"; do
		IFS='|' read -r works want mark <<<"$how"
		run "$PSTAT" stat -e "$probe" -- "$EXACT" $works
		row=$(grep probe_ <<<"$err" | grep -v '^pstat')
		same "$works" "$want$mark" "$(sed -E 's/^ *([0-9]+) +[^ ]+ */\1/; s/ *$//' <<<"$row")"
	done
	has "the note says what to do" '^  -a counts them' "$err"
	has_not "a place that is executed" 'it will be 0' "$err"
	run "$PSTAT" stat -e "uprobe/path=$EXACT,offset=0x10/" -- "$EXACT" calls:1
	has "the head of the file is no code" "it will be 0: offset 0x10 is not in an executable part of .*exact" "$err"
	run "$PSTAT" stat -e "uprobe/path=$EXACT,offset=$called_offset/" -- "$EXACT" calls:1
	has_not "the function is" 'it will be 0' "$err"
	run "$PSTAT" stat -j -e "$probe" -- "$EXACT" threads:3 calls:2
	has "JSON" '"counter-value" : "0.000000".*"partial" : true' "$err"
	run "$PSTAT" stat -i -e "$probe" -- "$EXACT" threads:3 calls:2
	has_not "-i asks for no others" 'at least' "$err"
	run "$PSTAT" stat -a -x, -e "$probe" -- "$EXACT" threads:3 calls:2
	check "-a counts them" test "$(grep -v '^pstat' <<<"$err" | grep probe_ | cut -d, -f1)" -ge 6
}

test_uprobes()
{
	need_tracefs
	need_uprobes
	need_root
	local group="pstat_test_$$" perf_says

	if ! echo "p:$group/called $EXACT:$called_offset" >>/sys/kernel/tracing/uprobe_events 2>/dev/null; then
		skip "needs uprobe_events to be writable"
	fi
	perf_says=$(counted perf -e "$group:called" -- "$EXACT" calls:250 forks:2 calls:50)
	ran=
	same "perf, through tracefs" 350 "$perf_says"
	same "pstat, through tracefs" 350 \
		"$(counted "$PSTAT" -e "$group:called" -- "$EXACT" calls:250 forks:2 calls:50)"
	echo "-:$group/called" >>/sys/kernel/tracing/uprobe_events
	same "pstat, a probe of its own" 250 \
		"$(counted "$PSTAT" -e "uprobe/path=$EXACT,func=called/" -- "$EXACT" calls:250)"
	same "by its offset in the file" 250 \
		"$(counted "$PSTAT" -e "uprobe/path=$EXACT,offset=$called_offset/" -- "$EXACT" calls:250)"
	same "on its return" 250 \
		"$(counted "$PSTAT" -e "uprobe/path=$EXACT,func=called,retprobe/" -- "$EXACT" calls:250)"
	# The kernel can't hand such a probe on: with inherit, fork() in the measured program fails.
	run "$PSTAT" stat -x, -o rows -e "{dummy,uprobe/path=$EXACT,func=called,name=calls/}" -- \
		"$EXACT" calls:250 forks:2 calls:50
	same "the measured program can still fork" 0 "$status"
	has "its children are not counted" "^250,,calls," "$(<rows)"
	has "and that is said" "^pstat: .*child processes and new threads are not counted" "$err"
}

# The times are told twice in one output: as events, and as the last lines.
test_tool_events()
{
	local seconds

	run "$PSTAT" stat --no-big-num -e duration_time,user_time,system_time -- "$EXACT" pages:3000
	# Not by print: mawk has six digits of what is above 2^31, which is 2.1 s.
	seconds='{ split($1, s, "."); printf "%.0f\n", s[1] * 1000000000 + s[2] }'
	same "duration_time is the time elapsed" "$(awk '/seconds time elapsed/'"$seconds" <<<"$err")" \
		"$(awk '/duration_time/ { print $1 }' <<<"$err")"
	same "user_time is the seconds user" "$(awk '/seconds user/'"$seconds" <<<"$err")" \
		"$(awk '/user_time/ { print $1 }' <<<"$err")"
	same "system_time is the seconds sys" "$(awk '/seconds sys/'"$seconds" <<<"$err")" \
		"$(awk '/system_time/ { print $1 }' <<<"$err")"
	run "$PSTAT" stat -r 2 -x, -e duration_time,user_time,system_time -- "$EXACT" pages:100
	same "with -r too" "duration_time user_time system_time" "$(cut -d, -f3 <<<"$err" | paste -sd ' ')"
}

# Not beside perf: in some runs it loses the status of a short command and ends with 0.
test_exit_status()
{
	run "$PSTAT" stat -e dummy:u -o /dev/null -- sh -c 'exit 7'
	same "the command's exit status" 7 "$status"
	run "$PSTAT" stat -e dummy:u -o /dev/null -- sh -c 'kill -TERM $$'
	same "of a command that a signal ended" 143 "$status"
}
run_tests
