/* SPDX-License-Identifier: MIT */
/*
 * The table of keys: each works in one way only where it works, says what it does, and stands in the manual in the
 * same order with the same words.
 */
#include "screen/screen_internal.h"

#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define MANUAL "man/pstat-report.1"

static void no_key_has_two_rows(void **state)
{
	(void)state;
	for (unsigned view = VIEW_ROWS; view <= VIEW_PROMPT; view <<= 1)
		for (size_t i = 0; i < n_screen_keys; i++)
			for (size_t k = 0; k < KEYS_OF_ROW; k++) {
				const struct key_row *row = &screen_keys[i];

				if (!row->keys[k] || !(row->views & view))
					continue;
				if (screen_key_find(view, row->keys[k]) != row)
					fail_msg("%s (row %zu) is in another row of view %u, too", row->names, i, view);
			}
}

/* A key that does the same in several views has its help once, in the first row. */
static void each_says_what_it_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_screen_keys; i++) {
		const struct key_row *row = &screen_keys[i];

		assert_non_null(row->names);
		assert_true(row->act || row->act_by);
		assert_int_not_equal(row->keys[0], 0);
		assert_int_not_equal(row->views, 0);
		if (row->help && (strchr(row->help, '\n') || row->help[strlen(row->help) - 1] == '.'))
			fail_msg("%s: its help is not one line without a full stop", row->names);
	}
}

static void what_is_in_no_row_does_nothing(void **state)
{
	static const struct {
		unsigned view;
		int key;
		bool acts;
	} rows[] = {
		{ VIEW_ROWS, 'q', true },
		{ VIEW_ROWS, 'Q', false },
		{ VIEW_ROWS, KEY_NOTHING, false },
		{ VIEW_PROMPT, 'q', false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!screen_key_find(rows[i].view, rows[i].key) == rows[i].acts)
			fail_msg("row %zu", i);
}

/* A text as the manual's source has it. */
static void add_roff(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			str_addc(out, '\\');
		str_addc(out, *text);
	}
}

/* ".BR Enter ", " +" or ".B +", and the help as a sentence. */
static void add_entry(struct str *out, const struct key_row *row)
{
	size_t text;

	str_add(out, strchr(row->names, ',') ? ".TP\n.BR " : ".TP\n.B ");
	for (const char *at = row->names; *at;) {
		size_t n = strcspn(at, ",");
		char *name = xstrndup(at, n);

		add_roff(out, name);
		free(name);
		at += n;
		if (*at) {
			str_add(out, " \", \" ");
			at += 2;
		}
	}
	str_addc(out, '\n');
	text = out->len;
	add_roff(out, row->help);
	out->s[text] = (char)toupper((unsigned char)out->s[text]);
	str_add(out, ".\n");
}

static void the_manual_has_them_all(void **state)
{
	struct str manual = STR_INIT, entry = STR_INIT;
	const char *at;

	(void)state;
	assert_int_equal(read_text_file(MANUAL, &manual), 0);
	at = strstr(manual.s, ".SH BROWSER");
	assert_non_null(at);
	for (size_t i = 0; i < n_screen_keys; i++) {
		const char *found;

		if (!screen_keys[i].help)
			continue;
		str_reset(&entry);
		add_entry(&entry, &screen_keys[i]);
		found = strstr(at, entry.s);
		if (!found)
			fail_msg(MANUAL " does not have, behind the key before it:\n%s", entry.s);
		at = found + entry.len;
	}
	str_release(&manual);
	str_release(&entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_key_has_two_rows),
		cmocka_unit_test(each_says_what_it_does),
		cmocka_unit_test(what_is_in_no_row_does_nothing),
		cmocka_unit_test(the_manual_has_them_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
