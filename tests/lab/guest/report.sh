# SPDX-License-Identifier: MIT
# One CPU, an instruction takes two cycles: recordings to be read on another machine, and what perf says of each
# in this boot. They leave by the console; ../reports.sh reads and compares. Some are small, at fixed addresses,
# and end as golden recordings: see tests/cli/golden_arm64.sh.
. /lab/truth.sh

callers=$WORK/callers
leaf=$WORK/callers_leaf
without_fp=$WORK/callers_without_fp
link5=0x$(awk '$3 == "link5" { print $1 }' "$callers.symbols")

# bring FILE...: by the console into the lab's folder out; see Out in ../boot.
bring()
{
	for file in "$@"; do
		echo "LAB FILE $file"
		gzip -c "$file" | base64 -w 160
		echo "LAB FILE END"
	done
}

# recording NAME pstat|perf ARGUMENTS...: records into NAME.data. What perf reads from it is the truth of a test
# on the host, so it must find names. NAME.own is what pstat says here, beside what it says there.
recording()
{
	local name=$1 program=$2

	shift 2
	# What is compared are readers: both have the stacks in the file, but in those that are named live.
	case $program,$name in
	pstat,live_*) program=$PSTAT ;;
	pstat,*) program=$PSTAT && set -- "${@/#dwarf/dwarf,raw}" ;;
	esac
	run setarch -R "$program" record -o "$name.data" "$@"
	same "$name: status" 0 "$status"
	perf script --no-inline -i "$name.data" -F comm,pid,tid,time,period,event,ip,sym,symoff,dso >"$name.script" 2>said
	perf report --no-inline --stdio -g none -i "$name.data" >"$name.report" 2>>said
	check "$name: perf reads it: $(head -n 1 said)" test -s "$name.script" -a -s "$name.report"
	"$PSTAT" report --no-inline --stdio -i "$name.data" >"$name.own" 2>said
	bring "$name".{data,script,report,own}
}

# The same by both recorders: NAME_pstat and NAME_perf.
both() { for by in pstat perf; do recording "$1_$by" $by "${@:2}"; done; }

test_frame_pointers()
{
	recording fp_known_pstat pstat -g -c 400000 -e cycles:u -- "$callers" known 1
	recording fp_recursive_pstat pstat -g -c 500000 -e cycles:u -- "$callers" recursive 1
	recording fp_deep_pstat pstat -g -F 5000 -e cycles:u -- "$callers" deep 20
}

# The two that call burn stand in a register only, while it runs.
test_leaf_functions()
{
	both fp_leaf -g -c 400000 -e cycles:u -- "$leaf" known 1
}

# A breakpoint where link5 begins: its caller stands in a register only.
test_chain()
{
	both fp_chain -g -c 1 -e "mem:$link5:x:u" -- "$callers" chain
	recording dwarf_chain_pstat pstat --call-graph dwarf,1024 -c 1 -e "mem:$link5:x:u" -- "$callers" chain
}

test_dwarf()
{
	both dwarf_known --call-graph dwarf,1024 -c 1000000 -e cycles:u -- "$without_fp" known 1
	recording dwarf_recursive_pstat pstat --call-graph dwarf,2048 -c 1000000 -e cycles:u -- "$without_fp" recursive 1
}

# Unwound while it is recorded.
test_live()
{
	recording live_known_pstat pstat --call-graph dwarf -c 1000000 -e cycles:u -- "$without_fp" known 1
	recording live_recursive_pstat pstat --call-graph dwarf -c 1000000 -e cycles:u -- "$without_fp" recursive 1
	recording live_chain_pstat pstat --call-graph dwarf -c 1 -e "mem:$link5:x:u" -- "$callers" chain
}

test_groups_and_events()
{
	both group -c 5000000 -e '{cycles:u,instructions:u}:S' -- "$callers" known 1
	recording events_pstat pstat -g -c 1000000 -e cycles:u,cpu-clock:u -- "$callers" known 1
}

# The names of theirs are in them: elsewhere no file of this machine is needed, neither for names nor for unwinding.
test_symbols_in_the_recording()
{
	recording fp_named_pstat pstat -g --symbols-in-file -c 400000 -e cycles:u -- "$callers" known 1
	recording dwarf_named_pstat pstat --call-graph dwarf,1024 --symbols-in-file -c 1000000 -e cycles:u -- \
		"$without_fp" known 1
}

# Kernel and user in one chain. Of the kernel's names those within 64 KiB of a sample, and the one before: all
# of them take longer through the console than the rest.
test_kernel()
{
	recording kernel_pstat pstat -g -c 400000 -e cycles -- "$WORK/phases" 1
	awk 'NR == FNR { if (/^\t/) near[substr($1, 1, 12)]; next }
		substr($1, 1, 12) in near { if (before != "") print before; print; before = ""; next }
		{ before = $0 }' kernel_pstat.script /proc/kallsyms >kallsyms
	bring kallsyms
}

run_tests
