/*
 * elf: ELF files: what kind one is, its segments, sections, notes, build-id and debug links, the contents of
 * sections and of packed files within bounds. It knows files; what their symbols mean is known in sym/.
 *
 *	path --foreign_open--> bytes --unpacked where packed--> headers --> sections, segments, build-id
 *
 * Files are read in pieces as they are asked for, not mapped: of a file of 1 GB the headers and symbols are
 * read, and one that is cut meanwhile gives an error, not SIGBUS. libelf is loaded with the first file.
 *
 * All files are hostile: cut, lying, and packed so that a little becomes a lot.
 */
#ifndef PSTAT_ELF_H
#define PSTAT_ELF_H

#include "util/util.h"

#include <elf.h>
#include <sys/stat.h>

/* ---- elf_file.c: one file ---- */

struct elf_segment {
	uint64_t offset, vaddr, file_size, mem_size;
	uint64_t align; /* offset and vaddr agree modulo this; 0 and 1: need not */
	bool executable;
};
struct elf_file {
	int fd;
	struct stat stat; /* of the file; not in memory */
	void *elf; /* Elf * of libelf */
	char *unpacked; /* the contents of a packed module, or NULL */
	char *path;
	uint16_t machine; /* EM_* */
	bool is_64, swapped;
	bool relocatable; /* ET_REL: modules; addresses are within sections */
	struct elf_segment *segments; /* PT_LOAD */
	size_t n_segments;
	struct build_id build_id;
	/* How much its packed sections may still become: 64 MiB and 16 times the file, for all together. */
	uint64_t unpack_left;
	struct elf_unpacked *sections_unpacked; /* that libelf can't unpack */
	size_t n_sections_unpacked, cap_sections_unpacked;
};
struct elf_unpacked {
	const void *scn;
	void *bytes;
	size_t n;
};
/* The largest file that is read out of another process's root: a sparse one costs its owner nothing. */
#define ELF_FOREIGN_BYTES_MAX ((uint64_t)4 << 30)
/* -errno with a sentence (not naming the path). Read, not mapped: a file cut meanwhile gives an error. */
int elf_file_open(struct elf_file *file, const char *path, struct str *err);
/* The same on bytes in memory that stay valid until close (.gnu_debugdata). */
int elf_file_open_memory(struct elf_file *file, void *bytes, size_t n, const char *path,
			 struct str *err);
/*
 * The ELF file that is packed in .gnu_debugdata, which distributions leave in stripped files: its .symtab has the
 * functions that .dynsym has not, at the same addresses. 1: open; 0: there is none; negative: broken.
 * Source: gdb manual, "Debugging information in a special section".
 */
int elf_file_open_minidebug(struct elf_file *file, struct elf_file *inner, struct str *err);
void elf_file_close(struct elf_file *file);
/* Offset in the file -> virtual address by the segments; false: in none. And back. */
bool elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr);
bool elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset);
/* .gnu_debuglink: file name and crc. false: none. */
bool elf_file_debuglink(struct elf_file *file, struct str *name, uint32_t *crc);

/* ---- elf_section.c: its sections ---- */

struct elf_section {
	void *scn; /* Elf_Scn * of libelf */
	Elf64_Shdr header;
	const char *name; /* never NULL */
};
struct elf_data { /* what a section holds */
	const void *bytes;
	size_t n;
	void *handle; /* Elf_Data * of libelf */
};
/* The section after *section, which begins as { 0 }. false: no more. */
bool elf_section_next(const struct elf_file *file, struct elf_section *section);
/* The first section of this name, or of this type (SHT_*), or the one of this index. false: none. */
bool elf_section_named(const struct elf_file *file, const char *name, struct elf_section *section);
bool elf_section_of_type(const struct elf_file *file, uint32_t type, struct elf_section *section);
bool elf_section_at(const struct elf_file *file, size_t index, struct elf_section *section);
/* How many there are, [0] included. */
size_t elf_section_count(const struct elf_file *file);
/*
 * Its contents in this machine's byte order (symbols, relocations, notes), decompressed; valid until close.
 * false: it has none, or they are not all there, or there are too many.
 */
bool elf_section_read(struct elf_file *file, const struct elf_section *section, struct elf_data *data);
/* The same of a section by its name, or NULL. */
const void *elf_file_section(struct elf_file *file, const char *name, size_t *bytes);
/* The text at an offset of a string section's contents; NULL: not there, or not ended in 64 KiB. */
const char *elf_text(const struct elf_data *strings, uint64_t offset);
/* The symbol, the relocation of this number; false: there are not so many. */
bool elf_symbol_at(const struct elf_data *data, size_t i, Elf64_Sym *symbol);
bool elf_rela_at(const struct elf_data *data, size_t i, Elf64_Rela *rela);

/* ---- elf_note.c: build-ids ---- */

/* Of a file, from its program headers. false: not ELF, damaged, without a build-id, or no libelf. */
bool elf_build_id_of_fd(int fd, struct build_id *id);
/* Of an image in memory, such as the vDSO. */
bool elf_build_id_of_image(const void *image, size_t bytes, struct build_id *id);
/* Of notes in this machine's byte order, as /sys/kernel/notes has them; align: 4 or 8. */
bool elf_build_id_of_notes(const void *bytes, size_t size, size_t align, struct build_id *id);

/* ---- elf_xz.c; elf_xz_none.c where it was left out ---- */

/* Can .xz be unpacked? 0, -ENOSYS: left out of the build, or why it can't be loaded. */
int elf_xz_try(struct str *err);

/* ---- elf_function.c: where a function lies, for probes ---- */

struct elf_function {
	uint64_t offset; /* of its first byte in the file, which is what uprobes want */
	uint64_t size_bytes; /* 0: the file does not say */
};
/*
 * Finds function `name`: in .symtab, else in .dynsym; a global one before local ones. 0, or a
 * negative errno with a sentence in err:
 *   -ENOENT   the file or the function does not exist; near (not NULL) gets the names considered
 *   -EEXIST   several local functions of that name
 *   -ENOEXEC  not an ELF program or library, or a damaged one
 *   -ENOSYS   libelf cannot be loaded
 */
int elf_find_function(const char *path, const char *name, struct elf_function *out,
		      struct near_name *near, struct str *err);

#endif
