/*
 * rows_cached: what others keep in the cache beside names: the unwind rows of large files. What the bytes are is their
 * owner's to know and to check.
 */
#include "sym/dso_state.h"

struct names_cache *symbols_names_cache(struct symbols *symbols)
{
	if (!symbols->names_cache && symbols->options.keep_answers)
		symbols->names_cache = names_cache_new();
	return symbols->names_cache;
}

bool symbols_cached_read(struct symbols *symbols, const struct build_id *id, const struct str *key, struct str *bytes)
{
	struct names_cache *cache = symbols_names_cache(symbols);

	return cache && names_cache_read(cache, id, key, bytes);
}

void symbols_cached_write(struct symbols *symbols, const struct build_id *id, const struct str *key,
			  const struct str *bytes)
{
	struct names_cache *cache = symbols_names_cache(symbols);

	if (cache)
		names_cache_write(cache, id, key, bytes);
}
