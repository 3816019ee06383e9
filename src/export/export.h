/* SPDX-License-Identifier: MIT */
/*
 * export: a recording, sample by sample, as a file for other programs: each format is a sample sink (profile.h) of its
 * own file. What is kept grows with what is distinct (stacks, addresses, threads), never with the number of samples.
 *
 *   session + filters -> sample_stream_run -> firefox.c | jsonl.c | speedscope_time.c | sqlite.c
 */
#ifndef PSTAT_EXPORT_H
#define PSTAT_EXPORT_H

#include "profile/profile.h"
#include "trace/trace.h"

struct export_options {
	struct session_options session;
	struct filter_options filters;
	bool wall_clock; /* perf-json: times since 1970 */
};
struct export {
	struct export_options options;
	struct session session;
	struct filters *filters;
	struct tracepoints *tracepoints; /* export_trace_text; NULL: not opened, or there are none */
	bool tracepoints_tried;
	void (*progress)(void *context, double part); /* set by the caller, with its context; or NULL */
	void *progress_context;
	const struct interrupt *interrupt; /* ends what would leave half a file; set likewise, or NULL */
};
/* The reader must stay open. 0, or -EINVAL with a sentence about a filter. Release in every case. */
int export_init(struct export *export, const struct export_options *options, struct reader *reader, struct str *err);
void export_release(struct export *export);

/*
 * A format whose file is written from its beginning to its end: export_text_formats[]. gzip: the name of the file says
 * that it is packed. 0, a negative errno with a sentence, or output->failed.
 */
struct export_text_format {
	const char *name;
	int (*run)(struct export *export, struct output *output, bool gzip, struct str *err);
};
/* "firefox", "jsonl", "perf-json", "speedscope"; NULL: none of that name. */
const struct export_text_format *export_text_format_find(const char *name);

/*
 * A database at the path, in place of what was there. 0; a negative errno with a sentence that does not name the path:
 * there is none (-ECANCELED: interrupted); or EXPORT_READING_ENDED with a sentence: it has what could be read of the
 * recording.
 */
enum { EXPORT_READING_ENDED = 1 };
int export_sqlite(struct export *export, const char *path, struct str *err);
/* Can databases be written? 0, -ENOSYS: left out of the build, or why not. */
int export_sqlite_try(struct str *err);

#endif
