/*
 * run: the state of a run, shared by run.c (its course) and run_start.c (its beginning). Private to stat/.
 */
#ifndef PSTAT_RUN_H
#define PSTAT_RUN_H

#include "stat/rows.h"

#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull
#define NS_PER_S 1000000000ull

struct run {
	const struct stat_plan *plan;
	struct str *err;
	struct tally_book *book;
	unsigned index; /* of this repeat */
	bool opened; /* plan->opened was called */
	int status; /* for pstat, when it has not failed */
	int failed_status; /* and when it has */

	/* of one repeat */
	struct child child;
	bool has_child, child_is_target;
	struct target target;
	struct counter_set set;
	bool set_open;
	bool reportable; /* the set was read to its end and is still open */
	struct watch watch;
	struct control control;

	struct ticker ticker;
	uint64_t start_ns; /* counting began; NEVER_NS: not yet */
	uint64_t last_ns; /* the last interval ended */
	uint64_t delay_until_ns, timeout_at_ns;
	unsigned n_intervals;
	int signals_seen;
	bool told_to_end; /* by pstat: timeout, control, failed output */
	int rc; /* of the first failure while running */
};

/*
 * Starts the command (held), opens all counters, and lets both go: 0, or a negative errno with a
 * sentence and failed_status set. With -D counting begins later: start_ns is then NEVER_NS.
 */
int run_start(struct run *run);
/* Counting begins, by now or by the exec that follows. */
int run_begin_counting(struct run *run);

#endif
