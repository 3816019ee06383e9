/* SPDX-License-Identifier: MIT */
/*
 * Readings -> values: totals, intervals, scaling per cell, and every way of not having counted. One event in one row is
 * a table of what is fed and what must come out; repeats, clocks and core types have tests of their own.
 */
#include "count_sample.h"
#include "fake_machine.h"

/* ---- one event ---- */

/* A reading of one cell, or that there is none. */
struct fed {
	int cpu; /* -1: any */
	size_t thread;
	uint64_t value, enabled_ns, running_ns;
	enum reading_state state;
	int err;
	bool there;
};
#define CELL(cpu, thread, value, enabled, running) { cpu, thread, value, enabled, running, READING_OK, 0, true }
#define THREAD(thread, value, enabled, running) CELL(-1, thread, value, enabled, running)
#define CPU(cpu, value, enabled, running) CELL(cpu, 0, value, enabled, running)
#define NO_CELL(cpu, thread, state, err) { cpu, thread, 0, 0, 0, state, err, true }

/* What a report must have after a read, see add_row(); NULL: it is not asked for. */
struct expected {
	const char *interval, *summary, *final;
};

static void unscaled(struct world *w)
{
	w->plan.scale = false;
}

static void is_snapshot(struct world *w)
{
	w->events[0].snapshot = true;
}

static void is_pinned(struct world *w)
{
	w->events[0].attr.pinned = 1;
}

static void cpu_1_has_stopped(struct world *w)
{
	intset_add(&w->stopped, 1);
}

/* The kernel moves an event of a PMU with a cpumask to another CPU: it misses nothing. */
static void moves_from_cpu_1(struct world *w)
{
	cpu_1_has_stopped(w);
	intset_copy(&w->events[0].cpus, &w->target.cpus);
}

static void has_three_threads(struct world *w)
{
	world_thread(w, 0, "a", 10);
	world_thread(w, 1, "b", 11);
	world_thread(w, 2, "c", 12);
}

static const struct count_case {
	const char *name;
	struct event *(*event)(struct world *w);
	enum target_kind kind;
	const char *cpus;
	void (*prepare)(struct world *w);
	struct {
		struct fed fed[3];
		struct expected expected;
	} reads[2];
} cases[] = {
	{ "intervals are differences", world_cs, TARGET_COMMAND, NULL, NULL, {
		{ { THREAD(0, 100, 1000, 1000) }, { .interval = "100, ran 1000" } },
		{ { THREAD(0, 130, 1500, 1500) }, { .interval = "30, ran 500", .summary = "130, ran 1500" } } } },
	/* By the sums it would be 600 * 300 / 200 = 900. */
	{ "each CPU is scaled by its own times", world_cycles, TARGET_CPUS, "0-1", NULL, {
		{ { CPU(0, 500, 150, 50), CPU(1, 100, 150, 150) }, { .final = "1600 scaled, ran 200 (66.67 %)" } } } },
	{ "an interval is scaled by what happened in it", world_cycles, TARGET_COMMAND, NULL, NULL, {
		{ { THREAD(0, 100, 100, 100) }, { 0 } },
		{ { THREAD(0, 110, 200, 110) }, { .interval = "100 scaled, ran 10 (10.00 %)",
						  .final = "200 scaled, ran 110 (55.00 %)" } } } },
	{ "not scaled, it still ran for half the time only", world_cycles, TARGET_COMMAND, NULL, unscaled, {
		{ { THREAD(0, 123, 100, 50) }, { .final = "123 scaled, ran 50 (50.00 %)" } } } },
	{ "never ran is not zero", world_cycles, TARGET_COMMAND, NULL, NULL, {
		{ { THREAD(0, 0, 1000, 0) }, { .final = "<not counted>, ran 0 (0.00 %): it never got a counter" } } } },
	{ "ran and zero", world_cycles, TARGET_COMMAND, NULL, NULL, {
		{ { THREAD(0, 0, 1000, 1000) }, { .final = "0, ran 1000" } } } },
	/* A cell with time and without a turn makes the sum a lower bound; a task that slept does not. */
	{ "a part", world_cycles, TARGET_TASKS, NULL, has_three_threads, {
		{ { THREAD(0, 7, 100, 100), THREAD(1, 0, 0, 0), THREAD(2, 0, 0, 0) }, { .final = "7, ran 100" } },
		{ { THREAD(0, 7, 100, 100), THREAD(1, 9, 50, 0), NO_CELL(-1, 2, READING_FAILED, ENODEV) },
		  { .final = "7 scaled partial, ran 100 (66.67 %): "
			     "1 of 3 counters never ran, 1 could not be read" } } } },
	{ "a CPU that goes offline keeps its count", world_cs, TARGET_CPUS, "0-1", NULL, {
		{ { CPU(0, 10, 100, 100), CPU(1, 20, 100, 100) }, { 0 } },
		{ { CPU(0, 15, 200, 200), NO_CELL(1, 0, READING_FAILED, ENODEV) },
		  { .interval = "5 partial, ran 100: 1 of 2 counters could not be read",
		    .final = "35 partial, ran 300: 1 of 2 counters could not be read" } } } },
	{ "it can be read, but it ended with its CPU", world_cs, TARGET_CPUS, "0-1", cpu_1_has_stopped, {
		{ { CPU(0, 10, 100, 100), CPU(1, 20, 50, 50) },
		  { .final = "30 partial, ran 150: 1 of 2 counters stopped when the CPU went offline" } } } },
	{ "moved from its CPU", world_cs, TARGET_CPUS, "0-1", moves_from_cpu_1, {
		{ { CPU(0, 10, 100, 100), CPU(1, 20, 100, 100) }, { .final = "30, ran 200" } } } },
	{ "all failed", world_cs, TARGET_COMMAND, NULL, NULL, {
		{ { NO_CELL(-1, 0, READING_FAILED, ENODEV) }, { .final = "<not counted>, ran 0: No such device" } } } },
	{ "lost its pin", world_cycles, TARGET_COMMAND, NULL, is_pinned, {
		{ { NO_CELL(-1, 0, READING_LOST_PIN, 0) },
		  { .final = "<not counted>, ran 0: pinned, and no counter was free" } } } },
	/* The row stays although its only task was gone when the event was opened. */
	{ "not open", world_cs, TARGET_TASKS, NULL, NULL, {
		{ { NO_CELL(-1, 0, READING_NOT_OPEN, 0) }, { .final = "<not counted>, ran 0: never read" } } } },
	{ "snapshot", world_cs, TARGET_CPUS, "0", is_snapshot, {
		{ { CPU(0, 300, 100, 100) }, { 0 } },
		{ { CPU(0, 280, 200, 200) }, { .interval = "280, ran 200" } } } },
	{ "counts do not run backwards", world_cs, TARGET_COMMAND, NULL, NULL, {
		{ { THREAD(0, 50, 100, 100) }, { 0 } },
		{ { THREAD(0, 40, 200, 200) }, { .interval = "0, ran 100" } } } },
	{ "sums saturate", world_cs, TARGET_CPUS, "0-1", NULL, {
		{ { CPU(0, UINT64_MAX - 1, 100, 100), CPU(1, 5, 100, 100) },
		  { .final = "18446744073709551615, ran 200" } } } },
	/* Readings that belong to nothing must not be taken for something else. */
	{ "foreign readings", world_cs, TARGET_CPUS, "0-1", NULL, {
		{ { CPU(0, 1, 100, 100), CPU(7, 1000, 100, 100), CELL(1, 3, 1000, 100, 100) },
		  { .final = "1, ran 100" } } } },
};

/* "COUNT [scaled] [partial], ran NS [(PERCENT)][: REASON]" */
static void add_row(const struct stat_row *row, struct str *got)
{
	static const char *const words[] = { "", "<not counted>", "<not supported>" };

	if (row->state == COUNT_OK)
		str_addf(got, "%llu", (unsigned long long)row->count);
	str_addf(got, "%s%s%s, ran %llu", words[row->state], row->scaled ? " scaled" : "",
		 row->partial ? " partial" : "", (unsigned long long)row->running_ns);
	if (row->running_pct != 100)
		str_addf(got, " (%.2f %%)", row->running_pct);
	if (row->reason)
		str_addf(got, ": %s", row->reason);
}

static void expect_report(struct world *w, enum stat_report_kind kind, const char *want)
{
	const struct stat_report *report;
	struct str got = STR_INIT;

	if (!want)
		return;
	report = world_report(w, kind);
	assert_int_equal(report->n_rows, 1);
	add_row(&report->rows[0], &got);
	assert_string_equal(got.s, want);
	/* Only rows that were scaled count for the least share. */
	assert_true(report->least_running_pct == (report->rows[0].scaled ? report->rows[0].running_pct : 100));
	str_release(&got);
}

static void test_case(void **state)
{
	const struct count_case *c = *state;
	struct world w;

	world_init(&w, AGGR_TOTAL, c->kind, c->cpus);
	c->event(&w);
	if (c->prepare)
		c->prepare(&w);
	world_start(&w);
	aggregation_find_stopped(w.reporter->counts);
	for (size_t r = 0; r < ARRAY_SIZE(c->reads) && c->reads[r].fed[0].there; r++) {
		const struct expected *expected = &c->reads[r].expected;

		world_read(&w, (double)r + 1, 1);
		for (size_t i = 0; i < ARRAY_SIZE(c->reads[r].fed) && c->reads[r].fed[i].there; i++) {
			const struct fed *fed = &c->reads[r].fed[i];

			if (fed->state == READING_OK)
				feed(&w, 0, fed->cpu, fed->thread, fed->value, fed->enabled_ns, fed->running_ns);
			else
				feed_state(&w, 0, fed->cpu, fed->thread, fed->state, fed->err);
		}
		expect_report(&w, REPORT_INTERVAL, expected->interval);
		expect_report(&w, REPORT_SUMMARY, expected->summary);
		expect_report(&w, REPORT_FINAL, expected->final);
	}
	world_release(&w);
}

/* ---- repeats, clocks, core types ---- */

static void count_run(struct world *w, uint64_t value, uint64_t running_ns)
{
	world_attach(w);
	world_read(w, 1, 1);
	feed(w, 0, -1, 0, value, 100, running_ns);
	world_end_run(w, &(struct count_clock){ .elapsed_ns = 1000000000 });
}

static void test_repeats(void **state)
{
	const struct stat_report *report;
	const struct stat_row *row;
	const struct aggr_value *value;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	w.plan.repeat = 4;
	world_cycles(&w);
	world_reporter(&w);
	count_run(&w, 10, 100);
	count_run(&w, 11, 100);
	count_run(&w, 0, 0); /* it had no turn in this run: that is no 0 */
	count_run(&w, 13, 100);
	report = world_report(&w, REPORT_FINAL);
	row = &report->rows[0];
	assert_int_equal(row->count, 11); /* 34 / 3 */
	assert_true(row->value > 11.33 && row->value < 11.34);
	assert_true(row->has_stdev && row->partial);
	/* variance 7/3 of 3: sqrt(7/9) of the mean, in % of 34/3 */
	assert_true(row->stdev_pct > 7.78 && row->stdev_pct < 7.79);
	assert_int_equal(row->running_ns, 75);
	assert_int_equal(report->n_runs, 4);
	/* Every run's value is kept, by the run's number. */
	value = aggregation_value(w.reporter->counts, 0, 0);
	assert_int_equal(value->n_run_values, 3);
	assert_true(value->runs[1].run == 1 && value->runs[1].value == 11);
	assert_true(value->runs[2].run == 3 && value->runs[2].value == 13);
	assert_int_equal(report->times->elapsed.n, 4);
	world_release(&w);
}

/* What pstat counts itself goes through a read, without any kernel counter. */
static void test_clocks(void **state)
{
	const struct count_clock since_start = { 3000, 700, 200, false };
	struct count_clock since_last = { 1000, 0, 0, false };
	const struct stat_row *rows;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cs(&w)->kind = EVENT_DURATION_TIME;
	world_cs(&w)->kind = EVENT_USER_TIME;
	world_cs(&w)->kind = EVENT_SYSTEM_TIME;
	for (size_t i = 0; i < 3; i++)
		w.counters[i].state = COUNTER_SOFTWARE;
	world_start(&w);
	reporter_read(w.reporter, &since_start, &since_last);
	rows = world_report(&w, REPORT_INTERVAL)->rows;
	assert_int_equal(rows[0].count, 1000);
	assert_int_equal(rows[1].state, COUNT_NOT_COUNTED);
	assert_non_null(rows[1].reason);
	since_last.has_usage = true;
	reporter_read(w.reporter, &(struct count_clock){ 3000, 700, 0, true }, &since_last);
	rows = world_report(&w, REPORT_FINAL)->rows;
	assert_int_equal(rows[0].count, 3000);
	assert_int_equal(rows[1].count, 700);
	assert_int_equal(rows[2].state, COUNT_OK); /* 0 ns is a time too */
	assert_int_equal(rows[2].count, 0);
	world_release(&w);
}

/* Two types of cores, CPUs 0 and 1, 0 online: on which a task counts cycles and instructions. */
static void world_core_types(struct world *w)
{
	static char big[] = "big", little[] = "little";
	static const int cpus[] = { 0, 0, 1 };

	world_instructions(w);
	world_cycles(w);
	world_cycles(w);
	for (size_t i = 0; i < 3; i++) {
		w->events[i].pmu_name = i < 2 ? big : little;
		w->events[i].pmu_is_core = true;
		intset_add(&w->events[i].cpus, cpus[i]);
	}
}

/*
 * Thread 0 was half of its time on each type, thread 1 on the first one only; there its first event had
 * half a counter. By the enabled time thread 0 would have 4 times what it saw.
 */
static void test_core_types(void **state)
{
	const struct stat_report *report;
	struct world w;

	(void)state;
	world_init(&w, AGGR_THREAD, TARGET_TASKS, NULL);
	world_thread(&w, 0, "a", 10);
	world_thread(&w, 1, "b", 11);
	world_core_types(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 10, 1000, 250);
	feed(&w, 1, -1, 0, 7, 1000, 500);
	feed(&w, 2, -1, 0, 3, 1000, 500);
	feed(&w, 0, -1, 1, 10, 1000, 500);
	feed(&w, 1, -1, 1, 9, 1000, 1000);
	feed(&w, 2, -1, 1, 0, 1000, 0);
	report = world_report(&w, REPORT_FINAL);
	expect_rows(report, "a-10 instructions 20; b-11 instructions 20; b-11 cycles 9; a-10 cycles 7; "
			    "a-10 cycles 3; b-11 cycles <not counted>");
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct stat_row *row = &report->rows[i];

		assert_false(row->partial);
		assert_int_equal(row->scaled, i < 2);
		assert_true(row->running_pct == (i < 2 ? 50 : i < 5 ? 100 : 0) || i == 5);
	}
	world_release(&w);
}

/* An interval is judged by its own times: in the second one the task was on the second type only. */
static void test_core_types_in_intervals(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_core_types(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 10, 1000, 250);
	feed(&w, 1, -1, 0, 7, 1000, 500);
	feed(&w, 2, -1, 0, 3, 1000, 500);
	assert_int_equal(world_report(&w, REPORT_INTERVAL)->rows[0].count, 20);
	world_read(&w, 2, 1);
	feed(&w, 0, -1, 0, 10, 2000, 250);
	feed(&w, 1, -1, 0, 7, 2000, 500);
	feed(&w, 2, -1, 0, 8, 2000, 1200);
	row = &world_report(&w, REPORT_INTERVAL)->rows[2];
	assert_int_equal(row->count, 5); /* 800 of 1000 ns: too little to say where it was */
	assert_true(row->partial && !row->scaled);
	assert_string_equal(row->reason, "not scaled: no counter saw all of its core's time");
	row = world_report(&w, REPORT_FINAL)->rows;
	assert_int_equal(row->count, 10);
	assert_true(row->partial);
	world_release(&w);
}

/* Of one type alone nothing is known of the other: raw, and so for every thread that was elsewhere. */
static void test_lone_core_type(void **state)
{
	const struct stat_row *row;
	struct fake_machine machine;
	struct world w;

	(void)state;
	fake_machine_init(&machine);
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-1\n");
	world_init(&w, AGGR_TOTAL, TARGET_TASKS, NULL);
	w.kern.host = machine.host;
	world_thread(&w, 0, "a", 10);
	world_thread(&w, 1, "b", 11);
	world_core_types(&w);
	world_unsupported(&w, 2);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 10, 1000, 500);
	feed(&w, 0, -1, 1, 10, 1000, 1000);
	row = &world_report(&w, REPORT_FINAL)->rows[0];
	assert_int_equal(row->count, 20);
	assert_true(row->partial && !row->scaled);
	assert_string_equal(row->reason, "1 of 2 counters not scaled: nothing is counted on the other cores");
	world_release(&w);
	fake_machine_release(&machine);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(test_core_types), cmocka_unit_test(test_core_types_in_intervals),
		cmocka_unit_test(test_lone_core_type), cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_clocks),
	};
	struct CMUnitTest tests[ARRAY_SIZE(cases) + ARRAY_SIZE(others)];

	memcpy(tests, others, sizeof(others));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		tests[ARRAY_SIZE(others) + i] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = test_case,
			.initial_state = (void *)(uintptr_t)&cases[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
