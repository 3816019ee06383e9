#!/bin/bash
# SPDX-License-Identifier: MIT
# --filter on fields of samples: by the kernel for root, after the rings for others, with the same result.
. "${0%/*}/vs_perf.bash"
perf_without_kernel
need_breakpoints

samples() { perf script -i "$1" -F ip,sym 2>/dev/null | grep -c stores; }

# filtered KEPT LEFT_OUT FILTER: of 300 stores by one process, each a sample.
filtered()
{
	run setarch -R "$PSTAT" record -o x -c 1 -e "$stores" --filter "$3" -g "$EXACT" stores:300
	same "$3: status" 0 "$status"
	has "$3: what was kept and what was not are told" \
		": $1 samples?, 0 lost, 0 throttled \]"$'\n'"  $2 samples? left out by --filter\$" "$err"
	same "$3: the file has what was kept" "$1" "$(samples x)"
}

test_sample_filters()
{
	local kept filter

	# Each both ways: a filter with a time in it is run after the rings, others by the kernel where it may.
	while read -r kept filter; do
		filtered $kept $((300 - kept)) "$filter"
		filtered $kept $((300 - kept)) "$filter, time > 0"
	done <<-'END'
	300 period == 1
	0 period != 1
	0 period > 1
	300 period >= 1
	0 period < 1
	300 period <= 1
	300 period & 3
	0 period & 2
	300 ip < 0x8000000000000000, cpu < 100000, period == 1
	0 ip < 0x8000000000000000, cpu >= 100000, period == 1
	0 period == 1, ip > 0x8000000000000000 || pid == 0
	300 pid == 0 || tid > 0
	END
	run setarch -R "$PSTAT" record -v -o x -c 1 -e "$stores" --filter 'cpu == 0' "$EXACT" stores:1
	if is_root; then
		has_not "root's filter is run by the kernel" 'after the rings' "$err"
		filtered 300 0 "uid == $(id -u), gid == $(id -g)"
		filtered 0 300 "uid != $(id -u) || gid != $(id -g)"
	else
		has "the kernel refuses others" 'filtered after the rings: the kernel refuses the BPF program: ' "$err"
		fails_with 125 "samples do not have 'uid': only a filter in the kernel sees it$" \
			"$PSTAT" record -o x -e "$stores" --filter 'uid == 0' true
	fi
	run setarch -R "$PSTAT" record -v -o x -c 1 -e "$stores" --filter 'time > 0' "$EXACT" stores:1
	has "why not by the kernel" 'after the rings: a BPF program does not see all of its fields$' "$err"
	run setarch -R "$PSTAT" record -o x -c 1 -e "$stores" --filter 'tid > 0' --filter 'tid == 0' "$EXACT" stores:300
	has "two filters: both have to be passed" ': 0 samples.*300 samples left out' "${err//$'\n'/ }"
	run setarch -R "$PSTAT" record -o x -c 1 -e "$stores" --filter 'tid == 0' -e page-faults:u "$EXACT" stores:300
	has "it is of its own event" 'page-faults:u: [1-9][0-9]* samples' "$err"
	has "of no other" '^  300 samples left out by --filter$' "$err"
	fails_with 129 "^pstat: --filter: 'core' is no field of samples$" \
		"$PSTAT" record -o x -e cpu-clock:u --filter 'core == 1' true
	fails_with 125 "^pstat: --filter: cpu-clock:u: samples do not have 'addr'$" \
		"$PSTAT" record -o x -e cpu-clock:u --filter 'addr == 1' true
	has "what gives them it" '^  it is recorded with -d$' "$err"
	fails_with 129 "^pstat: --filter: there is no -e before it$" "$PSTAT" record -o x --filter 'cpu == 1' true
}

run_tests
