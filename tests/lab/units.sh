#!/bin/bash
# SPDX-License-Identifier: MIT
# Unit tests of what differs from machine to machine, built for arm64 (tests/lab/prepare lists them), on this machine, which
# emulates its instructions. There are no perf events then: what opens them skips.
. "${0%/*}/../lib.sh"
lab=$ROOT/${LAB:-build/lab}
[ ! -e "$lab/unavailable" ] || skip "$(<"$lab/unavailable")"
need_cmd qemu-aarch64
need_cmd aarch64-linux-gnu-readelf
tests=$(cd "$lab/pstat/tests/unit" 2>/dev/null && find . -type f -name 'test_*' ! -name '*.*' -printf '%f\n' | sort)
[ "$tests" ] || skip "the lab is not built: make check-lab"

has "they are for arm64" 'Machine: +AArch64' "$(aarch64-linux-gnu-readelf -h "$lab/pstat/tests/unit/$(head -n 1 <<<"$tests")")"
# shellcheck disable=SC2086 # words
run env -u LAB BUILD="$lab/pstat" TEST_USERS=own UNIT_UNDER="qemu-aarch64 -L $ROOT/build/sysroot-arm64" \
	"$ROOT/tests/run" $(sed 's,^,unit/,' <<<"$tests")
same "none fails" "" "$(grep -A 20 '^FAILED' <<<"$out")"
has "they pass" '^[1-9][0-9]{2,} passed, 0 failed' "$out"
same "each of them ran" "$(wc -l <<<"$tests")" "$(grep -c '^unit/test_[a-z_]* *[1-9][0-9]* passed' <<<"$out")"
done_testing
