/* SPDX-License-Identifier: MIT */
/*
 * elf_internal: the functions of libelf that elf/ uses, loaded with the first ELF file and kept. Private to
 * elf/; the only header that knows <gelf.h>.
 */
#ifndef PSTAT_ELF_INTERNAL_H
#define PSTAT_ELF_INTERNAL_H

#include "elf/elf.h"

#include <gelf.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* younger than some <elf.h> */
#endif

/* By name: FN(elf_begin) is a member elf_begin. */
#define LIBELF_FUNCTIONS(FN)                                                                     \
	FN(elf_version) FN(elf_begin) FN(elf_memory) FN(elf_end) FN(elf_kind) FN(elf_nextscn)   \
	FN(elf_getscn) FN(elf_getdata) FN(elf_rawdata) FN(elf_getdata_rawchunk) FN(elf_strptr)  \
	FN(elf_getshdrnum) FN(elf_getshdrstrndx) FN(elf_compress) FN(elf_cntl)                  \
	FN(gelf_getehdr) FN(gelf_getshdr) FN(gelf_getphdr) FN(gelf_getchdr) FN(gelf_getsym)     \
	FN(gelf_getrela) FN(gelf_update_shdr)

struct libelf {
#define LIBELF_MEMBER(name) __typeof__(name) *name;
	LIBELF_FUNCTIONS(LIBELF_MEMBER)
#undef LIBELF_MEMBER
};

/* The library, loaded when this is first called; NULL with a sentence: it can't be had. */
const struct libelf *libelf_load(struct str *err);
/* The same after it was loaded once, as it is where an elf_file is open. */
const struct libelf *libelf(void);

/* ---- elf_section.c ---- */
/* How much the packed sections of a file of so many bytes may become, all together. */
uint64_t elf_unpack_budget(uint64_t file_bytes);
/* Takes it off what they may still become; false: too much. */
bool elf_unpack_spend(struct elf_file *file, uint64_t bytes);
/* The contents of a section that zstd has packed, kept with the file; NULL: too much, damaged, or no libzstd. */
const struct elf_unpacked *elf_section_unpack_zstd(struct elf_file *file, void *scn);
/* By its name a section that is packed in the old way of GNU: .zdebug_x is .debug_x. */
bool elf_section_is_gnu_packed(const char *name);
/* How much it says that it would become; false: it is not packed so, whatever its name is. */
bool elf_section_gnu_bytes(void *scn, uint64_t *bytes);
/* Unpacks such a section; its contents are kept with the file. NULL: too much, damaged, or no libz. */
const struct elf_unpacked *elf_section_unpack_gnu(struct elf_file *file, void *scn);

/* ---- elf_note.c ---- */
/* From the sections, else from the segments: a debug file's may lie where they were in the file it was taken from. */
void elf_file_read_build_id(struct elf_file *file);

#endif
