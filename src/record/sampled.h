/*
 * sampled: which files a finished recording has samples in: one pass over it, that tells each file once and ends
 * when nobody wants to know of another one. Private to record/.
 */
#ifndef PSTAT_SAMPLED_H
#define PSTAT_SAMPLED_H

#include "space/space.h"

struct sampled_asks {
	void *data;
	/* The first sample in it. False: enough is known. */
	bool (*found)(void *data, const struct dso *dso);
	/* Now and then, part: 0 to 1. False: end it. */
	bool (*goes_on)(void *data, double part);
};

/*
 * fd: open on it, and taken over. 0: all was read, or enough; -ECANCELED: it was ended; another negative errno with a
 * sentence: it cannot be read.
 */
int sampled_files(int fd, const char *path, const struct sampled_asks *asks, struct str *err);

#endif
