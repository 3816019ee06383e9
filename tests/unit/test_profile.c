/* SPDX-License-Identifier: MIT */
/*
 * The pass over a recording: each sample is in one cell of its event, filters leave the totals whole or
 * not as perf has it, branches are cells of their own; and what is said at the end.
 */
#include "profile/profile.h"
#include "session_fixture.h"
#include "sym/dso_names.h"

struct targets {
	struct profile_shape shape;
	uint64_t quantum_ns;
	struct session_options session;
	struct profile *profile;
	struct reader reader;
	struct str err;
};

static void collect(struct targets *t, struct made_recording *recording, uint64_t facts,
		    const struct filter_options *filters)
{
	struct profile_options options = {
		.session = t->session,
		.filters = *filters,
		.shape = t->shape,
	};
	struct str bytes;

	options.shape.facts = facts;
	options.shape.time_quantum_ns = t->quantum_ns;
	str_init(&t->err);
	recording_bytes(recording, false, &bytes);
	if (reader_open_fd(&t->reader, fix_memory_file(bytes.s, bytes.len), "recording", &t->err) ||
	    profile_new(&t->profile, &options, &t->reader, &t->err) || profile_read(t->profile, NULL, NULL, &t->err))
		fail_msg("%s", t->err.s);
	str_release(&bytes);
}

static void release(struct targets *t, struct made_recording *recording)
{
	profile_free(t->profile);
	reader_close(&t->reader);
	str_release(&t->err);
	recording_release(recording);
}

/* Four samples of the first event, two in the kernel, each with period 1000; one of the second. */
static void make_recording(struct made_recording *recording)
{
	struct record_body other = fix_sample(201, 50);

	recording_init(recording);
	recording->info.hostname = xstrdup("host");
	info_set(&recording->info, FEATURE_HOSTNAME);
	recording_comm(recording, 1, PID, PID, true, "one");
	recording_comm(recording, 1, OTHER_PID, OTHER_PID, true, "two");
	recording_sample(recording, 10, PID, PID, 0x400000);
	recording_sample(recording, 11, PID, PID, 0xffffffff81000000);
	recording_sample(recording, 12, OTHER_PID, OTHER_PID, 0x400000);
	recording_sample(recording, 13, OTHER_PID, OTHER_PID, 0xffffffff81000000);
	recording_add(recording, &other);
}

static void each_event_has_its_cells(void **state)
{
	static struct targets t;
	struct made_recording recording;

	(void)state;
	memset(&t, 0, sizeof(t));
	make_recording(&recording);
	collect(&t, &recording, 1ULL << FACT_COMM | 1ULL << FACT_MISC, &(struct filter_options){ 0 });
	assert_int_equal(t.profile->events[0]->cells.n, 4);
	assert_int_equal(t.profile->events[0]->totals.n_samples, 4);
	assert_int_equal(t.profile->events[0]->totals.period, 4000);
	assert_int_equal(t.profile->events[0]->totals.period_sys, 2000);
	assert_int_equal(t.profile->events[0]->totals.period_us, 2000);
	assert_int_equal(t.profile->events[1]->cells.n, 1);
	assert_int_equal(t.profile->events[1]->totals.n_samples, 1);
	release(&t, &recording);
}

/* A comm that is left out counts in the totals, a time that is left out does not. */
static void filters_and_totals(void **state)
{
	static struct targets t;
	struct made_recording recording;

	(void)state;
	memset(&t, 0, sizeof(t));
	make_recording(&recording);
	collect(&t, &recording, 1ULL << FACT_COMM, &(struct filter_options){ .comms = "one" });
	assert_int_equal(t.profile->events[0]->cells.n, 1);
	assert_int_equal(t.profile->events[0]->cells.values[0].n_samples, 2);
	assert_int_equal(t.profile->events[0]->totals.n_samples, 4);
	release(&t, &recording);

	memset(&t, 0, sizeof(t));
	make_recording(&recording);
	collect(&t, &recording, 1ULL << FACT_COMM, &(struct filter_options){ .time = "0.000000011,0.000000012" });
	assert_int_equal(t.profile->events[0]->cells.n, 2);
	assert_int_equal(t.profile->events[0]->totals.n_samples, 2);
	release(&t, &recording);
}

static void sample_facts(void **state)
{
	static const enum sample_fact kept[] = { FACT_PID,         FACT_TID,       FACT_CPU,
					  FACT_TIME,        FACT_WEIGHT,    FACT_INS_LAT,
					  FACT_P_STAGE_CYC, FACT_DATA_ADDR, FACT_CGROUP };
	static const uint64_t expected[] = { PID, 43, 1, 50, 0x01020304, 0x0506, 0x0708, 0xabc, 0 };
	static struct targets t;
	struct made_recording recording;
	struct record_body body = fix_sample(101, 50009);
	uint64_t facts = 0;

	(void)state;
	memset(&t, 0, sizeof(t));
	session_recording(&recording, DATA_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_ADDR, 0);
	body.sample.tid = 43;
	body.sample.addr = 0xabc;
	body.sample.weight = 0x0708050601020304;
	recording_add(&recording, &body);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		facts |= 1ULL << kept[i];
	t.quantum_ns = 1000;
	collect(&t, &recording, facts, &(struct filter_options){ 0 });
	assert_int_equal(t.profile->events[0]->cells.n, 1);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		unsigned shift = kept[i] == FACT_PID || kept[i] == FACT_TID ? 32 : 0;

		assert_int_equal(cell_fact(&t.profile->events[0]->cells, 0, kept[i]) >> shift, expected[i]);
	}
	release(&t, &recording);
}

static void branches(void **state)
{
	static const struct sample_branch stack[] = {
		{ 0x401000, 0x402000, 1 | 12 << 4 },
		{ 0x401000, 0x402000, 1 },
		{ 0x401000, 0x403000, 2 | 7 << 4 },
	};
	static struct targets t;
	struct made_recording recording;
	struct record_body body = fix_sample(101, 10);
	const struct cells *cells;

	(void)state;
	memset(&t, 0, sizeof(t));
	session_recording(&recording, PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_BRANCH_ANY);
	body.sample.branches = stack;
	body.sample.n_branches = ARRAY_SIZE(stack);
	recording_add(&recording, &body);
	t.shape.branches = true;
	collect(&t, &recording, 1ULL << FACT_FROM | 1ULL << FACT_TO | 1ULL << FACT_LOCATION | 1ULL << FACT_BRANCH_FLAGS,
		&(struct filter_options){ 0 });
	cells = &t.profile->events[0]->cells;
	assert_int_equal(cells->n, 2);
	assert_int_equal(cells->values[0].n_samples, 2);
	assert_int_equal(cells->values[0].period, 2);
	assert_int_equal(cells->values[0].weight, 12 + 1);
	assert_int_equal(cell_fact(cells, 0, FACT_LOCATION), cell_fact(cells, 0, FACT_TO));
	assert_int_equal(cell_fact(cells, 0, FACT_FROM), cell_fact(cells, 1, FACT_FROM));
	assert_int_equal(cell_fact(cells, 1, FACT_BRANCH_FLAGS), 2);
	assert_int_equal(t.profile->events[0]->totals.n_samples, 3);
	release(&t, &recording);
}

/* In mem mode a sample is worth its latency, at least 1. */
static void memory_mode(void **state)
{
	static struct targets t;
	struct made_recording recording;
	struct record_body body = fix_sample(101, 10);

	(void)state;
	memset(&t, 0, sizeof(t));
	session_recording(&recording, PERF_SAMPLE_WEIGHT, 0);
	body.sample.weight = 30;
	recording_add(&recording, &body);
	body.sample.weight = 0;
	recording_add(&recording, &body);
	t.shape.weights = true;
	collect(&t, &recording, 0, &(struct filter_options){ 0 });
	assert_int_equal(t.profile->events[0]->totals.n_samples, 2);
	assert_int_equal(t.profile->events[0]->totals.period, 31);
	release(&t, &recording);
}

/* What a profile has of a task's samples. */
static struct cell_values of_task(const struct profile_event *event, int task)
{
	struct cell_values sum = { 0 };

	for (size_t i = 0; i < event->cells.n; i++) {
		if (task_names_number(cell_fact(&event->cells, i, FACT_TID)) != task)
			continue;
		sum.n_samples += event->cells.values[i].n_samples;
		sum.period += event->cells.values[i].period;
	}
	return sum;
}

/*
 * Many cells of one sample, and one that has as many: each time, both lose the same part, to a sample, and in the end
 * all is gone with what only it had.
 */
static void what_decays_goes(void **state)
{
	enum { TASKS = 504, OFTEN = 504 };
	static struct targets t;
	struct made_recording recording;
	const struct profile_event *event;
	uint64_t left = OFTEN;

	(void)state;
	memset(&t, 0, sizeof(t));
	recording_init(&recording);
	for (int i = 0; i < TASKS; i++) {
		const uint64_t ips[] = { 0x400000 + (uint64_t)i, 0x500000 };

		recording_chain(&recording, 10 + (uint64_t)i, 1000 + i, 1000 + i, MISC_USER, ips, ARRAY_SIZE(ips));
	}
	for (int i = 0; i < OFTEN; i++) {
		const uint64_t ips[] = { 0x600000, 0x500000 };

		recording_chain(&recording, 1000 + (uint64_t)i, PID, PID, MISC_USER, ips, ARRAY_SIZE(ips));
	}
	collect(&t, &recording, PROFILE_WHOLE & ~(1ULL << FACT_BUCKET), &(struct filter_options){ 0 });
	event = t.profile->events[0];
	assert_int_equal(event->cells.n, TASKS + 1);
	for (int times = 0; times < 20; times++) {
		profile_compact(t.profile, 1);
		left = left * 7 / 8;
		assert_in_range(of_task(event, PID).n_samples, left, left + 1 + (uint64_t)times / 2);
		assert_in_range(event->cells.n - 1, left, left + 1 + (uint64_t)times / 2);
		assert_int_equal(event->totals.n_samples, of_task(event, PID).n_samples + event->cells.n - 1);
		assert_int_equal(event->totals.period, event->totals.n_samples * of_task(event, PID).period /
							       of_task(event, PID).n_samples);
		/* The root, what all have in common, and what each has of its own. */
		assert_int_equal(t.profile->session.stacks->n, 2 + event->cells.n);
		assert_in_range(t.profile->session.locations->n, event->cells.n + 1, 2 * event->cells.n + 1);
	}
	profile_compact(t.profile, 8);
	assert_int_equal(event->cells.n, 0);
	assert_int_equal(event->totals.n_samples, 0);
	assert_int_equal(event->totals.period, 0);
	assert_int_equal(t.profile->session.locations->n, 0);
	release(&t, &recording);
}

/* Every other task runs a file of its own, the others code that has no file. */
static bool has_file(int task)
{
	return task % 2;
}

static void program_of(int task, char *path, size_t room)
{
	snprintf(path, room, has_file(task) ? "/tmp/built-%d/tool" : "//anon", task);
}

static void check_dso(const struct session *session, const struct dso *dso, int task)
{
	char path[32];

	program_of(task, path, sizeof(path));
	assert_ptr_equal(session->replay.dsos.v[dso->index], dso);
	assert_int_equal(dso->kind, has_file(task) ? DSO_FILE : DSO_ANON);
	assert_int_equal(dso->pid, has_file(task) ? -1 : 1000 + task);
	if (has_file(task))
		assert_string_equal(dso->path, path);
}

/*
 * Each task's cell has its own name, file and location, and all stacks begin in one. Returns how many cells there
 * are.
 */
static size_t check_storm(const struct profile *profile)
{
	const struct session *session = &profile->session;
	const struct cells *cells = &profile->events[0]->cells;

	for (size_t i = 0; i < cells->n; i++) {
		int task = task_names_number(cell_fact(cells, i, FACT_TID)) - 1000;
		uint32_t way[4], stack = (uint32_t)cell_fact(cells, i, FACT_STACK);
		char name[24];

		snprintf(name, sizeof(name), "worker-%d", task);
		assert_string_equal(session_comm(session, (uint32_t)cell_fact(cells, i, FACT_COMM)), name);
		assert_int_equal(session->locations->v[cell_fact(cells, i, FACT_LOCATION)].ip, 0x600000 + 16 * task);
		assert_int_equal(stacks_walk(session->stacks, stack, way, 4), 2);
		assert_int_equal(session->locations->v[way[0]].ip, 0x600000 + 16 * task);
		assert_int_equal(session->locations->v[way[1]].ip, 0x500000);
		check_dso(session, session->locations->v[way[0]].dso, task);
	}
	return cells->n;
}

/* Each of them is sampled four times, so that its cell outlives its thread, and is soon gone when it is halved. */
static void make_storm(struct made_recording *recording, int tasks, struct str *bytes)
{
	recording_init(recording);
	for (int i = 0; i < tasks; i++) {
		const uint64_t ips[] = { 0x600000 + 16 * (uint64_t)i, 0x500000 }, time_ns = 10 + 10 * (uint64_t)i;
		char name[24], path[32];

		snprintf(name, sizeof(name), "worker-%d", i);
		program_of(i, path, sizeof(path));
		recording_fork(recording, time_ns, 1000 + i, 1000 + i, PID, PID);
		recording_comm(recording, time_ns, 1000 + i, 1000 + i, false, name);
		recording_map(recording, time_ns, 1000 + i, 0x600000, 1 << 20, 0, path);
		for (uint64_t n = 1; n <= 4; n++)
			recording_chain(recording, time_ns + n, 1000 + i, 1000 + i, MISC_USER, ips, ARRAY_SIZE(ips));
		recording_exit(recording, time_ns + 5, 1000 + i, 1000 + i);
		if (i % 100 == 0)
			recording_plain(recording, RECORD_FINISHED_ROUND);
	}
	recording_bytes(recording, false, bytes);
}

static void at_least(size_t *most, size_t n)
{
	if (*most < n)
		*most = n;
}

/* A fork storm that is fed in steps: what is kept follows what was sampled lately, not all that ever ran. */
static void a_storm_stays_flat(void **state)
{
	enum { TASKS = 20000, STEPS_EACH = 8 };
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE } };
	static struct targets t;
	struct made_recording recording;
	struct str bytes;
	size_t most_cells = 0, most_locations = 0, most_stacks = 0, most_dsos = 0, steps = 0;
	int rc;

	(void)state;
	memset(&t, 0, sizeof(t));
	str_init(&t.err);
	make_storm(&recording, TASKS, &bytes);
	assert_int_equal(reader_open_fd(&t.reader, fix_memory_file(bytes.s, bytes.len), "storm", &t.err), 0);
	assert_int_equal(profile_new(&t.profile, &options, &t.reader, &t.err), 0);
	while ((rc = profile_feed(t.profile, &t.reader.source, 0, &t.err)) > 0) {
		if (++steps % STEPS_EACH || !t.profile->n_events)
			continue;
		at_least(&most_cells, check_storm(t.profile));
		at_least(&most_locations, t.profile->session.locations->n);
		at_least(&most_stacks, t.profile->session.stacks->n);
		at_least(&most_dsos, t.profile->session.replay.dsos.n);
		profile_compact(t.profile, 4);
		check_storm(t.profile);
	}
	assert_int_equal(rc, 0);
	profile_end(t.profile);
	check_storm(t.profile);
	assert_int_equal(t.profile->session.replay.counts.samples, 4 * TASKS);
	assert_true(most_cells > 0 && most_cells < TASKS / 5);
	assert_true(most_locations > 0 && most_locations < TASKS / 5);
	assert_true(most_stacks > 0 && most_stacks < TASKS / 5);
	assert_true(most_dsos > 0 && most_dsos < TASKS / 5);
	assert_true(t.profile->session.replay.n_threads < TASKS / 10);
	assert_non_null(replay_known_process(&t.profile->session.replay, 1000 + TASKS - 1));
	assert_null(replay_known_process(&t.profile->session.replay, 1000));
	assert_true(session_n_comms(&t.profile->session) < TASKS / 5);
	release(&t, &recording);
	str_release(&bytes);
}

/* A recording of any length has at most so many buckets, each twice as wide as before when they don't suffice. */
static void buckets_widen(void **state)
{
	static struct targets t;
	struct made_recording recording;
	const struct cells *cells;
	uint64_t samples = 0;

	(void)state;
	memset(&t, 0, sizeof(t));
	recording_init(&recording);
	for (uint64_t i = 0; i < 20000; i++)
		recording_sample(&recording, 1 + (i << 20), PID, PID, 0x400000);
	collect(&t, &recording, 1ULL << FACT_BUCKET, &(struct filter_options){ 0 });
	cells = &t.profile->events[0]->cells;
	assert_int_equal(t.profile->bucket_ns, 8 << 20);
	assert_int_equal(cells->n, 20000 / 8);
	for (size_t i = 0; i < cells->n; i++) {
		assert_int_equal(cell_fact(cells, i, FACT_BUCKET), i);
		samples += cells->values[i].n_samples;
	}
	assert_int_equal(samples, 20000);
	release(&t, &recording);
}

/* The list of the kernel's names begins to be read at the first sample in the kernel itself, not in a module. */
static void the_kernel_is_expected(void **state)
{
	static struct targets t;
	struct made_recording recording;

	(void)state;
	for (int in_kernel = 0; in_kernel < 2; in_kernel++) {
		memset(&t, 0, sizeof(t));
		t.session.sym.procfs = "/none";
		t.session.sym.sysfs = "/none";
		t.session.sym.ignore_vmlinux = true;
		recording_init(&recording);
		recording_kernel_map(&recording, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
				     "[kernel.kallsyms]_text");
		recording_kernel_map(&recording, 0xffffffffc0000000, 0x10000, 0, "[ext4]");
		recording_sample(&recording, 10, PID, PID, 0xffffffffc0001000);
		if (in_kernel)
			recording_sample(&recording, 11, PID, PID, 0xffffffff81001000);
		collect(&t, &recording, 1ULL << FACT_LOCATION, &(struct filter_options){ 0 });
		assert_int_equal(!!t.profile->session.symbols->kernel_ahead, in_kernel);
		release(&t, &recording);
	}
}

/* ---- notes ---- */

static const struct note *find_note(const struct session *session, const char *beginning)
{
	for (size_t i = 0; i < session->notes.n; i++)
		if (!strncmp(session->notes.v[i].text, beginning, strlen(beginning)))
			return &session->notes.v[i];
	return NULL;
}

static void nothing_to_say(void **state)
{
	static struct targets t;
	struct made_recording recording;

	(void)state;
	memset(&t, 0, sizeof(t));
	make_recording(&recording);
	recording_kernel_map(&recording, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	collect(&t, &recording, 1ULL << FACT_LOCATION, &(struct filter_options){ 0 });
	session_add_notes(&t.profile->session);
	for (size_t i = 0; i < t.profile->session.notes.n; i++)
		fail_msg("%s", t.profile->session.notes.v[i].text);
	release(&t, &recording);
}

static void losses_are_numbers(void **state)
{
	static struct targets t;
	struct session *session;
	struct made_recording recording;
	const struct note *note;

	(void)state;
	memset(&t, 0, sizeof(t));
	make_recording(&recording);
	collect(&t, &recording, 0, &(struct filter_options){ 0 });
	session = &t.profile->session;
	session->replay.counts.samples = 300;
	session->replay.counts.lost_samples = 100;
	session->replay.counts.throttles = 7;
	session->unwind.counts.samples = 10;
	session->unwind.counts.ends[UNWIND_COMPLETE] = 6;
	session->unwind.counts.ends[UNWIND_TRUNCATED] = 3;
	session->unwind.counts.ends[UNWIND_BROKEN] = 1;
	session_add_notes(session);
	note = find_note(session, "lost: 100 samples (25.00 %");
	assert_non_null(note);
	assert_non_null(strstr(note->remedy, "-m"));
	assert_non_null(find_note(session, "sampling throttled: 7 times"));
	note = find_note(session, "unwinding: 40.0 % of 10 stacks are incomplete (30.0 %");
	assert_non_null(note);
	assert_non_null(strstr(note->remedy, "--call-graph dwarf"));
	assert_int_equal(session->notes.n, 3);
	release(&t, &recording);
}

/* Eight files that are not there, with 1 to 8 samples: five are listed, most first. */
static void files_without_symbols(void **state)
{
	static struct targets t;
	struct session *session;
	struct made_recording recording;
	const struct note *note;
	char path[64];

	(void)state;
	memset(&t, 0, sizeof(t));
	recording_init(&recording);
	for (unsigned i = 1; i <= 8; i++) {
		snprintf(path, sizeof(path), "/nonexistent/lib%u\033.so", i);
		recording_map(&recording, 1, PID, i * 0x100000ULL, 0x1000, 0, path);
		for (unsigned k = 0; k < i; k++)
			recording_sample(&recording, 10 + i, PID, PID, i * 0x100000ULL + k);
	}
	collect(&t, &recording, 1ULL << FACT_LOCATION, &(struct filter_options){ 0 });
	session = &t.profile->session;
	for (uint32_t i = 0; i < session->locations->n; i++)
		assert_null(location_symbol(session, i));
	session_add_notes(session);
	note = find_note(session, "no symbols: /nonexistent/lib8\\x1b.so (22.2 %: ");
	assert_non_null(note);
	assert_non_null(strstr(note->text, "lib4\\x1b.so (11.1 %: "));
	assert_null(strstr(note->text, "lib3"));
	assert_non_null(strstr(note->text, "and 3 more"));
	note = find_note(session, "no symbols, less often: ");
	assert_non_null(note);
	assert_true(note->verbose);
	assert_non_null(strstr(note->text, "lib1"));
	/* What the reader had to say is passed on: this recording has no features. */
	assert_non_null(find_note(session, "the recorder did not finish"));
	release(&t, &recording);
}

/* One of 8 samples, of so much in all. */
static void add_eight(struct made_recording *recording, uint16_t misc, uint64_t ip, uint64_t period)
{
	for (uint64_t i = 0; i < 8; i++) {
		struct record_body body = fix_sample(101, 10 + i);

		body.misc = misc;
		body.sample.pid = body.sample.tid = PID;
		body.sample.ip = ip;
		body.sample.period = period / 8;
		recording_add(recording, &body);
	}
}

/* Periods whose sums are beyond 64 bits, before and after: no part of a total becomes more than the total. */
static void hostile_periods_decay(void **state)
{
	static struct targets t;
	struct made_recording recording;
	const struct entry_stats *totals;
	const uint64_t kernel = UINT64_MAX - 7, user = (1ULL << 63) / 7 * 2 + 8000;

	(void)state;
	memset(&t, 0, sizeof(t));
	recording_init(&recording);
	add_eight(&recording, MISC_KERNEL, 0xffffffff81000000, kernel);
	add_eight(&recording, MISC_USER, 0x400000, user);
	collect(&t, &recording, PROFILE_WHOLE & ~(1ULL << FACT_BUCKET), &(struct filter_options){ 0 });
	totals = &t.profile->events[0]->totals;
	assert_true(totals->period_sys == kernel);
	assert_true(totals->period == kernel + user / 8 * 8);
	profile_compact(t.profile, 1);
	assert_true(totals->period < 1000000);
	assert_true(totals->period_sys <= totals->period);
	release(&t, &recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_has_its_cells),
		cmocka_unit_test(filters_and_totals),
		cmocka_unit_test(sample_facts),
		cmocka_unit_test(branches),
		cmocka_unit_test(memory_mode),
		cmocka_unit_test(what_decays_goes),
		cmocka_unit_test(hostile_periods_decay),
		cmocka_unit_test(a_storm_stays_flat),
		cmocka_unit_test(buckets_widen),
		cmocka_unit_test(the_kernel_is_expected),
		cmocka_unit_test(nothing_to_say),
		cmocka_unit_test(losses_are_numbers),
		cmocka_unit_test(files_without_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
