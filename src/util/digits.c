/* SPDX-License-Identifier: MIT */
/*
 * digits: numbers in text that is made once per sample. How many digits a number has is known before the first of
 * them: they are written where they stay, decimal ones two by a division, hexadecimal ones eight at once.
 */
#include "util/util.h"

#include <endian.h>

static unsigned bits_of(uint64_t value)
{
	return 64 - (unsigned)__builtin_clzll(value | 1);
}

static unsigned decimal_digits(uint64_t value)
{
	/* The least number of one digit more than the index. 0 has a digit, too. */
	static const uint64_t least[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
		1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000, 10000000000000000000u,
	};
	unsigned n = bits_of(value) * 1233 >> 12; /* times log10(2): as many, or one less */

	return n + (value >= least[n]);
}

void str_add_decimal(struct str *s, uint64_t value, unsigned width, char fill)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	unsigned n = decimal_digits(value);
	char *p;

	str_reserve(s, n < width ? width : n);
	for (; n < width; width--)
		s->s[s->len++] = fill;
	s->len += n;
	p = s->s + s->len;
	*p = '\0';
	for (; value >= 100; value /= 100)
		memcpy(p -= 2, pairs + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(p - 2, pairs + 2 * value, 2);
	else
		p[-1] = (char)('0' + value);
}

/*
 * The eight hexadecimal digits of value, the highest in the first byte of memory. Its halves, their halves and theirs
 * are moved apart until each has a byte; what is more than 9 then carries into the next bit when 6 is added to it.
 */
static uint64_t hex_digits(uint32_t value)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t digits = value;

	digits = (digits | digits << 16) & 0x0000ffff0000ffff;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ff;
	digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0f;
	return htobe64(digits + '0' * ones + ((digits + 6 * ones) >> 4 & ones) * ('a' - '0' - 10));
}

void str_add_hex(struct str *s, uint64_t value, unsigned width, char fill)
{
	enum { HALF = 8, ALL = 16 };
	unsigned n = (bits_of(value) + 3) / 4;
	uint64_t digits;

	/* Eight are written at a time; those that the number does not have are after its own, and are not kept. */
	str_reserve(s, (n < width ? width : n) + ALL);
	if (fill == '0' && n < width)
		n = width < ALL ? width : ALL;
	for (; n < width; width--)
		s->s[s->len++] = fill;
	value <<= 4 * (ALL - n);
	digits = hex_digits((uint32_t)(value >> 32));
	memcpy(s->s + s->len, &digits, sizeof(digits));
	if (n > HALF) {
		digits = hex_digits((uint32_t)value);
		memcpy(s->s + s->len + HALF, &digits, sizeof(digits));
	}
	s->len += n;
	s->s[s->len] = '\0';
}

void str_add_u64(struct str *s, uint64_t value)
{
	str_add_decimal(s, value, 1, ' ');
}
