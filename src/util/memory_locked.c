/* SPDX-License-Identifier: MIT */
/*
 * memory_locked.c: how much the limit leaves is found by trying, in halves: then nothing has to be known of what else
 * the process has locked, nor of who may do more.
 *
 *   [== half ==][= quarter: refused =][eighth][...    each piece begins where the last locked one ended
 */
#include "util/memory_locked.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* MADV_POPULATE_WRITE of linux/mman.h; older headers lack it, and kernels before 5.14. */
enum { POPULATE_WRITE = 23 };

void memory_make_present(void *memory, size_t bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *at = memory;

	if (!madvise(memory, bytes, POPULATE_WRITE))
		return;
	/* A word: for bytes, RISC-V has no instruction and compilers call a library. */
	for (size_t i = 0; i < bytes; i += page_bytes)
		__atomic_fetch_add((unsigned int *)(void *)(at + i), 0, __ATOMIC_RELAXED);
}

size_t memory_lock(void *memory, size_t bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = bytes / page_bytes + (bytes % page_bytes != 0), locked = 0;

	for (size_t piece = pages; piece && locked < pages;) {
		if (piece > pages - locked)
			piece = pages - locked;
		if (mlock2((char *)memory + locked * page_bytes, piece * page_bytes, MLOCK_ONFAULT))
			piece /= 2;
		else
			locked += piece;
	}
	return locked < pages ? locked * page_bytes : bytes;
}
