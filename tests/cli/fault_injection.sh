#!/bin/bash
# SPDX-License-Identifier: MIT
# Each system call of the recorder fails, one in a run: nothing is lost without a word. Here it is every 37th
# of them; FAULTS_EVERY=1 (make check-long) tries all.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd strace
need_plain_build
strace -o /dev/null true 2>/dev/null || skip "needs the right to trace"
strace -qq -o /dev/null -e inject=getpid:error=EPERM true 2>/dev/null || skip "needs a strace that injects faults"

for kind in file packed pipe; do
	mkdir "$tmp/$kind"
	check "$kind" env -C "$tmp/$kind" "$PYTHON" "$ROOT/tests/cli/fault_injection.py" "$PSTAT" "$WORK/exact" $kind \
		"${FAULTS_EVERY:-37}"
done
done_testing
