/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints: names and patterns on a tree of files, each way in which tracefs can be missing,
 * and on the machine itself, where tracefs is mounted: the count of a system call that is made N
 * times.
 */
#include "fake_machine.h"
#include "source_case.h"

#include "event/source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static struct fake_machine machine;

static int make_machine(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	fake_machine_tracepoint(&machine, "sched", "sched_switch", "318\n");
	fake_machine_tracepoint(&machine, "sched", "sched_wakeup", "320\n");
	fake_machine_tracepoint(&machine, "sched", "sched_waking", "321\n");
	fake_machine_tracepoint(&machine, "sched_ext", "sched_ext_dump", "400\n");
	fake_machine_tracepoint(&machine, "syscalls", "sys_enter_openat", "617\n");
	fake_machine_file(&machine, "tracing/events/enable", "0\n");
	fake_machine_file(&machine, "tracing/events/sched/enable", "0\n");
	fake_machine_file(&machine, "tracing/events/ftrace/bputs/format", "name: bputs\n");
	fake_machine_file(&machine, "tracing/events/damaged/one/id", "x\n");
	fake_machine_file(&machine, "tracing/id", "7\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	fake_machine_release(&machine);
	return 0;
}

static void test_names(void **state)
{
	const struct host_paths *host = &machine.host;

	(void)state;
	expect_events("sched:sched_switch", host, "sched:sched_switch @ 2:13e\n");
	expect_events("sched:sched_switch:u", host, "sched:sched_switch:u @ 2:13e\n");
	expect_events("sched:sched_switch/name=x/", host, "x @ 2:13e\n");
}

static void test_patterns_are_sorted_events_of_their_own(void **state)
{
	const struct host_paths *host = &machine.host;

	(void)state;
	expect_events("sched:sched_wak*", host,
		      "sched:sched_wakeup @ 2:140\nsched:sched_waking @ 2:141\n");
	expect_events("sched:*:k", host,
		      "sched:sched_switch:k @ 2:13e\nsched:sched_wakeup:k @ 2:140\n"
		      "sched:sched_waking:k @ 2:141\n");
	expect_events("sched*:*[hp]", host,
		      "sched:sched_switch @ 2:13e\nsched:sched_wakeup @ 2:140\n"
		      "sched_ext:sched_ext_dump @ 2:190\n");
	expect_events("s*:sys_enter_openat", host, "syscalls:sys_enter_openat @ 2:269\n");
}

static void test_unknown_names(void **state)
{
	const struct host_paths *host = &machine.host;

	(void)state;
	expect_error("sched:sched_swich", host, -ENOENT,
		     "'sched' has no event 'sched_swich'\n"
		     "  sched:sched_swich\n"
		     "        ^\n"
		     "  did you mean 'sched:sched_switch'?");
	expect_error("sced:sched_switch", host, -ENOENT, "did you mean 'sched'?");
	expect_error("zzzzz:sched_switch", host, -ENOENT, "no tracing system 'zzzzz'");
	expect_error("sched:zz*", host, -ENOENT, "no tracepoint matches 'sched:zz*'");
	expect_error("ftrace:bputs", host, -ENOENT, "'ftrace' has no event 'bputs'");
	expect_error("sched:enable", host, -ENOENT, "'sched' has no event 'enable'");
	expect_error("damaged:one", host, -EINVAL, "tracepoints: ");
	/* Not a way out of the folder. */
	expect_error("..:events", host, -ENOENT, "no tracing system '..'");
}

static const struct {
	const char *filter, *reason, *remedy; /* "": nothing is found to be wrong */
} filters[] = {
	{ "nosuch>1", "it has no field 'nosuch'",
	  "its fields: common_pid, prev_comm, prev_pid, prev_state" },
	{ "prev_pidd > 1", "it has no field 'prev_pidd'", "did you mean 'prev_pid'?" },
	{ "prev_pid>1 && (prev_com ~ \"ba*\" || !prev_state)", "it has no field 'prev_com'",
	  "did you mean 'prev_comm'?" },
	{ "!prev_stat", "it has no field 'prev_stat'", "did you mean 'prev_state'?" },
	{ "(prev_pid != 1) && (common_pid != other)", "", "" },
	{ "prev_comm == 'a && (b' || cpu == 0 || prev_comm ~ \"(c\"", "", "" },
	{ "prev_comm.ustring ~ \"x\" && prev_pid & 4", "", "" },
	{ "prev_comm == 'open", "", "" },
	{ "prev_pid >", "", "" },
	{ "&&", "", "" },
};

static void test_filters_explained(void **state)
{
	static const char format[] = "name: sched_switch\nID: 318\nformat:\n"
				     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				     "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				     "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				     "\tfield:;\toffset:1;\n\tfield:long prev_state\n"
				     "print fmt: \"x\"\n";
	struct event_list list;
	struct str reason = STR_INIT, remedy = STR_INIT;

	(void)state;
	fake_machine_file(&machine, "tracing/events/sched/sched_switch/format", format);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		event_list_init(&list);
		assert_int_equal(event_list_parse(&list, "sched:sched_switch/name=x/", &machine.host,
						  &reason), 0);
		assert_int_equal(event_list_set_filter(&list, filters[i].filter, &reason), 0);
		event_filter_explain(&list.v[0], &machine.host, &reason, &remedy);
		assert_string_equal(reason.s, filters[i].reason);
		assert_string_equal(remedy.s, filters[i].remedy);
		str_reset(&reason);
		str_reset(&remedy);
		event_list_release(&list);
	}
	str_release(&reason);
	str_release(&remedy);
}

static void test_tracefs_is_not_mounted(void **state)
{
	struct host_paths host = { "/nonexistent/sys", "/proc", "/nonexistent/tracing", NULL };

	(void)state;
	expect_error("sched:sched_switch", &host, -ENOENT,
		     "tracefs is not mounted on /nonexistent/tracing");
	expect_error("sched:*", &host, -ENOENT,
		     "sudo mount -t tracefs nodev /nonexistent/tracing");
}

static void test_debugfs_instead(void **state)
{
	struct fake_machine old;
	struct str root = STR_INIT;

	(void)state;
	fake_machine_init(&old);
	fake_machine_file(&old, "sys/kernel/debug/tracing/events/old/place/id", "5\n");
	expect_events("old:place", &old.host, "old:place @ 2:5\n");
	assert_int_equal(tracefs_root(&old.host, &root), 0);
	assert_non_null(strstr(root.s, "/sys/kernel/debug/tracing"));
	fake_machine_file(&old, "tracing/events/old/place/id", "6\n");
	expect_events("old:place", &old.host, "old:place @ 2:6\n");
	str_release(&root);
	fake_machine_release(&old);
}

/* Root may read everything: the user is changed in a child. */
static void test_user_who_may_not_read(void **state)
{
	struct fake_machine closed;
	bool root = geteuid() == 0;

	(void)state;
	fake_machine_init(&closed);
	fake_machine_file(&closed, "tracing/events/sched/sched_switch/id", "5\n");
	chmod(closed.root, 0755);
	chmod(closed.tracefs, root ? 0700 : 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	expect_error("sched:sched_switch", &closed.host, -EACCES, "this user may not read");
	expect_error("sched:sched_*", &closed.host, -EACCES, "mode=755");
	if (root)
		assert_int_equal(seteuid(0), 0);
	chmod(closed.tracefs, 0755);
	fake_machine_release(&closed);
}

static void test_list(void **state)
{
	struct host_paths nowhere = { "/nonexistent/sys", "/proc", "/nonexistent/tracing", NULL };
	struct str out = STR_INIT, err = STR_INIT;

	(void)state;
	assert_int_equal(event_walk("tracepoint", NULL, &machine.host, list_source_row, &out, &err),
			 0);
	assert_string_equal(out.s, "damaged:one|||\nsched:sched_switch|||\nsched:sched_wakeup|||\n"
				   "sched:sched_waking|||\nsched_ext:sched_ext_dump|||\n"
				   "syscalls:sys_enter_openat|||\n");
	str_reset(&out);
	assert_int_equal(event_walk("tracepoint", NULL, &nowhere, list_source_row, &out, &err),
			 -ENOENT);
	assert_non_null(strstr(err.s, "tracefs is not mounted"));
	str_reset(&err);
	/* All topics: what cannot be read is left out, with its reason. */
	assert_int_equal(event_walk(NULL, "page-faults", &nowhere, list_source_row, &out, &err), 0);
	assert_non_null(strstr(out.s, "page-faults|"));
	assert_non_null(strstr(err.s, "tracefs is not mounted"));
	str_reset(&err);
	assert_int_equal(event_walk("tracepiont", NULL, &nowhere, list_source_row, &out, &err),
			 -EINVAL);
	assert_non_null(strstr(err.s, "did you mean 'tracepoint'?"));
	str_release(&out);
	str_release(&err);
}

static void test_counts_system_calls(void **state)
{
	enum { CALLS = 1234 };
	const struct host_paths host = { "/sys", "/proc", "/sys/kernel/tracing", NULL };
	struct event_list list;
	struct str err = STR_INIT;
	struct perf_event_attr attr;
	uint64_t count = 0;
	int fd;

	(void)state;
	event_list_init(&list);
	if (event_list_parse(&list, "syscalls:sys_enter_getppid", &host, &err))
		skip_because("no tracepoints here: %.*s", (int)strcspn(err.s, "\n"), err.s);
	attr = list.v[0].attr;
	attr.size = sizeof(attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		skip_because("tracepoints cannot be opened: %s", strerror(errno));
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	close(fd);
	assert_int_equal(count, CALLS);
	event_list_release(&list);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_patterns_are_sorted_events_of_their_own),
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_filters_explained),
		cmocka_unit_test(test_tracefs_is_not_mounted),
		cmocka_unit_test(test_debugfs_instead),
		cmocka_unit_test(test_user_who_may_not_read),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_counts_system_calls),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
