/* SPDX-License-Identifier: MIT */
/*
 * cache_list: all entries, by their links, and the limit on what recordings leave.
 *
 * Of each entry its files are looked at, not opened. What is wanted longest ago goes first; what two of us remove at
 * once is removed.
 */
#include "buildcache/cache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- one entry ---- */

static void weigh(const struct cache_place *place, struct cache_entry *entry)
{
	int fd = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *row;
	struct stat st;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((row = readdir(folder)) != NULL)
		if (!fstatat(place->folder, row->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			entry->bytes += (uint64_t)st.st_blocks * 512;
	closedir(folder);
}

static void look_at(const struct cache_place *place, struct cache_entry *entry)
{
	struct stat st;

	for (int kind = 0; kind < N_CACHE_KINDS; kind++) {
		const char *name = cache_file_name(place, kind);

		if (!name || fstatat(place->folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		entry->kinds |= 1u << kind;
		if (place->file) {
			entry->bytes = (uint64_t)st.st_blocks * 512;
			entry->used_ns = timespec_ns(&st.st_mtim);
		}
	}
	if (place->file)
		return;
	weigh(place, entry);
	entry->removable = !fstatat(place->folder, CACHE_MARK, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
	if (entry->removable || !fstat(place->folder, &st))
		entry->used_ns = timespec_ns(&st.st_mtim);
}

static int tell(struct build_cache *cache, const char *hex,
		int (*each)(void *context, const struct cache_entry *entry), void *context)
{
	struct cache_entry entry = { .id = cache_id_of_hex(hex), .path = "" };
	struct cache_place place;
	struct str ignored = STR_INIT;
	char *path = NULL;
	int rc;

	if (!cache_place_open(cache, hex, &place, &ignored))
		look_at(&place, &entry);
	if (place.path)
		entry.path = path = xasprintf("%s%s", place.path[0] == '[' ? "" : "/", place.path);
	cache_place_close(&place);
	rc = each(context, &entry);
	free(path);
	str_release(&ignored);
	return rc;
}

/* ---- all of them ---- */

static bool is_hex(const char *name, size_t min, size_t max)
{
	size_t n = strspn(name, "0123456789abcdef");

	return !name[n] && n % 2 == 0 && n >= min && n <= max;
}

static bool is_first(const char *name)
{
	return is_hex(name, 2, 2);
}

static bool is_rest(const char *name)
{
	return is_hex(name, 2, CACHE_HEX_BYTES - 3);
}

int build_cache_each(struct build_cache *cache, int (*each)(void *context, const struct cache_entry *entry),
		     void *context, struct str *err)
{
	struct cache_names folders, links;
	int rc = cache_names_read(&folders, cache_descend(cache, CACHE_LINKS, false), is_first);

	if (rc && rc != -ENOENT)
		fail(err, 0, "%s: %s", CACHE_LINKS, rc == -EPERM ? "a folder of another user" : strerror(-rc));
	for (size_t i = 0; !rc && i < folders.n; i++) {
		/* A folder that can't be read has no entries. */
		if (cache_names_read(&links, cache_links_folder(cache, folders.v[i], false), is_rest))
			continue;
		for (size_t j = 0; !rc && j < links.n; j++) {
			char *hex = xasprintf("%s%s", folders.v[i], links.v[j]);

			rc = tell(cache, hex, each, context);
			free(hex);
		}
		cache_names_release(&links);
	}
	cache_names_release(&folders);
	return rc == -ENOENT ? 0 : rc;
}

/* ---- the limit ---- */

struct weight {
	struct build_id id;
	uint64_t bytes;
	int64_t used_ns;
};
struct weights {
	struct weight *v;
	size_t n, cap;
	uint64_t bytes;
};

static int take_weight(void *context, const struct cache_entry *entry)
{
	struct weights *weights = context;

	if (!entry->removable)
		return 0;
	VEC_GROW(weights->v, weights->n, weights->cap);
	weights->v[weights->n++] = (struct weight){ entry->id, entry->bytes, entry->used_ns };
	weights->bytes += entry->bytes;
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return x->used_ns < y->used_ns ? -1 : x->used_ns > y->used_ns;
}

int build_cache_shrink(struct build_cache *cache, uint64_t max_bytes, int64_t keep_ns, uint64_t *freed_bytes,
		       uint64_t *left_bytes, struct str *err)
{
	struct weights weights = { 0 };
	uint64_t freed = 0;
	int rc = build_cache_each(cache, take_weight, &weights, err);

	if (weights.n)
		qsort(weights.v, weights.n, sizeof(*weights.v), by_use);
	for (size_t i = 0; !rc && i < weights.n && weights.bytes - freed > max_bytes; i++) {
		const struct weight *oldest = &weights.v[i];

		if (oldest->used_ns >= keep_ns)
			break;
		rc = build_cache_remove(cache, &oldest->id, err);
		if (rc == -ENOENT)
			rc = 0;
		freed += rc ? 0 : oldest->bytes;
	}
	if (freed_bytes)
		*freed_bytes = freed;
	if (left_bytes)
		*left_bytes = weights.bytes - freed;
	free(weights.v);
	return rc;
}
