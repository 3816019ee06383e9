/* SPDX-License-Identifier: MIT */
/*
 * script_python: samples as calls of Python functions, with perf's names, arguments and dictionaries. A list of calls
 * at a time goes through the output to python.py, which a process of its own runs:
 *
 *	[(3, ({"ev_name": "cycles", "comm": "sh", "sample": {"ip": 4198400, ...}, ...},)), ...]	3: which function
 *
 * After the last list comes a number, of how many there were: a script that reads some itself is found out.
 * Of an event that no function takes nothing is sent, and what nobody asks for is not worked out. Frames are sent once
 * and referred to after that (pickle.h): a script that changes one changes it for all samples that have it.
 *
 * A sample of a tracepoint calls SYSTEM__EVENT(name, context, cpu, s, ns, pid, comm, callchain, field...), or else
 * trace_unhandled(name, context, fields); both get the dictionary of the sample, too, where they have a place for it.
 * All others call process_event(dictionary), or where a script makes a database become rows (script_tables.c).
 *
 * A script can ask perf_trace_context for the code of the sample that it was called with. Nothing goes back to this
 * process: a script that has such a question in its text is told the answer in front of each call, by a call of
 * python.py's own: (5, (b"\x0f\x05",)).
 */
#include "script/pickle.h"
#include "script/script_internal.h"

#include <stdlib.h>

enum { BATCH_BYTES = 64 << 10 };

/* Kinds of kept values, in the low bits of a key's b; those of texts are odd (pickle.c). */
enum { KEEP_FRAME = 2, KEEP_ATTR = 4, KEEP_SOURCE = 6, KEEP_ANSWER = 8, KEEP_BITS = 8 };

/* Functions that are called with other things than samples. */
enum other_function { ON_THROTTLE, ON_UNTHROTTLE, ON_SWITCH, ON_TRACE_ERROR, ON_ROUND, OTHER_FUNCTIONS };
static const char *const other_names[OTHER_FUNCTIONS] = {
	"throttle", "unthrottle", "context_switch", "auxtrace_error", "stat__interval",
};

/* Questions about a sample's code; python.py has a function of that name where the script asks. */
enum { ANSWERS = 3 };
static const struct answer {
	const char *name;
	void (*add)(struct script *script, struct pickle *p, uint32_t location);
} answers[ANSWERS];

struct python_event {
	int function; /* index; -1: none */
	int count_function; /* of its stored counts; likewise */
	bool is_tracepoint, unhandled, wants_dict;
	bool defined; /* names of its fields' values were sent */
	char *name; /* the event's own */
	char *call; /* of a tracepoint: "sched__sched_switch" */
};

struct script_python {
	const struct python_functions *functions;
	struct pickle pickle;
	bool open; /* a list of calls has begun */
	uint64_t n_lists; /* that have ended */
	struct python_event *events; /* by index */
	size_t n_events;
	int others[OTHER_FUNCTIONS], answers[ANSWERS]; /* indexes; -1: none */
};

/* ---- functions ---- */

void python_functions_add(struct python_functions *functions, const char *name, int n_args)
{
	VEC_GROW(functions->v, functions->n, functions->cap);
	functions->v[functions->n++] = (struct python_function){ xstrdup(name), n_args };
}

void python_functions_release(struct python_functions *functions)
{
	for (size_t i = 0; i < functions->n; i++)
		free(functions->v[i].name);
	free(functions->v);
	*functions = (struct python_functions){ 0 };
}

int python_functions_find(const struct python_functions *functions, const char *name)
{
	for (size_t i = 0; i < functions->n; i++)
		if (!strcmp(functions->v[i].name, name))
			return (int)i;
	return -1;
}

/* stat__NAME, with _ for each colon of the event's name. */
static int find_count_function(const struct python_functions *functions, const char *event)
{
	struct str name = STR_INIT;
	int found;

	str_addf(&name, "stat__%s", event);
	for (size_t i = 0; i < name.len; i++)
		if (name.s[i] == ':')
			name.s[i] = '_';
	found = python_functions_find(functions, name.s);
	str_release(&name);
	return found;
}

static void choose(struct script *script, struct script_python *python, const struct data_event *event)
{
	struct python_event *chosen = &python->events[event->index];
	struct tracepoints *tracepoints;
	const char *system, *name;
	struct str text = STR_INIT;

	data_event_add_name(event, &text);
	chosen->name = str_detach(&text);
	chosen->count_function = find_count_function(python->functions, chosen->name);
	chosen->is_tracepoint = event->attr.type == PERF_TYPE_TRACEPOINT;
	if (!chosen->is_tracepoint) {
		chosen->function = python_functions_find(python->functions, "process_event");
	} else if ((tracepoints = script_tracepoints(script)) &&
		   tracepoint_names(tracepoints, event, &system, &name)) {
		size_t n_args = 8 + tracepoint_n_fields(tracepoints, event); /* in front of the dictionary */

		str_addf(&text, "%s__%s", system, name);
		chosen->function = python_functions_find(python->functions, text.s);
		chosen->unhandled = chosen->function < 0;
		if (chosen->unhandled) {
			chosen->function = python_functions_find(python->functions, "trace_unhandled");
			n_args = 3;
		}
		chosen->wants_dict = chosen->function >= 0 &&
				     python->functions->v[chosen->function].n_args == (int)n_args + 1;
	} else {
		chosen->function = -1;
	}
	chosen->call = str_detach(&text);
}

/* Events of a pipe come one after another. */
static struct python_event *event_of(struct script *script, const struct data_event *event)
{
	struct script_python *python = script->python;
	size_t n = script->session.recording->events->n;

	if (n > python->n_events) {
		python->events = xreallocarray(python->events, n, sizeof(*python->events));
		memset(python->events + python->n_events, 0, (n - python->n_events) * sizeof(*python->events));
		python->n_events = n;
	}
	if (!python->events[event->index].name)
		choose(script, python, event);
	return &python->events[event->index];
}

unsigned script_python_wants(struct script *script, const struct data_event *event)
{
	const struct python_event *chosen = event_of(script, event);

	if (script->tables && !chosen->is_tracepoint)
		return script_tables_wants(script->tables, event);
	return chosen->function >= 0 ? SAMPLE_TAKEN | SAMPLE_CHAIN : 0;
}

void script_python_new(struct script *script)
{
	const struct python_functions *functions = script->options.python;
	struct script_python *python = xcalloc(1, sizeof(*python));

	python->functions = functions;
	for (size_t i = 0; i < OTHER_FUNCTIONS; i++)
		python->others[i] = python_functions_find(functions, other_names[i]);
	for (size_t i = 0; i < ANSWERS; i++)
		python->answers[i] = python_functions_find(functions, answers[i].name);
	script->python = python;
	script_tables_new(script, functions);
}

void script_python_begin(struct script *script)
{
	if (script->tables)
		script_tables_begin(script);
}

void script_python_free(struct script_python *python)
{
	if (!python)
		return;
	for (size_t i = 0; i < python->n_events; i++) {
		free(python->events[i].name);
		free(python->events[i].call);
	}
	free(python->events);
	pickle_release(&python->pickle);
	free(python);
}

void script_python_forget(struct script *script)
{
	pickle_forget(&script->python->pickle);
	if (script->tables)
		script_tables_forget(script->tables);
}

/* ---- calls ---- */

struct pickle *script_python_call(struct script *script, int function)
{
	struct script_python *python = script->python;
	struct pickle *p = &python->pickle;

	p->out = &script->output->text;
	if (!python->open)
		pickle_list(p);
	python->open = true;
	pickle_tuple(p);
	pickle_signed(p, function);
	pickle_tuple(p);
	return p;
}

static void end_list(struct script *script)
{
	struct script_python *python = script->python;

	if (!python->open)
		return;
	pickle_list_end(&python->pickle);
	pickle_stop(&python->pickle);
	python->open = false;
	python->n_lists++;
}

void script_python_call_end(struct script *script)
{
	struct pickle *p = &script->python->pickle;

	pickle_tuple_end(p);
	pickle_tuple_end(p);
}

int script_python_step(struct script *script)
{
	if (script->output->text.len < BATCH_BYTES)
		return 0;
	end_list(script);
	return output_step(script->output);
}

static int end_call(struct script *script)
{
	script_python_call_end(script);
	return script_python_step(script);
}

int script_python_flush(struct script *script)
{
	end_list(script);
	return output_end(script->output);
}

int script_python_end(struct script *script)
{
	struct pickle *p = &script->python->pickle;

	end_list(script);
	p->out = &script->output->text;
	pickle_number(p, script->python->n_lists);
	pickle_stop(p);
	return output_end(script->output);
}

/* ---- values ---- */

static void add_name(struct pickle *p, const char *name)
{
	pickle_text(p, name, strlen(name));
}

static void member_number(struct pickle *p, const char *name, uint64_t value)
{
	add_name(p, name);
	pickle_number(p, value);
}

static void member_text(struct pickle *p, const char *name, const char *text)
{
	add_name(p, name);
	add_name(p, text);
}

static void member_bool(struct pickle *p, const char *name, bool value)
{
	add_name(p, name);
	pickle_bool(p, value);
}

/* A text that is made for this call alone: script->scratch, empty. */
static struct str *new_text(struct script *script)
{
	str_reset(&script->scratch);
	return &script->scratch;
}

static void add_dso(struct script *script, struct pickle *p, const struct dso *dso)
{
	struct str *text = new_text(script);

	script_add_dso(script, dso, text);
	pickle_text(p, text->s, text->len);
}

/* ---- frames ---- */

unsigned script_binding(const struct symbol *symbol)
{
	return symbol->binding == 'g' ? 1 : symbol->binding == 'w' ? 2 : 0;
}

static void add_symbol(struct pickle *p, const struct symbol *symbol)
{
	pickle_dict(p);
	member_number(p, "start", symbol->start);
	member_number(p, "end", symbol->end);
	member_number(p, "binding", script_binding(symbol));
	member_text(p, "name", symbol->name);
	pickle_dict_end(p);
}

static void add_frame(struct script *script, struct pickle *p, uint64_t ip, const struct location_row *row,
		      const struct symbol *symbol)
{
	pickle_dict(p);
	member_number(p, "ip", ip);
	if (symbol_has_name(symbol)) {
		add_name(p, "sym");
		add_symbol(p, symbol);
		member_number(p, "sym_off", row->addr - symbol->start);
	}
	if (row->dso) {
		add_name(p, "dso");
		add_dso(script, p, row->dso);
	}
	pickle_dict_end(p);
}

/* The functions inlined at the address, and the one around them. */
static void add_frames(struct script *script, struct pickle *p, const struct chain_entry *entry)
{
	const struct frame_list frames = *location_frames(&script->session, entry->location, 0);
	const struct location_row *row = &script->session.locations->v[entry->location];

	for (size_t i = 0; i < frames.n; i++) {
		const struct pickle_key key = {
			entry->ip, ((uint64_t)entry->location << 24 | (uint64_t)i << KEEP_BITS) | KEEP_FRAME,
		};

		if (pickle_again(p, key))
			continue;
		add_frame(script, p, entry->ip, row, frames.v[i].symbol);
		pickle_keep(p, key);
	}
}

static void add_chain(struct script *script, struct pickle *p, const struct chain *chain)
{
	pickle_list(p);
	for (size_t i = 0; i < chain->n; i++)
		add_frames(script, p, &chain->v[i]);
	pickle_list_end(p);
}

/* ---- the dictionary of a sample ---- */

/* Counts of the sample's group; without them one of 0, as perf has it. */
static void add_values(struct pickle *p, const struct sample *s)
{
	const struct read_values *read = &s->read;

	if (s->has & PERF_SAMPLE_READ) {
		if (read->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			member_number(p, "time_enabled", read->enabled_ns);
		if (read->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			member_number(p, "time_running", read->running_ns);
	}
	add_name(p, "values");
	pickle_list(p);
	for (uint64_t i = 0; i < (s->has & PERF_SAMPLE_READ ? read->n : 1); i++) {
		uint64_t id = s->id, value = 0, lost = 0;

		if (s->has & PERF_SAMPLE_READ) {
			value = read_values_value(read, i);
			read_values_id(read, i, &id);
			read_values_lost(read, i, &lost);
		} else {
			id = 0;
		}
		pickle_tuple(p);
		pickle_number(p, id);
		pickle_number(p, value);
		pickle_number(p, lost);
		pickle_tuple_end(p);
	}
	pickle_list_end(p);
}

uint64_t script_weight(const struct sample *s)
{
	if (s->has & DATA_SAMPLE_WEIGHT_STRUCT)
		return s->weight & UINT32_MAX;
	return s->has & PERF_SAMPLE_WEIGHT ? s->weight : 0;
}

uint64_t script_data_source(const struct sample *s)
{
	const union perf_mem_data_src none = {
		.mem_op = PERF_MEM_OP_NA, .mem_lvl = PERF_MEM_LVL_NA, .mem_snoop = PERF_MEM_SNOOP_NA,
		.mem_lock = PERF_MEM_LOCK_NA, .mem_dtlb = PERF_MEM_TLB_NA,
	};

	return s->has & PERF_SAMPLE_DATA_SRC ? s->data_src : none.val;
}

/* Words for the bits of a memory access; a recording has few of them. */
static void add_source(struct script *script, struct pickle *p, uint64_t source)
{
	const struct pickle_key key = { source, 1 << KEEP_BITS | KEEP_SOURCE };
	struct str *text;

	if (pickle_again(p, key))
		return;
	text = new_text(script);
	script_add_data_src(source, text);
	pickle_text(p, text->s, text->len);
	pickle_keep(p, key);
}

static void add_sample(struct script *script, struct pickle *p, const struct sink_sample *taken)
{
	const struct sample *s = taken->sample->sample;
	uint64_t has = s->has, source = script_data_source(s);

	pickle_dict(p);
	member_number(p, "id", has & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? s->id : UINT64_MAX);
	member_number(p, "stream_id", has & PERF_SAMPLE_STREAM_ID ? s->stream_id : UINT64_MAX);
	/* Numbers without a sign, as perf has them; those of a thread that has ended are UINT32_MAX. */
	member_number(p, "pid", has & PERF_SAMPLE_TID ? s->pid : UINT32_MAX);
	member_number(p, "tid", has & PERF_SAMPLE_TID ? s->tid : UINT32_MAX);
	member_number(p, "cpu", has & PERF_SAMPLE_CPU ? s->cpu : UINT32_MAX);
	member_number(p, "ip", s->ip);
	member_number(p, "time", has & PERF_SAMPLE_TIME ? s->time_ns : UINT64_MAX);
	member_number(p, "period", taken->period);
	member_number(p, "phys_addr", has & PERF_SAMPLE_PHYS_ADDR ? s->phys_addr : 0);
	member_number(p, "addr", has & PERF_SAMPLE_ADDR ? s->addr : 0);
	add_values(p, s);
	member_number(p, "weight", script_weight(s));
	member_number(p, "ins_lat", has & DATA_SAMPLE_WEIGHT_STRUCT ? s->weight >> 32 & 0xffff : 0);
	member_number(p, "transaction", has & PERF_SAMPLE_TRANSACTION ? s->transaction : 0);
	member_number(p, "datasrc", source);
	add_name(p, "datasrc_decode");
	add_source(script, p, source);
	member_number(p, "cpumode", taken->sample->mode);
	pickle_dict_end(p);
}

/* The file of an address at a sample; finding it may move the locations. */
static const struct dso *dso_at(struct script *script, const struct replay_sample *sample, uint64_t ip)
{
	uint32_t location = session_address_location(&script->session, sample, ip);

	return script->session.locations->v[location].dso;
}

static void add_branches(struct script *script, struct pickle *p, const struct replay_sample *sample)
{
	const struct sample *s = sample->sample;

	add_name(p, "brstack");
	pickle_list(p);
	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *b = &s->branches[i];

		pickle_dict(p);
		member_number(p, "from", b->from);
		member_number(p, "to", b->to);
		member_bool(p, "mispred", b->flags & BRANCH_MISPREDICTED);
		member_bool(p, "predicted", b->flags & BRANCH_PREDICTED);
		member_bool(p, "in_tx", b->flags & BRANCH_IN_TX);
		member_bool(p, "abort", b->flags & BRANCH_ABORT);
		member_number(p, "cycles", branch_cycles(b->flags));
		add_name(p, "from_dsoname");
		add_dso(script, p, dso_at(script, sample, b->from));
		add_name(p, "to_dsoname");
		add_dso(script, p, dso_at(script, sample, b->to));
		pickle_dict_end(p);
	}
	pickle_list_end(p);
}

static void member_branch_end(struct script *script, struct pickle *p, const char *name,
			      const struct replay_sample *sample, uint64_t ip)
{
	struct str *text;

	add_name(p, name);
	text = new_text(script);
	script_add_branch_symbol(script, sample, ip, text);
	pickle_text(p, text->s, text->len);
}

static void add_branch_symbols(struct script *script, struct pickle *p, const struct replay_sample *sample)
{
	const struct sample *s = sample->sample;

	add_name(p, "brstacksym");
	pickle_list(p);
	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *b = &s->branches[i];
		const char pred = b->flags & BRANCH_MISPREDICTED ? 'M' : b->flags & BRANCH_PREDICTED ? 'P' : '-';

		pickle_dict(p);
		member_branch_end(script, p, "from", sample, b->from);
		member_branch_end(script, p, "to", sample, b->to);
		add_name(p, "pred");
		pickle_text(p, &pred, 1);
		member_text(p, "in_tx", b->flags & BRANCH_IN_TX ? "X" : "-");
		member_text(p, "abort", b->flags & BRANCH_ABORT ? "A" : "-");
		pickle_dict_end(p);
	}
	pickle_list_end(p);
}

static void add_registers(struct script *script, struct pickle *p, const char *name, const struct sample_regs *regs)
{
	struct str *text = new_text(script);

	script_add_register_values(script->session.reader, regs, text);
	add_name(p, name);
	pickle_text(p, text->s, text->len);
}

/* File, build-id, map, symbol and offset of the sample's own address. */
static void add_code(struct script *script, struct pickle *p, const struct replay_sample *sample)
{
	uint32_t location = session_ip_location(&script->session, sample);
	const struct location_row *row = &script->session.locations->v[location];
	const struct symbol *symbol = location_symbol(&script->session, location);
	struct str *build_id;
	struct location place;

	if (!row->dso)
		return;
	session_place(&script->session, sample, &place);
	add_name(p, "dso");
	add_dso(script, p, row->dso);
	build_id = new_text(script);
	build_id_text(&row->dso->build_id, build_id);
	member_text(p, "dso_bid", build_id->s);
	member_number(p, "dso_map_start", place.map_start);
	member_number(p, "dso_map_end", place.map_end);
	member_number(p, "map_pgoff",
		      row->dso->kind == DSO_FILE ? place.addr - (sample->sample->ip - place.map_start) : 0);
	if (symbol_has_name(symbol)) {
		member_text(p, "symbol", symbol->name);
		member_number(p, "symoff", row->addr - symbol->start);
	}
}

static const char *comm_of(struct script *script, const struct thread *thread)
{
	return session_comm(&script->session, thread->comm);
}

static void add_dictionary(struct script *script, struct pickle *p, const struct python_event *event,
			   const struct sink_sample *taken)
{
	const struct data_event *own = taken->sample->event;
	const struct sample *s = taken->sample->sample;
	const struct pickle_key attr = { (uint64_t)own->index, 1 << KEEP_BITS | KEEP_ATTR };

	pickle_dict(p);
	member_text(p, "ev_name", event->name);
	add_name(p, "attr");
	if (!pickle_again(p, attr)) {
		pickle_bytes(p, own->attr_bytes, own->attr_size);
		pickle_keep(p, attr);
	}
	add_name(p, "sample");
	add_sample(script, p, taken);
	add_name(p, "raw_buf");
	pickle_bytes(p, s->raw, s->has & PERF_SAMPLE_RAW ? s->raw_size : 0);
	member_text(p, "comm", comm_of(script, taken->sample->thread));
	if (s->has & PERF_SAMPLE_IP)
		add_code(script, p, taken->sample);
	add_name(p, "callchain");
	add_chain(script, p, &taken->frames);
	add_branches(script, p, taken->sample);
	add_branch_symbols(script, p, taken->sample);
	add_registers(script, p, "iregs", &s->intr_regs);
	add_registers(script, p, "uregs", &s->user_regs);
	if (s->has & PERF_SAMPLE_CGROUP)
		member_number(p, "cgroup", s->cgroup);
	pickle_dict_end(p);
}

/* ---- tracepoints ---- */

/* A text has no control characters but blanks. */
static bool is_readable(const struct tracepoint_data *data)
{
	for (size_t i = 0; i < data->len; i++)
		if (data->bytes[i] < ' ' && !strchr("\t\n\v\f\r", data->bytes[i]))
			return false;
	return true;
}

/*
 * Values are perf's: arrays are bytes as they are in the recording, and so are texts that are none; of numbers only
 * those of eight bytes have a sign, and a node of -1 is 4294967295.
 */
static void add_field(struct pickle *p, const struct tracepoint_data *data)
{
	if (data->is_text && is_readable(data))
		pickle_text(p, (const char *)data->bytes, data->len);
	else if (!data->is_number)
		pickle_bytearray(p, data->bytes, data->len);
	else if (data->is_signed && data->len == sizeof(uint64_t))
		pickle_signed(p, (int64_t)tracepoint_number(data));
	else
		pickle_number(p, tracepoint_number(data) & UINT64_MAX >> (64 - 8 * data->len));
}

/* A sample of a tracepoint with its fields: those that all have first. */
struct traced {
	const struct sink_sample *taken;
	const struct tracepoint_data *fields;
	size_t n_common, n;
};

/* A common field as a number; 0: there is none. */
static int64_t common(const struct traced *traced, const char *name)
{
	for (size_t i = 0; i < traced->n_common; i++)
		if (!strcmp(traced->fields[i].name, name))
			return (int64_t)tracepoint_number(&traced->fields[i]);
	return 0;
}

/* Answers of common_pc(context), common_flags(context) and common_lock_depth(context). */
static void add_context(struct pickle *p, const struct traced *traced)
{
	pickle_tuple(p);
	pickle_signed(p, common(traced, "common_preempt_count"));
	pickle_signed(p, common(traced, "common_flags"));
	pickle_signed(p, common(traced, "common_lock_depth"));
	pickle_tuple_end(p);
}

/* cpu, s, ns, pid, comm, callchain; named: each after its name. */
static void add_common(struct script *script, struct pickle *p, const struct traced *traced, bool named)
{
	static const char *const names[] = { "common_cpu", "common_s",	  "common_ns",
					     "common_pid", "common_comm", "common_callchain" };
	const struct sample *s = traced->taken->sample->sample;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (named)
			add_name(p, names[i]);
		switch (i) {
		case 0: pickle_signed(p, s->has & PERF_SAMPLE_CPU ? (int32_t)s->cpu : -1); break;
		case 1: pickle_number(p, s->time_ns / NS_PER_S); break;
		case 2: pickle_number(p, s->time_ns % NS_PER_S); break;
		case 3: pickle_signed(p, common(traced, "common_pid")); break;
		case 4: add_name(p, comm_of(script, traced->taken->sample->thread)); break;
		default: add_chain(script, p, &traced->taken->frames); break;
		}
	}
}

static void add_tracepoint(struct script *script, struct pickle *p, const struct python_event *event,
			   const struct traced *traced)
{
	add_name(p, event->call);
	add_context(p, traced);
	if (event->unhandled)
		pickle_dict(p);
	add_common(script, p, traced, event->unhandled);
	for (size_t i = traced->n_common; i < traced->n; i++) {
		if (event->unhandled)
			add_name(p, traced->fields[i].name);
		add_field(p, &traced->fields[i]);
	}
	if (event->unhandled)
		pickle_dict_end(p);
	if (event->wants_dict)
		add_dictionary(script, p, event, traced->taken);
}

struct definition {
	struct script *script;
	const char *event;
	const char *field; /* the last one that was defined; NULL: none */
};

static struct pickle *begin_definition(const struct definition *definition, const char *function, const char *field)
{
	const struct python_functions *functions = definition->script->python->functions;
	struct pickle *p = script_python_call(definition->script, python_functions_find(functions, function));

	add_name(p, definition->event);
	add_name(p, field);
	return p;
}

static void define_name(void *context, const char *field, const char *delimiter, uint64_t value, const char *name)
{
	struct definition *definition = context;
	struct pickle *p;

	if (!definition->field || strcmp(definition->field, field) != 0) {
		p = begin_definition(definition, delimiter ? "define_flag_field" : "define_symbolic_field", field);
		if (delimiter)
			add_name(p, delimiter);
		script_python_call_end(definition->script);
	}
	definition->field = field;
	p = begin_definition(definition, delimiter ? "define_flag_value" : "define_symbolic_value", field);
	pickle_signed(p, (int64_t)value);
	add_name(p, name);
	script_python_call_end(definition->script);
}

/* Tells the script what flag_str() and symbol_str() answer for the event. */
static void define_names(struct script *script, const struct data_event *event, struct python_event *chosen)
{
	struct definition definition = { script, chosen->call, NULL };

	chosen->defined = true;
	tracepoint_value_names(script_tracepoints(script), event, define_name, &definition);
}

/* ---- answers about a sample's code ---- */

static void add_insn(struct script *script, struct pickle *p, uint32_t location)
{
	struct instruction_found found;

	if (script_find_instruction(script, location, &found) && found.n_bytes)
		pickle_bytes(p, found.bytes, found.n_bytes);
	else
		pickle_none(p);
}

static void add_text_or_none(struct pickle *p, const char *text)
{
	if (text)
		add_name(p, text);
	else
		pickle_none(p);
}

/* (file, line), and with the text of the line (file, line, text). */
static void add_line(struct script *script, struct pickle *p, uint32_t location, bool with_text)
{
	struct source_line line;
	const char *text = script_find_source(script, location, &line);

	pickle_tuple(p);
	add_text_or_none(p, line.file);
	pickle_number(p, line.file ? line.line : 0);
	if (with_text)
		add_text_or_none(p, text);
	pickle_tuple_end(p);
}

static void add_srcline(struct script *script, struct pickle *p, uint32_t location)
{
	add_line(script, p, location, false);
}

static void add_srccode(struct script *script, struct pickle *p, uint32_t location)
{
	add_line(script, p, location, true);
}

static const struct answer answers[ANSWERS] = {
	{ "answer.perf_sample_insn", add_insn },
	{ "answer.perf_sample_srcline", add_srcline },
	{ "answer.perf_sample_srccode", add_srccode },
};

/* Answers for an address are worked out and sent once. 0 or output->failed. */
static int tell_answers(struct script *script, const struct replay_sample *sample)
{
	int rc = 0;

	for (size_t i = 0; i < ANSWERS && !rc; i++) {
		struct pickle_key key = { 0, i << KEEP_BITS | KEEP_ANSWER };
		uint32_t location;
		struct pickle *p;

		if (script->python->answers[i] < 0)
			continue;
		location = session_ip_location(&script->session, sample);
		key.a = location;
		p = script_python_call(script, script->python->answers[i]);
		if (!pickle_again(p, key)) {
			answers[i].add(script, p, location);
			pickle_keep(p, key);
		}
		rc = end_call(script);
	}
	return rc;
}

int script_python_sample(struct script *script, const struct sink_sample *taken)
{
	const struct replay_sample *sample = taken->sample;
	struct python_event *event = event_of(script, sample->event);
	struct traced traced = { .taken = taken };
	int rc;

	if (event->is_tracepoint) {
		traced.fields = tracepoint_all(script_tracepoints(script), sample->event, sample->sample,
					       &traced.n_common, &traced.n);
		if (!traced.fields) {
			script->without_trace++;
			return 0;
		}
		if (!event->defined)
			define_names(script, sample->event, event);
		rc = tell_answers(script, sample);
		if (!rc)
			add_tracepoint(script, script_python_call(script, event->function), event, &traced);
	} else if (script->tables) {
		return script_tables_sample(script, taken);
	} else {
		rc = tell_answers(script, sample);
		if (!rc)
			add_dictionary(script, script_python_call(script, event->function), event, taken);
	}
	return rc ? rc : end_call(script);
}

/* ---- other records ---- */

/* -1: it is not recorded. */
static void add_cpu(struct pickle *p, const struct record_body *body)
{
	pickle_signed(p, body->id.has & PERF_SAMPLE_CPU ? (int32_t)body->id.cpu : -1);
}

static void call_throttle(struct pickle *p, const struct record_body *body)
{
	pickle_number(p, body->throttle.time_ns);
	pickle_number(p, body->throttle.id);
	pickle_number(p, body->throttle.stream_id);
	add_cpu(p, body);
	pickle_signed(p, (int32_t)body->id.pid);
	pickle_signed(p, (int32_t)body->id.tid);
}

/* The number of a guest's process and of its CPU: of no guest. */
static void add_no_guest(struct pickle *p)
{
	pickle_signed(p, 0);
	pickle_signed(p, -1);
}

static void call_switch(struct pickle *p, const struct record *record, const struct record_body *body)
{
	bool wide = record->type == RECORD_SWITCH_CPU_WIDE;

	pickle_number(p, body->id.time_ns);
	add_cpu(p, body);
	pickle_signed(p, (int32_t)body->id.pid);
	pickle_signed(p, (int32_t)body->id.tid);
	pickle_signed(p, wide ? (int32_t)body->sched.other_pid : -1);
	pickle_signed(p, wide ? (int32_t)body->sched.other_tid : -1);
	pickle_signed(p, -1); /* of no guest */
	pickle_bool(p, record->misc & MISC_SWITCH_OUT);
	pickle_bool(p, record->misc & MISC_SWITCH_OUT_PREEMPT);
	add_no_guest(p);
}

static void call_trace_error(struct pickle *p, const struct record *record, const struct record_body *body)
{
	pickle_signed(p, (int32_t)body->auxtrace_error.kind);
	pickle_signed(p, (int32_t)body->auxtrace_error.code);
	pickle_signed(p, (int32_t)body->auxtrace_error.cpu);
	pickle_signed(p, (int32_t)body->auxtrace_error.pid);
	pickle_signed(p, (int32_t)body->auxtrace_error.tid);
	pickle_number(p, body->auxtrace_error.ip);
	pickle_number(p, body->auxtrace_error.format ? body->auxtrace_error.time_ns : 0);
	pickle_text(p, body->auxtrace_error.message,
		    strnlen(body->auxtrace_error.message, sizeof(body->auxtrace_error.message)));
	pickle_number(p, record->misc & MISC_CPUMODE_MASK);
	add_no_guest(p);
}

/* False: no function takes records of the type. */
static bool function_of(uint32_t type, enum other_function *function)
{
	switch (type) {
	case RECORD_THROTTLE:
		*function = ON_THROTTLE;
		return true;
	case RECORD_UNTHROTTLE:
		*function = ON_UNTHROTTLE;
		return true;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		*function = ON_SWITCH;
		return true;
	case RECORD_AUXTRACE_ERROR:
		*function = ON_TRACE_ERROR;
		return true;
	default:
		return false;
	}
}

int script_python_record(struct script *script, const struct record *record, const struct record_body *body,
			 const struct thread *thread)
{
	enum other_function function;
	struct pickle *p;

	/* Scripts that show what happens now wait at a pipe: they get what is in order so far. */
	if (record->type == RECORD_FINISHED_ROUND && script->session.reader->pipe)
		return script_python_flush(script);
	if (script->tables && script_tables_record(script, record, body, thread))
		return script_python_step(script);
	if (!function_of(record->type, &function) || script->python->others[function] < 0)
		return 0;
	p = script_python_call(script, script->python->others[function]);
	if (function == ON_SWITCH)
		call_switch(p, record, body);
	else if (function == ON_TRACE_ERROR)
		call_trace_error(p, record, body);
	else
		call_throttle(p, body);
	return end_call(script);
}

/* ---- stored counts ---- */

int script_python_count(struct script *script, const struct script_count *count, int32_t pid, uint64_t time_ns)
{
	const struct data_event *counted = script->session.recording->events->v[count->event];
	int function = event_of(script, counted)->count_function;
	struct pickle *p;

	if (function < 0)
		return 0;
	p = script_python_call(script, function);
	pickle_signed(p, count->cpu);
	pickle_signed(p, pid);
	pickle_number(p, time_ns);
	pickle_number(p, count->value);
	pickle_number(p, count->enabled_ns);
	pickle_number(p, count->running_ns);
	return end_call(script);
}

int script_python_round(struct script *script, uint64_t time_ns)
{
	if (script->python->others[ON_ROUND] < 0)
		return 0;
	pickle_number(script_python_call(script, script->python->others[ON_ROUND]), time_ns);
	return end_call(script);
}
