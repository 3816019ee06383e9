/*
 * code_bytes: the code itself, for those who disassemble. It is where the names are from:
 *
 *   file, vdso   the file that ran, by the offset that the recording has
 *   kernel       the vmlinux that gave the names; else /proc/kcore or a copy of it: kcore_code.c
 *   module       kcore likewise
 *   anonymous    the jitdump: a record of each function's code. A perf map has names alone
 *   BPF, guests  nowhere
 *
 * All that is read is hostile, kcore apart: each length is checked against the file's segments. Who asks is told why
 * there is no code in one clause.
 */
#include "sym/code_times.h"
#include "sym/dso_state.h"

#include <errno.h>
#include <stdlib.h>

void symbol_code_release(struct symbol_code *code)
{
	free(code->bytes);
	free(code->from);
	*code = (struct symbol_code){ 0 };
}

void symbol_code_set_from(struct symbol_code *out, const char *path)
{
	struct str text = STR_INIT;

	str_add_printable(&text, path, strlen(path));
	out->from = str_detach(&text);
}

/* ---- ELF files ---- */

/* Whether the file has code at an address, and not just its names, as separate debug files do. */
static bool has_code(const struct elf_file *file, uint64_t vaddr)
{
	struct elf_section section = { 0 };

	while (elf_section_next(file, &section)) {
		const Elf64_Shdr *header = &section.header;

		if ((header->sh_flags & SHF_EXECINSTR) && vaddr >= header->sh_addr &&
		    vaddr - header->sh_addr < header->sh_size)
			return header->sh_type != SHT_NOBITS;
	}
	return !elf_section_count(file); /* without section headers the segments decide */
}

/* Reads as many of out->n bytes at an offset as the segment there has. */
static int read_segment(struct elf_file *file, uint64_t offset, struct symbol_code *out, struct str *why)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];
		uint64_t left;

		if (offset < segment->offset || offset - segment->offset >= segment->file_size)
			continue;
		left = segment->file_size - (offset - segment->offset);
		out->n = left < out->n ? (size_t)left : out->n;
		/* A file that was cut has less than its segments say. */
		while (out->n && !elf_file_read_at(file, offset, out->bytes, out->n))
			out->n /= 2;
		out->shown = segment->vaddr + (offset - segment->offset);
		out->machine = file->machine;
		if (out->n)
			return 0;
	}
	return fail(why, -ENODATA, "its file ends before the code");
}

static int of_file(struct symbols *symbols, struct dso_state *state, uint64_t addr, struct symbol_code *out,
		   struct str *why)
{
	struct elf_file *file = symbols_elf_file(symbols, state->dso, why);

	if (!file && state->recorded && !state->cached)
		str_add(why, "; its names are in the recording, its code is not");
	if (!file)
		return -ENOENT;
	symbol_code_set_from(out, file->path);
	return read_segment(file, addr, out, why);
}

/* ---- the kernel ---- */

static int of_vmlinux(struct symbols *symbols, struct dso_state *state, uint64_t vaddr, struct symbol_code *out,
		      struct str *why)
{
	const struct dso_files *files = dso_state_files(symbols, state);
	const char *paths[] = { files->runtime, files->debug };
	uint64_t offset;
	int rc = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(paths) && rc; i++) {
		struct elf_file *file;

		if (!paths[i] || elf_files_open(symbols->elf_files, paths[i], &file, why))
			continue;
		if (has_code(file, vaddr) && elf_file_offset(file, vaddr, &offset))
			rc = read_segment(file, offset, out, why);
		if (!rc)
			symbol_code_set_from(out, paths[i]);
		elf_file_let_go(file);
	}
	return rc && !why->len ? fail(why, rc, "its vmlinux has names, but no code") : rc;
}

static int of_kernel(struct symbols *symbols, struct dso_state *state, uint64_t addr, struct symbol_code *out,
		     struct str *why)
{
	const struct dso *dso = state->dso;
	struct build_id id = recorded_kernel_id(symbols, dso);
	char *list = procfs_path(symbols, "kallsyms");
	bool running = text_same(state->source, list);

	free(list);
	if (dso->kind == DSO_KERNEL && state->from_elf)
		return of_vmlinux(symbols, state, addr - state->slide, out, why);
	return kcore_code(symbols, state, addr, running && kernel_is_here(symbols, &id, why), out, why);
}

/* ---- code made at run time ---- */

static int of_dump(struct symbols *symbols, struct dso_state *state, uint64_t addr, uint32_t code,
		   struct symbol_code *out, struct str *why)
{
	const struct code_times *times = state->times;
	struct dump_place place;

	(void)symbols;
	if (code == SYM_CODE_GONE)
		return fail(why, -ENOENT, "it was moved away or given up before the sample");
	if (!state->dump && state->recorded)
		return fail(why, -ENOENT, "its names are in the recording, its code is not");
	if (!state->dump)
		return fail(why, -ENOENT, "its compiler left names alone (%s): code is in dumps, jit-PID.dump",
			    state->source ? state->source : symbols_why(symbols, state->dso));
	if (times && code && code <= times->n)
		place = (struct dump_place){ times->v[code - 1].start, times->v[code - 1].end,
					     times->v[code - 1].bytes_at };
	else if (!jitdump_place(state->dump, state->dump_rules, addr, &place, why))
		return why->len ? -ENOENT : fail(why, -ENOENT, "%s has no code there", state->dump);
	out->shown = addr;
	if (addr < place.start || addr >= place.end)
		return fail(why, -ENOENT, "%s has no code there", state->dump);
	symbol_code_set_from(out, state->dump);
	return jitdump_code(state->dump, state->dump_rules, &place, addr, out, why);
}

/* ---- which ---- */

static int of_none(struct symbols *symbols, struct dso_state *state, uint64_t addr, struct symbol_code *out,
		   struct str *why)
{
	(void)symbols, (void)addr, (void)out;
	return fail(why, -ENOENT, "%s", state->dso->kind == DSO_BPF
						? "the code of BPF programs is not in the recording, and in no file"
						: "its code is in no file of this machine");
}

int symbols_code(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint32_t code, size_t n,
		 struct symbol_code *out, struct str *why)
{
	struct dso_state *state = symbols_loaded(symbols, dso);
	int rc;

	dso_state_load_files(symbols, state);
	*out = (struct symbol_code){ .bytes = xmalloc(n + 1), .n = n };
	switch (dso->kind) {
	case DSO_FILE:
	case DSO_VDSO:
		rc = of_file(symbols, state, addr, out, why);
		break;
	case DSO_KERNEL:
	case DSO_MODULE:
		rc = of_kernel(symbols, state, addr, out, why);
		break;
	case DSO_ANON:
		rc = of_dump(symbols, state, addr, code, out, why);
		break;
	default:
		rc = of_none(symbols, state, addr, out, why);
	}
	if (rc)
		symbol_code_release(out);
	return rc;
}

bool symbols_addr_of(struct symbols *symbols, const struct dso *dso, uint64_t shown, uint64_t *addr)
{
	struct dso_state *state = symbols_loaded(symbols, dso);
	struct elf_file file;

	dso_state_load_files(symbols, state);
	file = (struct elf_file){ .segments = state->segments, .n_segments = state->n_segments };
	if (state->n_segments)
		return elf_file_offset(&file, shown, addr);
	*addr = shown + state->slide;
	return true;
}
