#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat built with musl's C library by Debian's musl-gcc: without a warning, and it counts, records and draws frame-pointer
# stacks. The distribution's libraries are glibc's, so it has none of them, and no symbols of ELF files. Takes a minute.
#
# Headers of the kernel and of elfutils are those of glibc's folders, behind musl's own.
. "${0%/*}/../lib.sh"
need_cmd musl-gcc
need_cmd make

machine=$(cc -print-multiarch 2>/dev/null)
without=()
for library in LIBPFM4 LIBIBERTY LIBLZMA LIBUNWIND CAPSTONE NCURSES LIBARCHIVE SQLITE JANSSON LIBBPF; do
	without+=("WITH_$library=0")
done
run make -s -C "$ROOT" CC=musl-gcc DEVELOPER=1 SANITIZE= BUILD="$tmp/musl" CFLAGS=-O2 \
	CPPFLAGS="-idirafter /usr/include -idirafter /usr/include/$machine" "${without[@]}" "$tmp/musl/pstat"
same "it builds" 0 "$status"
same "without a warning" "" "$err"
musl=$tmp/musl/pstat
has "its C library is musl's" 'ld-musl' "$(readelf -l "$musl")"
run "$musl" stat -x, -e page-faults:u -- true
has "it counts" '^[1-9][0-9]*,,page-faults:u,' "$err"
run "$musl" record -N -e page-faults:u -c 1 -g -o "$tmp/data" -- "$WORK/callers" known 1
has "it records" ' [1-9][0-9]* samples, 0 lost' "$err"
run "$PSTAT" report --stdio -q -g none -i "$tmp/data"
has "what others read" '%  callers' "$out"
run "$musl" report --stdio -q -g none -i "$ROOT/tests/golden/branch_stack.data" --kallsyms "$ROOT/tests/golden/kallsyms"
same "it reports" 0 "$status"
run "$musl" report --stdio -g none -i "$tmp/data"
has "and says what is missing" 'libelf' "$err"
done_testing
