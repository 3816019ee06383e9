/* SPDX-License-Identifier: MIT */
/* CSV: separators per line in each mode, quoting, exact digits, summary and --metric-only. */
#include "fmt_sample.h"

static const struct stat_style csv = { .separator = ",", .runs = 1 };

static void test_plain(void **state)
{
	struct stat_metric cpus[] = { METRIC("CPUs utilized", 0.0174, 3) };
	struct stat_metric rate[] = { METRIC("K/sec", 1.1568, 3) };
	struct stat_row rows[] = {
		with_metrics(msec_row("task-clock", 864484), cpus, 1),
		with_metrics(plain_row("cs", 1), rate, 1),
		failed_row("cycles", COUNT_NOT_SUPPORTED, "no counter unit on this machine"),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	expect_report(&stat_format_csv, &csv, &report,
		      "0.86,msec,task-clock,864484,100.00,0.017,CPUs utilized\n"
		      "1,,cs,1000000,100.00,1.157,K/sec\n"
		      "<not supported>,,cycles,0,100.00,,\n");
}

static void test_places(void **state)
{
	struct stat_row rows[] = {
		AT(plain_row("cs", 7), AGGR_CPU, "CPU0", 1),
		AT(plain_row("cs", 7), AGGR_CORE, "S0-D0-C1", 2),
		AT(plain_row("cs", 7), AGGR_DIE, "S0-D0", 2),
		AT(plain_row("cs", 7), AGGR_SOCKET, "S0", 4),
		AT(plain_row("cs", 7), AGGR_CACHE, "S0-D0-L3-ID0", 4),
		AT(plain_row("cs", 7), AGGR_NODE, "N1", 4),
		AT(plain_row("cs", 7), AGGR_THREAD, "memfd:sealed-91-2988", 1),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	expect_report(&stat_format_csv, &csv, &report,
		      "CPU0,7,,cs,1000000,100.00,,\n"
		      "S0-D0-C1,2,7,,cs,1000000,100.00,,\n"
		      "S0-D0,2,7,,cs,1000000,100.00,,\n"
		      "S0,4,7,,cs,1000000,100.00,,\n"
		      "S0-D0-L3-ID0,4,7,,cs,1000000,100.00,,\n"
		      "N1,4,7,,cs,1000000,100.00,,\n"
		      "memfd:sealed-91-2988,7,,cs,1000000,100.00,,\n");
}

/* How sure a scaled value is, or why that is not known: as many fields as the other lines. */
static void test_scale_error(void **state)
{
	struct stat_row rows[] = {
		AT(scaled_row(plain_row("cycles", 1000), 57.92), AGGR_CPU, "CPU0", 1),
		AT(scaled_row(plain_row("cycles", 0), 57.92), AGGR_CPU, "CPU1", 1),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	rows[0].has_scale_error = true;
	rows[0].scale_error_pct = 0.31416;
	rows[1].scale_error_reason = "nothing was seen";
	expect_report(&stat_format_csv, &csv, &report,
		      "CPU0,1000,,cycles,1000000,57.92,,\n"
		      "CPU0,,,,,,0.3142,% scale error\n"
		      "CPU1,0,,cycles,1000000,57.92,,\n"
		      "CPU1,,,,,,,scale error unknown: nothing was seen\n");
}

static void test_interval_and_summary(void **state)
{
	struct stat_style style = csv;
	struct stat_row rows[] = { AT(plain_row("cs", 16), AGGR_CPU, "CPU0", 1) };
	struct stat_report report = interval_report(REPORT(rows, NULL), 40132011, true);

	(void)state;
	style.interval = true;
	style.csv_summary_tag = true;
	expect_report(&stat_format_csv, &style, &report,
		      "     0.040132011,CPU0,16,,cs,1000000,100.00,,\n");
	report.kind = REPORT_SUMMARY;
	expect_report(&stat_format_csv, &style, &report,
		      "         summary,CPU0,16,,cs,1000000,100.00,,\n");
	style.csv_summary_tag = false;
	expect_report(&stat_format_csv, &style, &report, "CPU0,16,,cs,1000000,100.00,,\n");
}

/* Where blanks separate, a padded field would be several. */
static void test_blank_separator(void **state)
{
	struct stat_style style = csv;
	struct stat_metric cpus[] = { METRIC("CPUs utilized", 0.5, 3) };
	struct stat_row rows[] = {
		AT(with_metrics(plain_row("task-clock", 16), cpus, 1), AGGR_CPU, "CPU0", 1),
		AT(failed_row("cycles", COUNT_NOT_SUPPORTED, NULL), AGGR_CPU, "CPU0", 1),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 40132011, true);

	(void)state;
	style.interval = true;
	style.csv_summary_tag = true;
	style.separator = " ";
	expect_report(&stat_format_csv, &style, &report,
		      "0.040132011 CPU0 16  task-clock 1000000 100.00 0.500 \"CPUs utilized\"\n"
		      "0.040132011 CPU0 \"<not supported>\"  cycles 0 100.00  \n");
	report.kind = REPORT_SUMMARY;
	report.n_rows = 1;
	style.separator = "  ";
	expect_report(&stat_format_csv, &style, &report,
		      "summary  CPU0  16    task-clock  1000000  100.00  0.500  CPUs utilized\n");
	report.kind = REPORT_INTERVAL;
	style.separator = " | ";
	expect_report(&stat_format_csv, &style, &report,
		      "     0.040132011 | CPU0 | 16 |  | task-clock | 1000000 | 100.00 | 0.500 | CPUs utilized\n");
	style.aggr = AGGR_CPU;
	style.metric_only = true;
	style.separator = " ";
	expect_report(&stat_format_csv, &style, &report, "time cpu \"CPUs utilized\" \n0.040132011 CPU0 0.500 \n");
}

/* A further metric has as many fields as the row it belongs to. */
static void test_second_metric(void **state)
{
	struct stat_metric three[] = {
		METRIC("insn per cycle", 2.696354, 2),
		{ .name = "gone", .unit = "gone", .valid = false },
		METRIC("stalled cycles per insn", 0.166892, 2),
	};
	struct stat_row rows[] = {
		with_metrics(scaled_row(plain_row("instructions", 5392708544), 57.92), three, 3),
	};
	struct stat_report report = REPORT(rows, NULL);
	struct stat_style style = csv;

	(void)state;
	expect_report(&stat_format_csv, &style, &report,
		      "5392708544,,instructions,1000000,57.92,2.70,insn per cycle\n"
		      ",,,,,0.17,stalled cycles per insn\n");
	rows[0] = AT(rows[0], AGGR_CORE, "S0-D0-C0", 1);
	rows[0].cgroup = "/";
	style.has_cgroups = true;
	style.runs = 2;
	expect_report(&stat_format_csv, &style, &report,
		      "S0-D0-C0,1,5392708544,,instructions,/,0.00%,1000000,57.92,2.70,"
		      "insn per cycle\n"
		      "S0-D0-C0,1,,,,,,,,0.17,stalled cycles per insn\n");
}

static void test_repeats_and_percent(void **state)
{
	struct stat_style style = csv;
	struct stat_metric share[] = { METRIC("% of all branches", 1.4, 2) };
	struct stat_row rows[] = {
		with_metrics(plain_row("branch-misses", 7000000), share, 1),
		failed_row("cs", COUNT_NOT_COUNTED, NULL),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	style.runs = 3;
	rows[0].has_stdev = true;
	rows[0].stdev_pct = 17.919;
	rows[1] = scaled_row(rows[1], 0.0);
	expect_report(&stat_format_csv, &style, &report,
		      "7000000,,branch-misses,17.92%,1000000,100.00,1.40,of all branches\n"
		      "<not counted>,,cs,0.00%,0,0.00,,\n");
}

/* No name adds a field or a line, whatever the separator. */
static void test_quoting(void **state)
{
	struct stat_style style = csv;
	struct stat_row rows[] = { plain_row("cpu/event=1,umask=2/", 1), plain_row(EVIL, 2) };
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	expect_report(&stat_format_csv, &style, &report,
		      "1,,\"cpu/event=1,umask=2/\",1000000,100.00,,\n"
		      "2,,\"a,b\"\"c\\d\\x0a\\x1b[31m\\xff\",1000000,100.00,,\n");
	style.separator = "\t";
	expect_report(&stat_format_csv, &style, &report,
		      "1\t\tcpu/event=1,umask=2/\t1000000\t100.00\t\t\n"
		      "2\t\t\"a,b\"\"c\\d\\x0a\\x1b[31m\\xff\"\t1000000\t100.00\t\t\n");
	style.separator = "::";
	rows[0].name = "std::sort";
	report.n_rows = 1;
	expect_report(&stat_format_csv, &style, &report,
		      "1::::\"std::sort\"::1000000::100.00::::\n");
	style.separator = ".";
	rows[0].name = "x";
	expect_report(&stat_format_csv, &style, &report, "1..x.1000000.\"100.00\"..\n");
	style.separator = "::";
	rows[0].name = "a:"; /* a:::: would be a, and :: */
	expect_report(&stat_format_csv, &style, &report, "1::::\"a:\"::1000000::100.00::::\n");
}

static void test_exact_digits(void **state)
{
	struct stat_row rows[] = { plain_row("big", UINT64_MAX), plain_row("joules", 0) };
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	rows[1].integral = false;
	rows[1].unit = "Joules";
	rows[1].value = 1234567.891;
	expect_report(&stat_format_csv, &csv, &report,
		      "18446744073709551615,,big,1000000,100.00,,\n"
		      "1234567.89,Joules,joules,1000000,100.00,,\n");
}

/* perf prints the values; that the header names all of them in all modes is pstat's. */
static void test_metric_only(void **state)
{
	struct stat_style style = csv;
	struct stat_metric ghz[] = { METRIC("GHz", 2.0, 3) };
	struct stat_metric ipc[] = { METRIC("insn per cycle", 2.7, 2),
				     METRIC("stalled cycles per insn", 0.33, 2) };
	struct stat_metric rate[] = { METRIC("M/sec", 500.0, 3) };
	struct stat_metric share[] = { METRIC("% of all branches", 1.4, 2) };
	struct stat_metric none[] = { { .name = "GHz", .unit = "GHz", .valid = false } };
	struct stat_row rows[] = {
		AT(with_metrics(plain_row("cycles", 1), ghz, 1), AGGR_CPU, "CPU0", 1),
		AT(with_metrics(plain_row("cycles", 1), none, 1), AGGR_CPU, "CPU1", 1),
		AT(with_metrics(plain_row("instructions", 1), ipc, 2), AGGR_CPU, "CPU0", 1),
		AT(with_metrics(plain_row("instructions", 1), ipc, 2), AGGR_CPU, "CPU1", 1),
		AT(with_metrics(plain_row("branches", 1), rate, 1), AGGR_CPU, "CPU0", 1),
		AT(with_metrics(plain_row("branch-misses", 1), share, 1), AGGR_CPU, "CPU0", 1),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 20110107, true);

	(void)state;
	style.aggr = AGGR_CPU;
	style.interval = true;
	style.metric_only = true;
	style.csv_summary_tag = true;
	expect_report(&stat_format_csv, &style, &report,
		      " time,cpu,GHz,insn per cycle,stalled cycles per insn,"
		      "branch-misses of all branches,\n"
		      "     0.020110107,CPU0,2.000,2.70,0.33,1.40,\n"
		      "     0.020110107,CPU1,,2.70,0.33,,\n");
	report.first = false;
	report.kind = REPORT_SUMMARY;
	expect_report(&stat_format_csv, &style, &report,
		      "         summary,CPU0,2.000,2.70,0.33,1.40,\n"
		      "         summary,CPU1,,2.70,0.33,,\n");
}

/* Rates alone: shown, without their prefixes, because a column has one unit. */
static void test_metric_only_rates(void **state)
{
	struct stat_style style = csv;
	struct stat_metric cpus[] = { METRIC("CPUs utilized", 0.5, 3) };
	struct stat_metric slow[] = { METRIC("/sec", 12.5, 3) };
	struct stat_metric fast[] = { METRIC("K/sec", 79.593, 3) };
	struct stat_row rows[] = {
		with_metrics(msec_row("task-clock", 864484), cpus, 1),
		with_metrics(plain_row("cs", 1), slow, 1),
		with_metrics(plain_row("page-faults", 1), fast, 1),
		with_metrics(plain_row("cs", 1), slow, 1),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	style.metric_only = true;
	expect_report(&stat_format_csv, &style, &report,
		      "CPUs utilized,cs /sec,page-faults /sec,cs /sec #2,\n"
		      "0.500,12.500,79593.000,12.500,\n");
}

static void test_begin(void **state)
{
	struct stat_style style = csv;
	struct str out = STR_INIT;

	(void)state;
	stat_format_csv.begin(&out, &style);
	assert_string_equal(out.s, "");
	style.started_on = "Sat Nov 21 07:44:17 2026";
	stat_format_csv.begin(&out, &style);
	assert_string_equal(out.s, "# started on Sat Nov 21 07:44:17 2026\n\n");
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_scale_error),
		cmocka_unit_test(test_interval_and_summary),
		cmocka_unit_test(test_blank_separator),
		cmocka_unit_test(test_second_metric),
		cmocka_unit_test(test_repeats_and_percent),
		cmocka_unit_test(test_quoting),
		cmocka_unit_test(test_exact_digits),
		cmocka_unit_test(test_metric_only),
		cmocka_unit_test(test_metric_only_rates),
		cmocka_unit_test(test_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
