/* SPDX-License-Identifier: MIT */
/*
 * Counters that the kernel took away at an exec: enabled times beside CPU times, both of a kernel that is played.
 * What is compared, what is allowed for, and what the readings then say.
 */
#include "open_fixture.h"

#define MS 1000000ull

static struct {
	uint64_t cpu_ns; /* of every process */
	int err;
	uint64_t enabled_ns; /* of every counter */
	int read_err;
} now;

static struct sys_ops ops;
static struct child child;
static struct reading got[4]; /* by thread */

static int played_cpu_time(pid_t pid, uint64_t *ns)
{
	assert_int_equal(pid, 100);
	*ns = now.cpu_ns;
	return now.err;
}

static ssize_t played_read(int fd, uint64_t *words, size_t bytes)
{
	(void)fd;
	if (now.read_err)
		return -now.read_err;
	assert_true(bytes >= 3 * sizeof(*words));
	words[0] = 7;
	words[1] = words[2] = now.enabled_ns;
	return 3 * sizeof(*words);
}

static int begin(void **state)
{
	setup(state);
	memset(&now, 0, sizeof(now));
	memset(got, 0, sizeof(got));
	ops = fake_ops;
	ops.cpu_time = played_cpu_time;
	kern.sys = &ops;
	fake.read = played_read;
	child = (struct child){ .pid = 100, .hold_fd = -1, .exec_fd = -1 };
	add("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	return 0;
}

static void open_on(const struct child *command)
{
	set.notes = &notes;
	assert_int_equal(counters_open(&set, &list, &target, &options, &kern, &notes, &err), 0);
	removal_watch(&set, &target, command, command ? "no-such-command" : NULL);
}

static void take(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	(void)data;
	(void)index;
	(void)cpu;
	got[thread] = *reading;
}

static void attach_to_process(void)
{
	options.enable_on_exec = false;
	target = (struct target){ .kind = TARGET_TASKS, .threads = threads, .n_threads = 1, .by_process = true };
}

/* The command is let go at 0.2 ms, and has ended after so much CPU time. */
static void run_command(uint64_t cpu_us, long switches, long faults)
{
	open_on(&child);
	now.cpu_ns = MS / 5;
	removal_begin_at_exec(&set);
	child.reaped = child.has_usage = true;
	child.usage = (struct rusage){
		.ru_utime = { (time_t)(cpu_us / 1000000), (suseconds_t)(cpu_us % 1000000) },
		.ru_nvcsw = switches, .ru_minflt = faults, .ru_maxrss = 4000,
	};
	counters_read(&set, take, NULL);
}

static void command_beside_its_usage(void **state)
{
	static const struct {
		const char *what;
		uint64_t cpu_us, enabled_us;
		long switches, faults;
		bool missing;
	} rows[] = {
		{ "all was counted", 90200, 90000, 10, 100, false },
		{ "nearly nothing was", 90200, 10, 10, 100, true },
		{ "a third was", 90200, 30000, 10, 100, true },
		{ "a little lacks, one task ended", 90200, 88000, 2, 100, false },
		{ "2 % of a long run lack", 10000200, 9800000, 10, 100, false },
		{ "5 % of a long run lack", 10000200, 9500000, 10, 100, true },
		{ "5 % of a long run lack, and memory came and went", 10000200, 9500000, 10, 400000, false },
		{ "500 children ended", 306000, 273000, 1959, 50000, false },
		{ "it does nothing but fork", 252000, 177000, 4002, 30000, false },
		{ "many ends do not explain all", 100000200, 10, 1000000, 40000000, true },
		{ "counted more: children that nobody waited for", 90200, 500000, 10, 100, false },
		{ "less than a millisecond", 900, 10, 3, 40, false },
		{ "two, and the machine stood still while it ended", 2470, 736, 1, 60, false },
		{ "an end that lasted 9 ms", 10200, 1000, 1, 60, false },
		{ "no end lasts so long", 40200, 1000, 1, 60, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("%s\n", rows[i].what);
		now.enabled_ns = rows[i].enabled_us * 1000;
		run_command(rows[i].cpu_us, rows[i].switches, rows[i].faults);
		assert_int_equal(got[0].missed_ns > 0, rows[i].missing);
		if (rows[i].missing)
			assert_int_equal(got[0].missed_ns,
					 (rows[i].cpu_us - 200 - rows[i].enabled_us) * 1000);
		assert_int_equal(counters_removed_reason(&set) != NULL, rows[i].missing);
		assert_false(got[0].unverified);
		(void)teardown(state);
		begin(state);
	}
}

/* What a command's children ran before counting began is in its usage, and was not to be counted. */
static void after_a_pause_only_its_own_time_counts(void **state)
{
	(void)state;
	options.enable_on_exec = false;
	options.start_disabled = true;
	open_on(&child);
	now.cpu_ns = 50 * MS;
	counters_enable(&set);
	now.cpu_ns = 60 * MS;
	now.enabled_ns = 10 * MS;
	removal_look_at_ended(&set);
	child.reaped = child.has_usage = true;
	child.usage.ru_utime.tv_sec = 5;
	counters_read(&set, take, NULL);
	assert_int_equal(got[0].missed_ns, 0);
	assert_false(got[0].unverified);
}

/* The clock of a task that runs is as of the last tick: what it ran before counting began may be seen after it. */
static void clock_that_lags(void **state)
{
	static const struct {
		uint64_t seen_ms; /* of the CPU time after counting began, by the clock */
		bool missing;
	} rows[] = { { 2, false }, { 20, false }, { 40, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		options.enable_on_exec = false;
		options.start_disabled = true;
		open_on(&child);
		now.cpu_ns = 0;
		counters_enable(&set);
		now.cpu_ns = rows[i].seen_ms * MS;
		now.enabled_ns = MS / 10;
		removal_look_at_ended(&set);
		child.reaped = child.has_usage = true;
		counters_read(&set, take, NULL);
		assert_int_equal(got[0].missed_ns > 0, rows[i].missing);
		(void)teardown(state);
		begin(state);
	}
}

static void paused_time_is_not_missed(void **state)
{
	(void)state;
	attach_to_process();
	open_on(NULL);
	counters_enable(&set);
	now.cpu_ns = now.enabled_ns = 100 * MS;
	counters_disable(&set);
	now.cpu_ns = 900 * MS;
	counters_enable(&set);
	now.cpu_ns = 950 * MS;
	now.enabled_ns = 150 * MS;
	counters_disable(&set);
	counters_read(&set, take, NULL);
	assert_int_equal(got[0].missed_ns, 0);
	now.enabled_ns = 5 * MS; /* as if it had been no more */
	counters_read(&set, take, NULL);
	assert_int_equal(got[0].missed_ns, 145 * MS);
}

/* Much was counted before: it is the standing still that tells, unless the task is on its way out. */
static void enabled_time_that_stands_still(void **state)
{
	static const struct {
		const char *flags; /* of proc/100/stat */
		bool missing;
	} rows[] = { { "4194304", false }, { "4194308", true }, { NULL, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *stat = xasprintf("100 (a) b) R 1 1 1 0 -1 %s 0 0 0 0 5 5\n", rows[i].flags ? rows[i].flags : "");

		attach_to_process();
		if (rows[i].flags)
			put("proc/100/stat", stat);
		free(stat);
		open_on(NULL);
		counters_enable(&set);
		now.cpu_ns = now.enabled_ns = 100 * MS;
		counters_read(&set, take, NULL);
		assert_int_equal(got[0].missed_ns, 0);
		now.cpu_ns = 130 * MS;
		counters_read(&set, take, NULL);
		assert_int_equal(got[0].missed_ns, rows[i].missing ? 0 : 30 * MS);
		(void)teardown(state);
		begin(state);
	}
}

/* Not inherited, or of a thread: the thread's own time, from schedstat or, in ticks, from stat. */
static void thread_without_children(void **state)
{
	static const struct {
		const char *schedstat, *stat;
		bool unverified, missing;
	} rows[] = {
		{ "200000000 1 2\n", NULL, false, true },
		{ "15000000 1 2\n", NULL, false, false },
		{ NULL, "100 (a) b) R 1 1 1 0 -1 4194304 0 0 0 0 10 10 0 0\n", false, true },
		{ NULL, NULL, true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		options.enable_on_exec = options.inherit = false;
		target = (struct target){ .kind = TARGET_TASKS, .threads = threads, .n_threads = 1 };
		put("proc/100/task/100/schedstat", "0 0 0\n");
		open_on(NULL);
		counters_enable(&set);
		put("proc/100/task/100/schedstat", rows[i].schedstat ? rows[i].schedstat : "");
		if (rows[i].stat)
			put("proc/100/task/100/stat", rows[i].stat);
		now.enabled_ns = MS / 10;
		counters_read(&set, take, NULL);
		assert_int_equal(got[0].missed_ns > 0, rows[i].missing);
		assert_int_equal(got[0].unverified, rows[i].unverified);
		(void)teardown(state);
		begin(state);
	}
}

static void process_that_is_gone_is_not_verified(void **state)
{
	(void)state;
	attach_to_process();
	open_on(NULL);
	counters_enable(&set);
	now.err = -ESRCH;
	now.enabled_ns = MS;
	counters_read(&set, take, NULL);
	assert_true(got[0].unverified);
	assert_int_equal(got[0].missed_ns, 0);
}

/* Pinned counters that find no place stop; the dummy that follows maps never does; a torn group cannot be read. */
static void what_is_no_evidence(void **state)
{
	(void)state;
	now.enabled_ns = 10000;
	events[0].attr.pinned = 1;
	run_command(90000, 5, 100);
	assert_int_equal(got[0].missed_ns, 0);
	(void)teardown(state);

	begin(state);
	now.read_err = EIO;
	run_command(90000, 5, 100);
	assert_int_equal(got[0].missed_ns, 0);
	(void)teardown(state);

	begin(state);
	ops.cpu_time = NULL;
	run_command(90000, 5, 100);
	assert_int_equal(got[0].missed_ns, 0);
	assert_null(set.removal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(command_beside_its_usage, begin, teardown),
		cmocka_unit_test_setup_teardown(after_a_pause_only_its_own_time_counts, begin, teardown),
		cmocka_unit_test_setup_teardown(clock_that_lags, begin, teardown),
		cmocka_unit_test_setup_teardown(paused_time_is_not_missed, begin, teardown),
		cmocka_unit_test_setup_teardown(enabled_time_that_stands_still, begin, teardown),
		cmocka_unit_test_setup_teardown(thread_without_children, begin, teardown),
		cmocka_unit_test_setup_teardown(process_that_is_gone_is_not_verified, begin, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_evidence, begin, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
