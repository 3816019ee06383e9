/* SPDX-License-Identifier: MIT */
/*
 * A pipe is meant where there is one: `pstat record ./x | pstat report` says nothing else. But loops of a
 * shell and CI runners leave pipes open on which nothing will ever come; a program that reads them in
 * silence seems to hang, so after a second it says what it waits for.
 */
#include "cmd/recording_place.h"

#include "cmd/message.h"
#include "cmd/signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SILENCE_MS = 1000 };

static const char default_name[] = "perf.data";

static bool is_pipe(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode);
}

static bool names_pipe(const char *path)
{
	struct stat st;

	return strcmp(path, "-") ? !stat(path, &st) && S_ISFIFO(st.st_mode) : is_pipe(STDIN_FILENO);
}

/* Asks only whether anything comes; a read that fails is reported where it is tried. */
static void await_pipe(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	int ready;

	do
		ready = poll(&in, 1, SILENCE_MS);
	while (ready < 0 && errno == EINTR);
	if (!ready)
		message_error("standard input: waiting for a recording from this pipe; -i names a file "
			      "instead");
}

int recording_open(struct reader *reader, const char *named, struct str *err)
{
	bool piped = !named && is_pipe(STDIN_FILENO);
	int rc;

	if (piped || (named && names_pipe(named)))
		signals_spare_first();
	if (piped)
		await_pipe();
	rc = reader_open(reader, named ? named : piped ? "-" : default_name, err);
	if (rc == -ENOENT && !named && !piped)
		str_addf(err, "\nmake one with pstat record, or name another recording with -i");
	if (rc && piped)
		str_addf(err, "\nstandard input is a pipe, so it was read; to read a file, use -i, such as -i %s",
			 default_name);
	return rc;
}

const char *recording_target(const char *named)
{
	return named ? named : is_pipe(STDOUT_FILENO) ? "-" : default_name;
}
