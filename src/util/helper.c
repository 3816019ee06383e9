/* SPDX-License-Identifier: MIT */
/*
 * helper.c: see helper.h. A helper holds nothing that somebody waits for: a pipe after pstat, a file that is being
 * written, the socket of another helper.
 */
#include "util/helper.h"

#include "util/util.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- packets, for both ends ---- */

static int send_packet(int socket, const void *bytes, size_t n, int fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, n };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *header;

		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* How many bytes came, or -errno; *fd: the descriptor beside them, or -1. */
static ssize_t receive_packet(int socket, void *bytes, size_t n, int *fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { bytes, n };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header;

	*fd = -1;
	if (got < 0)
		return -errno;
	/* There is no header if this process had no descriptor left. */
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return got;
}

/* ---- the helper's own side ---- */

static void close_all_but(int fd)
{
	struct rlimit limit;

#ifdef SYS_close_range
	if ((!fd || !syscall(SYS_close_range, 0U, (unsigned)fd - 1, 0U)) &&
	    !syscall(SYS_close_range, (unsigned)fd + 1, ~0U, 0U))
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > 1 << 20)
		limit.rlim_cur = 1 << 20;
	for (int i = 0; i < (int)limit.rlim_cur; i++)
		if (i != fd)
			close(i);
}

static void serve(int socket, const struct helper_work *work, atomic_uint *signs)
{
	char *bytes = xmalloc(work->question_max + 1);
	void *answer = xmalloc(work->answer_bytes);
	struct helper_question question = { .bytes = bytes, .signs = signs };
	ssize_t got;
	int fd, rc;

	while ((got = receive_packet(socket, bytes, work->question_max, &question.beside, 0)) > 0) {
		bytes[got] = '\0';
		question.n = (size_t)got;
		memset(answer, 0, work->answer_bytes);
		fd = work->answer(work->data, &question, answer);
		rc = send_packet(socket, answer, work->answer_bytes, fd, 0);
		if (fd >= 0)
			close(fd);
		if (question.beside >= 0)
			close(question.beside);
		if (rc)
			break;
	}
	_exit(0);
}

/* ---- this side ---- */

static int start(struct helper *helper, const struct helper_work *work)
{
	sigset_t all, before;
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	/* No signal is for the helper, and no handler may run in it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	helper->pid = fork();
	rc = helper->pid < 0 ? -errno : 0;
	if (!helper->pid) {
		close_all_but(pair[1]);
		serve(pair[1], work, helper->signs);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(pair[1]);
	helper->socket = pair[0];
	if (rc)
		close(pair[0]);
	return rc;
}

int helper_start(struct helper *helper, const struct helper_work *work)
{
	void *page = mmap(NULL, sizeof(*helper->signs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	*helper = (struct helper){ .socket = -1 };
	if (page == MAP_FAILED)
		return -errno;
	helper->signs = page;
	rc = start(helper, work);
	if (!rc)
		return 0;
	munmap(page, sizeof(*helper->signs));
	*helper = (struct helper){ .socket = -1 };
	return rc;
}

/* The helper turns to another question. */
static void begin_question(struct helper *helper)
{
	helper->begin_ns = helper->sign_ns = now_ns();
	helper->signs_seen = atomic_load(helper->signs);
}

int helper_ask(struct helper *helper, const void *question, size_t n, int fd)
{
	int rc = send_packet(helper->socket, question, n, fd, MSG_DONTWAIT);

	if (!rc && !helper->n_unanswered++)
		begin_question(helper);
	return rc;
}

int helper_take_answer(struct helper *helper, void *answer, size_t n, int *fd)
{
	ssize_t got = receive_packet(helper->socket, answer, n, fd, MSG_DONTWAIT);

	if (got == (ssize_t)n) {
		helper->n_unanswered--;
		begin_question(helper);
		return 1;
	}
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return got == -EAGAIN || got == -EINTR ? 0 : got < 0 ? (int)got : -EPIPE;
}

/* Is it at work, or would it be if it got a CPU? False where it waits for something, and where /proc does not tell. */
static bool is_runnable(const struct helper *helper)
{
	char *path = xasprintf("/proc/%d/stat", (int)helper->pid);
	struct str stat = STR_INIT;
	/* "12 (a name) R 1 ...", where anything may be in the name. */
	const char *name_end = read_text_file(path, &stat) ? NULL : strrchr(stat.s, ')');
	bool runnable = name_end && !strncmp(name_end, ") R ", 4);

	str_release(&stat);
	free(path);
	return runnable;
}

bool helper_is_stuck(struct helper *helper, uint64_t patience_ns, uint64_t total_ns)
{
	unsigned signs = atomic_load(helper->signs);
	uint64_t now = now_ns();

	if (!helper->n_unanswered)
		return false;
	if (signs != helper->signs_seen) {
		helper->signs_seen = signs;
		helper->sign_ns = now;
	}
	if (now >= helper->begin_ns + total_ns)
		return true;
	if (now < helper->sign_ns + patience_ns)
		return false;
	/* On a busy machine it is no file system that it waits for. */
	if (!is_runnable(helper))
		return true;
	helper->sign_ns = now;
	return false;
}

void helper_leave(struct helper *helper)
{
	close(helper->socket);
	/* The helper may still wait when this process is long gone; the page is then its own. */
	munmap(helper->signs, sizeof(*helper->signs));
	kill(helper->pid, SIGKILL);
	waitpid(helper->pid, NULL, WNOHANG);
	*helper = (struct helper){ .socket = -1 };
}
