/*
 * layout.h: what the program in the kernel and its loader share: keys and values of the maps. Private to bpf/.
 *
 * All that is counted lies twice, as generation 0 and 1: the program fills one of them while the other is read.
 */
#ifndef PSTAT_BPF_LAYOUT_H
#define PSTAT_BPF_LAYOUT_H

#include <linux/types.h>

enum {
	BPF_STACK_FRAMES = 127, /* of both parts, as kernel.perf_event_max_stack has it by default */
	BPF_GENERATIONS = 2,
};

/* Samples with the same key are one cell. */
struct bpf_cell_key {
	__u64 stack; /* hash of the addresses and of how many are the kernel's */
	__u32 pid, tid; /* in the first PID namespace */
	__u32 cpu;
	__u32 event; /* number of the program's copy: each event has one */
};
struct bpf_cell_sums {
	__u64 n_samples, period;
	__u64 last_ns; /* CLOCK_MONOTONIC at the last sample */
};

/* Addresses of the kernel, then those of the user, innermost first. */
struct bpf_stack {
	__u32 n_kernel, n_user;
	__u64 ips[BPF_STACK_FRAMES];
};

/* How a run of the program ends: each in exactly one way. */
enum bpf_outcome {
	BPF_COUNTED, /* in a cell */
	BPF_STACKS_FULL,
	BPF_CELLS_FULL,
	BPF_BUSY, /* a map was locked by what the sample has interrupted */
	BPF_NO_STACK, /* bpf_get_stack() gave nothing: code of a 32-bit mode, a task that is going */
	BPF_OUTCOMES,
};
/* On one CPU. */
struct bpf_run_counts {
	__u64 runs; /* counted when the program begins */
	__u64 ended[BPF_OUTCOMES]; /* when it ends */
};

#endif
