/* SPDX-License-Identifier: MIT */
/*
 * Options and words of the event's text -> attrs of a sampler's events.
 *
 * An event's own attr comes first, then its words, and options fill in what these leave open. Each sample says which
 * event it is of (IDENTIFIER), since events share rings, and the other records say it too (sample_id_all). A word that
 * cannot be followed is refused by its name.
 */
#include "count/lib.h"
#include "data/data.h"

#include <errno.h>
#include <stdio.h>

/* ---- records besides samples ---- */

/* Records besides samples: to add one, its bit in libpstat.h, and a row. */
struct track {
	uint32_t bit;
	void (*set)(struct perf_event_attr *attr);
};

#define TRACK(name, ...)                                    \
	static void name(struct perf_event_attr *attr)      \
	{                                                   \
		__VA_ARGS__;                                \
	}
TRACK(maps, attr->mmap = attr->mmap2 = 1)
TRACK(data_maps, attr->mmap_data = attr->mmap2 = 1)
TRACK(names, attr->comm = attr->comm_exec = 1)
TRACK(tasks, attr->task = 1)
TRACK(switches, attr->context_switch = 1)
TRACK(namespaces, attr->namespaces = 1)
TRACK(ksymbols, attr->ksymbol = attr->bpf_event = 1)
TRACK(cgroups, attr->cgroup = 1)
TRACK(text_pokes, attr->text_poke = 1)
TRACK(reads, attr->inherit_stat = 1)
TRACK(build_ids, attr->build_id = attr->mmap = attr->mmap2 = 1)

static const struct track tracks[] = {
	{ PSTAT_TRACK_MAPS, maps },
	{ PSTAT_TRACK_DATA_MAPS, data_maps },
	{ PSTAT_TRACK_NAMES, names },
	{ PSTAT_TRACK_TASKS, tasks },
	{ PSTAT_TRACK_SWITCHES, switches },
	{ PSTAT_TRACK_NAMESPACES, namespaces },
	{ PSTAT_TRACK_KSYMBOLS, ksymbols },
	{ PSTAT_TRACK_CGROUPS, cgroups },
	{ PSTAT_TRACK_TEXT_POKES, text_pokes },
	{ PSTAT_TRACK_READS, reads },
	{ PSTAT_TRACK_BUILD_IDS, build_ids },
};

static int check_options(const struct event_list *events, const struct pstat_sampling_options *options, struct str *err)
{
	uint32_t known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tracks); i++)
		known |= tracks[i].bit;
	if (options->track & ~known)
		return fail(err, -EINVAL, "track has unknown bits: %#x", options->track & ~known);
	if (options->period && options->frequency)
		return fail(err, -EINVAL, "give a period or a frequency, not both");
	if (options->wakeup_bytes && options->wakeup_events)
		return fail(err, -EINVAL, "give wakeup_bytes or wakeup_events, not both");
	if (!events->n)
		return fail(err, -EINVAL, "there are no events");
	return 0;
}

/* ---- fields of every event ---- */

/* Members of a group are read with its leader's samples (PERF_SAMPLE_READ); they take none of their own. */
static void set_period(struct event_list *events, size_t i, const struct pstat_sampling_options *options)
{
	struct perf_event_attr *attr = &events->v[i].attr;

	if (attr->sample_period || events->v[i].leader != i)
		return;
	attr->freq = options->frequency != 0;
	attr->sample_period = options->frequency ? options->frequency : options->period;
}

static void set_fields(struct perf_event_attr *attr, const struct pstat_sampling_options *options)
{
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | options->fields;
	attr->sample_id_all = 1;
	attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			     DATA_FORMAT_LOST;
	attr->sample_regs_user |= options->user_registers;
	attr->sample_regs_intr |= options->interrupted_registers;
	attr->branch_sample_type |= options->branches;
	if (!attr->sample_stack_user)
		attr->sample_stack_user = options->stack_bytes;
	if (!attr->sample_max_stack && attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		attr->sample_max_stack = (uint16_t)(options->max_stack < UINT16_MAX ? options->max_stack : UINT16_MAX);
}

/* The kernel wakes the reader when half of the ring is full, unless something else is chosen. */
static void set_wakeup(struct perf_event_attr *attr, const struct pstat_sampling_options *options)
{
	if (attr->wakeup_events && !options->wakeup_events && !options->wakeup_bytes)
		return;
	attr->watermark = !options->wakeup_events;
	if (options->wakeup_events)
		attr->wakeup_events = options->wakeup_events;
	else
		attr->wakeup_watermark = options->wakeup_bytes;
}

/* Samples that have counter values have those of the whole group. */
static void set_group_values(struct event_list *events, size_t i)
{
	const struct event *leader = &events->v[events->v[i].leader];

	if (leader->n_members > 1 && leader->attr.sample_type & PERF_SAMPLE_READ)
		events->v[i].attr.read_format |= PERF_FORMAT_GROUP;
}

/* ---- words of the event's text ---- */

static int refuse(const struct event *event, const char *word, const char *why, struct str *err)
{
	return fail(err, -EINVAL, "%s: %s %s", event->name, word, why);
}

/* Words that this sampler cannot follow. To add one: a row. */
static int refuse_words(const struct event *event, struct str *err)
{
	const struct event_terms *terms = &event->terms;
	const struct {
		bool given;
		const char *word, *why;
	} rows[] = {
		{ terms->overwrite == TERM_ON || event->attr.write_backward, "overwrite",
		  "writes its ring backwards: its records cannot be read as they come" },
		{ terms->percore == TERM_ON, "percore", "adds up counts of a core: samples are of one CPU each" },
		{ terms->aux_output == TERM_ON, "aux-output", "needs an AUX area, and no sampler maps one" },
		{ terms->aux_sample_size, "aux-sample-size=", "needs an AUX area, and no sampler maps one" },
		{ terms->nr, "nr=", "is an option of no sampler" },
		{ terms->max_stack && !(event->attr.sample_type & PERF_SAMPLE_CALLCHAIN), "max-stack=",
		  "is about call chains: options.fields asks for none (PERF_SAMPLE_CALLCHAIN)" },
		{ terms->stack_size_bytes && !(event->attr.sample_type & PERF_SAMPLE_STACK_USER), "stack-size=",
		  "is about copies of the stack: options.fields asks for none (PERF_SAMPLE_STACK_USER)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return refuse(event, rows[i].word, rows[i].why, err);
	return 0;
}

static int take_call_graph(struct event *event, struct str *err)
{
	const char *word = event->terms.call_graph;

	if (!word)
		return 0;
	if (!strcmp(word, "no"))
		event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	else if (!strcmp(word, "fp"))
		event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	else if (!strcmp(word, "lbr"))
		return refuse(event, "call-graph=lbr",
			      "is asked for by options.fields (PERF_SAMPLE_BRANCH_STACK) and options.branches", err);
	else
		return refuse(event, "call-graph=dwarf",
			      "is asked for by options.fields (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER), "
			      "options.user_registers and options.stack_bytes", err);
	return 0;
}

static int take_words(struct event *event, struct str *err)
{
	const struct event_terms *terms = &event->terms;
	uint64_t branches;
	int rc = take_call_graph(event, err);

	if (!rc)
		rc = refuse_words(event, err);
	if (!rc && terms->branch_type) {
		rc = branch_filter_parse(terms->branch_type, &branches, err);
		if (rc)
			return rc;
		event->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		event->attr.branch_sample_type = branches;
	}
	if (terms->max_stack)
		event->attr.sample_max_stack = (uint16_t)terms->max_stack;
	if (terms->stack_size_bytes)
		event->attr.sample_stack_user = (terms->stack_size_bytes + 7) & ~7u;
	if (terms->time == TERM_OFF)
		event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	return rc;
}

/* ---- limits ---- */

uint64_t lib_kernel_limit(const struct kern *kern, const char *name)
{
	char path[4096];
	uint64_t limit;

	snprintf(path, sizeof(path), "%s/sys/kernel/%s", kern->host.procfs, name);
	return read_u64_file(path, &limit) ? 0 : limit;
}

/* The kernel says no more than EINVAL, or EOVERFLOW. */
static int check_limits(const struct event_list *events, const struct kern *kern, struct str *err)
{
	uint64_t hz = lib_kernel_limit(kern, "perf_event_max_sample_rate");
	uint64_t frames = lib_kernel_limit(kern, "perf_event_max_stack");

	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];

		if (hz && event->attr.freq && event->attr.sample_freq > hz)
			return fail(err, -EINVAL,
				    "%s: %llu samples in a second are more than kernel.perf_event_max_sample_rate "
				    "allows, %llu", event->name, (unsigned long long)event->attr.sample_freq,
				    (unsigned long long)hz);
		if (frames && event->attr.sample_max_stack > frames)
			return fail(err, -EINVAL,
				    "%s: call chains of %u frames are longer than kernel.perf_event_max_stack "
				    "allows, %llu", event->name, event->attr.sample_max_stack,
				    (unsigned long long)frames);
	}
	return 0;
}

/* ---- all of it ---- */

int lib_sampling_fill(struct event_list *events, const struct pstat_sampling_options *options, bool own_tracker,
		      const struct kern *kern, struct str *err)
{
	int rc = check_options(events, options, err);

	if (!rc && own_tracker)
		rc = event_list_parse(events, "dummy", &kern->host, err);
	for (size_t i = 0; rc >= 0 && i < events->n; i++) {
		set_period(events, i, options);
		set_fields(&events->v[i].attr, options);
		set_wakeup(&events->v[i].attr, options);
		set_group_values(events, i);
		rc = take_words(&events->v[i], err);
	}
	for (size_t i = 0; rc >= 0 && i < ARRAY_SIZE(tracks); i++)
		if (options->track & tracks[i].bit)
			tracks[i].set(&events->v[own_tracker ? events->n - 1 : 0].attr);
	return rc < 0 ? rc : check_limits(events, kern, err);
}
