/* SPDX-License-Identifier: MIT */
/*
 * Counting for real, on work that knows its own truth: this program writes a variable so many
 * times, and touches so many new pages. Needs a hardware breakpoint or two; skipped where there is
 * none.
 */
#include "kern/kern.h"

#include "work/breakpoints_fire.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { WRITES_A = 1000, WRITES_B = 300, PAGES = 64 };

static const struct kern here = { &sys_linux, { "/sys", "/proc", "/sys/kernel/tracing", NULL } };
static volatile uint64_t a, b;
static struct event events[3];
static char names[3][8] = { "a", "b", "faults" }, none[1];
static uint64_t counts[3];
static size_t cells;

static void take(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	(void)data;
	(void)cpu;
	(void)thread;
	assert_int_equal(reading->state, READING_OK);
	assert_int_equal(reading->enabled_ns, reading->running_ns);
	assert_true(reading->enabled_ns > 0);
	counts[index] += reading->value;
	cells++;
}

static struct event watch(size_t index, volatile uint64_t *address)
{
	return (struct event){
		.attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = (uintptr_t)address,
			.bp_len = HW_BREAKPOINT_LEN_8,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		},
		.name = names[index],
		.pmu_name = none,
		.unit = none,
		.n_members = 1,
	};
}

static struct event faults(size_t index)
{
	struct event event = watch(index, NULL);

	event.attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	return event;
}

static void work(void)
{
	char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	assert_true(pages != MAP_FAILED);
	madvise(pages, PAGES * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < WRITES_A; i++)
		a = i;
	for (size_t i = 0; i < WRITES_B; i++)
		b = i;
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)pages)[i * 4096] = 1;
	munmap(pages, PAGES * 4096);
}

static void count_work(size_t n, bool group)
{
	struct target_thread self = { .tid = getpid(), .pid = getpid() };
	struct target target = { .kind = TARGET_TASKS, .threads = &self, .n_threads = 1 };
	struct open_options options = { .inherit = true, .start_disabled = true };
	struct event_list list = { .v = events, .n = n };
	struct note_list notes = { 0 };
	struct str err = STR_INIT;
	struct counter_set set;

	memset(counts, 0, sizeof(counts));
	cells = 0;
	for (size_t i = 0; i < n; i++) {
		events[i].leader = group ? 0 : i;
		events[i].n_members = group && !i ? n : 1;
	}
	assert_int_equal(counters_open(&set, &list, &target, &options, &here, &notes, &err), 0);
	assert_int_equal(set.group_reads, group);
	work();
	assert_int_equal(counters_enable(&set), 0);
	work();
	work();
	assert_int_equal(counters_disable(&set), 0);
	work();
	counters_read(&set, take, NULL);
	counters_close(&set);
	note_list_release(&notes);
	str_release(&err);
	assert_int_equal(cells, n);
}

static void need_breakpoints(void)
{
	if (breakpoints_fire())
		return;
	printf("# skip: breakpoints can be opened here, and never count\n");
	skip();
}

static void breakpoints_count_writes(void **state)
{
	(void)state;
	events[0] = watch(0, &a);
	events[1] = watch(1, &b);
	if (event_try(&events[0], &here))
		skip();
	need_breakpoints();
	for (int group = 0; group < 2; group++) {
		count_work(2, group);
		assert_int_equal(counts[0], 2 * WRITES_A);
		assert_int_equal(counts[1], 2 * WRITES_B);
	}
}

static void page_faults_count_new_pages(void **state)
{
	(void)state;
	events[0] = faults(2);
	if (event_try(&events[0], &here) || sysconf(_SC_PAGESIZE) != 4096)
		skip();
	count_work(1, false);
	assert_int_equal(counts[0], 2 * PAGES);
}

static void groups_may_mix_kinds(void **state)
{
	(void)state;
	events[0] = watch(0, &a);
	events[1] = faults(2);
	events[2] = watch(1, &b);
	if (event_try(&events[0], &here) || sysconf(_SC_PAGESIZE) != 4096)
		skip();
	need_breakpoints();
	count_work(3, true);
	assert_int_equal(counts[0], 2 * WRITES_A);
	assert_int_equal(counts[1], 2 * PAGES);
	assert_int_equal(counts[2], 2 * WRITES_B);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(breakpoints_count_writes),
		cmocka_unit_test(page_faults_count_new_pages),
		cmocka_unit_test(groups_may_mix_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
