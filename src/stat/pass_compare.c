/*
 * Did the passes of the command do the same? Events that were counted in several of them tell: what was given twice,
 * what is counted again for metrics, and two that pass_run.c counts in each. Pure: values in, words out.
 *
 * With several runs of each pass their scatter says what is noise: Welch's test, at 99.9 % because many events are
 * compared, and a difference of less than 1 % is not worth a word. With one run of each nothing is known of the
 * scatter, and only what is no noise for most programs counts: a tenth of a count, a third of a time.
 *
 * Source: B. L. Welch, Biometrika 34 (1947).
 */
#include "stat/passes.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_MSEC 1e6

static bool is_clock(const struct event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_TASK_CLOCK ||
		event->attr.config == PERF_COUNT_SW_CPU_CLOCK);
}

static bool same_event(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && !memcmp(&a->attr, &b->attr, sizeof(a->attr)) &&
	       text_same(a->filter, b->filter);
}

static double noise(const struct pass_count *a, const struct pass_count *b)
{
	double mean = (a->values->mean + b->values->mean) / 2;
	double noise_a = series_stdev_of_mean(a->values), noise_b = series_stdev_of_mean(b->values);

	if (a->values->n > 1 && b->values->n > 1)
		return 2 + mean / 100 + t_quantile(0.999, (double)(a->values->n + b->values->n - 2)) *
						sqrt(noise_a * noise_a + noise_b * noise_b);
	if (is_clock(a->event))
		return mean / 3 + 2 * NS_PER_MSEC;
	return mean / 10 + 4 * sqrt(mean);
}

static void add_value(struct str *text, const struct pass_count *count)
{
	if (is_clock(count->event))
		str_addf(text, "%.2f msec", count->values->mean / NS_PER_MSEC);
	else
		str_add_grouped(text, (uint64_t)(count->values->mean + 0.5));
	str_addf(text, " in pass %u", count->pass + 1);
}

static void add_difference(struct str *which, const struct pass_count *a, const struct pass_count *b)
{
	const struct pass_count *first = a->pass < b->pass ? a : b, *second = first == a ? b : a;

	str_add(which, which->len ? "; " : "");
	str_add_printable(which, a->event->name, strlen(a->event->name));
	str_addc(which, ' ');
	add_value(which, first);
	str_add(which, ", ");
	add_value(which, second);
}

bool passes_differ(const struct pass_count *counts, size_t n, struct str *which)
{
	bool *seen = xcalloc(n + 1, sizeof(*seen));
	size_t start = which->len;

	for (size_t i = 0; i < n; i++) {
		const struct pass_count *least = &counts[i], *most = &counts[i];

		for (size_t k = i + 1; k < n && !seen[i]; k++) {
			if (!same_event(counts[i].event, counts[k].event))
				continue;
			seen[k] = true;
			least = counts[k].values->mean < least->values->mean ? &counts[k] : least;
			most = counts[k].values->mean > most->values->mean ? &counts[k] : most;
		}
		if (least->pass != most->pass &&
		    most->values->mean - least->values->mean > noise(least, most))
			add_difference(which, least, most);
	}
	free(seen);
	return which->len > start;
}
