/* SPDX-License-Identifier: MIT */
/*
 * embedded_image: what unwinding needs of an ELF file, as the few pieces of it that it reads. Put back to where they
 * lay, in a file of the old size that is empty between them, they are an ELF file that unwinders take for the real one:
 *
 *	ELF header, segments | code at sampled addresses | .eh_frame | .eh_frame_hdr | ... | sections | .debug_frame
 *
 * Offsets and addresses are the file's own. Of .eh_frame the entries of sampled functions stay, byte by byte and in
 * their places, with their CIEs; between them lie empty CIEs as long as what was there, so that the section can also be
 * read in order. The search table in .eh_frame_hdr is made anew, for it is sorted.
 *
 * What .eh_frame does not cover may be in .debug_frame, also in that of the debug file. No segment has this section, so
 * its entries need not keep their places: those of sampled functions are put behind one another, each behind the CIE by
 * which it is read:
 *
 *	CIE | FDE | FDE | ... | CIE | FDE		whole entries; of an FDE the offset of its CIE is made anew
 *
 * The file is hostile: entries are looked at in the order of the section, so none lies over another, and an FDE has a
 * CIE that came before it, as all have that are written. What is kept is never more than what was there.
 *
 * Only 64-bit files of this byte order are kept, which are all that are unwound.
 *
 * Source: Linux Standard Base Core, "Exception Frames" and "DWARF Extensions"; ELF specification; DWARF 5, 6.4.1
 * (structure of call frame information), 7.24.
 */
#include "sym/embedded_names.h"
#include "elf/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	FILLER_BYTES = 16, /* the least of an empty CIE; what lies in smaller gaps stays */
	HDR_BYTES = 12,
	HDR_ENTRY_BYTES = 8,
	/*
	 * Code that is kept at an address shows that a function is about to return; where there are no tables, a
	 * signal's way back, and an entry of a linkage table. Code before it shows the call, by which a return address
	 * is known where a frame pointer leads to it; where there are no tables, what tells one entry from another
	 * (unwind_code.c).
	 */
	CODE_BYTES = 2,
	CODE_BYTES_BEFORE = 8,
	CODE_BYTES_BARE = 32,
	CODE_BYTES_BEFORE_BARE = 16,
	CODE_BYTES_MAX = CODE_BYTES_BEFORE_BARE + CODE_BYTES_BARE,
	N_SECTIONS = 5,
};
static const char section_names[] = "\0.eh_frame\0.eh_frame_hdr\0.debug_frame\0.shstrtab";
enum { NAME_EH_FRAME = 1, NAME_EH_FRAME_HDR = 11, NAME_DEBUG_FRAME = 25, NAME_SHSTRTAB = 38 };
/* Files are sparse: of a large one only what is put into it takes memory. */
#define IMAGE_BYTES_MAX ((uint64_t)1 << 36)

/* ---- pieces of a file ---- */

struct image_piece {
	uint64_t offset;
	size_t at, n; /* in bytes */
};
struct image_writer {
	struct elf_file *file;
	const uint64_t *addrs;
	size_t n_addrs;
	bool has_eh_frame;
	uint64_t eh_frame, eh_frame_at; /* address and offset */
	struct elf_data data; /* of it */
	struct str debug_frame;
	struct frame_entry *entries; /* of the functions at these addresses, in the section's order */
	size_t n_entries, cap_entries;
	bool *covered; /* the address has an entry */
	struct image_piece *pieces;
	size_t n_pieces, cap_pieces;
	struct str bytes;
};

static void add_piece(struct image_writer *w, uint64_t offset, const void *bytes, size_t n)
{
	if (!n)
		return;
	VEC_GROW(w->pieces, w->n_pieces, w->cap_pieces);
	w->pieces[w->n_pieces++] = (struct image_piece){ offset, w->bytes.len, n };
	str_addn(&w->bytes, bytes, n);
}

/* The first of n ascending addresses that is not below start; n: none. */
static size_t first_addr(const uint64_t *addrs, size_t n, uint64_t start)
{
	return BISECT(i, 0, n, addrs[i] < start);
}

static void take_entry(void *context, const struct frame_entry *entry)
{
	struct image_writer *w = context;
	size_t i = first_addr(w->addrs, w->n_addrs, entry->start);

	if (i == w->n_addrs || w->addrs[i] - entry->start >= entry->size)
		return;
	for (; i < w->n_addrs && w->addrs[i] - entry->start < entry->size; i++)
		w->covered[i] = true;
	VEC_GROW(w->entries, w->n_entries, w->cap_entries);
	w->entries[w->n_entries++] = *entry;
}

/* ---- .eh_frame ---- */

struct image_span {
	size_t at, end;
};

static int by_place(const void *a, const void *b)
{
	const struct image_span *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* An entry that is a CIE without rules, as long as the gap. */
static void fill_gap(struct image_writer *w, uint64_t offset, const uint8_t *was, size_t n)
{
	uint8_t cie[FILLER_BYTES] = { [8] = 1, [10] = 1, [11] = 0x78 };
	uint32_t length = (uint32_t)(n - 4);

	if (n < FILLER_BYTES) {
		add_piece(w, offset, was, n);
		return;
	}
	memcpy(cie, &length, sizeof(length));
	add_piece(w, offset, cie, sizeof(cie));
}

/* Puts the section's bytes; returns how long it is now, with the zeros that end it. */
static size_t keep_entries(struct image_writer *w, uint64_t offset, const struct elf_data *data)
{
	struct image_span *spans = xcalloc(2 * w->n_entries + 1, sizeof(*spans));
	const uint8_t *bytes = data->bytes;
	size_t n = 0, end = 0;

	for (size_t i = 0; i < w->n_entries; i++) {
		const struct frame_entry *entry = &w->entries[i];

		spans[n++] = (struct image_span){ entry->at, entry->at + entry->bytes };
		spans[n++] = (struct image_span){ entry->cie_at, entry->cie_at + entry->cie_bytes };
	}
	qsort(spans, n, sizeof(*spans), by_place);
	for (size_t i = 0; i < n; i++) {
		if (spans[i].at < end || spans[i].end > data->n || spans[i].end < spans[i].at)
			continue; /* a CIE once more, or it lies over another entry */
		if (spans[i].at > end)
			fill_gap(w, offset + end, bytes + end, spans[i].at - end);
		add_piece(w, offset + spans[i].at, bytes + spans[i].at, spans[i].end - spans[i].at);
		end = spans[i].end;
	}
	free(spans);
	return end + 4;
}

/* ---- .eh_frame_hdr ---- */

static int by_start(const void *a, const void *b)
{
	const struct frame_entry *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void put_difference(struct str *out, uint64_t to, uint64_t from)
{
	int32_t difference = (int32_t)(to - from);

	str_addn(out, (const char *)&difference, sizeof(difference));
}

/* Returns its length, 0: it has no room. */
static size_t make_search_table(struct image_writer *w, uint64_t eh_frame)
{
	const struct elf_segment *hdr = &w->file->eh_frame_hdr;
	size_t n = HDR_BYTES + w->n_entries * HDR_ENTRY_BYTES;
	uint32_t count = (uint32_t)w->n_entries;
	struct str table = STR_INIT;

	if (hdr->file_size < n || w->n_entries > UINT32_MAX)
		return 0;
	qsort(w->entries, w->n_entries, sizeof(*w->entries), by_start);
	/* Version 1; pointer: pcrel sdata4; count: udata4; table: datarel sdata4 */
	str_addn(&table, "\x01\x1b\x03\x3b", 4);
	put_difference(&table, eh_frame, hdr->vaddr + 4);
	str_addn(&table, (const char *)&count, sizeof(count));
	for (size_t i = 0; i < w->n_entries; i++) {
		put_difference(&table, w->entries[i].start, hdr->vaddr);
		put_difference(&table, eh_frame + w->entries[i].at, hdr->vaddr);
	}
	add_piece(w, hdr->offset, table.s, table.len);
	str_release(&table);
	return n;
}

/* ---- .debug_frame ---- */

enum {
	CIE_ID = 0xffffffff,
	LENGTH_64 = 0xfffffff0, /* and above: entries over 4 GiB, which nobody writes */
	ADDRESS_BYTES = 8,
	POINTER_AT = 4, /* of an FDE, to its CIE */
};

struct kept_cie {
	size_t at, bytes;
	size_t put1; /* 1 + where it was put; 0: it was not */
};
struct frames_keeping {
	const uint8_t *bytes;
	const uint64_t *addrs;
	bool *covered;
	size_t n_addrs;
	struct kept_cie *cies; /* by place */
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

static struct kept_cie *find_cie(const struct frames_keeping *k, uint64_t at)
{
	size_t place = BISECT(i, 0, k->n_cies, k->cies[i].at < at);

	return place < k->n_cies && k->cies[place].at == at ? &k->cies[place] : NULL;
}

/* Whether the code has an address that nothing covers so far, which it then does. */
static bool cover(const struct frames_keeping *k, uint64_t start, uint64_t size)
{
	bool wanted = false;

	for (size_t i = first_addr(k->addrs, k->n_addrs, start);
	     i < k->n_addrs && k->addrs[i] - start < size; i++) {
		wanted |= !k->covered[i];
		k->covered[i] = true;
	}
	return wanted;
}

/* c: behind the pointer to the CIE. */
static void take_fde(struct frames_keeping *k, struct dwarf_cursor c, size_t at, size_t bytes, uint64_t cie_at)
{
	uint64_t start = cursor_number(&c, ADDRESS_BYTES), size = cursor_number(&c, ADDRESS_BYTES);
	struct kept_cie *cie = find_cie(k, cie_at);
	struct str *out = k->out;
	uint32_t pointer;

	if (c.bad || !cie || !cover(k, start, size))
		return;
	if (!cie->put1) {
		cie->put1 = out->len + 1;
		str_addn(out, (const char *)k->bytes + cie->at, cie->bytes);
	}
	pointer = (uint32_t)(cie->put1 - 1);
	str_addn(out, (const char *)k->bytes + at, POINTER_AT);
	str_addn(out, (const char *)&pointer, sizeof(pointer));
	at += POINTER_AT + sizeof(pointer);
	str_addn(out, (const char *)k->bytes + at, bytes - POINTER_AT - sizeof(pointer));
}

static void take_entries(struct frames_keeping *k, struct dwarf_cursor c)
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
			k->cies[k->n_cies++] = (struct kept_cie){ at, POINTER_AT + (size_t)length, 0 };
		}
	}
}

void embedded_frames_keep(struct elf_file *file, const uint64_t *addrs, bool *covered, size_t n, struct str *out)
{
	struct frames_keeping k = { .addrs = addrs, .covered = covered, .n_addrs = n, .out = out };
	struct elf_section section;
	struct elf_data data;

	if (!elf_section_named(file, ".debug_frame", &section) || !elf_section_read(file, &section, &data))
		return;
	k.bytes = data.bytes;
	take_entries(&k, (struct dwarf_cursor){ .at = k.bytes, .end = k.bytes + data.n });
	free(k.cies);
}

/* ---- code ---- */

/* false: not all of them are in the file. */
static bool add_code(struct image_writer *w, uint64_t vaddr, size_t n)
{
	uint8_t code[CODE_BYTES_MAX];
	uint64_t offset;

	if (!elf_file_offset(w->file, vaddr, &offset) || !elf_file_read_at(w->file, offset, code, n))
		return false;
	add_piece(w, offset, code, n);
	return true;
}

static void keep_code(struct image_writer *w)
{
	for (size_t i = 0; i < w->n_addrs; i++) {
		uint64_t vaddr = w->covered[i] ? w->addrs[i] : w->addrs[i] & ~(uint64_t)15;
		size_t n = w->covered[i] ? CODE_BYTES : CODE_BYTES_BARE;
		size_t before = w->covered[i] ? CODE_BYTES_BEFORE : CODE_BYTES_BEFORE_BARE;

		if (vaddr < before || !add_code(w, vaddr - before, before + n))
			add_code(w, vaddr, n); /* it is the first of its segment */
	}
}

/* ---- headers ---- */

static void put_headers(struct image_writer *w, uint64_t sections_at, size_t hdr_bytes)
{
	const struct elf_file *file = w->file;
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = file->machine, .e_version = EV_CURRENT, .e_entry = file->entry,
		.e_phoff = sizeof(head), .e_shoff = sections_at, .e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = N_SECTIONS,
		.e_shstrndx = N_SECTIONS - 1,
	};
	struct str bytes = STR_INIT;

	head.e_phnum = (uint16_t)(file->n_segments + !!hdr_bytes);
	str_addn(&bytes, (const char *)&head, sizeof(head));
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];
		Elf64_Phdr row = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | (segment->executable ? PF_X : 0) | (segment->writable ? PF_W : 0),
			.p_offset = segment->offset, .p_vaddr = segment->vaddr, .p_paddr = segment->vaddr,
			.p_filesz = segment->file_size, .p_memsz = segment->mem_size, .p_align = segment->align,
		};

		str_addn(&bytes, (const char *)&row, sizeof(row));
	}
	if (hdr_bytes) {
		const struct elf_segment *hdr = &file->eh_frame_hdr;
		Elf64_Phdr row = {
			.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = hdr->offset, .p_vaddr = hdr->vaddr,
			.p_paddr = hdr->vaddr, .p_filesz = hdr_bytes, .p_memsz = hdr_bytes, .p_align = 4,
		};

		str_addn(&bytes, (const char *)&row, sizeof(row));
	}
	add_piece(w, 0, bytes.s, bytes.len);
	str_release(&bytes);
}

/* frames: .eh_frame, or nothing. Returns where all ends. */
static uint64_t put_sections(struct image_writer *w, uint64_t sections_at, const Elf64_Shdr *frames, size_t hdr_bytes)
{
	const struct elf_segment *hdr = &w->file->eh_frame_hdr;
	uint64_t names_at = sections_at + N_SECTIONS * sizeof(Elf64_Shdr), debug_at = names_at + sizeof(section_names);
	Elf64_Shdr rows[N_SECTIONS] = {
		{ 0 },
		*frames,
		{ .sh_name = NAME_EH_FRAME_HDR, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
		  .sh_addr = hdr->vaddr, .sh_offset = hdr->offset, .sh_size = hdr_bytes, .sh_addralign = 4 },
		{ .sh_name = NAME_DEBUG_FRAME, .sh_type = w->debug_frame.len ? SHT_PROGBITS : SHT_NULL,
		  .sh_offset = debug_at, .sh_size = w->debug_frame.len, .sh_addralign = 1 },
		{ .sh_name = NAME_SHSTRTAB, .sh_type = SHT_STRTAB, .sh_offset = names_at,
		  .sh_size = sizeof(section_names), .sh_addralign = 1 },
	};

	add_piece(w, sections_at, rows, sizeof(rows));
	add_piece(w, names_at, section_names, sizeof(section_names));
	add_piece(w, debug_at, w->debug_frame.s, w->debug_frame.len);
	return debug_at + w->debug_frame.len;
}

/* ---- out ---- */

static int by_offset(const void *a, const void *b)
{
	const struct image_piece *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Headers come first where code would lie over them; neighbours become one. */
static void put_pieces(struct image_writer *w, uint64_t file_bytes, struct str *out)
{
	struct str runs = STR_INIT;
	size_t n_runs = 0;
	uint64_t end = 0;

	qsort(w->pieces, w->n_pieces, sizeof(*w->pieces), by_offset);
	for (size_t i = 0; i < w->n_pieces;) {
		uint64_t start = w->pieces[i].offset < end ? end : w->pieces[i].offset, until = start;
		struct str run = STR_INIT;

		for (; i < w->n_pieces && w->pieces[i].offset <= until; i++) {
			const struct image_piece *piece = &w->pieces[i];
			uint64_t skipped = until - piece->offset;

			if (skipped >= piece->n)
				continue;
			str_addn(&run, w->bytes.s + piece->at + skipped, piece->n - (size_t)skipped);
			until = piece->offset + piece->n;
		}
		if (run.len) {
			put_number(&runs, start - end);
			put_number(&runs, run.len);
			str_addn(&runs, run.s, run.len);
			n_runs++;
			end = until;
		}
		str_release(&run);
	}
	put_number(out, n_runs);
	put_number(out, file_bytes);
	str_addn(out, runs.s, runs.len);
	str_release(&runs);
}

/* After the entries of the addresses are known. */
static void put_image(struct image_writer *w, struct str *out)
{
	uint64_t sections_at = ((uint64_t)w->file->stat.st_size + 7) & ~(uint64_t)7;
	Elf64_Shdr frames = { 0 };
	size_t hdr_bytes = 0;

	if (w->has_eh_frame) {
		frames = (Elf64_Shdr){
			.sh_name = NAME_EH_FRAME, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = w->eh_frame, .sh_offset = w->eh_frame_at, .sh_addralign = 8,
			.sh_size = keep_entries(w, w->eh_frame_at, &w->data),
		};
		hdr_bytes = make_search_table(w, w->eh_frame);
	}
	keep_code(w);
	put_headers(w, sections_at, hdr_bytes);
	put_pieces(w, put_sections(w, sections_at, &frames, hdr_bytes), out);
}

static void find_debug_frame(struct image_writer *w, struct elf_file *debug)
{
	struct str ignored = STR_INIT;

	embedded_frames_keep(w->file, w->addrs, w->covered, w->n_addrs, &w->debug_frame);
	if (w->debug_frame.len || !debug || debug == w->file || debug->machine != w->file->machine ||
	    !debug->is_64 || debug->swapped)
		return;
	if (!elf_file_hold(debug, &ignored)) {
		embedded_frames_keep(debug, w->addrs, w->covered, w->n_addrs, &w->debug_frame);
		elf_file_let_go(debug);
	}
	str_release(&ignored);
}

void embedded_image_write(struct elf_file *file, struct elf_file *debug, const uint64_t *addrs, size_t n,
			  struct str *out)
{
	struct image_writer w = {
		.file = file, .addrs = addrs, .n_addrs = n, .bytes = STR_INIT, .debug_frame = STR_INIT,
	};
	struct str ignored = STR_INIT;
	bool held = file->is_64 && !file->swapped && !elf_file_hold(file, &ignored);

	w.covered = xcalloc(n + 1, sizeof(*w.covered));
	if (held) {
		w.has_eh_frame = elf_frames_each(file, take_entry, &w, &w.eh_frame, &w.data) &&
				 elf_file_offset(file, w.eh_frame, &w.eh_frame_at);
		find_debug_frame(&w, debug);
	}
	if (w.has_eh_frame || w.debug_frame.len)
		put_image(&w, out);
	else
		put_number(out, 0);
	if (held)
		elf_file_let_go(file);
	free(w.covered);
	free(w.entries);
	free(w.pieces);
	str_release(&w.bytes);
	str_release(&w.debug_frame);
	str_release(&ignored);
}

/* ---- reading ---- */

static int make_file(const struct embedded_dso *dso, uint64_t *pages_left)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	uint64_t last = UINT64_MAX;

	if (fd < 0)
		return -errno;
	if (dso->image_bytes > IMAGE_BYTES_MAX || ftruncate(fd, (off_t)dso->image_bytes)) {
		close(fd);
		return -EFBIG;
	}
	for (size_t i = 0; i < dso->n_pieces; i++) {
		const struct embedded_piece *piece = &dso->pieces[i];
		uint64_t first = piece->offset / PAGE_BYTES, end = (piece->offset + piece->n) / PAGE_BYTES;
		uint64_t pages = end - first + (first != last);

		last = end;
		if (pages > *pages_left ||
		    pwrite(fd, piece->bytes, piece->n, (off_t)piece->offset) != (ssize_t)piece->n) {
			close(fd);
			return -EFBIG;
		}
		*pages_left -= pages;
	}
	return fd;
}

const char *embedded_image_path(struct embedded_dso *dso, uint64_t *pages_left, struct str *why)
{
	if (dso->image_tried || !dso->n_pieces)
		return dso->image;
	dso->image_tried = true;
	dso->image_fd = make_file(dso, pages_left);
	if (dso->image_fd >= 0)
		dso->image = xasprintf("/proc/self/fd/%d", dso->image_fd);
	else
		fail(why, 0, "its unwind tables can't be put into memory: %s", strerror(-dso->image_fd));
	return dso->image;
}

void embedded_image_close(struct embedded_dso *dso)
{
	if (dso->image_fd >= 0)
		close(dso->image_fd);
	dso->image_fd = -1;
	free(dso->image);
	dso->image = NULL;
}
