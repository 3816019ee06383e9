/* SPDX-License-Identifier: MIT */
/*
 * metric: from the table of formulas to the numbers beside rows. Private to stat/.
 *
 * A line is what is printed as one row per place: an event, or several that are summed. Which
 * metrics stand beside which line, and which lines they take, depends on the events alone and is
 * worked out once (metrics_bind); the numbers follow per place (metric_eval).
 */
#ifndef PSTAT_METRIC_H
#define PSTAT_METRIC_H

#include "stat/expr.h"
#include "stat/stat.h"

/* Names in formulas, as attr type and config. Of two rows of one name the first is preferred. 63 at most. */
struct metric_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};
extern const struct metric_event metric_events[];
extern const size_t n_metric_events;

/* The metric of every event without one of its own, where a clock is counted; not for -M. */
extern const struct metric metric_rate;

/* A line as metrics see it; fixed while counters are open. */
struct metric_line {
	enum event_kind kind;
	const struct perf_event_attr *asked; /* which event it is */
	const struct perf_event_attr *opened; /* with the modes that are counted */
	/* Type of its core PMU where that is one core type's (hybrid machines, big.LITTLE), else 0. */
	uint32_t core_type;
	bool is_apart; /* a unit counts it that belongs to no core */
	unsigned n_sources; /* events that are added up in it */
	const char *cgroup; /* or NULL */
	const struct intset *cpus; /* on which alone it is counted (the term cpu=); n 0: on all of the run's */
	size_t group; /* index of the leader as asked for */
	size_t leader; /* index of the leader as opened */
	unsigned pass; /* the run of the command that it is counted in; 0 for all without --passes */
	bool again; /* counted once more for the metrics of its pass: none stands beside it */
	bool supported;
};
/* A line of one event, in its group as asked for. */
struct metric_line metric_line_of(const struct event *event, const struct perf_event_attr *opened);

/* A line at one place, in one report. */
struct amount {
	bool there; /* the line has counters at this place */
	enum count_state state;
	uint64_t count; /* -r: the mean, rounded */
	double mean; /* count before rounding */
	double value; /* mean x the event's scale */
	uint64_t enabled_ns, running_ns;
	double stdev_pct;
	bool has_estimate; /* it is scaled, and was read in slices */
	double runs; /* of which the mean is */
	struct copy scale; /* the sum over the runs, and how sure it is */
	uint32_t cells, cells_never_ran, cells_failed, cells_lost_pin, cells_stopped, cells_removed;
	uint64_t missed_ns; /* CPU time that cells_removed did not see */
	/*
	 * Cells of one core type whose task may have been on another type while they did not run: they are
	 * not scaled. Where there is none, enabled_ns is the time on the core type.
	 */
	uint32_t cells_unscaled;
};

/* ---- which lines a metric takes ---- */

enum metric_source {
	METRIC_COUNT, /* of a line */
	METRIC_CLOCK, /* CPU time, which a line counts */
	METRIC_SELF, /* of the line it stands beside, in that line's own unit */
	METRIC_ELAPSED,
	METRIC_ELAPSED_NS,
	METRIC_FACT, /* a number about the machine */
	METRIC_UNKNOWN, /* which the machine does not say */
};

/* The meaning of a name in the formula of a made metric. */
struct metric_word {
	char *spec; /* as -e takes it */
	enum metric_source source;
	double fact;
	struct perf_event_attr *attrs; /* of the events that it means: one for each PMU */
	size_t n_attrs;
	struct intset cpus; /* of the term cpu= */
	bool is_core; /* core PMUs count it */
};

struct metric_input {
	const struct expr_name *name;
	enum metric_source source;
	const struct metric_word *word; /* NULL: of metrics[]: */
	uint64_t events; /* that the name means: bits of rows of metric_events[] */
	size_t line; /* SIZE_MAX: there is none; the formula can do without it, or is invalid */
};

struct metric_use {
	const struct metric *metric;
	const struct expr *expr; /* its formula */
	size_t line; /* beside which it stands */
	size_t core_line; /* of its lines the first that a core PMU counts; SIZE_MAX: none */
	struct metric_input *inputs; /* by input of expr */
	size_t n_inputs;
	bool together; /* all inputs are of one group */
};

/* Is this an event that the name means? */
bool metric_attr_is(const struct perf_event_attr *attr, const struct expr_name *name);
enum metric_source metric_source_of(const struct expr_name *name); /* never METRIC_CLOCK */
/* Is this a name of an event that is to be counted? */
bool metric_name_is_event(const struct expr_name *name);
/* Rows of metric_events[] that a name means, as bits. */
uint64_t metric_events_called(const struct expr_name *name);

/* ---- metric_made.c ---- */

const struct expr *metric_made_expr(const struct metric *metric);
const struct metric_word *metric_made_word(const struct metric *metric, size_t input);
/*
 * Chooses the vendor's metrics that the word means, as metrics_select() does. 1 found, 0 there is none, or a negative
 * errno. Those of a group that this machine has no events for are left out, with a note.
 */
int metrics_make(const char *word, struct event_list *events, const struct metric ***chosen, size_t *n_chosen,
		 const struct metric_ground *ground, struct str *err);

/* Metrics of events that the kernel itself names: metric_kernel.c. */
extern const struct event_metric kernel_metrics[];
extern const size_t n_kernel_metrics;

/* Is this an event that the word means, counted in the same modes, on CPUs chosen in the same way? */
bool metric_word_means(const struct metric_word *word, const struct perf_event_attr *attr, const struct intset *cpus);

/* ---- once, when counters are open ---- */

struct metric_uses {
	struct metric_use *v; /* by line, then in the table's order */
	size_t n, cap;
	struct metric_program *programs; /* of the metrics that were bound so far */
	size_t n_programs, programs_cap;
};

/*
 * chosen NULL: the default metrics, each where all it needs is there. Formulas are compiled the first time
 * that they are needed, and stay with the uses.
 */
void metrics_bind(struct metric_uses *uses, const struct metric_line *lines, size_t n_lines,
		  const struct metric *const *chosen, size_t n_chosen);
void metric_uses_release(struct metric_uses *uses);

/* ---- for each place and report; takes no memory ---- */

/* The number alone, in the metric's unit without a prefix; false: it has none. Otherwise as metric_eval(). */
bool metric_value(const struct metric_use *use, const struct metric_line *lines, const struct amount *amounts,
		  double elapsed_s, double *value);
/* amounts: by line, of one place. elapsed_s 0: metrics that need it are invalid. */
void metric_eval(const struct metric_use *use, const struct metric_line *lines,
		 const struct amount *amounts, double elapsed_s, struct stat_metric *out);

#endif
