#!/bin/bash
# SPDX-License-Identifier: MIT
# Small files that would become large ones: debug sections that are packed a thousand times. (Recordings packed
# with zstd are in unit/test_data_zstd, JIT dumps in unit/test_perf_map.)
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd "${CC:-cc}"
need_plain_build # whose memory is its own

bomb=$ROOT/tests/cli/dwarf_bomb.py
MOST_MIB=150 # what pstat may have; the bombs are of 300

cat >"$tmp/app.c" <<'C'
static volatile unsigned sink;
static inline __attribute__((always_inline)) void inlined(unsigned n) { while (n--) sink = sink * 3 / 2 + n; }
__attribute__((noinline)) void outer(void) { inlined(30000000); }
int main(void) { outer(); }
C

# record_app CC-OPTIONS...: app and a recording of it; the build-id stays when its sections change.
record_app()
{
	${CC:-cc} -O1 -g -gdwarf-4 -Wl,--build-id "$@" -o app "$tmp/app.c" || fail "compiles"
	run "$PSTAT" record -q -o x -e cpu-clock:u -F 2000 --call-graph dwarf,raw,4096 -- ./app
	same "recorded" 0 "$status"
}

bombed() # SECTION COMMAND...
{
	"$PYTHON" "$bomb" "${make:-make}" app "$1" 300
	shift
	mib=$("$PYTHON" "$bomb" peak "$@" 2>text)
	same "ends well" 0 $?
	check "in $MOST_MIB MiB, not in 300 more" test "$mib" -le $MOST_MIB
}

test_dwarf()
{
	record_app
	"$PYTHON" "$bomb" peak "$PSTAT" report -i x 2>before >peak
	has "before: the inlined function" 'inlined' "$(cat before)"
	bombed .debug_str "$PSTAT" report -i x
	has "the function is still there" 'outer' "$(cat text)"
	has "it is told why its inlined functions are not" 'its packed debug sections are refused' "$(cat text)"
}

test_dwarf_packed_as_once()
{
	record_app
	make=make_gnu bombed .debug_str "$PSTAT" report -i x
	has "the function is still there" 'outer' "$(cat text)"
	has "it is told why its inlined functions are not" 'its packed debug sections are refused' "$(cat text)"
	record_app -fno-asynchronous-unwind-tables
	make=make_gnu bombed .debug_frame "$PSTAT" report --no-inline -i x
	has "unwind tables: the function is still there" 'outer|inlined' "$(cat text)"
}

test_split_dwarf()
{
	record_app -gsplit-dwarf
	dwo=$(echo ./*.dwo)
	[ -e "$dwo" ] || skip "needs a compiler with -gsplit-dwarf"
	"$PSTAT" report -i x >before 2>&1
	has "before: the inlined function" 'inlined' "$(cat before)"
	"$PYTHON" "$bomb" make "$dwo" .debug_str.dwo 300
	mib=$("$PYTHON" "$bomb" peak "$PSTAT" report -i x 2>text)
	same "ends well" 0 $?
	check "in $MOST_MIB MiB, not in 300 more" test "$mib" -le $MOST_MIB
	has "the function is still there" 'outer' "$(cat text)"
	has "it is told why its inlined functions are not" '\.dwo: its packed debug sections are refused' "$(cat text)"
}

# Of a .dwo file only what is needed is unpacked.
test_split_dwarf_unused()
{
	record_app -gsplit-dwarf
	dwo=$(echo ./*.dwo)
	[ -e "$dwo" ] || skip "needs a compiler with -gsplit-dwarf"
	"$PYTHON" "$bomb" make "$dwo" .debug_loc.dwo 300 2>no_section || skip "its .dwo has no list of places"
	mib=$("$PYTHON" "$bomb" peak "$PSTAT" report -i x 2>text)
	same "ends well" 0 $?
	check "in $MOST_MIB MiB, not in 300 more" test "$mib" -le $MOST_MIB
	has "the inlined function is there" 'inlined \(inlined\)' "$(cat text)"
}

test_unwind_tables()
{
	record_app -fno-asynchronous-unwind-tables
	bombed .debug_frame "$PSTAT" report --no-inline -i x
	has "the function is still there" 'outer|inlined' "$(cat text)"
	record_app -fno-asynchronous-unwind-tables
	bombed .debug_str "$PSTAT" report --no-inline -i x
	has "another section is not read for them" 'outer|inlined' "$(cat text)"
}

run_tests
