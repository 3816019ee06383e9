/*
 * elf_minidebug: .gnu_debugdata, an ELF file packed with xz inside of an ELF file. It has a .symtab of the
 * functions that .dynsym has not, at the same addresses; distributions leave it in stripped files.
 *
 * Source: gdb manual, "Debugging information in a special section".
 */
#include "sym/sym_parts.h"

#include <stdlib.h>

int elf_minidebug_read(struct elf_file *file, struct symbol_table *table, struct str *err)
{
	struct elf_file inner;
	struct str unpacked = STR_INIT;
	size_t n;
	const void *packed = elf_file_section(file, ".gnu_debugdata", &n);
	unsigned had;
	int rc;

	if (!packed)
		return 0;
	rc = elf_xz_unpack(packed, n, &unpacked, err);
	if (!rc)
		rc = elf_file_open_memory(&inner, unpacked.s, unpacked.len, file->path, err);
	if (!rc) {
		rc = elf_symbols_read(&inner, table, &had, err);
		elf_file_close(&inner);
	}
	str_release(&unpacked);
	return rc < 0 ? rc : 1;
}
