/* SPDX-License-Identifier: MIT */
/*
 * Parts of a record: its body by its type, for languages that have no unions; the bits of branch records, data sources
 * and transactions; fields of tracepoints by name.
 *
 * Sources: struct perf_branch_entry, union perf_mem_data_src and PERF_TXN_* in include/uapi/linux/perf_event.h.
 */
#include "count/lib.h"

#include <errno.h>
#include <stdio.h>

/* ---- bodies ---- */

/* Is it of one of two types that share a body? */
static bool is_one_of(const struct pstat_record *record, uint32_t one, uint32_t other)
{
	return record && (record->record_type == one || record->record_type == other);
}

/* To add a body: its struct and member in libpstat.h, its declaration there, and a row. */
#define BODY(name, tag, member, one, other)                                                        \
	const struct tag *name(const struct pstat_record *record)                                  \
	{                                                                                          \
		return is_one_of(record, one, other) ? &record->body.member : NULL;                \
	}
BODY(pstat_record_sample, pstat_sample, sample, PSTAT_RECORD_SAMPLE, PSTAT_RECORD_SAMPLE)
BODY(pstat_record_map, pstat_map, map, PSTAT_RECORD_MMAP, PSTAT_RECORD_MMAP2)
BODY(pstat_record_task, pstat_task, task, PSTAT_RECORD_FORK, PSTAT_RECORD_EXIT)
BODY(pstat_record_lost, pstat_lost, lost, PSTAT_RECORD_LOST, PSTAT_RECORD_LOST_SAMPLES)
BODY(pstat_record_comm, pstat_comm, comm, PSTAT_RECORD_COMM, PSTAT_RECORD_COMM)
BODY(pstat_record_throttle, pstat_throttle, throttle, PSTAT_RECORD_THROTTLE, PSTAT_RECORD_UNTHROTTLE)
BODY(pstat_record_read, pstat_task_read, read, PSTAT_RECORD_READ, PSTAT_RECORD_READ)
BODY(pstat_record_aux, pstat_aux, aux, PSTAT_RECORD_AUX, PSTAT_RECORD_AUX)
BODY(pstat_record_itrace_start, pstat_itrace_start, itrace_start, PSTAT_RECORD_ITRACE_START, PSTAT_RECORD_ITRACE_START)
BODY(pstat_record_switch, pstat_switch, sched, PSTAT_RECORD_SWITCH, PSTAT_RECORD_SWITCH_CPU_WIDE)
BODY(pstat_record_namespaces, pstat_namespaces, namespaces, PSTAT_RECORD_NAMESPACES, PSTAT_RECORD_NAMESPACES)
BODY(pstat_record_ksymbol, pstat_ksymbol, ksymbol, PSTAT_RECORD_KSYMBOL, PSTAT_RECORD_KSYMBOL)
BODY(pstat_record_bpf_event, pstat_bpf_event, bpf, PSTAT_RECORD_BPF_EVENT, PSTAT_RECORD_BPF_EVENT)
BODY(pstat_record_cgroup, pstat_cgroup_path, cgroup, PSTAT_RECORD_CGROUP, PSTAT_RECORD_CGROUP)
BODY(pstat_record_text_poke, pstat_text_poke, text_poke, PSTAT_RECORD_TEXT_POKE, PSTAT_RECORD_TEXT_POKE)
BODY(pstat_record_hw_id, pstat_hw_id, hw_id, PSTAT_RECORD_AUX_OUTPUT_HW_ID, PSTAT_RECORD_AUX_OUTPUT_HW_ID)
BODY(pstat_record_deferred, pstat_deferred_chain, deferred, PSTAT_RECORD_CALLCHAIN_DEFERRED,
     PSTAT_RECORD_CALLCHAIN_DEFERRED)

/* ---- words of bits ---- */

static unsigned bits(uint64_t word, unsigned from, unsigned n)
{
	return (unsigned)(word >> from & ((1ull << n) - 1));
}

/* A branch's type of a later kernel than the first sixteen stands in another field (PERF_BR_EXTEND_ABI). */
enum { EXTENDED_TYPE = 15 };

void pstat_branch_decode(const struct pstat_branch *branch, struct pstat_branch_parts *parts)
{
	uint64_t flags = branch->flags;
	unsigned branch_type = bits(flags, 20, 4);
	const struct pstat_branch_parts all = {
		.mispredicted = bits(flags, 0, 1),
		.predicted = bits(flags, 1, 1),
		.in_transaction = bits(flags, 2, 1),
		.aborted = bits(flags, 3, 1),
		.cycles = bits(flags, 4, 16),
		.branch_type = branch_type == EXTENDED_TYPE ? EXTENDED_TYPE + 1 + bits(flags, 26, 4) : branch_type,
		.speculation = bits(flags, 24, 2),
		.privilege = bits(flags, 30, 3),
	};

	lib_give_struct(parts, parts->size, &all, sizeof(all));
}

void pstat_data_source_decode(uint64_t data_source, struct pstat_data_source *parts)
{
	const struct pstat_data_source all = {
		.operation = bits(data_source, 0, 5),
		.level = bits(data_source, 5, 14),
		.snoop = bits(data_source, 19, 5),
		.lock = bits(data_source, 24, 2),
		.tlb = bits(data_source, 26, 7),
		.level_number = bits(data_source, 33, 4),
		.remote = bits(data_source, 37, 1),
		.snoop_more = bits(data_source, 38, 2),
		.blocked = bits(data_source, 40, 3),
		.hops = bits(data_source, 43, 3),
	};

	lib_give_struct(parts, parts->size, &all, sizeof(all));
}

void pstat_transaction_decode(uint64_t transaction, struct pstat_transaction *parts)
{
	const struct pstat_transaction all = {
		.elision = bits(transaction, 0, 1),
		.transaction = bits(transaction, 1, 1),
		.synchronous = bits(transaction, 2, 1),
		.asynchronous = bits(transaction, 3, 1),
		.retry = bits(transaction, 4, 1),
		.conflict = bits(transaction, 5, 1),
		.capacity_write = bits(transaction, 6, 1),
		.capacity_read = bits(transaction, 7, 1),
		.abort_code = (uint32_t)(transaction >> 32),
	};

	lib_give_struct(parts, parts->size, &all, sizeof(all));
}

/* ---- fields of tracepoints ---- */

struct field_call {
	const struct pstat_events *events;
	size_t index;
	const char *name;
	struct pstat_field found;
};

static int field_body(void *data, struct str *err)
{
	struct field_call *call = data;
	const struct event *event = &call->events->list.v[call->index];
	struct event_field field;
	int rc;

	if (!event->tracepoint)
		return fail(err, -EINVAL, "'%s' has no fields: it is not a tracepoint", event->name);
	rc = event_field_find(event, &lib_kern.host, call->name, &field);
	if (rc == -ENOENT)
		return fail(err, rc, "%s has no field '%s'", event->name, call->name);
	if (rc < 0)
		return fail(err, rc, "the fields of %s cannot be read: %s", event->name, strerror(-rc));
	call->found = (struct pstat_field){
		.offset = field.at,
		.bytes = field.bytes,
		.is_signed = field.is_signed,
		.is_array = field.is_array,
		.is_text = field.is_text,
		.is_dynamic = field.is_dynamic,
		.is_relative = field.is_relative,
	};
	return 0;
}

int pstat_events_field(const struct pstat_events *events, size_t index, const char *name, struct pstat_field *field,
		       struct pstat_error *error)
{
	struct field_call call = { .events = events, .index = index, .name = name };
	int rc;

	if (!events || !name || !field || field->size <= sizeof(field->size) || index >= events->list.n)
		return lib_error(error, -EINVAL, "there is no such event, no name, or no place for the field");
	rc = lib_run(field_body, &call, error);
	if (!rc)
		lib_give_struct(field, field->size, &call.found, sizeof(call.found));
	return rc;
}

/* The field's bytes in the sample; NULL: they are not all there. */
static const uint8_t *field_bytes(const struct pstat_field *field, const struct pstat_sample *sample, uint32_t *n)
{
	uint64_t at = field->offset;
	uint32_t where;

	*n = field->bytes;
	if (at + *n > sample->raw_bytes)
		return NULL;
	if (!field->is_dynamic)
		return sample->raw + at;
	if (*n != sizeof(where))
		return NULL;
	/* The low half of the word is the place, the high half the length. */
	memcpy(&where, sample->raw + at, sizeof(where));
	at = (where & 0xffff) + (field->is_relative ? at + sizeof(where) : 0);
	*n = where >> 16;
	return at + *n > sample->raw_bytes ? NULL : sample->raw + at;
}

int pstat_field_number(const struct pstat_field *field, const struct pstat_sample *sample, int64_t *value)
{
	uint32_t n;
	const uint8_t *bytes = field_bytes(field, sample, &n);
	uint8_t one;
	uint16_t two;
	uint32_t four;

	*value = 0;
	if (field->is_array || (n != 1 && n != 2 && n != 4 && n != 8))
		return -EINVAL;
	if (!bytes)
		return -EBADMSG;
	memcpy(n == 1 ? (void *)&one : n == 2 ? (void *)&two : n == 4 ? (void *)&four : (void *)value, bytes, n);
	if (n == 1)
		*value = field->is_signed ? (int64_t)(int8_t)one : one;
	else if (n == 2)
		*value = field->is_signed ? (int64_t)(int16_t)two : two;
	else if (n == 4)
		*value = field->is_signed ? (int64_t)(int32_t)four : four;
	return 0;
}

int pstat_field_text(const struct pstat_field *field, const struct pstat_sample *sample, char *text, size_t bytes)
{
	uint32_t n;
	const uint8_t *from = field_bytes(field, sample, &n);

	if (!field->is_text)
		return -EINVAL;
	if (!from)
		return -EBADMSG;
	return snprintf(text, bytes, "%.*s", (int)strnlen((const char *)from, n), (const char *)from);
}
