#!/bin/bash
# SPDX-License-Identifier: MIT
# Where reports go, and what happens where they can't be written.
#
# rights: test_places_that_cannot_be_opened test_notes
. "${0%/*}/../lib.sh"

test_to_stderr_by_default()
{
	run "$PSTAT" stat -e page-faults echo hello
	same "stdout is the command's" hello "$out"
	has "stderr has the counts" 'page-faults' "$err"
}

test_to_a_file()
{
	run "$PSTAT" stat -e page-faults:u -o out echo hello
	same "stderr is empty" "" "$err"
	has "begins with the date" \
		'^# started on [A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4}$' "$(head -1 out)"
	has "has the counts" 'page-faults' "$(cat out)"
	echo "much longer than any report$(printf '%5000d' 1)" >out
	run "$PSTAT" stat -x, -e page-faults -o out true
	has_not "is written anew" 'much longer' "$(cat out)"
	run "$PSTAT" stat -x, -e page-faults -o out --append true
	same "--append keeps what is there" 2 "$(grep -c page-faults out)"
	run "$PSTAT" stat -j -e page-faults -o out.json true
	has_not "JSON has no date line" "^[^{]" "$(<out.json)"
	check "JSON is JSON, and ends with the times" "$PYTHON" -c '
import json
rows = [json.loads(line) for line in open("out.json")]
events = [row["event"].removesuffix(":u") for row in rows]
assert events == ["page-faults", "duration_time", "user_time", "system_time"], rows
assert all(list(row) == list(rows[0]) for row in rows[1:]), rows
assert float(rows[1]["counter-value"]) > 0 and rows[1]["unit"] == "ns", rows'
	run "$PSTAT" stat -j -e duration_time,page-faults -o out.json true
	same "a time that was counted by name is there once" "duration_time page-faults user_time system_time" \
		"$(sed 's/.*"event" : "\([^":]*\).*/\1/' out.json | xargs)"
	run "$PSTAT" stat -j --metric-only -M cpus-utilized -e task-clock -o out.json true
	has_not "only metrics: no times" duration_time "$(<out.json)"
	run "$PSTAT" stat -j -r 3 -e page-faults -o out.json true
	has "of three runs" '"event" : "duration_time", "variance" : [0-9.]+, .*"runs" : 3}$' "$(<out.json)"
	run "$PSTAT" stat -j -I 20 -e page-faults:u -o out.json sleep 0.1
	has_not "but not after intervals" duration_time "$(<out.json)"
	run "$PSTAT" stat -j -I 20 --summary -e page-faults:u -o out.json sleep 0.1
	same "once after their summary" 1 "$(grep -c duration_time out.json)"
}

# Two descriptors of one file: neither overwrites the other.
test_to_the_file_of_stderr()
{
	"$PSTAT" stat -e page-faults:u -o out sh -c 'echo of the command >&2; exit 3' 2>out
	has "the command's words" '^of the command$' "$(<out)"
	has "the counts behind them" '^ Performance counter stats' "$(<out)"
	"$PSTAT" stat -x, -e page-faults:u -o out --post 'echo after' echo before >out
	same "and with stdout" "before after" "$(grep -x -e before -e after out | paste -sd ' ')"
	same "one row" 1 "$(grep -c ',page-faults' out)"
}

# A message comes behind what was printed before it, also where both go to one place.
test_messages_behind_the_text()
{
	local what

	"$PSTAT" record -q -e cpu-clock:u -c 100000 -o whole -- "$WORK/callers" known 100 ||
		skip "needs a recording"
	head -c "$(($(stat -c %s whole) / 2))" whole >cut
	for what in "script --no-inline" "report -n" "script -D"; do
		# shellcheck disable=SC2086 # words
		run "$PSTAT" $what -i cut
		has "$what: a message" '^pstat: .*the file ends' "$err"
		# shellcheck disable=SC2086 # words
		"$PSTAT" $what -i cut >both 2>&1
		same "$what: lines are whole" "$(printf '%s\n%s' "$out" "$err" | grep . | sort)" \
			"$(grep . both | sort)"
		same "$what: behind the text" "$(tail -1 <<<"$err")" "$(tail -1 both)"
	done
}

test_to_a_descriptor()
{
	run "$PSTAT" stat -x, -e page-faults --log-fd 1 true
	has "--log-fd 1" 'page-faults' "$out"
	run "$PSTAT" stat -x, -e page-faults --log-fd 7 ls /proc/self/fd 7>log
	has "--log-fd 7" 'page-faults' "$(cat log)"
	has_not "the command does not have it" '^7$' "$out"
	fails_with 125 '^pstat: --log-fd: 88 is not a descriptor' "$PSTAT" stat -n --log-fd 88 true
	fails_with 125 '^pstat: --log-fd: 0 is not a descriptor' "$PSTAT" stat -n --log-fd 0 true
}

test_places_that_cannot_be_opened()
{
	fails_with 125 '^pstat: /nowhere/out: cannot be opened for writing: No such file' \
		"$PSTAT" stat -n -o /nowhere/out touch ran
	check_not "the command did not run" test -e ran
	fails_with 125 '^pstat: \.: cannot be opened for writing: Is a directory' "$PSTAT" stat -n -o . true
	if ! is_root; then
		touch readonly
		chmod 444 readonly
		fails_with 125 'readonly: cannot be opened for writing: Permission denied' \
			"$PSTAT" stat -n -o readonly true
	fi
}

test_a_full_place()
{
	fails_with 125 '^pstat: /dev/full: the counts could not be written: No space left on device$' \
		"$PSTAT" stat -e page-faults -o /dev/full true
	fails_with 125 'No space left' "$PSTAT" stat -j -e page-faults -o /dev/full sh -c 'exit 3'
	fails_with 125 'No space left' "$PSTAT" stat -I 20 -x, -e page-faults -o /dev/full \
		sh -c 'sleep 0.5; touch whole; exit 3'
	same "it is told once" 1 "$(grep -c 'could not be written' <<<"$err")"
	check "the command ran to its end" [ -e whole ]
}

test_a_closed_place()
{
	"$PSTAT" stat -e page-faults true 2>&-
	same "stderr closed" 125 $?
	"$PSTAT" list sw >&- 2>err
	same "stdout closed: status" 125 $?
	has "stdout closed: message" '^pstat: standard output: cannot write: Bad file' "$(cat err)"
	"$PSTAT" list sw >/dev/full 2>err
	same "stdout full: status" 125 $?
	has "stdout full: message" 'cannot write: No space left' "$(cat err)"
	"$PSTAT" stat -h >/dev/full 2>err
	same "-h to a full place" 125 $?
	"$PSTAT" doctor >/dev/full 2>err
	same "doctor to a full place" 125 $?
	run sh -c '"$0" stat -e page-faults -o out cat </dev/null <&- >&- 2>&-' "$PSTAT"
	same "all three closed, -o" "page-faults" "$(grep -o 'page-faults' out)"
}

test_nothing_is_printed_to_a_command_without_stdout()
{
	# The counters must not become the command's descriptors 0 to 2.
	"$PSTAT" stat -e page-faults -o out sh -c 'ls /proc/$$/fd >list' <&-
	has_not "stdin stays closed" '^0$' "$(cat list)"
}

test_a_pipe_without_reader()
{
	local target

	run bash -c '"$0" stat -I 20 -x, -e page-faults:u --log-fd 7 sh -c "until [ -e gone ]; do sleep 0.01; done
		sleep 0.3; touch whole" 7> >(head -1 >first; exec </dev/null; touch gone)' "$PSTAT"
	same "ends, and not by SIGPIPE" 125 "$status"
	same "tells it once" "pstat: --log-fd: the counts could not be written: Broken pipe" "$err"
	check "when the command has ended" [ -e whole ]
	rm gone whole
	# Not before the command runs: what cannot be begun runs no command.
	run bash -c 'set -o pipefail; "$0" stat record -I 20 -e page-faults:u -o - sh -c "touch runs
		until [ -e gone ]; do sleep 0.01; done
		sleep 0.3; touch whole" | (head -c 8; until [ -e runs ]; do sleep 0.01; done; exec </dev/null; touch gone)' "$PSTAT"
	same "a recording" 125 "$status"
	has "says why" 'Broken pipe' "$err"
	check "and its command has ended too" [ -e whole ]
	sleep 1000 &
	target=$!
	run bash -c '"$0" stat -I 20 -x, -e page-faults -p "$1" --log-fd 7 7> >(exec head -1 >first)' "$PSTAT" $target
	same "without a command: at once" 125 "$status"
	kill $target
}

# Nobody reads while the command runs.
test_a_full_pipe()
{
	local mode works='echo $$ >pid; until [ -e end ]; do sleep 0.01; done'

	for mode in nonblocking blocking; do
		rm -f pid end
		run "$PYTHON" "$ROOT/tests/cli/full_pipe.py" $mode "$PSTAT" stat -x, -I 20 -e page-faults:u sh -c "$works"
		same "$mode: the command's end is seen" "status 0, on time" "$(tail -n 1 <<<"$out")"
		same "$mode: whole rows" 0 "$(sed '$d' <<<"$out" | grep -Ecv '^ *[0-9.]+,([0-9]+|<not counted>),,page-faults:u,[0-9]+,[0-9.]+,,$')"
		rm -f pid end
		run "$PYTHON" "$ROOT/tests/cli/full_pipe.py" $mode "$PSTAT" stat -x, -e page-faults:u sh -c "$works"
		same "$mode: a report at the end is waited for" "page-faults:u status 0, on time" \
			"$(sed 's/.*,,\(page-faults:u\),.*/\1/' <<<"$out" | paste -sd ' ')"
	done
	rm -f pid end
	run timeout 300 "$PYTHON" "$ROOT/tests/cli/full_pipe.py" unread "$PSTAT" stat -x, -e page-faults:u sh -c "$works"
	same "nobody ever reads: a signal ends it" "status 125" "$out"
}

test_quiet()
{
	run "$PSTAT" stat --quiet -e page-faults,cycles true
	same "--quiet prints nothing" "" "$out$err"
	fails_with 127 'command not found' "$PSTAT" stat --quiet no-such-program
}

test_notes()
{
	need_restricted 2
	run "$PSTAT" stat -e page-faults true
	has "a note stands before text" '^pstat: .*:u' "$err"
	for option in -j -x,; do
		run "$PSTAT" stat $option -e page-faults true
		has_not "$option on stderr: no note between rows" '^pstat:' "$err"
		run "$PSTAT" stat $option -e page-faults -o out true
		has "$option to a file: a note on stderr" '^pstat: .*:u' "$err"
	done
}

test_whole_rows()
{
	need_cmd strace
	need_plain_build
	strace -f -e trace=write -e write=all -o trace "$PSTAT" stat -x, -e page-faults:u,task-clock:u -o out true
	same "a report is one write" 1 "$(grep -c 'write(.*started on' trace)"
	has "with all its rows" 'task-clock' "$(cat out)"
	same "and there is no other" 1 "$(grep -c 'write(' trace)"
}

test_verbose()
{
	need_no_counter_unit
	run "$PSTAT" stat -v -e cycles,page-faults true
	has "-v says the call and the errno" '^pstat: cycles: perf_event_open\(.*errno 2' "$err"
	has "-v says what was opened" '^pstat: page-faults(:u)?: perf_event_open worked' "$err"
	has "the reason is beside the row" '<not supported> +cycles(:u)? +# +no counter unit' "$err"
}

run_tests
