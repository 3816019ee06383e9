/* SPDX-License-Identifier: MIT */
/*
 * elf_section: libelf, loaded when it is first needed, and sections through it.
 *
 * What the functions of libelf return is checked against the file's size by libelf itself; added here is
 * what it leaves to its callers: how much is worth reading at all. A failure to load it is remembered with its reason:
 * every file would try again.
 */
#include "elf/elf_internal.h"
#include "elf/elf_unpack.h"

#define LIBELF "libelf.so.1"
#define SECTION_BYTES_MAX ((uint64_t)1 << 31)

enum {
	UNPACKED_FREE = 64 << 20, /* what the packed sections of any file may become, */
	UNPACKED_PER_BYTE = 16, /* and how many times its size beyond that */
	GNU_HEADER_BYTES = 12, /* in front of a section packed in GNU's old way: its magic, and the size, big-endian */
};
#define GNU_MAGIC "ZLIB"

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

	static struct str why = STR_INIT;
	static bool tried;

	if (!tried) {
		tried = true;
		library.loaded = library_load(LIBELF, symbols, ARRAY_SIZE(symbols), &library.functions, &why);
		if (library.loaded && library.functions.elf_version(EV_CURRENT) == EV_NONE) {
			library.loaded = false;
			fail(&why, 0, LIBELF ": it is of another ELF version");
		}
	}
	if (!library.loaded)
		str_add(err, why.s);
	return library.loaded ? libelf() : NULL;
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

/* ---- packed sections ---- */

uint64_t elf_unpack_budget(uint64_t file_bytes)
{
	return UNPACKED_FREE + UNPACKED_PER_BYTE * (file_bytes < INT64_MAX / UNPACKED_PER_BYTE ? file_bytes : 0);
}

bool elf_unpack_spend(struct elf_file *file, uint64_t bytes)
{
	if (bytes > file->unpack_left)
		return false;
	file->unpack_left -= bytes;
	return true;
}

static struct elf_unpacked *unpacked_before(const struct elf_file *file, const Elf_Scn *scn)
{
	for (size_t i = 0; i < file->n_sections_unpacked; i++)
		if (file->sections_unpacked[i].scn == scn)
			return &file->sections_unpacked[i];
	return NULL;
}

static const struct elf_unpacked *keep_unpacked(struct elf_file *file, const struct elf_unpacked *new)
{
	if (!new->bytes)
		return NULL;
	VEC_GROW(file->sections_unpacked, file->n_sections_unpacked, file->cap_sections_unpacked);
	file->sections_unpacked[file->n_sections_unpacked] = *new;
	return &file->sections_unpacked[file->n_sections_unpacked++];
}

/* libelf knows zlib only, where it is older: what zstd has packed is unpacked here, and kept. */
const struct elf_unpacked *elf_section_unpack_zstd(struct elf_file *file, void *scn)
{
	struct elf_unpacked *known = unpacked_before(file, scn), new = { .scn = scn };
	const size_t header_bytes = file->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	struct str ignored = STR_INIT;
	GElf_Chdr header;
	Elf_Data *raw;

	if (known)
		return known;
	raw = libelf()->elf_rawdata(scn, NULL);
	if (!raw || !raw->d_buf || raw->d_size < header_bytes || !libelf()->gelf_getchdr(scn, &header) ||
	    !elf_unpack_spend(file, header.ch_size))
		return NULL;
	new.n = header.ch_size;
	new.bytes = elf_unpack_zstd((const char *)raw->d_buf + header_bytes, raw->d_size - header_bytes, new.n,
				    &ignored);
	str_release(&ignored);
	return keep_unpacked(file, &new);
}

bool elf_section_gnu_bytes(void *scn, uint64_t *bytes)
{
	Elf_Data *raw = libelf()->elf_rawdata(scn, NULL);
	const uint8_t *at = raw ? raw->d_buf : NULL;

	if (!at || raw->d_size < GNU_HEADER_BYTES || memcmp(at, GNU_MAGIC, strlen(GNU_MAGIC)) != 0)
		return false;
	*bytes = 0;
	for (size_t i = strlen(GNU_MAGIC); i < GNU_HEADER_BYTES; i++)
		*bytes = *bytes << 8 | at[i];
	return true;
}

/* libelf would unpack it in place, where nothing tells that it was packed: its name stays. */
const struct elf_unpacked *elf_section_unpack_gnu(struct elf_file *file, void *scn)
{
	struct elf_unpacked *known = unpacked_before(file, scn), new = { .scn = scn };
	struct str ignored = STR_INIT;
	Elf_Data *raw;
	uint64_t bytes;

	if (known)
		return known;
	if (!elf_section_gnu_bytes(scn, &bytes) || !elf_unpack_spend(file, bytes))
		return NULL;
	raw = libelf()->elf_rawdata(scn, NULL);
	new.n = bytes;
	new.bytes = elf_unpack_zlib((const char *)raw->d_buf + GNU_HEADER_BYTES, raw->d_size - GNU_HEADER_BYTES, new.n,
				    &ignored);
	str_release(&ignored);
	return keep_unpacked(file, &new);
}

static bool take_unpacked(const struct elf_unpacked *unpacked, struct elf_data *data)
{
	if (unpacked)
		*data = (struct elf_data){ unpacked->bytes, unpacked->n, NULL };
	return unpacked;
}

/* libelf unpacks in place; how much that will be stands in front of the packed bytes. */
static bool read_packed(struct elf_file *file, Elf_Scn *scn, struct elf_data *data)
{
	GElf_Chdr header;

	if (!libelf()->gelf_getchdr(scn, &header))
		return false;
	if (header.ch_type != ELFCOMPRESS_ZSTD)
		return elf_unpack_spend(file, header.ch_size) && libelf()->elf_compress(scn, 0, 0) >= 0;
	return take_unpacked(elf_section_unpack_zstd(file, scn), data);
}

bool elf_section_read(struct elf_file *file, const struct elf_section *section, struct elf_data *data)
{
	Elf_Data *found;
	GElf_Shdr now; /* what was unpacked before is so no more */

	*data = (struct elf_data){ 0 };
	if (!libelf()->gelf_getshdr(section->scn, &now) || now.sh_type == SHT_NOBITS ||
	    now.sh_type == SHT_NULL || now.sh_size > SECTION_BYTES_MAX)
		return false;
	if (elf_section_is_gnu_packed(section->name))
		return take_unpacked(elf_section_unpack_gnu(file, section->scn), data);
	if (now.sh_flags & SHF_COMPRESSED && !read_packed(file, section->scn, data))
		return false;
	if (data->bytes)
		return true;
	found = libelf()->elf_getdata(section->scn, NULL);
	if (!found || !found->d_buf)
		return false;
	*data = (struct elf_data){ found->d_buf, found->d_size, found };
	return true;
}

bool elf_symbol_at(const struct elf_data *data, size_t i, Elf64_Sym *symbol)
{
	return data->handle && i <= INT32_MAX && libelf()->gelf_getsym(data->handle, (int)i, symbol);
}

bool elf_rela_at(const struct elf_data *data, size_t i, Elf64_Rela *rela)
{
	return data->handle && i <= INT32_MAX && libelf()->gelf_getrela(data->handle, (int)i, rela);
}
