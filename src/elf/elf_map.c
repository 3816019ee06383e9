/*
 * elf_map: the bytes of a file mapped instead of read, for debug sections of hundreds of megabytes of which a few are
 * looked at, and for what sym/ keeps of the kernel's list. What is written to them stays in this process.
 *
 * A map has two dangers, which reading has not. The file may change while its bytes are believed: so only one that
 * nobody but this user and root can write to is mapped. And where it becomes shorter, its last pages are gone, which
 * is SIGBUS: the handler puts a page of zeros there, as if the file had them, and the reader finds damage. A SIGBUS
 * anywhere else is left to whoever had the signal before.
 */
#include "elf/elf_internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAPS_MAX = 256 }; /* at once; further files are read */

/* The handler looks at these while they change: a slot is free while its start is 0, and bytes is set before it. */
struct map {
	_Atomic uintptr_t start;
	_Atomic size_t bytes;
	atomic_bool taken;
};
static struct {
	struct map maps[MAPS_MAX];
	struct sigaction before; /* whose the signal was */
	size_t page_bytes;
} guard;

static bool is_mapped(uintptr_t addr)
{
	for (size_t i = 0; i < MAPS_MAX; i++) {
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
	void *page = (char *)info->si_addr - addr % guard.page_bytes;

	(void)context;
	/* Sent by kill(2), it has no address. One that returns without a change comes again, to who had it before. */
	if (info->si_code <= 0 || !is_mapped(addr) ||
	    mmap(page, guard.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED) {
		sigaction(signal, &guard.before, NULL);
		if (info->si_code <= 0)
			raise(signal);
	}
	errno = error;
}

/* Others may have taken the signal since the last file was mapped. With the lock held. */
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

static struct map *take_slot(void)
{
	for (size_t i = 0; i < MAPS_MAX; i++)
		if (!atomic_exchange(&guard.maps[i].taken, true))
			return &guard.maps[i];
	return NULL;
}

static bool is_ours_alone(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

char *elf_map(int fd, size_t *bytes)
{
	struct stat st;
	struct map *slot;
	void *start;

	if (fstat(fd, &st) || !is_ours_alone(&st) || st.st_size <= 0 || (uint64_t)st.st_size > SIZE_MAX / 2 ||
	    !catch_bus_errors())
		return NULL;
	slot = take_slot();
	if (!slot)
		return NULL;
	start = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (start == MAP_FAILED) {
		atomic_store(&slot->taken, false);
		return NULL;
	}
	*bytes = (size_t)st.st_size;
	atomic_store(&slot->bytes, *bytes);
	atomic_store(&slot->start, (uintptr_t)start);
	return start;
}

void elf_unmap(char *start, size_t bytes)
{
	if (!start)
		return;
	for (size_t i = 0; i < MAPS_MAX; i++) {
		if (atomic_load(&guard.maps[i].start) != (uintptr_t)start)
			continue;
		atomic_store(&guard.maps[i].start, 0); /* first: another thread may get the place at once */
		munmap(start, bytes);
		atomic_store(&guard.maps[i].taken, false);
		return;
	}
}

void elf_view_forget(const void *from, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from;
	size_t skip = (page - start % page) % page;

	if (!is_mapped(start) || bytes < skip + page)
		return;
	bytes = (bytes - skip) / page * page;
	madvise((char *)(start + skip), bytes, MADV_DONTNEED);
}
