/*
 * The layout of a tally book: which events share a line, which cell feeds which slot, which metrics
 * stand where. All of it is worked out when counters have been opened, so that a read only adds.
 *
 * Invariants: lines are fixed for the life of a book; slots and places only grow; cells, and what
 * the slots say of the counters (struct slot), belong to the current run.
 */
#include "stat/book.h"
#include "stat/passes.h"

#include <errno.h>
#include <stdlib.h>

/* ---- lines ---- */

static bool is_merged(const struct stat_plan *plan, const struct event *event)
{
	if (!event->expansion_id)
		return false;
	return (event->expansion == EXPANSION_PMUS && plan->merge) ||
	       (event->expansion == EXPANSION_CORE_TYPES && plan->hybrid_merge);
}

static bool same_row(const struct event *a, const struct event *b)
{
	return a->expansion_id == b->expansion_id &&
	       (a->cgroup == b->cgroup ||
		(a->cgroup && b->cgroup && !strcmp(a->cgroup, b->cgroup)));
}

/* The line that event i joins; n_lines if it begins a new one. */
static size_t line_to_join(const struct tally_book *book, size_t i)
{
	const struct event *events = book->plan->events->v;
	size_t line = book->n_lines;

	if (!is_merged(book->plan, &events[i]))
		return line;
	for (line = 0; line < book->n_lines; line++)
		if (is_merged(book->plan, &events[book->lines[line].first]) &&
		    same_row(&events[book->lines[line].first], &events[i]))
			break;
	return line;
}

static void make_lines(struct tally_book *book)
{
	const struct event_list *events = book->plan->events;

	book->line_of = xcalloc(events->n + 1, sizeof(*book->line_of));
	book->lines = xcalloc(events->n + 1, sizeof(*book->lines));
	for (size_t i = 0; i < events->n; i++) {
		size_t at = line_to_join(book, i);

		if (at == book->n_lines) {
			book->lines[at].first = i;
			book->lines[at].again = book->plan->pass_plan &&
						i >= book->plan->pass_plan->n_given;
			book->lines[at].core_level = book->plan->aggr == AGGR_CPU &&
						     events->v[i].terms.percore == TERM_ON;
			book->n_lines++;
		}
		book->lines[at].n_events++;
		book->line_of[i] = at;
	}
}

/* Events of one spec that stay apart and would look alike get their PMU into the name. */
static bool needs_pmu_name(const struct tally_book *book, size_t line)
{
	const struct event *events = book->plan->events->v;
	const struct event *event = &events[book->lines[line].first];

	if (!event->expansion_id || is_merged(book->plan, event) || !event->pmu_name[0])
		return false;
	for (size_t i = 0; i < book->n_lines; i++) {
		const struct event *other = &events[book->lines[i].first];

		if (i != line && same_row(event, other) && !strcmp(event->name, other->name))
			return true;
	}
	return false;
}

static void name_line(struct tally_book *book, size_t line)
{
	struct line *l = &book->lines[line];
	const struct counter *counter = &book->set->v[l->first];

	free(l->own_name);
	l->own_name = NULL;
	l->name = counter->name ? counter->name : counter->event->name;
	if (!needs_pmu_name(book, line))
		return;
	if (counter->event->expansion == EXPANSION_CORE_TYPES)
		l->own_name = xasprintf("%s/%s/", counter->event->pmu_name, l->name);
	else
		l->own_name = xasprintf("%s [%s]", l->name, counter->event->pmu_name);
	l->name = l->own_name;
}

/* ---- cells and slots: laid out once per run ---- */

static size_t n_cells(const struct counter *counter)
{
	return counter->state == COUNTER_OPEN ? counter->n_cpus * counter->n_threads : 0;
}

/* A place that is new takes empty slots at the end; what is there stays. */
static void grow_slots(struct tally_book *book, size_t before)
{
	size_t n = book_n_slots(book);

	if (n <= before)
		return;
	book->slots = xreallocarray(book->slots, n, sizeof(*book->slots));
	book->amounts = xreallocarray(book->amounts, n, sizeof(*book->amounts));
	if (book->plan->repeat <= 1)
		return;
	book->repeats = xreallocarray(book->repeats, n, sizeof(*book->repeats));
	memset(book->repeats + before, 0, (n - before) * sizeof(*book->repeats));
}

/* Has an earlier CPU of this counter the same package? */
static bool package_is_taken(const struct tally_book *book, const struct counter *counter,
			     size_t cpu)
{
	int64_t package = package_of_cpu(book, counter->cpus.v[cpu]);

	for (size_t i = 0; i < cpu && package >= 0; i++)
		if (package_of_cpu(book, counter->cpus.v[i]) == package)
			return true;
	return false;
}

static void lay_out_open(struct tally_book *book, size_t index)
{
	const struct counter *counter = &book->set->v[index];
	size_t line = book->line_of[index];
	struct cell *cell = &book->cells[book->cell_base[index]];

	for (size_t c = 0; c < counter->n_cpus; c++) {
		int cpu = counter->cpus.n ? counter->cpus.v[c] : -1;
		bool taken =
			counter->event->per_pkg && cpu >= 0 && package_is_taken(book, counter, c);

		for (size_t t = 0; t < counter->n_threads; t++, cell++) {
			size_t place = place_of_cell(book, &book->lines[line], counter, cpu, t);

			cell->slot = taken ? SLOT_NONE : place * book->n_lines + line;
			if (taken)
				continue;
			book->slots[cell->slot].is_open = true;
			if (t == 0 && cpu >= 0 && index == book->lines[line].first)
				book->slots[cell->slot].n_folded++;
		}
	}
}

/* The places where a counter that could not be opened is missed. */
static void lay_out_unsupported(struct tally_book *book, size_t index, const struct target *target)
{
	const struct counter *counter = &book->set->v[index];
	size_t line = book->line_of[index];
	const struct intset *cpus = counter->event->cpus.n ? &counter->event->cpus : &target->cpus;
	bool by_thread = book->plan->aggr == AGGR_THREAD && target->kind != TARGET_CPUS;
	size_t n = by_thread ? target->n_threads : book->cpu_places ? cpus->n : 0;
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		const size_t *by_cpu =
			book->lines[line].core_level ? book->core_places : book->cpu_places;
		size_t at = by_thread ? i : cpu_index(&book->cpus, cpus->v[i]);
		struct slot *slot;

		if (at == SIZE_MAX)
			continue;
		at = by_thread ? book->thread_places[at] : by_cpu[at];
		slot = &book->slots[at * book->n_lines + line];
		slot->n_unsupported++;
		slot->n_folded += !by_thread && index == book->lines[line].first;
		found = true;
	}
	if (!found)
		book->slots[line].n_unsupported++;
}

static void lay_out_clock(struct tally_book *book, size_t index)
{
	struct slot *slot =
		&book->slots[place_of_clock(book) * book->n_lines + book->line_of[index]];

	slot->is_open = true;
	slot->n_folded = 1;
}

static void lay_out(struct tally_book *book, const struct target *target)
{
	size_t n = 0;

	book->cell_base =
		xreallocarray(book->cell_base, book->set->n + 1, sizeof(*book->cell_base));
	for (size_t i = 0; i < book->set->n; i++) {
		book->cell_base[i] = n;
		n += n_cells(&book->set->v[i]);
	}
	free(book->cells);
	free(book->slices);
	book->cells = xcalloc(n + 1, sizeof(*book->cells));
	book->slices = NULL;
	book->n_cells = n;
	for (size_t i = 0; i < book_n_slots(book); i++)
		book->slots[i] = (struct slot){ 0 };
	for (size_t i = 0; i < book->set->n; i++) {
		if (book->set->v[i].state == COUNTER_OPEN)
			lay_out_open(book, i);
		else if (book->set->v[i].state != COUNTER_NOT_SUPPORTED)
			lay_out_clock(book, i); /* also what was left out: its row says so */
		else
			lay_out_unsupported(book, i, target);
	}
}

static void bind_metrics(struct tally_book *book)
{
	size_t use = 0;

	for (size_t i = 0; i < book->n_lines; i++) {
		const struct line *line = &book->lines[i];
		const struct counter *counter = &book->set->v[line->first];

		book->metric_lines[i] = (struct metric_line){
			.kind = counter->event->kind,
			.attr = &counter->attr,
			.cgroup = counter->event->cgroup,
			.group = counter->event->leader,
			.leader = counter->leader,
			.pass = counter->pass,
			.again = line->again,
			.supported = line->n_unsupported < line->n_events,
		};
	}
	metrics_bind(&book->uses, book->metric_lines, book->n_lines,
		     (const struct metric *const *)book->plan->metrics, book->plan->n_metrics);
	for (size_t i = 0; i <= book->n_lines; i++) {
		while (use < book->uses.n && book->uses.v[use].line < i)
			use++;
		book->uses_base[i] = use;
	}
}

/* ---- the book ---- */

struct tally_book *book_new(const struct stat_plan *plan, struct str *err)
{
	struct tally_book *book;

	if (!plan->events->n && !plan->null_run) {
		fail(err, -EINVAL, "no events: there is nothing to count");
		return NULL;
	}
	book = xcalloc(1, sizeof(*book));
	book->plan = plan;
	make_lines(book);
	book->metric_lines = xcalloc(book->n_lines + 1, sizeof(*book->metric_lines));
	book->uses_base = xcalloc(book->n_lines + 1, sizeof(*book->uses_base));
	if (plan->pass_plan)
		book->pass_elapsed = xcalloc(plan->pass_plan->n_passes, sizeof(*book->pass_elapsed));
	return book;
}

int book_attach(struct tally_book *book, struct counter_set *set, const struct target *target,
		struct str *err)
{
	size_t before = book_n_slots(book);
	int rc;

	book->set = set;
	book->target_kind = target->kind;
	rc = places_update(book, target, err);
	if (rc)
		return rc;
	grow_slots(book, before);
	lay_out(book, target);
	for (size_t i = 0; i < book->n_lines; i++) {
		book->lines[i].n_unsupported = 0;
		name_line(book, i);
	}
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].state == COUNTER_NOT_SUPPORTED)
			book->lines[book->line_of[i]].n_unsupported++;
	bind_metrics(book);
	rows_prepare(book);
	book_begin_read(book, &(struct stat_clock){ 0 }, &(struct stat_clock){ 0 });
	return 0;
}

void book_set_topology(struct tally_book *book, struct topology *topology)
{
	topology_release(&book->topology);
	book->topology = *topology;
	book->has_topology = true;
	*topology = (struct topology){ 0 };
}

void book_free(struct tally_book *book)
{
	if (!book)
		return;
	for (size_t i = 0; i < book->n_lines; i++) {
		free(book->lines[i].own_name);
		free(book->lines[i].idle_reason[0]);
		free(book->lines[i].idle_reason[1]);
	}
	places_release(book);
	rows_release(book);
	metric_uses_release(&book->uses);
	free(book->line_of);
	free(book->lines);
	free(book->cells);
	free(book->slices);
	free(book->cell_base);
	free(book->slots);
	free(book->repeats);
	free(book->amounts);
	free(book->metric_lines);
	free(book->uses_base);
	free(book->run_seconds);
	free(book->pass_elapsed);
	free(book);
}
