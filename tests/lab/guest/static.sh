# SPDX-License-Identifier: MIT
# The static file, alone in a root that has nothing but it and what it measures: it counts exactly, records, unwinds and
# reports with names.
. /lab/truth.sh

root=$tmp/root
mkdir -m 755 "$root" "$root/out"
ln /lab/pstat_static "$root/pstat" && ln "$loop" "$root/loop" && ln "$WORK/chain_static" "$root/chain" || exit 1
within() { env -i PATH=/ /bin/chroot "$root" "$@"; }

test_counts()
{
	run within /pstat stat -x, -e cycles:u,instructions:u -- /loop $loops
	row "instructions:u by the static file in an empty root" $instructions "$(value instructions:u)" -
	same "status" 0 "$status"
	same "instructions" $instructions "$(value instructions:u)"
	same "cycles" $cycles "$(value cycles:u)"
}

test_records()
{
	local how

	for how in fp dwarf; do
		run within /pstat record -N -e cycles:u -c 1000000 --call-graph $how -o /out/$how -- /chain 10000000
		same "$how: status" 0 "$status"
		has "$how: as many samples as periods fit" ' 4[0-9] samples, 0 lost' "$err"
		run within /pstat report --stdio -q --no-children -g caller -i /out/$how
		has "$how: it reports, with names" '%  chain +chain +\[\.\] inner' "$out"
		has "$how: and callers" 'middle' "$out"
		run within /pstat report --folded -i /out/$how
		has "$how: from main on" ';main;outer;middle;inner 4[0-9]$' "$out"
	done
	run within /pstat script -F ip,sym -i /out/fp
	has "it prints samples" ' inner$' "$out"
	run within /pstat annotate --stdio -i /out/fp inner
	has "it shows instructions" 'subs' "$out"
}

# Beside the system, where the kernel describes its types.
test_counts_in_the_kernel()
{
	run /lab/pstat_static profile --engine bpf -e cpu-clock:u -c 1000000 -f -- "$WORK/chain_static" 40000000
	same "status" 0 "$status"
	has "stacks" '^chain_static;.*main;outer;middle;inner [1-9][0-9]*$' "$out"
	has "by BPF" 'BPF: [1-9][0-9]* runs of the program' "$err"
}
run_tests
