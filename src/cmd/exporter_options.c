/* SPDX-License-Identifier: MIT */
/*
 * The options of `pstat exporter`, what does not go together, and the events that are counted where none is named.
 */
#include "cmd/exporter_options.h"

#include "cmd/command.h"
#include "cmd/quantity.h"

#include <errno.h>
#include <limits.h>

#define FIELD(name) .offset = offsetof(struct exporter_words, name)
#define LEAST_INTERVAL_NS (100 * NS_PER_MS)

static int take_interval(void *target, const char *argument, struct str *err)
{
	int rc = take_span("--interval", argument, target, err);

	if (!rc && *(uint64_t *)target < LEAST_INTERVAL_NS)
		return fail(err, -EINVAL, "--interval: at least 100ms");
	return rc;
}

const struct option_row exporter_options[] = {
	{ .kind = OPTION_GROUP, .help = "Where to write metrics" },
	{ OPTION_TEXT, 0, "listen", "address:port", "serve HTTP, /metrics (default address: loopback)",
	  FIELD(listen) },
	{ OPTION_TEXT, 0, "textfile", "file", "write a file for node_exporter per interval",
	  FIELD(textfile),	  .value = VALUE_FILE },
	{ OPTION_TEXT, 0, "openmetrics", "file", "the same in OpenMetrics; -: once, to stdout",
	  FIELD(openmetrics), .value = VALUE_FILE },
	{ OPTION_CHOICE, 0, "names", "pstat|node", "node: names of node_exporter, one value per CPU",
	  FIELD(node_names),
	  .value = VALUE_ONE_OF },

	{ .kind = OPTION_GROUP, .help = "What to count" },
	{ OPTION_CALL, 'e', "event", "list", "events to measure, see pstat list; repeatable",
	  .value = VALUE_EVENTS, .call = take_events },
	{ OPTION_CALL, 0, "pfm-events", "list", "events by their libpfm4 names",
	  .value = VALUE_PFM_EVENTS, .call = take_pfm_events },
	{ OPTION_CALL, 0, "filter", "expression", "filter the tracepoints of the preceding -e",
	  .call = take_filter },
	{ OPTION_CALL, 'G', "cgroup", "names", "measure cgroups: one per event, or one for all",
	  .value = VALUE_CGROUPS, .call = take_cgroups },
	{ OPTION_TEXT, 0, "for-each-cgroup", "names", "count all events in each of these cgroups",
	  FIELD(each_cgroup), .value = VALUE_CGROUPS },
	{ OPTION_FLAG, 'A', "no-aggr", NULL, "export one value per CPU", FIELD(by_cpu) },
	{ OPTION_FLAG, 0, "per-socket", NULL, "export one value per socket", FIELD(by_socket) },
	{ OPTION_UNSIGNED, 0, "max-series", "n", "refuse to make more series than this (10000)",
	  FIELD(max_series),
	  .min = 1, .max = INT_MAX },

	{ .kind = OPTION_GROUP, .help = "How often" },
	{ OPTION_CALL, 0, "interval", "time", "time between reads of the counters (1s)", FIELD(interval_ns),
	  .value = VALUE_TIME, .call = take_interval },
	{ OPTION_CALL, 0, "duration", "time", "stop after this time: 10, 0.5, 500ms, 5m", FIELD(duration_ns),
	  .value = VALUE_TIME, .call = take_duration },
	{ OPTION_COUNT, 'v', "verbose", NULL, "report opened counters, and how", FIELD(verbose) },
	{ OPTION_ACCEPTED, 'a', "all-cpus", NULL, .help = "all CPUs are counted" },
	{ .kind = OPTION_END },
};

void exporter_words_init(struct exporter_words *words, const struct kern *kern)
{
	*words = (struct exporter_words){ .interval_ns = NS_PER_S, .max_series = 10000 };
	event_words_init(&words->what, kern);
}

void exporter_words_release(struct exporter_words *words)
{
	event_words_release(&words->what);
}

bool exporter_prints_once(const struct exporter_words *words)
{
	return words->openmetrics && !strcmp(words->openmetrics, "-");
}

static bool nowhere(const struct exporter_words *w)
{
	return !w->listen && !w->textfile && !w->openmetrics;
}

static bool once_and_on(const struct exporter_words *w)
{
	return exporter_prints_once(w) && (w->listen || w->textfile);
}

static bool two_ways_to_add_up(const struct exporter_words *w)
{
	return w->by_cpu && w->by_socket;
}

static bool node_by_socket(const struct exporter_words *w)
{
	return w->node_names && w->by_socket;
}

static bool cgroups_twice(const struct exporter_words *w)
{
	return w->what.has_cgroups && w->each_cgroup;
}

/* To add one: a function above, a row here, tests/cli/exporter.sh. The first that holds is reported. */
static const struct {
	bool (*holds)(const struct exporter_words *words);
	const char *text;
} contradictions[] = {
	{ nowhere, "there is no place for the metrics\ngive --listen, --textfile or --openmetrics" },
	{ once_and_on, "--openmetrics -: pstat ends after it; the other places would be left" },
	{ two_ways_to_add_up, "--no-aggr and --per-socket: give one way to add up" },
	{ node_by_socket, "--names node and --per-socket: node_exporter has a value per CPU" },
	{ cgroups_twice, "--cgroup and --for-each-cgroup: give one of them" },
};

static const char default_events[] =
	"context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

static int add_default_events(struct exporter_words *words, struct str *err)
{
	struct str list = STR_INIT;
	int rc;

	if (words->what.events.n)
		return 0;
	if (words->node_names)
		node_names_events(&list);
	else
		str_add(&list, default_events);
	rc = event_list_parse(&words->what.events, list.s, &words->what.kern->host, err);
	str_release(&list);
	return rc;
}

int exporter_words_complete(struct exporter_words *words, struct str *err)
{
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(contradictions); i++)
		if (contradictions[i].holds(words))
			return fail(err, -EINVAL, "%s", contradictions[i].text);
	words->by_cpu = words->by_cpu || words->node_names;
	rc = add_default_events(words, err);
	return rc ? rc : event_words_add_cgroups(&words->what, err);
}
