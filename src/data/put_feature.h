/*
 * put_feature.h: finished recordings get one more feature.
 */
#ifndef PSTAT_PUT_FEATURE_H
#define PSTAT_PUT_FEATURE_H

#include <stddef.h>

struct interrupt;
struct str;

/*
 * A finished recording, which fd is open on and which is at the path, gets one more feature, in place of the one that it
 * has of this id. It is written anew beside its place and renamed: whatever fails, or whoever is killed, leaves it as it
 * was. -ENOTSUP: it is in the layout of pipes or of the other byte order; -EINVAL: it is unfinished or damaged; -ESTALE:
 * it changed since, or another is at the path; -ECANCELED: interrupted; others of the file system. Nobody may write to
 * it meanwhile.
 */
int recording_put_feature(int fd, const char *path, unsigned id, const void *bytes, size_t n,
			  const struct interrupt *interrupt, struct str *err);

#endif
