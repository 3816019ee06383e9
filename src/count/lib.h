/* SPDX-License-Identifier: MIT */
/*
 * lib: the inside of libpstat.h. Private to count/ (lib_*.c, and what samples and reads without system calls).
 *
 * The tree below was written for a program: its allocators do not fail. So a call of the library that allocates runs
 * in a memory scope (lib_memory.c): all that it takes is written down, and when there is no more, everything is given
 * back and the call answers -ENOMEM. For that to hold
 *
 *   - what existed before the call is not changed in a scope: a copy is changed, and takes its place at the end, when
 *     nothing can fail any more;
 *   - a call that allocates nothing needs no scope, and has none.
 */
#ifndef PSTAT_COUNT_LIB_H
#define PSTAT_COUNT_LIB_H

#include "count/count.h"
#include "count/user_read.h"
#include "kern/kern.h"

/* Other names stay hidden. */
#pragma GCC visibility push(default)
#include "count/libpstat.h"
#pragma GCC visibility pop

/* ---- lib_memory.c ---- */

/*
 * Runs body(data, err) in a memory scope. Returns what body does; or -ENOMEM. Where that is negative nothing is left of
 * what body allocated and opened, and error has its sentence.
 */
int lib_run(int (*body)(void *data, struct str *err), void *data, struct pstat_error *error);

/* ---- lib_error.c ---- */
/* error may be NULL; text that is too long is cut. Returns code. */
int lib_error(struct pstat_error *error, int code, const char *text);
/*
 * The caller's struct, which may be older (shorter: the rest is 0) or newer, into ours. -E2BIG: it is newer and uses
 * what this library does not know. NULL: all 0.
 */
int lib_take_struct(void *own, size_t own_bytes, const void *given);
/* Ours into the caller's, which may be shorter: as much as it has room for after its size, which it keeps. */
void lib_give_struct(void *to, size_t to_bytes, const void *own, size_t own_bytes);

/* ---- lib_words.c ---- */
/* The sentence in words of the library, allocated; NULL: it is as it was. text may be NULL. */
char *lib_own_words(const char *text);
void lib_own_sentence(struct str *sentence);
void lib_own_notes(struct note_list *notes);

/* ---- lib_events.c ---- */
struct pstat_events {
	struct event_list list;
};

/* ---- lib_counters.c ---- */

/* The reading of one descriptor. */
struct lib_cell {
	uint64_t value, enabled_ns, running_ns;
	enum reading_state state;
	int err;
	bool others_ran; /* as in struct reading */
};

/* An event with one cell, counted up. */
struct lib_quick {
	size_t index, cell;
	double scale;
	struct quick_value now;
};

struct pstat_counters {
	struct kern kern;
	struct event_list events;
	struct target target;
	struct note_list notes;
	struct counter_set set;
	struct pstat_counter *info; /* one per event */
	char **names, **reasons, **remedies; /* owned; NULL: the counter's own */
	size_t *first_cell; /* of each event in an array of all cells, and after the last: how many there are */
	struct lib_cell *base; /* all cells as they were when they were reset */
	struct quick_read *quick; /* NULL: it is read in the general way */
	struct lib_quick *quick_events; /* those that are open */
	size_t n_quick;
	bool user_read, may_move_thread;
	struct lib_user user; /* with user_read */
};

/* Options that make samples of counts. */
struct lib_sampling {
	bool keep_wakeups; /* the attrs' own; else: */
	uint32_t wakeup_events, wakeup_bytes; /* the first wins */
	bool per_cpu; /* tasks are opened on every CPU, as rings that children write to need it */
};
/* This machine, and the kernel that it runs. */
extern const struct kern lib_kern;
/* The inside of pstat_open(), in a memory scope; sampling NULL: to count. Tests give a kernel of their own. */
int lib_counters_open(struct pstat_counters **counters, const struct pstat_events *events,
		      const struct pstat_open_options *options, const struct lib_sampling *sampling,
		      const struct kern *kern, struct str *err);

/* ---- lib_sampling.c ---- */

/*
 * Makes the attrs of a sampler's events of their words and of options. own_tracker: an event of its own, `dummy`, is
 * added as the last, and carries what options.track asks for; else the first event does. -EINVAL with a sentence:
 * options contradict each other, a word cannot be followed, or a limit of the kernel's is passed.
 */
int lib_sampling_fill(struct event_list *events, const struct pstat_sampling_options *options, bool own_tracker,
		      const struct kern *kern, struct str *err);
/* The number in /proc/sys/kernel/NAME; 0: it cannot be read. */
uint64_t lib_kernel_limit(const struct kern *kern, const char *name);

/* ---- lib_readings.c ---- */

/* Facts of an event beside its count. Texts are owned by the readings. */
struct lib_fact {
	bool open;
	bool plain; /* as folded last: it counted all the time, everywhere */
	bool read_elsewhere; /* of a cgroup, from whatever CPU the caller is on */
	int error; /* not open: why */
	const char *reason, *remedy;
	char *explained; /* by pstat_explain(); NULL: not yet */
};

struct pstat_readings {
	const struct pstat_counters *of; /* compared, and followed only by calls that are given it too */
	size_t n, n_cells;
	struct pstat_reading *v;
	struct lib_fact *facts;
	size_t *first_cell;
	struct lib_cell *cells;
	pid_t *tids; /* of the target's threads */
	size_t *twin; /* the first event of the same text and name: JSON sums them; its own where it is the first */
	const char **json_names; /* with their quotes; of those that are the first */
	char **texts;
	size_t n_texts, texts_cap;
	bool all_plain; /* as folded last: each event that is open */
	/* The events as they were opened: */
	struct event_list events;
	struct counted_event *counted;
	struct intset *cpus; /* of each event's cells */
	struct aggregation *agg;
};

#endif
