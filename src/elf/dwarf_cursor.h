/* SPDX-License-Identifier: MIT */
/*
 * dwarf_cursor: bytes of a DWARF section, read with every length checked. After the first read past the
 * end all reads give 0, and `bad` stays set: one test at the end of a loop is enough.
 */
#ifndef PSTAT_DWARF_CURSOR_H
#define PSTAT_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dwarf_cursor {
	const uint8_t *at, *end;
	bool swapped; /* the file is of the other byte order */
	bool bad;
};

static inline size_t cursor_left(const struct dwarf_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline void cursor_spoil(struct dwarf_cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->bad = true;
}

static inline void cursor_skip(struct dwarf_cursor *cursor, uint64_t bytes)
{
	if (bytes > cursor_left(cursor))
		cursor_spoil(cursor);
	else
		cursor->at += bytes;
}

static inline uint8_t cursor_u8(struct dwarf_cursor *cursor)
{
	if (cursor->at < cursor->end)
		return *cursor->at++;
	cursor->bad = true;
	return 0;
}

/* A number of 1 to 8 bytes. */
static inline uint64_t cursor_number(struct dwarf_cursor *cursor, unsigned bytes)
{
	uint64_t value = 0;

	if (bytes > sizeof(value) || bytes > cursor_left(cursor)) {
		cursor_spoil(cursor);
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++) {
		bool low_first = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != cursor->swapped;

		value |= (uint64_t)cursor->at[i] << 8 * (low_first ? i : bytes - 1 - i);
	}
	cursor->at += bytes;
	return value;
}

/* The bits of a number of either kind, those over 64 lost; how many there are; and the last byte. 0 where it is cut. */
static inline uint64_t cursor_leb(struct dwarf_cursor *cursor, unsigned *n_bits, uint8_t *last)
{
	uint64_t value = 0;

	*n_bits = 0;
	while (cursor->at < cursor->end) {
		*last = *cursor->at++;
		if (*n_bits < 64)
			value |= (uint64_t)(*last & 0x7f) << *n_bits;
		*n_bits += 7;
		if (!(*last & 0x80))
			return value;
	}
	cursor->bad = true;
	*last = 0;
	return 0;
}

static inline uint64_t cursor_uleb(struct dwarf_cursor *cursor)
{
	unsigned n_bits;
	uint8_t last;

	return cursor_leb(cursor, &n_bits, &last);
}

static inline int64_t cursor_sleb(struct dwarf_cursor *cursor)
{
	unsigned n_bits;
	uint8_t last;
	uint64_t value = cursor_leb(cursor, &n_bits, &last);

	if ((last & 0x40) && n_bits < 64)
		value |= ~(uint64_t)0 << n_bits;
	return (int64_t)value;
}

/* A text ended by NUL, or NULL. */
static inline const char *cursor_text(struct dwarf_cursor *cursor)
{
	const uint8_t *start = cursor->at;
	const uint8_t *end = start < cursor->end ? memchr(start, 0, cursor_left(cursor)) : NULL;

	if (!end) {
		cursor_spoil(cursor);
		return NULL;
	}
	cursor->at = end + 1;
	return (const char *)start;
}

#endif
