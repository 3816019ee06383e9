/*
 * elf_symbol: where a function lies in an ELF file. Private to event/.
 */
#ifndef PSTAT_ELF_SYMBOL_H
#define PSTAT_ELF_SYMBOL_H

#include "util/util.h"

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
