/*
 * fuzz_names_cache: any bytes as an entry of the cache of names, see sym/names_cache.h: as it is; as what is behind a
 * head and key that are right; and with sizes that are right as well, so that what lies behind them is reached (the
 * first byte says how much of the rest is of the addresses). The claim: no crash, no sanitizer report, no endless loop;
 * what is believed is in bounds. What the names themselves may hold is fuzz_symbols' business.
 */
#include "sym/dso_cached.h"
#include "sym/names_cache.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/app";
static const struct dso dso = {
	.kind = DSO_FILE, .path = path, .name = path, .pid = -1, .build_id = { .size = 2, .bytes = { 0x12, 0x34 } },
};

static void ask(const struct cached_names *cached)
{
	struct dso_state state = { .dso = &dso, .recorded = cached->dso };
	struct dwarf_inline inlines[RECORDED_DEPTH_MAX + 1];
	struct cached_names copy = *cached;

	state.cached = &copy;
	for (size_t i = 0; i < cached->dso->n_addrs; i++) {
		const struct recorded_addr *addr = &cached->dso->addrs[i];

		if (dso_cached_depth(&state, addr) > ANSWER_LINES || addr->function1 > cached->dso->n_functions)
			abort();
		if (recorded_inlines(cached->dso, addr, true, inlines, ARRAY_SIZE(inlines)) > ARRAY_SIZE(inlines))
			abort();
	}
}

static void read_kept(const void *bytes, size_t n)
{
	struct cached_names *cached = cached_names_read(bytes, n, &dso);

	if (cached)
		ask(cached);
	cached_names_free(cached);
}

static void read_entry(const void *bytes, size_t n, const struct str *key)
{
	size_t n_kept;
	const void *kept = names_cache_unwrap(bytes, n, key, &n_kept);

	if (kept)
		read_kept(kept, n_kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str key = STR_INIT, depths = STR_INIT, names = STR_INIT, kept = STR_INIT, entry = STR_INIT;
	size_t n;

	str_add(&key, "key");
	read_entry(data, size, &key);
	read_kept(data, size);
	if (size) {
		n = data[0] < size ? data[0] : size - 1;
		str_addn(&depths, (const char *)data + 1, n);
		str_addn(&names, (const char *)data + 1 + n, size - 1 - n);
		cached_names_put(&depths, &names, &kept);
		names_cache_wrap(&key, &kept, &entry);
		read_entry(entry.s, entry.len, &key);
	}
	str_release(&key);
	str_release(&depths);
	str_release(&names);
	str_release(&kept);
	str_release(&entry);
	return 0;
}
