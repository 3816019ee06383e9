/* SPDX-License-Identifier: MIT */
/*
 * event_dumps: `pstat script --per-event-dump`: a file for the samples of each event, RECORDING.EVENT.dump. Private to
 * cmd/.
 */
#ifndef PSTAT_EVENT_DUMPS_H
#define PSTAT_EVENT_DUMPS_H

#include "script/script.h"

struct event_dump;
struct event_dumps {
	const char *recording; /* what the names of files begin with */
	struct event_dump **v;
	size_t n, cap;
};
/* Finds the output of an event for struct script_outputs; context: the struct event_dumps. */
struct output *event_dumps_output(void *context, const struct data_event *event, bool is_sample, struct str *err);
/*
 * Writes the rest and closes all files, which are named with their samples, unless quiet. 0, or an exit status after a
 * message.
 */
int event_dumps_end(struct event_dumps *dumps, bool quiet);

#endif
