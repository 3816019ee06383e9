/* SPDX-License-Identifier: MIT */
/*
 * stat: what `pstat stat` adds to counting. Counting has no file format and no symbols. The way through:
 *
 *   words -> struct stat_plan     cmd/stat_options.c: what to count, on what, how often, how to add up
 *   plan -> stat_run()            run.c starts the command, held; kern/ opens the counters; both are let go. One loop
 *                                 then waits for ends, intervals, signals and control commands, and reads.
 *                                 hooks.c is what comes before and after each run of the command (--pre, --post),
 *                                 slicing.c when to read in between, passes.c makes one measurement of several runs.
 *   readings -> values            count/: added up by event and by key (CPU, core, thread, ...)
 *   values -> struct stat_report  reporter.c: each row with its amount, or the reason why there is none; metric.c the
 *                                 numbers beside rows (metric_table.c, expr.c), repeated_events.c how sure they are
 *   report -> text                a struct stat_format: fmt_text.c, fmt_csv.c, fmt_json.c
 *   text -> plan->emit()          cmd/stat_output.c writes it
 *
 * `pstat stat report` comes in at the readings, with those of a recording: stat_replay_new(). A format never computes;
 * the code that computes never prints.
 */
#ifndef PSTAT_STAT_H
#define PSTAT_STAT_H

#include "count/count.h"
#include "kern/kern.h"

#include <signal.h>
#include <stdio.h>

/* ---- reporter.c: what is printed, complete ---- */

struct stat_metric {
	const char *name; /* static: "insn per cycle" */
	/*
	 * The text after the value: "GHz", "K/sec". A percentage begins with "% ": "% of all branches";
	 * text writes the sign at the value, CSV and JSON leave it out, as perf has them.
	 */
	const char *unit;
	double value;
	int decimals; /* as perf prints this metric in text */
	bool valid; /* false: an input was not counted, or a division by 0 */
	bool mixed; /* from events that were not counted together: marked in text and JSON */
	int level; /* 0 normal, 1 worth a look, 2 bad: colour */
};

struct stat_row {
	/* where */
	enum aggr_mode aggr;
	char *key; /* "CPU0", "S0-D0-C0", "S0-D0", "S0", "N0", "comm-tid"; "" for AGGR_TOTAL. Printable. */
	unsigned n_folded; /* CPUs of this key that count the event */
	/* what */
	const char *name; /* event's name; borrowed from counter or event */
	const char *cgroup; /* or NULL */
	const char *unit; /* "msec", "Joules", "" */
	/* how much */
	enum count_state state;
	double value; /* count x scale */
	uint64_t count; /* exact, before a scale that has a fraction */
	bool integral; /* value is a plain count: print count's digits */
	uint64_t running_ns; /* CSV and JSON: run time of the counter */
	double running_pct; /* of the time that it should have run: 100.0, or 0 for never; not where unverified */
	bool scaled; /* it ran for less than the whole enabled time */
	bool has_scale_error; /* scaled, and it is known how sure the value is */
	double scale_error_pct; /* of the value: with 95 % confidence the truth is not further away */
	const char *scale_error_reason; /* scaled: why that is not known, in a few words; or NULL */
	unsigned pass; /* --passes: the run of the command that it was counted in, from 1; else 0 */
	bool partial; /* some cells never ran or failed: the value is a lower bound */
	bool removed; /* the kernel took its counters away: it is partial, or not counted */
	bool unverified; /* no part is known to be missing, and nothing tells that none is */
	bool has_stdev; /* -r */
	double stdev_pct;
	const char *reason; /* a few words beside not counted / not supported / partial / unverified; or NULL */
	/* derived */
	struct stat_metric *metrics; /* the first stands on the row, others on rows of their own */
	size_t n_metrics;
};

struct stat_times { /* seconds */
	struct series elapsed, user, sys;
	bool has_usage; /* a command's own user and sys times are known */
};

enum stat_report_kind { REPORT_FINAL, REPORT_INTERVAL, REPORT_SUMMARY };

struct stat_report {
	enum stat_report_kind kind;
	uint64_t time_ns; /* REPORT_INTERVAL: since counting began */
	bool first; /* the first report of this run of pstat: header lines go before it */
	unsigned n_before; /* interval reports before this one: header lines come again every 25 */
	struct stat_row *rows;
	size_t n_rows;
	const struct stat_times *times;
	const double *run_seconds; /* --table: each run's elapsed seconds */
	size_t n_runs;
	double least_running_pct; /* of all rows that were scaled; 100 if none was */
	unsigned n_passes; /* --passes: runs of the command for each repeat; else 0 */
	bool passes_differ; /* an event that was counted in several of them: a note says which */
};

/* The command line as formats know it; fixed for the whole run. */
struct stat_style {
	enum aggr_mode aggr;
	/* Printable, with its quotes: "'sleep 1'", "'system wide'", "'CPU(s) 0-1'", "process id '1,2'". */
	const char *title;
	unsigned runs; /* -r */
	bool interval; /* -I */
	bool interval_clear; /* the screen is cleared before each interval: each has its header */
	bool big_num;
	bool metric_only;
	bool table;
	bool csv_summary_tag; /* --summary's rows begin with "summary" (off: --no-csv-summary) */
	bool colour;
	bool has_cgroups;
	bool null_run; /* -n */
	bool explain; /* print reasons (text) */
	const char *separator; /* -x */
	const char *started_on; /* date for "# started on" (CSV and text with -o), or NULL */
};

/*
 * A format appends to out, and never computes or prints. To add one: fmt_x.c, which ends in its struct stat_format; its
 * name below; its option, a row in cmd/stat_options.c that choose_format() of cmd/stat_output.c asks;
 * tests/unit/test_fmt_x.c; pstat-stat(1).
 */
struct stat_format {
	bool for_people; /* coloured, with reasons at marks; notes may come between its lines, the screen be cleared */
	bool dated; /* a file begins with the time */
	void (*begin)(struct str *out, const struct stat_style *style); /* once, at the very start */
	void (*report)(struct str *out, const struct stat_style *style, const struct stat_report *report);
};
extern const struct stat_format stat_format_text, stat_format_csv, stat_format_json;

/* ---- metric.c: metrics[] = { name, group, events, formula, unit } ---- */
struct metric {
	const char *name; /* as -M takes it: "ipc" */
	const char *alias; /* -M takes perf's name too: "insn_per_cycle"; NULL: perf has no such metric */
	const char *group; /* -M takes this too: all metrics of the group */
	const char *desc; /* one line */
	const char *formula; /* over event names, elapsed (s), + - * / ( ) and numbers; see expr.h */
	const char *unit; /* printed after the value; see struct stat_metric */
	const char *beside; /* event beside which it is printed by default when all inputs are there; or NULL */
	int decimals;
	bool per_second; /* a rate: K, M or G goes before the unit as its size asks for */
	double look, bad; /* above these: colour level 1 and 2; 0: none */
	/* Only of one that is made from a vendor's files: metric_made.c. */
	bool is_made;
	size_t number; /* its place among those that were chosen */
	double scale; /* value = formula x scale */
};
extern const struct metric metrics[];
extern const size_t n_metrics;
/* The place where metrics are computed. */
struct metric_ground {
	const struct host_paths *host;
	bool cpus; /* CPUs are counted, not tasks */
	bool core_wide; /* and of each core all of them */
	bool no_thresholds; /* nothing is counted for them alone */
};
/*
 * -M a,b: names, groups or patterns, of metrics[] and else of the vendors' files. Adds to *chosen (NULL at first;
 * metrics_release() frees it) and adds the events that are needed and not there yet, each metric's in one weak group.
 * -ENOENT, -EINVAL. What is chosen refers to the list, which has to live as long.
 */
int metrics_select(const char *names, struct event_list *events, const struct metric ***chosen,
		   size_t *n_chosen, const struct metric_ground *ground, struct str *err);
void metrics_release(const struct metric ***chosen, size_t *n);
/* Does -M with this word, a name, a group or a pattern, mean the vendor's metric? */
bool metric_known_is_called(const struct event_metric *known, const char *word);

/* ---- run_metrics.c: metrics of runs whose counts are whole ---- */

struct run_metrics;
/* All are borrowed until run_metrics_free(). */
struct run_metrics *run_metrics_new(const struct event_list *events, const struct metric *const *chosen,
				    size_t n_chosen);
void run_metrics_free(struct run_metrics *metrics); /* NULL is fine */
/*
 * counts, enabled_ns: by event, as the kernel has them; NAN: it was not counted. numbers: by chosen metric; fills those
 * that are NAN and have what they need.
 */
void run_metrics(struct run_metrics *metrics, const double *counts, const uint64_t *enabled_ns, double elapsed_s,
		 double *numbers);

/* ---- passes.c: which events can be counted at the same time ---- */

struct pass_plan {
	/*
	 * The events as given, in their order, then those that are counted again: for the metrics of
	 * another pass. A weak group that does not fit is broken up.
	 */
	struct event_list events;
	size_t n_given;
	unsigned *pass; /* by event, from 0 */
	unsigned n_passes; /* at least 1 */
};

/*
 * Asks the machine. Events of a metric are counted together where they fit. -E2BIG with a sentence: a group is too big
 * for its PMU. Release the plan in every case.
 */
int pass_plan_ask(struct pass_plan *plan, const struct event_list *events, const struct metric *const *chosen,
		  size_t n_chosen, const struct kern *kern, struct str *err);
/*
 * The events of one pass, in the plan's order, whose texts they borrow; index, by event: in the plan. The caller frees
 * both arrays.
 */
void pass_plan_events(const struct pass_plan *plan, unsigned pass, struct event_list *events, size_t **index);
void pass_plan_release(struct pass_plan *plan);

/* ---- run.c ---- */

/*
 * Takes every reading as the kernel gave it, for a recording. Each function returns 0, or a negative
 * errno with a sentence, which ends the run.
 */
struct stat_tap {
	void *data;
	/* Called when all counters are open and nothing runs yet. Both stay as they are until the run's end. */
	int (*begin)(void *data, const struct counter_set *set, const struct target *target,
		     struct str *err);
	/* Each cell of one read; what pstat counts itself comes as one cell, on no CPU, of thread 0. */
	reading_fn reading;
	/* The read is over: kind REPORT_INTERVAL or REPORT_FINAL. */
	int (*round)(void *data, enum stat_report_kind kind, uint64_t since_start_ns,
		     struct str *err);
};

/* Numbers are long, so that rows of options fill them. */
struct stat_plan {
	/* what */
	struct event_list *events;
	struct target_spec target;
	char *const *argv; /* the command, or NULL */
	const struct exec_state *found; /* how it is started */
	struct open_options open; /* inherit from -i; run.c sets the rest */
	const struct metric **metrics; /* -M, or NULL: the default ones */
	size_t n_metrics;
	/* how */
	enum aggr_mode aggr;
	bool percore_on_cpus; /* --percore-show-thread */
	bool smi_cost; /* --smi-cost: counters of the core are frozen in system management interrupts */
	int cache_level; /* --per-cache=Ln; 0: the highest that a CPU has */
	bool scale; /* --scale (default) */
	bool merge; /* false: --no-merge */
	bool hybrid_merge;
	bool null_run;
	long repeat; /* -r; 1 default, 0 forever */
	bool passes; /* the command runs so often that no event has to share a counter */
	bool warm_up; /* the command runs once before, and nothing of that is counted */
	const struct pass_plan *pass_plan; /* run.c's own: NULL */
	bool sync; /* -S */
	const char *pre, *post; /* shell commands around each run */
	long delay_ms; /* -D; -1: start disabled */
	long interval_ms, interval_count; /* 0: none */
	uint64_t duration_ns; /* --duration, --timeout: of each run; 0: no limit */
	bool summary;
	int control_fd, ack_fd; /* --control; -1: none */
	/* where it goes */
	const struct kern *kern; /* NULL for a replay: no machine is asked for reasons */
	const struct stat_tap *tap; /* or NULL */
	bool stdout_taken; /* by a recording: the command's output goes to standard error */
	struct note_list *notes;
	/*
	 * SIGINT, SIGTERM and SIGHUP: the run ends, with its full output. A command is given the signal and
	 * counted until it ends; a second signal makes that SIGTERM, a third SIGKILL.
	 */
	struct run_stop *stop;
	/*
	 * 0; 1: the place cannot take all of it now, write_on() is to be called when output_fd can be written to;
	 * negative errno: nothing more can be written. Then there are no more reports, and the run goes on to the
	 * end of its command.
	 */
	int (*emit)(void *data, const struct stat_report *report);
	int (*write_on)(void *data); /* the same */
	int output_fd; /* -1: emit() never returns 1 */
	void *emit_data;
	/*
	 * Called once when all counters are open and before the first report: notes are final. With
	 * passes, once for the counters of each.
	 */
	void (*opened)(void *data, const struct counter_set *set);
};

/*
 * Runs the plan to its end. *status is the exit status for pstat, in every case: the command's own (the
 * last run's), 128 + signal for a run without a command that a signal ended, 127 or 126 for a command
 * that could not be executed. 0, or a negative errno and a sentence where pstat itself failed; the
 * sentence is empty where emit() failed, which knows why.
 */
int stat_run(const struct stat_plan *plan, int *status, struct str *err);

/* ---- hooks.c ---- */

/*
 * Runs a shell command, which is started as a measured one is, to its end; NULL: nothing. -ECANCELED, with a sentence
 * that names the option: it ended with another status than 0.
 */
int stat_shell(const char *command, const char *option, const struct exec_state *found, struct str *err);

/* ---- reporter.c: readings from a recording instead of counters ---- */

/*
 * Takes of the plan: events (those of counts), aggr, scale, merge, metrics and emit. Plan and counts, which have been
 * described, are borrowed until stat_replay_free. NULL on failure.
 */
struct stat_replay;
struct stat_replay *stat_replay_new(const struct stat_plan *plan, const struct recorded_counts *counts,
				    struct str *err);
/* A round, as far as it was recorded: its time in ns since counting began. What emit() returned. */
int stat_replay_round(struct stat_replay *replay, enum stat_report_kind kind, uint64_t since_start_ns);
void stat_replay_free(struct stat_replay *replay);

#endif
