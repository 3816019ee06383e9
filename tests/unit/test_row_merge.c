/* SPDX-License-Identifier: MIT */
/* Events that share a row or must not: several pmus, core types, cgroups. */
#include "count_sample.h"

static void start_expansion(struct world *w, enum event_expansion expansion, bool merge, bool hybrid_merge)
{
	static char pmus[3][8] = { "unit_0", "unit_1", "unit_2" };

	world_init(w, AGGR_TOTAL, TARGET_CPUS, "0");
	w->plan.merge = merge;
	w->plan.hybrid_merge = hybrid_merge;
	for (size_t i = 0; i < 3; i++) {
		struct event *event = world_event(w, "reads", 20 + (uint32_t)i, 1);

		event->pmu_name = pmus[i];
		event->expansion = expansion;
		event->expansion_id = 1;
	}
	world_cs(w);
	world_start(w);
	world_read(w, 1, 1);
	for (size_t i = 0; i < 4; i++)
		feed(w, i, 0, 0, 10 + i, 100, 100);
}

static void expect_expansion(enum event_expansion expansion, bool merge, bool hybrid_merge, const char *want)
{
	struct world w;

	start_expansion(&w, expansion, merge, hybrid_merge);
	expect_rows(world_report(&w, REPORT_FINAL), want);
	world_release(&w);
}

static void test_merge(void **state)
{
	static const char merged[] = " reads 33;  cs 13";
	static const char by_pmu[] =
		" reads [unit_0] 10;  reads [unit_1] 11;  reads [unit_2] 12;  cs 13";
	static const char by_core[] =
		" unit_0/reads/ 10;  unit_1/reads/ 11;  unit_2/reads/ 12;  cs 13";

	(void)state;
	expect_expansion(EXPANSION_PMUS, true, false, merged);
	expect_expansion(EXPANSION_PMUS, false, false, by_pmu);
	expect_expansion(EXPANSION_PMUS, false, true, by_pmu);
	expect_expansion(EXPANSION_CORE_TYPES, true, false, by_core);
	expect_expansion(EXPANSION_CORE_TYPES, true, true, merged);
}

static void test_merge_with_a_pmu_missing(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0");
	world_cs(&w)->expansion_id = 1;
	world_cs(&w)->expansion_id = 1;
	w.events[0].expansion = w.events[1].expansion = EXPANSION_PMUS;
	world_unsupported(&w, 0);
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 1, 0, 0, 5, 100, 100);
	expect_rows(world_report(&w, REPORT_FINAL), " cs 5");
	row = &w.reporter->report.rows[0];
	assert_true(row->partial);
	assert_string_equal(row->reason, "1 of 2 counters could not be opened");
	world_release(&w);
}

/* One list per cgroup: the same expansion in two cgroups is not summed. */
static void test_cgroups(void **state)
{
	static char a[] = "a", b[] = "b";
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0");
	for (size_t i = 0; i < 2; i++) {
		struct event *event = world_cs(&w);

		event->cgroup = i ? b : a;
		event->expansion = EXPANSION_PMUS;
		event->expansion_id = 1;
	}
	world_start(&w);
	world_read(&w, 1, 1);
	feed(&w, 0, 0, 0, 5, 100, 100);
	feed(&w, 1, 0, 0, 6, 100, 100);
	expect_rows(world_report(&w, REPORT_FINAL), " cs 5;  cs 6");
	assert_string_equal(w.reporter->report.rows[0].cgroup, "a");
	assert_string_equal(w.reporter->report.rows[1].cgroup, "b");
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_with_a_pmu_missing),
		cmocka_unit_test(test_cgroups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
