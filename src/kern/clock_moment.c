/* SPDX-License-Identifier: MIT */
/*
 * One moment on two clocks: the time of day, and the clock of the kernel's samples, which user space cannot
 * read. pstat gives its own thread the name that it has already: the kernel writes a COMM record with the
 * time on its clock into the ring of an event that watches this thread, between two looks at the time of day.
 *
 * Source: perf_event_open(2), PERF_RECORD_COMM and sample_id.
 */
#include "kern/machine.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

/* A thread that loses its CPU between two looks learns little: it tries again, until they are near each other. */
enum { TRIES_LEAST = 4, TRIES_MOST = 64, NEAR_NS = 20000, TASK_NAME_BYTES = 16 };

static uint64_t time_of_day_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)timespec_ns(&t);
}

/* The time of the record that has just come; sample_id is only that, at its end. 0: there is none. */
static uint64_t take_time(struct ring *ring)
{
	struct ring_span span[2];
	size_t n = ring_ready(ring, span);
	uint64_t time_ns = 0;

	/* The records of all tries fill a part of the ring, so that none wraps. */
	if (n >= sizeof(time_ns) && span[0].n == n)
		memcpy(&time_ns, span[0].bytes + n - sizeof(time_ns), sizeof(time_ns));
	ring_release(ring, n);
	return time_ns;
}

static int narrow_down(struct ring *ring, uint64_t *wall_ns, uint64_t *clock_ns)
{
	uint64_t narrowest = UINT64_MAX;
	char name[TASK_NAME_BYTES + 1] = "";

	prctl(PR_GET_NAME, name);
	for (int i = 0; i < TRIES_LEAST || (i < TRIES_MOST && narrowest > NEAR_NS); i++) {
		uint64_t before = time_of_day_ns(), after, time_ns;

		prctl(PR_SET_NAME, name);
		after = time_of_day_ns();
		time_ns = take_time(ring);
		if (!time_ns || after < before || after - before >= narrowest)
			continue;
		narrowest = after - before;
		*wall_ns = before + narrowest / 2;
		*clock_ns = time_ns;
	}
	return narrowest == UINT64_MAX ? -ENODATA : 0;
}

int clock_moment(const struct sys_ops *sys, uint64_t *wall_ns, uint64_t *clock_ns)
{
	struct perf_event_attr attr = {
		ATTR_OF_NOTHING,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.comm = 1,
	};
	int fd = sys->perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), rc;
	struct ring ring;

	if (fd < 0)
		return fd;
	rc = ring_map(&ring, sys, fd, -1, 1, false);
	if (!rc) {
		rc = narrow_down(&ring, wall_ns, clock_ns);
		ring_unmap(&ring);
	}
	sys->close(fd);
	return rc;
}
