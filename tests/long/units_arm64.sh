#!/bin/bash
# SPDX-License-Identifier: MIT
# All unit tests built for arm64, and run on this machine, which emulates its instructions (qemu-aarch64):
# those that can pass there do. tests/lab has some of them in each run, and an emulated machine with a kernel of its own.
# Takes some minutes. What is not optimised is built in a third of the time; the lab builds the optimised program.
. "${0%/*}/../lib.sh"
need_cmd qemu-aarch64
need_cmd aarch64-linux-gnu-gcc
sysroot=$ROOT/build/sysroot-arm64 build=$ROOT/build/arm64-units
"$ROOT/.ci/sysroot" arm64 "$sysroot" 2>"$tmp/sysroot.log" || skip "$(tail -n 1 "$tmp/sysroot.log")"

# The emulator does not emulate: locked memory and its limits, mincore(2), signals of a parent's end, what /proc/self says of
# the process; its own thread is one of the process. frames_prefetch and pfm want layouts and units of x86-64. types: the
# compiler reaches a thread's own memory by steps that are not followed. The others take too long to simulate, or count
# memory that the emulator takes.
lacking='buffers|child|foreign|memory_locked|sampling|synth|user_read|frames_prefetch|pfm|types|compare_chance|coverage|task_table'

test_unit()
{
	local tests

	mapfile -t tests < <(cd "$ROOT/tests/unit" && printf '%s\n' test_*.c | sed 's/\.c$//' | grep -Evx "test_($lacking)")
	run env -u MAKEFLAGS -u MAKELEVEL make -s -j"$(nproc)" -C "$ROOT" CROSS=arm64 SYSROOT="$sysroot" BUILD="$build" \
		DEVELOPER=1 SANITIZE= CFLAGS='-O0 -g1' \
		"${tests[@]/#/$build/tests/unit/}"
	same "they build" 0 "$status"
	same "without a warning" "" "$err"
	run env BUILD="$build" TEST_USERS=own UNIT_UNDER="qemu-aarch64 -L $sysroot" "$ROOT/tests/run" "${tests[@]/#/unit/}"
	same "none fails" "" "$(grep -A 20 '^FAILED' <<<"$out")"
	has "they pass" '^[1-9][0-9]{3} passed, 0 failed' "$out"
	point ok "unit tests of $(tr '|' ' ' <<<"$lacking")" "need what the emulator lacks"
}
run_tests
