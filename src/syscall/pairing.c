/* SPDX-License-Identifier: MIT */
/*
 * pairing.c: entries and exits -> calls. A thread is in one call at most: its entry waits in the thread's state for the
 * exit of the same number. Whatever does not fit is told as half a call, never paired:
 *
 *	entry A  exit A            a whole call
 *	exit A                     continued: it began before, or its entry was lost
 *	entry A  entry B           A is unfinished: its exit was lost
 *	entry A  loss    exit A    unfinished, continued: what was lost may have been the exit of one A, the entry of
 *	                           the next
 *	entry A  end               unfinished
 *
 * A LOST record tells of what did not fit into the ring of one CPU; which threads had run there nobody knows, so that a
 * loss is one for all threads.
 */
#include "syscall/syscall.h"

#include <errno.h>
#include <stdlib.h>

enum { REGS_ABI_32 = 1 }; /* PERF_SAMPLE_REGS_ABI_32 */

/* How samples of an event are read. */
struct point {
	enum syscall_point kind;
	struct tracepoint_place id, values; /* values: args, ret, or of POINT_RUNTIME ns */
	size_t value_bytes; /* of one of them */
	size_t least_bytes; /* all fields are in so many */
};

struct syscall_stream {
	struct session *session;
	const struct recording_info *recording;
	const struct syscall_table *table;
	const struct syscall_selection *selection;
	struct syscall_sink sink;
	struct tracepoints *tracepoints;
	struct point *points; /* by index of the event */
	size_t n_points;
	enum syscall_abi abi, abi_32;
	uint64_t losses, begun_ns;
	bool enough; /* the sink has */
};

/* ---- what the samples are like ---- */

/* Entry or exit of a call, where the format says where its number and its values are. */
static void learn_call(struct syscall_stream *stream, const struct data_event *event, const char *name,
		       struct point *point)
{
	const char *values;

	values = !strcmp(name, "sys_enter") ? "args" : "ret";
	if (!tracepoint_place(stream->tracepoints, event, "id", &point->id) ||
	    !tracepoint_place(stream->tracepoints, event, values, &point->values))
		return;
	point->value_bytes = *values == 'a' ? point->values.size / SYSCALL_ARGS : point->values.size;
	if ((point->value_bytes != 4 && point->value_bytes != 8) || (point->id.size != 4 && point->id.size != 8) ||
	    point->id.offset > UINT16_MAX || point->values.offset > UINT16_MAX)
		return;
	point->least_bytes = point->values.offset + point->values.size;
	if (point->least_bytes < point->id.offset + point->id.size)
		point->least_bytes = point->id.offset + point->id.size;
	point->kind = *values == 'a' ? POINT_ENTER : POINT_EXIT;
}

static enum syscall_point software_point(const struct perf_event_attr *attr)
{
	switch (attr->type == PERF_TYPE_SOFTWARE ? attr->config : UINT64_MAX) {
	case PERF_COUNT_SW_PAGE_FAULTS:
		return POINT_FAULT;
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
		return POINT_MINOR_FAULT;
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
		return POINT_MAJOR_FAULT;
	default:
		return POINT_OTHER;
	}
}

static void learn_point(struct syscall_stream *stream, const struct data_event *event, struct point *point)
{
	const char *system = "", *name = "";

	if (stream->tracepoints && tracepoint_names(stream->tracepoints, event, &system, &name) &&
	    !strcmp(system, "raw_syscalls"))
		learn_call(stream, event, name, point);
	else if (syscall_event_has_texts(event))
		point->kind = POINT_TEXT;
	if (point->kind != POINT_NONE || !stream->sink.wants || !stream->sink.wants(stream->sink.context, event))
		return;
	point->kind = software_point(&event->attr);
	if (!strcmp(system, "sched") && !strcmp(name, "sched_stat_runtime") &&
	    tracepoint_place(stream->tracepoints, event, "runtime", &point->values))
		point->kind = POINT_RUNTIME;
}

static int learn_points(struct syscall_stream *stream, struct str *err)
{
	const struct events *events = stream->recording->events;
	bool has[POINT_RUNTIME + 1] = { false }, other = false;
	struct str why = STR_INIT;
	int code = 0;

	stream->tracepoints = tracepoints_new(stream->recording, &why);
	stream->n_points = events->n;
	stream->points = xcalloc(events->n + 1, sizeof(*stream->points));
	for (size_t i = 0; i < events->n; i++) {
		enum syscall_point *kind = &stream->points[i].kind;

		learn_point(stream, events->v[i], &stream->points[i]);
		has[*kind] = true;
		other |= *kind >= POINT_OTHER;
	}
	if ((!has[POINT_ENTER] || !has[POINT_EXIT]) && !other)
		code = fail(err, -EINVAL, "%s", stream->tracepoints ?
			    "the recording does not have the tracepoints of system calls, "
			    "raw_syscalls:sys_enter and raw_syscalls:sys_exit" : why.s);
	str_release(&why);
	return code;
}

/* A number of 4 or 8 bytes in the sample's byte order, extended by its sign. */
static int64_t read_number(const struct syscall_stream *stream, const uint8_t *bytes, size_t n)
{
	const uint64_t value = syscall_load(bytes, n, stream->recording->decoder->swap);

	return n == sizeof(value) ? (int64_t)value : (int32_t)value;
}

/* ---- calls ---- */

static struct syscall_thread *state_of(struct thread *thread)
{
	struct syscall_thread *state = thread->user;

	if (!state) {
		state = xcalloc(1, sizeof(*state));
		state->thread = thread;
		str_init(&state->texts.bytes);
		thread->user = state;
	}
	return state;
}

/* The thread of a sample, where it is now. */
static struct syscall_thread *thread_of(const struct replay_sample *sample)
{
	struct syscall_thread *state = state_of(sample->thread);

	if (sample->sample->has & PERF_SAMPLE_CGROUP)
		state->cgroup = sample->sample->cgroup;
	return state;
}

static int tell(struct syscall_stream *stream, const struct syscall_call *call, struct str *err)
{
	int code = 0;

	if (!stream->enough && syscall_is_taken(stream->selection, stream->table, call->row))
		code = stream->sink.call(stream->sink.context, call, err);
	stream->enough |= code > 0;
	syscall_texts_clear(&call->thread->texts);
	return code < 0 ? code : 0;
}

static struct syscall_call call_of(struct syscall_thread *thread, enum syscall_state state)
{
	return (struct syscall_call){
		.state = state,
		.thread = thread,
		.row = thread->row,
		.number = thread->number,
		.abi_32 = thread->abi_32,
		.begun_ns = thread->begun_ns,
		.args = thread->args,
		.texts = &thread->texts,
	};
}

/* Ends the call that the thread is in without its exit. */
static int give_up(struct syscall_stream *stream, struct syscall_thread *thread, struct str *err)
{
	const struct syscall_call call = call_of(thread, CALL_UNFINISHED);

	if (!thread->in_call)
		return 0;
	thread->in_call = false;
	return tell(stream, &call, err);
}

static int enter(struct syscall_stream *stream, struct syscall_thread *thread, const struct point *point,
		 const struct sample *sample, struct str *err)
{
	int code = give_up(stream, thread, err);
	struct syscall_call call;

	if (code)
		return code;
	if (thread->texts_losses != stream->losses)
		syscall_texts_clear(&thread->texts);
	thread->abi_32 = sample->has & PERF_SAMPLE_REGS_USER && sample->user_regs.abi == REGS_ABI_32;
	thread->number = read_number(stream, sample->raw + point->id.offset, point->id.size);
	thread->row = syscall_find(stream->table, thread->abi_32 ? stream->abi_32 : stream->abi, thread->number);
	thread->begun_ns = sample->time_ns;
	thread->losses = stream->losses;
	for (size_t i = 0; i < SYSCALL_ARGS; i++)
		thread->args[i] = (uint64_t)read_number(
			stream, sample->raw + point->values.offset + i * point->value_bytes, point->value_bytes);
	thread->in_call = thread->row->returns != RETURNS_NEVER;
	if (thread->in_call)
		return 0;
	call = call_of(thread, CALL_NO_RETURN);
	return tell(stream, &call, err);
}

/* A new thread begins with the exit of the call that has made it; that call is the other thread's. */
static bool is_birth(const struct syscall_call *call)
{
	return call->row->returns == RETURNS_TASK && !call->returned;
}

static int exit_without_entry(struct syscall_stream *stream, struct syscall_thread *thread, struct syscall_call *call,
			      struct str *err)
{
	int code = give_up(stream, thread, err);

	call->state = CALL_CONTINUED;
	return code || call->number < 0 || is_birth(call) ? code : tell(stream, call, err);
}

static int leave(struct syscall_stream *stream, struct syscall_thread *thread, const struct point *point,
		 const struct replay_sample *exit, struct str *err)
{
	const struct sample *sample = exit->sample;
	struct syscall_call call = call_of(thread, CALL_WHOLE);
	int64_t number = read_number(stream, sample->raw + point->id.offset, point->id.size);

	call.exit = exit;
	call.ended_ns = sample->time_ns;
	call.returned = read_number(stream, sample->raw + point->values.offset, point->value_bytes);
	if (thread->in_call && thread->losses == stream->losses && call.begun_ns <= call.ended_ns &&
	    (number == thread->number || (number == -1 && thread->row->returns == RETURNS_ELSEWHERE))) {
		thread->in_call = false;
		return tell(stream, &call, err);
	}
	call.number = number;
	call.abi_32 = sample->has & PERF_SAMPLE_REGS_USER && sample->user_regs.abi == REGS_ABI_32;
	call.row = syscall_find(stream->table, call.abi_32 ? stream->abi_32 : stream->abi, number);
	return exit_without_entry(stream, thread, &call, err);
}

/* ---- other events ---- */

static int tell_event(struct syscall_stream *stream, const struct point *point, const struct replay_sample *sample,
		      struct str *err)
{
	struct syscall_event event = { .point = point->kind, .sample = sample };
	int code;

	if (point->kind == POINT_RUNTIME && !tracepoint_place_read(&point->values, sample->sample, &event.runtime_ns))
		return 0;
	event.thread = thread_of(sample);
	code = stream->sink.event(stream->sink.context, &event, err);
	stream->enough |= code > 0;
	return code < 0 ? code : 0;
}

/* A text that was read at the begin of a call says that the thread is in no other call any more. */
static int take_text(struct syscall_stream *stream, struct syscall_thread *thread, const struct sample *sample,
		     struct str *err)
{
	struct syscall_text text;
	int code = 0;

	if (!syscall_text_read(&text, sample->raw, sample->raw_size, stream->recording->decoder->swap))
		return 0;
	if (!syscall_text_is_late(&text))
		code = give_up(stream, thread, err);
	else if (!thread->in_call || thread->losses != stream->losses)
		return 0;
	if (thread->texts_losses != stream->losses)
		syscall_texts_clear(&thread->texts);
	thread->texts_losses = stream->losses;
	syscall_texts_put(&thread->texts, &text);
	return code;
}

/* ---- records ---- */

static int on_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct syscall_stream *stream = context;
	const struct sample *s = sample->sample;
	const struct point *point;

	(void)replay;
	if (!sample->event || sample->event->index >= stream->n_points || stream->enough)
		return 0;
	point = &stream->points[sample->event->index];
	if (point->kind == POINT_NONE ||
	    (point->kind < POINT_OTHER && (!(s->has & PERF_SAMPLE_RAW) || s->raw_size < point->least_bytes)))
		return 0;
	if (point->kind == POINT_TEXT)
		return take_text(stream, state_of(sample->thread), s, err);
	if (!stream->begun_ns)
		stream->begun_ns = s->time_ns;
	if (point->kind >= POINT_OTHER)
		return tell_event(stream, point, sample, err);
	return point->kind == POINT_ENTER ? enter(stream, thread_of(sample), point, s, err) :
					    leave(stream, thread_of(sample), point, sample, err);
}

static int on_other(void *context, struct replay *replay, const struct record *record, const struct record_body *body,
		    struct thread *thread, struct str *err)
{
	struct syscall_stream *stream = context;
	int code;

	(void)replay, (void)record;
	if (body->type == RECORD_EXIT && thread && thread->user)
		return give_up(stream, thread->user, err);
	if ((body->type != RECORD_LOST && body->type != RECORD_LOST_SAMPLES) || stream->enough)
		return 0;
	stream->losses++;
	code = stream->sink.lost(stream->sink.context, body->id.has & PERF_SAMPLE_TIME ? body->id.time_ns : 0,
				 body->lost.lost, err);
	return code < 0 ? code : 0;
}

static void on_thread_gone(void *context, struct thread *thread)
{
	struct syscall_stream *stream = context;

	if (!thread->user)
		return;
	if (stream->sink.gone)
		stream->sink.gone(stream->sink.context, thread->user);
	str_release(&((struct syscall_thread *)thread->user)->texts.bytes);
	free(thread->user);
	thread->user = NULL;
}

/* ---- from the first record to the last ---- */

struct syscall_stream *syscall_stream_new(struct session *session, const struct syscall_table *table,
					  const struct syscall_selection *selection, const struct syscall_sink *sink,
					  struct str *err)
{
	struct syscall_stream *stream = xcalloc(1, sizeof(*stream));
	const struct replay_handlers handlers = {
		.context = stream,
		.sample = on_sample,
		.other = on_other,
		.thread_gone = on_thread_gone,
	};

	stream->session = session;
	stream->recording = session->recording;
	stream->table = table;
	stream->selection = selection;
	stream->sink = *sink;
	stream->abi = syscall_abi_of(stream->recording->info->arch);
	stream->abi_32 = syscall_abi_32(stream->abi);
	if (learn_points(stream, err)) {
		syscall_stream_free(stream);
		return NULL;
	}
	replay_begin(&session->replay, &handlers);
	return stream;
}

void syscall_stream_free(struct syscall_stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < stream->session->replay.n_threads; i++)
		on_thread_gone(stream, stream->session->replay.threads[i]);
	tracepoints_free(stream->tracepoints);
	free(stream->points);
	free(stream);
}

int syscall_stream_run(struct syscall_stream *stream, struct record_source *source, struct str *err)
{
	struct replay *replay = &stream->session->replay;
	struct record record;
	int code = 0;

	while (!code && !stream->enough) {
		int found = source->next(source, &record, err);

		if (found == SOURCE_LATER)
			return 1;
		if (found < 0 || found == SOURCE_END)
			return found;
		code = found == SOURCE_ROUND ? replay_round(replay, err) : replay_feed(replay, &record, err);
	}
	return code;
}

int syscall_stream_end(struct syscall_stream *stream, struct str *err)
{
	struct replay *replay = &stream->session->replay;
	int code = replay_end(replay, err);

	for (size_t i = 0; i < replay->n_threads && !code; i++)
		if (replay->threads[i]->user)
			code = give_up(stream, replay->threads[i]->user, err);
	for (size_t i = 0; i < replay->n_threads; i++)
		on_thread_gone(stream, replay->threads[i]);
	return code;
}

struct tracepoints *syscall_stream_tracepoints(const struct syscall_stream *stream)
{
	return stream->tracepoints;
}

uint64_t syscall_stream_begun(const struct syscall_stream *stream)
{
	return stream->begun_ns;
}
