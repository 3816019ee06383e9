# SPDX-License-Identifier: MIT
# libpstat on a machine with counters: a loop counts itself, exactly, by read(2) and without a system call, and a
# variable's writes are samples. An instruction takes two cycles.
. /lab/truth.sh

rounds=1000000
access=/proc/sys/kernel/perf_user_access

test_by_read()
{
	run "$LIBRARY/count_loop" $rounds '{instructions:u,cycles:u}'
	row "libpstat: instructions of a loop, by read(2)" $((2 * rounds)) "$(sed -n 's/^instructions:u //p' <<<"$out")" -
	same "instructions and cycles of a group" "instructions:u $((2 * rounds))
cycles:u $((4 * rounds))" "$out"
	same "status" 0 "$status"
}

test_without_a_system_call()
{
	echo 1 >$access
	run "$LIBRARY/count_without_calls" $rounds instructions:u
	row "libpstat: instructions of a loop, without a system call" $((2 * rounds)) \
		"$(sed -n 's/^instructions:u, without a system call: //p' <<<"$out")" -
	same "instructions, both ways" "instructions:u, by read(2): $((2 * rounds))
instructions:u, without a system call: $((2 * rounds))" "$out"
	# The counter of cycles is a register of its own.
	run "$LIBRARY/count_without_calls" $rounds cycles:u
	same "cycles, both ways" "cycles:u, by read(2): $((4 * rounds))
cycles:u, without a system call: $((4 * rounds))" "$out"
	echo 0 >$access
}

test_registers_that_are_not_for_programs()
{
	same "at first" 0 "$(<$access)"
	run "$LIBRARY/count_without_calls" $rounds instructions:u
	same "the kernel is asked, and the reason said" "instructions:u, by read(2): $((2 * rounds))
instructions:u, by read(2) again: $((2 * rounds))
why not without: needs kernel.perf_user_access 1" "$out"
}

test_samples()
{
	run "$LIBRARY/watch_variable" 30 20
	same "a watched variable" $'deposit wrote 30 times\nwithdraw wrote 20 times\nlost 0, balance 200' "$out"
	run "$LIBRARY/samples"
	same "nothing is wrong, and nothing is missing" "" "$(grep -v '^ok' <<<"$out")"
	check "many checks" test "$(grep -c '^ok' <<<"$out")" -ge 45
}

run_tests
