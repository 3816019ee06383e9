/* Readings -> tallies: totals, intervals, scaling per cell, and every way of not having counted. */
#include "count_sample.h"
#include "fake_machine.h"

static const struct stat_row *only_row(struct world *w, enum stat_report_kind kind)
{
	const struct stat_report *report = world_report(w, kind);

	assert_int_equal(report->n_rows, 1);
	return &report->rows[0];
}

static void test_intervals_are_differences(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 100, 1000, 1000);
	assert_int_equal(only_row(&w, REPORT_INTERVAL)->count, 100);
	world_read(&w, 2, 1);
	feed(&w, 0, -1, 0, 130, 1500, 1500);
	row = only_row(&w, REPORT_INTERVAL);
	assert_int_equal(row->count, 30);
	assert_int_equal(row->running_ns, 500);
	row = only_row(&w, REPORT_SUMMARY);
	assert_int_equal(row->count, 130);
	assert_int_equal(row->running_ns, 1500);
	world_release(&w);
}

/* Each CPU is scaled by its own times: by the sums it would be 600 * 300 / 200 = 900. */
static void test_scaling_is_per_cell(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-1");
	world_cycles(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 500, 150, 50);
	feed(&w, 0, 1, 0, 100, 150, 150);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->count, 1600);
	assert_true(row->scaled && !row->partial);
	assert_int_equal(row->running_ns, 200);
	assert_true(row->running_pct > 66.6 && row->running_pct < 66.7);
	assert_true(w.reporter->report.least_running_pct == row->running_pct);
	world_release(&w);
}

/* An interval is scaled by what happened in it, not since the start. */
static void test_interval_scaling(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cycles(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 100, 100, 100);
	world_read(&w, 2, 1);
	feed(&w, 0, -1, 0, 110, 200, 110);
	assert_int_equal(only_row(&w, REPORT_INTERVAL)->count, 100);
	assert_int_equal(only_row(&w, REPORT_FINAL)->count, 200);
	world_release(&w);
}

static void test_no_scale(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	w.plan.scale = false;
	world_cycles(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 123, 100, 50);
	assert_int_equal(only_row(&w, REPORT_FINAL)->count, 123);
	assert_true(only_row(&w, REPORT_FINAL)->scaled); /* it still ran for half the time only */
	world_release(&w);
}

static void test_never_ran_is_not_zero(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cycles(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 0, 1000, 0);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->state, COUNT_NOT_COUNTED);
	assert_true(row->running_pct == 0);
	assert_non_null(row->reason);
	assert_true(w.reporter->report.least_running_pct == 100); /* no row was scaled */
	world_release(&w);
}

static void test_ran_and_zero(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cycles(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 0, 1000, 1000);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->state, COUNT_OK);
	assert_int_equal(row->count, 0);
	assert_null(row->reason);
	world_release(&w);
}

/* A cell with time and without a turn makes the sum a lower bound; a task that slept does not. */
static void test_partial(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_TASKS, NULL);
	world_thread(&w, 0, "a", 10);
	world_thread(&w, 1, "b", 11);
	world_thread(&w, 2, "c", 12);
	world_cycles(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 7, 100, 100);
	feed(&w, 0, -1, 1, 0, 0, 0);
	feed(&w, 0, -1, 2, 0, 0, 0);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->count, 7);
	assert_false(row->partial);
	assert_false(row->scaled);

	world_read(&w, 2, 1);
	feed(&w, 0, -1, 0, 7, 100, 100);
	feed(&w, 0, -1, 1, 9, 50, 0); /* whatever the value says, it did not run */
	feed_state(&w, 0, -1, 2, READING_FAILED, ENODEV);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->count, 7);
	assert_true(row->partial);
	assert_string_equal(row->reason, "1 of 3 counters never ran, 1 could not be read");
	world_release(&w);
}

/* A CPU that goes offline keeps what it had counted, and the total says that it is incomplete. */
static void test_failed_cell_keeps_its_count(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-1");
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 10, 100, 100);
	feed(&w, 0, 1, 0, 20, 100, 100);
	world_read(&w, 2, 1);
	feed(&w, 0, 0, 0, 15, 200, 200);
	feed_state(&w, 0, 1, 0, READING_FAILED, ENODEV);
	row = only_row(&w, REPORT_INTERVAL);
	assert_int_equal(row->count, 5);
	assert_true(row->partial);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->count, 35);
	assert_true(row->partial);
	assert_string_equal(row->reason, "1 of 2 counters could not be read");
	world_release(&w);
}

/* The counter can be read, but it ended with its CPU. */
static void test_stopped_with_its_cpu(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-1");
	world_cs(&w);
	world_start(&w);
	intset_add(&w.stopped, 1);
	aggregation_find_stopped(w.reporter->counts);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 10, 100, 100);
	feed(&w, 0, 1, 0, 20, 50, 50);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->count, 30);
	assert_true(row->partial);
	assert_string_equal(row->reason, "1 of 2 counters stopped when the CPU went offline");
	world_release(&w);
}

/* The kernel moves an event of a PMU with a cpumask to another CPU: it misses nothing. */
static void test_moved_from_its_cpu(void **state)
{
	const struct stat_row *row;
	struct event *event;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-1");
	event = world_cs(&w);
	intset_copy(&event->cpus, &w.target.cpus);
	world_start(&w);
	intset_add(&w.stopped, 1);
	aggregation_find_stopped(w.reporter->counts);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 10, 100, 100);
	feed(&w, 0, 1, 0, 20, 100, 100);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->count, 30);
	assert_false(row->partial);
	intset_release(&event->cpus);
	world_release(&w);
}

static void test_all_failed(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed_state(&w, 0, -1, 0, READING_FAILED, ENODEV);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->state, COUNT_NOT_COUNTED);
	assert_string_equal(row->reason, strerror(ENODEV));
	world_release(&w);
}

static void test_lost_pin(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cycles(&w)->attr.pinned = 1;
	world_start(&w);
	world_read(&w, 1, 1);
	feed_state(&w, 0, -1, 0, READING_LOST_PIN, 0);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->state, COUNT_NOT_COUNTED);
	assert_non_null(strstr(row->reason, "pinned"));
	world_release(&w);
}

/* The row stays although its only task was gone when the event was opened. */
static void test_not_open(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_TASKS, NULL);
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed_state(&w, 0, -1, 0, READING_NOT_OPEN, 0);
	row = only_row(&w, REPORT_FINAL);
	assert_int_equal(row->state, COUNT_NOT_COUNTED);
	assert_non_null(row->reason);
	world_release(&w);
}

static void test_snapshot(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0");
	world_cs(&w)->snapshot = true;
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 300, 100, 100);
	world_read(&w, 2, 1);
	feed(&w, 0, 0, 0, 280, 200, 200);
	assert_int_equal(only_row(&w, REPORT_INTERVAL)->count, 280);
	world_release(&w);
}

static void test_counts_do_not_run_backwards(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 50, 100, 100);
	world_read(&w, 2, 1);
	feed(&w, 0, -1, 0, 40, 200, 200);
	assert_int_equal(only_row(&w, REPORT_INTERVAL)->count, 0);
	world_release(&w);
}

static void test_sums_saturate(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-1");
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, UINT64_MAX - 1, 100, 100);
	feed(&w, 0, 1, 0, 5, 100, 100);
	assert_true(only_row(&w, REPORT_FINAL)->count == UINT64_MAX);
	world_release(&w);
}

/* Readings that belong to nothing must not be taken for something else. */
static void test_foreign_readings(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-1");
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 1, 100, 100);
	feed(&w, 0, 7, 0, 1000, 100, 100);
	feed(&w, 0, 1, 3, 1000, 100, 100);
	assert_int_equal(only_row(&w, REPORT_FINAL)->count, 1);
	world_release(&w);
}

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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_are_differences),
		cmocka_unit_test(test_scaling_is_per_cell),
		cmocka_unit_test(test_interval_scaling),
		cmocka_unit_test(test_no_scale),
		cmocka_unit_test(test_never_ran_is_not_zero),
		cmocka_unit_test(test_ran_and_zero),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_failed_cell_keeps_its_count),
		cmocka_unit_test(test_stopped_with_its_cpu),
		cmocka_unit_test(test_moved_from_its_cpu),
		cmocka_unit_test(test_all_failed),
		cmocka_unit_test(test_lost_pin),
		cmocka_unit_test(test_not_open),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_counts_do_not_run_backwards),
		cmocka_unit_test(test_sums_saturate),
		cmocka_unit_test(test_foreign_readings),
		cmocka_unit_test(test_core_types),
		cmocka_unit_test(test_core_types_in_intervals),
		cmocka_unit_test(test_lone_core_type),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
