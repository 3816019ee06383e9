/* SPDX-License-Identifier: MIT */
/*
 * archive_files: which files a recording's samples lie in, and where each of them is now. Private to cmd/.
 *
 * A file counts where a sample's own address is in it, one of its callchain or its branches, or its data address. It
 * is looked for in the build-id cache and then where report would find it; what was found has the recorded build-id.
 * For code that a process made, its map of names counts as its file, where the recorder kept it.
 */
#ifndef PSTAT_ARCHIVE_FILES_H
#define PSTAT_ARCHIVE_FILES_H

#include "buildcache/buildcache.h"
#include "profile/profile.h"

struct archive_files;
/* Reads the recording. The reader stays open. 0, or a negative errno with a sentence. */
int archive_files_new(struct archive_files **out, struct reader *reader, const struct session_options *options,
		      void (*progress)(void *context, double part), void *context, struct str *err);
void archive_files_free(struct archive_files *files); /* NULL is nothing */

size_t archive_files_count(const struct archive_files *files);
struct archive_file {
	const struct dso *dso;
	const char *path; /* raw bytes */
	struct build_id id; /* no two have the same; size 0: not known */
};
const struct archive_file *archive_files_at(const struct archive_files *files, size_t i);
/*
 * The files of one, by enum cache_kind: descriptors to close, -1 where there is none. cache may be NULL. 0: there is
 * one at least; else -ENOENT with a printable clause of why not.
 */
int archive_files_open(struct archive_files *files, size_t i, struct build_cache *cache, int fds[N_CACHE_KINDS],
		       struct str *why);

#endif
