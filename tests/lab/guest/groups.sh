# SPDX-License-Identifier: MIT
# One CPU with 7 counters: one for cycles, 6 for any event. What is counted together, what takes turns,
# and what the output says about it.
. /lab/truth.sh

loops_are 20000000 # 20 turns

# all_scaled NAME PERCENT TRUTH: every value of $err is within PERCENT of TRUTH, and said to be seen part of the time. What
# pstat says of a value's scaling is a line without one.
all_scaled()
{
	local worst

	worst=$(printf '%s\n' "$err" | awk -F, -v t="$3" '
		/^[0-9]/ { d = ($1 - t) / t * 100; if (d < 0) d = -d; if (!n++ || d > worst) { worst = d; value = $1 }
			   if ($5 >= 100) full++ } END { print value, full + 0, n }')
	set -- "$1" "$2" "$3" $worst
	within "$1: the worst of $6 values" "$2" "$3" "$4"
	same "$1: none was counted all the time" 0 "$5"
	worst_value=$4
}

test_ratio_in_a_group()
{
	run "$PSTAT" stat -j -e '{cycles:u,instructions:u}' -- "$loop" $loops
	has "instructions per cycle" '"event" : "instructions:u".*"metric-value" : 0\.500000, "metric-unit" : "insn per cycle"' "$err"
	by_pstat -e '{instructions,cycles}' -- "$loop" $loops
	within "also with the kernel's" 1 $cycles "$(value cycles)"
}

test_seven_fit()
{
	by_perf -e "{cycles:u,$(times 6 instructions:u)}" -- "$loop" $loops
	perf_said=$(value instructions:u 6)
	by_pstat -e "{cycles:u,$(times 6 instructions:u)}" -- "$loop" $loops
	row "the seventh of a group of 7 on 7 counters" $instructions "$(value instructions:u 6)" "$perf_said"
	same "cycles" $cycles "$(value cycles:u)"
	same "all are exact" 6 "$(printf '%s\n' "$err" | grep -c "^$instructions,,instructions:u,[0-9]*,100.00,")"
}

test_eight_do_not_fit()
{
	run "$PSTAT" stat -e "{cycles:u,$(times 7 instructions:u)}" -- "$loop" $loops
	has "the reason has the number of counters" \
		"<not supported> +instructions:u +# +8 events for 7 counters in its group" "$err"
	same "the others count" 7 "$(printf '%s\n' "$err" | grep -c '^ *[0-9,]* *\(cycles\|instructions\):u')"
	run "$PSTAT" stat -e "{$(times 7 instructions:u)}" -- "$loop" $loops
	has "the counter for cycles counts nothing else" "7 events for 6 counters in its group" "$err"
	run "$PSTAT" stat -v -e "{$(times 7 instructions:u)}" -- "$loop" $loops
	has "-v says the call and what to do" "perf_event_open.*\(errno 22\)" "$err"
	has "which is :W" "add :W" "$err"
}

test_weak()
{
	by_pstat -e "{$(times 12 instructions:u)}:W" -- "$loop" $loops
	same "no event is left out" 12 "$(printf '%s\n' "$err" | grep -c '^[0-9]*,,instructions:u')"
	all_scaled "a weak group of 12" 1 $instructions
	by_pstat -e "{cycles:u,instructions:u}:W" -- "$loop" $loops
	same "one that fits stays whole" 100.00 "$(field 5 instructions:u)"
}

test_twelve_on_seven()
{
	by_perf -e "$(times 12 instructions:u)" -- "$loop" $loops
	all_scaled "perf" 1 $instructions
	perf_worst=$worst_value
	by_pstat -e "$(times 12 instructions:u)" -- "$loop" $loops
	all_scaled "12 events on 7 counters" 1 $instructions
	row "12 events on 7 counters, the worst" $instructions "$worst_value" "$perf_worst"
	shares=$(printf '%s\n' "$err" | awk -F, '/^[0-9]/ && ($5 < 33 || $5 > 67)')
	# Some 20 turns of 4 ms: each event has one or two more or fewer than half of them.
	same "6 counters for 12 are half of the time each" "" "$shares"
	run "$PSTAT" stat -e "$(times 12 instructions:u)" -- "$loop" $loops
	same "the share stands behind each value" 12 "$(printf '%s\n' "$err" | grep -c 'instructions:u .*([3-6][0-9]\.[0-9]*%')"
	has "it is said that values are scaled" "counters were shared: values are scaled" "$err"
	by_pstat --no-scale -e "$(times 12 instructions:u)" -- "$loop" $loops
	same "--no-scale shows what was seen" "" "$(printf '%s\n' "$err" | awk -F, -v t=$instructions '
		/^[0-9]/ { share = $1 / t * 100; if (share < $5 - 2 || share > $5 + 2) print }')"
}

# Groups take turns as wholes: the ratio in each is exact, whatever the scaling.
test_groups_take_turns()
{
	local group="{cycles:u,$(times 3 instructions:u)}"

	by_perf -e "$group,$group,$group" -- "$loop" $loops
	perf_said=$(value cycles:u 2)/$(value instructions:u 4)
	by_pstat -e "$group,$group,$group" -- "$loop" $loops
	row "cycles/instructions of the second of 3 groups" 2 "$(value cycles:u 2)/$(value instructions:u 4)" "$perf_said"
	printf '%s\n' "$err" | awk -F, '/cycles/ { c = $1; p = $5 }
		/instr/ { d = c - 2 * $1; if (d < -2 || d > 2 || $5 != p || p > 60) print }' >odd
	same "each group has two cycles for an instruction and one share" "" "$(<odd)"
	within "scaled" 1.5 $cycles "$(value cycles:u 2)"
}

test_pinned()
{
	by_perf -e "$(times 9 instructions:uD)" -- "$loop" $loops
	perf_said=$(printf '%s\n' "$err" | grep -c "^$instructions,")
	run "$PSTAT" stat -e "$(times 9 instructions:uD)" -- "$loop" $loops
	same "three find no counter" 3 "$(printf '%s\n' "$err" | grep -c '<not counted> *instructions:uD')"
	has "with the reason" "^ <not counted>: pinned, and no counter was left: 9 events for 7 counters$" "$err"
	by_pstat -e "$(times 9 instructions:uD)" -- "$loop" $loops
	won=$(printf '%s\n' "$err" | grep -c "^$instructions,,instructions:uD,[0-9]*,100.00,")
	row "exact ones of 9 pinned events on 6 counters" 6 "$won" "$perf_said"
	same "six count all the time" 6 "$won"
	by_pstat -C 0 -e "$(times 9 instructions:uD)" -- "$loop" $loops
	same "on a CPU too three are not counted" 3 "$(printf '%s\n' "$err" | grep -c '^<not counted>,')"
	run "$PSTAT" stat -C 0 -e "$(times 9 instructions:uD)" -- "$loop" $loops
	has "with the reason" "^ <not counted>: pinned, and no counter was left: 9 events for 7 counters$" "$err"
	by_pstat -e "instructions:uD,$(times 9 instructions:u)" -- "$loop" $loops
	same "a pinned one among others is not scaled" $instructions "$(value instructions:uD)"
}

# The process sleeps: pinned or not, it was never there to be counted.
test_asleep()
{
	sleep 1000 &
	run "$PSTAT" stat --timeout 20 -p $! -e "$(times 9 instructions:uD)"
	same "asleep" 9 "$(printf '%s\n' "$err" | grep -c '<not counted> *instructions:uD')"
	has "with the reason" "^ <not counted>: the task never ran while counting$" "$err"
	kill $!
}

run_tests
