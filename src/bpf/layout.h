/* SPDX-License-Identifier: MIT */
/*
 * layout.h: what the programs in the kernel and their loader share: keys and values of the maps. Private to bpf/.
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

/* Constants of each copy of the programs, given when it is loaded. */
struct bpf_constants {
	__u64 least_ns; /* shorter waits are in no cell */
	__u32 event; /* the copy's number: the event of its cells */
};

/* How a thread left its CPU. */
enum bpf_wait_state {
	BPF_WAIT_NONE, /* it did not: a sample */
	BPF_WAIT_PREEMPTED, /* it could have gone on */
	BPF_WAIT_SLEEPING, /* a signal wakes it; or a thread of the kernel that has nothing to do */
	BPF_WAIT_DISK, /* nothing but what it waits for wakes it */
	BPF_WAIT_OTHER, /* stopped, traced, frozen */
	BPF_WAIT_DEAD, /* for ever, which is no wait */
};

/* Samples with the same key are one cell, and waits. */
struct bpf_cell_key {
	__u64 stack; /* hash of the addresses and of how many are the kernel's */
	__u32 pid, tid; /* in the first PID namespace */
	__u32 cpu; /* of a wait: on which the thread came back */
	__u16 event; /* number of the program's copy: each event has one */
	__u16 state; /* enum bpf_wait_state */
};
struct bpf_cell_sums {
	__u64 n_samples, period; /* of waits: ns */
	__u64 last_ns; /* CLOCK_MONOTONIC at the last sample, or at the end of the last wait */
};

/* Addresses of the kernel, then those of the user, innermost first. */
struct bpf_stack {
	__u32 n_kernel, n_user;
	__u64 ips[BPF_STACK_FRAMES];
};

/* A thread that is off the CPU; the key is the address of its task. The stack comes last: see struct scratch. */
struct bpf_wait {
	__u64 out_ns; /* when it left; 0: it is back */
	__u64 hash; /* of the stack */
	__u32 pid, tid, cpu, state;
	struct bpf_stack stack;
};

/* How a run of the program ends: each in exactly one way. That of a switch ends when the thread is back. */
enum bpf_outcome {
	BPF_COUNTED, /* in a cell */
	BPF_STACKS_FULL,
	BPF_CELLS_FULL,
	BPF_WAITING_FULL, /* more threads wait than there is room for */
	BPF_BUSY, /* a map was locked by what the sample has interrupted */
	BPF_NO_STACK, /* bpf_get_stack() gave nothing: code of a 32-bit mode, a task that is going */
	BPF_LEFT_TWICE, /* the thread left again, and its return was not seen */
	BPF_OUTCOMES,
};
/* On one CPU. */
struct bpf_run_counts {
	__u64 runs; /* counted when the program begins */
	__u64 ended[BPF_OUTCOMES]; /* when it ends */
	__u64 short_waits, short_ns; /* ends of waits that are too short for a cell */
	__u64 passed_over; /* switches that are no run: of CPUs that idle, of threads that are dead, after the end */
};
/* Runs of the one may interrupt those of the other, so that each has numbers of its own. */
enum bpf_run_kind { BPF_RUN_SAMPLE, BPF_RUN_WAIT, BPF_RUN_KINDS };

/* ---- texts of system calls: texts.bpf.c ---- */

enum {
	BPF_CALL_NUMBERS = 512, BPF_CALL_ARGS = 6,
	BPF_TEXT_ROOM = 4098, /* a path of 4096 bytes, one more that says that it is longer, and NUL */
	BPF_FILE_NAMES = 128, /* on the way from a file to the root, with roots of mounts */
	BPF_NAME_BYTES = 256, /* of one, and NUL */
	BPF_FILE_BYTES = 4096, /* of all */
	BPF_BUFFER_BYTES = 4096, /* of a buffer, at most */
	BPF_ADDRESS_BYTES = 128, /* of a socket's address: struct sockaddr_storage */
	BPF_STRINGS = 128, /* of an array */
	BPF_STRING_BYTES = 258, /* of one: 256, one more that says that it is longer, and NUL */
	BPF_STRINGS_BYTES = 4096, /* of all */
	BPF_ELEMENTS = 32, /* of an array of buffers */
	BPF_VECTOR_BYTES = 4096, /* of all of them, with what precedes them */
	BPF_POINTERS = 16384, /* of an array that is counted only */
	BPF_FOLLOWING_EVENTS = 1 << 17, /* that a run has opened for tasks */
	BPF_TASK_EVENTS = 8192, /* of a task, that are looked at */
	BPF_CGROUPS = 1024,
};
/* Ways to copy what an argument points at. */
enum bpf_want {
	BPF_WANT_NOTHING,
	BPF_WANT_TEXT, /* up to NUL */
	BPF_WANT_FILE, /* names of a descriptor's file */
	BPF_WANT_BYTES, /* a buffer that is read, with the next argument as its length */
	BPF_WANT_FILLED, /* one that is written: as much of it as the call returns */
	BPF_WANT_ADDRESS, /* a socket's, with the next argument as its length */
	BPF_WANT_PEER, /* one that is written; the next argument points at its length, which is written, too */
	BPF_WANT_STRINGS, /* texts, by an array of pointers that ends with NULL */
	BPF_WANT_COUNT, /* how many pointers such an array has */
	BPF_WANT_VECTOR, /* buffers that are read, by an array of struct iovec; the next argument is how many */
	BPF_WANT_VECTOR_FILLED, /* that are written: as much of them as the call returns */
	BPF_WANT_MESSAGE, /* what a struct msghdr has, whose buffers are read */
	BPF_WANT_MESSAGE_FILLED, /* are written */
};
/* One enum bpf_want for each argument of a call. */
union bpf_call_wants {
	__u8 v[8];
	__u64 any;
};
/* Callers that are of interest. Those of all: on CPUs that have an output. */
enum bpf_callers { BPF_CALLS_OF_ALL, BPF_CALLS_OF_TASKS, BPF_CALLS_OF_CGROUPS };
struct bpf_text_constants {
	union bpf_call_wants wanted[BPF_CALL_NUMBERS]; /* by number of the call */
	__u32 buffer_bytes; /* so much of a buffer is copied; BPF_BUFFER_BYTES at most */
	__u32 whose; /* enum bpf_callers */
};
enum bpf_text_kind {
	BPF_TEXT_EARLY, /* read when the call began */
	BPF_TEXT_LATE, /* when it ended */
	BPF_TEXT_FILE, /* the file of a descriptor: its names, from its own to that below the root */
	BPF_TEXT_BYTES_EARLY, BPF_TEXT_BYTES_LATE, /* not ended by NUL */
	BPF_TEXT_STRINGS, /* each with NUL */
	BPF_TEXT_COUNT, /* a number of 8 bytes */
	BPF_TEXT_VECTOR_EARLY, BPF_TEXT_VECTOR_LATE, /* struct bpf_element, and its bytes; the next one */
	BPF_TEXT_MESSAGE_EARLY, BPF_TEXT_MESSAGE_LATE, /* struct bpf_message, then the same */
};
#define BPF_NOT_READ 0xffffffff
struct bpf_element {
	__u64 address, len; /* of the buffer: struct iovec */
	__u32 filled; /* bytes that are valid, as far as 32 bits go; BPF_NOT_READ: none was read */
	__u32 n; /* of them, how many follow */
};
struct bpf_message {
	__u64 name, control, control_len, vector, vector_len;
	__u32 name_len, flags;
	__u32 name_bytes; /* of the address, how many were read */
	__u32 unused;
	char address[BPF_ADDRESS_BYTES];
};
/* A record: what syscall/texts.c reads. Of the bytes there are as many as len says, and NUL. */
struct bpf_text {
	__u64 address;
	__u32 number; /* of the call */
	__u8 argument; /* its index */
	__u8 what; /* enum bpf_text_kind */
	__u16 len;
	__u64 inode;
	__u32 filesystem; /* its magic number */
	__u8 deleted; /* the file has no name any more */
	__u8 whole; /* all names, bytes or strings are there */
	__u16 unused;
	char bytes[BPF_TEXT_ROOM];
};

#endif
