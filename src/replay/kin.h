/*
 * kin.h: what stays known of processes when replay has forgotten them: whose child, whether it has ended,
 * which dump of its code it wrote. Private to replay/; what others ask is in replay.h.
 */
#ifndef PSTAT_REPLAY_KIN_H
#define PSTAT_REPLAY_KIN_H

#include "replay/replay.h"

enum { HOLDERS_KEPT = 8 };

struct dso_holders { /* some of the processes that mapped a dso */
	int32_t v[HOLDERS_KEPT];
	uint32_t n; /* that were put there; the latest ones stay */
};

struct kin_table {
	struct kin *v;
	size_t n, cap;
	struct index by_pid;
	struct dso_holders *holders; /* by index of the dso */
	size_t n_holders, cap_holders;
};

void kin_release(struct kin_table *table);
/* A process begins: what was known of this pid was another one's. */
void kin_begins(struct kin_table *table, int32_t pid);
void kin_has_parent(struct kin_table *table, int32_t pid, int32_t ppid);
void kin_ends(struct kin_table *table, int32_t pid);
/* The process mapped a file: it may be its dump of code. */
void kin_maps(struct kin_table *table, int32_t pid, const struct record_mmap *mmap);
/* Those that have ended go, but for those that `stays` says yes to. */
void kin_forget(struct kin_table *table, bool (*stays)(const void *context, int32_t pid), const void *context);
/* Dsos have new indexes: see dso_table_keep. */
void kin_renumber(struct kin_table *table, const uint32_t *now);
/* The process is one of those that mapped the dso. */
void kin_holds(struct kin_table *table, const struct dso *dso, int32_t pid);

#endif
