/* SPDX-License-Identifier: MIT */
/*
 * fork_mark.h: is this the process that opened a handle, or a child of fork(2), in which the handle's mappings
 * are missing? One load tells, without a system call and without state outside the handle. Private to count/.
 *
 * The mark is a page that the kernel empties in a child (madvise(2), MADV_WIPEONFORK). Perf's own pages are not
 * there at all in a child: a look at them would end it. Where the kernel has no such page (before Linux 4.14), a child
 * is known by its process id, for a system call each time.
 */
#ifndef PSTAT_COUNT_FORK_MARK_H
#define PSTAT_COUNT_FORK_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

struct fork_mark {
	const volatile uint32_t *page; /* 1, in a child 0; NULL: no mark */
	pid_t owner; /* without a page; 0: no mark at all */
};

/* -ENOMEM, or -EINVAL where the kernel has no such pages. */
int fork_mark_set(struct fork_mark *mark);
/* Safe on a zeroed one, on one without a mark, and in a child. */
void fork_mark_clear(struct fork_mark *mark);

/* True: who asks is for certain the process that set the mark, by its page. */
static inline bool fork_mark_here(const struct fork_mark *mark)
{
	return mark->page && *mark->page;
}

/* True: who asks is for certain a child. */
static inline bool fork_mark_child(const struct fork_mark *mark)
{
	return mark->page ? !*mark->page : mark->owner && mark->owner != getpid();
}

#endif
