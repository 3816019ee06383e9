/* SPDX-License-Identifier: MIT */
/*
 * dso_names: the names of one dso, and the array of sources in the order in which they are asked. See dso_names.h.
 *
 * Loading ends with the first source that has names, or says why there are none. Where that is a list by address (of
 * the recording or of the cache), the sources after it stay unasked until an address is not in the list, or its code
 * is wanted: so a report that has all in its recording opens no file.
 *
 * Whatever goes wrong ends in a state with its reason, never in an error.
 */
#include "sym/code_times.h"
#include "sym/dso_names.h"

#include <stdlib.h>

static enum source_result of_none(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	struct str why = STR_INIT;

	(void)symbols, (void)slot;
	str_add(&why, names->dso->kind == DSO_OTHER ? "has no code with names" :
			      "of a virtual machine's kernel, whose names are not on this machine");
	dso_names_none(names, &why, NULL);
	return SOURCE_DONE;
}
static const struct names_source source_none = {
	.kinds = NAMES_OF(DSO_GUEST_KERNEL) | NAMES_OF(DSO_GUEST_MODULE) | NAMES_OF(DSO_OTHER), .load = of_none,
};

/* The path is the only name: a KSYMBOL record has the one of a BPF program, and parts of callchains are called so. */
static enum source_result of_path(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct dso *dso = names->dso;

	(void)symbols;
	symbol_table_add(names_table_begin(slot), dso->start, dso->end > dso->start ? dso->end - dso->start : 1,
			 dso->path, strlen(dso->path), SYMBOL_GLOBAL);
	names_table_found(names, slot, dso->kind == DSO_BPF ? "KSYMBOL record" : "the callchain");
	return SOURCE_DONE;
}
static const struct names_source source_path = {
	.kinds = NAMES_OF(DSO_BPF) | NAMES_OF(DSO_LEFT_OUT), .load = of_path, .find = names_table_find,
};

/*
 * All sources of names, in the order in which they are asked; a dso has those for its kind.
 *
 * To add a source: its file with a const struct names_source, and a row at its place; a test in test_symbols.c. To add
 * a kind of dso: a row in space.h's enum dso_kind, and its bit in the sources.
 */
static const struct names_source *const sources[] = {
	&source_embedded, &source_simpleperf, &source_cached, &source_files, &source_kernel, &source_module,
	&source_code, &source_mapped_code, &source_path, &source_none, &source_kcore, &source_debug,
};

struct dso_names *dso_names_new(const struct dso *dso)
{
	struct dso_names *names = xcalloc(1, sizeof(*names));

	names->dso = dso;
	str_init(&names->why);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (sources[i]->kinds & NAMES_OF(dso->kind))
			names->slots[names->n_slots++].source = sources[i];
	return names;
}

void dso_names_drop_times(struct dso_names *names)
{
	if (names->times)
		code_times_release(names->times);
	free(names->times);
	names->times = NULL;
}

void dso_names_free(struct dso_names *names)
{
	for (unsigned i = 0; i < names->n_slots; i++) {
		struct names_slot *slot = &names->slots[i];

		if (slot->state)
			slot->source->release(slot->state);
		names_table_drop(slot);
	}
	dso_names_drop_times(names);
	if (names->files_known)
		dso_files_release(&names->files);
	str_release(&names->why);
	index_release(&names->answer_index);
	index_release(&names->object_index);
	index_release(&names->inlined_index);
	free(names->origin);
	free(names->answers);
	free(names->objects);
	free(names->object_keys);
	free(names->inlined);
	free(names->inlined_in);
	free(names);
}

struct names_slot *dso_names_slot(const struct dso_names *names, const struct names_source *source)
{
	for (unsigned i = 0; i < names->n_slots; i++)
		if (names->slots[i].source == source)
			return (struct names_slot *)(uintptr_t)&names->slots[i];
	return NULL;
}

struct names_table *dso_names_table(const struct dso_names *names)
{
	for (unsigned i = 0; i < names->n_slots; i++)
		if (names->slots[i].table)
			return names->slots[i].table;
	return NULL;
}

/* ---- outcomes ---- */

void dso_names_doubt(struct dso_names *names, struct str *why, const char *remedy)
{
	struct str text = *why;

	str_init(why);
	str_reset(&names->why);
	str_add_printable(&names->why, text.s, text.len);
	str_release(&text);
	names->remedy = remedy;
}

void dso_names_none(struct dso_names *names, struct str *why, const char *remedy)
{
	dso_names_doubt(names, why, remedy);
	names->state = SYM_NONE;
}

void dso_names_found(struct dso_names *names, const char *origin)
{
	struct str text = STR_INIT;

	str_add_printable(&text, origin, strlen(origin));
	free(names->origin);
	names->origin = str_detach(&text);
	names->state = SYM_FOUND;
}

/* ---- loading ---- */

static void ask(struct symbols *symbols, struct dso_names *names)
{
	enum source_result result = SOURCE_NONE;

	while (names->n_asked < names->n_slots && result == SOURCE_NONE) {
		struct names_slot *slot = &names->slots[names->n_asked];

		if (slot->source->load)
			result = slot->source->load(symbols, names, slot);
		names->n_asked += result != SOURCE_CACHED;
	}
	names->has_rest = names->listed;
}

void dso_names_load(struct symbols *symbols, struct dso_names *names)
{
	ask(symbols, names);
	source_simpleperf_later(symbols, names);
	source_embedded_later(symbols, names);
}

void dso_names_load_rest(struct symbols *symbols, struct dso_names *names)
{
	bool had_names = names->state == SYM_FOUND;
	const char *remedy = names->remedy;
	struct str why = STR_INIT;

	/* The recording knows what code made at run time lay where when, or there is no more to be known. */
	if (!names->has_rest || names->times)
		return;
	names->state = SYM_UNTRIED;
	if (names->listed_by_cache) { /* the same will be said of the same files once more */
		had_names = false;
		str_reset(&names->why);
	}
	symbols_progress(symbols, "reading symbols of", names->dso->name);
	str_addn(&why, names->why.s, names->why.len);
	ask(symbols, names);
	names->has_rest = false;
	/* The names that there are do not lack what the file would have had besides. */
	if (had_names && names->state == SYM_NONE) {
		dso_names_doubt(names, &why, remedy);
		names->state = SYM_FOUND;
	}
	str_release(&why);
}

/* ---- files ---- */

/* A kernel maps its own vdso: the recording's kernel is known to be the one that runs, by its build-id. */
static bool vdso_is_here(struct symbols *symbols, const struct dso *dso)
{
	const struct dso_table *dsos = symbols->options.dsos;
	struct build_id id = recorded_kernel_id(symbols, dso);
	struct str ignored = STR_INIT;
	bool is_here;

	if (dso->kind != DSO_VDSO || dso->build_id.size)
		return false;
	for (size_t i = 0; dsos && i < dsos->n && !id.size; i++)
		if (dsos->v[i]->kind == DSO_KERNEL)
			id = recorded_kernel_id(symbols, dsos->v[i]);
	is_here = id.size && kernel_here_id(symbols)->size && kernel_is_here(symbols, &id, &ignored);
	str_release(&ignored);
	return is_here;
}

const struct dso_files *dso_names_files(struct symbols *symbols, struct dso_names *names)
{
	struct sym_options options;

	if (names->files_known)
		return &names->files;
	options = symbols->options;
	options.of_now |= vdso_is_here(symbols, names->dso);
	dso_files_find(&options, symbols->elf_files, symbols->cached, symbols->recording, symbols->processes,
		       names->dso, &names->files);
	names->files_known = true;
	return &names->files;
}

/* Modules are counted from where they were loaded, see elf_module_places. */
bool dso_names_elf_vaddr(const struct dso_names *names, uint64_t addr, uint64_t *vaddr)
{
	const struct names_table *table = dso_names_table(names);

	if (names->dso->kind != DSO_MODULE)
		return table && table->from_elf && names_table_vaddr(table, addr, vaddr);
	*vaddr = addr - names->dso->start;
	return names->dso->start && addr >= names->dso->start;
}

bool dso_names_are_raw(const struct dso_names *names)
{
	return NAMES_OF(names->dso->kind) & (NAMES_OF_KERNELS | NAMES_OF(DSO_BPF) | NAMES_OF(DSO_ANON));
}
