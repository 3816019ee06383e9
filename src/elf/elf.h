/* SPDX-License-Identifier: MIT */
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

#include "elf/dwarf_cursor.h"
#include "util/util.h"

#include <elf.h>
#include <sys/stat.h>

/* ---- elf_file.c: one file ---- */

struct elf_segment {
	uint64_t offset, vaddr, file_size, mem_size;
	uint64_t align; /* offset and vaddr agree modulo this; 0 and 1: need not */
	bool executable, writable;
};
struct elf_file {
	int fd; /* -1: closed, or in memory */
	struct stat stat; /* of the file; not in memory */
	void *elf; /* Elf * of libelf */
	char *unpacked; /* the contents of a packed file, or NULL */
	size_t unpacked_bytes;
	char *mapped; /* of a view: the file's bytes, or NULL */
	size_t mapped_bytes;
	char *path;
	uint16_t machine; /* EM_* */
	bool is_64, swapped;
	bool relocatable; /* ET_REL: modules; addresses are within sections */
	uint64_t entry; /* where a process begins that was started with it */
	struct elf_segment *segments; /* PT_LOAD; where there are no program headers, the sections that are loaded */
	size_t n_segments;
	struct elf_segment eh_frame_hdr; /* PT_GNU_EH_FRAME, or the section; file_size 0: none */
	struct build_id build_id;
	/* How much its packed sections may still become: 64 MiB and 16 times the file, for all together. */
	uint64_t unpack_left;
	struct elf_unpacked *sections_unpacked; /* that libelf can't unpack */
	size_t n_sections_unpacked, cap_sections_unpacked;
	struct elf_pages *pages; /* that were read by elf_file_read_at */
	struct elf_files *files; /* that it is one of, or NULL */
	size_t holders;
	uint64_t used; /* the time of files when it was used last */
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
/* A line that no other file of this machine has, nor this one once it is changed: device, inode, size and times. */
void elf_file_identity(const struct elf_file *file, struct str *line);
/* The same of what an ELF file would be opened from; a negative errno, and nothing added: it can't be opened. */
int elf_path_identity(const char *path, struct str *line);
/*
 * Whether strip or objcopy --only-keep-debug took its code out and left symbols and DWARF: it is a debug file, and
 * never the program itself. Its executable sections are there without contents. The second: of an open file; false also
 * where that is no ELF file.
 */
bool elf_file_is_emptied(const struct elf_file *file);
bool elf_is_emptied(int fd);
/* Offset in the file -> virtual address by the segments; false: in none. And back. */
bool elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr);
bool elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset);

/* ---- elf_debuglink.c: the files that debug links name ---- */

/* .gnu_debuglink: file name and crc. false: none. */
bool elf_file_debuglink(struct elf_file *file, struct str *name, uint32_t *crc);
/* .gnu_debugaltlink: a path, and the build-id that the file must have, cut as all are. false: none. */
bool elf_file_debugaltlink(struct elf_file *file, struct str *name, struct build_id *id);

#define ELF_DEBUG_DIR "/usr/lib/debug" /* of files by build-id (build_id_path), and by their link */
enum { ELF_DEBUGLINK_NEAR = 2 };
/* Place i near the file at `path` where it may be: its folder, then .debug there; NULL: no more. The caller frees. */
char *elf_debuglink_near(const char *path, const char *link, size_t i);
/* Place below a folder of debug files; path: as the process had it. NULL: it is not absolute. The caller frees. */
char *elf_debuglink_below(const char *debug_dir, const char *path, const char *link);
/*
 * The file has the checksum of the link. All of it is read, which is told to progress (NULL: nobody) now and then, in
 * bytes.
 */
typedef void elf_progress_fn(void *context, uint64_t done, uint64_t all);
bool elf_debuglink_is(int fd, uint32_t crc, elf_progress_fn *progress, void *context);

/* ---- many files, each opened once ---- */

/*
 * All ELF files of a session, by path: who asks again for one gets the same, without opening it. What was read
 * of its headers stays; libelf's copies of sections stay while somebody holds the file; its descriptor is closed
 * when many others were used since, and the file is opened again only then. One thread at a time.
 */
struct elf_files *elf_files_new(void);
void elf_files_free(struct elf_files *files); /* NULL is nothing */
/*
 * The file at a path, held: its sections may be read until it is let go. -errno with a sentence that does not
 * name the path; -ESTALE: it was opened before and has become another. files NULL: it is closed when it is let go.
 */
int elf_files_open(struct elf_files *files, const char *path, struct elf_file **file, struct str *err);
/* Once more. -ESTALE and others as above; then it is not held. */
int elf_file_hold(struct elf_file *file, struct str *err);
void elf_file_let_go(struct elf_file *file); /* what its sections had is gone; the file is not */

/* ---- its bytes ---- */

/*
 * The n bytes at an offset, also of a file that is not held. They are read in pages that are kept: what was read
 * once costs nothing again. false: not all of them are in the file, or it is gone.
 */
bool elf_file_read_at(struct elf_file *file, uint64_t offset, void *bytes, size_t n);

/*
 * All bytes of an open file, to be changed by this process alone; NULL: somebody else might change the file, or it
 * can't be mapped. What the file loses while it is mapped becomes zeros. elf_unmap takes NULL for nothing.
 */
char *elf_map(int fd, size_t *bytes);
void elf_unmap(char *start, size_t bytes);

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
/*
 * The first section of this name, or of this type (SHT_*), or the one of this index. false: none. .zdebug_x, packed in
 * the old way of GNU, is .debug_x.
 */
bool elf_section_named(const struct elf_file *file, const char *name, struct elf_section *section);
bool elf_section_of_type(const struct elf_file *file, uint32_t type, struct elf_section *section);
bool elf_section_at(const struct elf_file *file, size_t index, struct elf_section *section);
/* How many there are, [0] included. */
size_t elf_section_count(const struct elf_file *file);
/*
 * Contents of a section in this machine's byte order (symbols, relocations, notes), decompressed; valid until close.
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

/* ---- elf_version.c: versions of exported symbols ---- */

struct elf_versions { /* begins as { 0 } */
	struct elf_data numbers; /* .gnu.version: 16 bits for each symbol of .dynsym */
	const char **names; /* by number; NULL: not known */
	size_t n_names, cap_names;
};
/* Valid as long as the file is held; empty where it has none. */
void elf_versions_read(struct elf_file *file, struct elf_versions *versions);
void elf_versions_release(struct elf_versions *versions);
/*
 * The version of symbol i of .dynsym, if only programs that were linked long ago are bound to it ("name@V1"); NULL: it
 * is the one of today ("name@@V2"), or has no version.
 */
const char *elf_version_old(const struct elf_versions *versions, size_t i);

/* ---- elf_view.c: files as libdw reads them ---- */

/*
 * A second view of a file that is held, for libdw, which changes in memory what it reads: debug sections that are
 * not wanted have no contents there, the others are unpacked within the bound, and those of GNU's old way (.zdebug_x)
 * have the names of others (.debug_x), also where `wanted` is asked. The view is mapped where nobody but
 * this user and root can change the file, else read through the file's descriptor; after elf_view_done it stands
 * alone, with what was read by then. Closed by elf_file_close.
 * -EFBIG with a sentence: its sections would become too much.
 */
int elf_view_open(struct elf_file *view, struct elf_file *file, bool (*wanted)(const char *section),
		  struct str *err);
void elf_view_done(struct elf_file *view);
/*
 * Bytes of a view's section, which nobody has changed, are not needed for now: where they are mapped, their memory
 * is given back, and read again when they are.
 */
void elf_view_forget(const void *from, size_t bytes);
struct elf_part { /* a section to be */
	const char *name;
	const uint8_t *bytes;
	size_t n;
};
/*
 * A file that is nowhere, with these sections, of the machine and byte order of another file: libdw can be given parts
 * of files. The bytes are borrowed, and stay as they are.
 */
int elf_view_compose(struct elf_file *view, const struct elf_file *like, const struct elf_part *parts, size_t n,
		     struct str *err);
/* The bytes of a section as libdw has them, to be changed; NULL: none. */
uint8_t *elf_view_bytes(struct elf_file *view, const struct elf_section *section, size_t *n);

/* ---- where the sections of a kernel module go ---- */

/* The place of sections that are not there when the module runs. */
#define ELF_NOWHERE ((uint64_t)1 << 62)
/*
 * Modules (ET_REL) have no addresses yet. The kernel puts their executable sections, but those of .init, after one
 * another in the order of the file, each aligned as it asks for; the recording's map begins at the first one.
 * *places, which the caller frees, has for each section by its index what its addresses are counted from: the
 * start of .text is 0, for the address that .text was loaded at is the module's where .text comes first. Sections
 * in front of .text and data are nowhere; those that are not loaded are at 0. Padding that the kernel adds for
 * itself (arm64's branch veneers) comes before .text. Returns how many there are.
 * Source: kernel/module/main.c of Linux, layout_sections().
 */
size_t elf_module_places(const struct elf_file *file, uint64_t **places);

/* ---- elf_note.c: build-ids ---- */

/* Reads it from the segments, else the sections. false: not ELF, damaged, without a build-id, or no libelf. */
bool elf_build_id_of_fd(int fd, struct build_id *id);
/* The same; of a packed file (.ko.xz) that of what is packed in it, which costs unpacking it. */
bool elf_build_id_of_file(int fd, struct build_id *id);
/* The same of an image in memory. */
bool elf_build_id_of_image(const void *image, size_t bytes, struct build_id *id);
/* The same of notes in this machine's byte order, as /sys/kernel/notes has them; align: 4 or 8. */
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
 * Finds function `name`: in .symtab, else in .dynsym; that of today before one for old programs, a global one before
 * local ones, and a label without a type where it is no function's. Where there is none, `name` may be that of one
 * C++ function as people write it, without parameters: "ns::Box::sum". 0, or a negative errno with a sentence in err:
 *   -ENOENT   the file or the function does not exist; near (not NULL) gets the names considered
 *   -EEXIST   several functions of that name, of equal right
 *   -ENOEXEC  not an ELF program or library, or a damaged one
 *   -ENOSYS   libelf cannot be loaded
 */
int elf_find_function(const char *path, const char *name, struct elf_function *out,
		      struct near_name *near, struct str *err);
/*
 * False where the file is mapped as it says itself, and this offset in no page that may be executed. True, too, where
 * that is not known: it is no ELF file, or cannot be read.
 */
bool elf_offset_is_code(const char *path, uint64_t offset);

#endif
