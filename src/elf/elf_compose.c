/*
 * elf_compose: an ELF file in memory that consists of parts of others: of a package of split DWARF what belongs to one
 * unit, which libdw then sees as the unit's own file. The file has headers and names, and one byte for all sections;
 * libelf is then told where each one's bytes are.
 *
 *	header | a byte | names | section headers: none, one for each part, names
 */
#include "elf/elf_internal.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

struct writing {
	struct str bytes;
	bool big, is_64;
};

static void put(struct writing *to, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addc(&to->bytes, (char)(value >> 8 * (to->big ? n - 1 - i : i)));
}

static void put_address(struct writing *to, uint64_t value)
{
	put(to, value, to->is_64 ? 8 : 4);
}

static void put_header(struct writing *to, uint16_t machine, uint64_t sections_at, size_t n_sections)
{
	const char ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', (char)(to->is_64 ? ELFCLASS64 : ELFCLASS32),
					(char)(to->big ? ELFDATA2MSB : ELFDATA2LSB), EV_CURRENT };

	str_addn(&to->bytes, ident, sizeof(ident));
	put(to, ET_EXEC, 2);
	put(to, machine, 2);
	put(to, EV_CURRENT, 4);
	put_address(to, 0);
	put_address(to, 0);
	put_address(to, sections_at);
	put(to, 0, 4);
	put(to, to->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
	put(to, 0, 4); /* no segments */
	put(to, to->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	put(to, n_sections, 2);
	put(to, n_sections - 1, 2);
}

static void put_section(struct writing *to, size_t name, uint32_t type, uint64_t at, size_t n)
{
	put(to, name, 4);
	put(to, type, 4);
	put_address(to, 0);
	put_address(to, 0);
	put_address(to, at);
	put_address(to, n);
	put(to, 0, 4);
	put(to, 0, 4);
	put_address(to, type ? 1 : 0);
	put_address(to, 0);
}

static void compose(struct writing *to, uint16_t machine, const struct elf_part *parts, size_t n)
{
	static const char own_name[] = ".shstrtab";
	size_t byte_at = to->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), names_at = byte_at + 8;
	struct str names = STR_INIT;
	size_t name = 1;

	str_addc(&names, '\0');
	for (size_t i = 0; i < n; i++)
		str_addn(&names, parts[i].name, strlen(parts[i].name) + 1);
	str_addn(&names, own_name, sizeof(own_name));
	str_pad(&names, '\0', (8 - names.len % 8) % 8);
	put_header(to, machine, names_at + names.len, n + 2);
	str_pad(&to->bytes, '\0', 8);
	str_addn(&to->bytes, names.s, names.len);
	put_section(to, 0, SHT_NULL, 0, 0);
	for (size_t i = 0; i < n; i++) {
		put_section(to, name, SHT_PROGBITS, byte_at, 1);
		name += strlen(parts[i].name) + 1;
	}
	put_section(to, name, SHT_STRTAB, names_at, names.len);
	str_release(&names);
}

int elf_view_compose(struct elf_file *view, const struct elf_file *like, const struct elf_part *parts, size_t n,
		     struct str *err)
{
	struct writing to = { .bytes = STR_INIT,
			      .big = like->swapped == (BYTE_ORDER == LITTLE_ENDIAN),
			      .is_64 = like->is_64 };
	struct elf_section section = { 0 };

	compose(&to, like->machine, parts, n);
	*view = (struct elf_file){
		.fd = -1,
		.path = xstrdup(like->path),
		.machine = like->machine,
		.is_64 = like->is_64,
		.swapped = like->swapped,
		.unpacked_bytes = to.bytes.len,
	};
	view->unpacked = str_detach(&to.bytes);
	view->elf = libelf()->elf_memory(view->unpacked, view->unpacked_bytes);
	if (!view->elf) {
		elf_file_close(view);
		return fail(err, -ENOEXEC, "it is not an ELF file");
	}
	for (size_t i = 0; i < n && elf_section_next(view, &section); i++)
		elf_section_put(&section, parts[i].bytes, parts[i].n);
	return 0;
}
