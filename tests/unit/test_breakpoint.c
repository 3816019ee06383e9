/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints: the attr of each form of mem:, what is refused and where, and an exact count of the
 * writes to a variable, where the machine has debug registers.
 */
#include "fake_machine.h"
#include "source_case.h"

#include "work/breakpoints_fire.h"

#include <errno.h>
#include <sys/syscall.h>

static const struct host_paths nowhere = { "/nonexistent/sys", "/proc", "/nonexistent/tracing", NULL };

static void test_forms(void **state)
{
	(void)state;
	expect_events("mem:0", &nowhere, "mem:0 @ 5:0,0,4 bp=3\n");
	expect_events("mem:0x1000:r", &nowhere, "mem:0x1000:r @ 5:0,1000,4 bp=1\n");
	expect_events("mem:4096:w", &nowhere, "mem:4096:w @ 5:0,1000,4 bp=2\n");
	expect_events("mem:0:rw", &nowhere, "mem:0:rw @ 5:0,0,4 bp=3\n");
	expect_events("mem:0:wr:u", &nowhere, "mem:0:wr:u @ 5:0,0,4 bp=3\n");
	expect_events("mem:0xffffffffffffffff/1", &nowhere,
		      "mem:0xffffffffffffffff/1 @ 5:0,ffffffffffffffff,1 bp=3\n");
	expect_events("mem:0/2:w", &nowhere, "mem:0/2:w @ 5:0,0,2 bp=2\n");
	expect_events("mem:0/8:rw:kp", &nowhere, "mem:0/8:rw:kp @ 5:0,0,8 bp=3\n");
	expect_events("mem:0/4:rw/name=breakpoint/u", &nowhere, "breakpoint @ 5:0,0,4 bp=3\n");
}

/* The kernel wants the length of a long for execution, whatever that is here. */
static void test_execution(void **state)
{
	struct event_list list;
	struct str err = STR_INIT;
	char *own = xasprintf("mem:0x1000/%zu:x", sizeof(long));
	const char *specs[] = { "mem:0x1000:x", own };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		event_list_init(&list);
		assert_int_equal(event_list_parse(&list, specs[i], &nowhere, &err), 0);
		assert_int_equal(list.v[0].attr.bp_type, 4);
		assert_int_equal(list.v[0].attr.bp_len, sizeof(long));
		event_list_release(&list);
	}
	expect_error("mem:0x1000/2:x", &nowhere, -EINVAL, "the length of a long");
	str_release(&err);
	free(own);
}

static void test_refused(void **state)
{
	(void)state;
	expect_error("mem:0/3", &nowhere, -EINVAL,
		     "1, 2, 4 or 8 bytes, not 3\n"
		     "  mem:0/3\n"
		     "        ^");
	expect_error("mem:0/0", &nowhere, -EINVAL, "not 0");
	expect_error("mem:0/16:r", &nowhere, -EINVAL, "not 16");
	expect_error("mem:0/18446744073709551620", &nowhere, -EINVAL, "not a length");
	expect_error("mem:0:rr", &nowhere, -EINVAL,
		     "'r' stands here twice\n"
		     "  mem:0:rr\n"
		     "         ^");
	expect_error("mem:0:rx", &nowhere, -EINVAL, "either data (r, w) or execution (x)");
	expect_error("mem:0:q", &nowhere, -EINVAL, "'q'");
	expect_error("mem:main", &nowhere, -EINVAL, "'main' is not an address");
	expect_error("mem:0x", &nowhere, -EINVAL, "'0x' is not an address");
	expect_error("mem:12ab", &nowhere, -EINVAL, "'12ab' is not an address");
	expect_error("mem:0x10000000000000000", &nowhere, -EINVAL, "more than 64 bits");
	expect_error("mem:", &nowhere, -EINVAL, "mem:");
	expect_error("mem:0/4/nosuch=1/", &nowhere, -EINVAL, "unknown term 'nosuch'");
}

static volatile int watched;

static void test_counts_writes(void **state)
{
	enum { WRITES = 777 };
	struct event_list list;
	struct str err = STR_INIT;
	struct perf_event_attr attr;
	uint64_t count = 0;
	char *spec;
	int fd;

	(void)state;
	if (!breakpoints_fire())
		skip_because("%s", "breakpoints cannot be opened here, or never count");
	spec = xasprintf("mem:%p/4:w:u", (void *)(uintptr_t)&watched);
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, spec, &nowhere, &err), 0);
	attr = list.v[0].attr;
	attr.size = sizeof(attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(fd >= 0);
	for (int i = 0; i < WRITES; i++)
		watched = i;
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	close(fd);
	assert_int_equal(count, WRITES);
	event_list_release(&list);
	str_release(&err);
	free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_execution),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_counts_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
