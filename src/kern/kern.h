/* SPDX-License-Identifier: MIT */
/*
 * kern: the only folder that makes perf system calls.
 *
 *   words of -p, -a, -C, -G --target_resolve()--> target: threads, or CPUs
 *   events + target --counters_open()--> counter_set: for each event a counter, with a descriptor for each CPU and task
 *   counter_set --counters_read()--> struct reading, one for each descriptor: value, enabled and running time
 *   counter_set --rings_open()--> ring_set: records of samples, for record/ and the library
 *
 * A slot is the place of one descriptor: one counter on one CPU and task. Events of a group are opened, switched and
 * read at once. An event that cannot be opened is no error: what may be given up to open it is the ladder (fallback.c),
 * and if nothing helps its counter has a reason and maybe a remedy (reason.c). All perf calls go through struct
 * sys_ops, so that a test plays any kernel. Beside these stand the command that is measured (child) and the wait for
 * whatever moves a run on (watch).
 *
 * Sources: perf_event_open(2), include/uapi/linux/perf_event.h, Documentation/admin-guide/perf-security.rst,
 * proc(5), cgroups(7).
 */
#ifndef PSTAT_KERN_H
#define PSTAT_KERN_H

#include "event/event.h"
#include "util/util.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- sys.c: the seam ---- */

/* Every one returns a value >= 0 or a negative errno; a test replaces the whole table. */
struct sys_ops {
	int (*perf_event_open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			       unsigned long flags);
	int (*ioctl)(int fd, unsigned long request, unsigned long arg);
	ssize_t (*read)(int fd, void *buf, size_t bytes);
	int (*close)(int fd);
	int (*rlimit)(int resource, const struct rlimit *set, struct rlimit *old);
	/* The perf ring of fd, bytes long in all; NULL and a negative errno in *err. */
	void *(*map)(int fd, size_t bytes, bool writable, int *err);
	void (*unmap)(void *addr, size_t bytes);
	/* The CPU time of a process so far, of all its threads; also of one that has ended and was not waited for. */
	int (*cpu_time)(pid_t pid, uint64_t *ns);
};
extern const struct sys_ops sys_linux;

/* The machine as this run sees it: the seam and the places of the pseudo file systems. */
struct kern {
	const struct sys_ops *sys;
	struct host_paths host;
};

/* ---- target.c: what is measured ---- */

enum target_kind {
	TARGET_COMMAND, /* a program that pstat starts, with its children unless told otherwise */
	TARGET_TASKS, /* processes or threads that run already */
	TARGET_CPUS, /* everything that runs on some CPUs (-a, -C, -G) */
};

struct target_thread {
	pid_t tid; /* -1: all tasks, on the CPUs of the target */
	pid_t pid; /* its process, -1 if not known */
	char comm[16]; /* raw bytes as the kernel has them; "" if not known */
};

struct target {
	enum target_kind kind;
	struct intset cpus; /* TARGET_CPUS: the CPUs; else, or with all threads as tasks, empty: any CPU */
	struct target_thread *threads; /* TARGET_CPUS: one with tid -1, or all threads for --per-thread */
	size_t n_threads, threads_cap;
	struct intset pids; /* as given with -p or -t, for the title */
	bool by_process; /* pids are processes (-p): threads they start later belong to them */
	const char *procfs; /* borrowed from the kern given to target_resolve */
};

/* The words of the command line; all text is borrowed. */
struct target_spec {
	const char *pids, *tids; /* lists, or NULL */
	const char *cpus; /* list, or NULL */
	bool all_cpus;
	const char *user; /* a name or a number: all processes of this user; or NULL */
	bool per_thread; /* with all_cpus: every thread of the system is a target */
	pid_t command; /* the held child, which is the target where nothing else is given; or 0 */
};

/*
 * -EINVAL contradictory or wrong words, -ESRCH no such process, -ENODEV a CPU that is not online; a
 * sentence each. A process that ends while its threads are listed is left out without an error as
 * long as one is left. Those that start meanwhile are in the list: it is walked until a walk finds nothing new,
 * at most 10 times. Release the target in every case.
 */
int target_resolve(struct target *target, const struct target_spec *spec, const struct kern *kern,
		   struct str *err);
void target_release(struct target *target);
/* True while one of the tasks is alive (TARGET_TASKS). */
bool target_alive(const struct target *target);

/* The online CPUs: sysfs's list, or procfs's stat where that is hidden. -errno of sysfs where neither tells. */
int cpus_online(const struct host_paths *host, struct intset *cpus);

/* ---- child.c: the measured command, started in the state in which pstat itself was started ---- */

/*
 * The state that an exec leaves as it is and that pstat changes for itself, as it was when pstat began: the command
 * finds it like that. Ignored: of the signals that pstat handles; it leaves the others alone.
 */
struct exec_state {
	sigset_t blocked, ignored;
	bool has_files; /* a limit of them could be asked for */
	struct rlimit files; /* RLIMIT_NOFILE */
};
/* Reads the state as it is now, with nothing ignored. */
void exec_state_now(struct exec_state *state);

struct child {
	pid_t pid; /* 0: none, or reaped */
	sigset_t deaf_to; /* what it was started with: signals blocked or ignored */
	int hold_fd; /* write end: one byte lets the child exec; -1 when done */
	int exec_fd; /* read end: the errno of a failed exec, end-of-file on success; -1 when done */
	int status; /* as waitpid(2) has it, once reaped */
	bool reaped;
	bool has_usage; /* reaped, and the kernel reported it: not where SIGCHLD was ignored */
	struct rusage usage; /* of the child and what it waited for */
};
/* Descriptors of pstat's that become the command's first three; -1: that of pstat's own number. */
struct child_files {
	int in, out, err;
};
/*
 * Forks; the child waits for child_release() before it execs argv, in the state that is given. Files are pstat's own
 * business: open them with O_CLOEXEC. files NULL: the command has pstat's own.
 */
int child_fork(struct child *child, char *const argv[], const struct exec_state *found, const struct child_files *files,
	       struct str *err);
/* Lets the child exec and waits for that: 0, or the negative errno of exec (the child is reaped). */
int child_release(struct child *child);
/*
 * Looks for the command as its exec will: 0, -ENOENT, or -EACCES where it is not a file that may be
 * executed. For those who have something to lose before child_release() can tell.
 */
int command_check(const char *name);
/* Says what child_release() or command_check() returned; *status: what pstat ends with then. Returns rc. */
int command_failed(const char *name, int rc, int *status, struct str *err);
/* True once the child has ended and nobody has reaped it: what it leaves is still there to be looked at. */
bool child_has_ended(const struct child *child);
/* Non-blocking: true once the child has ended and status and usage are set. */
bool child_poll(struct child *child);
void child_wait(struct child *child);
/*
 * Sends a signal: SIGTERM in place of one that the child was started to be deaf to, and SIGKILL in place of that.
 */
void child_signal(const struct child *child, int sig);
/* SIGTERM to a child that has not ended; one that was never released is killed. Reaps it. */
void child_end(struct child *child);
/* The exit status pstat ends with, of what wait4(2) said: the child's own, 128 + signal if it was killed by one. */
int child_exit_status(int status);

/* ---- cgroup_dir.c ---- */
/* Finds where the cgroup hierarchy that perf events follow is mounted, into root; false if nowhere. */
bool cgroup_root(const struct host_paths *host, struct str *root);
/* The cgroup's folder, opened; -errno with a sentence. The caller closes it. */
int cgroup_open(const char *name, const struct host_paths *host, struct str *err);
/*
 * A list with one of {}[]()|*+?^$ in it is of basic regular expressions (regex(7)), as perf has it: adds the
 * cgroups below the root whose path has a part that one of them matches, each once, by name, with commas between.
 * Of another list, or where a cgroup has that very name: the list itself. 0, or a negative errno with a sentence.
 */
int cgroups_named(const char *list, const struct host_paths *host, struct str *names, struct str *err);

/* ---- topology.c: where a CPU sits; read only for the modes that print it ---- */
struct topology_cpu {
	int cpu, core, die, socket, node, cluster; /* -1: not known (then printed as 0, as perf does) */
	int cache_level, cache; /* of topology_read_caches(); the lowest CPU names a cache; 0, -1: there is none */
};
struct topology {
	struct topology_cpu *v; /* by cpu, ascending */
	size_t n;
};
int topology_read(struct topology *topology, const struct host_paths *host, struct str *err);
/*
 * The cache of this level that each CPU uses, 0: that of its highest level. At a level with two caches, of data and of
 * instructions, the first that sysfs has. -ENOENT with a sentence: no CPU has one.
 */
int topology_read_caches(struct topology *topology, int level, const struct host_paths *host, struct str *err);
/* The CPUs that share a cache, from a list such as "0-3,8": is `cpu` one of them? Then the cache is the CPU's. */
void topology_cpu_take_cache(struct topology_cpu *at, int wanted, int level, const char *shared_cpus);
/* 0, or -ENOENT with a sentence where no CPU has a cache of this level (0: of any). */
int topology_check_caches(const struct topology *topology, int wanted, struct str *err);
const struct topology_cpu *topology_find(const struct topology *topology, int cpu); /* NULL: not online */
void topology_release(struct topology *topology);

/* ---- open.c: events x CPUs x tasks ---- */
enum counter_state {
	COUNTER_OPEN,
	COUNTER_NOT_SUPPORTED, /* opened nowhere: err and reason say why */
	COUNTER_SOFTWARE, /* counted by pstat itself (event kind), has no fds */
	COUNTER_LEFT_OUT, /* never tried: the run was over before its turn came (stat --passes) */
};

struct counter {
	const struct event *event; /* borrowed from the list given to counters_open */
	struct perf_event_attr attr; /* as opened */
	char *name; /* event->name, or with ":u" added where only user mode could be had */
	enum counter_state state;
	int err; /* errno of the failure, 0 */
	char *call; /* the system call that failed, with its arguments as text for -v; or NULL */
	char *reason; /* a few words: "no counter unit on this machine"; NULL while there is none */
	char *remedy; /* one line, what to do; or NULL */
	struct intset cpus; /* CPUs opened on, in slot order; n 0: any CPU (one column of slots) */
	bool leaves_tasks; /* children and new threads should count, and this event cannot follow them */
	bool follows_tasks; /* cpus is not empty, and the slots are the target's threads on them */
	size_t n_cpus, n_threads; /* the shape of fds; n_cpus 1 where cpus is empty */
	int *fds; /* [n_cpus * n_threads], -1 where not open (a task that was gone already) */
	uint64_t *ids; /* private: the kernel's id of each, as reading learns it; 0: not known yet */
	size_t leader; /* index of the leader as opened: differs from the event's if a weak group broke */
	size_t n_members; /* leader only, as opened */
	bool never_waits; /* its group takes no counter of a unit: it counts whenever its task or cgroup runs */
	unsigned pass; /* counters of different passes never want the PMU at the same time; else 0 */
};

struct counter_set {
	struct counter *v; /* as many as events, same order */
	size_t n;
	const struct kern *kern;
	bool group_reads; /* PERF_FORMAT_GROUP is in use for leaders with members */
	struct layout *layout; /* private: what is open, as switching and reading need it */
	struct witnesses *witnesses; /* private: whether others ran than are counted; or NULL */
	struct removal *removal; /* private; NULL: nobody looks whether the kernel took counters away */
	struct note_list *notes; /* borrowed */
};

struct open_options {
	bool inherit; /* children count too */
	bool enable_on_exec; /* for a held command: counting starts with its exec */
	bool start_disabled; /* counters_enable() starts them; with neither they start when all are open */
	bool single_reads; /* no PERF_FORMAT_GROUP, as --per-thread and older kernels need */
	/*
	 * For samples: period, sample_type and read_format are the attr's own. Events for tracking
	 * (event.tracking) run from the moment they are opened, whatever the others wait for.
	 */
	bool sample;
	/* Tasks are opened on every online CPU: a ring that children write to belongs to one CPU. */
	bool per_cpu;
	const struct intset *task_cpus; /* with per_cpu: these CPUs and no others; NULL: all */
	/*
	 * Groups that may have to take turns on their PMU are opened in another order in each slot: this one of them
	 * first in the first slot, the next one in the next. Results stay in the order of the list. Give the
	 * number of the repeat. Samples and pinned events keep the order of the list.
	 */
	unsigned first_group;
	bool filters_later; /* counters_set_filters() is called before anything is enabled */
	bool leave_limits; /* the limit of open files stays as it is */
	/* Cgroups are read from the caller's CPU, maybe with too long an enabled time, and not each from its own. */
	bool leave_affinity;
};

/*
 * Opens what can be opened. An event that cannot is COUNTER_NOT_SUPPORTED with its reason: that is
 * no error. Errors are what ends the run: no file descriptors left (after the soft limit was raised
 * to what is needed), no event could be opened because the user may not, the target is gone.
 * Fallbacks (fallback.c) leave a note each.
 */
int counters_open(struct counter_set *set, const struct event_list *events,
		  const struct target *target, const struct open_options *options,
		  const struct kern *kern, struct note_list *notes, struct str *err);
void counters_close(struct counter_set *set);
/* The descriptors of counters that counters_open() opens for these events on this target, if all can be opened. */
size_t counters_plan_fds(const struct event_list *events, const struct target *target);
/*
 * Allows so many descriptors and `besides` more: raises the soft limit, where that is too low. -EMFILE and a sentence
 * with both numbers where the hard limit is too low.
 */
int files_allow(const struct kern *kern, size_t counters, size_t besides, struct str *err);
/*
 * The events' filters, as they are now: a descriptor takes one, once. A negative errno and a sentence where the kernel
 * does not understand one.
 */
int counters_set_filters(struct counter_set *set, struct str *err);
/* All groups but tracking events, which run on; -errno of the first that failed, after all were tried. */
int counters_enable(struct counter_set *set);
int counters_disable(struct counter_set *set);
/* The kernel's id of each open slot, appended to *ids; records name their event by it. */
int counter_add_ids(const struct counter_set *set, size_t index, uint64_t **ids, size_t *n);

/*
 * One open counter, changed while it counts: 0, or the negative errno of the first slot that failed.
 */
/* The filter of a tracepoint. A sentence where the kernel refuses it. */
int counter_set_filter(const struct counter_set *set, size_t index, const char *filter, struct str *err);
/* The period of samples, or the frequency where it was opened with one. */
int counter_set_period(const struct counter_set *set, size_t index, uint64_t period);
/* A BPF program, by its descriptor; of a tracepoint one slot takes it for all, and -EEXIST says that it has it. */
int counter_attach_bpf(const struct counter_set *set, size_t index, int program_fd);
/* Enabled for so many more overflows, and disabled by the kernel after them. */
int counter_refresh(const struct counter_set *set, size_t index, unsigned n);
/* The ids of the BPF programs of a tracepoint; max: of the room in ids. Returns how many there are. */
int counter_bpf_programs(const struct counter_set *set, size_t index, uint32_t *ids, size_t max);
/* The kernel's id of one open slot. */
int counter_slot_id(const struct counter_set *set, size_t index, size_t slot, uint64_t *id);

/* 0 if this machine counts the event for this user, else the negative errno of the attempt. */
int event_try(const struct event *event, const struct kern *kern);
/*
 * The same for samples: some PMUs count and cannot interrupt (EOPNOTSUPP). On failure *reason is a few
 * words, on the heap.
 */
int event_try_sample(const struct event *event, const struct kern *kern, char **reason);

/* ---- attr_defer.c: two bits of an attr that came with Linux 6.19 ---- */

enum {
	DEFER_CALLCHAIN = 1, /* samples leave the user's part of their callchain to a record that comes later */
	DEFER_OUTPUT = 2, /* these records, of all that this event sees, go into its ring */
};
/* Which of the two are set. The headers of this build may have no names for them. */
unsigned attr_defer(const struct perf_event_attr *attr);
void attr_set_defer(struct perf_event_attr *attr, unsigned bits);

/* ---- read.c ---- */
enum reading_state {
	READING_OK,
	READING_NOT_OPEN, /* this CPU or task has no counter: it was gone when the event was opened */
	READING_LOST_PIN, /* end-of-file: a pinned event that found no counter */
	READING_FAILED, /* err says why: the CPU went offline, a short read, ... */
};
struct reading {
	uint64_t value; /* raw count */
	uint64_t enabled_ns, running_ns; /* running < enabled: the counter was shared (multiplexed) */
	enum reading_state state;
	int err;
	bool others_ran; /* children or new threads of the task did, and are not in the value: leaves_tasks */
	uint64_t lost; /* records that found no room in the ring; 0 where the kernel does not say (before 6.0) */
	/* CPU time of its tasks that it did not see, as the kernel took it away (removal.c); 0: none that is known */
	uint64_t missed_ns;
	bool unverified; /* nothing else showed how long these tasks ran: whether it saw all is not known */
};
/* index into the set, slot's CPU (-1: any), index of the target's thread. */
typedef void (*reading_fn)(void *data, size_t index, int cpu, size_t thread,
			   const struct reading *reading);
/*
 * Reads every slot of every open counter, groups in one read each, and hands them over: CPU by CPU, thread by
 * thread, in the order of the list. Allocates nothing.
 */
void counters_read(const struct counter_set *set, reading_fn fn, void *data);

/*
 * Adds the CPUs on which counters of whole CPUs have stopped: a CPU that goes offline ends them for
 * good, also when it comes back. Events that the kernel moves (event_is_moved) do not tell. To be asked while
 * the counters are enabled.
 */
void counters_stopped_cpus(const struct counter_set *set, struct intset *cpus);

/* counters_read() for counters of one task, in the least time. */
struct quick_read; /* private: which descriptor has which values where */
/* The last reading's words of an event. */
struct quick_value {
	const uint64_t *value, *times; /* enabled and running, ns */
};
/* NULL: these counters are more than one task's on any CPU. The set stays where it is. The caller frees it. */
struct quick_read *quick_read_plan(const struct counter_set *set);
void quick_read_free(struct quick_read *quick); /* NULL is fine */
/* The places of the values, by event, of those that are open; the same for all readings, until freed. */
const struct quick_value *quick_read_values(const struct quick_read *quick);
/* False: something is not as always, and counters_read() has to be asked. */
bool quick_read(const struct quick_read *quick);

/* ---- removal.c: counters that the kernel takes away at an exec ---- */

/*
 * From now on readings say what the counters of tasks missed. To be called when they are open, before anything
 * runs. child: the command, where it is the target, and its name as it was started; or NULL. All but the target is
 * borrowed until the set is closed. Does nothing where whole CPUs are counted.
 */
void removal_watch(struct counter_set *set, const struct target *target, const struct child *child,
		 const char *command);
/* The command was let go, and its exec has enabled the counters. */
void removal_begin_at_exec(struct counter_set *set);
/* Reads the times of a command that has ended, before it is reaped: for the last time. */
void removal_look_at_ended(struct counter_set *set);
/*
 * Looks, if it is time to, at tasks that may end without a word. Returns when to look next, in ns of now_ns();
 * NEVER_NS: there is no need to.
 */
uint64_t removal_look(struct counter_set *set, uint64_t now);
/* The reason of readings with missed_ns: "the kernel takes counters away at ..."; NULL while there are none. */
const char *counters_removed_reason(const struct counter_set *set);

/*
 * True where a counter that was enabled for so long did not see all of a command that has ended: counted from its exec
 * on, with its children. Then a note says why.
 */
bool removal_of_command(struct counter_set *set, const struct rusage *usage, const char *command, uint64_t enabled_ns);

/* ---- ring.c: one mmap ring ---- */

/*
 * Layout: one page with the kernel's head and our tail, then a power of two of data pages. A record
 * may wrap. Read-only (overwrite) rings run backwards and are read once, as a snapshot.
 * Sources: perf_event_open(2) "MMAP layout", include/uapi/linux/perf_event.h.
 */
struct ring {
	struct perf_event_mmap_page *page; /* NULL while not mapped */
	unsigned char *data;
	uint64_t data_bytes; /* a power of two */
	size_t mapped_bytes;
	uint64_t tail; /* bytes below are released */
	int fd; /* of the event that owns the ring: poll it; borrowed */
	int cpu; /* -1: a task on any CPU */
	bool overwrite; /* tail is then where the newest record began at the last snapshot */
	const struct sys_ops *sys;
};
struct ring_span {
	const unsigned char *bytes;
	size_t n;
};
/* data_pages: a power of two. -EPERM: over the mlock limit; try a smaller one. */
int ring_map(struct ring *ring, const struct sys_ops *sys, int fd, int cpu, size_t data_pages,
	     bool overwrite);
void ring_unmap(struct ring *ring);
/*
 * The bytes that are ready, whole records only, in one or two spans (the second after the wrap);
 * returns their sum, 0 where head is at or below tail. Not for overwrite rings.
 */
size_t ring_ready(const struct ring *ring, struct ring_span span[2]);
/* Gives the first n ready bytes back to the kernel, after they were copied. */
void ring_release(struct ring *ring, size_t n);
/*
 * Overwrite rings, while paused: whole records that came since the last snapshot and are still there,
 * in one or two spans, newest first; returns their sum. Of a ring that is full the oldest may be torn and are
 * left out; so is all from a header on that makes no sense.
 */
size_t ring_snapshot(struct ring *ring, struct ring_span span[2]);
/* An overwrite ring takes no records while it is paused: they are lost, and counted as lost. */
int ring_pause(const struct ring *ring, bool pause);

/* ---- clock_moment.c: the clock of samples beside the time of day ---- */

/* One moment on both, to some microseconds: 0, or a negative errno where the kernel does not tell. */
int clock_moment(const struct sys_ops *sys, uint64_t *wall_ns, uint64_t *clock_ns);

/* ---- rings.c: the rings of a counter set ---- */

/*
 * One ring per CPU (per thread where counters have no CPU, and one more for overwrite events): the
 * first event's descriptor is mapped, all others write into it (PERF_EVENT_IOC_SET_OUTPUT).
 */
struct ring_set {
	struct ring *v;
	size_t n, cap;
	struct ring_fds *fds; /* private, one per ring: who writes into it */
	uint64_t data_bytes; /* of each ring, as obtained */
};
struct ring_options {
	uint64_t data_bytes; /* of each ring, rounded up to a power of two pages */
	uint64_t enough_bytes; /* less than data_bytes, but so much or more, is not worth a note */
};
/*
 * Maps all rings, all of one size: where the limit of locked memory does not allow it, half of it, and
 * so on, with a note. Negative errno and a sentence where not even one page each can be had.
 */
int rings_open(struct ring_set *rings, const struct counter_set *set,
	       const struct ring_options *options, struct str *err);
void rings_close(struct ring_set *rings);
/*
 * A descriptor to poll for this ring; after POLLHUP (its task and all its children have ended)
 * the next one that writes into it; -1 when there is no other.
 */
int rings_next_fd(struct ring_set *rings, size_t index);
/* The attr.wakeup_watermark that makes rings of this size report in time. */
uint32_t rings_watermark(uint64_t data_bytes);
/*
 * For each ring of these events, opened on this target, with open_options.per_cpu or not: 2 MiB; less where all
 * together would be over 64 MiB, down to 512 KiB for a CPU and 16 KiB for a thread, and room for two stack dumps.
 */
uint64_t rings_default_bytes(const struct event_list *events, const struct target *target,
			     bool per_cpu, const struct kern *kern);

/* ---- watch.c: what moves a run on: signals, ends of tasks, control commands, descriptors, points in time ---- */

/* Notes of signal handlers while a run goes on. A run without handlers has one that stays 0. */
struct run_stop {
	volatile sig_atomic_t signal; /* the first that asks for the end; 0 while none came */
	volatile sig_atomic_t count; /* how many came */
	volatile sig_atomic_t from_terminal; /* the last one's sender: the command has had it too */
	volatile sig_atomic_t snapshot; /* SIGUSR2 came; put back to 0 by who saw it */
};

/*
 * A wait for a signal, the end of the child or of the measured tasks, a line on the control descriptor, a ring, or a
 * point in time: the one that the caller waits for, and the end of the run.
 *
 * Signals are blocked while a run works and let in only while it waits, so that none is lost between a
 * look at a flag and the wait. The end of a task is seen at once through a pidfd, where the kernel
 * has them.
 *
 * Sources: pidfd_open(2), ppoll(2).
 */
struct watch {
	struct pollfd *fds; /* the control descriptor, or -1; who is written to, or -1; a pidfd per task; others */
	size_t n, cap;
	size_t n_tasks; /* pidfds */
	size_t n_alive; /* tasks whose pidfd has not yet shown their end */
	bool ask; /* some task has no pidfd: ask target_alive() now and then */
	uint64_t end_ns; /* of watch_duration; NEVER_NS: none, or it was seen */
	bool time_is_up;
	sigset_t outside; /* the signal mask of the caller */
	struct sigaction old_child; /* SIGCHLD's disposition outside */
};
/* Blocks SIGINT, SIGTERM, SIGHUP, SIGUSR2 and SIGCHLD (which ends a wait). */
void watch_begin(struct watch *watch, int control_fd);
/* From now on the end of these tasks is watched too. */
void watch_tasks(struct watch *watch, const struct target *target);
/* Restores signals, closes pidfds. Safe on a zeroed watch that was never begun. */
void watch_end(struct watch *watch);
/* Waits for anything, at most until until_ns (CLOCK_MONOTONIC; UINT64_MAX: no limit). */
void watch_wait(struct watch *watch, uint64_t until_ns);
/* Time is up so long from now; 0: never. A wait ends then, and later ones are as long as they are asked to be. */
void watch_duration(struct watch *watch, uint64_t duration_ns);
bool watch_time_is_up(struct watch *watch);
/* The last wait saw something on the control descriptor. */
bool watch_control_ready(const struct watch *watch);
/* From now on a wait ends when this descriptor can take something; -1: no more. */
void watch_for_writing(struct watch *watch, int fd);
/* The last wait saw that it can, or that its other end is gone. */
bool watch_may_write(const struct watch *watch);
/* Stops looking at the control descriptor: its other end is gone. */
void watch_forget_control(struct watch *watch);
/* All tasks given to watch_tasks have ended. */
bool watch_tasks_ended(const struct watch *watch, const struct target *target);
/* After watch_tasks: one more descriptor to read from (borrowed; -1: none yet). Returns its slot. */
size_t watch_fd(struct watch *watch, int fd);
/* Events that the last wait saw on it: POLLIN, POLLHUP, ... or 0. */
short watch_seen(const struct watch *watch, size_t slot);

/*
 * The lines that --control brings. A line may come in pieces. Each that was carried out is answered with "ack" and a
 * newline on the second descriptor, if there is one.
 */
struct control {
	int fd, ack_fd; /* -1: none; borrowed */
	struct str line; /* what has come of an unfinished line */
};
#define CONTROL_INIT { -1, -1, STR_INIT }

/* One command of a line. run returns 0: done, answer it; negative errno: not done. */
struct control_command {
	const char *name; /* NULL ends the table */
	bool takes_words; /* more may follow the name, after a space */
	int (*run)(void *data, const char *words); /* words: what follows, or "" */
};
/*
 * Reads once (the descriptor must be readable) and carries out all finished lines. False when the
 * other end is gone. Lines that are no command leave a note.
 */
bool control_read(struct control *control, const struct control_command *commands, void *data,
		  struct note_list *notes);
void control_release(struct control *control);

/* The clock of -I. */

#define NEVER_NS UINT64_MAX

/*
 * Ticks are multiples of the interval since the start, so that being late once does not move those
 * that follow; ticks that were missed altogether are left out. Times in ns.
 */
struct ticker {
	uint64_t interval_ns; /* 0: never ticks */
	uint64_t next_ns; /* NEVER_NS: does not tick */
};
/* The first tick is one interval after now_ns. */
void ticker_start(struct ticker *ticker, uint64_t now_ns, uint64_t interval_ns);
void ticker_stop(struct ticker *ticker);
/* Has a tick been reached? Then the next one is after now_ns. */
bool ticker_due(struct ticker *ticker, uint64_t now_ns);

/* ---- probe_events.c: probes that are set up in tracefs ---- */

enum probe_target { PROBE_PROGRAM, PROBE_KERNEL }; /* uprobe_events, kprobe_events */
/* Appends the kernel's list; -ENOENT and others with a sentence of two lines, the second what to do. */
int probe_events_read(const struct host_paths *host, enum probe_target target, struct str *list, struct str *err);
/*
 * Adds or removes probes: lines "p:GROUP/EVENT ...", "r:GROUP/EVENT ..." or "-:GROUP/EVENT", without their end. A
 * negative errno with what the kernel says of the line, where it says something.
 */
int probe_events_write(const struct host_paths *host, enum probe_target target, const char *line, struct str *err);
/*
 * Holds the breakpoints of an event of PROBE_PROGRAM in all processes that run its file, until the descriptor that it
 * returns is closed; a negative errno. Without that Linux takes them out of a process that has no event of its own, and
 * finds out wrongly where the scheduler has exchanged the events of two tasks, which have the same, and one ended.
 */
int probe_event_hold(const struct kern *kern, const char *group, const char *event);

/* ---- reason.c: errno -> words, the only place that knows them ---- */
/*
 * Why an open counter never ran or why a group could not be scheduled, found by asking the machine
 * ("9 events for 7 counters"). Heap string; NULL where nothing better than the state is known.
 */
char *counter_never_ran_reason(const struct counter_set *set, size_t index, const struct reading *sum);
/* The reason of an event without enabled time, by what it counts alone: for recorded counts. Static text. */
const char *event_never_enabled(const struct event *event, bool on_cpus);

/* ---- facts.c: what this machine and this user can measure ---- */
enum fact_state { FACT_GOOD, FACT_LIMITED, FACT_MISSING };
struct fact {
	const char *name; /* "paranoid level", "core PMU", ...; static text */
	char *value; /* one line */
	enum fact_state state;
	char *remedy; /* the one command that mends it, or NULL: none is needed or none is known */
};
struct fact_list {
	struct fact *v;
	size_t n, cap;
};
/* Everything `pstat doctor` prints, in its order. Tries, does not guess. */
void facts_collect(struct fact_list *facts, const struct kern *kern);
void fact_list_release(struct fact_list *facts);

/* perf_event_paranoid, or 2 where it cannot be read. */
int perf_paranoid(const struct host_paths *host);
/* CAP_PERFMON or CAP_SYS_ADMIN in the effective set (/proc/self/status). */
bool may_profile_all(const struct host_paths *host);

/* Whether this process sees where the kernel's functions are, and what would let it. (privilege.c) */
struct kernel_symbols {
	bool there; /* there is a list of them */
	bool hidden; /* its addresses are zeros for this process */
	bool rights_help; /* it would be shown to root, or with CAP_SYSLOG */
	uint64_t kptr_restrict;
	const char *remedy; /* what shows them to this user; static text; NULL: nothing is hidden */
};
void kernel_symbols_look(struct kernel_symbols *symbols, const struct host_paths *host);

/* ---- counter_capacity.c: which counters events take, and what they hold ---- */
/* Do both take counters of one PMU, or both breakpoints? Of one event: does it take one at all? */
bool events_share_counters(const struct event *a, const struct event *b);
/*
 * Can these events, which share counters, run at the same time now and for this user? Tried by opening
 * them as one pinned group on pstat itself, or on the CPU of a PMU that counts for CPUs. What does not
 * open even by itself is left out.
 */
bool events_fit(const struct event *const *events, size_t n, const struct kern *kern);
/* How many counters n events find on the PMU of this one; 0 where that is not known. */
int event_counters(const struct event *event, size_t n, const struct kern *kern);

/*
 * How many counters of the PMU are free for general events, found by opening pinned events and
 * reading them; -errno where nothing can be opened on it, -ENOTSUP where a PMU has no such notion
 * (software, tracepoint, ...).
 */
int pmu_free_counters(const struct event_pmu *pmu, const struct kern *kern);
/*
 * Besides these a core PMU may have counters that take one event only (x86: instructions, cycles,
 * ref-cycles; Arm: cycles). A PMU may name its counters otherwise: what counts is what opens.
 */
struct pmu_counters {
	int general; /* for any event; as pmu_free_counters() */
	int own; /* for one event each */
	const char *own_names[3]; /* static */
};
/* 0, or negative as pmu_free_counters(). */
int pmu_counters_find(const struct event_pmu *pmu, const struct kern *kern,
		      struct pmu_counters *counters);
/* How many counters `n` events did not find: with the own ones where even these are too few. */
int pmu_counters_short_for(const struct pmu_counters *counters, size_t n);
/* "4 free", "7 free: 6 for any event, 1 for cycles" */
void pmu_counters_format(const struct pmu_counters *counters, const char *free_word,
			 struct str *out);

#endif
