/* SPDX-License-Identifier: MIT */
/*
 * libpfm4 names: codes of PMUs that this machine need not have, attributes, the syntax of
 * --pfm-events, near misses, and that the library's environment variable does not stay behind.
 */
#include "fake_machine.h"
#include "source_case.h"

#include <errno.h>

static struct host_paths host = { "/sys", "/proc", "/sys/kernel/tracing", NULL };

static bool usable(void)
{
	struct event_list list;
	struct str err = STR_INIT;
	bool ok;

	event_list_init(&list);
	ok = event_list_parse(&list, "perf::PERF_COUNT_SW_CONTEXT_SWITCHES", &host, &err) == 0;
	if (!ok)
		printf("# skip: %.*s\n", (int)strcspn(err.s, "\n"), err.s);
	fflush(stdout);
	event_list_release(&list);
	str_release(&err);
	return ok;
}

#define need_libpfm()           \
	do {                    \
		if (!usable())  \
			skip(); \
	} while (0)

/* The tables of Intel's and AMD's PMUs are in x86 builds of the library, Arm's in arm builds. */
#if defined(__x86_64__)
#define PMU "skl"
#define EVENT "INST_RETIRED"
#define NEAR_EVENT "INST_RETIRD"
#define EVENT_CONFIG "c0"
#else
#define PMU "arm_ac57"
#define EVENT "CPU_CYCLES"
#define NEAR_EVENT "CPU_CYCLE"
#define EVENT_CONFIG "8000011"
#endif

static void test_generic_pmu(void **state)
{
	(void)state;
	need_libpfm();
	expect_events("perf::PERF_COUNT_SW_CONTEXT_SWITCHES", &host,
		      "perf::PERF_COUNT_SW_CONTEXT_SWITCHES @ 1:3\n");
	expect_events("{perf::PERF_COUNT_SW_CONTEXT_SWITCHES,faults}", &host,
		      "perf::PERF_COUNT_SW_CONTEXT_SWITCHES @ 1:3\nfaults @ 1:2\n");
}

static void test_attributes(void **state)
{
	struct event_list list;
	struct str err = STR_INIT;
	const struct event *event;

	(void)state;
	need_libpfm();
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, "perf::PERF_COUNT_SW_PAGE_FAULTS:u,"
						 "perf::PERF_COUNT_SW_PAGE_FAULTS,"
						 "perf::PERF_COUNT_SW_PAGE_FAULTS:period=1000",
					  &host, &err), 0);
	event = &list.v[0];
	assert_true(event->user_excludes && event->attr.exclude_kernel &&
		    !event->attr.exclude_user);
	assert_true(event->attr.exclude_guest && !event->user_guest);
	event = &list.v[1];
	assert_false(event->user_excludes || event->attr.exclude_kernel || event->attr.exclude_hv);
	event = &list.v[2];
	assert_true(event->terms.has_period && event->attr.sample_period == 1000);
	event_list_release(&list);
	str_release(&err);
}

/* The list without a named PMU is that of this machine's. */
static bool pmu_is_here(void)
{
	struct str out = STR_INIT, err = STR_INIT;
	bool found;

	event_walk("pfm", NULL, &host, list_source_row, &out, &err);
	found = strstr(out.s, PMU "::") != NULL;
	str_release(&out);
	str_release(&err);
	return found;
}

/* The code of a PMU that is not here must not be counted by the one that is. */
static void test_pmu_of_another_machine(void **state)
{
	struct event_list list;
	struct str err = STR_INIT, config = STR_INIT;
	const struct perf_event_attr *attr;

	(void)state;
	need_libpfm();
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, PMU "::" EVENT, &host, &err), 0);
	attr = &list.v[0].attr;
	str_addf(&config, "%llx", (unsigned long long)attr->config & 0xfffffff);
	assert_string_equal(config.s, EVENT_CONFIG);
	if (!pmu_is_here()) {
		assert_true(attr->type == EVENT_TYPE_ABSENT);
		assert_string_equal(list.v[0].pmu_name, PMU);
	}
	event_list_release(&list);
	str_release(&err);
	str_release(&config);
}

static void test_unknown_names(void **state)
{
	(void)state;
	need_libpfm();
	expect_error("prf::PERF_COUNT_SW_PAGE_FAULTS", &host, -ENOENT, "did you mean 'perf::'?");
	expect_error("nosuchunit::X", &host, -ENOENT, "libpfm4 knows no unit 'nosuchunit'");
	expect_error(PMU "::" NEAR_EVENT, &host, -ENOENT, "did you mean '" EVENT "'?");
	expect_error("perf::PERF_COUNT_SW_PAGE_FAULTS:nosuch", &host, -EINVAL, "libpfm4: ");
	expect_error("faults,perf::X", &host, -ENOENT,
		     "  faults,perf::X\n"
		     "               ^");
}

/* ---- --pfm-events ---- */

static void expect_list(const char *names, int expected, const char *text)
{
	struct event_list list;
	struct str out = STR_INIT;
	int code;

	event_list_init(&list);
	code = event_list_parse_pfm(&list, names, &host, &out);
	for (size_t i = 0; i < list.n; i++)
		str_addf(&out, "%s/%zu.%zu ", list.v[i].name, list.v[i].leader,
			 list.v[i].n_members);
	if (code != expected || !strstr(out.s, text))
		fail_msg("%s: code %d: %s", names, code, out.s);
	if (code)
		assert_int_equal(list.n, 0);
	event_list_release(&list);
	str_release(&out);
}

static void test_lists(void **state)
{
	(void)state;
	need_libpfm();
	expect_list("PERF_COUNT_SW_PAGE_FAULTS", 0, "PERF_COUNT_SW_PAGE_FAULTS/0.1 ");
	expect_list("task-clock , perf::faults:u", 0, "task-clock/0.1 perf::faults:u/1.1 ");
	expect_list("{faults,task-clock:u}", 0, "faults/0.2 task-clock:u/0.1 ");
	expect_list(" faults , { faults , faults } , faults", 0,
		    "faults/0.1 faults/1.2 faults/1.1 faults/3.1 ");
	expect_list("", -EINVAL, "missing");
	expect_list("faults,", -EINVAL, "missing");
	expect_list("faults,,faults", -EINVAL, "missing");
	expect_list("{}", -EINVAL, "missing");
	expect_list("{faults", -EINVAL, "'{' is not closed");
	expect_list("{faults}}", -EINVAL, "','");
	expect_list("{faults,{faults}}", -EINVAL, "missing");
	expect_list("faults faults", -EINVAL, "','");
	expect_list("PERF_COUNT_SW_PAGE_FAULT", -ENOENT,
		    "did you mean 'PERF_COUNT_SW_PAGE_FAULTS'?");
}

static void test_environment_is_left_alone(void **state)
{
	(void)state;
	need_libpfm();
	assert_null(getenv("LIBPFM_ENCODE_INACTIVE"));
}

static void test_list_of_a_named_pmu(void **state)
{
	struct str out = STR_INIT, err = STR_INIT;

	(void)state;
	need_libpfm();
	assert_int_equal(event_walk("pfm", PMU "::" EVENT "*", &host, list_source_row, &out, &err),
			 0);
	assert_non_null(strstr(out.s, PMU "::" EVENT));
	str_reset(&out);
	assert_int_equal(event_walk("pfm", "perf::PERF_COUNT_SW_CPU_CLOCK", &host, list_source_row,
				    &out, &err), 0);
	assert_int_equal(strncmp(out.s, "perf::PERF_COUNT_SW_CPU_CLOCK||", 31), 0);
	str_release(&out);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generic_pmu),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_pmu_of_another_machine),
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_environment_is_left_alone),
		cmocka_unit_test(test_list_of_a_named_pmu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
