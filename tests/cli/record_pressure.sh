#!/bin/bash
# SPDX-License-Identifier: MIT
# Buffers that are too small for what comes while the reader of a pipe stands still: first stacks are cut, then
# samples are dropped, and no record of a task is; each is counted, and told in the recording.
#
# run: alone
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

exact=$WORK/exact
faults=200000 few_faults=20000 children=100

# record_to_slow_reader OPTIONS... -- COMMAND: through a pipe whose reader reads nothing while COMMAND runs. The
# recording is in ./x, what was said in $err.
record_to_slow_reader()
{
	local options=()

	until [ "$1" = -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f begun done
	"$PSTAT" record -o - --buffer-size 1M "${options[@]}" -- sh -c 'touch begun; "$@"; touch done' - "$@" 2>said |
		"$WORK/slow_reader" x begun done
	same "the recorder's status, and the reader's" "0 0" "${PIPESTATUS[*]}"
	err=$(cat said)
	"$PYTHON" "$ROOT/tests/cli/taken.py" x >counts
}

# taken KIND: how many of them are in ./x.
taken() { awk -v kind="$1" '$1 == kind { n = $2 } END { print n + 0 }' counts; }
# said WORD: the number before it in what the recorder said, 0 where it is not there.
said() { printf '%s\n' "$err" | sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1[ ,:].*/\1/p" | tail -n 1 | grep . || echo 0; }

# None of them is missing, whatever else came; but on a busy machine the kernel itself may lose some in a full ring, which
# it counts among all that it lost. unit/test_ring_reader has it to the record.
tasks_are_there()
{
	# A shell, touch twice, the program, and its children.
	local kind tasks=$((children + 4))

	for kind in FORK EXIT; do
		check "$kind of each" test $(($(taken $kind) + $(taken lost))) -ge $tasks
		check "$kind of no other" test "$(taken $kind)" -le $tasks
	done
	check "names of children" test $(($(taken COMM) + $(taken lost))) -ge $tasks
}

test_samples_are_dropped()
{
	record_to_slow_reader -e page-faults:u -c 1 -- "$exact" pages:$faults "forks:$children" name:child pages:1
	check "samples are dropped: $(said dropped)" test "$(said dropped)" -gt 0
	same "what was told" "$(taken SAMPLE)" "$(said samples)"
	check "each is in the recording or counted" test $(($(taken SAMPLE) + $(said lost))) -ge $((faults + children))
	check "none is counted twice" test $(($(taken SAMPLE) + $(said lost))) -le $((faults + 300 * children))
	same "the recording says so too" "$(said lost)" "$(taken lost_samples)"
	tasks_are_there
	check "pstat reads it" "$PSTAT" script -D -i x
	! command -v perf >/dev/null || check "perf reads it" perf script -i x
}

test_stacks_are_cut_first()
{
	record_to_slow_reader -e page-faults:u -c 1 --call-graph dwarf,raw -- "$exact" pages:$few_faults \
		"forks:$children" name:child pages:1
	check "stacks are cut: $(said cut)" test "$(said cut)" -gt 0
	same "so many samples have no stack" "$(said cut)" "$(taken cut)"
	check "each is in the recording or counted" test $(($(taken SAMPLE) + $(said lost))) -ge $((few_faults + children))
	tasks_are_there
	check "pstat reads it" "$PSTAT" report -i x
	! command -v perf >/dev/null || check "perf reads it" perf script -i x
}

# What the workers have no time for is cut and dropped as it is without them. They take the CPU that the reader of
# the rings may need, so that the kernel may lose records of tasks here.
test_unwound_stacks()
{
	record_to_slow_reader -e page-faults:u -c 1 --call-graph dwarf -- "$exact" pages:$few_faults \
		"forks:$children" name:child pages:1
	check "each is in the recording or counted" test $(($(taken SAMPLE) + $(said lost))) -ge $((few_faults + children))
	same "none has a stack" "0 0" "$(taken whole) $(taken cut)"
	same "each has its end" "$(taken SAMPLE)" "$(said "stacks unwound")"
	check "pstat reads it" "$PSTAT" report -i x
	! command -v perf >/dev/null || check "perf reads it" perf script -i x
}

run_tests
