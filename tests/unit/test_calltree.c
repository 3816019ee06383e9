/* SPDX-License-Identifier: MIT */
/* Call trees: which frames share a node, sums, the order of siblings, ways without forks. */
#include "tree_fixture.h"

static const struct call_node *child(const struct call_node *node, size_t i)
{
	node = node->children;
	while (node && i--)
		node = node->next;
	assert_non_null(node);
	return node;
}

static size_t n_children(const struct call_node *node)
{
	size_t n = 0;

	for (node = node->children; node; node = node->next)
		n++;
	return n;
}

static void expect_node(const struct call_node *node, const char *name, uint64_t total_period,
			uint64_t self_period)
{
	assert_string_equal(node->frame.symbol->name, name);
	assert_int_equal(node->total_period, total_period);
	assert_int_equal(node->self_period, self_period);
}

static void test_sums(void **state)
{
	struct tree_fixture t;
	const struct call_node *root, *a;

	(void)state;
	tree_init(&t);
	tree_add(&t, "main a b", 100, 1);
	tree_add(&t, "main a c", 300, 3);
	tree_add(&t, "main a", 50, 2);
	tree_add(&t, "main a b", 10, 4);
	root = &tree_make(&t)->root;
	assert_int_equal(root->total_period, 460);
	assert_int_equal(root->total_count, 10);
	assert_int_equal(n_children(root), 1);
	expect_node(child(root, 0), "main", 460, 0);
	a = child(child(root, 0), 0);
	expect_node(a, "a", 460, 50);
	assert_int_equal(a->self_count, 2);
	assert_int_equal(a->total_count, 10);
	assert_int_equal(n_children(a), 2);
	expect_node(child(a, 0), "c", 300, 300);
	expect_node(child(a, 1), "b", 110, 110);
	assert_int_equal(child(a, 1)->self_count, 5);
	assert_ptr_equal(calltree_run_end(root), a);
	tree_release(&t);
}

static void test_empty_chain_counts_for_nothing(void **state)
{
	struct tree_fixture t;

	(void)state;
	tree_init(&t);
	tree_add_frames(&t, NULL, 0, 5, 1);
	assert_int_equal(tree_make(&t)->root.total_count, 0);
	assert_null(t.tree->root.children);
	tree_release(&t);
}

static void test_recursion_is_depth(void **state)
{
	struct tree_fixture t;
	const struct call_node *node;

	(void)state;
	tree_init(&t);
	tree_add(&t, "main a a a", 7, 1);
	tree_add(&t, "main a a", 2, 1);
	node = child(child(&tree_make(&t)->root, 0), 0);
	expect_node(node, "a", 9, 0);
	expect_node(child(node, 0), "a", 9, 2);
	expect_node(child(child(node, 0), 0), "a", 7, 7);
	tree_release(&t);
}

/* An inlined b is the function b, whichever comes first; two b that are not inlined are two. */
static void test_inlined_by_name(void **state)
{
	struct tree_fixture t;
	struct symbol other, third;
	struct view_frame frame;
	const struct call_node *a;

	(void)state;
	for (int first = 0; first < 2; first++) {
		tree_init(&t);
		tree_add(&t, first ? "main b" : "main b'", 1, 1);
		tree_add(&t, first ? "main b'" : "main b", 2, 1);
		tree_add(&t, "main b'", 4, 1);
		tree_add(&t, "main c", 1, 1);
		a = child(&tree_make(&t)->root, 0);
		assert_int_equal(n_children(a), 2);
		expect_node(child(a, 0), "b", 7, 7);
		assert_int_equal(child(a, 0)->frame.inlined, !first);
		tree_release(&t);
	}
	tree_init(&t);
	other = t.symbols[2];
	frame = (struct view_frame){ .symbol = &other, .location = 2 };
	tree_add(&t, "b", 1, 1);
	tree_add_frames(&t, &frame, 1, 1, 1);
	assert_int_equal(n_children(&tree_make(&t)->root), 2);
	tree_add(&t, "a b'", 1, 1); /* from here on names are looked at */
	third = other;
	frame.symbol = &third;
	tree_add_frames(&t, &frame, 1, 1, 1);
	assert_int_equal(n_children(&tree_make(&t)->root), 4);
	tree_release(&t);
}

static void test_by_address(void **state)
{
	struct tree_fixture t;
	struct view_frame frame;

	(void)state;
	tree_init(&t);
	t.question.query.chain.key = CHAIN_BY_ADDRESS;
	for (uint32_t location = 2; location < 4; location++) {
		frame = (struct view_frame){ .symbol = &t.symbols[2], .location = location };
		tree_add_frames(&t, &frame, 1, 1, 1);
		tree_add_frames(&t, &frame, 1, 1, 1);
	}
	assert_int_equal(n_children(&tree_make(&t)->root), 2);
	frame.inlined = true; /* what was inlined at an address and what it was inlined into */
	tree_add_frames(&t, &frame, 1, 1, 1);
	assert_int_equal(n_children(&tree_make(&t)->root), 3);
	tree_release(&t);
}

static void test_by_line(void **state)
{
	struct tree_fixture t;
	struct view_frame frame;

	(void)state;
	tree_init(&t);
	t.question.query.chain.key = CHAIN_BY_SRCLINE;
	frame = (struct view_frame){ &t.symbols[2], 2, { "src/x.c", 7 }, false };
	tree_add_frames(&t, &frame, 1, 1, 1);
	frame.location = 3;
	tree_add_frames(&t, &frame, 1, 1, 1);
	assert_int_equal(n_children(&tree_make(&t)->root), 1);
	frame.line.line = 8;
	tree_add_frames(&t, &frame, 1, 1, 1);
	assert_int_equal(n_children(&tree_make(&t)->root), 2);
	/* Without a line it is the function. */
	frame.line.file = NULL;
	tree_add_frames(&t, &frame, 1, 1, 1);
	frame.location = 4;
	tree_add_frames(&t, &frame, 1, 1, 1);
	assert_int_equal(n_children(&tree_make(&t)->root), 3);
	tree_release(&t);
}

/* Equal periods: the higher address first; frames without a file last. */
static void test_ties(void **state)
{
	struct tree_fixture t;
	const struct call_node *root;

	(void)state;
	tree_init(&t);
	tree_add(&t, "0x77", 5, 1);
	tree_add(&t, "0x1234", 5, 1);
	tree_add(&t, "a", 5, 1);
	tree_add(&t, "d", 6, 1);
	tree_add(&t, "c", 5, 1);
	tree_add(&t, "b", 5, 1);
	root = &tree_make(&t)->root;
	expect_node(child(root, 0), "d", 6, 6);
	expect_node(child(root, 1), "c", 5, 5);
	expect_node(child(root, 2), "b", 5, 5);
	expect_node(child(root, 3), "a", 5, 5);
	assert_int_equal(child(root, 4)->frame.location, 10);
	assert_int_equal(child(root, 5)->frame.location, 11);
	tree_release(&t);
}

/* More nodes than one block has, found again by their way. */
static void test_many(void **state)
{
	enum { N = 3000 };
	static struct symbol symbols[N];
	struct tree_fixture t;
	const struct call_node *node;
	size_t n = 0;

	(void)state;
	tree_init(&t);
	for (int turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < N; i++) {
			struct view_frame frames[] = { tree_frame(&t, i & 1 ? "a" : "b"),
						       { .symbol = &symbols[i], .location = i } };

			symbols[i] = (struct symbol){ .dso = &t.dso, .start = i, .name = "x" };
			tree_add_frames(&t, frames, 2, i + 1, 1);
		}
	}
	assert_int_equal(tree_make(&t)->n_nodes, N + 2);
	for (node = child(&t.tree->root, 0)->children; node; node = node->next, n++) {
		assert_int_equal(node->self_count, 2);
		assert_int_equal(node->self_period, 2 * (N - 2 * n));
	}
	assert_int_equal(n, N / 2);
	tree_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_empty_chain_counts_for_nothing),
		cmocka_unit_test(test_recursion_is_depth),
		cmocka_unit_test(test_inlined_by_name),
		cmocka_unit_test(test_by_address),
		cmocka_unit_test(test_by_line),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
