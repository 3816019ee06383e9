#!/bin/bash
# A recorder that is killed has lost nothing that it had written: plain, packed, with several files. RECORD_KILLS
# (12) kills at random moments, at least one of each kind; tests/long/record_kills.sh has more.
#
# run: alone
# run: once
# Rings of one user share a budget of locked memory: what another test of the same user holds is missing here.
. "${0%/*}/../lib.sh"
: "${RECORD_KILLS:=12}"
need_paranoid 2

exact=$WORK/exact
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

test_random_moments()
{
	local kind k ms bad n with_marks

	for kind in "${!kinds[@]}"; do
		bad='' n=0 with_marks=0
		for ((k = kind; k < RECORD_KILLS || k < ${#kinds[@]}; k += ${#kinds[@]})); do
			ms=$((RANDOM % 3000))
			start "$kind" 100000
			sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
			kill_it
			look 0
			[ -z "$wrong" ] || bad+="after $ms ms: $wrong"
			n=$((n + 1))
			[ "$marks" = 0 ] || with_marks=$((with_marks + 1))
		done
		same "${kinds[$kind]}: all that was written is read, $n times, with marks $with_marks" "" "$bad"
	done
}

# What is flushed once a second is there, also when no more comes.
test_what_had_been_flushed()
{
	local kind i

	for kind in "${!kinds[@]}"; do
		start "$kind" 500
		for ((i = 0; i < 120; i++)); do
			sleep 0.5
			list_files
			[ "$(killed "" "" 0)" != $pages ] || break
		done
		kill_it
		look $pages
		same "${kinds[$kind]}: all $pages marks are read" "$pages" "$wrong$marks"
	done
}

run_tests
