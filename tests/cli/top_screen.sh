#!/bin/bash
# pstat top on a terminal: the browser, whose table comes anew while its process runs. pty_screen.py reads the screen.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS='' TERM=xterm LC_ALL=C.UTF-8 SCREEN_STDERR=$tmp/stderr
unset COLUMNS LINES

"$PSTAT" version --build-options | grep -q '^ *ncurses *\[ on *\].*terminals$' ||
	skip "needs ncurses, which this pstat is without, or which is not installed"

# A program that runs until the test ends, and what samples it.
start()
{
	"$WORK/callers" known 10000000 >/dev/null &
	running=$!
	top=("$PSTAT" top -e cpu-clock:u -d 0.1 -p $running)
}
stop()
{
	kill $running
	wait $running 2>/dev/null
}

# on STEP... -- OPTION...: of top of the program.
on()
{
	local steps=()

	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	run "$PYTHON" "$ROOT/tests/cli/pty_screen.py" 20 120 "${steps[@]}" -- "${top[@]}" "$@"
	[ "$status" = 0 ] || fail "the steps: ${steps[*]}" "$out$err"
}

test_shows_what_runs()
{
	start
	on 'row ^ *[0-9.]+% +callers +\[\.\] burn' show 'keys q' end modes -- --no-children
	has "the title" "^Samples: [0-9]+K? +of event 'cpu-clock:u'" "$out"
	has "the status line" '^\? help  q quit  top: [0-9]+ samples/s, lost [0-9]+, missed [0-9]+, throttled [0-9]+, own CPU [0-9.]+%, cpu-clock:u at 4000 Hz, process' "$out"
	has_not "there is no other event" 'Tab: the next' "$out"
	same "q leaves; the terminal is as it was" "status 0
modes as before, screen as before, cursor shown, mouse off" "$(tail -2 <<<"$out")"
	on 'row %' 'signal INT' end modes --
	same "Ctrl-C leaves, too" "signal 2
modes as before, screen as before, cursor shown, mouse off" "$out"
	stop
}

test_keys()
{
	start
	on 'row burn' 'keys o' 'until ^Sort by' 'keys CtrlU' type\ comm 'keys Enter' 'row ^ *[0-9.]+% +callers$' 'keys Esc' \
		'keys q' end -- --no-children
	same "other keys are asked of the same samples" "status 0" "$out"
	on 'row burn' 'keys a' 'until ^ *[0-9.]+ : +[0-9a-f]+: ' 'keys Esc' 'row burn' 'keys q' end -- --no-children
	same "a shows code while it runs" "status 0" "$out"
	on 'row burn' 'keys !' 'until ^lost [0-9]+, missed' 'keys Esc' 'keys z' 'row burn' 'keys q' end -- --no-children
	same "! tells losses, z begins anew" "status 0" "$out"
	stop
}

test_its_process_ends()
{
	"$WORK/callers" known 1000 >/dev/null &
	running=$!
	top=("$PSTAT" top -e cpu-clock:u -d 0.1 -p $running)
	on 'until top: ended, ' 'row burn' 'keys o' 'until ^Sort by' 'keys CtrlU' type\ comm 'keys Enter' \
		'row ^ *[0-9.]+% +callers$' 'keys Esc' 'keys q' end -- --no-children
	wait $running
	same "the last table stays, and is asked, until one leaves" "status 0" "$out"
}

test_prints_where_it_is_asked_to()
{
	start
	for how in --stdio --no-pager; do
		on 'until ^# top: ' 'until callers +\[\.\] burn' 'signal INT' end -- --no-children -E 3 $how
		same "$how" "status 0" "$out"
	done
	TERM=dumb on 'until ^# top: ' 'until callers +\[\.\] burn' 'signal INT' end -- --no-children -E 3
	same "TERM=dumb" "status 0" "$out"
	on 'until ^# top: ' end -- --once
	same "--once" "status 0" "$out"
	stop
}

run_tests
