#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings with symbols in the file, read where no file of theirs is: each table is the one that the same recording
# without them gives at home.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
edit="$PYTHON $ROOT/tests/cli/symbols_in_file.py"

# Each test has a folder of its own, in which it is. The program works for a moment, then waits for the file that it is given.
build() # NAME OPTION...
{
	cat >work.c <<-'END_C'
	#include <unistd.h>
	static volatile unsigned sink;
	static inline __attribute__((always_inline)) unsigned mix(unsigned x) { return x * 3 / 2 + (x >> 3); }
	static __attribute__((noinline)) void leaf(unsigned n) { while (n--) sink = mix(sink) + n; }
	__attribute__((noinline)) void middle(unsigned n) { leaf(n); sink++; }
	int main(int n, char **words)
	{
		for (int i = 0; i < 40; i++)
			middle(2000000);
		while (n > 1 && access(words[1], F_OK))
			usleep(10000);
		return 0;
	}
	END_C
	"${CC:-cc}" -g -O1 -fno-omit-frame-pointer -Wl,--build-id "${@:2}" -o "$1" work.c 2>cc_err || skip "needs a C compiler"
}

# recorded NAME OPTION... -- COMMAND...: NAME has symbols, NAME.plain is the same without.
recorded()
{
	mkdir -p empty
	run "$PSTAT" record -q --symbols-in-file -o "$1" -F 2000 "${@:2}"
	same "$1 is recorded" 0 "$status"
	$edit without "$1" "$1.plain"
}

at_home() { "$PSTAT" report -i "$1" --stdio "${@:2}" 2>/dev/null; }
away() { HOME=$PWD/empty "$PSTAT" report -i "$1" --symfs "$PWD/empty" --stdio "${@:2}" 2>said; }

tables=(
	"-s comm,dso,sym -g none --no-children"
	"-s dso,sym --children -g caller"
	"-s sym,srcline -g none --no-children"
	"-s sym --no-inline -g callee --no-children"
	"-s sym --no-demangle --max-stack 2"
	"-s srcfile --no-bounds -g none"
)

# What at_home says of the plain recording, before its files go.
keep_tables() { for i in "${!tables[@]}"; do at_home "$1.plain" ${tables[i]} >"$1.table$i"; done; }

compare_tables() # NAME WHAT
{
	for i in "${!tables[@]}"; do
		check "$2: ${tables[i]}" cmp -s "$1.table$i" <(away "$1" ${tables[i]})
	done
}

test_frame_pointers()
{
	build app
	recorded fp -e cpu-clock:u -g -- ./app
	keep_tables fp
	has "it has names" 'leaf' "$(cat fp.table0)"
	has "it has inlined functions" 'mix' "$(cat fp.table1)"
	has "it has lines" 'work\.c:[0-9]' "$(cat fp.table2)"
	compare_tables fp "the files are elsewhere"
	same "script" "$("$PSTAT" script -i fp.plain -F ip,sym,dso,srcline 2>&1)" \
		"$(HOME=$PWD/empty "$PSTAT" script -i fp --symfs "$PWD/empty" -F ip,sym,dso,srcline 2>&1)"
	rm app
	compare_tables fp "deleted"
	build app -DOTHER -O2
	compare_tables fp "rebuilt"
	same "at home, too" "$(cat fp.table0)" "$(at_home fp ${tables[0]})"
	has "-v says where names are from" 'names of app are from the recording, which has them from .*/app' \
		"$("$PSTAT" report -i fp -v 2>&1 >/dev/null)"
	has "-v says it of files" 'no symbols.*app.*replaced since the recording' \
		"$(HOME=$PWD/empty "$PSTAT" report -i fp.plain -v 2>&1 >/dev/null)"
	has "the header says it" '^# symbols in the file : [0-9]+ bytes' "$("$PSTAT" report -i fp --header-only)"
}

# What is said, but of the system's libraries, which have no names on some machines.
own() { sed '/names missing or in doubt: \/usr\/lib/,+1d'; }
own_lines() { own | wc -l; }

# Instructions are in the file alone. That it is gone is no fault of the names.
test_annotate_without_the_file()
{
	build app
	recorded code -e cpu-clock:u -g -- ./app
	rm app "$HOME/.debug" -rf
	fails_with 125 '^pstat: leaf of app: no such file; its names are in the recording, its code is not$' \
		"$PSTAT" annotate -i code leaf
	same "nothing else is said" 1 "$(own_lines <<<"$err")"
	run "$PSTAT" annotate -i code -d app --skip-missing
	same "--skip-missing" "0 " "$status $out$(printf %s "$err" | own)"
	build app -DOTHER -O2
	fails_with 125 '^pstat: leaf of app: replaced since the recording: .*; its names are in the recording, its code is not$' \
		"$PSTAT" annotate -i code leaf
	same "nothing else is said" 1 "$(own_lines <<<"$err")"
}

test_what_is_missing_in_it()
{
	build app
	strip app
	recorded stripped -e cpu-clock:u -g -- ./app
	rm -rf app "$HOME/.debug"
	run "$PSTAT" report -i stripped --stdio
	has "what is missing" '^pstat: names missing or in doubt: .*/app \(.*: stripped, and no debug file was found\)$' "$err"
	has "what can be done" '^  --symfs or --debug-dir, with the folder where its debug file is$' "$err"
}

test_stacks_are_unwound()
{
	build deep -fomit-frame-pointer
	recorded dwarf -e cpu-clock:u --call-graph dwarf,raw,4096 -- ./deep
	keep_tables dwarf
	has "callers are known" 'main' "$(cat dwarf.table1)"
	rm deep
	compare_tables dwarf "unwound without files"
}

# Where there are no tables the frame pointer is tried; what it leads to must be behind a call, which the code tells.
test_stacks_are_unwound_by_frame_pointers()
{
	cat >bare.c <<-'END_C'
	static volatile unsigned sink;
	__attribute__((noinline)) void bare(unsigned n) { while (n--) sink = sink * 3 + n; }
	END_C
	cat >caller.c <<-'END_C'
	extern void bare(unsigned);
	__attribute__((noinline)) int caller(unsigned n) { bare(n); return 1; }
	int main(void) { int n = 0; for (int i = 0; i < 40; i++) n += caller(2000000); return n != 40; }
	END_C
	"${CC:-cc}" -O0 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -c bare.c 2>cc_err ||
		skip "needs a C compiler"
	"${CC:-cc}" -g -O1 -fno-omit-frame-pointer -Wl,--build-id -o guessed caller.c bare.o
	recorded guessed.data -e cpu-clock:u --call-graph dwarf,raw,4096 -- ./guessed
	keep_tables guessed.data
	has "callers are known" 'caller' "$(at_home guessed.data.plain -s sym -g caller | sed -n '/\] bare/,/^$/p')"
	rm guessed
	compare_tables guessed.data "unwound without files"
}

# What no segment has, and a stripped program's debug file.
test_stacks_are_unwound_by_debug_frame()
{
	local where

	build bare -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables
	grep -qaF .debug_frame bare || skip "needs a compiler that writes .debug_frame"
	for where in inside beside; do
		if [ $where = beside ]; then
			need_cmd objcopy
			mkdir .debug
			objcopy --only-keep-debug bare .debug/bare.debug
			objcopy --strip-debug --add-gnu-debuglink=.debug/bare.debug bare
			check_not "it is elsewhere now" grep -qaF .debug_frame bare
		fi
		recorded $where -e cpu-clock:u --call-graph dwarf,raw,4096 -- ./bare
		keep_tables $where
		has "$where: callers are known" 'main' "$(cat $where.table1)"
		mkdir -p away
		mv bare .debug away/ 2>/dev/null
		compare_tables $where "$where, unwound without files"
		mv away/bare .
	done
}

# The files' own size is more than 20 times what is kept of them.
test_size()
{
	build small
	recorded size -e cpu-clock:u --call-graph dwarf,raw,4096 -- ./small
	all=0
	for file in $("$PSTAT" report -i size -v --stdio 2>&1 >/dev/null | sed -n 's/.*which has them from \(\/.*\)/\1/p'); do
		[ -f "$file" ] && all=$((all + $(stat -Lc %s "$file")))
	done
	check "$($edit size size) of $all bytes" test "$all" -gt 0 -a $((20 * $($edit size size))) -le "$all"
}

test_code_made_at_run_time()
{
	# Its input is silent and doesn't end; when it has used enough of the CPU it is ended by a signal.
	mkfifo silent
	recorded map -e cpu-clock:u -g -- sh -c '"$0" 300 "$1" map <>silent; true' "$WORK/spend" "$WORK/jit"
	keep_tables map
	has "functions have the names of the map" 'jit_two_thirds' "$(cat map.table0)"
	rm -f $("$PSTAT" script -i map.plain -F comm,pid | awk '$1 == "jit" { print "/tmp/perf-" $2 ".map" }' | sort -u)
	compare_tables map "the map is gone"
}

# What lay at an address changes while it runs.
test_code_that_changes()
{
	mkdir dumps
	JITDUMPDIR=$PWD/dumps recorded again -k mono -e cpu-clock:u -g -- "$WORK/jit" again
	keep_tables again
	has "functions have the names of the dump" 'jit' "$(cat again.table0)"
	rm -rf dumps
	compare_tables again "the dump is gone"
}

test_perf_passes_over_it()
{
	need_perf
	build other
	recorded perf -e cpu-clock:u -g -- ./other
	same "perf script" "$(perf script -i perf.plain 2>/dev/null)" "$(perf script -i perf 2>/dev/null)"
	run perf report -i perf --stdio
	same "perf report" 0 "$status"
	has "its table" 'leaf' "$out"
}

test_container_that_is_gone()
{
	need_cmd bwrap
	build inside -static
	mkdir -p root/app
	mv inside root/app/
	contain=(bwrap --bind root / --proc /proc --dev /dev)
	"${contain[@]}" /app/inside >/dev/null 2>&1 || skip "needs user namespaces and a C library for static programs"
	# It ends when its file is held: maps are looked at once a second.
	recorded gone -e cpu-clock:u -g -- sh -c '"$@" & "$0" $PPID inside; touch root/app/is_held; wait' \
		"$ROOT/tests/cli/held" "${contain[@]}" /app/inside /app/is_held
	rm -rf root "$HOME/.debug"
	has "names are in it" '\[\.\] leaf' "$(away gone -s dso,sym --no-children -g none)"
}

test_refused()
{
	run "$PSTAT" record --symbols-in-file -o - -e cpu-clock:u -- true
	same "a pipe" 129 "$status"
	has "it is said" 'symbols-in-file: a pipe has no place' "$err"
	run "$PSTAT" record --symbols-in-file --switch-output=1M -o many -e cpu-clock:u -- true
	same "many files" 129 "$status"
}

test_hostile()
{
	build victim
	recorded good -e cpu-clock:u -g -- ./victim
	for what in cut version count packing; do
		$edit $what good bad
		run "$PSTAT" report -i bad --stdio --no-children -g none
		same "$what: the rest is reported" 0 "$status"
		same "$what: one line tells it" 1 "$(printf '%s\n' "$err" | grep -c 'symbols in the file')"
		has "$what: names are from the file" 'leaf' "$out"
	done
}

run_tests
