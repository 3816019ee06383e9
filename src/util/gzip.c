/* SPDX-License-Identifier: MIT */
/*
 * gzip.c: libz.so.1 by dlopen. Its interface is small and has been stable for decades, so it is declared here, and
 * neither building nor starting pstat needs it.
 *
 * Without it blocks are stored (RFC 1951, 3.2.4), of which any reader of gzip makes the same bytes:
 *
 *	1f 8b 08 00, time 0 (4 bytes), 00 ff
 *	00, length (2), its complement (2), bytes; ...; 01 00 00 ff ff
 *	CRC-32, size (4 each)
 *
 * Sources: RFC 1951, RFC 1952; zlib.h of zlib 1.2 (z_stream, deflate).
 */
#include "util/util.h"

#include <errno.h>
#include <stdlib.h>

/* Z_NO_FLUSH, Z_FINISH; Z_OK; Z_DEFLATED; MAX_WBITS, and 16 more: a gzip file */
enum { ZLIB_MORE = 0, ZLIB_FINISH = 4, ZLIB_OK = 0, ZLIB_DEFLATED = 8, ZLIB_GZIP = 15 + 16, ZLIB_MEMORY = 8 };

struct zlib_library {
	int (*init)(struct zlib_stream *, int level, int method, int bits, int memory, int strategy,
		    const char *version, int size);
	int (*pack)(struct zlib_stream *, int flush);
	int (*end)(struct zlib_stream *);
};

struct gzip {
	void *handle; /* NULL: blocks are stored */
	struct zlib_library lib;
	struct zlib_stream stream;
	bool begun;
	uint32_t crc_table[256], crc, n_bytes; /* of what is stored; the number as the format has it, of 32 bits */
};

#define SYMBOL(name, member)                                                                       \
	{                                                                                          \
		name, offsetof(struct zlib_library, member)                                        \
	}
static const struct library_symbol symbols[] = {
	SYMBOL("deflateInit2_", init),
	SYMBOL("deflate", pack),
	SYMBOL("deflateEnd", end),
};

int gzip_try(struct str *err)
{
	struct zlib_library lib;
	void *handle = library_load("libz.so.1", symbols, ARRAY_SIZE(symbols), &lib, err);

	if (!handle)
		return -ENOENT;
	library_unload(handle);
	return 0;
}

static void make_crc_table(struct gzip *gzip)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(gzip->crc_table); i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		gzip->crc_table[i] = crc;
	}
}

struct gzip *gzip_new(int level, struct str *why)
{
	struct gzip *gzip = xcalloc(1, sizeof(*gzip));

	gzip->handle = library_load("libz.so.1", symbols, ARRAY_SIZE(symbols), &gzip->lib, why);
	if (gzip->handle && gzip->lib.init(&gzip->stream, level, ZLIB_DEFLATED, ZLIB_GZIP, ZLIB_MEMORY, 0, "1.2.11",
					   sizeof(gzip->stream)) != ZLIB_OK) {
		str_add(why, "zlib: it can't begin");
		library_unload(gzip->handle);
		gzip->handle = NULL;
	}
	if (!gzip->handle)
		make_crc_table(gzip);
	return gzip;
}

void gzip_free(struct gzip *gzip)
{
	if (gzip && gzip->handle) {
		gzip->lib.end(&gzip->stream);
		library_unload(gzip->handle);
	}
	free(gzip);
}

/* ---- with zlib ---- */

static void pack(struct gzip *gzip, const void *bytes, size_t n, int flush, struct str *packed)
{
	char room[16384];
	int code = ZLIB_OK;

	gzip->stream.next_in = bytes;
	gzip->stream.avail_in = (unsigned)n;
	do {
		gzip->stream.next_out = room;
		gzip->stream.avail_out = sizeof(room);
		code = gzip->lib.pack(&gzip->stream, flush);
		str_addn(packed, room, sizeof(room) - gzip->stream.avail_out);
	} while (code == ZLIB_OK && (gzip->stream.avail_in || !gzip->stream.avail_out || flush == ZLIB_FINISH));
}

/* ---- without ---- */

static void add_le(struct str *out, uint32_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		str_addc(out, (char)(value >> 8 * i));
}

static void store(struct gzip *gzip, const uint8_t *bytes, size_t n, struct str *packed)
{
	if (!gzip->begun)
		str_addn(packed, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	gzip->begun = true;
	gzip->crc = ~gzip->crc;
	for (size_t i = 0; i < n; i++)
		gzip->crc = gzip->crc_table[(gzip->crc ^ bytes[i]) & 0xff] ^ gzip->crc >> 8;
	gzip->crc = ~gzip->crc;
	gzip->n_bytes += (uint32_t)n;
	while (n) {
		uint32_t block = n < UINT16_MAX ? (uint32_t)n : UINT16_MAX;

		str_addc(packed, '\0');
		add_le(packed, block, 2);
		add_le(packed, ~block, 2);
		str_addn(packed, (const char *)bytes, block);
		bytes += block;
		n -= block;
	}
}

/* ---- contract ---- */

void gzip_add(struct gzip *gzip, const void *bytes, size_t n, struct str *packed)
{
	const char *at = bytes;

	if (!gzip->handle) {
		store(gzip, bytes, n, packed);
		return;
	}
	for (size_t part; n; n -= part, at += part) {
		part = n < (1U << 30) ? n : 1U << 30; /* its counts are of 32 bits */
		pack(gzip, at, part, ZLIB_MORE, packed);
	}
}

void gzip_end(struct gzip *gzip, struct str *packed)
{
	if (gzip->handle) {
		pack(gzip, "", 0, ZLIB_FINISH, packed);
		return;
	}
	store(gzip, NULL, 0, packed);
	str_addn(packed, "\1\0\0\xff\xff", 5);
	add_le(packed, gzip->crc, 4);
	add_le(packed, gzip->n_bytes, 4);
}
