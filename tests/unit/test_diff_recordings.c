/* SPDX-License-Identifier: MIT */
/*
 * Differences of whole recordings, made by hand: what each one has of an event, and what it lacks.
 */
#include "fmt/fmt.h"
#include "report_recording.h"

#include <math.h>

enum { SIDES = 2, RUNS_MAX = 6 };

/* Samples of a recording, one every 10 ms, ended by those without a chain. Event 0 is cycles, 1 is faults. */
#define RECORDING(...) ((const struct recorded_samples[]){ __VA_ARGS__, { 0 } })

static const struct recorded_samples early_faults[] = {
	{ .chain = "a", .count = 50, .event = 1 },
	{ .chain = "main", .count = 50 },
	{ .chain = "b", .count = 2000 },
	{ 0 },
};
static const struct recorded_samples with_faults[] = {
	{ .chain = "a", .count = 200, .event = 1 },
	{ .chain = "b", .count = 200, .event = 1 },
	{ .chain = "main", .count = 100 },
	{ 0 },
};
static const struct recorded_samples no_faults[] = { { .chain = "main", .count = 100 }, { 0 } };

/* To add a case: one row of cases[]. */
static const struct diff_case {
	const char *what;
	const struct recorded_samples *runs[RUNS_MAX]; /* the first half of them is the baseline */
	enum diff_per per;
	const char *event; /* PER_EVENT */
	const char *rows; /* see add_row */
	const char *note; /* a part of one; NULL: there is none */
} cases[] = {
	{ "an event that ends early is compared in all blocks, by one that doesn't", { early_faults, early_faults },
	  PER_EVENT, "cycles",
	  .rows = "cycles [.] b: 0.97561 of 2000000, 0.97561 of 2000000, +0 (noise), 0.97561 +0\n"
		  "cycles [.] main: 0.0243902 of 50000, 0.0243902 of 50000, +0 (noise), 0.0243902 +0\n"
		  "faults [.] a: 0.0243902 of 50000, 0.0243902 of 50000, +0 (noise), 0.0243902 +0\n" },
	{ "and one that doesn't by one that does", { early_faults, early_faults }, PER_EVENT, "faults",
	  .rows = "cycles [.] b: 40 of 2000000, 40 of 2000000, +0 (noise), 40 +0\n"
		  "cycles [.] main: 1 of 50000, 1 of 50000, +0 (noise), 1 +0\n"
		  "faults [.] a: 1 of 50000, 1 of 50000, +0 (noise), 1 +0\n" },
	{ "without periods samples are compared",
	  { RECORDING({ .chain = "a", .count = 300, .period = NO_PERIOD },
		      { .chain = "b", .count = 100, .period = NO_PERIOD }),
	    RECORDING({ .chain = "a", .count = 100 }, { .chain = "b", .count = 300 }) },
	  .rows = "cycles [.] a: 0.75 of 0, 0.25 of 100000, -0.5 (certain), 75.00% -50.00%\n"
		  "cycles [.] b: 0.25 of 0, 0.75 of 300000, +0.5 (certain), 25.00% +50.00%\n",
	  .note = "all have a period of 0" },
	{ "of no common row each is new or vanished",
	  { RECORDING({ .chain = "a", .count = 300 }), RECORDING({ .chain = "b", .count = 300 }) },
	  .rows = "cycles [.] b: not there, 1 of 300000, +1 (certain),  +100.00%\n"
		  "cycles [.] a: 1 of 300000, not there, -1 (certain), 100.00% \n" },
	/* 30.625 % and 4.375 %, less 0.5 % and 1 %: to the even digit, as printf has it, and perf with it. */
	{ "a share half way is rounded once",
	  { RECORDING({ .chain = "a", .count = 98 }, { .chain = "b", .count = 14 }, { .chain = "main", .count = 208 }),
	    RECORDING({ .chain = "a", .count = 2 }, { .chain = "b", .count = 4 }, { .chain = "main", .count = 394 }) },
	  .rows = "cycles [.] main: 0.65 of 208000, 0.985 of 394000, +0.335 (certain), 65.00% +33.50%\n"
		  "cycles [.] a: 0.30625 of 98000, 0.005 of 2000, -0.30125 (certain), 30.62% -30.12%\n"
		  "cycles [.] b: 0.04375 of 14000, 0.01 of 4000, -0.03375 (noise), 4.38% -3.38%\n" },
	/* A run without faults says nothing of their shares. Two that have some make a variance. */
	{ "six runs", { with_faults, with_faults, with_faults, with_faults, with_faults, with_faults },
	  .rows = "cycles [.] main: 1 of 300000, 1 of 300000, +0 (noise), 100.00% +0.00%\n"
		  "faults [.] a: 0.5 of 600000, 0.5 of 600000, +0 (noise), 50.00% +0.00%\n"
		  "faults [.] b: 0.5 of 600000, 0.5 of 600000, +0 (noise), 50.00% +0.00%\n" },
	{ "a run without the event is no run of it",
	  { with_faults, with_faults, with_faults, with_faults, with_faults, no_faults },
	  .rows = "cycles [.] main: 1 of 300000, 1 of 300000, +0 (noise), 100.00% +0.00%\n"
		  "faults [.] a: 0.5 of 600000, 0.5 of 400000, +0 (noise), 50.00% +0.00%\n"
		  "faults [.] b: 0.5 of 600000, 0.5 of 400000, +0 (noise), 50.00% +0.00%\n",
	  .note = "faults: not in 1 of the 6 recordings, which the means leave out" },
	{ "one run a side is no variance",
	  { with_faults, with_faults, with_faults, with_faults, no_faults, no_faults },
	  .rows = "cycles [.] main: 1 of 300000, 1 of 300000, +0 (noise), 100.00% +0.00%\n"
		  "faults [.] a: 0.5 of 600000, 0.5 of 200000, +0 (), 50.00% +0.00%\n"
		  "faults [.] b: 0.5 of 600000, 0.5 of 200000, +0 (), 50.00% +0.00%\n",
	  .note = "leave out; less than two a side are left" },
};

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

static void add_recording(struct compared *c, const struct recorded_samples *samples)
{
	struct recorded recorded = { .step_ns = 10000000 };
	unsigned n_events = 1;
	struct query query;
	size_t n = 0;

	for (; samples[n].chain; n++)
		n_events = samples[n].event >= n_events ? samples[n].event + 1 : n_events;
	record_samples(&recorded, samples, n, n_events);
	c->recorded[c->n] = recorded;
	assert_int_equal(reader_open(&c->readers[c->n], c->recorded[c->n].data, &c->err), 0);
	query = recorded_options(&c->recorded[c->n]);
	query.sort = "symbol";
	query.needs = NEED_ENTRIES | NEED_BLOCKS;
	query.no_chains = query.group_off = true;
	assert_int_equal(asked_alone(&c->asked[c->n], &query, &c->readers[c->n], &c->err), 0);
	c->tables[c->n] = c->asked[c->n].table;
	c->n++;
}

static void compare(struct compared *c, const struct diff_case *row)
{
	const struct diff_options options = { .per = row->per, .event = row->event, .order = -1, .confidence = 0.95 };

	*c = (struct compared){ .err = STR_INIT };
	while (c->n < RUNS_MAX && row->runs[c->n])
		add_recording(c, row->runs[c->n]);
	for (size_t i = 0; i < SIDES; i++)
		c->sides[i] = (struct diff_side){ .tables = c->tables + i * c->n / SIDES, .n = c->n / SIDES };
	assert_int_equal(diff_new(&c->diff, &options, c->sides, SIDES, &c->err), 0);
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

/* The baseline's cell of a row as it is printed, and that of the value. */
static void add_cells(const struct compared *c, const struct diff_event *event, const struct diff_row *row,
		      struct str *out)
{
	const struct diff_look look = { .separator = " " };
	struct output output = { .text = STR_INIT };
	struct diff_lines *lines = diff_lines_new(c->diff, event, &look, &output);
	const char *value;

	diff_lines_add_row(lines, row, &output);
	value = strchr(output.text.s, ' ') + 1;
	str_addn(out, output.text.s, (size_t)(value - output.text.s) + strcspn(value, " "));
	str_release(&output.text);
	diff_lines_free(lines);
}

static void add_side(const struct diff_cell *cell, struct str *out)
{
	str_addf(out, cell->found ? " %g of %llu," : " not there,", cell->rate, (unsigned long long)cell->period);
}

/* "cycles [.] a: 0.75 of 300, 0.25 of 100, -0.5 (certain), 75.00% -50.00%": rates, periods, the change, as printed. */
static void add_row(const struct compared *c, const struct diff_event *event, const struct diff_row *row,
		    struct str *out)
{
	const struct change *change = &row->cells[1].change;

	str_addf(out, "%s %s:", event->name, row->key);
	add_side(&row->cells[0], out);
	add_side(&row->cells[1], out);
	str_addf(out, " %+g (%s%s), ", change->difference, diff_verdict_name(row->cells[1].verdict),
		 isfinite(change->low) && isfinite(change->high) ? "" : " without limits");
	add_cells(c, event, row, out);
	str_addc(out, '\n');
}

static bool has_note(const struct compared *c, const char *text)
{
	for (size_t i = 0; i < c->diff->notes.n; i++)
		if (strstr(c->diff->notes.v[i].text, text))
			return true;
	return false;
}

/* Events of a recording have as many blocks, whichever ends first; more than a comparison cuts it into. */
static void assert_same_blocks(const struct compared *c)
{
	assert_true(c->tables[0]->hists[0].blocks->n_blocks > 32);
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->tables[i]->n_hists; k++)
			assert_int_equal(c->tables[i]->hists[k].blocks->n_blocks,
					 c->tables[i]->hists[0].blocks->n_blocks);
}

static void recordings_are_compared(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str rows = STR_INIT;
		struct compared c;
		bool is_right;

		compare(&c, &cases[i]);
		assert_same_blocks(&c);
		for (size_t k = 0; k < c.diff->n_events; k++)
			for (size_t row = 0; row < c.diff->events[k].n; row++)
				add_row(&c, &c.diff->events[k], c.diff->events[k].rows[row], &rows);
		is_right = !strcmp(rows.s, cases[i].rows) &&
			   (cases[i].note ? has_note(&c, cases[i].note) : !c.diff->notes.n);
		if (!is_right)
			fprintf(stderr, "%s:\n%s", cases[i].what, rows.s);
		n_wrong += !is_right;
		str_release(&rows);
		release(&c);
	}
	assert_int_equal(n_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(recordings_are_compared) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
