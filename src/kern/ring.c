/* SPDX-License-Identifier: MIT */
/*
 * One mmap ring: the kernel writes records and moves head, pstat copies them and moves tail.
 *
 *        tail                 head
 *   |.....[======= ready =======)......|      ready bytes may wrap: then there are two spans
 *
 * Invariants: head is read with acquire before the bytes, tail is written with release after they
 * were copied. The kernel may lower head for a moment while it reserves room: head at or below tail
 * is an empty ring. An overwrite ring is mapped read-only; the kernel writes it downwards from the
 * top, so head is the newest record's first byte and runs negative: what was added since the last
 * look lies between head and where head was then.
 */
#include "kern/kern.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* From here on types are those of writers of perf.data: the kernel has none of them. */
enum { FIRST_USER_TYPE = 64 };

int ring_map(struct ring *ring, const struct sys_ops *sys, int fd, int cpu, size_t data_pages,
	     bool overwrite)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	int err = 0;
	void *base;

	*ring = (struct ring){ .fd = fd, .cpu = cpu, .overwrite = overwrite, .sys = sys };
	if (!data_pages || (data_pages & (data_pages - 1)) || data_pages > SIZE_MAX / page_bytes - 1)
		return -EINVAL;
	ring->mapped_bytes = (data_pages + 1) * page_bytes;
	base = sys->map(fd, ring->mapped_bytes, !overwrite, &err);
	if (!base)
		return err;
	ring->page = base;
	ring->data = (unsigned char *)base + page_bytes;
	ring->data_bytes = data_pages * page_bytes;
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->page)
		ring->sys->unmap(ring->page, ring->mapped_bytes);
	ring->page = NULL;
}

/* [from, from + n) of the endless sequence as one or two pieces of the ring. */
static size_t spans_of(const struct ring *ring, uint64_t from, uint64_t n, struct ring_span span[2])
{
	uint64_t start = from & (ring->data_bytes - 1);
	uint64_t first = ring->data_bytes - start;

	if (first > n)
		first = n;
	span[0] = (struct ring_span){ ring->data + start, (size_t)first };
	span[1] = (struct ring_span){ ring->data, (size_t)(n - first) };
	return (size_t)n;
}

size_t ring_ready(const struct ring *ring, struct ring_span span[2])
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t n = head - ring->tail;

	/* A head below tail is a huge n. */
	if (n > ring->data_bytes)
		n = 0;
	return spans_of(ring, ring->tail, n, span);
}

void ring_release(struct ring *ring, size_t n)
{
	ring->tail += n;
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/* 0: there is no header that makes sense. */
static uint16_t record_size_at(const struct ring *ring, uint64_t at)
{
	const struct perf_event_header *header;

	/* Records are multiples of 8 bytes, so a header never wraps. */
	header = (const void *)(ring->data + (at & (ring->data_bytes - 1)));
	if (!header->type || header->type >= FIRST_USER_TYPE || header->size < sizeof(*header) ||
	    header->size % 8)
		return 0;
	return header->size;
}

/* How many of the n bytes from `at` on are whole records that make sense; *largest: the size of one of them. */
static uint64_t whole_records(const struct ring *ring, uint64_t at, uint64_t n, uint16_t *largest)
{
	uint64_t whole = 0;

	*largest = 0;
	while (whole < n) {
		uint16_t size = record_size_at(ring, at + whole);

		if (!size || size > n - whole)
			break;
		*largest = size > *largest ? size : *largest;
		whole += size;
	}
	return whole;
}

size_t ring_snapshot(struct ring *ring, struct ring_span span[2])
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t n = ring->tail - head, whole;
	uint16_t largest;

	ring->tail = head;
	if (n > ring->data_bytes)
		n = ring->data_bytes;
	whole = whole_records(ring, head, n, &largest);
	/*
	 * A writer that was about to write when the ring was paused still does so below head, where the oldest
	 * record is once the ring is full: as much as one record of these may be torn there.
	 */
	if (n > ring->data_bytes - largest)
		whole = whole_records(ring, head, ring->data_bytes - largest, &largest);
	return spans_of(ring, head, whole, span);
}

int ring_pause(const struct ring *ring, bool pause)
{
	return ring->sys->ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause);
}
