/*
 * dso_load: where the names of each kind of dso come from.
 *
 *   file, vdso     .symtab of the file or of its debug file, else .gnu_debugdata and .dynsym; and its PLT
 *   kernel, module kernel_names.c, module_names.c
 *   BPF            the one name that its KSYMBOL record gave it
 *   anonymous      code_load.c: maps and dumps that run-time compilers write
 *
 * Whatever goes wrong ends in a state with its reason, never in an error.
 */
#include "sym/dso_state.h"

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

/*
 * A debug file alone: its segments' addresses are those of the file that ran, their offsets and sizes in the
 * file are not. Linkers put a segment's bytes behind those of the one before, as near as its alignment allows,
 * so the offsets can be told all the same.
 */
static void restore_offsets(struct dso_state *state)
{
	uint64_t end = 0;

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

/* Symbols of one file. had: which tables it has; its packed ones count as the full ones. */
static int read_file(struct dso_state *state, struct elf_file *file, bool runtime, unsigned *had,
		     struct str *err)
{
	struct str ignored = STR_INIT;
	int rc = elf_symbols_read(file, &state->table, had, err);

	if (!(*had & ELF_HAD_SYMTAB) && elf_minidebug_read(file, &state->table, &ignored) > 0)
		*had |= ELF_HAD_SYMTAB;
	if (runtime)
		elf_plt_read(file, &state->table, &ignored);
	str_release(&ignored);
	return rc;
}

static int read_runtime(struct dso_state *state, bool symbols_too, unsigned *had, struct str *err)
{
	struct str ignored = STR_INIT;
	struct elf_file file;
	int rc = elf_file_open(&file, state->files.runtime, err);

	if (rc)
		return rc;
	take_segments(state, &file);
	if (symbols_too)
		rc = read_file(state, &file, true, had, err);
	else
		elf_plt_read(&file, &state->table, &ignored);
	elf_file_close(&file);
	str_release(&ignored);
	return rc;
}

bool dso_state_read_elf(struct dso_state *state, const char **source, struct str *err)
{
	const struct dso_files *files = &state->files;
	bool apart = files->debug && (!files->runtime || strcmp(files->debug, files->runtime) != 0);
	struct elf_file file;
	unsigned had = 0;

	*source = files->runtime;
	if (apart && !elf_file_open(&file, files->debug, err)) {
		*source = files->debug;
		if (!files->runtime) {
			take_segments(state, &file);
			restore_offsets(state);
		}
		read_file(state, &file, false, &had, err);
		elf_file_close(&file);
	}
	if (files->runtime) {
		unsigned own = 0;

		read_runtime(state, !(had & ELF_HAD_SYMTAB), &own, err);
		if (!state->table.n || !(had & ELF_HAD_SYMTAB))
			*source = files->runtime;
		had |= own;
	}
	state->only_exported = !(had & ELF_HAD_SYMTAB) && state->dso->kind != DSO_VDSO;
	return state->table.n != 0;
}

static void load_file(struct symbols *symbols, struct dso_state *state)
{
	const struct dso_files *files = dso_state_files(symbols, state);
	struct str err = STR_INIT;
	const char *source;

	if (!files->runtime && !files->debug) {
		none(state, files->why.len ? files->why.s : "no such file", files->remedy);
	} else if (dso_state_read_elf(state, &source, &err)) {
		dso_state_found(state, source);
		state->from_elf = true;
		/* That names are missing is told when one was: see symbols_why. Doubts are told always. */
		if (!state->only_exported || !state->dso->build_id.size) {
			str_add(&state->why, files->why.s);
			state->remedy = files->remedy;
		}
	} else if (err.len) {
		dso_state_none(state, &err, NULL);
	} else {
		none(state, "stripped: it has no names", "install its debug package");
	}
	str_release(&err);
}

/* ---- the others ---- */

static void load_bpf(struct symbols *symbols, struct dso_state *state)
{
	const struct dso *dso = state->dso;

	(void)symbols;
	state->raw_names = true;
	symbol_table_add(&state->table, dso->start,
			 dso->end > dso->start ? dso->end - dso->start : 1, dso->path,
			 strlen(dso->path), SYMBOL_GLOBAL);
	dso_state_found(state, "KSYMBOL record");
}

static void load_guest(struct symbols *symbols, struct dso_state *state)
{
	(void)symbols;
	none(state, "of a virtual machine's kernel, whose names are not on this machine", NULL);
}

static void load_other(struct symbols *symbols, struct dso_state *state)
{
	(void)symbols;
	none(state, "has no code with names", NULL);
}

/* To add a kind of dso: a row in space.h's enum dso_kind, one here, a test in test_symbols.c. */
void dso_state_load(struct symbols *symbols, struct dso_state *state)
{
	static void (*const loaders[])(struct symbols * symbols, struct dso_state * state) = {
		[DSO_FILE] = load_file,
		[DSO_VDSO] = load_file,
		[DSO_KERNEL] = kernel_names_load,
		[DSO_MODULE] = module_names_load,
		[DSO_GUEST_KERNEL] = load_guest,
		[DSO_GUEST_MODULE] = load_guest,
		[DSO_BPF] = load_bpf,
		[DSO_ANON] = code_load,
		[DSO_OTHER] = load_other,
	};

	loaders[state->dso->kind](symbols, state);
}
