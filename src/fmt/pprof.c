/* SPDX-License-Identifier: MIT */
/*
 * pprof.c: a profile.proto, gzip'd, as pprof and what reads its files take it:
 *
 *	sample_type: of each event how many samples (count) and their period (its unit)
 *	sample: a stack, the values of all events, labels; each combination of stack and labels once
 *	mapping, location, function: the code that was sampled, see below
 *	string_table, and what the recording says of itself
 *
 * Labels: comm (the thread's name at the time), thread (that and its number), pid, tid, cpu. All are texts: a number
 * that is 0 is not there in the format, and CPU 0 and process 0 are.
 *
 * Addresses are offsets in the file for what is mapped from a file: a mapping stands at its own offset, so that two
 * recordings of a program have the same locations. Texts are printable: a name is always UTF-8.
 *
 * Source: github.com/google/pprof, proto/profile.proto.
 */
#include "fmt/fmt_internal.h"
#include "fmt/protobuf.h"
#include "fmt/stack_caption.h"

#include <stdio.h>
#include <stdlib.h>

enum { PENDING_BYTES = 64 << 10 };

/* Fields of message Profile. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
};

struct pprof_event {
	const struct data_event *event;
	const struct cells *cells;
	uint64_t type, unit; /* numbers of texts: of its period */
	uint64_t n_samples, period;
};

struct pprof {
	struct table *table;
	struct output *output;
	struct gzip *gzip;
	struct str pending; /* of the file, not packed yet */
	struct str message, part, text; /* scratch: a message, one within it, a text */
	struct text_index *texts; /* the string table; 0 is "" */
	uint32_t n_texts;
	struct pprof_event *events;
	size_t n_events, cap_events;
	bool *location_used; /* by number; the last one: LOCATION_NONE */
	size_t n_locations;
};

/* The number of a text in the string table; printable: whatever it came from. */
static uint64_t pprof_text(struct pprof *p, const char *text, size_t n)
{
	uint32_t number;

	str_reset(&p->text);
	str_add_printable(&p->text, text, n);
	number = texts_intern(p->texts, p->text.s, p->text.len);
	if (number >= p->n_texts)
		p->n_texts = number + 1;
	return number;
}

static uint64_t text_of(struct pprof *p, const char *text)
{
	return pprof_text(p, text, strlen(text));
}

static void pack(struct pprof *p)
{
	gzip_add(p->gzip, p->pending.s, p->pending.len, &p->output->text);
	str_reset(&p->pending);
	output_step(p->output);
}

/* Adds p->message as a field of the profile and empties it. */
static void pprof_put(struct pprof *p, unsigned field)
{
	pb_add_bytes(&p->pending, field, p->message.s, p->message.len);
	str_reset(&p->message);
	if (p->pending.len >= PENDING_BYTES)
		pack(p);
}

/* The id of a location, which is used from then on. Never 0. */
static uint64_t pprof_location(struct pprof *p, uint32_t location)
{
	size_t at = location < p->n_locations ? location : p->n_locations;

	p->location_used[at] = true;
	return at + 1;
}

/* ---- events ---- */

/* Clocks and waits count nanoseconds; what else has a unit counts parts of it. */
static const char *unit_of(const struct data_event *event)
{
	return event_is_cpu_time(event) || event_has_waits(event) || event_has_wakers(event) ? "nanoseconds" : "count";
}

static void add_event(struct pprof *p, const struct data_event *event, const struct cells *cells)
{
	struct pprof_event *added;
	struct str name = STR_INIT;

	VEC_GROW(p->events, p->n_events, p->cap_events);
	added = &p->events[p->n_events++];
	*added = (struct pprof_event){ .event = event, .cells = cells };
	data_event_add_name(event, &name);
	added->type = pprof_text(p, name.s, name.len);
	added->unit = text_of(p, unit_of(event));
	str_release(&name);
	for (size_t i = 0; cells && i < cells->n; i++)
		if (table_takes_cell(p->table, cells, i)) {
			added->n_samples += cells->values[i].n_samples;
			added->period += cells->values[i].period;
		}
}

/* Adds the events that have samples; all of them where none has any. */
static void choose_events(struct pprof *p)
{
	const struct events *events = p->table->session->recording->events;

	for (size_t i = 0; i < p->table->n_hists; i++) {
		const struct hist *hist = &p->table->hists[i];

		for (size_t member = 0; member < hist->n_members; member++)
			if (hist->cells[member]->n)
				add_event(p, head_member(p->table, hist, member), hist->cells[member]);
	}
	for (size_t i = 0; !p->n_events && i < events->n; i++)
		add_event(p, events->v[i], NULL);
}

static void put_value_type(struct pprof *p, unsigned field, uint64_t type, uint64_t unit)
{
	pb_add_u64(&p->message, 1, type);
	pb_add_u64(&p->message, 2, unit);
	pprof_put(p, field);
}

/*
 * "samples" of the first event, which is the one that go build -pgo looks for; of each other its own name, by which
 * one is chosen.
 */
static void put_sample_types(struct pprof *p)
{
	struct str name = STR_INIT;

	for (size_t i = 0; i < p->n_events; i++) {
		struct pprof_event *event = &p->events[i];

		str_reset(&name);
		if (i)
			str_addf(&name, "%s_", texts_get(p->texts, (uint32_t)event->type));
		str_add(&name, "samples");
		put_value_type(p, PROFILE_SAMPLE_TYPE, pprof_text(p, name.s, name.len), text_of(p, "count"));
		put_value_type(p, PROFILE_SAMPLE_TYPE, event->type, event->unit);
	}
	str_release(&name);
}

/* ---- labels ---- */

enum { LABEL_COMM, LABEL_PID, LABEL_TID, LABEL_CPU, LABEL_FACTS };

static void add_label(struct pprof *p, const char *key, uint64_t text)
{
	uint64_t key_text = text_of(p, key);

	str_reset(&p->part);
	pb_add_u64(&p->part, 1, key_text);
	pb_add_u64(&p->part, 2, text);
	pb_add_bytes(&p->message, 3, p->part.s, p->part.len);
}

static void add_number_label(struct pprof *p, const char *key, long long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", number);
	add_label(p, key, text_of(p, text));
}

/* The labels of a sample, into p->message. */
static void add_labels(struct pprof *p, const uint64_t *facts)
{
	const struct session *session = p->table->session;
	uint32_t comm = (uint32_t)facts[LABEL_COMM];
	const char *name = comm < session_n_comms(session) ? session_comm(session, comm) : "";
	int32_t tid = (int32_t)facts[LABEL_TID], pid = (int32_t)facts[LABEL_PID];
	struct str thread = STR_INIT;

	if (*name)
		add_label(p, "comm", text_of(p, name));
	if (tid >= 0) {
		str_addf(&thread, "%s/%d", name, tid);
		add_label(p, "thread", pprof_text(p, thread.s, thread.len));
		add_number_label(p, "tid", tid);
	}
	if (pid >= 0)
		add_number_label(p, "pid", pid);
	if (facts[LABEL_CPU] != UINT64_MAX)
		add_number_label(p, "cpu", (long long)facts[LABEL_CPU]);
	str_release(&thread);
}

/* ---- samples ---- */

enum { KEY_STACK, KEY_LOCATION, KEY_LABELS, KEY_WORDS };

struct samples {
	struct row_set keys; /* KEY_*: of each sample */
	struct row_set labels; /* LABEL_*: each distinct set of them */
	uint64_t *values; /* of each sample, two of each event */
	size_t n, cap; /* samples */
};

static void add_cell(struct pprof *p, struct samples *samples, size_t event, size_t cell)
{
	const struct cells *cells = p->events[event].cells;
	const uint64_t stack = cell_fact(cells, cell, FACT_STACK);
	const uint64_t labels[LABEL_FACTS] = {
		[LABEL_COMM] = cell_fact(cells, cell, FACT_COMM),
		/* The number alone: no label tells apart threads that had the same one. */
		[LABEL_PID] = (uint64_t)task_names_number(cell_fact(cells, cell, FACT_PID)),
		[LABEL_TID] = (uint64_t)task_names_number(cell_fact(cells, cell, FACT_TID)),
		[LABEL_CPU] = cell_fact(cells, cell, FACT_CPU),
	};
	const uint64_t key[KEY_WORDS] = {
		[KEY_STACK] = stack,
		[KEY_LOCATION] = stack ? 0 : cell_fact(cells, cell, FACT_LOCATION),
		[KEY_LABELS] = row_set_intern(&samples->labels, labels),
	};
	size_t width = 2 * p->n_events, at = row_set_intern(&samples->keys, key);

	if (at >= samples->n) {
		if (at >= samples->cap) {
			samples->cap = samples->cap ? 2 * samples->cap : 64;
			samples->values =
				xreallocarray(samples->values, samples->cap, width * sizeof(*samples->values));
		}
		memset(samples->values + at * width, 0, width * sizeof(*samples->values));
		samples->n = at + 1;
	}
	samples->values[at * width + 2 * event] += cells->values[cell].n_samples;
	samples->values[at * width + 2 * event + 1] += cells->values[cell].period;
}

/* locations: room for the deepest stack. */
static void put_sample(struct pprof *p, const struct samples *samples, size_t i, const struct str *labels,
		       uint32_t *walked, uint64_t *locations, size_t room)
{
	const uint64_t *key = row_set_at(&samples->keys, (uint32_t)i);
	const struct stacks *stacks = p->table->session->stacks;
	size_t width = 2 * p->n_events, n = 1;

	if (key[KEY_STACK])
		n = stacks_walk(stacks, (uint32_t)key[KEY_STACK], walked, room);
	else
		walked[0] = (uint32_t)key[KEY_LOCATION];
	for (size_t k = 0; k < n; k++)
		locations[k] = pprof_location(p, walked[k]);
	pb_add_packed(&p->message, 1, locations, n);
	pb_add_packed(&p->message, 2, samples->values + i * width, width);
	str_addn(&p->message, labels->s, labels->len);
	pprof_put(p, PROFILE_SAMPLE);
}

static void put_samples(struct pprof *p, const struct samples *samples)
{
	size_t room = p->table->session->options.max_stack + 1;
	uint32_t *walked = xcalloc(room, sizeof(*walked));
	uint64_t *locations = xcalloc(room, sizeof(*locations));
	struct str *labels = xcalloc(samples->labels.n + 1, sizeof(*labels));

	for (size_t i = 0; i < samples->labels.n; i++) {
		add_labels(p, row_set_at(&samples->labels, (uint32_t)i));
		str_init(&labels[i]);
		str_addn(&labels[i], p->message.s, p->message.len);
		str_reset(&p->message);
	}
	for (size_t i = 0; i < samples->n && !p->output->failed; i++) {
		uint64_t set = row_set_at(&samples->keys, (uint32_t)i)[KEY_LABELS];

		put_sample(p, samples, i, &labels[set], walked, locations, room);
	}
	for (size_t i = 0; i < samples->labels.n; i++)
		str_release(&labels[i]);
	free(labels);
	free(walked);
	free(locations);
}

static void take_samples(struct pprof *p)
{
	struct samples samples = { 0 };

	row_set_init(&samples.keys, KEY_WORDS);
	row_set_init(&samples.labels, LABEL_FACTS);
	for (size_t event = 0; event < p->n_events; event++) {
		const struct cells *cells = p->events[event].cells;

		for (size_t i = 0; cells && i < cells->n; i++)
			if (cells->values[i].n_samples && table_takes_cell(p->table, cells, i))
				add_cell(p, &samples, event, i);
	}
	put_samples(p, &samples);
	row_set_release(&samples.keys);
	row_set_release(&samples.labels);
	free(samples.values);
}

/*
 * ---- the code ----
 *
 * For each file (dso) one mapping, for each address one location with a line for each function that was inlined
 * there, innermost first, and each function once:
 *
 *	location --> mapping (file name, build-id)
 *	         --> line, line ... --> function (name, name in the file, source file)
 *
 * A mapping is as long as the maps that its addresses were seen in. The first one is the program: of the files that
 * have a sampled thread's name the one most often met in stacks, else the one most often met at all.
 */

enum { COMM_BYTES = 15 }; /* of a thread's name, as the kernel cuts it */

struct code_mapping {
	const struct dso *dso;
	uint64_t start, end; /* in the terms of location_row.addr */
	uint64_t n_locations;
	bool functions, files, lines, is_program;
	uint64_t id;
};

struct pprof_code {
	struct pprof *p;
	struct code_mapping *mappings; /* by index of the dso */
	size_t n_mappings;
	struct row_set functions; /* symbol, number of its file's text: ids are one more */
};

static const struct location_row *row_of(const struct pprof *p, size_t location)
{
	return &p->table->session->locations->v[location];
}

static const struct frame_list *frames_of(const struct pprof *p, size_t location)
{
	uint32_t known = location < p->n_locations ? (uint32_t)location : (uint32_t)LOCATION_NONE;

	return location_frames(p->table->session, known, SYM_LINES);
}

/* ---- mappings ---- */

static bool is_named_like_thread(const struct pprof *p, const struct dso *dso)
{
	const struct session *session = p->table->session;

	for (uint32_t i = 0; dso->kind == DSO_FILE && i < session_n_comms(session); i++) {
		const char *comm = session_comm(session, i);

		if (*comm && !strncmp(comm, dso->name, COMM_BYTES))
			return true;
	}
	return false;
}

static void widen(struct code_mapping *mapping, const struct location_row *row)
{
	/* An address of a map is as far from its start in the file as it is in memory. */
	uint64_t in_map = row->ip - row->map_start;
	uint64_t start = row->addr >= in_map ? row->addr - in_map : 0, end = start + row->map_bytes;

	if (end <= row->addr)
		end = row->addr < UINT64_MAX ? row->addr + 1 : row->addr;
	if (!mapping->n_locations || start < mapping->start)
		mapping->start = start;
	if (end > mapping->end)
		mapping->end = end;
	mapping->n_locations++;
}

static void find_mappings(struct pprof_code *code)
{
	struct pprof *p = code->p;

	for (size_t i = 0; i < p->n_locations; i++) {
		const struct location_row *row = row_of(p, i);
		struct code_mapping *mapping;

		if (!p->location_used[i] || !row->dso)
			continue;
		mapping = &code->mappings[row->dso->index];
		mapping->dso = row->dso;
		widen(mapping, row);
	}
}

static int program_first(const void *pa, const void *pb)
{
	const struct code_mapping *a = *(const struct code_mapping *const *)pa;
	const struct code_mapping *b = *(const struct code_mapping *const *)pb;

	if (a->is_program != b->is_program)
		return a->is_program ? -1 : 1;
	if (a->n_locations != b->n_locations)
		return a->n_locations > b->n_locations ? -1 : 1;
	return a->dso->index < b->dso->index ? -1 : 1;
}

/* The mappings that are used, with their ids; the caller frees the array. */
static struct code_mapping **order_mappings(struct pprof_code *code, size_t *n)
{
	struct code_mapping **order = xcalloc(code->n_mappings + 1, sizeof(struct code_mapping *));

	*n = 0;
	for (size_t i = 0; i < code->n_mappings; i++) {
		if (!code->mappings[i].dso)
			continue;
		code->mappings[i].is_program = is_named_like_thread(code->p, code->mappings[i].dso);
		order[(*n)++] = &code->mappings[i];
	}
	qsort(order, *n, sizeof(struct code_mapping *), program_first);
	for (size_t i = 0; i < *n; i++)
		order[i]->id = i + 1;
	return order;
}

static void put_mapping(struct pprof *p, const struct code_mapping *mapping)
{
	const struct dso *dso = mapping->dso;
	const char *name = dso->kind == DSO_ANON || !*dso->path ? dso->name : dso->path;
	struct str id = STR_INIT;

	build_id_text(&dso->build_id, &id);
	pb_add_u64(&p->message, 1, mapping->id);
	pb_add_u64(&p->message, 2, mapping->start);
	pb_add_u64(&p->message, 3, mapping->end);
	if (dso->kind == DSO_FILE || dso->kind == DSO_VDSO)
		pb_add_u64(&p->message, 4, mapping->start);
	pb_add_u64(&p->message, 5, pprof_text(p, name, strlen(name)));
	pb_add_u64(&p->message, 6, dso->build_id.size ? pprof_text(p, id.s, id.len) : 0);
	pb_add_u64(&p->message, 7, mapping->functions);
	pb_add_u64(&p->message, 8, mapping->files);
	pb_add_u64(&p->message, 9, mapping->lines);
	/* They were looked for, and are there as far as they are known. */
	pb_add_u64(&p->message, 10, mapping->lines && !p->table->question->query.session.sym.no_inlines);
	pprof_put(p, PROFILE_MAPPING);
	str_release(&id);
}

/* ---- locations ---- */

/* A function by its symbol and source file. */
static uint64_t function_id(struct pprof_code *code, const struct frame *frame)
{
	const char *file = frame->line.file;
	const uint64_t words[] = {
		(uintptr_t)frame->symbol,
		file ? pprof_text(code->p, file, strlen(file)) : 0,
	};

	return row_set_intern(&code->functions, words) + 1ULL;
}

static void add_code_line(struct pprof_code *code, const struct frame *frame, struct code_mapping *mapping)
{
	struct pprof *p = code->p;
	uint64_t function = function_id(code, frame);

	str_reset(&p->part);
	pb_add_u64(&p->part, 1, function);
	pb_add_u64(&p->part, 2, frame->line.line);
	pb_add_bytes(&p->message, 4, p->part.s, p->part.len);
	if (!mapping)
		return;
	mapping->functions = true;
	mapping->files |= frame->line.file != NULL;
	mapping->lines |= frame->line.line != 0;
}

/* An address without a function has no line: readers show its file. */
static void put_location(struct pprof_code *code, size_t location)
{
	struct pprof *p = code->p;
	const struct location_row *row = location < p->n_locations ? row_of(p, location) : NULL;
	struct code_mapping *mapping = row && row->dso ? &code->mappings[row->dso->index] : NULL;
	const struct frame_list *frames = frames_of(p, location);

	pb_add_u64(&p->message, 1, location + 1);
	pb_add_u64(&p->message, 2, mapping ? mapping->id : 0);
	pb_add_u64(&p->message, 3, row ? row->addr : 0);
	for (size_t i = 0; i < frames->n; i++)
		if (frames->v[i].symbol || !mapping)
			add_code_line(code, &frames->v[i], mapping);
	pprof_put(p, PROFILE_LOCATION);
}

static void put_functions(struct pprof_code *code)
{
	struct pprof *p = code->p;

	for (uint32_t i = 0; i < code->functions.n; i++) {
		const uint64_t *words = row_set_at(&code->functions, i);
		const struct symbol *symbol = (const void *)(uintptr_t)words[0];
		const char *name = symbol ? symbol->name : "[unknown]";
		const char *raw = symbol && symbol->raw ? symbol->raw : name;

		pb_add_u64(&p->message, 1, i + 1ULL);
		pb_add_u64(&p->message, 2, pprof_text(p, name, strlen(name)));
		pb_add_u64(&p->message, 3, pprof_text(p, raw, strlen(raw)));
		pb_add_u64(&p->message, 4, words[1]);
		/* go build -pgo knows calls by their distance from it. */
		pb_add_u64(&p->message, 5, session_start_line(p->table->session, symbol));
		pprof_put(p, PROFILE_FUNCTION);
	}
}

static void put_code(struct pprof *p)
{
	struct pprof_code code = { .p = p, .n_mappings = p->table->session->replay.dsos.n };
	struct code_mapping **order;
	size_t n;

	code.mappings = xcalloc(code.n_mappings + 1, sizeof(*code.mappings));
	row_set_init(&code.functions, 2);
	find_mappings(&code);
	order = order_mappings(&code, &n);
	for (size_t i = 0; i <= p->n_locations && !p->output->failed; i++)
		if (p->location_used[i])
			put_location(&code, i);
	put_functions(&code);
	for (size_t i = 0; i < n; i++)
		put_mapping(p, order[i]);
	free(order);
	free(code.mappings);
	row_set_release(&code.functions);
}

/* ---- the recording ---- */

static void put_number(struct pprof *p, unsigned field, uint64_t value)
{
	pb_add_u64(&p->pending, field, value);
}

static void put_times(struct pprof *p)
{
	const struct info *info = p->table->session->recording->info;
	const struct replay *replay = &p->table->session->replay;

	if (info_has(info, FEATURE_CLOCK_DATA) && replay->first_ns)
		put_number(p, PROFILE_TIME_NANOS, info->wall_clock_ns + (replay->first_ns - info->clockid_time_ns));
	put_number(p, PROFILE_DURATION_NANOS, replay->last_ns - replay->first_ns);
}

/* The events between two samples, on average where the kernel chose them. */
static void put_period(struct pprof *p)
{
	const struct pprof_event *event = p->events;
	uint64_t period;

	if (!p->n_events)
		return;
	period = event->event->attr.freq && event->n_samples ? event->period / event->n_samples :
	       event->event->attr.freq			      ? 0 :
								event->event->attr.sample_period;
	put_value_type(p, PROFILE_PERIOD_TYPE, event->type, event->unit);
	put_number(p, PROFILE_PERIOD, period);
	/* Periods that are all 0 would show nothing. */
	put_number(p, PROFILE_DEFAULT_SAMPLE_TYPE, event->period ? event->type : text_of(p, "samples"));
}

static void put_comments(struct pprof *p)
{
	struct note_list lines = { 0 };

	stack_caption_of(p->table, "pstat " PSTAT_VERSION ": profile", &lines);
	for (size_t i = 0; i < lines.n; i++)
		pb_add_packed(&p->pending, PROFILE_COMMENT, (uint64_t[]){ text_of(p, lines.v[i].text) }, 1);
	note_list_release(&lines);
}

static void put_texts(struct pprof *p)
{
	for (uint32_t i = 0; i < p->n_texts && !p->output->failed; i++) {
		str_add(&p->message, texts_get(p->texts, i));
		pprof_put(p, PROFILE_STRING_TABLE);
	}
}

static void put_all(struct pprof *p)
{
	choose_events(p);
	put_sample_types(p);
	take_samples(p);
	put_code(p);
	put_times(p);
	put_period(p);
	put_comments(p);
	put_texts(p);
	pack(p);
	gzip_end(p->gzip, &p->output->text);
	output_step(p->output);
}

static int pprof_print(struct table *table, struct output *output)
{
	struct pprof p = { .table = table, .output = output, .texts = texts_new(), .pending = STR_INIT,
			   .message = STR_INIT, .part = STR_INIT, .text = STR_INIT,
			   .n_locations = table->session->locations->n };
	struct str why = STR_INIT;

	p.gzip = gzip_new(GZIP_FAST, &why);
	if (why.len)
		note_add(&table->notes, false, NULL, "the file is not compressed: %s", why.s);
	p.location_used = xcalloc(p.n_locations + 1, sizeof(*p.location_used));
	text_of(&p, "");
	put_all(&p);
	gzip_free(p.gzip);
	texts_free(p.texts);
	free(p.events);
	free(p.location_used);
	str_release(&p.pending);
	str_release(&p.message);
	str_release(&p.part);
	str_release(&p.text);
	str_release(&why);
	return output->failed;
}

const struct report_format format_pprof = {
	.name = "pprof",
	.needs = NEED_STACKS | NEED_TASKS,
	.print = pprof_print,
};
