/* SPDX-License-Identifier: MIT */
/*
 * firefox.c: a profile in the processed format of the Firefox profiler (profiler.firefox.com), version 57, which each
 * later one reads:
 *
 *	{ "meta": { "preprocessedProfileVersion": 57, "categories": [...], "markerSchema": [...], ... },
 *	  "threads": [ { names, "samples", "markers", tables }, ... ],
 *	  "libs": [ { "name", "path", "codeId": build-id, ... } ],
 *	  "shared": { "stringArray": [ each text once ] } }
 *
 * While the recording is read, each sample is put into its thread's row of a spill: time and stack, five bytes as a
 * rule, most of them in a temporary file. Then one thread after the other is written: its row is read once to know
 * what its tables need, and then once for each column. So memory grows with threads, distinct stacks and addresses,
 * not with samples. The tables of a thread have only what it needs:
 *
 *	stackTable: frame, prefix (the caller) --> frameTable: address, line, category
 *	    --> funcTable: name, source file --> resourceTable --> libs of the profile
 *
 * A recorded stack is one node of stackTable for each function at its address: the one that has code there, then what
 * was inlined into it. A wait (pstat record --off-cpu, --wall) is a frame of category Idle at the end of its stack,
 * from when it began. A recording of several events has a track for each thread and event. Context switches are
 * markers that last as long as the thread was off its CPU; hits of tracepoints are markers with their fields and stack,
 * beside being samples.
 *
 * Sources: github.com/firefox-devtools/profiler: src/types/profile.js, docs-developer/CHANGELOG-formats.md.
 */
#include "export/export_internal.h"

#include <stdlib.h>

enum { FORMAT_VERSION = 57, GECKO_VERSION = 31 };

/* A thread's samples of one event; the first of a thread has its markers, too. */
struct firefox_thread {
	int32_t pid, tid;
	uint32_t serial, process_serial; /* tell those apart that had one number */
	const struct data_event *event;
	uint32_t comm; /* the last name that it had in a sample */
	bool first_of_thread;
	uint64_t switched_out_ns; /* it is off its CPU since then; 0: it is not */
	bool preempted;
	struct spill_row samples; /* time, stack */
	struct spill_row markers; /* time, see enum firefox_marker; text: of a tracepoint */
};

/* The kinds of markers, and their categories' number is 0. */
enum firefox_marker { MARKER_OFF_CPU, MARKER_PREEMPTED, MARKER_TRACEPOINT };
/* Word of a sample: its stack, and enum task_state in the low two bits. */
enum { STATE_BITS = 2, N_WAIT_FRAMES = 2, CATEGORY_IDLE = 6 };
/* Word of a marker: its kind in the low two bits; else off the CPU: how long; of a tracepoint: the sample's stack. */
enum { MARKER_KIND_BITS = 2 };

/* A function: symbol, or file of an address without one; and its source file. */
struct firefox_func {
	uint32_t name, file; /* numbers of texts; file 0: not known */
	uint32_t lib; /* number of the dso's lib; UINT32_MAX: none */
};

/* The rows of a table of all threads that this thread uses: by number the local one, and a list of the numbers. */
struct firefox_used {
	uint32_t *local; /* local number + 1; 0: not used */
	size_t n_local; /* room */
	uint32_t *v; /* those that are used, in the order of their local numbers */
	size_t n, cap;
};

struct firefox {
	struct export *export; /* first: export_progress */
	struct text_out out;
	struct str scratch;
	struct sample_spill spill;
	struct firefox_thread *threads;
	size_t n_threads, cap_threads;
	struct index thread_ix; /* by serial and event */
	size_t last; /* that was looked up */
	uint64_t first_ns, last_ns;
	struct text_index *texts;
	uint32_t n_texts;
	struct row_set func_ids; /* symbol, dso, text of the file */
	struct firefox_func *funcs; /* by the number of func_ids */
	size_t n_funcs, cap_funcs;
	struct row_set libs; /* indexes of dsos, by the number of their lib */
	/* The tables of the thread that is written. */
	struct firefox_used stacks, locations, used_funcs, resources;
	/* Words of samples that waited: nodes after those of the stacks, a frame for each state after the others. */
	struct firefox_used waits;
	uint32_t first_wait, first_wait_frame; /* the first such node and frame */
	uint32_t *node_of_stack; /* local: of the first frame of a stack's location, in the stack table */
	size_t cap_node_of_stack;
	uint32_t *frame_of_location; /* likewise, in the frame table */
	size_t cap_frame_of_location;
};

/* ---- texts ---- */

static uint32_t intern_text(struct firefox *f, const char *text, size_t n)
{
	uint32_t number = texts_intern(f->texts, text, n);

	if (number >= f->n_texts)
		f->n_texts = number + 1;
	return number;
}

/* Milliseconds since the first sample, with all digits. */
static void add_ms(const struct firefox *f, struct str *out, uint64_t time_ns)
{
	uint64_t ns = time_ns >= f->first_ns ? time_ns - f->first_ns : f->first_ns - time_ns;
	char digits[7] = ".";
	uint32_t rest = (uint32_t)(ns % NS_PER_MS);

	if (time_ns < f->first_ns)
		str_addc(out, '-');
	str_add_u64(out, ns / NS_PER_MS);
	for (int i = 6; i > 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	str_addn(out, digits, sizeof(digits));
}

/* ---- while the recording is read: samples ---- */

static struct firefox_thread *add_thread(struct firefox *f, const struct thread *thread, const struct data_event *event,
					 uint64_t hash)
{
	struct firefox_thread *added;

	VEC_GROW(f->threads, f->n_threads, f->cap_threads);
	added = &f->threads[f->n_threads];
	*added = (struct firefox_thread){ .pid = thread->pid,
					  .tid = thread->tid,
					  .serial = thread->serial,
					  .process_serial = thread->process_serial,
					  .event = event,
					  .comm = thread->comm,
					  .first_of_thread = !event };
	index_add(&f->thread_ix, hash, (uint32_t)f->n_threads);
	f->last = f->n_threads++;
	return added;
}

static bool is_track(const struct firefox_thread *track, const struct thread *thread, const struct data_event *event)
{
	return track->serial == thread->serial && track->event == event && track->tid == thread->tid;
}

/* event NULL: of its markers. */
static struct firefox_thread *track_of(struct firefox *f, const struct thread *thread, const struct data_event *event)
{
	uint64_t hash;
	uint32_t i;

	if (f->n_threads && is_track(&f->threads[f->last], thread, event))
		return &f->threads[f->last];
	hash = hash_word((uint64_t)thread->serial << 32 | (event ? event->index + 1 : 0));
	if (!INDEX_FIND(&f->thread_ix, hash, i, is_track(&f->threads[i], thread, event)))
		return add_thread(f, thread, event, hash);
	f->last = i;
	return &f->threads[i];
}

static int add_tracepoint(struct firefox *f, const struct replay_sample *sample, uint32_t stack, uint64_t time_ns,
			  struct str *err)
{
	const uint64_t word = (uint64_t)stack << MARKER_KIND_BITS | MARKER_TRACEPOINT;
	struct spill_record record = { .time = time_ns, .word = word };

	str_reset(&f->scratch);
	data_event_add_name(sample->event, &f->scratch);
	str_addc(&f->scratch, '\n');
	export_trace_text(f->export, sample, &f->scratch);
	record.text = f->scratch.s;
	record.text_bytes = f->scratch.len;
	return spill_add(&f->spill, &track_of(f, sample->thread, NULL)->markers, &record, err);
}

/* Time of a sample, of a wait when it began: the profiler shows a sample from its time up to the next one's. */
static uint64_t begin_of_sample(const struct firefox_thread *track, const struct sink_sample *taken)
{
	const struct sample *sample = taken->sample->sample;
	uint64_t time_ns = sample->has & PERF_SAMPLE_TIME ? sample->time_ns : 0;

	if (export_task_state(taken->sample) == TASK_RUNNING || taken->period > time_ns)
		return time_ns;
	time_ns -= taken->period;
	return track->samples.n_records && time_ns < track->samples.last_time ? track->samples.last_time : time_ns;
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct firefox *f = context;
	const struct replay_sample *sample = taken->sample;
	struct firefox_thread *track = track_of(f, sample->thread, sample->event);
	uint64_t time_ns = begin_of_sample(track, taken);
	struct spill_record record = { .time = time_ns };
	int code;

	if (!f->first_ns || time_ns < f->first_ns)
		f->first_ns = time_ns;
	if (time_ns > f->last_ns)
		f->last_ns = time_ns;
	track->comm = sample->thread->comm;
	record.word = (uint64_t)taken->stack << STATE_BITS | export_task_state(sample);
	code = spill_add(&f->spill, &track->samples, &record, err);
	if (code || sample->event->attr.type != PERF_TYPE_TRACEPOINT)
		return code;
	return add_tracepoint(f, sample, taken->stack, time_ns, err);
}

/* ---- while the recording is read: context switches ---- */

static int take_other(void *context, const struct record *record, const struct record_body *body,
		      const struct thread *thread, struct str *err)
{
	struct firefox *f = context;
	struct firefox_thread *track;
	uint64_t out_ns, now = body->id.time_ns;
	bool preempted, taken;

	(void)record;
	if ((body->type != RECORD_SWITCH && body->type != RECORD_SWITCH_CPU_WIDE) || !thread)
		return 0;
	track = track_of(f, thread, NULL);
	out_ns = track->switched_out_ns;
	preempted = track->preempted;
	taken = filters_take_record(f->export->filters, body);
	track->switched_out_ns = taken && body->misc & MISC_SWITCH_OUT ? now : 0;
	track->preempted = body->misc & MISC_SWITCH_OUT_PREEMPT;
	if (!taken || track->switched_out_ns || !out_ns || now < out_ns)
		return 0;
	return spill_add(&f->spill, &track->markers,
			&(struct spill_record){ .time = out_ns,
					       .word = (now - out_ns) << MARKER_KIND_BITS |
						       (preempted ? MARKER_PREEMPTED : MARKER_OFF_CPU) },
			err);
}

/* JSON's readers keep numbers as doubles. */
static const uint64_t exact_max = 1ULL << 53;

struct firefox_sizes { /* of stackTable and frameTable */
	uint32_t n_nodes, n_frames;
};

/* ---- tables: what the thread needs ---- */

/* True: it was not known to this thread. */
static bool use(struct firefox_used *used, size_t number, size_t n)
{
	if (used->n_local < n) {
		n = n > 2 * used->n_local ? n : 2 * used->n_local;
		used->local = xreallocarray(used->local, n, sizeof(*used->local));
		memset(used->local + used->n_local, 0, (n - used->n_local) * sizeof(*used->local));
		used->n_local = n;
	}
	if (used->local[number])
		return false;
	VEC_GROW(used->v, used->n, used->cap);
	used->v[used->n++] = (uint32_t)number;
	used->local[number] = (uint32_t)used->n;
	return true;
}

static void forget(struct firefox_used *used)
{
	for (size_t i = 0; i < used->n; i++)
		used->local[used->v[i]] = 0;
	used->n = 0;
}

static uint32_t local_of(const struct firefox_used *used, size_t number)
{
	return used->local[number] - 1;
}

static void release_tables(struct firefox *f)
{
	struct firefox_used *const tables[] = { &f->stacks, &f->locations, &f->used_funcs, &f->resources, &f->waits };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		free(tables[i]->local);
		free(tables[i]->v);
	}
	free(f->node_of_stack);
	free(f->frame_of_location);
}

static const struct location_row *row_of(const struct firefox *f, uint32_t location)
{
	const struct locations *locations = f->export->session.locations;

	return location < locations->n ? &locations->v[location] : NULL;
}

static const struct frame_list *frames_of(struct firefox *f, uint32_t location)
{
	uint32_t known = row_of(f, location) ? location : (uint32_t)LOCATION_NONE;

	return location_frames(&f->export->session, known, SYM_LINES);
}

/* The number of a function among all, which has its texts from then on. */
static uint32_t func_of(struct firefox *f, const struct location_row *row, const struct frame *frame)
{
	const char *file = frame->line.file;
	const struct dso *dso = row ? row->dso : NULL;
	const uint64_t words[] = { (uintptr_t)frame->symbol, (uintptr_t)dso,
				   file ? intern_text(f, file, strlen(file)) : 0 };
	uint32_t number = row_set_intern(&f->func_ids, words);

	if (number < f->n_funcs)
		return number;
	str_reset(&f->scratch);
	if (frame->symbol)
		str_add(&f->scratch, frame->symbol->name);
	else
		export_add_nameless(row, &f->scratch);
	VEC_GROW(f->funcs, f->n_funcs, f->cap_funcs);
	f->funcs[f->n_funcs++] = (struct firefox_func){
		.name = intern_text(f, f->scratch.s, f->scratch.len),
		.file = (uint32_t)words[2],
		.lib = dso ? row_set_intern(&f->libs, (const uint64_t[]){ dso->index }) : UINT32_MAX,
	};
	return number;
}

/* The function that stands for a state in which a thread did not run. */
static uint32_t func_of_wait(struct firefox *f, enum task_state state)
{
	static const char *const names[] = { [TASK_WAITING] = "[waiting]", [TASK_PREEMPTED] = "[preempted]" };
	const uint64_t words[] = { state, 0, UINT64_MAX };
	uint32_t number = row_set_intern(&f->func_ids, words);

	if (number >= f->n_funcs) {
		VEC_GROW(f->funcs, f->n_funcs, f->cap_funcs);
		f->funcs[f->n_funcs++] = (struct firefox_func){
			.name = intern_text(f, names[state], strlen(names[state])), .lib = UINT32_MAX,
		};
	}
	return number;
}

/* Nodes and frames of all waits, once all samples of a thread are known. */
static void use_waits(struct firefox *f, struct firefox_sizes *sizes)
{
	f->first_wait = sizes->n_nodes;
	f->first_wait_frame = sizes->n_frames;
	if (!f->waits.n)
		return;
	sizes->n_nodes += (uint32_t)f->waits.n;
	sizes->n_frames += N_WAIT_FRAMES;
	for (enum task_state state = TASK_WAITING; state <= TASK_PREEMPTED; state++) {
		uint32_t func = func_of_wait(f, state); /* makes n_funcs grow */

		use(&f->used_funcs, func, f->n_funcs);
	}
}

/* The place of an unknown location is after all others. */
static size_t location_at(const struct firefox *f, uint32_t location)
{
	size_t n = f->export->session.locations->n;

	return location < n ? location : n;
}

static void use_location(struct firefox *f, uint32_t location, uint32_t *n_frames)
{
	const struct frame_list *frames = frames_of(f, location);

	if (!use(&f->locations, location_at(f, location), f->export->session.locations->n + 1))
		return;
	VEC_GROW(f->frame_of_location, f->locations.n - 1, f->cap_frame_of_location);
	f->frame_of_location[f->locations.n - 1] = *n_frames;
	*n_frames += (uint32_t)frames->n;
	for (size_t i = 0; i < frames->n; i++) {
		uint32_t func = func_of(f, row_of(f, location), &frames->v[i]);

		if (use(&f->used_funcs, func, f->n_funcs) && f->funcs[func].lib != UINT32_MAX)
			use(&f->resources, f->funcs[func].lib, f->libs.n);
	}
}

/* A stack and its callers, the outermost first: prefixes stand in front of what they are prefixes of. */
static void use_stack(struct firefox *f, uint32_t stack, struct firefox_sizes *sizes)
{
	const struct stacks *stacks = f->export->session.stacks;
	uint32_t *path = NULL;
	size_t n = 0, cap = 0;

	for (; stack && !(stack < f->stacks.n_local && f->stacks.local[stack]); stack = stacks->v[stack].parent) {
		VEC_GROW(path, n, cap);
		path[n++] = stack;
	}
	while (n) {
		uint32_t location = stacks->v[path[--n]].location;

		use(&f->stacks, path[n], stacks->n);
		use_location(f, location, &sizes->n_frames);
		VEC_GROW(f->node_of_stack, f->stacks.n - 1, f->cap_node_of_stack);
		f->node_of_stack[f->stacks.n - 1] = sizes->n_nodes;
		sizes->n_nodes += (uint32_t)frames_of(f, location)->n;
	}
	free(path);
}

/* Forgets the thread before; then all stacks of this one have their places. 0, or a negative errno with a sentence. */
static int use_all(struct firefox *f, const struct firefox_thread *thread, struct firefox_sizes *sizes,
		    struct str *err)
{
	struct spill_reader reader;
	struct spill_record record;
	int code;

	forget(&f->stacks);
	forget(&f->locations);
	forget(&f->used_funcs);
	forget(&f->resources);
	forget(&f->waits);
	spill_read(&reader, &f->spill, &thread->samples);
	while ((code = spill_next(&reader, &record, err)) > 0) {
		use_stack(f, (uint32_t)(record.word >> STATE_BITS), sizes);
		if (record.word & ((1 << STATE_BITS) - 1))
			use(&f->waits, record.word, f->export->session.stacks->n << STATE_BITS);
	}
	if (code)
		return code;
	spill_read(&reader, &f->spill, &thread->markers);
	while ((code = spill_next(&reader, &record, err)) > 0)
		if ((record.word & ((1 << MARKER_KIND_BITS) - 1)) == MARKER_TRACEPOINT)
			use_stack(f, (uint32_t)(record.word >> MARKER_KIND_BITS), sizes);
	use_waits(f, sizes);
	return code;
}

/* ---- tables: columns ---- */

/* "name":[ one for each of n ] */
static void add_column(struct firefox *f, const char *name, size_t n,
		       void (*add)(struct firefox *f, struct str *out, size_t i))
{
	struct str *out = &f->out.text;

	str_addf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(out, ',');
		add(f, out, i);
		text_out_step(&f->out);
	}
	str_addc(out, ']');
}

/* The same of a constant. */
static void add_same(struct firefox *f, const char *name, size_t n, const char *value)
{
	struct str *out = &f->out.text;

	str_addf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? "," : "");
		str_add(out, value);
		text_out_step(&f->out);
	}
	str_addc(out, ']');
}

static void begin_table(struct firefox *f, const char *name, size_t n)
{
	str_addf(&f->out.text, ",\n\"%s\":{\"length\":%zu", name, n);
}

static void end_table(struct firefox *f)
{
	str_addc(&f->out.text, '}');
}

/* The node of a stack that is its innermost frame; of stack 0 null. */
static void add_node(struct firefox *f, struct str *out, uint32_t stack)
{
	uint32_t local, location;

	if (!stack) {
		str_add(out, "null");
		return;
	}
	local = local_of(&f->stacks, stack);
	location = f->export->session.stacks->v[stack].location;
	str_add_u64(out, f->node_of_stack[local] + frames_of(f, location)->n - 1);
}

/* ---- stackTable, i: of the stacks that are used, then of the waits ---- */

static void add_prefixes(struct firefox *f, struct str *out, size_t i)
{
	const struct stack_node *node;
	size_t n;

	if (i >= f->stacks.n) {
		add_node(f, out, f->waits.v[i - f->stacks.n] >> STATE_BITS);
		return;
	}
	node = &f->export->session.stacks->v[f->stacks.v[i]];
	n = frames_of(f, node->location)->n;
	add_node(f, out, node->parent);
	for (size_t k = 1; k < n; k++) {
		str_addc(out, ',');
		str_add_u64(out, f->node_of_stack[i] + k - 1);
	}
}

static void add_frames(struct firefox *f, struct str *out, size_t i)
{
	const struct stack_node *node;
	uint32_t first;
	size_t n;

	if (i >= f->stacks.n) {
		const uint32_t state = f->waits.v[i - f->stacks.n] & ((1 << STATE_BITS) - 1);

		str_add_u64(out, f->first_wait_frame + state - TASK_WAITING);
		return;
	}
	node = &f->export->session.stacks->v[f->stacks.v[i]];
	first = f->frame_of_location[local_of(&f->locations, location_at(f, node->location))];
	n = frames_of(f, node->location)->n;
	for (size_t k = 0; k < n; k++) {
		str_add(out, k ? "," : "");
		str_add_u64(out, first + k);
	}
}

/* ---- frameTable, i: of the locations that are used; their frames from the outermost in; then one of each wait ---- */

static bool is_wait_frame(const struct firefox *f, size_t i)
{
	return i >= f->locations.n;
}

/* An address in its file, or from the kernel's start; of the call, not of where it returns to. */
static void add_address(const struct location_row *row, struct str *out)
{
	uint64_t addr = row ? location_own_addr(row) : exact_max;

	if (row && row->dso && row->dso->kind == DSO_KERNEL && row->dso->start && addr >= row->dso->start)
		addr -= row->dso->start;
	if (row && row->is_return && addr)
		addr--;
	if (addr >= exact_max)
		str_add(out, "-1");
	else
		str_add_u64(out, addr);
}

static void add_addresses(struct firefox *f, struct str *out, size_t i)
{
	uint32_t location;

	if (is_wait_frame(f, i)) {
		str_add(out, "-1");
		return;
	}
	location = f->locations.v[i];
	for (size_t k = 0; k < frames_of(f, location)->n; k++) {
		str_add(out, k ? "," : "");
		add_address(row_of(f, location), out);
	}
}

static void add_depths(struct firefox *f, struct str *out, size_t i)
{
	if (is_wait_frame(f, i)) {
		str_addc(out, '0');
		return;
	}
	for (size_t k = 0; k < frames_of(f, f->locations.v[i])->n; k++) {
		str_add(out, k ? "," : "");
		str_add_u64(out, k);
	}
}

/* Categories are the kinds of frames, after "Other". */
static void add_categories(struct firefox *f, struct str *out, size_t i)
{
	uint32_t location;
	const struct frame_list *frames;

	if (is_wait_frame(f, i)) {
		str_add_u64(out, CATEGORY_IDLE);
		return;
	}
	location = f->locations.v[i];
	frames = frames_of(f, location);
	for (size_t k = frames->n; k-- > 0;) {
		str_add_u64(out, 1 + (uint64_t)location_frame_kind(row_of(f, location), frames->v[k].symbol,
								      k + 1 < frames->n));
		str_add(out, k ? "," : "");
	}
}

static void add_funcs(struct firefox *f, struct str *out, size_t i)
{
	uint32_t location;
	const struct frame_list *frames;

	if (is_wait_frame(f, i)) {
		str_add_u64(out, local_of(&f->used_funcs, func_of_wait(f, TASK_WAITING + (i - f->locations.n))));
		return;
	}
	location = f->locations.v[i];
	frames = frames_of(f, location);
	for (size_t k = frames->n; k-- > 0;) {
		str_add_u64(out, local_of(&f->used_funcs, func_of(f, row_of(f, location), &frames->v[k])));
		str_add(out, k ? "," : "");
	}
}

static void add_lines(struct firefox *f, struct str *out, size_t i)
{
	const struct frame_list *frames;

	if (is_wait_frame(f, i)) {
		str_add(out, "null");
		return;
	}
	frames = frames_of(f, f->locations.v[i]);
	for (size_t k = frames->n; k-- > 0;) {
		if (frames->v[k].line.line)
			str_add_u64(out, frames->v[k].line.line);
		else
			str_add(out, "null");
		str_add(out, k ? "," : "");
	}
}

/* ---- funcTable, resourceTable ---- */

static const struct firefox_func *used_func(const struct firefox *f, size_t i)
{
	return &f->funcs[f->used_funcs.v[i]];
}

static void add_func_name(struct firefox *f, struct str *out, size_t i)
{
	str_add_u64(out, used_func(f, i)->name);
}

static void add_func_file(struct firefox *f, struct str *out, size_t i)
{
	if (used_func(f, i)->file)
		str_add_u64(out, used_func(f, i)->file);
	else
		str_add(out, "null");
}

static void add_func_resource(struct firefox *f, struct str *out, size_t i)
{
	uint32_t lib = used_func(f, i)->lib;

	if (lib == UINT32_MAX)
		str_add(out, "-1");
	else
		str_add_u64(out, local_of(&f->resources, lib));
}

static void add_resource_lib(struct firefox *f, struct str *out, size_t i)
{
	str_add_u64(out, f->resources.v[i]);
}

static void add_resource_name(struct firefox *f, struct str *out, size_t i)
{
	uint64_t dso = *row_set_at(&f->libs, f->resources.v[i]);
	const char *name = f->export->session.replay.dsos.v[dso]->name;

	str_add_u64(out, intern_text(f, name, strlen(name)));
}

static void add_tables(struct firefox *f, const struct firefox_sizes *sizes)
{
	const size_t n_stacks = f->stacks.n + f->waits.n;
	const size_t n_locations = f->locations.n + (f->waits.n ? N_WAIT_FRAMES : 0);

	begin_table(f, "stackTable", sizes->n_nodes);
	add_column(f, "prefix", n_stacks, add_prefixes);
	add_column(f, "frame", n_stacks, add_frames);
	end_table(f);
	begin_table(f, "frameTable", sizes->n_frames);
	add_column(f, "address", n_locations, add_addresses);
	add_column(f, "inlineDepth", n_locations, add_depths);
	add_column(f, "category", n_locations, add_categories);
	add_same(f, "subcategory", sizes->n_frames, "0");
	add_column(f, "func", n_locations, add_funcs);
	add_same(f, "nativeSymbol", sizes->n_frames, "null");
	add_same(f, "innerWindowID", sizes->n_frames, "null");
	add_column(f, "line", n_locations, add_lines);
	add_same(f, "column", sizes->n_frames, "null");
	end_table(f);
	begin_table(f, "funcTable", f->used_funcs.n);
	add_column(f, "name", f->used_funcs.n, add_func_name);
	add_same(f, "isJS", f->used_funcs.n, "false");
	add_same(f, "relevantForJS", f->used_funcs.n, "false");
	add_column(f, "resource", f->used_funcs.n, add_func_resource);
	add_column(f, "fileName", f->used_funcs.n, add_func_file);
	add_same(f, "lineNumber", f->used_funcs.n, "null");
	add_same(f, "columnNumber", f->used_funcs.n, "null");
	end_table(f);
	begin_table(f, "resourceTable", f->resources.n);
	add_column(f, "lib", f->resources.n, add_resource_lib);
	add_column(f, "name", f->resources.n, add_resource_name);
	add_same(f, "host", f->resources.n, "null");
	add_same(f, "type", f->resources.n, "1");
	end_table(f);
	str_add(&f->out.text, ",\n\"nativeSymbols\":"
			      "{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}");
}

/* ---- a thread: samples ---- */

/* A column of a row of the spill. */
static int add_row_column(struct firefox *f, const char *name, const struct spill_row *row,
			  void (*add)(struct firefox *f, struct str *out, const struct spill_record *record),
			  struct str *err)
{
	struct str *out = &f->out.text;
	struct spill_reader reader;
	struct spill_record record;
	bool any = false;
	int code;

	str_addf(out, ",\"%s\":[", name);
	spill_read(&reader, &f->spill, row);
	while ((code = spill_next(&reader, &record, err)) > 0 && !text_out_step(&f->out)) {
		if (any)
			str_addc(out, ',');
		any = true;
		add(f, out, &record);
	}
	str_addc(out, ']');
	return code < 0 ? code : 0;
}

static void add_stack(struct firefox *f, struct str *out, const struct spill_record *record)
{
	if (record->word & ((1 << STATE_BITS) - 1))
		str_add_u64(out, f->first_wait + local_of(&f->waits, record->word));
	else
		add_node(f, out, (uint32_t)(record->word >> STATE_BITS));
}

static void add_time(struct firefox *f, struct str *out, const struct spill_record *record)
{
	add_ms(f, out, record->time);
}

static int add_samples(struct firefox *f, const struct spill_row *row, struct str *err)
{
	int code;

	begin_table(f, "samples", row->n_records);
	str_add(&f->out.text, ",\"weight\":null,\"weightType\":\"samples\"");
	code = add_row_column(f, "stack", row, add_stack, err);
	if (!code)
		code = add_row_column(f, "time", row, add_time, err);
	end_table(f);
	return code;
}

/* ---- a thread: markers ---- */

static enum firefox_marker kind_of(const struct spill_record *record)
{
	return record->word & ((1 << MARKER_KIND_BITS) - 1);
}

/* The event of a tracepoint's text is its first line. */
static size_t event_bytes(const struct spill_record *record)
{
	const char *end = memchr(record->text, '\n', record->text_bytes);

	return end ? (size_t)(end - record->text) : record->text_bytes;
}

static void add_marker_name(struct firefox *f, struct str *out, const struct spill_record *record)
{
	if (kind_of(record) == MARKER_TRACEPOINT)
		str_add_u64(out, intern_text(f, record->text, event_bytes(record)));
	else
		str_add_u64(out, intern_text(f, "off CPU", 7));
}

static void add_marker_end(struct firefox *f, struct str *out, const struct spill_record *record)
{
	if (kind_of(record) == MARKER_TRACEPOINT)
		str_add(out, "null");
	else
		add_ms(f, out, record->time + (record->word >> MARKER_KIND_BITS));
}

/* 0: at a moment; 1: from a start to an end. */
static void add_marker_phase(struct firefox *f, struct str *out, const struct spill_record *record)
{
	(void)f;
	str_addc(out, kind_of(record) == MARKER_TRACEPOINT ? '0' : '1');
}

static void add_marker_category(struct firefox *f, struct str *out, const struct spill_record *record)
{
	(void)f, (void)record;
	str_addc(out, '0');
}

static void add_marker_data(struct firefox *f, struct str *out, const struct spill_record *record)
{
	uint32_t stack = (uint32_t)(record->word >> MARKER_KIND_BITS);
	size_t n = event_bytes(record);

	if (kind_of(record) != MARKER_TRACEPOINT) {
		str_addf(out, "{\"type\":\"off-cpu\",\"why\":\"%s\"}",
			 kind_of(record) == MARKER_PREEMPTED ? "preempted" : "waits");
		return;
	}
	str_reset(&f->scratch);
	if (n < record->text_bytes)
		str_addn(&f->scratch, record->text + n + 1, record->text_bytes - n - 1);
	str_add(out, "{\"type\":\"tracepoint\",\"fields\":");
	str_add_json(out, f->scratch.s);
	if (stack) {
		str_add(out, ",\"cause\":{\"time\":");
		add_ms(f, out, record->time);
		str_add(out, ",\"stack\":");
		add_node(f, out, stack);
		str_addc(out, '}');
	}
	str_addc(out, '}');
}

static int add_markers(struct firefox *f, const struct spill_row *row, struct str *err)
{
	static const struct {
		const char *name;
		void (*add)(struct firefox *f, struct str *out, const struct spill_record *record);
	} columns[] = {
		{ "name", add_marker_name },   { "startTime", add_time },	    { "endTime", add_marker_end },
		{ "phase", add_marker_phase }, { "category", add_marker_category }, { "data", add_marker_data },
	};
	int code = 0;

	begin_table(f, "markers", row->n_records);
	for (size_t i = 0; i < ARRAY_SIZE(columns) && !code; i++)
		code = add_row_column(f, columns[i].name, row, columns[i].add, err);
	end_table(f);
	return code;
}

/* ---- a thread: the whole ---- */

static const char *comm_of(const struct firefox *f, uint32_t comm)
{
	return comm < session_n_comms(&f->export->session) ? session_comm(&f->export->session, comm) : "";
}

static void add_names(struct firefox *f, const struct firefox_thread *thread)
{
	struct str *out = &f->out.text, event = STR_INIT;
	const char *comm = comm_of(f, thread->comm);

	str_reset(&f->scratch);
	str_add_printable(&f->scratch, comm, strlen(comm));
	if (!thread->first_of_thread) {
		data_event_add_name(thread->event, &event);
		str_addf(&f->scratch, " (%s)", event.s);
	}
	str_add(out, "{\"name\":");
	str_add_json(out, f->scratch.s);
	/* Numbers of tracks differ. */
	str_addf(out, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":",
		 thread->pid == thread->tid && thread->first_of_thread ? "true" : "false", thread->pid);
	str_reset(&f->scratch);
	str_addf(&f->scratch, "%d%s%s", thread->tid, event.len ? " " : "", event.s);
	str_add_json(out, f->scratch.s);
	str_release(&event);
}

static int add_thread_object(struct firefox *f, const struct firefox_thread *thread, struct str *err)
{
	struct firefox_sizes sizes = { 0 };
	int code = use_all(f, thread, &sizes, err);

	add_names(f, thread);
	str_add(&f->out.text, ",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
			      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[]");
	if (!code)
		code = add_samples(f, &thread->samples, err);
	if (!code)
		code = add_markers(f, &thread->markers, err);
	if (!code)
		add_tables(f, &sizes);
	str_addc(&f->out.text, '}');
	text_out_step(&f->out);
	return code;
}

/* ---- around the threads ---- */

/* Time between two samples of a thread that runs, in ns: as it was asked for, else as it was on average. */
static uint64_t interval_ns(const struct firefox *f)
{
	uint64_t least = 0, most = 1;

	for (size_t i = 0; i < f->n_threads; i++) {
		const struct data_event *event = f->threads[i].event;
		uint64_t asked = !event ? 0 : event->attr.freq && event->attr.sample_freq ?
				 NS_PER_S / event->attr.sample_freq :
				 event_is_cpu_time(event) ? event->attr.sample_period : 0;

		if (asked && (!least || asked < least))
			least = asked;
		if (f->threads[i].samples.n_records > most)
			most = f->threads[i].samples.n_records;
	}
	least = least ? least : (f->last_ns - f->first_ns) / most;
	return least ? least : 1;
}

static void add_meta(struct firefox *f)
{
	static const char *const categories[] = {
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"Inlined\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"Unknown\",\"color\":\"darkgrey\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}",
		[CATEGORY_IDLE] = "{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}",
	};
	const struct info *info = f->export->session.recording->info;
	uint64_t wall_ns = export_wall_ns(&f->export->session, f->first_ns);
	struct str *out = &f->out.text, command = STR_INIT;

	str_add(out, "{\"meta\":{\"interval\":");
	add_ms(f, out, f->first_ns + interval_ns(f));
	str_add(out, ",\"startTime\":");
	str_add_u64(out, wall_ns / NS_PER_MS);
	str_addf(out, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	add_ms(f, out, f->last_ns);
	str_addf(out, ",\"processType\":0,\"product\":\"pstat %s\",\"importedFrom\":\"pstat\",\"stackwalk\":1,"
		 "\"debug\":false,\"version\":%d,\"preprocessedProfileVersion\":%d,\"symbolicated\":true,"
		 "\"usesOnlyOneStackType\":true,"
		 "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,"
		 "\"platform\":\"X11\",\"arguments\":",
		 PSTAT_VERSION, GECKO_VERSION, FORMAT_VERSION);
	export_add_command(f->export, &command);
	str_add_json(out, command.s);
	str_release(&command);
	str_add(out, ",\"oscpu\":");
	str_add_json(out, info->arch ? info->arch : "");
	str_add(out, ",\"CPUName\":");
	str_add_json(out, info->cpu_desc ? info->cpu_desc : "");
	str_add(out, ",\n\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n"
		     "\"categories\":[");
	for (size_t i = 0; i < ARRAY_SIZE(categories); i++)
		str_addf(out, "%s%s", i ? ",\n" : "", categories[i]);
	str_add(out, "],\n\"markerSchema\":["
		     "{\"name\":\"off-cpu\",\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.why}\","
		     "\"display\":[\"marker-chart\",\"marker-table\"],"
		     "\"fields\":[{\"key\":\"why\",\"label\":\"Why\",\"format\":\"string\"}]},\n"
		     "{\"name\":\"tracepoint\",\"tooltipLabel\":\"{marker.name}\","
		     "\"tableLabel\":\"{marker.data.fields}\","
		     "\"display\":[\"marker-chart\",\"marker-table\"],"
		     "\"fields\":[{\"key\":\"fields\",\"label\":\"Fields\",\"format\":\"string\"}]}]},\n");
}

/* The 16 first bytes of the build-id as a GUID: its first three numbers are little-endian. */
static void add_breakpad_id(const struct build_id *id, struct str *out)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	if (!id->size)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		str_addf(out, "%02X", order[i] < id->size ? id->bytes[order[i]] : 0);
	str_addc(out, '0');
}

static void add_lib(struct firefox *f, const struct dso *dso)
{
	const struct info *info = f->export->session.recording->info;
	const char *path = dso->kind == DSO_ANON || !*dso->path ? dso->name : dso->path;
	struct str *out = &f->out.text, id = STR_INIT;

	str_add(out, "{\"arch\":");
	str_add_json(out, info->arch ? info->arch : "");
	str_add(out, ",\"name\":");
	str_add_json(out, dso->name);
	str_add(out, ",\"path\":");
	str_add_json(out, path);
	str_add(out, ",\"debugName\":");
	str_add_json(out, dso->name);
	str_add(out, ",\"debugPath\":");
	str_add_json(out, path);
	str_add(out, ",\"breakpadId\":\"");
	add_breakpad_id(&dso->build_id, out);
	str_add(out, "\",\"codeId\":");
	build_id_text(&dso->build_id, &id);
	if (dso->build_id.size)
		str_add_json(out, id.s);
	else
		str_add(out, "null");
	str_addc(out, '}');
	str_release(&id);
}

static void add_shared(struct firefox *f)
{
	struct str *out = &f->out.text;

	str_add(out, "],\n\"libs\":[");
	for (uint32_t i = 0; i < f->libs.n; i++) {
		str_add(out, i ? ",\n" : "");
		add_lib(f, f->export->session.replay.dsos.v[*row_set_at(&f->libs, i)]);
		text_out_step(&f->out);
	}
	str_add(out, "],\n\"shared\":{\"stringArray\":[");
	for (uint32_t i = 0; i < f->n_texts; i++) {
		str_add(out, i ? ",\n" : "");
		str_add_json(out, texts_get(f->texts, i));
		text_out_step(&f->out);
	}
	str_add(out, "]}}\n");
}

/* Threads of a process together, the first thread first; events of a thread together. */
static int in_order(const void *pa, const void *pb)
{
	const struct firefox_thread *a = pa, *b = pb;

	if (a->process_serial != b->process_serial)
		return a->process_serial < b->process_serial ? -1 : 1;
	if (a->serial != b->serial)
		return a->serial < b->serial ? -1 : 1;
	if (!a->event != !b->event)
		return a->event ? 1 : -1;
	return a->event && a->event->index != b->event->index ? (a->event->index < b->event->index ? -1 : 1) : 0;
}

/* A thread's markers go to its first track with samples; threads without any are left out. */
static void give_markers(struct firefox *f)
{
	struct firefox_thread *markers = NULL;

	if (f->n_threads)
		qsort(f->threads, f->n_threads, sizeof(*f->threads), in_order);
	for (size_t i = 0; i < f->n_threads; i++) {
		struct firefox_thread *track = &f->threads[i];
		bool same = i && f->threads[i - 1].serial == track->serial;

		if (!track->event) {
			markers = track;
			continue;
		}
		track->first_of_thread = !same || !f->threads[i - 1].event;
		if (!track->first_of_thread || !markers || markers->serial != track->serial)
			continue;
		track->markers = markers->markers;
		markers->markers = (struct spill_row){ 0 };
	}
}

static int write_profile(struct firefox *f, struct str *err)
{
	int code = 0;
	bool any = false;

	give_markers(f);
	add_meta(f);
	str_add(&f->out.text, "\"threads\":[");
	for (size_t i = 0; i < f->n_threads && !code && !f->out.output->failed; i++) {
		if (!f->threads[i].event)
			continue;
		str_add(&f->out.text, any ? ",\n" : "\n");
		any = true;
		code = add_thread_object(f, &f->threads[i], err);
	}
	add_shared(f);
	return code;
}

static void release(struct firefox *f)
{
	for (size_t i = 0; i < f->n_threads; i++) {
		spill_row_release(&f->threads[i].samples);
		spill_row_release(&f->threads[i].markers);
	}
	free(f->threads);
	index_release(&f->thread_ix);
	spill_release(&f->spill);
	texts_free(f->texts);
	row_set_release(&f->func_ids);
	row_set_release(&f->libs);
	free(f->funcs);
	release_tables(f);
	str_release(&f->scratch);
}

static int run_firefox(struct export *export, struct output *output, bool gzip, struct str *err)
{
	struct firefox f = { .export = export, .scratch = STR_INIT, .texts = texts_new() };
	const struct sample_sink sink = {
		.context = &f,
		.locations_max = SIZE_MAX,
		.wants = export_wants,
		.sample = take_sample,
		.other = take_other,
		.progress = export_progress,
	};
	struct str why = STR_INIT;
	int code, written;

	spill_init(&f.spill);
	row_set_init(&f.func_ids, 3);
	row_set_init(&f.libs, 1);
	intern_text(&f, "", 0);
	code = export_run(export, &sink, err);
	text_out_init(&f.out, output, gzip, &why);
	if (why.len)
		note_add(&export->session.notes, false, NULL, "the file is not compressed: %s", why.s);
	/* The profile has what could be read, also where reading had to end early. */
	written = write_profile(&f, code ? &why : err);
	text_out_end(&f.out);
	release(&f);
	str_release(&why);
	return code ? code : written ? written : output->failed;
}

const struct export_text_format export_firefox = { "firefox", run_firefox };
