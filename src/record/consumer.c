/* SPDX-License-Identifier: MIT */
/*
 * consumer.c: after a failure of the sink all that comes is still handed to it, for it counts what it could not keep;
 * and the buffers go round, so that no reader ever finds itself waiting.
 */
#include "record/consumer.h"

#include <errno.h>
#include <unistd.h>

static void tell(struct consumer *consumer, int rc, struct str *why)
{
	const uint64_t one = 1;

	if (rc && !atomic_load(&consumer->failed)) {
		str_add(&consumer->why, why->s);
		atomic_store(&consumer->failed, rc);
		/* A failure means a full counter: somebody is woken already. */
		(void)!write(consumer->wake_fd, &one, sizeof(one));
	}
	str_reset(why);
}

/* Has everyone who is waited for drained their rings since the last round ended? */
static bool all_have_drained(const struct consumer *consumer, uint64_t round)
{
	for (const struct producer *p = consumer->buffers->producers; p; p = p->next) {
		if (p->is_waited_for && p->drained_round < round)
			return false;
	}
	return true;
}

static bool round_ends(struct consumer *consumer, struct producer *from)
{
	if (consumer->snapshots) {
		bool ends = from && from->snapshot_ended;

		if (from)
			from->snapshot_ended = false;
		return ends;
	}
	return all_have_drained(consumer, atomic_load_explicit(&consumer->buffers->round,
							       memory_order_relaxed));
}

static void end_round(struct consumer *consumer, struct str *why)
{
	struct buffers *buffers = consumer->buffers;

	atomic_fetch_add_explicit(&buffers->round, 1, memory_order_release);
	if (!atomic_load_explicit(&buffers->rounds_to_tell, memory_order_relaxed))
		return;
	atomic_fetch_sub_explicit(&buffers->rounds_to_tell, 1, memory_order_relaxed);
	consumer->rounds++;
	if (!atomic_load(&consumer->failed))
		tell(consumer, consumer->sink->round(consumer->sink, why), why);
}

static void take_buffer(struct consumer *consumer, struct buffer *buffer, struct str *why)
{
	if (buffer->call) {
		buffer->call(buffer->data);
		return;
	}
	if (buffer->n) {
		atomic_store_explicit(&consumer->buffers->rounds_to_tell, ROUNDS_TOLD,
				      memory_order_relaxed);
		tell(consumer, consumer->sink->take(consumer->sink, buffer->bytes, buffer->n, why), why);
	}
	if (round_ends(consumer, buffer->from))
		end_round(consumer, why);
}

static void *consumer_main(void *data)
{
	struct consumer *consumer = data;
	struct str why = STR_INIT;
	struct buffer *buffer;

	while ((buffer = buffers_take(consumer->buffers)) != NULL) {
		take_buffer(consumer, buffer, &why);
		buffers_give_back(consumer->buffers, buffer);
	}
	str_release(&why);
	return NULL;
}

int consumer_start(struct consumer *consumer, struct buffers *buffers, bool snapshots, int wake_fd,
		   struct str *err)
{
	int code;

	*consumer = (struct consumer){
		.buffers = buffers,
		.snapshots = snapshots,
		.wake_fd = wake_fd,
		.why = STR_INIT,
	};
	code = pthread_create(&consumer->thread, NULL, consumer_main, consumer);
	if (code)
		return fail(err, -code, "cannot start a thread: %s", strerror(code));
	consumer->started = true;
	return 0;
}

void consumer_begin(struct consumer *consumer, struct record_sink *sink)
{
	consumer->sink = sink;
	buffers_begin(consumer->buffers);
}

int consumer_stop(struct consumer *consumer, struct str *err)
{
	int rc;

	if (!consumer->started)
		return 0;
	buffers_close(consumer->buffers);
	pthread_join(consumer->thread, NULL);
	consumer->started = false;
	rc = atomic_load(&consumer->failed);
	if (rc)
		fail(err, rc, "%s", consumer->why.s);
	str_release(&consumer->why);
	return rc;
}

bool consumer_failed(struct consumer *consumer)
{
	return consumer->started && atomic_load(&consumer->failed);
}

/* ---- calls ---- */

struct call {
	int (*fn)(void *data, struct str *err);
	void *data;
	struct str *err;
	int rc;
};

static void run_call(void *data)
{
	struct call *call = data;

	call->rc = call->fn(call->data, call->err);
}

int consumer_call(struct consumer *consumer, int (*fn)(void *data, struct str *err), void *data,
		  struct str *err)
{
	struct call call = { .fn = fn, .data = data, .err = err };

	buffers_call(consumer->buffers, run_call, &call);
	return call.rc;
}

static int flush_now(void *data, struct str *err)
{
	struct consumer *consumer = data;

	if (atomic_load(&consumer->failed))
		return fail(err, atomic_load(&consumer->failed), "%s", consumer->why.s);
	return consumer->sink->flush(consumer->sink, err);
}

int consumer_flush(struct consumer *consumer, struct str *err)
{
	return consumer_call(consumer, flush_now, consumer, err);
}

static void flush_in_passing(void *data)
{
	struct consumer *consumer = data;
	struct str why = STR_INIT;

	if (!atomic_load(&consumer->failed))
		tell(consumer, consumer->sink->flush(consumer->sink, &why), &why);
	str_release(&why);
}

void consumer_flush_later(struct consumer *consumer)
{
	buffers_call_later(consumer->buffers, &consumer->flush, flush_in_passing, consumer);
}
