/*
 * From the names in a formula to lines: which event of which group serves each input of a metric.
 *
 * Events are recognized by what they are (attr type and config), not by how they were typed: each line is
 * looked up in metric_events[] once, and from there on its row is what it is called by. The inputs
 * of one metric are of one cgroup, one core type and one mode (user, kernel): a ratio across these
 * means nothing. Where several lines fit, those win that were counted together: first with the line that the
 * metric stands beside, then with the most of the other inputs. Clocks run all the time and fit
 * everywhere.
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
size_t metric_event_of(const struct perf_event_attr *attr)
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
	size_t event = metric_event_of(attr);

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

struct metric_line metric_line_of(const struct event *event, const struct perf_event_attr *opened)
{
	struct metric_line line = {
		.kind = event->kind,
		.asked = &event->attr,
		.opened = opened,
		.n_sources = 1,
		.cgroup = event->cgroup,
		.group = event->leader,
		.leader = event->leader,
		.supported = true,
	};

	if (is_generic(&event->attr))
		line.core_type = (uint32_t)(event->attr.config >> CORE_TYPE_SHIFT);
	else if (event->pmu_is_core && event->cpus.n)
		line.core_type = event->attr.type;
	return line;
}

/* ---- the lines of one use ---- */

bool metric_line_is_hardware(const struct metric_line *line)
{
	return line->kind == EVENT_KERNEL && line->asked->type != PERF_TYPE_SOFTWARE;
}

bool metric_line_is_clock(const struct metric_line *line)
{
	return line->kind == EVENT_KERNEL && line->asked->type == PERF_TYPE_SOFTWARE &&
	       (line->asked->config == PERF_COUNT_SW_TASK_CLOCK ||
		line->asked->config == PERF_COUNT_SW_CPU_CLOCK);
}

bool metric_same_cgroup(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
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

bool metric_is_called(const struct metric_search *s, size_t line, const struct metric_input *input)
{
	return input->events >> s->events[line] & 1 && counts_modes(s->lines[line].opened, input->name);
}

/* May the use take the line for this input? */
static bool fits(const struct metric_search *s, const struct metric_use *use, unsigned pass, size_t at,
		 const struct metric_input *input)
{
	const struct metric_line *line = &s->lines[at], *core;

	if (!line->supported || !in_pass(line, pass) || !metric_is_called(s, at, input) ||
	    !metric_same_cgroup(line->cgroup, s->lines[use->line].cgroup))
		return false;
	if (use->core_line == SIZE_MAX || !metric_line_is_hardware(line))
		return true;
	core = &s->lines[use->core_line];
	return line->core_type == core->core_type &&
	       (event_length(input->name) < input->name->len || same_mode(line->opened, core->opened));
}

/* The line that says of which core type and mode the metric is: its own, or else the first that fits. */
static size_t find_core_line(const struct metric_search *s, const struct metric_use *use, unsigned pass)
{
	if (metric_line_is_hardware(&s->lines[use->line]))
		return use->line;
	for (size_t line = 0; line < s->n_lines; line++)
		for (size_t i = 0; i < use->n_inputs && metric_line_is_hardware(&s->lines[line]); i++)
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

/* In one pass, or in ANY_PASS; returns how many inputs have a line. */
static size_t find_inputs(const struct metric_search *s, struct metric_use *use, unsigned pass)
{
	struct fitting *fitting = xcalloc(use->n_inputs + 1, sizeof(*fitting));
	size_t *lines = xcalloc(use->n_inputs * s->n_lines + 1, sizeof(*lines)), found = 0;

	use->core_line = find_core_line(s, use, pass);
	for (size_t i = 0; i < use->n_inputs; i++) {
		struct metric_input *input = &use->inputs[i];
		bool own = input->source == METRIC_SELF || metric_is_called(s, use->line, input);

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

/* Those that there are all in one pass, if there is such a one: at best the event's own. */
void metric_find_lines(const struct metric_search *s, struct metric_use *use)
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
