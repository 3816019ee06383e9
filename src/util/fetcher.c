/*
 * fetcher.c: see fetcher.h. Copies are known by device, inode, size and times; the oldest make room. A copy of a
 * file's head grows when more of the file is asked for.
 */
#include "util/fetcher.h"

#include "util/courier.h"
#include "util/mounts.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20, COPIES_MAX = 32 };

struct copy {
	struct stat of;
	int fd; /* of memory */
	uint64_t bytes; /* that are there; zeros behind them */
};

struct fetcher {
	atomic_uint *progress;
	struct copy copies[COPIES_MAX];
	size_t n, next; /* `next`: the oldest, which makes room */
};

struct fetcher *fetcher_new(atomic_uint *progress)
{
	struct fetcher *fetcher = xcalloc(1, sizeof(*fetcher));

	fetcher->progress = progress;
	return fetcher;
}

static bool same_contents(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void drop_copy(struct copy *copy)
{
	if (copy->fd >= 0)
		close(copy->fd);
	*copy = (struct copy){ .fd = -1 };
}

/* The copy of this file, perhaps without bytes yet. */
static struct copy *copy_of(struct fetcher *fetcher, const struct stat *st)
{
	uint64_t kept = 0;
	struct copy *copy;

	for (size_t i = 0; i < fetcher->n; i++)
		if (fetcher->copies[i].fd >= 0 && same_contents(&fetcher->copies[i].of, st))
			return &fetcher->copies[i];
	for (size_t i = 0; i < fetcher->n; i++)
		kept += fetcher->copies[i].bytes;
	for (size_t i = 0; i < fetcher->n && kept > COURIER_KEPT_BYTES - COURIER_COPY_BYTES; i++) {
		copy = &fetcher->copies[(fetcher->next + i) % fetcher->n];
		kept -= copy->bytes;
		drop_copy(copy);
	}
	copy = &fetcher->copies[fetcher->next];
	if (fetcher->n < COPIES_MAX)
		fetcher->n++;
	else
		drop_copy(copy);
	fetcher->next = (fetcher->next + 1) % COPIES_MAX;
	*copy = (struct copy){ .of = *st };
	copy->fd = memfd_create("pstat-copy", MFD_CLOEXEC);
	return copy;
}

/* Bytes of the file behind those that are there, up to `end`. */
static int copy_on(struct fetcher *fetcher, struct copy *copy, int fd, uint64_t end)
{
	char *chunk = xmalloc(CHUNK_BYTES);
	int rc = 0;

	while (!rc && copy->bytes < end) {
		uint64_t left = end - copy->bytes;
		ssize_t got = pread(fd, chunk, left < CHUNK_BYTES ? left : CHUNK_BYTES,
				    (off_t)copy->bytes);

		if (got <= 0)
			rc = got < 0 ? -errno : -EIO; /* shorter than it says */
		else if (pwrite(copy->fd, chunk, (size_t)got, (off_t)copy->bytes) != got)
			rc = -ENOMEM;
		else
			copy->bytes += (uint64_t)got;
		atomic_fetch_add(fetcher->progress, 1);
	}
	free(chunk);
	return rc;
}

/* Takes fd. A description of its own, so that whoever gets it begins at the first byte. It has the file's times. */
static int copy_file(struct fetcher *fetcher, int fd, const struct stat *st, uint64_t head_bytes,
		     struct str *err)
{
	uint64_t end = (uint64_t)st->st_size;
	struct copy *copy = copy_of(fetcher, st);
	char self[64];
	int rc = copy->fd < 0 || ftruncate(copy->fd, st->st_size) ? -errno : 0;

	if (head_bytes && head_bytes < end)
		end = head_bytes;
	if (!rc)
		rc = copy_on(fetcher, copy, fd, end);
	if (!rc && futimens(copy->fd, (struct timespec[]){ st->st_atim, st->st_mtim }))
		rc = -errno;
	close(fd);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", copy->fd);
	fd = rc ? rc : open(self, O_RDONLY | O_CLOEXEC);
	if (!rc && fd < 0)
		rc = -errno;
	if (rc)
		drop_copy(copy);
	return rc ? fail(err, rc, "%s", strerror(-rc)) : fd;
}

/* Takes fd. The first and the last byte, so that an answer was had from whoever has them. */
static int probe_file(struct fetcher *fetcher, int fd, const struct stat *st, struct str *err)
{
	off_t places[] = { 0, st->st_size - 1 };
	char byte;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(places) && st->st_size > 0 && !rc; i++) {
		if (pread(fd, &byte, 1, places[i]) < 0)
			rc = fail(err, -errno, "%s", strerror(errno));
		atomic_fetch_add(fetcher->progress, 1);
	}
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* Whose program is trusted to go on answering: the user's own, or root's. */
static bool is_trusted(const struct mount *mount)
{
	return mount && mount->owned && (!mount->owner || mount->owner == geteuid());
}

int fetcher_take(struct fetcher *fetcher, int fd, const struct stat *st, uint64_t head_bytes,
		 struct str *err)
{
	struct mounts mounts;
	const struct mount *mount;
	enum mount_kind kind;
	struct statfs fs;
	uint64_t wanted = head_bytes ? head_bytes : (uint64_t)st->st_size;
	bool trusted;

	atomic_fetch_add(fetcher->progress, 1);
	kind = fstatfs(fd, &fs) ? MOUNT_OF_FUSE : mount_kind_of_magic((uint32_t)fs.f_type);
	atomic_fetch_add(fetcher->progress, 1);
	if (kind == MOUNT_OF_KERNEL)
		return fd;
	mounts_read(&mounts, "/proc/self/mountinfo");
	mount = mounts_find(&mounts, fd);
	kind = mount ? mount->kind : kind;
	trusted = is_trusted(mount);
	mounts_release(&mounts);
	if (kind == MOUNT_OF_NETWORK || (wanted > COURIER_COPY_BYTES && trusted))
		return probe_file(fetcher, fd, st, err);
	if (wanted <= COURIER_COPY_BYTES)
		return copy_file(fetcher, fd, st, head_bytes, err);
	close(fd);
	return fail(err, -EFBIG, "%llu bytes, more than the %u that are read of another user's FUSE",
		    (unsigned long long)st->st_size, (unsigned)COURIER_COPY_BYTES);
}
