/* SPDX-License-Identifier: MIT */
/*
 * The line above the tables:
 *
 *   # top: lost 0, missed 0, own CPU 1.2%, 7998 samples/s, throttled 0, cpu-clock at 4000 Hz, all CPUs
 *
 * On a terminal its end may be cut: what must be seen comes first.
 *
 * Losses are those since the beginning: who looks away for a moment does not miss one. `lost` are records that did
 * not fit into the kernel's rings, `missed` samples for which pstat had no room or no time.
 */
#include "cmd/top_status.h"

#include <time.h>

typedef unsigned long long ull;

static uint64_t own_cpu_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)timespec_ns(&t);
}

void top_status_begin(struct top_status *status)
{
	status->time_ns = now_ns();
	status->cpu_ns = own_cpu_ns();
	status->samples = status->session->replay.counts.samples;
}

void top_status_step(struct top_status *status)
{
	struct top_status last = *status;
	double seconds;

	top_status_begin(status);
	status->samples_new = status->samples - last.samples;
	seconds = (double)(status->time_ns - last.time_ns) / 1e9;
	if (seconds <= 0)
		return;
	status->samples_per_s = (double)status->samples_new / seconds;
	status->own_pct = (double)(status->cpu_ns - last.cpu_ns) / 1e7 / seconds;
}

static void add_event(const struct data_event *event, struct str *out)
{
	str_add(out, ", ");
	data_event_add_name(event, out);
	if (event->attr.freq)
		str_addf(out, " at %llu Hz", (ull)event->attr.sample_freq);
	else
		str_addf(out, " each %llu", (ull)event->attr.sample_period);
}

bool event_is_sampled(const struct data_event *event)
{
	return event->attr.type != PERF_TYPE_SOFTWARE || event->attr.config != PERF_COUNT_SW_DUMMY;
}

static void add_words(const char *what, const char *words, struct str *out)
{
	if (!words)
		return;
	str_addf(out, ", %s ", what);
	str_add_printable(out, words, strlen(words));
}

static void add_target(const struct target_spec *target, struct str *out)
{
	add_words("process", target->pids, out);
	add_words("thread", target->tids, out);
	add_words("user", target->user, out);
	add_words("CPU", target->cpus, out);
	if (target->all_cpus && !target->cpus)
		str_add(out, ", all CPUs");
}

/* Samples that a BPF program could not count. */
static uint64_t lost_in_kernel(const struct top_status *status)
{
	struct bpf_totals totals;
	uint64_t sum = 0;

	if (!status->counting)
		return 0;
	bpf_counting_totals(status->counting, &totals);
	for (int i = 0; i < BPF_LOSSES; i++)
		sum += totals.lost[i];
	return sum;
}

void top_status_losses(const struct top_status *status, struct sample_losses *losses)
{
	const struct replay_counts *counts = &status->session->replay.counts;

	*losses = (struct sample_losses){
		.lost = counts->lost_events,
		.missed = counts->lost_samples + live_source_left_out(status->live) + lost_in_kernel(status),
		.throttled = counts->throttles,
	};
}

void top_status_add_losses(const struct top_status *status, struct str *out)
{
	struct sample_losses losses;

	top_status_losses(status, &losses);
	str_addf(out, "lost %llu, missed %llu, throttled %llu", (ull)losses.lost, (ull)losses.missed,
		 (ull)losses.throttled);
}

void top_status_add(const struct top_status *status, struct str *out)
{
	const struct events *events = status->session->recording->events;
	struct sample_losses losses;

	top_status_losses(status, &losses);
	str_addf(out, "lost %llu, missed %llu, own CPU %.1f%%, %.0f samples/s, throttled %llu", (ull)losses.lost,
		 (ull)losses.missed, status->own_pct, status->samples_per_s, (ull)losses.throttled);
	for (size_t i = 0; i < events->n; i++)
		if (event_is_sampled(events->v[i]))
			add_event(events->v[i], out);
	add_target(&status->plan->target, out);
}
