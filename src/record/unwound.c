/* SPDX-License-Identifier: MIT */
/*
 * unwound.c: see unwound.h. Fields that are not about the stack go through as they are; their layout is data's work.
 */
#include "record/unwound.h"

#include <stdlib.h>

enum { END_MARKS_MAX = CHAIN_ENDS /* and the mark of a guess */, USER_REGS_MAX = 64 };

/* The fields up to PERIOD, which lie first in every sample. */
#define BRIEF_FIELDS                                                                                              \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |        \
	 PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define STACK_FIELDS (uint64_t)(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static const uint64_t user_mark = (uint64_t)PERF_CONTEXT_USER;

/* ---- events ---- */

bool unwound_takes(const struct data_event *recorded)
{
	return (recorded->attr.sample_type & STACK_FIELDS) == STACK_FIELDS;
}

static void change_attr(struct perf_event_attr *attr, uint64_t user_regs)
{
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = user_regs;
	if (!user_regs)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
	attr->exclude_callchain_user = 0;
}

void unwound_events(struct events *to, const struct events *recorded, uint64_t user_regs)
{
	struct events changed;

	/* Copied once more, so that all that follows from an attr is worked out anew. */
	events_init(&changed);
	events_copy(&changed, recorded);
	for (size_t i = 0; i < changed.n; i++) {
		if (unwound_takes(changed.v[i]))
			change_attr(&changed.v[i]->attr, user_regs);
	}
	events_copy(to, &changed);
	events_release(&changed);
}

void unwound_brief_events(struct events *to, const struct events *recorded)
{
	for (size_t i = 0; i < recorded->n; i++) {
		const struct data_event *event = recorded->v[i];
		struct perf_event_attr attr = event->attr;

		attr.sample_type &= BRIEF_FIELDS;
		events_add(to, &attr, sizeof(attr), event->ids, event->n_ids);
	}
}

/* ---- samples ---- */

int unwound_brief(const struct record_body *body, const struct events *brief, struct str *out, struct str *err)
{
	return record_encode(body, brief->v[body->event->index], out, err);
}

int unwound_trim(const struct record_body *body, struct str *out, struct str *err)
{
	struct record_body trimmed = *body;
	struct sample *s = &trimmed.sample;
	uint64_t whole = (s->stack_dyn_size + 7) & ~7ull;

	if (whole < s->stack_size)
		s->stack_size = whole;
	return record_encode(&trimmed, body->event, out, err);
}

struct unwind_input unwound_input(const struct sample *sample)
{
	return (struct unwind_input){
		.abi = sample->user_regs.abi,
		.mask = sample->user_regs.mask,
		.regs = sample->user_regs.v,
		.n_regs = sample->user_regs.n,
		.stack = sample->stack,
		.stack_bytes = sample->stack_dyn_size < sample->stack_size ? sample->stack_dyn_size :
									     sample->stack_size,
	};
}

void unwound_room_release(struct unwound_room *room)
{
	free(room->ips);
	free(room->regs);
	*room = (struct unwound_room){ 0 };
}

static void make_room(struct unwound_room *room, size_t n)
{
	if (!room->regs)
		room->regs = xcalloc(USER_REGS_MAX, sizeof(*room->regs));
	if (n <= room->cap)
		return;
	room->ips = xreallocarray(room->ips, n, sizeof(*room->ips));
	room->cap = n;
}

/* The kernel was asked for its own part only; where it gave more all the same, that is left out. */
static size_t kernel_part(const struct sample *sample)
{
	size_t n = 0;

	while (n < sample->n_ips && sample->ips[n] != user_mark)
		n++;
	return n;
}

static bool is_exact(const struct unwound_chain *chain, size_t i)
{
	return !i || (chain->exact[i / 64] >> i % 64 & 1);
}

/* How many words of the record may be the chain: the room of the stack, and of what the kernel gave. */
static size_t words_for_chain(const struct sample *sample, size_t record_bytes)
{
	size_t others = record_bytes - sample->stack_size - sample->n_ips * sizeof(uint64_t);

	return (RECORD_BYTES_MAX - others) / sizeof(uint64_t);
}

/* The chain as the file has it, in room->ips: at most `words` of them. */
static size_t join(const struct sample *sample, const struct unwound_chain *chain, size_t words, uint64_t *ips)
{
	size_t n = kernel_part(sample), room = words < END_MARKS_MAX ? 0 : words - END_MARKS_MAX;
	enum chain_end end = chain->end;

	if (n)
		memcpy(ips, sample->ips, n * sizeof(*ips));
	for (size_t i = 0; i < chain->n; i++) {
		bool exact = is_exact(chain, i);

		if (n + 1 + exact > room) {
			end = CHAIN_LIMIT;
			break;
		}
		if (exact)
			ips[n++] = user_mark;
		ips[n++] = chain->ips[i];
	}
	if (chain->guessed && end != CHAIN_GUESSED && n < words)
		ips[n++] = (uint64_t)PERF_CONTEXT_KERNEL;
	for (int i = 0; i < (int)end && n < words; i++)
		ips[n++] = user_mark;
	return n;
}

/* Keeps the registers of user_regs, which the recorded ones contain. */
static void choose_regs(struct sample_regs *regs, uint64_t user_regs, uint64_t *values)
{
	unsigned n = 0, at = 0;

	for (unsigned bit = 0; bit < USER_REGS_MAX; bit++) {
		if (!(regs->mask >> bit & 1))
			continue;
		if (user_regs >> bit & 1)
			values[n++] = regs->v[at];
		at++;
	}
	*regs = (struct sample_regs){ .abi = regs->abi, .mask = user_regs, .v = values, .n = n };
}

int unwound_sample(struct record_body *body, size_t record_bytes, const struct data_event *written,
		   const struct unwound_chain *chain, struct unwound_room *room, struct str *out, struct str *err)
{
	uint64_t user_regs = written->attr.sample_regs_user;
	struct sample *s = &body->sample;

	make_room(room, s->n_ips + 2 * chain->n + END_MARKS_MAX);
	if (user_regs && s->user_regs.abi)
		choose_regs(&s->user_regs, user_regs, room->regs);
	s->n_ips = join(s, chain, words_for_chain(s, record_bytes), room->ips);
	s->ips = room->ips;
	return record_encode(body, written, out, err);
}
