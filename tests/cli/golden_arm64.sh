#!/bin/bash
# SPDX-License-Identifier: MIT
# Golden recordings of an arm64 machine (tests/golden/arm64): reading them, and unwinding the stacks in them, is
# the same on any machine. They were recorded in the emulated machine of the lab and read by perf there
# (tests/lab/guest/report.sh, tests/lab/reports.sh). To make them anew, from the top of the tree:
#
#	make check-lab && cd tests/golden/arm64 &&
#	for name in *.data; do cp ../../../build/lab/out/${name%.data}_pstat.data $name; done &&
#	cp ../../../build/lab/guest/lab/work/callers{,_without_fp} symfs/lab/work &&
#	rm -f *.script *.report *.folded *.notes && cd ../../.. && GOLDEN_UPDATE=1 tests/run cli/golden_arm64
#
# and then check what is new by hand: the C library is not there, so that its frames have no names and the
# unwinding of stacks ends in it.
#
# run: once
. "${0%/*}/golden.bash"

test_frame_pointers()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	golden fp_recursive.data fp_recursive.report report --symfs symfs -g none
	golden fp_recursive.data fp_recursive.folded report --symfs symfs --folded
	golden fp_recursive.data fp_recursive.script script --symfs symfs
	has "recurse calls itself twenty times" '^callers;(.*;)?main;recursive(;recurse){21};burn [0-9]+$' \
		"$(<fp_recursive.folded)"
}

# The caller of a function at its first instruction, from the link register; without tables it is not known.
test_link_register()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	golden fp_chain.data fp_chain.script script --symfs symfs
	golden fp_chain.data fp_chain.folded report --symfs symfs --folded
	has "each link" ';main;link1;link2;link3;link4;link5 1$' "$(<fp_chain.folded)"
	mkdir "$tmp/nothing"
	run "$PSTAT" script --symfs "$tmp/nothing" -i fp_chain.data
	same "one frame less without the file" $(($(wc -l <fp_chain.script) - 1)) "$(wc -l <"$tmp/.out")"
}

# The guest's link register and stack, by the tables of its ELF files.
test_sampled_stacks()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	golden dwarf_chain.data dwarf_chain.script script --symfs symfs
	golden dwarf_chain.data dwarf_chain.folded report --symfs symfs --folded
	golden dwarf_chain.data dwarf_chain.notes report --symfs symfs
	has "each link, from the first instruction of the last" ';main;link1;link2;link3;link4;link5 1$' \
		"$(<dwarf_chain.folded)"
	golden dwarf_recursive.data dwarf_recursive.report report --symfs symfs -g none
	golden dwarf_recursive.data dwarf_recursive.folded report --symfs symfs --folded
	has "without frame pointers" ';main;recursive(;recurse){21};burn [0-9]+$' "$(<dwarf_recursive.folded)"
	# libc is not among the files: it keeps frame pointers, which libdw is not told to follow.
	for recording in dwarf_chain dwarf_recursive; do
		run "$PSTAT" report --symfs symfs --folded --unwinder libdw -i $recording.data
		same "$recording: libdw finds the same up to libc" \
			"$(sed 's/;_start;\[libc.so.6\];/;/' $recording.folded)" "$out"
	done
}

# An instruction takes two cycles there.
test_group_read()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	golden group.data group.report report --symfs symfs
	golden group.data group.script script --symfs symfs
	same "twice as many cycles as instructions" "2500000 instructions:u: 5000000 cycles:u:" \
		"$(awk '{ print $(NF - 4), $(NF - 3) }' group.script | sort -u | paste -sd ' ')"
}

# Files that are not those of the recording give no wrong names.
test_without_files()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	mkdir "$tmp/empty"
	run "$PSTAT" report --symfs "$tmp/empty" --folded -i dwarf_chain.data
	same "status" 0 "$status"
	has_not "no name, no caller" 'link|main' "$out"
}

test_each_file_is_read()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	for file in *.data; do
		check "$file is in a case" grep -q "golden $file " "$ROOT/tests/cli/golden_arm64.sh"
	done
}
run_tests
