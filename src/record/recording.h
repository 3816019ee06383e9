/* SPDX-License-Identifier: MIT */
/*
 * recording: the state of a recording, shared by record_run.c (its course), record_start.c (its
 * beginning) and record_end.c (its end). Private to record/.
 */
#ifndef PSTAT_RECORDING_H
#define PSTAT_RECORDING_H

#include "record/filter_stage.h"
#include "record/off_cpu_stage.h"
#include "record/pipeline.h"
#include "record/record.h"
#include "record/sink_file.h"
#include "record/sink_tee.h"
#include "record/switch_event.h"
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
	struct switch_event switch_event;
	struct events events; /* those that are open, as the file has them */
	size_t *counter_of; /* by event index: the counter's index in the set */
	struct info info;

	/* the way of the records */
	struct recording_info described; /* for sinks: events and info of what is written */
	struct pipeline pipeline;
	struct sink_file file;
	struct sink_tee tee; /* the file, and others */
	struct filter_stage *filter; /* NULL: all samples pass, or the kernel filters them */
	struct stage *filters; /* its stage, once there is one */
	struct unwind_stage *unwind; /* NULL: no stacks are unwound */
	struct stage *unwinds; /* its stage, once there is one */
	struct off_cpu_stage *off_cpu; /* NULL: time off the CPU is not asked for, or its event did not open */
	struct stage *off_cpu_joins; /* its stage, once there is one */
	struct record_sink *sink; /* what the pipeline tells: the sinks, or a stage before them; NULL: none is open */

	/* its course */
	struct watch watch;
	struct control control;
	uint64_t start_ns; /* sampling began; NEVER_NS: not yet */
	uint64_t delay_until_ns;
	uint64_t start_of_delay_ns; /* what -D counts from */
	size_t windows_passed; /* of plan.windows_ms */
	uint64_t removal_look_ns; /* when removal_look() is due */
	struct ticker second; /* flush and progress; of another time where the plan says so */
	struct ticker drain; /* plan.drain_every_ns; else when a mapped file may be waiting to be held */
	uint64_t hold_poll_ns; /* from one look for mapped files to the next */
	size_t hold_poll_files; /* that were known at the last one */
	size_t end_slot; /* of the watch: plan.end_fd */
	bool told_to_end; /* by --control, or the last span of -D is over */
	bool child_told; /* it was running when the recording ended, and was sent a signal */
	int rc; /* of the first failure while recording */
};

/* record_start.c */

/*
 * Starts the events, and stops them: one CPU after the other. Switches count from when all of them run up to when the
 * first one is told to stop (off_cpu_stage.h). 0 or a negative errno.
 */
int recording_enable(struct recording *rec);
int recording_disable(struct recording *rec);
/* Sampling begins, by now or by the exec that follows. */
int recording_begin(struct recording *rec);
/* --exclude-perf: sets the filters of tracepoints (see open_options.filters_later), which leave out pstat's threads. */
int leave_pstat_out(struct event_list *events, struct counter_set *set, struct str *err);
/*
 * Starts the command (held), opens events, rings and file, and lets all go: 0, or a negative errno
 * with a sentence and failed_status set.
 */
int recording_start(struct recording *rec);

/* record_end.c */

/* Finishes the samples that the stages have: all that was taken so far is told to the sinks. */
int recording_hand_on(struct recording *rec, struct str *err);

/* Counts so far, without the losses that only the end tells. */
void recording_count(struct recording *rec);
/* Stops, takes what is left, finishes the file. 0 or the first failure. */
int recording_end(struct recording *rec);

/* tracing_data.c */

/* The formats of the tracepoints among the events, into info; nothing where there are none. */
void tracing_data_collect(struct info *info, const struct event_list *events,
			  const struct kern *kern);

/* sampling.c */

/*
 * Does the event go on all the time, so that a lower rate than -F says something? Page faults and other
 * single hits come as seldom as they do; then each of them is a sample, whatever was asked for.
 */
bool rate_is_reachable(const struct event *event);
/*
 * The largest of 8, 16 and 32 KiB of which a ring holds 50 ms of samples, `hz` a second; 8 KiB where not even that
 * fits, or where nobody knows how many there will be (hz 0).
 */
uint32_t stack_dump_for(uint64_t ring_bytes, uint64_t hz);
/*
 * Sets that for the events whose stacks are unwound while they are recorded, and for which no size was given; they
 * share the rings. true: some event had another size.
 */
bool stack_dumps_fit(const struct sampling *sampling, struct event_list *events, uint64_t ring_bytes);

/* sample_regs.c: the registers of this build's architecture, as bits */

/* All general registers, from which unwinding by DWARF tables starts. 0: none are known here. */
extern const uint64_t dwarf_regs;
/*
 * The register that a callchain by frame pointers lacks: it may hold a return address which is in no
 * frame yet. 0: calls store it in memory. No other bits, for then perf does not use it.
 */
extern const uint64_t link_regs;

/* cache_files.c */

/*
 * Puts files that had samples into the build-id cache, as perf has it. After the end of the recording, while what it
 * knows of mapped files is there, with signals let in: one that comes now ends it. Failures are in the plan's notes.
 */
void cache_files(const struct recording *rec);

#endif
