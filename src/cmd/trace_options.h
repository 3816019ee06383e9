/* SPDX-License-Identifier: MIT */
/*
 * trace_options: what the command line of `pstat trace` says. Filled by the rows in trace_options.c. Private to cmd/.
 */
#ifndef PSTAT_TRACE_OPTIONS_H
#define PSTAT_TRACE_OPTIONS_H

#include "cmd/record_options.h"
#include "cmd/sample_options.h"
#include "syscall/syscall.h"

/* Each system call passes both. */
#define TRACED_EVENTS "{raw_syscalls:sys_enter,raw_syscalls:sys_exit}"

enum traced_faults { FAULTS_NONE, FAULTS_MINOR = 1, FAULTS_MAJOR = 2, FAULTS_ALL = 3 };

struct trace_words {
	struct recording_words record; /* first: option functions of record and of events take it */
	struct sample_words sample; /* the recording that is read, and what a sample_run needs */
	struct traced_list { /* -e and --filter in their order, as typed */
		const char *text;
		bool is_filter;
	} *lists;
	size_t n_lists, cap_lists;
	struct str events; /* what -e names beside calls, each on a line; filled by trace_words_select() */
	enum traced_faults faults; /* -F */
	int syscalls; /* --syscalls, --no-syscalls; -1: not given */
	bool no_calls; /* nothing is told of calls: other events were asked for, and no call */
	bool kernel_format; /* --libtraceevent_print */
	bool runtime; /* --sched */
	int stacks; /* --call-graph: 0: no; -1: not given, where a file has them, they are printed */
	bool kernel_stacks; /* --kernel-syscall-graph */
	unsigned least_frames; /* --min-stack */
	const char *output; /* -o; NULL: standard error */
	uint64_t least_ns; /* --duration: shorter calls have no line */
	unsigned max_events; /* lines; 0: no limit */
	bool failure, full_time, no_comm, cpu, json;
	bool summary; /* -s: no lines */
	bool with_summary; /* -S */
	bool errno_summary, histogram;
	unsigned interval_ms; /* tables of each interval of so many; 0: of all the time */
	bool interval_clear; /* on a terminal */
	int summary_mode; /* --summary-mode: enum syscall_summary_mode */
	unsigned max_rows; /* of a table; 0: no limit */
	struct intset left_out; /* threads, by their numbers */
};

void trace_words_init(struct trace_words *words, const struct kern *kern);
void trace_words_release(struct trace_words *words);
/* Refuses what does not go together: 0, or an exit status after a message. */
int trace_words_check(struct trace_words *words);
/*
 * Takes all -e: calls become the selection; other events are added to those that are recorded, or are kept as names
 * where a file is read. A negative errno with a sentence.
 */
int trace_words_select(struct trace_words *words, const struct syscall_table *table,
		       struct syscall_selection *selection, struct str *err);
/* -EINVAL with a sentence: the recording that is read has none of the events that one of -e names. */
int trace_words_find(const struct trace_words *words, const struct events *events, struct str *err);
/* -EINVAL with a sentence: cgroups are to be told apart, and no event has them in its samples. */
int trace_words_need_cgroups(const struct trace_words *words, const struct events *events, struct str *err);
/* An event of a recording that is no call is among those that -e and -F name. */
bool trace_words_want(const struct trace_words *words, const struct data_event *event);
/* Adds the events, and what goes without saying, where calls are traced as they come: as above. */
int trace_words_complete(struct trace_words *words, const struct syscall_table *table,
			 const struct syscall_selection *selection, enum syscall_abi abi, struct str *err);

#endif
