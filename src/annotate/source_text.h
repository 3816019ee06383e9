/* SPDX-License-Identifier: MIT */
/*
 * source_text: lines of source files, for those who show code between them. Private to annotate/.
 */
#ifndef PSTAT_SOURCE_TEXT_H
#define PSTAT_SOURCE_TEXT_H

#include "util/util.h"

struct source_options {
	const char *symfs; /* files are looked for below it first; NULL: not */
	const char *prefix;
	unsigned prefix_strip;
};
struct source_texts;
struct source_texts *source_texts_new(const struct source_options *options); /* borrowed */
void source_texts_free(struct source_texts *texts); /* NULL is fine */
/* The text of a line, printable, without its end; lives as long as texts. NULL: no such file or line. */
const char *source_text(struct source_texts *texts, const char *file, unsigned line);

#endif
