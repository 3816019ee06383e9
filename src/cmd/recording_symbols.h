/* SPDX-License-Identifier: MIT */
/*
 * recording_symbols: names of what was sampled go into a finished recording, for `record --symbols-in-file` and
 * `archive --into-recording`. Private to cmd/.
 */
#ifndef PSTAT_RECORDING_SYMBOLS_H
#define PSTAT_RECORDING_SYMBOLS_H

#include "cmd/signals.h"

#include <stdbool.h>

struct symbols_put {
	const char *cache_dir; /* of files by build-id, where names are looked for, too; NULL: the usual one */
	const char *symfs; /* all other files are below it, or NULL */
	bool debuginfod; /* ask the servers of $DEBUGINFOD_URLS */
	bool quiet;
	bool no_cache; /* names are neither taken from the user's cache of them nor kept there */
};
/*
 * fd: open on the recording that is at the path. Says on stderr what was put into it, unless quiet, or why nothing
 * was. 0, or a negative errno; a signal that is noted in `stop` meanwhile ends it: -ECANCELED.
 */
int recording_symbols_put(int fd, const char *path, const struct symbols_put *how, const struct run_stop *stop);

#endif
