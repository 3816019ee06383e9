/* SPDX-License-Identifier: MIT */
/*
 * code_times: which code lay at an address at which time, by a dump that says when each piece came to be, was
 * moved away, or was given up. Private to sym/.
 */
#ifndef PSTAT_CODE_TIMES_H
#define PSTAT_CODE_TIMES_H

#include "sym/sym_internal.h"

enum code_event_kind {
	CODE_LOADED,
	CODE_MOVED_AWAY, /* this code, which then is elsewhere */
	CODE_CLOSED, /* all that was there: the compiler has ended */
};
struct code_event {
	uint64_t time_ns, start, end; /* [start, end) */
	uint32_t name; /* offset in the dump's names */
	uint32_t piece; /* of code that was loaded: its number in the dump */
	uint32_t same; /* after finish: the first event that loaded the same function to the same place */
	enum code_event_kind kind;
};
struct code_times { /* begins as { 0 } */
	struct code_event *v; /* after finish: by time, those of one time as the dump has them */
	size_t n, cap;
	const char *names; /* after finish: what offsets count from */
	/*
	 * After finish: the addresses where an event begins or ends, ascending; between two of them lies a piece.
	 * A binary tree over the pieces: what covers all of a node's pieces is in the node's list, by time.
	 */
	uint64_t *bounds;
	size_t n_bounds;
	uint32_t *lists; /* per node where its list begins in `events`; and its end */
	uint32_t *events;
};

/* The time is of CLOCK_MONOTONIC. Too many are none: then finish says so. */
void code_times_add(struct code_times *times, const struct code_event *event);
/*
 * names: of the dump, which have to stay. false, and nothing is known: there are no events, or too many to be
 * told apart.
 */
bool code_times_finish(struct code_times *times, const char *names);
void code_times_release(struct code_times *times);

/*
 * The number of an event that loaded what lay at addr at the time, + 1. Compilers write an event when the code is
 * there already, so what came before the first one there counts as its. SYM_CODE_GONE: what was there had gone;
 * 0: nothing was ever there.
 */
uint32_t code_times_find(const struct code_times *times, uint64_t addr, uint64_t time_ns);
/* How many events there were up to the time: while that is the same, so is each answer. */
uint32_t code_times_epoch(const struct code_times *times, uint64_t time_ns);

#endif
