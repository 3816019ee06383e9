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

/* Names in formulas, as attr type and config. Of two rows of one name the first is preferred. */
struct metric_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};
extern const struct metric_event metric_events[];
extern const size_t n_metric_events;

/* Where a clock is counted, the metric of every event without one of its own; not for -M. */
extern const struct metric metric_rate;

/* A line as metrics see it; fixed while counters are open. */
struct metric_line {
	enum event_kind kind;
	const struct perf_event_attr *attr; /* as opened */
	const char *cgroup; /* or NULL */
	size_t group; /* index of the leader as asked for */
	size_t leader; /* index of the leader as opened */
	unsigned pass; /* the run of the command that it is counted in; 0 for all without --passes */
	bool again; /* counted once more for the metrics of its pass: none stands beside it */
	bool supported;
};

/* A line at one place, in one report. */
struct amount {
	bool there; /* the line has counters at this place */
	enum count_state state;
	uint64_t count; /* -r: the mean, rounded */
	double mean; /* count before rounding */
	double value; /* mean x the event's scale */
	uint64_t enabled_ns, running_ns;
	double stdev_pct;
	double scale_error; /* of mean, see struct stat_row; negative: not known */
	uint32_t cells, cells_never_ran, cells_failed, cells_lost_pin, cells_stopped;
};
/* Counted everywhere and all the time: nothing of it is an estimate. */
bool amount_is_whole(const struct amount *amount);

enum { METRIC_MAX_INPUTS = 8 };

struct metric_input {
	const char *name; /* in the formula's text, not terminated */
	size_t len;
	size_t line; /* SIZE_MAX: there is none; the formula can do without it, or is invalid */
};

/* The event names in the metric's formula, each once, from left to right; line is not set. */
struct metric_names {
	struct metric_input v[METRIC_MAX_INPUTS];
	size_t n;
};
void metric_names(const struct metric *metric, struct metric_names *list);
/* Is this an event that the formula's name means? */
bool metric_attr_is(const struct perf_event_attr *attr, const struct metric_input *input);

struct metric_use {
	const struct metric *metric;
	size_t line; /* beside which it stands */
	struct metric_input inputs[METRIC_MAX_INPUTS];
	size_t n_inputs;
	bool together; /* all inputs are of one group */
};

struct metric_uses {
	struct metric_use *v; /* by line, then in the table's order */
	size_t n, cap;
};

/* chosen NULL: the default metrics, each where all it needs is there. */
void metrics_bind(struct metric_uses *uses, const struct metric_line *lines, size_t n_lines,
		  const struct metric *const *chosen, size_t n_chosen);
void metric_uses_release(struct metric_uses *uses);

/* amounts: by line, of one place. elapsed_s 0: metrics that need it are invalid. */
void metric_eval(const struct metric_use *use, const struct metric_line *lines,
		 const struct amount *amounts, double elapsed_s, struct stat_metric *out);

#endif
