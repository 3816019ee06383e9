/* SPDX-License-Identifier: MIT */
/*
 * Numbers and pieces of a text that is made once per sample, beside what printf(3) makes of the same.
 */
#include "util/util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WIDTH_MAX = 40, PIECE_MAX = 40 };

static void check(uint64_t value)
{
	struct str made = STR_INIT, expected = STR_INIT;

	for (unsigned width = 0; width <= WIDTH_MAX; width++) {
		str_add_decimal(&made, value, width, width % 2 ? '0' : ' ');
		str_addf(&expected, width % 2 ? "%0*llu" : "%*llu", (int)width, (unsigned long long)value);
		str_add_hex(&made, value, width, width % 2 ? '0' : ' ');
		str_addf(&expected, width % 2 ? "%0*llx" : "%*llx", (int)width, (unsigned long long)value);
		assert_string_equal(made.s, expected.s);
		assert_int_equal(made.len, expected.len);
	}
	str_add_u64(&made, value);
	str_add_hex(&made, value, 0, ' ');
	str_addf(&expected, "%llu%llx", (unsigned long long)value, (unsigned long long)value);
	assert_string_equal(made.s, expected.s);
	assert_int_equal(made.len, expected.len);
	str_release(&made);
	str_release(&expected);
}

/* The ends of each number of digits, and of bits. */
static void test_lengths(void **state)
{
	uint64_t power = 1;

	(void)state;
	for (int i = 0; i < 20; i++, power *= 10)
		for (int more = -2; more <= 2; more++)
			check(power + (uint64_t)more);
	for (unsigned bit = 0; bit < 64; bit++)
		for (int more = -2; more <= 2; more++)
			check(((uint64_t)1 << bit) + (uint64_t)more);
	for (uint64_t value = 0; value <= 1100; value++)
		check(value);
}

/* Pieces of each length; what is around them stays. */
static void test_pieces(void **state)
{
	char piece[PIECE_MAX];
	struct str text = STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(piece); i++)
		piece[i] = (char)('0' + i);
	str_addn(&text, NULL, 0);
	assert_string_equal(text.s, "");
	for (size_t n = 0; n <= sizeof(piece); n++) {
		str_reset(&text);
		str_reserve(&text, sizeof(piece) + 2);
		memset(text.s, '#', sizeof(piece) + 2); /* nothing is left of the last piece */
		str_addc(&text, '(');
		str_addn(&text, piece, n);
		assert_int_equal(text.len, 1 + n);
		assert_int_equal(text.s[1 + n], '\0');
		str_addc(&text, ')');
		assert_int_equal(text.s[0], '(');
		assert_memory_equal(text.s + 1, piece, n);
		assert_string_equal(text.s + 1 + n, ")");
	}
	str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
