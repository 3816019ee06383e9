/* SPDX-License-Identifier: MIT */
/*
 * states: what each CPU runs, and each task's state, as the events say:
 *
 *		    switched in                  switched out: S, D, ...
 *	READY ----------------------> RUNNING ----------------------------> ASLEEP
 *	  ^                              |  switched out: R, preempted         |
 *	  +------------------------------+                                     |
 *	  +--------------------------------------------------------------------+  woken
 *
 * Events that were lost show in a switch from a task that the CPU did not run: when that began to run is not known,
 * and the state of the one that did run is UNKNOWN until it is woken or switched in. Where the kernel told of a loss
 * the same holds for the next switch of that CPU, also where the task is the same: it may have been away.
 *
 * Tasks are known by the kernel's numbers, as they are in the events' fields. Those of records are others where a
 * container recorded from inside: nothing is then taken from records. (A task that is about to end has -1 there.) A
 * number that a fork gives again is another task from then on.
 */
#include "sched/sched_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { RECENT = 256 };

struct sched_cpu {
	struct sched_task *current; /* NULL: not known */
	uint64_t since_ns; /* 0: not known */
	struct sched_task *idle; /* NULL: it was not seen */
};

struct sched {
	struct session session;
	struct filters *filters;
	struct sched_events *events;
	struct arena arena; /* tasks and names */
	struct sched_task **tasks;
	size_t n_tasks, cap_tasks;
	struct index by_tid;
	struct sched_task *recent[RECENT]; /* by the low bits of their numbers: those that were asked for last */
	struct text_index *names; /* those that no record told */
	bool other_numbers; /* records number tasks as a container does, events as the kernel */
	struct sched_cpu *cpus;
	size_t n_cpus;
	uint64_t last_ns; /* of the newest event */
	struct sched_totals totals;
	const struct sched_view *view;
	struct output *output;
	bool begun;
	void (*progress)(void *context, double part);
	void *progress_context;
};

/* ---- tasks ---- */

static struct sched_task *task_new(struct sched *sched, int32_t tid, uint64_t time_ns)
{
	struct sched_task *task = arena_alloc(&sched->arena, sizeof(*task));

	*task = (struct sched_task){
		.index = (uint32_t)sched->n_tasks,
		.tid = tid,
		.pid = -1,
		.ppid = -1,
		.comm = "",
		.seen_ns = time_ns,
		.prio = -1,
	};
	VEC_GROW(sched->tasks, sched->n_tasks, sched->cap_tasks);
	sched->tasks[sched->n_tasks++] = task;
	return task;
}

/* The present one of that number; NULL: it was not seen yet. */
static struct sched_task *task_find(struct sched *sched, int32_t tid)
{
	struct sched_task **recent = &sched->recent[(uint32_t)tid % RECENT];
	uint32_t i;

	if (*recent && (*recent)->tid == tid && !(*recent)->replaced)
		return *recent;
	if (!INDEX_FIND(&sched->by_tid, hash_word((uint32_t)tid), i,
			sched->tasks[i]->tid == tid && !sched->tasks[i]->replaced))
		return NULL;
	*recent = sched->tasks[i];
	return *recent;
}

static struct sched_task *task_add(struct sched *sched, int32_t tid, uint64_t time_ns)
{
	index_add(&sched->by_tid, hash_word((uint32_t)tid), (uint32_t)sched->n_tasks);
	return task_new(sched, tid, time_ns);
}

/* Takes what records say of the task; of one that has ended they say nothing any more. */
static void task_describe(struct sched *sched, struct sched_task *task, const struct thread *thread)
{
	task->named = thread && thread->comm_known;
	if (task->named) {
		task->comm = replay_comm(&sched->session.replay, thread->comm);
		task->pid = thread->pid;
		task->ppid = thread->ppid;
	} else if (thread && task->pid < 0) {
		task->pid = thread->pid;
	}
}

/* The thread of that number, which is mostly the one that the sample was taken in. NULL: none is known. */
static const struct thread *thread_of(struct sched *sched, int32_t tid, const struct thread *sampled)
{
	if (sched->other_numbers)
		return NULL;
	return sampled->tid == tid ? sampled : replay_find_thread(&sched->session.replay, tid);
}

static struct sched_task *task_get(struct sched *sched, int32_t tid, const struct replay_sample *sample)
{
	const struct thread *thread = thread_of(sched, tid, sample->thread);
	const uint64_t time_ns = sample->sample->time_ns;
	struct sched_task *task = task_find(sched, tid);

	if (task && thread && thread->start_ns > task->seen_ns) {
		task->replaced = true;
		task = NULL;
	}
	if (!task)
		task = task_add(sched, tid, time_ns);
	task_describe(sched, task, thread);
	return task;
}

static struct sched_task *idle_get(struct sched *sched, uint32_t cpu, uint64_t time_ns)
{
	struct sched_cpu *state = &sched->cpus[cpu];

	if (!state->idle) {
		state->idle = task_new(sched, 0, time_ns);
		state->idle->pid = 0;
		state->idle->idle_cpu = cpu;
		state->idle->comm = "<idle>";
	}
	return state->idle;
}

/* Task 0 is another one on each CPU. */
static struct sched_task *task_on(struct sched *sched, int32_t tid, const struct replay_sample *sample)
{
	return tid ? task_get(sched, tid, sample) : idle_get(sched, sample->sample->cpu, sample->sample->time_ns);
}

/* The task that an event is about, which has its name, too, where no record told it. */
static struct sched_task *task_of(struct sched *sched, int32_t tid, const struct replay_sample *sample, bool next)
{
	struct sched_task *task = task_on(sched, tid, sample);
	size_t len;
	const char *name = task->named || !tid ? NULL :
						 sched_events_name(sched->events, sample->event, sample->sample, next,
								   &len);

	if (name && len)
		task->comm = texts_get(sched->names, texts_intern(sched->names, name, len));
	return task;
}

/* ---- events ---- */

static void make_ready(struct sched_task *task, uint64_t time_ns, struct sched_task *waker)
{
	task->state = SCHED_READY;
	task->ready_ns = time_ns;
	task->waker = waker;
}

static void switch_out(struct sched_task *task, char state, uint64_t time_ns)
{
	task->out_ns = time_ns;
	task->out_state = state;
	task->migrated_ns = 0;
	task->ready_ns = 0;
	task->state = SCHED_ASLEEP;
	if (state == 'R')
		make_ready(task, time_ns, NULL);
}

static void switch_in(struct sched_task *task, int32_t prio)
{
	if (task->state != SCHED_READY)
		task->ready_ns = 0;
	task->state = SCHED_RUNNING;
	task->prio = prio;
}

static void lose(struct sched_task *task)
{
	task->state = SCHED_UNKNOWN;
	task->out_ns = task->ready_ns = task->migrated_ns = 0;
}

static void take_switch(struct sched *sched, const struct sched_fields *fields, const struct sink_sample *taken)
{
	const struct sample *sample = taken->sample->sample;
	const uint64_t now = sample->time_ns;
	struct sched_cpu *cpu = &sched->cpus[sample->cpu];
	struct sched_switch change = {
		.time_ns = now,
		.cpu = sample->cpu,
		.prev = task_of(sched, (int32_t)fields->number[SWITCH_PREV], taken->sample, false),
		.next = task_of(sched, (int32_t)fields->number[SWITCH_NEXT], taken->sample, true),
		.prev_state = sched_events_state(sched->events, fields->number[SWITCH_STATE]),
		.prev_prio = (int32_t)fields->number[SWITCH_PREV_PRIO],
		.sample = taken,
	};
	struct sched_task *prev = change.prev, *next = change.next;

	sched->totals.n_switches++;
	if (cpu->current && cpu->current != prev) {
		sched->totals.n_mismatched++;
		lose(cpu->current);
	}
	if (cpu->current == prev)
		change.begin_ns = cpu->since_ns;
	change.out_ns = prev->out_ns;
	change.out_state = prev->out_state;
	change.ready_ns = prev->ready_ns;
	change.migrated_ns = prev->migrated_ns;
	change.next_was = next->state;
	change.next_ready_ns = next->state == SCHED_READY ? next->ready_ns : 0;
	change.next_waker = next->state == SCHED_READY ? next->waker : NULL;
	if (sched->view->switched)
		sched->view->switched(sched->view->context, &change);
	switch_out(prev, change.prev_state, now);
	switch_in(next, (int32_t)fields->number[SWITCH_NEXT_PRIO]);
	cpu->current = next;
	cpu->since_ns = now;
}

static struct sched_act act_of(struct sched *sched, const struct sched_fields *fields,
			       const struct replay_sample *sample)
{
	const struct sample *s = sample->sample;

	return (struct sched_act){
		.time_ns = s->time_ns,
		.cpu = s->cpu,
		.by = task_on(sched, fields->current, sample),
		.task = task_of(sched, (int32_t)fields->number[TASK_TID], sample, false),
	};
}

/* A task that runs, or is ready, may be woken, too: that changes nothing. */
static void take_wakeup(struct sched *sched, const struct sched_fields *fields, const struct replay_sample *sample)
{
	struct sched_act act = act_of(sched, fields, sample);

	act.ends_wait = act.task->state != SCHED_RUNNING && act.task->state != SCHED_READY;
	if (act.ends_wait)
		make_ready(act.task, act.time_ns, act.by);
	if (sched->view->woken)
		sched->view->woken(sched->view->context, &act);
}

static void take_migration(struct sched *sched, const struct sched_fields *fields, const struct replay_sample *sample)
{
	struct sched_act act = act_of(sched, fields, sample);

	act.from_cpu = (int32_t)fields->number[TASK_FROM_CPU];
	act.to_cpu = (int32_t)fields->number[TASK_TO_CPU];
	act.task->migrated_ns = act.time_ns;
	if (sched->view->migrated)
		sched->view->migrated(sched->view->context, &act);
}

/* The number is a new task's, also where no record told of the fork. */
static void take_fork(struct sched *sched, const struct sched_fields *fields, const struct replay_sample *sample)
{
	const int32_t tid = (int32_t)fields->number[TASK_TID];
	struct sched_task *task = tid ? task_find(sched, tid) : NULL;

	if (task && task->state != SCHED_NEW)
		task->replaced = true;
	task_of(sched, tid, sample, false);
}

static void take_runtime(struct sched *sched, const struct sched_fields *fields, const struct replay_sample *sample)
{
	struct sched_task *task = task_of(sched, (int32_t)fields->number[TASK_TID], sample, false);

	sched->view->ran(sched->view->context, sample->sample->cpu, task, fields->number[TASK_RUNTIME]);
}

/* ---- the sink ---- */

static int begin(struct sched *sched, struct str *err)
{
	int rc = sched_events_begin(sched->events, sched->session.recording, err);

	sched->begun = !rc;
	if (!rc && sched->view->begin)
		sched->view->begin(sched->view->context);
	return rc;
}

static int begin_file(void *context, struct str *err)
{
	struct sched *sched = context;

	/* A pipe says what it has while it is read. */
	return sched->session.reader->pipe ? 0 : begin(sched, err);
}

/* Only events of the scheduler are read, and among them only those that the view asks for. */
static bool is_unused(struct sched *sched, const struct data_event *event, enum sched_kind *kind)
{
	return !sched_events_know(sched->events, event, kind) || (*kind == SCHED_RUNTIME && !sched->view->ran);
}

static bool skip(void *context, const struct data_event *event)
{
	struct sched *sched = context;
	enum sched_kind kind;

	return sched->begun && is_unused(sched, event, &kind);
}

static int want(void *context, const struct data_event *event, unsigned *wants, struct str *err)
{
	struct sched *sched = context;
	enum sched_kind kind;
	int rc = sched->begun ? 0 : begin(sched, err);

	if (rc || is_unused(sched, event, &kind))
		return rc;
	*wants = SAMPLE_TAKEN;
	if (kind == SCHED_SWITCH && sched->view->chains && (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		*wants |= SAMPLE_CHAIN;
	return 0;
}

static bool has_place(struct sched *sched, const struct sample *sample)
{
	enum { NEEDED = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU };

	if ((sample->has & NEEDED) != NEEDED || sample->cpu >= SCHED_CPUS_MAX)
		return false;
	if (sample->cpu >= sched->n_cpus) {
		sched->cpus = xreallocarray(sched->cpus, sample->cpu + 1U, sizeof(*sched->cpus));
		memset(sched->cpus + sched->n_cpus, 0, (sample->cpu + 1U - sched->n_cpus) * sizeof(*sched->cpus));
		sched->n_cpus = sample->cpu + 1U;
	}
	return true;
}

static int take(void *context, const struct sink_sample *taken, struct str *err)
{
	struct sched *sched = context;
	const struct sample *sample = taken->sample->sample;
	struct sched_fields fields;

	(void)err;
	if (!has_place(sched, sample) || !sched_events_read(sched->events, taken->sample->event, sample, &fields)) {
		sched->totals.n_unfit++;
		return 0;
	}
	if ((sample->has & PERF_SAMPLE_TID) && (int32_t)sample->tid != -1 && (int32_t)sample->tid != fields.current)
		sched->other_numbers = true;
	if (sample->time_ns < sched->last_ns)
		sched->totals.n_backward++;
	sched->last_ns = sample->time_ns;
	switch (fields.kind) {
	case SCHED_SWITCH:
		take_switch(sched, &fields, taken);
		break;
	case SCHED_MIGRATE:
		take_migration(sched, &fields, taken->sample);
		break;
	case SCHED_FORK:
		take_fork(sched, &fields, taken->sample);
		break;
	case SCHED_RUNTIME:
		take_runtime(sched, &fields, taken->sample);
		break;
	default:
		take_wakeup(sched, &fields, taken->sample);
		break;
	}
	return output_step(sched->output);
}

/* Forgets since when the CPU, or each where it is not told which, runs its task. */
static void take_loss(struct sched *sched, const struct record_body *body)
{
	const bool on_cpu = (body->id.has & PERF_SAMPLE_CPU) && body->id.cpu < sched->n_cpus;

	sched->totals.n_lost += body->lost.lost;
	for (size_t i = 0; i < sched->n_cpus; i++)
		if (!on_cpu || i == body->id.cpu)
			sched->cpus[i].since_ns = 0;
	if (sched->view->lost)
		sched->view->lost(sched->view->context, body->id.has & PERF_SAMPLE_TIME ? body->id.time_ns : 0,
				  on_cpu ? (int64_t)body->id.cpu : -1, body->lost.lost);
}

static int take_other(void *context, const struct record *record, const struct record_body *body,
		      const struct thread *thread, struct str *err)
{
	struct sched *sched = context;

	(void)thread, (void)err;
	if (record->type == RECORD_LOST && sched->begun)
		take_loss(sched, body);
	return output_step(sched->output);
}

static void on_progress(void *context, double part)
{
	const struct sched *sched = context;

	sched->progress(sched->progress_context, part);
}

/* ---- the recording ---- */

int sched_new(struct sched **out, const struct sched_options *options, struct reader *reader, struct str *err)
{
	const struct filter_options all = { .comms = NULL };
	struct sched *sched = *out = xcalloc(1, sizeof(*sched));
	int rc = session_init(&sched->session, reader, &options->session, err);

	sched->events = sched_events_new();
	sched->names = texts_new();
	return rc ? rc : filters_new(&sched->filters, &all, &sched->session, err);
}

void sched_free(struct sched *sched)
{
	if (!sched)
		return;
	filters_free(sched->filters);
	session_release(&sched->session);
	sched_events_free(sched->events);
	texts_free(sched->names);
	index_release(&sched->by_tid);
	arena_release(&sched->arena);
	free(sched->tasks);
	free(sched->cpus);
	free(sched);
}

int sched_read(struct sched *sched, const struct sched_view *view, struct output *output,
	       void (*progress)(void *context, double part), void *context, struct str *err)
{
	const struct sample_sink sink = { .context = sched, .begin = begin_file, .wants = want, .skips = skip,
					  .sample = take, .other = take_other, .progress = on_progress };
	int rc;

	sched->view = view;
	sched->output = output;
	sched->progress = progress;
	sched->progress_context = context;
	rc = sample_stream_run(&sched->session, sched->filters, &sink, err);
	/* A pipe without a sample. */
	return rc || sched->begun ? rc : begin(sched, err);
}

struct session *sched_session(struct sched *sched)
{
	return &sched->session;
}

const char *sched_next_name(struct sched *sched, const struct sched_switch *change, size_t *len)
{
	const struct replay_sample *sample = change->sample->sample;

	return sched_events_name(sched->events, sample->event, sample->sample, true, len);
}

uint32_t sched_n_cpus(const struct sched *sched)
{
	const uint32_t online = sched->session.recording->info->cpus_online;

	return online > sched->n_cpus && online <= SCHED_CPUS_MAX ? online : (uint32_t)sched->n_cpus;
}

bool sched_saw_cpu(const struct sched *sched, uint32_t cpu)
{
	return cpu < sched->n_cpus && sched->cpus[cpu].current;
}

const struct sched_task *sched_idle_task(const struct sched *sched, uint32_t cpu)
{
	return cpu < sched->n_cpus ? sched->cpus[cpu].idle : NULL;
}

bool sched_has_chains(const struct sched *sched)
{
	return sched_events_have_chains(sched->events);
}

bool sched_has_runtime(const struct sched *sched)
{
	return sched_events_have(sched->events, SCHED_RUNTIME);
}

struct sched_task *const *sched_tasks(const struct sched *sched, size_t *n)
{
	*n = sched->n_tasks;
	return sched->tasks;
}

const struct sched_totals *sched_totals(const struct sched *sched)
{
	return &sched->totals;
}
