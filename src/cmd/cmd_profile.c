/* SPDX-License-Identifier: MIT */
/*
 * pstat profile: the wiring. A recording in a thread of its own (live_run.c) feeds a profile, as for top; at the end,
 * or after each interval, the profile is asked for one table, which is printed in one of report's formats. Nothing is
 * kept but what is distinct: no file, and no samples.
 */
#include "cmd/command.h"
#include "cmd/live_run.h"
#include "cmd/message.h"
#include "cmd/profile_options.h"
#include "cmd/profile_spool.h"
#include "cmd/quantity.h"
#include "cmd/sample_run.h"
#include "cmd/signals.h"
#include "cmd/top_status.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

enum { ALL_EIGHTHS = 8 };
#define FEED_NS (20 * NS_PER_MS)
/* Rings hold more than what comes in that time; an interval's last samples are this old at most. */
#define DRAIN_NS (500 * NS_PER_MS)
#define INTERVAL_DRAIN_NS (50 * NS_PER_MS)
/* From one emptying of maps to the next, where nobody knows how many samples come. */
#define UNKNOWN_RATE_NS (100 * NS_PER_MS)
/* Bytes of the ring of each CPU, where only what tasks do comes by rings. */
enum { SIDE_RING_BYTES = 512 << 10 };
/* From one look for what can be forgotten to the next. */
#define COMPACT_NS (60 * NS_PER_S)

struct profile_run {
	const struct profile_words *words;
	struct live_run live;
	struct bpf_counting *counting; /* --engine bpf; live.counting says whether it is used */
	struct sample_run out;
	struct question *question;
	struct profile *profile;
	struct top_status status;
	struct profile_spool spool; /* words->spool says whether there is one */
	uint64_t begun_ns;
	uint64_t compact_ns; /* when to forget what nothing has any more */
	struct ticker interval;
	unsigned n_intervals; /* that were printed */
	size_t notes_from, notes_to; /* of the session: what the last output has added */
	uint64_t printed_ns, printed_samples; /* when the last one was, and how many samples there had been */
};

static void fail_with(struct profile_run *run, struct str *err)
{
	message_error("%s", err->s);
	str_reset(err);
	run->out.status = EXIT_PSTAT_FAILED;
}

/* ---- output ---- */

/* "Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end." */
static void add_head(const struct profile_run *run, struct str *out)
{
	const struct profile_words *words = run->words;
	const struct record_plan *plan = run->live.plan;
	const struct target_spec *target = &plan->target;

	if (plan->sampling.wall)
		str_add(out, "Tracing wall-clock time (us)");
	else if (!words->sampled)
		str_add(out, "Tracing off-CPU time (us)");
	else if (plan->sampling.period)
		str_addf(out, "Sampling every %" PRIu64 " events", plan->sampling.period);
	else if (plan->sampling.freq_max)
		str_add(out, "Sampling at the highest rate");
	else
		str_addf(out, "Sampling at %" PRIu64 " Hertz", plan->sampling.freq_hz);
	if (target->pids || target->tids) {
		str_addf(out, " of %s ", target->pids ? "PID" : "TID");
		str_add_printable(out, target->pids ? target->pids : target->tids,
				  strlen(target->pids ? target->pids : target->tids));
	} else if (plan->argv && !target->cpus && !words->record.what.has_cgroups) {
		str_add(out, " of ");
		str_add_printable(out, plan->argv[0], strlen(plan->argv[0]));
	} else {
		str_add(out, words->own_only ? " of your own threads" : " of all threads");
	}
	str_addf(out, " by %s stack", words->report.sample.user_stacks ? "user" :
			words->report.sample.kernel_stacks		       ? "kernel" :
										 "user + kernel");
	if (plan->duration_ns)
		str_addf(out, " for %g secs.\n", (double)plan->duration_ns / NS_PER_S);
	else
		str_add(out, plan->argv ? " until it ends.\n" : "... Hit Ctrl-C to end.\n");
}

/* Prints it before there is anything else, so that nobody waits for what has not begun. */
static void print_head(struct profile_run *run)
{
	struct str text = STR_INIT;

	if (!run->words->report.stacks || run->words->report.sample.quiet)
		return;
	add_head(run, &text);
	if (message_stdout(&text))
		run->out.status = EXIT_PSTAT_FAILED;
	str_release(&text);
}

/* "graph.svg", 2 -> "graph.2.svg"; "x.pb.gz" -> "x.2.pb.gz". The caller frees it. */
static char *numbered(const char *path, unsigned n)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strchr(*name == '.' ? name + 1 : name, '.');
	size_t len = dot ? (size_t)(dot - path) : strlen(path);

	return xasprintf("%.*s.%u%s", (int)len, path, n, path + len);
}

static void print_table(struct profile_run *run, struct table *table, const char *path, uint64_t now)
{
	const struct report_words *words = &run->words->report;

	if (!sample_run_to_file(&run->out, path))
		return;
	if (run->words->interval_ns && !path && !words->json)
		str_addf(&run->out.output.text, "# interval %u: %.3f to %.3f s\n", run->n_intervals,
			 (double)(run->printed_ns - run->begun_ns) / NS_PER_S,
			 (double)(now - run->begun_ns) / NS_PER_S);
	words->format->print(table, &run->out.output);
	output_end(&run->out.output);
	if (sample_run_end_file(&run->out, path) && words->unnamed && path && !words->sample.quiet)
		message_written(words->format->name, path);
}

/* Prints what has come since the last output. */
static void print_output(struct profile_run *run)
{
	const char *output = run->words->report.output;
	const uint64_t now = now_ns();
	struct table *table = NULL;
	struct str err = STR_INIT;
	char *path = NULL;

	run->n_intervals++;
	note_list_cut(&run->profile->session.notes, run->notes_from, run->notes_to);
	run->notes_from = run->profile->session.notes.n;
	if (output)
		path = run->words->interval_ns ? numbered(output, run->n_intervals) : xstrdup(output);
	if (run->words->spool)
		profile_spool_set_times(run->profile, run->live.live, run->printed_ns, now);
	if (table_make(&table, run->profile, run->question, NULL, &err)) {
		fail_with(run, &err);
	} else {
		if (run->words->spool)
			profile_spool_put(&run->spool, run->words->report.format, table, &run->status,
					  now - run->printed_ns);
		else
			print_table(run, table, path, now);
		note_list_join(&run->profile->session.notes, &table->notes);
	}
	table_free(table);
	if (run->words->interval_ns)
		profile_compact(run->profile, ALL_EIGHTHS);
	run->notes_to = run->profile->session.notes.n;
	run->printed_ns = now;
	run->printed_samples = run->profile->session.replay.counts.samples;
	free(path);
	str_release(&err);
}

static void note_stacks_left_out(struct profile_run *run)
{
	uint64_t n = run->profile->kept_stacks.n_left_out;

	if (n)
		note_add(&run->profile->session.notes, false, "raise --stack-storage-size",
			 "stacks: %" PRIu64 " samples are left out: their stacks are not among the first %u", n,
			 run->words->stacks_max);
}

/* Says how the runs of the program ended, and adds a note for each way of losing a sample. */
static void add_counting(struct profile_run *run, const struct bpf_totals *totals, struct str *out)
{
	uint64_t lost = 0;

	for (int i = 0; i < BPF_LOSSES; i++) {
		lost += totals->lost[i];
		if (totals->lost[i])
			note_add(&run->profile->session.notes, false,
				 i <= BPF_LOST_CELLS_FULL ? "raise --stack-storage-size" : NULL,
				 "%" PRIu64 " samples were not counted: %s", totals->lost[i], bpf_loss_words(i));
	}
	str_addf(out, "[ BPF: %" PRIu64 " runs of the program, %" PRIu64 " in %" PRIu64 " cells, %" PRIu64
		 " lost, %.1f MB of maps in the kernel ]\n", totals->runs, totals->samples, totals->cells, lost,
		 (double)totals->memory_bytes / 1e6);
}

/* Says what became of the waits, by whichever engine. */
static void add_waits(const struct profile_run *run, const struct bpf_totals *bpf, struct str *out)
{
	const struct sampling *sampling = &run->live.plan->sampling;
	const struct off_cpu_totals counted = {
		.waits = bpf->waits, .ns = bpf->waits_ns, .open = bpf->open,
		.short_waits = bpf->short_waits, .short_ns = bpf->short_ns,
	};

	if (run->live.counting ? sampling->off_cpu : run->live.totals.has_off_cpu)
		message_add_waits(out, run->live.counting ? &counted : &run->live.totals.off_cpu, sampling);
}

/* Losses are numbers, also where they are 0. */
static void print_closing(struct profile_run *run)
{
	const struct sample_words *words = &run->words->report.sample;
	struct session *session = &run->profile->session;
	struct str line = STR_INIT, losses = STR_INIT;
	struct bpf_totals totals = { .runs = 0 };

	top_status_add_losses(&run->status, &losses);
	str_addf(&line, "[ pstat profile: %" PRIu64 " samples in %.1f s, %s ]\n", session->replay.counts.samples,
		 (double)run->live.totals.elapsed_ns / NS_PER_S, losses.s);
	if (run->live.counting) {
		bpf_counting_totals(run->counting, &totals);
		add_counting(run, &totals, &line);
	}
	add_waits(run, &totals, &line);
	if (run->words->spool)
		profile_spool_add_closing(&run->spool, &line);
	if (!words->quiet)
		(void)!write_all(STDERR_FILENO, line.s, line.len); /* nothing is left to do if this fails */
	note_stacks_left_out(run);
	sample_run_notes(&run->out, session, words);
	str_release(&line);
	str_release(&losses);
}

/* ---- the run ---- */

/*
 * How often the maps are emptied: before each sample of a new stack could fill their half, where the rate is known,
 * but not so often that emptying them is what costs.
 */
static uint64_t empty_every_ns(const struct profile_words *words)
{
	const uint64_t most_ns = words->interval_ns ? INTERVAL_DRAIN_NS : NS_PER_S, least_ns = INTERVAL_DRAIN_NS;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN), stacks = words->stacks_max ? words->stacks_max : BPF_STACKS;
	const struct sampling *sampling = &words->record.plan.sampling;
	uint64_t wanted_ns = UNKNOWN_RATE_NS;

	if (sampling->freq_hz && cpus > 0 && !sampling->off_cpu)
		wanted_ns = (uint64_t)((double)stacks / 2 * 0.4e9 / ((double)sampling->freq_hz * (double)cpus));
	if (wanted_ns < least_ns)
		return least_ns;
	return wanted_ns < most_ns ? wanted_ns : most_ns;
}

/*
 * Why waits and what is sampled beside them are not for BPF; NULL: they are. Of samples alone this is found out when
 * their events are open; but the event of the waits is opened in another way for rings.
 */
static const char *why_no_waits(const struct record_plan *plan)
{
	const struct event_list *events = plan->events;

	if (plan->sampling.wakers)
		return "BPF does not count what ends waits (--wakers)";
	if (plan->sampling.callchain == CALLCHAIN_DWARF)
		return "BPF finds callers by frame pointers, not by DWARF";
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i].attr.type == PERF_TYPE_TRACEPOINT)
			return "BPF does not count tracepoints";
		if (events->v[i].read_group)
			return "BPF does not read the values of a group";
	}
	return NULL;
}

/* Loads the programs. A negative errno with a sentence that says why not. */
static int load_counting(struct profile_run *run, const struct profile_words *words, struct str *err)
{
	const struct record_plan *plan = &words->record.plan;
	const struct bpf_options options = {
		.n_events = words->record.what.events.n,
		.waits = plan->sampling.off_cpu,
		.wall = plan->sampling.wall,
		.least_ns = plan->sampling.off_cpu_least_ns,
		.stacks_max = words->stacks_max,
		.kern = plan->kern,
	};
	const char *why = options.waits ? why_no_waits(plan) : NULL;

	return why ? fail(err, -ENOTSUP, "%s", why) : bpf_counting_new(&run->counting, &options, err);
}

/* Has samples and waits counted in the kernel, or adds a note that says why they come by rings. */
static void begin_counting(struct profile_run *run, struct profile_words *words)
{
	struct record_plan *plan = &words->record.plan;
	struct str err = STR_INIT;

	if (load_counting(run, words, &err)) {
		char *remedy = strchr(err.s, '\n');

		if (remedy)
			*remedy++ = '\0';
		note_add(&run->live.notes, false, remedy, "samples are read from rings: %s", err.s);
	} else {
		run->live.counting = run->counting;
		plan->sampling.has_clockid = true;
		plan->sampling.clockid = CLOCK_MONOTONIC;
		plan->sampling.waits_counted = plan->sampling.off_cpu;
		plan->flush_every_ns = empty_every_ns(words);
		if (!plan->ring_bytes)
			plan->ring_bytes = SIDE_RING_BYTES;
	}
	str_release(&err);
}

static bool has_failed(const struct profile_run *run)
{
	return run->out.status || run->out.output.failed;
}

static void do_what_is_due(struct profile_run *run, bool all_read)
{
	uint64_t now = now_ns();

	/* Samples that have come belong to the interval that is over. */
	if (run->words->interval_ns && now >= run->interval.next_ns + (all_read ? 0 : INTERVAL_DRAIN_NS) &&
	    ticker_due(&run->interval, now))
		print_output(run);
	if (now >= run->compact_ns) {
		profile_compact(run->profile, 0);
		run->compact_ns = now + COMPACT_NS;
	}
}

static void wait_for_records(struct profile_run *run)
{
	struct pollfd news = { .fd = live_source_fd(run->live.live), .events = POLLIN };
	uint64_t now = now_ns(), next = run->compact_ns;

	if (run->words->interval_ns && run->interval.next_ns < next)
		next = run->interval.next_ns;
	if (next > now)
		poll(&news, 1, (int)((next - now) / NS_PER_MS + 1));
}

/* Reads to the end of the recording, whatever ends it. */
static void feed(struct profile_run *run)
{
	struct record_source *source = live_source_source(run->live.live);
	struct str err = STR_INIT;
	int rc;

	while ((rc = profile_feed(run->profile, source, FEED_NS, &err)) > 0 && !has_failed(run)) {
		do_what_is_due(run, rc == PROFILE_FED_LATER);
		if (rc == PROFILE_FED_LATER)
			wait_for_records(run);
	}
	if (rc < 0)
		fail_with(run, &err);
	profile_end(run->profile);
	str_release(&err);
}

static int open_profile(struct profile_run *run, struct str *err)
{
	const struct recording_info *recording = live_source_recording(run->live.live);
	struct profile_options options;
	int code = question_make(&run->question, &run->words->report.report, recording, err);

	if (code)
		return code;
	options = question_profile(run->question, PROFILE_LIVE);
	options.shape.stacks_max = run->live.counting ? 0 : run->words->stacks_max;
	code = profile_new_live(&run->profile, &options, recording, live_source_source(run->live.live), err);
	if (!code)
		note_list_join(&run->profile->session.notes, &run->question->notes);
	return code;
}

static void begin(struct profile_run *run)
{
	const struct profile_words *words = run->words;

	run->begun_ns = run->printed_ns = now_ns();
	run->compact_ns = run->begun_ns + COMPACT_NS;
	ticker_start(&run->interval, run->begun_ns, words->interval_ns);
	run->status = (struct top_status){
		.session = &run->profile->session, .live = run->live.live, .plan = run->live.plan,
		.counting = run->live.counting,
	};
	top_status_begin(&run->status);
	print_head(run);
}

static void read_run(struct profile_run *run)
{
	struct str err = STR_INIT;

	if (open_profile(run, &err)) {
		fail_with(run, &err);
	} else {
		begin(run);
		feed(run);
		signals_spare_end();
		if (!has_failed(run) && (!run->n_intervals ||
					 run->profile->session.replay.counts.samples > run->printed_samples))
			print_output(run);
		live_run_stop(&run->live);
		print_closing(run);
		if (run->spool.n_failed && !run->out.status)
			run->out.status = EXIT_PSTAT_FAILED;
	}
	str_release(&err);
}

/* Ctrl-C is how it is ended. */
static int exit_status(struct profile_run *run, int of_run)
{
	int status = sample_run_close(&run->out);

	return status ? status : of_run == 128 + SIGINT ? 0 : of_run;
}

static int run_profile(struct profile_words *words)
{
	struct exec_state found;
	struct profile_run run = { .words = words };
	struct record_plan *plan = &words->record.plan;
	struct str err = STR_INIT;
	int status;

	status = words->spool ? profile_spool_open(&run.spool, words) : 0;
	if (status) {
		profile_spool_close(&run.spool);
		return status;
	}
	memory_return_large();
	run.live = (struct live_run){ .plan = plan, .quiet = words->record.quiet, .verbose = words->record.verbose };
	plan->stop = signals_catch(false, &found);
	plan->found = &found;
	plan->drain_every_ns = plan->drain_later_every_ns = words->interval_ns ? INTERVAL_DRAIN_NS : DRAIN_NS;
	sample_run_begin(&run.out, &words->report.sample);
	if (words->bpf)
		begin_counting(&run, words);
	if (live_run_begin(&run.live, &err))
		fail_with(&run, &err);
	else if (run.live.live)
		read_run(&run);
	profile_free(run.profile);
	question_free(run.question);
	status = exit_status(&run, live_run_end(&run.live));
	bpf_counting_free(run.counting);
	if (words->spool)
		profile_spool_close(&run.spool);
	str_release(&err);
	return status;
}

/* Words before "--" are options and the duration, those after it are the command. */
static int split_words(struct profile_words *words, const struct command *self, int argc, char **argv)
{
	int own = 1, first, status;
	struct str err = STR_INIT;

	while (own < argc && strcmp(argv[own], "--"))
		own++;
	if (own < argc - 1)
		words->record.plan.argv = argv + own + 1;
	status = command_parse(self, own, argv, words, &first);
	if (status < 0 && own == argc - 1)
		status = bad_usage("profile: after -- a command is missing");
	if (status < 0 && own - first > 1)
		status = bad_usage("profile: '%s' is one argument too many\nput a command after --", argv[first + 1]);
	if (status < 0 && own - first == 1 && take_span("duration", argv[first], &words->record.plan.duration_ns, &err))
		status = bad_usage("profile: %s\nput a command after --", err.s);
	str_release(&err);
	return status;
}

int cmd_profile(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct profile_words words;
	int status;

	profile_words_init(&words, kern);
	status = split_words(&words, self, argc, argv);
	if (status < 0) {
		status = profile_words_complete(&words);
		if (!status && !words.record.quiet)
			message_notes(&words.record.what.events.notes, 0, words.record.verbose > 0);
		if (!status)
			status = run_profile(&words);
	}
	profile_words_release(&words);
	return status;
}
