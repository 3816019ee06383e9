/* SPDX-License-Identifier: MIT */
/*
 * Uses of the library's smaller parts: see require.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libpstat.h"
#include "require.h"

static struct pstat_error error = { sizeof(error), 0, "" };

static struct pstat_events *parsed(const char *text)
{
	struct pstat_events *events;

	REQUIRE(pstat_events_new(&events) == 0);
	if (pstat_events_parse(events, text, &error))
		SKIP("%s", error.text);
	return events;
}

static void touch_300(void *calls)
{
	++*(int *)calls;
	touch(300);
}

static void measure(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .enabled = 1, .enable_on_exec = 1 };
	struct pstat_events *events = parsed("page-faults:u");
	struct pstat_readings *readings, *others;
	struct pstat_counters *counters, *strange;
	int calls = 0;

	REQUIRE(pstat_measure_with(events, &options, touch_300, &calls, &readings, &error) == -EINVAL);
	SAYS(error, "not both");
	REQUIRE(!readings && !calls);
	options.enabled = options.enable_on_exec = 0;
	REQUIRE(pstat_measure_with(events, &options, touch_300, &calls, &readings, &error) == 0);
	REQUIRE(calls == 1 && pstat_reading_at(readings, 0)->raw >= 300);
	pstat_readings_free(readings);

	REQUIRE(pstat_open(&counters, events, &options, &error) == 0);
	REQUIRE(pstat_open(&strange, events, &options, &error) == 0);
	REQUIRE(pstat_readings_new(&readings, counters) == 0 && pstat_readings_new(&others, strange) == 0);
	for (int i = 0; i < 3; i++) {
		/* Each time by itself, and nothing of what lies between. */
		touch(1000);
		REQUIRE(pstat_measure_counters(counters, readings, touch_300, &calls) == 0);
		REQUIRE(calls == i + 2);
		REQUIRE(pstat_reading_at(readings, 0)->raw >= 300 && pstat_reading_at(readings, 0)->raw < 1000);
	}
	REQUIRE(pstat_measure_counters(counters, others, touch_300, &calls) == -EINVAL && calls == 4);
	pstat_readings_free(readings);
	pstat_readings_free(others);
	pstat_close(counters);
	pstat_close(strange);
	pstat_events_free(events);
}

/* A descriptor of each CPU, or of this thread on any; and on one CPU alone. */
static void targets(void)
{
	struct pstat_open_options options = { .size = sizeof(options) };
	struct pstat_events *events = parsed("page-faults:u,task-clock:u");
	struct pstat_counters *counters;
	int cpus[2] = { 7, 7 }, tids[2] = { 7, 7 }, cpu = sched_getcpu(), tid = gettid();

	REQUIRE(pstat_open(&counters, events, &options, &error) == 0);
	REQUIRE(pstat_descriptor_targets(counters, 1, cpus, tids, 2) == 1);
	REQUIRE(cpus[0] == -1 && tids[0] == tid && cpus[1] == 7 && tids[1] == 7);
	REQUIRE(pstat_descriptor_targets(counters, 1, NULL, NULL, 0) == 1);
	REQUIRE(pstat_descriptor_targets(counters, 2, NULL, NULL, 0) == -EINVAL);
	pstat_close(counters);

	options.cpus = &cpu;
	options.n_cpus = 1;
	REQUIRE(pstat_open(&counters, events, &options, &error) == 0);
	REQUIRE(pstat_descriptor_targets(counters, 0, cpus, tids, 2) == 1 && cpus[0] == cpu && tids[0] == tid);
	pstat_close(counters);

	options.target = PSTAT_CPUS;
	REQUIRE(pstat_open(&counters, events, &options, &error) == -EINVAL);
	options.n_cpus = 0;
	options.ids = &cpu;
	options.n_ids = 1;
	if (pstat_open(&counters, events, &options, &error) == 0) {
		REQUIRE(pstat_descriptor_targets(counters, 0, cpus, tids, 2) == 1 && cpus[0] == cpu && tids[0] == -1);
		pstat_close(counters);
	}
	pstat_events_free(events);
}

/* What this thread does on a CPU where it is not counted does not count. */
static void one_cpu(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .enabled = 1, .n_cpus = 1 };
	struct pstat_events *events = parsed("page-faults:u");
	int allowed[2], n = 0;
	struct pstat_counters *counters;
	struct pstat_readings *readings;
	cpu_set_t set, one;

	REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			allowed[n++] = cpu;
	if (n < 2)
		SKIP("there is one CPU");
	options.cpus = allowed;
	REQUIRE(pstat_open(&counters, events, &options, &error) == 0);
	REQUIRE(pstat_readings_new(&readings, counters) == 0);
	for (int i = 0; i < 2; i++) {
		CPU_ZERO(&one);
		CPU_SET(allowed[i], &one);
		REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
		REQUIRE(pstat_reset(counters) == 0);
		touch(300);
		REQUIRE(pstat_read(counters, readings) == 0);
		REQUIRE(i ? pstat_reading_at(readings, 0)->raw == 0 : pstat_reading_at(readings, 0)->raw >= 300);
	}
	pstat_readings_free(readings);
	pstat_close(counters);
	pstat_events_free(events);
}

/* An event that no machine has. */
#define NOWHERE "4294967294:0x1"

static void json(void)
{
	struct pstat_events *events = parsed("page-faults:u,page-faults:u,minor-faults:u," NOWHERE);
	struct pstat_readings *readings;
	int calls = 0;
	char text[2000];

	REQUIRE(pstat_measure(events, touch_300, &calls, &readings) == 0);
	REQUIRE(pstat_readings_json_with(readings, PSTAT_JSON_PERF_UTILS, text, sizeof(text)) == (int)strlen(text));
	REQUIRE(strstr(text, "{\"page_faults\":") == text);
	REQUIRE(strstr(text, ",\"page_faults_2\":") && strstr(text, ",\"minor_page_faults\":"));
	REQUIRE(strstr(text, ",\"4294967294_0x1\":null}"));
	REQUIRE(pstat_readings_json_with(readings, PSTAT_JSON_DETAILS, text, sizeof(text)) == (int)strlen(text));
	REQUIRE(strstr(text, "{\"page-faults:u\":{\"value\":") == text);
	REQUIRE(strstr(text, "\"state\":\"counted\",\"reason\":null},"));
	REQUIRE(strstr(text, ":{\"value\":null,\"enabled_ns\":0,\"running_ns\":0,"
			     "\"state\":\"not supported\",\"reason\":\""));
	REQUIRE(pstat_readings_json_with(readings, 4, text, sizeof(text)) == -EINVAL);
	pstat_readings_free(readings);
	pstat_events_free(events);
}

static void label_is(uint32_t type, uint64_t config, const char *expected)
{
	char text[100];

	REQUIRE(pstat_event_label(type, config, text, sizeof(text)) == (int)strlen(expected));
	if (strcmp(text, expected)) {
		printf("'%s' is not '%s'\n", text, expected);
		exit(0);
	}
}

static void known(void)
{
	struct pstat_known *known;
	size_t found = 0;

	REQUIRE(pstat_supported() == 1);
	REQUIRE(pstat_max_stack() > 0);
	label_is(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	label_is(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	label_is(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		 "L1-dcache-load-misses");
	label_is(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8,
		 "node-prefetches");
	label_is(PERF_TYPE_RAW, 0x1a, "r1a");
	label_is(77, 5, "type-77/config=0x5/");
	REQUIRE(pstat_known_new(&known, "sw", NULL, &error) == 0);
	for (size_t i = 0; i < pstat_known_count(known); i++)
		found += !strcmp(pstat_known_at(known, i)->name, "page-faults") &&
			 !strcmp(pstat_known_at(known, i)->alias, "faults") &&
			 !strcmp(pstat_known_at(known, i)->topic, "sw");
	REQUIRE(found == 1 && pstat_known_count(known) > 5 && !pstat_known_at(known, pstat_known_count(known)));
	pstat_known_free(known);
	REQUIRE(pstat_known_new(&known, "sw", "page-f*", &error) == 0 && pstat_known_count(known) == 1);
	pstat_known_free(known);
	REQUIRE(pstat_known_new(&known, "no such topic", NULL, &error) == -ENOENT && !known);
	pstat_known_free(known);
}

/* Two events of one sampler: one by period, one by frequency. */
static void rates(void)
{
	struct pstat_events *events = parsed("page-faults:u,page-faults:u,page-faults:u");
	struct pstat_sampling_options options = { .size = sizeof(options), .period = 7 };
	const struct perf_event_attr *attr[3];
	struct pstat_sampler *sampler;

	REQUIRE(pstat_events_set_period(events, 0, 3, &error) == 0);
	REQUIRE(pstat_events_set_frequency(events, 1, 100, &error) == 0);
	REQUIRE(pstat_events_set_period(events, 3, 3, &error) == -EINVAL);
	REQUIRE(pstat_events_set_period(events, 0, 0, &error) == -EINVAL);
	REQUIRE(pstat_sampler_open(&sampler, events, &options, &error) == 0);
	for (size_t i = 0; i < 3; i++)
		attr[i] = pstat_counter(pstat_sampler_counters(sampler), i)->attr;
	REQUIRE(!attr[0]->freq && attr[0]->sample_period == 3);
	REQUIRE(attr[1]->freq && attr[1]->sample_freq == 100);
	REQUIRE(!attr[2]->freq && attr[2]->sample_period == 7);
	pstat_sampler_close(sampler);
	pstat_events_free(events);
}

static size_t samples(struct pstat_sampler *sampler)
{
	const struct pstat_record *record;
	size_t n = 0;

	while (pstat_sampler_next(sampler, &record, NULL) == 1)
		n += record->record_type == PSTAT_RECORD_SAMPLE;
	return n;
}

static void pause_and_refresh(void)
{
	struct pstat_events *events = parsed("page-faults:u");
	struct pstat_sampling_options options = { .size = sizeof(options), .period = 1 };
	struct pstat_sampler *sampler;
	struct pstat_counters *counters;

	REQUIRE(pstat_sampler_open(&sampler, events, &options, &error) == 0);
	counters = pstat_sampler_counters(sampler);
	/* Disabled until then, and again afterwards. */
	touch(10);
	REQUIRE(samples(sampler) == 0);
	REQUIRE(pstat_refresh(counters, 0, 5) == 0);
	touch(50);
	REQUIRE(samples(sampler) == 5);
	REQUIRE(pstat_refresh(counters, 0, 0) == -EINVAL && pstat_refresh(counters, 1, 1) == -EINVAL);
	REQUIRE(pstat_sampler_pause(sampler, 1) == 0);
	REQUIRE(pstat_enable(counters) == 0);
	touch(50);
	REQUIRE(samples(sampler) == 0);
	REQUIRE(pstat_sampler_pause(sampler, 0) == 0);
	touch(50);
	REQUIRE(samples(sampler) >= 50);
	pstat_sampler_close(sampler);
	pstat_events_free(events);
}

/* A control group by its name, its path and its folder: that of this process, which is running. */
static void cgroup_path(void)
{
	const char *folder = getenv("CGROUP_MOUNT");
	struct pstat_open_options options[3] = { { .cgroup = "/" }, { .cgroup = folder },
						 { .by_cgroup_fd = 1, .cgroup_fd = open(folder, O_RDONLY) } };
	struct pstat_events *events = parsed("page-faults:u");
	struct pstat_counters *counters;

	for (size_t i = 0; i < 3; i++) {
		options[i].size = sizeof(options[i]);
		options[i].target = PSTAT_CPUS;
		if (pstat_open(&counters, events, &options[i], &error)) {
			printf("%zu: %s\n", i, error.text);
			exit(0);
		}
		pstat_close(counters);
	}
	close(options[2].cgroup_fd);
	options[2].cgroup_fd = -1;
	REQUIRE(pstat_open(&counters, events, &options[2], &error) == -EBADF);
	options[2].cgroup_fd = open("/", O_RDONLY);
	REQUIRE(pstat_open(&counters, events, &options[2], &error) == -EINVAL);
	SAYS(error, "not the folder of a control group");
	options[2].cgroup = "/";
	REQUIRE(pstat_open(&counters, events, &options[2], &error) == -EINVAL);
	SAYS(error, "not both");
	close(options[2].cgroup_fd);
	pstat_events_free(events);
}

/* The programs of a tracepoint, by the kernel's ids. */
static void bpf_programs(void)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct pstat_events *events = parsed(GETPRIORITY ",page-faults");
	struct pstat_counters *counters;
	struct bpf_prog_info info;
	union bpf_attr attr;
	uint32_t ids[2] = { 0, 0 };
	int program;

	alone_at_getpriority();
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (program < 0)
		SKIP("no BPF program can be loaded: %s", strerror(errno));
	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)program;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	REQUIRE(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) == 0);
	if (pstat_open(&counters, events, NULL, &error))
		SKIP("%s", error.text);
	REQUIRE(pstat_bpf_programs(counters, 0, ids, 2) == 0);
	REQUIRE(pstat_attach_bpf(counters, 0, program) == 0);
	REQUIRE(pstat_bpf_programs(counters, 0, NULL, 0) == 1);
	REQUIRE(pstat_bpf_programs(counters, 0, ids, 2) == 1 && ids[0] == info.id && ids[1] == 0);
	REQUIRE(pstat_bpf_programs(counters, 1, ids, 2) == -EINVAL);
	REQUIRE(pstat_bpf_programs(counters, 2, ids, 2) == -EINVAL);
	pstat_close(counters);
	pstat_events_free(events);
	close(program);
}

/* A field of each kind, by its name: what this process was called with. */
static void fields(void)
{
	struct pstat_sampling_options options = { .size = sizeof(options), .period = 1, .fields = PERF_SAMPLE_RAW };
	struct pstat_field which = { .size = sizeof(which) }, who = which, file = which, pid = which;
	struct pstat_events *events = parsed(GETPRIORITY ",sched:sched_wakeup,"
					     "sched:sched_process_exec,page-faults");
	const struct pstat_record *record;
	struct pstat_sampler *sampler;
	int64_t value = 0;
	int n = 0;

	alone_at_getpriority();
	REQUIRE(pstat_events_field(events, 0, "which", &which, &error) == 0);
	REQUIRE(pstat_events_field(events, 0, "who", &who, &error) == 0);
	REQUIRE(pstat_events_field(events, 1, "comm", &file, &error) == 0);
	REQUIRE(file.bytes == 16 && file.is_text && file.is_array && !file.is_dynamic);
	REQUIRE(pstat_events_field(events, 1, "pid", &pid, &error) == 0);
	REQUIRE(pid.bytes == 4 && pid.is_signed && !pid.is_array);
	REQUIRE(pstat_events_field(events, 2, "filename", &file, &error) == 0);
	REQUIRE(file.is_text && file.is_dynamic);
	REQUIRE(pstat_events_field(events, 0, "whic", &file, &error) == -ENOENT);
	SAYS(error, "has no field 'whic'");
	REQUIRE(pstat_events_field(events, 3, "pid", &file, &error) == -EINVAL);
	if (pstat_sampler_open(&sampler, events, &options, &error))
		SKIP("%s", error.text);
	if (!pstat_counter(pstat_sampler_counters(sampler), 0)->supported)
		SKIP("%s", pstat_counter(pstat_sampler_counters(sampler), 0)->reason);
	REQUIRE(pstat_enable(pstat_sampler_counters(sampler)) == 0);
	syscall(SYS_getpriority, 0, 12345);
	REQUIRE(pstat_disable(pstat_sampler_counters(sampler)) == 0);
	while (pstat_sampler_next(sampler, &record, NULL) == 1) {
		const struct pstat_sample *sample = pstat_record_sample(record);

		if (!sample || record->event != 0)
			continue;
		REQUIRE(pstat_field_number(&which, sample, &value) == 0 && value == 0);
		REQUIRE(pstat_field_number(&who, sample, &value) == 0);
		n += value == 12345;
	}
	REQUIRE(n == 1);
	pstat_sampler_close(sampler);
	pstat_events_free(events);
}

static const struct use uses[] = {
	{ "measure", measure },	    { "targets", targets },		{ "one_cpu", one_cpu },
	{ "json", json },	    { "known", known },			{ "rates", rates },
	{ "pause", pause_and_refresh }, { "cgroup_path", cgroup_path }, { "bpf_programs", bpf_programs },
	{ "fields", fields },
};

int main(int argc, char **argv)
{
	return run_use(uses, sizeof(uses) / sizeof(*uses), argc, argv);
}
