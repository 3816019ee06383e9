/* SPDX-License-Identifier: MIT */
/*
 * chain N: main calls outer, outer middle, middle inner; inner loops 2 * N instructions. All keep
 * frame pointers, and inner calls a function, so that it has a frame of its own: the callchain of
 * nearly every sample is known.
 */
#include <stdlib.h>

void inner(unsigned long n);
void middle(unsigned long n);
void outer(unsigned long n);
void nothing(void);

__attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void inner(unsigned long n)
{
	nothing();
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
	nothing();
}

__attribute__((noinline)) void middle(unsigned long n)
{
	inner(n);
	nothing();
}

__attribute__((noinline)) void outer(unsigned long n)
{
	middle(n);
	nothing();
}

int main(int argc, char **argv)
{
	outer(argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
	return 0;
}
