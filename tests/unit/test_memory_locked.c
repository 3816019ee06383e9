/* SPDX-License-Identifier: MIT */
/*
 * Memory that is locked as far as RLIMIT_MEMLOCK allows, and present when that is asked for: with less room, with
 * none, beside what is locked already, for a privileged user, and on a kernel that cannot make pages present by itself.
 *
 * Each case runs in a child: limits, rights and the kernel's age are lowered for it alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory_locked.h"
#include "util/util.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 37, MADVISE_POPULATE = 23 };

static size_t page;

/* How the child is to be, and what it found. Shared with it. */
static struct trial {
	size_t limit_pages;
	size_t locked_before; /* pages of other memory */
	bool privileged, old_kernel;
	size_t bytes; /* 0: all PAGES */
	/* found: */
	bool ran, kept, can_lock_more;
	size_t locked, present_before, present_locked, present, vm_locked;
} *trial;

static int setup(void **state)
{
	(void)state;
	page = (size_t)sysconf(_SC_PAGESIZE);
	trial = mmap(NULL, sizeof(*trial), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return trial == MAP_FAILED;
}

static int teardown(void **state)
{
	(void)state;
	return munmap(trial, sizeof(*trial));
}

static void *new_pages(size_t n)
{
	return mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static size_t present(void *memory)
{
	unsigned char states[PAGES];
	size_t n = 0;

	if (mincore(memory, PAGES * page, states))
		return 0;
	for (size_t i = 0; i < PAGES; i++)
		n += states[i] & 1;
	return n;
}

/* "VmLck:" of proc_pid_status(5), in pages. */
static size_t vm_locked(void)
{
	struct str text = STR_INIT;
	size_t kib = 0;
	const char *at;

	if (!read_text_file("/proc/self/status", &text) && (at = strstr(text.s, "\nVmLck:")) != NULL)
		kib = strtoul(at + 7, NULL, 10);
	str_release(&text);
	return kib * 1024 / page;
}

/* madvise(MADV_POPULATE_WRITE) is then what a kernel before 5.14 has never heard of. */
static int make_kernel_old(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADVISE_POPULATE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int become_the_user(void)
{
	struct rlimit limit = { trial->limit_pages * page, trial->limit_pages * page };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return -1;
	return !trial->privileged && !geteuid() && setresuid(65534, 65534, 65534);
}

static void run_in_child(void)
{
	size_t bytes = trial->bytes ? trial->bytes : PAGES * page;
	unsigned char *memory = new_pages(PAGES), *other = new_pages(PAGES);

	if (memory == MAP_FAILED || other == MAP_FAILED || become_the_user() ||
	    (trial->old_kernel && make_kernel_old()) ||
	    (trial->locked_before && mlock(other, trial->locked_before * page)))
		return;
	/* In the middle, so that the pages around it are not there yet. */
	memory[5 * page + 7] = 'x';
	trial->present_before = present(memory);
	trial->locked = memory_lock(memory, bytes);
	trial->present_locked = present(memory);
	memory_make_present(memory, bytes);
	trial->present = present(memory);
	trial->kept = memory[5 * page + 7] == 'x' && !memory[0];
	trial->vm_locked = vm_locked();
	trial->can_lock_more = !mlock(other + trial->locked_before * page, page);
	trial->ran = true;
}

/* Sanitizers answer mlock(2) themselves, and lock nothing. */
static bool mlock_is_true(void)
{
	void *memory = new_pages(1);
	bool is_true = mlock(memory, page) || vm_locked() > 0;

	munmap(memory, page);
	return is_true;
}

static void try(struct trial how)
{
	int status;
	pid_t pid;

	if (!mlock_is_true()) {
		print_message("# skip: a sanitizer stands before mlock\n");
		skip();
	}
	*trial = how;
	pid = fork();
	if (!pid) {
		run_in_child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(trial->ran);
	assert_in_range(trial->present_before, 1, PAGES - 1);
	assert_true(trial->kept);
	assert_int_equal(trial->present_locked, trial->present_before);
}

static void as_far_as_the_limit(void **state)
{
	(void)state;
	for (size_t limit = 0; limit <= PAGES; limit++) {
		try((struct trial){ .limit_pages = limit });
		assert_int_equal(trial->locked, limit * page);
		assert_int_equal(trial->vm_locked, limit);
		assert_int_equal(trial->present, PAGES);
		assert_false(trial->can_lock_more);
	}
	try((struct trial){ .limit_pages = PAGES + 1 });
	assert_int_equal(trial->locked, PAGES * page);
	assert_true(trial->can_lock_more);
}

static void beside_what_is_locked(void **state)
{
	(void)state;
	try((struct trial){ .limit_pages = 20, .locked_before = 7 });
	assert_int_equal(trial->locked, 13 * page);
	assert_int_equal(trial->vm_locked, 20);
	assert_int_equal(trial->present, PAGES);
}

static void part_of_a_page(void **state)
{
	(void)state;
	try((struct trial){ .limit_pages = 20, .bytes = 20 * page - 1 });
	assert_int_equal(trial->locked, 20 * page - 1);
	assert_in_range(trial->present, 20, PAGES);
	try((struct trial){ .limit_pages = 20, .bytes = 20 * page + 1 });
	assert_int_equal(trial->locked, 20 * page);
	assert_in_range(trial->present, 21, PAGES);
}

static void older_kernels(void **state)
{
	(void)state;
	try((struct trial){ .limit_pages = 3, .old_kernel = true });
	assert_int_equal(trial->locked, 3 * page);
	assert_int_equal(trial->present, PAGES);
}

/* CAP_IPC_LOCK is what root has, if nobody took it. */
static void privileged(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("# skip: only root may lock more than the limit\n");
		skip();
	}
	try((struct trial){ .limit_pages = 3, .privileged = true });
	if (!trial->can_lock_more) {
		print_message("# skip: this root has no CAP_IPC_LOCK\n");
		skip();
	}
	assert_int_equal(trial->locked, PAGES * page);
	assert_int_equal(trial->vm_locked, PAGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_far_as_the_limit),
		cmocka_unit_test(beside_what_is_locked),
		cmocka_unit_test(part_of_a_page),
		cmocka_unit_test(older_kernels),
		cmocka_unit_test(privileged),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
