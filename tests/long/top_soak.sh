#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat top of all CPUs under a fork storm has flat memory for SOAK_S seconds (600), and prints a table each second all
# the time.
#
# run: alone
. "${0%/*}/../lib.sh"
. "${0%/*}/flat_memory.bash"
: "${SOAK_S:=600}"

# flat NAME OPTIONS...
flat()
{
	local name=$1 pid tables

	shift
	begin_storm
	"$PSTAT" top -a --stdio -d 1 -e cpu-clock "$@" >tables 2>said </dev/null &
	pid=$!
	look_on $pid "$SOAK_S"
	kill -INT $pid
	wait $pid
	same "$name: ended by the signal" 0 $?
	kill -9 $storm
	tables=$(grep -c '^# top: .* [1-9][0-9]* samples/s' tables)
	check "$name: $tables tables in $SOAK_S s" test "$tables" -gt $((SOAK_S / 2))
	is_flat "$name"
}

test_functions()
{
	need_paranoid 0
	flat "functions"
}

test_tasks_and_callchains()
{
	need_paranoid 0
	flat "tasks and callchains" -g -s pid,comm,dso,symbol
}

run_tests
