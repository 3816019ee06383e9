#!/bin/bash
# SPDX-License-Identifier: MIT
# Code made at run time without frame pointers, whose compiler has put its unwind tables and lines into a dump: stacks
# are unwound through it while they are recorded, and by report; each instruction has its line. The work is "jit tree"
# of tests/work/jit.c, which knows its own tree of calls: 20 page faults below each function.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
export HOME=$tmp JITDUMPDIR=$tmp NO_COLOR=1 PERF_BUILDID_DIR=/dev/null

# tree HOW OPTION...: a recording of it in x; how it went in $err.
tree()
{
	rm -f x "$tmp"/jit-*.dump
	run "$PSTAT" record -N -o x -e page-faults:u -c 1 "${@:2}" -- "$WORK/jit" tree "$1"
	same "$*: status" 0 "$status"
}

# trees OPTION...: the stacks that end in touch_one, from main on, and how often.
trees()
{
	"$PSTAT" report -i x --folded "$@" 2>report_err | grep ';touch_one [0-9]*$' | sed 's/.*;main;/main;/' |
		awk '{ n[$1] += $2 } END { for (i in n) print i, n[i] }' | sort
}

small='main;tree;grow_tree;jit_small;touch_one 20'
cut='jit;jit_small;touch_one 20'
large='main;tree;grow_tree;jit_large;touch_one 20'

test_while_recording()
{
	tree tables --call-graph dwarf
	same "the tree" "$small" "$(trees)"
	has_not "none ends in it" 'code made at run time' "$err"
	tree tables --call-graph dwarf -k mono
	same "by the dump's clock" "$small" "$(trees)"
}

test_by_report()
{
	tree tables --call-graph dwarf,raw
	same "the tree" "$small" "$(trees)"
	has_not "none ends in it" 'made at run time' "$(<report_err)"
	tree tables --call-graph dwarf,raw -k mono
	same "by the dump's clock" "$small" "$(trees)"
	# One after the other in one place, with frames of different sizes.
	tree again --call-graph dwarf,raw -k mono
	same "each at its time" "$large
$small" "$(trees)"
}

test_without_tables()
{
	tree bare --call-graph dwarf
	same "no tree" "$cut" "$(trees)"
	has "the recorder says why" '[0-9]+ in code made at run time' "$err"
	tree bare --call-graph dwarf,raw
	same "raw: no tree" "$cut" "$(trees)"
	has "report says why" 'code made at run time without frame pointers' "$(<report_err)"
	has "and what to do" 'or write a dump with unwind tables' "$(<report_err)"
}

# As CPython does, whose dump is written when its buffer is full or it ends.
test_a_dump_that_comes_late()
{
	rm -f x go && mkfifo go
	"$PSTAT" record -N -o x -e page-faults:u -c 1 --call-graph dwarf -- "$WORK/jit" tree late <go 2>said &
	recorder=$!
	exec 9>go
	# The compiler goes on when its samples are in the file.
	for ((i = 0; i < 600; i++)); do
		[ "$("$PSTAT" script -i x -F ip,sym 2>/dev/null | grep -cw touch_one)" -ge 20 ] && break
		[ -d /proc/$recorder ] || break
		sleep 0.1
	done
	exec 9>&-
	wait $recorder
	has "what to do" 'or record copies, --call-graph dwarf,raw, if its dump .jit-PID.dump. comes late' "$(<said)"
	same "no tree" "$cut" "$(trees)"
	has "report says it, too" 'record --call-graph dwarf,raw if its dump comes late' "$(<report_err)"
	tree late --call-graph dwarf,raw </dev/null
	same "the tree" "$small" "$(trees)"
}

# lines OPTION...: those of the frames of jit_small and jit_large.
lines()
{
	"$PSTAT" script -i x -F ip,sym,srcline 2>script_err | awk '/handler\.src/ { print f, $1 } { f = $2 }' | sort | uniq -c |
		awk '{ print $2, $3, $1 }'
}

test_lines()
{
	tree again --call-graph dwarf,raw -k mono
	same "of each call, at its time" "jit_large handler.src:11 20
jit_small handler.src:11 20" "$(lines)"
	tree tables --call-graph dwarf
	same "unwound before, of whatever clock" "jit_small handler.src:11 20" "$(lines)"
}

run_tests
