/* SPDX-License-Identifier: MIT */
/*
 * -M: from the names of metrics to events. Each metric's events join the list as one weak group, so
 * that a ratio is of counts of the same time wherever the PMU can hold them together.
 *
 * Events that are there together already, from -e or an earlier metric, are not added again.
 */
#include "stat/metric.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct choice {
	const struct metric ***v;
	size_t *n;
	struct event_list *events;
	const struct metric_ground *ground;
};

static void choose(struct choice *choice, const struct metric *metric)
{
	for (size_t i = 0; i < *choice->n; i++)
		if ((*choice->v)[i] == metric)
			return;
	*choice->v = xreallocarray(*choice->v, *choice->n + 1, sizeof(**choice->v));
	(*choice->v)[(*choice->n)++] = metric;
}

static bool is_called(const struct metric *metric, const char *word)
{
	const char *alias = metric->alias ? metric->alias : metric->name;

	if (has_glob_chars(word))
		return glob_match(word, metric->name) || glob_match(word, alias) || glob_match(word, metric->group);
	return !strcasecmp(word, metric->name) || !strcasecmp(word, alias) || !strcasecmp(word, metric->group);
}

static int unknown(struct choice *choice, const char *word, struct str *err)
{
	size_t n;
	const struct event_metric *known = event_metrics(choice->events, choice->ground->host, &n);
	struct near_name near;
	struct str name = STR_INIT;

	near_init(&near, word, strlen(word));
	for (size_t i = 0; i < n_metrics; i++) {
		near_consider(&near, metrics[i].name);
		if (metrics[i].alias)
			near_consider(&near, metrics[i].alias);
		near_consider(&near, metrics[i].group);
	}
	for (size_t i = 0; i < n; i++)
		near_consider(&near, known[i].name);
	str_add_printable(&name, word, strlen(word));
	fail(err, -ENOENT, "metric '%s': no metric or group of metrics has this name", name.s);
	if (near_best(&near))
		str_addf(err, "\n  did you mean '%s'?", near_best(&near));
	else
		str_add(err, "\n  pstat list metric shows them all");
	str_release(&name);
	return -ENOENT;
}

static int choose_word(struct choice *choice, const char *word, struct str *err)
{
	bool found = false;
	int rc;

	if (!*word)
		return fail(err, -EINVAL, "metrics: a name is missing before or after a comma");
	for (size_t i = 0; i < n_metrics; i++) {
		if (!is_called(&metrics[i], word))
			continue;
		choose(choice, &metrics[i]);
		found = true;
	}
	if (found)
		return 0;
	rc = metrics_make(word, choice->events, choice->v, choice->n, choice->ground, err);
	return rc ? (rc < 0 ? rc : 0) : unknown(choice, word, err);
}

static int choose_words(struct choice *choice, const char *names, struct str *err)
{
	char *text = xstrdup(names), *rest = text, *word;
	int rc = 0;

	while (!rc && (word = strsep(&rest, ",")))
		rc = choose_word(choice, word + strspn(word, " "), err);
	free(text);
	return rc;
}

/* ---- events ---- */

/* The events that a formula names; a list of its program's names. */
struct wanted {
	const struct expr_name **v;
	size_t n;
};

/* Would -e NAME have given this event? */
static bool is_event_named(const struct event *event, const struct expr_name *name)
{
	bool modes = memchr(name->text, ':', name->len);

	return event->kind == EVENT_KERNEL && event->user_excludes == modes && !event->cgroup &&
	       !event->terms.has_cpus && metric_attr_is(&event->attr, name);
}

static bool group_has(const struct event_list *events, size_t leader, const struct expr_name *name)
{
	for (size_t i = leader; i < leader + events->v[leader].n_members; i++)
		if (is_event_named(&events->v[i], name))
			return true;
	return false;
}

static bool has_together(const struct event_list *events, const struct wanted *wanted)
{
	for (size_t i = 0; i < events->n; i++) {
		size_t k = 0;

		if (events->v[i].leader != i)
			continue;
		while (k < wanted->n && group_has(events, i, wanted->v[k]))
			k++;
		if (k == wanted->n)
			return true;
	}
	return false;
}

/* Software counts all the time: one event serves every metric, in whatever group it is. */
static bool is_served(const struct event_list *events, const struct expr_name *name)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i].attr.type == PERF_TYPE_SOFTWARE &&
		    is_event_named(&events->v[i], name))
			return true;
	return false;
}

static void want_events(const struct event_list *events, const struct expr *expr, struct wanted *wanted)
{
	for (size_t i = 0; i < expr_n_names(expr); i++) {
		const struct expr_name *name = expr_name(expr, i);

		if (metric_name_is_event(name) && !is_served(events, name))
			wanted->v[wanted->n++] = name;
	}
}

static bool is_software(const struct expr_name *name)
{
	uint64_t events = metric_events_called(name);

	return events && metric_events[__builtin_ctzll(events)].type == PERF_TYPE_SOFTWARE;
}

static bool has_core_types(const struct host_paths *host)
{
	struct event_pmu_list pmus = { .n = 0 };
	bool several;

	event_core_pmus_read(&pmus, host);
	several = pmus.n > 1;
	event_pmu_list_release(&pmus);
	return several;
}

/* A group on one core type counts nothing while the task is on another: what every core counts stays out. */
static void set_software_apart(struct wanted *wanted, struct wanted *apart)
{
	size_t kept = 0;

	for (size_t i = 0; i < wanted->n; i++) {
		if (is_software(wanted->v[i]))
			apart->v[apart->n++] = wanted->v[i];
		else
			wanted->v[kept++] = wanted->v[i];
	}
	wanted->n = kept;
}

static int add_list(const struct wanted *wanted, bool as_group, struct event_list *events,
		    const struct host_paths *host, struct str *err)
{
	struct str spec = STR_INIT;
	int rc = 0;

	as_group = as_group && wanted->n > 1;
	str_add(&spec, as_group ? "{" : "");
	for (size_t i = 0; i < wanted->n; i++) {
		str_add(&spec, i ? "," : "");
		str_addn(&spec, wanted->v[i]->text, wanted->v[i]->len);
	}
	str_add(&spec, as_group ? "}:W" : "");
	if (wanted->n)
		rc = event_list_parse(events, spec.s, host, err);
	str_release(&spec);
	return rc;
}

static int add_events(const struct metric *metric, struct event_list *events,
		      const struct host_paths *host, struct str *err)
{
	struct expr *expr = expr_compile(metric->formula);
	size_t n = expr_n_names(expr) + 1;
	struct wanted together = { .v = xcalloc(n, sizeof(*together.v)) };
	struct wanted apart = { .v = xcalloc(n, sizeof(*apart.v)) };
	int rc = 0;

	want_events(events, expr, &together);
	if (together.n > 1 && has_core_types(host))
		set_software_apart(&together, &apart);
	if (together.n && !has_together(events, &together))
		rc = add_list(&together, true, events, host, err);
	if (!rc)
		rc = add_list(&apart, false, events, host, err);
	free(together.v);
	free(apart.v);
	expr_free(expr);
	return rc;
}

int metrics_select(const char *names, struct event_list *events, const struct metric ***chosen,
		   size_t *n_chosen, const struct metric_ground *ground, struct str *err)
{
	size_t before = *n_chosen;
	int rc = choose_words(&(struct choice){ chosen, n_chosen, events, ground }, names, err);

	for (size_t i = before; !rc && i < *n_chosen; i++)
		if (!(*chosen)[i]->is_made)
			rc = add_events((*chosen)[i], events, ground->host, err);
	return rc;
}
