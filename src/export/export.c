/* SPDX-License-Identifier: MIT */
/*
 * export.c: what all formats do alike: a session and its filters, the text of tracepoints, the stack of a sample, and
 * text on its way to the output.
 */
#include "export/export_internal.h"

#include <stdlib.h>

/*
 * To add one: X.c with its struct export_text_format, a row here, its declaration in export_internal.h; the option is a
 * row of the command. A test beside tests/cli/export_*.sh.
 */
static const struct export_text_format *const export_text_formats[] = {
	&export_firefox,
	&export_jsonl,
	&export_perf_json,
	&export_speedscope,
};

const struct export_text_format *export_text_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(export_text_formats); i++)
		if (!strcmp(export_text_formats[i]->name, name))
			return export_text_formats[i];
	return NULL;
}

int export_init(struct export *export, const struct export_options *options, struct reader *reader, struct str *err)
{
	int code;

	*export = (struct export){ .options = *options };
	code = session_init(&export->session, reader, &options->session, err);
	return code ? code : filters_new(&export->filters, &options->filters, &export->session, err);
}

void export_release(struct export *export)
{
	tracepoints_free(export->tracepoints);
	filters_free(export->filters);
	session_release(&export->session);
}

int export_run(struct export *export, const struct sample_sink *sink, struct str *err)
{
	int code = sample_stream_run(&export->session, export->filters, sink, err);

	filters_add_note(export->filters, &export->options.filters, &export->session, &export->session.notes);
	return code;
}

int export_wants(void *context, const struct data_event *event, unsigned *wanted, struct str *err)
{
	(void)context, (void)event, (void)err;
	*wanted |= SAMPLE_TAKEN | SAMPLE_STACK;
	return 0;
}

void export_progress(void *context, double part)
{
	struct export *const *export = context;

	if ((*export)->progress)
		(*export)->progress((*export)->progress_context, part);
}

struct tracepoints *export_tracepoints(struct export *export, const struct replay_sample *sample)
{
	struct str why = STR_INIT;

	if (sample->event->attr.type != PERF_TYPE_TRACEPOINT || !(sample->sample->has & PERF_SAMPLE_RAW))
		return NULL;
	if (!export->tracepoints_tried) {
		export->tracepoints_tried = true;
		export->tracepoints = tracepoints_new(export->session.recording, &why);
		if (!export->tracepoints)
			note_add(&export->session.notes, false, NULL, "fields of tracepoints: %s", why.s);
		str_release(&why);
	}
	return export->tracepoints;
}

bool export_trace_text(struct export *export, const struct replay_sample *sample, struct str *out)
{
	struct tracepoints *tracepoints = export_tracepoints(export, sample);
	struct str text = STR_INIT;
	bool known = tracepoints && tracepoint_print(tracepoints, sample->event, sample->sample, &text);

	if (known)
		str_add_printable(out, text.s, text.len);
	str_release(&text);
	return known;
}

enum task_state export_task_state(const struct replay_sample *sample)
{
	if (!event_has_waits(sample->event) &&
	    !(event_is_wall_clock(sample->event) && sample->body->misc & MISC_SWITCH_OUT))
		return TASK_RUNNING;
	return sample->body->misc & MISC_SWITCH_OUT_PREEMPT ? TASK_PREEMPTED : TASK_WAITING;
}

void export_add_nameless(const struct location_row *row, struct str *out)
{
	if (!row || !row->dso)
		str_add(out, "[unknown]");
	else if (row->dso->name[0] == '[')
		str_add(out, row->dso->name);
	else
		str_addf(out, "[%s]", row->dso->name);
}

uint64_t export_wall_ns(const struct session *session, uint64_t time_ns)
{
	const struct info *info = session->recording->info;

	return info_has(info, FEATURE_CLOCK_DATA) ? info->wall_clock_ns + (time_ns - info->clockid_time_ns) : 0;
}

void export_add_command(const struct export *export, struct str *out)
{
	const struct info *info = export->session.recording->info;

	for (size_t i = 0; i < info->cmdline.n; i++)
		str_addf(out, "%s%s", i ? " " : "", info->cmdline.v[i]);
}

/* ---- text on its way to the output: as it is, or through gzip ---- */

enum { STEP_BYTES = 64 << 10 };

void text_out_init(struct text_out *out, struct output *output, bool gzip, struct str *why)
{
	*out = (struct text_out){ .text = STR_INIT, .output = output };
	if (gzip)
		out->gzip = gzip_new(GZIP_FAST, why);
}

static int hand_on(struct text_out *out)
{
	if (out->gzip)
		gzip_add(out->gzip, out->text.s, out->text.len, &out->output->text);
	else
		str_addn(&out->output->text, out->text.s, out->text.len);
	str_reset(&out->text);
	return output_step(out->output);
}

int text_out_step(struct text_out *out)
{
	return out->text.len < STEP_BYTES ? out->output->failed : hand_on(out);
}

int text_out_end(struct text_out *out)
{
	hand_on(out);
	if (out->gzip)
		gzip_end(out->gzip, &out->output->text);
	gzip_free(out->gzip);
	str_release(&out->text);
	return output_step(out->output);
}
