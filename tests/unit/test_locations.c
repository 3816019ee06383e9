/* SPDX-License-Identifier: MIT */
/* Distinct locations: what makes two of them one, and how they are said. */
#include "profile/profile.h"

#include <stdlib.h>

#include <cmocka.h>

static void equal_is_one(void **state)
{
	struct locations locations = { .n = 0 };
	struct dso a = { .index = 0 }, b = { .index = 1 };
	const struct location base = { .dso = &a, .addr = 0x100, .mode = MISC_USER };
	struct location other = base;
	uint32_t first = locations_intern(&locations, &base, 0x400100, 0, false);

	(void)state;
	/* Where it was mapped makes no difference; the first address is kept. */
	assert_int_equal(locations_intern(&locations, &base, 0x7f0100, 0, false), first);
	assert_int_equal(locations.v[first].ip, 0x400100);
	assert_int_not_equal(locations_intern(&locations, &base, 0x400100, 0, true), first);
	other.addr = 0x101;
	assert_int_not_equal(locations_intern(&locations, &other, 0x400101, 0, false), first);
	other = base;
	other.mode = MISC_GUEST_USER;
	assert_int_not_equal(locations_intern(&locations, &other, 0x400100, 0, false), first);
	other = base;
	other.dso = &b;
	assert_int_not_equal(locations_intern(&locations, &other, 0x400100, 0, false), first);
	other.dso = NULL;
	assert_int_not_equal(locations_intern(&locations, &other, 0x400100, 0, false), first);
	/* Another code at the address. */
	assert_int_not_equal(locations_intern(&locations, &base, 0x400100, 1, false), first);
	assert_int_equal(locations_intern(&locations, &base, 0x400100, 1, false), locations.n - 1);
	assert_int_equal(locations.n, 7);
	free(locations.v);
	index_release(&locations.ix);
}

static void many_are_found_again(void **state)
{
	enum { N = 300000 }; /* so many that some hashes agree */
	struct locations locations = { .n = 0 };
	struct location location = { .mode = MISC_KERNEL };

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < N; i++) {
			location.addr = i * 4096ULL;
			assert_int_equal(locations_intern(&locations, &location, location.addr, 0, false), i);
		}
	assert_int_equal(locations.n, N);
	free(locations.v);
	index_release(&locations.ix);
}

static void levels(void **state)
{
	static const struct {
		uint8_t mode;
		char level;
	} rows[] = { { MISC_KERNEL, 'k' },
		     { MISC_USER, '.' },
		     { MISC_HYPERVISOR, 'H' },
		     { MISC_GUEST_KERNEL, 'g' },
		     { MISC_GUEST_USER, 'u' },
		     { 0, 'H' },
		     { 7, 'H' } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct location_row row = { .mode = rows[i].mode };

		assert_int_equal(location_level(&row), rows[i].level);
	}
}

static void no_location_has_one_unknown_frame(void **state)
{
	struct locations locations = { .n = 0 };
	struct session session = { .locations = &locations };
	struct location nowhere = { .addr = 5 };
	uint32_t location = locations_intern(&locations, &nowhere, 5, 0, false);

	(void)state;
	assert_int_equal(location_frames(&session, LOCATION_NONE, 0)->n, 1);
	assert_null(location_symbol(&session, LOCATION_NONE));
	assert_int_equal(location_frames(&session, location, SYM_LINES)->n, 1);
	assert_null(location_symbol(&session, location));
	free(locations.v);
	index_release(&locations.ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_is_one),
		cmocka_unit_test(many_are_found_again),
		cmocka_unit_test(levels),
		cmocka_unit_test(no_location_has_one_unknown_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
