/*
 * libpstat: count and sample with the perf events of Linux, in a program about itself or about others.
 *
 *	struct pstat_events *events;                    what to count: text or attrs
 *	struct pstat_counters *counters;                counters that are open: read, enable, disable
 *	struct pstat_readings *readings;                what they said: values, times, states, reasons
 *	struct pstat_sampler *sampler;                  events with rings: records
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
 * "uncore_imc/cas_count_read/". One name may become several events (one for each PMU that it means). Names of libpfm4
 * are not known. -EINVAL wrong text, -ENOENT an unknown name, -EACCES a place that may not be read.
 */
int pstat_events_parse(struct pstat_events *events, const char *text, struct pstat_error *error);

/*
 * Appends one event as its attr says (attr->size has to be right). What the library decides itself: read_format, and
 * without sampling disabled, inherit, enable_on_exec, sample_type and the period. name is what readings call it; NULL:
 * a name made of its type and config.
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
/* The i-th name; NULL behind the last. *help, where help is not NULL: what it counts, one line. */
const char *pstat_set_name(size_t i, const char **help);

/* The filter of a tracepoint, set when it is opened. NULL takes it away. -EINVAL: the event is no tracepoint. */
int pstat_events_set_filter(struct pstat_events *events, size_t index, const char *filter, struct pstat_error *error);

size_t pstat_events_count(const struct pstat_events *events);
const char *pstat_events_name(const struct pstat_events *events, size_t index); /* NULL: no such event */
/* What will be asked of the kernel, as far as it is known now. NULL: no such event. */
const struct perf_event_attr *pstat_events_attr(const struct pstat_events *events, size_t index);
/* What was understood in another way than it was written, a line each; NULL behind the last. */
const char *pstat_events_note(const struct pstat_events *events, size_t i);

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
	const char *cgroup; /* with PSTAT_CPUS: only what runs in this control group; NULL: all */
	int inherit; /* children and new threads count too, from now on */
	int enabled; /* counting begins at once; else pstat_enable() begins it */
	int enable_on_exec; /* counting begins when the task calls exec */
	int may_move_thread; /* reading a cgroup may move the calling thread from CPU to CPU and back */
	int may_raise_limit; /* RLIMIT_NOFILE is raised where it is too low */
	int overflows; /* the attrs' periods and frequencies stay, for BPF programs and pstat_set_period() */
	int user_read; /* values without system calls where that can be had: pstat_user_read() */
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

/* What an event became. */
struct pstat_counter {
	size_t size;
	const char *name; /* as given, with ":u" added where only user mode could be had */
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
/* What was done in another way than it was asked for (fallbacks), a line each; NULL behind the last. */
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

/*
 * The filter of a tracepoint from now on. -EINVAL with a sentence: the kernel does not understand it; -EEXIST: it has
 * one already, and the kernel takes one.
 */
int pstat_set_filter(struct pstat_counters *counters, size_t index, const char *filter, struct pstat_error *error);
/* The period from now on, or the frequency where it was opened with one; needs options.overflows, or samples. */
int pstat_set_period(struct pstat_counters *counters, size_t index, uint64_t period);
/* A BPF program (a descriptor of bpf(2)) runs at each overflow, or at each hit of a tracepoint. */
int pstat_attach_bpf(struct pstat_counters *counters, size_t index, int program_fd);

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
	uint64_t enabled_ns, running_ns; /* sums too: running below enabled means that the counter was shared */
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
/* The first of that name; NULL: there is none. */
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
 * that one name became on several PMUs of a kind are summed; a name that comes again has #2, #3, ... behind it. As
 * snprintf(3): writes at most `bytes`, with a NUL, and returns the length of the whole text. Nothing is allocated.
 */
int pstat_readings_json(const struct pstat_readings *readings, char *text, size_t bytes);

/*
 * The same reading in pieces: one for each event, CPU and thread that has a descriptor. cpu and tid are -1 where the
 * piece is about all. reading is good until fn returns; fn returning non-zero ends the walk with that value.
 */
typedef int (*pstat_cell_fn)(void *data, size_t index, int cpu, int tid, const struct pstat_reading *reading);
int pstat_read_cells(struct pstat_counters *counters, pstat_cell_fn fn, void *data);

/* ---- measure: a function's counts ---- */

/*
 * Opens the events on the calling thread (and what it starts meanwhile), calls function(argument) once, and leaves in
 * *readings what happened in it, explained; the caller frees it. A negative errno: nothing was called.
 */
int pstat_measure(const struct pstat_events *events, void (*function)(void *argument), void *argument,
		  struct pstat_readings **readings);

/* ---- reading without system calls: for the thread that is counted, of its own counters ---- */

/*
 * Needs options.user_read and PSTAT_SELF. The counter's value since it was opened or reset: PSTAT_BY_USER where no system call
 * was needed; PSTAT_BY_READ where the kernel had to be asked (the counter was not on the CPU, its page does not allow it,
 * another thread asks, or a child of fork(2)); or a negative errno. *value is raw.
 */
int pstat_user_read(struct pstat_counters *counters, size_t index, uint64_t *value);
/* The same with the times, for those who scale. */
int pstat_user_read_times(struct pstat_counters *counters, size_t index, uint64_t *value, uint64_t *enabled_ns,
			  uint64_t *running_ns);
/* Why this counter cannot be read so, a few words ("no PMU counts it", "perf_user_access is 0"); NULL: it can. */
const char *pstat_user_read_reason(const struct pstat_counters *counters, size_t index);

/* ---- samples: events with rings ---- */

struct pstat_sampler;
struct pstat_record;

struct pstat_sampling_options {
	size_t size;
	struct pstat_open_options open; /* its size has to be set, too; default: the calling thread, disabled */
	uint64_t ring_bytes; /* of each ring, rounded up to a power of two pages; 0: a good size */
	uint64_t wakeup_bytes; /* the poll descriptor is ready when so much lies in a ring */
	uint32_t wakeup_events; /* or after so many samples; both 0: when a quarter of the ring is full */
	int overwrite; /* rings keep the newest and are read once, when paused */
};

/*
 * Opens the events for samples: each attr has sample_type, period or frequency and what else it wants recorded (mmap,
 * comm, task, context_switch, ...). Errors as pstat_open(); -EPERM: not even one page a ring may be locked.
 */
int pstat_sampler_open(struct pstat_sampler **sampler, const struct pstat_events *events,
		       const struct pstat_sampling_options *options, struct pstat_error *error);
void pstat_sampler_close(struct pstat_sampler *sampler); /* NULL is allowed */
/* The counters behind it: enable, disable, read, set periods and filters. Belong to the sampler. */
struct pstat_counters *pstat_sampler_counters(struct pstat_sampler *sampler);
/* One descriptor to poll(2) for POLLIN, whatever the number of rings. */
int pstat_sampler_poll_fd(const struct pstat_sampler *sampler);
/*
 * Hands over each record that is ready, decoded, ring by ring; in a ring in the order of time. Returns how many; fn
 * returning non-zero ends the walk: the rest stays for the next call. Nothing is allocated.
 */
typedef int (*pstat_record_fn)(void *data, const struct pstat_record *record);
int pstat_sampler_read(struct pstat_sampler *sampler, pstat_record_fn fn, void *data);
/* Records that found no room since it was opened. */
uint64_t pstat_sampler_lost(const struct pstat_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif
