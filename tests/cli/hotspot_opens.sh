#!/bin/bash
# SPDX-License-Identifier: MIT
# hotspot, a viewer of perf.data files, opens pstat's: its parser is run as the viewer runs it.
#
# run: once
. "${0%/*}/../lib.sh"

callers=$WORK/callers

find_parser()
{
	for parser in /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser; do
		[ -x "$parser" ] && return
	done
	skip "needs hotspot-perfparser (package hotspot)"
}

opens()
{
	local name=$1
	shift
	"$PSTAT" record -q -o p.data -e cpu-clock:u -F 2000 "$@" -- "$callers" known 100 2>record.err
	run "$parser" --input p.data --output parsed
	same "$name: status" 0 "$status"
	same "$name: it is its format" QPERFSTREAM "$(head -c 11 parsed)"
	has "$name: the functions have names" burn "$(strings parsed)"
}

test_plain()
{
	find_parser
	need_paranoid 2
	opens "samples"
}

test_chains()
{
	find_parser
	need_paranoid 2
	opens "callchains" -g
}

test_stacks()
{
	find_parser
	need_paranoid 2
	opens "stacks to unwind" --call-graph dwarf,raw
	opens "stacks that were unwound" --call-graph dwarf
}

test_two_events()
{
	find_parser
	need_paranoid 2
	opens "two events" -e page-faults:u
}

run_tests
