#!/bin/bash
# SPDX-License-Identifier: MIT
# Every record that is written is a multiple of 8 bytes long, in each way of recording: perf 7 refuses a stream
# with others ("event size 100 is not 8-byte aligned").
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

# multiples NAME TYPES FILE...: all are; and what is to be seen was.
multiples()
{
	local name=$1 seen type wanted=$2

	shift 2
	seen=$("$PYTHON" "$ROOT/tests/cli/record_multiples.py" "$@" 2>&1)
	same "$name: all records" "" "$(printf '%s\n' "$seen" | grep -v '^[0-9 ]*$')"
	for type in $wanted; do
		has "$name: has type $type" "(^| )$type( |$)" "$seen"
	done
}

# Types: 9 samples, 66 formats of tracepoints, 67 build-ids, 76 counts, 80 features, 81 packed.
test_files()
{
	local n name=c

	for n in 1 2 3 4 5 6 7 8; do # names of all lengths
		name=${name}_
		cp "$WORK/callers" $name
		"$PSTAT" record -q -o $name.data -e cpu-clock:u -g -- ./$name known 100
	done
	multiples "names" "9 67" c_*.data
	"$PSTAT" record -q -o dwarf.data -e cpu-clock:u --call-graph dwarf -- "$WORK/callers" known 100
	"$PSTAT" record -q -o raw.data -e cpu-clock:u --call-graph dwarf,raw,1024 -R -- "$WORK/callers" known 100
	"$PSTAT" record -q -o symbols.data -e cpu-clock:u --symbols-in-file -- "$WORK/callers" known 100
	"$PSTAT" record -q -o more.data -e cpu-clock:u -d -T -R -- "$WORK/callers" known 100
	"$PSTAT" record -q -o mmap.data -e cpu-clock:u --buildid-mmap -- "$WORK/callers" known 100
	multiples "other fields" "9 67" dwarf.data raw.data symbols.data more.data
	multiples "build-ids in the maps" 9 mmap.data
	cp c_.data into.data
	check "names are put into a recording" "$PSTAT" archive --into-recording -i into.data
	multiples "into the recording" "9 67" into.data
}

test_what_else_happens()
{
	need_cap perfmon
	"$PSTAT" record -q -o x.data -a -e cpu-clock --all-cgroups --namespaces --switch-events -- "$WORK/callers" known 100
	multiples "records of the kernel" "3 9 10 15 16" x.data
}

test_packed()
{
	"$PSTAT" record -q -z -o z.data -F 20000 -e cpu-clock:u --call-graph dwarf,raw,8192 -- "$WORK/callers" known 300
	"$PSTAT" record -q -z -o threads.data --threads=cpu -e cpu-clock:u -- "$WORK/callers" known 100
	"$PSTAT" record -q -z -o - -e cpu-clock:u -- "$WORK/callers" known 20 >z.pipe
	multiples "packed" "67 81" z.data threads.data
	multiples "packed, in a pipe" "80 81" z.pipe
	for file in z.data threads.data z.pipe; do
		check "$file is read" "$PSTAT" report --stats -i $file
		! command -v perf >/dev/null || check "perf reads $file" perf report --stdio -g none -i $file
	done
}

test_pipes()
{
	"$PSTAT" record -q -o - -e cpu-clock:u -g -- "$WORK/callers" known 100 >g.pipe
	"$PSTAT" record -q -o - -e cpu-clock:u --call-graph dwarf -- "$WORK/callers" known 100 >d.pipe
	multiples "pipes" "9 67 80" g.pipe d.pipe
	! command -v perf >/dev/null || check "perf reads them" perf report --stdio -i g.pipe
}

test_counts()
{
	"$PSTAT" stat record -o s.data -e page-faults,task-clock:u -- true 2>/dev/null
	"$PSTAT" stat record -o - -I 10 -e page-faults:u -- sleep 0.05 >s.pipe 2>/dev/null
	multiples "counts" "76" s.data
	multiples "counts in a pipe" "76 80" s.pipe
}

test_formats_of_tracepoints()
{
	need_root
	need_tracefs
	"$PSTAT" record -q -o - -e sched:sched_process_exec -- true >t.pipe
	multiples "tracepoints" "66 67 80" t.pipe
	same "they are read" 1 "$("$PSTAT" script -i t.pipe | grep -c sched_process_exec)"
	! command -v perf >/dev/null || same "by perf, too" 1 "$(perf script -i - <t.pipe 2>/dev/null | grep -c sched_process_exec)"
}

run_tests
