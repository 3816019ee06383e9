#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports on terminals of some width (a pseudo terminal): tables and trees of a recording with long names of C++
# fit, and the same in a file is whole. The screens lie beside the recording, in tests/golden.
#
# run: once
. "${0%/*}/../lib.sh"
golden=$ROOT/tests/golden
names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS='' TERM=xterm PSTAT_PAGER=cat
unset COLUMNS

# screen COLUMNS COMMAND...: sets $out to what the command shows there.
screen()
{
	local columns=$1

	shift
	run "$PYTHON" "$ROOT/tests/cli/on_screen.py" "$columns" 1 "$@"
}

# report COLUMNS [OPTION...]: about the recording with long names.
report() { screen "$1" "$PSTAT" report -i "$golden/long_names.data" "${names[@]}" "${@:2}"; }
in_file() { "$PSTAT" report -i "$golden/long_names.data" "${names[@]}" "$@" 2>/dev/null; }

# shows FILE NAME: $out is what the file has. GOLDEN_UPDATE=1 writes it if it is not there.
shows()
{
	[ -e "$golden/$1" ] || [ -z "${GOLDEN_UPDATE:-}" ] || printf '%s\n' "$out" >"$golden/$1"
	same "$1" "$(cat "$golden/$1")" "$out"
}

test_screens()
{
	export LC_ALL=C.UTF-8
	report 80 --no-children
	shows long_names.screen_80
	report 80
	shows long_names.screen_80_children
	report 200 --no-children
	shows long_names.screen_200
	report 80 --hierarchy -s comm,dso,sym
	shows long_names.screen_80_hierarchy
	LC_ALL=C report 80 --no-children -g none -s dso,parent,sym -p 'insert|operator'
	shows long_names.screen_80_ascii
}

test_no_line_is_longer()
{
	local columns options

	export LC_ALL=C.UTF-8
	for columns in 80 93 132; do
		for options in "" "--no-children" "-g callee" "-g flat" "--hierarchy" "-s comm,pid,dso,sym" "-s parent,srcline,sym" \
			"-n -s tid,sym -g none" "-v -g none"; do
			# shellcheck disable=SC2086 # words
			report "$columns" $options
			[ -n "$out" ] || fail "$columns columns: $options"
			printf '%s\n' "$out" >>"columns.$columns"
		done
		# Characters, whatever this shell takes for one.
		same "$columns columns: longer lines" "" "$("$PYTHON" -c '
import sys
for line in open(sys.argv[1], encoding="utf-8"):
    if len(line.rstrip("\n")) > int(sys.argv[2]):
        print(line, end="")' "columns.$columns" "$columns" 2>&1)"
	done
	screen 80 "$PSTAT" report -i "$golden/mem_samples.data" "${names[@]}" --mem-mode
	check "where not all columns fit, the dots below the heads do" test "$(grep -c '^# \.\.' <<<"$out")" = 1
	same "their length" 80 "$(grep '^# \.\.' <<<"$out" | tr -d '\n' | wc -c)"
}

test_whole_names()
{
	local whole

	whole=$(in_file)
	same "in a file nothing is cut, whatever COLUMNS says" "$whole" "$(COLUMNS=40 LC_ALL=C.UTF-8 in_file)"
	report 80 --no-shorten
	same "--no-shorten" "$whole" "$out"
	report 4000
	same "a terminal that is wide enough" "$whole" "$out"
	report 0
	same "a terminal that does not know its width" "$whole" "$out"
	screen 80 "$PSTAT" report -i "$golden/long_names.data" "${names[@]}" -t , -g none
	same "-t" "$(in_file -t , -g none)" "$out"
	report 80 --folded
	same "--folded" "$(in_file --folded)" "$out"
	report 80 -j
	same "-j" "$(in_file -j)" "$out"
	report 80 -q --no-children -g folded,caller
	has "chains in one line" ';.*allocator<char> >, shop::Item>::insert_sorted;std::_Rb_tree<std::__cxx11' "$out"
}

test_widths()
{
	export COLUMNS
	COLUMNS=60
	report 200 -q -g none --no-children
	check "COLUMNS comes before the terminal's own width" test "$(wc -L <<<"$out")" -le 60
	COLUMNS=wide
	report 100 -q -g none --no-children
	check "a COLUMNS that is no number does not count" test "$(wc -L <<<"$out")" -gt 60
	unset COLUMNS
	report 80 -q -g none --no-children -w 0,0,12,50
	has "-w keeps its meaning" 'inventory +libshop-inve +\[\.\] std::_Rb_tree<std::__cxx11::basic_string<char,$' "$out"
	same "-w: as in a file" "$(in_file -q -g none --no-children -w 0,0,12,50)" "$out"
	report 80 -q -g none --no-children -w 0,0,33
	has "-w of one column: the others share what is left" 'libshop-inventory-and-orders.so.7 +\[\.\] std::v.*back$' "$out"
	check "-w of one column: they fit" test "$(wc -L <<<"$out")" -le 80
}

# The pager is told to chop what is longer, unless the user has told it something.
test_pager()
{
	printf '#!/bin/sh\necho "LESS=$LESS"\ncat >/dev/null\n' >page
	chmod +x page
	export PSTAT_PAGER=$PWD/page
	unset LESS
	report 80
	same "LESS" "LESS=FRSX" "$out"
	export LESS=M
	report 80
	same "LESS of the user" "LESS=M" "$out"
}
# noted OPTION...: the notes about a recording with many files that are not there.
noted()
{
	run "$PSTAT" report -i "$golden/hostile_names.data" "${names[@]}" "$@"
	same "status: $*" 0 "$status"
}

test_notes_are_wrapped()
{
	local whole

	noted
	whole=$err
	same "two lines in a file" 2 "$(wc -l <<<"$whole")"
	run "$PYTHON" "$ROOT/tests/cli/on_screen.py" 80 2 sh -c '"$@" >/dev/null' sh \
		"$PSTAT" report -i "$golden/hostile_names.data" "${names[@]}"
	shows hostile_names.screen_80_notes
	check "its lines" test "$(wc -L <<<"$out")" -le 80
	same "the words are the same" "$(tr -s ' \n' '  ' <<<"$whole")" "$(tr -s ' \n' '  ' <<<"$out")"
	run "$PYTHON" "$ROOT/tests/cli/on_screen.py" 40 2 "$PSTAT" stat -e cycles:u,cyclse true
	same "what stands below something is not moved" "$("$PSTAT" stat -e cycles:u,cyclse true 2>&1 | sed -n 2,3p)" \
		"$(sed -n '/^ *cycles:u/,/\^/p' <<<"$out")"
}

# Files without symbols are of no interest where no function's name is shown, nor those that a filter leaves out.
test_notes_are_of_what_is_shown()
{
	local options

	for options in "-s sym -g none" "-s srcline -g none" "-s comm" "--folded" "-s comm -g none -S none --no-children"; do
		# shellcheck disable=SC2086 # words
		noted $options
		has "$options" "no symbols: .*no such file" "$err"
	done
	for options in "-s comm -g none" "-s dso -g none" "-s pid,cpu --no-children -g none" \
		"-s dso,sym --no-children -g none -d strange"; do
		# shellcheck disable=SC2086 # words
		noted $options
		has "$options: rows" '%' "$out"
		same "$options: notes" "" "$err"
	done
	noted
	has "the rest on demand" ', and 3 more \(-v lists them\)$' "$err"
	noted -v
	has "-v" 'no symbols, less often: .*100%s%n' "$err"
}
run_tests
