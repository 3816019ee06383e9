/*
 * Periods and frequencies. The kernel refuses a frequency over kernel.perf_event_max_sample_rate,
 * which it lowers by itself when interrupts take too long: what is asked for is cut to it, and said.
 *
 * Source: Documentation/admin-guide/sysctl/kernel.rst.
 */
#include "record/rate.h"

#include <errno.h>
#include <stdlib.h>

enum { DEFAULT_HZ = 4000 };

#define LIMIT_NAME "kernel.perf_event_max_sample_rate"

typedef unsigned long long ull;

/* hz within the limit. */
static int clamp(uint64_t *hz, const char *what, const struct rate_limit *limit, bool strict,
		 struct note_list *notes, struct str *err)
{
	char *remedy;

	if (!limit->max_hz || *hz <= limit->max_hz)
		return 0;
	if (strict)
		return fail(err, -EINVAL, "%s: %llu Hz is over the limit of %llu, "
			    LIMIT_NAME, what, (ull)*hz, (ull)limit->max_hz);
	remedy = xasprintf("sysctl " LIMIT_NAME "=%llu", (ull)*hz);
	note_add(notes, false, remedy, "%s: %llu Hz lowered to %llu, the limit " LIMIT_NAME, what,
		 (ull)*hz, (ull)limit->max_hz);
	free(remedy);
	*hz = limit->max_hz;
	return 0;
}

int rate_limit_read(struct rate_limit *limit, const struct sampling *sampling,
		    const struct kern *kern, struct note_list *notes, struct str *err)
{
	char *path = xasprintf("%s/sys/kernel/perf_event_max_sample_rate", kern->host.procfs);
	int rc = read_u64_file(path, &limit->max_hz);

	free(path);
	if (rc)
		limit->max_hz = 0;
	limit->default_hz = sampling->freq_hz ? sampling->freq_hz : DEFAULT_HZ;
	if (sampling->freq_max) {
		limit->default_hz = limit->max_hz;
		return rc ? fail(err, -EINVAL, "-F max: " LIMIT_NAME " cannot be read: %s",
				 strerror(-rc)) : 0;
	}
	if (sampling->period || sampling->no_samples)
		return 0;
	return clamp(&limit->default_hz, sampling->freq_hz ? "-F" : "default frequency", limit,
		     sampling->strict_freq && sampling->freq_hz, notes, err);
}

/* Each hit is of interest, and there may be few of them. */
static bool hit_by_hit(const struct event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT ||
	       event->attr.type == PERF_TYPE_BREAKPOINT || !strcmp(event->source, "probe");
}

static bool is_clock(const struct event *event)
{
	return event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
	       event->attr.config == PERF_COUNT_SW_TASK_CLOCK;
}

bool rate_is_reachable(const struct event *event)
{
	return !hit_by_hit(event) && (event->attr.type != PERF_TYPE_SOFTWARE || is_clock(event));
}

static void set_period(struct perf_event_attr *attr, uint64_t period)
{
	attr->freq = 0;
	attr->sample_period = period;
}

static void set_freq(struct perf_event_attr *attr, uint64_t hz)
{
	attr->freq = 1;
	attr->sample_freq = hz;
}

int rate_set(const struct sampling *sampling, const struct rate_limit *limit, struct event *event,
	     struct note_list *notes, struct str *err)
{
	struct perf_event_attr *attr = &event->attr;
	uint64_t hz = attr->sample_freq;
	int rc = 0;

	if (sampling->no_samples) {
		set_period(attr, 0);
	} else if (event->terms.has_freq) {
		rc = clamp(&hz, event->name, limit, sampling->strict_freq, notes, err);
		set_freq(attr, hz);
	} else if (event->terms.has_period) {
		set_period(attr, attr->sample_period);
	} else if (sampling->period) {
		set_period(attr, sampling->period);
	} else if (hit_by_hit(event) && !sampling->freq_hz && !sampling->freq_max) {
		set_period(attr, 1);
	} else {
		set_freq(attr, limit->default_hz);
	}
	return rc;
}
