/* SPDX-License-Identifier: MIT */
/* JSON: perf's keys in its order, valid whatever names hold, exact digits, pstat's own keys. */
#include "fmt_sample.h"

static const struct stat_style json = { .runs = 1, .started_on = "Sat Nov 21 07:44:17 2026" };

static void test_plain(void **state)
{
	struct stat_metric cpus[] = { METRIC("CPUs utilized", 0.017365, 3) };
	struct stat_row rows[] = {
		with_metrics(msec_row("task-clock", 897656), cpus, 1),
		plain_row("cs", 1),
		failed_row("cycles", COUNT_NOT_SUPPORTED, NULL),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	expect_report(&stat_format_json, &json, &report,
		"{\"counter-value\" : \"0.897656\", \"unit\" : \"msec\", \"event\" : \"task-clock\", "
		"\"event-runtime\" : 897656, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.017365, \"metric-unit\" : \"CPUs utilized\"}\n"
		"{\"counter-value\" : \"1.000000\", \"unit\" : \"\", \"event\" : \"cs\", "
		"\"event-runtime\" : 1000000, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n"
		"{\"counter-value\" : \"<not supported>\", \"unit\" : \"\", \"event\" : \"cycles\", "
		"\"event-runtime\" : 0, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n");
}

#define CS_TAIL \
	"\"counter-value\" : \"7.000000\", \"unit\" : \"\", \"event\" : \"cs\", " \
	"\"event-runtime\" : 1000000, \"pcnt-running\" : 100.00, " \
	"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n"

#define TIME(ns, name, variance, more) \
	"{\"counter-value\" : \"" ns ".000000\", \"unit\" : \"ns\", \"event\" : \"" name "\", " variance \
	"\"event-runtime\" : 250000000, \"pcnt-running\" : 100.00, \"metric-value\" : 0.000000, " \
	"\"metric-unit\" : \"\"" more "}\n"

static void test_places(void **state)
{
	struct stat_row rows[] = {
		AT(plain_row("cs", 7), AGGR_CPU, "CPU1", 1),
		AT(plain_row("cs", 7), AGGR_CORE, "S0-D0-C1", 2),
		AT(plain_row("cs", 7), AGGR_DIE, "S0-D0", 2),
		AT(plain_row("cs", 7), AGGR_SOCKET, "S0", 4),
		AT(plain_row("cs", 7), AGGR_NODE, "N1", 4),
		AT(plain_row("cs", 7), AGGR_THREAD, "perf-8220", 1),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	expect_report(&stat_format_json, &json, &report,
		"{\"cpu\" : \"1\", " CS_TAIL
		"{\"core\" : \"S0-D0-C1\", \"aggregate-number\" : 2, " CS_TAIL
		"{\"die\" : \"S0-D0\", \"aggregate-number\" : 2, " CS_TAIL
		"{\"socket\" : \"S0\", \"aggregate-number\" : 4, " CS_TAIL
		"{\"node\" : \"N1\", \"aggregate-number\" : 4, " CS_TAIL
		"{\"thread\" : \"perf-8220\", " CS_TAIL);
	report = interval_report(report, 12040124775, true);
	report.n_rows = 1;
	expect_report(&stat_format_json, &json, &report,
		"{\"interval\" : 12.040124775, \"cpu\" : \"1\", " CS_TAIL);
}

static void test_second_metric(void **state)
{
	struct stat_style style = json;
	struct stat_metric two[] = { METRIC("insn per cycle", 2.696354, 2),
				     METRIC("% of all branches", 0.333784, 2) };
	struct stat_row rows[] = {
		AT(with_metrics(scaled_row(plain_row("instructions", 5392708544), 57.92), two, 2),
		   AGGR_SOCKET, "S0", 2),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 20203554, false);

	(void)state;
	rows[0].cgroup = "/";
	rows[0].has_stdev = true;
	rows[0].stdev_pct = 12.909;
	two[0].mixed = true;
	style.has_cgroups = true;
	style.runs = 3;
	expect_report(&stat_format_json, &style, &report,
		"{\"interval\" : 0.020203554, \"socket\" : \"S0\", \"aggregate-number\" : 2, "
		"\"counter-value\" : \"5392708544.000000\", \"unit\" : \"\", "
		"\"event\" : \"instructions\", \"cgroup\" : \"/\", \"variance\" : 12.91, "
		"\"event-runtime\" : 1000000, \"pcnt-running\" : 57.92, "
		"\"metric-value\" : 2.696354, \"metric-unit\" : \"insn per cycle\", "
		"\"scaled\" : true, \"mixed\" : true}\n"
		"{\"interval\" : 0.020203554, \"socket\" : \"S0\", \"aggregate-number\" : 2, "
		"\"event\" : \"instructions\", \"metric-value\" : 0.333784, \"metric-unit\" : \"of all branches\"}\n");
}

static void test_scale_error_and_pass(void **state)
{
	struct stat_row rows[] = { scaled_row(plain_row("cycles", 1000), 57.92) };
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	rows[0].has_scale_error = true;
	rows[0].scale_error_pct = 0.31416;
	rows[0].pass = 2;
	expect_report(&stat_format_json, &json, &report,
		"{\"counter-value\" : \"1000.000000\", \"unit\" : \"\", \"event\" : \"cycles\", "
		"\"event-runtime\" : 1000000, \"pcnt-running\" : 57.92, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\", "
		"\"pass\" : 2, \"scaled\" : true, \"scale-error-pct\" : 0.3142}\n");
	rows[0].has_scale_error = false;
	rows[0].scale_error_reason = "too few turns";
	expect_report(&stat_format_json, &json, &report,
		"{\"counter-value\" : \"1000.000000\", \"unit\" : \"\", \"event\" : \"cycles\", "
		"\"event-runtime\" : 1000000, \"pcnt-running\" : 57.92, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\", "
		"\"pass\" : 2, \"scaled\" : true, \"scale-error-reason\" : \"too few turns\"}\n");
}

static void test_reasons(void **state)
{
	struct stat_row rows[] = {
		failed_row("cycles", COUNT_NOT_COUNTED, "9 events for 7 counters"),
		plain_row("cs", 7),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	rows[0] = scaled_row(rows[0], 0.0);
	rows[1].partial = true;
	rows[1].reason = "CPU3 \"is\" offline";
	expect_report(&stat_format_json, &json, &report,
		"{\"counter-value\" : \"<not counted>\", \"unit\" : \"\", \"event\" : \"cycles\", "
		"\"event-runtime\" : 0, \"pcnt-running\" : 0.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\", "
		"\"reason\" : \"9 events for 7 counters\", \"scaled\" : true}\n"
		"{\"counter-value\" : \"7.000000\", \"unit\" : \"\", \"event\" : \"cs\", "
		"\"event-runtime\" : 1000000, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\", "
		"\"reason\" : \"CPU3 \\\"is\\\" offline\", \"partial\" : true}\n");
}

static void test_hostile_names(void **state)
{
	struct stat_style style = json;
	struct stat_row rows[] = { AT(plain_row(EVIL, 1), AGGR_THREAD, "a\"\\-1", 1) };
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	rows[0].cgroup = "\001\"\\";
	style.has_cgroups = true;
	expect_report(&stat_format_json, &style, &report,
		"{\"thread\" : \"a\\\"\\\\-1\", \"counter-value\" : \"1.000000\", \"unit\" : \"\", "
		"\"event\" : \"a,b\\\"c\\\\d\\n\\u001b[31m\\ufffd\", "
		"\"cgroup\" : \"\\u0001\\\"\\\\\", "
		"\"event-runtime\" : 1000000, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n");
}

/* Counts that no double holds; numbers that JSON cannot hold. */
static void test_numbers(void **state)
{
	struct stat_metric inf[] = { METRIC("GHz", 1.0 / 0.0, 3) };
	struct stat_row rows[] = {
		plain_row("big", UINT64_MAX),
		plain_row("mean", 0),
		with_metrics(plain_row("inf", 2), inf, 1),
	};
	struct stat_report report = REPORT(rows, NULL);

	(void)state;
	rows[1].value = 1.0 / 3.0; /* the mean of three runs, 1 in all */
	rows[2].running_pct = 0.0 / 0.0;
	expect_report(&stat_format_json, &json, &report,
		"{\"counter-value\" : \"18446744073709551615.000000\", \"unit\" : \"\", "
		"\"event\" : \"big\", \"event-runtime\" : 1000000, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n"
		"{\"counter-value\" : \"0.333333\", \"unit\" : \"\", "
		"\"event\" : \"mean\", \"event-runtime\" : 1000000, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n"
		"{\"counter-value\" : \"2.000000\", \"unit\" : \"\", "
		"\"event\" : \"inf\", \"event-runtime\" : 1000000, \"pcnt-running\" : null, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n");
}

/* perf 6.1 prints what is no JSON here; keys and strings are those of its later versions. */
static void test_metric_only(void **state)
{
	struct stat_style style = json;
	struct stat_metric ghz[] = { METRIC("GHz", 2.0, 3) };
	struct stat_metric same[] = { METRIC("GHz", 1.5, 3) };
	struct stat_metric ipc[] = { METRIC("insn per cycle", 2.7, 2) };
	struct stat_row rows[] = {
		AT(with_metrics(plain_row("cycles", 1), ghz, 1), AGGR_CPU, "CPU0", 1),
		AT(with_metrics(plain_row("instructions", 1), ipc, 1), AGGR_CPU, "CPU0", 1),
		AT(with_metrics(plain_row("ref-cycles", 1), same, 1), AGGR_CPU, "CPU0", 1),
		AT(with_metrics(plain_row("cycles", 1), ghz, 1), AGGR_CPU, "CPU1", 1),
		AT(plain_row("instructions", 1), AGGR_CPU, "CPU1", 1),
		AT(with_metrics(plain_row("ref-cycles", 1), same, 1), AGGR_CPU, "CPU2", 1),
		AT(with_metrics(plain_row("cycles", 1), ghz, 1), AGGR_CPU, "CPU2", 1),
	};
	struct stat_report report = interval_report(REPORT(rows, NULL), 20110107, true);

	(void)state;
	ipc[0].mixed = true;
	style.metric_only = true;
	expect_report(&stat_format_json, &style, &report,
		"{\"interval\" : 0.020110107, \"cpu\" : \"0\", \"GHz\" : \"2.000\", "
		"\"insn per cycle\" : \"2.70\", \"ref-cycles GHz\" : \"1.500\", \"mixed\" : true}\n"
		"{\"interval\" : 0.020110107, \"cpu\" : \"1\", \"GHz\" : \"2.000\", "
		"\"insn per cycle\" : null, \"ref-cycles GHz\" : null}\n"
		"{\"interval\" : 0.020110107, \"cpu\" : \"2\", \"GHz\" : \"2.000\", "
		"\"insn per cycle\" : null, \"ref-cycles GHz\" : \"1.500\"}\n");
}

/* Rows as others; the mean of several runs, in all of which one was counted by name. */
static void test_times(void **state)
{
	struct stat_times times = { .has_usage = true };
	struct stat_row rows[] = { plain_row("user_time", 7) };
	struct stat_report report = REPORT(rows, &times);
	struct stat_style style = json;

	(void)state;
	series_add(&times.elapsed, 0.25);
	series_add(&times.user, 0.125);
	series_add(&times.sys, 0.0);
	report.n_rows = 0;
	expect_report(&stat_format_json, &json, &report, TIME("250000000", "duration_time", "", "")
		      TIME("125000000", "user_time", "", "") TIME("0", "system_time", "", ""));
	report.kind = REPORT_INTERVAL;
	expect_report(&stat_format_json, &json, &report, "");
	report.kind = REPORT_SUMMARY;
	report.n_rows = 1;
	expect_report(&stat_format_json, &json, &report,
		"{\"counter-value\" : \"7.000000\", \"unit\" : \"\", \"event\" : \"user_time\", "
		"\"event-runtime\" : 1000000, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n"
		TIME("250000000", "duration_time", "", "") TIME("0", "system_time", "", ""));
	report.n_rows = 0;
	report.passes_differ = true;
	times.has_usage = false;
	style.runs = 2;
	series_add(&times.elapsed, 0.25);
	expect_report(&stat_format_json, &style, &report, TIME("250000000", "duration_time", "\"variance\" : 0.00, ",
		      ", \"runs\" : 2, \"passes-differ\" : true"));
}

static void test_begin(void **state)
{
	struct str out = STR_INIT;

	(void)state;
	stat_format_json.begin(&out, &json);
	assert_string_equal(out.s, "");
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_second_metric),
		cmocka_unit_test(test_scale_error_and_pass),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_metric_only),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
