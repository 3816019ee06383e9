/* SPDX-License-Identifier: MIT */
/* -M: names, groups and patterns to metrics, and metrics to events in weak groups. */
#include "stat/metric.h"
#include "fake_machine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct selection {
	struct event_list events;
	const struct metric **v;
	size_t n;
	struct str err;
};

static int select_metrics(struct selection *sel, const char *names)
{
	static const struct host_paths nowhere = { "/nowhere", "/nowhere", "/nowhere", NULL };

	const struct metric_ground ground = { .host = &nowhere };

	return metrics_select(names, &sel->events, &sel->v, &sel->n, &ground, &sel->err);
}

static void selection_init(struct selection *sel)
{
	*sel = (struct selection){ .err = STR_INIT };
	event_list_init(&sel->events);
}

static void selection_release(struct selection *sel)
{
	event_list_release(&sel->events);
	metrics_release(&sel->v, &sel->n);
	str_release(&sel->err);
}

static void test_select(void **state)
{
	struct selection sel;

	(void)state;
	selection_init(&sel);
	assert_int_equal(select_metrics(&sel, "ipc"), 0);
	assert_int_equal(sel.n, 1);
	assert_int_equal(sel.events.n, 2);
	assert_string_equal(sel.events.v[0].name, "instructions");
	assert_string_equal(sel.events.v[1].name, "cycles");
	assert_int_equal(sel.events.v[0].n_members, 2);
	assert_true(sel.events.v[0].weak);
	/* cpi takes the same two; ipc is not chosen twice */
	assert_int_equal(select_metrics(&sel, "cpi, ipc"), 0);
	assert_int_equal(sel.n, 2);
	assert_int_equal(sel.events.n, 2);
	assert_int_equal(select_metrics(&sel, "kernel-share,cpus-utilized"), 0);
	assert_int_equal(sel.events.n, 5);
	assert_true(sel.events.v[2].attr.exclude_user && !sel.events.v[2].attr.exclude_kernel);
	selection_release(&sel);
}

/* One clock serves all rates. */
static void test_select_shares_software(void **state)
{
	static const char *const names[] = { "page-faults", "task-clock", "context-switches",
					     "cpu-migrations" };
	struct selection sel;

	(void)state;
	selection_init(&sel);
	assert_int_equal(select_metrics(&sel, "page-fault-rate,cpus-utilized"), 0);
	assert_int_equal(select_metrics(&sel, "context-switch-rate,migration-rate"), 0);
	assert_int_equal(sel.events.n, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(sel.events.v[i].name, names[i]);
	selection_release(&sel);
}

/* The generic metrics of perf 7.2, as its list has them. */
static void test_select_by_the_names_of_perf(void **state)
{
	static const char *const names[] = {
		"CPUs_utilized",
		"backend_cycles_idle",
		"branch_frequency",
		"branch_miss_rate",
		"cs_per_second",
		"cycles_frequency",
		"dtlb_miss_rate",
		"frontend_cycles_idle",
		"insn_per_cycle",
		"itlb_miss_rate",
		"l1_prefetch_miss_rate",
		"l1d_miss_rate",
		"l1i_miss_rate",
		"llc_miss_rate",
		"migrations_per_second",
		"page_faults_per_second",
		"stalled_cycles_per_instruction",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct selection sel;

		selection_init(&sel);
		assert_int_equal(select_metrics(&sel, names[i]), 0);
		assert_int_equal(sel.n, 1);
		assert_string_equal(sel.v[0]->alias, names[i]);
		selection_release(&sel);
	}
}

static void test_select_groups_and_globs(void **state)
{
	struct selection sel;

	(void)state;
	selection_init(&sel);
	assert_int_equal(select_metrics(&sel, "tlb"), 0);
	assert_int_equal(sel.n, 2);
	assert_int_equal(sel.events.n, 4);
	assert_int_equal(select_metrics(&sel, "*tlb*"), 0);
	assert_int_equal(sel.n, 2);
	assert_int_equal(select_metrics(&sel, "*"), 0);
	assert_int_equal(sel.n, n_metrics);
	selection_release(&sel);
}

/* On each core type a group of its own. */
static void test_select_on_core_types(void **state)
{
	struct fake_machine machine;
	struct selection sel;
	const struct metric_ground ground = { .host = &machine.host };
	const struct event *v;

	(void)state;
	fake_machine_init(&machine);
	if (!fake_machine_load(&machine, "hybrid")) {
		fake_machine_release(&machine);
		print_message("# skip: needs tests/data/machines below the folder it runs in\n");
		skip();
	}
	selection_init(&sel);
	assert_int_equal(metrics_select("ipc", &sel.events, &sel.v, &sel.n, &ground, &sel.err), 0);
	assert_int_equal(sel.events.n, 4);
	v = sel.events.v;
	for (size_t i = 0; i < 4; i += 2) {
		assert_int_equal(v[i].n_members, 2);
		assert_true(v[i].weak);
		assert_string_equal(v[i].pmu_name, i ? "cpu_core" : "cpu_atom");
		assert_string_equal(v[i + 1].pmu_name, v[i].pmu_name);
	}
	/* A clock in one type's group would stand still on the other type. */
	assert_int_equal(metrics_select("frequency", &sel.events, &sel.v, &sel.n, &ground, &sel.err), 0);
	v = sel.events.v;
	assert_string_equal(v[sel.events.n - 1].name, "task-clock");
	assert_int_equal(v[sel.events.n - 1].leader, sel.events.n - 1);
	selection_release(&sel);
	fake_machine_release(&machine);
}

static void expect_refused(const char *names, int code, const char *part)
{
	struct selection sel;

	selection_init(&sel);
	assert_int_equal(select_metrics(&sel, names), code);
	if (!strstr(sel.err.s, part))
		fail_msg("'%s' is not in: %s", part, sel.err.s);
	assert_int_equal(sel.events.n, 0);
	selection_release(&sel);
}

static void test_select_refuses(void **state)
{
	(void)state;
	expect_refused("branch-mis-rate", -ENOENT, "did you mean 'branch-miss-rate'?");
	expect_refused("ipc,xyzzyxyzzy", -ENOENT, "pstat list metric");
	expect_refused("no*such", -ENOENT, "no*such");
	expect_refused("a\033[1m", -ENOENT, "a\\x1b[1m");
	expect_refused("", -EINVAL, "missing");
	expect_refused("ipc,", -EINVAL, "missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_select_shares_software),
		cmocka_unit_test(test_select_by_the_names_of_perf),
		cmocka_unit_test(test_select_groups_and_globs),
		cmocka_unit_test(test_select_on_core_types),
		cmocka_unit_test(test_select_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
