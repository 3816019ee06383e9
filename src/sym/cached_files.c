/* SPDX-License-Identifier: MIT */
/*
 * cached_files: the cache is opened when the first file is missing, and asked by build-id. What it says of an entry
 * that it does not believe becomes a clause of the reason why there are no names.
 */
#include "sym/cached_files.h"

#include "sym/sym.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct cached_files {
	const char *dir;
	bool force;
	bool tried;
	struct build_cache *cache; /* NULL: there is none, or it may not be used */
	struct str refused; /* the reason for that */
};

struct cached_files *cached_files_new(const struct sym_options *options)
{
	struct cached_files *cached = xcalloc(1, sizeof(*cached));

	cached->dir = options->buildid_dir;
	cached->force = options->force;
	str_init(&cached->refused);
	return cached;
}

void cached_files_free(struct cached_files *cached)
{
	if (!cached)
		return;
	build_cache_close(cached->cache);
	str_release(&cached->refused);
	free(cached);
}

static struct build_cache *opened(struct cached_files *cached)
{
	struct str err = STR_INIT;
	char *place;

	if (cached->tried)
		return cached->cache;
	cached->tried = true;
	if (build_cache_open(&cached->cache, cached->dir, cached->force ? CACHE_FORCE : 0, &err) == -EPERM) {
		place = build_cache_place(cached->dir);
		str_addf(&cached->refused, "%s: %s", place, err.s);
		free(place);
	}
	str_release(&err);
	return cached->cache;
}

char *cached_file(struct cached_files *cached, const struct build_id *id, enum cache_kind kind, struct str *why)
{
	struct build_cache *cache = cached && id->size ? opened(cached) : NULL;
	struct str err = STR_INIT;
	char *path = NULL;
	int fd = cache ? build_cache_find(cache, id, kind, &path, &err) : -ENOENT;

	if (fd >= 0)
		close(fd);
	else if (err.len)
		str_addf(why, "%s%s/%s", why->len ? "; " : "", build_cache_dir(cache), err.s);
	else if (cached && cached->refused.len)
		str_addf(why, "%s%s", why->len ? "; " : "", cached->refused.s);
	str_release(&err);
	return path;
}

void cached_kcores(struct cached_files *cached, const struct build_id *id,
		   int (*each)(void *context, const struct cache_kcore *kcore), void *context)
{
	struct build_cache *cache = cached && id->size ? opened(cached) : NULL;

	if (cache)
		build_cache_each_kcore(cache, id, each, context);
}
