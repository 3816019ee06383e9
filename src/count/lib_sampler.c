/* SPDX-License-Identifier: MIT */
/*
 * struct pstat_sampler: counters that take samples, their rings, and what reads them.
 *
 *   options -> attrs          lib_sampling.c   descriptors -> rings    kern/rings.c
 *   attrs -> descriptors      lib_counters.c   rings -> records        record_feed.c
 *                                              rings -> one descriptor to wait for    here
 *
 * Counting begins when all of it stands: before a ring is mapped its records are nobody's.
 *
 * A perf descriptor is ready once for each time that the kernel woke its readers, and from the end of its task on it
 * hangs up for ever. So one that has hung up is taken out of the epoll descriptor, and the next that writes into the
 * same ring takes its place (rings_next_fd); a ring without any is at its end.
 */
#include "count/record_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- waiting for the rings ---- */

/* One descriptor for all rings of a ring set. */
struct ring_poll {
	int fd; /* readable when one of the rings wants to be read; -1: none */
	int *polled; /* one per ring: who tells; -1: all that write into it have ended */
	size_t n, alive;
	struct ring_set *rings; /* borrowed */
};

enum { AT_ONCE = 32 };

/* Adds the next descriptor that tells about this ring. */
static int poll_next(struct ring_poll *poll, size_t ring)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = ring };
	int fd = rings_next_fd(poll->rings, ring);

	poll->polled[ring] = fd;
	if (fd < 0)
		return 0;
	return epoll_ctl(poll->fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void ring_poll_close(struct ring_poll *poll)
{
	if (poll->fd >= 0)
		close(poll->fd);
	free(poll->polled);
	*poll = (struct ring_poll){ .fd = -1 };
}

static int ring_poll_open(struct ring_poll *poll, struct ring_set *rings)
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

/* Takes the next descriptor: the task of this one and all of its children have ended. */
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
static int poll_once(struct ring_poll *poll, int timeout_ms, bool *ended)
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

	return end_ns > now ? (int)((end_ns - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* Waits as pstat_sampler_wait() does, where no ring has a record yet. */
static int ring_poll_wait(struct ring_poll *poll, int timeout_ms)
{
	uint64_t end_ns = timeout_ms > 0 ? now_ns() + (uint64_t)timeout_ms * NS_PER_MS : 0;
	bool ended;
	int rc;

	if (!poll->n)
		return -EOPNOTSUPP;
	/* The one that takes the place of one that ended may have news, or have ended too. */
	do {
		if (!poll->alive)
			return -ENODATA;
		rc = poll_once(poll, timeout_ms > 0 ? left_ms(end_ns) : timeout_ms, &ended);
	} while (!rc && ended);
	return rc;
}

/* ---- opening ---- */

enum { RING_BYTES = 256 << 10 };

struct pstat_sampler {
	struct pstat_counters *counters;
	struct ring_set rings;
	struct record_feed feed;
	struct ring_poll poll;
	struct fork_mark mark;
};

struct sampler_call {
	struct pstat_sampler **sampler;
	const struct pstat_events *events;
	struct pstat_sampling_options options;
	struct pstat_open_options open;
};

/* Are children and new threads followed by an event? Rings that they write to are rings of a CPU. */
static bool follows_children(const struct event_list *events, const struct pstat_open_options *open)
{
	bool any = open->inherit;

	for (size_t i = 0; !any && i < events->n; i++)
		any = events->v[i].terms.inherit == TERM_ON;
	return any && open->target != PSTAT_CPUS;
}

static int open_counters(struct pstat_sampler *s, const struct sampler_call *call, bool own_tracker, struct str *err)
{
	struct lib_sampling sampling = { .keep_wakeups = true };
	struct pstat_open_options open = call->open;
	struct pstat_events events;
	int rc;

	open.enabled = 0;
	event_list_copy(&events.list, &call->events->list);
	sampling.per_cpu = follows_children(&events.list, &open);
	rc = lib_sampling_fill(&events.list, &call->options, own_tracker, &lib_kern, err);
	if (rc >= 0)
		rc = lib_counters_open(&s->counters, &events, &open, &sampling, &lib_kern, err);
	event_list_release(&events.list);
	return rc;
}

/* The event that tells what tasks do has to be open, and wherever they run: a PMU may have CPUs of its own. */
static bool first_hears_all(const struct counter_set *set)
{
	return set->v[0].state == COUNTER_OPEN && !set->v[0].event->cpus.n;
}

static int open_all_counters(struct pstat_sampler *s, const struct sampler_call *call, struct str *err)
{
	int rc = open_counters(s, call, false, err);

	if (rc < 0 || !call->options.track || first_hears_all(&s->counters->set))
		return rc;
	pstat_close(s->counters);
	s->counters = NULL;
	return open_counters(s, call, true, err);
}

static int open_rings(struct pstat_sampler *s, const struct sampler_call *call, struct str *err)
{
	const struct ring_options options = {
		.data_bytes = call->options.ring_bytes ? call->options.ring_bytes : RING_BYTES,
	};

	return rings_open(&s->rings, &s->counters->set, &options, err);
}

/* Adds all counters in their order, also those that could not be opened: an index means the same in both. */
static int open_feed(struct pstat_sampler *s, struct str *err)
{
	const struct counter_set *set = &s->counters->set;

	record_feed_init(&s->feed, s->rings.v, s->rings.n);
	for (size_t i = 0; i < set->n; i++) {
		uint64_t *ids = NULL;
		size_t n = 0;
		int rc = set->v[i].state == COUNTER_OPEN ? counter_add_ids(set, i, &ids, &n) : 0;

		if (rc < 0)
			return fail(err, rc, "the kernel does not give the ids of %s: %s", set->v[i].name,
				    strerror(-rc));
		events_add(&s->feed.events, &set->v[i].attr, sizeof(set->v[i].attr), ids, n);
		free(ids);
	}
	return 0;
}

static int open_body(void *data, struct str *err)
{
	const struct sampler_call *call = data;
	struct pstat_sampler *s = xcalloc(1, sizeof(*s));
	int rc;

	rc = open_all_counters(s, call, err);
	if (rc >= 0)
		rc = open_rings(s, call, err);
	if (rc >= 0)
		rc = open_feed(s, err);
	if (rc < 0)
		return rc;
	fork_mark_set(&s->mark); /* without a page it tells a child as well */
	rc = ring_poll_open(&s->poll, &s->rings);
	if (rc < 0)
		return fail(err, rc, "the rings cannot be waited for: %s", strerror(-rc));
	*call->sampler = s;
	return 0;
}

int pstat_sampler_open(struct pstat_sampler **sampler, const struct pstat_events *events,
		       const struct pstat_sampling_options *options, struct pstat_error *error)
{
	struct sampler_call call = { .sampler = sampler, .events = events };
	int rc;

	if (!sampler || !events)
		return lib_error(error, -EINVAL, "there are no events, or there is no place for the sampler");
	*sampler = NULL;
	rc = lib_take_struct(&call.options, sizeof(call.options), options);
	if (!rc)
		rc = lib_take_struct(&call.open, sizeof(call.open), call.options.open);
	if (rc == -E2BIG)
		return lib_error(error, rc,
			    "the options are newer than this library, which does not know a field they use");
	if (rc < 0)
		return lib_error(error, rc, "the size of the options is not set");
	rc = lib_run(open_body, &call, error);
	if (rc < 0) {
		*sampler = NULL;
		return rc;
	}
	if (call.open.enabled)
		rc = pstat_enable((*sampler)->counters);
	if (rc < 0) {
		pstat_sampler_close(*sampler);
		*sampler = NULL;
		return lib_error(error, rc, "the counters cannot be enabled");
	}
	return 0;
}

void pstat_sampler_close(struct pstat_sampler *sampler)
{
	if (!sampler)
		return;
	/* In a child something else may lie where its parent has the rings. */
	for (size_t i = 0; fork_mark_child(&sampler->mark) && i < sampler->rings.n; i++)
		sampler->rings.v[i].page = NULL;
	ring_poll_close(&sampler->poll);
	record_feed_release(&sampler->feed);
	rings_close(&sampler->rings);
	pstat_close(sampler->counters);
	fork_mark_clear(&sampler->mark);
	free(sampler);
}

struct pstat_counters *pstat_sampler_counters(struct pstat_sampler *sampler)
{
	return sampler->counters;
}

/* ---- reading ---- */

int pstat_sampler_next(struct pstat_sampler *sampler, const struct pstat_record **record, struct pstat_error *error)
{
	int rc;

	*record = NULL;
	if (fork_mark_child(&sampler->mark))
		return lib_error(error, -EBADF, "a child of fork(2) has no rings");
	rc = record_feed_next(&sampler->feed, record);
	return rc < 0 ? lib_error(error, rc, sampler->feed.why.s) : rc;
}

int pstat_sampler_wait(struct pstat_sampler *sampler, int timeout_ms)
{
	int rc;

	if (fork_mark_child(&sampler->mark))
		return -EBADF;
	/* Also where records are there already the kernel's news is taken, and those who have ended are taken out. */
	rc = ring_poll_wait(&sampler->poll, record_feed_ready(&sampler->feed) ? 0 : timeout_ms);
	return record_feed_ready(&sampler->feed) ? 1 : rc;
}

int pstat_sampler_fd(const struct pstat_sampler *sampler)
{
	return sampler->poll.fd;
}

int pstat_sampler_pause(struct pstat_sampler *sampler, int paused)
{
	int rc = 0;

	if (fork_mark_child(&sampler->mark))
		return -EBADF;
	for (size_t i = 0; i < sampler->rings.n; i++) {
		int one = ring_pause(&sampler->rings.v[i], paused != 0);

		rc = rc ? rc : one;
	}
	return rc;
}

/* ---- counts ---- */

struct losses {
	uint64_t n;
	const struct counter_set *set;
	bool known;
};

static void add_lost(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct losses *losses = data;

	(void)cpu, (void)thread;
	if (reading->state != READING_OK)
		return;
	losses->n += reading->lost;
	losses->known = losses->known || losses->set->v[index].attr.read_format & DATA_FORMAT_LOST;
}

void pstat_sampler_count(struct pstat_sampler *sampler, struct pstat_sampler_counts *counts)
{
	const struct record_feed *feed = &sampler->feed;
	struct losses losses = { .set = &sampler->counters->set };
	struct pstat_sampler_counts all = {
		.size = sizeof(all),
		.delivered = feed->delivered,
		.samples = feed->samples,
		.lost = feed->lost,
		.not_taken = feed->not_taken,
		.broken = feed->broken,
	};

	counters_read(losses.set, add_lost, &losses);
	all.lost_now = losses.n;
	all.lost_now_known = losses.known;
	if (counts->size < all.size)
		all.size = counts->size;
	memcpy(counts, &all, all.size);
}
