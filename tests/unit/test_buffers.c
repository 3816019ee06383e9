/* SPDX-License-Identifier: MIT */
/*
 * The memory between readers and consumer: a part of it is present at first, and more of it before it is needed;
 * whoever is faster than that gets buffers all the same.
 */
#include "record/buffers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 8 << 20, WAIT_MS = 60000 };

static void opened(struct buffers *buffers, struct producer *producer)
{
	struct str err = STR_INIT;

	*producer = (struct producer){ .wake_fd = -1 };
	assert_int_equal(buffers_open(buffers, BYTES, 1, &err), 0);
	assert_int_equal(buffers->memory_bytes, BYTES);
	buffers_add_producer(buffers, producer);
	buffers_begin(buffers);
}

/* The pages from the first on that are in memory, in bytes. */
static size_t present_bytes(const struct buffers *buffers)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	static unsigned char states[BYTES / 4096];

	assert_int_equal(mincore(buffers->memory, BYTES, states), 0);
	while (n < BYTES / page && (states[n] & 1))
		n++;
	return n * page;
}

static void is_present_before_it_is_needed(void **state)
{
	static struct buffers buffers;
	struct producer producer;

	(void)state;
	opened(&buffers, &producer);
	assert_in_range(present_bytes(&buffers), BYTES / 4, BYTES - 1);
	for (size_t used = 0; used < buffers.n; used++) {
		size_t wanted = (used + buffers.n_ahead) * buffers.buffer_bytes;

		for (int ms = 0; ms < WAIT_MS && present_bytes(&buffers) < (wanted < BYTES ? wanted : BYTES); ms++)
			usleep(1000);
		assert_true(present_bytes(&buffers) >= (wanted < BYTES ? wanted : BYTES));
		assert_non_null(buffers_get(&buffers, &producer, true));
	}
	buffers_release(&buffers);
}

static void each_buffer_is_given_once(void **state)
{
	static struct buffers buffers;
	struct producer producer;
	struct buffer *buffer;

	(void)state;
	opened(&buffers, &producer);
	for (size_t i = 0; i < buffers.n; i++) {
		buffer = buffers_get(&buffers, &producer, true);
		assert_null(buffer->data);
		buffer->data = buffer;
		memset(buffer->bytes, 1, buffer->cap);
	}
	assert_null(buffers_get(&buffers, &producer, false));
	assert_int_equal(buffers_free_bytes(&buffers), 0);
	for (size_t i = 0; i < buffers.n; i++)
		buffers_give_back(&buffers, &buffers.v[i]);
	assert_int_equal(buffers_free_bytes(&buffers), BYTES);
	buffers_release(&buffers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_present_before_it_is_needed),
		cmocka_unit_test(each_buffer_is_given_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
