/* SPDX-License-Identifier: MIT */
/*
 * replay_run.c: from the first record to the last. A record with a time waits in `order` for its round;
 * those of the recorder (type 64 and above), synthesized ones (time 0) and all, where nothing has a
 * time, take effect at once.
 *
 * A caller who feeds for ever has names, files and ended processes forgotten that nobody has any more; numbers of names
 * and files may then be given to others.
 */
#include "replay/process_events.h"
#include "replay/state.h"

#include <stdlib.h>

enum {
	QUEUE_BYTES = 256 << 20,
	PROGRESS_EVERY = 16384, /* records */
	PASSED_BYTES = 2 << 20, /* delivered, after which the source is told */
	PASSED_SPREAD = 64, /* but not where they lie over so many times as much */
};

void replay_init(struct replay *replay, const struct recording_info *recording,
		 const struct replay_options *options)
{
	struct replay_private *p = xcalloc(1, sizeof(*p));

	memset(replay, 0, sizeof(*replay));
	replay->recording = recording;
	replay->options = *options;
	if (!replay->options.queue_bytes)
		replay->options.queue_bytes = QUEUE_BYTES;
	replay->private = p;
	replay->on_cpu = 1;
	replay->kernel = xcalloc(1, sizeof(*replay->kernel));
	replay->guest_kernel = xcalloc(1, sizeof(*replay->guest_kernel));
	order_init(&p->order, recording->decoder->swap);
	process_table_init(replay);
	process_events_take_build_ids(replay);
}

void replay_release(struct replay *replay)
{
	struct replay_private *p = replay->private;

	if (!p)
		return;
	memset(&p->handlers, 0, sizeof(p->handlers));
	deferred_release(replay);
	process_table_release(replay);
	order_release(&p->order);
	address_space_release(replay->kernel);
	address_space_release(replay->guest_kernel);
	address_space_release(&p->kernel_covered);
	address_space_release(&p->guest_covered);
	free(replay->kernel);
	free(replay->guest_kernel);
	dso_table_release(&replay->dsos);
	process_history_release(&replay->private->history);
	process_events_release(replay);
	text_table_release(&p->comms);
	text_table_release(&p->cgroups);
	free(p);
	memset(replay, 0, sizeof(*replay));
}

static void note_passed(struct replay *replay, const struct record *record)
{
	struct record_source *source = replay->private->handlers.source;
	struct passed *passed = &replay->private->passed;
	const uint8_t *end = record->bytes + record->size;

	if (!source || !source->passed || !record->stable)
		return;
	if (!passed->bytes || record->bytes < passed->from)
		passed->from = record->bytes;
	if (!passed->bytes || end > passed->to)
		passed->to = end;
	passed->bytes += record->size;
	if (passed->bytes < PASSED_BYTES)
		return;
	if ((uintptr_t)passed->to - (uintptr_t)passed->from < (uintptr_t)PASSED_SPREAD * PASSED_BYTES)
		source->passed(source, passed->from, passed->to);
	passed->bytes = 0;
}

/* Delivers a record that waited. */
static int deliver(struct replay *replay, const struct record *record, uint64_t time_ns, struct str *err)
{
	int rc = process_events_take(replay, record, true, time_ns, err);

	note_passed(replay, record);
	return rc;
}

/* All that may go now. */
static int drain(struct replay *replay, struct str *err)
{
	struct order *order = &replay->private->order;
	struct record record;
	uint64_t time_ns;
	int rc = 0;

	while (!rc && order_next(order, &record, &time_ns))
		rc = deliver(replay, &record, time_ns, err);
	return rc;
}

void replay_ready(struct replay *replay, bool end)
{
	struct order *order = &replay->private->order;

	if (end)
		order_all(order);
	else if (!replay->options.file_order)
		order_round(order);
}

int replay_deliver(struct replay *replay, size_t max, struct str *err)
{
	struct order *order = &replay->private->order;
	struct record record;
	uint64_t time_ns;

	for (size_t i = 0; i < max; i++) {
		int rc;

		if (!order_next(order, &record, &time_ns))
			return 0;
		rc = deliver(replay, &record, time_ns, err);
		if (rc)
			return rc;
	}
	return 1;
}

void replay_begin(struct replay *replay, const struct replay_handlers *handlers)
{
	replay->private->handlers = *handlers;
}

int replay_round(struct replay *replay, struct str *err)
{
	if (replay->options.file_order)
		return 0;
	order_round(&replay->private->order);
	return drain(replay, err);
}

int replay_make_room(struct replay *replay, struct str *err)
{
	struct order *order = &replay->private->order;

	order_half(order);
	replay->counts.forced += order->ready - order->at;
	return drain(replay, err);
}

/* True: the record waits for others, at *time_ns; false: it takes effect at once. */
static bool must_wait(struct replay *replay, const struct record *record, uint64_t *time_ns)
{
	const struct order *order = &replay->private->order;

	if (replay->options.file_order || record->type >= RECORD_USER_FIRST)
		return false;
	if (record_time(replay->recording->decoder, record, time_ns))
		return *time_ns && *time_ns != UINT64_MAX;
	/* A record without a time stays after the one before it, if that one waits. */
	if (order->n == order->ready)
		return false;
	*time_ns = order->last_ns;
	return true;
}

/* True: it is a sample of an event that nobody wants, and is counted. */
static bool skip_sample(struct replay *replay, const struct record *record)
{
	const struct replay_handlers *handlers = &replay->private->handlers;
	const struct data_event *event;

	if (!handlers->skips || record->type != RECORD_SAMPLE)
		return false;
	event = record_event(replay->recording->decoder, record);
	if (!event || !handlers->skips(handlers->context, event))
		return false;
	replay->counts.records++;
	replay->counts.samples++;
	return true;
}

int replay_feed(struct replay *replay, const struct record *record, struct str *err)
{
	struct order *order = &replay->private->order;
	uint64_t time_ns = 0;

	if (skip_sample(replay, record))
		return 0;
	if (must_wait(replay, record, &time_ns)) {
		order_add(order, record, time_ns, record->stable);
		return order->bytes > replay->options.queue_bytes ? replay_make_room(replay, err) : 0;
	}
	return process_events_take(replay, record, time_ns && time_ns != UINT64_MAX, time_ns, err);
}

int replay_end(struct replay *replay, struct str *err)
{
	struct record_source *source = replay->private->handlers.source;
	int rc;

	order_all(&replay->private->order);
	rc = drain(replay, err);
	if (source && source->passed)
		source->passed(source, NULL, (const uint8_t *)UINTPTR_MAX);
	return rc ? rc : process_events_end(replay, err);
}

/* ---- the whole of a source ---- */

static void tell_progress(const struct replay *replay, const struct record_source *source)
{
	const struct replay_handlers *handlers = &replay->private->handlers;

	if (handlers->progress)
		handlers->progress(handlers->context, source->part(source));
}

/* 0, or the source's error with its sentence in why. *stopped: what a handler returned, with it in err. */
static int feed_all(struct replay *replay, struct record_source *source, int *stopped, struct str *why,
		    struct str *err)
{
	struct record record;
	uint64_t n = 0;
	int rc = 0;

	while (!*stopped && (rc = source->next(source, &record, why)) > 0) {
		*stopped = rc == SOURCE_ROUND ? replay_round(replay, err)
					      : replay_feed(replay, &record, err);
		if (++n % PROGRESS_EVERY == 0)
			tell_progress(replay, source);
	}
	return rc < 0 ? rc : 0;
}

int replay_run(struct replay *replay, struct record_source *source, const struct replay_handlers *handlers,
	       struct str *err)
{
	struct str why = STR_INIT;
	int stopped = 0, rc;

	replay_begin(replay, handlers);
	replay->private->handlers.source = source;
	rc = feed_all(replay, source, &stopped, &why, err);
	if (!stopped)
		stopped = replay_end(replay, err);
	if (!stopped && rc)
		fail(err, rc, "%s", why.s);
	str_release(&why);
	return stopped ? stopped : rc;
}

const char *replay_comm(const struct replay *replay, uint32_t comm)
{
	const struct text_table *comms = &replay->private->comms;

	return comm < comms->n && comms->v[comm] ? comms->v[comm] : "";
}

uint32_t replay_n_comms(const struct replay *replay)
{
	return (uint32_t)replay->private->comms.n;
}

/* ---- for those who feed for ever ---- */

void replay_keep_comms(struct replay *replay, bool *used)
{
	const struct deferred *deferred = &replay->private->deferred;

	for (size_t i = 0; i < replay->n_threads; i++)
		used[replay->threads[i]->comm] = true;
	for (const struct held_sample *held = deferred->oldest; held; held = held->newer)
		used[held->comm] = true;
	text_table_keep(&replay->private->comms, used);
}

static void mark_maps(const struct address_space *space, bool *used)
{
	const struct map *map = NULL;

	while ((map = address_space_next(space, map)))
		if (map->dso)
			used[map->dso->index] = true;
}

void replay_mark_dsos(const struct replay *replay, bool *used)
{
	const struct process *last = NULL;

	mark_maps(replay->kernel, used);
	mark_maps(replay->guest_kernel, used);
	for (size_t i = 0; i < replay->n_threads; i++) {
		const struct process *process = task_of(replay->threads[i])->process;

		if (process == last)
			continue;
		mark_maps(&process->address_space, used);
		mark_maps(&process->before_exec, used);
		last = process;
	}
}

uint32_t *replay_keep_dsos(struct replay *replay, const bool *used)
{
	uint32_t *now = dso_table_keep(&replay->dsos, used);

	process_history_renumber(&replay->private->history, now);
	return now;
}

/* Samples of a process that has ended may still come as long as its threads are there. */
static bool has_threads(const void *replay, int32_t pid)
{
	return process_table_has(replay, pid);
}

void replay_forget_processes(struct replay *replay)
{
	process_history_forget(&replay->private->history, has_threads, replay);
}
