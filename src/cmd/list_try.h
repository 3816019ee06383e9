/*
 * list_try: does this machine count an event for this user, and if not, why? Tried, not guessed. Private
 * to cmd/.
 */
#ifndef PSTAT_LIST_TRY_H
#define PSTAT_LIST_TRY_H

#include "kern/kern.h"

struct event_trial {
	const struct kern *kern;
	/* Finding words costs more than trying: one text per errno. */
	struct event_verdict {
		int err;
		char *reason;
	} *v;
	size_t n, cap;
};

void event_trial_init(struct event_trial *trial, const struct kern *kern);
void event_trial_release(struct event_trial *trial);
/* "" if it counts, else the reason. Borrowed until release. */
const char *event_trial_verdict(struct event_trial *trial, const char *name);

#endif
