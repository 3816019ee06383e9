/* SPDX-License-Identifier: MIT */
/*
 * elf_bounds: where the functions of a file begin and end, without their names: the unwind tables in .eh_frame
 * say it, which stripped files keep because programs need them to run.
 *
 *   length | 0       | version augmentation ...    a CIE: says how the FDEs that point to it are written
 *   length | to CIE  | start bytes ...             an FDE: one function, or a part that was put elsewhere
 *
 * Only these two numbers of an FDE are read. The file is hostile: of a CIE only the first bytes are looked at,
 * so that two large ones, used in turn, take no time; code that is in no executable segment is left out; ranges
 * are cut so that they don't overlap.
 *
 * Source: Linux Standard Base, Core, "Exception Frames"; DWARF 5, 6.4.1.
 */
#include "sym/sym_internal.h"

#include <stdlib.h>

enum {
	BOUNDS_MAX = 1 << 24,
	SEGMENTS_MAX = 16, /* executable ones; linkers make one or two */
	CIE_BYTES_MAX = 64, /* up to its augmentation data's end */
	LENGTH_64 = 0xfffffff0, /* and above: entries over 4 GiB, which nobody writes */
};

/* DW_EH_PE_*: how a pointer is written; the low four bits are its format. */
enum {
	PE_ABSPTR = 0x00,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SIGNED = 0x08,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_OMIT = 0xff,
};

struct bounds_reader {
	const struct elf_file *file;
	void (*take)(void *context, const struct frame_entry *entry);
	void *context;
	struct dwarf_cursor all; /* the section; `at` stays at its start */
	uint64_t vaddr; /* of its start */
	const uint8_t *cie; /* the last one that was looked at, or NULL */
	uint8_t encoding; /* of the addresses in its FDEs */
	struct elf_segment segments[SEGMENTS_MAX];
	size_t n_segments;
};

/* Bytes of a pointer; 0: of no fixed size, or not known. */
static unsigned pointer_bytes(const struct bounds_reader *reader, uint8_t encoding)
{
	switch (encoding & PE_FORMAT & ~PE_SIGNED) {
	case PE_ABSPTR:
		return reader->file->is_64 ? 8 : 4;
	case PE_UDATA2:
		return 2;
	case PE_UDATA4:
		return 4;
	case PE_UDATA8:
		return 8;
	default:
		return 0;
	}
}

/* Augmentation "zPLR" and its kin: a letter for each piece of data. */
static uint8_t encoding_in(const struct bounds_reader *reader, struct dwarf_cursor *c, const char *letters)
{
	cursor_uleb(c);
	for (; *letters; letters++) {
		unsigned bytes = 0;

		switch (*letters) {
		case 'R':
			return cursor_u8(c);
		case 'L':
			cursor_u8(c);
			break;
		case 'P':
			bytes = pointer_bytes(reader, cursor_u8(c));
			if (!bytes)
				return PE_OMIT;
			cursor_skip(c, bytes);
			break;
		case 'S':
		case 'B':
		case 'G':
			break;
		default:
			return PE_OMIT;
		}
	}
	return PE_ABSPTR;
}

static uint8_t encoding_of(const struct bounds_reader *reader, const uint8_t *cie)
{
	struct dwarf_cursor c = reader->all;
	uint64_t length;
	const char *letters;
	uint8_t version, encoding;

	c.at = cie;
	length = cursor_number(&c, 4);
	if (length < cursor_left(&c))
		c.end = c.at + length;
	if (cursor_left(&c) > CIE_BYTES_MAX)
		c.end = c.at + CIE_BYTES_MAX;
	if (length >= LENGTH_64 || cursor_number(&c, 4))
		return PE_OMIT;
	version = cursor_u8(&c);
	letters = cursor_text(&c);
	if (!letters || (version != 1 && version != 3))
		return PE_OMIT;
	cursor_uleb(&c); /* code alignment */
	cursor_sleb(&c); /* data alignment */
	cursor_uleb(&c); /* return address register: in version 1 a byte, which is the same below 128 */
	if (*letters && *letters != 'z')
		return PE_OMIT;
	encoding = *letters ? encoding_in(reader, &c, letters + 1) : PE_ABSPTR;
	return c.bad ? PE_OMIT : encoding;
}

static bool is_code(const struct bounds_reader *reader, uint64_t start, uint64_t bytes)
{
	for (size_t i = 0; i < reader->n_segments; i++) {
		const struct elf_segment *segment = &reader->segments[i];
		uint64_t into = start - segment->vaddr;

		if (start >= segment->vaddr && into < segment->mem_size && bytes <= segment->mem_size - into)
			return true;
	}
	return false;
}

/* c: behind the pointer to the CIE. */
static void take_fde(struct bounds_reader *reader, struct dwarf_cursor *c, struct frame_entry *entry)
{
	unsigned bytes = pointer_bytes(reader, reader->encoding), unused = 64 - 8 * bytes;
	uint64_t here = reader->vaddr + (uint64_t)(c->at - reader->all.at), start, size;

	if (!bytes || (reader->encoding & ~PE_FORMAT & ~PE_PCREL))
		return;
	start = cursor_number(c, bytes);
	if (reader->encoding & PE_SIGNED)
		start = (uint64_t)((int64_t)(start << unused) >> unused);
	if (reader->encoding & PE_PCREL)
		start += here;
	if (!reader->file->is_64)
		start &= UINT32_MAX;
	size = cursor_number(c, bytes);
	if (c->bad || !size || !is_code(reader, start, size))
		return;
	entry->start = start;
	entry->size = size;
	reader->take(reader->context, entry);
}

static size_t entry_bytes(const struct bounds_reader *reader, const uint8_t *at)
{
	struct dwarf_cursor c = reader->all;

	c.at = at;
	return 4 + (size_t)cursor_number(&c, 4);
}

static void take_entries(struct bounds_reader *reader)
{
	struct dwarf_cursor c = reader->all;

	while (cursor_left(&c) >= 8) {
		uint64_t length = cursor_number(&c, 4), back;
		struct dwarf_cursor entry = c;
		struct frame_entry told;
		size_t at = (size_t)(c.at - reader->all.at);

		if (length >= LENGTH_64 || length > cursor_left(&c))
			return;
		entry.end = c.at + length;
		cursor_skip(&c, length);
		back = length < 4 ? 0 : cursor_number(&entry, 4);
		if (!back || back > at)
			continue; /* a CIE, or nothing */
		if (reader->cie != reader->all.at + (at - back)) {
			reader->cie = reader->all.at + (at - back);
			reader->encoding = encoding_of(reader, reader->cie);
		}
		told = (struct frame_entry){ .at = at - 4, .bytes = 4 + (size_t)length, .cie_at = at - (size_t)back };
		if (reader->encoding == PE_OMIT)
			continue;
		told.cie_bytes = entry_bytes(reader, reader->cie);
		take_fde(reader, &entry, &told);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct function_bounds *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* The longest of the entries that begin at one address stays. */
static void sort(struct elf_bounds *bounds)
{
	size_t n = 0;

	if (!bounds->n)
		return;
	qsort(bounds->v, bounds->n, sizeof(*bounds->v), by_start);
	for (size_t i = 1; i < bounds->n; i++) {
		if (bounds->v[n].start != bounds->v[i].start)
			n++;
		bounds->v[n] = bounds->v[i];
		if (n && bounds->v[n - 1].end > bounds->v[n].start)
			bounds->v[n - 1].end = bounds->v[n].start;
	}
	bounds->n = n + 1;
}

bool elf_frames_each(struct elf_file *file, void (*take)(void *context, const struct frame_entry *entry),
		     void *context, uint64_t *vaddr, struct elf_data *data)
{
	struct bounds_reader reader = { .file = file, .take = take, .context = context };
	struct elf_section section;

	if (file->relocatable || !elf_section_named(file, ".eh_frame", &section) ||
	    !elf_section_read(file, &section, data))
		return false;
	for (size_t i = 0; i < file->n_segments && reader.n_segments < SEGMENTS_MAX; i++)
		if (file->segments[i].executable)
			reader.segments[reader.n_segments++] = file->segments[i];
	reader.vaddr = *vaddr = section.header.sh_addr;
	reader.all.at = data->bytes;
	reader.all.end = reader.all.at + data->n;
	reader.all.swapped = file->swapped;
	take_entries(&reader);
	return true;
}

static void take_bounds(void *context, const struct frame_entry *entry)
{
	struct elf_bounds *bounds = context;

	if (bounds->n >= BOUNDS_MAX)
		return;
	VEC_GROW(bounds->v, bounds->n, bounds->cap);
	bounds->v[bounds->n++] = (struct function_bounds){ entry->start, entry->start + entry->size };
}

void elf_bounds_read(struct elf_file *file, struct elf_bounds *bounds)
{
	struct elf_data data;
	uint64_t vaddr;

	if (elf_frames_each(file, take_bounds, bounds, &vaddr, &data))
		sort(bounds);
}

void elf_bounds_release(struct elf_bounds *bounds)
{
	free(bounds->v);
	*bounds = (struct elf_bounds){ 0 };
}

const struct function_bounds *elf_bounds_find(const struct elf_bounds *bounds, uint64_t vaddr)
{
	size_t at = BISECT(i, 0, bounds->n, bounds->v[i].start <= vaddr);

	return at && vaddr < bounds->v[at - 1].end ? &bounds->v[at - 1] : NULL;
}
