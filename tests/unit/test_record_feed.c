/* SPDX-License-Identifier: MIT */
/*
 * Records out of rings, in memory that the test owns: around the end, in turn, given back, and bytes that no kernel
 * writes.
 */
#include "feed_fixture.h"

/* The same in each run (xorshift). */
static uint64_t fake_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static const uint64_t FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
static struct data_event *event;

static int setup(void **state)
{
	(void)state;
	fix_open(FEED_RINGS, 1);
	event = fix_event(FIELDS, 0, 5);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fix_close();
	return 0;
}

/* A sample whose chain has n addresses: ip + 1, ip + 2, ... */
static size_t put(size_t ring, uint64_t ip, uint64_t n)
{
	uint64_t chain[RECORD_BYTES_MAX / 8];
	struct record_body body = { .type = RECORD_SAMPLE };

	for (uint64_t i = 0; i < n; i++)
		chain[i] = ip + 1 + i;
	body.sample = (struct sample){ .id = 5, .ip = ip, .n_ips = n, .ips = chain };
	return fix_put(ring, &body, event);
}

static void expect(uint64_t ip, uint64_t n)
{
	const struct pstat_sample *s;

	assert_int_equal(fix_next(), 1);
	assert_int_equal(fix.record->record_type, PSTAT_RECORD_SAMPLE);
	s = &fix.record->body.sample;
	assert_int_equal(s->ip, ip);
	assert_int_equal(s->n_ips, n);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(s->ips[i], ip + 1 + i);
}

static void empty(void **state)
{
	(void)state;
	assert_int_equal(fix_next(), 0);
	assert_null(fix.record);
	put(0, 1, 0);
	expect(1, 0);
	assert_int_equal(fix_next(), 0);
	assert_null(fix.record);
	assert_int_equal(fix_next(), 0);
}

/* At every place around the ring's end: in one piece, or in two. */
static void around(void **state)
{
	(void)state;
	for (uint64_t at = 4096 - 400; at <= 4096; at += 8) {
		fix_place(0, at);
		put(0, 100, 20);
		put(0, 200, 7);
		expect(100, 20);
		expect(200, 7);
		assert_int_equal(fix_next(), 0);
		assert_int_equal(fix.rings[0].page->data_tail, fix.head[0]);
	}
	/* And where the endless sequence itself wraps. */
	fix_place(0, UINT64_MAX - 7 - 104);
	put(0, 300, 20);
	expect(300, 20);
	assert_int_equal(fix_next(), 0);
	assert_int_equal(fix.rings[0].page->data_tail, fix.head[0]);
}

/* The largest record that there can be, around the end of a ring that just has room for it. */
static void largest(void **state)
{
	const uint64_t n = (65528 - 8 - 3 * 8) / 8;

	(void)state;
	fix_close();
	fix_open(1, 16);
	event = fix_event(FIELDS, 0, 5);
	for (uint64_t at = 0; at < 65536; at += 8 * 997) {
		fix_place(0, at);
		assert_int_equal(put(0, 7, n), 65528);
		expect(7, n);
		assert_int_equal(fix_next(), 0);
	}
}

/* A record's room is the kernel's again when the next is asked for, not before. */
static void given_back(void **state)
{
	size_t first, second;

	(void)state;
	first = put(0, 1, 3);
	second = put(0, 2, 4);
	expect(1, 3);
	assert_int_equal(fix.rings[0].page->data_tail, 0);
	expect(2, 4);
	assert_int_equal(fix.rings[0].page->data_tail, first);
	/* What came meanwhile. */
	put(0, 3, 5);
	expect(3, 5);
	assert_int_equal(fix.rings[0].page->data_tail, first + second);
	assert_int_equal(fix_next(), 0);
	assert_int_equal(fix.rings[0].page->data_tail, fix.head[0]);
}

/* A ring that is filled again and again keeps nobody waiting. */
static void in_turn(void **state)
{
	(void)state;
	put(0, 10, 0);
	put(0, 11, 0);
	put(1, 20, 0);
	put(2, 30, 0);
	for (int i = 0; i < 3; i++) {
		bool second = false, third = false;

		for (int k = 0; k < 4; k++) {
			assert_int_equal(fix_next(), 1);
			put(0, 12, 0);
			second |= fix.record->ring_cpu == 1;
			third |= fix.record->ring_cpu == 2;
		}
		put(1, 20, 0);
		put(2, 30, 0);
		if (!i)
			assert_true(second && third);
	}
	while (fix_next() == 1)
		;
	assert_int_equal(fix.feed.delivered, 4 + 12 + 6);
}

/* While the kernel makes room its head may go back. */
static void head_goes_back(void **state)
{
	(void)state;
	put(0, 1, 0);
	expect(1, 0);
	fix.rings[0].page->data_head = 8;
	assert_int_equal(fix_next(), 0);
	fix.rings[0].page->data_head = fix.head[0];
	put(0, 2, 0);
	expect(2, 0);
}

/* ---- what no kernel writes ---- */

static void bad_size(uint16_t size)
{
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = size };
	uint64_t broken = fix.feed.broken;

	fix_place(0, 64);
	put(0, 1, 2);
	fix_bytes(0, &header, sizeof(header));
	fix_bytes(0, "sixteen bytes ..", 16);
	expect(1, 2);
	assert_int_equal(fix_next(), -EBADMSG);
	assert_null(fix.record);
	assert_string_equal(fix.feed.why.s, "24 bytes in the ring of CPU 0 do not begin with a record");
	assert_int_equal(fix.feed.broken, broken + 1);
	/* All that was ready is gone, and what comes next is read. */
	assert_int_equal(fix_next(), 0);
	assert_int_equal(fix.rings[0].page->data_tail, fix.head[0]);
	put(0, 2, 3);
	expect(2, 3);
	assert_int_equal(fix_next(), 0);
}

static void sizes(void **state)
{
	static const uint16_t bad[] = { 0, 1, 7, 9, 15, 23, 32, 4096, 65535 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		bad_size(bad[i]);
	/* A head that is no multiple of 8. */
	fix_place(0, 0);
	fix_bytes(0, "12345", 5);
	assert_int_equal(fix_next(), -EBADMSG);
	assert_int_equal(fix_next(), 0);
}

/* A record that contradicts itself goes alone. */
static void contradictions(void **state)
{
	struct {
		struct perf_event_header header;
		uint64_t id, ip, n, ips[2];
	} sample = { { PERF_RECORD_SAMPLE, 0, sizeof(sample) }, 5, 1, 3, { 1, 2 } };
	static const uint64_t counts[] = { 3, 1ull << 61, UINT64_MAX };
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char name[8];
		uint64_t id;
	} comm = { { PERF_RECORD_COMM, 0, sizeof(comm) }, 1, 2, "no end.", 5 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		sample.n = counts[i];
		fix_bytes(0, &sample, sizeof(sample));
		put(0, 9, 1);
		assert_int_equal(fix_next(), -EBADMSG);
		assert_non_null(strstr(fix.feed.why.s, "callchain is longer than the record"));
		expect(9, 1);
	}
	comm.name[7] = '.';
	fix_bytes(0, &comm, sizeof(comm));
	put(0, 9, 2);
	assert_int_equal(fix_next(), -EBADMSG);
	expect(9, 2);
}

/* An event that this feed does not know: its layout is not known where events differ. */
static void unknown_id(void **state)
{
	(void)state;
	fix_event(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, 0, 6);
	put(0, 1, 2);
	((uint64_t *)(void *)fix.rings[0].data)[1] = 4;
	assert_int_equal(fix_next(), -EBADMSG);
	assert_non_null(strstr(fix.feed.why.s, "belongs to no event"));
	put(0, 3, 4);
	expect(3, 4);
	assert_int_equal(fix.record->event, 0);
}

/* Nothing that is read makes the feed take memory: its sentence keeps its room. */
static void no_allocation(void **state)
{
	const char *room = fix.feed.why.s;

	sizes(state);
	contradictions(state);
	assert_ptr_equal(fix.feed.why.s, room);
}

static bool inside(const void *p, size_t n, const void *room, size_t room_bytes)
{
	uintptr_t at = (uintptr_t)p, start = (uintptr_t)room;

	return at >= start && n <= room_bytes && at - start <= room_bytes - n;
}

/* In the ring, or in the buffer for what lies around its end. */
static void lies_well(const void *p, size_t n)
{
	assert_true(inside(p, n, fix.rings[0].data, 4096) || inside(p, n, fix.feed.around, RECORD_BYTES_MAX + 1));
}

static void look_at(const struct pstat_record *r)
{
	lies_well(r->bytes, r->n_bytes);
	if (r->record_type == PSTAT_RECORD_COMM)
		lies_well(r->body.comm.name, strlen(r->body.comm.name) + 1);
	else if (r->record_type == PSTAT_RECORD_MMAP || r->record_type == PSTAT_RECORD_MMAP2)
		lies_well(r->body.map.path, strlen(r->body.map.path) + 1);
	else if (r->record_type == PSTAT_RECORD_NAMESPACES && r->body.namespaces.n)
		lies_well(r->body.namespaces.v, r->body.namespaces.n * 16);
	else if (r->record_type == PSTAT_RECORD_TEXT_POKE)
		lies_well(r->body.text_poke.code, (size_t)r->body.text_poke.old_bytes + r->body.text_poke.new_bytes);
	else if (r->record_type == PSTAT_RECORD_SAMPLE && r->body.sample.n_ips)
		lies_well(r->body.sample.ips, r->body.sample.n_ips * 8);
}

/* Random bytes under random heads: whatever is handed out lies in the ring, or in the feed's own buffer. */
static void garbage(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		size_t handed_out = 0;

		fix_place(0, fake_random(&seed) & ~7ull);
		for (size_t i = 0; i < 4096 / 8; i++)
			((uint64_t *)(void *)fix.rings[0].data)[i] = fake_random(&seed);
		/* Sizes that make sense more often than by chance. */
		for (size_t i = 0; i < 4096; i += 8 * (1 + fake_random(&seed) % 16)) {
			struct perf_event_header *header = (void *)(fix.rings[0].data + i);

			header->type = fake_random(&seed) % 24;
			header->size = (uint16_t)(8 * (fake_random(&seed) % 40));
		}
		fix.rings[0].page->data_head = fix.head[0] + fake_random(&seed) % 5000;
		for (int rc = 1; rc; ) {
			rc = fix_next();
			assert_in_range(handed_out++, 0, 600);
			if (rc < 0)
				assert_int_equal(rc, -EBADMSG);
			if (rc > 0)
				look_at(fix.record);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(empty, setup, teardown),
		cmocka_unit_test_setup_teardown(around, setup, teardown),
		cmocka_unit_test_setup_teardown(largest, setup, teardown),
		cmocka_unit_test_setup_teardown(given_back, setup, teardown),
		cmocka_unit_test_setup_teardown(in_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(head_goes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(contradictions, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_id, setup, teardown),
		cmocka_unit_test_setup_teardown(no_allocation, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
