/* SPDX-License-Identifier: MIT */
/*
 * fork_mark.c: the page that a child finds empty.
 *
 * A handle's process id would do as well, but getpid(2) is a system call, which costs more than all that a
 * counter's register takes; pthread_atfork(3) would be state outside the handle.
 */
#include "count/fork_mark.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int fork_mark_set(struct fork_mark *mark)
{
	uint32_t *page;
	int rc;

	*mark = (struct fork_mark){ .owner = getpid() };
	page = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (madvise(page, page_bytes(), MADV_WIPEONFORK)) {
		rc = -errno;
		munmap(page, page_bytes());
		return rc;
	}
	*page = 1;
	mark->page = page;
	return 0;
}

void fork_mark_clear(struct fork_mark *mark)
{
	if (mark->page)
		munmap((void *)(uintptr_t)mark->page, page_bytes());
	*mark = (struct fork_mark){ 0 };
}
