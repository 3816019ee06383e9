/* SPDX-License-Identifier: MIT */
/*
 * control_place: --control fd:N[,N] or fifo:PATH[,PATH] -> two descriptors. Private to cmd/.
 */
#ifndef PSTAT_CONTROL_PLACE_H
#define PSTAT_CONTROL_PLACE_H

#include "util/util.h"

struct control_place {
	int fd, ack_fd; /* -1: none */
	bool close_fds; /* opened here */
};
#define CONTROL_PLACE_INIT { -1, -1, false }

/* words may be NULL: no control. 0, or a negative errno with a sentence. Close it in every case. */
int control_place_open(struct control_place *control, const char *words, struct str *err);
void control_place_close(struct control_place *control);

#endif
