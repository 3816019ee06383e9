/* SPDX-License-Identifier: MIT */
/*
 * source: what an event source is to event.c: a file, and a row of EVENT_SOURCES. Private to event/.
 */
#ifndef PSTAT_SOURCE_H
#define PSTAT_SOURCE_H

#include "event/event.h"
#include "event/spec.h"

/*
 * One parse: the list being built, and what was read from the machine so far. catalog is owned by
 * pmu_catalog.c: PMUs and their folders, read on first use, freed by pmu_catalog_free().
 */
struct event_parse {
	struct event_list *list;
	const struct host_paths *host;
	struct spec_error *error;
	struct pmu_catalog *catalog; /* NULL until pmu_catalog.c needs it */
	struct vendor_catalog **vendors; /* where the list keeps it; points to NULL until vendor_catalog() needs it */
	const char *text; /* the whole spec: what spec_event.pos and the carets count in */
};

struct event_source {
	struct event_topic topic;
	/*
	 * Appends the event or events that spec names (event_new), applies spec's terms
	 * (event_apply_terms), but not its modifiers: event.c does that for all alike.
	 * 1 found, 0 not mine, negative errno: mine but wrong (error filled with place and reason).
	 */
	int (*lookup)(struct event_parse *p, const struct spec_event *spec);
	/* Calls fn for each event; near-miss suggestions use it too. 0, fn's value, or -errno. */
	int (*list)(const struct host_paths *host, event_info_fn fn, void *data, struct str *err);
	/* Listing reads many files (tracefs, libpfm): not asked for suggestions unless it is cheap. */
	bool list_is_slow;
};

/*
 * The sources by priority: the first that knows a name has it. To add one: event/x.c, which ends in its struct
 * event_source, x_source; a row here; a test in tests/unit; an entry in pstat-list(1).
 */
#define EVENT_SOURCES(ROW)                                                    \
	ROW(hw) ROW(sw) ROW(cache) ROW(raw) /* generic.c */                   \
	ROW(tool) ROW(breakpoint)                                             \
	ROW(probe) /* kprobe/ and uprobe/ */                                  \
	ROW(tracepoint)                                                       \
	ROW(pmu)                                                              \
	ROW(vendor)                                                           \
	ROW(pfm)
#define DECLARE_SOURCE(name) extern const struct event_source name##_source;
EVENT_SOURCES(DECLARE_SOURCE)
extern const struct event_source *const event_sources[];
extern const size_t n_event_sources;

/*
 * Appends a blank event (scale 1, unit "", leader itself) whose name is spec's own text without
 * modifiers-only differences: the text as typed, modifiers included. The pointer is good until
 * the next event_new.
 */
struct event *event_new(struct event_parse *p, const struct spec_event *spec,
			const struct event_source *source);

/*
 * Applies the terms that every event understands (name, period, freq, config, config1..3, time,
 * call-graph, ...: one table in terms.c) and hands the others to `other` (may be NULL): 1 taken,
 * 0 unknown, negative errno wrong. Unknown terms fail with the list of valid ones, to which
 * `add_names` (may be NULL) adds the source's own.
 */
int event_apply_terms(struct event_parse *p, const struct spec_event *spec, struct event *event,
		      int (*other)(struct event_parse *p, const struct spec_term *term,
				   struct event *event, void *data),
		      void (*add_names)(void *data, struct near_name *near, struct str *names),
		      void *data);

/* A term's value as a number: -EINVAL or -ERANGE with the place and the reason. */
int term_number(struct event_parse *p, const struct spec_term *term, uint64_t max, uint64_t *out);

void vendor_catalog_free(struct vendor_catalog *vendors); /* NULL is allowed */

/* ---- pmu_catalog.c, for the others ---- */
void pmu_catalog_free(struct pmu_catalog *catalog); /* NULL is allowed */
/* Core PMUs of this machine in sysfs order; n 0 on a machine without one. Borrowed. */
const struct event_pmu_list *pmu_core_pmus(struct event_parse *p);
/* NULL if there is no PMU of that name. */
const struct event_pmu *pmu_find(struct event_parse *p, const char *name);
/*
 * "default_core/cycles/": generic.c's names as terms of a core PMU. Fills type and config of a
 * hardware, cache or software event called `name`; false if there is none. (generic.c)
 */
bool generic_config(const char *name, uint32_t *type, uint64_t *config);
/* -EINVAL unless text consists of modifier letters that are valid together; applies them. (modifier.c) */
int event_apply_modifiers(struct event_parse *p, const char *letters, size_t pos, struct event *event);
/*
 * The same for the letters after a group's brace: u k h are OR-ed into the event's own, its own G H
 * win, p adds up, D e and W are for the leader only. (modifier.c)
 */
int event_apply_group_modifiers(struct event_parse *p, const char *letters, size_t pos, bool leader,
				struct event *event);
/* The event is counted by pmu: its name, its CPUs, whether it is of the core. (event_list.c) */
void event_set_pmu(struct event *event, const struct event_pmu *pmu);
/*
 * The same for an event that only a number binds to its PMU, attr.type or what generic types have
 * in the upper half of config; it stays as it is where no PMU of this machine has the number.
 * Where the PMU's folder describes the very code, it says as well whether it counts once per
 * package and whether it is a level. (pmu.c)
 */
void event_find_pmu(struct event_parse *p, struct event *event);
/*
 * Leaves of the event's CPUs those of its term cpu=. A unit with a cpumask goes on to count all tasks there; all
 * others count what they count, tasks too, on these CPUs alone. (event_list.c)
 */
void event_choose_cpus(struct event *event);
/* Frees what the event owns. (event_list.c) */
void event_release(struct event *event);
/*
 * Makes the events from `first` on the members of `group`: one group per PMU, with a note
 * where that splits what was written; applies the group's modifiers and name. (group.c)
 */
int event_make_group(struct event_parse *p, size_t first, const struct spec_group *group);

#endif
