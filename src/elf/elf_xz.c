/* SPDX-License-Identifier: MIT */
/*
 * elf_xz: .xz bytes unpacked with liblzma, which is loaded when it is first needed. What comes out is bounded,
 * and so is the decoder's own memory: packed bytes may claim anything.
 *
 * Source: base.h and container.h of liblzma 5.
 */
#include "elf/elf.h"
#include "elf/elf_unpack.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#define LIBLZMA "liblzma.so.5"

enum { CHUNK_BYTES = 1 << 18 };

#define LIBLZMA_FUNCTIONS(FN) FN(lzma_stream_decoder) FN(lzma_code) FN(lzma_end)

struct liblzma {
	bool loaded;
#define MEMBER(name) __typeof__(name) *name;
	LIBLZMA_FUNCTIONS(MEMBER)
#undef MEMBER
};

static const struct liblzma *liblzma_load(struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct liblzma, name) },
		LIBLZMA_FUNCTIONS(ROW)
#undef ROW
	};
	static struct liblzma lib;

	if (!lib.loaded)
		lib.loaded = library_load(LIBLZMA, symbols, ARRAY_SIZE(symbols), &lib, err);
	return lib.loaded ? &lib : NULL;
}

int elf_xz_try(struct str *err)
{
	return liblzma_load(err) ? 0 : -ENOENT;
}

static int unpack(const struct liblzma *lib, lzma_stream *stream, char *chunk, struct str *out,
		  struct str *err)
{
	size_t before = out->len;
	lzma_ret state = lib->lzma_stream_decoder(stream, ELF_UNPACKED_MAX, LZMA_CONCATENATED);

	while (state == LZMA_OK) {
		int rc;

		stream->next_out = (uint8_t *)chunk;
		stream->avail_out = CHUNK_BYTES;
		state = lib->lzma_code(stream, LZMA_FINISH);
		rc = elf_unpacked_take(out, before, chunk, CHUNK_BYTES - stream->avail_out, err);
		if (rc)
			return rc;
	}
	if (state == LZMA_STREAM_END)
		return 0;
	if (state == LZMA_MEM_ERROR || state == LZMA_MEMLIMIT_ERROR)
		return fail(err, -ENOMEM, "unpacking it needs more than 256 MiB of memory");
	return fail(err, -EINVAL, "its xz data is cut or damaged");
}

int elf_xz_unpack(const void *bytes, size_t n, struct str *out, struct str *err)
{
	const struct liblzma *lib = liblzma_load(err);
	lzma_stream stream = LZMA_STREAM_INIT;
	char *chunk;
	int rc;

	if (!lib)
		return -ENOSYS;
	chunk = xmalloc(CHUNK_BYTES);
	stream.next_in = bytes;
	stream.avail_in = n;
	rc = unpack(lib, &stream, chunk, out, err);
	lib->lzma_end(&stream);
	free(chunk);
	return rc;
}
