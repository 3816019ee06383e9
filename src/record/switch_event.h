/* SPDX-License-Identifier: MIT */
/*
 * switch_event: the events of --switch-output-event, each hit of which asks for a new file. Private to record/.
 *
 * They are counters and rings of their own beside those of the recording, on the same tasks or CPUs, and are no part
 * of what is recorded. Hits that come while a file is being changed are one.
 */
#ifndef PSTAT_SWITCH_EVENT_H
#define PSTAT_SWITCH_EVENT_H

#include "record/record.h"

struct switch_event {
	struct counter_set set;
	struct ring_set rings;
	int epoll_fd; /* becomes readable when something was hit; -1: not open */
};
#define SWITCH_EVENT_INIT { .epoll_fd = -1 }

/*
 * Opens the plan's switch_events, disabled, or enabled by the exec of the command. 0, or a negative errno with a
 * sentence. Close it in every case.
 */
int switch_event_open(struct switch_event *of, const struct record_plan *plan, const struct target *target,
		      bool starts_with_exec, struct str *err);
/* Starts those that no exec starts. 0 or a negative errno. */
int switch_event_begin(struct switch_event *of);
/* Was something hit since the last call? Never waits. */
bool switch_event_hit(struct switch_event *of);
void switch_event_close(struct switch_event *of);

#endif
