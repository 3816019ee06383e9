/* SPDX-License-Identifier: MIT */
/*
 * What options say about the whole list: filters, cgroups, only user or only kernel, copies.
 */
#include "event_dump.h"
#include "fake_machine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct fake_machine machine;

static int make_machine(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	fake_machine_tracepoint(&machine, "sched", "sched_switch", "318\n");
	fake_machine_tracepoint(&machine, "sched", "sched_wakeup", "319\n");
	fake_machine_pmu(&machine, "uncore_imc_0", "type", "20\n");
	fake_machine_pmu(&machine, "uncore_imc_1", "type", "21\n");
	fake_machine_pmu(&machine, "uprobe", "type", "8\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	fake_machine_release(&machine);
	return 0;
}

static void add(struct event_list *list, const char *text)
{
	struct str err = STR_INIT;

	if (event_list_parse(list, text, &machine.host, &err))
		fail_msg("%s", err.s);
}

/* Runs one of the setters and compares its sentence; NULL: it succeeds. */
static void expect(int (*set)(struct event_list *, const char *, struct str *), struct event_list *list,
		   const char *words, const char *message)
{
	struct str err = STR_INIT;
	int rc = set(list, words, &err);

	assert_string_equal(err.s, message ? message : "");
	assert_int_equal(rc, message ? -EINVAL : 0);
	str_release(&err);
}

/* "faults=a cs=- ..." */
static void expect_cgroups(const struct event_list *list, const char *cgroups)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < list->n; i++)
		str_addf(&out, "%s%s=%s", i ? " " : "", list->v[i].name,
			 list->v[i].cgroup ? list->v[i].cgroup : "-");
	assert_string_equal(out.s, cgroups);
	str_release(&out);
}

static void test_filter(void **state)
{
	struct event_list list;

	(void)state;
	event_list_init(&list);
	expect(event_list_set_filter, &list, "a == 1", "--filter: there is no -e before it");
	add(&list, "sched:sched_switch");
	add(&list, "sched:*");
	expect(event_list_set_filter, &list, " ", "--filter: the filter is empty");
	expect(event_list_set_filter, &list, "a == 1", NULL);
	expect(event_list_set_filter, &list, "b", NULL);
	assert_null(list.v[0].filter);
	assert_string_equal(list.v[1].filter, "(a == 1) && (b)");
	assert_string_equal(list.v[2].filter, "(a == 1) && (b)");
	add(&list, "sched:sched_switch,faults");
	expect(event_list_set_filter, &list, "a",
	       "--filter: 'faults' is not a tracepoint, only these have fields to filter by");
	assert_null(list.v[3].filter);
	event_list_release(&list);
}

static void test_cgroups(void **state)
{
	struct event_list list;

	(void)state;
	event_list_init(&list);
	expect(event_list_set_cgroups, &list, "a", "-G: there is no event before it");
	add(&list, "faults,cs");
	expect(event_list_set_cgroups, &list, "a", NULL);
	expect_cgroups(&list, "faults=a cs=a");
	expect(event_list_set_cgroups, &list, "b", NULL);
	expect_cgroups(&list, "faults=a cs=b");
	expect(event_list_set_cgroups, &list, "c", "-G: 3 cgroups for 2 events: 'c' has no event");
	event_list_release(&list);

	event_list_init(&list);
	add(&list, "faults,cs,migrations");
	expect(event_list_set_cgroups, &list, "a,,c", NULL);
	expect_cgroups(&list, "faults=a cs=- migrations=c");
	event_list_release(&list);

	event_list_init(&list);
	add(&list, "{faults,cs}");
	expect(event_list_set_cgroups, &list, "a,b",
	       "-G: 'faults' and 'cs' are in one group and need the same cgroup");
	event_list_release(&list);
}

static void test_cgroups_count_specs_not_pmus(void **state)
{
	struct event_list list;

	(void)state;
	event_list_init(&list);
	add(&list, "{uncore_imc/config=1/,uncore_imc/config=2/}");
	add(&list, "faults");
	assert_int_equal(list.n, 5);
	expect(event_list_set_cgroups, &list, "a,a,b", NULL);
	expect_cgroups(&list, "uncore_imc/config=1/=a uncore_imc/config=2/=a "
			      "uncore_imc/config=1/=a uncore_imc/config=2/=a faults=b");
	event_list_release(&list);
}

static void test_for_each_cgroup(void **state)
{
	struct event_list list;

	(void)state;
	event_list_init(&list);
	expect(event_list_for_each_cgroup, &list, "a", "--for-each-cgroup: there is no event before it");
	add(&list, "faults,{cs,uncore_imc/config=1/}");
	expect(event_list_for_each_cgroup, &list, "a,", "--for-each-cgroup: an empty name in 'a,'");
	expect(event_list_for_each_cgroup, &list, "a,b", NULL);
	assert_int_equal(list.n, 8);
	assert_int_equal(list.v[5].leader, 5);
	assert_int_equal(list.v[6].leader, 5);
	assert_int_equal(list.v[5].n_members, 2);
	assert_int_equal(list.v[2].expansion_id, list.v[3].expansion_id);
	assert_int_not_equal(list.v[2].expansion_id, list.v[6].expansion_id);
	expect_cgroups(&list, "faults=a cs=a uncore_imc/config=1/=a uncore_imc/config=1/=a "
			      "faults=b cs=b uncore_imc/config=1/=b uncore_imc/config=1/=b");
	expect(event_list_for_each_cgroup, &list, "c",
	       "--for-each-cgroup: 'faults' has a cgroup from -G");
	event_list_release(&list);
}

static void test_only_one_side(void **state)
{
	struct event_list list;
	struct str out = STR_INIT;

	(void)state;
	event_list_init(&list);
	add(&list, "faults,cs:k,sched:sched_switch:u,migrations,faults:k");
	event_list_only_user(&list);
	dump_events(&out, &list);
	/* What happens in the kernel alone would be 0. */
	assert_string_equal(out.s, "faults 1:2 uh H; cs:k 1:3 k HG; sched:sched_switch:u 2:13e u H; "
				   "migrations 1:4 ukh H; faults:k 1:2 u HG");
	assert_true(list.v[0].user_excludes);
	assert_int_equal(list.notes.n, 2);
	assert_string_equal(list.notes.v[1].text,
			    "--all-user does not change cs:k, migrations: "
			    "they happen only in the kernel");
	assert_false(list.notes.v[1].verbose);
	event_list_only_kernel(&list);
	dump_events(&out, &list);
	assert_string_equal(out.s, "faults 1:2 kh H; cs:k 1:3 k HG; sched:sched_switch:u 2:13e k H; "
				   "migrations 1:4 kh H; faults:k 1:2 k HG");
	str_release(&out);
	event_list_release(&list);
}

/* A group's letters are about what has modes: the rest is not made 0 by them. */
static void test_modes_of_kernel_events(void **state)
{
	struct event_list list;
	struct str out = STR_INIT;

	(void)state;
	event_list_init(&list);
	add(&list, "{faults,cs}:u,{cs,faults}:k,cs:uk");
	dump_events(&out, &list);
	assert_string_equal(out.s, "{faults 1:2 u H; cs 1:3 ukh H}; {cs 1:3 k H; faults 1:2 k H}; "
				   "cs:uk 1:3 uk H");
	assert_int_equal(list.notes.n, 1);
	assert_string_equal(list.notes.v[0].text,
			    "cs: its group's modifiers do not apply: it happens only in the kernel");
	add(&list, "sched:sched_switch:u,sched:sched_switch:k");
	assert_int_equal(list.notes.n, 2);
	assert_string_equal(list.notes.v[1].text,
			    "sched:sched_switch:u: a tracepoint fires in the kernel, which its modifiers "
			    "exclude: 0, unless it has the registers of user mode (syscalls:*, uprobes)");
	add(&list, "cs:u,cs:h,cs:k,cs");
	assert_non_null(event_nowhere(&list.v[list.n - 4]));
	assert_non_null(event_nowhere(&list.v[list.n - 3]));
	assert_null(event_nowhere(&list.v[list.n - 2]));
	assert_null(event_nowhere(&list.v[list.n - 1]));
	str_release(&out);
	event_list_release(&list);
}

static void test_copy_shares_nothing(void **state)
{
	struct event_list list, copy;
	struct str before = STR_INIT, after = STR_INIT;

	(void)state;
	event_list_init(&list);
	add(&list, "g{faults,sched:sched_switch/call-graph=fp,branch_type=any,metric-id=m/},"
		   "uprobe/path=/bin/true,offset=1/,uncore_imc/config=1/");
	list.v[1].filter = xstrdup("x");
	list.v[1].cgroup = xstrdup("c");
	dump_events(&before, &list);
	event_list_copy(&copy, &list);
	assert_int_equal(copy.n, list.n);
	for (size_t i = 0; i < list.n; i++)
		if (list.v[i].probe_path)
			assert_int_equal(copy.v[i].attr.config1, (uintptr_t)copy.v[i].probe_path);
	for (size_t i = 0; i < list.n; i++)
		copy.v[i].attr.config1 = list.v[i].attr.config1;
	event_list_release(&list);
	dump_events(&after, &copy);
	assert_string_equal(after.s, before.s);
	assert_string_equal(copy.v[0].group_name, "g");
	assert_string_equal(copy.v[1].filter, "x");
	assert_string_equal(copy.v[1].cgroup, "c");
	assert_string_equal(copy.v[1].terms.call_graph, "fp");
	assert_string_equal(copy.v[1].terms.branch_type, "any");
	assert_string_equal(copy.v[1].terms.metric_id, "m");
	event_list_release(&copy);
	str_release(&before);
	str_release(&after);
}

/* A copy has room for what it holds: growing it makes more. */
static void test_copy_grows(void **state)
{
	struct event_list list, copy;

	(void)state;
	event_list_init(&list);
	add(&list, "faults");
	event_list_copy(&copy, &list);
	for (int i = 0; i < 10; i++)
		add(&copy, "cs");
	assert_int_equal(copy.n, 11);
	assert_true(copy.cap >= copy.n);
	event_list_release(&copy);
	event_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_cgroups_count_specs_not_pmus),
		cmocka_unit_test(test_for_each_cgroup),
		cmocka_unit_test(test_only_one_side),
		cmocka_unit_test(test_modes_of_kernel_events),
		cmocka_unit_test(test_copy_shares_nothing),
		cmocka_unit_test(test_copy_grows),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
