#!/bin/bash
# SPDX-License-Identifier: MIT
# Code that a program copied into memory without a file is still the file's: its names, and unwinding through it.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

# What is built with frame pointers is named with its callers by these, else by the file's tables.
expect_names() # RECORDING WHAT
{
	run "$PSTAT" report --no-cache -i "$1" -g folded --no-children --percent-limit 50
	has "$2: named" 'moved +moved +\[\.\] hot_loop' "$out"
	has "$2: its caller, and the file's code around" 'hot_loop;call_hot_loop;main|main;call_hot_loop;hot_loop' "$out"
	has_not "$2: nothing is said of run-time compilers" 'made at run time' "$err"
}

test_moved_while_recorded()
{
	local how

	for how in over from; do
		"$PSTAT" record -q -N -F 1000 -e cpu-clock:u -g -o $how.data -- "$WORK/moved" $how 0.1 >ready
		same "$how: it did" "runs there" "$(<ready)"
		expect_names $how.data "$how"
	done
	"$PSTAT" record -q -N -F 1000 -e cpu-clock:u --call-graph dwarf -o dwarf.data -- "$WORK/moved" over 0.1 >ready
	expect_names dwarf.data "by unwind tables"
}

test_moved_before()
{
	"$WORK/moved" from 30 >ready &
	until grep -q "runs there" ready; do sleep 0.01; done
	"$PSTAT" record -q -N -F 1000 -e cpu-clock:u -g -o data -p $! -- "$used" $! 100
	kill $!
	expect_names data "attached"
}

run_tests
