/*
 * A file read in blocks: the right bytes, in one piece, and once more while they are kept; with a thread and without.
 */
#include "data/read_ahead.h"

#include "data/data.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	FILE_BYTES = (20 << 20) + 4321, /* the blocks are used several times over */
	KEPT_BYTES = 2 << 20, /* at the least */
	PIECES_MAX = 1 << 16,
};

static uint8_t *content;

struct pieces {
	uint64_t offset[PIECES_MAX];
	size_t size[PIECES_MAX], n;
	uint32_t seed;
};

static uint32_t draw(struct pieces *pieces, uint32_t below)
{
	pieces->seed = pieces->seed * 1664525 + 1013904223;
	return (pieces->seed >> 8) % below;
}

static int setup(void **state)
{
	uint64_t word = 1;

	(void)state;
	content = xmalloc(FILE_BYTES);
	for (size_t i = 0; i < FILE_BYTES; i++) {
		word = word * 6364136223846793005ULL + 1442695040888963407ULL;
		content[i] = (uint8_t)(word >> 56);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(content);
	return 0;
}

/* A descriptor of the first n bytes of the content. */
static int file_of(size_t n)
{
	int fd = memfd_create("content", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	for (size_t at = 0; at < n;) {
		ssize_t put = pwrite(fd, content + at, n - at, (off_t)at);

		assert_true(put > 0);
		at += (size_t)put;
	}
	return fd;
}

static void one_cpu(cpu_set_t *before)
{
	cpu_set_t one;

	assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* What was given before, and is near enough, is still here; what is further away is right or gone. */
static void look_again(const struct read_ahead *ahead, struct pieces *pieces)
{
	size_t i = pieces->n - 1 - draw(pieces, (uint32_t)(pieces->n < 4000 ? pieces->n : 4000));
	const uint8_t *bytes = read_ahead_again(ahead, pieces->offset[i]);
	uint64_t end = pieces->offset[pieces->n - 1] + pieces->size[pieces->n - 1];

	if (end - pieces->offset[i] <= KEPT_BYTES)
		assert_non_null(bytes);
	if (bytes)
		assert_memory_equal(bytes, content + pieces->offset[i], pieces->size[i]);
}

/* One piece behind another, as records lie: the header first, then all; some of them passed over. */
static size_t read_all(uint32_t piece_max, uint32_t skip_max)
{
	struct pieces *pieces = xcalloc(1, sizeof(*pieces));
	struct read_ahead *ahead = read_ahead_new(file_of(FILE_BYTES), FILE_BYTES);
	uint64_t offset = 104;
	size_t n;

	while (offset + RECORD_HEADER_BYTES <= FILE_BYTES && pieces->n < PIECES_MAX) {
		const uint8_t *bytes = read_ahead_at(ahead, offset, RECORD_HEADER_BYTES);
		size_t size = RECORD_HEADER_BYTES + draw(pieces, piece_max);

		assert_non_null(bytes);
		assert_memory_equal(bytes, content + offset, RECORD_HEADER_BYTES);
		size = size < FILE_BYTES - offset ? size : FILE_BYTES - offset;
		bytes = read_ahead_at(ahead, offset, size);
		assert_non_null(bytes);
		assert_memory_equal(bytes, content + offset, size);
		pieces->offset[pieces->n] = offset;
		pieces->size[pieces->n++] = size;
		offset += size;
		if (skip_max && !draw(pieces, 40))
			offset += draw(pieces, skip_max);
		else
			look_again(ahead, pieces);
	}
	assert_true(pieces->n < PIECES_MAX);
	n = pieces->n;
	read_ahead_free(ahead);
	free(pieces);
	return n;
}

static void read_in_all_sizes(void)
{
	static const uint32_t sizes[] = { 700, 9000, RECORD_BYTES_MAX - RECORD_HEADER_BYTES };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		assert_true(read_all(sizes[i], 0) > FILE_BYTES / sizes[i]);
}

static void test_with_a_thread(void **state)
{
	(void)state;
	read_in_all_sizes();
}

static void test_on_one_cpu(void **state)
{
	cpu_set_t before;

	(void)state;
	one_cpu(&before);
	read_in_all_sizes();
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* What follows AUXTRACE records is passed over, however much of it there is. */
static void test_passed_over(void **state)
{
	(void)state;
	for (uint32_t skip = 1000; skip < 8 << 20; skip *= 4)
		assert_true(read_all(9000, skip) > 100);
}

/* A file that is shorter than it was, or that is a folder: what is there, and from then on nothing. */
static void test_not_there(void **state)
{
	struct read_ahead *ahead = read_ahead_new(file_of(FILE_BYTES / 2), FILE_BYTES);
	uint64_t offset = 0;
	const uint8_t *bytes;

	(void)state;
	for (; (bytes = read_ahead_at(ahead, offset, 1000)) != NULL; offset += 1000)
		assert_memory_equal(bytes, content + offset, 1000);
	assert_true(offset > FILE_BYTES / 2 - (1 << 20) && offset <= FILE_BYTES / 2);
	assert_null(read_ahead_again(ahead, offset - 1000));
	assert_null(read_ahead_at(ahead, offset, 1000));
	read_ahead_free(ahead);
	ahead = read_ahead_new(open("/", O_RDONLY | O_CLOEXEC), 4096);
	assert_null(read_ahead_at(ahead, 0, 8));
	read_ahead_free(ahead);
}

/* The thread is left in whatever it does. */
static void test_left_early(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		struct read_ahead *ahead = read_ahead_new(file_of(FILE_BYTES), FILE_BYTES);

		for (uint64_t offset = 0; offset < i * 100000; offset += 10000)
			assert_non_null(read_ahead_at(ahead, offset, 64));
		read_ahead_free(ahead);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_a_thread), cmocka_unit_test(test_on_one_cpu),
		cmocka_unit_test(test_passed_over),   cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_left_early),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
