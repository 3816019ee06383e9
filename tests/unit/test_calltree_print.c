/* SPDX-License-Identifier: MIT */
/*
 * Call trees as text, against what perf 6.1 printed for a recording with these chains (functions x_fn there).
 */
#include "tree_fixture.h"

/* The chains of entry x, callers first, and 9 samples of another entry. */
static void add_chains(struct tree_fixture *t, enum chain_order order)
{
	bool caller = order == CHAIN_CALLER;

	tree_add(t, caller ? "main a b c" : "c b a main", 10000, 10);
	tree_add(t, caller ? "main a b d" : "d b a main", 20000, 20);
	tree_add(t, caller ? "main a b" : "b a main", 5000, 5);
	tree_add(t, caller ? "main a b f" : "f b a main", 1000, 1);
	tree_add(t, caller ? "main e" : "e main", 1000, 1);
	tree_add(t, caller ? "main f g h" : "h g f main", 5000, 5);
	t->hist.totals.period += 9000;
}

static void expect_text(enum chain_order order, struct chain_options options, const char *text)
{
	struct tree_fixture t;

	tree_init(&t);
	t.question.query.chain = options;
	add_chains(&t, order);
	assert_string_equal(tree_text(&t, 0), text);
	tree_release(&t);
}

/* -g caller */
static void test_graph(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_GRAPH, .value = CHAIN_PERCENT, .min_percent = 0.5, .print_limit = 0
	};

	(void)state;
	expect_text(CHAIN_CALLER, options,
		    "            |\n"
		    "            ---main\n"
		    "               |          \n"
		    "               |--70.59%--a\n"
		    "               |          b\n"
		    "               |          |          \n"
		    "               |          |--39.22%--d\n"
		    "               |          |          \n"
		    "               |          |--19.61%--c\n"
		    "               |          |          \n"
		    "               |           --1.96%--f\n"
		    "               |          \n"
		    "               |--9.80%--f\n"
		    "               |          g\n"
		    "               |          h\n"
		    "               |          \n"
		    "                --1.96%--e\n"
		    "\n");
}

/* -g graph,30,caller */
static void test_graph_limited(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_GRAPH, .value = CHAIN_PERCENT, .min_percent = 30, .print_limit = 0
	};

	(void)state;
	expect_text(CHAIN_CALLER, options,
		    "            |\n"
		    "            ---main\n"
		    "               |          \n"
		    "                --70.59%--a\n"
		    "                          b\n"
		    "                          |          \n"
		    "                           --39.22%--d\n"
		    "\n");
}

/* -g fractal,20,caller */
static void test_fractal(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_FRACTAL, .value = CHAIN_PERCENT, .min_percent = 20, .print_limit = 0
	};

	(void)state;
	expect_text(CHAIN_CALLER, options,
		    "            |\n"
		    "            ---main\n"
		    "               |          \n"
		    "               |--85.71%--a\n"
		    "               |          b\n"
		    "               |          |          \n"
		    "               |          |--64.52%--d\n"
		    "               |          |          \n"
		    "               |          |--32.26%--c\n"
		    "               |           --3.23%--[...]\n"
		    "                --14.29%--[...]\n"
		    "\n");
}

/* -g fractal,20,caller,count */
static void test_fractal_count(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_FRACTAL, .value = CHAIN_COUNT, .min_percent = 20, .print_limit = 0
	};

	(void)state;
	expect_text(CHAIN_CALLER, options,
		    "            |\n"
		    "            ---main\n"
		    "               |          \n"
		    "               |--36--a\n"
		    "               |          b\n"
		    "               |          |          \n"
		    "               |          |--20--d\n"
		    "               |          |          \n"
		    "               |          |--10--c\n"
		    "               |           --1--[...]\n"
		    "                --6--[...]\n"
		    "\n");
}

/* -g fractal,0.5,1,caller,period */
static void test_fractal_one_branch(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_FRACTAL, .value = CHAIN_PERIOD, .min_percent = 0.5, .print_limit = 1
	};

	(void)state;
	expect_text(CHAIN_CALLER, options,
		    "            |\n"
		    "            ---main\n"
		    "               |          \n"
		    "               |--36000--a\n"
		    "               |          b\n"
		    "               |          |          \n"
		    "               |          |--20000--d\n"
		    "               |           --11000--[...]\n"
		    "                --6000--[...]\n"
		    "\n");
}

/* -g fractal,60,callee */
static void test_fractal_nothing_left(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_FRACTAL, .value = CHAIN_PERCENT, .min_percent = 60, .print_limit = 0
	};

	(void)state;
	expect_text(CHAIN_CALLEE, options, "");
}

/* -g flat,caller */
static void test_flat_caller(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_FLAT, .value = CHAIN_PERCENT, .min_percent = 0.5, .print_limit = 0
	};

	(void)state;
	expect_text(CHAIN_CALLER, options,
		    "           39.22%\n"
		    "                main\n"
		    "                a\n"
		    "                b\n"
		    "                d\n"
		    "\n"
		    "           19.61%\n"
		    "                main\n"
		    "                a\n"
		    "                b\n"
		    "                c\n"
		    "\n"
		    "           9.80%\n"
		    "                main\n"
		    "                f\n"
		    "                g\n"
		    "                h\n"
		    "\n"
		    "           70.59%\n"
		    "                main\n"
		    "                a\n"
		    "                b\n"
		    "\n"
		    "           1.96%\n"
		    "                main\n"
		    "                e\n"
		    "\n"
		    "           1.96%\n"
		    "                main\n"
		    "                a\n"
		    "                b\n"
		    "                f\n"
		    "\n");
}

/* -g flat,5,3,callee,count */
static void test_flat_callee_limited(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_FLAT, .value = CHAIN_COUNT, .min_percent = 5, .print_limit = 3
	};

	(void)state;
	expect_text(CHAIN_CALLEE, options,
		    "           20\n"
		    "                d\n"
		    "                b\n"
		    "                a\n"
		    "                main\n"
		    "\n"
		    "           10\n"
		    "                c\n"
		    "                b\n"
		    "                a\n"
		    "                main\n"
		    "\n"
		    "           5\n"
		    "                h\n"
		    "                g\n"
		    "                f\n"
		    "                main\n"
		    "\n");
}

/* -g folded,period,callee */
static void test_folded(void **state)
{
	struct chain_options options = {
		.kind = CHAIN_FOLDED, .value = CHAIN_PERIOD, .min_percent = 0.5, .print_limit = 0
	};

	(void)state;
	expect_text(CHAIN_CALLEE, options,
		    "20000 d;b;a;main\n"
		    "10000 c;b;a;main\n"
		    "5000 h;g;f;main\n"
		    "5000 b;a;main\n"
		    "1000 f;b;a;main\n"
		    "1000 e;main\n");
}

/* All chains have the entry's period in common down to b: a trunk without a value. */
static void test_trunk(void **state)
{
	struct tree_fixture t;

	(void)state;
	tree_init(&t);
	tree_add(&t, "main a 0x1234 0x77", 3000, 3);
	t.hist.totals.period = 51000;
	assert_string_equal(tree_text(&t, 0), "            |\n"
					      "            ---main\n"
					      "               a\n"
					      "               0x1234\n"
					      "               0x77\n"
					      "\n");
	/* Entries of symbols: the first is the entry itself. */
	t.question.query.sort = "symbol";
	assert_string_equal(tree_text(&t, 2), "              |\n"
					      "              ---a\n"
					      "                 0x1234\n"
					      "                 0x77\n"
					      "\n");
	tree_release(&t);
}

/* An entry with samples that have no chain: then the branch needs its value. */
static void test_no_trunk(void **state)
{
	struct tree_fixture t;

	(void)state;
	tree_init(&t);
	tree_add(&t, "main a", 3000, 3);
	t.entry.total.period = 4000;
	t.hist.totals.period = 4000;
	assert_string_equal(tree_text(&t, 0), "            |          \n"
					      "             --75.00%--main\n"
					      "                       a\n"
					      "\n");
	tree_release(&t);
}

/* A least percentage of a branch is rounded up to whole periods: 34 % of 3 are 2. */
static void test_fractal_limit(void **state)
{
	struct tree_fixture t;

	(void)state;
	tree_init(&t);
	t.question.query.chain.kind = CHAIN_FRACTAL;
	t.question.query.chain.min_percent = 34;
	tree_add(&t, "a", 2, 1);
	tree_add(&t, "b", 1, 1);
	assert_string_equal(tree_text(&t, 0), "            |          \n"
					      "            |--66.67%--a\n"
					      "             --33.33%--[...]\n"
					      "\n");
	tree_release(&t);
}

/* Rails of more than 32 levels: each level has two branches. */
static void test_deep(void **state)
{
	struct str chain = STR_INIT;
	struct tree_fixture t;
	const char *line;
	size_t rails = 0;

	(void)state;
	tree_init(&t);
	for (int i = 0; i < 50; i++) {
		str_add(&chain, "a");
		tree_add(&t, chain.s, 10, 1);
		str_addc(&chain, ' ');
	}
	tree_add(&t, "b", 1, 1);
	t.question.query.chain.min_percent = 0;
	line = strstr(tree_text(&t, 0), "100.00%");
	assert_null(line);
	line = strstr(t.output.text.s, "--2.00%--a\n");
	assert_non_null(line);
	while (line[-1] != '\n')
		rails += *--line == '|';
	assert_int_equal(rails, 1); /* b comes last, all others are last of theirs */
	assert_string_equal(strrchr(t.output.text.s, '-') - strlen("             --0.20%-"),
			    "             --0.20%--b\n\n");
	str_release(&chain);
	tree_release(&t);
}

static void test_names(void **state)
{
	static const struct {
		enum chain_key key;
		const char *file;
		bool full, inlined;
		const char *text;
	} rows[] = {
		{ CHAIN_BY_FUNCTION, "/src/x.c", false, false, "b" },
		{ CHAIN_BY_FUNCTION, "/src/x.c", false, true, "b (inlined)" },
		{ CHAIN_BY_SRCLINE, "/src/x.c", false, false, "b x.c:7" },
		{ CHAIN_BY_SRCLINE, "/src/x.c", true, true, "b /src/x.c:7 (inlined)" },
		{ CHAIN_BY_SRCLINE, "x\033.c", false, false, "b x\\x1b.c:7" },
		{ CHAIN_BY_SRCLINE, NULL, false, false, "b" },
		{ CHAIN_BY_ADDRESS, "x.c", false, false, "b x.c:7" },
		{ CHAIN_BY_ADDRESS, NULL, false, false, "b +8" },
	};
	struct tree_fixture t;
	struct str name = STR_INIT;

	(void)state;
	tree_init(&t);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct view_frame frame = tree_frame(&t, "b");

		frame.line = (struct source_line){ rows[i].file, 7 };
		frame.inlined = rows[i].inlined;
		t.question.query.chain.key = rows[i].key;
		t.question.query.full_source_path = rows[i].full;
		str_reset(&name);
		calltree_add_name(&t.table, &frame, &name);
		assert_string_equal(name.s, rows[i].text);
	}
	str_release(&name);
	tree_release(&t);
}

/* -g folded: a name that holds the separator does not become two. */
static void test_folded_separator(void **state)
{
	struct tree_fixture t;

	(void)state;
	tree_init(&t);
	t.question.query.chain.kind = CHAIN_FOLDED;
	tree_add(&t, "main a", 1, 1);
	t.symbols[1].name = "a;b";
	assert_string_equal(tree_text(&t, 0), "100.00% main;a.b\n");
	t.question.query.separator = ",";
	assert_string_equal(tree_text(&t, 0), "100.00% main,a;b\n");
	tree_release(&t);
}

static void test_colors(void **state)
{
	struct tree_fixture t;

	(void)state;
	tree_init(&t);
	tree_add(&t, "a", 50, 1);
	tree_add(&t, "b", 6, 1);
	t.hist.totals.period = 1000;
	t.output.color = true;
	assert_string_equal(tree_text(&t, 0), "            |          \n"
					      "            |--\033[31m5.00%\033[m--a\n"
					      "            |          \n"
					      "             --\033[32m0.60%\033[m--b\n"
					      "\n");
	t.question.query.chain.value = CHAIN_COUNT;
	assert_null(strchr(tree_text(&t, 0), '\033'));
	tree_release(&t);
}

static void test_none(void **state)
{
	struct tree_fixture t;

	(void)state;
	tree_init(&t);
	tree_add(&t, "a", 50, 1);
	t.question.query.chain.kind = CHAIN_NONE;
	assert_string_equal(tree_text(&t, 0), "");
	tree_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_graph_limited),
		cmocka_unit_test(test_fractal),
		cmocka_unit_test(test_fractal_count),
		cmocka_unit_test(test_fractal_one_branch),
		cmocka_unit_test(test_fractal_nothing_left),
		cmocka_unit_test(test_flat_caller),
		cmocka_unit_test(test_flat_callee_limited),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_trunk),
		cmocka_unit_test(test_no_trunk),
		cmocka_unit_test(test_fractal_limit),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_folded_separator),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
