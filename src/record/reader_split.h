/* SPDX-License-Identifier: MIT */
/*
 * reader_split: which reader thread drains the rings of which CPU, and on which CPUs it runs (--threads,
 * --affinity). Private to record/.
 */
#ifndef PSTAT_READER_SPLIT_H
#define PSTAT_READER_SPLIT_H

#include "record/record.h"

struct reader_share {
	struct intset cpus; /* it drains their rings; never empty, and no CPU is in two shares */
	struct intset affinity; /* it runs on these; empty: wherever the scheduler puts it */
};
struct reader_shares {
	struct reader_share *v;
	size_t n, cap;
};

/*
 * One share for each reader that plan->readers asks for, in the order of their first CPUs (masks: as they were
 * given); together they hold each of the CPUs once. cpus: those that have a ring. topology may be NULL for
 * READERS_ONE, READERS_CPU and READERS_MASKS. A CPU that the topology does not know has a reader to itself.
 *
 * Masks are cut to the CPUs that have a ring, as perf does it. -EINVAL and a sentence where nothing is left of
 * one, where two overlap, or where a CPU with a ring is in none. Release the shares in every case.
 */
int reader_split_of(struct reader_shares *shares, const struct record_plan *plan,
		    const struct topology *topology, const struct intset *cpus, struct str *err);
/* The number of the reader that drains this CPU; it must be one of those given to reader_split_of(). */
size_t reader_of_cpu(const struct reader_shares *shares, int cpu);
void reader_shares_release(struct reader_shares *shares);

#endif
