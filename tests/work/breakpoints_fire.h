/* SPDX-License-Identifier: MIT */
/*
 * Whether there are breakpoints, and they count: on some virtual machines one can be opened, and nothing ever comes of
 * it. perf_event_open(2), "bp_type".
 */
#ifndef BREAKPOINTS_FIRE_H
#define BREAKPOINTS_FIRE_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* false: none can be opened, or it stays at 0. */
static inline bool breakpoints_fire(void)
{
	static volatile int written;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&written,
		.bp_len = sizeof(written),
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t count = 0;

	if (fd < 0)
		return false;
	written = 1;
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	close(fd);
	return count;
}

#endif
