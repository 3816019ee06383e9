/* SPDX-License-Identifier: MIT */
/*
 * Uses of the library that no example shows. Each is a word: `uses fork` prints "ok", or what does not hold and
 * where; a line that begins with "skip: " where this user or machine cannot have it.
 *
 * What is counted is page faults: a page that is touched for the first time is one fault, exactly. In valgrind and with
 * sanitizers, which have faults of their own, a second word ("about") leaves it at that many or more.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpstat.h"
#include "require.h"

static bool about;

/* Is that the number of faults that were caused? */
static bool is(uint64_t counted, uint64_t caused)
{
	return about ? counted >= caused : counted == caused;
}

/* A handle of these events, and room for what it says. */
struct count {
	struct pstat_counters *counters;
	struct pstat_readings *readings;
};

static void open_text(struct count *c, const char *text, const struct pstat_open_options *options)
{
	struct pstat_events *events;
	struct pstat_error error = { sizeof(error), 0, "" };

	REQUIRE(pstat_events_new(&events) == 0);
	REQUIRE(pstat_events_parse(events, text, &error) == 0);
	if (pstat_open(&c->counters, events, options, &error)) {
		printf("%s\n", error.text);
		exit(0);
	}
	REQUIRE(pstat_readings_new(&c->readings, c->counters) == 0);
	pstat_events_free(events);
}

static void close_count(struct count *c)
{
	pstat_readings_free(c->readings);
	pstat_close(c->counters);
}

static uint64_t read_raw(struct count *c, size_t index)
{
	REQUIRE(pstat_read(c->counters, c->readings) == 0);
	return pstat_reading_at(c->readings, index)->raw;
}

/* n touched pages are n faults: all else that would fault has done so before. */
static bool counts_exactly(struct count *c, size_t index, size_t n)
{
	touch(n);
	read_raw(c, index);
	REQUIRE(pstat_reset(c->counters) == 0);
	touch(n);
	return is(read_raw(c, index), n);
}

/* ---- the uses ---- */

static void version(void)
{
	REQUIRE(!strcmp(pstat_version(), LIBPSTAT_VERSION));
	puts(pstat_version());
	exit(0);
}

static void attr(void)
{
	struct { struct perf_event_attr attr; char newer[16]; } given;
	struct pstat_error error = { sizeof(error), 0, "" };
	struct pstat_events *events;
	struct count c;

	memset(&given, 0, sizeof(given));
	given.attr.type = PERF_TYPE_SOFTWARE;
	given.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	given.attr.exclude_kernel = 1;
	REQUIRE(pstat_events_new(&events) == 0);
	REQUIRE(pstat_events_add_attr(events, NULL, &given.attr, &error) == -EINVAL);
	given.attr.size = sizeof(given);
	REQUIRE(pstat_events_add_attr(events, NULL, &given.attr, &error) == 0);
	given.newer[8] = 1;
	REQUIRE(pstat_events_add_attr(events, NULL, &given.attr, &error) == -E2BIG);
	given.attr.size = PERF_ATTR_SIZE_VER0;
	REQUIRE(pstat_events_add_attr(events, "mine", &given.attr, &error) == 0);
	REQUIRE(pstat_events_count(events) == 2 && pstat_events_attr(events, 1)->config == given.attr.config);
	REQUIRE(!strcmp(pstat_events_name(events, 1), "mine") && !pstat_events_name(events, 2));
	REQUIRE(pstat_events_group(events, 0, 3, &error) == -EINVAL);
	REQUIRE(pstat_events_group(events, 0, 2, &error) == 0);
	REQUIRE(pstat_events_group(events, 0, 2, &error) == -EINVAL && strstr(error.text, "in a group"));
	REQUIRE(pstat_open(&c.counters, events, NULL, &error) == 0);
	REQUIRE(pstat_counter(c.counters, 0)->n_members == 2 && pstat_counter(c.counters, 1)->leader == 0);
	REQUIRE(pstat_readings_new(&c.readings, c.counters) == 0);
	REQUIRE(pstat_enable(c.counters) == 0);
	REQUIRE(counts_exactly(&c, 1, 100) && is(pstat_reading_at(c.readings, 0)->raw, 100));
	REQUIRE(pstat_reading_of(c.readings, "mine")->state == PSTAT_COUNTED);
	close_count(&c);
	pstat_events_free(events);
}

/* A child reads what its parent counts, and closes its own descriptors only. */
static void fork_it(void)
{
	struct count c;
	uint64_t before;
	int status;
	pid_t child;

	open_text(&c, "page-faults:u", NULL);
	REQUIRE(pstat_enable(c.counters) == 0);
	REQUIRE(counts_exactly(&c, 0, 10));
	before = pstat_reading_at(c.readings, 0)->raw;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		touch(1000);
		status = read_raw(&c, 0) < before + 500 ? 0 : 1;
		close_count(&c);
		_exit(status);
	}
	REQUIRE(waitpid(child, &status, 0) == child && status == 0);
	/* What it shared with the child is the parent's own again when it has written to it: a fault each. */
	read_raw(&c, 0);
	REQUIRE(pstat_reset(c.counters) == 0);
	REQUIRE(counts_exactly(&c, 0, 10));
	close_count(&c);
}

/* Structs of programs that are older, or newer, than the library. */
static void structs(void)
{
	struct { struct pstat_open_options options; char newer[32]; } newer;
	struct pstat_error error = { offsetof(struct pstat_error, text) + 8, 0, "123456789" };
	struct pstat_events *events;
	struct pstat_counters *counters;

	memset(&newer, 0, sizeof(newer));
	REQUIRE(pstat_events_new(&events) == 0);
	REQUIRE(pstat_events_parse(events, "no-such-event", &error) == -ENOENT && error.code == -ENOENT);
	REQUIRE(strlen(error.text) == 7 && error.text[8] == '9');
	REQUIRE(pstat_events_parse(events, "page-faults:u", &error) == 0 && !*error.text);
	error.size = sizeof(error);
	REQUIRE(pstat_open(&counters, events, &newer.options, &error) == -EINVAL && strstr(error.text, "size"));
	newer.options.size = sizeof(newer);
	REQUIRE(pstat_open(&counters, events, &newer.options, &error) == 0);
	pstat_close(counters);
	newer.newer[31] = 1;
	REQUIRE(pstat_open(&counters, events, &newer.options, &error) == -E2BIG && !counters);
	newer.options.size = offsetof(struct pstat_open_options, cgroup);
	newer.options.cgroup = "not looked at";
	REQUIRE(pstat_open(&counters, events, &newer.options, &error) == 0);
	pstat_close(counters);
	newer.options.size = sizeof(newer.options);
	REQUIRE(pstat_open(&counters, events, &newer.options, &error) == -EINVAL);
	REQUIRE(strstr(error.text, "control group"));
	pstat_events_free(events);
}

static void *count_in_thread(void *pages)
{
	for (int i = 0; i < 50; i++) {
		struct count c;

		open_text(&c, "{page-faults:u,minor-faults:u}", NULL);
		REQUIRE(pstat_enable(c.counters) == 0);
		REQUIRE(counts_exactly(&c, 0, (size_t)(uintptr_t)pages));
		REQUIRE(is(pstat_reading_at(c.readings, 1)->raw, (uintptr_t)pages));
		close_count(&c);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];

	for (uintptr_t i = 0; i < 4; i++)
		REQUIRE(!pthread_create(&thread[i], NULL, count_in_thread, (void *)(10 + i)));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

struct pieces {
	int tids[2];
	size_t n;
	uint64_t sum;
};

static int add_piece(void *data, size_t index, int cpu, int tid, const struct pstat_reading *reading)
{
	struct pieces *pieces = data;

	REQUIRE(index == 0 && cpu == -1 && reading->size >= sizeof(*reading));
	REQUIRE(tid == pieces->tids[0] || tid == pieces->tids[1]);
	pieces->n++;
	pieces->sum += reading->raw;
	return 0;
}

static int stop_at_once(void *data, size_t index, int cpu, int tid, const struct pstat_reading *reading)
{
	(void)index, (void)cpu, (void)tid, (void)reading;
	++*(int *)data;
	return 7;
}

/* Two tasks of which the other one waits: the sum is that of the pieces. */
static void cells(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .target = PSTAT_TID, .n_ids = 2, .enabled = 1 };
	struct pieces pieces = { { getpid(), 0 }, 0, 0 };
	struct count c;
	int calls = 0, go[2];

	REQUIRE(pipe(go) == 0);
	fflush(stdout);
	pieces.tids[1] = fork();
	if (!pieces.tids[1]) {
		close(go[1]);
		_exit((int)read(go[0], &calls, 1));
	}
	close(go[0]);
	options.ids = pieces.tids;
	open_text(&c, "page-faults:u", &options);
	touch(100);
	REQUIRE(pstat_disable(c.counters) == 0);
	REQUIRE(pstat_counter(c.counters, 0)->n_descriptors == 2);
	REQUIRE(read_raw(&c, 0) >= 100);
	REQUIRE(pstat_readings_cells(c.readings, add_piece, &pieces) == 0);
	REQUIRE(pieces.n == 2 && pieces.sum == pstat_reading_at(c.readings, 0)->raw);
	REQUIRE(pstat_readings_cells(c.readings, stop_at_once, &calls) == 7 && calls == 1);
	close_count(&c);
	close(go[1]);
	REQUIRE(waitpid(pieces.tids[1], NULL, 0) == pieces.tids[1]);
}

static void differences(void)
{
	struct count c;
	struct pstat_readings *before;

	open_text(&c, "page-faults:u,task-clock:u", NULL);
	REQUIRE(pstat_readings_new(&before, c.counters) == 0);
	REQUIRE(pstat_reading_at(before, 0)->state == PSTAT_NOT_COUNTED);
	REQUIRE(pstat_enable(c.counters) == 0);
	REQUIRE(counts_exactly(&c, 0, 100));
	REQUIRE(pstat_readings_copy(before, c.readings) == 0);
	touch(50);
	REQUIRE(is(read_raw(&c, 0), 150));
	REQUIRE(pstat_readings_subtract(c.readings, before) == 0);
	REQUIRE(is(pstat_reading_at(c.readings, 0)->raw, 50) && pstat_reading_at(c.readings, 0)->enabled_ns > 0);
	REQUIRE(is(pstat_reading_at(before, 0)->raw, 100));
	REQUIRE(pstat_disable(c.counters) == 0);
	touch(50);
	REQUIRE(is(read_raw(&c, 0), 150));
	pstat_readings_free(before);
	close_count(&c);
}

/* Readings of one handle say nothing about another; they outlive their own. */
static void strangers(void)
{
	struct count a, b;

	open_text(&a, "page-faults:u", NULL);
	open_text(&b, "page-faults:u", NULL);
	REQUIRE(pstat_read(a.counters, b.readings) == -EINVAL);
	REQUIRE(pstat_readings_subtract(a.readings, b.readings) == -EINVAL);
	REQUIRE(pstat_readings_copy(a.readings, b.readings) == -EINVAL);
	REQUIRE(pstat_explain(a.counters, b.readings) == -EINVAL);
	pstat_close(a.counters);
	REQUIRE(!strcmp(pstat_reading_at(a.readings, 0)->name, "page-faults:u"));
	pstat_readings_free(a.readings);
	close_count(&b);
}

static void json(void)
{
	struct perf_event_attr attr;
	struct pstat_events *events;
	struct count c;
	char text[300], cut[10];
	int n;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;
	REQUIRE(pstat_events_new(&events) == 0);
	REQUIRE(pstat_events_add_attr(events, "a \"quote\"\n", &attr, NULL) == 0);
	REQUIRE(pstat_events_parse(events, "dummy:u,dummy:u,emulation-faults:u", NULL) == 0);
	REQUIRE(pstat_open(&c.counters, events, NULL, NULL) == 0);
	pstat_events_free(events);
	REQUIRE(pstat_readings_new(&c.readings, c.counters) == 0);
	n = pstat_readings_json(c.readings, text, sizeof(text));
	REQUIRE(!strcmp(text, "{\"a \\\"quote\\\"\\n\":null,"
			      "\"dummy:u\":null,\"dummy:u#2\":null,\"emulation-faults:u\":null}"));
	REQUIRE(n == (int)strlen(text) && pstat_readings_json(c.readings, NULL, 0) == n);
	REQUIRE(pstat_readings_json(c.readings, cut, sizeof(cut)) == n && strlen(cut) == sizeof(cut) - 1);
	REQUIRE(!strncmp(text, cut, sizeof(cut) - 1));
	pstat_enable(c.counters);
	touch(10);
	read_raw(&c, 0);
	pstat_readings_json(c.readings, text, sizeof(text));
	REQUIRE(strstr(text, "\"emulation-faults:u\":0}"));
	close_count(&c);
}

/* A program's locale has a comma where JSON has a point, and so has the scale of an event in sysfs. */
static void locale(void)
{
	struct count c;
	char text[100], *end;
	double value;

	if (!setlocale(LC_ALL, "") || *localeconv()->decimal_point != ',') {
		puts("skip: this locale has no decimal comma");
		exit(0);
	}
	open_text(&c, "task-clock:u", NULL);
	REQUIRE(pstat_enable(c.counters) == 0);
	touch(100);
	read_raw(&c, 0);
	REQUIRE(pstat_readings_json(c.readings, text, sizeof(text)) < (int)sizeof(text));
	REQUIRE(setlocale(LC_ALL, "C"));
	REQUIRE(sscanf(text, "{\"task-clock:u\":%lf", &value) == 1 && (end = strchr(text, '}')) && !end[1]);
	REQUIRE(!strchr(text, ',') && value == pstat_reading_at(c.readings, 0)->value && value < 1000);
	close_count(&c);
}

/* Children count with inherit, and not without. */
static void inherit(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .inherit = 1, .enabled = 1 };
	struct count with, without;
	pid_t child;

	open_text(&with, "page-faults:u", &options);
	options.inherit = 0;
	open_text(&without, "page-faults:u", &options);
	fflush(stdout);
	child = fork();
	if (!child) {
		touch(5000);
		_exit(0);
	}
	REQUIRE(waitpid(child, NULL, 0) == child);
	REQUIRE(read_raw(&with, 0) >= 5000);
	REQUIRE(read_raw(&without, 0) < 5000);
	close_count(&with);
	close_count(&without);
}

static void contradictions(void)
{
	static const int one = 1;
	static const struct pstat_open_options wrong[] = {
		{ .target = (enum pstat_target)9 },
		{ .target = PSTAT_SELF, .ids = &one, .n_ids = 1 },
		{ .target = PSTAT_PID },
		{ .target = PSTAT_TID, .n_ids = 1 },
		{ .target = PSTAT_TID, .ids = &one, .n_ids = 1, .cgroup = "/" },
		{ .enabled = 1, .enable_on_exec = 1 },
		{ .target = PSTAT_CPUS, .enable_on_exec = 1 },
		{ .target = PSTAT_CPUS, .user_read = 1 },
	};
	struct pstat_events *events;

	REQUIRE(pstat_events_new(&events) == 0 && pstat_events_parse(events, "page-faults", NULL) == 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct pstat_open_options options = wrong[i];
		struct pstat_error error = { sizeof(error), 0, "" };
		struct pstat_counters *counters;

		options.size = sizeof(options);
		REQUIRE(pstat_open(&counters, events, &options, &error) == -EINVAL);
		REQUIRE(!counters && strlen(error.text) > 10);
	}
	pstat_events_free(events);
}

static void ids(void)
{
	struct count c;
	uint64_t id[2] = { 0, 0 };
	int fd = -1;

	open_text(&c, "page-faults:u,minor-faults:u,duration_time", NULL);
	REQUIRE(pstat_ids(c.counters, 0, &id[0], 1) == 1 && pstat_ids(c.counters, 1, &id[1], 1) == 1);
	REQUIRE(id[0] && id[1] && id[0] != id[1]);
	REQUIRE(pstat_ids(c.counters, 2, &id[0], 1) == 0 && pstat_ids(c.counters, 3, &id[0], 1) == -EINVAL);
	REQUIRE(!pstat_counter(c.counters, 2)->supported && pstat_counter(c.counters, 2)->reason);
	REQUIRE(pstat_descriptors(c.counters, 0, NULL, 0) == 1 && pstat_descriptors(c.counters, 0, &fd, 1) == 1);
	REQUIRE(fd >= 0);
	close_count(&c);
}

/* A program finds its events whatever rights it runs with. */
static void names(void)
{
	const struct pstat_reading *reading;
	struct count c;

	open_text(&c, "task-clock,page-faults", NULL);
	reading = pstat_reading_of(c.readings, "page-faults");
	REQUIRE(reading == pstat_reading_at(c.readings, 1));
	REQUIRE(pstat_reading_of(c.readings, reading->name) == reading && !pstat_reading_of(c.readings, "faults"));
	close_count(&c);
}

/* A period can be changed where there is one. */
static void period(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .overflows = 1, .enabled = 1 };
	struct count c;

	open_text(&c, "page-faults/period=1000/u", &options);
	REQUIRE(pstat_counter(c.counters, 0)->attr->sample_period == 1000);
	REQUIRE(pstat_set_period(c.counters, 0, 10) == 0);
	REQUIRE(counts_exactly(&c, 0, 100));
	close_count(&c);
	open_text(&c, "page-faults:u", NULL);
	REQUIRE(pstat_set_period(c.counters, 0, 10) == -EINVAL);
	REQUIRE(pstat_set_period(c.counters, 1, 10) == -EINVAL);
	close_count(&c);
}

/* return 0 */
static int bpf_program(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(*code);
	attr.license = (uintptr_t)"GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void bpf(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .overflows = 1, .enabled = 1 };
	struct count c;
	int program = bpf_program(), rc;

	if (program < 0) {
		printf("skip: no BPF program can be loaded: %s\n", strerror(errno));
		exit(0);
	}
	open_text(&c, "cpu-clock/period=100000/", &options);
	rc = pstat_attach_bpf(c.counters, 0, program);
	if (rc == -EACCES || rc == -EPERM) {
		printf("skip: a BPF program may not be attached: %s\n", strerror(-rc));
		exit(0);
	}
	REQUIRE(rc == 0);
	REQUIRE(pstat_attach_bpf(c.counters, 0, -1) < 0);
	close_count(&c);
	close(program);
}

/* A step of the child in the cgroup: told by one byte, answered by one. */
static void step(const int *to, const int *from)
{
	char byte = 0;

	REQUIRE(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1);
}

static void run_in_cgroup(const int *told, const int *tells)
{
	char path[4096], byte = 0;
	FILE *procs;

	snprintf(path, sizeof(path), "%s/cgroup.procs", getenv("CGROUP_FOLDER"));
	procs = fopen(path, "w");
	if (!procs || fputs("0", procs) < 0 || fclose(procs))
		_exit(1);
	while (read(told[0], &byte, 1) == 1) {
		touch(500);
		if (write(tells[1], &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Faults of a task in one cgroup, with another one beside it that has no tasks. */
static void cgroup(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .target = PSTAT_CPUS, .enabled = 1 };
	struct count in, out;
	int told[2], tells[2];
	pid_t child;

	REQUIRE(pipe(told) == 0 && pipe(tells) == 0);
	options.cgroup = getenv("CGROUP_IN");
	open_text(&in, "page-faults", &options);
	options.cgroup = getenv("CGROUP_OUT");
	open_text(&out, "page-faults", &options);
	child = fork();
	REQUIRE(child >= 0);
	if (!child) {
		close(told[1]);
		run_in_cgroup(told, tells);
	}
	close(told[0]);
	close(tells[1]);
	step(told, tells);
	read_raw(&in, 0);
	REQUIRE(pstat_reset(in.counters) == 0);
	step(told, tells);
	REQUIRE(is(read_raw(&in, 0), 500));
	REQUIRE(read_raw(&out, 0) == 0);
	REQUIRE(pstat_reading_at(out.readings, 0)->state == PSTAT_NOT_COUNTED);
	close(told[1]);
	REQUIRE(waitpid(child, NULL, 0) == child);
	close_count(&in);
	close_count(&out);
}

/* ---- counting that begins when the events are opened ---- */

/* The least that the work below makes of each. A sleep that is over before the task is off its CPU is no switch. */
enum { PAGES = 300, SLEEPS = 20 };
static const struct {
	const char *name;
	uint64_t least;
} least_of[] = {
	{ "task-clock", 1 }, { "cpu-clock", 1 }, { "page-faults", PAGES }, { "context-switches", SLEEPS / 2 },
};

static void work(void)
{
	touch(PAGES);
	for (int i = 0; i < SLEEPS; i++)
		usleep(100);
}

/* What cannot be had here is left to others. */
static bool counted_all(struct count *c)
{
	for (size_t i = 0; i < pstat_readings_count(c->readings); i++) {
		const struct pstat_reading *r = pstat_reading_at(c->readings, i);

		for (size_t k = 0; k < sizeof(least_of) / sizeof(*least_of); k++) {
			if (r->state == PSTAT_NOT_SUPPORTED ||
			    strncmp(r->name, least_of[k].name, strlen(least_of[k].name)))
				continue;
			if (r->state == PSTAT_COUNTED && r->raw >= least_of[k].least && r->running_ns)
				continue;
			printf("%s: %llu %s, running %llu ns; ", r->name, (unsigned long long)r->raw,
			       pstat_state_name(r->state), (unsigned long long)r->running_ns);
			return false;
		}
	}
	return true;
}

/* NULL: this user may not, or no cgroups are mounted. */
static struct count *open_enabled(const char *text, const struct pstat_open_options *options)
{
	static struct count c;
	struct pstat_events *events;
	int rc;

	REQUIRE(pstat_events_new(&events) == 0);
	REQUIRE(pstat_events_parse(events, text, NULL) == 0);
	rc = pstat_open(&c.counters, events, options, NULL);
	pstat_events_free(events);
	REQUIRE(!rc || (rc == -EACCES && options->target == PSTAT_CPUS) || (rc == -ENOENT && options->cgroup));
	REQUIRE(rc || pstat_readings_new(&c.readings, c.counters) == 0);
	return rc ? NULL : &c;
}

/* The kernel counts nothing in a member that joins a group of clocks that is counting already. */
static void enabled(void)
{
	static const char *const texts[] = {
		"task-clock,cpu-clock,page-faults,context-switches", "{task-clock,page-faults,context-switches}",
		"{cpu-clock,page-faults}", "{page-faults,cpu-clock},{task-clock,dummy,page-faults}", "cpu-clock",
		"page-faults",
	};
	const int self = getpid();
	struct pstat_open_options options[] = {
		{ .target = PSTAT_SELF }, { .target = PSTAT_SELF, .inherit = 1 },
		{ .target = PSTAT_SELF, .overflows = 1 }, { .target = PSTAT_SELF, .user_read = 1 },
		{ .target = PSTAT_TID, .ids = &self, .n_ids = 1 },
		{ .target = PSTAT_PID, .ids = &self, .n_ids = 1, .inherit = 1 }, { .target = PSTAT_CPUS },
		/* A cgroup's times are right on their own CPU alone. */
		{ .target = PSTAT_CPUS, .cgroup = "/", .may_move_thread = 1 },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		options[i].size = sizeof(options[i]);
		options[i].enabled = 1;
		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
			struct count *c = open_enabled(texts[k], &options[i]);

			if (!c)
				continue;
			work();
			REQUIRE(pstat_read(c->counters, c->readings) == 0);
			if (!counted_all(c)) {
				printf("of %s, options %zu\n", texts[k], i);
				exit(0);
			}
			close_count(c);
		}
	}
}

static const struct use uses[] = {
	{ "version", version },	  { "attr", attr },	    { "fork", fork_it },
	{ "structs", structs },	  { "threads", threads },   { "cells", cells },
	{ "differences", differences }, { "strangers", strangers }, { "json", json },		{ "locale", locale },
	{ "inherit", inherit },	  { "contradictions", contradictions }, { "ids", ids },
	{ "period", period },	  { "bpf", bpf },	    { "cgroup", cgroup },
	{ "names", names },	  { "enabled", enabled },
};

int main(int argc, char **argv)
{
	about = argc > 2 && !strcmp(argv[2], "about");
	return run_use(uses, sizeof(uses) / sizeof(*uses), argc, argv);
}
