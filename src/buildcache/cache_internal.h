/* SPDX-License-Identifier: MIT */
/*
 * cache_internal: what the files of buildcache/ share: the folder that is held open, walks below it, one entry.
 */
#ifndef PSTAT_CACHE_INTERNAL_H
#define PSTAT_CACHE_INTERNAL_H

#include "buildcache/buildcache.h"

#include <sys/stat.h>

struct build_cache {
	int fd; /* of the folder */
	char *dir;
	bool force;
	struct interrupt interrupt;
};

#define CACHE_LINKS ".build-id"
#define CACHE_MARK "pstat" /* in an entry that shrinking may remove */

enum { CACHE_HEX_BYTES = 2 * sizeof(((struct build_id *)0)->bytes) + 1, CACHE_RACES_MAX = 16 };

/* ---- cache_folder.c ---- */

/* Ours or root's, or whose it is does not matter here. */
bool cache_is_trusted(const struct build_cache *cache, uid_t owner);
/* May a file in a folder be used? In a folder that others may write to, only if it is ours or root's. */
bool cache_is_own(const struct build_cache *cache, const struct stat *folder, const struct stat *file);
/* The folder `name` in another one, itself and not what a link leads to. A descriptor or -errno; create: 0700. */
int cache_step(const struct build_cache *cache, int folder, const char *name, bool create);
/* The same of a path of several names below the cache's folder. */
int cache_descend(const struct build_cache *cache, const char *path, bool create);
/* Removes folders that are empty: the last one of the path, then the one that it was in, and so on. */
void cache_prune(const struct build_cache *cache, const char *path);
/* Names in a folder, sorted. */
struct cache_names {
	char **v;
	size_t n, cap;
};
/* Reads wanted names. Takes the descriptor, or the negative errno that stands in its place, which it returns. */
int cache_names_read(struct cache_names *names, int fd, bool (*wanted)(const char *name));
void cache_names_release(struct cache_names *names);
/*
 * The folder that a file has in the cache: "usr/bin/true" of "/usr/bin/true", "[vdso]" as it is. NULL: of this name
 * there can be none (not absolute, "..", too long). It is part of the path that is given.
 */
const char *cache_folder_of(const char *path);

/* ---- cache_entry.c ---- */

/*
 * One entry as its link tells. Where other programs have put a folder or a file in the place of the link, that is
 * the entry.
 */
struct cache_place {
	char hex[CACHE_HEX_BYTES]; /* the build-id */
	char *path; /* "usr/bin/true", "[vdso]"; NULL: not known */
	char *at; /* the entry's folder below that of the cache: "usr/bin/true/abcdef.."; or NULL */
	const char *file; /* of at, its last name, where that is a file, as perf made them before 4.10; or NULL */
	int folder; /* of its files, also where that is the file's; -1: not open */
};
#define CACHE_PLACE_INIT { .folder = -1 }
/* false: no build-id. */
bool cache_hex(const struct build_id *id, char hex[CACHE_HEX_BYTES]);
struct build_id cache_id_of_hex(const char *hex);
/*
 * -ENOENT: no link; -EPERM: somebody else's; -ESTALE: the link leads out of the cache, or to nothing. To be closed in
 * any case.
 */
int cache_place_open(const struct build_cache *cache, const char *hex, struct cache_place *place, struct str *err);
void cache_place_close(struct cache_place *place);
/* ".build-id/ab" and "cdef..", the link's folder and name. */
int cache_links_folder(const struct build_cache *cache, const char *hex, bool create);
/* "../../PATH/abcdef..", the caller frees. */
char *cache_link_text(const char *path, const char *hex);
/* A regular file that may be used, for reading: a descriptor; -ENOENT; -EPERM, -ESTALE and others with a clause. */
int cache_open_regular(const struct build_cache *cache, int folder, const char *name, struct str *err);
/* The name of a kind's file in the folder of the place; NULL: this place has no such file. */
const char *cache_file_name(const struct cache_place *place, enum cache_kind kind);
/*
 * Opens the file of that kind and checks it. -ENOENT: none; -EPERM: not ours; -ESTALE: its contents are of another
 * build-id, or it is no file.
 */
int cache_place_file(const struct build_cache *cache, const struct cache_place *place, const struct build_id *id,
		     enum cache_kind kind, struct str *err);
/* Is what is open here a file of that kind with that build-id? 0 or -ESTALE with a clause, -EINVAL: no file at all. */
int cache_verify(int fd, const struct build_id *id, enum cache_kind kind, struct str *err);
/* Removes all files of the place, its folder and its link. */
int cache_place_remove(const struct build_cache *cache, struct cache_place *place, struct str *err);

#endif
