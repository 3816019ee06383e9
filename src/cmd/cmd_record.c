/* SPDX-License-Identifier: MIT */
/*
 * pstat record: the wiring. Words become a plan, the plan runs (record/record_run.c), its notes and totals go to
 * stderr. Nothing is computed here. Each loss is a number in the closing lines, also when it is 0: nobody should
 * have to guess whether the recording is whole.
 */
#include "bpf/bpf.h"
#include "buildcache/buildcache.h"
#include "cmd/call_texts.h"
#include "cmd/command.h"
#include "cmd/control_place.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/record_options.h"
#include "cmd/recording_symbols.h"
#include "cmd/signals.h"
#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- the closing lines ---- */

static void add_bytes(struct str *out, uint64_t bytes)
{
	str_addf(out, "%.3f MB", (double)bytes / (1024 * 1024));
}

static void add_plural(struct str *out, uint64_t n, const char *what)
{
	str_addf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void add_rate(struct str *out, const struct record_event_totals *event)
{
	if (event->asked_hz > 0 && event->running_ns)
		str_addf(out, ", %.0f of %.0f Hz", event->achieved_hz, event->asked_hz);
}

static void add_losses(struct str *out, uint64_t lost, uint64_t throttled)
{
	str_addf(out, ", %" PRIu64 " lost, %" PRIu64 " throttled", lost, throttled);
}

static size_t n_sampled(const struct record_totals *totals)
{
	size_t n = 0;

	for (size_t i = 0; i < totals->n_events; i++)
		n += !totals->events[i].tracking;
	return n;
}

static void add_events(struct str *out, const struct record_totals *totals)
{
	size_t n_silent = 0;

	for (size_t i = 0; i < totals->n_events; i++) {
		const struct record_event_totals *event = &totals->events[i];

		if (event->tracking)
			continue;
		if (!event->samples && !event->lost && !event->throttled) {
			n_silent++;
			continue;
		}
		str_add(out, "[   ");
		str_add_printable(out, event->name, strlen(event->name));
		str_add(out, ": ");
		add_plural(out, event->samples, "sample");
		add_rate(out, event);
		add_losses(out, event->lost, event->throttled);
		str_add(out, " ]\n");
	}
	if (n_silent) {
		str_add(out, "[   ");
		add_plural(out, n_silent, "event");
		str_add(out, " without samples ]\n");
	}
}

/* The line on a terminal that is renewed every second: begins with a return, ends without a newline. */
static void record_progress_add(struct str *out, const struct record_totals *totals)
{
	str_addf(out, "\r[ pstat record: %" PRIu64 " s, ", totals->elapsed_ns / NS_PER_S);
	add_plural(out, totals->samples, "sample");
	str_add(out, ", ");
	add_bytes(out, totals->bytes);
	if (totals->lost)
		str_addf(out, ", %" PRIu64 " lost", totals->lost);
	str_add(out, " ]\033[K");
}

/* Samples that --filter left out, of all events that have one. */
static void add_filters(struct str *out, const struct record_totals *totals)
{
	uint64_t left_out = 0;

	for (size_t i = 0; i < totals->n_events; i++)
		left_out += totals->events[i].left_out;
	if (!totals->has_filters)
		return;
	str_add(out, "  ");
	add_plural(out, left_out, "sample");
	str_add(out, " left out by --filter\n");
}

enum chain_class { CHAINS_COMPLETE, CHAINS_CUT, CHAINS_BROKEN, CHAINS_LONG, CHAIN_CLASSES };

/* How chains ended, in words of one line. To add one: enum chain_end, a row, pstat.data(5), session_notes.c. */
static const struct chain_row {
	enum chain_class class;
	const char *where; /* of its class; NULL: there is no more to say */
	const char *remedy; /* or NULL */
} chain_rows[CHAIN_ENDS] = {
	[CHAIN_COMPLETE] = { CHAINS_COMPLETE, NULL, NULL },
	[CHAIN_GUESSED] = { CHAINS_COMPLETE, NULL, NULL },
	[CHAIN_CUT] = { CHAINS_CUT, NULL, "larger copies (--call-graph dwarf,65528) cut fewer stacks" },
	[CHAIN_NO_COPY] = { CHAINS_CUT, "without any copy", NULL },
	[CHAIN_OTHER_STACK] = { CHAINS_CUT, "below signal handlers with stacks of their own", NULL },
	[CHAIN_NO_INFO] = { CHAINS_BROKEN, "in code without tables",
			    "code without tables needs frame pointers, or the debug file that has them" },
	[CHAIN_MADE] = { CHAINS_BROKEN, "in code made at run time",
			 "let the run-time compiler keep frame pointers (java -XX:+PreserveFramePointer, "
			 "python -X perf), or record copies, --call-graph dwarf,raw, if its dump (jit-PID.dump) comes "
			 "late (python -X perf_jit)" },
	[CHAIN_NO_FILE] = { CHAINS_BROKEN, "in files that are unreadable or overwritten",
			    "to read unreadable files, record as a user who may" },
	[CHAIN_NOT_64] = { CHAINS_BROKEN, "of 32-bit programs", NULL },
	[CHAIN_STRAY] = { CHAINS_BROKEN, "where there is no code", NULL },
	[CHAIN_BROKEN] = { CHAINS_BROKEN, NULL, NULL },
	[CHAIN_LIMIT] = { CHAINS_LONG, NULL, NULL },
};

static uint64_t n_of_class(const struct chain_totals *chains, enum chain_class class)
{
	uint64_t n = 0;

	for (size_t end = 0; end < CHAIN_ENDS; end++)
		n += chain_rows[end].class == class ? chains->ends[end] : 0;
	return n;
}

/* ", 130 broken (120 in code without tables, 10 of 32-bit programs)" */
static void add_class(struct str *out, const struct chain_totals *chains, enum chain_class class, const char *name)
{
	bool any = false;

	str_addf(out, ", %" PRIu64 " %s", n_of_class(chains, class), name);
	for (size_t end = 0; end < CHAIN_ENDS; end++) {
		if (chain_rows[end].class != class || !chain_rows[end].where || !chains->ends[end])
			continue;
		str_addf(out, "%s%" PRIu64 " %s", any ? ", " : " (", chains->ends[end], chain_rows[end].where);
		any = true;
	}
	str_add(out, any ? ")" : "");
}

/* The remedy against what cut most chains. Single stacks are cut with any program: it takes one in a hundred. */
static const char *remedy(const struct chain_totals *chains)
{
	const char *found = NULL;
	uint64_t most = chains->n / 100;

	for (size_t end = 0; end < CHAIN_ENDS; end++) {
		bool helps = chain_rows[end].remedy && (end != CHAIN_CUT || chains->copy_bytes < STACK_DUMP_BYTES_MAX);

		if (helps && chains->ends[end] > most) {
			most = chains->ends[end];
			found = chain_rows[end].remedy;
		}
	}
	return found;
}

/* How the chains of all stacks that were unwound ended, and what to do about what ended early most often. */
static void add_chains(struct str *out, const struct record_totals *totals)
{
	const struct chain_totals *chains = &totals->chains;

	if (!chains->n)
		return;
	str_add(out, "  ");
	add_plural(out, chains->n, "stack");
	str_addf(out, " unwound: %" PRIu64 " complete", n_of_class(chains, CHAINS_COMPLETE));
	add_class(out, chains, CHAINS_CUT, "cut");
	add_class(out, chains, CHAINS_BROKEN, "broken");
	if (n_of_class(chains, CHAINS_LONG))
		add_class(out, chains, CHAINS_LONG, "with more frames than asked for");
	if (chains->guessed)
		str_addf(out, "; %" PRIu64 " by frame pointers in part", chains->guessed);
	str_addc(out, '\n');
	if (remedy(chains))
		str_addf(out, "  %s\n", remedy(chains));
}

/*
 * "[ pstat record: wrote 1.250 MB to perf.data: 40123 samples, 3998 of 4000 Hz, 0 lost, 0 throttled ]",
 * then a line for each event where there are several, and what to do about losses.
 */
static void record_summary_add(struct str *out, const struct record_totals *totals,
			       const struct recording_words *words)
{
	size_t n = n_sampled(totals);

	str_add(out, "[ pstat record: wrote ");
	add_bytes(out, totals->bytes);
	str_add(out, " to ");
	if (words->piped)
		str_add(out, "the pipe on standard output (-o names a file)");
	else
		str_add_printable(out, totals->path, strlen(totals->path));
	if (totals->files > 1)
		str_addf(out, " and %u more", totals->files - 1);
	str_add(out, ": ");
	add_plural(out, totals->samples, "sample");
	for (size_t i = 0; n == 1 && i < totals->n_events; i++) {
		if (!totals->events[i].tracking)
			add_rate(out, &totals->events[i]);
	}
	add_losses(out, totals->lost, totals->throttled);
	if (totals->not_written)
		str_addf(out, ", %" PRIu64 " not written", totals->not_written);
	if (totals->cut)
		str_addf(out, ", %" PRIu64 " without their stack", totals->cut);
	str_add(out, " ]\n");
	if (n > 1)
		add_events(out, totals);
	if (totals->strange)
		str_addf(out, "  %" PRIu64 " of no event: another user samples the same software events, and the "
			 "kernel mixes them up; record one of these events alone to keep all samples\n",
			 totals->strange);
	add_filters(out, totals);
	add_chains(out, totals);
	if (totals->has_off_cpu)
		message_add_waits(out, &totals->off_cpu, &words->plan.sampling);
	if (totals->dropped || totals->cut)
		str_addf(out, "  %" PRIu64 " dropped, %" PRIu64 " cut: the disk or reader was too slow; a "
			 "larger --buffer-size covers longer pauses\n", totals->dropped, totals->cut);
	if (totals->lost > totals->dropped)
		str_add(out, "  larger rings (-m 4M), a lower rate (-F) or shorter callchains lose less\n");
}

/* ---- what a run reports ---- */

enum { PROGRESS_AFTER_S = 2, OFF_CPU_LEAST_MS = 500 /* perf's */ };

/* The callbacks of a run get this. */
struct record_session {
	const struct recording_words *words;
	struct bpf_filtering *filtering; /* NULL before the events are open */
	struct bpf_texts *texts; /* NULL: none are copied */
	struct note_list notes;
	size_t n_noted; /* notes that were printed */
	bool progress; /* stderr is a terminal */
	bool progress_shown;
	struct progress cache_progress;
};

static void to_stderr(struct str *text)
{
	/* Nothing is left to do if this fails. */
	(void)!write_all(STDERR_FILENO, text->s, text->len);
	str_release(text);
}

static void print_notes(struct record_session *session)
{
	if (!session->words->quiet)
		session->n_noted = message_notes(&session->notes, session->n_noted,
						 session->words->verbose > 0);
}

static void on_opened(void *data, const struct counter_set *set)
{
	struct record_session *session = data;

	print_notes(session);
	if (session->progress && session->words->whole_machine && !session->words->plan.duration_ns)
		message_error("no command or task is given: recording the whole machine; Ctrl-C ends it");
	for (size_t i = 0; i < set->n && session->words->verbose && !session->words->quiet; i++)
		message_counter(&set->v[i]);
}

static int on_attach(void *data, const struct counter_set *set, struct str *err)
{
	struct record_session *session = data;

	if (session->texts)
		call_texts_attach(session->texts, set, &session->notes);
	return bpf_filtering_new(&session->filtering, set, &session->notes, err);
}

static bool on_filters_itself(void *data, size_t counter)
{
	const struct record_session *session = data;

	return bpf_filtering_has(session->filtering, counter);
}

static uint64_t on_left_out(void *data, size_t counter)
{
	const struct record_session *session = data;

	return bpf_filtering_left_out(session->filtering, counter);
}

static void on_list_events(void *data, const struct events *events, const char *words)
{
	const struct evlist_options options = {
		.verbose = strstr(words, "-v") != NULL,
		.group = strstr(words, "-g") != NULL,
		.freq = strstr(words, "-F") != NULL,
	};
	struct str text = STR_INIT;

	(void)data;
	events_print(events, NULL, &options, &text);
	to_stderr(&text);
}

static void on_progress(void *data, const struct record_totals *totals)
{
	struct record_session *session = data;
	struct str text = STR_INIT;

	if (!session->progress || totals->elapsed_ns < PROGRESS_AFTER_S * NS_PER_S)
		return;
	record_progress_add(&text, totals);
	session->progress_shown = true;
	to_stderr(&text);
}

static void on_cache_progress(void *data, double part)
{
	struct record_session *session = data;

	if (!session->cache_progress.begun_ns)
		progress_init(&session->cache_progress, "copying sampled files into the cache", session->progress);
	progress_step(&session->cache_progress, NULL, part);
}

static void print_summary(struct record_session *session, const struct record_totals *totals)
{
	struct str text = STR_INIT;

	progress_end(&session->cache_progress);
	if (session->progress_shown)
		str_add(&text, "\r\033[K");
	if (totals->path && !session->words->quiet)
		record_summary_add(&text, totals, session->words);
	to_stderr(&text);
}

/* Says what a report would about callchains. A recording that can't be read has said so, or its reader will. */
static void note_chains(struct record_session *session, const struct record_totals *totals)
{
	const struct record_plan *plan = &session->words->plan;
	const struct sym_options sym = { .buildid_dir = plan->cache_dir, .keep_answers = !plan->no_cache };
	struct str ignored = STR_INIT;
	struct interrupt interrupt;
	struct stop_since since;

	/* Avoids a plan that was never filled: it has no recording, and no stop flag. */
	if (!totals->path || session->words->quiet)
		return;
	interrupt = stop_interrupt(&since, plan->stop);
	recording_note_chains(totals->fd, totals->path, &sym, &interrupt, &session->notes, &ignored);
	str_release(&ignored);
}

/* ---- words -> plan ---- */

static int run_plan(struct recording_words *words, struct record_session *session)
{
	struct control_place control = CONTROL_PLACE_INIT;
	struct exec_state found;
	struct record_plan *plan = &words->plan;
	struct record_totals totals = { 0 };
	struct str err = STR_INIT;
	int status = EXIT_BAD_USAGE;

	if (!control_place_open(&control, words->control, &err)) {
		plan->control_fd = control.fd;
		plan->ack_fd = control.ack_fd;
		plan->notes = &session->notes;
		plan->stop = signals_catch(true, &found);
		plan->found = &found;
		plan->opened = on_opened;
		plan->attach = on_attach;
		plan->filters_itself = on_filters_itself;
		plan->left_out = on_left_out;
		plan->list_events = on_list_events;
		plan->progress = session->progress ? on_progress : NULL;
		plan->cache_progress = on_cache_progress;
		plan->data = session;
		record_run(plan, &totals, &status, &err);
	}
	print_summary(session, &totals);
	note_chains(session, &totals);
	print_notes(session);
	if (err.len)
		message_error("%s", err.s);
	if (words->symbols_in_file && totals.path &&
	    recording_symbols_put(totals.fd, totals.path,
				  &(struct symbols_put){ .cache_dir = plan->cache_dir,
							 .quiet = words->quiet,
							 .no_cache = plan->no_cache },
				  plan->stop) && !status)
		status = EXIT_PSTAT_FAILED;
	record_totals_release(&totals);
	control_place_close(&control);
	str_release(&err);
	return status;
}

/* All calls have theirs: the recording is read by who asks for some of them. */
static void copy_call_texts(struct recording_words *words, struct record_session *session)
{
	const struct syscall_selection all = { 0 };
	struct syscall_table table;
	struct utsname here;

	uname(&here);
	syscall_table_init(&table, here.machine);
	session->texts = call_texts_new(words, &table, &all, syscall_abi_of(here.machine), &session->notes);
	syscall_table_release(&table);
}

/* Removes a recording of --kcore; a folder that has anything else stays. */
static void remove_folder(const char *name)
{
	static const char *const files[] = { "data", "kcore_dir/kcore", "kcore_dir/kallsyms", "kcore_dir/modules",
					     "kcore_dir", "" };

	char *code = xasprintf("%s/kcore_dir", name);
	bool ours = !access(code, F_OK);

	free(code);
	for (size_t i = 0; ours && i < ARRAY_SIZE(files); i++) {
		char *path = xasprintf("%s/%s", name, files[i]);

		if (unlink(path) && (errno == EISDIR || errno == EPERM))
			rmdir(path);
		free(path);
	}
}

/*
 * Makes the folder of --kcore, with the kernel's code in it; what had its name before is NAME.old. *data, which the
 * caller frees: the recording in it.
 */
static int make_folder(const char *name, const char *kcore, char **data, struct str *err)
{
	char *old = xasprintf("%s.old", name), *code = xasprintf("%s/kcore_dir", name);
	int rc = 0;

	if (!access(name, F_OK))
		remove_folder(old); /* the one before */
	if (rename(name, old) && errno != ENOENT)
		rc = fail(err, -errno, "%s: cannot be renamed to %s: %s", name, old, strerror(errno));
	else if (mkdir(name, 0700))
		rc = fail(err, -errno, "%s: %s", name, strerror(errno));
	else
		rc = kcore_copy(kcore, code, NULL, err);
	if (rc)
		rmdir(name);
	else
		*data = xasprintf("%s/data", name);
	free(old);
	free(code);
	return rc;
}

int cmd_record(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct recording_words words;
	struct record_session session = { .words = &words };
	char program[] = "pstat", **own_argv = NULL, *data = NULL;
	struct str err = STR_INIT;
	int first, status;

	recording_words_init(&words, kern);
	words.plan.sampling.off_cpu_least_ns = OFF_CPU_LEAST_MS * NS_PER_MS;
	status = command_parse(self, argc, argv, &words, &first);
	if (status >= 0)
		goto out;
	if (first < argc)
		words.plan.argv = argv + first;
	/* For the header: the words as they were typed, argv[0] being the subcommand. */
	words.plan.argc = argc + 1;
	own_argv = xcalloc((size_t)argc + 2, sizeof(*own_argv));
	memcpy(own_argv + 1, argv, (size_t)argc * sizeof(*own_argv));
	own_argv[0] = program;
	words.plan.own_argv = own_argv;
	if (recording_words_complete(&words, &err)) {
		status = bad_usage("%s", err.s);
		goto out;
	}
	if (words.kcore && make_folder(words.plan.path, words.kcore, &data, &err)) {
		message_error("--kcore: %s", err.s);
		status = EXIT_PSTAT_FAILED;
		goto out;
	}
	if (data)
		words.plan.path = data;
	session.progress = !words.quiet && isatty(STDERR_FILENO);
	if (!words.quiet)
		message_notes(&words.what.events.notes, 0, words.verbose > 0);
	if (words.call_texts)
		copy_call_texts(&words, &session);
	status = run_plan(&words, &session);
	bpf_filtering_free(session.filtering);
	bpf_texts_free(session.texts);
out:
	note_list_release(&session.notes);
	recording_words_release(&words);
	free(own_argv);
	free(data);
	str_release(&err);
	return status;
}
