/* SPDX-License-Identifier: MIT */
/*
 * drained: one generation of cells and stacks, out of the kernel, and the sample records that are made of them. Private
 * to bpf/. Knows no system call.
 */
#ifndef PSTAT_BPF_DRAINED_H
#define PSTAT_BPF_DRAINED_H

#include "bpf/loaded.h"
#include "data/data.h"

/* Fields of the samples that are made. WEIGHT: how many samples it stands for. */
#define BPF_SAMPLE_TYPE                                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |           \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT)

struct drained_stack {
	uint64_t hash;
	uint32_t n_kernel, n_user;
	size_t at; /* in words */
};
struct drained_cell {
	struct bpf_cell_key key;
	struct bpf_cell_sums sums;
};
struct drained {
	uint64_t *words; /* addresses of all stacks */
	size_t n_words, cap_words;
	struct drained_stack *stacks;
	size_t n_stacks, cap_stacks;
	struct index by_hash;
	struct drained_cell *cells;
	size_t n_cells, cap_cells;
	/* For waits that are not over: they last until then, and are cells of this program. */
	uint64_t until_ns;
	uint16_t waits_event;
};
/* How the samples of an event are handed on. */
struct drained_as {
	bool attached; /* else there are none */
	uint64_t id;
	bool waits; /* the innermost address of the user tells them apart; the record says how the thread left */
	bool wall; /* waits among samples of a clock */
};
void drained_release(struct drained *drained);
void drained_clear(struct drained *drained); /* empty; memory kept */
struct bpf_receiver drained_receiver(struct drained *drained);

/* Orders the cells by time, once all have been received. */
void drained_sort(struct drained *drained);
/*
 * Adds the SAMPLE record of the cell at index i. Returns how many samples it stands for; 0: its stack did not come, and
 * nothing was added.
 */
uint64_t drained_add_sample(const struct drained *drained, size_t i, const struct drained_as *as, struct str *out);

#endif
