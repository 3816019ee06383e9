/* SPDX-License-Identifier: MIT */
/*
 * annotate_internal: what the files of annotate/ and its tests share. Private to annotate/.
 */
#ifndef PSTAT_ANNOTATE_INTERNAL_H
#define PSTAT_ANNOTATE_INTERNAL_H

#include "annotate/annotate.h"
#include "annotate/source_text.h"

/* Owned by an annotation beside its arrays. */
struct annotation_private {
	struct annotate *annotate;
	struct session *session;
	struct annotate_options options;
	struct source_options source_options;
	struct source_texts *sources;
	struct symbol_code code;
	struct arena arena; /* texts, cells */
};

/* ---- functions.c ---- */
struct session *annotate_session(const struct annotate *annotate);
/* NULL: the query has not so many. */
const struct data_event *annotate_event(const struct annotate *annotate, size_t event);
/* The same as annotate_function_of, for who fills it. */
struct annotate_function *annotate_own_function(struct annotate *annotate, const struct symbol *symbol);

/* ---- cycles.c ---- */
/* Gives the functions that have samples their runs; what they point to is returned, for free(). */
struct cycle_run *annotate_add_runs(struct annotate *annotate, const size_t *events, size_t n_events,
				    const struct profile *profile, const struct filters *filters);
/* Instructions are there: the cycles of each, and of all. */
void annotation_count_cycles(struct annotation *annotation);

/* ---- x86_vector.c ---- */
/* The length of an instruction that begins with a vector prefix (of 64-bit code); 0: it is none, or cut. */
unsigned x86_vector_length(const uint8_t *bytes, size_t n);

/* ---- annotation.c ---- */
/* Code is there, whose first byte is at start: its instructions, and the samples of each. */
void annotation_make_instructions(struct annotation *annotation, struct disasm *disasm, uint64_t start);
/* Instructions are there: rows from top to bottom, and the sums by source line. */
void annotation_make_rows(struct annotation *annotation);
void annotation_make_lines(struct annotation *annotation);

#endif
