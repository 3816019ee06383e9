/* SPDX-License-Identifier: MIT */
/*
 * bytes.h: walking over bytes that cannot be trusted. A cursor never passes its end: a read beyond
 * it gives 0 and sets `bad`, so that a decoder checks once, after its last read. `swap` means
 * bytes of the other byte order; alignment is never assumed.
 *
 * pstat runs on little-endian machines; swapped files are therefore big-endian ones, whose
 * bit-fields are laid out from the other end (see bits_from_big).
 */
#ifndef PSTAT_DATA_BYTES_H
#define PSTAT_DATA_BYTES_H

#include "util/util.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bit-fields are read as little-endian");

struct cursor {
	const uint8_t *p, *end;
	bool swap, bad;
};

/*
 * Field by field: of an initializer gcc makes a word of zeros, a byte stored into it and a load of the word, for which
 * the CPU has to wait; and this is once per record.
 */
static inline struct cursor cursor_on(const void *bytes, size_t n, bool swap)
{
	struct cursor c;

	c.p = bytes;
	c.end = c.p + n;
	c.swap = swap;
	c.bad = false;
	return c;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* The next n bytes, or NULL. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (n > cursor_left(c)) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint16_t load_u16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load_u32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 2);

	return p ? load_u16(p, c->swap) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);

	return p ? load_u32(p, c->swap) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 8);

	return p ? load_u64(p, c->swap) : 0;
}

/* A text that ends in NUL before the cursor's end; NULL and bad where it does not. */
static inline const char *cursor_text(struct cursor *c)
{
	const uint8_t *nul = memchr(c->p, 0, cursor_left(c));

	if (!nul) {
		c->bad = true;
		return NULL;
	}
	return (const char *)cursor_bytes(c, (size_t)(nul - c->p) + 1);
}

/* ---- writing: native byte order, appended to a struct str ---- */
static inline void put_u16(struct str *out, uint16_t v)
{
	str_addn(out, (const char *)&v, sizeof(v));
}

static inline void put_u32(struct str *out, uint32_t v)
{
	str_addn(out, (const char *)&v, sizeof(v));
}

static inline void put_u64(struct str *out, uint64_t v)
{
	str_addn(out, (const char *)&v, sizeof(v));
}

static inline size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Text, its NUL, and zeros up to a multiple of `to` bytes counted from `start` in out. */
static inline void put_text(struct str *out, size_t start, const char *text, size_t to)
{
	str_addn(out, text, strlen(text) + 1);
	str_pad(out, '\0', round_up(out->len - start, to) - (out->len - start));
}

/*
 * A word of bit-fields from a big-endian machine, which allocates them from the highest bit down, as
 * a little-endian one has it. widths: of the fields in order, ended by 0, up to 64 together.
 */
static inline uint64_t bits_from_big(uint64_t word, const uint8_t *widths)
{
	uint64_t out = 0;
	unsigned at = 0;

	for (; *widths && at + *widths <= 64; widths++) {
		uint64_t field = word << at >> (64 - *widths);

		out |= field << at;
		at += *widths;
	}
	return out;
}

#endif
