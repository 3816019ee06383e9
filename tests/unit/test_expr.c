/* Formulas: precedence, names with '-', what is missing or undefined, hostile text, depth. */
#include "stat/expr.h"
#include "util/util.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct value {
	const char *name;
	double v;
} values[] = {
	{ "a", 2 },
	{ "b", 3 },
	{ "zero", 0 },
	{ "cache-misses", 50 },
	{ "L1-dcache-loads", 200 },
	{ "cycles:u", 7 },
	{ "big", 1e300 },
	{ "x.y_z", 11 },
};

static bool look_up(void *data, const char *name, size_t len, double *value)
{
	unsigned *calls = data;

	(*calls)++;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (strlen(values[i].name) == len && !memcmp(values[i].name, name, len)) {
			*value = values[i].v;
			return true;
		}
	}
	return false;
}

static enum expr_status eval(const char *text, double *v)
{
	unsigned calls = 0;

	*v = -12345;
	return expr_eval(text, look_up, &calls, v);
}

static void expect(const char *text, double want)
{
	double v;

	assert_int_equal(eval(text, &v), EXPR_OK);
	if (fabs(v - want) > 1e-12 * fabs(want))
		fail_msg("%s = %.17g, not %.17g", text, v, want);
}

static void expect_status(const char *text, enum expr_status want)
{
	double v;
	enum expr_status got = eval(text, &v);

	if (got != want)
		fail_msg("%s: status %d, not %d", text, (int)got, (int)want);
	if (want != EXPR_OK)
		assert_true(v == -12345); /* untouched */
}

static void test_precedence(void **state)
{
	(void)state;
	expect("1 + 2 * 3", 7);
	expect("(1 + 2) * 3", 9);
	expect("2 - 3 - 4", -5);
	expect("24 / 4 / 2", 3);
	expect("24 / (4 / 2)", 12);
	expect("1 + 6 / 3 - 1", 2);
	expect("- 2 * - 3", 6);
	expect("-(a + b)", -5);
	expect("2-1", 1); /* a number takes no '-' */
	expect("10 -3", 7);
	expect(" \t1 ", 1);
}

static void test_numbers(void **state)
{
	(void)state;
	expect("1e9", 1e9);
	expect("1.5e-3", 1.5e-3);
	expect("2E+2", 200);
	expect("0.125", 0.125);
	expect_status("1.", EXPR_SYNTAX);
	expect_status(".5", EXPR_SYNTAX);
	expect_status("1e", EXPR_SYNTAX);
	expect_status("1,5", EXPR_SYNTAX);
	expect_status("0x10", EXPR_SYNTAX);
	expect_status("2x", EXPR_SYNTAX);
	expect_status("1e99999999999999999999", EXPR_UNDEFINED);
	expect("1e-99999999999999999999", 0);
}

static void test_names(void **state)
{
	(void)state;
	expect("cache-misses / L1-dcache-loads", 0.25);
	expect("cycles:u + x.y_z", 18);
	expect("a - b", -1);
	expect_status("a-b", EXPR_MISSING); /* one name */
	expect("a -b", -1); /* the space ended the name */
	expect_status("nothing", EXPR_MISSING);
	expect_status("a + nothing / zero", EXPR_MISSING);
}

static void test_undefined(void **state)
{
	(void)state;
	expect_status("a / zero", EXPR_UNDEFINED);
	expect_status("zero / zero", EXPR_UNDEFINED);
	expect_status("1 + a / (b - 3)", EXPR_UNDEFINED);
	expect_status("big * big", EXPR_UNDEFINED);
	expect("zero / a", 0);
}

static void test_max(void **state)
{
	(void)state;
	expect("max(a, b)", 3);
	expect("min(a, b) * 10", 20);
	expect("max(nothing, b)", 3);
	expect("max(a, nothing) / 4", 0.5);
	expect_status("max(nothing, nothing2)", EXPR_MISSING);
	expect_status("max(a / zero, b)", EXPR_UNDEFINED);
	expect("max(max(1, 2), min(5, 4))", 4);
	expect_status("max(1)", EXPR_SYNTAX);
	expect_status("max(1, 2, 3)", EXPR_SYNTAX);
	expect_status("max", EXPR_SYNTAX);
}

static void test_not_formulas(void **state)
{
	static const char *const texts[] = {
		"",   " ",      "+",        "1 +",      "* 2",   "1 2", "a b",   "(",     ")",
		"(1", "1)",     "()",       "1 + + 2",  "a / ",  "%",   "a % b", "1 ? 2", "\"a\"",
		"a;", "max(,)", "max(1 2)", "\xff\xfe", "a\x01", "- ",  "-",     "1e+",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		expect_status(texts[i], EXPR_SYNTAX);
}

static void test_all_names_are_asked(void **state)
{
	unsigned calls = 0;
	double v;

	(void)state;
	expr_eval("nothing / zero + max(a, b) * nothing", look_up, &calls, &v);
	assert_int_equal(calls, 5);
}

static char *nested(const char *open, const char *middle, const char *close, size_t n)
{
	struct str s = STR_INIT;

	for (size_t i = 0; i < n; i++)
		str_add(&s, open);
	str_add(&s, middle);
	for (size_t i = 0; i < n; i++)
		str_add(&s, close);
	return str_detach(&s);
}

static void expect_nested(const char *open, const char *middle, const char *close, size_t n,
			  enum expr_status want)
{
	char *text = nested(open, middle, close, n);

	expect_status(text, want);
	free(text);
}

static void test_depth(void **state)
{
	(void)state;
	expect_nested("(", "1", ")", EXPR_MAX_DEPTH - 1, EXPR_OK);
	expect_nested("(", "1", ")", EXPR_MAX_DEPTH, EXPR_SYNTAX);
	expect_nested("- ", "1", "", EXPR_MAX_DEPTH - 1, EXPR_OK);
	expect_nested("- ", "1", "", 1000000, EXPR_SYNTAX);
	expect_nested("(", "1", ")", 1000000, EXPR_SYNTAX);
	expect_nested("max(1,", "1", ")", 1000000, EXPR_SYNTAX);
	expect_nested("1 + ", "1", "", 100000, EXPR_OK); /* long is not deep */
	expect_nested("a", "", "", 100000, EXPR_MISSING);
}

/* Any bytes end in a status: run under the sanitizers, this looks for reads past the end. */
static void test_noise(void **state)
{
	static const char alphabet[] = "ab01.e+-*/() ,mnxi:_\xff";
	uint64_t x = 2463534242u;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char *text = xmalloc(25);
		size_t n = (size_t)(i % 24);
		double v;

		for (size_t k = 0; k < n; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			text[k] = alphabet[x % (sizeof(alphabet) - 1)];
		}
		text[n] = '\0';
		text = xreallocarray(text, n + 1, 1);
		if (eval(text, &v) == EXPR_OK)
			assert_true(isfinite(v));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_undefined),
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_not_formulas),
		cmocka_unit_test(test_all_names_are_asked),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
