/* SPDX-License-Identifier: MIT */
/*
 * Counters read in user space, on a page that the test writes as the kernel does: between two loads of ours
 * it may change everything but then it changes the sequence number too.
 */
#include "count/user_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct {
	struct perf_event_mmap_page page;
	uint64_t pmc; /* what the register holds */
	uint64_t cycles;
	uint32_t number; /* asked for last */
	int asked;
	int disturb; /* so many readings of the register are disturbed by the kernel */
	void (*disturbance)(void);
} cpu;

static bool test_counter(uint32_t number, uint64_t *value)
{
	cpu.number = number;
	cpu.asked++;
	*value = cpu.pmc;
	if (cpu.disturb) {
		cpu.disturb--;
		cpu.disturbance();
	}
	return number != 77;
}

static uint64_t test_cycles(void)
{
	return cpu.cycles;
}

static const struct user_registers registers = { test_counter, test_cycles };

/* 48 bits, two cycles to a nanosecond; 1,000 ns after the kernel wrote the page. */
static int setup(void **state)
{
	(void)state;
	memset(&cpu, 0, sizeof(cpu));
	cpu.page.lock = 8;
	cpu.page.cap_user_rdpmc = 1;
	cpu.page.cap_user_time = 1;
	cpu.page.index = 4;
	cpu.page.offset = 500;
	cpu.page.pmc_width = 48;
	cpu.page.time_enabled = 70000;
	cpu.page.time_running = 30000;
	cpu.page.time_shift = 10;
	cpu.page.time_mult = 512;
	cpu.page.time_offset = (uint64_t)-4000;
	cpu.cycles = 10000;
	cpu.pmc = 23;
	return 0;
}

static struct user_value read_it(void)
{
	struct user_value value = { 1, 2, 3 };

	assert_true(user_read_page(&cpu.page, &registers, &value));
	return value;
}

/* And what was there before stays. */
static void refused(void)
{
	struct user_value value = { 1, 2, 3 };

	assert_false(user_read_page(&cpu.page, &registers, &value));
	assert_int_equal(value.value, 1);
	assert_int_equal(value.enabled_ns, 2);
	assert_int_equal(value.running_ns, 3);
}

static void value_and_times(void **state)
{
	struct user_value value = read_it();

	(void)state;
	assert_int_equal(value.value, 523);
	assert_int_equal(value.enabled_ns, 71000);
	assert_int_equal(value.running_ns, 31000);
	assert_int_equal(cpu.number, 3);
	assert_int_equal(cpu.asked, 1);
}

/* The kernel starts a register below 0: its highest bit is a sign, above it is nothing. */
static void sign(void **state)
{
	static const struct {
		uint16_t width;
		uint64_t offset, pmc, value;
	} cases[] = {
		{ 48, 500, 0xffffffffff9c, 400 },
		{ 48, 0x800000000000, 0x800000000000, 0 },
		{ 48, 0, 0x7fffffffffff, 0x7fffffffffff },
		{ 48, 500, 0xabcd000000000001, 501 }, /* what lies above the width is not its */
		{ 40, 100, 0xffffffffff, 99 },
		{ 32, 0x80000000, 0x80000005, 5 },
		{ 32, 0x80000000, 0x7fffffff, 0xffffffff },
		{ 64, 10, (uint64_t)-3, 7 },
		{ 64, 0, 1ull << 63, 1ull << 63 },
		{ 1, 10, 1, 9 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cpu.page.pmc_width = cases[i].width;
		cpu.page.offset = (int64_t)cases[i].offset;
		cpu.pmc = cases[i].pmc;
		assert_int_equal(read_it().value, cases[i].value);
	}
}

/* A clock of fewer bits has run over since. */
static void short_clock(void **state)
{
	(void)state;
	cpu.page.cap_user_time_short = 1;
	cpu.page.time_mask = 0xffff;
	cpu.page.time_cycles = 0x1fff0;
	cpu.cycles = 0x10;
	cpu.page.time_offset = (uint64_t)-(0x1fff0 / 2);
	assert_int_equal(read_it().enabled_ns, 70000 + 0x20 / 2);
	/* Where the page has the whole clock, these fields are not its. */
	cpu.page.cap_user_time_short = 0;
	cpu.page.time_offset = 0;
	assert_int_equal(read_it().enabled_ns, 70000 + 0x10 / 2);
}

/* 2^63 cycles at 3.7 GHz: the product of cycles and mult has no room in 64 bits. */
static void long_clock(void **state)
{
	(void)state;
	cpu.page.time_shift = 31;
	cpu.page.time_mult = 580400394;
	cpu.page.time_offset = 0;
	cpu.cycles = (1ull << 63) + 12345678901;
	assert_int_equal(read_it().running_ns,
			 30000 + (uint64_t)(((unsigned __int128)cpu.cycles * 580400394) >> 31));
}

/* ---- what the kernel does meanwhile ---- */

static void scheduled_out_and_in(void)
{
	cpu.page.lock += 2;
	cpu.page.index = 2;
	cpu.page.offset = 9000;
	cpu.page.pmc_width = 32;
	cpu.page.time_enabled = 170000;
	cpu.page.time_running = 130000;
	cpu.page.time_offset -= 100;
	cpu.pmc = 0xffffffff;
}

static void moved_once(void **state)
{
	struct user_value value;

	(void)state;
	cpu.disturbance = scheduled_out_and_in;
	cpu.disturb = 1;
	value = read_it();
	assert_int_equal(value.value, 8999);
	assert_int_equal(value.enabled_ns, 170900);
	assert_int_equal(value.running_ns, 130900);
	assert_int_equal(cpu.number, 1);
	assert_int_equal(cpu.asked, 2);
}

static void moved_to_no_counter(void)
{
	scheduled_out_and_in();
	cpu.page.index = 0;
}

static void lost_its_counter(void **state)
{
	(void)state;
	cpu.disturbance = moved_to_no_counter;
	cpu.disturb = 1;
	refused();
	assert_int_equal(cpu.asked, 1);
}

static void moves_all_the_time(void **state)
{
	(void)state;
	cpu.disturbance = scheduled_out_and_in;
	cpu.disturb = 1000000;
	refused();
	assert_in_range(cpu.asked, 2, 1000);
}

static void begins_to_write(void)
{
	cpu.page.lock++;
	cpu.page.offset = 123;
}

/* Half a change is none: the number is odd while the kernel writes. */
static void half_written(void **state)
{
	(void)state;
	cpu.disturbance = begins_to_write;
	cpu.disturb = 1;
	refused();
	setup(NULL);
	cpu.page.lock = 7;
	refused();
	/* Over the end of its 32 bits. */
	setup(NULL);
	cpu.page.lock = UINT32_MAX - 1;
	cpu.disturbance = scheduled_out_and_in;
	cpu.disturb = 1;
	assert_int_equal(read_it().value, 8999);
	assert_int_equal(cpu.page.lock, 0);
}

/* ---- pages that cannot be used ---- */

static void not_allowed(void **state)
{
	(void)state;
	cpu.page.cap_user_rdpmc = 0;
	refused();
	setup(NULL);
	cpu.page.cap_user_time = 0;
	refused();
	setup(NULL);
	cpu.page.index = 0;
	refused();
	assert_int_equal(cpu.asked, 0);
}

static void makes_no_sense(void **state)
{
	(void)state;
	cpu.page.pmc_width = 0;
	refused();
	cpu.page.pmc_width = 65;
	refused();
	cpu.page.pmc_width = 65535;
	refused();
	setup(NULL);
	cpu.page.time_shift = 64;
	refused();
	assert_int_equal(cpu.asked, 0);
	setup(NULL);
	cpu.page.index = 78;
	refused();
}

/* This machine's own registers are not touched where the page does not allow it. */
static void here(void **state)
{
	struct user_value value = { 1, 2, 3 };

	(void)state;
	cpu.page.cap_user_rdpmc = 0;
	assert_false(user_read_here(&cpu.page, &value));
	setup(NULL);
	cpu.page.index = 0;
	assert_false(user_read_here(&cpu.page, &value));
	assert_int_equal(value.value, 1);
}

/* ---- the pages of a handle ---- */

enum { FD_GOOD = 5, FD_REFUSED, FD_SOFTWARE };
static struct {
	int mapped, unmapped;
} maps;

static void *test_map(int fd, size_t bytes, bool writable, int *err)
{
	struct perf_event_mmap_page *page;

	assert_int_equal(bytes, sysconf(_SC_PAGESIZE));
	assert_false(writable);
	*err = fd == FD_REFUSED ? -EPERM : 0;
	if (*err)
		return NULL;
	page = calloc(1, bytes);
	assert_non_null(page);
	maps.mapped++;
	page->cap_user_rdpmc = fd == FD_GOOD;
	return page;
}

static void test_unmap(void *addr, size_t bytes)
{
	assert_int_equal(bytes, sysconf(_SC_PAGESIZE));
	maps.unmapped++;
	free(addr);
}

static const struct sys_ops ops = { .map = test_map, .unmap = test_unmap };

static void which_are_mapped(void **state)
{
	static const int fds[] = { -1, FD_REFUSED, FD_SOFTWARE, FD_GOOD };
	struct user_value value;
	struct user_pages pages;

	(void)state;
	memset(&maps, 0, sizeof(maps));
	assert_int_equal(user_pages_map(&pages, &ops, fds, 4), 0);
	for (size_t i = 0; i < 5; i++)
		assert_false(user_pages_read(&pages, i, &value));
	if (pages.n) {
		assert_null(pages.v[0]);
		assert_null(pages.v[1]);
		assert_null(pages.v[2]);
		assert_non_null(pages.v[3]);
		assert_int_equal(maps.unmapped, 1);
	}
	user_pages_unmap(&pages);
	user_pages_unmap(&pages);
	assert_int_equal(maps.mapped, maps.unmapped);
	assert_int_equal(user_pages_map(&pages, &ops, NULL, 0), 0);
	assert_false(user_pages_read(&pages, 0, &value));
	user_pages_unmap(&pages);
}

/* The kernel's page for a counter without a register, which any machine has. */
static void software(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = sys_linux.perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct user_value value;
	struct user_pages pages;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(user_pages_map(&pages, &sys_linux, &fd, 1), 0);
	assert_false(user_pages_read(&pages, 0, &value));
	user_pages_unmap(&pages);
	close(fd);
}

/* Another thread, and a child: `good` would be read there if nobody looked who asks. */
struct asked {
	const struct user_pages *pages;
	bool answer;
};

static void *ask(void *data)
{
	struct asked *asked = data;
	struct user_value value;

	asked->answer = user_pages_read(asked->pages, 0, &value);
	return NULL;
}

static void only_its_thread(void **state)
{
	int fd = FD_GOOD, status;
	struct user_pages pages;
	struct asked asked = { &pages, true };
	pthread_t thread;
	pid_t pid;

	(void)state;
	assert_int_equal(user_pages_map(&pages, &ops, &fd, 1), 0);
	if (!pages.n)
		skip();
	/* Reading it would end the test. */
	free(pages.v[0]);
	pages.v[0] = mmap(NULL, pages.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages.v[0], MAP_FAILED);
	assert_int_equal(pthread_create(&thread, NULL, ask, &asked), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(asked.answer);
	pid = fork();
	if (!pid) {
		ask(&asked);
		user_pages_unmap(&pages);
		_exit(asked.answer);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	munmap(pages.v[0], pages.page_bytes);
	pages.v[0] = NULL;
	user_pages_unmap(&pages);
}

static void config1(void **state)
{
	struct event event = { .attr.type = PERF_TYPE_SOFTWARE };
#ifdef __aarch64__
	uint64_t bits = 2;
#else
	uint64_t bits = 0;
#endif

	(void)state;
	assert_int_equal(user_read_config1(&event), 0);
	event.attr.type = PERF_TYPE_TRACEPOINT;
	assert_int_equal(user_read_config1(&event), 0);
	event.attr.type = 24;
	assert_int_equal(user_read_config1(&event), 0);
	event.pmu_is_core = true;
	assert_int_equal(user_read_config1(&event), bits);
	event = (struct event){ .attr.type = PERF_TYPE_RAW };
	assert_int_equal(user_read_config1(&event), bits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(value_and_times, setup),
		cmocka_unit_test_setup(sign, setup),
		cmocka_unit_test_setup(short_clock, setup),
		cmocka_unit_test_setup(long_clock, setup),
		cmocka_unit_test_setup(moved_once, setup),
		cmocka_unit_test_setup(lost_its_counter, setup),
		cmocka_unit_test_setup(moves_all_the_time, setup),
		cmocka_unit_test_setup(half_written, setup),
		cmocka_unit_test_setup(not_allowed, setup),
		cmocka_unit_test_setup(makes_no_sense, setup),
		cmocka_unit_test_setup(here, setup),
		cmocka_unit_test(which_are_mapped),
		cmocka_unit_test(software),
		cmocka_unit_test(only_its_thread),
		cmocka_unit_test(config1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
