/* SPDX-License-Identifier: MIT */
/*
 * compare: commands side by side, and what chance leaves of their differences. The way through:
 *
 *   words -> struct compare_plan    cmd/compare_options.c: the commands, what to count, how often
 *   plan -> compare_run()           rounds.c: in each of them every command runs once, in an order by chance
 *                                   (chance.c)
 *   -> struct compare_data          every number of every run, and what chance has said; load_jansson.c reads it again
 *   data -> compare_analyse()       analysis.c: differences within rounds become a change, an interval, a verdict
 *   result -> text                  compare_text.c, or a struct compare_format: compare_json.c, _csv.c, _markdown.c
 *
 * Only differences within a round count: what changes from one round to the next, be it the temperature or a
 * neighbour, changes all commands alike, and the order by chance makes what a place in the round does to a run as
 * likely a gain as a loss for each. The number of rounds is fixed before the first one is measured; nothing looks at
 * results before the end.
 */
#ifndef PSTAT_COMPARE_H
#define PSTAT_COMPARE_H

#include "stat/stat.h"

#include <sched.h>
#include <sys/resource.h>

/* ---- what was measured ---- */

enum compare_kind {
	COMPARE_WALL, /* seconds, from the release of the command to its end */
	COMPARE_USER, COMPARE_SYSTEM, /* seconds, of the command and the children that it waited for */
	COMPARE_MEMORY, /* bytes: the most that one of them had; not known where their parent had more */
	COMPARE_EVENT, /* clocks in seconds */
	COMPARE_METRIC,
};

/* A row of the result: one number of each run. */
struct compare_column {
	enum compare_kind kind;
	char *name; /* printable: "wall", "instructions:u", "ipc" */
	char *unit; /* "s", "B", of an event as it has it; "": a count */
};

struct compare_parameter {
	char *name, *value;
};

struct compare_command {
	char *text; /* as it was given, printable */
	char *name; /* --command-name, or the text; printable */
	char **argv; /* NULL: it was loaded */
	struct compare_parameter *parameters; /* that have made it what it is */
	size_t n_parameters;
	size_t session;
};

/* Commands that were run together. */
struct compare_session {
	char *file; /* that it was loaded from, printable; NULL: it has just been measured */
	bool by_chance; /* in rounds, with an order by chance; else all runs of a command before all of the next */
	uint64_t seed;
	size_t n_rounds;
	size_t n_warm_up; /* rounds before the first */
	size_t n_failed; /* rounds that were left out because a command failed */
	bool interrupted; /* there are fewer rounds than planned */
};

/* One run: how chance has placed it, and how it ended. */
struct compare_course {
	unsigned position; /* in its round, from 0 */
	unsigned padding; /* bytes that were added to its environment */
	int status; /* exit status, 128 + signal */
};

struct compare_data {
	struct compare_session *sessions; /* one, unless several files were loaded */
	size_t n_sessions;
	struct compare_command *commands;
	size_t n_commands;
	struct compare_column *columns;
	size_t n_columns;
	size_t n_rounds; /* the most that a session has */
	struct compare_course *courses; /* [round * n_commands + command] */
	double *values; /* [(round * n_commands + command) * n_columns + column]; NAN: not measured in this round */
};
/* A printable copy, which the caller frees. */
char *compare_printable(const char *text);
/* Adds a column and returns its number. Takes copies. */
size_t compare_add_column(struct compare_data *data, enum compare_kind kind, const char *name, const char *unit);
void compare_data_release(struct compare_data *data);
static inline double *compare_values(const struct compare_data *data, size_t round, size_t command)
{
	return &data->values[(round * data->n_commands + command) * data->n_columns];
}

/* ---- chance.c: what chance decides ---- */

struct chance {
	uint64_t state;
};
/* Below n, which is above 0: each as likely. The same numbers for the same state, on each machine. */
uint64_t chance_below(struct chance *chance, uint64_t n);
/* Puts 0 to n - 1 into an order by chance. */
void chance_order(struct chance *chance, size_t *order, size_t n);

/* ---- analysis.c ---- */

enum compare_verdict {
	COMPARE_SAME, /* the interval is within the threshold */
	COMPARE_FASTER, COMPARE_SLOWER, /* beyond the threshold: less, or more of what the row has */
	COMPARE_DIFFERS, /* no interval of no effect, but not beyond the threshold */
	COMPARE_UNDECIDED,
	COMPARE_WITHHELD, /* the rounds were not as planned, there are too few for an interval, or none was in common */
	COMPARE_REFERENCE, /* there is nothing to compare it with but itself */
};
extern const char *const compare_verdict_words[];

/* One column of one command. */
struct compare_row {
	size_t n; /* rounds in which it was measured; 0: all below is 0 */
	double mean, deviation /* of one run */, median, min, max;
	size_t n_outliers; /* further than 1.5 times the quartiles' distance outside of them; none is dropped */
	/* Against the reference: */
	bool compared; /* both were measured; else all below but the verdict is 0 */
	size_t n_pairs; /* rounds in which both were measured; 0: none, and change is that of the medians */
	bool absolute; /* change is a difference in the column's unit: it has zeros; else a share, 0.1: 10 % more */
	double change, low, high; /* low, high: infinite without an interval */
	double p;
	enum compare_verdict verdict;
	size_t rounds_needed; /* COMPARE_UNDECIDED: so many may decide it */
};

struct compare_question {
	size_t reference; /* command */
	double alpha; /* of all rows together */
	double threshold; /* share that matters: 0.01 */
};
#define COMPARE_ALPHA 0.05 /* where nobody says otherwise */
#define COMPARE_THRESHOLD 0.01

struct compare_result {
	struct compare_row *rows; /* [command * n_columns + column] */
	size_t n_rows; /* that are compared: alpha is divided by it */
	double row_alpha;
	struct note_list notes; /* drift, a slow first round, outliers */
};
void compare_analyse(const struct compare_data *data, const struct compare_question *question,
		     struct compare_result *result);
void compare_result_release(struct compare_result *result);
/* The fewest rounds with an interval, of so many commands and columns. */
size_t compare_rounds_least(size_t n_commands, size_t n_columns, double alpha);

/* ---- rounds.c ---- */

enum compare_output { COMPARE_OUTPUT_NULL, COMPARE_OUTPUT_PIPE, COMPARE_OUTPUT_INHERIT, COMPARE_OUTPUT_FILE };

struct compare_plan {
	struct event_list *events;
	const struct metric **metrics;
	size_t n_metrics;
	/* Commands in a shell, NULL: none. */
	const char *setup, *cleanup; /* before the first and after the last round */
	const char **prepare, **conclude; /* before and after each run, by command; or NULL */
	char ***environment; /* by command: NAME=VALUE, up to a NULL; or NULL */
	long warm_up; /* rounds */
	long runs; /* 0: as many as the time allows, between: */
	long min_runs, max_runs; /* max 0: no limit */
	uint64_t duration_ns; /* of a command */
	struct compare_question question;
	bool padding; /* the environment of each run is longer by chance */
	const cpu_set_t *cpus; /* that the commands may use; or NULL */
	const int *ignored; /* statuses that are no failure */
	size_t n_ignored;
	bool ignore_all; /* rounds with a command that failed are left out, and counted */
	const char *input; /* file, or NULL */
	enum compare_output output;
	const char *output_path;
	const struct kern *kern;
	const struct exec_state *found;
	struct run_stop *stop;
	struct note_list *notes;
	/* Called before each run: round from 0, of n_rounds; warm-up rounds count from -n_warm_up. */
	void (*progress)(void *data, long round, size_t n_rounds, size_t command);
	void *progress_data;
};
/*
 * Runs the commands of data, which has these and the seed; adds columns and rounds. *status: what pstat ends with
 * where a command failed. 0, or a negative errno with a sentence; what whole rounds measured is in data in each case.
 */
int compare_run(const struct compare_plan *plan, struct compare_data *data, int *status, struct str *err);

/* ---- conditions.c ---- */

/* Adds a note for each condition of the machine that makes runs differ. */
void compare_note_conditions(const struct host_paths *host, struct note_list *notes);

/* ---- launcher.c: starts commands ---- */

enum { COMPARE_PADDING_MAX = 4095 };

/* A question to the launcher, and its answer. */
struct launch {
	size_t command;
	unsigned padding;
	pid_t pid; /* of the command while it runs; else 0 */
	int rc; /* 0, or the negative errno of its exec: all below is not known */
	int status; /* of wait4(2) */
	bool has_usage; /* else SIGCHLD was ignored, and status is not known either */
	struct rusage usage;
	uint64_t wall_ns; /* from its start to its end */
	bool left_children; /* processes that it has started, or that earlier ones have, live */
	uint64_t floor_bytes; /* what the launcher had in memory at most: no peak memory is below it */
};

struct launcher {
	pid_t pid;
	int fd;
	struct launch *launch;
};
/* files: of the commands. 0, or a negative errno with a sentence; launcher_end() is due in any case. */
int launcher_start(struct launcher *launcher, const struct compare_plan *plan, const struct compare_data *data,
		   const struct child_files *files, struct str *err);
/*
 * Runs a command; launcher->launch then says how that went. interrupted is called after each signal that pstat gets.
 * -EPIPE: there is no launcher any more.
 */
int launcher_run(const struct launcher *launcher, size_t command, unsigned padding, void (*interrupted)(void *data),
		 void *data, struct str *err);
void launcher_end(struct launcher *launcher);
/* Exchanges the variables' values and the process's own: sets them for a run, and puts them back after it. */
void compare_exchange_environment(char **assignments);

/* ---- load_jansson.c; load_jansson_none.c where it was left out ---- */

/*
 * Adds what the files have, each as a session: compare_format_json or hyperfine have written them. An alpha or
 * threshold of the question that is NAN becomes the first file's, or the default; its reference becomes the first
 * file's. notes gets what the files say of their runs. -ENOSYS: this pstat was built without jansson; 0, or a negative
 * errno with a sentence.
 */
int compare_load(char *const *paths, size_t n, struct compare_data *data, struct compare_question *question,
		 struct note_list *notes, struct str *err);
/* 0; -ENOSYS, or that the library cannot be loaded, with a sentence. */
int compare_load_try(struct str *err);

/* ---- formats ---- */

/* To add one: a file, which ends in its struct compare_format; an option in cmd/compare_options.c. */
struct compare_format {
	void (*print)(struct str *out, const struct compare_data *data, const struct compare_result *result,
		      const struct compare_question *question);
};
extern const struct compare_format compare_format_json, compare_format_csv, compare_format_markdown;
/* order: of the commands, as they are shown. */
void compare_print_text(struct str *out, const struct compare_data *data, const struct compare_result *result,
			const struct compare_question *question, const size_t *order, bool colour);

#endif
