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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown_parsed)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(empty_cpumask_is_no_cpu),
		T(core_type_without_a_cpu),
		T(no_cpumask_is_any_cpu),
		T(kernel_events_are_never_0_for_their_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
