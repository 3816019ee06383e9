/* SPDX-License-Identifier: MIT */
/*
 * zstd.c: libzstd.so.1 by dlopen. Its stable interface is small enough to be declared here, so that neither
 * building nor starting pstat needs it: a table of the functions' names and places, filled on first use.
 *
 * Source: zstd.h of zstd 1.4.0 and later (ZSTDLIB_API, stable part).
 */
#include "util/util.h"

#include <errno.h>
#include <stdlib.h>

struct zstd_buffer_in { /* ZSTD_inBuffer */
	const void *src;
	size_t size, pos;
};
struct zstd_buffer_out { /* ZSTD_outBuffer */
	void *dst;
	size_t size, pos;
};
/* ZSTD_c_compressionLevel, ZSTD_e_flush, ZSTD_reset_session_only */
enum { ZSTD_LEVEL = 100, ZSTD_FLUSH = 1, ZSTD_RESET_SESSION = 1 };

struct zstd_library {
	void *handle;
	void *(*new_in)(void);
	size_t (*free_in)(void *);
	size_t (*unpack)(void *, struct zstd_buffer_out *, struct zstd_buffer_in *);
	void *(*new_out)(void);
	size_t (*free_out)(void *);
	size_t (*set)(void *, int, int);
	size_t (*reset)(void *, int);
	size_t (*pack)(void *, struct zstd_buffer_out *, struct zstd_buffer_in *, int);
	unsigned (*is_error)(size_t);
	const char *(*error_name)(size_t);
};

struct zstd_in {
	struct zstd_library lib;
	void *stream;
	bool within; /* a frame that has not ended */
};

struct zstd_out {
	struct zstd_library lib;
	void *stream;
};

#define SYMBOL(name, member)                                                                       \
	{                                                                                          \
		name, offsetof(struct zstd_library, member)                                        \
	}
static const struct library_symbol symbols[] = {
	SYMBOL("ZSTD_createDStream", new_in),    SYMBOL("ZSTD_freeDStream", free_in),
	SYMBOL("ZSTD_decompressStream", unpack), SYMBOL("ZSTD_createCCtx", new_out),
	SYMBOL("ZSTD_freeCCtx", free_out),       SYMBOL("ZSTD_CCtx_setParameter", set),
	SYMBOL("ZSTD_CCtx_reset", reset),        SYMBOL("ZSTD_compressStream2", pack),
	SYMBOL("ZSTD_isError", is_error),        SYMBOL("ZSTD_getErrorName", error_name),
};

static int zstd_load(struct zstd_library *lib, struct str *err)
{
	lib->handle = library_load("libzstd.so.1", symbols, ARRAY_SIZE(symbols), lib, err);
	return lib->handle ? 0 : -ENOSYS;
}

static void zstd_unload(struct zstd_library *lib)
{
	if (lib->handle)
		library_unload(lib->handle);
}

int zstd_in_new(struct zstd_in **in, struct str *err)
{
	int rc;

	*in = xcalloc(1, sizeof(**in));
	rc = zstd_load(&(*in)->lib, err);
	if (!rc) {
		(*in)->stream = (*in)->lib.new_in();
		if (!(*in)->stream)
			rc = fail(err, -ENOMEM, "zstd: out of memory");
	}
	if (rc) {
		zstd_in_free(*in);
		*in = NULL;
	}
	return rc;
}

void zstd_in_free(struct zstd_in *in)
{
	if (!in)
		return;
	if (in->stream)
		in->lib.free_in(in->stream);
	zstd_unload(&in->lib);
	free(in);
}

int64_t zstd_in_take(struct zstd_in *in, const uint8_t **bytes, size_t *n, void *room,
		     size_t room_bytes, struct str *err)
{
	struct zstd_buffer_in from = { *bytes, *n, 0 };
	struct zstd_buffer_out to = { room, room_bytes, 0 };
	size_t rc = in->lib.unpack(in->stream, &to, &from);

	if (in->lib.is_error(rc))
		return fail(err, -EINVAL, "zstd: %s", in->lib.error_name(rc));
	in->within = rc;
	*bytes += from.pos;
	*n -= from.pos;
	return (int64_t)to.pos;
}

bool zstd_in_whole(const struct zstd_in *in)
{
	return !in->within;
}

int zstd_out_new(struct zstd_out **out, int level, struct str *err)
{
	struct zstd_out *o = xcalloc(1, sizeof(*o));
	int rc = zstd_load(&o->lib, err);

	*out = NULL;
	if (!rc) {
		o->stream = o->lib.new_out();
		if (!o->stream)
			rc = fail(err, -ENOMEM, "zstd: out of memory");
	}
	if (!rc && o->lib.is_error(o->lib.set(o->stream, ZSTD_LEVEL, level)))
		rc = fail(err, -EINVAL, "zstd: level %d is not possible", level);
	if (rc)
		zstd_out_free(o);
	else
		*out = o;
	return rc;
}

void zstd_out_free(struct zstd_out *out)
{
	if (!out)
		return;
	if (out->stream)
		out->lib.free_out(out->stream);
	zstd_unload(&out->lib);
	free(out);
}

int zstd_out_add(struct zstd_out *out, const void *bytes, size_t n, struct str *packed,
		 struct str *err)
{
	struct zstd_buffer_in from = { bytes, n, 0 };
	char chunk[16384];
	size_t rc;

	do {
		struct zstd_buffer_out to = { chunk, sizeof(chunk), 0 };

		rc = out->lib.pack(out->stream, &to, &from, ZSTD_FLUSH);
		if (out->lib.is_error(rc))
			return fail(err, -EIO, "zstd: %s", out->lib.error_name(rc));
		str_addn(packed, chunk, to.pos);
	} while (rc); /* 0: all is flushed */
	return 0;
}

void zstd_out_pad(struct str *packed, size_t multiple)
{
	while (packed->len % multiple)
		str_pad(packed, '\0', 3);
}

/* The end of a frame whose packer is elsewhere: a block that is the last (bit 0), raw and empty (RFC 8878, 3.1.1.2). */
void zstd_out_restart(struct zstd_out *out, bool within, struct str *packed)
{
	if (within)
		str_addn(packed, "\1\0\0", 3);
	out->lib.reset(out->stream, ZSTD_RESET_SESSION);
}
