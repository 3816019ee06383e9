/*
 * processes.c: see processes.h. Each pid is looked at once, and only so many are.
 */
#include "sym/processes.h"

#include <ctype.h>
#include <dirent.h>
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

struct process_row {
	struct process_here process;
	enum { GONE, LIVES, TAKEN_OVER } state; /* taken over: the pid is another process's */
};

struct processes {
	const struct sym_options *options;
	const struct recording_info *recording;
	const char *procfs;
	bool asked, can_be_here; /* the recording is of this machine */
	uint64_t mount_namespace, root_device, root_inode; /* of this process */
	struct process_row **v;
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
		free(processes->v[i]->process.root);
		free(processes->v[i]);
	}
	free(processes->v);
	index_release(&processes->by_pid);
	free(processes);
}

/* ---- this process and this machine ---- */

static uint64_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

static void look_at_self(struct processes *processes)
{
	const struct sym_options *options = processes->options;
	const char *host = processes->recording->info->hostname;
	char *path = xasprintf("%s/sys/kernel/hostname", processes->procfs);
	struct str here = STR_INIT;
	struct stat st;

	processes->asked = true;
	read_line_file(path, &here);
	free(path);
	/* A tree that stands for another machine has no processes. */
	processes->can_be_here = !(options->symfs && options->symfs[0] && strcmp(options->symfs, "/")) &&
				 !(host && here.len && strcmp(host, here.s) != 0);
	str_release(&here);
	path = xasprintf("%s/self/ns/mnt", processes->procfs);
	processes->mount_namespace = inode_of(path);
	free(path);
	if (!stat("/", &st)) {
		processes->root_device = st.st_dev;
		processes->root_inode = st.st_ino;
	}
}

/* ---- one process ---- */

static bool read_of(const struct processes *processes, int32_t pid, const char *name, struct str *text)
{
	char *path = xasprintf("%s/%d/%s", processes->procfs, (int)pid, name);
	int rc = read_text_file(path, text);

	free(path);
	return !rc;
}

/* The last number of a line "NAME:\t1\t2" of /proc/PID/status, or its n-th, from 1. */
static bool status_number(const char *status, const char *name, unsigned nth, int64_t *value)
{
	const char *line = strstr(status, name), *at, *next;
	char *end;
	unsigned n = 0;

	if (!line || (line != status && line[-1] != '\n'))
		return false;
	for (at = line + strlen(name); *at == '\t' || *at == ' '; at = next) {
		*value = strtoll(at, &end, 10);
		next = end;
		if (next == at || ++n == nth)
			break;
	}
	return n && (!nth || n == nth);
}

static bool take_status(struct process_here *process, const char *status)
{
	int64_t group, own, user;

	if (strstr(status, "\nState:\tZ") || !status_number(status, "Tgid:", 1, &group) ||
	    group != process->pid || !status_number(status, "Uid:", 2, &user))
		return false;
	/* Kernels before 4.1 don't tell. */
	process->ns_pid = status_number(status, "NSpid:", 0, &own) ? (int32_t)own : process->pid;
	process->user = (uint32_t)user;
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
	process->start_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
			    ticks / hz * (int64_t)NS_PER_S + ticks % hz * ((int64_t)NS_PER_S / hz);
	return true;
}

static bool take_root(struct process_here *process, char *path)
{
	char *folder = xasprintf("%s/", path);
	struct stat st;
	bool there = !stat(folder, &st);

	free(folder);
	if (!there) {
		free(path);
		return false;
	}
	process->root = path;
	process->root_device = st.st_dev;
	process->root_inode = st.st_ino;
	return true;
}

/* Takes the root of the process's first thread, or, where that has ended, of another one. */
static void find_root(const struct processes *processes, struct process_here *process)
{
	char *tasks = xasprintf("%s/%d/task", processes->procfs, (int)process->pid);
	struct dirent *entry;
	DIR *dir = NULL;

	if (!take_root(process, xasprintf("%s/%d/root", processes->procfs, (int)process->pid)))
		dir = opendir(tasks);
	for (unsigned i = 0; dir && i < THREADS_MAX && (entry = readdir(dir)); i++)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    take_root(process, xasprintf("%s/%s/root", tasks, entry->d_name)))
			break;
	if (dir)
		closedir(dir);
	free(tasks);
}

static void take_view(const struct processes *processes, struct process_here *process)
{
	char *path = xasprintf("%s/%d/ns/mnt", processes->procfs, (int)process->pid);

	process->mount_namespace = inode_of(path);
	free(path);
	process->elsewhere = process->root &&
			     (process->mount_namespace != processes->mount_namespace ||
			      process->root_device != processes->root_device ||
			      process->root_inode != processes->root_inode);
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

static void look_at(const struct processes *processes, struct process_row *row)
{
	struct process_here *process = &row->process;
	struct str status = STR_INIT, stat = STR_INIT;
	bool there = read_of(processes, process->pid, "status", &status) &&
		     read_of(processes, process->pid, "stat", &stat) &&
		     take_status(process, status.s) && take_start(process, stat.s);

	str_release(&status);
	str_release(&stat);
	if (there && is_recorded(processes, process)) {
		row->state = LIVES;
		find_root(processes, process);
		take_view(processes, process);
	} else if (there) {
		row->state = TAKEN_OVER;
	}
}

/* ---- what is asked ---- */

static const struct process_row *row_of(struct processes *processes, int32_t pid)
{
	uint64_t hash = hash_word((uint32_t)pid);
	struct process_row *row;
	uint32_t i;

	if (!processes->asked)
		look_at_self(processes);
	if (!processes->can_be_here || pid <= 0)
		return NULL;
	if (INDEX_FIND(&processes->by_pid, hash, i, processes->v[i]->process.pid == pid))
		return processes->v[i];
	if (processes->n == PROCESSES_MAX)
		return NULL;
	row = xcalloc(1, sizeof(*row));
	row->process.pid = pid;
	look_at(processes, row);
	index_add(&processes->by_pid, hash, (uint32_t)processes->n);
	VEC_GROW(processes->v, processes->n, processes->cap);
	processes->v[processes->n++] = row;
	return row;
}

const struct process_here *processes_get(struct processes *processes, int32_t pid)
{
	const struct process_row *row = row_of(processes, pid);

	return row && row->state == LIVES ? &row->process : NULL;
}

int64_t processes_taken_over(struct processes *processes, int32_t pid)
{
	const struct process_row *row = row_of(processes, pid);

	return row && row->state == TAKEN_OVER ? row->process.start_ns : 0;
}

static bool sees_the_same(const struct process_here *a, const struct process_here *b)
{
	return a->mount_namespace == b->mount_namespace && a->root_device == b->root_device &&
	       a->root_inode == b->root_inode;
}

static void add_view(const struct process_here *process, const struct process_here **v, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		if (sees_the_same(v[i], process))
			return;
	v[(*n)++] = process;
}

size_t processes_elsewhere(struct processes *processes, const struct dso *dso,
			   const struct process_here **v, size_t max)
{
	const struct sym_processes *recorded = processes->options->processes;
	int32_t pids[MAPPERS_MAX];
	size_t n_pids = 0, n = 0;

	if (recorded)
		n_pids = recorded->mappers(recorded->context, dso, pids, MAPPERS_MAX);
	for (size_t i = 0; i < n_pids && n < max; i++) {
		const struct process_here *process = processes_get(processes, pids[i]);

		if (process && process->elsewhere)
			add_view(process, v, &n);
	}
	return n;
}
