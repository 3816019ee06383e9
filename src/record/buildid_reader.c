/* SPDX-License-Identifier: MIT */
/*
 * The thread between those who ask for build-ids and the helpers that read them: see buildid_reader.h.
 *
 * The lock is for what both sides see: the queue, the answered, the requests in them. It is never held across a
 * system call but the one that wakes the thread. The helpers are the thread's alone.
 *
 * The queue is a stack: the process of the newest request is the most likely to be there still. Each helper is sent
 * some requests ahead, so that it needs not wait for the thread between two of them.
 */
#include "record/buildid_reader.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { HELPERS_MAX = 8, AHEAD_MAX = 16, LOOK_EVERY_MS = 2000 };
#define STUCK_NS (BUILDID_STUCK_MS * NS_PER_MS)
#define STARVED_NS (11 * STUCK_NS) /* for one file, though it waits for a CPU */

struct buildid_helper {
	struct helper process;
	struct buildid_request *sent[AHEAD_MAX]; /* in order: the first is being read */
	size_t n;
	bool stuck;
};

struct buildid_reader {
	const struct kern *kern;
	struct buildid_helper helpers[HELPERS_MAX]; /* the thread's */
	size_t n_helpers;
	pthread_t thread;
	bool started;
	int wake_fd;

	pthread_mutex_t lock; /* for all below */
	pthread_cond_t progress; /* something was answered */
	bool ended;
	bool unaware; /* the thread has not been woken since it looked at the queue */
	struct buildid_request **queue;
	size_t n_queued, queue_cap;
	uint32_t next_number; /* of requests */
	uint32_t given_up; /* those with smaller numbers were waited for in vain */
	size_t n_awaited; /* not answered, nor given up */
	uint64_t asked_ns, moved_ns; /* the last question; the last answer, or change of helper */
	_Atomic int failure;
	_Atomic(struct buildid_request *) answered;
};

struct buildid_reader *buildid_reader_new(const struct kern *kern)
{
	struct buildid_reader *reader = xcalloc(1, sizeof(*reader));
	pthread_condattr_t attr;

	reader->kern = kern;
	reader->wake_fd = -1;
	pthread_mutex_init(&reader->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&reader->progress, &attr);
	pthread_condattr_destroy(&attr);
	return reader;
}

/* ---- with the lock held ---- */

static void wake(struct buildid_reader *reader)
{
	if (reader->unaware)
		(void)eventfd_write(reader->wake_fd, 1);
	reader->unaware = false;
}

static void enqueue(struct buildid_reader *reader, struct buildid_request *request)
{
	VEC_GROW(reader->queue, reader->n_queued, reader->queue_cap);
	reader->queue[reader->n_queued++] = request;
}

static void settle(struct buildid_reader *reader, struct buildid_request *request)
{
	request->next = atomic_load_explicit(&reader->answered, memory_order_relaxed);
	atomic_store(&reader->answered, request);
	reader->n_awaited -= request->question.number >= reader->given_up;
	reader->moved_ns = now_ns();
	pthread_cond_signal(&reader->progress);
}

/* Nothing can be read: all that is asked for has no answer. */
static void give_up(struct buildid_reader *reader, int failure)
{
	reader->failure = failure;
	while (reader->n_queued)
		settle(reader, reader->queue[--reader->n_queued]);
}

static bool is_held(const struct buildid_reader *reader, uint64_t device)
{
	for (size_t i = 0; i < reader->n_helpers; i++) {
		const struct buildid_helper *helper = &reader->helpers[i];

		if (helper->stuck && helper->sent[0]->device == device)
			return true;
	}
	return false;
}

/* The newest request whose device nobody is stuck on, out of the queue; NULL: none. */
static struct buildid_request *dequeue(struct buildid_reader *reader)
{
	for (size_t i = reader->n_queued; i-- > 0;) {
		struct buildid_request *request = reader->queue[i];

		if (is_held(reader, request->device))
			continue;
		memmove(&reader->queue[i], &reader->queue[i + 1],
			(--reader->n_queued - i) * sizeof(*reader->queue));
		return request;
	}
	return NULL;
}

/* ---- helpers: the thread's side ---- */

/* Puts the requests that the helper was sent, from the at-th on, back into the queue. Called with the lock held. */
static void take_back(struct buildid_reader *reader, struct buildid_helper *helper, size_t at)
{
	while (helper->n > at)
		enqueue(reader, helper->sent[--helper->n]);
}

static void drop_helper(struct buildid_reader *reader, struct buildid_helper *helper)
{
	helper_leave(&helper->process);
	*helper = reader->helpers[--reader->n_helpers];
}

/* NULL: *failure says why. There is a place for it. */
static struct buildid_helper *add_helper(struct buildid_reader *reader, int *failure)
{
	struct buildid_helper *helper = &reader->helpers[reader->n_helpers];
	const struct helper_work work = {
		sizeof(struct buildid_packet), sizeof(struct buildid_reply), buildid_answer,
		(void *)(uintptr_t)reader->kern,
	};

	*helper = (struct buildid_helper){ .n = 0 };
	*failure = helper_start(&helper->process, &work);
	if (*failure)
		return NULL;
	reader->n_helpers++;
	return helper;
}

/* One that is not stuck and can be sent more; NULL: none, and none could be started. */
static struct buildid_helper *free_helper(struct buildid_reader *reader, int *failure)
{
	struct buildid_helper *helper;
	bool busy = false;

	for (size_t i = 0; i < reader->n_helpers; i++) {
		helper = &reader->helpers[i];
		if (!helper->stuck && helper->n < AHEAD_MAX)
			return helper;
		busy |= !helper->stuck;
	}
	return busy || reader->n_helpers == HELPERS_MAX ? NULL : add_helper(reader, failure);
}

/* The next request goes to the helper. False: there is none, or it takes no more. */
static bool send_next(struct buildid_reader *reader, struct buildid_helper *helper)
{
	struct buildid_request *request;
	struct buildid_packet packet;
	size_t bytes = 0;
	int rc;

	pthread_mutex_lock(&reader->lock);
	request = dequeue(reader);
	if (request) {
		request->seen_again = false;
		bytes = sizeof(request->question) + strlen(request->path) + 1;
		memcpy(&packet, &request->question, bytes);
	}
	pthread_mutex_unlock(&reader->lock);
	if (!request)
		return false;
	helper->sent[helper->n++] = request;
	/* A helper that has ended is noticed by its socket; one that has enough, by its next reply. */
	rc = helper_ask(&helper->process, &packet, bytes, -1);
	if (!rc || rc == -EPIPE)
		return true;
	pthread_mutex_lock(&reader->lock);
	take_back(reader, helper, helper->n - 1);
	pthread_mutex_unlock(&reader->lock);
	return false;
}

static bool has_queued(struct buildid_reader *reader)
{
	size_t n;

	pthread_mutex_lock(&reader->lock);
	n = reader->n_queued;
	pthread_mutex_unlock(&reader->lock);
	return n;
}

static void give_out(struct buildid_reader *reader)
{
	int failure = 0;

	while (has_queued(reader)) {
		struct buildid_helper *helper = free_helper(reader, &failure);

		if (!helper || !send_next(reader, helper))
			break;
	}
	if (!failure)
		return;
	pthread_mutex_lock(&reader->lock);
	give_up(reader, failure);
	pthread_mutex_unlock(&reader->lock);
}

/* Called with the lock held. A file that was not found may be where it has been seen meanwhile. */
static void take_reply(struct buildid_reader *reader, struct buildid_request *request,
		       const struct buildid_reply *reply, int fd)
{
	request->id = reply->id;
	request->fd = fd;
	request->tries = reply->found || !request->tries ? 0 : request->tries - 1;
	if (request->tries && request->seen_again)
		enqueue(reader, request);
	else
		settle(reader, request);
}

/* The kernel gives out the lowest number: it tells how many descriptors there are. */
static bool is_one_too_many(int fd)
{
	struct rlimit limit;

	return fd >= BUILDID_FDS_MAX || getrlimit(RLIMIT_NOFILE, &limit) ||
	       (rlim_t)fd + BUILDID_FDS_LEFT >= limit.rlim_cur;
}

/* A reply to what was given to another helper, when this one was stuck, only says that it is not any more. */
static void take_replies(struct buildid_reader *reader, struct buildid_helper *helper)
{
	struct buildid_reply reply;
	size_t i;
	int fd;

	while (helper_take_answer(&helper->process, &reply, sizeof(reply), &fd) > 0) {
		helper->stuck = false;
		for (i = 0; i < helper->n && helper->sent[i]->question.number != reply.number; i++)
			;
		if (fd >= 0 && (i == helper->n || is_one_too_many(fd))) {
			close(fd);
			fd = -1;
		}
		if (i == helper->n)
			continue;
		pthread_mutex_lock(&reader->lock);
		take_reply(reader, helper->sent[i], &reply, fd);
		pthread_mutex_unlock(&reader->lock);
		memmove(&helper->sent[i], &helper->sent[i + 1], (--helper->n - i) * sizeof(helper->sent[0]));
	}
}

/* The helper was killed, perhaps by the file that it was reading: that one is not tried again. */
static void bury(struct buildid_reader *reader, struct buildid_helper *helper)
{
	const struct buildid_reply none = { .found = false };

	pthread_mutex_lock(&reader->lock);
	take_back(reader, helper, 1);
	if (helper->n) {
		helper->sent[0]->tries = 0;
		take_reply(reader, helper->sent[0], &none, -1);
	}
	pthread_mutex_unlock(&reader->lock);
	drop_helper(reader, helper);
}

/* Marks helpers that have become stuck: all but the first of what was sent to them is for others. */
static void find_stuck(struct buildid_reader *reader)
{
	for (size_t i = 0; i < reader->n_helpers; i++) {
		struct buildid_helper *helper = &reader->helpers[i];

		if (helper->stuck || !helper->n || now_ns() < helper->process.sign_ns + STUCK_NS)
			continue;
		helper->stuck = helper_is_stuck(&helper->process, STUCK_NS, STARVED_NS);
		pthread_mutex_lock(&reader->lock);
		if (helper->stuck)
			take_back(reader, helper, 1);
		reader->moved_ns = now_ns();
		pthread_mutex_unlock(&reader->lock);
	}
}

/* Until the next may have become so, or, where nobody is at work, until it looks all the same. */
static int ms_to_stuck(const struct buildid_reader *reader)
{
	uint64_t now = now_ns(), first = UINT64_MAX;

	for (size_t i = 0; i < reader->n_helpers; i++) {
		const struct buildid_helper *helper = &reader->helpers[i];

		if (helper->n && !helper->stuck && helper->process.sign_ns + STUCK_NS < first)
			first = helper->process.sign_ns + STUCK_NS;
	}
	return first == UINT64_MAX ? LOOK_EVERY_MS : first > now ? (int)((first - now) / NS_PER_MS) + 1 : 0;
}

/* ---- the thread ---- */

/* Waits for a reply, a question, the end, at most so long. */
static void await(struct buildid_reader *reader, int timeout_ms)
{
	struct pollfd fds[HELPERS_MAX + 1];
	size_t n = reader->n_helpers;
	eventfd_t count;

	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = reader->helpers[i].process.socket, .events = POLLIN };
	fds[n] = (struct pollfd){ .fd = reader->wake_fd, .events = POLLIN };
	if (poll(fds, n + 1, timeout_ms) <= 0)
		return;
	if (fds[n].revents)
		(void)eventfd_read(reader->wake_fd, &count);
	/* From the last: one that is dropped gives its place to the last. */
	for (size_t i = n; i-- > 0;) {
		if (fds[i].revents & POLLIN)
			take_replies(reader, &reader->helpers[i]);
		if (fds[i].revents & (POLLHUP | POLLERR))
			bury(reader, &reader->helpers[i]);
	}
}

static bool is_ended(struct buildid_reader *reader)
{
	bool ended;

	pthread_mutex_lock(&reader->lock);
	ended = reader->ended;
	reader->unaware = true;
	pthread_mutex_unlock(&reader->lock);
	return ended;
}

static void *reader_main(void *reader)
{
	while (!is_ended(reader)) {
		find_stuck(reader);
		give_out(reader);
		await(reader, ms_to_stuck(reader));
	}
	return NULL;
}

/* Called with the lock held. */
static void start(struct buildid_reader *reader)
{
	int rc;

	reader->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->wake_fd < 0) {
		reader->failure = -errno;
		return;
	}
	rc = thread_start(&reader->thread, NULL, reader_main, reader);
	reader->started = !rc;
	reader->failure = -rc;
}

/* ---- the asking side ---- */

void buildid_reader_prepare(struct buildid_reader *reader)
{
	/* If that fails, the thread tries again, and says so. */
	if (!reader->started && !reader->n_helpers)
		(void)add_helper(reader, &(int){ 0 });
}

void buildid_reader_begin(struct buildid_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	if (!reader->started && !reader->failure)
		start(reader);
	pthread_mutex_unlock(&reader->lock);
}

void buildid_reader_ask(struct buildid_reader *reader, struct buildid_request *request)
{
	buildid_reader_begin(reader);
	pthread_mutex_lock(&reader->lock);
	request->question.number = reader->next_number++;
	reader->asked_ns = now_ns();
	reader->n_awaited++;
	if (reader->failure || strlen(request->path) >= PATH_MAX) {
		request->tries = 0;
		settle(reader, request);
	} else {
		enqueue(reader, request);
		wake(reader);
	}
	pthread_mutex_unlock(&reader->lock);
}

void buildid_reader_see(struct buildid_reader *reader, struct buildid_request *request,
			const struct mapping_seen *seen)
{
	struct buildid_question *question = &request->question;

	pthread_mutex_lock(&reader->lock);
	question->n_seen = (uint8_t)mapping_seen_add(question->seen, question->n_seen, seen);
	request->seen_again = true;
	pthread_mutex_unlock(&reader->lock);
}

struct buildid_request *buildid_reader_answered(struct buildid_reader *reader)
{
	struct buildid_request *answered;

	if (!atomic_load_explicit(&reader->answered, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&reader->lock);
	answered = atomic_load(&reader->answered);
	atomic_store(&reader->answered, NULL);
	pthread_mutex_unlock(&reader->lock);
	return answered;
}

void buildid_reader_wait(struct buildid_reader *reader)
{
	uint64_t end = now_ns() + BUILDID_WAIT_ALL_MS * NS_PER_MS;

	pthread_mutex_lock(&reader->lock);
	while (reader->n_awaited) {
		uint64_t last = reader->asked_ns > reader->moved_ns ? reader->asked_ns : reader->moved_ns;
		uint64_t until = last + BUILDID_WAIT_MS * NS_PER_MS;
		struct timespec time;

		until = until < end ? until : end;
		if (now_ns() >= until) {
			reader->given_up = reader->next_number;
			reader->n_awaited = 0;
			break;
		}
		time = (struct timespec){ (time_t)(until / NS_PER_S), (long)(until % NS_PER_S) };
		pthread_cond_timedwait(&reader->progress, &reader->lock, &time);
	}
	pthread_mutex_unlock(&reader->lock);
}

int buildid_reader_failure(struct buildid_reader *reader)
{
	return reader->failure;
}

void buildid_reader_free(struct buildid_reader *reader)
{
	struct buildid_request *next, *request;

	if (reader->started) {
		pthread_mutex_lock(&reader->lock);
		reader->ended = true;
		wake(reader);
		pthread_mutex_unlock(&reader->lock);
		/* The thread never waits for a file: it ends at once. */
		pthread_join(reader->thread, NULL);
	}
	for (request = reader->answered; request; request = next) {
		next = request->next;
		if (request->fd >= 0)
			close(request->fd);
		free(request);
	}
	while (reader->n_helpers) {
		struct buildid_helper *helper = &reader->helpers[reader->n_helpers - 1];

		take_back(reader, helper, 0);
		drop_helper(reader, helper);
	}
	while (reader->n_queued)
		free(reader->queue[--reader->n_queued]);
	free(reader->queue);
	if (reader->wake_fd >= 0)
		close(reader->wake_fd);
	pthread_cond_destroy(&reader->progress);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}
