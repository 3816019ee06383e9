/* SPDX-License-Identifier: MIT */
/*
 * event: text -> events with a filled perf_event_attr. Opens nothing, makes no perf system call; reads sysfs, procfs
 * and tracefs only as far as the words on the command line need it. The way of `-e '{cycles:u,sched:sched_switch}:S'`:
 *
 *   text -> tree        spec.c: groups, events, their words, terms and modifiers, each with its place in the text
 *   tree -> events      event.c asks the sources by priority, EVENT_SOURCES: generic.c, tool.c, breakpoint.c,
 *                       probe.c, tracepoint.c, pmu.c, vendor.c, pfm.c; one of them knows the word and makes one
 *                       event or several
 *   /terms/ :modifiers  terms.c and modifier.c; a unit's own terms are pmu.c's
 *   {groups}            group.c: a leader and its members, parted where they are on different PMUs
 *   what is wrong       spec_error.c: the reason, the text, a caret under the place, what was probably meant
 *
 * Out comes a struct event_list, which kern/ opens: an ordered list of events, in which a group is a leader followed
 * directly by its members. event_list.c is what options say of all of its events; list.c is `pstat list`, by the same
 * sources.
 *
 * Sources: perf_event_open(2), include/uapi/linux/perf_event.h.
 */
#ifndef PSTAT_EVENT_H
#define PSTAT_EVENT_H

#include "util/util.h"

#include <linux/perf_event.h>

/* The one that counts an event: the kernel, or pstat itself. */
enum event_kind {
	EVENT_KERNEL, /* attr is opened with perf_event_open */
	EVENT_DURATION_TIME, /* the rest is known to pstat itself; these in ns */
	EVENT_USER_TIME,
	EVENT_SYSTEM_TIME,
	EVENT_FACT, /* a number about the machine: event.fact */
	EVENT_TARGET_CPU, /* 1: CPUs are counted; 0: tasks */
	EVENT_CORE_WIDE, /* 1: CPUs are counted, and of each core all or none */
};

/* How an event came to the machine's PMUs, and whether their counts belong together. */
enum event_expansion {
	EXPANSION_NONE, /* one event */
	EXPANSION_PMUS, /* one spec on several PMUs of a kind (uncore_imc_0, _1): summed by default */
	EXPANSION_CORE_TYPES, /* one generic name on each core PMU of a hybrid machine: kept apart */
};

/*
 * attr.type of an event whose PMU (pmu_name) this machine does not have: the kernel answers
 * ENOENT to it. pstat knows the name, but its code would count something else here.
 */
#define EVENT_TYPE_ABSENT UINT32_MAX

enum term_switch { TERM_UNSET = 0, TERM_OFF, TERM_ON };

/* Terms that say how to sample or open, kept as given; counting uses `inherit` and `percore`. */
struct event_terms {
	char *call_graph; /* "fp", "dwarf", "lbr", "no"; NULL: not given */
	char *branch_type;
	char *metric_id;
	enum term_switch time, inherit, overwrite, percore, aux_output;
	uint32_t stack_size_bytes, max_stack, nr, aux_sample_size; /* 0: not given */
	bool has_period, has_freq; /* attr.sample_period or attr.sample_freq was set by a term */
	double ratio_to_prev; /* 0: not given */
	bool has_cpus;
	struct intset cpus; /* cpu=: event.cpus is of these alone */
};

struct event {
	/*
	 * Type, config*, exclude_*, precise_ip, pinned, exclusive, bp_*, sample_period/freq.
	 * kern/ sets size, read_format, inherit, disabled, enable_on_exec when it opens.
	 */
	struct perf_event_attr attr;
	enum event_kind kind;
	const char *source; /* the source's name: "hw", "sw", "cache", ...; static text */

	char *name; /* what is printed: as typed without list and group syntax, or name=... */
	char *pmu_name; /* the PMU (sysfs device) it opens on, "" where the kernel chooses */
	char *unit; /* unit of the printed value: "Joules", "msec", ""; never NULL */
	double scale; /* printed value = count x scale; 1.0 where none is given */
	bool per_pkg; /* counts once per package: sysfs NAME.per-pkg */
	bool snapshot; /* a level, not a sum: an interval shows the value itself */

	struct intset cpus; /* CPUs this event may be opened on (cpumask, or a core type's CPUs); n 0: any */
	bool has_no_cpu; /* its PMU has none at all, or none of those chosen: see event_nowhere() */
	bool cpus_chosen; /* cpus are those of the term cpu=, where it counts tasks, too */
	bool pmu_is_core; /* opens on a core PMU: may follow a task (cpus is a core type, not a mask) */

	size_t leader; /* index of the group's leader in the list; its own index outside groups */
	size_t n_members; /* leader only: events in the group including itself; 1 outside groups */
	char *group_name; /* leader only; NULL where the group has no name */
	bool weak; /* leader only, :W: the group may be broken up */
	bool read_group; /* :S */
	bool precise_max; /* :P: the highest precise_ip that opens */
	bool bpf; /* :b */
	bool user_excludes; /* the text itself chose among u, k, h */
	bool user_guest; /* the text itself chose among G, H */

	unsigned expansion_id; /* events made from one spec have the same id (from 1); 0: none */
	enum event_expansion expansion;

	bool off_cpu; /* context switches of which time off the CPU is made: of use without the kernel's side, too */
	unsigned woken_at; /* sched:sched_waking, for what ends waits: where in its data the woken thread is; else 0 */
	bool tracking; /* a dummy for what tasks do (maps, names, forks): runs also where others wait */

	char *filter; /* tracepoint filter, or NULL */
	char *sample_filter; /* on fields of samples, or NULL; who records reads it (data.h, sample_filter_parse()) */
	uint64_t fact; /* EVENT_FACT */
	bool fact_unknown; /* the machine does not say */

	char *cgroup; /* cgroup name as given with -G or --for-each-cgroup, or NULL */
	char *tracepoint; /* "system/name", its folder below tracefs' events; NULL: it is none */
	char *probe_path; /* owned text that attr.config1 (uprobe path, kprobe function) points to */
	struct event_terms terms;
	uint64_t usual_period; /* where neither its terms nor an option say how often to sample; 0: nobody knows */
};

struct event_list {
	struct event *v;
	size_t n;
	size_t cap;
	size_t last_spec; /* index of the first event that the last -e added: --filter means these */
	size_t n_cgroups; /* how many -G names have been taken so far */
	unsigned n_expansions; /* expansion ids given so far */
	struct note_list notes; /* e.g. "group split: its events are on two PMUs" */
	struct vendor_catalog *vendors; /* names of the vendor's files: vendor.h; NULL: nobody has asked for them yet */
};

void event_list_init(struct event_list *list);
void event_list_release(struct event_list *list);

/*
 * Parses one -e argument and appends its events. On failure the list is as before and err holds the
 * message in several lines, ready to print: reason, then the spec, a caret under the place, and,
 * where a known name is near, "did you mean ...?".
 * -EINVAL wrong text, -ENOENT an unknown name, -EACCES a place that may not be read (tracefs).
 */
int event_list_parse(struct event_list *list, const char *spec, const struct host_paths *host,
		     struct str *err);

/* libpfm4 names only, separated by commas, groups in braces: --pfm-events. */
int event_list_parse_pfm(struct event_list *list, const char *names, const struct host_paths *host,
			 struct str *err);

/* A field of a tracepoint's data, as its file `format` in tracefs says. */
struct event_field {
	unsigned at, bytes; /* of an array all of it; of a dynamic field the word that says where it is */
	bool is_signed;
	bool is_array, is_text; /* is_text: an array of char */
	bool is_dynamic, is_relative; /* __data_loc; __rel_loc, which counts from after the field */
};
/* -ENOENT: it has none of this name; others: tracefs cannot be read. */
int event_field_find(const struct event *tracepoint, const struct host_paths *host, const char *name,
		     struct event_field *field);

/* --filter: for all events of the last -e; each must be a tracepoint. */
int event_list_set_filter(struct event_list *list, const char *filter, struct str *err);

/* A filter on fields of samples: the same, for events that are no tracepoints. */
int event_list_set_sample_filter(struct event_list *list, const char *filter, struct str *err);
/* The events of the last -e are tracepoints; false where there are none. */
bool event_list_ends_with_tracepoints(const struct event_list *list);

/*
 * Why the kernel refused event->filter, as far as its words tell: a name that is no field of the
 * tracepoint. reason and remedy stay empty where nothing is found.
 */
void event_filter_explain(const struct event *event, const struct host_paths *host,
			  struct str *reason, struct str *remedy);

/*
 * -G a,b: the n-th name belongs to the n-th event given so far; an empty name skips one; when fewer
 * names than events are given in one -G with a single name, it belongs to all events so far.
 */
int event_list_set_cgroups(struct event_list *list, const char *names, struct str *err);
/* --for-each-cgroup a,b: the whole list once per cgroup, in that order. */
int event_list_for_each_cgroup(struct event_list *list, const char *names, struct str *err);

/* The kernel alone causes what this event counts: without the kernel's side it would count 0. */
bool event_is_kernel_only(const struct event *event);
/*
 * The code by which the event's PMU itself knows a generic event that is bound to it (pmu_own.c): sets type and
 * config. False where the event is no such one, or the PMU's folder does not list it.
 */
bool event_own_code(const struct event *event, const struct host_paths *host,
		    struct perf_event_attr *attr);

/* The kernel's own clocks of CPU time, cpu-clock and task-clock: they count ns. */
bool event_is_clock(const struct event *event);
/*
 * Does its PMU name the CPUs on which it is opened for others (cpumask)? Where one of these goes offline the kernel
 * moves the event to another.
 */
bool event_is_moved(const struct event *event);
/* Why the event is not opened at all, as it would count nothing: a few static words; or NULL. */
const char *event_nowhere(const struct event *event);

/*
 * --all-user, --all-kernel: exclude the other side on every event that has one. A note names those
 * that --all-user leaves as they are.
 */
void event_list_only_user(struct event_list *list);
void event_list_only_kernel(struct event_list *list);

/* Takes one event out; the next member of a group leads in place of a leader. */
void event_list_remove(struct event_list *list, size_t index);

/* A deep copy of the events (leader indexes too); notes are not copied. */
void event_list_copy(struct event_list *to, const struct event_list *from);
/* Appends a copy of one of its events, in no group and made from no spec. */
void event_list_repeat(struct event_list *list, size_t index);

/* ---- branch records ---- */
/* "any_call,u" -> PERF_SAMPLE_BRANCH_*; -EINVAL with a sentence that quotes the wrong word. */
int branch_filter_parse(const char *text, uint64_t *filter, struct str *err);
/* The words of such a filter, in order; help is "" where the name says it all. false: no more. */
bool branch_word_row(size_t i, const char **name, const char **help);

/* ---- what there is: pstat list ---- */
struct event_info {
	const char *topic; /* the word of `pstat list`: "hw", "sw", "cache", "pmu", "tracepoint", ... */
	const char *name; /* as -e takes it */
	const char *alias; /* a second name, or "" */
	const char *desc; /* one line, or "" */
	const char *pmu_name; /* the PMU, or "" */
	const char *unit; /* unit of the value, or "" */
	double scale;
	const char *long_desc; /* several lines, or NULL */
	const char *encoding; /* the event in its PMU's terms, as -e takes it; or NULL */
	bool deprecated; /* its source advises against it */
};
/* The letters that may follow an event after a colon, in order; 0: no more. */
char event_modifier_row(size_t i, const char **help);
/* Return non-zero to stop the walk. */
typedef int (*event_info_fn)(const struct event_info *info, void *data);

/*
 * Walks over all events of one topic (NULL: all) whose name or alias matches glob (NULL: all).
 * Returns 0, what fn returned, or a negative errno with a sentence (a topic that cannot be read here).
 * A glob without * ? [ finds what contains it. With topic NULL, topics that cannot be read are left
 * out: 0 is returned, and their reasons stand in err, a line each.
 */
int event_walk(const char *topic, const char *glob, const struct host_paths *host, event_info_fn fn,
	       void *data, struct str *err);
/*
 * The tracepoints of one system; with NULL the systems, as "sched:". A part of the walk above that does not
 * touch thousands of files. 0, or what fn returned; nothing is walked where tracefs cannot be read.
 */
int event_walk_tracepoints(const char *system, const struct host_paths *host, event_info_fn fn, void *data);

/* A topic: the events of one source. */
struct event_topic {
	const char *name; /* the word of `pstat list`, and event.source: "hw", "sw", "cache", "pmu", ... */
	const char *title; /* heading of its events */
	const char *kind; /* perf's words for one of them */
	bool completed; /* its names may be offered where an event is typed: few, and none with a pattern in it */
};
/* The i-th topic in the order of the walk; NULL: there are no more. */
const struct event_topic *event_topic(size_t i);
/* The topic of that name; NULL: there is none. */
const struct event_topic *event_topic_find(const char *name);

/* ---- vendor.c: metrics of the vendor's files ---- */

/* A record of a file, as perf's layout has it: MetricExpr and its neighbours. */
struct event_metric {
	const char *name;
	const char *groups; /* separated by ';', or NULL */
	const char *desc; /* one line, or "" */
	const char *long_desc; /* or NULL */
	const char *formula, *threshold; /* in perf's language; threshold: or NULL */
	const char *scale_unit; /* "100%", or NULL */
	const char *unit; /* the PMU that it is about, or NULL */
};
/* Metrics of this CPU, sorted by name. They are read at the first call, and live as long as the list. */
const struct event_metric *event_metrics(struct event_list *list, const struct host_paths *host, size_t *n);
/* "6.1e-5MiB", "100%": the longest beginning that is a number is the scale, or else 1; returns the unit after it. */
const char *event_unit_split(const char *text, double *scale);

/* ---- PMUs of this machine (sysfs) ---- */
struct event_pmu {
	char *name; /* "cpu", "armv8_pmuv3_0", "software" */
	uint32_t type; /* attr.type */
	bool is_core; /* counts what a CPU core does, for tasks too */
	struct intset cpus; /* cpumask or cpus file; empty: all, unless */
	bool has_no_cpu; /* the file is there and names none: nothing is counted on any */
};
struct event_pmu_list {
	struct event_pmu *v;
	size_t n;
	size_t cap;
};
/* Reads all PMUs, sorted by name. -errno where sysfs cannot be read. */
int event_pmus_read(struct event_pmu_list *pmus, const struct host_paths *host);
/* The core PMUs alone, without a look into the others; none where sysfs cannot be read. */
void event_core_pmus_read(struct event_pmu_list *pmus, const struct host_paths *host);
void event_pmu_list_release(struct event_pmu_list *pmus);

/* ---- tracepoint.c ---- */
/*
 * The tracefs in use: host->tracefs if it has events/, else sysfs/kernel/debug/tracing; into out. 0, or the negative
 * errno with which its events are out of reach.
 */
int tracefs_root(const struct host_paths *host, struct str *out);

#endif
