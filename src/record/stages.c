/* SPDX-License-Identifier: MIT */
/*
 * stages.c: the order of what a stage hands on. While nothing is held, what passes is handed on as it lies in the
 * consumer's batch. After a sample that is not done all else is held:
 *
 *   held     | sample: waiting | round | sample: done, result | sample: waiting |
 *               |                  |               |                    |
 *   passed      | records .......  | (none)        | records            | records ........
 *
 * The ticket of a sample is its place in `held`, counted from the beginning, so that it is found at once.
 */
#include "record/stages.h"

#include <errno.h>
#include <stdlib.h>

enum {
	DIRECT_BYTES = 64 << 10, /* such pieces are handed on without a copy */
	READY_BYTES = 1 << 20, /* handed on as soon as so much has come together */
};

struct held {
	enum { HELD_WAITING, HELD_DONE, HELD_ROUND } state;
	size_t cost; /* part of held_bytes */
	size_t after; /* bytes of `passed` that follow it */
	struct str result;
};

/* The first failure of a call is what it returns. */
static void keep_error(struct stage *stage, int code, struct str *why)
{
	if (code < 0 && !stage->code) {
		stage->code = code;
		str_addn(stage->err, why->s, why->len);
	}
	str_release(why);
}

static void begin(struct stage *stage, struct str *err)
{
	stage->code = 0;
	stage->err = err;
}

/* ---- handing on ---- */

static void hand_on(struct stage *stage, const char *bytes, size_t n)
{
	struct str why = STR_INIT;

	if (!n)
		return;
	stage->rounds_to_tell = ROUNDS_TOLD;
	keep_error(stage, stage->next->take(stage->next, bytes, n, &why), &why);
}

static void hand_on_ready(struct stage *stage)
{
	hand_on(stage, stage->ready.s, stage->ready.len);
	str_reset(&stage->ready);
}

/* Small pieces go together. */
static void emit(struct stage *stage, const char *bytes, size_t n)
{
	if (n >= DIRECT_BYTES) {
		hand_on_ready(stage);
		hand_on(stage, bytes, n);
		return;
	}
	str_addn(&stage->ready, bytes, n);
	if (stage->ready.len >= READY_BYTES)
		hand_on_ready(stage);
}

/* Hands on the end of a round, unless the next sink knows all that it says: records of this round were left out. */
static void hand_on_round(struct stage *stage)
{
	struct str why = STR_INIT;

	hand_on_ready(stage);
	if (!stage->rounds_to_tell)
		return;
	stage->rounds_to_tell--;
	keep_error(stage, stage->next->round(stage->next, &why), &why);
}

/* ---- what is held ---- */

static void add_held_bytes(struct stage *stage, size_t n)
{
	stage->held_bytes += n;
	if (stage->held_bytes > stage->held_most)
		stage->held_most = stage->held_bytes;
}

static bool holds(const struct stage *stage)
{
	return stage->held_at < stage->n_held;
}

static void hold(struct stage *stage, int state, size_t bytes)
{
	struct held *held;

	VEC_GROW(stage->held, stage->n_held, stage->cap_held);
	held = &stage->held[stage->n_held++];
	*held = (struct held){ .state = state, .cost = sizeof(*held) + bytes, .result = STR_INIT };
	stage->n_waiting += state == HELD_WAITING;
	add_held_bytes(stage, held->cost);
}

/* Records that are as they go on. */
static void pass(struct stage *stage, const char *bytes, size_t n)
{
	if (!holds(stage)) {
		emit(stage, bytes, n);
		return;
	}
	str_addn(&stage->passed, bytes, n);
	stage->held[stage->n_held - 1].after += n;
	add_held_bytes(stage, n);
}

/* The consumer's batch, or what is left of it: without a copy where nothing is before it. */
static void pass_last(struct stage *stage, const char *bytes, size_t n)
{
	if (!holds(stage) && !stage->ready.len)
		hand_on(stage, bytes, n);
	else
		pass(stage, bytes, n);
}

/* Makes room of what was handed on. */
static void forget_handed_on(struct stage *stage)
{
	struct str *passed = &stage->passed;

	if (stage->held_at > stage->n_held / 2) {
		stage->n_held -= stage->held_at;
		memmove(stage->held, stage->held + stage->held_at, stage->n_held * sizeof(*stage->held));
		stage->held_at = 0;
	}
	if (stage->passed_at > passed->len / 2) {
		passed->len -= stage->passed_at;
		memmove(passed->s, passed->s + stage->passed_at, passed->len + 1);
		stage->passed_at = 0;
	}
}

/* All up to the first sample that is not done. */
static void release(struct stage *stage)
{
	while (holds(stage) && stage->held[stage->held_at].state != HELD_WAITING) {
		struct held *held = &stage->held[stage->held_at++];

		if (held->state == HELD_ROUND)
			hand_on_round(stage);
		emit(stage, held->result.s, held->result.len);
		emit(stage, stage->passed.s + stage->passed_at, held->after);
		str_release(&held->result);
		stage->passed_at += held->after;
		stage->held_bytes -= held->cost + held->after;
		stage->oldest_ticket++;
	}
	forget_handed_on(stage);
}

/* ---- what the stage says ---- */

/* The stage has failed: samples that it has not given will not come. */
static void give_up(struct stage *stage, int code, struct str *why)
{
	keep_error(stage, code, why);
	stage->failed = true;
	for (size_t i = stage->held_at; i < stage->n_held; i++)
		if (stage->held[i].state == HELD_WAITING)
			stage->held[i].state = HELD_DONE;
	stage->lost += stage->n_waiting;
	stage->n_waiting = 0;
}

/* False: there is no such sample, or it was given before. */
static bool finish(struct stage *stage, uint64_t ticket)
{
	uint64_t i = ticket - stage->oldest_ticket;
	struct held *held;

	if (i >= stage->n_held - stage->held_at || stage->held[stage->held_at + i].state != HELD_WAITING)
		return false;
	held = &stage->held[stage->held_at + i];
	held->state = HELD_DONE;
	stage->n_waiting--;
	stage->held_bytes -= held->cost;
	held->cost = sizeof(*held);
	if (!i) { /* next in order: it need not be kept */
		emit(stage, stage->out.s, stage->out.len);
	} else {
		held->cost += stage->out.len;
		held->result = stage->out;
		str_init(&stage->out);
	}
	add_held_bytes(stage, held->cost);
	return true;
}

/* False: none is done, which with wait does not happen. */
static bool collect_one(struct stage *stage, bool wait)
{
	struct str why = STR_INIT;
	uint64_t ticket = 0;
	int rc;

	if (!stage->n_waiting)
		return false;
	str_reset(&stage->out);
	rc = stage->ops->collect(stage->data, wait, &ticket, &stage->out, &why);
	if (rc > 0 && !finish(stage, ticket))
		rc = fail(&why, -EPROTO, "a stage has finished a sample that it did not have");
	else if (!rc && wait)
		rc = fail(&why, -EPROTO, "a stage does not finish %zu samples", stage->n_waiting);
	if (rc < 0)
		give_up(stage, rc, &why);
	release(stage);
	return rc > 0;
}

static void collect_done(struct stage *stage)
{
	while (collect_one(stage, false))
		;
}

static void wait_for_room(struct stage *stage)
{
	if (stage->held_bytes <= stage->held_bytes_max || !stage->n_waiting)
		return;
	stage->waits++;
	while (stage->held_bytes > stage->held_bytes_max && collect_one(stage, true))
		;
}

static int judge(struct stage *stage, const struct perf_event_header *record)
{
	uint64_t ticket = stage->oldest_ticket + (stage->n_held - stage->held_at);
	struct str why = STR_INIT;
	int verdict;

	str_reset(&stage->out);
	if (!stage->failed) {
		verdict = stage->ops->take(stage->data, record, ticket, &stage->out, &why);
		if (verdict >= 0)
			return verdict;
		give_up(stage, verdict, &why);
		release(stage);
		str_reset(&stage->out);
	}
	if (record->type != RECORD_SAMPLE)
		return STAGE_PASS;
	stage->lost++;
	return STAGE_REPLACED;
}

/* ---- as a sink ---- */

static struct stage *stage_of(struct record_sink *sink)
{
	return (struct stage *)sink;
}

static void take_all(struct stage *stage, const char *bytes, size_t n)
{
	size_t start = 0, at = 0; /* from start on all has passed */

	while (at < n) {
		size_t size = record_whole(bytes + at, n - at);
		int verdict = size ? judge(stage, (const void *)(bytes + at)) : STAGE_PASS;

		if (!size) {
			struct str why = STR_INIT;

			keep_error(stage, fail(&why, -EINVAL, "records that are not whole"), &why);
			break;
		}
		at += size;
		if (verdict == STAGE_PASS &&
		    (!holds(stage) || stage->held_bytes + (at - start) <= stage->held_bytes_max))
			continue;
		pass(stage, bytes + start, (verdict == STAGE_PASS ? at : at - size) - start);
		start = at;
		if (verdict == STAGE_REPLACED)
			pass(stage, stage->out.s, stage->out.len);
		else if (verdict == STAGE_LATER)
			hold(stage, HELD_WAITING, size);
		wait_for_room(stage);
	}
	pass_last(stage, bytes + start, at - start);
}

static int stage_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct stage *stage = stage_of(sink);

	begin(stage, err);
	collect_done(stage);
	take_all(stage, records, n);
	collect_done(stage);
	hand_on_ready(stage);
	return stage->code;
}

static int stage_round(struct record_sink *sink, struct str *err)
{
	struct stage *stage = stage_of(sink);
	struct str why = STR_INIT;
	int rc;

	begin(stage, err);
	rc = stage->ops->round && !stage->failed ? stage->ops->round(stage->data, &why) : 0;
	if (holds(stage))
		hold(stage, HELD_ROUND, 0);
	else
		hand_on_round(stage);
	if (rc < 0) {
		give_up(stage, rc, &why);
		release(stage);
	}
	collect_done(stage);
	hand_on_ready(stage);
	return stage->code;
}

static void hand_on_all(struct stage *stage, bool wait)
{
	collect_done(stage);
	while (wait && collect_one(stage, true))
		;
	hand_on_ready(stage);
}

static int stage_flush(struct record_sink *sink, struct str *err)
{
	struct stage *stage = stage_of(sink);
	struct str why = STR_INIT;

	begin(stage, err);
	hand_on_all(stage, false);
	keep_error(stage, stage->next->flush(stage->next, &why), &why);
	return stage->code;
}

static void take_last(struct stage *stage)
{
	struct str why = STR_INIT;
	int rc;

	if (!stage->ops->end || stage->failed)
		return;
	str_reset(&stage->out);
	rc = stage->ops->end(stage->data, &stage->out, &why);
	if (rc < 0)
		give_up(stage, rc, &why);
	else
		hand_on(stage, stage->out.s, stage->out.len);
	str_release(&why);
}

static int stage_end(struct record_sink *sink, struct str *err)
{
	struct stage *stage = stage_of(sink);
	struct str why = STR_INIT;

	begin(stage, err);
	hand_on_all(stage, true);
	take_last(stage);
	keep_error(stage, stage->next->end(stage->next, &why), &why);
	return stage->code;
}

int stage_hand_on(struct stage *stage, bool wait, struct str *err)
{
	begin(stage, err);
	hand_on_all(stage, wait);
	return stage->code;
}

struct stage *stage_new(const struct stage_ops *ops, void *data, const struct events *events, struct record_sink *next,
			size_t held_bytes_max)
{
	struct stage *stage = xcalloc(1, sizeof(*stage));

	stage->sink = (struct record_sink){ stage_take, stage_round, stage_flush, stage_end };
	stage->events = events;
	stage->ops = ops;
	stage->data = data;
	stage->next = next;
	stage->held_bytes_max = held_bytes_max;
	str_init(&stage->passed);
	str_init(&stage->ready);
	str_init(&stage->out);
	return stage;
}

void stage_free(struct stage *stage)
{
	if (!stage)
		return;
	for (size_t i = stage->held_at; i < stage->n_held; i++)
		str_release(&stage->held[i].result);
	free(stage->held);
	str_release(&stage->passed);
	str_release(&stage->ready);
	str_release(&stage->out);
	free(stage);
}
