/*
 * elf_lib: the functions of libelf that sym/ uses, loaded with the first ELF file and kept, and what
 * sym/ asks of sections. Private to sym/; the only header of it that knows <gelf.h>.
 */
#ifndef PSTAT_ELF_LIB_H
#define PSTAT_ELF_LIB_H

#include "sym/sym_parts.h"

#include <gelf.h>

/* By name: FN(elf_begin) is a member elf_begin. */
#define LIBELF_FUNCTIONS(FN)                                                                     \
	FN(elf_version) FN(elf_begin) FN(elf_memory) FN(elf_end) FN(elf_kind) FN(elf_nextscn)   \
	FN(elf_getscn) FN(elf_getdata) FN(elf_rawdata) FN(elf_getdata_rawchunk) FN(elf_strptr)  \
	FN(elf_getphdrnum) FN(elf_getshdrnum) FN(elf_getshdrstrndx) FN(elf_compress)            \
	FN(gelf_getehdr) FN(gelf_getshdr) FN(gelf_getphdr) FN(gelf_getchdr) FN(gelf_getsym)     \
	FN(gelf_getrela) FN(gelf_getnote)

struct libelf {
#define LIBELF_MEMBER(name) __typeof__(name) *name;
	LIBELF_FUNCTIONS(LIBELF_MEMBER)
#undef LIBELF_MEMBER
};

/* The library, loaded when this is first called; NULL with a sentence: it can't be had. */
const struct libelf *libelf_load(struct str *err);
/* The same after it was loaded once, as it is where an elf_file is open. */
const struct libelf *libelf(void);

struct elf_section {
	Elf_Scn *scn;
	GElf_Shdr header;
	const char *name; /* never NULL */
};

/* The section after *section, which begins as { 0 }. false: no more. */
bool elf_section_next(const struct elf_file *file, struct elf_section *section);
/* The first section of this name, or of this type (SHT_*). false: none. */
bool elf_section_named(const struct elf_file *file, const char *name, struct elf_section *section);
bool elf_section_of_type(const struct elf_file *file, uint32_t type, struct elf_section *section);
/*
 * Its contents in this machine's byte order (symbols, relocations, notes), decompressed; NULL: it has
 * none, or they are not all there, or there are more than 2 GiB.
 */
Elf_Data *elf_section_data(const struct elf_section *section);
/* The text at an offset of a string section's contents; NULL: not there, or not ended in 64 KiB. */
const char *elf_text(const Elf_Data *strings, uint64_t offset);

#endif
