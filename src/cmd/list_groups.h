/*
 * list_groups: the events of `pstat list` as people read them on a terminal: by source, with what a group has in
 * common said once, above it. Private to cmd/.
 */
#ifndef PSTAT_LIST_GROUPS_H
#define PSTAT_LIST_GROUPS_H

#include "cmd/list_try.h"

struct group_row {
	char *name, *desc;
	char *verdict; /* why it does not count here; "": it counts; NULL: not tried */
};
struct list_groups {
	struct str *out;
	const struct kern *kern;
	unsigned columns; /* of the terminal */
	struct event_trial trial; /* of the group's own events */
	char *topic, *part; /* the group that is being gathered; NULL: none */
	struct group_row *rows;
	size_t n, cap;
	size_t n_groups; /* printed */
	char *tracepoints_verdict; /* of all: it is a matter of rights */
};
void list_groups_init(struct list_groups *groups, struct str *out, unsigned columns, const struct kern *kern);
void list_groups_add(struct list_groups *groups, const struct event_info *info);
/* The last group is complete. */
void list_groups_end(struct list_groups *groups);
/* A topic whose events cannot be listed here; why may have several lines. */
void list_groups_missing(struct list_groups *groups, const char *topic, const char *why);
void list_groups_release(struct list_groups *groups);

#endif
