/* SPDX-License-Identifier: MIT */
/* Text: perf's columns, byte by byte, in each mode. What pstat adds to them: test_fmt_text_more.c. */
#include "fmt_sample.h"

static void test_plain(void **state)
{
	struct stat_metric cpus[] = { METRIC("CPUs utilized", 0.4541, 3) };
	struct stat_metric rate[] = { METRIC("K/sec", 79.593, 3) };
	struct stat_row rows[] = {
		with_metrics(msec_row("task-clock", 615630), cpus, 1),
		with_metrics(plain_row("page-faults", 49), rate, 1),
		plain_row("dummy", 0),
		failed_row("cycles", COUNT_NOT_SUPPORTED, "no counter unit on this machine"),
	};
	struct stat_times times = run_times(0.001357483, true);
	struct stat_report report = REPORT(rows, &times);

	(void)state;
	expect_report(&stat_format_text, &as_perf, &report,
		"\n Performance counter stats for 'true':\n\n"
		"              0.62 msec task-clock                       #    0.454 CPUs utilized"
		"          \n"
		"                49      page-faults                      #   79.593 K/sec"
		"                  \n"
		"                 0      dummy                           " BLANK35 "\n"
		"   <not supported>      cycles                   " BLANK35 "\n"
		"\n"
		"       0.001357483 seconds time elapsed\n"
		"\n"
		"       0.001480000 seconds user\n"
		"       0.000000000 seconds sys\n"
		"\n\n");
}

static void test_without_usage(void **state)
{
	struct stat_style style = as_perf;
	struct stat_row rows[] = { plain_row("cs", 47) };
	struct stat_times times = run_times(0.102312095, false);
	struct stat_report report = REPORT(rows, &times);

	(void)state;
	style.title = "'system wide'";
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'system wide':\n\n"
		"                47      cs                              " BLANK35 "\n"
		"\n"
		"       0.102312095 seconds time elapsed\n\n");
	style.null_run = true;
	report.n_rows = 0;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'system wide':\n\n"
		"       0.102312095 seconds time elapsed\n\n");
}

static void test_places(void **state)
{
	struct stat_metric rate[] = { METRIC("/sec", 263.781, 3) };
	struct stat_row rows[] = {
		AT(with_metrics(plain_row("cs", 27), rate, 1), AGGR_CPU, "CPU0", 1),
		AT(failed_row("cycles", COUNT_NOT_SUPPORTED, NULL), AGGR_CPU, "CPU11", 1),
		AT(with_metrics(plain_row("cs", 27), rate, 1), AGGR_CORE, "S0-D0-C0", 1),
		AT(failed_row("cycles", COUNT_NOT_SUPPORTED, NULL), AGGR_CORE, "S0-D0-C0", 1),
		AT(with_metrics(plain_row("cs", 97), rate, 1), AGGR_DIE, "S0-D0", 2),
		AT(with_metrics(plain_row("cs", 97), rate, 1), AGGR_SOCKET, "S0", 2),
		AT(with_metrics(plain_row("cs", 97), rate, 1), AGGR_NODE, "N0", 2),
		AT(with_metrics(plain_row("cs", 4), rate, 1), AGGR_THREAD, "perf-7822", 1),
		AT(with_metrics(plain_row("cs", 2), rate, 1), AGGR_THREAD,
		   "memfd:sealed-91-2988", 1),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	expect_report(&stat_format_text, &as_perf, &report,
		"\n Performance counter stats for 'true':\n\n"
		"CPU0                       27      cs                               #  263.781 /sec"
		"                   \n"
		"CPU11         <not supported>      cycles                   " BLANK35 "\n"
		"S0-D0-C0           1                 27      cs                               "
		"#  263.781 /sec                   \n"
		"S0-D0-C0           1    <not supported>      cycles                   " BLANK35 "\n"
		"S0-D0           2                 97      cs                               "
		"#  263.781 /sec                   \n"
		"S0        2                 97      cs                               "
		"#  263.781 /sec                   \n"
		"N0        2                 97      cs                               "
		"#  263.781 /sec                   \n"
		"            perf-7822                      4      cs                               "
		"#  263.781 /sec                   \n"
		" memfd:sealed-91-2988                      2      cs                               "
		"#  263.781 /sec                   \n"
		"\n");
}

static void expect_heading(enum aggr_mode aggr, bool first, unsigned n_before, const char *expected)
{
	struct stat_style style = as_perf;
	struct stat_report report = {
		.kind = REPORT_INTERVAL, .first = first, .n_before = n_before,
		.least_running_pct = 100.0,
	};

	style.aggr = aggr;
	expect_report(&stat_format_text, &style, &report, expected);
}

static void test_interval_headings(void **state)
{
	(void)state;
	expect_heading(AGGR_TOTAL, true, 0, "#           time             counts unit events\n");
	expect_heading(AGGR_TOTAL, false, 1, "");
	expect_heading(AGGR_TOTAL, false, 24, "");
	expect_heading(AGGR_TOTAL, false, 25, "#           time             counts unit events\n");
	expect_heading(AGGR_CPU, true, 0,
		       "#           time CPU                    counts unit events\n");
	expect_heading(AGGR_CORE, true, 0,
		       "#           time core            cpus             counts unit events\n");
	expect_heading(AGGR_CLUSTER, true, 0,
		       "#           time cluster              cpus             counts unit events\n");
	expect_heading(AGGR_CACHE, true, 0,
		       "#           time cache                  cpus             counts unit events\n");
	expect_heading(AGGR_DIE, true, 0,
		       "#           time die          cpus             counts unit events\n");
	expect_heading(AGGR_SOCKET, true, 0,
		       "#           time socket cpus             counts unit events\n");
	expect_heading(AGGR_NODE, true, 0,
		       "#           time node   cpus             counts unit events\n");
	expect_heading(AGGR_THREAD, true, 0,
		       "#           time             comm-pid                  counts unit events\n");
}

static void test_interval_rows(void **state)
{
	struct stat_style style = as_perf;
	struct stat_row rows[] = {
		AT(plain_row("cs", 17), AGGR_CPU, "CPU0", 1),
		AT(failed_row("task-clock", COUNT_NOT_COUNTED, NULL), AGGR_CPU, "CPU1", 1),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 100218765, false);

	(void)state;
	rows[1].unit = "msec";
	style.aggr = AGGR_CPU;
	style.interval = true;
	expect_report(&stat_format_text, &style, &report,
		"     0.100218765 CPU0                       17      cs                              "
		BLANK35 "\n"
		"     0.100218765 CPU1            <not counted> msec task-clock               "
		BLANK35 "\n");
	style.interval_clear = true;
	report.n_rows = 0;
	expect_report(&stat_format_text, &style, &report,
		"#           time CPU                    counts unit events\n");
}

/* Marks stand behind the row's last metric. perf puts a second metric 7 columns further left. */
static void test_hardware_rows(void **state)
{
	struct stat_style style = as_perf;
	struct stat_metric ghz[] = { METRIC("GHz", 2.001, 3) };
	struct stat_metric ipc[] = { METRIC("insn per cycle", 2.7, 2),
				     METRIC("stalled cycles per insn", 0.33, 2) };
	struct stat_metric share[] = { METRIC("% of all branches", 1.4, 2) };
	struct stat_row rows[] = {
		with_metrics(plain_row("cycles", 2019000000), ghz, 1),
		with_metrics(scaled_row(plain_row("instructions", 5427238931), 57.92), ipc, 2),
		with_metrics(plain_row("branch-misses", 7000000), share, 1),
		scaled_row(failed_row("cs", COUNT_NOT_COUNTED, NULL), 0.0),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 20120477, false);

	(void)state;
	rows[0].has_stdev = rows[1].has_stdev = rows[2].has_stdev = true;
	rows[0].stdev_pct = 0.26;
	rows[1].stdev_pct = 17.92;
	rows[3].scaled = false; /* no count, nothing scaled; its time is known all the same */
	style.runs = 3;
	report.kind = REPORT_FINAL;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true' (3 runs):\n\n"
		"        2019000000      cycles                           #    2.001 GHz"
		"                      ( +-  0.26% )\n"
		"        5427238931      instructions                     #    2.70  insn per cycle"
		"         \n"
		"                                                         #    0.33  "
		"stalled cycles per insn  ( +- 17.92% )  (57.92%)\n"
		"           7000000      branch-misses                    #    1.40% of all branches"
		"        \n"
		"     <not counted>      cs                                                          "
		"  (0.00%)\n"
		"\n");
}

static void test_cgroups(void **state)
{
	struct stat_style style = as_perf;
	struct stat_metric cpus[] = { METRIC("CPUs utilized", 2.001, 3), METRIC("GHz", 1.0, 3) };
	struct stat_row rows[] = {
		with_metrics(msec_row("task-clock", 103020000), cpus, 2),
		failed_row("cs", COUNT_NOT_COUNTED, NULL),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 1000000000, false);

	(void)state;
	rows[0].cgroup = rows[1].cgroup = "/";
	style.has_cgroups = true;
	expect_report(&stat_format_text, &style, &report,
		"     1.000000000             103.02 msec task-clock                       "
		"/ #    2.001 CPUs utilized          \n"
		"     1.000000000                                                            "
		"#    1.000 GHz                    \n"
		"     1.000000000      <not counted>      cs                        /" BLANK35 "\n");
}

static void test_repeats(void **state)
{
	static const double runs[] = { 0.01134257, 0.01152612, 0.01148550 };
	struct stat_style style = as_perf;
	struct stat_times times = { .has_usage = true };
	struct stat_report report = {
		.first = true, .times = &times, .run_seconds = runs, .n_runs = 3,
		.least_running_pct = 100.0,
	};

	(void)state;
	series_of(&times.elapsed, runs, 3);
	style.runs = 3;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true' (3 runs):\n\n\n"
		"         0.0114514 +- 0.0000557 seconds time elapsed  ( +-  0.49% )\n\n");
	style.table = true;
	style.null_run = true;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true' (3 runs):\n\n"
		"         # Table of individual measurements:\n"
		"         0.0113426 (-0.0001088) #\n"
		"         0.0115261 (+0.0000747) #\n"
		"         0.0114855 (+0.0000341) #\n"
		"\n"
		"         # Final result:\n"
		"         0.0114514 +- 0.0000557 seconds time elapsed  ( +-  0.49% )\n\n");
}

static void test_table_bars(void **state)
{
	static const double runs[] = { 0.0228, 0.0430, 0.0633, 0.0031 };
	struct stat_style style = as_perf;
	struct stat_times times = { .has_usage = false };
	struct stat_report report = {
		.first = true, .times = &times, .run_seconds = runs, .n_runs = 3,
		.least_running_pct = 100.0,
	};

	(void)state;
	series_of(&times.elapsed, runs, 4);
	style.runs = 9;
	style.table = true;
	style.null_run = true;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true' (4 runs):\n\n"
		"            # Table of individual measurements:\n"
		"            0.0228 (-0.0102) #########\n"
		"            0.0430 (+0.0100) #####\n"
		"            0.0633 (+0.0302) ##########\n"
		"\n"
		"            # Final result:\n"
		"            0.0330 +- 0.0130 seconds time elapsed  ( +- 39.22% )\n\n");
	/* Ended after the first run: no deviation is known. */
	series_of(&times.elapsed, runs, 1);
	style.table = false;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true' (1 runs):\n\n"
		"       0.022800000 +- 0.000000000 seconds time elapsed\n\n");
}

static void test_begin(void **state)
{
	struct stat_style style = as_perf;
	struct str out = STR_INIT;

	(void)state;
	stat_format_text.begin(&out, &style);
	assert_string_equal(out.s, "");
	style.started_on = "Sat Nov 21 07:44:17 2026";
	stat_format_text.begin(&out, &style);
	assert_string_equal(out.s, "# started on Sat Nov 21 07:44:17 2026\n\n");
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_without_usage),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_interval_headings),
		cmocka_unit_test(test_interval_rows),
		cmocka_unit_test(test_hardware_rows),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_table_bars),
		cmocka_unit_test(test_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
