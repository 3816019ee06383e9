/* SPDX-License-Identifier: MIT */
/*
 * golden_tasks: recordings about processes, their maps and their names.
 */
#include "golden/golden.h"

/* sh, forked and executed: the name and the maps change, what was sampled before keeps its own. */
static void exec_comm(struct golden *g)
{
	golden_one_event(g, 0);
	golden_start(g);
	golden_comm(g, OTHER_PID, OTHER_PID, true, "sh");
	golden_map(g, OTHER_PID, LIB_BASE, MAP_BYTES, 0, LIB_PATH);
	golden_fork(g, PID, PID, OTHER_PID, OTHER_PID);
	golden_add_sample(g, lib(WORK), 1000);
	golden_comm(g, PID, PID, true, "app");
	golden_map(g, PID, APP_BASE, MAP_BYTES, 0, APP_PATH);
	golden_add_sample(g, app(SPIN), 2000);
	golden_add_sample(g, lib(WORK), 3000); /* that map went with the exec */
	golden_comm(g, PID, PID, false, "renamed"); /* prctl(2): the maps stay */
	golden_add_sample(g, app(SPIN), 4000);
}

/* The same number is a process of app, then of sh, which has other maps; then a thread of sh. */
static void tid_reuse(struct golden *g)
{
	golden_one_event(g, 0);
	golden_start_app(g);
	golden_add_sample(g, app(SPIN), 1000);
	golden_exit(g, PID, PID);
	golden_comm(g, OTHER_PID, OTHER_PID, true, "sh");
	golden_map(g, OTHER_PID, LIB_BASE, MAP_BYTES, 0, LIB_PATH);
	golden_fork(g, PID, PID, OTHER_PID, OTHER_PID);
	golden_add_sample(g, app(SPIN), 2000); /* no map there now */
	golden_add_sample(g, lib(WORK), 4000);
	golden_exit(g, PID, PID);
	golden_fork(g, OTHER_PID, PID, OTHER_PID, OTHER_PID);
	golden_comm(g, OTHER_PID, PID, false, "worker");
	struct record_body body = golden_sample(lib(SORT));

	body.sample.pid = OTHER_PID;
	body.sample.period = 8000;
	golden_add(g, &body);
}

/*
 * app, worker, app again, then it has a name by which nothing was sampled. Of a second process only the
 * second thread was sampled.
 */
static void renamed(struct golden *g)
{
	struct record_body body = golden_sample(app(LEAF));

	golden_one_event(g, 0);
	golden_start_app(g);
	golden_add_sample(g, app(SPIN), 1000);
	golden_comm(g, PID, PID, false, "worker");
	golden_add_sample(g, app(LEAF), 2000);
	golden_comm(g, PID, PID, false, "app");
	golden_add_sample(g, app(SPIN), 4000);
	golden_comm(g, PID, PID, false, "last");
	golden_fork(g, OTHER_PID, OTHER_PID, PID, PID);
	golden_fork(g, OTHER_PID, OTHER_PID + 1, OTHER_PID, OTHER_PID);
	golden_comm(g, OTHER_PID, OTHER_PID + 1, false, "second");
	golden_comm(g, OTHER_PID, OTHER_PID, false, "first");
	body.sample.pid = OTHER_PID;
	body.sample.tid = OTHER_PID + 1;
	body.sample.period = 8000;
	golden_add(g, &body);
	golden_exit(g, OTHER_PID, OTHER_PID + 1);
	golden_exit(g, PID, PID);
}

/* libwork.so over a part of app, then a part of it given back to app at another place of the file. */
static void overlapping_maps(struct golden *g)
{
	golden_one_event(g, 0);
	golden_start(g);
	golden_comm(g, PID, PID, true, "app");
	golden_map(g, PID, APP_BASE, 4 * MAP_BYTES, 0, APP_PATH);
	golden_add_sample(g, app(LEAF), 1000);
	golden_map(g, PID, APP_BASE, MAP_BYTES, 0, LIB_PATH);
	golden_add_sample(g, app(LEAF), 2000); /* the same address: not in a function of libwork.so */
	golden_add_sample(g, app(MAIN), 4000); /* work, whose place in the file it is */
	golden_map(g, PID, APP_BASE + 2 * MAP_BYTES, MAP_BYTES, 0, APP_PATH);
	golden_add_sample(g, app(LEAF) + 2 * MAP_BYTES, 8000);
	golden_add_sample(g, app(LEAF) + 3 * MAP_BYTES, 16000); /* the rest of the first map: no function */
}

/* In no map: a hole, below all, above all, a process of which nothing is known. */
static void no_map(struct golden *g)
{
	struct record_body body = golden_sample(app(MAIN));

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start(g);
	golden_comm(g, PID, PID, true, "app");
	golden_map(g, PID, APP_BASE, MAP_BYTES, 0, APP_PATH);
	CHAIN(g, 1000, 0x10);
	CHAIN(g, 2000, APP_BASE + MAP_BYTES, app(MAIN));
	CHAIN(g, 4000, app(LEAF), 0x7fffffffffffULL, app(MAIN));
	CHAIN(g, 8000, 0xffffffffff600008ULL, app(MAIN)); /* no kernel map either */
	body.sample.pid = body.sample.tid = OTHER_PID;
	body.sample.period = 16000;
	golden_add(g, &body);
}

/* Code made at run time: executable memory without a file, which perf-PID.map may name. */
static void jit_code(struct golden *g)
{
	const uint64_t code = 0x10000000;

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	golden_map(g, PID, code, MAP_BYTES, 0, "//anon");
	CHAIN(g, 1000, code + 0x108, app(LEAF), app(MAIN));
	CHAIN(g, 2000, app(SPIN), code + 0x208, app(MAIN));
	CHAIN(g, 4000, code + 0x308, code + 0x108);
}

/* Names of processes, files, functions, events and cgroups that no text may hold as they are. */
static void hostile_names(struct golden *g)
{
	static const char *const comms[] = { "\033[31mred", "a;b,c\td", "q\"uo'te\\", "\xff\xfe\xc3",
					     "\xe2\x80\xaelive", "new\nline", " 7 (x) ", "" };
	static const char *const paths[] = {
		"/opt/golden/\033]0;title\007", "/opt/golden/new\nline.so", "/opt/golden/a,b;c \"d\".so",
		"/opt/golden/\xff\xfe.so", "/opt/golden/\xe2\x80\xaegnp.so", "/opt/golden/tab\there",
		"/opt/golden/100%s%n", "/opt/golden/../../../../etc/passwd",
	};
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CALLCHAIN);

	golden_event(g, &attr, "ev\033[1ment, \"x\";\n");
	golden_start(g);
	for (unsigned i = 0; i < ARRAY_SIZE(comms); i++) {
		golden_comm(g, PID, PID, true, comms[i]);
		golden_map(g, PID, STRANGE_BASE, MAP_BYTES, 0, STRANGE_PATH);
		golden_map(g, PID, LIB_BASE, MAP_BYTES, 0, paths[i]);
		for (unsigned k = i; k < 12; k += ARRAY_SIZE(comms)) /* each function once */
			CHAIN(g, 100 + i, STRANGE_BASE + CODE_OFFSET + k * FUNCTION_BYTES + 8, LIB_BASE + 0x100 + i,
			      STRANGE_BASE + CODE_OFFSET + (k + 1) % 12 * FUNCTION_BYTES + 8);
		CHAIN(g, 50 + i, LIB_BASE + 0x200 + i);
	}
}

/* Functions and a file with names that are longer than a terminal's line. */
static void long_names(struct golden *g)
{
	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	golden_comm(g, PID, PID, false, "inventory");
	golden_map(g, PID, SHOP_BASE, MAP_BYTES, 0, SHOP_PATH);
	CHAIN(g, 5000, shop(EMPLACE), shop(INSERT), shop(SERVE), app(MAIN));
	CHAIN(g, 2000, shop(PUSH_BACK), shop(INSERT), shop(SERVE), app(MAIN));
	CHAIN(g, 1500, shop(TOTAL), shop(ORDER), shop(RECEIVED), shop(SERVE), app(MAIN));
	CHAIN(g, 1000, shop(ORDER), shop(RECEIVED), shop(SERVE), app(MAIN));
	CHAIN(g, 500, app(SPIN), app(MAIN));
	golden_round(g);
}

/* NAMESPACES records: the cgroup namespace of a thread is what the key cgroup_id shows. */
static void namespaces(struct golden *g)
{
	struct record_body body = { .type = RECORD_NAMESPACES };
	uint64_t links[14];

	golden_one_event(g, 0);
	golden_start_app(g);
	golden_add_sample(g, app(SPIN), 1000);
	for (unsigned i = 0; i < ARRAY_SIZE(links); i += 2) {
		links[i] = 4;
		links[i + 1] = 0xf0000000 + i / 2;
	}
	body.namespaces.pid = body.namespaces.tid = PID;
	body.namespaces.links = (struct record_words){ ARRAY_SIZE(links) / 2, links };
	golden_add(g, &body);
	golden_add_sample(g, app(SPIN), 2000);
	golden_fork(g, OTHER_PID, OTHER_PID, PID, PID); /* takes them over */
	body = golden_sample(app(LEAF));
	body.sample.pid = body.sample.tid = OTHER_PID;
	golden_add(g, &body);
}

/* Samples with a cgroup's number: named by CGROUP records, not named, none. */
static void cgroups(struct golden *g)
{
	static const char *const paths[] = { "/", "/system.slice/app.service", "/user.slice" };
	struct record_body body = { .type = RECORD_CGROUP };
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CGROUP);

	attr.cgroup = 1;
	golden_event(g, &attr, "cycles");
	golden_start_app(g);
	for (unsigned i = 0; i < ARRAY_SIZE(paths); i++) {
		body.id.time_ns = 0;
		body.cgroup.id = i + 1;
		body.cgroup.path = paths[i];
		golden_add(g, &body);
	}
	for (unsigned i = 0; i < 5; i++) {
		body = golden_sample(app(SPIN));
		body.sample.cgroup = i;
		body.sample.period = 1000U << i;
		golden_add(g, &body);
	}
}

/* Records of two CPUs: in the file one after the other, in time mixed. Maps come before samples by time. */
static void out_of_order(struct golden *g)
{
	struct record_body body;

	golden_one_event(g, 0);
	golden_start(g);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned cpu = 0; cpu < 2; cpu++)
			for (unsigned i = 0; i < 3; i++) {
				body = golden_sample(app((enum app_function)(2 * i + cpu)));
				body.sample.cpu = cpu;
				body.sample.time_ns = (uint64_t)(2000 + 100 * round + 10 * i + 5 * cpu) * MS;
				golden_add(g, &body);
			}
		if (!round) { /* of before all of it, and last in its round */
			golden_comm(g, PID, PID, true, "app");
			golden_map(g, PID, APP_BASE, MAP_BYTES, 0, APP_PATH);
		}
		golden_round(g);
	}
}

/* LOST and LOST_SAMPLES are summed up in the head; throttling is told. */
static void lost(struct golden *g)
{
	struct record_body body = { .type = RECORD_LOST };

	golden_one_event(g, 0);
	golden_start_app(g);
	golden_add_sample(g, app(SPIN), 1000);
	body.lost.id = 11;
	body.lost.lost = 5;
	golden_add(g, &body);
	body = (struct record_body){ .type = RECORD_LOST_SAMPLES };
	body.lost.lost = 3;
	golden_add(g, &body);
	body = (struct record_body){ .type = RECORD_THROTTLE };
	body.throttle.id = 11;
	golden_add(g, &body);
	golden_add_sample(g, app(SPIN), 1000);
}

static void sample_of(struct golden *g, uint32_t pid, uint32_t tid)
{
	struct record_body body = golden_sample(kernel(SCHEDULE));

	body.sample.pid = pid;
	body.sample.tid = tid;
	golden_add(g, &body);
}

/*
 * Thread 0: a CPU that idles, and, for a recorder in a PID namespace of its own, all threads outside of it,
 * which also exit. Nobody gives it a name.
 */
static void pid_zero(struct golden *g)
{
	golden_one_event(g, 0);
	golden_start_app(g);
	sample_of(g, 0, 0);
	golden_exit(g, 0, 0);
	sample_of(g, 0, 0);
	sample_of(g, 7, 0);
	sample_of(g, 0, 5);
	sample_of(g, 0, 0);
}

enum { WORKER = OTHER_PID, THIRD = OTHER_PID + 1 }; /* threads of PID */

static void switched(struct golden *g, int tid, bool in)
{
	struct record_body body = { .type = RECORD_SWITCH, .misc = in ? 0 : MISC_SWITCH_OUT };

	body.id.pid = PID;
	body.id.tid = (uint32_t)tid;
	golden_add(g, &body);
}

/* A sample of a thread in `function`, which main called. */
static void ran(struct golden *g, int tid, enum app_function function, uint64_t period)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_USER, app(function), app(MAIN) };
	struct record_body body = golden_sample(app(function));

	body.sample.tid = (uint32_t)tid;
	body.sample.ips = ips;
	body.sample.n_ips = ARRAY_SIZE(ips);
	body.sample.period = period;
	golden_add(g, &body);
}

/*
 * record --latency: spin alone, inner in two threads, one sample in three, one when more have left a CPU than came,
 * one when more have come than the four CPUs of the machine. In wall-clock time spin has 6,000, inner 4,000, middle
 * 1,000, outer and leaf 500 each; in CPU time they have 6,000, 8,000, 3,000, 500 and 2,000.
 */
static void threads_at_once(struct golden *g)
{
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CALLCHAIN);

	attr.context_switch = 1;
	golden_event(g, &attr, "cycles");
	g->info.cpus_available = g->info.cpus_online = 4;
	golden_start_app(g);
	for (int i = 0; i < 3; i++)
		ran(g, PID, SPIN, 2000);
	golden_fork(g, PID, WORKER, PID, PID);
	golden_comm(g, PID, WORKER, false, "worker");
	switched(g, WORKER, true);
	for (int i = 0; i < 2; i++) {
		ran(g, PID, INNER, 2000);
		ran(g, WORKER, INNER, 2000);
	}
	golden_fork(g, PID, THIRD, PID, PID);
	switched(g, THIRD, true);
	ran(g, THIRD, MIDDLE, 3000);
	golden_exit(g, PID, THIRD);
	switched(g, WORKER, false);
	for (int i = 0; i < 3; i++)
		switched(g, PID, false);
	ran(g, PID, OUTER, 500);
	for (int i = 0; i < 9; i++)
		switched(g, WORKER, true);
	ran(g, WORKER, LEAF, 2000);
}

const struct golden_recording golden_tasks[] = {
	{ "exec_comm.data", exec_comm, NULL },
	{ "tid_reuse.data", tid_reuse, NULL },
	{ "renamed.data", renamed, NULL },
	{ "overlapping_maps.data", overlapping_maps, NULL },
	{ "no_map.data", no_map, NULL },
	{ "jit_code.data", jit_code, NULL },
	{ "hostile_names.data", hostile_names, NULL },
	{ "long_names.data", long_names, NULL },
	{ "namespaces.data", namespaces, NULL },
	{ "cgroups.data", cgroups, NULL },
	{ "out_of_order.data", out_of_order, NULL },
	{ "lost.data", lost, NULL },
	{ "pid_zero.data", pid_zero, NULL },
	{ "threads_at_once.data", threads_at_once, NULL },
	{ NULL, NULL, NULL },
};
