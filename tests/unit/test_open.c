/* SPDX-License-Identifier: MIT */
/*
 * Opening, against a kernel played by the test: the exact attributes and groups that reach
 * perf_event_open.
 */
#include "open_fixture.h"

/* ---- attributes ---- */

static void command_starts_at_exec(void **state)
{
	const struct perf_event_attr *attr = &fake.calls[0].attr;

	(void)state;
	add("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS)->attr.sample_period = 7;
	open_all();
	assert_int_equal(fake.n, 1);
	assert_int_equal(attr->disabled, 1);
	assert_int_equal(attr->enable_on_exec, 1);
	assert_int_equal(attr->inherit, 1);
	assert_int_equal(attr->exclude_guest, 1);
	assert_int_equal(attr->sample_period, 0);
	assert_int_equal(attr->read_format,
			 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	assert_int_equal(fake.calls[0].pid, 100);
	assert_int_equal(fake.calls[0].cpu, -1);
	assert_int_equal(fake.calls[0].group_fd, -1);
	assert_int_equal(fake.calls[0].flags, PERF_FLAG_FD_CLOEXEC);
	assert_int_equal(set.v[0].state, COUNTER_OPEN);
	assert_int_equal(set.v[0].cpus.n, 0);
	assert_false(set.group_reads);
	assert_int_equal(fake.n_ioctls, 0);
}

static void start_disabled_waits_for_enable(void **state)
{
	(void)state;
	add("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	options.start_disabled = true;
	open_all();
	assert_int_equal(fake.calls[0].attr.disabled, 1);
	assert_int_equal(fake.calls[0].attr.enable_on_exec, 0);
	assert_int_equal(counters_enable(&set), 0);
	assert_int_equal(fake.n_ioctls, 1);
	assert_int_equal(fake.ioctls[0].request, PERF_EVENT_IOC_ENABLE);
	assert_int_equal(counters_disable(&set), 0);
	assert_int_equal(fake.ioctls[1].request, PERF_EVENT_IOC_DISABLE);
}

static void inherit_term_wins(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 0)->terms.inherit = TERM_OFF;
	add("b", PERF_TYPE_SOFTWARE, 0);
	options.inherit = false;
	add("c", PERF_TYPE_SOFTWARE, 0)->terms.inherit = TERM_ON;
	open_all();
	assert_int_equal(fake.calls[0].attr.inherit, 0);
	assert_int_equal(fake.calls[1].attr.inherit, 0);
	assert_int_equal(fake.calls[2].attr.inherit, 1);
}

static void tool_events_open_nothing(void **state)
{
	(void)state;
	add("duration_time", 0, 0)->kind = EVENT_DURATION_TIME;
	open_all();
	assert_int_equal(fake.n, 0);
	assert_int_equal(set.v[0].state, COUNTER_SOFTWARE);
}

static void filter_is_set(void **state)
{
	static char filter[] = "fd == 1";

	(void)state;
	add("syscalls:sys_enter_write", PERF_TYPE_TRACEPOINT, 700)->filter = filter;
	all_cpus(2);
	open_all();
	/* Set before it starts, on both CPUs; then started, as no exec can. */
	assert_int_equal(fake.n_ioctls, 4);
	assert_int_equal(fake.ioctls[0].request, PERF_EVENT_IOC_SET_FILTER);
	assert_string_equal(fake.ioctls[1].text, "fd == 1");
	assert_int_equal(fake.ioctls[3].request, PERF_EVENT_IOC_ENABLE);
}

static void refused_filter_ends_the_run(void **state)
{
	static char filter[] = "nonsense";

	(void)state;
	add("a:b", PERF_TYPE_TRACEPOINT, 700)->filter = filter;
	fake.ioctl_result = -EINVAL;
	assert_int_equal(do_open(), -EINVAL);
	assert_non_null(strstr(err.s, "filter 'nonsense' of a:b: the kernel refuses it"));
}

/* ---- groups ---- */

static void group_is_read_in_one(void **state)
{
	uint64_t format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			  PERF_FORMAT_GROUP | PERF_FORMAT_ID;

	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1)->attr.pinned = 1;
	add("b", PERF_TYPE_SOFTWARE, 2)->attr.pinned = 1;
	group_from(0);
	open_all();
	assert_int_equal(fake.calls[0].attr.read_format, format);
	assert_int_equal(fake.calls[1].attr.read_format, format);
	assert_int_equal(fake.calls[1].group_fd, set.v[0].fds[0]);
	assert_int_equal(fake.calls[0].attr.disabled, 1);
	assert_int_equal(fake.calls[1].attr.disabled, 0);
	assert_int_equal(fake.calls[1].attr.enable_on_exec, 0);
	assert_int_equal(fake.calls[0].attr.pinned, 1);
	assert_int_equal(fake.calls[1].attr.pinned, 0);
	assert_int_equal(set.v[0].n_members, 2);
	assert_int_equal(set.v[1].leader, 0);
	assert_true(set.group_reads);
	counters_enable(&set);
	assert_int_equal(fake.n_ioctls, 1);
}

/* No member joins a group that counts already: the kernel would count nothing in it. */
static void starts_when_all_are_open(void **state)
{
	(void)state;
	add("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	add("faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	group_from(0);
	add("cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	options.enable_on_exec = options.start_disabled = false;
	open_all();
	assert_int_equal(fake.calls[0].attr.disabled, 1);
	assert_int_equal(fake.calls[1].attr.disabled, 0);
	assert_int_equal(fake.calls[1].group_fd, set.v[0].fds[0]);
	assert_int_equal(fake.calls[2].attr.disabled, 1);
	assert_int_equal(fake.n_ioctls, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fake.ioctls[i].request, PERF_EVENT_IOC_ENABLE);
		assert_int_equal(fake.ioctls[i].fd, set.v[2 * i].fds[0]);
	}
}

static void single_reads_on_request(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("b", PERF_TYPE_SOFTWARE, 2);
	group_from(0);
	options.single_reads = true;
	open_all();
	assert_false(fake.calls[0].attr.read_format & PERF_FORMAT_GROUP);
	assert_false(fake.calls[1].attr.read_format & PERF_FORMAT_GROUP);
	assert_int_equal(fake.calls[1].group_fd, set.v[0].fds[0]);
}

static int no_hardware(const struct fake_call *call)
{
	return call->attr.type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void missing_member_leaves_the_group(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("cycles", PERF_TYPE_HARDWARE, 0);
	add("b", PERF_TYPE_SOFTWARE, 2);
	group_from(0);
	fake.answer = no_hardware;
	open_all();
	assert_int_equal(set.v[1].state, COUNTER_NOT_SUPPORTED);
	assert_int_equal(set.v[2].leader, 0);
	assert_int_equal(set.v[0].n_members, 2);
	assert_string_equal(set.v[1].reason, "no counter unit on this machine");
	assert_non_null(strstr(set.v[1].call, "perf_event_open({type 0, config 0x0}, pid 100"));
	assert_non_null(strstr(set.v[1].call, "errno 2"));
}

static void missing_leader_is_followed_by_the_next(void **state)
{
	(void)state;
	add("cycles", PERF_TYPE_HARDWARE, 0)->attr.pinned = 1;
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("b", PERF_TYPE_SOFTWARE, 2);
	group_from(0);
	fake.answer = no_hardware;
	open_all();
	assert_int_equal(set.v[0].state, COUNTER_NOT_SUPPORTED);
	assert_int_equal(set.v[1].leader, 1);
	assert_int_equal(set.v[2].leader, 1);
	assert_int_equal(set.v[1].n_members, 2);
	assert_int_equal(set.v[1].attr.pinned, 1);
	assert_int_equal(set.v[1].attr.disabled, 1);
	assert_int_equal(fake.calls[2].group_fd, set.v[1].fds[0]);
	assert_true(noted("a: leads its group, because cycles cannot be counted"));
}

/* Two counters: the third hardware event of a group is refused, and so is the third pinned one. */
static int two_counters(const struct fake_call *call)
{
	size_t members = 0;

	if (call->attr.type != PERF_TYPE_HARDWARE || call->group_fd < 0)
		return 0;
	for (size_t i = 0; i < fake.n; i++) {
		const struct fake_call *c = &fake.calls[i];

		members += c->result >= FAKE_FD && fake.open[i] &&
			   c->attr.type == PERF_TYPE_HARDWARE &&
			   (c->result == call->group_fd || c->group_fd == call->group_fd);
	}
	return members >= 2 ? -EINVAL : 0;
}

static ssize_t two_pinned(int fd, uint64_t *words, size_t bytes)
{
	size_t pinned = 0;

	(void)words;
	for (int i = 0; i < fd - FAKE_FD; i++)
		pinned += fake.open[i] && fake.calls[i].attr.pinned;
	return pinned < 2 ? (ssize_t)bytes : 0;
}

static void big_group_says_its_numbers(void **state)
{
	(void)state;
	core_pmu();
	add("cycles", PERF_TYPE_HARDWARE, 0);
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("instructions", PERF_TYPE_HARDWARE, 1);
	add("branches", PERF_TYPE_HARDWARE, 4);
	add("b", PERF_TYPE_SOFTWARE, 2);
	group_from(0);
	fake.answer = two_counters;
	fake.read = two_pinned;
	open_all();
	assert_int_equal(set.v[3].state, COUNTER_NOT_SUPPORTED);
	assert_int_equal(set.v[3].err, EINVAL);
	assert_string_equal(set.v[3].reason, "3 events for 2 counters in its group");
	assert_non_null(set.v[3].remedy);
	assert_int_equal(set.v[4].state, COUNTER_OPEN);
	assert_int_equal(set.v[0].n_members, 4);
	assert_int_equal(fake.n_open, 4);
}

static void weak_group_is_broken_up(void **state)
{
	(void)state;
	add("cycles", PERF_TYPE_HARDWARE, 0)->weak = true;
	add("instructions", PERF_TYPE_HARDWARE, 1);
	add("branches", PERF_TYPE_HARDWARE, 4);
	group_from(0);
	fake.answer = two_counters;
	open_all();
	for (size_t i = 0; i < 3; i++) {
		const struct perf_event_attr *attr = &fake_call_of(set.v[i].fds[0])->attr;

		assert_int_equal(set.v[i].state, COUNTER_OPEN);
		assert_int_equal(set.v[i].leader, i);
		assert_int_equal(set.v[i].n_members, 1);
		assert_int_equal(attr->disabled, 1);
		assert_int_equal(attr->enable_on_exec, 1);
		assert_false(attr->read_format & PERF_FORMAT_GROUP);
		assert_int_equal(fake_call_of(set.v[i].fds[0])->group_fd, -1);
	}
	assert_int_equal(fake.n_open, 3);
	assert_false(set.group_reads);
	assert_true(noted("counted one by one"));
}

static int old_group_reads(const struct fake_call *call)
{
	return call->attr.inherit && (call->attr.read_format & PERF_FORMAT_GROUP) ? -EINVAL : 0;
}

static void old_kernel_reads_one_by_one(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1)->attr.exclude_guest = 0;
	add("b", PERF_TYPE_SOFTWARE, 2)->attr.exclude_guest = 0;
	group_from(0);
	fake.answer = old_group_reads;
	open_all();
	assert_int_equal(set.v[1].leader, 0);
	assert_int_equal(fake_call_of(set.v[0].fds[0])->attr.inherit, 1);
	assert_int_equal(fake_call_of(set.v[1].fds[0])->group_fd, set.v[0].fds[0]);
	assert_false(set.group_reads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(command_starts_at_exec), T(start_disabled_waits_for_enable), T(starts_when_all_are_open),
		T(inherit_term_wins), T(tool_events_open_nothing), T(filter_is_set),
		T(refused_filter_ends_the_run), T(group_is_read_in_one),
		T(single_reads_on_request), T(missing_member_leaves_the_group),
		T(missing_leader_is_followed_by_the_next), T(big_group_says_its_numbers),
		T(weak_group_is_broken_up), T(old_kernel_reads_one_by_one),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
