/* SPDX-License-Identifier: MIT */
/*
 * processes.c: see processes.h. Each pid is looked at once, and only so many are.
 */
#include "sym/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	PROCESSES_MAX = 4096, /* looked at for one recording */
	THREADS_MAX = 64, /* asked for their root, where the first thread has ended */
	MAPPERS_MAX = 64, /* of one dso */
	START_FIELD = 22, /* of /proc/PID/stat, counted from 1 */
	STATE_FIELD = 3, /* the first after the name */
};
#define START_TICK_NS ((int64_t)NS_PER_S / 100) /* start times are in hundredths, rounded down */

struct processes {
	const struct sym_options *options;
	const struct recording_info *recording;
	const char *procfs;
	bool asked, can_be_here; /* the recording is of this machine */
	struct process_here self; /* its root and what it sees */
	struct process_here **v;
	size_t n, cap;
	struct index by_pid;
};

struct processes *processes_new(const struct sym_options *options, const struct recording_info *recording)
{
	struct processes *processes = xcalloc(1, sizeof(*processes));

	processes->options = options;
	processes->recording = recording;
	processes->procfs = options->procfs ? options->procfs : "/proc";
	return processes;
}

void processes_free(struct processes *processes)
{
	for (size_t i = 0; i < processes->n; i++) {
		free(processes->v[i]->root);
		free(processes->v[i]);
	}
	free(processes->v);
	free(processes->self.root);
	index_release(&processes->by_pid);
	free(processes);
}

/* ---- one process ---- */

/* Takes the path of a root over, if this user can reach it. folder: of the process in /proc. */
static bool take_root(struct process_here *process, const char *folder, char *root)
{
	char *path = xasprintf("%s/ns/mnt", folder);
	struct stat st;

	process->view.mount_namespace = stat(path, &st) ? 0 : st.st_ino;
	free(path);
	if (stat(root, &st)) {
		free(root);
		return false;
	}
	process->view.root_device = st.st_dev;
	process->view.root_inode = st.st_ino;
	process->root = root;
	return true;
}

/* Takes the root of the process's first thread, or, where that has ended, of another one. */
static void find_root(struct process_here *process, const char *folder)
{
	char *tasks = xasprintf("%s/task", folder);
	struct dirent *entry;
	DIR *dir = NULL;

	if (!take_root(process, folder, xasprintf("%s/root", folder)))
		dir = opendir(tasks);
	for (unsigned i = 0; dir && i < THREADS_MAX && (entry = readdir(dir)); i++)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    take_root(process, folder, xasprintf("%s/%s/root", tasks, entry->d_name)))
			break;
	if (dir)
		closedir(dir);
	free(tasks);
}

/* The value of a line "NAME:\t1\t2" of /proc/PID/status; "": there is no such line. key: with the bytes around NAME. */
static const char *status_value(const char *status, const char *key)
{
	const char *line = strstr(status, key);

	return line ? line + strlen(key) : "";
}

static bool take_status(struct process_here *process, const char *status)
{
	const char *ns_pid = status_value(status, "\nNSpid:\t");

	if (strstr(status, "\nState:\tZ") || strtol(status_value(status, "\nTgid:\t"), NULL, 10) != process->pid ||
	    sscanf(status_value(status, "\nUid:\t"), "%*u %" SCNu32, &process->user) != 1)
		return false;
	/* The last of them is the one in its own namespace. Kernels before 4.1 don't tell. */
	process->ns_pid = process->pid;
	for (char *end; isdigit((unsigned char)*ns_pid); ns_pid = end + (*end == '\t'))
		process->ns_pid = (int32_t)strtol(ns_pid, &end, 10);
	return true;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return timespec_ns(&now);
}

/* "12 (a name) R 1 ...": anything may be in the name, so the fields are counted after its end. */
static bool take_start(struct process_here *process, const char *stat)
{
	const char *at = strrchr(stat, ')');
	long hz = sysconf(_SC_CLK_TCK);
	int64_t ticks;

	for (int field = STATE_FIELD; at && field <= START_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at || !isdigit((unsigned char)at[1]) || hz <= 0)
		return false;
	ticks = strtoll(at + 1, NULL, 10);
	process->start_ticks = (uint64_t)ticks;
	process->start_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
			    ticks / hz * (int64_t)NS_PER_S + ticks % hz * ((int64_t)NS_PER_S / hz);
	return true;
}

/* Reads a text of the process with `take`, which says whether it could be used. */
static bool read_of(struct process_here *process, const char *folder, const char *name,
		    bool (*take)(struct process_here *process, const char *text))
{
	char *path = xasprintf("%s/%s", folder, name);
	struct str text = STR_INIT;
	bool taken = !read_text_file(path, &text) && take(process, text.s);

	str_release(&text);
	free(path);
	return taken;
}

/* Is what has the pid now what had it then? */
static bool is_recorded(const struct processes *processes, const struct process_here *process)
{
	const struct sym_processes *recorded = processes->options->processes;
	struct sym_process about = { .exited = false };
	int64_t written_ns = processes->recording->written_ns;

	if (recorded)
		recorded->process(recorded->context, process->pid, &about);
	/* In doubt not: of a process that began in the recording's last moment there are no samples. */
	return !about.exited &&
	       (!written_ns || process->start_ns + START_TICK_NS <= written_ns);
}

static void look_at(const struct processes *processes, struct process_here *process)
{
	char *folder = xasprintf("%s/%d", processes->procfs, (int)process->pid);

	process->lives = read_of(process, folder, "status", take_status) &&
			 read_of(process, folder, "stat", take_start) && is_recorded(processes, process);
	if (process->lives)
		find_root(process, folder);
	process->elsewhere = process->root && memcmp(&process->view, &processes->self.view, sizeof(process->view)) != 0;
	free(folder);
}

/* ---- what is asked ---- */

/* Looks at this process and this machine. */
static void look_at_self(struct processes *processes)
{
	const struct sym_options *options = processes->options;
	const char *host = processes->recording->info->hostname;
	char *path = xasprintf("%s/sys/kernel/hostname", processes->procfs);
	char *self = xasprintf("%s/self", processes->procfs);
	struct str here = STR_INIT;

	processes->asked = true;
	read_line_file(path, &here);
	/* A tree that stands for another machine has no processes. */
	processes->can_be_here = !(options->symfs && options->symfs[0] && strcmp(options->symfs, "/")) &&
				 !(host && here.len && strcmp(host, here.s) != 0);
	take_root(&processes->self, self, xstrdup("/"));
	str_release(&here);
	free(self);
	free(path);
}

/* NULL: it is not looked at. */
static const struct process_here *look(struct processes *processes, int32_t pid)
{
	uint64_t hash = hash_word((uint32_t)pid);
	struct process_here *process;
	uint32_t i;

	if (!processes->asked)
		look_at_self(processes);
	if (!processes->can_be_here || pid <= 0)
		return NULL;
	if (INDEX_FIND(&processes->by_pid, hash, i, processes->v[i]->pid == pid))
		return processes->v[i];
	if (processes->n == PROCESSES_MAX)
		return NULL;
	process = xcalloc(1, sizeof(*process));
	process->pid = pid;
	look_at(processes, process);
	index_add(&processes->by_pid, hash, (uint32_t)processes->n);
	VEC_GROW(processes->v, processes->n, processes->cap);
	processes->v[processes->n++] = process;
	return process;
}

const struct process_here *processes_get(struct processes *processes, int32_t pid, int64_t *taken_over_ns)
{
	const struct process_here *process = look(processes, pid);
	bool lives = process && process->lives;

	if (taken_over_ns)
		*taken_over_ns = process && !lives ? process->start_ns : 0;
	return lives ? process : NULL;
}

void processes_elsewhere(struct processes *processes, const struct dso *dso,
			 struct mapping_seen seen[PROCESSES_SEEN_MAX], struct mapped_file *file)
{
	const struct sym_processes *recorded = processes->options->processes;
	const struct process_here *views[PROCESSES_SEEN_MAX];
	int32_t pids[MAPPERS_MAX];
	size_t n_pids = 0, n = 0, i;

	if (recorded)
		n_pids = recorded->mappers(recorded->context, dso, pids, MAPPERS_MAX);
	for (size_t pid = 0; pid < n_pids && n < PROCESSES_SEEN_MAX; pid++) {
		const struct process_here *process = processes_get(processes, pids[pid], NULL);

		if (!process || !process->elsewhere)
			continue;
		for (i = 0; i < n && memcmp(&views[i]->view, &process->view, sizeof(process->view)) != 0; i++)
			;
		if (i == n)
			views[n++] = process;
	}
	file->seen = seen;
	file->n_seen = n;
	for (i = 0; i < n; i++) /* the newest process comes first there, and last here */
		seen[n - 1 - i] = (struct mapping_seen){ .root = views[i]->root };
}
