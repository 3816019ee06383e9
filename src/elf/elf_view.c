/* SPDX-License-Identifier: MIT */
/*
 * elf_view: an ELF file as libdw is to see it. libdw reads and unpacks all debug sections when it opens a file,
 * without a bound (a megabyte of zeros was a thousand), and knows only what its libelf can unpack. So what it is
 * not to read becomes a section without contents, in memory, and what is packed is unpacked before, within the
 * bound that all packed sections of a file have.
 *
 * libdw can also be given parts of other files: of a package of split DWARF what belongs to one unit, which it then
 * sees as the unit's own file. Such a file has headers and names, and one byte for all sections; libelf is then told
 * where each one's bytes are.
 *
 *	header | a byte | names | section headers: none, one for each part, names
 *
 * Source: ELF specification, "Section Compression"; binutils' documentation of .zdebug sections.
 */
#include "elf/elf_internal.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

static bool is_debug(const char *name)
{
	return !strncmp(name, ".debug_", strlen(".debug_"));
}

struct renamed { /* ascending */
	struct elf_section *v;
	size_t n, cap;
};

/*
 * In the view's copy of the names ".zdebug_x" becomes "..debug_x", of which the section's begins one later: libdw would
 * unpack what is named so, without a bound. Several sections may share a name; so all are found first.
 */
static void rename_gnu_packed(struct elf_file *view, struct renamed *renamed)
{
	struct elf_section section = { 0 };

	while (elf_section_next(view, &section)) {
		if (!elf_section_is_gnu_packed(section.name))
			continue;
		VEC_GROW(renamed->v, renamed->n, renamed->cap);
		renamed->v[renamed->n++] = section;
	}
	for (size_t i = 0; i < renamed->n; i++) {
		((char *)(uintptr_t)renamed->v[i].name)[1] = '.';
		renamed->v[i].header.sh_name++;
		libelf()->gelf_update_shdr(renamed->v[i].scn, &renamed->v[i].header);
	}
}

/* The bytes take the place of what libelf has read of the section, as if it had never been packed. */
static void put_bytes(const struct elf_section *section, const void *bytes, size_t n)
{
	Elf_Data *data[] = { libelf()->elf_rawdata(section->scn, NULL), libelf()->elf_getdata(section->scn, NULL) };
	GElf_Shdr header = section->header;

	for (size_t i = 0; i < ARRAY_SIZE(data); i++) {
		if (!data[i])
			continue;
		data[i]->d_buf = (void *)(uintptr_t)bytes;
		data[i]->d_size = n;
	}
	header.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	header.sh_size = n;
	libelf()->gelf_update_shdr(section->scn, &header);
}

static void leave_out(const struct elf_section *section)
{
	GElf_Shdr header = section->header;

	header.sh_type = SHT_NOBITS;
	libelf()->gelf_update_shdr(section->scn, &header);
}

/* Gives the section these contents; none where they can't be unpacked. */
static void put_unpacked(const struct elf_section *section, const struct elf_unpacked *unpacked)
{
	if (unpacked)
		put_bytes(section, unpacked->bytes, unpacked->n);
	else
		leave_out(section);
}

/* false: it would become too much. So unpack_gnu(). */
static bool unpack(struct elf_file *view, const struct elf_section *section)
{
	GElf_Chdr header;

	if (!(section->header.sh_flags & SHF_COMPRESSED))
		return true;
	if (!libelf()->gelf_getchdr(section->scn, &header)) {
		leave_out(section);
		return true;
	}
	if (header.ch_size > view->unpack_left)
		return false;
	if (header.ch_type == ELFCOMPRESS_ZSTD) {
		put_unpacked(section, elf_section_unpack_zstd(view, section->scn));
		return true;
	}
	elf_unpack_spend(view, header.ch_size);
	if (libelf()->elf_compress(section->scn, 0, 0) < 0)
		leave_out(section);
	return true;
}

static bool unpack_gnu(struct elf_file *view, const struct elf_section *section)
{
	uint64_t bytes;

	if (elf_section_gnu_bytes(section->scn, &bytes) && bytes > view->unpack_left)
		return false;
	put_unpacked(section, elf_section_unpack_gnu(view, section->scn));
	return true;
}

/* libelf would change the bytes of a file in memory: the view gets its own. So it does of a map, which is private. */
static void begin(struct elf_file *view, const struct elf_file *file)
{
	view->unpack_left = elf_unpack_budget(file->unpacked ? file->unpacked_bytes :
							       (uint64_t)file->stat.st_size);
	if (!file->unpacked) {
		view->mapped = elf_map(file->fd, &view->mapped_bytes);
		view->elf = view->mapped ? libelf()->elf_memory(view->mapped, view->mapped_bytes) :
					   libelf()->elf_begin(file->fd, ELF_C_READ, NULL);
		return;
	}
	view->unpacked = xmalloc(file->unpacked_bytes);
	view->unpacked_bytes = file->unpacked_bytes;
	memcpy(view->unpacked, file->unpacked, file->unpacked_bytes);
	view->elf = libelf()->elf_memory(view->unpacked, view->unpacked_bytes);
}

/* false: its sections would become too much. */
static bool take_sections(struct elf_file *view, bool (*wanted)(const char *section))
{
	struct elf_section section = { 0 };
	struct renamed renamed = { 0 };
	size_t next = 0;
	bool fits = true;

	rename_gnu_packed(view, &renamed);
	while (fits && elf_section_next(view, &section)) {
		bool gnu = next < renamed.n && renamed.v[next].scn == section.scn;

		next += gnu;
		if (section.header.sh_type == SHT_NOBITS || !is_debug(section.name))
			continue;
		if (!wanted(section.name))
			leave_out(&section);
		else
			fits = gnu ? unpack_gnu(view, &section) : unpack(view, &section);
	}
	free(renamed.v);
	return fits;
}

int elf_view_open(struct elf_file *view, struct elf_file *file, bool (*wanted)(const char *section),
		  struct str *err)
{
	*view = (struct elf_file){
		.fd = -1,
		.stat = file->stat,
		.path = xstrdup(file->path),
		.machine = file->machine,
		.is_64 = file->is_64,
		.swapped = file->swapped,
		.relocatable = file->relocatable,
		.build_id = file->build_id,
	};
	begin(view, file);
	if (!view->elf) {
		elf_file_close(view);
		return fail(err, -ENOEXEC, "it is not an ELF file");
	}
	if (!take_sections(view, wanted)) {
		elf_file_close(view);
		return fail(err, -EFBIG,
			    "its packed debug sections are refused: they would grow to more than "
			    "16 times the file");
	}
	return 0;
}

void elf_view_done(struct elf_file *view)
{
	libelf()->elf_cntl(view->elf, ELF_C_FDDONE);
}

uint8_t *elf_view_bytes(struct elf_file *view, const struct elf_section *section, size_t *n)
{
	Elf_Data *data;

	(void)view;
	if (section->header.sh_type == SHT_NOBITS)
		return NULL;
	data = libelf()->elf_rawdata(section->scn, NULL);
	if (!data || !data->d_buf)
		return NULL;
	*n = data->d_size;
	return data->d_buf;
}

/* ---- a file of parts ---- */

struct elf_writing {
	struct str bytes;
	bool big, is_64;
};

static void put(struct elf_writing *to, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addc(&to->bytes, (char)(value >> 8 * (to->big ? n - 1 - i : i)));
}

static void put_address(struct elf_writing *to, uint64_t value)
{
	put(to, value, to->is_64 ? 8 : 4);
}

static void put_header(struct elf_writing *to, uint16_t machine, uint64_t sections_at, size_t n_sections)
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

static void put_section(struct elf_writing *to, size_t name, uint32_t type, uint64_t at, size_t n)
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

static void compose(struct elf_writing *to, uint16_t machine, const struct elf_part *parts, size_t n)
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
	struct elf_writing to = { .bytes = STR_INIT,
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
		put_bytes(&section, parts[i].bytes, parts[i].n);
	return 0;
}
