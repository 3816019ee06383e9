/* SPDX-License-Identifier: MIT */
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

/* The files that rows are of, in their order: "app|[.] work /a/app". */
static char *rows_with_files(struct made_report *m)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < m->hist.n; i++) {
		const struct entry *entry = m->hist.entries[i];
		const struct dso *dso = m->table->session->locations->v[entry->location].dso;

		str_addf(&out, "%s %s\n", made_text(m, entry), dso ? dso->path : "");
	}
	return str_detach(&out);
}

/* One sample each of nine rows with the same numbers, beginning with the first-th and then in steps. */
static char *rows_of_equals(const char *sort, size_t first, size_t step)
{
	static const struct symbol work_b = { &made_dsos[1], 0x200, 0x300, "work", "work", 'g', false, 0, false };
	struct made_report m;
	uint32_t locations[9];
	char *rows;

	open_sorted(&m, sort);
	for (size_t i = 0; i < ARRAY_SIZE(locations); i++) {
		size_t n = (first + i * step) % ARRAY_SIZE(locations);
		const struct symbol *symbols[] = { &made_main, &made_work, &made_work_z, &work_b, &made_leaf };
		struct dso *const dsos[] = { &made_dsos[0], &made_dsos[2], &made_dsos[0], NULL };
		const uint64_t addresses[] = { 0x30, 0x30, 0x20, 0x20 };
		uint32_t location = n < 5 ? made_location(&m, symbols[n], 0, NULL)
					  : made_unknown(&m, dsos[n - 5], addresses[n - 5]);

		made_sample(&m, 0, location, 0, 5);
	}
	hist_fold(m.table, &m.hist);
	rows = rows_with_files(&m);
	made_close(&m);
	return rows;
}

/* Keys decide; then files, addresses, and paths of files with one name. */
static void equal_rows_stand_in_one_order_whichever_came_first(void **state)
{
	static const char *const sorts[][2] = {
		{ "sym", "[.] leaf /a/app\n[.] main /a/app\n[.] work /a/app\n[.] work /b/app\n[.] work /lib/z.so\n"
			 "[.] 0x0000000000000020 /a/app\n[.] 0x0000000000000030 /a/app\n"
			 "[.] 0x0000000000000030 /lib/z.so\n[.] 0x0000000000000020 \n" },
		{ "dso,sym", "app|[.] leaf /a/app\napp|[.] main /a/app\napp|[.] work /a/app\napp|[.] work /b/app\n"
			     "app|[.] 0x0000000000000020 /a/app\napp|[.] 0x0000000000000030 /a/app\n"
			     "z.so|[.] work /lib/z.so\nz.so|[.] 0x0000000000000030 /lib/z.so\n"
			     "[unknown]|[.] 0x0000000000000020 \n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sorts); i++)
		for (size_t first = 0; first < 9; first++)
			for (size_t step = 1; step < 9; step += step % 3 ? 3 : 1) {
				char *rows = rows_of_equals(sorts[i][0], first, step);

				assert_string_equal(rows, sorts[i][1]);
				free(rows);
			}
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
		cmocka_unit_test(equal_rows_stand_in_one_order_whichever_came_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
