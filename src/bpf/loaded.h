/* SPDX-License-Identifier: MIT */
/*
 * loaded: the programs and their maps as they are in the kernel. Private to bpf/. One of loaded_libbpf.c and
 * loaded_libbpf_none.c defines it; no caller knows which.
 */
#ifndef PSTAT_BPF_LOADED_H
#define PSTAT_BPF_LOADED_H

#include "bpf/layout.h"
#include "util/util.h"

struct bpf_loaded;

struct bpf_load_options {
	size_t n_programs; /* at least 1; their event numbers are 0 and up */
	bool waits; /* the last of them is for the context switches, and counts waits */
	uint64_t least_ns; /* shorter waits are in no cell */
	uint32_t waiting_max; /* threads that wait at a time */
	uint32_t stacks_max, cells_max; /* of each generation */
};
/* bpf_try() of bpf.h is here, too. A negative errno with a sentence. */
int bpf_load(struct bpf_loaded **loaded, const struct bpf_load_options *options, struct str *err);
void bpf_unload(struct bpf_loaded *loaded); /* NULL is fine */
int bpf_loaded_program(const struct bpf_loaded *loaded, size_t program); /* its descriptor */
uint64_t bpf_loaded_bytes(const struct bpf_loaded *loaded); /* of all maps */

/*
 * A receiver is given what a generation has: all stacks, then all cells, in pieces, which are valid during the call;
 * and once, at the end, the waits that are not over.
 */
struct bpf_receiver {
	void *context;
	void (*stacks)(void *context, const uint64_t *hashes, const struct bpf_stack *stacks, size_t n);
	void (*cells)(void *context, const struct bpf_cell_key *keys, const struct bpf_cell_sums *sums, size_t n);
	void (*waits)(void *context, const struct bpf_wait *waits, size_t n);
};
/*
 * Lets the program fill the other generation, waits until no run uses the one it filled so far, and empties that into
 * the receiver. A negative errno with a sentence; what was received until then is no more in the kernel.
 */
int bpf_loaded_take(struct bpf_loaded *loaded, const struct bpf_receiver *receiver, struct str *err);
/* Switches after that time, on CLOCK_MONOTONIC, are none: those that wait then go on waiting. 0 or a negative errno. */
int bpf_loaded_stop_waits(struct bpf_loaded *loaded, uint64_t time_ns);
/* Empties the threads that wait into the receiver, after that and one more bpf_loaded_take(). */
int bpf_loaded_take_waits(struct bpf_loaded *loaded, const struct bpf_receiver *receiver, struct str *err);
/* The sum of all CPUs; 0 or a negative errno. */
int bpf_loaded_counts(const struct bpf_loaded *loaded, enum bpf_run_kind kind, struct bpf_run_counts *counts);

/* ---- texts.bpf.c ---- */

struct bpf_texts;

/*
 * Loads both programs, which run from then on, and write nothing before there is an output. A negative errno with a
 * sentence.
 */
int bpf_load_texts(struct bpf_texts **loaded, const struct bpf_text_constants *constants, struct str *err);
enum bpf_callers bpf_loaded_texts_whose(const struct bpf_texts *loaded); /* as it was loaded */
/* Copies of a CPU go to this perf event. 0 or a negative errno. */
int bpf_loaded_texts_output(const struct bpf_texts *loaded, int cpu, int event_fd);
/* Tasks are followed that have this event, or one that it is the parent of. -E2BIG: there is no room for more. */
int bpf_loaded_texts_follow(const struct bpf_texts *loaded, uint64_t event_id);
/* This cgroup, open, is followed, with those below it, as the one of that index. 0 or a negative errno. */
int bpf_loaded_texts_cgroup(const struct bpf_texts *loaded, uint32_t index, int cgroup_fd);

#endif
