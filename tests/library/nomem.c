/* SPDX-License-Identifier: MIT */
/*
 * No memory, at each place where the library takes some: for every call, the first allocation fails, then the
 * second, and so on until none did. Each time the call has to answer -ENOMEM, no memory and no descriptor may be left
 * of it, and the same call has to work right after.
 *
 * What counts as an allocation is everything that the kernel or libc may refuse with ENOMEM; the linker puts these in
 * place of libc's (--wrap). Prints a line for each call: what was called, and how many failures it went through.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libpstat.h"

/* ---- allocations that fail ---- */

static unsigned long fail_at, taken; /* fail_at 0: none */
static bool failed;
static long live; /* blocks of memory that were handed out and not given back */

static bool may_take(void)
{
	taken++;
	if (!fail_at || taken != fail_at)
		return true;
	failed = true;
	errno = ENOMEM;
	return false;
}

/* NAME and __real_NAME, with parameters and arguments, for what returns a pointer. */
#define WRAP_POINTER(type, name, counts, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		type p = may_take() ? __real_##name arguments : NULL; \
		live += counts && p; \
		return p; \
	}
WRAP_POINTER(void *, malloc, 1, (size_t bytes), (bytes))
WRAP_POINTER(void *, calloc, 1, (size_t n, size_t bytes), (n, bytes))
WRAP_POINTER(void *, reallocarray, !old, (void *old, size_t n, size_t bytes), (old, n, bytes))
WRAP_POINTER(char *, strdup, 1, (const char *s), (s))
WRAP_POINTER(char *, strndup, 1, (const char *s, size_t n), (s, n))
WRAP_POINTER(FILE *, fopen, 0, (const char *path, const char *mode), (path, mode))
WRAP_POINTER(DIR *, opendir, 0, (const char *path), (path))
WRAP_POINTER(cpu_set_t *, __sched_cpualloc, 1, (size_t n), (n))

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

void __real___sched_cpufree(cpu_set_t *cpus);
void __wrap___sched_cpufree(cpu_set_t *cpus);
void __wrap___sched_cpufree(cpu_set_t *cpus)
{
	live -= cpus != NULL;
	__real___sched_cpufree(cpus);
}

void *__real_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *p = may_take() ? __real_mmap(addr, bytes, prot, flags, fd, offset) : MAP_FAILED;

	live += p != MAP_FAILED;
	return p;
}

int __real_munmap(void *addr, size_t bytes);
int __wrap_munmap(void *addr, size_t bytes);
int __wrap_munmap(void *addr, size_t bytes)
{
	live--;
	return __real_munmap(addr, bytes);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	return may_take() ? __real_open(path, flags) : -1;
}

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_create1(int flags)
{
	return may_take() ? __real_epoll_create1(flags) : -1;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if ((number == SYS_perf_event_open || number == SYS_openat2) && !may_take())
		return -1;
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- what is called ---- */

struct state {
	struct pstat_error error;
	struct pstat_events *events;
	struct pstat_counters *counters;
	struct pstat_readings *readings;
	struct pstat_counters *user;
	struct pstat_sampler *sampler;
};

static int new_events(struct state *s)
{
	return pstat_events_new(&s->events);
}

static int parse_nonsense(struct state *s)
{
	int rc = pstat_events_parse(s->events, "page-fautls", &s->error);

	return rc == -ENOENT ? 0 : rc;
}

static int parse(struct state *s)
{
	return pstat_events_parse(s->events,
				  "task-clock,{page-faults,minor-faults}:u,cycles,instructions,L1-dcache-loads,"
				  "software/config=3,name=switches/,mem:0x1234:rw,1:0x2", &s->error);
}

static int add_set(struct state *s)
{
	return pstat_events_add_set(s->events, "software", &s->error);
}

static int add_attr(struct state *s)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	return pstat_events_add_attr(s->events, "mine", &attr, &s->error);
}

static int group(struct state *s)
{
	return pstat_events_group(s->events, pstat_events_count(s->events) - 2, 2, &s->error);
}

static int known(struct state *s)
{
	struct pstat_known *list;
	int rc = pstat_known_new(&list, "sw", NULL, NULL);

	(void)s;
	pstat_known_free(list);
	return rc;
}

static int label(struct state *s)
{
	char text[32];
	int rc = pstat_event_label(77, 1, text, sizeof(text));

	(void)s;
	return rc < 0 ? rc : 0;
}

static int rate(struct state *s)
{
	return pstat_events_set_period(s->events, 0, 1000, NULL);
}

/* By this process's number, so that its files are opened below its root. */
static int name_of(struct state *s)
{
	struct pstat_name name = { .size = sizeof(name) };
	struct pstat_names *names = NULL;
	int rc = pstat_names_new(&names, &s->error);

	if (!rc)
		rc = pstat_name_of(names, getpid(), (uintptr_t)name_of, &name, &s->error);
	if (!rc)
		rc = -ENODATA;
	pstat_names_free(names);
	return rc;
}

static int parse_probe(struct state *s)
{
	struct pstat_events *events = NULL;
	int rc = pstat_events_new(&events);

	if (!rc)
		rc = pstat_events_parse(events, "uprobe/path=/proc/self/exe,func=main/", &s->error);
	pstat_events_free(events);
	return rc == -ENOMEM ? rc : 0;
}

static int open_self(struct state *s)
{
	return pstat_open(&s->counters, s->events, NULL, &s->error);
}

static int open_process(struct state *s)
{
	struct pstat_open_options options;
	struct pstat_counters *counters;
	int me = (int)getpid(), rc;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.target = PSTAT_PID;
	options.ids = &me;
	options.n_ids = 1;
	rc = pstat_open(&counters, s->events, &options, &s->error);
	pstat_close(counters);
	return rc;
}

static int open_cpus(struct state *s)
{
	struct pstat_open_options options;
	struct pstat_counters *counters;
	int rc;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.target = PSTAT_CPUS;
	rc = pstat_open(&counters, s->events, &options, &s->error);
	pstat_close(counters);
	return rc == -EACCES ? 0 : rc; /* a user without rights: all was tried */
}

static int new_readings(struct state *s)
{
	return pstat_readings_new(&s->readings, s->counters);
}

static int explain(struct state *s)
{
	pstat_read(s->counters, s->readings);
	return pstat_explain(s->counters, s->readings);
}

static int wrong_filter(struct state *s)
{
	int rc = pstat_set_filter(s->counters, 0, "no_such_field == 1", &s->error);

	return rc == -ENOMEM ? rc : 0;
}

static int open_user(struct state *s)
{
	struct pstat_open_options options;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.user_read = options.enabled = 1;
	return pstat_open(&s->user, s->events, &options, &s->error);
}

static int open_sampler(struct state *s)
{
	struct pstat_sampling_options options;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.period = 10000000; /* of clocks; that of page faults is set below */
	options.ring_bytes = 1 << 16;
	options.track = PSTAT_TRACK_TASKS;
	return pstat_sampler_open(&s->sampler, s->events, &options, &s->error);
}

static const struct step {
	const char *name;
	int (*call)(struct state *s);
} steps[] = {
	{ "pstat_events_new", new_events },
	{ "pstat_events_parse, a wrong name", parse_nonsense },
	{ "pstat_events_parse", parse },
	{ "pstat_events_add_set", add_set },
	{ "pstat_events_add_attr", add_attr },
	{ "pstat_events_group", group },
	{ "pstat_known_new", known },
	{ "pstat_event_label", label },
	{ "pstat_events_set_period", rate },
	{ "pstat_events_parse, a probe", parse_probe },
	{ "pstat_name_of", name_of },
	{ "pstat_open, this thread", open_self },
	{ "pstat_open, this process", open_process },
	{ "pstat_open, all CPUs", open_cpus },
	{ "pstat_readings_new", new_readings },
	{ "pstat_explain", explain },
	{ "pstat_set_filter, a wrong one", wrong_filter },
	{ "pstat_open, with pages", open_user },
	{ "pstat_sampler_open", open_sampler },
};

/* ---- what has to hold ---- */

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void require(bool holds, const char *what, const struct step *step, unsigned long n)
{
	if (holds)
		return;
	printf("%s: allocation %lu fails: %s\n", step->name, n, what);
	exit(1);
}

static void fail_each(struct state *s, const struct step *step)
{
	for (unsigned long n = 1;; n++) {
		size_t events = s->events ? pstat_events_count(s->events) : 0;
		long memory = live;
		int fds = descriptors(), rc;

		fail_at = n;
		taken = 0;
		failed = false;
		s->error.size = sizeof(s->error);
		rc = step->call(s);
		fail_at = 0;
		if (!failed) {
			if (rc < 0)
				printf("%s: %s (%d)\n", step->name, s->error.text, rc);
			require(rc >= 0, "it does not work without a failure either", step, n);
			printf("%s: %lu\n", step->name, n - 1);
			return;
		}
		require(rc == -ENOMEM, "the answer is not -ENOMEM", step, n);
		require(live == memory, "memory is left", step, n);
		require(descriptors() == fds, "descriptors are left", step, n);
		require(!s->events || pstat_events_count(s->events) == events, "the list has changed", step, n);
	}
}

static void touch(void *data)
{
	volatile char *p = data;

	for (size_t i = 0; i < 1 << 20; i += 4096)
		p[i] = 1;
}

/* Reasons are found last, and their want does not take the counts away. */
static void measure_each(const struct pstat_events *events)
{
	static const struct step step = { "pstat_measure", NULL };
	unsigned long n = 0;

	do {
		struct pstat_readings *readings;
		/* Pages that nobody has touched. */
		void *room = __real_mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		long memory = live;
		int fds = descriptors(), rc;

		fail_at = ++n;
		taken = 0;
		failed = false;
		rc = pstat_measure(events, touch, room, &readings);
		fail_at = 0;
		require(rc == 0 || (rc == -ENOMEM && failed), "the answer is neither 0 nor -ENOMEM", &step, n);
		require(rc || pstat_reading_of(readings, "minor-faults")->raw >= 200, "it has not counted", &step, n);
		if (!rc)
			pstat_readings_free(readings);
		require(live == memory, "memory is left", &step, n);
		require(descriptors() == fds, "descriptors are left", &step, n);
		__real_munmap(room, 1 << 20);
	} while (failed);
	printf("pstat_measure: %lu\n", n - 1);
}

/* What counting does, once all is open: nothing of it takes memory. */
static void count_without_memory(struct state *s)
{
	static const struct step step = { "counting", NULL };
	char json[4096];

	taken = 0;
	pstat_enable(s->counters);
	for (int i = 0; i < 100; i++) {
		pstat_read(s->counters, s->readings);
		pstat_readings_subtract(s->readings, s->readings);
		pstat_readings_json(s->readings, json, sizeof(json));
	}
	pstat_reset(s->counters);
	pstat_disable(s->counters);
	require(taken == 0, "an open handle takes memory", &step, taken);
	printf("counting: %lu\n", taken);
}

/* The same of samples, and of reading without system calls. */
static void sample_without_memory(struct state *s)
{
	static const struct step step = { "sampling", NULL };
	struct pstat_sampler_counts counts = { .size = sizeof(counts) };
	const struct pstat_record *record;
	uint64_t value;
	int rc;

	taken = 0;
	/* The second that was parsed. */
	rc = pstat_set_period(pstat_sampler_counters(s->sampler), 1, 1);
	require(rc == 0, "the period of page faults cannot be set", &step, 0);
	for (int i = 0; i < 100; i++) {
		/* The kernel's pages are nobody's memory here. */
		void *room = __real_mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		pstat_enable(pstat_sampler_counters(s->sampler));
		memset(room, 1, 1 << 16);
		pstat_disable(pstat_sampler_counters(s->sampler));
		__real_munmap(room, 1 << 16);
		for (size_t k = 0; k < pstat_counters_count(s->user); k++)
			pstat_user_read(s->user, k, &value);
		pstat_sampler_wait(s->sampler, 0);
		while (pstat_sampler_next(s->sampler, &record, &s->error) > 0)
			;
	}
	pstat_sampler_count(s->sampler, &counts);
	require(taken == 0, "an open sampler takes memory", &step, taken);
	require(counts.samples >= 100, "there are no samples", &step, 0);
	printf("sampling: %lu\n", taken);
}

int main(void)
{
	struct state s;
	long memory = live;

	memset(&s, 0, sizeof(s));
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		fail_each(&s, &steps[i]);
	count_without_memory(&s);
	sample_without_memory(&s);
	pstat_sampler_close(s.sampler);
	pstat_close(s.user);
	pstat_close(s.counters);
	pstat_readings_free(s.readings);
	measure_each(s.events);
	pstat_events_free(s.events);
	require(live == memory, "memory is left at the end", &steps[0], 0);
	return 0;
}
