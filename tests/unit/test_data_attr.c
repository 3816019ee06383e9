/* SPDX-License-Identifier: MIT */
/* Attrs of every ABI size, as `evlist -v` shows them; ids and names of events; counts by type. */
#include "data_fixture.h"

static void test_evlist_line(void **state)
{
	const struct evlist_options options = { .verbose = true };
	struct perf_event_attr attr = { .type = 2, .size = 128, .config = 0x174 };
	struct str out = STR_INIT;
	struct events events;

	(void)state;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			   PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_IDENTIFIER;
	attr.read_format = PERF_FORMAT_ID | DATA_FORMAT_LOST;
	attr.disabled = attr.inherit = attr.sample_id_all = attr.exclude_guest = 1;
	events_init(&events);
	events_add(&events, &attr, sizeof(attr), NULL, 0)->name = xstrdup("sched:sched_switch");
	events_print(&events, NULL, &options, &out);
	/* perf 7.2's own line for this event */
	assert_string_equal(out.s,
			    "sched:sched_switch: type: 2 (PERF_TYPE_TRACEPOINT), size: 128, "
			    "config: 0x174 (sched:sched_switch), "
			    "{ sample_period, sample_freq }: 1, "
			    "sample_type: IP|TID|TIME|CPU|PERIOD|RAW|IDENTIFIER, "
			    "read_format: ID|LOST, disabled: 1, inherit: 1, sample_id_all: 1, "
			    "exclude_guest: 1\n");
	str_release(&out);
	events_release(&events);
}

static const char *const field_words[] = {
	"type",
	"size",
	"config",
	"sample_period",
	"wakeup_events",
	"bp_type",
	"config1",
	"config2",
	"sample_regs_user",
	"sample_stack_user",
	"clockid",
	"sample_regs_intr",
	"aux_watermark",
	"sample_max_stack",
	"aux_sample_size",
	"sig_data",
	"config3",
	"config4",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap: 1",
	"comm: 1",
	"freq: 1",
	"inherit_stat",
	"enable_on_exec",
	"task: 1",
	"watermark: 1",
	"precise_ip: 3",
	"mmap_data",
	"exclude_host",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
	"CODE_PAGE_SIZE",
	"HW_INDEX",
	"GROUP|LOST",
};

/* Every field set: each has its name, and none is printed twice. */
static void test_every_field(void **state)
{
	uint8_t bytes[144];
	struct str out = STR_INIT;
	struct events events;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	events_init(&events);
	events_add(&events, bytes, sizeof(bytes), NULL, 0);
	attr_print(events.v[0], NULL, ": ", &out);
	for (size_t i = 0; i < ARRAY_SIZE(field_words); i++)
		assert_has(out.s, field_words[i]);
	str_release(&out);
	events_release(&events);
}

/* The first ABI's 64 bytes in a pipe, with its size field 0 as perf wrote it then. */
static void test_old_attr(void **state)
{
	struct fix_result r;
	struct str bytes = STR_INIT;
	struct perf_event_attr attr = { .type = 1, .sample_type = PERF_SAMPLE_IP };
	uint64_t head[] = { RECORD_HEADER_ATTR | (uint64_t)(8 + 64 + 8) << 48 };
	uint64_t id = 5;
	uint64_t sample[] = { RECORD_SAMPLE | (uint64_t)16 << 48, 0x1234 };

	(void)state;
	str_addn(&bytes, "PERFILE2\x10\0\0\0\0\0\0\0", 16);
	str_addn(&bytes, (const char *)head, 8);
	str_addn(&bytes, (const char *)&attr, 64);
	str_addn(&bytes, (const char *)&id, 8);
	str_addn(&bytes, (const char *)sample, 16);
	fix_read(bytes.s, bytes.len, &r);
	assert_int_equal(r.broken, 0);
	assert_int_equal(r.samples, 1);
	assert_has(r.dump.s, "0x1234");
	assert_has(r.dump.s, "event: cpu-clock\n");
	fix_result_release(&r);
	str_release(&bytes);
}

static void test_many_ids(void **state)
{
	struct events events;
	uint64_t *ids = xcalloc(5000, sizeof(*ids));

	(void)state;
	for (size_t i = 0; i < 5000; i++)
		ids[i] = i << 40 | 7;
	events_init(&events);
	for (size_t i = 0; i < 50; i++)
		fix_event(&events, i, ids + 100 * i, 100, "e");
	for (size_t i = 0; i < 5000; i++)
		assert_ptr_equal(events_find(&events, ids[i]), events.v[i / 100]);
	assert_null(events_find(&events, 8));
	/* An id given twice stays with the first event. */
	events_add_ids(&events, events.v[1], ids, 1);
	assert_ptr_equal(events_find(&events, ids[0]), events.v[0]);
	events_release(&events);
	free(ids);
}

static void test_stats(void **state)
{
	struct record_stats stats = { 0 };
	struct record record = { .type = RECORD_SAMPLE };
	struct record_body body = fix_sample(101, 1);
	struct str out = STR_INIT;
	struct events events;

	(void)state;
	fix_events(&events);
	body.event = events.v[1];
	record_stats_add(&stats, &record, &body);
	body.event = NULL;
	record_stats_add(&stats, &record, &body);
	record_stats_add(&stats, &record, NULL);
	body = fix_body(6);
	record.type = RECORD_LOST;
	record_stats_add(&stats, &record, &body);
	record_stats_print(&stats, &events, &out);
	assert_string_equal(out.s, "\nAggregated stats:\n"
				   "           TOTAL events:          4\n"
				   "            LOST events:          1  (25.0%)\n"
				   "          SAMPLE events:          3  (75.0%)\n"
				   "            lost events:          5\n"
				   "          broken events:          1\n"
				   "page-faults stats:\n"
				   "          SAMPLE events:          1\n"
				   "of no known event:\n"
				   "          SAMPLE events:          1\n");
	record_stats_release(&stats);
	str_release(&out);
	events_release(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evlist_line), cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_old_attr),    cmocka_unit_test(test_many_ids),
		cmocka_unit_test(test_stats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
