/* SPDX-License-Identifier: MIT */
/*
 * A kernel to play with: a sys_ops table that records every perf_event_open and answers as a test's
 * function says. File descriptors it hands out begin at 1000; it knows which ones are open.
 */
#ifndef FAKE_SYS_H
#define FAKE_SYS_H

#include "kern/kern.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FAKE_CALLS = 512, FAKE_FD = 1000 };

struct fake_call {
	struct perf_event_attr attr;
	pid_t pid;
	int cpu, group_fd, result;
	unsigned long flags;
};

static struct {
	struct fake_call calls[FAKE_CALLS];
	size_t n;
	bool open[FAKE_CALLS];
	size_t n_open;
	/* 0: opens; negative errno: refused. NULL: all opens. */
	int (*answer)(const struct fake_call *call);
	ssize_t (*read)(int fd, uint64_t *words, size_t bytes); /* NULL: each word is 1 */
	struct {
		int fd;
		unsigned long request;
		char text[64];
	} ioctls[FAKE_CALLS];
	size_t n_ioctls;
	int ioctl_result;
	struct rlimit limit;
} fake;

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags)
{
	struct fake_call *call = &fake.calls[fake.n];

	assert_true(fake.n < FAKE_CALLS);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_true(flags & PERF_FLAG_FD_CLOEXEC);
	*call = (struct fake_call){ *attr, pid, cpu, group_fd, 0, flags };
	call->result = fake.answer ? fake.answer(call) : 0;
	if (!call->result && fake.n_open + 3 >= fake.limit.rlim_cur)
		call->result = -EMFILE;
	if (!call->result) {
		call->result = FAKE_FD + (int)fake.n;
		fake.open[fake.n] = true;
		fake.n_open++;
	}
	return fake.calls[fake.n++].result;
}

static int fake_ioctl(int fd, unsigned long request, unsigned long arg)
{
	assert_in_range(fd, FAKE_FD, FAKE_FD + FAKE_CALLS - 1);
	assert_true(fake.open[fd - FAKE_FD]);
	fake.ioctls[fake.n_ioctls].fd = fd;
	fake.ioctls[fake.n_ioctls].request = request;
	if (arg)
		snprintf(fake.ioctls[fake.n_ioctls].text, sizeof(fake.ioctls[0].text), "%s",
			 (const char *)arg);
	fake.n_ioctls++;
	return fake.ioctl_result;
}

static ssize_t fake_read(int fd, void *buf, size_t bytes)
{
	assert_in_range(fd, FAKE_FD, FAKE_FD + FAKE_CALLS - 1);
	assert_true(fake.open[fd - FAKE_FD]);
	if (fake.read)
		return fake.read(fd, buf, bytes);
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)buf)[i] = 1;
	return (ssize_t)bytes;
}

static int fake_close(int fd)
{
	assert_in_range(fd, FAKE_FD, FAKE_FD + FAKE_CALLS - 1);
	assert_true(fake.open[fd - FAKE_FD]);
	fake.open[fd - FAKE_FD] = false;
	fake.n_open--;
	return 0;
}

static int fake_rlimit(int resource, const struct rlimit *set, struct rlimit *old)
{
	(void)resource;
	if (old)
		*old = fake.limit;
	if (set)
		fake.limit = *set;
	return 0;
}

static const struct sys_ops fake_ops = {
	.perf_event_open = fake_open,
	.ioctl = fake_ioctl,
	.read = fake_read,
	.close = fake_close,
	.rlimit = fake_rlimit,
};

static inline void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.limit = (struct rlimit){ 1024, 4096 };
}

/* The call that handed out fd. */
static inline const struct fake_call *fake_call_of(int fd)
{
	assert_in_range(fd, FAKE_FD, FAKE_FD + FAKE_CALLS - 1);
	return &fake.calls[fd - FAKE_FD];
}

/* An event by hand, as event/ would make it for counting. */
static inline struct event make_event(const char *name, uint32_t type, uint64_t config)
{
	static char none[1];

	return (struct event){
		.attr = { .type = type, .config = config, .exclude_guest = 1 },
		.source = "test",
		.name = xstrdup(name),
		.pmu_name = none,
		.unit = none,
		.scale = 1.0,
		.n_members = 1,
	};
}

#endif
