/* SPDX-License-Identifier: MIT */
/*
 * task_table: what lives and what it has mapped, kept while it is recorded: so that a file that begins in the middle
 * of the recording can begin with all of it, as if what runs had been there before.
 *
 *   records of tasks and address spaces -> struct task_table -> the same facts as few records, for the next file
 *
 * Samples are not its business: their cost stays what it is. Memory grows with what lives, not with how many lived
 * before. For one thread. A recording that never switches its file needs none.
 */
#ifndef PSTAT_TASK_TABLE_H
#define PSTAT_TASK_TABLE_H

#include "record/synth.h"

struct task_table;

/*
 * events: whose records will come; borrowed, and must have at least one. data_maps: maps that are not executable are
 * kept, too, as they are recorded with attr.mmap_data.
 */
struct task_table *task_table_new(const struct events *events, bool data_maps);
void task_table_free(struct task_table *table); /* NULL is nothing */

/*
 * Whether a record of this type changes the table. Not among them are BPF_EVENT (the KSYMBOL beside it names the
 * program) and TEXT_POKE (it tells of a moment, not of what is there).
 */
static inline bool task_table_wants(uint32_t type)
{
	const uint64_t wanted = 1ULL << RECORD_MMAP | 1ULL << RECORD_COMM | 1ULL << RECORD_EXIT |
				1ULL << RECORD_FORK | 1ULL << RECORD_MMAP2 | 1ULL << RECORD_NAMESPACES |
				1ULL << RECORD_KSYMBOL | 1ULL << RECORD_CGROUP;

	return type < RECORD_USER_FIRST && (wanted >> type & 1);
}

/*
 * One record, in the order in which the rings gave it, or synthesized (time 0: it takes effect at once). Its bytes
 * are copied where they have to wait. Types that are not wanted are passed over. This and the next: 0, or a negative
 * errno with a sentence, after which the table is only good to be freed.
 */
int task_table_take(struct task_table *table, const struct record *record, struct str *err);
/* A round has ended, as in record_sink.h: what cannot get older company any more takes effect. */
int task_table_round(struct task_table *table, struct str *err);

/*
 * Calls fn with what lives now, in the order of synth.c and as it fills them (times and ids are 0): MMAPs of the
 * kernel and its modules, KSYMBOLs, CGROUPs; then for each process FORK, NAMESPACES and COMM of its main thread, its
 * MMAP2s (none where it still has those of its parent: the FORK is then without MISC_FORK_EXEC), and the other
 * threads. All that was taken counts, also what waited for its round: older records that
 * come later meet a table that is ahead of them, which matters for a thread at the most that changes its CPU while it
 * executes another program. A process whose parent is gone has parent 0. Executable memory without a file is
 * "//anon", whatever the kernel called it. 0; or what fn returned, which ends the walk; or a negative errno.
 */
int task_table_write(struct task_table *table, synth_fn fn, void *data, struct str *err);

#endif
