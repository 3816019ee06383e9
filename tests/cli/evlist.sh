#!/bin/bash
# pstat evlist beside perf evlist, on recordings of either.
. "${0%/*}/../lib.sh"

# like_perf NAME FILE OPTION...
like_perf()
{
	local name=$1 file=$2

	shift 2
	run "$PSTAT" evlist "$@" -i "$file"
	same "$name: status" 0 "$status"
	same "$name: as perf has it" "$(perf evlist "$@" -i "$file" 2>/dev/null | grep -v '^#')" "$out"
}

test_of_perf()
{
	need_perf
	need_paranoid 2
	perf record -q -e cpu-clock:u,page-faults:u -o two true
	perf record -q -e cpu-clock:u -c 100000 -g -o period true
	perf stat record -e '{minor-faults:u,page-faults:u},task-clock:u' -o group true 2>/dev/null
	for file in two period group; do
		like_perf "$file" $file
		like_perf "$file -v" $file -v
		like_perf "$file -F" $file -F
		like_perf "$file -g" $file -g
	done
}

test_of_pstat()
{
	need_perf
	need_paranoid 2
	"$PSTAT" record -q -e cpu-clock:u,page-faults:u -o two true 2>/dev/null
	"$PSTAT" stat record -e '{page-faults:u,minor-faults:u}' -o group true 2>/dev/null
	for file in two group; do
		like_perf "$file" $file
		like_perf "$file -v" $file -v
		like_perf "$file -g" $file -g
	done
}

test_pipe()
{
	need_paranoid 2
	"$PSTAT" stat record -o - -e page-faults:u,minor-faults:u true >pipe
	run "$PSTAT" evlist -i pipe
	same "a pipe in a file" $'page-faults:u\nminor-faults:u' "$out"
	same "a pipe" "$out" "$(cat pipe | "$PSTAT" evlist -i -)"
	"$PSTAT" stat record -o - -e page-faults:u true 2>said | "$PSTAT" evlist -i - >names
	same "its writer is not ended: status" 0 "${PIPESTATUS[0]}"
	same "its writer is not ended" page-faults:u "$(cat said names)"
}

# A recording that was never finished has its names in front of the data.
test_unfinished()
{
	need_paranoid 2
	"$PSTAT" stat record -e page-faults:u,minor-faults:u -o whole true 2>/dev/null
	head -c $(($(stat -c %s whole) - 100)) whole >cut
	at=$("$PSTAT" script -D -i whole | sed -n 's/^0x\([0-9a-f]*\) .*THREAD_MAP.*/\1/p')
	head -c $((16#$at + 20)) whole >early
	for file in cut early; do
		run "$PSTAT" evlist -i $file
		same "$file: status" 0 "$status"
		same "$file: names" $'page-faults:u\nminor-faults:u' "$out"
		has "$file: a line says so" "^pstat: $file: .*(the file ends|outside the file)" "$err"
	done
}

test_wrong()
{
	fails_with 125 '^pstat: perf.data: No such file' "$PSTAT" evlist
	fails_with 125 '^pstat: none: No such file' "$PSTAT" evlist -i none
	fails_with 129 "^pstat: evlist: 'x' is not an option" "$PSTAT" evlist x
	echo text >text
	fails_with 125 '^pstat: text: is not a perf.data file' "$PSTAT" evlist -i text
	: >empty
	fails_with 125 '^pstat: empty: is empty' "$PSTAT" evlist -i empty
}

run_tests
