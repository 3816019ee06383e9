#!/bin/bash
# SPDX-License-Identifier: MIT
# cpu= of an event: what a command does on some CPUs.
. "${0%/*}/../lib.sh"

# $a and $b: the first two CPUs on which the test may run.
need_two_cpus()
{
	need_cmd taskset
	read -r a b < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r from to; do
		seq "$from" "${to:-$from}"
	done | head -n 2 | xargs)
	[ -n "$b" ] || skip "this test may run on one CPU only"
}

# The kernel's enabled time of a task goes on while it is on another CPU, which is no reason to scale: the parts are
# exactly the whole.
test_parts_are_the_whole()
{
	local part_a part_b whole

	need_two_cpus
	run "$PSTAT" stat -x, -o counts.csv -e "page-faults/cpu=$a/,page-faults/cpu=$b/,page-faults" -- \
		sh -c "for i in 1 2 3 4 5; do taskset -c $a true; taskset -c $b true; done"
	expect_status 0
	read -r part_a part_b whole < <(awk -F, '/page-faults/ { print $1 }' counts.csv | xargs)
	same "$part_a on CPU $a and $part_b on CPU $b: the sum" "$whole" $((part_a + part_b))
	check "both are counted" test "$part_a" -gt 100 -a "$part_b" -gt 100
}

test_task_was_not_there()
{
	need_two_cpus
	run taskset -c "$a" "$PSTAT" stat -j -o counts.json -e "page-faults/cpu=$b/,page-faults/cpu=65535/" -- true
	expect_status 0
	check "the reason names the CPU" grep -q "\"reason\" : \"the task never ran on CPU $b\"" counts.json
	check "so does that of one that is not there" grep -q '"reason" : "CPU 65535 is not online"' counts.json
}

# The samples of each event are of its CPU, and there are some.
test_samples_of_one_cpu()
{
	local spin='i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'

	need_two_cpus
	run "$PSTAT" record -q -o x.data -e "task-clock/cpu=$a/u" -- \
		sh -c "taskset -c $a sh -c '$spin'; taskset -c $b sh -c '$spin'"
	expect_status 0
	run "$PSTAT" script -i x.data -F cpu
	expect_status 0
	same "the CPUs of samples" "[$(printf %03d "$a")]" "$(sort -u <<<"$out" | tr -d ' ')"
}

run_tests
