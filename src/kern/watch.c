/* SPDX-License-Identifier: MIT */
/*
 * Everything that moves a run on. A watch waits without polling: one ppoll(2) for all that can happen. Only where a
 * task can't be had as a pidfd (kernels before 5.3, threads before 6.9, no descriptor left) is procfs asked every
 * 100 ms.
 *
 * Control lines become calls. The descriptor's flags are left as they are: it may be shared with other programs, so
 * only as much is read as one read(2) gives after poll(2) said that there is something.
 *
 * The ticker, the clock of -I, is pure arithmetic: it neither reads the time nor waits.
 */
#include "kern/kern.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

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

	*watch = (struct watch){ .end_ns = NEVER_NS };
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

/* The end of a task is counted once; its slot is ignored from then on. */
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

void watch_duration(struct watch *watch, uint64_t duration_ns)
{
	uint64_t now = now_ns();

	watch->end_ns = duration_ns && duration_ns < NEVER_NS - now ? now + duration_ns : NEVER_NS;
	watch->time_is_up = false;
}

bool watch_time_is_up(struct watch *watch)
{
	if (now_ns() >= watch->end_ns) {
		watch->time_is_up = true;
		watch->end_ns = NEVER_NS;
	}
	return watch->time_is_up;
}

void watch_wait(struct watch *watch, uint64_t until_ns)
{
	uint64_t end_ns = until_ns < watch->end_ns ? until_ns : watch->end_ns;
	uint64_t now = now_ns(), left = end_ns > now ? end_ns - now : 0;
	sigset_t mask = watch->outside;
	struct timespec timeout;

	if (watch->ask && left > ASK_EVERY_NS)
		left = ASK_EVERY_NS;
	timeout = (struct timespec){ .tv_sec = (time_t)(left / NS_PER_S),
				     .tv_nsec = (long)(left % NS_PER_S) };
	for (size_t i = 0; i < ARRAY_SIZE(let_in_while_waiting); i++)
		sigdelset(&mask, let_in_while_waiting[i]);
	if (ppoll(watch->fds, watch->n, end_ns == NEVER_NS && !watch->ask ? NULL : &timeout,
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

/* ---- control lines ---- */

enum { LINE_MAX_BYTES = 1024 }; /* no command is near that long */

static void answer(struct control *control, struct note_list *notes)
{
	/* Writes once: whoever does not read its answers is not waited for, where the descriptor does not block. */
	if (control->ack_fd < 0 || write(control->ack_fd, "ack\n", 4) == 4)
		return;
	note_add(notes, false, NULL, "--control: cannot answer: %s", strerror(errno));
	control->ack_fd = -1;
}

/* "'x' is none of enable, disable and stop" */
static void note_unknown(const char *line, const struct control_command *commands,
			 struct note_list *notes)
{
	struct str names = STR_INIT;

	for (const struct control_command *c = commands; c->name; c++)
		str_addf(&names, "%s%s", c == commands ? "" : c[1].name ? ", " : " and ", c->name);
	note_add(notes, false, NULL, "--control: '%s' is none of %s", line, names.s);
	str_release(&names);
}

static void run_line(struct control *control, const struct control_command *commands, void *data,
		     struct note_list *notes)
{
	const struct control_command *command = commands;
	struct str *line = &control->line;
	size_t len;

	/* Shells and terminals may add these. */
	while (line->len && strchr(" \r\t", line->s[line->len - 1]))
		line->s[--line->len] = '\0';
	if (!line->len)
		return;
	len = strcspn(line->s, " ");
	while (command->name &&
	       (strlen(command->name) != len || strncmp(command->name, line->s, len) ||
		(line->s[len] && !command->takes_words)))
		command++;
	if (!command->name)
		note_unknown(line->s, commands, notes);
	else if (!command->run(data, line->s + len + strspn(line->s + len, " ")))
		answer(control, notes);
}

static void add_bytes(struct control *control, const char *bytes, size_t n,
		      const struct control_command *commands, void *data, struct note_list *notes)
{
	for (size_t i = 0; i < n; i++) {
		/* A NUL ends a line too: some programs send one after it. */
		if (bytes[i] == '\n' || bytes[i] == '\0') {
			run_line(control, commands, data, notes);
			str_reset(&control->line);
		} else if (control->line.len < LINE_MAX_BYTES) {
			str_addc(&control->line, bytes[i]);
		}
	}
}

bool control_read(struct control *control, const struct control_command *commands, void *data,
		  struct note_list *notes)
{
	char bytes[512];
	ssize_t n = read(control->fd, bytes, sizeof(bytes));

	if (n > 0) {
		add_bytes(control, bytes, (size_t)n, commands, data, notes);
		return true;
	}
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	/* The last line may lack its newline. */
	add_bytes(control, "\n", 1, commands, data, notes);
	return false;
}

void control_release(struct control *control)
{
	str_release(&control->line);
}

/* ---- the ticker ---- */

void ticker_start(struct ticker *ticker, uint64_t now_ns, uint64_t interval_ns)
{
	ticker->interval_ns = interval_ns;
	ticker->next_ns = interval_ns ? now_ns + interval_ns : NEVER_NS;
}

void ticker_stop(struct ticker *ticker)
{
	ticker->next_ns = NEVER_NS;
}

bool ticker_due(struct ticker *ticker, uint64_t now_ns)
{
	if (now_ns < ticker->next_ns || ticker->next_ns == NEVER_NS)
		return false;
	ticker->next_ns += ((now_ns - ticker->next_ns) / ticker->interval_ns + 1) * ticker->interval_ns;
	return true;
}
