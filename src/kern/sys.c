/* SPDX-License-Identifier: MIT */
/*
 * The seam: the system calls that opening and reading counters need, as one table. Every entry
 * returns a value >= 0 or a negative errno, so that nothing above looks at errno. A test replaces
 * the whole table and so plays any kernel.
 *
 * Source: perf_event_open(2).
 */
#include "kern/kern.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A signal may end the call early while the kernel waits for the task's exec to finish. */
static int linux_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
				 unsigned long flags)
{
	long fd;

	do {
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

static int linux_ioctl(int fd, unsigned long request, unsigned long arg)
{
	int rc = ioctl(fd, request, arg);

	return rc < 0 ? -errno : rc;
}

static ssize_t linux_read(int fd, void *buf, size_t bytes)
{
	ssize_t n = read(fd, buf, bytes);

	return n < 0 ? -errno : n;
}

static int linux_close(int fd)
{
	return close(fd) < 0 ? -errno : 0;
}

static int linux_rlimit(int resource, const struct rlimit *set, struct rlimit *old)
{
	return prlimit(0, resource, set, old) < 0 ? -errno : 0;
}

static void *linux_map(int fd, size_t bytes, bool writable, int *err)
{
	void *addr =
		mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	*err = addr == MAP_FAILED ? -errno : 0;
	return addr == MAP_FAILED ? NULL : addr;
}

static void linux_unmap(void *addr, size_t bytes)
{
	munmap(addr, bytes);
}

static int linux_cpu_time(pid_t pid, uint64_t *ns)
{
	struct timespec t;
	clockid_t clock;
	int rc = clock_getcpuclockid(pid, &clock);

	if (rc)
		return -rc;
	if (clock_gettime(clock, &t))
		return -errno;
	*ns = (uint64_t)timespec_ns(&t);
	return 0;
}

const struct sys_ops sys_linux = {
	.perf_event_open = linux_perf_event_open,
	.ioctl = linux_ioctl,
	.read = linux_read,
	.close = linux_close,
	.rlimit = linux_rlimit,
	.map = linux_map,
	.unmap = linux_unmap,
	.cpu_time = linux_cpu_time,
};
