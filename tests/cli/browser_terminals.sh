#!/bin/bash
# SPDX-License-Identifier: MIT
# The browser of pstat report on terminals of all kinds: tiny and huge, resized, without colours, lost; with hostile
# names and recordings that are cut; and what is left of the terminal behind it.
#
# run: once
. "${0%/*}/screen.bash"
golden=$ROOT/tests/golden
long=(-i "$golden/long_names.data" --symfs "$golden/symfs" --kallsyms "$golden/kallsyms")
unset NO_COLOR

test_sizes()
{
	local size

	for size in '5 20' '3 10' '2 3' '1 1' '200 500'; do
		# shellcheck disable=SC2086 # words
		on $size 'keys E Down End PgUp Right Left / a b' 'keys Enter ? q m Down q W q' 'keys Esc q' end modes -- "$PSTAT" report "${long[@]}"
		same "$size: all goes on" "status 0
$clean" "$out"
	done
	on 5 20 ready show -- "$PSTAT" report "${long[@]}" -g none --no-children
	has "5 lines of 20 columns have rows" '^ *50.00%' "$out"
	check "and none is longer" test "$(wc -L <<<"$out")" -le 20
	on 200 500 ready show -- "$PSTAT" report "${long[@]}" -g none --no-children
	has "200 lines of 500 columns" '50.00%.*Rb_tree' "$out"
	same "the status line is the last one" 200 "$(wc -l <<<"$out")"
}

test_resized_in_the_middle()
{
	on 24 80 ready 'keys e' 'until ^ +- ' 'size 5 20' 'until ^. help  q quit' 'size 40 200' 'until main *$' ready 'keys C' 'gone ^ +- ' show \
		'size 10 60' 'until ^. help' show -- "$PSTAT" report "${long[@]}" -g caller
	on 40 200 ready show -- "$PSTAT" report "${long[@]}" -g caller
	fresh=$out
	on 5 20 ready 'size 40 200' 'until Shared Object' 'until spin' show -- "$PSTAT" report "${long[@]}" -g caller
	same "larger: as if it had always been so" "$fresh" "$out"
	on 24 80 ready 'keys ?' 'until ^Keys' 'size 6 30' 'until ^Keys' 'size 24 80' 'until scrolls left' 'keys q' 'until Samples' 'keys m' \
		'until What' 'size 4 20' 'size 24 80' 'until Leave' 'keys Esc' 'keys /' 'until ^Symbols' 'size 6 30' 'type shop' 'until : shop' \
		'size 24 80' 'until shop_serve' 'keys Enter q' end modes -- "$PSTAT" report "${long[@]}"
	same "in a text, a list and while typing" "status 0
$clean" "$out"
}

# Another size while it stands still is told nobody but the shell.
test_resized_while_it_stands_still()
{
	# shellcheck disable=SC2016 # $@ is the inner shell's
	local shell='"$@"; echo; echo stands; read -r; fg >/dev/null'

	on 40 200 ready show -- "$PSTAT" report "${long[@]}" -g caller
	fresh=$out
	# A shell's job control needs a terminal on stderr.
	SCREEN_STDERR='' on 10 60 ready 'keys CtrlZ' 'until ^stands' 'size 40 200' 'keys Enter' 'until Shared Object' 'until spin' ready show 'keys q' end modes -- \
		bash -m -c "$shell" bash "$PSTAT" report "${long[@]}" -g caller
	same "larger: as if it had always been so" "$fresh" "$(head -n -2 <<<"$out")"
	same "and it ends as ever" "status 0
$clean" "$(tail -2 <<<"$out")"
	SCREEN_STDERR='' on 40 200 ready 'keys CtrlZ' 'until ^stands' 'size 10 60' 'keys Enter' 'until ^. help' ready show -- \
		bash -m -c "$shell" bash "$PSTAT" report "${long[@]}" -g caller
	check "smaller: no line is longer" test "$(wc -L <<<"$out")" -le 60
	same "smaller: the status line is the last one" 10 "$(grep -n '^? help' <<<"$out" | cut -d: -f1)"
}

# The end of what is typed is seen, with the cursor behind it; what it is for gives way.
test_typing_where_there_is_little_room()
{
	local typed=abcdefghijklmnopqrstuvwxyz0123456789

	on 10 40 ready 'keys P' 'until Print to' 'keys CtrlU' "type $typed" 'until 9$' 'line 9$' cursor 'keys Backspace Backspace' 'until 7$' cursor \
		'keys Esc' 'gone 7$' cursor -- "$PSTAT" report "${long[@]}" -g none
	same "a long name" "Print to …new file: rstuvwxyz0123456789
10 40
10 40
hidden" "$out"
	on 10 40 ready 'keys L' 'until percent' 'line percent' cursor 'type 12.5' 'until 12.5$' 'line percent' cursor 'keys CtrlU' 'until : *$' -- \
		"$PSTAT" report "${long[@]}" -g none
	same "a long label" "Only rows and bran…t least (percent): 0
10 40
Only rows and br…least (percent): 012.5
10 40" "$out"
	on 3 8 ready 'keys P CtrlU' "type $typed" 'until 9$' 'line 9' cursor -- "$PSTAT" report "${long[@]}" -g none
	same "no room for a label" "3456789
3 8" "$out"
	on 3 1 'keys P CtrlU' "type $typed" show cursor -- "$PSTAT" report "${long[@]}" -g none
	same "no room at all" "3 1" "$(tail -1 <<<"$out")"
}

test_kinds_of_terminals()
{
	local term first=''

	for term in xterm xterm-256color linux screen tmux vt100 rxvt; do
		infocmp "$term" >/dev/null 2>&1 || continue
		on 24 80 ready 'keys e' 'until ^ +- ' show -- env TERM=$term "$PSTAT" report "${long[@]}"
		[ -n "$first" ] || first=$out
		same "$term" "$first" "$out"
	done
	[ -n "$first" ] || fail "xterm is known"
	on 24 80 ready attributes 'keys q' end -- "$PSTAT" report "${long[@]}"
	has "colours" '(^| )31( |$)' "$out"
	on 24 80 ready attributes 'keys q' end -- env NO_COLOR=1 "$PSTAT" report "${long[@]}"
	has_not "NO_COLOR" '(^| )3[0-9]( |$)' "$out"
	on 24 80 ready attributes 'keys q' end -- "$PSTAT" report "${long[@]}" --color never
	has_not "--color never" '(^| )3[0-9]( |$)' "$out"
	on 24 80 ready show -- env LC_ALL=xx_XX.UTF-8 "$PSTAT" report "${long[@]}"
	has "a locale of UTF-8 that is not installed" 'libshop…rs' "$out"
}

test_the_terminal_is_given_back()
{
	local name

	on 24 80 ready 'keys q' end modes -- "$PSTAT" report "${long[@]}"
	same "q" "status 0
$clean" "$out"
	on 24 80 ready 'keys CtrlC' end modes -- "$PSTAT" report "${long[@]}"
	same "Ctrl-C" "signal 2
$clean" "$out"
	on 24 80 ready 'keys /' 'until ^Symbols' 'keys CtrlC' end modes -- "$PSTAT" report "${long[@]}"
	same "Ctrl-C while typing" "signal 2
$clean" "$out"
	for name in HUP TERM QUIT INT SEGV ABRT; do
		on 24 80 ready "signal $name" end modes -- "$PSTAT" report "${long[@]}"
		same "SIG$name" "signal $(kill -l $name)
$clean" "$out"
	done
	on 24 80 ready hold 'signal TERM' end -- "$PSTAT" report "${long[@]}"
	same "a terminal that takes nothing" "signal 15" "$out"
	on 24 80 ready hold 'keys ?' 'signal TERM' end -- "$PSTAT" report "${long[@]}"
	same "while it is waited for" "signal 15" "$out"
	on 24 80 ready close end -- "$PSTAT" report "${long[@]}"
	same "a terminal that is gone" "signal 1" "$out"
	on 24 80 ready close end -- sh -c 'trap "" HUP; exec "$@"' sh "$PSTAT" report "${long[@]}"
	has "the same, and nobody says so" '^status [0-9]+$' "$out"
	# shellcheck disable=SC2016 # $1 is the inner shell's
	on 24 80 ready 'keys q' 'until done' show -- sh -c 'echo before; "$@"; echo done' sh "$PSTAT" report "${long[@]}"
	same "what stood there stands there" "before
done" "$out"
}

# Who is stopped has given the terminal back already: it is the shell's.
test_ended_while_it_stands_still()
{
	# shellcheck disable=SC2016 # $@ is the inner shell's
	local shell='"$@"; echo; echo stands; read -r; kill %1; while [ -n "$(jobs -s)" ]; do sleep 0.1; done; echo ended'

	SCREEN_STDERR='' on 24 80 ready 'keys CtrlZ' 'until ^stands' 'keys Enter' 'until ^ended' end 'line ^stands|^ended' modes -- \
		bash -m -c "$shell" bash "$PSTAT" report "${long[@]}"
	same "it ends, and the terminal stays the shell's" "status 0
stands
ended
$clean" "$out"
}

test_recordings_that_are_cut()
{
	local size n

	size=$(stat -c %s "$golden/plain.data")
	for n in $((size - 1)) $((size - 100)) $((size / 2)) $((size / 3)); do
		head -c $n "$golden/plain.data" >cut.data
		printed=$("$PSTAT" report --stdio -q -g none -i cut.data 2>said)
		code=$?
		if [ $code = 0 ] && ! grep -q % <<<"$printed"; then
			on 40 120 ready show 'keys q' end modes -- "$PSTAT" report -g none -i cut.data
			has "cut to $n bytes: nothing is left" 'No sample is left' "$out"
			same "cut to $n bytes: the end" "status 0
$clean" "$(tail -2 <<<"$out")"
		elif [ $code = 0 ] && grep -q % <<<"$printed"; then
			on 40 120 ready show 'keys !' 'until Losses' 'line missing|end|cut' 'keys q q' end modes -- "$PSTAT" report -g none -i cut.data
			same "cut to $n bytes: the rows" "$(sed -e '/^#/d;s/  */ /g;s/^ //;s/ $//' <<<"$printed" | grep -v '^$')" \
				"$(sed '/^. help/q' <<<"$out" | sed -e '1,2d;$d' -e 's/  */ /g;s/^ //;s/ $//' | grep -v '^$')"
			[ ! -s said ] || has "cut to $n bytes: the status line" 'its end is missing|note' "$(grep '^. help' <<<"$out")"
			has "cut to $n bytes: the end" '^status 0$' "$out"
		else
			on 40 120 end modes -- "$PSTAT" report -g none -i cut.data
			has "cut to $n bytes: status $code, as printed" "^status $code\$" "$out"
			same "cut to $n bytes: the terminal" "$clean" "$(tail -1 <<<"$out")"
		fi
	done
	on 24 80 end -- "$PSTAT" report -i /nonexistent
	has "no recording" '^status 125$' "$out"
	has "is said" 'No such file' "$(<"$tmp/stderr")"
}

# Names of processes, files and events that hold what terminals obey.
test_hostile_names()
{
	on 40 200 ready 'keys E' 'keys ! q i q m q' 'keys Enter Esc' 'keys d' 'until dso: ' 'keys Left' 'gone dso: ' 'keys n' 'until comm: ' \
		'keys Left' 'gone comm: ' 'keys W' 'until whole row' 'keys q' ready show 'keys q' end modes -- "$PSTAT" report -i "$golden/hostile_names.data"
	has "names are printable" '\\x1b' "$out"
	has_not "no control characters" $'[\001-\010\013-\037]' "$out"
	same "the terminal" "status 0
$clean" "$(tail -2 <<<"$out")"
	# Each name can be zoomed into, and each leaves its own.
	for n in 0 1 2 3 4 5 6 7; do
		keys=$(for ((i = 0; i < n; i++)); do printf ' Down'; done)
		on 40 200 ready "keys$keys" 'keys d' 'until dso: ' 'until [0-9]%' 'keys Left' 'gone dso: ' 'keys q' end -- \
			"$PSTAT" report -i "$golden/hostile_names.data" -g none --no-children -s dso
		same "file $n" "status 0" "$out"
		[ $n != 4 ] || { # its name is empty
			on 40 200 ready "keys$keys" 'keys n' 'until no name to zoom into' 'keys q' end -- \
				"$PSTAT" report -i "$golden/hostile_names.data" -g none --no-children -s comm
			same "task $n" "status 0" "$out"
			continue
		}
		on 40 200 ready "keys$keys" 'keys n' 'until comm: ' 'until [0-9]%' 'keys Left' 'gone comm: ' 'keys q' end -- \
			"$PSTAT" report -i "$golden/hostile_names.data" -g none --no-children -s comm
		same "task $n" "status 0" "$out"
	done
}
run_tests
