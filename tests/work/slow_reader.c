/* SPDX-License-Identifier: MIT */
/*
 * A reader of a pipe that stops once: it copies its standard input into a file, reads nothing from one moment to
 * another, and then reads on to the end. What writes into the pipe meanwhile has to wait.
 *
 *   slow_reader FILE WHEN UNTIL
 *
 * WHEN is a number of milliseconds after the start, UNTIL one after that; either may instead be the path of a file:
 * the moment when it is there.
 */
#include <ctype.h>
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 10, BUFFER_BYTES = 1 << 16 };

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static bool has_come(const char *moment, long long since_ms)
{
	return isdigit(*moment) ? now_ms() - since_ms >= atoll(moment) : !access(moment, F_OK);
}

/* False at the end of the input. */
static bool copy_some(int to)
{
	static char buffer[BUFFER_BYTES];
	ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));

	if (n < 0)
		err(2, "read");
	for (ssize_t done = 0, wrote; done < n; done += wrote) {
		wrote = write(to, buffer + done, (size_t)(n - done));
		if (wrote < 0)
			err(2, "write");
	}
	return n > 0;
}

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	long long start = now_ms();
	int to;

	if (argc != 4)
		errx(2, "usage: slow_reader FILE WHEN UNTIL");
	to = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (to < 0)
		err(2, "%s", argv[1]);
	while (!has_come(argv[2], start)) {
		if (poll(&input, 1, LOOK_EVERY_MS) > 0 && !copy_some(to))
			return 0;
	}
	start = now_ms();
	while (!has_come(argv[3], start))
		poll(NULL, 0, LOOK_EVERY_MS);
	while (copy_some(to))
		;
	return 0;
}
