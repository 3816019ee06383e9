/* SPDX-License-Identifier: MIT */
/* Rows: every aggregation on a made-up machine, their order, what is left out. */
#include "count_sample.h"

/* cs counts 10 more than the CPU's number, task-clock 1000 times that. */
static void feed_cpus(struct world *w)
{
	world_read(w, 1, 1);
	for (int cpu = 0; cpu < 8; cpu++) {
		feed(w, 0, cpu, 0, (uint64_t)cpu + 10, 100, 100);
		feed(w, 1, cpu, 0, (uint64_t)(cpu + 10) * 1000, 100, 100);
	}
}

static void start_8_cpus(struct world *w, enum aggr_mode aggr)
{
	world_init(w, aggr, TARGET_CPUS, "0-7");
	world_cs(w);
	world_clock(w);
	world_start(w);
	feed_cpus(w);
}

static void expect_8_cpus(enum aggr_mode aggr, unsigned n_folded, const char *want)
{
	const struct stat_report *report;
	struct world w;

	start_8_cpus(&w, aggr);
	report = world_report(&w, REPORT_FINAL);
	expect_rows(report, want);
	for (size_t i = 0; i < report->n_rows; i++) {
		assert_int_equal(report->rows[i].aggr, aggr);
		assert_int_equal(report->rows[i].n_folded, n_folded);
	}
	world_release(&w);
}

static void test_total(void **state)
{
	(void)state;
	expect_8_cpus(AGGR_TOTAL, 8, " cs 108;  task-clock 108000");
}

static void test_cpu(void **state)
{
	(void)state;
	expect_8_cpus(AGGR_CPU, 1,
		      "CPU0 cs 10; CPU1 cs 11; CPU2 cs 12; CPU3 cs 13; CPU4 cs 14; CPU5 cs 15; "
		      "CPU6 cs 16; CPU7 cs 17; CPU0 task-clock 10000; CPU1 task-clock 11000; "
		      "CPU2 task-clock 12000; CPU3 task-clock 13000; CPU4 task-clock 14000; "
		      "CPU5 task-clock 15000; CPU6 task-clock 16000; CPU7 task-clock 17000");
}

static void test_core(void **state)
{
	(void)state;
	expect_8_cpus(AGGR_CORE, 2,
		      "S0-D0-C0 cs 24; S0-D0-C0 task-clock 24000; S0-D0-C1 cs 26; "
		      "S0-D0-C1 task-clock 26000; S1-D0-C0 cs 28; S1-D0-C0 task-clock 28000; "
		      "S1-D0-C1 cs 30; S1-D0-C1 task-clock 30000");
}

static void test_cluster(void **state)
{
	(void)state;
	expect_8_cpus(AGGR_CLUSTER, 2,
		      "S0-D0-CLS5 cs 24; S0-D0-CLS5 task-clock 24000; S0-D0-CLS6 cs 26; "
		      "S0-D0-CLS6 task-clock 26000; S1-D0-CLS5 cs 28; S1-D0-CLS5 task-clock 28000; "
		      "S1-D0-CLS6 cs 30; S1-D0-CLS6 task-clock 30000");
}

/* CPUs without such a cache have a row of their own: they are not in cache 0. */
static void test_cache(void **state)
{
	struct world w;

	(void)state;
	start_8_cpus(&w, AGGR_CACHE);
	expect_rows(world_report(&w, REPORT_FINAL),
		    "S0-D0-L3-ID0 cs 50; S0-D0-L3-ID0 task-clock 50000; S1-D0-L0-ID-1 cs 33; "
		    "S1-D0-L0-ID-1 task-clock 33000; S1-D0-L3-ID2 cs 25; S1-D0-L3-ID2 task-clock 25000");
	assert_int_equal(row_of(&w.reporter->report, "S0-D0-L3-ID0", "cs")->n_folded, 4);
	world_release(&w);
}

static void test_die(void **state)
{
	(void)state;
	expect_8_cpus(AGGR_DIE, 4,
		      "S0-D0 cs 50; S0-D0 task-clock 50000; S1-D0 cs 58; S1-D0 task-clock 58000");
}

static void test_socket(void **state)
{
	(void)state;
	expect_8_cpus(AGGR_SOCKET, 4,
		      "S0 cs 50; S0 task-clock 50000; S1 cs 58; S1 task-clock 58000");
}

static void test_node(void **state)
{
	(void)state;
	expect_8_cpus(AGGR_NODE, 4, "N0 cs 50; N0 task-clock 50000; N1 cs 58; N1 task-clock 58000");
}

/* Each place is measured by its own clock. */
static void test_metrics_are_per_place(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	start_8_cpus(&w, AGGR_SOCKET);
	row = row_of(world_report(&w, REPORT_FINAL), "S1", "task-clock");
	assert_int_equal(row->n_metrics, 1);
	assert_string_equal(row->metrics[0].unit, "CPUs utilized");
	assert_true(row->metrics[0].value > 0.0000579 && row->metrics[0].value < 0.0000581);
	assert_false(row->integral);
	assert_string_equal(row->unit, "msec");
	assert_true(row->value > 0.0579 && row->value < 0.0581);
	row = row_of(&w.reporter->report, "S1", "cs");
	assert_string_equal(row->metrics[0].unit, "K/sec"); /* 58 in 58000 ns */
	assert_true(row->metrics[0].value == 1000);
	world_release(&w);
}

/* The thread called idle slept, or it ran and had no events. */
static void start_threads(struct world *w, enum target_kind kind, uint64_t idle_ran_ns)
{
	world_init(w, AGGR_THREAD, kind, NULL);
	world_thread(w, 0, "low", 10);
	world_thread(w, 1, "high", 11);
	world_thread(w, 2, "idle", 12);
	world_thread(w, 3, "a\033[1m", 13);
	world_cs(w);
	world_cycles(w);
	world_unsupported(w, 1);
	world_start(w);
	world_read(w, 1, 1);
	feed(w, 0, -1, 0, 5, 100, 100);
	feed(w, 0, -1, 1, 50, 100, 100);
	feed(w, 0, -1, 2, 0, idle_ran_ns, idle_ran_ns);
	feed(w, 0, -1, 3, 6, 100, 100);
}

static void test_threads(void **state)
{
	struct world w;

	(void)state;
	start_threads(&w, TARGET_TASKS, 0);
	expect_rows(world_report(&w, REPORT_FINAL),
		    "high-11 cs 50; a\\x1b[1m-13 cs 6; low-10 cs 5; idle-12 cs <not counted>; "
		    "low-10 cycles <not supported>; high-11 cycles <not supported>; "
		    "idle-12 cycles <not supported>; a\\x1b[1m-13 cycles <not supported>");
	world_release(&w);
}

/* With all threads of the system, those without a count go; the event that failed is said once. */
static void test_threads_of_the_system(void **state)
{
	struct world w;

	(void)state;
	for (uint64_t ran_ns = 0; ran_ns < 200; ran_ns += 100) {
		start_threads(&w, TARGET_CPUS, ran_ns);
		expect_rows(world_report(&w, REPORT_FINAL),
			    "high-11 cs 50; a\\x1b[1m-13 cs 6; low-10 cs 5; all cycles <not "
			    "supported>");
		world_release(&w);
	}
}

/* Between repeats threads come and go: each keeps its own row. */
static void test_threads_over_repeats(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_THREAD, TARGET_TASKS, NULL);
	w.plan.repeat = 2;
	world_thread(&w, 0, "a", 10);
	world_thread(&w, 1, "b", 11);
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 10, 100, 100);
	feed(&w, 0, -1, 1, 20, 100, 100);
	world_end_run(&w, &(struct count_clock){ .elapsed_ns = 1000000000 });
	world_thread(&w, 0, "b", 11);
	world_thread(&w, 1, "c", 12);
	world_attach(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 24, 100, 100);
	feed(&w, 0, -1, 1, 5, 100, 100);
	world_end_run(&w, &(struct count_clock){ .elapsed_ns = 1000000000 });
	expect_rows(world_report(&w, REPORT_FINAL), "b-11 cs 22; a-10 cs 10; c-12 cs 5");
	world_release(&w);
}

static void test_unsupported_per_place(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_SOCKET, TARGET_CPUS, "0-3");
	world_cycles(&w);
	world_unsupported(&w, 0);
	world_start(&w);
	world_read(&w, 1, 1);
	expect_rows(world_report(&w, REPORT_FINAL),
		    "S0 cycles <not supported>; S1 cycles <not supported>");
	row = &w.reporter->report.rows[0];
	assert_string_equal(row->reason, "no such counter");
	assert_int_equal(row->n_folded, 2);
	assert_true(row->running_pct == 100 && row->running_ns == 0);
	world_release(&w);
}

/* A PMU that is there once per socket has rows on its sockets only. */
static void test_pmu_with_cpus_of_its_own(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_CPU, TARGET_CPUS, "0-3");
	world_cs(&w);
	world_open_on(&w, 0, "0,2");
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 7, 100, 100);
	feed(&w, 0, 2, 0, 8, 100, 100);
	expect_rows(world_report(&w, REPORT_FINAL), "CPU0 cs 7; CPU2 cs 8");
	world_release(&w);
}

static void test_per_package(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-7");
	world_cs(&w)->per_pkg = true;
	world_start(&w);
	world_read(&w, 1, 1);
	for (int cpu = 0; cpu < 8; cpu++)
		feed(&w, 0, cpu, 0, 100 + (uint64_t)cpu, 100, 100);
	/* CPUs 0 and 2 are the first of their sockets */
	expect_rows(world_report(&w, REPORT_FINAL), " cs 202");
	assert_int_equal(w.reporter->report.rows[0].n_folded, 2);
	world_release(&w);
}

/* Two dies in one socket: they are places, and packages of their own. */
static void test_dies(void **state)
{
	struct topology topology = { .v = xcalloc(3, sizeof(*topology.v)), .n = 3 };
	struct world w;

	(void)state;
	topology.v[0] = (struct topology_cpu){ .cpu = 0, .die = 0 };
	topology.v[1] = (struct topology_cpu){ .cpu = 1, .die = 1 };
	topology.v[2] = (struct topology_cpu){ .cpu = 2, .die = 1, .core = 1 };
	world_init(&w, AGGR_DIE, TARGET_CPUS, "0-2");
	world_cs(&w);
	world_cs(&w)->per_pkg = true;
	world_reporter(&w);
	w.topology = topology;
	world_attach(&w);
	world_read(&w, 1, 1);
	for (int cpu = 0; cpu < 3; cpu++) {
		feed(&w, 0, cpu, 0, 10, 100, 100);
		feed(&w, 1, cpu, 0, 20, 100, 100);
	}
	expect_rows(world_report(&w, REPORT_FINAL),
		    "S0-D0 cs 10; S0-D0 cs 20; S0-D1 cs 20; S0-D1 cs 20");
	world_release(&w);
}

/* It is read where places need it and nowhere else; here there is none to read. */
static void test_topology_is_read_when_needed(void **state)
{
	(void)state;
	for (enum aggr_mode aggr = AGGR_TOTAL; aggr <= AGGR_THREAD; aggr++) {
		bool needed = aggr >= AGGR_CORE && aggr <= AGGR_NODE;
		struct str err = STR_INIT;
		struct world w;
		int rc;

		world_init(&w, aggr, TARGET_CPUS, "0-1");
		world_cs(&w);
		w.counters[0].n_cpus = 2;
		w.counters[0].n_threads = 1;
		world_reporter(&w);
		rc = reporter_attach(w.reporter, &count_backend_perf, &w.set, &w.target, &err);
		assert_true(needed ? rc < 0 && err.len : rc == 0 && !err.len);
		str_release(&err);
		world_release(&w);
	}
}

/* What belongs to no CPU stands at the first one, as perf has it. */
static void test_clock_is_at_the_first_place(void **state)
{
	const struct count_clock clock = { .elapsed_ns = 77 };
	struct world w;

	(void)state;
	world_init(&w, AGGR_SOCKET, TARGET_CPUS, "0-7");
	world_cs(&w)->kind = EVENT_DURATION_TIME;
	w.counters[0].state = COUNTER_SOFTWARE;
	world_start(&w);
	reporter_read(w.reporter, &clock, &clock);
	expect_rows(world_report(&w, REPORT_FINAL), "S0 cs 77");
	assert_int_equal(w.reporter->report.rows[0].n_folded, 1);
	world_release(&w);
}

/* Each CPU of a core has the core's sum. */
static void test_percore_on_cpus(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_CPU, TARGET_CPUS, "0,2,4");
	w.plan.percore_on_cpus = true;
	world_cycles(&w)->terms.percore = TERM_ON;
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	for (int cpu = 0; cpu < 5; cpu += 2) {
		feed(&w, 0, cpu, 0, 10 + (uint64_t)cpu, 100, 100);
		feed(&w, 1, cpu, 0, (uint64_t)cpu, 100, 100);
	}
	expect_rows(world_report(&w, REPORT_FINAL),
		    "CPU0 cycles 24; CPU2 cycles 12; CPU4 cycles 24; CPU0 cs 0; CPU2 cs 2; CPU4 cs 4");
	assert_int_equal(w.reporter->report.rows[0].aggr, AGGR_CPU);
	world_release(&w);
}

/* percore: with -A its rows are cores, the other events' are CPUs. */
static void test_percore(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_CPU, TARGET_CPUS, "0,2,4");
	world_cycles(&w)->terms.percore = TERM_ON;
	world_cs(&w);
	world_start(&w);
	world_read(&w, 1, 1);
	for (int cpu = 0; cpu < 5; cpu += 2) {
		feed(&w, 0, cpu, 0, 10 + (uint64_t)cpu, 100, 100);
		feed(&w, 1, cpu, 0, (uint64_t)cpu, 100, 100);
	}
	expect_rows(world_report(&w, REPORT_FINAL),
		    "S0-D0-C0 cycles 24; S1-D0-C0 cycles 12; CPU0 cs 0; CPU2 cs 2; CPU4 cs 4");
	assert_int_equal(w.reporter->report.rows[0].aggr, AGGR_CORE);
	assert_int_equal(w.reporter->report.rows[0].n_folded, 2);
	world_release(&w);
}

static void expect_scale(double scale, uint64_t count, bool integral, uint64_t shown, double value)
{
	const struct stat_row *row;
	struct world w;

	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0");
	world_cs(&w)->scale = scale;
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, count, 100, 100);
	row = &world_report(&w, REPORT_FINAL)->rows[0];
	assert_true(row->integral == integral);
	assert_true(row->count == shown);
	assert_true(row->value == value);
	world_release(&w);
}

static void test_scales(void **state)
{
	(void)state;
	expect_scale(1, UINT64_MAX, true, UINT64_MAX, (double)UINT64_MAX);
	expect_scale(64, 3, true, 192, 192);
	expect_scale(64, UINT64_MAX / 2, false, UINT64_MAX / 2, (double)(UINT64_MAX / 2) * 64);
	expect_scale(0.5, 3, false, 3, 1.5);
	expect_scale(1.5, 2, false, 2, 3);
}

static void test_report_head(void **state)
{
	const struct stat_report *report;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_COMMAND, NULL);
	world_cs(&w);
	world_start(&w);
	world_read(&w, 2, 2);
	world_end_read(&w);
	report = reporter_report(w.reporter, REPORT_INTERVAL, 77);
	assert_true(report->first && report->n_before == 0 && report->time_ns == 77);
	assert_true(report->times->elapsed.n == 1 && report->times->elapsed.mean == 2);
	report = reporter_report(w.reporter, REPORT_INTERVAL, 78);
	assert_true(!report->first && report->n_before == 1);
	world_end_run(&w, &(struct count_clock){ 2500000000, 1000000000, 500000000, true });
	report = world_report(&w, REPORT_SUMMARY);
	assert_true(report->times->elapsed.mean == 2.5 && report->times->has_usage);
	assert_true(report->times->sys.mean == 0.5 && report->n_runs == 1);
	assert_true(report->run_seconds[0] == 2.5);
	world_release(&w);
}

/* A command has no CPUs of its own: -A without CPUs is one place. */
static void test_cpu_rows_without_cpus(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, AGGR_CPU, TARGET_COMMAND, NULL);
	world_cs(&w);
	world_cs(&w)->kind = EVENT_DURATION_TIME;
	w.counters[1].state = COUNTER_SOFTWARE;
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, -1, 0, 5, 100, 100);
	expect_rows(world_report(&w, REPORT_FINAL), "all cs 5; all cs 1000000000");
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_die),
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_metrics_are_per_place),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_of_the_system),
		cmocka_unit_test(test_threads_over_repeats),
		cmocka_unit_test(test_unsupported_per_place),
		cmocka_unit_test(test_pmu_with_cpus_of_its_own),
		cmocka_unit_test(test_per_package),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_topology_is_read_when_needed),
		cmocka_unit_test(test_clock_is_at_the_first_place),
		cmocka_unit_test(test_percore),
		cmocka_unit_test(test_percore_on_cpus),
		cmocka_unit_test(test_cluster),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_report_head),
		cmocka_unit_test(test_cpu_rows_without_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
