#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat profile --engine bpf: samples that are counted in the kernel are those that rings bring; those that are lost
# are counted; where BPF is refused, rings are taken, and that is said.
#
# rights: test_refused_to_a_user
. "${0%/*}/../lib.sh"

need_paranoid 2
callers=$WORK/callers exact=$WORK/exact

# Skips with pstat's own reason where nothing is counted by BPF.
need_bpf()
{
	local why

	why=$("$PSTAT" profile --engine bpf -e page-faults -c 1 -f -- true 2>&1 >/dev/null | sed -n 's/.*samples are read from rings: //p')
	[ -z "$why" ] || skip "needs BPF: $why"
}

# Likewise where waits are not.
need_bpf_waits()
{
	local why

	why=$("$PSTAT" profile --engine bpf --off-cpu -f -- true 2>&1 >/dev/null | sed -n 's/.*samples are read from rings: //p')
	[ -z "$why" ] || skip "needs waits counted by BPF: $why"
}

# counted: numbers of the line that says how the program's runs ended, in $runs, $counted and $lost.
numbers()
{
	read -r runs counted lost <<<"$(sed -n 's/.*BPF: \([0-9]*\) runs of the program, \([0-9]*\) in .* cells, \([0-9]*\) lost.*/\1 \2 \3/p' <<<"$err")"
}

sum() { awk '{ n += $NF } END { print n + 0 }'; }

test_two_functions()
{
	need_bpf
	run "$PSTAT" profile --engine bpf -F 997 -f -- "$callers" known 3000
	same "exit status" 0 "$status"
	one=$(grep ';one_third' <<<"$out" | sum)
	two=$(grep ';two_thirds' <<<"$out" | sum)
	check "there are samples: $one, $two" test "$one" -gt 100
	# Six times what chance makes of a third of so many.
	check "1 to 2: $one, $two" awk -v one="$one" -v n=$((one + two)) \
		'BEGIN { d = one - n / 3; exit !(d * d < 36 * n * 2 / 9) }'
	has "stacks are whole" 'callers;.*main;known;two_thirds;burn' "$out"
	numbers
	same "all runs are samples or losses" "$runs" $((counted + lost))
	same "all that were counted are in the output" "$counted" "$(sum <<<"$out")"
	has "memory is said" 'BPF: .* [0-9.]+ MB of maps' "$err"
	run "$PSTAT" profile --engine bpf -F 997 --stdio -s sym -- "$callers" known 300
	has_not "samples are at code, not at marks between it" ' 0xf*fffff[ef][0-9a-f]00$' "$out"
}

# Each page fault is one: the same numbers as by rings, of processes that have ended. With the same addresses in both
# runs: a stack that goes on in its next page just there has one more. Rings have room for all.
test_same_as_rings()
{
	need_bpf
	need_cmd setarch
	for engine in rings bpf; do
		setarch -R "$PSTAT" profile --engine $engine -m 8M -e page-faults:u -c 1 -U -f -- "$exact" forks:3 pages:3000 \
			2>$engine.said | grep ';pages ' | sed 's/^[^;]*;//' | awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' |
			sort >$engine
	done
	! grep -hv "throttled 0 ]" rings.said bpf.said | grep -q "samples in" || skip "the kernel throttled samples"
	has "there are some" ';pages [89][0-9]*$' "$(sed 's/^/;/' rings)"
	same "faults in pages()" "$(sum <rings)" "$(sum <bpf)"
}

# One stack in each half of the maps has room, and the others are counted.
test_storage_of_one()
{
	need_bpf
	run "$PSTAT" profile --engine bpf --stack-storage-size 1 -e page-faults -c 1 -f -- "$exact" pages:3000
	same "exit status" 0 "$status"
	numbers
	check "some are lost: $lost" test "$lost" -gt 0
	same "all runs are samples or losses" "$runs" $((counted + lost))
	same "all that were counted are in the output" "$counted" "$(sum <<<"$out")"
	has "why" 'samples were not counted: no room for one more stack' "$err"
	has "what to do" 'raise --stack-storage-size' "$err"
	has "the closing line has them" "missed $lost," "$err"
}

test_many_stacks()
{
	need_bpf
	run "$PSTAT" profile --engine bpf --stack-storage-size 1048576 -e page-faults -c 1 -f -- true
	same "exit status" 0 "$status"
	numbers
	check "runs" test "${runs:-0}" -gt 0
	same "nothing is lost" 0 "$lost"
}

# stack FUNCTION: the us of folded stacks in ./lines that have it.
us_of() { awk -v f="$1" '$0 ~ ";" f ";" { n += $NF } END { print n + 0 }' lines; }

# Each wait of a program that knows how long it waits; what is missing is a loss.
test_waits()
{
	need_bpf_waits
	# shellcheck disable=SC2016
	run "$PSTAT" profile --engine bpf --off-cpu -f -- sh -c 'exec "$1" 5 >told' sh "$WORK/waits"
	same "exit status" 0 "$status"
	echo "$out" >lines
	numbers
	check "there are waits: $counted" test "$counted" -gt 5
	same "all switches are waits or losses" "$runs" $((counted + lost))
	has "they are summed up" "  off the CPU: $counted waits, [0-9.]+ s" "$err"
	while read -r name least most; do
		us=$(us_of "$name")
		[ "$us" -gt 0 ] || continue # its frame pointer is libc's to keep
		check "$name: at most what passed: $us us, $most ns" test "$us" -le $((most / 1000))
		check "$name: at least what it waited, or a loss: $us us, $least ns, $lost lost" \
			test "$us" -ge $((least / 1000 - 5)) -o "$lost" -gt 0
	done <told
	check "one of them is found" test $(($(us_of sleeps) + $(us_of locks) + $(us_of reads))) -gt 0
}

# The same stacks as by rings, whatever else a busy machine adds: those in which it sleeps. Addresses are the same.
test_waits_as_by_rings()
{
	need_bpf_waits
	need_cmd setarch
	for engine in rings bpf; do
		setarch -R "$PSTAT" profile -q --engine $engine --off-cpu -f -- "$exact" forks:2 sleeps:20 |
			sed -n 's/;clock_nanosleep;.*nanosleep.*;schedule [0-9]*$/ sleeps/p' | sort -u >$engine
	done
	has "they sleep" 'exact;.* sleeps$' "$(<rings)"
	same "stacks" "$(<rings)" "$(<bpf)"
	run "$PSTAT" profile --engine bpf --off-cpu --stdio -s state -- "$exact" sleeps:20
	has "how they wait is known" '[0-9]%  sleeping ' "$out"
	has_not "and not just that they do" '[0-9]%  waiting ' "$out"
}

# What a limit leaves out is counted.
test_short_waits()
{
	need_bpf_waits
	run "$PSTAT" profile --engine bpf --off-cpu --off-cpu-thresh 3600000 -f -- "$exact" sleeps:20
	same "exit status" 0 "$status"
	numbers
	short=$(sed -n 's/^  \([0-9]*\) shorter than 3600000 ms left out, [0-9.]* s; .*/\1/p' <<<"$err")
	check "short waits: $short" test "${short:-0}" -gt 0
	same "all switches are waits, short ones or losses" "$runs" $((counted + lost + short))
}

# Both in one: nobody has more time than there was.
test_wall()
{
	need_bpf_waits
	run "$PSTAT" profile --engine bpf --wall -F 997 -f -- "$exact" spins:200 sleeps:20
	same "exit status" 0 "$status"
	has "what it waited" 'exact;.*;\[waiting\] [0-9]+$' "$out"
	check "what it ran" test "$(grep -v '\] [0-9]*$' <<<"$out" | sum)" -gt 50000
	numbers
	same "all runs are samples or losses" "$runs" $((counted + lost))
}

# A sleeper that is there already is seen from its next wait on; the last one is not over at the end.
test_running_targets()
{
	need_bpf_waits
	"$WORK/exact" sleeps:1000000 &
	pid=$!
	for target in "-p $pid" "-L $pid" "-C 0-$(($(nproc --all) - 1))"; do
		# shellcheck disable=SC2086
		run "$PSTAT" profile --engine bpf --off-cpu -f $target 1
		same "$target: exit status" 0 "$status"
		has "$target: sleeps are there" '^exact;.*nanosleep.* [0-9]+$' "$out"
		numbers
		same "$target: all switches are waits or losses" "$runs" $((counted + lost))
	done
	kill $pid
	wait $pid 2>/dev/null
	run "$PSTAT" profile --engine bpf --off-cpu -f 2 -- sleep 1000
	has "a wait that is not over" 'off the CPU: .*; 1 not over at the end' "$err"
	has "it is in the output" '^sleep;.*nanosleep.* [0-9]+$' "$out"
}

# What only rings have.
test_waits_by_rings()
{
	need_bpf_waits
	need_tracefs
	run "$PSTAT" profile --engine bpf --wakers -f -- "$exact" sleeps:5
	has "wakers" 'samples are read from rings: BPF does not count what ends waits' "$err"
	run "$PSTAT" profile --engine bpf --off-cpu --call-graph dwarf -f -- "$exact" sleeps:5
	has "dwarf" 'samples are read from rings: .*frame pointers' "$err"
	has "and they come" '^exact;.* [0-9]+$' "$out"
}

# By a filter that refuses bpf(2), as in a container, or programs, as a kernel that is locked down: samples and waits
# come by rings.
test_refused()
{
	for what in all program; do
		run "$WORK/no_bpf" $what "$PSTAT" profile --engine bpf -e page-faults:u -c 1 -f -- "$exact" pages:1000
		[ "$status" -ne 77 ] || skip "seccomp filters are refused here"
		same "$what: exit status" 0 "$status"
		has "$what: rings, and why" \
			'samples are read from rings: (the kernel refuses BPF programs|.*libbpf|pstat runs in a PID namespace)' "$err"
		check "$what: samples come all the same" test "$(sum <<<"$out")" -gt 900
	done
	need_paranoid 1
	run "$WORK/no_bpf" program "$PSTAT" profile --engine bpf --off-cpu -f -- "$exact" sleeps:20
	has "rings for waits, and why" 'samples are read from rings: ' "$err"
	has "waits come all the same" '^exact;.*sleep' "$out"
}

# A kernel without BTF, as far as it can be told: it takes no descriptions of types, and has none of its own to read.
test_without_btf()
{
	need_bpf_waits
	run "$WORK/no_bpf" btf "$PSTAT" profile --engine bpf --wall -F 997 -f -- "$exact" spins:50 sleeps:20
	[ "$status" -ne 77 ] || skip "seccomp filters are refused here"
	same "exit status" 0 "$status"
	numbers
	check "it counts: $counted" test "${counted:-0}" -gt 5
	need_mount
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh \
		"$WORK/no_bpf" btf "$PSTAT" profile --engine bpf --off-cpu -f -- "$exact" sleeps:20
	numbers
	check "so it does where the kernel's own is not there: $counted" test "${counted:-0}" -gt 5
}

test_refused_to_a_user()
{
	is_root && skip "needs a user without rights"
	run "$PSTAT" profile --engine bpf -e page-faults:u -c 1 -f -- "$exact" pages:1000
	same "exit status" 0 "$status"
	has "rings, and why" 'samples are read from rings: ' "$err"
	check "samples come all the same" test "$(sum <<<"$out")" -gt 900
}

test_other_events()
{
	need_bpf
	need_tracefs
	run "$PSTAT" profile --engine bpf -e syscalls:sys_enter_getppid -f -- true
	[[ $err != *"not found"* ]] || skip "needs the tracepoint sys_enter_getppid"
	has "rings, and why" 'samples are read from rings: .*BPF does not count tracepoints' "$err"
	run "$PSTAT" profile --engine bpf --call-graph dwarf -f -- true
	has "rings for dwarf" 'samples are read from rings: .*frame pointers' "$err"
}

# ids PID: numbers of the BPF programs that a process has open.
ids() { sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u; }

# left ID...: those of them that the kernel still has.
left() { "$PYTHON" "$ROOT/tests/cli/bpf_programs.py" | awk -v ids="$*" 'index(" " ids " ", " " $1 " ")'; }

# The kernel frees a program some time after its last descriptor: it is waited for.
test_killed()
{
	need_bpf_waits
	need_root
	"$PSTAT" profile --engine bpf --wall -p $$ -f >out 2>said &
	pid=$!
	# Not the first that it has open: that may be one that only tries whether it can be loaded.
	for _ in $(seq 600); do
		programs=$(ids $pid)
		loaded=$(left $programs)
		[[ $loaded != *" leave_cpu"* ]] && kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	has "it is loaded" ' count_sample$' "$loaded"
	has "so is that of the waits" ' leave_cpu$' "$loaded"
	kill -KILL $pid
	wait $pid 2>/dev/null
	for _ in $(seq 600); do
		[ -n "$(left $programs)" ] || break
		sleep 0.1
	done
	same "programs that are left" "" "$(left $programs)"
}

run_tests
