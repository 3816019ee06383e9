#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording of work that knows what it does: pstat says how many samples, the file has so many, perf and
# pstat read the same records out of it, and each sample is where the work was.
#
# rights: test_a_program test_children_and_threads test_what_runs_already test_what_other_readers_need
. "${0%/*}/vs_perf.bash"
perf_without_kernel

# said WORD: the number before it in the closing line.
said() { printf '%s\n' "$err" | sed -n "/^\[ pstat record:/ s/.*[ :]\([0-9]*\) $1.*/\1/p" | tail -1; }

# perf_records FILE, our_records FILE: how many of each type.
perf_records()
{
	perf script -D -i "$1" 2>/dev/null | grep -aoE ' PERF_RECORD_[A-Z_0-9]+' | sed 's/ PERF_RECORD_//' |
		grep -v -e HEADER -e FEATURE -e EVENT_UPDATE -e COMPRESSED -e TIME_CONV | sort | uniq -c
}
our_records()
{
	"$PSTAT" script -D -i "$1" 2>/dev/null | grep -aoE ' PERF_RECORD_[A-Z_0-9]+' | sed 's/ PERF_RECORD_//' |
		grep -v -e HEADER -e FEATURE -e EVENT_UPDATE -e COMPRESSED -e TIME_CONV | sort | uniq -c
}

# samples FILE: as perf script has them, without times.
samples() { perf script -i "$1" -F comm,event,ip,sym -G 2>"$tmp/perf_err"; }

# recorded NAME N ARGUMENT...: of record; so many samples, told and in the file, none lost.
recorded()
{
	local name=$1 n=$2

	shift 2
	run setarch -R "$PSTAT" record -o x "$@"
	same "$name: status" 0 "$status"
	same "$name: samples told" "$n" "$(said samples)"
	same "$name: lost" 0 "$(said lost)"
	same "$name: samples that perf reads" "$n" "$(samples x | grep -c .)"
	same "$name: records" "$(perf_records x)" "$(our_records x)"
}

# in_functions NAME EXPECTED: the symbols of all samples in x, each once.
in_functions()
{
	same "$1: where" "$2" "$(samples x | awk '{ print $NF }' | sort -u | paste -sd ' ')"
}

test_a_program()
{
	need_breakpoints
	recorded "stores" 1000 -c 1 -e "$stores" -- "$EXACT" stores:1000
	in_functions "stores" stores
	recorded "with callchains" 500 -g -c 1 -e "mem:$called:x:u" -- "$EXACT" calls:500
	has "callers are found" ' main$' "$(perf script -i x -F ip,sym 2>&1)"
	# Each CPU counts for itself how far it is from the next sample.
	recorded "every tenth" 100 -c 10 -e "$stores" -- taskset -c 0 "$EXACT" stores:1000
	recorded "compressed" 1000 -z -c 1 -e "$stores" -- "$EXACT" stores:1000
	run setarch -R "$PSTAT" record -o x -m 4K -c 100 -e "$stores" -- taskset -c 0 \
		"$EXACT" stores:100000
	same "small rings: what is not there is lost" 1000 $(($(said samples) + $(said lost)))
	same "small rings: samples that perf reads" "$(said samples)" "$(samples x | grep -c .)"
	recorded "periods that are told in each sample" 1000 -P -c 1 -e "$stores" -- "$EXACT" stores:1000
}

test_several_events()
{
	need_breakpoints
	recorded "two events" 330 -c 1 -e "$stores,mem:$called:x:u" -- "$EXACT" stores:300 calls:30
	same "by event" "30 called, 300 stores" "$(samples x | awk '{ print $NF }' | sort | uniq -c |
		awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }')"
	has "told by event" '^\[   .*: 300 samples, 0 lost' "$err"
	has "told by event" '^\[   .*: 30 samples, 0 lost' "$err"
	recorded "a group" 300 -c 1 -e "{$stores,dummy:u}:S" -- "$EXACT" stores:300
	has "a group is one" '^\{mem:.*,dummy:u\}' "$(perf evlist -g -i x 2>&1)"
}

test_children_and_threads()
{
	need_breakpoints
	recorded "children" 65 -c 1 -e "$stores" -- "$EXACT" stores:5 forks:3 stores:20
	in_functions "children" stores
	recorded "not with -i" 5 -i -c 1 -e "$stores" -- "$EXACT" stores:5 forks:3 stores:20
	recorded "threads" 85 -c 1 -e "$stores" -- "$EXACT" stores:5 threads:4 stores:20
	recorded "each thread its ring" 5 --per-thread -c 1 -e "$stores" -- "$EXACT" stores:5 forks:3 stores:20
	recorded "through a shell" 40 -c 1 -e "$stores" -- sh -c "'$EXACT' stores:20; '$EXACT' stores:20"
	recorded "one after the other" 30 -c 1 -e "$stores" -- "$EXACT" execs:20 stores:30
}

# attached NAME N WAITING WORK... -- ARGUMENT...: the same on a process that runs already.
attached()
{
	local name=$1 n=$2 waiting=$3 work=()

	shift 3
	while [ "$1" != -- ]; do
		work+=("$1")
		shift
	done
	shift
	waiting "$waiting" "${work[@]}"
	recorded "$name" "$n" "${@//PID/$pid}" -- "$release" $pid
	in_functions "$name" stores
	wait $pid 2>/dev/null
}

test_what_runs_already()
{
	need_breakpoints
	attached "-p" 20 1 wait stores:20 -- -c 1 -e "$stores" -p PID
	attached "-p, with threads it has and threads it starts" 100 2 threads:2 wait stores:10 threads:2 \
		stores:20 -- -c 1 -e "$stores" -p PID
	attached "-p, children it starts" 80 1 wait stores:20 forks:3 stores:20 -- -c 1 -e "$stores" -p PID
	attached "-p, a ring for each thread" 20 1 wait stores:20 -- --per-thread -c 1 -e "$stores" -p PID
	attached "-t" 20 1 wait stores:20 threads:3 stores:20 -- -c 1 -e "$stores" -t PID
}

# Of all that runs on this machine, only this test does these writes.
test_whole_cpus()
{
	need_tracefs
	need_paranoid -1
	events=(-c 1 -e syscalls:sys_enter_write --filter "$own_writes")
	recorded "-a" 50 -a "${events[@]}" -- "$EXACT" writes:20:$own_fd forks:3 writes:10:$own_fd
	recorded "-a, several readers" 50 --threads -a "${events[@]}" -- \
		"$EXACT" writes:20:$own_fd forks:3 writes:10:$own_fd
	recorded "-a, readers by core, in their places" 50 --threads=core --affinity -a "${events[@]}" -- \
		"$EXACT" writes:20:$own_fd forks:3 writes:10:$own_fd
	recorded "-C" 20 -C 0 "${events[@]}" -- taskset -c 0 "$EXACT" writes:20:$own_fd
	waiting 1 wait writes:20:$own_fd
	recorded "-a, of a process that runs already" 20 -a "${events[@]}" -- "$release" $pid
	same "its name" exact "$(perf script -i x -F comm 2>/dev/null | sed 's/ //g' | sort -u)"
}

test_tracepoints()
{
	need_tracefs
	need_paranoid -1
	recorded "a tracepoint" 500 -c 1 -e syscalls:sys_enter_write --filter "$own_writes" -- \
		"$EXACT" writes:500:$own_fd
	has "its fields" "fd: 0x0*$(printf %x $own_fd), .*count: 0x0*$" "$(perf script -i x -F trace 2>/dev/null | head -1)"
	recorded "by another name" 500 -c 1 -e syscalls:sys_enter_write/name=mine/ --filter "$own_writes" -- \
		"$EXACT" writes:500:$own_fd
	has "its fields" "fd: 0x0*$(printf %x $own_fd)" "$(perf script -i x -F trace 2>/dev/null | head -1)"
	recorded "many" 20000 -c 1 -e syscalls:sys_enter_write --filter "$own_writes" -- \
		"$EXACT" writes:20000:$own_fd
}

test_a_pipe()
{
	need_breakpoints
	"$PSTAT" record -o - -c 1 -e "$stores" -- setarch -R "$EXACT" stores:300 2>err | perf script -i - \
		-F ip,sym 2>perf_err >syms
	same "perf reads it" 300 "$(grep -c stores syms)"
	"$PSTAT" record -o - -c 1 -e "$stores" -- setarch -R "$EXACT" stores:300 2>err |
		"$PSTAT" report --stats -i - >stats
	has "pstat reads it" 'SAMPLE events: *300$' "$(<stats)"
}

test_what_other_readers_need()
{
	need_paranoid 2
	need_cmd "$PYTHON"
	"$PSTAT" record -q -e cpu-clock:u,page-faults:u -F 5000 -g -o program "$EXACT" forks:3 spins:20
	"$PSTAT" record -q -e cpu-clock:u -d -o one "$EXACT" threads:2 spins:20
	sleep 300 &
	"$PSTAT" record -q -e page-faults:u -o running -p $! -- true
	kill $!
	{ [ "$(paranoid_level)" -gt -1 ] && ! has_cap perfmon && ! has_cap sys_admin; } || ! in_first_pid_namespace ||
		"$PSTAT" record -q -a -F 5000 -e cpu-clock -o machine "$EXACT" forks:3 spins:20
	for file in program one running machine; do
		[ ! -e $file ] || same "$file" "" "$("$PYTHON" "$ROOT/tests/cli/record_layout.py" $file 2>&1)"
	done
}

# What perf says of pstat's recording of the same work is what it says of its own: on stderr nothing else,
# the same names, programs and functions.
like_perfs()
{
	local name=$1 of

	shift
	setarch -R perf record -q -B -o perfs "$@" >/dev/null 2>&1
	setarch -R "$PSTAT" record -q -o ours "${@/#dwarf/dwarf,raw}" >/dev/null 2>&1
	for of in perfs ours; do
		perf report -i $of --no-inline --stdio -q --sort comm,dso,sym >$of.report 2>$of.report_err
		perf script -i $of --no-inline -F comm,event,ip,sym,dso >$of.script 2>$of.script_err
	done
	same "$name: perf script" "$(<perfs.script)" "$(<ours.script)"
	same "$name: perf report" "$(grep -v '^#' perfs.report)" "$(grep -v '^#' ours.report)"
	same "$name: nothing else on stderr" "$(cat perfs.*_err | sed 's/perfs/FILE/')" \
		"$(cat ours.*_err | sed 's/ours/FILE/')"
	same "$name: what pstat reads in perf's" "$(perf_records perfs)" "$(our_records perfs)"
	same "$name: --stats" "$(stats_of perf perfs)" "$(stats_of "$PSTAT" perfs)"
	same "$name: --stats of pstat's" "$(stats_of perf ours)" "$(stats_of "$PSTAT" ours)"
}

# stats_of PROGRAM FILE: how many of each type of record, of all and by event. perf leaves HEADER_ out.
stats_of()
{
	"$1" report --stats -i "$2" 2>/dev/null | sed -nE 's/^ *(HEADER_)?([A-Z_0-9]+) events: +([0-9]+).*/\2 \3/p'
}

test_like_perfs_own()
{
	need_breakpoints
	like_perfs "stores" -c 1 -e "$stores" -- "$EXACT" stores:20
	like_perfs "callchains" -g -c 1 -e "mem:$called:x:u" -- "$EXACT" calls:20
	like_perfs "stacks" --call-graph dwarf,4096 -c 1 -e "mem:$called:x:u" -- "$EXACT" calls:5
	like_perfs "exec after exec, thread after thread" -c 1 -e "$stores" -- sh -c \
		"'$EXACT' name:1:other stores:3; '$EXACT' threads:1 stores:3; exec '$EXACT' forks:1 stores:3"
}

test_like_perfs_own_tracepoints()
{
	need_tracefs
	need_paranoid -1
	like_perfs "a tracepoint" -c 1 -e syscalls:sys_enter_write --filter "$own_writes" -- \
		"$EXACT" writes:20:$own_fd
}

# One file says what all others do: order by time across CPUs, as perf sorts it by the round marks.
test_rounds()
{
	need_paranoid 1
	run "$PSTAT" record -o x -m 64K -F 5000 -e cpu-clock -a --threads -- "$EXACT" forks:4 spins:200
	same "perf finds nothing out of order" "" "$(perf script -i x 2>&1 >/dev/null | grep -i order)"
	perf script -i x -F time 2>/dev/null >times
	check "times ascend" sort -c -n times
	has "there are rounds" 'FINISHED_ROUND' "$(our_records x)"
}
run_tests
