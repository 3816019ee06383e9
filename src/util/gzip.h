/* SPDX-License-Identifier: MIT */
/*
 * gzip.h: bytes -> a gzip file (RFC 1952), piece by piece. zlib packs them; it is loaded when it is needed. Where it is
 * not installed the file is as valid, and as long as what is in it.
 */
#ifndef PSTAT_UTIL_GZIP_H
#define PSTAT_UTIL_GZIP_H

#include <stddef.h>

struct str;
struct gzip;

struct zlib_stream { /* z_stream of zlib.h, for those who load libz.so.1 */
	const void *next_in;
	unsigned avail_in;
	unsigned long total_in;
	void *next_out;
	unsigned avail_out;
	unsigned long total_out;
	const char *msg;
	void *state;
	void *alloc, *free, *opaque;
	int data_type;
	unsigned long adler, reserved;
};

enum { GZIP_FAST = 1 }; /* a level of zlib, 1 to 9 */
/* Never NULL. Where zlib can't be used, why says so in a sentence. */
struct gzip *gzip_new(int level, struct str *why);
void gzip_free(struct gzip *gzip); /* NULL is fine */
/* Packs n bytes; those that are ready by now are appended to packed. */
void gzip_add(struct gzip *gzip, const void *bytes, size_t n, struct str *packed);
/* The rest, and the end of the file. */
void gzip_end(struct gzip *gzip, struct str *packed);

/* Can zlib be loaded? 0, or a negative errno with a sentence. */
int gzip_try(struct str *err);

#endif
