/*
 * list_near: what may have been meant by a word that `pstat list` does not know. Private to cmd/.
 */
#ifndef PSTAT_LIST_NEAR_H
#define PSTAT_LIST_NEAR_H

#include "kern/kern.h"

/* Adds the nearest names as "did you mean a, b or c?", or where to look; on a line of its own. */
void list_near_add(const char *word, const struct host_paths *host, struct str *out);

#endif
