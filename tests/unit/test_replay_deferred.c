/* SPDX-License-Identifier: MIT */
/*
 * Samples whose user frames come in a later record: they get them, by thread and cookie, and those that wait in
 * vain are delivered without.
 */
#include "replay_fixture.h"

static const struct replay_options plain = { .queue_bytes = 0 };
static const uint64_t kernel_ip = 0xffffffff81000010;

/* A sample in the kernel whose chain ends in the mark and this cookie. */
static void waiting(struct made_recording *s, uint64_t time_ns, int tid, uint64_t cookie)
{
	const uint64_t ips[] = { (uint64_t)-128, kernel_ip, (uint64_t)-640, cookie };

	recording_chain(s, time_ns, PID, tid, MISC_KERNEL, ips, ARRAY_SIZE(ips));
}

static void arrives(struct made_recording *s, uint64_t time_ns, int tid, uint64_t cookie, bool mark, uint64_t ip)
{
	const uint64_t ips[] = { (uint64_t)-512, ip };
	struct record_body body = recording_body(RECORD_CALLCHAIN_DEFERRED, PID, tid, time_ns);

	body.deferred.cookie = cookie;
	body.deferred.ips = (struct record_words){ mark ? 2 : 1, mark ? ips : ips + 1 };
	recording_add(s, &body);
}

static void expect(struct made_recording *s, const char *log, unsigned missing)
{
	recording_run(s, plain);
	assert_int_equal(s->rc, 0);
	assert_string_equal(s->log.s, log);
	assert_int_equal(s->replay.counts.deferred_missing, missing);
	recording_release(s);
}

#define KERNEL_FRAME "ffffffff81000010k=?"

static void test_joined(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 1, PID, 0x10000, 0x1000, 0, "/bin/a");
	waiting(&s, 2, PID, 5);
	waiting(&s, 3, 43, 5); /* another thread's cookie */
	waiting(&s, 4, PID, 5);
	recording_sample(&s, 5, PID, PID, 0x10004);
	arrives(&s, 6, PID, 5, true, 0x10008);
	arrives(&s, 7, 43, 5, false, 0x10009);
	arrives(&s, 8, PID, 5, true, 0x10010); /* for nobody */
	expect(&s,
	       ":42/42 5: 10004=a+4\n"
	       ":42/42 2: " KERNEL_FRAME " 10008=a+8\n:42/42 4: " KERNEL_FRAME " 10008=a+8\n"
	       ":43/43 3: " KERNEL_FRAME " 10009=a+9\n",
	       0);
}

/* A thread is in the kernel once at a time: what had another cookie before has lost its record. */
static void test_lost(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	waiting(&s, 2, PID, 5);
	waiting(&s, 3, PID, 6);
	arrives(&s, 4, PID, 6, true, 0x10008);
	waiting(&s, 5, PID, 7);
	arrives(&s, 6, PID, 99, true, 0x10008);
	waiting(&s, 7, 43, 8);
	recording_exit(&s, 8, PID, 43);
	waiting(&s, 9, 43, 9); /* it has exited: nothing will come */
	expect(&s,
	       ":42/42 2: " KERNEL_FRAME " missing\n:42/42 3: " KERNEL_FRAME " 10008=?\n"
	       ":43/43 7: " KERNEL_FRAME " missing\n:43/43 9: " KERNEL_FRAME " missing\n"
	       ":42/42 5: " KERNEL_FRAME " missing\n",
	       4);
}

/* The sample's own name, and the thread's later one afterwards. */
static void test_name_of_then(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_comm(&s, 1, PID, PID, false, "old");
	waiting(&s, 2, PID, 5);
	recording_comm(&s, 3, PID, PID, true, "new");
	arrives(&s, 4, PID, 5, true, 0x10008);
	recording_sample(&s, 5, PID, PID, 0x10008);
	expect(&s, "old/42 2: " KERNEL_FRAME " 10008=?\nnew/42 5: 10008=?\n", 0);
}

/* A thread that is replaced while its samples wait. */
static void test_replaced_thread(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_comm(&s, 1, PID, 43, false, "first");
	waiting(&s, 2, 43, 5);
	for (int i = 0; i < 3000; i++) {
		recording_fork(&s, 3 + (uint64_t)i, 43, 43, PID, PID);
		recording_exit(&s, 3 + (uint64_t)i, 43, 43);
	}
	expect(&s, "first/43 2: " KERNEL_FRAME " missing\n", 1);
}

static void test_bounded(void **state)
{
	enum { N = 70000 };
	struct made_recording s;

	(void)state;
	recording_init(&s);
	for (unsigned i = 0; i < N; i++)
		waiting(&s, 2 + i, PID, i);
	s.stop_at = 10;
	recording_run(&s, plain);
	assert_int_equal(s.rc, -ECANCELED); /* the oldest went before the end */
	assert_true(s.replay.counts.samples < N);
	assert_memory_equal(s.log.s, ":42/42 2:", 9);
	recording_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined),       cmocka_unit_test(test_lost),
		cmocka_unit_test(test_name_of_then), cmocka_unit_test(test_replaced_thread),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
