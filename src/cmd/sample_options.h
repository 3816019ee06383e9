/* SPDX-License-Identifier: MIT */
/*
 * sample_options: the options that report, script, annotate, diff and export share: which recording, whose samples,
 * where names come from, how it is shown on a terminal. Private to cmd/.
 */
#ifndef PSTAT_SAMPLE_OPTIONS_H
#define PSTAT_SAMPLE_OPTIONS_H

#include "cmd/options.h"
#include "cmd/raw_dump.h"
#include "cmd/terminal.h"
#include "profile/profile.h"

#include <limits.h>

enum { DEBUG_DIRS_MAX = 16 };

/* The first member of the commands' own words, so that the shared rows fit both. */
struct sample_words {
	struct raw_dump_words dump; /* its input is the recording of all else, too */
	struct session_options session;
	struct filter_options filters;
	const char *debug_dirs[DEBUG_DIRS_MAX + 1];
	char kcore_dir[PATH_MAX]; /* session.sym.kcore_dir, of a recording that is a folder */
	char symfs[PATH_MAX]; /* session.sym.symfs, without the layout */
	bool user_stacks, kernel_stacks; /* only that side of each chain */
	int verbose;
	bool quiet;
	bool no_pager;
	bool no_cache;
	enum color_mode color;
};

/* Options of what to read and of whose samples; then those of name_options[]: the tail of a command's table. */
extern const struct option_row sample_options[];
/* Options of where names come from, and those common to all that print samples. */
extern const struct option_row name_options[];

/* Brings what the rows filled into the options that profile/ takes. 0, or an exit status after a message. */
int sample_words_finish(struct sample_words *words);

#endif
