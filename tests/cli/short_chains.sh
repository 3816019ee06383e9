#!/bin/bash
# SPDX-License-Identifier: MIT
# Callchains by frame pointers through code that has none: record, report, script and the flame page say how many do not
# reach the start of their program or thread, with the same words and number; and nothing where all do.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd "${CC:-cc}"
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip "needs an architecture whose frame pointer this test knows" ;;
esac

# A thread and the program itself work below `caller`, and with LOST the frame pointer is 0 meanwhile.
write_program()
{
	cat >lost.c <<'C'
#include <pthread.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
#if !defined(LOST)
#define LOSE
#elif defined(__x86_64__)
#define LOSE __asm__ volatile("xor %%ebp, %%ebp" ::: "rbp")
#else
#define LOSE __asm__ volatile("mov x29, xzr" ::: "x29")
#endif
static volatile long sink;
static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
APART void work(void)
{
	long i;

	do {
		LOSE;
		for (i = 0; i < 1000000; i++)
			sink += i;
	} while (cpu_ms() < 200);
}
APART void *caller(void *unused)
{
	work();
	sink++;
	return unused;
}
int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, 0, caller, 0))
		return 1;
	caller(0);
	pthread_join(thread, 0);
	return 0;
}
C
	"${CC:-cc}" -O2 -fomit-frame-pointer -DLOST -pthread -o lost lost.c 2>cc_err || fail "compiles" "$(<cc_err)"
	"${CC:-cc}" -O2 -fno-omit-frame-pointer -pthread -o kept lost.c 2>cc_err || fail "compiles" "$(<cc_err)"
}

record_of() { run "$PSTAT" record -N -F 1000 -e cpu-clock:u -o x "$@"; }

# The sentence in a text, without what stands around it.
sentence() { grep -oE '[0-9.]+ % of [0-9]+ user callchains do not reach .* --call-graph dwarf' <<<"$1" | head -n 1; }

test_lost()
{
	local said share

	write_program
	record_of -g -- ./lost
	said=$(sentence "$err")
	has "record says so" '^[0-9.]+ % of [0-9]+ user callchains do not reach the start of their program or thread: built without frame pointers; record with --call-graph dwarf$' "$said"
	share=${said%%.*}
	check "of most: ${share:-0} %" [ "${share:-0}" -ge 50 ]
	run "$PSTAT" report -i x
	same "report says the same" "$said" "$(sentence "$err")"
	run "$PSTAT" script -i x
	same "and script" "$said" "$(sentence "$err")"
	run "$PSTAT" report -i x --flamegraph=x.html
	same "and the flame page, for those who get it alone" "$said" "$(sentence "$(<x.html)")"
	run "$PSTAT" report -i x --user-stacks
	has "of the user's part too" 'user callchains do not reach' "$err"
	run "$PSTAT" report -i x --kernel-stacks
	has_not "not of the kernel's" 'user callchains' "$err"
	record_of -g -q -- ./lost
	same "a quiet recorder says nothing" "" "$err"
}

test_kept()
{
	local how

	write_program
	# The program's loader may have no frame pointers: a few samples of its start end there.
	record_of -g -- ./kept
	has_not "frame pointers lead to the start" '[0-9]{2,}\.[0-9] % of .*do not reach' "$err"
	for how in dwarf dwarf,raw; do
		record_of --call-graph $how -- ./lost
		has_not "$how: tables do, too" 'do not reach' "$err"
		run "$PSTAT" report -i x
		has_not "$how: as report says" 'do not reach' "$err"
	done
}

run_tests
