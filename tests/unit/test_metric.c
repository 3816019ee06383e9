/* SPDX-License-Identifier: MIT */
/* Metrics: which stand beside which event, their values, what makes them invalid or mixed. */
#include "stat/metric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_LINES = 16 };

struct scene {
	struct event events[MAX_LINES];
	struct metric_line lines[MAX_LINES];
	struct amount amounts[MAX_LINES];
	size_t n;
	struct metric_uses uses;
	double elapsed_s;
};

/* An event by a name of metric_events[], counted all the time. */
static size_t add(struct scene *s, const char *name, uint64_t count)
{
	size_t i = s->n++;

	assert_true(i < MAX_LINES);
	for (size_t e = n_metric_events; e--;) {
		if (!strcmp(metric_events[e].name, name)) {
			s->events[i].attr.type = metric_events[e].type;
			s->events[i].attr.config = metric_events[e].config;
		}
	}
	if (!strcmp(name, "other"))
		s->events[i].attr =
			(struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT, .config = 5 };
	s->events[i].leader = i;
	s->lines[i] = metric_line_of(&s->events[i], &s->events[i].attr);
	s->amounts[i] = (struct amount){ .there = true,
					 .count = count,
					 .mean = (double)count,
					 .value = (double)count,
					 .enabled_ns = 100,
					 .running_ns = 100,
					 .cells = 1 };
	return i;
}

/* On the core type of that PMU, with a counter that ran while the target was there. */
static void put_on(struct scene *s, size_t line, uint32_t core_type)
{
	s->events[line].attr.config |= (uint64_t)core_type << 32;
	s->lines[line] = metric_line_of(&s->events[line], &s->events[line].attr);
}

/* The lines from `first` on are a group, also as opened. */
static void group_from(struct scene *s, size_t first)
{
	for (size_t i = first; i < s->n; i++)
		s->lines[i].group = s->lines[i].leader = first;
}

static void bind(struct scene *s, const struct metric *const *chosen, size_t n)
{
	metrics_bind(&s->uses, s->lines, s->n, chosen, n);
}

static struct stat_metric value_of(const struct scene *s, size_t use)
{
	struct stat_metric m;

	assert_true(use < s->uses.n);
	metric_eval(&s->uses.v[use], s->lines, s->amounts, s->elapsed_s, &m);
	return m;
}

static const struct metric *named(const char *name)
{
	for (size_t i = 0; i < n_metrics; i++)
		if (!strcmp(metrics[i].name, name))
			return &metrics[i];
	fail_msg("no metric '%s'", name);
	return NULL;
}

static void expect_metric(struct stat_metric m, double value, const char *unit, int decimals)
{
	assert_true(m.valid);
	assert_string_equal(m.unit, unit);
	assert_int_equal(m.decimals, decimals);
	if (m.value < value * 0.999999 || m.value > value * 1.000001)
		fail_msg("%g %s, not %g", m.value, unit, value);
}

/* ---- the table ---- */

static bool is_known(const struct expr_name *name)
{
	for (size_t i = 0; i < n_metric_events; i++) {
		struct perf_event_attr attr = { .type = metric_events[i].type,
						.config = metric_events[i].config };

		for (int mode = 0; mode < 3; mode++) {
			attr.exclude_user = mode == 1;
			attr.exclude_kernel = mode == 2;
			if (metric_attr_is(&attr, name))
				return true;
		}
	}
	return metric_source_of(name) != METRIC_COUNT;
}

static bool give_three(const void *data, size_t input, double *value)
{
	(void)data;
	(void)input;
	*value = 3;
	return true;
}

static unsigned give_one(const void *data, size_t input)
{
	(void)data;
	(void)input;
	return 1;
}

static void check_formula(const struct metric *m)
{
	struct expr *expr = expr_compile(m->formula);
	double v;

	if (!expr)
		fail_msg("%s: no formula: %s", m->name, m->formula);
	assert_int_equal(expr_eval(expr, &(struct expr_inputs){ give_three, give_one, NULL }, &v), EXPR_OK);
	for (size_t i = 0; i < expr_n_names(expr); i++)
		if (!is_known(expr_name(expr, i)))
			fail_msg("%s: '%s' is no event", m->name, expr_name(expr, i)->text);
	expr_free(expr);
}

static void test_table(void **state)
{
	(void)state;
	check_formula(&metric_rate);
	for (size_t i = 0; i < n_metrics; i++) {
		const struct metric *m = &metrics[i];

		check_formula(m);
		assert_true(m->group && m->desc && *m->desc && m->unit && *m->unit);
		assert_true(m->look <= m->bad);
		assert_true(!m->per_second || !strcmp(m->unit, "/sec"));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(m->name, metrics[k].name);
	}
}

static void test_required_metrics(void **state)
{
	static const char *const names[] = {
		"ipc",
		"cpi",
		"frequency",
		"branch-miss-rate",
		"cache-miss-rate",
		"l1d-miss-rate",
		"l1i-miss-rate",
		"llc-miss-rate",
		"dtlb-miss-rate",
		"itlb-miss-rate",
		"frontend-stalled",
		"backend-stalled",
		"stalled-per-insn",
		"cpus-utilized",
		"page-fault-rate",
		"context-switch-rate",
		"migration-rate",
		"kernel-share",
		"branch-mpki",
		"branch-share",
		"branch-rate",
		"l1d-prefetch-miss-rate",
		"cache-mpki",
	};

	(void)state;
	assert_int_equal(n_metrics, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_non_null(named(names[i]));
}

/* ---- default metrics ---- */

static void test_clock_and_rates(void **state)
{
	struct scene s = { .elapsed_s = 0.2 };

	(void)state;
	add(&s, "task-clock", 100000000);
	add(&s, "context-switches", 0);
	add(&s, "page-faults", 124);
	add(&s, "other", 100001);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 4);
	expect_metric(value_of(&s, 0), 0.5, "CPUs utilized", 3);
	expect_metric(value_of(&s, 1), 0, "/sec", 3);
	expect_metric(value_of(&s, 2), 1.24, "K/sec", 3);
	expect_metric(value_of(&s, 3), 1.00001, "M/sec", 3);
	s.amounts[2].value = 100; /* a thousand exactly keeps its unit */
	expect_metric(value_of(&s, 2), 1000, "/sec", 3);
	s.amounts[2].value = 1e15;
	expect_metric(value_of(&s, 2), 1e7, "G/sec", 3);
	metric_uses_release(&s.uses);
}

static void test_no_clock_no_rates(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "page-faults", 5);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 0);
	metric_uses_release(&s.uses);
}

static void test_cpu_clock_serves(void **state)
{
	struct scene s = { .elapsed_s = 1 };
	size_t clock;

	(void)state;
	clock = add(&s, "task-clock", 500000000);
	s.events[clock].attr.config = PERF_COUNT_SW_CPU_CLOCK;
	add(&s, "page-faults", 5);
	add(&s, "task-clock", 250000000);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 3);
	expect_metric(value_of(&s, 0), 0.5, "CPUs utilized", 3); /* each clock by itself */
	expect_metric(value_of(&s, 1), 20, "/sec", 3); /* task-clock is preferred */
	expect_metric(value_of(&s, 2), 0.25, "CPUs utilized", 3);
	metric_uses_release(&s.uses);
}

static void test_hardware(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "task-clock", 1000000000);
	add(&s, "cycles", 2000000000);
	add(&s, "instructions", 3000000000);
	add(&s, "stalled-cycles-frontend", 400000000);
	add(&s, "stalled-cycles-backend", 1800000000);
	add(&s, "branches", 500000000);
	add(&s, "branch-misses", 30000000);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 8);
	expect_metric(value_of(&s, 1), 2, "GHz", 3);
	expect_metric(value_of(&s, 2), 1.5, "insn per cycle", 2);
	expect_metric(value_of(&s, 3), 0.6, "stalled cycles per insn", 2); /* the backend's */
	expect_metric(value_of(&s, 4), 20, "% frontend cycles idle", 2);
	expect_metric(value_of(&s, 5), 90, "% backend cycles idle", 2);
	expect_metric(value_of(&s, 6), 500, "M/sec", 3);
	expect_metric(value_of(&s, 7), 6, "% of all branches", 2);
	assert_int_equal(value_of(&s, 2).level, 0);
	assert_int_equal(value_of(&s, 4).level, 1);
	assert_int_equal(value_of(&s, 5).level, 2);
	assert_int_equal(value_of(&s, 7).level, 1);
	metric_uses_release(&s.uses);
}

/* One of the two stall counts is enough; without any the second metric is not there. */
static void test_optional_inputs(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "instructions", 1000);
	add(&s, "cycles", 500);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 1);
	add(&s, "stalled-cycles-backend", 250);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 3);
	expect_metric(value_of(&s, 1), 0.25, "stalled cycles per insn", 2);
	s.amounts[2].state = COUNT_NOT_COUNTED;
	assert_false(value_of(&s, 1).valid);
	metric_uses_release(&s.uses);
}

/* An event with a metric of its own does not fall back to a rate. */
static void test_own_metric_without_inputs(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "task-clock", 1000000000);
	add(&s, "cache-misses", 500);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 1);
	metric_uses_release(&s.uses);
}

static void test_invalid(void **state)
{
	struct scene s = { .elapsed_s = 0 };

	(void)state;
	add(&s, "task-clock", 1000);
	add(&s, "instructions", 1000);
	add(&s, "cycles", 0);
	bind(&s, NULL, 0);
	assert_false(value_of(&s, 0).valid); /* no time has passed */
	assert_false(value_of(&s, 1).valid); /* division by 0 */
	s.amounts[2] = (struct amount){ .there = true, .state = COUNT_NOT_COUNTED };
	assert_false(value_of(&s, 1).valid);
	s.amounts[2] = (struct amount){ .there = false, .mean = 5 };
	assert_false(value_of(&s, 1).valid); /* not at this place */
	metric_uses_release(&s.uses);
}

/* ---- what belongs together ---- */

static void test_modes_cgroups_core_types(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	s.events[add(&s, "instructions", 100)].attr.exclude_kernel = 1;
	s.lines[add(&s, "instructions", 300)].cgroup = "g";
	put_on(&s, add(&s, "instructions", 500), 8);
	add(&s, "cycles", 1);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 0); /* that cycles fits none of them */
	s.events[add(&s, "cycles", 10)].attr.exclude_kernel = 1;
	s.lines[add(&s, "cycles", 10)].cgroup = "g";
	put_on(&s, add(&s, "cycles", 10), 8);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 3);
	expect_metric(value_of(&s, 0), 10, "insn per cycle", 2);
	expect_metric(value_of(&s, 1), 30, "insn per cycle", 2);
	expect_metric(value_of(&s, 2), 50, "insn per cycle", 2);
	metric_uses_release(&s.uses);
}

static void test_same_group_is_preferred(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "cycles", 1);
	add(&s, "instructions", 100);
	s.lines[add(&s, "cycles", 50)].group = 1;
	bind(&s, NULL, 0);
	expect_metric(value_of(&s, 0), 2, "insn per cycle", 2);
	metric_uses_release(&s.uses);
}

static void test_unsupported_is_no_input(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "instructions", 100);
	s.lines[add(&s, "cycles", 0)].supported = false;
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 0);
	metric_uses_release(&s.uses);
}

static void test_mixed(void **state)
{
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "instructions", 100);
	add(&s, "cycles", 100);
	add(&s, "task-clock", 100);
	bind(&s, NULL, 0);
	assert_false(value_of(&s, 0).mixed); /* both ran all the time */
	s.amounts[1].running_ns = 50;
	assert_true(value_of(&s, 0).mixed);
	assert_string_equal(value_of(&s, 1).unit, "GHz");
	assert_false(value_of(&s, 1).mixed); /* a clock runs always */
	s.amounts[0].running_ns = 50;
	assert_true(value_of(&s, 0).mixed); /* as long, but not at the same time */
	s.lines[1].leader = 0;
	assert_false(value_of(&s, 0).mixed); /* one group: on and off together */
	s.lines[1].leader = 1;
	s.amounts[0].running_ns = s.amounts[1].running_ns = 100;
	s.amounts[1].cells_never_ran = 1;
	assert_true(value_of(&s, 0).mixed); /* not on the same CPUs */
	metric_uses_release(&s.uses);
}

/* ---- chosen metrics ---- */

static void test_chosen(void **state)
{
	const struct metric *const chosen[] = { named("kernel-share"), named("cpi") };
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	s.events[add(&s, "cycles", 30)].attr.exclude_user = 1;
	s.events[add(&s, "cycles", 90)].attr.exclude_kernel = 1;
	s.lines[1].group = 0;
	add(&s, "cycles", 200);
	s.lines[add(&s, "instructions", 100)].group = 2;
	bind(&s, chosen, ARRAY_SIZE(chosen));
	assert_int_equal(s.uses.n, 2);
	assert_int_equal(s.uses.v[0].line, 0);
	expect_metric(value_of(&s, 0), 25, "% of cycles in the kernel", 2);
	assert_int_equal(s.uses.v[1].line, 2); /* not beside cycles:k, which has no partner */
	expect_metric(value_of(&s, 1), 2, "cycles per insn", 2);
	metric_uses_release(&s.uses);
}

static void test_chosen_without_inputs(void **state)
{
	const struct metric *const chosen[] = { named("ipc") };
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "instructions", 100);
	bind(&s, chosen, 1);
	assert_int_equal(s.uses.n, 1); /* asked for by name: it stands there, without a value */
	assert_false(value_of(&s, 0).valid);
	metric_uses_release(&s.uses);
}

/* Each name has its own value, however many there are. */
static void test_any_number_of_inputs(void **state)
{
	static const char *const names[] = { "cycles",	      "instructions",  "cache-references",
					     "cache-misses",  "branches",      "branch-misses",
					     "LLC-loads",     "dTLB-loads",    "iTLB-loads",
					     "L1-icache-loads", "L1-dcache-loads" };
	const struct metric wide = { .name = "wide",
				     .formula = "cycles + instructions + cache-references + cache-misses + "
						"branches + branch-misses + LLC-loads + dTLB-loads + "
						"iTLB-loads + L1-icache-loads + L1-dcache-loads",
				     .unit = "of all" };
	const struct metric *const chosen[] = { &wide };
	struct scene s = { .elapsed_s = 1e9 };
	double sum = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		add(&s, names[i], UINT64_C(1) << i);
		sum += (double)(UINT64_C(1) << i);
	}
	bind(&s, chosen, 1);
	assert_int_equal(s.uses.n, 1);
	assert_int_equal(s.uses.v[0].n_inputs, ARRAY_SIZE(names));
	expect_metric(value_of(&s, 0), sum, "of all", 0);
	s.lines[9].supported = false;
	bind(&s, chosen, 1);
	assert_false(value_of(&s, 0).valid);
	metric_uses_release(&s.uses);
}

/* What is not asked for need not be counted; what is summed from several says so. */
static void test_conditions(void **state)
{
	const struct metric choice = { .name = "choice",
				       .formula = "LLC-loads / cycles if has_event(LLC-loads) else "
						  "cache-references / source_count(cycles) / cycles",
				       .unit = "each" };
	const struct metric *const chosen[] = { &choice };
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "cycles", 10);
	add(&s, "cache-references", 60);
	s.lines[0].n_sources = 2;
	bind(&s, chosen, 1);
	assert_int_equal(s.uses.n, 0); /* it stands beside the first event of the formula */
	add(&s, "LLC-loads", 40);
	bind(&s, chosen, 1);
	expect_metric(value_of(&s, 0), 4, "each", 0);
	s.lines[2].supported = false;
	bind(&s, chosen, 1);
	expect_metric(value_of(&s, 0), 3, "each", 0);
	metric_uses_release(&s.uses);
}

/* ---- which of several ---- */

/* What the event's own group does not have comes from one group, not from here and there. */
static void test_inputs_of_one_group(void **state)
{
	const struct metric *const chosen[] = { named("stalled-per-insn") };
	struct scene s = { .elapsed_s = 1 };
	size_t first;

	(void)state;
	add(&s, "instructions", 100);
	add(&s, "stalled-cycles-frontend", 9900);
	first = add(&s, "cycles", 1);
	add(&s, "stalled-cycles-frontend", 200);
	add(&s, "stalled-cycles-backend", 300);
	group_from(&s, first);
	bind(&s, chosen, 1);
	expect_metric(value_of(&s, 0), 3, "stalled cycles per insn", 2);
	metric_uses_release(&s.uses);
}

/* A group that was broken up is not counted together: another one that is comes first. */
static void test_broken_group(void **state)
{
	const struct metric *const chosen[] = { named("ipc") };
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "instructions", 100);
	s.lines[add(&s, "cycles", 10)].group = 0;
	s.lines[add(&s, "cycles", 50)].leader = 0;
	bind(&s, chosen, 1);
	expect_metric(value_of(&s, 0), 2, "insn per cycle", 2);
	metric_uses_release(&s.uses);
}

/* ---- core types ---- */

/* The target ran for 300 ns, 200 of them on type 4 and 100 on type 10. */
static void make_hybrid(struct scene *s)
{
	for (size_t i = 0; i < s->n; i++) {
		uint32_t type = s->lines[i].core_type;

		s->amounts[i].enabled_ns = type == 4 ? 200 : type == 10 ? 100 : 300;
		s->amounts[i].running_ns = s->amounts[i].enabled_ns;
	}
}

static void test_each_core_type_by_itself(void **state)
{
	const struct metric *const chosen[] = { named("ipc") };
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	put_on(&s, add(&s, "instructions", 500), 4);
	put_on(&s, add(&s, "instructions", 600), 10);
	put_on(&s, add(&s, "cycles", 100), 10);
	put_on(&s, add(&s, "cycles", 1000), 4);
	make_hybrid(&s);
	bind(&s, chosen, 1);
	assert_int_equal(s.uses.n, 2);
	expect_metric(value_of(&s, 0), 0.5, "insn per cycle", 2);
	expect_metric(value_of(&s, 1), 6, "insn per cycle", 2);
	assert_false(value_of(&s, 0).mixed);
	s.lines[3].supported = false;
	bind(&s, chosen, 1);
	assert_false(value_of(&s, 0).valid); /* never the other type's cycles */
	expect_metric(value_of(&s, 1), 6, "insn per cycle", 2);
	metric_uses_release(&s.uses);
}

/* A clock runs on all types: cycles of one type are held against the time on that type. */
static void test_time_on_core_type(void **state)
{
	const struct metric *const chosen[] = { named("frequency") };
	struct scene s = { .elapsed_s = 1 };
	size_t raw;

	(void)state;
	add(&s, "task-clock", 300);
	put_on(&s, add(&s, "cycles", 400), 4);
	put_on(&s, add(&s, "cycles", 100), 10);
	raw = add(&s, "other", 50); /* of a core type by its PMU */
	s.events[raw].attr.type = 10;
	s.events[raw].pmu_is_core = true;
	s.events[raw].cpus.n = 2;
	s.lines[raw] = metric_line_of(&s.events[raw], &s.events[raw].attr);
	make_hybrid(&s);
	bind(&s, chosen, 1);
	assert_int_equal(s.uses.n, 2);
	expect_metric(value_of(&s, 0), 2, "GHz", 3);
	expect_metric(value_of(&s, 1), 1, "GHz", 3);
	bind(&s, NULL, 0);
	assert_int_equal(s.uses.n, 4);
	expect_metric(value_of(&s, 3), 500, "M/sec", 3);
	/* Where the time on the type is not known, a count that is not scaled belongs to its own time. */
	s.amounts[1].enabled_ns = 300;
	s.amounts[1].cells_unscaled = 1;
	expect_metric(value_of(&s, 1), 2, "GHz", 3);
	assert_false(value_of(&s, 1).mixed);
	s.amounts[1].cells = 2;
	assert_true(value_of(&s, 1).mixed); /* of one cell it is known, of the other not */
	metric_uses_release(&s.uses);
}

/* What no counter knows is not split among the types: such a metric is marked. */
static void test_software_beside_a_core_type(void **state)
{
	const struct metric faults = { .name = "faults",
				       .formula = "page-faults / instructions",
				       .unit = "faults per insn" };
	const struct metric *const chosen[] = { &faults };
	struct scene s = { .elapsed_s = 1 };

	(void)state;
	add(&s, "page-faults", 10);
	put_on(&s, add(&s, "instructions", 100), 4);
	put_on(&s, add(&s, "instructions", 20), 10);
	make_hybrid(&s);
	bind(&s, chosen, 1);
	assert_int_equal(s.uses.n, 2); /* beside each core type's event, not once beside the software's */
	expect_metric(value_of(&s, 0), 0.1, "faults per insn", 0);
	assert_true(value_of(&s, 0).mixed);
	metric_uses_release(&s.uses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_required_metrics),
		cmocka_unit_test(test_clock_and_rates),
		cmocka_unit_test(test_no_clock_no_rates),
		cmocka_unit_test(test_cpu_clock_serves),
		cmocka_unit_test(test_hardware),
		cmocka_unit_test(test_optional_inputs),
		cmocka_unit_test(test_own_metric_without_inputs),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_modes_cgroups_core_types),
		cmocka_unit_test(test_same_group_is_preferred),
		cmocka_unit_test(test_unsupported_is_no_input),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_chosen_without_inputs),
		cmocka_unit_test(test_any_number_of_inputs),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_inputs_of_one_group),
		cmocka_unit_test(test_broken_group),
		cmocka_unit_test(test_each_core_type_by_itself),
		cmocka_unit_test(test_time_on_core_type),
		cmocka_unit_test(test_software_beside_a_core_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
