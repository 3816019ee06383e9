/* SPDX-License-Identifier: MIT */
/*
 * A stage that replaces samples at random: some at once, most late, by a thread of its own and in any order. What it
 * makes of a sample is up to the test.
 */
#ifndef LATE_STAGE_H
#define LATE_STAGE_H

#include "data_fixture.h"

#include "record/stages.h"

#include <pthread.h>

/* ---- numbers that look random, the same for the same seed ---- */

static inline uint64_t mix(uint64_t seed, uint64_t n)
{
	uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ULL + n * 0xbf58476d1ce4e5b9ULL;

	x ^= x >> 31;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 29;
}

struct dice {
	uint64_t seed, n;
};

static inline uint64_t roll(struct dice *dice, uint64_t sides)
{
	return mix(dice->seed, dice->n++) % sides;
}

/* ---- a stage with a thread of its own ---- */

/* What comes in the place of a sample, as the first event of `to` has it; nothing: it is left out. */
typedef void (*shrink_fn)(const struct events *to, struct decoder *decoder, const void *bytes, struct str *out);

struct job {
	uint64_t ticket;
	struct str bytes;
	bool done;
};

struct late {
	struct dice dice, worker_dice;
	const struct events *in, *out;
	shrink_fn shrink;
	struct decoder decoder; /* the worker's, and of take while there is none */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work, finished;
	struct job *v;
	size_t n, cap, n_done;
	bool hurry, stop; /* hurry: somebody waits */
	unsigned patience; /* it begins when so many have come together, or a round has ended */
	size_t n_of_round; /* that had come and were not done when the last round ended */
	uint64_t n_later, n_out_of_order, newest_ticket;
};

/* Any of those that are there. */
static inline struct job *pick(struct late *late)
{
	size_t k = roll(&late->worker_dice, late->n - late->n_done);

	for (size_t i = 0;; i++)
		if (!late->v[i].done && !k--)
			return &late->v[i];
}

static inline void *late_main(void *data)
{
	struct late *late = data;
	struct decoder decoder;

	decoder_init(&decoder, late->in, false);
	pthread_mutex_lock(&late->lock);
	while (!late->stop) {
		size_t left = late->n - late->n_done;
		struct job job, *picked;
		struct str out = STR_INIT;

		if (!left || (left < late->patience && !late->hurry && !late->n_of_round)) {
			pthread_cond_wait(&late->work, &late->lock);
			continue;
		}
		picked = pick(late);
		job = *picked;
		str_init(&picked->bytes);
		pthread_mutex_unlock(&late->lock);
		late->shrink(late->out, &decoder, job.bytes.s, &out);
		str_release(&job.bytes);
		pthread_mutex_lock(&late->lock);
		/* The list has changed, but what is not done is still in it. */
		for (picked = late->v; picked->ticket != job.ticket;)
			picked++;
		*picked = (struct job){ job.ticket, out, true };
		late->n_done++;
		late->n_of_round -= late->n_of_round > 0;
		late->hurry = false;
		pthread_cond_signal(&late->finished);
	}
	pthread_mutex_unlock(&late->lock);
	decoder_release(&decoder);
	return NULL;
}

static inline void late_init(struct late *late, uint64_t seed, const struct events *in, const struct events *out,
			     shrink_fn shrink)
{
	*late = (struct late){
		.dice = { seed, 0 }, .worker_dice = { seed + 1, 0 }, .in = in, .out = out, .shrink = shrink
	};
	late->patience = 9;
	decoder_init(&late->decoder, in, false);
	pthread_mutex_init(&late->lock, NULL);
	pthread_cond_init(&late->work, NULL);
	pthread_cond_init(&late->finished, NULL);
	assert_int_equal(pthread_create(&late->thread, NULL, late_main, late), 0);
}

static inline void late_release(struct late *late)
{
	pthread_mutex_lock(&late->lock);
	late->stop = true;
	pthread_cond_signal(&late->work);
	pthread_mutex_unlock(&late->lock);
	pthread_join(late->thread, NULL);
	assert_int_equal(late->n, 0);
	pthread_mutex_destroy(&late->lock);
	pthread_cond_destroy(&late->work);
	pthread_cond_destroy(&late->finished);
	decoder_release(&late->decoder);
	free(late->v);
}

static inline int late_take(void *data, const struct perf_event_header *record, uint64_t ticket, struct str *out,
		     struct str *err)
{
	struct late *late = data;
	struct job job = { ticket, STR_INIT, false };

	(void)err;
	if (record->type != RECORD_SAMPLE)
		return STAGE_PASS;
	if (late->in == late->out && !roll(&late->dice, 3))
		return STAGE_PASS;
	if (!roll(&late->dice, 3)) {
		late->shrink(late->out, &late->decoder, record, out);
		return STAGE_REPLACED;
	}
	str_addn(&job.bytes, (const char *)record, record->size);
	pthread_mutex_lock(&late->lock);
	VEC_GROW(late->v, late->n, late->cap);
	late->v[late->n++] = job;
	late->n_later++;
	pthread_cond_signal(&late->work);
	pthread_mutex_unlock(&late->lock);
	return STAGE_LATER;
}

static inline int late_collect(void *data, bool wait, uint64_t *ticket, struct str *out, struct str *err)
{
	struct late *late = data;
	int rc = 0;

	(void)err;
	pthread_mutex_lock(&late->lock);
	while (wait && !late->n_done) {
		late->hurry = true;
		pthread_cond_signal(&late->work);
		pthread_cond_wait(&late->finished, &late->lock);
	}
	for (size_t i = 0; i < late->n && !rc; i++) {
		if (!late->v[i].done)
			continue;
		*ticket = late->v[i].ticket;
		str_addn(out, late->v[i].bytes.s, late->v[i].bytes.len);
		str_release(&late->v[i].bytes);
		late->v[i] = late->v[--late->n];
		late->n_done--;
		late->n_out_of_order += *ticket < late->newest_ticket;
		if (*ticket > late->newest_ticket)
			late->newest_ticket = *ticket;
		rc = 1;
	}
	pthread_mutex_unlock(&late->lock);
	return rc;
}

/* Nobody may send another sample before those of this round are done: they are not to wait for it. */
static inline int late_round(void *data, struct str *err)
{
	struct late *late = data;

	(void)err;
	pthread_mutex_lock(&late->lock);
	late->n_of_round = late->n - late->n_done;
	pthread_cond_signal(&late->work);
	pthread_mutex_unlock(&late->lock);
	return 0;
}

static const struct stage_ops late_ops = { .take = late_take, .collect = late_collect, .round = late_round };

#endif
