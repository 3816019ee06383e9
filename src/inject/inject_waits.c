/* SPDX-License-Identifier: MIT */
/*
 * inject_waits.c: -s: where tasks slept, and how long. A task that sleeps has left a sample of sched:sched_switch, with
 * its stack; when it is woken, the kernel tells in sched:sched_stat_* for how long it slept, in another task. The two
 * become one sample: the switch, with the time and the period of the other. Switches of which nothing more is told are
 * left out, and so are the ends of tasks, after which nothing of their numbers is known.
 */
#include "inject/inject_internal.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>

static const char switch_name[] = "sched:sched_switch", exit_name[] = "sched:sched_process_exit",
		  stat_prefix[] = "sched:sched_stat_";

struct switched { /* a task that was switched out last */
	uint32_t tid;
	struct str bytes; /* its sample; empty: none is known */
};

struct inject_waits {
	struct inject *inject;
	struct tracepoints *tracepoints;
	struct decoder decoder; /* for samples that were kept */
	struct switched *v;
	size_t n, cap;
	struct index by_tid;
};

static bool is_named(const struct data_event *event, const char *name)
{
	return event->name && !strcmp(event->name, name);
}

static bool is_stat(const struct data_event *event)
{
	return event->name && !strncmp(event->name, stat_prefix, sizeof(stat_prefix) - 1);
}

int inject_waits_new(struct inject_waits **out, struct inject *inject, struct str *err)
{
	const struct events *events = &inject->reader->events;
	bool switches = false, stats = false;
	struct inject_waits *waits;

	for (size_t i = 0; i < events->n; i++) {
		switches = switches || is_named(events->v[i], switch_name);
		stats = stats || is_stat(events->v[i]);
	}
	if (!switches || !stats)
		return fail(err, -EINVAL, "-s joins samples of %s with those of %s*, and it has none of %s",
			    switch_name, stat_prefix, switches ? "the latter" : "the former");
	*out = waits = xcalloc(1, sizeof(*waits));
	waits->inject = inject;
	decoder_init(&waits->decoder, events, false);
	waits->tracepoints = tracepoints_new(&inject->reader->recording, err);
	return waits->tracepoints ? 0 : -EINVAL;
}

void inject_waits_free(struct inject_waits *waits)
{
	if (!waits)
		return;
	for (size_t i = 0; i < waits->n; i++)
		str_release(&waits->v[i].bytes);
	free(waits->v);
	index_release(&waits->by_tid);
	decoder_release(&waits->decoder);
	tracepoints_free(waits->tracepoints);
	free(waits);
}

/* NULL: it was never switched out. */
static struct switched *find(struct inject_waits *waits, uint32_t tid)
{
	uint32_t i;

	return INDEX_FIND(&waits->by_tid, hash_word(tid), i, waits->v[i].tid == tid) ? &waits->v[i] : NULL;
}

static void keep_switch(struct inject_waits *waits, const struct replay_sample *sample)
{
	struct switched *task = find(waits, sample->sample->tid);

	if (!task) {
		VEC_GROW(waits->v, waits->n, waits->cap);
		index_add(&waits->by_tid, hash_word(sample->sample->tid), (uint32_t)waits->n);
		task = &waits->v[waits->n++];
		*task = (struct switched){ .tid = sample->sample->tid, .bytes = STR_INIT };
	}
	str_reset(&task->bytes);
	str_addn(&task->bytes, (const char *)sample->record->bytes, sample->record->size);
}

static void forget_switch(struct switched *task)
{
	if (task)
		str_reset(&task->bytes);
}

/* The sample of the task's switch, with the time and the length of its wait. */
static int put_wait(struct inject_waits *waits, const struct switched *task, const struct sample *stat, struct str *err)
{
	struct record_body body;
	struct record record;
	int rc;

	record_from_bytes(&record, (const uint8_t *)task->bytes.s, 0, false);
	rc = record_decode(&waits->decoder, &record, &body, err);
	if (rc)
		return rc;
	body.sample.period = stat->period;
	body.sample.time_ns = stat->time_ns;
	return inject_put(waits->inject, &body, body.event, err);
}

int inject_waits_sample(struct inject_waits *waits, const struct replay_sample *sample, struct str *err)
{
	const struct switched *task;
	struct str text = STR_INIT;
	bool is_number = false;
	int64_t pid = -1;
	int rc = 1;

	if (!sample->event)
		return 0;
	if (is_named(sample->event, switch_name)) {
		keep_switch(waits, sample);
	} else if (is_named(sample->event, exit_name)) {
		forget_switch(find(waits, sample->sample->tid));
	} else if (is_stat(sample->event)) {
		tracepoint_value(waits->tracepoints, sample->event, sample->sample, "pid", &text, &pid, &is_number);
		task = is_number ? find(waits, (uint32_t)pid) : NULL;
		if (task && task->bytes.len)
			rc = put_wait(waits, task, sample->sample, err);
		rc = rc ? rc : 1;
	} else {
		rc = 0;
	}
	str_release(&text);
	return rc;
}
