/* SPDX-License-Identifier: MIT */
/*
 * A recording whose every name is known: process 100 ("prog") runs code without a file, named by a
 * perf-100.map; the kernel's names are in a kallsyms file. Samples are words, outermost caller first:
 * "main a k:read" was sampled in the kernel. Then the report of it as text.
 */
#ifndef REPORT_RECORDING_H
#define REPORT_RECORDING_H

#include "ask_fixture.h"
#include "fmt/fmt_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct recorded_samples {
	const char *comm; /* NULL: "prog"; IDLE: of process 0, others of process 100 */
	const char *chain; /* "": the sample has no chain, and is at main */
	unsigned count, event; /* event: 0 or 1 */
	uint64_t period; /* 0: 1000; NO_PERIOD: 0 */
	uint32_t cpu; /* where recorded.two_sockets says of them: 0 or 1, each in a socket of its own */
};

#define NO_PERIOD UINT64_MAX
#define IDLE "swapper"
#define USER_CODE 0x10000000ULL
#define KERNEL_CODE 0xffffffff81000000ULL
enum { FUNCTION_BYTES = 0x100, MAX_FRAMES = 64 };

/* A name's number is its place here; its code is FUNCTION_BYTES behind that of the one before. TWIN: of the last. */
#define TWIN "0x10000908"
static const char *const user_names[] = { "main", "a", "b",          "c",
					  "d",    "e", "semi;colon", "com,ma \"q\"",
					  "twin", "twin" };
static const char *const kernel_names[] = { "_text", "entry", "read", "write" };

struct recorded {
	char folder[256], data[300], map[300], kallsyms[300];
	bool two_sockets;
	uint64_t step_ns; /* from sample to sample; 0: 1 */
};

static inline uint64_t function_id_of(const char *word, bool *kernel)
{
	const char *const *names = user_names;
	size_t n = ARRAY_SIZE(user_names);

	*kernel = !strncmp(word, "k:", 2);
	if (*kernel) {
		word += 2;
		names = kernel_names;
		n = ARRAY_SIZE(kernel_names);
	}
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], word))
			return (*kernel ? KERNEL_CODE : USER_CODE) + i * FUNCTION_BYTES + 8;
	return strtoull(word, NULL, 16); /* "0x77" */
}

static inline void write_file(const char *path, const struct str *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text->s, text->len), 0);
	close(fd);
}

static inline void write_names(const struct recorded *recorded)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(user_names); i++)
		str_addf(&text, "%llx %x %s\n", USER_CODE + i * FUNCTION_BYTES, FUNCTION_BYTES,
			 user_names[i]);
	write_file(recorded->map, &text);
	str_reset(&text);
	for (size_t i = 0; i < ARRAY_SIZE(kernel_names); i++)
		str_addf(&text, "%llx T %s\n", KERNEL_CODE + i * FUNCTION_BYTES, kernel_names[i]);
	str_addf(&text, "%llx T _etext\n", KERNEL_CODE + 0x100000);
	write_file(recorded->kallsyms, &text);
	str_release(&text);
}

static inline void add_body(struct writer *writer, const struct events *events,
			    struct record_body *body, unsigned event)
{
	struct str err = STR_INIT;

	body->id.id = 11 + event;
	if (body->type == RECORD_SAMPLE)
		body->sample.id = 11 + event;
	assert_int_equal(writer_add_body(writer, body, events->v[event], &err), 0);
	str_release(&err);
}

static inline void add_maps(struct writer *writer, const struct events *events)
{
	struct record_body kernel = { .type = RECORD_MMAP, .misc = MISC_KERNEL };
	struct record_body user = { .type = RECORD_MMAP2, .misc = MISC_USER };

	kernel.mmap = (struct record_mmap){ .pid = UINT32_MAX,
					    .start = KERNEL_CODE,
					    .len = 0x100000,
					    .pgoff = KERNEL_CODE,
					    .path = "[kernel.kallsyms]_text" };
	user.mmap = (struct record_mmap){ .pid = 100,
					  .tid = 100,
					  .start = USER_CODE,
					  .len = 0x10000,
					  .prot = 5,
					  .flags = 2,
					  .path = "//anon" };
	add_body(writer, events, &kernel, 0);
	add_body(writer, events, &user, 0);
}

/* The chain innermost first, with the marks that the kernel puts between its parts. */
static inline size_t chain_ips(const char *chain, uint64_t *ips)
{
	const char *words[MAX_FRAMES];
	char *copy = xstrdup(chain), *rest = copy, *word;
	size_t n_words = 0, n = 0;
	uint64_t mark = 0;

	while ((word = strsep(&rest, "|"))) {
		assert_true(n_words < MAX_FRAMES);
		words[n_words++] = word;
	}
	while (n_words) {
		bool kernel;
		uint64_t ip = function_id_of(words[--n_words], &kernel);

		if (mark != (kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER)) {
			mark = kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
			ips[n++] = mark;
		}
		ips[n++] = ip;
	}
	free(copy);
	return n;
}

static inline void add_samples(struct writer *writer, const struct events *events,
			       const struct recorded_samples *samples, uint64_t *time_ns, uint64_t step_ns)
{
	struct record_body comm = { .type = RECORD_COMM };
	struct record_body body = { .type = RECORD_SAMPLE, .misc = MISC_USER };
	uint64_t ips[2 * MAX_FRAMES];

	comm.id.time_ns = ++*time_ns;
	comm.comm.pid = comm.comm.tid = samples->comm && !strcmp(samples->comm, IDLE) ? 0 : 100;
	comm.comm.comm = samples->comm ? samples->comm : "prog";
	add_body(writer, events, &comm, 0);
	body.sample.ips = ips;
	body.sample.ip = USER_CODE + 8;
	if (*samples->chain) {
		body.sample.n_ips = chain_ips(samples->chain, ips);
		body.sample.ip = ips[1];
		body.misc = ips[0] == PERF_CONTEXT_KERNEL ? MISC_KERNEL : MISC_USER;
	}
	body.sample.pid = body.sample.tid = comm.comm.pid;
	body.sample.period = samples->period == NO_PERIOD ? 0 : samples->period ? samples->period : 1000;
	body.sample.cpu = samples->cpu;
	for (unsigned i = 0; i < samples->count; i++) {
		*time_ns += step_ns ? step_ns : 1;
		body.sample.time_ns = *time_ns;
		add_body(writer, events, &body, samples->event);
	}
}

static inline void init_events(struct events *events, unsigned n)
{
	static const char *const names[] = { "cycles", "faults" };
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			   PERF_SAMPLE_CALLCHAIN;
	attr.sample_id_all = 1;
	events_init(events);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t id = 11 + i;

		attr.config = i;
		events_add(events, &attr, sizeof(attr), &id, 1)->name = xstrdup(names[i]);
	}
}

static inline void add_sockets(struct info *info)
{
	info->cpus_online = info->cpus_available = 2;
	info->cpus.n = info->cpus.cap = 2;
	info->cpus.v = xcalloc(2, sizeof(*info->cpus.v));
	info->cpus.v[1] = (struct info_cpu){ .core = 1, .socket = 1 };
	info_set(info, FEATURE_NRCPUS);
	info_set(info, FEATURE_CPU_TOPOLOGY);
}

static inline void record_samples(struct recorded *recorded, const struct recorded_samples *samples,
				  size_t n, unsigned n_events)
{
	const char *tmp = getenv("TMPDIR");
	struct writer_options options = { .path = recorded->data };
	struct writer writer;
	struct events events;
	struct info info;
	struct str err = STR_INIT;
	uint64_t time_ns = 1000;

	snprintf(recorded->folder, sizeof(recorded->folder), "%s/pstat-report-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(recorded->folder));
	snprintf(recorded->data, sizeof(recorded->data), "%s/data", recorded->folder);
	snprintf(recorded->map, sizeof(recorded->map), "%s/perf-100.map", recorded->folder);
	snprintf(recorded->kallsyms, sizeof(recorded->kallsyms), "%s/kallsyms", recorded->folder);
	write_names(recorded);
	init_events(&events, n_events);
	info_init(&info);
	info.hostname = xstrdup("host");
	info_set(&info, FEATURE_HOSTNAME);
	info_set(&info, FEATURE_EVENT_DESC);
	if (recorded->two_sockets)
		add_sockets(&info);
	assert_int_equal(writer_open(&writer, &options, &events, &info, &err), 0);
	add_maps(&writer, &events);
	for (size_t i = 0; i < n; i++)
		add_samples(&writer, &events, &samples[i], &time_ns, recorded->step_ns);
	assert_int_equal(writer_finish(&writer, &events, &info, &err), 0);
	writer_close(&writer);
	events_release(&events);
	info_release(&info);
	str_release(&err);
}

static inline void recorded_remove(const struct recorded *recorded)
{
	unlink(recorded->data);
	unlink(recorded->map);
	unlink(recorded->kallsyms);
	rmdir(recorded->folder);
}

/* What perf does by default, with the recording's own names. */
static inline struct query recorded_options(const struct recorded *recorded)
{
	struct query options = { .children = -1 };

	options.chain = (struct chain_options){ .kind = CHAIN_GRAPH, .min_percent = 0.5 };
	options.session.sym.map_dir = recorded->folder;
	options.session.sym.kallsyms = recorded->kallsyms;
	options.session.sym.ignore_vmlinux = true;
	return options;
}

/* The format that needs what the options say; the table where they say nothing. */
static inline const struct report_format *recorded_format(const struct query *options)
{
	static const char *const names[] = { "folded", "stacks", "json" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (options->needs == report_format_find(names[i])->needs)
			return report_format_find(names[i]);
	return report_format_find("stdio");
}

/* The report's text, and its notes where they are asked for. The caller releases text. */
static inline void recorded_report(const struct recorded *recorded,
				   const struct query *options, bool color,
				   struct str *text, struct str *notes)
{
	struct output output = { .text = STR_INIT, .color = color };
	struct note_list *lines;
	struct asked asked;
	struct reader reader;
	struct str err = STR_INIT;

	assert_int_equal(reader_open(&reader, recorded->data, &err), 0);
	if (asked_alone(&asked, options, &reader, &err))
		fail_msg("%s", err.s);
	assert_int_equal(recorded_format(options)->print(asked.table, &output), 0);
	lines = &asked.profile->session.notes;
	note_list_join(lines, &asked.table->notes);
	if (notes)
		for (size_t i = 0; i < lines->n; i++)
			str_addf(notes, "%s\n", lines->v[i].text);
	asked_release(&asked);
	reader_close(&reader);
	str_release(&err);
	*text = output.text;
}

#endif
