/*
 * machine: what reasons, fallbacks and the doctor ask about the machine, each answer read when it
 * is first asked for and kept, so that ten refused events cost one look. Private to kern/.
 */
#ifndef PSTAT_MACHINE_H
#define PSTAT_MACHINE_H

#include "kern/kern.h"
#include "kern/privilege.h"

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

/* Opens and closes attr, disabled: 0 or the negative errno. */
int open_once(const struct kern *kern, const struct perf_event_attr *attr, pid_t pid, int cpu,
	      unsigned long flags);

/* True for event types that a core PMU counts by generic names: hardware, cache, raw. */
bool is_generic_type(uint32_t type);

/* Events that take a counter of a PMU each: neither software nor tracepoints nor breakpoints. */
bool event_needs_counter(const struct event *event);

#endif
