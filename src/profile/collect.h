/*
 * collect: a profile being read. Private to profile/: collect.c owns it, sample_facts.c fills its facts.
 */
#ifndef PSTAT_COLLECT_H
#define PSTAT_COLLECT_H

#include "profile/profile.h"

struct collect {
	struct profile *profile;
	uint8_t rows[FACTS]; /* the rows of facts that are kept */
	size_t n_rows;
	uint64_t quantum_ns;
	bool count_locations; /* symbols will be looked up: samples per location are counted */
	bool kernel_expected; /* its symbols, too */
	uint64_t facts[FACTS]; /* of the present sample */
	struct str text;
	void (*progress)(void *context, double part);
	void *progress_context;
	struct replay_handlers handlers;
	/* Of profile_feed: records wait to be delivered; the source has ended, and how. */
	bool delivering, ended;
	int failed;
	struct str why;
};

/* ---- sample_facts.c ---- */
/* Which facts are worked out from now on: bits 1 << FACT_*; those of branches are left to the caller. */
void collect_choose_facts(struct collect *collect, uint64_t kept);
/* All of them, into collect->facts. */
void collect_fill_facts(struct collect *collect, const struct replay_sample *sample);
/* WEIGHT, or the first number of WEIGHT_STRUCT. */
uint64_t collect_weight(const struct sample *s);

#endif
