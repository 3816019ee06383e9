/* SPDX-License-Identifier: MIT */
/*
 * The samples of a recording one by one: what a sink is asked and gets, what it may leave out, that errors end the
 * reading, and that nothing but memory changes when locations are forgotten on the way.
 */
#include "session_fixture.h"

#include "profile/session_internal.h"

#define KERNEL_IP 0xffffffff81000100ULL
#define CODE 0x400000ULL

/* Writes down "TIME PERIOD: ADDRESS=FILE+OFFSET[r] ..." for each sample. */
struct log {
	struct session *session;
	unsigned wants;
	int fail_at; /* this sample, from 1 */
	int n_samples, n_others, n_begins, n_ends, n_forgets;
	uint32_t location_max; /* greatest number of a location */
	struct str text;
};

static int begin(void *context, struct str *err)
{
	struct log *log = context;

	(void)err;
	log->n_begins++;
	return 0;
}

static int wants(void *context, const struct data_event *event, unsigned *wanted, struct str *err)
{
	const struct log *log = context;

	(void)err;
	assert_non_null(event);
	assert_int_equal(*wanted, 0);
	*wanted = log->wants;
	return 0;
}

static int take(void *context, const struct sink_sample *taken, struct str *err)
{
	struct log *log = context;

	if (++log->n_samples == log->fail_at) {
		str_add(err, "enough");
		return -ECANCELED;
	}
	str_addf(&log->text, "%llu %llu:", (unsigned long long)taken->sample->sample->time_ns,
		 (unsigned long long)taken->period);
	for (size_t i = 0; i < taken->frames.n; i++) {
		const struct chain_entry *frame = &taken->frames.v[i];
		const struct location_row *row = &log->session->locations->v[frame->location];

		assert_true(frame->location < log->session->locations->n);
		if (frame->location > log->location_max)
			log->location_max = frame->location;
		str_addf(&log->text, " %llx=%s+%llx%s", (unsigned long long)frame->ip,
			 row->dso ? row->dso->name : "?", (unsigned long long)row->addr,
			 row->is_return ? "r" : "");
	}
	str_addc(&log->text, '\n');
	return 0;
}

static int other(void *context, const struct record *record, const struct record_body *body,
		 const struct thread *thread, struct str *err)
{
	struct log *log = context;

	(void)body, (void)thread, (void)err;
	assert_true(record->type != RECORD_SAMPLE);
	log->n_others += record->type < RECORD_USER_FIRST;
	return 0;
}

static void forget(void *context)
{
	struct log *log = context;

	assert_int_equal(log->session->locations->n, 0);
	log->n_forgets++;
}

static int end(void *context, struct str *err)
{
	struct log *log = context;

	(void)err;
	log->n_ends++;
	return 0;
}

/* What sample_stream_run returned. The log is the caller's. */
static int run(struct made_recording *recording, struct fix_session *f, const struct filter_options *options,
	       struct log *log, size_t locations_max)
{
	const struct session_options session_options = { .max_stack = 0 };
	const struct sample_sink sink = { .context = log, .locations_max = locations_max, .begin = begin,
					  .wants = wants, .sample = take, .other = other, .forget = forget,
					  .end = end };
	struct filters *filters;
	int rc;

	session_open(f, recording, &session_options);
	log->session = &f->session;
	str_init(&log->text);
	if (filters_new(&filters, options, &f->session, &f->err))
		fail_msg("%s", f->err.s);
	rc = sample_stream_run(&f->session, filters, &sink, &f->err);
	filters_free(filters);
	return rc;
}

static void stop_reading(struct made_recording *recording, struct fix_session *f, struct log *log)
{
	str_release(&log->text);
	session_close(f, recording);
}

/* Three samples of a program, the second of them deep, and its end. */
static void program(struct made_recording *recording)
{
	static const uint64_t deep[] = { PERF_CONTEXT_USER, CODE + 0x20, CODE + 0x30, CODE + 0x40 };

	struct record_body body = fix_sample(101, 20);

	recording_init(recording);
	recording_comm(recording, 1, PID, PID, true, "prog");
	recording_map(recording, 2, PID, CODE, 0x10000, 0, "/bin/x");
	recording_sample(recording, 10, PID, PID, CODE + 0x10);
	body.sample.ip = deep[1];
	body.sample.ips = deep;
	body.sample.n_ips = ARRAY_SIZE(deep);
	recording_add(recording, &body);
	recording_sample(recording, 30, PID, PID, CODE + 0x10);
	recording_exit(recording, 40, PID, PID);
}

static void what_is_wanted(void **state)
{
	static const struct {
		unsigned wants;
		int n_samples;
		const char *text;
	} rows[] = {
		{ 0, 0, "" },
		{ SAMPLE_CHAIN | SAMPLE_IP, 0, "" },
		{ SAMPLE_TAKEN, 3, "10 1000:\n20 1000:\n30 1000:\n" },
		{ SAMPLE_TAKEN | SAMPLE_CHAIN, 3,
		  "10 1000: 400010=x+10\n20 1000: 400020=x+20 400030=x+30r 400040=x+40r\n30 1000: 400010=x+10\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct filter_options all = { .comms = NULL };
		struct log log = { .wants = rows[i].wants };
		struct fix_session f;
		struct made_recording recording;

		program(&recording);
		assert_int_equal(run(&recording, &f, &all, &log, 0), 0);
		assert_int_equal(log.n_samples, rows[i].n_samples);
		assert_string_equal(log.text.s, rows[i].text);
		assert_int_equal(log.n_begins, 1);
		assert_int_equal(log.n_ends, 1);
		assert_int_equal(log.n_forgets, 0);
		assert_int_equal(log.n_others, 3);
		stop_reading(&recording, &f, &log);
	}
}

/* The address alone, and in the place of a chain that is not there. */
static void own_address(void **state)
{
	const struct filter_options all = { .comms = NULL };
	struct log log = { .wants = SAMPLE_TAKEN | SAMPLE_IP };
	struct record_body body = fix_sample(101, 10);
	struct fix_session f;
	struct made_recording recording;

	(void)state;
	program(&recording);
	assert_int_equal(run(&recording, &f, &all, &log, 0), 0);
	assert_string_equal(log.text.s, "10 1000: 400010=x+10\n20 1000: 400020=x+20\n30 1000: 400010=x+10\n");
	stop_reading(&recording, &f, &log);

	recording_init(&recording);
	body.sample.n_ips = 0;
	body.sample.ip = CODE;
	recording_add(&recording, &body);
	log = (struct log){ .wants = SAMPLE_TAKEN | SAMPLE_CHAIN };
	assert_int_equal(run(&recording, &f, &all, &log, 0), 0);
	assert_string_equal(log.text.s, "10 1000:\n");
	stop_reading(&recording, &f, &log);
	recording_init(&recording);
	recording_add(&recording, &body);
	log = (struct log){ .wants = SAMPLE_TAKEN | SAMPLE_CHAIN | SAMPLE_IP };
	assert_int_equal(run(&recording, &f, &all, &log, 0), 0);
	assert_string_equal(log.text.s, "10 1000: 400000=?+400000\n");
	stop_reading(&recording, &f, &log);
}

static void filters_hold(void **state)
{
	const struct filter_options other_task = { .tids = "77" }, early = { .time = "0.00000002," },
				    file = { .dsos = "x" }, no_file = { .dsos = "y" };
	const struct {
		const struct filter_options *options;
		int n_samples;
	} rows[] = { { &other_task, 0 }, { &early, 2 }, { &file, 3 }, { &no_file, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct log log = { .wants = SAMPLE_TAKEN };
		struct fix_session f;
		struct made_recording recording;

		program(&recording);
		assert_int_equal(run(&recording, &f, rows[i].options, &log, 0), 0);
		assert_int_equal(log.n_samples, rows[i].n_samples);
		stop_reading(&recording, &f, &log);
	}
}

static void errors_end_it(void **state)
{
	const struct filter_options all = { .comms = NULL };
	struct log log = { .wants = SAMPLE_TAKEN, .fail_at = 2 };
	struct fix_session f;
	struct made_recording recording;

	(void)state;
	program(&recording);
	assert_int_equal(run(&recording, &f, &all, &log, 0), -ECANCELED);
	assert_string_equal(f.err.s, "enough");
	assert_int_equal(log.n_samples, 2);
	assert_int_equal(log.n_ends, 0);
	stop_reading(&recording, &f, &log);
}

/* Samples that each have two addresses of their own, and one that all have. */
static void many(struct made_recording *recording, unsigned n)
{
	recording_init(recording);
	recording_map(recording, 2, PID, CODE, 0x10000, 0, "/bin/x");
	for (unsigned i = 0; i < n; i++) {
		const uint64_t ips[] = { PERF_CONTEXT_KERNEL, KERNEL_IP, PERF_CONTEXT_USER, CODE + 0x40 * i,
					 CODE + 0x40 * i + 0x20 };

		recording_chain(recording, 10 + i, PID, PID, MISC_KERNEL, ips, ARRAY_SIZE(ips));
	}
}

static void locations_are_forgotten(void **state)
{
	enum { SAMPLES = 100, MOST = 8, OF_ONE = 3 };
	const struct filter_options all = { .comms = NULL };
	struct log log[3] = { 0 };
	const size_t most[] = { 0, MOST, SIZE_MAX };
	struct fix_session f[ARRAY_SIZE(log)];
	struct made_recording recording[ARRAY_SIZE(log)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(log); i++) {
		log[i].wants = SAMPLE_TAKEN | SAMPLE_CHAIN;
		many(&recording[i], SAMPLES);
		assert_int_equal(run(&recording[i], &f[i], &all, &log[i], most[i]), 0);
		assert_int_equal(log[i].n_samples, SAMPLES);
		assert_string_equal(log[i].text.s, log[0].text.s);
	}
	assert_int_equal(log[0].n_forgets, 0);
	assert_int_equal(log[2].n_forgets, 0);
	assert_int_equal(log[0].location_max, 2 * SAMPLES);
	assert_true(log[1].n_forgets > 2 * SAMPLES / (MOST + OF_ONE));
	assert_true(log[1].location_max < MOST + OF_ONE);
	for (size_t i = 0; i < ARRAY_SIZE(log); i++)
		stop_reading(&recording[i], &f[i], &log[i]);
}

/* Notes are about all locations: here about the kernel's, of which the recording has no map. */
static void notes_forget_nothing(void **state)
{
	const struct filter_options all = { .comms = NULL };
	struct log log = { .wants = SAMPLE_TAKEN | SAMPLE_CHAIN };
	static const uint64_t user[] = { PERF_CONTEXT_USER, CODE + 0x8000, CODE + 0x8010, CODE + 0x8020 };
	struct fix_session f;
	struct made_recording recording;
	bool told = false;

	(void)state;
	many(&recording, 1);
	for (unsigned i = 0; i < 3; i++)
		recording_chain(&recording, 100 + i, PID, PID, MISC_USER, user, ARRAY_SIZE(user));
	assert_int_equal(run(&recording, &f, &all, &log, 2), 0);
	assert_true(log.n_forgets > 0);
	for (size_t i = 0; i < f.session.locations->n; i++)
		assert_int_equal(f.session.locations->v[i].mode, MISC_USER);
	session_add_notes(&f.session);
	for (size_t i = 0; i < f.session.notes.n; i++)
		told |= strstr(f.session.notes.v[i].text, "kernel addresses were hidden while recording") != NULL;
	assert_true(told);
	stop_reading(&recording, &f, &log);
}

/* A stack, forgotten, and found again: by the same chain, which must not come out of a cache of what was. */
static int take_stack(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct session *session = context;
	uint32_t before[8], after[8];
	size_t n = stacks_walk(session->stacks, session_stack(session, sample), before, ARRAY_SIZE(before));
	struct str was = STR_INIT, is = STR_INIT;

	(void)replay, (void)err;
	assert_true(n > 0);
	session_add_locations(session, before, n, &was);
	session_forget_locations(session);
	assert_int_equal(session->locations->n, 0);
	assert_int_equal(session->stacks->n, 0);
	/* Numbers begin anew: this one is not what it was for any of the samples. */
	session_address_location(session, sample, CODE + 0x8000);
	n = stacks_walk(session->stacks, session_stack(session, sample), after, ARRAY_SIZE(after));
	session_add_locations(session, after, n, &is);
	assert_string_equal(is.s, was.s);
	str_release(&was);
	str_release(&is);
	return 0;
}

static void stacks_are_forgotten(void **state)
{
	const struct session_options options = { .max_stack = 0 };
	struct fix_session f;
	struct made_recording recording;

	(void)state;
	program(&recording);
	session_open(&f, &recording, &options);
	session_replay(&f, take_stack, &f.session);
	session_close(&f, &recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wanted),
		cmocka_unit_test(own_address),
		cmocka_unit_test(filters_hold),
		cmocka_unit_test(errors_end_it),
		cmocka_unit_test(locations_are_forgotten),
		cmocka_unit_test(notes_forget_nothing),
		cmocka_unit_test(stacks_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
