/* SPDX-License-Identifier: MIT */
/*
 * summary.c: calls counted: per thread or cgroup and, where there are several, in all; per call how many, how many
 * failed, and how long they took. Columns are those of perf trace -s, and behind them the median, 95 % and 99 %.
 *
 * Quantiles come from buckets whose bounds are 1/32 of an octave apart, so that they are at most 1.6 % off; below 32 ns
 * they are exact. A thread has the few buckets that it has met, in order. Memory grows with threads times distinct
 * calls times distinct durations, not with calls.
 *
 * Sums of all are made of each thread's when it is gone, or of each cgroup's at the end, so that a call is counted
 * once. A thread's call is of the cgroup that it ended in.
 *
 * A call without a duration (it began before, did not end, or cannot return) counts as a call and for nothing else.
 */
#include "syscall/syscall.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SUB_BITS = 5, SUBS = 1 << SUB_BITS, BAR_COLUMNS = 40 };

/* ---- durations ---- */

struct duration_bucket {
	uint64_t n;
	uint32_t number;
};
struct durations {
	struct duration_bucket *v; /* by number */
	size_t n, cap;
};

/* The numbers of an octave's SUBS buckets follow each other. */
static uint32_t bucket_of(uint64_t ns)
{
	unsigned octave;

	if (ns < SUBS)
		return (uint32_t)ns;
	octave = 63 - (unsigned)__builtin_clzll(ns);
	return (octave - SUB_BITS + 1) * SUBS + (uint32_t)((ns >> (octave - SUB_BITS)) & (SUBS - 1));
}

/* The middle of what a bucket holds. */
static uint64_t bucket_ns(uint32_t number)
{
	unsigned shift = number / SUBS ? number / SUBS - 1 : 0;

	if (number < SUBS)
		return number;
	return ((UINT64_C(1) << SUB_BITS | number % SUBS) << shift) + ((UINT64_C(1) << shift) >> 1);
}

static void durations_add(struct durations *d, uint32_t number, uint64_t n)
{
	size_t at = BISECT(i, 0, d->n, d->v[i].number < number);

	if (at == d->n || d->v[at].number != number) {
		VEC_GROW(d->v, d->n, d->cap);
		memmove(d->v + at + 1, d->v + at, (d->n - at) * sizeof(*d->v));
		d->v[at] = (struct duration_bucket){ 0, number };
		d->n++;
	}
	d->v[at].n += n;
}

/* The least duration that at least this part of them is not longer than. */
static uint64_t quantile_ns(const struct durations *d, uint64_t total, unsigned percent)
{
	uint64_t rank = (total * percent + 99) / 100, passed = 0;

	for (size_t i = 0; i < d->n; i++) {
		passed += d->v[i].n;
		if (passed >= rank)
			return bucket_ns(d->v[i].number);
	}
	return 0;
}

/* ---- counts ---- */

struct error_count {
	int number;
	uint64_t n;
};
struct call_count {
	const struct syscall_row *row;
	uint64_t calls, errors;
	struct series durations; /* ns */
	double total_ns;
	struct durations buckets;
	struct error_count *by_error;
	size_t n_by_error, cap_by_error;
};
struct counts { /* of a thread, of a cgroup, or of all */
	char *name; /* raw bytes; NULL: of a thread that lives, of a cgroup whose path is not known, or of all */
	int32_t tid;
	uint64_t cgroup; /* its id; 0: not known */
	struct syscall_thread *thread; /* that lives, and whose counts they are; or NULL */
	size_t place_of_living; /* in living */
	uint64_t calls, runtime_ns, faults[POINT_MAJOR_FAULT + 1];
	uint16_t *place; /* by row: index in v and 1; 0: there is none */
	struct call_count *v;
	size_t n, cap;
};

struct syscall_summary {
	struct syscall_summary_options options;
	struct counts **v; /* of threads that are gone, or of cgroups by their id */
	size_t n, cap;
	struct counts **living; /* of threads that live */
	size_t n_living, cap_living;
	struct counts *all;
	uint64_t states[CALL_NO_RETURN + 1], lost;
};

static struct counts *counts_new(const struct syscall_table *table)
{
	struct counts *counts = xcalloc(1, sizeof(*counts));

	counts->place = xcalloc(table->n, sizeof(*counts->place));
	return counts;
}

static void counts_free(struct counts *counts)
{
	if (!counts)
		return;
	for (size_t i = 0; i < counts->n; i++) {
		free(counts->v[i].buckets.v);
		free(counts->v[i].by_error);
	}
	free(counts->v);
	free(counts->place);
	free(counts->name);
	free(counts);
}

static struct call_count *counts_at(struct counts *counts, const struct syscall_table *table,
				    const struct syscall_row *row)
{
	uint16_t *place = &counts->place[row - table->v];

	if (!*place) {
		VEC_GROW(counts->v, counts->n, counts->cap);
		counts->v[counts->n++] = (struct call_count){ .row = row };
		*place = (uint16_t)counts->n;
	}
	return &counts->v[*place - 1];
}

static void add_errors_of(struct call_count *count, int number, uint64_t n)
{
	size_t i = 0;

	count->errors += n;
	while (i < count->n_by_error && count->by_error[i].number != number)
		i++;
	if (i == count->n_by_error) {
		VEC_GROW(count->by_error, count->n_by_error, count->cap_by_error);
		count->by_error[count->n_by_error++] = (struct error_count){ .number = number };
	}
	count->by_error[i].n += n;
}

static void count(struct counts *counts, const struct syscall_table *table, const struct syscall_call *call)
{
	struct call_count *c = counts_at(counts, table, call->row);

	counts->calls++;
	c->calls++;
	if (call->state == CALL_WHOLE) {
		uint64_t ns = call->ended_ns - call->begun_ns;

		series_add(&c->durations, (double)ns);
		c->total_ns += (double)ns;
		durations_add(&c->buckets, bucket_of(ns), 1);
	}
	if (syscall_failed(call))
		add_errors_of(c, (int)-call->returned, 1);
}

/*
 * Adds what a series had to another, as if each number had been added: T. F. Chan, G. H. Golub, R. J. LeVeque,
 * The American Statistician 37 (1983).
 */
static void add_series(struct series *to, const struct series *from)
{
	const double n = (double)(to->n + from->n), between = from->mean - to->mean;

	if (!from->n)
		return;
	if (!to->n) {
		*to = *from;
		return;
	}
	to->m2 += from->m2 + between * between * (double)to->n * (double)from->n / n;
	to->mean += between * (double)from->n / n;
	to->n += from->n;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
}

static void add_call_count(struct call_count *to, const struct call_count *from)
{
	to->calls += from->calls;
	to->total_ns += from->total_ns;
	add_series(&to->durations, &from->durations);
	for (size_t i = 0; i < from->buckets.n; i++)
		durations_add(&to->buckets, from->buckets.v[i].number, from->buckets.v[i].n);
	for (size_t i = 0; i < from->n_by_error; i++)
		add_errors_of(to, from->by_error[i].number, from->by_error[i].n);
}

static void add_up(struct counts *all, const struct counts *counts, const struct syscall_table *table)
{
	all->calls += counts->calls;
	all->runtime_ns += counts->runtime_ns;
	for (size_t i = 0; i < ARRAY_SIZE(counts->faults); i++)
		all->faults[i] += counts->faults[i];
	for (size_t i = 0; i < counts->n; i++)
		add_call_count(counts_at(all, table, counts->v[i].row), &counts->v[i]);
}

static struct counts *counts_of_cgroup(struct syscall_summary *summary, uint64_t cgroup)
{
	size_t at = BISECT(i, 0, summary->n, summary->v[i]->cgroup < cgroup);

	if (at == summary->n || summary->v[at]->cgroup != cgroup) {
		VEC_GROW(summary->v, summary->n, summary->cap);
		memmove(summary->v + at + 1, summary->v + at, (summary->n - at) * sizeof(*summary->v));
		summary->v[at] = counts_new(summary->options.table);
		summary->v[at]->cgroup = cgroup;
		summary->n++;
	}
	return summary->v[at];
}

static struct counts *counts_of(struct syscall_summary *summary, struct syscall_thread *thread)
{
	if (summary->options.mode == SUMMARY_OF_CGROUPS)
		return counts_of_cgroup(summary, thread->cgroup);
	if (!thread->user) {
		struct counts *counts = counts_new(summary->options.table);

		counts->tid = thread->thread->tid;
		counts->thread = thread;
		counts->place_of_living = summary->n_living;
		VEC_GROW(summary->living, summary->n_living, summary->cap_living);
		summary->living[summary->n_living++] = counts;
		thread->user = counts;
	}
	return thread->user;
}

void syscall_summary_take(struct syscall_summary *summary, const struct syscall_call *call)
{
	count(counts_of(summary, call->thread), summary->options.table, call);
	summary->states[call->state]++;
}

void syscall_summary_event(struct syscall_summary *summary, const struct syscall_event *event)
{
	struct counts *counts;

	if (event->point < POINT_FAULT)
		return;
	counts = counts_of(summary, event->thread);
	if (event->point == POINT_RUNTIME)
		counts->runtime_ns += event->runtime_ns;
	else
		counts->faults[event->point]++;
}

void syscall_summary_gone(struct syscall_summary *summary, struct syscall_thread *thread)
{
	struct counts *counts = thread->user;

	if (!counts)
		return;
	summary->living[counts->place_of_living] = summary->living[--summary->n_living];
	summary->living[counts->place_of_living]->place_of_living = counts->place_of_living;
	counts->thread = NULL;
	add_up(summary->all, counts, summary->options.table);
	counts->name = xstrdup(replay_comm(summary->options.replay, thread->thread->comm));
	VEC_GROW(summary->v, summary->n, summary->cap);
	summary->v[summary->n++] = counts;
	thread->user = NULL;
}

void syscall_summary_lost(struct syscall_summary *summary, uint64_t n)
{
	summary->lost += n;
}

struct syscall_summary *syscall_summary_new(const struct syscall_summary_options *options)
{
	struct syscall_summary *summary = xcalloc(1, sizeof(*summary));

	summary->options = *options;
	summary->all = counts_new(options->table);
	return summary;
}

void syscall_summary_leave(struct syscall_summary *summary)
{
	while (summary->n_living)
		syscall_summary_gone(summary, summary->living[summary->n_living - 1]->thread);
}

/* Frees what was counted of threads that are gone, of cgroups, and of all. */
static void free_counts(struct syscall_summary *summary)
{
	for (size_t i = 0; i < summary->n; i++)
		counts_free(summary->v[i]);
	counts_free(summary->all);
}

void syscall_summary_clear(struct syscall_summary *summary)
{
	free_counts(summary);
	summary->n = 0;
	summary->all = counts_new(summary->options.table);
	memset(summary->states, 0, sizeof(summary->states));
	summary->lost = 0;
}

void syscall_summary_free(struct syscall_summary *summary)
{
	if (!summary)
		return;
	free_counts(summary);
	free(summary->v);
	free(summary->living);
	free(summary);
}

/* ---- text ---- */

static double ms(double ns)
{
	return ns / (double)NS_PER_MS;
}

static int compare_totals(const void *x, const void *y)
{
	const struct call_count *a = x, *b = y;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return a->calls != b->calls ? (a->calls < b->calls ? 1 : -1) : strcmp(a->row->name, b->row->name);
}

static int compare_counts(const void *x, const void *y)
{
	const struct counts *a = *(struct counts *const *)x, *b = *(struct counts *const *)y;

	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->cgroup > b->cgroup) - (a->cgroup < b->cgroup);
}

static int compare_errors(const void *x, const void *y)
{
	const struct error_count *a = x, *b = y;

	return (a->number > b->number) - (a->number < b->number);
}

static void add_errors(const struct syscall_summary *summary, struct call_count *c, struct str *out)
{
	if (c->n_by_error)
		qsort(c->by_error, c->n_by_error, sizeof(*c->by_error), compare_errors);
	for (size_t i = 0; i < c->n_by_error; i++) {
		str_pad(out, ' ', 25);
		if (!syscall_error_add(summary->options.table->words, c->by_error[i].number, false, out))
			str_addf(out, "errno %d", c->by_error[i].number);
		str_addf(out, ": %" PRIu64 "\n", c->by_error[i].n);
	}
}

/* A quantile lies between the extremes, which are exact. */
static double quantile(const struct call_count *c, unsigned percent)
{
	double ns = (double)quantile_ns(&c->buckets, c->durations.n, percent);

	if (ns < c->durations.min)
		ns = c->durations.min;
	return ns < c->durations.max ? ns : c->durations.max;
}

static void add_count(const struct syscall_summary *summary, struct call_count *c, struct str *out)
{
	const struct series *d = &c->durations;

	str_addf(out, "   %-15s %8" PRIu64 " %6" PRIu64 " ", c->row->name, c->calls, c->errors);
	if (d->n)
		str_addf(out, "%9.3f %9.3f %9.3f %9.3f %9.2f%% %9.3f %9.3f %9.3f\n", ms(c->total_ns), ms(d->min),
			 ms(d->mean), ms(d->max), series_rel_stdev_pct(d), ms(quantile(c, 50)), ms(quantile(c, 95)),
			 ms(quantile(c, 99)));
	else
		str_add(out, "        -         -         -         -          -         -         -         -\n");
	if (summary->options.errnos)
		add_errors(summary, c, out);
}

static size_t n_shown(const struct syscall_summary *summary, const struct counts *counts)
{
	return summary->options.max_rows && summary->options.max_rows < counts->n ? summary->options.max_rows :
										  counts->n;
}

static void add_counts(const struct syscall_summary *summary, struct counts *counts, struct str *out)
{
	str_add(out, "   syscall            calls  errors  total       min       avg       max       stddev"
		     "    median       95%       99%\n"
		     "                                     (msec)    (msec)    (msec)    (msec)        (%)"
		     "    (msec)    (msec)    (msec)\n"
		     "   --------------- --------  ------ -------- --------- --------- ---------     ------"
		     " --------- --------- ---------\n");
	if (counts->n)
		qsort(counts->v, counts->n, sizeof(*counts->v), compare_totals);
	for (size_t i = 0; i < n_shown(summary, counts); i++)
		add_count(summary, &counts->v[i], out);
	str_addc(out, '\n');
}

/* ---- histograms ---- */

/* "512 ns", "1.02 us": the bounds of octaves. */
static void add_bound(struct str *out, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	size_t unit = 0;

	while (value >= 1000 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		unit++;
	}
	str_addf(out, unit ? "%7.2f %-2s" : "%7.0f %-2s", value, units[unit]);
}

static unsigned octave_of(const struct duration_bucket *bucket)
{
	return bucket->number < SUBS ? 0 : bucket->number / SUBS;
}

/* Octave 0 is all that is below SUBS ns. */
static uint64_t octave_begin(unsigned octave)
{
	return octave ? UINT64_C(1) << (SUB_BITS + octave - 1) : 0;
}

static void add_histogram(const struct call_count *c, struct str *out)
{
	uint64_t n[64 - SUB_BITS + 1] = { 0 }, most = 0;
	const struct durations *d = &c->buckets;

	if (!d->n)
		return;
	str_addf(out, "   %s: %" PRIu64 " durations\n", c->row->name, c->durations.n);
	for (size_t i = 0; i < d->n; i++) {
		uint64_t *sum = &n[octave_of(&d->v[i])];

		*sum += d->v[i].n;
		most = *sum > most ? *sum : most;
	}
	for (unsigned octave = octave_of(&d->v[0]); octave <= octave_of(&d->v[d->n - 1]); octave++) {
		size_t bar = (size_t)((double)n[octave] * BAR_COLUMNS / (double)most);

		str_add(out, "   ");
		add_bound(out, octave_begin(octave));
		str_add(out, " to ");
		add_bound(out, octave_begin(octave + 1));
		str_addf(out, " %9" PRIu64 " |", n[octave]);
		str_pad(out, '#', n[octave] && !bar ? 1 : bar);
		str_addc(out, '\n');
	}
	str_addc(out, '\n');
}

static void add_incomplete(const struct syscall_summary *summary, struct str *out)
{
	const uint64_t began = summary->states[CALL_CONTINUED], unfinished = summary->states[CALL_UNFINISHED];

	if (began || unfinished)
		str_addf(out, " Calls without a duration: %" PRIu64 " whose begin and %" PRIu64
			 " whose end was not seen\n", began, unfinished);
	if (summary->lost)
		str_addf(out, " LOST %" PRIu64 " events: there were more calls than are counted\n", summary->lost);
}

/* ", 5 majfaults, 20 minfaults, 1.250 msec", and the table of the calls where there are some. */
static void add_rest(const struct syscall_summary *summary, struct counts *counts, struct str *out)
{
	static const struct {
		enum syscall_point point;
		const char *name;
	} kinds[] = {
		{ POINT_FAULT, "faults" }, { POINT_MAJOR_FAULT, "majfaults" }, { POINT_MINOR_FAULT, "minfaults" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (counts->faults[kinds[i].point])
			str_addf(out, ", %" PRIu64 " %s", counts->faults[kinds[i].point], kinds[i].name);
	if (summary->options.runtime)
		str_addf(out, ", %.3f msec", ms((double)counts->runtime_ns));
	str_add(out, "\n\n");
	if (counts->n)
		add_counts(summary, counts, out);
}

/* " sh (4711)", " cgroup /a/b", " cgroup 4711" by its id, " cgroup not known" */
static void add_whose(const struct syscall_summary *summary, const struct counts *counts, struct str *out)
{
	const bool is_cgroup = summary->options.mode == SUMMARY_OF_CGROUPS;

	str_add(out, is_cgroup ? " cgroup " : " ");
	if (counts->name)
		str_add_printable(out, counts->name, strlen(counts->name));
	else if (counts->cgroup)
		str_add_u64(out, counts->cgroup);
	else
		str_add(out, "not known");
	if (!is_cgroup)
		str_addf(out, " (%" PRId32 ")", counts->tid);
}

static void add_one(const struct syscall_summary *summary, struct counts *counts, struct str *out)
{
	const uint64_t all = summary->all->calls;

	add_whose(summary, counts, out);
	str_addf(out, ", %" PRIu64 " calls, %.1f%%", counts->calls,
		 all ? 100.0 * (double)counts->calls / (double)all : 0.0);
	add_rest(summary, counts, out);
}

/* Names cgroups and adds them up, as was done with threads; then the busiest come first. */
static void end_counts(struct syscall_summary *summary)
{
	for (size_t i = 0; i < summary->n && summary->options.mode == SUMMARY_OF_CGROUPS; i++) {
		const char *path = replay_cgroup(summary->options.replay, summary->v[i]->cgroup);

		summary->v[i]->name = path ? xstrdup(path) : NULL;
		add_up(summary->all, summary->v[i], summary->options.table);
	}
	if (summary->n)
		qsort(summary->v, summary->n, sizeof(*summary->v), compare_counts);
}

static const char *kind_of_counts(const struct syscall_summary *summary)
{
	return summary->options.mode == SUMMARY_OF_CGROUPS ? "cgroup" : "thread";
}

void syscall_summary_print(struct syscall_summary *summary, struct str *out)
{
	const bool total = summary->options.mode == SUMMARY_OF_ALL;
	struct counts *all = summary->all;

	str_add(out, "\n Summary of events:\n\n");
	end_counts(summary);
	if (all->n) /* for the histograms, too */
		qsort(all->v, all->n, sizeof(*all->v), compare_totals);
	for (size_t i = 0; i < summary->n && !total; i++)
		add_one(summary, summary->v[i], out);
	if (summary->n > 1 || total) {
		str_addf(out, " all %zu %s%s, %" PRIu64 " calls", summary->n, kind_of_counts(summary),
			 summary->n == 1 ? "" : "s", all->calls);
		add_rest(summary, all, out);
	}
	for (size_t i = 0; i < n_shown(summary, all) && summary->options.histogram; i++)
		add_histogram(&all->v[i], out);
	add_incomplete(summary, out);
}

/* ---- JSON ---- */

/* Begins an object about a thread, a cgroup, or all. */
static void add_json_begin(const struct syscall_summary *summary, const struct counts *counts, struct str *out)
{
	if (counts == summary->all) {
		str_addf(out, "{\"%ss\":%zu", kind_of_counts(summary), summary->n);
		return;
	}
	str_addf(out, "{\"%s\":", summary->options.mode == SUMMARY_OF_CGROUPS ? "cgroup" : "comm");
	if (counts->name)
		str_add_json(out, counts->name);
	else
		str_add(out, "null");
	if (summary->options.mode == SUMMARY_OF_CGROUPS)
		str_addf(out, ",\"cgroup_id\":%" PRIu64, counts->cgroup);
	else
		str_addf(out, ",\"tid\":%" PRId32, counts->tid);
}

static void add_json_call(const struct syscall_summary *summary, struct call_count *c, struct str *out)
{
	const struct series *d = &c->durations;

	str_addf(out, ",\"call\":\"%s\",\"calls\":%" PRIu64 ",\"errors\":%" PRIu64, c->row->name, c->calls,
		 c->errors);
	if (d->n)
		str_addf(out, ",\"durations\":%" PRIu64 ",\"total_ns\":%.0f,\"min_ns\":%.0f,\"mean_ns\":%.1f,"
			 "\"max_ns\":%.0f,\"stddev_pct\":%.2f,\"median_ns\":%.0f,\"p95_ns\":%.0f,\"p99_ns\":%.0f",
			 d->n, c->total_ns, d->min, d->mean, d->max, series_rel_stdev_pct(d), quantile(c, 50),
			 quantile(c, 95), quantile(c, 99));
	if (!summary->options.errnos)
		return;
	str_add(out, ",\"by_error\":{");
	for (size_t i = 0; i < c->n_by_error; i++) {
		str_add(out, i ? ",\"" : "\"");
		if (!syscall_error_add(summary->options.table->words, c->by_error[i].number, false, out))
			str_addf(out, "errno %d", c->by_error[i].number);
		str_addf(out, "\":%" PRIu64, c->by_error[i].n);
	}
	str_addc(out, '}');
}

static void add_json_counts(const struct syscall_summary *summary, struct counts *counts, struct str *out)
{
	add_json_begin(summary, counts, out);
	str_addf(out, ",\"calls\":%" PRIu64 ",\"faults\":%" PRIu64 ",\"minor_faults\":%" PRIu64
		 ",\"major_faults\":%" PRIu64, counts->calls, counts->faults[POINT_FAULT],
		 counts->faults[POINT_MINOR_FAULT], counts->faults[POINT_MAJOR_FAULT]);
	if (summary->options.runtime)
		str_addf(out, ",\"runtime_ns\":%" PRIu64, counts->runtime_ns);
	if (counts == summary->all)
		str_addf(out, ",\"without_begin\":%" PRIu64 ",\"without_end\":%" PRIu64 ",\"lost\":%" PRIu64,
			 summary->states[CALL_CONTINUED], summary->states[CALL_UNFINISHED], summary->lost);
	str_add(out, "}\n");
	if (counts->n)
		qsort(counts->v, counts->n, sizeof(*counts->v), compare_totals);
	for (size_t i = 0; i < n_shown(summary, counts); i++) {
		add_json_begin(summary, counts, out);
		add_json_call(summary, &counts->v[i], out);
		str_add(out, "}\n");
	}
}

void syscall_summary_json(struct syscall_summary *summary, struct str *out)
{
	end_counts(summary);
	for (size_t i = 0; i < summary->n && summary->options.mode != SUMMARY_OF_ALL; i++)
		add_json_counts(summary, summary->v[i], out);
	add_json_counts(summary, summary->all, out);
}
