/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and writes what it took into a file: wall ns, user us, system us, peak KiB, status.
 * A small program of its own, because a process begins with the peak memory of the one it came from.
 *
 *   measure FILE COMMAND [ARGUMENT...]
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct rusage used;
	long long start, wall;
	int status;
	pid_t pid;
	FILE *out;

	if (argc < 3)
		errx(2, "usage: measure FILE COMMAND [ARGUMENT...]");
	start = now_ns();
	pid = vfork();
	if (pid < 0)
		err(2, "vfork");
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &used) < 0)
		err(2, "wait4");
	wall = now_ns() - start;
	out = fopen(argv[1], "w");
	if (!out)
		err(2, "%s", argv[1]);
	fprintf(out, "%lld %lld %lld %ld %d\n", wall,
		used.ru_utime.tv_sec * 1000000ll + used.ru_utime.tv_usec,
		used.ru_stime.tv_sec * 1000000ll + used.ru_stime.tv_usec, used.ru_maxrss, status);
	return fclose(out) ? 2 : 0;
}
