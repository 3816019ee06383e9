/*
 * kallsyms: the lines of /proc/kallsyms or of a copy of it. Private to sym/.
 */
#ifndef PSTAT_KALLSYMS_H
#define PSTAT_KALLSYMS_H

#include "sym/sym_internal.h"

struct kallsyms_symbol {
	uint64_t addr;
	const char *name;
	size_t name_len;
	const char *module; /* "ext4"; NULL: the kernel itself */
	size_t module_len;
	uint8_t binding; /* SYMBOL_* */
	bool text; /* a function or label, not data */
};

/*
 * Each function and variable, in the order of the file. Of a file whose addresses are all 0 none is handed
 * out, and result says so. -errno with a sentence that names the file.
 */
int kallsyms_each(const char *path,
		  void (*take)(void *context, const struct kallsyms_symbol *symbol), void *context,
		  struct kallsyms_result *result, struct str *err);
/* Adds it; of names of one address, which follow one another in the list, the last one stays, as in perf. */
void kallsyms_add(struct symbol_table *table, const struct kallsyms_symbol *symbol);

#endif
