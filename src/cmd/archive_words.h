/*
 * archive_words: what `pstat archive` was asked for, and its two halves. Private to cmd/.
 */
#ifndef PSTAT_ARCHIVE_WORDS_H
#define PSTAT_ARCHIVE_WORDS_H

#include "cmd/signals.h"

struct archive_words {
	const char *input; /* NULL: a pipe, or perf.data; of --unpack: an archive of this folder */
	const char *output; /* NULL: named after the input */
	const char *buildid_dir, *symfs;
	bool all, unpack, force, into_recording, debuginfod, no_cache;
	int verbose;
	const struct run_stop *stop; /* of --unpack and --into-recording; and what asks for it */
	struct interrupt interrupt;
};

/* archive_make.c: a recording into an archive. The exit status, after messages. */
int archive_make(const struct archive_words *words);
/* archive_restore.c: an archive into the cache. The same. */
int archive_restore(const struct archive_words *words);

#endif
