/* SPDX-License-Identifier: MIT */
/*
 * Opening, against a kernel that refuses: every fallback with its note, and a reason for every
 * errno.
 */
#include "open_fixture.h"

/* ---- permission ---- */

static int user_mode_only(const struct fake_call *call)
{
	return call->attr.exclude_kernel ? 0 : -EACCES;
}

static void falls_back_to_user_mode(void **state)
{
	static const char *const names[][2] = {
		{ "page-faults", "page-faults:u" },   { "cpu/cycles/", "cpu/cycles/u" },
		{ "cycles:D", "cycles:Du" },	      { "mem:0x10:w", "mem:0x10:w:u" },
		{ "skl::INST:ANY", "skl::INST:ANY:u" },
	};
	size_t n = ARRAY_SIZE(names), printed = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		add(names[i][0], PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	fake.answer = user_mode_only;
	open_all();
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(set.v[i].name, names[i][1]);
		assert_int_equal(set.v[i].attr.exclude_kernel, 1);
		assert_int_equal(set.v[i].attr.exclude_hv, 1);
		assert_int_equal(set.v[i].attr.exclude_user, 0);
	}
	for (size_t i = 0; i < notes.n; i++)
		printed += !notes.v[i].verbose;
	assert_int_equal(printed, 1);
	assert_string_equal(notes.v[0].remedy, "sudo sysctl kernel.perf_event_paranoid=1");
}

static void user_choice_is_kept(void **state)
{
	struct event *event;

	(void)state;
	add("ok", PERF_TYPE_SOFTWARE, 2)->attr.exclude_kernel = 1;
	event = add("page-faults:k", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	event->attr.exclude_user = 1;
	event->user_excludes = true;
	fake.answer = user_mode_only;
	open_all();
	assert_int_equal(set.v[1].state, COUNTER_NOT_SUPPORTED);
	assert_string_equal(set.v[1].name, "page-faults:k");
	assert_string_equal(set.v[1].reason, "needs perf_event_paranoid 1 or CAP_PERFMON");
	assert_string_equal(set.v[1].remedy, "sudo sysctl kernel.perf_event_paranoid=1");
}

/* In user mode they would count 0, which would be a lie. */
static void kernel_events_do_not_fall_back(void **state)
{
	(void)state;
	add("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	add("cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	add("sched:sched_switch", PERF_TYPE_TRACEPOINT, 300);
	fake.answer = user_mode_only;
	open_all();
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(set.v[i].state, COUNTER_NOT_SUPPORTED);
		assert_string_equal(
			set.v[i].reason,
			"happens in the kernel: needs perf_event_paranoid 1 or CAP_PERFMON");
	}
}

/* The times of the switches are of use without the samples. */
static void switches_without_stacks(void **state)
{
	size_t printed = 0;

	(void)state;
	add("offcpu-time", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES)->off_cpu = true;
	fake.answer = user_mode_only;
	open_all();
	assert_int_equal(set.v[0].state, COUNTER_OPEN);
	assert_string_equal(set.v[0].name, "offcpu-time");
	assert_int_equal(set.v[0].attr.exclude_kernel, 1);
	for (size_t i = 0; i < notes.n; i++)
		printed += !notes.v[i].verbose && strstr(notes.v[i].text, "no stacks");
	assert_int_equal(printed, 1);
}

static int hidden_missing_pmu(const struct fake_call *call)
{
	return !call->attr.exclude_kernel ? -EACCES :
	       call->attr.type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void permission_does_not_hide_the_reason(void **state)
{
	(void)state;
	add("cycles", PERF_TYPE_HARDWARE, 0);
	add("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	put("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse\n");
	fake.answer = hidden_missing_pmu;
	open_all();
	assert_string_equal(set.v[0].reason, "no counter unit in this virtual machine");
}

static void refused_run_says_one_remedy(const char *reason, const char *remedy)
{
	add("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	fake.answer = always;
	assert_int_equal(do_open(), -EACCES);
	assert_non_null(strstr(err.s, reason));
	assert_non_null(strchr(err.s, '\n'));
	assert_string_equal(strchr(err.s, '\n') + 1, remedy);
	assert_int_equal(fake.n_open, 0);
}

static void refused_on_whole_cpus(void **state)
{
	(void)state;
	all_cpus(1);
	answer_errno = EACCES;
	refused_run_says_one_remedy("needs perf_event_paranoid 0 or CAP_PERFMON",
				    "sudo sysctl kernel.perf_event_paranoid=0");
	assert_int_equal(fake.n, 1);
}

static void refused_altogether(void **state)
{
	(void)state;
	put("proc/sys/kernel/perf_event_paranoid", "4\n");
	answer_errno = EACCES;
	refused_run_says_one_remedy("needs perf_event_paranoid 1 or CAP_PERFMON",
				    "sudo sysctl kernel.perf_event_paranoid=1");
}

static void refused_by_seccomp(void **state)
{
	(void)state;
	put("proc/self/status", "Name:\tx\nCapEff:\t0\nSeccomp:\t2\n");
	answer_errno = EPERM;
	refused_run_says_one_remedy("seccomp filter", "start the container with --cap-add PERFMON");
}

static void refused_task_of_another_user(void **state)
{
	(void)state;
	put("proc/100/status", "Name:\tx\nUid:\t0\t7\t0\t0\n");
	answer_errno = EACCES;
	refused_run_says_one_remedy("belongs to another user",
				    "sudo setcap cap_perfmon+ep \"$(command -v pstat)\"");
}

/* To become root is no advice for one who is: what lacks is the capability. */
static void refused_to_root_without_capabilities(void **state)
{
	static const struct {
		const char *level, *reason;
		int err;
	} rows[] = {
		{ "2\n", "needs perf_event_paranoid 1 or CAP_PERFMON", EACCES },
		{ "-1\n", "needs CAP_PERFMON, which this root lacks", EACCES },
		{ "-1\n", "needs CAP_PERFMON, which this root lacks", EPERM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (i) {
			(void)teardown(state);
			setup(state);
		}
		put("proc/self/status", "Name:\tx\nUid:\t0\t0\t0\t0\nCapEff:\t8000000000\n");
		put("proc/100/status", "Name:\tx\nUid:\t0\t0\t0\t0\n");
		put("proc/sys/kernel/perf_event_paranoid", rows[i].level);
		answer_errno = rows[i].err;
		refused_run_says_one_remedy(rows[i].reason, "start the container with --cap-add PERFMON");
	}
}

static void refused_though_the_level_allows(void **state)
{
	(void)state;
	put("proc/sys/kernel/perf_event_paranoid", "-1\n");
	answer_errno = EACCES;
	refused_run_says_one_remedy("needs CAP_PERFMON",
				    "sudo setcap cap_perfmon+ep \"$(command -v pstat)\"");
}

/* ---- other fallbacks ---- */

static int no_precise_counts(const struct fake_call *call)
{
	return call->attr.precise_ip > 1 ? -EOPNOTSUPP : call->attr.precise_ip ? -EINVAL : 0;
}

static void precise_level_is_lowered(void **state)
{
	(void)state;
	add("cycles:P", PERF_TYPE_HARDWARE, 0)->precise_max = true;
	add("cycles:pp", PERF_TYPE_HARDWARE, 0)->attr.precise_ip = 2;
	fake.answer = no_precise_counts;
	open_all();
	assert_int_equal(fake.calls[0].attr.precise_ip, 3);
	assert_int_equal(set.v[0].attr.precise_ip, 0);
	assert_int_equal(set.v[1].attr.precise_ip, 0);
	assert_true(noted("cycles:pp: counted at precise level 0"));
}

static int only_level_two(const struct fake_call *call)
{
	return call->attr.precise_ip > 2 ? -EOPNOTSUPP : 0;
}

static void precise_level_is_the_highest_that_opens(void **state)
{
	(void)state;
	add("cycles:P", PERF_TYPE_HARDWARE, 0)->precise_max = true;
	fake.answer = only_level_two;
	open_all();
	assert_int_equal(set.v[0].attr.precise_ip, 2);
}

static int precise_without_guest_bit(const struct fake_call *call)
{
	return call->attr.precise_ip > 2 || (call->attr.precise_ip && call->attr.exclude_guest) ? -EINVAL : 0;
}

/* Where the highest level that there is asks for it, guests count; where it does not help, they are left out. */
static void precision_is_worth_more_than_guests(void **state)
{
	struct event *event;

	(void)state;
	event = add("cycles:P", PERF_TYPE_HARDWARE, 0);
	event->precise_max = true;
	event->attr.precise_ip = 2;
	event = add("cycles:p", PERF_TYPE_HARDWARE, 0);
	event->attr.precise_ip = 2;
	fake.answer = precise_without_guest_bit;
	open_all();
	assert_int_equal(set.v[0].attr.precise_ip, 2);
	assert_int_equal(set.v[0].attr.exclude_guest, 0);
	assert_true(noted("cycles:P: guests are counted too"));
	assert_int_equal(set.v[1].attr.precise_ip, 0);
	assert_int_equal(set.v[1].attr.exclude_guest, 1);
}

static int no_excludes(const struct fake_call *call)
{
	const struct perf_event_attr *a = &call->attr;

	return a->exclude_guest || a->exclude_host || a->exclude_user || a->exclude_kernel ||
	       a->exclude_hv || a->exclude_idle ? -EINVAL : 0;
}

static void guest_is_taken_where_it_must(void **state)
{
	struct event *event;

	(void)state;
	add("unit/x/", UNCORE_TYPE, 1);
	event = add("unit/x/H", UNCORE_TYPE, 1);
	event->user_guest = true;
	event = add("unit/x/u", UNCORE_TYPE, 1);
	event->attr.exclude_kernel = 1;
	event->user_excludes = true;
	event = add("unit/x/I", UNCORE_TYPE, 1);
	event->attr.exclude_idle = 1;
	fake.answer = no_excludes;
	open_all();
	assert_int_equal(set.v[0].state, COUNTER_OPEN);
	assert_int_equal(set.v[0].attr.exclude_guest, 0);
	assert_int_equal(set.v[0].attr.inherit, 1);
	assert_string_equal(set.v[1].reason,
			    "the unit cannot distinguish these modes (:u :k :h :G :H)");
	assert_string_equal(set.v[2].reason,
			    "the unit cannot distinguish these modes (:u :k :h :G :H)");
	assert_string_equal(set.v[3].reason, "the unit cannot leave out idle time (:I)");
}

/* The kernel asks for rights first, and the unit then refuses what needs none, as msr does. */
static int no_excludes_and_no_rights(const struct fake_call *call)
{
	if (call->attr.type != UNCORE_TYPE)
		return 0;
	return !call->attr.exclude_kernel ? -EACCES : no_excludes(call);
}

static void rights_are_what_is_missing(void **state)
{
	struct event *event;

	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("msr/tsc/", UNCORE_TYPE, 0);
	event = add("msr/tsc/u", UNCORE_TYPE, 0);
	event->attr.exclude_kernel = 1;
	event->user_excludes = true;
	fake.answer = no_excludes_and_no_rights;
	open_all();
	assert_string_equal(set.v[1].reason, "the unit does not count user mode alone: "
					     "needs perf_event_paranoid 1 or CAP_PERFMON");
	assert_string_equal(set.v[2].reason, "the kernel refuses these settings");
}

static int no_inherit(const struct fake_call *call)
{
	return call->attr.inherit ? -EINVAL : 0;
}

static void children_are_given_up_with_a_note(void **state)
{
	(void)state;
	add("unit/x/", UNCORE_TYPE, 1);
	fake.answer = no_inherit;
	open_all();
	assert_int_equal(set.v[0].attr.inherit, 0);
	assert_true(noted("unit/x/: child processes and new threads are not counted"));
}

/* ---- user callchains that come later ---- */

static struct event *add_deferring(const char *name, uint32_t type, unsigned bits)
{
	struct event *event = add(name, type, 0);

	options.sample = true;
	event->attr.sample_period = 1;
	attr_set_defer(&event->attr, bits);
	return event;
}

static size_t deferring_calls(void)
{
	size_t n = 0;

	for (size_t i = 0; i < fake.n; i++)
		n += attr_defer(&fake.calls[i].attr) != 0;
	return n;
}

static int knows_no_deferral(const struct fake_call *call)
{
	return attr_defer(&call->attr) ? -EINVAL : 0;
}

static void deferral_is_asked_for_by_opening(void **state)
{
	(void)state;
	all_cpus(2);
	add_deferring("a", PERF_TYPE_SOFTWARE, DEFER_CALLCHAIN);
	add_deferring("dummy", PERF_TYPE_SOFTWARE, DEFER_OUTPUT);
	open_all();
	assert_int_equal(attr_defer(&set.v[0].attr), DEFER_CALLCHAIN);
	assert_int_equal(attr_defer(&set.v[1].attr), DEFER_OUTPUT);
	assert_int_equal(fake.n, 4);
}

static void deferral_costs_old_kernels_one_call(void **state)
{
	(void)state;
	all_cpus(2);
	add_deferring("a", PERF_TYPE_SOFTWARE, DEFER_CALLCHAIN);
	add_deferring("b", PERF_TYPE_SOFTWARE, DEFER_CALLCHAIN);
	add_deferring("dummy", PERF_TYPE_SOFTWARE, DEFER_OUTPUT);
	fake.answer = knows_no_deferral;
	open_all();
	for (size_t i = 0; i < set.n; i++) {
		assert_int_equal(set.v[i].state, COUNTER_OPEN);
		assert_int_equal(attr_defer(&set.v[i].attr), 0);
	}
	assert_int_equal(fake.n, 7);
	assert_int_equal(notes.n, 0);
}

/* Another bit is what was refused: an event without its part would be chains that never come. */
static void deferral_is_not_given_up_for_another_reason(void **state)
{
	(void)state;
	add_deferring("cycles:pp", PERF_TYPE_HARDWARE, DEFER_CALLCHAIN | DEFER_OUTPUT)->attr.precise_ip = 2;
	add_deferring("a", PERF_TYPE_SOFTWARE, DEFER_CALLCHAIN);
	fake.answer = precise_without_guest_bit;
	open_all();
	assert_int_equal(set.v[0].attr.precise_ip, 0);
	assert_int_equal(attr_defer(&set.v[0].attr), DEFER_CALLCHAIN | DEFER_OUTPUT);
	assert_int_equal(attr_defer(&set.v[1].attr), DEFER_CALLCHAIN);
}

/* Once an event is open with them, there is no doubt. */
static void deferral_that_opened_is_known(void **state)
{
	(void)state;
	add_deferring("a", PERF_TYPE_SOFTWARE, DEFER_CALLCHAIN | DEFER_OUTPUT);
	add_deferring("cycles:pp", PERF_TYPE_HARDWARE, DEFER_CALLCHAIN)->attr.precise_ip = 2;
	fake.answer = precise_without_guest_bit;
	open_all();
	assert_int_equal(set.v[1].attr.precise_ip, 0);
	assert_int_equal(deferring_calls(), fake.n);
}

static int knows_neither(const struct fake_call *call)
{
	return attr_defer(&call->attr) ? -EINVAL : precise_without_guest_bit(call);
}

static void deferral_and_another_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++)
		add_deferring("cycles:pp", PERF_TYPE_HARDWARE, DEFER_CALLCHAIN)->attr.precise_ip = 2;
	fake.answer = knows_neither;
	open_all();
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(set.v[i].attr.precise_ip, 0);
		assert_int_equal(attr_defer(&set.v[i].attr), 0);
	}
	/* The first event, and once the question itself. */
	assert_int_equal(deferring_calls(), 2);
}

/* ---- reasons ---- */

static void whole_cpu_pmu_says_so(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("msr/tsc/", UNCORE_TYPE, 0);
	answer_errno = EINVAL;
	fake.answer = always;
	open_all();
	assert_string_equal(set.v[1].reason, "the kernel refuses these settings");
}

static int cpus_only(const struct fake_call *call)
{
	return call->pid >= 0 && call->attr.type == UNCORE_TYPE ? -EINVAL : 0;
}

static void task_on_whole_cpu_pmu(void **state)
{
	(void)state;
	add("power/x/", UNCORE_TYPE, 0);
	fake.answer = cpus_only;
	open_all();
	assert_string_equal(set.v[0].reason, "the unit counts whole CPUs only");
	assert_string_equal(set.v[0].remedy, "pstat stat -a ...");
}

static void every_errno_has_words(void **state)
{
	static const struct {
		int err;
		uint32_t type;
		const char *reason;
	} cases[] = {
		{ ENOENT, PERF_TYPE_RAW, "this counter unit does not have the event" },
		{ ENOENT, PERF_TYPE_SOFTWARE, "this kernel does not have the event" },
		{ ENOSPC, PERF_TYPE_BREAKPOINT, "all hardware breakpoints are in use" },
		{ ENOSPC, PERF_TYPE_RAW, "the unit has no counter left" },
		{ EINVAL, PERF_TYPE_BREAKPOINT,
		  "the machine cannot watch this address with this length and access" },
		{ EBUSY, PERF_TYPE_RAW, "another user holds the unit exclusively" },
		{ ENODEV, PERF_TYPE_RAW, "the unit's device does not exist" },
		{ ENXIO, PERF_TYPE_RAW, "no counter unit for this event" },
		{ EOPNOTSUPP, PERF_TYPE_RAW, "the unit does not support these settings" },
		{ E2BIG, PERF_TYPE_RAW, "this kernel is too old for these settings" },
		{ EOVERFLOW, PERF_TYPE_RAW, "the kernel refuses it: Value too large" },
	};

	core_pmu();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		add("x", cases[i].type, 1);
		answer_errno = cases[i].err;
		fake.answer = always;
		open_all();
		assert_int_equal(set.v[0].state, COUNTER_NOT_SUPPORTED);
		assert_int_equal(set.v[0].err, cases[i].err);
		assert_memory_equal(set.v[0].reason, cases[i].reason, strlen(cases[i].reason));
		teardown(state);
		setup(state);
		core_pmu();
	}
}

/* ---- branch records ---- */

static uint64_t known_branches; /* what the unit can select */

static int some_branches(const struct fake_call *call)
{
	return call->attr.branch_sample_type & ~known_branches ? -answer_errno :
	       call->attr.precise_ip ? -EOPNOTSUPP : 0;
}

static void refused_branches(uint32_t type, uint64_t filter, int code, const char *reason,
			     const char *remedy)
{
	struct event *event = add("x", type, PERF_COUNT_SW_CPU_CLOCK);

	event->attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	event->attr.branch_sample_type = filter;
	event->attr.precise_ip = 2;
	options.sample = true;
	answer_errno = code;
	fake.answer = some_branches;
	open_all();
	assert_string_equal(set.v[0].reason, reason);
	assert_string_equal(set.v[0].remedy, remedy);
}

static void branches_without_a_counter_pmu(void **state)
{
	(void)state;
	refused_branches(PERF_TYPE_SOFTWARE, PERF_SAMPLE_BRANCH_ANY, EOPNOTSUPP,
			 "branch records are made by a CPU's counter unit, and this machine has none",
			 "leave out -b and -j; -g finds callers without branch records");
}

static void lbr_without_a_counter_pmu(void **state)
{
	(void)state;
	refused_branches(PERF_TYPE_HARDWARE, PERF_SAMPLE_BRANCH_CALL_STACK, ENOENT,
			 "branch records are made by a CPU's counter unit, and this machine has none",
			 "callchains without them: --call-graph fp or --call-graph dwarf");
}

static void branches_of_an_event_without_them(void **state)
{
	(void)state;
	core_pmu();
	refused_branches(PERF_TYPE_SOFTWARE, PERF_SAMPLE_BRANCH_ANY, EOPNOTSUPP,
			 "only events of the CPU's counter unit have branch records",
			 "leave out -b and -j; -g finds callers without branch records");
}

static void pmu_without_branches(void **state)
{
	(void)state;
	core_pmu();
	refused_branches(PERF_TYPE_HARDWARE, PERF_SAMPLE_BRANCH_ANY, EINVAL,
			 "this CPU's counter unit does not record branches",
			 "leave out -b and -j; -g finds callers without branch records");
}

static void pmu_without_this_filter(void **state)
{
	(void)state;
	core_pmu();
	known_branches = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	refused_branches(PERF_TYPE_HARDWARE, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_IN_TX,
			 EOPNOTSUPP, "the unit cannot select branch records like this",
			 "-b, or -j with fewer words");
	known_branches = 0;
}

static void named_pmu_lacks_the_event(void **state)
{
	static char name[] = "un\x1bit";

	(void)state;
	add("x", UNCORE_TYPE, 1)->pmu_name = name;
	answer_errno = ENOENT;
	fake.answer = always;
	open_all();
	assert_string_equal(set.v[0].reason, "unit un\\x1bit does not have the event");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(falls_back_to_user_mode), T(user_choice_is_kept),
		T(kernel_events_do_not_fall_back), T(switches_without_stacks), T(permission_does_not_hide_the_reason),
		T(refused_on_whole_cpus), T(refused_altogether), T(refused_by_seccomp),
		T(refused_task_of_another_user), T(refused_though_the_level_allows),
		T(refused_task_of_another_user), T(refused_to_root_without_capabilities),
		T(precise_level_is_lowered), T(precise_level_is_the_highest_that_opens),
		T(precision_is_worth_more_than_guests), T(rights_are_what_is_missing),
		T(guest_is_taken_where_it_must), T(children_are_given_up_with_a_note),
		T(deferral_is_asked_for_by_opening), T(deferral_costs_old_kernels_one_call),
		T(deferral_is_not_given_up_for_another_reason), T(deferral_and_another_reason),
		T(deferral_that_opened_is_known),
		T(whole_cpu_pmu_says_so), T(task_on_whole_cpu_pmu), T(every_errno_has_words),
		T(named_pmu_lacks_the_event),
		T(branches_without_a_counter_pmu), T(lbr_without_a_counter_pmu),
		T(branches_of_an_event_without_them), T(pmu_without_branches),
		T(pmu_without_this_filter),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
