/*
 * Places: where counts are folded to, for every aggregation. A place is what its key says: the
 * parts of a CPU's position that the aggregation keeps, or a thread.
 *
 * Invariants: places[0] is the rest, which holds everything without --per-* options; the others are
 * never removed or moved, because slots are numbered by them; place_order is how they are printed.
 * The topology is read only where an aggregation or an event needs it.
 */
#include "stat/book.h"

#include <stdlib.h>

/*
 * What an aggregation keeps of a CPU's position, in print order, and how the place is called.
 * To add one: enum stat_aggr, a row here, one in the formats' table, tests/unit/test_rows.c.
 */
static const struct aggregation {
	bool node, socket, die, core, cpu;
	bool needs_topology;
} aggregations[] = {
	[AGGR_TOTAL] = { 0 },
	[AGGR_CPU] = { .cpu = true },
	[AGGR_CORE] = { .socket = true, .die = true, .core = true, .needs_topology = true },
	[AGGR_DIE] = { .socket = true, .die = true, .needs_topology = true },
	[AGGR_SOCKET] = { .socket = true, .needs_topology = true },
	[AGGR_NODE] = { .node = true, .needs_topology = true },
	[AGGR_THREAD] = { 0 },
};

static bool is_by_cpu(enum stat_aggr aggr)
{
	return aggr != AGGR_TOTAL && aggr != AGGR_THREAD;
}

static int known(int number)
{
	return number < 0 ? 0 : number;
}

static struct place_key key_of_cpu(const struct tally_book *book, enum stat_aggr aggr, int cpu)
{
	const struct aggregation *keep = &aggregations[aggr];
	const struct cpu_place *at =
		book->has_topology ? topology_find(&book->topology, cpu) : NULL;
	struct place_key key = { .cpu = keep->cpu ? cpu : 0 };

	if (!at)
		return key;
	key.node = keep->node ? known(at->node) : 0;
	key.socket = keep->socket ? known(at->socket) : 0;
	key.die = keep->die ? known(at->die) : 0;
	key.core = keep->core ? known(at->core) : 0;
	return key;
}

static int compare_keys(const struct place_key *a, const struct place_key *b)
{
	const int pairs[][2] = {
		{ a->node, b->node }, { a->socket, b->socket }, { a->die, b->die },
		{ a->core, b->core }, { a->cpu, b->cpu },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i][0] != pairs[i][1])
			return pairs[i][0] < pairs[i][1] ? -1 : 1;
	return 0;
}

static char *name_of_key(enum stat_aggr aggr, const struct place_key *key)
{
	struct str name = STR_INIT;

	if (aggr == AGGR_CPU)
		str_addf(&name, "CPU%d", key->cpu);
	else if (aggr == AGGR_NODE)
		str_addf(&name, "N%d", key->node);
	else
		str_addf(&name, "S%d", key->socket);
	if (aggr == AGGR_CORE || aggr == AGGR_DIE)
		str_addf(&name, "-D%d", key->die);
	if (aggr == AGGR_CORE)
		str_addf(&name, "-C%d", key->core);
	return str_detach(&name);
}

static char *name_of_thread(const struct target_thread *thread)
{
	struct str name = STR_INIT;

	str_add_printable(&name, thread->comm, strnlen(thread->comm, sizeof(thread->comm)));
	str_addf(&name, "-%d", (int)thread->tid);
	return str_detach(&name);
}

/* Index of the place; n_places if there is none. */
static size_t place_find(const struct tally_book *book, enum stat_aggr aggr,
			 const struct place_key *key)
{
	size_t i = 1;

	while (i < book->n_places &&
	       (book->places[i].aggr != aggr || compare_keys(&book->places[i].key, key)))
		i++;
	return i;
}

static struct place *place_add(struct tally_book *book, enum stat_aggr aggr, struct place_key key,
			       char *name)
{
	struct place *place;

	VEC_GROW(book->places, book->n_places, book->places_cap);
	place = &book->places[book->n_places++];
	*place = (struct place){ .aggr = aggr, .key = key, .name = name };
	return place;
}

size_t cpu_index(const struct intset *cpus, int cpu)
{
	size_t low = 0, high = cpus->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cpus->v[mid] == cpu)
			return mid;
		if (cpus->v[mid] < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return SIZE_MAX;
}

/* Places for all CPUs in book->cpus; returns them by index into the set. */
static size_t *add_cpus(struct tally_book *book, enum stat_aggr aggr,
			const struct intset *of_target)
{
	size_t *places = xcalloc(book->cpus.n + 1, sizeof(*places));

	for (size_t i = 0; i < book->n_places; i++)
		if (book->places[i].aggr == aggr)
			book->places[i].n_cpus = 0;
	for (size_t i = 0; i < book->cpus.n; i++) {
		struct place_key key = key_of_cpu(book, aggr, book->cpus.v[i]);

		places[i] = place_find(book, aggr, &key);
		if (places[i] == book->n_places)
			place_add(book, aggr, key, name_of_key(aggr, &key));
		book->places[places[i]].n_cpus += intset_has(of_target, book->cpus.v[i]);
	}
	return places;
}

/* All CPUs that a place is needed for: the target's, and those of PMUs with CPUs of their own. */
static void collect_cpus(struct tally_book *book, const struct target *target)
{
	intset_copy(&book->cpus, &target->cpus);
	for (size_t i = 0; i < book->set->n; i++)
		for (size_t k = 0; k < book->set->v[i].cpus.n; k++)
			intset_add(&book->cpus, book->set->v[i].cpus.v[k]);
}

/* A repeated command is a new process each time, and yet the same place. */
static struct place_key key_of_thread(const struct target *target, size_t thread)
{
	if (target->kind == TARGET_COMMAND)
		return (struct place_key){ .cpu = (int)thread };
	return (struct place_key){ .cpu = target->threads[thread].tid };
}

static void add_threads(struct tally_book *book, const struct target *target)
{
	bool first_run = book->n_places == 1; /* threads of one target are distinct */

	book->thread_places = xreallocarray(book->thread_places, target->n_threads + 1,
					    sizeof(*book->thread_places));
	for (size_t i = 0; i < target->n_threads; i++) {
		struct place_key key = key_of_thread(target, i);
		size_t at = first_run ? book->n_places : place_find(book, AGGR_THREAD, &key);
		char *name = name_of_thread(&target->threads[i]);

		if (at == book->n_places) {
			place_add(book, AGGR_THREAD, key, name);
		} else {
			free(book->places[at].name);
			book->places[at].name = name;
		}
		book->thread_places[i] = at;
	}
	book->n_threads = target->n_threads;
}

static bool any_core_level(const struct tally_book *book)
{
	for (size_t i = 0; i < book->n_lines; i++)
		if (book->lines[i].core_level)
			return true;
	return false;
}

static bool needs_topology(const struct tally_book *book)
{
	if (aggregations[book->plan->aggr].needs_topology || any_core_level(book))
		return true;
	for (size_t i = 0; i < book->set->n; i++)
		if (book->set->v[i].event->per_pkg && book->set->v[i].cpus.n > 1)
			return true;
	return false;
}

struct sort_entry {
	const struct place *place;
	size_t index;
};

static int compare_entries(const void *a, const void *b)
{
	const struct sort_entry *x = a, *y = b;

	if (x->place->rest != y->place->rest)
		return x->place->rest ? 1 : -1;
	if (x->place->aggr != y->place->aggr)
		return x->place->aggr < y->place->aggr ? -1 : 1;
	return compare_keys(&x->place->key, &y->place->key);
}

static void set_order(struct tally_book *book)
{
	struct sort_entry *entries = xcalloc(book->n_places, sizeof(*entries));

	for (size_t i = 0; i < book->n_places; i++)
		entries[i] = (struct sort_entry){ &book->places[i], i };
	qsort(entries, book->n_places, sizeof(*entries), compare_entries);
	book->place_order =
		xreallocarray(book->place_order, book->n_places, sizeof(*book->place_order));
	for (size_t i = 0; i < book->n_places; i++)
		book->place_order[i] = entries[i].index;
	free(entries);
}

int places_update(struct tally_book *book, const struct target *target, struct str *err)
{
	enum stat_aggr aggr = book->plan->aggr;

	if (needs_topology(book) && !book->has_topology) {
		int rc = topology_read(&book->topology, &book->plan->kern->host, err);

		if (rc)
			return rc;
		book->has_topology = true;
	}
	if (!book->n_places) {
		const char *name = aggr == AGGR_TOTAL ? "" : "all";

		place_add(book, aggr, (struct place_key){ 0 }, xstrdup(name))->rest = true;
	}
	collect_cpus(book, target);
	free(book->cpu_places);
	free(book->core_places);
	book->cpu_places = is_by_cpu(aggr) ? add_cpus(book, aggr, &target->cpus) : NULL;
	book->core_places = any_core_level(book) ? add_cpus(book, AGGR_CORE, &target->cpus) : NULL;
	if (aggr == AGGR_THREAD)
		add_threads(book, target);
	set_order(book);
	return 0;
}

void places_release(struct tally_book *book)
{
	for (size_t i = 0; i < book->n_places; i++)
		free(book->places[i].name);
	free(book->places);
	free(book->place_order);
	free(book->cpu_places);
	free(book->core_places);
	free(book->thread_places);
	intset_release(&book->cpus);
	intset_release(&book->stopped_cpus);
	topology_release(&book->topology);
}

size_t place_of_cell(const struct tally_book *book, const struct line *line,
		     const struct counter *counter, int cpu, size_t thread)
{
	const size_t *by_cpu = line->core_level ? book->core_places : book->cpu_places;

	if (by_cpu && cpu >= 0)
		return by_cpu[cpu_index(&book->cpus, cpu)];
	/* A PMU that cannot follow threads has one column for all of them. */
	if (book->plan->aggr == AGGR_THREAD && counter->n_threads == book->n_threads &&
	    counter->cpus.n == 0)
		return book->thread_places[thread];
	return 0;
}

size_t place_of_clock(const struct tally_book *book)
{
	return is_by_cpu(book->plan->aggr) ? book->place_order[0] : 0;
}

int64_t package_of_cpu(const struct tally_book *book, int cpu)
{
	const struct cpu_place *at =
		book->has_topology ? topology_find(&book->topology, cpu) : NULL;

	return at ? (int64_t)known(at->socket) << 32 | known(at->die) : -1;
}
