/* SPDX-License-Identifier: MIT */
/*
 * golden_maker: one recording, written by the encoder of data/ record by record.
 */
#include "golden/golden.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHAIN_MAX = 1024 };

void golden_stop(const char *what, const char *why)
{
	fprintf(stderr, "make_recordings: %s: %s\n", what, why);
	exit(1);
}

void golden_write_file(const char *path, const struct str *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write_all(fd, bytes->s, bytes->len) || close(fd))
		golden_stop(path, strerror(errno));
}

struct perf_event_attr golden_attr(uint64_t more)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = ATTR_BYTES,
					.sample_period = 1000,
					.disabled = 1,
					.inherit = 1,
					.mmap = 1,
					.comm = 1,
					.task = 1,
					.sample_id_all = 1,
					.exclude_guest = 1,
					.mmap2 = 1,
					.comm_exec = 1 };

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | more;
	return attr;
}

struct data_event *golden_event(struct golden *g, const struct perf_event_attr *attr, const char *name)
{
	uint64_t id = 11 + g->events.n;
	char bytes[ATTR_BYTES] = { 0 };
	struct data_event *event;

	memcpy(bytes, attr, sizeof(*attr) < ATTR_BYTES ? sizeof(*attr) : ATTR_BYTES);
	event = events_add(&g->events, bytes, ATTR_BYTES, &id, 1);
	event->name = xstrdup(name);
	return event;
}

void golden_one_event(struct golden *g, uint64_t more)
{
	struct perf_event_attr attr = golden_attr(more);

	golden_event(g, &attr, "cycles");
}

void golden_start(struct golden *g)
{
	struct str err = STR_INIT;

	if (writer_open(&g->writer, &g->options, &g->events, &g->info, &err))
		golden_stop(g->path, err.s);
}

void golden_start_app(struct golden *g)
{
	golden_start(g);
	golden_kernel_map(g, MISC_KERNEL, KERNEL_BASE, 0x10000, "[kernel.kallsyms]_text");
	golden_comm(g, PID, PID, true, "app");
	golden_map(g, PID, APP_BASE, MAP_BYTES, 0, APP_PATH);
	golden_map(g, PID, LIB_BASE, MAP_BYTES, 0, LIB_PATH);
}

static void note_time(struct golden *g, uint64_t time_ns)
{
	if (!g->first_sample_ns || time_ns < g->first_sample_ns)
		g->first_sample_ns = time_ns;
	if (time_ns > g->last_sample_ns)
		g->last_sample_ns = time_ns;
}

void golden_add(struct golden *g, struct record_body *body)
{
	struct str err = STR_INIT;
	const struct data_event *event = body->type < RECORD_USER_FIRST ? g->events.v[g->event] : NULL;

	g->now_ns += MS;
	body->id.id = 11 + g->event;
	if (!body->id.time_ns)
		body->id.time_ns = g->now_ns;
	if (!body->id.pid && !body->id.tid)
		body->id.pid = body->id.tid = PID;
	if (body->type == RECORD_SAMPLE) {
		body->sample.id = 11 + g->event;
		if (!body->sample.time_ns)
			body->sample.time_ns = g->now_ns;
		note_time(g, body->sample.time_ns);
	} else if (body->type == RECORD_FORK || body->type == RECORD_EXIT) {
		body->task.time_ns = body->id.time_ns;
	}
	if (writer_add_body(&g->writer, body, event, &err))
		golden_stop(g->path, err.s);
}

void golden_round(struct golden *g)
{
	struct str err = STR_INIT;

	if (writer_add_round(&g->writer, &err))
		golden_stop(g->path, err.s);
}

void golden_comm(struct golden *g, int pid, int tid, bool exec, const char *comm)
{
	struct record_body body = { .type = RECORD_COMM, .misc = exec ? MISC_COMM_EXEC : 0 };

	body.comm.pid = body.id.pid = (uint32_t)pid;
	body.comm.tid = body.id.tid = (uint32_t)tid;
	body.comm.comm = comm;
	golden_add(g, &body);
}

static void add_task(struct golden *g, uint32_t type, int pid, int tid, int ppid, int ptid)
{
	struct record_body body = { .type = type };

	body.task = (struct record_task){ .pid = (uint32_t)pid, .ppid = (uint32_t)ppid,
					  .tid = (uint32_t)tid, .ptid = (uint32_t)ptid };
	body.id.pid = type == RECORD_FORK ? (uint32_t)ppid : (uint32_t)pid;
	body.id.tid = type == RECORD_FORK ? (uint32_t)ptid : (uint32_t)tid;
	golden_add(g, &body);
}

void golden_fork(struct golden *g, int pid, int tid, int ppid, int ptid)
{
	add_task(g, RECORD_FORK, pid, tid, ppid, ptid);
}

void golden_exit(struct golden *g, int pid, int tid)
{
	add_task(g, RECORD_EXIT, pid, tid, pid, tid);
}

static void add_build_id(struct record_body *body)
{
	static const struct {
		const char *path;
		uint8_t first;
	} files[] = { { APP_PATH, APP_BUILD_ID },
		      { LIB_PATH, LIB_BUILD_ID },
		      { STRANGE_PATH, STRANGE_BUILD_ID },
		      { SHOP_PATH, SHOP_BUILD_ID } };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (strcmp(files[i].path, body->mmap.path) != 0)
			continue;
		body->misc |= MISC_MMAP_BUILD_ID;
		body->mmap.build_id_size = BUILD_ID_BYTES;
		for (uint8_t k = 0; k < BUILD_ID_BYTES; k++)
			body->mmap.build_id[k] = (uint8_t)(files[i].first + k);
	}
}

void golden_map(struct golden *g, int pid, uint64_t start, uint64_t bytes, uint64_t pgoff, const char *path)
{
	struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER };

	body.id.pid = body.id.tid = (uint32_t)pid;
	body.mmap = (struct record_mmap){ .pid = (uint32_t)pid, .tid = (uint32_t)pid,
					  .start = start, .len = bytes, .pgoff = pgoff,
					  .major = 8, .minor = 1, .inode = 77,
					  .prot = PROT_RX, .flags = 2, .path = path };
	add_build_id(&body);
	golden_add(g, &body);
}

void golden_kernel_map(struct golden *g, uint16_t misc, uint64_t start, uint64_t bytes, const char *path)
{
	struct record_body body = { .type = RECORD_MMAP, .misc = misc };

	body.mmap = (struct record_mmap){ .pid = UINT32_MAX, .start = start, .len = bytes,
					  .pgoff = start, .path = path };
	golden_add(g, &body);
}

struct record_body golden_sample(uint64_t ip)
{
	struct record_body body = { .type = RECORD_SAMPLE };

	body.misc = ip >> 63 ? MISC_KERNEL : MISC_USER;
	body.sample.ip = ip;
	body.sample.pid = body.sample.tid = PID;
	body.sample.cpu = 1;
	body.sample.period = 1000;
	return body;
}

void golden_add_sample(struct golden *g, uint64_t ip, uint64_t period)
{
	struct record_body body = golden_sample(ip);

	body.sample.period = period;
	golden_add(g, &body);
}

void golden_add_chain(struct golden *g, uint64_t period, const uint64_t *ips, size_t n)
{
	struct record_body body = golden_sample(ips[0]);
	uint64_t all[CHAIN_MAX], mark = 0;
	size_t filled = 0;

	for (size_t i = 0; i < n && filled + 2 <= CHAIN_MAX; i++) {
		uint64_t wanted = ips[i] >> 63 ? (uint64_t)PERF_CONTEXT_KERNEL : (uint64_t)PERF_CONTEXT_USER;

		if (wanted != mark)
			all[filled++] = mark = wanted;
		all[filled++] = ips[i];
	}
	body.sample.ips = all;
	body.sample.n_ips = filled;
	body.sample.period = period;
	golden_add(g, &body);
}
