/* SPDX-License-Identifier: MIT */
/*
 * machine: what reasons, fallbacks and the doctor ask about the machine and the rights on it, each answer read when it
 * is first asked for and kept, so that ten refused events cost one look. Private to kern/.
 *
 * Sources: capabilities(7), proc(5), Documentation/admin-guide/perf-security.rst.
 */
#ifndef PSTAT_MACHINE_H
#define PSTAT_MACHINE_H

#include "kern/kern.h"

#include <linux/capability.h>

/* ---- privilege.c: what this process may do ---- */

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8; older headers lack these two */
#define CAP_BPF 39
#endif

enum { SECCOMP_FILTER = 2 };

/* From /proc/self/status; all zero where it cannot be read. */
struct privilege {
	uint64_t effective; /* capability bits, 1 << CAP_x */
	unsigned uid; /* effective user id */
	bool is_root; /* it is known, and 0 */
	int seccomp; /* 0 off, 1 strict, SECCOMP_FILTER */
};
void privilege_read(struct privilege *privilege, const struct host_paths *host);
bool privilege_has(const struct privilege *privilege, int capability);
/* True for root without the capabilities of root, as in a container: "become root" is then no advice. */
bool privilege_is_bare_root(const struct privilege *privilege);

/* A number below procfs/sys/kernel; false if it is not there. */
bool kernel_setting(const struct host_paths *host, const char *name, uint64_t *value);
/* The user id that owns a task, or -1 where it cannot be known. */
long task_owner(const struct host_paths *host, pid_t tid);

/*
 * The command that lets this user do what paranoid level `level` allows: the sysctl where lowering
 * it would help, else the way to CAP_PERFMON. A root without capabilities may not write the sysctl in its
 * container, and gets no capability from a file. Static text.
 */
const char *privilege_remedy(const struct privilege *privilege, int paranoid, int level);

/* ---- machine.c ---- */

/* Does this kernel know the bits of attr_defer.c? */
enum defer_support {
	DEFER_UNASKED,
	DEFER_DOUBTED, /* an event with them was refused; unless that was for another reason, it does not */
	DEFER_UNKNOWN,
	DEFER_KNOWN,
};

/* breakpoint_trial.c: what came of a trial. */
enum breakpoint_verdict {
	BREAKPOINT_UNTRIED,
	BREAKPOINT_SILENT, /* it opened, was hit, and counted nothing */
	BREAKPOINT_NOT_SILENT, /* it counted, or the trial could not be made */
};
enum { BREAKPOINT_TYPES = 5, BREAKPOINT_LENGTHS = 9 }; /* beyond HW_BREAKPOINT_X and HW_BREAKPOINT_LEN_8 */

struct machine {
	const struct kern *kern;
	enum defer_support defer; /* what was opened and refused so far says; see machine_defers() */
	unsigned young_asked, young_unknown; /* a bit for each row of attr_since.c */
	bool has_pmus, has_core_pmus, has_virtual, has_privilege, has_paranoid; /* already asked */
	struct event_pmu_list pmus, core_pmus;
	bool is_virtual;
	struct privilege privilege;
	int paranoid;
	enum breakpoint_verdict breakpoints[BREAKPOINT_TYPES][BREAKPOINT_LENGTHS]; /* by HW_BREAKPOINT_ bits, bytes */
};
void machine_init(struct machine *machine, const struct kern *kern);
void machine_release(struct machine *machine);

const struct event_pmu_list *machine_pmus(struct machine *machine);
/* The core PMU that an event of a generic type (hardware, cache, raw) opens on; NULL: none. */
const struct event_pmu *machine_core_pmu(struct machine *machine);
/* The PMU that is named, as sysfs has it; "": the first core PMU. NULL if it is not there. */
const struct event_pmu *machine_pmu(struct machine *machine, const char *name);
/*
 * How many counters n events find on the PMU of this one: event_counters() of kern.h, for those who have a
 * machine at hand. The only place that knows which PMU's counters an event takes. (counter_capacity.c)
 */
int machine_counters(struct machine *machine, const struct event *event, size_t n);
/* True where the machine says that it is virtual; a hypervisor may hide that. */
bool machine_is_virtual(struct machine *machine);
const struct privilege *machine_privilege(struct machine *machine);
int machine_paranoid(struct machine *machine);
/* Asks the kernel itself, where what was opened so far leaves a doubt. */
bool machine_defers(struct machine *machine);
/*
 * True where a breakpoint of this access and length (perf_event_attr's bp_type and bp_len) opens and never fires.
 * Tried once for each kind, on pstat itself. (breakpoint_trial.c)
 */
bool machine_breakpoint_is_silent(struct machine *machine, uint32_t type, uint64_t length);
/* The event would open here and stay 0 whatever happens. */
bool event_is_silent(struct machine *machine, const struct event *event);

/* Fields of an attr that counts nothing, which everybody may open: to find out what else an attr may have. */
#define ATTR_OF_NOTHING .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1, .exclude_hv = 1
/* Opens and closes attr, disabled: 0 or the negative errno. */
int open_once(const struct kern *kern, const struct perf_event_attr *attr, pid_t pid, int cpu,
	      unsigned long flags);

/* ---- attr_since.c ---- */

/*
 * The bits of attr that this kernel is too old to know, as rows of the table there. needed: of those without which the
 * event is not what was asked for; else of those that can be left out.
 */
unsigned attr_unknown(struct machine *machine, const struct perf_event_attr *attr, bool needed);
void attr_drop(struct perf_event_attr *attr, unsigned unknown);
void attr_note_dropped(unsigned dropped, struct note_list *notes);
/* A reason, of the first of them. Heap. */
char *attr_why_unknown(unsigned unknown);

/* True for event types that a core PMU counts by generic names: hardware, cache, raw. */
bool is_generic_type(uint32_t type);

/* Events that take a counter of a PMU each: neither software nor tracepoints nor breakpoints. */
bool event_needs_counter(const struct event *event);

#endif
