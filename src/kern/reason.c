/* SPDX-License-Identifier: MIT */
/*
 * errno -> words, the only place that knows them. One errno of perf_event_open(2) has many causes;
 * each row asks the machine whether its cause holds, if need be by opening a variant of the event.
 *
 * The order of the rows is the order of the questions: the first that holds is the answer, and the
 * last row of an errno has no condition.
 */
#include "kern/reason.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>

static int open_variant(const struct failure *f, const struct perf_event_attr *attr)
{
	return open_once(f->machine->kern, attr, f->pid, f->cpu, f->flags);
}

static bool is_probe(const struct event *event)
{
	return !strcmp(event->pmu_name, "kprobe") || !strcmp(event->pmu_name, "uprobe");
}

/* ---- conditions ---- */

static bool generic_in_virtual(const struct failure *f)
{
	return is_generic_type(f->attr->type) && !machine_core_pmu(f->machine) &&
	       machine_is_virtual(f->machine);
}

static bool generic_without_pmu(const struct failure *f)
{
	return is_generic_type(f->attr->type) && !machine_core_pmu(f->machine);
}

static bool on_core_pmu(const struct failure *f)
{
	return event_needs_counter(f->event);
}

static bool counts_nowhere(const struct failure *f)
{
	return event_nowhere(f->event);
}

/* A name of libpfm4 for a PMU of other machines (event.h, EVENT_TYPE_ABSENT). */
static bool pmu_is_absent(const struct failure *f)
{
	return f->attr->type == EVENT_TYPE_ABSENT;
}

static bool on_named_pmu(const struct failure *f)
{
	return f->event->pmu_name[0] != '\0';
}

static bool refuses_exclude_idle(const struct failure *f)
{
	struct perf_event_attr attr = *f->attr;

	attr.exclude_idle = 0;
	return f->attr->exclude_idle && !open_variant(f, &attr);
}

static bool refuses_excludes(const struct failure *f)
{
	struct perf_event_attr attr = *f->attr;

	attr.exclude_user = attr.exclude_kernel = attr.exclude_hv = 0;
	attr.exclude_guest = attr.exclude_host = 0;
	return memcmp(&attr, f->attr, sizeof(attr)) && !open_variant(f, &attr);
}

/* The kernel's side was given up for want of rights, and the PMU does not count the rest alone. */
static bool refuses_user_side_alone(const struct failure *f)
{
	struct perf_event_attr attr = *f->attr;
	int rc;

	if (f->event->user_excludes || !attr.exclude_kernel)
		return false;
	attr.exclude_user = attr.exclude_kernel = attr.exclude_hv = 0;
	rc = open_variant(f, &attr);
	return rc == -EACCES || rc == -EPERM;
}

static bool kernel_is_too_old(const struct failure *f)
{
	return attr_unknown(f->machine, f->attr, true) != 0;
}

/* Precise levels are lowered before an event is given up, so they are in no variant. */
static bool wants_branches(const struct failure *f)
{
	return f->attr->sample_type & PERF_SAMPLE_BRANCH_STACK;
}

static bool branches_without_pmu(const struct failure *f)
{
	return wants_branches(f) && !machine_core_pmu(f->machine);
}

static bool refuses_branches(const struct failure *f)
{
	struct perf_event_attr attr = *f->attr;

	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = 0;
	attr.precise_ip = 0;
	return wants_branches(f) && !open_variant(f, &attr);
}

static bool refuses_branch_filter(const struct failure *f)
{
	struct perf_event_attr attr = *f->attr;

	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
				  (attr.branch_sample_type & PERF_SAMPLE_BRANCH_PLM_ALL);
	attr.precise_ip = 0;
	return wants_branches(f) && attr.branch_sample_type != f->attr->branch_sample_type &&
	       !open_variant(f, &attr);
}

static bool refuses_tasks(const struct failure *f)
{
	struct perf_event_attr attr = *f->attr;

	attr.inherit = 0;
	return f->pid >= 0 && f->attr->type >= PERF_TYPE_MAX && !f->event->pmu_is_core &&
	       !open_once(f->machine->kern, &attr, -1, 0, 0);
}

static bool only_in_group(const struct failure *f)
{
	return f->only_in_group;
}

static bool task_forks(const struct failure *f)
{
	return f->task_forks;
}

static bool is_breakpoint(const struct failure *f)
{
	return f->attr->type == PERF_TYPE_BREAKPOINT;
}

static bool never_fires(const struct failure *f)
{
	return event_is_silent(f->machine, f->event);
}

static bool on_one_cpu(const struct failure *f)
{
	return f->cpu >= 0;
}

/* A filter refuses every call alike, also one that the kernel would always allow. */
static bool seccomp_refuses(const struct failure *f)
{
	const struct perf_event_attr harmless = { ATTR_OF_NOTHING };

	return machine_privilege(f->machine)->seccomp == SECCOMP_FILTER &&
	       open_once(f->machine->kern, &harmless, 0, -1, 0) == -f->err;
}

static bool task_of_other_user(const struct failure *f)
{
	long owner;

	if (f->pid <= 0 || (f->flags & PERF_FLAG_PID_CGROUP))
		return false;
	owner = task_owner(&f->machine->kern->host, f->pid);
	return owner >= 0 && (unsigned long)owner != machine_privilege(f->machine)->uid;
}

static bool probe_refused(const struct failure *f)
{
	return is_probe(f->event);
}

static bool is_bare_root(const struct failure *f)
{
	return privilege_is_bare_root(machine_privilege(f->machine));
}

static bool probe_refused_to_root(const struct failure *f)
{
	return probe_refused(f) && machine_privilege(f->machine)->is_root;
}

static bool whole_cpus_refused(const struct failure *f)
{
	return (f->pid < 0 || (f->flags & PERF_FLAG_PID_CGROUP)) &&
	       machine_paranoid(f->machine) > 0;
}

static bool kernel_only_refused(const struct failure *f)
{
	return event_is_kernel_only(f->event) && machine_paranoid(f->machine) > 1;
}

static bool kernel_side_refused(const struct failure *f)
{
	return !f->attr->exclude_kernel && machine_paranoid(f->machine) > 1;
}

static bool all_refused(const struct failure *f)
{
	return machine_paranoid(f->machine) > 2;
}

/* ---- texts that need a number or a name ---- */

static char *group_too_big(const struct failure *f)
{
	int counters = on_core_pmu(f) ? machine_counters(f->machine, f->event, f->group_events) : 0;

	if (counters > 0 && f->group_events > (size_t)counters)
		return xasprintf("%zu events for %d counters in its group", f->group_events,
				 counters);
	return xstrdup("does not fit into its group");
}

static char *why_nowhere(const struct failure *f)
{
	return xstrdup(event_nowhere(f->event));
}

static char *pmu_lacks_event(const struct failure *f)
{
	struct str text = STR_INIT;

	str_add(&text, "unit ");
	str_add_printable(&text, f->event->pmu_name, strlen(f->event->pmu_name));
	str_add(&text, " does not have the event");
	return str_detach(&text);
}

static char *machine_lacks_pmu(const struct failure *f)
{
	struct str text = STR_INIT;

	str_add(&text, "this machine has no unit ");
	str_add_printable(&text, f->event->pmu_name, strlen(f->event->pmu_name));
	return str_detach(&text);
}

static char *why_too_old(const struct failure *f)
{
	return attr_why_unknown(attr_unknown(f->machine, f->attr, true));
}

static char *no_branches_here(const struct failure *f)
{
	return xasprintf("branch records are made by a CPU's counter unit, and this %s has none",
			 machine_is_virtual(f->machine) ? "virtual machine" : "machine");
}

static char *no_branches_of_event(const struct failure *f)
{
	return xstrdup(event_needs_counter(f->event) ?
			       "this CPU's counter unit does not record branches" :
			       "only events of the CPU's counter unit have branch records");
}

static char *why_silent(const struct failure *f)
{
	return xasprintf("breakpoints for %s never fire on this %smachine",
			 f->attr->bp_type == HW_BREAKPOINT_X ? "execution" : "data",
			 machine_is_virtual(f->machine) ? "virtual " : "");
}

static char *kernel_words(const struct failure *f)
{
	return xasprintf("the kernel refuses it: %s", strerror(f->err));
}

/* ---- remedies ---- */

static char *remedy_level(const struct failure *f)
{
	int level = whole_cpus_refused(f) ? 0 : kernel_side_refused(f) ? 1 : 2;

	return xstrdup(privilege_remedy(machine_privilege(f->machine), machine_paranoid(f->machine),
					level));
}

static char *remedy_kernel_side(const struct failure *f)
{
	return xstrdup(privilege_remedy(machine_privilege(f->machine), machine_paranoid(f->machine),
					1));
}

static char *remedy_branches(const struct failure *f)
{
	if (f->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return xstrdup("callchains without them: --call-graph fp or --call-graph dwarf");
	return xstrdup("leave out -b and -j; -g finds callers without branch records");
}

static char *remedy_branch_filter(const struct failure *f)
{
	if (f->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return remedy_branches(f);
	return xstrdup("-b, or -j with fewer words");
}

static char *remedy_container(const struct failure *f)
{
	(void)f;
	return xstrdup("start the container with --cap-add PERFMON");
}

static char *remedy_capability(const struct failure *f)
{
	if (is_bare_root(f))
		return remedy_container(f);
	return xstrdup("sudo setcap cap_perfmon+ep \"$(command -v pstat)\"");
}

static char *remedy_root(const struct failure *f)
{
	(void)f;
	return xstrdup("sudo pstat ...");
}

static char *remedy_admin(const struct failure *f)
{
	(void)f;
	return xstrdup("start the container with --cap-add SYS_ADMIN");
}

static char *remedy_split_group(const struct failure *f)
{
	(void)f;
	return xstrdup("add :W after the group's brace: it is then counted in parts");
}

static char *remedy_no_group(const struct failure *f)
{
	(void)f;
	return xstrdup("leave out the group's braces: the events are then opened one by one");
}

static char *remedy_all_cpus(const struct failure *f)
{
	(void)f;
	return xstrdup("pstat stat -a ...");
}

static char *remedy_probe(const struct failure *f)
{
	return f->attr->bp_type == HW_BREAKPOINT_X ?
		       xstrdup("a probe counts executions without a breakpoint: uprobe/path=FILE,func=NAME/") : NULL;
}

/*
 * To add a cause: a row before the errno's unconditional one, with a condition that asks the
 * machine and does not guess; a case in tests/unit/test_fallback.c.
 */
static const struct cause {
	int err;
	bool (*holds)(const struct failure *failure); /* NULL: always */
	const char *text; /* a few words, or NULL: */
	char *(*describe)(const struct failure *failure);
	char *(*remedy)(const struct failure *failure); /* NULL: none known */
} causes[] = {
	{ ENOENT, pmu_is_absent, NULL, machine_lacks_pmu, NULL },
	{ ENOENT, branches_without_pmu, NULL, no_branches_here, remedy_branches },
	{ ENOENT, generic_in_virtual, "no counter unit in this virtual machine", NULL, NULL },
	{ ENOENT, generic_without_pmu, "no counter unit on this machine", NULL, NULL },
	{ ENOENT, on_core_pmu, "this counter unit does not have the event", NULL, NULL },
	{ ENOENT, on_named_pmu, NULL, pmu_lacks_event, NULL },
	{ ENOENT, NULL, "this kernel does not have the event", NULL, NULL },

	{ EOPNOTSUPP, never_fires, NULL, why_silent, remedy_probe },
	{ EOPNOTSUPP, branches_without_pmu, NULL, no_branches_here, remedy_branches },
	{ EOPNOTSUPP, refuses_branch_filter, "the unit cannot select branch records like this", NULL,
	  remedy_branch_filter },
	{ EOPNOTSUPP, refuses_branches, NULL, no_branches_of_event, remedy_branches },
	{ EOPNOTSUPP, generic_in_virtual, "no counter unit in this virtual machine", NULL, NULL },
	{ EOPNOTSUPP, generic_without_pmu, "no counter unit on this machine", NULL, NULL },
	{ EOPNOTSUPP, refuses_exclude_idle, "the unit cannot leave out idle time (:I)", NULL,
	  NULL },
	{ EOPNOTSUPP, refuses_excludes, "the unit cannot distinguish these modes (:u :k :h :G :H)",
	  NULL, NULL },
	{ EOPNOTSUPP, NULL, "the unit does not support these settings", NULL, NULL },

	{ EINVAL, kernel_is_too_old, NULL, why_too_old, NULL },
	{ EINVAL, task_forks, "its task forks faster than the group can be opened", NULL,
	  remedy_no_group },
	{ EINVAL, only_in_group, NULL, group_too_big, remedy_split_group },
	{ EINVAL, is_breakpoint,
	  "the machine cannot watch this address with this length and access", NULL, NULL },
	{ EINVAL, refuses_branch_filter, "the unit cannot select branch records like this", NULL,
	  remedy_branch_filter },
	{ EINVAL, refuses_branches, NULL, no_branches_of_event, remedy_branches },
	{ EINVAL, refuses_tasks, "the unit counts whole CPUs only", NULL, remedy_all_cpus },
	{ EINVAL, refuses_user_side_alone,
	  "the unit does not count user mode alone: needs perf_event_paranoid 1 or CAP_PERFMON", NULL,
	  remedy_kernel_side },
	{ EINVAL, refuses_exclude_idle, "the unit cannot leave out idle time (:I)", NULL, NULL },
	{ EINVAL, refuses_excludes, "the unit cannot distinguish these modes (:u :k :h :G :H)", NULL,
	  NULL },
	{ EINVAL, NULL, "the kernel refuses these settings", NULL, NULL },

	{ ENOSPC, is_breakpoint, "all hardware breakpoints are in use", NULL, NULL },
	{ ENOSPC, NULL, "the unit has no counter left", NULL, NULL },
	{ EBUSY, NULL, "another user holds the unit exclusively", NULL, NULL },
	{ ENODEV, counts_nowhere, NULL, why_nowhere, NULL },
	{ ENODEV, on_one_cpu, "the CPU is not online", NULL, NULL },
	{ ENODEV, NULL, "the unit's device does not exist", NULL, NULL },
	{ ENXIO, branches_without_pmu, NULL, no_branches_here, remedy_branches },
	{ ENXIO, generic_in_virtual, "no counter unit in this virtual machine", NULL, NULL },
	{ ENXIO, NULL, "no counter unit for this event", NULL, NULL },
	{ ESRCH, NULL, "the task has ended", NULL, NULL },
	{ E2BIG, NULL, "this kernel is too old for these settings", NULL, NULL },
	{ EMFILE, NULL, "too many open files", NULL, NULL },
	{ EBADF, NULL, "not a cgroup that perf events can follow", NULL, NULL },

	{ EPERM, seccomp_refuses, "a seccomp filter refuses perf_event_open", NULL,
	  remedy_container },
	{ EPERM, probe_refused_to_root, "probes need CAP_SYS_ADMIN, which this root lacks", NULL,
	  remedy_admin },
	{ EPERM, probe_refused, "probes need root (CAP_SYS_ADMIN)", NULL, remedy_root },
	{ EPERM, whole_cpus_refused, "needs perf_event_paranoid 0 or CAP_PERFMON", NULL,
	  remedy_level },
	{ EPERM, is_bare_root, "needs CAP_PERFMON, which this root lacks", NULL, remedy_container },
	{ EPERM, NULL, "needs root or CAP_PERFMON", NULL, remedy_capability },
	{ EACCES, probe_refused_to_root, "probes need CAP_SYS_ADMIN, which this root lacks", NULL,
	  remedy_admin },
	{ EACCES, probe_refused, "probes need root (CAP_SYS_ADMIN)", NULL, remedy_root },
	{ EACCES, task_of_other_user, "the task belongs to another user: needs CAP_PERFMON", NULL,
	  remedy_capability },
	{ EACCES, whole_cpus_refused, "needs perf_event_paranoid 0 or CAP_PERFMON", NULL,
	  remedy_level },
	{ EACCES, kernel_only_refused,
	  "happens in the kernel: needs perf_event_paranoid 1 or CAP_PERFMON", NULL, remedy_level },
	{ EACCES, kernel_side_refused, "needs perf_event_paranoid 1 or CAP_PERFMON", NULL,
	  remedy_level },
	{ EACCES, all_refused, "needs perf_event_paranoid 2 or CAP_PERFMON", NULL, remedy_level },
	{ EACCES, is_bare_root, "needs CAP_PERFMON, which this root lacks", NULL, remedy_container },
	{ EACCES, NULL, "needs CAP_PERFMON", NULL, remedy_capability },
	{ ENOSYS, seccomp_refuses, "a seccomp filter refuses perf_event_open", NULL,
	  remedy_container },
	{ ENOSYS, NULL, "this kernel is built without perf events", NULL, NULL },

	{ 0, NULL, NULL, kernel_words, NULL }, /* the end: any other errno */
};

void reason_find(const struct failure *failure, char **reason, char **remedy)
{
	const struct cause *cause = causes;

	while (cause->err &&
	       (cause->err != failure->err || (cause->holds && !cause->holds(failure))))
		cause++;
	*reason = cause->text ? xstrdup(cause->text) : cause->describe(failure);
	*remedy = cause->remedy ? cause->remedy(failure) : NULL;
}

bool is_refusal(const struct failure *failure)
{
	return failure->err == EACCES || failure->err == EPERM ||
	       (failure->err == ENOSYS && seccomp_refuses(failure));
}
