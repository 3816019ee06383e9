/* SPDX-License-Identifier: MIT */
/*
 * Reading: single and group layouts, closed cells, short reads, interrupted reads, lost pins.
 * Each fake read gives values that name their event, so that a shifted value is seen.
 */
#include "fake_machine.h"
#include "fake_sys.h"

enum { MAX_EVENTS = 4, MAX_GOT = 32, GROUP_FORMAT = PERF_FORMAT_GROUP | PERF_FORMAT_ID };

static struct event events[MAX_EVENTS];
static struct counter_set set;
static struct kern kern;
static struct {
	size_t index, thread;
	int cpu;
	struct reading reading;
} got[MAX_GOT];
static size_t n_got;

static void take(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	assert_ptr_equal(data, &n_got);
	assert_true(n_got < MAX_GOT);
	got[n_got].index = index;
	got[n_got].cpu = cpu;
	got[n_got].thread = thread;
	got[n_got++].reading = *reading;
}

/* n events, the last n_members of them a group, opened through counters_open with 3 threads. */
static int open_events(size_t n, size_t n_members, int (*answer)(const struct fake_call *call))
{
	static struct target_thread threads[] = { { .tid = 1 }, { .tid = 2 }, { .tid = 3 } };
	struct target target = { .kind = TARGET_TASKS, .threads = threads, .n_threads = 3 };
	struct open_options options = { .start_disabled = true };
	static struct event_list list;
	struct note_list notes = { 0 };
	struct str err = STR_INIT;
	int rc;

	fake_reset();
	n_got = 0;
	fake.answer = answer;
	kern = (struct kern){ &fake_ops, { "/none", "/none", "/none", NULL } };
	list = (struct event_list){ .v = events, .n = n };
	for (size_t i = 0; i < n; i++) {
		events[i] = make_event("x", PERF_TYPE_SOFTWARE, i);
		events[i].leader = i;
		if (i >= n - n_members)
			events[i].leader = n - n_members;
	}
	if (n_members)
		events[n - n_members].n_members = n_members;
	rc = counters_open(&set, &list, &target, &options, &kern, &notes, &err);
	note_list_release(&notes);
	str_release(&err);
	return rc;
}

static void close_events(void)
{
	size_t n = set.n;

	counters_close(&set);
	for (size_t i = 0; i < n; i++)
		free(events[i].name);
	assert_int_equal(fake.n_open, 0);
}

/* The value of an event in a cell: 100 x config + pid. */
static uint64_t value_of(const struct fake_call *call)
{
	return 100 * call->attr.config + (uint64_t)call->pid;
}

/* As the kernel does it: a leader with PERF_FORMAT_GROUP gives itself and its open members. */
static ssize_t kernel_read(int fd, uint64_t *words, size_t bytes)
{
	size_t n = 0, at = 3;

	if (!(fake_call_of(fd)->attr.read_format & PERF_FORMAT_GROUP)) {
		assert_int_equal(bytes, 24);
		words[0] = value_of(fake_call_of(fd));
		words[1] = 1000;
		words[2] = 500;
		return 24;
	}
	assert_int_equal(fake_call_of(fd)->attr.read_format & GROUP_FORMAT, GROUP_FORMAT);
	for (int i = fd - FAKE_FD; i < (int)fake.n; i++) {
		if (!fake.open[i] || (FAKE_FD + i != fd && fake.calls[i].group_fd != fd))
			continue;
		assert_true((at + 2) * 8 <= bytes);
		words[at++] = value_of(&fake.calls[i]);
		words[at++] = 7; /* id */
		n++;
	}
	words[0] = n;
	words[1] = 1000;
	words[2] = 500;
	return (ssize_t)(at * 8);
}

static void assert_values(size_t n)
{
	assert_int_equal(n_got, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(got[i].reading.state, READING_OK);
		assert_int_equal(got[i].reading.value, 100 * got[i].index + got[i].thread + 1);
		assert_int_equal(got[i].reading.enabled_ns, 1000);
		assert_int_equal(got[i].reading.running_ns, 500);
		assert_int_equal(got[i].cpu, -1);
	}
}

static void single_events(void **state)
{
	(void)state;
	assert_int_equal(open_events(2, 0, NULL), 0);
	fake.read = kernel_read;
	counters_read(&set, take, &n_got);
	assert_values(6);
	/* Thread by thread. */
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(got[i].index, i % 2);
		assert_int_equal(got[i].thread, i / 2);
	}
	close_events();
}

static void group_in_one_read(void **state)
{
	(void)state;
	assert_int_equal(open_events(4, 3, NULL), 0);
	fake.read = kernel_read;
	counters_read(&set, take, &n_got);
	assert_values(12);
	/* A cell's leader and members come together; a lone event and a group are a thread's. */
	for (size_t i = 0; i < 12; i++) {
		assert_int_equal(got[i].index, i % 4);
		assert_int_equal(got[i].thread, i / 4);
	}
	close_events();
}

static int second_event_missing(const struct fake_call *call)
{
	return call->attr.config == 1 ? -ENOENT : 0;
}

static void missing_member_shifts_nothing(void **state)
{
	(void)state;
	assert_int_equal(open_events(4, 4, second_event_missing), 0);
	fake.read = kernel_read;
	counters_read(&set, take, &n_got);
	assert_values(9);
	close_events();
}

/* Thread 2 ends between the opening of events 0 and 1, thread 3 before all. */
static int threads_end(const struct fake_call *call)
{
	return call->pid == 3 || (call->pid == 2 && call->attr.config == 1) ? -ESRCH : 0;
}

/* Members' values are always of the same tasks: what has no member has no leader, either. */
static void closed_cells_shift_nothing(void **state)
{
	(void)state;
	assert_int_equal(open_events(3, 3, threads_end), 0);
	assert_int_equal(fake.n_open, 3);
	fake.read = kernel_read;
	counters_read(&set, take, &n_got);
	assert_int_equal(n_got, 9);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(got[i].thread, i / 3);
		assert_int_equal(got[i].reading.state, i < 3 ? READING_OK : READING_NOT_OPEN);
		assert_int_equal(got[i].reading.value, i < 3 ? 100 * i + 1 : 0);
	}
	close_events();
}

/* A CPU went offline: the kernel took its groups apart, and each event reads as a group of itself. */
static ssize_t each_for_itself(int fd, uint64_t *words, size_t bytes)
{
	assert_true(bytes >= 40);
	words[0] = 1;
	words[1] = 1000;
	words[2] = 500;
	words[3] = value_of(fake_call_of(fd));
	words[4] = 7; /* id */
	return 40;
}

static void group_that_fell_apart(void **state)
{
	(void)state;
	assert_int_equal(open_events(3, 3, NULL), 0);
	fake.read = each_for_itself;
	counters_read(&set, take, &n_got);
	assert_values(9);
	close_events();
}

/* On each CPU time passes from read to read, but not on `standing_cpu`; -1: on all. */
static int standing_cpu;

static ssize_t time_passes(int fd, uint64_t *words, size_t bytes)
{
	static uint64_t now = 1000;

	(void)bytes;
	words[0] = 5;
	words[1] = words[2] = fake_call_of(fd)->cpu == standing_cpu ? 700 : now++;
	return 24;
}

static ssize_t all_stand(int fd, uint64_t *words, size_t bytes)
{
	(void)fd, (void)bytes;
	words[0] = words[1] = words[2] = 700;
	return 24;
}

static void stopped_are(const char *expected)
{
	struct intset cpus = INTSET_INIT;
	struct str text = STR_INIT;

	counters_stopped_cpus(&set, &cpus);
	intset_format(&cpus, &text);
	assert_string_equal(text.len ? text.s : "", expected);
	str_release(&text);
	intset_release(&cpus);
}

static void cpus_that_went_offline(void **state)
{
	static struct target_thread all = { .tid = -1 };
	struct target target = { .kind = TARGET_CPUS, .threads = &all, .n_threads = 1 };
	struct event_list list = { .v = events, .n = 1 };
	struct open_options options = { .start_disabled = true };
	struct note_list notes = { 0 };
	struct fake_machine machine;
	struct str err = STR_INIT;

	(void)state;
	fake_reset();
	kern = (struct kern){ &fake_ops, { "/none", "/none", "/none", NULL } };
	events[0] = make_event("x", PERF_TYPE_SOFTWARE, 0);
	assert_int_equal(intset_parse(&target.cpus, "0-3", 7, &err), 0);
	assert_int_equal(counters_open(&set, &list, &target, &options, &kern, &notes, &err), 0);
	fake.read = time_passes;
	standing_cpu = -1;
	stopped_are("");
	standing_cpu = 2;
	stopped_are("2");
	/* An event of a PMU with CPUs of its own is moved by the kernel: it tells nothing. */
	events[0].cpus = target.cpus;
	stopped_are("");
	fake_machine_init(&machine);
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-1\n");
	kern.host = machine.host;
	stopped_are("");
	events[0].pmu_is_core = true;
	stopped_are("2-3");
	events[0].cpus = (struct intset){ .n = 0 };
	stopped_are("2-3");
	kern.host = (struct host_paths){ "/none", "/none", "/none", NULL };
	fake_machine_release(&machine);
	/* Disabled is not offline. */
	fake.read = all_stand;
	stopped_are("");
	close_events();
	intset_release(&target.cpus);
	note_list_release(&notes);
	str_release(&err);
}

static ssize_t end_of_file(int fd, uint64_t *words, size_t bytes)
{
	(void)fd;
	(void)words;
	(void)bytes;
	return 0;
}

static ssize_t short_read(int fd, uint64_t *words, size_t bytes)
{
	return kernel_read(fd, words, bytes) - 8;
}

static ssize_t no_child(int fd, uint64_t *words, size_t bytes)
{
	(void)fd;
	(void)words;
	(void)bytes;
	return -ECHILD;
}

static ssize_t wrong_count(int fd, uint64_t *words, size_t bytes)
{
	ssize_t n = kernel_read(fd, words, bytes);

	words[0]++;
	return n;
}

static void failures_reach_every_member(void **state)
{
	static const struct {
		ssize_t (*read)(int fd, uint64_t *words, size_t bytes);
		enum reading_state state;
		int err;
		bool group_only;
	} cases[] = {
		{ end_of_file, READING_LOST_PIN, 0, false },
		{ short_read, READING_FAILED, EIO, false },
		{ no_child, READING_FAILED, ECHILD, false },
		{ wrong_count, READING_FAILED, EIO, true },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		assert_int_equal(open_events(3, 2, NULL), 0);
		fake.read = cases[k].read;
		counters_read(&set, take, &n_got);
		assert_int_equal(n_got, 9);
		for (size_t i = 0; i < 9; i++) {
			if (cases[k].group_only && !got[i].index)
				continue;
			assert_int_equal(got[i].reading.state, cases[k].state);
			assert_int_equal(got[i].reading.err, cases[k].err);
			assert_int_equal(got[i].reading.value, 0);
		}
		close_events();
	}
}

static unsigned interruptions;

static ssize_t interrupted(int fd, uint64_t *words, size_t bytes)
{
	return interruptions++ % 3 < 2 ? -EINTR : kernel_read(fd, words, bytes);
}

static void interrupted_reads_go_on(void **state)
{
	(void)state;
	assert_int_equal(open_events(3, 2, NULL), 0);
	fake.read = interrupted;
	counters_read(&set, take, &n_got);
	assert_values(9);
	close_events();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_events),
		cmocka_unit_test(group_in_one_read),
		cmocka_unit_test(missing_member_shifts_nothing),
		cmocka_unit_test(closed_cells_shift_nothing),
		cmocka_unit_test(group_that_fell_apart),
		cmocka_unit_test(cpus_that_went_offline),
		cmocka_unit_test(failures_reach_every_member),
		cmocka_unit_test(interrupted_reads_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
