/* SPDX-License-Identifier: MIT */
/*
 * Names made readable: C++, Rust (both manglings) and D, with and without parameters, and names that were made
 * to exhaust a demangler, which stay as they are.
 */
#include "sym/sym.h"

#include <stdio.h>

#include <cmocka.h>

static struct str out;

/* Built without libiberty nothing is demangled: nothing to be seen here. */
static int set_up(void **state)
{
	(void)state;
	str_init(&out);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	str_release(&out);
	return 0;
}

static bool is_left_out(void)
{
	struct str text = STR_INIT;
	bool none = !demangle("_Z1fv", false, NULL, &text);

	str_release(&text);
	return none;
}

#define NEED_DEMANGLER()                                                                           \
	do {                                                                                       \
		if (is_left_out()) {                                                               \
			printf("# skip: built without libiberty\n");                               \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static const char *name_of(const char *raw, bool parameters)
{
	str_reset(&out);
	return demangle(raw, parameters, NULL, &out) ? out.s : NULL;
}

/* Seen in `perf report` (6.1) of C++ and Rust programs. */
static void names_are_those_of_perf(void **state)
{
	static const struct {
		const char *raw, *plain, *with_parameters;
	} rows[] = {
		{ "_ZNK2ns3BoxIdLi16EE3sumERKd", "ns::Box<double, 16>::sum",
		  "ns::Box<double, 16>::sum(double const&) const" },
		{ "_ZNSt17_Function_handlerIFdiEZ4mainEUliE0_E9_M_invokeERKSt9_Any_dataOi",
		  "std::_Function_handler<double (int), main::{lambda(int)#2}>::_M_invoke",
		  "std::_Function_handler<double (int), main::{lambda(int)#2}>::_M_invoke"
		  "(std::_Any_data const&, int&&)" },
		{ "_ZN3foo3barEv.cold", "foo::bar", "foo::bar() [clone .cold]" },
		{ "_ZN2rs5inner7generic17h4269de05907c57d1E", "rs::inner::generic",
		  "rs::inner::generic" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo" },
		{ "_D3std5stdio7writelnFAyaZv", "std.stdio.writeln(immutable(char)[])",
		  "std.stdio.writeln(immutable(char)[])" },
		{ "_Dmain", "D main", "D main" },
		{ "_ZN1a1bEv@plt", "a::b@plt", "a::b()@plt" },
		{ "_ZN1a1bEv@@LIB_1", "a::b", "a::b()" },
	};

	(void)state;
	NEED_DEMANGLER();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_non_null(name_of(rows[i].raw, false));
		assert_string_equal(out.s, rows[i].plain);
		assert_non_null(name_of(rows[i].raw, true));
		assert_string_equal(out.s, rows[i].with_parameters);
	}
}

static void names_of_ocaml_are_read(void **state)
{
	static const char *const rows[][2] = {
		{ "camlShop__total_81", "Shop.total_81" },
		{ "camlShop.total_81", "Shop.total_81" },
		{ "camlStdlib__List.map_345", "Stdlib.List.map_345" },
		{ "camlShop__Cart__total_81", "Shop.Cart.total_81" },
		{ "camlShop__$2b$2b_12", "Shop.++_12" },
		{ "camlShop.fun$5bshop$2eml$3a334$2c0$2d$2d54$5d_14", "Shop.fun[shop.ml:334,0--54]_14" },
		{ "camlShop__x$27_1", "Shop.x'_1" },
		/* No letter is escaped, nor what no one could read: so these are no escapes. */
		{ "camlShop.a$61b$00c$1b$5", "Shop.a$61b$00c$1b$5" },
		{ "camlShop__entry", "Shop.entry" },
		{ "camlS", "S" },
		{ "camlShop___x__", "Shop._x__" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str_reset(&out);
		assert_true(demangle(rows[i][0], false, NULL, &out));
		assert_string_equal(out.s, rows[i][1]);
	}
}

static void other_names_are_left(void **state)
{
	static const char *const rows[] = {
		"main", "_DYNAMIC", "_start",   "__libc_start_main",    "_Z", "_R", "_D", "", "_",
		"@plt", "_Zfoo",    "puts@plt", "_GLOBAL_OFFSET_TABLE_",
		"caml", "caml_alloc", "camlidl_x", "xcamlShop__y"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str_reset(&out);
		str_add(&out, "before ");
		assert_false(demangle(rows[i], false, NULL, &out));
		assert_false(demangle(rows[i], true, NULL, &out));
		assert_string_equal(out.s, "before ");
	}
}

static void add_times(struct str *text, const char *part, unsigned n)
{
	while (n--)
		str_add(text, part);
}

/* "S<number>_" of the i-th substitution. */
static void add_substitution(struct str *text, unsigned i)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	str_add(text, "S");
	if (i > 36)
		str_addc(text, digits[(i - 1) / 36]);
	if (i)
		str_addc(text, digits[(i - 1) % 36]);
	str_add(text, "_");
}

/* Each level has the one before twice: 2^59 times "int". */
static void text_that_doubles_is_given_up(void **state)
{
	struct str raw = STR_INIT;

	(void)state;
	NEED_DEMANGLER();
	str_add(&raw, "_Z1f1aIiiE");
	for (unsigned i = 1; i < 60; i++) {
		str_add(&raw, "S_I");
		add_substitution(&raw, i - 1 + (i == 1));
		add_substitution(&raw, i - 1 + (i == 1));
		str_add(&raw, "E");
	}
	str_add(&out, "kept");
	assert_false(demangle(raw.s, true, NULL, &out));
	assert_string_equal(out.s, "kept");
	str_reset(&raw);
	str_add(&raw, "_D1aFAi");
	add_times(&raw, "HQdQf", 300);
	str_add(&raw, "Zv");
	assert_false(demangle(raw.s, false, NULL, &out));
	str_release(&raw);
}

/* "f(a<int, int>, ...)": each of so many parameters has the one before twice. */
static void make_doubling(unsigned n, struct str *raw, struct str *text)
{
	struct str part = STR_INIT, twice = STR_INIT;

	str_reset(raw);
	str_reset(text);
	str_add(raw, "_Z1f1aIiiE");
	str_add(&part, "a<int, int>");
	str_addf(text, "f(%s", part.s);
	for (unsigned i = 1; i < n; i++) {
		str_add(raw, "S_I");
		add_substitution(raw, i);
		add_substitution(raw, i);
		str_add(raw, "E");
		str_reset(&twice);
		str_addf(&twice, "a<%s, %s >", part.s, part.s);
		str_reset(&part);
		str_add(&part, twice.s);
		str_addf(text, ", %s", part.s);
	}
	str_add(text, ")");
	str_release(&part);
	str_release(&twice);
}

static void of_long_text_there_is_some(void **state)
{
	static const struct {
		unsigned n, left_before, left_after;
		bool done;
	} rows[] = {
		{ 10, 0, 0, true },
		{ 10, 3, 3, true },
		{ 13, 3, 2, true }, /* 136 KiB */
		{ 13, 1, 0, true },
		{ 13, 0, 0, false },
		{ 14, 3, 2, false }, /* 272 KiB */
		{ 14, 0, 0, false },
		{ 20, 1, 0, false },
	};
	struct str raw = STR_INIT, text = STR_INIT;

	(void)state;
	NEED_DEMANGLER();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned left = rows[i].left_before;

		make_doubling(rows[i].n, &raw, &text);
		str_reset(&out);
		str_add(&out, "before ");
		assert_int_equal(demangle(raw.s, true, &left, &out), rows[i].done);
		assert_string_equal(out.s + 7, rows[i].done ? text.s : "");
		assert_int_equal(left, rows[i].left_after);
	}
	make_doubling(13, &raw, &text);
	str_reset(&out);
	assert_false(demangle(raw.s, true, NULL, &out));
	str_release(&raw);
	str_release(&text);
}

static void deep_and_long_names_end(void **state)
{
	static const struct {
		const char *begin, *part;
		unsigned n;
		const char *end;
	} rows[] = {
		{ "_Z1f", "P", 60000, "i" },    { "_Z1f", "P", 70000, "i" },
		{ "_Z", "N1a", 20000, "" },     { "_RINvC1a1b", "T", 60000, "E" },
		{ "_R", "NvC1a", 12000, "1b" }, { "_D1aF", "P", 60000, "iZv" },
		{ "_D1aF", "A", 8000, "iZv" },  { "_D", "1b", 30000, "FZv" },
		{ "_D1a", "Q", 8000, "FZv" },
		/* Of C++ each way in which one thing is within another. */
		{ "_Z1f", "K", 60000, "i" },	{ "_Z1f", "A_", 30000, "i" },
		{ "_Z1f", "M1a", 20000, "i" },	{ "_Z1fI", "Dp", 30000, "iEvv" },
		{ "_Z1fIX", "ng", 30000, "Li1EEEvv" }, { "_Z1fIX", "pl", 30000, "Li1E" },
		{ "_Z", "1aI", 20000, "i" },	{ "_Z", "L_Z1fI", 10000, "" },
		{ "_Z", "Z", 60000, "1fvE" },	{ "_Z", "cv", 30000, "i" },
		{ "_Z1f", "F", 60000, "vE" },	{ "_Z1fI", "L_Z1fI", 10000, "" },
		{ "_Z1fI", "XL_Z1fI", 9000, "" }, { "_Z1f", "U1aI", 15000, "" },
		{ "_Z1fIX", "cvi", 20000, "Li1E" }, { "_ZN", "1aI", 20000, "iEEvv" },
		{ "_Z1fIX", "cl1aI", 12000, "" }, { "_Z1f", "DTcvi", 12000, "" },
		{ "_Z1fI", "J", 60000, "E" },	{ "_Z1fI", "XsZ", 20000, "" },
		{ "_Z1fIX", "il", 30000, "E" },	{ "_Z1f", "Dv_", 20000, "i" },
	};
	struct str raw = STR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str_reset(&raw);
		str_add(&raw, rows[i].begin);
		add_times(&raw, rows[i].part, rows[i].n);
		str_add(&raw, rows[i].end);
		str_reset(&out);
		demangle(raw.s, true, NULL, &out);
		demangle(raw.s, false, NULL, &out);
		assert_true(out.len <= 2 * (64 << 10));
	}
	str_release(&raw);
}

/* Of more than 1,024 letters, as big templates have them. What is one list can have as many parts. */
static void long_names_are_read(void **state)
{
	static const unsigned counts[] = { 100, 202, 203, 204, 600, 1000 };
	struct str raw = STR_INIT, expected = STR_INIT;

	(void)state;
	NEED_DEMANGLER();
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		str_reset(&raw);
		str_add(&raw, "_Z1fI");
		add_times(&raw, "1bIiE", counts[i] - 1);
		str_add(&raw, "1bIiEEvv");
		str_reset(&expected);
		str_add(&expected, "void f<");
		add_times(&expected, "b<int>, ", counts[i] - 1);
		str_add(&expected, "b<int> >()");
		assert_non_null(name_of(raw.s, true));
		assert_string_equal(out.s, expected.s);
		assert_non_null(name_of(raw.s, false));
		assert_int_equal(strncmp(out.s, "f<b<int>, b<int>", 16), 0);
	}
	str_release(&raw);
	str_release(&expected);
}

/* Back references of D are followed where they are few: Q and a distance, here to "1a" and to "Ai". */
static void back_references_of_d_are_read(void **state)
{
	(void)state;
	NEED_DEMANGLER();
	assert_non_null(name_of("_D1aQcFAiQcZv", false));
	assert_string_equal(out.s, "a.a(int[], int[])");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(names_are_those_of_perf),       TEST(other_names_are_left),
		TEST(names_of_ocaml_are_read),
		TEST(text_that_doubles_is_given_up), TEST(of_long_text_there_is_some),
		TEST(deep_and_long_names_end),       TEST(long_names_are_read),
		TEST(back_references_of_d_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
