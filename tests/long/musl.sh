#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat built with musl's C library by Debian's musl-gcc: without a warning, it counts, records and draws frame-pointer
# stacks, and the unit tests pass. The distribution's libraries are glibc's, so it has none of them, and no symbols of ELF
# files; tests that need them skip. Takes some minutes.
#
# Headers of the kernel and of elfutils are those of glibc's folders, behind musl's own.
. "${0%/*}/../lib.sh"
need_cmd musl-gcc
need_cmd make

machine=$(cc -print-multiarch 2>/dev/null)
musl=$tmp/musl/pstat
without=()
for library in LIBPFM4 LIBIBERTY LIBLZMA LIBUNWIND CAPSTONE NCURSES LIBARCHIVE SQLITE JANSSON LIBBPF; do
	without+=("WITH_$library=0")
done
make_with_musl() # TARGET...
{
	run make -s -C "$ROOT" CC=musl-gcc DEVELOPER=1 SANITIZE= BUILD="$tmp/musl" CFLAGS=-O2 LDFLAGS="-L$tmp/cmocka" \
		CPPFLAGS="-I$tmp/cmocka -idirafter /usr/include -idirafter /usr/include/$machine" "${without[@]}" "$@"
}

test_program()
{
	make_with_musl "$musl"
	same "it builds" 0 "$status"
	same "without a warning" "" "$err"
	has "its C library is musl's" 'ld-musl' "$(readelf -l "$musl")"
	run "$musl" stat -x, -e page-faults:u -- true
	has "it counts" '^[1-9][0-9]*,,page-faults:u,' "$err"
	run "$musl" record -N -e page-faults:u -c 1 -g -o data -- "$WORK/callers" known 1
	has "it records" ' [1-9][0-9]* samples, 0 lost' "$err"
	run "$PSTAT" report --stdio -q -g none -i data
	has "what others read" '%  callers' "$out"
	run "$musl" report --stdio -q -g none -i "$ROOT/tests/golden/branch_stack.data" --kallsyms "$ROOT/tests/golden/kallsyms"
	same "it reports" 0 "$status"
	run "$musl" report --stdio -g none -i data
	has "and says what is missing" 'libelf' "$err"
}

# The library of the unit tests, as the distribution has it for glibc alone: its source package is fetched by an apt state
# of its own, and built here.
make_cmocka()
{
	local file

	need_cmd apt-get
	mkdir -p sources lists/partial cache/archives/partial "$tmp/cmocka"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
		sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" >"sources/${file##*/}" 2>/dev/null
	done
	printf '%s;\n' "Dir::Etc::sourcelist \"/dev/null\"" "Dir::Etc::sourceparts \"$PWD/sources\"" "Dir::State \"$PWD\"" \
		"Dir::State::status \"$PWD/status\"" "Dir::Cache \"$PWD/cache\"" 'APT::Sandbox::User ""' >conf
	: >status
	APT_CONFIG=conf apt-get update -q >log 2>&1
	APT_CONFIG=conf apt-get source -q --download-only cmocka >>log 2>&1 ||
		skip "needs the source package of cmocka: $(grep '^E:' log | tail -n 1)"
	mkdir source && tar -xf cmocka_*.orig.tar.?z -C source --strip-components=1
	: >source/config.h
	run musl-gcc -O1 -w -std=gnu99 -D_GNU_SOURCE -DHAVE_SIGNAL_H -DHAVE_STRSIGNAL -Isource -Isource/include \
		-c -o cmocka.o source/src/cmocka.c
	same "cmocka is built" 0 "$status"
	ar rcs "$tmp/cmocka/libcmocka.a" cmocka.o
	cp source/include/*.h "$tmp/cmocka"
}

# What unit tests need that is not there: libelf and demangling; getcontext(3); mallinfo2(3); an execvp(3) that starts
# scripts without #!.
lacking='buildcache|buildid|chain_link|chain_start|dwarf|dwarf_types|elf_bounds|elf_files|embedded_names|frames_prefetch'
lacking+='|names_cache|probe|record_run|report_keys|simpleperf|sym_elf|sym_files|symbols|unwind_files|unwind_parts'
lacking+='|unwind|unwind_stage|unwind_steps|task_table|child'

test_unit()
{
	local tests

	make_cmocka
	mapfile -t tests < <(cd "$ROOT/tests/unit" && printf '%s\n' test_*.c | sed 's/\.c$//' | grep -Evx "test_($lacking)")
	make_with_musl "${tests[@]/#/$tmp/musl/tests/unit/}"
	same "unit tests build" 0 "$status"
	same "without a warning" "" "$err"
	run env BUILD="$tmp/musl" PSTAT="$musl" TEST_USERS=own "$ROOT/tests/run" "${tests[@]/#/unit/}"
	same "none fails" "" "$(grep -A 20 '^FAILED' <<<"$out")"
	has "they pass" '^[1-9][0-9]{2,} passed, 0 failed' "$out"
	point ok "unit tests of $(tr '|' ' ' <<<"$lacking")" "needs what musl lacks"
}
run_tests
