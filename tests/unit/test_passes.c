/* SPDX-License-Identifier: MIT */
/*
 * The plan of --passes, on units that are numbers: which event is counted in which run of the command.
 */
#include "stat/passes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX = 24 };

static struct {
	struct event events[MAX];
	struct event_list list;
	size_t pmu[MAX];
	struct metric_line lines[MAX];
	struct metric_uses uses;
	size_t counters[MAX]; /* by PMU */
	size_t own[MAX]; /* by event: 1 + the counter that takes nothing else; 0: none */
	struct pass_plan plan;
	size_t too_big;
} w;

static char empty[1];

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.list.v = w.events;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pass_plan_release(&w.plan);
	metric_uses_release(&w.uses);
	return 0;
}

static size_t add(uint32_t type, uint64_t config, size_t pmu)
{
	size_t i = w.list.n++;
	struct event *event = &w.events[i];

	assert_true(i < MAX);
	*event = (struct event){ .name = empty, .pmu_name = empty, .unit = empty, .leader = i,
				 .n_members = 1, .scale = 1 };
	event->attr.type = type;
	event->attr.config = config;
	w.pmu[i] = pmu;
	return i;
}

static size_t add_hw(uint64_t config)
{
	return add(PERF_TYPE_HARDWARE, config, 0);
}

/* Events that no metric knows. */
static void add_raw(size_t n, size_t pmu)
{
	while (n--)
		add(PERF_TYPE_RAW, 0x1000 + w.list.n, pmu);
}

static size_t add_clock(void)
{
	return add(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, NO_PMU);
}

static void group(size_t first, size_t n)
{
	w.events[first].n_members = n;
	for (size_t i = first; i < first + n; i++)
		w.events[i].leader = first;
}

static bool fits(void *data, const size_t *events, size_t n)
{
	size_t general = 0;
	bool taken[MAX + 1] = { false };

	(void)data;
	for (size_t i = 0; i < n; i++) {
		size_t own = w.own[events[i]];

		assert_true(i == 0 || events[i] > events[i - 1]);
		assert_int_equal(w.pmu[events[i]], w.pmu[events[0]]);
		if (!own || taken[own])
			general++;
		taken[own] = true;
	}
	return general <= w.counters[w.pmu[events[0]]];
}

static int plan(void)
{
	struct pass_question question = { .events = &w.list, .pmu = w.pmu, .fits = fits };

	for (size_t i = 0; i < w.list.n; i++)
		w.lines[i] = metric_line_of(&w.events[i], &w.events[i].attr);
	metrics_bind(&w.uses, w.lines, w.list.n, NULL, 0);
	question.uses = w.uses.v;
	question.n_uses = w.uses.n;
	return pass_plan_make(&w.plan, &question, &w.too_big);
}

/*
 * The passes of the rows, a digit each, then what is counted again, as event@pass. Whatever the plan, each
 * pass fits and groups follow their leaders.
 */
static void expect(const char *want)
{
	struct str got = STR_INIT;

	assert_int_equal(plan(), 0);
	assert_int_equal(w.plan.n_given, w.list.n);
	for (size_t i = 0; i < w.plan.events.n; i++) {
		size_t original = i;

		assert_true(w.plan.pass[i] < w.plan.n_passes);
		if (i < w.list.n) {
			str_addf(&got, "%u", w.plan.pass[i]);
			assert_int_equal(w.plan.pass[i], w.plan.pass[w.plan.events.v[i].leader]);
			continue;
		}
		for (original = 0; original < w.list.n; original++)
			if (w.events[original].attr.config == w.plan.events.v[i].attr.config &&
			    w.events[original].attr.type == w.plan.events.v[i].attr.type)
				break;
		str_addf(&got, " %zu@%u", original, w.plan.pass[i]);
	}
	assert_string_equal(got.s, want);
	str_release(&got);
}

static void all_that_fits_is_one_pass(void **state)
{
	(void)state;
	w.counters[0] = 4;
	add_raw(4, 0);
	expect("0000");
	assert_int_equal(w.plan.n_passes, 1);
}

static void nothing_takes_a_counter(void **state)
{
	(void)state;
	add_clock();
	add_clock();
	expect("00");
	assert_int_equal(w.plan.n_passes, 1);
}

static void as_few_passes_as_there_can_be(void **state)
{
	(void)state;
	w.counters[0] = 7;
	add_raw(12, 0);
	expect("000000011111");
	assert_int_equal(w.plan.n_passes, 2);
}

static void one_counter(void **state)
{
	(void)state;
	w.counters[0] = 1;
	add_raw(3, 0);
	expect("012");
}

/* Even if nothing is free: by itself is the best that can be done for an event. */
static void no_counter(void **state)
{
	(void)state;
	add_raw(2, 0);
	expect("01");
}

static void pmus_do_not_compete(void **state)
{
	(void)state;
	w.counters[0] = 2;
	w.counters[3] = 1;
	add_raw(3, 0);
	add_raw(2, 3);
	expect("00101");
	assert_int_equal(w.plan.n_passes, 2);
}

static void counters_of_their_own(void **state)
{
	(void)state;
	w.counters[0] = 2;
	add_raw(4, 0);
	w.own[3] = 1;
	expect("0010");
}

static void groups_stay_whole(void **state)
{
	(void)state;
	w.counters[0] = 4;
	add_raw(8, 0);
	group(0, 3);
	group(3, 3);
	expect("00011101");
	assert_int_equal(w.plan.events.v[3].n_members, 3);
	assert_int_equal(w.plan.events.v[5].leader, 3);
}

static void clusters_are_packed_largest_first(void **state)
{
	(void)state;
	w.counters[0] = 4;
	add_raw(8, 0);
	group(1, 2);
	group(4, 4);
	expect("00001111");
}

static void clock_stays_with_its_group(void **state)
{
	(void)state;
	w.counters[0] = 2;
	add_raw(2, 0);
	add_clock();
	add_raw(2, 0);
	group(2, 3);
	/* Each rate needs the clock of its own pass. */
	expect("00111 2@0");
}

static void group_too_big(void **state)
{
	(void)state;
	w.counters[0] = 3;
	add_raw(6, 0);
	group(1, 4);
	assert_int_equal(plan(), -E2BIG);
	assert_int_equal(w.too_big, 1);
}

static void weak_group_is_broken_up_where_it_must(void **state)
{
	(void)state;
	w.counters[0] = 3;
	add_raw(6, 0);
	group(0, 4);
	group(4, 2);
	w.events[0].weak = w.events[4].weak = true;
	assert_int_equal(plan(), 0);
	assert_int_equal(w.plan.n_passes, 2);
	assert_int_equal(w.plan.events.v[0].n_members, 1);
	assert_int_equal(w.plan.events.v[3].leader, 3);
	assert_int_equal(w.plan.events.v[4].n_members, 2);
	assert_int_equal(w.plan.pass[4], w.plan.pass[5]);
}

static void exclusive_group_has_the_pmu_for_itself(void **state)
{
	(void)state;
	w.counters[0] = 7;
	w.counters[1] = 1;
	add_raw(3, 0);
	add_raw(1, 1);
	group(0, 2);
	w.events[0].attr.exclusive = 1;
	expect("0010");
}

static void events_of_a_ratio_are_together(void **state)
{
	(void)state;
	w.counters[0] = 2;
	add_hw(PERF_COUNT_HW_CPU_CYCLES);
	add_hw(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	add_hw(PERF_COUNT_HW_BRANCH_MISSES);
	add_hw(PERF_COUNT_HW_INSTRUCTIONS);
	expect("0110");
}

/* A third ratio shares an event with the first: it is counted with both. */
static void event_of_two_ratios_is_counted_again(void **state)
{
	(void)state;
	w.counters[0] = 2;
	add_hw(PERF_COUNT_HW_CPU_CYCLES);
	add_hw(PERF_COUNT_HW_INSTRUCTIONS);
	add_hw(PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
	/* Stalls per instruction have a counter beside the stalls; stalls per cycle need another pass. */
	expect("001 1@1 0@2 2@2");
	assert_int_equal(w.plan.n_passes, 3);
	assert_int_equal(w.plan.events.v[3].n_members, 1);
}

static void ratio_that_fits_nowhere(void **state)
{
	(void)state;
	w.counters[0] = 1;
	add_hw(PERF_COUNT_HW_CPU_CYCLES);
	add_hw(PERF_COUNT_HW_INSTRUCTIONS);
	expect("01");
}

static void clock_is_counted_in_each_pass_that_has_rates(void **state)
{
	(void)state;
	w.counters[0] = 2;
	add_clock();
	add_raw(5, 0);
	expect("000112 0@1 0@2");
}

/* An event that does not open takes nothing: its unit is none. */
static void first_pass_has_what_takes_no_counter(void **state)
{
	(void)state;
	w.counters[0] = 1;
	add(PERF_TYPE_RAW, 1, NO_PMU);
	add_raw(2, 0);
	add(PERF_TYPE_TRACEPOINT, 1, NO_PMU);
	expect("0010");
}

/* ---- any plan ---- */

static uint64_t random_state = 88172645463325252u;

static size_t pick(size_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (size_t)(random_state >> 33) % n;
}

static void make_any_world(void)
{
	static const uint64_t configs[] = {
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
		PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
		PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	};
	size_t n = 1 + pick(12);

	w.counters[0] = 1 + pick(5);
	w.counters[1] = 1 + pick(2);
	while (w.list.n < n) {
		size_t kind = pick(8);

		if (kind < 4)
			add_hw(configs[pick(ARRAY_SIZE(configs))]);
		else if (kind == 4)
			add_clock();
		else
			add_raw(1, pick(2));
	}
	for (size_t i = 0; i + 2 < n; i++) {
		size_t members = 2 + pick(2);

		if (pick(4) || i + members > n)
			continue;
		group(i, members);
		w.events[i].weak = true; /* so that none is refused */
		i += members - 1;
	}
}

static size_t original_of(const struct event *copy)
{
	size_t i = 0;

	while (i < w.list.n && memcmp(&w.events[i].attr, &copy->attr, sizeof(copy->attr)))
		i++;
	return i;
}

static void each_pass_fits(void)
{
	for (unsigned pass = 0; pass < w.plan.n_passes; pass++) {
		size_t needed[2] = { 0 };

		for (size_t i = 0; i < w.plan.events.n; i++) {
			size_t from = i < w.list.n ? i : original_of(&w.plan.events.v[i]);

			if (w.plan.pass[i] == pass && w.pmu[from] != NO_PMU)
				needed[w.pmu[from]]++;
		}
		assert_true(needed[0] <= w.counters[0]);
		assert_true(needed[1] <= w.counters[1]);
	}
}

/* As the book will bind them: of one pass, or of more hardware events than there are counters. */
static void each_metric_is_of_one_pass(void)
{
	struct metric_line lines[2 * MAX * MAX];

	assert_true(w.plan.events.n <= ARRAY_SIZE(lines));
	for (size_t i = 0; i < w.plan.events.n; i++) {
		lines[i] = metric_line_of(&w.plan.events.v[i], &w.plan.events.v[i].attr);
		lines[i].pass = w.plan.pass[i];
		lines[i].again = i >= w.plan.n_given;
	}
	metrics_bind(&w.uses, lines, w.plan.events.n, NULL, 0);
	for (size_t u = 0; u < w.uses.n; u++) {
		const struct metric_use *use = &w.uses.v[u];
		size_t hardware = 0, first = SIZE_MAX;
		bool apart = false;

		assert_true(use->line < w.plan.n_given);
		for (size_t i = 0; i < use->n_inputs; i++) {
			size_t line = use->inputs[i].line;

			if (line == SIZE_MAX)
				continue;
			first = first == SIZE_MAX ? line : first;
			hardware += lines[line].asked->type == PERF_TYPE_HARDWARE;
			apart |= lines[line].pass != lines[first].pass;
		}
		assert_true(!apart || hardware > w.counters[0]);
	}
}

static void whatever_is_asked(void **state)
{
	for (int round = 0; round < 2000; round++) {
		setup(state);
		make_any_world();
		assert_int_equal(plan(), 0);
		each_pass_fits();
		each_metric_is_of_one_pass();
		for (size_t i = 0; i < w.list.n; i++)
			assert_int_equal(w.plan.pass[i], w.plan.pass[w.plan.events.v[i].leader]);
		teardown(state);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_that_fits_is_one_pass),
		TEST(nothing_takes_a_counter),
		TEST(as_few_passes_as_there_can_be),
		TEST(one_counter),
		TEST(no_counter),
		TEST(pmus_do_not_compete),
		TEST(counters_of_their_own),
		TEST(groups_stay_whole),
		TEST(clusters_are_packed_largest_first),
		TEST(clock_stays_with_its_group),
		TEST(group_too_big),
		TEST(weak_group_is_broken_up_where_it_must),
		TEST(exclusive_group_has_the_pmu_for_itself),
		TEST(events_of_a_ratio_are_together),
		TEST(event_of_two_ratios_is_counted_again),
		TEST(ratio_that_fits_nowhere),
		TEST(clock_is_counted_in_each_pass_that_has_rates),
		TEST(first_pass_has_what_takes_no_counter),
		TEST(whatever_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
