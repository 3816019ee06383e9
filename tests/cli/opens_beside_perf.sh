#!/bin/bash
# SPDX-License-Identifier: MIT
# What pstat asks of the kernel is what perf asks on the same command line: both under strace, each
# perf_event_open in a normal form.
#
# Where the kernel's side is forbidden the two part on purpose: perf counts context-switches:u then, which
# is always 0; pstat says that they cannot be counted.
. "${0%/*}/../lib.sh"
need_perf
need_cmd strace
need_cmd "$PYTHON"
# The leak check cannot run under ptrace.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

opens()
{
	strace -f -v -e trace=perf_event_open -o "$tmp/trace" "$@" >/dev/null 2>&1 </dev/null
	"$PYTHON" "$ROOT/tests/cli/strace_opens.py" <"$tmp/trace"
}

# beside_perf ARGUMENT...: of stat.
pid=none
beside_perf()
{
	local theirs ours name="stat $*"

	name=${name//$pid/PID}
	theirs=$(opens perf stat -o /dev/null "$@")
	ours=$(opens "$PSTAT" stat -o /dev/null "$@")
	[ "$theirs" ] || { fail "$name: perf opens something" "$(tail -n 5 "$tmp/trace")"; return; }
	ran=
	same "$name" "$theirs" "$ours"
}

test_command()
{
	need_paranoid 1
	beside_perf -e task-clock,context-switches,cpu-migrations,page-faults -- true
	beside_perf -e cycles,instructions,L1-dcache-load-misses,r1a -- true
	beside_perf -e '{faults,cs}' -- true
	beside_perf -e '{faults,cs}:W,task-clock' -- true
	beside_perf -i -e faults,cs -- true
	beside_perf -I 1000 -e faults -- true
	beside_perf -r 2 -e faults -- true
	beside_perf -D 1 -e faults -- sleep 0.01
}

test_user_mode()
{
	beside_perf -e faults:u,task-clock:u -- true
	beside_perf -e '{faults:u,task-clock:u}' -- true
	beside_perf -e faults,minor-faults -- true
	beside_perf -e cycles,instructions -- true
}

test_modifiers()
{
	local letters

	need_paranoid 1

	for letters in u k h uk kh uh I G H GH uG D e p upp; do
		beside_perf -e "faults:$letters" -- true
	done
	beside_perf -e '{faults:u,cs}:k' -- true
	beside_perf -e '{faults,cs}:D' -- true
	beside_perf --all-user -e faults,page-faults -- true
}

test_breakpoints()
{
	need_breakpoints
	beside_perf -e mem:0x1000:w:u,mem:0x1000/8:rw:u -- true
}

test_default_events()
{
	need_paranoid 1
	beside_perf -- true
	beside_perf -d -- true
	beside_perf -ddd -- true
}

test_cpus()
{
	need_paranoid 0
	# One software event: several of them share a group here (tests/attr/system_wide_batch.attr).
	beside_perf -a -e cs,cycles -- true
	beside_perf -C 0 -e '{faults,cs}' -- true
	beside_perf -A -a -e faults -- true
}

test_tracepoints()
{
	need_tracefs
	need_paranoid -1
	beside_perf -e sched:sched_switch,sched:sched_wakeup -- true
	beside_perf -a -e sched:sched_switch --filter 'prev_pid == 1' -- true
}

test_tasks()
{
	sleep 300 &
	pid=$!
	beside_perf -p $pid -e faults:u,task-clock:u -- true
	beside_perf -t $pid -e '{faults:u,minor-faults:u}' -- true
	beside_perf --per-thread -p $pid -e faults:u -- true
	kill $pid
}
run_tests
