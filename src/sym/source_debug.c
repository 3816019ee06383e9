/* SPDX-License-Identifier: MIT */
/*
 * source_debug: the functions that were inlined at an address, and its lines, from the file's DWARF.
 *
 * DWARF is opened only for a dso whose frames are asked for, in the debug file first, and in the file itself where that
 * has none.
 */
#include "sym/dso_names.h"

#include <errno.h>
#include <stdlib.h>

struct debug_source { /* not there until DWARF was looked for */
	struct dwarf_file *dwarf; /* NULL: there is none */
	bool refused; /* some of it is not read, and that is in the names' why */
};

/* Reports DWARF that is there and is not read, after all else that speaks against the names. */
static void doubt(struct dso_names *names, const char *why)
{
	str_add(&names->why, names->why.len ? "; " : "");
	str_add_printable(&names->why, why, strlen(why));
}

/* ---- opening ---- */

/* The file that ran may be the debug file itself. */
void dwarf_opened_find(struct elf_files *elf_files, const struct dso_files *files, const struct sym_options *options,
		       struct dwarf_opened *opened)
{
	const char *const paths[] = { files->debug, files->runtime };
	struct str err = STR_INIT;

	*opened = (struct dwarf_opened){ .tried = true, .doubt = STR_INIT };
	for (size_t i = 0; i < ARRAY_SIZE(paths) && !opened->dwarf; i++) {
		int rc;

		if (!paths[i] || (i && paths[0] && !strcmp(paths[0], paths[1])))
			continue;
		rc = dwarf_file_open(elf_files, paths[i], files->runtime, options, &opened->dwarf, &err);
		opened->unsure |= rc && rc != -ENODATA;
		if (rc == -EFBIG) {
			str_add(&opened->doubt, opened->doubt.len ? "; " : "");
			str_add(&opened->doubt, err.s);
		}
		str_reset(&err);
	}
	str_release(&err);
}

void source_debug_take(struct symbols *symbols, struct dso_names *names, struct dwarf_opened *opened)
{
	struct names_slot *slot = dso_names_slot(names, &source_debug);
	struct debug_source *source = slot->state = xcalloc(1, sizeof(*source));

	source->dwarf = opened->dwarf;
	names->unsure |= opened->unsure;
	if (source->dwarf)
		dwarf_file_read_from(source->dwarf, symbols->elf_files);
	if (opened->doubt.len)
		doubt(names, opened->doubt.s);
	str_release(&opened->doubt);
}

bool source_debug_is_tried(const struct dso_names *names)
{
	const struct names_slot *slot = dso_names_slot(names, &source_debug);

	return slot && slot->state;
}

struct dwarf_file *source_debug_dwarf(const struct dso_names *names)
{
	return source_debug_is_tried(names) ?
		       ((struct debug_source *)dso_names_slot(names, &source_debug)->state)->dwarf : NULL;
}

/* A module's names are not from its file, mostly. */
static struct debug_source *source_of(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct names_table *table = dso_names_table(names);
	struct dwarf_opened opened = { .doubt = STR_INIT };

	if (slot->state)
		return slot->state;
	if ((table && table->from_elf) || names->dso->kind == DSO_MODULE) {
		symbols_progress(symbols, "reading debug information of", names->dso->name);
		dwarf_opened_find(symbols->elf_files, dso_names_files(symbols, names), &symbols->options, &opened);
	}
	source_debug_take(symbols, names, &opened);
	return slot->state;
}

/* ---- frames ---- */

/* Once for each file, when it is found out. */
static void report_refused(struct dso_names *names, struct debug_source *source)
{
	const char *why = dwarf_file_refused(source->dwarf);

	if (*why && !source->refused)
		doubt(names, why);
	source->refused = *why;
}

static bool find_frames(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
			const struct frames_request *request, struct dwarf_inline *inlines, size_t *n)
{
	struct debug_source *source;
	uint64_t vaddr;

	dso_names_load_rest(symbols, names);
	source = source_of(symbols, names, slot);
	if (!source->dwarf || !dso_names_elf_vaddr(names, request->answer->addr, &vaddr))
		return false;
	*n = request->inlined ? dwarf_file_inlines(source->dwarf, vaddr, request->lines, inlines, INLINES_MAX) : 0;
	report_refused(names, source);
	if (*n > 1)
		return true;
	inlines[0] = (struct dwarf_inline){ 0 };
	*n = request->lines && dwarf_file_line(source->dwarf, vaddr, &inlines[0].line);
	return true;
}

/* ---- data ---- */

struct dwarf_file *symbols_dwarf(struct symbols *symbols, const struct dso *dso, struct str *why)
{
	struct dso_names *names = symbols_loaded(symbols, dso);
	struct names_slot *slot = dso_names_slot(names, &source_debug);
	struct debug_source *source;

	if (slot) {
		dso_names_load_rest(symbols, names);
		source = source_of(symbols, names, slot);
		if (source->dwarf)
			return source->dwarf;
	}
	str_add(why, "its file has no debug information");
	return NULL;
}

bool symbols_vaddr(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint64_t *vaddr)
{
	struct dso_names *names = symbols_loaded(symbols, dso);

	dso_names_load_rest(symbols, names);
	return dso_names_elf_vaddr(names, addr, vaddr);
}

static void release(void *state)
{
	struct debug_source *source = state;

	if (source->dwarf)
		dwarf_file_close(source->dwarf);
	free(source);
}

const struct names_source source_debug = {
	.kinds = NAMES_OF_FILES | NAMES_OF_KERNELS,
	.frames = find_frames, .release = release,
};
