/* SPDX-License-Identifier: MIT */
/*
 * timehist: a line for each run of a task, when it ends: how long the task had waited before, how much of that for a
 * CPU, how long it ran; and a summary of tasks at the end. Columns and their meaning are those of perf sched timehist.
 *
 *	wait time	from the switch that ended its run before to the one that began this run
 *	sch delay	of that: from its wakeup, or from the switch if it was preempted
 *	run time	up to now
 *
 * What is not known is 0 in a line, and not in the summary's means: a run that had begun before the recording, or in
 * what was lost.
 */
#include "sched/sched.h"

#include <stdlib.h>

enum { TASK_COLUMNS = 30, PRIO_COLUMNS = 8, TIME_COLUMNS = 15, CALLEES_HIDDEN = 2 };

struct task_sums { /* of a task, or in idle mode of the idleness that it left its CPU to */
	struct series runs; /* ns */
	char *text; /* of the task, as it was printed last; NULL: it was not */
	const char *text_of; /* its name then */
	int32_t text_pid; /* and its process */
	uint32_t text_bytes, text_columns;
	uint64_t n, n_migrations, run_ns, sleep_ns, blocked_ns, preempted_ns, delay_ns;
};

struct timehist {
	struct sched *sched;
	const struct timehist_options *options;
	struct output *output;
	struct task_sums *sums; /* by index of the task */
	size_t n_sums;
	const struct sched_task **left; /* by CPU: who ran before it went idle */
	size_t n_left;
	uint64_t first_ns, last_ns; /* of the switches that are shown */
	unsigned columns; /* of the widest task so far */
	bool summed; /* the sums of tasks will be printed */
	bool skipped; /* some tasks were left out */
};

/* The parts of a wait. */
struct run_times {
	uint64_t sleep_ns, blocked_ns, preempted_ns, delay_ns, run_ns, before_migration_ns;
};

/* ---- what is shown ---- */

static bool in_list(const struct intset *list, int64_t value)
{
	return !list->n || (value >= 0 && value <= INT32_MAX && intset_has(list, (int)value));
}

static bool takes_prio(const struct timehist_options *options, int32_t prio)
{
	return prio == -1 || in_list(&options->prios, prio);
}

static bool takes_task(const struct timehist_options *options, const struct sched_task *task)
{
	return in_list(&options->pids, task->pid) && in_list(&options->tids, task->tid) &&
	       takes_prio(options, task->prio);
}

static struct task_sums *sums_of(struct timehist *timehist, const struct sched_task *task)
{
	VEC_REACH(timehist->sums, timehist->n_sums, task->index);
	return &timehist->sums[task->index];
}

/* ---- the times of a run ---- */

/* Works out the times of a run that is shown from from_ns to to_ns; its wait is the one before its beginning. */
static struct run_times times_of(const struct sched_switch *change, uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t begin_ns = change->begin_ns;
	struct run_times times = { .run_ns = 0 };
	uint64_t wait_ns;

	if (!begin_ns || to_ns < from_ns)
		return times;
	times.run_ns = to_ns - from_ns;
	if (change->ready_ns && change->ready_ns <= begin_ns)
		times.delay_ns = begin_ns - change->ready_ns;
	if (change->migrated_ns > change->ready_ns && change->migrated_ns < begin_ns)
		times.before_migration_ns = change->migrated_ns - change->ready_ns;
	if (!change->out_ns || change->out_ns > begin_ns)
		return times;
	wait_ns = begin_ns - change->out_ns;
	if (change->out_state == 'R')
		times.preempted_ns = wait_ns;
	else if (change->out_state == 'D')
		times.blocked_ns = wait_ns;
	else
		times.sleep_ns = wait_ns;
	return times;
}

static void add_sums(struct task_sums *sums, const struct run_times *times, bool known)
{
	sums->n++;
	if (known)
		series_add(&sums->runs, (double)times->run_ns);
	sums->run_ns += times->run_ns;
	sums->sleep_ns += times->sleep_ns;
	sums->blocked_ns += times->blocked_ns;
	sums->preempted_ns += times->preempted_ns;
	sums->delay_ns += times->delay_ns;
}

/* ---- lines ---- */

/* The text of a task, which widens the column of the lines behind it. It is made when its name or process changes. */
static const struct task_sums *add_task_text(struct timehist *timehist, const struct sched_task *task)
{
	struct task_sums *sums = sums_of(timehist, task);
	struct str text = STR_INIT;

	if (!sums->text || sums->text_of != task->comm || sums->text_pid != task->pid) {
		sched_add_task(&text, task);
		free(sums->text);
		sums->text_bytes = (uint32_t)text.len;
		sums->text_columns = (uint32_t)text_columns(text.s, text.len);
		sums->text = str_detach(&text);
		sums->text_of = task->comm;
		sums->text_pid = task->pid;
	}
	str_addn(&timehist->output->text, sums->text, sums->text_bytes);
	if (sums->text_columns > timehist->columns)
		timehist->columns = sums->text_columns;
	return sums;
}

static void add_task_column(struct timehist *timehist, const struct sched_task *task)
{
	const struct task_sums *sums = add_task_text(timehist, task);

	str_pad(&timehist->output->text, ' ', timehist->columns - sums->text_columns);
}

/* A mark in the column of the CPU. */
static void add_visual(struct timehist *timehist, uint32_t cpu, char mark)
{
	struct str *out = &timehist->output->text;
	const uint32_t n = sched_n_cpus(timehist->sched);

	str_pad(out, ' ', cpu);
	str_addc(out, mark);
	str_pad(out, ' ', n - cpu - 1);
}

static void add_prio(struct timehist *timehist, const struct sched_switch *change)
{
	struct str *out = &timehist->output->text;
	size_t start;

	str_addc(out, ' ');
	start = out->len;
	if (change->prev->prio != -1 && change->prev->prio != change->prev_prio)
		str_addf(out, "%d->", change->prev->prio);
	str_addf(out, "%d", change->prev_prio);
	sched_pad(out, start, PRIO_COLUMNS);
	str_addc(out, ' ');
}

/* Functions that every switch is in. */
static bool is_scheduler(const char *name)
{
	static const char *const names[] = { "schedule", "__schedule", "preempt_schedule" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* "  callee <- caller <- ...". The frames counted are those of the whole chain, as perf counts them. */
static void add_chain(struct timehist *timehist, const struct chain *chain)
{
	struct session *session = sched_session(timehist->sched);
	struct str *out = &timehist->output->text;
	const size_t max = timehist->options->max_stack + CALLEES_HIDDEN;
	const char *arrow = "";

	str_add(out, "  ");
	for (size_t i = 0; i < chain->n && i < max; i++) {
		const struct symbol *symbol = location_symbol(session, chain->v[i].location);

		if (symbol && is_scheduler(symbol->name))
			continue;
		str_add(out, arrow);
		str_addc(out, ' ');
		if (symbol)
			str_add_printable(out, symbol->name, strlen(symbol->name));
		else
			str_add(out, "[unknown]");
		arrow = " <-";
	}
}

static void add_next(struct timehist *timehist, const struct sched_switch *change)
{
	struct str *out = &timehist->output->text;
	const size_t start = out->len;
	size_t len;
	const char *name = sched_next_name(timehist->sched, change, &len);

	str_add(out, " next: ");
	if (name)
		str_add_printable(out, name, len);
	str_addf(out, "[%d]", change->next->tid);
	sched_pad(out, start, timehist->columns + 1);
}

static void print_run(struct timehist *timehist, const struct sched_switch *change, uint64_t end_ns,
		      const struct run_times *times)
{
	const struct timehist_options *options = timehist->options;
	const uint64_t columns[] = { times->sleep_ns + times->blocked_ns + times->preempted_ns, times->delay_ns,
				     times->run_ns, times->before_migration_ns };
	struct str *out = &timehist->output->text;

	sched_add_place(out, end_ns, TIME_COLUMNS, change->cpu);
	if (options->cpu_visual) {
		str_addc(out, ' ');
		add_visual(timehist, change->cpu, change->prev->tid ? 's' : 'i');
		str_addc(out, ' ');
	}
	str_addc(out, ' ');
	add_task_column(timehist, change->prev);
	str_addc(out, ' ');
	if (options->prio)
		add_prio(timehist, change);
	sched_add_ms_columns(out, columns, options->pre_migrations ? 4 : 3, 6);
	if (options->state) {
		str_add(out, "     ");
		str_addc(out, change->prev->tid ? change->prev_state : 'I');
		str_addc(out, ' ');
	}
	if (options->next)
		add_next(timehist, change);
	if (options->wakeups && !options->next)
		str_pad(out, ' ', timehist->columns + 2);
	if (change->prev->tid && sched_has_chains(timehist->sched) && !options->no_chains)
		add_chain(timehist, &change->sample->frames);
	str_addc(out, '\n');
}

/* ---- events ---- */

/* The idleness that ends belongs to the task that began it. NULL: it is not known, or it is no such switch. */
static const struct sched_task *idleness_of(struct timehist *timehist, const struct sched_switch *change)
{
	const struct sched_task *left;

	VEC_REACH(timehist->left, timehist->n_left, change->cpu);
	left = timehist->left[change->cpu];
	timehist->left[change->cpu] = change->prev->tid ? change->prev : NULL;
	return change->prev->tid ? NULL : left;
}

static void count_run(struct timehist *timehist, const struct sched_switch *change, uint64_t begin_ns, uint64_t end_ns)
{
	const struct timehist_options *options = timehist->options;
	struct run_times times = times_of(change, begin_ns, end_ns);
	const struct sched_task *owner = options->idle ? idleness_of(timehist, change) : NULL;
	const bool here = in_list(&options->cpus, change->cpu);

	if (options->idle && change->prev->tid)
		return;
	if (here && timehist->summed)
		add_sums(sums_of(timehist, change->prev), &times, begin_ns);
	if (options->idle && !owner)
		return;
	if (owner && here && timehist->summed)
		add_sums(sums_of(timehist, owner), &(struct run_times){ .run_ns = times.run_ns }, begin_ns);
	if (!options->summary_only && here)
		print_run(timehist, change, end_ns, &times);
}

static void on_switch(void *context, const struct sched_switch *change)
{
	struct timehist *timehist = context;
	const struct timehist_options *options = timehist->options;
	uint64_t begin_ns = change->begin_ns, end_ns = change->time_ns;

	if (options->start_ns > end_ns)
		return;
	if (begin_ns && begin_ns < options->start_ns)
		begin_ns = options->start_ns;
	if (options->end_ns && end_ns > options->end_ns)
		end_ns = options->end_ns;
	if (!takes_task(options, change->prev) ||
	    (change->prev->prio == -1 && !takes_prio(options, change->prev_prio))) {
		timehist->skipped = true;
	} else if (!options->end_ns || (begin_ns && begin_ns <= options->end_ns)) {
		count_run(timehist, change, begin_ns, end_ns);
	}
	if (!timehist->first_ns)
		timehist->first_ns = end_ns;
	timehist->last_ns = end_ns;
}

static bool is_inside(const struct timehist_options *options, uint64_t time_ns, int64_t cpu)
{
	return time_ns >= options->start_ns && (!options->end_ns || time_ns <= options->end_ns) &&
	       in_list(&options->cpus, cpu);
}

static bool is_shown(const struct timehist_options *options, const struct sched_act *act)
{
	return !options->summary_only && !options->idle && is_inside(options, act->time_ns, act->cpu) &&
	       (takes_task(options, act->by) || takes_task(options, act->task));
}

/* Task, and blanks below the columns of times. */
static void add_actor(struct timehist *timehist, const struct sched_act *act)
{
	enum { TIMES_COLUMNS = 34 };
	struct str *out = &timehist->output->text;

	str_addc(out, ' ');
	add_task_column(timehist, act->by);
	str_addc(out, ' ');
	str_pad(out, ' ', TIMES_COLUMNS);
}

static void on_wakeup(void *context, const struct sched_act *act)
{
	struct timehist *timehist = context;
	struct str *out = &timehist->output->text;

	if (!timehist->options->wakeups || !is_shown(timehist->options, act))
		return;
	sched_add_place(out, act->time_ns, TIME_COLUMNS, act->cpu);
	if (timehist->options->cpu_visual)
		str_pad(out, ' ', sched_n_cpus(timehist->sched) + 2);
	add_actor(timehist, act);
	str_add(out, "awakened: ");
	add_task_text(timehist, act->task);
	str_addc(out, '\n');
}

static void on_migration(void *context, const struct sched_act *act)
{
	struct timehist *timehist = context;
	struct str *out = &timehist->output->text;

	if (is_inside(timehist->options, act->time_ns, act->cpu))
		sums_of(timehist, act->task)->n_migrations++;
	if (!timehist->options->migrations || !is_shown(timehist->options, act))
		return;
	sched_add_place(out, act->time_ns, TIME_COLUMNS, act->cpu);
	if (timehist->options->cpu_visual) {
		str_add(out, "  ");
		add_visual(timehist, act->cpu, 'm');
		str_add(out, "  ");
	}
	add_actor(timehist, act);
	str_add(out, "migrated: ");
	add_task_text(timehist, act->task);
	str_addf(out, " cpu %d => %d\n", act->from_cpu, act->to_cpu);
}

static void on_loss(void *context, uint64_t time_ns, int64_t cpu, uint64_t n)
{
	struct timehist *timehist = context;
	struct str *out = &timehist->output->text;

	if (timehist->options->summary_only || (cpu >= 0 && !is_inside(timehist->options, time_ns, cpu)))
		return;
	sched_add_s(out, time_ns, TIME_COLUMNS);
	str_addf(out, cpu >= 0 ? " lost %llu events on cpu %lld\n" : " lost %llu events\n", (unsigned long long)n,
		 (long long)cpu);
}

/* ---- head ---- */

static void add_head_columns(struct timehist *timehist, const char *task, const char *prio, const char *const titles[3],
			     const char *before_migration)
{
	const struct timehist_options *options = timehist->options;
	struct str *out = &timehist->output->text;

	str_addf(out, " %-*s ", TASK_COLUMNS, task);
	if (options->prio)
		str_addf(out, " %-*s ", PRIO_COLUMNS, prio);
	str_addf(out, " %9s  %9s  %9s", titles[0], titles[1], titles[2]);
	if (options->pre_migrations)
		str_addf(out, "  %9s", before_migration);
}

static void add_dashes(struct str *out, unsigned n)
{
	str_pad(out, '-', n);
}

static void print_head(void *context)
{
	struct timehist *timehist = context;
	static const char *const titles[] = { "wait time", "sch delay", "run time" };
	static const char *const units[] = { "(msec)", "(msec)", "(msec)" };
	static const char *const dashes[] = { "---------", "---------", "---------" };
	const struct timehist_options *options = timehist->options;
	const uint32_t n_cpus = sched_n_cpus(timehist->sched);
	struct str *out = &timehist->output->text;

	str_addf(out, "%*s %6s ", TIME_COLUMNS, "time", "cpu");
	if (options->cpu_visual) {
		str_addc(out, ' ');
		for (uint32_t i = 0; i < n_cpus; i++)
			str_addc(out, "0123456789abcdef"[i % 16]);
		str_addc(out, ' ');
	}
	add_head_columns(timehist, "task name", "prio", titles, "pre-mig time");
	str_add(out, options->state ? "  state\n" : "\n");
	str_addf(out, "%*s %-6s ", TIME_COLUMNS, "", "");
	if (options->cpu_visual)
		str_pad(out, ' ', n_cpus + 2);
	add_head_columns(timehist, "[tid/pid]", "", units, "(msec)");
	str_addc(out, '\n');
	add_dashes(out, TIME_COLUMNS);
	str_add(out, " ------ ");
	if (options->cpu_visual) {
		str_addc(out, ' ');
		add_dashes(out, n_cpus);
		str_addc(out, ' ');
	}
	add_head_columns(timehist, "------------------------------", "--------", dashes, "---------");
	str_add(out, options->state ? "  -----\n" : "\n");
}

/* ---- summary ---- */

static void print_summary_head(struct timehist *timehist)
{
	const struct timehist_options *options = timehist->options;
	const int width = (int)timehist->columns;
	struct str *out = &timehist->output->text;

	if (options->idle)
		str_addf(out, "\nIdle-time summary\n%*s  parent  sched-out    idle-time   min-idle    avg-idle    "
			      "max-idle  stddev  migrations\n", width, "comm");
	else if (options->state)
		str_addf(out, "\nWait-time summary\n%*s  parent   sched-in     run-time      sleep      iowait     "
			      "preempt       delay\n", width, "comm");
	else
		str_addf(out, "\nRuntime summary\n%*s  parent   sched-in     run-time    min-run     avg-run     "
			      "max-run  stddev  migrations\n", width, "comm");
	str_addf(out, "%*s            (count)       (msec)     (msec)      (msec)      (msec)       %s\n", width, "",
		 options->state ? "(msec)" : "%");
	add_dashes(out, 117);
	str_addc(out, '\n');
}

static void print_task(struct timehist *timehist, const struct sched_task *task, const struct task_sums *sums)
{
	struct str *out = &timehist->output->text, name = STR_INIT;

	sched_add_task(&name, task);
	str_pad(out, ' ', timehist->columns - (unsigned)text_columns(name.s, name.len));
	str_addn(out, name.s, name.len);
	str_release(&name);
	str_addf(out, "   %5d  %9llu ", task->ppid, (unsigned long long)sums->n);
	sched_add_ms(out, sums->run_ns, 8);
	str_addc(out, ' ');
	if (timehist->options->state && !timehist->options->idle) {
		sched_add_ms(out, sums->sleep_ns, 6);
		str_add(out, "  ");
		sched_add_ms(out, sums->blocked_ns, 6);
		str_add(out, "  ");
		sched_add_ms(out, sums->preempted_ns, 6);
		str_add(out, "  ");
		sched_add_ms(out, sums->delay_ns, 6);
		str_add(out, " \n");
		return;
	}
	sched_add_ms(out, (uint64_t)sums->runs.min, 6);
	str_add(out, "  ");
	sched_add_ms(out, (uint64_t)sums->runs.mean, 6);
	str_add(out, "  ");
	sched_add_ms(out, (uint64_t)sums->runs.max, 6);
	str_addf(out, "   %5.2f   %5llu\n", series_rel_stdev_pct(&sums->runs),
		 (unsigned long long)sums->n_migrations);
}

struct summary_row {
	const struct sched_task *task;
	const struct task_sums *sums;
};

static int compare_rows(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	if (x->sums->run_ns != y->sums->run_ns)
		return x->sums->run_ns < y->sums->run_ns ? 1 : -1;
	return (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

/* The tasks that have runs, those that ran longest first. */
static struct summary_row *summary_rows(struct timehist *timehist, size_t *n)
{
	size_t n_tasks;
	struct sched_task *const *tasks = sched_tasks(timehist->sched, &n_tasks);
	struct summary_row *rows = xcalloc(n_tasks, sizeof(*rows));

	*n = 0;
	for (size_t i = 0; i < n_tasks; i++)
		if (tasks[i]->tid && sums_of(timehist, tasks[i])->n)
			rows[(*n)++].task = tasks[i];
	for (size_t i = 0; i < *n; i++) /* the array of sums has all of them now */
		rows[i].sums = sums_of(timehist, rows[i].task);
	qsort(rows, *n, sizeof(*rows), compare_rows);
	return rows;
}

static void print_idle(struct timehist *timehist, uint64_t window_ns, uint64_t *n_switches)
{
	struct str *out = &timehist->output->text;

	str_add(out, "\nIdle stats:\n");
	for (uint32_t cpu = 0; cpu < sched_n_cpus(timehist->sched); cpu++) {
		const struct sched_task *idle = sched_idle_task(timehist->sched, cpu);
		const struct task_sums *sums = idle ? sums_of(timehist, idle) : NULL;

		if (!in_list(&timehist->options->cpus, cpu))
			continue;
		if (!sums || !sums->n) {
			str_addf(out, "    CPU %2u %s\n", cpu,
				 sched_saw_cpu(timehist->sched, cpu) ? "never idle" : "without a switch");
			continue;
		}
		*n_switches += sums->n;
		str_addf(out, "    CPU %2u idle for ", cpu);
		sched_add_ms(out, sums->run_ns, 6);
		str_addf(out, "  msec  (%6.2f%%)\n",
			 window_ns ? 100.0 * (double)sums->run_ns / (double)window_ns : 0);
	}
}

static void print_summary(struct timehist *timehist)
{
	const uint64_t window_ns = timehist->last_ns - timehist->first_ns;
	struct str *out = &timehist->output->text;
	uint64_t n_switches = 0, run_ns = 0;
	size_t n;
	struct summary_row *rows = summary_rows(timehist, &n);

	print_summary_head(timehist);
	for (size_t i = 0; i < n; i++) {
		print_task(timehist, rows[i].task, rows[i].sums);
		n_switches += rows[i].sums->n;
		run_ns += rows[i].sums->run_ns;
	}
	free(rows);
	if (!n)
		str_add(out, "<no still running tasks>\n");
	if (timehist->skipped && !timehist->options->idle)
		return;
	print_idle(timehist, window_ns, &n_switches);
	str_addf(out, "\n    Total number of unique tasks: %zu\nTotal number of context switches: %llu\n", n,
		 (unsigned long long)n_switches);
	str_add(out, "           Total run time (msec): ");
	sched_add_ms(out, run_ns, 2);
	str_add(out, " \n    Total scheduling time (msec): ");
	sched_add_ms(out, window_ns, 2);
	str_addf(out, "  (x %u)\n", sched_n_cpus(timehist->sched));
}

/* ---- the whole ---- */

int timehist_print(struct sched *sched, const struct timehist_options *options, struct output *output,
		   void (*progress)(void *context, double part), void *context, struct str *err)
{
	struct timehist timehist = {
		.sched = sched,
		.options = options,
		.output = output,
		.columns = TASK_COLUMNS,
		.summed = options->summary || options->summary_only,
	};
	const struct sched_view view = {
		.context = &timehist,
		.begin = options->summary_only ? NULL : print_head,
		.switched = on_switch,
		.woken = on_wakeup,
		.migrated = on_migration,
		.lost = on_loss,
		.chains = !options->no_chains && !options->summary_only,
	};
	int rc = sched_read(sched, &view, output, progress, context, err);

	if (!rc && timehist.summed)
		print_summary(&timehist);
	for (size_t i = 0; i < timehist.n_sums; i++)
		free(timehist.sums[i].text);
	free(timehist.sums);
	free(timehist.left);
	return rc;
}
