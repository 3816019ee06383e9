/* SPDX-License-Identifier: MIT */
/* The texts of -g: words in any order and cut short, numbers, what is refused. */
#include "fmt/fmt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct chain_options defaults = { .kind = CHAIN_GRAPH, .min_percent = 0.5 };

static void expect(const char *text, struct chain_options expected)
{
	struct chain_options options = defaults;
	struct str err = STR_INIT;

	assert_int_equal(chain_options_parse(&options, text, &err), 0);
	assert_string_equal(err.s, "");
	assert_int_equal(options.kind, expected.kind);
	assert_true(options.min_percent == expected.min_percent);
	assert_int_equal(options.print_limit, expected.print_limit);
	assert_int_equal(options.order, expected.order);
	assert_int_equal(options.order_set, expected.order_set);
	assert_int_equal(options.key, expected.key);
	assert_int_equal(options.value, expected.value);
	assert_int_equal(options.branch, expected.branch);
	str_release(&err);
}

static void test_words(void **state)
{
	(void)state;
	expect("", defaults);
	expect("graph,0.5,caller,function,percent", (struct chain_options){ .kind = CHAIN_GRAPH,
									    .min_percent = 0.5,
									    .order_set = true });
	expect("count,callee,fractal,srcline,2.5,7",
	       (struct chain_options){ .kind = CHAIN_FRACTAL,
				       .min_percent = 2.5,
				       .print_limit = 7,
				       .order = CHAIN_CALLEE,
				       .order_set = true,
				       .key = CHAIN_BY_SRCLINE,
				       .value = CHAIN_COUNT });
	expect("folded,,address,period,branch", (struct chain_options){ .kind = CHAIN_FOLDED,
									.min_percent = 0.5,
									.key = CHAIN_BY_ADDRESS,
									.value = CHAIN_PERIOD,
									.branch = true });
}

/* As perf finds them: the first that begins so. */
static void test_cut_short(void **state)
{
	(void)state;
	expect("f", (struct chain_options){ .kind = CHAIN_FLAT, .min_percent = 0.5 });
	expect("fr", (struct chain_options){ .kind = CHAIN_FRACTAL, .min_percent = 0.5 });
	expect("fo,pe", (struct chain_options){ .kind = CHAIN_FOLDED, .min_percent = 0.5 });
	expect("c", (struct chain_options){ .kind = CHAIN_GRAPH,
					    .min_percent = 0.5,
					    .order = CHAIN_CALLER,
					    .order_set = true });
	expect("co", (struct chain_options){
			     .kind = CHAIN_GRAPH, .min_percent = 0.5, .value = CHAIN_COUNT });
}

static void test_none(void **state)
{
	struct chain_options options = { .kind = CHAIN_NONE };
	struct str err = STR_INIT;

	(void)state;
	expect("none", (struct chain_options){ .kind = CHAIN_NONE, .min_percent = 0.5 });
	expect("none,what", (struct chain_options){ .kind = CHAIN_NONE, .min_percent = 0.5 });
	/* A later -g turns them on again. */
	assert_int_equal(chain_options_parse(&options, "caller", &err), 0);
	assert_int_equal(options.kind, CHAIN_GRAPH);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "graph,101", "call graph '101': the least percentage is a number from 0 to 100" },
		{ "-1", "call graph '-1': the least percentage is a number from 0 to 100" },
		{ "0.5x", "call graph '0.5x': the least percentage is a number from 0 to 100" },
		{ "nan", "call graph 'nan': not known" },
		{ "1,2.5", "call graph '2.5': the most branches to print is a whole number" },
		{ "1,-2", "call graph '-2': the most branches to print is a whole number" },
		{ "1,2,3", "call graph '3': a third number has no meaning" },
		{ "graphs", "call graph 'graphs': not known" },
		{ "calle\033", "call graph 'calle\\x1b': not known" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct chain_options options = defaults;
		struct str err = STR_INIT;

		assert_int_equal(chain_options_parse(&options, rows[i].text, &err), -EINVAL);
		err.s[strcspn(err.s, "\n")] = '\0';
		assert_string_equal(err.s, rows[i].why);
		str_release(&err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
