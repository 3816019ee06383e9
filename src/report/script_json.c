/*
 * script_json: a sample as one JSON object on one line:
 *
 *	{"comm":"sh","pid":1,"tid":1,"cpu":0,"time":1.000000001,"event":"cycles","period":1,"mode":"user",
 *	 "frames":[{"ip":"0x401136","symbol":"main","offset":4,"dso":"/bin/x","file":"x.c","line":3,
 *	            "inlined":true}]}
 *
 * Frames are innermost first; without a chain there is one, the sampled address. Members that the
 * recording does not have are left out. Addresses are text, because many readers keep numbers as doubles.
 */
#include "report/script_parts.h"

typedef unsigned long long ull;

struct object {
	struct str *out;
	bool begun;
};

static void member(struct object *object, const char *name)
{
	if (object->begun)
		str_addc(object->out, ',');
	object->begun = true;
	str_addf(object->out, "\"%s\":", name);
}

static void add_frame_object(struct script *script, const struct chain_entry *entry, const struct frame *frame,
			     bool inlined, struct str *out)
{
	const struct place_row *row = &script->session.places->v[entry->place];
	struct object object = { out, false };

	str_addc(out, '{');
	member(&object, "ip");
	str_addf(out, "\"%#llx\"", (ull)entry->ip);
	if (frame->symbol) {
		member(&object, "symbol");
		str_add_json(out, frame->symbol->name);
		if (!inlined) {
			member(&object, "offset");
			str_addf(out, "%llu", (ull)(row->addr - frame->symbol->start));
		}
	}
	if (row->dso) {
		member(&object, "dso");
		str_add_json(out, row->dso->path);
	}
	if (frame->line.file) {
		member(&object, "file");
		str_add_json(out, frame->line.file);
		member(&object, "line");
		str_addf(out, "%u", frame->line.line);
	}
	if (inlined) {
		member(&object, "inlined");
		str_add(out, "true");
	}
	str_addc(out, '}');
}

static void add_frames(struct script *script, const struct script_event *event,
		       const struct replay_sample *sample, struct str *out)
{
	unsigned want = script_prints(event, FIELD_SRCLINE) ? SYM_LINES : 0;
	struct chain_entry own = { sample->sample->ip, 0 };
	struct chain chain = { 0 };
	const char *before = "";

	if (event->chain)
		session_chain(&script->session, sample, &chain);
	if (!event->chain) {
		own.place = session_ip_place(&script->session, sample);
		chain = (struct chain){ &own, 1 };
	}
	str_addc(out, '[');
	for (size_t i = 0; i < chain.n; i++) {
		struct frame_list frames = *place_frames(&script->session, chain.v[i].place, want);

		for (size_t k = 0; k < frames.n; k++) {
			str_add(out, before);
			add_frame_object(script, &chain.v[i], &frames.v[k], k + 1 < frames.n, out);
			before = ",";
		}
	}
	str_addc(out, ']');
}

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

static void add_trace(struct script *script, const struct replay_sample *sample, struct object *object)
{
	struct tracepoints *tracepoints = script_tracepoints(script);
	size_t n = tracepoints ? tracepoint_n_fields(tracepoints, sample->event) : 0;
	struct object fields = { object->out, false };

	if (!n)
		return;
	member(object, "fields");
	str_addc(object->out, '{');
	for (size_t i = 0; i < n; i++) {
		struct str text = STR_INIT;
		struct tracepoint_field field;
		bool is_number = false;
		int64_t number;

		if (tracepoint_field(tracepoints, sample->event, i, &field) &&
		    tracepoint_value(tracepoints, sample->event, sample->sample, field.name, &text, &number,
				     &is_number)) {
			str_add(object->out, fields.begun ? "," : "");
			fields.begun = true;
			str_add_json(object->out, field.name);
			str_addc(object->out, ':');
			if (is_number)
				str_add(object->out, text.s);
			else
				str_add_json(object->out, text.s);
		}
		str_release(&text);
	}
	str_addc(object->out, '}');
}

/* Numbers that are members just as they are. */
static void add_plain(const struct sample *s, struct object *object)
{
	static const struct {
		uint64_t bit;
		const char *name;
		size_t at;
		bool hex;
	} rows[] = {
#define PLAIN(bit, name, field, hex) { bit, name, offsetof(struct sample, field), hex }
		PLAIN(PERF_SAMPLE_PERIOD, "period", period, false),
		PLAIN(PERF_SAMPLE_ADDR, "addr", addr, true),
		PLAIN(PERF_SAMPLE_WEIGHT, "weight", weight, false),
		PLAIN(PERF_SAMPLE_DATA_SRC, "data_src", data_src, true),
		PLAIN(PERF_SAMPLE_PHYS_ADDR, "phys_addr", phys_addr, true),
		PLAIN(PERF_SAMPLE_TRANSACTION, "transaction", transaction, true),
		PLAIN(PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", data_page_size, false),
		PLAIN(PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", code_page_size, false),
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value;

		if (!(s->has & rows[i].bit))
			continue;
		memcpy(&value, (const char *)s + rows[i].at, sizeof(value));
		member(object, rows[i].name);
		str_addf(object->out, rows[i].hex ? "\"%#llx\"" : "%llu", (ull)value);
	}
}

static void add_branches(const struct sample *s, struct object *object)
{
	member(object, "branches");
	str_addc(object->out, '[');
	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *b = &s->branches[i];

		str_addf(object->out,
			 "%s{\"from\":\"%#llx\",\"to\":\"%#llx\",\"mispredicted\":%s,\"cycles\":%llu}",
			 i ? "," : "", (ull)b->from, (ull)b->to, b->flags & 1 ? "true" : "false",
			 (ull)(b->flags >> 4 & 0xffff));
	}
	str_addc(object->out, ']');
}

static void add_head(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		     struct object *object)
{
	const struct sample *s = sample->sample;
	struct str *out = object->out;

	member(object, "comm");
	str_add_json(out, replay_comm(&script->session.replay, sample->thread->comm));
	if (s->has & PERF_SAMPLE_TID) {
		member(object, "pid");
		str_addf(out, "%d", (int)s->pid);
		member(object, "tid");
		str_addf(out, "%d", (int)s->tid);
	}
	if (s->has & PERF_SAMPLE_CPU) {
		member(object, "cpu");
		str_addf(out, "%u", s->cpu);
	}
	if (s->has & PERF_SAMPLE_TIME) {
		member(object, "time");
		str_addf(out, "%llu.%09llu", (ull)(s->time_ns / 1000000000),
			 (ull)(s->time_ns % 1000000000));
	}
	member(object, "event");
	str_add_json(out, event->name);
	member(object, "mode");
	str_addf(out, "\"%s\"", mode_name(sample->mode));
}

void script_json_sample(struct script *script, struct script_event *event, const struct replay_sample *sample)
{
	const struct sample *s = sample->sample;
	struct object object = { &script->output->text, false };

	str_addc(object.out, '{');
	add_head(script, event, sample, &object);
	add_plain(s, &object);
	if (s->has & PERF_SAMPLE_BRANCH_STACK)
		add_branches(s, &object);
	if (sample->event->attr.type == PERF_TYPE_TRACEPOINT && (s->has & PERF_SAMPLE_RAW))
		add_trace(script, sample, &object);
	if (event->chain || (s->has & PERF_SAMPLE_IP)) {
		member(&object, "frames");
		add_frames(script, event, sample, object.out);
	}
	str_add(object.out, "}\n");
}
