/* SPDX-License-Identifier: MIT */
/*
 * Samples, as another program takes them with libpstat: what the kernel delivers is compared with what this program
 * knows that it did. A watched variable gives a sample for each write, exactly.
 *
 * Prints a line for each check: "ok - name", "not ok - name" with what was seen, or "skip - name # reason".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpstat.h"

static const char *now; /* the check that runs */
static int failures;

static void __attribute__((format(printf, 2, 3))) check(bool good, const char *what, ...)
{
	va_list ap;

	failures += !good;
	printf("%s - %s: ", good ? "ok" : "not ok", now);
	va_start(ap, what);
	vprintf(what, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

#define SAME(what, truth, seen)                                                                   \
	do {                                                                                      \
		unsigned long long truth_ = (unsigned long long)(truth), seen_ = (unsigned long long)(seen); \
		check(truth_ == seen_, "%s: %llu, seen %llu", what, truth_, seen_);               \
	} while (0)

static void skip(const char *why)
{
	printf("skip - %s # %s\n", now, why);
	fflush(stdout);
}

/* ---- variables that are watched ---- */

static volatile long watched, other;

static void __attribute__((noinline)) write_it(int n)
{
	for (int i = 0; i < n; i++)
		watched = i;
}

static struct pstat_error error = { .size = sizeof(error) };
static struct pstat_events *events;
static struct pstat_sampling_options options;
static struct pstat_open_options open_options;

static void begin(const char *name)
{
	now = name;
	memset(&options, 0, sizeof(options));
	memset(&open_options, 0, sizeof(open_options));
	options.size = sizeof(options);
	open_options.size = sizeof(open_options);
	options.open = &open_options;
	options.period = 1;
	if (pstat_events_new(&events))
		abort();
}

static void watch(volatile long *variable)
{
	char text[64];

	snprintf(text, sizeof(text), "mem:%p/%zu:w:u", (void *)(uintptr_t)variable, sizeof(*variable));
	if (pstat_events_parse(events, text, &error))
		check(false, "%s", error.text);
}

/* NULL: said why already. */
static struct pstat_sampler *open_sampler(void)
{
	struct pstat_sampler *sampler;
	int rc = pstat_sampler_open(&sampler, events, &options, &error);
	const struct pstat_counter *first;

	if (rc) {
		check(false, "opens: %s (%d)", error.text, rc);
		return NULL;
	}
	first = pstat_counter(pstat_sampler_counters(sampler), 0);
	if (!first->supported) {
		skip(first->reason ? first->reason : "its event cannot be opened");
		pstat_sampler_close(sampler);
		return NULL;
	}
	return sampler;
}

static void end(struct pstat_sampler *sampler)
{
	pstat_sampler_close(sampler);
	pstat_events_free(events);
}

static void enable(struct pstat_sampler *sampler)
{
	if (pstat_enable(pstat_sampler_counters(sampler)))
		check(false, "enables");
}

static void disable(struct pstat_sampler *sampler)
{
	if (pstat_disable(pstat_sampler_counters(sampler)))
		check(false, "disables");
}

/* The next record that is a sample; NULL: none is left. */
static const struct pstat_record *next_sample(struct pstat_sampler *sampler)
{
	const struct pstat_record *record;
	int rc;

	while ((rc = pstat_sampler_next(sampler, &record, &error)) == 1)
		if (record->record_type == PSTAT_RECORD_SAMPLE)
			return record;
	if (rc < 0)
		check(false, "reads: %s", error.text);
	return NULL;
}

static uint64_t counted(struct pstat_sampler *sampler, size_t index)
{
	struct pstat_counters *counters = pstat_sampler_counters(sampler);
	struct pstat_readings *readings;
	uint64_t raw;

	if (pstat_readings_new(&readings, counters) || pstat_read(counters, readings))
		abort();
	raw = pstat_reading_at(readings, index)->raw;
	pstat_readings_free(readings);
	return raw;
}

static struct pstat_sampler_counts counts_of(struct pstat_sampler *sampler)
{
	struct pstat_sampler_counts counts = { .size = sizeof(counts) };

	pstat_sampler_count(sampler, &counts);
	return counts;
}

/* ---- the checks ---- */

enum { WRITES = 100 }; /* fewer than the kernel allows in a tick, even where that is little */

static void each_write(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	uint64_t before = 0;
	int n = 0, wrong = 0;

	begin("each write is a sample");
	watch(&watched);
	options.fields = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CPU;
	sampler = open_sampler();
	if (!sampler)
		return;
	watched = 1; /* nobody looks yet */
	enable(sampler);
	write_it(WRITES);
	disable(sampler);
	watched = 2;
	while ((r = next_sample(sampler))) {
		uintptr_t from = r->body.sample.ip - (uintptr_t)write_it;

		n++;
		wrong += r->body.sample.addr != (uintptr_t)&watched || from > 200 || r->body.sample.period != 1 ||
			 r->tid != (uint32_t)gettid() || r->pid != (uint32_t)getpid() || r->time_ns < before ||
			 r->mode != PSTAT_MODE_USER || r->event != 0;
		before = r->time_ns;
	}
	SAME("samples", WRITES, n);
	SAME("of them wrong", 0, wrong);
	SAME("counted", WRITES, counted(sampler, 0));
	SAME("delivered samples", WRITES, counts_of(sampler).samples);
	SAME("lost", 0, counts_of(sampler).lost_now);
	end(sampler);
}

enum { PATTERN_BYTES = 64 };

/* A frame of its own, which is small with a sanitizer, too: the copy lies some bytes above the stack pointer. */
static void __attribute__((noinline)) write_below(const unsigned char *pattern)
{
	volatile unsigned char copy[PATTERN_BYTES];

	for (size_t i = 0; i < sizeof(copy); i++)
		copy[i] = pattern[i];
	write_it(1);
	__asm__ volatile("" ::"r"(copy) : "memory");
}

/* Rings are small: what is written wraps many times. */
static void around_the_ring(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	int n = 0;

	begin("around the ring's end");
	watch(&watched);
	options.fields = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_IP;
	options.stack_bytes = 504;
	options.ring_bytes = 4096;
	sampler = open_sampler();
	if (!sampler)
		return;
	enable(sampler);
	for (int i = 0; i < WRITES; i++) {
		unsigned char pattern[PATTERN_BYTES];

		for (size_t k = 0; k < sizeof(pattern); k++)
			pattern[k] = (unsigned char)(i + (int)k);
		write_below(pattern);
		r = next_sample(sampler);
		n += r && r->body.sample.stack_used_bytes >= sizeof(pattern) &&
		     memmem(r->body.sample.stack, r->body.sample.stack_used_bytes, pattern, sizeof(pattern));
	}
	SAME("stack copies that hold the pattern", WRITES, n);
	SAME("broken", 0, counts_of(sampler).broken);
	end(sampler);
}

#if defined(__x86_64__)
enum { REGISTER_IP = 8 };
#elif defined(__aarch64__)
enum { REGISTER_IP = 32 };
#endif

static void fields(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	const struct pstat_sample *s;
	int in_chain = 0;

	begin("fields");
	watch(&watched);
	options.fields = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	options.user_registers = 1ull << REGISTER_IP;
	sampler = open_sampler();
	if (!sampler)
		return;
	enable(sampler);
	write_it(1);
	disable(sampler);
	r = next_sample(sampler);
	check(r != NULL, "there is a sample");
	if (r) {
		s = &r->body.sample;
		SAME("registers", 1, s->user_registers.n);
		SAME("the register of the next instruction is the ip", s->ip,
		     s->user_registers.n ? *s->user_registers.v : 0);
		for (uint64_t i = 0; i < s->n_ips; i++)
			in_chain += s->ips[i] == s->ip;
		SAME("the ip is in the callchain", 1, in_chain);
		SAME("has", options.fields | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, r->has);
	}
	end(sampler);
}

static void two_events(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	int n[2] = { 0, 0 }, wrong = 0;

	begin("two events in one ring");
	watch(&watched);
	watch(&other);
	options.fields = PERF_SAMPLE_ADDR;
	sampler = open_sampler();
	if (!sampler)
		return;
	enable(sampler);
	for (int i = 0; i < 20; i++) {
		write_it(2);
		other = i;
	}
	disable(sampler);
	while ((r = next_sample(sampler))) {
		wrong += r->body.sample.addr != (uintptr_t)(r->event ? &other : &watched);
		n[r->event == 1]++;
	}
	SAME("of the first", 40, n[0]);
	SAME("of the second", 20, n[1]);
	SAME("with the other's address", 0, wrong);
	end(sampler);
}

/* A group: each sample of the leader has both counts. */
static void group_values(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	uint64_t ids[2] = { 0, 0 };
	int n = 0, wrong = 0;

	begin("values of a group");
	watch(&watched);
	watch(&other);
	if (pstat_events_group(events, 0, 2, &error))
		check(false, "groups: %s", error.text);
	options.fields = PERF_SAMPLE_READ;
	sampler = open_sampler();
	if (!sampler)
		return;
	pstat_ids(pstat_sampler_counters(sampler), 0, &ids[0], 1);
	pstat_ids(pstat_sampler_counters(sampler), 1, &ids[1], 1);
	enable(sampler);
	for (int i = 0; i < 20; i++) {
		other = i;
		other = i;
		watched = i;
	}
	disable(sampler);
	while ((r = next_sample(sampler))) {
		const struct pstat_values *values = &r->body.sample.values;
		uint64_t value[2] = { 0, 0 }, id[2] = { 0, 0 }, lost;

		n++;
		pstat_value(values, 0, &value[0], &id[0], &lost);
		pstat_value(values, 1, &value[1], &id[1], &lost);
		wrong += values->n != 2 || value[0] != (uint64_t)n || value[1] != (uint64_t)n * 2 || id[0] != ids[0] ||
			 id[1] != ids[1] || !values->enabled_ns;
	}
	SAME("samples of the leader", 20, n);
	SAME("with other values", 0, wrong);
	end(sampler);
}

/* A ring that has room for three, and is not read. */
static void losses(void)
{
	struct pstat_sampler *sampler;
	struct pstat_sampler_counts counts;
	uint64_t before, told = 0;
	const struct pstat_record *r;

	begin("losses");
	watch(&watched);
	options.fields = PERF_SAMPLE_STACK_USER;
	options.stack_bytes = 1024;
	options.ring_bytes = 4096;
	sampler = open_sampler();
	if (!sampler)
		return;
	enable(sampler);
	write_it(WRITES);
	while (next_sample(sampler))
		;
	counts = counts_of(sampler);
	before = counts.lost_now;
	check(counts.samples >= 1 && counts.samples <= 3, "one to three fit: %llu", (unsigned long long)counts.samples);
	if (counts.lost_now_known)
		SAME("delivered and lost", WRITES, counts.samples + counts.lost_now);
	SAME("counted", WRITES, counted(sampler, 0));
	SAME("told by the ring while it was full", 0, counts.lost);
	/* With the next record the kernel says what was lost before. */
	write_it(1);
	while (pstat_sampler_next(sampler, &r, &error) == 1)
		told += r->record_type == PSTAT_RECORD_LOST ? r->body.lost.n : 0;
	disable(sampler);
	counts = counts_of(sampler);
	SAME("delivered, and lost as LOST says", WRITES + 1, counts.samples + told);
	SAME("what was counted of it", told, counts.lost);
	if (counts.lost_now_known)
		SAME("and the kernel's", before, counts.lost_now);
	else
		skip("the kernel does not count losses (before Linux 6.0)");
	end(sampler);
}

static bool is_ready(struct pstat_sampler *sampler)
{
	struct pollfd fd = { .fd = pstat_sampler_fd(sampler), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static int writes_until_ready(struct pstat_sampler *sampler)
{
	int n = 0;

	while (!is_ready(sampler) && n < 200) {
		write_it(1);
		n++;
	}
	return n;
}

static void wake_by_events(void)
{
	struct pstat_sampler *sampler;
	int n = 0;

	begin("wake-up after so many samples");
	watch(&watched);
	options.wakeup_events = 10;
	sampler = open_sampler();
	if (!sampler)
		return;
	enable(sampler);
	SAME("writes until it is ready", 10, writes_until_ready(sampler));
	check(!is_ready(sampler), "the news is told once");
	while (next_sample(sampler))
		n++;
	SAME("samples", 10, n);
	write_it(9);
	check(!is_ready(sampler), "nine are too few to be woken for");
	SAME("they are there, though", 1, pstat_sampler_wait(sampler, -1));
	write_it(1);
	SAME("ten are enough", 1, pstat_sampler_wait(sampler, -1));
	while (next_sample(sampler))
		;
	SAME("for once", 0, pstat_sampler_wait(sampler, 0));
	check(!is_ready(sampler), "and for the descriptor, too");
	end(sampler);
}

static void wake_by_bytes(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	uint32_t size;

	begin("wake-up after so many bytes");
	watch(&watched);
	options.wakeup_bytes = 1000;
	sampler = open_sampler();
	if (!sampler)
		return;
	enable(sampler);
	write_it(1);
	r = next_sample(sampler);
	size = r ? r->n_bytes : 1;
	/* Woken by the record with which more than so many lie there, counted from the ring's beginning. */
	SAME("writes until it is ready", 1000 / size + 1, 1 + writes_until_ready(sampler));
	disable(sampler);
	end(sampler);
}

/* ---- a known program ---- */

enum { MAPPED = 3 * 4096 };

static void known_child(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_NAME, "renamed");
	/* A page of its own, so that no neighbour is joined with it. */
	if (fd < 0 || mmap(NULL, MAPPED, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096) == MAP_FAILED)
		_exit(1);
	execl("/proc/self/exe", "a name", "nothing", (char *)NULL);
	_exit(1);
}

struct story {
	int forks, renames, execs, exits, maps, wrong;
	pid_t child;
	struct stat file;
	uint64_t before;
	char path[4096];
};

static void tell(struct story *story, const struct pstat_record *r)
{
	const struct pstat_map *map = &r->body.map;
	bool child = r->pid == (uint32_t)story->child;

	switch (r->record_type) {
	case PSTAT_RECORD_FORK:
		story->forks += r->body.task.pid == (uint32_t)story->child &&
				r->body.task.parent_pid == (uint32_t)getpid() &&
				r->body.task.tid == (uint32_t)story->child &&
				r->body.task.parent_tid == (uint32_t)gettid();
		break;
	case PSTAT_RECORD_EXIT:
		story->exits += r->body.task.pid == (uint32_t)story->child &&
				r->body.task.tid == (uint32_t)story->child;
		break;
	case PSTAT_RECORD_COMM:
		story->renames += child && !r->body.comm.exec && !strcmp(r->body.comm.name, "renamed") &&
				  r->body.comm.pid == r->pid;
		story->execs += child && r->body.comm.exec && strcmp(r->body.comm.name, "renamed") != 0;
		break;
	case PSTAT_RECORD_MMAP2:
		if (child && map->length == MAPPED && map->file_offset == 4096)
			story->maps += map->inode == story->file.st_ino && !strcmp(map->path, story->path) &&
				       map->protection == (PROT_READ | PROT_EXEC) && !map->data && map->tid == r->tid;
		break;
	default:
		break;
	}
}

static void known_program(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	struct story story;
	ssize_t n;

	memset(&story, 0, sizeof(story));
	begin("a known program");
	options.period = 0;
	options.track = PSTAT_TRACK_MAPS | PSTAT_TRACK_NAMES | PSTAT_TRACK_TASKS;
	open_options.inherit = 1;
	open_options.enabled = 1;
	n = readlink("/proc/self/exe", story.path, sizeof(story.path) - 1);
	if (pstat_events_parse(events, "dummy:u", &error) || stat("/proc/self/exe", &story.file) || n < 0)
		check(false, "%s", error.text);
	sampler = open_sampler();
	if (!sampler)
		return;
	fflush(stdout);
	story.child = fork();
	if (!story.child)
		known_child();
	waitpid(story.child, NULL, 0);
	while (pstat_sampler_next(sampler, &r, &error) == 1)
		tell(&story, r);
	SAME("FORK of this child by this thread", 1, story.forks);
	SAME("COMM by prctl", 1, story.renames);
	SAME("MMAP2 of this file, with length, offset, protection and inode", 1, story.maps);
	SAME("COMM by exec", 1, story.execs);
	SAME("EXIT", 1, story.exits);
	SAME("broken", 0, counts_of(sampler).broken);
	end(sampler);
}

static long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void switches(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	int ask[2], answer[2], out = 0, in = 0, wrong = 0;
	long before, truth;
	pid_t child;
	char byte = 0;

	begin("context switches");
	options.period = 0;
	options.track = PSTAT_TRACK_SWITCHES;
	if (pstat_events_parse(events, "dummy:u", &error) || pipe(ask) || pipe(answer))
		check(false, "%s", error.text);
	sampler = open_sampler();
	if (!sampler)
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		/* Late enough that who asks has to wait. */
		while (read(ask[0], &byte, 1) == 1 && !usleep(500) && write(answer[1], &byte, 1) == 1 && byte < 49)
			;
		_exit(0);
	}
	before = waits();
	enable(sampler);
	for (byte = 0; byte < 50; byte++)
		if (write(ask[1], &byte, 1) != 1 || read(answer[0], &byte, 1) != 1)
			break;
	disable(sampler);
	truth = waits() - before;
	waitpid(child, NULL, 0);
	while (pstat_sampler_next(sampler, &r, &error) == 1) {
		if (r->record_type != PSTAT_RECORD_SWITCH)
			continue;
		out += r->body.sched.out && !r->body.sched.preempted;
		in += !r->body.sched.out;
		wrong += r->tid != (uint32_t)gettid();
	}
	check(truth > 0, "this thread has waited %ld times", truth);
	SAME("switched out to wait", truth, out);
	check(in >= out, "switched in again: %d", in);
	SAME("of other threads", 0, wrong);
	for (int i = 0; i < 2; i++) {
		close(ask[i]);
		close(answer[i]);
	}
	end(sampler);
}

/* This thread and its children on one CPU from now on: a task that waits for another leaves the CPU to it. */
static void stay_on(cpu_set_t *as_before)
{
	cpu_set_t here;

	sched_getaffinity(0, sizeof(*as_before), as_before);
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

/*
 * On all CPUs: a ring each, whose records are of its CPU, and who comes and goes there. (The kernel does not tell each
 * time that the idle task leaves; so nobody is given an idle CPU.)
 */
static void all_cpus(void)
{
	cpu_set_t as_before;
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	int arrivals = 0, departures = 0, others = 0, elsewhere = 0, rc;
	pid_t child;

	begin("all CPUs");
	options.period = 0;
	options.fields = PERF_SAMPLE_CPU;
	options.track = PSTAT_TRACK_SWITCHES;
	options.ring_bytes = 1 << 20;
	open_options.target = PSTAT_CPUS;
	open_options.enabled = 1;
	if (pstat_events_parse(events, "dummy:u", &error))
		check(false, "%s", error.text);
	rc = pstat_sampler_open(&sampler, events, &options, &error);
	if (rc == -EACCES || rc == -EPERM || (!rc && !pstat_counter(pstat_sampler_counters(sampler), 0)->supported)) {
		skip("this user may not look at all that runs");
		end(sampler);
		return;
	}
	if (rc) {
		check(false, "opens: %s (%d)", error.text, rc);
		return;
	}
	fflush(stdout);
	stay_on(&as_before);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	sched_setaffinity(0, sizeof(as_before), &as_before);
	disable(sampler);
	while (pstat_sampler_next(sampler, &r, &error) == 1) {
		if (r->record_type != PSTAT_RECORD_SWITCH_CPU_WIDE)
			continue;
		elsewhere += r->cpu != (uint32_t)r->ring_cpu;
		arrivals += !r->body.sched.out && r->tid == (uint32_t)child;
		departures += r->body.sched.out && r->body.sched.other_tid == (uint32_t)child;
		others += r->tid != (uint32_t)child;
	}
	check(arrivals >= 1, "the child came: %d", arrivals);
	check(departures >= 1, "somebody left for it: %d", departures);
	check(others >= 1, "others came and went: %d", others);
	SAME("records in another CPU's ring", 0, elsewhere);
	SAME("lost", 0, counts_of(sampler).lost_now);
	end(sampler);
}

/* ---- ends ---- */

static void a_task_ends(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	int go[2], id, rc, exits = 0;
	pid_t child;
	char byte;

	begin("a task ends");
	options.period = 0;
	options.track = PSTAT_TRACK_TASKS;
	if (pipe(go) || pstat_events_parse(events, "dummy:u", &error))
		check(false, "%s", error.text);
	fflush(stdout);
	child = fork();
	if (!child) {
		close(go[1]);
		_exit((int)read(go[0], &byte, 1));
	}
	close(go[0]);
	id = (int)child;
	open_options.target = PSTAT_PID;
	open_options.ids = &id;
	open_options.n_ids = 1;
	open_options.enabled = 1;
	sampler = open_sampler();
	close(go[1]);
	if (!sampler)
		return;
	while ((rc = pstat_sampler_wait(sampler, -1)) == 1)
		while (pstat_sampler_next(sampler, &r, &error) == 1)
			exits += r->record_type == PSTAT_RECORD_EXIT && r->body.task.pid == (uint32_t)child;
	SAME("wait ends with the task", (unsigned)-ENODATA, (unsigned)rc);
	SAME("and says so again", (unsigned)-ENODATA, (unsigned)pstat_sampler_wait(sampler, 1000));
	SAME("after its EXIT", 1, exits);
	waitpid(child, NULL, 0);
	end(sampler);
}

static void forked(void)
{
	struct pstat_sampler *sampler;
	const struct pstat_record *r;
	pid_t child;
	int status = -1;

	begin("in a child of fork");
	watch(&watched);
	sampler = open_sampler();
	if (!sampler)
		return;
	enable(sampler);
	write_it(1);
	fflush(stdout);
	child = fork();
	if (!child) {
		status = pstat_sampler_next(sampler, &r, &error) == -EBADF && pstat_sampler_wait(sampler, 0) == -EBADF;
		pstat_sampler_close(sampler);
		_exit(status ? 0 : 1);
	}
	waitpid(child, &status, 0);
	SAME("there is nothing to read, and it can be closed", 0, status);
	write_it(1);
	SAME("its parent's samples", 1, next_sample(sampler) != NULL);
	SAME("both", 1, next_sample(sampler) != NULL);
	end(sampler);
}

/* No register counts these, so the kernel is asked: for the member of a group, too, and since the last reset. */
static void asked_for(const char *text, size_t index)
{
	struct pstat_open_options user = { .size = sizeof(user), .user_read = 1 };
	struct pstat_counters *counters;
	struct pstat_readings *readings;
	uint64_t value = 1, enabled_ns, running_ns;
	enum { PAGES = 50 };
	char *pages = mmap(NULL, PAGES * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pstat_events_new(&events) || pstat_events_parse(events, text, &error) ||
	    pstat_open(&counters, events, &user, &error) || pstat_readings_new(&readings, counters))
		abort();
	pstat_enable(counters);
	for (int i = 0; i < PAGES; i++)
		pages[i * 65536] = 1;
	pstat_disable(counters);
	pstat_read(counters, readings);
	SAME("by read(2)", PSTAT_BY_READ, pstat_user_read_times(counters, index, &value, &enabled_ns, &running_ns));
	SAME("as pstat_read() has it", pstat_reading_at(readings, index)->raw, value);
	SAME("with its time", pstat_reading_at(readings, index)->enabled_ns, enabled_ns);
	check(value >= 1 && value <= 2 * PAGES, "faults: %llu", (unsigned long long)value);
	check(pstat_user_read_reason(counters, index) != NULL, "there is a reason");
	pstat_reset(counters);
	SAME("after a reset", PSTAT_BY_READ, pstat_user_read(counters, index, &value));
	SAME("nothing", 0, value);
	SAME("an event that is not there", 1, pstat_user_read(counters, 7, &value) == -EINVAL);
	munmap(pages, PAGES * 65536);
	pstat_readings_free(readings);
	pstat_close(counters);
	pstat_events_free(events);
}

static void user_reads(void)
{
	now = "a count that is in no register";
	asked_for("page-faults:u", 0);
	now = "a member of a group that is in no register";
	asked_for("{task-clock,cpu-clock,page-faults}:u", 2);
}

static void refused(const char *what)
{
	struct pstat_sampler *sampler;
	int rc = pstat_sampler_open(&sampler, events, &options, &error);

	check(rc == -EINVAL && !sampler && error.code == rc, "%s: %d, %s", what, rc, error.text);
}

static void refusals(void)
{
	struct perf_event_attr attr;

	begin("refusals");
	watch(&watched);
	options.wakeup_bytes = options.wakeup_events = 1;
	refused("both wake-ups");
	options.wakeup_events = 0;
	options.frequency = 5;
	refused("period and frequency");
	options.frequency = 0;
	options.track = 1u << 31;
	refused("an unknown track");
	options.track = 0;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.write_backward = 1;
	if (pstat_events_add_attr(events, NULL, &attr, &error))
		check(false, "%s", error.text);
	refused("a ring backwards");
	pstat_events_free(events);
}

int main(int argc, char **argv)
{
	(void)argv;
	/* What the known program becomes. */
	if (argc > 1)
		return 0;
	each_write();
	around_the_ring();
	fields();
	two_events();
	group_values();
	losses();
	wake_by_events();
	wake_by_bytes();
	known_program();
	switches();
	all_cpus();
	a_task_ends();
	forked();
	user_reads();
	refusals();
	return failures != 0;
}
