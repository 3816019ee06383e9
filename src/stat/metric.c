/* SPDX-License-Identifier: MIT */
/*
 * The numbers beside rows, from formulas (metric_table.c): which events serve the inputs of a metric, beside which rows
 * it stands, and its value at one place.
 *
 *	names in a formula --lines of events--> inputs --metrics_bind, once--> uses --metric_eval, each report--> values
 *
 * Events are recognized by what they are (attr type and config), not by how they were typed: each line is looked up in
 * metric_events[] once, and from there on its row is what it is called by. The inputs of one metric are of one cgroup,
 * one core type and one mode (user, kernel): a ratio across these means nothing. Where several lines fit, those win
 * that were counted together: first with the line that the metric stands beside, then with the most of the other
 * inputs. Clocks run all the time and fit everywhere.
 *
 * Default metrics stand where all that they need is counted; those that were chosen stand once for each core type and
 * cgroup. CPU time on a machine with several core types: a task's clock also runs while it is on the other types, so a
 * count of one type is held against the time on that type, which its own counter knows.
 */
#include "stat/metric.h"

#include <limits.h>
#include <stdlib.h>

/* Generic events of hybrid machines have the core PMU's type in the upper half of config. */
#define CORE_TYPE_SHIFT 32

/* ---- which event is meant by a name ---- */

static bool is_generic(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* Index in metric_events[]; n_metric_events: no formula knows this event. */
static size_t event_of(const struct perf_event_attr *attr)
{
	uint64_t config = is_generic(attr) ? (uint32_t)attr->config : attr->config;
	size_t i = 0;

	while (i < n_metric_events &&
	       (metric_events[i].type != attr->type || metric_events[i].config != config))
		i++;
	return i;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(word, text, len);
}

enum metric_source metric_source_of(const struct expr_name *name)
{
	if (is_word(name->text, name->len, "elapsed"))
		return METRIC_ELAPSED;
	return is_word(name->text, name->len, "self") ? METRIC_SELF : METRIC_COUNT;
}

bool metric_name_is_event(const struct expr_name *name)
{
	return name->counted && metric_source_of(name) == METRIC_COUNT;
}

/* Length without ":u" and the like. */
static size_t event_length(const struct expr_name *name)
{
	const char *colon = memchr(name->text, ':', name->len);

	return colon ? (size_t)(colon - name->text) : name->len;
}

/* "cycles:k": the letters after the colon are exactly the modes that are counted. */
static bool counts_modes(const struct perf_event_attr *attr, const struct expr_name *name)
{
	size_t len = event_length(name);
	const char *letters = name->text + len;

	len = name->len - len;
	return !len || ((memchr(letters, 'u', len) == NULL) == attr->exclude_user &&
			(memchr(letters, 'k', len) == NULL) == attr->exclude_kernel);
}

bool metric_attr_is(const struct perf_event_attr *attr, const struct expr_name *name)
{
	size_t event = event_of(attr);

	return event < n_metric_events && counts_modes(attr, name) &&
	       is_word(name->text, event_length(name), metric_events[event].name);
}

uint64_t metric_events_called(const struct expr_name *name)
{
	uint64_t events = 0;

	for (size_t i = 0; i < n_metric_events; i++)
		if (is_word(name->text, event_length(name), metric_events[i].name))
			events |= UINT64_C(1) << i;
	return events;
}

static bool same_cpus(const struct intset *a, const struct intset *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->v, b->v, a->n * sizeof(*a->v)));
}

static bool same_attr(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel && a->exclude_hv == b->exclude_hv;
}

bool metric_word_means(const struct metric_word *word, const struct perf_event_attr *attr, const struct intset *cpus)
{
	size_t i = 0;

	while (i < word->n_attrs && !same_attr(attr, &word->attrs[i]))
		i++;
	return i < word->n_attrs && same_cpus(cpus, &word->cpus);
}

struct metric_line metric_line_of(const struct event *event, const struct perf_event_attr *opened)
{
	struct metric_line line = {
		.kind = event->kind,
		.asked = &event->attr,
		.opened = opened,
		.n_sources = 1,
		.cgroup = event->cgroup,
		.cpus = &event->terms.cpus,
		.group = event->leader,
		.leader = event->leader,
		.supported = true,
	};

	line.is_apart = event_is_moved(event) || (event->attr.type >= PERF_TYPE_MAX && !event->pmu_is_core);
	if (is_generic(&event->attr))
		line.core_type = (uint32_t)(event->attr.config >> CORE_TYPE_SHIFT);
	else if (event->pmu_is_core && event->cpus.n)
		line.core_type = event->attr.type;
	return line;
}

/* ---- the lines of one use ---- */

/* The lines among which a use looks for its own. */
struct metric_search {
	const struct metric_line *lines;
	const size_t *events; /* by line: event_of() */
	size_t n_lines;
};

static bool is_hardware(const struct metric_line *line)
{
	return line->kind == EVENT_KERNEL && line->asked->type != PERF_TYPE_SOFTWARE;
}

static bool is_of_core(const struct metric_line *line)
{
	return is_hardware(line) && !line->is_apart;
}

static bool is_clock(const struct metric_line *line)
{
	return line->kind == EVENT_KERNEL && line->asked->type == PERF_TYPE_SOFTWARE &&
	       (line->asked->config == PERF_COUNT_SW_TASK_CLOCK ||
		line->asked->config == PERF_COUNT_SW_CPU_CLOCK);
}

static bool same_mode(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv && a->exclude_host == b->exclude_host &&
	       a->exclude_idle == b->exclude_idle;
}

#define ANY_PASS UINT_MAX

static bool in_pass(const struct metric_line *line, unsigned pass)
{
	return pass == ANY_PASS || line->pass == pass;
}

static bool is_called(const struct metric_search *s, size_t line, const struct metric_input *input)
{
	if (input->word)
		return s->lines[line].kind == EVENT_KERNEL &&
		       metric_word_means(input->word, s->lines[line].asked, s->lines[line].cpus);
	return input->events >> s->events[line] & 1 && counts_modes(s->lines[line].opened, input->name);
}

/* May the use take the line for this input? */
static bool fits(const struct metric_search *s, const struct metric_use *use, unsigned pass, size_t at,
		 const struct metric_input *input)
{
	const struct metric_line *line = &s->lines[at], *core;

	if (!line->supported || !in_pass(line, pass) || !is_called(s, at, input) ||
	    !text_same(line->cgroup, s->lines[use->line].cgroup) ||
	    (!input->word && !same_cpus(line->cpus, s->lines[use->line].cpus)))
		return false;
	if (use->core_line == SIZE_MAX || !is_of_core(line))
		return true;
	core = &s->lines[use->core_line];
	return line->core_type == core->core_type &&
	       (event_length(input->name) < input->name->len || same_mode(line->opened, core->opened));
}

/* The line that says of which core type and mode the metric is: its own, or else the first that fits. */
static size_t find_core_line(const struct metric_search *s, const struct metric_use *use, unsigned pass)
{
	if (is_of_core(&s->lines[use->line]))
		return use->line;
	for (size_t line = 0; line < s->n_lines; line++)
		for (size_t i = 0; i < use->n_inputs && is_of_core(&s->lines[line]); i++)
			if (fits(s, use, pass, line, &use->inputs[i]))
				return line;
	return SIZE_MAX;
}

/* Fills fitting with the lines that fit best: of the first row of metric_events[] that any is of. */
static size_t find_fitting(const struct metric_search *s, const struct metric_use *use, unsigned pass,
			   const struct metric_input *input, size_t *fitting)
{
	size_t best = n_metric_events, n = 0;

	for (size_t i = 0; i < s->n_lines; i++) {
		if (s->events[i] > best || !fits(s, use, pass, i, input))
			continue;
		if (s->events[i] < best)
			n = 0;
		best = s->events[i];
		fitting[n++] = i;
	}
	return n;
}

/* The lines that one input may take. */
struct fitting {
	size_t *v;
	size_t n;
};

static size_t first_of_group(const struct metric_search *s, const struct fitting *fitting, size_t leader)
{
	for (size_t i = 0; i < fitting->n; i++)
		if (s->lines[fitting->v[i]].leader == leader)
			return fitting->v[i];
	return SIZE_MAX;
}

/* Counted together with the anchor, or at least meant to be. */
static size_t first_beside(const struct metric_search *s, const struct fitting *fitting, size_t anchor)
{
	size_t found = first_of_group(s, fitting, s->lines[anchor].leader);

	for (size_t i = 0; i < fitting->n && found == SIZE_MAX; i++)
		if (s->lines[fitting->v[i]].group == s->lines[anchor].group)
			found = fitting->v[i];
	return found;
}

/* The leader of the group that has the most of the inputs without a line; SIZE_MAX: all have one. */
static size_t best_group(const struct metric_search *s, const struct metric_use *use,
			 const struct fitting *fitting)
{
	size_t best = SIZE_MAX, most = 0;

	for (size_t i = 0; i < use->n_inputs; i++) {
		for (size_t k = 0; use->inputs[i].line == SIZE_MAX && k < fitting[i].n; k++) {
			size_t leader = s->lines[fitting[i].v[k]].leader, n = 0;

			for (size_t other = i; other < use->n_inputs; other++)
				n += use->inputs[other].line == SIZE_MAX &&
				     first_of_group(s, &fitting[other], leader) != SIZE_MAX;
			if (n > most) {
				most = n;
				best = leader;
			}
		}
	}
	return best;
}

static void take_lines(const struct metric_search *s, struct metric_use *use, const struct fitting *fitting)
{
	size_t leader;

	for (size_t i = 0; i < use->n_inputs; i++)
		if (use->inputs[i].line == SIZE_MAX)
			use->inputs[i].line = first_beside(s, &fitting[i], use->line);
	while ((leader = best_group(s, use, fitting)) != SIZE_MAX)
		for (size_t i = 0; i < use->n_inputs; i++)
			if (use->inputs[i].line == SIZE_MAX)
				use->inputs[i].line = first_of_group(s, &fitting[i], leader);
}

/* Finds lines of one pass, or of ANY_PASS; returns how many inputs have a line. */
static size_t find_inputs(const struct metric_search *s, struct metric_use *use, unsigned pass)
{
	struct fitting *fitting = xcalloc(use->n_inputs + 1, sizeof(*fitting));
	size_t *lines = xcalloc(use->n_inputs * s->n_lines + 1, sizeof(*lines)), found = 0;

	use->core_line = find_core_line(s, use, pass);
	for (size_t i = 0; i < use->n_inputs; i++) {
		struct metric_input *input = &use->inputs[i];
		bool own = input->source == METRIC_SELF || is_called(s, use->line, input);

		input->line = own && in_pass(&s->lines[use->line], pass) ? use->line : SIZE_MAX;
		fitting[i].v = lines + i * s->n_lines;
		fitting[i].n = find_fitting(s, use, pass, input, fitting[i].v);
	}
	take_lines(s, use, fitting);
	for (size_t i = 0; i < use->n_inputs; i++)
		found += use->inputs[i].name->counted && use->inputs[i].line != SIZE_MAX;
	free(lines);
	free(fitting);
	return found;
}

/* Sets core_line, and line of all inputs: of one pass, if there is one that has them all; at best the event's own. */
static void find_lines(const struct metric_search *s, struct metric_use *use)
{
	size_t all = find_inputs(s, use, ANY_PASS);
	unsigned last = 0;

	for (size_t i = 0; i < s->n_lines; i++)
		last = s->lines[i].pass > last ? s->lines[i].pass : last;
	if (!last || find_inputs(s, use, s->lines[use->line].pass) == all)
		return;
	for (unsigned pass = 0; pass <= last; pass++)
		if (find_inputs(s, use, pass) == all)
			return;
	find_inputs(s, use, ANY_PASS);
}

/* ---- one use: a metric beside a line ---- */

struct metric_program {
	const struct metric *metric;
	struct expr *expr;
};

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
		if (use->metric->is_made) {
			use->inputs[i].word = metric_made_word(use->metric, i);
			use->inputs[i].source = use->inputs[i].word->source;
		}
	}
}

/* Formulas of the table are right: a test compiles them all. */
static const struct expr *program_of(struct metric_uses *uses, const struct metric *metric)
{
	if (metric->is_made)
		return metric_made_expr(metric);
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
	find_lines(s, &use);
	for (size_t i = 0; i < use.n_inputs; i++) {
		struct metric_input *input = &use.inputs[i];

		if (input->source == METRIC_COUNT && input->name->counted &&
		    (input->line == SIZE_MAX || s->lines[input->line].group != s->lines[anchor].group))
			use.together = false;
		if (input->source == METRIC_COUNT && input->line != SIZE_MAX &&
		    is_clock(&s->lines[input->line]))
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

static unsigned n_sources_of(const struct metric_use *use, const struct metric_line *lines, size_t input)
{
	size_t line = use->inputs[input].line;

	return line == SIZE_MAX || !lines[line].supported ? 0 : lines[line].n_sources;
}

static unsigned n_sources(const void *data, size_t input)
{
	const struct presence *presence = data;

	return n_sources_of(presence->use, presence->lines, input);
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

/* Binds the line's own metrics, or else its rate. */
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

/* The event beside which a metric stands: for each core type once, where its events are of core types. */
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

		if (metric->is_made) {
			input.word = metric_made_word(metric, i);
			if (input.word->n_attrs && name->counted && (input.word->is_core || !first.name))
				first = input;
			if (first.name && first.word->is_core)
				return first;
			continue;
		}
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

		if (uses->v[i].metric == use->metric && text_same(line->cgroup, other->cgroup) &&
		    line->core_type == other->core_type)
			return &uses->v[i];
	}
	return NULL;
}

/* A chosen metric stands once: beside the event whose group has all its inputs, if there is one. */
static void bind_chosen(struct metric_uses *uses, const struct metric_search *s, const struct metric *metric)
{
	struct expr_name beside;
	struct metric_input anchor = anchor_of(metric, program_of(uses, metric), &beside);

	for (size_t i = 0; i < s->n_lines && anchor.name; i++) {
		struct metric_use use, *rival;

		if (s->lines[i].again || !is_called(s, i, &anchor))
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
	if (x->metric->is_made != y->metric->is_made)
		return x->metric->is_made ? 1 : -1;
	if (x->metric->is_made)
		return (x->metric->number > y->metric->number) - (x->metric->number < y->metric->number);
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
		events[i] = lines[i].kind == EVENT_KERNEL ? event_of(lines[i].asked) : n_metric_events;
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

/* ---- values ---- */

static bool is_whole(const struct amount *amount)
{
	return amount->state == COUNT_OK && amount->running_ns == amount->enabled_ns &&
	       !amount->cells_never_ran && !amount->cells_failed && !amount->cells_lost_pin &&
	       !amount->cells_stopped && !amount->cells_removed;
}

/* A count that is not scaled covers the counter's own time. */
static double time_on_core_type(const struct amount *amount)
{
	bool unscaled = amount->cells_unscaled && amount->cells_unscaled == amount->cells;

	return (double)(unscaled ? amount->running_ns : amount->enabled_ns);
}

static bool is_of_core_type(const struct metric_use *use, const struct metric_line *lines)
{
	return use->core_line != SIZE_MAX && lines[use->core_line].core_type;
}

static bool is_of_passes(const struct metric_use *use, const struct metric_line *lines)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < use->n_inputs; i++) {
		size_t line = use->inputs[i].line;

		first = first == SIZE_MAX ? line : first;
		if (line != SIZE_MAX && lines[line].pass != lines[first].pass)
			return true;
	}
	return false;
}

/* Is a count of one core type held against a count of all types, or against a time that is not known? */
static bool is_across_core_types(const struct metric_use *use, const struct metric_line *lines,
				 const struct amount *amounts)
{
	const struct amount *core;

	if (!is_of_core_type(use, lines))
		return false;
	core = &amounts[use->core_line];
	for (size_t i = 0; i < use->n_inputs; i++) {
		const struct metric_input *input = &use->inputs[i];

		if (input->source == METRIC_CLOCK && core->cells_unscaled &&
		    core->cells_unscaled < core->cells)
			return true;
		if (input->source == METRIC_COUNT && input->line != SIZE_MAX &&
		    !is_hardware(&lines[input->line]))
			return true;
	}
	return false;
}

/*
 * Counted at different times: in different passes, or an input has gaps that one of another group does
 * not share; or on other cores.
 */
static bool is_mixed(const struct metric_use *use, const struct metric_line *lines,
		     const struct amount *amounts)
{
	if (is_of_passes(use, lines) || is_across_core_types(use, lines, amounts))
		return true;
	for (size_t i = 0; i < use->n_inputs; i++) {
		size_t a = use->inputs[i].line;

		if (a == SIZE_MAX || !is_hardware(&lines[a]) || is_whole(&amounts[a]))
			continue;
		for (size_t k = 0; k < use->n_inputs; k++) {
			size_t b = use->inputs[k].line;

			if (b != SIZE_MAX && is_hardware(&lines[b]) &&
			    lines[a].leader != lines[b].leader)
				return true;
		}
	}
	return false;
}

struct evaluation {
	const struct metric_use *use;
	const struct metric_line *lines;
	const struct amount *amounts;
	double elapsed_s;
};

static bool is_counted(const struct amount *amount)
{
	return amount->there && amount->state == COUNT_OK;
}

static bool input_value(const void *data, size_t at, double *value)
{
	const struct evaluation *ev = data;
	const struct metric_input *input = &ev->use->inputs[at];
	const struct amount *amount;

	switch (input->source) {
	case METRIC_ELAPSED:
	case METRIC_ELAPSED_NS:
		*value = ev->elapsed_s * (input->source == METRIC_ELAPSED ? 1 : 1e9);
		return true;
	case METRIC_FACT:
		*value = input->word->fact;
		return true;
	case METRIC_UNKNOWN:
		return false;
	default:
		break;
	}
	if (input->line == SIZE_MAX)
		return false;
	amount = &ev->amounts[input->line];
	*value = input->source == METRIC_SELF ? amount->value : amount->mean;
	if (input->source == METRIC_CLOCK && is_of_core_type(ev->use, ev->lines)) {
		amount = &ev->amounts[ev->use->core_line];
		*value = time_on_core_type(amount);
	}
	return is_counted(amount);
}

static unsigned input_n_sources(const void *data, size_t at)
{
	const struct evaluation *ev = data;
	const struct metric_input *input = &ev->use->inputs[at];

	/* An event that is not counted for the formula may be there all the same. */
	if (input->word && input->line == SIZE_MAX)
		return input->word->n_attrs > 0;
	return n_sources_of(ev->use, ev->lines, at);
}

/* 1248 /sec -> 1.248 K/sec; a thousand itself stays as it is, as perf has it. */
static void choose_prefix(struct stat_metric *m)
{
	static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
	size_t i = 0;

	while (m->value > 1000 && i + 1 < ARRAY_SIZE(units)) {
		m->value /= 1000;
		i++;
	}
	m->unit = units[i];
}

bool metric_value(const struct metric_use *use, const struct metric_line *lines, const struct amount *amounts,
		  double elapsed_s, double *value)
{
	struct evaluation ev = { use, lines, amounts, elapsed_s };
	struct expr_inputs inputs = { input_value, input_n_sources, &ev };

	if (expr_eval(use->expr, &inputs, value) != EXPR_OK)
		return false;
	if (use->metric->is_made)
		*value *= use->metric->scale;
	return true;
}

static bool is_beyond(const struct metric_use *use, const struct metric_line *lines, const struct amount *amounts,
		      double elapsed_s)
{
	struct evaluation ev = { use, lines, amounts, elapsed_s };

	return expr_is_beyond(use->expr, &(struct expr_inputs){ input_value, input_n_sources, &ev });
}

void metric_eval(const struct metric_use *use, const struct metric_line *lines,
		 const struct amount *amounts, double elapsed_s, struct stat_metric *out)
{
	const struct metric *metric = use->metric;

	*out = (struct stat_metric){ .name = metric->name,
				     .unit = metric->unit,
				     .decimals = metric->decimals };
	out->valid = metric_value(use, lines, amounts, elapsed_s, &out->value);
	if (metric->per_second)
		choose_prefix(out);
	if (!out->valid)
		return;
	out->mixed = is_mixed(use, lines, amounts);
	if (metric->look && out->value > metric->look)
		out->level = out->value > metric->bad ? 2 : 1;
	if (metric->is_made && is_beyond(use, lines, amounts, elapsed_s))
		out->level = 2;
}
