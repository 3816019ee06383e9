/* SPDX-License-Identifier: MIT */
/*
 * off_cpu_stage: joins the switches of each thread to samples of the time that it was off the CPU. Private to record/.
 *
 *	CPU 0   sample (stack), SWITCH out at 100                        thread 7 leaves
 *	CPU 1                                 SWITCH in at 350           thread 7 comes back
 *	written                               offcpu-time: stack, time 350, period 250
 *
 * The kernel writes the sample of a context switch and its SWITCH record into the ring of the CPU that the thread
 * leaves, and the record of its return into the ring of the CPU where it goes on. They are put in the order of time by
 * rounds, as replay does it; the written sample stands where the record of the return stood. A wait that is not over
 * when the recording ends lasts until then.
 *
 * The events of several CPUs begin and end one after the other. In between a thread may come back where nobody sees
 * it and leave where somebody does: switches count from when all of them run until the first one is stopped.
 *
 * Memory: a stack for each thread that waits, and two rounds of switches.
 */
#ifndef PSTAT_OFF_CPU_STAGE_H
#define PSTAT_OFF_CPU_STAGE_H

#include "record/record.h"
#include "record/stages.h"

struct off_cpu_stage;

struct off_cpu_stage_options {
	uint64_t least_ns; /* shorter waits are counted and not written */
	/* The waits are samples of the first event that is a clock of CPU time: wall-clock, see data/records.h. */
	bool wall;
	/*
	 * The event at this index is sched:sched_waking: samples of those that ended a wait stay, with its length as
	 * their period, under the name offcpu-wakers. woken_at: where in its data the woken thread is; 0: there is no
	 * such event.
	 */
	size_t wakeups;
	unsigned woken_at;
	size_t held_bytes; /* of records that wait for their round, at most; 0: 64 MiB */
};

/*
 * The event at index `event` of `recorded` is the one of the context switches: its samples and SWITCH records go, and
 * samples of offcpu-time come in their place. `recorded` is borrowed.
 */
struct off_cpu_stage *off_cpu_stage_new(const struct events *recorded, size_t event,
					const struct off_cpu_stage_options *options);
/* After its stage. NULL is nothing. */
void off_cpu_stage_free(struct off_cpu_stage *off);
/*
 * The events of what comes out: the one of the switches is a software event called offcpu-time there; with `wall` a
 * dummy, and the clock is called wall-clock.
 */
const struct events *off_cpu_stage_written(const struct off_cpu_stage *off);
/* The stage before `next`, which is the caller's to tell; it goes with off. */
struct stage *off_cpu_stage_begin(struct off_cpu_stage *off, struct record_sink *next);

/*
 * Switches were not seen for a while: what waits has waited for an unknown time. By the thread that tells the stage,
 * after stage_hand_on() with wait.
 */
void off_cpu_stage_interrupted(struct off_cpu_stage *off);
/*
 * Switches count from then on, on the samples' clock; UINT64_MAX: not before this is called again. At first all do.
 * This and the next: by any thread.
 */
void off_cpu_stage_count_from(struct off_cpu_stage *off, uint64_t time_ns);
/* No switch after that counts, until the one above is called. Waits that are not over at the end last until then. */
void off_cpu_stage_count_until(struct off_cpu_stage *off, uint64_t time_ns);
/* Stacks that were held at once, at most. */
size_t off_cpu_stage_stacks(const struct off_cpu_stage *off);
/* After the stage's end. */
void off_cpu_stage_count(const struct off_cpu_stage *off, struct off_cpu_totals *totals);

#endif
