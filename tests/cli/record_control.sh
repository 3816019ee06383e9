#!/bin/bash
# SPDX-License-Identifier: MIT
# --control, -D, SIGUSR2: who says when is recorded, and what is kept.
#
# run: once
. "${0%/*}/vs_perf.bash"
perf_without_kernel
need_breakpoints

# start OPTION...: pstat records stores; the command runs what is written to go, line by line, and says
# "done" after each. ctl and ack are open here as 8 and 9, go as 7, done as 6.
start()
{
	mkfifo ctl ack go done
	exec 8<>ctl 9<>ack 6<>done
	cat >steps <<-'END'
	while read -r works; do
		"$@" $works
		echo done >done
	done
	END
	setarch -R "$PSTAT" record -o x --control fifo:ctl,ack -c 1 -e "$stores" "$@" \
		bash steps "$EXACT" <go >said_out 2>err &
	pid=$!
	exec 7>go
}

# say COMMAND: waits for the answer.
say()
{
	echo "$1" >&8
	IFS= read -r -t 200 answer <&9
	same "$1 is answered" ack "$answer"
}

# step WORK...: in the command, and waits for its end.
step()
{
	echo "$*" >&7
	IFS= read -r -t 200 answer <&6
	same "$* is done" "done" "$answer"
}

# finish STATUS: the command ends.
finish()
{
	exec 7>&-
	wait "$pid"
	same "status" "$1" $?
	err=$(<err)
}

samples() { perf script -i "$1" -F ip,sym 2>/dev/null | grep -c stores; }

test_starts_disabled()
{
	start -D -1
	say ping
	step stores:5
	finish 0
	same "samples" 0 "$(samples x)"
}

# What tasks do is recorded all the time: samples have their names.
test_enable_and_disable()
{
	start -D -1
	step stores:5
	say enable
	step stores:20
	say disable
	step stores:7
	say enable
	step stores:100
	finish 0
	same "samples" 120 "$(samples x)"
}

# The time of a recording counts from its first sample on, whoever asked for it.
test_time_since_enable()
{
	mkfifo ctl ack
	exec 8<>ctl 9<>ack
	"$PYTHON" "$ROOT/tests/cli/on_screen.py" 80 2 "$PSTAT" record -o x --control fifo:ctl,ack -D -1 \
		-e page-faults:u "$EXACT" mortal sleeps:200000 >shown 2>&1 &
	pid=$!
	say enable
	until grep -q 'pstat record: [1-9][0-9]* s, ' shown || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -0 $pid 2>/dev/null && say stop
	wait $pid
	has "it is told while the recording goes on" 'pstat record: [1-9][0-9]* s, ' "$(<shown)"
}

test_disable_from_the_start()
{
	start
	step stores:5
	say disable
	step stores:7
	finish 0
	same "samples" 5 "$(samples x)"
}

test_stop()
{
	start
	step stores:5
	say stop
	wait "$pid"
	same "status" 0 $?
	same "samples" 5 "$(samples x)"
}

test_evlist()
{
	start
	say evlist
	say "evlist -v"
	finish 0
	has "names" '^mem:0x[0-9a-f]+:w:u$' "$err"
	has "fields" '^mem:.*: type: 5 \(PERF_TYPE_BREAKPOINT\), .*bp_type: 2' "$err"
}

test_what_is_no_command()
{
	start
	echo nonsense >&8
	echo "ping pong" >&8
	say ping
	finish 0
	has "it is told" "^pstat: --control: 'nonsense' is none of enable, disable, snapshot, evlist, ping and stop" "$err"
	has "words too many" "^pstat: --control: 'ping pong' is none of" "$err"
}

test_a_delay()
{
	run "$PSTAT" record -o x -D 1 -c 1 -e page-faults:u -- "$EXACT" spins:500 pages:300
	same "status" 0 "$status"
	check "what came later" test "$(perf script -i x -F ip 2>/dev/null | wc -l)" -ge 300
	run "$PSTAT" record -o x -D 60000 -c 1 -e page-faults:u -- "$EXACT" pages:300
	same "the command ended before: status" 0 "$status"
	has "nothing came" ': 0 samples' "$err"
}

# Two spans are two starts of the events of each CPU. The recording ends with the last, and the command with it.
test_spans()
{
	local opened

	need_cmd strace
	for spans in 1-2 1-2,3-4 1-20,30-40,50-51; do
		run strace -f -qq -e trace=perf_event_open,ioctl -o calls "$PSTAT" record -o x -D $spans -c 1 \
			-e page-faults:u -i -- sleep 1000
		same "$spans: the command is told to end, which is no failure" 0 "$status"
		opened=$(grep -c 'perf_event_open(.*PERF_COUNT_SW_PAGE_FAULTS.* = [0-9]' calls)
		same "$spans: the events begin each time" $((opened * $(tr , '\n' <<<$spans | wc -l))) \
			"$(grep -c PERF_EVENT_IOC_ENABLE calls)"
	done
	for spans in 2-1 0-1 1-1 1-2,2-3 1-2, 1-x 1-2-3 1-2,3; do
		fails_with 129 "^pstat: --delay: '$spans' is no list of spans of ms" \
			"$PSTAT" record -o x -D $spans true
	done
}

# The readers' threads have the priority, nobody else.
test_realtime()
{
	local task policies

	need_root
	chrt -f 7 true 2>/dev/null || skip "SCHED_FIFO is refused"
	start -r 7
	step stores:1
	policies=$(for task in /proc/$pid/task/*; do chrt -p ${task##*/}; done | grep -c 'priority: 7$')
	same "one reader" 1 "$policies"
	same "the command is not one" 0 "$(chrt -p $(pgrep -P $pid) | grep -c 'priority: 7$')"
	finish 0
}

# ---- overwrite ----

# Of far more than fits only the newest are kept: the last ones are these.
test_overwrite_keeps_the_newest()
{
	start --overwrite -m 4K
	step stores:5000 "calls:1"
	finish 0
	n=$(samples x)
	check "some are kept: $n" test "$n" -gt 20
	check "not all" test "$n" -lt 1000
	same "they have names" "" "$(perf script -i x -F ip,sym 2>/dev/null | grep unknown)"
}

test_snapshots_in_one_file()
{
	start --overwrite -m 64K
	step stores:5
	say snapshot
	same "the first one" 5 "$(samples_now)"
	step stores:20
	kill -USR2 $pid
	until [ "$(samples_now)" = 25 ]; do sleep 0.01; done
	pass "the second one has only what is new"
	step stores:3
	finish 0
	same "and the rest at the end" 28 "$(samples x)"
}
# What a reader sees while the recording goes on.
samples_now()
{
	"$PSTAT" report --stats -i x 2>/dev/null | awk '$1 == "SAMPLE" && !n { n = $3 } END { print n + 0 }'
}

test_a_file_for_each_snapshot()
{
	start --switch-output
	step stores:5
	say snapshot
	step stores:20
	kill -USR2 $pid
	until [ "$(ls x.2* | sort -u | wc -l)" = 2 ]; do sleep 0.01; done
	step stores:3
	finish 0
	same "three files" "5 20 3" "$(for file in x.2*; do samples "$file"; done | paste -sd ' ')"
	has "told" 'wrote .* to x\.2[0-9]+ and 2 more: 28 samples' "$err"
	check_not "none under the plain name" test -e x
}

test_overwrite_and_a_file_for_each_snapshot()
{
	start --overwrite --switch-output -m 64K
	step stores:5
	say snapshot
	step stores:20
	finish 0
	same "two files" "5 20" "$(for file in x.2*; do samples "$file"; done | paste -sd ' ')"
}
run_tests
