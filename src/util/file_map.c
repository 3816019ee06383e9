/* SPDX-License-Identifier: MIT */
/*
 * file_map.c: see file_map.h. The handler puts a page of zeros where the file has none any more.
 */
#include "util/util.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* The handler looks at these while they change: a slot is free while its start is 0, and bytes is set before it. */
struct guarded_map {
	_Atomic uintptr_t start;
	_Atomic size_t bytes;
	atomic_uint taken; /* 0 or 1: for bytes, RISC-V has no instruction and compilers call a library */
};
static struct {
	struct guarded_map maps[FILE_MAPS_MAX];
	struct sigaction before; /* whose the signal was */
	size_t page_bytes;
} guard;

bool file_map_has(uintptr_t addr)
{
	for (size_t i = 0; i < FILE_MAPS_MAX; i++) {
		uintptr_t start = atomic_load(&guard.maps[i].start);

		if (start && addr >= start && addr - start < atomic_load(&guard.maps[i].bytes))
			return true;
	}
	return false;
}

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	int error = errno;
	void *page = (void *)(addr - addr % guard.page_bytes);

	(void)context;
	/* Sent by kill(2), it has no address. One that returns without a change comes again, to who had it before. */
	if (info->si_code <= 0 || !file_map_has(addr) ||
	    mmap(page, guard.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED) {
		sigaction(signal, &guard.before, NULL);
		if (info->si_code <= 0)
			raise(signal);
	}
	errno = error;
}

/* Takes the signal, which others may have taken since the last file was mapped. The lock is held. */
static bool catch_signal(void)
{
	struct sigaction now, ours = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigemptyset(&ours.sa_mask);
	guard.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	if (sigaction(SIGBUS, NULL, &now))
		return false;
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus_error)
		return true;
	guard.before = now;
	return !sigaction(SIGBUS, &ours, NULL);
}

/* Files are mapped by several threads. */
static bool catch_bus_errors(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool caught;

	pthread_mutex_lock(&lock);
	caught = catch_signal();
	pthread_mutex_unlock(&lock);
	return caught;
}

static struct guarded_map *take_slot(void)
{
	for (size_t i = 0; i < FILE_MAPS_MAX; i++)
		if (!atomic_exchange(&guard.maps[i].taken, 1))
			return &guard.maps[i];
	return NULL;
}

void *file_map(int fd, size_t bytes, int prot, int flags)
{
	struct guarded_map *slot = catch_bus_errors() ? take_slot() : NULL;
	void *start;

	if (!slot)
		return NULL;
	start = mmap(NULL, bytes, prot, flags, fd, 0);
	if (start == MAP_FAILED) {
		atomic_store(&slot->taken, 0);
		return NULL;
	}
	atomic_store(&slot->bytes, bytes);
	atomic_store(&slot->start, (uintptr_t)start);
	return start;
}

void file_unmap(void *start, size_t bytes)
{
	struct guarded_map *slot = NULL;

	if (!start)
		return;
	for (size_t i = 0; i < FILE_MAPS_MAX && !slot; i++)
		if (atomic_load(&guard.maps[i].start) == (uintptr_t)start)
			slot = &guard.maps[i];
	/* First: another thread may get the place at once. */
	if (slot)
		atomic_store(&slot->start, 0);
	munmap(start, bytes);
	if (slot)
		atomic_store(&slot->taken, 0);
}
