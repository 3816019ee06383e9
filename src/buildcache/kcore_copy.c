/*
 * kcore_copy.c: see kcore_copy.h.
 *
 *	kallsyms, modules --> ranges of addresses --in segments of kcore--> pieces --> segments of the copy
 */
#include "buildcache/kcore_copy.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	SEGMENTS_MAX = 4096, /* of kcore; each node of memory is one */
	PIECES_MAX = 32768, /* e_phnum has 16 bits */
	CHUNK_BYTES = 1 << 18,
};
#define CODE_BYTES_MAX ((uint64_t)1 << 30)

struct range {
	uint64_t start, end;
};
struct ranges {
	struct range *v;
	size_t n, cap;
};

/* ---- what is code ---- */

static void add_range(struct ranges *ranges, uint64_t start, uint64_t end)
{
	start &= ~(uint64_t)(PAGE_BYTES - 1);
	end = (end + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	if (start >= end)
		return;
	VEC_GROW(ranges->v, ranges->n, ranges->cap);
	ranges->v[ranges->n++] = (struct range){ start, end };
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* "ffffffff81000000 T _stext", "ffffffffc0200040 t ext4_fn\t[ext4]" */
struct list_line {
	uint64_t addr;
	char type;
	const char *name;
	size_t name_len;
	bool in_brackets;
};

static bool read_list_line(const char *line, struct list_line *out)
{
	char *at;

	out->addr = strtoull(line, &at, 16);
	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
		return false;
	out->type = at[1];
	out->name = at + 3;
	out->name_len = strcspn(out->name, "\t \n");
	out->in_brackets = out->name[out->name_len] == '\t' && out->name[out->name_len + 1] == '[';
	return true;
}

static bool is_named(const struct list_line *line, const char *name)
{
	return line->name_len == strlen(name) && !memcmp(line->name, name, line->name_len);
}

/* "ext4 1081344 1 - Live 0xffffffffc0201000" */
struct module_line {
	const char *name;
	size_t name_len;
	uint64_t size, addr;
};

static bool read_module_line(const char *line, struct module_line *out)
{
	const char *end = line + strcspn(line, "\n"), *hex = memmem(line, (size_t)(end - line), " 0x", 3);
	char *at;

	out->name = line;
	out->name_len = strcspn(line, " \n");
	out->size = strtoull(line + out->name_len, &at, 10);
	out->addr = hex ? strtoull(hex + 3, NULL, 16) : 0;
	return out->name_len && out->addr && at <= end;
}

static void find_code(const struct kcore_texts *texts, struct ranges *ranges)
{
	uint64_t first = 0, last = 0;
	struct module_line module;
	struct list_line symbol;

	for (const char *line = texts->kallsyms; *line; line = next_line(line)) {
		if (!read_list_line(line, &symbol))
			continue;
		if (symbol.in_brackets && (symbol.type == 't' || symbol.type == 'T'))
			add_range(ranges, symbol.addr, symbol.addr + PAGE_BYTES);
		else if (!first && is_named(&symbol, "_stext"))
			first = symbol.addr;
		else if (!last && is_named(&symbol, "_etext"))
			last = symbol.addr;
	}
	add_range(ranges, first, first ? last : 0);
	for (const char *line = texts->modules; *line; line = next_line(line))
		if (read_module_line(line, &module) && module.size <= CODE_BYTES_MAX)
			add_range(ranges, module.addr, module.addr + module.size);
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void join_ranges(struct ranges *ranges)
{
	size_t n = 0;

	if (ranges->n)
		qsort(ranges->v, ranges->n, sizeof(*ranges->v), by_start);
	for (size_t i = 0; i < ranges->n; i++) {
		struct range *last = n ? &ranges->v[n - 1] : NULL;

		if (!last || ranges->v[i].start > last->end)
			ranges->v[n++] = ranges->v[i];
		else if (ranges->v[i].end > last->end)
			last->end = ranges->v[i].end;
	}
	ranges->n = n;
}

/* ---- where kcore has it ---- */

struct pieces {
	Elf64_Phdr *v; /* p_offset: in kcore */
	size_t n, cap;
	uint64_t bytes;
};

static void cut(const Elf64_Phdr *segment, const struct ranges *ranges, struct pieces *pieces)
{
	uint64_t end = segment->p_vaddr + segment->p_filesz;

	for (size_t i = 0; i < ranges->n && pieces->n < PIECES_MAX; i++) {
		const struct range *range = &ranges->v[i];
		uint64_t from = range->start > segment->p_vaddr ? range->start : segment->p_vaddr;
		uint64_t to = range->end < end ? range->end : end;
		Elf64_Phdr piece = *segment;

		if (from >= to)
			continue;
		piece.p_vaddr = from;
		piece.p_paddr += piece.p_paddr ? from - segment->p_vaddr : 0;
		piece.p_offset += from - segment->p_vaddr;
		piece.p_filesz = piece.p_memsz = to - from;
		VEC_GROW(pieces->v, pieces->n, pieces->cap);
		pieces->v[pieces->n++] = piece;
		pieces->bytes += to - from;
	}
}

static bool read_whole(int fd, void *bytes, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, bytes, n, (off_t)at) == (ssize_t)n;
}

static int find_pieces(int fd, const struct ranges *ranges, Elf64_Ehdr *head, struct pieces *pieces, struct str *err)
{
	Elf64_Phdr segment;

	if (!read_whole(fd, head, sizeof(*head), 0) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_type != ET_CORE || head->e_phentsize != sizeof(segment))
		return fail(err, -EINVAL, "not a core file of a 64-bit kernel");
	for (unsigned i = 0; i < head->e_phnum && i < SEGMENTS_MAX; i++) {
		if (!read_whole(fd, &segment, sizeof(segment), head->e_phoff + i * sizeof(segment)))
			return fail(err, -EINVAL, "it ends in its table of segments");
		if (segment.p_type == PT_LOAD && segment.p_filesz <= UINT64_MAX - segment.p_vaddr)
			cut(&segment, ranges, pieces);
	}
	if (!pieces->n)
		return fail(err, -EINVAL, "it has nothing of the code that kallsyms and modules tell of");
	if (pieces->bytes > CODE_BYTES_MAX)
		return fail(err, -EFBIG, "what kallsyms and modules tell of as code is more than 1 GiB");
	return 0;
}

/* ---- the copy ---- */

static int write_heads(int to, const Elf64_Ehdr *from, const struct pieces *pieces, uint64_t *offset, struct str *err)
{
	Elf64_Ehdr head = *from;
	struct str bytes = STR_INIT;
	int rc;

	head.e_phoff = sizeof(head);
	head.e_phnum = (uint16_t)pieces->n;
	head.e_shoff = head.e_shnum = head.e_shstrndx = 0;
	str_addn(&bytes, (const char *)&head, sizeof(head));
	*offset = (sizeof(head) + pieces->n * sizeof(Elf64_Phdr) + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	for (uint64_t i = 0, at = *offset; i < pieces->n; i++) {
		Elf64_Phdr segment = pieces->v[i];

		segment.p_offset = at;
		segment.p_align = PAGE_BYTES;
		at += segment.p_filesz;
		str_addn(&bytes, (const char *)&segment, sizeof(segment));
	}
	str_pad(&bytes, '\0', *offset - bytes.len);
	rc = write_all(to, bytes.s, bytes.len);
	str_release(&bytes);
	return rc ? fail(err, rc, "%s", strerror(-rc)) : 0;
}

static int copy_piece(int from, int to, const Elf64_Phdr *piece, char *chunk, struct str *err)
{
	for (uint64_t done = 0; done < piece->p_filesz;) {
		uint64_t left = piece->p_filesz - done;
		size_t wanted = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
		ssize_t got = pread(from, chunk, wanted, (off_t)(piece->p_offset + done));
		int rc;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fail(err, got ? -errno : -EINVAL, "%s", got ? strerror(errno) : "it ends in the code");
		rc = write_all(to, chunk, (size_t)got);
		if (rc)
			return fail(err, rc, "%s", strerror(-rc));
		done += (uint64_t)got;
	}
	return 0;
}

int kcore_copy(int from, int to, const struct kcore_texts *texts, const struct interrupt *interrupt, struct str *err)
{
	struct ranges ranges = { 0 };
	struct pieces pieces = { 0 };
	char *chunk = xmalloc(CHUNK_BYTES);
	uint64_t offset;
	Elf64_Ehdr head;
	int rc;

	find_code(texts, &ranges);
	join_ranges(&ranges);
	rc = find_pieces(from, &ranges, &head, &pieces, err);
	if (!rc)
		rc = write_heads(to, &head, &pieces, &offset, err);
	for (size_t i = 0; !rc && i < pieces.n; i++)
		rc = interrupt_came(interrupt) ? fail(err, -ECANCELED, "interrupted") :
						 copy_piece(from, to, &pieces.v[i], chunk, err);
	free(ranges.v);
	free(pieces.v);
	free(chunk);
	return rc;
}

/* ---- two moments ---- */

static uint64_t start_of(const char *kallsyms)
{
	struct list_line symbol;

	for (const char *line = kallsyms; *line; line = next_line(line))
		if (read_list_line(line, &symbol) && !symbol.in_brackets && is_named(&symbol, "_stext"))
			return symbol.addr;
	return 0;
}

static bool has_module(const char *modules, const struct module_line *wanted)
{
	struct module_line module;

	for (const char *line = modules; *line; line = next_line(line))
		if (read_module_line(line, &module) && module.addr == wanted->addr &&
		    module.name_len == wanted->name_len && !memcmp(module.name, wanted->name, wanted->name_len))
			return true;
	return false;
}

static bool has_modules_of(const char *all, const char *modules)
{
	struct module_line module;

	for (const char *line = modules; *line; line = next_line(line))
		if (read_module_line(line, &module) && !has_module(all, &module))
			return false;
	return true;
}

bool kcore_texts_agree(const struct kcore_texts *a, const struct kcore_texts *b)
{
	return start_of(a->kallsyms) == start_of(b->kallsyms) && has_modules_of(a->modules, b->modules) &&
	       has_modules_of(b->modules, a->modules);
}
