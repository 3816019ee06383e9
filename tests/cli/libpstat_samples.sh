#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples, and counts without system calls, through libpstat, as another program takes them.
. "${0%/*}/../lib.sh"

# tests/library/samples.c compares what the kernel delivers with what it did. Ended by a signal, it has not said all.
test_samples()
{
	need_breakpoints
	need_library samples
	run timeout 300 "$LIBRARY/samples"
	check "runs to its end" test "$status" -le 1 || printf '# %s\n' "$err"
	points_of "$out"
}

test_samples_in_valgrind()
{
	need_plain_build
	need_breakpoints
	need_library samples
	need_cmd valgrind
	# Breakpoints are set on this process; what runs is valgrind's code, elsewhere. What is looked for is its own words.
	run timeout 300 valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect "$LIBRARY/samples"
	same "valgrind says nothing" "" "$(grep '^==' <<<"$err")"
}

test_watch_variable()
{
	need_breakpoints
	need_library watch_variable
	run "$LIBRARY/watch_variable" 30 20
	case $err in *"not supported"* | *"breakpoint"*) skip "needs a breakpoint: $err" ;; esac
	same "each write by who made it" $'deposit wrote 30 times\nwithdraw wrote 20 times\nlost 0, balance 200' "$out"
	same "status" 0 "$status"
}

test_profiler()
{
	need_library profiler
	run "$LIBRARY/profiler" 300
	same "status" 0 "$status"
	has "one of its functions" '^ *[0-9.]+ %  [0-9]+ of [0-9]+  one_third$' "$out"
	has "and the other" '^ *[0-9.]+ %  [0-9]+ of [0-9]+  two_thirds$' "$out"
	same "all samples are somewhere" "$(awk 'NR == 1 { print $5 }' <<<"$out")" \
		"$(awk '{ n += $3 } END { print n }' <<<"$out")"
}

# Another process, which ends when it is killed: as many samples as its CPU time gives, most in its loop.
test_profiler_of_another()
{
	need_library profiler
	"$LIBRARY/profiler" 600000 >/dev/null &
	local other=$! most

	"$used" "$other" 20
	"$LIBRARY/profiler" 600000 "$other" >out 2>err &
	# Once the event is open, the profiler is soon done with what it does before it samples.
	until find "/proc/$!/fd" -lname "*perf_event*" 2>/dev/null | grep -q . || ! kill -0 $! 2>/dev/null; do
		sleep 0.01
	done
	"$used" "$other" 1000
	kill "$other"
	wait "$!"
	most=$(sort -rn out | sed -n '1s/.* //p')
	case $most in one_third | two_thirds) ;; *) most=$(cat out err) ;; esac
	same "its functions have names" two_thirds "${most/one_third/two_thirds}"
}

test_count_without_calls()
{
	need_library count_without_calls
	run "$LIBRARY/count_without_calls" 100000 page-faults:u
	same "a count that is in no register is read" "page-faults:u, by read(2): 0
page-faults:u, by read(2) again: 0
why not without: no register that programs may read counts it" "$out"
	same "status" 0 "$status"
}

# Where there are counters, and programs may read them: both ways say the same, but for interrupts.
test_count_without_calls_exactly()
{
	local read user

	need_counter_unit
	need_library count_without_calls
	run "$LIBRARY/count_without_calls" 1000000 instructions:u
	read=$(sed -n 's/^instructions:u, by read(2): //p' <<<"$out")
	user=$(sed -n 's/^instructions:u, without a system call: //p' <<<"$out")
	[ "$user" ] || skip "programs may not read the counters here: $out"
	check "by read(2): $read" test "$read" -ge 1999000 -a "$read" -le 2001000
	check "without a system call: $user" test "$user" -ge 1999000 -a "$user" -le 2001000
}
run_tests
