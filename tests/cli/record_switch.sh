#!/bin/bash
# SPDX-License-Identifier: MIT
# Files of --switch-output: each can be read without the others. It names the tasks and the code of all its samples,
# whenever they began and whatever they mapped before, and says of itself only what it has.
#
# run: once
. "${0%/*}/recorded.bash"
perf_without_kernel
need_paranoid 2

# What runs: processes that exec, that only fork, threads, a library mapped while it runs, and others that come and go.
cat >"$tmp/family" <<'E2'
exact=$1 callers=$2 run_ms=$3
"$exact" mortal spins:$run_ms &
"$exact" mortal forks:2 name:forked spins:$run_ms &
"$exact" mortal threads:2 name:threaded spins:$run_ms &
if command -v perl >/dev/null; then
	perl -e 'my $end = $ARGV[0] / 1000;
		require POSIX;
		do { POSIX::fmod($_, 3) for 1 .. 1000 } while (times)[0] < $end' $run_ms &
fi
for ((i = 0; i < 5; i++)); do "$callers" known $((run_ms / 10)); done
wait
E2
family=(bash "$tmp/family" "$exact" "$WORK/callers" 250)

# unnamed FILE: samples without a task's name or without a file.
unnamed()
{
	"$PSTAT" script -F comm,tid,ip,sym,dso -i "$1" 2>&1 |
		awk '$1 ~ /^:[0-9]/ || /\(\[unknown\]\)/ { n++ } END { print n + 0 }'
}
unnamed_by_perf() { perf script -F comm,tid,ip,sym,dso -i "$1" 2>/dev/null | awk '$1 ~ /^:[0-9]/ || /\(\[unknown\]\)/ { n++ } END { print n + 0 }'; }

# are_named NAME LEAST FILE...: at least so many files, with all that the last run said it took.
are_named()
{
	local name=$1 least=$2 sum=0 file

	shift 2
	check "$name: several files ($#)" test $# -ge "$least"
	for file; do
		sum=$((sum + $(stats "$file" SAMPLE)))
		same "$name: samples without a name" 0 "$(unnamed "$file")"
		! command -v perf >/dev/null || same "$name: in perf" 0 "$(unnamed_by_perf "$file")"
	done
	same "$name: no sample is lost between them" "$(said samples)" $sum
}

record() { run "$PSTAT" record -o x -e cpu-clock:u -F 4000 "$@"; }

# by_size SIZE OPTIONS...: with small rings. What has been written is looked at when a ring is half full, so with large ones and
# many CPUs little of a short run is seen before its end. Where the recorder got no CPU for so long that a ring was full,
# a name may be lost with what was: again.
by_size()
{
	local size=$1

	shift
	for _ in {1..4}; do
		rm -f x x.*
		record -m 8 --switch-output="$size" "$@"
		[ "$status" = 0 ] && [ "$(said lost)" != 0 ] || break
	done
}

test_by_size()
{
	by_size 50K -- "${family[@]}"
	same "status" 0 "$status"
	are_named "a family" 3 x.*
	rm x.*
	by_size 50K --threads -- "${family[@]}"
	are_named "with --threads" 2 x.*
}

test_packed()
{
	"$PSTAT" record -z -q -o x -e cpu-clock -- true 2>err || skip "$(cat err)"
	rm -f x*
	by_size 15K -z -- "${family[@]}"
	are_named "a family" 3 x.*
}

test_by_time()
{
	record --switch-output=1s -- "$exact" mortal forks:2 spins:1400
	are_named "two children" 2 x.*
}

# Who has ended has answered all that it will.
is_there() { [ -e "/proc/$1/exe" ] && kill -0 "$1" 2>/dev/null; }

# by_signal N OPTIONS...: pstat in the background, told N times by SIGUSR2 to go on to another file.
by_signal()
{
	local n=$1 i pid

	shift
	"$PSTAT" record -o x -e cpu-clock:u -F 4000 "$@" 2>"$tmp/.err" >/dev/null &
	pid=$!
	until [ -s x ] && ps -o comm= --ppid $pid | grep -qx exact || ! is_there $pid; do sleep 0.02; done
	for ((i = 1; i <= n; i++)); do
		sleep 0.1 # samples are wanted in between, not a time
		kill -USR2 $pid
		until [ "$(ls x.* 2>/dev/null | sort -u | wc -l)" -ge $i ] || ! is_there $pid; do sleep 0.02; done
	done
	wait $pid
	status=$?
	err=$(cat "$tmp/.err")
}

test_by_signal()
{
	by_signal 3 --switch-output -- "$exact" forks:2 name:forked spins:1200
	same "status" 0 "$status"
	are_named "two that only forked" 4 x.*
}

# Waits for another file after each program that it executes; looks for it without executing one. Looks at the newest
# name, not at how many there are: of a folder that changes meanwhile, ext4 may list a name twice.
waits_for_files='
	look() { set -- x.2*; eval "newest=\${$#}"; }
	for i in 1 2 3; do
		look
		before=$newest
		"$program"
		until [ "$newest" != "$before" ]; do look; done
	done'

# by_event EVENT OPTIONS...: the command above ends only if each of its programs starts a file.
by_event()
{
	run env program="$(type -P true)" timeout 60 "$PSTAT" record -o x -e cpu-clock:u -F 4000 \
		--switch-output-event "$@" -- sh -c "$waits_for_files"
	same "--switch-output-event $*: each starts a file" 0 "$status"
	for file in x.2*; do
		run "$PSTAT" script -i "$file"
		[ "$status" -eq 0 ] || break
	done
	same "each file is read: $file" 0 "$status"
}

test_by_event()
{
	by_event page-faults:u
}

test_by_tracepoint()
{
	need_tracefs
	need_paranoid -1
	by_event sched:sched_process_exec
	# The shell's own exec may be one as well.
	check "no more than that: $(ls x.2* | wc -l)" test "$(ls x.2* | wc -l)" -le 5
	by_event sched:sched_process_exec --overwrite
}

# To write a file is to be switched: this is no reason for the next file.
test_by_event_of_all_cpus()
{
	need_tracefs
	need_paranoid -1
	run timeout 60 "$PSTAT" record -o x -a -e cpu-clock -F 1000 --switch-output-event \
		'sched:sched_process_exec' -- "$(type -P true)"
	same "status" 0 "$status"
	fails_with 129 "unknown event 'nosuch'" "$PSTAT" record -o y --switch-output-event nosuch -- true
	fails_with 125 "--switch-output-event: duration_time: it is not an event of the kernel" \
		"$PSTAT" record -o y -e cpu-clock:u --switch-output-event duration_time -- true
	check "nothing was recorded" test ! -e y
}

test_snapshots()
{
	by_signal 2 --overwrite --switch-output -- "$exact" forks:2 name:forked spins:1200
	same "status" 0 "$status"
	are_named "snapshots" 3 x.*
}

# What ran before comes last in each file, for no task is known when it begins.
test_names_come_last()
{
	"$exact" mortal spins:60000 &
	target=$!
	until [ "$(tr -d '\0' <"/proc/$target/comm")" = exact ]; do sleep 0.02; done
	by_signal 2 --overwrite --tail-synthesize --switch-output -p $target -- "$exact" spins:1200
	kill $target
	wait $target 2>/dev/null
	same "status" 0 "$status"
	are_named "a task that ran before" 3 x.*
}

# first_and_last FILE: the times that its header says, and those of its samples.
header_times() { "$PSTAT" report --header-only -I -i "$1" | sed -n 's/^# time of \(first\|last\) sample : *//p' | xargs; }
sample_times() { "$PSTAT" script -F time -i "$1" | tr -d ' :' | sort -n | sed -n '1p;$p' | xargs; }

test_each_has_its_own_times()
{
	local file

	by_size 50K -- "$exact" forks:2 spins:300
	check "several files" test "$(ls x.* | wc -l)" -ge 2
	for file in x.*; do
		same "the header's times" "$(sample_times "$file")" "$(header_times "$file")"
	done
}

test_the_last_ones_are_kept()
{
	by_size 50K --switch-max-files 2 -- "${family[@]}"
	same "how many" 2 "$(ls x.* | wc -l)"
	for file in x.*; do
		same "samples without a name" 0 "$(unnamed "$file")"
	done
}

run_tests
