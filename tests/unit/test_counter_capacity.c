/* SPDX-License-Identifier: MIT */
/*
 * What can be counted at the same time, on a kernel that has two counters and two breakpoints.
 */
#include "open_fixture.h"

enum { COUNTERS = 2 };

static unsigned n_taken; /* by somebody else */
static bool lenient; /* a group may open that cannot run */

static bool is_open(const struct fake_call *call)
{
	return fake.open[call - fake.calls];
}

/* Descriptors that are open for hardware, or for breakpoints. */
static unsigned n_open_of(bool breakpoints)
{
	unsigned n = 0;

	for (size_t i = 0; i < fake.n; i++)
		n += is_open(&fake.calls[i]) &&
		     (fake.calls[i].attr.type == PERF_TYPE_BREAKPOINT) == breakpoints;
	return n;
}

static int answer_two(const struct fake_call *call)
{
	bool breakpoint = call->attr.type == PERF_TYPE_BREAKPOINT;

	if (call->attr.config == 0x404)
		return -ENOENT;
	if (n_open_of(breakpoint) < COUNTERS || (lenient && !breakpoint))
		return 0;
	return breakpoint ? -ENOSPC : -EINVAL;
}

/* A pinned group without room reads as end-of-file, once it was to run. */
static ssize_t read_two(int fd, uint64_t *words, size_t bytes)
{
	(void)words;
	assert_int_equal(fake.n_ioctls, 1);
	assert_true(fake_call_of(fd)->attr.pinned);
	assert_true(fake_call_of(fd)->attr.disabled);
	return n_open_of(false) + n_taken > COUNTERS ? 0 : (ssize_t)bytes;
}

static int setup_two(void **state)
{
	setup(state);
	n_taken = 0;
	lenient = false;
	fake.answer = answer_two;
	fake.read = read_two;
	return 0;
}

static bool fit(size_t n)
{
	const struct event *v[MAX_EVENTS];
	bool fits;

	for (size_t i = 0; i < n; i++)
		v[i] = &events[i];
	fits = events_fit(v, n, &kern);
	assert_int_equal(fake.n_open, 0);
	return fits;
}

static void add_hardware(size_t n)
{
	while (n--)
		add("hw", PERF_TYPE_HARDWARE, list.n);
}

static void as_many_as_there_are(void **state)
{
	(void)state;
	add_hardware(3);
	assert_true(fit(1));
	fake.n_ioctls = 0;
	assert_true(fit(2));
	fake.n_ioctls = 0;
	assert_false(fit(3));
	assert_true(fit(0));
}

static void the_kernel_lets_it_open_and_not_run(void **state)
{
	(void)state;
	lenient = true;
	add_hardware(3);
	assert_false(fit(3));
	fake.n_ioctls = 0;
	assert_true(fit(2));
}

static void somebody_else_holds_one(void **state)
{
	(void)state;
	n_taken = 1;
	add_hardware(2);
	assert_false(fit(2));
	fake.n_ioctls = 0;
	assert_true(fit(1));
}

static void what_does_not_open_takes_nothing(void **state)
{
	(void)state;
	add_hardware(2);
	add("absent", PERF_TYPE_RAW, 0x404);
	assert_true(fit(3));
}

static void breakpoints_fit_too(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		add("mem", PERF_TYPE_BREAKPOINT, 0);
	assert_false(fit(3));
	fake.n_ioctls = 0;
	assert_true(fit(2));
}

/* They are tried as the group they will be: neither pinned nor exclusive by themselves. */
static void members_are_plain(void **state)
{
	(void)state;
	add_hardware(2);
	events[1].attr.pinned = events[1].attr.exclusive = 1;
	assert_true(fit(2));
	for (size_t i = 0; i < fake.n; i++) {
		assert_false(fake.calls[i].attr.exclusive);
		assert_int_equal(fake.calls[i].pid, 0);
		assert_true(!fake.calls[i].attr.pinned || fake.calls[i].group_fd == -1);
	}
}

static void pmus_for_cpus_are_tried_there(void **state)
{
	(void)state;
	on_cpu(add("uncore", UNCORE_TYPE, 1), 3, false);
	on_cpu(add("uncore", UNCORE_TYPE, 2), 3, false);
	assert_true(fit(2));
	for (size_t i = 0; i < fake.n; i++) {
		assert_int_equal(fake.calls[i].pid, -1);
		assert_int_equal(fake.calls[i].cpu, 3);
	}
}

/* As make_event(), with a name that need not be freed. */
static struct event named(const char *name, uint32_t type, uint64_t config)
{
	struct event event = make_event("", type, config);

	free(event.name);
	event.name = (char *)(uintptr_t)name;
	return event;
}

static struct event on_pmu(const char *pmu, uint32_t type, bool core)
{
	struct event event = named("x", type, 1);

	event.pmu_name = (char *)(uintptr_t)pmu;
	event.pmu_is_core = core;
	return event;
}

static void who_shares_counters(void **state)
{
	const struct event generic = named("cycles", PERF_TYPE_HARDWARE, 0);
	const struct event raw = named("r1", PERF_TYPE_RAW, 1);
	const struct event software = named("cs", PERF_TYPE_SOFTWARE, 3);
	const struct event tracepoint = named("t", PERF_TYPE_TRACEPOINT, 3);
	const struct event mem = named("mem", PERF_TYPE_BREAKPOINT, 0);
	const struct event core = on_pmu("cpu", CORE_TYPE + 10, true);
	const struct event other_core = on_pmu("cpu_atom", CORE_TYPE + 11, true);
	const struct event uncore = on_pmu("uncore_imc_0", UNCORE_TYPE, false);
	const struct event other_uncore = on_pmu("uncore_imc_1", UNCORE_TYPE + 1, false);
	const struct event msr = on_pmu("msr", UNCORE_TYPE + 2, false);
	struct event clock = generic;
	const struct {
		const struct event *a, *b;
		bool share;
	} cases[] = {
		{ &generic, &generic, true }, { &generic, &raw, true }, { &generic, &core, true },
		{ &core, &core, true }, { &core, &other_core, false }, { &mem, &mem, true },
		{ &mem, &generic, false }, { &software, &software, false },
		{ &tracepoint, &tracepoint, false }, { &software, &generic, false },
		{ &uncore, &uncore, true }, { &uncore, &other_uncore, false },
		{ &uncore, &generic, false }, { &msr, &msr, false }, { &clock, &generic, false },
	};

	(void)state;
	clock.kind = EVENT_DURATION_TIME;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(events_share_counters(cases[i].a, cases[i].b), cases[i].share);
		assert_int_equal(events_share_counters(cases[i].b, cases[i].a), cases[i].share);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_two, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(as_many_as_there_are),
		TEST(the_kernel_lets_it_open_and_not_run),
		TEST(somebody_else_holds_one),
		TEST(what_does_not_open_takes_nothing),
		TEST(breakpoints_fit_too),
		TEST(members_are_plain),
		TEST(pmus_for_cpus_are_tried_there),
		TEST(who_shares_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
