#!/bin/bash
# SPDX-License-Identifier: MIT
# What the measured command finds in its process is what pstat was started with: blocked and ignored signals and the
# limits, in every run of it.
#
# run: once
. "${0%/*}/vs_perf.bash"

# Everything that a program finds and pstat changes for itself: one line of each, in any order.
shows=(sed -n -e '/^Sig\(Blk\|Ign\|Cgt\):/p' -e '/^Shd/p' -e '/^Max open files/p' -e '/^Cpus_allowed_list/p'
	/proc/self/status /proc/self/limits)

need_signal_words()
{
	env --block-signal=USR1 --ignore-signal=USR1 true 2>/dev/null ||
		skip "needs an env that blocks and ignores signals (coreutils 8.31)"
}

# changed COMMAND...: with signals blocked and ignored that pstat handles itself and that it does not, and a limit
# that its counters don't fit into.
changed()
{
	(
		ulimit -Sn 64
		exec env -i --block-signal=INT,CHLD,TERM,USR1,USR2 \
			--ignore-signal=INT,QUIT,PIPE,XFSZ,USR2,TSTP,CHLD PATH="$PATH" "$@"
	)
}

# default COMMAND...: nothing blocked, nothing ignored.
default() { env -i --default-signal PATH="$PATH" "$@"; }

# finds_the_same NAME RUNS COMMAND...: the command in COMMAND, which is run so often, finds what it finds without pstat.
finds_the_same()
{
	local name=$1 runs=$2 with alone expected='' i

	shift 2
	for with in changed default; do
		alone=$("$with" "${shows[@]}" </dev/null)
		expected=$(for ((i = 0; i < runs; i++)); do echo "$alone"; done)
		same "$name, $with" "$expected" "$("$with" "$@" "${shows[@]}" </dev/null 2>said)"
	done
}

test_the_test()
{
	need_signal_words
	has "signals are blocked" '^SigBlk:.*[1-9]' "$(changed "${shows[@]}")"
	has "signals are ignored" '^SigIgn:.*[1-9]' "$(changed "${shows[@]}")"
	has "the limit is low" '^Max open files +64 ' "$(changed "${shows[@]}")"
	has "else none is blocked" '^SigBlk:\s+0+$' "$(default "${shows[@]}")"
}

test_stat()
{
	need_signal_words
	finds_the_same "stat" 1 "$PSTAT" stat -e page-faults:u --
	finds_the_same "stat -r" 3 "$PSTAT" stat -e page-faults:u,context-switches:u -r 3 --
	finds_the_same "stat -I" 1 "$PSTAT" stat -e page-faults:u -I 10 --
	finds_the_same "stat -D" 1 "$PSTAT" stat -e page-faults:u -D 1 --
	finds_the_same "stat record" 1 "$PSTAT" stat record -o counts -e page-faults:u --
}

test_passes()
{
	need_signal_words
	need_breakpoints
	finds_the_same "stat --passes" 2 setarch -R "$PSTAT" stat --passes -e "$(stores_times 5)" --
}

test_record()
{
	need_signal_words
	finds_the_same "record" 1 "$PSTAT" record -q -e cpu-clock:u -o recording --
	finds_the_same "record of several readers" 1 "$PSTAT" record -q --threads=cpu -e cpu-clock:u -o recording --
}

# What is told to end while it ignores SIGINT from its start, as each job that a script puts into the background.
test_told_to_end()
{
	need_signal_words
	env --ignore-signal=INT "$PSTAT" stat -o out -e page-faults sh -c 'touch up; exec sleep 60' &
	pid=$!
	until [ -e up ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
	kill -s INT "$pid"
	wait "$pid"
	same "SIGINT that it would not notice becomes SIGTERM" 143 $?
	has "and there is a report" 'page-faults' "$(<out)"
}

# Shell commands around the runs are started like the command.
test_pre_and_post()
{
	need_signal_words
	alone=$(changed sh -c "$(printf '%q ' "${shows[@]}")" </dev/null)
	same "--pre and --post" "$alone"$'\n'"$alone"$'\n'"$alone"$'\n'"$alone" \
		"$(changed "$PSTAT" stat -r 2 -e page-faults:u --pre "$(printf '%q ' "${shows[@]}")" \
			--post "$(printf '%q ' "${shows[@]}")" -- true </dev/null 2>said)"
}

run_tests
