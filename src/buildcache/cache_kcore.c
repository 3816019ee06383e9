/* SPDX-License-Identifier: MIT */
/*
 * cache_kcore: copies of the running kernel's own code, see buildcache.h.
 *
 *	/proc/kcore, kallsyms, modules --> [kernel.kcore]/ID/.MOMENT.PID.new --as they were?--> [kernel.kcore]/ID/MOMENT
 *
 * A folder is made beside its place and renamed, so that there is a whole one or none. Copying takes a while, in which
 * modules may come and go: then the copy is of no moment, and is given up.
 *
 * kcore is as large as memory can be, and its code is some 30 MB of that: the kernel's own from _stext to _etext, what
 * /proc/modules says of modules, and the pages of what kallsyms has in brackets besides (BPF programs, trampolines).
 * What is written is an ELF core file with nothing but these as its segments, at their addresses:
 *
 *	kallsyms, modules --> ranges of addresses --in segments of kcore--> pieces --> segments of the copy
 *
 * Sources: proc(5); fs/proc/kcore.c of Linux for the layout; elf(5).
 */
#include "buildcache/cache_internal.h"

#include "elf/elf.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	TEXT_BYTES_MAX = 256 << 20,
	PIECE_BYTES = 64 << 10,
	CHUNK_BYTES = 1 << 18,
	PAGE_BYTES = 4096,
	SEGMENTS_MAX = 4096, /* of kcore; each node of memory is one */
	PIECES_MAX = 32768, /* e_phnum has 16 bits */
	MOMENT_DIGITS = 16,
	FOLDER_MODE = 0700,
	FILE_MODE = 0600,
};

#define CODE_BYTES_MAX ((uint64_t)1 << 30)

enum { KCORE, KALLSYMS, MODULES, N_FILES };
static const char *const names[N_FILES] = { [KCORE] = "kcore", [KALLSYMS] = "kallsyms", [MODULES] = "modules" };

struct kcore_texts { /* of the same moment; whole files, ended by NUL */
	const char *kallsyms, *modules;
};

struct kcore_range {
	uint64_t start, end;
};
struct kcore_ranges {
	struct kcore_range *v;
	size_t n, cap;
};

/* ---- what is code ---- */

static void add_range(struct kcore_ranges *ranges, uint64_t start, uint64_t end)
{
	start &= ~(uint64_t)(PAGE_BYTES - 1);
	end = (end + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	if (start >= end)
		return;
	VEC_GROW(ranges->v, ranges->n, ranges->cap);
	ranges->v[ranges->n++] = (struct kcore_range){ start, end };
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

static void find_code(const struct kcore_texts *texts, struct kcore_ranges *ranges)
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
	const struct kcore_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void join_ranges(struct kcore_ranges *ranges)
{
	size_t n = 0;

	if (ranges->n)
		qsort(ranges->v, ranges->n, sizeof(*ranges->v), by_start);
	for (size_t i = 0; i < ranges->n; i++) {
		struct kcore_range *last = n ? &ranges->v[n - 1] : NULL;

		if (!last || ranges->v[i].start > last->end)
			ranges->v[n++] = ranges->v[i];
		else if (ranges->v[i].end > last->end)
			last->end = ranges->v[i].end;
	}
	ranges->n = n;
}

/* ---- where kcore has it ---- */

struct kcore_pieces {
	Elf64_Phdr *v; /* p_offset: in kcore */
	size_t n, cap;
	uint64_t bytes;
};

static void cut(const Elf64_Phdr *segment, const struct kcore_ranges *ranges, struct kcore_pieces *pieces)
{
	uint64_t end = segment->p_vaddr + segment->p_filesz;

	for (size_t i = 0; i < ranges->n && pieces->n < PIECES_MAX; i++) {
		const struct kcore_range *range = &ranges->v[i];
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

static int find_pieces(int fd, const struct kcore_ranges *ranges, Elf64_Ehdr *head, struct kcore_pieces *pieces,
		       struct str *err)
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
		return fail(err, -EINVAL, "it lacks the code that kallsyms and modules list");
	if (pieces->bytes > CODE_BYTES_MAX)
		return fail(err, -EFBIG, "the code that kallsyms and modules list is larger than 1 GiB");
	return 0;
}

/* ---- the copy ---- */

static int write_heads(int to, const Elf64_Ehdr *from, const struct kcore_pieces *pieces, uint64_t *offset,
		       struct str *err)
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

/*
 * Writes the copy from the beginning of `to`. -EINVAL with a clause: not a core file of 64 bits, or no code in it;
 * -EFBIG: more than 1 GiB; -ECANCELED; others of reading and writing.
 */
static int copy_code(int from, int to, const struct kcore_texts *texts, const struct interrupt *interrupt,
		     struct str *err)
{
	struct kcore_ranges ranges = { 0 };
	struct kcore_pieces pieces = { 0 };
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

/* Do both have the kernel and the same modules at the same addresses? */
static bool texts_agree(const struct kcore_texts *a, const struct kcore_texts *b)
{
	return start_of(a->kallsyms) == start_of(b->kallsyms) && has_modules_of(a->modules, b->modules) &&
	       has_modules_of(b->modules, a->modules);
}

/* ---- texts ---- */

static int read_text(int fd, struct str *out)
{
	char *piece = xmalloc(PIECE_BYTES);
	ssize_t got;
	int rc = 0;

	/* Files of /proc are made while they are read, from their beginning on. */
	while ((got = read(fd, piece, PIECE_BYTES)) > 0 && out->len < TEXT_BYTES_MAX)
		str_addn(out, piece, (size_t)got);
	if (got)
		rc = got < 0 ? -errno : -EFBIG;
	free(piece);
	return rc;
}

/* "FOLDER/NAME"; of a kernel without modules there is no such file. */
static int read_beside(const char *folder, int file, struct str *out, struct str *err)
{
	const struct foreign_options options = { .kernel_file = true };
	char *path = xasprintf("%s/%s", folder, names[file]);
	struct str why = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, &options, &st, &why);
	int rc = fd < 0 ? fd : read_text(fd, out);

	if (fd >= 0)
		close(fd);
	if (rc == -ENOENT && file == MODULES)
		rc = 0;
	else if (rc)
		fail(err, rc, "%s: %s", path, why.len ? why.s : strerror(-rc));
	str_release(&why);
	free(path);
	return rc;
}

/* ---- one copy in the cache ---- */

static bool is_moment(const char *name)
{
	return strlen(name) == MOMENT_DIGITS && strspn(name, "0123456789") == MOMENT_DIGITS;
}

/* All three are there; what they take. */
static bool look_at(const struct build_cache *cache, int folder, struct cache_kcore *kcore)
{
	struct str ignored = STR_INIT;
	struct stat st;
	bool whole = true;

	kcore->bytes = 0;
	for (int i = 0; whole && i < N_FILES; i++) {
		int fd = cache_open_regular(cache, folder, names[i], &ignored);

		whole = fd >= 0 && !fstat(fd, &st);
		if (fd >= 0)
			close(fd);
		if (!whole)
			break;
		kcore->bytes += (uint64_t)st.st_blocks * 512;
		kcore->made_ns = timespec_ns(&st.st_mtim);
	}
	str_release(&ignored);
	return whole;
}

static int newest_first(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

static int each_of(struct build_cache *cache, const char *hex,
		   int (*each)(void *context, const struct cache_kcore *kcore), void *context)
{
	struct cache_kcore kcore = { .id = cache_id_of_hex(hex) };
	char *folder = xasprintf(CACHE_KCORE "/%s", hex);
	struct cache_names moments = { 0 };
	int rc = 0, fd = cache_descend(cache, folder, false);

	cache_names_read(&moments, fd, is_moment);
	if (moments.n)
		qsort(moments.v, moments.n, sizeof(*moments.v), newest_first);
	for (size_t i = 0; !rc && i < moments.n; i++) {
		char *below = xasprintf("%s/%s", folder, moments.v[i]);
		char *path = xasprintf("%s/%s", cache->dir, below);
		int copy = cache_descend(cache, below, false);

		kcore.moment = moments.v[i];
		kcore.path = path;
		if (copy >= 0 && look_at(cache, copy, &kcore))
			rc = each(context, &kcore);
		if (copy >= 0)
			close(copy);
		free(below);
		free(path);
	}
	cache_names_release(&moments);
	free(folder);
	return rc;
}

static bool is_id(const char *name)
{
	size_t n = strspn(name, "0123456789abcdef");

	return n && !name[n] && n % 2 == 0 && n < CACHE_HEX_BYTES;
}

int build_cache_each_kcore(struct build_cache *cache, const struct build_id *id,
			   int (*each)(void *context, const struct cache_kcore *kcore), void *context)
{
	struct cache_names ids = { 0 };
	char hex[CACHE_HEX_BYTES];
	int rc = 0;

	if (id)
		return cache_hex(id, hex) ? each_of(cache, hex, each, context) : 0;
	cache_names_read(&ids, cache_descend(cache, CACHE_KCORE, false), is_id);
	for (size_t i = 0; !rc && i < ids.n; i++)
		rc = each_of(cache, ids.v[i], each, context);
	cache_names_release(&ids);
	return rc;
}

/* ---- removed ---- */

/* Removes the files in the folder, then the folder itself. */
static int remove_folder(const struct build_cache *cache, const char *above, const char *name)
{
	char *path = xasprintf("%s/%s", above, name);
	int fd = cache_descend(cache, path, false), rc = fd < 0 ? fd : 0;

	for (int i = 0; !rc && i < N_FILES; i++)
		if (unlinkat(fd, names[i], 0) && errno != ENOENT)
			rc = -errno;
	if (fd >= 0)
		close(fd);
	if (!rc)
		cache_prune(cache, path);
	free(path);
	return rc;
}

int build_cache_remove_kcore(struct build_cache *cache, const struct cache_kcore *kcore, struct str *err)
{
	char hex[CACHE_HEX_BYTES], *above;
	int rc = -ENOENT;

	if (!cache_hex(&kcore->id, hex))
		return rc;
	above = xasprintf(CACHE_KCORE "/%s", hex);
	rc = remove_folder(cache, above, kcore->moment);
	free(above);
	return rc ? fail(err, rc, "%s: %s", kcore->path, strerror(-rc)) : 0;
}

/* ---- added ---- */

struct kcore_addition {
	struct build_cache *cache; /* NULL: the copy is not for a cache */
	const struct interrupt *interrupt;
	const char *path; /* of kcore */
	char *from; /* the folder that it is in */
	struct str kallsyms, modules;
	char hex[CACHE_HEX_BYTES];
	char *above; /* "[kernel.kcore]/ID" */
	char name[64]; /* of the folder that is being made */
	char *same; /* a copy that there is */
};

static int read_id(struct kcore_addition *add, struct build_id *id, struct str *err)
{
	char *path = xasprintf("%s/../sys/kernel/notes", add->from);
	struct str notes = STR_INIT;
	int rc = read_text_file(path, &notes);

	if (rc)
		fail(err, rc, "%s: %s", path, strerror(-rc));
	else if (!elf_build_id_of_notes(notes.s, notes.len, 4, id))
		rc = fail(err, -EINVAL, "%s: no build-id is in it", path);
	str_release(&notes);
	free(path);
	return rc;
}

static int find_same(void *context, const struct cache_kcore *kcore)
{
	struct kcore_addition *add = context;
	struct str kallsyms = STR_INIT, modules = STR_INIT, ignored = STR_INIT;
	bool same = !read_beside(kcore->path, KALLSYMS, &kallsyms, &ignored) &&
		    !read_beside(kcore->path, MODULES, &modules, &ignored) &&
		    texts_agree(&(struct kcore_texts){ add->kallsyms.s, add->modules.s },
				      &(struct kcore_texts){ kallsyms.s, modules.s });

	if (same)
		add->same = xstrdup(kcore->path);
	str_release(&kallsyms);
	str_release(&modules);
	str_release(&ignored);
	return same;
}

static int write_text(int folder, int file, const struct str *text, struct str *err)
{
	int fd = openat(folder, names[file], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	int rc = fd < 0 ? -errno : write_all(fd, text->s, text->len);

	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	return rc ? fail(err, rc, "%s: %s", names[file], strerror(-rc)) : 0;
}

static int write_kcore(const struct kcore_addition *add, int folder, struct str *err)
{
	const struct foreign_options options = { .kernel_file = true };
	const struct kcore_texts texts = { add->kallsyms.s, add->modules.s };
	struct str why = STR_INIT;
	struct stat st;
	int to = -1, rc, from = foreign_open(add->path, &options, &st, &why);

	if (from >= 0)
		to = openat(folder, names[KCORE], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (from < 0)
		rc = from;
	else if (to < 0)
		rc = fail(&why, -errno, "%s", strerror(errno));
	else
		rc = copy_code(from, to, &texts, add->interrupt, &why);
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) && !rc)
		rc = fail(&why, -errno, "%s", strerror(errno));
	if (rc)
		fail(err, rc, "%s: %s", add->path, why.s);
	str_release(&why);
	return rc;
}

/* Lists of the same moment as the code between them. */
static int check_unchanged(const struct kcore_addition *add, struct str *err)
{
	struct str kallsyms = STR_INIT, modules = STR_INIT;
	int rc = read_beside(add->from, KALLSYMS, &kallsyms, err);

	if (!rc)
		rc = read_beside(add->from, MODULES, &modules, err);
	if (!rc && !texts_agree(&(struct kcore_texts){ add->kallsyms.s, add->modules.s },
				      &(struct kcore_texts){ kallsyms.s, modules.s }))
		rc = fail(err, -ESTALE, "%s: modules came or went while it was copied", add->path);
	str_release(&kallsyms);
	str_release(&modules);
	return rc;
}

static int fill(const struct kcore_addition *add, int folder, struct str *err)
{
	int rc = write_kcore(add, folder, err);

	if (!rc)
		rc = write_text(folder, KALLSYMS, &add->kallsyms, err);
	if (!rc)
		rc = write_text(folder, MODULES, &add->modules, err);
	return rc ? rc : check_unchanged(add, err);
}

static void moment_now(char moment[MOMENT_DIGITS + 1])
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(moment, MOMENT_DIGITS + 1, "%Y%m%d%H%M%S", &tm);
	snprintf(moment + MOMENT_DIGITS - 2, 3, "%02u", (unsigned)(now.tv_nsec / 10000000) % 100);
}

/* Two of one moment: the later one takes a later one. */
static int put_in_place(const struct kcore_addition *add, int above, char **made, struct str *err)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	char moment[MOMENT_DIGITS + 1];
	int rc = -EEXIST;

	for (int i = 0; rc == -EEXIST && i < CACHE_RACES_MAX; i++) {
		if (i)
			nanosleep(&pause, NULL);
		moment_now(moment);
		rc = rename_new(above, add->name, above, moment);
	}
	if (!rc)
		*made = xasprintf("%s/%s/%s", add->cache->dir, add->above, moment);
	return rc ? fail(err, rc, "%s: %s", moment, strerror(-rc)) : 0;
}

static int make(struct kcore_addition *add, char **made, struct str *err)
{
	int rc, folder, above;

	snprintf(add->name, sizeof(add->name), ".%d.new", (int)getpid());
	remove_folder(add->cache, add->above, add->name); /* of a process that had this number before */
	above = cache_descend(add->cache, add->above, true);
	if (above < 0)
		return fail(err, above, "%s/%s: %s", add->cache->dir, add->above, strerror(-above));
	rc = mkdirat(above, add->name, FOLDER_MODE) && errno != EEXIST ? -errno : 0;
	folder = rc ? rc : cache_step(add->cache, above, add->name, false);
	rc = folder < 0 ? fail(err, folder, "%s", strerror(-folder)) : fill(add, folder, err);
	if (folder >= 0)
		close(folder);
	if (!rc)
		rc = put_in_place(add, above, made, err);
	close(above);
	if (rc)
		remove_folder(add->cache, add->above, add->name);
	return rc;
}

/* "/proc" of "/proc/kcore", "." of "kcore". */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

int build_cache_add_kcore(struct build_cache *cache, const char *path, char **made, struct str *err)
{
	struct kcore_addition add = {
		.cache = cache, .interrupt = &cache->interrupt, .path = path, .from = folder_of(path),
		.kallsyms = STR_INIT, .modules = STR_INIT,
	};
	struct build_id id = { 0 };
	int rc = read_id(&add, &id, err);

	*made = NULL;
	if (!rc)
		rc = read_beside(add.from, KALLSYMS, &add.kallsyms, err);
	if (!rc)
		rc = read_beside(add.from, MODULES, &add.modules, err);
	if (!rc && cache_hex(&id, add.hex)) {
		add.above = xasprintf(CACHE_KCORE "/%s", add.hex);
		if (build_cache_each_kcore(cache, &id, find_same, &add)) {
			*made = add.same;
			rc = fail(err, -EEXIST, "there is a copy of the same modules at the same addresses");
		} else {
			rc = make(&add, made, err);
		}
	}
	str_release(&add.kallsyms);
	str_release(&add.modules);
	free(add.above);
	free(add.from);
	return rc;
}

int kcore_copy(const char *path, const char *folder, const struct interrupt *interrupt, struct str *err)
{
	struct kcore_addition add = {
		.interrupt = interrupt, .path = path, .from = folder_of(path), .kallsyms = STR_INIT,
		.modules = STR_INIT,
	};
	int rc = read_beside(add.from, KALLSYMS, &add.kallsyms, err), fd = -1;

	if (!rc)
		rc = read_beside(add.from, MODULES, &add.modules, err);
	if (!rc && mkdir(folder, FOLDER_MODE))
		rc = fail(err, -errno, "%s: %s", folder, strerror(errno));
	if (!rc && (fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		rc = fail(err, -errno, "%s: %s", folder, strerror(errno));
	if (fd >= 0) {
		rc = fill(&add, fd, err);
		for (int i = 0; rc && i < N_FILES; i++)
			unlinkat(fd, names[i], 0);
		close(fd);
		if (rc)
			rmdir(folder);
	}
	str_release(&add.kallsyms);
	str_release(&add.modules);
	free(add.from);
	return rc;
}
