#!/bin/bash
# SPDX-License-Identifier: MIT
# Who is counted: commands with children and threads, running processes and threads, CPUs.
. "${0%/*}/vs_perf.bash"

# beside NAME VALUES WAITING WORK... -- ARGUMENT...: as exactly(), on a process that waits with WAITING
# tasks and works as soon as perf or pstat counts it; PID in the arguments is that process.
beside()
{
	local name=$1 want=${2// /$'\n'} n=$3 work=() p

	shift 3
	while [ "$1" != -- ]; do
		work+=("$1")
		shift
	done
	shift
	for p in perf "$PSTAT"; do
		waiting "$n" "${work[@]}"
		ran=
		same "$name, ${p##*/}" "$want" "$(counted "$p" "${@//PID/$pid}" -- "$release" $pid)"
	done
}

test_children_and_threads()
{
	need_breakpoints
	exactly "children" 65 -e "$stores" -- "$EXACT" stores:5 forks:3 stores:20
	exactly "not with -i" 5 -i -e "$stores" -- "$EXACT" stores:5 forks:3 stores:20
	exactly "children's children" 9 -e "$stores" -- "$EXACT" forks:3 forks:3 stores:1
	exactly "threads" 85 -e "$stores" -- "$EXACT" stores:5 threads:4 stores:20
	exactly "not with -i" 5 -i -e "$stores" -- "$EXACT" stores:5 threads:4 stores:20
	exactly "a group, children" "60 30 0" -e "{$stores,mem:$called:x:u,dummy:u}" -- \
		"$EXACT" forks:3 stores:20 calls:10
	exactly "a group, not with -i" "1 2" -i -e "{$stores,mem:$called:x:u}" -- \
		"$EXACT" stores:1 calls:2 forks:3 stores:20 calls:10
	ran=
	same "terms: inherit and no-inherit" "5 65" "$(counted "$PSTAT" -e "mem:$cell:w/no-inherit/u,mem:$cell:w/inherit/u" \
		-- "$EXACT" stores:5 forks:3 stores:20 | paste -sd ' ')"
	same "inherit as a term wins over -i" "5 65" "$(counted "$PSTAT" -i -e "$stores,mem:$cell:w/inherit/u" \
		-- "$EXACT" stores:5 forks:3 stores:20 | paste -sd ' ')"
	exactly "through a shell" 40 -e "$stores" -- sh -c "'$EXACT' stores:20; '$EXACT' stores:20"
}

test_running_process()
{
	need_breakpoints
	beside "-p" 20 1 wait stores:20 -- -e "$stores" -p PID
	beside "-p, a group" "20 30" 1 wait stores:20 calls:30 -- -e "{$stores,mem:$called:x:u}" -p PID
	beside "-p, with threads it has and threads it starts" 100 2 threads:2 wait stores:10 threads:2 stores:20 \
		-- -e "$stores" -p PID
	beside "-p, children it starts" 80 1 wait stores:20 forks:3 stores:20 -- -e "$stores" -p PID
	beside "-p, not with -i" 20 1 wait stores:20 forks:3 stores:20 -- -i -e "$stores" -p PID
	# A thread is the one that is named: the others' stores are none of its.
	beside "-t" 20 1 wait stores:20 threads:3 stores:20 -- -i -e "$stores" -t PID
}

test_two_processes()
{
	need_breakpoints
	local p first

	for p in perf "$PSTAT"; do
		waiting 1 wait stores:7
		first=$pid
		waiting 1 wait stores:20
		ran=
		same "-p with two, ${p##*/}" 27 "$(counted "$p" -e "$stores" -p "$first,$pid" -- \
			sh -c "$release $first; $release $pid")"
	done
}

# Without a command: the end of the process is the end of the count.
test_end_of_the_process()
{
	need_breakpoints
	local p answer counting

	mkfifo ctl ack
	exec 10<>ctl 11<>ack
	for p in perf "$PSTAT"; do
		waiting 1 wait stores:20
		setarch -R "$p" stat -x, -o rows -e "$stores" -p $pid -D -1 --control fd:10,11 >said 2>&1 &
		counting=$!
		echo enable >&10
		read -r -t 200 answer <&11
		"$release" $pid
		[ "$p" != perf ] || kill $holder # perf waits until nothing is left of the process
		wait $counting 2>/dev/null
		ran=
		same "${p##*/} ends with the process it counts: answer, status, count" "ack 0 20" \
			"$answer $? $(grep -v -e '^#' -e '^$' rows | cut -d, -f1)"
	done
	exec 10<&- 11<&-
}

per_thread()
{
	rows "$@" | awk -F'|' '{ sub(/-[0-9]+$/, "-TID", $1); print $1, $2, $4 }' | sort
}

test_per_thread()
{
	need_breakpoints
	local p says

	for p in perf "$PSTAT"; do
		waiting 3 threads:3 name::worker wait stores:20
		says=$(per_thread "$p" --per-thread -e "$stores" -p $pid -- "$release" $pid)
		ran=
		same "--per-thread, ${p##*/}" "exact-TID 0 $stores
worker-TID 20 $stores
worker-TID 20 $stores
worker-TID 20 $stores" "$says"
	done
}

# A thread may call itself what it likes.
test_control_characters_in_names()
{
	need_breakpoints
	local format escape=$'\e[31mr"d\\\n'

	for format in "" -x, -j; do
		waiting 1 "name::$escape" wait stores:20
		run setarch -R "$PSTAT" stat $format --per-thread -e "$stores" -p $pid -- "$release" $pid
		same "no control character is printed ${format:-as text}" "" \
			"$(tr -d '\n\040-\176' <<<"$err" | od -An -c)"
		has "the row is there ${format:-as text}" '20\b.*mem:' "$err"
		has "with the rest of the name ${format:-as text}" '\[31mr' "$err"
		same "in one line ${format:-as text}" 1 "$(grep -c 'mem:' <<<"$err")"
	done
	check "and JSON is valid" "$PYTHON" -c 'import json, sys; print(json.loads(sys.argv[1].splitlines()[0])["thread"])' "$err"
}

test_cpus()
{
	need_tracefs
	need_paranoid -1
	need_cpus 2
	need_cmd taskset
	taskset -c 0 true && taskset -c 1 true || skip "needs CPUs 0 and 1"
	local event=syscalls:sys_enter_write

	exactly "-a" 20 -a -e $event --filter "$own_writes" -- "$EXACT" writes:20:$own_fd
	exactly "-C 0" 20 -C 0 -e $event --filter "$own_writes" -- taskset -c 0 "$EXACT" writes:20:$own_fd
	exactly "-C 1: nothing ran there" 0 -C 1 -e $event --filter "$own_writes" -- taskset -c 0 "$EXACT" writes:20:$own_fd
	exactly "-C 0-1" 20 -C 0-1 -e $event --filter "$own_writes" -- taskset -c 1 "$EXACT" writes:20:$own_fd
}

test_rows_per_cpu()
{
	need_tracefs
	need_paranoid -1
	need_cpus 2
	need_cmd taskset
	taskset -c 0 true && taskset -c 1 true || skip "needs CPUs 0 and 1"
	local event=syscalls:sys_enter_write p

	for p in perf "$PSTAT"; do
		ran=
		same "-A: a row per CPU, ${p##*/}" "CPU0|0 CPU1|20" "$(rows "$p" -a -A -C 0-1 -e $event \
			--filter "$own_writes" -- taskset -c 1 "$EXACT" writes:20:$own_fd | cut -d '|' -f 1,2 | paste -sd ' ')"
		same "all CPUs of the sockets, ${p##*/}" 20 "$(rows "$p" -a --per-socket -e $event --filter "$own_writes" -- \
			taskset -c 1 "$EXACT" writes:20:$own_fd | awk -F'|' '{ n += $3 } END { print n }')"
	done
}

test_pid_filter()
{
	need_tracefs
	need_first_pid_namespace
	need_paranoid -1
	beside "-a with a filter for one process" "20" 1 wait writes:20 \
		-- -a -e syscalls:sys_enter_write --filter "common_pid == PID"
	need_cmd taskset
	taskset -c 0 true || skip "needs CPU 0"
	beside "-C and a filter" "20" 1 wait writes:20 \
		-- -C 0-"$(($(nproc --all) - 1))" -e syscalls:sys_enter_write --filter "common_pid == PID"
}

run_tests
