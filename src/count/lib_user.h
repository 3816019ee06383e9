/*
 * lib_user.h: reading without system calls, as far as a handle's counters have it. Private to count/.
 */
#ifndef PSTAT_COUNT_LIB_USER_H
#define PSTAT_COUNT_LIB_USER_H

#include "count/user_read.h"

struct pstat_counters;

struct lib_user {
	struct user_pages pages; /* one per event */
	uint64_t *ids; /* the kernel's id of each event; a group's reading names its values by them */
	const char **reasons; /* why an event has no page; NULL: it has one */
};

/* What the attrs need, before they are opened. */
void lib_user_prepare(struct event_list *events);
/* After opening, in the memory scope; the counters follow the calling thread alone. */
int lib_user_open(struct pstat_counters *counters, bool inherit);
void lib_user_close(struct lib_user *user); /* safe on a zeroed one */

#endif
