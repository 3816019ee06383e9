/* SPDX-License-Identifier: MIT */
/*
 * elf_plain: ELF files as the library reads them, which loads no other library: headers, section headers and the
 * contents of sections, as they lie in the file. It stands in for elf_file.c and elf_section.c, behind the same
 * functions, so that symbols are read by the same code as in the program.
 *
 *	file->elf --> struct plain_sections: headers, 64 bits wide whatever the file has, and names
 *	file->sections_unpacked --> contents that were asked for, until the file is closed
 *
 * Every place in the file is checked against its size, and bytes are read, never mapped: a file that is cut meanwhile
 * has no contents. Files of the other byte order and packed ones are refused, packed sections too.
 *
 * Sources: elf(5); ELF specification, "Sections" for the counts that do not fit into the header.
 */
#include "elf/elf.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	SEGMENTS_MAX = 1 << 16, /* program headers looked at */
	LOADS_MAX = 256, /* of them kept */
	PLAIN_BYTES_MAX = 1 << 30, /* of one section */
};

struct plain_sections {
	Elf64_Shdr *v;
	size_t n;
	struct elf_data names;
};

/* n bytes of the file, which the caller frees; NULL: they are not all there. */
static void *read_bytes(const struct elf_file *file, uint64_t offset, uint64_t n)
{
	uint64_t size = (uint64_t)file->stat.st_size;
	size_t done = 0;
	char *bytes;

	if (!n || n > PLAIN_BYTES_MAX || offset > size || n > size - offset)
		return NULL;
	bytes = xmalloc(n);
	while (done < n) {
		ssize_t got = pread(file->fd, bytes + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(bytes);
			return NULL;
		}
		done += (size_t)got;
	}
	return bytes;
}

/* ---- what has two widths ---- */

/* Defines a function that takes one struct of either width, as it lies in the file, and returns the wide one. */
#define WIDEN(function, name, ...)                                                  \
	static Elf64_##name function(const struct elf_file *file, const void *bytes)\
	{                                                                           \
		Elf64_##name wide;                                                  \
		Elf32_##name n;                                                     \
		if (file->is_64) {                                                  \
			memcpy(&wide, bytes, sizeof(wide));                         \
			return wide;                                                \
		}                                                                   \
		memcpy(&n, bytes, sizeof(n));                                       \
		return (Elf64_##name){ __VA_ARGS__ };                               \
	}
WIDEN(wide_header, Ehdr, .e_type = n.e_type, .e_machine = n.e_machine, .e_entry = n.e_entry, .e_phoff = n.e_phoff,
      .e_shoff = n.e_shoff, .e_phentsize = n.e_phentsize, .e_phnum = n.e_phnum, .e_shentsize = n.e_shentsize,
      .e_shnum = n.e_shnum, .e_shstrndx = n.e_shstrndx)
WIDEN(wide_segment, Phdr, .p_type = n.p_type, .p_flags = n.p_flags, .p_offset = n.p_offset, .p_vaddr = n.p_vaddr,
      .p_filesz = n.p_filesz, .p_memsz = n.p_memsz, .p_align = n.p_align)
WIDEN(wide_section, Shdr, .sh_name = n.sh_name, .sh_type = n.sh_type, .sh_flags = n.sh_flags, .sh_addr = n.sh_addr,
      .sh_offset = n.sh_offset, .sh_size = n.sh_size, .sh_link = n.sh_link, .sh_info = n.sh_info,
      .sh_addralign = n.sh_addralign, .sh_entsize = n.sh_entsize)
WIDEN(wide_symbol, Sym, .st_name = n.st_name, .st_info = n.st_info, .st_other = n.st_other, .st_shndx = n.st_shndx,
      .st_value = n.st_value, .st_size = n.st_size)
/* Bytes of such a struct in this file. */
#define WIDTH(file, name) ((file)->is_64 ? sizeof(Elf64_##name) : sizeof(Elf32_##name))

/* ---- opening ---- */

static void read_segments(struct elf_file *file, const Elf64_Ehdr *header, size_t n)
{
	size_t width = WIDTH(file, Phdr), cap = 0;
	char *bytes = header->e_phentsize == width && n <= SEGMENTS_MAX ?
			      read_bytes(file, header->e_phoff, n * width) : NULL;

	for (size_t i = 0; bytes && i < n && file->n_segments < LOADS_MAX; i++) {
		const Elf64_Phdr segment = wide_segment(file, bytes + i * width);

		if (segment.p_type != PT_LOAD)
			continue;
		VEC_GROW(file->segments, file->n_segments, cap);
		file->segments[file->n_segments++] = (struct elf_segment){
			.offset = segment.p_offset,
			.vaddr = segment.p_vaddr,
			.file_size = segment.p_filesz,
			.mem_size = segment.p_memsz,
			.align = segment.p_align,
			.executable = segment.p_flags & PF_X,
			.writable = segment.p_flags & PF_W,
		};
	}
	free(bytes);
}

/* Counts that the header has no room for stand in the first section's header. */
static void read_sections(struct elf_file *file, const Elf64_Ehdr *header)
{
	struct plain_sections *sections = xcalloc(1, sizeof(*sections));
	size_t width = WIDTH(file, Shdr), n = header->e_shnum, names = header->e_shstrndx, segments = header->e_phnum;
	char *bytes = header->e_shentsize == width ? read_bytes(file, header->e_shoff, width) : NULL;
	const Elf64_Shdr first = bytes ? wide_section(file, bytes) : (Elf64_Shdr){ 0 };
	struct elf_section section;

	file->elf = sections;
	free(bytes);
	n = n ? n : first.sh_size;
	names = names == SHN_XINDEX ? first.sh_link : names;
	read_segments(file, header, segments == PN_XNUM ? first.sh_info : segments);
	bytes = header->e_shentsize == width && n <= PLAIN_BYTES_MAX / width ?
			read_bytes(file, header->e_shoff, n * width) : NULL;
	if (!bytes)
		return;
	sections->v = xreallocarray(NULL, n, sizeof(*sections->v));
	for (sections->n = 0; sections->n < n; sections->n++)
		sections->v[sections->n] = wide_section(file, bytes + sections->n * width);
	free(bytes);
	if (elf_section_at(file, names, &section))
		elf_section_read(file, &section, &sections->names);
}

static int read_headers(struct elf_file *file, struct str *err)
{
	const uint8_t native = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	uint8_t *bytes = read_bytes(file, 0, sizeof(Elf32_Ehdr));
	Elf64_Ehdr header = { 0 };
	int rc = 0;

	if (!bytes || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
		rc = fail(err, -ENOEXEC, "not an ELF file");
	} else if (bytes[EI_DATA] != native) {
		rc = fail(err, -ENOEXEC, "an ELF file of the other byte order, which is not read here");
	} else {
		file->is_64 = bytes[EI_CLASS] == ELFCLASS64;
		free(bytes);
		bytes = read_bytes(file, 0, WIDTH(file, Ehdr));
		if (bytes)
			header = wide_header(file, bytes);
		if (header.e_type != ET_EXEC && header.e_type != ET_DYN && header.e_type != ET_REL)
			rc = fail(err, -ENOEXEC, "an ELF file, but not a program, library or module");
	}
	free(bytes);
	if (rc)
		return rc;
	file->machine = header.e_machine;
	file->entry = header.e_entry;
	file->relocatable = header.e_type == ET_REL;
	read_sections(file, &header);
	return 0;
}

int elf_file_open(struct elf_file *file, const char *path, struct str *err)
{
	const struct foreign_options options = {
		.bytes_max = foreign_root_bytes(path) ? ELF_FOREIGN_BYTES_MAX : 0,
	};
	int rc;

	*file = (struct elf_file){ .fd = -1 };
	rc = foreign_open(path, &options, &file->stat, err);
	if (rc < 0)
		return rc;
	file->fd = rc;
	rc = read_headers(file, err);
	if (rc)
		elf_file_close(file);
	return rc;
}

void elf_file_close(struct elf_file *file)
{
	struct plain_sections *sections = file->elf;

	for (size_t i = 0; i < file->n_sections_unpacked; i++)
		free(file->sections_unpacked[i].bytes);
	free(file->sections_unpacked);
	if (sections)
		free(sections->v);
	free(sections);
	free(file->segments);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct elf_file){ .fd = -1 };
}

/* ---- sections ---- */

bool elf_section_at(const struct elf_file *file, size_t index, struct elf_section *section)
{
	struct plain_sections *sections = file->elf;

	*section = (struct elf_section){ .name = "" };
	if (index >= sections->n)
		return false;
	section->scn = &sections->v[index];
	section->header = sections->v[index];
	return true;
}

bool elf_section_next(const struct elf_file *file, struct elf_section *section)
{
	const struct plain_sections *sections = file->elf;
	const Elf64_Shdr *before = section->scn;
	const char *name;

	if (!elf_section_at(file, before ? (size_t)(before - sections->v) + 1 : 1, section))
		return false;
	name = elf_text(&sections->names, section->header.sh_name);
	if (name)
		section->name = name;
	return true;
}

size_t elf_section_count(const struct elf_file *file)
{
	return ((const struct plain_sections *)file->elf)->n;
}

bool elf_section_read(struct elf_file *file, const struct elf_section *section, struct elf_data *data)
{
	const Elf64_Shdr *header = &section->header;
	struct elf_unpacked read = { .scn = section->scn, .n = header->sh_size };
	size_t i;

	*data = (struct elf_data){ 0 };
	for (i = 0; i < file->n_sections_unpacked && file->sections_unpacked[i].scn != read.scn; i++)
		;
	if (i == file->n_sections_unpacked) {
		if (header->sh_type == SHT_NOBITS || header->sh_type == SHT_NULL || header->sh_flags & SHF_COMPRESSED)
			return false;
		read.bytes = read_bytes(file, header->sh_offset, header->sh_size);
		if (!read.bytes)
			return false;
		VEC_GROW(file->sections_unpacked, file->n_sections_unpacked, file->cap_sections_unpacked);
		file->sections_unpacked[file->n_sections_unpacked++] = read;
	}
	*data = (struct elf_data){ file->sections_unpacked[i].bytes, file->sections_unpacked[i].n, file };
	return true;
}

bool elf_symbol_at(const struct elf_data *data, size_t i, Elf64_Sym *symbol)
{
	const struct elf_file *file = data->handle;

	if (!file || i >= data->n / WIDTH(file, Sym))
		return false;
	*symbol = wide_symbol(file, (const char *)data->bytes + i * WIDTH(file, Sym));
	return true;
}

/* Machines whose linkage tables are known are 64 bits wide. */
bool elf_rela_at(const struct elf_data *data, size_t i, Elf64_Rela *rela)
{
	const struct elf_file *file = data->handle;

	if (!file || !file->is_64 || i >= data->n / sizeof(*rela))
		return false;
	memcpy(rela, (const char *)data->bytes + i * sizeof(*rela), sizeof(*rela));
	return true;
}

/* Nothing is mapped in the library: what is here is none of a table's memory. */
void elf_unmap(char *start, size_t bytes)
{
	(void)start, (void)bytes;
}
