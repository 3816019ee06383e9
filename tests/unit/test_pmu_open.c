/* SPDX-License-Identifier: MIT */
/*
 * From the text of an event to its system calls, on machines of files and a kernel that is played: what a
 * PMU says about its CPUs and codes decides where, how and whether its events are opened.
 */
#include "open_fixture.h"

static struct event_list parsed;

static void pmu(const char *name, const char *file, const char *text)
{
	fake_machine_pmu(&machine, name, file, text);
}

static void parse(const char *text)
{
	event_list_init(&parsed);
	if (event_list_parse(&parsed, text, &machine.host, &err))
		fail_msg("%s", err.s);
}

static void open_parsed(void)
{
	assert_int_equal(counters_open(&set, &parsed, &target, &options, &kern, &notes, &err), 0);
}

static int teardown_parsed(void **state)
{
	event_list_release(&parsed);
	return teardown(state);
}

/* ---- CPUs ---- */

static void empty_cpumask_is_no_cpu(void **state)
{
	(void)state;
	pmu("uncore_x", "type", "20\n");
	pmu("uncore_x", "format/event", "config:0-7\n");
	pmu("uncore_x", "cpumask", "\n");
	all_cpus(4);
	parse("uncore_x/event=1/,20:2,cs");
	open_parsed();
	assert_int_equal(fake.n, 4);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(set.v[i].state, COUNTER_NOT_SUPPORTED);
		assert_int_equal(set.v[i].err, ENODEV);
		assert_string_equal(set.v[i].reason, "its unit counts on no CPU that is online");
	}
	assert_int_equal(event_try(&parsed.v[0], &kern), -ENODEV);
	assert_int_equal(fake.n, 4);
}

static void core_type_without_a_cpu(void **state)
{
	(void)state;
	pmu("cpu_core", "type", "4\n");
	pmu("cpu_core", "cpus", "0-3\n");
	pmu("cpu_atom", "type", "10\n");
	pmu("cpu_atom", "cpus", "\n");
	parse("cycles");
	assert_int_equal(parsed.n, 2);
	open_parsed();
	assert_int_equal(set.v[0].state, COUNTER_NOT_SUPPORTED);
	assert_string_equal(set.v[0].reason, "its unit counts on no CPU that is online");
	assert_int_equal(set.v[1].state, COUNTER_OPEN);
}

/* Where there is no file, any CPU will do. */
static void no_cpumask_is_any_cpu(void **state)
{
	(void)state;
	pmu("uncore_x", "type", "20\n");
	pmu("uncore_x", "format/event", "config:0-7\n");
	all_cpus(2);
	parse("uncore_x/event=1/");
	open_parsed();
	assert_int_equal(fake.n, 2);
}

/* ---- modes ---- */

static void kernel_events_are_never_0_for_their_modes(void **state)
{
	(void)state;
	pmu("kprobe", "type", "7\n");
	parse("cs:u,migrations:u,cgroup-switches:h,7:1:u,cs:k,faults:u");
	open_parsed();
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(set.v[i].state, COUNTER_NOT_SUPPORTED);
		assert_string_equal(set.v[i].reason,
				    "happens in the kernel, which its modifiers leave out");
	}
	assert_int_equal(set.v[4].state, COUNTER_OPEN);
	assert_int_equal(set.v[5].state, COUNTER_OPEN);
	assert_int_equal(fake.n, 2);
}

/* ---- big.LITTLE before Linux 6.6 ---- */

enum { LITTLE = 8, BIG = 9, EXTENDED_SHIFT = 32 };

static void big_little(void)
{
	static const struct {
		const char *name, *type, *cpus;
	} cores[] = { { "armv8_cortex_a53", "8\n", "0-3\n" }, { "armv8_cortex_a73", "9\n", "4-5\n" } };

	for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
		pmu(cores[i].name, "type", cores[i].type);
		pmu(cores[i].name, "cpus", cores[i].cpus);
		pmu(cores[i].name, "format/event", "config:0-15\n");
		pmu(cores[i].name, "events/cpu_cycles", "event=0x0011\n");
		pmu(cores[i].name, "events/inst_retired", "event=0x0008\n");
		pmu(cores[i].name, "events/l1d_cache_refill", "event=0x0003\n");
		pmu(cores[i].name, "events/pc_write_retired", "event=0x000c\n");
	}
	pmu(cores[1].name, "events/br_retired", "event=0x0021\n");
}

/* As these kernels do: a type in the upper half of config is asked for, and the PMU has no such capability. */
static int refuse_extended_types(const struct fake_call *call)
{
	bool generic = call->attr.type == PERF_TYPE_HARDWARE || call->attr.type == PERF_TYPE_HW_CACHE;

	return generic && call->attr.config >> EXTENDED_SHIFT ? -ENOENT : 0;
}

static void opened_as(size_t index, uint32_t type, uint64_t config)
{
	assert_int_equal(set.v[index].state, COUNTER_OPEN);
	assert_int_equal(set.v[index].attr.type, type);
	assert_int_equal(set.v[index].attr.config, config);
}

static void generic_events_by_the_pmus_own_codes(void **state)
{
	(void)state;
	big_little();
	fake.answer = refuse_extended_types;
	parse("cycles,branches,L1-dcache-load-misses,bus-cycles");
	assert_int_equal(parsed.n, 8);
	open_parsed();
	opened_as(0, LITTLE, 0x11);
	opened_as(1, BIG, 0x11);
	opened_as(2, LITTLE, 0xc);
	opened_as(3, BIG, 0x21);
	opened_as(4, LITTLE, 0x3);
	opened_as(5, BIG, 0x3);
	/* Neither PMU lists it: its number would open, and count 0. */
	for (size_t i = 6; i < 8; i++) {
		assert_int_equal(set.v[i].state, COUNTER_NOT_SUPPORTED);
		assert_string_equal(set.v[i].reason, "this counter unit does not have the event");
	}
	assert_true(noted("armv8_cortex_a53/cycles/: opened as event 0x11 of its unit"));
	for (size_t i = 0; i < notes.n; i++)
		assert_true(notes.v[i].verbose);
}

static void groups_of_own_codes(void **state)
{
	(void)state;
	big_little();
	fake.answer = refuse_extended_types;
	parse("{cycles,instructions}");
	open_parsed();
	assert_int_equal(set.n, 4);
	for (size_t i = 0; i < 4; i++) {
		opened_as(i, i < 2 ? LITTLE : BIG, i % 2 ? 0x8 : 0x11);
		assert_int_equal(fake_call_of(set.v[i].fds[0])->group_fd,
				 i % 2 ? set.v[i - 1].fds[0] : -1);
	}
}

/* A newer kernel is asked by the generic number. */
static void generic_numbers_where_the_kernel_knows_them(void **state)
{
	(void)state;
	big_little();
	parse("cycles");
	open_parsed();
	opened_as(0, PERF_TYPE_HARDWARE, (uint64_t)LITTLE << EXTENDED_SHIFT);
	opened_as(1, PERF_TYPE_HARDWARE, (uint64_t)BIG << EXTENDED_SHIFT);
	assert_int_equal(notes.n, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown_parsed)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(empty_cpumask_is_no_cpu),
		T(core_type_without_a_cpu),
		T(no_cpumask_is_any_cpu),
		T(kernel_events_are_never_0_for_their_modes),
		T(generic_events_by_the_pmus_own_codes),
		T(groups_of_own_codes),
		T(generic_numbers_where_the_kernel_knows_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
