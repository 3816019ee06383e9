/* SPDX-License-Identifier: MIT */
/*
 * pipeline.c: the order of starting and stopping. Readers begin before the consumer has anywhere to put records: what
 * comes while the file is made and running tasks are listed waits in the buffers.
 */
#include "record/pipeline.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * A second of samples with a stack of 8 KiB each, 4,000 a second on two CPUs; of others some seconds. A live view has
 * a queue of its own after them, and what is not touched costs no time at its start.
 */
enum { DEFAULT_BYTES = 16 << 20, DUMPS_BYTES = 64 << 20, LIVE_BYTES = 4 << 20 };

static size_t bytes_for(const struct record_plan *plan)
{
	bool dumps = plan->sampling.callchain == CALLCHAIN_DWARF;
	size_t bytes = dumps ? DUMPS_BYTES : plan->drain_every_ns ? LIVE_BYTES : DEFAULT_BYTES;

	if (plan->buffer_bytes)
		return plan->buffer_bytes;
	if (dumps)
		note_add(plan->notes, true, NULL,
			 "buffers of %zu MiB instead of %d MiB, because stacks are copied (--buffer-size)",
			 bytes >> 20, DEFAULT_BYTES >> 20);
	return bytes;
}

static void note_memory(const struct record_plan *plan, const struct buffers *buffers)
{
	if (plan->buffer_bytes && buffers->memory_bytes > plan->buffer_bytes)
		note_add(plan->notes, false, NULL,
			 "--buffer-size: %zu KiB is the minimum for this number of readers",
			 buffers->memory_bytes / 1024);
	if (buffers->locked_bytes < buffers->memory_bytes)
		note_add(plan->notes, !plan->buffer_bytes, "ulimit -l",
			 "buffers: %zu KiB of %zu KiB are locked in memory, the rest may be swapped out",
			 buffers->locked_bytes / 1024, buffers->memory_bytes / 1024);
}

static void add_snapshots(struct pipeline *pipeline, struct ring_set *rings,
			  const struct events *events)
{
	ring_reader_init(&pipeline->snapshots, events, &pipeline->buffers);
	for (size_t i = 0; i < rings->n; i++) {
		if (rings->v[i].overwrite)
			ring_reader_add(&pipeline->snapshots, &rings->v[i]);
	}
}

int pipeline_open(struct pipeline *pipeline, const struct record_plan *plan, struct ring_set *rings,
		  const struct events *events, struct str *err)
{
	int rc;

	*pipeline = (struct pipeline)PIPELINE_INIT;
	pipeline->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pipeline->wake_fd < 0)
		return fail(err, -errno, "eventfd: %s", strerror(errno));
	rc = readers_plan(&pipeline->readers, rings, plan, err);
	if (!rc)
		rc = buffers_open(&pipeline->buffers, bytes_for(plan), pipeline->readers.n, err);
	if (rc)
		return rc;
	note_memory(plan, &pipeline->buffers);
	add_snapshots(pipeline, rings, events);
	rc = consumer_start(&pipeline->consumer, &pipeline->buffers, pipeline->snapshots.n > 0,
			    pipeline->wake_fd, err);
	return rc ? rc : readers_start(&pipeline->readers, &pipeline->buffers, events, err);
}

void pipeline_begin(struct pipeline *pipeline, struct record_sink *sink)
{
	consumer_begin(&pipeline->consumer, sink);
	pipeline->has_begun = true;
}

static void pause_rings(struct ring_reader *snapshots, bool pause)
{
	for (size_t i = 0; i < snapshots->n; i++)
		ring_pause(snapshots->rings[i], pause);
}

/* Overwrite rings hold the newest records: they stand still while they are copied. */
static void take_snapshot(struct pipeline *pipeline)
{
	if (!pipeline->snapshots.n)
		return;
	pause_rings(&pipeline->snapshots, true);
	ring_reader_snapshot(&pipeline->snapshots);
	pause_rings(&pipeline->snapshots, false);
}

void pipeline_drain(struct pipeline *pipeline, bool snapshot)
{
	readers_drain(&pipeline->readers);
	if (snapshot)
		take_snapshot(pipeline);
}

void pipeline_drain_soon(struct pipeline *pipeline)
{
	readers_drain_soon(&pipeline->readers);
}

int pipeline_stop(struct pipeline *pipeline, struct str *err)
{
	if (!pipeline->has_begun)
		return 0;
	pipeline->has_begun = false;
	readers_stop(&pipeline->readers);
	take_snapshot(pipeline);
	return consumer_stop(&pipeline->consumer, err);
}

/* The consumer may never have begun: then nobody makes room, and readers must not wait for it. */
void pipeline_release(struct pipeline *pipeline)
{
	struct str why = STR_INIT;

	pipeline_stop(pipeline, &why);
	if (pipeline->buffers.v)
		buffers_abandon(&pipeline->buffers);
	readers_stop(&pipeline->readers);
	consumer_stop(&pipeline->consumer, &why); /* it looks at the readers' producers until then */
	readers_release(&pipeline->readers);
	ring_reader_release(&pipeline->snapshots);
	buffers_release(&pipeline->buffers);
	if (pipeline->wake_fd >= 0)
		close(pipeline->wake_fd);
	str_release(&why);
	*pipeline = (struct pipeline)PIPELINE_INIT;
}
