/* SPDX-License-Identifier: MIT */
/*
 * Scopes, as they are counted and written. Private to exporter/.
 */
#ifndef PSTAT_EXPORTER_INTERNAL_H
#define PSTAT_EXPORTER_INTERNAL_H

#include "exporter/exporter.h"

/* The unit of a metric, by the unit of its event. */
enum quantity { QUANTITY_COUNT, QUANTITY_SECONDS, QUANTITY_JOULES, QUANTITY_BYTES };

/* A metric of node_exporter, and the event that it counts. */
struct node_name {
	const char *name; /* without "node_perf_" and "_total" */
	const char *event; /* as -e takes it */
	const char *help;
	uint32_t type; /* of perf_event_attr */
	uint64_t config;
};
extern const struct node_name node_names[]; /* a NULL name ends them */
/* NULL: node_exporter has no name for it. */
const struct node_name *node_name_of(const struct perf_event_attr *attr);

/* An event row of a scope, as it is labelled. */
struct series_row {
	char *event;
	const char *mode; /* static text */
	enum quantity quantity;
	double factor; /* of a count, to that quantity; QUANTITY_SECONDS has ns */
	const struct node_name *node; /* or NULL: pstat's own names */
	char *reason; /* it is not supported; NULL: it is */
};

/* The machine or a cgroup: opened as one, and may go as one. */
struct metric_scope {
	char *cgroup; /* or NULL: all that runs */
	struct inode folder; /* of the cgroup */
	struct event_list events;
	struct counter_set set;
	bool open;
	struct aggregation *counts; /* NULL: it was never open */
	struct series_row *rows; /* as many as counts has */
	/* One event's enabled time at the last tick, by CPU: where it stands still the CPU was offline. */
	size_t witness; /* index of the event; SIZE_MAX: none can tell */
	uint64_t *cpu_times_ns;
};

/* Reasons of what failed since the start. To add one: a word here, a row of failure_names[]. */
enum failed_read { FAILED_READ, FAILED_PIN, FAILED_OPEN, FAILED_READS };

struct exporter {
	struct exporter_plan plan;
	struct metric_scope **scopes;
	size_t n_scopes, scopes_cap;
	struct target target; /* the CPUs on which all scopes are open */
	struct intset stopped; /* CPUs whose counters ended with them */
	bool at_tick; /* the read is a tick's */
	uint64_t failed[FAILED_READS];
	double start_time; /* seconds since the epoch */
};

#endif
