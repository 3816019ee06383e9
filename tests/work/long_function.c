/* SPDX-License-Identifier: MIT */
/*
 * A program that is in one long function, of some 2,000 instructions, for MS milliseconds of CPU time:
 *
 *	long_function MS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEP(k)                               \
	a = a * UINT64_C(6364136223846793005) + (k); \
	b ^= a >> ((k) % 31 + 1);             \
	c[(k) % 16] += b;
#define STEPS(k) STEP(k) STEP((k) + 1) STEP((k) + 2) STEP((k) + 3)

static uint64_t c[16];

__attribute__((noinline)) static uint64_t long_function(uint64_t a, uint64_t b)
{
	STEPS(0)
	STEPS(4)
	STEPS(8)
	STEPS(12)
	STEPS(16)
	STEPS(20)
	STEPS(24)
	STEPS(28)
	STEPS(32)
	STEPS(36)
	STEPS(40)
	STEPS(44)
	STEPS(48)
	STEPS(52)
	STEPS(56)
	STEPS(60)
	STEPS(64)
	STEPS(68)
	STEPS(72)
	STEPS(76)
	STEPS(80)
	STEPS(84)
	STEPS(88)
	STEPS(92)
	STEPS(96)
	STEPS(100)
	STEPS(104)
	STEPS(108)
	STEPS(112)
	STEPS(116)
	STEPS(120)
	STEPS(124)
	STEPS(128)
	STEPS(132)
	STEPS(136)
	STEPS(140)
	STEPS(144)
	STEPS(148)
	STEPS(152)
	STEPS(156)
	return a ^ b;
}

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long end = argc > 1 ? atol(argv[1]) : 1000;
	uint64_t sum = 1;

	while (cpu_ms() < end)
		for (int i = 0; i < 1000; i++)
			sum = long_function(sum, sum >> 7);
	printf("%d\n", (int)(sum & 1));
	return 0;
}
