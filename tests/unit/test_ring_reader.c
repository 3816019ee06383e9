/* SPDX-License-Identifier: MIT */
/*
 * Reading rings that are plain memory: 256 of them, records that wrap, fairness, buffers that are full, and what is
 * cut, dropped and told when room is short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "record/ring_reader.h"

#include <cmocka.h>

enum { N_RINGS = 256, RING_BYTES = 64 << 10, ID_A = 11, ID_B = 22, BUFFERS_BYTES = 24 << 20 };

static struct fake_ring {
	struct perf_event_mmap_page page;
	_Alignas(8) unsigned char data[RING_BYTES];
} *memory;
static struct ring rings[N_RINGS];
static struct events events;
static struct buffers buffers;
static struct ring_reader reader;
static struct str taken; /* all that was handed over */
static struct sample_counts total;
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

/* The same of the event with stacks: registers, and a stack of n words. */
static void put_stack_sample(size_t index, uint64_t time, size_t n)
{
	uint64_t words[64] = { ID_B, 0x1000, 7, time, 1, 2, 0xabc, 0 };

	words[7] = 8 * n;
	words[8 + n] = 8 * n;
	put_words(index, RECORD_SAMPLE, words, 9 + n);
}

static void add_event(uint64_t id, uint64_t more)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | more,
		.sample_id_all = 1,
	};

	if (more) {
		attr.sample_regs_user = 1;
		attr.sample_stack_user = 64;
	}
	events_add(&events, &attr, sizeof(attr), &id, 1);
}

static void open_buffers(size_t bytes)
{
	assert_int_equal(buffers_open(&buffers, bytes, 1, &err), 0);
	buffers_begin(&buffers);
	ring_reader_init(&reader, &events, &buffers);
	reader.producer.is_waited_for = true;
	for (size_t i = 0; i < N_RINGS; i++)
		ring_reader_add(&reader, &rings[i]);
	sample_counts_init(&total, &events);
}

static int setup(void **state)
{
	(void)state;
	memory = calloc(N_RINGS, sizeof(*memory));
	for (size_t i = 0; i < N_RINGS; i++)
		rings[i] = (struct ring){
			.page = &memory[i].page,
			.data = memory[i].data,
			.data_bytes = RING_BYTES,
			.cpu = (int)i,
		};
	events_init(&events);
	add_event(ID_A, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ring_reader_release(&reader);
	buffers_release(&buffers);
	sample_counts_release(&total);
	events_release(&events);
	str_release(&taken);
	str_release(&err);
	free(memory);
	return 0;
}

static void ignore(void *data, const struct record *record)
{
	(void)data;
	(void)record;
}

/* What the consumer would get now; returns how many buffers with records. */
static size_t consume(void)
{
	struct buffer *buffer;
	size_t n = 0;

	buffers_close(&buffers);
	str_reset(&taken);
	while ((buffer = buffers_take(&buffers)) != NULL) {
		assert_true(buffer->n <= buffer->cap);
		n += buffer->n > 0;
		str_addn(&taken, (const char *)buffer->bytes, buffer->n);
		assert_int_equal(sample_counts_walk(&total, buffer->bytes, buffer->n, 0, ignore, NULL), buffer->n);
		buffers_give_back(&buffers, buffer);
	}
	buffers.closed = false;
	return n;
}

static size_t look(void)
{
	return ring_reader_drain(&reader, DRAIN_AND_HAND_OVER);
}

static void nothing(void **state)
{
	(void)state;
	open_buffers(BUFFERS_BYTES);
	assert_int_equal(look(), 0);
	assert_int_equal(consume(), 0);
	assert_false(reader.short_of_room);
}

static void all_rings_once(void **state)
{
	(void)state;
	add_event(ID_B, 0);
	open_buffers(BUFFERS_BYTES);
	for (size_t i = 0; i < N_RINGS; i++)
		put_sample(i, i % 2 ? ID_A : ID_B, 1000 + i);
	assert_int_equal(look(), N_RINGS * 48);
	assert_int_equal(consume(), 1);
	assert_int_equal(taken.len, N_RINGS * 48);
	assert_int_equal(total.v[0].samples, N_RINGS / 2);
	assert_int_equal(total.v[1].samples, N_RINGS / 2);
	assert_int_equal(total.v[2].samples, 0);
	assert_int_equal(total.first_ns, 1000);
	assert_int_equal(total.last_ns, 1000 + N_RINGS - 1);
	for (size_t i = 0; i < N_RINGS; i++)
		assert_int_equal(rings[i].page->data_tail, 48);
	assert_int_equal(look(), 0);
}

static void record_that_wraps(void **state)
{
	struct ring *ring = &rings[5];

	(void)state;
	open_buffers(BUFFERS_BYTES);
	ring->tail = ring->page->data_tail = ring->page->data_head = 3 * RING_BYTES - 16;
	put_sample(5, ID_A, 77);
	assert_int_equal(look(), 48);
	assert_int_equal(consume(), 1);
	assert_int_equal(total.v[0].samples, 1);
	assert_int_equal(total.first_ns, 77);
	assert_memory_equal(taken.s + 8, &(uint64_t){ ID_A }, 8);
}

/* Full rings, whose records don't divide a buffer: each buffer has whole records, none is lost or torn. */
static void many_buffers(void **state)
{
	const struct perf_event_header header = { .type = RECORD_SAMPLE, .size = 24 << 10 };
	unsigned char *record = calloc(1, 24 << 10);

	(void)state;
	open_buffers(BUFFERS_BYTES);
	memcpy(record, &header, sizeof(header));
	for (size_t i = 0; i < N_RINGS; i++) {
		rings[i].tail = rings[i].page->data_tail = rings[i].page->data_head = 8 * i;
		put(i, record, 24 << 10);
		put(i, record, 24 << 10);
	}
	free(record);
	assert_int_equal(look(), (size_t)N_RINGS * (48 << 10));
	assert_true(consume() >= (size_t)N_RINGS * (48 << 10) / BUFFER_BYTES);
	assert_int_equal(total.records, 2 * N_RINGS);
	assert_int_equal(reader.n_dropped, 0);
}

/* What comes while it looks is for the next look. */
static void fair(void **state)
{
	(void)state;
	open_buffers(BUFFERS_BYTES);
	put_sample(0, ID_A, 1);
	put_sample(255, ID_A, 2);
	assert_int_equal(look(), 2 * 48);
	put_sample(0, ID_A, 3);
	assert_int_equal(look(), 48);
	consume();
	assert_int_equal(total.records, 3);
}

/* While the consumer is busy, looks share a buffer. */
static void looks_share_a_buffer(void **state)
{
	(void)state;
	open_buffers(BUFFERS_BYTES);
	for (size_t i = 0; i < 100; i++) {
		put_sample(i, ID_A, i);
		assert_int_equal(ring_reader_drain(&reader, DRAIN_ON), 48);
	}
	assert_int_equal(consume(), 0);
	put_sample(200, ID_A, 200);
	look();
	assert_int_equal(consume(), 1);
	assert_int_equal(total.v[0].samples, 101);
}

static uint64_t lost_samples(void)
{
	return total.v[0].lost_samples + total.v[1].lost_samples;
}

/* Fills the smallest buffers with samples, one look each, and says how many it put. */
static size_t fill_up(size_t n_looks)
{
	size_t n = 0;

	for (size_t i = 0; i < n_looks; i++) {
		for (size_t k = 0; k < 1000; k++)
			put_sample(i % N_RINGS, ID_A, n++);
		look();
	}
	return n;
}

static void samples_go_before_tasks(void **state)
{
	size_t n, tasks = 0, free_bytes;

	(void)state;
	open_buffers(1); /* as small as it gets */
	n = fill_up(40);
	assert_true(reader.short_of_room);
	assert_true(reader.n_dropped > 0);
	free_bytes = buffers_free_bytes(&buffers);
	for (size_t i = 0; i < 200; i++, tasks++) {
		put_words(i, RECORD_FORK, (uint64_t[]){ 1, 1, i, 7, i, ID_A }, 6);
		look();
	}
	assert_true(buffers_free_bytes(&buffers) <= free_bytes);
	consume();
	/* Room again: all is taken, and what was dropped is told. */
	put_sample(0, ID_A, n++);
	look();
	assert_false(reader.short_of_room);
	consume();
	assert_int_equal(total.v[0].samples + reader.n_dropped, n);
	assert_int_equal(lost_samples(), reader.n_dropped);
	assert_true(total.records >= total.v[0].samples + tasks);
}

/* No room at all: the ring keeps what is in it. */
static void rings_keep_what_has_no_room(void **state)
{
	struct buffer *all[64];
	size_t n = 0;

	(void)state;
	open_buffers(1);
	while ((all[n] = buffers_get(&buffers, &reader.producer, false)) != NULL)
		n++;
	put_words(3, RECORD_FORK, (uint64_t[]){ 1, 1, 5, 7, 5, ID_A }, 6);
	assert_int_equal(look(), 0);
	assert_true(reader.short_of_room);
	assert_int_equal(rings[3].page->data_tail, 0);
	for (size_t i = 0; i < n; i++)
		buffers_give_back(&buffers, all[i]);
	assert_int_equal(look(), 56);
	consume();
	assert_int_equal(total.records, 1);
}

static void stacks_go_before_samples(void **state)
{
	struct record record;
	struct record_body body;
	struct decoder decoder;
	struct buffer *held[64];
	size_t n = 0, all = 0;

	(void)state;
	add_event(ID_B, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	open_buffers(4 << 20);
	all = buffers.memory_bytes;
	/* Less than a quarter is free, more than an eighth. */
	while (buffers_free_bytes(&buffers) >= all / 4)
		held[n++] = buffers_get(&buffers, &reader.producer, false);
	put_stack_sample(9, 123, 8);
	put_sample(9, ID_A, 124);
	look();
	consume();
	for (size_t i = 0; i < n; i++)
		buffers_give_back(&buffers, held[i]);
	assert_int_equal(reader.n_cut, 1);
	assert_int_equal(reader.n_dropped, 0);
	assert_int_equal(total.v[1].samples, 1);
	assert_int_equal(total.v[0].samples, 1);
	decoder_init(&decoder, &events, false);
	record_from_bytes(&record, (const uint8_t *)taken.s, 0, false);
	assert_int_equal(record_decode(&decoder, &record, &body, &err), 0);
	assert_int_equal(body.sample.time_ns, 123);
	assert_int_equal(body.sample.user_regs.abi, 2);
	assert_int_equal(body.sample.user_regs.v[0], 0xabc);
	assert_int_equal(body.sample.stack_size, 0);
	decoder_release(&decoder);
}

/* Of two events each is told its own, with the time of the last that was dropped. */
static void losses_are_told_by_event(void **state)
{
	struct buffer *held[64];
	size_t n = 0;

	(void)state;
	add_event(ID_B, 0);
	open_buffers(1);
	while (buffers_free_bytes(&buffers) >= buffers.memory_bytes / 8)
		held[n++] = buffers_get(&buffers, &reader.producer, false);
	put_sample(0, ID_A, 50);
	put_sample(1, ID_B, 60);
	put_sample(1, ID_B, 70);
	for (size_t i = 0; i < n; i++)
		buffers_give_back(&buffers, held[i]);
	n = 0;
	while (buffers_free_bytes(&buffers) >= buffers.memory_bytes / 8)
		held[n++] = buffers_get(&buffers, &reader.producer, false);
	look();
	for (size_t i = 0; i < n; i++)
		buffers_give_back(&buffers, held[i]);
	look();
	consume();
	assert_int_equal(reader.n_dropped, 3);
	assert_int_equal(total.v[0].lost_samples, 1);
	assert_int_equal(total.v[1].lost_samples, 2);
	assert_int_equal(total.v[0].samples + total.v[1].samples, 0);
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
	open_buffers(BUFFERS_BYTES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t *bytes = calloc(2, sizeof(*bytes));

		memcpy(bytes, &cases[i], sizeof(cases[i]));
		assert_int_equal(sample_counts_walk(&total, (const uint8_t *)bytes, 16, 0, ignore, NULL), 0);
		free(bytes);
	}
	/* Too short for what its type should have: counted, not read. */
	put_words(0, RECORD_SAMPLE, NULL, 0);
	put_words(0, RECORD_LOST, (uint64_t[]){ ID_A }, 1);
	put_words(0, RECORD_THROTTLE, NULL, 0);
	put_words(0, RECORD_LOST_SAMPLES, NULL, 0);
	assert_int_equal(look(), 8 + 16 + 8 + 8);
	consume();
	assert_int_equal(total.v[0].samples, 1);
	assert_int_equal(total.v[0].lost, 0);
}

static void counts(void **state)
{
	(void)state;
	add_event(ID_B, 0);
	open_buffers(BUFFERS_BYTES);
	put_words(0, RECORD_LOST, (uint64_t[]){ ID_B, 100, 0, 0 }, 4);
	put_words(1, RECORD_LOST, (uint64_t[]){ ID_B, 11, 0, 0 }, 4);
	put_words(1, RECORD_LOST, (uint64_t[]){ 999, 5, 0, 0 }, 4);
	put_words(2, RECORD_LOST_SAMPLES, (uint64_t[]){ 3, 7, 123, ID_A }, 4);
	put_words(3, RECORD_THROTTLE, (uint64_t[]){ 55, ID_A, ID_A, 7, 55, ID_A }, 6);
	put_words(3, RECORD_UNTHROTTLE, (uint64_t[]){ 56, ID_A, ID_A, 7, 55, ID_A }, 6);
	look();
	consume();
	assert_int_equal(total.v[1].lost, 111);
	assert_int_equal(total.v[2].lost, 5);
	assert_int_equal(total.v[0].lost_samples, 3);
	assert_int_equal(total.v[0].throttled, 1);
	assert_int_equal(total.v[0].unthrottled, 1);
	assert_int_equal(total.records, 6);
	assert_true(total.first_ns > total.last_ns);
	sample_counts_clear(&total);
	assert_int_equal(total.records + total.v[1].lost, 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(nothing),
		CASE(all_rings_once),
		CASE(record_that_wraps),
		CASE(many_buffers),
		CASE(fair),
		CASE(looks_share_a_buffer),
		CASE(samples_go_before_tasks),
		CASE(rings_keep_what_has_no_room),
		CASE(stacks_go_before_samples),
		CASE(losses_are_told_by_event),
		CASE(broken_records),
		CASE(counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
