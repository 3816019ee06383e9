/* SPDX-License-Identifier: MIT */
/*
 * task_times: of each task, the parts of its time while it was seen, and what woke it:
 *
 *	run | sleep or blocked ........... | woken ........ | run | preempted ... | run
 *	    switched out: S, D, ...        woken by another  ^     switched out: R  ^
 *	                                                     switched in            switched in
 *
 * The parts add up: where no wakeup is known, as of a task that was asleep before the recording, sleep lasts until it
 * runs. Of the last part, which nothing ended, nothing is counted.
 */
#include "sched/sched_internal.h"

#include <stdlib.h>

struct waker { /* of one task by another */
	uint32_t task, by; /* indexes */
	uint64_t n;
};

struct times {
	uint64_t n_runs, n_preempted, n_migrations, n_wakeups;
	uint64_t run_ns, sleep_ns, blocked_ns, woken_ns, preempted_ns;
	uint64_t max_ns, max_from_ns; /* the longest time that it could run and did not */
	const struct sched_task *max_waker; /* NULL: it had been preempted */
	const struct sched_task *waker; /* what woke it most often */
	uint64_t n_waker;
};

struct task_times {
	struct sched *sched;
	const struct task_times_options *options;
	struct output *output;
	struct sched_intervals intervals;
	struct times *v; /* by index of the task */
	size_t n;
	struct waker *wakers;
	size_t n_wakers, cap_wakers;
	struct index by_pair;
};

static void end_interval(struct task_times *all);

static struct times *times_of(struct task_times *all, const struct sched_task *task)
{
	VEC_REACH(all->v, all->n, task->index);
	return &all->v[task->index];
}

static uint64_t span(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns && to_ns > from_ns ? to_ns - from_ns : 0;
}

/* ---- events ---- */

static void end_wait(struct times *times, const struct sched_switch *change)
{
	const struct sched_task *next = change->next;
	const uint64_t ready_ns = change->next_ready_ns, delay_ns = span(ready_ns, change->time_ns);
	const uint64_t away_ns = span(next->out_ns, change->next_waker ? ready_ns : change->time_ns);

	if (next->out_state == 'R')
		times->preempted_ns += away_ns;
	else if (next->out_state == 'D')
		times->blocked_ns += away_ns;
	else
		times->sleep_ns += away_ns;
	if (change->next_waker)
		times->woken_ns += delay_ns;
	if (delay_ns <= times->max_ns)
		return;
	times->max_ns = delay_ns;
	times->max_from_ns = ready_ns;
	times->max_waker = change->next_waker;
}

static void on_switch(void *context, const struct sched_switch *change)
{
	struct task_times *all = context;
	struct times *prev;

	if (sched_interval_ends(&all->intervals, change->time_ns))
		end_interval(all);
	prev = times_of(all, change->prev);
	prev->n_runs++;
	prev->n_preempted += change->prev_state == 'R';
	prev->run_ns += span(change->begin_ns, change->time_ns);
	end_wait(times_of(context, change->next), change);
}

static void on_wakeup(void *context, const struct sched_act *act)
{
	struct task_times *all = context;
	const uint64_t key = (uint64_t)act->task->index << 32 | act->by->index;
	struct times *times = times_of(all, act->task);
	uint32_t i;

	if (!act->ends_wait)
		return;
	times->n_wakeups++;
	if (!INDEX_FIND(&all->by_pair, hash_word(key), i,
			all->wakers[i].task == act->task->index && all->wakers[i].by == act->by->index)) {
		VEC_GROW(all->wakers, all->n_wakers, all->cap_wakers);
		i = (uint32_t)all->n_wakers++;
		all->wakers[i] = (struct waker){ act->task->index, act->by->index, 0 };
		index_add(&all->by_pair, hash_word(key), i);
	}
	if (++all->wakers[i].n <= times->n_waker)
		return;
	times->n_waker = all->wakers[i].n;
	times->waker = act->by;
}

static void on_migration(void *context, const struct sched_act *act)
{
	times_of(context, act->task)->n_migrations++;
}

/* ---- rows ---- */

struct times_row {
	const struct sched_task *task;
	const struct times *times;
	uint64_t order;
};

static bool in_list(const struct intset *list, int32_t value)
{
	return !list->n || intset_has(list, value);
}

static int compare_rows(const void *a, const void *b)
{
	const struct times_row *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? 1 : -1;
	return (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

static struct times_row *make_rows(struct task_times *all, size_t *n)
{
	const struct task_times_options *options = all->options;
	size_t n_tasks;
	struct sched_task *const *tasks = sched_tasks(all->sched, &n_tasks);
	struct times_row *rows = xcalloc(n_tasks, sizeof(*rows));

	*n = 0;
	for (size_t i = 0; i < n_tasks && i < all->n; i++) {
		const struct times *times = &all->v[i];

		if (!tasks[i]->tid || !(times->n_runs || times->n_wakeups) || !in_list(&options->pids, tasks[i]->pid) ||
		    !in_list(&options->tids, tasks[i]->tid))
			continue;
		rows[(*n)++] = (struct times_row){ tasks[i], times, options->by_delay ? times->max_ns : times->run_ns };
	}
	qsort(rows, *n, sizeof(*rows), compare_rows);
	return rows;
}

/* ---- text ---- */

static void print_head(struct str *out)
{
	static const char format[] = "%-30s %8s %10s %10s %10s %10s %10s %8s %8s %10s %15s  %s\n";

	str_addf(out, format, "task", "runs", "run", "sleep", "blocked", "woken", "preempted", "preempt-", "moves",
		 "longest", "since", "woken most by,");
	str_addf(out, format, "[tid/pid]", "", "(msec)", "(msec)", "(msec)", "(msec)", "(msec)", "ions", "", "delay",
		 "(sec)", "before the longest delay by");
}

static void print_row(struct str *out, const struct times_row *row)
{
	const struct times *times = row->times;
	const uint64_t parts[] = { times->run_ns, times->sleep_ns, times->blocked_ns, times->woken_ns,
				   times->preempted_ns };
	const size_t start = out->len;

	sched_add_task(out, row->task);
	sched_pad(out, start, 30);
	str_addf(out, " %8llu", (unsigned long long)times->n_runs);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		str_addc(out, ' ');
		sched_add_ms(out, parts[i], 6);
	}
	str_addf(out, " %8llu %8llu ", (unsigned long long)times->n_preempted, (unsigned long long)times->n_migrations);
	sched_add_ms(out, times->max_ns, 6);
	str_addc(out, ' ');
	sched_add_s(out, times->max_from_ns, 15);
	str_add(out, "  ");
	if (times->waker) {
		sched_add_task(out, times->waker);
		str_addf(out, " %llu of %llu", (unsigned long long)times->n_waker,
			 (unsigned long long)times->n_wakeups);
	} else {
		str_addc(out, '-');
	}
	str_add(out, ", ");
	if (times->max_waker)
		sched_add_task(out, times->max_waker);
	else
		str_add(out, times->max_ns ? "preempted" : "-");
	str_addc(out, '\n');
}

/* ---- for programs ---- */

/* Fields of -x and -j; to add one: a row, pstat-sched-tasks(1). */
enum { N_FIELDS = 22 };

static void fill_fields(struct sched_field fields[N_FIELDS], const struct sched_task *task, const struct times *times)
{
	const struct sched_task *waker = times->waker, *worst = times->max_waker;
	const struct sched_field all[N_FIELDS] = {
		{ "comm", task->comm, 0, false },
		{ "tid", NULL, task->tid, false },
		{ "pid", NULL, task->pid, task->pid < 0 },
		{ "ppid", NULL, task->ppid, task->ppid < 0 },
		{ "runs", NULL, (int64_t)times->n_runs, false },
		{ "run-ns", NULL, (int64_t)times->run_ns, false },
		{ "sleep-ns", NULL, (int64_t)times->sleep_ns, false },
		{ "blocked-ns", NULL, (int64_t)times->blocked_ns, false },
		{ "woken-ns", NULL, (int64_t)times->woken_ns, false },
		{ "preempted-ns", NULL, (int64_t)times->preempted_ns, false },
		{ "preemptions", NULL, (int64_t)times->n_preempted, false },
		{ "migrations", NULL, (int64_t)times->n_migrations, false },
		{ "wakeups", NULL, (int64_t)times->n_wakeups, false },
		{ "waker", waker ? waker->comm : "", 0, !waker },
		{ "waker-tid", NULL, waker ? waker->tid : 0, !waker },
		{ "waker-wakeups", NULL, (int64_t)times->n_waker, !waker },
		{ "delay-max-ns", NULL, (int64_t)times->max_ns, false },
		{ "max-from-ns", NULL, (int64_t)times->max_from_ns, !times->max_ns },
		{ "max-to-ns", NULL, (int64_t)(times->max_from_ns + times->max_ns), !times->max_ns },
		{ "max-waker", worst ? worst->comm : "", 0, !worst },
		{ "max-waker-tid", NULL, worst ? worst->tid : 0, !worst },
		{ "max-preempted", NULL, 1, worst || !times->max_ns },
	};

	memcpy(fields, all, sizeof(all));
}

static void print_names(struct task_times *all)
{
	struct sched_field fields[N_FIELDS];

	fill_fields(fields, &(const struct sched_task){ .comm = "" }, &(const struct times){ .n_runs = 0 });
	sched_add_field_names(&all->output->text, &all->options->format, fields, N_FIELDS);
}

static int print_rows(struct task_times *all)
{
	enum { OTHER_LINES = 4 };
	const struct sched_format *format = &all->options->format;
	const bool table = !format->json && !format->separator;
	struct str *out = &all->output->text;
	struct sched_field fields[N_FIELDS];
	size_t n;
	struct times_row *rows = make_rows(all, &n);

	if (table)
		n = sched_interval_rows(&all->options->interval, n, OTHER_LINES);
	if (table)
		print_head(out);
	else
		print_names(all);
	for (size_t i = 0; i < n && !output_step(all->output); i++) {
		fill_fields(fields, rows[i].task, rows[i].times);
		if (table)
			print_row(out, &rows[i]);
		else
			sched_add_fields(out, format, fields, N_FIELDS);
	}
	free(rows);
	return all->output->failed;
}

/* Whoever looks on sees it at once; then it is forgotten. */
static void end_interval(struct task_times *all)
{
	if (!print_rows(all))
		output_end(all->output);
	free(all->v);
	all->v = NULL;
	all->n = all->n_wakers = 0;
	index_clear(&all->by_pair);
}

int task_times_print(struct sched *sched, const struct task_times_options *options, struct output *output,
		     void (*progress)(void *context, double part), void *context, struct str *err)
{
	struct task_times all = {
		.sched = sched, .options = options, .output = output,
		.intervals = { .options = &options->interval, .out = &output->text, .json = options->format.json },
	};
	const struct sched_view view = {
		.context = &all,
		.switched = on_switch,
		.woken = on_wakeup,
		.migrated = on_migration,
	};
	int rc = sched_read(sched, &view, output, progress, context, err);

	if (!rc) {
		sched_intervals_end(&all.intervals);
		rc = print_rows(&all);
	}
	free(all.v);
	free(all.wakers);
	index_release(&all.by_pair);
	return rc;
}
