#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings of newer perfs than the machine's, written by hand: see newer_recording.py. What they must show is what
# perf 7.2 shows of them.
#
# run: once
. "${0%/*}/../lib.sh"

made() { "$PYTHON" "$ROOT/tests/cli/newer_recording.py" "$1" "$1"; }

test_time_off_the_cpu()
{
	local rows=$'400000000,2,waiter,4200002\n50000000,1,worker,4200001' shape

	for shape in raw plain big; do
		made $shape
		same "$shape: periods, samples and threads" "$rows" \
			"$("$PSTAT" report -i $shape --stdio -q -g none --no-children -F period,sample,comm,tid -t, 2>/dev/null |
				sed -n 's/ //g; s/:[a-z]*$//; /^1000000,/d; /,/p')"
		run "$PSTAT" script -i $shape -F comm,tid,time,period,event,ip --no-inline
		has "$shape: a sample of it" '^waiter 4200002 +0\.009000: +300000000 offcpu-time:' "$out"
		has_not "$shape: nobody is swapper" 'swapper' "$out"
		same "$shape: all of it" 3 "$(grep -c offcpu-time <<<"$out")"
		has "$shape: its chain" ';waiter +offcpu-time: *; +400030 [^;]*; +400300 [^;]*;;' \
			"$("$PSTAT" script -i $shape -F comm,event,ip,sym,dso --no-inline 2>/dev/null | tr '\n\t' '; ')"
		has "$shape: user mode" '^ *waiter U' "$("$PSTAT" script -i $shape -F misc,comm 2>/dev/null)"
		has "$shape: the cgroup's number" '^waiter +7$|cgroup.*7|unknown' "$("$PSTAT" script -i $shape -F comm,cgroup 2>/dev/null)"
		has "$shape: the event" '^offcpu-time$' "$("$PSTAT" evlist -i $shape)"
	done
}

test_a_chain_that_is_too_long()
{
	made cut
	run "$PSTAT" report -i cut --stdio -g none
	has "the samples are damaged" 'its time off the CPU is longer than its raw data' "$err"
	has "the others are there" '100\.00%' "$out"
	run "$PSTAT" script -i cut
	same "four are printed" 4 "$(grep -c 'cpu-clock:' <<<"$out")"
}

test_records_and_features_of_perf_7()
{
	local type

	made records
	run "$PSTAT" script -D -i records
	for type in BPF_METADATA SCHEDSTAT_CPU SCHEDSTAT_DOMAIN; do
		has "$type" "PERF_RECORD_$type [0-9]+ bytes" "$out"
	done
	has "others are counted and passed over" 'type 87: not known, 8 bytes' "$out"
	run "$PSTAT" report --stats -i records
	for type in BPF_METADATA SCHEDSTAT_CPU SCHEDSTAT_DOMAIN UNKNOWN; do
		has "one $type" "^ *$type events: +1 " "$out"
	done
	run "$PSTAT" report --header-only -i records
	has "the machine" '^# e_machine : 62$' "$out"
	has "its flags" '^#   e_flags : 5$' "$out"
	has "a cache line" '^# cacheline size: 64$' "$out"
	has "what nobody knows" '^# feature 35: not known' "$out"
	has "what perf 7 could have written" '^# missing features: .* PMU_CAPS CPU_DOMAIN_INFO$' "$out"
	made raw
	has "of others that is not missing" '^# missing features: .* PMU_CAPS$' "$("$PSTAT" report --header-only -i raw)"
	same "the samples" 4 "$("$PSTAT" script -i records 2>/dev/null | grep -c 'cpu-clock:')"
}

# As perf 7 records by default: build-ids in the maps, of which [vdso] has none.
test_the_vdso_of_the_running_kernel()
{
	need_perf
	need_root
	perf record -q --buildid-mmap -F 2000 -e cpu-clock -o clocks -- "$WORK/exact" clocks:300 2>/dev/null ||
		skip "needs a perf with --buildid-mmap"
	"$PSTAT" script -D -i clocks >dump
	grep -q '<.*\[kernel.kallsyms\]' dump || skip "needs a kernel whose build-id can be read"
	grep -q '\[vdso\]' dump || skip "needs a vdso"
	has_not "the vdso has no build-id" '<.*\[vdso\]' "$(<dump)"
	told() { "$PSTAT" report -q --stdio -g none -s dso,sym -i "$1" 2>/dev/null | grep -F '[vdso]'; }
	[ -n "$(told clocks)" ] || skip "needs a clock that is read in the vdso"
	has "its names" '__vdso_clock_gettime' "$(told clocks)"
	"$PYTHON" - <<-'END' # the same of another kernel
		import re
		data = open("clocks", "rb").read()
		number = re.search(r"<([0-9a-f]{40})>.*\[kernel.kallsyms\]", open("dump", errors="replace").read())[1]
		number = bytes.fromhex(number)
		open("other", "wb").write(data.replace(number, bytes([number[0] ^ 1]) + number[1:]))
	END
	has "there are samples in it" vdso "$(told other)"
	has_not "whose vdso has no names" '__vdso' "$(told other)"
}

run_tests
