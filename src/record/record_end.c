/* SPDX-License-Identifier: MIT */
/*
 * record_end.c: the end of a recording: events stop, what is left in the rings goes its way, the kernel is asked what
 * it lost, and all that is known becomes totals.
 */
#include "record/recording.h"
#include "record/synth.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* ---- what the kernel says at the end ---- */

struct event_end {
	uint64_t lost, enabled_ns, running_ns;
	uint64_t told; /* of LOST_SAMPLES records that came: the PMU's losses, and what the buffers had no room for */
};

struct cpu_end {
	int cpu;
	uint64_t enabled_ns;
};

struct last_read {
	struct recording *rec;
	struct event_end *v; /* by event index */
	struct cpu_end *cpus; /* of the first event, where whole CPUs are recorded */
	size_t n_cpus, cpus_cap;
	struct intset stopped; /* CPUs that went offline, as the kernel says */
};

static void add_cpu(struct last_read *last, size_t index, int cpu, uint64_t enabled_ns)
{
	const struct recording *rec = last->rec;

	if (rec->target.kind != TARGET_CPUS || index != rec->counter_of[0] ||
	    rec->set.v[index].event->cgroup)
		return;
	VEC_GROW(last->cpus, last->n_cpus, last->cpus_cap);
	last->cpus[last->n_cpus++] = (struct cpu_end){ cpu, enabled_ns };
}

/*
 * The kernel ends the events of a CPU that goes offline, and does not begin them again. Times alone do not tell:
 * one CPU may be switched on much later than another.
 */
static void note_offline_cpus(const struct last_read *last)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < last->n_cpus; i++) {
		if (last->cpus[i].enabled_ns > longest_ns)
			longest_ns = last->cpus[i].enabled_ns;
	}
	for (size_t i = 0; i < last->n_cpus; i++) {
		const struct cpu_end *end = &last->cpus[i];

		if (intset_has(&last->stopped, end->cpu))
			note_add(last->rec->plan->notes, false, NULL,
				 "CPU %d was recorded for %.3f s of %.3f s: it went offline", end->cpu,
				 (double)end->enabled_ns / NS_PER_S, (double)longest_ns / NS_PER_S);
	}
}

static void add_reading(void *data, size_t index, int cpu, size_t thread,
			const struct reading *reading)
{
	struct last_read *last = data;

	(void)thread;
	if (reading->state == READING_OK)
		add_cpu(last, index, cpu, reading->enabled_ns);
	if (reading->unverified)
		note_add(last->rec->plan->notes, false, NULL,
			 "the recording may be incomplete: no other event measures how long the task ran");
	for (size_t i = 0; i < last->rec->events.n; i++) {
		if (last->rec->counter_of[i] != index || reading->state != READING_OK)
			continue;
		last->v[i].lost += reading->lost;
		last->v[i].enabled_ns += reading->enabled_ns;
		last->v[i].running_ns += reading->running_ns;
	}
}

static bool says_lost(const struct data_event *event)
{
	return event->attr.read_format & DATA_FORMAT_LOST;
}

/* Nobody knows how much was overwritten. */
static bool has_rate(const struct recording *rec, size_t index)
{
	const struct data_event *event = rec->events.v[index];

	return event->attr.freq && !event->attr.write_backward &&
	       rate_is_reachable(rec->set.v[rec->counter_of[index]].event);
}

/* ---- totals ---- */

void recording_count(struct recording *rec)
{
	struct record_totals *totals = rec->totals;
	struct sink_file_totals file;

	sink_file_count(&rec->file, &file);
	totals->samples = file.samples;
	totals->not_written = file.not_written;
	totals->lost = file.lost;
	totals->throttled = file.throttled;
	totals->unthrottled = file.unthrottled;
	totals->bytes = file.bytes;
	totals->files = file.files;
	totals->elapsed_ns = rec->start_ns == NEVER_NS ? 0 : now_ns() - rec->start_ns;
}

/* Samples that the stages could make nothing of. */
static uint64_t stages_lost(const struct recording *rec)
{
	return (rec->unwinds ? rec->unwinds->lost : 0) + (rec->off_cpu_joins ? rec->off_cpu_joins->lost : 0);
}

/* The event's samples have become those of another one: --wall. */
static bool written_as_dummy(const struct data_event *event, const struct data_event *written)
{
	return written->attr.type == PERF_TYPE_SOFTWARE && written->attr.config == PERF_COUNT_SW_DUMMY &&
	       event->attr.config != PERF_COUNT_SW_DUMMY;
}

/* Samples of this event that did not pass its filter, in the kernel or after the ring. */
static uint64_t left_out(struct recording *rec, size_t i)
{
	const struct record_plan *plan = rec->plan;
	const size_t counter = rec->counter_of[i];

	if (!rec->set.v[counter].event->sample_filter)
		return 0;
	rec->totals->has_filters = true;
	if (plan->filters_itself && plan->filters_itself(plan->data, counter))
		return plan->left_out(plan->data, counter);
	return rec->filter ? filter_stage_left_out(rec->filter, i) : 0;
}

/* Each ring's LOST records say whose record came next, not whose were lost: per event the kernel's
 * own count is better, and only their sum is compared with it. */
static void count_events(struct recording *rec, const struct event_end *ends)
{
	struct record_totals *totals = rec->totals;
	uint64_t told = 0, read = 0, by_pmu = 0;

	totals->n_events = rec->events.n;
	totals->events = xcalloc(rec->events.n + 1, sizeof(*totals->events));
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event_counts *counts = &rec->file.total.v[i];
		const struct event_counts *dropped = &rec->file.dropped.v[i];
		const struct data_event *event = rec->events.v[i], *written = rec->described.events->v[i];
		const uint64_t waits = event_is_wall_clock(written) ? totals->off_cpu.waits : 0;
		struct record_event_totals *to = &totals->events[i];

		*to = (struct record_event_totals){
			.name = xstrdup(written->name),
			.tracking = rec->set.v[rec->counter_of[i]].event->tracking || written_as_dummy(event, written),
			.samples = counts->samples,
			.lost = (says_lost(event) ? ends[i].lost : counts->lost) + ends[i].told,
			.throttled = counts->throttled,
			.left_out = left_out(rec, i),
			.enabled_ns = ends[i].enabled_ns,
			.running_ns = ends[i].running_ns,
			.asked_hz = has_rate(rec, i) ? (double)event->attr.sample_freq : 0,
		};
		if (to->running_ns && to->asked_hz > 0)
			to->achieved_hz = (double)(counts->samples + dropped->samples + to->left_out - waits) * 1e9 /
					  (double)to->running_ns;
		read += ends[i].lost;
		told += counts->lost;
		by_pmu += ends[i].told;
	}
	told += rec->file.total.v[rec->events.n].lost;
	totals->strange = rec->file.total.v[rec->events.n].samples;
	totals->lost = (told > read ? told : read) + by_pmu + stages_lost(rec);
}

void record_totals_release(struct record_totals *totals)
{
	for (size_t i = 0; i < totals->n_events; i++)
		free(totals->events[i].name);
	free(totals->events);
	if (totals->path && totals->fd >= 0)
		close(totals->fd);
	free(totals->path);
	*totals = (struct record_totals){ 0 };
}

/* ---- the end ---- */

/* Losses of each event that no record told of yet (PERF_FORMAT_LOST). */
static int add_losses(struct recording *rec, const struct event_end *ends)
{
	struct str bytes = STR_INIT;
	int rc = 0;

	for (size_t i = 0; !rc && i < rec->events.n; i++) {
		if (!ends[i].lost)
			continue;
		str_reset(&bytes);
		rc = loss_encode(rec->events.v[i], ends[i].lost, 0, &bytes, rec->err);
		if (!rc)
			rc = rec->sink->take(rec->sink, bytes.s, bytes.len, rec->err);
	}
	str_release(&bytes);
	return rc;
}

/* Counts the losses that records told, before those are added that the kernel tells only now. */
static void count_told(const struct recording *rec, struct event_end *ends)
{
	for (size_t i = 0; i < rec->events.n; i++)
		ends[i].told = rec->file.total.v[i].lost_samples + rec->file.file.v[i].lost_samples;
}

static int finish(struct recording *rec, const struct event_end *ends)
{
	const struct record_plan *plan = rec->plan;
	struct str again = STR_INIT;
	int rc, end_rc;

	rc = add_losses(rec, ends);
	if (!rc && plan->tail_synthesize)
		rc = synth_to_sink(plan, &rec->target, &rec->events, rec->sink, rec->err);
	end_rc = rec->sink->end(rec->sink, rc ? &again : rec->err);
	str_release(&again);
	return rc ? rc : end_rc;
}

int recording_hand_on(struct recording *rec, struct str *err)
{
	int rc = rec->unwinds ? stage_hand_on(rec->unwinds, true, err) : 0;

	return rc || !rec->off_cpu_joins ? rc : stage_hand_on(rec->off_cpu_joins, true, err);
}

static void count_readers(struct recording *rec)
{
	struct reader_totals readers;

	readers_count(&rec->pipeline.readers, &readers);
	rec->totals->wakeups = readers.wakeups;
	rec->totals->cut = readers.n_cut;
	rec->totals->dropped = readers.n_dropped;
	rec->totals->rounds = rec->pipeline.consumer.rounds;
}

static void count_chains(struct recording *rec)
{
	struct chain_totals *to = &rec->totals->chains;
	struct unwind_workers_counts counts;

	if (!rec->unwind)
		return;
	unwind_stage_count(rec->unwind, &counts);
	for (size_t i = 0; i < ARRAY_SIZE(counts.chains); i++) {
		to->ends[i] = counts.chains[i];
		to->n += counts.chains[i];
	}
	to->guessed = counts.guessed;
	for (size_t i = 0; i < rec->events.n; i++)
		if (rec->events.v[i]->attr.sample_stack_user > to->copy_bytes)
			to->copy_bytes = rec->events.v[i]->attr.sample_stack_user;
}

static void count_off_cpu(struct recording *rec)
{
	rec->totals->has_off_cpu = rec->off_cpu != NULL;
	if (rec->off_cpu)
		off_cpu_stage_count(rec->off_cpu, &rec->totals->off_cpu);
}

int recording_end(struct recording *rec)
{
	struct last_read last = { .rec = rec };
	struct str again = STR_INIT, *first = rec->err;
	uint64_t elapsed_ns = 0;
	int rc, finish_rc;

	last.v = xcalloc(rec->events.n + 1, sizeof(*last.v));
	counters_stopped_cpus(&rec->set, &last.stopped);
	recording_disable(rec);
	if (rec->start_ns != NEVER_NS)
		elapsed_ns = now_ns() - rec->start_ns;
	/* An earlier failure has been reported already. */
	if (rec->rc)
		rec->err = &again;
	rc = pipeline_stop(&rec->pipeline, rec->err);
	if (rc)
		rec->err = &again;
	/* Samples that reach the sinks are counted below; a failure of a sink is reported once more at its end. */
	(void)recording_hand_on(rec, &again);
	counters_read(&rec->set, add_reading, &last);
	note_offline_cpus(&last);
	count_told(rec, last.v);
	finish_rc = finish(rec, last.v);
	recording_count(rec);
	count_readers(rec);
	count_chains(rec);
	count_off_cpu(rec);
	count_events(rec, last.v);
	if (rec->file.build_ids)
		buildid_set_note(rec->file.build_ids, rec->plan->notes);
	rec->totals->elapsed_ns = elapsed_ns;
	rec->totals->path = rec->file.last_path ? xstrdup(rec->file.last_path) : NULL;
	rec->totals->fd = rec->file.last_fd;
	rec->file.last_fd = -1; /* who has the totals closes it */
	free(last.v);
	free(last.cpus);
	intset_release(&last.stopped);
	rec->err = first;
	str_release(&again);
	return rc ? rc : finish_rc;
}
