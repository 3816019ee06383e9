/* SPDX-License-Identifier: MIT */
/*
 * What is a difference between passes, and what is noise.
 */
#include "stat/passes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MAX = 8 };

static struct {
	struct event events[MAX];
	struct series series[MAX];
	struct pass_count counts[MAX];
	size_t n;
	struct str which;
} w;

static char name[] = "event";

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	str_init(&w.which);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	str_release(&w.which);
	return 0;
}

static void count_event(uint32_t type, uint64_t config, unsigned pass, size_t n, const double *values)
{
	size_t i = w.n++;

	assert_true(i < MAX);
	w.events[i] = (struct event){ .name = name };
	w.events[i].attr.type = type;
	w.events[i].attr.config = config;
	for (size_t k = 0; k < n; k++)
		series_add(&w.series[i], values[k]);
	w.counts[i] = (struct pass_count){ &w.events[i], pass, &w.series[i] };
}

static void counted(uint64_t config, unsigned pass, double value)
{
	count_event(PERF_TYPE_RAW, config, pass, 1, &value);
}

static void timed(unsigned pass, double ms)
{
	double ns = ms * 1e6;

	count_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, pass, 1, &ns);
}

static const char *differences(void)
{
	bool differ;

	str_reset(&w.which);
	differ = passes_differ(w.counts, w.n, &w.which);
	assert_int_equal(differ, w.which.len > 0);
	return w.which.s;
}

static void of_one_run_each(void **state)
{
	(void)state;
	counted(1, 0, 1000);
	counted(1, 0, 1000);
	counted(1, 1, 2000);
	counted(2, 0, 5000000);
	counted(2, 1, 5400000);
	assert_string_equal(differences(), "event 1,000 in pass 1, 2,000 in pass 2");
	series_add(&w.series[4], 6400000); /* of one pass more runs: the scatter of the other is not known */
	assert_string_equal(differences(), "event 1,000 in pass 1, 2,000 in pass 2; "
					   "event 5,000,000 in pass 1, 5,900,000 in pass 2");
}

static void noise_of_one_run_each(void **state)
{
	(void)state;
	counted(1, 0, 60);
	counted(1, 1, 85); /* 4 * sqrt(72.5) + 7.25 = 41.3 */
	counted(2, 0, 1000000);
	counted(2, 1, 1100000);
	timed(0, 1);
	timed(1, 3);
	timed(2, 2.5);
	assert_string_equal(differences(), "");
}

/* The two that are furthest from each other, and the earlier pass first. */
static void of_many_passes(void **state)
{
	(void)state;
	timed(0, 100);
	timed(1, 180);
	timed(2, 60.125);
	counted(1, 2, 0);
	counted(1, 0, 1);
	assert_string_equal(differences(), "event 180.00 msec in pass 2, 60.12 msec in pass 3");
}

static void in_one_pass_nothing_differs(void **state)
{
	(void)state;
	counted(1, 0, 1000);
	counted(1, 0, 5000);
	counted(2, 1, 9000);
	assert_string_equal(differences(), "");
}

static void repeats_tell_the_noise(void **state)
{
	const double a[] = { 10000, 10100, 9900, 10050, 9950 }, b[] = { 10800, 10900, 10700, 10850, 10750 };
	const double wide_a[] = { 8000, 12000, 9000, 11000, 10000 }, wide_b[] = { 8800, 12800, 9800, 11800, 10800 };

	(void)state;
	/* 8 % apart: 16 times the deviation of the difference, and then less than once. */
	count_event(PERF_TYPE_RAW, 1, 0, 5, a);
	count_event(PERF_TYPE_RAW, 1, 1, 5, b);
	count_event(PERF_TYPE_RAW, 2, 0, 5, wide_a);
	count_event(PERF_TYPE_RAW, 2, 1, 5, wide_b);
	assert_string_equal(differences(), "event 10,000 in pass 1, 10,800 in pass 2");
}

/* Without any scatter a count that differs by a hair is not worth a word. */
static void exact_repeats(void **state)
{
	const double a[] = { 1000, 1000 }, b[] = { 1011, 1011 }, c[] = { 1020, 1020 };

	(void)state;
	count_event(PERF_TYPE_RAW, 1, 0, 2, a);
	count_event(PERF_TYPE_RAW, 1, 1, 2, b);
	assert_string_equal(differences(), "");
	count_event(PERF_TYPE_RAW, 1, 2, 2, c);
	assert_string_equal(differences(), "event 1,000 in pass 1, 1,020 in pass 3");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_one_run_each),
		TEST(noise_of_one_run_each),
		TEST(of_many_passes),
		TEST(in_one_pass_nothing_differs),
		TEST(repeats_tell_the_noise),
		TEST(exact_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
