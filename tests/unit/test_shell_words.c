/* SPDX-License-Identifier: MIT */
/* A line as a shell takes it apart: blanks, quotes, backslashes, and what is open at its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail /* cmocka has one too */
#include "cmd/shell_words.h"

/* The words with a | between them, and behind them the quote that is open. */
static void assert_words(const char *line, const char *want, char open)
{
	struct shell_words words;
	struct str got = STR_INIT;

	shell_words_split(&words, line);
	for (int i = 0; i < words.n; i++)
		str_addf(&got, "%s%s", i ? "|" : "", words.v[i]);
	assert_string_equal(got.s, want);
	assert_int_equal(words.open, open);
	shell_words_release(&words);
	str_release(&got);
}

static void test_blanks(void **state)
{
	(void)state;
	assert_words("", "", 0);
	assert_words("pstat", "pstat", 0);
	assert_words("pstat ", "pstat|", 0);
	assert_words("  pstat\t-e \n cs", "pstat|-e|cs", 0);
}

static void test_quotes(void **state)
{
	(void)state;
	assert_words("a 'b c' d", "a|b c|d", 0);
	assert_words("a \"b c\"d e", "a|b cd|e", 0);
	assert_words("a 'b\\' c", "a|b\\|c", 0);
	assert_words("a '' b", "a||b", 0);
	assert_words("a \"it's\" '\"'", "a|it's|\"", 0);
	assert_words("a \"b\\\"c\\d\\\\\"", "a|b\"c\\d\\", 0);
}

static void test_backslashes(void **state)
{
	(void)state;
	assert_words("a b\\ c\\'d \\\\e", "a|b c'd|\\e", 0);
	assert_words("a b\\", "a|b", 0);
}

static void test_open_quotes(void **state)
{
	(void)state;
	assert_words("a 'b c", "a|b c", '\'');
	assert_words("a \"b c", "a|b c", '"');
	assert_words("a \"b\\", "a|b\\", '"');
	assert_words("a '", "a|", '\'');
}

static void test_places(void **state)
{
	const char line[] = "pstat  -- 'a b' c";
	struct shell_words words;

	(void)state;
	shell_words_split(&words, line);
	assert_int_equal(words.n, 4);
	assert_ptr_equal(words.at[0], line);
	assert_string_equal(words.at[2], "'a b' c");
	assert_string_equal(words.at[3], "c");
	shell_words_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blanks),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_backslashes),
		cmocka_unit_test(test_open_quotes),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
