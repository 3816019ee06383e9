/* SPDX-License-Identifier: MIT */
/*
 * helper: a process of one's own that does what may never come to an end: opening and reading on a file system that
 * does not answer. A thread would not do: once a FUSE program has taken a request, not even SIGKILL ends the wait,
 * and a process is not gone while one of its threads waits. A helper is left behind instead.
 *
 *	helper_ask --question, descriptor--> work->answer(), in the helper --answer, descriptor--> helper_take_answer
 *	helper_is_stuck <--signs of life, a number in a page that both have--'
 *
 * A question is one packet, and so is its answer; a descriptor may come beside either. Questions are answered in order.
 * Neither asking nor taking waits: the caller polls the socket, for as long as the helper is not stuck.
 */
#ifndef PSTAT_UTIL_HELPER_H
#define PSTAT_UTIL_HELPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A question as it arrives in the helper. */
struct helper_question {
	const void *bytes; /* a NUL follows them */
	size_t n;
	int beside; /* the descriptor that came with it, closed after the answer; -1: none */
	atomic_uint *signs; /* the helper counts it up with every step that does not hang */
};

struct helper_work {
	size_t question_max, answer_bytes;
	/*
	 * Runs in the helper: fills the answer, answer_bytes of zeros before. Returns a descriptor to go beside it,
	 * which is closed once it was sent, or -1.
	 */
	int (*answer)(void *data, const struct helper_question *question, void *answer);
	void *data;
};

struct helper {
	pid_t pid; /* 0: there is none */
	int socket; /* SOCK_SEQPACKET to it, close-on-exec; a hangup: it has ended */
	atomic_uint *signs;
	/* When the first question without an answer became the first, and the latest sign since. */
	size_t n_unanswered;
	uint64_t begin_ns, sign_ns;
	unsigned signs_seen;
};

/*
 * Forks. The new process has no descriptor but its end of the socket, and no signal interrupts it. It ends when the
 * socket is closed. It begins with all memory of this process, of which other threads may have been changing some.
 * 0, or -errno.
 */
int helper_start(struct helper *helper, const struct helper_work *work);
/*
 * Sends a question, with a descriptor beside it unless fd is -1, which stays the caller's. 0, -EAGAIN where it has as
 * many questions as the socket holds, or another -errno; never SIGPIPE.
 */
int helper_ask(struct helper *helper, const void *question, size_t n, int fd);
/*
 * Takes the next answer, if one is there. 1; 0: none is there yet; -errno: the helper has ended. *fd: the descriptor
 * that came beside it, close-on-exec, or -1.
 */
int helper_take_answer(struct helper *helper, void *answer, size_t n, int *fd);
/*
 * True: it has given no sign of life for patience_ns, though it was not waiting for a CPU, or has not answered the
 * question that it is at for total_ns. To be asked again and again while a question is not answered.
 */
bool helper_is_stuck(struct helper *helper, uint64_t patience_ns, uint64_t total_ns);
/* Closes the socket and kills it, without waiting: one that cannot be killed ends when its file system answers. */
void helper_leave(struct helper *helper);

#endif
