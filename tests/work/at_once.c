/* SPDX-License-Identifier: MIT */
/*
 * at_once MS: spends so much CPU time in alone(), with no other thread there, and then as much in together() in each of
 * two threads, which begin at once.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;
static pthread_barrier_t both;
static uint64_t bound_ns;

void alone(void);
void together(void);

static uint64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void alone(void)
{
	while (used_ns() < bound_ns)
		for (unsigned i = 0; i < 100000; i++)
			sink += i;
}

void together(void)
{
	uint64_t end = used_ns() + bound_ns;

	pthread_barrier_wait(&both);
	while (used_ns() < end)
		for (unsigned i = 0; i < 100000; i++)
			sink += i;
}

static void *second(void *data)
{
	together();
	return data;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	bound_ns = (uint64_t)(argc > 1 ? atoi(argv[1]) : 100) * 1000000;
	alone();
	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&thread, NULL, second, NULL))
		return 1;
	together();
	return pthread_join(thread, NULL) != 0;
}
