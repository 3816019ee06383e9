/* SPDX-License-Identifier: MIT */
/*
 * What pstat adds to perf's text: grouped digits, reasons, marks with their closing lines, colours,
 * safe names, complete --metric-only headers.
 */
#include "fmt_sample.h"

static void test_grouped_digits(void **state)
{
	struct stat_style style = as_perf;
	struct stat_row rows[] = {
		plain_row("a", UINT64_MAX), plain_row("b", 999), plain_row("c", 1000),
		msec_row("d", 1234567894321), msec_row("e", 0), msec_row("f", 0),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 0, false);
	struct str out = STR_INIT;

	(void)state;
	rows[4].value = -1234.5;
	rows[5].value = -123.5;
	style.big_num = true;
	stat_format_text.report(&out, &style, &report);
	assert_non_null(strstr(out.s, " 0.000000000 18,446,744,073,709,551,615      a "));
	assert_non_null(strstr(out.s, "                999      b "));
	assert_non_null(strstr(out.s, "              1,000      c "));
	assert_non_null(strstr(out.s, "       1,234,567.89 msec d "));
	assert_non_null(strstr(out.s, "          -1,234.50 msec e "));
	assert_non_null(strstr(out.s, "            -123.50 msec f "));
	str_release(&out);
}

static void test_reasons(void **state)
{
	struct stat_style style = as_perf;
	struct stat_row rows[] = {
		failed_row("cycles", COUNT_NOT_SUPPORTED, "no counter unit on this machine"),
		scaled_row(failed_row("bus-cycles", COUNT_NOT_COUNTED, "9 events for 7 counters"), 0),
		plain_row("cs", 5),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 0, false);

	(void)state;
	rows[2].partial = true;
	rows[2].reason = "CPU3 is offline";
	style.explain = true;
	expect_report(&stat_format_text, &style, &report,
		"     0.000000000    <not supported>      cycles                           "
		"#  no counter unit on this machine\n"
		"     0.000000000      <not counted>      bus-cycles                       "
		"#  9 events for 7 counters          (0.00%)\n"
		"     0.000000000                  5      cs                              " BLANK35
		"  (at least: CPU3 is offline)\n");
	style.explain = false;
	report.rows += 2;
	report.n_rows = 1;
	expect_report(&stat_format_text, &style, &report,
		"     0.000000000                  5      cs                              " BLANK35
		"  (at least)\n");
}

/* A reason that all rows of their kind have is said once; not of each interval, whose lines stand alone. */
static void test_common_reasons(void **state)
{
	struct stat_row rows[] = {
		plain_row("cycles", 0), plain_row("instructions", 0), plain_row("cs", 5),
		plain_row("bus-cycles", 0), plain_row("ref-cycles", 0),
	};
	struct stat_report report = { .kind = REPORT_FINAL, .rows = rows, .n_rows = ARRAY_SIZE(rows),
				      .least_running_pct = 100.0 };
	struct stat_style style = { .title = "x", .big_num = true, .explain = true };
	struct str out = STR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (i != 2)
			rows[i].state = i < 2 ? COUNT_NOT_SUPPORTED : COUNT_NOT_COUNTED;
	rows[0].reason = rows[1].reason = "no counter unit on this machine";
	rows[3].reason = "9 events for 7 counters";
	rows[4].reason = "the task never ran while counting";
	stat_format_text.report(&out, &style, &report);
	assert_null(strstr(out.s, "#  no counter unit"));
	assert_non_null(strstr(out.s, "\n\n <not supported>: no counter unit on this machine\n\n"));
	assert_non_null(strstr(out.s, " bus-cycles                       #  9 events for 7 counters "));
	assert_non_null(strstr(out.s, " ref-cycles                       #  the task never ran while counting\n"));
	assert_null(strstr(out.s, "<not counted>:"));
	rows[4].reason = rows[3].reason;
	str_reset(&out);
	stat_format_text.report(&out, &style, &report);
	assert_non_null(strstr(out.s, "\n\n <not counted>: 9 events for 7 counters\n"
				      " <not supported>: no counter unit on this machine\n\n"));
	report.kind = REPORT_INTERVAL;
	str_reset(&out);
	stat_format_text.report(&out, &style, &report);
	assert_non_null(strstr(out.s, " cycles                           #  no counter unit on this machine\n"));
	assert_null(strstr(out.s, "<not supported>:"));
	str_release(&out);
}

/* Behind the share, how sure the value is; the title and the lines below know of passes. */
static void test_scale_error_and_passes(void **state)
{
	static const struct {
		unsigned runs, n_passes;
		size_t n_elapsed;
		const char *title;
	} cases[] = {
		{ 1, 1, 1, " (1 pass)" },
		{ 1, 3, 3, " (3 passes)" },
		{ 5, 1, 5, " (5 runs, 1 pass each)" },
		{ 5, 2, 10, " (5 runs, 2 passes each)" },
	};
	struct stat_row rows[] = { scaled_row(plain_row("cycles", 1000), 57.92) };
	struct str want = STR_INIT;

	(void)state;
	rows[0].has_scale_error = true;
	rows[0].scale_error_pct = 0.31416;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stat_style style = as_perf;
		struct stat_times times = { .has_usage = false };
		struct stat_report report = REPORT(rows, &times);
		bool one = cases[i].runs * cases[i].n_passes == 1;

		style.runs = cases[i].runs;
		report.n_passes = cases[i].n_passes;
		report.least_running_pct = 57.92;
		for (size_t k = 0; k < cases[i].n_elapsed; k++)
			series_add(&times.elapsed, 0.5);
		str_reset(&want);
		str_addf(&want, "\n Performance counter stats for 'true'%s:\n\n"
			 "             1,000      cycles                         " BLANK35
			 "   (57.92%% +- 0.31%%)\n\n", cases[i].title);
		str_add(&want, one ? "       0.500000000 seconds time elapsed\n\n"
				   : "       0.500000000 +- 0.000000000 seconds time elapsed\n\n");
		str_add(&want, " counters were shared with other users: values are scaled, "
			       "the least ran 57.92% of the time\n\n");
		style.big_num = true;
		expect_report(&stat_format_text, &style, &report, want.s);
	}
	str_release(&want);
}

/* Why it is not known how sure a value is: where a user reads it. */
static void test_scale_error_is_unknown(void **state)
{
	struct stat_style style = as_perf;
	struct stat_row rows[] = { scaled_row(plain_row("cycles", 1000), 57.92) };
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	rows[0].scale_error_reason = "too few turns";
	report.least_running_pct = 100;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true':\n\n"
		"              1000      cycles                          " BLANK35 "  (57.92%)\n\n");
	style.explain = true;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true':\n\n"
		"              1000      cycles                          " BLANK35
		"  (57.92%, error unknown: too few turns)\n\n");
}

static void test_closing_lines(void **state)
{
	struct stat_metric ipc[] = { METRIC("insn per cycle", 2.7, 2) };
	struct stat_row rows[] = {
		with_metrics(scaled_row(plain_row("instructions", 7), 57.92), ipc, 1),
	};
	struct stat_times times = run_times(0.001357483, true);
	struct stat_report report = REPORT(rows, &times);

	(void)state;
	ipc[0].mixed = true;
	report.least_running_pct = 57.92;
	expect_report(&stat_format_text, &as_perf, &report,
		"\n Performance counter stats for 'true':\n\n"
		"                 7      instructions                     #    2.70  insn per cycle *"
		"         (57.92%)\n"
		"\n"
		"       0.001357483 seconds time elapsed\n"
		"\n"
		"       0.001480000 seconds user\n"
		"       0.000000000 seconds sys\n"
		"\n"
		" counters were shared: values are scaled, the least ran 57.92% of the time\n"
		" * its events were not counted at the same time; in one group they are:"
		" -e '{a,b}'\n"
		"\n\n");
	/* A number that isn't printed needs no note. */
	ipc[0].valid = false;
	report.times = NULL;
	report.least_running_pct = 100.0;
	rows[0].scaled = false;
	expect_report(&stat_format_text, &as_perf, &report,
		"\n Performance counter stats for 'true':\n\n"
		"                 7      instructions                    " BLANK35 "\n\n");
}

static void test_colours(void **state)
{
	struct stat_style style = as_perf;
	struct stat_metric bad[] = { METRIC("% of all branches", 21.4, 2) };
	struct stat_row rows[] = { with_metrics(plain_row("branch-misses", 7), bad, 1) };
	struct stat_report report = interval_report(REPORT(rows, NULL), 0, false);

	(void)state;
	bad[0].level = 2;
	style.colour = true;
	expect_report(&stat_format_text, &style, &report,
		"     0.000000000                  7      branch-misses                    "
		"# \033[31m  21.40%\033[m of all branches        \n");
	bad[0].level = 1;
	style.metric_only = true;
	expect_report(&stat_format_text, &style, &report,
		"     0.000000000                        \033[33m21.40%\033[m \n");
	style.colour = false;
	expect_report(&stat_format_text, &style, &report,
		"     0.000000000                        21.40% \n");
}

/* Nothing in a name moves the cursor; columns count characters, not bytes. */
static void test_hostile_names(void **state)
{
	struct stat_style style = as_perf;
	struct stat_row rows[] = {
		AT(plain_row(EVIL, 1), AGGR_THREAD, "a\033[2J-7", 1),
		AT(plain_row("caf\303\251", 1), AGGR_THREAD, "\303\251t\303\251-12345678", 1),
		AT(plain_row("x", 1), AGGR_THREAD, "no number", 1),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 0, false);

	(void)state;
	rows[0].cgroup = "\033]0;x\007";
	style.has_cgroups = true;
	style.aggr = AGGR_THREAD;
	expect_report(&stat_format_text, &style, &report,
		"     0.000000000         a\\x1b[2J-7                         1      "
		"a,b\"c\\d\\x0a\\x1b[31m\\xff          \\x1b]0;x\\x07" BLANK35 "\n"
		"     0.000000000              \303\251t\303\251-12345678                  1      "
		"caf\303\251                             " BLANK35 "\n"
		"     0.000000000        no number                           1      "
		"x                                " BLANK35 "\n");
}

static void test_wide_pmus(void **state)
{
	struct stat_row rows[] = { msec_row("power/energy-pkg/", 2000000), plain_row("cs", 1) };
	struct stat_report report = interval_report(REPORT(rows, NULL), 0, true);

	(void)state;
	rows[0].unit = "Joules";
	expect_report(&stat_format_text, &as_perf, &report,
		"#           time             counts   unit events\n"
		"     0.000000000               2.00 Joules power/energy-pkg/               " BLANK35
		"\n"
		"     0.000000000                  1        cs                              " BLANK35
		"\n");
}

static void test_metric_only(void **state)
{
	struct stat_style style = as_perf;
	struct stat_metric ghz[] = { METRIC("GHz", 2.0, 3) };
	struct stat_metric ipc[] = { METRIC("insn per cycle", 2.7, 2),
				     METRIC("stalled cycles per insn", 0.33, 2) };
	struct stat_metric share[] = { METRIC("% of all branches", 1.4, 2) };
	struct stat_metric cpus[] = { METRIC("CPUs utilized", 1.0, 3) };
	struct stat_row rows[] = {
		AT(with_metrics(msec_row("task-clock", 1), cpus, 1), AGGR_SOCKET, "S0", 1),
		AT(with_metrics(plain_row("cycles", 1), ghz, 1), AGGR_SOCKET, "S0", 2),
		AT(with_metrics(plain_row("instructions", 1), ipc, 2), AGGR_SOCKET, "S0", 2),
		AT(with_metrics(plain_row("branch-misses", 1), share, 1), AGGR_SOCKET, "S0", 2),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 20139092, true);

	(void)state;
	ipc[1].mixed = true;
	style.aggr = AGGR_SOCKET;
	style.metric_only = true;
	style.interval = true;
	expect_report(&stat_format_text, &style, &report,
		"#           time socket cpus                  GHz       insn per cycle "
		"stalled cycles per insn branch-misses of all branches \n"
		"     0.020139092 S0        2                2.000                 2.70 "
		"                   0.33*                        1.40% \n");
	report.kind = REPORT_FINAL;
	ipc[1].mixed = false;
	style.interval = false;
	expect_report(&stat_format_text, &style, &report,
		"\n Performance counter stats for 'true':\n\n"
		"                             GHz       insn per cycle "
		"stalled cycles per insn branch-misses of all branches \n"
		"S0        2                2.000                 2.70 "
		"                   0.33                         1.40% \n"
		"\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grouped_digits),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_common_reasons),
		cmocka_unit_test(test_scale_error_and_passes),
		cmocka_unit_test(test_scale_error_is_unknown),
		cmocka_unit_test(test_closing_lines),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_wide_pmus),
		cmocka_unit_test(test_metric_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
