/* SPDX-License-Identifier: MIT */
/*
 * --children: each entry of a chain counted once per sample, whose part of the chain an entry has, inlined
 * functions, the caller before what it called, and parents.
 */
#include "report_fixture.h"

static struct query options_of(enum chain_order order)
{
	return (struct query){
		.sort = "sym",
		.children = 1,
		.chain = { .kind = CHAIN_GRAPH, .order = order, .order_set = true },
	};
}

static void open_order(struct made_report *m, enum chain_order order)
{
	const struct query options = options_of(order);

	assert_int_equal(made_open(m, &options), 0);
}

/* The entry of this text; the test fails where there is none. */
static const struct entry *find_text(struct made_report *m, const char *text)
{
	for (size_t i = 0; i < m->hist.n; i++)
		if (!strcmp(made_text(m, m->hist.entries[i]), text))
			return m->hist.entries[i];
	fail_msg("no entry %s", text);
	return NULL;
}

/* A tree as "main:12(work:12(leaf:5))". */
static void add_nodes(const struct call_node *node, struct str *out)
{
	for (const char *comma = ""; node; node = node->next, comma = ",") {
		str_addf(out, "%s%s%s:%d", comma, node->frame.symbol ? node->frame.symbol->name : "?",
			 node->frame.inlined ? "*" : "", (int)node->total_period);
		if (!node->children)
			continue;
		str_addc(out, '(');
		add_nodes(node->children, out);
		str_addc(out, ')');
	}
}

static struct call_tree *make_tree(struct made_report *m, const struct entry *entry)
{
	const struct tree_limit limit = table_tree_limit(m->table, &m->hist, false);

	return table_tree(m->table, &m->hist, entry, &limit);
}

static void assert_tree(struct made_report *m, const char *entry, const char *expected)
{
	const struct entry *found = find_text(m, entry);
	struct call_tree *tree = make_tree(m, found);
	struct str out = STR_INIT;

	assert_non_null(tree);
	add_nodes(tree->root.children, &out);
	assert_string_equal(out.s, expected);
	calltree_free(tree);
	str_release(&out);
}

/* main -> work -> leaf: 5; main -> work: 7 */
static void add_plain(struct made_report *m)
{
	uint32_t main_location = made_location(m, &made_main, 4, NULL);
	uint32_t work = made_location(m, &made_work, 4, NULL), leaf = made_location(m, &made_leaf, 0, NULL);
	const uint32_t deep[] = { main_location, work, leaf, LOCATION_NONE };
	const uint32_t flat[] = { main_location, work, LOCATION_NONE };

	made_sample(m, 0, leaf, made_stack(m, deep), 5);
	made_sample(m, 0, work, made_stack(m, flat), 7);
}

static void callers_have_the_sum_of_what_they_called(void **state)
{
	struct made_report m;

	(void)state;
	open_order(&m, CHAIN_CALLER);
	add_plain(&m);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "12/0/0 [.] main\n"
			   "12/7/1 [.] work\n"
			   "5/5/1 [.] leaf\n");
	made_close(&m);
}

static void a_callers_tree_goes_inwards(void **state)
{
	struct made_report m;

	(void)state;
	open_order(&m, CHAIN_CALLER);
	add_plain(&m);
	hist_fold(m.table, &m.hist);
	assert_tree(&m, "[.] main", "main:12(work:12(leaf:5))");
	/* As the sampled function work has the whole chain, as a caller its inner part. */
	assert_tree(&m, "[.] work", "main:7(work:7),work:5(leaf:5)");
	assert_tree(&m, "[.] leaf", "main:5(work:5(leaf:5))");
	made_close(&m);
}

static void a_callees_tree_goes_outwards(void **state)
{
	struct made_report m;

	(void)state;
	open_order(&m, CHAIN_CALLEE);
	add_plain(&m);
	hist_fold(m.table, &m.hist);
	assert_tree(&m, "[.] main", "main:12");
	assert_tree(&m, "[.] work", "work:12(main:12)");
	assert_tree(&m, "[.] leaf", "leaf:5(work:5(main:5))");
	made_close(&m);
}

static void recursion_counts_once(void **state)
{
	struct made_report m;

	(void)state;
	for (int order = CHAIN_CALLER; order <= CHAIN_CALLEE; order++) {
		uint32_t a, b, leaf;

		open_order(&m, (enum chain_order)order);
		a = made_location(&m, &made_work, 4, NULL);
		b = made_location(&m, &made_work, 8, NULL);
		leaf = made_location(&m, &made_leaf, 0, NULL);
		made_sample(&m, 0, leaf, made_stack(&m, (const uint32_t[]){ a, b, a, leaf, LOCATION_NONE }), 5);
		made_sample(&m, 0, b, made_stack(&m, (const uint32_t[]){ a, a, b, LOCATION_NONE }), 2);
		hist_fold(m.table, &m.hist);
		assert_entries(&m, "7/2/1 [.] work\n"
				   "5/5/1 [.] leaf\n");
		/* From its first frame in the order shown to the end. */
		assert_tree(&m, "[.] work",
			    order == CHAIN_CALLER ? "work:7(work:7(work:7(leaf:5)))"
						  : "work:7(work:7(work:7))");
		made_close(&m);
	}
}

static void inlined_functions_are_frames_and_self_is_the_symbols(void **state)
{
	struct made_report m;
	uint32_t main_location, work;

	(void)state;
	open_order(&m, CHAIN_CALLER);
	main_location = made_location(&m, &made_main, 4, NULL);
	work = made_location(&m, &made_work, 4, &made_small);
	made_sample(&m, 0, work, made_stack(&m, (const uint32_t[]){ main_location, work, LOCATION_NONE }), 9);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "9/9/1 [.] work\n"
			   "9/0/0 [.] main\n"
			   "9/0/0 [.] small (inlined)\n");
	assert_tree(&m, "[.] work", "main:9(work:9(small*:9))");
	assert_tree(&m, "[.] small (inlined)", "small*:9");
	made_close(&m);
}

static void a_sample_without_chain_is_its_own_total(void **state)
{
	struct made_report m;

	(void)state;
	open_order(&m, CHAIN_CALLER);
	made_sample(&m, 0, made_location(&m, &made_leaf, 0, NULL), 0, 3);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "3/3/1 [.] leaf\n");
	made_close(&m);
}

static void unknown_callers_are_entries_or_hidden(void **state)
{
	struct query options = options_of(CHAIN_CALLER);
	struct made_report m;

	(void)state;
	for (int hide = 0; hide < 2; hide++) {
		uint32_t nowhere, leaf;

		options.hide_unresolved = hide;
		assert_int_equal(made_open(&m, &options), 0);
		nowhere = made_unknown(&m, NULL, 0xabc);
		leaf = made_location(&m, &made_leaf, 0, NULL);
		made_sample(&m, 0, leaf, made_stack(&m, (const uint32_t[]){ nowhere, leaf, LOCATION_NONE }), 4);
		hist_fold(m.table, &m.hist);
		assert_entries(&m, hide ? "4/4/1 [.] leaf\n"
					: "4/4/1 [.] leaf\n4/0/0 [.] 0x0000000000000abc\n");
		assert_tree(&m, "[.] leaf", hide ? "leaf:4" : "?:4(leaf:4)");
		made_close(&m);
	}
}

static void of_equal_rows_the_caller_stands_first(void **state)
{
	struct made_report m;
	uint32_t main, work, leaf;

	(void)state;
	for (int order = CHAIN_CALLER; order <= CHAIN_CALLEE; order++) {
		open_order(&m, order);
		main = made_location(&m, &made_main, 0, NULL);
		work = made_location(&m, &made_work, 4, NULL);
		leaf = made_location(&m, &made_leaf, 0, NULL);
		/* work calls leaf; main alone has as much. */
		made_sample(&m, 0, leaf, made_stack(&m, (const uint32_t[]){ work, leaf, LOCATION_NONE }), 5);
		made_sample(&m, 0, main, made_stack(&m, (const uint32_t[]){ main, LOCATION_NONE }), 5);
		hist_fold(m.table, &m.hist);
		/* With callers first, main has no frames to come; with callees first, leaf has the most. */
		assert_entries(&m, order == CHAIN_CALLER ? "5/5/1 [.] leaf\n"
							   "5/0/0 [.] work\n"
							   "5/5/1 [.] main\n"
							 : "5/5/1 [.] main\n"
							   "5/0/0 [.] work\n"
							   "5/5/1 [.] leaf\n");
		made_close(&m);
	}
}

static void small_entries_get_no_tree(void **state)
{
	struct query options = options_of(CHAIN_CALLER);
	struct made_report m;

	(void)state;
	options.chain.min_percent = 50;
	assert_int_equal(made_open(&m, &options), 0);
	add_plain(&m);
	hist_fold(m.table, &m.hist);
	assert_tree(&m, "[.] main", "main:12(work:12)");
	assert_null(make_tree(&m, find_text(&m, "[.] leaf")));
	made_close(&m);
}

static void the_symbol_filter_is_for_callers_too(void **state)
{
	struct query options = options_of(CHAIN_CALLER);
	struct made_report m;

	(void)state;
	options.filters.symbol_filter = "or";
	assert_int_equal(made_open(&m, &options), 0);
	add_plain(&m);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "12/7/1 [.] work\n");
	assert_int_equal(m.hist.totals.period, 12);
	assert_int_equal(m.hist.shown.period, 7);
	made_close(&m);
}

static void the_parent_is_the_first_match_in_the_order_shown(void **state)
{
	struct query options = options_of(CHAIN_CALLER);
	struct made_report m;

	(void)state;
	options.children = 0;
	options.sort = "parent";
	options.parent = "^main$|^work$";
	for (int order = CHAIN_CALLER; order <= CHAIN_CALLEE; order++) {
		options.chain.order = (enum chain_order)order;
		for (int exclude = 0; exclude < 2; exclude++) {
			options.exclude_other = exclude;
			assert_int_equal(made_open(&m, &options), 0);
			add_plain(&m);
			made_sample(&m, 0, made_location(&m, &made_leaf, 0, NULL), 0, 3);
			hist_fold(m.table, &m.hist);
			if (order == CHAIN_CALLER)
				assert_entries(&m, exclude ? "0/12/2 main\n"
							   : "0/12/2 main\n0/3/1 [other]\n");
			else
				assert_entries(&m, exclude ? "0/12/2 work\n"
							   : "0/12/2 work\n0/3/1 [other]\n");
			made_close(&m);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_have_the_sum_of_what_they_called),
		cmocka_unit_test(a_callers_tree_goes_inwards),
		cmocka_unit_test(a_callees_tree_goes_outwards),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(inlined_functions_are_frames_and_self_is_the_symbols),
		cmocka_unit_test(a_sample_without_chain_is_its_own_total),
		cmocka_unit_test(unknown_callers_are_entries_or_hidden),
		cmocka_unit_test(of_equal_rows_the_caller_stands_first),
		cmocka_unit_test(small_entries_get_no_tree),
		cmocka_unit_test(the_symbol_filter_is_for_callers_too),
		cmocka_unit_test(the_parent_is_the_first_match_in_the_order_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
