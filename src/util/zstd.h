/* SPDX-License-Identifier: MIT */
/*
 * zstd.h: packing and unpacking through libzstd, which is loaded when a recording first needs it, so
 * that nothing else pays for it.
 *
 * One stream of each kind is one zstd stream over a whole file: the pieces given follow each other.
 */
#ifndef PSTAT_UTIL_ZSTD_H
#define PSTAT_UTIL_ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str;

struct zstd_in;
struct zstd_out;

/* -ENOSYS with a sentence where the library is not installed. */
int zstd_in_new(struct zstd_in **in, struct str *err);
void zstd_in_free(struct zstd_in *in); /* NULL is fine */
/*
 * Unpacks from *bytes (moved on, *n made smaller) into room; returns the bytes filled or a negative
 * errno. All that the input holds is out when *n is 0 and room was not filled.
 */
int64_t zstd_in_take(struct zstd_in *in, const uint8_t **bytes, size_t *n, void *room,
		     size_t room_bytes, struct str *err);

/* The bytes given so far end where a frame ends: nothing is missing after them. */
bool zstd_in_whole(const struct zstd_in *in);

/* level 1 .. 22 */
int zstd_out_new(struct zstd_out **out, int level, struct str *err);
void zstd_out_free(struct zstd_out *out);
/* Packs all bytes and flushes, so that what is packed can be unpacked at once; appended to packed. */
int zstd_out_add(struct zstd_out *out, const void *bytes, size_t n, struct str *packed,
		 struct str *err);
/*
 * Makes the bytes in packed, which end in what zstd_out_add gave, a multiple of so many (not of 3): zeros are blocks
 * that are not the last, raw and empty (RFC 8878, 3.1.1.2), of three bytes each.
 */
void zstd_out_pad(struct str *packed, size_t multiple);
/*
 * Begins a new frame, where the bytes that were packed last are not used. within: earlier bytes of the frame are; that
 * frame is then ended, in packed.
 */
void zstd_out_restart(struct zstd_out *out, bool within, struct str *packed);

#endif
