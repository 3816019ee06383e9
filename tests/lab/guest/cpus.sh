# SPDX-License-Identifier: MIT
# Two CPUs: who is counted where, also when a CPU goes away. What runs on a CPU is known exactly by its
# breakpoint; a CPU has one cycle in a nanosecond; there is no event `instructions` here.
. /lab/truth.sh

hits=500
watch=mem:$cell:w:u
on_cpu_1() { by_pstat "$@" -- taskset 2 "$WORK/hits" $hits; }

test_each_cpu()
{
	by_perf -a -A -e "$watch,cycles" -- taskset 2 "$WORK/hits" $hits
	perf_said=$(value "$watch" 1)+$(value "$watch" 2)
	on_cpu_1 -a -A -e "$watch,cycles"
	row "hits on CPU 0 + CPU 1 (-a -A)" 0+$hits "$(value "$watch" 1)+$(value "$watch" 2)" "$perf_said"
	has "CPU 0" "^CPU0,0,,$watch,[0-9]+,100.00,," "$err"
	has "CPU 1" "^CPU1,$hits,,$watch,[0-9]+,100.00,," "$err"
	within "CPU 0 has a cycle in a nanosecond" 10 "$(field 4 cycles 1)" "$(value cycles 1)"
	within "CPU 1 too" 10 "$(field 4 cycles 2)" "$(value cycles 2)"
}

test_each_core()
{
	by_perf -a --per-core -e "$watch" -- taskset 2 "$WORK/hits" $hits
	perf_said=$(value "$watch" 1)+$(value "$watch" 2)
	on_cpu_1 -a --per-core -e "$watch"
	row "hits on core 0 + core 1 (--per-core)" 0+$hits "$(value "$watch" 1)+$(value "$watch" 2)" "$perf_said"
	has "core 0" "^S0-D0-C0,1,0,,$watch," "$err"
	has "core 1" "^S0-D0-C1,1,$hits,,$watch," "$err"
	on_cpu_1 -a --per-socket -e "$watch"
	has "socket" "^S0,2,$hits,,$watch," "$err"
}

test_some_cpus()
{
	on_cpu_1 -C 0 -e "$watch"
	same "-C 0" 0 "$(value "$watch")"
	on_cpu_1 -C 1 -e "$watch"
	same "-C 1" $hits "$(value "$watch")"
	on_cpu_1 -a -e "$watch"
	same "-a" $hits "$(value "$watch")"
	fails_with 125 "CPU 7 is not online" "$PSTAT" stat -C 0,7 -e cycles -- true
}

test_command_moves()
{
	by_pstat -e "$watch,cycles" -- sh -c "taskset 1 $WORK/hits 30; taskset 2 $WORK/hits 50"
	same "followed over the CPUs" 80 "$(value "$watch")"
	within "its cycles are its time" 10 "$(field 4 cycles)" "$(value cycles)"
}

test_time_shared()
{
	loops_are 60000000
	# A host with other work stops the guest between two counters, as no machine does: then once more.
	for try in 1 2 3 4 5; do
		by_pstat -e "$(times 12 cycles),task-clock" -- "$loop" $loops
		truth=$(field 4 task-clock)
		near 10 "$truth" "$(value cycles)" && break
	done
	row "12 x cycles on 7 counters, the first; truth: task-clock in ns" "$truth" "$(value cycles)" -
	within "scaled" 10 "$truth" "$(value cycles)"
	check "and said to be" awk -v share="$(field 5 cycles)" 'BEGIN { exit !(share < 100) }'
}

test_no_instructions()
{
	run "$PSTAT" stat -e instructions,cycles -- true
	has "not supported, with the reason" \
		"<not supported> +instructions +# +this counter unit does not have the event" "$err"
}

online=/sys/devices/system/cpu/cpu1/online
# CPU 1 is there and busy at the start and goes away before the counters are read.
away="taskset 2 $WORK/hits $hits; echo 0 >$online; usleep 300000"

test_offline()
{
	by_pstat -a -A -e "$watch,{cycles,cycles:u}" -- sh -c "$away"
	echo 1 >$online
	has "CPU 0 is whole" "^CPU0,0,,$watch,[0-9]+,100.00,," "$err"
	has "CPU 1 has what it counted" "^CPU1,$hits,,$watch,[0-9]+,100.00,," "$err"
	row "hits on CPU 1, gone offline after them" $hits "$(value "$watch" 2)" -
	within "its group too" 10 "$(field 4 cycles 2)" "$(value cycles 2)"
	check "up to when it went" test "$(value cycles 2)" -lt "$(value cycles 1)"
	run "$PSTAT" stat -j -a -A -e "$watch" -- sh -c "$away"
	echo 1 >$online
	has "and it is said" '"cpu" : "1", "counter-value" : "'$hits'.0*".*"reason" : "1 of 1 counters stopped when the CPU went offline"' "$err"
	has_not "of CPU 1 only" '"cpu" : "0".*"reason"' "$err"
}

test_offline_and_back()
{
	run "$PSTAT" stat -a -e "$watch" -- sh -c "$away; echo 1 >$online; taskset 2 $WORK/hits $hits"
	has "the count is what was seen, and this is said, though the CPU is there again" \
		"^ *$hits  .*\(at least: 1 of 2 counters stopped when the CPU went offline\)" "$err"
}

test_offline_in_intervals()
{
	by_pstat -a -A -I 100 -e "{cycles,cycles:u}" -- sh -c "$away; usleep 300000"
	echo 1 >$online
	last=$(printf '%s\n' "$err" | grep CPU1 | tail -n 1)
	has "the last rows of CPU 1 are marked" "CPU1,<not counted>,,cycles" "$last"
	has_not "no CPU lost cycles" "^ *[0-9.]+,CPU[01],0,,cycles," "$err"
}

run_tests
