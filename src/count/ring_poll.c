/*
 * ring_poll.c: an epoll descriptor over the rings.
 *
 * A perf descriptor is ready once for each time that the kernel woke its readers, and from the end of its task
 * on it hangs up for ever. So one that has hung up is taken out, and the next that writes into the same ring
 * takes its place (rings_next_fd); a ring without any is at its end.
 */
#include "count/ring_poll.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { AT_ONCE = 32 };

/* The next descriptor that tells about this ring. */
static int poll_next(struct ring_poll *poll, size_t ring)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = ring };
	int fd = rings_next_fd(poll->rings, ring);

	poll->polled[ring] = fd;
	if (fd < 0)
		return 0;
	return epoll_ctl(poll->fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int ring_poll_open(struct ring_poll *poll, struct ring_set *rings)
{
	int rc = 0;

	*poll = (struct ring_poll){ .fd = -1, .rings = rings, .n = rings->n, .alive = rings->n };
	poll->polled = xreallocarray(NULL, rings->n, sizeof(*poll->polled));
	poll->fd = epoll_create1(EPOLL_CLOEXEC);
	if (poll->fd < 0)
		rc = -errno;
	for (size_t i = 0; !rc && i < poll->n; i++)
		rc = poll_next(poll, i);
	if (rc)
		ring_poll_close(poll);
	return rc;
}

void ring_poll_close(struct ring_poll *poll)
{
	if (poll->fd >= 0)
		close(poll->fd);
	free(poll->polled);
	*poll = (struct ring_poll){ .fd = -1 };
}

/* Its task and all of its children have ended. */
static int hung_up(struct ring_poll *poll, size_t ring)
{
	int rc;

	if (epoll_ctl(poll->fd, EPOLL_CTL_DEL, poll->polled[ring], NULL))
		return -errno;
	rc = poll_next(poll, ring);
	if (poll->polled[ring] < 0)
		poll->alive--;
	return rc;
}

/* One look: 1 something is there, 0 nothing, or a negative errno. *ended: a descriptor was taken out. */
static int look(struct ring_poll *poll, int timeout_ms, bool *ended)
{
	struct epoll_event events[AT_ONCE];
	int n = epoll_wait(poll->fd, events, AT_ONCE, timeout_ms), ready = 0, rc = 0;

	*ended = false;
	if (n < 0)
		return -errno;
	for (int i = 0; !rc && i < n; i++) {
		if (events[i].events & EPOLLIN)
			ready = 1;
		if (events[i].events & (EPOLLHUP | EPOLLERR)) {
			rc = hung_up(poll, events[i].data.u64);
			*ended = true;
		}
	}
	return rc ? rc : ready;
}

static int left_ms(uint64_t end_ns)
{
	uint64_t now = now_ns();

	return end_ns > now ? (int)((end_ns - now + 999999) / 1000000) : 0;
}

int ring_poll_wait(struct ring_poll *poll, int timeout_ms)
{
	uint64_t end_ns = timeout_ms > 0 ? now_ns() + (uint64_t)timeout_ms * 1000000 : 0;
	bool ended;
	int rc;

	/* Who takes the place of one that ended may have news, or have ended too. */
	do {
		if (!poll->alive)
			return -ENODATA;
		rc = look(poll, timeout_ms > 0 ? left_ms(end_ns) : timeout_ms, &ended);
	} while (!rc && ended);
	return rc;
}
