#!/bin/bash
# SPDX-License-Identifier: MIT
# Whose exit status pstat ends with.
. "${0%/*}/../lib.sh"

status_is()
{
	local want=$1

	shift
	run "$PSTAT" "$@"
	same "$want: pstat $*" "$want" "$status"
}

test_the_commands_own()
{
	status_is 0 stat -e page-faults true
	status_is 1 stat -e page-faults false
	status_is 42 stat -e page-faults sh -c 'exit 42'
	status_is 42 stat -n sh -c 'exit 42'
	status_is 42 stat -I 10 -e page-faults sh -c 'exit 42'
	status_is 5 stat -r 2 -e page-faults sh -c 'exit 5'
	status_is 0 stat -r 3 -e page-faults sh -c 'echo >>runs; [ "$(wc -l <runs)" != 2 ]'
	has "a run before the last that failed is said" '^pstat: -r: run 2 of 3 failed, the last did not$' "$err"
	status_is 3 stat -r 3 -e page-faults sh -c 'echo >>more; exit "$(wc -l <more)"'
	has_not "else the status says it" '^pstat: -r:' "$err"
	status_is 42 stat --quiet -e page-faults sh -c 'exit 42'
}

test_a_signal()
{
	status_is 137 stat -e page-faults sh -c 'kill -9 $$'
	has "says so" '^pstat: sh: ended by signal 9' "$err"
	has "the counts are there" '^ +[0-9]+ +page-faults' "$err"
	status_is 139 stat -n sh -c 'kill -SEGV $$'
}

test_cannot_be_executed()
{
	fails_with 127 '^pstat: no-such-program: command not found$' "$PSTAT" stat -e page-faults no-such-program
	has_not "nothing was counted" 'page-faults' "$err"
	fails_with 127 'no-such-program: command not found' "$PSTAT" -- no-such-program
	fails_with 127 '/no/such/program: command not found' "$PSTAT" stat /no/such/program
	echo 'exit 0' >script
	chmod 644 script
	fails_with 126 '^pstat: ./script: cannot be executed: Permission denied$' "$PSTAT" stat ./script
	fails_with 126 '^pstat: /: cannot be executed: ' "$PSTAT" stat /
	run "$PSTAT" stat -n -r 3 no-such-program
	same "with -r it is tried once" "127 1" "$status $(printf '%s\n' "$err" | wc -l)"
	run "$PSTAT" stat -o out no-such-program
	same "with -o" 127 "$status"
}

test_pstat_itself()
{
	fails_with 125 'process 999999999|is not a process' "$PSTAT" stat -e page-faults -p 999999999
	fails_with 125 "CPU 4095|'4095'" "$PSTAT" stat -e page-faults -C 4095 true
	fails_with 129 "'12x'" "$PSTAT" stat -e page-faults -p 12x
	fails_with 125 "^pstat: --pre: 'exit 3' ended with status 3" "$PSTAT" stat -n --pre 'exit 3' touch ran
	check_not "the command did not run" test -e ran
	fails_with 125 "^pstat: --post: 'exit 3' ended with status 3" "$PSTAT" stat -n --post 'exit 3' true
	has "what was counted is printed" 'seconds time elapsed' "$err"
}

test_pre_and_post()
{
	run "$PSTAT" stat -x, -e page-faults -r 2 --pre 'echo pre >>order' --post 'echo post >>order' \
		sh -c 'echo run >>order'
	same "status" 0 "$status"
	same "order" "pre run post pre run post" "$(xargs <order)"
}

test_ended_in_time()
{
	run "$PSTAT" stat -n --timeout 50 sleep 60
	same "--timeout is no failure" 0 "$status"
	run "$PSTAT" stat -n --timeout 50 sh -c 'trap "exit 9" TERM; sleep 60 >/dev/null 2>&1 & wait'
	same "--timeout: a command that ends by itself" 9 "$status"
}

test_duration()
{
	run timeout 60 "$PSTAT" stat -n --duration 0.05 sleep 1000
	same "a command" 0 "$status"
	sleep 60 &
	run timeout 60 "$PSTAT" stat -e page-faults -p $! --duration 50ms
	same "a process: status" 0 "$status"
	has "a process: counts" 'page-faults' "$err"
	check "the process is left alone" kill $!
	run timeout 60 "$PSTAT" stat -x, -e page-faults -r 3 --duration 20ms -D 10 sleep 1000
	same "each of several runs" 0 "$status"
	run "$PSTAT" stat -n --duration 1h true
	same "a command that ends before" 0 "$status"
	for bad in 0 -1 x 1x nan inf '' 0ms 1e400 1.2.3 200000d; do
		fails_with 129 "--duration: '$bad' is not a number of seconds above 0" "$PSTAT" stat -n --duration "$bad" true
	done
	fails_with 129 '--duration and --timeout: give one' "$PSTAT" stat -n --duration 1 --timeout 50 true
}

test_end_of_the_target()
{
	sleep 300 &
	target=$!
	"$PSTAT" stat -e page-faults -p $target 2>err &
	pid=$!
	until ls -l /proc/$pid/fd 2>/dev/null | grep -q perf_event || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
	kill $target
	wait $pid
	same "status" 0 $?
	has "counts" 'page-faults' "$(<err)"
}

test_command_limits_a_target()
{
	sleep 300 &
	run "$PSTAT" stat -e page-faults -p $! sh -c 'exit 4'
	same "with -p the command's status counts" 4 "$status"
	kill $!
}

run_tests
