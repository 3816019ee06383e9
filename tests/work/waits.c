/* SPDX-License-Identifier: MIT */
/*
 * Waits whose length is known, each in a function of its own:
 *
 *	waits [N]     sleeps() N times for 10 ms; locks() for a lock that is held, reads() from a pipe that is slow
 *	waits N RATE  two threads on one CPU that take turns: N switches, RATE a second; prints nothing
 *
 * The first prints a line for each: its name, the ns that it has waited at least, and the ns that passed from before
 * its first call to after its last one, by CLOCK_MONOTONIC. The other thread begins to count when the kernel says that
 * this one sleeps.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_NS = 10000000, HELD_NS = 40000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fds[2];
static char stat_path[64]; /* of the main thread */
static volatile int step; /* what the main thread does next */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec t = { 0, ns };

	while (nanosleep(&t, &t))
		;
}

/* Until the main thread sleeps: the letter after the name in parentheses. proc_pid_stat(5) */
static void until_asleep(void)
{
	char text[256], *end;

	do {
		FILE *file = fopen(stat_path, "r");

		if (!file || !fgets(text, sizeof(text), file))
			err(1, "%s", stat_path);
		fclose(file);
		end = strrchr(text, ')');
	} while (!end || end[2] != 'S');
}

static void reach(int at)
{
	while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != at)
		sleep_ns(100000);
}

static void *keeps_waiting(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	__atomic_store_n(&step, 1, __ATOMIC_RELEASE);
	reach(2);
	until_asleep();
	sleep_ns(HELD_NS);
	pthread_mutex_unlock(&lock);
	reach(3);
	until_asleep();
	sleep_ns(HELD_NS);
	if (write(pipe_fds[1], "x", 1) != 1)
		err(1, "write");
	return NULL;
}

__attribute__((noinline)) static uint64_t sleeps(int n)
{
	uint64_t begun = now_ns();

	for (int i = 0; i < n; i++)
		sleep_ns(SLEEP_NS);
	return now_ns() - begun;
}

__attribute__((noinline)) static uint64_t locks(void)
{
	uint64_t begun = now_ns();

	__atomic_store_n(&step, 2, __ATOMIC_RELEASE);
	pthread_mutex_lock(&lock);
	return now_ns() - begun;
}

__attribute__((noinline)) static uint64_t reads(void)
{
	uint64_t begun = now_ns();
	char c;

	__atomic_store_n(&step, 3, __ATOMIC_RELEASE);
	if (read(pipe_fds[0], &c, 1) != 1)
		err(1, "read");
	return now_ns() - begun;
}

static void print(const char *name, uint64_t least_ns, uint64_t measured_ns)
{
	printf("%s %llu %llu\n", name, (unsigned long long)least_ns, (unsigned long long)measured_ns);
}

/* ---- switches at a rate ---- */

static int there[2], back[2];

static void pass_on(int from, int to)
{
	char c;

	if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
		err(1, "a turn");
}

static void *takes_turns(void *turns)
{
	for (long i = 0; i < *(const long *)turns; i++)
		pass_on(there[0], back[1]);
	return NULL;
}

/* Sleeps when it is a millisecond ahead. */
static void keep_rate(uint64_t begun_ns, uint64_t done, uint64_t rate)
{
	uint64_t due_ns = begun_ns + done * 1000000000 / rate, now = now_ns();

	if (due_ns > now + 1000000)
		sleep_ns((long)(due_ns - now));
}

static int take_turns(long n, uint64_t rate)
{
	uint64_t begun = now_ns();
	long turns = n / 2;
	pthread_t other;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) || pipe(there) || pipe(back) ||
	    pthread_create(&other, NULL, takes_turns, &turns))
		err(1, "cannot begin");
	for (long i = 0; i < turns; i++) {
		char c = 'x';

		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			err(1, "a turn");
		keep_rate(begun, 2 * (uint64_t)i, rate);
	}
	pthread_join(other, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	uint64_t slept, locked, read_for;
	pthread_t other;

	if (argc > 2)
		return take_turns(n, strtoull(argv[2], NULL, 10));
	snprintf(stat_path, sizeof(stat_path), "/proc/self/task/%ld/stat", syscall(SYS_gettid));
	if (pipe(pipe_fds) || pthread_create(&other, NULL, keeps_waiting, NULL))
		err(1, "cannot begin");
	reach(1);
	slept = sleeps(n);
	locked = locks();
	read_for = reads();
	pthread_join(other, NULL);
	print("sleeps", (uint64_t)n * SLEEP_NS, slept);
	print("locks", HELD_NS, locked);
	print("reads", HELD_NS, read_for);
	return 0;
}
