#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat top on a terminal: the browser, whose table comes anew while its process runs. pty_screen.py reads the screen.
#
# run: once
. "${0%/*}/screen.bash"
need_paranoid 2

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

# on_top STEP... -- OPTION...: of top of the program; with room for a status line of large numbers.
on_top()
{
	local steps words

	split_steps "$@"
	on 20 160 "${steps[@]}" -- "${top[@]}" "${words[@]}"
}

test_shows_what_runs()
{
	start
	on_top 'row ^ *[0-9.]+% +callers +\[\.\] burn' show 'keys q' end modes -- --no-children
	has "the title" "^Samples: [0-9]+K? +of event 'cpu-clock:u'" "$out"
	has "the status line" '^\? help  q quit  top: lost [0-9]+, missed [0-9]+, own CPU [0-9.]+%, [0-9]+ samples/s, throttled [0-9]+, cpu-clock:u at 4000 Hz, process' "$out"
	has_not "there is no other event" 'Tab: the next' "$out"
	same "q leaves; the terminal is as it was" "status 0
$clean" "$(tail -2 <<<"$out")"
	on_top 'row %' 'signal INT' end modes --
	same "Ctrl-C leaves, too" "signal 2
$clean" "$out"
	stop
}

# The manual's picture is what the screen shows, but for the numbers.
test_the_picture_in_the_manual()
{
	start
	# Of 500 samples between 20% and 50% are one_third's, by more than 6 sigma.
	on 12 88 'row burn' 'until ^Samples: ([5-9][0-9]{2}|[0-9]+K)' 'keys e' 'until ^ +- .*two_thirds' show -- "$PSTAT" top -p $running \
		-e cpu-clock:u -g --max-stack 4 --no-children --percent-limit 20
	stop
	# How much of the last line is cut is a matter of its numbers, as is whether samples are told by thousands.
	sed 's/\(own CPU [0-9.]*%\).*/\1/; s/^\(Samples: [0-9]*\)K/\1/' <<<"$out" >actual
	picture pstat-top.1 'On a terminal' | sed 's/\(own CPU [0-9.]*%\).*/\1/; s/^\(Samples: [0-9]*\)K/\1/' >expected
	check "man/pstat-top.1" "$PYTHON" "$ROOT/tests/cli/examples.py" same expected actual
}

test_keys()
{
	start
	on_top 'row burn' 'keys o' 'until ^Sort by' 'keys CtrlU' type\ comm 'keys Enter' 'row ^ *[0-9.]+% +callers$' 'keys Esc' \
		'keys q' end -- --no-children
	same "other keys are asked of the same samples" "status 0" "$out"
	on_top 'row burn' 'keys a' 'until ^ *[0-9.]+ : +[0-9a-f]+: ' 'keys Esc' 'row burn' 'keys q' end -- --no-children
	same "a shows code while it runs" "status 0" "$out"
	on_top 'row burn' 'keys !' 'until ^lost [0-9]+, missed' 'keys Esc' 'keys z' 'row burn' 'keys q' end -- --no-children
	same "! tells losses, z begins anew" "status 0" "$out"
	stop
}

# What is shown stays as it is, while its process runs on: none comes and none is forgotten.
test_stands_still()
{
	start
	on_top 'row burn' 'keys f' 'until top: stopped .f., lost' 'stays 2 stopped' show 'stays 1 stopped' show 'keys f' 'gone stopped' \
		'until , [0-9]{3,} samples/s' 'keys V' 'until ^Print to the new file: flamegraph' 'keys Esc' 'row burn' 'keys q' end -- -n --no-children
	stop
	has "it goes on, and leaves" "^status 0$" "$out"
	grep burn <<<"$out" >rows
	same "the rows stayed" "$(sed -n 1p rows)" "$(sed -n 2p rows)"
	check "they are there" test "$(wc -l <rows)" -ge 2
}

# What is lost and what pstat costs is in sight where there is little room.
test_on_80_columns()
{
	start
	on 20 80 'row burn' 'keys f' 'until top: stopped .f., lost [0-9]+, missed [0-9]+, own CPU [0-9.]+%, ' 'keys q' end -- "${top[@]}" --no-children
	same "it stands still" "status 0" "$out"
	stop
}

# What is behind a table is forgotten by and by, as behind those that are printed.
test_forgets()
{
	"$WORK/exact" wait spins:1500 pauses &
	running=$!
	# It catches SIGUSR1, which is blocked until it waits.
	until grep -Eq '^SigCgt:.*[2367abef]..$' /proc/$running/status; do sleep 0.01; done
	top=("$PSTAT" top -e cpu-clock:u -d 0.1 -p $running)
	on_top 'until top: .*process' "run kill -USR1 $running" 'row ^ *[0-9.]+% +[0-9]{3,} +exact' \
		'until ^ *[0-9.]+% +[0-9]{1,2} +exact|No sample is left' 'keys q' end -- -n -s dso
	same "hundreds of samples of a process that sleeps become fewer" "status 0" "$out"
	stop
}

# The file of a function whose code is shown stays, when its samples and its process are gone and all other files of such
# are forgotten.
test_code_of_a_file_that_went()
{
	need_capstone
	need_paranoid 0
	cat >many.c <<'C'
#include <stdlib.h>
__asm__(".macro one\n.globl filler_of_a_table_of_symbols_\\@\n.type filler_of_a_table_of_symbols_\\@,@function\n"
	"filler_of_a_table_of_symbols_\\@: nop\n.endm\n.rept 8000\none\n.endr\n");
static volatile long sink;
__attribute__((noinline)) void spin_a_lot(long n) { while (n--) sink++; }
int main(int argc, char **argv) { for (long i = atol(argv[argc - 1]); i--;) spin_a_lot(10000000); return 0; }
C
	"${CC:-cc}" -O1 -o many many.c 2>cc_err || skip "needs a compiler: $(head -n 3 cc_err)"
	./many 1000000 &
	running=$!
	on 30 150 'row %' 'keys / s p i n _ a Enter' 'row spin_a_lot' 'keys a' 'until ^spin_a_lot  .Esc' "run kill $running" \
		'stays 3 ^spin_a_lot  .Esc' 'keys s' 'until ^spin_a_lot  .Esc' 'keys >' 'keys Esc' 'until ^Samples' 'keys q' end -- \
		"$PSTAT" top -a -e cpu-clock:u -F 500 -d 0.1 --no-children -s symbol -z
	wait $running 2>/dev/null
	same "it is there, and can be left" "status 0" "$(tail -1 <<<"$out")"
}

test_its_process_ends()
{
	start
	on_top 'row burn' "run kill $running" 'until top: ended, ' 'row burn' 'keys o' 'until ^Sort by' 'keys CtrlU' type\ comm 'keys Enter' \
		'row ^ *[0-9.]+% +callers$' 'keys Esc' 'keys q' end -- --no-children
	wait $running 2>/dev/null
	same "the last table stays, and is asked, until one leaves" "status 0" "$out"
}

test_prints_where_it_is_asked_to()
{
	start
	for how in --stdio --no-pager; do
		on_top 'until ^# top: ' 'until callers +\[\.\] burn' 'signal INT' end -- --no-children -E 3 $how
		same "$how" "status 0" "$out"
	done
	TERM=dumb on_top 'until ^# top: ' 'until callers +\[\.\] burn' 'signal INT' end -- --no-children -E 3
	same "TERM=dumb" "status 0" "$out"
	on_top 'until ^# top: ' end -- --once
	same "--once" "status 0" "$out"
	stop
}

run_tests
