/* SPDX-License-Identifier: MIT */
/*
 * Options -> attr fields: each row is an event text, the options of a recording, and every non-zero
 * attr field that must come out, per event. Compared with what perf 6.1 asks the kernel for: pstat
 * has IDENTIFIER, CPU and PERIOD on every event, and the times in read_format, always.
 */
#include "fake_machine.h"
#include "record/recording.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct kern kern;
static struct event_list events;
static struct note_list notes;
static struct str err = STR_INIT;

static int setup(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	kern = (struct kern){ &sys_linux, machine.host };
	fake_machine_tracepoint(&machine, "sched", "sched_switch", "372\n");
	fake_machine_file(&machine, "proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	fake_machine_file(&machine, "proc/sys/kernel/perf_event_max_stack", "127\n");
	event_list_init(&events);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	event_list_release(&events);
	note_list_release(&notes);
	str_release(&err);
	fake_machine_release(&machine);
	return 0;
}

/* As text without "size: 128, ", which follows the kernel headers. */
static char *attr_text(const struct event *event)
{
	struct data_event shown;
	struct str text = STR_INIT;
	char *size, *end;

	memset(&shown, 0, sizeof(shown));
	shown.attr = event->attr;
	shown.attr_size = sizeof(event->attr);
	attr_print(&shown, NULL, ": ", &text);
	size = strstr(text.s, "size: ");
	assert_non_null(size);
	end = strchr(size, ' ');
	end = strchr(end + 1, ' ');
	memmove(size, end + 1, strlen(end + 1) + 1);
	text.len = strlen(text.s);
	return str_detach(&text);
}

#define TASKS                                                                                  \
	"mmap: 1, comm: 1, freq: 1, task: 1, sample_id_all: 1, exclude_guest: 1, mmap2: 1, " \
	"comm_exec: 1, ksymbol: 1, bpf_event: 1"
#define TASKS_BY_PERIOD                                                               \
	"mmap: 1, comm: 1, task: 1, sample_id_all: 1, exclude_guest: 1, mmap2: 1, " \
	"comm_exec: 1, ksymbol: 1, bpf_event: 1"
#define READ "read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|LOST, "
#define READ_GROUP "read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP|LOST, "
#define FREQ(n) "{ sample_period, sample_freq }: " #n ", "
#define TYPE(fields) "sample_type: " fields "|IDENTIFIER, "
#define TYPE_AND(more) "sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER|" more ", "
#define FIXED TYPE("IP|TID|TIME|CPU")
#define USUAL TYPE("IP|TID|TIME|CPU|PERIOD")
#define CLOCK "type: 1 (PERF_TYPE_SOFTWARE), config: 0 (PERF_COUNT_SW_CPU_CLOCK), "
#define FAULTS "type: 1 (PERF_TYPE_SOFTWARE), config: 0x2 (PERF_COUNT_SW_PAGE_FAULTS), "
#define SWITCHES "type: 2 (PERF_TYPE_TRACEPOINT), config: 0x174, "
#define IS_DUMMY "type: 1 (PERF_TYPE_SOFTWARE), config: 0x9 (PERF_COUNT_SW_DUMMY), "
#define DUMMY                                                                                    \
	IS_DUMMY FREQ(1) USUAL READ "inherit: 1, mmap: 1, comm: 1, task: 1, " \
	"sample_id_all: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1"
#define DUMMY_CHAIN                                                                              \
	IS_DUMMY FREQ(1) TYPE("IP|TID|TIME|CALLCHAIN|CPU|PERIOD") READ            \
	"inherit: 1, mmap: 1, comm: 1, task: 1, sample_id_all: 1, mmap2: 1, comm_exec: 1, "       \
	"ksymbol: 1, bpf_event: 1"
#define QUIET "inherit: 1, freq: 1, sample_id_all: 1, exclude_guest: 1"
#define DWARF_TAIL(bytes)                                                                    \
	READ "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, mmap_data: 1, sample_id_all: 1, " \
	"exclude_guest: 1, exclude_callchain_user: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, " \
	"bpf_event: 1, sample_regs_user: " DWARF_REGS ", sample_stack_user: " #bytes
/* With frame pointers, what arm64 has in a register. */
#if defined(__x86_64__)
#define DWARF_REGS "0xff0fff"
#define FP_TYPE(fields) TYPE(fields)
#define FP_REGS ""
#else
#define DWARF_REGS "0x1ffffffff"
#define FP_TYPE(fields) TYPE(fields "|REGS_USER")
#define FP_REGS ", sample_regs_user: 0x40000000"
#endif
#define FP_USUAL FP_TYPE("IP|TID|TIME|CALLCHAIN|CPU|PERIOD")

static const struct row {
	const char *text;
	struct sampling options; /* .inherit is set by the test */
	enum target_kind target;
	const char *attrs[3];
} rows[] = {
	{ "cpu-clock", { 0 }, TARGET_COMMAND, { CLOCK FREQ(4000) USUAL READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .freq_hz = 99 }, TARGET_COMMAND,
	  { CLOCK FREQ(99) USUAL READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .freq_max = true }, TARGET_COMMAND,
	  { CLOCK FREQ(100000) USUAL READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .period = 1000 }, TARGET_COMMAND,
	  { CLOCK FREQ(1000) FIXED READ "inherit: 1, " TASKS_BY_PERIOD } },
	{ "cpu-clock", { .period = 1000, .period_field = true }, TARGET_COMMAND,
	  { CLOCK FREQ(1000) USUAL READ "inherit: 1, " TASKS_BY_PERIOD } },
	{ "cpu-clock", { .no_samples = true }, TARGET_COMMAND,
	  { CLOCK USUAL READ "inherit: 1, " TASKS_BY_PERIOD } },
	/* -i is the absence of inherit: see test_inherit. */
	{ "cpu-clock", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) FP_USUAL READ "inherit: 1, " TASKS FP_REGS } },
	{ "cpu-clock", { .callchain = CALLCHAIN_DWARF, .stacks_raw = true, .stack_dump_bytes = 4096 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CALLCHAIN|CPU|PERIOD|REGS_USER|STACK_USER")
	    DWARF_TAIL(4096) } },
	{ "cpu-clock",
	  { .callchain = CALLCHAIN_DWARF, .stacks_raw = true, .user_regs = 0x180, .stack_dump_bytes = 1001 },
	  TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CALLCHAIN|CPU|PERIOD|REGS_USER|STACK_USER")
	    DWARF_TAIL(1008) } },
	{ "cpu-clock/call-graph=dwarf,stack-size=1024/", { .callchain = CALLCHAIN_FP, .stacks_raw = true },
	  TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CALLCHAIN|CPU|PERIOD|REGS_USER|STACK_USER")
	    DWARF_TAIL(1024) } },
	/* What unwinds while it records has the maps of code, as all have. */
	{ "cpu-clock", { .callchain = CALLCHAIN_DWARF }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CALLCHAIN|CPU|PERIOD|REGS_USER|STACK_USER") READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, sample_id_all: 1, exclude_guest: 1, "
	    "exclude_callchain_user: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1, "
	    "sample_regs_user: " DWARF_REGS ", sample_stack_user: 8192" } },
	{ "cpu-clock", { .callchain = CALLCHAIN_LBR }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CALLCHAIN|CPU|PERIOD|BRANCH_STACK") READ
	    "inherit: 1, " TASKS ", branch_sample_type: USER|CALL_STACK|NO_FLAGS|NO_CYCLES|HW_INDEX" } },
	{ "cpu-clock", { .callchain = CALLCHAIN_FP, .max_stack = 5 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) FP_USUAL READ "inherit: 1, " TASKS FP_REGS ", sample_max_stack: 5" } },
	{ "cpu-clock/call-graph=no/,page-faults", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ "inherit: 1, " TASKS,
	    FAULTS FREQ(4000) FP_USUAL READ QUIET FP_REGS } },
	{ "cpu-clock/time=0/,page-faults", { 0 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|CPU|PERIOD") READ "inherit: 1, " TASKS,
	    FAULTS FREQ(4000) USUAL READ QUIET } },
	{ "cpu-clock", { .addr = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|ADDR|CPU|PERIOD|DATA_SRC") READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, mmap_data: 1, sample_id_all: 1, "
	    "exclude_guest: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1" } },
	{ "cpu-clock", { .weight = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE_AND("WEIGHT_STRUCT") READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .phys_addr = true, .data_page_size = true, .code_page_size = true },
	  TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE_AND("PHYS_ADDR|DATA_PAGE_SIZE|CODE_PAGE_SIZE")
	    READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .time_off = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|CPU|PERIOD") READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .transaction = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE_AND("TRANSACTION") READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .callchain = CALLCHAIN_FP, .user_chains = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) FP_USUAL READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, sample_id_all: 1, exclude_guest: 1, "
	    "exclude_callchain_kernel: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1" FP_REGS } },
	{ "cpu-clock", { .callchain = CALLCHAIN_FP, .kernel_chains = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) FP_USUAL READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, sample_id_all: 1, exclude_guest: 1, "
	    "exclude_callchain_user: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1" FP_REGS } },
	{ "cpu-clock", { .raw = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CPU|PERIOD|RAW") READ "inherit: 1, " TASKS } },
	{ "cpu-clock", { .inherit_stat = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, inherit_stat: 1, task: 1, sample_id_all: 1, "
	    "exclude_guest: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1" } },
	{ "cpu-clock", { .branch_filter = PERF_SAMPLE_BRANCH_ANY }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CPU|PERIOD|BRANCH_STACK") READ "inherit: 1, " TASKS
	    ", branch_sample_type: ANY" } },
	{ "cpu-clock/branch_type=u/", { .branch_filter = PERF_SAMPLE_BRANCH_COND }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CPU|PERIOD|BRANCH_STACK") READ "inherit: 1, " TASKS
	    ", branch_sample_type: USER|ANY" } },
	{ "cpu-clock", { .user_regs = 0x180 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE("IP|TID|TIME|CPU|PERIOD|REGS_USER") READ "inherit: 1, " TASKS
	    ", sample_regs_user: 0x180" } },
	{ "cpu-clock", { .intr_regs = 0x180 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE_AND("REGS_INTR") READ "inherit: 1, " TASKS
	    ", sample_regs_intr: 0x180" } },
	{ "cpu-clock", { .namespaces = true, .switch_events = true, .all_cgroups = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) TYPE_AND("CGROUP") READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, sample_id_all: 1, exclude_guest: 1, "
	    "mmap2: 1, comm_exec: 1, context_switch: 1, namespaces: 1, ksymbol: 1, bpf_event: 1, "
	    "cgroup: 1" } },
	{ "cpu-clock", { .build_id = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, sample_id_all: 1, "
	    "exclude_guest: 1, mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1, build_id: 1" } },
	{ "cpu-clock", { .has_clockid = true, .clockid = 1 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ
	    "inherit: 1, mmap: 1, comm: 1, freq: 1, task: 1, sample_id_all: 1, exclude_guest: 1, "
	    "mmap2: 1, comm_exec: 1, use_clockid: 1, ksymbol: 1, bpf_event: 1, clockid: 1" } },
	{ "cpu-clock", { .overwrite = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ
	    "inherit: 1, freq: 1, sample_id_all: 1, exclude_guest: 1, write_backward: 1", DUMMY } },
	{ "cpu-clock", { .all_user = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ "inherit: 1, exclude_kernel: 1, " TASKS } },
	{ "cpu-clock", { .all_kernel = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ "inherit: 1, exclude_user: 1, " TASKS } },
	{ "cpu-clock", { 0 }, TARGET_CPUS, { CLOCK FREQ(4000) USUAL READ QUIET, DUMMY } },
	/* All others have callchains, so it says that it has them. */
	{ "cpu-clock", { .callchain = CALLCHAIN_FP }, TARGET_CPUS,
	  { CLOCK FREQ(4000) FP_USUAL READ QUIET FP_REGS, DUMMY_CHAIN } },
	{ "cpu-clock,page-faults/call-graph=no/", { .callchain = CALLCHAIN_FP }, TARGET_CPUS,
	  { CLOCK FREQ(4000) FP_USUAL READ QUIET FP_REGS, FAULTS FREQ(4000) USUAL READ QUIET, DUMMY } },
	{ "cpu-clock", { .starts_late = true }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ QUIET, DUMMY } },
	{ "cpu-clock:D", { 0 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ "inherit: 1, pinned: 1, freq: 1, sample_id_all: 1", DUMMY } },
	{ "cpu-clock/inherit=0/,page-faults", { 0 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ "freq: 1, sample_id_all: 1, exclude_guest: 1",
	    FAULTS FREQ(4000) USUAL READ QUIET, DUMMY } },
	{ "cpu-clock,page-faults", { 0 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ "inherit: 1, " TASKS, FAULTS FREQ(4000) USUAL READ QUIET } },
	{ "{cpu-clock,page-faults}", { 0 }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) USUAL READ "inherit: 1, " TASKS, FAULTS FREQ(4000) USUAL READ QUIET } },
	{ "{cpu-clock,page-faults}:S", { .freq_hz = 10 }, TARGET_COMMAND,
	  { CLOCK FREQ(10) TYPE("IP|TID|TIME|READ|CPU|PERIOD") READ_GROUP TASKS,
	    FAULTS TYPE("IP|TID|TIME|READ|CPU|PERIOD") READ_GROUP
	    "sample_id_all: 1, exclude_guest: 1" } },
	{ "{cpu-clock,sched:sched_switch}:S", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND,
	  { CLOCK FREQ(4000) FP_TYPE("IP|TID|TIME|READ|CALLCHAIN|CPU|PERIOD") READ_GROUP TASKS FP_REGS,
	    SWITCHES FP_TYPE("IP|TID|TIME|READ|CALLCHAIN|CPU|PERIOD") READ_GROUP
	    "sample_id_all: 1, exclude_guest: 1" FP_REGS } },
	{ "sched:sched_switch", { 0 }, TARGET_COMMAND,
	  { SWITCHES FREQ(1) TYPE("IP|TID|TIME|CPU|PERIOD|RAW") READ "inherit: 1, " TASKS_BY_PERIOD } },
	{ "sched:sched_switch", { .period = 7 }, TARGET_COMMAND,
	  { SWITCHES FREQ(7) TYPE("IP|TID|TIME|CPU|RAW") READ "inherit: 1, " TASKS_BY_PERIOD } },
	{ "sched:sched_switch", { .freq_hz = 100 }, TARGET_COMMAND,
	  { SWITCHES FREQ(100) TYPE("IP|TID|TIME|CPU|PERIOD|RAW") READ "inherit: 1, " TASKS } },
	{ "mem:0x1000:w", { 0 }, TARGET_COMMAND,
	  { "type: 5 (PERF_TYPE_BREAKPOINT), config: 0, " FREQ(1) USUAL READ "inherit: 1, " TASKS_BY_PERIOD
	    ", bp_type: 2, { bp_addr, config1 }: 0x1000, { bp_len, config2 }: 0x4" } },
	{ "cpu-clock/freq=77/,page-faults/period=5/", { .period = 9 }, TARGET_COMMAND,
	  { CLOCK FREQ(77) USUAL READ "inherit: 1, " TASKS,
	    FAULTS FREQ(5) FIXED READ "inherit: 1, sample_id_all: 1, exclude_guest: 1" } },
};

static int apply(const char *text, struct sampling options, enum target_kind kind)
{
	struct target target = { .kind = kind, .by_process = true };

	event_list_release(&events);
	note_list_release(&notes);
	str_reset(&err);
	assert_int_equal(event_list_parse(&events, text, &kern.host, &err), 0);
	return sampling_apply(&options, &target, &events, &kern, &notes, &err);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct sampling options = row->options;
		size_t n = 0;

		options.inherit = true;
		assert_int_equal(apply(row->text, options, row->target), 0);
		while (n < ARRAY_SIZE(row->attrs) && row->attrs[n])
			n++;
		if (events.n != n)
			fail_msg("row %zu, %s: %zu events", i, row->text, events.n);
		for (size_t k = 0; k < n; k++) {
			char *text = attr_text(&events.v[k]);

			if (strcmp(text, row->attrs[k]))
				fail_msg("row %zu, %s:\n  is       %s\n  expected %s", i, row->text,
					 text, row->attrs[k]);
			free(text);
		}
	}
}

/* Who asks for user callchains that come later, and who is told them: "c" and "o" of each event. */
static void test_deferred_chains(void **state)
{
	static const struct {
		const char *text;
		struct sampling options;
		enum target_kind target;
		const char *asks;
	} cases[] = {
		{ "cpu-clock", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND, "co " },
		{ "cpu-clock,page-faults", { .callchain = CALLCHAIN_FP }, TARGET_TASKS, "co c " },
		{ "cpu-clock,page-faults", { .callchain = CALLCHAIN_FP }, TARGET_CPUS, "c c o " },
		{ "cpu-clock", { .callchain = CALLCHAIN_FP, .starts_late = true }, TARGET_TASKS, "c o " },
		{ "cpu-clock/inherit=0/,page-faults", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND, "c c o " },
		{ "cpu-clock/call-graph=no/,page-faults", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND, "o c " },
		{ "cpu-clock,page-faults/call-graph=fp/", { 0 }, TARGET_COMMAND, "o c " },
		{ "cpu-clock", { 0 }, TARGET_COMMAND, " " },
		{ "cpu-clock", { .callchain = CALLCHAIN_DWARF }, TARGET_COMMAND, " " },
		{ "cpu-clock", { .callchain = CALLCHAIN_LBR }, TARGET_COMMAND, " " },
		{ "cpu-clock", { .callchain = CALLCHAIN_FP, .max_stack = 5 }, TARGET_COMMAND, " " },
		{ "cpu-clock", { .callchain = CALLCHAIN_FP, .no_samples = true }, TARGET_COMMAND, " " },
		{ "cpu-clock", { .callchain = CALLCHAIN_FP, .time_off = true }, TARGET_CPUS, "  " },
		{ "cpu-clock/time=0/,page-faults", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND, "  " },
		{ "cpu-clock,page-faults/time=0/", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND, "co  " },
		{ "cpu-clock", { .callchain = CALLCHAIN_FP, .overwrite = true }, TARGET_COMMAND, "  " },
		{ "{cpu-clock,page-faults}:S", { .callchain = CALLCHAIN_FP }, TARGET_COMMAND, "co  " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sampling options = cases[i].options;
		struct str asks = STR_INIT;

		options.inherit = options.defer_chains = true;
		assert_int_equal(apply(cases[i].text, options, cases[i].target), 0);
		for (size_t k = 0; k < events.n; k++) {
			unsigned bits = attr_defer(&events.v[k].attr);

			str_addf(&asks, "%s%s ", bits & DEFER_CALLCHAIN ? "c" : "", bits & DEFER_OUTPUT ? "o" : "");
		}
		if (strcmp(asks.s, cases[i].asks))
			fail_msg("case %zu, %s: '%s' instead of '%s'", i, cases[i].text, asks.s, cases[i].asks);
		str_release(&asks);
	}
	/* As the names in the file say it. */
	assert_int_equal(apply("cpu-clock", (struct sampling){ .callchain = CALLCHAIN_FP, .defer_chains = true },
			       TARGET_COMMAND), 0);
	char *text = attr_text(&events.v[0]);

	assert_non_null(strstr(text, ", defer_callchain: 1, defer_output: 1"));
	free(text);
}

static void test_inherit(void **state)
{
	struct sampling s = { .inherit = true };
	struct target threads = { .kind = TARGET_TASKS, .by_process = false };

	(void)state;
	assert_int_equal(apply("cpu-clock", (struct sampling){ 0 }, TARGET_COMMAND), 0);
	assert_false(events.v[0].attr.inherit);
	/* -t: these threads only, and kern hears of it by the term. */
	event_list_release(&events);
	assert_int_equal(event_list_parse(&events, "cpu-clock", &kern.host, &err), 0);
	assert_int_equal(sampling_apply(&s, &threads, &events, &kern, &notes, &err), 0);
	assert_false(events.v[0].attr.inherit);
	assert_int_equal(events.v[0].terms.inherit, TERM_OFF);
	/* A :S group cannot inherit; that is said where it loses something. */
	assert_int_equal(apply("{cpu-clock,page-faults}:S", s, TARGET_COMMAND), 0);
	assert_int_equal(events.v[1].terms.inherit, TERM_OFF);
	assert_int_equal(notes.n, 1);
	assert_int_equal(apply("{cpu-clock,page-faults}:S", s, TARGET_CPUS), 0);
	assert_int_equal(notes.n, 0);
	assert_true(events.v[2].tracking);
	assert_false(events.v[2].attr.exclude_guest);
	/* The group's first event sees no children, the third event does. */
	assert_int_equal(apply("{cpu-clock,page-faults}:S,faults", s, TARGET_COMMAND), 0);
	assert_int_equal(events.n, 4);
	assert_true(events.v[3].tracking);
}

static void test_limits(void **state)
{
	(void)state;
	assert_int_equal(apply("cpu-clock", (struct sampling){ .freq_hz = 100001 }, TARGET_COMMAND), 0);
	assert_int_equal(events.v[0].attr.sample_freq, 100000);
	assert_int_equal(notes.n, 1);
	assert_string_equal(notes.v[0].text, "-F: 100001 Hz lowered to 100000, the limit "
					     "kernel.perf_event_max_sample_rate");
	assert_string_equal(notes.v[0].remedy, "sysctl kernel.perf_event_max_sample_rate=100001");
	assert_int_equal(apply("cpu-clock", (struct sampling){ .freq_hz = 100001, .strict_freq = true },
			       TARGET_COMMAND), -EINVAL);
	assert_string_equal(err.s, "-F: 100001 Hz is over the limit of 100000, "
				   "kernel.perf_event_max_sample_rate");
	assert_int_equal(apply("cpu-clock", (struct sampling){ .freq_hz = 100000, .strict_freq = true },
			       TARGET_COMMAND), 0);
	assert_int_equal(apply("cpu-clock/freq=200000/", (struct sampling){ 0 }, TARGET_COMMAND), 0);
	assert_int_equal(events.v[0].attr.sample_freq, 100000);
	assert_int_equal(notes.n, 1);
	/* The kernel lowered its limit below the default. */
	fake_machine_file(&machine, "proc/sys/kernel/perf_event_max_sample_rate", "1000\n");
	assert_int_equal(apply("cpu-clock", (struct sampling){ .strict_freq = true }, TARGET_COMMAND), 0);
	assert_int_equal(events.v[0].attr.sample_freq, 1000);
	assert_int_equal(notes.n, 1);
	assert_int_equal(apply("cpu-clock", (struct sampling){ .period = 5 }, TARGET_COMMAND), 0);
	assert_int_equal(notes.n, 0);
	assert_int_equal(apply("cpu-clock", (struct sampling){ .callchain = CALLCHAIN_FP,
							       .max_stack = 200, .period = 5 },
			       TARGET_COMMAND), 0);
	assert_int_equal(events.v[0].attr.sample_max_stack, 127);
	assert_int_equal(notes.n, 1);
}

/* A machine that has these PMUs; others of a like name are no such PMUs. */
static void test_aux_pmus(void **state)
{
	static const char *const pmus[] = { "intel_pt", "intel_bts", "cs_etm", "arm_spe_0", "arm_spe_12",
					    "hisi_ptt0_2" };
	static const char *const others[] = { "intel_ptx", "arm_speed_0" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pmus); i++) {
		char *text = xasprintf("%s//", pmus[i]);
		char *why = xasprintf("%s//: it needs AUX buffers, which pstat does not record", pmus[i]);

		fake_machine_pmu(&machine, pmus[i], "type", "8\n");
		assert_int_equal(apply(text, (struct sampling){ 0 }, TARGET_COMMAND), -EINVAL);
		assert_string_equal(err.s, why);
		free(text);
		free(why);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		char *text = xasprintf("%s//", others[i]);

		fake_machine_pmu(&machine, others[i], "type", "9\n");
		assert_int_equal(apply(text, (struct sampling){ 0 }, TARGET_COMMAND), 0);
		free(text);
	}
	/* Behind others, too, and by their terms. */
	assert_int_equal(apply("cpu-clock,intel_pt//", (struct sampling){ 0 }, TARGET_COMMAND), -EINVAL);
	assert_int_equal(apply("cpu-clock/aux-sample-size=16/", (struct sampling){ 0 }, TARGET_COMMAND),
			 -EINVAL);
	assert_int_equal(apply("cpu-clock/aux-output/", (struct sampling){ 0 }, TARGET_COMMAND), -EINVAL);
	assert_int_equal(apply("cpu-clock/aux-output=0/", (struct sampling){ 0 }, TARGET_COMMAND), 0);
}

/* The n-th event of a group is bit n: the one with the ratio is reloaded by both, that before it by the other. */
static void test_counters_that_reload(void **state)
{
	static const struct {
		const char *text, *why; /* why: NULL: it is taken */
	} cases[] = {
		{ "{cycles/period=1000/,instructions/ratio-to-prev=0.5/}", NULL },
		{ "{faults,cycles/period=1000/,instructions/ratio-to-prev=0.5/}", NULL },
		{ "instructions/ratio-to-prev=0.5/",
		  "instructions/ratio-to-prev=0.5/: ratio-to-prev: no event is before it in a group" },
		{ "{instructions/ratio-to-prev=2/,cycles}",
		  "instructions/ratio-to-prev=2/: ratio-to-prev: no event is before it in a group" },
		{ "{cycles,instructions/ratio-to-prev=2/}",
		  "instructions/ratio-to-prev=2/: ratio-to-prev: cycles has no period\n"
		  "give one with -c or the term period=" },
		{ "{faults/period=9/,cycles/ratio-to-prev=2/}",
		  "cycles/ratio-to-prev=2/: ratio-to-prev: it and faults/period=9/ are not counted by one core unit" },
		{ "{cycles/period=9/,faults/ratio-to-prev=2/}",
		  "faults/ratio-to-prev=2/: ratio-to-prev: it and cycles/period=9/ are not counted by one core unit" },
		{ "{cycles/period=9/,instructions/ratio-to-prev=2/,branches/ratio-to-prev=2/}",
		  "branches/ratio-to-prev=2/: ratio-to-prev: config2 of it or of instructions/ratio-to-prev=2/ has "
		  "another use" },
		{ "{cycles/period=9/,instructions/ratio-to-prev=0.1/}",
		  "instructions/ratio-to-prev=0.1/: ratio-to-prev: the period of cycles/period=9/ times 0.1 is less "
		  "than 1" },
	};

	(void)state;
	assert_int_equal(apply(cases[0].text, (struct sampling){ 0 }, TARGET_COMMAND), -ENOTSUP);
	assert_string_equal(err.s, "instructions/ratio-to-prev=0.5/: ratio-to-prev: the unit cpu does not reload "
			    "counters: sysfs has no acr_mask of it");
	fake_machine_pmu(&machine, "cpu", "type", "4\n");
	fake_machine_pmu(&machine, "cpu", "format/acr_mask", "config2:0-63\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int rc = apply(cases[i].text, (struct sampling){ 0 }, TARGET_COMMAND);
		const struct event *last = &events.v[i ? 2 : 1];

		assert_string_equal(cases[i].why ? cases[i].why : "", err.len ? err.s : "");
		assert_int_equal(rc, cases[i].why ? -EINVAL : 0);
		if (rc)
			continue;
		assert_int_equal(last->attr.sample_period, 500);
		assert_int_equal(last->attr.freq, 0);
		assert_int_equal(last->attr.config2, 3u << i);
		assert_int_equal(last[-1].attr.config2, 2u << i);
		assert_int_equal(last[-1].attr.sample_period, 1000);
	}
	assert_int_equal(apply("{cycles,instructions/ratio-to-prev=0.5/}", (struct sampling){ .period = 8 },
			       TARGET_CPUS), 0);
	assert_int_equal(events.v[1].attr.sample_period, 4);
}

static void test_clashes(void **state)
{
	static const struct {
		struct sampling options;
		const char *begin;
	} cases[] = {
		{ { .period = 1, .freq_hz = 1 }, "-c and -F: " },
		{ { .period = 1, .freq_max = true }, "-c and -F: " },
		{ { .all_user = true, .all_kernel = true }, "--all-user and --all-kernel: " },
		{ { .callchain = CALLCHAIN_LBR, .branch_filter = 1 }, "--call-graph lbr with -b" },
		{ { .callchain = CALLCHAIN_DWARF, .stack_dump_bytes = 65529 }, "--call-graph dwarf: " },
		{ { .user_chains = true, .kernel_chains = true }, "--user-callchains and --kernel-callchains" },
		{ { .kernel_chains = true, .callchain = CALLCHAIN_DWARF }, "--kernel-callchains with --call-graph" },
		{ { .overwrite = true, .time_off = true }, "--overwrite with --no-timestamp" },
		{ { .exclude_perf = true }, "--exclude-perf: none of the events" },
		{ { .off_cpu = true, .overwrite = true }, "--off-cpu with --overwrite" },
		{ { .off_cpu = true, .time_off = true }, "--off-cpu with --no-timestamp" },
		{ { .off_cpu = true, .no_samples = true }, "--off-cpu with --no-samples" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(apply("cpu-clock", cases[i].options, TARGET_COMMAND), -EINVAL);
		if (strncmp(err.s, cases[i].begin, strlen(cases[i].begin)))
			fail_msg("%s", err.s);
	}
	assert_int_equal(apply("cpu-clock/call-graph=lbr/", (struct sampling){ .branch_filter = 1 },
			       TARGET_COMMAND), -EINVAL);
}

/* The event of the waits samples each switch, with its own SWITCH records; what tasks do, another one says. */
static void test_off_cpu(void **state)
{
	const struct sampling options = { .off_cpu = true, .inherit = true, .freq_hz = 99, .all_user = true,
					  .defer_chains = true, .addr = true };
	struct target target = { .kind = TARGET_COMMAND };
	const struct perf_event_attr *attr;

	(void)state;
	assert_int_equal(sampling_apply(&options, &target, &events, &kern, &notes, &err), 0);
	assert_int_equal(events.n, 2);
	assert_true(events.v[0].off_cpu && !events.v[1].off_cpu && events.v[1].tracking);
	assert_string_equal(events.v[0].name, "offcpu-time");
	attr = &events.v[0].attr;
	assert_int_equal(attr->config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	assert_int_equal(attr->freq, 0);
	assert_int_equal(attr->sample_period, 1);
	assert_int_equal(attr->context_switch, 1);
	assert_int_equal(attr->exclude_kernel, 0);
	assert_int_equal(attr->exclude_callchain_kernel, 1);
	assert_int_equal(attr->sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ADDR), PERF_SAMPLE_CALLCHAIN);
	assert_int_equal(attr_defer(attr), 0);
	assert_int_equal(attr->mmap, 0);
	assert_int_equal(events.v[1].attr.context_switch, 0);
}

static void test_tool_events(void **state)
{
	(void)state;
	assert_int_equal(apply("duration_time,{user_time,cpu-clock,page-faults}:S,system_time,faults",
			       (struct sampling){ 0 }, TARGET_COMMAND), 0);
	assert_int_equal(events.n, 3);
	assert_string_equal(events.v[0].name, "cpu-clock");
	assert_int_equal(events.v[0].leader, 0);
	assert_int_equal(events.v[0].n_members, 2);
	assert_int_equal(events.v[1].leader, 0);
	assert_int_equal(events.v[2].leader, 2);
	assert_int_equal(events.v[1].attr.sample_period, 0);
	assert_int_equal(notes.n, 1);
	assert_string_equal(notes.v[0].text, "duration_time, user_time, system_time: left out: it "
					     "can be counted, not sampled");
	assert_int_equal(apply("duration_time", (struct sampling){ 0 }, TARGET_COMMAND), -EINVAL);
	assert_string_equal(err.s, "duration_time: no event to sample");
}

static void *wait_for_end(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

/* All threads there are; nothing is open here that could take the filters. */
static void test_exclude_perf(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char *own = xasprintf("common_pid != %d", (int)getpid());
	struct counter_set none = { 0 };
	pthread_t other;

	(void)state;
	assert_int_equal(apply("cpu-clock,sched:sched_switch", (struct sampling){ .exclude_perf = true },
			       TARGET_CPUS), 0);
	assert_int_equal(leave_pstat_out(&events, &none, &err), 0);
	assert_null(events.v[0].filter);
	assert_string_equal(events.v[1].filter, own);
	event_list_release(&events);
	assert_int_equal(event_list_parse(&events, "sched:sched_switch", &kern.host, &err), 0);
	assert_int_equal(event_list_set_filter(&events, "prev_pid == 1", &err), 0);
	pthread_mutex_lock(&lock);
	assert_int_equal(pthread_create(&other, NULL, wait_for_end, &lock), 0);
	assert_int_equal(leave_pstat_out(&events, &none, &err), 0);
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
	assert_non_null(strstr(events.v[0].filter, "(prev_pid == 1) && (common_pid != "));
	assert_non_null(strstr(events.v[0].filter, own));
	assert_non_null(strstr(strstr(events.v[0].filter, "common_pid") + 1, " && common_pid != "));
	free(own);
}

static void test_words(void **state)
{
	uint64_t bits;

	(void)state;
	assert_int_equal(branch_filter_parse("any_call,u", &bits, &err), 0);
	assert_int_equal(bits, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
	assert_int_equal(branch_filter_parse("k,hv", &bits, &err), 0);
	assert_int_equal(bits, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL |
			       PERF_SAMPLE_BRANCH_HV);
	assert_int_equal(branch_filter_parse("any,,u", &bits, &err), -EINVAL);
	str_reset(&err);
	assert_int_equal(branch_filter_parse("any_cal", &bits, &err), -EINVAL);
	assert_string_equal(err.s, "branch filter 'any_cal': there is no kind of branch with this name\n"
				   "did you mean 'any_call'?");
	str_reset(&err);
	assert_int_equal(sample_regs_parse("", &bits, &err), -EINVAL);
	assert_int_equal(sample_regs_parse("sp,\033[2J", &bits, &err), -EINVAL);
	assert_null(strchr(err.s, '\033'));
	bits = 0;
	assert_int_equal(sample_regs_parse(NULL, &bits, &err), dwarf_regs ? 0 : -ENOTSUP);
	assert_true(bits == dwarf_regs);
	assert_int_equal(sample_regs_parse("sp,SP", &bits, &err), 0);
	assert_int_equal(__builtin_popcountll(bits), 1);
}

/* As much as 50 ms of it fit into a ring. */
static void test_dump_bytes(void **state)
{
	(void)state;
	assert_int_equal(stack_dump_for(2 << 20, 1000), 32768);
	assert_int_equal(stack_dump_for(2 << 20, 1260), 32768);
	assert_int_equal(stack_dump_for(2 << 20, 1261), 16384);
	assert_int_equal(stack_dump_for(2 << 20, 2480), 16384);
	assert_int_equal(stack_dump_for(2 << 20, 2481), 8192);
	assert_int_equal(stack_dump_for(2 << 20, 100000), 8192);
	assert_int_equal(stack_dump_for(64 << 10, 99), 8192);
	assert_int_equal(stack_dump_for(UINT64_MAX, 0), 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump_bytes),
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deferred_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inherit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clashes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_aux_pmus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters_that_reload, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tool_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exclude_perf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_words, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
