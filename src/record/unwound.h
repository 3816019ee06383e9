/* SPDX-License-Identifier: MIT */
/*
 * unwound: a sample with registers and a copy of its stack, and the sample that the file has in its place: with a
 * callchain, and without these. Pure functions, for any thread. A part of record.h.
 *
 *	recorded:  .. | callchain: kernel | .. | registers | stack | ..
 *	written:   .. | callchain: kernel, USER mark, user frames, end marks | .. | ..
 *
 * After a mark stands code that was running or was interrupted, after an address its caller: so each frame that a
 * signal interrupted has a mark of its own, too. The end marks are those of enum chain_end.
 */
#ifndef PSTAT_UNWOUND_H
#define PSTAT_UNWOUND_H

#include "data/data.h"
#include "unwind/unwind.h"

/* The event's samples have what is unwound. */
bool unwound_takes(const struct data_event *recorded);
/*
 * The events as the file has them: `to` is initialized and empty. Registers of user_regs, which were asked for, stay;
 * the size of the dump stays as what the chains were made of.
 */
void unwound_events(struct events *to, const struct events *recorded, uint64_t user_regs);

/*
 * The same events with samples that end after PERIOD: what process events need to know of them.
 */
void unwound_brief_events(struct events *to, const struct events *recorded);
/* Such a sample of a recorded one, which body is of; appended to out. */
int unwound_brief(const struct record_body *body, const struct events *brief, struct str *out, struct str *err);
/* The recorded sample with no more of its stack than the kernel found; appended to out. */
int unwound_trim(const struct record_body *body, struct str *out, struct str *err);

/* The part of a sample that the unwinder needs, all borrowed; its address space is the caller's. */
struct unwind_input unwound_input(const struct sample *sample);

struct unwound_chain {
	const uint64_t *ips; /* user frames, innermost first */
	size_t n;
	const uint64_t *exact; /* bit i: frame i is no return address */
	enum chain_end end;
	bool guessed; /* a caller was found by the frame pointer */
};
/* Grows with the longest chain; one for each thread. All zeros at first. */
struct unwound_room {
	uint64_t *ips, *regs;
	size_t cap;
};
void unwound_room_release(struct unwound_room *room);
/*
 * The sample that the file has, appended to out: written is the event of unwound_events; body, which is changed, is
 * of a record of so many bytes. A chain that does not fit into a record loses its outermost frames, and ends with
 * CHAIN_LIMIT.
 */
int unwound_sample(struct record_body *body, size_t record_bytes, const struct data_event *written,
		   const struct unwound_chain *chain, struct unwound_room *room, struct str *out, struct str *err);

#endif
