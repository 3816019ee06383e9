/* SPDX-License-Identifier: MIT */
/*
 * spend MS PROGRAM [WORD...]: becomes the program, which SIGPROF ends when it has used MS ms of CPU time, however long
 * that takes on a busy machine. The timer stays over exec; programs that it starts have none.
 */
#include <err.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[1]) : 0;
	const struct itimerval timer = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	if (ms <= 0)
		errx(2, "usage: spend MS PROGRAM [WORD...]");
	if (setitimer(ITIMER_PROF, &timer, NULL))
		err(2, "setitimer");
	execvp(argv[2], argv + 2);
	err(2, "%s", argv[2]);
}
