/* SPDX-License-Identifier: MIT */
/*
 * readers.c: a reader's life: wait for its rings, or for being asked (wake_fd), and drain them.
 *
 * It wakes at least every DRAIN_EVERY_MS where there are several, since a round waits for all of them; and more often
 * where it could not take all: the consumer may have made room.
 */
#include "record/readers.h"

#include "record/reader_split.h"

#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DRAIN_EVERY_MS = 100, DRAIN_SELDOM_MS = 2000, DRAIN_AGAIN_MS = 5, HIGHEST_PRIORITY = -20 };

/* The kernel's own least. */
enum { SHORT_SLICE_NS = 100000 };

struct reader_thread {
	struct readers *readers;
	pthread_t thread;
	bool started;
	struct intset affinity; /* where it runs; empty: anywhere */
	struct ring_reader reader;
	size_t *rings; /* indexes in the ring set */
	size_t n_rings, rings_cap;
	struct pollfd *fds; /* wake_fd, then one for each ring */
	uint64_t drained; /* of readers.asked; under the lock */
	uint64_t wakeups;
};

/* ---- a reader ---- */

static void run_on(const struct intset *cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (size_t i = 0; i < cpus->n; i++) {
		if (cpus->v[i] >= 0 && cpus->v[i] < CPU_SETSIZE)
			CPU_SET(cpus->v[i], &set);
	}
	/* A reader that may not run there reads from elsewhere. */
	if (CPU_COUNT(&set))
		(void)!sched_setaffinity(0, sizeof(set), &set);
}

/*
 * On a busy machine a woken recorder waits for others to use up their slices, and a ring can fill in a
 * few ms. Tasks that ask for short slices get the CPU sooner, for less time (Linux 6.12 and later;
 * older kernels ignore it, and a refusal costs nothing). sched_setattr(2)
 */
static void ask_for_short_slices(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attr = {
		.size = sizeof(attr),
		.flags = SCHED_FLAG_KEEP_POLICY,
		.nice = getpriority(PRIO_PROCESS, 0),
		.runtime_ns = SHORT_SLICE_NS,
	};

	(void)!syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void begin_polling(struct reader_thread *reader)
{
	reader->fds = xcalloc(reader->n_rings + 1, sizeof(*reader->fds));
	reader->fds[0] = (struct pollfd){ .fd = reader->reader.producer.wake_fd, .events = POLLIN };
	for (size_t i = 0; i < reader->n_rings; i++)
		reader->fds[i + 1] = (struct pollfd){
			.fd = rings_next_fd(reader->readers->rings, reader->rings[i]),
			.events = POLLIN,
		};
}

static int longest_wait_ms(const struct reader_thread *reader)
{
	if (reader->reader.short_of_room)
		return DRAIN_AGAIN_MS;
	return reader->readers->n > 1 ? DRAIN_EVERY_MS : DRAIN_SELDOM_MS;
}

/* A ring whose descriptor has hung up is polled on the next one that writes into it. */
static void wait_for_rings(struct reader_thread *reader)
{
	uint64_t wakes;

	if (poll(reader->fds, reader->n_rings + 1, longest_wait_ms(reader)) < 0)
		return;
	for (size_t i = 0; i < reader->n_rings; i++) {
		struct pollfd *fd = &reader->fds[i + 1];

		if (fd->fd >= 0 && (fd->revents & (POLLHUP | POLLERR)))
			fd->fd = rings_next_fd(reader->readers->rings, reader->rings[i]);
	}
	if (reader->fds[0].revents)
		(void)!read(reader->fds[0].fd, &wakes, sizeof(wakes));
}

/* Returns how often it was asked so far. */
static uint64_t asked(struct readers *readers, bool *stops)
{
	uint64_t n;

	pthread_mutex_lock(&readers->lock);
	n = readers->asked;
	*stops = readers->stops;
	pthread_mutex_unlock(&readers->lock);
	return n;
}

static void has_drained(struct reader_thread *reader, uint64_t drained)
{
	struct readers *readers = reader->readers;

	if (drained == reader->drained)
		return;
	pthread_mutex_lock(&readers->lock);
	reader->drained = drained;
	pthread_cond_signal(&readers->drained);
	pthread_mutex_unlock(&readers->lock);
}

static void *reader_main(void *data)
{
	struct reader_thread *reader = data;
	bool stops = false;

	run_on(&reader->affinity);
	/* The priority of this thread alone (setpriority(2), NOTES). A refusal means that it waits its turn. */
	(void)!setpriority(PRIO_PROCESS, 0, HIGHEST_PRIORITY);
	ask_for_short_slices();
	begin_polling(reader);
	while (!stops) {
		uint64_t wanted;
		size_t n;

		wait_for_rings(reader);
		wanted = asked(reader->readers, &stops);
		n = ring_reader_drain(&reader->reader, stops			? DRAIN_PATIENTLY :
						      wanted != reader->drained ? DRAIN_AND_HAND_OVER :
										 DRAIN_ON);
		reader->wakeups += n > 0;
		has_drained(reader, wanted);
	}
	free(reader->fds);
	return NULL;
}

/* ---- who reads what ---- */

static void give_out_rings(struct readers *readers, const struct reader_shares *shares)
{
	for (size_t i = 0; i < readers->rings->n; i++) {
		const struct ring *ring = &readers->rings->v[i];
		struct reader_thread *reader;

		if (ring->overwrite)
			continue;
		reader = &readers->v[reader_of_cpu(shares, ring->cpu)];
		VEC_GROW(reader->rings, reader->n_rings, reader->rings_cap);
		reader->rings[reader->n_rings++] = i;
	}
}

static void make_readers(struct readers *readers, const struct reader_shares *shares)
{
	readers->n = shares->n;
	readers->v = xcalloc(shares->n, sizeof(*readers->v));
	for (size_t i = 0; i < shares->n; i++) {
		readers->v[i].readers = readers;
		readers->v[i].reader.producer.wake_fd = -1;
		for (size_t k = 0; k < shares->v[i].affinity.n; k++)
			intset_add(&readers->v[i].affinity, shares->v[i].affinity.v[k]);
	}
	give_out_rings(readers, shares);
}

static int split(struct readers *readers, const struct record_plan *plan,
		 const struct topology *topology, struct str *err)
{
	struct reader_shares shares = { 0 };
	struct intset cpus = INTSET_INIT;
	int rc;

	for (size_t i = 0; i < readers->rings->n; i++) {
		if (!readers->rings->v[i].overwrite)
			intset_add(&cpus, readers->rings->v[i].cpu);
	}
	rc = reader_split_of(&shares, plan, topology, &cpus, err);
	if (!rc)
		make_readers(readers, &shares);
	reader_shares_release(&shares);
	intset_release(&cpus);
	return rc;
}

int readers_plan(struct readers *readers, struct ring_set *rings, const struct record_plan *plan,
		 struct str *err)
{
	struct topology topology = { 0 };
	bool by_place = plan->readers != READERS_ONE && plan->readers != READERS_CPU &&
			plan->readers != READERS_MASKS;
	int rc = by_place ? topology_read(&topology, &plan->kern->host, err) : 0;

	*readers = (struct readers){ .rings = rings, .realtime_priority = (int)plan->realtime_priority };
	pthread_mutex_init(&readers->lock, NULL);
	pthread_cond_init(&readers->drained, NULL);
	if (!rc)
		rc = split(readers, plan, by_place ? &topology : NULL, err);
	topology_release(&topology);
	return rc;
}

/* ---- all of them ---- */

static int start(struct readers *readers, struct reader_thread *reader, struct buffers *buffers,
		 const struct events *events, struct str *err)
{
	int code, fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ring_reader_init(&reader->reader, events, buffers);
	for (size_t i = 0; i < reader->n_rings; i++)
		ring_reader_add(&reader->reader, &readers->rings->v[reader->rings[i]]);
	reader->reader.producer.wake_fd = fd;
	reader->reader.producer.is_waited_for = true;
	if (fd < 0)
		return fail(err, -errno, "cannot start a reader: eventfd: %s", strerror(errno));
	code = pthread_create(&reader->thread, NULL, reader_main, reader);
	if (code)
		return fail(err, -code, "cannot start a reader: %s", strerror(code));
	reader->started = true;
	/* The priority of readers is not for those who unwind and write, nor for the command. */
	if (readers->realtime_priority)
		code = pthread_setschedparam(reader->thread, SCHED_FIFO,
					     &(struct sched_param){ .sched_priority = readers->realtime_priority });
	return code ? fail(err, -code, "--realtime: cannot read with SCHED_FIFO and priority %d: %s",
			   readers->realtime_priority, strerror(code)) : 0;
}

int readers_start(struct readers *readers, struct buffers *buffers, const struct events *events,
		  struct str *err)
{
	int rc = 0;

	for (size_t i = 0; i < readers->n && !rc; i++)
		rc = start(readers, &readers->v[i], buffers, events, err);
	return rc;
}

/* Needs the lock. */
static void wake_all(struct readers *readers)
{
	const uint64_t one = 1;

	for (size_t i = 0; i < readers->n; i++) {
		if (readers->v[i].started)
			(void)!write(readers->v[i].reader.producer.wake_fd, &one, sizeof(one));
	}
}

static bool all_drained(const struct readers *readers)
{
	for (size_t i = 0; i < readers->n; i++) {
		if (readers->v[i].started && readers->v[i].drained != readers->asked)
			return false;
	}
	return true;
}

void readers_drain(struct readers *readers)
{
	pthread_mutex_lock(&readers->lock);
	readers->asked++;
	wake_all(readers);
	while (!all_drained(readers))
		pthread_cond_wait(&readers->drained, &readers->lock);
	pthread_mutex_unlock(&readers->lock);
}

void readers_drain_soon(struct readers *readers)
{
	pthread_mutex_lock(&readers->lock);
	wake_all(readers);
	pthread_mutex_unlock(&readers->lock);
}

void readers_stop(struct readers *readers)
{
	if (!readers->v)
		return;
	pthread_mutex_lock(&readers->lock);
	readers->stops = true;
	readers->asked++;
	wake_all(readers);
	pthread_mutex_unlock(&readers->lock);
	for (size_t i = 0; i < readers->n; i++) {
		if (readers->v[i].started)
			pthread_join(readers->v[i].thread, NULL);
		readers->v[i].started = false;
	}
}

void readers_count(const struct readers *readers, struct reader_totals *totals)
{
	*totals = (struct reader_totals){ 0 };
	for (size_t i = 0; i < readers->n; i++) {
		totals->wakeups += readers->v[i].wakeups;
		totals->n_cut += readers->v[i].reader.n_cut;
		totals->n_dropped += readers->v[i].reader.n_dropped;
	}
}

void readers_release(struct readers *readers)
{
	if (!readers->v)
		return;
	readers_stop(readers);
	for (size_t i = 0; i < readers->n; i++) {
		struct reader_thread *reader = &readers->v[i];

		if (reader->reader.producer.wake_fd >= 0 && reader->reader.buffers)
			close(reader->reader.producer.wake_fd);
		ring_reader_release(&reader->reader);
		intset_release(&reader->affinity);
		free(reader->rings);
	}
	free(readers->v);
	pthread_mutex_destroy(&readers->lock);
	pthread_cond_destroy(&readers->drained);
	*readers = (struct readers){ 0 };
}
