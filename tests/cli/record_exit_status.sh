#!/bin/bash
# SPDX-License-Identifier: MIT
# How pstat record ends: with the command's status, by a signal, or because it cannot do its work.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

record() { "$PSTAT" record -o x -e cpu-clock:u "$@"; }

test_the_command()
{
	run record -- true
	same "true" 0 "$status"
	run record -- sh -c 'exit 7'
	same "exit 7" 7 "$status"
	run record -- sh -c 'kill -TERM $$'
	same "killed" 143 "$status"
	fails_with 127 '^pstat: no-such-program: command not found$' record -- no-such-program
	fails_with 127 '^pstat: ./nothing: command not found$' record -- ./nothing
	touch plain
	fails_with 126 '^pstat: ./plain: cannot be executed: Permission denied$' record -- ./plain
	fails_with 126 '^pstat: .: cannot be executed: Permission denied$' record -- /
	printf '#!/no/such/interpreter\n' >broken
	chmod +x broken
	fails_with 127 '^pstat: ./broken: command not found$' record -- ./broken
}

# A recording that never began does not take the place of the one before.
test_the_recording_of_before()
{
	run record -- true
	touch -d @1000000000 x
	run record -- no-such-program
	run record -p 999999999
	run "$PSTAT" record -o x -e no-such-event -- true
	same "it is still there" 1000000000 "$(stat -c %Y x)"
	check_not "and was not moved" test -e x.old
}

# begin ARGUMENT...: a recording in the background, $pid, that has begun.
begin()
{
	rm -f up
	"$PSTAT" record -o x -e cpu-clock:u "$@" 2>err &
	pid=$!
	until [ -e up ]; do sleep 0.01; done
}

test_signals()
{
	local signal number

	for signal in INT TERM HUP; do
		number=$(kill -l $signal)
		begin -- sh -c 'touch up; exec sleep 60'
		kill -$signal $pid
		wait $pid
		same "$signal: status" $((128 + number)) $?
		has "$signal: the file is told of" '^\[ pstat record: wrote' "$(<err)"
		check "$signal: it can be read" "$PSTAT" evlist -i x
	done
}

test_a_command_that_goes_on()
{
	# Not INT: of a process in the background it is ignored, and no shell can catch it there.
	begin -- sh -c 'trap "touch told" TERM; touch up; while :; do sleep 0.05; done'
	kill -TERM $pid
	# Only when the signal has been passed on is the next one the second.
	until [ -e told ]; do sleep 0.01; done
	cp x before_the_end
	check "it waits for the command" kill -0 $pid
	kill -TERM $pid
	wait $pid
	same "the second one ends it" 143 $?
	check "the file is whole before the command has ended" cmp x before_the_end
	has "with its samples' end" FINISHED "$("$PSTAT" script -D -i x 2>/dev/null)"
}

test_a_running_process()
{
	sleep 300 &
	target=$!
	disown
	"$PSTAT" record -o x -e page-faults:u -p $target 2>err &
	pid=$!
	until [ -s x ]; do sleep 0.01; done
	kill -INT $pid
	wait $pid
	same "a signal: status" 130 $?
	check "the process is left alone" kill -0 $target
	rm x
	"$PSTAT" record -o x -e page-faults:u -p $target 2>err &
	pid=$!
	until [ -s x ]; do sleep 0.01; done
	kill $target
	wait $pid
	same "its end: status" 0 $?
}

# The file is whole, the command is ended, and neither is a failure.
test_duration()
{
	run timeout 60 "$PSTAT" record -o x -e cpu-clock:u --duration 0.05 -- sleep 1000
	same "a command: status" 0 "$status"
	check "it can be read" "$PSTAT" evlist -i x
	sleep 60 &
	run timeout 60 "$PSTAT" record -o x -e page-faults:u -p $! --duration 50ms
	same "a process: status" 0 "$status"
	check "the process is left alone" kill $!
	run timeout 60 "$PSTAT" record -o x -e cpu-clock:u -D 10 --duration 20ms -- sleep 1000
	same "after a delay" 0 "$status"
	run record --duration 5m -- sh -c 'exit 7'
	same "a command that ends before" 7 "$status"
}

test_bad_words()
{
	fails_with 129 'no such option' "$PSTAT" record --nonsense
	fails_with 129 "unknown event 'nonsense'" "$PSTAT" record -e nonsense true
	fails_with 129 "-c and -F" "$PSTAT" record -c 1 -F 1 -- true
	fails_with 129 "--freq: '0' is neither" record -F 0 -- true
	fails_with 129 "--count: '0' is not" record -c 0 -- true
	fails_with 129 "--mmap-pages: '7X' is neither" record -m 7X -- true
	fails_with 129 "--call-graph: 'x' is none of" record --call-graph x -- true
	fails_with 129 "--call-graph: only dwarf takes a size, and only fp the word defer" \
		record --call-graph lbr,defer -- true
	fails_with 129 "--call-graph: only dwarf takes a size" record --call-graph fp,9 -- true
	fails_with 129 "--call-graph: 99999999 bytes" record --call-graph dwarf,99999999 -- true
	fails_with 129 "--clockid: 'noon'" record -k noon -- true
	fails_with 129 "--duration: '0' is not a number of seconds above 0" record --duration 0 -- true
	fails_with 129 "--duration: '5x' is not a number of seconds above 0" record --duration 5x -- true
	fails_with 129 "--max-size: '5' is not" record --max-size 5 -- true
	fails_with 129 "--switch-output: '5' is neither" record --switch-output=5 -- true
	fails_with 129 "--switch-max-files: it needs" record --switch-max-files 2 -- true
	fails_with 129 "--compression-level: '99'" record -z99 -- true
	fails_with 129 "--threads: 'pairs'" record --threads=pairs -- true
	fails_with 129 "--threads: '1': a mask is" record --threads=0/0:1 -- true
	fails_with 129 "--threads: a mask without CPUs" record --threads=0/ -- true
	fails_with 129 "--affinity: it needs --threads" record --affinity -- true
	fails_with 129 "--synth: 'some'" record --synth some -- true
	fails_with 129 "--output -: a pipe has no name" "$PSTAT" record -o - --timestamp-filename -- true
	fails_with 129 "-p and -t" record -p 1 -t 1
	fails_with 129 "-u with" record -u 0 -a
	fails_with 129 "user 'nobody-at-all'" record -u nobody-at-all
	fails_with 125 'process 999999999: there is none' record -p 999999999
	fails_with 125 'cgroup' record -G no-such-group -a
}

test_nothing_to_sample()
{
	fails_with 125 '^pstat: cpu-clock:u cannot be sampled: ' record -b -- true
	fails_with 129 'no event to sample' "$PSTAT" record -o x -e duration_time -- true
	check_not "no file is begun" test -e x
}

test_dry_run()
{
	run record --dry-run -- touch ran
	same "status" 0 "$status"
	check_not "the command does not run" test -e ran
	check_not "no file" test -e x
}

test_the_default_event()
{
	need_no_counter_unit
	need_paranoid 1
	run "$PSTAT" record -o x -- true
	same "one line says why" 1 "$(printf '%s\n' "$err" | grep -c ^pstat)"
	has "what is sampled instead" '^pstat: cycles:P: no counter unit .*: sampling cpu-clock instead$' "$err"
	same "its name" cpu-clock "$("$PSTAT" evlist -i x | grep -v dummy)"
	run "$PSTAT" record -o x -e cycles:u -- true
	same "with its modifiers" cpu-clock:u "$("$PSTAT" evlist -i x)"
	run "$PSTAT" record -q -o x -- true
	same "-q says nothing" "" "$err"
}
run_tests
