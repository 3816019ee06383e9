/*
 * recorded_frames: of .debug_frame what unwinding at some addresses needs. No segment has this section, so its entries
 * need not keep their places: those of sampled functions are put behind one another, each behind the CIE by which it is
 * read.
 *
 *	CIE | FDE | FDE | ... | CIE | FDE		whole entries; of an FDE the offset of its CIE is made anew
 *
 * The file is hostile: entries are looked at in the order of the section, so none lies over another, and an FDE has a
 * CIE that came before it, as all have that are written. What is kept is never more than what was there.
 *
 * Source: DWARF 5, 6.4.1 (structure of call frame information), 7.24.
 */
#include "sym/recorded_names.h"

#include "elf/elf.h"

#include <stdlib.h>

enum {
	CIE_ID = 0xffffffff,
	LENGTH_64 = 0xfffffff0, /* and above: entries over 4 GiB, which nobody writes */
	ADDRESS_BYTES = 8,
	POINTER_AT = 4, /* of an FDE, to its CIE */
};

struct cie {
	size_t at, bytes;
	size_t put1; /* 1 + where it was put; 0: it was not */
};
struct keeping {
	const uint8_t *bytes;
	const uint64_t *addrs;
	bool *covered;
	size_t n_addrs;
	struct cie *cies; /* by place */
	size_t n_cies, cap_cies;
	struct str *out;
};

/* Only those that gcc and clang write: nothing added to what DWARF has, addresses of 8 bytes. */
static bool is_plain(struct dwarf_cursor c)
{
	uint8_t version = cursor_u8(&c), augmentation = cursor_u8(&c);

	if (augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	return version < 4 || (cursor_u8(&c) == ADDRESS_BYTES && cursor_u8(&c) == 0);
}

static struct cie *find_cie(const struct keeping *k, uint64_t at)
{
	size_t low = 0, high = k->n_cies;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->cies[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < k->n_cies && k->cies[low].at == at ? &k->cies[low] : NULL;
}

/* Whether the code has an address that nothing covers so far, which it then does. */
static bool cover(const struct keeping *k, uint64_t start, uint64_t size)
{
	bool wanted = false;

	for (size_t i = recorded_first_addr(k->addrs, k->n_addrs, start);
	     i < k->n_addrs && k->addrs[i] - start < size; i++) {
		wanted |= !k->covered[i];
		k->covered[i] = true;
	}
	return wanted;
}

/* c: behind the pointer to the CIE. */
static void take_fde(struct keeping *k, struct dwarf_cursor c, size_t at, size_t bytes, uint64_t cie_at)
{
	uint64_t start = cursor_number(&c, ADDRESS_BYTES), size = cursor_number(&c, ADDRESS_BYTES);
	struct cie *cie = find_cie(k, cie_at);
	uint32_t pointer;

	if (c.bad || !cie || !cover(k, start, size))
		return;
	if (!cie->put1) {
		cie->put1 = k->out->len + 1;
		str_addn(k->out, (const char *)k->bytes + cie->at, cie->bytes);
	}
	pointer = (uint32_t)(cie->put1 - 1);
	str_addn(k->out, (const char *)k->bytes + at, POINTER_AT);
	str_addn(k->out, (const char *)&pointer, sizeof(pointer));
	at += POINTER_AT + sizeof(pointer);
	str_addn(k->out, (const char *)k->bytes + at, bytes - POINTER_AT - sizeof(pointer));
}

static void take_entries(struct keeping *k, struct dwarf_cursor c)
{
	while (cursor_left(&c) >= POINTER_AT + sizeof(uint32_t)) {
		size_t at = (size_t)(c.at - k->bytes);
		uint64_t length = cursor_number(&c, 4), id;
		struct dwarf_cursor entry = c;

		if (length >= LENGTH_64 || length > cursor_left(&c))
			return;
		entry.end = c.at + length;
		cursor_skip(&c, length);
		id = cursor_number(&entry, 4);
		if (entry.bad)
			continue;
		if (id != CIE_ID) {
			take_fde(k, entry, at, POINTER_AT + (size_t)length, id);
		} else if (is_plain(entry)) {
			VEC_GROW(k->cies, k->n_cies, k->cap_cies);
			k->cies[k->n_cies++] = (struct cie){ at, POINTER_AT + (size_t)length, 0 };
		}
	}
}

void recorded_frames_keep(struct elf_file *file, const uint64_t *addrs, bool *covered, size_t n, struct str *out)
{
	struct keeping k = { .addrs = addrs, .covered = covered, .n_addrs = n, .out = out };
	struct elf_section section;
	struct elf_data data;

	if (!elf_section_named(file, ".debug_frame", &section) || !elf_section_read(file, &section, &data))
		return;
	k.bytes = data.bytes;
	take_entries(&k, (struct dwarf_cursor){ .at = k.bytes, .end = k.bytes + data.n });
	free(k.cies);
}
