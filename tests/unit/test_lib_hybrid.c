/* SPDX-License-Identifier: MIT */
/*
 * libpstat on a machine with two types of cores, and a scripted kernel: what is scaled by what, and what is not.
 */
#include "count/lib.h"

#include "unit/fake_machine.h"
#include "unit/fake_sys.h"

#include <unistd.h>

/* What each descriptor says, in the order of opening: value, enabled and running ns. */
static uint64_t said[8][3];

static ssize_t say(int fd, uint64_t *words, size_t bytes)
{
	const struct fake_call *call = &fake.calls[fd - FAKE_FD];
	size_t n = 3;

	(void)bytes;
	assert_false(call->attr.read_format & PERF_FORMAT_GROUP);
	memcpy(words, said[fd - FAKE_FD], n * sizeof(*words));
	return (ssize_t)(n * sizeof(*words));
}

struct hybrid {
	struct fake_machine machine;
	struct kern kern;
	struct pstat_events *events;
	struct pstat_counters *counters;
	struct pstat_readings *readings;
};

static void open_hybrid(struct hybrid *h, const char *text)
{
	const struct pstat_open_options options = { .size = sizeof(options) };
	struct str err = STR_INIT;

	fake_machine_init(&h->machine);
	if (!fake_machine_load(&h->machine, "hybrid"))
		skip();
	fake_reset();
	fake.read = say;
	h->kern = (struct kern){ &fake_ops, h->machine.host };
	assert_int_equal(pstat_events_new(&h->events), 0);
	assert_int_equal(event_list_parse(&h->events->list, text, &h->machine.host, &err), 0);
	assert_int_equal(lib_counters_open(&h->counters, h->events, &options, NULL, &h->kern, &err), 0);
	assert_int_equal(pstat_readings_new(&h->readings, h->counters), 0);
	str_release(&err);
}

static void close_hybrid(struct hybrid *h)
{
	pstat_readings_free(h->readings);
	pstat_close(h->counters);
	pstat_events_free(h->events);
	fake_machine_release(&h->machine);
}

/* Half of the time on each type; on the first the counter was shared, so that it ran for half of its half. */
static void test_half_the_time_on_each(void **state)
{
	struct hybrid h;
	const struct pstat_reading *r;

	(void)state;
	open_hybrid(&h, "cpu_core/cycles/,cpu_core/instructions/,cpu_atom/cycles/");
	memcpy(said, (uint64_t[3][3]){ { 1000, 100, 25 }, { 3000, 100, 50 }, { 500, 100, 50 } }, sizeof(said[0]) * 3);
	assert_int_equal(pstat_read(h.counters, h.readings), 0);
	r = pstat_reading_at(h.readings, 0);
	assert_int_equal(r->raw, 1000);
	assert_int_equal(r->scaled, 2000);
	assert_int_equal(r->state, PSTAT_SCALED);
	assert_int_equal(r->enabled_ns, 50);
	r = pstat_reading_at(h.readings, 1);
	assert_int_equal(r->scaled, 3000);
	assert_int_equal(r->state, PSTAT_COUNTED);
	r = pstat_reading_at(h.readings, 2);
	assert_int_equal(r->scaled, 500);
	assert_int_equal(r->state, PSTAT_COUNTED);
	close_hybrid(&h);
}

/* Nobody counts on the other type: where the task was is not known. */
static void test_one_type_alone(void **state)
{
	struct hybrid h;
	const struct pstat_reading *r;

	(void)state;
	open_hybrid(&h, "cpu_core/cycles/");
	memcpy(said, (uint64_t[1][3]){ { 1000, 100, 25 } }, sizeof(said[0]));
	assert_int_equal(pstat_read(h.counters, h.readings), 0);
	r = pstat_reading_at(h.readings, 0);
	assert_int_equal(r->scaled, 1000);
	assert_int_equal(r->state, PSTAT_LOWER_BOUND);
	assert_string_equal(r->reason, "not scaled: nothing is counted on the other cores");
	close_hybrid(&h);
}

/* A name that became one event on each type says which one it is, and so JSON has two keys. */
static void test_names(void **state)
{
	struct hybrid h;
	char json[200];

	(void)state;
	open_hybrid(&h, "cycles");
	memcpy(said, (uint64_t[2][3]){ { 7, 100, 40 }, { 5, 100, 60 } }, sizeof(said[0]) * 2);
	assert_int_equal(pstat_read(h.counters, h.readings), 0);
	assert_true(pstat_readings_json(h.readings, json, sizeof(json)) > 0);
	assert_string_equal(json, "{\"cpu_atom/cycles/\":7,\"cpu_core/cycles/\":5}");
	close_hybrid(&h);
}

/* What was counted before a reset is gone, times too: then the same shares say the same. */
static void test_after_a_reset(void **state)
{
	struct hybrid h;

	(void)state;
	open_hybrid(&h, "cpu_core/cycles/,cpu_atom/cycles/");
	memcpy(said, (uint64_t[2][3]){ { 1000, 100, 100 }, { 0, 100, 0 } }, sizeof(said[0]) * 2);
	assert_int_equal(pstat_reset(h.counters), 0);
	memcpy(said, (uint64_t[2][3]){ { 1400, 300, 180 }, { 60, 300, 120 } }, sizeof(said[0]) * 2);
	assert_int_equal(pstat_read(h.counters, h.readings), 0);
	assert_int_equal(pstat_reading_at(h.readings, 0)->scaled, 400);
	assert_int_equal(pstat_reading_at(h.readings, 0)->enabled_ns, 80);
	assert_int_equal(pstat_reading_at(h.readings, 1)->scaled, 60);
	assert_int_equal(pstat_reading_at(h.readings, 1)->state, PSTAT_COUNTED);
	close_hybrid(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_the_time_on_each),
		cmocka_unit_test(test_one_type_alone),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_after_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
