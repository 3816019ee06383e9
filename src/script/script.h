/* SPDX-License-Identifier: MIT */
/*
 * script: the samples of a recording one by one, as text in perf's layout or as JSON.
 *
 *   script_new(options, reader) -> script_run(output): sample_stream_run (profile/) -> each sample -> a line -> output
 *
 * The options say which fields are printed (-F) and which records beside the samples. Memory does not grow with the
 * recording: what is remembered are texts of frames, up to a limit. script_internal.h says which file does what.
 *
 * script_new: 0, or -EINVAL with a sentence about a field or a filter; free the script in either case. script_run:
 * 0, a negative errno with a sentence where the recording could not be read to its end, or output->failed. The
 * session's notes, for the user, are complete after it.
 */
#ifndef PSTAT_SCRIPT_H
#define PSTAT_SCRIPT_H

#include "profile/profile.h"

/* Functions that a Python script has, with the number of their arguments. */
struct python_functions { /* begins as { 0 } */
	struct python_function {
		char *name;
		int n_args;
	} *v;
	size_t n, cap;
};
void python_functions_add(struct python_functions *functions, const char *name, int n_args);
void python_functions_release(struct python_functions *functions);
/* The program that runs a script: reads the functions' calls from descriptor argv[1], names them to argv[2]. */
extern const char python_py[];
/*
 * Finds where the samples of an event go, and other records that are printed with its fields. NULL with a sentence
 * ends the run.
 */
struct script_outputs {
	struct output *(*of)(void *context, const struct data_event *event, bool is_sample, struct str *err);
	void *context;
};

struct script_options {
	struct session_options session;
	struct filter_options filters;
	const char *fields; /* -F, as typed, several one on a line; NULL: the default of each event type */
	bool json; /* -j */
	const struct python_functions *python; /* the output is calls of these (script_python.c); NULL: it is text */
	bool no_chains; /* -G */
	const char *stop_bt; /* functions at which chains end, a list; NULL: none */
	bool full_source_path;
	bool latency; /* -L: narrower columns */
	bool ns; /* --ns: nine digits */
	bool reltime, deltatime;
	bool header, full_header; /* the recording's header in front */
	bool show_tasks, show_mmaps, show_switches, show_lost, show_namespaces, show_cgroups,
		show_bpf, show_text_poke, show_rounds;
	bool kernel_path; /* --show-kernel-path */
	bool xed; /* --xed: instructions in words in place of their bytes */
	const struct script_outputs *outputs; /* --per-event-dump; NULL: all goes to script_run's */
	unsigned max_blocks; /* newest ones of a branch stack whose instructions are printed; 0: all */
	unsigned verbose;
};
struct script;
int script_new(struct script **script, const struct script_options *options, struct reader *reader,
	       struct str *err);
void script_free(struct script *script);
int script_run(struct script *script, struct output *output,
	       void (*progress)(void *context, double part), void *context, struct str *err);
/*
 * Instead of script_run: a Python script with functions for the recording's events goes to the output, which the caller
 * ends. A pipe is read to its end. 0, or as script_run, with a script of what could be read.
 */
int script_generate(struct script *script, struct output *output, struct str *err);
struct session *script_session(struct script *script);
/* The fields of -F, for completion; false: no more. */
bool script_field_row(size_t i, const char **name, const char **help);

#endif
