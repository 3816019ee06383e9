/*
 * dw_lib: libdw's functions (and libelf's, which libdw brings along), loaded when the first file with
 * DWARF is opened, and kept: hundreds of files may follow.
 */
#ifndef PSTAT_DW_LIB_H
#define PSTAT_DW_LIB_H

#include "util/util.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

/* The functions used, by name. To use one more: one more FN here. All are in elfutils 0.171. */
#define DW_LIB_FUNCTIONS(FN)                                                                \
	FN(elf_version) FN(elf_begin) FN(elf_end) FN(elf_kind) FN(elf_cntl) FN(elf_nextscn) \
	FN(elf_getident) FN(elf_getshdrstrndx) FN(elf_strptr) FN(elf_rawdata)               \
	FN(elf_getdata) FN(elf_getscn) FN(elf_getshdrnum) FN(elf_compress) FN(gelf_getehdr) \
	FN(gelf_getrela) FN(gelf_getsym) FN(gelf_getshdr) FN(gelf_update_shdr)              \
	FN(gelf_getchdr)                                                                    \
	FN(dwarf_begin_elf) FN(dwarf_end) FN(dwarf_errmsg) FN(dwarf_setalt)                 \
	FN(dwarf_get_units) FN(dwarf_cu_info) FN(dwarf_cu_getdwarf) FN(dwarf_offdie)        \
	FN(dwarf_dieoffset) FN(dwarf_cuoffset) FN(dwarf_next_unit) FN(dwarf_getelf)         \
	FN(dwarf_tag) FN(dwarf_attr) FN(dwarf_formstring) FN(dwarf_formudata)               \
	FN(dwarf_formref_die) FN(dwarf_ranges) FN(dwarf_getaranges) FN(dwarf_onearange)     \
	FN(dwarf_getarangeinfo) FN(dwelf_dwarf_gnu_debugaltlink) FN(dwelf_elf_gnu_build_id)

struct dw_lib {
#define DW_LIB_MEMBER(name) __typeof__(name) *name;
	DW_LIB_FUNCTIONS(DW_LIB_MEMBER)
#undef DW_LIB_MEMBER
};

/* The loaded functions, or NULL with a sentence. */
const struct dw_lib *dw_lib_get(struct str *err);

#endif
