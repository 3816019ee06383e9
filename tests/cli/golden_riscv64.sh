#!/bin/bash
# SPDX-License-Identifier: MIT
# Golden recordings of a riscv64 program (tests/golden/riscv64): unwinding the stacks in them is the same on any machine.
# What they must say was not written by pstat but by record.py, which made them and tells how.
#
# run: once
. "${0%/*}/golden.bash"

# At each instruction, in prologues, epilogues and the procedure linkage table, while the linker resolves a name, too.
test_tables()
{
	cd "$ROOT/tests/golden/riscv64" || exit 1
	golden dwarf_chain.data dwarf_chain.stacks report --symfs symfs --folded
	run "$PSTAT" report --symfs symfs --folded --unwinder libdw -i dwarf_chain.data
	same "libdw finds the same, but in the linkage table, which has no unwind tables" \
		"$(grep -v -e @plt -e LINKAGE dwarf_chain.stacks)" "$(grep -v -e @plt -e LINKAGE <<<"$out")"
}

test_frame_pointers()
{
	cd "$ROOT/tests/golden/riscv64" || exit 1
	golden fp_chain.data fp_chain.stacks report --symfs symfs --folded
	run "$PSTAT" report --symfs symfs --folded -i fp_chain.data
	has "they are said to be found by frame pointers" '100.0 % of 9 stacks have callers found by frame pointers' "$err"
}

# Files that are not those of the recording give no wrong names.
test_without_files()
{
	cd "$ROOT/tests/golden/riscv64" || exit 1
	mkdir "$tmp/empty"
	run "$PSTAT" report --symfs "$tmp/empty" --folded -i dwarf_chain.data
	same "status" 0 "$status"
	has_not "no name, no caller" 'link|main' "$out"
}
run_tests
