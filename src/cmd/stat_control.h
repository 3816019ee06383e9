/*
 * stat_control: --control fd:N[,N] or fifo:PATH[,PATH] -> two descriptors. Private to cmd/.
 */
#ifndef PSTAT_STAT_CONTROL_H
#define PSTAT_STAT_CONTROL_H

#include "util/util.h"

struct stat_control {
	int fd, ack_fd; /* -1: none */
	bool close_fds; /* opened here */
};
#define STAT_CONTROL_INIT { -1, -1, false }

/* words may be NULL: no control. 0, or a negative errno with a sentence. Close it in every case. */
int stat_control_open(struct stat_control *control, const char *words, struct str *err);
void stat_control_close(struct stat_control *control);

#endif
