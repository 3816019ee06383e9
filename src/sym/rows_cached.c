/*
 * rows_cached: what others keep in the cache beside names: the unwind rows of large files. What the bytes are is their
 * owner's to know and to check.
 */
#include "sym/dso_state.h"
#include "sym/names_cache.h"

static struct names_cache *cache_of(struct symbols *symbols, const struct dso *dso)
{
	if (!symbols->options.keep_answers || !dso->build_id.size)
		return NULL;
	if (!symbols->names_cache)
		symbols->names_cache = names_cache_new();
	return symbols->names_cache;
}

bool symbols_cached_read(struct symbols *symbols, const struct dso *dso, const struct str *key, struct str *bytes)
{
	struct names_cache *cache = cache_of(symbols, dso);

	return cache && names_cache_read(cache, &dso->build_id, key, bytes);
}

void symbols_cached_write(struct symbols *symbols, const struct dso *dso, const struct str *key,
			  const struct str *bytes)
{
	struct names_cache *cache = cache_of(symbols, dso);

	if (cache)
		names_cache_write(cache, &dso->build_id, key, bytes);
}
