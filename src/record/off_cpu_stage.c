/* SPDX-License-Identifier: MIT */
/*
 * off_cpu_stage.c: see off_cpu_stage.h. Records go in the order of time through a replay, which also keeps the threads;
 * each has a struct waiter:
 *
 *	                     sample: keeps the stack     SWITCH out
 *	UNKNOWN, NEW (by FORK) ------------------------------------> WAITING
 *	      |                                                         |
 *	      '------ SWITCH in ------> RUNNING <------ SWITCH in ------'  a sample is written
 *
 * What comes in a state where it cannot be, is because a record is not there: it is counted, and the state is the one
 * that the record tells. A thread that has ended switches once more, which is no wait. Where both records of a time on
 * the CPU are lost, two waits look like one: those during which the kernel has lost records are counted.
 */
#include "record/off_cpu_stage.h"

#include "replay/replay.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	HELD_BYTES = 64 << 20,
	HALVES_MAX = 64,
	FORGET_EVERY = 256, /* rounds: what is known of processes that have ended */
};

/* The sample of a switch, until the thread is back. */
struct kept_stack {
	struct kept_stack *next; /* among the idle ones */
	size_t index;
	struct str record;
};

/* A SWITCH record of a return, which waits for its turn in the order of time, and what comes in its place. */
struct comeback {
	struct comeback *next; /* among the idle or the done ones */
	size_t index;
	uint64_t ticket;
	bool after_loss; /* the record before it in its ring is the one of a loss */
	struct str out;
};

struct waiter {
	struct waiter *next; /* among those whose threads are gone */
	enum { WAITER_UNKNOWN, WAITER_NEW, WAITER_RUNNING, WAITER_WAITING } state;
	bool ended; /* its EXIT has come */
	bool preempted;
	uint32_t pid, tid, cpu;
	uint64_t id; /* of the event */
	uint64_t out_ns;
	struct kept_stack *stack; /* or NULL */
	struct kept_stack *waker; /* of the wakeup that ends the wait; or NULL */
};

struct off_cpu_stage {
	struct off_cpu_stage_options options;
	const struct events *recorded;
	const struct data_event *event, *wakeups; /* of recorded; wakeups may be NULL */
	struct events written;
	const struct data_event *written_event, *written_wakeups; /* of the waits, and of what ended them */
	bool wall; /* that is the clock */
	struct stage *stage;
	struct off_cpu_totals totals;
	uint64_t newest_ns;
	bool after_loss; /* the record taken last is the one of a loss */
	uint64_t lost_ns; /* in the order of time: when the last loss was recorded; 0: there was none */
	_Atomic uint64_t from_ns, until_ns; /* switches count from the one up to the other */

	/* Threads, and the order of time. */
	struct info info;
	struct note_list notes; /* of records that made no sense */
	struct decoder decoder, stack_decoder;
	struct recording_info recording;
	struct replay replay;
	uint64_t rounds;

	struct kept_stack **stacks; /* all, by index */
	size_t n_stacks, cap_stacks;
	struct kept_stack *idle_stacks;
	struct comeback **comebacks; /* all, by index */
	size_t n_comebacks, cap_comebacks;
	struct comeback *idle_comebacks, *done;
	struct waiter *gone; /* threads that waited when switches no longer counted, and have ended since */
};

/* ---- memory that is used again ---- */

static struct kept_stack *stack_get(struct off_cpu_stage *off)
{
	struct kept_stack *stack = off->idle_stacks;

	if (stack) {
		off->idle_stacks = stack->next;
		return stack;
	}
	stack = xcalloc(1, sizeof(*stack));
	str_init(&stack->record);
	stack->index = off->n_stacks;
	VEC_GROW(off->stacks, off->n_stacks, off->cap_stacks);
	off->stacks[off->n_stacks++] = stack;
	return stack;
}

static void stack_put(struct off_cpu_stage *off, struct kept_stack *stack)
{
	if (!stack)
		return;
	stack->next = off->idle_stacks;
	off->idle_stacks = stack;
}

static struct comeback *comeback_get(struct off_cpu_stage *off)
{
	struct comeback *comeback = off->idle_comebacks;

	if (comeback) {
		off->idle_comebacks = comeback->next;
		return comeback;
	}
	comeback = xcalloc(1, sizeof(*comeback));
	str_init(&comeback->out);
	comeback->index = off->n_comebacks;
	VEC_GROW(off->comebacks, off->n_comebacks, off->cap_comebacks);
	off->comebacks[off->n_comebacks++] = comeback;
	return comeback;
}

static struct waiter *waiter_of(struct thread *thread)
{
	if (!thread->user)
		thread->user = xcalloc(1, sizeof(struct waiter));
	return thread->user;
}

static void waiter_free(struct off_cpu_stage *off, struct waiter *waiter)
{
	if (!waiter)
		return;
	stack_put(off, waiter->stack);
	stack_put(off, waiter->waker);
	free(waiter);
}

static void free_gone(struct off_cpu_stage *off)
{
	struct waiter *waiter;

	while ((waiter = off->gone) != NULL) {
		off->gone = waiter->next;
		waiter_free(off, waiter);
	}
}

/* ---- what is written ---- */

/* The innermost user frame; 0: there is none. */
static uint64_t user_ip(const struct sample *sample)
{
	uint8_t mode = MISC_KERNEL;

	for (uint64_t i = 0; i < sample->n_ips; i++)
		if (!context_mode(sample->ips[i], &mode) && mode == MISC_USER)
			return sample->ips[i];
	return 0;
}

/*
 * Fills in the sample of the switch. Its own address is in the scheduler, of whatever wait: the place that tells waits
 * apart is the one in the program that waited.
 */
static void take_stack(struct off_cpu_stage *off, const struct kept_stack *stack, struct record_body *body)
{
	struct record_body kept;
	struct record record;
	struct str why = STR_INIT;
	uint64_t ip;

	record_from_bytes(&record, (const uint8_t *)stack->record.s, 0, false);
	if (!record_decode(&off->stack_decoder, &record, &kept, &why)) {
		ip = user_ip(&kept.sample);
		body->misc = ip ? MISC_USER : kept.misc & MISC_CPUMODE_MASK;
		body->sample = kept.sample;
		body->sample.ip = ip ? ip : kept.sample.ip;
	}
	str_release(&why);
}

static void count_wait(struct off_cpu_totals *totals, const struct waiter *waiter, uint64_t wait_ns, bool spans_loss)
{
	totals->waits++;
	totals->ns += wait_ns;
	totals->no_stack += !waiter->stack;
	totals->over_losses += spans_loss;
	totals->over_losses_ns += spans_loss ? wait_ns : 0;
}

/* Writes the wait unless it is too short. */
static int write_wait(struct off_cpu_stage *off, const struct waiter *waiter, uint64_t wait_ns, uint64_t time_ns,
		      uint32_t cpu, bool after_loss, struct str *out, struct str *err)
{
	struct record_body body = { .type = RECORD_SAMPLE, .misc = MISC_USER };

	if (wait_ns < off->options.least_ns) {
		off->totals.short_waits++;
		off->totals.short_ns += wait_ns;
		return 0;
	}
	count_wait(&off->totals, waiter, wait_ns, after_loss || waiter->out_ns < off->lost_ns);
	if (waiter->stack)
		take_stack(off, waiter->stack, &body);
	if (waiter->preempted)
		body.misc |= MISC_SWITCH_OUT_PREEMPT;
	if (off->wall)
		body.misc |= MISC_SWITCH_OUT;
	body.sample.id = off->wall ? off->written_event->ids[0] : waiter->id;
	body.sample.pid = waiter->pid;
	body.sample.tid = waiter->tid;
	body.sample.cpu = cpu;
	body.sample.time_ns = time_ns;
	body.sample.period = wait_ns;
	return record_encode(&body, off->written_event, out, err);
}

/* Writes the sample of the wakeup as one of what it ended. */
static int write_waker(struct off_cpu_stage *off, const struct kept_stack *waker, uint64_t wait_ns, uint64_t time_ns,
		       struct str *out, struct str *err)
{
	struct record_body body;
	struct record record;

	record_from_bytes(&record, (const uint8_t *)waker->record.s, 0, false);
	if (record_decode(&off->stack_decoder, &record, &body, err))
		return -EINVAL;
	body.sample.time_ns = time_ns;
	body.sample.period = wait_ns;
	return record_encode(&body, off->written_wakeups, out, err);
}

/* ---- in the order of time ---- */

/* Whether all events ran then. */
static bool is_watched(const struct off_cpu_stage *off, uint64_t time_ns)
{
	return time_ns >= atomic_load(&off->from_ns) && time_ns <= atomic_load(&off->until_ns);
}

/* The thread that a wakeup is of; -1: its data is too short. */
static int32_t woken_tid(const struct off_cpu_stage *off, const struct sample *wakeup)
{
	int32_t tid = -1;

	if (wakeup->raw_size >= off->options.woken_at + sizeof(tid))
		memcpy(&tid, (const uint8_t *)wakeup->raw + off->options.woken_at, sizeof(tid));
	return tid;
}

/* Keeps the wakeup of a thread that waits, in place of an earlier one. */
static void keep_waker(struct off_cpu_stage *off, const struct replay *replay, const struct sample *wakeup,
		       struct kept_stack *stack)
{
	struct thread *woken = replay_find_thread(replay, woken_tid(off, wakeup));
	struct waiter *waiter = woken ? woken->user : NULL;

	if (!waiter || waiter->state != WAITER_WAITING || !is_watched(off, wakeup->time_ns)) {
		stack_put(off, stack);
		return;
	}
	stack_put(off, waiter->waker);
	waiter->waker = stack;
}

/* The stack's index stands where a file's offset would. */
static int sample_in_order(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct off_cpu_stage *off = context;
	struct kept_stack *stack = off->stacks[sample->record->offset];
	struct waiter *waiter;

	(void)err;
	if (sample->event == off->wakeups) {
		keep_waker(off, replay, sample->sample, stack);
		return 0;
	}
	waiter = waiter_of(sample->thread);
	if (waiter->ended || sample->sample->time_ns > atomic_load(&off->until_ns)) {
		stack_put(off, stack);
		return 0;
	}
	stack_put(off, waiter->stack);
	waiter->stack = stack;
	return 0;
}

static void drop_stack(struct off_cpu_stage *off, struct waiter *waiter)
{
	stack_put(off, waiter->stack);
	stack_put(off, waiter->waker);
	waiter->stack = waiter->waker = NULL;
}

static void goes_out(struct off_cpu_stage *off, struct waiter *waiter, const struct record_body *body)
{
	off->totals.unpaired += waiter->state == WAITER_WAITING;
	stack_put(off, waiter->waker);
	waiter->waker = NULL;
	waiter->state = WAITER_WAITING;
	waiter->preempted = body->misc & MISC_SWITCH_OUT_PREEMPT;
	waiter->pid = body->id.pid;
	waiter->tid = body->id.tid;
	waiter->cpu = body->id.cpu;
	waiter->id = body->id.id;
	waiter->out_ns = body->id.time_ns;
}

static int write_ended_wait(struct off_cpu_stage *off, const struct waiter *waiter, uint64_t to_ns, uint32_t cpu,
			    struct comeback *comeback, struct str *err)
{
	uint64_t wait_ns = to_ns - waiter->out_ns;
	int rc = write_wait(off, waiter, wait_ns, to_ns, cpu, comeback->after_loss, &comeback->out, err);

	if (rc || wait_ns < off->options.least_ns || waiter->preempted)
		return rc;
	off->totals.slept++;
	if (!waiter->waker)
		return 0;
	off->totals.woken++;
	return write_waker(off, waiter->waker, wait_ns, to_ns, &comeback->out, err);
}

static int comes_back(struct off_cpu_stage *off, struct waiter *waiter, const struct record_body *body,
		      struct comeback *comeback, struct str *err)
{
	bool waits = waiter->state == WAITER_WAITING, backwards = waits && body->id.time_ns < waiter->out_ns;
	int rc = 0;

	off->totals.begun_before += waiter->state == WAITER_UNKNOWN;
	off->totals.unpaired += waiter->state == WAITER_RUNNING;
	off->totals.backwards += backwards;
	if (waits && !backwards)
		rc = write_ended_wait(off, waiter, body->id.time_ns, body->id.cpu, comeback, err);
	waiter->state = WAITER_RUNNING;
	drop_stack(off, waiter);
	return rc;
}

/* A record of a return has its comeback's index + 1 in place of a file's offset, others have 0. */
static int switch_in_order(struct off_cpu_stage *off, const struct record *record, const struct record_body *body,
			   struct thread *thread, struct str *err)
{
	struct comeback *comeback = record->offset ? off->comebacks[record->offset - 1] : NULL;
	struct waiter *waiter = thread ? waiter_of(thread) : NULL;
	bool counts = is_watched(off, body->id.time_ns) && !(waiter && waiter->ended);
	int rc = 0;

	if (counts && !waiter)
		off->totals.begun_before += comeback != NULL;
	else if (counts && comeback)
		rc = comes_back(off, waiter, body, comeback, err);
	else if (counts)
		goes_out(off, waiter, body);
	else if (waiter && waiter->state != WAITER_WAITING)
		drop_stack(off, waiter);
	if (comeback) {
		comeback->next = off->done;
		off->done = comeback;
	}
	return rc;
}

static int other_in_order(void *context, struct replay *replay, const struct record *record,
			  const struct record_body *body, struct thread *thread, struct str *err)
{
	struct off_cpu_stage *off = context;
	struct waiter *waiter;

	(void)replay;
	if (record->type == RECORD_SWITCH || record->type == RECORD_SWITCH_CPU_WIDE)
		return switch_in_order(off, record, body, thread, err);
	if (record->type == RECORD_LOST)
		off->lost_ns = body->id.time_ns;
	if (record->type == RECORD_LOST || !thread)
		return 0;
	waiter = waiter_of(thread);
	if (record->type == RECORD_FORK) {
		waiter->state = thread->start_ns ? WAITER_NEW : WAITER_UNKNOWN;
	} else if (record->type == RECORD_EXIT) {
		waiter->ended = true;
		if (!is_watched(off, body->id.time_ns))
			return 0;
		off->totals.unpaired += waiter->state == WAITER_WAITING;
		waiter->state = WAITER_UNKNOWN;
	} else if (record->type == RECORD_COMM && (body->misc & MISC_COMM_EXEC)) {
		/* A thread that executes a program takes the number of the process's first one, which has ended. */
		waiter->ended = false;
	}
	return 0;
}

static void thread_gone(void *context, struct thread *thread)
{
	struct off_cpu_stage *off = context;
	struct waiter *waiter = thread->user;

	thread->user = NULL;
	if (waiter && waiter->ended && waiter->state == WAITER_WAITING) {
		waiter->next = off->gone;
		off->gone = waiter;
		return;
	}
	waiter_free(off, waiter);
}

static int feed(struct off_cpu_stage *off, const void *bytes, size_t index, bool stable, struct str *err)
{
	struct record record;

	record_from_bytes(&record, bytes, index, false);
	record.stable = stable;
	return replay_feed(&off->replay, &record, err);
}

/* ---- the stage ---- */

/* Thread 0 is a CPU that idles; a thread whose number has been given back has ended. */
static bool is_task(uint32_t tid)
{
	return tid && tid != UINT32_MAX;
}

static int take_sample(struct off_cpu_stage *off, const struct perf_event_header *header,
		       const struct record_body *body, struct str *err)
{
	struct kept_stack *stack;
	int rc;

	/* An interrupt may wake while the CPU idles. */
	if (!is_task(body->sample.tid) && body->event != off->wakeups)
		return STAGE_REPLACED;
	stack = stack_get(off);
	str_reset(&stack->record);
	str_addn(&stack->record, (const char *)header, header->size);
	rc = feed(off, stack->record.s, stack->index, true, err);
	return rc ? rc : STAGE_REPLACED;
}

static int take_switch(struct off_cpu_stage *off, const struct perf_event_header *header,
		       const struct record_body *body, bool after_loss, uint64_t ticket, struct str *err)
{
	struct comeback *comeback;
	int rc;

	if (!is_task(body->id.tid))
		return STAGE_REPLACED;
	if (body->misc & MISC_SWITCH_OUT) {
		rc = feed(off, header, 0, false, err);
		return rc ? rc : STAGE_REPLACED;
	}
	comeback = comeback_get(off);
	comeback->ticket = ticket;
	comeback->after_loss = after_loss;
	str_reset(&comeback->out);
	rc = feed(off, header, comeback->index + 1, false, err);
	return rc ? rc : STAGE_LATER;
}

static bool is_of_tasks(uint32_t type)
{
	return type == RECORD_FORK || type == RECORD_EXIT || type == RECORD_COMM;
}

static bool is_of_interest(uint32_t type)
{
	return type == RECORD_SAMPLE || type == RECORD_SWITCH || type == RECORD_SWITCH_CPU_WIDE ||
	       type == RECORD_LOST || is_of_tasks(type);
}

static int take(void *data, const struct perf_event_header *header, uint64_t ticket, struct str *out, struct str *err)
{
	struct off_cpu_stage *off = data;
	struct str why = STR_INIT;
	struct record_body body;
	struct record record;
	bool after_loss = off->after_loss;
	int rc;

	(void)out;
	off->after_loss = header->type == RECORD_LOST;
	if (!is_of_interest(header->type))
		return STAGE_PASS;
	record_from_bytes(&record, (const uint8_t *)header, 0, false);
	rc = record_decode(&off->decoder, &record, &body, &why);
	str_release(&why);
	if (!rc && (body.id.has & PERF_SAMPLE_TIME) && body.id.time_ns > off->newest_ns)
		off->newest_ns = body.id.time_ns;
	if (header->type == RECORD_LOST || is_of_tasks(header->type))
		return feed(off, header, 0, false, err);
	if (!body.event || (body.event != off->event && body.event != off->wakeups))
		return STAGE_PASS;
	if (rc) {
		off->stage->lost += header->type == RECORD_SAMPLE;
		return STAGE_REPLACED;
	}
	if (header->type == RECORD_SAMPLE)
		return take_sample(off, header, &body, err);
	return take_switch(off, header, &body, after_loss, ticket, err);
}

static int collect(void *data, bool wait, uint64_t *ticket, struct str *out, struct str *err)
{
	struct off_cpu_stage *off = data;
	struct comeback *comeback;
	int rc = 0;

	/* Each turn releases the older half of what waits; HALVES_MAX halvings empty any queue. */
	for (int i = 0; !rc && wait && !off->done && i < HALVES_MAX; i++)
		rc = replay_make_room(&off->replay, err);
	comeback = off->done;
	if (rc || !comeback)
		return rc;
	off->done = comeback->next;
	*ticket = comeback->ticket;
	str_addn(out, comeback->out.s, comeback->out.len);
	comeback->next = off->idle_comebacks;
	off->idle_comebacks = comeback;
	return 1;
}

static int round_ends(void *data, struct str *err)
{
	struct off_cpu_stage *off = data;
	int rc = replay_round(&off->replay, err);

	if (++off->rounds % FORGET_EVERY == 0)
		replay_forget_processes(&off->replay);
	return rc;
}

/* Writes one whose sample has the time of the last record, as nothing older may follow what has been handed on. */
static int write_open_wait(struct off_cpu_stage *off, const struct waiter *waiter, struct str *out, struct str *err)
{
	uint64_t until_ns = atomic_load(&off->until_ns), waits = off->totals.waits;
	uint64_t end_ns = until_ns < UINT64_MAX ? until_ns : off->newest_ns;
	int rc;

	if (!waiter || waiter->state != WAITER_WAITING)
		return 0;
	/* A thread may have left after the end, while that was not known yet. */
	rc = write_wait(off, waiter, end_ns > waiter->out_ns ? end_ns - waiter->out_ns : 0,
			end_ns > off->newest_ns ? end_ns : off->newest_ns, waiter->cpu, off->after_loss, out, err);
	off->totals.open += off->totals.waits - waits;
	return rc;
}

static int write_open_waits(void *data, struct str *out, struct str *err)
{
	struct off_cpu_stage *off = data;
	int rc = replay_end(&off->replay, err);

	for (size_t i = 0; !rc && i < off->replay.n_threads; i++)
		rc = write_open_wait(off, off->replay.threads[i]->user, out, err);
	for (struct waiter *waiter = off->gone; !rc && waiter; waiter = waiter->next)
		rc = write_open_wait(off, waiter, out, err);
	return rc;
}

static const struct stage_ops ops = { .take = take, .collect = collect, .round = round_ends,
				      .end = write_open_waits };

/* ---- beginning and end ---- */

static void describe_written(struct off_cpu_stage *off, size_t event)
{
	struct events changed;
	size_t to;

	events_init(&changed);
	events_copy(&changed, off->recorded);
	to = events_turn_to_waits(&changed, event, off->options.wall);
	off->wall = to != event;
	if (off->options.woken_at) {
		free(changed.v[off->options.wakeups]->name);
		changed.v[off->options.wakeups]->name = xstrdup("offcpu-wakers");
	}
	events_copy(&off->written, &changed);
	events_release(&changed);
	off->written_event = off->written.v[to];
	if (off->options.woken_at)
		off->written_wakeups = off->written.v[off->options.wakeups];
}

struct off_cpu_stage *off_cpu_stage_new(const struct events *recorded, size_t event,
					const struct off_cpu_stage_options *options)
{
	static const struct replay_options in_order = { .file_order = false };
	struct off_cpu_stage *off = xcalloc(1, sizeof(*off));
	const struct replay_handlers handlers = { .context = off, .sample = sample_in_order,
						  .other = other_in_order, .thread_gone = thread_gone };

	off->options = *options;
	off_cpu_stage_count_from(off, 0);
	off->recorded = recorded;
	off->event = recorded->v[event];
	if (options->woken_at)
		off->wakeups = recorded->v[options->wakeups];
	events_init(&off->written);
	describe_written(off, event);
	info_init(&off->info);
	decoder_init(&off->decoder, recorded, false);
	decoder_init(&off->stack_decoder, recorded, false);
	off->recording = (struct recording_info){ .events = recorded, .info = &off->info, .decoder = &off->decoder,
						  .notes = &off->notes };
	replay_init(&off->replay, &off->recording, &in_order);
	replay_begin(&off->replay, &handlers);
	return off;
}

void off_cpu_stage_free(struct off_cpu_stage *off)
{
	if (!off)
		return;
	stage_free(off->stage);
	for (size_t i = 0; i < off->replay.n_threads; i++)
		waiter_free(off, off->replay.threads[i]->user);
	free_gone(off);
	replay_release(&off->replay);
	for (size_t i = 0; i < off->n_stacks; i++) {
		str_release(&off->stacks[i]->record);
		free(off->stacks[i]);
	}
	free(off->stacks);
	for (size_t i = 0; i < off->n_comebacks; i++) {
		str_release(&off->comebacks[i]->out);
		free(off->comebacks[i]);
	}
	free(off->comebacks);
	decoder_release(&off->decoder);
	decoder_release(&off->stack_decoder);
	events_release(&off->written);
	info_release(&off->info);
	note_list_release(&off->notes);
	free(off);
}

const struct events *off_cpu_stage_written(const struct off_cpu_stage *off)
{
	return &off->written;
}

struct stage *off_cpu_stage_begin(struct off_cpu_stage *off, struct record_sink *next)
{
	size_t held_bytes = off->options.held_bytes ? off->options.held_bytes : HELD_BYTES;

	off->stage = stage_new(&ops, off, &off->written, next, held_bytes);
	return off->stage;
}

void off_cpu_stage_interrupted(struct off_cpu_stage *off)
{
	for (size_t i = 0; i < off->replay.n_threads; i++) {
		struct waiter *waiter = off->replay.threads[i]->user;

		if (waiter)
			waiter->state = WAITER_UNKNOWN;
	}
	free_gone(off);
}

void off_cpu_stage_count_from(struct off_cpu_stage *off, uint64_t time_ns)
{
	atomic_store(&off->from_ns, time_ns);
	atomic_store(&off->until_ns, UINT64_MAX);
}

void off_cpu_stage_count_until(struct off_cpu_stage *off, uint64_t time_ns)
{
	if (time_ns < atomic_load(&off->until_ns))
		atomic_store(&off->until_ns, time_ns);
}

size_t off_cpu_stage_stacks(const struct off_cpu_stage *off)
{
	return off->n_stacks;
}

void off_cpu_stage_count(const struct off_cpu_stage *off, struct off_cpu_totals *totals)
{
	*totals = off->totals;
}
