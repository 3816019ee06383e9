/* SPDX-License-Identifier: MIT */
/*
 * Targets of measuring: the words of the command line become a list of threads or a set of CPUs,
 * checked against the machine. procfs is read only for -p, -t and --per-thread, the list of online
 * CPUs only for -a and -C: a plain command costs nothing here.
 *
 * Invariant of a resolved target: at least one thread (tid -1 stands for "all tasks"), no thread
 * twice; cpus is empty unless all tasks are measured.
 *
 * Source: proc(5).
 */
#include "kern/kern.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A number far above any kernel's limit: it keeps a mistyped range from filling the memory. */
enum { CPU_MAX = 1 << 16 };

/* A program that starts threads without end would be walked without end. */
enum { MOST_WALKS = 10 };

/* Words that exclude each other; one row per pair, the text names both. */
static bool pids_and_tids(const struct target_spec *w)
{
	return w->pids && w->tids;
}

static bool tasks_and_cpus(const struct target_spec *w)
{
	return (w->pids || w->tids) && (w->all_cpus || w->cpus);
}

static bool user_and_others(const struct target_spec *w)
{
	return w->user && (w->pids || w->tids || w->all_cpus || w->cpus);
}

static bool threads_and_cpu_list(const struct target_spec *w)
{
	return w->per_thread && w->cpus;
}

static bool nothing_given(const struct target_spec *w)
{
	return !w->pids && !w->tids && !w->user && !w->cpus && !w->all_cpus && w->command <= 0;
}

static const struct target_contradiction {
	bool (*holds)(const struct target_spec *spec);
	const char *text;
} contradictions[] = {
	{ pids_and_tids, "-p and -t: give processes or threads, not both" },
	{ tasks_and_cpus, "-p or -t with -a or -C: give tasks or CPUs, not both" },
	{ user_and_others, "-u with -p, -t, -a or -C: give one of them" },
	{ threads_and_cpu_list, "--per-thread with -C: a list of CPUs has no threads of its own" },
	{ nothing_given, "nothing to measure: give a command, -p, -t, -a or -C" },
};

/* ---- tasks ---- */

static void read_comm(struct target_thread *thread, const char *procfs)
{
	struct str text = STR_INIT;
	char *path = xasprintf("%s/%d/comm", procfs, (int)thread->tid);

	/* A name may end in white space: only the kernel's own newline goes. */
	if (!read_text_file(path, &text) && text.len) {
		size_t len = text.len - (text.s[text.len - 1] == '\n');

		if (len >= sizeof(thread->comm))
			len = sizeof(thread->comm) - 1;
		memcpy(thread->comm, text.s, len);
	}
	free(path);
	str_release(&text);
}

static struct target_thread *add_thread(struct target *target, pid_t tid, pid_t pid)
{
	struct target_thread *thread;

	VEC_GROW(target->threads, target->n_threads, target->threads_cap);
	thread = &target->threads[target->n_threads++];
	*thread = (struct target_thread){ .tid = tid, .pid = pid };
	return thread;
}

/* A folder's name as a task's number; 0 for "." and other names. */
static pid_t task_number(const char *name)
{
	long tid;

	return parse_int(name, 1, INT_MAX, &tid) ? 0 : (pid_t)tid;
}

/*
 * Adds the process's threads that are not in `seen`. -ESRCH if there is no such process now; a
 * process that ends while it is listed adds fewer, or none.
 */
static int add_process(struct target *target, pid_t pid, struct intset *seen)
{
	char *path = xasprintf("%s/%d/task", target->procfs, (int)pid);
	DIR *dir = opendir(path);
	int rc = dir ? 0 : errno == ENOENT ? -ESRCH : -errno;
	struct dirent *entry;

	free(path);
	if (!dir)
		return rc;
	while ((entry = readdir(dir)) != NULL) {
		pid_t tid = task_number(entry->d_name);

		if (!tid || intset_has(seen, tid))
			continue;
		intset_add(seen, tid);
		read_comm(add_thread(target, tid, pid), target->procfs);
	}
	closedir(dir);
	return 0;
}

/* The process of a thread, from "Tgid:" of its status; -1 if there is no such thread. */
static pid_t process_of(const char *procfs, pid_t tid)
{
	static const char key[] = "\nTgid:\t";
	struct str text = STR_INIT;
	char *path = xasprintf("%s/%d/status", procfs, (int)tid), *at;
	pid_t pid = -1;

	if (!read_text_file(path, &text)) {
		at = strstr(text.s, key);
		if (at) {
			at += sizeof(key) - 1;
			at[strcspn(at, "\n")] = '\0';
			pid = task_number(at);
		}
		pid = pid > 0 ? pid : tid;
	}
	free(path);
	str_release(&text);
	return pid;
}

/* "12,34" -> numbers; unlike CPUs, tasks have no ranges. */
static int parse_tasks(struct intset *tasks, const char *text, const char *what, struct str *err)
{
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		char *word = xstrndup(at, len);
		pid_t task = task_number(word);

		if (!task) {
			str_addc(err, '\'');
			str_add_printable(err, word, len);
			str_addf(err, "' is not a %s id", what);
		}
		free(word);
		if (!task)
			return -EINVAL;
		intset_add(tasks, task);
		at += len;
		if (!*at)
			return 0;
	}
}

/* One look at procfs or several: tasks may start while it lasts, in parts that it has left behind. */
struct task_walk {
	struct target *target;
	struct intset seen; /* threads */
	uid_t uid;
	bool again; /* not the first look: what has ended since is no error */
};

/* The last look finds nothing new. Who starts later than that is started by a thread in the list. */
static int walk_until_complete(struct task_walk *walk, int (*look)(struct task_walk *walk, struct str *err),
			       struct str *err)
{
	size_t before;
	int rc, walks = 0;

	do {
		before = walk->target->n_threads;
		rc = look(walk, err);
		walk->again = true;
	} while (!rc && walk->target->n_threads > before && ++walks < MOST_WALKS);
	intset_release(&walk->seen);
	return rc;
}

/* Whether procfs is there at all: it lists at least who asks. */
static bool lists_tasks(const char *procfs)
{
	DIR *dir = opendir(procfs);
	struct dirent *entry;
	bool any = false;

	while (dir && !any && (entry = readdir(dir)) != NULL)
		any = task_number(entry->d_name);
	if (dir)
		closedir(dir);
	return any;
}

static int task_failed(const struct target *target, struct str *err, int rc, const char *what, pid_t task)
{
	if (rc == -ESRCH && !lists_tasks(target->procfs))
		return fail(err, rc, "%s %d: it cannot be looked for: %s is not mounted", what, (int)task,
			    target->procfs);
	return fail(err, rc, "%s %d: %s", what, (int)task,
		    rc == -ESRCH ? "there is none with this id" : strerror(-rc));
}

static int look_at_processes(struct task_walk *walk, struct str *err)
{
	const struct intset *pids = &walk->target->pids;

	for (size_t i = 0; i < pids->n; i++) {
		int rc = add_process(walk->target, pids->v[i], &walk->seen);

		if (rc && !walk->again)
			return task_failed(walk->target, err, rc, "process", pids->v[i]);
	}
	return 0;
}

static int add_threads(struct target *target, struct str *err)
{
	for (size_t i = 0; i < target->pids.n; i++) {
		pid_t tid = target->pids.v[i], pid = process_of(target->procfs, tid);

		if (pid <= 0)
			return task_failed(target, err, -ESRCH, "thread", tid);
		read_comm(add_thread(target, tid, pid), target->procfs);
	}
	return 0;
}

static int resolve_tasks(struct target *target, const struct target_spec *spec, struct str *err)
{
	const char *what = spec->pids ? "process" : "thread";
	struct task_walk walk = { .target = target };
	int rc = parse_tasks(&target->pids, spec->pids ? spec->pids : spec->tids, what, err);

	target->kind = TARGET_TASKS;
	target->by_process = spec->pids != NULL;
	if (!rc)
		rc = target->by_process ? walk_until_complete(&walk, look_at_processes, err) :
					  add_threads(target, err);
	if (!rc && !target->n_threads)
		rc = fail(err, -ESRCH, "%s %d: it has ended", what, target->pids.v[0]);
	return rc;
}

static int user_number(const char *user, uid_t *uid, struct str *err)
{
	struct str why = STR_INIT;
	uint64_t number;
	int rc;

	if (!parse_u64(user, 10, &number) && number < UINT32_MAX) {
		*uid = (uid_t)number;
		return 0;
	}
	rc = user_find(user, uid, &why);
	if (rc) {
		str_add(err, "user '");
		str_add_printable(err, user, strlen(user));
		fail(err, rc, "': %s", why.s);
	}
	str_release(&why);
	return rc;
}

static int look_at_user(struct task_walk *walk, struct str *err)
{
	DIR *dir = opendir(walk->target->procfs);
	struct dirent *entry;
	struct stat st;

	(void)err;
	while (dir && (entry = readdir(dir)) != NULL) {
		pid_t pid = task_number(entry->d_name);

		if (!pid || fstatat(dirfd(dir), entry->d_name, &st, 0) || st.st_uid != walk->uid)
			continue;
		if (!add_process(walk->target, pid, &walk->seen))
			intset_add(&walk->target->pids, pid);
	}
	if (dir)
		closedir(dir);
	return 0;
}

/* All processes that the user owns now; those that start later belong to whom started them. */
static int resolve_user(struct target *target, const char *user, struct str *err)
{
	struct task_walk walk = { .target = target };
	int rc = user_number(user, &walk.uid, err);

	target->kind = TARGET_TASKS;
	target->by_process = true;
	if (!rc)
		rc = walk_until_complete(&walk, look_at_user, err);
	if (!rc && !target->n_threads)
		rc = fail(err, -ESRCH, "user %s: has no process", user);
	return rc;
}

static int look_at_all(struct task_walk *walk, struct str *err)
{
	DIR *dir = opendir(walk->target->procfs);
	struct dirent *entry;

	if (!dir)
		return fail(err, -errno, "cannot list the threads in %s: %s", walk->target->procfs,
			    strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		pid_t pid = task_number(entry->d_name);

		if (pid)
			add_process(walk->target, pid, &walk->seen);
	}
	closedir(dir);
	return 0;
}

/* Every thread of the system; what ends meanwhile is left out. */
static int resolve_all_threads(struct target *target, struct str *err)
{
	struct task_walk walk = { .target = target };
	int rc;

	target->kind = TARGET_CPUS;
	rc = walk_until_complete(&walk, look_at_all, err);
	if (!rc && !target->n_threads)
		rc = fail(err, -ESRCH, "cannot list the threads in %s: there are none",
			  target->procfs);
	return rc;
}

/* ---- CPUs ---- */

static int check_online(const struct intset *cpus, const struct intset *online, const char *given,
			struct str *err)
{
	for (size_t i = 0; i < cpus->n; i++) {
		if (intset_has(online, cpus->v[i]))
			continue;
		str_add(err, "CPU list '");
		str_add_printable(err, given, strlen(given));
		str_addf(err, "': CPU %d is not online; online: ", cpus->v[i]);
		intset_format(online, err);
		return -ENODEV;
	}
	return 0;
}

static int resolve_cpus(struct target *target, const struct target_spec *spec,
			const struct kern *kern, struct str *err)
{
	struct intset online = INTSET_INIT;
	struct str why = STR_INIT;
	int rc = cpus_online(&kern->host, &online);

	target->kind = TARGET_CPUS;
	add_thread(target, -1, -1);
	if (rc) {
		fail(err, rc, "%s/devices/system/cpu/online: %s; %s/stat names no CPU either",
		     kern->host.sysfs, strerror(-rc), kern->host.procfs);
	} else if (spec->cpus) {
		rc = intset_parse(&target->cpus, spec->cpus, CPU_MAX, &why) ? -EINVAL : 0;
		if (rc) {
			fail(err, rc, "CPU list: ");
			str_add_printable(err, why.s, why.len);
		} else {
			rc = check_online(&target->cpus, &online, spec->cpus, err);
		}
	} else {
		intset_copy(&target->cpus, &online);
	}
	str_release(&why);
	intset_release(&online);
	return rc;
}

int target_resolve(struct target *target, const struct target_spec *spec, const struct kern *kern,
		   struct str *err)
{
	*target = (struct target){ .procfs = kern->host.procfs };
	for (size_t i = 0; i < ARRAY_SIZE(contradictions); i++) {
		if (contradictions[i].holds(spec))
			return fail(err, -EINVAL, "%s", contradictions[i].text);
	}
	if (spec->pids || spec->tids)
		return resolve_tasks(target, spec, err);
	if (spec->user)
		return resolve_user(target, spec->user, err);
	if (spec->all_cpus && spec->per_thread)
		return resolve_all_threads(target, err);
	if (spec->all_cpus || spec->cpus)
		return resolve_cpus(target, spec, kern, err);
	target->kind = TARGET_COMMAND;
	/* No name: until its exec the command has pstat's own, which would only mislead. */
	add_thread(target, spec->command, spec->command);
	return 0;
}

void target_release(struct target *target)
{
	intset_release(&target->cpus);
	intset_release(&target->pids);
	free(target->threads);
	*target = (struct target){ 0 };
}

/* The state letter of stat(5) follows the name in parentheses, which may contain anything. */
static bool task_runs(const char *stat_path)
{
	struct str text = STR_INIT;
	const char *paren;
	bool runs = false;

	if (!read_text_file(stat_path, &text)) {
		paren = strrchr(text.s, ')');
		runs = paren && paren[1] == ' ' && !strchr("ZXx", paren[2]);
	}
	str_release(&text);
	return runs;
}

/* A main thread may have ended before the others. */
static bool process_runs(const char *procfs, pid_t pid)
{
	char *path = xasprintf("%s/%d/task", procfs, (int)pid);
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool runs = false;

	while (dir && !runs && (entry = readdir(dir)) != NULL) {
		pid_t tid = task_number(entry->d_name);
		char *stat_path;

		if (!tid)
			continue;
		stat_path = xasprintf("%s/%d/stat", path, (int)tid);
		runs = task_runs(stat_path);
		free(stat_path);
	}
	if (dir)
		closedir(dir);
	free(path);
	return runs;
}

bool target_alive(const struct target *target)
{
	bool alive = false;

	for (size_t i = 0; !alive && i < target->n_threads; i++) {
		char *path;

		if (target->threads[i].tid <= 0)
			continue;
		path = xasprintf("%s/%d/stat", target->procfs, (int)target->threads[i].tid);
		alive = task_runs(path);
		free(path);
	}
	for (size_t i = 0; !alive && target->by_process && i < target->pids.n; i++)
		alive = process_runs(target->procfs, target->pids.v[i]);
	return alive;
}
