/*
 * elf_file: one ELF file, open through libelf: what it is, where its segments and its build-id are.
 *
 * Files are read in pieces as they are asked for, not mapped: of a file of 1 GB the headers and symbols are
 * read, and one that is cut meanwhile gives an error, not SIGBUS. Only regular files are opened, so that no
 * path of a recording makes a device or a fifo do something.
 *
 * A kernel module may be packed: it is unpacked into memory first.
 *
 * Sources: elf(5); ELF specification, "Note Section"; gdb manual, "Separate Debug Files" (.gnu_debuglink).
 */
#include "elf/elf_internal.h"
#include "elf/elf_unpack.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	SEGMENTS_MAX = 1 << 16, /* program headers looked at */
	LOADS_MAX = 256, /* of them kept: each look-up goes over all; linkers make about five */
	PACKED_BYTES_MAX = 256 << 20,
	ALT_ID_BYTES_MIN = 2, /* of a build-id that another file is known by */
	ALT_ID_BYTES_MAX = 64,
};

/* ---- open and close ---- */

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
		return fail(err, -ENOEXEC, "an ELF file, but neither program, library nor module");
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

/* What libelf is to read: the file, or what was packed in it. */
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

int elf_file_begin(struct elf_file *file, struct str *err)
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

void elf_file_end(struct elf_file *file)
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

int elf_file_descriptor(const char *path, struct stat *st, struct str *err)
{
	const struct foreign_options options = {
		.bytes_max = foreign_root_bytes(path) ? ELF_FOREIGN_BYTES_MAX : 0,
	};

	return foreign_open(path, &options, st, err);
}

int elf_file_open(struct elf_file *file, const char *path, struct str *err)
{
	int rc;

	*file = (struct elf_file){ .fd = -1 };
	if (!libelf_load(err))
		return -ENOSYS;
	rc = elf_file_descriptor(path, &file->stat, err);
	if (rc < 0)
		return rc;
	file->fd = rc;
	file->path = xstrdup(path);
	rc = elf_file_begin(file, err);
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
		rc = elf_file_begin(inner, err);
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
	int fd = elf_file_descriptor(path, &st, &ignored);

	if (fd >= 0) {
		add_identity(&st, line);
		close(fd);
	}
	str_release(&ignored);
	return fd < 0 ? fd : 0;
}

void elf_file_close(struct elf_file *file)
{
	elf_file_end(file);
	elf_pages_free(file->pages);
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
	bool emptied = libelf_load(&ignored) && !fstat(fd, &file.stat) && !elf_file_begin(&file, &ignored) &&
		       elf_file_is_emptied(&file);

	elf_file_end(&file);
	free(file.unpacked);
	str_release(&ignored);
	return emptied;
}

/*
 * A part of the file may be mapped twice: code is meant then. Data that begins as zeros has no bytes in the
 * file; where it shares its segment's last page, it is mapped with the file all the same.
 */
bool elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr)
{
	const struct elf_segment *found = NULL, *zeros = NULL;

	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (offset < segment->offset)
			continue;
		if (offset - segment->offset < segment->file_size &&
		    (!found || (segment->executable && !found->executable)))
			found = segment;
		if (offset - segment->offset < segment->mem_size)
			zeros = segment;
	}
	found = found ? found : zeros;
	if (found)
		*vaddr = found->vaddr + (offset - found->offset);
	return found;
}

bool elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->file_size)
			continue;
		*offset = segment->offset + (vaddr - segment->vaddr);
		return true;
	}
	return false;
}

/* name, NUL, zeros up to a multiple of 4, crc in the file's byte order */
bool elf_file_debuglink(struct elf_file *file, struct str *name, uint32_t *crc)
{
	size_t n, len, at;
	const char *bytes = elf_file_section(file, ".gnu_debuglink", &n);

	if (!bytes)
		return false;
	len = strnlen(bytes, n);
	if (!len || len >= n || memchr(bytes, '/', len))
		return false;
	at = (len + 4) & ~(size_t)3;
	if (at > n || n - at < sizeof(*crc))
		return false;
	memcpy(crc, bytes + at, sizeof(*crc));
	if (file->swapped)
		*crc = __builtin_bswap32(*crc);
	str_addn(name, bytes, len);
	return true;
}

/* name, NUL, the build-id that the other file must have */
bool elf_file_debugaltlink(struct elf_file *file, struct str *name, struct build_id *id)
{
	size_t n, len;
	const char *bytes = elf_file_section(file, ".gnu_debugaltlink", &n);

	if (!bytes)
		return false;
	len = strnlen(bytes, n);
	if (!len || len >= n || n - len - 1 < ALT_ID_BYTES_MIN || n - len - 1 > ALT_ID_BYTES_MAX)
		return false;
	*id = (struct build_id){ .size = sizeof(id->bytes) };
	if (n - len - 1 < id->size)
		id->size = (uint8_t)(n - len - 1);
	memcpy(id->bytes, bytes + len + 1, id->size);
	str_addn(name, bytes, len);
	return true;
}
