/*
 * What drains hand over ends up in the file: round marks only when every drain has made a pass, the end
 * at --max-size, files one after another, and no sample uncounted when the disk is full.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/outfile.h"

#include <cmocka.h>

enum { ID = 5, N_DRAINS = 2, SAMPLE_BYTES = 48 };

static char folder[] = "/tmp/test_outfile-XXXXXX";
static char path[64];
static struct kern kern = { NULL, { "/none", "/none", "/none" } };
static struct record_plan plan;
static struct target target;
static struct events events;
static struct info info;
static struct outfile out;
static struct drain drains[N_DRAINS];
static struct outfile_drain sides[N_DRAINS];
static struct str err;
static uint64_t next_time;

static int setup(void **state)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.sample_id_all = 1,
		.mmap = 1,
	};
	uint64_t id = ID;

	(void)state;
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 7);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/p.data", folder);
	plan = (struct record_plan){ .path = path, .kern = &kern };
	events_init(&events);
	info_init(&info);
	events_add(&events, &attr, sizeof(attr), &id, 1);
	next_time = 100;
	return 0;
}

static void begin(void)
{
	outfile_init(&out, &plan, &target, &events, &info);
	assert_int_equal(outfile_open(&out, &err), 0);
	for (size_t i = 0; i < N_DRAINS; i++) {
		drain_init(&drains[i], &events);
		outfile_add_drain(&out, &sides[i], &drains[i]);
	}
}

static int teardown(void **state)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	(void)state;
	for (size_t i = 0; i < N_DRAINS; i++)
		drain_release(&drains[i]);
	outfile_release(&out);
	events_release(&events);
	info_release(&info);
	str_release(&err);
	while ((entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	return rmdir(folder);
}

/* A drain's pass that found n samples. */
static int pass(size_t drain, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct perf_event_header header = { RECORD_SAMPLE, 0, SAMPLE_BYTES };
		const uint64_t words[] = { ID, 0x1000, 7, next_time++, 1 };

		str_addn(&drains[drain].buf, (const char *)&header, sizeof(header));
		str_addn(&drains[drain].buf, (const char *)words, sizeof(words));
	}
	tally_walk(&drains[drain].tally, (const uint8_t *)drains[drain].buf.s, drains[drain].buf.len,
		   drains[drain].on_space, drains[drain].data);
	str_reset(&err);
	return drains[drain].take(drains[drain].data, &drains[drain], true, &err);
}

static int emptied_pass(size_t drain, size_t n)
{
	int rc = pass(drain, n);

	str_reset(&drains[drain].buf);
	return rc;
}

/* The file's samples and marks as text: "sss|s|". */
static char *story(const char *name)
{
	static char text[65536];
	struct reader reader;
	struct record record;
	size_t n = 0;

	assert_int_equal(reader_open(&reader, name, &err), 0);
	while (reader_next(&reader, &record, &err) > 0) {
		if (record.type == RECORD_SAMPLE || record.type == RECORD_FINISHED_ROUND)
			text[n++] = record.type == RECORD_SAMPLE ? 's' : '|';
	}
	text[n] = '\0';
	assert_int_equal(err.len, 0);
	assert_int_equal(reader.missing.len, 0);
	reader_close(&reader);
	return text;
}

static void each_pass_of_one_drain_is_a_round(void **state)
{
	(void)state;
	begin();
	out.drains = NULL;
	outfile_add_drain(&out, &sides[0], &drains[0]);
	emptied_pass(0, 2);
	emptied_pass(0, 0);
	emptied_pass(0, 1);
	assert_int_equal(outfile_finish(&out, &err), 0);
	assert_string_equal(story(path), "ss|s|");
}

static void a_round_waits_for_all_drains(void **state)
{
	(void)state;
	begin();
	emptied_pass(0, 1);
	emptied_pass(0, 1);
	emptied_pass(0, 1);
	/* The other one had nothing, but it has looked. */
	emptied_pass(1, 0);
	emptied_pass(1, 1);
	emptied_pass(1, 1);
	/* Drain 0 began its present pass in the round before: it says nothing about this one. */
	emptied_pass(0, 1);
	emptied_pass(0, 1);
	assert_int_equal(outfile_finish(&out, &err), 0);
	assert_string_equal(story(path), "sss|ssss|");
}

static void snapshots_make_the_rounds(void **state)
{
	struct outfile_drain side;
	struct drain snapshots;

	(void)state;
	begin();
	drain_init(&snapshots, &events);
	outfile_add_snapshots(&out, &side, &snapshots);
	emptied_pass(0, 1);
	emptied_pass(1, 1);
	assert_int_equal(snapshots.take(snapshots.data, &snapshots, true, &err), 0);
	emptied_pass(0, 1);
	emptied_pass(1, 0);
	drain_release(&snapshots);
	assert_int_equal(outfile_finish(&out, &err), 0);
	assert_string_equal(story(path), "ss|s");
}

static void ends_at_max_size(void **state)
{
	(void)state;
	plan.max_bytes = 4096;
	begin();
	for (int i = 0; i < 100; i++)
		assert_int_equal(emptied_pass(0, 1), 0);
	assert_true(out.full);
	assert_int_equal(outfile_finish(&out, &err), 0);
	assert_int_equal(strlen(story(path)), out.total.v[0].samples);
	assert_true(out.total.v[0].samples > 50);
	assert_int_equal(out.total.v[0].samples + out.dropped.v[0].samples, 100);
}

static void one_file_after_another(void **state)
{
	(void)state;
	plan.switch_on_signal = true;
	plan.switch_max_files = 2;
	begin();
	for (size_t i = 1; i <= 3; i++) {
		emptied_pass(0, i);
		emptied_pass(1, 0);
		assert_int_equal(outfile_switch(&out, &err), 0);
	}
	emptied_pass(1, 4);
	assert_int_equal(outfile_finish(&out, &err), 0);
	assert_int_equal(out.n_files, 4);
	assert_int_equal(out.n_kept, 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_string_equal(story(out.kept[0]), "sss|");
	assert_string_equal(story(out.kept[1]), "ssss");
	assert_string_equal(out.last_path, out.kept[1]);
	assert_int_equal(out.total.v[0].samples, 10);
	/* The times are this file's own. */
	assert_int_equal(info.first_sample_ns, 106);
	assert_int_equal(info.last_sample_ns, 109);
}

/* RLIMIT_FSIZE stands for a full disk. */
static void full_disk(void **state)
{
	const struct rlimit small = { 200000, RLIM_INFINITY };
	struct rlimit old;
	int rc = 0, passes = 0;

	(void)state;
	begin();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &small);
	for (; !rc && passes < 1000; passes++)
		rc = emptied_pass(0, 100);
	assert_int_equal(rc, -EFBIG);
	assert_non_null(strstr(err.s, "p.data"));
	/* It stays what it is, and says it again to whoever comes next. */
	assert_int_equal(emptied_pass(1, 1), -EFBIG);
	str_reset(&err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(outfile_finish(&out, &err), -EFBIG);
	str_reset(&err);
	assert_int_equal(strlen(story(path)), out.total.v[0].samples);
	assert_true(out.total.v[0].samples > 0);
	assert_int_equal(out.total.v[0].samples + out.dropped.v[0].samples, 100 * passes + 1);
}

static void losses_at_the_end(void **state)
{
	struct reader reader;
	struct record record;
	struct record_body body;
	unsigned n = 0;

	(void)state;
	begin();
	assert_int_equal(outfile_add_lost(&out, 0, 42, &err), 0);
	assert_int_equal(outfile_finish(&out, &err), 0);
	assert_int_equal(reader_open(&reader, path, &err), 0);
	while (reader_next(&reader, &record, &err) > 0) {
		if (record.type != RECORD_LOST_SAMPLES)
			continue;
		assert_int_equal(reader_decode(&reader, &record, &body, &err), 0);
		assert_int_equal(body.lost.lost, 42);
		assert_ptr_equal(body.event, reader.events.v[0]);
		n++;
	}
	assert_int_equal(n, 1);
	reader_close(&reader);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(each_pass_of_one_drain_is_a_round),
		CASE(a_round_waits_for_all_drains),
		CASE(snapshots_make_the_rounds),
		CASE(ends_at_max_size),
		CASE(one_file_after_another),
		CASE(full_disk),
		CASE(losses_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
