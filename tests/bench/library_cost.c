/* SPDX-License-Identifier: MIT */
/*
 * What libpstat costs: reading a counter with and without a system call, and a sample out of a ring.
 *
 * Each row is the cheapest of several passes, since other programs only make them dearer. The exit status is how many
 * promises were missed.
 */
#include "count/libpstat.h"
#include "count/record_feed.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PASSES = 50, ROUNDS = 2000, RATIOS = 9, TURNS = 200, SHORT_PASS = 200, SAMPLES = 1000 };

static int missed;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ns of one call, in one pass. */
static double one_pass(void (*call)(void *data), void *data, int rounds)
{
	uint64_t start = cpu_ns();

	for (int i = 0; i < rounds; i++)
		call(data);
	return (double)(cpu_ns() - start) / rounds;
}

static double cheapest(void (*call)(void *data), void *data, int rounds)
{
	double best = 1e18;

	for (int pass = 0; pass < PASSES; pass++) {
		double ns = one_pass(call, data, rounds);

		best = ns < best ? ns : best;
	}
	return best;
}

static void row(const char *what, double value, const char *unit, double most)
{
	bool good = most <= 0 || value <= most;

	printf("%-58s %9.2f %-5s", what, value, unit);
	if (most > 0)
		printf(" %7.2f%s", most, good ? "" : "  MISSED");
	putchar('\n');
	missed += !good;
}

/* ---- counters ---- */

struct counting {
	struct pstat_counters *counters;
	struct pstat_readings *readings;
	int fd;
};

static struct counting open_counting(const char *text, int user_read)
{
	struct pstat_open_options options = { .size = sizeof(options), .enabled = 1, .user_read = user_read };
	struct pstat_error error = { .size = sizeof(error) };
	struct counting c = { .fd = -1 };
	struct pstat_events *events;

	if (pstat_events_new(&events) || pstat_events_parse(events, text, &error) ||
	    pstat_open(&c.counters, events, &options, &error) || pstat_readings_new(&c.readings, c.counters))
		errx(1, "%s: %s", text, error.text);
	pstat_events_free(events);
	pstat_descriptors(c.counters, 0, &c.fd, 1);
	return c;
}

static void close_counting(struct counting *c)
{
	pstat_readings_free(c->readings);
	pstat_close(c->counters);
}

static void bare_read(void *data)
{
	const struct counting *c = data;
	uint64_t words[16];

	if (read(c->fd, words, sizeof(words)) <= 0)
		err(1, "read");
}

static void library_read(void *data)
{
	const struct counting *c = data;

	pstat_read(c->counters, c->readings);
}

static void user_read(void *data)
{
	const struct counting *c = data;
	uint64_t value;

	pstat_user_read(c->counters, 0, &value);
}

static void user_pair(void *data)
{
	user_read(data);
	user_read(data);
}

/* Short passes in turn, so that both see the same machine. */
static double ratio_in_turn(void (*call)(void *data), struct counting *c)
{
	double bare = 1e18, ours = 1e18;

	for (int i = 0; i < TURNS; i++) {
		double b = one_pass(bare_read, c, SHORT_PASS), o = one_pass(call, c, SHORT_PASS);

		bare = b < bare ? b : bare;
		ours = o < ours ? o : ours;
	}
	return ours / bare;
}

static int by_size(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The median of several times. */
static void ratio_to_bare(const char *what, void (*call)(void *data), struct counting *c, double most)
{
	double ratios[RATIOS];

	for (int i = 0; i < RATIOS; i++)
		ratios[i] = ratio_in_turn(call, c);
	qsort(ratios, RATIOS, sizeof(*ratios), by_size);
	row(what, ratios[RATIOS / 2], "times", most);
}

static void counters(void)
{
	struct counting c = open_counting("instructions:u", 1);
	const char *const pair = "two reads of a counter without a system call", *why_not = NULL;
	uint64_t value;

	if (!pstat_counter(c.counters, 0)->supported)
		why_not = pstat_counter(c.counters, 0)->reason;
	else if (pstat_user_read(c.counters, 0, &value) != PSTAT_BY_USER)
		why_not = pstat_user_read_reason(c.counters, 0);
	else
		row(pair, cheapest(user_pair, &c, ROUNDS), "ns", 60);
	if (why_not)
		printf("%-58s not run: %s\n", pair, why_not);
	close_counting(&c);

	c = open_counting("page-faults:u", 0);
	ratio_to_bare("pstat_read() of one event, by read(2)", library_read, &c, 1.1);
	close_counting(&c);
	c = open_counting("{page-faults,minor-faults,major-faults,alignment-faults}:u", 0);
	ratio_to_bare("pstat_read() of a group of four, by read(2)", library_read, &c, 1.1);
	close_counting(&c);
	c = open_counting("page-faults:u", 1);
	ratio_to_bare("pstat_user_read() where it has to ask, by read(2)", user_read, &c, 1.1);
	close_counting(&c);
}

/* ---- samples: a ring that is plain memory ---- */

static void *map_memory(int fd, size_t bytes, bool writable, int *error)
{
	void *p = aligned_alloc(4096, bytes);

	(void)fd, (void)writable;
	*error = p ? 0 : -ENOMEM;
	return p ? memset(p, 0, bytes) : NULL;
}

static void unmap_memory(void *p, size_t bytes)
{
	(void)bytes;
	free(p);
}

static const struct sys_ops memory = { .map = map_memory, .unmap = unmap_memory };

struct sampling {
	struct ring ring;
	struct record_feed feed;
	size_t bytes;
};

static void read_all(void *data)
{
	struct sampling *s = data;
	const struct pstat_record *record;
	int n = 0;

	s->ring.tail = 0;
	s->ring.page->data_head = s->bytes;
	while (record_feed_next(&s->feed, &record) == 1)
		n++;
	if (n != SAMPLES)
		errx(1, "%d samples", n);
}

static void samples(const char *what, uint64_t n_ips)
{
	const uint64_t fields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				(n_ips ? PERF_SAMPLE_CALLCHAIN : 0);
	const struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = fields, .sample_id_all = 1 };
	struct sampling s;
	uint64_t chain[100], id = 7;
	struct record_body body = { .type = RECORD_SAMPLE };
	struct str bytes = STR_INIT, error = STR_INIT;
	struct data_event *event;

	if (ring_map(&s.ring, &memory, 3, 0, 256, false))
		errx(1, "no memory");
	record_feed_init(&s.feed, &s.ring, 1);
	event = events_add(&s.feed.events, &attr, sizeof(attr), &id, 1);
	for (size_t i = 0; i < ARRAY_SIZE(chain); i++)
		chain[i] = 0x5000 + i;
	body.sample = (struct sample){ .id = id, .ip = 1, .pid = 2, .tid = 3, .time_ns = 4, .n_ips = n_ips };
	body.sample.ips = chain;
	for (int i = 0; i < SAMPLES; i++)
		record_encode(&body, event, &bytes, &error);
	memcpy(s.ring.data, bytes.s, bytes.len);
	s.bytes = bytes.len;
	row(what, cheapest(read_all, &s, 1) / SAMPLES, "ns", 0);
	record_feed_release(&s.feed);
	ring_unmap(&s.ring);
	str_release(&bytes);
}

int main(void)
{
	counters();
	samples("pstat_sampler_next(), a sample", 0);
	samples("pstat_sampler_next(), a sample with a chain of 20", 20);
	return missed;
}
