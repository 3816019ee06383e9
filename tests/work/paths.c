/* SPDX-License-Identifier: MIT */
/*
 * A program whose stacks are deep and hardly ever the same: 660 functions, each of which calls any of them,
 * chosen by a sequence of numbers that is the same in each run. At the innermost nearly all of its time is spent.
 *
 *	paths MS [DEPTH]   main > f... > f... > ... (DEPTH of them, 108 unless said) > burn, for MS of CPU time
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef uint64_t function(uint64_t x, long depth);

enum { N_FUNCTIONS = 660, BURN_ROUNDS = 20000 };
static function *functions[N_FUNCTIONS];
static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t burn(uint64_t x)
{
	for (int i = 0; i < BURN_ROUNDS; i++)
		sink += x;
	return sink;
}

#define FUNCTION(n)                                                          \
	__attribute__((noinline)) static uint64_t f##n(uint64_t x, long depth) \
	{                                                                    \
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;     \
		if (depth <= 1)                                              \
			return burn(x) + 1;                                  \
		return functions[(x >> 33) % N_FUNCTIONS](x, depth - 1) + 1; \
	}
#define NAME(n) f##n,

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n)                                                                               \
	TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) TEN(X, n##5) TEN(X, n##6) \
	TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define ALL(X)                                                                                     \
	HUNDRED(X, 0) HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3) HUNDRED(X, 4) HUNDRED(X, 5)        \
	TEN(X, 60) TEN(X, 61) TEN(X, 62) TEN(X, 63) TEN(X, 64) TEN(X, 65)

ALL(FUNCTION)
static function *functions[N_FUNCTIONS] = { ALL(NAME) };

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 0, depth = argc > 2 ? strtol(argv[2], NULL, 10) : 108;
	uint64_t end = cpu_ns() + (uint64_t)ms * 1000000, x = 1;

	if (ms < 1 || depth < 1)
		return fprintf(stderr, "paths MS [DEPTH]\n"), 2;
	while (cpu_ns() < end) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		sink += functions[(x >> 33) % N_FUNCTIONS](x, depth);
	}
	return 0;
}
