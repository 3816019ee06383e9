#!/bin/bash
# SPDX-License-Identifier: MIT
# Five million mutated formats of this kernel's tracepoints, and 100,000 recordings with such formats.
. "${0%/*}/../lib.sh"
need_tracefs
check "5,000,000 formats and 100,000 recordings" env -C "$ROOT" TRACE_MUTANTS=5000000 TRACE_RECORDINGS=100000 \
	"$BUILD/tests/unit/test_trace_mutants"
done_testing
