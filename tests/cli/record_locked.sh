#!/bin/bash
# SPDX-License-Identifier: MIT
# Rings of a user without rights share a budget of locked memory: less than was asked for is said, and recorded with.
#
# run: alone
. "${0%/*}/../lib.sh"

test_smaller_rings()
{
	need_restricted 0
	run bash -c 'ulimit -l 0; exec "$@"' - "$PSTAT" record -o x -m 64M -e page-faults -c 1 -- "$WORK/exact" pages:100
	same "status" 0 "$status"
	has "a note" '^pstat: rings of [0-9]+ KiB instead of 65536 KiB' "$err"
	has "what to do" '^  sudo sysctl kernel.perf_event_mlock_kb=' "$err"
	has "the recording is whole" ' SAMPLE events: +[1-9]' "$("$PSTAT" report --stats -i x)"
}

run_tests
