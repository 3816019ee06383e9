#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder of all CPUs at 25 kHz under a fork storm has flat memory for SOAK_S seconds (300).
#
# run: alone
. "${0%/*}/../lib.sh"
. "${0%/*}/flat_memory.bash"
: "${SOAK_S:=300}"

# flat NAME OPTIONS...
flat()
{
	local name=$1 pid

	shift
	begin_storm
	"$PSTAT" record -q -a -e cpu-clock -F 25000 "$@" >/dev/null 2>said </dev/null &
	pid=$!
	look_on $pid "$SOAK_S"
	kill -INT $pid
	wait $pid
	same "$name: ended by the signal, with a whole recording" 130 $?
	kill -9 $storm
	is_flat "$name"
}

test_one_file()
{
	need_paranoid 0
	flat "packed" -z -o x
	run "$PSTAT" report --stats -i x
	same "it can be read" 0 "$status"
	has "it has samples" '^ +SAMPLE events: +[1-9]' "$out"
}

test_switched_files()
{
	need_paranoid 0
	flat "switched" --switch-output=20M --switch-max-files=3 -o x
	check "the last ones can be read" "$PSTAT" report --stats -i "$(find . -name 'x.2*' | sort | tail -n 1)"
}

run_tests
