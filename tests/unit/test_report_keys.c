/* SPDX-License-Identifier: MIT */
/*
 * Sort keys and fields: which words are understood, and which columns and order they make.
 */
#include "report_fixture.h"

#include "hist/keys_internal.h"

static const char *key_name(const struct sort_key *key)
{
	return key ? key->name : "-";
}

static void rows_are_complete_and_names_distinct(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_sort_keys; i++) {
		assert_non_null(sort_keys[i].header);
		assert_non_null(sort_keys[i].help);
		assert_non_null(sort_keys[i].value);
		assert_non_null(sort_keys[i].compare);
		assert_non_null(sort_keys[i].text);
		assert_true(sort_keys[i].facts);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(sort_keys[i].name, sort_keys[j].name);
	}
}

static void the_beginning_of_a_name_is_enough(void **state)
{
	static const struct {
		const char *word, *key;
	} rows[] = {
		{ "sym", "symbol" },  { "s", "symbol" },   { "c", "comm" },	 { "p", "pid" },
		{ "t", "transaction" }, { "tid", "tid" },   { "TIME", "time" },	 { "dso", "dso" },
		{ "dso_t", "dso_to" }, { "mem", "mem" },   { "parent", "parent" }, { "foo", "-" },
		{ "srcline_f", "srcline_from" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(key_name(sort_key_find(rows[i].word, strlen(rows[i].word))),
				    rows[i].key);
	assert_string_equal(field_find("per", 3)->name, "period");
	assert_string_equal(field_find("o", 1)->name, "overhead");
	assert_null(field_find("x", 1));
}

static void add_columns(const struct table *table, struct str *out)
{
	for (size_t i = 0; i < table->n_columns; i++)
		str_addf(out, "%s%s", i ? " " : "",
			 table->columns[i].field ? table->columns[i].field->header
						  : table->columns[i].key->name);
}

static void add_order(const struct table *table, struct str *out)
{
	for (size_t i = 0; i < table->question->private->n_order; i++) {
		const struct order_item *item = &table->question->private->order[i];

		str_addf(out, "%s%s", i ? " " : "",
			 item->field ? item->field->header : table->question->keys[item->key_index]->name);
	}
}

static const struct columns_case {
	struct query options;
	const char *columns, *order, *error;
} columns_cases[] = {
#define PLAIN .children = 0
	{ { PLAIN }, "Overhead comm dso symbol", "Overhead comm dso symbol", NULL },
	{ { .children = -1 }, "Children Self comm dso symbol", "Children Self comm dso symbol", NULL },
	{ { .children = 1, .no_chains = true }, "Overhead comm dso symbol", NULL, NULL },
	{ { .children = 1, .view = VIEW_HIERARCHY }, "Overhead comm dso symbol", NULL, NULL },
	{ { PLAIN, .sort = "sym,dso" }, "Overhead symbol dso", "Overhead symbol dso", NULL },
	{ { PLAIN, .sort = "sym, sym" }, "Overhead symbol", NULL, NULL },
	{ { PLAIN, .sort = "" }, "Overhead", "Overhead", NULL },
	{ { PLAIN, .sort = "+cpu" }, "Overhead comm dso symbol cpu", NULL, NULL },
	{ { PLAIN, .sort = "comm,overhead_us" }, "Overhead comm usr", "comm usr Overhead", NULL },
	{ { PLAIN, .fields = "comm,overhead" }, "comm Overhead", "comm Overhead", NULL },
	{ { PLAIN, .fields = "overhead", .sort = "sym" }, "Overhead symbol", "symbol Overhead", NULL },
	{ { PLAIN, .fields = "+period" }, "Overhead Period comm dso symbol",
	  "Overhead comm dso symbol Period", NULL },
	{ { .children = 1, .fields = "overhead,comm" }, "Overhead comm", "Overhead comm", NULL },
	{ { PLAIN, .n_samples = true, .total_period = true, .cpu_utilization = true, .sort = "comm" },
	  "Overhead sys usr Samples Period comm", NULL, NULL },
	{ { PLAIN, .parent = "x" }, "Overhead comm dso symbol parent", NULL, NULL },
	{ { PLAIN, .filters = { .dsos = "app" } }, "Overhead comm symbol", "Overhead comm dso symbol",
	  NULL },
	{ { PLAIN, .filters = { .dsos = "app,b" } }, "Overhead comm dso symbol", NULL, NULL },
	{ { .children = 1, .filters = { .dsos = "app" } }, "Children Self comm dso symbol", NULL, NULL },
	{ { PLAIN, .needs = NEED_ENTRIES, .filters = { .dsos = "app" } }, "Overhead comm dso symbol", NULL, NULL },
	{ { PLAIN, .sort = "dso", .filters = { .dsos = "app" } }, "Overhead dso", NULL, NULL },
	{ { PLAIN, .mem_mode = true, .sort = "mem" }, "Overhead mem", NULL, NULL },
	{ { PLAIN, .sort = "foo" }, NULL, NULL, "--sort: 'foo' is not a key" },
	{ { PLAIN, .sort = "symbl" }, NULL, NULL, "--sort: 'symbl' is not a key; is 'symbol' meant?" },
	{ { PLAIN, .fields = "ipc_null" }, NULL, NULL,
	  "--fields: 'ipc_null' is not available: instructions per cycle are those of branches, by ipc_lbr" },
	{ { PLAIN, .fields = "ipc_lbr" }, NULL, NULL,
	  "--fields: 'ipc_lbr' is only available for branches, with --branch-stack" },
	{ { PLAIN, .fields = "" }, NULL, NULL, "--fields: no field is given" },
	{ { PLAIN, .sort = "+" }, NULL, NULL, "--sort: nothing follows '+'" },
	{ { PLAIN, .sort = "mem" }, NULL, NULL,
	  "--sort: 'mem' is only available for memory samples, with --mem-mode" },
	{ { PLAIN, .sort = "dso_from" }, NULL, NULL,
	  "--sort: 'dso_from' is only available for branches, with --branch-stack" },
	{ { PLAIN, .branch_stack = true }, NULL, NULL,
	  "--branch-stack: the recording has no branches; record them with -b" },
	{ { PLAIN, .parent = "(", .sort = "parent" }, NULL, NULL,
	  "--parent: '(' is not a regular expression: Unmatched ( or \\(" },
};

static void words_make_columns_and_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(columns_cases); i++) {
		const struct columns_case *c = &columns_cases[i];
		struct made_report m;
		struct str columns = STR_INIT, order = STR_INIT;
		int code = made_open(&m, &c->options);

		assert_int_equal(code, c->error ? -EINVAL : 0);
		if (c->error) { /* a second line may say what is known */
			assert_int_equal(strcspn(m.err.s, "\n"), strlen(c->error));
			assert_memory_equal(m.err.s, c->error, strlen(c->error));
		}
		if (!code) {
			add_columns(m.table, &columns);
			add_order(m.table, &order);
			assert_string_equal(columns.s, c->columns);
			if (c->order)
				assert_string_equal(order.s, c->order);
		}
		str_release(&columns);
		str_release(&order);
		made_close(&m);
	}
}

static void a_column_left_out_is_said(void **state)
{
	const struct query options = { .children = 0, .filters = { .comms = "a\033b" } };
	struct made_report m;

	(void)state;
	assert_int_equal(made_open(&m, &options), 0);
	assert_string_equal(m.table->question->elided.s, "# comm: a\\x1bb\n");
	made_close(&m);
}

static void braces_join_levels(void **state)
{
	static const struct {
		const char *sort;
		unsigned levels[4];
	} rows[] = {
		{ "comm,dso,sym,cpu", { 0, 1, 2, 3 } },
		{ "{comm,dso},sym,cpu", { 0, 0, 1, 2 } },
		{ "comm,{dso,sym},cpu", { 0, 1, 1, 2 } },
		{ "comm,{dso},{sym,cpu}", { 0, 1, 2, 2 } },
		{ "comm,sample,{period,dso,sym},cpu", { 0, 1, 1, 2 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct query options = { .sort = rows[i].sort, .view = VIEW_HIERARCHY };
		struct made_report m;

		assert_int_equal(made_open(&m, &options), 0);
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(m.table->question->private->slots[k].level, rows[i].levels[k]);
		made_close(&m);
	}
}

static void assert_text(struct made_report *m, const char *key, uint64_t value, const char *expected)
{
	struct str out = STR_INIT;

	sort_key_find(key, strlen(key))->text(m->table, value, &out);
	assert_string_equal(out.s, expected);
	str_release(&out);
}

static void values_become_texts(void **state)
{
	const struct query options = { .sort = "comm", .children = 0 };
	struct made_report m;

	(void)state;
	assert_int_equal(made_open(&m, &options), 0);
	assert_text(&m, "cpu", 7, "007");
	assert_text(&m, "cpu", UINT64_MAX, "-001");
	assert_text(&m, "time", 12, "1.200000");
	assert_text(&m, "code_page_size", 0, "N/A");
	assert_text(&m, "code_page_size", 4096, "4K");
	assert_text(&m, "data_page_size", 1ULL << 30, "1024M");
	assert_text(&m, "data_page_size", 1ULL << 63, "8E");
	assert_text(&m, "mispredict", 1, "Y");
	assert_text(&m, "mispredict", 2, "N");
	assert_text(&m, "mispredict", 0, "N/A");
	assert_text(&m, "cycles", 0, "-");
	assert_text(&m, "transaction", PERF_TXN_ELISION | PERF_TXN_CONFLICT, "EL CON NEITHER ");
	assert_text(&m, "transaction", PERF_TXN_TRANSACTION | PERF_TXN_SYNC | 5ULL << 32, "TX SYNC :5");
	assert_text(&m, "phys_daddr", 0x1234, "[.] 0x0000000000001234");
	assert_text(&m, "cgroup", 0, "N/A");
	made_close(&m);
}

/* Texts that differ stand in an order; it is the same from both sides. */
static void only_equal_texts_are_equal_in_order(void **state)
{
	static const char *const names[] = { "mem",    "snoop",	      "tlb",	 "locked", "blocked",
					     "weight", "transaction", "mispredict", "cycles", "phys_daddr" };
	struct query options = { .children = 0 };
	struct made_report m;

	(void)state;
	assert_int_equal(made_open(&m, &options), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct sort_key *key = sort_key_find(names[i], strlen(names[i]));

		for (unsigned x = 0; x < 64; x++)
			for (unsigned y = 0; y < 64; y++) {
				const uint64_t a = 1ULL << x, b = 1ULL << y | 1;
				const int order = key->compare(m.table, a, b), back = key->compare(m.table, b, a);
				struct str texts[] = { STR_INIT, STR_INIT };

				key->text(m.table, a, &texts[0]);
				key->text(m.table, b, &texts[1]);
				assert_true(order ? (order < 0) == (back > 0) : !strcmp(texts[0].s, texts[1].s));
				str_release(&texts[0]);
				str_release(&texts[1]);
			}
	}
	made_close(&m);
}

static void columns_are_as_wide_as_their_widest(void **state)
{
	const struct query options = { .sort = "dso,sym", .children = 0 };
	struct made_report m;

	(void)state;
	assert_int_equal(made_open(&m, &options), 0);
	made_sample(&m, 0, made_unknown(&m, NULL, 0x5000), 0, 7);
	hist_fold(m.table, &m.hist);
	table_columns_for(m.table, &m.hist);
	assert_int_equal(m.table->columns[0].width, 8);
	assert_int_equal(m.table->columns[1].width, 16); /* perf's, where a function is not known */
	assert_int_equal(m.table->columns[2].width, strlen("[.] 0x0000000000005000"));
	made_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete_and_names_distinct),
		cmocka_unit_test(the_beginning_of_a_name_is_enough),
		cmocka_unit_test(words_make_columns_and_order),
		cmocka_unit_test(a_column_left_out_is_said),
		cmocka_unit_test(braces_join_levels),
		cmocka_unit_test(values_become_texts),
		cmocka_unit_test(only_equal_texts_are_equal_in_order),
		cmocka_unit_test(columns_are_as_wide_as_their_widest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
