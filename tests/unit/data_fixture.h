/* SPDX-License-Identifier: MIT */
/*
 * A small recording made by the writer for test_data_*.c, as bytes that a test may then spoil; and reading
 * such bytes back through a memory file.
 */
#ifndef DATA_FIXTURE_H
#define DATA_FIXTURE_H

#include "data/data.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIX_RECORDS = 9, FIX_SAMPLES = 3 }; /* without what the writer adds by itself */

static const uint64_t fix_ids[] = { 101, 102, 201 };
static const uint64_t fix_ips[] = { 0xfffffffffffffe00ULL, 0x401000, 0x401100 };

static inline struct data_event *fix_event(struct events *events, uint64_t config,
					   const uint64_t *ids, size_t n_ids, const char *name)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };
	struct data_event *event;

	attr.config = config;
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			   PERF_SAMPLE_CALLCHAIN;
	attr.sample_id_all = 1;
	attr.precise_ip = 1;
	event = events_add(events, &attr, sizeof(attr), ids, n_ids);
	event->name = xstrdup(name);
	return event;
}

static inline void fix_events(struct events *events)
{
	events_init(events);
	fix_event(events, PERF_COUNT_SW_CPU_CLOCK, fix_ids, 2, "cpu-clock");
	fix_event(events, PERF_COUNT_SW_PAGE_FAULTS, fix_ids + 2, 1, "page-faults");
}

static inline void fix_info(struct info *info)
{
	info_init(info);
	info->hostname = xstrdup("host");
	info->arch = xstrdup("x86_64");
	text_list_add(&info->cmdline, "pstat", 5);
	text_list_add(&info->cmdline, "record", 6);
	info->cpus_available = info->cpus_online = 2;
	info->first_sample_ns = 1000000000;
	info->last_sample_ns = 3500000000;
	info_set(info, FEATURE_HOSTNAME);
	info_set(info, FEATURE_ARCH);
	info_set(info, FEATURE_CMDLINE);
	info_set(info, FEATURE_NRCPUS);
	info_set(info, FEATURE_SAMPLE_TIME);
	info_set(info, FEATURE_EVENT_DESC);
}

static inline struct record_body fix_sample(uint64_t id, uint64_t time_ns)
{
	struct record_body body = { .type = RECORD_SAMPLE, .misc = MISC_USER };

	body.sample.id = id;
	body.sample.ip = 0x401000;
	body.sample.pid = body.sample.tid = 42;
	body.sample.time_ns = time_ns;
	body.sample.cpu = 1;
	body.sample.period = 1000;
	body.sample.ips = fix_ips;
	body.sample.n_ips = 3;
	return body;
}

/* The i-th of FIX_RECORDS records. */
static inline struct record_body fix_body(unsigned i)
{
	struct record_body body = { .id = { .id = 101, .pid = 42, .tid = 42, .cpu = 1 } };

	body.id.time_ns = 1000 + i;
	switch (i) {
	case 0:
		body.type = RECORD_COMM;
		body.misc = MISC_COMM_EXEC;
		body.comm.pid = body.comm.tid = 42;
		body.comm.comm = "spin";
		return body;
	case 1:
		body.type = RECORD_MMAP2;
		body.misc = MISC_USER;
		body.mmap = (struct record_mmap){ .pid = 42,
						  .tid = 42,
						  .start = 0x400000,
						  .len = 0x2000,
						  .pgoff = 0x1000,
						  .major = 8,
						  .minor = 1,
						  .inode = 77,
						  .prot = 5,
						  .flags = 2,
						  .path = "/bin/spin" };
		return body;
	case 2:
		body.type = RECORD_FORK;
		body.task = (struct record_task){ 43, 42, 43, 42, 1002 };
		return body;
	case 6:
		body.type = RECORD_LOST;
		body.lost.id = 101;
		body.lost.lost = 5;
		return body;
	case 7:
		body.type = RECORD_EXIT;
		body.task = (struct record_task){ 43, 42, 43, 42, 1007 };
		return body;
	case 8:
		body.type = RECORD_FINISHED_ROUND;
		return body;
	default:
		return fix_sample(i == 5 ? 201 : 101, 1000 + i);
	}
}

static inline void fix_path(char *path, size_t n, const char *name)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, n, "%s/pstat-test-%d-%s", tmp ? tmp : "/tmp", (int)getpid(), name);
}

static inline void fix_write(struct writer *writer, const struct events *events)
{
	struct str err = STR_INIT;

	for (unsigned i = 0; i < FIX_RECORDS; i++) {
		struct record_body body = fix_body(i);

		assert_int_equal(
			writer_add_body(writer, &body,
					body.type < RECORD_USER_FIRST ? events->v[0] : NULL, &err),
			0);
	}
	str_release(&err);
}

/* The whole recording, as the writer makes it; options->path is replaced. */
static inline void fix_recording(struct writer_options options, struct str *bytes)
{
	struct writer writer;
	struct events events;
	struct info info;
	struct str err = STR_INIT;
	char path[256];

	fix_path(path, sizeof(path), "recording");
	options.path = path;
	unlink(path);
	fix_events(&events);
	fix_info(&info);
	assert_int_equal(writer_open(&writer, &options, &events, &info, &err), 0);
	fix_write(&writer, &events);
	assert_int_equal(writer_finish(&writer, &events, &info, &err), 0);
	writer_close(&writer);
	str_init(bytes);
	assert_int_equal(read_text_file(path, bytes), 0);
	unlink(path);
	events_release(&events);
	info_release(&info);
	str_release(&err);
}

/* What reading some bytes gave. */
struct fix_result {
	int open_rc, next_rc;
	unsigned records, broken, samples, rounds; /* records: but HEADER_FEATURE */
	struct str err, first_broken, missing, dump;
	uint64_t unknown_ids;
	size_t n_notes;
	char note[512]; /* the first */
};

static inline void fix_result_release(struct fix_result *result)
{
	str_release(&result->err);
	str_release(&result->first_broken);
	str_release(&result->missing);
	str_release(&result->dump);
}

static inline void fix_read_fd(int fd, struct fix_result *result)
{
	struct reader reader;
	struct record record;
	struct record_body body;

	memset(result, 0, sizeof(*result));
	str_init(&result->err);
	str_init(&result->first_broken);
	str_init(&result->missing);
	str_init(&result->dump);
	result->open_rc = reader_open_fd(&reader, fd, "input", &result->err);
	while (!result->open_rc &&
	       (result->next_rc = reader_next(&reader, &record, &result->err)) > 0) {
		struct str why = STR_INIT;

		/* Those of a cut file may lie in front of its data. */
		result->records += record.type != RECORD_HEADER_FEATURE;
		if (reader_decode(&reader, &record, &body, &why)) {
			if (!result->broken++)
				str_add(&result->first_broken, why.s);
			str_release(&why);
			continue;
		}
		record_dump(&reader.decoder, &record, &body, &result->dump);
		result->samples += record.type == RECORD_SAMPLE;
		result->rounds += record.type == RECORD_FINISHED_ROUND;
	}
	str_addn(&result->missing, reader.missing.s, reader.missing.len);
	result->unknown_ids = reader.decoder.unknown_ids;
	result->n_notes = reader.notes.n;
	if (reader.notes.n)
		snprintf(result->note, sizeof(result->note), "%s", reader.notes.v[0].text);
	reader_close(&reader);
}

static inline int fix_memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, n), 0);
	return fd;
}

static inline void fix_read(const void *bytes, size_t n, struct fix_result *result)
{
	fix_read_fd(fix_memory_file(bytes, n), result);
}

/* Through a pipe; at most 60,000 bytes, which a pipe holds. */
static inline void fix_read_pipe(const void *bytes, size_t n, struct fix_result *result)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write_all(fds[1], bytes, n), 0);
	close(fds[1]);
	fix_read_fd(fds[0], result);
}

/* Offset of the n-th record (from 0) of a type in a recording; fails the test where there is none. */
static inline size_t fix_find(const struct str *bytes, uint32_t type, unsigned n)
{
	struct reader reader;
	struct record record;
	struct str err = STR_INIT;
	size_t found = 0;

	assert_int_equal(reader_open_fd(&reader, fix_memory_file(bytes->s, bytes->len), "x", &err),
			 0);
	while (!found && reader_next(&reader, &record, &err) > 0)
		if (record.type == type && !n--)
			found = record.offset;
	reader_close(&reader);
	str_release(&err);
	assert_true(found);
	return found;
}

#define assert_has(text, part)                                                                     \
	do {                                                                                       \
		if (!strstr((text), (part)))                                                       \
			fail_msg("\"%s\" lacks \"%s\"", (text), (part));                           \
	} while (0)

#endif
