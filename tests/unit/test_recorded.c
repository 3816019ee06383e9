/* SPDX-License-Identifier: MIT */
/* Records of counts -> cells -> a replay: what `pstat stat report` does, without a file. */
#include "data/data.h"
#include "stat/stat.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
	struct events events;
	struct info info;
	struct recorded_counts counts;
	struct stat_plan plan;
	struct stat_replay *replay;
	bool late_kind; /* the target is of a kind that is not known */
	struct str rows; /* one line for each row of each report */
};

static const uint64_t ids[] = { 11, 12, 21 };

static void add_event(struct fixture *f, uint64_t config, const uint64_t *of, size_t n,
		      const char *name)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };

	attr.config = config;
	events_add(&f->events, &attr, sizeof(attr), of, n)->name = xstrdup(name);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	events_init(&f->events);
	recorded_init(&f->counts);
	str_init(&f->rows);
	add_event(f, PERF_COUNT_SW_CONTEXT_SWITCHES, ids, 2, "cs");
	add_event(f, PERF_COUNT_SW_PAGE_FAULTS, ids + 2, 1, "faults");
	add_event(f, PERF_COUNT_HW_CPU_CYCLES, NULL, 0, "unopened");
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	stat_replay_free(f->replay);
	recorded_release(&f->counts);
	events_release(&f->events);
	str_release(&f->rows);
	free(f);
	return 0;
}

static int take(struct fixture *f, const struct record_body *body)
{
	struct str err = STR_INIT;
	int rc = recorded_take(&f->counts, &f->events, body, &err);

	assert_true(!rc == !err.len);
	str_release(&err);
	return rc;
}

static int take_cpus(struct fixture *f, uint16_t first, uint16_t last)
{
	struct record_body body = { .type = RECORD_CPU_MAP };

	body.cpus = (struct record_cpus){ .kind = CPU_MAP_RANGE, .first = first, .last = last };
	return take(f, &body);
}

static int take_count(struct fixture *f, uint64_t id, uint32_t cpu, uint32_t thread, uint64_t value)
{
	struct record_body body = { .type = RECORD_STAT };

	body.stat.id = id;
	body.stat.cpu = cpu;
	body.stat.thread = thread;
	body.stat.value = value;
	body.stat.enabled_ns = body.stat.running_ns = 1000;
	return take(f, &body);
}

static int take_aggr_mode(struct fixture *f, uint64_t mode)
{
	const uint64_t rows[] = { 0, mode, 1, 0, 2, 1, 99, 5 };
	struct record_body body = { .type = RECORD_STAT_CONFIG };

	body.stat_config = (struct record_words){ 4, rows };
	return take(f, &body);
}

static int emit(void *data, const struct stat_report *report)
{
	struct fixture *f = data;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct stat_row *row = &report->rows[i];

		str_addf(&f->rows, "%s %s ", row->key, row->name);
		if (row->state == COUNT_OK)
			str_addf(&f->rows, "%llu\n", (unsigned long long)row->count);
		else
			str_addf(&f->rows, "%s\n",
				 row->state == COUNT_NOT_COUNTED ? "not counted" : "not supported");
	}
	return 0;
}

static void round_at(struct fixture *f, enum aggr_mode aggr, uint64_t time_ns,
		     enum stat_report_kind kind)
{
	struct str err = STR_INIT;

	if (!f->replay) {
		recorded_describe(&f->counts, &f->events, &f->info);
		f->plan = (struct stat_plan){
			.events = &f->counts.list, .aggr = aggr, .scale = true, .repeat = 1,
			.emit = emit, .emit_data = f,
		};
		f->replay = stat_replay_new(&f->plan, &f->counts, &err);
		assert_non_null(f->replay);
	}
	assert_int_equal(stat_replay_round(f->replay, kind, time_ns), 0);
	str_release(&err);
}

static void test_total(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(take_cpus(f, 0, 1), 0);
	assert_int_equal(take_count(f, 11, 0, 0, 5), 0);
	assert_int_equal(take_count(f, 12, 1, 0, 7), 0);
	round_at(f, AGGR_TOTAL, 2000, REPORT_FINAL);
	assert_string_equal(f->rows.s, " cs 12\n faults not counted\n unopened not supported\n");
	assert_int_equal(f->counts.n_strays, 0);
}

/* An event has rows where it was counted; one that was never read, everywhere. */
static void test_by_cpu(void **state)
{
	struct fixture *f = *state;

	take_cpus(f, 0, 1);
	take_count(f, 11, 0, 0, 5);
	take_count(f, 12, 1, 0, 7);
	take_count(f, 21, 1, 0, 9);
	round_at(f, AGGR_CPU, 2000, REPORT_FINAL);
	assert_string_equal(f->rows.s, "CPU0 cs 5\nCPU1 cs 7\nCPU1 faults 9\n"
				       "CPU0 unopened not supported\nCPU1 unopened not supported\n");
}

static void test_never_read(void **state)
{
	struct fixture *f = *state;

	take_cpus(f, 0, 1);
	take_count(f, 11, 1, 0, 5);
	round_at(f, AGGR_CPU, 2000, REPORT_FINAL);
	assert_string_equal(f->rows.s, "CPU1 cs 5\nCPU0 faults not counted\nCPU1 faults not counted\n"
				       "CPU0 unopened not supported\nCPU1 unopened not supported\n");
}

/* Readings are totals; intervals are differences. A cell without a new reading has its last. */
static void test_intervals(void **state)
{
	struct fixture *f = *state;

	take_count(f, 11, UINT32_MAX, 0, 5);
	take_count(f, 21, UINT32_MAX, 0, 1);
	round_at(f, AGGR_TOTAL, 1000, REPORT_INTERVAL);
	str_reset(&f->rows);
	take_count(f, 11, UINT32_MAX, 0, 8);
	f->counts.v[0].enabled_ns = f->counts.v[0].running_ns = 2000;
	round_at(f, AGGR_TOTAL, 2000, REPORT_INTERVAL);
	assert_string_equal(f->rows.s, " cs 3\n faults not counted\n unopened not supported\n");
	str_reset(&f->rows);
	round_at(f, AGGR_TOTAL, 2000, REPORT_FINAL);
	assert_string_equal(f->rows.s, " cs 8\n faults 1\n unopened not supported\n");
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	struct {
		uint64_t tid;
		char comm[16];
	} rows[] = { { 70, "first" }, { 71, "second\x1b" } };
	struct record_body body = { .type = RECORD_THREAD_MAP };

	body.threads.n = 2;
	body.threads.data = (const uint8_t *)rows;
	assert_int_equal(take(f, &body), 0);
	take_count(f, 11, UINT32_MAX, 0, 5);
	take_count(f, 11, UINT32_MAX, 1, 9);
	take_count(f, 11, UINT32_MAX, 2, 100);
	round_at(f, AGGR_THREAD, 2000, REPORT_FINAL);
	assert_non_null(strstr(f->rows.s, "second\\x1b-71 cs 9\nfirst-70 cs 5\n"));
	assert_int_equal(f->counts.n_strays, 1);
}

/* A list that does not fit into one record goes on in the next; one that comes after a count is none of it. */
static void test_threads_of_several_records(void **state)
{
	struct fixture *f = *state;
	struct {
		uint64_t tid;
		char comm[16];
	} rows[] = { { 70, "first" }, { 71, "second" }, { 72, "third" } };
	struct record_body body = { .type = RECORD_THREAD_MAP };

	body.threads.n = 1;
	for (size_t i = 0; i < 3; i++) {
		body.threads.data = (const uint8_t *)&rows[i];
		if (i == 2)
			take_count(f, 11, UINT32_MAX, 1, 9);
		assert_int_equal(take(f, &body), 0);
	}
	take_count(f, 11, UINT32_MAX, 0, 5);
	take_count(f, 11, UINT32_MAX, 2, 100);
	round_at(f, AGGR_THREAD, 2000, REPORT_FINAL);
	assert_non_null(strstr(f->rows.s, "second-71 cs 9\nfirst-70 cs 5\n"));
	assert_null(strstr(f->rows.s, "third"));
	assert_int_equal(f->counts.n_strays, 1);
}

/* Of all threads of the system those that counted nothing are not shown, of some threads they are. */
static void test_all_threads(void **state)
{
	struct fixture *f = *state;
	struct {
		uint64_t tid;
		char comm[16];
	} rows[] = { { 70, "idle" }, { 71, "busy" } };
	struct record_body body = { .type = RECORD_THREAD_MAP };

	body.threads.n = 2;
	body.threads.data = (const uint8_t *)rows;
	assert_int_equal(take(f, &body), 0);
	take_count(f, 11, UINT32_MAX, 0, 0);
	take_count(f, 11, UINT32_MAX, 1, 9);
	info_set(&f->info, FEATURE_STAT_TARGET);
	f->info.stat_target = STAT_TARGET_ALL_THREADS + f->late_kind;
	round_at(f, AGGR_THREAD, 2000, REPORT_FINAL);
	assert_true(!strncmp(f->rows.s, "busy-71 cs 9\n", 13));
	assert_int_equal(!!strstr(f->rows.s, "idle-70 cs 0\n"), f->late_kind);
}

/* A number that only a later pstat writes says nothing to this one. */
static void test_other_target(void **state)
{
	struct fixture *f = *state;

	f->late_kind = true;
	test_all_threads(state);
}

static void test_strays(void **state)
{
	struct fixture *f = *state;

	take_cpus(f, 2, 3);
	assert_int_equal(take_count(f, 11, 1, 0, 5), 0);
	assert_int_equal(take_count(f, 99, 2, 0, 5), 0);
	assert_int_equal(take_count(f, 11, 2, 7, 5), 0);
	assert_int_equal(f->counts.n_strays, 3);
	assert_int_equal(take_count(f, 11, 2, 0, 5), 0);
	assert_int_equal(f->counts.n_strays, 3);
}

static void test_too_large(void **state)
{
	struct fixture *f = *state;

	take_cpus(f, 0, 65535);
	assert_int_equal(take_count(f, 11, 0, 0, 5), -E2BIG);
}

/* Maps that come after counts do not change the shape under them. */
static void test_late_maps(void **state)
{
	struct fixture *f = *state;

	take_count(f, 11, UINT32_MAX, 0, 5);
	assert_int_equal(take_cpus(f, 0, 4000), 0);
	assert_int_equal(f->counts.cpus.n, 0);
	take_count(f, 11, 17, 0, 5);
	assert_int_equal(f->counts.n_strays, 1);
}

static void test_modes(void **state)
{
	static const struct {
		uint64_t mode;
		const char *version;
		enum aggr_mode aggr;
	} cases[] = {
		{ 0, "6.1.187", AGGR_CPU },     { 1, "6.1.187", AGGR_TOTAL },
		{ 4, "6.1.187", AGGR_CORE },    { 5, "6.1.187", AGGR_THREAD },
		{ 7, "6.1.187", AGGR_NODE },    { 5, "pstat 0.1", AGGR_THREAD },
		{ 5, NULL, AGGR_THREAD },       { 5, "6.5.g12ab", AGGR_CORE },
		{ 6, "6.8", AGGR_THREAD },      { 7, "6.10.0", AGGR_THREAD },
		{ 6, "7.0", AGGR_CORE },        { 9, "6.9", AGGR_NODE },
		{ 3, "5.2", AGGR_CORE },        { 4, "4.19", AGGR_THREAD },
		{ 5, "6.9", AGGR_CACHE },     { 4, "7.2", AGGR_TOTAL },
		{ 4, "6.5", AGGR_CACHE },     { 8, "7.2", AGGR_TOTAL },       { UINT64_MAX, "6.1", AGGR_TOTAL },
	};
	struct fixture *f = *state;

	assert_int_equal(recorded_aggr(&f->counts, "6.1"), AGGR_TOTAL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f->counts.has_config = false;
		assert_int_equal(take_aggr_mode(f, cases[i].mode), 0);
		assert_int_equal(recorded_aggr(&f->counts, cases[i].version), cases[i].aggr);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(total),  CASE(by_cpu),    CASE(intervals), CASE(threads),
		CASE(strays), CASE(too_large), CASE(late_maps), CASE(modes), CASE(never_read),
		CASE(all_threads), CASE(other_target), CASE(threads_of_several_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
