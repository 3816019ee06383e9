/* SPDX-License-Identifier: MIT */
/*
 * switch_event: hits of an event -> the wish for a new file.
 *
 *   sample of the event --wakes--> ring's descriptor --edge--> epoll_fd --> the recorder's loop asks switch_event_hit()
 *
 * A ring wakes its reader at each sample (wakeup_events 1). epoll tells edges alone: a descriptor whose task has
 * ended hangs up for ever, and would keep a plain poll(2) busy. Whether there was a hit the rings tell: the kernel
 * says that a ring is readable to the first who asks, which is the poll of epoll_fd.
 *
 * Sources: perf_event_open(2), "wakeup_events", "Overflow handling"; epoll(7).
 */
#include "record/switch_event.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Hits that are not taken yet; if there is no room for more, one at least is there to be seen. */
enum { RING_BYTES = 4096, EDGES_MAX = 16 };

static void ask_for_samples(struct event *event, bool inherit)
{
	struct perf_event_attr *attr = &event->attr;

	attr->sample_type = PERF_SAMPLE_TID;
	attr->wakeup_events = 1;
	attr->inherit = inherit;
	if (!event->terms.has_period && !event->terms.has_freq)
		attr->sample_period = 1;
}

static int check_open(const struct switch_event *of, struct str *err)
{
	for (size_t i = 0; i < of->set.n; i++) {
		const struct counter *c = &of->set.v[i];

		if (c->state != COUNTER_OPEN)
			return fail(err, c->err ? -c->err : -EINVAL, "--switch-output-event: %s: %s%s%s", c->name,
				    c->reason ? c->reason : "it is not an event of the kernel", c->remedy ? "\n" : "",
				    c->remedy ? c->remedy : "");
	}
	return 0;
}

static int watch_rings(struct switch_event *of, struct str *err)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	int rc = 0;

	of->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (of->epoll_fd < 0)
		rc = -errno;
	for (size_t i = 0; i < of->rings.n && !rc; i++)
		if (epoll_ctl(of->epoll_fd, EPOLL_CTL_ADD, of->rings.v[i].fd, &edge))
			rc = -errno;
	return rc ? fail(err, rc, "--switch-output-event: epoll: %s", strerror(-rc)) : 0;
}

int switch_event_open(struct switch_event *of, const struct record_plan *plan, const struct target *target,
		      bool starts_with_exec, struct str *err)
{
	const bool inherit = plan->sampling.inherit && !plan->target.per_thread;
	const struct open_options options = {
		.inherit = inherit,
		.enable_on_exec = starts_with_exec,
		.start_disabled = !starts_with_exec,
		.sample = true,
		.per_cpu = !plan->target.per_thread,
		.filters_later = target->kind == TARGET_CPUS,
	};
	const struct ring_options ring_options = { .data_bytes = RING_BYTES, .enough_bytes = RING_BYTES };
	int rc;

	for (size_t i = 0; i < plan->switch_events->n; i++)
		ask_for_samples(&plan->switch_events->v[i], inherit);
	rc = counters_open(&of->set, plan->switch_events, target, &options, plan->kern, plan->notes, err);
	if (!rc)
		rc = check_open(of, err);
	if (!rc)
		rc = rings_open(&of->rings, &of->set, &ring_options, err);
	return rc ? rc : watch_rings(of, err);
}

int switch_event_begin(struct switch_event *of)
{
	return of->epoll_fd < 0 ? 0 : counters_enable(&of->set);
}

bool switch_event_hit(struct switch_event *of)
{
	struct epoll_event edges[EDGES_MAX];
	bool hit = false;

	if (of->epoll_fd < 0)
		return false;
	epoll_wait(of->epoll_fd, edges, EDGES_MAX, 0);
	for (size_t i = 0; i < of->rings.n; i++) {
		struct ring_span span[2];
		size_t n = ring_ready(&of->rings.v[i], span);

		hit = hit || n;
		ring_release(&of->rings.v[i], n);
	}
	return hit;
}

void switch_event_close(struct switch_event *of)
{
	if (of->epoll_fd >= 0)
		close(of->epoll_fd);
	rings_close(&of->rings);
	counters_close(&of->set);
	of->epoll_fd = -1;
}
