/*
 * What stands above and below the rows of a text report: the title, the times (with -r their mean,
 * deviation and --table), and one line for each kind of mark that the rows have.
 */
#include "fmt_stat.h"

#include <math.h>

#define RESULT_COLS 17

void fmt_text_noise(struct str *out, double pct)
{
	struct str number = STR_INIT;

	if (pct == 0.0)
		return;
	fmt_fixed(&number, pct, 2);
	str_add(out, "  ( +-");
	fmt_right(out, number.s, 6);
	str_add(out, "% )");
	str_release(&number);
}

/* Its times are those of several runs. */
static bool is_repeated(const struct stat_style *style, const struct stat_report *report)
{
	return style->runs > 1 || report->n_passes > 1;
}

/* " (5 runs)", " (3 passes)", " (5 runs, 3 passes each)" */
static void add_runs(struct str *out, const struct stat_style *style, const struct stat_report *report)
{
	const struct stat_times *times = report->times;
	unsigned passes = report->n_passes;
	uint64_t runs = times && times->elapsed.n ? times->elapsed.n : style->runs;

	if (style->runs <= 1 && !passes)
		return;
	if (style->runs <= 1)
		str_addf(out, " (%u pass%s)", passes, passes == 1 ? "" : "es");
	else if (passes > 1)
		str_addf(out, " (%llu runs, %u passes each)", (unsigned long long)(runs / passes),
			 passes);
	else
		str_addf(out, " (%llu runs%s)", (unsigned long long)runs,
			 passes ? ", 1 pass each" : "");
}

void fmt_text_title(struct str *out, const struct stat_style *style,
		    const struct stat_report *report)
{
	str_add(out, "\n Performance counter stats for ");
	fmt_name(out, style->title);
	add_runs(out, style, report);
	str_add(out, ":\n\n");
}

static void add_seconds(struct str *out, double value, int decimals)
{
	struct str number = STR_INIT;

	fmt_fixed(&number, value, decimals);
	str_addc(out, ' ');
	fmt_right(out, number.s, RESULT_COLS);
	str_release(&number);
}

/* Two digits more than the deviation makes certain. */
static int result_decimals(double deviation)
{
	int decimals = 2;

	if (deviation <= 0.0)
		return 9;
	for (; deviation < 1.0 && decimals < 9; deviation *= 10)
		decimals++;
	return decimals;
}

/* Each run with its distance to the mean, and a bar: a mark, and one more per 5 % of the run. */
static void add_table(struct str *out, const struct stat_report *report, double mean, int decimals)
{
	struct str number = STR_INIT;
	size_t indent;

	add_seconds(&number, mean, decimals);
	indent = strspn(number.s, " ");
	str_release(&number);
	str_pad(out, ' ', indent);
	str_add(out, "# Table of individual measurements:\n");
	for (size_t i = 0; i < report->n_runs; i++) {
		double run = report->run_seconds[i], off = run - mean;
		double off_pct = run > 0.0 ? fabs(100.0 * off / run) : 0.0;

		add_seconds(out, run, decimals);
		str_add(out, signbit(off) ? " (" : " (+");
		fmt_fixed(out, off, decimals);
		str_add(out, ") ");
		str_pad(out, '#', 1 + (size_t)(off_pct < 1000.0 ? off_pct : 1000.0) / 5);
		str_addc(out, '\n');
	}
	str_addc(out, '\n');
	str_pad(out, ' ', indent);
	str_add(out, "# Final result:\n");
}

static void add_repeated_times(struct str *out, const struct stat_style *style,
			       const struct stat_report *report)
{
	const struct stat_times *times = report->times;
	double deviation = series_stdev_of_mean(&times->elapsed);
	int decimals = result_decimals(deviation);

	if (style->table && report->run_seconds)
		add_table(out, report, times->elapsed.mean, decimals);
	add_seconds(out, times->elapsed.mean, decimals);
	str_add(out, " +- ");
	fmt_fixed(out, deviation, decimals);
	str_add(out, " seconds time elapsed");
	fmt_text_noise(out, series_rel_stdev_pct(&times->elapsed));
	str_add(out, "\n\n");
}

static bool has_mixed_metric(const struct stat_row *row)
{
	for (size_t i = fmt_row_metric(row); i < row->n_metrics; i++)
		if (row->metrics[i].mixed && fmt_metric_ok(&row->metrics[i]))
			return true;
	return false;
}

/* What the marks in the rows mean. */
static void add_notes(struct str *out, const struct stat_report *report)
{
	size_t start = out->len;
	bool mixed = false;

	for (size_t i = 0; i < report->n_rows && !mixed; i++)
		mixed = has_mixed_metric(&report->rows[i]);
	if (report->least_running_pct < 100.0) {
		str_add(out, report->n_passes ? " counters were shared with others than this run: " :
						" counters were shared: ");
		str_add(out, "values are scaled, the least ran ");
		fmt_fixed(out, report->least_running_pct, 2);
		str_add(out, "% of the time\n");
	}
	if (mixed)
		str_add(out, " * its events were not counted at the same time");
	if (mixed && !report->n_passes)
		str_add(out, "; in one group they are: -e '{a,b}'");
	if (mixed)
		str_addc(out, '\n');
	if (out->len > start)
		str_addc(out, '\n');
}

void fmt_text_footer(struct str *out, const struct stat_style *style,
		     const struct stat_report *report)
{
	const struct stat_times *times = report->times;
	bool repeated = is_repeated(style, report), usage = times && times->has_usage && !repeated;

	if (!style->null_run)
		str_addc(out, '\n');
	if (times && repeated) {
		add_repeated_times(out, style, report);
	} else if (times) {
		add_seconds(out, times->elapsed.mean, 9);
		str_add(out, " seconds time elapsed\n\n");
	}
	if (usage) {
		add_seconds(out, times->user.mean, 9);
		str_add(out, " seconds user\n");
		add_seconds(out, times->sys.mean, 9);
		str_add(out, " seconds sys\n\n");
	}
	add_notes(out, report);
	if (usage)
		str_addc(out, '\n');
}
