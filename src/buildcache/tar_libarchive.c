/* SPDX-License-Identifier: MIT */
/*
 * tar by libarchive, which is loaded when an archive is first read or written; the only file that knows it.
 *
 * Of all that it can read nothing is asked for but tar, and the four packings that perf-archive and people use: each
 * format more is one more parser of hostile bytes. A packing within a packing, which nobody makes but to have
 * little become much, is refused.
 *
 * Sources: archive_read(3), archive_write(3), archive_entry(3), libarchive 3.6.
 */
#include "buildcache/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>

#define LIBARCHIVE "libarchive.so.13"

enum { PIECE_BYTES = 64 << 10, MODE = 0600, FILTERS_MAX = 2 /* the packing, and the file itself */ };

#define LIBARCHIVE_READING(FN)                                                                        \
	FN(archive_read_new) FN(archive_read_free) FN(archive_read_support_format_tar)                  \
	FN(archive_read_support_filter_bzip2) FN(archive_read_support_filter_gzip)                      \
	FN(archive_read_support_filter_xz) FN(archive_read_support_filter_zstd)                         \
	FN(archive_read_open_fd) FN(archive_read_next_header) FN(archive_read_data_block)               \
	FN(archive_errno) FN(archive_error_string) FN(archive_filter_bytes)                             \
	FN(archive_filter_count) FN(archive_entry_pathname) FN(archive_entry_pathname_utf8)             \
	FN(archive_entry_filetype) FN(archive_entry_size) FN(archive_entry_symlink)                     \
	FN(archive_entry_symlink_utf8) FN(archive_entry_hardlink) FN(archive_entry_hardlink_utf8)
#define LIBARCHIVE_WRITING(FN)                                                                          \
	FN(archive_write_new) FN(archive_write_free) FN(archive_write_set_format_gnutar)                \
	FN(archive_write_add_filter_bzip2) FN(archive_write_add_filter_gzip)                            \
	FN(archive_write_add_filter_xz) FN(archive_write_add_filter_zstd)                               \
	FN(archive_write_add_filter_none) FN(archive_write_set_bytes_in_last_block)                     \
	FN(archive_write_open_fd) FN(archive_write_header) FN(archive_write_data)                       \
	FN(archive_write_close) FN(archive_write_fail) FN(archive_entry_new)                            \
	FN(archive_entry_clear) FN(archive_entry_free) FN(archive_entry_set_pathname)                   \
	FN(archive_entry_set_size)                                                                      \
	FN(archive_entry_set_filetype) FN(archive_entry_set_perm) FN(archive_entry_set_mtime)           \
	FN(archive_entry_set_symlink)

struct libarchive {
#define MEMBER(name) __typeof__(name) *name;
	LIBARCHIVE_READING(MEMBER)
	LIBARCHIVE_WRITING(MEMBER)
#undef MEMBER
};

static const struct libarchive *libarchive_load(struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct libarchive, name) },
		LIBARCHIVE_READING(ROW) LIBARCHIVE_WRITING(ROW)
#undef ROW
	};
	static struct str why = STR_INIT;
	static struct libarchive functions;
	static bool tried, loaded;

	if (!tried)
		loaded = library_load(LIBARCHIVE, symbols, ARRAY_SIZE(symbols), &functions, &why);
	tried = true;
	if (!loaded)
		str_add(err, why.s);
	return loaded ? &functions : NULL;
}

int tar_try(struct str *err)
{
	return libarchive_load(err) ? 0 : -ENOENT;
}

static int fail_of(const struct libarchive *lib, struct archive *archive, struct str *err)
{
	const char *why = lib->archive_error_string(archive);
	int code = lib->archive_errno(archive);

	str_add_printable(err, why ? why : "damaged", strlen(why ? why : "damaged"));
	return code > 0 ? -code : -EIO; /* its own codes, for damage, are negative where errno has none */
}

/* ---- reading ---- */

struct tar_reader {
	const struct libarchive *lib;
	struct archive *archive;
};

int tar_reader_open(struct tar_reader **out, int fd, struct str *err)
{
	const struct libarchive *lib = libarchive_load(err);
	struct tar_reader *reader;

	*out = NULL;
	if (!lib)
		return -ENOENT;
	reader = xcalloc(1, sizeof(*reader));
	reader->lib = lib;
	reader->archive = lib->archive_read_new();
	if (!reader->archive)
		memory_exhausted();
	lib->archive_read_support_format_tar(reader->archive);
	lib->archive_read_support_filter_bzip2(reader->archive);
	lib->archive_read_support_filter_gzip(reader->archive);
	lib->archive_read_support_filter_xz(reader->archive);
	lib->archive_read_support_filter_zstd(reader->archive);
	*out = reader;
	if (lib->archive_read_open_fd(reader->archive, fd, PIECE_BYTES) < ARCHIVE_WARN)
		return fail_of(lib, reader->archive, err);
	return 0;
}

void tar_reader_free(struct tar_reader *reader)
{
	if (reader)
		reader->lib->archive_read_free(reader->archive);
	free(reader);
}

/* A name in UTF-8 that the locale can't show is there as it is all the same. */
static const char *text_of(struct archive_entry *entry, const char *(*local)(struct archive_entry *entry),
			   const char *(*utf8)(struct archive_entry *entry))
{
	const char *text = local(entry);

	return text ? text : utf8(entry);
}

static enum tar_kind kind_of(const struct libarchive *lib, struct archive_entry *entry, const char **target)
{
	*target = text_of(entry, lib->archive_entry_hardlink, lib->archive_entry_hardlink_utf8);
	if (*target)
		return TAR_HARD_LINK;
	switch (lib->archive_entry_filetype(entry)) {
	case AE_IFREG:
		return TAR_FILE;
	case AE_IFDIR:
		return TAR_DIRECTORY;
	case AE_IFLNK:
		*target = text_of(entry, lib->archive_entry_symlink, lib->archive_entry_symlink_utf8);
		*target = *target ? *target : "";
		return TAR_LINK;
	default:
		return TAR_OTHER;
	}
}

int tar_reader_next(struct tar_reader *reader, struct tar_member *member, struct str *err)
{
	const struct libarchive *lib = reader->lib;
	struct archive_entry *entry;
	int rc = lib->archive_read_next_header(reader->archive, &entry);
	int64_t bytes;

	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc < ARCHIVE_WARN)
		return fail_of(lib, reader->archive, err);
	if (lib->archive_filter_count(reader->archive) > FILTERS_MAX)
		return fail(err, -EINVAL, "packed several times over");
	*member = (struct tar_member){
		.name = text_of(entry, lib->archive_entry_pathname, lib->archive_entry_pathname_utf8),
	};
	member->kind = kind_of(lib, entry, &member->target);
	member->name = member->name ? member->name : "";
	bytes = lib->archive_entry_size(entry);
	member->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	return 1;
}

int tar_reader_block(struct tar_reader *reader, struct tar_block *block, struct str *err)
{
	int64_t offset = 0;
	int rc = reader->lib->archive_read_data_block(reader->archive, &block->bytes, &block->n, &offset);

	block->offset = (uint64_t)offset;
	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc < ARCHIVE_WARN)
		return fail_of(reader->lib, reader->archive, err);
	if (offset < 0)
		return fail(err, -EINVAL, "damaged");
	return 1;
}

uint64_t tar_reader_packed_bytes(const struct tar_reader *reader)
{
	int64_t bytes = reader->lib->archive_filter_bytes(reader->archive, -1);

	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* ---- writing ---- */

/* By the end of the archive's name. To add one: a row, a test in archive.sh, a line in the manual. */
static const struct packing {
	const char *end;
	size_t function; /* in struct libarchive; all are called alike */
} packings[] = {
	{ ".tar.bz2", offsetof(struct libarchive, archive_write_add_filter_bzip2) },
	{ ".tar.zst", offsetof(struct libarchive, archive_write_add_filter_zstd) },
	{ ".tar.xz", offsetof(struct libarchive, archive_write_add_filter_xz) },
	{ ".tar.gz", offsetof(struct libarchive, archive_write_add_filter_gzip) },
	{ ".tar", offsetof(struct libarchive, archive_write_add_filter_none) },
};

static const struct packing *packing_of(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(packings); i++) {
		size_t n = strlen(packings[i].end);

		if (len > n && !strcmp(name + len - n, packings[i].end))
			return &packings[i];
	}
	return NULL;
}

void tar_add_packings(struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++)
		str_addf(out, "%s%s", i ? ", " : "", packings[i].end);
}

bool tar_packing_known(const char *name)
{
	return packing_of(name) != NULL;
}

struct tar_writer {
	const struct libarchive *lib;
	struct archive *archive;
	struct archive_entry *entry;
};

static int begin(struct tar_writer *writer, int fd, const struct packing *packing)
{
	const struct libarchive *lib = writer->lib;
	int (*filter)(struct archive *archive);

	memcpy(&filter, (const char *)lib + packing->function, sizeof(filter));
	/* GNU tar's own format has names as they are, of any length and in any encoding. */
	if (lib->archive_write_set_format_gnutar(writer->archive) < ARCHIVE_WARN ||
	    filter(writer->archive) < ARCHIVE_WARN)
		return -1;
	/* No zeros behind what is packed: bzip2 calls them garbage. */
	lib->archive_write_set_bytes_in_last_block(writer->archive, 1);
	return lib->archive_write_open_fd(writer->archive, fd) < ARCHIVE_WARN ? -1 : 0;
}

int tar_writer_open(struct tar_writer **out, int fd, const char *name, struct str *err)
{
	const struct packing *packing = packing_of(name);
	const struct libarchive *lib = libarchive_load(err);
	struct tar_writer *writer;

	*out = NULL;
	if (!lib)
		return -ENOENT;
	writer = *out = xcalloc(1, sizeof(*writer));
	writer->lib = lib;
	writer->archive = lib->archive_write_new();
	writer->entry = lib->archive_entry_new();
	if (!writer->archive || !writer->entry)
		memory_exhausted();
	return begin(writer, fd, packing ? packing : &packings[0]) ? fail_of(lib, writer->archive, err) : 0;
}

void tar_writer_free(struct tar_writer *writer)
{
	if (!writer)
		return;
	writer->lib->archive_entry_free(writer->entry);
	writer->lib->archive_write_free(writer->archive);
	free(writer);
}

static int put_header(struct tar_writer *writer, struct str *err)
{
	if (writer->lib->archive_write_header(writer->archive, writer->entry) < ARCHIVE_WARN)
		return fail_of(writer->lib, writer->archive, err);
	return 0;
}

int tar_writer_file(struct tar_writer *writer, const char *name, uint64_t n, int64_t written_s, struct str *err)
{
	const struct libarchive *lib = writer->lib;
	struct archive_entry *entry = writer->entry;

	if (n > INT64_MAX)
		return fail(err, -EFBIG, "too large");
	lib->archive_entry_clear(entry);
	lib->archive_entry_set_pathname(entry, name);
	lib->archive_entry_set_filetype(entry, AE_IFREG);
	lib->archive_entry_set_perm(entry, MODE);
	lib->archive_entry_set_size(entry, (int64_t)n);
	lib->archive_entry_set_mtime(entry, written_s, 0);
	return put_header(writer, err);
}

int tar_writer_add(struct tar_writer *writer, const void *bytes, size_t n, struct str *err)
{
	ssize_t written = writer->lib->archive_write_data(writer->archive, bytes, n);

	if (written < 0)
		return fail_of(writer->lib, writer->archive, err);
	return (size_t)written == n ? 0 : fail(err, -EFBIG, "more than was announced");
}

int tar_writer_link(struct tar_writer *writer, const char *name, const char *target, struct str *err)
{
	const struct libarchive *lib = writer->lib;
	struct archive_entry *entry = writer->entry;

	lib->archive_entry_clear(entry);
	lib->archive_entry_set_pathname(entry, name);
	lib->archive_entry_set_filetype(entry, AE_IFLNK);
	lib->archive_entry_set_perm(entry, 0777);
	lib->archive_entry_set_symlink(entry, target);
	return put_header(writer, err);
}

void tar_writer_stop(struct tar_writer *writer)
{
	writer->lib->archive_write_fail(writer->archive);
}

int tar_writer_end(struct tar_writer *writer, struct str *err)
{
	if (writer->lib->archive_write_close(writer->archive) < ARCHIVE_WARN)
		return fail_of(writer->lib, writer->archive, err);
	return 0;
}
