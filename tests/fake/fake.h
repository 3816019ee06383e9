/* SPDX-License-Identifier: MIT */
/*
 * fake: a kernel that a script plays, so that hardware events, fallbacks and errors are tested on any
 * machine. pstat-fake is pstat with this behind the seam (struct sys_ops); everything above is real.
 *
 *   FAKE_SCRIPT  what the kernel does; see below            FAKE_LOG  where each call is written
 *   FAKE_SYSFS FAKE_PROCFS FAKE_TRACEFS  trees in place of /sys, /proc, /sys/kernel/tracing
 *
 * A script line is a rule or a setting; '#' begins a comment. A rule is words key=value: conditions and
 * what happens if all hold. The first rule that fits a call decides.
 *   conditions   fields of perf_event_attr, pid (C: the child, S: pstat itself), cpu, group, flags,
 *                member=1 (joins a group), nth=N (the N-th perf_event_open from 1)
 *   what happens errno=ENOENT    the open fails
 *                value= enabled= running=    what a read gives
 *                read=EOF, read=EIO          what a read gives instead
 *                enable=EINVAL, filter=EINVAL    that ioctl fails
 * Settings stand alone on their line:
 *   counters=N          a core PMU has N: a group of more fails with EINVAL, pinned events beyond it
 *                       read end-of-file, and more single ones share the time
 *   hw_types=8,10       types of core PMUs besides hardware, cache and raw
 *   path_types=9        types whose config1 points to text (kprobe, uprobe)
 *   core_type=4:0-1:500000  a core type of a hybrid machine, a line each: the type of its PMU, its CPUs,
 *                       and the ns that every task spends on them
 * On a hybrid machine an event with a core type (attr.type or the upper half of config; the first core type
 * where neither names one) opens on the CPUs of its type alone, in groups of its type alone. Every task
 * runs the times of all core types one after another: that is the enabled time of all its events, and an event
 * runs, and counts its value=, while the task is on its type.
 *   nofile=SOFT:HARD    RLIMIT_NOFILE; opens beyond the soft limit fail with EMFILE
 *
 * The log has one line per call, descriptors numbered from 0 in the order of opening:
 *   open pid=C cpu=-1 group=-1 flags=CLOEXEC type=0 config=0x1 read_format=ENABLED|RUNNING disabled = 0
 *   open pid=C cpu=-1 group=-1 flags=CLOEXEC type=0 config=0 ... = ENOENT
 *   enable 0 group | disable 0 | reset 0 | filter 0 'text' | close 0
 */
#ifndef PSTAT_FAKE_H
#define PSTAT_FAKE_H

#include "kern/kern.h"

struct fake_call { /* perf_event_open's arguments */
	const struct perf_event_attr *attr;
	pid_t pid;
	int cpu, group; /* group: number of the leader, -1 */
	unsigned long flags;
	unsigned nth;
};

struct fake_outcome {
	int open_errno, read_errno, enable_errno, filter_errno; /* 0: succeeds */
	bool read_eof, has_value, has_enabled, has_running;
	uint64_t value, enabled_ns, running_ns;
};

struct fake_core_type {
	uint32_t type;
	struct intset cpus;
	uint64_t task_ns; /* that a task spends on these CPUs */
};

enum { FAKE_CORE_TYPES = 4 };

struct fake_settings {
	unsigned counters; /* 0: as many as asked for */
	uint64_t hw_types, path_types; /* bit n: type n */
	struct fake_core_type core_types[FAKE_CORE_TYPES];
	size_t n_core_types; /* 0: all CPUs are equal */
	struct rlimit nofile;
};

/* Ends the program with a sentence if the script is wrong: a test must not go on by chance. */
void fake_script_read(const char *path);
const struct fake_settings *fake_settings(void);
/* What the first rule that fits says; all zero if none does. */
struct fake_outcome fake_script_outcome(const struct fake_call *call);

/* True for the child that pstat forked. */
bool fake_is_child(pid_t pid);
/* Every field that is not zero, by name. */
void fake_log_attr(struct str *line, const struct perf_event_attr *attr);
const char *fake_errno_name(int err);

void fake_log_open(const char *path);
extern const struct sys_ops fake_sys;

#endif
