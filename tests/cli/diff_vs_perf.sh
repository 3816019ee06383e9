#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat diff` and `perf diff` of the same recordings give the same numbers for each row: baseline, value, formula and
# periods, by every way to compute, sort and filter. What pstat has besides is left out by diff_rows.py.
#
# run: once
. "${0%/*}/beside_perf.bash"

tool=$ROOT/tests/cli/diff_rows.py
private_cache

# OPTION...: the rows of both are the same, in any order.
alike()
{
	check "diff $*" "$PYTHON" "$tool" same "$PSTAT" "$@"
}

test_two_recordings()
{
	need_perf
	need_paranoid 2
	"$PSTAT" record -q -o a -e cpu-clock:u -F 4000 -g -- "$CALLERS" deep 400 || fail "recorded"
	"$PSTAT" record -q -o b -e cpu-clock:u -F 4000 -g -- "$CALLERS" known 400 || fail "recorded"
	for options in "" "-c delta" "-c delta-abs" "-c ratio" "-c wdiff:1,2" "-c wdiff:3,1" "-p" "-F" "-p -F" \
		"-c ratio -p -F" "-c wdiff:1,2 -F" "-o 0" "-o 1" "-s dso" "-s comm" "-s comm,dso" "-s symbol" "-s comm,symbol" \
		"-s cpu" "-C callers" "-d callers" "-d callers --percentage relative" "-S burn,leaf" \
		"-S burn --percentage relative" "--time 10%/2" "--time 0%-40%" "--time 10%/1,10%/3"; do
		# shellcheck disable=SC2086 # words
		alike a b $options
		# shellcheck disable=SC2086 # words
		alike b a $options
	done
	# Of a recording without any sample there perf has no numbers.
	for cpus in 0 0,1; do
		if "$PSTAT" script -i a -F cpu | grep -q "00[$cpus]" && "$PSTAT" script -i b -F cpu | grep -q "00[$cpus]"; then
			alike a b --cpu $cpus
			alike b a --cpu $cpus
		else
			point ok "--cpu $cpus" "needs programs that came to run on CPU $cpus"
		fi
	done
	alike a b a
	alike b a b a -p -F
	alike a b a -o 2
}

# Times of each recording's own, by a colon.
test_own_times()
{
	local a b

	need_perf
	need_paranoid 2
	"$PSTAT" record -q -o a -e cpu-clock:u -F 2000 -- "$CALLERS" deep 300 || fail "recorded"
	"$PSTAT" record -q -o b -e cpu-clock:u -F 2000 -- "$CALLERS" deep 300 || fail "recorded"
	a=$("$PSTAT" script -i a -F time | sed -n '100s/[: ]*//gp')
	b=$("$PSTAT" script -i b -F time | sed -n '200s/[: ]*//gp')
	alike a b --time "$a,:$b,"
	alike a b --time ",$a:,$b"
}

run_tests
