/* SPDX-License-Identifier: MIT */
/* Formulas: precedence, names with '-', conditions, what is missing or undefined, hostile text, depth. */
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

static const struct value *value_named(const struct expr_name *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (strlen(values[i].name) == name->len && !memcmp(values[i].name, name->text, name->len))
			return &values[i];
	return NULL;
}

static bool give_value(const void *data, size_t input, double *value)
{
	const struct value *found = value_named(expr_name(data, input));

	if (found)
		*value = found->v;
	return found;
}

/* "b" is added up from three. */
static unsigned give_sources(const void *data, size_t input)
{
	const struct value *found = value_named(expr_name(data, input));

	return !found ? 0 : found->v == 3 ? 3 : 1;
}

enum { NOT_A_FORMULA = 100 };

static int eval(const char *text, double *v)
{
	struct expr *expr = expr_compile(text);
	struct expr_inputs inputs = { give_value, give_sources, expr };
	int status = expr ? (int)expr_eval(expr, &inputs, (*v = -12345, v)) : NOT_A_FORMULA;

	expr_free(expr);
	return status;
}

static void expect(const char *text, double want)
{
	double v;

	assert_int_equal(eval(text, &v), EXPR_OK);
	if (fabs(v - want) > 1e-12 * fabs(want))
		fail_msg("%s = %.17g, not %.17g", text, v, want);
}

static void expect_status(const char *text, int want)
{
	double v = -12345;
	int got = eval(text, &v);

	if (got != want)
		fail_msg("%s: status %d, not %d", text, got, want);
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
	expect_status("1.", NOT_A_FORMULA);
	expect_status(".5", NOT_A_FORMULA);
	expect_status("1e", NOT_A_FORMULA);
	expect_status("1,5", NOT_A_FORMULA);
	expect_status("0x10", NOT_A_FORMULA);
	expect_status("2x", NOT_A_FORMULA);
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
	expect_status("max(1)", NOT_A_FORMULA);
	expect_status("max(1, 2, 3)", NOT_A_FORMULA);
	expect_status("max", NOT_A_FORMULA);
}

static void test_not_formulas(void **state)
{
	static const char *const texts[] = {
		"",   " ",      "+",        "1 +",      "* 2",   "1 2", "a b",   "(",     ")",
		"(1", "1)",     "()",       "1 + + 2",  "a / ",  "%",   "a %",   "1 ? 2", "\"a\"",
		"a;", "max(,)", "max(1 2)", "\xff\xfe", "a\x01", "- ",  "-",     "1e+",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		expect_status(texts[i], NOT_A_FORMULA);
}

/* ---- what perf's formulas have beside arithmetic ---- */

static void test_comparisons(void **state)
{
	(void)state;
	expect("a < b", 1);
	expect("a > b", 0);
	expect("1 + a < b * 2", 1); /* looser than arithmetic */
	expect("a < b & b < 4", 1); /* tighter than & */
	expect("a > b | a", 2);
	expect("6 & 3 ^ 1", 3); /* & before ^ before | */
	expect("1 | 6 ^ 2", 5);
	expect("7.9 & 4.5", 4); /* whole numbers */
	expect("17 % 5", 2);
	expect("-7 % 3", -1);
	expect("2 * 7 % 4", 2); /* like * and / */
	expect_status("a % zero", EXPR_UNDEFINED);
	expect_status("a % 0.5", EXPR_UNDEFINED);
	expect_status("big & 1", EXPR_UNDEFINED);
	expect_status("nothing < a", EXPR_MISSING);
	expect_status("a <", NOT_A_FORMULA);
	expect_status("a < > b", NOT_A_FORMULA);
}

static void test_conditions(void **state)
{
	(void)state;
	expect("a if 1 else b", 2);
	expect("a if zero else b", 3);
	expect("1 + a if a < b else 7", 3); /* looser than anything */
	expect("1 if zero else 2 if zero else 3", 3);
	expect("(1 if zero else 2) + 10", 12);
	expect("max(1 if a else 2, 0)", 1);
	expect("a if a > 0 else nothing / zero", 2); /* what is not chosen need not be there */
	expect("nothing if zero else b", 3);
	expect("a / zero if zero else 4", 4);
	expect_status("nothing if a else b", EXPR_MISSING);
	expect_status("a if nothing else b", EXPR_MISSING);
	expect_status("a if a / zero else b", EXPR_UNDEFINED);
	expect_status("a if b", NOT_A_FORMULA);
	expect_status("a if else b", NOT_A_FORMULA);
	expect_status("a else b", NOT_A_FORMULA);
	expect_status("if", NOT_A_FORMULA);
	expect_status("a if b else", NOT_A_FORMULA);
}

static void test_functions(void **state)
{
	(void)state;
	expect("d_ratio(b, a)", 1.5);
	expect("d_ratio(b, zero)", 0);
	expect_status("d_ratio(nothing, zero)", EXPR_MISSING);
	expect_status("d_ratio(a)", NOT_A_FORMULA);
	expect("has_event(a) + has_event(nothing)", 1);
	expect("has_event(cache-misses)", 1);
	expect("a if has_event(nothing) else b", 3);
	expect("nothing if has_event(nothing) else b", 3);
	expect("source_count(b) * a", 6);
	expect("source_count(nothing)", 0);
	expect_status("has_event(a + b)", NOT_A_FORMULA);
	expect_status("has_event(2)", NOT_A_FORMULA);
	expect_status("has_event()", NOT_A_FORMULA);
	expect_status("source_count", NOT_A_FORMULA);
}

/* ---- inputs ---- */

static void expect_names(const char *text, const char *want)
{
	struct expr *expr = expr_compile(text);
	struct str got = STR_INIT;

	assert_non_null(expr);
	for (size_t i = 0; i < expr_n_names(expr); i++) {
		const struct expr_name *name = expr_name(expr, i);

		str_add(&got, i ? " " : "");
		str_addn(&got, name->text, name->len);
		str_add(&got, name->counted ? "" : "?");
	}
	assert_string_equal(got.s, want);
	str_release(&got);
	expr_free(expr);
}

static void test_inputs(void **state)
{
	(void)state;
	expect_names("2 * 3", "");
	expect_names("b / (a + b) - a", "b a"); /* each once, from left to right */
	expect_names("a1+a2+a3+a4+a5+a6+a7+a8+a9+a10+a11", "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11");
	expect_names("a if has_event(b) else source_count(c) + d", "a b? c? d");
	expect_names("has_event(a) * a", "a");
}

static bool has_inputs(const char *text)
{
	struct expr *expr = expr_compile(text);
	struct expr_inputs inputs = { give_value, give_sources, expr };
	bool has = expr_has_inputs(expr, &inputs);

	expr_free(expr);
	return has;
}

/* Whatever the values of those that are there. */
static void test_has_inputs(void **state)
{
	(void)state;
	assert_true(has_inputs("a / zero"));
	assert_true(has_inputs("max(a, nothing)"));
	assert_false(has_inputs("a + nothing"));
	assert_false(has_inputs("a if b > 2 else nothing")); /* it may be needed */
	assert_false(has_inputs("a if a / zero else nothing"));
	assert_true(has_inputs("a if has_event(a) else nothing")); /* that is for certain */
	assert_true(has_inputs("nothing if has_event(nothing) else a"));
	assert_false(has_inputs("a if nothing else a"));
	assert_true(has_inputs("a if b - 3 else zero"));
}

/* A program is run again and again, with other values. */
static bool give_count(const void *data, size_t input, double *value)
{
	*value = *(const double *)data + (double)input;
	return true;
}

static void test_runs_again(void **state)
{
	struct expr *expr = expr_compile("x * 10 + y if x < 5 else y");
	double first, v;

	(void)state;
	for (first = 0; first < 10; first++) {
		struct expr_inputs inputs = { give_count, NULL, &first };

		assert_int_equal(expr_eval(expr, &inputs, &v), EXPR_OK);
		assert_true(v == (first < 5 ? first * 10 + first + 1 : first + 1));
	}
	expr_free(expr);
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
			  int want)
{
	char *text = nested(open, middle, close, n);

	expect_status(text, want);
	free(text);
}

static void test_depth(void **state)
{
	(void)state;
	expect_nested("(", "1", ")", EXPR_MAX_DEPTH - 1, EXPR_OK);
	expect_nested("(", "1", ")", EXPR_MAX_DEPTH, NOT_A_FORMULA);
	expect_nested("- ", "1", "", EXPR_MAX_DEPTH - 1, EXPR_OK);
	expect_nested("- ", "1", "", 1000000, NOT_A_FORMULA);
	expect_nested("(", "1", ")", 1000000, NOT_A_FORMULA);
	expect_nested("max(1,", "1", ")", 1000000, NOT_A_FORMULA);
	expect_nested("1 if 0 else ", "1", "", EXPR_MAX_DEPTH - 1, EXPR_OK);
	expect_nested("1 if 0 else ", "1", "", 1000000, NOT_A_FORMULA);
	expect_nested("(1 | 1 ^ 1 & 1 < 1 + 1 * ", "1", ")", 20, EXPR_OK);
	expect_nested("(1 | 1 ^ 1 & 1 < 1 + 1 * ", "1", ")", 100, NOT_A_FORMULA); /* values that wait */
	expect_nested("1 + ", "1", "", 100000, EXPR_OK); /* long is not deep */
	expect_nested("a", "", "", 100000, EXPR_MISSING);
}

/* ---- perf's language ---- */

/* Formulas that others may name: upper case, "X" is 10 + the input x, and two that are a circle. */
static const char *formula_named(void *data, const char *name, size_t len)
{
	static const char *const formulas[][2] = {
		{ "X", "10 + x" }, { "TWICE", "X + X" }, { "A", "B + 1" }, { "B", "A + 1" }, { "SELF", "SELF" },
		{ "WRONG", "1 +" },
	};

	(void)data;
	for (size_t i = 0; i < ARRAY_SIZE(formulas); i++)
		if (strlen(formulas[i][0]) == len && !memcmp(formulas[i][0], name, len))
			return formulas[i][1];
	return NULL;
}

static const struct expr_others others = { formula_named, NULL };

/* The inputs count 1, 2, 3 ... in the order of the text. */
static bool give_number(const void *data, size_t input, double *value)
{
	(void)data;
	*value = (double)input + 1;
	return true;
}

static unsigned number_of_sources(const void *data, size_t input)
{
	(void)data;
	return (unsigned)input + 1;
}

static void expect_perf(const char *text, const char *threshold, double want, bool beyond, const char *names)
{
	const struct expr_inputs inputs = { give_number, number_of_sources, NULL };
	const char *why = NULL;
	struct expr *expr = expr_compile_perf(text, threshold, &others, &why);
	struct str got = STR_INIT;
	double v = 0;

	if (!expr)
		fail_msg("%s: %s", text, why);
	for (size_t i = 0; i < expr_n_names(expr); i++) {
		str_add(&got, i ? " " : "");
		str_addn(&got, expr_name(expr, i)->text, expr_name(expr, i)->len);
	}
	assert_string_equal(got.s, names);
	assert_int_equal(expr_eval(expr, &inputs, &v), EXPR_OK);
	assert_true(v == want);
	assert_int_equal(expr_is_beyond(expr, &inputs), beyond);
	str_release(&got);
	expr_free(expr);
}

static void expect_no_perf(const char *text, const char *reason)
{
	const char *why = NULL;

	assert_null(expr_compile_perf(text, NULL, &others, &why));
	assert_non_null(strstr(why, reason));
}

static void test_language_of_perf(void **state)
{
	(void)state;
	expect_perf("a-b", NULL, -1, false, "a b");
	expect_perf("cpu@X.Y\\,cmask\\=0x1@ / l1\\-loads", NULL, 0.5, false, "cpu@X.Y\\,cmask\\=0x1@ l1\\-loads");
	expect_perf("5 * #smt_on if #num_cpus > 1 else 7", NULL, 5, false, "#smt_on #num_cpus");
	expect_perf("has_event(a) + source_count(b)", NULL, 3, false, "a b");
	expect_perf("X * 2", NULL, 22, false, "x");
	expect_perf("TWICE + x", "TWICE > 21", 23, true, "x");
	expect_perf("a", "X < 12 & b > 1", 1, false, "a x b");
	expect_perf("a", "X < 13 & b > 2", 1, true, "a x b");
	expect_no_perf("A", "circle");
	expect_no_perf("SELF + 1", "circle");
	expect_no_perf("WRONG", "not understood");
	expect_no_perf("1 2", "not understood");
	expect_no_perf("", "not understood");
	expect_no_perf("a\\", "not understood");
}

/* Any bytes end in a status: run under the sanitizers, this looks for reads past the end. */
static void test_noise(void **state)
{
	static const char alphabet[] = "ab01.e+-*/%() ,mnxi:_<>&|^felshv\xff";
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
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_inputs),
		cmocka_unit_test(test_has_inputs),
		cmocka_unit_test(test_runs_again),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_language_of_perf),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
