/*
 * rows_cached: entries of the cache that are not names: the unwind rows of large files. What the bytes are is their
 * owner's to know and to check; here they are found by their key, and told from half of what was written.
 *
 *	"pstatCB" NUL | u64 checksum of key and bytes | u64 bytes of key | key | bytes
 */
#include "sym/dso_state.h"
#include "sym/names_cache.h"

#include <stdlib.h>

struct entry_head {
	char magic[8];
	uint64_t checksum, key_bytes;
};
static const char magic[8] = "pstatCB";

static bool is_of_key(const struct str *entry, const struct str *key)
{
	struct entry_head head;

	if (entry->len < sizeof(head))
		return false;
	memcpy(&head, entry->s, sizeof(head));
	return !memcmp(head.magic, magic, sizeof(magic)) && head.key_bytes == key->len &&
	       entry->len - sizeof(head) >= key->len && !memcmp(entry->s + sizeof(head), key->s, key->len) &&
	       head.checksum == checksum_bytes(entry->s + sizeof(head), entry->len - sizeof(head));
}

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
	struct str entry = STR_INIT;
	char *name = cache ? names_cache_name(&dso->build_id, key) : NULL;
	size_t before = sizeof(struct entry_head) + key->len;
	bool found = name && names_cache_read(cache, name, &entry) && is_of_key(&entry, key);

	if (found)
		str_addn(bytes, entry.s + before, entry.len - before);
	str_release(&entry);
	free(name);
	return found;
}

void symbols_cached_write(struct symbols *symbols, const struct dso *dso, const struct str *key,
			  const struct str *bytes)
{
	struct names_cache *cache = cache_of(symbols, dso);
	struct entry_head head = { .key_bytes = key->len };
	struct str entry = STR_INIT;
	char *name;

	if (!cache)
		return;
	memcpy(head.magic, magic, sizeof(magic));
	str_addn(&entry, (const char *)&head, sizeof(head));
	str_addn(&entry, key->s, key->len);
	str_addn(&entry, bytes->s, bytes->len);
	head.checksum = checksum_bytes(entry.s + sizeof(head), entry.len - sizeof(head));
	memcpy(entry.s, &head, sizeof(head));
	name = names_cache_name(&dso->build_id, key);
	names_cache_write(cache, name, &entry);
	free(name);
	str_release(&entry);
}
