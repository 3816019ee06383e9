/* SPDX-License-Identifier: MIT */
/*
 * pager: long text on a terminal goes through $PSTAT_PAGER, $PAGER or less. Private to cmd/.
 */
#ifndef PSTAT_PAGER_H
#define PSTAT_PAGER_H

#include "util/util.h"

#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: none, text goes to stdout itself */
	int saved_stdout; /* -1 where there is no pager */
};

/*
 * Starts a pager where stdout is a terminal and stdout becomes the pipe to it. The pager may be turned off
 * by `wanted`, by an empty variable and by "cat". Call it when the text is there: its errors come before.
 */
void pager_open(struct pager *pager, bool wanted);
/* Ends the text and waits until the user has left the pager. */
void pager_close(struct pager *pager);

#endif
