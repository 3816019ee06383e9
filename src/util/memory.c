/* SPDX-License-Identifier: MIT */
/*
 * Memory that does not fail: what then happens is up to who links this (memory_exhausted.c, or its stand-in).
 */
#include "util.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Huge pages of x86-64, and of arm64 with pages of 4 KiB. Larger ones make the request below refused, or no loss. */
enum { HUGE_BYTES = 2 << 20 };

/* To map a piece costs system calls and its pages' faults: little beside filling so much. */
enum { LARGE_BYTES = 1 << 20 };

static void *checked(void *p)
{
	if (!p)
		memory_exhausted();
	return p;
}

/*
 * Asks for huge pages in a piece that holds one: such pieces are filled from end to end, and 512 faults, of which some
 * virtual machines make 20 us each, are one where the kernel has huge pages for those who ask. Smaller pieces, all that
 * starting and counting take, cost a comparison. Only whole huge pages within the piece are asked for.
 */
static void *in_huge_pages(void *p, size_t bytes)
{
	uintptr_t start = ((uintptr_t)p + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
	uintptr_t end = ((uintptr_t)p + bytes) & ~(uintptr_t)(HUGE_BYTES - 1);

	if (bytes >= HUGE_BYTES && start < end)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
	return p;
}

void memory_return_large(void)
{
#ifdef M_MMAP_THRESHOLD /* of glibc; others do so anyway */
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

void *xmalloc(size_t bytes)
{
	return in_huge_pages(checked(malloc(bytes ? bytes : 1)), bytes);
}

void *xcalloc(size_t n, size_t bytes)
{
	return checked(n && bytes ? calloc(n, bytes) : calloc(1, 1));
}

void *xreallocarray(void *old, size_t n, size_t bytes)
{
	return in_huge_pages(checked(n && bytes ? reallocarray(old, n, bytes) : realloc(old, 1)), n * bytes);
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}
