/* SPDX-License-Identifier: MIT */
/*
 * browse: a recording in the browser, for the commands that read one. Private to cmd/.
 */
#ifndef PSTAT_BROWSE_H
#define PSTAT_BROWSE_H

#include "cmd/sample_run.h"
#include "screen/screen.h"

struct browse_words {
	const struct query *query;
	struct annotate_options code_options; /* of code that is gone to */
	enum annotate_percent code_percent; /* what its percentages are of at first */
	const struct screen_code *code; /* as struct screen_options has it */
	bool asked_for; /* --tui: where there is no screen, it is said why */
};
/*
 * Whoever looks at it has left again, or why not is said. False: there is no screen to be had, and nothing was
 * read.
 */
bool browse_recording(struct sample_run *run, const struct browse_words *words);
/* A message for who asked for it: why there is none. */
void browse_not(bool asked_for, const char *why);

#endif
