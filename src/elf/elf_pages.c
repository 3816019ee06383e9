/*
 * elf_pages: the bytes of a file, read in pages that are kept: who unwinds asks for a few bytes again and again, and
 * a file of 1 GB costs what is looked at.
 */
#include "elf/elf_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAGE_BYTES = 16384 };

struct page {
	uint64_t number;
	size_t size; /* bytes that could be read; short at the file's end */
	uint8_t bytes[PAGE_BYTES];
};

struct elf_pages {
	struct index by_number;
	struct page **v;
	size_t n, cap;
	struct page *last;
};

void elf_pages_free(struct elf_pages *pages)
{
	if (!pages)
		return;
	for (size_t i = 0; i < pages->n; i++)
		free(pages->v[i]);
	free(pages->v);
	index_release(&pages->by_number);
	free(pages);
}

static size_t read_all(int fd, void *bytes, size_t n, uint64_t offset)
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

static struct page *read_page(struct elf_file *file, uint64_t number)
{
	struct page *page = xmalloc(sizeof(*page));
	struct str ignored = STR_INIT;
	int fd = elf_files_descriptor(file, &ignored);

	str_release(&ignored);
	page->number = number;
	page->size = fd < 0 ? 0 : read_all(fd, page->bytes, PAGE_BYTES, number * PAGE_BYTES);
	return page;
}

static struct page *page_at(struct elf_file *file, uint64_t number)
{
	struct elf_pages *pages = file->pages;
	uint64_t hash = hash_word(number);
	uint32_t i;

	if (!pages)
		pages = file->pages = xcalloc(1, sizeof(*pages));
	if (pages->last && pages->last->number == number)
		return pages->last;
	if (INDEX_FIND(&pages->by_number, hash, i, pages->v[i]->number == number))
		return pages->last = pages->v[i];
	pages->last = read_page(file, number);
	index_add(&pages->by_number, hash, (uint32_t)pages->n);
	VEC_GROW(pages->v, pages->n, pages->cap);
	return pages->v[pages->n++] = pages->last;
}

bool elf_file_read_at(struct elf_file *file, uint64_t offset, void *bytes, size_t n)
{
	uint64_t size = (uint64_t)file->stat.st_size;
	char *to = bytes;

	if (offset > size || n > size - offset)
		return false;
	while (n) {
		const struct page *page = page_at(file, offset / PAGE_BYTES);
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
