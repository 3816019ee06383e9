/* SPDX-License-Identifier: MIT */
/*
 * unwind_files: where the files that were mapped can be read while their processes may end: each is opened soon after
 * it was mapped, and stays open. Private to record/.
 *
 *	consumer: a map was made --see--> table, by dso        workers: open (below the process's root, the mapping
 *	                                   `-- descriptor  <------------ itself, or here), then read by the descriptor
 *
 * Seeing waits for nothing but a lock that is held for moments. Opening may wait for a file system: workers do it.
 */
#ifndef PSTAT_UNWIND_FILES_H
#define PSTAT_UNWIND_FILES_H

#include "data/data.h"
#include "space/space.h"

struct unwind_files;
struct elf_file; /* elf.h */

/* One moment on the clock of samples and on that of files. Zeros: not known; then files count as what they were. */
struct unwind_clock {
	uint64_t time_ns, wall_ns;
};

/* procfs is borrowed. */
struct unwind_files *unwind_files_new(const char *procfs, const struct unwind_clock *clock);
void unwind_files_free(struct unwind_files *files); /* NULL is nothing */
/*
 * Process `pid` has mapped the dso. By the thread that changes the dso table. true: nobody has tried to open it there,
 * so that a worker is to be sent; false: it is open, or cannot be needed.
 */
bool unwind_files_see(struct unwind_files *files, const struct dso *dso, const struct record_mmap *mmap);
/*
 * A path, good as long as `files` is there; NULL: the file could not be had so far, or was written to after time_ns (on
 * the clock of samples; 0: never mind), and what it was then is gone. It leads to the file as long, too, unless so many
 * descriptors were held already that it is the path that the file was found by: that of a process may go with it. By
 * any thread; what was not tried yet is tried now. written: when the file was, if there is a path; or
 * NULL.
 */
const char *unwind_files_path(struct unwind_files *files, uint32_t dso, uint64_t time_ns, struct timespec *written);
/*
 * How many writings to files, over what was mapped of them, were before this time: whoever has read files for samples
 * of another number is to read them anew. By any thread.
 */
unsigned unwind_files_era(const struct unwind_files *files, uint64_t time_ns);
/*
 * Was it written to since its path was had, with this time? Then what was read of it meanwhile is neither what it was
 * nor what it is. Of one whose descriptor is not held nobody looks. By any thread.
 */
bool unwind_files_changed(struct unwind_files *files, uint32_t dso, const struct timespec *since);
/*
 * A path as unwind_files_path's to the debug file with the unwind tables of a file that was had by its path, and is
 * held. It has the file's build-id, or where that has none, the checksum of its debug link. NULL: there is none. It is
 * looked for when it is first asked for, and never again: others who ask wait. By workers alone.
 */
const char *unwind_files_debug_path(struct unwind_files *files, uint32_t dso, struct elf_file *file);
/*
 * A path as unwind_files_path's to the dump of its code that the process mapped last; NULL: none is known, or it could
 * not be had. *file: a number of that dump. By any thread.
 */
const char *unwind_files_jit_dump(struct unwind_files *files, int32_t pid, uint32_t *file);
/* How often a file could be opened after it could not be. By any thread. */
unsigned unwind_files_late(const struct unwind_files *files);

#endif
