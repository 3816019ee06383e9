#!/bin/bash
# SPDX-License-Identifier: MIT
# Callchains of 8,000 frames: what is printed of them is right, takes the memory that pstat-report(1) says and
# no more, and needs no deep stack of pstat's own.
#
# run: once
. "${0%/*}/../lib.sh"

deep() { "$PYTHON" "$ROOT/tests/cli/deep_recording.py" "$@"; }

# The table of DEEP CALLCHAINS: bytes for each frame, with all its callers, that is unlike others.
STACKS=128 # --folded
ROWS=192 # -g none
TREES=320 # all others, with the nodes of the tree that is being printed
BASE_KIB=24576 # the program and its libraries

# report BYTES OPTION...: of `data`, with $frames frames, in so much memory and on 128 KiB of stack; to `out`
report()
{
	local kib=$((BASE_KIB + frames * $1 / 1024))

	shift
	( ulimit -s 128 && ulimit -v "$kib" && exec "$PSTAT" report -q -i data --max-stack 8000 "$@" ) >out 2>messages
	same "$*: in $kib KiB" 0 $?
}

test_all_differ()
{
	need_plain_build
	for samples in 18 34; do # each just behind a growth of tables
		deep data random $samples 8000
		frames=$((samples * 8000))
		report $STACKS --folded
		same "frames without names are alike" "8000 $samples" "$(tr -cd ';' <out | wc -c) $(sed 's/.* //' out)"
		report $ROWS -g none
		report $TREES -g graph,0 -s comm
		same "a line for each frame" "$frames" "$(grep -cE '0x4[0-9a-f]{5}$' out)"
		report $TREES -g fractal,0 -s comm
		same "a line for each frame" "$frames" "$(grep -cE '0x4[0-9a-f]{5}$' out)"
		report $TREES -g flat,0 -s comm
		same "a line for each frame" "$frames" "$(grep -cE '^ {16}0x4[0-9a-f]{5}$' out)"
		report $TREES -g folded,0 -s comm
		same "a line for each chain" "$samples" "$(tr -cd ';\n' <out | grep -c '^;\{7999\}$')"
		report $TREES -j -s comm -g graph,0
		same "a node for each frame" "$frames" "$(grep -o '"self_samples"' out | wc -l)"
		same "as many brackets open as close" "$(tr -cd '[{' <out | wc -c)" "$(tr -cd ']}' <out | wc -c)"
		report $TREES --hierarchy -g graph,0
		report $TREES --no-children -g callee,address,0
	done
}

# The same with names, so that folded stacks differ.
test_names_differ()
{
	need_plain_build
	for samples in 18 34; do # each just behind a growth of tables
		deep data random $samples 8000 "$WORK/callers"
		frames=$((samples * 8000))
		report $STACKS --folded
		same "a line for each sample" "$samples" "$(wc -l <out)"
		same "of 8000 frames, or more where some are inlined" "$samples" "$(tr -cd ';\n' <out | awk 'length >= 8000' | wc -l)"
	done
}

# What is below the limit takes no room, however many entries there are.
test_small_branches()
{
	need_plain_build
	deep data random 400 400
	frames=160000
	report $ROWS
	check "rows" grep -q '0x0000000000000410$' out
	report $ROWS -j
	report $ROWS -g callee
}

# A fork at each of 2,000 levels, and way down from there: nothing recurses.
test_forks()
{
	deep data comb 200 8000
	frames=8200
	for options in "-g graph,0" "-g fractal,0" "-g flat,0" "-g folded,0" "-j -g graph,0"; do
		# shellcheck disable=SC2086 # words
		( ulimit -s 128 && exec "$PSTAT" report -q -i data --max-stack 8000 --no-children -s comm $options ) \
			>out 2>messages
		same "$options on 128 KiB of stack" 0 $?
		check "there is the outermost" grep -q '0x41f3f0' out
	done
}

run_tests
