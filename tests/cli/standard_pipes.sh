#!/bin/bash
# SPDX-License-Identifier: MIT
# A pipe on standard input or output stands in front of ./perf.data where no -i and no -o is given, as for perf.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
exact=$WORK/exact
golden=$ROOT/tests/golden
names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")

# Another recording lies in the folder of each test; whoever reads it tells of 'cycles' of /opt/golden.
other() { cp "$golden/plain.data" perf.data; }
is_pipe_layout() { [ "$(head -c 16 "$1" | od -An -tu8 | awk '{ print $2 }')" = 16 ]; }

test_record_into_a_pipe()
{
	local before

	other
	before=$(cksum perf.data)
	"$PSTAT" record -e page-faults:u -c 1 -- sh -c 'echo said; echo more >&2' 2>err | cat >piped
	check "a recording in the layout of pipes" is_pipe_layout piped
	same "./perf.data is left alone" "$before" "$(cksum perf.data)"
	has "what the command prints goes to stderr" '^said$' "$(<err)"
	has "its errors, too" '^more$' "$(<err)"
	has "it is said where it went" ' MB to the pipe on standard output \(-o names a file\): ' "$(<err)"
	"$PSTAT" record -e page-faults:u -c 1 -o - -- true 2>err | cat >piped
	has "that is no news where -o says it" ' MB to -: ' "$(<err)"
	"$PSTAT" record -e page-faults:u -c 1 -o named -- echo said 2>err | cat >piped
	same "-o: a file, and stdout is the command's" said "$(<piped)"
	check "-o: the file is one" test -s named
	rm perf.data
	"$PSTAT" record -q -e page-faults:u -c 1 -- true >out
	check "a redirected stdout is no pipe" test -s perf.data -a ! -s out
	mkdir many && cd many || exit
	"$PSTAT" record -q -e page-faults:u -c 1 --timestamp-filename -- true | cat >../piped
	check "--timestamp-filename: it is a file that has a name" test -s perf.data.2*
	check_not "and nothing is in the pipe" test -s ../piped
}

test_record_as_perf()
{
	need_perf
	perf record -e page-faults:u -c 1 -- sh -c 'echo said' 2>perfs | cat >by_perf
	"$PSTAT" record -e page-faults:u -c 1 -- sh -c 'echo said' 2>mine | cat >by_pstat
	check "perf's is in the layout of pipes" is_pipe_layout by_perf
	check "so is pstat's" is_pipe_layout by_pstat
	same "the command's output" "$(grep -c '^said$' perfs)" "$(grep -c '^said$' mine)"
	perf stat record -e page-faults:u -- echo said 2>/dev/null | cat >by_perf
	"$PSTAT" stat record -e page-faults:u -- echo said 2>/dev/null | cat >by_pstat
	check "perf stat record: too" is_pipe_layout by_perf
	check "pstat stat record: too" is_pipe_layout by_pstat
}

test_from_program_to_program()
{
	other
	has "pstat record | pstat report" ' exact ' \
		"$("$PSTAT" record -q -e page-faults:u -c 1 -- "$exact" pages:300 | "$PSTAT" report -s comm 2>/dev/null)"
	same "pstat record | pstat script: each fault" yes \
		"$("$PSTAT" record -q -e page-faults:u -c 1 -- "$exact" pages:300 | "$PSTAT" script -F comm 2>/dev/null |
			awk '$1 == "exact" { n++ } END { print (n >= 300 ? "yes" : n) }')"
	same "pstat record | pstat evlist" page-faults:u \
		"$("$PSTAT" record -q -e page-faults:u -c 1 -- true | "$PSTAT" evlist | head -1)"
	has "pstat record | pstat buildid-list" "/$(basename "$exact")$" \
		"$("$PSTAT" record -q -e page-faults:u -c 1 -- "$exact" pages:10 | "$PSTAT" buildid-list)"
	has "pstat record | pstat script -D" 'PERF_RECORD_SAMPLE' \
		"$("$PSTAT" record -q -e page-faults:u -c 1 -- true | "$PSTAT" script -D)"
	has "pstat stat record | pstat stat report" '^ +[0-9]+ +page-faults:u' \
		"$("$PSTAT" stat record -e page-faults:u -- true | "$PSTAT" stat report 2>&1)"
}

test_with_perf()
{
	local what

	need_perf
	other
	for what in report script evlist; do
		perf record -q -e page-faults:u -c 1 -- true 2>/dev/null | "$PSTAT" $what >mine 2>said
		same "perf record | pstat $what: status" 0 $?
		has "perf record | pstat $what" 'true|page-faults|\.so' "$(<mine)"
		has_not "perf record | pstat $what: not ./perf.data" golden "$(<mine)"
		"$PSTAT" record -q -e page-faults:u -c 1 -- true | perf $what >perfs 2>said
		same "pstat record | perf $what: status" 0 $?
		has "pstat record | perf $what" 'true|page-faults|\.so' "$(<perfs)"
	done
	has "perf stat record | pstat stat report" 'page-faults:u' \
		"$(perf stat record -e page-faults:u -- true 2>/dev/null | "$PSTAT" stat report 2>&1)"
	has "pstat stat record | perf stat report" 'page-faults:u' \
		"$("$PSTAT" stat record -e page-faults:u -- true | perf stat report 2>&1)"
}

test_a_file_through_a_pipe()
{
	local want

	want=$("$PSTAT" script -i "$golden/plain.data" "${names[@]}" 2>/dev/null)
	same "cat FILE |: what a pipe's recorder wrote" "$want" \
		"$(cat "$golden/in_a_pipe.data" | "$PSTAT" script "${names[@]}" 2>/dev/null)"
	same "cat FILE |: in file layout, which perf cannot" "$want" \
		"$(cat "$golden/plain.data" | "$PSTAT" script "${names[@]}" 2>/dev/null)"
	same "the same with -i -" "$want" \
		"$(cat "$golden/plain.data" | "$PSTAT" script -i - "${names[@]}" 2>/dev/null)"
	mkdir empty
	cat "$golden/plain.data" | TMPDIR=$PWD/empty "$PSTAT" evlist >out
	same "it is read" cycles "$(head -1 out)"
	same "no temporary file stays" "" "$(ls empty)"
	cat "$golden/plain.data" | TMPDIR=$PWD/none "$PSTAT" evlist >out 2>err
	same "where none can be made: status" 125 $?
	has "where none can be made: the reason" 'cannot create a temporary file .*none/pstat-.*: No such file' "$(<err)"
}

test_what_is_named_wins()
{
	other
	has "-i" golden "$(cat "$golden/in_a_pipe.data" | "$PSTAT" buildid-list -i perf.data 2>&1; \
		"$PSTAT" report -i perf.data --mmaps)"
	run "$PSTAT" report --mmaps
	has "a device is no pipe: ./perf.data" /opt/golden/app "$out"
	"$PSTAT" report --mmaps <"$golden/hostile_names.data" >out
	has "a file on standard input is none, either" /opt/golden/app "$(<out)"
}

test_nothing_in_the_pipe()
{
	local what

	other
	for what in report script evlist buildid-list "stat report" "script -D" "report --header-only"; do
		# shellcheck disable=SC2086 # words
		true | "$PSTAT" $what >out 2>err
		same "| pstat $what: status" 125 $?
		has "| pstat $what: the remedy" '^  standard input is a pipe, .*; to read a file, use -i' "$(<err)"
		same "| pstat $what: prints nothing else" "" "$(<out)"
	done
}

# The pipe stays open, as in a loop of the shell, until the line is there; then the recording comes.
test_a_silent_pipe()
{
	local what

	mkfifo fifo
	for what in report script evlist "stat report"; do
		rm -f err
		exec 3<>fifo
		# shellcheck disable=SC2086 # words
		"$PSTAT" $what <fifo >out 2>err 3>&- &
		pid=$!
		until [ -s err ] 2>/dev/null || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
		same "$what: a line" "pstat: standard input: waiting for a recording from this pipe; -i names a file instead" \
			"$(<err)"
		if [ "$what" = "stat report" ]; then
			"$PSTAT" stat record -e page-faults:u -o - -- true >&3
		else
			cat "$golden/in_a_pipe.data" >&3
		fi
		exec 3>&-
		wait $pid
		same "$what: then it is read" 0 $?
		check "$what: and shown" grep -q 'cycles\|app\|page-faults' out err
	done
	# The recording is in the pipe before anybody reads.
	exec 3<>fifo
	cat "$golden/in_a_pipe.data" >&3
	"$PSTAT" script -q "${names[@]}" <fifo >out 2>err 3>&- &
	pid=$!
	exec 3>&-
	wait $pid
	has_not "no such line where something comes" 'waiting' "$(<err)"
}

test_an_empty_pipe()
{
	run bash -c ': | "$0" report' "$PSTAT"
	same "status" 125 "$status"
	has "it is called by its name" '^pstat: standard input: is empty$' "$err"
	has "and what else to do" '^  standard input is a pipe, so it was read; to read a file, use -i, such as -i perf.data$' "$err"
}

run_tests
