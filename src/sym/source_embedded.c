/* SPDX-License-Identifier: MIT */
/*
 * source_embedded: the first source of names: what the recording has of its own (embedded_names.h).
 *
 * It comes before the files although these have more, also where one is here with the recorded build-id: what it has
 * was read from that file, right after the recording and by the same rules, so the names are the same; a look-up
 * opens, maps and checks nothing; and a report is the same here and elsewhere, now and later. It is by address:
 * only one that it does not list is looked up in files, see dso_names_load_rest. Two things come before it:
 *
 *   -k, --kallsyms             for the kernel: who names a list wants that one
 *   --symfs, --debug-dir,      for a file that had only its exported names, or none: there may be more; if there
 *   --debuginfod               are not, it is used all the same
 *
 * Answers that are in the cache have the same form (source_cached.c), and share listed_find.
 */
#include "sym/code_times.h"
#include "sym/dso_names.h"

#include <stdlib.h>

enum { NOTES_MAX = 16 }; /* about dsos that can't be used */
#define IMAGE_PAGES_MAX ((uint64_t)1 << 16)

static void note(const struct symbols *symbols, const char *what, const char *why)
{
	struct note_list *notes = symbols->recording->notes;

	if (notes && notes->n < NOTES_MAX)
		note_add(notes, false, NULL, "symbols in the file%s%s: %s", *what ? ": " : "", what, why);
}

static struct embedded_names *names_of(struct symbols *symbols)
{
	const struct info *info = symbols->recording->info;
	struct str why = STR_INIT;

	if (symbols->embedded_tried || symbols->options.not_recorded || !info_has(info, FEATURE_SYMBOLS))
		return symbols->embedded;
	symbols->embedded_tried = true;
	symbols->image_pages_left = IMAGE_PAGES_MAX;
	if (embedded_names_open(&symbols->embedded, info->symbols, info->symbols_size, &why))
		note(symbols, "", why.s);
	str_release(&why);
	return symbols->embedded;
}

static struct embedded_dso *find(struct symbols *symbols, const struct dso *dso)
{
	struct embedded_names *names = names_of(symbols);
	struct embedded_dso *found = NULL;
	struct str why = STR_INIT, name = STR_INIT;

	if (names)
		found = embedded_names_find(names, dso, &why);
	if (why.len) {
		str_add_printable(&name, dso->name, strlen(dso->name));
		str_add(&why, ", so they are not used");
		note(symbols, name.s, why.s);
	}
	str_release(&why);
	str_release(&name);
	return found;
}

/* ---- names by address ---- */

/* The names at its start, the best as people read them. */
static const char *best_name(struct symbols *symbols, const struct dso_names *names,
			     const struct embedded_function *function, const char **raw)
{
	bool demangled = !dso_names_are_raw(names) && !(function->kind & EMBEDDED_NAMELESS);
	const char *best = symbol_display_name(symbols, function->name, demangled);

	*raw = function->name;
	for (uint32_t i = 0; i < function->n_aliases && i <= ALIASES_MAX; i++) {
		const char *alias = names->listed->aliases[function->alias + i];
		const char *other = symbol_display_name(symbols, alias, demangled);

		if (!symbol_name_is_better(other, alias, best, *raw))
			continue;
		best = other;
		*raw = alias;
	}
	return best;
}

/* The symbol of a listed function. NULL: it has no name, and none is to be made. */
static const struct symbol *of_function(struct symbols *symbols, struct dso_names *names, uint32_t i)
{
	const struct embedded_function *function = &names->listed->functions[i];
	const struct symbol *found = symbol_object_find(names, SYMBOL_OF_LIST, i);
	struct symbol symbol;

	if (found)
		return found;
	if (symbols->options.no_bounds && (function->kind & EMBEDDED_NAMELESS))
		return NULL;
	symbol = (struct symbol){ .dso = names->dso, .start = function->start, .end = function->end };
	symbol.name = best_name(symbols, names, function, &symbol.raw);
	symbol.binding = symbol_binding(function->kind & EMBEDDED_BINDING);
	symbol.nameless = function->kind & EMBEDDED_NAMELESS;
	return symbol_object_add(symbols, names, SYMBOL_OF_LIST, i, &symbol);
}

const struct symbol *listed_symbol_at(struct symbols *symbols, struct dso_names *names, uint64_t start, bool nameless)
{
	uint32_t function1 = names->listed ? embedded_function_at(names->listed, start, nameless) : 0;

	return function1 ? of_function(symbols, names, function1 - 1) : NULL;
}

bool listed_find(struct symbols *symbols, struct dso_names *names, uint64_t addr, const struct symbol **symbol)
{
	const struct embedded_addr *listed = names->listed ? embedded_addr_find(names->listed, addr) : NULL;

	if (!listed)
		return false;
	*symbol = listed->function1 ? of_function(symbols, names, listed->function1 - 1) : NULL;
	return true;
}

/* ---- which comes first ---- */

struct embedded_source {
	struct embedded_dso *later; /* to be used if other sources have no more; NULL: none */
	char *origin; /* printable; NULL: it is not used */
};

/* Whoever names a list for the kernel wants that one. */
static bool is_named(const struct symbols *symbols, const struct dso *dso)
{
	return (NAMES_OF(dso->kind) & NAMES_OF_KERNELS) && (symbols->options.vmlinux || symbols->options.kallsyms);
}

/* The user says where better names may be. */
static bool may_be_better(const struct symbols *symbols, const struct embedded_dso *embedded)
{
	const struct sym_options *options = &symbols->options;

	return embedded->flags && ((options->symfs && strcmp(options->symfs, "/") != 0) || options->debuginfod ||
				   (options->debug_dirs && *options->debug_dirs));
}

static void take_times(struct symbols *symbols, struct dso_names *names)
{
	const struct embedded_dso *embedded = names->listed;

	if (!embedded->n_events || names->times || !code_has_times(symbols, names->dso))
		return;
	names->times = xcalloc(1, sizeof(*names->times));
	for (size_t i = 0; i < embedded->n_events; i++)
		code_times_add(names->times, &embedded->events[i]);
	if (!code_times_finish(names->times, embedded_names_texts(symbols->embedded)))
		dso_names_drop_times(names);
}

static void take(struct symbols *symbols, struct dso_names *names, struct embedded_source *source,
		 const struct embedded_dso *embedded)
{
	bool lacks_names = embedded->flags && names->dso->kind == DSO_FILE;
	struct str text = STR_INIT;

	names->listed = embedded;
	names->state = embedded->flags & EMBEDDED_NONE ? SYM_NONE : SYM_FOUND;
	names->hidden = false;
	str_add(&text, embedded->why);
	dso_names_doubt(names, &text,
			lacks_names ? "--symfs or --debug-dir, with the folder where its debug file is" : NULL);
	str_add(&text, "the recording");
	if (*embedded->source) {
		str_add(&text, ", which has them from ");
		str_add_printable(&text, embedded->source, strlen(embedded->source));
	}
	source->origin = str_detach(&text);
	take_times(symbols, names);
}

static enum source_result load(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	struct embedded_dso *embedded = is_named(symbols, names->dso) ? NULL : find(symbols, names->dso);
	struct embedded_source *source;

	if (!embedded)
		return SOURCE_NONE;
	source = slot->state = xcalloc(1, sizeof(*source));
	if (may_be_better(symbols, embedded)) {
		source->later = embedded;
		return SOURCE_NONE;
	}
	take(symbols, names, source, embedded);
	return SOURCE_DONE;
}

void source_embedded_later(struct symbols *symbols, struct dso_names *names)
{
	struct names_slot *slot = dso_names_slot(names, &source_embedded);
	struct embedded_source *source = slot ? slot->state : NULL;

	if (!source || !source->later || (names->state == SYM_FOUND && !names->only_exported))
		return;
	take(symbols, names, source, source->later);
}

bool source_embedded_has(struct symbols *symbols, const struct dso *dso)
{
	struct embedded_names *names = is_named(symbols, dso) ? NULL : names_of(symbols);
	struct str ignored = STR_INIT;
	bool has = names && embedded_names_find(names, dso, &ignored);

	str_release(&ignored);
	return has;
}

bool source_embedded_is_used(const struct dso_names *names)
{
	const struct names_slot *slot = dso_names_slot(names, &source_embedded);

	return slot && slot->state;
}

const char *source_embedded_origin(const struct dso_names *names)
{
	return source_embedded_is_used(names) ?
		       ((const struct embedded_source *)dso_names_slot(names, &source_embedded)->state)->origin : NULL;
}

/* ---- as a source ---- */

static bool find_symbol(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
			const struct symbol **symbol)
{
	return slot->state && listed_find(symbols, names, addr, symbol);
}

static bool find_frames(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
			const struct frames_request *request, struct dwarf_inline *inlines, size_t *n)
{
	const struct embedded_addr *listed =
		slot->state && names->listed ? embedded_addr_find(names->listed, request->answer->addr) : NULL;

	(void)symbols;
	if (!listed)
		return false;
	*n = embedded_inlines(names->listed, listed, request->inlined, inlines, INLINES_MAX);
	return true;
}

static void release(void *state)
{
	struct embedded_source *source = state;

	free(source->origin);
	free(source);
}

const struct names_source source_embedded = {
	.kinds = NAMES_OF_FILES | NAMES_OF_KERNELS | NAMES_OF(DSO_ANON),
	.load = load, .find = find_symbol, .frames = find_frames, .release = release,
};

/* ---- unwind tables ---- */

struct elf_file *symbols_unwind_file(struct symbols *symbols, const struct dso *dso, struct str *why)
{
	struct embedded_dso *recorded = find(symbols, dso);
	struct str said = STR_INIT, why_not = STR_INIT;
	const char *path = NULL;
	struct elf_file *file;
	bool is_open, is_made = recorded && recorded->image;

	if (is_made || (recorded && symbols->n_images < EMBEDDED_IMAGES_MAX))
		path = embedded_image_path(recorded, &symbols->image_pages_left, &said);
	symbols->n_images += path && !is_made;
	if (said.len)
		note(symbols, dso->name, said.s);
	is_open = path && !elf_files_open(symbols->elf_files, path, &file, &why_not);
	if (why_not.len)
		note(symbols, "unwind tables", why_not.s);
	str_release(&said);
	str_release(&why_not);
	if (!is_open)
		return symbols_elf_file(symbols, dso, why);
	elf_file_let_go(file);
	return file;
}
