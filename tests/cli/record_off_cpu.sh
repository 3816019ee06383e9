#!/bin/bash
# SPDX-License-Identifier: MIT
# Time off the CPU, of a program that knows how long it has waited: at least what it slept, at most what passed around
# its calls.
#
# rights: test_without_stacks test_words
. "${0%/*}/../lib.sh"
need_paranoid 2
waits=$WORK/waits exact=$WORK/exact

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

# between NAME LEAST MOST NUMBER
between() { check "$1: $4 is $2 to $3" test "$4" -ge "$2" -a "$4" -le "$3"; }

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
	# On a busy machine a few may be lost.
	check "hardly a record is missing: $err" awk -v said="$err" 'BEGIN { gsub(/\n/, " ; ", said)
		if (!match(said, /off the CPU: [0-9]+ /)) exit 1
		waits = substr(said, RSTART + 13) + 0
		if (match(said, /[0-9]+ without a stack/)) missing += substr(said, RSTART) + 0
		if (match(said, /[0-9]+ of unknown length/)) missing += substr(said, RSTART) + 0
		exit missing * 20 > waits }'
	same "idle CPUs do not wait" 0 "$("$PSTAT" script -i x -F tid,event 2>/dev/null | awk '/offcpu-time/ && $1 == 0' | wc -l)"
}

# spans RECORDING: of each thread its number, the ns of all its samples, and those from its exec or fork to its exit.
spans()
{
	{
		"$PSTAT" report -i "$1" -q --stdio --no-children -g none -F period -s tid 2>/dev/null | sed 's/^/sum /'
		"$PSTAT" script -i "$1" --show-task-events 2>/dev/null
	} | awk '
		function ns(t) { sub(/:$/, "", t); return t * 1e9 }
		$1 == "sum" && NF == 3 { split($3, task, ":"); sum[task[1]] = $2 }
		/PERF_RECORD_COMM exec/ { from[$2] = ns($4) }
		/PERF_RECORD_FORK/ && ns($4) { split($NF, p, /[(:)]+/); split($5, p, /[(:)]+/); from[p[3]] = ns($4) }
		/PERF_RECORD_EXIT/ { to[$2] = ns($4) }
		END { for (tid in to) printf "%d %d %d\n", tid, sum[tid], to[tid] - from[tid] }'
}

# Time on a CPU is sampled each 50 us: on a machine that gives none for a while, fewer samples come, never more.
test_wall()
{
	local tid sum span least most slept

	need_paranoid 1
	run "$PSTAT" record -q --wall -c 50000 -o x -- "$exact" threads:2 spins:40
	same "status" 0 "$status"
	same "three threads" 3 "$(spans x | wc -l)"
	while read -r tid sum span; do
		check "thread $tid: $sum ns of the $span that it lived" test "$sum" -gt 0 -a "$sum" -le $((span + span / 50 + 100000))
	done < <(spans x)
	# All of it has room in the rings, also if the recorder is held up: a wait that goes on over a loss may be several.
	run "$PSTAT" record --wall -c 10000000 -o x --call-graph dwarf -- "$waits" 5
	has "nothing is lost" ' 0 lost' "$err"
	read -r _ least most < <(grep '^sleeps ' <<<"$out")
	folded=$("$PSTAT" report -i x --folded 2>/dev/null)
	same "one event" wall-clock "$("$PSTAT" evlist -i x | grep -v dummy)"
	slept=$(awk '/;sleeps;.*;\[waiting\] / { sum += $NF } END { print sum + 0 }' <<<"$folded")
	between "a wait's function has what it slept" "$least" "$most" "${slept}000"
	has "the state is a column" '^ +[0-9.]+% +waits +waiting +libc' \
		"$("$PSTAT" report -i x --stdio --no-children -g none 2>/dev/null)"
	"$PSTAT" report -i x --flamegraph=x.html 2>/dev/null
	"$PSTAT" report -i x --flamegraph=x.svg 2>/dev/null
	has "the page knows waits" '"\[waiting\]"' "$(<x.html)"
	"$PSTAT" report -i x --firefox=x.json 2>/dev/null
	check "Firefox: a whole file" "$PYTHON" "$ROOT/tests/cli/export_firefox.py" check x.json
	same "waits are idle" "$("$PYTHON" "$ROOT/tests/cli/export_firefox.py" folded x.json |
		awk '/;\[(waiting|preempted)\] / { n += $NF } END { print n }')" \
		"$("$PYTHON" "$ROOT/tests/cli/export_firefox.py" categories x.json | awk '$2 == "Idle" { print $1 }')"
	"$PSTAT" report -i x --speedscope=x.json 2>/dev/null
	between "speedscope: as much, of what lines of whole us left out" "$slept" $((slept + $(wc -l <<<"$folded"))) \
		"$("$PYTHON" "$ROOT/tests/cli/flamegraph.py" speedscope_weight x.json sleeps '[waiting]')"
	has "and so does the picture" 'class="waiting"' "$(<x.svg)"
	fails_with 129 '--wall: its event is a clock' "$PSTAT" record --wall -e page-faults true
	fails_with 129 '--wall: its event is a clock' "$PSTAT" record --wall -e cpu-clock,task-clock true
}

# A lock's holder wakes who waits for it, and the pipe's writer its reader.
test_wakers()
{
	local locks reads

	need_root
	need_first_pid_namespace
	[ -e /sys/kernel/tracing/events/sched/sched_waking ] || skip "needs tracefs"
	record --wakers --off-cpu-thresh 0 -m 16M -a -o x -- "$waits" 2
	same "status" 0 "$status"
	has "how many are known" '^  [0-9]+ of [0-9]+ waits that ended and were not preemptions: their waker is recorded$' "$err"
	# woken_by FUNCTION: the ns of all waits that the program's threads ended in it.
	woken_by()
	{
		"$PSTAT" script -i x --comms waits -F comm,period,event,ip,sym 2>/dev/null | awk -v name="$1" '
			NF >= 3 && $3 ~ /:$/ { ns = $3 == "offcpu-wakers:" ? $2 : 0 }
			$2 == name { sum += ns; ns = 0 }
			END { printf "%d\n", sum }'
	}
	read -r _ locks _ < <(grep '^locks ' <<<"$out")
	read -r _ reads _ < <(grep '^reads ' <<<"$out")
	check "by unlocking: all that was waited for the lock" test "$(woken_by futex_wake)" -ge "$locks"
	check "by writing: all that was waited for the pipe" test "$(woken_by ksys_write)" -ge "$reads"
	has "whom" '^ +[0-9.]+% +waits +waits' "$("$PSTAT" report -i x -q --stdio --no-children -g none -s comm,offcpu-wakers.comm 2>/dev/null)"
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
	has "it is said" '^pstat: offcpu-time: waits have no stacks' "$err"
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
