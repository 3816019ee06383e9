/* SPDX-License-Identifier: MIT */
/*
 * spool.c: what comes through a pipe, in a temporary file without a name, which is gone when the reader is. A recording
 * in file layout, as from `cat perf.data |`: its header names places after the records, so it cannot be read as it
 * comes. And one in the layout of pipes where it is to be read a second time.
 */
#include "data/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10 };

static int open_nameless(struct str *err)
{
	struct str why = STR_INIT;
	int fd = destination_create_nameless(NULL, &why);

	if (fd < 0)
		fail(err, fd, "cannot create a temporary file for the recording from a pipe: %s\n"
		     "give its file name with -i", why.s);
	str_release(&why);
	return fd;
}

static int copy(int from, int to, const char *path, struct str *err)
{
	uint8_t *piece = xmalloc(PIECE_BYTES);
	ssize_t got;
	int rc = 0;

	while (!rc && (got = read(from, piece, PIECE_BYTES)) != 0) {
		if (got < 0 && errno != EINTR)
			rc = fail(err, -errno, "%s: %s", path, strerror(errno));
		else if (got > 0 && (rc = write_all(to, (const char *)piece, (size_t)got)) != 0)
			fail(err, rc, "%s: the temporary file for it cannot be written: %s\n"
			     "give its file name with -i", path, strerror(-rc));
	}
	free(piece);
	return rc;
}

int spool_pipe(int pipe, const uint8_t *head, size_t n, const char *path, struct str *err)
{
	int fd = open_nameless(err), rc;

	if (fd < 0)
		return fd;
	rc = write_all(fd, (const char *)head, n);
	if (rc)
		fail(err, rc, "%s: the temporary file for it cannot be written: %s", path, strerror(-rc));
	else
		rc = copy(pipe, fd, path, err);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

struct spool {
	int fd;
	uint64_t bytes, bytes_max;
	int failed; /* errno of what could not be kept; then nothing is */
};

struct spool *spool_new(uint64_t bytes_max, struct str *err)
{
	int fd = open_nameless(err);
	struct spool *spool;

	if (fd < 0)
		return NULL;
	spool = xcalloc(1, sizeof(*spool));
	*spool = (struct spool){ .fd = fd, .bytes_max = bytes_max };
	return spool;
}

void spool_free(struct spool *spool)
{
	if (spool)
		close(spool->fd);
	free(spool);
}

void spool_add(struct spool *spool, const void *bytes, size_t n)
{
	int rc;

	if (spool->failed)
		return;
	if (n > spool->bytes_max - spool->bytes)
		rc = -EFBIG;
	else
		rc = write_all(spool->fd, bytes, n);
	spool->bytes += n;
	if (!rc)
		return;
	spool->failed = -rc;
	(void)!ftruncate(spool->fd, 0); /* others may need the room */
}

int spool_open(const struct spool *spool)
{
	char path[32];
	int fd;

	if (spool->failed)
		return -spool->failed;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", spool->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
