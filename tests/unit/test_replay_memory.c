/* SPDX-License-Identifier: MIT */
/*
 * Records that wait for their turn are looked at twice: when they are read, and when they are delivered. Of a file that
 * is larger than what it takes to read it, no more than a few MiB are in memory at either time.
 */
#include "replay_fixture.h"

enum { SAMPLES = 640, STACK_BYTES = 60000, RESIDENT_MAX = 20 << 20 };

struct seen {
	uint64_t most; /* bytes of files in memory */
	uint64_t sum, last_ns;
	unsigned n, disorder;
};

/* Those that this process has mapped. */
static uint64_t resident_file_bytes(void)
{
	struct str text = STR_INIT;
	unsigned long long all, resident, shared;

	assert_int_equal(read_text_file("/proc/self/statm", &text), 0);
	assert_int_equal(sscanf(text.s, "%llu %llu %llu", &all, &resident, &shared), 3);
	str_release(&text);
	return shared * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int see(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct seen *seen = context;
	uint64_t bytes;

	(void)replay, (void)err;
	for (uint64_t i = 0; i < sample->sample->stack_dyn_size; i += 64)
		seen->sum += sample->sample->stack[i];
	seen->disorder += sample->sample->time_ns < seen->last_ns;
	seen->last_ns = sample->sample->time_ns;
	seen->n++;
	bytes = resident_file_bytes();
	if (bytes > seen->most)
		seen->most = bytes;
	return 0;
}

/* Each pair of samples in the wrong order, without an end of a round among them: all wait until the last was read. */
static void make(struct made_recording *recording, const char *path)
{
	const struct writer_options options = { .path = path };
	static uint8_t stack[STACK_BYTES];
	struct writer writer;

	memset(stack, 1, sizeof(stack));
	assert_int_equal(writer_open(&writer, &options, &recording->events, &recording->info, &recording->err), 0);
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct record_body body = fix_sample(101, 1000 + (i ^ 1));

		body.sample.stack = stack;
		body.sample.stack_size = body.sample.stack_dyn_size = STACK_BYTES;
		assert_int_equal(writer_add_body(&writer, &body, recording->events.v[0], &recording->err), 0);
	}
	assert_int_equal(writer_finish(&writer, &recording->events, &recording->info, &recording->err), 0);
	writer_close(&writer);
}

static void what_waited_goes_again(void **state)
{
	const uint64_t id = 101;
	struct made_recording recording;
	struct perf_event_attr attr;
	struct seen seen = { 0 };
	struct replay_handlers handlers = { .context = &seen, .sample = see };
	struct replay_options options = { .file_order = false };
	uint64_t before;
	char path[256];

	(void)state;
	recording_init(&recording);
	attr = recording.events.v[0]->attr;
	attr.sample_type |= PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = STACK_BYTES;
	events_release(&recording.events);
	events_init(&recording.events);
	events_add(&recording.events, &attr, sizeof(attr), &id, 1)->name = xstrdup("e");
	fix_path(path, sizeof(path), "recording");
	make(&recording, path);
	assert_int_equal(reader_open(&recording.reader, path, &recording.err), 0);
	unlink(path);
	before = resident_file_bytes();
	replay_init(&recording.replay, &recording.reader.recording, &options);
	assert_int_equal(replay_run(&recording.replay, &recording.reader.source, &handlers, &recording.err), 0);
	assert_int_equal(seen.n, SAMPLES);
	assert_int_equal(seen.disorder, 0);
	assert_int_equal(seen.sum, (uint64_t)SAMPLES * ((STACK_BYTES + 63) / 64));
	/* The file is nearly twice that. */
	assert_true(seen.most < before + RESIDENT_MAX);
	recording_release(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waited_goes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
