#!/bin/bash
# SPDX-License-Identifier: MIT
# --switch-on and --switch-off: what lies between two events, as perf has it, and of a program that knows what
# it does: it forks three times and writes before, between and after.
#
# run: once
. "${0%/*}/vs_perf.bash"

# samples PROGRAM OPTION...: how many lines of each event script prints.
samples()
{
	local program=$1

	shift
	"$program" script -F event -i recording "$@" 2>/dev/null | sed 's/: *$//' | sort | uniq -c
}

n_writes() { samples "$PSTAT" "$@" | awk '/sys_enter_write/ { n = $1 } END { print n + 0 }'; }

test_between_two_events()
{
	local on=sched:sched_process_fork off=sched:sched_process_exit

	need_tracefs
	need_paranoid -1
	"$PSTAT" record -q -c 1 -e syscalls:sys_enter_write --filter "$own_writes" -e "$on" -e "$off" -o recording \
		-- "$EXACT" writes:20:$own_fd forks:1 writes:30:$own_fd
	same "all writes" 50 "$(n_writes)"
	same "after the fork" 30 "$(n_writes --switch-on "$on" | head -1)"
	same "until the fork" 20 "$(n_writes --switch-off "$on")"
	# Without --switch-on perf takes no notice of --switch-off.
	for options in "--switch-on $on" "--switch-on $off --show-on-off-events" \
		"--switch-on $on --switch-off $off" "--switch-on $on --switch-off $off --show-on-off-events"; do
		# shellcheck disable=SC2086 # words
		same "as perf: $options" "$(samples perf $options)" "$(samples "$PSTAT" $options)"
	done
	has "report leaves them out, too" 'Samples: 30 +of event .syscalls:sys_enter_write' \
		"$("$PSTAT" report -i recording --switch-on "$on" 2>&1)"
	fails_with 129 "--switch-on: no event 'nothing' was recorded; there is syscalls:sys_enter_write" \
		"$PSTAT" report -i recording --switch-on nothing
	fails_with 129 'is the event of --switch-on' "$PSTAT" report -i recording --switch-on "$on" --switch-off "$on"
}
run_tests
