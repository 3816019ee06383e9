/*
 * privilege: what this process may do: capabilities, paranoid level, seccomp, and the one command
 * that would help where something is refused. Private to kern/.
 *
 * Sources: capabilities(7), proc(5), Documentation/admin-guide/perf-security.rst.
 */
#ifndef PSTAT_PRIVILEGE_H
#define PSTAT_PRIVILEGE_H

#include "kern/kern.h"

#include <linux/capability.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8; older headers lack these two */
#define CAP_BPF 39
#endif

enum { SECCOMP_FILTER = 2 };

/* From /proc/self/status; all zero where it cannot be read. */
struct privilege {
	uint64_t effective; /* capability bits, 1 << CAP_x */
	unsigned uid; /* effective user id */
	bool is_root; /* it is known, and 0 */
	int seccomp; /* 0 off, 1 strict, SECCOMP_FILTER */
};
void privilege_read(struct privilege *privilege, const struct host_paths *host);
bool privilege_has(const struct privilege *privilege, int capability);
/* True for root without the capabilities of root, as in a container: "become root" is then no advice. */
bool privilege_is_bare_root(const struct privilege *privilege);

/* The user id that owns a task, or -1 where it cannot be known. */
long task_owner(const struct host_paths *host, pid_t tid);

/*
 * The command that lets this user do what paranoid level `level` allows: the sysctl where lowering
 * it would help, else the way to CAP_PERFMON. A root without capabilities may not write the sysctl in its
 * container, and gets no capability from a file. Static text.
 */
const char *privilege_remedy(const struct privilege *privilege, int paranoid, int level);

#endif
