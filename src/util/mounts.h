/* SPDX-License-Identifier: MIT */
/*
 * mounts: which mounted file systems may not answer. Those of a network answer when their server does; those of
 * FUSE when a program does, which any user may have started, or stopped. All others wait for a disk at most.
 *
 * The sources: proc_pid_mountinfo(5), statx(2), Documentation/filesystems/fuse.rst in the sources of Linux.
 */
#ifndef PSTAT_UTIL_MOUNTS_H
#define PSTAT_UTIL_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mount_kind {
	MOUNT_OF_KERNEL, /* nobody else has to answer */
	MOUNT_OF_NETWORK, /* made by root */
	MOUNT_OF_FUSE,
};

/* One that is not MOUNT_OF_KERNEL. */
struct mount {
	uint64_t id; /* as in mountinfo and statx(2) */
	enum mount_kind kind;
	bool owned; /* FUSE: its program is run by a user, not by the mounting root: */
	uint32_t owner;
};

struct mounts {
	struct mount *v;
	size_t n, cap;
};

/* Reads those of one process; path is its mountinfo. A file that cannot be read has none. v is then heap, or NULL. */
void mounts_read(struct mounts *mounts, const char *path);
void mounts_release(struct mounts *mounts);
/* The one that the open file is on, without asking it anything; NULL: none of these. */
const struct mount *mounts_find(const struct mounts *mounts, int fd);

/* Reads the kind from statfs(2), which asks the file system itself. */
enum mount_kind mount_kind_of_magic(uint32_t magic);

#endif
