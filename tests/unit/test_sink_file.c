/* SPDX-License-Identifier: MIT */
/*
 * What the file is told ends up in it: round marks, the end at --max-size, files one after another, and no sample
 * uncounted when the disk is full.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/sink_file.h"

#include <cmocka.h>

enum { ID = 5, SAMPLE_BYTES = 48 };

static char folder[] = "/tmp/test_sink_file-XXXXXX";
static char path[64];
static struct kern kern = { NULL, { "/none", "/none", "/none", NULL } };
static struct record_plan plan;
static struct events events;
static struct info info;
static struct recording_info recording;
static struct sink_file file;
static struct record_sink *sink = &file.sink;
static int wake_fd;
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
	recording = (struct recording_info){ .events = &events, .info = &info };
	wake_fd = eventfd(0, EFD_NONBLOCK);
	sink_file_init(&file, &plan, &recording, &info, NULL, wake_fd);
	assert_int_equal(sink_file_open(&file, &err), 0);
	assert_int_equal(sink_file_begun(&file, &err), 0);
}

static int teardown(void **state)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	(void)state;
	sink_file_release(&file);
	close(wake_fd);
	events_release(&events);
	info_release(&info);
	str_release(&err);
	while ((entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	return rmdir(folder);
}

/* A record of n words. */
static void add(struct str *bytes, uint32_t type, const uint64_t *words, size_t n)
{
	const struct perf_event_header header = { type, 0, (uint16_t)(8 + 8 * n) };

	str_addn(bytes, (const char *)&header, sizeof(header));
	str_addn(bytes, (const char *)words, 8 * n);
}

/* n samples at once. */
static int tell(size_t n)
{
	struct str bytes = STR_INIT;
	int rc;

	for (size_t i = 0; i < n; i++)
		add(&bytes, RECORD_SAMPLE, (uint64_t[]){ ID, 0x1000, 7, next_time++, 1 }, 5);
	str_reset(&err);
	rc = sink->take(sink, bytes.s, bytes.len, &err);
	str_release(&bytes);
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

static void samples_and_marks(void **state)
{
	(void)state;
	begin();
	tell(2);
	assert_int_equal(sink->round(sink, &err), 0);
	tell(1);
	assert_int_equal(sink->round(sink, &err), 0);
	assert_int_equal(sink->end(sink, &err), 0);
	assert_string_equal(story(path), "ss|s|");
	assert_int_equal(file.total.v[0].samples, 3);
}

/* The misc bits of the file's MMAP2 records, one after the other: "2 4002". */
static void map_bits(struct str *bits)
{
	struct reader reader;
	struct record record;

	str_reset(bits);
	assert_int_equal(reader_open(&reader, path, &err), 0);
	while (reader_next(&reader, &record, &err) > 0)
		if (record.type == RECORD_MMAP2)
			str_addf(bits, "%s%x", bits->len ? " " : "", record.misc);
	assert_int_equal(err.len, 0);
	reader_close(&reader);
}

/* Somebody else's build-ids: the kernel sets their bit, and the record has a device where their size would be. */
static void stray_bits_are_cleared(void **state)
{
	const struct {
		uint64_t device; /* major and minor; or a build-id's size, and three zeros */
		uint16_t misc;
	} rows[] = {
		{ 8 | 1ull << 32, MISC_USER }, { 8 | 1ull << 32, MISC_USER | MISC_MMAP_BUILD_ID },
		{ 20 | 1ull << 32, MISC_USER | MISC_MMAP_BUILD_ID }, { 259, MISC_USER | MISC_MMAP_BUILD_ID },
	};
	struct str bytes = STR_INIT, bits = STR_INIT;

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		/* pid and tid, start, len, pgoff, device, inode, generation, prot and flags, name; id, tid, time */
		uint64_t words[] = { 7 | 7ull << 32, 0x1000, 0x1000, 0, rows[i].device, 5, 0, 5, 'f', 7, next_time++,
				     ID };
		size_t at = bytes.len;

		add(&bytes, RECORD_MMAP2, words, ARRAY_SIZE(words));
		bytes.s[at + 4] = (char)rows[i].misc;
		bytes.s[at + 5] = (char)(rows[i].misc >> 8);
	}
	assert_int_equal(sink->take(sink, bytes.s, bytes.len, &err), 0);
	tell(1);
	assert_int_equal(sink->end(sink, &err), 0);
	map_bits(&bits);
	assert_string_equal(bits.s, "2 2 4002 2");
	assert_string_equal(story(path), "s");
	str_release(&bytes);
	str_release(&bits);
}

/* The ids of the file's samples, one after the other. */
static void sample_ids(struct str *ids)
{
	struct reader reader;
	struct record record;

	str_reset(ids);
	assert_int_equal(reader_open(&reader, path, &err), 0);
	while (reader_next(&reader, &record, &err) > 0) {
		uint64_t id;

		memcpy(&id, record.bytes + RECORD_HEADER_BYTES, sizeof(id));
		if (record.type == RECORD_SAMPLE)
			str_addf(ids, "%s%" PRIu64, ids->len ? " " : "", id);
	}
	assert_int_equal(err.len, 0);
	reader_close(&reader);
}

/*
 * Somebody else who samples the same software event: the kernel gives our samples the id of theirs. A clock's samples
 * have a timer of their own.
 */
static void ids_of_others_become_own(void **state)
{
	const uint64_t own = 0x1d, clock = 0xc10c;
	struct perf_event_attr attr = events.v[0]->attr;
	struct str bytes = STR_INIT, ids = STR_INIT;

	(void)state;
	events_release(&events);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	events_add(&events, &attr, sizeof(attr), &clock, 1);
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	events_add(&events, &attr, sizeof(attr), &own, 1);
	begin();
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t id[] = { clock, 999, own };

		add(&bytes, RECORD_SAMPLE, (uint64_t[]){ id[i], 0x1000, 7, next_time++, 1 }, 5);
	}
	assert_int_equal(sink->take(sink, bytes.s, bytes.len, &err), 0);
	assert_int_equal(sink->end(sink, &err), 0);
	assert_int_equal(file.total.v[0].samples, 1);
	assert_int_equal(file.total.v[1].samples, 2);
	assert_int_equal(file.total.v[2].samples, 0);
	sample_ids(&ids);
	assert_string_equal(ids.s, "49420 29 29");
	str_release(&bytes);
	str_release(&ids);
}

static void ends_at_max_size(void **state)
{
	uint64_t news = 0;

	(void)state;
	plan.max_bytes = 4096;
	begin();
	assert_int_equal(tell(100), 0);
	assert_true(sink_file_is_full(&file));
	assert_int_equal(read(wake_fd, &news, sizeof(news)), sizeof(news));
	assert_int_equal(sink->end(sink, &err), 0);
	assert_int_equal(strlen(story(path)), file.total.v[0].samples);
	assert_true(file.total.v[0].samples > 50);
	assert_int_equal(file.total.v[0].samples + file.dropped.v[0].samples, 100);
	/* Records that fit are in it, whatever they came with. */
	assert_true(file.bytes_before > 4096 - SAMPLE_BYTES);
	assert_true(file.bytes_before <= 4096 + SAMPLE_BYTES);
}

static void losses_go_in_when_it_is_full(void **state)
{
	struct str bytes = STR_INIT;
	struct reader reader;
	struct record record;
	struct record_body body;
	unsigned n = 0;

	(void)state;
	plan.max_bytes = 2048;
	begin();
	tell(100);
	assert_true(sink_file_is_full(&file));
	/* lost, and the trailer: pid and tid, time, id */
	add(&bytes, RECORD_LOST_SAMPLES, (uint64_t[]){ 42, 7, 99, ID }, 4);
	add(&bytes, RECORD_SAMPLE, (uint64_t[]){ ID, 0x1000, 7, 100, 1 }, 5);
	assert_int_equal(sink->take(sink, bytes.s, bytes.len, &err), 0);
	str_release(&bytes);
	assert_int_equal(sink->end(sink, &err), 0);
	assert_int_equal(file.total.v[0].lost_samples, 42);
	assert_int_equal(file.total.v[0].samples + file.dropped.v[0].samples, 101);
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

static void one_file_after_another(void **state)
{
	(void)state;
	plan.switch_on_signal = true;
	plan.switch_max_files = 2;
	begin();
	for (size_t i = 1; i <= 3; i++) {
		tell(i);
		assert_int_equal(sink->round(sink, &err), 0);
		assert_int_equal(sink_file_cut(&file, &err), 0);
		assert_int_equal(sink_file_switch(&file, &err), 0);
	}
	tell(4);
	assert_int_equal(sink->end(sink, &err), 0);
	assert_int_equal(file.n_files, 4);
	assert_int_equal(file.n_kept, 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_string_equal(story(file.kept[0].path), "sss|");
	assert_string_equal(story(file.kept[1].path), "ssss");
	assert_string_equal(file.last_path, file.kept[1].path);
	assert_int_equal(file.total.v[0].samples, 10);
	/* The times are this file's own. */
	assert_int_equal(info.first_sample_ns, 106);
	assert_int_equal(info.last_sample_ns, 109);
}

static void one_cut_makes_one_file(void **state)
{
	(void)state;
	plan.switch_on_signal = true;
	begin();
	tell(3);
	assert_int_equal(sink_file_cut(&file, &err), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(sink->round(sink, &err), 0);
	assert_int_equal(file.n_files, 2);
	assert_int_equal(sink_file_switch(&file, &err), 0);
	assert_int_equal(file.n_files, 2);
}

static bool says_times(const char *name)
{
	struct reader reader;
	bool says;

	assert_int_equal(reader_open(&reader, name, &err), 0);
	says = info_has(&reader.info, FEATURE_SAMPLE_TIME);
	reader_close(&reader);
	return says;
}

static void a_file_without_samples_has_no_times(void **state)
{
	(void)state;
	plan.switch_on_signal = true;
	begin();
	tell(3);
	assert_int_equal(sink_file_cut(&file, &err), 0);
	assert_int_equal(sink_file_switch(&file, &err), 0);
	assert_int_equal(sink->end(sink, &err), 0);
	assert_int_equal(file.n_kept, 2);
	assert_true(says_times(file.kept[0].path));
	assert_false(says_times(file.kept[1].path));
}

static void switches_by_size(void **state)
{
	(void)state;
	plan.switch_bytes = 4096;
	begin();
	for (int i = 0; i < 40; i++) {
		tell(10);
		assert_int_equal(sink->round(sink, &err), 0);
	}
	assert_int_equal(sink->end(sink, &err), 0);
	assert_true(file.n_files >= 4);
	assert_int_equal(file.total.v[0].samples, 400);
	for (size_t i = 0; i + 1 < file.n_kept; i++)
		assert_true(strlen(story(file.kept[i].path)) * SAMPLE_BYTES >= 4096);
}

/* A map of time_ns, in whichever ring it was. */
static void tell_map(uint64_t time_ns)
{
	const uint64_t tid = 7 | 7ull << 32;
	struct str bytes = STR_INIT;

	add(&bytes, RECORD_MMAP, (uint64_t[]){ tid, 0x1000, 0x1000, 0, 0x2f /* "/" */, tid, time_ns, ID }, 8);
	assert_int_equal(sink->take(sink, bytes.s, bytes.len, &err), 0);
	str_release(&bytes);
}

static size_t count_of(const char *name, uint32_t type)
{
	struct reader reader;
	struct record record;
	size_t n = 0;

	assert_int_equal(reader_open(&reader, name, &err), 0);
	while (reader_next(&reader, &record, &err) > 0)
		n += record.type == type;
	reader_close(&reader);
	return n;
}

static void what_names_a_sample_is_in_its_file(void **state)
{
	uint64_t cut_ns;

	(void)state;
	plan.switch_bytes = 4096;
	begin();
	tell(100);
	cut_ns = next_time - 1;
	tell(1); /* it is large now: newer samples wait */
	assert_true(file.cut.on);
	assert_int_equal(sink->round(sink, &err), 0);
	tell(2);
	tell_map(cut_ns);
	tell_map(next_time);
	assert_int_equal(file.n_files, 1);
	assert_int_equal(sink->round(sink, &err), 0);
	assert_int_equal(file.n_files, 2);
	tell(1);
	assert_int_equal(sink->end(sink, &err), 0);
	assert_int_equal(count_of(file.kept[0].path, RECORD_SAMPLE), 100);
	assert_int_equal(count_of(file.kept[0].path, RECORD_MMAP), 1);
	assert_int_equal(count_of(file.kept[1].path, RECORD_SAMPLE), 4);
}

static void what_waits_at_the_end_is_kept(void **state)
{
	(void)state;
	plan.switch_bytes = 4096;
	begin();
	tell(100);
	tell(5);
	assert_true(file.cut.on);
	assert_int_equal(sink->end(sink, &err), 0);
	assert_int_equal(file.n_kept, 1);
	assert_int_equal(count_of(file.kept[0].path, RECORD_SAMPLE), 105);
	assert_int_equal(file.total.v[0].samples, 105);
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
		rc = tell(100);
	assert_int_equal(rc, -EFBIG);
	assert_non_null(strstr(err.s, "p.data"));
	/* It stays what it is, and says it again to whoever comes next. */
	assert_int_equal(tell(1), -EFBIG);
	str_reset(&err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(sink->end(sink, &err), -EFBIG);
	str_reset(&err);
	assert_int_equal(strlen(story(path)), file.total.v[0].samples);
	assert_true(file.total.v[0].samples > 0);
	assert_int_equal(file.total.v[0].samples + file.dropped.v[0].samples, 100 * passes + 1);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(samples_and_marks),
		CASE(stray_bits_are_cleared),
		CASE(ids_of_others_become_own),
		CASE(ends_at_max_size),
		CASE(losses_go_in_when_it_is_full),
		CASE(one_file_after_another),
		CASE(one_cut_makes_one_file),
		CASE(a_file_without_samples_has_no_times),
		CASE(switches_by_size),
		CASE(what_names_a_sample_is_in_its_file),
		CASE(what_waits_at_the_end_is_kept),
		CASE(full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
