/* SPDX-License-Identifier: MIT */
/*
 * Every record type and every field of a sample, from the bytes of a ring to the public struct: each field has a
 * value of its own, so that none can stand in the place of another.
 */
#include "feed_fixture.h"

static const uint64_t TRAILER = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_STREAM_ID |
				PERF_SAMPLE_CPU;
static const uint64_t FORMAT = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			       DATA_FORMAT_LOST;
static const struct sample_id id = {
	.pid = 901, .tid = 902, .time_ns = 903, .id = 77, .stream_id = 905, .cpu = 906,
};
static struct data_event *event;

static int setup(void **state)
{
	(void)state;
	fix_open(1, 32);
	fix_event(TRAILER, FORMAT, 76);
	event = fix_event(TRAILER, FORMAT, 77);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fix_close();
	return 0;
}

/* Writes it, reads it, and looks at what all records have. */
static const struct pstat_record *through(struct record_body *body)
{
	size_t size;

	body->id = id;
	size = fix_put(0, body, event);
	assert_int_equal(fix_next(), 1);
	assert_int_equal(fix.record->size, sizeof(*fix.record));
	assert_int_equal(fix.record->record_type, body->type);
	assert_int_equal(fix.record->misc, body->misc);
	assert_int_equal(fix.record->mode, body->misc & 7);
	assert_int_equal(fix.record->event, 1);
	assert_int_equal(fix.record->ring_cpu, 0);
	assert_int_equal(fix.record->has, TRAILER);
	assert_int_equal(fix.record->pid, 901);
	assert_int_equal(fix.record->tid, 902);
	assert_int_equal(fix.record->time_ns, 903);
	assert_int_equal(fix.record->id, 77);
	assert_int_equal(fix.record->stream_id, 905);
	assert_int_equal(fix.record->cpu, 906);
	assert_int_equal(fix.record->n_bytes, size);
	return fix.record;
}

static void maps(void **state)
{
	struct record_body body = { .type = RECORD_MMAP, .misc = MISC_USER };
	const struct pstat_map *map;

	(void)state;
	body.mmap = (struct record_mmap){ .pid = 1, .tid = 2, .start = 3, .len = 4, .pgoff = 5, .major = 6, .minor = 7,
					  .inode = 8, .inode_generation = 9, .prot = 10, .flags = 11,
					  .path = "/a/path" };
	map = &through(&body)->body.map;
	assert_int_equal(map->pid, 1);
	assert_int_equal(map->tid, 2);
	assert_int_equal(map->start, 3);
	assert_int_equal(map->length, 4);
	assert_int_equal(map->file_offset, 5);
	assert_string_equal(map->path, "/a/path");
	assert_int_equal(map->data, 0);
	assert_int_equal(map->inode, 0);
	body.type = RECORD_MMAP2;
	body.misc = MISC_USER | MISC_MMAP_DATA;
	map = &through(&body)->body.map;
	assert_int_equal(map->data, 1);
	assert_int_equal(map->pid, 1);
	assert_int_equal(map->tid, 2);
	assert_int_equal(map->start, 3);
	assert_int_equal(map->length, 4);
	assert_int_equal(map->file_offset, 5);
	assert_int_equal(map->device_major, 6);
	assert_int_equal(map->device_minor, 7);
	assert_int_equal(map->inode, 8);
	assert_int_equal(map->inode_generation, 9);
	assert_int_equal(map->protection, 10);
	assert_int_equal(map->flags, 11);
	assert_int_equal(map->build_id_bytes, 0);
	assert_string_equal(map->path, "/a/path");
	body.misc = MISC_USER | MISC_MMAP_BUILD_ID;
	body.mmap.build_id_size = 20;
	memcpy(body.mmap.build_id, "abcdefghijklmnopqrst", 20);
	map = &through(&body)->body.map;
	assert_int_equal(map->build_id_bytes, 20);
	assert_memory_equal(map->build_id, "abcdefghijklmnopqrst", 20);
	assert_int_equal(map->inode, 0);
	assert_int_equal(map->protection, 10);
	assert_int_equal(map->flags, 11);
	assert_string_equal(map->path, "/a/path");
}

static void tasks(void **state)
{
	struct record_body body = { .type = RECORD_FORK, .task = { 1, 2, 3, 4, 5 } };
	const struct pstat_record *r = through(&body);

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(r->body.task.pid, 1);
		assert_int_equal(r->body.task.parent_pid, 2);
		assert_int_equal(r->body.task.tid, 3);
		assert_int_equal(r->body.task.parent_tid, 4);
		assert_int_equal(r->body.task.time_ns, 5);
		body.type = RECORD_EXIT;
		r = through(&body);
	}
	body = (struct record_body){ .type = RECORD_COMM, .comm = { 1, 2, "a name" } };
	r = through(&body);
	assert_int_equal(r->body.comm.pid, 1);
	assert_int_equal(r->body.comm.tid, 2);
	assert_string_equal(r->body.comm.name, "a name");
	assert_int_equal(r->body.comm.exec, 0);
	body.misc = MISC_COMM_EXEC;
	assert_int_equal(through(&body)->body.comm.exec, 1);
	body = (struct record_body){ .type = RECORD_NAMESPACES,
				     .namespaces = { 1, 2, { 2, (uint64_t[]){ 3, 4, 5, 6 } } } };
	r = through(&body);
	assert_int_equal(r->body.namespaces.pid, 1);
	assert_int_equal(r->body.namespaces.tid, 2);
	assert_int_equal(r->body.namespaces.n, 2);
	assert_int_equal(r->body.namespaces.v[0].device, 3);
	assert_int_equal(r->body.namespaces.v[1].inode, 6);
	body = (struct record_body){ .type = RECORD_CGROUP, .cgroup = { 1, "/a/group" } };
	r = through(&body);
	assert_int_equal(r->body.cgroup.id, 1);
	assert_string_equal(r->body.cgroup.path, "/a/group");
}

static void switches(void **state)
{
	struct record_body body = { .type = RECORD_SWITCH };
	const struct pstat_record *r = through(&body);

	(void)state;
	assert_int_equal(r->body.sched.out, 0);
	assert_int_equal(r->body.sched.preempted, 0);
	body.misc = MISC_SWITCH_OUT;
	r = through(&body);
	assert_int_equal(r->body.sched.out, 1);
	assert_int_equal(r->body.sched.preempted, 0);
	body.misc = MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT;
	assert_int_equal(through(&body)->body.sched.preempted, 1);
	body.type = RECORD_SWITCH_CPU_WIDE;
	body.sched.other_pid = 1;
	body.sched.other_tid = 2;
	r = through(&body);
	assert_int_equal(r->body.sched.out, 1);
	assert_int_equal(r->body.sched.other_pid, 1);
	assert_int_equal(r->body.sched.other_tid, 2);
}

static void losses(void **state)
{
	struct record_body body = { .type = RECORD_LOST, .lost = { 1, 20 } };
	const struct pstat_record *r = through(&body);

	(void)state;
	assert_int_equal(r->body.lost.id, 1);
	assert_int_equal(r->body.lost.n, 20);
	body.type = RECORD_LOST_SAMPLES;
	body.lost.lost = 300;
	r = through(&body);
	assert_int_equal(r->body.lost.id, 0);
	assert_int_equal(r->body.lost.n, 300);
	assert_int_equal(fix.feed.lost, 20);
	assert_int_equal(fix.feed.not_taken, 300);
	assert_int_equal(fix.feed.delivered, 2);
	assert_int_equal(fix.feed.samples, 0);
	body = (struct record_body){ .type = RECORD_THROTTLE, .throttle = { 1, 2, 3 } };
	for (int i = 0; i < 2; i++) {
		r = through(&body);
		assert_int_equal(r->body.throttle.time_ns, 1);
		assert_int_equal(r->body.throttle.id, 2);
		assert_int_equal(r->body.throttle.stream_id, 3);
		body.type = RECORD_UNTHROTTLE;
	}
}

static void kernel_code(void **state)
{
	struct record_body body = { .type = RECORD_KSYMBOL, .ksymbol = { 1, 2, 3, 4, "a_symbol" } };
	const struct pstat_record *r = through(&body);

	(void)state;
	assert_int_equal(r->body.ksymbol.addr, 1);
	assert_int_equal(r->body.ksymbol.length, 2);
	assert_int_equal(r->body.ksymbol.kind, 3);
	assert_int_equal(r->body.ksymbol.flags, 4);
	assert_string_equal(r->body.ksymbol.name, "a_symbol");
	body = (struct record_body){ .type = RECORD_BPF_EVENT, .bpf = { 1, 2, 3, { 4, 5, 6, 7, 8, 9, 10, 11 } } };
	r = through(&body);
	assert_int_equal(r->body.bpf.kind, 1);
	assert_int_equal(r->body.bpf.flags, 2);
	assert_int_equal(r->body.bpf.id, 3);
	assert_memory_equal(r->body.bpf.tag, body.bpf.tag, 8);
	body = (struct record_body){ .type = RECORD_TEXT_POKE,
				     .text_poke = { 1, 2, 3, { 5, (const uint8_t *)"\1\2\3\4\5" } } };
	r = through(&body);
	assert_int_equal(r->body.text_poke.addr, 1);
	assert_int_equal(r->body.text_poke.old_bytes, 2);
	assert_int_equal(r->body.text_poke.new_bytes, 3);
	assert_memory_equal(r->body.text_poke.code, "\1\2\3\4\5", 5);
}

static void the_rest(void **state)
{
	struct record_body body = { .type = RECORD_AUX, .aux = { 1, 2, 3 } };
	const struct pstat_record *r = through(&body);
	uint64_t value, value_id, lost;

	(void)state;
	assert_int_equal(r->body.aux.offset, 1);
	assert_int_equal(r->body.aux.bytes, 2);
	assert_int_equal(r->body.aux.flags, 3);
	body = (struct record_body){ .type = RECORD_ITRACE_START, .itrace_start = { 1, 2 } };
	r = through(&body);
	assert_int_equal(r->body.itrace_start.pid, 1);
	assert_int_equal(r->body.itrace_start.tid, 2);
	body = (struct record_body){ .type = RECORD_AUX_OUTPUT_HW_ID, .hw_id = 12 };
	assert_int_equal(through(&body)->body.hw_id.hw_id, 12);
	body = (struct record_body){ .type = RECORD_CALLCHAIN_DEFERRED,
				     .deferred = { 1, { 2, (uint64_t[]){ 3, 4 } } } };
	r = through(&body);
	assert_int_equal(r->body.deferred.cookie, 1);
	assert_int_equal(r->body.deferred.n_ips, 2);
	assert_int_equal(r->body.deferred.ips[1], 4);
	body = (struct record_body){ .type = RECORD_READ, .read = { 1, 2, { FORMAT, 4, 5, 1, NULL, { 6, 77, 8 } } } };
	r = through(&body);
	assert_int_equal(r->body.read.pid, 1);
	assert_int_equal(r->body.read.tid, 2);
	assert_int_equal(r->body.read.values.enabled_ns, 4);
	assert_int_equal(r->body.read.values.running_ns, 5);
	assert_int_equal(pstat_value(&r->body.read.values, 0, &value, &value_id, &lost), 0);
	assert_int_equal(value, 6);
	assert_int_equal(value_id, 77);
	assert_int_equal(lost, 8);
	assert_int_equal(pstat_value(&r->body.read.values, 1, &value, &value_id, &lost), -ENOENT);
	assert_int_equal(value, 0);
}

/* Each type of the kernel's has been in one of the tests, and has its name. */
static void names(void **state)
{
	(void)state;
	assert_string_equal(pstat_record_name(PSTAT_RECORD_MMAP), "MMAP");
	assert_string_equal(pstat_record_name(PSTAT_RECORD_AUX_OUTPUT_HW_ID), "AUX_OUTPUT_HW_ID");
	for (uint32_t type = 1; type <= PSTAT_RECORD_CALLCHAIN_DEFERRED; type++)
		assert_string_not_equal(pstat_record_name(type), "UNKNOWN");
	assert_string_equal(pstat_record_name(0), "UNKNOWN");
	assert_string_equal(pstat_record_name(PSTAT_RECORD_CALLCHAIN_DEFERRED + 1), "UNKNOWN");
	assert_string_equal(pstat_record_name(68), "UNKNOWN"); /* FINISHED_ROUND is a file's */
}

/* A later kernel's record, and what only files have: bytes, and nothing is read out of them. */
static void unknown_types(void **state)
{
	static const uint32_t types[] = { 0, 23, 63, 64, 68, 70, 81, 82, 1000000, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct {
			struct perf_event_header header;
			uint64_t words[4];
		} bytes = { { types[i], 0, sizeof(bytes) }, { ~0ull, ~0ull, ~0ull, 77 } };

		fix_bytes(0, &bytes, sizeof(bytes));
		assert_int_equal(fix_next(), 1);
		assert_int_equal(fix.record->record_type, types[i]);
		assert_int_equal(fix.record->n_bytes, sizeof(bytes));
		assert_memory_equal(fix.record->bytes, &bytes, sizeof(bytes));
	}
}

/* ---- bodies, for languages that have no unions ---- */

#define BODY(one, other, name)                                                                     \
	static const void *body_##name(const struct pstat_record *record)                          \
	{                                                                                          \
		return pstat_record_##name(record);                                                \
	}
#define BODIES                                                                                     \
	BODY(SAMPLE, SAMPLE, sample)                                                               \
	BODY(MMAP, MMAP2, map)                                                                     \
	BODY(FORK, EXIT, task)                                                                     \
	BODY(LOST, LOST_SAMPLES, lost)                                                             \
	BODY(COMM, COMM, comm)                                                                     \
	BODY(THROTTLE, UNTHROTTLE, throttle)                                                       \
	BODY(READ, READ, read)                                                                     \
	BODY(AUX, AUX, aux)                                                                        \
	BODY(ITRACE_START, ITRACE_START, itrace_start)                                             \
	BODY(SWITCH, SWITCH_CPU_WIDE, switch)                                                      \
	BODY(NAMESPACES, NAMESPACES, namespaces)                                                   \
	BODY(KSYMBOL, KSYMBOL, ksymbol)                                                            \
	BODY(BPF_EVENT, BPF_EVENT, bpf_event)                                                      \
	BODY(CGROUP, CGROUP, cgroup)                                                               \
	BODY(TEXT_POKE, TEXT_POKE, text_poke)                                                      \
	BODY(AUX_OUTPUT_HW_ID, AUX_OUTPUT_HW_ID, hw_id)                                            \
	BODY(CALLCHAIN_DEFERRED, CALLCHAIN_DEFERRED, deferred)
BODIES
#undef BODY
#define BODY(one, other, name) { PSTAT_RECORD_##one, PSTAT_RECORD_##other, body_##name },

static const struct {
	uint32_t one, other;
	const void *(*body)(const struct pstat_record *record);
} bodies[] = { BODIES };

/* Each type of the kernel has one body, where the union is; no other type has any. */
static void bodies_by_type(void **state)
{
	(void)state;
	for (uint32_t type = 0; type <= PSTAT_RECORD_CALLCHAIN_DEFERRED + 1; type++) {
		struct pstat_record record = { .size = sizeof(record), .record_type = type };
		size_t n = 0;

		for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
			const void *body = bodies[i].body(&record);

			assert_int_equal(body != NULL, type == bodies[i].one || type == bodies[i].other);
			assert_true(!body || body == &record.body);
			n += body != NULL;
		}
		assert_int_equal(n, type && type <= PSTAT_RECORD_CALLCHAIN_DEFERRED);
	}
}

/* ---- words of bits: the kernel's own bit fields say where each is ---- */

static void branch_words(void **state)
{
	struct perf_branch_entry entry = { .mispred = 1, .in_tx = 1, .cycles = 0xabcd, .type = PERF_BR_RET, .spec = 2,
					   .priv = 3 };
	struct pstat_branch branch;
	struct pstat_branch_parts parts = { .size = sizeof(parts) };
	struct pstat_branch_parts shorter = { .size = offsetof(struct pstat_branch_parts, cycles), .cycles = 99 };

	(void)state;
	memcpy(&branch, &entry, sizeof(branch));
	pstat_branch_decode(&branch, &parts);
	assert_int_equal(parts.size, sizeof(parts));
	assert_int_equal(parts.mispredicted, 1);
	assert_int_equal(parts.predicted, 0);
	assert_int_equal(parts.in_transaction, 1);
	assert_int_equal(parts.aborted, 0);
	assert_int_equal(parts.cycles, 0xabcd);
	assert_int_equal(parts.branch_type, PERF_BR_RET);
	assert_int_equal(parts.speculation, 2);
	assert_int_equal(parts.privilege, 3);
	entry = (struct perf_branch_entry){ .predicted = 1, .abort = 1, .type = PERF_BR_EXTEND_ABI, .new_type = 5 };
	memcpy(&branch, &entry, sizeof(branch));
	pstat_branch_decode(&branch, &parts);
	assert_int_equal(parts.predicted, 1);
	assert_int_equal(parts.aborted, 1);
	assert_int_equal(parts.branch_type, 21);
	/* A program that knows less gets no more than it has room for. */
	pstat_branch_decode(&branch, &shorter);
	assert_int_equal(shorter.aborted, 1);
	assert_int_equal(shorter.cycles, 99);
}

static void memory_words(void **state)
{
	const union perf_mem_data_src source = { .mem_op = 17, .mem_lvl = 0x1234, .mem_snoop = 9, .mem_lock = 2,
						 .mem_dtlb = 0x55, .mem_lvl_num = 11, .mem_remote = 1, .mem_snoopx = 2,
						 .mem_blk = 5, .mem_hops = 6 };
	struct pstat_data_source parts = { .size = sizeof(parts) };

	(void)state;
	pstat_data_source_decode(source.val, &parts);
	assert_int_equal(parts.operation, 17);
	assert_int_equal(parts.level, 0x1234);
	assert_int_equal(parts.snoop, 9);
	assert_int_equal(parts.lock, 2);
	assert_int_equal(parts.tlb, 0x55);
	assert_int_equal(parts.level_number, 11);
	assert_int_equal(parts.remote, 1);
	assert_int_equal(parts.snoop_more, 2);
	assert_int_equal(parts.blocked, 5);
	assert_int_equal(parts.hops, 6);
}

static void transaction_words(void **state)
{
	static const uint64_t all[] = { PERF_TXN_ELISION,	  PERF_TXN_TRANSACTION, PERF_TXN_SYNC,
					PERF_TXN_ASYNC,		  PERF_TXN_RETRY,	PERF_TXN_CONFLICT,
					PERF_TXN_CAPACITY_WRITE, PERF_TXN_CAPACITY_READ };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct pstat_transaction parts = { .size = sizeof(parts) };

		pstat_transaction_decode(all[i] | 0x12345678ull << PERF_TXN_ABORT_SHIFT, &parts);
		assert_int_equal(parts.abort_code, 0x12345678);
		for (size_t k = 0; k < ARRAY_SIZE(all); k++)
			assert_int_equal((&parts.elision)[k], i == k);
	}
}

/* ---- fields ---- */

static void fields_of_bytes(void **state)
{
	static const uint8_t raw[24] = { 0, 0, 0, 0, 0xfe, 0xff, 0, 0, 16, 0, 5, 0, 'n', 'a', 'm', 'e',
					 'l', 'a', 't', 'e', 0, 'x', 0, 0 };
	const struct pstat_sample sample = { .raw = raw, .raw_bytes = sizeof(raw) };
	struct pstat_field field = { .offset = 4, .bytes = 2, .is_signed = 1 };
	char text[16];
	int64_t value;

	(void)state;
	assert_int_equal(pstat_field_number(&field, &sample, &value), 0);
	assert_int_equal(value, -2);
	field.is_signed = 0;
	assert_int_equal(pstat_field_number(&field, &sample, &value), 0);
	assert_int_equal(value, 0xfffe);
	field.bytes = 4;
	assert_int_equal(pstat_field_number(&field, &sample, &value), 0);
	assert_int_equal(value, 0xfffe);
	field.bytes = 3;
	assert_int_equal(pstat_field_number(&field, &sample, &value), -EINVAL);
	field = (struct pstat_field){ .offset = 20, .bytes = 8 };
	assert_int_equal(pstat_field_number(&field, &sample, &value), -EBADMSG);
	field = (struct pstat_field){ .offset = 12, .bytes = 4, .is_array = 1, .is_text = 1 };
	assert_int_equal(pstat_field_number(&field, &sample, &value), -EINVAL);
	assert_int_equal(pstat_field_text(&field, &sample, text, sizeof(text)), 4);
	assert_string_equal(text, "name");
	field = (struct pstat_field){ .offset = 8, .bytes = 4, .is_array = 1, .is_text = 1, .is_dynamic = 1 };
	assert_int_equal(pstat_field_text(&field, &sample, text, sizeof(text)), 4);
	assert_string_equal(text, "late");
	assert_int_equal(pstat_field_text(&field, &sample, text, 3), 4);
	assert_string_equal(text, "la");
	/* From after the field on: 12 + 16 is outside. */
	field.is_relative = 1;
	assert_int_equal(pstat_field_text(&field, &sample, text, sizeof(text)), -EBADMSG);
	field.is_text = 0;
	assert_int_equal(pstat_field_text(&field, &sample, text, sizeof(text)), -EINVAL);
}

/* ---- samples ---- */

static uint64_t ips[] = { 51, 52, 53 };
static struct sample_branch branches[] = { { 61, 62, 63 }, { 64, 65, 66 } };
static uint64_t counters[] = { 67, 68 };
static uint64_t user_regs[] = { 71, 72 }, intr_regs[] = { 73, 74, 75 };
static uint64_t values[] = { 81, 77, 82, 83, 76, 84 };

static struct record_body full_sample(void)
{
	struct record_body body = { .type = RECORD_SAMPLE, .misc = MISC_KERNEL };

	body.sample = (struct sample){
		.id = 77, .ip = 12, .pid = 901, .tid = 902, .time_ns = 903, .addr = 16, .stream_id = 905, .cpu = 906,
		.period = 19,
		.read = { .format = FORMAT | PERF_FORMAT_GROUP, .enabled_ns = 20, .running_ns = 21, .n = 2,
			  .words = values },
		.n_ips = 3, .ips = ips, .raw_size = 12, .raw = (const uint8_t *)"raw of bytes",
		.n_branches = 2, .branch_hw_index = 22, .branches = branches, .branch_counters = counters,
		.user_regs = { .abi = 2, .mask = 0x81, .v = user_regs, .n = 2 },
		.intr_regs = { .abi = 1, .mask = 0x70, .v = intr_regs, .n = 3 },
		.stack_size = 16, .stack_dyn_size = 9, .stack = (const uint8_t *)"stack of 16 byte",
		.weight = 23, .data_src = 24, .transaction = 25, .phys_addr = 26, .cgroup = 27, .data_page_size = 28,
		.code_page_size = 29, .aux_size = 8, .aux = (const uint8_t *)"aux data",
	};
	return body;
}

static void check_plain(const struct pstat_sample *s)
{
	assert_int_equal(s->ip, 12);
	assert_int_equal(s->addr, 16);
	assert_int_equal(s->period, 19);
	assert_int_equal(s->weight, 23);
	assert_int_equal(s->data_source, 24);
	assert_int_equal(s->transaction, 25);
	assert_int_equal(s->physical_addr, 26);
	assert_int_equal(s->cgroup, 27);
	assert_int_equal(s->data_page_bytes, 28);
	assert_int_equal(s->code_page_bytes, 29);
}

static void check_arrays(const struct pstat_sample *s)
{
	assert_int_equal(s->n_ips, 3);
	assert_memory_equal(s->ips, ips, sizeof(ips));
	assert_memory_equal(s->raw, "raw of bytes", 12);
	assert_int_equal(s->raw_bytes, 12);
	assert_int_equal(s->n_branches, 2);
	assert_int_equal(s->branch_hw_index, 22);
	assert_memory_equal(s->branches, branches, sizeof(branches));
	assert_int_equal(s->branches[1].to_addr, 65);
	assert_memory_equal(s->branch_counters, counters, sizeof(counters));
	assert_int_equal(s->user_registers.abi, 2);
	assert_int_equal(s->user_registers.mask, 0x81);
	assert_int_equal(s->user_registers.n, 2);
	assert_memory_equal(s->user_registers.v, user_regs, sizeof(user_regs));
	assert_int_equal(s->interrupted_registers.abi, 1);
	assert_int_equal(s->interrupted_registers.mask, 0x70);
	assert_int_equal(s->interrupted_registers.n, 3);
	assert_memory_equal(s->interrupted_registers.v, intr_regs, sizeof(intr_regs));
	assert_int_equal(s->stack_bytes, 16);
	assert_int_equal(s->stack_used_bytes, 9);
	assert_memory_equal(s->stack, "stack of 16 byte", 16);
	assert_int_equal(s->aux_bytes, 8);
	assert_memory_equal(s->aux, "aux data", 8);
}

static const uint64_t ALL_FIELDS =
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
	PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
	PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
	PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
	PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
	PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX;

static struct data_event *sampling_event(uint64_t fields)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = fields, .sample_id_all = 1,
		.read_format = FORMAT | PERF_FORMAT_GROUP, .sample_regs_user = 0x81, .sample_regs_intr = 0x70,
		.branch_sample_type = DATA_BRANCH_HW_INDEX | DATA_BRANCH_COUNTERS,
	};

	return events_add(&fix.feed.events, &attr, sizeof(attr), (uint64_t[]){ 77 }, 1);
}

static int bare_setup(void **state)
{
	(void)state;
	fix_open(1, 32);
	return 0;
}

static void all_fields(void **state)
{
	struct record_body body = full_sample();
	uint64_t value, value_id, lost;
	const struct pstat_sample *s;

	(void)state;
	fix_put(0, &body, sampling_event(ALL_FIELDS));
	assert_int_equal(fix_next(), 1);
	s = &fix.record->body.sample;
	assert_int_equal(fix.record->has, ALL_FIELDS);
	assert_int_equal(fix.record->mode, PSTAT_MODE_KERNEL);
	assert_int_equal(fix.record->pid, 901);
	assert_int_equal(fix.record->tid, 902);
	assert_int_equal(fix.record->time_ns, 903);
	assert_int_equal(fix.record->id, 77);
	assert_int_equal(fix.record->stream_id, 905);
	assert_int_equal(fix.record->cpu, 906);
	check_plain(s);
	check_arrays(s);
	assert_int_equal(s->values.n, 2);
	assert_int_equal(s->values.enabled_ns, 20);
	assert_int_equal(s->values.running_ns, 21);
	assert_int_equal(pstat_value(&s->values, 1, &value, &value_id, &lost), 0);
	assert_int_equal(value, 83);
	assert_int_equal(value_id, 76);
	assert_int_equal(lost, 84);
	assert_int_equal(fix.feed.samples, 1);
}

/* Each field alone: the others are 0, whatever the sample before had. */
static void one_field(void **state)
{
	struct record_body body = full_sample();
	static const struct pstat_sample none;

	(void)state;
	for (int bit = 0; bit < 25; bit++) {
		uint64_t fields = 1ull << bit;
		struct pstat_sample s;

		record_feed_release(&fix.feed);
		record_feed_init(&fix.feed, fix.rings, 1);
		fix_put(0, &body, sampling_event(ALL_FIELDS));
		assert_int_equal(fix_next(), 1);
		assert_int_equal(fix_next(), 0);
		record_feed_release(&fix.feed);
		record_feed_init(&fix.feed, fix.rings, 1);
		fix_put(0, &body, sampling_event(fields));
		assert_int_equal(fix_next(), 1);
		assert_int_equal(fix.record->has, fields);
		s = fix.record->body.sample;
		assert_int_equal(!memcmp(&s, &none, sizeof(s)),
				 !(fields & ALL_FIELDS & ~(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							   PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)) &&
					 fields != DATA_SAMPLE_WEIGHT_STRUCT);
		assert_int_equal(fix_next(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(maps, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(switches, setup, teardown),
		cmocka_unit_test_setup_teardown(losses, setup, teardown),
		cmocka_unit_test_setup_teardown(kernel_code, setup, teardown),
		cmocka_unit_test_setup_teardown(the_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(names, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_types, setup, teardown),
		cmocka_unit_test(bodies_by_type),
		cmocka_unit_test(branch_words),
		cmocka_unit_test(memory_words),
		cmocka_unit_test(transaction_words),
		cmocka_unit_test(fields_of_bytes),
		cmocka_unit_test_setup_teardown(all_fields, bare_setup, teardown),
		cmocka_unit_test_setup_teardown(one_field, bare_setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
