/* SPDX-License-Identifier: MIT */
/*
 * script_json: a sample as one JSON object on one line:
 *
 *	{"comm":"sh","pid":1,"tid":1,"cpu":0,"time":1.000000001,"event":"cycles","mode":"user","period":1,
 *	 "frames":[{"ip":"0x401136","symbol":"main","offset":4,"dso":"/bin/x","file":"x.c","line":3},
 *	           {"ip":"0x401136","symbol":"f","dso":"/bin/x","inlined":true}]}
 *
 * Members that the recording does not have are left out. Addresses and sets of bits are text, because many
 * readers keep numbers as doubles. All members are in pstat-script(1): JSON.
 *
 * What a frame says after its address depends on its location only, and is made once for each (script_frame.c).
 */
#include "script/script_internal.h"

#include <stdio.h>

typedef unsigned long long ull;

struct json_object {
	struct str *out;
	bool begun;
};

static void member(struct json_object *object, const char *name)
{
	str_add(object->out, object->begun ? ",\"" : "\"");
	object->begun = true;
	str_add(object->out, name);
	str_addn(object->out, "\":", 2);
}

static void add_text(struct json_object *object, const char *name, const char *text)
{
	member(object, name);
	str_add_json(object->out, text);
}

static void add_number(struct json_object *object, const char *name, uint64_t value)
{
	member(object, name);
	str_add_decimal(object->out, value, 1, ' ');
}

static void add_hex(struct json_object *object, const char *name, uint64_t value)
{
	member(object, name);
	str_addn(object->out, "\"0x", 3);
	str_add_hex(object->out, value, 1, ' ');
	str_addc(object->out, '"');
}

/* ---- frames ---- */

/* The members that say where a location is. symbol NULL: not known; inlined: it has no location of its own. */
static void add_location(struct script *script, const struct location_row *row, const struct symbol *symbol,
			 bool inlined, struct json_object *object)
{
	if (symbol)
		add_text(object, "symbol", symbol->name);
	if (symbol && !inlined)
		add_number(object, "offset", row->addr - symbol->start);
	if (!row->dso)
		return;
	if (row->dso->kind == DSO_ANON) {
		member(object, "dso");
		str_addc(object->out, '"');
		script_add_dso(script, row->dso, object->out);
		str_addc(object->out, '"');
	} else {
		add_text(object, "dso", row->dso->path);
	}
	if (row->dso->kind == DSO_FILE || row->dso->kind == DSO_VDSO)
		add_hex(object, "dso_offset", row->addr);
}

void script_json_frame(struct script *script, const struct location_row *row, const struct frame *frame, bool inlined,
		       struct str *out)
{
	struct json_object object = { out, true }; /* after "ip" */

	add_location(script, row, frame->symbol, inlined, &object);
	if (frame->line.file) {
		add_text(&object, "file", frame->line.file);
		add_number(&object, "line", frame->line.line);
	}
	if (inlined) {
		member(&object, "inlined");
		str_add(out, "true");
	}
}

static void add_frames(struct script *script, const struct script_event *event, const struct chain *frames,
		       struct json_object *object)
{
	member(object, "frames");
	str_addc(object->out, '[');
	for (size_t i = 0; i < frames->n; i++) {
		str_add(object->out, i ? "," : "");
		if (!script_add_json_frame(script, event, &frames->v[i]))
			break;
	}
	str_addc(object->out, ']');
}

/* ---- one sample's own fields ---- */

static const char *mode_name(uint8_t mode)
{
	static const char *const names[] = {
		[MISC_KERNEL] = "kernel",
		[MISC_USER] = "user",
		[MISC_HYPERVISOR] = "hypervisor",
		[MISC_GUEST_KERNEL] = "guest kernel",
		[MISC_GUEST_USER] = "guest user",
	};

	return mode < ARRAY_SIZE(names) && names[mode] ? names[mode] : "unknown";
}

static void add_fields(struct script *script, const struct replay_sample *sample, struct json_object *object)
{
	struct tracepoints *tracepoints = script_tracepoints(script);
	size_t n = tracepoints ? tracepoint_n_fields(tracepoints, sample->event) : 0;
	struct json_object fields = { object->out, false };
	struct str text = STR_INIT;

	if (!n)
		return;
	member(object, "fields");
	str_addc(object->out, '{');
	for (size_t i = 0; i < n; i++) {
		struct tracepoint_field field;
		bool is_number = false;
		int64_t number;

		str_reset(&text);
		if (!tracepoint_field(tracepoints, sample->event, i, &field) ||
		    !tracepoint_value(tracepoints, sample->event, sample->sample, field.name, &text, &number,
				      &is_number))
			continue;
		str_add(object->out, fields.begun ? "," : "");
		fields.begun = true;
		str_add_json(object->out, field.name);
		str_addc(object->out, ':');
		if (is_number)
			str_add(object->out, text.s);
		else
			str_add_json(object->out, text.s);
	}
	str_addc(object->out, '}');
	str_release(&text);
}

static void add_trace(struct script *script, const struct replay_sample *sample, struct json_object *object)
{
	struct tracepoints *tracepoints = script_tracepoints(script);
	struct str text = STR_INIT;

	if (tracepoints && tracepoint_print(tracepoints, sample->event, sample->sample, &text)) {
		add_text(object, "trace", text.s);
		add_fields(script, sample, object);
	} else if (tracepoints) {
		script->without_trace++;
	}
	str_release(&text);
}

static void add_bytes(const struct sample *s, struct json_object *object)
{
	member(object, "raw");
	str_addc(object->out, '"');
	for (uint32_t i = 0; i < s->raw_size; i++)
		str_addf(object->out, "%02x", s->raw[i]);
	str_addc(object->out, '"');
}

/*
 * Fields that are members just as they are. A weight may be one number or three, of which the greater are
 * left out where they are 0.
 */
static void add_plain(const struct sample *s, struct json_object *object)
{
	static const struct {
		uint64_t bit;
		const char *name;
		size_t at;
		bool hex;
	} rows[] = {
#define PLAIN(bit, name, field, hex) { bit, name, offsetof(struct sample, field), hex }
		PLAIN(PERF_SAMPLE_WEIGHT, "weight", weight, false),
		PLAIN(PERF_SAMPLE_DATA_SRC, "data_src", data_src, true),
		PLAIN(PERF_SAMPLE_TRANSACTION, "transaction", transaction, true),
		PLAIN(PERF_SAMPLE_PHYS_ADDR, "phys_addr", phys_addr, true),
		PLAIN(PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", data_page_size, false),
		PLAIN(PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", code_page_size, false),
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value;

		if (!(s->has & rows[i].bit))
			continue;
		memcpy(&value, (const char *)s + rows[i].at, sizeof(value));
		(rows[i].hex ? add_hex : add_number)(object, rows[i].name, value);
	}
	if (s->has & DATA_SAMPLE_WEIGHT_STRUCT) {
		add_number(object, "weight", s->weight & 0xffffffff);
		add_number(object, "ins_lat", s->weight >> 32 & 0xffff);
		add_number(object, "weight_var3", s->weight >> 48);
	}
}

/* Adds what data_src says, in words. */
static void add_memory(const struct sample *s, struct json_object *object)
{
	static const struct {
		const char *name;
		void (*add)(uint64_t data_src, struct str *out);
	} rows[] = {
		{ "op", mem_op_add },   { "level", mem_level_add }, { "snoop", mem_snoop_add },
		{ "tlb", mem_tlb_add }, { "lock", mem_lock_add },   { "blocked", mem_blocked_add },
	};
	struct json_object words = { object->out, false };
	struct str text = STR_INIT;

	member(object, "memory");
	str_addc(object->out, '{');
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str_reset(&text);
		rows[i].add(s->data_src, &text);
		add_text(&words, rows[i].name, text.s + (*text.s == ' '));
	}
	str_addc(object->out, '}');
	str_release(&text);
}

static void add_address(struct script *script, const struct replay_sample *sample, struct json_object *object)
{
	uint32_t location = session_data_location(&script->session, sample);
	struct json_object data = { object->out, false };

	add_hex(object, "addr", sample->sample->addr);
	if (location == LOCATION_NONE || !script->session.locations->v[location].dso)
		return;
	member(object, "data");
	str_addc(object->out, '{');
	add_location(script, &script->session.locations->v[location], location_symbol(&script->session, location),
		     false, &data);
	str_addc(object->out, '}');
}

static void add_branches(const struct sample *s, struct json_object *object)
{
	member(object, "branches");
	str_addc(object->out, '[');
	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *b = &s->branches[i];
		const char *type = branch_kind_name(branch_kind(b->flags));
		struct json_object branch = { object->out, false };

		str_add(object->out, i ? ",{" : "{");
		add_hex(&branch, "from", b->from);
		add_hex(&branch, "to", b->to);
		if (b->flags & 3) /* predicted, mispredicted: neither is not said */
			add_number(&branch, "mispredicted", !(b->flags & 2));
		add_number(&branch, "in_tx", b->flags >> 2 & 1);
		add_number(&branch, "abort", b->flags >> 3 & 1);
		add_number(&branch, "cycles", b->flags >> 4 & 0xffff);
		if (*type)
			add_text(&branch, "type", type);
		str_addc(object->out, '}');
	}
	str_addc(object->out, ']');
}

/* {"abi":2,"AX":"0x1",...}; a vector register's second word is AX_high, so to say. */
static void add_registers(struct script *script, const char *name, const struct sample_regs *regs,
			  struct json_object *object)
{
	struct json_object members = { object->out, false };
	const char *before = NULL;
	unsigned n = 0;

	if (!regs->v)
		return;
	member(object, name);
	str_addc(object->out, '{');
	add_number(&members, "abi", regs->abi);
	for (unsigned bit = 0; bit < 64 && n < regs->n; bit++) {
		const char *known = script_register_name(script->session.reader, bit);
		char text[24];

		if (!(regs->mask >> bit & 1))
			continue;
		if (known)
			snprintf(text, sizeof(text), "%s%s", known, known == before ? "_high" : "");
		else
			snprintf(text, sizeof(text), "r%u", bit);
		add_hex(&members, text, regs->v[n++]);
		before = known;
	}
	str_addc(object->out, '}');
}

static void add_cgroup(struct script *script, const struct sample *s, struct json_object *object)
{
	const char *path = session_cgroup(&script->session, s->cgroup);

	if (path)
		add_text(object, "cgroup", path);
	else
		add_number(object, "cgroup_id", s->cgroup);
}

/* ---- lines ---- */

static void add_start(struct script *script, const struct script_start *start, struct json_object *object)
{
	const struct thread *thread = start->thread;

	if (thread)
		add_text(object, "comm", session_comm(&script->session, thread->comm));
	if (start->has & PERF_SAMPLE_TID) {
		member(object, "pid");
		str_addf(object->out, "%d", start->pid);
		member(object, "tid");
		str_addf(object->out, "%d", start->tid);
	}
	if (start->has & PERF_SAMPLE_CPU)
		add_number(object, "cpu", start->cpu);
	if (start->has & PERF_SAMPLE_TIME) {
		add_number(object, "time", start->time_ns / NS_PER_S);
		str_addc(object->out, '.');
		str_add_decimal(object->out, start->time_ns % NS_PER_S, 9, '0');
	}
}

void script_json_sample(struct script *script, const struct script_event *event, const struct sink_sample *taken,
			const struct script_start *start)
{
	const struct replay_sample *sample = taken->sample;
	const struct sample *s = sample->sample;
	struct json_object object = { &script->output->text, false };

	str_addc(object.out, '{');
	add_start(script, start, &object);
	add_text(&object, "event", event->name);
	add_text(&object, "mode", mode_name(sample->mode));
	add_number(&object, "period", taken->period);
	if (s->has & PERF_SAMPLE_ADDR)
		add_address(script, sample, &object);
	add_plain(s, &object);
	if (s->has & PERF_SAMPLE_DATA_SRC)
		add_memory(s, &object);
	if (s->has & PERF_SAMPLE_CGROUP)
		add_cgroup(script, s, &object);
	if (s->has & PERF_SAMPLE_REGS_INTR)
		add_registers(script, "intr_regs", &s->intr_regs, &object);
	if (s->has & PERF_SAMPLE_REGS_USER)
		add_registers(script, "user_regs", &s->user_regs, &object);
	if (s->has & PERF_SAMPLE_BRANCH_STACK)
		add_branches(s, &object);
	if (event->fields & INSN_FIELDS)
		script_add_insn(script, event, sample, object.out);
	if (sample->event->attr.type == PERF_TYPE_TRACEPOINT && (s->has & PERF_SAMPLE_RAW))
		add_trace(script, sample, &object);
	else if (s->has & PERF_SAMPLE_RAW)
		add_bytes(s, &object);
	if (event->chain || (s->has & PERF_SAMPLE_IP))
		add_frames(script, event, &taken->frames, &object);
	str_addn(object.out, "}\n", 2);
}

void script_json_record(struct script *script, const struct script_start *start, const struct record_body *body)
{
	struct json_object object = { &script->output->text, false };
	struct str text = STR_INIT;

	record_print(body, &text);
	str_addc(object.out, '{');
	add_text(&object, "record", record_name(body->type));
	add_start(script, start, &object);
	add_text(&object, "text", text.s);
	str_addn(object.out, "}\n", 2);
	str_release(&text);
}
