/* SPDX-License-Identifier: MIT */
/*
 * memory_locked: memory that is there when it is needed: no page of it has to be made, or read back from swap,
 * by a thread that must not wait.
 *
 * Sources: mlock2(2): MLOCK_ONFAULT, madvise(2), getrlimit(2): RLIMIT_MEMLOCK.
 */
#ifndef PSTAT_UTIL_MEMORY_LOCKED_H
#define PSTAT_UTIL_MEMORY_LOCKED_H

#include <stddef.h>

/*
 * Makes all pages of this private, writable memory present. What it holds stays, also what another thread writes to it
 * meanwhile. memory begins at a page, as mmap(2) returns it.
 */
void memory_make_present(void *memory, size_t bytes);

/*
 * Locks as many pages of such memory, from the first on, as the user may have: all where the user is privileged
 * (CAP_IPC_LOCK), else what RLIMIT_MEMLOCK leaves beside what is locked already; rings of perf events are not counted
 * against it here. A page that is not present yet stays in memory from when it is (Linux 4.4; before, none is locked).
 *
 * Returns how many bytes are locked, 0 to `bytes`. munmap(2) unlocks them.
 */
size_t memory_lock(void *memory, size_t bytes);

#endif
