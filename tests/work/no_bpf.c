/* SPDX-License-Identifier: MIT */
/*
 * Runs a command to which bpf(2) is refused by a seccomp filter.
 *
 *	no_bpf all COMMAND [ARGUMENT...]       all of it, with EPERM, as containers do it
 *	no_bpf program COMMAND [ARGUMENT...]   programs, with EPERM, as a kernel that is locked down: maps can be made
 *	no_bpf btf COMMAND [ARGUMENT...]       descriptions of types, with EINVAL, as a kernel that is built without BTF
 *
 * Source: seccomp(2), bpf(2), kernel_lockdown(7).
 */
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct refusal {
	const char *name;
	int command, code;
} refusals[] = {
	{ "all", -1, EPERM },
	{ "program", BPF_PROG_LOAD, EPERM },
	{ "btf", BPF_BTF_LOAD, EINVAL },
};

static const struct refusal *find(const char *name)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (!strcmp(refusals[i].name, name))
			return &refusals[i];
	errx(2, "%s: all, program or btf", name);
}

int main(int argc, char **argv)
{
	const struct refusal *refusal = argc > 2 ? find(argv[1]) : NULL;

	if (!refusal)
		errx(2, "a command is missing");

	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		/* The command is the low half of an argument; of "all" each goes the way of the one asked for. */
		BPF_JUMP(BPF_JMP | (refusal->command < 0 ? BPF_JGE : BPF_JEQ) | BPF_K,
			 refusal->command < 0 ? 0 : (unsigned)refusal->command, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)refusal->code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		err(77, "seccomp");
	execvp(argv[2], argv + 2);
	err(127, "%s", argv[2]);
}
