/* SPDX-License-Identifier: MIT */
/*
 * Sample fields against bytes written by hand in the order of perf_event_open(2), so that the table is
 * not only checked against itself.
 */
#include "data_fixture.h"

enum { ALL_BITS = (1 << 25) - 1 };

static void put(struct str *s, uint64_t v)
{
	str_addn(s, (const char *)&v, sizeof(v));
}

static void put32(struct str *s, uint32_t a, uint32_t b)
{
	str_addn(s, (const char *)&a, sizeof(a));
	str_addn(s, (const char *)&b, sizeof(b));
}

static struct perf_event_attr all_attr(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = ALL_BITS };

	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT; /* excluded by WEIGHT_STRUCT */
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | DATA_FORMAT_LOST;
	attr.branch_sample_type = DATA_BRANCH_HW_INDEX | DATA_BRANCH_COUNTERS;
	attr.sample_regs_user = 0x103;
	attr.sample_regs_intr = 0x4;
	return attr;
}

/* The payload as the man page orders it. */
static void by_hand(struct str *s)
{
	put(s, 11); /* IDENTIFIER */
	put(s, 0x401000);
	put32(s, 21, 22);
	put(s, 33); /* TIME */
	put(s, 0xadd);
	put(s, 11); /* ID */
	put(s, 55); /* STREAM_ID */
	put32(s, 3, 0); /* CPU */
	put(s, 777); /* PERIOD */
	put(s, 2), put(s, 100), put(s, 90); /* READ: nr, enabled, running */
	put(s, 1000), put(s, 11), put(s, 1); /* value, id, lost */
	put(s, 2000), put(s, 12), put(s, 2);
	put(s, 2), put(s, 0xa1), put(s, 0xa2); /* CALLCHAIN */
	put32(s, 12, 0x64636261), put(s, 0x6c6b6a6968676665); /* RAW: 12 bytes */
	put(s, 1), put(s, 7), put(s, 0xf0), put(s, 0x70), put(s, 0x51); /* BRANCH_STACK, hw_idx */
	put(s, 0xc0); /* branch counters */
	put(s, 2), put(s, 0xaa), put(s, 0xbb), put(s, 0xcc); /* REGS_USER */
	put(s, 8), put(s, 0x5555555555555555), put(s, 8); /* STACK_USER */
	put(s, 0x0003000200000001); /* WEIGHT_STRUCT */
	put(s, 0xd5); /* DATA_SRC */
	put(s, 0x77); /* TRANSACTION */
	put(s, 1), put(s, 0xdd); /* REGS_INTR */
	put(s, 0x9999); /* PHYS_ADDR */
	put(s, 0xc6); /* CGROUP */
	put(s, 4096), put(s, 8192); /* page sizes */
	put(s, 8), put(s, 0x4141414141414141); /* AUX */
}

static void header(struct str *s, size_t payload)
{
	uint32_t type = RECORD_SAMPLE;
	uint16_t misc = MISC_USER, size = (uint16_t)(8 + payload);

	str_addn(s, (const char *)&type, 4);
	str_addn(s, (const char *)&misc, 2);
	str_addn(s, (const char *)&size, 2);
}

static void check_fields(const struct sample *s)
{
	uint64_t v = 0;

	assert_int_equal(s->id, 11);
	assert_int_equal(s->ip, 0x401000);
	assert_int_equal(s->pid, 21);
	assert_int_equal(s->tid, 22);
	assert_int_equal(s->time_ns, 33);
	assert_int_equal(s->addr, 0xadd);
	assert_int_equal(s->stream_id, 55);
	assert_int_equal(s->cpu, 3);
	assert_int_equal(s->period, 777);
	assert_int_equal(s->read.n, 2);
	assert_int_equal(s->read.enabled_ns, 100);
	assert_int_equal(s->read.running_ns, 90);
	assert_int_equal(read_values_value(&s->read, 1), 2000);
	assert_true(read_values_id(&s->read, 1, &v) && v == 12);
	assert_true(read_values_lost(&s->read, 1, &v) && v == 2);
	assert_int_equal(s->n_ips, 2);
	assert_int_equal(s->ips[1], 0xa2);
	assert_int_equal(s->raw_size, 12);
	assert_memory_equal(s->raw, "abcdefghijkl", 12);
	assert_int_equal(s->n_branches, 1);
	assert_int_equal(s->branch_hw_index, 7);
	assert_int_equal(s->branches[0].to, 0x70);
	assert_int_equal(s->branch_counters[0], 0xc0);
	assert_int_equal(s->user_regs.n, 3);
	assert_int_equal(s->user_regs.v[2], 0xcc);
	assert_int_equal(s->stack_size, 8);
	assert_int_equal(s->stack_dyn_size, 8);
	assert_int_equal(s->stack[7], 0x55);
	assert_true(s->weight == 0x0003000200000001);
	assert_int_equal(s->data_src, 0xd5);
	assert_int_equal(s->transaction, 0x77);
	assert_int_equal(s->intr_regs.v[0], 0xdd);
	assert_int_equal(s->phys_addr, 0x9999);
	assert_int_equal(s->cgroup, 0xc6);
	assert_int_equal(s->data_page_size, 4096);
	assert_int_equal(s->code_page_size, 8192);
	assert_int_equal(s->aux_size, 8);
	assert_int_equal(s->aux[0], 0x41);
}

/* Aligned and not: the answer is the same, as packed records may lie anywhere. */
static void test_all_fields(void **state)
{
	struct perf_event_attr attr = all_attr();
	static const uint64_t ids[] = { 11 };
	struct str payload = STR_INIT, bytes = STR_INIT, err = STR_INIT, again = STR_INIT;
	struct events events;
	struct decoder decoder;

	(void)state;
	events_init(&events);
	events_add(&events, &attr, sizeof(attr), ids, 1);
	decoder_init(&decoder, &events, false);
	by_hand(&payload);
	for (unsigned shift = 0; shift < 8; shift++) {
		struct record record = { .type = RECORD_SAMPLE, .misc = MISC_USER };
		struct record_body body;

		str_reset(&bytes);
		str_pad(&bytes, 'x', shift);
		header(&bytes, payload.len);
		str_addn(&bytes, payload.s, payload.len);
		record.bytes = (const uint8_t *)bytes.s + shift;
		record.size = (uint16_t)(bytes.len - shift);
		assert_int_equal(record_decode(&decoder, &record, &body, &err), 0);
		assert_ptr_equal(body.event, events.v[0]);
		check_fields(&body.sample);
		assert_int_equal(sample_size(&body.sample, events.v[0]), record.size);
		str_reset(&again);
		assert_int_equal(record_encode(&body, events.v[0], &again, &err), 0);
		assert_int_equal(again.len, record.size);
		assert_memory_equal(again.s, record.bytes, again.len);
	}
	decoder_release(&decoder);
	events_release(&events);
	str_release(&payload);
	str_release(&bytes);
	str_release(&again);
	str_release(&err);
}

/* Cut after each byte: always refused, never read beyond. */
static void test_cut(void **state)
{
	struct perf_event_attr attr = all_attr();
	static const uint64_t ids[] = { 11 };
	struct str bytes = STR_INIT, err = STR_INIT, payload = STR_INIT;
	struct events events;
	struct decoder decoder;

	(void)state;
	events_init(&events);
	events_add(&events, &attr, sizeof(attr), ids, 1);
	decoder_init(&decoder, &events, false);
	by_hand(&payload);
	header(&bytes, payload.len);
	str_addn(&bytes, payload.s, payload.len);
	for (size_t n = 8; n < bytes.len; n++) {
		uint8_t *copy = malloc(n);
		struct record record = { .type = RECORD_SAMPLE,
					 .size = (uint16_t)n,
					 .bytes = copy };
		struct record_body body;

		memcpy(copy, bytes.s, n);
		str_reset(&err);
		assert_int_equal(record_decode(&decoder, &record, &body, &err), -EINVAL);
		assert_has(err.s, "SAMPLE (9): ");
		free(copy);
	}
	decoder_release(&decoder);
	events_release(&events);
	str_release(&payload);
	str_release(&bytes);
	str_release(&err);
}

/* A stack of size 0 has no dyn_size; registers with ABI 0 have no values. */
static void test_absent_parts(void **state)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct str bytes = STR_INIT, err = STR_INIT;
	struct record record = { .type = RECORD_SAMPLE };
	struct record_body body;
	struct events events;
	struct decoder decoder;

	(void)state;
	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC;
	attr.sample_regs_user = 0xff;
	events_init(&events);
	events_add(&events, &attr, sizeof(attr), NULL, 0);
	decoder_init(&decoder, &events, false);
	header(&bytes, 24);
	put(&bytes, 0), put(&bytes, 0), put(&bytes, 0xd5);
	record.bytes = (const uint8_t *)bytes.s;
	record.size = (uint16_t)bytes.len;
	assert_int_equal(record_decode(&decoder, &record, &body, &err), 0);
	assert_null(body.sample.user_regs.v);
	assert_null(body.sample.stack);
	assert_int_equal(body.sample.data_src, 0xd5);
	assert_ptr_equal(body.event, events.v[0]);
	decoder_release(&decoder);
	events_release(&events);
	str_release(&bytes);
	str_release(&err);
}

/* The trailer with every field, by hand: struct sample_id of perf_event_open(2). */
static void test_trailer(void **state)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_id_all = 1 };
	struct str bytes = STR_INIT, again = STR_INIT, err = STR_INIT;
	struct record record = { .type = RECORD_LOST };
	struct record_body body;
	static const uint64_t ids[] = { 11 };
	uint64_t head = RECORD_LOST | (uint64_t)(8 + 8 * 8) << 48;
	struct events events;
	struct decoder decoder;

	(void)state;
	attr.sample_type = ALL_BITS;
	events_init(&events);
	events_add(&events, &attr, sizeof(attr), ids, 1);
	decoder_init(&decoder, &events, false);
	put(&bytes, head);
	put(&bytes, 1), put(&bytes, 2); /* LOST: id, lost */
	put32(&bytes, 21, 22), put(&bytes, 33), put(&bytes, 11); /* TID, TIME, ID */
	put(&bytes, 55), put32(&bytes, 3, 0), put(&bytes, 11); /* STREAM_ID, CPU, IDENTIFIER */
	record.bytes = (const uint8_t *)bytes.s;
	record.size = (uint16_t)bytes.len;
	assert_int_equal(record_decode(&decoder, &record, &body, &err), 0);
	assert_int_equal(body.lost.lost, 2);
	assert_int_equal(body.id.pid, 21);
	assert_int_equal(body.id.tid, 22);
	assert_int_equal(body.id.time_ns, 33);
	assert_int_equal(body.id.id, 11);
	assert_int_equal(body.id.stream_id, 55);
	assert_int_equal(body.id.cpu, 3);
	assert_int_equal(record_encode(&body, body.event, &again, &err), 0);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.s, bytes.s, again.len);
	decoder_release(&decoder);
	events_release(&events);
	str_release(&bytes);
	str_release(&again);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_absent_parts),
		cmocka_unit_test(test_trailer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
