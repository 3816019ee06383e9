/* SPDX-License-Identifier: MIT */
/*
 * elf_unpack: files that are packed as a whole: kernel modules (.ko.xz, .ko.zst, .ko.gz) and the symbols in
 * .gnu_debugdata. What comes out is bounded, whatever the packed bytes say of themselves, and so is the memory
 * of each decoder. And sections that libelf can't unpack, of which the caller has bounded what they become.
 *
 *	bytes --first bytes--> packings[] --> unpacked bytes, at most ELF_UNPACKED_MAX
 *
 * Sources: the headers of zstd 1.4 and of zlib 1.2, whose stable interface is small enough to be declared
 * (util/gzip.h); RFC 1952 (gzip).
 */
#include "elf/elf_unpack.h"

#include <errno.h>
#include <stdlib.h>

#define LIBZ "libz.so.1"

enum { CHUNK_BYTES = 1 << 18, GZIP_WINDOW = 16 + 15, ZLIB_WINDOW = 15, Z_NO_FLUSH = 0, Z_OK = 0, Z_STREAM_END = 1 };

int elf_unpacked_take(struct str *out, size_t before, const char *chunk, size_t n, struct str *err)
{
	if (out->len - before + n > ELF_UNPACKED_MAX)
		return fail(err, -EFBIG, "it unpacks to more than 256 MiB");
	str_addn(out, chunk, n);
	return 0;
}

/* ---- zstd ---- */

static int zstd_all(struct zstd_in *in, const uint8_t *bytes, size_t n, char *chunk, struct str *out,
		    struct str *err)
{
	const size_t before = out->len;
	int64_t got;
	int rc;

	do {
		struct str why = STR_INIT;

		got = zstd_in_take(in, &bytes, &n, chunk, CHUNK_BYTES, &why);
		str_release(&why);
		if (got < 0)
			return fail(err, -EINVAL, "its zstd data is cut or damaged");
		rc = elf_unpacked_take(out, before, chunk, (size_t)got, err);
		if (rc)
			return rc;
	} while (n || got == CHUNK_BYTES);
	return zstd_in_whole(in) ? 0 : fail(err, -EINVAL, "its zstd data is cut or damaged");
}

static int zstd_unpack(const void *bytes, size_t n, struct str *out, struct str *err)
{
	struct str why = STR_INIT;
	struct zstd_in *in;
	int rc = zstd_in_new(&in, &why);
	char *chunk;

	if (rc)
		fail(err, rc, "packed with zstd: %s", why.s);
	str_release(&why);
	if (rc)
		return rc;
	chunk = xmalloc(CHUNK_BYTES);
	rc = zstd_all(in, bytes, n, chunk, out, err);
	free(chunk);
	zstd_in_free(in);
	return rc;
}

void *elf_unpack_zstd(const void *bytes, size_t packed, size_t n, struct str *err)
{
	const uint8_t *from = bytes;
	size_t at = 0;
	struct zstd_in *in;
	uint8_t *room;
	int64_t got = 1;

	if (zstd_in_new(&in, err))
		return NULL;
	room = xmalloc(n ? n : 1);
	while (got > 0 && at < n && packed) {
		got = zstd_in_take(in, &from, &packed, room + at, n - at, err);
		at += got > 0 ? (size_t)got : 0;
	}
	zstd_in_free(in);
	if (at == n)
		return room;
	free(room);
	return NULL;
}

/* ---- gzip, zlib ---- */

struct libz {
	int (*begin)(struct zlib_stream *stream, int window, const char *version, int bytes);
	int (*step)(struct zlib_stream *stream, int flush);
	int (*reset)(struct zlib_stream *stream);
	int (*end)(struct zlib_stream *stream);
};

/* The library, to be closed, with a stream that was begun; NULL with a sentence: it can't be had. */
static void *libz_begin(struct libz *lib, struct zlib_stream *stream, int window, struct str *err)
{
	static const struct library_symbol symbols[] = {
		{ "inflateInit2_", offsetof(struct libz, begin) },
		{ "inflate", offsetof(struct libz, step) },
		{ "inflateReset", offsetof(struct libz, reset) },
		{ "inflateEnd", offsetof(struct libz, end) },
	};
	void *handle = library_load(LIBZ, symbols, ARRAY_SIZE(symbols), lib, err);

	if (handle && lib->begin(stream, window, "1", (int)sizeof(*stream)) != Z_OK) {
		fail(err, 0, LIBZ " is of another version");
		library_unload(handle);
		handle = NULL;
	}
	return handle;
}

static int gzip_all(const struct libz *lib, struct zlib_stream *stream, char *chunk, struct str *out,
		    struct str *err)
{
	const size_t before = out->len;
	int state = Z_OK, rc;

	while (state == Z_OK) {
		stream->next_out = chunk;
		stream->avail_out = CHUNK_BYTES;
		state = lib->step(stream, Z_NO_FLUSH);
		rc = elf_unpacked_take(out, before, chunk, CHUNK_BYTES - stream->avail_out, err);
		if (rc)
			return rc;
	}
	return state == Z_STREAM_END ? 0 : fail(err, -EINVAL, "its gzip data is cut or damaged");
}

static int gzip_unpack(const void *bytes, size_t n, struct str *out, struct str *err)
{
	struct zlib_stream stream = { .next_in = bytes, .avail_in = (unsigned)n };
	struct str why = STR_INIT;
	struct libz lib;
	void *handle = libz_begin(&lib, &stream, GZIP_WINDOW, &why);
	char *chunk;
	int rc;

	if (!handle)
		fail(err, 0, "packed with gzip: %s", why.s);
	str_release(&why);
	if (!handle)
		return -ENOSYS;
	chunk = xmalloc(CHUNK_BYTES);
	rc = gzip_all(&lib, &stream, chunk, out, err);
	lib.end(&stream);
	free(chunk);
	library_unload(handle);
	return rc;
}

/* Several streams may follow one another, where parts that were packed were put together. */
static bool zlib_all(const struct libz *lib, struct zlib_stream *stream)
{
	while (lib->step(stream, Z_NO_FLUSH) == Z_STREAM_END && stream->avail_in && stream->avail_out)
		if (lib->reset(stream) != Z_OK)
			return false;
	return !stream->avail_out;
}

void *elf_unpack_zlib(const void *bytes, size_t packed, size_t n, struct str *err)
{
	struct zlib_stream stream = { .next_in = bytes, .avail_in = (unsigned)packed, .avail_out = (unsigned)n };
	struct libz lib;
	void *handle = packed <= UINT32_MAX && n <= UINT32_MAX ? libz_begin(&lib, &stream, ZLIB_WINDOW, err) : NULL;
	uint8_t *room;
	bool whole;

	if (!handle)
		return NULL;
	stream.next_out = room = xmalloc(n ? n : 1);
	whole = zlib_all(&lib, &stream);
	lib.end(&stream);
	library_unload(handle);
	if (whole)
		return room;
	free(room);
	return NULL;
}

/* ---- which ---- */

/*
 * To add a kind that modules come in: how it begins, and what unpacks it; a case in test_elf_unpack.c.
 */
static const struct elf_packing {
	uint8_t magic_bytes;
	uint8_t magic[ELF_PACKING_BYTES];
	int (*unpack)(const void *bytes, size_t n, struct str *out, struct str *err);
} packings[] = {
	{ 6, { 0xfd, '7', 'z', 'X', 'Z', 0 }, elf_xz_unpack },
	{ 4, { 0x28, 0xb5, 0x2f, 0xfd }, zstd_unpack },
	{ 2, { 0x1f, 0x8b }, gzip_unpack },
};

static const struct elf_packing *packing_of(const uint8_t *start)
{
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++)
		if (!memcmp(start, packings[i].magic, packings[i].magic_bytes))
			return &packings[i];
	return NULL;
}

bool elf_is_packed(const uint8_t *start)
{
	return packing_of(start);
}

int elf_unpack(const void *bytes, size_t n, struct str *out, struct str *err)
{
	uint8_t start[ELF_PACKING_BYTES] = { 0 };
	const struct elf_packing *packing;

	memcpy(start, bytes, n < sizeof(start) ? n : sizeof(start));
	packing = packing_of(start);
	if (!packing)
		return fail(err, -EINVAL, "packed in a way that is not known");
	return packing->unpack(bytes, n, out, err);
}
