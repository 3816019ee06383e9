/* SPDX-License-Identifier: MIT */
/*
 * sample_counts: what went by, counted from the records' headers: samples, losses and throttles per event,
 * and the time of the first and the last sample. Private to record/.
 *
 * The kernel says losses in two ways that overlap: LOST records, which come when there is room again
 * and count every lost record of a ring, and the count that each event gives when it is read at the end
 * (PERF_FORMAT_LOST). LOST_SAMPLES are the PMU's own losses and in neither of the two.
 */
#ifndef PSTAT_SAMPLE_COUNTS_H
#define PSTAT_SAMPLE_COUNTS_H

#include "data/data.h"

struct event_counts {
	uint64_t samples;
	uint64_t lost; /* of LOST records; their id is that of whoever wrote next into the ring */
	uint64_t lost_samples; /* of LOST_SAMPLES records */
	uint64_t throttled, unthrottled; /* records */
};

struct sample_counts {
	const struct events *events;
	struct event_counts *v; /* by event index, and one more: ids that match no event */
	int *time_words; /* by event index: where a sample's time is, in words of its payload; -1: nowhere */
	uint64_t first_ns, last_ns; /* of samples; first_ns > last_ns: none seen */
	uint64_t records;
};

void sample_counts_init(struct sample_counts *counts, const struct events *events);
void sample_counts_release(struct sample_counts *counts);
void sample_counts_clear(struct sample_counts *counts);
/* Adds all of `from` and empties it. */
void sample_counts_merge(struct sample_counts *counts, struct sample_counts *from);
/* Takes the numbers of a part away; the times stay those of the whole. */
void sample_counts_subtract(struct sample_counts *counts, const struct sample_counts *part);

/* Moves the numbers of samples alone. */
void sample_counts_move_samples(struct sample_counts *from, struct sample_counts *to);

/* Appends the LOST_SAMPLES record of an event; time_ns 0: nobody knows. */
int loss_encode(const struct data_event *event, uint64_t lost, uint64_t time_ns, struct str *out,
		struct str *err);

typedef void (*counted_record_fn)(void *data, const struct record *record);
/*
 * Walks over n bytes of whole records, aligned to 8. fn is called for those whose type is in `types`, a bit for each
 * type of the kernel's (below 64); of samples only for those with the id of another recorder's event. Returns how many
 * bytes were understood: less than n where a header makes no sense, which a kernel never writes.
 */
size_t sample_counts_walk(struct sample_counts *counts, const uint8_t *bytes, size_t n, uint64_t types,
			  counted_record_fn fn, void *data);

#endif
