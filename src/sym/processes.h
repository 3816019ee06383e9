/* SPDX-License-Identifier: MIT */
/*
 * processes: what of a recording still lives, and what it sees: its root folder, its pid in its own namespace,
 * its user. Private to sym/.
 *
 * A pid proves nothing, since numbers are used again. A process counts as the recorded one where the recording
 * is of this machine, doesn't say that it ended, and it began before the recording was last written. Its files
 * are another user's all the same: they are opened by foreign_open alone, and believed by their build-id or
 * their device and inode.
 *
 * Source: proc_pid_status(5), proc_pid_stat(5), proc_pid_root(5), namespaces(7).
 */
#ifndef PSTAT_PROCESSES_H
#define PSTAT_PROCESSES_H

#include "sym/sym.h"

#include <sys/stat.h>

/* File times are those of the last tick, and start times are in hundredths: both may be so much too early. */
#define PROCESS_CLOCK_SLACK_NS 20000000LL

/* Equal ones see the same files. */
struct process_view {
	uint64_t mount_namespace, root_device, root_inode;
};

struct process_here {
	int32_t pid;
	int32_t ns_pid; /* as it knows itself, and names its files */
	uint32_t user; /* its effective one */
	bool lives; /* and is the recorded one */
	int64_t start_ns; /* when what has the pid now began, since 1970; 0: nothing has */
	uint64_t start_ticks; /* the same since boot, in the unit of _SC_CLK_TCK, as the kernel says it */
	char *root; /* "/proc/12/root", or that of one of its threads; NULL: out of this user's reach */
	struct process_view view;
	bool elsewhere; /* what it sees below / is not what this process sees there */
};

struct processes; /* what was asked is remembered */

/* options and recording are borrowed. */
struct processes *processes_new(const struct sym_options *options, const struct recording_info *recording);
void processes_free(struct processes *processes);
/*
 * The recorded process of this pid, or NULL: it lives no more, or that can't be told. *taken_over_ns (may be NULL):
 * since when another process has the pid, as nanoseconds since 1970; 0: none has.
 */
const struct process_here *processes_get(struct processes *processes, int32_t pid, int64_t *taken_over_ns);
/*
 * Says in file->seen which living processes had the dso mapped, or their relatives, with a root other than this
 * process's: one for each that sees other files, in this room for them.
 */
enum { PROCESSES_SEEN_MAX = 8 };
void processes_elsewhere(struct processes *processes, const struct dso *dso,
			 struct mapping_seen seen[PROCESSES_SEEN_MAX], struct mapped_file *file);

#endif
