/* SPDX-License-Identifier: MIT */
/* The prefix tree of stacks, and distinct texts. */
#include "profile/profile.h"
#include "util/util.h"

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint32_t add(struct stacks *stacks, const uint32_t *outermost_first, size_t n)
{
	uint32_t stack = 0;

	for (size_t i = 0; i < n; i++)
		stack = stacks_child(stacks, stack, outermost_first[i]);
	return stack;
}

static void release(struct stacks *stacks)
{
	free(stacks->v);
	index_release(&stacks->ix);
}

static void shared_prefix(void **state)
{
	static const uint32_t a[] = { 1, 2, 3 }, b[] = { 1, 2, 4 }, c[] = { 2, 1, 3 };
	struct stacks stacks = { .n = 0 };
	uint32_t first = add(&stacks, a, 3), out[8];

	(void)state;
	assert_int_not_equal(first, 0);
	assert_int_equal(add(&stacks, a, 3), first);
	assert_int_equal(stacks.n, 1 + 3);
	assert_int_not_equal(add(&stacks, b, 3), first);
	assert_int_equal(stacks.n, 1 + 4);
	assert_int_not_equal(add(&stacks, c, 3), first);
	assert_int_equal(stacks.n, 1 + 7);
	assert_int_equal(stacks_walk(&stacks, first, out, 8), 3);
	assert_int_equal(out[0], 3);
	assert_int_equal(out[1], 2);
	assert_int_equal(out[2], 1);
	assert_int_equal(stacks_walk(&stacks, first, out, 2), 2);
	assert_int_equal(stacks_walk(&stacks, 0, out, 8), 0);
	release(&stacks);
}

/* A recursive function is as many frames as it was called. */
static void recursion(void **state)
{
	static const uint32_t same[] = { 9, 9, 9, 9 };
	struct stacks stacks = { .n = 0 };
	uint32_t out[8];

	(void)state;
	assert_int_equal(stacks_walk(&stacks, add(&stacks, same, 4), out, 8), 4);
	assert_int_equal(stacks_walk(&stacks, add(&stacks, same, 2), out, 8), 2);
	assert_int_equal(stacks.n, 1 + 4);
	release(&stacks);
}

static void many(void **state)
{
	enum { N = 300000 }; /* so many that some hashes agree */
	struct stacks stacks = { .n = 0 };

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N; i++) {
			const uint32_t frames[] = { i % 7, i % 11, i };

			add(&stacks, frames, 3);
		}
	assert_int_equal(stacks.n, 1 + 7 + 77 + N);
	release(&stacks);
}

static void texts(void **state)
{
	struct text_index *index = texts_new();
	char text[32];

	(void)state;
	assert_int_equal(texts_intern(index, "", 0), 0);
	assert_int_equal(texts_intern(index, "ab", 2), 1);
	assert_int_equal(texts_intern(index, "abc", 2), 1);
	assert_int_equal(texts_intern(index, "abc", 3), 2);
	for (unsigned i = 0; i < 3000; i++) {
		int len = snprintf(text, sizeof(text), "text %u", i);

		assert_int_equal(texts_intern(index, text, (size_t)len), 3 + i);
	}
	assert_string_equal(texts_get(index, 1), "ab");
	assert_string_equal(texts_get(index, 3 + 2999), "text 2999");
	assert_string_equal(texts_get(index, 99999), "");
	texts_free(index);
	texts_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_prefix),
		cmocka_unit_test(recursion),
		cmocka_unit_test(many),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
