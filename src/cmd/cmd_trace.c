/* SPDX-License-Identifier: MIT */
/*
 * pstat trace: the wiring. A recording of all entries and exits of system calls in a thread of its own (live_run.c), or
 * one from a file, is read by a stream of calls; each is printed as a line, or counted for the summary, or both. So are
 * samples of other events between them.
 */
#include "cmd/call_texts.h"
#include "cmd/command.h"
#include "cmd/live_run.h"
#include "cmd/message.h"
#include "cmd/sample_run.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"
#include "cmd/trace_intervals.h"
#include "cmd/trace_options.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* From a call's end to its line it takes at most two of these; nobody waits for a call of a table. */
#define DRAIN_NS (50 * NS_PER_MS)
#define SUMMARY_DRAIN_NS (500 * NS_PER_MS)

struct trace_run {
	const struct trace_words *words;
	const char *path; /* of the file that is open for the output; NULL: it goes elsewhere */
	struct sample_run out;
	struct live_run live; /* not where a file is read */
	struct bpf_texts *texts; /* NULL: pointers are printed as such */
	enum syscall_abi abi; /* of this machine */
	struct syscall_table table;
	struct syscall_selection selection;
	struct session session;
	struct syscall_stream *stream;
	struct syscall_lines lines;
	struct syscall_summary *summary; /* NULL: none is wanted */
	struct trace_intervals intervals;
	uint64_t n_lines, lost;
};

static void fail_with(struct trace_run *run, struct str *err)
{
	output_end(&run->out.output);
	message_error("%s", err->s);
	str_reset(err);
	run->out.status = EXIT_PSTAT_FAILED;
}

static int output_to_stderr(void *context, struct str *text)
{
	int code = write_all(STDERR_FILENO, text->s, text->len);

	(void)context;
	str_reset(text);
	return code;
}

/* ---- calls ---- */

/* sample NULL: it has no stack. */
static bool is_deep_enough(const struct trace_run *run, const struct replay_sample *sample)
{
	const unsigned least = run->words->least_frames;

	return !least || (sample && syscall_stack_depth(&run->lines, sample) >= least);
}

static bool has_line(const struct trace_run *run, const struct syscall_call *call)
{
	const struct trace_words *words = run->words;

	if (words->summary || (words->failure && !syscall_failed(call)) || !is_deep_enough(run, call->exit))
		return false;
	return !words->least_ns || (call->state == CALL_WHOLE && call->ended_ns - call->begun_ns >= words->least_ns);
}

static void set_base(struct trace_run *run)
{
	if (!run->words->full_time)
		run->lines.base_ns = syscall_stream_begun(run->stream);
}

/* 1: the reader is gone, or there are lines enough. */
static int end_line(struct trace_run *run)
{
	run->n_lines++;
	return output_step(&run->out.output) || run->n_lines == run->words->max_events;
}

/* A call is of the interval that it ended in; one without an end of the one that is open then. */
static void count_call(struct trace_run *run, const struct syscall_call *call)
{
	if (call->exit)
		trace_intervals_reach(&run->intervals, run->summary, call->ended_ns, &run->out.output);
	syscall_summary_take(run->summary, call);
}

static int on_call(void *context, const struct syscall_call *call, struct str *err)
{
	struct trace_run *run = context;

	(void)err;
	if (run->summary)
		count_call(run, call);
	if (!has_line(run, call))
		return 0;
	set_base(run);
	if (run->words->json)
		syscall_json_add(&run->lines, call, &run->out.output.text);
	else
		syscall_line_add(&run->lines, call, &run->out.output.text);
	return end_line(run);
}

static bool wants_event(void *context, const struct data_event *event)
{
	const struct trace_run *run = context;

	return trace_words_want(run->words, event);
}

/* Times on a CPU are summed up only, unless -e names their event. */
static bool event_has_line(const struct trace_run *run, const struct syscall_event *event)
{
	const struct trace_words *words = run->words;

	return !words->summary && !(event->point == POINT_RUNTIME && words->runtime) &&
	       !intset_has(&words->left_out, event->thread->thread->tid) && is_deep_enough(run, event->sample);
}

static int on_event(void *context, const struct syscall_event *event, struct str *err)
{
	struct trace_run *run = context;

	(void)err;
	if (run->summary)
		syscall_summary_event(run->summary, event);
	if (!event_has_line(run, event))
		return 0;
	set_base(run);
	if (run->words->json)
		syscall_json_add_event(&run->lines, event, &run->out.output.text);
	else
		syscall_line_add_event(&run->lines, event, &run->out.output.text);
	return end_line(run);
}

static int on_lost(void *context, uint64_t where_ns, uint64_t n, struct str *err)
{
	struct trace_run *run = context;

	(void)err;
	run->lost += n;
	if (run->summary)
		syscall_summary_lost(run->summary, n);
	if (run->words->summary)
		return 0;
	set_base(run);
	if (run->words->json)
		syscall_json_add_lost(where_ns, n, &run->out.output.text);
	else
		syscall_line_add_lost(&run->lines, where_ns, n, &run->out.output.text);
	return output_step(&run->out.output) != 0;
}

static void on_gone(void *context, struct syscall_thread *thread)
{
	struct trace_run *run = context;

	if (run->summary)
		syscall_summary_gone(run->summary, thread);
}

/* ---- the run ---- */

static int open_session(struct trace_run *run, struct str *err)
{
	struct session_options options = run->words->sample.session;
	struct live_source *live = run->live.live;

	options.replay.data_maps = run->words->faults || !live;
	return live ? session_init_live(&run->session, live_source_recording(live), live_source_source(live), &options,
					err) :
		      session_init(&run->session, &run->out.reader, &options, err);
}

static void begin_intervals(struct trace_run *run)
{
	const struct trace_words *words = run->words;
	const int fd = words->output ? STDOUT_FILENO : STDERR_FILENO;

	run->intervals = (struct trace_intervals){
		.interval_ns = (uint64_t)words->interval_ms * NS_PER_MS, .json = words->json,
		.clears = words->interval_clear && !words->json && !run->path && isatty(fd),
		.lines = terminal_lines(fd),
	};
}

static bool open_stream(struct trace_run *run)
{
	const struct trace_words *words = run->words;
	const struct syscall_sink sink = { .context = run, .call = on_call, .wants = wants_event, .event = on_event,
					   .lost = on_lost, .gone = on_gone };
	struct str err = STR_INIT;

	if (!open_session(run, &err) && !trace_words_find(words, run->session.recording->events, &err) &&
	    !trace_words_need_cgroups(words, run->session.recording->events, &err))
		run->stream = syscall_stream_new(&run->session, &run->table, &run->selection, &sink, &err);
	if (run->stream) {
		const struct syscall_summary_options options = {
			.table = &run->table,
			.replay = &run->session.replay,
			.errnos = words->errno_summary,
			.histogram = words->histogram,
			.mode = (enum syscall_summary_mode)words->summary_mode,
			.max_rows = words->max_rows,
			.runtime = words->runtime,
		};

		run->lines = (struct syscall_lines){
			.table = &run->table, .session = &run->session,
			.tracepoints = syscall_stream_tracepoints(run->stream), .no_comm = words->no_comm,
			.cpu = words->cpu,
			.stacks = words->stacks > 0 || (words->stacks < 0 && !run->live.live),
			.no_calls = words->no_calls, .kernel_format = words->kernel_format,
		};
		if (words->summary || words->with_summary)
			run->summary = syscall_summary_new(&options);
		begin_intervals(run);
	} else if (run->words->sample.dump.input) {
		sample_run_fail(&run->out, err.s);
	} else {
		fail_with(run, &err);
	}
	str_release(&err);
	return run->stream;
}

static void wait_for_records(struct trace_run *run)
{
	struct pollfd news = { .fd = live_source_fd(run->live.live), .events = POLLIN };
	const bool ticks = run->summary && run->words->interval_ms;

	output_end(&run->out.output);
	poll(&news, 1, ticks ? trace_intervals_wait_ms(&run->intervals) : -1);
	if (ticks)
		trace_intervals_tick(&run->intervals, run->summary, &run->out.output);
}

/* The last tables: those of the interval that was not over, or of all the time. */
static void end_summary(struct trace_run *run)
{
	if (run->words->interval_ms)
		trace_intervals_end(&run->intervals, run->summary, &run->out.output);
	else if (run->words->json)
		syscall_summary_json(run->summary, &run->out.output.text);
	else
		syscall_summary_print(run->summary, &run->out.output.text);
}

/* Reads to the end, whatever ends it; then prints what is known only then. */
static void read_calls(struct trace_run *run)
{
	struct str err = STR_INIT;
	int code;

	while ((code = syscall_stream_run(run->stream, run->session.source, &err)) > 0 && !run->out.output.failed)
		wait_for_records(run);
	if (code < 0)
		fail_with(run, &err);
	if (syscall_stream_end(run->stream, &err))
		fail_with(run, &err);
	if (run->summary)
		end_summary(run);
	str_release(&err);
}

static void trace_live(struct trace_run *run)
{
	const struct trace_words *words = run->words;
	struct str err = STR_INIT;

	if (live_run_begin(&run->live, &err)) {
		fail_with(run, &err);
	} else if (run->live.live) {
		if (open_stream(run))
			read_calls(run);
		live_run_stop(&run->live);
	}
	if (!words->record.quiet && run->lost)
		note_add(&run->live.notes, false, "larger rings (-m 16M) and fewer calls (-e) lose less",
			 "%" PRIu64 " events were lost", run->lost);
	str_release(&err);
}

static void trace_file(struct trace_run *run)
{
	if (open_stream(run))
		read_calls(run);
	if (!run->words->record.quiet)
		message_notes(run->out.reader.recording.notes, 0, run->words->record.verbose > 0);
}

/* Ctrl-C is how it is ended. */
static int exit_status(struct trace_run *run, int of_run)
{
	int status;

	sample_run_end_file(&run->out, run->path);
	status = sample_run_close(&run->out);
	return status ? status : of_run == 128 + SIGINT ? 0 : of_run;
}

/* Opens what is read, or what is recorded. 0, or an exit status after a message. */
static int begin(struct trace_run *run, struct trace_words *words)
{
	const bool from_file = words->sample.dump.input;
	const char *path = words->output && strcmp(words->output, "-") != 0 ? words->output : NULL;
	struct utsname here;
	struct str err = STR_INIT;
	int status = 0;

	uname(&here);
	run->abi = syscall_abi_of(here.machine);
	if (!from_file)
		sample_run_begin(&run->out, &words->sample);
	else if (sample_run_open(&run->out, &words->sample))
		reader_know_events(&run->out.reader);
	else
		return run->out.status;
	if (!words->output)
		run->out.output.write = output_to_stderr;
	syscall_table_init(&run->table, from_file ? run->out.reader.info.arch : here.machine);
	if (trace_words_select(words, &run->table, &run->selection, &err) ||
	    (!from_file && trace_words_complete(words, &run->table, &run->selection, run->abi, &err)))
		status = bad_usage("trace: %s", err.s);
	else if (path && !sample_run_to_file(&run->out, path))
		status = run->out.status;
	else
		run->path = path;
	str_release(&err);
	return status;
}

static int record_and_trace(struct trace_run *run, struct trace_words *words)
{
	struct record_plan *plan = &words->record.plan;
	struct exec_state found;

	run->live = (struct live_run){ .plan = plan, .quiet = words->record.quiet, .verbose = words->record.verbose,
				       .keeps_samples = true };
	if (!words->summary && !words->no_calls)
		run->texts = call_texts_new(&words->record, &run->table, &run->selection, run->abi, &run->live.notes);
	run->live.texts = run->texts;
	plan->stop = signals_catch(false, &found);
	plan->found = &found;
	plan->drain_every_ns = plan->drain_later_every_ns =
		words->summary && !words->interval_ms ? SUMMARY_DRAIN_NS : DRAIN_NS;
	memory_return_large();
	trace_live(run);
	return live_run_end(&run->live);
}

static int run_trace(struct trace_words *words)
{
	struct trace_run run = { .words = words };
	int status = begin(&run, words);

	if (!status && words->sample.dump.input)
		trace_file(&run);
	else if (!status)
		status = record_and_trace(&run, words);
	status = exit_status(&run, status);
	bpf_texts_free(run.texts);
	syscall_summary_free(run.summary);
	syscall_stream_free(run.stream);
	session_release(&run.session);
	syscall_selection_release(&run.selection);
	syscall_table_release(&run.table);
	return status;
}

/* pstat record with the events of pstat trace, and what else the words say. */
static int record_calls(int argc, char **argv, const struct kern *kern)
{
	static char name[] = "record", event[] = "--event=" TRACED_EVENTS, each[] = "--count=1",
		others[] = "--exclude-perf",
		texts[] = "--syscall-texts";
	char **words = xcalloc((size_t)argc + 5, sizeof(*words));
	const struct command *record = command_find(name);
	int status;

	words[0] = name;
	words[1] = event;
	words[2] = each;
	words[3] = others;
	words[4] = texts;
	memcpy(words + 5, argv + 1, ((size_t)argc - 1) * sizeof(*words));
	status = record->run(record, argc + 4, words, kern);
	free(words);
	return status;
}

const struct command trace_parts[] = {
	{ "trace record", "[<options>] [<command>]", "record system calls into a file, for pstat trace -i",
	  record_options, "", .run = cmd_record, .measures = true, .options_end = true },
	{ .name = NULL },
};

int cmd_trace(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct trace_words words;
	int first, status;

	if (argc > 1 && !strcmp(argv[1], "record"))
		return record_calls(argc - 1, argv + 1, kern);
	trace_words_init(&words, kern);
	status = command_parse(self, argc, argv, &words, &first);
	if (status < 0) {
		if (first < argc)
			words.record.plan.argv = argv + first;
		status = trace_words_check(&words);
		if (!status)
			status = run_trace(&words);
	}
	trace_words_release(&words);
	return status;
}
