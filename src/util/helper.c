/*
 * helper.c: see helper.h. A helper holds nothing that somebody waits for: a pipe behind pstat, a file that is being
 * written, the socket of another helper.
 */
#include "util/helper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

void helper_leave(struct helper *helper)
{
	close(helper->socket);
	kill(helper->pid, SIGKILL);
	waitpid(helper->pid, NULL, WNOHANG);
	*helper = (struct helper){ 0, -1 };
}
