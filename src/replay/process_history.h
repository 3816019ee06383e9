/* SPDX-License-Identifier: MIT */
/*
 * process_history: what stays known of processes when replay has forgotten their threads: whose child, whether it has
 * ended, which dump of its code it wrote; and which processes had a dso mapped. Private to replay/; what others ask is
 * in replay.h.
 */
#ifndef PSTAT_REPLAY_PROCESS_HISTORY_H
#define PSTAT_REPLAY_PROCESS_HISTORY_H

#include "replay/replay.h"

enum { MAPPERS_KEPT = 8 };

struct dso_mappers { /* some of the processes that mapped a dso */
	int32_t v[MAPPERS_KEPT];
	uint32_t n; /* that were put there; the latest ones stay */
};

struct process_history {
	struct known_process *v;
	size_t n, cap;
	struct index by_pid;
	struct dso_mappers *mappers; /* by index of the dso */
	size_t n_mappers, cap_mappers;
};

void process_history_release(struct process_history *history);
/* A process begins: what was known of this pid was another one's. */
void process_history_begin(struct process_history *history, int32_t pid);
void process_history_parent(struct process_history *history, int32_t pid, int32_t ppid);
void process_history_end(struct process_history *history, int32_t pid);
/* The process mapped a file: it may be its dump of code. */
void process_history_map(struct process_history *history, int32_t pid, const struct record_mmap *mmap);
/* The process is one of those that mapped the dso. */
void process_history_add_mapper(struct process_history *history, const struct dso *dso, int32_t pid);
/* Forgets processes that have ended, but for those that `stays` says yes to. */
void process_history_forget(struct process_history *history, bool (*stays)(const void *context, int32_t pid),
			    const void *context);
/* Dsos have new indexes: see dso_table_keep. */
void process_history_renumber(struct process_history *history, const uint32_t *now);

#endif
