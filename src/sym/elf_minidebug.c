/*
 * elf_minidebug: .gnu_debugdata, an ELF file packed with xz inside of an ELF file. It has a .symtab of the
 * functions that .dynsym has not, at the same addresses; distributions leave it in stripped files.
 *
 * Source: gdb manual, "Debugging information in a special section".
 */
#include "sym/sym_internal.h"

int elf_minidebug_read(struct elf_file *file, struct symbol_table *table, struct str *err)
{
	struct elf_file inner;
	int rc = elf_file_open_minidebug(file, &inner, err), read;

	if (rc <= 0)
		return rc;
	read = elf_symbols_read(&inner, table, err);
	elf_file_close(&inner);
	return read < 0 ? read : rc;
}
