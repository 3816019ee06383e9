/*
 * rows: from readings to a finished report. Private to stat/: run.c is the only caller.
 *
 * A tally book holds, for every counter and place, the running totals of the current read, the last
 * read (for interval deltas), and a series over the repeats (-r).
 */
#ifndef PSTAT_ROWS_H
#define PSTAT_ROWS_H

#include "stat/stat.h"

/* Wall clock and the command's times for one read, in ns: what tool events and metrics need. */
struct stat_clock {
	uint64_t elapsed_ns; /* since counting began, or since the last interval */
	uint64_t user_ns, system_ns;
	bool has_usage;
};

struct tally_book; /* book.c, count.c */

/*
 * A book for an opened set. Topology is read only if aggr needs it. With -r the same book takes all
 * runs: book_attach() is called with the newly opened set of each. The set must stay as it is until
 * the last report of its run is done with, because rows borrow its names and reasons; the target
 * only during the call.
 */
struct tally_book *book_new(const struct stat_plan *plan, struct str *err); /* NULL on failure */
int book_attach(struct tally_book *book, struct counter_set *set, const struct target *target,
		struct str *err);
void book_free(struct tally_book *book);

/*
 * Reads all counters now. Totals are kept; the difference to the last read is the interval. Takes no
 * memory: what a read needs was laid out by book_attach().
 */
void book_read(struct tally_book *book, const struct stat_clock *since_start,
	       const struct stat_clock *since_last);
/*
 * From now on reads are kept as slices, from which the error of scaled values is estimated. The counters
 * have been read at most by book_read_slices() before.
 */
void book_keep_slices(struct tally_book *book);
/* Reads all counters for nothing but the slices. True if one of them has been taking turns. */
bool book_read_slices(struct tally_book *book);
/*
 * Asks which CPUs went offline, so that the reads that follow mark what stopped with them. To be called
 * while the counters are enabled.
 */
void book_find_stopped(struct tally_book *book);
/*
 * One repeat is over: its totals enter the series, from which a final report takes means. Repeats
 * without end (plan->repeat 0) are reported one by one: each takes a new book.
 */
void book_end_run(struct tally_book *book, double elapsed_s, double user_s, double sys_s,
		  bool has_usage);
/* The two halves of it, for repeats that are several runs: one run is over, then all of a repeat are. */
void book_end_pass(struct tally_book *book, unsigned pass, const struct stat_clock *clock);
void book_end_repeat(struct tally_book *book);
/* What book_read() takes from the clocks and not from counters; after book_begin_read(). */
void book_take_clocks(struct tally_book *book);

/*
 * The rows of a report, in print order: events in list order within a place for CPU, core, die,
 * socket and node modes as perf has them (-A: event by event, then CPUs; --per-core and wider: place
 * by place, then events; --per-thread: event by event, threads by value descending).
 * Owned by the book, good until the next call.
 */
const struct stat_report *book_report(struct tally_book *book, enum stat_report_kind kind,
				      uint64_t time_ns);

/* ---- for tests: what book_read() and book_attach() do themselves ---- */
/* A reading_fn with the book as data; between two of these calls book_begin_read() starts a read. */
void book_take_reading(void *book, size_t index, int cpu, size_t thread,
		       const struct reading *reading);
/* The totals become those of a new read, in which no cell has been read yet. */
void book_begin_read(struct tally_book *book, const struct stat_clock *since_start,
		     const struct stat_clock *since_last);
/* Takes over topology (it is released with the book): none is read from the machine then. */
void book_set_topology(struct tally_book *book, struct topology *topology);

#endif
