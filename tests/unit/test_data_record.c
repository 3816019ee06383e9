/* SPDX-License-Identifier: MIT */
/*
 * Records: one of each type through encode and decode; spoilt ones are refused by name and place; ids that
 * no event has are counted.
 */
#include "data_fixture.h"

static const uint64_t words[] = { 11, 12, 13, 14, 21, 22, 23, 24 };
static const uint8_t cpu_list[] = { 0, 0, 2, 0, 5, 0 }; /* u16 0, 2, 5 */
static const uint8_t threads[48] = { 7, [8] = 'a', 'b', [24] = 9, [32] = 'c' };
static const uint8_t code[5] = { 0x0f, 0x1f, 0xe8, 1, 2 };

/* Each type with fields that differ from each other, and what its dump must show. */
static const struct {
	struct record_body body;
	const char *shows;
} cases[] = {
	{ { .type = RECORD_MMAP,
	    .mmap = { .pid = 1,
		      .tid = 2,
		      .start = 0x1000,
		      .len = 0x2000,
		      .pgoff = 0x3000,
		      .path = "/lib/a.so" } },
	  "PERF_RECORD_MMAP 1/2: [0x1000(0x2000) @ 0x3000]: x /lib/a.so\n" },
	{ { .type = RECORD_LOST, .lost = { 101, 9 } }, "PERF_RECORD_LOST id 101, lost 9\n" },
	{ { .type = RECORD_COMM, .comm = { 3, 4, "name" } }, "PERF_RECORD_COMM: name:3/4\n" },
	{ { .type = RECORD_EXIT, .task = { 5, 6, 7, 8, 99 } }, "PERF_RECORD_EXIT(5:7):(6:8)\n" },
	{ { .type = RECORD_THROTTLE, .throttle = { 1, 2, 3 } },
	  "PERF_RECORD_THROTTLE time 1, id 2, stream_id 3\n" },
	{ { .type = RECORD_UNTHROTTLE, .throttle = { 4, 5, 6 } },
	  "PERF_RECORD_UNTHROTTLE time 4, id 5, stream_id 6\n" },
	{ { .type = RECORD_FORK, .task = { 5, 6, 7, 8, 99 } }, "PERF_RECORD_FORK(5:7):(6:8)\n" },
	{ { .type = RECORD_READ, .read = { 1, 2, { .n = 1, .single = { 77 } } } }, "value 77\n" },
	{ { .type = RECORD_MMAP2,
	    .mmap = { .pid = 1,
		      .tid = 2,
		      .start = 0x1000,
		      .len = 0x2000,
		      .major = 8,
		      .minor = 2,
		      .inode = 33,
		      .inode_generation = 44,
		      .prot = 3,
		      .flags = 1,
		      .path = "/x" } },
	  "PERF_RECORD_MMAP2 1/2: [0x1000(0x2000) @ 0 08:02 33 44]: rw-s /x\n" },
	{ { .type = RECORD_MMAP2,
	    .misc = MISC_MMAP_BUILD_ID | MISC_USER,
	    .mmap = { .pid = 1,
		      .tid = 2,
		      .build_id_size = 16,
		      .build_id = { 0xde, 0xad, 0xbe, 0xef },
		      .prot = 5,
		      .flags = 2,
		      .path = "/y" } },
	  "@ 0 <deadbeef000000000000000000000000>]: r-xp /y\n" },
	{ { .type = RECORD_AUX, .aux = { 0x10, 0x20, 1 } },
	  "PERF_RECORD_AUX offset 0x10, size 0x20, flags 0x1\n" },
	{ { .type = RECORD_ITRACE_START, .itrace_start = { 1, 2 } },
	  "PERF_RECORD_ITRACE_START pid 1, tid 2\n" },
	{ { .type = RECORD_LOST_SAMPLES, .lost = { 0, 12 } },
	  "PERF_RECORD_LOST_SAMPLES lost 12\n" },
	{ { .type = RECORD_SWITCH, .misc = MISC_SWITCH_OUT }, "PERF_RECORD_SWITCH OUT        \n" },
	{ { .type = RECORD_SWITCH_CPU_WIDE, .sched = { 8, 9 } },
	  "PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:     8/9    \n" },
	{ { .type = RECORD_NAMESPACES, .namespaces = { 1, 2, { 2, words } } },
	  "PERF_RECORD_NAMESPACES 1/2 - nr_namespaces: 2 [0/net: 0xb/0xc, 1/uts: 0xd/0xe]\n" },
	{ { .type = RECORD_KSYMBOL, .ksymbol = { 0xff00, 64, 1, 0, "bpf_prog_x" } },
	  "PERF_RECORD_KSYMBOL addr 0xff00, len 0x40, type 1, flags 0, name bpf_prog_x\n" },
	{ { .type = RECORD_BPF_EVENT, .bpf = { 1, 0, 7, { 1, 2, 3, 4, 5, 6, 7, 8 } } },
	  "PERF_RECORD_BPF_EVENT type 1, flags 0, id 7, tag 0102030405060708\n" },
	{ { .type = RECORD_CGROUP, .cgroup = { 1, "/a" } }, "PERF_RECORD_CGROUP cgroup: 1 /a\n" },
	{ { .type = RECORD_TEXT_POKE, .text_poke = { 0xff, 2, 3, { 5, code } } },
	  "old 0f1f new e80102\n" },
	{ { .type = RECORD_AUX_OUTPUT_HW_ID, .hw_id = 5 },
	  "PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: 0x5\n" },
	{ { .type = RECORD_CALLCHAIN_DEFERRED, .deferred = { 0xc0, { 2, words } } },
	  "PERF_RECORD_CALLCHAIN_DEFERRED cookie 0xc0, nr 2: 0xb, 0xc\n" },
	{ { .type = RECORD_HEADER_BUILD_ID, .build_id = { -1, { 0xab }, 20, "/bin/ls" } },
	  "pid -1, build_id ab00000000000000000000000000000000000000, size 20, filename "
	  "/bin/ls\n" },
	{ { .type = RECORD_FINISHED_ROUND }, "PERF_RECORD_FINISHED_ROUND\n" },
	{ { .type = RECORD_ID_INDEX, .id_index = { 2, words } },
	  "PERF_RECORD_ID_INDEX nr: 2\n ... id: 11  idx: 12  cpu: 13  tid: 14\n" },
	{ { .type = RECORD_AUXTRACE_INFO, .auxtrace_info = { 1, 0, { 2, words } } },
	  "PERF_RECORD_AUXTRACE_INFO type: 1 reserved 0, priv nr 2: 0xb, 0xc\n" },
	{ { .type = RECORD_AUXTRACE_ERROR,
	    .auxtrace_error = { .kind = 1, .code = 2, .cpu = 3, .message = "lost\n" } },
	  "msg lost\\x0a\n" },
	{ { .type = RECORD_THREAD_MAP, .threads = { 2, threads, false } },
	  "PERF_RECORD_THREAD_MAP nr: 2 thread: 7 ab thread: 9 c\n" },
	{ { .type = RECORD_CPU_MAP, .cpus = { .kind = CPU_MAP_LIST, .n = 3, .data = cpu_list } },
	  "PERF_RECORD_CPU_MAP 0,2,5\n" },
	{ { .type = RECORD_CPU_MAP,
	    .cpus = { .kind = CPU_MAP_MASK,
		      .n = 1,
		      .word_bytes = 4,
		      .data = (const uint8_t *)"\x0f\0\0\0" } },
	  "PERF_RECORD_CPU_MAP 0-3\n" },
	{ { .type = RECORD_CPU_MAP,
	    .cpus = { .kind = CPU_MAP_MASK,
		      .n = 1,
		      .word_bytes = 8,
		      .data = (const uint8_t *)"\x01\0\0\0\0\0\0\x80" } },
	  "PERF_RECORD_CPU_MAP 0,63\n" },
	{ { .type = RECORD_CPU_MAP, .cpus = { .kind = CPU_MAP_RANGE, .first = 2, .last = 4 } },
	  "PERF_RECORD_CPU_MAP 2-4\n" },
	{ { .type = RECORD_STAT_CONFIG, .stat_config = { 1, words } }, "... tag 11 12\n" },
	{ { .type = RECORD_STAT, .stat = { 1, 2, 3, 4, 5, 6 } },
	  "id 1, cpu 2, thread 3, value 4, enabled 5, running 6\n" },
	{ { .type = RECORD_STAT_ROUND, .stat_round = { 1, 2 } },
	  "PERF_RECORD_STAT_ROUND type 1, time 2\n" },
	{ { .type = RECORD_EVENT_UPDATE,
	    .update = { .kind = EVENT_UPDATE_NAME, .id = 101, .text = "n" } },
	  "... name:  n\n" },
	{ { .type = RECORD_EVENT_UPDATE,
	    .update = { .kind = EVENT_UPDATE_SCALE, .id = 101, .scale = 0.5 } },
	  "... scale: 0.5\n" },
	{ { .type = RECORD_EVENT_UPDATE,
	    .update = { .kind = EVENT_UPDATE_CPUS,
			.id = 101,
			.cpus = { .kind = CPU_MAP_LIST, .n = 3, .data = cpu_list } } },
	  "... cpus:  0,2,5\n" },
	{ { .type = RECORD_TIME_CONV, .time_conv = { 1, 2, 3, { 0, NULL } } },
	  "time_shift 1, time_mult 2, time_zero 3, newer 0 bytes\n" },
	{ { .type = RECORD_HEADER_FEATURE, .feature = { 3, { 5, code } } },
	  "PERF_RECORD_HEADER_FEATURE HOSTNAME (3), 5 bytes\n" },
	{ { .type = RECORD_FINISHED_INIT }, "PERF_RECORD_FINISHED_INIT\n" },
};

struct one {
	struct events events;
	struct decoder decoder;
	struct str bytes, err, dump;
};

static void one_init(struct one *one)
{
	fix_events(&one->events);
	decoder_init(&one->decoder, &one->events, false);
	str_init(&one->bytes);
	str_init(&one->err);
	str_init(&one->dump);
}

static void one_release(struct one *one)
{
	decoder_release(&one->decoder);
	events_release(&one->events);
	str_release(&one->bytes);
	str_release(&one->err);
	str_release(&one->dump);
}

static void one_encode(struct one *one, struct record_body body)
{
	body.id = (struct sample_id){ .id = 201, .time_ns = 5, .pid = 6, .tid = 7, .cpu = 1 };
	str_reset(&one->bytes);
	assert_int_equal(record_encode(&body,
				       body.type < RECORD_USER_FIRST ? one->events.v[0] : NULL,
				       &one->bytes, &one->err),
			 0);
}

/* A record in memory of its own size, so that a sanitizer sees any read beyond it. */
static int one_decode(struct one *one, struct record_body *body, uint8_t **copy)
{
	struct record record = { .offset = 0x1f40 };

	*copy = malloc(one->bytes.len);
	memcpy(*copy, one->bytes.s, one->bytes.len);
	record.bytes = *copy;
	memcpy(&record.type, *copy, 4);
	memcpy(&record.misc, *copy + 4, 2);
	record.size = (uint16_t)one->bytes.len;
	str_reset(&one->err);
	str_reset(&one->dump);
	if (record_decode(&one->decoder, &record, body, &one->err))
		return -1;
	record_dump(&one->decoder, &record, body, &one->dump);
	return 0;
}

static void test_each_type(void **state)
{
	struct one one;

	(void)state;
	one_init(&one);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct record_body body;
		struct str again = STR_INIT;
		uint8_t *copy;

		one_encode(&one, cases[i].body);
		assert_int_equal(one_decode(&one, &body, &copy), 0);
		assert_has(one.dump.s, cases[i].shows);
		if (cases[i].body.type < RECORD_USER_FIRST) {
			assert_ptr_equal(body.event, one.events.v[1]);
			assert_int_equal(body.id.time_ns, 5);
			assert_int_equal(body.id.tid, 7);
		}
		assert_int_equal(record_encode(&body, body.event, &again, &one.err), 0);
		assert_int_equal(again.len, one.bytes.len);
		assert_memory_equal(again.s, one.bytes.s, again.len);
		if (cases[i].body.type != RECORD_HEADER_FEATURE)
			assert_int_equal(again.len % 8 && cases[i].body.type != RECORD_CPU_MAP, 0);
		str_release(&again);
		free(copy);
	}
	one_release(&one);
}

/* Each type cut at each length, and with each byte changed: refused with a sentence, or decoded. */
static void test_each_type_spoilt(void **state)
{
	struct one one;
	struct record_body body;
	uint8_t *copy;

	(void)state;
	one_init(&one);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len;

		one_encode(&one, cases[i].body);
		len = one.bytes.len;
		for (one.bytes.len = 8; one.bytes.len < len; one.bytes.len++) {
			if (one_decode(&one, &body, &copy))
				assert_has(one.err.s, "at offset 0x1f40: ");
			free(copy);
		}
		for (size_t at = 8 * 4; at < len * 4; at++) { /* two bits of each nibble */
			char flip = (char)(at % 4 ? 0x11 << at % 4 : 0xff);

			one.bytes.s[at / 4] ^= flip;
			if (one_decode(&one, &body, &copy))
				assert_has(one.err.s, "at offset 0x1f40: ");
			free(copy);
			one.bytes.s[at / 4] ^= flip;
		}
	}
	one_release(&one);
}

static void spoil(struct one *one, struct record_body from, size_t at, uint64_t value, size_t bytes,
		  const char *says)
{
	struct record_body body;
	uint8_t *copy;

	one_encode(one, from);
	memcpy(one->bytes.s + at, &value, bytes);
	assert_int_equal(one_decode(one, &body, &copy), -1);
	assert_string_equal(one->err.s, says);
	free(copy);
}

static void test_sentences(void **state)
{
	struct one one;
	struct record_body body = fix_body(0);
	struct record_body sample = fix_sample(101, 1);
	uint8_t *copy;

	(void)state;
	one_init(&one);
	/* "spin" without its NUL: the trailer must not be taken for text. */
	spoil(&one, body, 16, 0x4141414141414141, 8,
	      "at offset 0x1f40: COMM (3): its text has no end");
	spoil(&one, cases[15].body, 16, 3, 8,
	      "at offset 0x1f40: NAMESPACES (16): more entries than the record has room for");
	spoil(&one, sample, 8 + 6 * 8, 4, 8,
	      "at offset 0x1f40: SAMPLE (9): callchain is longer than the record");
	spoil(&one, sample, 8 + 6 * 8, UINT64_MAX / 8 + 1, 8,
	      "at offset 0x1f40: SAMPLE (9): callchain is longer than the record");
	spoil(&one, fix_body(1), 0, RECORD_THREAD_MAP, 4,
	      "at offset 0x1f40: THREAD_MAP (73): more threads than the record has room for");
	one_encode(&one, fix_body(1));
	one.bytes.len = 40;
	assert_int_equal(one_decode(&one, &body, &copy), -1);
	assert_string_equal(one.err.s,
			    "at offset 0x1f40: MMAP2 (10): has 40 bytes, at least 72 are needed");
	free(copy);
	one_release(&one);
}

/* Samples of the only software event may have another recorder's id; other records have their own. */
static void test_ids_of_others(void **state)
{
	static const struct {
		uint64_t types[2], configs[2];
		int event; /* of id 999; -1: none */
	} rows[] = {
		{ { PERF_TYPE_SOFTWARE, PERF_TYPE_SOFTWARE },
		  { PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_PAGE_FAULTS }, 1 },
		{ { PERF_TYPE_SOFTWARE, PERF_TYPE_HARDWARE }, { PERF_COUNT_SW_CONTEXT_SWITCHES, 0 }, 0 },
		{ { PERF_TYPE_SOFTWARE, PERF_TYPE_SOFTWARE },
		  { PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_PAGE_FAULTS }, -1 },
		{ { PERF_TYPE_SOFTWARE, PERF_TYPE_SOFTWARE },
		  { PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_BPF_OUTPUT }, -1 },
		{ { PERF_TYPE_HARDWARE, PERF_TYPE_TRACEPOINT }, { 0, 7 }, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct events events;
		struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = PERF_SAMPLE_IDENTIFIER };

		events_init(&events);
		for (uint64_t k = 0; k < 2; k++) {
			attr.type = (uint32_t)rows[i].types[k];
			attr.config = rows[i].configs[k];
			events_add(&events, &attr, sizeof(attr), (uint64_t[]){ 10 + k }, 1);
		}
		assert_ptr_equal(events_of_sample(&events, 11), events.v[1]);
		assert_ptr_equal(events_of_sample(&events, 999), rows[i].event < 0 ? NULL : events.v[rows[i].event]);
		assert_null(events_find(&events, 999));
		events_release(&events);
	}
}

/* With one layout for all events an unknown id is counted and the record still decoded. */
static void test_unknown_ids(void **state)
{
	struct one one;
	struct record_body body;
	uint8_t *copy;

	(void)state;
	one_init(&one);
	/* Of several software events nobody knows which one it is. */
	fix_event(&one.events, PERF_COUNT_SW_CONTEXT_SWITCHES, (const uint64_t[]){ 301 }, 1, "context-switches");
	one_encode(&one, fix_sample(999, 77));
	assert_int_equal(one_decode(&one, &body, &copy), 0);
	assert_null(body.event);
	assert_int_equal(body.id.time_ns, 77);
	assert_int_equal(one.decoder.unknown_ids, 1);
	free(copy);

	one.events.v[1]->attr.sample_type |= PERF_SAMPLE_ADDR;
	events_add(&one.events, &one.events.v[1]->attr, one.events.v[1]->attr_size, words, 1);
	one_encode(&one, fix_sample(999, 77));
	assert_int_equal(one_decode(&one, &body, &copy), -1);
	assert_has(one.err.s, "SAMPLE (9): id 999 belongs to no event");
	assert_int_equal(one.decoder.unknown_ids, 2);
	free(copy);
	one_release(&one);
}

/*
 * The bit of build-ids in records of events that were not asked for them: the kernel leaves another recorder's there,
 * perf inject puts in those that it found.
 */
static void test_stray_build_id_bit(void **state)
{
	static const struct {
		bool first, second; /* attr.build_id of the events */
		uint64_t id; /* of the record: 201 is the second's, 0 nobody's */
		uint32_t major;
		bool is_build_id;
	} rows[] = {
		{ false, false, 201, 0, false }, /* overlayfs, btrfs, tmpfs */
		{ false, false, 201, 7, false }, /* loop */
		{ false, false, 201, 8, false }, /* sd */
		{ false, false, 201, 254, false }, /* virtio */
		{ false, false, 201, 259, false }, /* nvme */
		{ false, false, 201, 20 << 8, false },
		{ false, false, 201, 16, true }, /* 16 bytes, as of MD5 */
		{ false, false, 201, 20, true },
		{ true, false, 201, 8, false },
		{ false, true, 201, 8, true },
		{ false, false, 0, 8, false },
		{ true, false, 0, 8, true },
		{ true, false, 0, 20, true },
	};
	struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER };

	(void)state;
	body.mmap = (struct record_mmap){ .minor = 5, .inode = 6, .inode_generation = 7, .prot = 5, .path = "/x" };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record_body back;
		struct one one;
		uint8_t *copy;

		one_init(&one);
		one.events.v[0]->attr.build_id = rows[i].first;
		one.events.v[1]->attr.build_id = rows[i].second;
		body.mmap.major = rows[i].major;
		one_encode(&one, body);
		one.bytes.s[5] |= MISC_MMAP_BUILD_ID >> 8;
		memcpy(one.bytes.s + one.bytes.len - 8, &rows[i].id, 8); /* IDENTIFIER */
		assert_int_equal(one_decode(&one, &back, &copy), 0);
		assert_int_equal(!!(back.misc & MISC_MMAP_BUILD_ID), rows[i].is_build_id);
		assert_int_equal(back.mmap.build_id_size, rows[i].is_build_id ? rows[i].major : 0);
		assert_int_equal(back.mmap.inode, rows[i].is_build_id ? 0 : 6);
		assert_int_equal(back.mmap.prot, 5);
		free(copy);
		one_release(&one);
	}
}

/* Events with different layouts: each record by its own event's, samples and others. */
static void test_layouts_by_id(void **state)
{
	struct events events;
	struct decoder decoder;
	struct record_body body = fix_sample(201, 5), back;
	struct perf_event_attr attr;
	struct str bytes = STR_INIT, err = STR_INIT;
	struct record record = { .type = RECORD_SAMPLE };
	static const uint64_t ids[] = { 201 };

	(void)state;
	events_init(&events);
	fix_event(&events, 0, fix_ids, 2, "a");
	attr = events.v[0]->attr;
	attr.sample_type |= PERF_SAMPLE_ADDR;
	events_add(&events, &attr, sizeof(attr), ids, 1);
	decoder_init(&decoder, &events, false);
	body.sample.addr = 0xadd;
	assert_int_equal(record_encode(&body, events.v[1], &bytes, &err), 0);
	record.bytes = (const uint8_t *)bytes.s;
	record.size = (uint16_t)bytes.len;
	assert_int_equal(record_decode(&decoder, &record, &back, &err), 0);
	assert_ptr_equal(back.event, events.v[1]);
	assert_int_equal(back.sample.addr, 0xadd);
	assert_int_equal(back.sample.period, 1000);
	decoder_release(&decoder);
	events_release(&events);
	str_release(&bytes);
	str_release(&err);
}

/* Zeros, as a mapping has them where its file was cut off after the record was read. */
static void test_bytes_that_went(void **state)
{
	const uint8_t zeros[RECORD_HEADER_BYTES] = { 0 };
	struct events events;
	struct decoder decoder;
	struct record_body body;
	struct record record;
	struct str err = STR_INIT;

	(void)state;
	fix_events(&events);
	decoder_init(&decoder, &events, false);
	record_from_bytes(&record, zeros, 0x1f40, false);
	assert_int_equal(record_decode(&decoder, &record, &body, &err), -EINVAL);
	assert_string_equal(err.s, "at offset 0x1f40: UNKNOWN (0): has 0 bytes, at least 8 are needed");
	str_release(&err);
	decoder_release(&decoder);
	events_release(&events);
}

static void test_too_large(void **state)
{
	struct str bytes = STR_INIT, err = STR_INIT;
	struct record_body body = { .type = RECORD_COMM };
	char *name = xmalloc(70000);

	(void)state;
	memset(name, 'x', 69999);
	name[69999] = '\0';
	body.comm.comm = name;
	assert_int_equal(record_encode(&body, NULL, &bytes, &err), -E2BIG);
	assert_int_equal(bytes.len, 0);
	assert_has(err.s, "at most 65535");
	free(name);
	str_release(&bytes);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_type),     cmocka_unit_test(test_each_type_spoilt),
		cmocka_unit_test(test_sentences),     cmocka_unit_test(test_unknown_ids),
		cmocka_unit_test(test_ids_of_others),
		cmocka_unit_test(test_layouts_by_id), cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_stray_build_id_bit), cmocka_unit_test(test_bytes_that_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
