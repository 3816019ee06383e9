/* SPDX-License-Identifier: MIT */
/*
 * perf_json.c: the JSON of `perf data convert --to-json`: one object that has what the header says, and the samples in
 * the order of time, each with its callchain and, of a tracepoint, its fields as texts. Keys, order and white space are
 * perf's, so that what reads the one reads the other.
 *
 *	{ "linux-perf-json-version": 1, "headers": { ... }, "samples": [ { "timestamp": 1, ... }, ... ] }
 *
 * A sample is written when it is read. Source: tools/perf/Documentation/perf-data.txt, and what perf 6.1 and 7.2 write.
 */
#include "export/export_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct perf_json {
	struct export *export; /* first: export_progress */
	struct text_out out;
	struct str scratch;
	bool any; /* a sample was written */
};

/* ---- members: a comma where one came before, a line, tabs ---- */

static void begin_line(struct str *out, bool comma, unsigned depth)
{
	str_add(out, comma ? ",\n" : "\n");
	str_pad(out, '\t', depth);
}

static void begin_member(struct str *out, bool comma, unsigned depth, const char *key)
{
	begin_line(out, comma, depth);
	str_addc(out, '"');
	str_add(out, key);
	str_add(out, "\": ");
}

static void add_number(struct str *out, bool comma, unsigned depth, const char *key, int64_t value)
{
	begin_member(out, comma, depth, key);
	if (value < 0)
		str_addc(out, '-');
	str_add_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void add_text(struct str *out, bool comma, unsigned depth, const char *key, const char *text)
{
	begin_member(out, comma, depth, key);
	str_add_json(out, text);
}

static void add_address(struct str *out, unsigned depth, const char *key, uint64_t address)
{
	char digits[sizeof("\"0x0123456789abcdef\"")], *at = digits + sizeof(digits);

	begin_member(out, false, depth, key);
	*--at = '"';
	do
		*--at = "0123456789abcdef"[address % 16];
	while (address /= 16);
	*--at = 'x';
	*--at = '0';
	*--at = '"';
	str_addn(out, at, (size_t)(digits + sizeof(digits) - at));
}

/* ---- the header ---- */

static void add_captured(struct perf_json *j, struct str *out)
{
	const int64_t written_ns = j->export->session.recording->written_ns;
	const time_t second = (time_t)(written_ns / (int64_t)NS_PER_S);
	char date[32];
	struct tm tm;

	if (written_ns && gmtime_r(&second, &tm) && strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm))
		add_text(out, true, 2, "captured-on", date);
}

static void add_host(const struct info *info, struct str *out)
{
	const struct {
		const char *key, *text;
	} rows[] = {
		{ "hostname", info->hostname }, { "os-release", info->os_release }, { "arch", info->arch },
		{ "cpu-desc", info->cpu_desc }, { "cpuid", info->cpuid },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].text)
			add_text(out, true, 2, rows[i].key, rows[i].text);
	if (info_has(info, FEATURE_NRCPUS)) {
		add_number(out, true, 2, "nrcpus-online", info->cpus_online);
		add_number(out, true, 2, "nrcpus-avail", info->cpus_available);
	}
	if (info_has(info, FEATURE_CLOCK_DATA)) {
		add_number(out, true, 2, "clockid", info->clockid);
		add_number(out, true, 2, "clock-time", (int64_t)info->clockid_time_ns);
		add_number(out, true, 2, "real-time", (int64_t)info->wall_clock_ns);
	}
	if (info->version)
		add_text(out, true, 2, "perf-version", info->version);
}

static void add_command(const struct info *info, struct str *out)
{
	begin_line(out, true, 2);
	str_add(out, "\"cmdline\": [");
	for (size_t i = 0; i < info->cmdline.n; i++) {
		begin_line(out, i > 0, 3);
		str_add_json(out, info->cmdline.v[i]);
	}
	begin_line(out, false, 2);
	str_addc(out, ']');
}

static void add_header(struct perf_json *j, struct str *out)
{
	const struct reader *reader = j->export->session.reader;
	const struct info *info = j->export->session.recording->info;

	str_add(out, "{");
	add_number(out, false, 1, "linux-perf-json-version", 1);
	begin_line(out, true, 1);
	str_add(out, "\"headers\": {");
	add_number(out, false, 2, "header-version", 1);
	add_captured(j, out);
	add_number(out, true, 2, "data-offset", (int64_t)reader->data_offset);
	add_number(out, true, 2, "data-size", (int64_t)reader->data_size);
	add_number(out, true, 2, "feat-offset", (int64_t)reader->feature_offset);
	add_host(info, out);
	add_command(info, out);
	begin_line(out, false, 1);
	str_addc(out, '}');
	begin_line(out, true, 1);
	str_add(out, "\"samples\": [");
}

/* ---- samples ---- */

static void add_frame(struct perf_json *j, struct str *out, bool comma, const struct chain_entry *frame)
{
	const struct location_row *row = &j->export->session.locations->v[frame->location];
	const struct symbol *symbol = location_symbol(&j->export->session, frame->location);

	begin_line(out, comma, 4);
	str_addc(out, '{');
	add_address(out, 5, "ip", frame->ip);
	if (symbol_has_name(symbol) && row->dso) {
		add_text(out, true, 5, "symbol", symbol->name);
		add_text(out, true, 5, "dso", row->dso->name);
	}
	begin_line(out, false, 4);
	str_addc(out, '}');
}

static void add_fields(struct perf_json *j, struct str *out, const struct replay_sample *sample)
{
	struct tracepoints *tracepoints = export_tracepoints(j->export, sample);
	size_t n = tracepoints ? tracepoint_n_fields(tracepoints, sample->event) : 0;

	for (size_t i = 0; i < n; i++) {
		struct tracepoint_field field;
		bool is_number;
		int64_t number;

		str_reset(&j->scratch);
		if (tracepoint_field(tracepoints, sample->event, i, &field) &&
		    tracepoint_value(tracepoints, sample->event, sample->sample, field.name, &j->scratch, &number,
				     &is_number))
			add_text(out, true, 3, field.name, j->scratch.s ? j->scratch.s : "");
	}
}

static int64_t time_of(const struct perf_json *j, const struct sample *s)
{
	return (int64_t)(j->export->options.wall_clock ? export_wall_ns(&j->export->session, s->time_ns) : s->time_ns);
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct perf_json *j = context;
	const struct replay_sample *sample = taken->sample;
	const struct sample *s = sample->sample;
	const bool has_time = s->has & PERF_SAMPLE_TIME;
	struct str *out = &j->out.text;

	(void)err;
	begin_line(out, j->any, 2);
	str_addc(out, '{');
	j->any = true;
	if (has_time)
		add_number(out, false, 3, "timestamp", time_of(j, s));
	add_number(out, has_time, 3, "pid", s->has & PERF_SAMPLE_TID ? (int32_t)s->pid : -1);
	add_number(out, true, 3, "tid", s->has & PERF_SAMPLE_TID ? (int32_t)s->tid : -1);
	if (s->has & PERF_SAMPLE_CPU)
		add_number(out, true, 3, "cpu", s->cpu);
	add_text(out, true, 3, "comm", session_comm(&j->export->session, sample->thread->comm));
	begin_line(out, true, 3);
	str_add(out, "\"callchain\": [");
	for (size_t i = 0; i < taken->frames.n; i++)
		add_frame(j, out, i > 0, &taken->frames.v[i]);
	begin_line(out, false, 3);
	str_addc(out, ']');
	add_fields(j, out, sample);
	begin_line(out, false, 2);
	str_addc(out, '}');
	return text_out_step(&j->out);
}

static int wants_chain(void *context, const struct data_event *event, unsigned *wanted, struct str *err)
{
	(void)context, (void)event, (void)err;
	*wanted |= SAMPLE_TAKEN | SAMPLE_CHAIN | SAMPLE_IP;
	return 0;
}

static int begin(void *context, struct str *err)
{
	struct perf_json *j = context;
	struct reader *reader = j->export->session.reader;

	reader_know_events(reader); /* and what the header of a pipe says */
	if (j->export->options.wall_clock && !info_has(&reader->info, FEATURE_CLOCK_DATA))
		return fail(err, -EINVAL, "--tod: it does not say what time it was (CLOCK_DATA)");
	add_header(j, &j->out.text);
	return 0;
}

static int run_perf_json(struct export *export, struct output *output, bool gzip, struct str *err)
{
	struct perf_json j = { .export = export, .scratch = STR_INIT };
	const struct sample_sink sink = {
		.context = &j,
		.begin = begin,
		.wants = wants_chain,
		.sample = take_sample,
		.progress = export_progress,
	};
	struct str why = STR_INIT;
	int code;

	text_out_init(&j.out, output, gzip, &why);
	code = export_run(export, &sink, err);
	if (j.out.text.len || j.any) {
		begin_line(&j.out.text, false, 1);
		str_add(&j.out.text, "]\n}\n");
	}
	text_out_end(&j.out);
	str_release(&j.scratch);
	str_release(&why);
	return code ? code : output->failed;
}

const struct export_text_format export_perf_json = { "perf-json", run_perf_json };
