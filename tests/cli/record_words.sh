#!/bin/bash
# SPDX-License-Identifier: MIT
# What options of pstat record do to the file and to the closing lines. Work is counted, not timed: each of
# these faults is a sample.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
exact=$WORK/exact

record() { "$PSTAT" record -c 1 -e page-faults:u "$@"; }
count() { "$PSTAT" report --stats -i "$1" 2>/dev/null | awk -v t="$2" '$1 == t && $2 == "events:" && !n { n = $3 } END { print n + 0 }'; }
samples() { for file; do count "$file" SAMPLE; done | awk '{ n += $1 } END { print n + 0 }'; }
told() { printf '%s\n' "$err" | sed -nE 's/^\[ pstat record: .*[ :]([0-9]+) samples.*/\1/p'; }

test_closing_line()
{
	run record -o x -- "$exact" pages:500
	has "the last line" '^\[ pstat record: wrote [0-9]+\.[0-9]{3} MB to x: [0-9]+ samples, 0 lost, 0 throttled \]$' "$err"
	same "it is the only one" 1 "$(printf '%s\n' "$err" | wc -l)"
	check "what it did is in there" test "$(told)" -ge 500
	same "what was told is in the file" "$(told)" "$(samples x)"
	run "$PSTAT" record -o x -F 200 -e task-clock:u -- "$exact" spins:100
	has "the rate that was reached" ': [0-9]+ samples, [0-9]+ of 200 Hz, 0 lost, 0 throttled \]$' "$err"
	run "$PSTAT" record -o x -F 200 -e task-clock:u,page-faults:u -- "$exact" spins:100 pages:20
	has "what comes hit by hit has none" '^\[   page-faults:u: [0-9]+ samples, 0 lost, 0 throttled \]$' "$err"
	has "and the clock beside it has" '^\[   task-clock:u: [0-9]+ samples, [0-9]+ of 200 Hz, ' "$err"
	run record -q -o x -- true
	same "-q: nothing" "" "$err"
}

# at_limit WORD...: a recording, "over" among its words the rate above $limit. It is repeated when the kernel has
# lowered the limit meanwhile, as it does when its interrupts take long.
at_limit()
{
	local rate=/proc/sys/kernel/perf_event_max_sample_rate

	limit=
	until [ "$limit" = "$(<$rate)" ]; do
		limit=$(<$rate)
		run "$PSTAT" record -o x "${@/#over/$((limit + 1))}" -e task-clock:u -- true
	done
}

# As in perf an argument is joined to the option; what comes after a blank is the command.
test_registers()
{
	local all one

	"$PSTAT" record -q -N -o x -e cpu-clock:u -I --user-regs -- true
	all=$("$PSTAT" evlist -v -i x)
	has "all general registers, of both kinds" 'sample_regs_user: 0x[0-9a-f]{5,}.*sample_regs_intr: 0x[0-9a-f]{5,}' "$all"
	"$PSTAT" record -q -N -o x -e cpu-clock:u -Isp -- true
	one=$("$PSTAT" evlist -v -i x)
	has "one of them" 'sample_regs_intr: 0x[0-9a-f]+' "$one"
	check "it is not all" test "${one##*sample_regs_intr: }" != "${all##*sample_regs_intr: }"
}

test_wrong_descriptor()
{
	fails_with 129 "^pstat: --control: descriptor 99 is not open$" \
		"$PSTAT" record -o none -e cpu-clock:u --control fd:99 -- true
	check "nothing is recorded" test ! -e none
}

test_frequency()
{
	local limit

	at_limit -F over
	same "over the limit: status" 0 "$status"
	has "a note" "^pstat: -F: $((limit + 1)) Hz lowered to $limit, the limit kernel.perf_event_max_sample_rate$" "$err"
	has "the file has what was asked of the kernel" "sample_freq(_hz)?[^0-9]*$limit" "$("$PSTAT" evlist -v -i x)"
	at_limit -F max
	has_not "max is no surprise" 'lowered' "$err"
	has "max is the limit" "sample_freq[^0-9]*$limit" "$("$PSTAT" evlist -v -i x)"
	rm x
	at_limit -F over --strict-freq
	same "--strict-freq: status" 129 "$status"
	has "--strict-freq: it is said" "$((limit + 1)) Hz is over the limit of $limit" "$err"
	check_not "nothing is begun" test -e x
}

# What fits into a ring, and time for the reader, who may be late on a busy machine: so often that rings are read
# many times.
turns=$(for i in {1..100}; do echo pages:60 sleeps:100; done)

test_files_by_size()
{
	# shellcheck disable=SC2086 # words
	run record -o x -m 4K --switch-output=20K -- "$exact" $turns
	same "status" 0 "$status"
	check "there are several" test "$(ls x.2* | wc -l)" -ge 2
	same "together they have all" "$(told)" "$(samples x.2*)"
	for file in x.2*; do
		check "$file can be read" "$PSTAT" script -D -i "$file"
	done
	rm x.2*
	# shellcheck disable=SC2086 # words
	run record -o x -m 4K --switch-output=20K --switch-max-files 2 -- "$exact" $turns
	same "--switch-max-files: the last ones" 2 "$(ls x.2* | wc -l)"
}

# start_sleeping: process $pid does, and nothing else any more: its exec is over when it sleeps under its new name.
start_sleeping()
{
	sleep 300 &
	pid=$!
	until [ "$(<"/proc/$pid/comm")" = sleep ] && grep -q '^State:.S' "/proc/$pid/status"; do
		sleep 0.01
	done
}

# What runs already is in each file, and is no reason for the next one.
test_files_smaller_than_their_beginning()
{
	local beginning i

	for i in 1 2 3 4 5 6 7 8; do
		start_sleeping
		pids=${pids:+$pids,}$pid
	done
	run "$PSTAT" record -o empty -e page-faults:u -p "$pids" -- true
	beginning=$(stat -c %s empty)
	check "a file without samples has more than 4 KiB" test "$beginning" -gt 4096
	run "$PSTAT" record -o x --switch-output=4K -e page-faults:u -p "$pids" -- sleep 0.3
	kill ${pids//,/ }
	same "status" 0 "$status"
	same "nothing was recorded: one file" 1 "$(ls x.2* | wc -l)"
}

test_the_largest_size()
{
	# shellcheck disable=SC2086 # words
	run record -o x -m 4K --max-size 40K -- "$exact" mortal $turns spins:30000
	same "it is kept to" 0 "$status"
	check "about so large" test "$(stat -c %s x)" -gt 20000 -a "$(stat -c %s x)" -lt 100000
	same "what was told is in the file" "$(told)" "$(samples x)"
}

test_names_of_files()
{
	run record -o x --timestamp-filename -- true
	check "date and time" test -s "$(echo x.2[0-9][0-9][0-9][01][0-9][0-3][0-9]*)"
	check_not "no other file" test -e x
}

# A running process: what is known of it, when, and from where.
test_what_runs_already()
{
	local kind

	start_sleeping
	for kind in no task mmap all; do
		record -q -o $kind --synth $kind -p $pid -- true
	done
	"$PSTAT" record -q -o cgroup --synth cgroup -e cpu-clock:u -- true
	for kind in no cgroup task mmap all; do
		same "$kind: the kernel's map" "$("$PSTAT" script -D -i all | grep -c 'MMAP .*\[kernel.kallsyms\]')" "$("$PSTAT" script -D -i $kind | grep -c 'PERF_RECORD_MMAP .*\[kernel.kallsyms\]')"
	done
	record -q -o tail --tail-synthesize -p $pid -- true
	kill $pid
	same "no" "0 0" "$(count no COMM) $(count no MMAP2)"
	same "task" "1 0" "$(count task COMM) $(count task MMAP2)"
	check "mmap" test "$(count mmap MMAP2)" -ge 3
	same "all has that too" "$(count mmap MMAP2)" "$(count all MMAP2)"
	same "at the end as at the start" "$(count mmap COMM) $(count mmap MMAP2)" \
		"$(count tail COMM) $(count tail MMAP2)"
}

# Tables for walking stacks are beside the code, in maps that cannot be executed.
test_maps_for_stacks()
{
	local words

	start_sleeping
	record -q -o plain -p $pid -- true
	for words in "--call-graph dwarf,raw" "-d"; do
		record -q -o more $words -p $pid -- true
		check "record $words: more maps" test "$(count more MMAP2)" -gt "$(count plain MMAP2)"
	done
	"$PSTAT" record -q -o term --call-graph dwarf,raw -e faults/call-graph=dwarf/u -p $pid -- true
	kill $pid
	same "as a term of an event" "$(count more MMAP2)" "$(count term MMAP2)"
}

test_readers()
{
	local cpus kind

	# One thread for all CPUs, by a mask.
	cpus=$(cat /sys/devices/system/cpu/online)
	for kind in "" cpu core package node numa "$cpus/$cpus"; do
		run record -o x --threads=$kind -- "$exact" forks:4 pages:200
		same "--threads=$kind: status" 0 "$status"
		same "--threads=$kind: what was told is in the file" "$(told)" "$(samples x)"
		check "--threads=$kind: nothing is missing" test "$(told)" -ge 800
	done
	for kind in cpu node sys; do
		run record -o x --threads --affinity=$kind -- "$exact" pages:200
		same "--affinity=$kind" 0 "$status"
	done
}

run_tests
