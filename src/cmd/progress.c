/* SPDX-License-Identifier: MIT */
/*
 * The line is written over itself with a carriage return, and wiped with spaces, so that it needs no
 * escape sequences.
 */
#include "cmd/progress.h"

#include <unistd.h>

enum { LINE_COLUMNS = 78 };
#define FIRST_AFTER_NS 500000000ULL
#define EVERY_NS 100000000ULL

void progress_init(struct progress *progress, const char *what, bool wanted)
{
	*progress = (struct progress){ .terminal = wanted && isatty(STDERR_FILENO), .what = what };
	progress->begun_ns = now_ns();
}

static void show(const char *text)
{
	char line[LINE_COLUMNS + 3];
	int n = snprintf(line, sizeof(line), "\r%-*.*s\r", LINE_COLUMNS, LINE_COLUMNS, text);

	/* A line that can't be shown is not missed. */
	if (n > 0)
		(void)!write(STDERR_FILENO, line, (size_t)n);
}

void progress_step(struct progress *progress, const char *what, double part)
{
	struct str line = STR_INIT;
	uint64_t now;

	if (!progress->terminal)
		return;
	now = now_ns();
	if (now - progress->begun_ns < FIRST_AFTER_NS || now - progress->last_ns < EVERY_NS)
		return;
	progress->last_ns = now;
	progress->shown = true;
	str_add(&line, "pstat: ");
	what = what ? what : progress->what;
	str_add_printable(&line, what, strlen(what));
	if (part >= 0)
		str_addf(&line, ": %.0f %%", part * 100);
	show(line.s);
	str_release(&line);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		show("");
	progress->shown = false;
}
