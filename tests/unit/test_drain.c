/*
 * Draining, from rings that are plain memory: 256 of them, records that wrap, pieces, fairness, and
 * what is counted on the way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/drain.h"

#include <cmocka.h>

enum { N_RINGS = 256, RING_BYTES = 64 << 10, ID_A = 11, ID_B = 22 };

static struct fake_ring {
	struct perf_event_mmap_page page;
	_Alignas(8) unsigned char data[RING_BYTES];
} *memory;
static struct ring rings[N_RINGS];
static struct events events;
static struct drain drain;
static struct str taken; /* all that was handed on */
static struct tally total;
static struct {
	size_t calls, ends, most_bytes, mmaps;
	int fail; /* take() fails with it */
	int refill; /* the ring that is written to while a piece is handed on; -1: none */
} seen;
static struct str err;

/* As the kernel does it. */
static void put(size_t index, const void *bytes, size_t n)
{
	struct ring *ring = &rings[index];
	uint64_t head = ring->page->data_head;

	assert_true(head + n - ring->page->data_tail <= RING_BYTES);
	for (size_t i = 0; i < n; i++)
		ring->data[(head + i) & (RING_BYTES - 1)] = ((const unsigned char *)bytes)[i];
	ring->page->data_head = head + n;
}

static void put_words(size_t index, uint32_t type, const uint64_t *words, size_t n)
{
	uint64_t record[64];
	const struct perf_event_header header = { .type = type, .size = (uint16_t)(8 + 8 * n) };

	memcpy(record, &header, sizeof(header));
	if (n)
		memcpy(record + 1, words, n * sizeof(*words));
	put(index, record, header.size);
}

/* IDENTIFIER, IP, TID, TIME, PERIOD */
static void put_sample(size_t index, uint64_t id, uint64_t time)
{
	put_words(index, RECORD_SAMPLE, (uint64_t[]){ id, 0x1000, 7, time, 1 }, 5);
}

static int take(void *data, struct drain *from, bool round_ends, struct str *why)
{
	(void)why;
	assert_ptr_equal(data, &seen);
	seen.calls++;
	seen.ends += round_ends;
	if (from->buf.len > seen.most_bytes)
		seen.most_bytes = from->buf.len;
	if (seen.refill >= 0)
		put_sample((size_t)seen.refill, ID_A, 9);
	str_addn(&taken, from->buf.s, from->buf.len);
	tally_merge(&total, &from->tally);
	return seen.fail;
}

static void on_space(void *data, const struct record *record)
{
	(void)data;
	assert_int_equal(record->type, RECORD_MMAP2);
	assert_int_equal(record->size, 8 + 8 * 12);
	seen.mmaps++;
}

static void add_event(uint64_t id)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.sample_id_all = 1,
	};

	events_add(&events, &attr, sizeof(attr), &id, 1);
}

static int setup(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	seen.refill = -1;
	memory = calloc(N_RINGS, sizeof(*memory));
	for (size_t i = 0; i < N_RINGS; i++)
		rings[i] = (struct ring){
			.page = &memory[i].page,
			.data = memory[i].data,
			.data_bytes = RING_BYTES,
			.cpu = (int)i,
		};
	events_init(&events);
	add_event(ID_A);
	add_event(ID_B);
	drain_init(&drain, &events);
	drain.take = take;
	drain.on_space = on_space;
	drain.data = &seen;
	for (size_t i = 0; i < N_RINGS; i++)
		drain_add_ring(&drain, &rings[i]);
	tally_init(&total, &events);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	drain_release(&drain);
	tally_release(&total);
	events_release(&events);
	str_release(&taken);
	str_release(&err);
	free(memory);
	return 0;
}

static void nothing(void **state)
{
	(void)state;
	assert_int_equal(drain_pass(&drain, &err), 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(taken.len, 0);
	assert_true(total.first_ns > total.last_ns);
}

static void all_rings_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_RINGS; i++)
		put_sample(i, i % 2 ? ID_A : ID_B, 1000 + i);
	assert_int_equal(drain_pass(&drain, &err), N_RINGS * 48);
	assert_int_equal(taken.len, N_RINGS * 48);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(total.v[0].samples, N_RINGS / 2);
	assert_int_equal(total.v[1].samples, N_RINGS / 2);
	assert_int_equal(total.v[2].samples, 0);
	assert_int_equal(total.first_ns, 1000);
	assert_int_equal(total.last_ns, 1000 + N_RINGS - 1);
	for (size_t i = 0; i < N_RINGS; i++)
		assert_int_equal(rings[i].page->data_tail, 48);
	assert_int_equal(drain_pass(&drain, &err), 0);
}

static void record_that_wraps(void **state)
{
	struct ring *ring = &rings[5];

	(void)state;
	ring->tail = ring->page->data_tail = ring->page->data_head = 3 * RING_BYTES - 16;
	put_sample(5, ID_B, 77);
	assert_int_equal(drain_pass(&drain, &err), 48);
	assert_int_equal(total.v[1].samples, 1);
	assert_int_equal(total.first_ns, 77);
	assert_memory_equal(taken.s + 8, &(uint64_t){ ID_B }, 8);
}

/* Full rings: 16 MiB do not come together in memory, and the round ends once, with the last piece. */
static void pieces(void **state)
{
	const struct perf_event_header header = { .type = RECORD_SAMPLE, .size = 32 << 10 };
	unsigned char *record = calloc(1, 32 << 10);

	(void)state;
	memcpy(record, &header, sizeof(header));
	for (size_t i = 0; i < N_RINGS; i++) {
		put(i, record, 32 << 10);
		put(i, record, 32 << 10);
	}
	free(record);
	assert_int_equal(drain_pass(&drain, &err), (ssize_t)N_RINGS * RING_BYTES);
	assert_int_equal(taken.len, (size_t)N_RINGS * RING_BYTES);
	assert_int_equal(seen.most_bytes, DRAIN_PIECE_BYTES);
	assert_int_equal(seen.calls, N_RINGS * RING_BYTES / DRAIN_PIECE_BYTES + 1);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(total.v[2].samples, 2 * N_RINGS);
}

/* A ring that fills up again and again is looked at once a pass. */
static void fair(void **state)
{
	(void)state;
	put_sample(0, ID_A, 1);
	put_sample(255, ID_B, 2);
	seen.refill = 0;
	assert_int_equal(drain_pass(&drain, &err), 2 * 48);
	assert_int_equal(total.v[1].samples, 1);
	seen.refill = -1;
	assert_int_equal(drain_pass(&drain, &err), 48);
}

static void failure_ends_the_pass(void **state)
{
	(void)state;
	put_sample(0, ID_A, 1);
	seen.fail = -ENOSPC;
	assert_int_equal(drain_pass(&drain, &err), -ENOSPC);
	seen.fail = 0;
	put_sample(0, ID_A, 2);
	assert_int_equal(drain_pass(&drain, &err), 48);
}

static void losses(void **state)
{
	(void)state;
	put_words(0, RECORD_LOST, (uint64_t[]){ ID_B, 100, 0, 0 }, 4);
	put_words(1, RECORD_LOST, (uint64_t[]){ ID_B, 11, 0, 0 }, 4);
	put_words(1, RECORD_LOST, (uint64_t[]){ 999, 5, 0, 0 }, 4);
	put_words(2, RECORD_LOST_SAMPLES, (uint64_t[]){ 3, 7, 123, ID_A }, 4);
	put_words(3, RECORD_THROTTLE, (uint64_t[]){ 55, ID_A, ID_A, 7, 55, ID_A }, 6);
	put_words(3, RECORD_UNTHROTTLE, (uint64_t[]){ 56, ID_A, ID_A, 7, 55, ID_A }, 6);
	put_words(3, RECORD_MMAP2, (uint64_t[12]){ 0 }, 12);
	assert_true(drain_pass(&drain, &err) > 0);
	assert_int_equal(total.v[1].lost, 111);
	assert_int_equal(total.v[2].lost, 5);
	assert_int_equal(total.v[0].lost_samples, 3);
	assert_int_equal(total.v[0].throttled, 1);
	assert_int_equal(total.v[0].unthrottled, 1);
	assert_int_equal(seen.mmaps, 1);
	assert_int_equal(total.records, 7);
	assert_true(total.first_ns > total.last_ns);
}

/* A kernel never writes such a thing; nothing is read beyond what is there. */
static void broken_records(void **state)
{
	const struct perf_event_header cases[] = {
		{ .type = RECORD_SAMPLE, .size = 0 },
		{ .type = RECORD_SAMPLE, .size = 12 },
		{ .type = RECORD_SAMPLE, .size = 65528 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t *bytes = calloc(2, sizeof(*bytes));

		memcpy(bytes, &cases[i], sizeof(cases[i]));
		assert_int_equal(tally_walk(&total, (const uint8_t *)bytes, 16, on_space, NULL), 0);
		free(bytes);
	}
	/* Too short for what its type should have: counted, not read. */
	put_words(0, RECORD_SAMPLE, NULL, 0);
	put_words(0, RECORD_LOST, (uint64_t[]){ ID_A }, 1);
	put_words(0, RECORD_THROTTLE, NULL, 0);
	put_words(0, RECORD_LOST_SAMPLES, NULL, 0);
	assert_int_equal(drain_pass(&drain, &err), 8 + 16 + 8 + 8);
	assert_int_equal(total.v[2].samples, 1);
	assert_int_equal(total.v[0].lost, 0);
}

static void merging_starts_anew(void **state)
{
	(void)state;
	put_sample(0, ID_A, 500);
	drain_pass(&drain, &err);
	tally_release(&total);
	tally_init(&total, &events);
	put_sample(0, ID_A, 900);
	drain_pass(&drain, &err);
	assert_int_equal(total.v[0].samples, 1);
	assert_int_equal(total.first_ns, 900);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(nothing),
		CASE(all_rings_once),
		CASE(record_that_wraps),
		CASE(pieces),
		CASE(fair),
		CASE(failure_ends_the_pass),
		CASE(losses),
		CASE(broken_records),
		CASE(merging_starts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
