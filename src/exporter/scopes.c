/* SPDX-License-Identifier: MIT */
/*
 * Scopes: what is counted, for as long as the exporter runs. A scope is the machine or a cgroup, with the events that
 * belong to it, their counters on all CPUs, and an aggregation, which keeps the sums when counters are opened anew.
 *
 *   a CPU goes offline    its counters stop, and its sums stay as they are
 *   a CPU comes (back)    counters are closed and opened on all CPUs there are now
 *   a cgroup comes        a scope more, where --for-each-cgroup or -G names it
 *   a cgroup goes         its scope goes, with all of its metrics; one of the same name that is made later is another
 *
 * Before anything is opened: can each event be a metric, how many series will there be, how many files does it take?
 */
#include "exporter/exporter_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	METRICS_OF_ROW = 3, /* count, enabled and running time */
	FILES_BESIDES = 64, /* connections, files being written, what libraries hold */
};

/* ---- labels ---- */

static bool is_modifier(char c)
{
	const char *help;
	char letter;

	for (size_t i = 0; (letter = event_modifier_row(i, &help)); i++)
		if (letter == c)
			return true;
	return false;
}

/* "cycles:u" -> "cycles": the mode is a label of its own. */
static char *event_label(const struct event *event)
{
	size_t len = strlen(event->name), end = len;

	while (end && is_modifier(event->name[end - 1]))
		end--;
	if (!event->user_excludes || end == len || end < 2 || !strchr(":/", event->name[end - 1]))
		return xstrdup(event->name);
	return xstrndup(event->name, end - (event->name[end - 1] == ':'));
}

static const char *mode_label(const struct perf_event_attr *attr)
{
	if (attr->exclude_kernel && attr->exclude_user)
		return "hypervisor";
	if (attr->exclude_host && !attr->exclude_guest)
		return "guest";
	if (attr->exclude_kernel)
		return "user";
	return attr->exclude_user ? "kernel" : "all";
}

/* Units of events that are units of metrics. To add one: a row, a word of enum quantity, a family that has it. */
static const struct {
	const char *unit;
	enum quantity quantity;
	double factor;
} units[] = {
	{ "Joules", QUANTITY_JOULES, 1 },
	{ "MiB", QUANTITY_BYTES, 1048576 },
};

static void set_quantity(struct series_row *row, const struct event *event)
{
	row->quantity = event_is_clock(event) ? QUANTITY_SECONDS : QUANTITY_COUNT;
	row->factor = 1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(event->unit, units[i].unit) != 0)
			continue;
		row->quantity = units[i].quantity;
		row->factor = units[i].factor * event->scale;
	}
}

static bool has_node(const struct metric_scope *scope, size_t n, const struct node_name *node)
{
	for (size_t i = 0; i < n; i++)
		if (scope->rows[i].node == node)
			return true;
	return false;
}

/* Labels before anything is open; what opening changes is set_opened()'s. */
static void set_labels(struct metric_scope *scope, bool as_node)
{
	scope->rows = xcalloc(scope->counts->n_rows + 1, sizeof(*scope->rows));
	for (size_t i = 0; i < scope->counts->n_rows; i++) {
		const struct event *event = &scope->events.v[scope->counts->rows[i].first];
		struct series_row *row = &scope->rows[i];

		row->event = event_label(event);
		row->mode = mode_label(&event->attr);
		set_quantity(row, event);
		row->node = as_node && !scope->cgroup ? node_name_of(&event->attr) : NULL;
		if (row->node && has_node(scope, i, row->node))
			row->node = NULL;
	}
}

/* Mode and state of each row, now that it was opened. */
static void set_opened(struct metric_scope *scope)
{
	const struct aggregation *agg = scope->counts;

	for (size_t i = 0; i < agg->n_rows; i++) {
		const struct counted_event *first = &agg->counted[agg->rows[i].first];
		struct series_row *row = &scope->rows[i];

		row->mode = mode_label(first->attr);
		free(row->reason);
		row->reason = NULL;
		if (agg->rows[i].n_unsupported == agg->rows[i].n_events)
			row->reason = xstrdup(first->reason ? first->reason : "");
	}
}

/* ---- one scope ---- */

static void scope_close(struct metric_scope *scope)
{
	if (!scope->open)
		return;
	aggregation_end_run(scope->counts);
	counters_close(&scope->set);
	scope->open = false;
}

static void scope_free(struct metric_scope *scope)
{
	scope_close(scope);
	for (size_t i = 0; scope->rows && i < scope->counts->n_rows; i++) {
		free(scope->rows[i].event);
		free(scope->rows[i].reason);
	}
	free(scope->rows);
	aggregation_free(scope->counts);
	event_list_release(&scope->events);
	free(scope->cpu_times_ns);
	free(scope->cgroup);
	free(scope);
}

/* The events of one cgroup, or of none. */
static int take_events_of(struct metric_scope *scope, const struct exporter_plan *plan, struct str *err)
{
	event_list_copy(&scope->events, plan->events);
	if (plan->each_cgroup)
		return event_list_for_each_cgroup(&scope->events, scope->cgroup, err);
	for (size_t i = scope->events.n; i-- > 0;)
		if (!text_same(scope->events.v[i].cgroup, scope->cgroup))
			event_list_remove(&scope->events, i);
	return 0;
}

/* cgroup: "": none. NULL with a sentence. */
static struct metric_scope *scope_new(const struct exporter_plan *plan, const char *cgroup, struct str *err)
{
	const struct aggregation_options options = {
		.mode = plan->aggr, .scale = true, .merge = true, .hybrid_merge = true, .sum_reads = true,
	};
	struct metric_scope *scope = xcalloc(1, sizeof(*scope));

	scope->cgroup = *cgroup ? xstrdup(cgroup) : NULL;
	if (take_events_of(scope, plan, err)) {
		event_list_release(&scope->events);
		free(scope->cgroup);
		free(scope);
		return NULL;
	}
	scope->counts = aggregation_new(&scope->events, &options);
	set_labels(scope, plan->node_names);
	return scope;
}

/* An event whose enabled time goes on on each CPU that is online. */
static void choose_witness(struct metric_scope *scope, const struct target *target)
{
	scope->witness = SIZE_MAX;
	for (size_t i = 0; i < scope->set.n && scope->witness == SIZE_MAX; i++) {
		const struct counter *counter = &scope->set.v[i];

		if (counter->state == COUNTER_OPEN && !counter->event->cgroup && !counter->attr.pinned &&
		    !counter->event->cpus.n)
			scope->witness = i;
	}
	free(scope->cpu_times_ns);
	scope->cpu_times_ns = xcalloc(target->cpus.n + 1, sizeof(*scope->cpu_times_ns));
}

static int scope_open(const struct exporter *exporter, struct metric_scope *scope, struct str *err)
{
	const struct exporter_plan *plan = &exporter->plan;
	const struct open_options options = { .inherit = false };
	int rc = counters_open(&scope->set, &scope->events, &exporter->target, &options, plan->kern, plan->notes, err);

	if (rc)
		return rc;
	rc = aggregation_attach(scope->counts, &count_backend_perf, &scope->set, &exporter->target, err);
	if (rc) {
		counters_close(&scope->set);
		return rc;
	}
	scope->open = true;
	set_opened(scope);
	choose_witness(scope, &exporter->target);
	return 0;
}

/* ---- which scopes there are ---- */

/* False: it is not there (now). */
static bool find_folder(const struct exporter *exporter, const char *cgroup, struct inode *folder)
{
	struct str path = STR_INIT;
	struct stat st;
	bool found = !*cgroup;

	*folder = (struct inode){ 0 };
	if (*cgroup && cgroup_root(&exporter->plan.kern->host, &path)) {
		str_addf(&path, "/%s", cgroup);
		found = !stat(path.s, &st) && S_ISDIR(st.st_mode);
		if (found)
			*folder = (struct inode){ st.st_dev, st.st_ino };
	}
	str_release(&path);
	return found;
}

static struct metric_scope *find_scope(const struct exporter *exporter, const char *cgroup)
{
	for (size_t i = 0; i < exporter->n_scopes; i++)
		if (!strcmp(exporter->scopes[i]->cgroup ? exporter->scopes[i]->cgroup : "", cgroup))
			return exporter->scopes[i];
	return NULL;
}

static void remove_scope(struct exporter *exporter, size_t index)
{
	scope_free(exporter->scopes[index]);
	exporter->n_scopes--;
	memmove(&exporter->scopes[index], &exporter->scopes[index + 1],
		(exporter->n_scopes - index) * sizeof(*exporter->scopes));
}

/* A scope that is not open yet. Nothing where the cgroup has one, or is not there. */
static int add_scope(struct exporter *exporter, const char *cgroup, struct str *err)
{
	struct metric_scope *scope;
	struct inode folder;

	if (find_scope(exporter, cgroup))
		return 0;
	if (!find_folder(exporter, cgroup, &folder)) {
		note_add(exporter->plan.notes, false, NULL,
			 "cgroup '%s': it does not exist yet; it is counted when it appears", cgroup);
		return 0;
	}
	scope = scope_new(&exporter->plan, cgroup, err);
	if (!scope)
		return -EINVAL;
	scope->folder = folder;
	VEC_GROW(exporter->scopes, exporter->n_scopes, exporter->scopes_cap);
	exporter->scopes[exporter->n_scopes++] = scope;
	return 0;
}

/* A scope for each cgroup that is named and there. */
static int add_scopes(struct exporter *exporter, struct str *err)
{
	const struct exporter_plan *plan = &exporter->plan;
	struct str names = STR_INIT;
	char *rest, *name;
	int rc = 0;

	if (plan->each_cgroup)
		rc = cgroups_named(plan->each_cgroup, &plan->kern->host, &names, err);
	for (rest = names.s; !rc && names.len && (name = strsep(&rest, ","));)
		rc = add_scope(exporter, name, err);
	for (size_t i = 0; !rc && !plan->each_cgroup && i < plan->events->n; i++)
		rc = add_scope(exporter, plan->events->v[i].cgroup ? plan->events->v[i].cgroup : "", err);
	str_release(&names);
	return rc;
}

static void remove_vanished(struct exporter *exporter)
{
	for (size_t i = exporter->n_scopes; i-- > 0;) {
		const struct metric_scope *scope = exporter->scopes[i];
		struct inode folder;

		if (!find_folder(exporter, scope->cgroup ? scope->cgroup : "", &folder) ||
		    folder.dev != scope->folder.dev || folder.ino != scope->folder.ino)
			remove_scope(exporter, i);
	}
}

/* ---- before anything is opened ---- */

static int check_events(const struct exporter_plan *plan, struct str *err)
{
	for (size_t i = 0; i < plan->events->n; i++) {
		const struct event *event = &plan->events->v[i];

		if (event->snapshot)
			return fail(err, -EINVAL, "%s: it is a level, not a count that grows",
				    event->name);
		if (event->kind != EVENT_KERNEL)
			return fail(err, -EINVAL, "%s: it is measured for a command, and an exporter has none",
				    event->name);
		if (event->cgroup && plan->each_cgroup)
			return fail(err, -EINVAL, "--cgroup and --for-each-cgroup: give one of them");
	}
	return 0;
}

/* Series that cannot be told apart would be refused by who reads them. */
static int check_labels(const struct metric_scope *scope, struct str *err)
{
	for (size_t i = 0; i < scope->counts->n_rows; i++) {
		const struct series_row *a = &scope->rows[i];

		for (size_t k = 0; k < i; k++) {
			const struct series_row *b = &scope->rows[k];

			if (!strcmp(a->event, b->event) && a->mode == b->mode)
				return fail(err, -EINVAL,
					    "-e: two events have the labels event=\"%s\" and mode=\"%s\"\n"
					    "the term name= gives one of them another name", a->event, a->mode);
		}
	}
	return 0;
}

/* CPUs, sockets, or one sum of all. */
static int count_places(const struct exporter *exporter, size_t *n, struct str *err)
{
	struct topology topology = { .n = 0 };
	struct intset sockets = INTSET_INIT;
	int rc = 0;

	*n = exporter->plan.aggr == AGGR_CPU ? exporter->target.cpus.n : 1;
	if (exporter->plan.aggr != AGGR_SOCKET)
		return 0;
	rc = topology_read(&topology, &exporter->plan.kern->host, err);
	for (size_t i = 0; i < topology.n; i++)
		intset_add(&sockets, topology.v[i].socket);
	*n = sockets.n ? sockets.n : 1;
	topology_release(&topology);
	intset_release(&sockets);
	return rc;
}

static int check_series(const struct exporter *exporter, struct str *err)
{
	static const char *const places[] = { [AGGR_CPU] = "CPU", [AGGR_SOCKET] = "socket" };
	size_t n_places, rows = 0, n;
	struct str by = STR_INIT;
	int rc = count_places(exporter, &n_places, err);

	for (size_t i = 0; i < exporter->n_scopes; i++)
		rows += exporter->scopes[i]->counts->n_rows;
	n = rows * n_places * METRICS_OF_ROW;
	if (rc || n <= exporter->plan.max_series)
		return rc;
	if (exporter->scopes[0]->cgroup)
		str_addf(&by, "%zu events in %zu cgroups", rows / exporter->n_scopes, exporter->n_scopes);
	else
		str_addf(&by, "%zu events", rows);
	if (exporter->plan.aggr != AGGR_TOTAL)
		str_addf(&by, " x %zu %ss", n_places, places[exporter->plan.aggr]);
	rc = fail(err, -E2BIG, "%s x %d metrics are %zu series, and --max-series allows %zu", by.s, METRICS_OF_ROW, n,
		  exporter->plan.max_series);
	str_release(&by);
	return rc;
}

static int check_files(const struct exporter *exporter, struct str *err)
{
	size_t need = 0;

	for (size_t i = 0; i < exporter->n_scopes; i++)
		need += counters_plan_fds(&exporter->scopes[i]->events, &exporter->target);
	return files_allow(exporter->plan.kern, need, FILES_BESIDES, err);
}

static int check_all(const struct exporter *exporter, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < exporter->n_scopes; i++)
		rc = check_labels(exporter->scopes[i], err);
	if (!rc)
		rc = check_series(exporter, err);
	return rc ? rc : check_files(exporter, err);
}

/* ---- the exporter ---- */

static int find_cpus(struct exporter *exporter, struct str *err)
{
	const struct target_spec all = { .all_cpus = true };

	target_release(&exporter->target);
	memset(&exporter->target, 0, sizeof(exporter->target));
	return target_resolve(&exporter->target, &all, exporter->plan.kern, err);
}

static double wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)timespec_ns(&now) / 1e9;
}

int exporter_open(struct exporter **opened, const struct exporter_plan *plan, struct str *err)
{
	struct exporter *exporter = xcalloc(1, sizeof(*exporter));
	int rc = check_events(plan, err);

	exporter->plan = *plan;
	*opened = NULL;
	if (!rc)
		rc = find_cpus(exporter, err);
	if (!rc)
		rc = add_scopes(exporter, err);
	if (!rc)
		rc = check_all(exporter, err);
	for (size_t i = 0; !rc && i < exporter->n_scopes; i++)
		rc = scope_open(exporter, exporter->scopes[i], err);
	exporter->start_time = wall_seconds();
	if (rc)
		exporter_close(exporter);
	else
		*opened = exporter;
	return rc;
}

void exporter_close(struct exporter *exporter)
{
	if (!exporter)
		return;
	while (exporter->n_scopes)
		remove_scope(exporter, exporter->n_scopes - 1);
	free(exporter->scopes);
	target_release(&exporter->target);
	intset_release(&exporter->stopped);
	free(exporter);
}

/* ---- reads ---- */

struct witness_look {
	const struct target *target;
	struct metric_scope *scope;
	struct intset standing; /* CPUs on which it stands still */
	bool goes_on; /* on another CPU: else the clock itself stands */
};

static void look_at_witness(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct witness_look *look = data;
	size_t at = index == look->scope->witness ? intset_index(&look->target->cpus, cpu) : SIZE_MAX;
	uint64_t *before_ns;

	(void)thread;
	if (at == SIZE_MAX || reading->state != READING_OK)
		return;
	before_ns = &look->scope->cpu_times_ns[at];
	if (*before_ns && *before_ns == reading->enabled_ns)
		intset_add(&look->standing, cpu);
	else if (*before_ns)
		look->goes_on = true;
	*before_ns = reading->enabled_ns;
}

static void count_failures(struct exporter *exporter, const struct aggregation *agg)
{
	for (size_t i = 0; i < aggregation_n_values(agg); i++) {
		exporter->failed[FAILED_READ] += agg->values[i].delta.cells_failed;
		exporter->failed[FAILED_PIN] += agg->values[i].delta.cells_lost_pin;
	}
}

void exporter_read(struct exporter *exporter)
{
	const struct count_clock none = { .elapsed_ns = 0 };

	for (size_t i = 0; i < exporter->n_scopes; i++) {
		struct metric_scope *scope = exporter->scopes[i];
		struct witness_look look = { .target = &exporter->target, .scope = scope };

		if (!scope->open)
			continue;
		aggregation_read(scope->counts, &none, &none, exporter->at_tick ? look_at_witness : NULL, &look);
		count_failures(exporter, scope->counts);
		for (size_t k = 0; look.goes_on && k < look.standing.n; k++)
			intset_add(&exporter->stopped, look.standing.v[k]);
		intset_release(&look.standing);
	}
}

/* ---- ticks: what came and went ---- */

/* Is a CPU online on which counters are not open, or stopped for good? */
static bool cpus_came(struct exporter *exporter)
{
	struct intset online = INTSET_INIT;
	bool came = false;

	if (!cpus_online(&exporter->plan.kern->host, &online)) {
		for (size_t i = 0; i < exporter->target.cpus.n; i++)
			if (!intset_has(&online, exporter->target.cpus.v[i]))
				intset_add(&exporter->stopped, exporter->target.cpus.v[i]);
		for (size_t i = 0; i < online.n; i++)
			came = came || !intset_has(&exporter->target.cpus, online.v[i]) ||
			       intset_has(&exporter->stopped, online.v[i]);
	}
	intset_release(&online);
	return came;
}

static void close_counters(struct exporter *exporter)
{
	for (size_t i = 0; i < exporter->n_scopes; i++)
		scope_close(exporter->scopes[i]);
	exporter->stopped.n = 0;
}

/* All scopes that are not open: new ones, and those that failed before. */
static void open_closed(struct exporter *exporter)
{
	struct str err = STR_INIT;

	for (size_t i = exporter->n_scopes; i-- > 0;) {
		struct metric_scope *scope = exporter->scopes[i];

		if (scope->open)
			continue;
		str_reset(&err);
		if (!check_all(exporter, &err) && !scope_open(exporter, scope, &err))
			continue;
		exporter->failed[FAILED_OPEN]++;
		note_add(exporter->plan.notes, false, NULL, "%s", err.s);
		/* A cgroup that was never open has no metrics yet: the next tick tries it as a new one. */
		if (scope->cgroup && !scope->counts->n_keys)
			remove_scope(exporter, i);
	}
	str_release(&err);
}

void exporter_tick(struct exporter *exporter)
{
	struct str err = STR_INIT;

	exporter->at_tick = true;
	exporter_read(exporter);
	exporter->at_tick = false;
	remove_vanished(exporter);
	if (cpus_came(exporter)) {
		close_counters(exporter);
		find_cpus(exporter, &err);
	}
	add_scopes(exporter, &err);
	/* No CPU is known where the list cannot be read; the next tick tries again. */
	if (exporter->target.cpus.n)
		open_closed(exporter);
	str_release(&err);
}
