/*
 * struct pstat_sampler: counters that take samples, their rings, and what reads them.
 *
 *   sample_attrs.c   options -> attrs      record_feed.c   rings -> records
 *   lib_counters.c   attrs -> descriptors  ring_poll.c     rings -> one descriptor to wait for
 *   kern/rings.c     descriptors -> rings
 *
 * Counting begins when all of it stands: before a ring is mapped its records are nobody's.
 */
#include "count/sample_attrs.h"
#include "count/record_feed.h"
#include "count/ring_poll.h"

#include <errno.h>
#include <stdlib.h>

enum { RING_BYTES = 256 << 10 };

struct pstat_sampler {
	struct pstat_counters *counters;
	struct ring_set rings;
	struct record_feed feed;
	struct ring_poll poll;
	struct fork_mark mark;
};

/* ---- opening ---- */

struct open_call {
	struct pstat_sampler **sampler;
	const struct pstat_events *events;
	struct pstat_sampling_options options;
	struct pstat_open_options open;
};

static int open_counters(struct pstat_sampler *s, const struct open_call *call, struct str *err)
{
	/* Rings that children write to are rings of a CPU. */
	const struct lib_sampling sampling = {
		.keep_wakeups = true,
		.per_cpu = call->open.inherit && call->open.target != PSTAT_CPUS,
	};
	struct pstat_open_options open = call->open;
	struct pstat_events events;
	int rc;

	open.enabled = 0;
	event_list_copy(&events.list, &call->events->list);
	rc = sample_attrs_fill(&events.list, &call->options, err);
	if (rc >= 0)
		rc = lib_counters_open(&s->counters, &events, &open, &sampling, &lib_kern, err);
	event_list_release(&events.list);
	return rc;
}

static int open_rings(struct pstat_sampler *s, const struct open_call *call, struct str *err)
{
	const struct ring_options options = {
		.data_bytes = call->options.ring_bytes ? call->options.ring_bytes : RING_BYTES,
	};

	return rings_open(&s->rings, &s->counters->set, &options, err);
}

/* In the order of the counters, also those that could not be opened: an index means the same in both. */
static int open_feed(struct pstat_sampler *s, struct str *err)
{
	const struct counter_set *set = &s->counters->set;

	record_feed_init(&s->feed, s->rings.v, s->rings.n);
	for (size_t i = 0; i < set->n; i++) {
		uint64_t *ids = NULL;
		size_t n = 0;
		int rc = set->v[i].state == COUNTER_OPEN ? counter_add_ids(set, i, &ids, &n) : 0;

		if (rc < 0)
			return fail(err, rc, "the kernel does not tell the ids of %s: %s", set->v[i].name,
				    strerror(-rc));
		events_add(&s->feed.events, &set->v[i].attr, sizeof(set->v[i].attr), ids, n);
		free(ids);
	}
	return 0;
}

static int open_body(void *data, struct str *err)
{
	const struct open_call *call = data;
	struct pstat_sampler *s = xcalloc(1, sizeof(*s));
	int rc;

	rc = open_counters(s, call, err);
	if (rc >= 0)
		rc = open_rings(s, call, err);
	if (rc >= 0)
		rc = open_feed(s, err);
	if (rc < 0)
		return rc;
	/* An older kernel has no such mark: a child has then to know by itself. */
	fork_mark_set(&s->mark);
	rc = ring_poll_open(&s->poll, &s->rings);
	if (rc < 0)
		return fail(err, rc, "the rings cannot be waited for: %s", strerror(-rc));
	*call->sampler = s;
	return 0;
}

int pstat_sampler_open(struct pstat_sampler **sampler, const struct pstat_events *events,
		       const struct pstat_sampling_options *options, struct pstat_error *error)
{
	struct open_call call = { .sampler = sampler, .events = events };
	int rc;

	if (!sampler || !events)
		return lib_error(error, -EINVAL, "there are no events, or there is no place for the sampler");
	*sampler = NULL;
	rc = lib_take_struct(&call.options, sizeof(call.options), options);
	if (!rc)
		rc = lib_take_struct(&call.open, sizeof(call.open), call.options.open);
	if (rc == -E2BIG)
		return lib_error(error, rc, "the options are newer than this library, and use what it does not know");
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
	return fork_mark_child(&sampler->mark) ? -EBADF : ring_poll_wait(&sampler->poll, timeout_ms);
}

int pstat_sampler_fd(const struct pstat_sampler *sampler)
{
	return sampler->poll.fd;
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
