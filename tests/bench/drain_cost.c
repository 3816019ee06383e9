/* SPDX-License-Identifier: MIT */
/*
 * What draining costs as rings and events become more: rings that are plain memory, filled with samples
 * as the kernel fills them, and the recorder's own looks at them. Copying, handing over and counting are in it,
 * the write to the file and the wait in poll(2) are not.
 *
 * Prints one row for each case, with the CPU time of the cheapest of several passes: other programs only make
 * them dearer.
 */
#include "data/record_sink.h"
#include "record/consumer.h"
#include "record/ring_reader.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BUFFERS_BYTES = 16 << 20 }; /* the default of --buffer-size */
enum { RING_BYTES = 512 << 10, MAX_RINGS = 256, PASSES = 30, MAX_WORDS = 64 };

/* To add a case: a row here. */
static const struct cost_case {
	size_t n_rings, n_events, n_samples; /* samples: in each ring at each pass */
	size_t n_frames; /* of their callchains; 0: none */
} cases[] = {
	{ 1, 1, 0, 0 },	    { 16, 1, 0, 0 },	{ 256, 1, 0, 0 },
	{ 1, 1, 1000, 0 },  { 16, 1, 1000, 0 }, { 256, 1, 1000, 0 },
	{ 1, 1, 500, 20 },  { 16, 1, 500, 20 }, { 256, 1, 500, 20 },
	{ 256, 1, 10, 20 }, { 256, 4, 500, 20 }, { 256, 16, 500, 20 }, { 256, 64, 500, 20 },
};

static struct ring rings[MAX_RINGS];

static uint64_t id_of(size_t event, size_t ring)
{
	return 1 + event * MAX_RINGS + ring;
}

static void add_events(struct events *events, const struct cost_case *c)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       (c->n_frames ? PERF_SAMPLE_CALLCHAIN : 0),
		.sample_id_all = 1,
	};

	for (size_t i = 0; i < c->n_events; i++) {
		struct data_event *event = events_add(events, &attr, sizeof(attr), NULL, 0);

		for (size_t k = 0; k < c->n_rings; k++)
			events_add_ids(events, event, (const uint64_t[]){ id_of(i, k) }, 1);
	}
}

/* IDENTIFIER, IP, TID, TIME, CPU, PERIOD and the callchain. Returns its size. */
static size_t make_sample(uint64_t *record, const struct cost_case *c, size_t ring, size_t number)
{
	size_t n = 7 + (c->n_frames ? 1 + c->n_frames : 0);
	const struct perf_event_header header = { .type = RECORD_SAMPLE, .size = (uint16_t)(8 * n) };

	memset(record, 0, 8 * n);
	memcpy(record, &header, sizeof(header));
	record[1] = id_of(number % c->n_events, ring);
	record[4] = number;
	if (c->n_frames)
		record[7] = c->n_frames;
	return header.size;
}

static void fill(const struct cost_case *c)
{
	for (size_t i = 0; i < c->n_rings; i++) {
		struct ring *ring = &rings[i];
		uint64_t head = ring->page->data_head, record[MAX_WORDS];

		for (size_t k = 0; k < c->n_samples; k++) {
			size_t n = make_sample(record, c, i, k);

			for (size_t w = 0; w < n; w += 8, head += 8)
				memcpy(ring->data + (head & (RING_BYTES - 1)), (char *)record + w, 8);
		}
		ring->page->data_head = head;
	}
}

/* ---- what is measured: nothing else here knows how the recorder is called ---- */

/* A reader on this thread, and a consumer on its own: as it records, but that the sink only counts. */
struct recorder {
	struct record_sink sink;
	struct sample_counts total;
	struct buffers buffers;
	struct ring_reader reader;
	struct consumer consumer;
	struct str err;
};

static void on_task(void *data, const struct record *record)
{
	(void)data, (void)record;
}

static int take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct recorder *rec = (struct recorder *)sink;
	const uint64_t tasks = 1 << RECORD_MMAP | 1 << RECORD_COMM | 1 << RECORD_EXIT | 1 << RECORD_FORK |
			       1 << RECORD_MMAP2;

	(void)err;
	sample_counts_walk(&rec->total, records, n, tasks, on_task, NULL);
	return 0;
}

static int nothing(struct record_sink *sink, struct str *err)
{
	(void)sink, (void)err;
	return 0;
}

static int is_done(void *data, struct str *err)
{
	(void)data, (void)err;
	return 0;
}

static void recorder_begin(struct recorder *rec, const struct events *events, size_t n_rings)
{
	*rec = (struct recorder){
		.sink = { .take = take, .round = nothing, .flush = nothing, .end = nothing },
		.err = STR_INIT,
	};
	sample_counts_init(&rec->total, events);
	if (buffers_open(&rec->buffers, BUFFERS_BYTES, 1, &rec->err))
		errx(2, "%s", rec->err.s);
	ring_reader_init(&rec->reader, events, &rec->buffers);
	rec->reader.producer.is_waited_for = true;
	rec->reader.producer.wake_fd = -1;
	for (size_t i = 0; i < n_rings; i++)
		ring_reader_add(&rec->reader, &rings[i]);
	if (consumer_start(&rec->consumer, &rec->buffers, false, -1, &rec->err))
		errx(2, "%s", rec->err.s);
	consumer_begin(&rec->consumer, &rec->sink);
}

/* All that the rings have, until it was counted; the bytes of it. Where buffers run short it waits: nothing is cut. */
static size_t recorder_pass(struct recorder *rec)
{
	size_t bytes = ring_reader_drain(&rec->reader, DRAIN_PATIENTLY);

	if (bytes)
		consumer_call(&rec->consumer, is_done, NULL, &rec->err);
	return bytes;
}

/* The samples that were counted. */
static uint64_t recorder_end(struct recorder *rec)
{
	uint64_t samples = 0;

	consumer_stop(&rec->consumer, &rec->err);
	for (size_t i = 0; i < rec->total.events->n; i++)
		samples += rec->total.v[i].samples;
	ring_reader_release(&rec->reader);
	buffers_release(&rec->buffers);
	sample_counts_release(&rec->total);
	str_release(&rec->err);
	return samples;
}

/* Of all threads: who counts may run beside who copies, or not. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- how ---- */

/* CPU time in ns of the fastest pass; *bytes: taken by it. */
static uint64_t fastest_pass(struct recorder *rec, const struct cost_case *c, size_t *bytes)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < PASSES; i++) {
		uint64_t start, took;

		fill(c);
		start = cpu_ns();
		*bytes = recorder_pass(rec);
		took = cpu_ns() - start;
		if (took < best)
			best = took;
	}
	return best;
}

static void measure(const struct cost_case *c)
{
	size_t n = c->n_rings * c->n_samples, bytes;
	struct recorder rec;
	struct events events;
	uint64_t counted;
	double ns;

	events_init(&events);
	add_events(&events, c);
	recorder_begin(&rec, &events, c->n_rings);
	ns = (double)fastest_pass(&rec, c, &bytes);
	printf("%5zu %6zu %8zu %7zu %10.1f", c->n_rings, c->n_events, n, n ? bytes / n : 0, ns / 1e3);
	if (n)
		printf(" %9.1f", ns / (double)n);
	printf("\n");
	counted = recorder_end(&rec);
	if (counted != n * PASSES)
		errx(2, "%zu samples were made, %zu counted", n * PASSES, (size_t)counted);
	events_release(&events);
}

int main(void)
{
	for (size_t i = 0; i < MAX_RINGS; i++)
		rings[i] = (struct ring){
			.page = calloc(1, sizeof(*rings[i].page)),
			.data = calloc(1, RING_BYTES),
			.data_bytes = RING_BYTES,
			.cpu = (int)i,
		};
	printf("%5s %6s %8s %7s %10s %9s\n", "rings", "events", "samples", "bytes", "us a pass",
	       "ns each");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		measure(&cases[i]);
	for (size_t i = 0; i < MAX_RINGS; i++) {
		free(rings[i].page);
		free(rings[i].data);
	}
	return 0;
}
