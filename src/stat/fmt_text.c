/* SPDX-License-Identifier: MIT */
/*
 * Text for people, in perf's columns, which many scripts cut by place:
 *
 *   [time ][key [CPUs] ]             value unit name                  # metric  ( +- x% )  (x%)
 *                                   18 right   4    32             35 wide
 *
 * A row without a number leaves the metric's place for the reason; one that all rows of its kind have is said once,
 * below them. Marks: "*" after a metric whose events were
 * not counted together, "(at least)" where a value is a lower bound, "(x%)" where it is scaled, "(x% +- y%)" where it
 * is known how sure it is, "(pass n)" where there are several. Above the rows stands the title, below them the times
 * (with -r their mean, deviation and --table), and one line for each kind of mark that the rows have.
 */
#include "stat/formats.h"

#include <math.h>

#define VALUE_COLS 18
#define UNIT_COLS 4 /* at least */
#define NAME_COLS 32 /* before a metric or a reason */
#define NAME_COLS_BARE 25 /* of a row without a number, as perf has it */
#define METRIC_COLS 35
#define THREAD_COMM_COLS 16
#define FOLDED_COLS 4
#define TIME_COLS 16 /* "     1.000000000" */
#define GRID_COLS 20
#define RESULT_COLS 17

struct text_page {
	struct str *out;
	const struct stat_style *style;
	const struct stat_report *report;
	size_t unit_cols;
	const char *common_reasons[COUNT_NOT_SUPPORTED + 1]; /* said below the rows; NULL: each row has its own */
};

/* ---- pieces of a line ---- */

/* "1234567.89" -> "1,234,567.89", right-aligned. */
static void add_number(struct text_page *page, const char *number)
{
	size_t digits = strspn(number, "-0123456789"), sign = number[0] == '-';
	struct str text = STR_INIT;

	for (size_t i = 0; number[i]; i++) {
		if (page->style->big_num && i > sign && i < digits && (digits - i) % 3 == 0)
			str_addc(&text, ',');
		str_addc(&text, number[i]);
	}
	fmt_right(page->out, text.s, VALUE_COLS);
	str_release(&text);
}

/* comm-tid: the command's name ends, and the number begins, at the same column on all rows. */
static void add_thread(struct str *out, const char *key)
{
	const char *dash = strrchr(key, '-');
	struct str comm = STR_INIT;

	fmt_name(&comm, key);
	if (dash) {
		str_reset(&comm);
		str_add_printable(&comm, key, (size_t)(dash - key));
	}
	fmt_right(out, comm.s, THREAD_COMM_COLS);
	fmt_name(out, dash);
	str_release(&comm);
}

static void add_key(struct str *out, const struct stat_row *row, unsigned n_folded)
{
	const struct key_look *look = fmt_key(row->aggr);
	const char *key = row->key ? row->key : "";
	size_t start = out->len;

	if (!look->json_key)
		return;
	if (row->aggr == AGGR_THREAD)
		add_thread(out, key);
	else
		fmt_name(out, key);
	if (look->folded) {
		fmt_pad_from(out, start, look->cols - FOLDED_COLS - 1);
		str_addf(out, "%*u", FOLDED_COLS, n_folded);
	}
	fmt_pad_from(out, start, look->cols - 1);
	str_addc(out, ' ');
}

static void add_where(struct text_page *page, const struct stat_row *row, unsigned n_folded)
{
	if (page->report->kind == REPORT_INTERVAL) {
		fmt_time(page->out, page->report->time_ns, 6);
		str_addc(page->out, ' ');
	}
	add_key(page->out, row, n_folded);
}

static void add_value(struct text_page *page, const struct stat_row *row)
{
	struct str value = STR_INIT;
	size_t start;

	fmt_value(&value, row);
	if (row->state == COUNT_OK)
		add_number(page, value.s);
	else
		fmt_right(page->out, value.s, VALUE_COLS);
	str_addc(page->out, ' ');
	start = page->out->len;
	fmt_name(page->out, row->unit);
	fmt_pad_from(page->out, start, page->unit_cols);
	str_addc(page->out, ' ');
	str_release(&value);
}

static void add_name(struct text_page *page, const struct stat_row *row, size_t cols)
{
	size_t start = page->out->len;

	fmt_name(page->out, row->name);
	fmt_pad_from(page->out, start, cols);
	if (page->style->has_cgroups) {
		str_addc(page->out, ' ');
		fmt_name(page->out, row->cgroup);
	}
}

/* text in the colour of its level; colour takes no columns. */
static void add_coloured(struct text_page *page, const char *text, int level)
{
	static const char *const colours[] = { "", "\033[33m", "\033[31m" };

	if (!page->style->colour || level < 1 || level >= (int)ARRAY_SIZE(colours)) {
		str_add(page->out, text);
		return;
	}
	str_addf(page->out, "%s%s\033[m", colours[level], text);
}

static void add_metric(struct text_page *page, const struct stat_metric *m)
{
	struct str number = STR_INIT, padded = STR_INIT;
	bool pct;
	const char *unit = fmt_metric_unit(m, &pct);
	size_t start, number_cols;

	fmt_fixed(&number, m->value, m->decimals);
	if (pct)
		str_addc(&number, '%');
	else if (m->decimals == 2) /* so that these stand under percentages */
		str_addc(&number, ' ');
	fmt_right(&padded, number.s, 8);
	number_cols = padded.len;
	str_add(page->out, " # ");
	add_coloured(page, padded.s, m->level);
	start = page->out->len;
	str_addc(page->out, ' ');
	fmt_name(page->out, unit);
	if (m->mixed)
		str_add(page->out, " *");
	if (number_cols + 3 < METRIC_COLS)
		fmt_pad_from(page->out, start, METRIC_COLS - 3 - number_cols);
	str_release(&number);
	str_release(&padded);
}

static void add_reason(struct text_page *page, const char *reason)
{
	size_t start = page->out->len;

	str_add(page->out, " #  ");
	fmt_name(page->out, reason);
	fmt_pad_from(page->out, start, METRIC_COLS);
}

/* "  ( +-  1.23% )"; nothing where the deviation is 0. */
static void add_noise(struct str *out, double pct)
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

/* Marks of the value itself, at the end of its last line. */
static void add_marks(struct text_page *page, const struct stat_row *row)
{
	struct str *out = page->out;
	bool never_ran = row->state == COUNT_NOT_COUNTED && row->running_pct < 100.0;

	if (row->state == COUNT_OK && row->has_stdev)
		add_noise(out, row->stdev_pct);
	if (row->scaled || never_ran) {
		str_add(out, "  (");
		fmt_fixed(out, row->running_pct, 2);
		str_addc(out, '%');
		if (row->has_scale_error) {
			str_add(out, " +- ");
			fmt_fixed(out, row->scale_error_pct, 2);
			str_addc(out, '%');
		} else if (page->style->explain && row->scale_error_reason) {
			str_addf(out, ", error unknown: %s", row->scale_error_reason);
		}
		str_addc(out, ')');
	}
	if (row->state == COUNT_OK && row->partial) {
		str_add(out, "  (at least");
		if (page->style->explain && row->reason) {
			str_add(out, ": ");
			fmt_name(out, row->reason);
		}
		str_addc(out, ')');
	}
	if (row->unverified) {
		str_add(out, "  (not verified");
		if (page->style->explain) {
			str_add(out, ": ");
			fmt_name(out, row->reason);
		}
		str_addc(out, ')');
	}
	if (row->pass && page->report->n_passes > 1)
		str_addf(out, "  (pass %u)", row->pass);
}

/* ---- rows ---- */

/* A further metric: on a line of its own, under the first. */
static void add_metric_line(struct text_page *page, const struct stat_row *row,
			    const struct stat_metric *m)
{
	struct str name = STR_INIT;
	struct text_page blank = *page;

	blank.out = &name;
	add_name(&blank, row, NAME_COLS);
	str_addc(page->out, '\n');
	add_where(page, row, row->n_folded);
	str_pad(page->out, ' ',
		VALUE_COLS + 1 + page->unit_cols + 1 + fmt_cols(name.s, name.len));
	add_metric(page, m);
	str_release(&name);
}

static void add_row(struct text_page *page, const struct stat_row *row)
{
	bool explained = page->style->explain && row->reason && row->state != COUNT_OK &&
			 !page->common_reasons[row->state];
	bool bare = row->state != COUNT_OK && !explained;
	size_t first = fmt_row_metric(row);

	add_where(page, row, row->n_folded);
	add_value(page, row);
	add_name(page, row, bare ? NAME_COLS_BARE : NAME_COLS);
	if (explained)
		add_reason(page, row->reason);
	else if (first < row->n_metrics)
		add_metric(page, &row->metrics[first]);
	else
		str_pad(page->out, ' ', METRIC_COLS);
	for (size_t i = first + 1; i < row->n_metrics; i++)
		if (fmt_metric_ok(&row->metrics[i]))
			add_metric_line(page, row, &row->metrics[i]);
	add_marks(page, row);
	str_addc(page->out, '\n');
}

/* ---- --metric-only ---- */

static size_t grid_cols(const struct grid_column *column)
{
	size_t cols = fmt_cols(column->title, strlen(column->title));

	return cols > GRID_COLS ? cols : GRID_COLS;
}

static void add_grid_header(struct text_page *page, const struct grid *g)
{
	const struct key_look *look = fmt_key(page->style->aggr);
	size_t start = page->out->len, cols = look->cols;

	if (page->report->kind == REPORT_INTERVAL) {
		str_addf(page->out, "#%*s %s", TIME_COLS - 1, "time", look->text_title);
		cols += TIME_COLS + 1;
	}
	fmt_pad_from(page->out, start, cols);
	for (size_t c = 0; c < g->n_columns; c++) {
		fmt_right(page->out, g->columns[c].title, grid_cols(&g->columns[c]));
		str_addc(page->out, ' ');
	}
	if (page->style->has_cgroups)
		str_add(page->out, "cgroup");
	str_addc(page->out, '\n');
}

static void add_grid_cell(struct text_page *page, const struct grid_column *column,
			  const struct stat_metric *m)
{
	struct str number = STR_INIT;
	bool pct = false;

	if (m) {
		grid_add_number(&number, m);
		fmt_metric_unit(m, &pct);
	}
	if (pct)
		str_addc(&number, '%');
	if (number.len < grid_cols(column))
		str_pad(page->out, ' ', grid_cols(column) - number.len);
	add_coloured(page, number.s, m ? m->level : 0);
	str_addc(page->out, m && m->mixed ? '*' : ' ');
	str_release(&number);
}

static void add_grid(struct text_page *page)
{
	struct grid g;

	grid_init(&g, page->report);
	if (page->report->kind != REPORT_INTERVAL || fmt_header_due(page->style, page->report))
		add_grid_header(page, &g);
	for (size_t i = 0; i < g.n_lines; i++) {
		const struct grid_line *line = &g.lines[i];

		add_where(page, line->row, line->n_folded);
		for (size_t c = 0; c < g.n_columns; c++)
			add_grid_cell(page, &g.columns[c], grid_cell(line, c));
		if (page->style->has_cgroups)
			fmt_name(page->out, line->row->cgroup);
		str_addc(page->out, '\n');
	}
	grid_release(&g);
}

/* ---- above and below the rows ---- */

/* Are the report's times those of several runs? */
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

static void add_title(struct str *out, const struct stat_style *style,
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
	add_noise(out, series_rel_stdev_pct(&times->elapsed));
	str_add(out, "\n\n");
}

static bool has_mixed_metric(const struct stat_row *row)
{
	for (size_t i = fmt_row_metric(row); i < row->n_metrics; i++)
		if (row->metrics[i].mixed && fmt_metric_ok(&row->metrics[i]))
			return true;
	return false;
}

/* The reason of all rows of that state, where there are several; else NULL. */
static const char *common_reason(const struct stat_report *report, enum count_state state)
{
	const char *reason = NULL;
	size_t n = 0;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct stat_row *row = &report->rows[i];

		if (row->state != state)
			continue;
		if (!row->reason || (reason && strcmp(reason, row->reason)))
			return NULL;
		reason = row->reason;
		n++;
	}
	return n > 1 ? reason : NULL;
}

static void add_common_reasons(struct text_page *page)
{
	for (size_t state = 0; state < ARRAY_SIZE(page->common_reasons); state++) {
		const struct stat_row row = { .state = state };

		if (!page->common_reasons[state])
			continue;
		str_addc(page->out, ' ');
		fmt_value(page->out, &row);
		str_add(page->out, ": ");
		fmt_name(page->out, page->common_reasons[state]);
		str_addc(page->out, '\n');
	}
}

/* One line for each kind of mark that the rows have. */
static void add_notes(struct text_page *page)
{
	const struct stat_report *report = page->report;
	struct str *out = page->out;
	size_t start = out->len;
	bool mixed = false;

	add_common_reasons(page);
	for (size_t i = 0; i < report->n_rows && !mixed; i++)
		mixed = has_mixed_metric(&report->rows[i]);
	if (report->least_running_pct < 100.0) {
		str_add(out, report->n_passes ? " counters were shared with other users: " :
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

static void add_footer(struct text_page *page)
{
	const struct stat_style *style = page->style;
	const struct stat_report *report = page->report;
	const struct stat_times *times = report->times;
	struct str *out = page->out;
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
	add_notes(page);
	if (usage)
		str_addc(out, '\n');
}

/* ---- whole reports ---- */

static void add_interval_header(struct text_page *page)
{
	const struct key_look *look = fmt_key(page->style->aggr);
	size_t start = page->out->len;

	str_addf(page->out, "#%*s %s", TIME_COLS - 1, "time", look->text_title);
	fmt_pad_from(page->out, start, TIME_COLS + 1 + look->cols);
	str_addf(page->out, "%*s %*s events\n", VALUE_COLS, "counts", (int)page->unit_cols, "unit");
}

static void text_begin(struct str *out, const struct stat_style *style)
{
	if (style->started_on)
		str_addf(out, "# started on %s\n\n", style->started_on);
}

static void text_report(struct str *out, const struct stat_style *style,
			const struct stat_report *report)
{
	struct text_page page = {
		.out = out, .style = style, .report = report, .unit_cols = UNIT_COLS
	};
	bool grid = style->metric_only && !style->null_run;

	for (size_t i = 0; i < report->n_rows; i++) {
		const char *unit = report->rows[i].unit ? report->rows[i].unit : "";

		if (strlen(unit) > page.unit_cols)
			page.unit_cols = strlen(unit);
	}
	for (size_t i = COUNT_NOT_COUNTED; style->explain && i < ARRAY_SIZE(page.common_reasons); i++)
		if (report->kind != REPORT_INTERVAL)
			page.common_reasons[i] = common_reason(report, i);
	if (report->kind != REPORT_INTERVAL)
		add_title(out, style, report);
	else if (!grid && fmt_header_due(style, report))
		add_interval_header(&page);
	if (grid)
		add_grid(&page);
	else
		for (size_t i = 0; i < report->n_rows; i++)
			add_row(&page, &report->rows[i]);
	if (report->kind != REPORT_INTERVAL)
		add_footer(&page);
}

const struct stat_format stat_format_text = {
	.for_people = true,
	.dated = true,
	.begin = text_begin,
	.report = text_report,
};
