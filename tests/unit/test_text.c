/* SPDX-License-Identifier: MIT */
/*
 * What becomes of text from outside in each set of characters: a terminal's, JSON's, XML's.
 */
#include "util/util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LOST "\xef\xbf\xbd" /* U+FFFD */

static const struct {
	const char *text, *printable, *json, *xml;
} rows[] = {
	{ "", "", "\"\"", "" },
	{ "a b", "a b", "\"a b\"", "a b" },
	{ "<a href=\"x\">&", "<a href=\"x\">&", "\"<a href=\\\"x\\\">&\"", "&lt;a href=&quot;x&quot;&gt;&amp;" },
	{ "]]>", "]]>", "\"]]>\"", "]]&gt;" },
	{ "\t\n\r", "\\x09\\x0a\\x0d", "\"\\t\\n\\u000d\"", "\t\n\r" },
	{ "\x01\x1b\x1f", "\\x01\\x1b\\x1f", "\"\\u0001\\u001b\\u001f\"", LOST LOST LOST },
	{ "\x7f", "\\x7f", "\"\\u007f\"", "\x7f" },
	{ "\xc3\xa4\xf0\x9f\x98\x80", "\xc3\xa4\xf0\x9f\x98\x80", "\"\xc3\xa4\xf0\x9f\x98\x80\"",
	  "\xc3\xa4\xf0\x9f\x98\x80" },
	/* U+FFFE and U+FFFF are characters of no XML, and of no HTML, which has JSON in it; U+1FFFE is one. */
	{ "\xef\xbf\xbe.\xef\xbf\xbf", "\xef\xbf\xbe.\xef\xbf\xbf", "\"\\ufffe.\\uffff\"", LOST "." LOST },
	{ "\xf0\x9f\xbf\xbe", "\xf0\x9f\xbf\xbe", "\"\xf0\x9f\xbf\xbe\"", "\xf0\x9f\xbf\xbe" },
	/* Surrogates, overlong, beyond U+10FFFF, cut off. */
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\"\\ufffd\\ufffd\\ufffd\"", LOST LOST LOST },
	{ "\xc0\xbc", "\\xc0\\xbc", "\"\\ufffd\\ufffd\"", LOST LOST },
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"", LOST LOST LOST LOST },
	{ "a\xe2\x82", "a\\xe2\\x82", "\"a\\ufffd\\ufffd\"", "a" LOST LOST },
	/* The ends of lines of JavaScript, a mark of direction. */
	{ "\xe2\x80\xa8\xe2\x80\xae", "\\xe2\\x80\\xa8\\xe2\\x80\\xae", "\"\\u2028\\u202e\"",
	  "\xe2\x80\xa8\xe2\x80\xae" },
};

static void test_sets(void **state)
{
	struct str out = STR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str_reset(&out);
		str_add_printable(&out, rows[i].text, strlen(rows[i].text));
		assert_string_equal(out.s, rows[i].printable);
		str_reset(&out);
		str_add_json(&out, rows[i].text);
		assert_string_equal(out.s, rows[i].json);
		str_reset(&out);
		str_add_page_json(&out, rows[i].text);
		assert_null(strpbrk(out.s, "<>&"));
		str_reset(&out);
		str_add_xml(&out, rows[i].text, strlen(rows[i].text));
		assert_string_equal(out.s, rows[i].xml);
	}
	str_reset(&out);
	str_add_page_json(&out, "\"</script>&\"");
	assert_string_equal(out.s, "\"\\\"\\u003c/script\\u003e\\u0026\\\"\"");
	str_release(&out);
}

/* A byte is shown as it is alone, wherever it stands: whole words of what everybody sees are passed over at once. */
static void test_any_byte_anywhere(void **state)
{
	struct str alone = STR_INIT, text = STR_INIT, shown = STR_INIT, expected = STR_INIT;
	char around[19];

	(void)state;
	memset(around, 'a', sizeof(around));
	for (int byte = 0; byte < 256; byte++) {
		const char c = (char)byte;

		str_reset(&alone);
		str_add_printable(&alone, &c, 1);
		for (size_t at = 0; at < sizeof(around); at++) {
			str_reset(&text);
			str_addn(&text, around, sizeof(around));
			text.s[at] = c;
			str_reset(&shown);
			str_add_printable(&shown, text.s, text.len);
			str_reset(&expected);
			str_addn(&expected, around, at);
			str_addn(&expected, alone.s, alone.len);
			str_addn(&expected, around, sizeof(around) - at - 1);
			assert_string_equal(shown.s, expected.s);
		}
	}
	str_release(&alone);
	str_release(&text);
	str_release(&shown);
	str_release(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_any_byte_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
