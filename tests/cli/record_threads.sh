#!/bin/bash
# SPDX-License-Identifier: MIT
# One recording of each shape that the recorder's threads come in. With SANITIZE=thread (make check-threads) a race
# between them ends it with a report.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

load=("$WORK/exact" threads:4 execs:20 spins:100)

# whole NAME FILE: no report, and the samples that were told are there.
whole()
{
	local told

	same "$1: status" 0 "$status"
	has_not "$1: no race" 'ThreadSanitizer' "$err"
	told=$(printf '%s\n' "$err" | sed -n '/^\[ pstat record:/ s/.*: \([0-9]*\) samples\{0,1\}[ ,].*/\1/p')
	same "$1: its samples" "$told" "$("$PSTAT" report --stats -i "$2" 2>/dev/null |
		awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }')"
	check "$1: there are some" test "${told:-0}" -gt 0
}

test_one_reader()
{
	run "$PSTAT" record -o x -F 10000 -e cpu-clock:u -g -- "${load[@]}"
	whole "one file" x
}

test_a_reader_for_each_cpu()
{
	run "$PSTAT" record -o x --threads=cpu -F 10000 -e cpu-clock:u -g -- "${load[@]}"
	whole "--threads=cpu" x
}

test_several_files()
{
	run "$PSTAT" record -q -o x --threads=cpu --switch-output=20K -F 10000 -e cpu-clock:u -- "${load[@]}"
	same "status" 0 "$status"
	same "nothing is said" "" "$err"
	check "the last can be read" "$PSTAT" report --stats -i "$(find . -name 'x.2*' | sort | tail -n 1)"
}

test_a_packed_pipe()
{
	"$PSTAT" record -z -o - -F 10000 -e cpu-clock:u -- "${load[@]}" 2>said | cat >x
	status=${PIPESTATUS[0]}
	err=$(cat said)
	whole "a packed pipe" x
}

run_tests
