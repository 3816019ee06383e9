/* SPDX-License-Identifier: MIT */
/* Samples in the order of time as spans, and fewer of them where they would be too many. */
#include "hist/hist.h"

#include <cmocka.h>
#include <stdlib.h>

/* root; main, main a, main a b, main a c, main d, main d e */
static const struct stack_tree_node nodes[] = {
	{ 0, 0, 0 }, { 0, 0, 1 }, { 1, 1, 2 }, { 2, 2, 3 }, { 3, 2, 3 }, { 4, 1, 2 }, { 5, 5, 3 },
};
enum { MAIN = 1, A, B, C, D, E };

static void add(struct stack_spans *spans, uint32_t lane, uint32_t node, uint64_t begin_ns, uint64_t end_ns)
{
	const struct stack_span sample = { .lane = lane, .node = node, .begin_ns = begin_ns, .end_ns = end_ns };

	stack_spans_add(spans, &sample, false);
}

static void is_span(const struct stack_span *span, uint32_t lane, uint32_t node, uint64_t begin_ns, uint64_t end_ns)
{
	assert_int_equal(span->lane, lane);
	assert_int_equal(span->node, node);
	assert_int_equal(span->begin_ns, begin_ns);
	assert_int_equal(span->end_ns, end_ns);
}

static void test_neighbours_with_one_stack(void **state)
{
	const struct stack_span back = { .lane = 1, .node = C, .begin_ns = 900, .end_ns = 900 };
	struct stack_spans spans;

	(void)state;
	stack_spans_init(&spans, nodes, 2, 100);
	add(&spans, 1, B, 0, 100);
	add(&spans, 0, E, 20, 120);
	add(&spans, 1, B, 130, 230); /* a gap of less than half of it: none */
	add(&spans, 1, C, 200, 300); /* begins where the last one ends */
	add(&spans, 1, C, 360, 460); /* a gap */
	stack_spans_add(&spans, &back, true);
	add(&spans, 0, E, 50, 110); /* within the one before */
	stack_spans_end(&spans);
	assert_int_equal(spans.n, 4);
	is_span(&spans.v[0], 0, E, 20, 120);
	is_span(&spans.v[1], 1, B, 0, 230);
	is_span(&spans.v[2], 1, C, 230, 300);
	is_span(&spans.v[3], 1, C, 360, 900);
	assert_true(spans.lost_most == 0);
	for (size_t i = 0; i < spans.n; i++)
		assert_false(spans.v[i].several);
	stack_spans_release(&spans);
}

/* What is lost least goes first: b and c below a, for a short time; the long ones stay as they are. */
static void test_merged_further(void **state)
{
	struct stack_spans spans;
	uint64_t now_ns = 0;

	(void)state;
	stack_spans_init(&spans, nodes, 1, 60);
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 6; k++)
			add(&spans, 0, k % 2 ? C : B, now_ns + (uint64_t)k * 100, now_ns + (uint64_t)k * 100 + 100);
		add(&spans, 0, E, now_ns + 600, now_ns + 100000);
		now_ns += 100000;
	}
	stack_spans_end(&spans);
	assert_int_equal(spans.n, 20);
	for (size_t i = 0; i < spans.n; i++) {
		is_span(&spans.v[i], 0, i % 2 ? E : A, i / 2 * 100000 + (i % 2 ? 600 : 0),
			i / 2 * 100000 + (i % 2 ? 100000 : 600));
		assert_int_equal(spans.v[i].several, i % 2 == 0);
	}
	stack_spans_release(&spans);
}

/* No more than are wanted, whatever comes; all of the time stays, and so does the order. */
static void test_many(void **state)
{
	enum { LANES = 3, MAX = 1000, SAMPLES = 100000 };
	static const uint32_t stacks[] = { B, C, E, A, MAIN, B, E, D };
	uint64_t last_ns[LANES] = { 0 }, covered_ns[LANES] = { 0 }, n_several = 0;
	struct stack_spans spans;

	(void)state;
	stack_spans_init(&spans, nodes, LANES, MAX);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		uint64_t begin_ns = i / LANES * 1000 + (i % 1000 == 0 ? 500 : 0);

		add(&spans, (uint32_t)(i % LANES), stacks[i / LANES * 7 % 11 % ARRAY_SIZE(stacks)], begin_ns,
		    i / LANES * 1000 + 1000);
	}
	stack_spans_end(&spans);
	assert_in_range(spans.n, MAX / 4, MAX);
	assert_true(spans.lost_most > 0);
	for (size_t i = 0; i < spans.n; i++) {
		const struct stack_span *span = &spans.v[i];

		assert_true(!i || spans.v[i - 1].lane <= span->lane);
		assert_true(span->begin_ns >= last_ns[span->lane] && span->end_ns > span->begin_ns);
		assert_true(span->lost <= spans.lost_most);
		last_ns[span->lane] = span->end_ns;
		covered_ns[span->lane] += span->end_ns - span->begin_ns;
		n_several += span->several;
	}
	assert_true(n_several > 0);
	for (uint32_t lane = 0; lane < LANES; lane++)
		assert_in_range(covered_ns[lane], (uint64_t)SAMPLES / LANES * 1000 - 500 * SAMPLES / 1000,
				(uint64_t)SAMPLES / LANES * 1000 + 1000);
	stack_spans_release(&spans);
}

/* Each sample stands alone: gaps are closed, since nothing else makes them fewer. */
static void test_gaps(void **state)
{
	struct stack_spans spans;

	(void)state;
	stack_spans_init(&spans, nodes, 1, 100);
	for (uint64_t i = 0; i < 10000; i++)
		add(&spans, 0, B, i * 1000000, i * 1000000 + 1000);
	stack_spans_end(&spans);
	assert_in_range(spans.n, 1, 100);
	is_span(&spans.v[0], 0, B, 0, spans.v[0].end_ns);
	assert_int_equal(spans.v[spans.n - 1].end_ns, 9999001000);
	assert_false(spans.v[0].several);
	assert_true(spans.v[0].lost > 0);
	stack_spans_release(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbours_with_one_stack),
		cmocka_unit_test(test_merged_further),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
