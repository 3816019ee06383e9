/*
 * Metrics: which formulas apply to the events of a run, and their values at one place.
 *
 * Events are recognized by what was opened (attr type and config), not by how they were typed. The
 * inputs of one metric are of one cgroup, one core type and one mode (user, kernel): a ratio across
 * these means nothing. Where several events fit, one of the same group wins: it was counted at the
 * same time. Clocks run all the time and fit everywhere.
 *
 * Two names are no events: `elapsed` is the wall time in seconds, `self` the line the metric stands
 * beside (in its own unit).
 */
#include "stat/metric.h"

#include <limits.h>
#include <stdlib.h>

/* Generic events of hybrid machines have the core PMU's type in the upper half of config. */
#define CORE_TYPE_SHIFT 32

static bool is_name(const struct metric_input *input, const char *name)
{
	return strlen(name) == input->len && !memcmp(name, input->name, input->len);
}

/* ---- which line is meant by a name ---- */

static uint64_t core_type(const struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_HARDWARE && attr->type != PERF_TYPE_HW_CACHE)
		return 0;
	return attr->config >> CORE_TYPE_SHIFT;
}

static bool is_event(const struct metric_event *event, const struct perf_event_attr *attr)
{
	return attr->type == event->type &&
	       (attr->config ^ core_type(attr) << CORE_TYPE_SHIFT) == event->config;
}

static bool is_software(const struct metric_line *line)
{
	return line->kind != EVENT_KERNEL || line->attr->type == PERF_TYPE_SOFTWARE;
}

static bool same_cgroup(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_mode(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv && a->exclude_host == b->exclude_host &&
	       a->exclude_idle == b->exclude_idle;
}

/* "cycles:k": the letters after the colon are exactly the modes that are counted. */
static bool has_modes(const struct perf_event_attr *attr, const char *letters, size_t len)
{
	return (memchr(letters, 'u', len) == NULL) == attr->exclude_user &&
	       (memchr(letters, 'k', len) == NULL) == attr->exclude_kernel;
}

/* May `line` be an input of a metric beside `anchor`? modes: the name itself says which. */
static bool fits_beside(const struct metric_line *line, const struct metric_line *anchor,
			bool modes)
{
	if (!line->supported || !same_cgroup(line->cgroup, anchor->cgroup))
		return false;
	if (is_software(line) || is_software(anchor))
		return true;
	return core_type(line->attr) == core_type(anchor->attr) &&
	       (modes || same_mode(line->attr, anchor->attr));
}

/* Does an event of this attr answer to the input's name, by row `event` of metric_events[]? */
static bool answers(const struct metric_event *event, const struct metric_input *input,
		    const struct perf_event_attr *attr)
{
	const char *colon = memchr(input->name, ':', input->len);
	size_t len = colon ? (size_t)(colon - input->name) : input->len;

	if (!is_event(event, attr) || strlen(event->name) != len ||
	    memcmp(event->name, input->name, len))
		return false;
	return !colon || has_modes(attr, colon + 1, input->len - len - 1);
}

bool metric_attr_is(const struct perf_event_attr *attr, const struct metric_input *input)
{
	for (size_t i = 0; i < n_metric_events; i++)
		if (answers(&metric_events[i], input, attr))
			return true;
	return false;
}

#define ANY_PASS UINT_MAX

static bool in_pass(const struct metric_line *line, unsigned pass)
{
	return pass == ANY_PASS || line->pass == pass;
}

static bool line_is(const struct metric_line *line, const struct metric_input *input)
{
	return line->kind == EVENT_KERNEL && metric_attr_is(line->attr, input);
}

/* In one pass, or in ANY_PASS. */
static size_t find_input(const struct metric_input *input, const struct metric_line *lines,
			 size_t n_lines, size_t anchor, unsigned pass)
{
	bool modes = memchr(input->name, ':', input->len);
	size_t found = SIZE_MAX;

	if (is_name(input, "self") || line_is(&lines[anchor], input)) {
		if (in_pass(&lines[anchor], pass))
			return anchor;
		if (is_name(input, "self"))
			return SIZE_MAX;
	}
	for (size_t e = 0; e < n_metric_events && found == SIZE_MAX; e++) {
		for (size_t i = 0; i < n_lines; i++) {
			if (lines[i].kind != EVENT_KERNEL ||
			    !in_pass(&lines[i], pass) ||
			    !answers(&metric_events[e], input, lines[i].attr) ||
			    !fits_beside(&lines[i], &lines[anchor], modes))
				continue;
			if (lines[i].group == lines[anchor].group)
				return i;
			if (found == SIZE_MAX)
				found = i;
		}
	}
	return found;
}

/* ---- the names of a formula ---- */

/* An expr_lookup_fn that only takes down the event names, each once. */
static bool note_name(void *data, const char *name, size_t len, double *value)
{
	struct metric_names *list = data;
	struct metric_input input = { .name = name, .len = len, .line = SIZE_MAX };

	*value = 1;
	if (is_name(&input, "elapsed"))
		return true;
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].len == len && !memcmp(list->v[i].name, name, len))
			return true;
	if (list->n < METRIC_MAX_INPUTS)
		list->v[list->n++] = input;
	return true;
}

void metric_names(const struct metric *metric, struct metric_names *list)
{
	double ignored;

	list->n = 0;
	expr_eval(metric->formula, note_name, list, &ignored);
}

static const struct metric_input *use_input(const struct metric_use *use, const char *name,
					    size_t len)
{
	for (size_t i = 0; i < use->n_inputs; i++)
		if (use->inputs[i].len == len && !memcmp(use->inputs[i].name, name, len))
			return &use->inputs[i];
	return NULL;
}

/* An expr_lookup_fn: is there a line for each name? The values don't matter. */
static bool has_line(void *data, const char *name, size_t len, double *value)
{
	const struct metric_input *input = use_input(data, name, len);

	*value = 1;
	return !input || input->line != SIZE_MAX;
}

/* ---- binding ---- */

static size_t find_inputs(struct metric_use *use, const struct metric_line *lines, size_t n_lines,
			  unsigned pass)
{
	size_t found = 0;

	for (size_t i = 0; i < use->n_inputs; i++) {
		use->inputs[i].line = find_input(&use->inputs[i], lines, n_lines, use->line, pass);
		found += use->inputs[i].line != SIZE_MAX;
	}
	return found;
}

/* Those that there are all in one pass, if there is such a one: at best the event's own. */
static void choose_pass(struct metric_use *use, const struct metric_line *lines, size_t n_lines)
{
	size_t all = find_inputs(use, lines, n_lines, ANY_PASS);
	unsigned last = 0;

	if (find_inputs(use, lines, n_lines, lines[use->line].pass) == all)
		return;
	for (size_t i = 0; i < n_lines; i++)
		last = lines[i].pass > last ? lines[i].pass : last;
	for (unsigned pass = 0; pass <= last; pass++)
		if (find_inputs(use, lines, n_lines, pass) == all)
			return;
	find_inputs(use, lines, n_lines, ANY_PASS);
}

static struct metric_use make_use(const struct metric *metric, const struct metric_names *names,
				  const struct metric_line *lines, size_t n_lines, size_t anchor)
{
	struct metric_use use = { .metric = metric, .line = anchor, .together = true };

	memcpy(use.inputs, names->v, sizeof(use.inputs));
	use.n_inputs = names->n;
	choose_pass(&use, lines, n_lines);
	for (size_t i = 0; i < use.n_inputs; i++) {
		size_t line = use.inputs[i].line;

		if (line == SIZE_MAX || lines[line].group != lines[anchor].group)
			use.together = false;
	}
	return use;
}

static bool is_complete(struct metric_use *use)
{
	double ignored;

	return expr_eval(use->metric->formula, has_line, use, &ignored) < EXPR_MISSING;
}

static void add_use(struct metric_uses *uses, const struct metric_use *use)
{
	VEC_GROW(uses->v, uses->n, uses->cap);
	uses->v[uses->n++] = *use;
}

static struct metric_input anchor_name(const struct metric *metric,
				       const struct metric_names *names)
{
	if (metric->beside)
		return (struct metric_input){ metric->beside, strlen(metric->beside), SIZE_MAX };
	return names->v[0];
}

/* The default metrics of one line: its own ones, or else its rate. */
static void bind_default(struct metric_uses *uses, const struct metric_line *lines, size_t n_lines,
			 size_t line)
{
	bool has_own = false;
	struct metric_names names;
	struct metric_use use;

	for (size_t m = 0; m < n_metrics; m++) {
		struct metric_input beside;

		if (!metrics[m].beside)
			continue;
		beside = anchor_name(&metrics[m], NULL);
		if (!line_is(&lines[line], &beside))
			continue;
		has_own = true;
		metric_names(&metrics[m], &names);
		use = make_use(&metrics[m], &names, lines, n_lines, line);
		if (is_complete(&use))
			add_use(uses, &use);
	}
	if (has_own)
		return;
	metric_names(&metric_rate, &names);
	use = make_use(&metric_rate, &names, lines, n_lines, line);
	if (is_complete(&use))
		add_use(uses, &use);
}

/* The use of the same metric in the same cgroup and on the same core type. */
static struct metric_use *find_rival(struct metric_uses *uses, const struct metric_use *use,
				     const struct metric_line *lines)
{
	const struct metric_line *line = &lines[use->line];

	for (size_t i = 0; i < uses->n; i++) {
		const struct metric_line *other = &lines[uses->v[i].line];

		if (uses->v[i].metric == use->metric && same_cgroup(line->cgroup, other->cgroup) &&
		    core_type(line->attr) == core_type(other->attr))
			return &uses->v[i];
	}
	return NULL;
}

/* A chosen metric stands once: beside the event whose group has all its inputs, if there is one. */
static void bind_chosen(struct metric_uses *uses, const struct metric_line *lines, size_t n_lines,
			const struct metric *metric)
{
	struct metric_names names;
	struct metric_input anchor;

	metric_names(metric, &names);
	anchor = anchor_name(metric, &names);
	for (size_t i = 0; i < n_lines; i++) {
		struct metric_use use, *rival;

		if (lines[i].again || !line_is(&lines[i], &anchor))
			continue;
		use = make_use(metric, &names, lines, n_lines, i);
		rival = find_rival(uses, &use, lines);
		if (!rival)
			add_use(uses, &use);
		else if (use.together && !rival->together)
			*rival = use;
	}
}

static int compare_uses(const void *a, const void *b)
{
	const struct metric_use *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

void metrics_bind(struct metric_uses *uses, const struct metric_line *lines, size_t n_lines,
		  const struct metric *const *chosen, size_t n_chosen)
{
	uses->n = 0;
	for (size_t i = 0; chosen && i < n_chosen; i++)
		bind_chosen(uses, lines, n_lines, chosen[i]);
	for (size_t i = 0; !chosen && i < n_lines; i++)
		if (!lines[i].again)
			bind_default(uses, lines, n_lines, i);
	if (uses->n)
		qsort(uses->v, uses->n, sizeof(*uses->v), compare_uses);
}

void metric_uses_release(struct metric_uses *uses)
{
	free(uses->v);
	*uses = (struct metric_uses){ 0 };
}

/* ---- values ---- */

bool amount_is_whole(const struct amount *amount)
{
	return amount->state == COUNT_OK && amount->running_ns == amount->enabled_ns &&
	       !amount->cells_never_ran && !amount->cells_failed && !amount->cells_lost_pin &&
	       !amount->cells_stopped;
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

/*
 * Counted at different times: in different passes, or an input has gaps that one of another group does
 * not share.
 */
static bool is_mixed(const struct metric_use *use, const struct metric_line *lines,
		     const struct amount *amounts)
{
	if (is_of_passes(use, lines))
		return true;
	for (size_t i = 0; i < use->n_inputs; i++) {
		size_t a = use->inputs[i].line;

		if (a == SIZE_MAX || is_software(&lines[a]) || amount_is_whole(&amounts[a]))
			continue;
		for (size_t k = 0; k < use->n_inputs; k++) {
			size_t b = use->inputs[k].line;

			if (b != SIZE_MAX && !is_software(&lines[b]) &&
			    lines[a].leader != lines[b].leader)
				return true;
		}
	}
	return false;
}

struct evaluation {
	const struct metric_use *use;
	const struct amount *amounts;
	double elapsed_s;
};

static bool look_up(void *data, const char *name, size_t len, double *value)
{
	const struct evaluation *ev = data;
	const struct metric_input *input = use_input(ev->use, name, len);
	const struct amount *amount;

	if (!input) {
		*value = ev->elapsed_s;
		return true;
	}
	if (input->line == SIZE_MAX)
		return false;
	amount = &ev->amounts[input->line];
	*value = is_name(input, "self") ? amount->value : amount->mean;
	return amount->there && amount->state == COUNT_OK;
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

void metric_eval(const struct metric_use *use, const struct metric_line *lines,
		 const struct amount *amounts, double elapsed_s, struct stat_metric *out)
{
	const struct metric *metric = use->metric;
	struct evaluation ev = { use, amounts, elapsed_s };

	*out = (struct stat_metric){ .name = metric->name,
				     .unit = metric->unit,
				     .decimals = metric->decimals };
	out->valid = expr_eval(metric->formula, look_up, &ev, &out->value) == EXPR_OK;
	if (metric->per_second)
		choose_prefix(out);
	if (!out->valid)
		return;
	out->mixed = is_mixed(use, lines, amounts);
	if (metric->look && out->value > metric->look)
		out->level = out->value > metric->bad ? 2 : 1;
}
