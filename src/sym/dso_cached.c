/*
 * dso_cached: what was found out about an ELF file in earlier runs, and what will be known in later ones. See
 * dso_cached.h for what an entry has.
 *
 *	files found -> key -> entry -> state->recorded     its addresses are answered without symbols and DWARF
 *	                                  | not listed, or not as deeply
 *	                                  +-> the files, as without the cache (dso_state_load_files)
 *	at the end, where anything was asked of the files: all answers -> entry
 *
 * What is answered is the same as without it, so only what depends on nothing but the key is kept: no answers where a
 * file could not be read or a library was missing, where DWARF has parts in other files (dwz, .dwo), or where an option
 * changes what a function is.
 */
#include "sym/dso_cached.h"

#include "sym/recorded_write.h"

#include <stdlib.h>

enum {
	CACHED_VERSION = 2, /* of what is behind the key */
	ANSWERS_MAX = 1 << 17, /* of one file; one that has more is read again */
	FUNCTIONS_ASKED_MAX = 1 << 14, /* of these, by who asks for functions alone, and would remember none */
};

/* ---- what is kept, as bytes ---- */

static bool take_depths(struct cached_names *cached, const uint8_t *depths, size_t n)
{
	if (!cached->dso || cached->dso->n_addrs != n)
		return false;
	cached->depths = xmalloc(n + 1);
	memcpy(cached->depths, depths, n);
	for (size_t i = 0; i < n; i++)
		if (depths[i] > ANSWER_LINES)
			return false;
	return true;
}

struct cached_names *cached_names_read(const void *bytes, size_t n, const struct dso *dso)
{
	const uint8_t *at = bytes;
	struct cached_names *cached;
	struct str ignored = STR_INIT;
	uint32_t n_addrs;
	bool is_good;

	if (n < sizeof(n_addrs))
		return NULL;
	memcpy(&n_addrs, at, sizeof(n_addrs));
	at += sizeof(n_addrs);
	n -= sizeof(n_addrs);
	if (n < n_addrs)
		return NULL;
	cached = xcalloc(1, sizeof(*cached));
	is_good = !recorded_names_open(&cached->names, at + n_addrs, n - n_addrs, &ignored);
	if (is_good)
		cached->dso = recorded_names_find(cached->names, dso, &ignored);
	is_good = is_good && take_depths(cached, at, n_addrs);
	str_release(&ignored);
	if (is_good)
		return cached;
	cached_names_free(cached);
	return NULL;
}

void cached_names_free(struct cached_names *cached)
{
	if (!cached)
		return;
	recorded_names_free(cached->names);
	free(cached->depths);
	free(cached);
}

void cached_names_put(const struct str *depths, const struct str *names, struct str *out)
{
	uint32_t n_addrs = (uint32_t)depths->len;

	str_reset(out);
	str_addn(out, (const char *)&n_addrs, sizeof(n_addrs));
	str_addn(out, depths->s, depths->len);
	str_addn(out, names->s, names->len);
}

/* ---- its key ---- */

static bool add_file(struct symbols *symbols, const char *path, struct str *key)
{
	struct str ignored = STR_INIT;
	struct elf_file *file = NULL;

	if (!path) {
		str_add(key, "none\n");
		return true;
	}
	if (!elf_files_open(symbols->elf_files, path, &file, &ignored)) {
		elf_file_identity(file, key);
		elf_file_let_go(file);
	}
	str_release(&ignored);
	return file;
}

static bool make_key(struct symbols *symbols, const struct dso_state *state, struct str *key)
{
	const struct dso_files *files = &state->files;
	const struct dso *dso = state->dso;

	str_addf(key, "names %d pstat " PSTAT_VERSION "\n", CACHED_VERSION);
	build_id_text(&dso->build_id, key);
	str_addf(key, "\n%s\n", dso->path);
	return add_file(symbols, files->runtime, key) && add_file(symbols, files->debug, key);
}

/* ---- taken ---- */

static bool may_cache(const struct symbols *symbols, const struct dso_state *state)
{
	return symbols->options.keep_answers && !symbols->options.no_bounds && state->dso->kind == DSO_FILE &&
	       state->dso->build_id.size && state->files.runtime && !state->recorded && !state->recorded_later;
}

static struct cached_names *read_entry(struct symbols *symbols, const struct dso_state *state)
{
	struct cached_names *cached = NULL;
	struct str bytes = STR_INIT;

	if (symbols_cached_read(symbols, &state->dso->build_id, &state->cache_key, &bytes))
		cached = cached_names_read(bytes.s, bytes.len, state->dso);
	str_release(&bytes);
	return cached;
}

bool dso_cached_take(struct symbols *symbols, struct dso_state *state)
{
	struct recorded_dso *dso;

	if (state->cache_key.len || !may_cache(symbols, state))
		return false;
	if (!make_key(symbols, state, &state->cache_key)) {
		str_release(&state->cache_key);
		return false;
	}
	state->cached = read_entry(symbols, state);
	if (!state->cached)
		return false;
	dso = state->cached->dso;
	state->recorded = dso;
	state->only_exported = dso->flags & RECORDED_PARTIAL;
	state->source = xstrdup(dso->source);
	state->state = SYM_FOUND;
	return true;
}

/* ---- kept ---- */

bool dso_cached_wants(const struct symbols *symbols, const struct dso_state *state)
{
	return state->cache_key.len && !symbols->options.no_inlines && state->n_answers < FUNCTIONS_ASKED_MAX;
}

static bool may_keep(const struct symbols *symbols, const struct dso_state *state)
{
	bool alone = !state->unsure && (!state->dwarf || dwarf_file_is_alone(state->dwarf));

	return state->cache_key.len && alone && !symbols->options.no_inlines && state->state == SYM_FOUND &&
	       state->n_answers && state->n_answers <= ANSWERS_MAX;
}

static bool has_news(const struct dso_state *state)
{
	for (size_t i = 0; i < state->n_answers; i++) {
		const struct answer *answer = &state->answers[i];
		const struct recorded_addr *listed =
			state->cached ? recorded_addr_find(state->recorded, answer->addr) : NULL;

		if (!listed || dso_cached_depth(state, listed) < answer_depth(answer))
			return true;
	}
	return false;
}

/* What is in the cache is asked, too, as deeply as it is known: of it nothing is read from files. */
static void ask_listed(struct symbols *symbols, struct dso_state *state)
{
	for (size_t i = 0; i < state->recorded->n_addrs && state->n_answers < ANSWERS_MAX; i++) {
		const struct recorded_addr *listed = &state->recorded->addrs[i];
		uint8_t depth = dso_cached_depth(state, listed);
		struct answer *answer = symbols_answer(symbols, state, listed->addr);

		if (answer_depth(answer) < depth)
			dso_frames_fill(symbols, state, answer, depth == ANSWER_LINES);
	}
}

void dso_cached_keep(struct symbols *symbols, struct dso_state *state)
{
	struct str names = STR_INIT, depths = STR_INIT, bytes = STR_INIT;

	if (!may_keep(symbols, state) || !has_news(state))
		return;
	if (state->cached)
		ask_listed(symbols, state);
	if (recorded_write_one(symbols, state, &names, &depths)) {
		cached_names_put(&depths, &names, &bytes);
		symbols_cached_write(symbols, &state->dso->build_id, &state->cache_key, &bytes);
	}
	str_release(&names);
	str_release(&depths);
	str_release(&bytes);
}
