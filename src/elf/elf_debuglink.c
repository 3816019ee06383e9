/* SPDX-License-Identifier: MIT */
/*
 * elf_debuglink: the links by which a file names another one that has its debug information (.gnu_debuglink,
 * .gnu_debugaltlink); where the file is that .gnu_debuglink names, and whether one is it.
 *
 *	/usr/bin/x, x.debug --> /usr/bin/x.debug, /usr/bin/.debug/x.debug, /usr/lib/debug/usr/bin/x.debug
 *
 * The link has a checksum of all of the file, as files may have no build-id.
 *
 * Source: gdb manual, "Separate Debug Files".
 */
#include "elf/elf.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	CRC_STEP = 8,
	CRC_CHUNK_BYTES = 1 << 18,
	ALT_ID_BYTES_MIN = 2, /* of a build-id that another file is known by */
	ALT_ID_BYTES_MAX = 64,
};

/* ---- the links ---- */

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

/* ---- where it may be ---- */

/* Counts the bytes before a path's last '/'; 0: it has none. */
static int folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) : 0;
}

char *elf_debuglink_near(const char *path, const char *link, size_t i)
{
	static const char *const below[ELF_DEBUGLINK_NEAR] = { "", ".debug/" };

	if (i >= ELF_DEBUGLINK_NEAR)
		return NULL;
	if (!strchr(path, '/'))
		return xasprintf("%s%s", below[i], link);
	return xasprintf("%.*s/%s%s", folder_bytes(path), path, below[i], link);
}

char *elf_debuglink_below(const char *debug_dir, const char *path, const char *link)
{
	return path[0] == '/' ? xasprintf("%s%.*s/%s", debug_dir, folder_bytes(path), path, link) : NULL;
}

/* ---- its checksum: CRC-32 as in zlib, 8 bytes per step ---- */

static void crc_tables(uint32_t tables[CRC_STEP][256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		tables[0][i] = crc;
	}
	for (int step = 1; step < CRC_STEP; step++)
		for (uint32_t i = 0; i < 256; i++)
			tables[step][i] = tables[step - 1][i] >> 8 ^
					  tables[0][tables[step - 1][i] & 255];
}

static uint32_t crc_add(uint32_t tables[CRC_STEP][256], uint32_t crc, const uint8_t *bytes, size_t n)
{
	for (; n >= CRC_STEP; n -= CRC_STEP, bytes += CRC_STEP) {
		crc = tables[7][(crc ^ bytes[0]) & 255] ^
		      tables[6][(crc >> 8 ^ bytes[1]) & 255] ^
		      tables[5][(crc >> 16 ^ bytes[2]) & 255] ^
		      tables[4][(crc >> 24 ^ bytes[3]) & 255] ^ tables[3][bytes[4]] ^
		      tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
	}
	while (n--)
		crc = crc >> 8 ^ tables[0][(crc ^ *bytes++) & 255];
	return crc;
}

bool elf_debuglink_is(int fd, uint32_t expected, elf_progress_fn *progress, void *context)
{
	uint32_t tables[CRC_STEP][256];
	uint32_t crc = ~0u;
	uint8_t *chunk = xmalloc(CRC_CHUNK_BYTES);
	struct stat st;
	off_t at = 0;
	ssize_t got = 0;

	crc_tables(tables);
	if (!fstat(fd, &st))
		while (at < st.st_size && (got = pread(fd, chunk, CRC_CHUNK_BYTES, at)) > 0) {
			if (progress)
				progress(context, (uint64_t)at, (uint64_t)st.st_size);
			crc = crc_add(tables, crc, chunk, (size_t)got);
			at += got;
		}
	free(chunk);
	return got > 0 && ~crc == expected;
}
