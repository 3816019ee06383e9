/* SPDX-License-Identifier: MIT */
/*
 * Stages that replace samples and finish late, by another thread and in any order: what comes out is every record
 * once, in the order in which it came in, samples as they should be, rounds true; and it is so in a file that the
 * writer wrote. The records are of three rings that are visited in turn.
 */
#include "late_stage.h"

#include "record/sink_tee.h"
#include "replay/replay.h"

enum { RINGS = 3, IPS_MAX = 32, STACK_MAX = 512, PID = 42 };

static int say(struct str *err, int code, const char *why)
{
	if (code)
		str_add(err, why);
	return code;
}

/* ---- what is recorded: chains and stack dumps in the ring, chains alone in the file ---- */

static void made_events(struct events *events, uint64_t more_bits)
{
	const uint64_t id = 101;
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .sample_id_all = 1 };

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | more_bits;
	attr.sample_stack_user = more_bits ? STACK_MAX : 0;
	events_init(events);
	events_add(events, &attr, sizeof(attr), &id, 1)->name = xstrdup("cpu-clock");
}

/* What a record says of itself: its number is the ip, or the tid of a COMM. */
struct seen {
	uint32_t type;
	uint64_t number, time_ns, n_ips;
};

struct seen_list {
	struct seen *v;
	size_t n, cap;
};

static void see(struct seen_list *list, struct decoder *decoder, const void *bytes)
{
	struct record record;
	struct record_body body;
	struct str err = STR_INIT;

	record_from_bytes(&record, bytes, 0, false);
	if (record_decode(decoder, &record, &body, &err))
		fail_msg("%s", err.s);
	assert_non_null(body.event);
	VEC_GROW(list->v, list->n, list->cap);
	list->v[list->n++] = body.type == RECORD_SAMPLE ?
		(struct seen){ body.type, body.sample.ip, body.sample.time_ns, body.sample.n_ips } :
		(struct seen){ body.type, body.comm.tid, body.id.time_ns, 0 };
}

struct maker {
	struct dice dice;
	struct events events; /* of the rings */
	struct decoder decoder;
	uint64_t clock_ns, number;
	uint64_t ring_ns[RINGS]; /* of what was taken last */
	struct seen_list made;
};

static void maker_init(struct maker *maker, uint64_t seed)
{
	*maker = (struct maker){ .dice = { seed, 0 }, .clock_ns = 1000 };
	made_events(&maker->events, PERF_SAMPLE_STACK_USER);
	decoder_init(&maker->decoder, &maker->events, false);
}

static void maker_release(struct maker *maker)
{
	decoder_release(&maker->decoder);
	events_release(&maker->events);
	free(maker->made.v);
}

static void make_record(struct maker *maker, uint64_t time_ns, struct str *out)
{
	static const uint8_t stack[STACK_MAX];
	uint64_t ips[IPS_MAX];
	struct record_body body = { .type = RECORD_COMM };
	struct str err = STR_INIT;
	size_t start = out->len;

	maker->number++;
	body.id = (struct sample_id){ .id = 101, .pid = PID, .tid = PID, .time_ns = time_ns };
	body.comm.pid = PID;
	body.comm.tid = (uint32_t)maker->number;
	body.comm.comm = "name";
	if (roll(&maker->dice, 4)) {
		body = fix_sample(101, time_ns);
		body.sample.n_ips = 1 + roll(&maker->dice, IPS_MAX);
		for (uint64_t i = 0; i < body.sample.n_ips; i++)
			ips[i] = 0x401000 + i;
		body.sample.ips = ips;
		body.sample.ip = maker->number;
		body.sample.stack = stack;
		body.sample.stack_size = body.sample.stack_dyn_size = STACK_MAX;
	}
	assert_int_equal(record_encode(&body, maker->events.v[0], out, &err), 0);
	see(&maker->made, &maker->decoder, out->s + start);
}

/* A visit of a ring: what it has by now, which is newer than what it had at the last visit. */
static void make_visit(struct maker *maker, unsigned ring, struct str *out)
{
	uint64_t last_ns = maker->ring_ns[ring], n = roll(&maker->dice, 12);

	maker->clock_ns += 1 + roll(&maker->dice, 100);
	maker->ring_ns[ring] = maker->clock_ns;
	for (uint64_t i = 1; i <= n; i++)
		make_record(maker, last_ns + (maker->clock_ns - last_ns) * i / (n + 1) + 1, out);
}

/* ---- what the stages do ---- */

/* Half of its chain, and no stack. Every tenth number is left out by a stage that replaces. */
static uint64_t shrunk_ips(uint64_t n)
{
	return n - n / 2;
}

static bool left_out(uint64_t number)
{
	return number % 10 == 7;
}

static void shrink(const struct events *to, struct decoder *decoder, const void *bytes, struct str *out)
{
	struct record record;
	struct record_body body;
	struct str err = STR_INIT;

	record_from_bytes(&record, bytes, 0, false);
	assert_int_equal(record_decode(decoder, &record, &body, &err), 0);
	if (left_out(body.sample.ip))
		return;
	body.sample.n_ips = shrunk_ips(body.sample.n_ips);
	assert_int_equal(record_encode(&body, to->v[0], out, &err), 0);
}

/* ---- sinks ---- */

/* Looks at all that it is told, and at whether rounds are true. */
struct checker {
	struct record_sink sink;
	struct decoder decoder;
	struct seen_list seen;
	uint64_t newest_ns, round_ns, before_round_ns; /* of all; when the last round ended, and the one before */
	unsigned rounds_left; /* that may end before something else is taken */
	unsigned takes, rounds, flushes, ends;
	const void *last; /* the piece that was taken last */
	size_t last_bytes;
	int code; /* what take returns */
};

static int checker_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct checker *c = (struct checker *)sink;
	const char *bytes = records;

	assert_true(n);
	assert_int_equal((uintptr_t)records % 8, 0);
	for (size_t at = 0, size; at < n; at += size) {
		size = record_whole(bytes + at, n - at);
		assert_true(size);
		see(&c->seen, &c->decoder, bytes + at);
		assert_true(c->seen.v[c->seen.n - 1].time_ns >= c->before_round_ns);
		if (c->seen.v[c->seen.n - 1].time_ns > c->newest_ns)
			c->newest_ns = c->seen.v[c->seen.n - 1].time_ns;
	}
	c->rounds_left = ROUNDS_TOLD;
	c->takes++;
	c->last = records;
	c->last_bytes = n;
	return say(err, c->code, "full");
}

static int checker_round(struct record_sink *sink, struct str *err)
{
	struct checker *c = (struct checker *)sink;

	(void)err;
	assert_true(c->rounds_left);
	c->rounds_left--;
	c->before_round_ns = c->round_ns;
	c->round_ns = c->newest_ns;
	c->rounds++;
	return 0;
}

static int checker_flush(struct record_sink *sink, struct str *err)
{
	(void)err;
	((struct checker *)sink)->flushes++;
	return 0;
}

static int checker_end(struct record_sink *sink, struct str *err)
{
	(void)err;
	((struct checker *)sink)->ends++;
	return 0;
}

static void checker_init(struct checker *c, const struct events *events)
{
	*c = (struct checker){ .sink = { checker_take, checker_round, checker_flush, checker_end } };
	decoder_init(&c->decoder, events, false);
}

static void checker_release(struct checker *c)
{
	decoder_release(&c->decoder);
	free(c->seen.v);
}

struct file {
	struct record_sink sink;
	struct writer writer;
	const struct events *events;
	struct info info;
	char path[256];
};

static int file_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	return writer_add(&((struct file *)sink)->writer, records, n, err);
}

static int file_round(struct record_sink *sink, struct str *err)
{
	return writer_add_round(&((struct file *)sink)->writer, err);
}

static int file_flush(struct record_sink *sink, struct str *err)
{
	return writer_flush(&((struct file *)sink)->writer, err);
}

static int file_end(struct record_sink *sink, struct str *err)
{
	struct file *file = (struct file *)sink;

	return writer_finish(&file->writer, file->events, &file->info, err);
}

static void file_init(struct file *file, const struct events *events)
{
	struct writer_options options = { .path = file->path };
	struct str err = STR_INIT;

	memset(file, 0, sizeof(*file));
	file->sink = (struct record_sink){ file_take, file_round, file_flush, file_end };
	file->events = events;
	fix_info(&file->info);
	fix_path(file->path, sizeof(file->path), "stages");
	if (writer_open(&file->writer, &options, events, &file->info, &err))
		fail_msg("%s", err.s);
}

/* The file, read back: nothing is out of order in replay, nothing is missing. */
static void file_check(struct file *file, uint64_t n_samples, unsigned rounds)
{
	static const struct replay_options options;
	const struct replay_handlers handlers = { .context = NULL };
	struct reader reader;
	struct record record;
	struct replay replay;
	struct str err = STR_INIT;

	writer_close(&file->writer);
	assert_int_equal(reader_open(&reader, file->path, &err), 0);
	while (reader_next(&reader, &record, &err) > 0)
		rounds -= record.type == RECORD_FINISHED_ROUND;
	assert_int_equal(rounds, 0);
	reader_close(&reader);
	assert_int_equal(reader_open(&reader, file->path, &err), 0);
	replay_init(&replay, &reader.recording, &options);
	if (replay_run(&replay, &reader.source, &handlers, &err))
		fail_msg("%s", err.s);
	assert_int_equal(replay.counts.samples, n_samples);
	assert_int_equal(replay.counts.out_of_order, 0);
	assert_int_equal(replay.counts.broken, 0);
	assert_int_equal(replay.counts.unknown_ids, 0);
	assert_string_equal(reader.missing.s, "");
	replay_release(&replay);
	reader_close(&reader);
	unlink(file->path);
	info_release(&file->info);
}

/* ---- a whole chain ---- */

struct chain {
	struct maker maker;
	struct events out;
	struct late late[2];
	struct stage *stages[2];
	struct checker checker;
	struct file file;
	struct sink_tee sinks;
	struct str err;
};

/* Rings -> a stage that takes the dumps away -> another one that only shrinks -> file and checker. */
static void chain_init(struct chain *c, uint64_t seed, size_t held_bytes_max)
{
	memset(c, 0, sizeof(*c));
	str_init(&c->err);
	maker_init(&c->maker, seed);
	made_events(&c->out, 0);
	file_init(&c->file, &c->out);
	checker_init(&c->checker, &c->out);
	sink_tee_init(&c->sinks);
	sink_tee_add(&c->sinks, &c->file.sink);
	sink_tee_add(&c->sinks, &c->checker.sink);
	late_init(&c->late[0], seed + 10, &c->maker.events, &c->out, shrink);
	late_init(&c->late[1], seed + 20, &c->out, &c->out, shrink);
	c->stages[1] = stage_new(&late_ops, &c->late[1], &c->out, &c->sinks.sink, held_bytes_max);
	c->stages[0] = stage_new(&late_ops, &c->late[0], &c->out, &c->stages[1]->sink, held_bytes_max);
}

static void chain_release(struct chain *c)
{
	for (size_t i = 0; i < 2; i++) {
		stage_free(c->stages[i]);
		late_release(&c->late[i]);
	}
	sink_tee_release(&c->sinks);
	checker_release(&c->checker);
	maker_release(&c->maker);
	events_release(&c->out);
	str_release(&c->err);
}

/* Rounds of visits; batches end anywhere between records. */
static void chain_run(struct chain *c, unsigned rounds)
{
	struct record_sink *first = &c->stages[0]->sink;
	struct str batch = STR_INIT;

	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned ring = 0; ring < RINGS; ring++) {
			make_visit(&c->maker, ring, &batch);
			if (batch.len && !roll(&c->maker.dice, 3)) {
				assert_int_equal(first->take(first, batch.s, batch.len, &c->err), 0);
				str_reset(&batch);
			}
		}
		if (batch.len)
			assert_int_equal(first->take(first, batch.s, batch.len, &c->err), 0);
		str_reset(&batch);
		assert_int_equal(first->round(first, &c->err), 0);
		if (!roll(&c->maker.dice, 10))
			assert_int_equal(first->flush(first, &c->err), 0);
	}
	assert_int_equal(first->end(first, &c->err), 0);
	str_release(&batch);
}

/* Every record that was made, but the samples that were left out, once and in order. Returns the samples. */
static uint64_t check_seen(const struct chain *c)
{
	const struct seen_list *made = &c->maker.made, *seen = &c->checker.seen;
	uint64_t samples = 0;
	size_t at = 0;

	for (size_t i = 0; i < made->n; i++) {
		const struct seen *in = &made->v[i], *out = &seen->v[at];
		bool sample = in->type == RECORD_SAMPLE;

		/* The first stage replaces all samples. */
		if (sample && left_out(in->number))
			continue;
		assert_true(at++ < seen->n);
		assert_int_equal(out->type, in->type);
		assert_int_equal(out->number, in->number);
		assert_int_equal(out->time_ns, in->time_ns);
		/* The second one lets some pass. */
		assert_true(out->n_ips == shrunk_ips(shrunk_ips(in->n_ips)) ||
			    (out->n_ips == shrunk_ips(in->n_ips)));
		samples += sample;
	}
	assert_int_equal(at, seen->n);
	return samples;
}

static void late_stages_keep_the_order(void **state)
{
	static const size_t held[] = { 2000, 20000, 1 << 20 };

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		size_t held_max = held[seed % ARRAY_SIZE(held)];
		struct chain c;

		chain_init(&c, 100 * seed, held_max);
		chain_run(&c, 60);
		file_check(&c.file, check_seen(&c), c.checker.rounds);
		assert_true(c.maker.made.n > 500);
		for (size_t i = 0; i < 2; i++) {
			assert_true(c.late[i].n_later > 50);
			assert_true(c.late[i].n_out_of_order > 5);
			assert_int_equal(c.stages[i]->lost, 0);
			/* At most one record more than may wait; it does wait where little may. */
			assert_true(c.stages[i]->held_most <= held_max + 2048);
			assert_true(held_max > 2000 ? c.stages[i]->held_most : c.stages[i]->waits);
			assert_int_equal(c.stages[i]->held_bytes, 0);
		}
		assert_true(c.checker.rounds > 30);
		assert_int_equal(c.checker.ends, 1);
		chain_release(&c);
	}
}

/* ---- a stage that does what it is told ---- */

struct told {
	enum stage_verdict verdicts[64]; /* of samples, by number */
	uint64_t tickets[64];
	uint64_t done; /* the number of the sample that collect gives next; 0: none */
	int take_code, collect_code;
	unsigned asked, rounds;
	bool waited;
};

static uint64_t number_of(const struct perf_event_header *record)
{
	uint64_t ip;

	memcpy(&ip, (const char *)record + 16, sizeof(ip));
	return ip;
}

static int told_take(void *data, const struct perf_event_header *record, uint64_t ticket, struct str *out,
		     struct str *err)
{
	struct told *told = data;
	uint64_t number = number_of(record);

	(void)out;
	told->asked++;
	if (told->take_code)
		return say(err, told->take_code, "no more");
	if (record->type != RECORD_SAMPLE)
		return STAGE_PASS;
	told->tickets[number] = ticket;
	return told->verdicts[number];
}

static int told_collect(void *data, bool wait, uint64_t *ticket, struct str *out, struct str *err)
{
	struct told *told = data;

	(void)out;
	told->waited |= wait;
	if (told->collect_code)
		return say(err, told->collect_code, "worker lost");
	if (!told->done)
		return 0;
	*ticket = told->tickets[told->done];
	told->done = 0;
	return 1;
}

static int told_round(void *data, struct str *err)
{
	(void)err;
	((struct told *)data)->rounds++;
	return 0;
}

static const struct stage_ops told_ops = { .take = told_take, .collect = told_collect, .round = told_round };

struct plain {
	struct events events;
	struct told told;
	struct checker checker;
	struct stage *stage;
	struct record_sink *sink;
	struct str batch, err;
};

static void plain_init(struct plain *p)
{
	memset(p, 0, sizeof(*p));
	str_init(&p->batch);
	str_init(&p->err);
	made_events(&p->events, 0);
	checker_init(&p->checker, &p->events);
	p->stage = stage_new(&told_ops, &p->told, &p->events, &p->checker.sink, 1 << 20);
	p->sink = &p->stage->sink;
}

static void plain_release(struct plain *p)
{
	stage_free(p->stage);
	checker_release(&p->checker);
	events_release(&p->events);
	str_release(&p->batch);
	str_release(&p->err);
}

/* Samples by number; 0: a COMM. */
static int plain_take(struct plain *p, const uint64_t *numbers, size_t n)
{
	str_reset(&p->batch);
	for (size_t i = 0; i < n; i++) {
		struct record_body body = fix_sample(101, 1000);

		body.sample.ip = numbers[i];
		if (!numbers[i]) {
			body = fix_body(0);
			body.comm.tid = 0;
		}
		assert_int_equal(record_encode(&body, p->events.v[0], &p->batch, &p->err), 0);
	}
	str_reset(&p->err);
	return p->sink->take(p->sink, p->batch.s, p->batch.len, &p->err);
}
#define TAKE(p, ...)                                                                                      \
	plain_take(p, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void assert_seen(const struct plain *p, const char *numbers)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < p->checker.seen.n; i++)
		str_addf(&text, "%s%u", i ? " " : "", (unsigned)p->checker.seen.v[i].number);
	assert_string_equal(text.s, numbers);
	str_release(&text);
}

static void what_passes_is_not_copied(void **state)
{
	uint64_t numbers[2001];
	struct plain p;

	(void)state;
	plain_init(&p);
	for (unsigned i = 1; i < 10; i++) {
		assert_int_equal(TAKE(&p, 1, 0, 2, 3), 0);
		assert_int_equal(p.checker.takes, i);
		assert_ptr_equal(p.checker.last, p.batch.s);
		assert_int_equal(p.checker.last_bytes, p.batch.len);
	}
	/* Long runs neither, around a sample that is left out. */
	p.told.verdicts[9] = STAGE_REPLACED;
	p.checker.takes = 0;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		numbers[i] = i == ARRAY_SIZE(numbers) / 2 ? 9 : 1;
	assert_int_equal(plain_take(&p, numbers, ARRAY_SIZE(numbers)), 0);
	assert_int_equal(p.checker.takes, 2);
	assert_ptr_equal((const char *)p.checker.last + p.checker.last_bytes, p.batch.s + p.batch.len);
	plain_release(&p);
}

static void rounds_wait_for_their_samples(void **state)
{
	struct plain p;

	(void)state;
	plain_init(&p);
	p.told.verdicts[2] = p.told.verdicts[3] = p.told.verdicts[5] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 1, 2, 3), 0);
	assert_int_equal(p.sink->round(p.sink, &p.err), 0);
	assert_int_equal(TAKE(&p, 4, 5), 0);
	assert_int_equal(p.sink->round(p.sink, &p.err), 0);
	assert_int_equal(p.told.rounds, 2);
	assert_seen(&p, "1");
	p.told.done = 3;
	assert_int_equal(stage_hand_on(p.stage, false, &p.err), 0);
	assert_seen(&p, "1");
	assert_int_equal(p.checker.rounds, 0);
	/* A flush does not wait. */
	p.told.done = 2;
	assert_int_equal(p.sink->flush(p.sink, &p.err), 0);
	assert_int_equal(p.checker.flushes, 1);
	assert_false(p.told.waited);
	assert_seen(&p, "1 4");
	assert_int_equal(p.checker.rounds, 1);
	/* Both rounds after the last record are told, though it was done after them. */
	assert_int_equal(p.sink->round(p.sink, &p.err), 0);
	p.told.done = 5;
	assert_int_equal(stage_hand_on(p.stage, true, &p.err), 0);
	assert_int_equal(p.checker.rounds, 3);
	assert_int_equal(p.sink->end(p.sink, &p.err), 0);
	assert_int_equal(p.checker.ends, 1);
	plain_release(&p);
}

/* Samples that are left out are no reason to end a round for the sink: it is told two ends after those that it has. */
static void no_round_of_nothing(void **state)
{
	struct plain p;

	(void)state;
	plain_init(&p);
	p.told.verdicts[2] = STAGE_REPLACED;
	p.told.verdicts[3] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 2), 0);
	assert_int_equal(p.sink->round(p.sink, &p.err), 0);
	assert_int_equal(p.checker.rounds, 0);
	assert_int_equal(TAKE(&p, 1), 0);
	assert_int_equal(p.sink->round(p.sink, &p.err), 0);
	assert_int_equal(p.checker.rounds, 1);
	assert_int_equal(TAKE(&p, 2), 0);
	assert_int_equal(p.sink->round(p.sink, &p.err), 0);
	assert_int_equal(p.checker.rounds, 2);
	assert_int_equal(TAKE(&p, 3), 0);
	assert_int_equal(p.sink->round(p.sink, &p.err), 0);
	p.told.done = 3;
	assert_int_equal(p.sink->end(p.sink, &p.err), 0);
	assert_int_equal(p.checker.rounds, 2);
	assert_seen(&p, "1");
	plain_release(&p);
}

static void a_stage_fails(void **state)
{
	struct plain p;

	(void)state;
	/* While it has samples: these are lost, and those that come; all else goes on, and the sink ends. */
	plain_init(&p);
	p.told.verdicts[2] = p.told.verdicts[4] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 1, 2, 3, 0, 4), 0);
	p.told.collect_code = -EIO;
	assert_int_equal(TAKE(&p, 5, 0, 6), -EIO);
	assert_string_equal(p.err.s, "worker lost");
	assert_seen(&p, "1 3 0 0");
	assert_int_equal(p.stage->lost, 4);
	assert_int_equal(p.told.asked, 5);
	assert_int_equal(p.sink->end(p.sink, &p.err), 0);
	assert_int_equal(p.checker.ends, 1);
	plain_release(&p);
	/* In a batch. */
	plain_init(&p);
	p.told.verdicts[1] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 1, 2), 0);
	p.told.take_code = -ENOMEM;
	assert_int_equal(TAKE(&p, 3, 0), -ENOMEM);
	assert_string_equal(p.err.s, "no more");
	assert_seen(&p, "2 0");
	assert_int_equal(p.stage->lost, 2);
	plain_release(&p);
}

static void a_stage_breaks_its_word(void **state)
{
	struct plain p;

	(void)state;
	/* Nothing comes although it was waited for. */
	plain_init(&p);
	p.told.verdicts[1] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 1, 2), 0);
	assert_int_equal(p.sink->end(p.sink, &p.err), -EPROTO);
	assert_has(p.err.s, "does not finish 1 sample");
	assert_seen(&p, "2");
	assert_int_equal(p.checker.ends, 1);
	plain_release(&p);
	/* A sample twice. */
	plain_init(&p);
	p.told.verdicts[1] = p.told.verdicts[2] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 1, 2, 3), 0);
	p.told.done = 2;
	assert_int_equal(stage_hand_on(p.stage, false, &p.err), 0);
	p.told.done = 2;
	assert_int_equal(stage_hand_on(p.stage, false, &p.err), -EPROTO);
	assert_int_equal(p.stage->lost, 1);
	assert_seen(&p, "3");
	plain_release(&p);
	/* A sample that it was not given. */
	plain_init(&p);
	p.told.verdicts[1] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 1, 2), 0);
	p.told.tickets[3] = p.told.tickets[1] + 1;
	p.told.done = 3;
	assert_int_equal(stage_hand_on(p.stage, false, &p.err), -EPROTO);
	assert_int_equal(p.stage->lost, 1);
	assert_seen(&p, "2");
	plain_release(&p);
	/* Bytes that are no record. */
	plain_init(&p);
	assert_int_equal(TAKE(&p, 1, 2), 0);
	assert_int_equal(p.sink->take(p.sink, p.batch.s, p.batch.len - 8, &p.err), -EINVAL);
	assert_seen(&p, "1 2 1");
	plain_release(&p);
}

/* What a sink cannot take is told once; the others go on, and all have their end. */
static void a_sink_fails(void **state)
{
	struct checker bad;
	struct sink_tee all;
	struct plain p;

	(void)state;
	plain_init(&p);
	checker_init(&bad, &p.events);
	bad.code = -ENOSPC;
	sink_tee_init(&all);
	sink_tee_add(&all, &bad.sink);
	sink_tee_add(&all, &p.checker.sink);
	p.stage->next = &all.sink;
	p.told.verdicts[2] = STAGE_LATER;
	assert_int_equal(TAKE(&p, 1, 2, 3), -ENOSPC);
	assert_string_equal(p.err.s, "full");
	assert_seen(&p, "1");
	p.told.done = 2;
	assert_int_equal(p.sink->round(p.sink, &p.err), -ENOSPC);
	assert_seen(&p, "1 3");
	assert_int_equal(p.sink->end(p.sink, &p.err), 0);
	assert_int_equal(bad.ends + p.checker.ends, 2);
	assert_int_equal(bad.rounds + p.checker.rounds, 2);
	sink_tee_release(&all);
	checker_release(&bad);
	plain_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_stages_keep_the_order),
		cmocka_unit_test(what_passes_is_not_copied),
		cmocka_unit_test(rounds_wait_for_their_samples),
		cmocka_unit_test(no_round_of_nothing),
		cmocka_unit_test(a_stage_fails),
		cmocka_unit_test(a_stage_breaks_its_word),
		cmocka_unit_test(a_sink_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
