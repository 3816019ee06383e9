/* SPDX-License-Identifier: MIT */
/*
 * report --tasks and --mmaps: the layout, the tree, and that no file can make them loop.
 */
#include "replay_fixture.h"

static const struct replay_options all = { .keep_exited = true };

static void test_tasks_and_maps(void **state)
{
	struct str out = STR_INIT;
	struct record_body map;
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_fork(&s, 1, PID, PID, 40, 40);
	recording_comm(&s, 2, PID, PID, true, "sh\x1b");
	recording_map(&s, 3, PID, 0x55a3baf24000, 0x13000, 0x4000, "/usr/bin/dash");
	recording_fork(&s, 4, OTHER_PID, OTHER_PID, PID, PID);
	recording_fork(&s, 5, PID, 43, PID, PID);
	map = recording_map_body(6, OTHER_PID, 0x7f0000000000, 0x1000, 0x123456789, "[vdso]");
	map.mmap.inode = 0;
	map.mmap.prot = 7;
	map.mmap.flags = 1;
	recording_add(&s, &map);
	recording_fork(&s, 7, 90, 90, OTHER_PID, OTHER_PID);
	recording_exit(&s, 8, 90, 90);
	recording_run(&s, all);
	replay_print_tasks(&s.replay, &out);
	assert_string_equal(out.s, "#      pid      tid     ppid  comm\n"
				   "         0        0       -1 |swapper\n"
				   "        40       40       -1 |:40\n"
				   "        42       42       40 | sh\\x1b\n"
				   "        77       77       42 |  sh\\x1b\n"
				   "        90       90       77 |   sh\\x1b\n"
				   "        42       43       42 |  sh\\x1b\n");
	str_reset(&out);
	replay_print_mmaps(&s.replay, &out);
	assert_has(out.s,
		   "        77       77       42 |  sh\\x1b\n"
		   "                                  55a3baf24000-55a3baf37000 r-xp 00004000 7 "
		   "/usr/bin/dash\n"
		   "                                  7f0000000000-7f0000001000 rwxs 00000000 0 "
		   "[vdso]\n"
		   "        90       90       77 |   sh\\x1b\n");
	str_release(&out);
	recording_release(&s);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		n++;
	return n;
}

static void test_hostile_parents(void **state)
{
	struct str out = STR_INIT;
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_fork(&s, 1, 5, 5, 5, 5);
	recording_fork(&s, 2, 6, 6, 7, 7);
	recording_fork(&s, 3, 7, 7, 6, 6);
	recording_fork(&s, 4, 6, 6, 7, 7);
	for (int i = 0; i < 3000; i++) /* deeper than any line may be wide */
		recording_fork(&s, 5 + (uint64_t)i, 1001 + i, 1001 + i, 1000 + i, 1000 + i);
	recording_run(&s, all);
	replay_print_tasks(&s.replay, &out);
	/* Each thread once. */
	assert_int_equal(count_lines(out.s), s.replay.n_threads + 1);
	assert_true(out.len < 3100 * 150);
	str_release(&out);
	recording_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks_and_maps),
		cmocka_unit_test(test_hostile_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
