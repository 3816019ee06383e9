/* SPDX-License-Identifier: MIT */
/*
 * sched_internal: what sched_events.c tells states.c, and what views share. Private to sched/.
 */
#ifndef PSTAT_SCHED_INTERNAL_H
#define PSTAT_SCHED_INTERNAL_H

#include "sched/sched.h"
#include "trace/trace.h"

/* ---- sched_events.c: the fields of an event of the scheduler ---- */

enum sched_kind { SCHED_SWITCH, SCHED_WAKEUP, SCHED_WAKING, SCHED_WAKEUP_NEW, SCHED_MIGRATE, SCHED_FORK, SCHED_RUNTIME,
		  SCHED_KINDS };
enum { SCHED_FIELDS_MAX = 5 };
enum { SWITCH_PREV, SWITCH_NEXT, SWITCH_STATE, SWITCH_PREV_PRIO, SWITCH_NEXT_PRIO };
enum { TASK_TID, TASK_RUNTIME, TASK_FROM_CPU = 1, TASK_TO_CPU };

struct sched_fields {
	enum sched_kind kind;
	int32_t current; /* the task that ran, by the kernel's number; -1: not known */
	uint64_t number[SCHED_FIELDS_MAX]; /* by the places above; 0: the kernel has no such field */
};

struct sched_events;
struct sched_events *sched_events_new(void);
void sched_events_free(struct sched_events *events);
/* Before the first sample, when header and events are known. -EINVAL with a sentence. */
int sched_events_begin(struct sched_events *events, const struct recording_info *recording, struct str *err);
/* False: it is none of the scheduler's events, or one that says what another one does, too. */
bool sched_events_know(struct sched_events *events, const struct data_event *event, enum sched_kind *kind);
bool sched_events_have(const struct sched_events *events, enum sched_kind kind);
bool sched_events_have_chains(const struct sched_events *events); /* those of sched_switch */
/* False: the sample does not have all fields. */
bool sched_events_read(struct sched_events *events, const struct data_event *event, const struct sample *sample,
		       struct sched_fields *fields);
/*
 * The name of a task, raw bytes, from the event's field: of a switch the one that leaves, or the next one. NULL: there
 * is none. Valid as long as the sample.
 */
const char *sched_events_name(struct sched_events *events, const struct data_event *event, const struct sample *sample,
			      bool next, size_t *len);
/* The letter of a prev_state, by the kernel's format. */
char sched_events_state(const struct sched_events *events, uint64_t state);

/* ---- delays.c: times, counted by their length ---- */

struct delays;
struct delays *delays_new(void);
void delays_free(struct delays *delays); /* NULL is fine */
void delays_add(struct delays *delays, uint64_t ns);
void delays_join(struct delays *delays, const struct delays *others);
/* The time that pct percent of all do not exceed, too large by a 32nd part at most; 0: there are none. */
uint64_t delays_quantile(const struct delays *delays, unsigned pct);
/* A histogram, a line for each power of two of microseconds. */
void delays_print(const struct delays *delays, struct str *out);

/* ---- intervals.c ---- */

struct sched_intervals {
	const struct sched_interval *options;
	struct str *out;
	bool json;
	/* Zero at first: the first switch, when this interval began, the last switch. */
	uint64_t first_ns, begin_ns, last_ns;
};
/* A switch at this time: true: the interval is over, what was until now is to be printed, and the head of it is. */
bool sched_interval_ends(struct sched_intervals *intervals, uint64_t time_ns);
/* The head of the last one; nothing, if there is but one. */
void sched_intervals_end(const struct sched_intervals *intervals);
/* Returns how many of n rows have room on the screen, beside these lines. */
size_t sched_interval_rows(const struct sched_interval *options, size_t n, unsigned other_lines);

#endif
