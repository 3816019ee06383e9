#!/bin/bash
# SPDX-License-Identifier: MIT
# Without a command, a task or CPUs, record and stat are about the whole system, as with perf.
. "${0%/*}/../lib.sh"

# Interrupted once PROOF holds: the program has begun.
until_then() # PROOF... -- CMD...
{
	local proof=()

	while [ "$1" != -- ]; do proof+=("$1"); shift; done
	shift
	"$@" >out 2>err </dev/null &
	pid=$!
	until "${proof[@]}" || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
	kill -INT $pid 2>/dev/null
	wait $pid
}
lines() { [ "$(grep -Ec "$1" err)" -ge "$2" ]; }

test_stat()
{
	need_paranoid 0
	until_then lines context-switches 2 -- "$PSTAT" stat -I 50 -e context-switches
	check "stat -I: counts each interval" lines '^ +[0-9.]+ .*context-switches' 2
	has "stat -I: of all" '^ +[0-9.]+ +[0-9,]+ +context-switches' "$(<err)"
	run "$PSTAT" stat --timeout 50 -e context-switches
	has "stat: the whole system" "stats for 'system wide'" "$err"
	run "$PSTAT" --timeout 50 -e context-switches
	has "stat left out: the whole system" "stats for 'system wide'" "$err"
	need_perf
	run perf stat --timeout 50 -e context-switches
	has "perf stat: too" "stats for 'system wide'" "$err"
}

test_record()
{
	local mine perfs

	need_paranoid 0
	until_then test -s mine -- "$PSTAT" record -o mine -e dummy
	run "$PSTAT" report --header-only -i mine
	has "record: on each CPU" '^# event : .*dummy' "$out"
	same "record: an id for each CPU" "$(getconf _NPROCESSORS_ONLN)" "$("$PSTAT" report -i mine --header-only |
		sed -n 's/^# event : name = dummy.*, id = { \([^}]*\) }.*/\1/p' | head -1 | tr -d ' ' | tr , '\n' | grep -c .)"
	need_perf
	until_then test -s perfs -- perf record -o perfs -e dummy
	perfs=$(perf evlist -v -i perfs | head -1 | grep -o 'sample_type: [A-Z|]*')
	mine=$(perf evlist -v -i mine | head -1 | grep -o 'sample_type: [A-Z|]*')
	has "perf: samples have a CPU" 'CPU' "$perfs"
	has "pstat: samples have a CPU" 'CPU' "$mine"
}

# A person at a terminal is told what is going on; not where it ends by itself, nor in a log.
test_said_on_a_terminal()
{
	local line='no command or task is given: [a-z]+ the whole machine; Ctrl-C ends it'

	need_paranoid 0
	for command in "stat -e context-switches" "record -e dummy -o x"; do
		# shellcheck disable=SC2086 # words
		run "$PYTHON" "$ROOT/tests/cli/pty_screen.py" 24 100 "until ^pstat: $line\$" "signal INT" end -- "$PSTAT" $command
		has "$command: is said, and true" '^status (0|130)$' "$out"
		# shellcheck disable=SC2086 # words
		run "$PYTHON" "$ROOT/tests/cli/pty_screen.py" 24 100 end show -- "$PSTAT" $command --duration 0.01
		has_not "$command: not where it ends by itself" 'no command or task' "$out"
	done
	until_then test -s mine -- "$PSTAT" record -o mine -e dummy
	has_not "not in a log" 'no command or task' "$(<err)"
}

test_without_rights()
{
	need_restricted 2
	fails_with 125 'perf_event_paranoid|CAP_PERFMON' "$PSTAT" record -o mine -e dummy
	check_not "no file is begun" test -e mine
	run "$PSTAT" stat --timeout 50 -e context-switches
	has "stat says why not" 'perf_event_paranoid|CAP_PERFMON' "$err"
}

run_tests
