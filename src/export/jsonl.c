/* SPDX-License-Identifier: MIT */
/*
 * jsonl.c: JSON lines: each sample is an object on a line that needs no other one, all with the same members in the
 * same order, so that a column store takes them as they are. What a recording does not say is null.
 *
 *	{"schema":1,"host":"db7","event":"cycles","time":"2026-11-22T20:41:12.637826910Z","time_ns":76472637826910,
 *	 "period":1000000,"pid":12,"tid":12,"comm":"sh","cpu":0,"kernel":false,"symbol":"read_line","dso":"sh",
 *	 "path":"/bin/sh","build_id":"12ab","addr":"0x1f40","file":"input.c","line":7,"stack":["main","read_line"]}
 *
 * The members are in pstat-export(1). Another meaning or another type of one makes another schema; a member more at
 * the end does not.
 *
 * Members after the CPU depend on the stack alone, and are made once for each: a line is mostly copying. These texts
 * are forgotten with the locations, and when they take too much.
 */
#include "export/export_internal.h"

#include <stdlib.h>
#include <time.h>

enum { SCHEMA = 1, TAILS_MAX_BYTES = 64 << 20 };

struct jsonl {
	struct export *export; /* first: export_progress */
	struct text_out out;
	struct str *heads; /* by index of the event */
	size_t n_heads;
	struct str *comms; /* by number */
	size_t n_comms;
	struct str *tails; /* by stack */
	size_t n_tails, tails_bytes;
	uint64_t second; /* whose text is in `date` */
	char date[32]; /* "2026-11-22T20:41:12." */
	struct str scratch;
	uint32_t *path; /* of a stack */
	size_t cap_path;
};

/* The n-th of an array that grows; empty as long as nobody has filled it. */
static struct str *nth(struct str **v, size_t *n, size_t i)
{
	if (i >= *n) {
		size_t more = i + 1 > 2 * *n ? i + 1 : 2 * *n;

		*v = xreallocarray(*v, more, sizeof(**v));
		for (; *n < more; ++*n)
			str_init(&(*v)[*n]);
	}
	return &(*v)[i];
}

static void release_texts(struct str **v, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		str_release(&(*v)[i]);
	free(*v);
	*v = NULL;
	*n = 0;
}

static void add_text(struct str *out, const char *name, const char *text)
{
	str_addf(out, ",\"%s\":", name);
	if (text)
		str_add_json(out, text);
	else
		str_add(out, "null");
}

/* ---- what is made once ---- */

static const struct str *head_of(struct jsonl *j, const struct data_event *event)
{
	const struct info *info = j->export->session.recording->info;
	struct str *head = nth(&j->heads, &j->n_heads, event->index), name = STR_INIT;

	if (head->len)
		return head;
	data_event_add_name(event, &name);
	str_addf(head, "{\"schema\":%d", SCHEMA);
	add_text(head, "host", info->hostname);
	add_text(head, "event", name.s);
	str_release(&name);
	return head;
}

static const struct str *comm_of(struct jsonl *j, uint32_t comm)
{
	struct str *text = nth(&j->comms, &j->n_comms, comm);

	if (!text->len)
		add_text(text, "comm", session_comm(&j->export->session, comm));
	return text;
}

static void add_place(struct jsonl *j, struct str *out, const struct location_row *row, const struct frame *frame)
{
	const struct dso *dso = row ? row->dso : NULL;

	str_add(out, row && location_is_kernel(row) ? ",\"kernel\":true" : ",\"kernel\":false");
	add_text(out, "symbol", symbol_has_name(frame->symbol) ? frame->symbol->name : NULL);
	add_text(out, "dso", dso ? dso->name : NULL);
	add_text(out, "path", dso && *dso->path ? dso->path : NULL);
	str_reset(&j->scratch);
	if (dso)
		build_id_text(&dso->build_id, &j->scratch);
	add_text(out, "build_id", dso && dso->build_id.size ? j->scratch.s : NULL);
	if (row)
		str_addf(out, ",\"addr\":\"0x%llx\"", (unsigned long long)location_own_addr(row));
	else
		str_add(out, ",\"addr\":null");
	add_text(out, "file", frame->line.file);
	if (frame->line.line)
		str_addf(out, ",\"line\":%u", frame->line.line);
	else
		str_add(out, ",\"line\":null");
}

static void add_frames(struct jsonl *j, struct str *out, uint32_t location, bool *any)
{
	struct session *session = &j->export->session;
	const struct frame_list *frames = location_frames(session, location, SYM_LINES);

	for (size_t k = frames->n; k-- > 0;) {
		str_add(out, *any ? "," : "");
		*any = true;
		str_reset(&j->scratch);
		if (frames->v[k].symbol)
			str_add(&j->scratch, frames->v[k].symbol->name);
		else
			export_add_nameless(&session->locations->v[location], &j->scratch);
		str_add_json(out, j->scratch.s);
	}
}

static void make_tail(struct jsonl *j, uint32_t stack, struct str *out)
{
	static const struct frame none;
	struct session *session = &j->export->session;
	const struct stack_node *node = &session->stacks->v[stack];
	const struct location_row *row = stack ? &session->locations->v[node->location] : NULL;
	size_t n = 0;
	bool any = false;

	add_place(j, out, row, row ? &location_frames(session, node->location, SYM_LINES)->v[0] : &none);
	str_add(out, ",\"stack\":[");
	for (; stack; stack = session->stacks->v[stack].parent) {
		VEC_GROW(j->path, n, j->cap_path);
		j->path[n++] = session->stacks->v[stack].location;
	}
	while (n)
		add_frames(j, out, j->path[--n], &any);
	str_add(out, "]}\n");
	j->tails_bytes += out->len;
}

static void forget(void *context)
{
	struct jsonl *j = context;

	release_texts(&j->tails, &j->n_tails);
	j->tails_bytes = 0;
}

static const struct str *tail_of(struct jsonl *j, uint32_t stack)
{
	struct str *tail;

	if (j->tails_bytes > TAILS_MAX_BYTES)
		forget(j);
	tail = nth(&j->tails, &j->n_tails, stack);
	if (!tail->len)
		make_tail(j, stack, tail);
	return tail;
}

/* ---- lines ---- */

static void add_time(struct jsonl *j, struct str *out, const struct sample *s)
{
	uint64_t wall_ns = export_wall_ns(&j->export->session, s->time_ns), rest;
	char digits[9];
	struct tm tm;
	time_t second;

	if (!(s->has & PERF_SAMPLE_TIME)) {
		str_add(out, ",\"time\":null,\"time_ns\":null");
		return;
	}
	if (wall_ns && (wall_ns / NS_PER_S != j->second || !j->second)) {
		second = (time_t)(wall_ns / NS_PER_S);
		if (!gmtime_r(&second, &tm) || !strftime(j->date, sizeof(j->date), "%Y-%m-%dT%H:%M:%S.", &tm))
			wall_ns = 0;
		j->second = wall_ns / NS_PER_S;
	}
	str_add(out, wall_ns ? ",\"time\":\"" : ",\"time\":null");
	if (wall_ns) {
		rest = wall_ns % NS_PER_S;
		for (int i = sizeof(digits) - 1; i >= 0; i--, rest /= 10)
			digits[i] = (char)('0' + rest % 10);
		str_add(out, j->date);
		str_addn(out, digits, sizeof(digits));
		str_add(out, "Z\"");
	}
	str_add(out, ",\"time_ns\":");
	str_add_u64(out, s->time_ns);
}

static void add_number(struct str *out, const char *name, bool known, int64_t value)
{
	str_add(out, name);
	if (!known)
		str_add(out, "null");
	else if (value < 0)
		str_addf(out, "%lld", (long long)value);
	else
		str_add_u64(out, (uint64_t)value);
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct jsonl *j = context;
	const struct sample *s = taken->sample->sample;
	const struct str *head = head_of(j, taken->sample->event), *tail;
	const struct str *comm = comm_of(j, taken->sample->thread->comm);
	struct str *out = &j->out.text;

	(void)err;
	str_addn(out, head->s, head->len);
	add_time(j, out, s);
	str_add(out, ",\"period\":");
	str_add_u64(out, taken->period);
	add_number(out, ",\"pid\":", s->has & PERF_SAMPLE_TID, (int32_t)s->pid);
	add_number(out, ",\"tid\":", s->has & PERF_SAMPLE_TID, (int32_t)s->tid);
	str_addn(out, comm->s, comm->len);
	add_number(out, ",\"cpu\":", s->has & PERF_SAMPLE_CPU, s->cpu);
	tail = tail_of(j, taken->stack);
	str_addn(out, tail->s, tail->len);
	return text_out_step(&j->out);
}

static int run_jsonl(struct export *export, struct output *output, bool gzip, struct str *err)
{
	struct jsonl j = { .export = export, .scratch = STR_INIT };
	const struct sample_sink sink = {
		.context = &j,
		.wants = export_wants,
		.sample = take_sample,
		.forget = forget,
		.progress = export_progress,
	};
	struct str why = STR_INIT;
	int code;

	text_out_init(&j.out, output, gzip, &why);
	if (why.len)
		note_add(&export->session.notes, false, NULL, "the file is not compressed: %s", why.s);
	code = export_run(export, &sink, err);
	text_out_end(&j.out);
	release_texts(&j.heads, &j.n_heads);
	release_texts(&j.comms, &j.n_comms);
	release_texts(&j.tails, &j.n_tails);
	free(j.path);
	str_release(&j.scratch);
	str_release(&why);
	return code ? code : output->failed;
}

const struct export_text_format export_jsonl = { "jsonl", run_jsonl };
