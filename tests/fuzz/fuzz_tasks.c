/* SPDX-License-Identifier: MIT */
/*
 * fuzz_tasks: any bytes as a recording of what tasks did, through `pstat trace -i` (calls, other events, stacks, as
 * lines, JSON lines and tables) and the views of `pstat sched`. The claim: no crash, no sanitizer report, no endless
 * loop; memory bounded. And of the texts: no control character but newline, and one line for each JSON object.
 *
 * No file of the machine is read: all paths are looked up below a folder that is not there.
 */
#include "recording.h"
#include "sched/sched.h"
#include "syscall/syscall.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* text is what a terminal or a parser gets. objects: each line is one. */
static void check_text(const struct str *text, bool objects)
{
	for (size_t i = 0; i < text->len; i++) {
		const unsigned char c = (unsigned char)text->s[i];

		if ((c < ' ' && c != '\n') || c == 0x7f)
			abort();
		if (objects && c == '\n' && (!i || text->s[i - 1] != '}'))
			abort();
	}
}

/* ---- trace ---- */

struct traced {
	struct session session;
	struct syscall_table table;
	struct syscall_selection selection;
	struct syscall_stream *stream;
	struct syscall_lines lines;
	struct syscall_summary *summary; /* NULL: lines are made */
	bool json;
	struct str text;
};

static int on_call(void *context, const struct syscall_call *call, struct str *err)
{
	struct traced *traced = context;

	(void)err;
	if (traced->summary)
		syscall_summary_take(traced->summary, call);
	else if (traced->json)
		syscall_json_add(&traced->lines, call, &traced->text);
	else
		syscall_line_add(&traced->lines, call, &traced->text);
	return 0;
}

static bool wants(void *context, const struct data_event *event)
{
	(void)context, (void)event;
	return true;
}

static int on_event(void *context, const struct syscall_event *event, struct str *err)
{
	struct traced *traced = context;

	(void)err;
	if (traced->summary)
		syscall_summary_event(traced->summary, event);
	else if (traced->json)
		syscall_json_add_event(&traced->lines, event, &traced->text);
	else
		syscall_line_add_event(&traced->lines, event, &traced->text);
	return 0;
}

static int on_lost(void *context, uint64_t where_ns, uint64_t n, struct str *err)
{
	struct traced *traced = context;

	(void)err;
	if (traced->summary)
		syscall_summary_lost(traced->summary, n);
	else if (traced->json)
		syscall_json_add_lost(where_ns, n, &traced->text);
	else
		syscall_line_add_lost(&traced->lines, where_ns, n, &traced->text);
	return 0;
}

static void on_gone(void *context, struct syscall_thread *thread)
{
	struct traced *traced = context;

	if (traced->summary)
		syscall_summary_gone(traced->summary, thread);
}

enum trace_way { LINES, KERNEL_FORMAT, OBJECTS, TABLES, TRACE_WAYS };

static void read_calls(struct traced *traced, struct reader *reader, enum trace_way way)
{
	const struct syscall_sink sink = { traced, on_call, wants, on_event, on_lost, on_gone };
	struct str err = STR_INIT;

	traced->stream = syscall_stream_new(&traced->session, &traced->table, &traced->selection, &sink, &err);
	if (traced->stream) {
		traced->lines = (struct syscall_lines){
			.table = &traced->table, .session = &traced->session, .stacks = way != KERNEL_FORMAT,
			.tracepoints = syscall_stream_tracepoints(traced->stream),
			.kernel_format = way == KERNEL_FORMAT,
		};
		if (way == TABLES)
			traced->summary = syscall_summary_new(&(struct syscall_summary_options){
				.table = &traced->table, .replay = &traced->session.replay, .errnos = true,
				.histogram = true, .runtime = true });
		syscall_stream_run(traced->stream, &reader->source, &err);
		syscall_stream_end(traced->stream, &err);
		if (traced->summary)
			syscall_summary_print(traced->summary, &traced->text);
		check_text(&traced->text, traced->json);
	}
	str_release(&err);
}

static void run_trace(int fd, enum trace_way way)
{
	struct traced traced = { .json = way == OBJECTS, .text = STR_INIT };
	struct reader reader;
	struct str err = STR_INIT;

	if (open_input(&reader, fd)) {
		reader_know_events(&reader);
		syscall_table_init(&traced.table, reader.info.arch);
		if (!session_init(&traced.session, &reader, &session_options, &err))
			read_calls(&traced, &reader, way);
		syscall_summary_free(traced.summary);
		syscall_stream_free(traced.stream);
		session_release(&traced.session);
		syscall_table_release(&traced.table);
	}
	reader_close(&reader);
	str_release(&traced.text);
	str_release(&err);
}

/* ---- sched ---- */

static void on_progress(void *context, double part)
{
	(void)context, (void)part;
}

static void print_timehist(struct sched *sched, struct output *output, struct str *err)
{
	const struct timehist_options options = { .wakeups = true, .migrations = true, .next = true,
						  .cpu_visual = true, .state = true, .prio = true, .summary = true,
						  .max_stack = 5 };

	timehist_print(sched, &options, output, on_progress, NULL, err);
}

static void print_latency(struct sched *sched, struct output *output, struct str *err)
{
	const struct latency_options options = { .keys = { LATENCY_AVG }, .n_keys = 1 };

	latency_print(sched, &options, output, on_progress, NULL, err);
}

static void print_latency_objects(struct sched *sched, struct output *output, struct str *err)
{
	const struct latency_options options = { .keys = { LATENCY_MAX }, .n_keys = 1, .by_task = true,
						 .format.json = true };

	latency_print(sched, &options, output, on_progress, NULL, err);
}

static void print_map(struct sched *sched, struct output *output, struct str *err)
{
	const struct cpu_map_options options = { .explain_all = true };

	cpu_map_print(sched, &options, output, on_progress, NULL, err);
}

static void print_times(struct sched *sched, struct output *output, struct str *err)
{
	const struct task_times_options options = { .by_delay = true };

	task_times_print(sched, &options, output, on_progress, NULL, err);
}

static const struct {
	void (*print)(struct sched *sched, struct output *output, struct str *err);
	bool objects;
} views[] = {
	{ print_timehist, false }, { print_latency, false }, { print_latency_objects, true }, { print_map, false },
	{ print_times, false },
};

static void run_sched(int fd, size_t view)
{
	const struct sched_options options = { .session = session_options };
	struct output output = { .text = STR_INIT };
	struct sched *sched = NULL;
	struct reader reader;
	struct str err = STR_INIT;

	if (open_input(&reader, fd) && !sched_new(&sched, &options, &reader, &err)) {
		views[view].print(sched, &output, &err);
		check_text(&output.text, views[view].objects);
	}
	sched_free(sched);
	reader_close(&reader);
	str_release(&output.text);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size))
		abort();
	for (enum trace_way way = LINES; way < TRACE_WAYS; way++)
		run_trace(fd, way);
	for (size_t view = 0; view < ARRAY_SIZE(views); view++)
		run_sched(fd, view);
	close(fd);
	return 0;
}
