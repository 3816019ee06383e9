#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts in a file: pstat stat record and pstat stat report, each also with perf at the other end. What is
# recorded is what was printed, so every comparison is exact.
#
# rights: test_a_command test_threads test_pipes
. "${0%/*}/../lib.sh"

events=page-faults:u,minor-faults:u,major-faults:u
HAVE_PERF=
command -v perf >/dev/null && perf version >/dev/null 2>&1 && HAVE_PERF=1

# report PROGRAM FILE OPTION...: its rows, as CSV.
report()
{
	local program=$1 file=$2

	shift 2
	"$program" stat -x '|' report "$@" -i "$file" 2>&1
}

# same_reports NAME FILE OPTION...: perf and pstat print the same of it, but for how sure scaled values are, which perf
# does not say. -I: perf's rates are another's.
same_reports()
{
	local name=$1

	shift
	[ "$HAVE_PERF" ] || return 0
	same "$name: perf prints the same" "$(report perf "$@" | cut -d '|' -f "${fields:-1-}")" \
		"$(report "$PSTAT" "$@" | grep -v '|[^|]*scale error[^|]*$' | cut -d '|' -f "${fields:-1-}")"
}

# Recorded by pstat: printed at once, by pstat later, by perf.
recorded()
{
	local name=$1

	shift
	run "$PSTAT" stat record -x '|' "$@"
	same "$name: status" 0 "$status"
	has "$name: counts are printed" '^' "$err"
	same "$name: report prints them again" "$err" "$(report "$PSTAT" perf.data)"
	same_reports "$name" perf.data
}

test_a_command()
{
	need_paranoid 2
	recorded "a command" -e "$events" true
	has "by its words" "stats for '.*pstat stat record " "$("$PSTAT" stat report 2>&1)"
	same "only its owner may read it" 600 "$(stat -c %a perf.data)"
	recorded "again" -e "$events" true
	check "the recording before is kept" test -s perf.data.old
	recorded "a group and what pstat counts itself" \
		-e '{page-faults:u,minor-faults:u},duration_time,user_time' true
	recorded "what this machine cannot count" -e 'page-faults:u,L1-dcache-loads:u' true
	run "$PSTAT" stat -e page-faults:u record -o other.data sh -c 'exit 7'
	same "options stand on both sides; the command's status is passed on" 7 "$status"
	has "-o names the recording" '^PERFILE2' "$(head -c 8 other.data)"
}

test_cpus()
{
	need_paranoid 0
	recorded "what pstat counts itself" -a -e context-switches,duration_time sleep 0.01
	same_reports "added up later: by CPU" perf.data -A
	recorded "all CPUs" -a -e context-switches,page-faults sleep 0.01
	cp perf.data all.data
	for by in -A --per-core --per-die --per-socket --per-node; do
		same_reports "added up later: $by" all.data $by
		recorded "$by" -a $by -e context-switches sleep 0.01
	done
	recorded "one CPU" -C 0 -e context-switches sleep 0.01
	[ -e /sys/devices/system/cpu/cpu0/cache/index2/shared_cpu_list ] || return 0
	for by in --per-cache --per-cache=L2; do
		run "$PSTAT" stat record -x '|' -a $by -e context-switches sleep 0.01
		same "added up later: $by" "$err" "$(report "$PSTAT" perf.data $by)"
	done
}

test_threads()
{
	local pids sleeper

	need_paranoid 2
	# One runs all the time, one sleeps: a row in the place of another is seen.
	sh -c 'while :; do :; done' & pids=$!
	until [ "$(cat "/proc/$pids/comm")" = sh ]; do sleep 0.01; done
	start_sleeper
	pids=$pids,$sleeper
	recorded "processes" -p "$pids" -e "$events" -- sleep 0.01
	recorded "by thread" --per-thread -p "$pids" -e "$events" -- sh -c '
		ran=$(cat "$0")
		while [ "$(cat "$0")" = "$ran" ]; do sleep 0.01; done' "/proc/${pids%,*}/schedstat"
	same "a row for each" 6 "$(report "$PSTAT" perf.data | wc -l)"
	has "one ran" "^ *sh-${pids%,*}\|[0-9]+\|\|page-faults:u\|[1-9]" "$(report "$PSTAT" perf.data)"
	has "one slept" "^ *sleep-${pids#*,}\|<not counted>\|\|page-faults:u" "$(report "$PSTAT" perf.data)"
	run "$PSTAT" stat report
	has "and the reason is the one of pstat stat, which three rows have" \
		'^ <not counted>: the task never ran while counting$' "$err"
	kill ${pids//,/ }
}

# sleeper: the pid of a task that sleeps, under that name, and does not run any more.
start_sleeper()
{
	sleep 300 & sleeper=$!
	until grep -q '(sleep) S ' "/proc/$sleeper/stat"; do sleep 0.01; done
}

# Of all threads only those that ran have rows, printed at once and later; a recording of perf has all, as perf shows.
test_all_threads()
{
	local sleeper

	need_paranoid 0
	start_sleeper
	run "$PSTAT" stat record -a --per-thread -x '|' -e context-switches,page-faults -- sleep 0.1
	same "all threads: status" 0 "$status"
	has_not "all threads: the idle one has no row" "sleep-$sleeper\|" "$err"
	has "all threads: others have" '-[0-9]+\|[1-9][0-9]*\|\|context-switches' "$err"
	same "all threads: report prints them again" "$err" "$(report "$PSTAT" perf.data)"
	run "$PSTAT" stat record -a --per-thread -e context-switches -o - -- sleep 0.1
	cp "$tmp/.out" pipe
	has_not "all threads, through a pipe" "sleep-$sleeper\|" "$(report "$PSTAT" - <pipe)"
	has "the header says it" '^# counted : all threads of the system$' "$("$PSTAT" script --header-only)"
	# perf takes one record of threads, and ends at the first count of a thread that is not in it.
	if [ "$HAVE_PERF" ] && [ "$("$PSTAT" script -D | grep -c 'PERF_RECORD_THREAD_MAP')" -eq 1 ]; then
		has "perf reads it, and shows the idle ones" "sleep-$sleeper\|" "$(report perf perf.data)"
		has "also through a pipe" "sleep-$sleeper\|" "$(report perf - <pipe)"
	fi
	kill "$sleeper"
}

# Threads that need more than one record.
test_many_threads()
{
	local n=2800

	need_paranoid 2
	"$WORK/exact" threads:$n wait & local pid=$!
	until [ "$(ls "/proc/$pid/task" | wc -l)" -gt $n ]; do
		kill -0 $pid 2>/dev/null || skip "needs room for $n threads"
		sleep 0.01
	done
	run "$PSTAT" stat record -x '|' --per-thread -p $pid -e page-faults:u -- true
	same "many threads: status" 0 "$status"
	same "each has a row" $((n + 1)) "$(grep -c '|page-faults' <<<"$err")"
	same "also later" "$err" "$(report "$PSTAT" perf.data)"
	same "script shows each" $((n + 1)) "$("$PSTAT" script | awk '$2 > 0 && /page-faults/ { print $2 }' | sort -u | wc -l)"
	kill $pid
}

# perf's recording does not say that its threads are all there are. It has no whole one where a thread ends while perf
# opens it, so it is made among threads that stay.
test_all_threads_of_perf()
{
	need_perf
	need_paranoid 0
	need_mount
	"${own_mounts[@]}" --pid --fork --mount-proc --kill-child sh -c '
		sleep 300 &
		until grep -q "(sleep) S " /proc/$!/stat; do sleep 0.01; done
		perf stat record -a --per-thread -e context-switches -o theirs -- sleep 0.1 2>/dev/null'
	has "perf shows the idle ones" 'sleep-[0-9]+\|<not counted>' "$(report perf theirs)"
	has "and so does pstat" 'sleep-[0-9]+\|<not counted>' "$(report "$PSTAT" theirs)"
}

test_intervals()
{
	local fields=1-4

	need_paranoid 2
	recorded "intervals" -I 20 -e "$events" sleep 0.5
	check "there are several" test "$(grep -c page-faults <<<"$err")" -gt 2
}

test_pipes()
{
	need_paranoid 2
	"$PSTAT" stat record -o - -e "$events" true >pipe 2>said
	same "the counts are left to the reader" "" "$(cat said)"
	has "read from the pipe" 'page-faults' "$(cat pipe | report "$PSTAT" -)"
	same "read from a file" "$(report "$PSTAT" - <pipe)" "$(report "$PSTAT" pipe)"
	[ "$HAVE_PERF" ] || skip "needs perf (linux-perf)"
	same "pstat | perf" "$(report "$PSTAT" pipe)" "$(perf stat -x '|' report -i - <pipe 2>&1)"
	perf stat record -o - -e "$events" true >theirs 2>/dev/null
	same "perf | pstat" "$(perf stat -x '|' report -i - <theirs 2>&1)" \
		"$(cat theirs | report "$PSTAT" -)"
}

test_of_perf()
{
	need_perf
	need_paranoid 0
	perf stat record -o one -e "$events" true 2>/dev/null
	same_reports "a command" one
	perf stat record -o default true 2>/dev/null
	same_reports "events that could not be counted" default
	perf stat record -a -e context-switches,duration_time -o all sleep 0.01 2>/dev/null
	same_reports "all CPUs" all
	same_reports "all CPUs, by CPU" all -A
	for by in -A --per-core --per-socket --per-node; do
		perf stat record -a $by -e context-switches -o by sleep 0.01 2>/dev/null
		same_reports "recorded with $by" by
	done
	sh -c 'while :; do :; done' &
	perf stat record --per-thread -p $!,$$ -e "$events" -o threads sleep 0.01 2>/dev/null
	same_reports "by thread" threads
	kill $!
	perf stat record -I 20 -e "$events" -o intervals sleep 0.07 2>/dev/null
	fields=1-4 same_reports "intervals" intervals
}

# The counters of this file ran for a third of the time: 1 us of 3.
test_scaling()
{
	need_paranoid 2
	"$PSTAT" stat record -o perf.data -e page-faults:u,minor-faults:u true 2>/dev/null
	"$PYTHON" - perf.data <<-END
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at, size = struct.unpack_from("<QQ", data, 40)
		end = at + size
		while at < end:
		    kind, _, length = struct.unpack_from("<IHH", data, at)
		    if kind == 76:
		        struct.pack_into("<QQQ", data, at + 24, 100, 3000, 1000)
		    at += length
		open("scaled.data", "wb").write(data)
	END
	same "scaled" "300||page-faults:u|1000|33.33|" \
		"$(report "$PSTAT" scaled.data | head -1 | cut -d '|' -f -6)"
	same "--no-scale" "100||page-faults:u|1000|33.33|" \
		"$(report "$PSTAT" scaled.data --no-scale | head -1 | cut -d '|' -f -6)"
	fields=1-4 same_reports "scaled" scaled.data # perf's percentage is whole
}

# What was counted up to the kill is there, whole intervals.
test_killed()
{
	local tries=0

	need_paranoid 2
	"$PSTAT" stat record -o perf.data -I 10 -e page-faults:u "$WORK/exact" mortal pauses 2>/dev/null &
	disown # the shell would tell of its end
	until [ "$(report "$PSTAT" perf.data 2>/dev/null | grep -c page-faults)" -gt 2 ] ||
		[ $((tries += 1)) -gt 3000 ]; do
		sleep 0.02
	done
	kill -KILL $!
	while [ -d /proc/$! ]; do sleep 0.01; done
	run "$PSTAT" stat report -x '|'
	same "status" 0 "$status"
	check "intervals are there" test "$(grep -c '|page-faults:u|' <<<"$err")" -gt 2
	has "one line says that it did not end" '^pstat: perf.data: the recorder did not finish' "$err"
}

test_wrong_words()
{
	need_paranoid 2
	"$PSTAT" stat record -o perf.data -e page-faults:u true 2>/dev/null
	fails_with 129 '^pstat: --repeat: a recording holds one run' "$PSTAT" stat record -r 2 true
	fails_with 129 '^pstat: --null: there would be no counts' "$PSTAT" stat record -n true
	fails_with 129 '^pstat: stat report: .x. is not an option' "$PSTAT" stat report x
	fails_with 129 '^pstat: --no-aggr and the --per-X' "$PSTAT" stat report -A --per-core
	fails_with 125 '^pstat: perf.data: its counts are not by CPU' "$PSTAT" stat report -A
	fails_with 125 '^pstat: none: No such file' "$PSTAT" stat report -i none
	fails_with 125 '^pstat: nowhere/x: cannot be created: No such file' \
		"$PSTAT" stat record -o nowhere/x true
	fails_with 125 '^pstat: /dev/full: No space left' "$PSTAT" stat record -o /dev/full true
	run "$PSTAT" stat record -e page-faults:u -- report
	same "behind -- stands a program" 127 "$status"
	exec 9> >(:)
	wait $! # no one reads from here on
	"$PSTAT" stat record -o - -e page-faults:u true 2>said >&9
	same "no one reads: status" 125 $?
	exec 9>&-
	has "no one reads" '^pstat: standard output: Broken pipe' "$(cat said)"
}

test_output_of_the_command()
{
	"$PSTAT" stat record -o - -e page-faults:u -- echo hello 2>said | "$PSTAT" stat report -i - 2>counts
	same "a pipe: the command's output goes to stderr" 1 "$(grep -c '^hello$' said)"
	has "a pipe: and the recording is whole" ' page-faults:u ' "$(cat counts)"
}

test_cut()
{
	need_paranoid 2
	"$PSTAT" stat record -o perf.data -e page-faults:u true 2>/dev/null
	size=$(stat -c %s perf.data)
	at=$("$PSTAT" script -D | sed -n 's/^0x\([0-9a-f]*\) .*PERF_RECORD_STAT_ROUND.*/\1/p')
	head -c $((16#$at + 12)) perf.data >cut.data
	fails_with 125 "at offset 0x$at: STAT_ROUND \(77\): cut off" "$PSTAT" stat report -i cut.data
	has "no round is whole" 'no round of counts is complete' "$err"
	head -c $((size - 10)) perf.data >cut.data
	run "$PSTAT" stat report -i cut.data
	same "only features are missing: status" 0 "$status"
	has "only features are missing" ' page-faults:u ' "$err"
}

# The counts themselves, round by round: script, which reads pipes, too, as perf script does.
test_script()
{
	local options row='^ *-?[0-9]+ +-?[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ page-faults:u$'

	need_paranoid 2
	for options in "" "-I 20"; do
		# shellcheck disable=SC2086 # words
		"$PSTAT" stat record $options -o file -e $events sleep 0.05 2>/dev/null
		# shellcheck disable=SC2086
		"$PSTAT" stat record $options -o - -e $events sleep 0.05 2>/dev/null >pipe
		for recording in file pipe; do
			run "$PSTAT" script -i $recording
			has "$recording $options: a header" '^CPU   THREAD             VAL             ENA             RUN            TIME EVENT$' "$out"
			has "$recording $options: counts" "$row" "$out"
			same "$recording $options: of each event in each round" "$("$PSTAT" script -D -i $recording | grep -c 'PERF_RECORD_STAT ')" \
				$(($(wc -l <<<"$out") - 1))
			[ ! "$HAVE_PERF" ] || same "$recording $options: as perf" "$(perf script -i - <$recording 2>/dev/null || perf script -i $recording 2>/dev/null)" "$out"
			run "$PSTAT" script -j -i $recording
			printf '%s\n' "$out" >json
			check "$recording $options: JSON" "$PYTHON" -c 'import json
rows = [json.loads(line) for line in open("json")]
assert {row["event"] for row in rows} == {"page-faults:u", "minor-faults:u", "major-faults:u"}, rows
assert any(row["value"] and row["enabled_ns"] and row["time_ns"] for row in rows), rows'
		done
	done
	"$PSTAT" stat record -x '|' -o file -e $events true 2>printed
	same "the number that was printed" "$(sed -n 's/|.*page-faults:u.*//p' printed | head -n 1)" \
		"$("$PSTAT" script -i file | awk '$7 == "page-faults:u" { print $3 }')"
	has "stat report reads a pipe" ' page-faults:u ' "$("$PSTAT" stat report -i - <pipe 2>&1)"
}

run_tests
