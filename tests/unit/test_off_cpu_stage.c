/* SPDX-License-Identifier: MIT */
/*
 * The stage that joins switches: each wait is as long as its two SWITCH records say, to the nanosecond, in whatever
 * order rings are emptied; what cannot be joined is counted.
 */
#include "late_stage.h"

#include "record/off_cpu_stage.h"

#include <linux/perf_event.h>

enum { ID = 101, OTHER_ID = 102, WAKEUP_ID = 103, PID = 42, CPUS = 3 };
enum { WAKEUPS = 2, WOKEN_AT = 4 }; /* index of their event; where their data names the woken thread */

static const uint64_t kernel_ip = 0xffffffff81000000ULL;

/* ---- what comes out ---- */

struct wait {
	uint32_t tid, cpu;
	uint64_t time_ns, period, ip, n_ips;
	uint16_t misc;
};

struct out {
	struct record_sink sink;
	struct decoder decoder;
	uint64_t id; /* of the event that waits are samples of, and its name */
	const char *name;
	struct wait v[8192]; /* its samples */
	struct wait wakers[16]; /* samples of offcpu-wakers */
	size_t n_wakers;
	size_t n, n_others;
	unsigned rounds;
	uint64_t newest_ns, round_ns, before_ns; /* the newest time so far; when the last two rounds ended */
};

static int out_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct out *out = (struct out *)sink;

	for (size_t at = 0; at < n;) {
		struct record record;
		struct record_body body;

		record_from_bytes(&record, (const uint8_t *)records + at, 0, false);
		at += record.size;
		assert_int_equal(record_decode(&out->decoder, &record, &body, err), 0);
		/* Rounds keep what they promise. */
		assert_true(!body.id.time_ns || body.id.time_ns >= out->before_ns);
		if (body.id.time_ns > out->newest_ns)
			out->newest_ns = body.id.time_ns;
		if (record.type == RECORD_SAMPLE && body.sample.id == WAKEUP_ID) {
			assert_string_equal(body.event->name, "offcpu-wakers");
			assert_true(out->n_wakers < ARRAY_SIZE(out->wakers));
			out->wakers[out->n_wakers++] = (struct wait){ body.sample.tid,    body.sample.cpu,
								      body.sample.time_ns, body.sample.period,
								      body.sample.ip,      body.sample.n_ips,
								      body.misc };
			continue;
		}
		if (record.type != RECORD_SAMPLE || body.sample.id != out->id) {
			out->n_others++;
			continue;
		}
		assert_string_equal(body.event->name, out->name);
		assert_true(out->n < ARRAY_SIZE(out->v));
		out->v[out->n++] = (struct wait){ body.sample.tid,     body.sample.cpu, body.sample.time_ns,
						  body.sample.period, body.sample.ip,  body.sample.n_ips,
						  body.misc };
	}
	return 0;
}

static int out_round(struct record_sink *sink, struct str *err)
{
	struct out *out = (struct out *)sink;

	(void)err;
	out->rounds++;
	out->before_ns = out->round_ns;
	out->round_ns = out->newest_ns;
	return 0;
}

static int out_nothing(struct record_sink *sink, struct str *err)
{
	(void)sink, (void)err;
	return 0;
}

/* ---- what goes in ---- */

struct bench {
	struct events recorded;
	struct off_cpu_stage *off;
	struct stage *stage;
	struct out out;
	struct str err;
};

static struct bench *begin(struct off_cpu_stage_options options)
{
	struct bench *b = xcalloc(1, sizeof(*b));
	const uint64_t ids[] = { OTHER_ID, ID };
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .sample_id_all = 1 };

	str_init(&b->err);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	events_init(&b->recorded);
	events_add(&b->recorded, &attr, sizeof(attr), &ids[0], 1)->name = xstrdup("cpu-clock");
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.context_switch = 1;
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	events_add(&b->recorded, &attr, sizeof(attr), &ids[1], 1)->name = xstrdup("context-switches");
	if (options.woken_at) {
		const uint64_t id = WAKEUP_ID;

		attr.type = PERF_TYPE_TRACEPOINT;
		attr.context_switch = 0;
		attr.sample_type |= PERF_SAMPLE_RAW;
		events_add(&b->recorded, &attr, sizeof(attr), &id, 1)->name = xstrdup("sched:sched_waking");
	}
	b->off = off_cpu_stage_new(&b->recorded, 1, &options);
	b->out.id = options.wall ? OTHER_ID : ID;
	b->out.name = options.wall ? "wall-clock" : "offcpu-time";
	b->out.sink = (struct record_sink){ out_take, out_round, out_nothing, out_nothing };
	decoder_init(&b->out.decoder, off_cpu_stage_written(b->off), false);
	b->stage = off_cpu_stage_begin(b->off, &b->out.sink);
	return b;
}

static void end(struct bench *b)
{
	off_cpu_stage_free(b->off);
	decoder_release(&b->out.decoder);
	events_release(&b->recorded);
	str_release(&b->err);
	free(b);
}

static void tell(struct bench *b, const struct record_body *body)
{
	const struct data_event *event = body->type == RECORD_SAMPLE ? events_find(&b->recorded, body->sample.id) :
								       b->recorded.v[1];
	struct record_sink *sink = &b->stage->sink;
	struct str bytes = STR_INIT;

	assert_int_equal(record_encode(body, event, &bytes, &b->err), 0);
	assert_int_equal(sink->take(sink, bytes.s, bytes.len, &b->err), 0);
	str_release(&bytes);
}

static void tell_round(struct bench *b)
{
	assert_int_equal(b->stage->sink.round(&b->stage->sink, &b->err), 0);
}

static struct off_cpu_totals tell_end(struct bench *b)
{
	struct off_cpu_totals totals;

	assert_int_equal(b->stage->sink.end(&b->stage->sink, &b->err), 0);
	off_cpu_stage_count(b->off, &totals);
	return totals;
}

static struct record_body body_of(uint32_t type, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
	return (struct record_body){ .type = type,
				     .id = { .id = ID, .pid = PID, .tid = tid, .time_ns = time_ns, .cpu = cpu } };
}

/* The stack names the thread in its user frame. */
static void tell_stack(struct bench *b, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_KERNEL, kernel_ip, (uint64_t)PERF_CONTEXT_USER,
				 0x400000ULL + tid, 0x500000 };
	struct record_body body = body_of(RECORD_SAMPLE, tid, time_ns, cpu);

	body.misc = MISC_KERNEL;
	body.sample = (struct sample){ .id = ID, .ip = kernel_ip, .pid = PID, .tid = tid, .time_ns = time_ns,
				       .cpu = cpu, .period = 1, .ips = ips, .n_ips = ARRAY_SIZE(ips) };
	tell(b, &body);
}

static void tell_switch(struct bench *b, uint32_t tid, uint64_t time_ns, uint32_t cpu, uint16_t misc)
{
	struct record_body body = body_of(cpu % 2 ? RECORD_SWITCH : RECORD_SWITCH_CPU_WIDE, tid, time_ns, cpu);

	body.misc = misc;
	tell(b, &body);
}

static void leave(struct bench *b, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
	tell_stack(b, tid, time_ns - 1, cpu);
	tell_switch(b, tid, time_ns, cpu, MISC_SWITCH_OUT);
}

static void come_back(struct bench *b, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
	tell_switch(b, tid, time_ns, cpu, 0);
}

static void tell_task(struct bench *b, uint32_t type, uint32_t tid, uint64_t time_ns)
{
	struct record_body body = body_of(type, tid, time_ns, 0);

	body.task = (struct record_task){ PID, PID, tid, PID, time_ns };
	tell(b, &body);
}

static void tell_loss(struct bench *b, uint64_t time_ns)
{
	struct record_body body = body_of(RECORD_LOST, 0, time_ns, 0);

	body.lost.id = ID;
	body.lost.lost = 3;
	tell(b, &body);
}

static void tell_exec(struct bench *b, uint32_t tid, uint64_t time_ns)
{
	struct record_body body = body_of(RECORD_COMM, tid, time_ns, 0);

	body.misc = MISC_COMM_EXEC;
	body.comm.pid = PID;
	body.comm.tid = tid;
	body.comm.comm = "next";
	tell(b, &body);
}

/* ---- one wait after the other ---- */

static void a_wait_is_a_sample(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct off_cpu_totals totals;

	(void)state;
	leave(b, 7, 100, 0);
	tell_switch(b, 0, 101, 0, 0); /* the CPU idles */
	tell_stack(b, 0, 349, 1);
	tell_switch(b, 0, 350, 1, MISC_SWITCH_OUT);
	come_back(b, 7, 351, 1);
	tell_stack(b, 7, 400, 1);
	tell_switch(b, 7, 401, 1, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT);
	come_back(b, 7, 402, 1);
	totals = tell_end(b);
	assert_int_equal(b->out.n, 2);
	assert_int_equal(b->out.n_others, 0);
	assert_int_equal(b->out.v[0].tid, 7);
	assert_int_equal(b->out.v[0].cpu, 1);
	assert_int_equal(b->out.v[0].time_ns, 351);
	assert_int_equal(b->out.v[0].period, 251);
	assert_int_equal(b->out.v[0].ip, 0x400007);
	assert_int_equal(b->out.v[0].n_ips, 5);
	assert_int_equal(b->out.v[0].misc, MISC_USER);
	assert_int_equal(b->out.v[1].period, 1);
	assert_int_equal(b->out.v[1].misc, MISC_USER | MISC_SWITCH_OUT_PREEMPT);
	assert_int_equal(totals.waits, 2);
	assert_int_equal(totals.ns, 252);
	assert_int_equal(totals.no_stack + totals.open + totals.begun_before + totals.unpaired + totals.backwards, 0);
	end(b);
}

/* Samples of other events, and what else there is, go through; the switches of another event do, too. */
static void others_pass(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct record_body other = body_of(RECORD_SWITCH, 7, 90, 0);

	(void)state;
	other.id.id = OTHER_ID;
	tell(b, &other);
	tell_task(b, RECORD_FORK, 8, 95);
	leave(b, 7, 100, 0);
	tell_exec(b, 8, 110);
	come_back(b, 7, 120, 0);
	tell_task(b, RECORD_EXIT, 8, 130);
	tell_round(b);
	tell_end(b);
	assert_int_equal(b->out.n, 1);
	assert_int_equal(b->out.n_others, 4);
	assert_int_equal(b->out.rounds, 1);
	end(b);
}

static void tell_clock(struct bench *b, uint32_t tid, uint64_t time_ns, uint64_t period)
{
	struct record_body body = body_of(RECORD_SAMPLE, tid, time_ns, 0);

	body.misc = MISC_USER;
	body.sample = (struct sample){ .id = OTHER_ID, .ip = 0x1000, .pid = PID, .tid = tid, .time_ns = time_ns,
				       .period = period };
	tell(b, &body);
}

/* Thread `by` wakes another one. */
static void wake(struct bench *b, uint32_t by, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
	struct record_body body = body_of(RECORD_SAMPLE, by, time_ns, cpu);
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_KERNEL, kernel_ip + by };
	struct { uint32_t type, tid; } data = { 7, tid };

	body.misc = MISC_KERNEL;
	body.sample = (struct sample){ .id = WAKEUP_ID, .ip = kernel_ip + by, .pid = PID, .tid = by, .time_ns = time_ns,
				       .cpu = cpu, .period = 1, .ips = ips, .n_ips = ARRAY_SIZE(ips),
				       .raw = (const uint8_t *)&data, .raw_size = sizeof(data) };
	tell(b, &body);
}

/* Of each wait that was no preemption the last wakeup; of nothing else one. */
static void wakeups_have_the_wait_that_they_ended(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ .wakeups = WAKEUPS, .woken_at = WOKEN_AT });
	struct off_cpu_totals totals;

	(void)state;
	wake(b, 9, 7, 90, 1); /* before anything is known of it */
	leave(b, 7, 100, 0);
	wake(b, 0, 7, 150, 1); /* while the CPU idles */
	wake(b, 9, 8, 160, 1); /* of nobody who waits */
	come_back(b, 7, 200, 0);
	wake(b, 9, 7, 210, 1); /* of one that runs */
	tell_stack(b, 7, 300, 0);
	tell_switch(b, 7, 300, 0, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT);
	wake(b, 9, 7, 310, 1);
	come_back(b, 7, 320, 0);
	leave(b, 7, 400, 0);
	come_back(b, 7, 430, 0); /* nobody says what woke it */
	leave(b, 7, 500, 0);
	wake(b, 8, 7, 510, 1);
	wake(b, 9, 7, 520, 1);
	come_back(b, 7, 530, 0);
	leave(b, 7, 600, 0);
	wake(b, 9, 7, 610, 1); /* it has not come back */
	totals = tell_end(b);
	assert_int_equal(totals.slept, 3);
	assert_int_equal(totals.woken, 2);
	assert_int_equal(b->out.n, 5);
	assert_int_equal(b->out.n_wakers, 2);
	assert_int_equal(b->out.wakers[0].tid, 0);
	assert_int_equal(b->out.wakers[0].period, 100);
	assert_int_equal(b->out.wakers[0].time_ns, 200);
	assert_int_equal(b->out.wakers[0].n_ips, 2);
	assert_int_equal(b->out.wakers[1].tid, 9);
	assert_int_equal(b->out.wakers[1].ip, kernel_ip + 9);
	assert_int_equal(b->out.wakers[1].period, 30);
	end(b);
}

/* All samples of the thread are those of one event, and their sum is how long it lived. */
static void wall_clock_is_all_the_time(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ .wall = true });
	uint64_t sum = 0;

	(void)state;
	tell_task(b, RECORD_FORK, 8, 1000);
	come_back(b, 8, 1000, 0);
	tell_clock(b, 8, 1050, 50);
	tell_clock(b, 8, 1100, 50);
	leave(b, 8, 1100, 0);
	come_back(b, 8, 1160, 0);
	tell_clock(b, 8, 1210, 50);
	tell_stack(b, 8, 1210, 0);
	tell_switch(b, 8, 1210, 0, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT);
	come_back(b, 8, 1213, 1);
	tell_task(b, RECORD_EXIT, 8, 1213);
	tell_round(b);
	tell_round(b);
	assert_int_equal(tell_end(b).waits, 2);
	assert_int_equal(b->out.n, 5);
	for (size_t i = 0; i < b->out.n; i++)
		sum += b->out.v[i].period;
	assert_int_equal(sum, 1213 - 1000);
	assert_int_equal(b->out.v[0].misc, MISC_USER);
	assert_int_equal(b->out.v[2].misc, MISC_USER | MISC_SWITCH_OUT);
	assert_int_equal(b->out.v[2].period, 60);
	assert_int_equal(b->out.v[4].misc, MISC_USER | MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT);
	assert_string_equal(off_cpu_stage_written(b->off)->v[1]->name, "dummy");
	assert_true(event_is_wall_clock(off_cpu_stage_written(b->off)->v[0]));
	end(b);
}

static void short_waits_are_counted(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ .least_ns = 50 });
	struct off_cpu_totals totals;

	(void)state;
	leave(b, 7, 100, 0);
	come_back(b, 7, 149, 0);
	leave(b, 7, 200, 0);
	come_back(b, 7, 250, 0);
	leave(b, 7, 300, 0);
	off_cpu_stage_count_until(b->off, 320);
	totals = tell_end(b);
	assert_int_equal(b->out.n, 1);
	assert_int_equal(b->out.v[0].period, 50);
	assert_int_equal(totals.short_waits, 2);
	assert_int_equal(totals.short_ns, 49 + 20);
	assert_int_equal(totals.open, 0);
	end(b);
}

static void open_waits_last_until_the_end(void **state)
{
	for (int told = 0; told < 2; told++) {
		struct bench *b = begin((struct off_cpu_stage_options){ 0 });
		struct off_cpu_totals totals;

		(void)state;
		leave(b, 7, 100, 0);
		leave(b, 8, 150, 1);
		tell_task(b, RECORD_FORK, 9, 180);
		if (told)
			off_cpu_stage_count_until(b->off, 1000);
		totals = tell_end(b);
		assert_int_equal(b->out.n, 2);
		assert_int_equal(totals.open, 2);
		assert_int_equal(totals.ns, told ? 900 + 850 : 80 + 30);
		assert_int_equal(b->out.v[0].time_ns, told ? 1000 : 180);
		end(b);
	}
}

/* ---- records that are not there ---- */

static void lost_records_are_counted(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct off_cpu_totals totals;

	(void)state;
	come_back(b, 6, 90, 0); /* it waited before anything was recorded */
	tell_stack(b, 7, 99, 0); /* its return is lost */
	tell_switch(b, 7, 100, 0, MISC_SWITCH_OUT);
	leave(b, 7, 300, 0);
	come_back(b, 7, 310, 0);
	come_back(b, 7, 400, 0); /* its leaving is lost */
	tell_stack(b, 7, 500, 0); /* only its sample is there */
	come_back(b, 7, 600, 0);
	tell_switch(b, 7, 700, 0, MISC_SWITCH_OUT); /* and only its sample is lost */
	come_back(b, 7, 707, 0);
	totals = tell_end(b);
	assert_int_equal(b->out.n, 2);
	assert_int_equal(b->out.v[0].period, 10);
	assert_int_equal(b->out.v[1].period, 7);
	assert_int_equal(b->out.v[1].n_ips, 0);
	assert_int_equal(totals.no_stack, 1);
	assert_int_equal(totals.unpaired, 3);
	assert_int_equal(totals.begun_before, 1);
	assert_int_equal(totals.ns, 17);
	end(b);
}

static void waits_with_losses_in_them_are_counted(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct off_cpu_totals totals;

	(void)state;
	leave(b, 7, 100, 0);
	come_back(b, 7, 110, 0);
	leave(b, 8, 120, 1); /* and is back after the loss */
	tell_loss(b, 130);
	leave(b, 7, 140, 0);
	come_back(b, 7, 147, 0);
	come_back(b, 8, 150, 1);
	leave(b, 7, 200, 0);
	tell_loss(b, 231); /* found room for the next, which has its time already */
	come_back(b, 7, 230, 0);
	leave(b, 7, 300, 0);
	leave(b, 8, 305, 1); /* not over at the end */
	come_back(b, 7, 310, 0);
	tell_loss(b, 320);
	leave(b, 7, 330, 0);
	come_back(b, 7, 350, 0);
	totals = tell_end(b);
	assert_int_equal(totals.waits, 7);
	assert_int_equal(totals.ns, 10 + 7 + 30 + 30 + 10 + 20 + 45);
	assert_int_equal(totals.over_losses, 3);
	assert_int_equal(totals.over_losses_ns, 30 + 30 + 45);
	end(b);
}

static void threads_end_and_begin(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct off_cpu_totals totals;

	(void)state;
	tell_task(b, RECORD_FORK, 7, 10);
	come_back(b, 7, 20, 0); /* for the first time: no wait */
	leave(b, 7, 30, 0);
	come_back(b, 7, 40, 0);
	tell_task(b, RECORD_EXIT, 7, 50);
	leave(b, 7, 55, 0); /* preempted on its way out */
	come_back(b, 7, 60, 0);
	leave(b, 7, 70, 0); /* for ever */
	tell_switch(b, UINT32_MAX, 71, 0, MISC_SWITCH_OUT); /* its number has been given back */
	tell_task(b, RECORD_FORK, 7, 80); /* another one */
	come_back(b, 7, 90, 0);
	leave(b, 7, 100, 0);
	come_back(b, 7, 103, 0);
	leave(b, 7, 110, 0);
	tell_task(b, RECORD_EXIT, 7, 120); /* while it waits: its return is lost */
	tell_exec(b, 7, 130); /* another thread of its process has taken its number */
	leave(b, 7, 140, 0);
	come_back(b, 7, 145, 0);
	totals = tell_end(b);
	assert_int_equal(totals.waits, 3);
	assert_int_equal(totals.ns, 10 + 3 + 5);
	assert_int_equal(totals.open, 0);
	assert_int_equal(totals.begun_before, 0);
	assert_int_equal(totals.unpaired, 1);
	end(b);
}

static void interrupted_waits_have_no_length(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct off_cpu_totals totals;

	(void)state;
	leave(b, 7, 100, 0);
	assert_int_equal(stage_hand_on(b->stage, true, &b->err), 0);
	tell_round(b);
	tell_round(b);
	off_cpu_stage_interrupted(b->off);
	come_back(b, 7, 900, 0);
	leave(b, 7, 910, 0);
	come_back(b, 7, 911, 0);
	totals = tell_end(b);
	assert_int_equal(totals.begun_before, 1);
	assert_int_equal(totals.ns, 1);
	end(b);
}

/*
 * Thread 7 comes back and leaves where the events don't run yet, or no longer: what is seen of it looks like one long
 * wait, or like a return of a thread that runs.
 */
static void only_what_all_cpus_saw_counts(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct off_cpu_totals totals;

	(void)state;
	off_cpu_stage_count_from(b->off, UINT64_MAX);
	leave(b, 7, 100, 0);
	leave(b, 7, 140, 0);
	come_back(b, 8, 150, 1);
	off_cpu_stage_count_from(b->off, 200);
	come_back(b, 7, 190, 0);
	come_back(b, 8, 190, 1);
	come_back(b, 8, 250, 1);
	leave(b, 7, 260, 0);
	come_back(b, 7, 261, 0);
	leave(b, 7, 300, 0);
	leave(b, 8, 300, 1);
	leave(b, 9, 310, 1);
	off_cpu_stage_count_until(b->off, 400);
	off_cpu_stage_count_until(b->off, 500);
	come_back(b, 8, 450, 0);
	leave(b, 8, 460, 0);
	come_back(b, 9, 470, 0);
	tell_exec(b, 9, 475);
	tell_task(b, RECORD_EXIT, 9, 480);
	leave(b, 9, 490, 0);
	tell_round(b);
	tell_round(b);
	totals = tell_end(b);
	assert_int_equal(totals.begun_before, 1);
	assert_int_equal(totals.unpaired + totals.backwards + totals.no_stack, 0);
	assert_int_equal(totals.waits, 4);
	assert_int_equal(totals.open, 3);
	assert_int_equal(totals.ns, 1 + 100 + 100 + 90);
	assert_int_equal(b->out.n, 4);
	end(b);
}

static void broken_records_are_lost(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct record_body body = body_of(RECORD_SAMPLE, 7, 100, 0);
	struct perf_event_header header;
	struct str bytes = STR_INIT;

	(void)state;
	body.sample.id = ID;
	assert_int_equal(record_encode(&body, b->recorded.v[1], &bytes, &b->err), 0);
	memcpy(&header, bytes.s, sizeof(header));
	header.size = 40;
	memcpy(bytes.s, &header, sizeof(header));
	assert_int_equal(b->stage->sink.take(&b->stage->sink, bytes.s, header.size, &b->err), 0);
	tell_end(b);
	assert_int_equal(b->out.n + b->out.n_others, 0);
	assert_int_equal(b->stage->lost, 1);
	str_release(&bytes);
	end(b);
}

/* ---- many threads on some CPUs, whose rings are emptied one after the other ---- */

enum { THREADS = 40, STEPS = 6000 };

struct step {
	uint64_t time_ns;
	uint32_t tid;
	bool out, preempted;
};

struct machine {
	struct dice dice;
	struct step rings[CPUS][STEPS * 2];
	size_t n[CPUS], told[CPUS];
	uint32_t on_cpu[CPUS]; /* 0: idle */
	uint64_t out_ns[THREADS + 1], wait_ns, n_waits;
	bool runs[THREADS + 1];
	uint64_t now_ns;
};

static void add_step(struct machine *m, unsigned cpu, uint32_t tid, bool out)
{
	m->rings[cpu][m->n[cpu]++] = (struct step){ m->now_ns, tid, out, out && roll(&m->dice, 4) == 0 };
}

static void step(struct machine *m)
{
	unsigned cpu = (unsigned)roll(&m->dice, CPUS);
	uint32_t tid = m->on_cpu[cpu], next = 1 + (uint32_t)roll(&m->dice, THREADS);

	m->now_ns += 2 + roll(&m->dice, 1000);
	if (tid) {
		add_step(m, cpu, tid, true);
		m->out_ns[tid] = m->now_ns;
		m->runs[tid] = false;
		m->on_cpu[cpu] = 0;
		return;
	}
	if (m->runs[next])
		return;
	add_step(m, cpu, next, false);
	if (m->out_ns[next]) {
		m->wait_ns += m->now_ns - m->out_ns[next];
		m->n_waits++;
	}
	m->runs[next] = true;
	m->on_cpu[cpu] = next;
}

/* Empties a ring up to now; some of it may have come since another one was emptied. */
static void empty_ring(struct bench *b, struct machine *m, unsigned cpu)
{
	for (; m->told[cpu] < m->n[cpu]; m->told[cpu]++) {
		const struct step *s = &m->rings[cpu][m->told[cpu]];

		if (s->out)
			tell_stack(b, s->tid, s->time_ns - 1, cpu);
		tell_switch(b, s->tid, s->time_ns, cpu,
			    (uint16_t)((s->out ? MISC_SWITCH_OUT : 0) |
				       (s->preempted ? MISC_SWITCH_OUT_PREEMPT : 0)));
	}
}

static void run_machine(uint64_t seed, size_t held_bytes)
{
	struct bench *b = begin((struct off_cpu_stage_options){ .held_bytes = held_bytes });
	struct machine *m = xcalloc(1, sizeof(*m));
	uint64_t out_ns[THREADS + 1], open_ns = 0, n_open = 0;
	struct off_cpu_totals totals;

	m->dice.seed = seed;
	m->now_ns = 1000;
	for (unsigned i = 0; i < STEPS; i++) {
		step(m);
		if (roll(&m->dice, 40))
			continue;
		for (unsigned cpu = 0; cpu < CPUS; cpu++) {
			empty_ring(b, m, (cpu + i) % CPUS);
			step(m);
		}
		tell_round(b);
	}
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		empty_ring(b, m, cpu);
	for (uint32_t tid = 1; tid <= THREADS; tid++) {
		out_ns[tid] = m->runs[tid] ? 0 : m->out_ns[tid];
		open_ns += out_ns[tid] ? m->now_ns + 5 - out_ns[tid] : 0;
		n_open += out_ns[tid] != 0;
	}
	off_cpu_stage_count_until(b->off, m->now_ns + 5);
	totals = tell_end(b);
	assert_int_equal(totals.unpaired + totals.backwards + totals.no_stack, 0);
	assert_int_equal(totals.open, n_open);
	assert_int_equal(totals.waits, m->n_waits + n_open);
	assert_int_equal(totals.ns, m->wait_ns + open_ns);
	assert_int_equal(b->out.n, totals.waits);
	for (size_t i = 0; i < b->out.n; i++)
		assert_int_equal(b->out.v[i].ip, 0x400000 + b->out.v[i].tid);
	assert_true(totals.waits > STEPS / 3);
	free(m);
	end(b);
}

static void rings_in_any_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++)
		run_machine(seed, 0);
}

/* Memory is that of the threads, not of what has ended. */
static void ended_threads_are_forgotten(void **state)
{
	struct bench *b = begin((struct off_cpu_stage_options){ 0 });
	struct off_cpu_totals totals;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		uint64_t t = 1000 + 100ULL * i;

		tell_task(b, RECORD_FORK, 100 + i, t);
		come_back(b, 100 + i, t + 1, 0);
		leave(b, 100 + i, t + 10, 0);
		come_back(b, 100 + i, t + 20, 0);
		tell_task(b, RECORD_EXIT, 100 + i, t + 30);
		leave(b, 100 + i, t + 40, 0);
		if (i % 10 == 9)
			tell_round(b);
	}
	assert_true(off_cpu_stage_stacks(b->off) < 100);
	totals = tell_end(b);
	assert_int_equal(totals.waits, 5000);
	assert_int_equal(totals.ns, 50000);
	end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_a_sample),
		cmocka_unit_test(others_pass),
		cmocka_unit_test(wall_clock_is_all_the_time),
		cmocka_unit_test(wakeups_have_the_wait_that_they_ended),
		cmocka_unit_test(short_waits_are_counted),
		cmocka_unit_test(open_waits_last_until_the_end),
		cmocka_unit_test(lost_records_are_counted),
		cmocka_unit_test(waits_with_losses_in_them_are_counted),
		cmocka_unit_test(threads_end_and_begin),
		cmocka_unit_test(interrupted_waits_have_no_length),
		cmocka_unit_test(only_what_all_cpus_saw_counts),
		cmocka_unit_test(broken_records_are_lost),
		cmocka_unit_test(rings_in_any_order),
		cmocka_unit_test(ended_threads_are_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
