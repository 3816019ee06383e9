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
 * file could not be read or a library was missing, or where an option changes what a function is. Where DWARF has parts
 * in other files (dwz, .dwo), these are part of the entry, as are those that were looked for and are not there.
 */
#include "sym/dso_cached.h"

#include "sym/embedded_write.h"

#include <stdlib.h>

enum {
	CACHED_VERSION = 5, /* of what is behind the key */
	ANSWERS_MAX = 1 << 17, /* of one file; one that has more is read again */
	FUNCTIONS_ASKED_MAX = 1 << 14, /* of these, by who asks for functions alone, and would remember none */
};

/* ---- what is kept, as bytes ---- */

struct sizes {
	uint64_t base;
	uint32_t n_addrs, parts_bytes;
};

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

/* search: not empty, where there are parts. */
static bool take_parts(struct cached_names *cached, const char *bytes, size_t n)
{
	size_t search_bytes = n ? strnlen(bytes, n) + 1 : 0;

	if (search_bytes > n)
		return false;
	cached->search = n ? xstrdup(bytes) : NULL;
	return file_parts_take(&cached->parts, bytes + search_bytes, n - search_bytes);
}

static bool is_kernels(const struct dso *dso)
{
	return dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
}

/* Where it is loaded plays no part: its addresses are moved. */
static struct embedded_dso *find_dso(struct embedded_names *names, const struct dso *dso)
{
	const struct embedded_dso *only = embedded_names_at(names, 0);
	struct str ignored = STR_INIT;
	struct dso like = *dso;
	struct embedded_dso *found;

	if (only && is_kernels(dso))
		like.start = only->start;
	found = embedded_names_find(names, &like, &ignored);
	str_release(&ignored);
	return found;
}

/* All addresses by so much, modulo 2^64; false: that puts them out of order. */
static bool move(struct embedded_dso *dso, uint64_t by)
{
	bool is_good = true;

	for (size_t i = 0; i < dso->n_addrs; i++) {
		dso->addrs[i].addr += by;
		is_good &= !i || dso->addrs[i - 1].addr <= dso->addrs[i].addr;
	}
	for (size_t i = 0; i < dso->n_functions; i++) {
		dso->functions[i].start += by;
		dso->functions[i].end += by;
		is_good &= dso->functions[i].start <= dso->functions[i].end &&
			   (!i || dso->functions[i - 1].start <= dso->functions[i].start);
	}
	return is_good;
}

struct cached_names *cached_names_read(const void *bytes, size_t n, const struct dso *dso, uint64_t base)
{
	struct sizes sizes;
	const uint8_t *depths = (const uint8_t *)bytes + sizeof(sizes), *parts, *names;
	struct cached_names *cached;
	struct str ignored = STR_INIT;
	bool is_good;

	if (n < sizeof(sizes))
		return NULL;
	memcpy(&sizes, bytes, sizeof(sizes));
	n -= sizeof(sizes);
	if (n < (uint64_t)sizes.n_addrs + sizes.parts_bytes)
		return NULL;
	parts = depths + sizes.n_addrs;
	names = parts + sizes.parts_bytes;
	cached = xcalloc(1, sizeof(*cached));
	is_good = !embedded_names_open(&cached->names, names, n - sizes.n_addrs - sizes.parts_bytes, &ignored);
	if (is_good)
		cached->dso = find_dso(cached->names, dso);
	is_good = is_good && take_depths(cached, depths, sizes.n_addrs) &&
		  take_parts(cached, (const char *)parts, sizes.parts_bytes) &&
		  (base == sizes.base || move(cached->dso, base - sizes.base));
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
	embedded_names_free(cached->names);
	free(cached->depths);
	free(cached->search);
	file_parts_release(&cached->parts);
	free(cached);
}

void cached_names_put(const struct str *depths, const struct str *names, const char *search,
		      const struct file_parts *parts, uint64_t base, struct str *out)
{
	struct sizes sizes = { .base = base, .n_addrs = (uint32_t)depths->len };
	struct str text = STR_INIT;

	if (parts->n) {
		str_addn(&text, search, strlen(search) + 1);
		file_parts_put(parts, &text);
	}
	sizes.parts_bytes = (uint32_t)text.len;
	str_reset(out);
	str_addn(out, (const char *)&sizes, sizeof(sizes));
	str_addn(out, depths->s, depths->len);
	str_addn(out, text.s, text.len);
	str_addn(out, names->s, names->len);
	str_release(&text);
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

/* what: is kept of the dso, and from where, a line or more. */
static bool make_key(struct symbols *symbols, const struct dso_state *state, const char *what, bool of_files,
		     struct str *key)
{
	const struct dso_files *files = &state->files;
	const struct dso *dso = state->dso;
	bool moves = dso->kind == DSO_KERNEL && dso->ref_symbol && dso->ref_addr;

	str_addf(key, "names %d pstat " PSTAT_VERSION "\n%s", CACHED_VERSION, what);
	build_id_text(&state->cache_id, key);
	str_addf(key, "\n%s\n%s\n", dso->path, moves ? dso->ref_symbol : "");
	return !of_files || (add_file(symbols, files->runtime, key) && add_file(symbols, files->debug, key));
}

static void add_path(const char *path, struct str *search)
{
	/* Links below a process's root lead elsewhere than here, and are not followed. */
	char *real = path && !foreign_root_bytes(path) ? realpath(path, NULL) : NULL;

	str_addf(search, "%s\n%s\n", path ? path : "", real ? real : "");
	free(real);
}

/* All that the places of a file's parts depend on, but for its contents. */
static void add_search(const struct symbols *symbols, const struct dso_state *state, struct str *search)
{
	const char *const *dirs = symbols->options.debug_dirs;

	add_path(state->files.debug, search);
	add_path(state->files.runtime, search);
	str_addf(search, "%s\n", symbols->options.symfs ? symbols->options.symfs : "");
	for (; dirs && *dirs; dirs++)
		str_addf(search, "%s\n", *dirs);
}

/* ---- taken ---- */

/* A vdso's file is a copy in memory, another one in each run. */
static bool may_cache(const struct symbols *symbols, const struct dso_state *state, bool of_files)
{
	bool has_file = state->files.runtime || (is_kernels(state->dso) && state->files.debug);

	return symbols->options.keep_answers && !symbols->options.no_bounds && state->cache_id.size &&
	       state->dso->kind != DSO_VDSO && (has_file || !of_files) && !state->recorded && !state->recorded_later;
}

/* What the addresses are counted from that an entry is to have for any place of the kernel and its modules. */
static uint64_t base_of(const struct dso *dso)
{
	if (dso->kind == DSO_MODULE)
		return dso->start;
	return dso->kind == DSO_KERNEL && dso->ref_symbol ? dso->ref_addr : 0;
}

/* The parts that it is from are what they were, and would be looked for in the same places. */
static bool still_holds(const struct dso_state *state, const struct cached_names *cached)
{
	return !cached->search ||
	       (!strcmp(state->cache_search.s, cached->search) && file_parts_hold(&cached->parts));
}

static struct cached_names *read_entry(struct symbols *symbols, const struct dso_state *state)
{
	struct cached_names *cached = NULL;
	struct str bytes = STR_INIT;

	if (symbols_cached_read(symbols, &state->cache_id, &state->cache_key, &bytes))
		cached = cached_names_read(bytes.s, bytes.len, state->dso, base_of(state->dso));
	if (cached && !still_holds(state, cached)) {
		cached_names_free(cached);
		cached = NULL;
	}
	str_release(&bytes);
	return cached;
}

/* Of those that are there: a dso may be recorded without one. */
static struct build_id id_of_files(struct symbols *symbols, const struct dso_files *files)
{
	const char *const paths[] = { files->runtime, files->debug };
	struct build_id id = { .size = 0 };
	struct str ignored = STR_INIT;
	struct elf_file *file;

	for (size_t i = 0; i < ARRAY_SIZE(paths) && !id.size; i++) {
		if (!paths[i] || elf_files_open(symbols->elf_files, paths[i], &file, &ignored))
			continue;
		id = file->build_id;
		elf_file_let_go(file);
	}
	str_release(&ignored);
	return id;
}

/* The entry, looked for once: state->cached. */
static bool find(struct symbols *symbols, struct dso_state *state, const char *what, bool of_files)
{
	const struct dso *dso = state->dso;

	if (state->cache_key.len)
		return state->cached;
	state->cache_id = dso->build_id;
	if (!dso->build_id.size && of_files)
		state->cache_id = id_of_files(symbols, &state->files);
	else if (!dso->build_id.size && is_kernels(dso))
		state->cache_id = recorded_kernel_id(symbols, dso);
	if (!may_cache(symbols, state, of_files))
		return false;
	if (!make_key(symbols, state, what, of_files, &state->cache_key)) {
		str_release(&state->cache_key);
		return false;
	}
	if (of_files)
		add_search(symbols, state, &state->cache_search);
	state->cached = read_entry(symbols, state);
	return state->cached;
}

/* It answers in place of the files or of the list. */
static bool adopt(struct dso_state *state)
{
	struct embedded_dso *dso = state->cached->dso;

	state->recorded = dso;
	state->only_exported = dso->flags & EMBEDDED_PARTIAL;
	free(state->source);
	state->source = xstrdup(dso->source);
	state->state = SYM_FOUND;
	return true;
}

bool dso_cached_take(struct symbols *symbols, struct dso_state *state)
{
	return !state->recorded && find(symbols, state, "", true) && adopt(state);
}

bool dso_cached_find_list(struct symbols *symbols, struct dso_state *state, const char *list)
{
	return find(symbols, state, list, false);
}

bool dso_cached_take_list(struct symbols *symbols, struct dso_state *state, const char *list)
{
	return !state->recorded && find(symbols, state, list, false) && adopt(state);
}

void dso_cached_find_frames(struct symbols *symbols, struct dso_state *state)
{
	if (state->recorded || state->frames_tried || state->cache_key.len || !symbols->options.keep_answers)
		return;
	state->frames_tried = true;
	dso_state_files(symbols, state);
	find(symbols, state, "frames\n", true);
	state->cached_frames = state->cache_key.len;
}

void dso_cached_drop(struct dso_state *state)
{
	cached_names_free(state->cached);
	state->cached = NULL;
	str_reset(&state->cache_key);
	str_reset(&state->cache_search);
}

/* ---- kept ---- */

bool dso_cached_wants(const struct symbols *symbols, const struct dso_state *state)
{
	return state->cache_key.len && !symbols->options.no_inlines && state->n_answers < FUNCTIONS_ASKED_MAX;
}

static bool may_keep(const struct symbols *symbols, const struct dso_state *state)
{
	bool sure = !state->unsure && (!state->dwarf || dwarf_file_parts(state->dwarf));

	return state->cache_key.len && sure && !symbols->options.no_inlines && state->state == SYM_FOUND &&
	       state->n_answers && state->n_answers <= ANSWERS_MAX;
}

static bool has_news(const struct dso_state *state)
{
	for (size_t i = 0; i < state->n_answers; i++) {
		const struct addr_answer *answer = &state->answers[i];
		const struct embedded_addr *listed =
			state->cached ? embedded_addr_find(state->cached->dso, answer->addr) : NULL;

		/* Without a function nothing is inlined into one: there may be a list of them next time. */
		if (state->cached_frames && !answer->symbol)
			continue;
		if (!listed || dso_cached_depth(state, listed) < answer_depth(answer))
			return true;
	}
	return false;
}

/* What is in the cache is asked, too, as deeply as it is known: of it nothing is read from files. */
static void ask_listed(struct symbols *symbols, struct dso_state *state)
{
	const struct embedded_dso *known = state->cached->dso;

	for (size_t i = 0; i < known->n_addrs && state->n_answers < ANSWERS_MAX; i++) {
		const struct embedded_addr *listed = &known->addrs[i];
		uint8_t depth = dso_cached_depth(state, listed);
		struct addr_answer *answer = symbols_answer(symbols, state, listed->addr);

		if (answer_depth(answer) < depth)
			dso_frames_fill(symbols, state, answer, depth == ANSWER_LINES);
	}
}

static void write_entry(struct symbols *symbols, struct dso_state *state, const struct file_parts *parts)
{
	struct str names = STR_INIT, depths = STR_INIT, bytes = STR_INIT;

	if (embedded_write_one(symbols, state, &names, &depths)) {
		cached_names_put(&depths, &names, state->cache_search.s, parts, base_of(state->dso), &bytes);
		symbols_cached_write(symbols, &state->cache_id, &state->cache_key, &bytes);
	}
	str_release(&names);
	str_release(&depths);
	str_release(&bytes);
}

void dso_cached_keep(struct symbols *symbols, struct dso_state *state)
{
	struct file_parts parts = { .v = NULL };
	const struct file_parts *more;

	if (!may_keep(symbols, state) || !has_news(state))
		return;
	if (state->cached) {
		ask_listed(symbols, state);
		file_parts_join(&parts, &state->cached->parts);
	}
	more = state->dwarf ? dwarf_file_parts(state->dwarf) : NULL;
	if (more)
		file_parts_join(&parts, more);
	/* What was there and is gone may be somewhere else by now. */
	if ((more || !state->dwarf) && file_parts_hold(&parts))
		write_entry(symbols, state, &parts);
	file_parts_release(&parts);
}
