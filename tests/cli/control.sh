#!/bin/bash
# SPDX-License-Identifier: MIT
# --control, -D: who says when is counted.
. "${0%/*}/../lib.sh"

# start EVENT-OPTIONS...: pstat counts while "go" has a writer; ctl and ack are open here as 8 and 9.
start()
{
	mkfifo ctl ack go
	exec 8<>ctl 9<>ack
	"$PSTAT" stat -x, -o out --control fifo:ctl,ack "$@" sh -c 'read -r line; exec "$@"' sh \
		"$WORK/exact" pages:500 <go &
	pid=$!
	exec 7>go
}

# say WORD: waits for the answer.
say()
{
	echo "$1" >&8
	IFS= read -r -t 200 answer <&9
	same "$1 is answered" ack "$answer"
}

finish()
{
	exec 7>&-
	wait "$pid"
	same "status" 0 $?
}

count() { awk -F, '$3 ~ /^page-faults/ { print $1 }' out; }

test_starts_disabled()
{
	start -D -1 -e page-faults
	say ping
	echo go >&7
	finish
	same "nothing was counted" "<not counted>" "$(count)"
}

test_enable()
{
	start -D -1 -e page-faults
	say enable
	echo go >&7
	finish
	check "all was counted" test "$(count)" -ge 500
}

test_disable()
{
	start -e page-faults
	say disable
	echo go >&7
	finish
	check "only what came before was counted" test "$(count)" -lt 500
}

test_enable_after_disable()
{
	start -e page-faults
	say disable
	say enable
	echo go >&7
	finish
	check "counting goes on" test "$(count)" -ge 500
}

test_stop()
{
	start -e page-faults
	say stop
	wait "$pid"
	same "stop is no failure" 0 $?
	has "stop has its report" 'page-faults' "$(cat out)"
}

test_wrong_lines()
{
	mkfifo ctl
	exec 8<>ctl
	printf 'enable cycles\n%5000d\n\n' 7 >&8
	run "$PSTAT" stat -x, -o out --control fifo:ctl -e page-faults:u sleep 1
	same "they do no harm" 0 "$status"
	has "they are told" "^pstat: --control: 'enable cycles' is none of enable, disable" "$err"
}

test_descriptors()
{
	mkfifo ctl ack
	exec 8<>ctl 9<>ack
	"$PSTAT" stat -x, -o out --control fd:8,9 -D -1 -e page-faults \
		sh -c 'echo enable >&8; read -r answer <&9; echo "$answer" >answer; exec "$@"' sh \
		"$WORK/exact" pages:500
	same "fd:, said by the command itself" ack "$(cat answer)"
	check "counts what follows" test "$(count)" -ge 500
	exec 8<&- 9<&-
	run "$PSTAT" stat -x, --control fd:8 -e page-faults true 8</dev/null
	same "end of file on it: status" 0 "$status"
	has "end of file on it: counts" 'page-faults' "$err"
}

test_wrong_places()
{
	fails_with 129 "^pstat: --control: 'bogus' is neither fd:" "$PSTAT" stat --control bogus true
	fails_with 129 "^pstat: --control: 'x' is not a descriptor's number" "$PSTAT" stat --control fd:x true
	fails_with 129 '^pstat: --control: descriptor 88 is not open' "$PSTAT" stat --control fd:88 true
	fails_with 129 "^pstat: --control: cannot open '/nowhere/x'" "$PSTAT" stat --control fifo:/nowhere/x true
}

test_delay()
{
	run "$PSTAT" stat -x, -D 60000 -e page-faults "$WORK/exact" pages:500
	has "longer than the command: not counted" '^<not counted>,,page-faults' "$err"
}

run_tests
