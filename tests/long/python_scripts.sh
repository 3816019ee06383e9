#!/bin/bash
# SPDX-License-Identifier: MIT
# Every script in Python of a package of perf, run by that perf and by pstat over the same recordings: what they print,
# and how those die that do not fit this kernel's tracepoints, is equal.
#
#	PERF="perf" PERF_SCRIPTS=/usr/lib/perf-core/scripts/python
#
# are the perf, in words that may have options, and the folder of its scripts. A perf in a root of its own sees this
# test's folder in /tmp by the same path. What is different is in two functions below, with its reason, and nowhere else.
. "${0%/*}/../lib.sh"
read -ra perf <<<"${PERF:-perf}"
for found in "${PERF_SCRIPTS:-}" /usr/lib{,exec}/perf-core/scripts/python; do
	[ ! -e "$found/syscall-counts.py" ] || break
done
[ -e "$found/syscall-counts.py" ] || skip "needs perf's scripts: PERF_SCRIPTS"
export PERF_EXEC_PATH=$tmp/core
scripts=$PERF_EXEC_PATH/scripts/python
mkdir -p "${scripts%/*}"
cp -r "$found" "$scripts" || exit 1
# Its database would have the samples of all runs.
sed -i 's|/dev/shm/perf.db|:memory:|' "$scripts/event_analyzing_sample.py"

# Threads that wait for each other, system calls that fail, packets, new processes.
work()
{
	"$PYTHON" -S - <<-'P'
		import os, socket, subprocess, threading, time
		def fail():
		    for i in range(20):
		        try:
		            open("/nowhere/%d" % i)
		        except OSError:
		            pass
		lock = threading.Lock()
		def wait():
		    for i in range(50):
		        with lock:
		            time.sleep(0.0005)
		threads = [threading.Thread(target=task) for task in (fail, wait) * 3]
		for thread in threads:
		    thread.start()
		for thread in threads:
		    thread.join()
		server = socket.create_server(("127.0.0.1", 0))
		one = socket.create_connection(server.getsockname())
		other = server.accept()[0]
		for i in range(50):
		    one.send(b"x" * 100)
		    other.recv(100)
		for i in range(3):
		    subprocess.run(["true"])
	P
}

# Events of one system, those of them that this kernel has.
events()
{
	local name

	for name; do
		[ ! -e "/sys/kernel/tracing/events/${name/://}" ] || printf '%s,' "$name"
	done
}

record_all()
{
	local sched softirqs net

	sched=$(events sched:sched_{switch,wakeup,wakeup_new,migrate_task,process_fork})
	softirqs=$(events irq:softirq_{entry,exit,raise} irq:irq_handler_{entry,exit})
	net=$(events net:net_dev_{queue,xmit} net:netif_{rx,receive_skb} skb:consume_skb skb:skb_copy_datagram_iovec napi:napi_poll)
	export -f work
	export PYTHON
	record tasks "$sched$(events raw_syscalls:sys_{enter,exit} syscalls:sys_{enter,exit}_futex kmem:kmalloc)" bash -c work
	record system "$sched$softirqs$net$(events compaction:mm_compaction_{begin,end,migratepages})" -a bash -c work
	record dropped "$(events skb:kfree_skb)" -a bash -c work
	# After the loader, whose inlined functions only pstat names, by the distribution's debug information.
	record clock cpu-clock -g -D 50 "$WORK/callers" known 300
	record plain cpu-clock -D 50 "$WORK/callers" known 100
	lend_debug_information clock.data
	"$PSTAT" stat record -o counts.data -I 10 -e task-clock:u,page-faults:u -- "$WORK/exact" spins:100 2>/dev/null
}

# pstat finds the distribution's debug information by itself; a perf in another root has what is here.
lend_debug_information()
{
	local id place debug

	while read -r id _; do
		place=$HOME/.debug/.build-id/${id:0:2}/${id:2}
		debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
		[ ! -d "$place" ] || [ ! -e "$debug" ] || cp "$debug" "$place/debug"
	done < <("$PSTAT" buildid-list -i "$1")
}

# record NAME EVENTS [OPTION...] COMMAND...
record()
{
	"$PSTAT" record -q -o "$1.data" -e "${2%,}" "${@:3}" >/dev/null || fail "$1 is recorded"
}

# What perf prints and pstat does not: a hint of its module Util, where Python has no module audit; versions of
# functions in libraries (pstat-report(1), DIFFERENCES FROM PERF), for which columns are shifted. What pstat knows and
# perf does not: code of BPF programs that began before the recording is the kernel's.
without_hint()
{
	sed '/^Install the .* package to get syscall names/,/^ *$/d; s/@@*[A-Z][A-Z_]*[0-9][0-9.]*//g; s/  */ /g; s/\[unknown\]_\[k\]/[unknown]/g
		s/"n": "\[unknown\]", "l": "kernel"/"n": "[unknown]", "l": ""/g'
}

# perf 7 forgets the names of tasks that have ended, which are in the kernel once more: ":123". They are on both sides.
without_ended()
{
	awk 'NR == FNR { ended[FNR] = /[ =]:[0-9]+ /; next } { print ended[FNR] ? "of a task that has ended" : $0 }' perf.out "$1"
}

# What is left of an end by an exception: its last line.
exception() { grep -a '^[A-Za-z]*Error: ' "$1"; }

# compare SCRIPT RECORDING [ARGUMENT...]: both print the same, and write the same into the file "written".
compare()
{
	local script=$1 recording=$2 what="$1 $2 ${*:3}" one status=

	for one in perf pstat; do
		local -a program=("${perf[@]}")

		rm -f written
		[ "$one" = perf ] || program=("$PSTAT")
		"${program[@]}" script -i "$recording.data" -s "$scripts/$script.py" -- "${@:3}" </dev/null >"$one.raw" 2>"$one.err"
		status+="$one $? "
		without_hint <"$one.raw" >"$one.out"
		[ ! -e written ] || without_hint <written >>"$one.out"
	done
	if exception pstat.err >/dev/null; then
		same "$what: the same exception" "$(exception perf.err)" "$(exception pstat.err)"
	else
		same "$what: status" "perf 0 pstat 0 " "$status"
	fi
	same "$what: lines" "$(wc -l <perf.out)" "$(wc -l <pstat.out)"
	same "$what: output" "" "$(diff <(without_ended perf.out) <(without_ended pstat.out) | head -n 6)"
	compared+=" $script "
}

# A program that prints what it has counted at intervals by the clock prints it once, at the end.
compare_totals()
{
	sed '/start_new_thread/s/[a-z_]*thread\..*/pass/' "$scripts/$1.py" >"$scripts/$1-once.py"
	printf '\ndef trace_end():\n    print(sorted(syscalls.items()))\n' >>"$scripts/$1-once.py"
	compare "$1-once" "${@:2}"
	compared+=" $1 "
}

# None is forgotten. Those that are not run need Qt's databases (tests/cli/script_tables.sh has the rows that they are
# handed), wx, Qt, a trace by hardware; one is a module, and one a program that perf script does not run.
all_are_compared()
{
	local script path not_run=" export-to-sqlite export-to-postgresql sched-migration exported-sql-viewer arm-cs-trace-disasm libxed parallel-perf "

	for path in "$found"/*.py; do
		script=${path##*/}
		script=${script%.py}
		[[ $not_run == *" $script "* ]] || check "$script was compared" test "${compared/ $script /}" != "$compared"
	done
}

test_scripts()
{
	local recording script compared=

	need_root
	need_tracefs
	"${perf[@]}" script -i "$ROOT/tests/golden/plain.data" -s "$ROOT/tests/cli/script_python.py" 2>/dev/null |
		grep -q '^begin' || skip "needs a perf that has Python: PERF"
	record_all
	for script in syscall-counts syscall-counts-by-pid failed-syscalls-by-pid; do
		compare "$script" tasks
		compare "$script" tasks python3
	done
	compare futex-contention tasks
	compare_totals sctop tasks
	for recording in tasks system clock plain; do
		compare event_analyzing_sample "$recording"
		compare check-perf-trace "$recording"
		compare stackcollapse "$recording"
		compare mem-phys-addr "$recording"
		compare powerpc-hcalls "$recording"
		compare intel-pt-events "$recording"
	done
	compare stackcollapse clock --include-tid --include-pid --kernel
	compare stat-cpi counts
	compare netdev-times system
	compare netdev-times system tx rx
	compare net_dropmonitor dropped
	compare netdev-times dropped
	compare compaction-times system
	compare flamegraph clock -f json -o written
	for script in task-analyzer gecko; do
		[ -e "$scripts/$script.py" ] || continue
		[ "$script" != gecko ] || { compare gecko clock --save-only written; continue; }
		compare task-analyzer system
		compare task-analyzer tasks --ns --summary-extended
		compare task-analyzer tasks --csv written
	done
	all_are_compared
}

run_tests
