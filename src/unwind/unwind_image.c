/*
 * unwind_image: ELF header, program headers and .eh_frame_hdr read by hand, for that is little, and every
 * number is checked here against the file.
 *
 * .eh_frame_hdr: u8 version 1 | u8 encoding of pointer, of count, of table | pointer to .eh_frame |
 * count | table. Only tables of sdata4 relative to the section (0x3b) can be searched; all linkers
 * write that. All architectures with a row in unwind_regs.c are little-endian, and so must be the reader:
 * elsewhere e_machine does not match.
 *
 * Sources: elf(5); Linux Standard Base Core, "Exception Frames" and "DWARF Extensions".
 */
#include "unwind/unwind_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 16384,
	SEGMENTS_MAX = 4096, /* program headers looked at; compilers make about ten */
	HDR_BYTES = 4,
	TABLE_SDATA4_DATAREL = 0x3b,
	FDE_ENTRY_BYTES = 8,
};

struct image_page {
	uint64_t number;
	size_t size; /* bytes that could be read; short at the file's end */
	uint8_t bytes[PAGE_BYTES];
};

static size_t read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n && offset + done <= INT64_MAX) {
		ssize_t ret = pread(fd, (char *)bytes + done, n - done, (off_t)(offset + done));

		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			break;
		done += (size_t)ret;
	}
	return done;
}

static bool same_file(const struct image *image, const struct stat *st)
{
	return image->device == st->st_dev && image->inode == st->st_ino &&
	       image->file_size == (uint64_t)st->st_size;
}

int image_reopen(const struct image *image)
{
	/* Never waits, whatever the path has become. */
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open(image->path, NULL, &st, &ignored);

	str_release(&ignored);
	if (fd < 0 || same_file(image, &st))
		return fd;
	close(fd);
	return -ESTALE;
}

static struct image_page *page_at(struct image *image, uint64_t number)
{
	struct image_page *page = image->last;
	uint64_t hash = hash_word(number);
	size_t at = index_first(&image->page_index, hash);
	uint32_t i;
	int fd;

	if (page && page->number == number)
		return page;
	while (index_next(&image->page_index, hash, &at, &i))
		if (image->pages[i]->number == number)
			return image->last = image->pages[i];
	page = xmalloc(sizeof(*page));
	page->number = number;
	page->size = 0;
	fd = image_reopen(image);
	if (fd >= 0) {
		page->size = read_at(fd, page->bytes, PAGE_BYTES, number * PAGE_BYTES);
		close(fd);
	}
	index_add(&image->page_index, hash, (uint32_t)image->n_pages);
	VEC_GROW(image->pages, image->n_pages, image->cap_pages);
	image->pages[image->n_pages++] = page;
	return image->last = page;
}

/* false: not all of them are in the file. */
static bool read_file(struct image *image, uint64_t offset, void *bytes, size_t n)
{
	char *to = bytes;

	if (offset > image->file_size || n > image->file_size - offset)
		return false;
	while (n) {
		const struct image_page *page = page_at(image, offset / PAGE_BYTES);
		size_t from = offset % PAGE_BYTES;
		size_t part = n < PAGE_BYTES - from ? n : PAGE_BYTES - from;

		if (from + part > page->size)
			return false;
		memcpy(to, page->bytes + from, part);
		to += part;
		offset += part;
		n -= part;
	}
	return true;
}

static const struct image_segment *segment_of(const struct image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_segments; i++)
		if (vaddr - image->segments[i].vaddr < image->segments[i].size)
			return &image->segments[i];
	return NULL;
}

bool image_read(struct image *image, uint64_t vaddr, void *bytes, size_t n)
{
	const struct image_segment *segment = segment_of(image, vaddr);
	uint64_t within;
	size_t there;

	if (!segment)
		return false;
	within = vaddr - segment->vaddr;
	there = n < segment->size - within ? n : (size_t)(segment->size - within);
	memset((char *)bytes + there, 0, n - there);
	return read_file(image, segment->offset + within, bytes, there);
}

bool image_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr)
{
	const struct image_segment *found = NULL;

	for (size_t i = 0; i < image->n_segments; i++) {
		const struct image_segment *segment = &image->segments[i];

		if (offset - segment->offset < segment->size && (!found || segment->executable))
			found = segment;
	}
	if (!found)
		return false;
	*vaddr = offset - found->offset + found->vaddr;
	return true;
}

/* Bytes of a value by its DW_EH_PE_ format; 0: none, or without a fixed size. */
static unsigned encoded_size(uint8_t encoding)
{
	static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };

	return encoding == 0xff ? 0 : sizes[encoding & 15];
}

static void take_search_table(struct image *image, const Elf64_Phdr *header)
{
	uint8_t hdr[HDR_BYTES + 16];
	unsigned pointer, count_size, before;
	uint64_t count = 0;

	if (header->p_filesz < HDR_BYTES || !image_read(image, header->p_vaddr, hdr, sizeof(hdr)) ||
	    hdr[0] != 1 || hdr[3] != TABLE_SDATA4_DATAREL)
		return;
	pointer = encoded_size(hdr[1]);
	count_size = encoded_size(hdr[2]);
	before = HDR_BYTES + pointer + count_size;
	if (!pointer || !count_size || header->p_filesz < before)
		return;
	memcpy(&count, hdr + HDR_BYTES + pointer, count_size);
	if (count > (header->p_filesz - before) / FDE_ENTRY_BYTES)
		count = (header->p_filesz - before) / FDE_ENTRY_BYTES;
	image->hdr_vaddr = header->p_vaddr;
	image->table_vaddr = header->p_vaddr + before;
	image->n_fdes = count;
}

static void take_segment(struct image *image, const Elf64_Phdr *header)
{
	struct image_segment *segment = &image->segments[image->n_segments];
	uint64_t end = header->p_vaddr + header->p_filesz;

	if (!header->p_filesz || end < header->p_vaddr ||
	    header->p_offset + header->p_filesz < header->p_offset)
		return;
	*segment = (struct image_segment){ .vaddr = header->p_vaddr,
					   .offset = header->p_offset,
					   .size = header->p_filesz,
					   .executable = header->p_flags & PF_X };
	if (!image->n_segments || header->p_vaddr < image->start)
		image->start = header->p_vaddr;
	if (!image->n_segments || end > image->end)
		image->end = end;
	image->n_segments++;
}

static bool read_headers(struct image *image, uint16_t machine)
{
	Elf64_Ehdr elf;
	Elf64_Phdr header, eh_frame = { 0 };
	size_t n;

	if (!read_file(image, 0, &elf, sizeof(elf)) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf.e_machine != machine || elf.e_phentsize != sizeof(header) || !elf.e_phnum)
		return false;
	image->entry = elf.e_entry;
	n = elf.e_phnum < SEGMENTS_MAX ? elf.e_phnum : SEGMENTS_MAX;
	image->segments = xcalloc(n, sizeof(*image->segments));
	for (size_t i = 0; i < n; i++) {
		if (elf.e_phoff > image->file_size ||
		    !read_file(image, elf.e_phoff + i * sizeof(header), &header, sizeof(header)))
			return false;
		if (header.p_type == PT_LOAD)
			take_segment(image, &header);
		else if (header.p_type == PT_GNU_EH_FRAME)
			eh_frame = header;
	}
	if (eh_frame.p_type)
		take_search_table(image, &eh_frame);
	return image->n_segments;
}

struct image *image_open(const char *path, uint16_t machine)
{
	struct str ignored = STR_INIT;
	struct image *image;
	struct stat st;
	int fd = foreign_open(path, NULL, &st, &ignored);

	str_release(&ignored);
	if (fd < 0)
		return NULL;
	close(fd);
	image = xcalloc(1, sizeof(*image));
	image->path = xstrdup(path);
	image->device = st.st_dev;
	image->inode = st.st_ino;
	image->file_size = (uint64_t)st.st_size;
	if (read_headers(image, machine))
		return image;
	image_free(image);
	return NULL;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->n_pages; i++)
		free(image->pages[i]);
	free(image->pages);
	index_release(&image->page_index);
	free(image->segments);
	free(image->path);
	free(image);
}
