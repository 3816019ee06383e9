/* Distinct places: what makes two of them one, and how they are said. */
#include "profile/profile.h"

#include <stdlib.h>

#include <cmocka.h>

static void equal_is_one(void **state)
{
	struct places places = { .n = 0 };
	struct dso a = { .index = 0 }, b = { .index = 1 };
	const struct place base = { .dso = &a, .addr = 0x100, .mode = MISC_USER };
	struct place other = base;
	uint32_t first = places_intern(&places, &base, 0x400100, 0, false);

	(void)state;
	/* Where it was mapped makes no difference; the first address is kept. */
	assert_int_equal(places_intern(&places, &base, 0x7f0100, 0, false), first);
	assert_int_equal(places.v[first].ip, 0x400100);
	assert_int_not_equal(places_intern(&places, &base, 0x400100, 0, true), first);
	other.addr = 0x101;
	assert_int_not_equal(places_intern(&places, &other, 0x400101, 0, false), first);
	other = base;
	other.mode = MISC_GUEST_USER;
	assert_int_not_equal(places_intern(&places, &other, 0x400100, 0, false), first);
	other = base;
	other.dso = &b;
	assert_int_not_equal(places_intern(&places, &other, 0x400100, 0, false), first);
	other.dso = NULL;
	assert_int_not_equal(places_intern(&places, &other, 0x400100, 0, false), first);
	/* Another code at the address. */
	assert_int_not_equal(places_intern(&places, &base, 0x400100, 1, false), first);
	assert_int_equal(places_intern(&places, &base, 0x400100, 1, false), places.n - 1);
	assert_int_equal(places.n, 7);
	free(places.v);
	index_release(&places.ix);
}

static void many_are_found_again(void **state)
{
	enum { N = 300000 }; /* so many that some hashes agree */
	struct places places = { .n = 0 };
	struct place place = { .mode = MISC_KERNEL };

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < N; i++) {
			place.addr = i * 4096ULL;
			assert_int_equal(places_intern(&places, &place, place.addr, 0, false), i);
		}
	assert_int_equal(places.n, N);
	free(places.v);
	index_release(&places.ix);
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
		const struct place_row row = { .mode = rows[i].mode };

		assert_int_equal(place_level(&row), rows[i].level);
	}
}

static void no_place_has_one_unknown_frame(void **state)
{
	struct places places = { .n = 0 };
	struct session session = { .places = &places };
	struct place nowhere = { .addr = 5 };
	uint32_t place = places_intern(&places, &nowhere, 5, 0, false);

	(void)state;
	assert_int_equal(place_frames(&session, PLACE_NONE, 0)->n, 1);
	assert_null(place_symbol(&session, PLACE_NONE));
	assert_int_equal(place_frames(&session, place, SYM_LINES)->n, 1);
	assert_null(place_symbol(&session, place));
	free(places.v);
	index_release(&places.ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_is_one),
		cmocka_unit_test(many_are_found_again),
		cmocka_unit_test(levels),
		cmocka_unit_test(no_place_has_one_unknown_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
