#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat report on a terminal: each key, beside what --stdio says of the same. The browser runs on a pseudo terminal
# whose screen pty_screen.py reads; the recordings are those in tests/golden.
#
# run: once
. "${0%/*}/screen.bash"
golden=$ROOT/tests/golden
long=(-i "$golden/long_names.data" --symfs "$golden/symfs" --kallsyms "$golden/kallsyms")

# browse LINES COLUMNS STEP... -- OPTION...: of pstat report, whose recording is the one with long names unless they
# have -i. $out is what the steps print.
browse()
{
	local steps words recording=()

	split_steps "${@:3}"
	[[ " ${words[*]} " = *" -i "* ]] || recording=("${long[@]}")
	on "$1" "$2" ready "${steps[@]}" -- "$PSTAT" report "${recording[@]}" "${words[@]}"
}

# rows: of a screen on stdin: the table without marks, title, heads and status, blanks squeezed.
rows() { sed -e '1,2d;$d' -e 's/^\([ ]*\)[-+] /\1/' -e 's/  */ /g;s/^ //;s/ $//' | grep -v '^$'; }
# printed OPTION...: the same of what --stdio prints.
printed()
{
	case " $* " in
	*" -i "*) ;;
	*) set -- "${long[@]}" "$@" ;;
	esac
	"$PSTAT" report --stdio -q "$@" 2>/dev/null | sed -e '/^#/d;s/  */ /g;s/^ //;s/ $//' | grep -v '^$'
}

# beside NAME STEPS OPTIONS STDIO: with these steps (a line each) the browser with OPTIONS has the rows that --stdio has
# with STDIO.
beside()
{
	local steps=()

	mapfile -t steps <<<"$2"
	# shellcheck disable=SC2086 # words
	browse 60 1000 "${steps[@]}" show -- $3
	# shellcheck disable=SC2086
	same "$1" "$(printed $4)" "$(rows <<<"$out")"
}

test_opens_where_perf_opens_one()
{
	browse 20 100 show 'keys q' end modes -- -g none --no-children
	has "the title" "^Samples: 5  of event 'cycles'" "$out"
	has "heads" '^ *Overhead  Command .*Symbol$' "$out"
	has "the status line" '^\? help  q quit  .*long_names.data' "$out"
	has "q leaves" '^status 0$' "$out"
	same "the terminal is as it was" "$clean" "$(tail -1 <<<"$out")"
	same "nothing on stderr" "" "$(<"$tmp/stderr")"
}

# Who wants text gets it, also on a terminal; and so does who has no terminal that is one.
test_prints_where_it_is_asked_to()
{
	local whole

	whole=$("$PSTAT" report "${long[@]}" --stdio --no-shorten 2>/dev/null)
	for how in --stdio --no-pager; do
		on 200 400 end show -- "$PSTAT" report "${long[@]}" --no-shorten $how
		has "$how" '^status 0$' "$out"
		has "$how" '100.00%--main|---main|^    50.00%|shop_serve' "$out"
		has_not "$how" 'q quit' "$out"
	done
	for how in -j --folded --stats --header-only --tasks; do
		on 50 200 end show -- "$PSTAT" report "${long[@]}" $how
		has "$how ends" '^status 0$' "$out"
		has_not "$how" 'q quit' "$out"
	done
	for term in dumb nonesuch ''; do
		TERM=$term on 200 400 end show -- "$PSTAT" report "${long[@]}"
		has "TERM=$term" 'Total Lost Samples' "$out"
	done
	same "a file" "$whole" "$("$PSTAT" report "${long[@]}" 2>/dev/null)"
	run "$PSTAT" report --tui "${long[@]}"
	same "--tui without a terminal prints" "$whole" "$out"
	has "and says so" '^pstat: --tui: .*printed as with --stdio' "$err"
	fails_with 129 'two ways' "$PSTAT" report --tui --stdio "${long[@]}"
	fails_with 129 "'nosuchkey' is not a key" "$PSTAT" report -s nosuchkey "${long[@]}"
	on 24 80 end show -- "$PSTAT" report "${long[@]}" -s nosuchkey
	has "a wrong word ends it before there is a screen" '^status 129$' "$out"
	has "and is said" "'nosuchkey' is not a key" "$(<"$tmp/stderr")"
}

test_rows_are_those_of_stdio()
{
	local data

	beside "children" "ready" "-g none" "-g none"
	beside "no children" "ready" "-g none --no-children" "-g none --no-children"
	for data in plain kernel_and_module deep_chain mem_samples tracepoints lost tid_reuse renamed weight_struct \
		branch_stack hostile_names cgroups; do
		[ -e "$golden/$data.data" ] || continue
		# The first event with samples alone.
		browse 60 1000 show 'keys q' end -- -i "$golden/$data.data" -g none
		same "$data" "$(printed -i "$golden/$data.data" -g none --no-shorten | head -"$(sed '/^status/d' <<<"$out" | rows | wc -l)")" \
			"$(sed '/^status/d' <<<"$out" | rows)"
	done
}

test_columns_and_order()
{
	beside "x: without children" "keys x
gone Children" "-g none" "-g none --no-children"
	beside "x twice" "keys x
gone Children
keys x
until Children" "-g none" "-g none"
	beside "N" "keys N
until Samples.*Command" "-g none" "-g none -n"
	beside "p" "keys p
until Period" "-g none" "-g none --show-total-period"
	beside "o" "keys o
until ^Sort by: comm,dso,symbol
keys CtrlU
type dso,sym
keys Enter
until Overhead|Children
gone Command" "-g none" "-g none -s dso,sym"
	beside "O" "keys O
until ^Columns: overhead_children
keys CtrlU
type sample,overhead,sym
keys Enter
gone Shared" "-g none" "-g none -F sample,overhead,sym"
	beside "L" "keys L
until ^Only rows
keys CtrlU
type 20
keys Enter
gone spin" "-g none" "-g none --percent-limit 20"
	beside "y, unfolded" "keys y
until Command / Shared
keys E
until . spin" "-g none --no-children -s comm,dso,sym" "-g none --no-children -s comm,dso,sym --hierarchy"
	browse 20 100 'keys o' 'until ^Sort by' type\ ,nonsense 'keys Enter' 'until not a key' show -- -g none
	has "a wrong key is said" "'nonsense' is not a key" "$out"
	has "and the table stays" 'shop_serve' "$out"
	browse 20 100 'keys L' 'until ^Only rows' 'type x' 'keys Enter' 'until not a number' show -- -g none
	has "a wrong limit is said" "is not a number from 0 to 100" "$out"
}

test_filter_while_typing()
{
	beside "each letter counts" "keys /
until ^Symbols with:
type shop
until symbols with: shop$
until ^Symbols with: shop$" "-g none" "-g none --symbol-filter shop"
	beside "Enter keeps it" "keys /
type shop
until symbols with: shop
keys Enter
until ^. help" "-g none" "-g none --symbol-filter shop"
	beside "Esc takes it back" "keys /
type shop
until symbols with: shop
keys Esc
until spin" "-g none" "-g none"
	beside "Backspace" "keys /
type shopx
until No sample
keys Backspace
until shop_serve" "-g none" "-g none --symbol-filter shop"
	browse 20 100 'keys /' 'type xyzzy' 'until No sample is left' 'keys Esc' 'until shop_serve' 'line spin' -- -g none
	has "nothing is left, and back" spin "$out"
}

# zoom KEY REGEX OPTIONS: the key, on the first row; then --stdio with these.
zoom()
{
	beside "$1: as $3" "keys $1
until $2" "-g none --no-children ${4:-}" "-g none --no-children ${4:-} $3"
	browse 40 1000 "keys $1" "until $2" 'keys Left' "gone $2" show -- -g none --no-children ${4:-}
	same "$1, and Left" "$(printed -g none --no-children ${4:-})" "$(rows <<<"$out")"
	browse 40 1000 "keys $1" "until $2" 'keys Esc' "gone $2" show -- -g none --no-children ${4:-}
	same "$1, and Esc" "$(printed -g none --no-children ${4:-})" "$(rows <<<"$out")"
}

test_zooms()
{
	local hostile="-i $golden/hostile_names.data"

	zoom d '  dso: libshop' "-d libshop-inventory-and-orders.so.7"
	zoom n '  comm: inventory' "-c inventory"
	zoom 'End s' '  symbol: spin' "-S spin"
	browse 40 1000 'keys s' 'until  symbol: std::_Rb_tree' show -- -g none --no-children
	same "f: a function of C++" "50.00% inventory libshop-inventory-and-orders.so.7" "$(rows <<<"$out")"
	zoom t '  thread: ' "--tid $("$PSTAT" report "${long[@]}" -q --stdio -g none --no-children -s tid | sed -n '1,/:/s/.*% *\([0-9]*\):.*/\1/p')" "-s tid,sym"
	browse 40 1000 'keys k' 'until dso: .kernel' show -- -i "$golden/kernel_and_module.data" -g none --no-children
	same "k" "$(printed -i "$golden/kernel_and_module.data" -g none --no-children -d '[kernel.kallsyms]')" "$(rows <<<"$out")"
	# Without a column that says which: from a list.
	browse 40 1000 'keys t' 'until Which thread' 'line %' 'keys Enter' 'until  thread: ' show -- -g none --no-children
	has "t: the list" '100.00%.*:inventory' "$out"
	has "t: what is chosen" ' thread: [0-9]+ *$' "$out"
	browse 40 1000 'keys t' 'until Which thread' 'keys Esc' 'gone Which' show -- -g none --no-children
	same "t, and none" "$(printed -g none --no-children)" "$(rows <<<"$out")"
	browse 40 1000 'keys T' 'until ^Time' 'type 0%-40%' 'keys Enter' 'until time: 0%-40%' ready show 'keys Left' 'gone time: ' \
		'until Symbol' show -- -g none --no-children
	same "T" "$(printed -g none --no-children --time 0%-40%)" "$(sed '/^. help/q' <<<"$out" | rows)"
	same "T, and Left" "$(printed -g none --no-children)" "$(sed '1,/^. help/d' <<<"$out" | rows)"
	browse 40 1000 'keys T' 'until ^Time' 'type nonsense' 'keys Enter' 'until ^--time' show -- -g none --no-children
	has "a wrong time is said" "^--time: 'nonsense'" "$out"
	browse 40 1000 'keys d' 'until dso: ' 'keys s' 'until symbol: ' 'keys Left' 'gone symbol: ' show 'keys Left' 'gone dso: ' \
		'line ^Samples' -- -g none --no-children
	has "one step after the other" '^Samples.*  dso: lib[^ ]*$' "$out"
	has_not "to where it began" ' dso: ' "$(tail -1 <<<"$out")"
	# shellcheck disable=SC2086 # words
	browse 40 1000 'keys Down Down Down d' 'until  dso: ' show -- $hostile -g none -s dso
	has "a name with commas" '  dso: .*Samples|^Samples.*  dso: ' "$out"
	has "is found" '^ *[0-9.]+%' "$out"
}

test_list_of_cpus()
{
	browse 30 120 'keys u' 'until Which cpu' 'line %' 'keys Enter' 'until cpu: ' show -- -i "$golden/plain.data" -g none --no-children
	has "u: the list" '%  *[0-9]+' "$out"
	same "u" "$(printed -i "$golden/plain.data" -g none --no-children -C "$(sed -n 's/^Samples.* cpu: \([0-9]*\).*/\1/p' <<<"$out")")" \
		"$(sed '/^Samples/,$!d' <<<"$out" | rows)"
}

# Who knows which CPUs are in one socket says so in the recording (tests/unit/test_screen.c has two of them).
test_list_of_sockets()
{
	local socket

	need_paranoid 2
	"$PSTAT" record -q -o sockets.data --sample-cpu -e cpu-clock:u -c 1000000 "$WORK/callers" known 200 >/dev/null
	socket=$("$PSTAT" report --stdio -q -i sockets.data -s socket 2>/dev/null | sed -n 's/^ *[0-9.]*% *\([0-9][0-9]*\)$/\1/p' | head -1)
	[ -n "$socket" ] || skip "needs a machine that tells its CPUs' sockets"
	browse 30 120 'keys S' 'until Which socket' 'line %' 'keys Enter' 'until  socket: ' show 'keys Left' 'gone  socket: ' -- \
		-i sockets.data -g none --no-children
	has "S: the list" "%  *$socket\$" "$out"
	same "S" "$(printed -i sockets.data -g none --no-children --socket-filter $((10#$socket)))" "$(sed '/^Samples/,$!d' <<<"$out" | rows)"
	has "S: the title" "^Samples.*  socket: $((10#$socket)) *\$" "$out"

}

# l: by wall-clock time, and back; r: what ran with as many threads at once, here two.
test_wall_clock()
{
	local at_once="-i $golden/threads_at_once.data -g none --no-children"

	beside "l" 'keys l' "$at_once -s comm" "$at_once -s comm --latency"
	beside "l twice" $'keys l\nkeys l' "$at_once -s comm" "$at_once -s comm"
	beside "r" $'keys r\nuntil parallelism: 1' "$at_once -s parallelism,comm" "$at_once -s parallelism,comm --parallelism 1"
	browse 30 120 'keys l' 'until does not have the number' show -- -g none --no-children
	has "l: of a recording without switches" 'does not have the number of threads that ran at once' "$out"
}

# The names of the frames, in order: of --stdio without rails and numbers, of the screen without marks and numbers.
frames_printed() { printed "$@" | sed -e 's/^[0-9.]*% //;s/^[| ]*\(--*[0-9.]*%*-*\)*//;s/^[| ]*//' | grep -v '^$'; }
frames() { rows | sed -e 's/^[-+ ]*//;s/^\([0-9.]*%\) \([^0-9]\)/\2/'; }

test_call_trees()
{
	local order

	for order in caller callee; do
		browse 60 1000 'keys E' 'until ^ +- ' show -- -s dso --no-children -g $order
		same "E: frames of $order" "$(frames_printed -s dso --no-children -g $order)" "$(frames <<<"$out")"
	done
	browse 60 1000 'keys g' 'until call trees from the outermost' 'keys E' 'until ^ +- ' show -- -s dso --no-children
	same "g turns the trees" "$(frames_printed -s dso --no-children -g caller)" "$(frames <<<"$out")"
	browse 60 1000 'keys E' 'until ^ +- ' 'keys C' 'gone ^ +- ' show -- --no-children
	same "C folds all" "$(printed --no-children -g none)" "$(rows <<<"$out")"
	browse 60 1000 'keys e' 'until ^ +- ' 'keys c' 'gone ^ +- ' show -- --no-children
	same "c folds what e has unfolded" "$(printed --no-children -g none)" "$(rows <<<"$out")"
	browse 60 1000 'keys e' 'until ^ +- ' show -- -s dso --no-children -g caller
	same "e unfolds one row" "$(frames_printed -s dso --no-children -g caller | head -"$(($(rows <<<"$out" | wc -l) - 1))")" \
		"$(frames <<<"$out" | sed '$d')"
	for key in Enter +; do
		browse 60 1000 "keys $key" 'until ^- ' 'line ^- ' "keys $key" 'gone ^- ' show -- --no-children
		has "$key unfolds" '^- ' "$out"
		same "$key folds" "$(printed --no-children -g none)" "$(sed 1d <<<"$out" | rows)"
	done
	browse 60 1000 'keys e' 'until ^ +- ' 'keys /' 'type shop' 'until symbols with: shop' 'keys Enter' show -- --no-children
	has "what is unfolded stays so" '^ +- ' "$out"
}

test_events()
{
	local two="-i $golden/tracepoints.data"

	# shellcheck disable=SC2086 # words
	browse 40 1000 'line ^Samples' 'keys Tab' 'gone golden:task' 'line ^Samples' 'keys BackTab' 'until golden:task' 'line ^Samples' -- $two
	same "Tab and Shift-Tab" "$(sed -n 1p <<<"$out")" "$(sed -n 3p <<<"$out")"
	check "another event" test "$(sed -n 2p <<<"$out")" != "$(sed -n 1p <<<"$out")"
	browse 40 1000 'keys Tab' 'until no other event' 'line other' --
	has "there is no other one" 'no other event' "$out"
	two="-i $golden/group_read.data -g none"
	beside "a group" "ready" "$two" "$two"
	beside "by its third event" "keys 2
row 75.00%" "$two" "$two --group-sort-idx 2"
	# shellcheck disable=SC2086
	browse 40 1000 'keys 7' 'until no event 7' 'line event' -- $two
	has "there is no eighth" 'no event 7' "$out"
	# shellcheck disable=SC2086
	browse 40 1000 'keys G' 'gone anon group' 'line ^Samples' -- $two
	has "G: one after the other" "event.? 'cycles'" "$out"
}

test_names_and_scrolling()
{
	browse 30 80 show -- -g none
	has "shortened in the middle" 'std::_Rb_t…int_unique<…>' "$out"
	check "no line is longer" test "$(wc -L <<<"$out")" -le 80
	browse 30 80 'keys Right Right Right' 'gone Self' show 'keys Left Left Left' 'until Children' 'line …' -- -g none
	has "Right: whole names" 'std::_Rb_tree<std::__cxx11' "$out"
	has "Left: back" '…' "$(tail -1 <<<"$out")"
	browse 30 80 'keys w' 'gone …' show 'keys w' 'until …' 'line …' -- -g none
	has "w: whole names" 'libshop-inventory-and-orders.so.7 ' "$out"
	has "w again: names that fit" 'libshop…rs.so.7' "$out"
	browse 30 80 'keys Down Down Down W' 'until whole row' show -- -g none
	has "W: all of it" '_M_emplace_hint_unique<std::piecewise_construct_t const&, std::tuple<.*std::tuple<> >' "$(tr -d '\n' <<<"$out")"
	LC_ALL=C browse 30 80 show -- -g none
	has "plain" 'std::_Rb_tree<\.\.\.>|\.\.\.' "$out"
	has_not "no UTF-8 where there is none" '[^ -~]' "$(LC_ALL=C sed 's/[ -~]//g' <<<"$out")"
}

# To the end of the longest line in sight, and no further: so often one goes back, too.
test_scrolling_ends()
{
	local right

	right=$(printf ' >%.0s' {1..300})
	browse 30 80 'keys Right' 'gone …' "keys$right" show 'keys >' show -- -g none
	same "nothing more is to be seen: nothing moves" "$(head -30 <<<"$out")" "$(tail -n +31 <<<"$out")"
	has "the end of the longest line is at the edge" 'std::tuple<> >$' "$(sed -n '3,29p' <<<"$out")"
	browse 30 80 show 'keys Right' show -- -g none --no-children -s comm,dso
	same "all is in sight" "$(head -30 <<<"$out")" "$(tail -n +31 <<<"$out")"
	browse 100 60 'keys ?' 'until ^Keys' "keys$right" show 'keys Left Left Left' 'until ^Enter  ' -- -g none
	has "a text ends as well" 'or from the function$' "$out"
}

test_moving()
{
	local n

	n=$(printed -g none | wc -l)
	check "$n rows do not fit" test "$n" -gt 6
	browse 8 100 'keys End' "until spin" selected -- -g none
	has "End" 'spin' "$out"
	browse 8 100 'keys End' 'until spin' 'keys Home' 'until main' selected -- -g none
	has "Home" 'main' "$out"
	browse 8 100 'keys Down Down Down Down Down Down' 'until push_back' selected -- -g none
	has "Down, beyond the last line" 'push_back' "$out"
	browse 8 100 'keys PgDn' 'until shop_protocol' selected -- -g none
	has "PgDn" 'shop_protocol|push_back|function' "$out"
}

test_mouse()
{
	local term

	for term in xterm linux; do # two ways to say where it is
		TERM=$term browse 12 100 'click 4' selected 'wheel down' selected 'wheel up' selected 'keys m' 'until What to do' 'click 4' selected \
			'keys Esc' 'gone What to do' 'keys ?' 'until ^Keys' 'wheel down' 'gone ^Enter  ' 'wheel up' 'until ^Enter  ' 'click 4' 'until ^Enter  ' -- -g none
		same "$term: click, wheel down, wheel up" "$(browse 12 100 'keys Down' selected 'keys Down' selected 'keys Up' selected -- -g none; echo "$out")" \
			"$(head -3 <<<"$out")"
		same "$term: a line of the menu" "Only this file (dso)" "$(sed -n 4p <<<"$out")"
	done
}

# What is no row is no row's neighbour: title, heads, the status line, and what is blank.
test_clicks_beside_rows()
{
	browse 8 100 'click 5' selected 'click 1' selected 'click 2' selected 'click 8' selected -- -g none
	same "rows" 1 "$(sort -u <<<"$out" | wc -l)"
	browse 20 100 'keys Down' selected 'click 15' selected 'click 20' selected -- -g none --no-children -s comm,dso,sym
	same "below the rows" 1 "$(sort -u <<<"$out" | wc -l)"
	browse 20 100 'keys m Down' 'until What to do' selected 'click 1' selected 'click 18' selected 'click 20' selected -- -g none
	same "a menu" "Only this thread" "$(sort -u <<<"$out")"
}

test_texts()
{
	browse 100 120 'keys ?' 'until ^Keys' show 'keys Esc' 'gone ^Keys' 'keys h' 'until ^Keys' 'keys q' 'gone ^Keys' 'keys F1' 'until ^Keys' \
		-- -g none
	has "? has the keys of rows" '^e  *unfolds all below the row$' "$out"
	has "? has the last one" '^q  *leaves' "$out"
	has_not "keys of code" 'the hottest' "$out"
	browse 30 100 'keys !' 'until Losses and doubts' show -- -i "$golden/lost.data"
	has "!: losses" 'lost' "$out"
	browse 30 200 'line ^. help' -- -i "$golden/lost.data"
	has "losses are in the status line" 'lost: 3 samples, lost: 5 records, [0-9]+ notes' "$out"
	browse 60 100 'keys i' 'until Header of' show -- -i "$golden/plain.data"
	has "i: the header" 'hostname|captured|cmdline|nrcpus' "$out"
	browse 40 100 'keys m' 'until What to do' show 'keys Esc' 'gone What to do' -- -g none
	has "m: the menu" 'Only this thread' "$out"
	browse 40 100 'keys Enter' 'until What to do' 'keys End' 'keys Enter' end -- -g none
	has "Enter on a row without folds is the menu, whose last row leaves" 'status 0' "$out"
}

test_annotate()
{
	need_paranoid 2
	need_capstone
	"$PSTAT" record -q -o code.data -e cpu-clock:u -c 1000000 "$WORK/callers" known 200 >/dev/null
	code=$("$PSTAT" annotate --stdio2 -i code.data burn 2>/dev/null)
	[ -n "$code" ] || skip "needs code of this machine that capstone knows"
	browse 200 200 'until burn' 'keys a' 'until ^burn  .Esc' show 'keys q' 'gone ^burn' 'keys q' end -- -i code.data --no-children -g none -s sym
	same "a: as pstat annotate" "$(tr '\t' ' ' <<<"$code")" "$(sed -e '1d;/^. help/,$d' <<<"$out" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}')"
	has "and back" '^status 0$' "$out"
	browse 12 100 'until burn' 'keys a' 'until ^burn  .Esc' show -- -i code.data --no-children -g none -s sym
	hottest=$(sed -n 's/^ *\([0-9.]*\) :.*/\1/p' <<<"$code" | sort -rn | head -1)
	has "the hottest instruction is in sight" "^ *$hottest :" "$out"
	browse 30 100 'keys a' 'until this row is no function' 'line no function' -- -i code.data --no-children -g none -s comm,dso
	has "without a function" "no function" "$out"
}

# The manual's picture is what the browser shows.
test_the_picture_in_the_manual()
{
	cp "$golden/long_names.data" shop.data
	browse 14 78 'keys Down e' 'until ^ +- 95' show -- -i shop.data --symfs "$golden/symfs" --kallsyms "$golden/kallsyms"
	same "man/pstat-report.1" "$(picture pstat-report.1 BROWSER)" "$out"
}

test_printing_to_a_file()
{
	browse 40 100 'keys x' 'gone Children' 'keys P' 'until ^Print to the new file: perf.hist.0' 'keys Enter' 'until written to' 'keys P' \
		'until perf.hist.1' 'keys CtrlU' 'type perf.hist.0' 'keys Enter' 'until exists' 'line exists' --
	has "a file that is there stays" 'perf.hist.0: File exists' "$out"
	same "P is --stdio" "$("$PSTAT" report "${long[@]}" --stdio --no-children 2>/dev/null)" "$(<perf.hist.0)"
}

# The stacks of the page are those of --folded with the filters at hand, without the strip of times.
test_flame_graph_of_what_is_shown()
{
	browse 40 100 'keys f' 'until ^Print to the new file: flamegraph.0.html' 'keys Enter' 'until written to' 'keys d' 'until dso: ' \
		'keys f' 'until flamegraph.1.html' 'keys Enter' 'until written to flamegraph.1' 'line dso: ' -- --no-children
	same "f: all that is there" "$("$PSTAT" report "${long[@]}" --folded 2>/dev/null | LC_ALL=C sort)" \
		"$("$PYTHON" "$ROOT/tests/cli/flamegraph.py" folded flamegraph.0.html | LC_ALL=C sort)"
	same "f: what a zoom leaves" "$("$PSTAT" report "${long[@]}" --folded -d "$(sed -n 's/.*dso: \([^ ,]*\).*/\1/p' <<<"$out")" \
		2>/dev/null | LC_ALL=C sort)" "$("$PYTHON" "$ROOT/tests/cli/flamegraph.py" folded flamegraph.1.html | LC_ALL=C sort)"
}

# Rows by what is not of code alone are parts of the page.
test_flame_graph_by_parents()
{
	browse 40 100 'keys o' 'until ^Sort by' 'keys CtrlU' 'type parent' 'keys Enter' 'row other' 'keys V' 'until ^Print to' \
		'keys Enter' 'until written to flamegraph.0' 'keys q' end --
	same "V: parents" "status 0" "$out"
	same "V: its group" "[other] 5" "$("$PYTHON" "$ROOT/tests/cli/flamegraph.py" groups flamegraph.0.html)"
}
run_tests
