#!/bin/bash
# SPDX-License-Identifier: MIT
# A pstat without what can be left out of it: the stand-ins compile without a warning, and each command that misses
# something says so in one line and goes on as well as it can.
#
# run: once
. "${0%/*}/../lib.sh"
golden=$ROOT/tests/golden
export HOME=$tmp DEBUGINFOD_URLS='' TERM=xterm PSTAT_PAGER=cat SCREEN_STDERR=$tmp/stderr
unset COLUMNS LINES
all=(WITH_LIBPFM4=0 WITH_LIBIBERTY=0 WITH_LIBLZMA=0 WITH_LIBUNWIND=0 WITH_LIBARCHIVE=0 WITH_SQLITE=0
	WITH_JANSSON=0)

[ -n "${BUILD:-}" ] && [ -e "$BUILD/flags" ] || skip "needs the folder that this pstat was built in (make check)"

# without NAME VARIABLE=0...: $PSTAT is a pstat without these. The objects of the one that is tested are used again, so
# that only the stand-ins are compiled.
without()
{
	local build=$tmp/$1

	shift
	mkdir "$build" && cp -a "$BUILD/flags" "$BUILD/libs" "$BUILD/src" "$build/" || exit 1
	find "$build/src" -name '*.d' -delete
	make -C "$ROOT" --no-print-directory BUILD="$build" CC="${CC:-cc}" "$@" "$build/pstat" >"$build/out" 2>"$build/err"
	check "it is built" test -x "$build/pstat"
	same "without a warning" "" "$(grep -v jobserver "$build/err")"
	# By hand, without what make was told.
	cmp -s "$BUILD/flags" "$build/flags" ||
		skip "needs the flags that this pstat was built with: make check has them"
	same "stand-ins alone are compiled" "" "$(sed -n 's/^ *CC *//p' "$build/out" | grep -v '_none\.c$')"
	PSTAT=$build/pstat
}

# on_terminal STEP... -- COMMAND...: on 40 lines.
on_terminal() { run "$PYTHON" "$ROOT/tests/cli/pty_screen.py" 40 120 "$@"; }

test_stand_ins_are_strict_c()
{
	local compile

	read -r -a compile <<<"$(make -s -C "$ROOT" --no-print-directory CC="${CC:-cc}" DEVELOPER=1 print-COMPILE 2>/dev/null)"
	cd "$ROOT" || exit 1
	for file in src/*/*_none.c; do
		check "$file" "${compile[@]}" -MF "$tmp/d" -include src/util/banned.h -c -o "$tmp/o" "$file"
	done
}

test_without_any()
{
	without none "${all[@]}" WITH_NCURSES=0 WITH_CAPSTONE=0
	run "$PSTAT" version --build-options
	for name in libpfm4 libiberty liblzma libunwind libarchive libsqlite3 jansson capstone ncurses; do
		has "$name is out" "^ *$name *\[ OFF \]" "$out"
	done

	printed=$("$PSTAT" report --stdio -q -g none -i "$golden/plain.data" 2>/dev/null)
	on_terminal end show -- "$PSTAT" report -q -g none -i "$golden/plain.data"
	has "report on a terminal prints" '^status 0$' "$out"
	same "what --stdio does" "$(grep -v '^$' <<<"$printed")" "$(grep -v -e '^$' -e '^status' <<<"$out")"
	same "and complains of nothing" "" "$(<"$tmp/stderr")"
	on_terminal end show -- "$PSTAT" report --tui -q -g none -i "$golden/plain.data"
	same "--tui prints" "$(grep -v '^$' <<<"$printed")" "$(grep -v -e '^$' -e '^status' <<<"$out")"
	same "with one line" "pstat: --tui: ncurses was left out of this pstat: printed as with --stdio" "$(<"$tmp/stderr")"

	run "$PSTAT" annotate -i "$golden/plain.data"
	same "annotate: status" 125 "$status"
	same "annotate: one line, and what to do" "pstat: annotate: this pstat was built without capstone, which disassembles
  build it with capstone's headers installed, or with WITH_CAPSTONE=1" "$err"
	same "annotate: nothing is printed" "" "$out"
	fails_with 125 "No such file" "$PSTAT" annotate -i /nonexistent
	fails_with 129 "nonsense" "$PSTAT" annotate --nonsense
	run "$PSTAT" archive -i "$golden/plain.data"
	same "archive: status" 125 "$status"
	has "archive: why" '^pstat: .*this pstat was built without libarchive' "$err"

	run "$PSTAT" compare --load no.json
	same "compare --load: status" 125 "$status"
	has "compare --load: why" '^pstat: --load: this pstat was built without jansson' "$err"

	run "$PSTAT" export -i "$golden/plain.data" --sqlite no.db
	same "export --sqlite: status" 125 "$status"
	same "export --sqlite: one line, and what to do" \
		"pstat: no.db: this pstat was built without libsqlite3, which writes databases
  build it with sqlite3's headers installed, or with WITH_SQLITE=1" "$err"
	check_not "no file is left" test -e no.db
	run "$PSTAT" export -q -i "$golden/plain.data" --jsonl -
	has "lines are there all the same" '^{"schema":1,' "$out"

	need_paranoid 1 # for top -a: the rest of this function
	on_terminal 'until %.*  ' 'keys CtrlC' end -- "$PSTAT" top -e cpu-clock -d 1 --tui
	has "top --tui prints" '^status 0$|^signal 2$' "$out"
	has "with one line" '^pstat: --tui: ncurses was left out of this pstat: printed as with --stdio' "$(<"$tmp/stderr")"
}

# The browser is there, and its view of code says what is missing.
test_browser_without_capstone()
{
	"$PSTAT" version --build-options | grep -q '^ *ncurses *\[ on *\].*terminals$' ||
		skip "needs ncurses, which this pstat is without, or which is not installed"
	without plain WITH_CAPSTONE=0
	"$PSTAT" record -q -o code.data -e cpu-clock:u -c 1000000 "$WORK/callers" known 50 >/dev/null 2>&1 ||
		skip "needs a recording"
	on_terminal ready 'keys a' 'until capstone' 'line capstone' 'keys q' end -- \
		"$PSTAT" report --no-children -g none -s sym -i code.data
	same "a" "burn: this pstat was built without capstone, which disassembles
status 0" "$out"
}
run_tests
