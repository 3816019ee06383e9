/* SPDX-License-Identifier: MIT */
/*
 * Recordings of a real command that ask for user callchains that come later, on a kernel that takes the two bits, and
 * on one that does not know them: the file says what was opened, and old kernels were asked once.
 */
#include "data_fixture.h"

#include "record/record.h"

#include <errno.h>

static struct {
	bool knows; /* the two bits */
	size_t n_refused;
} kernel;

/* Whatever kernel this is, it does not hear of them: what it would do with them is not looked at. */
static int open_without(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	struct perf_event_attr plain = *attr;

	if (attr_defer(attr) && !kernel.knows) {
		kernel.n_refused++;
		return -EINVAL;
	}
	attr_set_defer(&plain, 0);
	return sys_linux.perf_event_open(&plain, pid, cpu, group_fd, flags);
}

static struct sys_ops sys;
static const struct kern kern = {
	.sys = &sys,
	.host = { .sysfs = "/sys", .procfs = "/proc", .tracefs = "/sys/kernel/tracing" },
};

static void on_opened(void *data, const struct counter_set *set)
{
	(void)data, (void)set;
}

static void on_list_events(void *data, const struct events *events, const char *words)
{
	(void)data, (void)events, (void)words;
}

static void skip_without_sampling(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
	};
	int fd = sys_linux.perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		printf("# skip: page faults cannot be sampled: %s\n", strerror(-fd));
		skip();
	}
	close(fd);
}

/* With a dummy behind the event where it starts late. */
static void record(const char *path, bool starts_late)
{
	char name[] = "/bin/true", *argv[] = { name, NULL };
	struct exec_state found;
	struct event_list events;
	struct run_stop stop = { 0 };
	struct note_list notes = { 0 };
	struct record_totals totals = { 0 };
	struct str err = STR_INIT;
	int status;
	struct record_plan plan = {
		.found = &found,
		.events = &events,
		.sampling = { .inherit = true, .period = 1, .callchain = CALLCHAIN_FP, .defer_chains = true },
		.ring_bytes = 64 << 10,
		.path = path,
		.argv = argv,
		.delay_ms = starts_late ? 1 : 0,
		.control_fd = -1,
		.end_fd = -1,
		.ack_fd = -1,
		.kern = &kern,
		.notes = &notes,
		.stop = &stop,
		.opened = on_opened,
		.list_events = on_list_events,
	};

	sys = sys_linux;
	sys.perf_event_open = open_without;
	kernel.n_refused = 0;
	exec_state_now(&found);
	event_list_init(&events);
	assert_int_equal(event_list_parse(&events, "page-faults:u", &kern.host, &err), 0);
	if (record_run(&plan, &totals, &status, &err))
		fail_msg("%s", err.s);
	assert_int_equal(status, 0);
	for (size_t i = 0; i < notes.n; i++)
		assert_null(strstr(notes.v[i].text, "callchain"));
	record_totals_release(&totals);
	event_list_release(&events);
	note_list_release(&notes);
}

/* The bits of each event of the file. */
static void assert_file_says(const char *path, const unsigned *bits, size_t n)
{
	struct reader reader;
	struct str err = STR_INIT;

	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_int_equal(reader.recording.events->n, n);
	for (size_t i = 0; i < n; i++) {
		const struct data_event *event = reader.recording.events->v[i];
		struct str text = STR_INIT;

		assert_int_equal(attr_defer(&event->attr), bits[i]);
		attr_print(event, NULL, ": ", &text);
		assert_int_equal(strstr(text.s, ", defer_callchain: 1") != NULL, (bits[i] & DEFER_CALLCHAIN) != 0);
		assert_int_equal(strstr(text.s, ", defer_output: 1") != NULL, (bits[i] & DEFER_OUTPUT) != 0);
		str_release(&text);
	}
	reader_close(&reader);
}

static void test_file_says_what_was_opened(void **state)
{
	static const unsigned asked[][2] = { { DEFER_CALLCHAIN | DEFER_OUTPUT }, { DEFER_CALLCHAIN, DEFER_OUTPUT } };
	static const unsigned none[2];
	char path[256];

	(void)state;
	skip_without_sampling();
	fix_path(path, sizeof(path), "later");
	for (int late = 0; late < 2; late++) {
		kernel.knows = true;
		record(path, late);
		assert_file_says(path, asked[late], late ? 2 : 1);
		kernel.knows = false;
		record(path, late);
		assert_file_says(path, none, late ? 2 : 1);
		assert_int_equal(kernel.n_refused, 1);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_says_what_was_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
