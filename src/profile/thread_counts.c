/* SPDX-License-Identifier: MIT */
/*
 * thread_counts.c: see profile.h. One row per thread; rows grow when events are added (in a pipe).
 */
#include "profile/profile.h"

#include <stdlib.h>

void thread_counts_release(struct thread_counts *counts)
{
	for (size_t i = 0; i < counts->n; i++)
		free(counts->v[i].values);
	free(counts->v);
	index_release(&counts->ix);
	*counts = (struct thread_counts){ 0 };
}

static void widen(struct thread_counts *counts, size_t n_events)
{
	for (size_t i = 0; i < counts->n; i++) {
		uint64_t *values = xcalloc(n_events, sizeof(*values));

		memcpy(values, counts->v[i].values, counts->n_events * sizeof(*values));
		free(counts->v[i].values);
		counts->v[i].values = values;
	}
	counts->n_events = n_events;
}

static struct thread_count *row_of(struct thread_counts *counts, int32_t pid, int32_t tid)
{
	uint64_t hash = hash_word((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid);
	struct thread_count *row;
	uint32_t i;

	if (INDEX_FIND(&counts->ix, hash, i, counts->v[i].pid == pid && counts->v[i].tid == tid))
		return &counts->v[i];
	index_add(&counts->ix, hash, (uint32_t)counts->n);
	VEC_GROW(counts->v, counts->n, counts->cap);
	row = &counts->v[counts->n++];
	*row = (struct thread_count){ pid, tid, xcalloc(counts->n_events, sizeof(uint64_t)) };
	return row;
}

void thread_counts_add(struct thread_counts *counts, const struct events *events,
		       const struct record_body *body)
{
	if (!body->event)
		return;
	if (counts->n_events < events->n)
		widen(counts, events->n);
	row_of(counts, (int32_t)body->read.pid, (int32_t)body->read.tid)->values[body->event->index] +=
		read_values_value(&body->read.values, 0);
}

static bool has_counts(const struct thread_counts *counts, size_t event)
{
	for (size_t i = 0; i < counts->n; i++)
		if (counts->v[i].values[event])
			return true;
	return false;
}

/* The width of the numbers as text, and of the heads. */
static int width_of_ids(const struct thread_counts *counts, bool tid)
{
	int width = (int)strlen("PID");

	for (size_t i = 0; i < counts->n; i++) {
		int n = snprintf(NULL, 0, "%d", tid ? counts->v[i].tid : counts->v[i].pid);

		width = n > width ? n : width;
	}
	return width;
}

/* Every text of a column is as wide as its widest. */
static void print_column(const struct thread_counts *counts, size_t event, const char *name, struct str *rows)
{
	size_t width = strlen(name);
	char text[32];

	for (size_t i = 0; i < counts->n; i++) {
		int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)counts->v[i].values[event]);

		width = (size_t)n > width ? (size_t)n : width;
	}
	str_addf(&rows[0], "  %*s", (int)width, name);
	for (size_t i = 0; i < counts->n; i++)
		str_addf(&rows[i + 1], "  %*llu", (int)width, (unsigned long long)counts->v[i].values[event]);
}

void thread_counts_print(const struct thread_counts *counts, const struct events *events, struct str *out)
{
	struct str *rows = xcalloc(counts->n + 1, sizeof(*rows));
	const int pid_width = width_of_ids(counts, false), tid_width = width_of_ids(counts, true);

	for (size_t i = 0; i <= counts->n; i++)
		str_init(&rows[i]);
	str_addf(&rows[0], "# %*s  %*s", pid_width, "PID", tid_width, "TID");
	for (size_t i = 0; i < counts->n; i++)
		str_addf(&rows[i + 1], "  %*d  %*d", pid_width, counts->v[i].pid, tid_width, counts->v[i].tid);
	for (size_t event = 0; event < events->n && event < counts->n_events; event++) {
		struct str name = STR_INIT;

		data_event_add_name(events->v[event], &name);
		if (has_counts(counts, event))
			print_column(counts, event, name.s, rows);
		str_release(&name);
	}
	for (size_t i = 0; i <= counts->n; i++) {
		str_addf(out, "%s\n", rows[i].s);
		str_release(&rows[i]);
	}
	free(rows);
}
