/*
 * Distinct callchains as a prefix tree: a node is one frame below (called by) its parent, a stack is the
 * number of its innermost frame's node. Stacks that share their outer frames share their nodes, so
 * memory grows with distinct frames in context, eight bytes and an index slot each.
 */
#include "profile/profile.h"

uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t place)
{
	const struct stack_node node = { parent, place };
	uint64_t hash = hash_word((uint64_t)parent << 32 | place);
	uint32_t i;

	for (size_t at = index_first(&stacks->ix, hash); index_next(&stacks->ix, hash, &at, &i);)
		if (stacks->v[i].parent == parent && stacks->v[i].place == place)
			return i;
	if (!stacks->n) { /* the root */
		VEC_GROW(stacks->v, stacks->n, stacks->cap);
		stacks->v[stacks->n++] = (struct stack_node){ 0, PLACE_NONE };
	}
	VEC_GROW(stacks->v, stacks->n, stacks->cap);
	stacks->v[stacks->n] = node;
	index_add(&stacks->ix, hash, (uint32_t)stacks->n);
	return (uint32_t)stacks->n++;
}

size_t stacks_walk(const struct stacks *stacks, uint32_t stack, uint32_t *out, size_t max)
{
	size_t n = 0;

	for (; stack && n < max; stack = stacks->v[stack].parent)
		out[n++] = stacks->v[stack].place;
	return n;
}

/* A parent is older than its children, so it has its new number first. */
uint32_t *stacks_keep(struct stacks *stacks, const bool *used, const uint32_t *places)
{
	uint32_t *now = xcalloc(stacks->n + 1, sizeof(*now));
	size_t n = stacks->n ? 1 : 0;

	index_clear(&stacks->ix);
	for (size_t i = 1; i < stacks->n; i++) {
		struct stack_node node = { now[stacks->v[i].parent], places[stacks->v[i].place] };

		if (!used[i])
			continue;
		now[i] = (uint32_t)n;
		index_add(&stacks->ix, hash_word((uint64_t)node.parent << 32 | node.place), (uint32_t)n);
		stacks->v[n++] = node;
	}
	stacks->n = n;
	return now;
}
