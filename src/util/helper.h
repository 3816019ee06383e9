/*
 * helper: a process of one's own that does what may never come to an end: opening and reading on a file system that
 * does not answer. A thread would not do: once a FUSE program has taken a request, not even SIGKILL ends the wait,
 * and a process is not gone while one of its threads waits. A helper is left behind instead.
 */
#ifndef PSTAT_UTIL_HELPER_H
#define PSTAT_UTIL_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct helper {
	pid_t pid; /* 0: there is none */
	int socket; /* SOCK_SEQPACKET to it, close-on-exec */
};

/*
 * Forks. The new process has no descriptor but its end of the socket, no signal interrupts it, and it calls serve()
 * and ends when that returns: serve() is to return when the socket is closed. It begins with all memory of this
 * process, of which other threads may have been changing some. 0, or -errno.
 */
int helper_start(struct helper *helper, void (*serve)(int socket, void *data), void *data);
/*
 * For both ends: one packet, with a descriptor beside it unless fd is -1, which stays the caller's. 0, or -errno; never
 * SIGPIPE.
 */
int helper_send(int socket, const void *bytes, size_t n, int fd);
/* One packet of at most n bytes: how many, or -errno. *fd: what came beside it, close-on-exec, or -1. flags: recv(2) */
ssize_t helper_receive(int socket, void *bytes, size_t n, int flags, int *fd);
/* Is it at work, or would it be if it got a CPU? False where it waits for something, and where /proc does not tell. */
bool helper_is_runnable(const struct helper *helper);
/* Closes the socket and kills it, without waiting: one that cannot be killed ends when its file system answers. */
void helper_leave(struct helper *helper);

#endif
