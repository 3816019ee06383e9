/* SPDX-License-Identifier: MIT */
/*
 * Counters that the kernel took from a task. At the exec of a program that is set-uid, set-gid or has file
 * capabilities, or that its user may not read, the task becomes one that may not be dumped, and the kernel removes
 * all counters from it; its later children have none either. No call fails: what was counted until then stays, and
 * the enabled time just stands still.
 *
 * Evidence is the enabled time, which passes while a counted task runs, beside the CPU time that the kernel keeps
 * for the same tasks:
 *
 *   target             children count                  only the task
 *   a command          wait4(2): of it and of those    its thread's, read when it has ended
 *                      that it waited for
 *   ... with pauses    its process's clock             the same
 *   processes          their clocks                    their threads' times
 *   threads            their times                     the same
 *
 * The CPU time leaves out what was before counting began. It may still be more than was counted where nothing was
 * removed: the kernel ends a task's counters before it takes the task's memory and files apart (up to a third of all
 * for programs that do nothing but fork), and switches them on and off in the task's own time. Both are allowed for,
 * on the high side: a loss that is not seen is the lesser evil. Descendants that nobody waits for are counted, and
 * only make the enabled time longer. A time that stands still while the task runs needs no such care.
 *
 * Sources: execve(2); begin_new_exec() in fs/exec.c; clock_getcpuclockid(3); wait4(2); proc(5), schedstat and stat.
 */
#include "kern/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/*
 * Time that may be missing where no counter was removed: STALL_NS and ALLOWED_NS in any case, one part in
 * ALLOWED_PART, and the ends of tasks and of their pages. Each voluntary switch may have been an end of a task, each
 * fault a page that was freed; a machine of today needs 40 us for the end of a small process and 80 ns a page, and
 * some times that is allowed. ENDS_PCT bounds all ends together: what they undo took time to make.
 */
enum {
	STALL_NS = 10 * NS_PER_MS, /* a virtual machine that its host keeps waiting while a task ends */
	ALLOWED_NS = NS_PER_MS,
	ALLOWED_PART = 50, /* a 50th of the CPU time */
	SWITCH_NS = 100000,
	SWITCH_PAGE_NS = 100,
	FORCED_SWITCH_NS = 20000,
	FAULT_NS = 1000,
	ENDS_PCT = 70,
	LAG_NS = 20000000, /* clocks and files have of a running task what it had at the last tick */
};

/*
 * An exec takes this long here, and longer on a slow machine, where all else takes longer, too. The clock is read
 * after it, maybe late: what the command ran until then is not taken for the exec beyond this.
 */
enum { EXEC_NS = 200000, EXEC_NS_MAX = 4000000 };

/* Looks come soon, as the task may end at once, and then less and less often, to leave the machine alone. */
enum { LOOK_FIRST_MS = 4, LOOK_RARER = 4, LOOK_LAST_MS = 1000 };

/* Tasks whose time is known as one. */
struct removal_unit {
	pid_t pid; /* of the process, or of the thread */
	uint64_t from_ns; /* its CPU time when counting began, or went on */
	uint64_t before_ns; /* what it ran before that, while it was counted */
	uint64_t ran_ns; /* in all, as far as it was seen */
	uint64_t judged_ns, enabled_ns; /* ran_ns and the enabled time, when they were last compared */
	uint64_t missed_ns; /* of ran_ns was not counted; 0: nothing is known to be missing */
	bool looked; /* ran_ns says something */
};

struct removal {
	const struct child *child; /* the command is the target; or NULL */
	const char *command; /* as it was started */
	bool inherits; /* children count, too */
	bool by_thread; /* units are threads, else processes */
	bool counting; /* now */
	bool from_exec; /* since the exec, without a pause */
	uint64_t held_ns; /* CPU time of the command before its exec */
	unsigned slowness; /* 1: as fast as a machine of today, or faster */
	uint64_t next_look_ns, look_ms;
	struct removal_unit *units;
	size_t n_units, cap;
	size_t *unit_of; /* by thread of the target */
	size_t n_threads;
	char *reason; /* once something is known to be missing */
};

/* ---- CPU times ---- */

/* utime and stime: the 12th and 13th field after the name, which may hold anything. */
static bool ticks_of(const char *stat, uint64_t *ns)
{
	const char *fields = strrchr(stat, ')');
	uint64_t user, sys;
	long hz = sysconf(_SC_CLK_TCK);

	if (!fields || hz <= 0 ||
	    sscanf(fields + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user,
		   &sys) != 2)
		return false;
	*ns = (user + sys) * (NS_PER_S / (uint64_t)hz);
	return true;
}

static bool thread_time(const struct host_paths *host, pid_t tid, uint64_t *ns)
{
	struct str text = STR_INIT;
	char *schedstat = xasprintf("%s/%d/task/%d/schedstat", host->procfs, (int)tid, (int)tid);
	char *stat = xasprintf("%s/%d/task/%d/stat", host->procfs, (int)tid, (int)tid);
	bool known = !read_line_file(schedstat, &text) && sscanf(text.s, "%" SCNu64, ns) == 1;

	known = known || (!read_line_file(stat, &text) && ticks_of(text.s, ns));
	free(schedstat);
	free(stat);
	str_release(&text);
	return known;
}

static bool unit_time(const struct counter_set *set, pid_t pid, uint64_t *ns)
{
	if (set->removal->by_thread)
		return thread_time(&set->kern->host, pid, ns);
	return !set->kern->sys->cpu_time(pid, ns);
}

static void update_time(const struct counter_set *set, struct removal_unit *unit)
{
	uint64_t now_ns;

	if (!unit_time(set, unit->pid, &now_ns))
		return;
	unit->looked = true;
	if (now_ns > unit->from_ns && unit->before_ns + (now_ns - unit->from_ns) > unit->ran_ns)
		unit->ran_ns = unit->before_ns + (now_ns - unit->from_ns);
}

/* Counting begins. A unit without a clock is not looked at again, unless counting begins once more. */
static void begin_unit(const struct counter_set *set, struct removal_unit *unit)
{
	unit->before_ns = unit->ran_ns;
	if (!unit_time(set, unit->pid, &unit->from_ns))
		unit->from_ns = UINT64_MAX;
}

/* ---- which tasks ---- */

static bool counts_tasks(const struct counter *c)
{
	return c->state == COUNTER_OPEN && (!c->cpus.n || c->follows_tasks) && !c->event->cgroup;
}

/*
 * Counters that are enabled whenever all are: their enabled time then passes whether they find a counter or not. On
 * some CPUs alone it leaves out children that ran on others.
 */
static bool is_evidence(const struct counter_set *set, size_t index)
{
	const struct counter *c = &set->v[index];

	return counts_tasks(c) && !c->event->tracking && !c->event->cpus_chosen && !set->v[c->leader].attr.pinned;
}

static size_t unit_for(struct removal *removal, pid_t pid)
{
	for (size_t i = removal->n_units; i-- > 0;)
		if (removal->units[i].pid == pid)
			return i;
	VEC_GROW(removal->units, removal->n_units, removal->cap);
	removal->units[removal->n_units] = (struct removal_unit){ .pid = pid };
	return removal->n_units++;
}

void removal_watch(struct counter_set *set, const struct target *target, const struct child *child,
		 const char *command)
{
	struct removal *removal;
	bool any = false, inherits = false;

	for (size_t i = 0; i < set->n; i++) {
		any = any || is_evidence(set, i);
		inherits = inherits || (is_evidence(set, i) && set->v[i].attr.inherit);
	}
	if (!any || target->kind == TARGET_CPUS || !set->kern->sys->cpu_time)
		return;
	removal = set->removal = xcalloc(1, sizeof(*removal));
	removal->child = child;
	removal->command = command;
	removal->inherits = inherits;
	removal->by_thread = !inherits || (!child && !target->by_process);
	removal->slowness = 1;
	removal->n_threads = target->n_threads;
	removal->unit_of = xcalloc(target->n_threads + 1, sizeof(*removal->unit_of));
	for (size_t i = 0; i < target->n_threads; i++) {
		const struct target_thread *thread = &target->threads[i];

		removal->unit_of[i] = unit_for(removal, removal->by_thread || child ? thread->tid : thread->pid);
	}
	if (child && !unit_time(set, child->pid, &removal->held_ns))
		removal->held_ns = 0;
}

void removal_free(struct removal *removal)
{
	if (!removal)
		return;
	free(removal->units);
	free(removal->unit_of);
	free(removal->reason);
	free(removal);
}

/* ---- the course of a run ---- */

void removal_begin(struct counter_set *set)
{
	struct removal *removal = set->removal;

	if (!removal || removal->counting)
		return;
	removal->counting = true;
	for (size_t i = 0; i < removal->n_units; i++)
		begin_unit(set, &removal->units[i]);
	removal->look_ms = LOOK_FIRST_MS;
	removal->next_look_ns = removal->child ? NEVER_NS : now_ns() + LOOK_FIRST_MS * NS_PER_MS;
}

void removal_begin_at_exec(struct counter_set *set)
{
	struct removal *removal = set->removal;
	struct removal_unit *unit;
	uint64_t exec_ns;

	if (!removal || !removal->child)
		return;
	removal->from_exec = true;
	removal_begin(set);
	unit = &removal->units[0];
	if (unit->from_ns == UINT64_MAX || unit->from_ns < removal->held_ns) /* it has ended */
		unit->from_ns = removal->held_ns + EXEC_NS_MAX;
	exec_ns = unit->from_ns - removal->held_ns;
	if (exec_ns > EXEC_NS_MAX)
		exec_ns = EXEC_NS_MAX;
	unit->from_ns = removal->held_ns + exec_ns;
	removal->slowness = 1 + (unsigned)(exec_ns / EXEC_NS);
}

void removal_look_at_ended(struct counter_set *set)
{
	struct removal *removal = set->removal;

	for (size_t i = 0; removal && removal->counting && i < removal->n_units; i++)
		update_time(set, &removal->units[i]);
}

void removal_pause(struct counter_set *set)
{
	if (!set->removal || !set->removal->counting)
		return;
	removal_look_at_ended(set);
	set->removal->counting = false;
	if (!set->removal->child || !set->removal->child->reaped)
		set->removal->from_exec = false;
}

/* ---- why ---- */

static bool is_set_uid(const char *file, const struct stat *st)
{
	(void)file;
	return st->st_mode & S_ISUID && st->st_uid != geteuid();
}

static bool is_set_gid(const char *file, const struct stat *st)
{
	(void)file;
	return st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != getegid();
}

static bool has_capabilities(const char *file, const struct stat *st)
{
	(void)st;
	return getxattr(file, "security.capability", NULL, 0) > 0;
}

static bool is_unreadable(const char *file, const struct stat *st)
{
	(void)st;
	return faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) && errno == EACCES;
}

/* The file that execvp(3) has started, on the heap; NULL: none is found now. */
static char *file_of(const char *command)
{
	char *found = NULL;

	if (strchr(command, '/'))
		return xstrdup(command);
	for (const char *at = getenv("PATH"); at && !found; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ":");
		char *file = len ? xasprintf("%.*s/%s", (int)len, at, command) : xstrdup(command);

		if (access(file, X_OK))
			free(file);
		else
			found = file;
		at += len;
	}
	return found;
}

/* To add one: a row, tests/cli/counters_removed.sh, pstat-stat(1). */
static const struct removal_cause {
	bool (*holds)(const char *file, const struct stat *st);
	const char *text;
	bool reading_helps;
} removal_causes[] = {
	{ is_set_uid, "is set-uid", false },
	{ is_set_gid, "is set-gid", false },
	{ has_capabilities, "has file capabilities", false },
	{ is_unreadable, "may not be read", true },
};

/* NULL: the command's file is none of these, or it is not known. */
static const struct removal_cause *cause_of_command(const struct removal *removal)
{
	char *file = removal->child ? file_of(removal->command) : NULL;
	const struct removal_cause *found = NULL;
	struct stat st;

	for (size_t i = 0; file && !found && !stat(file, &st) && i < ARRAY_SIZE(removal_causes); i++)
		found = removal_causes[i].holds(file, &st) ? &removal_causes[i] : NULL;
	free(file);
	return found;
}

static const char *remedy(const struct counter_set *set, const struct removal_cause *cause)
{
	if (may_profile_all(&set->kern->host))
		return "count whole CPUs (-a), with all programs on them";
	if (!geteuid())
		return "count whole CPUs (-a), which needs CAP_PERFMON";
	if (cause && cause->reading_helps)
		return "make the program readable (chmod +r), or run pstat as root";
	return "run pstat as root (sudo pstat ...), or count whole CPUs (-a) with CAP_PERFMON";
}

static void explain(const struct counter_set *set)
{
	struct removal *removal = set->removal;
	const struct removal_cause *cause = cause_of_command(removal);
	struct str text = STR_INIT;

	str_add(&text, "the kernel closes the counters of a task that executes a program that ");
	if (cause) {
		str_addf(&text, "%s, such as ", cause->text);
		str_add_printable(&text, removal->command, strlen(removal->command));
	} else {
		str_add(&text, "is set-uid or set-gid, has file capabilities or may not be read");
	}
	note_add(set->notes, false, remedy(set, cause), "counters missed a part of the run: %s", text.s);
	removal->reason = str_detach(&text);
}

/* ---- the verdict ---- */

/*
 * How long a thread's counter was enabled. On each CPU that passes as long as the task runs on any; of an inherited one
 * the kernel leaves out, on some CPUs, children that ran on others. It runs on one CPU at a time, so that these times
 * together are a lower bound, too.
 */
static int64_t enabled_on(const struct counter_set *set, const struct counter *c, size_t thread)
{
	uint64_t longest_ns = 0, running_ns = 0;

	for (size_t cpu = 0; cpu < c->n_cpus; cpu++) {
		int fd = c->fds[cpu * c->n_threads + thread];
		uint64_t enabled = 0, running = 0;
		int rc = fd < 0 ? 0 : read_times(set, fd, &enabled, &running);

		if (rc)
			return rc;
		if (enabled > longest_ns)
			longest_ns = enabled;
		running_ns += running < UINT64_MAX - running_ns ? running : UINT64_MAX - running_ns;
	}
	if (running_ns > longest_ns)
		longest_ns = running_ns;
	return longest_ns < INT64_MAX ? (int64_t)longest_ns : INT64_MAX;
}

/* Negative: it is not known now. */
static int64_t enabled_by(const struct counter_set *set, size_t index, size_t unit)
{
	const struct removal *removal = set->removal;
	const struct counter *c = &set->v[index];
	int64_t sum = 0;

	for (size_t t = 0; t < removal->n_threads && t < c->n_threads; t++) {
		int64_t enabled = removal->unit_of[t] == unit ? enabled_on(set, c, t) : 0;

		if (enabled < 0)
			return enabled;
		sum += enabled;
	}
	return sum;
}

static uint64_t ends_allowed(const struct rusage *usage)
{
	uint64_t pages = (uint64_t)usage->ru_maxrss * 1024 / (uint64_t)sysconf(_SC_PAGESIZE);

	return (uint64_t)usage->ru_nvcsw * (SWITCH_NS + pages * SWITCH_PAGE_NS) +
	       (uint64_t)usage->ru_nivcsw * FORCED_SWITCH_NS +
	       (uint64_t)(usage->ru_minflt + usage->ru_majflt) * FAULT_NS;
}

/*
 * How far a CPU time may lag. That of a command and its children, counted from the exec on, does not: it began with the
 * exec, and wait4(2) has all of it.
 */
static uint64_t lag_ns(const struct removal *removal)
{
	return removal->by_thread || !removal->from_exec ? LAG_NS : 0;
}

/* The most that may be missing of this CPU time where no counter was removed. */
static uint64_t allowed_ns(const struct removal *removal, uint64_t ran_ns)
{
	const struct child *child = removal->child;
	uint64_t most_ns = ran_ns / 100 * ENDS_PCT, ends_ns = most_ns;
	uint64_t allowed = ALLOWED_NS * (uint64_t)removal->slowness + ran_ns / ALLOWED_PART;

	if (child && child->has_usage)
		ends_ns = ends_allowed(&child->usage) * removal->slowness;
	return STALL_NS + allowed + lag_ns(removal) + (ends_ns < most_ns ? ends_ns : most_ns);
}

/* Reads the task's flags, the 7th field after its name (include/linux/sched.h). True, too, where they are not known. */
static bool is_exiting(const struct host_paths *host, pid_t pid)
{
	enum { PF_EXITING = 4 };
	struct str text = STR_INIT;
	char *path = xasprintf("%s/%d/stat", host->procfs, (int)pid);
	const char *fields = read_line_file(path, &text) ? NULL : strrchr(text.s, ')');
	unsigned flags = PF_EXITING;

	if (fields && sscanf(fields + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = PF_EXITING;
	free(path);
	str_release(&text);
	return flags & PF_EXITING;
}

/* True where the task ran since the last comparison, and its enabled time did not pass. */
static bool stands_still(const struct counter_set *set, const struct removal_unit *unit, uint64_t enabled_ns)
{
	uint64_t least_ns = ALLOWED_NS * set->removal->slowness + lag_ns(set->removal);

	return unit->judged_ns && enabled_ns == unit->enabled_ns && unit->ran_ns > unit->judged_ns + least_ns &&
	       !is_exiting(&set->kern->host, unit->pid);
}

static bool is_missing(const struct counter_set *set, const struct removal_unit *unit, uint64_t ran_ns,
		       uint64_t enabled_ns)
{
	const struct removal *removal = set->removal;

	if (enabled_ns >= ran_ns)
		return false;
	if (unit->missed_ns || ran_ns - enabled_ns > allowed_ns(removal, ran_ns) ||
	    stands_still(set, unit, enabled_ns))
		return true;
	return removal->from_exec && enabled_ns < ran_ns / 4 && cause_of_command(removal);
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * NS_PER_US;
}

/* The CPU time of a command and of the children it waited for, once it has ended; else of the unit alone. */
static uint64_t ran_of(const struct removal *removal, const struct removal_unit *unit)
{
	const struct child *child = removal->child;
	uint64_t all_ns;

	if (!child || !child->has_usage || !removal->from_exec || !removal->inherits)
		return unit->ran_ns;
	all_ns = timeval_ns(child->usage.ru_utime) + timeval_ns(child->usage.ru_stime);
	return all_ns > unit->from_ns ? all_ns - unit->from_ns : 0;
}

static void judge(const struct counter_set *set, size_t index)
{
	struct removal *removal = set->removal;
	struct removal_unit *unit = &removal->units[index];
	uint64_t ran_ns = ran_of(removal, unit);
	int64_t longest = 0;
	bool missing = true;

	for (size_t i = 0; missing && i < set->n; i++) {
		int64_t enabled;

		if (!is_evidence(set, i) || set->v[i].attr.inherit != removal->inherits)
			continue;
		enabled = enabled_by(set, i, index);
		if (enabled < 0)
			return;
		if (enabled > longest)
			longest = enabled;
		missing = is_missing(set, unit, ran_ns, (uint64_t)longest);
	}
	unit->judged_ns = unit->ran_ns;
	unit->enabled_ns = (uint64_t)longest;
	if (!missing)
		return;
	if (ran_ns - (uint64_t)longest > unit->missed_ns)
		unit->missed_ns = ran_ns - (uint64_t)longest;
	if (!removal->reason)
		explain(set);
}

void removal_judge(const struct counter_set *set)
{
	struct removal *removal = set->removal;

	for (size_t i = 0; removal && i < removal->n_units; i++) {
		if (removal->counting && !(removal->child && removal->child->reaped))
			update_time(set, &removal->units[i]);
		judge(set, i);
	}
}

uint64_t removal_look(struct counter_set *set, uint64_t now)
{
	struct removal *removal = set->removal;

	if (!removal || !removal->counting)
		return NEVER_NS;
	if (now < removal->next_look_ns)
		return removal->next_look_ns;
	removal_judge(set);
	removal->look_ms *= LOOK_RARER;
	if (removal->look_ms > LOOK_LAST_MS)
		removal->look_ms = LOOK_LAST_MS;
	removal->next_look_ns = now + removal->look_ms * NS_PER_MS;
	return removal->next_look_ns;
}

static bool is_verified(const struct removal *removal, const struct removal_unit *unit)
{
	return unit->looked || (removal->child && removal->child->has_usage);
}

void removal_mark(const struct counter_set *set, size_t index, size_t thread, struct reading *reading)
{
	const struct removal *removal = set->removal;
	const struct removal_unit *unit;

	if (!removal || thread >= removal->n_threads || !counts_tasks(&set->v[index]))
		return;
	unit = &removal->units[removal->unit_of[thread]];
	reading->unverified = reading->enabled_ns && !is_verified(removal, unit);
	if (!thread || removal->unit_of[thread - 1] != removal->unit_of[thread])
		reading->missed_ns = unit->missed_ns;
}

const char *counters_removed_reason(const struct counter_set *set)
{
	return set->removal ? set->removal->reason : NULL;
}

bool removal_of_command(struct counter_set *set, const struct rusage *usage, const char *command, uint64_t enabled_ns)
{
	const struct child ended = { .usage = *usage, .has_usage = true, .reaped = true };
	const struct removal_unit unit = { .from_ns = EXEC_NS_MAX };
	struct removal removal = {
		.child = &ended, .command = command, .inherits = true, .from_exec = true, .slowness = 1,
	};
	struct removal *own = set->removal;
	bool missing;

	set->removal = &removal;
	missing = is_missing(set, &unit, ran_of(&removal, &unit), enabled_ns);
	if (missing)
		explain(set);
	free(removal.reason);
	set->removal = own;
	return missing;
}
