# SPDX-License-Identifier: MIT
# One CPU, an instruction takes two cycles: who is counted (a command, a process, a CPU, again and again),
# and in which mode of the CPU.
. /lab/truth.sh

test_command()
{
	exactly "instructions:u of a command" $instructions instructions:u -e cycles:u,instructions:u -- "$loop" $loops
	same "cycles:u" $cycles "$(value cycles:u)"
	same "counted all the time" 100.00 "$(field 5 cycles:u)"
	exactly "cycles:u of a command" $cycles cycles:u -e cycles:u,instructions:u -- "$loop" $loops
}

test_modes()
{
	by_pstat -e '{instructions,instructions:u,instructions:k,instructions:uk}' -- "$loop" $loops
	same "user" $instructions "$(value instructions:u)"
	check "kernel" test "$(value instructions:k)" -gt 1000
	same "user and kernel make the whole" $(($(value instructions:u) + $(value instructions:k))) \
		"$(value instructions)"
	same "both asked for is the whole" "$(value instructions)" "$(value instructions:uk)"
	row "instructions minus :u minus :k, in a group" 0 \
		$(($(value instructions) - $(value instructions:u) - $(value instructions:k))) -
	by_pstat --all-user -e instructions -- "$loop" $loops
	same "--all-user" $instructions "$(value instructions)"
	by_pstat --all-kernel -e instructions -- "$loop" $loops
	check "--all-kernel" test "$(value instructions)" -lt $((instructions / 10))
	check "--all-kernel counts something" test "$(value instructions)" -gt 1000
	by_pstat -e cycles:h -- "$loop" $loops
	same "no hypervisor here" 0 "$(value cycles:h)"
}

# The loop waits for a byte, which also says how often it loops: all after the read is counted.
test_process()
{
	mkfifo go
	"$loop" $loops wait <go &
	pid=$!
	exec 7>go
	until grep -q 'State:.S' /proc/$pid/status; do :; done
	start_controlled -e cycles:u,instructions:u -p $pid
	say enable
	printf 1 >&7
	wait $pstat_pid
	same "status" 0 $?
	err=$(<out)
	truth=$((2 * loops + 6))
	row "instructions:u of a process (-p)" $truth "$(value instructions:u)" -
	same "instructions:u" $truth "$(value instructions:u)"
	same "cycles:u" $((2 * truth)) "$(value cycles:u)"
}

# All that a CPU does in user mode: the loop, and besides it pstat and whatever else runs.
test_cpu()
{
	by_perf -C 0 -e instructions:u -- "$loop" $loops
	perf_said=$(value instructions:u)
	by_pstat -C 0 -e instructions:u,cycles -- "$loop" $loops
	row "instructions:u of CPU 0 (-C 0), at least" $instructions "$(value instructions:u)" "$perf_said"
	check "not less than the loop" test "$(value instructions:u)" -ge $instructions
	within "instructions:u" 2 $instructions "$(value instructions:u)"
	# A CPU has one cycle in a nanosecond, idle or not.
	within "cycles are the time" 1 "$(field 4 cycles)" "$(value cycles)"
	by_pstat -a -e instructions:u -- "$loop" $loops
	within "-a" 2 $instructions "$(value instructions:u)"
}

test_children()
{
	by_pstat -e instructions:u -- sh -c : sh
	shell=$(value instructions:u)
	by_pstat -e instructions:u -- sh -c "$loop $loops & $loop $loops & wait"
	within "children are counted" 5 $((2 * instructions + shell)) "$(value instructions:u)"
	by_pstat -i -e instructions:u -- sh -c "$loop $loops & $loop $loops & wait"
	check "-i leaves them out" test "$(value instructions:u)" -lt $instructions
}

test_repeat()
{
	by_pstat -r 4 -e instructions:u,cycles:u -- "$loop" $loops
	same "the same each time" $instructions "$(value instructions:u)"
	has "no deviation" "^$instructions,,instructions:u,0.00%," "$err"
}

# The byte on stdin says how often: three runs of 1, 2 and 3 times as many loops.
test_deviation()
{
	local fixed=$((5 * ${#loops} + 19))

	# Each run takes the next byte: a file would be put back before each of pstat's.
	truth=$((2 * 2 * loops + fixed))
	percent=$(awk -v n=$loops -v mean=$truth 'BEGIN { printf "%.2f", 2 * n / 1.7320508 / mean * 100 }')
	"$PSTAT" stat -x, -o out -r 3 -e instructions:u -- "$loop" $loops wait < <(printf 123)
	err=$(<out)
	perf stat -x, -o perf.out -r 3 -e instructions:u -- "$loop" $loops wait < <(printf 123)
	row "mean of 3 runs (-r 3)" $truth "$(value instructions:u)" "$(awk -F, '/instr/ { print $1 }' perf.out)"
	row "standard error of the mean of 3 runs" "$percent%" "$(field 4 instructions:u)" \
		"$(awk -F, '/instr/ { print $4 }' perf.out)"
	same "mean" $truth "$(value instructions:u)"
	same "standard error of the mean" "$percent%" "$(field 4 instructions:u)"
}

test_intervals()
{
	by_pstat -I 2 -e instructions:u,cycles:u -- "$loop" $loops
	sum=$(printf '%s\n' "$err" | awk -F, '/instructions:u/ { s += $2 } END { print s }')
	rows=$(printf '%s\n' "$err" | grep -c instructions:u)
	row "sum of $rows intervals (-I 2)" $instructions "$sum" -
	same "the intervals add up to the whole" $instructions "$sum"
	same "2 ms of 16 ms" yes "$([ "$rows" -ge 8 ] && [ "$rows" -le 10 ] && echo yes || echo "$rows rows")"
	printf '%s\n' "$err" | awk -F, '/instructions:u/ { i = $2 } /cycles:u/ && NR > 2 && $2 > 1000000 {
		d = $2 - 2 * i; if (d < -4 || d > 4) print }' >odd
	same "in each, two cycles for an instruction" "" "$(<odd)"
}

run_tests
