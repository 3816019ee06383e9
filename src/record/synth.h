/* SPDX-License-Identifier: MIT */
/*
 * synth: what runs already when a recording begins, as the records that the kernel would have written: the kernel
 * and its modules (synth_kernel.c), tasks, their names and maps, cgroups (synth.c). Private to record/.
 */
#ifndef PSTAT_SYNTH_H
#define PSTAT_SYNTH_H

#include "record/record.h"

/* Non-zero ends the walk and is what the walk returns. Texts in body are valid during the call. */
typedef int (*synth_fn)(void *data, const struct record_body *body);

/*
 * Calls fn with records of the target's tasks, or of all tasks for TARGET_CPUS: for each process FORK,
 * NAMESPACES (if asked for) and COMM of its main thread, the MMAP2 records, then the same for its other
 * threads. CGROUP records come first. A task that ends meanwhile is left out. A held command has FORK
 * and COMM only: its maps begin with its exec. Times and event ids are 0: fn fills body->id.
 * what: enum synth_what. -errno with a sentence where procfs itself cannot be read; for a command that is no failure,
 * as the kernel tells all from its exec on.
 */
int synth_tasks(const struct target *target, unsigned what, bool namespaces, const struct kern *kern,
		synth_fn fn, void *data, struct str *err);
/*
 * MMAPs of the kernel ("[kernel.kallsyms]_text", start and pgoff are the address of _text) and of its
 * modules (the file's path where modules.dep of this kernel knows one, else "[name]"). Where
 * kptr_restrict hides the addresses there are none: no call, and 0.
 * Programs loaded by BPF before the recording are not among them.
 */
int synth_kernel(const struct kern *kern, synth_fn fn, void *data);

/* Appends such a record in the layout of the event that records what tasks do. */
int synth_encode(const struct events *events, const struct record_body *body, struct str *out, struct str *err);
/*
 * Tells a sink, in large pieces, all that the plan asks for: what runs already is described as what starts later will
 * be, with maps of data where those are recorded. The kernel is, whatever --synth leaves out, as perf has it.
 */
int synth_to_sink(const struct record_plan *plan, const struct target *target, const struct events *events,
		  struct record_sink *to, struct str *err);

#endif
