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
#define TRACED_EVENTS "raw_syscalls:sys_enter,raw_syscalls:sys_exit"

struct trace_words {
	struct recording_words record; /* first: option functions of record and of events take it */
	struct sample_words sample; /* the recording that is read, and what a sample_run needs */
	struct str calls; /* -e, each on a line */
	const char *output; /* -o; NULL: standard error */
	uint64_t least_ns; /* --duration: shorter calls have no line */
	unsigned max_events; /* lines; 0: no limit */
	bool failure, full_time, no_comm, json;
	bool summary; /* -s: no lines */
	bool with_summary; /* -S */
	bool errno_summary, histogram;
	bool total; /* --summary-mode total */
	unsigned max_rows; /* of a table; 0: no limit */
	struct intset left_out; /* threads, by their numbers */
};

void trace_words_init(struct trace_words *words, const struct kern *kern);
void trace_words_release(struct trace_words *words);
/* Refuses what does not go together: 0, or an exit status after a message. */
int trace_words_check(struct trace_words *words);
/* The calls of all -e. -EINVAL with a sentence. */
int trace_words_select(const struct trace_words *words, const struct syscall_table *table,
		       struct syscall_selection *selection, struct str *err);
/* Adds the events, and what goes without saying, where calls are traced as they come: as above. */
int trace_words_complete(struct trace_words *words, const struct syscall_table *table,
			 const struct syscall_selection *selection, enum syscall_abi abi, struct str *err);

#endif
