/*
 * courier: a process that opens and reads what lies on file systems that may not answer, and that is left
 * behind when one does not (helper.h says why it is a process). Private to util/; foreign.h is what others use.
 *
 *   foreign_open --a mount in sight that may not answer?--> no: open it here, as ever
 *        |                                                  (one poll(2) of mountinfo)
 *        yes --path--> courier: looks, checks, opens --descriptor--> here
 *
 * A path to one of this process's own descriptors means nothing there: the descriptor is sent along.
 *
 * What comes back:
 *   - of a file system of the kernel (disks, tmpfs): the file itself;
 *   - of a network: the file itself, once its first and its last byte could be read. Root has mounted it, a wait
 *     for it can be ended by a signal, and copying every program of a home folder would cost more than it is worth;
 *   - of FUSE: a copy in memory, since what answered once need not answer again. Copies are kept for the next to
 *     ask, COURIER_KEPT_BYTES in all. Files over COURIER_COPY_BYTES are the file itself where the user or root runs
 *     the file system (a large program on one's own sshfs), and refused where somebody else does.
 * Measured: where there is no such mount, opening takes 1 us longer, below a process's root 12 us, in a mount
 * namespace of its own some 130 us (its mountinfo is read each time: mounts come and go); what is asked of the
 * courier takes 25 us longer, its start 0.4 ms; a copy of a FUSE file 0.3 s for 100 MB, another look at it 0.3 ms.
 * So copies are made once, and of files of which a build-id is all that is wanted, the first MiB.
 *
 * It waits COURIER_PATIENCE_MS for the next sign of progress, half as long after each file that did not come, and
 * none are asked for after COURIER_FAILURES_MAX of them: some 20 s in all, however many files there are. Not seen
 * are the layers of an overlay: a lower folder that is on FUSE is taken for a disk.
 */
#ifndef PSTAT_UTIL_COURIER_H
#define PSTAT_UTIL_COURIER_H

#include "util/foreign.h"

enum {
	COURIER_COPY_BYTES = 256 << 20,
	COURIER_KEPT_BYTES = 512 << 20,
	COURIER_PATIENCE_MS = 10000,
	COURIER_FAILURES_MAX = 8,
	COURIER_TOTAL_MS = 60000, /* for one file, however it goes on */
};

/* True: a file system that may not answer is mounted where this path, or its process's root, is. */
bool courier_needed(const char *path, const struct foreign_options *options);
/* As foreign_open(); -ETIMEDOUT: its file system does not answer. */
int courier_open(const char *path, const struct foreign_options *options, struct stat *st,
		 struct str *err);

#endif
