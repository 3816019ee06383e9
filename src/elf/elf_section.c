/*
 * elf_section: libelf, loaded when it is first needed, and sections through it.
 *
 * What the functions of libelf return is checked against the file's size by libelf itself; added here is
 * what it leaves to its callers: how much is worth reading at all, and that names end in their section.
 */
#include "elf/elf_internal.h"

#define LIBELF "libelf.so.1"
#define SECTION_BYTES_MAX ((uint64_t)1 << 31)

enum { TEXT_BYTES_MAX = 65536 }; /* longer names are damage, and looking for their end takes time */

static struct {
	bool loaded;
	struct libelf functions;
} library;

const struct libelf *libelf(void)
{
	return &library.functions;
}

const struct libelf *libelf_load(struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct libelf, name) },
		LIBELF_FUNCTIONS(ROW)
#undef ROW
	};

	if (library.loaded)
		return libelf();
	if (!library_load(LIBELF, symbols, ARRAY_SIZE(symbols), &library.functions, err))
		return NULL;
	if (library.functions.elf_version(EV_CURRENT) == EV_NONE) {
		fail(err, 0, LIBELF ": it is of another ELF version");
		return NULL;
	}
	library.loaded = true;
	return libelf();
}

bool elf_section_next(const struct elf_file *file, struct elf_section *section)
{
	const struct libelf *lib = libelf();
	size_t names;

	section->scn = lib->elf_nextscn(file->elf, section->scn);
	if (!section->scn || !lib->gelf_getshdr(section->scn, &section->header))
		return false;
	section->name = NULL;
	if (!lib->elf_getshdrstrndx(file->elf, &names))
		section->name = lib->elf_strptr(file->elf, names, section->header.sh_name);
	if (!section->name)
		section->name = "";
	return true;
}

bool elf_section_named(const struct elf_file *file, const char *name, struct elf_section *section)
{
	*section = (struct elf_section){ 0 };
	while (elf_section_next(file, section))
		if (!strcmp(section->name, name))
			return true;
	return false;
}

bool elf_section_of_type(const struct elf_file *file, uint32_t type, struct elf_section *section)
{
	*section = (struct elf_section){ 0 };
	while (elf_section_next(file, section))
		if (section->header.sh_type == type)
			return true;
	return false;
}

bool elf_section_at(const struct elf_file *file, size_t index, struct elf_section *section)
{
	*section = (struct elf_section){ .name = "" };
	section->scn = libelf()->elf_getscn(file->elf, index);
	return section->scn && libelf()->gelf_getshdr(section->scn, &section->header);
}

size_t elf_section_count(const struct elf_file *file)
{
	size_t n;

	return libelf()->elf_getshdrnum(file->elf, &n) ? 0 : n;
}

/* libelf unpacks in place; how much that will be stands in front of the packed bytes. */
static bool decompress(Elf_Scn *scn)
{
	GElf_Chdr header;

	return libelf()->gelf_getchdr(scn, &header) && header.ch_size <= SECTION_BYTES_MAX &&
	       libelf()->elf_compress(scn, 0, 0) >= 0;
}

bool elf_section_read(const struct elf_file *file, const struct elf_section *section, struct elf_data *data)
{
	Elf_Data *found;

	(void)file;
	if (section->header.sh_type == SHT_NOBITS || section->header.sh_type == SHT_NULL ||
	    section->header.sh_size > SECTION_BYTES_MAX)
		return false;
	if (section->header.sh_flags & SHF_COMPRESSED && !decompress(section->scn))
		return false;
	found = libelf()->elf_getdata(section->scn, NULL);
	if (!found || !found->d_buf)
		return false;
	*data = (struct elf_data){ found->d_buf, found->d_size, found };
	return true;
}

const void *elf_file_section(struct elf_file *file, const char *name, size_t *bytes)
{
	struct elf_section section;
	struct elf_data data;

	if (!elf_section_named(file, name, &section) || !elf_section_read(file, &section, &data))
		return NULL;
	*bytes = data.n;
	return data.bytes;
}

bool elf_symbol_at(const struct elf_data *data, size_t i, Elf64_Sym *symbol)
{
	return data->handle && i <= INT32_MAX && libelf()->gelf_getsym(data->handle, (int)i, symbol);
}

bool elf_rela_at(const struct elf_data *data, size_t i, Elf64_Rela *rela)
{
	return data->handle && i <= INT32_MAX && libelf()->gelf_getrela(data->handle, (int)i, rela);
}

const char *elf_text(const struct elf_data *strings, uint64_t offset)
{
	const char *text;
	size_t room;

	if (offset >= strings->n)
		return NULL;
	text = (const char *)strings->bytes + offset;
	room = strings->n - offset;
	return memchr(text, '\0', room < TEXT_BYTES_MAX ? room : TEXT_BYTES_MAX) ? text : NULL;
}
