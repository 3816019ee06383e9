#!/bin/bash
# Time off the CPU, of a program that knows how long it has waited: at least what it slept, at most what passed around
# its calls.
#
# rights: test_without_stacks test_words
. "${0%/*}/../lib.sh"
need_paranoid 2
waits=$WORK/waits

record() { run "$PSTAT" record --off-cpu -e dummy "$@"; }

# waited FILE [FUNCTION]: the ns of all samples of offcpu-time, or of those with this function in their chain.
waited()
{
	"$PSTAT" script -i "$1" 2>/dev/null |
		awk -v name="${2:-}" '
			/offcpu-time:/ { ns = 0; for (i = 2; i <= NF; i++) if ($i == "offcpu-time:") ns = $(i - 1)
					 if (name == "") sum += ns; next }
			name != "" && $2 ~ "^" name "\\+" { sum += ns; ns = 0 }
			END { printf "%d\n", sum }'
}

# between NAME LEAST MOST NS
between() { check "$1: $4 ns are $2 to $3" test "$4" -ge "$2" -a "$4" -le "$3"; }

test_known_waits()
{
	local name least most

	need_paranoid 1
	record -q --call-graph dwarf --off-cpu-thresh 0 -o x -- "$waits" 5
	same "status" 0 "$status"
	same "three kinds of waits" 3 "$(wc -l <<<"$out")"
	while read -r name least most; do
		between "$name" "$least" "$most" "$(waited x "$name")"
	done <<<"$out"
	has "a wait's own place is in the program, not in the scheduler" ' \[\.\] ' \
		"$("$PSTAT" report -i x --stdio --no-children -g none 2>/dev/null)"
	has "the key state" '^ +[0-9.]+% +waiting' "$("$PSTAT" report -i x --stdio --no-children -g none -s state 2>/dev/null)"
	has "the kernel's side is in the chain" ' (schedule|__schedule|preempt_schedule.*)\+0x' "$("$PSTAT" script -i x 2>/dev/null)"
}

test_frame_pointers()
{
	need_paranoid 1
	record --off-cpu-thresh 0 -o x -- "$waits" 3
	has "the closing line" '^  off the CPU: [0-9]+ waits, [0-9]+\.[0-9]{3} s$' "$err"
	has_not "nothing is missing" 'left out|without a stack' "$err"
	check "all that was slept is there" test "$(waited x)" -ge 110000000
	has "the event" '^offcpu-time$' "$("$PSTAT" evlist -i x)"
	has "is a software event without switches" '^offcpu-time: type: 1 .*config: 0xa ' "$("$PSTAT" evlist -v -i x)"
	check_not "the switches themselves are not in the file" grep -q PERF_RECORD_SWITCH <("$PSTAT" script -D -i x 2>/dev/null)
}

test_limit()
{
	local left

	record --off-cpu-thresh 30 -o x -- "$waits" 5
	left=$(sed -nE 's/^  ([0-9]+) shorter than 30 ms left out, ([0-9]+)\.([0-9]{3}) s; --off-cpu-thresh 0 keeps them$/\2\3/p' <<<"$err")
	check "what is left out is counted: ${left:-nothing} ms" test "${left:-0}" -ge 50
	has "the long ones are there" '^  off the CPU: [0-9]+ waits, ' "$err"
	check "all of them" test "$(waited x)" -ge 80000000
	same "none that is short" 0 "$("$PSTAT" script -i x -F period,event | awk '/offcpu-time/ && $1 < 30000000' | wc -l)"
	record -o x -- "$waits" 1
	has "500 ms without the option" ' shorter than 500 ms left out, ' "$err"
}

test_open_at_the_end()
{
	mkfifo open
	"$PSTAT" record --off-cpu --off-cpu-thresh 0 -e dummy -o x -- sh -c 'exec 3<>open; echo $$ >ready; read -r x <&3' 2>said &
	pid=$!
	while ! [ -s ready ]; do sleep 0.01; done
	while [ "$(awk '{ print $3 }' /proc/"$(<ready)"/stat)" != S ]; do sleep 0.01; done
	sleep 0.1
	kill -INT $pid
	wait $pid
	has "it lasts until the end" '^  off the CPU: [0-9]+ waits?, [0-9.]+ s; 1 not over at the end' "$(<said)"
	check "so long at least" test "$(waited x)" -ge 100000000
}

test_whole_machine()
{
	need_paranoid 0
	record --off-cpu-thresh 0 -a -o x -- "$waits" 5
	has "waits of the machine" '^  off the CPU: [0-9]+ waits, ' "$err"
	has_not "no record is missing" 'unknown length|without a stack' "$err"
	same "idle CPUs do not wait" 0 "$("$PSTAT" script -i x -F tid,event 2>/dev/null | awk '/offcpu-time/ && $1 == 0' | wc -l)"
}

test_switch_events_stay()
{
	record -q --off-cpu-thresh 0 --switch-events -o x -- "$waits" 2
	has "what --switch-events records is not changed" 'PERF_RECORD_SWITCH +OUT|PERF_RECORD_SWITCH OUT' \
		"$("$PSTAT" script --show-switch-events -i x 2>/dev/null)"
}

# Who may not sample the kernel gets the times of the switches, and no stacks.
test_without_stacks()
{
	need_restricted 1
	record --off-cpu-thresh 0 -o x -- "$waits" 5
	same "status" 0 "$status"
	has "it is said" '^pstat: offcpu-time: the time that threads wait has no stacks' "$err"
	has "with the remedy" '^  .*perf_event_paranoid=1' "$err"
	has "the waits are there" '^  off the CPU: [0-9]+ waits, .*; [0-9]+ without a stack$' "$err"
	check "all that was slept" test "$(waited x)" -ge 130000000
}

test_words()
{
	fails_with 129 '--off-cpu-thresh: .x. is not a number of ms' "$PSTAT" record --off-cpu --off-cpu-thresh x true
	fails_with 129 '--off-cpu-thresh: it needs --off-cpu' "$PSTAT" record --off-cpu-thresh 5 true
	fails_with 129 '--off-cpu with --overwrite' "$PSTAT" record --off-cpu --overwrite -e dummy true
	fails_with 129 '--off-cpu with --no-timestamp' "$PSTAT" record --off-cpu --no-timestamp -e dummy true
	fails_with 129 '--off-cpu with --no-samples' "$PSTAT" record --off-cpu -n -e dummy true
	fails_with 129 '--off-cpu and --cgroup' "$PSTAT" record --off-cpu -e dummy -G / -a true
}
run_tests
