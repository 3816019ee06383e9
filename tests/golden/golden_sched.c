/* SPDX-License-Identifier: MIT */
/*
 * golden_sched: tasks that run, wait and wake one another at times that are chosen so that each wait can be worked out
 * by hand; and samples that say what cannot be. Times in the tables are milliseconds after the first second.
 */
#include "golden/golden.h"

enum { SWITCH_ID = 300, WAKING_ID, MIGRATE_ID, FORK_ID, RUNTIME_ID };
enum { SWITCH, WAKING, MIGRATE, FORK, RUNTIME, SCHED_EVENTS }; /* places among the events */
enum { COMM_BYTES = 16 };

#define COMMON_FIELDS                                                                              \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

struct common {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
};

static const char switch_format[] =
	"name: sched_switch\nID: 300\n" COMMON_FIELDS
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "
	"next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? "
	"__print_flags(REC->prev_state & 0xff, \"|\", { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x4, \"T\" }, "
	"{ 0x8, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", "
	"REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio\n";

struct switching {
	struct common common;
	char prev_comm[COMM_BYTES];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[COMM_BYTES];
	int32_t next_pid, next_prio;
};

#define TASK_FIELDS                                                                                \
	COMMON_FIELDS "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                   \
		      "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"

static const char waking_format[] = "name: sched_waking\nID: 301\n" TASK_FIELDS
				    "\nprint fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n";
static const char migrate_format[] =
	"name: sched_migrate_task\nID: 302\n" TASK_FIELDS
	"\tfield:int orig_cpu;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int dest_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d orig_cpu=%d dest_cpu=%d\", REC->comm, REC->pid, REC->orig_cpu, REC->dest_cpu\n";
static const char fork_format[] = "name: sched_process_fork\nID: 303\n" COMMON_FIELDS
				  "\tfield:char child_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				  "\tfield:pid_t child_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
				  "print fmt: \"child_pid=%d\", REC->child_pid\n";
static const char runtime_format[] = "name: sched_stat_runtime\nID: 304\n" TASK_FIELDS
				     "\tfield:u64 runtime;\toffset:32;\tsize:8;\tsigned:0;\n\n"
				     "print fmt: \"comm=%s pid=%d runtime=%Lu\", REC->comm, REC->pid, REC->runtime\n";

struct about_task {
	struct common common;
	char comm[COMM_BYTES];
	int32_t pid, from_cpu;
	union {
		int32_t to_cpu;
		uint64_t runtime;
	};
};

/* Tasks; 0 is idle. */
enum { APP = PID, OTHER = OTHER_PID, THIRD = 4200003, STRANGER = 4200005 };

static const char *comm_of(int32_t pid)
{
	return pid == APP ? "app" : pid == OTHER ? "other" : pid == THIRD ? "thi\033[2Jrd" : "swapper/0";
}

static void start_sched(struct golden *g)
{
	static const char *const formats[] = { switch_format, waking_format, migrate_format, fork_format,
					       runtime_format };
	static const char *const names[] = { "sched:sched_switch", "sched:sched_waking", "sched:sched_migrate_task",
					     "sched:sched_process_fork", "sched:sched_stat_runtime" };
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_RAW);

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.sample_period = 1;
	for (unsigned i = 0; i < SCHED_EVENTS; i++) {
		attr.config = SWITCH_ID + i;
		golden_event(g, &attr, names[i]);
	}
	golden_tracing_data(&g->info, "sched", formats, ARRAY_SIZE(formats));
	golden_start_app(g);
	golden_comm(g, OTHER, OTHER, true, "other");
}

static void add_sample(struct golden *g, size_t event, unsigned ms, uint32_t cpu, int32_t current, const void *raw,
		       size_t size)
{
	struct record_body body = golden_sample(kernel(SCHEDULE));

	g->event = event;
	body.sample.time_ns = (1000 + ms) * (uint64_t)MS;
	body.sample.cpu = cpu;
	body.sample.pid = body.sample.tid = (uint32_t)current;
	body.sample.period = 1;
	body.sample.raw = raw;
	body.sample.raw_size = (uint32_t)size;
	golden_add(g, &body);
}

static void switches(struct golden *g, unsigned ms, uint32_t cpu, int32_t prev, char state, int32_t next)
{
	static const char letters[] = "SDTtXZPI";
	const char *letter = strchr(letters, state);
	struct switching raw = { { SWITCH_ID, 0, 0, prev }, "", prev, 120, 0, "", next, 120 };

	/* What is preempted has a bit behind those with names. */
	raw.prev_state = letter ? 1 << (letter - letters) : 0x100;
	memcpy(raw.prev_comm, comm_of(prev), strlen(comm_of(prev)));
	memcpy(raw.next_comm, comm_of(next), strlen(comm_of(next)));
	if (ms == 26) /* it was switched in with another one */
		raw.prev_prio = 110;
	add_sample(g, SWITCH, ms, cpu, prev, &raw, sizeof(raw));
}

static void about(struct golden *g, size_t event, unsigned ms, uint32_t cpu, int32_t by, struct about_task raw)
{
	raw.common = (struct common){ (uint16_t)(SWITCH_ID + event), 0, 0, by };
	memcpy(raw.comm, comm_of(raw.pid), strlen(comm_of(raw.pid)));
	add_sample(g, event, ms, cpu, by, &raw, sizeof(raw));
}

static void add_record(struct golden *g, unsigned ms, uint32_t cpu, struct record_body body)
{
	g->event = SWITCH;
	body.id.time_ns = (1000 + ms) * (uint64_t)MS;
	body.id.cpu = cpu;
	golden_add(g, &body);
}

/*
 *	CPU 0	-- app --10 idle 16-- app --19 idle .............. (41: a switch from a task that it did not run)
 *	CPU 1	.. idle 12-- other --22-- app --26-- other --30 idle .. lost ..
 *		33-- other --36-- app, another one --40 idle
 *
 * other wakes app at 15 and 21, moves it to its own CPU at 20, and is preempted by it at 22. app ends at 26; its
 * EXIT is there a little before. At 34 its number is another task's.
 */
static void sched(struct golden *g)
{
	struct record_body lost = { .type = RECORD_LOST }, end = { .type = RECORD_EXIT };
	struct record_body fork = { .type = RECORD_FORK };

	start_sched(g);
	lost.lost.id = 11;
	lost.lost.lost = 7;
	end.task = (struct record_task){ .pid = APP, .tid = APP, .ppid = OTHER, .ptid = OTHER };
	fork.task = end.task;
	switches(g, 10, 0, APP, 'S', 0);
	switches(g, 12, 1, 0, 'R', OTHER);
	about(g, WAKING, 15, 1, OTHER, (struct about_task){ .pid = APP });
	switches(g, 16, 0, 0, 'R', APP);
	about(g, RUNTIME, 18, 0, APP, (struct about_task){ .pid = APP, .runtime = 2 * MS });
	switches(g, 19, 0, APP, 'D', 0);
	about(g, MIGRATE, 20, 1, OTHER, (struct about_task){ .pid = APP, .from_cpu = 0, .to_cpu = 1 });
	about(g, WAKING, 21, 1, OTHER, (struct about_task){ .pid = APP });
	about(g, WAKING, 21, 1, OTHER, (struct about_task){ .pid = APP });
	switches(g, 22, 1, OTHER, 'R', APP);
	add_record(g, 25, 1, end);
	switches(g, 26, 1, APP, 'Z', OTHER);
	switches(g, 30, 1, OTHER, 'S', 0);
	add_record(g, 31, 1, lost);
	switches(g, 33, 1, 0, 'R', OTHER);
	add_record(g, 34, 1, fork);
	about(g, FORK, 34, 1, OTHER, (struct about_task){ .pid = APP });
	switches(g, 36, 1, OTHER, 'S', APP);
	switches(g, 40, 1, APP, 'S', 0);
	switches(g, 41, 0, THIRD, 'S', 0);
}

/* CPUs that no machine has, samples that end early, a clock that goes back, numbers below 0. */
static void sched_hostile(struct golden *g)
{
	static const uint32_t cpus[] = { 4999, UINT32_MAX, 8192, 8191 };
	const struct about_task raw = { .common = { WAKING_ID, 0, 0, APP } };

	start_sched(g);
	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		switches(g, 10, cpus[i], OTHER, 'S', 0);
		switches(g, 12, cpus[i], 0, 'R', OTHER);
	}
	add_sample(g, WAKING, 13, 0, APP, &raw, offsetof(struct about_task, pid) + 2);
	add_sample(g, WAKING, 13, 0, APP, &raw, 0);
	about(g, WAKING, 14, 1, OTHER, (struct about_task){ .pid = INT32_MIN });
	switches(g, 20, 1, -1, '?', INT32_MIN);
	switches(g, 5, 1, INT32_MIN, 'S', 0);
	switches(g, 30, 1, 0, 'R', STRANGER);
}

const struct golden_recording golden_sched[] = {
	{ "sched.data", sched, NULL },
	{ "sched_hostile.data", sched_hostile, NULL },
	{ NULL, NULL, NULL },
};
