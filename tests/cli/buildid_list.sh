#!/bin/bash
# pstat buildid-list: what perf lists, from the header and from the mappings' own records.
. "${0%/*}/../lib.sh"

same_list()
{
	run "$PSTAT" buildid-list -i "$2"
	same "$1: status" 0 "$status"
	same "$1: as perf has it" "$(perf buildid-list -i "$2" | sort)" "$(sort <<<"$out")"
}

test_header()
{
	need_perf
	need_paranoid 2
	perf record -q -e cpu-clock:u -F 4000 -o theirs ls -R "$ROOT/tests" >/dev/null
	same_list "of perf" theirs
	"$PSTAT" record -q -e cpu-clock:u -o own ls -R "$ROOT/tests" >/dev/null 2>&1
	same_list "of pstat" own
	has "a program that ran" '^[0-9a-f]{40} /.*/ls$' "$out"
}

test_mappings()
{
	need_perf
	need_paranoid 2
	perf record -q --buildid-mmap -e cpu-clock:u -o mmap true 2>/dev/null ||
		skip "needs a kernel that gives build-ids with mappings"
	run "$PSTAT" buildid-list -i mmap
	has "from the records" '^[0-9a-f]{40} /.*/true$' "$out"
}

test_kernel()
{
	[ -r /sys/kernel/notes ] || skip "needs a kernel that shows its notes"
	run "$PSTAT" buildid-list -k
	same "status" 0 "$status"
	has "one line" '^[0-9a-f]{40}$' "$out"
	need_perf
	same "as perf has it" "$(perf buildid-list -k)" "$out"
}

test_wrong()
{
	fails_with 125 '^pstat: perf.data: No such file' "$PSTAT" buildid-list
	fails_with 129 "^pstat: buildid-list: 'x' is not an option" "$PSTAT" buildid-list x
	fails_with 129 '^pstat: buildid-list: -k is about this machine' "$PSTAT" buildid-list -k -i x
}

run_tests
