/* SPDX-License-Identifier: MIT */
/*
 * A profile that keeps functions, not addresses: all addresses of a function are one location, also behind a
 * compaction, which gives those that are left new numbers while their addresses stay known.
 */
#include "report_recording.h"

enum { STEPS_MAX = 100 };

static const struct recorded_samples samples[] = {
	{ NULL, "a", 1, 0, 0, 0 },
	{ NULL, "b", 100, 0, 0, 0 },
	{ NULL, "0x10000210", 100, 0, 0, 0 }, /* b, 8 bytes further */
	{ NULL, "0x12345678", 55, 0, 0, 0 }, /* no function */
	{ NULL, "b", 300, 0, 0, 0 },
	{ NULL, "0x10000210", 300, 0, 0, 0 },
	{ NULL, "0x10000280", 10, 0, 0, 0 }, /* b, where it was not before */
	{ NULL, "c", 20, 0, 0, 0 },
};

/* The samples of a function; "": of those that are in none. */
static uint64_t samples_of(struct profile *profile, const char *name)
{
	const struct cells *cells = &profile->events[0]->cells;
	uint64_t sum = 0;

	for (size_t i = 0; i < cells->n; i++) {
		uint32_t location = (uint32_t)cell_fact(cells, i, FACT_LOCATION);
		const struct symbol *symbol;

		assert_true(location < profile->session.locations->n);
		symbol = location_symbol(&profile->session, location);
		if (!strcmp(symbol ? symbol->name : "", name))
			sum += cells->values[i].n_samples;
	}
	return sum;
}

/* Until so many samples were taken. */
static void feed(struct profile *profile, struct reader *reader, uint64_t n)
{
	struct str err = STR_INIT;

	for (int i = 0; i < STEPS_MAX && profile->session.replay.counts.samples < n; i++)
		if (profile_feed(profile, &reader->source, 0, &err) < 0)
			fail_msg("%s", err.s);
	assert_true(profile->session.replay.counts.samples >= n);
}

static void addresses_of_a_function_are_one(void **state)
{
	struct recorded recorded = { .two_sockets = false };
	struct profile_options options = { .shape = { .facts = 1ULL << FACT_LOCATION, .by_function = true } };
	struct profile *profile;
	struct reader reader;
	struct str err = STR_INIT;
	uint64_t b;

	(void)state;
	record_samples(&recorded, samples, ARRAY_SIZE(samples), 1);
	options.session = recorded_options(&recorded).session;
	assert_int_equal(reader_open(&reader, recorded.data, &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	feed(profile, &reader, 201);
	assert_int_equal(samples_of(profile, "a"), 1);
	assert_true(samples_of(profile, "b") >= 200);
	assert_in_range(profile->events[0]->cells.n, 2, 3);
	/* a, which came first, goes: b has its number. */
	for (int i = 0; i < STEPS_MAX && samples_of(profile, "a"); i++)
		profile_compact(profile, 1);
	assert_int_equal(samples_of(profile, "a"), 0);
	b = samples_of(profile, "b");
	assert_true(b > 0);
	feed(profile, &reader, 886);
	assert_int_equal(samples_of(profile, "c"), 20);
	assert_true(samples_of(profile, "b") >= b + 610);
	assert_int_equal(profile->events[0]->totals.n_samples,
			 samples_of(profile, "b") + samples_of(profile, "c") + samples_of(profile, ""));
	assert_in_range(profile->events[0]->cells.n, 2, 3);
	profile_end(profile);
	profile_free(profile);
	reader_close(&reader);
	recorded_remove(&recorded);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(addresses_of_a_function_are_one) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
