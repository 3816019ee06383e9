/*
 * A member's life: wait for its rings or the end, make a pass, tell the main thread where something
 * went wrong. Two descriptors end or tell: stop_fd is never read, so that one write reaches all.
 *
 * A member wakes at least every PASS_EVERY_MS, since the others' round marks wait for its passes.
 */
#include "record/crew.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PASS_EVERY_MS = 100 };

/* ---- who drains what ---- */

/* Do these two CPUs belong to one member? */
static bool same_member(const struct topology *topology, enum reader_split split, int a, int b)
{
	const struct cpu_place *x, *y;

	if (a == b || split == READERS_CPU)
		return a == b;
	x = topology_find(topology, a);
	y = topology_find(topology, b);
	if (!x || !y)
		return false;
	if (split == READERS_NODE)
		return x->node == y->node;
	return x->core == y->core && x->die == y->die && x->socket == y->socket;
}

static struct crew_member *member_for(struct crew *crew, const struct topology *topology,
				      enum reader_split split, int cpu)
{
	struct crew_member *member;

	for (size_t i = 0; i < crew->n; i++) {
		if (same_member(topology, split, crew->v[i]->cpus.v[0], cpu))
			return crew->v[i];
	}
	member = xcalloc(1, sizeof(*member));
	member->crew = crew;
	drain_init(&member->drain, crew->out->events);
	outfile_add_drain(crew->out, &member->side, &member->drain);
	VEC_GROW(crew->v, crew->n, crew->cap);
	crew->v[crew->n++] = member;
	return member;
}

static void give_out_rings(struct crew *crew, const struct topology *topology,
			   enum reader_split split)
{
	for (size_t i = 0; i < crew->rings->n; i++) {
		struct ring *ring = &crew->rings->v[i];
		struct crew_member *member;

		if (ring->overwrite)
			continue;
		member = member_for(crew, topology, split, ring->cpu);
		intset_add(&member->cpus, ring->cpu);
		drain_add_ring(&member->drain, ring);
		VEC_GROW(member->rings, member->n_rings, member->rings_cap);
		member->rings[member->n_rings++] = i;
	}
}

/* ---- a member ---- */

static void run_on(const struct intset *cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (size_t i = 0; i < cpus->n; i++) {
		if (cpus->v[i] >= 0 && cpus->v[i] < CPU_SETSIZE)
			CPU_SET(cpus->v[i], &set);
	}
	/* Where it may not, it drains from elsewhere. */
	if (CPU_COUNT(&set))
		(void)!sched_setaffinity(0, sizeof(set), &set);
}

static void tell(const struct crew *crew)
{
	const uint64_t one = 1;

	/* A counter that is full has told already. */
	(void)!write(crew->news_fd, &one, sizeof(one));
}

static bool something_is_up(struct outfile *out)
{
	bool up;

	pthread_mutex_lock(&out->lock);
	up = out->failed || out->full;
	pthread_mutex_unlock(&out->lock);
	return up;
}

/* fds[0] is stop_fd, then one per ring. False: the end was told. */
static bool wait_for_rings(struct crew_member *member, struct pollfd *fds)
{
	if (poll(fds, member->n_rings + 1, PASS_EVERY_MS) < 0)
		return true;
	for (size_t i = 0; i < member->n_rings; i++) {
		struct pollfd *fd = &fds[i + 1];

		if (fd->fd >= 0 && (fd->revents & (POLLHUP | POLLERR)))
			fd->fd = rings_next_fd(member->crew->rings, member->rings[i]);
	}
	return !fds[0].revents;
}

static void *member_main(void *data)
{
	struct crew_member *member = data;
	struct crew *crew = member->crew;
	struct pollfd *fds = xcalloc(member->n_rings + 1, sizeof(*fds));
	struct str why = STR_INIT;
	bool told = false;

	if (crew->affinity)
		run_on(&member->cpus);
	fds[0] = (struct pollfd){ .fd = crew->stop_fd, .events = POLLIN };
	for (size_t i = 0; i < member->n_rings; i++)
		fds[i + 1] = (struct pollfd){ .fd = rings_next_fd(crew->rings, member->rings[i]),
					      .events = POLLIN };
	while (wait_for_rings(member, fds)) {
		ssize_t n = drain_pass(&member->drain, &why);

		member->wakeups += n > 0;
		if (!told && something_is_up(crew->out)) {
			tell(crew);
			told = true;
		}
	}
	free(fds);
	str_release(&why);
	return NULL;
}

/* ---- all of them ---- */

static int start_members(struct crew *crew, struct str *err)
{
	for (size_t i = 0; i < crew->n; i++) {
		int code = pthread_create(&crew->v[i]->thread, NULL, member_main, crew->v[i]);

		if (code)
			return fail(err, -code, "--threads: cannot start a thread: %s",
				    strerror(code));
		crew->v[i]->started = true;
	}
	return 0;
}

int crew_start(struct crew *crew, struct ring_set *rings, struct outfile *out,
	       enum reader_split split, bool affinity, struct str *err)
{
	struct topology topology = { 0 };
	int rc = 0;

	*crew = (struct crew)CREW_INIT;
	crew->rings = rings;
	crew->out = out;
	crew->affinity = affinity;
	if (split != READERS_CPU)
		rc = topology_read(&topology, &out->plan->kern->host, err);
	if (rc)
		return rc;
	crew->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	crew->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (crew->stop_fd < 0 || crew->news_fd < 0) {
		rc = fail(err, -errno, "--threads: eventfd: %s", strerror(errno));
	} else {
		give_out_rings(crew, &topology, split);
		rc = start_members(crew, err);
	}
	topology_release(&topology);
	return rc;
}

static void member_free(struct crew_member *member)
{
	drain_release(&member->drain);
	intset_release(&member->cpus);
	free(member->rings);
	free(member);
}

uint64_t crew_stop(struct crew *crew)
{
	const uint64_t one = 1;
	uint64_t wakeups = 0;

	if (crew->stop_fd >= 0)
		(void)!write(crew->stop_fd, &one, sizeof(one));
	for (size_t i = 0; i < crew->n; i++) {
		if (crew->v[i]->started)
			pthread_join(crew->v[i]->thread, NULL);
		wakeups += crew->v[i]->wakeups;
	}
	if (crew->n)
		crew->out->drains = NULL;
	for (size_t i = 0; i < crew->n; i++)
		member_free(crew->v[i]);
	if (crew->stop_fd >= 0)
		close(crew->stop_fd);
	if (crew->news_fd >= 0)
		close(crew->news_fd);
	free(crew->v);
	*crew = (struct crew)CREW_INIT;
	return wakeups;
}
