/* SPDX-License-Identifier: MIT */
/*
 * The ladder: what pstat gives up, step by step, to count what this kernel, this PMU and this user
 * allow. A step is only taken if the number keeps its meaning or its name says what changed, and
 * every step that helped leaves a note.
 *
 * An event that only the kernel causes (a context switch, a tracepoint) is never reduced to user
 * mode: it would open and count 0, which is wrong.
 */
#include "kern/fallback.h"
#include "kern/slots.h"

#include <errno.h>

/* ---- user mode only ---- */

static bool kernel_refused(const struct attempt *a)
{
	return !a->attr.exclude_kernel && !a->attr.exclude_user && !a->event->user_excludes &&
	       a->pid >= 0 && !(a->flags & PERF_FLAG_PID_CGROUP) && !event_is_kernel_only(a->event);
}

static void drop_kernel(struct attempt *a)
{
	a->attr.exclude_kernel = 1;
	a->attr.exclude_hv = 1;
}

static void note_drop_kernel(const struct attempt *a, struct note_list *notes)
{
	note_add(notes, false,
		 privilege_remedy(machine_privilege(a->machine), machine_paranoid(a->machine), 1),
		 "events marked :u count user mode only: the kernel's side needs "
		 "perf_event_paranoid 1 or CAP_PERFMON");
}

/* ---- switches without their stacks ---- */

static bool switches_refused(const struct attempt *a)
{
	return a->event->off_cpu && !a->attr.exclude_kernel && a->pid >= 0;
}

static void note_drop_stacks(const struct attempt *a, struct note_list *notes)
{
	note_add(notes, false,
		 privilege_remedy(machine_privilege(a->machine), machine_paranoid(a->machine), 1),
		 "%s: waits have no stacks: these need perf_event_paranoid 1 or CAP_PERFMON",
		 a->event->name);
}

/* ---- precise levels: they are about samples, a count is the same without ---- */

static bool precise_set(const struct attempt *a)
{
	return a->attr.precise_ip > 0;
}

static void lower_precise(struct attempt *a)
{
	a->attr.precise_ip--;
}

static void note_precise(const struct attempt *a, struct note_list *notes)
{
	note_add(notes, a->event->precise_max, NULL,
		 "%s: counted at precise level %u: the unit has no higher one for counting",
		 a->event->name, (unsigned)a->attr.precise_ip);
}

/* ---- guest and host ---- */

static bool guest_by_default(const struct attempt *a)
{
	return (a->attr.exclude_guest || a->attr.exclude_host) && !a->event->user_guest;
}

static void take_guest(struct attempt *a)
{
	a->attr.exclude_guest = a->attr.exclude_host = 0;
}

/* AMD's precise events were once refused with exclude_guest alone: the level is then worth more. */
static bool guest_costs_precision(const struct attempt *a)
{
	struct perf_event_attr attr = a->attr;

	attr.exclude_guest = attr.exclude_host = 0;
	return a->event->precise_max && precise_set(a) && guest_by_default(a) &&
	       !open_once(a->machine->kern, &attr, a->pid, a->cpu, a->flags);
}

static void note_guest(const struct attempt *a, struct note_list *notes)
{
	note_add(notes, true, NULL, "%s: guests are counted too: the unit cannot exclude them",
		 a->event->name);
}

/* ---- user callchains that come later: without them they are in the samples ---- */

/*
 * The failed call was the question, and the next one is the answer: kernels that are as new as this are not asked
 * beforehand, and others once. Only where the next one fails too, there is something to find out.
 */
static bool defer_may_be_unknown(const struct attempt *a)
{
	return attr_defer(&a->attr) && a->machine->defer != DEFER_KNOWN;
}

static void drop_defer(struct attempt *a)
{
	a->deferred_bits = attr_defer(&a->attr);
	attr_set_defer(&a->attr, 0);
	a->machine->defer = DEFER_DOUBTED;
}

/* Records that nobody takes, for samples that wait for them, would be user callchains lost. */
static bool defer_was_not_it(const struct attempt *a)
{
	return a->deferred_bits && machine_defers(a->machine);
}

static void take_defer(struct attempt *a)
{
	attr_set_defer(&a->attr, a->deferred_bits);
	a->deferred_bits = 0;
}

/* ---- what this kernel is too old for ---- */

static bool too_young(const struct attempt *a)
{
	return attr_unknown(a->machine, &a->attr, false) != 0;
}

static void drop_young(struct attempt *a)
{
	a->dropped = attr_unknown(a->machine, &a->attr, false);
	attr_drop(&a->attr, a->dropped);
}

static void note_young(const struct attempt *a, struct note_list *notes)
{
	attr_note_dropped(a->dropped, notes);
}

/* ---- generic events of one core type: arm64 before Linux 6.6 does not know them ---- */

static bool core_type_unknown(const struct attempt *a)
{
	struct perf_event_attr own = a->attr;

	return event_own_code(a->event, &a->machine->kern->host, &own) &&
	       !open_once(a->machine->kern, &own, a->pid, a->cpu, a->flags);
}

static void take_own_code(struct attempt *a)
{
	event_own_code(a->event, &a->machine->kern->host, &a->attr);
}

static void note_own_code(const struct attempt *a, struct note_list *notes)
{
	note_add(notes, true, NULL,
		 "%s: opened as event 0x%llx of its unit: this kernel has no generic events of one core "
		 "type (arm64 before 6.6)", a->event->name, (unsigned long long)a->attr.config);
}

/* ---- groups ---- */

static bool weak_group_fails(const struct attempt *a)
{
	return a->is_member && a->weak &&
	       !open_once(a->machine->kern, &a->attr, a->pid, a->cpu, a->flags);
}

static void break_group(struct attempt *a)
{
	a->break_group = true;
}

static bool inherited_group_read(const struct attempt *a)
{
	return !a->is_member && a->attr.inherit && (a->attr.read_format & PERF_FORMAT_GROUP);
}

static void read_one_by_one(struct attempt *a)
{
	a->attr.read_format &= ~(uint64_t)(PERF_FORMAT_GROUP | PERF_FORMAT_ID);
}

static void note_read_one_by_one(const struct attempt *a, struct note_list *notes)
{
	note_add(
		notes, true, NULL,
		"%s: its group is read event by event: this kernel has no group reads for children",
		a->event->name);
}

/* ---- children ---- */

static bool inherits(const struct attempt *a)
{
	return !a->is_member && a->attr.inherit;
}

static void drop_inherit(struct attempt *a)
{
	a->attr.inherit = 0;
}

/* Nothing is lost where all tasks are measured: children are tasks like others. */
static void note_inherit(const struct attempt *a, struct note_list *notes)
{
	note_add(notes, a->pid < 0 || (a->flags & PERF_FLAG_PID_CGROUP), NULL,
		 "%s: child processes and new threads are not counted: the unit cannot follow them",
		 a->event->name);
}

/*
 * To add a step: a row where its loss fits (the least loss first), a condition under which it may
 * help, a note that says what the number no longer has; a case in tests/unit/test_fallback.c; a
 * line in pstat-stat(1). Rows stay applied while later ones are tried.
 */
static const struct ladder_step {
	const char *name;
	int errs[4]; /* errnos that the step may cure, 0 ends them */
	bool repeats; /* may be taken again: it lowers a number */
	bool (*applies)(const struct attempt *attempt);
	void (*apply)(struct attempt *attempt);
	/* NULL: nothing is lost, or the caller leaves it. */
	void (*note)(const struct attempt *attempt, struct note_list *notes);
} ladder[] = {
	{ "user mode only",
	  { EACCES, EPERM },
	  false,
	  kernel_refused,
	  drop_kernel,
	  note_drop_kernel },
	{ "switches without stacks", { EACCES, EPERM }, false, switches_refused, drop_kernel, note_drop_stacks },
	{ "deferred callchains", { EINVAL }, false, defer_may_be_unknown, drop_defer, NULL },
	{ "young bits", { EINVAL }, false, too_young, drop_young, note_young },
	{ "deferred callchains again", { EINVAL }, false, defer_was_not_it, take_defer, NULL },
	{ "the unit's own code", { ENOENT, EINVAL }, false, core_type_unknown, take_own_code, note_own_code },
	{ "weak group",
	  { EINVAL, ENOSPC, EOPNOTSUPP },
	  false,
	  weak_group_fails,
	  break_group,
	  NULL },
	{ "guest for precision",
	  { EINVAL, EOPNOTSUPP },
	  false,
	  guest_costs_precision,
	  take_guest,
	  note_guest },
	{ "precise level",
	  { EINVAL, EOPNOTSUPP, ENOENT },
	  true,
	  precise_set,
	  lower_precise,
	  note_precise },
	{ "guest", { EINVAL, EOPNOTSUPP }, false, guest_by_default, take_guest, note_guest },
	{ "single reads",
	  { EINVAL },
	  false,
	  inherited_group_read,
	  read_one_by_one,
	  note_read_one_by_one },
	{ "no inherit", { EINVAL, EOPNOTSUPP }, false, inherits, drop_inherit, note_inherit },
};

static bool cures(const struct ladder_step *step, int err)
{
	for (size_t i = 0; i < ARRAY_SIZE(step->errs) && step->errs[i]; i++) {
		if (step->errs[i] == err)
			return true;
	}
	return false;
}

bool fallback_next(struct attempt *attempt, int err)
{
	for (size_t i = 0; i < ARRAY_SIZE(ladder); i++) {
		const struct ladder_step *step = &ladder[i];

		if (!cures(step, err) || (!step->repeats && attempt->applied >> i & 1) ||
		    !step->applies(attempt))
			continue;
		step->apply(attempt);
		attempt->applied |= 1u << i;
		return true;
	}
	return false;
}

void fallback_notes(const struct attempt *attempt, struct note_list *notes)
{
	for (size_t i = 0; i < ARRAY_SIZE(ladder); i++) {
		if ((attempt->applied >> i & 1) && ladder[i].note)
			ladder[i].note(attempt, notes);
	}
}

char *fallback_name(const struct attempt *attempt)
{
	static const char letters[] = "ukhGHpPISDWeb";
	const char *name = attempt->event->name, *tail;

	if (!attempt->attr.exclude_kernel || attempt->event->attr.exclude_kernel || attempt->event->off_cpu)
		return xstrdup(name);
	/* "cycles:D" takes the u among its modifiers, so does "cpu/cycles/". */
	tail = strpbrk(name, ":/");
	while (tail && strpbrk(tail + 1, ":/"))
		tail = strpbrk(tail + 1, ":/");
	if (tail && strspn(tail + 1, letters) == strlen(tail + 1) && (tail[1] || *tail == '/'))
		return xasprintf("%su", name);
	return xasprintf("%s:u", name);
}
