/* SPDX-License-Identifier: MIT */
/*
 * Uses of the library in which something used to be lost without a word: see require.h. Samples are of page faults,
 * which are caused one by one.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpstat.h"
#include "require.h"

static struct pstat_error error = { sizeof(error), 0, "" };

static struct pstat_events *parsed(const char *text)
{
	struct pstat_events *events;

	REQUIRE(pstat_events_new(&events) == 0);
	if (pstat_events_parse(events, text, &error)) {
		printf("%s\n", error.text);
		exit(0);
	}
	return events;
}

/* What opening a sampler of these words returns. */
static int try_open(struct pstat_sampler **sampler, const char *text, struct pstat_sampling_options *options)
{
	struct pstat_events *events = parsed(text);
	int rc;

	options->size = sizeof(*options);
	error.text[0] = '\0';
	rc = pstat_sampler_open(sampler, events, options, &error);
	pstat_events_free(events);
	return rc;
}

static struct pstat_sampler *opened(const char *text, struct pstat_sampling_options *options)
{
	struct pstat_sampler *sampler;
	int rc = try_open(&sampler, text, options);

	if (rc == -EACCES || rc == -EPERM)
		SKIP("this user may not: %s", error.text);
	if (rc) {
		printf("%s\n", error.text);
		exit(0);
	}
	return sampler;
}

/* ---- track ---- */

/* An event that no machine has: a type that no PMU is registered by. */
#define NOWHERE "4294967294:0x1"

static void names_of(const char *text, uint64_t period)
{
	struct pstat_open_options open = { .size = sizeof(open), .enabled = 1 };
	struct pstat_sampling_options options = { .open = &open, .track = PSTAT_TRACK_NAMES, .period = period };
	struct pstat_sampler *sampler = opened(text, &options);
	const struct pstat_record *record;
	char name[] = "told-once";
	int told = 0, rc;

	REQUIRE(!pstat_counter(pstat_sampler_counters(sampler), 0)->supported || period);
	REQUIRE(prctl(PR_SET_NAME, name) == 0);
	REQUIRE(pstat_sampler_wait(sampler, -1) == 1);
	while ((rc = pstat_sampler_next(sampler, &record, NULL)) == 1) {
		const struct pstat_comm *comm = pstat_record_comm(record);

		told += comm && !strcmp(comm->name, name);
	}
	REQUIRE(rc == 0 && told == 1);
	pstat_sampler_close(sampler);
}

/* What the process does is told also where the first event, or all, cannot be had. */
static void track(void)
{
	names_of("dummy", 1);
	names_of(NOWHERE ",dummy", 0);
	names_of(NOWHERE, 0);
}

/* There is nobody to wait for, which is not that they have ended. */
static void nothing_open(void)
{
	struct pstat_sampling_options options = { .period = 1 };
	struct pstat_sampler *sampler = opened(NOWHERE, &options);

	REQUIRE(pstat_sampler_wait(sampler, -1) == -EOPNOTSUPP);
	REQUIRE(pstat_sampler_wait(sampler, 0) == -EOPNOTSUPP);
	pstat_sampler_close(sampler);
}

/* ---- waiting ---- */

/* What lies in a ring is there, however little wakes nobody up. */
static void waiting(void)
{
	struct pstat_open_options open = { .size = sizeof(open), .enabled = 1 };
	struct pstat_sampling_options options = { .open = &open, .period = 1, .wakeup_events = 1000 };
	struct pstat_sampler *sampler = opened("page-faults:u", &options);
	const struct pstat_record *record;

	touch(3);
	REQUIRE(pstat_sampler_wait(sampler, -1) == 1);
	REQUIRE(pstat_sampler_next(sampler, &record, NULL) == 1);
	/* The one in hand is not there any more; the others are. */
	REQUIRE(pstat_sampler_wait(sampler, -1) == 1);
	pstat_disable(pstat_sampler_counters(sampler));
	while (pstat_sampler_next(sampler, &record, NULL) == 1)
		;
	REQUIRE(pstat_sampler_wait(sampler, 0) == 0);
	pstat_sampler_close(sampler);
}

/* A task has ended: first what it left, then that it has. */
static void ended(void)
{
	int go[2], pid;
	struct pstat_open_options open = { .size = sizeof(open), .target = PSTAT_TID, .ids = &pid, .n_ids = 1,
					   .enabled = 1 };
	struct pstat_sampling_options options = { .open = &open, .period = 1, .wakeup_events = 100000 };
	const struct pstat_record *record;
	struct pstat_sampler *sampler;
	size_t n = 0;
	char byte;
	int rc;

	REQUIRE(pipe(go) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) < 0 || (touch(20), 0));
	}
	sampler = opened("page-faults:u", &options);
	close(go[0]);
	close(go[1]);
	REQUIRE(waitpid(pid, NULL, 0) == pid);
	while ((rc = pstat_sampler_wait(sampler, -1)) == 1)
		while (pstat_sampler_next(sampler, &record, NULL) == 1)
			n += record->record_type == PSTAT_RECORD_SAMPLE;
	REQUIRE(rc == -ENODATA && n >= 20);
	pstat_sampler_close(sampler);
}

/* ---- words of the text ---- */

static const struct perf_event_attr *attr_of(struct pstat_sampler *sampler)
{
	return pstat_counter(pstat_sampler_counters(sampler), 0)->attr;
}

static void refused(const char *text, struct pstat_sampling_options *options, const char *why)
{
	struct pstat_sampler *sampler;

	if (try_open(&sampler, text, options) != -EINVAL) {
		printf("'%s' is not refused\n", text);
		exit(0);
	}
	REQUIRE(!sampler);
	SAYS(error, why);
}

/* Each word that says how to sample is followed, or refused by its name. */
static void words(void)
{
	struct pstat_sampling_options plain = { .period = 1 };
	struct pstat_sampling_options chains = { .period = 1, .fields = PERF_SAMPLE_CALLCHAIN };
	struct pstat_sampling_options stacks = { .period = 1, .fields = PERF_SAMPLE_STACK_USER, .stack_bytes = 512 };
	struct pstat_sampler *sampler = opened("page-faults/max-stack=7/u", &chains);

	REQUIRE(attr_of(sampler)->sample_max_stack == 7);
	pstat_sampler_close(sampler);
	sampler = opened("page-faults/call-graph=fp/u", &plain);
	REQUIRE(attr_of(sampler)->sample_type & PERF_SAMPLE_CALLCHAIN);
	pstat_sampler_close(sampler);
	sampler = opened("page-faults/call-graph=no/u", &chains);
	REQUIRE(!(attr_of(sampler)->sample_type & PERF_SAMPLE_CALLCHAIN));
	pstat_sampler_close(sampler);
	sampler = opened("page-faults/stack-size=1024/u", &stacks);
	REQUIRE(attr_of(sampler)->sample_stack_user == 1024);
	pstat_sampler_close(sampler);
	sampler = opened("page-faults/time=0/u", &plain);
	REQUIRE(!(attr_of(sampler)->sample_type & PERF_SAMPLE_TIME));
	pstat_sampler_close(sampler);
	/* No counter unit here may take branch records: the attr is what was asked for, opened or not. */
	sampler = opened("page-faults/branch_type=any_call/u", &plain);
	REQUIRE(attr_of(sampler)->sample_type & PERF_SAMPLE_BRANCH_STACK);
	REQUIRE(attr_of(sampler)->branch_sample_type == PERF_SAMPLE_BRANCH_ANY_CALL);
	pstat_sampler_close(sampler);
	refused("page-faults/max-stack=7/u", &plain, "max-stack=");
	refused("page-faults/stack-size=1024/u", &plain, "stack-size=");
	refused("page-faults/call-graph=dwarf/u", &plain, "call-graph=dwarf");
	refused("page-faults/call-graph=lbr/u", &plain, "call-graph=lbr");
	refused("page-faults/overwrite/u", &plain, "overwrite");
	refused("page-faults/percore/u", &plain, "percore");
	refused("page-faults/aux-sample-size=16/u", &plain, "aux-sample-size=");
	refused("page-faults/nr=16/u", &plain, "nr=");
}

/* Limits of the kernel's are named, with what is allowed. */
static void limits(void)
{
	struct pstat_sampling_options fast = { .frequency = 1000000000 };
	struct pstat_sampling_options plain = { .fields = PERF_SAMPLE_CALLCHAIN };

	refused("cpu-clock:u", &fast, "kernel.perf_event_max_sample_rate");
	refused("cpu-clock/freq=1000000000/u", &plain, "kernel.perf_event_max_sample_rate");
	refused("cpu-clock/max-stack=65535/u", &plain, "kernel.perf_event_max_stack");
	plain.max_stack = 65535;
	refused("cpu-clock:u", &plain, "kernel.perf_event_max_stack");
}

/* Children that are followed by one event alone have rings to write to, too. */
static void inherit_word(void)
{
	struct pstat_open_options open = { .size = sizeof(open), .enabled = 1 };
	struct pstat_sampling_options options = { .open = &open, .period = 1 };
	struct pstat_sampler *sampler = opened("page-faults/inherit/u", &options);
	const struct pstat_record *record;
	size_t n = 0;
	int pid = fork();

	REQUIRE(pid >= 0);
	if (!pid) {
		touch(20);
		_exit(0);
	}
	REQUIRE(waitpid(pid, NULL, 0) == pid);
	while (pstat_sampler_next(sampler, &record, NULL) == 1)
		n += record->record_type == PSTAT_RECORD_SAMPLE && record->pid == (uint32_t)pid;
	REQUIRE(n >= 20);
	pstat_sampler_close(sampler);
}

/* ---- sentences ---- */

/* What to do is said to a program, not to who types a command. */
static void sentences(void)
{
	struct pstat_events *events;
	struct pstat_counters *counters;
	const struct pstat_counter *cycles;

	REQUIRE(pstat_events_new(&events) == 0);
	REQUIRE(pstat_events_parse(events, "no-such-event", &error) == -ENOENT);
	SAYS(error, "pstat_known_new()");
	REQUIRE(!strstr(error.text, "pstat list"));
	REQUIRE(pstat_events_parse(events, "skl::INST_RETIRED", &error) == -ENOSYS);
	SAYS(error, "the library has none of libpfm4");
	REQUIRE(pstat_events_parse(events, "cycles", &error) == 0);
	REQUIRE(pstat_open(&counters, events, NULL, &error) == 0);
	cycles = pstat_counter(counters, 0);
	REQUIRE(!cycles->remedy || !strstr(cycles->remedy, "pstat stat"));
	pstat_close(counters);
	pstat_events_free(events);
}

/* ---- BPF programs ---- */

/* return `verdict` */
static int program_of(unsigned type, int verdict)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(*code);
	attr.license = (uintptr_t)"GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		SKIP("no BPF program can be loaded: %s", strerror(errno));
	return fd;
}

static uint64_t hits(struct pstat_counters *counters, struct pstat_readings *readings)
{
	REQUIRE(pstat_reset(counters) == 0);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getpriority, 0, 0);
	REQUIRE(pstat_read(counters, readings) == 0);
	return pstat_reading_at(readings, 0)->raw;
}

/* One program for all descriptors of a tracepoint; what it returns says whether the hit is counted. */
static void bpf_tracepoint(void)
{
	struct pstat_open_options options = { .size = sizeof(options), .target = PSTAT_CPUS, .enabled = 1 };
	int pass = program_of(BPF_PROG_TYPE_TRACEPOINT, 1), drop = program_of(BPF_PROG_TYPE_TRACEPOINT, 0), rc;
	struct pstat_events *events;
	struct pstat_counters *counters;
	struct pstat_readings *readings;

	alone_at_getpriority();
	REQUIRE(pstat_events_new(&events) == 0);
	if (pstat_events_parse(events, GETPRIORITY, &error))
		SKIP("%s", error.text);
	if (pstat_open(&counters, events, &options, &error))
		SKIP("%s", error.text);
	REQUIRE(pstat_readings_new(&readings, counters) == 0);
	REQUIRE(hits(counters, readings) >= 100);
	rc = pstat_attach_bpf(counters, 0, pass);
	REQUIRE(rc == 0);
	REQUIRE(hits(counters, readings) >= 100);
	/* The kernel takes one for each descriptor. */
	REQUIRE(pstat_attach_bpf(counters, 0, pass) == -EEXIST);
	pstat_close(counters);
	REQUIRE(pstat_open(&counters, events, &options, &error) == 0);
	REQUIRE(pstat_attach_bpf(counters, 0, drop) == 0);
	pstat_readings_free(readings);
	REQUIRE(pstat_readings_new(&readings, counters) == 0);
	REQUIRE(hits(counters, readings) == 0);
	pstat_readings_free(readings);
	pstat_close(counters);
	pstat_events_free(events);
	close(pass);
	close(drop);
}

static const struct use uses[] = {
	{ "track", track },   { "nothing_open", nothing_open }, { "waiting", waiting },
	{ "ended", ended },   { "words", words },		{ "limits", limits },
	{ "sentences", sentences }, { "inherit_word", inherit_word }, { "bpf_tracepoint", bpf_tracepoint },
};

int main(int argc, char **argv)
{
	return run_use(uses, sizeof(uses) / sizeof(*uses), argc, argv);
}
