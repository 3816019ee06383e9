#!/bin/bash
# SPDX-License-Identifier: MIT
# What holds of times by the clock, which a busy machine can make wrong.
#
# run: alone
. "${0%/*}/../lib.sh"

# Enabling by itself is in tests/attr/delay.attr, counting nothing before it in tests/cli/control.sh.
test_delay()
{
	need_paranoid 2
	run "$PSTAT" stat -x, -D 100 -e page-faults sh -c "$WORK/exact pages:500; sleep 1; $WORK/exact pages:300"
	check "what happens before it is not counted, what follows is" awk -F, '{ exit !($1 >= 300 && $1 < 800) }' <<<"$err"
}

run_tests
