/* SPDX-License-Identifier: MIT */
/*
 * digits: numbers in text that is made once per sample. How many digits a number has is known before the first of
 * them: they are written where they stay, two by a division.
 */
#include "util/util.h"

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

void str_add_hex(struct str *s, uint64_t value)
{
	unsigned n = (bits_of(value) + 3) / 4;

	str_reserve(s, n);
	s->len += n;
	s->s[s->len] = '\0';
	for (char *p = s->s + s->len; n--; value >>= 4)
		*--p = "0123456789abcdef"[value & 15];
}

void str_add_u64(struct str *s, uint64_t value)
{
	str_add_decimal(s, value, 1, ' ');
}
