#!/bin/bash
# SPDX-License-Identifier: MIT
# For report_vs_perf*.sh: both reports of a recording beside each other (report_vs_perf.py).
. "${BASH_SOURCE[0]%/*}/beside_perf.bash"

tool=$ROOT/tests/cli/report_vs_perf.py
private_cache

# FILE OPTIONS...
alike() { verdicts "$1" "$tool" same "$@"; }
close() { verdicts "$1" "$tool" close "$@"; }
