/* SPDX-License-Identifier: MIT */
/*
 * record.c: the record types. One row of records[] says all about a type: number, name, least size and
 * the fields of its payload in order; record_decode and record_encode walk over them.
 *
 *   | u32 type | u16 misc | u16 size | fields ... | trailer (kernel records of sample_id_all events) |
 *
 * To add a record type: its number in records.h, a member in struct record_body, a row here, and a case
 * in tests/unit/test_data_record.c; a function below "dumped lines" where "name value" is not enough.
 *
 * Source: include/uapi/linux/perf_event.h, perf.data-file-format.txt.
 */
#include "data/decode.h"

#include <errno.h>
#include <stdlib.h>

typedef unsigned long long ull;

/* ---- dumped lines: the rest after the name, where it is more than the fields, in the words of perf ---- */

static void text_print(const char *text, struct str *out)
{
	if (text)
		str_add_printable(out, text, strlen(text));
}

static void mmap_print(const struct record_body *body, struct str *out)
{
	const struct record_mmap *m = &body->mmap;

	str_addf(out, " %d/%d: [%#llx(%#llx) @ ", (int)m->pid, (int)m->tid, (ull)m->start,
		 (ull)m->len);
	str_addf(out, m->pgoff ? "%#llx" : "%llu", (ull)m->pgoff);
	if (body->type == RECORD_MMAP) {
		str_addf(out, "]: %c ", body->misc & MISC_MMAP_DATA ? 'r' : 'x');
		text_print(m->path, out);
		return;
	}
	if (body->misc & MISC_MMAP_BUILD_ID) {
		str_add(out, " <");
		for (unsigned i = 0; i < m->build_id_size; i++)
			str_addf(out, "%02x", m->build_id[i]);
		str_addc(out, '>');
	} else {
		str_addf(out, " %02x:%02x %llu %llu", m->major, m->minor, (ull)m->inode,
			 (ull)m->inode_generation);
	}
	/* PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4; MAP_SHARED 1 */
	str_addf(out, "]: %c%c%c%c ", m->prot & 1 ? 'r' : '-', m->prot & 2 ? 'w' : '-',
		 m->prot & 4 ? 'x' : '-', m->flags & 1 ? 's' : 'p');
	text_print(m->path, out);
}

static void comm_print(const struct record_body *body, struct str *out)
{
	str_add(out, body->misc & MISC_COMM_EXEC ? " exec: " : ": ");
	text_print(body->comm.comm, out);
	str_addf(out, ":%d/%d", (int)body->comm.pid, (int)body->comm.tid);
}

static void task_print(const struct record_body *body, struct str *out)
{
	const struct record_task *t = &body->task;

	str_addf(out, "(%d:%d):(%d:%d)", (int)t->pid, (int)t->tid, (int)t->ppid, (int)t->ptid);
}

static void sample_line_print(const struct record_body *body, struct str *out)
{
	const struct sample *s = &body->sample;

	str_addf(out, "(IP, %#x): %d/%d: %#llx period: %llu addr: %#llx", body->misc, (int)s->pid,
		 (int)s->tid, (ull)s->ip, (ull)s->period, (ull)s->addr);
	sample_print(s, out);
}

static void switch_print(const struct record_body *body, struct str *out)
{
	bool out_of_cpu = body->misc & MISC_SWITCH_OUT;
	bool preempted = body->misc & MISC_SWITCH_OUT_PREEMPT;

	str_addf(out, " %-11s", !out_of_cpu ? "IN" : preempted ? "OUT preempt" : "OUT");
	if (body->type == RECORD_SWITCH_CPU_WIDE)
		str_addf(out, "  %s pid/tid: %5d/%-5d", out_of_cpu ? "next" : "prev",
			 (int)body->sched.other_pid, (int)body->sched.other_tid);
}

static void namespaces_print(const struct record_body *body, struct str *out)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	const struct record_words *links = &body->namespaces.links;

	str_addf(out, " %d/%d - nr_namespaces: %llu [", (int)body->namespaces.pid,
		 (int)body->namespaces.tid, (ull)links->n);
	for (uint64_t i = 0; i < links->n; i++)
		str_addf(out, "%s%llu/%s: %#llx/%#llx", i ? ", " : "", (ull)i,
			 i < ARRAY_SIZE(names) ? names[i] : "unknown", (ull)links->v[2 * i],
			 (ull)links->v[2 * i + 1]);
	str_addc(out, ']');
}

static void id_index_print(const struct record_body *body, struct str *out)
{
	const struct record_words *rows = &body->id_index;

	str_addf(out, " nr: %llu", (ull)rows->n);
	for (uint64_t i = 0; i < rows->n; i++)
		str_addf(out, "\n ... id: %llu  idx: %llu  cpu: %lld  tid: %lld",
			 (ull)rows->v[4 * i], (ull)rows->v[4 * i + 1],
			 (long long)rows->v[4 * i + 2], (long long)rows->v[4 * i + 3]);
}

static void stat_config_print(const struct record_body *body, struct str *out)
{
	static const char *const tags[] = { "aggr_mode", "interval", "scale", "aggr_level" };
	const struct record_words *rows = &body->stat_config;

	for (uint64_t i = 0; i < rows->n; i++) {
		uint64_t tag = rows->v[2 * i];

		if (tag < ARRAY_SIZE(tags))
			str_addf(out, "\n... %s ", tags[tag]);
		else
			str_addf(out, "\n... tag %llu ", (ull)tag);
		str_addf(out, "%llu", (ull)rows->v[2 * i + 1]);
	}
}

static void feature_record_print(const struct record_body *body, struct str *out)
{
	uint64_t id = body->feature.feature;
	const char *name = id < FEATURE_BITS ? feature_name((unsigned)id) : NULL;

	str_addf(out, " %s (%llu), %llu bytes", name ? name : "unknown", (ull)id,
		 (ull)body->feature.bytes.n);
}

/* ---- the types ---- */

#define AT(member) offsetof(struct record_body, member)
#define F(name, kind, member)                                                                      \
	{                                                                                          \
		name, &field_##kind, AT(member), 0                                                 \
	}
#define N(name, kind, member, n)                                                                   \
	{                                                                                          \
		name, &field_##kind, AT(member), n                                                 \
	}
#define PAD(n)                                                                                     \
	{                                                                                          \
		"", &field_zeros, 0, n                                                             \
	}
#define FIELDS(...)                                                                                \
	(const struct record_field[])                                                              \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			NULL, NULL, 0, 0                                                           \
		}                                                                                  \
	}
#define NONE ((const struct record_field[]){ { NULL, NULL, 0, 0 } })

#define MAP_START                                                                                  \
	F("pid", s32, mmap.pid), F("tid", s32, mmap.tid), F("addr", hex64, mmap.start),            \
		F("len", hex64, mmap.len), F("pgoff", hex64, mmap.pgoff)
#define MAP_END                                                                                    \
	F("prot", hex32, mmap.prot), F("flags", hex32, mmap.flags), F("filename", text, mmap.path)
#define TASK                                                                                       \
	FIELDS(F("pid", s32, task.pid), F("ppid", s32, task.ppid), F("tid", s32, task.tid),        \
	       F("ptid", s32, task.ptid), F("time", u64, task.time_ns))
#define THROTTLE                                                                                   \
	FIELDS(F("time", u64, throttle.time_ns), F("id", u64, throttle.id),                        \
	       F("stream_id", u64, throttle.stream_id))

#define ROW(type, size, fields)                                                                    \
	{                                                                                          \
		RECORD_##type, #type, size, fields, 0, NULL, NULL                                  \
	}
#define SHOWN(type, size, fields, print)                                                           \
	{                                                                                          \
		RECORD_##type, #type, size, fields, 0, NULL, print                                 \
	}

static const struct record_row records[] = {
	SHOWN(MMAP, 40, FIELDS(MAP_START, F("filename", text, mmap.path)), mmap_print),
	ROW(LOST, 24, FIELDS(F("id", u64, lost.id), F("lost", u64, lost.lost))),
	SHOWN(COMM, 16,
	      FIELDS(F("pid", s32, comm.pid), F("tid", s32, comm.tid), F("comm", text, comm.comm)),
	      comm_print),
	SHOWN(EXIT, 32, TASK, task_print),
	ROW(THROTTLE, 32, THROTTLE),
	ROW(UNTHROTTLE, 32, THROTTLE),
	SHOWN(FORK, 32, TASK, task_print),
	ROW(READ, 24,
	    FIELDS(F("pid", s32, read.pid), F("tid", s32, read.tid),
		   F("values", read, read.values))),
	SHOWN(SAMPLE, 8, NONE, sample_line_print),
	{ RECORD_MMAP2, "MMAP2", 72,
	  FIELDS(MAP_START, F("maj", u32, mmap.major), F("min", u32, mmap.minor),
		 F("ino", u64, mmap.inode), F("ino_generation", u64, mmap.inode_generation),
		 MAP_END),
	  MISC_MMAP_BUILD_ID,
	  FIELDS(MAP_START, F("build_id_size", u8, mmap.build_id_size), PAD(3),
		 N("build_id", hexes, mmap.build_id, 20), MAP_END),
	  mmap_print },
	ROW(AUX, 32,
	    FIELDS(F("offset", hex64, aux.offset), F("size", hex64, aux.size),
		   F("flags", hex64, aux.flags))),
	ROW(ITRACE_START, 16,
	    FIELDS(F("pid", s32, itrace_start.pid), F("tid", s32, itrace_start.tid))),
	ROW(LOST_SAMPLES, 16, FIELDS(F("lost", u64, lost.lost))),
	SHOWN(SWITCH, 8, NONE, switch_print),
	SHOWN(SWITCH_CPU_WIDE, 16,
	      FIELDS(F("pid", s32, sched.other_pid), F("tid", s32, sched.other_tid)), switch_print),
	SHOWN(NAMESPACES, 24,
	      FIELDS(F("pid", s32, namespaces.pid), F("tid", s32, namespaces.tid),
		     N("links", words, namespaces.links, 2)),
	      namespaces_print),
	ROW(KSYMBOL, 24,
	    FIELDS(F("addr", hex64, ksymbol.addr), F("len", hex32, ksymbol.len),
		   F("type", u16, ksymbol.kind), F("flags", u16, ksymbol.flags),
		   F("name", text, ksymbol.name))),
	ROW(BPF_EVENT, 24,
	    FIELDS(F("type", u16, bpf.kind), F("flags", u16, bpf.flags), F("id", u32, bpf.id),
		   N("tag", hexes, bpf.tag, 8))),
	ROW(CGROUP, 16, FIELDS(F("cgroup:", u64, cgroup.id), F("", text, cgroup.path))),
	ROW(TEXT_POKE, 20,
	    FIELDS(F("addr", hex64, text_poke.addr), F("old len", u16, text_poke.old_len),
		   F("new len", u16, text_poke.new_len), F("", code, text_poke.code))),
	ROW(AUX_OUTPUT_HW_ID, 16, FIELDS(F("hw_id:", hex64, hw_id))),
	ROW(CALLCHAIN_DEFERRED, 24,
	    FIELDS(F("cookie", hex64, deferred.cookie), N("", words, deferred.ips, 1))),
	ROW(HEADER_ATTR, 8 + 64,
	    FIELDS(F("attr", attr, header_attr.attr), N("ids", rest_words, header_attr.ids, 1))),
	ROW(HEADER_EVENT_TYPE, 8, NONE),
	ROW(HEADER_TRACING_DATA, 12, FIELDS(F("size", u32, tracing_data.size))),
	ROW(HEADER_BUILD_ID, 36,
	    FIELDS(F("pid", s32, build_id.pid), N("build_id", hexes, build_id.build_id, 20),
		   F("size", u8, build_id.build_id_size), PAD(3),
		   F("filename", text, build_id.path))),
	ROW(FINISHED_ROUND, 8, NONE),
	SHOWN(ID_INDEX, 16, FIELDS(N("", words, id_index, 4)), id_index_print),
	ROW(AUXTRACE_INFO, 16,
	    FIELDS(F("type:", u32, auxtrace_info.kind), F("reserved", u32, auxtrace_info.reserved),
		   N("priv", rest_words, auxtrace_info.priv, 1))),
	ROW(AUXTRACE, 48,
	    FIELDS(F("size:", hex64, auxtrace.size), F("offset:", hex64, auxtrace.offset),
		   F("ref:", hex64, auxtrace.reference), F("idx:", u32, auxtrace.index),
		   F("tid:", s32, auxtrace.tid), F("cpu:", s32, auxtrace.cpu), PAD(4))),
	ROW(AUXTRACE_ERROR, 112,
	    FIELDS(F("type", u32, auxtrace_error.kind), F("code", u32, auxtrace_error.code),
		   F("cpu", s32, auxtrace_error.cpu), F("pid", s32, auxtrace_error.pid),
		   F("tid", s32, auxtrace_error.tid), F("fmt", u32, auxtrace_error.format),
		   F("ip", hex64, auxtrace_error.ip), F("time", u64, auxtrace_error.time_ns),
		   N("msg", chars, auxtrace_error.message, 64))),
	ROW(THREAD_MAP, 16, FIELDS(F("", threads, threads))),
	ROW(CPU_MAP, 12, FIELDS(F("", cpus, cpus))),
	SHOWN(STAT_CONFIG, 16, FIELDS(N("", words, stat_config, 2)), stat_config_print),
	ROW(STAT, 48,
	    FIELDS(F("id", u64, stat.id), F("cpu", s32, stat.cpu), F("thread", s32, stat.thread),
		   F("value", u64, stat.value), F("enabled", u64, stat.enabled_ns),
		   F("running", u64, stat.running_ns))),
	ROW(STAT_ROUND, 24,
	    FIELDS(F("type", u64, stat_round.kind), F("time", u64, stat_round.time_ns))),
	ROW(EVENT_UPDATE, 24,
	    FIELDS(F("type", u64, update.kind), F("id", u64, update.id), F("", update, update))),
	ROW(TIME_CONV, 32,
	    FIELDS(F("time_shift", u64, time_conv.shift), F("time_mult", u64, time_conv.mult),
		   F("time_zero", u64, time_conv.zero), F("newer", rest_bytes, time_conv.newer))),
	SHOWN(HEADER_FEATURE, 16,
	      FIELDS(F("feat_id", u64, feature.feature), F("", rest_bytes, feature.bytes)),
	      feature_record_print),
	ROW(COMPRESSED, 8, FIELDS(F("", rest_bytes, packed))),
	ROW(FINISHED_INIT, 8, NONE),
	/* The reader needs no more of its payload than this; see stream.c for the size inside. */
	ROW(COMPRESSED2, 16, FIELDS(F("", rest_bytes, packed))),
	/* Records of perf 7 that are only named: texts of BPF programs, lines of /proc/schedstat. */
	ROW(BPF_METADATA, 8, FIELDS(F("", rest_bytes, unknown))),
	ROW(SCHEDSTAT_CPU, 8, FIELDS(F("", rest_bytes, unknown))),
	ROW(SCHEDSTAT_DOMAIN, 8, FIELDS(F("", rest_bytes, unknown))),
};

const struct record_row *record_row(uint32_t type)
{
	size_t n_kernel = RECORD_CALLCHAIN_DEFERRED;
	size_t i = type < RECORD_USER_FIRST ? type - 1 : n_kernel + type - RECORD_USER_FIRST;

	/* The table is in order of type, with one gap between the kernel's and the others. */
	return i < ARRAY_SIZE(records) && records[i].type == type ? &records[i] : NULL;
}

const struct record_field *record_row_fields(const struct record_row *row, uint16_t misc)
{
	return row->alt_misc & misc ? row->alt_fields : row->fields;
}

const char *record_name(uint32_t type)
{
	const struct record_row *row = record_row(type);

	return row ? row->name : "UNKNOWN";
}

int record_fail(const struct record *record, struct str *err, int code, const char *fmt, ...)
{
	va_list ap;

	str_addf(err, "at offset %#llx: ", (unsigned long long)record->offset);
	if (record->compressed)
		str_addf(err, "unpacked %#llx: ", (unsigned long long)record->inner_offset);
	str_addf(err, "%s (%u): ", record_name(record->type), record->type);
	va_start(ap, fmt);
	str_vaddf(err, fmt, ap);
	va_end(ap);
	return code;
}

/* ---- trailers ---- */

/*
 * The trailer is the block that sample_id_all appends to every record but SAMPLE, so that they can be ordered and
 * attributed. Its fields stand in a fixed order; this table says which, where and how wide.
 * Source: struct sample_id in include/uapi/linux/perf_event.h.
 */
static const struct {
	uint64_t bit;
	uint16_t at;
	bool halves; /* two u32: pid and tid; cpu and a reserved one */
	bool second; /* the second u32 is stored, too */
} trailer_fields[] = {
	{ PERF_SAMPLE_TID, offsetof(struct sample_id, pid), true, true },
	{ PERF_SAMPLE_TIME, offsetof(struct sample_id, time_ns), false, false },
	{ PERF_SAMPLE_ID, offsetof(struct sample_id, id), false, false },
	{ PERF_SAMPLE_STREAM_ID, offsetof(struct sample_id, stream_id), false, false },
	{ PERF_SAMPLE_CPU, offsetof(struct sample_id, cpu), true, false },
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct sample_id, id), false, false },
};

_Static_assert(offsetof(struct sample_id, tid) ==
		       offsetof(struct sample_id, pid) + sizeof(uint32_t),
	       "pid and tid are stored together");

/* Bytes of an event's trailer: 0 without sample_id_all. */
static size_t trailer_size(const struct perf_event_attr *attr)
{
	size_t n = 0;

	if (!attr->sample_id_all)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(trailer_fields); i++)
		n += attr->sample_type & trailer_fields[i].bit ? sizeof(uint64_t) : 0;
	return n;
}

static void trailer_decode(const struct perf_event_attr *attr, struct cursor *c, struct sample_id *id)
{
	memset(id, 0, sizeof(*id));
	for (size_t i = 0; i < ARRAY_SIZE(trailer_fields); i++) {
		char *at = (char *)id + trailer_fields[i].at;

		if (!(attr->sample_type & trailer_fields[i].bit))
			continue;
		id->has |= trailer_fields[i].bit;
		if (trailer_fields[i].halves) {
			uint32_t v[2];

			v[0] = cursor_u32(c);
			v[1] = cursor_u32(c);
			memcpy(at, v, trailer_fields[i].second ? sizeof(v) : sizeof(v[0]));
		} else {
			uint64_t v = cursor_u64(c);

			memcpy(at, &v, sizeof(v));
		}
	}
}

static void trailer_encode(const struct perf_event_attr *attr, const struct sample_id *id, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(trailer_fields); i++) {
		const char *at = (const char *)id + trailer_fields[i].at;

		if (!(attr->sample_type & trailer_fields[i].bit))
			continue;
		if (trailer_fields[i].halves && !trailer_fields[i].second) {
			str_addn(out, at, sizeof(uint32_t));
			put_u32(out, 0);
		} else {
			str_addn(out, at, sizeof(uint64_t));
		}
	}
}

/* ---- the event of a record ---- */

/* The event that an id word names, or NULL; *layout is an event whose layout the record has, or NULL. */
static const struct data_event *event_of(const struct decoder *d, uint64_t id, bool has_id, bool is_sample,
					 const struct data_event **layout)
{
	const struct events *events = d->events;
	const struct data_event *first = events->n ? events->v[0] : NULL;
	const struct data_event *found = !has_id   ? NULL :
					 is_sample ? events_of_sample(events, id) :
						     events_find(events, id);

	*layout = found;
	if (found)
		return found;
	if (events->n == 1 || events->same_layout)
		*layout = first;
	return events->n == 1 && (!has_id || !events->n_ids) ? first : NULL;
}

/* Synthesized records carry id 0: they belong to the recording, not to an event. */
static void count_unknown(struct decoder *d, const struct record_body *body, uint64_t id,
			  bool has_id)
{
	if (has_id && !body->event && (id || body->type == RECORD_SAMPLE) && d->events->n_ids)
		d->unknown_ids++;
}

/* ---- decoding ---- */

static int decode_sample(struct decoder *d, const struct record *record, struct record_body *body,
			 struct cursor *c, struct str *err)
{
	int word = d->events->sample_id_word;
	bool has_id = word >= 0 && cursor_left(c) >= 8 * ((size_t)word + 1);
	uint64_t id = has_id ? load_u64(c->p + 8 * (size_t)word, c->swap) : 0;
	const struct data_event *layout;
	struct sample *sample = &body->sample;
	const char *why;

	body->event = event_of(d, id, has_id, true, &layout);
	count_unknown(d, body, id, has_id);
	if (!layout && !d->events->n)
		return record_fail(record, err, -EINVAL, "no event has been described before it");
	if (!layout)
		return record_fail(record, err, -EINVAL, "id %llu belongs to no event",
				   (unsigned long long)id);
	why = sample_decode(d, layout, c, sample);
	if (why)
		return record_fail(record, err, -EINVAL, "%s", why);
	if (event_is_off_cpu(layout))
		body->misc = (uint16_t)((body->misc & ~MISC_CPUMODE_MASK) | MISC_USER);
	body->id = (struct sample_id){ sample->has, sample->pid,       sample->tid, sample->time_ns,
				       sample->id,  sample->stream_id, sample->cpu };
	return 0;
}

/* Takes the trailer off the cursor's end. Records too short for one have none. */
static void decode_trailer(struct decoder *d, struct record_body *body, struct cursor *c)
{
	int word = d->events->trailer_id_word;
	bool has_id = word > 0 && cursor_left(c) >= 8 * (size_t)word;
	uint64_t id = has_id ? load_u64(c->end - 8 * (size_t)word, c->swap) : 0;
	const struct data_event *layout;
	struct cursor trailer = *c;
	size_t size;

	body->event = event_of(d, id, has_id, false, &layout);
	count_unknown(d, body, id, has_id);
	if (!layout && d->events->n && id == 0)
		layout = d->events->v[0];
	size = layout ? trailer_size(&layout->attr) : 0;
	if (!size || size > cursor_left(c))
		return;
	c->end -= size;
	trailer.p = c->end;
	trailer_decode(&layout->attr, &trailer, &body->id);
}

/* Whether the events are asked for build-ids in place of device and inode; event: whose record it is, or NULL. */
static bool has_build_ids(const struct decoder *d, const struct data_event *event)
{
	bool any = false;

	if (event)
		return event->attr.build_id;
	for (size_t i = 0; !any && i < d->events->n; i++)
		any = d->events->v[i]->attr.build_id;
	return any;
}

/*
 * While somebody else records with attr.build_id, kernels (6.18 is one) leave its bit in the records of events
 * without: device and inode are still what these have. But who adds build-ids to a recording later (perf inject)
 * changes records, not attrs. So there the bytes decide: where a build-id has its size, 16 or 20 in all that are
 * made, and three zeros, is the major number of the device, and nobody has devices of these (old CD-ROM drives).
 */
static bool is_stray_build_id_bit(const struct decoder *d, const struct record_body *body, const struct cursor *c)
{
	enum { SIZE_AT = 32, MD5_BYTES = 16, SHA1_BYTES = 20 }; /* SIZE_AT: after pid, tid, start, len, pgoff */
	const uint8_t *at = c->p + SIZE_AT;

	if (body->type != RECORD_MMAP2 || !(body->misc & MISC_MMAP_BUILD_ID) || cursor_left(c) < SIZE_AT + 4 ||
	    has_build_ids(d, body->event))
		return false;
	return (at[0] != MD5_BYTES && at[0] != SHA1_BYTES) || at[1] || at[2] || at[3];
}

/*
 * Clears it in pieces that become a few plain stores each: of one memset() compilers make it an instruction that takes
 * longer than the rest of a small sample's decoding.
 */
static void body_clear(struct record_body *body)
{
	enum { PIECE = 64 };
	char *p = (char *)body;
	size_t at = 0;

	for (; at + PIECE <= sizeof(*body); at += PIECE)
		memset(p + at, 0, PIECE);
	memset(p + at, 0, sizeof(*body) % PIECE);
}

int record_decode(struct decoder *decoder, const struct record *record, struct record_body *body,
		  struct str *err)
{
	const struct record_row *row = record_row(record->type);
	struct decode_state s = { .decoder = decoder, .body = body };

	body_clear(body);
	body->type = record->type;
	body->misc = record->misc;
	decoder->scratch_used = 0;
	/* The bytes of a file that is cut off or written to while they wait may have become others since they were read. */
	if (record->size < RECORD_HEADER_BYTES)
		return record_fail(record, err, -EINVAL, "has %u bytes, at least %d are needed", record->size,
				   RECORD_HEADER_BYTES);
	s.c = cursor_on(record->bytes + RECORD_HEADER_BYTES,
			(size_t)record->size - RECORD_HEADER_BYTES, decoder->swap);
	if (!row) {
		body->unknown = (struct record_bytes){ cursor_left(&s.c), s.c.p };
		return 0;
	}
	if (record->size < row->min_size)
		return record_fail(record, err, -EINVAL, "has %u bytes, at least %u are needed",
				   record->size, row->min_size);
	if (record->type == RECORD_SAMPLE)
		return decode_sample(decoder, record, body, &s.c, err);
	if (record->type < RECORD_USER_FIRST)
		decode_trailer(decoder, body, &s.c);
	if (is_stray_build_id_bit(decoder, body, &s.c))
		body->misc &= (uint16_t)~MISC_MMAP_BUILD_ID;
	for (const struct record_field *f = record_row_fields(row, body->misc); f->name; f++) {
		f->kind->decode(&s, f, (char *)body + f->at);
		if (s.why)
			return record_fail(record, err, -EINVAL, "%s", s.why);
		if (s.c.bad)
			return record_fail(record, err, -EINVAL, "ends before its field '%s'",
					   f->name);
	}
	if (record->type == RECORD_MMAP2 && body->mmap.build_id_size > sizeof(body->mmap.build_id))
		return record_fail(record, err, -EINVAL, "a build-id of %u bytes",
				   body->mmap.build_id_size);
	return 0;
}

/* ---- encoding ---- */

int record_encode(const struct record_body *body, const struct data_event *event, struct str *out,
		  struct str *err)
{
	const struct record_row *row = record_row(body->type);
	size_t start = out->len, size;
	uint16_t size16;

	if (!row)
		return fail(err, -EINVAL, "record type %u: not known", body->type);
	put_u32(out, body->type);
	put_u16(out, body->misc);
	put_u16(out, 0);
	if (body->type == RECORD_SAMPLE)
		sample_encode(&body->sample, event, out);
	for (const struct record_field *f = record_row_fields(row, body->misc); f->name; f++)
		f->kind->encode(out, start, f, body, event, (const char *)body + f->at);
	if (event && body->type < RECORD_USER_FIRST && body->type != RECORD_SAMPLE &&
	    event->attr.sample_id_all)
		trailer_encode(&event->attr, &body->id, out);
	size = out->len - start;
	if (size > RECORD_BYTES_MAX) {
		out->len = start;
		out->s[start] = '\0';
		return fail(err, -E2BIG, "%s record: %zu bytes, at most %d are possible", row->name,
			    size, RECORD_BYTES_MAX);
	}
	size16 = (uint16_t)size;
	memcpy(out->s + start + 6, &size16, sizeof(size16));
	return 0;
}

/* ---- time and event of a record, without decoding it, and records in bytes ---- */

/* The word at `word` of the payload (from the start, or from 1 at its end); false: it is shorter. */
static bool payload_word(const struct record *record, bool swap, bool from_end, int word,
			 uint64_t *value)
{
	size_t n = (size_t)record->size - RECORD_HEADER_BYTES;
	size_t need = 8 * ((size_t)word + !from_end);
	const uint8_t *end = record->bytes + record->size;

	if (word < from_end || n < need)
		return false;
	*value = load_u64(from_end ? end - need : record->bytes + need, swap);
	return true;
}

/* Finds it by the layout of the record's own event, where events differ. */
static bool own_time(const struct decoder *d, const struct record *record, bool sample,
		     uint64_t *time_ns)
{
	const struct events *events = d->events;
	int word = sample ? events->sample_id_word : events->trailer_id_word;
	const struct data_event *layout;
	uint64_t id = 0;
	bool has_id = payload_word(record, d->swap, !sample, word, &id);

	event_of(d, id, has_id, sample, &layout);
	if (!layout && events->n && !sample && !id)
		layout = events->v[0];
	if (!layout)
		return false;
	word = sample ? sample_time_word(&layout->attr) : trailer_time_word(&layout->attr);
	return payload_word(record, d->swap, !sample, word, time_ns);
}

bool record_time(const struct decoder *d, const struct record *record, uint64_t *time_ns)
{
	bool sample = record->type == RECORD_SAMPLE;
	int word = sample ? d->events->sample_time_word : d->events->trailer_time_word;

	if (record->type >= RECORD_USER_FIRST)
		return false;
	if (word >= 0)
		return payload_word(record, d->swap, !sample, word, time_ns);
	return own_time(d, record, sample, time_ns);
}

const struct data_event *record_event(const struct decoder *d, const struct record *record)
{
	const struct data_event *layout;
	uint64_t id = 0;
	bool has_id = payload_word(record, d->swap, false, d->events->sample_id_word, &id);

	return event_of(d, id, has_id, true, &layout);
}

void record_from_bytes(struct record *record, const uint8_t *bytes, uint64_t offset, bool swap)
{
	*record = (struct record){ .offset = offset, .bytes = bytes };
	record->type = load_u32(bytes, swap);
	record->misc = load_u16(bytes + 4, swap);
	record->size = load_u16(bytes + 6, swap);
}

size_t record_whole(const void *bytes, size_t n)
{
	struct perf_event_header header;

	if (n < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	return header.size >= sizeof(header) && header.size <= n ? header.size : 0;
}

size_t records_whole(const void *bytes, size_t n)
{
	size_t at = 0, size;

	while ((size = record_whole((const char *)bytes + at, n - at)) > 0)
		at += size;
	return at;
}
