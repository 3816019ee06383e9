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

static void assert_plain(void (*add)(struct str *out, const char *name, size_t len), const char *name,
			 const char *expected)
{
	struct str out = STR_INIT;

	add(&out, name, strlen(name));
	assert_string_equal(out.s, expected);
	str_release(&out);
}

static void marks_of_clones_and_versions_go(void **state)
{
	static const struct {
		const char *name, *plain;
	} rows[] = {
		{ "foo", "foo" }, { "foo.isra.0", "foo" }, { "foo.constprop.12", "foo" }, { "foo.part.0.cold", "foo" },
		{ "foo.isra.0.cold.3", "foo" }, { "foo.llvm.1234567890", "foo" }, { "foo@@GLIBC_2.17", "foo" },
		{ "foo@V1", "foo" }, { "foo.lto_priv.0", "foo" }, { "core::f::h0123456789abcdef", "core::f" },
		/* Names that only look like these. */
		{ "foo.0", "foo.0" }, { "foo.partial", "foo.partial" }, { ".part.0", ".part.0" }, { "cold", "cold" },
		{ "std::h0123", "std::h0123" }, { "@plt", "@plt" }, { "", "" }, { ".", "." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_plain(diff_add_plain_symbol, rows[i].name, rows[i].plain);
}

static void versions_of_files_go(void **state)
{
	static const struct {
		const char *name, *plain;
	} rows[] = {
		{ "libz.so.1.2.13", "libz.so" }, { "libz.so", "libz.so" }, { "tool-2.41", "tool" },
		{ "tool-v3", "tool" },
		{ "tool_2", "tool" }, { "python3.11", "python" }, { "x", "x" }, { "7", "7" }, { "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_plain(diff_add_plain_file, rows[i].name, rows[i].plain);
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

/* old, new: periods; 0: it is not there. id: of the file, 0: not known. */
static struct diff_row *add(struct made *made, const char *key, double old, double new, uint8_t id)
{
	struct diff_row *row = xcalloc(1, sizeof(*row));
	const double periods[] = { old, new };

	*row = (struct diff_row){ .key = xstrdup(key), .level = '.', .number = made->event.n };
	row->cells = xcalloc(SIDES, sizeof(*row->cells));
	row->runs = xcalloc(SIDES, sizeof(*row->runs));
	row->build_ids = xcalloc(SIDES, sizeof(*row->build_ids));
	for (size_t i = 0; i < SIDES; i++) {
		row->cells[i].found = periods[i] > 0;
		row->runs[i].part = periods[i];
		row->build_ids[i].size = id && periods[i] > 0 ? 20 : 0;
		row->build_ids[i].bytes[0] = id;
	}
	VEC_GROW(made->event.rows, made->event.n, made->event.cap);
	made->event.rows[made->event.n++] = row;
	return row;
}

/* "key<was old/new\n" of each row. */
static void assert_rows(struct made *made, const char *expected)
{
	struct str out = STR_INIT;

	diff_rows_match(&made->diff, &made->event);
	for (size_t i = 0; i < made->event.n; i++) {
		struct diff_row *row = made->event.rows[i];

		str_addf(&out, "%s<%s %g/%g\n", row->key, row->was ? row->was : "", row->runs[0].part,
			 row->runs[1].part);
		diff_row_free(row);
	}
	assert_string_equal(out.s, expected);
	str_release(&out);
	free(made->event.rows);
}

static void a_clone_of_a_new_build_is_the_same_function(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	add(&made, "app\t[.] foo.isra.0", 5, 0, 1);
	add(&made, "app\t[.] foo.constprop.0", 0, 7, 2);
	add(&made, "app\t[.] main", 1, 2, 1);
	assert_rows(&made, "app\t[.] foo.constprop.0<app\t[.] foo.isra.0 5/7\napp\t[.] main< 1/2\n");
}

/* In one file the two are two functions, and one of them was not sampled by chance. */
static void in_one_file_a_clone_is_another_function(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	add(&made, "app\t[.] foo.isra.0", 5, 0, 1);
	add(&made, "app\t[.] foo.cold", 0, 7, 1);
	add(&made, "lib\t[.] bar.isra.0", 5, 0, 0);
	add(&made, "lib\t[.] bar.cold", 0, 7, 0);
	assert_rows(&made, "app\t[.] foo.isra.0< 5/0\napp\t[.] foo.cold< 0/7\n"
			   "lib\t[.] bar.isra.0< 5/0\nlib\t[.] bar.cold< 0/7\n");
}

static void a_moved_function_is_found(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	add(&made, "libz.so.1.2\t[.] inflate", 5, 0, 1);
	add(&made, "libz.so.1.3\t[.] inflate", 0, 6, 2);
	add(&made, "app-1\t[.] work", 3, 0, 3);
	add(&made, "libwork.so\t[.] work.part.0", 0, 4, 4);
	assert_rows(&made, "libz.so.1.3\t[.] inflate<libz.so.1.2\t[.] inflate 5/6\n"
			   "libwork.so\t[.] work.part.0<app-1\t[.] work 3/4\n");
}

/* Which of two it is nobody knows; addresses are no names; the kernel's are not the program's. */
static void what_is_in_doubt_stays_apart(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	add(&made, "app\t[.] foo.isra.0", 5, 0, 1);
	add(&made, "app\t[.] foo.isra.1", 5, 0, 1);
	add(&made, "app\t[.] foo", 0, 7, 2);
	add(&made, "app\t[.] 0x0000000000001000", 1, 0, 1);
	add(&made, "tool\t[.] 0x0000000000001000", 0, 1, 2);
	add(&made, "app\t[.] read", 1, 0, 1);
	add(&made, "[kernel]\t[k] read", 0, 1, 2);
	assert_rows(&made, "app\t[.] foo.isra.0< 5/0\napp\t[.] foo.isra.1< 5/0\napp\t[.] foo< 0/7\n"
			   "app\t[.] 0x0000000000001000< 1/0\ntool\t[.] 0x0000000000001000< 0/1\n"
			   "app\t[.] read< 1/0\n[kernel]\t[k] read< 0/1\n");
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

static void only_what_is_certain_breaks_a_rule(void **state)
{
	struct made made;
	struct diff_row *row;

	(void)state;
	begin(&made);
	made.event.name = xstrdup("cycles");
	row = add(&made, "app\t[.] work", 30, 33, 1);
	row->cells[0].rate = 0.30;
	row->cells[1].rate = 0.33;
	row->cells[1].verdict = DIFF_CERTAIN;
	row->cells[1].change = (struct change){ .difference = 0.03, .error = 0.005, .freedom = INFINITY };
	made.diff.events = &made.event;
	made.diff.n_events = 1;
	assert_true(broken(&made, "work>+2%"));
	assert_true(broken(&made, "w*>+0%"));
	/* 3 points are more than 2.5, but one standard error is not certain. */
	assert_false(broken(&made, "work>+2.5%"));
	assert_false(broken(&made, "work>+4%"));
	assert_false(broken(&made, "work<-1%"));
	assert_false(broken(&made, "other>+1%"));
	row->cells[1].verdict = DIFF_FEW;
	assert_false(broken(&made, "work>+2%"));
	diff_row_free(row);
	free(made.event.rows);
	free(made.event.name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_of_clones_and_versions_go),
		cmocka_unit_test(versions_of_files_go),
		cmocka_unit_test(a_clone_of_a_new_build_is_the_same_function),
		cmocka_unit_test(in_one_file_a_clone_is_another_function),
		cmocka_unit_test(a_moved_function_is_found),
		cmocka_unit_test(what_is_in_doubt_stays_apart),
		cmocka_unit_test(rules_are_taken_as_they_are_typed),
		cmocka_unit_test(only_what_is_certain_breaks_a_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
