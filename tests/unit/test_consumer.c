/* SPDX-License-Identifier: MIT */
/*
 * The buffers' two sides together: what several producers hand over comes to the sink in order and once, rounds end
 * when all have drained their rings, snapshots end them alone, calls keep their place, and a sink that fails is told
 * all the same.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "record/consumer.h"

#include <cmocka.h>

enum { N_PRODUCERS = 3 };

static struct buffers buffers;
static struct producer producers[N_PRODUCERS];
static struct consumer consumer;
static int wake_fd;
static struct str err;
static struct test_sink {
	struct record_sink sink;
	struct str seen; /* "aab|": a letter for each record, by its producer; | ends a round, F flushes */
	int fail; /* take gives it */
	unsigned n_takes;
} to;

static int take(struct record_sink *sink, const void *records, size_t n, struct str *why)
{
	const struct perf_event_header *header = records;

	for (size_t at = 0; at < n; at += header->size) {
		header = (const void *)((const char *)records + at);
		str_addf(&to.seen, "%c", (int)('a' + header->misc));
	}
	to.n_takes++;
	assert_ptr_equal(sink, &to.sink);
	if (to.fail)
		str_add(why, "it does not like it");
	return to.fail;
}

static int end_round(struct record_sink *sink, struct str *why)
{
	(void)sink, (void)why;
	str_add(&to.seen, "|");
	return 0;
}

static int flush(struct record_sink *sink, struct str *why)
{
	(void)sink, (void)why;
	str_add(&to.seen, "F");
	return 0;
}

static int setup(void **state)
{
	(void)state;
	to = (struct test_sink){ .sink = { take, end_round, flush, flush }, .seen = STR_INIT };
	wake_fd = eventfd(0, EFD_NONBLOCK);
	assert_int_equal(buffers_open(&buffers, 1, N_PRODUCERS, &err), 0);
	for (size_t i = 0; i < N_PRODUCERS; i++) {
		producers[i] = (struct producer){ .wake_fd = -1, .is_waited_for = true };
		buffers_add_producer(&buffers, &producers[i]);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	consumer_stop(&consumer, &err);
	buffers_release(&buffers);
	close(wake_fd);
	str_release(&to.seen);
	str_release(&err);
	return 0;
}

static void begin(bool snapshots)
{
	assert_int_equal(consumer_start(&consumer, &buffers, snapshots, wake_fd, &err), 0);
	consumer_begin(&consumer, &to.sink);
}

/* A pass of one producer that found n records. */
static void drain(size_t index, size_t n)
{
	struct producer *producer = &producers[index];

	buffers_drain_begins(&buffers, producer);
	for (size_t i = 0; i < n; i++) {
		const struct perf_event_header header = { .misc = (uint16_t)index, .size = 8 };

		if (!producer->filling)
			producer->filling = buffers_get(&buffers, producer, true);
		memcpy(producer->filling->bytes + producer->filling->n, &header, 8);
		producer->filling->n += 8;
	}
	buffers_drained(&buffers, producer, true);
}

static int nothing(void *data, struct str *why)
{
	(void)data, (void)why;
	return 0;
}

/* All that was handed over has come to the sink. */
static void settle(void)
{
	assert_int_equal(consumer_call(&consumer, nothing, NULL, &err), 0);
}

static const char *seen(void)
{
	settle();
	return to.seen.s ? to.seen.s : "";
}

static void a_round_waits_for_all(void **state)
{
	(void)state;
	begin(false);
	drain(0, 2);
	drain(0, 1);
	assert_string_equal(seen(), "aaa");
	/* One had nothing, but it has drained its rings. */
	drain(1, 0);
	assert_string_equal(seen(), "aaa");
	drain(2, 1);
	assert_string_equal(seen(), "aaac|");
	drain(2, 1);
	drain(1, 1);
	drain(1, 1);
	settle();
	drain(0, 0);
	assert_string_equal(seen(), "aaac|cbb|");
	assert_int_equal(consumer.rounds, 2);
}

/* A pass that began in the round before says nothing about this one. */
static void a_pass_belongs_to_the_round_in_which_it_began(void **state)
{
	(void)state;
	begin(false);
	drain(1, 1);
	drain(2, 1);
	settle();
	buffers_drain_begins(&buffers, &producers[1]);
	drain(0, 1);
	assert_string_equal(seen(), "bca|");
	buffers_drained(&buffers, &producers[1], true);
	drain(0, 1);
	drain(2, 1);
	assert_string_equal(seen(), "bca|ac");
	drain(1, 0);
	assert_string_equal(seen(), "bca|ac|");
}

/* Two rounds end after the last record, so that who waits for it to be old has it; others are nobody's business. */
static void no_empty_rounds(void **state)
{
	(void)state;
	begin(false);
	for (size_t i = 0; i < 5 * N_PRODUCERS; i++) {
		drain(i % N_PRODUCERS, 0);
		settle();
	}
	drain(0, 1);
	settle();
	for (size_t i = 0; i < 5 * N_PRODUCERS; i++) {
		drain(i % N_PRODUCERS, 0);
		settle();
	}
	assert_string_equal(seen(), "a||");
}

static void snapshots_make_the_rounds(void **state)
{
	struct producer *snapshots = &producers[2];

	(void)state;
	snapshots->is_waited_for = false;
	begin(true);
	drain(0, 1);
	drain(1, 1);
	drain(0, 1);
	drain(1, 1);
	assert_string_equal(seen(), "abab");
	buffers_snapshot_ends(&buffers, snapshots);
	assert_string_equal(seen(), "abab|");
	drain(0, 1);
	snapshots->filling = buffers_get(&buffers, snapshots, true);
	memcpy(snapshots->filling->bytes, &(struct perf_event_header){ .misc = 2, .size = 8 }, 8);
	snapshots->filling->n = 8;
	buffers_snapshot_ends(&buffers, snapshots);
	assert_string_equal(seen(), "abab|ac|");
}

static void calls_keep_their_place(void **state)
{
	(void)state;
	begin(false);
	drain(0, 2);
	assert_int_equal(consumer_flush(&consumer, &err), 0);
	drain(0, 1);
	consumer_flush_later(&consumer);
	assert_string_equal(seen(), "aaFaF");
}

/* Nothing is taken before it begins; what waited then comes in order. */
static void what_came_before_the_beginning(void **state)
{
	(void)state;
	assert_int_equal(consumer_start(&consumer, &buffers, false, wake_fd, &err), 0);
	drain(0, 3);
	drain(1, 2);
	drain(2, 1);
	assert_int_equal(to.n_takes, 0);
	consumer_begin(&consumer, &to.sink);
	assert_string_equal(seen(), "aaabbc|");
}

static void a_sink_that_fails(void **state)
{
	uint64_t news = 0;

	(void)state;
	begin(false);
	drain(0, 1);
	settle();
	assert_false(consumer_failed(&consumer));
	assert_int_equal(read(wake_fd, &news, sizeof(news)), -1);
	to.fail = -ENOSPC;
	drain(0, 1);
	settle();
	assert_true(consumer_failed(&consumer));
	assert_int_equal(read(wake_fd, &news, sizeof(news)), sizeof(news));
	drain(0, 1);
	drain(1, 1);
	drain(2, 1);
	/* It is told, for counting; but no rounds, and no flush. */
	assert_string_equal(seen(), "aaabc");
	assert_int_equal(consumer_flush(&consumer, &err), -ENOSPC);
	assert_non_null(strstr(err.s, "does not like it"));
	str_reset(&err);
	assert_int_equal(consumer_stop(&consumer, &err), -ENOSPC);
	assert_non_null(strstr(err.s, "does not like it"));
}

/* ---- with threads ---- */

enum { LOOKS = 3000 };

static void *produce(void *data)
{
	size_t index = (size_t)(uintptr_t)data;

	for (size_t i = 0; i < LOOKS; i++)
		drain(index, i % 7);
	return NULL;
}

static size_t count_of(char letter)
{
	size_t n = 0;

	for (const char *c = to.seen.s; c && *c; c++)
		n += *c == letter;
	return n;
}

static void producers_at_once(void **state)
{
	pthread_t threads[N_PRODUCERS];
	size_t each = 0;

	(void)state;
	begin(false);
	for (size_t i = 0; i < LOOKS; i++)
		each += i % 7;
	for (size_t i = 0; i < N_PRODUCERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, (void *)(uintptr_t)i), 0);
	for (size_t i = 0; i < N_PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(consumer_stop(&consumer, &err), 0);
	assert_int_equal(count_of('a'), each);
	assert_int_equal(count_of('b'), each);
	assert_int_equal(count_of('c'), each);
	assert_int_equal(buffers_free_bytes(&buffers), buffers.memory_bytes);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_round_waits_for_all),
		CASE(a_pass_belongs_to_the_round_in_which_it_began),
		CASE(no_empty_rounds),
		CASE(snapshots_make_the_rounds),
		CASE(calls_keep_their_place),
		CASE(what_came_before_the_beginning),
		CASE(a_sink_that_fails),
		CASE(producers_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
