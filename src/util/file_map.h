/* SPDX-License-Identifier: MIT */
/*
 * file_map: files that are mapped, and may become shorter meanwhile: their last pages are then gone, and looking at
 * them is SIGBUS. Here it gives zeros, as if the file had them: the reader finds damage, and the program goes on. A
 * SIGBUS anywhere else is left to whoever had the signal before. Read by including util.h.
 *
 * Source: mmap(2), sigaction(2), signal-safety(7).
 */
#ifndef PSTAT_FILE_MAP_H
#define PSTAT_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILE_MAPS_MAX = 256 }; /* at once, in all threads */

/* The first bytes of the file. prot, flags: of mmap(2). NULL: it can't be mapped, or there are too many. */
void *file_map(int fd, size_t bytes, int prot, int flags);
/* Takes what mmap(2) has mapped, too; and NULL for nothing. */
void file_unmap(void *start, size_t bytes);
/* Is it in a file that is mapped here? */
bool file_map_has(uintptr_t addr);

#endif
