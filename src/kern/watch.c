/*
 * Waiting without polling: one ppoll(2) for all that can happen. Only where a task can't be had as a
 * pidfd (kernels before 5.3, threads before 6.9, no descriptor left) is procfs asked every 100 ms.
 */
#include "kern/kern.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull
#define ASK_EVERY_NS 100000000ull

/* From linux/pidfd.h; older headers lack it. */
enum { THREAD_FLAG = O_EXCL };

enum { CONTROL_SLOT, WRITE_SLOT, FIRST_TASK_SLOT };

static const int let_in_while_waiting[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR2 };

/* SIGCHLD only has to end the wait; child_poll() finds out the rest. */
static void on_child(int sig)
{
	(void)sig;
}

static void add_fd(struct watch *watch, int fd)
{
	VEC_GROW(watch->fds, watch->n, watch->cap);
	watch->fds[watch->n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

void watch_begin(struct watch *watch, int control_fd)
{
	struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_NOCLDSTOP };
	sigset_t mask;

	*watch = (struct watch){ 0 };
	add_fd(watch, control_fd);
	add_fd(watch, -1);
	sigaction(SIGCHLD, &action, &watch->old_child);
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(let_in_while_waiting); i++)
		sigaddset(&mask, let_in_while_waiting[i]);
	sigprocmask(SIG_BLOCK, &mask, &watch->outside);
}

void watch_tasks(struct watch *watch, const struct target *target)
{
	for (size_t i = 0; i < target->pids.n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, target->pids.v[i],
				      target->by_process ? 0 : THREAD_FLAG);

		if (fd >= 0) {
			add_fd(watch, fd);
			watch->n_tasks++;
			watch->n_alive++;
		} else if (errno != ESRCH) {
			watch->ask = true;
		}
	}
}

void watch_end(struct watch *watch)
{
	if (!watch->fds)
		return;
	for (size_t i = FIRST_TASK_SLOT; i < FIRST_TASK_SLOT + watch->n_tasks; i++)
		if (watch->fds[i].fd >= 0)
			close(watch->fds[i].fd);
	free(watch->fds);
	sigaction(SIGCHLD, &watch->old_child, NULL);
	sigprocmask(SIG_SETMASK, &watch->outside, NULL);
	*watch = (struct watch){ 0 };
}

/* A task that has ended is told once; its slot is ignored from then on. */
static void count_ended(struct watch *watch)
{
	for (size_t i = FIRST_TASK_SLOT; i < FIRST_TASK_SLOT + watch->n_tasks; i++) {
		if (watch->fds[i].fd < 0 || !watch->fds[i].revents)
			continue;
		close(watch->fds[i].fd);
		watch->fds[i].fd = -1;
		watch->n_alive--;
	}
}

void watch_wait(struct watch *watch, uint64_t until_ns)
{
	uint64_t now = now_ns(), left = until_ns > now ? until_ns - now : 0;
	sigset_t mask = watch->outside;
	struct timespec timeout;

	if (watch->ask && left > ASK_EVERY_NS)
		left = ASK_EVERY_NS;
	timeout = (struct timespec){ .tv_sec = (time_t)(left / NS_PER_S),
				     .tv_nsec = (long)(left % NS_PER_S) };
	for (size_t i = 0; i < ARRAY_SIZE(let_in_while_waiting); i++)
		sigdelset(&mask, let_in_while_waiting[i]);
	if (ppoll(watch->fds, watch->n, until_ns == UINT64_MAX && !watch->ask ? NULL : &timeout,
		  &mask) < 0) {
		for (size_t i = 0; i < watch->n; i++)
			watch->fds[i].revents = 0;
		return;
	}
	count_ended(watch);
}

bool watch_control_ready(const struct watch *watch)
{
	return watch->fds[CONTROL_SLOT].revents != 0;
}

void watch_for_writing(struct watch *watch, int fd)
{
	watch->fds[WRITE_SLOT] = (struct pollfd){ .fd = fd, .events = POLLOUT };
}

bool watch_may_write(const struct watch *watch)
{
	return watch->fds[WRITE_SLOT].revents != 0;
}

size_t watch_fd(struct watch *watch, int fd)
{
	add_fd(watch, fd);
	return watch->n - 1;
}

short watch_seen(const struct watch *watch, size_t slot)
{
	return watch->fds[slot].revents;
}

void watch_replace_fd(struct watch *watch, size_t slot, int fd)
{
	watch->fds[slot] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

void watch_forget_control(struct watch *watch)
{
	watch->fds[CONTROL_SLOT] = (struct pollfd){ .fd = -1 };
}

bool watch_tasks_ended(const struct watch *watch, const struct target *target)
{
	if (watch->ask)
		return !target_alive(target);
	return watch->n_alive == 0;
}
