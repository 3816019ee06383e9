/* SPDX-License-Identifier: MIT */
/*
 * turns N: two processes, named ping and pong while they do, that wake each other N times through pipes; ping waits
 * each time until pong sleeps. Prints pong's pid, and how often it slept while it had that name: its voluntary
 * switches, as the kernel counts them. All their memory is locked, so that pong waits for nothing else but ping.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_pong[2], to_ping[2];

static void take_byte(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		err(1, "read");
}

static void give_byte(int fd)
{
	if (write(fd, "", 1) != 1)
		err(1, "write");
}

/* The letter after the name in parentheses. proc_pid_stat(5) */
static void until_asleep(pid_t pid)
{
	char path[64], text[256], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	do {
		FILE *file = fopen(path, "r");

		if (!file || !fgets(text, sizeof(text), file))
			err(1, "%s", path);
		fclose(file);
		end = strrchr(text, ')');
	} while (!end || end[2] != 'S');
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static void pong(long n)
{
	long before;

	prctl(PR_SET_NAME, "pong");
	before = switches();
	for (long i = 0; i < n; i++) {
		take_byte(to_pong[0]);
		give_byte(to_ping[1]);
	}
	before = switches() - before;
	prctl(PR_SET_NAME, "after");
	printf("%d %ld\n", (int)getpid(), before);
}

int main(int argc, char **argv)
{
	const long n = argc == 2 ? atol(argv[1]) : 0;
	pid_t child;

	if (n < 1 || pipe(to_pong) || pipe(to_ping))
		errx(2, "usage: turns N");
	child = fork();
	if (child < 0 || mlockall(MCL_CURRENT | MCL_FUTURE))
		err(2, "fork or mlockall");
	if (!child) {
		pong(n);
		return 0;
	}
	prctl(PR_SET_NAME, "ping");
	for (long i = 0; i < n; i++) {
		until_asleep(child);
		give_byte(to_pong[1]);
		take_byte(to_ping[0]);
	}
	prctl(PR_SET_NAME, "parent");
	return waitpid(child, NULL, 0) != child;
}
