/*
 * firefox.c: a profile in the processed format of the Firefox profiler (profiler.firefox.com), version 57, which each
 * later one reads:
 *
 *	{ "meta": { "preprocessedProfileVersion": 57, "categories": [...], "markerSchema": [...], ... },
 *	  "threads": [ see firefox_thread.c, ... ],
 *	  "libs": [ { "name", "path", "codeId": build-id, ... } ],
 *	  "shared": { "stringArray": [ each text once ] } }
 *
 * While the recording is read, each sample is put into its thread's row of a pile: time and stack, five bytes as a
 * rule, most of them in a temporary file. Then one thread after the other is written. So memory grows with threads,
 * distinct stacks and addresses, not with samples.
 *
 * A recording of several events has a track for each thread and event. Context switches are markers that last as long
 * as the thread was off its CPU; hits of tracepoints are markers with their fields and stack, beside being samples.
 *
 * Sources: github.com/firefox-devtools/profiler: src/types/profile.js, docs-developer/CHANGELOG-formats.md.
 */
#include "export/firefox_internal.h"

#include <stdlib.h>

enum { FORMAT_VERSION = 57, GECKO_VERSION = 31 };

uint32_t firefox_text(struct firefox *f, const char *text, size_t n)
{
	uint32_t number = texts_intern(f->texts, text, n);

	if (number >= f->n_texts)
		f->n_texts = number + 1;
	return number;
}

void firefox_add_ms(const struct firefox *f, struct str *out, uint64_t time_ns)
{
	uint64_t ns = time_ns >= f->first_ns ? time_ns - f->first_ns : f->first_ns - time_ns;
	char digits[7] = ".";
	uint32_t rest = (uint32_t)(ns % 1000000);

	if (time_ns < f->first_ns)
		str_addc(out, '-');
	str_add_u64(out, ns / 1000000);
	for (int i = 6; i > 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	str_addn(out, digits, sizeof(digits));
}

/* ---- samples ---- */

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
	struct pile_record record = { .time = time_ns, .word = word };

	str_reset(&f->scratch);
	data_event_add_name(sample->event, &f->scratch);
	str_addc(&f->scratch, '\n');
	export_trace_text(f->export, sample, &f->scratch);
	record.text = f->scratch.s;
	record.text_bytes = f->scratch.len;
	return pile_add(&f->pile, &track_of(f, sample->thread, NULL)->markers, &record, err);
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct firefox *f = context;
	const struct replay_sample *sample = taken->sample;
	uint64_t time_ns = sample->sample->has & PERF_SAMPLE_TIME ? sample->sample->time_ns : 0;
	uint32_t stack = export_stack(&f->export->session, sample);
	struct firefox_thread *track = track_of(f, sample->thread, sample->event);
	int code;

	if (!f->first_ns || time_ns < f->first_ns)
		f->first_ns = time_ns;
	if (time_ns > f->last_ns)
		f->last_ns = time_ns;
	track->comm = sample->thread->comm;
	code = pile_add(&f->pile, &track->samples, &(struct pile_record){ .time = time_ns, .word = stack }, err);
	if (code || sample->event->attr.type != PERF_TYPE_TRACEPOINT)
		return code;
	return add_tracepoint(f, sample, stack, time_ns, err);
}

/* ---- context switches ---- */

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
	return pile_add(&f->pile, &track->markers,
			&(struct pile_record){ .time = out_ns,
					       .word = (now - out_ns) << MARKER_KIND_BITS |
						       (preempted ? MARKER_PREEMPTED : MARKER_OFF_CPU) },
			err);
}

/* ---- what stands around the threads ---- */

static void add_meta(struct firefox *f)
{
	static const char *const categories[] = {
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"Inlined\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"Unknown\",\"color\":\"darkgrey\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]}",
		"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}",
	};
	const struct info *info = f->export->session.recording->info;
	uint64_t wall_ns = export_wall_ns(&f->export->session, f->first_ns);
	struct str *out = &f->out.text, command = STR_INIT;

	str_add(out, "{\"meta\":{\"interval\":1,\"startTime\":");
	str_add_u64(out, wall_ns / 1000000);
	str_addf(out, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	firefox_add_ms(f, out, f->last_ns);
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
		markers->markers = (struct pile_row){ 0 };
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
		code = firefox_add_thread(f, &f->threads[i], err);
	}
	add_shared(f);
	return code;
}

static void release(struct firefox *f)
{
	for (size_t i = 0; i < f->n_threads; i++) {
		pile_row_release(&f->threads[i].samples);
		pile_row_release(&f->threads[i].markers);
	}
	free(f->threads);
	index_release(&f->thread_ix);
	pile_release(&f->pile);
	texts_free(f->texts);
	row_set_release(&f->func_ids);
	row_set_release(&f->libs);
	free(f->funcs);
	firefox_release_tables(f);
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

	pile_init(&f.pile);
	row_set_init(&f.func_ids, 3);
	row_set_init(&f.libs, 1);
	firefox_text(&f, "", 0);
	code = export_run(export, &sink, err);
	text_out_init(&f.out, output, gzip, &why);
	if (why.len)
		note_add(&export->session.notes, false, NULL, "the file is not compressed: %s", why.s);
	/* What could be read is written, also where reading had to end early. */
	written = write_profile(&f, code ? &why : err);
	text_out_end(&f.out);
	release(&f);
	str_release(&why);
	return code ? code : written ? written : output->failed;
}

const struct export_text_format export_firefox = { "firefox", run_firefox };
