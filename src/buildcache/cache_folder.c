/* SPDX-License-Identifier: MIT */
/*
 * cache_folder: the cache's folder, held by a descriptor, and the way to anything below it: one name at a time, each
 * opened without following a link, each folder asked whose it is. So nobody who may write to a folder on the way
 * leads us elsewhere, and nobody else's folder is taken for ours.
 *
 * The folder itself may be a link, as users put it on another disk: their own link, or root's.
 */
#include "buildcache/cache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { FOLDER_MODE = 0700, OTHERS_WRITE = S_IWGRP | S_IWOTH };

/* ---- whose it is ---- */

bool cache_is_trusted(const struct build_cache *cache, uid_t owner)
{
	return cache->force || owner == 0 || owner == geteuid();
}

bool cache_is_own(const struct build_cache *cache, const struct stat *folder, const struct stat *file)
{
	return !(folder->st_mode & OTHERS_WRITE) || cache_is_trusted(cache, file->st_uid);
}

/* ---- the way down ---- */

int cache_step(const struct build_cache *cache, int folder, const char *name, bool create)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	struct stat st;
	int fd = openat(folder, name, flags);

	if (fd < 0 && errno == ENOENT && create) {
		if (mkdirat(folder, name, FOLDER_MODE) && errno != EEXIST)
			return -errno;
		fd = openat(folder, name, flags);
	}
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && cache_is_trusted(cache, st.st_uid))
		return fd;
	close(fd);
	return -EPERM;
}

/* The folder that the first n bytes of the path lead to. */
static int walk(const struct build_cache *cache, const char *path, size_t n, bool create)
{
	int fd = fcntl(cache->fd, F_DUPFD_CLOEXEC, 0);
	const char *at = path, *end = path + n;
	char name[NAME_MAX + 1];

	fd = fd < 0 ? -errno : fd;
	while (fd >= 0 && at < end) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t bytes = (size_t)((slash ? slash : end) - at);
		int next = -ENAMETOOLONG;

		if (bytes < sizeof(name)) {
			memcpy(name, at, bytes);
			name[bytes] = '\0';
			next = cache_step(cache, fd, name, create);
		}
		close(fd);
		fd = next;
		at += bytes + 1;
	}
	return fd;
}

int cache_descend(const struct build_cache *cache, const char *path, bool create)
{
	return walk(cache, path, strlen(path), create);
}

void cache_prune(const struct build_cache *cache, const char *path)
{
	char *names = xstrdup(path), *slash;
	bool removed = true;

	while (removed && *names) {
		int above;

		slash = strrchr(names, '/');
		above = walk(cache, names, slash ? (size_t)(slash - names) : 0, false);
		removed = above >= 0 && !unlinkat(above, slash ? slash + 1 : names, AT_REMOVEDIR);
		if (above >= 0)
			close(above);
		*(slash ? slash : names) = '\0';
	}
	free(names);
}

/* ---- what is in one ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int cache_names_read(struct cache_names *names, int fd, bool (*wanted)(const char *name))
{
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *row;

	*names = (struct cache_names){ 0 };
	if (!folder) {
		int rc = fd < 0 ? fd : -errno;

		if (fd >= 0)
			close(fd);
		return rc;
	}
	while ((row = readdir(folder)) != NULL) {
		if (!wanted(row->d_name))
			continue;
		VEC_GROW(names->v, names->n, names->cap);
		names->v[names->n++] = xstrdup(row->d_name);
	}
	closedir(folder);
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_name);
	return 0;
}

void cache_names_release(struct cache_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
}

/* ---- names ---- */

static bool is_plain_name(const char *name, size_t n)
{
	bool dots = (n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.');

	return n && n <= NAME_MAX && !dots;
}

const char *cache_folder_of(const char *path)
{
	const char *folder = path[0] == '/' ? path + 1 : path;

	if ((path[0] != '/' && path[0] != '[') || strlen(path) >= PATH_MAX / 2)
		return NULL;
	if (path[0] == '[' && strchr(path, '/'))
		return NULL;
	if (!strncmp(folder, CACHE_LINKS, strlen(CACHE_LINKS)) && strchr("/", folder[strlen(CACHE_LINKS)]))
		return NULL;
	for (const char *at = folder;; at++) {
		size_t n = strcspn(at, "/");

		if (!is_plain_name(at, n))
			return NULL;
		at += n;
		if (!*at)
			break;
	}
	return folder;
}

/* ---- the folder itself ---- */

/* A link of somebody else is not followed. */
static int check_link(const struct build_cache *cache, struct str *err)
{
	struct stat st;

	if (lstat(cache->dir, &st) || !S_ISLNK(st.st_mode) || cache_is_trusted(cache, st.st_uid))
		return 0;
	return fail(err, -EPERM, "a link of user %u, not yours or root's", (unsigned)st.st_uid);
}

static int open_folder(struct build_cache *cache, bool create, struct str *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
	struct stat st;
	int rc = check_link(cache, err);

	if (rc)
		return rc;
	cache->fd = open(cache->dir, flags);
	if (cache->fd < 0 && errno == ENOENT && create) {
		if (mkdir(cache->dir, FOLDER_MODE) && errno != EEXIST)
			return fail(err, -errno, "cannot be created: %s", strerror(errno));
		cache->fd = open(cache->dir, flags | O_NOFOLLOW);
	}
	if (cache->fd < 0)
		return errno == ENOENT && !create ? -ENOENT : fail(err, -errno, "%s", strerror(errno));
	if (fstat(cache->fd, &st))
		return fail(err, -errno, "%s", strerror(errno));
	if (!cache_is_trusted(cache, st.st_uid))
		return fail(err, -EPERM, "it belongs to user %u, not to you or root", (unsigned)st.st_uid);
	return 0;
}

int build_cache_open(struct build_cache **out, const char *dir, unsigned flags, struct str *err)
{
	struct build_cache *cache = xcalloc(1, sizeof(*cache));
	int rc = 0;

	*out = NULL;
	cache->fd = -1;
	cache->force = flags & CACHE_FORCE;
	cache->dir = build_cache_place(dir);
	if (cache->dir)
		rc = open_folder(cache, flags & CACHE_CREATE, err);
	if (cache->dir && !rc) {
		*out = cache;
		return 0;
	}
	build_cache_close(cache);
	return rc == -ENOENT && !(flags & CACHE_CREATE) ? 0 : rc;
}

void build_cache_close(struct build_cache *cache)
{
	if (!cache)
		return;
	if (cache->fd >= 0)
		close(cache->fd);
	free(cache->dir);
	free(cache);
}

void build_cache_interrupt(struct build_cache *cache, const struct interrupt *interrupt)
{
	cache->interrupt = *interrupt;
}

const char *build_cache_dir(const struct build_cache *cache)
{
	return cache->dir;
}
