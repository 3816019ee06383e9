/* SPDX-License-Identifier: MIT */
/* An input as a recording, for fuzzers of what reads recordings. */
#ifndef PSTAT_FUZZ_RECORDING_H
#define PSTAT_FUZZ_RECORDING_H

#include "profile/profile.h"

#include <stdlib.h>
#include <unistd.h>

/* No file of the machine is read: all paths are looked up below a folder that is not there. */
#define NOWHERE "/proc/self/nowhere"

static const struct session_options session_options = {
	.sym = { .symfs = NOWHERE, .kallsyms = "/dev/null", .ignore_vmlinux = true, .buildid_dir = NOWHERE,
		 .map_dir = NOWHERE, .procfs = NOWHERE, .sysfs = NOWHERE },
	/* What may wait is bounded, so that a small input is not kept back until the end. */
	.replay = { .queue_bytes = 1 << 20, .data_maps = true },
};

/* The reader closes its own copy of the descriptor. */
static inline bool open_input(struct reader *reader, int fd)
{
	struct str err = STR_INIT;
	int copy = dup(fd);
	bool open;

	if (copy < 0 || lseek(copy, 0, SEEK_SET))
		abort();
	open = !reader_open_fd(reader, copy, "input", &err);
	str_release(&err);
	return open;
}

#endif
