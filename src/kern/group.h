/*
 * group: events that are counted together, as they are being opened. Private to kern/: group_plan.c says
 * which events are a group, group_open.c opens them.
 */
#ifndef PSTAT_GROUP_H
#define PSTAT_GROUP_H

#include "kern/fallback.h"
#include "kern/opening.h"

/* The call that failed, for the message. */
struct failed_call {
	pid_t pid;
	int cpu, group_fd;
	unsigned long flags;
};

/* One counter of a group, as it is being opened. */
struct member {
	struct counter *counter;
	struct attempt attempt; /* where it stands on the ladder */
	struct perf_event_attr asked; /* before any step of it */
	bool prepared; /* both are set up, for the leader that there is now */
	bool lost; /* it cannot be counted, and has its reason */
	size_t n_open; /* cells */
};

struct group {
	struct member *members; /* in the order of the list; all have the same cells */
	size_t n, cap;
	const struct event *event; /* the first, with the group's own words */
	bool batch; /* of all lone software events */
	bool grouped; /* members open on the leader; false: one by one */
	bool together; /* more than one is counted by the kernel */
	bool inherit, probe_path;
	bool single_reads;
	const struct event *rival; /* of its events that for which it may have to take turns, or NULL */
	size_t turn_first, turn_n; /* the groups that it takes turns with, itself among them, in order[] */
	size_t next; /* the cell that is opened next in its place of the list */
	int cgroup_fd; /* the folder, or -1 */
	int failed; /* why a cell stayed closed last: -errno, and the call */
	bool moved; /* that was for a task that forks too fast */
	struct failed_call call;
};

/* In the order of the list. */
struct groups {
	struct group *v;
	size_t n, cap;
	size_t *order; /* groups that take turns with each other stand side by side */
};


/*
 * Which of the planned counters are opened together, and which groups take turns. Leaves a note where that
 * is not what was asked for.
 */
void groups_plan(struct groups *groups, const struct opening *opening);
void groups_release(struct groups *groups);
/* Sets up the member's attempt. leader: NULL where it is to lead, or to be alone. */
void member_prepare(struct opening *opening, const struct group *group, struct member *member,
		    const struct counter *leader);
/* Children and new threads are to count with this counter, whether that can be had or not. */
bool group_wants_inherit(const struct opening *opening, const struct group *group, const struct counter *counter);
/* What this counter is opened with, or its group, has text that the kernel cannot read for new tasks. */
bool group_has_probe_path(const struct group *group, const struct counter *counter);
/* The group whose turn it is, in the cell that `g` opens next, where `g` stands in the list. */
struct group *group_in_turn(const struct groups *groups, const struct group *g, unsigned first_group);

#endif
