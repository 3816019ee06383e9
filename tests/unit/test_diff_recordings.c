/*
 * Differences of whole recordings, made by hand: what each one has of an event, and what it lacks.
 */
#include "fmt/fmt.h"
#include "report_recording.h"

#include <math.h>

enum { SIDES = 2, RUNS_MAX = 6 };

struct compared {
	struct recorded recorded[RUNS_MAX];
	struct reader readers[RUNS_MAX];
	struct table *tables[RUNS_MAX];
	struct asked asked[RUNS_MAX];
	struct diff_side sides[SIDES];
	size_t n;
	struct diff *diff;
	struct str err;
};

/* One more recording, a sample every 10 ms. */
static void add_recording(struct compared *c, const struct recorded_samples *samples, size_t n, unsigned n_events)
{
	struct recorded recorded = { .step_ns = 10000000 };
	struct query query;

	record_samples(&recorded, samples, n, n_events);
	c->recorded[c->n] = recorded;
	assert_int_equal(reader_open(&c->readers[c->n], recorded.data, &c->err), 0);
	query = recorded_options(&c->recorded[c->n]);
	query.sort = "symbol";
	query.needs = NEED_ENTRIES | NEED_BLOCKS;
	query.no_chains = query.group_off = true;
	assert_int_equal(asked_alone(&c->asked[c->n], &query, &c->readers[c->n], &c->err), 0);
	c->tables[c->n] = c->asked[c->n].table;
	c->n++;
}

/* The first half of the recordings with the second one. */
static int compare_recordings(struct compared *c, const struct diff_options *options)
{
	for (size_t i = 0; i < SIDES; i++)
		c->sides[i] = (struct diff_side){ .tables = c->tables + i * c->n / SIDES, .n = c->n / SIDES };
	return diff_new(&c->diff, options, c->sides, SIDES, &c->err);
}

static void release(struct compared *c)
{
	diff_free(c->diff);
	for (size_t i = 0; i < c->n; i++) {
		asked_release(&c->asked[i]);
		reader_close(&c->readers[i]);
		recorded_remove(&c->recorded[i]);
	}
	str_release(&c->err);
}

static const struct diff_event *event_of(const struct compared *c, const char *name)
{
	for (size_t i = 0; i < c->diff->n_events; i++)
		if (!strcmp(c->diff->events[i].name, name))
			return &c->diff->events[i];
	fail_msg("there is no event %s", name);
	return NULL;
}

static const struct diff_row *row_of(const struct diff_event *event, const char *key)
{
	for (size_t i = 0; i < event->n; i++)
		if (!strcmp(event->rows[i]->key, key))
			return event->rows[i];
	fail_msg("there is no row %s", key);
	return NULL;
}

static bool has_note(const struct compared *c, const char *text)
{
	for (size_t i = 0; i < c->diff->notes.n; i++)
		if (strstr(c->diff->notes.v[i].text, text))
			return true;
	return false;
}

/* faults (1) come in the first second, cycles (0) all the time: each is measured by the other's blocks. */
static void an_event_that_ends_early_is_compared_in_all_blocks(void **state)
{
	static const struct recorded_samples samples[] = { { .chain = "a", .count = 50, .event = 1 },
							   { .chain = "main", .count = 50 },
							   { .chain = "b", .count = 2000 } };
	static const char *const events[] = { "cycles", "faults" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		const struct diff_options options = { .per = PER_EVENT, .event = events[i], .order = -1,
						      .confidence = 0.95 };
		struct compared c = { .err = STR_INIT };

		add_recording(&c, samples, ARRAY_SIZE(samples), 2);
		add_recording(&c, samples, ARRAY_SIZE(samples), 2);
		assert_int_equal(c.tables[0]->n_hists, 2);
		assert_true(c.tables[0]->hists[0].blocks->n_blocks > 32);
		assert_int_equal(c.tables[0]->hists[0].blocks->n_blocks, c.tables[0]->hists[1].blocks->n_blocks);
		assert_int_equal(compare_recordings(&c, &options), 0);
		assert_int_equal(c.diff->n_events, 2);
		for (size_t k = 0; k < c.diff->n_events; k++)
			for (size_t row = 0; row < c.diff->events[k].n; row++) {
				const struct diff_cell *cell = &c.diff->events[k].rows[row]->cells[1];

				assert_true(cell->change.difference == 0 && cell->verdict == DIFF_NOISE);
				assert_true(isfinite(cell->change.low) && isfinite(cell->change.high));
			}
		release(&c);
	}
}

static void without_periods_samples_are_compared(void **state)
{
	static const struct recorded_samples old[] = { { .chain = "a", .count = 300, .period = NO_PERIOD },
						       { .chain = "b", .count = 100, .period = NO_PERIOD } },
					     new[] = { { .chain = "a", .count = 100 }, { .chain = "b", .count = 300 } };
	const struct diff_options options = { .order = -1, .confidence = 0.95 };
	const struct diff_row *row;
	struct compared c = { .err = STR_INIT };

	(void)state;
	add_recording(&c, old, ARRAY_SIZE(old), 1);
	add_recording(&c, new, ARRAY_SIZE(new), 1);
	assert_int_equal(compare_recordings(&c, &options), 0);
	assert_true(has_note(&c, "all have a period of 0"));
	row = row_of(event_of(&c, "cycles"), "[.] a");
	assert_true(row->cells[0].rate == 0.75 && row->cells[1].rate == 0.25);
	assert_int_equal(row->cells[0].period, 0);
	assert_int_equal(row->cells[1].period, 100000);
	release(&c);
}

static void of_no_common_row_each_is_new_or_vanished(void **state)
{
	static const struct recorded_samples old[] = { { .chain = "a", .count = 300 } },
					     new[] = { { .chain = "b", .count = 300 } };
	const struct diff_options options = { .order = -1, .confidence = 0.95 };
	const struct diff_row *row;
	struct compared c = { .err = STR_INIT };

	(void)state;
	add_recording(&c, old, ARRAY_SIZE(old), 1);
	add_recording(&c, new, ARRAY_SIZE(new), 1);
	assert_int_equal(compare_recordings(&c, &options), 0);
	assert_int_equal(c.diff->events[0].n, 2);
	row = row_of(event_of(&c, "cycles"), "[.] a");
	assert_true(row->cells[0].found && !row->cells[1].found && row->cells[1].change.difference == -1);
	row = row_of(event_of(&c, "cycles"), "[.] b");
	assert_true(!row->cells[0].found && row->cells[1].found && row->cells[1].change.difference == 1);
	release(&c);
}

/* The baseline's cell of a row, and that of the value. */
static void add_cells(const struct compared *c, const struct diff_row *row, struct str *out)
{
	const struct diff_look look = { .separator = " " };
	struct output output = { .text = STR_INIT };
	struct diff_lines *lines = diff_lines_new(c->diff, &c->diff->events[0], &look, &output);
	const char *value;

	diff_lines_add_row(lines, row, &output);
	value = strchr(output.text.s, ' ') + 1;
	str_addn(out, output.text.s, (size_t)(value - output.text.s) + strcspn(value, " "));
	str_release(&output.text);
	diff_lines_free(lines);
}

/* 30.625 % and 4.375 %, less 0.5 % and 1 %: to the even digit, as printf has it, and perf with it. */
static void a_share_half_way_is_rounded_once(void **state)
{
	static const struct recorded_samples old[] = { { .chain = "a", .count = 98 },
						       { .chain = "b", .count = 14 },
						       { .chain = "main", .count = 208 } },
					     new[] = { { .chain = "a", .count = 2 },
						       { .chain = "b", .count = 4 },
						       { .chain = "main", .count = 394 } };
	const struct diff_options options = { .order = -1, .confidence = 0.95 };
	struct compared c = { .err = STR_INIT };
	struct str cells = STR_INIT;

	(void)state;
	add_recording(&c, old, ARRAY_SIZE(old), 1);
	add_recording(&c, new, ARRAY_SIZE(new), 1);
	assert_int_equal(compare_recordings(&c, &options), 0);
	add_cells(&c, row_of(event_of(&c, "cycles"), "[.] a"), &cells);
	str_addc(&cells, '\n');
	add_cells(&c, row_of(event_of(&c, "cycles"), "[.] b"), &cells);
	assert_string_equal(cells.s, "30.62% -30.12%\n4.38% -3.38%");
	str_release(&cells);
	release(&c);
}

/* Three runs a side; some of the new ones have no faults at all: these say nothing of shares. Two make a variance. */
static void compare_runs(size_t n_without, enum diff_verdict verdict, const char *note)
{
	static const struct recorded_samples all[] = { { .chain = "a", .count = 200, .event = 1 },
						       { .chain = "b", .count = 200, .event = 1 },
						       { .chain = "main", .count = 100 } },
					     none[] = { { .chain = "main", .count = 100 } };
	const struct diff_options options = { .order = -1, .confidence = 0.95 };
	const struct diff_row *row;
	struct compared c = { .err = STR_INIT };

	for (size_t i = 0; i < RUNS_MAX; i++) {
		if (i < RUNS_MAX - n_without)
			add_recording(&c, all, ARRAY_SIZE(all), 2);
		else
			add_recording(&c, none, ARRAY_SIZE(none), 1);
	}
	assert_int_equal(compare_recordings(&c, &options), 0);
	row = row_of(event_of(&c, "faults"), "[.] a");
	assert_true(row->cells[1].rate == 0.5 && row->cells[1].change.difference == 0);
	assert_int_equal(row->cells[1].verdict, verdict);
	assert_true(has_note(&c, note) == (n_without > 0));
	assert_true(row_of(event_of(&c, "cycles"), "[.] main")->cells[1].rate == 1);
	release(&c);
}

static void a_run_without_the_event_is_no_run_of_it(void **state)
{
	(void)state;
	compare_runs(0, DIFF_NOISE, "faults: ");
	compare_runs(1, DIFF_NOISE, "faults: not in 1 of the 6 recordings, which the means leave out");
	compare_runs(2, DIFF_NONE, "leave out; less than two a side are left");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_that_ends_early_is_compared_in_all_blocks),
		cmocka_unit_test(without_periods_samples_are_compared),
		cmocka_unit_test(of_no_common_row_each_is_new_or_vanished),
		cmocka_unit_test(a_share_half_way_is_rounded_once),
		cmocka_unit_test(a_run_without_the_event_is_no_run_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
