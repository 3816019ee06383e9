/* SPDX-License-Identifier: MIT */
/*
 * Text in the columns of a terminal: widths, names cut to a width in the order of what they can spare,
 * sentences broken into lines.
 */
#include "util/util.h"

#include <cmocka.h>

static void widths(void **state)
{
	(void)state;
	assert_int_equal(text_columns("abc", 3), 3);
	assert_int_equal(text_columns("caf\xc3\xa9", 5), 4);
	assert_int_equal(text_columns("\xe6\x97\xa5\xe6\x9c\xac", 6), 4);
	assert_int_equal(text_columns("\xf0\x9f\x98\x80", 4), 2);
	assert_int_equal(text_columns("\033[31m 5%\033[m", 11), 3);
	assert_int_equal(text_columns("\033[31", 4), 4);
	assert_int_equal(text_fitting("caf\xc3\xa9s", 6, 4), 5);
	assert_int_equal(text_fitting("caf\xc3\xa9s", 6, 3), 3);
	assert_int_equal(text_fitting("\xe6\x97\xa5\xe6\x9c\xac", 6, 3), 3);
	assert_int_equal(text_fitting("ab", 2, 0), 0);
}

static void expect(const char *text, size_t columns, bool name, const char *dots, const char *expected)
{
	struct str s = STR_INIT;

	str_add(&s, "# ");
	str_add(&s, text);
	str_shorten(&s, 2, columns, name, dots);
	assert_string_equal(s.s + 2, expected);
	assert_int_equal(s.len, strlen(s.s));
	assert_true(text_columns(expected, strlen(expected)) <= columns);
	str_release(&s);
}

#define NAME(text, columns, expected) expect(text, columns, true, "...", expected)

static void templates_first(void **state)
{
	static const char map[] = "std::map<int, std::vector<int, A> >::at(int const&) const";

	(void)state;
	NAME(map, 60, map);
	NAME(map, 57, map);
	NAME(map, 56, "std::map<int, std::vector<...> >::at(int const&) const");
	NAME(map, 53, "std::map<...>::at(int const&) const");
	NAME(map, 34, "std::map<...>::at(...) const");
	NAME(map, 18, "std::map...) const");
	NAME(map, 3, "...");
	NAME("std::vector<Item, std::allocator<Item> >::push_back", 30, "std::vector<...>::push_back");
	NAME("[.] <alloc::vec::Vec<T> as core::iter::Iterator>::next", 20, "[.] <...>::next");
}

/* Each form fits its width, and is as long as what it leaves out allows. */
static void parameters_next(void **state)
{
	(void)state;
	NAME("work(std::string const&, unsigned long)", 20, "work(...)");
	NAME("(anonymous namespace)::work(unsigned long)", 40, "(anonymous namespace)::work(...)");
	NAME("work(unsigned long, unsigned long) (inlined)", 30, "work(...) (inlined)");
	NAME("f(void (*)(int), long)", 21, "f(...)");
	NAME("run()::{lambda(int, long)#1}::operator()(int) const", 49,
	     "run()::{lambda(...)#1}::operator()(int) const");
}

static void odd_brackets(void **state)
{
	(void)state;
	NAME("std::operator<< <std::char_traits<char> >(std::ostream&)", 40, "std::operator<< <...>(std::ostream&)");
	NAME("T::operator->(unsigned long, unsigned long)", 30, "T::operator->(...)");
	NAME("apply<fn(alloc::string::String) -> bool>::call", 20, "apply<...>::call");
	NAME("Big<(10 > 5), alloc::string::String>::call", 20, "Big<...>::call");
	NAME("broken<name::that::never::ends", 20, "broken<na...er::ends");
	NAME("broken>name::that::never::ends", 20, "broken>na...er::ends");
	NAME("my_operator<alloc::string::String>::call", 24, "my_operator<...>::call");
	NAME(")))((<<<(>>", 9, ")))...(>>");
}

static void the_middle_last(void **state)
{
	(void)state;
	NAME("a_function_with_a_long_name", 11, "a_fu...name");
	expect("/usr/lib/<x86_64-linux-gnu>/libc.so.6", 20, false, "...", "/usr/lib/...ibc.so.6");
	expect("caf\xc3\xa9s_and_other_caf\xc3\xa9s", 11, false, "...", "caf\xc3\xa9...af\xc3\xa9s");
	expect("\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac", 8, false, "...",
	       "\xe6\x97\xa5...\xe6\x9c\xac");
	expect("std::vector<int>::push_back", 26, true, "\xe2\x80\xa6", "std::vector<\xe2\x80\xa6>::push_back");
	expect("a_function_with_a_long_name", 11, true, "\xe2\x80\xa6", "a_fun\xe2\x80\xa6_name");
	expect("", 0, true, "...", "");
}

/* As hostile as a name of a file may be: deeper than what is told apart, and all of it brackets. */
static void hostile(void **state)
{
	struct str s = STR_INIT;

	(void)state;
	str_pad(&s, '<', 10000);
	str_add(&s, "name");
	str_pad(&s, '>', 10000);
	str_shorten(&s, 0, 20, true, "...");
	assert_true(s.len <= 20);
	str_reset(&s);
	str_pad(&s, '<', 20000);
	str_pad(&s, '\xbf', 20000);
	str_shorten(&s, 0, 20, true, "...");
	assert_true(text_columns(s.s, s.len) <= 20);
	str_release(&s);
}

static void wrapped(size_t at, size_t indent, size_t columns, const char *text, const char *expected)
{
	struct str s = STR_INIT;

	str_add_wrapped(&s, text, at, indent, columns);
	assert_string_equal(s.s, expected);
	str_release(&s);
}

static void sentences(void **state)
{
	(void)state;
	wrapped(0, 2, 0, "one two three", "one two three");
	wrapped(0, 2, 13, "one two three", "one two three");
	wrapped(0, 2, 12, "one two three", "one two\n  three");
	wrapped(7, 2, 13, "one two three", "one\n  two three");
	wrapped(7, 7, 12, "one two three", "one\n       two\n       three");
	wrapped(0, 2, 6, "extraordinarily long", "extraordinarily\n  long");
	wrapped(0, 2, 9, "caf\xc3\xa9s caf\xc3\xa9", "caf\xc3\xa9s\n  caf\xc3\xa9");
	wrapped(0, 2, 10, "caf\xc3\xa9s caf\xc3\xa9", "caf\xc3\xa9s caf\xc3\xa9");
	wrapped(0, 20, 20, "one two three", "one two three");
	wrapped(0, 2, 20, "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths),	  cmocka_unit_test(templates_first),
		cmocka_unit_test(parameters_next), cmocka_unit_test(odd_brackets),
		cmocka_unit_test(the_middle_last), cmocka_unit_test(hostile),
		cmocka_unit_test(sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
