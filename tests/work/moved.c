/* SPDX-License-Identifier: MIT */
/*
 * moved HOW SECONDS: copies the code of hot_loop() and its caller into memory without a file, at the same addresses, as
 * programs do for huge pages, and spends so much CPU time there.
 *	HOW over: maps over it; from: moves a copy there, of which the kernel tells no one
 * Prints a line when it runs there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 65536 }; /* the largest there is */

static volatile unsigned long sink;

__attribute__((noinline, aligned(PAGE))) void hot_loop(double seconds);
__attribute__((noinline)) void call_hot_loop(double seconds);
__attribute__((noinline, aligned(PAGE))) int move(void *code, size_t bytes, int over);

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void hot_loop(double seconds)
{
	double end = now() + seconds;

	do
		for (unsigned long i = 0; i < 100000; i++)
			sink += i * 7;
	while (now() < end);
}

void call_hot_loop(double seconds)
{
	hot_loop(seconds);
	sink++;
}

/* On a page of its own, which stays the file's. */
int move(void *code, size_t bytes, int over)
{
	enum { PROT = PROT_READ | PROT_WRITE | PROT_EXEC, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
	void *copy = mmap(NULL, bytes, PROT, FLAGS, -1, 0);

	if (copy == MAP_FAILED)
		return 1;
	memcpy(copy, code, bytes);
	if (!over)
		return mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, code) == MAP_FAILED;
	if (mmap(code, bytes, PROT, FLAGS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 1;
	memcpy(code, copy, bytes);
	__builtin___clear_cache((char *)code, (char *)code + bytes);
	return 0;
}

int main(int n, char **words)
{
	char *code = (char *)(uintptr_t)hot_loop, *end = (char *)(uintptr_t)move;

	if (n != 3 || end <= code || move(code, (size_t)(end - code), !strcmp(words[1], "over")))
		return 1;
	puts("runs there");
	fflush(stdout);
	call_hot_loop(atof(words[2]));
	return 0;
}
