/* SPDX-License-Identifier: MIT */
/*
 * The queue that puts records in the order of time: what may go at the end of a round, equal times, copies of
 * records that don't stay, and, against a plain stable sort, any order of arrival.
 */
#include "data_fixture.h"

#include "replay/order.h"

/* A record whose offset is its number of arrival; its payload, too, where it is read back. */
struct small {
	uint8_t bytes[16];
};

static void add(struct order *order, uint64_t number, uint64_t time_ns, bool stable,
		struct small *kept)
{
	struct small mine, *at = stable ? kept : &mine;
	struct record record;
	const uint16_t head[4] = { RECORD_LOST_SAMPLES, 0, 0, sizeof(mine.bytes) };

	memcpy(at->bytes, head, sizeof(head));
	memcpy(at->bytes + 8, &number, sizeof(number));
	record_from_bytes(&record, at->bytes, number, false);
	order_add(order, &record, time_ns, stable);
	if (!stable)
		memset(&mine, 0xee, sizeof(mine)); /* as the reader's buffer is used again */
}

/* The next record's number and time as "number@time ", or the end. */
static void drain(struct order *order, struct str *out)
{
	struct record record;
	uint64_t time_ns, number;

	while (order_next(order, &record, &time_ns)) {
		memcpy(&number, record.bytes + 8, sizeof(number));
		assert_int_equal(record.type, RECORD_LOST_SAMPLES);
		assert_int_equal(record.size, 16);
		assert_int_equal(record.offset, number);
		str_addf(out, "%u@%u ", (unsigned)number, (unsigned)time_ns);
	}
}

static void expect(struct order *order, const char *text)
{
	struct str out = STR_INIT;

	drain(order, &out);
	assert_string_equal(out.s, text);
	str_release(&out);
}

/* The three rounds that order.h draws. */
static void test_drawn_rounds(void **state)
{
	static const struct {
		uint64_t times_ns[4];
		const char *may_go;
	} rounds[] = {
		{ { 1, 3, 2, 5 }, "" },
		{ { 4, 8, 6, 10 }, "1@1 2@2 3@3 4@4 5@5 " },
		{ { 9, 12, 11, 14 }, "6@6 8@8 9@9 10@10 " },
	};
	struct order order;

	(void)state;
	order_init(&order, false);
	for (size_t i = 0; i < ARRAY_SIZE(rounds); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(rounds[i].times_ns); k++)
			add(&order, rounds[i].times_ns[k], rounds[i].times_ns[k], false, NULL);
		order_round(&order);
		expect(&order, rounds[i].may_go);
	}
	order_all(&order);
	expect(&order, "11@11 12@12 14@14 ");
	order_release(&order);
}

/* Up to the newest of the round before: what came later may still be preceded by another ring's. */
static void test_rounds(void **state)
{
	struct small kept[16];
	struct order order;

	(void)state;
	order_init(&order, false);
	add(&order, 1, 10, true, &kept[0]);
	add(&order, 2, 30, true, &kept[1]);
	add(&order, 3, 20, true, &kept[2]); /* the second ring */
	order_round(&order);
	expect(&order, "");
	add(&order, 4, 40, true, &kept[3]);
	add(&order, 5, 25, true, &kept[4]);
	add(&order, 6, 31, true, &kept[5]);
	order_round(&order);
	expect(&order, "1@10 3@20 5@25 2@30 ");
	add(&order, 8, 5, true, &kept[6]); /* too late, but it comes */
	add(&order, 7, 50, true, &kept[7]);
	order_round(&order);
	expect(&order, "8@5 6@31 4@40 ");
	order_all(&order);
	expect(&order, "7@50 ");
	assert_int_equal(order.bytes, 0);
	order_release(&order);
}

/* Where a record was, packed or not, is known of its copy as well: messages say it. */
static void test_copies_know_their_place(void **state)
{
	struct small bytes = { { RECORD_LOST_SAMPLES } };
	struct record record;
	struct order order;
	uint64_t time_ns;

	(void)state;
	bytes.bytes[6] = sizeof(bytes);
	order_init(&order, false);
	record_from_bytes(&record, bytes.bytes, 0x120, false);
	record.compressed = true;
	record.inner_offset = 0;
	order_add(&order, &record, 10, false);
	record.inner_offset = 0x4560;
	order_add(&order, &record, 20, false);
	record.compressed = false;
	order_add(&order, &record, 30, false);
	order_all(&order);
	for (uint64_t i = 0; order_next(&order, &record, &time_ns); i++) {
		assert_int_equal(time_ns, 10 * (i + 1));
		assert_int_equal(record.offset, 0x120);
		assert_int_equal(record.compressed, i < 2);
		assert_int_equal(record.inner_offset, i == 1 ? 0x4560 : 0);
		assert_false(record.stable);
		assert_memory_equal(record.bytes, bytes.bytes, sizeof(bytes));
	}
	order_release(&order);
}

/* A live view's rounds need about as much each: what one gave back the next one has, within a bound. */
static void test_blocks_are_used_again(void **state)
{
	static const unsigned n_records[] = { 20000, 160000, 20000 }; /* a round */
	enum { SPARE_BLOCKS_MAX = 16 };
	struct order order;
	struct str out = STR_INIT;

	(void)state;
	order_init(&order, false);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < n_records[round]; i++)
			add(&order, i, 1 + i, false, NULL);
		order_all(&order);
		str_reset(&out);
		drain(&order, &out);
		assert_in_range(order.n_spare_blocks, 1, SPARE_BLOCKS_MAX);
		assert_true(round != 1 || order.n_spare_blocks == SPARE_BLOCKS_MAX);
	}
	add(&order, 0, 1, false, NULL);
	order_release(&order);
	str_release(&out);
}

static void test_equal_times_stay(void **state)
{
	struct small kept[8];
	struct order order;

	(void)state;
	order_init(&order, false);
	for (unsigned i = 0; i < 6; i++)
		add(&order, i, i % 2 ? 7 : 3, i < 3, &kept[i]);
	order_all(&order);
	expect(&order, "0@3 2@3 4@3 1@7 3@7 5@7 ");
	order_release(&order);
}

static void test_half(void **state)
{
	struct order order;

	(void)state;
	order_init(&order, false);
	for (unsigned i = 0; i < 5; i++)
		add(&order, i, 50 - i, false, NULL);
	assert_true(order.bytes > 5 * sizeof(struct order_entry));
	order_half(&order);
	expect(&order, "4@46 3@47 2@48 ");
	order_all(&order);
	expect(&order, "1@49 0@50 ");
	assert_int_equal(order.bytes, 0);
	order_release(&order);
}

/* A block stays, and counts, as long as one of its copies waits. */
static void test_bytes_of_a_block(void **state)
{
	struct order order;
	struct str out = STR_INIT;
	size_t all;

	(void)state;
	order_init(&order, false);
	for (unsigned i = 0; i < 9; i++)
		add(&order, i, 1 + i, false, NULL);
	all = order.bytes;
	order_half(&order);
	drain(&order, &out);
	assert_int_equal(order.bytes, all - 5 * sizeof(struct order_entry));
	order_all(&order);
	drain(&order, &out);
	assert_int_equal(order.bytes, 0);
	order_release(&order);
	str_release(&out);
}

/* More copies than fit into one block, some of them never handed out. */
static void test_copies(void **state)
{
	struct order order;
	struct str out = STR_INIT;

	(void)state;
	order_init(&order, false);
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 20000; i++)
			add(&order, round * 20000 + i, round * 100000 + (i * 7919) % 20000, false,
			    NULL);
		order_round(&order);
		drain(&order, &out);
		str_reset(&out);
	}
	order_all(&order);
	for (unsigned i = 0; i < 100; i++) {
		struct record record;
		uint64_t time_ns;

		assert_true(order_next(&order, &record, &time_ns));
	}
	str_release(&out);
	order_release(&order);
}

struct ref {
	uint64_t time_ns, number;
};

static int ref_compare(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Rings as runs, with disorder in between; nothing goes before the end. */
static void test_any_order(void **state)
{
	enum { N = 5000 };
	static struct small kept[N];
	static struct ref refs[N];
	uint64_t seed = 1;
	struct order order;

	(void)state;
	for (unsigned rings = 1; rings < 40; rings += 6) {
		struct str got = STR_INIT, want = STR_INIT;
		uint64_t time_ns = 0;

		order_init(&order, false);
		for (unsigned i = 0; i < N; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			if (i % (N / rings) == 0)
				time_ns = 1000;
			time_ns += (seed >> 33) % 5;
			if ((seed >> 40) % 50 == 0)
				time_ns -= 9;
			refs[i] = (struct ref){ time_ns, i };
			add(&order, i, time_ns, (seed >> 50) % 2, &kept[i]);
		}
		order_all(&order);
		drain(&order, &got);
		qsort(refs, N, sizeof(*refs), ref_compare);
		for (unsigned i = 0; i < N; i++)
			str_addf(&want, "%u@%u ", (unsigned)refs[i].number,
				 (unsigned)refs[i].time_ns);
		assert_string_equal(got.s, want.s);
		str_release(&got);
		str_release(&want);
		order_release(&order);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawn_rounds),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_equal_times_stay),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_bytes_of_a_block),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_copies_know_their_place),
		cmocka_unit_test(test_blocks_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
