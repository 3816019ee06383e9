#!/bin/bash
# SPDX-License-Identifier: MIT
# Real pairs of recordings of one program: nothing changed, so at most one in twenty may have a row that `pstat diff`
# calls certain. LONG_PAIRS of them (20), one recording a side; and as many of three recordings a side.
#
# run: alone
. "${0%/*}/../lib.sh"

CALLERS=$WORK/callers
pairs=${LONG_PAIRS:-20}

recorded() { "$PSTAT" record -q -o "$1" -e cpu-clock -F 4000 -- "$CALLERS" deep 1500 || fail "$1 is recorded"; }

certain() { "$PSTAT" diff -q -t ';' --no-renames "$@" 2>/dev/null | cut -d ';' -f 5 | grep -c '^certain$'; }

test_pairs()
{
	local n marked=0 runs=0 old new

	need_paranoid 1
	for ((n = 0; n < 2 * pairs; n++)); do
		recorded $n
	done
	for ((n = 0; n < 2 * pairs; n += 2)); do
		[ "$(certain $n $((n + 1)))" -eq 0 ] || marked=$((marked + 1))
	done
	check "of $pairs pairs $marked have a mark" [ $((marked * 20)) -le "$pairs" ]
	# Every second recording from n on against those between them.
	for ((n = 0; n + 5 < 2 * pairs; n += 2)); do
		old=$n,$((n + 2)),$((n + 4)) new=$((n + 1)),$((n + 3)),$((n + 5))
		[ "$(certain --old $old --new $new)" -eq 0 ] || runs=$((runs + 1))
	done
	check "of $((pairs - 2)) pairs of three recordings a side $runs have a mark" [ $((runs * 20)) -le "$pairs" ]
}

run_tests
