#!/bin/bash
# SPDX-License-Identifier: MIT
# What the browser of pstat report reads, and reads again: recordings in the layout of pipes, and through pipes; questions
# that want another reading, one after the other; pictures of them.
#
# run: once
. "${0%/*}/screen.bash"
golden=$ROOT/tests/golden

# rows: of a screen, without what says where.
rows() { sed '/^. help/,$d' | sed '1,2d;s/^[+ ] *//;s/  */ /g;s/ $//' | grep -v '^$'; }
# printed FILE OPTION...: the same of --stdio.
printed() { "$PSTAT" report --stdio -g none -i "$@" 2>/dev/null | grep -v '^#' | sed 's/^ *//;s/  */ /g;s/ $//' | grep -v '^$'; }

test_layout_of_pipes()
{
	local file

	for file in in_a_pipe pipe_named_first; do
		on 40 120 ready show 'keys q' end -- "$PSTAT" report -i "$golden/$file.data" -g none
		same "$file: the rows" "$(printed "$golden/$file.data")" "$(rows <<<"$out")"
		has "$file: and it leaves" '^status 0$' "$out"
	done
}

# A pipe whose writer takes its time: keys are answered meanwhile, and what came is asked again.
test_through_a_pipe()
{
	mkfifo pipe go
	{ head -c 700 "$golden/in_a_pipe.data"; read -r <go; tail -c +701 "$golden/in_a_pipe.data"; } >pipe &
	on 40 120 'until : reading' 'keys ?' 'until ^Keys' 'keys q' 'until : reading' 'keys i' 'until Esc: back' 'keys q' 'until : reading' \
		'run cp /dev/null go' ready 'until [0-9]%' show 'keys T' 'until ^Time' 'type 0,' 'keys Enter' 'until time: 0,' ready \
		'until [0-9]%' show 'keys q' end -- "$PSTAT" report -i pipe -g none
	wait
	same "the rows" "$(printed "$golden/in_a_pipe.data")" "$(sed '/^. help/q' <<<"$out" | rows)"
	same "the rows of all times, read again" "$(printed "$golden/in_a_pipe.data")" \
		"$(sed '1,/^. help/d' <<<"$out" | rows)"
	has "and it leaves" '^status 0$' "$out"
}

# Each span of time is a reading of its own, more than are kept; a picture of the last one has its samples.
test_many_readings()
{
	on 40 160 ready 'keys O' 'until ^Columns' 'keys CtrlU' 'type overhead,trace,comm' 'keys Enter' 'gone ^Columns' ready \
		'keys T' 'until ^Time' 'type 0%-40%' 'keys Enter' 'gone ^Time' ready 'keys V' 'until ^Print to the new file: flamegraph' \
		'keys Enter' 'until written to' 'keys T' 'until ^Time' 'keys CtrlU' 'type 0%-50%' 'keys Enter' 'gone ^Time' ready 'keys V' \
		'until ^Print' 'keys Enter' 'until written to' 'keys T' 'until ^Time' 'keys CtrlU' 'type 0%-100%' 'keys Enter' 'gone ^Time' ready \
		'keys T' 'until ^Time' 'keys CtrlU' 'type 0%-40%' 'keys Enter' 'gone ^Time' ready 'keys V' 'until ^Print' 'keys Enter' \
		'until written to' show 'keys Left Left Left Left' ready show 'keys q' end -- "$PSTAT" report -i "$golden/tracepoints.data" -s trace,comm
	has "it goes on and leaves" '^status 0$' "$out"
	for n in 0 1 2; do
		check "picture $n is there" test -s "flamegraph.$n.html"
		has_not "picture $n: has samples" 'The recording has no samples' "$(<"flamegraph.$n.html")"
	done
	same "the first and the third are of the same span" "$(grep -o '"samples":[0-9]*' flamegraph.0.html)" \
		"$(grep -o '"samples":[0-9]*' flamegraph.2.html)"
}

run_tests
