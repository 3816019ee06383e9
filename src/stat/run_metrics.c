/* SPDX-License-Identifier: MIT */
/*
 * run_metrics.c: metrics of a run whose counts are whole, as whoever compares runs wants them: plain numbers, with no
 * place, no scaling and no prefix.
 */
#include "stat/metric.h"

#include <math.h>
#include <stdlib.h>

struct run_metrics {
	const struct event_list *events;
	const struct metric *const *chosen;
	size_t n_chosen;
	struct metric_line *lines; /* by event */
	struct amount *amounts;
	struct metric_uses uses;
};

struct run_metrics *run_metrics_new(const struct event_list *events, const struct metric *const *chosen,
				    size_t n_chosen)
{
	struct run_metrics *m = xcalloc(1, sizeof(*m));

	*m = (struct run_metrics){ .events = events, .chosen = chosen, .n_chosen = n_chosen };
	m->lines = xcalloc(events->n + 1, sizeof(*m->lines));
	m->amounts = xcalloc(events->n + 1, sizeof(*m->amounts));
	for (size_t i = 0; i < events->n; i++)
		m->lines[i] = metric_line_of(&events->v[i], &events->v[i].attr);
	if (n_chosen)
		metrics_bind(&m->uses, m->lines, events->n, chosen, n_chosen);
	return m;
}

void run_metrics_free(struct run_metrics *m)
{
	if (!m)
		return;
	metric_uses_release(&m->uses);
	free(m->lines);
	free(m->amounts);
	free(m);
}

static size_t place_of(const struct run_metrics *m, const struct metric *metric)
{
	size_t i = 0;

	while (i < m->n_chosen && m->chosen[i] != metric)
		i++;
	return i;
}

void run_metrics(struct run_metrics *m, const double *counts, const uint64_t *enabled_ns, double elapsed_s,
		 double *numbers)
{
	for (size_t i = 0; i < m->events->n; i++) {
		bool counted = !isnan(counts[i]);

		m->amounts[i] = (struct amount){
			.there = counted, .state = counted ? COUNT_OK : COUNT_NOT_COUNTED, .runs = 1,
			.cells = 1, .mean = counted ? counts[i] : 0, .enabled_ns = enabled_ns[i],
			.running_ns = enabled_ns[i],
		};
		m->amounts[i].count = (uint64_t)m->amounts[i].mean;
		m->amounts[i].value = m->amounts[i].mean * m->events->v[i].scale;
	}
	for (size_t i = 0; i < m->uses.n; i++) {
		size_t at = place_of(m, m->uses.v[i].metric);
		double number;

		if (at < m->n_chosen && isnan(numbers[at]) &&
		    metric_value(&m->uses.v[i], m->lines, m->amounts, elapsed_s, &number))
			numbers[at] = number;
	}
}
