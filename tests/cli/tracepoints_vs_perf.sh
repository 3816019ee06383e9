#!/bin/bash
# SPDX-License-Identifier: MIT
# The text of every tracepoint of this kernel, beside perf's: a recording with samples of all of them is made, with
# bytes of three kinds. Where perf is wrong, tracepoints_vs_perf.py says why.
#
# run: once
. "${0%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=

test_every_tracepoint()
{
	need_perf
	need_tracefs
	[ -x "$BUILD/tests/golden/make_recordings" ] || skip "needs make_recordings, which is not built"
	check "a recording of every tracepoint" "$BUILD/tests/golden/make_recordings" . every_tracepoint.data
	"$PSTAT" script -F event,trace -i every_tracepoint.data >ours
	same "pstat script: status" 0 $?
	perf script -F event,trace -i every_tracepoint.data >theirs 2>/dev/null
	run "$PYTHON" "$ROOT/tests/cli/tracepoints_vs_perf.py" ours theirs
	if [ "$status" -eq 0 ]; then
		pass "the same texts"
	else
		fail "the same texts" "$err"
	fi
	printf '%s\n' "$out" | sed '/./s/^/# /'
}

run_tests
