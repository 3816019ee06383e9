/* SPDX-License-Identifier: MIT */
/*
 * latency: of each task, or of all tasks of one name, how long it ran, and how long it waited for a CPU while it could
 * run: since a wakeup, or since it was preempted. The first columns are those of perf sched latency.
 *
 * A task that was on its way when the recording began has one switch without a known delay: it counts as a switch, and
 * for no mean.
 */
#include "sched/sched_internal.h"

#include <errno.h>
#include <stdlib.h>

struct task_delays {
	const struct sched_task *task; /* NULL: neither switched, woken nor run */
	unsigned n_merged; /* tasks of this name */
	uint64_t run_ns, n_switches, n_known, total_ns;
	uint64_t max_ns, max_from_ns, max_to_ns;
	const struct sched_task *max_waker; /* of the longest delay; NULL: the task had been preempted */
	struct delays *delays; /* NULL: none */
	uint64_t order[LATENCY_KEYS]; /* values of the keys, the most important first */
};

struct latency {
	struct sched *sched;
	const struct latency_options *options;
	struct output *output;
	struct sched_intervals intervals;
	struct task_delays *v; /* by index of the task */
	size_t n;
};

static void end_interval(struct latency *latency);

static struct task_delays *delays_of(struct latency *latency, const struct sched_task *task)
{
	VEC_REACH(latency->v, latency->n, task->index);
	latency->v[task->index].task = task;
	return &latency->v[task->index];
}

static bool takes_cpu(const struct latency *latency, uint32_t cpu)
{
	return !latency->options->cpus.n || intset_has(&latency->options->cpus, (int)cpu);
}

/* ---- events ---- */

static void add_delay(struct task_delays *row, const struct sched_switch *change)
{
	const uint64_t from_ns = change->next_ready_ns;
	const uint64_t delay_ns = change->time_ns > from_ns ? change->time_ns - from_ns : 0;

	row->n_known++;
	row->total_ns += delay_ns;
	if (!row->delays)
		row->delays = delays_new();
	delays_add(row->delays, delay_ns);
	if (delay_ns <= row->max_ns)
		return;
	row->max_ns = delay_ns;
	row->max_from_ns = from_ns;
	row->max_to_ns = change->time_ns;
	row->max_waker = change->next_waker;
}

static void on_switch(void *context, const struct sched_switch *change)
{
	struct latency *latency = context;
	struct task_delays *row;

	if (sched_interval_ends(&latency->intervals, change->time_ns))
		end_interval(latency);
	if (change->prev->tid) {
		row = delays_of(latency, change->prev);
		if (!sched_has_runtime(latency->sched) && change->begin_ns && change->time_ns > change->begin_ns &&
		    takes_cpu(latency, change->cpu))
			row->run_ns += change->time_ns - change->begin_ns;
	}
	if (!change->next->tid)
		return;
	row = delays_of(latency, change->next);
	if (!takes_cpu(latency, change->cpu))
		return;
	if (change->next_was == SCHED_NEW || change->next_was == SCHED_READY)
		row->n_switches++;
	if (change->next_was == SCHED_READY)
		add_delay(row, change);
}

static void on_wakeup(void *context, const struct sched_act *act)
{
	if (act->task->tid)
		delays_of(context, act->task);
}

static void on_run(void *context, uint32_t cpu, struct sched_task *task, uint64_t run_ns)
{
	struct latency *latency = context;

	if (task->tid && takes_cpu(latency, cpu))
		delays_of(latency, task)->run_ns += run_ns;
}

/* ---- rows ---- */

static uint64_t mean_of(const struct task_delays *row)
{
	return row->n_known ? row->total_ns / row->n_known : 0;
}

static uint64_t value_of(const struct task_delays *row, enum latency_key key)
{
	switch (key) {
	case LATENCY_AVG:
		return mean_of(row);
	case LATENCY_MAX:
		return row->max_ns;
	case LATENCY_SWITCH:
		return row->n_switches;
	default:
		return row->run_ns;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct task_delays *x = a, *y = b;
	const int names = strcmp(x->task->comm, y->task->comm);

	return names ? -names : (x->task->tid < y->task->tid) - (x->task->tid > y->task->tid);
}

static int compare_rows(const void *a, const void *b)
{
	const struct task_delays *x = a, *y = b;

	for (size_t i = 0; i < LATENCY_KEYS; i++)
		if (x->order[i] != y->order[i])
			return x->order[i] < y->order[i] ? 1 : -1;
	return compare_names(a, b);
}

/* Adds the sums of `other`, whose counts of delays are freed. */
static void merge(struct task_delays *row, struct task_delays *other)
{
	row->n_merged++;
	row->run_ns += other->run_ns;
	row->n_switches += other->n_switches;
	row->n_known += other->n_known;
	row->total_ns += other->total_ns;
	if (row->max_ns < other->max_ns) {
		row->max_ns = other->max_ns;
		row->max_from_ns = other->max_from_ns;
		row->max_to_ns = other->max_to_ns;
		row->max_waker = other->max_waker;
	}
	if (!row->delays) {
		row->delays = other->delays;
	} else if (other->delays) {
		delays_join(row->delays, other->delays);
		delays_free(other->delays);
	}
	other->delays = NULL;
}

/* Leaves only rows that have a switch, in order; in an interval also those that ran all the time. */
static void make_rows(struct latency *latency)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < latency->n; i++)
		if (latency->v[i].task)
			latency->v[n++] = latency->v[i];
	if (!latency->options->by_task && n)
		qsort(latency->v, n, sizeof(*latency->v), compare_names);
	for (size_t i = 0; i < n; i++) {
		struct task_delays *row = &latency->v[i], *last = kept ? &latency->v[kept - 1] : NULL;

		if (last && !latency->options->by_task && !strcmp(last->task->comm, row->task->comm)) {
			merge(last, row);
			continue;
		}
		row->n_merged = 1;
		latency->v[kept++] = *row;
	}
	for (n = 0, latency->n = 0; n < kept; n++) {
		if (latency->v[n].n_switches || (latency->options->interval.every_ns && latency->v[n].run_ns))
			latency->v[latency->n++] = latency->v[n];
		else
			delays_free(latency->v[n].delays);
	}
	for (size_t i = 0; i < latency->n; i++)
		for (size_t k = 0; k < latency->options->n_keys; k++)
			latency->v[i].order[k] = value_of(&latency->v[i], latency->options->keys[k]);
	if (latency->n)
		qsort(latency->v, latency->n, sizeof(*latency->v), compare_rows);
}

/* ---- text ---- */

/* "name:tid", or "name:(n)" of several. */
static void add_name(struct str *out, const struct task_delays *row)
{
	str_add_printable(out, row->task->comm, strlen(row->task->comm));
	str_addf(out, row->n_merged > 1 ? ":(%d)" : ":%d", row->n_merged > 1 ? (int)row->n_merged : row->task->tid);
}

static double ms(uint64_t ns)
{
	return (double)ns / (double)NS_PER_MS;
}

static uint64_t quantile_of(const struct task_delays *row, unsigned pct)
{
	return row->delays ? delays_quantile(row->delays, pct) : 0;
}

static void print_row(struct str *out, const struct task_delays *row)
{
	enum { NAME_COLUMNS = 24 };
	const size_t start = out->len;

	str_add(out, "  ");
	add_name(out, row);
	str_addc(out, ' ');
	sched_pad(out, start, NAME_COLUMNS);
	str_addf(out, "|%11.3f ms |%9llu | avg:%8.3f ms | max:%8.3f ms | max start: ", ms(row->run_ns),
		 (unsigned long long)row->n_switches, ms(mean_of(row)), ms(row->max_ns));
	sched_add_s(out, row->max_from_ns, 12);
	str_add(out, " s | max end: ");
	sched_add_s(out, row->max_to_ns, 12);
	str_addf(out, " s | 50%%:%8.3f ms | 95%%:%8.3f ms | 99%%:%8.3f ms | ", ms(quantile_of(row, 50)),
		 ms(quantile_of(row, 95)), ms(quantile_of(row, 99)));
	if (row->max_waker)
		sched_add_task(out, row->max_waker);
	else
		str_add(out, row->max_ns ? "preempted" : "-");
	str_addc(out, '\n');
}

static int print_table(struct latency *latency)
{
	enum { OTHER_LINES = 10 };
	struct str *out = &latency->output->text;
	const size_t n_shown = sched_interval_rows(&latency->options->interval, latency->n, OTHER_LINES);
	uint64_t run_ns = 0, n = 0;

	str_add(out, "\n ");
	str_pad(out, '-', 139);
	str_add(out, "\n  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | "
		     "Max delay start           | Max delay end          | Delay of 50%    | Delay of 95%    | "
		     "Delay of 99%    | Max woken by\n ");
	str_pad(out, '-', 139);
	str_addc(out, '\n');
	for (size_t i = 0; i < latency->n; i++) {
		if (i < n_shown)
			print_row(out, &latency->v[i]);
		run_ns += latency->v[i].run_ns;
		n += latency->v[i].n_switches;
		if (output_step(latency->output))
			return latency->output->failed;
	}
	str_addc(out, ' ');
	str_pad(out, '-', 113);
	str_addf(out, "\n  TOTAL:                |%11.3f ms |%9llu |\n ", ms(run_ns), (unsigned long long)n);
	str_pad(out, '-', 51);
	str_add(out, "\n\n");
	return 0;
}

/* ---- for programs ---- */

/* Fields of -x and -j; to add one: a row, pstat-sched-latency(1). */
enum { N_FIELDS = 15 };

static void fill_fields(struct sched_field fields[N_FIELDS], const struct task_delays *row)
{
	const bool one = row->n_merged == 1;
	const struct sched_task *task = row->task, *waker = row->max_waker;
	const struct sched_field all[N_FIELDS] = {
		{ "comm", task->comm, 0, false },
		{ "tid", NULL, task->tid, !one },
		{ "pid", NULL, task->pid, !one || task->pid < 0 },
		{ "tasks", NULL, row->n_merged, false },
		{ "run-ns", NULL, (int64_t)row->run_ns, false },
		{ "switches", NULL, (int64_t)row->n_switches, false },
		{ "delay-avg-ns", NULL, (int64_t)mean_of(row), !row->n_known },
		{ "delay-max-ns", NULL, (int64_t)row->max_ns, !row->n_known },
		{ "max-from-ns", NULL, (int64_t)row->max_from_ns, !row->max_ns },
		{ "max-to-ns", NULL, (int64_t)row->max_to_ns, !row->max_ns },
		{ "delay-50-ns", NULL, (int64_t)quantile_of(row, 50), !row->n_known },
		{ "delay-95-ns", NULL, (int64_t)quantile_of(row, 95), !row->n_known },
		{ "delay-99-ns", NULL, (int64_t)quantile_of(row, 99), !row->n_known },
		{ "max-waker", waker ? waker->comm : "", 0, !waker },
		{ "max-waker-tid", NULL, waker ? waker->tid : 0, !waker },
	};

	memcpy(fields, all, sizeof(all));
}

static int print_fields(struct latency *latency)
{
	const struct task_delays none = { .task = &(const struct sched_task){ .comm = "" } };
	const struct sched_format *format = &latency->options->format;
	struct str *out = &latency->output->text;
	struct sched_field fields[N_FIELDS];

	fill_fields(fields, &none);
	sched_add_field_names(out, format, fields, N_FIELDS);
	for (size_t i = 0; i < latency->n; i++) {
		fill_fields(fields, &latency->v[i]);
		sched_add_fields(out, format, fields, N_FIELDS);
		if (output_step(latency->output))
			return latency->output->failed;
	}
	return 0;
}

static void print_histogram(struct latency *latency)
{
	struct delays *all = delays_new();

	for (size_t i = 0; i < latency->n; i++)
		if (latency->v[i].delays)
			delays_join(all, latency->v[i].delays);
	delays_print(all, &latency->output->text);
	delays_free(all);
}

/* ---- the whole ---- */

int latency_keys_parse(struct latency_options *options, const char *text, struct str *err)
{
	static const char *const names[LATENCY_KEYS] = { "avg", "max", "switch", "runtime" };

	options->n_keys = 0;
	for (const char *at = text, *end = text; *end; at = end + 1) {
		bool known = false;

		at += strspn(at, " ");
		end = at + strcspn(at, ", ");
		for (size_t i = 0; i < LATENCY_KEYS && options->n_keys < LATENCY_KEYS; i++) {
			if (strncmp(names[i], at, (size_t)(end - at)) != 0 || names[i][end - at])
				continue;
			options->keys[options->n_keys++] = (enum latency_key)i;
			known = true;
		}
		if (!known)
			return fail(err, -EINVAL, "--sort: '%.*s' is not avg, max, switch or runtime, each once",
				    (int)(end - at), at);
		end += strspn(end, " ");
	}
	return options->n_keys ? 0 : fail(err, -EINVAL, "--sort: give avg, max, switch or runtime");
}

/* Prints what there is, and forgets it. */
static int print_all(struct latency *latency)
{
	const struct sched_format *format = &latency->options->format;
	int rc = 0;

	make_rows(latency);
	if (latency->options->histogram)
		print_histogram(latency);
	else
		rc = format->json || format->separator ? print_fields(latency) : print_table(latency);
	for (size_t i = 0; i < latency->n; i++)
		delays_free(latency->v[i].delays);
	free(latency->v);
	latency->v = NULL;
	latency->n = 0;
	return rc;
}

/* Whoever looks on sees it at once. */
static void end_interval(struct latency *latency)
{
	if (!print_all(latency))
		output_end(latency->output);
}

int latency_print(struct sched *sched, const struct latency_options *options, struct output *output,
		  void (*progress)(void *context, double part), void *context, struct str *err)
{
	struct latency latency = {
		.sched = sched, .options = options, .output = output,
		.intervals = { .options = &options->interval, .out = &output->text, .json = options->format.json },
	};
	const struct sched_view view = {
		.context = &latency,
		.switched = on_switch,
		.woken = on_wakeup,
		.ran = on_run,
	};
	int rc = sched_read(sched, &view, output, progress, context, err);

	if (!rc) {
		sched_intervals_end(&latency.intervals);
		rc = print_all(&latency);
	}
	for (size_t i = 0; i < latency.n; i++)
		delays_free(latency.v[i].delays);
	free(latency.v);
	return rc;
}
