/* SPDX-License-Identifier: MIT */
/*
 * The doctor's facts, and what is found by opening: free counters, events that count here, and why
 * a counter never ran. Machines are made of files and of a played kernel.
 */
#include "fake_machine.h"
#include "fake_sys.h"

#include <linux/hw_breakpoint.h>
#include <sys/resource.h>

static struct fake_machine machine;
static struct kern kern;
static struct fact_list facts;

static void put(const char *path, const char *text)
{
	fake_machine_file(&machine, path, text);
}

static void unprivileged(void)
{
	put("proc/self/status",
	    "Uid:\t500\t500\t500\t500\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_machine_init(&machine);
	kern = (struct kern){ &fake_ops, machine.host };
	put("sys/devices/system/cpu/online", "0-1\n");
	put("sys/bus/event_source/devices/software/type", "1\n");
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	put("proc/sys/kernel/kptr_restrict", "1\n");
	put("proc/kallsyms", "0000000000000000 T _text\n");
	unprivileged();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fact_list_release(&facts);
	assert_int_equal(fake.n_open, 0);
	fake_machine_release(&machine);
	return 0;
}

static void hidden_kernel_addresses(void **state)
{
	static const struct {
		const char *restrict_, *paranoid, *list;
		bool hidden, rights_help;
		const char *remedy;
	} rows[] = {
		{ "0\n", "1\n", "ffffffff81000000 T _text\n", false, false, NULL },
		{ "0\n", "2\n", "0000000000000000 T _text\n", true, true, "sudo sysctl kernel.perf_event_paranoid=1" },
		{ "1\n", "1\n", "0000000000000000 T _text\n", true, true, "sudo sysctl kernel.kptr_restrict=0" },
		{ "1\n", "2\n", "0000000000000000 A fixed_percpu_data\n", true, true,
		  "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" },
		{ "2\n", "-1\n", "0000000000000000 T _text\n", true, false, "sudo sysctl kernel.kptr_restrict=0" },
		{ "2\n", "2\n", "", false, false, NULL },
	};
	struct kernel_symbols symbols;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put("proc/sys/kernel/kptr_restrict", rows[i].restrict_);
		put("proc/sys/kernel/perf_event_paranoid", rows[i].paranoid);
		put("proc/kallsyms", rows[i].list);
		kernel_symbols_look(&symbols, &kern.host);
		assert_int_equal(symbols.there, rows[i].list[0] != 0);
		assert_int_equal(symbols.hidden, rows[i].hidden);
		assert_int_equal(symbols.rights_help, rows[i].rights_help);
		if (rows[i].remedy)
			assert_string_equal(symbols.remedy, rows[i].remedy);
		else
			assert_null(symbols.remedy);
	}
}

static const struct fact *fact(const char *name)
{
	const struct fact *found = NULL;

	for (size_t i = 0; i < facts.n && !found; i++) {
		if (!strcmp(facts.v[i].name, name))
			found = &facts.v[i];
	}
	assert_non_null(found);
	return found;
}

static void assert_fact(const char *name, enum fact_state state, const char *value,
			const char *remedy)
{
	const struct fact *f = fact(name);

	if (!strstr(f->value, value))
		fail_msg("%s: '%s' is not in '%s'", name, value, f->value);
	assert_int_equal(f->state, state);
	if (!remedy)
		assert_null(f->remedy);
	else
		assert_string_equal(f->remedy, remedy);
}

static int no_generic_events(const struct fake_call *call)
{
	return call->attr.type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void poor_machine(void **state)
{
	(void)state;
	put("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n");
	put("tracing/x", "");
	fake.answer = no_generic_events;
	facts_collect(&facts, &kern);
	assert_fact("virtual machine", FACT_GOOD, "yes", NULL);
	assert_fact("user", FACT_LIMITED, "uid 500",
		    "sudo setcap cap_perfmon+ep \"$(command -v pstat)\"");
	assert_fact("paranoid level", FACT_LIMITED, "2, which allows own tasks, user mode only",
		    "sudo sysctl kernel.perf_event_paranoid=0");
	assert_fact("perf_event_open", FACT_GOOD, "works", NULL);
	assert_fact("core counter unit", FACT_MISSING, "none: the virtual machine has no counters",
		    NULL);
	assert_fact("other counter units", FACT_GOOD, "software", NULL);
	assert_fact("tracepoints", FACT_MISSING, "tracefs is not mounted",
		    "sudo mount -t tracefs nodev /sys/kernel/tracing");
	assert_fact("kprobes", FACT_MISSING, "none", NULL);
	assert_fact("BPF", FACT_MISSING, "none", NULL);
	assert_fact("cgroups", FACT_MISSING, "neither",
		    "sudo mount -t cgroup2 none /sys/fs/cgroup");
	assert_fact("kernel symbols", FACT_MISSING, "addresses are hidden",
		    "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
	assert_fact("open files", FACT_GOOD, "soft 1024, hard 4096: 2048 events on all 2 CPUs",
		    NULL);
}

static ssize_t four_pinned(int fd, uint64_t *words, size_t bytes)
{
	size_t pinned = 0;

	words[0] = 1;
	for (int i = 0; i < fd - FAKE_FD; i++)
		pinned += fake.open[i] && fake.calls[i].attr.pinned;
	return pinned < 4 ? (ssize_t)bytes : 0;
}

static void rich_machine(void **state)
{
	char *mounts = xasprintf("none %s/cg cgroup2 rw 0 0\n", machine.root);

	(void)state;
	put("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
	put("proc/cpuinfo", "processor : 0\nflags : fpu\n");
	put("proc/mounts", mounts);
	free(mounts);
	put("cg/cgroup.procs", "");
	put("sys/bus/event_source/devices/cpu/type", "4\n");
	put("sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	put("sys/bus/event_source/devices/kprobe/type", "8\n");
	put("sys/bus/event_source/devices/uprobe/type", "9\n");
	put("sys/kernel/btf/vmlinux", "");
	put("tracing/events/sched/sched_switch/id", "300\n");
	put("proc/kallsyms", "ffffffff81000000 T _text\n");
	put("proc/sys/kernel/nmi_watchdog", "1\n");
	put("proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	put("proc/sys/kernel/perf_event_max_sample_rate", "25000\n");
	put("proc/sys/kernel/perf_cpu_time_max_percent", "25\n");
	put("proc/sys/kernel/perf_event_mlock_kb", "516\n");
	fake.read = four_pinned;
	facts_collect(&facts, &kern);
	assert_fact("virtual machine", FACT_GOOD, "not seen", NULL);
	assert_fact("user", FACT_GOOD, "uid 0, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_BPF",
		    NULL);
	assert_fact("paranoid level", FACT_GOOD, "2, which does not limit this user", NULL);
	assert_fact("core counter unit", FACT_GOOD, "cpu, 4 counters free for general events",
		    NULL);
	assert_fact("hardware breakpoints", FACT_GOOD, "4 free", NULL);
	assert_fact("NMI watchdog", FACT_LIMITED, "on", "sudo sysctl kernel.nmi_watchdog=0");
	assert_fact("tracepoints", FACT_GOOD, "tracing", NULL);
	assert_fact("kprobes", FACT_GOOD, "yes", NULL);
	assert_fact("uprobes", FACT_GOOD, "yes", NULL);
	assert_fact("BPF", FACT_GOOD, "allowed, with BTF", NULL);
	assert_fact("cgroups", FACT_GOOD, "mounted", NULL);
	assert_fact("locked memory", FACT_GOOD, "516 KiB per user and CPU", NULL);
	assert_fact("sample rate limit", FACT_LIMITED, "25000 samples per second",
		    "sudo sysctl kernel.perf_event_max_sample_rate=100000");
	assert_fact("sampling time limit", FACT_GOOD, "25 % of a CPU", NULL);
	assert_fact("kernel symbols", FACT_GOOD, "readable", NULL);
}

/* The kinds of access whose breakpoints count nothing. */
static unsigned silent_kinds;

static ssize_t some_silent(int fd, uint64_t *words, size_t bytes)
{
	const struct perf_event_attr *attr = &fake_call_of(fd)->attr;
	ssize_t n = four_pinned(fd, words, bytes);

	if (attr->type == PERF_TYPE_BREAKPOINT && attr->bp_type & silent_kinds)
		words[0] = 0;
	return n;
}

static int no_breakpoint_for_code(const struct fake_call *call)
{
	return call->attr.type == PERF_TYPE_BREAKPOINT && call->attr.bp_type == HW_BREAKPOINT_X ? -ENOSPC : 0;
}

static void breakpoints_that_never_fire(void **state)
{
	static const struct {
		unsigned silent;
		int (*answer)(const struct fake_call *call);
		enum fact_state state;
		const char *value;
	} rows[] = {
		{ 0, NULL, FACT_GOOD, "4 free for data" },
		{ HW_BREAKPOINT_RW | HW_BREAKPOINT_X, NULL, FACT_MISSING,
		  "none that counts: 4 can be set, and none ever fires" },
		{ HW_BREAKPOINT_X, NULL, FACT_LIMITED,
		  "4 free for data; those for execution can be set, and never fire" },
		{ HW_BREAKPOINT_RW, NULL, FACT_LIMITED, "for execution only" },
		{ HW_BREAKPOINT_X, no_breakpoint_for_code, FACT_GOOD, "4 free for data" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		silent_kinds = rows[i].silent;
		fake.answer = rows[i].answer;
		fake.read = some_silent;
		fake.n = 0;
		facts_collect(&facts, &kern);
		assert_fact("hardware breakpoints", rows[i].state, rows[i].value, NULL);
		assert_int_equal(fake.n_open, 0);
		fact_list_release(&facts);
	}
}

static int refuse_all(const struct fake_call *call)
{
	(void)call;
	return -EPERM;
}

static void locked_machine(void **state)
{
	(void)state;
	put("proc/self/status", "Uid:\t500\t500\t500\t500\nCapEff:\t0\nSeccomp:\t2\n");
	put("proc/sys/kernel/perf_event_paranoid", "4\n");
	fake.answer = refuse_all;
	fake.limit = (struct rlimit){ 64, 64 };
	facts_collect(&facts, &kern);
	assert_fact("paranoid level", FACT_MISSING, "4, which allows nothing",
		    "sudo sysctl kernel.perf_event_paranoid=0");
	assert_fact("perf_event_open", FACT_MISSING, "seccomp",
		    "start the container with --cap-add PERFMON");
	assert_fact("open files", FACT_LIMITED, "32 events",
		    "sudo prlimit --pid $$ --nofile=1048576");
}

static void user_at_level(const char *level)
{
	put("proc/self/status", "Uid:\t500\t500\t500\t500\nCapEff:\t0\nSeccomp:\t0\n");
	put("proc/sys/kernel/perf_event_paranoid", level);
	put("tracing/events/sched/sched_switch/id", "300\n");
	facts_collect(&facts, &kern);
}

/* Kernels without the distributions' addition know no level above 2. */
static void level_3_where_it_means_2(void **state)
{
	(void)state;
	user_at_level("3\n");
	assert_fact("paranoid level", FACT_LIMITED,
		    "3, which this kernel takes for 2: own tasks, user mode only",
		    "sudo sysctl kernel.perf_event_paranoid=0");
	assert_fact("perf_event_open", FACT_GOOD, "works", NULL);
	assert_fact("other counter units", FACT_GOOD, "software", NULL);
	assert_fact("tracepoints", FACT_MISSING, "needs perf_event_paranoid 1",
		    "sudo sysctl kernel.perf_event_paranoid=1");
}

/* What cannot be opened is not listed as if it could. */
static void level_3_where_it_means_nothing(void **state)
{
	(void)state;
	fake.answer = refuse_all;
	user_at_level("3\n");
	assert_fact("paranoid level", FACT_MISSING, "3, which allows nothing",
		    "sudo sysctl kernel.perf_event_paranoid=0");
	assert_fact("perf_event_open", FACT_MISSING, "refused: Operation not permitted",
		    "sudo sysctl kernel.perf_event_paranoid=0");
	assert_fact("other counter units", FACT_MISSING, "software: none of them opens", NULL);
	assert_fact("hardware breakpoints", FACT_MISSING, "none: Operation not permitted", NULL);
	assert_fact("tracepoints", FACT_MISSING, "needs perf_event_paranoid 1",
		    "sudo sysctl kernel.perf_event_paranoid=1");
}

static void tracepoints_at_level_1(void **state)
{
	(void)state;
	user_at_level("1\n");
	assert_fact("tracepoints", FACT_LIMITED, "their data needs perf_event_paranoid -1",
		    "sudo sysctl kernel.perf_event_paranoid=-1");
}

static void every_fact_has_a_value_here(void **state)
{
	struct kern here = { &sys_linux, { "/sys", "/proc", "/sys/kernel/tracing", NULL } };

	(void)state;
	facts_collect(&facts, &here);
	assert_true(facts.n >= 19);
	for (size_t i = 0; i < facts.n; i++) {
		assert_true(facts.v[i].value[0]);
		assert_null(strchr(facts.v[i].value, '\n'));
		assert_true(facts.v[i].state != FACT_GOOD || !facts.v[i].remedy);
	}
}

/* ---- by opening ---- */

static void free_counters(void **state)
{
	char name[] = "cpu";
	struct event_pmu pmu = { .name = name, .type = 4, .is_core = true };

	(void)state;
	fake.read = four_pinned;
	assert_int_equal(pmu_free_counters(&pmu, &kern), 4);
	/* No limit is no number. */
	fake.read = NULL;
	assert_int_equal(pmu_free_counters(&pmu, &kern), -ENOTSUP);
	fake.answer = no_generic_events;
	assert_int_equal(pmu_free_counters(&pmu, &kern), -ENOENT);
	pmu.type = PERF_TYPE_SOFTWARE;
	pmu.is_core = false;
	assert_int_equal(pmu_free_counters(&pmu, &kern), -ENOTSUP);
}

/* Six for any event, and one that only cycles can have. */
static ssize_t six_and_cycles(int fd, uint64_t *words, size_t bytes)
{
	size_t general = 0, cycles = 0;

	(void)words;
	for (int i = 0; i <= fd - FAKE_FD; i++) {
		bool is_cycles = (uint32_t)fake.calls[i].attr.config == PERF_COUNT_HW_CPU_CYCLES;

		if (!fake.open[i] || !fake.calls[i].attr.pinned)
			continue;
		cycles += is_cycles && !cycles;
		general += !is_cycles || cycles > 1;
	}
	return general <= 6 ? (ssize_t)bytes : 0;
}

static void counters_of_their_own(void **state)
{
	char name[] = "armv8_pmuv3";
	struct event_pmu pmu = { .name = name, .type = 8, .is_core = true };
	struct pmu_counters found;
	struct str text = STR_INIT;

	(void)state;
	fake.read = six_and_cycles;
	assert_int_equal(pmu_counters_find(&pmu, &kern, &found), 0);
	assert_int_equal(found.general, 6);
	assert_int_equal(found.own, 1);
	pmu_counters_format(&found, "free", &text);
	assert_string_equal(text.s, "7 free: 6 for any event, 1 for cycles");
	str_release(&text);
	assert_int_equal(pmu_counters_short_for(&found, 8), 7);
	assert_int_equal(pmu_counters_short_for(&found, 7), 6);
	fake.read = four_pinned;
	assert_int_equal(pmu_counters_find(&pmu, &kern, &found), 0);
	assert_int_equal(found.own, 0);
	assert_int_equal(pmu_counters_short_for(&found, 9), 4);
}

static int user_mode_only(const struct fake_call *call)
{
	return call->attr.type == PERF_TYPE_RAW ? -ENOENT : call->attr.exclude_kernel ? 0 : -EACCES;
}

static void events_are_tried_as_they_would_be_opened(void **state)
{
	struct event faults =
		make_event("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	struct event raw = make_event("r1", PERF_TYPE_RAW, 1);
	struct event switches =
		make_event("cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);

	(void)state;
	fake.answer = user_mode_only;
	assert_int_equal(event_try(&faults, &kern), 0);
	assert_int_equal(event_try(&raw, &kern), -ENOENT);
	assert_int_equal(event_try(&switches, &kern), -EACCES);
	free(faults.name);
	free(raw.name);
	free(switches.name);
}

/* ---- why it never ran ---- */

static void idle_reason_is(size_t n, const struct reading *sum, const char *expected)
{
	struct counter counters[8] = { 0 };
	struct counter_set set = { .v = counters, .n = n, .kern = &kern };
	struct event event = make_event("cycles", PERF_TYPE_HARDWARE, 0);
	char *reason;

	put("sys/bus/event_source/devices/cpu/type", "4\n");
	put("sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	for (size_t i = 0; i < n; i++)
		counters[i] =
			(struct counter){ .event = &event, .state = COUNTER_OPEN, .leader = i };
	reason = counter_never_ran_reason(&set, 0, sum);
	if (expected)
		assert_string_equal(reason, expected);
	else
		assert_null(reason);
	free(reason);
	free(event.name);
}

static void idle_reasons(void **state)
{
	const struct reading shared = { .enabled_ns = 10 }, asleep = { 0 };
	const struct reading lost = { .state = READING_LOST_PIN };

	(void)state;
	fake.read = four_pinned;
	idle_reason_is(6, &shared, "6 events for 4 counters");
	idle_reason_is(4, &shared, NULL);
	idle_reason_is(1, &asleep, "the task never ran while counting");
	idle_reason_is(6, &lost, "pinned, and no counter was left: 6 events for 4 counters");
	idle_reason_is(1, &lost, "pinned, and no counter was free");
	put("proc/sys/kernel/nmi_watchdog", "1\n");
	idle_reason_is(6, &shared, "6 events for 4 counters, the NMI watchdog holds one");
}

static uint64_t other_ran_ns;

/* Descriptor FAKE_FD is the pinned event's; what is opened later asks for free counters. */
static ssize_t pinned_reads_zeros(int fd, uint64_t *words, size_t bytes)
{
	if (fd > FAKE_FD + 1)
		return fd < FAKE_FD + 5 ? (ssize_t)bytes : 0;
	words[0] = words[1] = words[2] = fd == FAKE_FD ? 0 : other_ran_ns;
	return (ssize_t)bytes;
}

static void pinned_reason_is(const char *expected)
{
	struct event event = make_event("cycles", PERF_TYPE_HARDWARE, 0);
	struct counter counters[2];
	struct counter_set set = { .v = counters, .n = 2, .kern = &kern };
	const struct reading zeros = { .enabled_ns = 0 };
	int fds[2];
	char *reason;

	fake_reset();
	fake.read = pinned_reads_zeros;
	for (size_t i = 0; i < 2; i++) {
		struct perf_event_attr attr = { .size = sizeof(attr) };

		fds[i] = fake_ops.perf_event_open(&attr, 1, -1, -1, PERF_FLAG_FD_CLOEXEC);
		counters[i] = (struct counter){
			.event = &event, .state = COUNTER_OPEN, .leader = i,
			.fds = &fds[i], .n_cpus = 1, .n_threads = 1, .n_members = 1,
		};
	}
	counters[0].attr.pinned = 1;
	reason = counter_never_ran_reason(&set, 0, &zeros);
	assert_string_equal(reason, expected);
	free(reason);
	for (size_t i = 0; i < 2; i++)
		fake_ops.close(fds[i]);
	free(event.name);
}

/* A pinned event that lost reads as zeros once its task has ended, like one whose task never ran. */
static void pinned_or_asleep(void **state)
{
	(void)state;
	other_ran_ns = 100;
	pinned_reason_is("pinned, and no counter was free");
	other_ran_ns = 0;
	pinned_reason_is("the task never ran while counting");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(hidden_kernel_addresses),
		T(poor_machine), T(rich_machine), T(breakpoints_that_never_fire), T(locked_machine),
		T(level_3_where_it_means_2),
		T(level_3_where_it_means_nothing),
		T(tracepoints_at_level_1), T(every_fact_has_a_value_here),
		T(free_counters), T(counters_of_their_own), T(pinned_or_asleep),
		T(events_are_tried_as_they_would_be_opened), T(idle_reasons),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
