/*
 * top_screen: what is being recorded, as a source of tables for the screen. Private to cmd/.
 */
#ifndef PSTAT_TOP_SCREEN_H
#define PSTAT_TOP_SCREEN_H

#include "cmd/live_run.h"
#include "cmd/top_status.h"
#include "hist/hist.h"
#include "screen/screen.h"

struct top_screen {
	struct profile *profile; /* fed with what is recorded; it keeps all that cells can tell but times */
	struct live_run *run; /* that is pausable */
	struct record_source *source;
	struct top_status *status; /* begun */
	uint64_t delay_ns; /* from one table to the next */
	unsigned decay_eighths; /* so much is forgotten after each */
	/* Zeros at first: when that is due; nothing more will come; the user has stopped it. */
	uint64_t forget_ns;
	bool ended, stopped;
	struct str failed; /* what stopped the reading; empty: nothing. Release it */
};

/*
 * Returns as screen_run. The user ends it by leaving: a recording that ends before does not take the last table
 * away.
 */
int top_screen_run(struct top_screen *top, const struct screen_options *options, const struct query *query,
		   struct str *err);

#endif
