/* SPDX-License-Identifier: MIT */
/*
 * synth.c: tasks that run already -> records, as if the recording had seen them start. One pass: a process is opened
 * once as a folder, which stays the same process (or none) whatever happens to its number, and each of its threads
 * costs one small file. Its maps become MMAP2 records as the kernel writes them for new mappings:
 *
 *	start-end rwxp offset major:minor inode      name
 *	7fa149253000-7fa1493a9000 r-xp 00026000 fe:00 332835   /usr/lib/libc.so.6
 *
 * A name is taken as it stands, [vdso] and " (deleted)" too; only a newline in it is escaped, as \012.
 * No name: "//anon". Names that are too long for a path: "//toolong".
 *
 * Cgroups become CGROUP records: id and path of every folder of the hierarchy. The id that samples carry is that of the
 * folder's kernfs node, which is its inode number on 64-bit machines.
 *
 * Source: proc(5): /proc/PID/task/TID/stat, maps, ns/; cgroups(7); perf_event_open(2) PERF_RECORD_MMAP2 and _CGROUP.
 */
#include "record/synth.h"

#include "record/line_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROC_NAME_BYTES = 64 }; /* "1234567/task/1234567/ns/cgroup" */
enum { PIECE_BYTES = 64 << 10 }; /* of records, told to a sink at once */

/* One walk over the running tasks. */
struct synth {
	const struct kern *kern;
	unsigned what; /* enum synth_what */
	bool namespaces;
	synth_fn fn;
	void *data;
	struct line_reader reader; /* one file at a time */
};

struct proc_task {
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
static bool parse_stat(char *text, struct proc_task *task)
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
static bool task_read(int process, uint32_t pid, uint32_t tid, struct proc_task *task)
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

static int put_fork(struct synth *synth, const struct proc_task *task)
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

/* Names in the order of the kernel's enum: NET_NS_INDEX and so on. */
static const char *const namespace_names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };

static int put_namespaces(struct synth *synth, int process, const struct proc_task *task)
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

static int put_comm(struct synth *synth, const struct proc_task *task)
{
	struct record_body body = { .type = RECORD_COMM };

	body.comm.pid = task->pid;
	body.comm.tid = task->tid;
	body.comm.comm = task->comm;
	return synth->fn(synth->data, &body);
}

static int put_task(struct synth *synth, int process, const struct proc_task *task)
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

/* ---- maps ---- */

static bool pass_char(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static bool parse_number(const char **at, unsigned base, uint64_t *value)
{
	const char *start = *at;

	*value = 0;
	for (;; (*at)++) {
		unsigned char c = (unsigned char)**at;
		unsigned digit = c >= '0' && c <= '9' ? c - '0' + 0U :
				 c >= 'a' && c <= 'f' ? c - 'a' + 10U : base;

		if (digit >= base)
			return *at != start;
		if (*value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
}

static bool parse_prot(const char **at, struct record_mmap *map)
{
	const char *p = *at;

	if (strnlen(p, 4) < 4)
		return false;
	map->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		    (p[2] == 'x' ? PROT_EXEC : 0);
	map->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	*at += 4;
	return true;
}

/* \012 -> newline, in place. A backslash is not escaped, so no other escape can be told from a name. */
static void unescape_newlines(char *name)
{
	char *to = strstr(name, "\\012");

	for (const char *at = to; at; to++) {
		bool newline = !strncmp(at, "\\012", 4);

		*to = newline ? '\n' : *at;
		if (!*to)
			break;
		at += newline ? 4 : 1;
	}
}

static bool parse_line(char *line, struct record_mmap *map)
{
	const char *at = line;
	uint64_t end, major, minor;

	if (!parse_number(&at, 16, &map->start) || !pass_char(&at, '-') ||
	    !parse_number(&at, 16, &end) || end < map->start || !pass_char(&at, ' ') ||
	    !parse_prot(&at, map) || !pass_char(&at, ' ') || !parse_number(&at, 16, &map->pgoff) ||
	    !pass_char(&at, ' ') || !parse_number(&at, 16, &major) || !pass_char(&at, ':') ||
	    !parse_number(&at, 16, &minor) || !pass_char(&at, ' ') ||
	    !parse_number(&at, 10, &map->inode))
		return false;
	map->len = end - map->start;
	map->major = (uint32_t)major;
	map->minor = (uint32_t)minor;
	line += at - line;
	line += strspn(line, " ");
	unescape_newlines(line);
	map->path = *line ? line : "//anon";
	if (strlen(map->path) >= PATH_MAX)
		map->path = "//toolong";
	return true;
}

/*
 * MMAP2 records of a process from the file `path` below dir ("maps"). *seen: it has mappings, executable or not. 0 also
 * where the file cannot be read: the task ended, or is another user's.
 */
static int put_mappings(struct synth *synth, int dir, const char *path, uint32_t pid, bool *seen)
{
	bool data = synth->what & SYNTH_DATA_MMAPS;
	char *line;
	int rc = 0;

	*seen = false;
	if (line_reader_open(&synth->reader, dir, path))
		return 0;
	while (!rc && (line = line_reader_next(&synth->reader)) != NULL) {
		struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER };
		struct record_mmap *map = &body.mmap;

		map->pid = map->tid = pid;
		if (!parse_line(line, map))
			continue;
		*seen = true;
		if (!(map->prot & PROT_EXEC)) {
			if (!data || !(map->prot & PROT_READ))
				continue;
			body.misc |= MISC_MMAP_DATA;
		}
		rc = synth->fn(synth->data, &body);
	}
	line_reader_close(&synth->reader);
	return rc;
}

/* ---- one process ---- */

/*
 * The process's maps; *done: they were found. Those of a thread that has ended are empty, and the main
 * thread may end before the others.
 */
static int put_maps(struct synth *synth, int process, const struct proc_task *task, bool *done)
{
	char name[PROC_NAME_BYTES];

	if (*done || !(synth->what & SYNTH_MMAPS))
		return 0;
	snprintf(name, sizeof(name), "task/%u/maps", task->tid);
	return put_mappings(synth, process, name, task->pid, done);
}

static int put_thread(struct synth *synth, int process, uint32_t pid, uint32_t tid, bool *mapped)
{
	struct proc_task task;
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

/* ---- cgroups ---- */

/* Folders still to be visited, as paths below the root: "/", "/a", "/a/b". */
struct folders {
	char **v;
	size_t n, cap;
};

static void push_folder(struct folders *folders, const char *parent, const char *name)
{
	char *path = xasprintf("%s/%s", strcmp(parent, "/") ? parent : "", name);

	if (strlen(path) >= PATH_MAX) {
		free(path);
		return;
	}
	VEC_GROW(folders->v, folders->n, folders->cap);
	folders->v[folders->n++] = path;
}

/* A folder that is removed meanwhile has no record. */
static int visit_folder(struct synth *synth, const char *root, const char *path, struct folders *folders)
{
	struct record_body body = { .type = RECORD_CGROUP };
	char *full = xasprintf("%s%s", root, path);
	int fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct dirent *entry;
	struct stat st;
	DIR *dir;
	int rc;

	free(full);
	if (fd < 0)
		return 0;
	dir = fstat(fd, &st) ? NULL : fdopendir(fd);
	if (!dir) {
		close(fd);
		return 0;
	}
	body.cgroup.id = st.st_ino;
	body.cgroup.path = path;
	rc = synth->fn(synth->data, &body);
	while (!rc && (entry = readdir(dir)) != NULL) {
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") &&
		    strcmp(entry->d_name, ".."))
			push_folder(folders, path, entry->d_name);
	}
	closedir(dir);
	return rc;
}

/* CGROUP records of the whole hierarchy that perf events follow. */
static int put_cgroups(struct synth *synth)
{
	struct folders folders = { 0 };
	struct str root = STR_INIT;
	int rc = 0;

	if (cgroup_root(&synth->kern->host, &root))
		push_folder(&folders, "/", "");
	while (folders.n) {
		char *path = folders.v[--folders.n];

		if (!rc)
			rc = visit_folder(synth, root.s, path, &folders);
		free(path);
	}
	free(folders.v);
	str_release(&root);
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
		if (target->kind != TARGET_COMMAND)
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
		rc = put_cgroups(synth);
	if (!rc && (what & (SYNTH_TASKS | SYNTH_MMAPS)))
		rc = put_target(synth, proc, target);
	close(proc);
	free(synth);
	return rc;
}

/* ---- to a sink ---- */

struct sink_filler {
	const struct events *events;
	struct record_sink *to;
	struct str bytes;
	struct str *err;
};

/* The event whose layout records about tasks have. */
static const struct data_event *tracking_event(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i]->attr.mmap || events->v[i]->attr.mmap2)
			return events->v[i];
	}
	return events->n ? events->v[0] : NULL;
}

int synth_encode(const struct events *events, const struct record_body *body, struct str *out,
		 struct str *err)
{
	const struct data_event *event = tracking_event(events);
	struct record_body stamped = *body;

	if (event->n_ids)
		stamped.id.id = stamped.id.stream_id = event->ids[0];
	return record_encode(&stamped, event, out, err);
}

static int hand_over(struct sink_filler *filler)
{
	int rc = 0;

	if (filler->bytes.len)
		rc = filler->to->take(filler->to, filler->bytes.s, filler->bytes.len, filler->err);
	str_reset(&filler->bytes);
	return rc;
}

static int add_record(void *data, const struct record_body *body)
{
	struct sink_filler *filler = data;
	int rc = synth_encode(filler->events, body, &filler->bytes, filler->err);

	return !rc && filler->bytes.len >= PIECE_BYTES ? hand_over(filler) : rc;
}

static unsigned what_to_describe(const struct record_plan *plan)
{
	bool data = false;

	for (size_t i = 0; i < plan->events->n; i++)
		data |= plan->events->v[i].attr.mmap_data;
	return plan->synth | (data && (plan->synth & SYNTH_MMAPS) ? SYNTH_DATA_MMAPS : 0);
}

int synth_to_sink(const struct record_plan *plan, const struct target *target,
		  const struct events *events, struct record_sink *to, struct str *err)
{
	struct sink_filler filler = { .events = events, .to = to, .bytes = STR_INIT, .err = err };
	int rc = synth_kernel(plan->kern, add_record, &filler);

	if (!rc && plan->synth)
		rc = synth_tasks(target, what_to_describe(plan), plan->sampling.namespaces, plan->kern, add_record,
				 &filler, err);
	if (!rc)
		rc = hand_over(&filler);
	str_release(&filler.bytes);
	return rc;
}
