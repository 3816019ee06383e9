/*
 * helper.c: see helper.h. A helper holds nothing that somebody waits for: a pipe behind pstat, a file that is being
 * written, the socket of another helper.
 */
#include "util/helper.h"

#include "util/util.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

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

int helper_start(struct helper *helper, void (*serve)(int socket, void *data), void *data)
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
		serve(pair[1], data);
		_exit(0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(pair[1]);
	helper->socket = pair[0];
	if (rc) {
		close(pair[0]);
		*helper = (struct helper){ 0, -1 };
	}
	return rc;
}

int helper_send(int socket, const void *bytes, size_t n, int fd)
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
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

ssize_t helper_receive(int socket, void *bytes, size_t n, int flags, int *fd)
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
	/* Where no descriptor is left there is no header. */
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return got;
}

bool helper_is_runnable(const struct helper *helper)
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

void helper_leave(struct helper *helper)
{
	close(helper->socket);
	kill(helper->pid, SIGKILL);
	waitpid(helper->pid, NULL, WNOHANG);
	*helper = (struct helper){ 0, -1 };
}
