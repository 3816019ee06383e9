/* SPDX-License-Identifier: MIT */
/*
 * Samples counted in the kernel. What a cell becomes is tested with cells made by hand; what the kernel counts with
 * page faults, which are as many as a program makes: each is a run of the BPF program, and all runs are in a cell that
 * comes out or are a loss that is counted. The latter is skipped where BPF is not to be had.
 */
#include "bpf/bpf.h"
#include "bpf/drained.h"
#include "profile/profile.h"
#include "record/record.h"

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAGES = 20000, EVENT_ID = 77 };
static const struct drained_as as_samples = { .id = EVENT_ID }, as_waits = { .id = EVENT_ID, .waits = true },
			       as_wall = { .id = EVENT_ID, .waits = true, .wall = true };

/* ---- cells by hand ---- */

static struct events *counted_events(void)
{
	static struct events events;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.sample_type = BPF_SAMPLE_TYPE,
		.sample_id_all = 1,
	};
	const uint64_t id = EVENT_ID;

	events_init(&events);
	events_add(&events, &attr, sizeof(attr), &id, 1)->counted = true;
	return &events;
}

static void give_stack(struct drained *drained, uint64_t hash, uint32_t n_kernel, uint32_t n_user)
{
	const struct bpf_receiver receiver = drained_receiver(drained);
	struct bpf_stack stack = { .n_kernel = n_kernel, .n_user = n_user };

	for (uint64_t i = 0; i < BPF_STACK_FRAMES; i++)
		stack.ips[i] = 1000 * hash + i;
	receiver.stacks(receiver.context, &hash, &stack, 1);
}

static void give_cell(struct drained *drained, uint64_t stack, uint64_t time_ns, uint64_t n_samples)
{
	const struct bpf_receiver receiver = drained_receiver(drained);
	const struct bpf_cell_key key = { .stack = stack, .pid = 10, .tid = 11, .cpu = 3 };
	const struct bpf_cell_sums sums = { n_samples, 1000 * n_samples, time_ns };

	receiver.cells(receiver.context, &key, &sums, 1);
}

/* Decodes a record into *body, which is good until the next one is. */
static void decode_sample(const struct events *events, const struct str *bytes, struct record_body *body)
{
	static struct decoder decoder;
	struct record record;
	struct str err = STR_INIT;

	decoder_release(&decoder);
	decoder_init(&decoder, events, false);
	record_from_bytes(&record, (const uint8_t *)bytes->s, 0, false);
	assert_int_equal(record.size, bytes->len);
	assert_int_equal(bytes->len % 8, 0);
	if (record_decode(&decoder, &record, body, &err))
		fail_msg("%s", err.s);
	assert_int_equal(body->type, RECORD_SAMPLE);
	assert_ptr_equal(body->event, events->v[0]);
}

static void a_cell_is_a_sample_that_stands_for_many(void **state)
{
	struct events *events = counted_events();
	struct drained drained = { 0 };
	struct record_body body;
	struct str bytes = STR_INIT;

	(void)state;
	give_stack(&drained, 5, 2, 3);
	give_cell(&drained, 5, 123456, 40);
	assert_int_equal(drained_add_sample(&drained, 0, &as_samples, &bytes), 40);
	decode_sample(events, &bytes, &body);
	assert_int_equal(body.sample.ip, 5000);
	assert_int_equal(body.sample.pid, 10);
	assert_int_equal(body.sample.tid, 11);
	assert_int_equal(body.sample.cpu, 3);
	assert_int_equal(body.sample.time_ns, 123456);
	assert_int_equal(body.sample.period, 40000);
	assert_int_equal(body.sample.weight, 40);
	assert_int_equal(body.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(body.sample.n_ips, 7);
	assert_int_equal(body.sample.ips[0], (uint64_t)PERF_CONTEXT_KERNEL);
	assert_int_equal(body.sample.ips[2], 5001);
	assert_int_equal(body.sample.ips[3], (uint64_t)PERF_CONTEXT_USER);
	assert_int_equal(body.sample.ips[4], 5002);
	assert_int_equal(body.sample.ips[6], 5004);
	str_release(&bytes);
	drained_release(&drained);
	events_release(events);
}

/* What says more addresses than there is room for, or none, or has no stack: nothing is read that is not there. */
static void stacks_that_are_out_of_bounds(void **state)
{
	static const struct {
		uint32_t n_kernel, n_user;
		uint64_t n_ips; /* with the marks; 0: there is no sample */
		bool in_kernel;
	} rows[] = {
		{ BPF_STACK_FRAMES, 0, BPF_STACK_FRAMES + 1, true },
		{ 0, BPF_STACK_FRAMES, BPF_STACK_FRAMES + 1, false },
		{ UINT32_MAX, UINT32_MAX, BPF_STACK_FRAMES + 1, true },
		{ 1, UINT32_MAX, BPF_STACK_FRAMES + 2, true },
		{ 0, 1, 2, false },
		{ 0, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct events *events = counted_events();
		struct drained drained = { 0 };
		struct record_body body;
		struct str bytes = STR_INIT;

		give_stack(&drained, 9, rows[i].n_kernel, rows[i].n_user);
		give_cell(&drained, 9, 1, 2);
		give_cell(&drained, 8, 1, 2);
		assert_int_equal(drained_add_sample(&drained, 1, &as_samples, &bytes), 0);
		assert_int_equal(drained_add_sample(&drained, 0, &as_samples, &bytes), rows[i].n_ips ? 2 : 0);
		if (rows[i].n_ips) {
			decode_sample(events, &bytes, &body);
			assert_int_equal(body.sample.n_ips, rows[i].n_ips);
			assert_int_equal((body.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
					 rows[i].in_kernel);
		}
		assert_int_equal(!bytes.len, !rows[i].n_ips);
		str_release(&bytes);
		drained_release(&drained);
		events_release(events);
	}
}

static void cells_come_in_the_order_of_time(void **state)
{
	struct drained drained = { 0 };

	(void)state;
	give_cell(&drained, 1, 30, 1);
	give_cell(&drained, 1, 10, 1);
	give_cell(&drained, 1, UINT64_MAX, 1);
	give_cell(&drained, 1, 20, 1);
	drained_sort(&drained);
	assert_int_equal(drained.cells[0].sums.last_ns, 10);
	assert_int_equal(drained.cells[1].sums.last_ns, 20);
	assert_int_equal(drained.cells[2].sums.last_ns, 30);
	assert_int_equal(drained.cells[3].sums.last_ns, UINT64_MAX);
	drained_clear(&drained);
	assert_int_equal(drained.n_cells, 0);
	drained_release(&drained);
}

/* Waits are at the user's address, where there is one, and the record says how the thread left. */
static void a_cell_of_waits(void **state)
{
	static const struct {
		const struct drained_as *as;
		uint16_t state;
		uint32_t n_user;
		uint64_t ip;
		unsigned misc;
	} rows[] = {
		{ &as_waits, BPF_WAIT_PREEMPTED, 3, 5002, MISC_USER | MISC_SWITCH_OUT_PREEMPT },
		{ &as_waits, BPF_WAIT_SLEEPING, 3, 5002, MISC_USER | MISC_WAIT_SLEEPING },
		{ &as_waits, BPF_WAIT_DISK, 0, 5000, MISC_KERNEL | MISC_WAIT_DISK },
		{ &as_waits, BPF_WAIT_OTHER, 3, 5002, MISC_USER },
		{ &as_waits, UINT16_MAX, 3, 5002, MISC_USER },
		{ &as_wall, BPF_WAIT_DISK, 3, 5002, MISC_USER | MISC_WAIT_DISK | MISC_SWITCH_OUT },
		{ &as_samples, BPF_WAIT_DISK, 3, 5000, MISC_KERNEL },
	};
	struct events *events = counted_events();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct drained drained = { 0 };
		const struct bpf_receiver receiver = drained_receiver(&drained);
		const struct bpf_cell_key key = { .stack = 5, .pid = 10, .tid = 11, .state = rows[i].state };
		const struct bpf_cell_sums sums = { 3, 70000, 123456 };
		struct record_body body;
		struct str bytes = STR_INIT;

		give_stack(&drained, 5, 2, rows[i].n_user);
		receiver.cells(receiver.context, &key, &sums, 1);
		assert_int_equal(drained_add_sample(&drained, 0, rows[i].as, &bytes), 3);
		decode_sample(events, &bytes, &body);
		assert_int_equal(body.sample.ip, rows[i].ip);
		assert_int_equal(body.sample.period, 70000);
		assert_int_equal(body.misc, rows[i].misc);
		str_release(&bytes);
		drained_release(&drained);
	}
	events_release(events);
}

/* Each wait that is not over is a cell that lasts until the end; its stack is there once. */
static void waits_that_are_not_over(void **state)
{
	struct drained drained = { .until_ns = 1000, .waits_event = 7 };
	const struct bpf_receiver receiver = drained_receiver(&drained);
	struct bpf_wait waits[] = {
		{ .out_ns = 400, .hash = 5, .pid = 1, .tid = 2, .cpu = 3, .state = BPF_WAIT_DISK },
		{ .out_ns = 0, .hash = 5 }, /* is back */
		{ .out_ns = 1200, .hash = 5 }, /* has left after the end */
		{ .out_ns = 100, .hash = 6 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		waits[i].stack = (struct bpf_stack){ .n_kernel = 1, .n_user = 1, .ips = { 8, 9 } };
	receiver.waits(receiver.context, waits, ARRAY_SIZE(waits));
	assert_int_equal(drained.n_cells, 3);
	assert_int_equal(drained.n_stacks, 2);
	assert_int_equal(drained.cells[0].sums.period, 600);
	assert_int_equal(drained.cells[0].sums.n_samples, 1);
	assert_int_equal(drained.cells[0].sums.last_ns, 1000);
	assert_int_equal(drained.cells[0].key.event, 7);
	assert_int_equal(drained.cells[0].key.state, BPF_WAIT_DISK);
	assert_int_equal(drained.cells[0].key.pid, 1);
	assert_int_equal(drained.cells[0].key.tid, 2);
	assert_int_equal(drained.cells[0].key.cpu, 3);
	assert_int_equal(drained.cells[1].sums.period, 0);
	assert_int_equal(drained.cells[2].sums.period, 900);
	drained_release(&drained);
}

/* The kernel's marks of whose addresses follow are none of them: a sample has its own. */
static void marks_are_no_addresses(void **state)
{
	struct events *events = counted_events();
	struct drained drained = { 0 };
	const struct bpf_receiver receiver = drained_receiver(&drained);
	const uint64_t hash = 9;
	const struct bpf_stack stack = { .n_kernel = 2, .n_user = 3, .ips = { (uint64_t)PERF_CONTEXT_KERNEL, 71,
					 (uint64_t)PERF_CONTEXT_USER, 81, 82 } };
	struct record_body body;
	struct str bytes = STR_INIT;

	(void)state;
	receiver.stacks(receiver.context, &hash, &stack, 1);
	give_cell(&drained, hash, 1, 1);
	assert_int_equal(drained_add_sample(&drained, 0, &as_samples, &bytes), 1);
	decode_sample(events, &bytes, &body);
	assert_int_equal(body.sample.ip, 71);
	assert_int_equal(body.sample.n_ips, 5);
	assert_int_equal(body.sample.ips[4], 82);
	str_release(&bytes);
	drained_release(&drained);
	events_release(events);
}

/* ---- the kernel counts ---- */

struct counted_run {
	struct kern kern;
	struct sys_ops sys;
	struct record_plan plan;
	struct exec_state found;
	struct event_list events;
	struct run_stop stop;
	struct note_list notes;
	struct record_totals recorded;
	struct str err;
	int status, rc;
	struct bpf_counting *counting;
	struct bpf_totals totals;
	struct live_source *live;
	struct profile *profile;
	uint64_t came; /* samples in the profile */
};

static void on_opened(void *data, const struct counter_set *set)
{
	(void)data, (void)set;
}

static int on_attach(void *data, const struct counter_set *set, struct str *err)
{
	struct counted_run *r = data;

	return bpf_counting_attach(r->counting, set, err);
}

static const struct events *on_written(void *data, const struct events *recorded)
{
	struct counted_run *r = data;

	return bpf_counting_written(r->counting, recorded);
}

static struct record_sink *on_stage(void *data, const struct recording_info *recording, struct record_sink *next)
{
	struct counted_run *r = data;

	(void)recording;
	return bpf_counting_stage(r->counting, next);
}

/* All that is recorded fits into it: it is read when the recording has ended. */
static struct record_sink *on_sink(void *data, const struct recording_info *recording)
{
	static const struct live_options options = { .no_wait = true };
	struct counted_run *r = data;

	r->live = live_source_new(&options, recording->events, recording->info, &r->err);
	return live_source_sink(r->live);
}

static void on_stops(void *data)
{
	struct counted_run *r = data;

	bpf_counting_stops(r->counting);
}

static int refuse_program(int fd, unsigned long request, unsigned long arg)
{
	return request == PERF_EVENT_IOC_SET_BPF ? -EINVAL : sys_linux.ioctl(fd, request, arg);
}

/* event: NULL for the waits alone. Of the options all but n_events and kern. */
static struct counted_run *run_with(const char *event, struct bpf_options options)
{
	struct counted_run *r = xcalloc(1, sizeof(*r));

	if (!getenv("WORK")) {
		printf("# skip: $WORK does not say where tests/work is built\n");
		skip();
	}
	r->sys = sys_linux;
	r->kern = (struct kern){
		.sys = &r->sys,
		.host = { .sysfs = "/sys", .procfs = "/proc", .tracefs = "/sys/kernel/tracing" },
	};
	str_init(&r->err);
	options.n_events = event != NULL;
	options.kern = &r->kern;
	if (bpf_counting_new(&r->counting, &options, &r->err)) {
		printf("# skip: %s\n", r->err.s);
		skip();
	}
	event_list_init(&r->events);
	if (event)
		assert_int_equal(event_list_parse(&r->events, event, &r->kern.host, &r->err), 0);
	exec_state_now(&r->found);
	r->plan = (struct record_plan){
		.found = &r->found,
		.events = &r->events,
		.sampling = { .inherit = true, .period = 1, .callchain = CALLCHAIN_FP, .has_clockid = true,
			      .clockid = CLOCK_MONOTONIC, .off_cpu = options.waits, .waits_counted = options.waits,
			      .wall = options.wall },
		.synth = SYNTH_TASKS | SYNTH_MMAPS,
		.control_fd = -1,
		.end_fd = -1,
		.ack_fd = -1,
		.kern = &r->kern,
		.notes = &r->notes,
		.stop = &r->stop,
		.opened = on_opened,
		.attach = on_attach,
		.stops = on_stops,
		.written = on_written,
		.stage = on_stage,
		.other_sink = on_sink,
		.data = r,
	};
	return r;
}

static struct counted_run *run_new(const char *event, size_t stacks_max, size_t cells_max)
{
	return run_with(event, (struct bpf_options){ .stacks_max = stacks_max, .cells_max = cells_max });
}

static void read_profile(struct counted_run *r)
{
	static const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE } };
	struct record_source *source = live_source_source(r->live);
	int rc;

	assert_int_equal(profile_new_live(&r->profile, &options, live_source_recording(r->live), source, &r->err), 0);
	while ((rc = profile_feed(r->profile, source, NS_PER_S, &r->err)) > 0)
		assert_int_not_equal(rc, PROFILE_FED_LATER);
	if (rc)
		fail_msg("%s", r->err.s);
	profile_end(r->profile);
	assert_int_equal(r->profile->session.replay.counts.out_of_order, 0);
	r->came = r->profile->events[0]->totals.n_samples;
}

/* works: of tests/work/exact, with spaces between. */
static void run_works(struct counted_run *r, const char *works)
{
	char *command = xasprintf("exec %s/exact %s", getenv("WORK"), works);
	char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, command, NULL };

	r->plan.argv = argv;
	r->rc = record_run(&r->plan, &r->recorded, &r->status, &r->err);
	bpf_counting_totals(r->counting, &r->totals);
	free(command);
}

static uint64_t losses(const struct counted_run *r)
{
	uint64_t sum = 0;

	for (int i = 0; i < BPF_LOSSES; i++)
		sum += r->totals.lost[i];
	return sum;
}

static void assert_sums(const struct counted_run *r)
{
	if (r->rc)
		fail_msg("%s", r->err.s);
	assert_int_equal(r->totals.samples + r->totals.short_waits + losses(r), r->totals.runs);
	assert_int_equal(r->totals.lost[BPF_LOST_READING], 0);
	assert_int_equal(r->came, r->totals.samples);
}

/* No ring had a sample, each run of the program is in the profile or a loss, and all that was counted came out. */
static void assert_adds_up(const struct counted_run *r)
{
	assert_sums(r);
	assert_int_equal(r->status, 0);
	assert_true(r->totals.runs > PAGES / 2); /* the kernel may throttle */
}

static void run_free(struct counted_run *r)
{
	profile_free(r->profile);
	live_source_free(r->live);
	bpf_counting_free(r->counting);
	record_totals_release(&r->recorded);
	event_list_release(&r->events);
	note_list_release(&r->notes);
	str_release(&r->err);
	free(r);
}

static void all_runs_are_samples(void **state)
{
	char works[64];
	struct counted_run *r = run_new("page-faults:u", 0, 0);

	(void)state;
	snprintf(works, sizeof(works), "pages:%d", PAGES);
	run_works(r, works);
	assert_int_equal(r->rc, 0);
	read_profile(r);
	assert_adds_up(r);
	assert_int_equal(losses(r), 0);
	assert_int_equal(r->profile->events[0]->totals.period, r->came);
	/* Many of them are one cell, so that the ring would have had more to carry. */
	assert_true(r->totals.cells < PAGES / 4);
	assert_true(r->totals.drains > 0);
	assert_true(r->totals.memory_bytes > (uint64_t)BPF_STACKS * sizeof(struct bpf_stack));
	run_free(r);
}

/* Samples of threads with this name. */
static uint64_t samples_of(const struct counted_run *r, const char *name)
{
	const struct cells *cells = &r->profile->events[0]->cells;
	uint64_t sum = 0;

	for (size_t i = 0; i < cells->n; i++) {
		uint32_t comm = (uint32_t)cell_fact(cells, i, FACT_COMM);

		if (text_same(session_comm(&r->profile->session, comm), name))
			sum += cells->values[i].n_samples;
	}
	return sum;
}

/* Threads and children have the program, too; their names are those of the process that has ended. */
static void children_are_counted(void **state)
{
	char works[64];
	struct counted_run *r = run_new("page-faults:u", 0, 0);

	(void)state;
	snprintf(works, sizeof(works), "forks:4 pages:%d", PAGES);
	run_works(r, works);
	assert_int_equal(r->rc, 0);
	read_profile(r);
	assert_adds_up(r);
	assert_true(r->totals.runs > 2 * PAGES);
	assert_true(samples_of(r, "exact") > 2 * PAGES);
	assert_int_equal(samples_of(r, "exact") + samples_of(r, "sh"), r->came);
	run_free(r);
}

/* Room for one stack in each half, of many: what has none is counted. */
static void full_maps_are_losses(void **state)
{
	static const struct {
		size_t stacks_max, cells_max;
		enum bpf_loss loss;
	} rows[] = { { 1, 0, BPF_LOST_STACKS_FULL }, { 0, 1, BPF_LOST_CELLS_FULL } };
	char works[64];

	(void)state;
	snprintf(works, sizeof(works), "pages:%d", PAGES);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct counted_run *r = run_new("page-faults:u", rows[i].stacks_max, rows[i].cells_max);

		run_works(r, works);
		assert_int_equal(r->rc, 0);
		read_profile(r);
		assert_adds_up(r);
		assert_true(r->totals.samples > 0);
		assert_true(r->totals.lost[rows[i].loss] > 0);
		assert_true(losses(r) - r->totals.lost[rows[i].loss] <= r->totals.lost[BPF_LOST_BUSY]);
		assert_non_null(bpf_loss_words(rows[i].loss));
		run_free(r);
	}
}

/* ---- waits ---- */

enum { SLEEPS = 200 };

/* Each is a wait or a loss, and what came is as long as the cells say. */
static void all_switches_are_waits(void **state)
{
	static const struct bpf_options options = { .waits = true };
	struct counted_run *r = run_with(NULL, options);
	const struct profile_event *came;

	(void)state;
	run_works(r, "sleeps:200");
	assert_int_equal(r->rc, 0);
	read_profile(r);
	assert_sums(r);
	assert_int_equal(r->status, 0);
	assert_int_equal(r->totals.waits, r->totals.samples);
	/* A sleep may be over before the thread has left. */
	assert_true(r->totals.runs >= SLEEPS / 2);
	assert_true(r->totals.cells <= r->totals.samples);
	assert_int_equal(r->totals.short_waits, 0);
	assert_true(r->totals.waits_ns > 0);
	came = r->profile->events[0];
	assert_int_equal(came->totals.period, r->totals.waits_ns);
	assert_true(event_has_waits(live_source_recording(r->live)->events->v[0]));
	assert_false(r->recorded.has_off_cpu);
	run_free(r);
}

/* Samples of the clock and waits are one event, and the program of each counts for itself. */
static void waits_and_samples(void **state)
{
	static const struct bpf_options options = { .waits = true, .wall = true };
	struct counted_run *r = run_with("cpu-clock", options);

	(void)state;
	r->plan.sampling.period = 1000000;
	run_works(r, "forks:4 spins:30 sleeps:50");
	assert_int_equal(r->rc, 0);
	read_profile(r);
	assert_sums(r);
	assert_true(event_is_wall_clock(live_source_recording(r->live)->events->v[0]));
	assert_true(r->totals.waits > 0);
	assert_true(r->totals.samples > r->totals.waits);
	run_free(r);
}

/* One place for four threads that sleep and one that waits for them, one cell, one stack: all are counted. */
static void full_maps_are_lost_waits(void **state)
{
	static const struct {
		struct bpf_options options;
		enum bpf_loss loss;
	} rows[] = {
		{ { .waits = true, .waiting_max = 1 }, BPF_LOST_WAITING_FULL },
		{ { .waits = true, .stacks_max = 1 }, BPF_LOST_STACKS_FULL },
		{ { .waits = true, .cells_max = 1 }, BPF_LOST_CELLS_FULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct counted_run *r = run_with(NULL, rows[i].options);

		run_works(r, "threads:4 sleeps:200");
		assert_int_equal(r->rc, 0);
		read_profile(r);
		assert_sums(r);
		assert_true(r->totals.lost[rows[i].loss] > 0);
		assert_non_null(bpf_loss_words(rows[i].loss));
		run_free(r);
	}
}

/* All that is shorter than an hour is counted, and in no cell. */
static void short_waits_are_left_out(void **state)
{
	static const struct bpf_options options = { .waits = true, .least_ns = 3600 * NS_PER_S };
	struct counted_run *r = run_with(NULL, options);

	(void)state;
	run_works(r, "sleeps:200");
	assert_int_equal(r->rc, 0);
	read_profile(r);
	assert_sums(r);
	assert_int_equal(r->came, r->totals.open);
	assert_true(r->totals.short_waits > 0);
	assert_true(r->totals.short_ns > 0);
	run_free(r);
}

/* A command that sleeps when the recording ends has waited until then, and no longer than the recording took. */
static void a_wait_lasts_until_the_end(void **state)
{
	static const struct bpf_options options = { .waits = true };
	struct counted_run *r = run_with(NULL, options);
	char *argv[] = { (char[]){ "sleep" }, (char[]){ "1000" }, NULL };
	uint64_t begun_ns, all_ns;

	(void)state;
	r->plan.argv = argv;
	r->plan.duration_ns = 200 * NS_PER_MS;
	begun_ns = now_ns();
	r->rc = record_run(&r->plan, &r->recorded, &r->status, &r->err);
	all_ns = now_ns() - begun_ns;
	bpf_counting_totals(r->counting, &r->totals);
	assert_int_equal(r->rc, 0);
	read_profile(r);
	assert_sums(r);
	assert_true(r->totals.open <= 1);
	/* A single thread cannot wait longer than that. */
	assert_true(r->totals.waits_ns <= all_ns);
	run_free(r);
}

/* Nothing is attached to any of them, and whoever asked has the reason. */
static void events_that_bpf_does_not_count(void **state)
{
	static const struct {
		struct perf_event_attr attr;
		const char *why;
	} rows[] = {
		{ { .type = PERF_TYPE_TRACEPOINT, .use_clockid = 1, .clockid = CLOCK_MONOTONIC },
		  "second: BPF does not count tracepoints" },
		{ { .sample_type = PERF_SAMPLE_STACK_USER, .use_clockid = 1, .clockid = CLOCK_MONOTONIC },
		  "second: BPF finds callers by frame pointers, not by DWARF" },
		{ { .sample_type = PERF_SAMPLE_READ, .use_clockid = 1, .clockid = CLOCK_MONOTONIC },
		  "second: BPF does not read the values of a group" },
		{ { .use_clockid = 0 }, "second: BPF counts with the clock CLOCK_MONOTONIC" },
		{ { .use_clockid = 1, .clockid = CLOCK_MONOTONIC }, "there are 2 events for 1 BPF programs" },
	};
	struct counted_run *r = run_new("page-faults:u", 0, 0);
	struct event event = { .tracking = false };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct counter counters[2] = {
			{ .event = &event, .attr = { .use_clockid = 1, .clockid = CLOCK_MONOTONIC } },
			{ .event = &event, .attr = rows[i].attr, .name = (char[]){ "second" } },
		};
		const struct counter_set set = { .v = counters, .n = 2, .kern = &r->kern };

		str_reset(&r->err);
		assert_int_equal(bpf_counting_attach(r->counting, &set, &r->err), -ENOTSUP);
		assert_string_equal(r->err.s, rows[i].why);
	}
	run_free(r);
}

static void an_event_takes_no_program(void **state)
{
	struct counted_run *r = run_new("page-faults:u", 0, 0);

	(void)state;
	r->sys.ioctl = refuse_program;
	run_works(r, "pages:1");
	assert_int_equal(r->rc, -ENOTSUP);
	assert_string_equal(r->err.s, "page-faults:u: the kernel does not count it by BPF: Invalid argument");
	assert_int_equal(r->totals.runs, 0);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_is_a_sample_that_stands_for_many),
		cmocka_unit_test(stacks_that_are_out_of_bounds),
		cmocka_unit_test(cells_come_in_the_order_of_time),
		cmocka_unit_test(events_that_bpf_does_not_count),
		cmocka_unit_test(all_runs_are_samples),
		cmocka_unit_test(children_are_counted),
		cmocka_unit_test(full_maps_are_losses),
		cmocka_unit_test(an_event_takes_no_program),
		cmocka_unit_test(a_cell_of_waits),
		cmocka_unit_test(waits_that_are_not_over),
		cmocka_unit_test(marks_are_no_addresses),
		cmocka_unit_test(all_switches_are_waits),
		cmocka_unit_test(waits_and_samples),
		cmocka_unit_test(full_maps_are_lost_waits),
		cmocka_unit_test(short_waits_are_left_out),
		cmocka_unit_test(a_wait_lasts_until_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
