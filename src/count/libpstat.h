/* SPDX-License-Identifier: MIT */
/*
 * libpstat: count and sample with the perf events of Linux, in a program about itself or about others.
 *
 *	struct pstat_events *events;                    what to count: text or attrs
 *	struct pstat_counters *counters;                counters that are open: read, enable, disable
 *	struct pstat_readings *readings;                what they said: values, times, states, reasons
 *	struct pstat_sampler *sampler;                  events with rings: records
 *	struct pstat_names *names;                      addresses in records: functions
 *
 * Conventions:
 *   - A function that can fail returns 0 or a count, or a negative errno. Those that take a struct pstat_error write
 *     a finished sentence into it; it may be NULL.
 *   - No memory (-ENOMEM): all that the call had opened and allocated is undone, and its arguments are as before.
 *     Once something is open, nothing allocates but the calls that say so.
 *   - Nothing prints, exits, handles signals or keeps state outside the handles. The thread's affinity and the limit
 *     of open files are not changed unless an option asks for it.
 *   - A handle is for one thread at a time and has no locks; different handles have nothing in common.
 *   - Structs begin with their size. The caller sets it to sizeof in those it fills in, and zeroes the rest: 0 is the
 *     default everywhere. In those that the library fills in, what lies beyond size is not there.
 *   - Text that is returned belongs to the handle and lives as long.
 *   - fork(2): descriptors of a handle are open in the child too, and count the same tasks as before. Both sides may
 *     read and each has to close its own handle. What is mapped (rings, pages of counters) is not in the child: there
 *     samples are -EBADF, and values come by read(2). exec closes all.
 *
 * There is no promise about the ABI before version 1.0: the soname says which versions go together.
 *
 * This header is C99 and C++98. Manual: libpstat(3).
 */
#ifndef LIBPSTAT_H
#define LIBPSTAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* <linux/perf_event.h>; needed only by those who fill one in. */
struct perf_event_attr;

/* The version of this header, and that of the library in use: "0.1", as `pstat version` says. */
#define LIBPSTAT_VERSION "0.1"
const char *pstat_version(void);

/* ---- errors ---- */

struct pstat_error {
	size_t size;
	int code; /* what the function returned */
	char text[1000]; /* one sentence; further lines, where there are any, say where and what to do */
};

/* ---- events: what to count ---- */

struct pstat_events;

/* An empty list. -ENOMEM. */
int pstat_events_new(struct pstat_events **events);
void pstat_events_free(struct pstat_events *events); /* NULL is allowed */

/*
 * Appends what `pstat stat -e` understands: "cycles,instructions", "{cycles,instructions}:u", "sched:sched_switch",
 * "uncore_imc/cas_count_read/". One name may become several events (one for each PMU that it means). -EINVAL wrong
 * text, -ENOENT an unknown name, -EACCES a place that may not be read, -ENOSYS a name of libpfm4, of which the library
 * has none, -EOPNOTSUPP what no part of pstat does.
 */
int pstat_events_parse(struct pstat_events *events, const char *text, struct pstat_error *error);

/*
 * Appends one event as its attr says (attr->size has to be right). What the library decides itself: inherit, disabled
 * and enable_on_exec (by struct pstat_open_options), and read_format; where nothing is sampled (no sampler, no
 * options.overflows) also sample_type and the period. A sampler adds the fields that always come to sample_type, and
 * says when it is woken. name is what readings call it; NULL: a name made of its type and config.
 */
int pstat_events_add_attr(struct pstat_events *events, const char *name, const struct perf_event_attr *attr,
			  struct pstat_error *error);

/*
 * Makes n events from `first` on one group: counted at the same times, or not at all. They may not be in groups yet.
 */
int pstat_events_group(struct pstat_events *events, size_t first, size_t n, struct pstat_error *error);

/*
 * Appends a ready-made set: "hardware", "software", "cache-l1d", ...; pstat_set_name() lists them. Every event of a
 * set stands alone, so that what this machine lacks takes nothing with it. -ENOENT: no such set.
 */
int pstat_events_add_set(struct pstat_events *events, const char *set, struct pstat_error *error);
/* The i-th name; NULL after the last. *help, where help is not NULL: what it counts, one line. */
const char *pstat_set_name(size_t i, const char **help);

/* The filter of a tracepoint, set when it is opened. NULL takes it away. -EINVAL: the event is no tracepoint. */
int pstat_events_set_filter(struct pstat_events *events, size_t index, const char *filter, struct pstat_error *error);

/*
 * How often event `index` takes samples: one after so many, or about so many in a second. Events of one sampler may
 * differ. -EINVAL: no such event, or 0.
 */
int pstat_events_set_period(struct pstat_events *events, size_t index, uint64_t period, struct pstat_error *error);
int pstat_events_set_frequency(struct pstat_events *events, size_t index, uint64_t hz, struct pstat_error *error);

size_t pstat_events_count(const struct pstat_events *events);
const char *pstat_events_name(const struct pstat_events *events, size_t index); /* NULL: no such event */
/* The attr that will be asked of the kernel, as far as it is known now. NULL: no such event. */
const struct perf_event_attr *pstat_events_attr(const struct pstat_events *events, size_t index);
/* Words that were understood in another way than they were written, a line each; NULL after the last. */
const char *pstat_events_note(const struct pstat_events *events, size_t i);

/* ---- what is known here, without opening anything ---- */

/* 1: this kernel has perf events; 0: it has none. */
int pstat_supported(void);
/* The longest call chain that the kernel takes, in frames (kernel.perf_event_max_stack). -ENOENT: not known. */
int pstat_max_stack(void);
/*
 * The name of an event in the kernel's numbers, attr.type and attr.config: "cycles", "L1-dcache-load-misses",
 * "type-9/config=0x1/". As snprintf(3). -ENOMEM.
 */
int pstat_event_label(uint32_t event_type, uint64_t config, char *text, size_t bytes);

struct pstat_known;

/* An event that this machine knows, as `pstat list` has it. Texts are never NULL. */
struct pstat_known_event {
	size_t size;
	const char *topic; /* "hw", "sw", "cache", "pmu", "tracepoint", ... */
	const char *name; /* as pstat_events_parse() takes it */
	const char *alias; /* a second name, or "" */
	const char *description; /* one line, or "" */
	const char *pmu; /* or "" */
	const char *unit; /* of the value, or "" */
	double scale; /* value = count x scale */
};
/*
 * The known events of one topic (NULL: all that can be read here) whose names match glob (NULL: all; one without * ? [
 * finds what contains it). -ENOENT: no such topic; -EACCES and others: it cannot be read here; -ENOMEM.
 */
int pstat_known_new(struct pstat_known **known, const char *topic, const char *glob, struct pstat_error *error);
void pstat_known_free(struct pstat_known *known); /* NULL is allowed */
size_t pstat_known_count(const struct pstat_known *known);
const struct pstat_known_event *pstat_known_at(const struct pstat_known *known, size_t i); /* NULL: no such one */

/* ---- counters: events that are open on a target ---- */

struct pstat_counters;

enum pstat_target {
	PSTAT_SELF = 0, /* the thread that calls */
	PSTAT_TID, /* these threads */
	PSTAT_PID, /* these processes with all their threads */
	PSTAT_CPUS /* all that runs on these CPUs, or on every CPU that is online */
};

struct pstat_open_options {
	size_t size;
	enum pstat_target target;
	const int *ids; /* threads, processes or CPUs */
	size_t n_ids; /* 0 with PSTAT_CPUS: every CPU that is online */
	const char *cgroup; /* with PSTAT_CPUS: only this control group, by its name below the mount or its path */
	int inherit; /* children and new threads count too, from now on */
	int enabled; /* counting begins when all are open; else pstat_enable() begins it */
	int enable_on_exec; /* counting begins when the task calls exec */
	int may_move_thread; /* reading a cgroup may move the calling thread from CPU to CPU and back */
	int may_raise_limit; /* RLIMIT_NOFILE is raised where it is too low */
	int overflows; /* the attrs' periods and frequencies stay, for BPF programs and pstat_set_period() */
	int user_read; /* values without system calls where that can be had: pstat_user_read() */
	int by_cgroup_fd; /* the control group is cgroup_fd, an open folder of it, in place of cgroup */
	int cgroup_fd;
	const int *cpus; /* of threads and processes: count only while they run on these CPUs; NULL: on any */
	size_t n_cpus;
};

/*
 * Opens the events. An event that cannot be had is no error: its counter is PSTAT_NOT_SUPPORTED with its reason.
 * Errors: -EACCES this user may count none of them, -ESRCH the target has ended, -EMFILE or -ENFILE too many
 * descriptors, -EINVAL contradictory options, -ENOMEM. options NULL: the calling thread. The events are copied.
 */
int pstat_open(struct pstat_counters **counters, const struct pstat_events *events,
	       const struct pstat_open_options *options, struct pstat_error *error);
void pstat_close(struct pstat_counters *counters); /* NULL is allowed */

enum pstat_state {
	PSTAT_COUNTED = 0, /* the whole time */
	PSTAT_SCALED, /* a part of the time: `scaled` is extrapolated from it */
	PSTAT_LOWER_BOUND, /* a part of what was asked for, and nothing tells how big a part: `scaled` is `raw` */
	PSTAT_NOT_COUNTED, /* never ran: it found no counter, or its target did not run */
	PSTAT_NOT_SUPPORTED, /* could not be opened */
	PSTAT_READ_FAILED /* could not be read: `error` says why */
};
/* "counted", "scaled", "lower bound", ... */
const char *pstat_state_name(enum pstat_state state);

/* An event as it was opened. */
struct pstat_counter {
	size_t size;
	const char *name; /* as given; with ":u" where only user mode could be had */
	const char *pmu; /* that counts it; "" where the kernel chooses */
	const char *unit; /* of the value: "Joules", "msec", or "" */
	double scale; /* value = count x scale */
	int supported; /* 0: it could not be opened */
	int error; /* then the errno of the last attempt */
	const char *reason; /* a few words; NULL: there is none */
	const char *remedy; /* one line, what to do; NULL: none is known */
	size_t leader; /* index of the event that leads its group, as opened; its own outside groups */
	size_t n_members; /* of a leader: events in the group as opened, itself included */
	size_t n_descriptors; /* open ones */
	const struct perf_event_attr *attr; /* as opened */
};

size_t pstat_counters_count(const struct pstat_counters *counters);
const struct pstat_counter *pstat_counter(const struct pstat_counters *counters, size_t index); /* NULL: no such one */
/* Notes of what was done in another way than it was asked for (fallbacks), a line each; NULL after the last. */
const char *pstat_counters_note(const struct pstat_counters *counters, size_t i);

/* All counters. -errno of the first that failed, after all were tried. */
int pstat_enable(struct pstat_counters *counters);
int pstat_disable(struct pstat_counters *counters);
/*
 * From now on readings and pstat_user_read() begin at 0 again, times too. The handle remembers where it was: the
 * kernel's own reset leaves out the times, and what children counted that have ended.
 */
int pstat_reset(struct pstat_counters *counters);

/*
 * One event's descriptors, or the kernel's ids of them, which samples name their event by: at most n are written, and
 * the number that there are is returned. Descriptors are the handle's: do not close them.
 */
int pstat_descriptors(const struct pstat_counters *counters, size_t index, int *fds, size_t n);
int pstat_ids(const struct pstat_counters *counters, size_t index, uint64_t *ids, size_t n);
/* In the same order, which CPU and which thread each is of; -1: any CPU, all threads. Arrays may be NULL. */
int pstat_descriptor_targets(const struct pstat_counters *counters, size_t index, int *cpus, int *tids, size_t n);

/*
 * The filter of a tracepoint from now on. -EINVAL with a sentence: the kernel does not understand it; -EEXIST: it has
 * one already, and the kernel takes one.
 */
int pstat_set_filter(struct pstat_counters *counters, size_t index, const char *filter, struct pstat_error *error);
/* The period from now on, or the frequency where it was opened with one; needs options.overflows, or samples. */
int pstat_set_period(struct pstat_counters *counters, size_t index, uint64_t period);
/*
 * A BPF program (a descriptor of bpf(2)) runs at each overflow: never, where the event has no period (see
 * options.overflows). That of a tracepoint runs at each hit, whichever task made it, and once for all descriptors;
 * hits for which it returns 0 are not counted. One program each: -EEXIST, it has one. -EINVAL: no such open counter, or
 * a program of another type; -EACCES, -EPERM: this user may not.
 */
int pstat_attach_bpf(struct pstat_counters *counters, size_t index, int program_fd);

/*
 * The kernel's ids of the BPF programs that run at a tracepoint: at most n are written, and the number that there are
 * is returned. -EINVAL: no open counter of a tracepoint; -EPERM: this user may not know.
 */
int pstat_bpf_programs(const struct pstat_counters *counters, size_t index, uint32_t *ids, size_t n);
/*
 * Enables one event for n more overflows, after which the kernel disables it. -EINVAL: n is not above 0, or the event
 * takes no samples, or is inherited.
 */
int pstat_refresh(struct pstat_counters *counters, size_t index, int n);

/* ---- readings: what the counters said ---- */

struct pstat_readings;

enum pstat_way {
	PSTAT_BY_READ = 0, /* read(2) */
	PSTAT_BY_USER /* in user space, without a system call */
};

struct pstat_reading {
	size_t size;
	const char *name; /* the counter's */
	const char *unit; /* of `value` */
	enum pstat_state state;
	enum pstat_way way;
	uint64_t raw; /* as counted, all CPUs and threads together */
	uint64_t scaled; /* raw, with what multiplexing left out */
	double value; /* scaled x the event's scale, in its unit */
	/*
	 * Sums too: running below enabled means that the counter was shared. Where cores are of several types enabled
	 * is the time on the counter's type, as far as that is known.
	 */
	uint64_t enabled_ns, running_ns;
	int error; /* PSTAT_READ_FAILED, PSTAT_NOT_SUPPORTED: an errno */
	const char *reason; /* a few words, or NULL; see pstat_explain() */
	const char *remedy; /* one line, what to do, or NULL */
};

/* Room for one reading of these counters. It does not need them any more, and may outlive them. -ENOMEM. */
int pstat_readings_new(struct pstat_readings **readings, const struct pstat_counters *counters);
void pstat_readings_free(struct pstat_readings *readings); /* NULL is allowed */
size_t pstat_readings_count(const struct pstat_readings *readings);
/* In the order of the events. NULL: no such one. */
const struct pstat_reading *pstat_reading_at(const struct pstat_readings *readings, size_t index);
/* The first of that name, or that was given that name; NULL: there is none. */
const struct pstat_reading *pstat_reading_of(const struct pstat_readings *readings, const char *name);

/*
 * Reads all counters, each group with one system call. Nothing is allocated. A counter that cannot be read is no error:
 * its state says so. -EINVAL: these readings were made for other counters.
 */
int pstat_read(struct pstat_counters *counters, struct pstat_readings *readings);
/* later = later - earlier, times too; then scaled anew. -EINVAL: they are of different counters. */
int pstat_readings_subtract(struct pstat_readings *later, const struct pstat_readings *earlier);
/* -EINVAL as above. */
int pstat_readings_copy(struct pstat_readings *to, const struct pstat_readings *from);
/*
 * Finds, for each reading that is not PSTAT_COUNTED, the reason and the remedy that `pstat stat` would show, by asking
 * the machine: opens and closes events. Allocates: -ENOMEM. Without it readings have the reasons that opening found.
 */
int pstat_explain(struct pstat_counters *counters, struct pstat_readings *readings);
/*
 * {"cycles":1200345,"instructions":null}: the values under the names of the events, null where there is none. Events
 * that one name became on several PMUs of a kind are summed; a name that comes again has #2, #3, ... after it. As
 * snprintf(3): writes at most `bytes`, with a NUL, and returns the length of the whole text. Nothing is allocated.
 */
int pstat_readings_json(const struct pstat_readings *readings, char *text, size_t bytes);

/* {"cycles":{"value":null,"enabled_ns":0,"running_ns":0,"state":"not supported","reason":"no counter unit ..."}} */
#define PSTAT_JSON_DETAILS 1u
/* Names as perf-utils has them ("cpu_cycles", "l1_data_read_miss"); other names with _ for what is no letter. */
#define PSTAT_JSON_PERF_UTILS 2u
/* The same, with these flags. -EINVAL: an unknown one. */
int pstat_readings_json_with(const struct pstat_readings *readings, unsigned int flags, char *text, size_t bytes);

/*
 * The last reading in pieces: one for each event, CPU and thread that has a descriptor. cpu and tid are -1 where the
 * piece is about all. reading is good until fn returns; fn returning non-zero ends the walk with that value.
 */
typedef int (*pstat_cell_fn)(void *data, size_t index, int cpu, int tid, const struct pstat_reading *reading);
int pstat_readings_cells(const struct pstat_readings *readings, pstat_cell_fn fn, void *data);

/* ---- measure: a function's counts ---- */

/*
 * Opens the events on the calling thread (and what it starts meanwhile), calls function(argument) once, and leaves in
 * *readings what happened in it, explained; the caller frees it. A negative errno: nothing was called.
 */
int pstat_measure(const struct pstat_events *events, void (*function)(void *argument), void *argument,
		  struct pstat_readings **readings);
/*
 * The same on another target or with other options (NULL: as above), and with a sentence. The function may leave by an
 * exception of C++: everything is closed then, and *readings stays NULL. Not so by longjmp(3).
 */
int pstat_measure_with(const struct pstat_events *events, const struct pstat_open_options *options,
		       void (*function)(void *argument), void *argument, struct pstat_readings **readings,
		       struct pstat_error *error);
/*
 * Measures with counters that are open, and readings of them: resets, enables, calls, disables (also after an
 * exception), reads. Nothing is allocated or opened, and nothing explained. -EINVAL: the readings are of other
 * counters.
 */
int pstat_measure_counters(struct pstat_counters *counters, struct pstat_readings *readings,
			   void (*function)(void *argument), void *argument);

/* ---- reading without system calls: for the thread that is counted, of its own counters ---- */

/*
 * Needs options.user_read and PSTAT_SELF. The counter's value since it was opened or reset: PSTAT_BY_USER where no
 * system call was needed; PSTAT_BY_READ where the kernel had to be asked (the counter was not on the CPU, its page does
 * not allow it, another thread asks, or a child of fork(2)); or a negative errno. *value is raw.
 */
int pstat_user_read(struct pstat_counters *counters, size_t index, uint64_t *value);
/* The same with the times, for those who scale. */
int pstat_user_read_times(struct pstat_counters *counters, size_t index, uint64_t *value, uint64_t *enabled_ns,
			  uint64_t *running_ns);
/* Why this counter cannot be read so, a few words ("no PMU counts it", "perf_user_access is 0"); NULL: it can. */
const char *pstat_user_read_reason(const struct pstat_counters *counters, size_t index);

/* ---- records: what a ring delivers ---- */

/* The kernel's numbers, PERF_RECORD_*. A type that this version does not know comes too, as its bytes. */
enum pstat_record_type {
	PSTAT_RECORD_MMAP = 1,
	PSTAT_RECORD_LOST,
	PSTAT_RECORD_COMM,
	PSTAT_RECORD_EXIT,
	PSTAT_RECORD_THROTTLE,
	PSTAT_RECORD_UNTHROTTLE,
	PSTAT_RECORD_FORK,
	PSTAT_RECORD_READ,
	PSTAT_RECORD_SAMPLE,
	PSTAT_RECORD_MMAP2,
	PSTAT_RECORD_AUX,
	PSTAT_RECORD_ITRACE_START,
	PSTAT_RECORD_LOST_SAMPLES,
	PSTAT_RECORD_SWITCH,
	PSTAT_RECORD_SWITCH_CPU_WIDE,
	PSTAT_RECORD_NAMESPACES,
	PSTAT_RECORD_KSYMBOL,
	PSTAT_RECORD_BPF_EVENT,
	PSTAT_RECORD_CGROUP,
	PSTAT_RECORD_TEXT_POKE,
	PSTAT_RECORD_AUX_OUTPUT_HW_ID,
	PSTAT_RECORD_CALLCHAIN_DEFERRED
};
/* "MMAP2"; "UNKNOWN" */
const char *pstat_record_name(uint32_t record_type);

/* The owner of the code of an ip, or of a map. */
enum pstat_mode {
	PSTAT_MODE_UNKNOWN = 0,
	PSTAT_MODE_KERNEL,
	PSTAT_MODE_USER,
	PSTAT_MODE_HYPERVISOR,
	PSTAT_MODE_GUEST_KERNEL,
	PSTAT_MODE_GUEST_USER
};

/* Values of counters: of one event, or each of a group (read_format PERF_FORMAT_GROUP). pstat_value() reads them. */
struct pstat_values {
	uint64_t format; /* PERF_FORMAT_* bits: what there is */
	uint64_t enabled_ns, running_ns;
	uint64_t n; /* events */
	const uint64_t *words;
};
/* The i-th event's value, its kernel's id and its lost records: 0 where they were not stored. -ENOENT: no such one. */
int pstat_value(const struct pstat_values *values, uint64_t i, uint64_t *value, uint64_t *id, uint64_t *lost);

struct pstat_registers {
	uint64_t abi; /* 0: none were taken; 1: of a 32-bit task; 2: 64-bit */
	uint64_t mask; /* which, as the attr asked for them */
	const uint64_t *v; /* one for each bit of mask, in ascending order */
	uint32_t n;
};

struct pstat_branch {
	uint64_t from_addr, to_addr;
	uint64_t flags; /* as in struct perf_branch_entry, from bit 0: mispred, predicted, in_tx, abort, cycles:16 */
};

/* `has` of the record says which fields were asked for; the others are 0. */
struct pstat_sample {
	uint64_t ip, addr, period;
	struct pstat_values values; /* PERF_SAMPLE_READ */
	uint64_t n_ips;
	const uint64_t *ips; /* innermost first, with PERF_CONTEXT_* marks between kernel and user */
	uint32_t raw_bytes;
	const uint8_t *raw; /* a tracepoint's fields, what a BPF program put out */
	uint64_t n_branches;
	uint64_t branch_hw_index; /* ~0: not known */
	const struct pstat_branch *branches; /* newest first */
	const uint64_t *branch_counters; /* NULL: none */
	struct pstat_registers user_registers, interrupted_registers;
	uint64_t stack_bytes; /* of the copy */
	uint64_t stack_used_bytes; /* those of them that are stack */
	const uint8_t *stack;
	uint64_t weight; /* with PERF_SAMPLE_WEIGHT_STRUCT: 32, 16 and 16 bits from the lowest on */
	uint64_t data_source, transaction, physical_addr, cgroup, data_page_bytes, code_page_bytes;
	uint64_t aux_bytes;
	const uint8_t *aux;
};

struct pstat_map { /* MMAP, MMAP2 */
	uint32_t pid, tid;
	uint64_t start, length, file_offset;
	const char *path; /* or "[heap]", "//anon", ... */
	int data; /* not executable */
	/* From here on MMAP2 alone. */
	uint32_t protection, flags; /* as of mmap(2) */
	uint32_t device_major, device_minor; /* 0 where there is a build-id */
	uint64_t inode, inode_generation;
	uint8_t build_id_bytes; /* 0: there is none */
	uint8_t build_id[20];
};

struct pstat_task { /* FORK, EXIT */
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct pstat_namespace {
	uint64_t device, inode; /* of its file in /proc/PID/ns; in the order of the kernel's NET_NS_INDEX ... */
};

struct pstat_lost { /* LOST, LOST_SAMPLES: so many found no room, or were not taken */
	uint64_t id; /* 0 in LOST_SAMPLES */
	uint64_t n;
};

struct pstat_comm { /* COMM */
	uint32_t pid, tid;
	const char *name;
	int exec; /* by exec, else by prctl(2) or /proc */
};

struct pstat_throttle { /* THROTTLE, UNTHROTTLE */
	uint64_t time_ns, id, stream_id;
};

struct pstat_task_read { /* READ: of a task that ended, with attr.inherit_stat */
	uint32_t pid, tid;
	struct pstat_values values;
};

struct pstat_aux { /* AUX */
	uint64_t offset, bytes, flags; /* PERF_AUX_FLAG_* */
};

struct pstat_itrace_start { /* ITRACE_START */
	uint32_t pid, tid;
};

struct pstat_switch { /* SWITCH, SWITCH_CPU_WIDE */
	int out; /* the task stops running, else it begins to */
	int preempted; /* it could have gone on */
	uint32_t other_pid, other_tid; /* SWITCH_CPU_WIDE: who follows, or who was before */
};

struct pstat_namespaces { /* NAMESPACES */
	uint32_t pid, tid;
	uint64_t n;
	const struct pstat_namespace *v;
};

struct pstat_ksymbol { /* KSYMBOL */
	uint64_t addr;
	uint32_t length;
	uint16_t kind; /* 1: a BPF program, 2: code out of line */
	uint16_t flags; /* bit 0: it is gone */
	const char *name;
};

struct pstat_bpf_event { /* BPF_EVENT */
	uint16_t kind; /* 1: loaded, 2: unloaded */
	uint16_t flags;
	uint32_t id;
	uint8_t tag[8];
};

struct pstat_cgroup_path { /* CGROUP */
	uint64_t id;
	const char *path;
};

struct pstat_text_poke { /* TEXT_POKE */
	uint64_t addr;
	uint16_t old_bytes, new_bytes;
	const uint8_t *code; /* the old bytes, then the new */
};

struct pstat_hw_id { /* AUX_OUTPUT_HW_ID */
	uint64_t hw_id;
};

struct pstat_deferred_chain { /* CALLCHAIN_DEFERRED */
	uint64_t cookie;
	uint64_t n_ips;
	const uint64_t *ips;
};

/*
 * One record. Its pointers, and it itself, are good until the next one is asked for. Text ends with a NUL, and is raw:
 * other programs chose it.
 */
struct pstat_record {
	size_t size;
	uint32_t record_type; /* enum pstat_record_type */
	uint16_t misc; /* PERF_RECORD_MISC_* bits, as the kernel wrote them */
	uint16_t mode; /* enum pstat_mode */
	int event; /* index of the event that it belongs to; -1: not known */
	int ring_cpu; /* of the ring that it came from; -1: a ring of a thread */
	uint64_t has; /* PERF_SAMPLE_* bits: what of the following, and of a sample, there is */
	uint32_t pid, tid; /* who ran */
	uint64_t time_ns, id, stream_id;
	uint32_t cpu;
	uint32_t n_bytes;
	const uint8_t *bytes; /* all of it, with its header */
	union {
		struct pstat_sample sample;
		struct pstat_map map;
		struct pstat_task task;
		struct pstat_lost lost;
		struct pstat_comm comm;
		struct pstat_throttle throttle;
		struct pstat_task_read read;
		struct pstat_aux aux;
		struct pstat_itrace_start itrace_start;
		struct pstat_switch sched;
		struct pstat_namespaces namespaces;
		struct pstat_ksymbol ksymbol;
		struct pstat_bpf_event bpf;
		struct pstat_cgroup_path cgroup;
		struct pstat_text_poke text_poke;
		struct pstat_hw_id hw_id;
		struct pstat_deferred_chain deferred;
	} body; /* the member that record_type says */
};

/*
 * The bits of a branch, of sample.data_source and of sample.transaction, each by itself. The caller sets size. Numbers
 * are the kernel's: PERF_BR_* (of PERF_BR_EXTEND_ABI 16 and up, by the new type), PERF_BR_SPEC_*, PERF_BR_PRIV_*,
 * PERF_MEM_OP_* and so on.
 */
struct pstat_branch_parts {
	size_t size;
	uint32_t mispredicted, predicted; /* both 0: the unit does not say */
	uint32_t in_transaction, aborted;
	uint32_t cycles; /* since the branch before; 0: not known */
	uint32_t branch_type, speculation, privilege;
};
void pstat_branch_decode(const struct pstat_branch *branch, struct pstat_branch_parts *parts);

struct pstat_data_source {
	size_t size;
	uint32_t operation, level, snoop, lock, tlb; /* bits of PERF_MEM_OP_*, _LVL_*, _SNOOP_*, _LOCK_*, _TLB_* */
	uint32_t level_number; /* PERF_MEM_LVLNUM_* */
	uint32_t remote, snoop_more, blocked, hops; /* PERF_MEM_REMOTE_*, _SNOOPX_*, _BLK_*, _HOPS_* */
};
void pstat_data_source_decode(uint64_t data_source, struct pstat_data_source *parts);

struct pstat_transaction {
	size_t size;
	uint32_t elision, transaction, synchronous, asynchronous, retry, conflict, capacity_write, capacity_read;
	uint32_t abort_code; /* of an abort that the program asked for */
};
void pstat_transaction_decode(uint64_t transaction, struct pstat_transaction *parts);

/* A field of a tracepoint's samples (fields PERF_SAMPLE_RAW), as tracefs describes it. */
struct pstat_field {
	size_t size;
	uint32_t offset, bytes;
	int is_signed, is_array;
	int is_text; /* an array of characters */
	int is_dynamic, is_relative; /* the bytes say where it is: from the beginning, or from after themselves */
};
/*
 * Looks the field up by its name; the caller sets field->size. -EINVAL: no such event, or no tracepoint; -ENOENT: it
 * has no such field; -EACCES: tracefs cannot be read; -ENOMEM.
 */
int pstat_events_field(const struct pstat_events *events, size_t index, const char *name, struct pstat_field *field,
		       struct pstat_error *error);
/* The value in a sample. -EINVAL: it is no number; -EBADMSG: the sample is too short. */
int pstat_field_number(const struct pstat_field *field, const struct pstat_sample *sample, int64_t *value);
/* Writes as snprintf(3), up to the first NUL; raw, as the program had it. -EINVAL: it is no text; -EBADMSG as above. */
int pstat_field_text(const struct pstat_field *field, const struct pstat_sample *sample, char *text, size_t bytes);

/*
 * The body of a record of these types, for languages that have no unions; NULL: the record is of another type.
 */
const struct pstat_sample *pstat_record_sample(const struct pstat_record *record);
const struct pstat_map *pstat_record_map(const struct pstat_record *record);
const struct pstat_task *pstat_record_task(const struct pstat_record *record);
const struct pstat_lost *pstat_record_lost(const struct pstat_record *record);
const struct pstat_comm *pstat_record_comm(const struct pstat_record *record);
const struct pstat_throttle *pstat_record_throttle(const struct pstat_record *record);
const struct pstat_task_read *pstat_record_read(const struct pstat_record *record);
const struct pstat_aux *pstat_record_aux(const struct pstat_record *record);
const struct pstat_itrace_start *pstat_record_itrace_start(const struct pstat_record *record);
const struct pstat_switch *pstat_record_switch(const struct pstat_record *record);
const struct pstat_namespaces *pstat_record_namespaces(const struct pstat_record *record);
const struct pstat_ksymbol *pstat_record_ksymbol(const struct pstat_record *record);
const struct pstat_bpf_event *pstat_record_bpf_event(const struct pstat_record *record);
const struct pstat_cgroup_path *pstat_record_cgroup(const struct pstat_record *record);
const struct pstat_text_poke *pstat_record_text_poke(const struct pstat_record *record);
const struct pstat_hw_id *pstat_record_hw_id(const struct pstat_record *record);
const struct pstat_deferred_chain *pstat_record_deferred(const struct pstat_record *record);

/* ---- samplers: events with rings ---- */

struct pstat_sampler;

/* Records besides samples: bits of `track`. */
#define PSTAT_TRACK_MAPS 1u /* MMAP2 of code */
#define PSTAT_TRACK_DATA_MAPS 2u /* and of data */
#define PSTAT_TRACK_NAMES 4u /* COMM */
#define PSTAT_TRACK_TASKS 8u /* FORK, EXIT */
#define PSTAT_TRACK_SWITCHES 16u /* SWITCH, or of whole CPUs SWITCH_CPU_WIDE */
#define PSTAT_TRACK_NAMESPACES 32u
#define PSTAT_TRACK_KSYMBOLS 64u /* KSYMBOL, BPF_EVENT */
#define PSTAT_TRACK_CGROUPS 128u
#define PSTAT_TRACK_TEXT_POKES 256u
#define PSTAT_TRACK_READS 512u /* READ when a task ends; only with open.inherit */
#define PSTAT_TRACK_BUILD_IDS 1024u /* MMAP2 has a build-id in place of the inode */

struct pstat_sampling_options {
	size_t size;
	const struct pstat_open_options *open; /* NULL: the calling thread, disabled */
	/* For events whose words or attr say nothing of it: one of these. Both 0: they count, and take no samples. */
	uint64_t period; /* a sample after so many */
	uint64_t frequency; /* or about so many in a second */
	/* For every event, besides what its attr asks for. IDENTIFIER, TID and TIME always come. */
	uint64_t fields; /* PERF_SAMPLE_* bits */
	uint64_t user_registers, interrupted_registers; /* masks for their PERF_SAMPLE_REGS_* */
	uint64_t branches; /* PERF_SAMPLE_BRANCH_* for PERF_SAMPLE_BRANCH_STACK */
	uint32_t stack_bytes; /* for PERF_SAMPLE_STACK_USER */
	/*
	 * PSTAT_TRACK_* bits, which the first event carries. Where that cannot be had, or counts on some CPUs only, an
	 * event `dummy` is added to the sampler's counters, as the last, and carries them.
	 */
	uint32_t track;
	/* Size of each ring, rounded up to a power of two pages; 0: 256 KiB. Less where no more may be locked. */
	uint64_t ring_bytes;
	uint32_t wakeup_bytes; /* the descriptor becomes ready when so much lies in a ring */
	uint32_t wakeup_events; /* or after so many samples; both 0: when half of the ring is full */
	/* Frames of a call chain at most, for events whose words say nothing of it; 0: kernel.perf_event_max_stack. */
	uint32_t max_stack;
};

/*
 * Opens the events, and a ring for each CPU or thread that they are opened on. Events that cannot be had are no error,
 * as with pstat_open(). Words of an event's text that say how to sample are followed (period, freq, call-graph=fp,
 * call-graph=no, max-stack, stack-size, branch_type, time, inherit) or refused. Errors as there; -EPERM: not even one
 * page a ring may be locked; -EINVAL: contradictory options, a word that is refused (an event that writes backwards),
 * a frequency or a max_stack over the kernel's limit. No thread is started.
 */
int pstat_sampler_open(struct pstat_sampler **sampler, const struct pstat_events *events,
		       const struct pstat_sampling_options *options, struct pstat_error *error);
void pstat_sampler_close(struct pstat_sampler *sampler); /* NULL is allowed */
/* The sampler's counters: enable, disable, read, set periods and filters. They are the sampler's: do not close them. */
struct pstat_counters *pstat_sampler_counters(struct pstat_sampler *sampler);

/*
 * The next record, ring by ring, and in a ring in the order of time: 1, 0 where none is ready, or a negative errno with
 * a sentence: -EBADMSG, a record that makes no sense was left out; -EBADF in a child of fork(2). No system call is
 * made and nothing allocated. The room that a record takes is given back when the next one is asked for.
 */
int pstat_sampler_next(struct pstat_sampler *sampler, const struct pstat_record **record, struct pstat_error *error);
/*
 * 1 at once where any ring has a record that was not handed out. Else waits until a ring has what it is to wake up
 * for, at most so many milliseconds (-1: for ever, 0: not at all). 1: something is there; 0: the time is over;
 * -ENODATA: all tasks of the rings have ended, and all that they left was handed out; -EOPNOTSUPP: no event is open, so
 * nothing will come (pstat_counter() says why); -EINTR, -EBADF.
 */
int pstat_sampler_wait(struct pstat_sampler *sampler, int timeout_ms);
/*
 * A descriptor that becomes readable when pstat_sampler_wait() would not have to wait, for poll(2) and epoll(7). The
 * kernel tells each news once, to whoever asks first. When it is readable call pstat_sampler_wait(sampler, 0), which
 * takes out who has ended (otherwise it stays readable), and pstat_sampler_next() until it returns 0.
 */
int pstat_sampler_fd(const struct pstat_sampler *sampler);

/* While paused no record is written: the kernel counts them as lost. -errno of the first ring that refuses; -EBADF. */
int pstat_sampler_pause(struct pstat_sampler *sampler, int paused);

struct pstat_sampler_counts {
	size_t size;
	uint64_t delivered; /* records handed out by pstat_sampler_next() */
	uint64_t samples; /* of them */
	uint64_t lost; /* records that found no room, as LOST records that were read said */
	uint64_t not_taken; /* samples that the hardware or a filter dropped, as LOST_SAMPLES records said */
	uint64_t broken; /* records, or ends of a ring, that made no sense */
	uint64_t lost_now; /* records that found no room so far, as the kernel counts: asked of each descriptor */
	int lost_now_known; /* 0: a kernel before 6.0 does not count them */
};
/* Sets counts->size bytes of it. */
void pstat_sampler_count(struct pstat_sampler *sampler, struct pstat_sampler_counts *counts);

/* ---- names: which function an address is in ---- */

/*
 * Addresses of processes that run, and of the kernel. Files are read when the first address in them is asked for, and
 * stay in memory, once for all processes; nothing is kept on disk, and nothing is asked of other programs.
 */
struct pstat_names;

int pstat_names_new(struct pstat_names **names, struct pstat_error *error); /* -ENOMEM */
void pstat_names_free(struct pstat_names *names); /* NULL is allowed */

struct pstat_name {
	size_t size;
	/*
	 * The name in the file's symbol table: mangled, where its language does that, and of any bytes, where somebody
	 * else wrote the file. NULL: not known.
	 */
	const char *function;
	uint64_t offset; /* of the address in it */
	const char *file; /* that is mapped there, as the process calls it; "[kernel]", "[vdso]"; NULL: none */
	uint64_t file_address; /* the address as the file's symbols count, which addr2line(1) takes */
	const char *reason; /* why there is no function, a few words; NULL: there is one */
};
/*
 * The name of an address in a process (0: this one). 1; 0: it has none, and name->reason says why. What is not known
 * yet is read: the process's maps where the address is in none of those known (it may have been mapped since), the
 * symbols of the file (.symtab, else .dynsym), /proc/kallsyms for addresses in the upper half of 64 bits. Text lives
 * as long as the names do. -ESRCH: the process has ended, and nothing was asked about it before; -EACCES: this user may
 * not read its maps; -ENOMEM: as before the call; -EINVAL.
 */
int pstat_name_of(struct pstat_names *names, int pid, uint64_t address, struct pstat_name *name,
		  struct pstat_error *error);
/* The process has called exec, has ended and its number may come again, or has unmapped files: ask anew. */
void pstat_names_forget(struct pstat_names *names, int pid);

#ifdef __cplusplus
}
#endif

#endif
