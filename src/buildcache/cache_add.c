/* SPDX-License-Identifier: MIT */
/*
 * cache_add: a file becomes an entry, or nothing of it is left.
 *
 *	the file --build-id?--> folder, link, mark --> .elf.PID.1.new: shared, linked or copied --build-id?--> renamed
 *
 * The link comes first: whatever ends us leaves an entry without its file, which the next one who adds it completes
 * and which removing finds, never a file that nobody finds. Another writer may make the same entry, another process
 * remove it meanwhile: then it is begun again.
 *
 * A hard link costs nothing, but it is the file itself: who writes to the file in place writes to the entry, and a
 * program with the set-user-ID bit would outlive its repair. So small files are copied, and only what is big,
 * nobody but us or root can change, and has no such bit, is linked. It is checked whenever it is wanted in any case.
 */
#include "buildcache/cache_internal.h"

#include "elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	LINK_BYTES_MIN = 8 << 20, /* copied in some milliseconds */
	LIST_BYTES_MAX = 256 << 20, /* of the kernel's symbols: usually 10 MB */
	CHUNK_BYTES = 1 << 18,
	FILE_MODE = 0600,
};

struct cache_addition {
	struct build_cache *cache;
	const struct cache_file *file;
	const char *path; /* below the cache's folder */
	char hex[CACHE_HEX_BYTES];
	struct stat stat; /* of the file */
	struct cache_place place;
	char name[64]; /* of what is being written, in the folder of the place */
	uint64_t bytes;
};

/* ---- its contents ---- */

static bool may_link(const struct cache_addition *add)
{
	const struct stat *st = &add->stat;

	return add->file->kind != CACHE_MAP && st->st_size >= LINK_BYTES_MIN &&
	       !(st->st_mode & (S_ISUID | S_ISGID | S_IWGRP | S_IWOTH)) && (st->st_uid == geteuid() || st->st_uid == 0);
}

/* The link fails where the file lies on another file system, or has no name any more. */
static bool try_link(const struct cache_addition *add)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", add->file->fd);
	return may_link(add) &&
	       !linkat(AT_FDCWD, self, add->place.folder, add->name, AT_SYMLINK_FOLLOW);
}

/* Bytes that the kernel can't copy by itself, such as those of its own files, up to `end`. */
static int copy_by_hand(const struct interrupt *interrupt, int from, int to, off_t at, off_t end)
{
	char *chunk = xmalloc(CHUNK_BYTES);
	int rc = 0;

	while (!rc && at < end) {
		size_t want = end - at < CHUNK_BYTES ? (size_t)(end - at) : CHUNK_BYTES;
		ssize_t got = pread(from, chunk, want, at);

		if (interrupt_came(interrupt))
			rc = -ECANCELED;
		else if (got < 0)
			rc = errno == EINTR ? 0 : -errno;
		else
			rc = write_all(to, chunk, (size_t)got);
		if (!rc && !got)
			break;
		at += got > 0 ? got : 0;
	}
	free(chunk);
	return rc;
}

static int copy_range(const struct interrupt *interrupt, int from, int to, off_t at, off_t end)
{
	if (lseek(to, at, SEEK_SET) < 0)
		return -errno;
	while (at < end) {
		size_t want = end - at < INTERRUPT_BYTES ? (size_t)(end - at) : INTERRUPT_BYTES;
		ssize_t done = copy_file_range(from, &at, to, NULL, want, 0);

		if (interrupt_came(interrupt))
			return -ECANCELED;
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return -errno;
		if (done <= 0)
			return copy_by_hand(interrupt, from, to, at, end);
	}
	return 0;
}

/* Holes stay holes: a file of many bytes can be a small one. */
static int copy_file(const struct interrupt *interrupt, int from, int to, off_t size)
{
	off_t at = 0;
	int rc = 0;

	while (!rc && at < size) {
		off_t data = lseek(from, at, SEEK_DATA), end;

		if (data < 0 && errno == ENXIO)
			break;
		data = data < 0 ? at : data;
		end = lseek(from, data, SEEK_HOLE);
		end = end <= data || end > size ? size : end;
		rc = copy_range(interrupt, from, to, data, end);
		at = end;
	}
	return !rc && ftruncate(to, size) ? -errno : rc;
}

static int write_contents(const struct cache_addition *add, int to, struct str *err)
{
	const struct cache_file *file = add->file;
	const struct interrupt *interrupt = &add->cache->interrupt;
	const struct stat *before = &add->stat;
	struct stat now;
	int rc;

	if (file->kind == CACHE_KALLSYMS) /* its size is known when it has been read */
		rc = copy_by_hand(interrupt, file->fd, to, 0, LIST_BYTES_MAX);
	else
		rc = ioctl(to, FICLONE, file->fd) ? copy_file(interrupt, file->fd, to, before->st_size) : 0;
	if (rc)
		return fail(err, rc, "%s", rc == -ECANCELED ? "interrupted" : strerror(-rc));
	if (file->kind == CACHE_MAP) /* it may have grown */
		return 0;
	if (fstat(file->fd, &now) || now.st_size != before->st_size ||
	    now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
		return fail(err, -ESTALE, "it was changed while it was copied");
	return 0;
}

/* Checks what was written, not what it was written from: that may have changed meanwhile. */
static int write_beside(struct cache_addition *add, struct str *err)
{
	static atomic_uint n_written;
	struct stat st;
	int fd, rc;

	snprintf(add->name, sizeof(add->name), ".%s.%d.%u.new", build_cache_kind_names[add->file->kind], (int)getpid(),
		 atomic_fetch_add(&n_written, 1));
	unlinkat(add->place.folder, add->name, 0); /* of a process that had this number before */
	if (try_link(add))
		return cache_verify(add->file->fd, &add->file->id, add->file->kind, err);
	fd = openat(add->place.folder, add->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : fail(err, -errno, "cannot be created: %s", strerror(errno));
	rc = write_contents(add, fd, err);
	if (!rc)
		rc = cache_verify(fd, &add->file->id, add->file->kind, err);
	if (!rc && !fstat(add->file->fd, &st) && (st.st_mode & S_IXUSR) && fchmod(fd, FILE_MODE | S_IXUSR))
		rc = fail(err, -errno, "%s", strerror(errno));
	if (!rc && !fstat(fd, &st))
		add->bytes = (uint64_t)st.st_blocks * 512;
	if (close(fd) && !rc)
		rc = fail(err, -errno, "%s", strerror(errno));
	return rc;
}

/* ---- its place ---- */

/* A link that leads nowhere is replaced; -EEXIST: another writer made one. */
static int make_link(const struct cache_addition *add, bool replace)
{
	char *text = cache_link_text(add->path, add->hex), name[64];
	int folder = cache_links_folder(add->cache, add->hex, true), rc = folder < 0 ? folder : 0;

	snprintf(name, sizeof(name), ".%d.new", (int)getpid());
	if (!rc && !replace && symlinkat(text, folder, add->hex + 2))
		rc = -errno;
	if (!rc && replace) {
		unlinkat(folder, name, 0);
		if (symlinkat(text, folder, name) || renameat(folder, name, folder, add->hex + 2)) {
			rc = -errno;
			unlinkat(folder, name, 0);
		}
	}
	if (folder >= 0)
		close(folder);
	free(text);
	return rc;
}

static int make_mark(int folder)
{
	int fd = openat(folder, CACHE_MARK, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, FILE_MODE);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* -EAGAIN: others were at it at the same time. */
static int make_place(struct cache_addition *add, bool replace)
{
	char *path = xasprintf("%s/%s", add->path, add->hex);
	int folder = cache_descend(add->cache, path, true), rc = folder < 0 ? folder : 0;

	if (!rc)
		rc = make_link(add, replace);
	if (!rc && !add->file->stays)
		rc = make_mark(folder);
	if (folder >= 0)
		close(folder);
	if (rc)
		cache_prune(add->cache, path);
	free(path);
	return rc == -EEXIST || rc == -ENOENT ? -EAGAIN : rc;
}

/* Opens the entry's folder, also that of an entry that is there and lacks this file. */
static int open_place(struct cache_addition *add, struct str *err)
{
	struct str why = STR_INIT;
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < CACHE_RACES_MAX; i++) {
		cache_place_close(&add->place);
		str_reset(&why);
		rc = cache_place_open(add->cache, add->hex, &add->place, &why);
		if (rc != -ENOENT && rc != -ESTALE)
			break;
		rc = make_place(add, rc == -ESTALE);
		rc = rc ? rc : -EAGAIN;
	}
	if (rc)
		str_add(err, why.len ? why.s : strerror(-rc));
	str_release(&why);
	return rc;
}

/* ---- all of it ---- */

/* Whether the entry is there already, and is what it says; of a map also whether it is as long. */
static bool is_there(const struct cache_addition *add)
{
	struct str ignored = STR_INIT;
	int fd = cache_place_file(add->cache, &add->place, &add->file->id, add->file->kind, &ignored);
	struct stat st;
	bool is_short;

	str_release(&ignored);
	if (fd < 0)
		return false;
	is_short = add->file->kind == CACHE_MAP && !fstat(fd, &st) && st.st_size < add->stat.st_size;
	close(fd);
	if (is_short)
		return false;
	if (add->file->stays)
		unlinkat(add->place.folder, CACHE_MARK, 0);
	else
		utimensat(add->place.folder, CACHE_MARK, NULL, AT_SYMLINK_NOFOLLOW);
	return true;
}

/* Removes an entry that has got no file, not even of another kind. */
static void undo(struct cache_addition *add)
{
	struct str ignored = STR_INIT;
	struct stat st;
	bool has_any = add->place.file != NULL;

	if (add->place.folder < 0)
		return;
	if (add->name[0])
		unlinkat(add->place.folder, add->name, 0);
	for (int kind = 0; kind < N_CACHE_KINDS; kind++)
		has_any |= !fstatat(add->place.folder, build_cache_kind_names[kind], &st, AT_SYMLINK_NOFOLLOW);
	if (!has_any)
		cache_place_remove(add->cache, &add->place, &ignored);
	str_release(&ignored);
}

/* -EAGAIN: somebody removed the entry meanwhile. */
static int add_once(struct cache_addition *add, struct str *err)
{
	const char *name = build_cache_kind_names[add->file->kind];
	int rc = open_place(add, err);

	if (rc)
		return rc;
	if (is_there(add))
		return 0;
	if (add->place.file)
		return fail(err, -EEXIST, "an older perf created a file at the path of its folder");
	rc = write_beside(add, err);
	if (!rc && renameat(add->place.folder, add->name, add->place.folder, name))
		rc = errno == ENOENT ? -EAGAIN : fail(err, -errno, "%s", strerror(errno));
	return rc;
}

/* Refuses what can be refused before anything is written. */
static int check(struct cache_addition *add, struct str *err)
{
	const struct cache_file *file = add->file;

	add->path = cache_folder_of(file->path);
	if (!add->path)
		return fail(err, -EINVAL, "there is no entry of such a name");
	if (!cache_hex(&file->id, add->hex))
		return fail(err, -EINVAL, "it has no build-id");
	if (fstat(file->fd, &add->stat))
		return fail(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(add->stat.st_mode))
		return fail(err, -EINVAL, "not a regular file");
	if ((uint64_t)add->stat.st_size > ELF_FOREIGN_BYTES_MAX)
		return fail(err, -EFBIG, "larger than the limit of 4 GiB for one file");
	return cache_verify(file->fd, &file->id, file->kind, err);
}

int build_cache_add(struct build_cache *cache, const struct cache_file *file, uint64_t *bytes, struct str *err)
{
	struct cache_addition add = { .cache = cache, .file = file, .place = CACHE_PLACE_INIT };
	int rc = check(&add, err);

	if (!rc)
		rc = -EAGAIN;
	for (int i = 0; rc == -EAGAIN && i < CACHE_RACES_MAX; i++)
		rc = add_once(&add, err);
	if (rc == -EAGAIN)
		fail(err, 0, "other processes remove it as soon as it is added");
	if (rc)
		undo(&add);
	cache_place_close(&add.place);
	if (bytes)
		*bytes = rc ? 0 : add.bytes;
	return rc;
}
