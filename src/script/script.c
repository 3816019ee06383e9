/* SPDX-License-Identifier: MIT */
/*
 * script: a sink that prints. Each sample goes to the writer of its format, and text is handed on in pieces. What
 * is remembered is bounded (see profile.h: struct sample_sink; texts of frames here), so memory depends neither
 * on how many samples there are nor on how many distinct addresses they have.
 *
 * Records between the samples (--show-task-events and others) are printed as lines that begin like a sample's.
 * Counts that pstat stat record and perf stat record have stored are those since a counter's start. What was counted
 * since the round before is kept until the end of the round and then printed with its time, event by event, and of
 * each thread by CPU. Where the recording was made to show all in one, perf's text has counts as they are stored, and
 * so has ours:
 *
 *   THREAD_MAP... CPU_MAP   STAT STAT STAT STAT_ROUND   STAT STAT STAT STAT_ROUND ...
 */
#include "script/script_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { TEXTS_MAX_BYTES = 16 << 20, COUNTS_MAX = 1 << 24 };

/* ---- stored counts ---- */

static int compare_cells(const void *a, const void *b)
{
	const struct script_count *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* The list goes on in each record. */
static void take_threads(struct script_counts *counts, const struct record_threads *threads)
{
	for (uint64_t i = 0; i < threads->n; i++) {
		VEC_GROW(counts->pids, counts->n_pids, counts->cap_pids);
		counts->pids[counts->n_pids++] = (int32_t)record_threads_get(threads, i).pid;
	}
}

/* The last count of the same counter; one that is new has counted nothing. */
static struct script_count *last_of(struct script_counts *counts, const struct script_count *count)
{
	const uint64_t words[] = { count->event, (uint64_t)count->thread << 32 | (uint32_t)count->cpu };
	uint64_t hash = hash_words(words, ARRAY_SIZE(words));
	uint32_t i;

	if (INDEX_FIND(&counts->by_counter, hash, i, !compare_cells(&counts->last[i], count)))
		return &counts->last[i];
	VEC_GROW(counts->last, counts->n_last, counts->cap_last);
	index_add(&counts->by_counter, hash, (uint32_t)counts->n_last);
	counts->last[counts->n_last] = (struct script_count){
		.event = count->event, .thread = count->thread, .cpu = count->cpu,
	};
	return &counts->last[counts->n_last++];
}

/* Subtracts the counter's last count, which this one becomes; a counter may have begun anew. */
static struct script_count since_last(struct script_counts *counts, const struct script_count *count)
{
	struct script_count *last = last_of(counts, count), since = *count;

	if (count->value >= last->value && count->enabled_ns >= last->enabled_ns &&
	    count->running_ns >= last->running_ns) {
		since.value -= last->value;
		since.enabled_ns -= last->enabled_ns;
		since.running_ns -= last->running_ns;
	}
	*last = *count;
	return since;
}

static void take_count(struct script *script, const struct record_body *body)
{
	const struct data_event *event = events_find(script->session.recording->events, body->stat.id);
	struct script_counts *counts = &script->counts;
	struct script_count count;

	if (!event || counts->n >= COUNTS_MAX || counts->n_last >= COUNTS_MAX)
		return;
	count = (struct script_count){
		.event = (uint32_t)event->index,
		.thread = body->stat.thread,
		.cpu = (int32_t)body->stat.cpu,
		.value = body->stat.value,
		.enabled_ns = body->stat.enabled_ns,
		.running_ns = body->stat.running_ns,
	};
	VEC_GROW(counts->v, counts->n, counts->cap);
	counts->v[counts->n++] = counts->total && !script->python ? count : since_last(counts, &count);
}

/* The numbers of STAT_CONFIG: tools/lib/perf/include/perf/event.h. */
enum { CONFIG_AGGR_MODE = 0, CONFIG_AGGR_TOTAL = 1 };

static void take_config(struct script_counts *counts, const struct record_words *rows)
{
	for (uint64_t i = 0; i < rows->n; i++)
		if (rows->v[2 * i] == CONFIG_AGGR_MODE)
			counts->total = rows->v[2 * i + 1] == CONFIG_AGGR_TOTAL;
}

static int32_t pid_of(const struct script_counts *counts, const struct script_count *count)
{
	return count->thread < counts->n_pids ? counts->pids[count->thread] : -1;
}

static void print_count(const struct script *script, const struct script_count *count, uint64_t time_ns)
{
	const char *format = script->options.json ?
				     "{\"record\":\"STAT\",\"cpu\":%d,\"thread\":%d,\"value\":%llu,\"enabled_ns\":%llu,"
				     "\"running_ns\":%llu,\"time_ns\":%llu,\"event\":" :
				     "%3d %8d %15llu %15llu %15llu %15llu ";
	struct str *out = &script->output->text, name = STR_INIT;

	data_event_add_name(script->session.recording->events->v[count->event], &name);
	str_addf(out, format, count->cpu, pid_of(&script->counts, count), (unsigned long long)count->value,
		 (unsigned long long)count->enabled_ns, (unsigned long long)count->running_ns,
		 (unsigned long long)time_ns);
	if (script->options.json) {
		str_add_json(out, name.s);
		str_addc(out, '}');
	} else {
		str_addn(out, name.s, name.len);
	}
	str_addc(out, '\n');
	str_release(&name);
}

static void print_round(struct script *script, uint64_t time_ns)
{
	struct script_counts *counts = &script->counts;

	if (!counts->n)
		return;
	if (!counts->header_printed && !script->options.json)
		str_addf(&script->output->text, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
			 "RUN", "TIME", "EVENT");
	counts->header_printed = true;
	for (size_t i = 0; i < counts->n; i++)
		print_count(script, &counts->v[i], time_ns);
}

/* The count at *i, and *i goes on; of all CPUs and threads in one where the recording was made to show them so. */
static struct script_count next_count(const struct script_counts *counts, size_t *i)
{
	struct script_count count = counts->v[(*i)++];

	if (!counts->total)
		return count;
	count.cpu = -1;
	count.thread = UINT32_MAX;
	for (; *i < counts->n && counts->v[*i].event == count.event; ++*i) {
		count.value += counts->v[*i].value;
		count.enabled_ns += counts->v[*i].enabled_ns;
		count.running_ns += counts->v[*i].running_ns;
	}
	return count;
}

static int call_round(struct script *script, uint64_t time_ns)
{
	const struct script_counts *counts = &script->counts;
	int rc = 0;

	for (size_t i = 0; i < counts->n && !rc;) {
		struct script_count count = next_count(counts, &i);

		rc = script_python_count(script, &count, pid_of(counts, &count), time_ns);
	}
	return rc ? rc : script_python_round(script, time_ns);
}

static int end_round(struct script *script, uint64_t time_ns)
{
	struct script_counts *counts = &script->counts;
	int rc = 0;

	if (counts->n)
		qsort(counts->v, counts->n, sizeof(*counts->v), compare_cells);
	if (script->python)
		rc = call_round(script, time_ns);
	else
		print_round(script, time_ns);
	counts->n = 0;
	return rc;
}

/*
 * Keeps a count that pstat stat record stored, and hands all on when their round ends; *rc: as of the sink. False: it
 * is another record.
 */
static bool take_counts(struct script *script, const struct record_body *body, int *rc)
{
	switch (body->type) {
	case RECORD_STAT_CONFIG:
		take_config(&script->counts, &body->stat_config);
		return true;
	case RECORD_THREAD_MAP:
		take_threads(&script->counts, &body->threads);
		return true;
	case RECORD_STAT:
		take_count(script, body);
		return true;
	case RECORD_STAT_ROUND:
		*rc = end_round(script, body->stat_round.time_ns);
		return true;
	default:
		return false;
	}
}

static void release_counts(struct script_counts *counts)
{
	free(counts->v);
	free(counts->last);
	index_release(&counts->by_counter);
	free(counts->pids);
	*counts = (struct script_counts){ 0 };
}

/* ---- other records ---- */

/* Which switch shows which record. To add one: a row, a field of struct script_options, its option. */
static const struct {
	uint32_t type;
	size_t shown; /* offset of the bool in struct script_options */
} kinds[] = {
#define SHOWN(type, option) { type, offsetof(struct script_options, option) }
	SHOWN(RECORD_FORK, show_tasks),
	SHOWN(RECORD_COMM, show_tasks),
	SHOWN(RECORD_EXIT, show_tasks),
	SHOWN(RECORD_MMAP, show_mmaps),
	SHOWN(RECORD_MMAP2, show_mmaps),
	SHOWN(RECORD_SWITCH, show_switches),
	SHOWN(RECORD_SWITCH_CPU_WIDE, show_switches),
	SHOWN(RECORD_LOST, show_lost),
	SHOWN(RECORD_LOST_SAMPLES, show_lost),
	SHOWN(RECORD_NAMESPACES, show_namespaces),
	SHOWN(RECORD_CGROUP, show_cgroups),
	SHOWN(RECORD_KSYMBOL, show_bpf),
	SHOWN(RECORD_BPF_EVENT, show_bpf),
	SHOWN(RECORD_TEXT_POKE, show_text_poke),
	SHOWN(RECORD_FINISHED_ROUND, show_rounds),
};

static bool shows_others(const struct script_options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (*(const bool *)((const char *)options + kinds[i].shown))
			return true;
	return false;
}

static bool is_shown(const struct script_options *options, uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return *(const bool *)((const char *)options + kinds[i].shown);
	return false;
}

/* The event whose fields a record's line has: its own, or the first one. */
static const struct script_event *event_of(const struct script *script, const struct record_body *body)
{
	size_t i = body->event ? body->event->index : 0;

	return i < script->n_events ? &script->events[i] : NULL;
}

/* -EIO with a sentence: an event's own output can't be had. */
static int choose_output(struct script *script, const struct data_event *event, bool is_sample, struct str *err)
{
	const struct script_outputs *outputs = script->options.outputs;

	if (outputs)
		script->output = outputs->of(outputs->context, event, is_sample, err);
	return script->output ? 0 : -EIO;
}

static void print_other(struct script *script, const struct record *record, const struct record_body *body,
			 const struct thread *thread)
{
	const struct script_event *event = event_of(script, body);
	struct script_start start = {
		.thread = thread,
		.pid = (int32_t)body->id.pid,
		.tid = (int32_t)body->id.tid,
		.cpu = body->id.cpu,
		.time_ns = body->id.time_ns,
		.has = body->id.has,
		.misc = record->misc,
		.type = record->type,
	};

	if (!event || !is_shown(&script->options, record->type))
		return;
	if (script->options.json) {
		script_json_record(script, &start, body);
		return;
	}
	if (record->type < RECORD_USER_FIRST) /* the recorder's own are of no thread */
		script_add_start(script, event, &start);
	record_print(body, &script->output->text);
	str_addc(&script->output->text, '\n');
}

/* ---- begin and end ---- */

/* Are addresses of data to be named? */
static bool needs_data_maps(const struct script *script)
{
	const struct events *events = script->session.recording->events;

	for (size_t i = 0; i < SCRIPT_TYPES; i++)
		if (script->choice.asked[i] & FIELD_BIT(FIELD_ADDR))
			return true;
	for (size_t i = 0; i < events->n; i++)
		if ((script->options.json && (events->v[i]->attr.sample_type & PERF_SAMPLE_ADDR)) ||
		    script_tables_wants_addresses(script->tables, events->v[i]))
			return true;
	return false;
}

int script_new(struct script **result, const struct script_options *options, struct reader *reader,
	       struct str *err)
{
	struct script *script = xcalloc(1, sizeof(*script));
	int rc;

	script->options = *options;
	str_init(&script->scratch);
	str_init(&script->comm);
	str_init(&script->stops.bytes);
	*result = script;
	rc = session_init(&script->session, reader, &options->session, err);
	if (!rc)
		rc = filters_new(&script->filters, &options->filters, &script->session, err);
	if (!rc && options->stop_bt)
		rc = name_set_parse(&script->stops, "--stop-bt", options->stop_bt, err);
	if (!rc)
		rc = script_read_choice(&script->choice, options->fields, err);
	if (options->python)
		script_python_new(script);
	/* A pipe's events come later, and its fields are chosen then. */
	else if (!rc && !reader->pipe)
		rc = script_choose_fields(script, err);
	if (!rc)
		script->session.replay.options.data_maps |= needs_data_maps(script);
	/* Rounds have no time: they stand between records only in the order of the file. */
	script->session.replay.options.file_order |= options->show_rounds;
	return rc;
}

static void forget_events(struct script *script)
{
	for (size_t i = 0; i < script->n_events; i++)
		free(script->events[i].name);
	free(script->events);
	script_release_styles(script);
	release_counts(&script->counts);
	script->events = NULL;
	script->n_events = 0;
}

void script_free(struct script *script)
{
	if (!script)
		return;
	forget_events(script);
	script_python_free(script->python);
	script_tables_free(script->tables);
	tracepoints_free(script->tracepoints);
	filters_free(script->filters);
	name_set_release(&script->stops);
	script_release_code(script);
	session_release(&script->session);
	arena_release(&script->texts);
	str_release(&script->scratch);
	str_release(&script->comm);
	free(script);
}

struct session *script_session(struct script *script)
{
	return &script->session;
}

struct tracepoints *script_tracepoints(struct script *script)
{
	struct str why = STR_INIT;

	if (script->tracepoints_tried)
		return script->tracepoints;
	script->tracepoints_tried = true;
	script->tracepoints = tracepoints_new(script->session.recording, &why);
	if (script->tracepoints)
		tracepoints_name_functions(script->tracepoints, session_function, &script->session);
	else
		note_add(&script->session.notes, false, NULL, "fields of tracepoints: %s", why.s);
	str_release(&why);
	return script->tracepoints;
}

/* ---- the sink ---- */

/* Once, in front of all else: in a pipe what the header says has come by then. */
static void print_header(struct script *script)
{
	if (script->options.header && !script->header_printed)
		reader_print_header(script->session.reader, script->options.full_header,
				    &script->output->text);
	script->header_printed = true;
}

/* Events of a pipe are known when their records have gone by, and their names a little later. */
static int know_event(struct script *script, size_t index, bool is_sample, struct str *err)
{
	bool named = !script->session.reader->pipe || script->events_named;

	script->events_named |= is_sample;
	if (index < script->n_events && (named || !is_sample))
		return 0;
	forget_events(script);
	return script_choose_fields(script, err);
}

/* A pipe has more to say in front of the first record. */
static int begin(void *context, struct str *err)
{
	struct script *script = context;

	(void)err;
	if (script->python)
		script_python_begin(script);
	else if (!script->session.reader->pipe)
		print_header(script);
	return 0;
}

static int wants(void *context, const struct data_event *event, unsigned *wanted, struct str *err)
{
	struct script *script = context;
	const struct script_event *fields;
	int rc;

	if (script->python) {
		*wanted |= script_python_wants(script, event);
		return 0;
	}
	rc = know_event(script, event->index, true, err);
	if (rc)
		return rc;
	fields = &script->events[event->index];
	if (fields->fields)
		*wanted |= SAMPLE_TAKEN;
	if (fields->chain)
		*wanted |= SAMPLE_CHAIN;
	if (script->options.json || (script_prints(fields, FIELD_IP) && !fields->chain))
		*wanted |= SAMPLE_IP;
	return 0;
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct script *script = context;
	const struct replay_sample *sample = taken->sample;
	const struct sample *s = sample->sample;
	const struct script_start start = {
		.thread = sample->thread,   .pid = (int32_t)s->pid, .tid = (int32_t)s->tid,
		.cpu = s->cpu,              .time_ns = s->time_ns,  .has = s->has,
		.misc = sample->body->misc, .type = RECORD_SAMPLE,
	};
	const struct script_event *event;
	int rc;

	if (script->python)
		return script_python_sample(script, taken);
	event = &script->events[sample->event->index];
	if (script->texts.bytes > TEXTS_MAX_BYTES)
		script_forget_texts(script);
	print_header(script);
	rc = choose_output(script, sample->event, true, err);
	if (rc)
		return rc;
	if (script->options.json)
		script_json_sample(script, event, taken, &start);
	else
		script_text_sample(script, event, taken, &start);
	return output_step(script->output);
}

static int take_other(void *context, const struct record *record, const struct record_body *body,
		      const struct thread *thread, struct str *err)
{
	struct script *script = context;
	const struct events *events = script->session.recording->events;
	int rc = 0;

	if (take_counts(script, body, &rc))
		return rc || script->python ? rc : output_step(script->output);
	if (script->python)
		return script_python_record(script, record, body, thread);
	if (!shows_others(&script->options))
		return 0;
	rc = know_event(script, body->event ? body->event->index : 0, false, err);

	if (rc)
		return rc;
	print_header(script);
	if (script->n_events)
		rc = choose_output(script, body->event ? body->event : events->v[0], false, err);
	if (rc)
		return rc;
	print_other(script, record, body, thread);
	return output_step(script->output);
}

static void forget(void *context)
{
	struct script *script = context;

	script_forget_texts(script);
	if (script->python)
		script_python_forget(script);
}

static void on_progress(void *context, double part)
{
	struct script *script = context;

	if (script->progress)
		script->progress(script->progress_context, part);
}

int script_run(struct script *script, struct output *output, void (*progress)(void *context, double part),
	       void *context, struct str *err)
{
	const struct sample_sink sink = {
		.context = script,
		.begin = begin,
		.wants = wants,
		.sample = take_sample,
		.other = take_other,
		.forget = forget,
		.progress = on_progress,
	};
	int rc;

	script->output = output;
	script->progress = progress;
	script->progress_context = context;
	rc = sample_stream_run(&script->session, script->filters, &sink, err);
	script->output = output;
	if (script->python)
		script_python_end(script);
	else
		print_header(script);
	filters_add_note(script->filters, &script->options.filters, &script->session, &script->session.notes);
	if (script->without_trace)
		note_add(&script->session.notes, false, NULL,
			 "fields of tracepoints: %llu samples have none: their format is missing, or "
			 "they do not fit it",
			 (unsigned long long)script->without_trace);
	return rc ? rc : output->failed;
}
