/* SPDX-License-Identifier: MIT */
/*
 * source_files: names out of the ELF files that were found for a dso: .symtab of the debug file, or else of the file,
 * else .gnu_debugdata and .dynsym; and its PLT. Its code is in the file that ran, by the offset that the recording has.
 *
 * All that is read is hostile: each length is checked against the file's segments. Who asks gets the reason why there
 * is no code as one clause.
 */
#include "sym/source_cached.h"

#include <errno.h>
#include <stdlib.h>

/* ---- names ---- */

/* Missing names are reported when one was missed: see symbols_why. Doubts are reported always. */
static void report_doubts(struct dso_names *names)
{
	if (names->only_exported && names->dso->build_id.size)
		return;
	str_add(&names->why, names->files.why.s);
	names->remedy = names->files.remedy;
}

static void none(struct dso_names *names, const char *why, const char *remedy)
{
	struct str text = STR_INIT;

	str_add(&text, why);
	dso_names_none(names, &text, remedy);
}

static enum source_result load(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct dso_files *files = dso_names_files(symbols, names);
	enum source_result result = SOURCE_DONE; /* also where there are no names, but: */
	struct str err = STR_INIT;
	const char *origin;

	if (!files->runtime && !files->debug) {
		none(names, files->why.len ? files->why.s : "no such file", files->remedy);
		result = SOURCE_NONE;
	} else if (source_cached_take(symbols, names)) {
		report_doubts(names);
		result = SOURCE_CACHED;
	} else if (names_table_read_elf(symbols, names, slot, &origin, &err)) {
		names_table_found(names, slot, origin);
		slot->table->from_elf = true;
		names->unsure |= err.len;
		report_doubts(names);
	} else if (err.len) {
		dso_names_none(names, &err, NULL);
	} else {
		none(names, "stripped: it has no names", "install its debug package");
	}
	str_release(&err);
	return result;
}

/* ---- code ---- */

void symbol_code_set_from(struct symbol_code *out, const char *path)
{
	struct str text = STR_INIT;

	str_add_printable(&text, path, strlen(path));
	out->from = str_detach(&text);
}

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

static int code_of_file(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
			uint32_t code, struct symbol_code *out, struct str *why)
{
	struct elf_file *file = symbols_elf_file(symbols, names->dso, why);

	(void)slot, (void)code;
	if (!file && names->listed && !names->listed_by_cache)
		str_add(why, "; its names are in the recording, its code is not");
	if (!file)
		return -ENOENT;
	symbol_code_set_from(out, file->path);
	return read_segment(file, addr, out, why);
}

int vmlinux_code(struct symbols *symbols, struct dso_names *names, uint64_t vaddr, struct symbol_code *out,
		 struct str *why)
{
	const struct dso_files *files = dso_names_files(symbols, names);
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

const struct names_source source_files = {
	.kinds = NAMES_OF_FILES, .load = load, .find = names_table_find, .code = code_of_file,
};
