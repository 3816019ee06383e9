/*
 * sample_attrs.c: struct pstat_sampling_options become bits of attrs.
 *
 * An event's own attr comes first: options fill in what it leaves open. Each sample says which event it is of
 * (IDENTIFIER), since events share rings, and the other records say it too (sample_id_all).
 */
#include "count/sample_attrs.h"
#include "data/data.h"

#include <errno.h>

/* What is recorded besides samples: to add one, its bit in libpstat.h, and a row. */
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

static int check(const struct event_list *events, const struct pstat_sampling_options *options, struct str *err)
{
	uint32_t known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tracks); i++)
		known |= tracks[i].bit;
	if (options->track & ~known)
		return fail(err, -EINVAL, "track has bits that mean nothing: %#x", options->track & ~known);
	if (options->period && options->frequency)
		return fail(err, -EINVAL, "samples come by period or by frequency, not both");
	if (options->wakeup_bytes && options->wakeup_events)
		return fail(err, -EINVAL, "the reader is woken by bytes or by events, not both");
	if (!events->n)
		return fail(err, -EINVAL, "there are no events");
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i].attr.write_backward)
			return fail(err, -EINVAL,
				    "%s writes its ring backwards: its records cannot be read as they come",
				    events->v[i].name);
	return 0;
}

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
}

/* Without a choice the kernel wakes the reader when half of the ring is full. */
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

/* Where samples have counter values, they have those of the whole group. */
static void set_group_values(struct event_list *events, size_t i)
{
	const struct event *leader = &events->v[events->v[i].leader];

	if (leader->n_members > 1 && leader->attr.sample_type & PERF_SAMPLE_READ)
		events->v[i].attr.read_format |= PERF_FORMAT_GROUP;
}

int sample_attrs_fill(struct event_list *events, const struct pstat_sampling_options *options, struct str *err)
{
	int rc = check(events, options, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < events->n; i++) {
		set_period(events, i, options);
		set_fields(&events->v[i].attr, options);
		set_wakeup(&events->v[i].attr, options);
		set_group_values(events, i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tracks); i++)
		if (options->track & tracks[i].bit)
			tracks[i].set(&events->v[0].attr);
	return 0;
}
