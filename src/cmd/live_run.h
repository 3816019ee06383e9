/* SPDX-License-Identifier: MIT */
/*
 * live_run: a recording in a thread of its own, for a command that reads it while it is taken. Private to cmd/.
 *
 *   the command's thread: source -> profile -> tables        recorder: rings -> live source's sink
 *
 * Signals of the run are let in by the recorder alone, while it waits (kern/watch.c).
 */
#ifndef PSTAT_LIVE_RUN_H
#define PSTAT_LIVE_RUN_H

#include "bpf/bpf.h"
#include "record/record.h"

#include <pthread.h>

struct live_run {
	struct record_plan *plan;
	struct live_source *live; /* NULL: the recording ended before its first record */
	bool quiet;
	bool pausable; /* see live_run_pause */
	bool keeps_samples; /* a reader that is too slow lets the recorder wait, whose losses are among the records */
	int verbose;
	/*
	 * Counts samples in the kernel: none that comes can be left out. Borrowed. NULL: they come by rings. Becomes
	 * NULL, with a note, where the events turn out to be none that it can count.
	 */
	struct bpf_counting *counting;
	struct bpf_texts *texts; /* of system calls, which are among the events; borrowed. NULL: none are copied */

	struct note_list notes; /* the recording's; the recorder's until it has ended */
	size_t n_noted; /* of these, how many were printed */
	struct record_totals totals;
	int status, rc;
	struct str err; /* of record_run */

	pthread_t thread;
	bool started; /* and not yet waited for */
	int end_fd;
	int control_fd; /* commands for the recorder; -1: none */
	sigset_t outside;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ready; /* live is there, or the recorder has ended */
};

/*
 * Starts to record; plan, quiet, pausable, keeps_samples and verbose are set, all else is zero. The plan's descriptor
 * of the end, its commands where it is pausable, notes, sink and callbacks are set here. Returns when there is a
 * source, which is to be read from then on, or none will be. End it in every case. A negative errno with a sentence:
 * there is no thread.
 */
int live_run_begin(struct live_run *run, struct str *err);
/* Stops taking samples, or goes on; records of what tasks do come all the time. Only where it is pausable. */
void live_run_pause(struct live_run *run, bool stops);
/* Ends the recording, and waits for it: totals are there, and the source stays, which is not to be asked any more. */
void live_run_stop(struct live_run *run);
/* Ends the recording, reads no more, prints its notes and error, and returns its exit status. */
int live_run_end(struct live_run *run);

#endif
