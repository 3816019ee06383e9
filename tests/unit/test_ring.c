/* SPDX-License-Identifier: MIT */
/*
 * One ring, in memory that the test owns and writes as the kernel does: heads that go back, records that
 * wrap, rings that are overwritten from the top downwards.
 */
#include "fake_sys.h"

#include <unistd.h>

enum { DATA = 2 }; /* pages */

static struct {
	unsigned char *memory;
	size_t bytes;
	bool writable;
	int refuse; /* errno of map, 0: it works */
	int unmapped;
	int paused; /* the last argument of PAUSE_OUTPUT; -1: none */
} mapping;

static void *test_map(int fd, size_t bytes, bool writable, int *err)
{
	assert_int_equal(fd, 7);
	*err = -mapping.refuse;
	if (mapping.refuse)
		return NULL;
	mapping.bytes = bytes;
	mapping.writable = writable;
	mapping.memory = calloc(1, bytes);
	return mapping.memory;
}

static void test_unmap(void *addr, size_t bytes)
{
	assert_ptr_equal(addr, mapping.memory);
	assert_int_equal(bytes, mapping.bytes);
	free(addr);
	mapping.unmapped++;
}

static int test_ioctl(int fd, unsigned long request, unsigned long arg)
{
	assert_int_equal(fd, 7);
	assert_int_equal(request, PERF_EVENT_IOC_PAUSE_OUTPUT);
	mapping.paused = (int)arg;
	return 0;
}

static const struct sys_ops ops = { .map = test_map, .unmap = test_unmap, .ioctl = test_ioctl };
static struct ring ring;
static struct ring_span span[2];
static size_t size; /* of the data, in bytes */

static void map(bool overwrite)
{
	memset(&mapping, 0, sizeof(mapping));
	mapping.paused = -1;
	assert_int_equal(ring_map(&ring, &ops, 7, 3, DATA, overwrite), 0);
	size = DATA * (size_t)sysconf(_SC_PAGESIZE);
}

static int teardown(void **state)
{
	(void)state;
	ring_unmap(&ring);
	ring_unmap(&ring);
	assert_int_equal(mapping.unmapped, 1);
	return 0;
}

/* The byte at `at` of the endless sequence. */
static unsigned char *byte_at(uint64_t at)
{
	return ring.data + (at & (size - 1));
}

static void put_record(uint64_t at, uint16_t bytes, unsigned char fill)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = bytes };

	for (size_t i = 0; i < bytes; i++)
		*byte_at(at + i) = i < sizeof(header) ? ((unsigned char *)&header)[i] : fill;
}

static void sizes(void **state)
{
	(void)state;
	memset(&mapping, 0, sizeof(mapping));
	assert_int_equal(ring_map(&ring, &ops, 7, 0, 0, false), -EINVAL);
	assert_int_equal(ring_map(&ring, &ops, 7, 0, 3, false), -EINVAL);
	assert_int_equal(ring_map(&ring, &ops, 7, 0, SIZE_MAX / 2 + 1, false), -EINVAL);
	mapping.refuse = EPERM;
	assert_int_equal(ring_map(&ring, &ops, 7, 0, 4, false), -EPERM);
	assert_null(ring.page);
	map(false);
	assert_true(mapping.writable);
	assert_int_equal(mapping.bytes, size + (size_t)sysconf(_SC_PAGESIZE));
	assert_int_equal(ring.data_bytes, size);
	assert_int_equal(ring.cpu, 3);
}

static void empty(void **state)
{
	(void)state;
	map(false);
	assert_int_equal(ring_ready(&ring, span), 0);
	assert_int_equal(span[0].n + span[1].n, 0);
}

static void one_span(void **state)
{
	(void)state;
	map(false);
	put_record(0, 40, 'a');
	ring.page->data_head = 40;
	assert_int_equal(ring_ready(&ring, span), 40);
	assert_ptr_equal(span[0].bytes, ring.data);
	assert_int_equal(span[0].n, 40);
	assert_int_equal(span[1].n, 0);
	/* The same as long as it is not given back. */
	assert_int_equal(ring_ready(&ring, span), 40);
	ring_release(&ring, 40);
	assert_int_equal(ring.page->data_tail, 40);
	assert_int_equal(ring_ready(&ring, span), 0);
}

static void record_wraps(void **state)
{
	uint64_t start;

	(void)state;
	map(false);
	start = 5 * size - 16;
	ring.tail = ring.page->data_tail = start;
	put_record(start, 40, 'w');
	ring.page->data_head = start + 40;
	assert_int_equal(ring_ready(&ring, span), 40);
	assert_int_equal(span[0].n, 16);
	assert_ptr_equal(span[0].bytes, ring.data + size - 16);
	assert_int_equal(span[1].n, 24);
	assert_ptr_equal(span[1].bytes, ring.data);
	assert_int_equal(span[1].bytes[23], 'w');
	ring_release(&ring, 40);
	assert_int_equal(ring.page->data_tail, start + 40);
}

static void full(void **state)
{
	(void)state;
	map(false);
	ring.tail = 8;
	ring.page->data_head = 8 + size;
	assert_int_equal(ring_ready(&ring, span), size);
	assert_int_equal(span[0].n, size - 8);
	assert_int_equal(span[1].n, 8);
}

/* While the kernel reserves room: nothing is there, and nothing is wrong. */
static void head_goes_back(void **state)
{
	(void)state;
	map(false);
	ring.tail = 80;
	ring.page->data_head = 40;
	assert_int_equal(ring_ready(&ring, span), 0);
	ring.page->data_head = 80;
	assert_int_equal(ring_ready(&ring, span), 0);
	ring.page->data_head = 88;
	assert_int_equal(ring_ready(&ring, span), 8);
	/* More than there is room for was never written. */
	ring.page->data_head = 80 + size + 8;
	assert_int_equal(ring_ready(&ring, span), 0);
}

/* ---- overwrite ---- */

static void snapshot_of_a_ring_half_full(void **state)
{
	(void)state;
	map(true);
	assert_false(mapping.writable);
	assert_int_equal(ring_snapshot(&ring, span), 0);
	/* Two records: the older one at the very top. */
	put_record(-(uint64_t)24, 24, '1');
	put_record(-(uint64_t)56, 32, '2');
	ring.page->data_head = -(uint64_t)56;
	assert_int_equal(ring_snapshot(&ring, span), 56);
	assert_int_equal(span[0].n, 56);
	assert_ptr_equal(span[0].bytes, ring.data + size - 56);
	assert_int_equal(span[0].bytes[8], '2');
	assert_int_equal(span[0].bytes[32 + 8], '1');
	/* Nothing new: an empty one. */
	assert_int_equal(ring_snapshot(&ring, span), 0);
	/* One more: that one only. */
	put_record(-(uint64_t)72, 16, '3');
	ring.page->data_head = -(uint64_t)72;
	assert_int_equal(ring_snapshot(&ring, span), 16);
	assert_int_equal(span[0].bytes[8], '3');
}

/* Puts records of these sizes, one after the other, until so many bytes are written; returns head. */
static uint64_t go_round(size_t bytes, const uint16_t *sizes, size_t n)
{
	uint64_t head = 0;

	for (size_t i = 0; -head < bytes; i++) {
		head -= sizes[i % n];
		put_record(head, sizes[i % n], 'r');
	}
	ring.page->data_head = head;
	return head;
}

/* They are all whole, and none is missing in between. */
static void all_are_records(uint64_t head, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		struct perf_event_header header;

		memcpy(&header, byte_at(head + at), sizeof(header));
		assert_int_equal(header.type, PERF_RECORD_SAMPLE);
		assert_in_range(header.size, 24, 56);
		at += header.size;
		assert_true(at <= bytes);
	}
}

/* It went round more than once: the oldest record lost its end to the newest and is left out. */
static void snapshot_leaves_out_what_is_cut(void **state)
{
	static const uint16_t many[] = { 24, 32, 40, 48, 56 };
	uint64_t head;
	size_t whole;

	(void)state;
	map(true);
	head = go_round(3 * size, many, ARRAY_SIZE(many));
	whole = ring_snapshot(&ring, span);
	assert_in_range(whole, size - 2 * 56, size - 56);
	assert_int_equal(span[0].n + span[1].n, whole);
	assert_ptr_equal(span[0].bytes, byte_at(head));
	all_are_records(head, whole);
}

/* Someone writes a record below head; its end is there already, its first bytes and the new head are not. */
static void begin_record(uint64_t head, uint64_t bytes)
{
	for (uint64_t i = 8; i < bytes; i++)
		*byte_at(head - bytes + i) = 'T';
}

static void nothing_is_torn(uint64_t head, size_t bytes)
{
	for (size_t at = 0; at < bytes; at++)
		assert_int_not_equal(*byte_at(head + at), 'T');
}

/* It was about to write when the ring was paused: the oldest record is not to be trusted. */
static void snapshot_leaves_out_what_may_be_torn(void **state)
{
	static const uint16_t one[] = { 32 }, two[] = { 32, 64 };
	uint64_t head;
	size_t whole;

	(void)state;
	map(true);
	/* So full that the oldest record ends where the newest begins. */
	head = go_round(2 * size, one, 1);
	begin_record(head, 32);
	whole = ring_snapshot(&ring, span);
	assert_int_equal(whole, size - 32);
	nothing_is_torn(head, whole);
	/* Nor is it the oldest one alone, where others are larger. */
	ring.tail = 0;
	head = go_round(2 * size, two, 2);
	begin_record(head, 64);
	whole = ring_snapshot(&ring, span);
	assert_in_range(whole, size - 64 - 64, size - 64);
	nothing_is_torn(head, whole);
	/* A ring that has room for it loses nothing. */
	ring.tail = 0;
	head = go_round(size - 256, two, 2);
	assert_true(ring_snapshot(&ring, span) == -head);
}

static void snapshot_of_nonsense_ends(void **state)
{
	(void)state;
	map(true);
	memset(ring.data, 0, size);
	ring.page->data_head = -(uint64_t)(2 * size);
	assert_int_equal(ring_snapshot(&ring, span), 0);
	memset(ring.data, 0xff, size);
	ring.page->data_head = -(uint64_t)(4 * size);
	assert_int_equal(ring_snapshot(&ring, span), 0);
}

/* What comes before it is given, nothing behind it, also where the ring never was full. */
static void snapshot_ends_at_nonsense(void **state)
{
	static const struct perf_event_header nonsense[] = {
		{ .type = PERF_RECORD_SAMPLE, .size = 0 }, { .type = PERF_RECORD_SAMPLE, .size = 28 },
		{ .type = PERF_RECORD_SAMPLE, .size = 4 }, { .type = PERF_RECORD_SAMPLE, .size = 4096 },
		{ .type = 0, .size = 32 }, { .type = 64, .size = 32 }, { .type = UINT32_MAX, .size = 32 },
	};
	static const uint16_t one[] = { 32 };

	(void)state;
	map(true);
	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		uint64_t head;

		ring.tail = 0;
		head = go_round(320, one, 1);
		memcpy(byte_at(head + 96), &nonsense[i], sizeof(nonsense[i]));
		assert_int_equal(ring_snapshot(&ring, span), 96);
		/* The next one begins behind all of it. */
		head -= 32;
		put_record(head, 32, 'n');
		ring.page->data_head = head;
		assert_int_equal(ring_snapshot(&ring, span), 32);
	}
}

static void pausing(void **state)
{
	(void)state;
	map(true);
	assert_int_equal(ring_pause(&ring, true), 0);
	assert_int_equal(mapping.paused, 1);
	assert_int_equal(ring_pause(&ring, false), 0);
	assert_int_equal(mapping.paused, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sizes, teardown),
		cmocka_unit_test_teardown(empty, teardown),
		cmocka_unit_test_teardown(one_span, teardown),
		cmocka_unit_test_teardown(record_wraps, teardown),
		cmocka_unit_test_teardown(full, teardown),
		cmocka_unit_test_teardown(head_goes_back, teardown),
		cmocka_unit_test_teardown(snapshot_of_a_ring_half_full, teardown),
		cmocka_unit_test_teardown(snapshot_leaves_out_what_is_cut, teardown),
		cmocka_unit_test_teardown(snapshot_of_nonsense_ends, teardown),
		cmocka_unit_test_teardown(snapshot_ends_at_nonsense, teardown),
		cmocka_unit_test_teardown(snapshot_leaves_out_what_may_be_torn, teardown),
		cmocka_unit_test_teardown(pausing, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
