/*
 * dw_lib: libdw's functions, loaded when the first file with DWARF is opened, and kept: hundreds of files may
 * follow. Files are opened by elf/.
 */
#ifndef PSTAT_DW_LIB_H
#define PSTAT_DW_LIB_H

#include "util/util.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* The functions used, by name. To use one more: one more FN here. All are in elfutils 0.171. */
#define DW_LIB_FUNCTIONS(FN)                                                                \
	FN(dwarf_begin_elf) FN(dwarf_end) FN(dwarf_errmsg) FN(dwarf_setalt)                 \
	FN(dwarf_get_units) FN(dwarf_cu_info) FN(dwarf_cu_getdwarf) FN(dwarf_offdie)        \
	FN(dwarf_dieoffset) FN(dwarf_cuoffset) FN(dwarf_next_unit) FN(dwarf_getelf)         \
	FN(dwarf_tag) FN(dwarf_attr) FN(dwarf_formstring) FN(dwarf_formudata)               \
	FN(dwarf_formref_die) FN(dwarf_ranges) FN(dwarf_getaranges) FN(dwarf_onearange)     \
	FN(dwarf_getarangeinfo)

struct dw_lib {
#define DW_LIB_MEMBER(name) __typeof__(name) *name;
	DW_LIB_FUNCTIONS(DW_LIB_MEMBER)
#undef DW_LIB_MEMBER
};

/* The loaded functions, or NULL with a sentence. */
const struct dw_lib *dw_lib_get(struct str *err);

#endif
