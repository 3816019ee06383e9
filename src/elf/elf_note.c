/* SPDX-License-Identifier: MIT */
/*
 * elf_note: the build-id out of an ELF file's notes: the note with owner "GNU" and type 3.
 *
 *	u32 name bytes | u32 description bytes | u32 type | name, padded | description, padded
 *
 * libelf turns them into this machine's byte order. Build-ids over 20 bytes are cut to 20, which is what
 * perf.data has room for.
 *
 * Source: elf(5); ELF specification, "Note Section".
 */
#include "elf/elf_internal.h"

#include <stdlib.h>

enum { NOTES_BYTES_MAX = 1 << 20, NOTE_HEADER_BYTES = 12, SEGMENTS_MAX = 1 << 16 };

static uint64_t padded(uint64_t value, size_t align)
{
	return (value + align - 1) & ~(uint64_t)(align - 1);
}

bool elf_build_id_of_notes(const void *bytes, size_t size, size_t align, struct build_id *id)
{
	const uint8_t *at = bytes;

	while (size >= NOTE_HEADER_BYTES) {
		uint32_t header[3]; /* name bytes, description bytes, type */
		uint64_t name, desc;

		memcpy(header, at, sizeof(header));
		at += NOTE_HEADER_BYTES;
		size -= NOTE_HEADER_BYTES;
		/* The description is aligned from the start of the note. */
		name = padded((uint64_t)NOTE_HEADER_BYTES + header[0], align) - NOTE_HEADER_BYTES;
		desc = padded(header[1], align);
		if (name > size || header[1] > size - name)
			return false;
		if (header[2] == NT_GNU_BUILD_ID && header[0] == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && header[1]) {
			id->size = header[1] < sizeof(id->bytes) ? (uint8_t)header[1] :
								   (uint8_t)sizeof(id->bytes);
			memset(id->bytes, 0, sizeof(id->bytes));
			memcpy(id->bytes, at + name, id->size);
			return true;
		}
		if (desc > size - name)
			return false;
		at += name + desc;
		size -= name + desc;
	}
	return false;
}

static bool in_sections(struct elf_file *file, struct build_id *id)
{
	struct elf_section section = { 0 };
	struct elf_data data;

	while (elf_section_next(file, &section))
		if (section.header.sh_type == SHT_NOTE && section.header.sh_size <= NOTES_BYTES_MAX &&
		    elf_section_read(file, &section, &data) &&
		    elf_build_id_of_notes(data.bytes, data.n, section.header.sh_addralign == 8 ? 8 : 4, id))
			return true;
	return false;
}

static bool in_segments(Elf *elf, struct build_id *id)
{
	for (int i = 0; i < SEGMENTS_MAX; i++) {
		GElf_Phdr header;
		Elf_Data *data;
		bool wide;

		if (!libelf()->gelf_getphdr(elf, i, &header))
			return false;
		if (header.p_type != PT_NOTE || header.p_filesz > NOTES_BYTES_MAX || header.p_offset > INT64_MAX)
			continue;
		wide = header.p_align == 8;
		data = libelf()->elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
						      wide ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (data && data->d_buf && elf_build_id_of_notes(data->d_buf, data->d_size, wide ? 8 : 4, id))
			return true;
	}
	return false;
}

void elf_file_read_build_id(struct elf_file *file)
{
	if (!in_sections(file, &file->build_id))
		in_segments(file->elf, &file->build_id);
}

static bool loaded(void)
{
	struct str ignored = STR_INIT;
	bool is_loaded = libelf_load(&ignored);

	str_release(&ignored);
	return is_loaded;
}

/* Modules have no segments, and those of a debug file may lie where they were in the file it was taken from. */
static bool in_note_sections(Elf *elf, struct build_id *id)
{
	Elf_Scn *scn = NULL;

	while ((scn = libelf()->elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!libelf()->gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE ||
		    header.sh_size > NOTES_BYTES_MAX)
			continue;
		data = libelf()->elf_getdata(scn, NULL);
		if (data && data->d_buf &&
		    elf_build_id_of_notes(data->d_buf, data->d_size, header.sh_addralign == 8 ? 8 : 4, id))
			return true;
	}
	return false;
}

static bool in_elf(Elf *elf, struct build_id *id)
{
	bool found = elf && libelf()->elf_kind(elf) == ELF_K_ELF && (in_segments(elf, id) || in_note_sections(elf, id));

	if (elf)
		libelf()->elf_end(elf);
	return found;
}

bool elf_build_id_of_fd(int fd, struct build_id *id)
{
	return loaded() && in_elf(libelf()->elf_begin(fd, ELF_C_READ, NULL), id);
}

bool elf_build_id_of_image(const void *image, size_t bytes, struct build_id *id)
{
	char *copy = xmalloc(bytes); /* libelf wants to own what it may write to */
	bool found;

	memcpy(copy, image, bytes);
	found = loaded() && in_elf(libelf()->elf_memory(copy, bytes), id);
	free(copy);
	return found;
}
