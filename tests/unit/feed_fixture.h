/* SPDX-License-Identifier: MIT */
/*
 * Rings that a test fills as the kernel does, and the feed that reads them.
 */
#ifndef FEED_FIXTURE_H
#define FEED_FIXTURE_H

#include "count/record_feed.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { FEED_RINGS = 3 };

static struct {
	struct ring rings[FEED_RINGS];
	uint64_t head[FEED_RINGS];
	struct record_feed feed;
	const struct pstat_record *record; /* the last one */
} fix;

static void *fix_map(int fd, size_t bytes, bool writable, int *err)
{
	void *p = NULL;

	(void)fd, (void)writable;
	*err = posix_memalign(&p, 4096, bytes) ? -ENOMEM : 0;
	assert_int_equal(*err, 0);
	memset(p, 0, bytes);
	return p;
}

static void fix_unmap(void *addr, size_t bytes)
{
	(void)bytes;
	free(addr);
}

static const struct sys_ops fix_ops = { .map = fix_map, .unmap = fix_unmap };

/* n rings of so many pages: of the CPUs 0, 1, ... */
static inline void fix_open(size_t n, size_t pages)
{
	memset(&fix, 0, sizeof(fix));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ring_map(&fix.rings[i], &fix_ops, 7, (int)i, pages, false), 0);
	record_feed_init(&fix.feed, fix.rings, n);
}

static inline void fix_close(void)
{
	record_feed_release(&fix.feed);
	record_feed_release(&fix.feed);
	for (size_t i = 0; i < FEED_RINGS; i++)
		if (fix.rings[i].page)
			ring_unmap(&fix.rings[i]);
}

/* An event with these fields, whose id is `id`. */
static inline struct data_event *fix_event(uint64_t sample_type, uint64_t read_format, uint64_t id)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .sample_type = sample_type,
		.read_format = read_format, .sample_id_all = 1,
	};

	return events_add(&fix.feed.events, &attr, sizeof(attr), &id, 1);
}

/* What came before is as if it had been written and read: the next byte lies here. */
static inline void fix_place(size_t ring, uint64_t at)
{
	fix.head[ring] = at;
	fix.rings[ring].tail = at;
	fix.rings[ring].page->data_head = at;
	fix.feed.ready = fix.feed.used = fix.feed.last = 0;
}

static inline void fix_bytes(size_t ring, const void *bytes, size_t n)
{
	struct ring *r = &fix.rings[ring];

	for (size_t i = 0; i < n; i++)
		r->data[(fix.head[ring] + i) & (r->data_bytes - 1)] = ((const unsigned char *)bytes)[i];
	fix.head[ring] += n;
	__atomic_store_n(&r->page->data_head, fix.head[ring], __ATOMIC_RELEASE);
}

static inline size_t fix_put(size_t ring, const struct record_body *body, const struct data_event *event)
{
	struct str bytes = STR_INIT, err = STR_INIT;
	size_t n;

	assert_int_equal(record_encode(body, event, &bytes, &err), 0);
	n = bytes.len;
	fix_bytes(ring, bytes.s, n);
	str_release(&bytes);
	str_release(&err);
	return n;
}

static inline int fix_next(void)
{
	return record_feed_next(&fix.feed, &fix.record);
}

#endif
