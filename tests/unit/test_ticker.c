/* SPDX-License-Identifier: MIT */
/* The clock of -I does not drift, and what it missed is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/kern.h"

#include <cmocka.h>

static void test_ticks_are_multiples(void **state)
{
	struct ticker ticker;

	(void)state;
	ticker_start(&ticker, 1000, 100);
	assert_int_equal(ticker.next_ns, 1100);
	assert_false(ticker_due(&ticker, 1099));
	assert_true(ticker_due(&ticker, 1100));
	assert_false(ticker_due(&ticker, 1100));
	/* 30 late: the next is at 1300 all the same. */
	assert_true(ticker_due(&ticker, 1230));
	assert_int_equal(ticker.next_ns, 1300);
}

static void test_missed_ticks_are_left_out(void **state)
{
	struct ticker ticker;

	(void)state;
	ticker_start(&ticker, 0, 100);
	assert_true(ticker_due(&ticker, 555));
	assert_int_equal(ticker.next_ns, 600);
	assert_false(ticker_due(&ticker, 599));
	assert_true(ticker_due(&ticker, 600));
}

static void test_never(void **state)
{
	struct ticker ticker;

	(void)state;
	ticker_start(&ticker, 5, 0);
	assert_false(ticker_due(&ticker, UINT64_MAX));
	ticker_start(&ticker, 5, 100);
	ticker_stop(&ticker);
	assert_false(ticker_due(&ticker, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks_are_multiples),
		cmocka_unit_test(test_missed_ticks_are_left_out),
		cmocka_unit_test(test_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
