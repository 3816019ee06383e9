# SPDX-License-Identifier: MIT
# One CPU, an instruction takes two cycles: how many samples there are, what stands in them, and that perf
# in the same boot reads what pstat recorded.
. /lab/truth.sh

loops_are 20000000
period=1000000

# record ARGUMENTS...: $samples as perf finds them in the file, $summary as pstat sums up.
record()
{
	run "$PSTAT" record -o p.data "$@"
	summary=$err
	samples=$(perf script -i p.data -F event 2>/dev/null | grep -c :)
}
perf_record()
{
	perf record -o q.data "$@" >/dev/null 2>&1
	perf_samples=$(perf script -i q.data -F event 2>/dev/null | grep -c :)
}

test_period()
{
	perf_record -c $period -e cycles:u -- "$loop" $loops
	record -c $period -e cycles:u -- "$loop" $loops
	row "samples of cycles:u at period $period" $((cycles / period)) "$samples" "$perf_samples"
	same "status" 0 $status
	same "as many as periods fit" $((cycles / period)) "$samples"
	has "pstat says the same" ": $((cycles / period)) samples, 0 lost, 0 throttled" "$summary"
	same "all at the loop's two instructions" 0 \
		"$(perf script -i p.data -F sym 2>/dev/null | grep -vc -e ' *loop$' -e '^$')"
	same "each has its period" $period "$(perf script -i p.data -F period 2>/dev/null | tr -d ' ' | sort -u)"
	same "and they add up" $((cycles / period * period)) "$(perf report -i p.data --stdio 2>/dev/null |
		awk '/Event count/ { print $NF }')"
}

test_frequency()
{
	perf_record -F 2000 -e cycles:u -- "$loop" $loops
	record -F 2000 -e cycles:u -- "$loop" $loops
	row "samples of cycles:u at 2000 Hz, 80 ms" 160 "$samples" "$perf_samples"
	within "samples are the frequency times the time" 5 160 "$samples"
}

test_group_read()
{
	record -i -c $period -e '{cycles:u,instructions:u}:S' -- "$loop" $loops
	same "a row for each event in each sample" $((2 * (cycles / period))) "$samples"
	perf script -i p.data -F event,period 2>/dev/null | awk '{ print $2, $1 }' | sort | uniq -c >rows
	row "instructions:u in a sample of $period cycles" $((period / 2)) "$(awk '/instructions/ { print $3 }' rows | head -n 1)" -
	has "instructions in each sample" "^ *$((cycles / period)) instructions:u: $((period / 2))$" "$(<rows)"
	has "cycles in each sample" "^ *$((cycles / period)) cycles:u: $period$" "$(<rows)"
}

test_several_events()
{
	record -c $period -e cycles:u,cpu-clock:u,task-clock:u -- "$loop" $loops
	perf script -i p.data -F event 2>/dev/null | tr -d ' :' | sort | uniq -c >rows
	has "cycles" "^ *$((cycles / period)) cyclesu$" "$(<rows)"
	for clock in cpu-clocku task-clocku; do
		within "$clock" 4 $((cycles / period)) "$(awk -v event=$clock '$2 == event { print $1 }' rows)"
	done
}

# Every sample has the same stack, but perhaps one on the way there.
same_stack()
{
	perf script --no-inline -i "$2" -F ip,sym 2>/dev/null |
		awk 'NF { s = s " " $2; next } s { print s; s = "" }' | sort | uniq -c | sort -rn >stacks
	read -r n stack <stacks
	same "$1: the callers" "inner middle outer main" "$(echo "$stack" | cut -d ' ' -f 1-4)"
	same "$1: in nearly all samples" yes "$([ "$n" -ge 38 ] && echo yes || cat stacks)"
}

test_callchains()
{
	for how in fp dwarf; do
		record --call-graph $how -c $period -e cycles:u -- "$WORK/chain" 10000000
		same_stack "$how" p.data
		perf_record --call-graph $how -c $period -e cycles:u -- "$WORK/chain" 10000000
		row "samples with 4 known frames, $how" 40 "$(awk 'NR == 1 { print $1 }' stacks)" \
			"$(perf script --no-inline -i q.data -F ip,sym 2>/dev/null |
				awk 'NF { s = s " " $2; next } s { print s; s = "" }' |
				grep -c 'inner middle outer main')"
	done
}

run_tests
