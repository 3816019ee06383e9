/* SPDX-License-Identifier: MIT */
/*
 * The descriptors of --control. Pipes are opened for reading and writing at once, so that opening waits
 * for no one and the other side may come and go.
 */
#include "cmd/control_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static int take_fd(const char *text, int *fd, struct str *err)
{
	long number;

	if (parse_int(text, 0, INT_MAX, &number))
		return fail(err, -EINVAL, "--control: '%s' is not a descriptor's number", text);
	if (fcntl((int)number, F_GETFD) < 0)
		return fail(err, -EBADF, "--control: descriptor %ld is not open", number);
	/* The descriptor stays open for the command, which may use it to say what of itself is counted. */
	*fd = (int)number;
	return 0;
}

static int open_fifo(const char *path, int *fd, struct str *err)
{
	struct str why = STR_INIT;

	*fd = destination_open_control(path, &why);
	if (*fd < 0)
		fail(err, *fd, "--control: cannot open '%s': %s", path, why.s);
	str_release(&why);
	return *fd < 0 ? *fd : 0;
}

/* To add a kind of place: a row here, pstat-stat(1), tests/cli/control.sh. */
static const struct place_kind {
	const char *prefix;
	int (*open)(const char *text, int *fd, struct str *err);
	bool close_fds;
} place_kinds[] = {
	{ "fd:", take_fd, false },
	{ "fifo:", open_fifo, true },
};

int control_place_open(struct control_place *control, const char *words, struct str *err)
{
	const struct place_kind *kind = NULL;
	char *first, *second;
	int rc;

	if (!words)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(place_kinds) && !kind; i++)
		if (!strncmp(words, place_kinds[i].prefix, strlen(place_kinds[i].prefix)))
			kind = &place_kinds[i];
	if (!kind)
		return fail(err, -EINVAL, "--control: '%s' is neither fd:N[,N] nor fifo:PATH[,PATH]",
			    words);
	control->close_fds = kind->close_fds;
	first = xstrdup(words + strlen(kind->prefix));
	second = strchr(first, ',');
	if (second)
		*second++ = '\0';
	rc = kind->open(first, &control->fd, err);
	if (!rc && second)
		rc = kind->open(second, &control->ack_fd, err);
	free(first);
	return rc;
}

void control_place_close(struct control_place *control)
{
	if (control->close_fds && control->fd >= 0)
		close(control->fd);
	if (control->close_fds && control->ack_fd >= 0)
		close(control->ack_fd);
	*control = (struct control_place)CONTROL_PLACE_INIT;
}
