/* SPDX-License-Identifier: MIT */
/*
 * fuzz_names_cache: any bytes as an entry of the cache of names, see sym/names_cache.h: as it is; as what is behind a
 * head and key that are right; and with sizes that are right as well, so that what lies behind them is reached (the
 * first bytes say how much of the rest is of the addresses and the parts). The claim: no crash, no sanitizer report, no
 * endless loop; what is believed is in bounds. What the names themselves may hold is fuzz_symbols' business.
 */
#include "sym/source_cached.h"
#include "sym/names_cache.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/app";
static const struct dso dso = {
	.kind = DSO_FILE, .path = path, .name = path, .pid = -1, .build_id = { .size = 2, .bytes = { 0x12, 0x34 } },
};

static void ask(const struct cached_names *cached)
{
	struct dwarf_inline inlines[EMBEDDED_DEPTH_MAX + 1];

	for (size_t i = 0; i < cached->dso->n_addrs; i++) {
		const struct embedded_addr *addr = &cached->dso->addrs[i];

		if (cached->depths[i] > ANSWER_LINES || addr->function1 > cached->dso->n_functions)
			abort();
		if (embedded_inlines(cached->dso, addr, true, inlines, ARRAY_SIZE(inlines)) > ARRAY_SIZE(inlines))
			abort();
	}
}

static void read_kept_at(const void *bytes, size_t n, uint64_t base)
{
	struct cached_names *cached = cached_names_read(bytes, n, &dso, base);

	if (cached)
		ask(cached);
	cached_names_free(cached);
}

/* Where it was, and elsewhere. */
static void read_kept(const void *bytes, size_t n)
{
	read_kept_at(bytes, n, 0);
	read_kept_at(bytes, n, UINT64_MAX << 12);
}

static void read_entry(const void *bytes, size_t n, const struct str *key)
{
	size_t n_kept;
	const void *kept = names_cache_unwrap(bytes, n, key, &n_kept);

	if (kept)
		read_kept(kept, n_kept);
}

/* The next so many bytes of what is left, or all. */
static void cut(struct str *out, const uint8_t **data, size_t *size, size_t n)
{
	n = n < *size ? n : *size;
	str_addn(out, (const char *)*data, n);
	*data += n;
	*size -= n;
}

static void read_made(const uint8_t *data, size_t size, const struct str *key)
{
	struct str depths = STR_INIT, texts = STR_INIT, names = STR_INIT, kept = STR_INIT, entry = STR_INIT;
	struct file_parts parts = { .v = NULL };
	uint8_t n_addrs = data[0], n_parts = data[1];

	data += 2;
	size -= 2;
	cut(&depths, &data, &size, n_addrs);
	cut(&texts, &data, &size, n_parts);
	cut(&names, &data, &size, size);
	(void)!file_parts_take(&parts, texts.s, texts.len); /* what is good of them goes back */
	cached_names_put(&depths, &names, "search", &parts, 0, &kept);
	names_cache_wrap(key, &kept, &entry);
	read_entry(entry.s, entry.len, key);
	file_parts_release(&parts);
	str_release(&depths);
	str_release(&texts);
	str_release(&names);
	str_release(&kept);
	str_release(&entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str key = STR_INIT;

	str_add(&key, "key");
	read_entry(data, size, &key);
	read_kept(data, size);
	if (size >= 2)
		read_made(data, size, &key);
	str_release(&key);
	return 0;
}
