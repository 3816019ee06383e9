/*
 * A metric's value at one place: its program runs over the amounts of its lines. Nothing is looked up here.
 *
 * CPU time on a machine with several core types: a task's clock also runs while it is on the other types, so a
 * count of one type is held against the time on that type, which its own counter knows.
 */
#include "stat/metric.h"

bool amount_is_whole(const struct amount *amount)
{
	return amount->state == COUNT_OK && amount->running_ns == amount->enabled_ns &&
	       !amount->cells_never_ran && !amount->cells_failed && !amount->cells_lost_pin &&
	       !amount->cells_stopped && !amount->cells_removed;
}

/* Where the count is not scaled, the time that it covers is its own. */
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

/* Of one core type, but held against what all types count, or against a time that is not known. */
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
		    !metric_line_is_hardware(&lines[input->line]))
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

		if (a == SIZE_MAX || !metric_line_is_hardware(&lines[a]) || amount_is_whole(&amounts[a]))
			continue;
		for (size_t k = 0; k < use->n_inputs; k++) {
			size_t b = use->inputs[k].line;

			if (b != SIZE_MAX && metric_line_is_hardware(&lines[b]) &&
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

	if (input->source == METRIC_ELAPSED) {
		*value = ev->elapsed_s;
		return true;
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

	return metric_n_sources(ev->use, ev->lines, at);
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
	struct evaluation ev = { use, lines, amounts, elapsed_s };
	struct expr_inputs inputs = { input_value, input_n_sources, &ev };

	*out = (struct stat_metric){ .name = metric->name,
				     .unit = metric->unit,
				     .decimals = metric->decimals };
	out->valid = expr_eval(use->expr, &inputs, &out->value) == EXPR_OK;
	if (metric->per_second)
		choose_prefix(out);
	if (!out->valid)
		return;
	out->mixed = is_mixed(use, lines, amounts);
	if (metric->look && out->value > metric->look)
		out->level = out->value > metric->bad ? 2 : 1;
}
