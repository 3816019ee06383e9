/* SPDX-License-Identifier: MIT */
/*
 * Recordings of real commands with more than the file behind the consumer: a report that is asked for while it goes
 * on, a stage that replaces samples late, a sink that fails. What each of them was told is what is in the file and
 * in the totals.
 */
#include "ask_fixture.h"
#include "late_stage.h"

#include "hist/hist.h"
#include "record/live_source.h"
#include "record/record.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

enum { PAGES = 20000, IPS_KEPT = 3, RING_BYTES = 64 << 10, HELD_BYTES = 1 << 20 };

static const struct kern kern = {
	.sys = &sys_linux,
	.host = { .sysfs = "/sys", .procfs = "/proc", .tracefs = "/sys/kernel/tracing" },
};

static const struct query query = { .children = 0, .sort = "comm,dso,sym,pid" };

/* ---- one recording ---- */

struct whole_run {
	struct record_plan plan;
	struct exec_state found;
	struct event_list events;
	struct run_stop stop;
	struct note_list notes;
	struct record_totals totals;
	struct str err;
	int status, rc;
	char path[256], exact[256];

	/* its report, in a thread of its own */
	struct live_source *live;
	pthread_t asker;
	int go_fd; /* a line into it lets the command go on; -1: it waits for none */
	uint64_t seen_meanwhile, seen; /* samples in the first table that had any, and in the last */
	int feed_rc;
	struct str table, why;

	/* a stage */
	struct events written;
	struct late late;
	struct stage *stage;
	struct decoder decoder; /* of what comes to it */
	struct str came; /* a line for each record, see note_record */
	uint64_t n_came; /* samples */
};

static void on_opened(void *data, const struct counter_set *set)
{
	(void)data, (void)set;
}

static void on_list_events(void *data, const struct events *events, const char *words)
{
	(void)data, (void)events, (void)words;
}

static void skip_without_sampling(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		printf("# skip: page faults cannot be sampled: %s\n", strerror(errno));
		skip();
	}
	close(fd);
}

/* Not on the stack: where a check fails its threads still use it. */
static struct whole_run *run_new(const char *event)
{
	const char *work = getenv("WORK");
	struct whole_run *r;

	skip_without_sampling();
	if (!work) {
		printf("# skip: $WORK does not say where tests/work is built\n");
		skip();
	}
	r = xcalloc(1, sizeof(*r));
	str_init(&r->err);
	str_init(&r->table);
	str_init(&r->why);
	str_init(&r->came);
	events_init(&r->written);
	r->go_fd = -1;
	event_list_init(&r->events);
	assert_int_equal(event_list_parse(&r->events, event, &kern.host, &r->err), 0);
	fix_path(r->path, sizeof(r->path), "whole");
	snprintf(r->exact, sizeof(r->exact), "%s/exact", work);
	exec_state_now(&r->found);
	r->plan = (struct record_plan){
		.found = &r->found,
		.events = &r->events,
		.sampling = { .inherit = true, .period = 1 },
		.ring_bytes = RING_BYTES,
		.path = r->path,
		.synth = SYNTH_TASKS | SYNTH_MMAPS,
		.control_fd = -1,
		.end_fd = -1,
		.ack_fd = -1,
		.kern = &kern,
		.notes = &r->notes,
		.stop = &r->stop,
		.opened = on_opened,
		.list_events = on_list_events,
		.data = r,
	};
	return r;
}

static void run_release(struct whole_run *r)
{
	unlink(r->path);
	live_source_free(r->live);
	stage_free(r->stage);
	events_release(&r->written);
	record_totals_release(&r->totals);
	event_list_release(&r->events);
	note_list_release(&r->notes);
	str_release(&r->err);
	str_release(&r->table);
	str_release(&r->why);
	str_release(&r->came);
	free(r);
}

static void record(struct whole_run *r, char *const *argv)
{
	r->plan.argv = argv;
	r->rc = record_run(&r->plan, &r->totals, &r->status, &r->err);
}

static void record_pages(struct whole_run *r, const char *work)
{
	char words[64];
	char *argv[] = { r->exact, words, NULL };

	snprintf(words, sizeof(words), "%s", work);
	record(r, argv);
}

static void assert_recorded(const struct whole_run *r)
{
	if (r->rc)
		fail_msg("%s", r->err.s);
	assert_int_equal(r->status, 0);
	/* The kernel does not count what it throttles, and a full ring has no room for the word that it did. */
	assert_true(r->totals.samples > PAGES / 2);
	assert_int_equal(r->totals.not_written, 0);
}

/* ---- what is in the file ---- */

/* Nothing in it is out of order or broken; returns its samples. */
static uint64_t replayed_samples(const char *path)
{
	static const struct replay_options options;
	const struct replay_handlers handlers = { .context = NULL };
	struct reader reader;
	struct replay replay;
	struct str err = STR_INIT;
	uint64_t samples;

	assert_int_equal(reader_open(&reader, path, &err), 0);
	replay_init(&replay, &reader.recording, &options);
	if (replay_run(&replay, &reader.source, &handlers, &err))
		fail_msg("%s", err.s);
	samples = replay.counts.samples;
	assert_int_equal(replay.counts.out_of_order + replay.counts.broken + replay.counts.unknown_ids, 0);
	assert_string_equal(reader.missing.s, "");
	replay_release(&replay);
	reader_close(&reader);
	return samples;
}

/* "PERIOD KEYS", a line for each entry. Returns the samples, -1 with a sentence on failure. */
static int64_t ask(struct profile *profile, struct str *text, struct str *err)
{
	struct table *table;
	struct asked asked;
	int64_t samples = 0;

	str_reset(text);
	if (asked_of(&asked, profile, &query, NULL, err)) {
		asked_release(&asked);
		return -1;
	}
	table = asked.table;
	for (size_t i = 0; table->n_hists && i < table->hists[0].n; i++) {
		const struct entry *entry = table->hists[0].entries[i];

		samples += (int64_t)entry->self.n_samples;
		str_addf(text, "%llu", (unsigned long long)entry->self.period);
		for (size_t c = 0; c < table->n_columns; c++)
			if (table->columns[c].kind == COLUMN_KEY) {
				str_addc(text, ' ');
				table_key_text(table, entry, &table->columns[c], text);
			}
		str_addc(text, '\n');
	}
	asked_release(&asked);
	return samples;
}

static uint64_t table_of_file(const char *path, struct str *text)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE } };
	struct profile *profile;
	struct reader reader;
	struct str err = STR_INIT;
	int64_t samples;

	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
	samples = ask(profile, text, &err);
	if (samples < 0)
		fail_msg("%s", err.s);
	profile_free(profile);
	reader_close(&reader);
	return (uint64_t)samples;
}

/* ---- a report while it is recorded ---- */

/* Samples are there although the command has not ended: it waits for this. */
static void look_meanwhile(struct whole_run *r, struct profile *profile)
{
	int64_t samples = ask(profile, &r->table, &r->why);

	if (samples <= 0)
		return;
	r->seen_meanwhile = (uint64_t)samples;
	(void)!write(r->go_fd, "\n", 1);
	close(r->go_fd);
	r->go_fd = -1;
}

static void *ask_meanwhile(void *data)
{
	static const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE } };
	struct whole_run *r = data;
	struct pollfd news = { .fd = live_source_fd(r->live), .events = POLLIN };
	struct profile *profile;
	int64_t samples = -1;

	r->feed_rc = profile_new_live(&profile, &options, live_source_recording(r->live),
				      live_source_source(r->live), &r->why);
	if (r->feed_rc) {
		live_source_close(r->live);
		return NULL;
	}
	while ((r->feed_rc = profile_feed(profile, live_source_source(r->live), 0, &r->why)) > 0) {
		if (r->go_fd >= 0)
			look_meanwhile(r, profile);
		if (r->feed_rc == PROFILE_FED_LATER)
			poll(&news, 1, -1);
	}
	profile_end(profile);
	if (!r->feed_rc)
		samples = ask(profile, &r->table, &r->why);
	r->seen = samples < 0 ? 0 : (uint64_t)samples;
	profile_free(profile);
	return NULL;
}

static struct record_sink *begin_live(void *data, const struct recording_info *recording)
{
	const struct live_options options = { .no_wait = true };
	struct whole_run *r = data;

	r->live = live_source_new(&options, recording->events, recording->info, &r->why);
	if (!r->live || pthread_create(&r->asker, NULL, ask_meanwhile, r))
		fail_msg("%s", r->why.s);
	return live_source_sink(r->live);
}

/* The command does its work twice, and waits in between until a table was made of the first half. */
static void record_and_report(struct whole_run *r)
{
	char script[] = "\"$0\" \"$1\"; read -r line; \"$0\" \"$1\"", words[64];
	char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, script, r->exact, words, NULL };
	int ends[2], input = dup(STDIN_FILENO);

	snprintf(words, sizeof(words), "pages:%d", PAGES);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	r->go_fd = ends[1];
	r->plan.other_sink = begin_live;
	record(r, argv);
	assert_non_null(r->live);
	pthread_join(r->asker, NULL);
	assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
	close(input);
	assert_recorded(r);
	assert_int_equal(r->feed_rc, 0);
	assert_true(r->seen_meanwhile > 0);
	assert_true(r->seen_meanwhile <= r->totals.samples - PAGES / 2);
	assert_int_equal(r->seen, r->totals.samples);
	assert_int_equal(live_source_left_out(r->live), 0);
	assert_has(r->table.s, " exact exact ");
	assert_null(strstr(r->table.s, "[unknown]"));
}

static void it_is_reported_while_it_is_recorded(void **state)
{
	struct str of_file = STR_INIT;
	struct whole_run *r;

	(void)state;
	r = run_new("page-faults:u");
	record_and_report(r);
	assert_int_equal(replayed_samples(r->path), r->totals.samples);
	assert_int_equal(table_of_file(r->path, &of_file), r->totals.samples);
	assert_string_equal(r->table.s, of_file.s);
	str_release(&of_file);
	run_release(r);
}

/* What nobody writes is counted all the same. */
static void it_is_reported_without_a_file(void **state)
{
	struct whole_run *r;

	(void)state;
	r = run_new("page-faults:u");
	r->plan.path = NULL;
	record_and_report(r);
	assert_int_equal(access(r->path, F_OK), -1);
	assert_null(r->totals.path);
	assert_int_equal(r->totals.bytes + r->totals.files, 0);
	assert_int_equal(r->totals.events[0].samples, r->totals.samples);
	run_release(r);
}

/* ---- a stage that replaces samples late ---- */

/* A record as it is told apart from others, whatever became of its chain and its stack. */
static void note_record(struct decoder *decoder, const struct record *record, struct str *out)
{
	struct record_body body;
	struct str err = STR_INIT;

	assert_int_equal(record_decode(decoder, record, &body, &err), 0);
	if (record->type == RECORD_SAMPLE)
		str_addf(out, "%llx %llu %u %u\n", (unsigned long long)body.sample.ip,
			 (unsigned long long)body.sample.time_ns, body.sample.tid, body.sample.cpu);
	else
		str_addf(out, "%u: %u bytes %llu\n", record->type, (unsigned)record->size,
			 (unsigned long long)body.id.time_ns);
}

static int noting_take(void *data, const struct perf_event_header *bytes, uint64_t ticket, struct str *out,
		       struct str *err)
{
	struct whole_run *r = data;
	struct record record;

	record_from_bytes(&record, (const uint8_t *)bytes, 0, false);
	note_record(&r->decoder, &record, &r->came);
	r->n_came += record.type == RECORD_SAMPLE;
	return late_take(&r->late, bytes, ticket, out, err);
}

static int noting_collect(void *data, bool wait, uint64_t *ticket, struct str *out, struct str *err)
{
	return late_collect(&((struct whole_run *)data)->late, wait, ticket, out, err);
}

static int noting_round(void *data, struct str *err)
{
	return late_round(&((struct whole_run *)data)->late, err);
}

static const struct stage_ops noting_ops = { .take = noting_take, .collect = noting_collect, .round = noting_round };

/* Three entries of the chain, or none; of a copied stack, registers and stack pointer are all that is told. */
static void cut_chain(const struct events *to, struct decoder *decoder, const void *bytes, struct str *out)
{
	uint64_t ips[IPS_KEPT] = { 0 };
	struct record record;
	struct record_body body;
	struct str err = STR_INIT;

	record_from_bytes(&record, bytes, 0, false);
	assert_int_equal(record_decode(decoder, &record, &body, &err), 0);
	if (body.sample.stack_dyn_size) {
		memcpy(ips, body.sample.stack, sizeof(ips));
		body.sample.ips = ips;
		body.sample.n_ips = IPS_KEPT;
	}
	if (body.sample.time_ns % 5 == 0)
		body.sample.n_ips = 0;
	else if (body.sample.n_ips > IPS_KEPT)
		body.sample.n_ips = IPS_KEPT;
	assert_int_equal(record_encode(&body, to->v[0], out, &err), 0);
}

/* Samples with a copy of their stack in the rings, without one in the file. */
static const struct events *without_stacks(void *data, const struct events *recorded)
{
	struct whole_run *r = data;

	events_copy(&r->written, recorded);
	for (size_t i = 0; i < r->written.n; i++) {
		struct perf_event_attr *attr = &r->written.v[i]->attr;

		attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER);
		attr->sample_stack_user = 0;
		attr->sample_regs_user = 0;
		attr->exclude_callchain_user = 0;
	}
	late_init(&r->late, 7, recorded, &r->written, cut_chain);
	decoder_init(&r->decoder, recorded, false);
	return &r->written;
}

static const struct events *as_recorded(void *data, const struct events *recorded)
{
	struct whole_run *r = data;

	events_copy(&r->written, recorded);
	late_init(&r->late, 7, recorded, &r->written, cut_chain);
	decoder_init(&r->decoder, recorded, false);
	return &r->written;
}

static struct record_sink *begin_stage(void *data, const struct recording_info *recording, struct record_sink *next)
{
	struct whole_run *r = data;

	r->stage = stage_new(&noting_ops, r, recording->events, next, HELD_BYTES);
	return &r->stage->sink;
}

struct seen_in_file {
	uint64_t samples, without_chain, most_ips, stacks, rounds;
	struct str records;
};

static void look_at_file(const char *path, struct seen_in_file *seen)
{
	struct reader reader;
	struct record record;
	struct record_body body;
	struct str err = STR_INIT;
	int rc;

	*seen = (struct seen_in_file){ .records = STR_INIT };
	assert_int_equal(reader_open(&reader, path, &err), 0);
	while ((rc = reader_next(&reader, &record, &err)) > 0) {
		seen->rounds += record.type == RECORD_FINISHED_ROUND;
		if (record.type >= RECORD_USER_FIRST)
			continue;
		note_record(&reader.decoder, &record, &seen->records);
		if (record.type != RECORD_SAMPLE)
			continue;
		assert_int_equal(record_decode(&reader.decoder, &record, &body, &err), 0);
		seen->samples++;
		seen->without_chain += !body.sample.n_ips;
		seen->stacks += (body.sample.has & PERF_SAMPLE_STACK_USER) != 0;
		if (body.sample.n_ips > seen->most_ips)
			seen->most_ips = body.sample.n_ips;
	}
	assert_int_equal(rc, 0);
	reader_close(&reader);
}

/* What came to the stage is in the file, in the same order, but for what was to be cut. */
static void check_staged_file(const struct whole_run *r)
{
	struct seen_in_file seen;

	assert_int_equal(replayed_samples(r->path), r->totals.samples);
	look_at_file(r->path, &seen);
	assert_int_equal(seen.samples, r->n_came);
	assert_int_equal(seen.samples, r->totals.samples);
	assert_true(!strcmp(seen.records.s, r->came.s));
	assert_int_equal(seen.most_ips, IPS_KEPT);
	assert_true(seen.without_chain > PAGES / 20);
	assert_true(seen.without_chain < seen.samples / 2);
	assert_int_equal(seen.stacks, 0);
	assert_true(seen.rounds > 0); /* a busy machine may let one reader sleep until the end */
	str_release(&seen.records);
	assert_true(r->late.n_later > PAGES / 4);
	assert_true(r->late.n_out_of_order > PAGES / 40);
	assert_int_equal(r->stage->lost, 0);
}

static void end_stage(struct whole_run *r)
{
	late_release(&r->late);
	decoder_release(&r->decoder);
	run_release(r);
}

static void a_stage_cuts_chains(void **state)
{
	struct whole_run *r;

	(void)state;
	r = run_new("page-faults:u");
	r->plan.sampling.callchain = CALLCHAIN_FP;
	r->plan.written = as_recorded;
	r->plan.stage = begin_stage;
	record_pages(r, "pages:20000");
	assert_recorded(r);
	check_staged_file(r);
	end_stage(r);
}

/* A whole stack is in the ring, and in the file a chain. */
static void a_stage_writes_other_events(void **state)
{
	struct whole_run *r;

	(void)state;
	r = run_new("page-faults:u");
	r->plan.ring_bytes = 512 << 10;
	r->plan.sampling.callchain = CALLCHAIN_DWARF;
	r->plan.sampling.stack_dump_bytes = 64;
	r->plan.sampling.stacks_raw = true;
	r->plan.written = without_stacks;
	r->plan.stage = begin_stage;
	record_pages(r, "pages:20000");
	assert_recorded(r);
	check_staged_file(r);
	end_stage(r);
}

/* File and report are behind the stage, and agree. */
static void a_report_behind_a_stage(void **state)
{
	struct str of_file = STR_INIT;
	struct whole_run *r;

	(void)state;
	r = run_new("page-faults:u");
	r->plan.sampling.callchain = CALLCHAIN_FP;
	r->plan.written = as_recorded;
	r->plan.stage = begin_stage;
	record_and_report(r);
	check_staged_file(r);
	assert_int_equal(table_of_file(r->path, &of_file), r->totals.samples);
	assert_string_equal(r->table.s, of_file.s);
	str_release(&of_file);
	end_stage(r);
}

/* ---- a sink that fails ---- */

enum step { STEP_TAKE, STEP_ROUND, STEP_FLUSH, STEP_END, STEPS };

struct failing_sink {
	struct record_sink sink;
	enum step fails; /* where, and at which call from 1 on */
	unsigned at;
	unsigned calls[STEPS];
	uint64_t samples;
};

static struct failing_sink failing;

static int do_step(enum step step, struct str *err)
{
	failing.calls[step]++;
	if (step != failing.fails || failing.calls[step] < failing.at)
		return 0;
	str_add(err, "the screen is gone");
	return -EIO;
}

static int failing_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	const char *bytes = records;
	struct record record;

	(void)sink;
	for (size_t at = 0; at < n; at += record.size) {
		record_from_bytes(&record, (const uint8_t *)bytes + at, 0, false);
		failing.samples += record.type == RECORD_SAMPLE;
	}
	return do_step(STEP_TAKE, err);
}

static int failing_round(struct record_sink *sink, struct str *err)
{
	(void)sink;
	return do_step(STEP_ROUND, err);
}

static int failing_flush(struct record_sink *sink, struct str *err)
{
	(void)sink;
	return do_step(STEP_FLUSH, err);
}

static int failing_end(struct record_sink *sink, struct str *err)
{
	(void)sink;
	return do_step(STEP_END, err);
}

static struct record_sink *begin_failing(void *data, const struct recording_info *recording)
{
	(void)data, (void)recording;
	failing.sink = (struct record_sink){ failing_take, failing_round, failing_flush, failing_end };
	return &failing.sink;
}

/* The recording ends by that, though the command would not; the file has what came until then, and is whole. */
static void a_sink_fails(void **state)
{
	static const struct {
		enum step step;
		unsigned at;
		const char *work; /* and, where the failure is not that of the end, more for ever */
	} rows[] = {
		{ STEP_TAKE, 1, "pauses" },
		{ STEP_TAKE, 20, "pages:200000" },
		{ STEP_ROUND, 5, "pages:200000" },
		{ STEP_FLUSH, 1, "pauses" },
		{ STEP_END, 1, "pages:20000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct whole_run *r = run_new("page-faults:u");
		char words[64];
		char *argv[] = { r->exact, (char[]){ "mortal" }, words, (char[]){ "trickles" }, NULL };

		snprintf(words, sizeof(words), "%s", rows[i].work);
		if (rows[i].step == STEP_END)
			argv[3] = NULL;
		failing = (struct failing_sink){ .fails = rows[i].step, .at = rows[i].at };
		r->plan.other_sink = begin_failing;
		record(r, argv);
		assert_int_equal(r->rc, -EIO);
		assert_string_equal(r->err.s, "the screen is gone");
		assert_int_equal(r->status, EXIT_PSTAT_FAILED);
		assert_int_equal(failing.calls[STEP_END], 1);
		assert_true(failing.calls[rows[i].step] >= rows[i].at);
		/* It is told no more rounds, but all records. */
		if (rows[i].step == STEP_ROUND)
			assert_int_equal(failing.calls[STEP_ROUND], rows[i].at);
		assert_int_equal(failing.samples, r->totals.samples);
		assert_int_equal(r->totals.not_written, 0);
		assert_int_equal(replayed_samples(r->path), r->totals.samples);
		run_release(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_reported_while_it_is_recorded),
		cmocka_unit_test(it_is_reported_without_a_file),
		cmocka_unit_test(a_stage_cuts_chains),
		cmocka_unit_test(a_stage_writes_other_events),
		cmocka_unit_test(a_report_behind_a_stage),
		cmocka_unit_test(a_sink_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
