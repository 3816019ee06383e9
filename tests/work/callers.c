/* SPDX-License-Identifier: MIT */
/*
 * A program with a call tree that is known from its text, for recordings with callchains. Built
 * without optimisation, so that all functions have frame pointers and none becomes a jump.
 *
 *	callers deep MS [THREADS]   main > spin_deep > level8 > ... > level1 > leaf, with many ways between
 *	callers known MS [SPREAD]   main > known > { one_third > burn, two_thirds > burn }: 1 to 2 in time. Turns
 *	                            differ by up to SPREAD in 10000: no rate of sampling keeps in step with them
 *	callers recursive MS [DEPTH]  main > recurse > recurse > ... (20 deep) > burn
 *	callers chain               each of link1 > link2 > ... > link5 is called once and writes nothing
 *
 * MS is CPU time of each thread.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME __attribute__((noinline))

static __thread volatile uint64_t sink;
static long run_ms;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

FRAME static void burn(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sink += (uint64_t)i * 7;
}

FRAME static uint64_t leaf(uint64_t x)
{
	burn(300);
	return x + sink;
}

#define LEVEL(n, inner, other)                                                       \
	FRAME static uint64_t level##n(uint64_t x)                                   \
	{                                                                            \
		uint64_t next = x * 6364136223846793005ULL + 1442695040888963407ULL; \
		return (x >> (40 + (n)) & 1 ? inner(next) : other(next)) + 1;        \
	}

LEVEL(1, leaf, leaf)
LEVEL(2, level1, leaf)
LEVEL(3, level2, level1)
LEVEL(4, level3, level2)
LEVEL(5, level4, level3)
LEVEL(6, level5, level4)
LEVEL(7, level6, level5)
LEVEL(8, level7, level6)

FRAME static void spin_deep(void)
{
	uint64_t end = cpu_ns() + (uint64_t)run_ms * 1000000, x = 1;

	/* The clock is seldom asked: perf names the table of linked calls, if it is sampled, otherwise. */
	while (cpu_ns() < end)
		for (int i = 0; i < 10000; i++)
			x = level8(x * 6364136223846793005ULL + 1442695040888963407ULL);
	sink += x;
}

static void *spin_thread(void *unused)
{
	spin_deep();
	return unused;
}

static void deep(int threads)
{
	pthread_t ids[64];

	for (int i = 1; i < threads && i < 64; i++)
		pthread_create(&ids[i], NULL, spin_thread, NULL);
	spin_deep();
	for (int i = 1; i < threads && i < 64; i++)
		pthread_join(ids[i], NULL);
}

FRAME static void one_third(long rounds)
{
	burn(rounds);
	sink++;
}

FRAME static void two_thirds(long rounds)
{
	burn(2 * rounds);
	sink++;
}

FRAME static void known(long spread)
{
	uint64_t end = cpu_ns() + (uint64_t)run_ms * 1000000, x = 1;

	while (cpu_ns() < end) {
		for (int i = 0; i < 100; i++) {
			long rounds = 10000 - spread / 2 + (long)(x >> 33) % (spread + 1);

			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
			one_third(rounds);
			two_thirds(rounds);
		}
	}
	sink++;
}

FRAME static void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		burn(100000);
	sink++;
}

static void recursive(int frames)
{
	uint64_t end = cpu_ns() + (uint64_t)run_ms * 1000000;

	while (cpu_ns() < end)
		recurse(frames);
}

FRAME static void link5(void)
{
	sink++;
}
FRAME static void link4(void)
{
	link5();
	sink++;
}
FRAME static void link3(void)
{
	link4();
	sink++;
}
FRAME static void link2(void)
{
	link3();
	sink++;
}
FRAME static void link1(void)
{
	link2();
	sink++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	run_ms = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
	if (!strcmp(what, "deep"))
		deep(argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1);
	else if (!strcmp(what, "known"))
		known(argc > 3 ? strtol(argv[3], NULL, 10) : 0);
	else if (!strcmp(what, "recursive"))
		recursive(argc > 3 ? (int)strtol(argv[3], NULL, 10) : 20);
	else if (!strcmp(what, "chain"))
		link1();
	else
		return fprintf(stderr, "callers: deep | known | recursive | chain [MS [NUMBER]]\n"), 2;
	return 0;
}
