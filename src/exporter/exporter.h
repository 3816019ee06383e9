/* SPDX-License-Identifier: MIT */
/*
 * exporter: counts that go on for as long as a machine runs, as metrics for Prometheus.
 *
 *   events + cgroups --exporter_open()--> scopes: the machine, or a cgroup each, with counters and an aggregation
 *   scopes --exporter_read(): each tick, each scrape--> sums that never fall (struct read_sum of count/)
 *   sums --exporter_write()--> an exposition: text 0.0.4, or OpenMetrics
 *   exposition --> struct http_server, or a file (destination_write_whole())
 *
 * Nothing here waits: cmd/ has the loop, and says what time it is. A counter that shares its hardware is scaled from
 * one read to the next, and the results are summed up. Scaled for the whole time, as stat does it once at the end, it
 * could be less than at the scrape before, which Prometheus takes for a restart.
 *
 * Sources: Prometheus, "Exposition formats" (text format 0.0.4); OpenMetrics 1.0; RFC 9110 and 9112 (HTTP/1.1).
 */
#ifndef PSTAT_EXPORTER_H
#define PSTAT_EXPORTER_H

#include "count/count.h"

/* ---- scopes.c: what is counted ---- */

struct exporter_plan {
	const struct kern *kern;
	const struct event_list *events; /* maybe with cgroups of their own (-G); borrowed until exporter_close() */
	const char *each_cgroup; /* names or patterns: all events for each of them; or NULL */
	enum aggr_mode aggr; /* AGGR_TOTAL, AGGR_CPU, AGGR_SOCKET */
	bool node_names; /* what node_exporter has a name for is written under that */
	size_t max_series;
	struct note_list *notes; /* borrowed */
};

struct exporter;
/*
 * Opens and starts all counters. A negative errno with a sentence: an event that cannot be a metric, too many series,
 * too few files, or what counters_open() fails with. Nothing is opened before these are checked.
 */
int exporter_open(struct exporter **exporter, const struct exporter_plan *plan, struct str *err);
void exporter_close(struct exporter *exporter); /* NULL is fine */
/* Reads all counters into the sums. */
void exporter_read(struct exporter *exporter);
/*
 * The same, to be called at each tick; and looks for CPUs that came back, whose counters are opened again, and for
 * cgroups that came and went. Needs a tick's time between two calls.
 */
void exporter_tick(struct exporter *exporter);

/* ---- exposition.c: the sums as text ---- */

enum exposition_format { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS };

/* Appends all metrics. */
void exporter_write(const struct exporter *exporter, enum exposition_format format, struct str *out);

/* ---- node_names.c: metrics of node_exporter's perf collector ---- */

/* The events that these metrics are made of, as -e takes them. */
void node_names_events(struct str *list);

/* ---- http.c: GET /metrics ---- */

/* Appends what /metrics has now. */
typedef void (*exposition_fn)(void *data, enum exposition_format format, struct str *body);

/*
 * One thread and no waiting: whatever clients do, each call returns at once. Connections that wait for their turn are
 * the kernel's; of those accepted the one that has been without a complete request for longest makes room.
 */
struct http_server;
/* listen_fd: as http_listen() has it, owned from now on; -1: connections come by http_server_take() alone. */
struct http_server *http_server_new(int listen_fd, exposition_fn render, void *data);
void http_server_free(struct http_server *server); /* NULL is fine */
/* A descriptor that can be read from when there is something to do. */
int http_server_fd(const struct http_server *server);
/* When http_server_work() is to be called next though nothing came; UINT64_MAX: no need to. */
uint64_t http_server_due(const struct http_server *server);
/* A new connection, owned from now on; it must not block. */
void http_server_take(struct http_server *server, int fd, uint64_t now);
/* Accepts, reads, renders and writes as far as it goes. now: ns of now_ns(), or of a test's clock. */
void http_server_work(struct http_server *server, uint64_t now);

/*
 * "127.0.0.1:9101", "[::1]:9101", "localhost:9101", ":9101" (loopback); port 0: one that is free. A descriptor, with
 * the address as it is now in *place, or a negative errno with a sentence: -EINVAL where the text is wrong.
 */
int http_listen(const char *text, struct str *place, struct str *err);

#endif
