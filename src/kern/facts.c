/* SPDX-License-Identifier: MIT */
/*
 * Facts of what this machine and this user can measure, as `pstat doctor` prints them. Every fact is read or
 * tried here and now; a limited or missing one carries the one command that mends it, if there is
 * one.
 *
 * Sources: perf_event_open(2), proc(5), Documentation/admin-guide/sysctl/kernel.rst,
 * Documentation/admin-guide/perf-security.rst.
 */
#include "kern/slots.h"
#include "kern/machine.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* State that the rows share while they are collected. */
struct fact_collector {
	struct fact_list *facts;
	const struct kern *kern;
	struct machine machine;
	const char *name; /* of the row at work */
	int own_rc; /* what the least event of all gets: own task, user mode, software */
};

static void PRINTF_LIKE(4, 5) add(struct fact_collector *c, enum fact_state state, const char *remedy,
				  const char *fmt, ...)
{
	struct str value = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&value, fmt, ap);
	va_end(ap);
	VEC_GROW(c->facts->v, c->facts->n, c->facts->cap);
	c->facts->v[c->facts->n++] = (struct fact){
		.name = c->name,
		.value = str_detach(&value),
		.state = state,
		.remedy = state != FACT_GOOD && remedy ? xstrdup(remedy) : NULL,
	};
}

static bool may_all(struct fact_collector *c)
{
	const struct privilege *p = machine_privilege(&c->machine);

	return privilege_has(p, CAP_PERFMON) || privilege_has(p, CAP_SYS_ADMIN);
}

static bool exists(const char *root, const char *below, int mode)
{
	char *path = xasprintf("%s/%s", root, below);
	bool there = !access(path, mode);

	free(path);
	return there;
}

/* ---- the machine ---- */

static void kernel(struct fact_collector *c)
{
	struct utsname name;

	if (!uname(&name))
		add(c, FACT_GOOD, NULL, "%s %s", name.release, name.machine);
}

static void virtual_machine(struct fact_collector *c)
{
	add(c, FACT_GOOD, NULL, "%s", machine_is_virtual(&c->machine) ? "yes" : "not seen");
}

/* ---- the user ---- */

static const struct {
	int number;
	const char *name;
} capability_names[] = {
	{ CAP_PERFMON, "CAP_PERFMON" }, { CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" }, { CAP_BPF, "CAP_BPF" }, { CAP_SYSLOG, "CAP_SYSLOG" },
};

static void user(struct fact_collector *c)
{
	const struct privilege *p = machine_privilege(&c->machine);
	struct str text = STR_INIT;

	if (!exists(c->kern->host.procfs, "self/status", R_OK)) {
		add(c, FACT_LIMITED, NULL, "not known: %s/self/status cannot be read", c->kern->host.procfs);
		return;
	}
	str_addf(&text, "uid %u", p->uid);
	for (size_t i = 0; i < ARRAY_SIZE(capability_names); i++) {
		if (privilege_has(p, capability_names[i].number))
			str_addf(&text, ", %s", capability_names[i].name);
	}
	add(c, may_all(c) ? FACT_GOOD : FACT_LIMITED,
	    privilege_remedy(p, 0, 0), "%s", text.s);
	str_release(&text);
}

/* Levels above 2 are an addition of some distributions; other kernels take them for 2. */
enum { HIGHEST_LEVEL = 2 };

/* Rights that each level leaves to users without CAP_PERFMON; from the lowest level on. */
static const struct {
	int level; /* this one and lower ones that no earlier row took */
	enum fact_state state;
	const char *allows;
} paranoid_levels[] = {
	{ -1, FACT_GOOD, "everything" },
	{ 0, FACT_GOOD, "everything but raw tracepoint data" },
	{ 1, FACT_LIMITED, "own tasks, user and kernel mode" },
	{ HIGHEST_LEVEL, FACT_LIMITED, "own tasks, user mode only" },
};

static void paranoid(struct fact_collector *c)
{
	const char *remedy = "sudo sysctl kernel.perf_event_paranoid=0", *allows = "nothing";
	enum fact_state state = FACT_MISSING;
	int level = machine_paranoid(&c->machine);

	if (!exists(c->kern->host.procfs, "sys/kernel/perf_event_paranoid", R_OK)) {
		add(c, FACT_LIMITED, NULL, "not known: %s/sys/kernel/perf_event_paranoid cannot be read",
		    c->kern->host.procfs);
		return;
	}
	if (may_all(c)) {
		add(c, FACT_GOOD, NULL, "%d, which does not limit this user", level);
		return;
	}
	if (level > HIGHEST_LEVEL && !c->own_rc) {
		add(c, FACT_LIMITED, remedy, "%d, which this kernel takes for %d: own tasks, user mode only",
		    level, HIGHEST_LEVEL);
		return;
	}
	for (size_t i = ARRAY_SIZE(paranoid_levels); i-- && level <= paranoid_levels[i].level;) {
		state = paranoid_levels[i].state;
		allows = paranoid_levels[i].allows;
	}
	add(c, state, remedy, "%d, which allows %s", level, allows);
}

static int open_own(const struct kern *kern)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return open_once(kern, &attr, 0, -1, 0);
}

static void system_call(struct fact_collector *c)
{
	bool filter = machine_privilege(&c->machine)->seccomp == SECCOMP_FILTER;
	int rc = c->own_rc;

	if (!rc)
		add(c, FACT_GOOD, NULL, "works%s", filter ? ", under a seccomp filter" : "");
	else if (filter && (rc == -EPERM || rc == -ENOSYS))
		add(c, FACT_MISSING, "start the container with --cap-add PERFMON",
		    "refused, probably by the seccomp filter: %s", strerror(-rc));
	else if (rc == -ENOSYS)
		add(c, FACT_MISSING, NULL, "this kernel is built without perf events");
	else
		add(c, FACT_MISSING, "sudo sysctl kernel.perf_event_paranoid=0", "refused: %s",
		    strerror(-rc));
}

/* ---- counters ---- */

static void core_pmus(struct fact_collector *c)
{
	const struct event_pmu_list *pmus = machine_pmus(&c->machine);
	struct str name = STR_INIT;
	size_t n = 0;

	for (size_t i = 0; i < pmus->n; i++) {
		struct pmu_counters counters;
		int rc;

		if (!pmus->v[i].is_core)
			continue;
		n++;
		str_reset(&name);
		str_add_printable(&name, pmus->v[i].name, strlen(pmus->v[i].name));
		str_add(&name, ", ");
		rc = pmu_counters_find(&pmus->v[i], c->kern, &counters);
		if (!rc && counters.general) {
			pmu_counters_format(&counters, counters.own ? "counters free" :
					    "counters free for general events", &name);
			add(c, FACT_GOOD, NULL, "%s", name.s);
		} else {
			add(c, c->own_rc ? FACT_MISSING : FACT_LIMITED, NULL, "%s%s", name.s,
			    rc ? strerror(-rc) : "all counters are in use");
		}
	}
	if (!n)
		add(c, FACT_MISSING, NULL, "none%s",
		    machine_is_virtual(&c->machine) ? ": the virtual machine has no counters" : "");
	str_release(&name);
}

static void other_pmus(struct fact_collector *c)
{
	const struct event_pmu_list *pmus = machine_pmus(&c->machine);
	struct str names = STR_INIT;

	for (size_t i = 0; i < pmus->n; i++) {
		if (pmus->v[i].is_core)
			continue;
		str_add(&names, names.len ? ", " : "");
		str_add_printable(&names, pmus->v[i].name, strlen(pmus->v[i].name));
	}
	if (names.len && c->own_rc)
		add(c, FACT_MISSING, NULL, "%s: none of them opens", names.s);
	else
		add(c, names.len ? FACT_GOOD : FACT_LIMITED, NULL, "%s", names.len ? names.s : "none");
	str_release(&names);
}

static void breakpoints(struct fact_collector *c)
{
	char name[] = "breakpoint";
	const struct event_pmu pmu = { .name = name, .type = PERF_TYPE_BREAKPOINT };
	int n = pmu_free_counters(&pmu, c->kern);
	bool no_data = machine_breakpoint_is_silent(&c->machine, HW_BREAKPOINT_W, HW_BREAKPOINT_LEN_4);
	bool no_code = machine_breakpoint_is_silent(&c->machine, HW_BREAKPOINT_X, sizeof(long));

	if (n <= 0)
		add(c, FACT_MISSING, NULL, "none: %s", n ? strerror(-n) : "all are in use");
	else if (no_data && no_code)
		add(c, FACT_MISSING, NULL, "none that counts: %d can be set, and none ever fires", n);
	else if (no_data)
		add(c, FACT_LIMITED, NULL, "for execution only: those for data can be set, and never fire");
	else if (no_code)
		add(c, FACT_LIMITED, NULL, "%d free for data; those for execution can be set, and never fire", n);
	else
		add(c, FACT_GOOD, NULL, "%d free for data", n);
}

static void watchdog(struct fact_collector *c)
{
	uint64_t on = 0;

	if (!kernel_setting(&c->kern->host, "nmi_watchdog", &on) || !on)
		add(c, FACT_GOOD, NULL, "off");
	else
		add(c, FACT_LIMITED, "sudo sysctl kernel.nmi_watchdog=0",
		    "on: it holds one counter");
}

/* ---- tracing ---- */

/* Tracepoints are the kernel's own, and few may read what is in their samples. */
static void readable_tracepoints(struct fact_collector *c, const char *root, const char *below)
{
	int level = machine_paranoid(&c->machine);

	if (may_all(c) || level < 0)
		add(c, FACT_GOOD, NULL, "%s%s", root, below);
	else if (level < HIGHEST_LEVEL)
		add(c, FACT_LIMITED, "sudo sysctl kernel.perf_event_paranoid=-1",
		    "%s%s; they can be counted, their data needs perf_event_paranoid -1", root, below);
	else
		add(c, FACT_MISSING, "sudo sysctl kernel.perf_event_paranoid=1",
		    "%s%s, but they happen in the kernel: needs perf_event_paranoid 1", root, below);
}

static void tracepoints(struct fact_collector *c)
{
	const struct host_paths *host = &c->kern->host;

	if (exists(host->tracefs, "events", R_OK | X_OK))
		readable_tracepoints(c, host->tracefs, "");
	else if (exists(host->sysfs, "kernel/debug/tracing/events", R_OK | X_OK))
		readable_tracepoints(c, host->sysfs, "/kernel/debug/tracing");
	else if (!exists(host->tracefs, "", F_OK) && errno == ENOENT)
		add(c, FACT_MISSING, NULL, "this kernel has no tracefs");
	else if (exists(host->tracefs, "", X_OK))
		add(c, FACT_MISSING, "sudo mount -t tracefs nodev /sys/kernel/tracing",
		    "tracefs is not mounted");
	else
		add(c, FACT_MISSING, "sudo mount -o remount,mode=755 /sys/kernel/tracing",
		    "%s may not be read by this user", host->tracefs);
}

static void probes(struct fact_collector *c, const char *pmu)
{
	char *path = xasprintf("%s/bus/event_source/devices/%s", c->kern->host.sysfs, pmu);
	bool there = !access(path, F_OK);

	free(path);
	if (!there)
		add(c, FACT_MISSING, NULL, "this kernel has none");
	else if (!privilege_has(machine_privilege(&c->machine), CAP_SYS_ADMIN))
		add(c, FACT_LIMITED,
		    privilege_is_bare_root(machine_privilege(&c->machine)) ?
			    "start the container with --cap-add SYS_ADMIN" :
			    "sudo pstat ...",
		    "with CAP_SYS_ADMIN only");
	else
		add(c, FACT_GOOD, NULL, "yes");
}

static void kprobes(struct fact_collector *c)
{
	probes(c, "kprobe");
}

static void uprobes(struct fact_collector *c)
{
	probes(c, "uprobe");
}

static void bpf(struct fact_collector *c)
{
	const struct privilege *p = machine_privilege(&c->machine);
	bool btf = exists(c->kern->host.sysfs, "kernel/btf/vmlinux", R_OK);
	bool may = privilege_has(p, CAP_BPF) || privilege_has(p, CAP_SYS_ADMIN);
	uint64_t disabled;

	if (!kernel_setting(&c->kern->host, "unprivileged_bpf_disabled", &disabled)) {
		add(c, FACT_MISSING, NULL, "this kernel has none");
		return;
	}
	add(c, !may ? FACT_LIMITED : btf ? FACT_GOOD : FACT_LIMITED,
	    may ? NULL : "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v pstat)\"", "%s, %s",
	    may ? "allowed" : disabled ? "root only" : "socket filters only",
	    btf ? "with BTF" : "without BTF");
}

static void cgroups(struct fact_collector *c)
{
	struct str err = STR_INIT;
	int fd = cgroup_open("", &c->kern->host, &err);

	if (fd >= 0)
		close(fd);
	add(c, fd >= 0 ? FACT_GOOD : FACT_MISSING, "sudo mount -t cgroup2 none /sys/fs/cgroup",
	    "%s", fd >= 0 ? "mounted" : "neither cgroup v2 nor a perf_event hierarchy is mounted");
	str_release(&err);
}

/* ---- limits ---- */

static void limit_text(struct str *text, rlim_t limit, unsigned divisor)
{
	if (limit == RLIM_INFINITY)
		str_add(text, "unlimited");
	else
		str_addf(text, "%llu", (unsigned long long)limit / divisor);
}

static void locked_memory(struct fact_collector *c)
{
	struct rlimit limit = { 0 };
	struct str text = STR_INIT;
	uint64_t ring_kib = 0;

	if (c->kern->sys->rlimit(RLIMIT_MEMLOCK, NULL, &limit) < 0 ||
	    !kernel_setting(&c->kern->host, "perf_event_mlock_kb", &ring_kib)) {
		add(c, FACT_LIMITED, NULL, "not known");
		return;
	}
	limit_text(&text, limit.rlim_cur, 1024);
	add(c, FACT_GOOD, NULL, "%llu KiB per user and CPU, then RLIMIT_MEMLOCK: %s%s",
	    (unsigned long long)ring_kib, text.s, limit.rlim_cur == RLIM_INFINITY ? "" : " KiB");
	str_release(&text);
}

/* The hard limit counts: pstat raises the soft one itself. */
static void open_files(struct fact_collector *c)
{
	enum { EVENTS_WANTED = 100 };
	struct rlimit limit = { 0 };
	struct intset cpus = INTSET_INIT;
	struct str soft = STR_INIT, hard = STR_INIT;
	size_t n;

	cpus_online(&c->kern->host, &cpus);
	n = cpus.n ? cpus.n : 1;
	if (c->kern->sys->rlimit(RLIMIT_NOFILE, NULL, &limit) >= 0) {
		limit_text(&soft, limit.rlim_cur, 1);
		limit_text(&hard, limit.rlim_max, 1);
		add(c, limit.rlim_max / n >= EVENTS_WANTED ? FACT_GOOD : FACT_LIMITED,
		    "sudo prlimit --pid $$ --nofile=1048576",
		    "soft %s, hard %s: %llu events on all %zu CPUs", soft.s, hard.s,
		    (unsigned long long)limit.rlim_max / n, n);
	}
	intset_release(&cpus);
	str_release(&soft);
	str_release(&hard);
}

static void sample_rate(struct fact_collector *c)
{
	enum { DEFAULT_HZ = 100000 };
	uint64_t hz;

	if (!kernel_setting(&c->kern->host, "perf_event_max_sample_rate", &hz))
		add(c, FACT_LIMITED, NULL, "not known");
	else
		add(c, hz >= DEFAULT_HZ ? FACT_GOOD : FACT_LIMITED,
		    "sudo sysctl kernel.perf_event_max_sample_rate=100000",
		    "%llu samples per second", (unsigned long long)hz);
}

static void sample_time(struct fact_collector *c)
{
	uint64_t pct;

	if (!kernel_setting(&c->kern->host, "perf_cpu_time_max_percent", &pct))
		add(c, FACT_LIMITED, NULL, "not known");
	else
		add(c, FACT_GOOD, NULL, pct && pct < 100 ? "%llu %% of a CPU" : "no limit (%llu)",
		    (unsigned long long)pct);
}

static void kernel_symbols(struct fact_collector *c)
{
	struct kernel_symbols symbols;

	kernel_symbols_look(&symbols, &c->kern->host);
	if (!symbols.there)
		add(c, FACT_MISSING, NULL, "%s/kallsyms cannot be read", c->kern->host.procfs);
	else if (!symbols.hidden)
		add(c, FACT_GOOD, NULL, "readable");
	else
		add(c, FACT_MISSING, symbols.remedy, "addresses are hidden (kptr_restrict %llu)",
		    (unsigned long long)symbols.kptr_restrict);
}

/*
 * To add a fact: a row where its topic is, a function that adds at least one line by trying, a case
 * in tests/unit/test_facts.c, a line in pstat-doctor(1).
 */
static const struct doctor_row {
	const char *name;
	void (*collect)(struct fact_collector *c);
} doctor_rows[] = {
	{ "kernel", kernel },
	{ "virtual machine", virtual_machine },
	{ "user", user },
	{ "paranoid level", paranoid },
	{ "perf_event_open", system_call },
	{ "core counter unit", core_pmus },
	{ "other counter units", other_pmus },
	{ "NMI watchdog", watchdog },
	{ "hardware breakpoints", breakpoints },
	{ "tracepoints", tracepoints },
	{ "kprobes", kprobes },
	{ "uprobes", uprobes },
	{ "BPF", bpf },
	{ "cgroups", cgroups },
	{ "locked memory", locked_memory },
	{ "open files", open_files },
	{ "sample rate limit", sample_rate },
	{ "sampling time limit", sample_time },
	{ "kernel symbols", kernel_symbols },
};

void facts_collect(struct fact_list *facts, const struct kern *kern)
{
	struct fact_collector c = { .facts = facts, .kern = kern };

	machine_init(&c.machine, kern);
	c.own_rc = open_own(kern);
	for (size_t i = 0; i < ARRAY_SIZE(doctor_rows); i++) {
		c.name = doctor_rows[i].name;
		doctor_rows[i].collect(&c);
	}
	machine_release(&c.machine);
}

void fact_list_release(struct fact_list *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		free(facts->v[i].value);
		free(facts->v[i].remedy);
	}
	free(facts->v);
	*facts = (struct fact_list){ 0 };
}
