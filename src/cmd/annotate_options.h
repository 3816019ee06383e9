/*
 * annotate_options: what the options of `pstat annotate` fill. Private to cmd/.
 */
#ifndef PSTAT_ANNOTATE_OPTIONS_H
#define PSTAT_ANNOTATE_OPTIONS_H

#include "cmd/sample_options.h"
#include "fmt/fmt.h"

struct annotate_words {
	struct sample_words sample; /* first: sample_options[] fills it */
	const char *symbol; /* NULL: all */
	struct annotate_options options;
	struct annotation_look look;
	double percent_limit;
	int group, source; /* 1, 0 with --no-X; -1: not given */
	bool total_period, n_samples;
	bool skip_missing;
	bool stdio, tui; /* neither: the browser on a terminal, else printed */
};

void annotate_words_init(struct annotate_words *words);
/* 0, or an exit status after a message. */
int annotate_words_finish(struct annotate_words *words);

#endif
