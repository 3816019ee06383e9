# SPDX-License-Identifier: MIT
# One CPU with 7 counters: --passes counts what does not fit in several runs, each value exact; and a value
# that is scaled says how sure it is.
. /lab/truth.sh

# passes_of JSON...: the passes of the rows in $err, in their order.
passes_are() { same "$1" "$2" "$(printf '%s\n' "$err" | sed -n 's/.*"pass" : \([0-9]*\).*/\1/p' | paste -sd ' ')"; }

test_twelve_in_two_passes()
{
	by_pstat --passes -e "cycles:u,$(times 12 instructions:u)" -- "$loop" $loops
	same "all are exact" 12 "$(printf '%s\n' "$err" | grep -c "^$instructions,,instructions:u,[0-9]*,100.00,")"
	same "cycles too" $cycles "$(value cycles:u)"
	row "13 events on 7 counters with --passes, the last" $instructions "$(value instructions:u 12)" -
	run "$PSTAT" stat --passes -e "cycles:u,$(times 12 instructions:u)" -- "$loop" $loops
	has "in two runs: the counter of cycles is used too" ' \(2 passes\):' "$err"
	has_not "nothing is scaled" '%\)$' "$err"
	run "$PSTAT" stat --passes -r 2 -j -e "$(times 12 instructions:u)" -- "$loop" $loops
	passes_are "six in each" "1 1 1 1 1 1 2 2 2 2 2 2"
	same "with -r no deviation" 12 "$(printf '%s\n' "$err" | grep -c "\"$instructions.000000\".*\"variance\" : 0.00")"
}

test_passes_and_ratios()
{
	run "$PSTAT" stat --passes -j -e "$(times 6 instructions),cycles,instructions" -- "$loop" $loops
	same "each ratio is exact" 7 "$(printf '%s\n' "$err" | grep -c '"metric-value" : 0.500000, "metric-unit" : "insn per cycle"')"
	has_not "none is of two runs" '"mixed"' "$err"
}

test_groups_in_passes()
{
	run "$PSTAT" stat --passes -j -e "{$(times 4 instructions:u)},{$(times 4 instructions:u)},r11:u" -- "$loop" $loops
	passes_are "groups stay whole" "1 1 1 1 2 2 2 2 1"
	same "and exact" 8 "$(printf '%s\n' "$err" | grep -c "\"$instructions.000000\"")"
	fails_with 125 '--passes: the group of instructions:u: 8 events for 7 counters' \
		"$PSTAT" stat --passes -e "{$(times 8 instructions:u)}" -- "$loop" $loops
	fails_with 125 '--passes: the group of instructions:u: 7 events for 6 counters' \
		"$PSTAT" stat --passes -e "{$(times 7 instructions:u)}" -- "$loop" $loops
}

# Somebody else holds three of the counters: there are as many passes as it takes.
test_others_hold_counters()
{
	mkfifo ctl ack
	exec 8<>ctl 9<>ack
	"$PSTAT" stat -C 0 -o other --control fifo:ctl,ack -e "$(times 3 instructions:D)" -- sleep 1000 &
	say ping
	run "$PSTAT" stat --passes -j -e "$(times 6 instructions:u)" -- "$loop" $loops
	passes_are "three in each" "1 1 1 2 2 2"
	same "and exact" 6 "$(printf '%s\n' "$err" | grep -c "\"$instructions.000000\"")"
	say stop
	wait
}

# They come when the passes have been planned: that cannot be hidden.
test_others_come_later()
{
	run "$PSTAT" stat --passes -e "$(times 6 instructions:u)" \
		--pre "$PSTAT stat -C 0 -o other -e $(times 4 instructions) -- sleep 1000 & until [ -e other ]; do sleep 0.01; done" \
		-- "$loop" $((10 * loops))
	has "it is said" 'counters were shared with other users' "$err"
	killall sleep
}

test_how_sure()
{
	local group="{$(times 4 instructions:u)}"

	by_pstat -e instructions:u -- "$WORK/phases" 12
	truth=$(value instructions:u)
	run "$PSTAT" stat -j -e "$group,$group,$group" -- "$WORK/phases" 12
	printf '%s\n' "$err" | sed -n 's/.*value" : "\([0-9.]*\)".*scale-error-pct" : \([0-9.]*\).*/\1 \2/p' |
		awk -v t="$truth" '{ d = ($1 - t) / $1 * 100; print (d < 0 ? -d : d) <= $2 ? "inside" : "outside" }' >where
	same "each of 12 values has an estimate" 12 "$(printf '%s\n' "$err" | grep -c '"scale-error-pct"')"
	same "the truth is inside, in spite of phases" 12 "$(grep -c inside where)"
	run "$PSTAT" stat -e "$(times 12 instructions:u)" -- "$loop" $((20 * loops))
	same "it stands behind the share, or why it is not known" 12 "$(printf '%s\n' "$err" |
		grep -cE 'instructions:u .*\([45][0-9]\.[0-9]{2}%( \+- [0-9]+\.[0-9]{2}%|, error unknown: .+)\)$')"
	run "$PSTAT" stat -j -e "$(times 12 instructions:u)" -- "$loop" $loops
	has_not "too few turns for an estimate: none" 'scale-error-pct' "$err"
}

run_tests
