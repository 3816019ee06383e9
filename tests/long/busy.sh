#!/bin/bash
# SPDX-License-Identifier: MIT
# All tests of the command line on a machine that is busy: four loops for each CPU run beside them. They wait for
# work done, not for time, so all that is otherwise is how long they take. Again and again for LONG_SECONDS.
#
# run: alone
. "${0%/*}/../lib.sh"

test_command_line()
{
	local begun=$SECONDS round=0 loops=() n

	for ((n = 4 * $(nproc); n; n--)); do
		(while [ -d "$tmp" ]; do for ((i = 0; i < 100000; i++)); do :; done; done) &
		loops+=($!)
	done
	until [ $round -gt 0 ] && [ $((SECONDS - begun)) -ge "${LONG_SECONDS:-600}" ]; do
		run env -u LC_ALL TEST_USERS=own "$PYTHON" "$ROOT/tests/run" cli
		if [ "$status" -eq 0 ]; then
			pass "round $((round += 1)): ${out##*$'\n'}"
		else
			fail "round $((round += 1)): ${out##*$'\n'}" "$(grep -A 30 '^FAILED' <<<"$out")"
		fi
	done
	kill "${loops[@]}"
}
run_tests
