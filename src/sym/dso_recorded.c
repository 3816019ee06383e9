/*
 * dso_recorded: the first source of names: what the recording has of its own (embedded_names.h).
 *
 * It comes before the files although these have more, also where one is here with the recorded build-id: what it has
 * was read from that file, right after the recording and by the same rules, so the names are the same; a look-up
 * opens, maps and checks nothing; and a report is the same here and elsewhere, now and later. It is by address:
 * only one that it does not list is looked up in files, see dso_state_load_files. Two things come before it:
 *
 *   -k, --kallsyms             for the kernel: who names a list wants that one
 *   --symfs, --debug-dir,      for a file that had only its exported names, or none: there may be more; if there
 *   --debuginfod               are not, it is used all the same
 */
#include "sym/code_times.h"
#include "sym/dso_recorded.h"

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

	if (symbols->recorded_tried || symbols->options.not_recorded || !info_has(info, FEATURE_SYMBOLS))
		return symbols->recorded;
	symbols->recorded_tried = true;
	symbols->image_pages_left = IMAGE_PAGES_MAX;
	if (embedded_names_open(&symbols->recorded, info->symbols, info->symbols_size, &why))
		note(symbols, "", why.s);
	str_release(&why);
	return symbols->recorded;
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

/* ---- which comes first ---- */

static bool is_kernels(const struct dso *dso)
{
	return dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
}

static bool is_named(const struct symbols *symbols, const struct dso *dso)
{
	return is_kernels(dso) && (symbols->options.vmlinux || symbols->options.kallsyms);
}

/* The user says where better names may be. */
static bool may_be_better(const struct symbols *symbols, const struct embedded_dso *recorded)
{
	const struct sym_options *options = &symbols->options;

	return recorded->flags && ((options->symfs && strcmp(options->symfs, "/") != 0) || options->debuginfod ||
				   (options->debug_dirs && *options->debug_dirs));
}

static void take_times(struct symbols *symbols, struct dso_state *state)
{
	const struct embedded_dso *recorded = state->recorded;

	if (!recorded->n_events || state->times || !code_has_times(symbols, state->dso))
		return;
	state->times = xcalloc(1, sizeof(*state->times));
	for (size_t i = 0; i < recorded->n_events; i++)
		code_times_add(state->times, &recorded->events[i]);
	if (code_times_finish(state->times, embedded_names_texts(symbols->recorded)))
		return;
	code_times_release(state->times);
	free(state->times);
	state->times = NULL;
}

static void take(struct symbols *symbols, struct dso_state *state, struct embedded_dso *recorded)
{
	bool lacks_names = recorded->flags && state->dso->kind == DSO_FILE;
	struct str text = STR_INIT;

	state->recorded = recorded;
	state->raw_names = is_kernels(state->dso) || state->dso->kind == DSO_ANON;
	state->state = recorded->flags & EMBEDDED_NONE ? SYM_NONE : SYM_FOUND;
	state->hidden = false;
	str_add(&text, recorded->why);
	dso_state_doubt(state, &text,
			lacks_names ? "--symfs or --debug-dir, with the folder where its debug file is" : NULL);
	str_add(&text, "the recording");
	if (*recorded->source) {
		str_add(&text, ", which has them from ");
		str_add_printable(&text, recorded->source, strlen(recorded->source));
	}
	state->recorded_source = str_detach(&text);
	take_times(symbols, state);
}

enum source_result dso_recorded_load(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	struct embedded_dso *recorded;

	(void)why;
	if (state->recorded || state->recorded_later || is_named(symbols, state->dso))
		return SOURCE_NONE;
	recorded = find(symbols, state->dso);
	if (!recorded)
		return SOURCE_NONE;
	if (may_be_better(symbols, recorded)) {
		state->recorded_later = recorded;
		return SOURCE_NONE;
	}
	take(symbols, state, recorded);
	return SOURCE_ALL;
}

void dso_recorded_later(struct symbols *symbols, struct dso_state *state)
{
	if (!state->recorded_later || (state->state == SYM_FOUND && !state->only_exported))
		return;
	state->files_loaded = true;
	take(symbols, state, state->recorded_later);
}

bool dso_recorded_has(struct symbols *symbols, const struct dso *dso)
{
	struct embedded_names *names = is_named(symbols, dso) ? NULL : names_of(symbols);
	struct str ignored = STR_INIT;
	bool has = names && embedded_names_find(names, dso, &ignored);

	str_release(&ignored);
	return has;
}

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
