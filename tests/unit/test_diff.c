/* SPDX-License-Identifier: MIT */
/*
 * Functions with another name on the other side: what a plain name is, and which rows become one. Rules: what they
 * take, and when they are broken.
 */
#include "hist/hist.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void plain_names(void **state)
{
	static const struct {
		void (*add)(struct str *out, const char *name, size_t len);
		struct {
			const char *name, *plain;
		} names[20];
	} rules[] = {
		/* Marks of clones and versions go, but not from names that only look like these. */
		{ diff_add_plain_symbol,
		  { { "foo", "foo" }, { "foo.isra.0", "foo" }, { "foo.constprop.12", "foo" },
		    { "foo.part.0.cold", "foo" }, { "foo.isra.0.cold.3", "foo" }, { "foo.llvm.1234567890", "foo" },
		    { "foo@@GLIBC_2.17", "foo" }, { "foo@V1", "foo" }, { "foo.lto_priv.0", "foo" },
		    { "core::f::h0123456789abcdef", "core::f" }, { "foo.0", "foo.0" },
		    { "foo.partial", "foo.partial" }, { ".part.0", ".part.0" }, { "cold", "cold" },
		    { "std::h0123", "std::h0123" }, { "@plt", "@plt" }, { "", "" }, { ".", "." } } },
		/* So do versions of files. */
		{ diff_add_plain_file,
		  { { "libz.so.1.2.13", "libz.so" }, { "libz.so", "libz.so" }, { "tool-2.41", "tool" },
		    { "tool-v3", "tool" }, { "tool_2", "tool" }, { "python3.11", "python" }, { "x", "x" },
		    { "7", "7" }, { "", "" } } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		for (size_t k = 0; rules[i].names[k].name; k++) {
			const char *name = rules[i].names[k].name;
			struct str out = STR_INIT;

			rules[i].add(&out, name, strlen(name));
			assert_string_equal(out.s, rules[i].names[k].plain);
			str_release(&out);
		}
}

/* ---- rows ---- */

enum { SIDES = 2 };

struct made {
	struct diff diff;
	struct diff_side sides[SIDES];
	struct diff_event event;
	const struct sort_key *keys[2];
};

static void begin(struct made *made)
{
	*made = (struct made){ .sides = { { .n = 1 }, { .n = 1 } } };
	made->keys[0] = sort_key_find("dso", 3);
	made->keys[1] = sort_key_find("symbol", 6);
	made->diff = (struct diff){ .sides = made->sides, .n_sides = SIDES, .n_runs = SIDES, .keys = made->keys,
				    .n_keys = 2, .options = { .confidence = 0.95 } };
}

struct row {
	const char *key;
	double old, new; /* periods; 0: it is not there */
	uint8_t id; /* of its file; 0: not known */
};

static struct diff_row *add(struct made *made, const struct row *fed)
{
	struct diff_row *row = xcalloc(1, sizeof(*row));
	const double periods[] = { fed->old, fed->new };

	*row = (struct diff_row){ .key = xstrdup(fed->key), .level = '.', .number = made->event.n };
	row->cells = xcalloc(SIDES, sizeof(*row->cells));
	row->runs = xcalloc(SIDES, sizeof(*row->runs));
	row->build_ids = xcalloc(SIDES, sizeof(*row->build_ids));
	for (size_t i = 0; i < SIDES; i++) {
		row->cells[i].found = periods[i] > 0;
		row->runs[i].part = periods[i];
		row->build_ids[i].size = fed->id && periods[i] > 0 ? 20 : 0;
		row->build_ids[i].bytes[0] = fed->id;
	}
	VEC_GROW(made->event.rows, made->event.n, made->event.cap);
	made->event.rows[made->event.n++] = row;
	return row;
}

static const struct {
	const char *what;
	struct row rows[8]; /* up to one without a key */
	const char *expected; /* "key<was old/new\n" of each row that is left */
} matches[] = {
	{ "a clone of a new build is the same function",
	  { { "app\t[.] foo.isra.0", 5, 0, 1 }, { "app\t[.] foo.constprop.0", 0, 7, 2 }, { "app\t[.] main", 1, 2, 1 } },
	  "app\t[.] foo.constprop.0<app\t[.] foo.isra.0 5/7\n"
	  "app\t[.] main< 1/2\n" },
	{ "in one file a clone is another function, which was not sampled by chance",
	  { { "app\t[.] foo.isra.0", 5, 0, 1 }, { "app\t[.] foo.cold", 0, 7, 1 },
	    { "lib\t[.] bar.isra.0", 5, 0, 0 }, { "lib\t[.] bar.cold", 0, 7, 0 } },
	  "app\t[.] foo.isra.0< 5/0\n"
	  "app\t[.] foo.cold< 0/7\n"
	  "lib\t[.] bar.isra.0< 5/0\n"
	  "lib\t[.] bar.cold< 0/7\n" },
	{ "a moved function is found",
	  { { "libz.so.1.2\t[.] inflate", 5, 0, 1 }, { "libz.so.1.3\t[.] inflate", 0, 6, 2 },
	    { "app-1\t[.] work", 3, 0, 3 }, { "libwork.so\t[.] work.part.0", 0, 4, 4 } },
	  "libz.so.1.3\t[.] inflate<libz.so.1.2\t[.] inflate 5/6\n"
	  "libwork.so\t[.] work.part.0<app-1\t[.] work 3/4\n" },
	{ "one of two that it could be, addresses, and the kernel's functions stay apart",
	  { { "app\t[.] foo.isra.0", 5, 0, 1 }, { "app\t[.] foo.isra.1", 5, 0, 1 }, { "app\t[.] foo", 0, 7, 2 },
	    { "app\t[.] 0x0000000000001000", 1, 0, 1 }, { "tool\t[.] 0x0000000000001000", 0, 1, 2 },
	    { "app\t[.] read", 1, 0, 1 }, { "[kernel]\t[k] read", 0, 1, 2 } },
	  "app\t[.] foo.isra.0< 5/0\n"
	  "app\t[.] foo.isra.1< 5/0\n"
	  "app\t[.] foo< 0/7\n"
	  "app\t[.] 0x0000000000001000< 1/0\n"
	  "tool\t[.] 0x0000000000001000< 0/1\n"
	  "app\t[.] read< 1/0\n"
	  "[kernel]\t[k] read< 0/1\n" },
};

static void functions_are_matched(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(matches); i++) {
		struct str out = STR_INIT;
		struct made made;

		begin(&made);
		for (const struct row *row = matches[i].rows; row->key; row++)
			add(&made, row);
		diff_rows_match(&made.diff, &made.event);
		for (size_t k = 0; k < made.event.n; k++) {
			struct diff_row *row = made.event.rows[k];

			str_addf(&out, "%s<%s %g/%g\n", row->key, row->was ? row->was : "", row->runs[0].part,
				 row->runs[1].part);
			diff_row_free(row);
		}
		if (strcmp(out.s, matches[i].expected) != 0)
			fail_msg("%s:\n%s", matches[i].what, out.s);
		str_release(&out);
		free(made.event.rows);
	}
}

/* ---- rules ---- */

static void rules_are_taken_as_they_are_typed(void **state)
{
	static const char *const wrong[] = { "", ">", "a", "a>", "a>%", "a>1", ">1%", "a>x%", "a>inf%", "a=1%" };
	struct diff_rule rule;
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(diff_rule_parse(&rule, "operator>><-2.5%", &err), 0);
	assert_string_equal(rule.name, "operator>>");
	assert_int_equal(rule.sign, -1);
	assert_true(rule.limit == -2.5);
	free(rule.name);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(diff_rule_parse(&rule, wrong[i], &err), -EINVAL);
		free(rule.name);
	}
	str_release(&err);
}

static bool broken(struct made *made, const char *text)
{
	struct diff_rule rule;
	struct str err = STR_INIT;
	struct note_list lines = { 0 };
	bool result;

	assert_int_equal(diff_rule_parse(&rule, text, &err), 0);
	result = diff_rule_broken(&made->diff, &rule, 1, &lines);
	free(rule.name);
	note_list_release(&lines);
	return result;
}

/* A share goes up by 3 points, with a standard error of a half: more than 2.5, but not certainly. */
static void only_what_is_certain_breaks_a_rule(void **state)
{
	static const struct {
		const char *rule;
		enum diff_verdict verdict;
		bool is_broken;
	} rules[] = {
		{ "work>+2%", DIFF_CERTAIN, true },   { "w*>+0%", DIFF_CERTAIN, true },
		{ "work>+2.5%", DIFF_CERTAIN, false }, { "work>+4%", DIFF_CERTAIN, false },
		{ "work<-1%", DIFF_CERTAIN, false },  { "other>+1%", DIFF_CERTAIN, false },
		{ "work>+2%", DIFF_FEW, false },
	};
	struct made made;
	struct diff_row *row;

	(void)state;
	begin(&made);
	made.event.name = xstrdup("cycles");
	row = add(&made, &(struct row){ "app\t[.] work", 30, 33, 1 });
	row->cells[0].rate = 0.30;
	row->cells[1].rate = 0.33;
	row->cells[1].change = (struct change){ .difference = 0.03, .error = 0.005, .freedom = INFINITY };
	made.diff.events = &made.event;
	made.diff.n_events = 1;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		row->cells[1].verdict = rules[i].verdict;
		if (broken(&made, rules[i].rule) != rules[i].is_broken)
			fail_msg("%s", rules[i].rule);
	}
	diff_row_free(row);
	free(made.event.rows);
	free(made.event.name);
}

/* Whatever the test of many rows says, a verdict never contradicts the bounds beside it. */
static void verdicts_fit_bounds(void **state)
{
	static const struct {
		double low, high, corrected;
		enum diff_verdict verdict;
	} rows[] = {
		{ -0.01, 0.03, 0.9, DIFF_NOISE },  { 0.01, 0.03, 0.2, DIFF_MAYBE },
		{ -0.03, -0.01, 0.2, DIFF_MAYBE }, { 0.01, 0.03, 0.01, DIFF_CERTAIN },
		{ -0.01, 0.03, 0.04, DIFF_NOISE }, { 0, 0, 1, DIFF_NOISE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct change change = { .low = rows[i].low, .high = rows[i].high };

		if (diff_verdict_of(&change, rows[i].corrected, 0.95) != rows[i].verdict)
			fail_msg("row %zu", i);
	}
	assert_string_equal(diff_verdict_name(DIFF_MAYBE), "maybe");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names),
		cmocka_unit_test(functions_are_matched),
		cmocka_unit_test(rules_are_taken_as_they_are_typed),
		cmocka_unit_test(only_what_is_certain_breaks_a_rule),
		cmocka_unit_test(verdicts_fit_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
