/* SPDX-License-Identifier: MIT */
/*
 * Runs a command as on an older kernel: system calls, values of their arguments and bits of perf_event_attr that came
 * later are refused as that kernel refuses them. What is not played: what the kernel shows in /proc and /sys.
 *
 *	old_kernel 4.9 COMMAND [ARGUMENT...]
 *
 * System calls are refused by a seccomp filter. Those of perf_event_open(2) go to a second process, which reads the
 * attr. Exit status 77: this kernel cannot do that; else the command's.
 *
 * Source: seccomp(2), seccomp_unotify(2), include/uapi/linux/perf_event.h and bpf.h of each version.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERSION(major, minor) ((major) * 100 + (minor))

/* Calls that fail with that error: all, or those alone that have the value in the low 32 bits of an argument. */
static const struct {
	int since;
	long nr;
	int argument; /* from 0; -1: whatever they are */
	unsigned value;
	unsigned short error; /* 0: it succeeds, and does nothing */
} calls[] = {
#define CALL(name) SYS_##name, -1, 0, ENOSYS
#define BPF(command) SYS_bpf, 0, command, EINVAL
#define ADVICE(n) SYS_madvise, 2, n, EINVAL
	{ VERSION(4, 11), CALL(statx) },
	{ VERSION(4, 14), ADVICE(18) }, /* MADV_WIPEONFORK */
	{ VERSION(4, 16), SYS_ioctl, 1, PERF_EVENT_IOC_QUERY_BPF, ENOTTY },
	{ VERSION(4, 18), BPF(BPF_BTF_LOAD) },
	{ VERSION(4, 18), CALL(rseq) },
	{ VERSION(5, 1), CALL(io_uring_setup) },
	{ VERSION(5, 1), CALL(pidfd_send_signal) },
	{ VERSION(5, 2), BPF(BPF_MAP_FREEZE) },
	{ VERSION(5, 3), CALL(clone3) },
	{ VERSION(5, 3), CALL(pidfd_open) },
	{ VERSION(5, 6), BPF(BPF_MAP_LOOKUP_BATCH) },
	{ VERSION(5, 6), BPF(BPF_MAP_LOOKUP_AND_DELETE_BATCH) },
	{ VERSION(5, 6), CALL(openat2) },
	{ VERSION(5, 6), CALL(pidfd_getfd) },
	{ VERSION(5, 8), CALL(faccessat2) },
	{ VERSION(5, 8), SYS_statx, 3, 0x1000, 0 }, /* STATX_MNT_ID alone: what it does not know is not in the answer */
	{ VERSION(5, 9), CALL(close_range) },
	{ VERSION(5, 11), CALL(epoll_pwait2) },
	{ VERSION(5, 14), ADVICE(22) }, /* MADV_POPULATE_READ */
	{ VERSION(5, 14), ADVICE(23) }, /* MADV_POPULATE_WRITE */
	{ VERSION(5, 18), BPF(BPF_RAW_TRACEPOINT_OPEN) }, /* of sched_switch, with how the thread leaves */
	{ VERSION(6, 9), SYS_pidfd_open, 1, O_EXCL, EINVAL }, /* PIDFD_THREAD */
	{ VERSION(6, 12), SYS_sched_setattr, -1, 0, 0 }, /* of a slice for SCHED_OTHER: it was not looked at */
};

static const struct {
	int since;
	size_t offset;
	uint64_t bit;
} bits[] = {
#define FLAG(n) 40, 1ULL << (n)
#define SAMPLE(n) offsetof(struct perf_event_attr, sample_type), 1ULL << (n)
#define BRANCH(n) offsetof(struct perf_event_attr, branch_sample_type), 1ULL << (n)
#define FORMAT(n) offsetof(struct perf_event_attr, read_format), 1ULL << (n)
	{ VERSION(4, 12), FLAG(28) }, /* namespaces */
	{ VERSION(4, 14), SAMPLE(19) }, /* physical addresses */
	{ VERSION(5, 1), FLAG(29) }, /* ksymbol */
	{ VERSION(5, 1), FLAG(30) }, /* bpf_event */
	{ VERSION(5, 4), FLAG(31) }, /* aux_output */
	{ VERSION(5, 5), SAMPLE(20) }, /* AUX */
	{ VERSION(5, 7), FLAG(32) }, /* cgroup */
	{ VERSION(5, 7), SAMPLE(21) },
	{ VERSION(5, 7), BRANCH(17) }, /* HW_INDEX */
	{ VERSION(5, 8), FLAG(33) }, /* text_poke */
	{ VERSION(5, 11), SAMPLE(22) }, /* page sizes: data, code */
	{ VERSION(5, 11), SAMPLE(23) },
	{ VERSION(5, 12), SAMPLE(24) }, /* WEIGHT_STRUCT */
	{ VERSION(5, 12), FLAG(34) }, /* build_id */
	{ VERSION(5, 13), FLAG(35) }, /* inherit_thread */
	{ VERSION(5, 13), FLAG(36) }, /* remove_on_exec */
	{ VERSION(5, 13), FLAG(37) }, /* sigtrap */
	{ VERSION(6, 0), FORMAT(4) }, /* LOST */
	{ VERSION(6, 1), BRANCH(18) }, /* PRIV_SAVE */
	{ VERSION(6, 8), BRANCH(19) }, /* COUNTERS */
	{ VERSION(6, 19), FLAG(38) }, /* defer_callchain */
	{ VERSION(6, 19), FLAG(39) }, /* defer_output */
};

static int version;

static int answer(const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		uint64_t word;

		memcpy(&word, (const char *)attr + bits[i].offset, sizeof(word));
		if (bits[i].since > version && word & bits[i].bit)
			return -EINVAL;
	}
	/* A group is read with its children since 4.13, a sample has counts of children since 6.12. */
	if (attr->inherit && ((version < VERSION(4, 13) && attr->read_format & PERF_FORMAT_GROUP) ||
			      (version < VERSION(6, 12) && attr->sample_type & PERF_SAMPLE_READ)))
		return -EINVAL;
	if (version < VERSION(5, 13) && attr->type == PERF_TYPE_SOFTWARE && attr->config == 11) /* cgroup-switches */
		return -ENOENT;
	return 0;
}

static void serve(int listener)
{
	struct seccomp_notif ask;
	struct perf_event_attr attr;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct seccomp_notif_resp reply = { 0 };
		struct iovec to = { &attr, sizeof(attr) }, from;

		memset(&ask, 0, sizeof(ask));
		memset(&attr, 0, sizeof(attr));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask)) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			err(2, "SECCOMP_IOCTL_NOTIF_RECV");
		}
		from = (struct iovec){ (void *)(uintptr_t)ask.data.args[0], sizeof(attr) };
		if (process_vm_readv((pid_t)ask.pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(attr))
			memset(&attr, 0, sizeof(attr)); /* the kernel will say what is wrong with the address */
		reply.id = ask.id;
		reply.error = answer(&attr);
		reply.flags = reply.error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply) && errno != ENOENT)
			err(2, "SECCOMP_IOCTL_NOTIF_SEND");
	}
}

static struct sock_filter filter[256];
static unsigned short n_filter;

static void add(struct sock_filter instruction)
{
	filter[n_filter++] = instruction;
}

/* If FIELD is not `value`, the next n instructions are left out. */
static void add_unless(size_t field, unsigned value, unsigned char n)
{
	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)field));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n));
}

static void add_return(unsigned what)
{
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static int make_filter(void)
{
	const size_t nr = offsetof(struct seccomp_data, nr), arguments = offsetof(struct seccomp_data, args);
	struct sock_fprog program = { .filter = filter };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (calls[i].since <= version)
			continue;
		add_unless(nr, (unsigned)calls[i].nr, calls[i].argument < 0 ? 1 : 3);
		if (calls[i].argument >= 0)
			add_unless(arguments + (size_t)calls[i].argument * 8, calls[i].value, 1);
		add_return(SECCOMP_RET_ERRNO | calls[i].error);
	}
	add_unless(nr, SYS_perf_event_open, 1);
	add_return(SECCOMP_RET_USER_NOTIF);
	add_return(SECCOMP_RET_ALLOW);
	program.len = n_filter;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

int main(int argc, char **argv)
{
	int major, minor, made[2], go[2], listener = -1, status;
	pid_t command, server;

	if (argc < 3 || sscanf(argv[1], "%d.%d", &major, &minor) != 2)
		errx(2, "a version and a command are missing");
	version = VERSION(major, minor);
	if (pipe2(made, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		err(2, "pipe");
	/* Descriptors are shared until the command's exec closes its own: so the listener is here as well. */
	command = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (command < 0)
		err(2, "clone");
	if (!command) {
		char byte;

		listener = make_filter();
		if (write(made[1], &listener, sizeof(listener)) != sizeof(listener) || listener < 0 ||
		    unshare(CLONE_FILES) || read(go[0], &byte, 1) != 1)
			_exit(77);
		execvp(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}
	if (read(made[0], &listener, sizeof(listener)) != sizeof(listener) || listener < 0)
		errx(77, "this kernel has no filters of system calls that ask another process");
	server = fork();
	if (server < 0)
		err(2, "fork");
	if (!server)
		serve(listener);
	if (write(go[1], "", 1) != 1)
		err(2, "write");
	if (waitpid(command, &status, 0) != command)
		err(2, "waitpid");
	kill(server, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
