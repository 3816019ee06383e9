#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording of more than 10 GB is reported in the memory of one that is a tenth of that: memory grows with what is
# distinct in it, not with its length.
. "${0%/*}/../lib.sh"
need_paranoid 2

# The peak memory of pstat report, in KiB, and its status.
measured()
{
	"$WORK/measure" took "$PSTAT" report --stdio -i "$1" >report 2>&1
	awk '{ print $4, $5 }' took
}

test_memory()
{
	local repeat=$BUILD/tests/bench/repeat_recording free of tenth whole status

	[ -x "$repeat" ] || skip "needs tests/bench/repeat_recording: make bench builds it"
	"$PSTAT" record -q -e cpu-clock:u -c 20000 -g -o once -- "$WORK/callers" deep 3000 2 >said 2>&1
	of=$((10500000000 / $(stat -c %s once) + 1))
	free=$(df --output=avail -B1 . | tail -n 1)
	[ "$free" -gt 13000000000 ] || skip "needs 13 GB of room in $TMPDIR"
	run "$repeat" once tenth $((of / 10))
	same "a tenth is written" 0 "$status"
	run "$repeat" once long "$of"
	same "$of times as long is written" 0 "$status"
	check "it has more than 10 GB" test "$(stat -c %s long)" -gt 10000000000
	read -r tenth status < <(measured tenth)
	same "a tenth is reported" 0 "$status"
	read -r whole status < <(measured long)
	same "all is reported" 0 "$status"
	check "in $whole KiB, a tenth in $tenth KiB" test $((whole * 10)) -le $((tenth * 12))
	same "no sample is missing" $(($(samples tenth) / (of / 10) * of)) "$(samples long)"
}

samples() { "$PSTAT" report --stats -i "$1" 2>/dev/null | awk '/ SAMPLE events:/ { print $3; exit }'; }
run_tests
