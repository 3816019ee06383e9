#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that is killed has lost nothing that it had written: plain, packed, with several files. Here it is killed in
# the middle of its work and when nothing more comes; tests/long/record_kills.sh kills it at RECORD_KILLS random moments.
#
# run: alone without rights
# run: once
# Rings of one user without rights share a budget of locked memory: what another test of the same user holds is missing here.
. "${0%/*}/recorded.bash"
perf_without_kernel
need_paranoid 2

kinds=("plain" "packed" "several files" "several packed files")
options=("" "-z" "--switch-output=100K" "-z --switch-output=10K")
marks_at_once=10 # of tests/work/exact.c
perf=$(command -v perf)
[ -n "$perf" ] || point ok "perf reads them too" "needs perf (linux-perf)"

# start KIND N: N times the marks of `exact`, recorded in ./x in the background.
start()
{
	rm -f x x.* base
	pages=$(($2 * marks_at_once))
	# shellcheck disable=SC2086 # none, one or two words
	"$PSTAT" record -q -o x ${options[$1]} -e page-faults:u -c 1 -d -- \
		"$exact" mortal "marks:$2" pauses >base 2>said &
	pid=$!
}

# The files that have the name of a recording, the oldest first.
list_files() { mapfile -t files < <(find . -maxdepth 1 -name 'x.[0-9]*' ! -name '*.new' | sort; [ ! -e x ] || echo x); }

kill_it()
{
	kill -9 $pid
	wait $pid 2>/dev/null
	list_files
}

killed() { "$PYTHON" "$ROOT/tests/cli/killed.py" "$1" "$2" "$(cat base)" $pages "$3" "${files[@]}" 2>&1; }
# look AT_LEAST: $marks, and in $wrong what does not hold.
look()
{
	wrong=$(killed "$PSTAT" "$perf" "$1")
	marks=${wrong##*$'\n'}
	wrong=${wrong%"$marks"}
}

# moments KIND N MOMENT...: N recordings of that kind, each killed when the command MOMENT is over.
moments()
{
	local kind=$1 n=$2 i bad='' with_marks=0

	for ((i = 0; i < n; i++)); do
		start "$kind" 100000
		"${@:3}"
		kill_it
		look 0
		[ -z "$wrong" ] || bad+="in turn $i: $wrong"
		[ "$marks" = 0 ] || with_marks=$((with_marks + 1))
	done
	same "${kinds[$kind]}: all that was written is read, $n times, with marks $with_marks" "" "$bad"
}

# Until so much is written that there are several files, where several are asked for.
some_are_written() { until [ "$(cat x x.[0-9]* 2>/dev/null | wc -c)" -gt 150000 ]; do sleep 0.02; done; }
some_time() { sleep "$((RANDOM % 3)).$(printf %03d $((RANDOM % 1000)))"; }

test_in_the_middle()
{
	local kind

	for kind in "${!kinds[@]}"; do
		moments "$kind" 1 some_are_written
	done
}

# What is flushed once a second is there, also when no more comes.
test_what_had_been_flushed()
{
	local kind i

	for kind in "${!kinds[@]}"; do
		start "$kind" 500
		for ((i = 0; i < 600; i++)); do
			sleep 0.1
			list_files
			[ "$(killed "" "" 0)" != $pages ] || break
		done
		kill_it
		look $pages
		same "${kinds[$kind]}: all $pages marks are read" "$pages" "$wrong$marks"
	done
}

# A program that would run for long, and doesn't outlive pstat.
endless=("$exact" mortal spins:20000)
soon() { sleep "0.$(printf %03d $((RANDOM % 100)))"; }

# in_one_place TIMES MOMENT OPTIONS...: one recording after the other at the same place, each killed when the command MOMENT
# is over, and every second one not before it has samples: there is always a recording.
in_one_place()
{
	local readable='' unreadable='' times=$1 moment=$2 most=0 i n file

	shift 2
	"$PSTAT" record -q -o x -e cpu-clock -- true
	for ((i = 0; i < times; i++)); do
		[ $((i % 2)) = 0 ] || rm -f x
		"$PSTAT" record -q -o x "$@" -e cpu-clock -F 5000 -g -m 8K -- "${endless[@]}" >/dev/null 2>err &
		pid=$!
		[ $((i % 2)) = 0 ] || until [ "$(stats x SAMPLE)" -gt 0 ]; do sleep 0.01; done
		$moment
		kill -9 $pid
		wait $pid 2>/dev/null
		file=x
		[ -e x ] || file=x.old # between the two renames
		n=$(stats $file SAMPLE)
		[ "$n" -le $most ] || most=$n
		if "$PSTAT" evlist -i $file 2>err >names && grep -q cpu-clock names &&
			"$PSTAT" script -D -i $file 2>err >records &&
			[ "$(in_perf $file)" = "$n" ]; then
			readable+=.
		else
			unreadable+="$(stat -c %s $file), $n samples, in perf $(in_perf $file): $(cat err)"$'\n'
		fi
	done
	same "all can be read" "" "$unreadable"
	same "so many" "$times" ${#readable}
	check "some have samples" test $most -gt 0
	rm -f x.*.new
}

test_in_one_place()
{
	in_one_place 4 :
}

test_in_one_place_packing()
{
	"$PSTAT" record -z -q -o x -e cpu-clock -- true 2>err || skip "$(cat err)"
	in_one_place 4 : -z
}

if [ -n "${RECORD_KILLS:-}" ]; then
	test_random_moments()
	{
		local kind

		for kind in "${!kinds[@]}"; do
			moments "$kind" $((RECORD_KILLS / ${#kinds[@]})) some_time
		done
		in_one_place $((RECORD_KILLS / 10)) soon
		in_one_place $((RECORD_KILLS / 10)) soon -z
	}
fi

run_tests
