/*
 * The copying. A ring is given back as soon as its bytes are copied, before anything is done with
 * them: how much room the kernel has must not depend on the disk.
 *
 * The cost of a pass is one load per ring (its head) and the bytes that are there: empty rings cost
 * next to nothing.
 */
#include "record/drain.h"

#include <stdlib.h>

void drain_init(struct drain *drain, const struct events *events)
{
	*drain = (struct drain){ .buf = STR_INIT };
	tally_init(&drain->tally, events);
}

void drain_add_ring(struct drain *drain, struct ring *ring)
{
	VEC_GROW(drain->rings, drain->n, drain->cap);
	drain->rings[drain->n++] = ring;
}

void drain_release(struct drain *drain)
{
	free(drain->rings);
	str_release(&drain->buf);
	tally_release(&drain->tally);
	*drain = (struct drain){ .buf = STR_INIT };
}

static int hand_on(struct drain *drain, bool round_ends, struct str *err)
{
	int rc;

	tally_walk(&drain->tally, (const uint8_t *)drain->buf.s, drain->buf.len, drain->on_space,
		   drain->data);
	rc = drain->take(drain->data, drain, round_ends, err);
	str_reset(&drain->buf);
	return rc;
}

static ssize_t pass(struct drain *drain, size_t (*look)(struct ring *ring, struct ring_span span[2]),
		    struct str *err)
{
	size_t total = 0;
	int rc;

	for (size_t i = 0; i < drain->n; i++) {
		struct ring *ring = drain->rings[i];
		struct ring_span span[2];
		size_t n = look(ring, span);

		if (!n)
			continue;
		str_addn(&drain->buf, (const char *)span[0].bytes, span[0].n);
		str_addn(&drain->buf, (const char *)span[1].bytes, span[1].n);
		if (!ring->overwrite)
			ring_release(ring, n);
		total += n;
		rc = drain->buf.len >= DRAIN_PIECE_BYTES ? hand_on(drain, false, err) : 0;
		if (rc)
			return rc;
	}
	rc = hand_on(drain, true, err);
	return rc ? rc : (ssize_t)total;
}

static size_t look_ready(struct ring *ring, struct ring_span span[2])
{
	return ring_ready(ring, span);
}

ssize_t drain_pass(struct drain *drain, struct str *err)
{
	return pass(drain, look_ready, err);
}

ssize_t drain_snapshot(struct drain *drain, struct str *err)
{
	return pass(drain, ring_snapshot, err);
}
