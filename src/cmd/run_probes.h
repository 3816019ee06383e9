/* SPDX-License-Identifier: MIT */
/*
 * run_probes: probes that are made for one run. In the words of -e,
 *
 *	probe:./prog:parse%return,cs   becomes   pstat_123_prog:parse__return/name=probe_prog:parse__return/,cs
 *
 * and the probe is in tracefs until the run is over. Its group has pstat's pid: what a killed one left is known by it.
 * Events of tracefs follow children and threads, which those of the uprobe PMU do not. Where tracefs is out of reach
 * the words stay as they are: event/ makes an event of that PMU of them. Private to cmd/.
 */
#ifndef PSTAT_RUN_PROBES_H
#define PSTAT_RUN_PROBES_H

#include "kern/kern.h"

struct run_probes { /* zeroed: none */
	char **removals; /* lines that remove what was set */
	size_t n, cap;
	int *holds; /* descriptors (probe_event_hold) */
	size_t n_holds, cap_holds;
};
/*
 * Sets the probes that the words of -e ask for, and appends the words for their events to `out`. A negative errno with
 * a sentence: what was set before is removed by run_probes_remove(), which is to be called in every case.
 */
int run_probes_set(struct run_probes *probes, const struct kern *kern, const char *words, struct str *out,
		   struct note_list *notes, struct str *err);
/* Removes them: all their events are closed. */
void run_probes_remove(struct run_probes *probes, const struct kern *kern);

#endif
