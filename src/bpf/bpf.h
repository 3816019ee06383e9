/* SPDX-License-Identifier: MIT */
/*
 * bpf: samples and waits counted in the kernel. A BPF program (profile.bpf.c) runs for each sample of an event and
 * counts it in a cell of its thread, CPU and stack; nothing is put into a ring. Once a second what was counted is taken
 * out, while the program goes on in other maps, and goes on as records.
 *
 *   event -> program -> cells, stacks (kernel) --each flush--> drained.c -> one SAMPLE for a cell -> next sink
 *                              ring: what tasks do, all the while ----------------------------------^
 *
 * Waits are counted in the same cells: a second program, at the switches, sees when a thread is back that the first one
 * saw leave (profile.bpf.c). The event of the context switches says of which threads and CPUs, as it does by rings.
 *
 * Cells come as samples that stand for many (data_event.counted), and at their last sample's time: so they meet
 * the process as it was then, also one that has ended, and everything that is made of samples is made of them.
 *
 * loaded_libbpf.c has the library; builds without it have loaded_libbpf_none.c, whose every attempt fails with a
 * reason. Nothing is pinned: all that is in the kernel goes with the process, whatever ends it.
 */
#ifndef PSTAT_BPF_H
#define PSTAT_BPF_H

#include "data/data.h"
#include "kern/kern.h"

struct bpf_options {
	size_t n_events; /* that will be sampled, that of waits not among them: each takes a copy of the program */
	/* Waits are counted, too: samples of wall-clock with `wall`, of offcpu-time without. */
	bool waits, wall;
	uint64_t least_ns; /* shorter waits are counted and not handed on */
	size_t waiting_max; /* threads that wait at a time; 0: twice as many as there are, 4096 at least */
	/* In all, of which half are filled while the other half is read; 0: BPF_STACKS. At least one in each half. */
	size_t stacks_max;
	size_t cells_max; /* likewise; 0: four for each stack */
	const struct kern *kern; /* borrowed */
};
enum { BPF_STACKS = 16384, BPF_STACKS_MOST = 1 << 20 };

enum bpf_loss {
	BPF_LOST_STACKS_FULL, /* a stack that was new, and no room for it */
	BPF_LOST_CELLS_FULL,
	BPF_LOST_WAITING_FULL, /* a thread that leaves its CPU, and no room for it */
	BPF_LOST_BUSY, /* a map was locked by what the sample has interrupted */
	BPF_LOST_NO_STACK, /* not even the sample's own address was to be had */
	BPF_LOST_LEFT_TWICE, /* the thread left again, and nobody saw it come back */
	BPF_LOST_NOT_RUN, /* a switch that was counted, and the kernel did not run the program */
	BPF_LOST_READING, /* was in a cell that could not be read */
	BPF_LOSSES,
};
/*
 * runs = samples + short_waits + all lost, exactly, once the recording has ended. Of switches the kernel's own count is
 * among the runs, whether the program ran or not.
 */
struct bpf_totals {
	uint64_t runs; /* of the program: one for each sample and each wait */
	uint64_t samples; /* counted in cells; after the end: handed on */
	uint64_t waits, waits_ns; /* of these, waits, and how long they were */
	uint64_t open; /* of these, not over at the end: they lasted until then */
	uint64_t short_waits, short_ns; /* shorter than least_ns */
	uint64_t lost[BPF_LOSSES];
	uint64_t cells; /* handed on */
	uint64_t drains;
	uint64_t memory_bytes; /* of all maps, as the kernel accounts for them: the same from beginning to end */
};

struct bpf_counting;

/*
 * Loads the program and its maps. -ENOSYS: this build has no libbpf, or the kernel no bpf(2); -ENOENT: the library is
 * not installed; -EPERM: refused; others. Each comes with a sentence that says what is missing: samples can be had by
 * rings all the same.
 */
int bpf_counting_new(struct bpf_counting **counting, const struct bpf_options *options, struct str *err);
/* After the recording has ended. NULL is fine. */
void bpf_counting_free(struct bpf_counting *counting);

/* Can libbpf be used? -ENOSYS: this build is without it; or -ENOENT with a sentence. Loads it, and no program. */
int bpf_try(struct str *err);

/*
 * For record_plan. The events, whose clock has to be CLOCK_MONOTONIC, are open, and none has been enabled: the
 * program is attached to all that sample. -ENOTSUP with a sentence: one of them cannot be counted so, and all are as
 * they were. Another negative errno: none may be enabled.
 */
int bpf_counting_attach(struct bpf_counting *counting, const struct counter_set *set, struct str *err);
/* For record_plan, when the events are about to be stopped: waits that are not over then last until now. */
void bpf_counting_stops(struct bpf_counting *counting);
/* The recorded events as the stage hands on their samples; stays until counting is freed. */
const struct events *bpf_counting_written(struct bpf_counting *counting, const struct events *recorded);
/*
 * A stage before `next`. It tells rounds of its own, one at each flush, which has to follow a whole pass over the
 * rings.
 */
struct record_sink *bpf_counting_stage(struct bpf_counting *counting, struct record_sink *next);

/* Numbers so far; for any thread. What could not be asked of the kernel is as it was at the last call. */
void bpf_counting_totals(struct bpf_counting *counting, struct bpf_totals *totals);
/* "no room for its stack", ...: what happened to a sample. */
const char *bpf_loss_words(enum bpf_loss loss);

/* ---- filtering.c: event.sample_filter, run by the kernel; needs no library ---- */

struct bpf_filtering;
/*
 * For record_plan's attach: the events are open, and none has been enabled. Filters that the kernel does not take are
 * left to who reads the rings, with a note that only -v shows. A negative errno with a sentence: one of them is about
 * what no sample has. Free *made in every case.
 */
int bpf_filtering_new(struct bpf_filtering **made, const struct counter_set *set, struct note_list *notes,
		      struct str *err);
void bpf_filtering_free(struct bpf_filtering *filtering); /* NULL is fine */
/* Does the kernel filter this counter of the set? And how many samples did not pass so far? */
bool bpf_filtering_has(const struct bpf_filtering *filtering, size_t counter);
uint64_t bpf_filtering_left_out(const struct bpf_filtering *filtering, size_t counter);

/* ---- copied_texts.c: what arguments of system calls point at, and files of descriptors ---- */

/*
 * An event of PERF_COUNT_SW_BPF_OUTPUT on all CPUs beside those of raw_syscalls:sys_enter and sys_exit has a sample
 * for each text that an argument points at, and each descriptor, before the sample of the call's begin; or before that
 * of its end, where the text was not in memory earlier, or is the call's result. syscall/texts.c reads them.
 */
struct bpf_texts;
enum { BPF_CALLS = 512, BPF_ARGS = 6, BPF_COPIED_BYTES_MAX = 4096 };
/* Ways to copy what an argument points at. */
enum bpf_copy {
	BPF_COPY_NOTHING,
	BPF_COPY_TEXT, /* up to NUL, 4096 bytes at most */
	BPF_COPY_FILE, /* names of a descriptor's file */
	BPF_COPY_BYTES, /* a buffer that the call reads, with the next argument as its length */
	BPF_COPY_FILLED, /* one that it writes, and returns how much */
	BPF_COPY_ADDRESS, /* a socket's, with the next argument as its length */
	BPF_COPY_PEER, /* one that it writes; the next argument points at the length */
	BPF_COPY_STRINGS, /* texts of 256 bytes at most, by an array of pointers that ends with NULL */
	BPF_COPY_COUNT, /* how many pointers such an array has */
	BPF_COPY_VECTOR, /* buffers that the call reads, by an array of struct iovec; the next argument is how many */
	BPF_COPY_VECTOR_FILLED, /* that it writes, and returns how much */
	BPF_COPY_MESSAGE, /* a struct msghdr, its address, its buffers, that the call reads */
	BPF_COPY_MESSAGE_FILLED, /* that it writes */
};
struct bpf_texts_options {
	uint8_t copies[BPF_CALLS][BPF_ARGS]; /* by number of the call: enum bpf_copy */
	unsigned buffer_bytes; /* so many of a buffer; BPF_COPIED_BYTES_MAX at most */
	/* Tasks are sampled, or cgroups: what others do is not copied. Neither: CPUs. */
	bool of_tasks, of_cgroups;
};
/* Loads the programs. A negative errno with a sentence, as bpf_counting_new() has them. */
int bpf_texts_new(struct bpf_texts **texts, const struct bpf_texts_options *options, struct str *err);
void bpf_texts_free(struct bpf_texts *texts); /* NULL is fine */
/* For record_plan's attach: the events are open. A negative errno with a sentence: texts do not come, or not all. */
int bpf_texts_attach(struct bpf_texts *texts, const struct counter_set *set, struct str *err);

#endif
