/*
 * unwind_cfi: one entry behind another,
 *
 *	.eh_frame      length | 0                 version, augmentation, ...        CIE
 *	               length | distance to CIE   start, bytes, ..., program        FDE
 *	.debug_frame   length | ~0                version, augmentation, ...        CIE
 *	               length | place of the CIE  start, bytes, program             FDE
 *
 * each read once, CIEs when an FDE names them first. Entries that make no sense are left out and remembered as
 * that; they don't end the walk, for their length says where the next one begins.
 *
 * Sources: Linux Standard Base Core, "Exception Frames"; DWARF 5, sections 6.4.1 and 7.24.
 */
#include "unwind/unwind_cfi.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	CIES_MAX = 1 << 16,
	PE_FORMAT = 0x0f, /* of an encoding */
	PE_RELATIVE = 0x70,
	PE_INDIRECT = 0x80,
};

struct entry {
	struct dwarf_cursor at; /* behind its id */
	uint32_t begin; /* in the section */
	size_t id_at;
	uint64_t id;
	bool wide; /* of 64-bit DWARF */
};

/* ---- numbers ---- */

/* Bytes of a DW_EH_PE_ format with a fixed size; 0: it has none. */
static unsigned format_bytes(uint8_t encoding)
{
	static const uint8_t bytes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };

	return bytes[encoding & PE_FORMAT];
}

static bool read_format(struct dwarf_cursor *at, uint8_t encoding, uint64_t *value)
{
	unsigned bytes = format_bytes(encoding), unused = 64 - 8 * bytes;

	switch (encoding & PE_FORMAT) {
	case DW_EH_PE_uleb128:
		*value = cursor_uleb(at);
		return !at->bad;
	case DW_EH_PE_sleb128:
		*value = (uint64_t)cursor_sleb(at);
		return !at->bad;
	default:
		if (!bytes)
			return false;
		*value = cursor_number(at, bytes);
		if (encoding & DW_EH_PE_signed && unused)
			*value = (uint64_t)((int64_t)(*value << unused) >> unused);
		return !at->bad;
	}
}

bool cfi_pointer(const struct cfi_section *section, struct dwarf_cursor *at, uint8_t encoding, uint64_t *value)
{
	uint64_t here = section->vaddr + (uint64_t)(at->at - section->bytes);

	if (encoding == DW_EH_PE_omit || encoding & PE_INDIRECT || !read_format(at, encoding, value))
		return false;
	if ((encoding & PE_RELATIVE) == DW_EH_PE_pcrel)
		*value += here;
	return (encoding & PE_RELATIVE) == DW_EH_PE_pcrel || (encoding & PE_RELATIVE) == DW_EH_PE_absptr;
}

/* ---- entries ---- */

/* The entry at the cursor, which moves behind it. false: no more. */
static bool next_entry(const struct cfi_section *section, struct dwarf_cursor *at, struct entry *entry)
{
	uint64_t length = 0;

	/* The end of one file's entries may be followed by those of another. */
	while (!length && cursor_left(at)) {
		entry->begin = (uint32_t)(at->at - section->bytes);
		length = cursor_number(at, 4);
	}
	entry->wide = length == UINT32_MAX;
	if (entry->wide)
		length = cursor_number(at, 8);
	if (at->bad || !length || length > cursor_left(at))
		return false;
	entry->at = (struct dwarf_cursor){ at->at, at->at + length, false, false };
	cursor_skip(at, length);
	entry->id_at = (size_t)(entry->at.at - section->bytes);
	entry->id = cursor_number(&entry->at, entry->wide ? 8 : 4);
	return true;
}

static bool is_cie(const struct cfi_section *section, const struct entry *entry)
{
	if (!section->debug_frame)
		return !entry->id;
	return entry->id == (entry->wide ? UINT64_MAX : UINT32_MAX);
}

/* What the letters behind 'z' announce, of which the length is known. */
static bool read_augmentation(const char *letters, struct dwarf_cursor at,
			      struct cfi_cie *cie)
{
	uint64_t ignored;
	uint8_t encoding;

	for (; *letters; letters++)
		switch (*letters) {
		case 'R':
			cie->encoding = cursor_u8(&at);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'L':
			cursor_u8(&at);
			break;
		case 'P':
			encoding = cursor_u8(&at);
			if (!read_format(&at, encoding, &ignored))
				return false;
			break;
		case 'B': /* signed with the other key */
		case 'G': /* tagged stack */
			break;
		default:
			return false;
		}
	return !at.bad;
}

static bool read_cie(struct dwarf_cursor at, struct cfi_cie *cie)
{
	uint8_t version = cursor_u8(&at);
	const char *augmentation = cursor_text(&at);

	if (!augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	if (!strncmp(augmentation, "eh", 2)) { /* of very old compilers */
		cursor_skip(&at, 8);
		augmentation += 2;
	}
	/* Bytes of an address, bytes of a segment's number. */
	if (version == 4 && (cursor_u8(&at) != 8 || cursor_u8(&at)))
		return false;
	cie->code_align = cursor_uleb(&at);
	cie->data_align = cursor_sleb(&at);
	cie->return_reg = version == 1 ? cursor_u8(&at) : cursor_uleb(&at);
	cie->augmented = *augmentation == 'z';
	if (*augmentation && !cie->augmented)
		return false;
	if (cie->augmented) {
		uint64_t n = cursor_uleb(&at);
		struct dwarf_cursor data = at;

		cursor_skip(&at, n);
		data.end = at.at;
		if (at.bad || !read_augmentation(augmentation + 1, data, cie))
			return false;
	}
	cie->program = at.at;
	cie->end = at.end;
	return !at.bad;
}

/* The number of the CIE at a place; negative: there are too many. */
static int64_t cie_at(struct cfi_entries *entries, const struct cfi_section *section, uint64_t place)
{
	struct dwarf_cursor at = { section->bytes, section->bytes + section->n, false, false };
	struct cfi_cie cie = { .at = (uint32_t)place };
	struct entry entry;
	uint32_t i;

	if (place >= section->n || entries->n_cies == CIES_MAX)
		return -1;
	if (INDEX_FIND(&entries->by_at, hash_word(place), i, entries->cies[i].at == place))
		return i;
	cursor_skip(&at, place);
	cie.usable = next_entry(section, &at, &entry) && entry.begin == place && is_cie(section, &entry) &&
		     read_cie(entry.at, &cie);
	index_add(&entries->by_at, hash_word(place), (uint32_t)entries->n_cies);
	VEC_GROW(entries->cies, entries->n_cies, entries->cap_cies);
	entries->cies[entries->n_cies] = cie;
	return (int64_t)entries->n_cies++;
}

/* The code that an FDE is about: the part in [0, bytes) behind base. false: none. */
static bool clip(struct cfi_fde *fde, uint64_t start, uint64_t length, uint64_t base, uint64_t bytes)
{
	uint64_t end = length < UINT64_MAX - start ? start + length : UINT64_MAX;

	if (start < base || start - base >= bytes || !length)
		return false;
	end -= base;
	fde->start = (uint32_t)(start - base);
	fde->end = (uint32_t)(end < bytes ? end : bytes);
	return true;
}

/* false: it is not understood. */
static bool add_fde(struct cfi_entries *entries, const struct cfi_section *section, struct entry *entry,
		    uint64_t base, uint64_t bytes)
{
	int64_t cie = cie_at(entries, section, section->debug_frame ? entry->id : entry->id_at - entry->id);
	struct cfi_fde fde = { .cie = (uint32_t)cie };
	struct dwarf_cursor *at = &entry->at;
	uint64_t start, length;

	if (cie < 0 || !entries->cies[cie].usable ||
	    !cfi_pointer(section, at, entries->cies[cie].encoding, &start) ||
	    !read_format(at, entries->cies[cie].encoding, &length))
		return false;
	if (entries->cies[cie].augmented)
		cursor_skip(at, cursor_uleb(at));
	if (at->bad)
		return false;
	if (!clip(&fde, start, length, base, bytes))
		return true;
	fde.program = (uint32_t)(at->at - section->bytes);
	fde.program_bytes = (uint32_t)cursor_left(at);
	VEC_GROW(entries->fdes, entries->n_fdes, entries->cap_fdes);
	entries->fdes[entries->n_fdes++] = fde;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->program < y->program ? -1 : x->program > y->program;
}

void cfi_entries_read(struct cfi_entries *entries, const struct cfi_section *whole, uint64_t base, uint64_t bytes)
{
	struct cfi_section section = *whole;
	struct dwarf_cursor at;
	struct entry entry;

	*entries = (struct cfi_entries){ 0 };
	if (section.n > UINT32_MAX)
		section.n = UINT32_MAX;
	if (bytes > UINT32_MAX)
		bytes = UINT32_MAX;
	at = (struct dwarf_cursor){ section.bytes, section.bytes + section.n, false, false };
	while (next_entry(&section, &at, &entry))
		if (!is_cie(&section, &entry) && !add_fde(entries, &section, &entry, base, bytes))
			entries->incomplete = true;
	if (entries->n_fdes)
		qsort(entries->fdes, entries->n_fdes, sizeof(*entries->fdes), by_start);
}

void cfi_entries_release(struct cfi_entries *entries)
{
	free(entries->cies);
	free(entries->fdes);
	index_release(&entries->by_at);
	*entries = (struct cfi_entries){ 0 };
}
