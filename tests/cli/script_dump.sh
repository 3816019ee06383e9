#!/bin/bash
# SPDX-License-Identifier: MIT
# The raw dump of recordings: pstat lists the records that perf lists, each at its place.
#
# run: once
. "${0%/*}/../lib.sh"

# "0x1a0 [0x58] MMAP2" for each record. perf leaves HEADER_ out of names, and says 0 for 0x0.
places()
{
	sed -nE 's/^.*\b(0x[0-9a-f]+(\+0x[0-9a-f]+)?|0) (\[[0-9a-fx]+\]): PERF_RECORD_(HEADER_)?([A-Z]+[A-Z_0-9]*).*/\1 \3 \5/p' |
		sed 's,STAT_ROUNDCPU,STAT_ROUND,' | grep -v -e ' COMPRESSED' | sort # perf lacks a line's end there
}

# Without the places: perf counts those of a pipe from behind its header.
sizes() { places | cut -d ' ' -f 2- | sort; }

# same_records NAME FILE: offset, size and name of all.
same_records()
{
	local perfs

	perfs=$(perf script -D -i "$2" 2>/dev/null | places)
	run "$PSTAT" script -D -i "$2"
	same "$1: status" 0 "$status"
	check "$1: there are some" test "$(wc -l <<<"$perfs")" -gt 4
	same "$1: the records that perf lists" "$perfs" "$(places <<<"$out")"
	same "$1: report -D is the same" "$out" "$("$PSTAT" report -D -i "$2")"
}

test_of_perf()
{
	need_perf
	perf_without_kernel
	need_paranoid 2
	perf record -q -e cpu-clock:u -F 4000 -g -o stacks ls -R "$ROOT/tests" >/dev/null
	same_records "call chains" stacks
	perf record -q -e page-faults:u,cpu-clock:u -d -o two sh -c 'ls; ls' >/dev/null
	same_records "two events" two
	perf record -q -e cpu-clock:u -o - true >pipe 2>/dev/null
	same "a pipe" "$(perf script -D -i pipe 2>/dev/null | sizes)" \
		"$("$PSTAT" script -D -i pipe | sizes)"
	perf stat record -e page-faults:u -o counts true 2>/dev/null
	same_records "counts" counts
}

test_machine()
{
	need_perf
	need_tracefs
	need_paranoid -1
	perf record -q -a -e sched:sched_switch,cpu-clock -o all sleep 0.05
	same_records "tracepoints, all CPUs" all
	perf record -q -a -e cpu-clock --switch-events --namespaces -o switches sleep 0.05
	same_records "switches and namespaces" switches
}

test_of_pstat()
{
	need_perf
	perf_without_kernel
	need_paranoid 2
	"$PSTAT" record -q -e cpu-clock:u -g -o stacks ls -R "$ROOT/tests" >/dev/null 2>&1
	same_records "call chains" stacks
	"$PSTAT" record -q -e page-faults:u,cpu-clock:u -o two sh -c 'ls; ls' >/dev/null 2>&1
	same_records "two events" two
	"$PSTAT" stat record -e page-faults:u -o counts true 2>/dev/null
	same_records "counts" counts
}

test_stats()
{
	need_perf
	perf_without_kernel
	need_paranoid 2
	# For 50 ms of CPU time: perf leaves an event without samples out.
	perf record -q -e page-faults:u,cpu-clock:u -o two "$WORK/exact" forks:2 pages:5 spins:50 >/dev/null
	run "$PSTAT" report --stats -i two
	same "how many of each type" "$(perf report --stats -i two 2>/dev/null | sed '/^$/d')" \
		"$(sed '/^$/d' <<<"$out")"
}

# perf's lines that pstat has as well: what is about the file and the machine.
test_header()
{
	need_perf
	perf_without_kernel
	need_paranoid 2
	perf record -q -e cpu-clock:u -o one true
	run "$PSTAT" script --header-only -i one
	for line in 'captured on' 'data offset' 'data size' hostname arch 'nrcpus online' cmdline \
		'total memory' 'pmu mappings'; do
		same "$line" "$(perf script --header-only -i one | grep "^# $line *:" | tr -s ' ')" \
			"$(grep "^# $line *:" <<<"$out" | tr -s ' ')"
	done
	"$PSTAT" record -q -o - -e cpu-clock:u true >pipe
	touch -d 2020-02-02 pipe
	same "a pipe's file: its date" "$(perf script --header-only -i pipe | grep 'captured on')" \
		"$("$PSTAT" script --header-only -i pipe | grep 'captured on')"
	has "a pipe: when it was recorded" "^# captured on +: .* $(date +%Y)$" "$(cat pipe | "$PSTAT" report --header-only -i - | head -2)"
	perf record -q -o - -e cpu-clock:u true | "$PSTAT" report --header-only -i - >other
	has "a pipe that does not say: now" "^# captured on +: .* $(date +%Y)$" "$(<other)"
	has "-I has the topology" '^# sibling (cores|sockets) *: ' "$("$PSTAT" script -I -i one)"
	has_not "--header-only has no records" PERF_RECORD "$out"
	has "--header stands before the records" '^# ====' "$("$PSTAT" script --header -D -i one | head -1)"
}

# In a pipe the header comes as records; it is printed first all the same.
test_header_of_a_pipe()
{
	need_paranoid 2
	"$PSTAT" stat record -o - -e page-faults:u true >pipe
	run "$PSTAT" script --header -D -i pipe
	same "the header comes first" '# ========' "${out%%$'\n'*}"
	has "what the records say of it" '^# cmdline : .*stat record' "$out"
	has "records that came before it are not lost" 'PERF_RECORD_HEADER_ATTR' "$out"
	# A file has the time when it was written last, a pipe that of now.
	same "a pipe" "$(grep -v '^# captured on ' <<<"$out")" \
		"$(cat pipe | "$PSTAT" script --header -D -i - | grep -v '^# captured on ')"
}

# Names come from whoever was recorded.
test_hostile_names()
{
	need_paranoid 2
	"$PSTAT" stat record -e page-faults:u -o plain true 2>/dev/null
	LC_ALL=C sed 's/pstat 0.1/ps\x1b[2J\xff\x7f!/' plain >hostile
	run "$PSTAT" script --header-only -i hostile
	has "escapes are shown, not sent" 'ps\\x1b\[2J\\xff\\x7f!' "$out"
}

test_output()
{
	need_paranoid 2
	"$PSTAT" stat record -e page-faults:u -o one true 2>/dev/null
	"$PSTAT" script -D -i one >/dev/full 2>said
	same "a full disk: status" 125 $?
	has "a full disk" '^pstat: standard output: cannot write: No space' "$(cat said)"
	"$PSTAT" script -D -i one >&- 2>said
	same "a closed stdout: status" 125 $?
	has "a closed stdout" '^pstat: standard output: cannot write: Bad file' "$(cat said)"
}

test_wrong_words()
{
	touch x # report takes a word that is no file as part of a function's name
	for command in script report; do
		fails_with 125 '^pstat: perf.data: No such file' "$PSTAT" $command
		has "$command: what makes one" '^  make one with pstat record, or name another recording with -i$' "$err"
		fails_with 129 "^pstat: $command: 'x' is (not|neither) an option" "$PSTAT" $command x
		fails_with 125 '^pstat: perf.data: No such file' "$PSTAT" $command -D
		fails_with 125 '^pstat: standard input: is empty' "$PSTAT" $command -D -i -
	done
}

run_tests
