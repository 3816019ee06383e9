/*
 * recording: the state of a recording, shared by record_run.c (its course), record_start.c (its
 * beginning) and record_end.c (its end). Private to record/.
 */
#ifndef PSTAT_RECORDING_H
#define PSTAT_RECORDING_H

#include "record/pipeline.h"
#include "record/record.h"
#include "record/sink_file.h"
#include "record/sinks_all.h"
#include "record/unwind_stage.h"

struct recording {
	const struct record_plan *plan;
	struct record_totals *totals;
	struct str *err;
	int failed_status; /* for pstat, when it has failed */

	/* what is measured, and by what */
	struct child child;
	bool has_child, child_is_target;
	struct target target;
	struct counter_set set;
	bool set_open;
	struct ring_set rings;
	struct events events; /* those that are open, as the file has them */
	size_t *counter_of; /* by event index: the counter's index in the set */
	struct info info;

	/* the way of the records */
	struct recording_info described; /* for sinks: events and info of what is written */
	struct pipeline pipeline;
	struct sink_file file;
	struct sinks_all sinks; /* the file, and others */
	struct unwind_stage *unwind; /* NULL: no stacks are unwound */
	struct stage *unwinds; /* its stage, once there is one */
	struct record_sink *sink; /* what the pipeline tells: the sinks, or a stage before them; NULL: none is open */

	/* its course */
	struct watch watch;
	struct control control;
	uint64_t start_ns; /* sampling began; NEVER_NS: not yet */
	uint64_t delay_until_ns;
	uint64_t look_at_ns; /* removal_look() */
	struct ticker second; /* flush and progress */
	struct ticker look; /* plan.look_ns; else when a mapped file may be waiting to be held */
	uint64_t keeper_ns; /* from one of these looks to the next */
	size_t keeper_files; /* were known at the last one */
	size_t end_slot; /* of the watch: plan.end_fd */
	int signals_seen;
	bool told_to_end; /* by --control */
	bool child_told; /* it was running when the recording ended, and was sent a signal */
	int rc; /* of the first failure while recording */
};

/* record_start.c */

/*
 * Starts the command (held), opens events, rings and file, and lets all go: 0, or a negative errno
 * with a sentence and failed_status set.
 */
int recording_start(struct recording *rec);
/* Sampling begins, by now or by the exec that follows. */
int recording_begin(struct recording *rec);

/* file_events.c: the open counters as events of the file: attrs, ids, names, units, groups */
int recording_list_events(struct recording *rec);

/* record_end.c */

/* Stops, takes what is left, finishes the file. 0 or the first failure. */
int recording_end(struct recording *rec);
/* What is known so far, without the losses that only the end tells. */
void recording_count(struct recording *rec);

/* tracing_data.c */

/* The formats of the tracepoints among the events, into info; nothing where there are none. */
void tracing_data_collect(struct info *info, const struct event_list *events,
			  const struct kern *kern);

/* exclude_perf.c */

/* Sets the filters of tracepoints (see open_options.filters_later), which then leave out all threads of pstat. */
int leave_pstat_out(struct event_list *events, struct counter_set *set, struct str *err);

/* clock_fallback.c */

/*
 * Cycles where no counter counts them become cpu-clock, with a note that says why; other events are
 * left as they are, and so are those that are to bring branch records.
 */
void replace_cycles(struct event_list *events, const struct sampling *sampling,
		    const struct kern *kern, struct note_list *notes);

#endif
