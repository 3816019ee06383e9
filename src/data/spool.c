/*
 * spool.c: a recording in file layout that comes through a pipe, as from `cat perf.data |`. Its header
 * names places behind the records, so it cannot be read as it comes: it is kept in a temporary file
 * without a name, which is gone when the reader is.
 */
#include "data/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10 };

/* In $TMPDIR, as all temporary files; the name is taken away at once. */
static int open_nameless(struct str *err)
{
	const char *folder = getenv("TMPDIR");
	char *path = xasprintf("%s/pstat-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		fd = fail(err, -errno, "%s: no file can be made there for a recording that comes "
			  "through a pipe: %s\ngive its file name with -i", path, strerror(errno));
	else
		unlink(path);
	free(path);
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
