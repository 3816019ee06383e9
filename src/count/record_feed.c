/* SPDX-License-Identifier: MIT */
/*
 * Records where they lie. A record is decoded in the ring, not copied out of it; its room goes back to the kernel when
 * the next one is asked for. Only one that lies around the ring's end is copied, into a buffer that is as large as a
 * record can be.
 *
 *   tail      handed out last                     head as it was
 *   |[..used..[====last====]======= ready =========)
 *
 * Rings take turns: what was ready in one is handed out before the next is looked at, so that a ring that is filled all
 * the time does not keep the others waiting.
 *
 * The bytes are believed as far as they were checked: a size that makes no sense means that no record's beginning is
 * known after it, and all that was ready goes. A record that cannot be decoded goes alone.
 *
 * Records of data/ become records of libpstat.h by tables of rows that say which member becomes which: one for the
 * fields of a sample, which are there by the bits of its sample_type, and one for the other records, by type. To add a
 * record type or a sample field: its member in libpstat.h, its row here and in lib_records.c, and a case in
 * tests/unit/test_public_record.c.
 */
#include "count/record_feed.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a record of data/ -> one of libpstat.h; a row: what is copied, or which bits of misc make a flag ---- */

struct field_map {
	uint64_t when; /* of a sample: bits of sample_type; else 0 */
	uint16_t to; /* in struct pstat_record */
	uint16_t from; /* in struct record_body */
	uint16_t bytes; /* 0: the int at `to` is whether misc has these bits */
	uint16_t misc;
};

#define SIZE(type, member) sizeof(((type *)NULL)->member)
/* Does not compile where the sizes differ. */
#define SAME_SIZE(to, from)                                                                        \
	(SIZE(struct pstat_record, to) +                                                           \
	 0 * sizeof(char[SIZE(struct pstat_record, to) == SIZE(struct record_body, from) ? 1 : -1]))
#define WHEN(bits, to, from)                                                                       \
	{                                                                                          \
		bits, offsetof(struct pstat_record, to), offsetof(struct record_body, from),       \
			SAME_SIZE(to, from), 0                                                     \
	}
#define COPY(to, from) WHEN(0, body.to, from)
#define FLAG(to, bits)                                                                             \
	{                                                                                          \
		0, offsetof(struct pstat_record, body.to), 0, 0, bits                                \
	}

/* ---- samples ---- */

#define FIELD(bits, to, from) WHEN(bits, body.sample.to, sample.from)
#define REGISTERS(bit, to, from)                                                                   \
	FIELD(bit, to.abi, from.abi), FIELD(bit, to.mask, from.mask), FIELD(bit, to.v, from.v),    \
		FIELD(bit, to.n, from.n)

static const struct field_map sample_fields[] = {
	FIELD(PERF_SAMPLE_IP, ip, ip),
	FIELD(PERF_SAMPLE_ADDR, addr, addr),
	FIELD(PERF_SAMPLE_PERIOD, period, period),
	FIELD(PERF_SAMPLE_CALLCHAIN, n_ips, n_ips),
	FIELD(PERF_SAMPLE_CALLCHAIN, ips, ips),
	FIELD(PERF_SAMPLE_RAW, raw_bytes, raw_size),
	FIELD(PERF_SAMPLE_RAW, raw, raw),
	FIELD(PERF_SAMPLE_BRANCH_STACK, n_branches, n_branches),
	FIELD(PERF_SAMPLE_BRANCH_STACK, branch_hw_index, branch_hw_index),
	FIELD(PERF_SAMPLE_BRANCH_STACK, branches, branches),
	FIELD(PERF_SAMPLE_BRANCH_STACK, branch_counters, branch_counters),
	REGISTERS(PERF_SAMPLE_REGS_USER, user_registers, user_regs),
	REGISTERS(PERF_SAMPLE_REGS_INTR, interrupted_registers, intr_regs),
	FIELD(PERF_SAMPLE_STACK_USER, stack_bytes, stack_size),
	FIELD(PERF_SAMPLE_STACK_USER, stack_used_bytes, stack_dyn_size),
	FIELD(PERF_SAMPLE_STACK_USER, stack, stack),
	FIELD(PERF_SAMPLE_WEIGHT | DATA_SAMPLE_WEIGHT_STRUCT, weight, weight),
	FIELD(PERF_SAMPLE_DATA_SRC, data_source, data_src),
	FIELD(PERF_SAMPLE_TRANSACTION, transaction, transaction),
	FIELD(PERF_SAMPLE_PHYS_ADDR, physical_addr, phys_addr),
	FIELD(PERF_SAMPLE_CGROUP, cgroup, cgroup),
	FIELD(PERF_SAMPLE_DATA_PAGE_SIZE, data_page_bytes, data_page_size),
	FIELD(PERF_SAMPLE_CODE_PAGE_SIZE, code_page_bytes, code_page_size),
	FIELD(PERF_SAMPLE_AUX, aux_bytes, aux_size),
	FIELD(PERF_SAMPLE_AUX, aux, aux),
};

/* ---- the other records ---- */

#define FIELDS(...) (const struct field_map[]){ __VA_ARGS__ }, sizeof((struct field_map[]){ __VA_ARGS__ }) / \
	sizeof(struct field_map)
#define MAP                                                                                        \
	COPY(map.pid, mmap.pid), COPY(map.tid, mmap.tid), COPY(map.start, mmap.start),             \
		COPY(map.length, mmap.len), COPY(map.file_offset, mmap.pgoff),                     \
		COPY(map.path, mmap.path), FLAG(map.data, MISC_MMAP_DATA)
#define TASK                                                                                       \
	FIELDS(COPY(task.pid, task.pid), COPY(task.parent_pid, task.ppid),                         \
	       COPY(task.tid, task.tid), COPY(task.parent_tid, task.ptid),                         \
	       COPY(task.time_ns, task.time_ns))
#define THROTTLE                                                                                   \
	FIELDS(COPY(throttle.time_ns, throttle.time_ns), COPY(throttle.id, throttle.id),           \
	       COPY(throttle.stream_id, throttle.stream_id))
#define SWITCH FLAG(sched.out, MISC_SWITCH_OUT), FLAG(sched.preempted, MISC_SWITCH_OUT_PREEMPT)

static const struct record_map {
	const struct field_map *fields;
	size_t n;
} record_maps[] = {
	[RECORD_MMAP] = { FIELDS(MAP) },
	[RECORD_LOST] = { FIELDS(COPY(lost.id, lost.id), COPY(lost.n, lost.lost)) },
	[RECORD_COMM] = { FIELDS(COPY(comm.pid, comm.pid), COPY(comm.tid, comm.tid),
				 COPY(comm.name, comm.comm), FLAG(comm.exec, MISC_COMM_EXEC)) },
	[RECORD_EXIT] = { TASK },
	[RECORD_THROTTLE] = { THROTTLE },
	[RECORD_UNTHROTTLE] = { THROTTLE },
	[RECORD_FORK] = { TASK },
	/* The values of this one are no plain copy: see fill_values(). */
	[RECORD_READ] = { FIELDS(COPY(read.pid, read.pid), COPY(read.tid, read.tid)) },
	[RECORD_SAMPLE] = { sample_fields, ARRAY_SIZE(sample_fields) },
	[RECORD_MMAP2] = { FIELDS(MAP, COPY(map.protection, mmap.prot), COPY(map.flags, mmap.flags),
				  COPY(map.device_major, mmap.major), COPY(map.device_minor, mmap.minor),
				  COPY(map.inode, mmap.inode),
				  COPY(map.inode_generation, mmap.inode_generation),
				  COPY(map.build_id_bytes, mmap.build_id_size),
				  COPY(map.build_id, mmap.build_id)) },
	[RECORD_AUX] = { FIELDS(COPY(aux.offset, aux.offset), COPY(aux.bytes, aux.size),
				COPY(aux.flags, aux.flags)) },
	[RECORD_ITRACE_START] = { FIELDS(COPY(itrace_start.pid, itrace_start.pid),
					 COPY(itrace_start.tid, itrace_start.tid)) },
	[RECORD_LOST_SAMPLES] = { FIELDS(COPY(lost.n, lost.lost)) },
	[RECORD_SWITCH] = { FIELDS(SWITCH) },
	[RECORD_SWITCH_CPU_WIDE] = { FIELDS(SWITCH, COPY(sched.other_pid, sched.other_pid),
					    COPY(sched.other_tid, sched.other_tid)) },
	[RECORD_NAMESPACES] = { FIELDS(COPY(namespaces.pid, namespaces.pid),
				       COPY(namespaces.tid, namespaces.tid),
				       COPY(namespaces.n, namespaces.links.n),
				       COPY(namespaces.v, namespaces.links.v)) },
	[RECORD_KSYMBOL] = { FIELDS(COPY(ksymbol.addr, ksymbol.addr), COPY(ksymbol.length, ksymbol.len),
				    COPY(ksymbol.kind, ksymbol.kind), COPY(ksymbol.flags, ksymbol.flags),
				    COPY(ksymbol.name, ksymbol.name)) },
	[RECORD_BPF_EVENT] = { FIELDS(COPY(bpf.kind, bpf.kind), COPY(bpf.flags, bpf.flags),
				      COPY(bpf.id, bpf.id), COPY(bpf.tag, bpf.tag)) },
	[RECORD_CGROUP] = { FIELDS(COPY(cgroup.id, cgroup.id), COPY(cgroup.path, cgroup.path)) },
	[RECORD_TEXT_POKE] = { FIELDS(COPY(text_poke.addr, text_poke.addr),
				      COPY(text_poke.old_bytes, text_poke.old_len),
				      COPY(text_poke.new_bytes, text_poke.new_len),
				      COPY(text_poke.code, text_poke.code.v)) },
	[RECORD_AUX_OUTPUT_HW_ID] = { FIELDS(COPY(hw_id.hw_id, hw_id)) },
	[RECORD_CALLCHAIN_DEFERRED] = { FIELDS(COPY(deferred.cookie, deferred.cookie),
					       COPY(deferred.n_ips, deferred.ips.n),
					       COPY(deferred.ips, deferred.ips.v)) },
};

/* The public numbers are the kernel's, as data/ has them. */
_Static_assert((int)PSTAT_RECORD_CALLCHAIN_DEFERRED == (int)RECORD_CALLCHAIN_DEFERRED, "record types");
_Static_assert((int)PSTAT_RECORD_SAMPLE == (int)RECORD_SAMPLE, "record types");
_Static_assert(PSTAT_MODE_GUEST_USER == (int)MISC_GUEST_USER, "modes");
_Static_assert(sizeof(struct pstat_branch) == sizeof(struct sample_branch), "branches are used where they lie");
_Static_assert(sizeof(struct pstat_namespace) == 2 * sizeof(uint64_t), "namespaces are used where they lie");

/* ---- filling ---- */

static void fill_fields(struct pstat_record *out, const struct record_map *map,
			const struct record_body *body, uint64_t has)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct field_map *f = &map->fields[i];
		char *to = (char *)out + f->to;
		int flag = (body->misc & f->misc) == f->misc;

		if (f->when && !(f->when & has))
			continue;
		/* Nearly all are words, for which the compiler needs no call. */
		if (f->bytes == sizeof(uint64_t))
			memcpy(to, (const char *)body + f->from, sizeof(uint64_t));
		else if (f->bytes)
			memcpy(to, (const char *)body + f->from, f->bytes);
		else
			memcpy(to, &flag, sizeof(flag));
	}
}

static void fill_values(struct pstat_values *out, const struct read_values *values)
{
	out->format = values->format;
	out->enabled_ns = values->enabled_ns;
	out->running_ns = values->running_ns;
	out->n = values->n;
	out->words = values->words ? values->words : values->single;
}

/*
 * Fills *out from body, which record_decode() made of *record; pointers are body's. ring_cpu is the caller's, and
 * stays. A record whose type is not one of the kernel's has bytes and no more.
 */
static void fill_record(struct pstat_record *out, const struct record *record, const struct record_body *body)
{
	const struct sample_id *id = &body->id;
	int ring_cpu = out->ring_cpu;

	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->record_type = record->type;
	out->misc = record->misc;
	out->mode = record->misc & MISC_CPUMODE_MASK;
	out->event = body->event ? (int)body->event->index : -1;
	out->ring_cpu = ring_cpu;
	out->has = id->has;
	out->pid = id->pid;
	out->tid = id->tid;
	out->time_ns = id->time_ns;
	out->id = id->id;
	out->stream_id = id->stream_id;
	out->cpu = id->cpu;
	out->n_bytes = record->size;
	out->bytes = record->bytes;
	if (record->type >= ARRAY_SIZE(record_maps))
		return;
	fill_fields(out, &record_maps[record->type], body, id->has);
	if (record->type == RECORD_READ)
		fill_values(&out->body.read.values, &body->read.values);
	else if (record->type == RECORD_SAMPLE && id->has & PERF_SAMPLE_READ)
		fill_values(&out->body.sample.values, &body->sample.read);
}

/* ---- rings -> records ---- */

/* A sentence about a record is shorter: type, place, and one of data/'s fixed texts. */
enum { SENTENCE_BYTES = 512 };

void record_feed_init(struct record_feed *feed, struct ring *rings, size_t n_rings)
{
	*feed = (struct record_feed){ .rings = rings, .n_rings = n_rings, .why = STR_INIT };
	events_init(&feed->events);
	decoder_init(&feed->decoder, &feed->events, false);
	feed->around = xmalloc(RECORD_BYTES_MAX + 1);
	str_pad(&feed->why, ' ', SENTENCE_BYTES);
	str_reset(&feed->why);
}

void record_feed_release(struct record_feed *feed)
{
	/* Zeroed, it never had any of these. */
	if (!feed->around)
		return;
	decoder_release(&feed->decoder);
	events_release(&feed->events);
	str_release(&feed->why);
	free(feed->around);
	*feed = (struct record_feed){ 0 };
}

static struct ring *ring_in_turn(const struct record_feed *feed)
{
	return &feed->rings[feed->at];
}

static void give_back(struct record_feed *feed, size_t bytes)
{
	ring_release(ring_in_turn(feed), bytes);
	feed->used += bytes;
	feed->last = 0;
}

/* The next ring that has something; false: none has. */
static bool next_ring(struct record_feed *feed)
{
	for (size_t i = 0; i < feed->n_rings; i++) {
		feed->at = feed->at + 1 < feed->n_rings ? feed->at + 1 : 0;
		feed->ready = ring_ready(ring_in_turn(feed), feed->span);
		feed->used = 0;
		if (feed->ready)
			return true;
	}
	return false;
}

bool record_feed_ready(const struct record_feed *feed)
{
	struct ring_span span[2];

	for (size_t i = 0; i < feed->n_rings; i++)
		if (ring_ready(&feed->rings[i], span) > (i == feed->at ? feed->last : 0))
			return true;
	return false;
}

/* The first of the bytes that are left; *n: how many of them follow each other there. */
static const unsigned char *place(const struct record_feed *feed, size_t *n)
{
	size_t first = feed->span[0].n;

	if (feed->used < first) {
		*n = first - feed->used;
		return feed->span[0].bytes + feed->used;
	}
	*n = feed->ready - feed->used;
	return feed->span[1].bytes + (feed->used - first);
}

/* The record's bytes in one piece; NULL: there is none that makes sense. */
static const uint8_t *whole_record(struct record_feed *feed, size_t *size)
{
	size_t left = feed->ready - feed->used, n;
	const unsigned char *at = place(feed, &n);
	struct perf_event_header header;

	if (n < sizeof(header))
		return NULL;
	memcpy(&header, at, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > left)
		return NULL;
	*size = header.size;
	if (header.size <= n)
		return at;
	memcpy(feed->around, at, n);
	memcpy((char *)feed->around + n, feed->span[1].bytes, header.size - n);
	return (const uint8_t *)feed->around;
}

static int lose_track(struct record_feed *feed)
{
	size_t left = feed->ready - feed->used;

	str_reset(&feed->why);
	str_addf(&feed->why, "%zu bytes in the ring of CPU %d do not begin with a record", left,
		 ring_in_turn(feed)->cpu);
	give_back(feed, left);
	feed->broken++;
	return -EBADMSG;
}

static void count(struct record_feed *feed)
{
	feed->delivered++;
	if (feed->body.type == RECORD_SAMPLE)
		feed->samples++;
	else if (feed->body.type == RECORD_LOST)
		feed->lost += feed->body.lost.lost;
	else if (feed->body.type == RECORD_LOST_SAMPLES)
		feed->not_taken += feed->body.lost.lost;
}

/* Types from 64 on are those of a file; from a ring they are as good as unknown. */
static int decode(struct record_feed *feed, const struct record *record)
{
	str_reset(&feed->why);
	if (record->type < RECORD_USER_FIRST)
		return record_decode(&feed->decoder, record, &feed->body, &feed->why);
	memset(&feed->body, 0, sizeof(feed->body));
	feed->body.type = record->type;
	return 0;
}

int record_feed_next(struct record_feed *feed, const struct pstat_record **out)
{
	struct record record;
	const uint8_t *bytes;
	size_t size;

	*out = NULL;
	if (feed->last)
		give_back(feed, feed->last);
	if (feed->used == feed->ready && !next_ring(feed))
		return 0;
	bytes = whole_record(feed, &size);
	if (!bytes)
		return lose_track(feed);
	record_from_bytes(&record, bytes, ring_in_turn(feed)->tail, false);
	feed->last = size;
	if (decode(feed, &record)) {
		feed->broken++;
		return -EBADMSG;
	}
	count(feed);
	feed->record.ring_cpu = ring_in_turn(feed)->cpu;
	fill_record(&feed->record, &record, &feed->body);
	*out = &feed->record;
	return 1;
}

/* ---- the public functions ---- */

const char *pstat_record_name(uint32_t record_type)
{
	return record_type < ARRAY_SIZE(record_maps) ? record_name(record_type) : "UNKNOWN";
}

int pstat_value(const struct pstat_values *values, uint64_t i, uint64_t *value, uint64_t *id, uint64_t *lost)
{
	struct read_values words = { .format = values->format, .n = values->n, .words = values->words };

	*value = *id = *lost = 0;
	if (i >= values->n)
		return -ENOENT;
	*value = read_values_value(&words, i);
	read_values_id(&words, i, id);
	read_values_lost(&words, i, lost);
	return 0;
}
