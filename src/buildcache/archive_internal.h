/*
 * archive_internal: how the members of an archive are called. Private to the archive_*.c of buildcache/.
 */
#ifndef PSTAT_ARCHIVE_INTERNAL_H
#define PSTAT_ARCHIVE_INTERNAL_H

#include "buildcache/buildcache.h"

/* What the name of a member says. */
struct archive_name {
	struct build_id id;
	enum cache_kind kind;
	char *path; /* of what it stands for: "/usr/bin/x", "[vdso]"; the caller frees */
};

enum archive_name_result {
	NAME_ENTRY, /* a file of the cache; *out is filled */
	NAME_PASSED, /* perf keeps such files there, which nobody needs: probes */
	NAME_OTHER, /* none of the cache's */
	NAME_LEADS_OUT, /* absolute, or with ".." in it: never to be used */
};
/* Of a regular file, or of what a hard link names. */
enum archive_name_result archive_name_parse(const char *name, struct archive_name *out);
/* Is it a link of the cache: .build-id/ab/cdef.. to ../../PATH/abcdef..? */
bool archive_link_fits(const char *name, const char *target);

/* The name of a member; false: no entry can have such a path. */
bool archive_name_add(struct str *out, const char *path, const struct build_id *id, enum cache_kind kind);
/* The link of an entry, whose path is as above. */
void archive_link_add(struct str *name, struct str *target, const char *path, const struct build_id *id);

#endif
