#!/bin/bash
# SPDX-License-Identifier: MIT
# The table of pstat-accuracy(7): how often the truth lies inside the stated error, with a thousand runs for each row.
. "${0%/*}/../lib.sh"
run "$BUILD/tests/unit/test_coverage" table 1000
printf '%s\n' "$out" >&2
check "1000 runs of each row" test "$status" -eq 0
done_testing
