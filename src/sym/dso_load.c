/*
 * dso_load: where the names of each kind of dso come from: the rows of sources[], at the end, asked in their order.
 *
 *   first of all   names in the recording itself, by address: dso_recorded.c, which says why
 *   file, vdso     .symtab of the debug file, or else of the file, else .gnu_debugdata and .dynsym; and its PLT
 *   kernel, module kernel_names.c, module_names.c: lists of names, and the same of their files
 *   BPF            the one name that its KSYMBOL record gave it
 *   anonymous      code_load.c: maps and dumps that run-time compilers write
 *
 * Whatever goes wrong ends in a state with its reason, never in an error.
 */
#include "sym/dso_cached.h"
#include "sym/dso_recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- outcomes ---- */

void dso_state_doubt(struct dso_state *state, struct str *why, const char *remedy)
{
	struct str text = *why;

	str_init(why);
	str_reset(&state->why);
	str_add_printable(&state->why, text.s, text.len);
	str_release(&text);
	state->remedy = remedy;
}

void dso_state_none(struct dso_state *state, struct str *why, const char *remedy)
{
	dso_state_doubt(state, why, remedy);
	state->state = SYM_NONE;
}

static void none(struct dso_state *state, const char *why, const char *remedy)
{
	struct str text = STR_INIT;

	str_add(&text, why);
	dso_state_none(state, &text, remedy);
}

void dso_state_found(struct dso_state *state, const char *source)
{
	struct str text = STR_INIT;

	symbol_table_finish(&state->table);
	str_add_printable(&text, source, strlen(source));
	free(state->source);
	state->source = str_detach(&text);
	state->state = SYM_FOUND;
}

/* ---- ELF files ---- */

static void take_segments(struct dso_state *state, const struct elf_file *file)
{
	size_t bytes = file->n_segments * sizeof(*file->segments);

	if (!bytes)
		return;
	state->segments = xmalloc(bytes);
	memcpy(state->segments, file->segments, bytes);
	state->n_segments = file->n_segments;
}

/* eu-strip leaves the program headers as they were: then code has as many bytes in the file as in memory. */
static bool has_own_offsets(const struct dso_state *state)
{
	for (size_t i = 0; i < state->n_segments; i++)
		if (state->segments[i].executable && state->segments[i].file_size < state->segments[i].mem_size)
			return false;
	return true;
}

/*
 * A debug file alone: its segments' addresses are those of the file that ran, their offsets and sizes in the
 * file are not. Linkers put a segment's bytes behind those of the one before, as near as its alignment allows,
 * so the offsets can be told all the same.
 */
static void restore_offsets(struct dso_state *state)
{
	uint64_t end = 0;

	if (has_own_offsets(state))
		return;

	for (size_t i = 0; i < state->n_segments; i++) {
		struct elf_segment *segment = &state->segments[i];
		uint64_t align = segment->align > 1 ? segment->align : 1;

		segment->offset = end + (segment->vaddr % align + align - end % align) % align;
		segment->file_size = segment->mem_size;
		if (segment->offset > UINT64_MAX / 2 ||
		    segment->file_size > UINT64_MAX / 2) { /* no linker's work */
			state->n_segments = i;
			return;
		}
		end = segment->offset + segment->file_size;
	}
}

struct elf_names {
	struct elf_file *file, *debug; /* held; NULL: not there; debug also where it is the file itself */
	bool complete; /* all functions have names, not just those that are exported */
	bool packed; /* those that are not exported were in .gnu_debugdata */
	const char *from; /* where most names are from */
};

static enum source_result from_debug_file(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	struct elf_names *names = state->elf;

	(void)symbols;
	if (!names->debug || elf_table_read(names->debug, SHT_SYMTAB, &state->table, why) <= 0)
		return SOURCE_NONE;
	names->complete = true;
	names->from = state->files.debug;
	return SOURCE_SOME;
}

static enum source_result from_file(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	struct elf_names *names = state->elf;

	(void)symbols;
	if (!names->file || names->complete ||
	    elf_table_read(names->file, SHT_SYMTAB, &state->table, why) <= 0)
		return SOURCE_NONE;
	names->complete = true;
	return SOURCE_SOME;
}

static enum source_result from_minidebug(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	struct elf_names *names = state->elf;
	struct elf_file *files[] = { names->debug, names->file };
	struct str ignored = STR_INIT;

	(void)symbols, (void)why;
	for (size_t i = 0; i < ARRAY_SIZE(files) && !names->complete; i++)
		names->complete = names->packed =
			files[i] && elf_minidebug_read(files[i], &state->table, &ignored) > 0;
	state->unsure |= ignored.len;
	str_release(&ignored);
	return names->packed ? SOURCE_SOME : SOURCE_NONE;
}

static enum source_result from_exported(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	struct elf_names *names = state->elf;
	struct elf_file *file = names->file ? names->file : names->debug;

	(void)symbols;
	if (!file || (names->complete && !names->packed) ||
	    elf_table_read(file, SHT_DYNSYM, &state->table, why) <= 0)
		return SOURCE_NONE;
	return SOURCE_SOME;
}

static enum source_result from_plt(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	size_t before = state->table.n;

	(void)symbols;
	if (state->elf->file)
		elf_plt_read(state->elf->file, &state->table, why);
	return state->table.n > before ? SOURCE_SOME : SOURCE_NONE;
}

static struct elf_file *open_held(struct symbols *symbols, const char *path, struct str *err)
{
	struct elf_file *file;

	return path && !elf_files_open(symbols->elf_files, path, &file, err) ? file : NULL;
}

bool dso_state_read_elf(struct symbols *symbols, struct dso_state *state, const char **source, struct str *err)
{
	const struct dso_files *files = &state->files;
	struct elf_names names = { .from = files->runtime };

	names.file = open_held(symbols, files->runtime, err);
	names.debug = text_same(files->debug, files->runtime) ? NULL : open_held(symbols, files->debug, err);
	if (names.file) {
		take_segments(state, names.file);
	} else if (names.debug) {
		take_segments(state, names.debug);
		restore_offsets(state);
		names.from = files->debug;
	}
	state->elf = &names;
	dso_state_ask(symbols, state, SOURCES_OF_FILES, err);
	state->elf = NULL;
	if (names.file)
		elf_file_let_go(names.file);
	if (names.debug)
		elf_file_let_go(names.debug);
	*source = names.from;
	state->only_exported = !names.complete && state->dso->kind != DSO_VDSO;
	return state->table.n != 0;
}

/* That names are missing is told when one was: see symbols_why. Doubts are told always. */
static void tell_doubts(struct dso_state *state)
{
	if (state->only_exported && state->dso->build_id.size)
		return;
	str_add(&state->why, state->files.why.s);
	state->remedy = state->files.remedy;
}

static enum source_result from_files(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	const struct dso_files *files = dso_state_files(symbols, state);
	struct str err = STR_INIT;
	const char *source;

	(void)why;
	if (!files->runtime && !files->debug) {
		none(state, files->why.len ? files->why.s : "no such file", files->remedy);
	} else if (dso_cached_take(symbols, state)) {
		tell_doubts(state);
	} else if (dso_state_read_elf(symbols, state, &source, &err)) {
		dso_state_found(state, source);
		state->from_elf = true;
		state->unsure |= err.len;
		tell_doubts(state);
	} else if (err.len) {
		dso_state_none(state, &err, NULL);
	} else {
		none(state, "stripped: it has no names", "install its debug package");
	}
	str_release(&err);
	return SOURCE_ALL;
}

/* ---- the others ---- */

static enum source_result from_record(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	const struct dso *dso = state->dso;

	(void)symbols, (void)why;
	state->raw_names = true;
	symbol_table_add(&state->table, dso->start,
			 dso->end > dso->start ? dso->end - dso->start : 1, dso->path,
			 strlen(dso->path), SYMBOL_GLOBAL);
	dso_state_found(state, "KSYMBOL record");
	return SOURCE_ALL;
}

static enum source_result from_kernel(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	(void)why;
	kernel_names_load(symbols, state);
	return SOURCE_ALL;
}

static enum source_result from_module(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	(void)why;
	module_names_load(symbols, state);
	return SOURCE_ALL;
}

static enum source_result from_code(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	(void)why;
	code_load(symbols, state);
	return SOURCE_ALL;
}

static enum source_result of_guest(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	(void)symbols, (void)state;
	str_add(why, "of a virtual machine's kernel, whose names are not on this machine");
	return SOURCE_REFUSED;
}

static enum source_result of_none(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	(void)symbols, (void)state;
	str_add(why, "has no code with names");
	return SOURCE_REFUSED;
}

/* ---- in which order ---- */

#define KIND(kind) (1u << (kind))
/*
 * Where names come from, in the order in which they are asked; a dso asks those of its kind.
 *
 * To add a source: a row at its place; its function, which adds to state->table and says how much that is; a test
 * in test_symbols.c. To add a kind of dso: a row in space.h's enum dso_kind, and its bit here.
 */
static const struct symbol_source {
	const char *name;
	unsigned kinds;
	enum source_result (*load)(struct symbols *symbols, struct dso_state *state, struct str *why);
} sources[] = {
	{ "symbols in the file", KIND(DSO_FILE) | KIND(DSO_VDSO) | KIND(DSO_KERNEL) | KIND(DSO_MODULE) | KIND(DSO_ANON),
	  dso_recorded_load },
	{ "files", KIND(DSO_FILE) | KIND(DSO_VDSO), from_files },
	{ "debug file", SOURCES_OF_FILES, from_debug_file },
	{ "file", SOURCES_OF_FILES, from_file },
	{ "minidebug", SOURCES_OF_FILES, from_minidebug },
	{ "dynsym", SOURCES_OF_FILES, from_exported },
	{ "PLT", SOURCES_OF_FILES, from_plt },
	{ "vmlinux, kallsyms", KIND(DSO_KERNEL), from_kernel },
	{ "kallsyms, module's file", KIND(DSO_MODULE), from_module },
	{ "KSYMBOL record", KIND(DSO_BPF), from_record },
	{ "perf map, jitdump", KIND(DSO_ANON), from_code },
	{ "guest", KIND(DSO_GUEST_KERNEL) | KIND(DSO_GUEST_MODULE), of_guest },
	{ "none", KIND(DSO_OTHER), of_none },
};

void dso_state_ask(struct symbols *symbols, struct dso_state *state, unsigned kinds, struct str *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		enum source_result result;

		if (!(sources[i].kinds & kinds))
			continue;
		result = sources[i].load(symbols, state, why);
		if (result == SOURCE_ALL || result == SOURCE_REFUSED)
			return;
	}
}

static void ask_all(struct symbols *symbols, struct dso_state *state)
{
	struct str why = STR_INIT;

	dso_state_ask(symbols, state, KIND(state->dso->kind), &why);
	if (state->state == SYM_UNTRIED)
		dso_state_none(state, &why, NULL);
	str_release(&why);
}

void dso_state_load(struct symbols *symbols, struct dso_state *state)
{
	ask_all(symbols, state);
	dso_recorded_later(symbols, state);
}

void dso_state_load_files(struct symbols *symbols, struct dso_state *state)
{
	bool had_names = state->state == SYM_FOUND;
	const char *remedy = state->remedy;
	struct str why = STR_INIT;

	/* Of code made at run time the recording knows what lay where when, or there is no more to be known. */
	if (!state->recorded || state->files_loaded || state->times)
		return;
	state->files_loaded = true;
	state->state = SYM_UNTRIED;
	if (state->cached) { /* it was said of the same files, and will be once more */
		had_names = false;
		str_reset(&state->why);
	}
	symbols_progress(symbols, "reading symbols of", state->dso->name);
	str_addn(&why, state->why.s, state->why.len);
	ask_all(symbols, state);
	/* The names that there are do not lack what the file would have had besides. */
	if (had_names && state->state == SYM_NONE) {
		dso_state_doubt(state, &why, remedy);
		state->state = SYM_FOUND;
	}
	str_release(&why);
}
