/* SPDX-License-Identifier: MIT */
/*
 * The records of a perf.data file: `struct record` is one as it lies in the file, `struct
 * record_body` what it says, as plain fields in native byte order.
 *
 * Text fields end in NUL inside the record; they are raw bytes (make them printable before they go
 * to a terminal). Units: times are ns of the recording's clock, addresses and lengths are bytes.
 *
 * Source: include/uapi/linux/perf_event.h (1 to 22), perf.data-file-format.txt (64 and above).
 */
#ifndef PSTAT_DATA_RECORDS_H
#define PSTAT_DATA_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_type {
	RECORD_MMAP = 1,
	RECORD_LOST,
	RECORD_COMM,
	RECORD_EXIT,
	RECORD_THROTTLE,
	RECORD_UNTHROTTLE,
	RECORD_FORK,
	RECORD_READ,
	RECORD_SAMPLE,
	RECORD_MMAP2,
	RECORD_AUX,
	RECORD_ITRACE_START,
	RECORD_LOST_SAMPLES,
	RECORD_SWITCH,
	RECORD_SWITCH_CPU_WIDE,
	RECORD_NAMESPACES,
	RECORD_KSYMBOL,
	RECORD_BPF_EVENT,
	RECORD_CGROUP,
	RECORD_TEXT_POKE,
	RECORD_AUX_OUTPUT_HW_ID,
	RECORD_CALLCHAIN_DEFERRED,
	/* Types from here on are written by recorders, not by the kernel; without a trailer. */
	RECORD_USER_FIRST = 64,
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE, /* of 2011; no longer written */
	RECORD_HEADER_TRACING_DATA,
	RECORD_HEADER_BUILD_ID,
	RECORD_FINISHED_ROUND,
	RECORD_ID_INDEX,
	RECORD_AUXTRACE_INFO,
	RECORD_AUXTRACE,
	RECORD_AUXTRACE_ERROR,
	RECORD_THREAD_MAP,
	RECORD_CPU_MAP,
	RECORD_STAT_CONFIG,
	RECORD_STAT,
	RECORD_STAT_ROUND,
	RECORD_EVENT_UPDATE,
	RECORD_TIME_CONV,
	RECORD_HEADER_FEATURE,
	RECORD_COMPRESSED,
	RECORD_FINISHED_INIT,
	RECORD_COMPRESSED2,
	RECORD_BPF_METADATA,
	RECORD_SCHEDSTAT_CPU,
	RECORD_SCHEDSTAT_DOMAIN,
};

/* AUXTRACE_INFO's kind: what wrote the trace. */
enum auxtrace_kind {
	AUXTRACE_INTEL_PT = 1,
	AUXTRACE_INTEL_BTS,
	AUXTRACE_CORESIGHT,
	AUXTRACE_ARM_SPE,
	AUXTRACE_S390,
	AUXTRACE_HISI_PTT,
	AUXTRACE_VPA_DTL,
};

/* Bits of misc. The cpumode says where the sample's ip, or the map, belongs. */
enum {
	MISC_CPUMODE_MASK = 7,
	MISC_KERNEL = 1,
	MISC_USER = 2,
	MISC_HYPERVISOR = 3,
	MISC_GUEST_KERNEL = 4,
	MISC_GUEST_USER = 5,
	MISC_MMAP_DATA = 1 << 13, /* MMAP, MMAP2: not executable */
	MISC_COMM_EXEC = 1 << 13, /* COMM: the name changed by exec */
	MISC_FORK_EXEC = 1 << 13, /* FORK: synthesized, maps are not inherited */
	MISC_SWITCH_OUT = 1 << 13,
	MISC_EXACT_IP = 1 << 14,
	MISC_SWITCH_OUT_PREEMPT = 1 << 14,
	/* Samples of waits that bpf/ hands on; no file has them. */
	MISC_WAIT_SLEEPING = 1 << 12,
	MISC_WAIT_DISK = 1 << 15,
	MISC_MMAP_BUILD_ID = 1 << 14, /* MMAP2 holds a build-id in place of device and inode; in a body always true */
	MISC_LOST_BY_FILTER = 1 << 15, /* LOST_SAMPLES: they are what a BPF filter left out */
	MISC_BUILD_ID_SIZE = 1 << 15, /* HEADER_BUILD_ID: its size byte is set */
};

/* sample_type, read_format and branch_sample_type bits that older kernel headers lack. */
#define DATA_SAMPLE_WEIGHT_STRUCT (1ULL << 24)
#define DATA_FORMAT_LOST (1ULL << 4)
#define DATA_BRANCH_HW_INDEX (1ULL << 17)
#define DATA_BRANCH_COUNTERS (1ULL << 19)

/* perf 7 takes no record whose size is not a multiple of 8, but for those that older ones wrote so. */
enum { RECORD_BYTES_MAX = 65535, RECORD_HEADER_BYTES = 8, RECORD_MULTIPLE = 8 };

/* One record as it lies in the file. type, misc and size are in native byte order, bytes are not. */
struct record {
	uint64_t offset; /* in the file or pipe; with `compressed`: of the COMPRESSED record */
	uint64_t inner_offset; /* with `compressed`: in the unpacked bytes of the whole file */
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* bytes, header included, at least 8 */
	bool compressed; /* was inside a COMPRESSED record */
	bool stable; /* bytes stay until its source is closed; else until the source is asked for the next */
	const uint8_t *bytes; /* all `size` bytes; any alignment */
	/* AUXTRACE and HEADER_TRACING_DATA: what follows the record and belongs to it. */
	uint64_t extra_size; /* bytes that follow and are skipped by the reader */
};

/* The block at the end of every record of an event with sample_id_all; has: PERF_SAMPLE_* bits. */
struct sample_id {
	uint64_t has;
	uint32_t pid, tid;
	uint64_t time_ns, id, stream_id;
	uint32_t cpu;
};

/* Values of one event or of a group, as PERF_SAMPLE_READ and READ store them. */
struct read_values {
	uint64_t format; /* read_format; PERF_FORMAT_* bits */
	uint64_t enabled_ns, running_ns; /* where format has them */
	uint64_t n; /* events */
	const uint64_t *words; /* group: n rows of value, id, lost as far as format has them */
	uint64_t single[3]; /* the only row, where words is NULL */
};

struct sample_branch {
	uint64_t from, to;
	uint64_t flags; /* bit 0 is `mispred` whatever the file's byte order */
};
/* Bits of a branch's flags: perf_event_open(2), struct perf_branch_entry. */
enum { BRANCH_MISPREDICTED = 1, BRANCH_PREDICTED = 2, BRANCH_IN_TX = 4, BRANCH_ABORT = 8 };
#define BRANCH_BITS ((UINT64_C(1) << 33) - 1) /* all that have a meaning */
static inline uint64_t branch_cycles(uint64_t flags) /* since the branch before it; 0: not known */
{
	return flags >> 4 & 0xffff;
}
enum { BRANCH_COND = 1, BRANCH_KINDS = 32 };
unsigned branch_kind(uint64_t flags); /* below BRANCH_KINDS; 0: not known */
const char *branch_kind_name(unsigned kind); /* "COND", "CALL", ...; "": not known */

struct sample_regs {
	uint64_t abi; /* 0: none, 1: 32 bit, 2: 64 bit */
	uint64_t mask; /* which registers; from the attr */
	const uint64_t *v; /* one per bit of mask; NULL with abi 0 */
	unsigned n;
};

/* The most of a stack in a sample: a record has at most 65,535 bytes, a copy a multiple of 8. perf_event_open(2) */
enum { STACK_DUMP_BYTES_MAX = 65528 };

/*
 * How a chain ended that was unwound while it was recorded: so many PERF_CONTEXT_USER marks stand at its end, without a
 * frame after them, which every reader passes over. A PERF_CONTEXT_KERNEL before them: one of its callers was found by
 * the frame pointer; of complete ones CHAIN_GUESSED says so.
 */
enum chain_end {
	CHAIN_COMPLETE,
	CHAIN_CUT, /* the copied part of the stack ended */
	CHAIN_NO_INFO, /* code without unwind tables; of recordings before 2026-11-25 also as CHAIN_NO_FILE */
	CHAIN_BROKEN, /* registers or tables that lead nowhere */
	CHAIN_LIMIT, /* it has more frames than were asked for */
	CHAIN_GUESSED, /* complete, but not all of its callers come from tables */
	CHAIN_NO_COPY, /* nothing of the stack was copied: its task gave it back, or the recorder had no room */
	CHAIN_OTHER_STACK, /* what a signal interrupted is on another stack than its handler */
	CHAIN_NO_FILE, /* a file could not be had */
	CHAIN_NOT_64, /* the task's registers have 32 bits */
	CHAIN_STRAY, /* where the caller should be there is no code */
	CHAIN_MADE, /* code made at run time, of which no tables are known */
	CHAIN_ENDS,
};

struct sample {
	uint64_t has; /* PERF_SAMPLE_* bits of the fields that are filled */
	uint64_t id; /* from IDENTIFIER or ID */
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns, addr, stream_id;
	uint32_t cpu, cpu_reserved;
	uint64_t period;
	struct read_values read;
	uint64_t n_ips;
	const uint64_t *ips; /* with PERF_CONTEXT_* marks, innermost first */
	uint32_t raw_size;
	const uint8_t *raw; /* in the file's byte order */
	uint64_t n_branches;
	uint64_t branch_hw_index; /* ~0: not known */
	const struct sample_branch *branches; /* newest first */
	const uint64_t *branch_counters; /* NULL: none */
	struct sample_regs user_regs, intr_regs;
	uint64_t stack_size; /* bytes of the copy */
	uint64_t stack_dyn_size; /* bytes of it that are stack */
	const uint8_t *stack;
	uint64_t
		weight; /* all 64 bits; with WEIGHT_STRUCT: var1 32, var2 16, var3 16 from the low end */
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	uint64_t aux_size;
	const uint8_t *aux;
};

/* enum chain_end, or what a later pstat wrote; *guessed: a caller was found by the frame pointer. */
unsigned chain_end(const struct sample *sample, bool *guessed);
struct data_event;
/* The event's stacks were unwound while they were recorded (pstat.data(5)): it has the size of their copies only. */
bool event_is_unwound(const struct data_event *event);
/*
 * A BPF program's samples of tasks that were off the CPU (perf record --off-cpu, "offcpu-time"): what they say is in
 * their raw data since perf 6.16, and sample_decode takes it from there. Before that they are plain samples, and so
 * this is false. Their stacks are those of user mode.
 */
bool event_is_off_cpu(const struct data_event *event);
/*
 * The event's samples are times that threads were off the CPU, in whichever form; the record's MISC_SWITCH_OUT_PREEMPT
 * says whether the thread was preempted or waited, and MISC_WAIT_* how it did where that is known.
 */
bool event_has_waits(const struct data_event *event);
/* A clock of the kernel's own, cpu-clock or task-clock: its samples stand for ns on a CPU. */
bool event_is_cpu_time(const struct data_event *event);
/*
 * The event's samples are all of the threads' time, in ns (pstat record --wall): on a CPU as a clock samples it, and
 * waits, whose records have MISC_SWITCH_OUT.
 */
bool event_is_wall_clock(const struct data_event *event);
/* The event's samples are what ended waits (pstat record --wakers), with their length in ns. */
bool event_has_wakers(const struct data_event *event);
/* sample.has of the event's samples. */
uint64_t event_sample_has(const struct data_event *event);

struct record_mmap { /* MMAP, MMAP2 */
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	/* MMAP2: either device and inode or, with MISC_MMAP_BUILD_ID, a build-id. */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint8_t build_id_size;
	uint8_t build_id[20];
	uint32_t prot, flags; /* mmap(2) */
	const char *path;
};

struct record_task { /* FORK, EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

/* Arrays of 8-byte words: n rows of some words each. */
struct record_words {
	uint64_t n;
	const uint64_t *v;
};

struct record_bytes {
	uint64_t n;
	const uint8_t *v;
};

/* A set of CPUs in one of three layouts. */
enum cpu_map_kind { CPU_MAP_LIST = 0, CPU_MAP_MASK = 1, CPU_MAP_RANGE = 2 };
struct record_cpus {
	uint16_t kind;
	uint16_t n; /* list: CPUs; mask: words */
	uint16_t word_bytes; /* mask: 4 or 8 */
	bool any_cpu; /* range: also "any CPU" */
	uint16_t first, last; /* range */
	const uint8_t *data; /* list: u16 each, mask: words; file's byte order */
	bool swap; /* data is of the other byte order */
};
/* The i-th CPU of the set, ascending for masks and ranges; false: no more. any_cpu is CPU -1. */
bool record_cpus_get(const struct record_cpus *cpus, size_t *cursor, int *cpu);

struct record_thread { /* THREAD_MAP */
	uint64_t pid;
	char comm[16]; /* not always ended by NUL */
};
struct record_threads {
	uint64_t n;
	const uint8_t *data; /* n times 24 bytes, file's byte order */
	bool swap;
};
struct record_thread record_threads_get(const struct record_threads *threads, size_t i);

enum event_update_kind {
	EVENT_UPDATE_UNIT,
	EVENT_UPDATE_SCALE,
	EVENT_UPDATE_NAME,
	EVENT_UPDATE_CPUS,
};

struct record_body {
	uint32_t type;
	uint16_t misc;
	const struct data_event *event; /* whose record this is; NULL: not known or user space */
	struct sample_id id; /* of SAMPLE records too, from their own fields */
	union {
		struct sample sample;
		struct record_mmap mmap;
		struct record_task task;
		struct {
			uint64_t id, lost;
		} lost; /* LOST; LOST_SAMPLES has only .lost */
		struct {
			uint32_t pid, tid;
			const char *comm;
		} comm;
		struct {
			uint64_t time_ns, id, stream_id;
		} throttle;
		struct {
			uint32_t pid, tid;
			struct read_values values;
		} read;
		struct {
			uint64_t offset, size, flags;
		} aux;
		struct {
			uint32_t pid, tid;
		} itrace_start;
		struct {
			uint32_t other_pid, other_tid; /* next when switched out, else previous */
		} sched; /* SWITCH_CPU_WIDE */
		struct {
			uint32_t pid, tid;
			struct record_words links; /* rows: device, inode */
		} namespaces;
		struct {
			uint64_t addr;
			uint32_t len;
			uint16_t kind, flags; /* kind 1: BPF, 2: out of line; flags 1: removed */
			const char *name;
		} ksymbol;
		struct {
			uint16_t kind, flags; /* kind 1: load, 2: unload */
			uint32_t id;
			uint8_t tag[8];
		} bpf;
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t addr;
			uint16_t old_len, new_len;
			struct record_bytes code; /* old bytes, then new */
		} text_poke;
		uint64_t hw_id; /* AUX_OUTPUT_HW_ID */
		struct {
			uint64_t cookie;
			struct record_words ips;
		} deferred;
		struct {
			struct record_bytes attr; /* file's byte order */
			struct record_words ids;
		} header_attr;
		struct {
			uint32_t size; /* bytes that follow the record */
		} tracing_data;
		struct {
			int32_t pid;
			uint8_t build_id[20];
			uint8_t build_id_size;
			const char *path;
		} build_id;
		struct record_words id_index; /* rows: id, index, CPU, tid */
		struct {
			uint32_t kind, reserved;
			struct record_words priv;
		} auxtrace_info;
		struct {
			uint64_t size, offset, reference;
			uint32_t index, tid, cpu, reserved;
		} auxtrace;
		struct {
			uint32_t kind, code, cpu, pid, tid, format;
			uint64_t ip, time_ns;
			char message[64];
		} auxtrace_error;
		struct record_threads threads;
		struct record_cpus cpus;
		struct record_words stat_config; /* rows: tag, value */
		struct {
			uint64_t id;
			uint32_t cpu, thread;
			uint64_t value, enabled_ns, running_ns;
		} stat;
		struct {
			uint64_t kind, time_ns; /* kind 0: interval, 1: final */
		} stat_round;
		struct {
			uint64_t kind, id;
			const char *text; /* UNIT, NAME */
			double scale;
			struct record_cpus cpus;
		} update;
		struct {
			uint64_t shift, mult, zero;
			struct record_bytes newer; /* fields of newer recorders */
		} time_conv;
		struct {
			uint64_t feature;
			struct record_bytes bytes;
		} feature;
		struct record_bytes packed; /* COMPRESSED, COMPRESSED2 */
		struct record_bytes unknown; /* types that pstat does not know, and those that it only names */
	};
};

#endif
