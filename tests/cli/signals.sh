#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals end a run with its full output.
#
# run: once
. "${0%/*}/../lib.sh"

# begin OPTIONS... -- COMMAND: pstat in the background; returns when the command has made the file "up".
begin()
{
	rm -f up out
	set -m # else SIGINT is ignored, by the command too
	"$PSTAT" stat -o out "$@" &
	pid=$!
	set +m
	until [ -e up ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
}

end_with() { kill -s "$1" "$pid"; }

int_waits() { grep -qE '^(Sig|Shd)Pnd:.*[2367abef]$' /proc/"$1"/status 2>/dev/null; } # PID: has not taken SIGINT yet

works=': >up; exec sleep 60' # no program: a shell that waits for one may ignore SIGINT

test_the_command_gets_it()
{
	begin -e page-faults sh -c "$works"
	end_with INT
	wait "$pid"
	same "SIGINT" 130 $?
	has "SIGINT: counts" '^ +[0-9,]+ +page-faults' "$(cat out)"
	has "SIGINT: the whole report" 'seconds sys' "$(cat out)"
	begin -e page-faults sh -c "$works"
	end_with TERM
	wait "$pid"
	same "SIGTERM" 143 $?
	has "SIGTERM: the whole report" 'seconds sys' "$(cat out)"
	begin -e page-faults sh -c "$works"
	end_with HUP
	wait "$pid"
	same "SIGHUP" 129 $?
	has "SIGHUP: the whole report" 'seconds sys' "$(cat out)"
}

test_the_command_may_shut_down()
{
	begin -e page-faults sh -c 'trap "echo bye >bye; exit 3" TERM; touch up; sleep 60 >/dev/null 2>&1 & wait'
	end_with TERM
	wait "$pid"
	same "its own status" 3 $?
	same "it was waited for" bye "$(cat bye)"
}

test_a_command_that_will_not_end()
{
	begin -e page-faults sh -c 'trap "" INT TERM; touch up; while :; do sleep 0.05; done'
	# Each is waited for until it was taken: signals that wait are one.
	for signal in INT INT INT; do
		end_with $signal
		while int_waits $pid; do sleep 0.01; done
	done
	wait "$pid"
	same "the third signal kills it" 137 $?
	has "and there is a report" 'page-faults' "$(cat out)"
}

test_repeats()
{
	begin -r 0 -x, -e page-faults sh -c 'touch up; exit 0'
	until [ "$(grep -c page-faults out)" -ge 2 ]; do sleep 0.01; done
	end_with INT
	wait "$pid"
	same "-r 0: status" 130 $?
	begin -r 100000 -x, -e page-faults sh -c 'touch up; echo >>runs'
	until [ "$(wc -l <runs)" -ge 3 ]; do sleep 0.01; done
	end_with INT
	wait "$pid"
	same "-r N: status" 130 $?
	same "-r N: one report of what was run" 1 "$(grep -c page-faults out)"
}

# After a run has ended and before the next begins: --post is there then.
test_between_two_runs()
{
	for repeats in 0 3; do
		run "$PSTAT" stat -r $repeats -x, -e page-faults --post 'kill -INT $PPID' true
		same "-r $repeats: status" 130 "$status"
		same "-r $repeats: one report" 1 "$(grep -c page-faults <<<"$err")"
	done
	run "$PSTAT" stat -r 1 -x, -e page-faults --post 'kill -INT $PPID' true
	same "nothing was to come: status" 0 "$status"
}

test_without_command()
{
	need_paranoid 0
	"$PSTAT" stat -a -I 20 -x, -e page-faults -o out &
	pid=$!
	until grep -q page-faults out 2>/dev/null; do sleep 0.01; done
	end_with INT
	wait "$pid"
	same "-a: status" 130 $?
	before=$(wc -l <out)
	check "-a: the last interval is whole" test "$before" -ge 2
	has "-a: no broken row" '^ *[0-9.]+,[0-9]+,,page-faults,[0-9]+,100.00,.*$' "$(tail -1 out)"
}

test_a_running_process()
{
	sleep 300 &
	target=$!
	"$PSTAT" stat -I 20 -x, -e page-faults -o out -p $target &
	pid=$!
	until grep -q page-faults out 2>/dev/null; do sleep 0.01; done
	end_with TERM
	wait "$pid"
	same "-p: status" 143 $?
	check "-p: the process is left alone" kill -0 $target
	kill $target
}

test_the_command_has_default_signals()
{
	run "$PSTAT" stat -n cat /proc/self/status
	same "nothing blocked, nothing caught" "0000000000000000 0000000000000000" \
		"$(printf '%s\n' "$out" | awk '/^Sig(Blk|Cgt)/ { printf "%s%s", sep, $2; sep = " " }')"
}

# Ctrl-C on a pipeline goes to both: the recorder ends its recording, and the reader prints what came.
test_the_reader_of_a_pipe()
{
	local reader group

	need_paranoid 2
	for reader in "script -i -" script "report --stdio -i -" "report --folded" "script -D -i -" "evlist -i -" "export --jsonl -"; do
		rm -f up
		set -m
		# shellcheck disable=SC2086 # words
		"$PSTAT" record -q -o - -c 1 -e page-faults:u -- sh -c "\"$WORK/exact\" pages:500; $works" |
			"$PSTAT" $reader >out 2>err &
		pid=$!
		set +m
		group=$(ps -o pgid= -p $pid | tr -d ' ')
		until [ -e up ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
		wait_int $pid yes
		kill -s INT -- "-$group"
		wait $pid
		same "$reader: status" 0 $?
		has "$reader: what came" 'page-faults|exact' "$(<out)"
		same "$reader: nothing is missing" "" "$(grep -vE 'no symbols|names missing' err | grep -E 'pstat: .*(end|missing|cut)')"
	done
	"$PSTAT" record -q -o whole -c 1 -e page-faults:u -- "$WORK/exact" pages:500
	check "samples of all of it" test "$("$PSTAT" script -i whole | grep -c page-faults)" -ge 500
}

catches_int() # PID: SIGINT has a handler; of pstat, not of the shell that is about to run it
{
	local caught

	[ "$(cat /proc/$1/comm 2>/dev/null)" != bash ] || return
	caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$1/status 2>/dev/null)
	(((0x${caught:-0} >> 1) & 1))
}

# wait_int PID yes|no: until it has a handler, or none; for half a minute at most.
wait_int()
{
	local turn now

	for ((turn = 0; turn < 3000; turn++)); do
		now=no
		catches_int "$1" && now=yes
		[ $now != "$2" ] || return 0
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.01
	done
	return 1
}

# interrupted ARGUMENT...: runs a reader of a pipe that is interrupted while half of `stream` has come, and then gets the
# rest; its output is in `out`, and in $status how it ended.
interrupted()
{
	local half=$(($(stat -c %s stream) / 2))

	rm -f fifo
	mkfifo fifo
	exec 7<>fifo
	set -m
	"$PSTAT" "$@" <fifo 7>&- >out 2>err &
	pid=$!
	set +m
	head -c $half stream >&7
	check "$*: it is ready for the first" wait_int $pid yes
	kill -s INT $pid
	# It has taken the signal.
	while int_waits $pid; do sleep 0.01; done
	tail -c +$((half + 1)) stream >&7
	exec 7>&-
	wait $pid
	status=$?
}

# A reader that was interrupted prints what it prints of the whole recording, however much later the writer ends.
test_readers_that_were_interrupted()
{
	local reader expected

	need_paranoid 2
	"$PSTAT" record -q -o whole -c 1 -e page-faults:u -- "$WORK/exact" pages:500
	"$PSTAT" record -q -o - -c 1 -e page-faults:u -- "$WORK/exact" pages:500 | cat >stream
	for reader in "report --stdio -i -" "report --folded" "report -j -i -" "report --pprof=- -i -" "script -i -" \
		"script -j" "script -D -i -" "evlist -i -" "buildid-list -i -" "export --jsonl -" "export --sqlite new.db" \
		"annotate --stdio -i -" "diff whole -" "report --stdio -i /dev/stdin"; do
		rm -f new.db old.db
		# shellcheck disable=SC2086 # words
		expected=$(cat stream | "$PSTAT" $reader 2>err | base64; printf ' %s' "${PIPESTATUS[1]}")
		[ ! -e new.db ] || mv new.db old.db
		# shellcheck disable=SC2086 # words
		interrupted $reader
		same "$reader: output and status" "$expected" "$(base64 <out; printf ' %s' $status)"
		[ ! -e old.db ] || check "$reader: the database" cmp new.db old.db
	done
	"$PSTAT" stat record -o - -e page-faults true 2>/dev/null | cat >stream
	interrupted stat report -i -
	same "stat report: status" 0 $status
	has "stat report: what came" 'page-faults' "$(cat out err)"
}

test_the_second_ends_a_reader()
{
	mkfifo fifo
	exec 7<>fifo
	set -m
	"$PSTAT" report --stdio -i - <fifo >out 2>err &
	pid=$!
	set +m
	check "it is ready for the first" wait_int $pid yes
	kill -s INT $pid
	check "it has taken it" wait_int $pid no
	check "the first does nothing" kill -0 $pid
	kill -s INT $pid
	wait $pid
	same "the second ends it" 130 $?
	exec 7>&-
}

run_tests
