/* SPDX-License-Identifier: MIT */
/*
 * remote_open: opens and reads what lies on file systems that may not answer by a helper process (helper.h), which is
 * left behind when one does not. Private to util/; foreign.h is what others use.
 *
 *   foreign_open --a mount in sight that may not answer?--> no: open it here, as ever
 *        |                                                  (one poll(2) of mountinfo)
 *        yes --path--> helper: looks, checks, opens --descriptor--> here
 *
 * A path to one of this process's own descriptors means nothing there: the descriptor is sent along.
 *
 * What comes back:
 *   - of a file system of the kernel (disks, tmpfs): the file itself;
 *   - of a network: the file itself, once its first and its last byte could be read. Root has mounted it, a wait
 *     for it can be ended by a signal, and copying every program of a home folder would cost more than it is worth;
 *   - of FUSE: a copy in memory, since what answered once need not answer again. Copies are kept for the next to
 *     ask, REMOTE_KEPT_BYTES in all. Files over REMOTE_COPY_BYTES are the file itself where the user or root runs
 *     the file system (a large program on one's own sshfs), and refused where somebody else does.
 * Measured: where there is no such mount, opening takes 1 us longer, below a process's root 12 us, in a mount
 * namespace of its own some 130 us (its mountinfo is read each time: mounts come and go); what the helper is asked
 * for takes 25 us longer, its start 0.4 ms; a copy of a FUSE file 0.3 s for 100 MB, another look at it 0.3 ms.
 * So copies are made once, and of files of which a build-id is all that is wanted, the first MiB.
 *
 * The deadline: REMOTE_PATIENCE_MS to the next sign of life, half as long after each file that did not come, and
 * none are asked for after REMOTE_FAILURES_MAX of them: some 20 s in all, however many files there are. Not seen
 * are the layers of an overlay: a lower folder that is on FUSE is taken for a disk.
 */
#ifndef PSTAT_UTIL_REMOTE_OPEN_H
#define PSTAT_UTIL_REMOTE_OPEN_H

#include "util/foreign.h"

enum {
	REMOTE_COPY_BYTES = 256 << 20,
	REMOTE_KEPT_BYTES = 512 << 20,
	REMOTE_PATIENCE_MS = 10000,
	REMOTE_FAILURES_MAX = 8,
	REMOTE_TOTAL_MS = 60000, /* for one file, whatever signs of life there are */
};

/* True: a file system that may not answer is mounted where this path, or its process's root, is. */
bool remote_open_needed(const char *path, const struct foreign_options *options);
/* Does what foreign_open() does; -ETIMEDOUT: the file system does not answer. */
int remote_open(const char *path, const struct foreign_options *options, struct stat *st,
		struct str *err);

#endif
