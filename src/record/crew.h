/*
 * crew: several threads that drain, each the rings of a CPU, a core or a memory node. Private to
 * record/.
 *
 * Each member waits for its own rings only, and copies and counts without a lock; the lock of the
 * outfile is held while a piece is handed over.
 */
#ifndef PSTAT_CREW_H
#define PSTAT_CREW_H

#include "record/outfile.h"

struct crew_member {
	struct crew *crew;
	pthread_t thread;
	bool started;
	struct intset cpus; /* of its rings */
	struct drain drain;
	struct outfile_drain side;
	size_t *rings; /* indexes in the ring set */
	size_t n_rings, rings_cap;
	uint64_t wakeups;
};

struct crew {
	struct crew_member **v;
	size_t n, cap;
	struct ring_set *rings; /* borrowed */
	struct outfile *out; /* borrowed */
	bool affinity;
	int stop_fd; /* readable: all members end; -1: no crew */
	int news_fd; /* readable: a failure, or the file is full: the main thread should look */
};
#define CREW_INIT { .stop_fd = -1, .news_fd = -1 }

/*
 * Members for all rings but overwrite ones, started. split: not READERS_ONE. affinity: each runs on
 * the CPUs of its rings only. Signals must be blocked by the caller. Stop it in every case.
 */
int crew_start(struct crew *crew, struct ring_set *rings, struct outfile *out,
	       enum reader_split split, bool affinity, struct str *err);
/* Ends and joins all members; the rings are nobody's then. Returns how often they woke. */
uint64_t crew_stop(struct crew *crew);

#endif
