/* SPDX-License-Identifier: MIT */
/*
 * Groups where one PMU is not enough: hybrid machines, PMUs that exist several times, two PMUs in
 * one pair of braces. A note says where what was written as one group had to be split.
 */
#include "event_dump.h"
#include "fake_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Two kinds of cores, a memory controller with two channels, a cache box, energy counters. */
static struct fake_machine hybrid;
/* One core PMU. */
static struct fake_machine plain;

static void add_uncore(struct fake_machine *m, const char *pmu, const char *type)
{
	fake_machine_pmu(m, pmu, "type", type);
	fake_machine_pmu(m, pmu, "cpumask", "0\n");
	fake_machine_pmu(m, pmu, "format/event", "config:0-7\n");
}

static void add_uncores(struct fake_machine *m)
{
	add_uncore(m, "uncore_imc_0", "20\n");
	add_uncore(m, "uncore_imc_1", "21\n");
	add_uncore(m, "uncore_cbox_0", "30\n");
	fake_machine_pmu(m, "msr", "type", "9\n");
	fake_machine_pmu(m, "msr", "format/event", "config:0-63\n");
}

static int make_machines(void **state)
{
	(void)state;
	fake_machine_init(&hybrid);
	fake_machine_pmu(&hybrid, "cpu_core", "type", "4\n");
	fake_machine_pmu(&hybrid, "cpu_core", "cpus", "0-3\n");
	fake_machine_pmu(&hybrid, "cpu_core", "format/event", "config:0-7\n");
	fake_machine_pmu(&hybrid, "cpu_atom", "type", "10\n");
	fake_machine_pmu(&hybrid, "cpu_atom", "cpus", "4-5\n");
	fake_machine_pmu(&hybrid, "cpu_atom", "format/event", "config:0-7\n");
	add_uncores(&hybrid);
	fake_machine_init(&plain);
	fake_machine_pmu(&plain, "armv8_pmuv3_0", "type", "8\n");
	fake_machine_pmu(&plain, "armv8_pmuv3_0", "cpus", "0-1\n");
	fake_machine_pmu(&plain, "armv8_pmuv3_0", "format/event", "config:0-15\n");
	add_uncores(&plain);
	return 0;
}

static int remove_machines(void **state)
{
	(void)state;
	fake_machine_release(&hybrid);
	fake_machine_release(&plain);
	return 0;
}

/* note: what the only note must contain; NULL: there is no note */
static void expect(const struct fake_machine *m, const char *text, const char *events, const char *note)
{
	struct event_list list;
	struct str err = STR_INIT, out = STR_INIT;

	event_list_init(&list);
	if (event_list_parse(&list, text, &m->host, &err))
		fail_msg("%s", err.s);
	dump_events(&out, &list);
	assert_string_equal(out.s, events);
	assert_int_equal(list.notes.n, note ? 1 : 0);
	if (note && !strstr(list.notes.v[0].text, note))
		fail_msg("'%s' is not in '%s'", note, list.notes.v[0].text);
	event_list_release(&list);
	str_release(&err);
	str_release(&out);
}

static void test_generic_names_open_on_each_core_pmu(void **state)
{
	(void)state;
	expect(&hybrid, "cycles:u",
	       "cpu_atom/cycles/u 0:a00000000 u H; cpu_core/cycles/u 0:400000000 u H", NULL);
	expect(&hybrid, "LLC-misses/period=5/",
	       "cpu_atom/LLC-misses,period=5/ 3:a00010002 ukh H period=5; "
	       "cpu_core/LLC-misses,period=5/ 3:400010002 ukh H period=5", NULL);
	expect(&hybrid, "r1a", "cpu_atom/r1a/ a:1a ukh H; cpu_core/r1a/ 4:1a ukh H", NULL);
	expect(&hybrid, "0:1", "cpu_atom/0:1/ 0:a00000001 ukh H; cpu_core/0:1/ 0:400000001 ukh H", NULL);
	expect(&hybrid, "0:0x400000001", "0:0x400000001 0:400000001 ukh H", NULL);
	expect(&hybrid, "faults", "faults 1:2 ukh H", NULL);
	expect(&hybrid, "cycles/name=c/", "c 0:a00000000 ukh H; c 0:400000000 ukh H", NULL);
	expect(&plain, "cycles", "cycles 0:0 ukh H", NULL);
	expect(&plain, "r1a", "r1a 4:1a ukh H", NULL);
}

static void test_expanded_events(void **state)
{
	struct event_list list;
	struct str err = STR_INIT;

	(void)state;
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, "faults,cycles,instructions", &hybrid.host, &err), 0);
	assert_int_equal(list.n, 5);
	assert_int_equal(list.v[0].expansion_id, 0);
	assert_int_equal(list.v[1].expansion_id, list.v[2].expansion_id);
	assert_int_equal(list.v[3].expansion_id, list.v[4].expansion_id);
	assert_int_not_equal(list.v[1].expansion_id, list.v[3].expansion_id);
	assert_int_equal(list.v[1].expansion, EXPANSION_CORE_TYPES);
	assert_string_equal(list.v[1].pmu_name, "cpu_atom");
	assert_int_equal(list.v[1].cpus.n, 2);
	assert_true(list.v[1].pmu_is_core);
	assert_false(list.v[0].pmu_is_core);
	event_list_release(&list);
}

static void test_hybrid_groups(void **state)
{
	(void)state;
	expect(&hybrid, "{cycles,instructions}:S",
	       "{cpu_atom/cycles/ 0:a00000000 ukh H S; cpu_atom/instructions/ 0:a00000001 ukh H S}; "
	       "{cpu_core/cycles/ 0:400000000 ukh H S; cpu_core/instructions/ 0:400000001 ukh H S}",
	       NULL);
	/* A software event is counted once; pinned and weak are for each new leader. */
	expect(&hybrid, "g{faults,cycles,cs}:DW",
	       "g{faults 1:2 ukh H D W; cpu_atom/cycles/ 0:a00000000 ukh H; cs 1:3 ukh H}; "
	       "g{cpu_core/cycles/ 0:400000000 ukh H D W}", NULL);
	expect(&hybrid, "{cpu_core/cycles/,cpu_core/event=1/}",
	       "{cpu_core/cycles/ 0:400000000 ukh H; cpu_core/event=1/ 4:1 ukh H}", NULL);
	expect(&hybrid, "{cycles,cpu_core/event=1/}",
	       "cpu_atom/cycles/ 0:a00000000 ukh H; "
	       "{cpu_core/cycles/ 0:400000000 ukh H; cpu_core/event=1/ 4:1 ukh H}",
	       "several units (cpu_atom, cpu_core)");
	expect(&hybrid, "{r1a,cs}", "{cpu_atom/r1a/ a:1a ukh H; cs 1:3 ukh H}; cpu_core/r1a/ 4:1a ukh H",
	       NULL);
	expect(&hybrid, "{cpu_core/cycles/,cpu_atom/cycles/}:e",
	       "cpu_core/cycles/ 0:400000000 ukh H e; cpu_atom/cycles/ 0:a00000000 ukh H e",
	       "several units (cpu_core, cpu_atom)");
}

static void test_uncore_groups(void **state)
{
	(void)state;
	expect(&plain, "{uncore_imc/event=1/,uncore_imc/event=2/}",
	       "{uncore_imc/event=1/ 14:1 ukh H; uncore_imc/event=2/ 14:2 ukh H}; "
	       "{uncore_imc/event=1/ 15:1 ukh H; uncore_imc/event=2/ 15:2 ukh H}", NULL);
	expect(&plain, "x{uncore_imc_0/event=1/,uncore_cbox_0/event=2/,faults}",
	       "x{uncore_imc_0/event=1/ 14:1 ukh H; faults 1:2 ukh H}; "
	       "x{uncore_cbox_0/event=2/ 1e:2 ukh H}",
	       "group 'x' split: its events are on several units (uncore_imc_0, uncore_cbox_0)");
	expect(&plain, "{cycles,uncore_cbox_0/event=2/}",
	       "cycles 0:0 ukh H; uncore_cbox_0/event=2/ 1e:2 ukh H",
	       "several units (the core unit, uncore_cbox_0)");
	expect(&plain, "{cycles,20:1}", "cycles 0:0 ukh H; 20:1 14:1 ukh H",
	       "(the core unit, uncore_imc_0)");
	expect(&plain, "{cycles,77:1}", "cycles 0:0 ukh H; 77:1 4d:1 ukh H", "(the core unit, type 77)");
}

static void test_groups_that_stay_whole(void **state)
{
	(void)state;
	expect(&plain, "{cycles,armv8_pmuv3_0/event=1/,LLC-misses,r1a}",
	       "{cycles 0:0 ukh H; armv8_pmuv3_0/event=1/ 8:1 ukh H; LLC-misses 3:10002 ukh H; "
	       "r1a 4:1a ukh H}", NULL);
	expect(&plain, "{r1a,armv8_pmuv3_0/event=1/}", "{r1a 4:1a ukh H; armv8_pmuv3_0/event=1/ 8:1 ukh H}",
	       NULL);
	expect(&plain, "{faults,cycles,msr/event=0/,mem:0x10}",
	       "{faults 1:2 ukh H; cycles 0:0 ukh H; msr/event=0/ 9:0 ukh H; "
	       "mem:0x10 5:0,10,4 ukh H}", NULL);
	/* What pstat counts itself is in no group. */
	expect(&plain, "{duration_time,cycles,user_time,faults}:u",
	       "duration_time 1:9 u H; {cycles 0:0 u H; faults 1:2 u H}; user_time 1:9 u H", NULL);
}

static void test_leaders(void **state)
{
	static const size_t leaders[] = { 0, 1, 1, 3, 3, 5 }, members[] = { 1, 2, 1, 2, 1, 1 };
	struct event_list list;
	struct str err = STR_INIT;

	(void)state;
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, "faults", &hybrid.host, &err), 0);
	assert_int_equal(event_list_parse(&list, "{cycles,instructions},cs", &hybrid.host, &err), 0);
	assert_int_equal(list.n, ARRAY_SIZE(leaders));
	for (size_t i = 0; i < list.n; i++) {
		assert_int_equal(list.v[i].leader, leaders[i]);
		assert_int_equal(list.v[i].n_members, members[i]);
	}
	event_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generic_names_open_on_each_core_pmu),
		cmocka_unit_test(test_expanded_events),
		cmocka_unit_test(test_hybrid_groups),
		cmocka_unit_test(test_uncore_groups),
		cmocka_unit_test(test_groups_that_stay_whole),
		cmocka_unit_test(test_leaders),
	};

	return cmocka_run_group_tests(tests, make_machines, remove_machines);
}
