/* SPDX-License-Identifier: MIT */
/*
 * elf_file: the ELF files of a session, each opened once, however many ask for it: who looks for it, who reads its
 * symbols, its bounds, its DWARF, its unwind tables.
 *
 *	path --index--> struct elf_file: headers, always
 *	                    |-- Elf of libelf, sections       while it is held
 *	                    |-- unpacked contents             while it is held; of the last packed file also afterwards
 *	                    |-- pages of its bytes            once they were asked for
 *	                    `-- descriptor                    until OPEN_MAX_FILES others were used since
 *
 * A recording can have more files than a process may have open, so descriptors come and go; a file that is opened
 * again must be the same. Bytes are read in pieces as they are asked for: of a file of 1 GB the headers and symbols are
 * read, and one that is cut meanwhile gives an error, not SIGBUS. Only regular files are opened, so that no path of a
 * recording makes a device or a fifo do something. A kernel module may be packed: it is unpacked into memory first.
 *
 * Maps, for debug sections of hundreds of megabytes of which a few bytes are looked at, have two dangers that reading
 * has not. The file may become shorter: see file_map.h. And it may change while its bytes are believed: so only one
 * that nobody but this user and root can write to is mapped. What is written to a map stays in this process.
 *
 * Sources: elf(5); ELF specification.
 */
#include "elf/elf_internal.h"
#include "elf/elf_unpack.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	OPEN_MAX_FILES = 128, /* descriptors */
	PAGE_BYTES = 16384,
	SEGMENTS_MAX = 1 << 16, /* program headers looked at */
	LOADS_MAX = 256, /* of them kept: each look-up goes over all; linkers make about five */
	PACKED_BYTES_MAX = 256 << 20,
};

struct elf_files {
	struct index by_path;
	struct elf_file **v;
	size_t n, cap;
	size_t n_open; /* descriptors */
	uint64_t time; /* counts uses */
	struct elf_file *unpacked; /* the last packed one, or NULL */
};

/* ---- descriptors ---- */

static int open_descriptor(const char *path, struct stat *st, struct str *err)
{
	const struct foreign_options options = {
		.bytes_max = foreign_root_bytes(path) ? ELF_FOREIGN_BYTES_MAX : 0,
	};

	return foreign_open(path, &options, st, err);
}

static void close_descriptor(struct elf_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	if (file->files)
		file->files->n_open--;
}

/* Room for one more: the descriptor that was not used for longest goes, of those that nobody holds. */
static void make_room(struct elf_files *files)
{
	struct elf_file *oldest = NULL;

	if (files->n_open < OPEN_MAX_FILES)
		return;
	for (size_t i = 0; i < files->n; i++) {
		struct elf_file *file = files->v[i];

		if (file->fd >= 0 && !file->holders && (!oldest || file->used < oldest->used))
			oldest = file;
	}
	if (oldest)
		close_descriptor(oldest);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The file's descriptor, opened anew where it was closed for others; negative with a sentence. */
static int descriptor_of(struct elf_file *file, struct str *err)
{
	struct stat st;
	int fd;

	if (file->files)
		file->used = ++file->files->time;
	if (file->fd >= 0)
		return file->fd;
	if (!file->files)
		return fail(err, -EBADF, "it is in memory");
	make_room(file->files);
	fd = open_descriptor(file->path, &st, err);
	if (fd < 0)
		return fd;
	if (!is_same(&st, &file->stat)) {
		close(fd);
		return fail(err, -ESTALE, "replaced while it was read");
	}
	file->files->n_open++;
	return file->fd = fd;
}

/* ---- bytes: read in pages that are kept, since who unwinds asks for a few again and again ---- */

struct elf_page {
	uint64_t number;
	size_t size; /* bytes that could be read; short at the file's end */
	uint8_t bytes[PAGE_BYTES];
};

struct elf_pages {
	struct index by_number;
	struct elf_page **v;
	size_t n, cap;
	struct elf_page *last;
};

static void pages_free(struct elf_pages *pages)
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

static struct elf_page *read_page(struct elf_file *file, uint64_t number)
{
	struct elf_page *page = xmalloc(sizeof(*page));
	struct str ignored = STR_INIT;
	int fd = descriptor_of(file, &ignored);

	str_release(&ignored);
	page->number = number;
	page->size = fd < 0 ? 0 : read_all(fd, page->bytes, PAGE_BYTES, number * PAGE_BYTES);
	return page;
}

static struct elf_page *page_at(struct elf_file *file, uint64_t number)
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
		const struct elf_page *page = page_at(file, offset / PAGE_BYTES);
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

/* ---- bytes: mapped ---- */

static bool is_ours_alone(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

char *elf_map(int fd, size_t *bytes)
{
	struct stat st;

	if (fstat(fd, &st) || !is_ours_alone(&st) || st.st_size <= 0 || (uint64_t)st.st_size > SIZE_MAX / 2)
		return NULL;
	*bytes = (size_t)st.st_size;
	return file_map(fd, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
}

void elf_unmap(char *start, size_t bytes)
{
	file_unmap(start, bytes);
}

void elf_view_forget(const void *from, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from;
	size_t skip = (page - start % page) % page;

	if (!file_map_has(start) || bytes < skip + page)
		return;
	bytes = (bytes - skip) / page * page;
	madvise((char *)(start + skip), bytes, MADV_DONTNEED);
}

/* ---- one file ---- */

static void read_segments(struct elf_file *file)
{
	size_t cap = 0;

	for (int i = 0; i < SEGMENTS_MAX && file->n_segments < LOADS_MAX; i++) {
		struct elf_segment segment;
		GElf_Phdr header;

		if (!libelf()->gelf_getphdr(file->elf, i, &header))
			return;
		segment = (struct elf_segment){
			.offset = header.p_offset,
			.vaddr = header.p_vaddr,
			.file_size = header.p_filesz,
			.mem_size = header.p_memsz,
			.align = header.p_align,
			.executable = header.p_flags & PF_X,
			.writable = header.p_flags & PF_W,
		};
		if (header.p_type == PT_GNU_EH_FRAME)
			file->eh_frame_hdr = segment;
		if (header.p_type != PT_LOAD)
			continue;
		VEC_GROW(file->segments, file->n_segments, cap);
		file->segments[file->n_segments++] = segment;
	}
}

/*
 * Makes segments of the sections that are loaded, for files without program headers: perf inject (until 6.0) left these
 * out of the files that it makes of code made at run time.
 */
static void read_segments_of_sections(struct elf_file *file)
{
	struct elf_section section = { 0 };
	size_t cap = 0;

	while (file->n_segments < LOADS_MAX && elf_section_next(file, &section)) {
		const Elf64_Shdr *header = &section.header;
		struct elf_segment segment = {
			.offset = header->sh_offset,
			.vaddr = header->sh_addr,
			.file_size = header->sh_type == SHT_NOBITS ? 0 : header->sh_size,
			.mem_size = header->sh_size,
			.align = header->sh_addralign,
			.executable = header->sh_flags & SHF_EXECINSTR,
			.writable = header->sh_flags & SHF_WRITE,
		};

		if (!(header->sh_flags & SHF_ALLOC))
			continue;
		if (!strcmp(section.name, ".eh_frame_hdr"))
			file->eh_frame_hdr = segment;
		VEC_GROW(file->segments, file->n_segments, cap);
		file->segments[file->n_segments++] = segment;
	}
}

static int read_headers(struct elf_file *file, struct str *err)
{
	const bool native_is_little = BYTE_ORDER == LITTLE_ENDIAN;
	GElf_Ehdr header;

	if (!file->elf || libelf()->elf_kind(file->elf) != ELF_K_ELF ||
	    !libelf()->gelf_getehdr(file->elf, &header))
		return fail(err, -ENOEXEC, "not an ELF file");
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN && header.e_type != ET_REL)
		return fail(err, -ENOEXEC, "an ELF file, but not a program, library or module");
	file->machine = header.e_machine;
	file->entry = header.e_entry;
	file->is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
	file->swapped = (header.e_ident[EI_DATA] == ELFDATA2LSB) != native_is_little;
	file->relocatable = header.e_type == ET_REL;
	if (header.e_phnum || file->relocatable)
		read_segments(file);
	else
		read_segments_of_sections(file);
	elf_file_read_build_id(file);
	return 0;
}

/* All of a packed file; files of this kind are small. */
static int read_packed(int fd, off_t bytes, struct str *packed, struct str *err)
{
	char chunk[16384];
	ssize_t got = 1;

	if (bytes > PACKED_BYTES_MAX)
		return fail(err, -EFBIG, "packed, and larger than 256 MiB");
	for (off_t at = 0; got > 0 && at < bytes; at += got) {
		got = pread(fd, chunk, sizeof(chunk), at);
		if (got > 0)
			str_addn(packed, chunk, (size_t)got);
	}
	return got < 0 ? fail(err, -errno, "%s", strerror(errno)) : 0;
}

/* The file is what was packed: it stays in memory. */
static int begin_packed(struct elf_file *file, const void *bytes, size_t n, struct str *err)
{
	struct str unpacked = STR_INIT;
	int rc = elf_unpack(bytes, n, &unpacked, err);

	if (!rc) {
		file->unpacked_bytes = unpacked.len;
		file->unpacked = str_detach(&unpacked);
	}
	str_release(&unpacked);
	return rc;
}

/* Unpacks what libelf is to read, if the file is packed. */
static int find_contents(struct elf_file *file, struct str *err)
{
	uint8_t start[ELF_PACKING_BYTES] = { 0 };
	ssize_t got = pread(file->fd, start, sizeof(start), 0);
	struct str packed = STR_INIT;
	int rc;

	if (got < 0)
		return fail(err, -errno, "%s", strerror(errno));
	if (!elf_is_packed(start))
		return 0;
	rc = read_packed(file->fd, file->stat.st_size, &packed, err);
	if (!rc)
		rc = begin_packed(file, packed.s, packed.len, err);
	str_release(&packed);
	return rc;
}

/* Sets file->elf, where it is not: unpacks what is packed. The descriptor is open. */
static int begin(struct elf_file *file, struct str *err)
{
	int rc = file->unpacked || file->elf ? 0 : find_contents(file, err);

	if (rc || file->elf)
		return rc;
	if (file->unpacked)
		file->elf = libelf()->elf_memory(file->unpacked, file->unpacked_bytes);
	else
		file->elf = libelf()->elf_begin(file->fd, ELF_C_READ, NULL);
	file->unpack_left = elf_unpack_budget(file->unpacked ? file->unpacked_bytes :
							       (uint64_t)file->stat.st_size);
	return 0;
}

/* Gives back what libelf keeps of it. */
static void end(struct elf_file *file)
{
	if (file->elf)
		libelf()->elf_end(file->elf);
	file->elf = NULL;
	for (size_t i = 0; i < file->n_sections_unpacked; i++)
		free(file->sections_unpacked[i].bytes);
	free(file->sections_unpacked);
	file->sections_unpacked = NULL;
	file->n_sections_unpacked = file->cap_sections_unpacked = 0;
}

int elf_file_open(struct elf_file *file, const char *path, struct str *err)
{
	int rc;

	*file = (struct elf_file){ .fd = -1 };
	if (!libelf_load(err))
		return -ENOSYS;
	rc = open_descriptor(path, &file->stat, err);
	if (rc < 0)
		return rc;
	file->fd = rc;
	file->path = xstrdup(path);
	rc = begin(file, err);
	if (!rc)
		rc = read_headers(file, err);
	if (rc)
		elf_file_close(file);
	return rc;
}

int elf_file_open_memory(struct elf_file *file, void *bytes, size_t n, const char *path,
			 struct str *err)
{
	int rc;

	*file = (struct elf_file){ .fd = -1, .unpack_left = elf_unpack_budget(n) };
	if (!libelf_load(err))
		return -ENOSYS;
	file->path = xstrdup(path);
	file->elf = libelf()->elf_memory(bytes, n);
	rc = read_headers(file, err);
	if (rc)
		elf_file_close(file);
	return rc;
}

bool elf_build_id_of_file(int fd, struct build_id *id)
{
	struct elf_file file = { .fd = fd };
	struct str ignored = STR_INIT;
	bool found = !fstat(fd, &file.stat) && !find_contents(&file, &ignored);

	if (found && file.unpacked)
		found = elf_build_id_of_image(file.unpacked, file.unpacked_bytes, id);
	else if (found)
		found = elf_build_id_of_fd(fd, id);
	free(file.unpacked);
	str_release(&ignored);
	return found;
}

int elf_file_open_minidebug(struct elf_file *file, struct elf_file *inner, struct str *err)
{
	size_t n;
	const void *packed = elf_file_section(file, ".gnu_debugdata", &n);
	int rc;

	*inner = (struct elf_file){ .fd = -1 };
	if (!packed)
		return 0;
	inner->path = xstrdup(file->path);
	rc = begin_packed(inner, packed, n, err);
	if (!rc)
		rc = begin(inner, err);
	if (!rc)
		rc = read_headers(inner, err);
	if (rc)
		elf_file_close(inner);
	return rc ? rc : 1;
}

static void add_identity(const struct stat *st, struct str *line)
{
	str_addf(line, "%llx %llx %llu %lld.%09ld %lld.%09ld\n", (unsigned long long)st->st_dev,
		 (unsigned long long)st->st_ino, (unsigned long long)st->st_size, (long long)st->st_mtim.tv_sec,
		 st->st_mtim.tv_nsec, (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

void elf_file_identity(const struct elf_file *file, struct str *line)
{
	add_identity(&file->stat, line);
}

int elf_path_identity(const char *path, struct str *line)
{
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = open_descriptor(path, &st, &ignored);

	if (fd >= 0) {
		add_identity(&st, line);
		close(fd);
	}
	str_release(&ignored);
	return fd < 0 ? fd : 0;
}

void elf_file_close(struct elf_file *file)
{
	end(file);
	pages_free(file->pages);
	if (file->fd >= 0)
		close(file->fd);
	free(file->unpacked);
	elf_unmap(file->mapped, file->mapped_bytes);
	free(file->path);
	free(file->segments);
	*file = (struct elf_file){ .fd = -1 };
}

/* ---- questions ---- */

bool elf_file_is_emptied(const struct elf_file *file)
{
	struct elf_section section = { 0 };
	bool emptied = false;

	while (elf_section_next(file, &section)) {
		const Elf64_Shdr *header = &section.header;

		if (!(header->sh_flags & SHF_ALLOC) || !(header->sh_flags & SHF_EXECINSTR) || !header->sh_size)
			continue;
		if (header->sh_type != SHT_NOBITS)
			return false;
		emptied = true;
	}
	return emptied;
}

bool elf_is_emptied(int fd)
{
	struct elf_file file = { .fd = fd };
	struct str ignored = STR_INIT;
	bool emptied = libelf_load(&ignored) && !fstat(fd, &file.stat) && !begin(&file, &ignored) &&
		       elf_file_is_emptied(&file);

	end(&file);
	free(file.unpacked);
	str_release(&ignored);
	return emptied;
}

/* ---- many files ---- */

struct elf_files *elf_files_new(void)
{
	return xcalloc(1, sizeof(struct elf_files));
}

void elf_files_free(struct elf_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++) {
		elf_file_close(files->v[i]);
		free(files->v[i]);
	}
	free(files->v);
	index_release(&files->by_path);
	free(files);
}

static void drop_unpacked(struct elf_file *file)
{
	free(file->unpacked);
	file->unpacked = NULL;
}

/* The contents of one packed file stay, since who looks for a file often reads it next. */
static void keep_unpacked(struct elf_files *files, struct elf_file *file)
{
	struct elf_file *before = files->unpacked;

	if (!file->unpacked || before == file)
		return;
	if (before && !before->holders)
		drop_unpacked(before);
	files->unpacked = file;
}

int elf_file_hold(struct elf_file *file, struct str *err)
{
	int rc = descriptor_of(file, err);

	if (rc >= 0)
		rc = begin(file, err);
	if (rc < 0)
		return rc;
	file->holders++;
	if (file->files)
		keep_unpacked(file->files, file);
	return 0;
}

void elf_file_let_go(struct elf_file *file)
{
	if (--file->holders)
		return;
	if (!file->files) {
		elf_file_close(file);
		free(file);
		return;
	}
	end(file);
	if (file->unpacked && file->files->unpacked != file)
		drop_unpacked(file);
}

static struct elf_file *known(const struct elf_files *files, const char *path, uint64_t hash)
{
	uint32_t i;

	if (INDEX_FIND(&files->by_path, hash, i, !strcmp(files->v[i]->path, path)))
		return files->v[i];
	return NULL;
}

static void add(struct elf_files *files, struct elf_file *file, uint64_t hash)
{
	file->files = files;
	file->used = ++files->time;
	files->n_open++;
	index_add(&files->by_path, hash, (uint32_t)files->n);
	VEC_GROW(files->v, files->n, files->cap);
	files->v[files->n++] = file;
	keep_unpacked(files, file);
}

int elf_files_open(struct elf_files *files, const char *path, struct elf_file **file, struct str *err)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	struct elf_file *found = files ? known(files, path, hash) : NULL;
	int rc;

	*file = found;
	if (found)
		return elf_file_hold(found, err);
	if (files)
		make_room(files);
	found = xmalloc(sizeof(*found));
	rc = elf_file_open(found, path, err);
	if (rc) {
		free(found);
		return rc;
	}
	found->holders = 1;
	if (files)
		add(files, found, hash);
	*file = found;
	return 0;
}
