/* SPDX-License-Identifier: MIT */
/*
 * source_cached: what was found out about an ELF file in earlier runs, and what will be known in later ones. See
 * source_cached.h for what an entry has.
 *
 *	files found -> key -> entry -> names->listed       its addresses are answered without symbols and DWARF
 *	                                  | not listed, or not as deeply
 *	                                  +-> the files, as without the cache (dso_names_load_rest)
 *	at the end, where anything was asked of the files: all answers -> entry
 *
 * What is answered is the same as without it, so only what depends on nothing but the key is kept: no answers where a
 * file could not be read or a library was missing, or where an option changes what a function is. Where DWARF has parts
 * in other files (dwz, .dwo), these are part of the entry, as are those that were looked for and are not there.
 */
#include "sym/source_cached.h"

#include <stdlib.h>

enum {
	CACHED_VERSION = 6, /* of what follows the key */
	ANSWERS_MAX = 1 << 17, /* of one file; one that has more is read again */
	FUNCTIONS_ASKED_MAX = 1 << 14, /* of these, by who asks for functions alone, and would remember none */
};

/* ---- what is kept, as bytes ---- */

struct cached_sizes {
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

/* Finds the entry's only dso, wherever it was loaded then: its addresses are moved. */
static struct embedded_dso *find_dso(struct embedded_names *names, const struct dso *dso)
{
	const struct embedded_dso *only = embedded_names_at(names, 0);
	struct str ignored = STR_INIT;
	struct dso like = *dso;
	struct embedded_dso *found;

	if (only && (NAMES_OF(dso->kind) & NAMES_OF_KERNELS))
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
	struct cached_sizes sizes;
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
	struct cached_sizes sizes = { .base = base, .n_addrs = (uint32_t)depths->len };
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
static bool make_key(struct symbols *symbols, const struct dso_names *names, const struct build_id *id,
		     const char *what, bool of_files, struct str *key)
{
	const struct dso_files *files = &names->files;
	const struct dso *dso = names->dso;
	bool moves = dso->kind == DSO_KERNEL && dso->ref_symbol && dso->ref_addr;

	str_addf(key, "names %d pstat " PSTAT_VERSION "\n%s", CACHED_VERSION, what);
	build_id_text(id, key);
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
static void add_search(const struct symbols *symbols, const struct dso_names *names, struct str *search)
{
	const char *const *dirs = symbols->options.debug_dirs;

	add_path(names->files.debug, search);
	add_path(names->files.runtime, search);
	str_addf(search, "%s%s\n", symbols->options.symfs ? symbols->options.symfs : "",
		 symbols->options.symfs_flat ? ",flat" : "");
	for (; dirs && *dirs; dirs++)
		str_addf(search, "%s\n", *dirs);
}

/* ---- taken ---- */

struct cached_source {
	struct cached_names *cached; /* what the entry has; NULL: there is none */
	struct build_id id; /* of the entry */
	struct str key; /* "": it is not looked for */
	struct str search; /* where other parts of its DWARF are looked for: see source_cached.h */
	bool frames_tried; /* they were looked for, see find_entry_of_frames */
	bool frames_alone; /* its functions are not from there: it does not list them */
};

/* The state, made when first needed; NULL: the cache has nothing of such dsos. */
static struct cached_source *source_of(struct dso_names *names)
{
	struct names_slot *slot = dso_names_slot(names, &source_cached);
	struct cached_source *source = slot ? slot->state : NULL;

	if (slot && !source) {
		source = slot->state = xcalloc(1, sizeof(*source));
		str_init(&source->key);
		str_init(&source->search);
	}
	return source;
}

bool source_cached_has(const struct dso_names *names)
{
	const struct names_slot *slot = dso_names_slot(names, &source_cached);

	return slot && slot->state && ((const struct cached_source *)slot->state)->cached;
}

/* A vdso's file is a copy in memory, another one in each run. */
static bool may_cache(const struct symbols *symbols, const struct dso_names *names, const struct build_id *id,
		      bool of_files)
{
	const struct dso *dso = names->dso;
	bool has_file = names->files.runtime || ((NAMES_OF(dso->kind) & NAMES_OF_KERNELS) && names->files.debug);

	return symbols->options.keep_answers && !symbols->options.no_bounds && id->size && dso->kind != DSO_VDSO &&
	       (has_file || !of_files) && !source_embedded_is_used(names);
}

/* The address from which those of an entry count, so that it is good for any place of the kernel and its modules. */
static uint64_t base_of(const struct dso *dso)
{
	if (dso->kind == DSO_MODULE)
		return dso->start;
	return dso->kind == DSO_KERNEL && dso->ref_symbol ? dso->ref_addr : 0;
}

/* The parts that it is from are what they were, and would be looked for in the same places. */
static bool still_holds(const struct cached_source *source, const struct cached_names *cached)
{
	return !cached->search || (!strcmp(source->search.s, cached->search) && file_parts_hold(&cached->parts));
}

static struct cached_names *read_entry(struct symbols *symbols, const struct dso *dso,
				       const struct cached_source *source)
{
	struct cached_names *cached = NULL;
	struct str bytes = STR_INIT;

	if (symbols_cached_read(symbols, &source->id, &source->key, &bytes))
		cached = cached_names_read(bytes.s, bytes.len, dso, base_of(dso));
	if (cached && !still_holds(source, cached)) {
		cached_names_free(cached);
		cached = NULL;
	}
	str_release(&bytes);
	return cached;
}

/* The build-id of the files that are there: a dso may be recorded without one. */
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

/* Looks for the entry, once. */
static bool find_entry(struct symbols *symbols, struct dso_names *names, const char *what, bool of_files)
{
	struct cached_source *source = source_of(names);
	const struct dso *dso = names->dso;

	if (!source || source->key.len)
		return source && source->cached;
	source->id = dso->build_id;
	if (!dso->build_id.size && of_files)
		source->id = id_of_files(symbols, &names->files);
	else if (!dso->build_id.size && (NAMES_OF(dso->kind) & NAMES_OF_KERNELS))
		source->id = recorded_kernel_id(symbols, dso);
	if (!may_cache(symbols, names, &source->id, of_files))
		return false;
	if (!make_key(symbols, names, &source->id, what, of_files, &source->key)) {
		str_release(&source->key);
		return false;
	}
	names->keeps_answers = true;
	if (of_files)
		add_search(symbols, names, &source->search);
	source->cached = read_entry(symbols, dso, source);
	return source->cached;
}

/* Makes it answer in place of the files or of the list. */
static bool adopt(struct dso_names *names)
{
	const struct cached_source *source = source_of(names);
	const struct embedded_dso *dso = source->cached->dso;

	names->listed = dso;
	names->listed_by_cache = true;
	names->only_exported = dso->flags & EMBEDDED_PARTIAL;
	free(names->origin);
	names->origin = xstrdup(dso->source);
	names->state = SYM_FOUND;
	return true;
}

bool source_cached_take(struct symbols *symbols, struct dso_names *names)
{
	return !names->listed && find_entry(symbols, names, "", true) && adopt(names);
}

bool source_cached_find_list(struct symbols *symbols, struct dso_names *names, const char *list)
{
	return find_entry(symbols, names, list, false);
}

bool source_cached_take_list(struct symbols *symbols, struct dso_names *names, const char *list)
{
	return !names->listed && find_entry(symbols, names, list, false) && adopt(names);
}

/* Looks for what is inlined into a module's functions, and for lines, where the functions are from elsewhere. */
static void find_entry_of_frames(struct symbols *symbols, struct dso_names *names)
{
	struct cached_source *source = source_of(names);

	if (names->listed || source->frames_tried || source->key.len || !symbols->options.keep_answers)
		return;
	source->frames_tried = true;
	dso_names_files(symbols, names);
	find_entry(symbols, names, "frames\n", true);
	source->frames_alone = source->key.len;
}

void source_cached_drop(struct dso_names *names)
{
	struct cached_source *source = source_of(names);

	names->keeps_answers = false;
	if (names->listed_by_cache) /* its answers are in use */
		return;
	cached_names_free(source->cached);
	source->cached = NULL;
	str_reset(&source->key);
	str_reset(&source->search);
}

/* ---- as a source ---- */

/* Depth, of enum answer_depth, to which the listed address is known. */
static uint8_t depth_of(const struct cached_source *source, const struct embedded_addr *listed)
{
	return source->cached->depths[listed - source->cached->dso->addrs];
}

static bool find_symbol(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
			const struct symbol **symbol)
{
	(void)slot;
	if (!names->listed_by_cache || !listed_find(symbols, names, addr, symbol))
		return false;
	names->missed |= !symbol_has_name(*symbol);
	return true;
}

static bool find_frames(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
			const struct frames_request *request, struct dwarf_inline *inlines, size_t *n)
{
	enum answer_depth wanted = request->lines ? ANSWER_LINES : ANSWER_INLINES;
	const struct embedded_addr *listed;
	const struct cached_source *source;

	if (names->dso->kind == DSO_MODULE)
		find_entry_of_frames(symbols, names);
	source = slot->state;
	if (!source || !source->cached || (!names->listed_by_cache && !source->frames_alone))
		return false;
	listed = embedded_addr_find(source->cached->dso, request->answer->addr);
	/* An address that is listed without a function was not asked for what is inlined into it. */
	if (!listed || (source->frames_alone && !listed->function1) || depth_of(source, listed) < wanted)
		return false;
	*n = embedded_inlines(source->cached->dso, listed, request->inlined, inlines, INLINES_MAX);
	for (size_t i = 0; i < *n && !request->lines; i++) /* others may have asked for lines */
		inlines[i].line = (struct source_line){ NULL, 0 };
	return true;
}

/* ---- kept ---- */

bool source_cached_wants(const struct symbols *symbols, const struct dso_names *names)
{
	return names->keeps_answers && !symbols->options.no_inlines && names->n_answers < FUNCTIONS_ASKED_MAX;
}

static bool may_keep(const struct symbols *symbols, const struct dso_names *names, const struct dwarf_file *dwarf)
{
	bool sure = !names->unsure && (!dwarf || dwarf_file_parts(dwarf));

	return names->keeps_answers && sure && !symbols->options.no_inlines && names->state == SYM_FOUND &&
	       names->n_answers && names->n_answers <= ANSWERS_MAX;
}

static bool has_news(const struct dso_names *names, const struct cached_source *source)
{
	for (size_t i = 0; i < names->n_answers; i++) {
		const struct addr_answer *answer = &names->answers[i];
		const struct embedded_addr *listed =
			source->cached ? embedded_addr_find(source->cached->dso, answer->addr) : NULL;

		/* Nothing is inlined where there is no function: there may be a list of functions next time. */
		if (source->frames_alone && !answer->symbol)
			continue;
		if (!listed || depth_of(source, listed) < answer_depth(answer))
			return true;
	}
	return false;
}

/* Asks what the cache has, too, as deeply as it is known: nothing of it is read from files. */
static void ask_listed(struct symbols *symbols, struct dso_names *names, const struct cached_source *source)
{
	const struct embedded_dso *known = source->cached->dso;

	for (size_t i = 0; i < known->n_addrs && names->n_answers < ANSWERS_MAX; i++) {
		const struct embedded_addr *listed = &known->addrs[i];
		uint8_t depth = depth_of(source, listed);
		struct addr_answer *answer = symbols_answer(symbols, names, listed->addr);

		if (answer_depth(answer) < depth)
			symbols_fill_frames(symbols, names, answer, depth == ANSWER_LINES);
	}
}

static void write_entry(struct symbols *symbols, struct dso_names *names, const struct cached_source *source,
			const struct file_parts *parts)
{
	struct str list = STR_INIT, depths = STR_INIT, bytes = STR_INIT;

	if (embedded_write_one(symbols, names, &list, &depths)) {
		cached_names_put(&depths, &list, source->search.s, parts, base_of(names->dso), &bytes);
		symbols_cached_write(symbols, &source->id, &source->key, &bytes);
	}
	str_release(&list);
	str_release(&depths);
	str_release(&bytes);
}

static void keep(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct cached_source *source = slot->state;
	const struct dwarf_file *dwarf = source_debug_dwarf(names);
	struct file_parts parts = { .v = NULL };
	const struct file_parts *more;

	if (!may_keep(symbols, names, dwarf) || !has_news(names, source))
		return;
	if (source->cached) {
		ask_listed(symbols, names, source);
		file_parts_join(&parts, &source->cached->parts);
	}
	dwarf = source_debug_dwarf(names);
	more = dwarf ? dwarf_file_parts(dwarf) : NULL;
	if (more)
		file_parts_join(&parts, more);
	/* A part that was there and is gone may be somewhere else by now. */
	if ((more || !dwarf) && file_parts_hold(&parts))
		write_entry(symbols, names, source, &parts);
	file_parts_release(&parts);
}

static void release(void *state)
{
	struct cached_source *source = state;

	cached_names_free(source->cached);
	str_release(&source->key);
	str_release(&source->search);
	free(source);
}

const struct names_source source_cached = {
	.kinds = NAMES_OF(DSO_FILE) | NAMES_OF_KERNELS, .find = find_symbol,
	.frames = find_frames, .keep = keep, .release = release,
};
