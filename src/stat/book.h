/*
 * book: the inside of a tally book, shared by book.c (lays it out), place.c (where counts belong),
 * count.c (fills it) and rows.c (reads it out). Private to stat/; run.c sees rows.h only.
 *
 *   counter x CPU x thread = cell ---> slot = line x place ---> row
 *
 * Cells, slots and tallies are count.h's. A line is one event, or
 * several that are printed as one (the same event on several PMUs). Slots are laid out place by
 * place: slots[place * n_lines + line]; places only ever grow at the end, so that what earlier
 * repeats counted stays where it is.
 */
#ifndef PSTAT_BOOK_H
#define PSTAT_BOOK_H

#include "stat/metric.h"
#include "stat/rows.h"

struct line {
	size_t first; /* index of its first event, which gives name, unit and scale */
	size_t n_events;
	size_t n_unsupported; /* of its events */
	bool core_level; /* percore: with -A its rows are cores */
	bool again; /* counted once more for the metrics of its pass: it has no row */
	const char *name; /* of the row */
	char *own_name; /* where name had to be made: "x [pmu]"; else NULL */
	char *idle_reason[2]; /* from counter_idle_reason(): never enabled; enabled and never run */
	bool idle_asked[2];
	int read_err; /* errno of the last cell that could not be read */
};

/* What is equal for all CPUs of a place: one of these per aggregation, unused parts 0. */
struct place_key {
	int node, socket, die, core, cpu; /* or, for threads, cpu: the tid */
};

struct place {
	enum stat_aggr aggr;
	struct place_key key;
	char *name; /* printable */
	unsigned n_cpus; /* of the target */
	bool rest; /* for what belongs to no CPU or thread; without a target of CPUs: for all */
};

/* One slot over the repeats. */
struct repeat {
	struct series value; /* of runs in which it was counted */
	unsigned __int128 value_sum;
	uint64_t enabled_ns, running_ns; /* sums over all runs */
	uint32_t cells, cells_never_ran, cells_failed, cells_lost_pin, cells_stopped; /* sums over all runs */
	uint32_t runs; /* all runs in which it had cells */
	struct doubt doubt; /* sums over all runs */
};

struct row_list {
	struct stat_row *v; /* room for one per slot */
	size_t n;
	struct stat_metric *metrics; /* room for each use at each place */
	size_t n_metrics;
	size_t *order; /* scratch: the places of one line, as printed */
	char **texts; /* reasons that had to be put together; freed by the next report */
	size_t n_texts, texts_cap;
};

struct tally_book {
	const struct stat_plan *plan;
	struct counter_set *set; /* of the current run; borrowed */
	enum target_kind target_kind;

	size_t *line_of; /* by event */
	struct line *lines;
	size_t n_lines;

	struct place *places; /* places[0] is the rest */
	size_t n_places, places_cap;
	size_t *place_order; /* as printed; the rest comes last */
	struct intset stopped_cpus; /* see counters_stopped_cpus() */
	struct intset cpus; /* of the target and of PMUs with CPUs of their own */
	size_t *cpu_places, *core_places; /* by index into cpus; NULL where not needed */
	size_t *thread_places; /* by thread of the current run's target */
	size_t n_threads;
	struct topology topology;
	bool has_topology;

	struct cell *cells;
	size_t n_cells;
	size_t *cell_base; /* by event: index of its first cell */
	struct slices *slices; /* by cell; NULL until book_keep_slices() */
	struct slot *slots;
	struct repeat *repeats; /* by slot; NULL unless runs are repeated */
	struct amount *amounts; /* by slot: what the report shows */

	struct metric_line *metric_lines;
	struct metric_uses uses;
	size_t *uses_base; /* by line, and one more: its first use */

	struct stat_clock since_start, since_last;
	struct stat_times times; /* over the runs that ended */
	double *run_seconds;
	size_t n_runs, runs_cap;
	struct series *pass_elapsed; /* seconds, by pass; NULL without passes */

	struct row_list rows;
	struct stat_times shown_times;
	struct stat_report report;
	unsigned n_intervals;
	bool reported;
};

/* ---- place.c ---- */
/* Makes the places that the set and the target need and are not there yet. -errno: topology. */
int places_update(struct tally_book *book, const struct target *target, struct str *err);
void places_release(struct tally_book *book);
/* Where a line's count of one CPU (-1: any) and thread belongs. */
size_t place_of_cell(const struct tally_book *book, const struct line *line,
		     const struct counter *counter, int cpu, size_t thread);
/* Where the line of a counter that pstat itself counts belongs. */
size_t place_of_clock(const struct tally_book *book);
/* SIZE_MAX if it is not in the set. */
size_t cpu_index(const struct intset *cpus, int cpu);
/* The same for all CPUs of a package; -1 where the topology is not known. */
int64_t package_of_cpu(const struct tally_book *book, int cpu);

/* ---- rows.c ---- */
/* After book_attach() laid out lines, places and slots. */
void rows_prepare(struct tally_book *book);
void rows_release(struct tally_book *book);

static inline size_t book_n_slots(const struct tally_book *book)
{
	return book->n_places * book->n_lines;
}

#endif
