/* SPDX-License-Identifier: MIT */
/*
 * export_internal: what the formats share. Private to export/.
 */
#ifndef PSTAT_EXPORT_INTERNAL_H
#define PSTAT_EXPORT_INTERNAL_H

#include "export/export.h"

/* ---- export.c ---- */

/* Reads the recording once; a note tells which filter left nothing. */
int export_run(struct export *export, const struct sample_sink *sink, struct str *err);
/* The text of a tracepoint's sample, printable; false: nothing is known of it. */
bool export_trace_text(struct export *export, const struct replay_sample *sample, struct str *out);
/* The fields of a tracepoint's sample are known by these; NULL: they are not. */
struct tracepoints *export_tracepoints(struct export *export, const struct replay_sample *sample);
/* TASK_RUNNING but of waits: of events that have nothing else, or that are all of a thread's time. */
enum task_state export_task_state(const struct replay_sample *sample);
/* A file's name for a frame whose function is not known: "[libc.so.6]", "[unknown]". */
void export_add_nameless(const struct location_row *row, struct str *out);
/* Nanoseconds since 1970 of a time of the recording's clock; 0: the recording does not say. */
uint64_t export_wall_ns(const struct session *session, uint64_t time_ns);
/* The command line of the recording, as it was given. */
void export_add_command(const struct export *export, struct str *out);
/* Functions of a sample_sink that takes all samples with stacks, and whose context begins with its struct export *. */
int export_wants(void *context, const struct data_event *event, unsigned *wanted, struct str *err);
void export_progress(void *context, double part);

/* Text on its way to the output, packed or not: formats write into `text`, and call text_out_step() now and then. */
struct text_out {
	struct str text;
	struct output *output;
	struct gzip *gzip; /* NULL: not packed */
};
/* why: a sentence, where it can't be packed as it should be; see gzip_new. */
void text_out_init(struct text_out *out, struct output *output, bool gzip, struct str *why);
int text_out_step(struct text_out *out); /* between pieces of text: 0 or output->failed */
int text_out_end(struct text_out *out); /* and releases */

extern const struct export_text_format export_firefox, export_jsonl, export_speedscope, export_perf_json;

#endif
