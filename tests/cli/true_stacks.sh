#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of many kinds that are run step by step (tests/unit/test_unwind_steps.c): each complete chain is the true
# stack, whatever linked them. And three unwinders beside one another on one recording.
#
# run: once
. "${0%/*}/../lib.sh"
STEPS=${WORK%/work}/unit/test_unwind_steps
CC=${CC:-cc}

# Functions with all kinds of frames, which call the C library, between two int3.
write_program()
{
	cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
static volatile int sum;
APART static int leaf(int x) { return x * 3 + sum; }
APART static int more(int a, int b) { int c = leaf(a), d = leaf(b); return leaf(c + d) * c + d; }
APART static int by_value(const void *a, const void *b) { return leaf(*(const int *)a) - leaf(*(const int *)b); }
APART static int any_size(int n)
{
	char *room = __builtin_alloca((size_t)n);

	memset(room, n, (size_t)n);
	return room[n / 2] + more(n, 1);
}
APART static void work(void)
{
	int values[] = { 3, 1, 2, 5, 4 };
	char text[100];

	qsort(values, 5, sizeof(*values), by_value);
	snprintf(text, sizeof(text), "%d %s", values[0], "x");
	sum += any_size(100) + (int)strtol(text, NULL, 10);
}
int main(void)
{
	__asm__ volatile("int3");
	work();
	__asm__ volatile("int3");
	return 0;
}
C
}

# steps NAME COMPLETE-PERCENT PROGRAM [WRONG]: what the steps found; so many complete, and at most WRONG of a thousand
# (none) are not the truth.
steps()
{
	local complete cut none broken limit wrong guessed all

	run "$STEPS" "$3"
	[ "$status" -ne 77 ] || skip "needs ptrace(2)" "$1"
	same "$1: it ran" 0 "$status"
	read -r complete cut none broken limit wrong guessed <<<"${out##*$'\n'}"
	all=$((complete + cut + none + broken + limit))
	check "$1: at most ${4:-0} of a thousand are wrong ($wrong of $all)" [ $((wrong * 1000)) -le $((all * ${4:-0})) ]
	check "$1: $complete of $all are complete, $guessed guessed" [ $((complete * 100)) -ge $((all * $2)) ]
}

need_steps()
{
	[ "$(uname -m)" = x86_64 ] || skip "what a call is, the steps know of x86-64 only"
	[ -x "$STEPS" ] || skip "needs the unit tests"
	need_cmd "$CC"
}

# built NAME PERCENT FLAG...: the program with these flags.
built()
{
	local name=$1 percent=$2

	shift 2
	if "$CC" -O2 "$@" -o "$name" program.c 2>cc_err; then
		steps "$name" "$percent" "./$name"
	else
		point ok "$name" "needs a compiler that can: $*"
	fi
}

test_linkers()
{
	need_steps
	write_program
	for linker in bfd gold lld; do
		for when in lazy now; do
			built "${linker}_$when" 99 -fuse-ld=$linker -Wl,-z,$when
			built "${linker}_${when}_cet" 99 -fuse-ld=$linker -Wl,-z,$when -fcf-protection
		done
	done
	built lld_ibt 99 -fuse-ld=lld -Wl,-z,lazy,-z,force-ibt -fcf-protection
	built bfd_ibt 99 -Wl,-z,lazy,-z,ibtplt -fcf-protection
}

test_kinds_of_programs()
{
	need_steps
	write_program
	built static 99 -static
	built static_pie 99 -static-pie
	built no_pie 99 -no-pie
	built unoptimised 99 -O0
	built size 99 -Os
	built without_search_table 99 -Wl,--no-eh-frame-hdr
	built debug_frame_only 99 -g -fno-asynchronous-unwind-tables
	built debug_frame_packed 99 -g -gz -fno-asynchronous-unwind-tables
	built debug_frame_packed_as_once 99 -g -gz=zlib-gnu -fno-asynchronous-unwind-tables
}

# The C library of musl has no unwind tables: no chain gets to its end, and none says that it did.
test_musl()
{
	local complete cut none broken limit wrong guessed

	need_steps
	need_cmd musl-gcc
	write_program
	for how in -static -fPIE; do
		musl-gcc -O2 $how -o of_musl program.c 2>cc_err || skip "needs a musl-gcc that works"
		run "$STEPS" ./of_musl
		[ "$status" -ne 77 ] || skip "needs ptrace(2)"
		read -r complete cut none broken limit wrong guessed <<<"${out##*$'\n'}"
		same "$how: none is wrong, nor cut, broken, too long, guessed" "0 0 0 0 0" "$wrong $cut $broken $limit $guessed"
		check "$how: $none say that there are no tables" [ "$none" -gt 100 ]
		same "$how: none is called complete" 0 "$complete"
	done
}

# Tables in a file of their own, found by the link in the program.
test_tables_elsewhere()
{
	need_paranoid 2
	need_cmd "$CC"
	need_cmd objcopy
	write_program
	sed 's/^\twork();/\tfor (long i = 0; i < 3000000; i++) work();/; /int3/d' program.c >loops.c
	"$CC" -O2 -g -fno-asynchronous-unwind-tables -fomit-frame-pointer -o loops loops.c 2>cc_err ||
		skip "needs a C compiler"
	"$PSTAT" record -q -N -o data -e cpu-clock:u -F 2000 --call-graph dwarf,raw -- ./loops 2>err || skip "$(cat err)"
	objcopy --only-keep-debug loops loops.debug
	objcopy -g --add-gnu-debuglink=loops.debug loops
	"$PSTAT" script -i data -F ip,sym 2>/dev/null >elsewhere
	mv loops.debug away.debug
	"$PSTAT" script -i data -F ip,sym 2>/dev/null >without
	for which in elsewhere without; do
		awk -v RS= '{ n++; main += /[ \n]main/ } END { print n + 0, main + 0 }' $which >counts
		read -r n main <counts
		check "$which: more than 100 samples ($n)" [ "$n" -gt 100 ]
		if [ $which = elsewhere ]; then
			check "with them: $main of $n go to main" [ $((main * 100)) -ge $((n * 99)) ]
		else
			check "without them: $main of $n do" [ $((main * 10)) -le "$n" ]
		fi
	done
}

# Goroutines have stacks of their own, and the tables of their code are in .debug_frame alone.
test_go()
{
	need_paranoid 2
	need_cmd go
	cat >goes.go <<'GO'
package main

var sum int

//go:noinline
func leaf(n int) {
	for i := 0; i < n; i++ {
		sum += i ^ sum
	}
}

//go:noinline
func deep(n int) {
	if n == 0 {
		leaf(1000000)
		return
	}
	deep(n - 1)
	sum++
}

func main() {
	done := make(chan bool)
	go func() {
		for i := 0; i < 500; i++ {
			deep(20)
		}
		done <- true
	}()
	<-done
}
GO
	GO111MODULE=off GOCACHE=$PWD/cache go build -o goes goes.go 2>cc_err || skip "needs a Go compiler that works"
	"$PSTAT" record -q -o data -e cpu-clock:u -F 2000 --call-graph dwarf,raw -- ./goes 2>err || skip "$(cat err)"
	"$PSTAT" script -i data -F ip,sym --no-inline 2>/dev/null >chains
	awk -v RS= '/main.leaf/ { n++; m = $0; whole += gsub(/main\.deep/, "", m) == 21 && /main.main.func1\n.*runtime.goexit/ }
		END { print n + 0, whole + 0 }' chains >counts
	read -r n whole <counts
	check "$n samples of the leaf" [ "$n" -gt 100 ]
	check "$whole of them with all 21 callers, up to the goroutine's first" [ $((whole * 1000)) -ge $((n * 995)) ]
}

# The frame pointer is all there is: what a function has not saved yet is missing from the chain.
test_without_tables()
{
	need_steps
	write_program
	"$CC" -O0 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -o plain program.c 2>cc_err ||
		skip "needs a C compiler"
	run "$STEPS" ./plain
	[ "$status" -ne 77 ] || skip "needs ptrace(2)"
	read -r complete _ _ _ _ wrong guessed <<<"${out##*$'\n'}"
	check "guessed, and counted ($guessed)" [ "$guessed" -gt 0 ]
	check "nearly all are right all the same ($wrong of $complete are not)" [ $((wrong * 50)) -lt "$complete" ]
}

# Before it goes to a handler, the library that unwinds puts the handler in the place of its own return address, which
# is then no more what its caller was.
test_exceptions()
{
	need_steps
	need_cmd g++
	cat >throws.cc <<'CC'
#include <stdexcept>
static volatile int sum;
struct guard { ~guard() { sum = sum + 1; } };
__attribute__((noinline)) static int thrower(int n) { guard g; if (n > 2) throw std::runtime_error("x"); return n; }
__attribute__((noinline)) static int between(int n) { guard g; return thrower(n) + sum; }
__attribute__((noinline)) static int catcher(int n)
{
	try {
		return between(n);
	} catch (const std::exception &) {
		return -1;
	}
}
int main() { __asm__ volatile("int3"); for (int i = 0; i < 5; i++) sum = sum + catcher(i); __asm__ volatile("int3"); }
CC
	g++ -O2 -o throws throws.cc 2>cc_err || skip "needs a C++ compiler"
	steps exceptions 98 ./throws 10
}

test_panics()
{
	local home

	need_steps
	need_cmd rustc
	cat >panics.rs <<'RS'
use std::arch::asm;
#[inline(never)]
fn inner(n: i32) -> i32 { if n > 2 { panic!("x") } n }
#[inline(never)]
fn outer(n: i32) -> i32 { let v = vec![n; 3]; inner(n) + v[1] }
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    unsafe { asm!("int3") };
    let mut sum = 0;
    for i in 0..4 { sum += std::panic::catch_unwind(|| outer(i)).unwrap_or(1); }
    unsafe { asm!("int3") };
    std::process::exit(if sum > 1000 { 1 } else { 0 });
}
RS
	home=$(getent passwd "$(id -u)" | cut -d: -f6)
	HOME=$home rustc -O -o panics panics.rs 2>cc_err || skip "needs a Rust compiler that works"
	steps panics 98 ./panics 10
}

# chains UNWINDER: one line a sample.
chains()
{
	"$PSTAT" script -i data --unwinder "$1" --max-stack 500 --no-inline -F ip,sym,dso 2>/dev/null |
		awk -v RS= '{ gsub(/\n */, ";"); print }'
}

# On each sample the libraries' chain is that of the rows, or the begin of it, where they know no way on.
test_three_unwinders()
{
	need_paranoid 2
	run "$PSTAT" record -q -o data -e cpu-clock:u -F 2000 --call-graph dwarf,raw -- "$WORK/callers" deep 1500
	same "recorded" 0 "$status"
	chains rows >rows
	check "more than 500 samples" [ "$(wc -l <rows)" -gt 500 ]
	for other in libunwind libdw; do
		chains $other >$other
		if ! [ -s $other ] || ! grep -q ';' $other; then
			point ok "$other" "it is not there"
			continue
		fi
		paste -d '\n' rows $other | awk 'NR % 2 { rows = $0; next } { n++
			if (rows == $0) same++; else if (index(rows ";", $0 ";") == 1) begun++ }
			END { print n + 0, same + 0, same + begun }' >counts
		read -r n same begun <counts
		check "$other: $same of $n are the same" [ $((same * 1000)) -ge $((n * 995)) ]
		check "$other: $((n - begun)) contradict" [ $((begun * 1000)) -ge $((n * 995)) ]
	done
}

test_words()
{
	run "$PSTAT" report --unwinder nothing
	same "status" 129 "$status"
	has "names them" "'nothing' is not rows, libunwind or libdw" "$err"
}

run_tests
