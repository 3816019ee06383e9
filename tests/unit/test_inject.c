/* SPDX-License-Identifier: MIT */
/*
 * Recordings written anew: callchains in two parts become one, and nothing is out of order then, whenever the second
 * part came; what is invalid is left out alone.
 */
#include "replay_fixture.h"

#include "inject/inject.h"

static const uint64_t kernel_ip = 0xffffffff81000010;
#define KERNEL_FRAME "ffffffff81000010k=?"

/* A sample in the kernel whose chain ends in the mark and this cookie. */
static void waiting(struct made_recording *s, uint64_t time_ns, uint64_t cookie)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_KERNEL, kernel_ip, (uint64_t)-640, cookie };

	recording_chain(s, time_ns, PID, PID, MISC_KERNEL, ips, ARRAY_SIZE(ips));
}

static void arrives(struct made_recording *s, uint64_t time_ns, uint64_t cookie, uint64_t ip)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_USER, ip };
	struct record_body body = recording_body(RECORD_CALLCHAIN_DEFERRED, PID, PID, time_ns);

	body.deferred.cookie = cookie;
	body.deferred.ips = (struct record_words){ ARRAY_SIZE(ips), ips };
	recording_add(s, &body);
}

/* Writes the recording anew, and reads that into `to`. Returns how many records were left out. */
static uint64_t rewrite(struct made_recording *from, bool pipe, struct made_recording *to)
{
	struct inject_options options = { .output = NULL };
	struct inject_result result;
	struct str bytes, err = STR_INIT;
	struct reader reader;
	uint64_t broken = 0;
	char path[256];

	fix_path(path, sizeof(path), "injected");
	unlink(path);
	options.output = path;
	recording_bytes(from, pipe, &bytes);
	assert_int_equal(reader_open_fd(&reader, fix_memory_file(bytes.s, bytes.len), "recording", &err), 0);
	if (inject_run(&reader, &options, &result, &broken, &err))
		fail_msg("%s", err.s);
	reader_close(&reader);
	note_list_release(&result.notes);
	str_release(&bytes);
	str_release(&err);

	recording_init(to);
	to->log_others = true;
	recording_run_fd(to, open(path, O_RDONLY | O_CLOEXEC), (struct replay_options){ .queue_bytes = 0 });
	assert_int_equal(to->rc, 0);
	unlink(path);
	return broken;
}

static void test_joined(void **state)
{
	struct made_recording s, anew;

	(void)state;
	recording_init(&s);
	recording_map(&s, 1, PID, 0x10000, 0x1000, 0, "/bin/a");
	waiting(&s, 2, 5);
	for (unsigned i = 0; i < 4; i++) {
		recording_sample(&s, 3 + i, PID, PID, 0x10004);
		recording_plain(&s, RECORD_FINISHED_ROUND);
	}
	arrives(&s, 8, 5, 0x10008);
	waiting(&s, 9, 6); /* its frames never come */
	for (unsigned pipe = 0; pipe < 2; pipe++) {
		assert_int_equal(rewrite(&s, pipe, &anew), 0);
		assert_string_equal(anew.log.s, ":42/42 2: " KERNEL_FRAME " 10008=a+8\n"
						":42/42 3: 10004=a+4\n:42/42 4: 10004=a+4\n"
						":42/42 5: 10004=a+4\n:42/42 6: 10004=a+4\n"
						":42/42 9: " KERNEL_FRAME " missing\n");
		assert_int_equal(anew.replay.counts.out_of_order, 0);
		assert_null(strstr(anew.others.s, "CALLCHAIN_DEFERRED"));
		recording_release(&anew);
	}
	str_release(&s.records);
	str_release(&s.log);
	str_release(&s.others);
	str_release(&s.err);
	events_release(&s.events);
	info_release(&s.info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
