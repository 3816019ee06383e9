#!/bin/bash
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

	why=$("$PSTAT" profile --engine bpf -e page-faults -c 1 -f -- true 2>&1 >/dev/null | sed -n 's/.*samples come by rings: //p')
	[ -z "$why" ] || skip "needs BPF: $why"
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
	has "why" 'samples are in no cell: no room for one more stack' "$err"
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

# What it is told by a filter that refuses bpf(2), as in a container.
test_refused()
{
	run "$WORK/no_bpf" "$PSTAT" profile --engine bpf -e page-faults:u -c 1 -f -- "$exact" pages:1000
	[ "$status" -ne 77 ] || skip "seccomp filters are refused here"
	same "exit status" 0 "$status"
	has "rings, and why" 'samples come by rings: ' "$err"
	check "samples come all the same" test "$(sum <<<"$out")" -gt 900
}

test_refused_to_a_user()
{
	is_root && skip "needs a user without rights"
	run "$PSTAT" profile --engine bpf -e page-faults:u -c 1 -f -- "$exact" pages:1000
	same "exit status" 0 "$status"
	has "rings, and why" 'samples come by rings: ' "$err"
	check "samples come all the same" test "$(sum <<<"$out")" -gt 900
}

test_other_events()
{
	need_bpf
	need_tracefs
	run "$PSTAT" profile --engine bpf -e syscalls:sys_enter_getppid -f -- true
	[[ $err != *"not found"* ]] || skip "needs the tracepoint sys_enter_getppid"
	has "rings, and why" 'samples come by rings: .*BPF does not count tracepoints' "$err"
	run "$PSTAT" profile --engine bpf --call-graph dwarf -f -- true
	has "rings for dwarf" 'samples come by rings: .*frame pointers' "$err"
}

# ids PID: numbers of the BPF programs that a process has open.
ids() { sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u; }

# left ID...: those of them that the kernel still has.
left() { "$PYTHON" "$ROOT/tests/cli/bpf_programs.py" | awk -v ids="$*" 'index(" " ids " ", " " $1 " ")'; }

# The kernel frees a program some time after its last descriptor: it is waited for.
test_killed()
{
	need_bpf
	need_root
	"$PSTAT" profile --engine bpf -p $$ -f >out 2>said &
	pid=$!
	# Not the first that it has open: that may be one that only tries whether it can be loaded.
	for _ in $(seq 600); do
		programs=$(ids $pid)
		loaded=$(left $programs)
		[[ $loaded != *" count_sample"* ]] && kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	has "it is loaded" ' count_sample$' "$loaded"
	kill -KILL $pid
	wait $pid 2>/dev/null
	for _ in $(seq 600); do
		[ -n "$(left $programs)" ] || break
		sleep 0.1
	done
	same "programs that are left" "" "$(left $programs)"
}

run_tests
