/*
 * Folding cells into entries: what is one entry and what is not, sums, order, filters, limits, groups and
 * hierarchies. Cells are made by hand.
 */
#include "report_fixture.h"

static struct query options_of(const char *sort)
{
	return (struct query){ .sort = sort, .children = 0, .chain = { .kind = CHAIN_NONE } };
}

static void open_sorted(struct made_report *m, const char *sort)
{
	const struct query options = options_of(sort);

	assert_int_equal(made_open(m, &options), 0);
}

static void addresses_of_a_function_are_one_entry(void **state)
{
	struct made_report m;

	(void)state;
	open_sorted(&m, "dso,sym");
	made_sample(&m, 0, made_location(&m, &made_main, 0, NULL), 0, 10);
	made_sample(&m, 0, made_location(&m, &made_main, 8, NULL), 0, 20);
	made_sample(&m, 0, made_location(&m, &made_main, 8, NULL), 0, 5);
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 50);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "0/50/1 app|[.] work\n"
			   "0/35/3 app|[.] main\n");
	made_close(&m);
}

static void same_names_in_two_files_are_two_entries(void **state)
{
	struct made_report m;

	(void)state;
	open_sorted(&m, "sym");
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 10);
	made_sample(&m, 0, made_location(&m, &made_work_z, 0, NULL), 0, 30);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "0/30/1 [.] work\n"
			   "0/10/1 [.] work\n");
	made_close(&m);
}

static void files_of_one_name_are_one_entry_unless_verbose(void **state)
{
	struct query options = options_of("dso");
	struct made_report m;

	(void)state;
	for (int verbose = 0; verbose < 2; verbose++) {
		options.verbose = (unsigned)verbose;
		assert_int_equal(made_open(&m, &options), 0);
		made_sample(&m, 0, made_unknown(&m, &made_dsos[0], 0x10), 0, 1);
		made_sample(&m, 0, made_unknown(&m, &made_dsos[1], 0x20), 0, 2);
		made_sample(&m, 0, made_unknown(&m, NULL, 0x20), 0, 2);
		hist_fold(m.table, &m.hist);
		assert_entries(&m, verbose ? "0/2/1 /b/app\n0/2/1 [unknown]\n0/1/1 /a/app\n"
					   : "0/3/2 app\n0/2/1 [unknown]\n");
		made_close(&m);
	}
}

static void unknown_addresses_are_apart_and_last(void **state)
{
	struct made_report m;

	(void)state;
	open_sorted(&m, "sym");
	made_sample(&m, 0, made_unknown(&m, &made_dsos[2], 0x5000), 0, 7);
	made_sample(&m, 0, made_unknown(&m, &made_dsos[2], 0x400), 0, 7);
	made_sample(&m, 0, made_unknown(&m, &made_dsos[2], 0x400), 0, 0);
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 7);
	made_sample(&m, 0, made_location(&m, &made_leaf, 0, NULL), 0, 7);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "0/7/1 [.] leaf\n"
			   "0/7/1 [.] work\n"
			   "0/7/2 [.] 0x0000000000000400\n"
			   "0/7/1 [.] 0x0000000000005000\n");
	made_close(&m);
}

static void keys_decide_between_equals_in_their_order(void **state)
{
	struct made_report m;

	(void)state;
	open_sorted(&m, "cpu,sym");
	made_sample(&m, 1, made_location(&m, &made_leaf, 0, NULL), 0, 5);
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 5);
	made_sample(&m, UINT64_MAX, made_location(&m, &made_work, 0, NULL), 0, 5);
	made_sample(&m, 0, made_location(&m, &made_leaf, 0, NULL), 0, 5);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "0/5/1 -001|[.] work\n"
			   "0/5/1 000|[.] leaf\n"
			   "0/5/1 000|[.] work\n"
			   "0/5/1 001|[.] leaf\n");
	made_close(&m);
}

static void fields_order_before_numbers(void **state)
{
	struct query options = options_of(NULL);
	struct made_report m;

	(void)state;
	options.fields = "sym,overhead";
	assert_int_equal(made_open(&m, &options), 0);
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 50);
	made_sample(&m, 0, made_location(&m, &made_leaf, 0, NULL), 0, 5);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "0/5/1 [.] leaf\n"
			   "0/50/1 [.] work\n");
	made_close(&m);
}

static void filtered_samples_stay_in_the_total(void **state)
{
	struct query options = options_of("dso,sym");
	struct made_report m;

	(void)state;
	options.filters.symbols = "leaf";
	for (int relative = 0; relative < 2; relative++) {
		options.percentage_relative = relative;
		assert_int_equal(made_open(&m, &options), 0);
		made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 75);
		made_sample(&m, 0, made_location(&m, &made_leaf, 0, NULL), 0, 25);
		hist_fold(m.table, &m.hist);
		assert_entries(&m, "0/25/1 app|[.] leaf\n");
		assert_int_equal(m.hist.totals.period, 100);
		assert_int_equal(m.hist.shown.period, 25);
		assert_int_equal(m.hist.shown.n_samples, 1);
		assert_float_equal(entry_percent(m.table, &m.hist, m.hist.entries[0],
						 field_find("overhead", 8), 0),
				   relative ? 100.0 : 25.0, 1e-9);
		made_close(&m);
	}
}

static void hidden_addresses_are_not_in_the_total(void **state)
{
	struct query options = options_of("sym");
	struct made_report m;

	(void)state;
	options.hide_unresolved = true;
	assert_int_equal(made_open(&m, &options), 0);
	made_sample(&m, 0, made_unknown(&m, &made_dsos[2], 0x5000), 0, 7);
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 3);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "0/3/1 [.] work\n");
	assert_int_equal(m.hist.totals.period, 3);
	assert_int_equal(m.hist.totals.n_samples, 1);
	made_close(&m);
}

static void the_limit_hides_what_is_below(void **state)
{
	struct query options = options_of("sym");
	struct made_report m;

	(void)state;
	options.percent_limit = 25;
	assert_int_equal(made_open(&m, &options), 0);
	made_sample(&m, 0, made_location(&m, &made_main, 0, NULL), 0, 51);
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 25);
	made_sample(&m, 0, made_location(&m, &made_leaf, 0, NULL), 0, 24);
	hist_fold(m.table, &m.hist);
	assert_int_equal(m.hist.n, 3);
	assert_true(entry_is_shown(m.table, &m.hist, m.hist.entries[1]));
	assert_false(entry_is_shown(m.table, &m.hist, m.hist.entries[2]));
	made_close(&m);
}

static void members_of_a_group_share_entries(void **state)
{
	struct made_report m;
	const struct entry *entry;

	(void)state;
	open_sorted(&m, "sym");
	made_members(&m, 2);
	made_sample(&m, 0, made_location(&m, &made_main, 0, NULL), 0, 10);
	made_sample(&m, 0, made_location(&m, &made_work, 0, NULL), 0, 10);
	made_sample_in(&m.cells[1], &m.hist.member_totals[1], 0, made_location(&m, &made_work, 4, NULL), 0, 3);
	made_sample_in(&m.cells[1], &m.hist.member_totals[1], 0, made_location(&m, &made_leaf, 4, NULL), 0, 1);
	hist_fold(m.table, &m.hist);
	/* main and work are equal by the leader: the second event decides. */
	assert_entries(&m, "0/10/1 [.] work\n"
			   "0/10/1 [.] main\n"
			   "0/0/0 [.] leaf\n");
	entry = m.hist.entries[0];
	assert_int_equal(entry->members[0].period, 10);
	assert_int_equal(entry->members[1].period, 3);
	assert_float_equal(entry_percent(m.table, &m.hist, entry, field_find("overhead", 8), 1),
			   75.0, 1e-9);
	made_close(&m);
}

static void levels_have_the_sums_of_what_is_below(void **state)
{
	struct query options = options_of("cpu,{dso,sym}");
	struct made_report m;
	const struct entry *top;

	(void)state;
	options.view = VIEW_HIERARCHY;
	assert_int_equal(made_open(&m, &options), 0);
	made_sample(&m, 0, made_location(&m, &made_main, 0, NULL), 0, 10);
	made_sample(&m, 1, made_location(&m, &made_main, 0, NULL), 0, 4);
	made_sample(&m, 1, made_location(&m, &made_work_z, 0, NULL), 0, 7);
	hist_fold(m.table, &m.hist);
	assert_int_equal(m.hist.n, 2);
	top = m.hist.entries[0];
	assert_int_equal(top->self.period, 11);
	assert_int_equal(top->self.n_samples, 2);
	assert_int_equal(top->n_children, 2);
	assert_int_equal(top->depth, 0);
	assert_int_equal(top->children[0]->self.period, 7);
	assert_string_equal(made_text(&m, top->children[0]), "001|z.so|[.] work");
	assert_int_equal(top->children[0]->n_children, 0);
	assert_int_equal(top->children[0]->depth, 1);
	assert_ptr_equal(top->children[1]->parent, top);
	assert_int_equal(m.hist.entries[1]->self.period, 10);
	made_close(&m);
}

static void without_keys_all_is_one_entry(void **state)
{
	struct made_report m;

	(void)state;
	open_sorted(&m, "");
	made_sample(&m, 0, made_location(&m, &made_main, 0, NULL), 0, 10);
	made_sample(&m, 1, made_location(&m, &made_work, 0, NULL), 0, 4);
	hist_fold(m.table, &m.hist);
	assert_entries(&m, "0/14/2 \n");
	made_close(&m);
}

static void an_event_without_samples_has_no_entries(void **state)
{
	struct made_report m;

	(void)state;
	open_sorted(&m, NULL);
	hist_fold(m.table, &m.hist);
	assert_int_equal(m.hist.n, 0);
	made_close(&m);
}

struct numbered {
	unsigned value, number;
};

static int compare_numbered(void *context, const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	++*(unsigned *)context;
	return (x->value > y->value) - (x->value < y->value);
}

static void a_tree_sorts_as_any_stable_sort_and_as_fast(void **state)
{
	enum { N = 5000 };
	static struct numbered rows[N];
	static void *v[N];
	unsigned compared = 0, seed = 7;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		seed = seed * 1103515245 + 12345;
		rows[i] = (struct numbered){ i < N / 2 ? i : seed >> 16 & 255, i };
		v[i] = &rows[i];
	}
	tree_sort(v, N, NULL, compare_numbered, &compared);
	for (unsigned i = 1; i < N; i++) {
		const struct numbered *a = v[i - 1], *b = v[i];

		assert_true(a->value < b->value || (a->value == b->value && a->number < b->number));
	}
	assert_in_range(compared, N, N * 2 * 13); /* a red-black tree is at most 2 log2 n deep */
	tree_sort(v, 0, NULL, compare_numbered, &compared);
}

/* Of different numbers the greater is first, whatever a comparison would say; it is only asked where they are equal. */
static void a_tree_goes_by_numbers_first(void **state)
{
	enum { N = 900 };
	static struct numbered rows[N];
	static uint64_t numbers[N];
	static void *v[N];
	unsigned compared = 0;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		rows[i] = (struct numbered){ i * 7 % N / 3, i };
		numbers[i] = rows[i].value % 4;
		v[i] = &rows[i];
	}
	tree_sort(v, N, numbers, compare_numbered, &compared);
	for (unsigned i = 1; i < N; i++) {
		const struct numbered *a = v[i - 1], *b = v[i];

		assert_in_range(b->value % 4, 0, a->value % 4);
		if (a->value % 4 == b->value % 4)
			assert_true(a->value < b->value || (a->value == b->value && a->number < b->number));
	}
	assert_in_range(compared, 1, N * 2 * 8); /* of N / 4 that are equal */
}

/* Each number stands before the next one, and the last before the first. */
static int compare_in_circles(void *context, const void *a, const void *b)
{
	unsigned x = ((const struct numbered *)a)->value, y = ((const struct numbered *)b)->value;

	(void)context;
	return (y + 7 - x) % 7 < 4 ? -(x != y) : 1;
}

static void a_tree_keeps_all_where_there_is_no_order(void **state)
{
	struct numbered rows[70];
	void *v[70];
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < 70; i++) {
		rows[i] = (struct numbered){ i * 3 % 7, i };
		v[i] = &rows[i];
	}
	tree_sort(v, 70, NULL, compare_in_circles, NULL);
	for (unsigned i = 0; i < 70; i++)
		seen += ((const struct numbered *)v[i])->number;
	assert_int_equal(seen, 69 * 70 / 2);
}

/* Each fact makes more cells: those of one need are no other's. */
static void facts_are_those_that_are_needed(void **state)
{
	static const struct {
		unsigned needs;
		uint64_t facts; /* of those that only a format asks for */
	} rows[] = {
		{ NEED_ENTRIES, 0 },
		{ NEED_ENTRIES | NEED_HEAD, 0 },
		{ NEED_ENTRIES | NEED_BLOCKS, 1ULL << FACT_BUCKET },
		{ NEED_STACKS | NEED_TASKS, 1ULL << FACT_PID | 1ULL << FACT_TID | 1ULL << FACT_CPU },
		{ NEED_STACKS | NEED_TIMES, 1ULL << FACT_BUCKET | 1ULL << FACT_CPU },
	};
	const uint64_t asked = 1ULL << FACT_BUCKET | 1ULL << FACT_PID | 1ULL << FACT_TID | 1ULL << FACT_CPU;
	struct query options = options_of("dso");
	struct made_report m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		options.needs = rows[i].needs;
		assert_int_equal(made_open(&m, &options), 0);
		assert_int_equal(m.table->private->facts & asked, rows[i].facts);
		made_close(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_a_function_are_one_entry),
		cmocka_unit_test(same_names_in_two_files_are_two_entries),
		cmocka_unit_test(files_of_one_name_are_one_entry_unless_verbose),
		cmocka_unit_test(unknown_addresses_are_apart_and_last),
		cmocka_unit_test(keys_decide_between_equals_in_their_order),
		cmocka_unit_test(fields_order_before_numbers),
		cmocka_unit_test(filtered_samples_stay_in_the_total),
		cmocka_unit_test(hidden_addresses_are_not_in_the_total),
		cmocka_unit_test(the_limit_hides_what_is_below),
		cmocka_unit_test(members_of_a_group_share_entries),
		cmocka_unit_test(levels_have_the_sums_of_what_is_below),
		cmocka_unit_test(without_keys_all_is_one_entry),
		cmocka_unit_test(an_event_without_samples_has_no_entries),
		cmocka_unit_test(facts_are_those_that_are_needed),
		cmocka_unit_test(a_tree_sorts_as_any_stable_sort_and_as_fast),
		cmocka_unit_test(a_tree_goes_by_numbers_first),
		cmocka_unit_test(a_tree_keeps_all_where_there_is_no_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
