#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat sched: recordings of the scheduler's events, and what is made of them. What tasks waited for in recordings whose
# times are known is compared in cli/golden.
#
# run: once
. "${0%/*}/../lib.sh"

GOLDEN=$ROOT/tests/golden/sched.data

# turns_recorded: records turns into `in`, and reads what it says of itself into $pid and $slept. Other work on the
# machine may make events faster than they are written: then it is recorded again.
turns_recorded()
{
	for _ in 1 2 3 4 5; do
		run "$PSTAT" sched record -o in "$WORK/turns" 50
		[ "$status" -eq 0 ] || { fail "records" "$err"; exit 1; }
		[[ $err == *" 0 lost, 0 throttled ]"* ]] && break
	done
	[[ $err == *" 0 lost, 0 throttled ]"* ]] || skip "needs a machine whose events can all be written"
	read -r pid slept <<<"$out"
}

test_who_woke_whom()
{
	need_root
	need_tracefs
	need_first_pid_namespace
	turns_recorded
	"$PSTAT" sched timehist -q -w --state -i in >lines
	same "as often as the kernel counted, pong slept" "$slept" "$(grep -cE "  pong\[$pid\] .* [SD] *$" lines)"
	same "ping woke it, and nobody else" "ping" \
		"$(sed -nE "s/^ *[0-9.]+ \[[0-9]+\]  ([^ ]+)\[[0-9]+\] +awakened: pong\[$pid\]$/\1/p" lines | sort -u)"
	same "only its lines" "$(grep -E "  pong\[$pid\] .* [SRD] *$" lines)" \
		"$("$PSTAT" sched timehist -q -t "$pid" --state -w -i in | grep -E "  pong\[$pid\] .* [SRD] *$")"
	# By its last name.
	same "ping woke it most often" "parent" "$("$PSTAT" sched tasks -q -x , -t "$pid" -i in | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR == 2 { print $at["waker"] }')"
	has "its runs are added up" "^ +after\[$pid\] +[0-9]+ +[0-9]+ " "$("$PSTAT" sched timehist -q -s -i in)"
	need_perf
	same "the events are those of perf" \
		"$(perf sched record -o theirs true >/dev/null 2>&1; perf evlist -i theirs 2>/dev/null | grep ^sched: | sort)" \
		"$("$PSTAT" evlist -i in | grep ^sched: | sort)"
	# perf takes a run that began unseen for one that began at the last switch seen; here it has no time.
	runs='/ p[io]ng\[/ && $NF > 0 { print $1, $2, $3, $4, $6 }'
	perf sched timehist -i in 2>/dev/null | awk "$runs" >theirs
	"$PSTAT" sched timehist -q -i in | awk "$runs" >ours
	same "waits and runs are those of perf" "" "$(grep -vxFf theirs ours)"
	[ -s ours ] || fail "some runs are compared"
}

# Tables of intervals have all of what the one table has, each part once, from files and as it comes.
test_intervals()
{
	sum() { "$PYTHON" -c '
import json, sys
print(sum(json.loads(line).get(sys.argv[1], 0) for line in sys.stdin))' "$1"; }
	for view in latency tasks; do
		for field in run-ns switches runs; do
			same "$view: $field" "$("$PSTAT" sched $view -q -j -i "$GOLDEN" | sum $field)" \
				"$("$PSTAT" sched $view -q -j -I 10 -i "$GOLDEN" | sum $field)"
		done
		"$PSTAT" sched $view -q -I 10 -i "$GOLDEN" >tables
		same "$view: the first" "# 0.000 to 0.010 s" "$(head -n 1 tables)"
		check "$view: others" [ "$(grep -c '^# [0-9.]* to [0-9.]* s$' tables)" -ge 2 ]
		check_not "$view: nothing is cleared" grep -q $'\033' tables
		same "$view: objects" '{"begin":0.000,"end":0.010}' "$("$PSTAT" sched $view -q -j -I 10 -i "$GOLDEN" | head -n 1)"
		same "$view: through a pipe" "$(<tables)" "$("$PSTAT" inject -i "$GOLDEN" -o - | "$PSTAT" sched $view -q -I 10)"
		"$PYTHON" "$ROOT/tests/cli/on_screen.py" 160 1 "$PSTAT" sched $view -q -I 10 --interval-clear -i "$GOLDEN" >screen
		same "$view: --interval-clear" "$(grep -c '^# ' tables)" "$(grep -ao $'\033\[H\033\[2J# ' screen | wc -l)"
		check "$view: no more than the screen has" [ "$(wc -l <screen)" -le $((24 * $(grep -c '^# ' tables))) ]
		fails_with 129 "it needs -I" "$PSTAT" sched $view --interval-clear -i "$GOLDEN"
		fails_with 129 "it goes with -j or tables" "$PSTAT" sched $view -I 10 -x , -i "$GOLDEN"
	done
}

test_live_tables()
{
	need_root
	need_tracefs
	"$PSTAT" sched record -q -o - sh -c '
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.2; [ ! -e seen ] || exec touch live; done' |
		"$PSTAT" sched latency -q -I 200 -i - | while IFS= read -r line; do
			[[ $line == "# 0.200 to "* ]] && echo while it runs >seen
		done
	check "a table comes while it is recorded" [ -e live ]
}

test_pipes()
{
	same "through a pipe" "$("$PSTAT" sched timehist -q -i "$GOLDEN")" \
		"$("$PSTAT" inject -i "$GOLDEN" -o - | "$PSTAT" sched timehist -q)"
	same "options in front of the command" "$("$PSTAT" sched timehist -q -i "$GOLDEN")" \
		"$("$PSTAT" sched -i "$GOLDEN" timehist -q)"
}

# A recording that ends anywhere is read as far as it goes.
test_cut()
{
	local size lines whole

	whole=$("$PSTAT" sched timehist -q -i "$GOLDEN")
	for size in 0 100 1000 4000 7000 8000 9000 9500 9800 10000; do
		head -c $size "$GOLDEN" >cut
		run "$PSTAT" sched timehist -q -S -i cut
		[ "$status" -eq 0 ] || [ "$status" -eq 125 ] || fail "cut at $size" "status $status: $err"
		lines=$(grep -E '^ +1\.0' <<<"$out")
		[ -z "$lines" ] || [[ $whole == *"$lines"* ]] || fail "cut at $size: lines" "$lines"
	done
	pass "all ends"
}

test_refused()
{
	run "$PSTAT" sched
	same "no command" "129 pstat: sched: give what to do: record, timehist, latency, map, tasks or page" "$status $err"
	run "$PSTAT" sched nothing
	same "an unknown one" "129 pstat: sched: 'nothing' is not a command of it; pstat sched -h lists them" "$status $err"
	same "perf's word for pstat script" "$("$PSTAT" script -i "$GOLDEN" -F comm,time | md5sum)" \
		"$("$PSTAT" sched script -i "$GOLDEN" -F comm,time | md5sum)"
	fails_with 129 'nosuch' "$PSTAT" sched script --nosuch
	run "$PSTAT" sched replay
	has "perf's" "^pstat: sched replay is a command of perf that pstat does not have: " "$err"
	run "$PSTAT" sched timehist -i "$ROOT/tests/golden/plain.data"
	same "no events of the scheduler" 125 "$status"
	has "it is said" "plain.data: the recording has no formats of tracepoints" "$err"
	run "$PSTAT" sched timehist -i "$ROOT/tests/golden/tracepoints.data"
	has "other tracepoints" "it has no events sched:sched_switch, which pstat sched record records" "$err"
	for keys in "" x avg,avg,avg,avg,avg avg,; do
		run "$PSTAT" sched latency -i "$GOLDEN" -s "$keys"
		same "latency -s '$keys'" 129 "$status"
	done
	for time in 1 x,2 2,1 -1,; do
		run "$PSTAT" sched timehist -i "$GOLDEN" --time=$time
		same "--time=$time" 129 "$status"
	done
	run "$PSTAT" sched timehist -i "$GOLDEN" -p x
	same "-p x" 129 "$status"
}

run_tests
