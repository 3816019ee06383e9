/*
 * What runs already -> records, as if the recording had seen it start. One pass: a process is opened
 * once as a folder, which stays the same process (or none) whatever happens to its number, and each of
 * its threads costs one small file.
 *
 * Source: proc(5): /proc/PID/task/TID/stat, maps, ns/.
 */
#include "record/synth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROC_NAME_BYTES = 64 }; /* "1234567/task/1234567/ns/cgroup" */

struct task {
	uint32_t pid, ppid, tid;
	char comm[16];
};

/* A folder's name as a task's number; 0 for "." and other names. */
static uint32_t task_number(const char *name)
{
	long number;

	return parse_int(name, 1, INT_MAX, &number) ? 0 : (uint32_t)number;
}

/* ---- one task ---- */

/* "1234 (name) S 1 ...": the name may hold anything, so it ends at the last parenthesis. */
static bool parse_stat(char *text, struct task *task)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t len;
	char *end;

	if (!open || !close || close < open || close[1] != ' ' || !close[2] || close[3] != ' ')
		return false;
	len = (size_t)(close - open - 1);
	if (len >= sizeof(task->comm))
		len = sizeof(task->comm) - 1;
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, open + 1, len);
	end = close + 4 + strcspn(close + 4, " ");
	*end = '\0';
	/* The first processes, and those whose parent is outside the pid namespace, have parent 0. */
	task->ppid = task_number(close + 4);
	return true;
}

/* False: there is no such task any more. */
static bool task_read(int process, uint32_t pid, uint32_t tid, struct task *task)
{
	char name[PROC_NAME_BYTES], text[1024];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "task/%u/stat", tid);
	fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	task->pid = pid;
	task->tid = tid;
	return parse_stat(text, task);
}

static int put_fork(struct synth *synth, const struct task *task)
{
	bool leads = task->tid == task->pid;
	struct record_body body = { .type = RECORD_FORK, .misc = MISC_FORK_EXEC };

	body.task = (struct record_task){
		.pid = task->pid,
		.tid = task->tid,
		.ppid = leads ? task->ppid : task->pid,
		.ptid = leads ? task->ppid : task->pid,
	};
	return synth->fn(synth->data, &body);
}

/* In the order of the kernel's enum: NET_NS_INDEX and so on. */
static const char *const namespace_names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };

static int put_namespaces(struct synth *synth, int process, const struct task *task)
{
	struct record_body body = { .type = RECORD_NAMESPACES };
	uint64_t links[2 * ARRAY_SIZE(namespace_names)] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(namespace_names); i++) {
		char name[PROC_NAME_BYTES];
		struct stat st;

		snprintf(name, sizeof(name), "task/%u/ns/%s", task->tid, namespace_names[i]);
		if (fstatat(process, name, &st, 0))
			continue;
		links[2 * i] = st.st_dev;
		links[2 * i + 1] = st.st_ino;
	}
	body.namespaces.pid = task->pid;
	body.namespaces.tid = task->tid;
	body.namespaces.links.n = ARRAY_SIZE(namespace_names);
	body.namespaces.links.v = links;
	return synth->fn(synth->data, &body);
}

static int put_comm(struct synth *synth, const struct task *task)
{
	struct record_body body = { .type = RECORD_COMM };

	body.comm.pid = task->pid;
	body.comm.tid = task->tid;
	body.comm.comm = task->comm;
	return synth->fn(synth->data, &body);
}

static int put_task(struct synth *synth, int process, const struct task *task)
{
	int rc = 0;

	if (synth->what & SYNTH_TASKS)
		rc = put_fork(synth, task);
	if (!rc && synth->namespaces)
		rc = put_namespaces(synth, process, task);
	if (!rc && (synth->what & SYNTH_TASKS))
		rc = put_comm(synth, task);
	return rc;
}

/* ---- one process ---- */

/*
 * The process's maps; *done: they were found. Those of a thread that has ended are empty, and the main
 * thread may end before the others.
 */
static int put_maps(struct synth *synth, int process, const struct task *task, bool *done)
{
	char name[PROC_NAME_BYTES];

	if (*done || !(synth->what & SYNTH_MMAPS))
		return 0;
	snprintf(name, sizeof(name), "task/%u/maps", task->tid);
	return synth_maps(synth, process, name, task->pid, done);
}

static int put_thread(struct synth *synth, int process, uint32_t pid, uint32_t tid, bool *mapped)
{
	struct task task;
	int rc;

	if (!task_read(process, pid, tid, &task))
		return 0;
	rc = put_task(synth, process, &task);
	return rc ? rc : put_maps(synth, process, &task, mapped);
}

static int put_other_threads(struct synth *synth, int process, uint32_t pid, bool *mapped)
{
	int fd = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (!rc && (entry = readdir(dir)) != NULL) {
		uint32_t tid = task_number(entry->d_name);

		if (tid && tid != pid)
			rc = put_thread(synth, process, pid, tid, mapped);
	}
	closedir(dir);
	return rc;
}

/* tids: the threads that are wanted besides the main one; NULL: all. */
static int put_process(struct synth *synth, int proc, uint32_t pid, const struct intset *tids)
{
	char name[PROC_NAME_BYTES];
	bool mapped = false;
	int process, rc;

	snprintf(name, sizeof(name), "%u", pid);
	process = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return 0;
	rc = put_thread(synth, process, pid, pid, &mapped);
	if (!rc && !tids)
		rc = put_other_threads(synth, process, pid, &mapped);
	for (size_t i = 0; !rc && tids && i < tids->n; i++) {
		if ((uint32_t)tids->v[i] != pid)
			rc = put_thread(synth, process, pid, (uint32_t)tids->v[i], &mapped);
	}
	close(process);
	return rc;
}

/* ---- targets ---- */

static int put_all(struct synth *synth, int proc)
{
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (!rc && (entry = readdir(dir)) != NULL) {
		uint32_t pid = task_number(entry->d_name);

		if (pid)
			rc = put_process(synth, proc, pid, NULL);
	}
	closedir(dir);
	return rc;
}

static int put_processes(struct synth *synth, int proc, const struct target *target)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < target->pids.n; i++)
		rc = put_process(synth, proc, (uint32_t)target->pids.v[i], NULL);
	return rc;
}

static int by_process(const void *a, const void *b)
{
	const struct target_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* -t: the threads given, process by process. */
static int put_threads(struct synth *synth, int proc, const struct target *target)
{
	size_t n = target->n_threads;
	struct target_thread *threads = xcalloc(n, sizeof(*threads));
	struct intset tids = INTSET_INIT;
	int rc = 0;

	if (n)
		memcpy(threads, target->threads, n * sizeof(*threads));
	qsort(threads, n, sizeof(*threads), by_process);
	for (size_t i = 0; !rc && i < n; tids.n = 0) {
		uint32_t pid = (uint32_t)threads[i].pid;

		for (; i < n && (uint32_t)threads[i].pid == pid; i++)
			intset_add(&tids, (int)threads[i].tid);
		rc = put_process(synth, proc, pid, &tids);
	}
	intset_release(&tids);
	free(threads);
	return rc;
}

static int put_target(struct synth *synth, int proc, const struct target *target)
{
	if (target->kind == TARGET_CPUS)
		return put_all(synth, proc);
	if (target->kind == TARGET_TASKS && target->by_process)
		return put_processes(synth, proc, target);
	if (target->kind == TARGET_COMMAND)
		synth->what &= ~(unsigned)(SYNTH_MMAPS | SYNTH_DATA_MMAPS);
	return put_threads(synth, proc, target);
}

int synth_tasks(const struct target *target, unsigned what, bool namespaces, const struct kern *kern,
		synth_fn fn, void *data, struct str *err)
{
	struct synth *synth = xmalloc(sizeof(*synth));
	int proc = open(kern->host.procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (proc < 0) {
		rc = fail(err, -errno, "%s: %s", kern->host.procfs, strerror(errno));
		free(synth);
		return rc;
	}
	synth->kern = kern;
	synth->what = what;
	synth->namespaces = namespaces;
	synth->fn = fn;
	synth->data = data;
	synth->reader.fd = -1;
	if (what & SYNTH_CGROUPS)
		rc = synth_cgroups(synth);
	if (!rc && (what & (SYNTH_TASKS | SYNTH_MMAPS)))
		rc = put_target(synth, proc, target);
	close(proc);
	free(synth);
	return rc;
}
