/* SPDX-License-Identifier: MIT */
/*
 * pstat top: the wiring. A recording in a thread of its own (live_run.c), read here while it is taken: a profile
 * that is fed, asked for a table at each tick, and forgets an eighth of what it has after each. Tables are printed;
 * or on a terminal the screen asks for them, feeds the profile between its keys, and makes one each delay.
 */
#include "cmd/browse.h"
#include "cmd/command.h"
#include "cmd/live_run.h"
#include "cmd/message.h"
#include "cmd/sample_run.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"
#include "cmd/top_options.h"
#include "cmd/top_status.h"
#include "screen/screen.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum { DECAY_EIGHTHS = 1, ALL_EIGHTHS = 8, LATER_MS = 100 };
#define FIRST_TABLE_NS (330 * NS_PER_MS)
/*
 * The newest samples of a table are at most twice as old; draining costs a few switches between threads. After the
 * first second that is a quarter of the time between tables.
 */
#define DRAIN_NS (100 * NS_PER_MS)
#define BEGIN_NS (2000 * NS_PER_MS)
#define DRAIN_MOST_NS (500 * NS_PER_MS)
enum { DRAINS_OF_TABLE = 4 };
#define FEED_NS (20 * NS_PER_MS)
#define PATIENCE_NS (100 * NS_PER_MS)
#define FIRST_STATUS_NS (20 * NS_PER_MS)

struct top {
	const struct top_words *words;
	struct live_run run;
	struct question *question; /* that is asked at each tick, and what the profile keeps */
	struct profile *profile;
	struct top_status status;
	struct output output;
	struct ticker tick;
	uint64_t begun_ns;
	uint64_t table_ns, table_cost_ns; /* when the last one was begun, and how long it took; 0: there is none */
	bool failed;
	/*
	 * On a screen: when the next part is forgotten, 0: nothing is to be; nothing more will come; the user has
	 * stopped it.
	 */
	uint64_t forget_ns;
	bool ended, stopped;
	struct str reading_failed; /* why; empty: it did not */
};

/* ---- tables as text ---- */

static void fail_with(struct top *top, struct str *err)
{
	message_error("%s", err->s);
	str_reset(err);
	top->failed = true;
}

/* A table that comes late forgets for those that did not come. */
static unsigned decay_eighths(const struct top *top, uint64_t now)
{
	uint64_t late_ns = top->table_ns ? now - top->table_ns : 0, delay_ns = top->words->delay_ns;
	uint64_t eighths = (late_ns + delay_ns / 2) / delay_ns * DECAY_EIGHTHS;

	if (top->words->zero || eighths > ALL_EIGHTHS)
		return ALL_EIGHTHS;
	return eighths > DECAY_EIGHTHS ? (unsigned)eighths : DECAY_EIGHTHS;
}

/* False: nothing more is to be shown. */
static bool show_table(struct top *top)
{
	const struct report_format *format = top->words->report.format;
	uint64_t begun_ns = now_ns();
	struct table *table = NULL;
	struct str err = STR_INIT;

	top_status_step(&top->status);
	if (table_make(&table, top->profile, top->question, NULL, &err)) {
		fail_with(top, &err);
	} else {
		str_add(&top->output.text, "# top: ");
		top_status_add(&top->status, &top->output.text);
		if (top->question->query.filters.idle_hidden)
			str_add(&top->output.text, ", without idle tasks (-I)");
		str_addc(&top->output.text, '\n');
		format->print(table, &top->output);
		table_free(table);
		top->failed = output_end(&top->output);
		profile_compact(top->profile, decay_eighths(top, begun_ns));
	}
	str_release(&err);
	top->table_ns = begun_ns;
	top->table_cost_ns = now_ns() - begun_ns;
	return !top->failed && !top->words->once;
}

static void wait_for_records(struct top *top)
{
	struct pollfd news = { .fd = live_source_fd(top->run.live), .events = POLLIN };
	uint64_t now = now_ns();

	if (top->tick.next_ns > now)
		poll(&news, 1, (int)((top->tick.next_ns - now) / NS_PER_MS + 1));
}

/* Shows the last samples, too, unless a signal asks for the end now. */
static void show_rest(struct top *top)
{
	const struct session *session = &top->profile->session;

	if (!top->run.plan->stop->signal && session->replay.counts.samples > top->status.samples)
		show_table(top);
}

/*
 * A machine always runs something: where it takes long to begin, the first table waits for that, but not for events
 * that are rare.
 */
static bool has_begun(const struct top *top, uint64_t now)
{
	const struct target_spec *target = &top->run.plan->target;
	uint64_t delay_ns = top->words->delay_ns;

	return top->profile->session.replay.counts.samples || !(target->all_cpus || target->cpus) ||
	       now > top->begun_ns + (delay_ns > BEGIN_NS ? delay_ns : BEGIN_NS);
}

/*
 * How long a table that is due may wait for samples that have come already, which are read first. A table that
 * takes long to make waits for twice its time, so that making it costs no samples; none waits longer than a delay,
 * or it would have the more to show.
 */
static uint64_t patience_ns(const struct top *top)
{
	uint64_t wanted_ns = 2 * top->table_cost_ns;

	if (wanted_ns > top->words->delay_ns)
		wanted_ns = top->words->delay_ns;
	return wanted_ns > PATIENCE_NS ? wanted_ns : PATIENCE_NS;
}

static bool is_due(struct top *top, int fed)
{
	uint64_t now = now_ns();

	if (now >= top->tick.next_ns && !has_begun(top, now)) {
		top->tick.next_ns = now + DRAIN_NS;
		return false;
	}
	return (fed == PROFILE_FED_LATER || now > top->tick.next_ns + patience_ns(top)) && ticker_due(&top->tick, now);
}

static void show_tables(struct top *top)
{
	struct record_source *source = live_source_source(top->run.live);
	struct profile *profile = top->profile;
	struct str err = STR_INIT;
	int rc;

	while ((rc = profile_feed(profile, source, FEED_NS, &err)) > 0) {
		if (is_due(top, rc) && !show_table(top))
			break;
		if (rc == PROFILE_FED_LATER)
			wait_for_records(top);
	}
	if (rc < 0)
		fail_with(top, &err);
	profile_end(profile);
	if (!rc)
		show_rest(top);
	str_release(&err);
}

static uint64_t drain_later_ns(const struct top_words *words)
{
	uint64_t wanted_ns = words->delay_ns / DRAINS_OF_TABLE;

	if (wanted_ns < DRAIN_NS)
		return DRAIN_NS;
	return wanted_ns < DRAIN_MOST_NS ? wanted_ns : DRAIN_MOST_NS;
}

/* The first table comes soon, unless it is to be the only one, and of a time that was asked for. */
static void start_ticks(struct top *top, bool delay_given)
{
	const struct top_words *words = top->words;
	uint64_t first_ns = words->delay_ns < FIRST_TABLE_NS || (words->once && delay_given) ? words->delay_ns :
												FIRST_TABLE_NS;

	top->begun_ns = now_ns();
	ticker_start(&top->tick, top->begun_ns, words->delay_ns);
	top->tick.next_ns = top->begun_ns + first_ns;
}

static void print_notes(struct top *top)
{
	struct session *session = &top->profile->session;

	if (top->words->report.sample.quiet)
		return;
	session_add_notes(session);
	message_notes(&session->notes, 0, top->words->report.sample.verbose > 0);
}

/* ---- tables on a screen ---- */

static unsigned least_eighths(const struct top *top)
{
	return top->words->zero ? ALL_EIGHTHS : DECAY_EIGHTHS;
}

/* Only cells can be asked: what was recorded is kept nowhere. */
static int make_screen_table(void *context, struct table **table, const struct question *question, struct str *err)
{
	struct top *top = context;
	int code = table_make(table, top->profile, question, NULL, err);

	if (code == -EAGAIN)
		return fail(err, -EINVAL,
			    "pstat top does not keep what this needs; use pstat record, then pstat report");
	if (!top->forget_ns)
		top->forget_ns = now_ns() + top->words->delay_ns;
	return code;
}

static void forget(struct top *top)
{
	if (!top->forget_ns || top->stopped || now_ns() < top->forget_ns)
		return;
	profile_compact(top->profile, least_eighths(top));
	top->forget_ns = 0;
}

static int feed_screen(void *context, uint64_t budget_ns, struct str *err)
{
	struct top *top = context;
	struct profile *profile = top->profile;
	int rc;

	forget(top);
	rc = profile_feed(profile, live_source_source(top->run.live), budget_ns, err);
	if (rc > 0)
		return rc == PROFILE_FED_LATER ? SCREEN_FED_LATER : SCREEN_FED_MORE;
	profile_end(profile);
	top->ended = true;
	if (rc < 0)
		str_addn(&top->reading_failed, err->s, err->len);
	return rc < 0 ? rc : SCREEN_FED_ALL;
}

static void add_status(void *context, struct str *out)
{
	struct top *top = context;
	uint64_t least_ns = top->status.samples_per_s > 0 ? top->words->delay_ns / 2 : FIRST_STATUS_NS;

	/* Numbers are those of half a delay at least, so that keys don't make them jump; the first come at once. */
	if (now_ns() >= top->status.time_ns + least_ns)
		top_status_step(&top->status);
	if (top->ended || top->stopped)
		str_add(out, top->ended ? "ended, " : "stopped (f), ");
	top_status_add(&top->status, out);
}

static void add_screen_notes(void *context, struct str *out)
{
	const struct top *top = context;

	top_status_add_losses(&top->status, out);
	str_addc(out, '\n');
	note_list_add_lines(&top->profile->session.notes, out);
}

static void zero(void *context)
{
	const struct top *top = context;

	profile_compact(top->profile, ALL_EIGHTHS);
}

/* While it stands still nothing is forgotten, so that what is shown can be looked at for long. */
static void pause_samples(void *context)
{
	struct top *top = context;

	if (top->ended)
		return;
	top->stopped = !top->stopped;
	top->forget_ns = now_ns() + top->words->delay_ns;
	live_run_pause(&top->run, top->stopped);
}

/*
 * False: there is no screen to be had, and nothing was read. The user ends it by leaving: a recording that ends
 * before does not take the last table away.
 */
static bool browse(struct top *top)
{
	const struct report_words *words = &top->words->report;
	const struct screen_options options = {
		.title = "top",
		.color = top->output.color,
		.dots = top->output.dots,
		.code_options = words->code,
	};
	const struct screen_source source = {
		.context = top,
		.recording = top->profile->session.recording,
		.make = make_screen_table,
		.feed = feed_screen,
		.later_ms = LATER_MS,
		.refresh_ms = (unsigned)(top->words->delay_ns / NS_PER_MS),
		.status = add_status,
		.notes = add_screen_notes,
		.zero = zero,
		.pause = pause_samples,
	};
	struct query query = words->report;
	struct str err = STR_INIT;
	int code;

	query.rows_max = 0;
	code = screen_run(&options, &source, &query, &err);
	if (code == -ENOSYS || code == -ENOTTY)
		browse_not(words->tui, err.s);
	else if (code || top->reading_failed.len)
		fail_with(top, code ? &err : &top->reading_failed);
	str_release(&err);
	return code != -ENOSYS && code != -ENOTTY;
}

/* ---- the run ---- */

/* On a screen other questions will follow. */
static int open_profile(struct top *top, struct str *err)
{
	const struct recording_info *recording = live_source_recording(top->run.live);
	struct profile_options options;
	int code = question_make(&top->question, &top->words->report.report, recording, err);

	if (code)
		return code;
	options = question_profile(top->question, PROFILE_LIVE | (top->words->screen ? PROFILE_FOR_OTHERS : 0));
	code = profile_new_live(&top->profile, &options, recording, live_source_source(top->run.live), err);
	if (!code)
		note_list_join(&top->profile->session.notes, &top->question->notes);
	return code;
}

static void read_run(struct top *top, bool delay_given)
{
	struct str err = STR_INIT;

	if (open_profile(top, &err)) {
		fail_with(top, &err);
	} else {
		top->status = (struct top_status){
			.session = &top->profile->session, .live = top->run.live, .plan = top->run.plan,
		};
		top_status_begin(&top->status);
		start_ticks(top, delay_given);
		if (!top->words->screen || !browse(top))
			show_tables(top);
		print_notes(top);
	}
	str_release(&err);
}

/* Ctrl-C is how top is left. */
static int exit_status(const struct top *top, int of_run)
{
	if (top->output.failed && top->output.failed != -EPIPE)
		message_stdout_failed(-top->output.failed);
	if (top->failed && top->output.failed != -EPIPE)
		return EXIT_PSTAT_FAILED;
	return of_run == 128 + SIGINT ? 0 : of_run;
}

/* Sets the priority of this thread and of those that it starts. */
static int take_priority(long priority, struct str *err)
{
	const struct sched_param param = { .sched_priority = (int)priority };

	if (!priority || !sched_setscheduler(0, SCHED_FIFO, &param))
		return 0;
	return fail(err, -errno, "--realtime: cannot run with SCHED_FIFO and priority %ld: %s%s", priority,
		    strerror(errno), errno == EPERM ? "\nit takes root, CAP_SYS_NICE, or a limit (ulimit -r)" : "");
}

static int run_top(struct top_words *words, bool delay_given)
{
	struct exec_state found;
	struct top top = {
		.words = words,
		.run = { .plan = &words->record.plan, .quiet = words->record.quiet, .verbose = words->record.verbose,
			 .pausable = words->screen },
		.output = { .text = STR_INIT, .write = output_to_stdout },
		.reading_failed = STR_INIT,
	};
	struct str err = STR_INIT;
	int status;

	memory_return_large();
	top.run.plan->stop = signals_catch(false, &found);
	top.run.plan->found = &found;
	top.run.plan->drain_every_ns = DRAIN_NS;
	top.run.plan->drain_later_every_ns = drain_later_ns(words);
	top.output.color = color_wanted(words->report.sample.color, STDOUT_FILENO);
	top.output.columns = terminal_columns(STDOUT_FILENO);
	top.output.dots = terminal_dots();
	if (take_priority(words->priority, &err) || live_run_begin(&top.run, &err))
		fail_with(&top, &err);
	else if (top.run.live)
		read_run(&top, delay_given);
	profile_free(top.profile);
	question_free(top.question);
	status = exit_status(&top, live_run_end(&top.run));
	str_release(&top.output.text);
	str_release(&top.reading_failed);
	str_release(&err);
	return status;
}

int cmd_top(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct top_words words;
	bool delay_given;
	int first, status;

	top_words_init(&words, kern);
	status = command_parse(self, argc, argv, &words, &first);
	if (status < 0 && first < argc)
		status = bad_usage("top: '%s' is not an option\nwhat runs already is sampled, see -p and -a",
				   argv[first]);
	delay_given = words.delay_ns;
	if (status < 0) {
		status = top_words_complete(&words);
		if (!status) {
			if (!words.record.quiet)
				message_notes(&words.record.what.events.notes, 0, words.record.verbose > 0);
			words.screen = !words.once && report_wants_screen(&words.report);
			if (!words.screen)
				browse_not(words.report.tui, "it needs a terminal, and more than one table");
			status = run_top(&words, delay_given);
		}
	}
	top_words_release(&words);
	return status;
}
