#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat evlist beside perf evlist, on recordings of either.
#
# run: once
. "${0%/*}/../lib.sh"

# An older perf has no names of types and configurations, and leaves out those that are 0.
without_names() { sed -E 's/(type|config)(: [0-9a-fx]+) \([^)]*\)/\1\2/g; s/, config: 0,/,/'; }

# like_perf NAME FILE OPTION...
like_perf()
{
	local name=$1 file=$2 perfs

	shift 2
	run "$PSTAT" evlist "$@" -i "$file"
	same "$name: status" 0 "$status"
	perfs=$(perf evlist "$@" -i "$file" 2>/dev/null | grep -v '^#')
	grep -q 'PERF_TYPE_' <<<"$perfs" || out=$(without_names <<<"$out")
	same "$name: as perf has it" "$perfs" "$out"
}

# perf 7's words, for attrs of all kinds; a PMU's name is the recording's.
test_names_of_types_and_configs()
{
	need_paranoid 2
	"$PSTAT" record -q -e cpu-clock:u -o x true
	"$PYTHON" - x <<-'END' >said 2>&1
		import struct, subprocess, sys, os
		data = open(sys.argv[1], "rb").read()
		at, = struct.unpack_from("<Q", data, 24)
		software = int(open("/sys/bus/event_source/devices/software/type").read())
		rows = [(0, 0, "0 (PERF_TYPE_HARDWARE)", "0 (PERF_COUNT_HW_CPU_CYCLES)"),
		    (0, 9, "0 (PERF_TYPE_HARDWARE)", "0x9 (PERF_COUNT_HW_REF_CPU_CYCLES)"),
		    (0, 12, "0 (PERF_TYPE_HARDWARE)", "0xc"),
		    (0, software << 32 | 1, "0 (PERF_TYPE_HARDWARE)", "%#x (software/PERF_COUNT_HW_INSTRUCTIONS/)" % (software << 32 | 1)),
		    (1, 0, "1 (PERF_TYPE_SOFTWARE)", "0 (PERF_COUNT_SW_CPU_CLOCK)"),
		    (1, 11, "1 (PERF_TYPE_SOFTWARE)", "0xb (PERF_COUNT_SW_CGROUP_SWITCHES)"),
		    (1, 99, "1 (PERF_TYPE_SOFTWARE)", "0x63"),
		    (2, 7, "2 (PERF_TYPE_TRACEPOINT)", "0x7 (cpu-clock:u)"),
		    (3, 0x10102, "3 (PERF_TYPE_HW_CACHE)",
		     "0x10102 (PERF_COUNT_HW_CACHE_RESULT_MISS | PERF_COUNT_HW_CACHE_OP_WRITE | PERF_COUNT_HW_CACHE_LL)"),
		    (3, 0xffffff, "3 (PERF_TYPE_HW_CACHE)", "0xffffff"),
		    (5, 0, "5 (PERF_TYPE_BREAKPOINT)", "0"),
		    (4294967295, 3, "4294967295", "0x3")]
		for kind, config, type_shown, config_shown in rows:
		    changed = bytearray(data)
		    struct.pack_into("<I", changed, at, kind)
		    struct.pack_into("<Q", changed, at + 8, config)
		    open("changed", "wb").write(changed)
		    line = subprocess.run([os.environ["PSTAT"], "evlist", "-v", "-i", "changed"], capture_output=True, text=True).stdout
		    head, _, rest = line.partition(", size: ")
		    if not head.endswith(": type: " + type_shown) or (", config: %s, {" % config_shown) not in rest:
		        print("%d %#x: %s" % (kind, config, line))
	END
	same "attrs of all kinds" "" "$(<said)"
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

test_trace_fields()
{
	need_tracefs
	need_paranoid -1
	"$PSTAT" record -q -e sched:sched_process_exec,syscalls:sys_enter_write,page-faults:u -o events true
	run "$PSTAT" evlist --trace-fields -i events
	same "status" 0 "$status"
	has "an event's fields" '^sched:sched_process_exec: trace_fields: filename,pid,old_pid$' "$out"
	has "one that has none" '^page-faults:u: \(not a tracepoint\)$' "$out"
	same "of a pipe" "$out" "$("$PSTAT" record -q -e sched:sched_process_exec,syscalls:sys_enter_write,page-faults:u -o - true |
		"$PSTAT" evlist --trace-fields -i -)"
	need_perf
	like_perf "fields" events --trace-fields
	like_perf "fields and periods" events --trace-fields -F
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
