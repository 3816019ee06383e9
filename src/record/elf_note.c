/*
 * ELF file -> PT_NOTE segments (libelf, which also turns them into native byte order) -> the note with
 * owner "GNU" and type 3:
 *
 *	u32 name bytes | u32 description bytes | u32 type | name, padded | description, padded
 *
 * libelf is loaded with the first file and kept, since hundreds may follow; files are read, not mapped:
 * one that is cut meanwhile gives an error, not SIGBUS. Build-ids over 20 bytes are cut to 20, which is
 * what perf.data has room for.
 *
 * Source: elf(5); ELF specification, "Note Section".
 */
#include "record/elf_note.h"

#include "util/util.h"

#include <dlfcn.h>
#include <gelf.h>
#include <stdlib.h>

enum { NOTES_BYTES_MAX = 1 << 20, NOTE_HEADER_BYTES = 12 };

/* The functions used, by name. */
#define LIBELF_FUNCTIONS(FN)                                                               \
	FN(elf_version) FN(elf_begin) FN(elf_memory) FN(elf_end) FN(elf_kind)             \
	FN(elf_getphdrnum) FN(gelf_getphdr) FN(elf_getdata_rawchunk)

struct elf_notes {
	void *handle;
	bool failed; /* it is not there: not tried again */
#define MEMBER(name) __typeof__(name) *name;
	LIBELF_FUNCTIONS(MEMBER)
#undef MEMBER
};

struct elf_notes *elf_notes_new(void)
{
	return xcalloc(1, sizeof(struct elf_notes));
}

void elf_notes_free(struct elf_notes *notes)
{
	if (notes->handle)
		dlclose(notes->handle);
	free(notes);
}

static bool load(struct elf_notes *lib)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct elf_notes, name) },
		LIBELF_FUNCTIONS(ROW)
#undef ROW
	};
	struct str err = STR_INIT;

	if (!lib->handle && !lib->failed) {
		lib->handle = library_load("libelf.so.1", symbols, ARRAY_SIZE(symbols), lib, &err);
		lib->failed = !lib->handle || lib->elf_version(EV_CURRENT) == EV_NONE;
		str_release(&err);
	}
	return !lib->failed;
}

static uint64_t padded(uint64_t value, size_t align)
{
	return (value + align - 1) & ~(uint64_t)(align - 1);
}

bool notes_build_id(const void *bytes, size_t size, size_t align, struct build_id *id)
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
		if (header[2] == NT_GNU_BUILD_ID && header[0] == sizeof("GNU") &&
		    !memcmp(at, "GNU", sizeof("GNU")) && header[1]) {
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

static bool find_note(const struct elf_notes *lib, Elf *elf, struct build_id *id)
{
	size_t n;

	if (lib->elf_kind(elf) != ELF_K_ELF || lib->elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		GElf_Phdr header;
		Elf_Data *data;
		bool wide;

		if (!lib->gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_type != PT_NOTE || header.p_filesz > NOTES_BYTES_MAX ||
		    header.p_offset > INT64_MAX)
			continue;
		wide = header.p_align == 8;
		data = lib->elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
						 wide ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (data && data->d_buf && notes_build_id(data->d_buf, data->d_size, wide ? 8 : 4, id))
			return true;
	}
	return false;
}

bool elf_file_build_id(struct elf_notes *notes, int fd, struct build_id *id)
{
	Elf *elf = load(notes) ? notes->elf_begin(fd, ELF_C_READ, NULL) : NULL;
	bool found = elf && find_note(notes, elf, id);

	if (elf)
		notes->elf_end(elf);
	return found;
}

bool elf_image_build_id(struct elf_notes *notes, const void *image, size_t bytes, struct build_id *id)
{
	char *copy = xmalloc(bytes); /* libelf wants to own what it may write to */
	Elf *elf;
	bool found;

	memcpy(copy, image, bytes);
	elf = load(notes) ? notes->elf_memory(copy, bytes) : NULL;
	found = elf && find_note(notes, elf, id);
	if (elf)
		notes->elf_end(elf);
	free(copy);
	return found;
}
