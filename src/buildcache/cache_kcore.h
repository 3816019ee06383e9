/*
 * cache_kcore: copies of the running kernel's own code. The kernel patches itself while it runs and loads modules, so
 * that of one build-id there are many, each of a moment.
 *
 *	DIR/[kernel.kcore]/abcdef../2026112220263432/kcore      the code alone, in an ELF core file
 *	                                             kallsyms   the list of symbols of that moment
 *	                                             modules    which modules lay where
 *
 * The moment is local time to the hundredth of a second. Nothing leads here from .build-id: a kernel is asked for by
 * its build-id, and which of its copies is the right one is told by addresses. That build-id is in none of the three
 * files: the folder's name is all that is known, as it is of lists of symbols.
 *
 * Source: perf-buildid-cache(1), -k; what perf 6.1 makes of a folder.
 */
#ifndef PSTAT_CACHE_KCORE_H
#define PSTAT_CACHE_KCORE_H

#include "buildcache/buildcache.h"

#define CACHE_KCORE "[kernel.kcore]"

/*
 * Copies PATH, which is kcore, and kallsyms and modules from the folder that it is in; the build-id is that of
 * sys/kernel/notes beside this folder, as /sys is beside /proc. Of kcore what kallsyms and modules say is code. *made,
 * which the caller frees: the folder; also with -EEXIST: there is a copy of the same modules at the same addresses.
 * -ESTALE: modules came or went meanwhile; -EACCES, -ENOENT, -EINVAL and others with a sentence that names the file.
 */
int build_cache_add_kcore(struct build_cache *cache, const char *path, char **made, struct str *err);

struct cache_kcore { /* until the next one */
	struct build_id id;
	const char *moment; /* the last name of its folder, digits */
	const char *path; /* its folder: "DIR/[kernel.kcore]/abcdef../2026112220263432" */
	uint64_t bytes; /* on disk */
	int64_t made_ns; /* of CLOCK_REALTIME */
};
/*
 * Calls each for those of one kernel, or with id NULL for all, the newest of a kernel first, until it returns other
 * than 0, which is returned. Folders and files of other users are passed over, and what lacks one of the three.
 */
int build_cache_each_kcore(struct build_cache *cache, const struct build_id *id,
			   int (*each)(void *context, const struct cache_kcore *kcore), void *context);
/* All of it. */
int build_cache_remove_kcore(struct build_cache *cache, const struct cache_kcore *kcore, struct str *err);

#endif
