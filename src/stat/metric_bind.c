/*
 * Which metrics stand beside which line: worked out once, when counters are open. The default ones stand
 * where all that they need is counted; those that were chosen stand once for each core type and cgroup.
 */
#include "stat/metric.h"

#include <stdlib.h>

struct metric_program {
	const struct metric *metric;
	struct expr *expr;
};

/* ---- one use ---- */

static void name_inputs(struct metric_use *use)
{
	use->n_inputs = expr_n_names(use->expr);
	use->inputs = xcalloc(use->n_inputs + 1, sizeof(*use->inputs));
	for (size_t i = 0; i < use->n_inputs; i++) {
		const struct expr_name *name = expr_name(use->expr, i);

		use->inputs[i] = (struct metric_input){
			.name = name,
			.source = metric_source_of(name),
			.events = metric_events_called(name),
			.line = SIZE_MAX,
		};
	}
}

/* Formulas of the table are right: a test compiles them all. */
static const struct expr *program_of(struct metric_uses *uses, const struct metric *metric)
{
	for (size_t i = 0; i < uses->n_programs; i++)
		if (uses->programs[i].metric == metric)
			return uses->programs[i].expr;
	VEC_GROW(uses->programs, uses->n_programs, uses->programs_cap);
	uses->programs[uses->n_programs] =
		(struct metric_program){ metric, expr_compile(metric->formula) };
	return uses->programs[uses->n_programs++].expr;
}

static struct metric_use make_use(struct metric_uses *uses, const struct metric *metric,
				  const struct metric_search *s, size_t anchor)
{
	struct metric_use use = {
		.metric = metric,
		.expr = program_of(uses, metric),
		.line = anchor,
		.together = true,
	};

	name_inputs(&use);
	metric_find_lines(s, &use);
	for (size_t i = 0; i < use.n_inputs; i++) {
		struct metric_input *input = &use.inputs[i];

		if (input->source == METRIC_COUNT && input->name->counted &&
		    (input->line == SIZE_MAX || s->lines[input->line].group != s->lines[anchor].group))
			use.together = false;
		if (input->source == METRIC_COUNT && input->line != SIZE_MAX &&
		    metric_line_is_clock(&s->lines[input->line]))
			input->source = METRIC_CLOCK;
	}
	return use;
}

static void add_use(struct metric_uses *uses, const struct metric_use *use)
{
	VEC_GROW(uses->v, uses->n, uses->cap);
	uses->v[uses->n++] = *use;
}

/* ---- the default metrics ---- */

struct presence {
	const struct metric_use *use;
	const struct metric_line *lines;
};

static bool has_line(const void *data, size_t input, double *value)
{
	const struct presence *presence = data;

	*value = 1;
	return presence->use->inputs[input].source == METRIC_ELAPSED ||
	       presence->use->inputs[input].line != SIZE_MAX;
}

unsigned metric_n_sources(const struct metric_use *use, const struct metric_line *lines, size_t input)
{
	size_t line = use->inputs[input].line;

	return line == SIZE_MAX || !lines[line].supported ? 0 : lines[line].n_sources;
}

static unsigned n_sources(const void *data, size_t input)
{
	const struct presence *presence = data;

	return metric_n_sources(presence->use, presence->lines, input);
}

static void add_complete(struct metric_uses *uses, const struct metric *metric,
			 const struct metric_search *s, size_t line)
{
	struct metric_use use = make_use(uses, metric, s, line);
	struct presence presence = { &use, s->lines };

	if (expr_has_inputs(use.expr, &(struct expr_inputs){ has_line, n_sources, &presence }))
		add_use(uses, &use);
	else
		free(use.inputs);
}

static bool line_is(const struct metric_line *line, const char *text)
{
	struct expr_name name = { text, strlen(text), true };

	return line->kind == EVENT_KERNEL && metric_attr_is(line->asked, &name);
}

/* Its own ones, or else its rate. */
static void bind_default(struct metric_uses *uses, const struct metric_search *s, size_t line)
{
	bool has_own = false;

	for (size_t m = 0; m < n_metrics; m++) {
		if (!metrics[m].beside || !line_is(&s->lines[line], metrics[m].beside))
			continue;
		has_own = true;
		add_complete(uses, &metrics[m], s, line);
	}
	if (!has_own)
		add_complete(uses, &metric_rate, s, line);
}

/* ---- chosen metrics ---- */

/* Beside which event it stands: for each core type once, where its events are of core types. */
static struct metric_input anchor_of(const struct metric *metric, const struct expr *expr,
				     struct expr_name *beside)
{
	struct metric_input first = { .name = NULL };

	if (metric->beside) {
		*beside = (struct expr_name){ metric->beside, strlen(metric->beside), true };
		return (struct metric_input){ .name = beside, .events = metric_events_called(beside) };
	}

	for (size_t i = 0; i < expr_n_names(expr); i++) {
		const struct expr_name *name = expr_name(expr, i);
		struct metric_input input = { .name = name, .events = metric_events_called(name) };

		if (!metric_name_is_event(name) || !input.events)
			continue;
		if (metric_events[__builtin_ctzll(input.events)].type != PERF_TYPE_SOFTWARE)
			return input;
		first = first.name ? first : input;
	}
	return first;
}

/* The use of the same metric in the same cgroup and on the same core type. */
static struct metric_use *find_rival(struct metric_uses *uses, const struct metric_use *use,
				     const struct metric_line *lines)
{
	const struct metric_line *line = &lines[use->line];

	for (size_t i = 0; i < uses->n; i++) {
		const struct metric_line *other = &lines[uses->v[i].line];

		if (uses->v[i].metric == use->metric && metric_same_cgroup(line->cgroup, other->cgroup) &&
		    line->core_type == other->core_type)
			return &uses->v[i];
	}
	return NULL;
}

/* It stands once: beside the event whose group has all its inputs, if there is one. */
static void bind_chosen(struct metric_uses *uses, const struct metric_search *s, const struct metric *metric)
{
	struct expr_name beside;
	struct metric_input anchor = anchor_of(metric, program_of(uses, metric), &beside);

	for (size_t i = 0; i < s->n_lines && anchor.name; i++) {
		struct metric_use use, *rival;

		if (s->lines[i].again || !metric_is_called(s, i, &anchor))
			continue;
		use = make_use(uses, metric, s, i);
		rival = find_rival(uses, &use, s->lines);
		if (!rival) {
			add_use(uses, &use);
		} else if (use.together && !rival->together) {
			free(rival->inputs);
			*rival = use;
		} else {
			free(use.inputs);
		}
	}
}

/* ---- all ---- */

static int compare_uses(const void *a, const void *b)
{
	const struct metric_use *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

static void forget_uses(struct metric_uses *uses)
{
	for (size_t i = 0; i < uses->n; i++)
		free(uses->v[i].inputs);
	uses->n = 0;
}

void metrics_bind(struct metric_uses *uses, const struct metric_line *lines, size_t n_lines,
		  const struct metric *const *chosen, size_t n_chosen)
{
	size_t *events = xcalloc(n_lines + 1, sizeof(*events));
	struct metric_search s = { lines, events, n_lines };

	for (size_t i = 0; i < n_lines; i++)
		events[i] = lines[i].kind == EVENT_KERNEL ? metric_event_of(lines[i].asked) : n_metric_events;
	forget_uses(uses);
	for (size_t i = 0; chosen && i < n_chosen; i++)
		bind_chosen(uses, &s, chosen[i]);
	for (size_t i = 0; !chosen && i < n_lines; i++)
		if (!lines[i].again)
			bind_default(uses, &s, i);
	if (uses->n)
		qsort(uses->v, uses->n, sizeof(*uses->v), compare_uses);
	free(events);
}

void metric_uses_release(struct metric_uses *uses)
{
	forget_uses(uses);
	free(uses->v);
	for (size_t i = 0; i < uses->n_programs; i++)
		expr_free(uses->programs[i].expr);
	free(uses->programs);
	*uses = (struct metric_uses){ 0 };
}
