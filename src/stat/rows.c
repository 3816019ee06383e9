/*
 * Tallies -> struct stat_report: what is printed, complete and in order. Formats add nothing to it.
 *
 * First every slot becomes an amount (of the interval, since the start, or the mean of the runs);
 * then the rows are made from the amounts, with their metrics and, where something is missing, the
 * reason. The room for rows was laid out with the slots.
 */
#include "stat/book.h"
#include "stat/passes.h"

#include <math.h>
#include <stdlib.h>

/* ---- amounts ---- */

static void set_state(struct amount *amount, const struct slot *slot)
{
	if (amount->running_ns)
		amount->state = COUNT_OK;
	else if (slot->is_open || amount->cells || !slot->n_unsupported)
		amount->state = COUNT_NOT_COUNTED;
	else
		amount->state = COUNT_NOT_SUPPORTED;
}

/* Of a sum of `runs` values; negative: not known. */
static double error_of(const struct doubt *doubt, uint64_t runs)
{
	if (!doubt->cells_scaled || doubt->cells_estimated < doubt->cells_scaled)
		return -1;
	return estimate_error(&doubt->sum) / (double)runs;
}

static struct amount amount_of_tally(const struct tally *t, const struct doubt *doubt)
{
	return (struct amount){
		.there = t->cells > 0,
		.count = t->value,
		.mean = (double)t->value,
		.scale_error = error_of(doubt, 1),
		.enabled_ns = t->enabled_ns,
		.running_ns = t->running_ns,
		.cells = t->cells,
		.cells_never_ran = t->cells_never_ran,
		.cells_failed = t->cells_failed,
		.cells_lost_pin = t->cells_lost_pin,
		.cells_stopped = t->cells_stopped,
	};
}

static struct amount amount_of_repeat(const struct repeat *r)
{
	struct amount amount = {
		.there = r->runs > 0,
		.scale_error = -1,
		.cells = r->cells,
		.cells_never_ran = r->cells_never_ran,
		.cells_failed = r->cells_failed,
		.cells_lost_pin = r->cells_lost_pin,
		.cells_stopped = r->cells_stopped,
	};

	if (r->runs) {
		amount.enabled_ns = r->enabled_ns / r->runs;
		amount.running_ns = r->running_ns / r->runs;
	}
	if (r->value.n) {
		amount.count = (uint64_t)((r->value_sum + r->value.n / 2) / r->value.n);
		amount.mean = r->value.mean;
		amount.stdev_pct = series_rel_stdev_pct(&r->value);
		amount.scale_error = error_of(&r->doubt, r->value.n);
	}
	return amount;
}

static void set_amounts(struct tally_book *book, enum stat_report_kind kind)
{
	bool means = kind != REPORT_INTERVAL && book->repeats && book->n_runs;

	for (size_t i = 0; i < book_n_slots(book); i++) {
		const struct slot *slot = &book->slots[i];
		struct amount *amount = &book->amounts[i];
		const struct line *line = &book->lines[i % book->n_lines];

		if (means)
			*amount = amount_of_repeat(&book->repeats[i]);
		else if (kind == REPORT_INTERVAL)
			*amount = amount_of_tally(&slot->delta, &slot->delta_doubt);
		else
			*amount = amount_of_tally(&slot->total, &slot->total_doubt);
		amount->there = amount->there || slot->is_open || slot->n_unsupported;
		amount->value = amount->mean * book->plan->events->v[line->first].scale;
		set_state(amount, slot);
	}
}

/* ---- reasons ---- */

static char *keep_text(struct row_list *rows, char *text)
{
	VEC_GROW(rows->texts, rows->n_texts, rows->texts_cap);
	return rows->texts[rows->n_texts++] = text;
}

static const char *unsupported_reason(const struct tally_book *book, size_t line)
{
	for (size_t i = 0; i < book->set->n; i++)
		if (book->line_of[i] == line && book->set->v[i].state == COUNTER_NOT_SUPPORTED &&
		    book->set->v[i].reason)
			return book->set->v[i].reason;
	return NULL;
}

/*
 * Asks the machine, once per line and kind of idleness (never enabled, or enabled and never run):
 * it may have to open counters to find out.
 */
static const char *ask_idle_reason(struct tally_book *book, size_t line,
				   const struct amount *amount)
{
	struct line *l = &book->lines[line];
	bool enabled = amount->enabled_ns;
	struct reading sum = {
		.enabled_ns = amount->enabled_ns,
		.state = amount->cells_lost_pin ? READING_LOST_PIN : READING_OK,
	};

	if (!l->idle_asked[enabled]) {
		l->idle_asked[enabled] = true;
		for (size_t i = 0; i < book->set->n && !l->idle_reason[enabled]; i++)
			if (book->line_of[i] == line && book->set->v[i].state == COUNTER_OPEN)
				l->idle_reason[enabled] = counter_idle_reason(book->set, i, &sum);
	}
	return l->idle_reason[enabled];
}

static const char *idle_reason(struct tally_book *book, size_t line, const struct amount *amount)
{
	const char *asked;

	if (book->set->v[book->lines[line].first].state == COUNTER_LEFT_OUT)
		return "its pass was not run";
	if (book->plan->events->v[book->lines[line].first].kind != EVENT_KERNEL)
		return "known once a command has ended";
	if (!amount->cells)
		return "the target was gone before it was opened";
	if (amount->cells_failed && book->lines[line].read_err)
		return strerror(book->lines[line].read_err);
	if (amount->cells_stopped)
		return "the CPU went offline";
	asked = book->plan->kern ? ask_idle_reason(book, line, amount) : NULL;
	if (asked)
		return asked;
	return amount->enabled_ns ? "it never got a counter" :
				    counter_never_enabled(&book->set->v[book->lines[line].first]);
}

/* "1 of 4 counters never ran, 1 could not be opened" */
static const char *partial_reason(struct row_list *rows, const struct amount *amount,
				  unsigned n_unsupported)
{
	const struct {
		unsigned n;
		const char *what;
	} parts[] = {
		{ amount->cells_never_ran, "never ran" },
		{ amount->cells_lost_pin, "lost the pin" },
		{ amount->cells_stopped, "stopped when the CPU went offline" },
		{ amount->cells_failed, "could not be read" },
		{ n_unsupported, "could not be opened" },
	};
	struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i].n)
			continue;
		if (text.len)
			str_addf(&text, ", %u %s", parts[i].n, parts[i].what);
		else
			str_addf(&text, "%u of %u counters %s", parts[i].n,
				 amount->cells + n_unsupported, parts[i].what);
	}
	return text.len ? keep_text(rows, str_detach(&text)) : NULL;
}

/* ---- rows ---- */

/* A scale without a fraction keeps the count exact, unless it is too big for that. */
static void set_value(struct stat_row *row, const struct amount *amount, double scale)
{
	uint64_t product;

	row->value = amount->value;
	row->count = amount->count;
	row->integral = scale == 1;
	if (scale > 1 && scale < (double)UINT32_MAX && (double)(uint64_t)scale == scale &&
	    !__builtin_mul_overflow(amount->count, (uint64_t)scale, &product)) {
		row->count = product;
		row->integral = true;
	}
}

static double running_pct(const struct amount *amount)
{
	if (amount->running_ns == amount->enabled_ns)
		return 100;
	return amount->enabled_ns ? 100.0 * (double)amount->running_ns / (double)amount->enabled_ns
				  : 0;
}

static void set_state_and_reason(struct tally_book *book, struct stat_row *row, size_t line,
				 const struct amount *amount, const struct slot *slot)
{
	row->state = amount->state;
	if (amount->state == COUNT_NOT_SUPPORTED) {
		row->reason = unsupported_reason(book, line);
	} else if (amount->state == COUNT_NOT_COUNTED) {
		row->reason = idle_reason(book, line, amount);
	} else {
		row->scaled = amount->running_ns < amount->enabled_ns;
		row->reason = partial_reason(&book->rows, amount, slot->n_unsupported);
		row->partial = row->reason;
		row->has_scale_error = row->scaled && !row->partial &&
				       amount->scale_error >= 0 && amount->mean > 0;
		if (row->has_scale_error)
			row->scale_error_pct = 100 * amount->scale_error / amount->mean;
	}
}

/* A metric's own: where it is of one pass, that pass's. */
static double elapsed_of(const struct tally_book *book, const struct metric_use *use,
			 double elapsed_s)
{
	for (size_t i = 0; i < use->n_inputs && book->pass_elapsed; i++) {
		size_t line = use->inputs[i].line;

		if (line != SIZE_MAX)
			return book->pass_elapsed[book->metric_lines[line].pass].mean;
	}
	return elapsed_s;
}

static void add_metrics(struct tally_book *book, struct stat_row *row, size_t place, size_t line,
			double elapsed_s)
{
	row->metrics = book->rows.metrics + book->rows.n_metrics;
	for (size_t u = book->uses_base[line]; u < book->uses_base[line + 1]; u++)
		metric_eval(&book->uses.v[u], book->metric_lines,
			    &book->amounts[place * book->n_lines],
			    elapsed_of(book, &book->uses.v[u], elapsed_s),
			    &row->metrics[row->n_metrics++]);
	book->rows.n_metrics += row->n_metrics;
}

/* With all threads of the system, those that counted nothing are left out: there are hundreds. */
static bool is_shown(const struct tally_book *book, const struct place *place,
		     const struct amount *amount)
{
	if (!amount->there)
		return false;
	return book->plan->aggr != AGGR_THREAD || book->target_kind != TARGET_CPUS || place->rest ||
	       (amount->state == COUNT_OK && amount->mean > 0);
}

static void add_row(struct tally_book *book, size_t place, size_t line, double elapsed_s)
{
	size_t at = place * book->n_lines + line;
	const struct amount *amount = &book->amounts[at];
	const struct slot *slot = &book->slots[at];
	const struct event *event = &book->plan->events->v[book->lines[line].first];
	struct stat_row *row;

	if (book->lines[line].again || !is_shown(book, &book->places[place], amount))
		return;
	row = &book->rows.v[book->rows.n++];
	*row = (struct stat_row){
		.aggr = book->places[place].aggr,
		.place = book->places[place].name,
		.n_folded = slot->n_folded,
		.name = book->lines[line].name,
		.cgroup = event->cgroup,
		.unit = event->unit,
		.running_ns = amount->running_ns,
		.running_pct = running_pct(amount),
		.stdev_pct = amount->stdev_pct,
		.pass = book->pass_elapsed ? book->metric_lines[line].pass + 1 : 0,
	};
	set_value(row, amount, event->scale);
	set_state_and_reason(book, row, line, amount, slot);
	row->has_stdev = book->plan->repeat > 1 && book->report.kind != REPORT_INTERVAL &&
			 row->state == COUNT_OK;
	if (row->scaled && row->running_pct < book->report.least_running_pct)
		book->report.least_running_pct = row->running_pct;
	add_metrics(book, row, place, line, elapsed_s);
}

/* ---- order ---- */

struct by_value {
	const struct tally_book *book;
	size_t line;
};

static int compare_by_value(const void *a, const void *b, void *data)
{
	const struct by_value *by = data;
	const struct tally_book *book = by->book;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double vx = book->amounts[x * book->n_lines + by->line].value;
	double vy = book->amounts[y * book->n_lines + by->line].value;

	if (book->places[x].rest != book->places[y].rest)
		return book->places[x].rest ? 1 : -1;
	if (vx != vy)
		return vx > vy ? -1 : 1;
	return (x > y) - (x < y);
}

static void add_line(struct tally_book *book, size_t line, double elapsed_s)
{
	size_t *order = book->rows.order;

	memcpy(order, book->place_order, book->n_places * sizeof(*order));
	if (book->plan->aggr == AGGR_THREAD)
		qsort_r(order, book->n_places, sizeof(*order), compare_by_value,
			&(struct by_value){ book, line });
	for (size_t i = 0; i < book->n_places; i++)
		add_row(book, order[i], line, elapsed_s);
}

static bool is_place_by_place(enum stat_aggr aggr)
{
	return aggr == AGGR_CORE || aggr == AGGR_DIE || aggr == AGGR_SOCKET || aggr == AGGR_NODE;
}

static void add_rows(struct tally_book *book, double elapsed_s)
{
	if (is_place_by_place(book->plan->aggr)) {
		for (size_t i = 0; i < book->n_places; i++)
			for (size_t line = 0; line < book->n_lines; line++)
				add_row(book, book->place_order[i], line, elapsed_s);
		return;
	}
	for (size_t line = 0; line < book->n_lines; line++)
		add_line(book, line, elapsed_s);
}

/* ---- the report ---- */

/* While no run has ended, the clock of the last read stands for it. */
static void set_times(struct tally_book *book)
{
	const struct stat_clock *clock = &book->since_start;
	struct stat_times *times = &book->shown_times;

	*times = book->times;
	if (book->n_runs)
		return;
	times->has_usage = clock->has_usage;
	series_add(&times->elapsed, (double)clock->elapsed_ns / 1e9);
	if (clock->has_usage) {
		series_add(&times->user, (double)clock->user_ns / 1e9);
		series_add(&times->sys, (double)clock->system_ns / 1e9);
	}
}

static void forget_texts(struct row_list *rows)
{
	for (size_t i = 0; i < rows->n_texts; i++)
		free(rows->texts[i]);
	rows->n_texts = 0;
}

void rows_prepare(struct tally_book *book)
{
	struct row_list *rows = &book->rows;

	rows->v = xreallocarray(rows->v, book_n_slots(book) + 1, sizeof(*rows->v));
	rows->metrics = xreallocarray(rows->metrics, book->n_places * book->uses.n + 1,
				      sizeof(*rows->metrics));
	rows->order = xreallocarray(rows->order, book->n_places, sizeof(*rows->order));
}

void rows_release(struct tally_book *book)
{
	forget_texts(&book->rows);
	free(book->rows.texts);
	free(book->rows.v);
	free(book->rows.metrics);
	free(book->rows.order);
}

const struct stat_report *book_report(struct tally_book *book, enum stat_report_kind kind,
				      uint64_t time_ns)
{
	double elapsed_s;

	forget_texts(&book->rows);
	book->rows.n = 0;
	book->rows.n_metrics = 0;
	set_times(book);
	book->report = (struct stat_report){
		.kind = kind,
		.time_ns = time_ns,
		.first = !book->reported,
		.n_before = book->n_intervals,
		.rows = book->rows.v,
		.times = &book->shown_times,
		.run_seconds = book->run_seconds,
		.n_runs = book->n_runs,
		.least_running_pct = 100,
		.n_passes = book->plan->pass_plan ? book->plan->pass_plan->n_passes : 0,
	};
	elapsed_s = kind == REPORT_INTERVAL ? (double)book->since_last.elapsed_ns / 1e9
					    : book->shown_times.elapsed.mean;
	set_amounts(book, kind);
	add_rows(book, elapsed_s);
	book->report.n_rows = book->rows.n;
	book->reported = true;
	book->n_intervals += kind == REPORT_INTERVAL;
	return &book->report;
}
