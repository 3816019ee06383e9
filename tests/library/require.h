/* SPDX-License-Identifier: MIT */
/*
 * For programs of which each word is a use of the library: it prints "ok", what does not hold and where, or "skip: "
 * and why it cannot be had here.
 */
#ifndef TESTS_REQUIRE_H
#define TESTS_REQUIRE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUIRE(condition)                                                           \
	do {                                                                         \
		if (!(condition)) {                                                  \
			printf("line %d does not hold: %s\n", __LINE__, #condition); \
			exit(0);                                                     \
		}                                                                    \
	} while (0)

#define SKIP(...)                         \
	do {                              \
		printf("skip: ");         \
		printf(__VA_ARGS__);      \
		putchar('\n');            \
		exit(0);                  \
	} while (0)

/* The text of an error that has to have these words. */
#define SAYS(error, words)                                                                       \
	do {                                                                                     \
		if (!strstr((error).text, words)) {                                              \
			printf("line %d: '%s' does not say '%s'\n", __LINE__, (error).text, words); \
			exit(0);                                                                 \
		}                                                                                \
	} while (0)

/* One page fault each, of pages that nobody has touched before. */
static inline void touch(size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(area != MAP_FAILED);
	madvise(area, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		((volatile char *)area)[i * page] = 1;
	munmap(area, n * page);
}

/*
 * A BPF program of a tracepoint runs for the hits of all processes: those who use one take turns, also with another run
 * of the tests. Held until the program ends.
 */
#define GETPRIORITY "syscalls:sys_enter_getpriority"
static inline void alone_at_getpriority(void)
{
	int file = open("/sys/kernel/tracing/events/syscalls/sys_enter_getpriority/id", O_RDONLY);

	if (file < 0 || flock(file, LOCK_EX))
		SKIP("tracefs cannot be read: %s", strerror(errno));
}

struct use {
	const char *name;
	void (*run)(void);
};

static inline int run_use(const struct use *uses, size_t n, int argc, char **argv)
{
	for (size_t i = 0; i < n; i++) {
		if (argc < 2 || strcmp(argv[1], uses[i].name) != 0)
			continue;
		uses[i].run();
		puts("ok");
		return 0;
	}
	return 2;
}

#endif
