/* SPDX-License-Identifier: MIT */
/*
 * Distinct callchains as a prefix tree: a node is one frame below (called by) its parent, a stack is the
 * number of its innermost frame's node. Stacks that share their outer frames share their nodes, so
 * memory grows with distinct frames in context, eight bytes and an index slot each.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t location)
{
	const struct stack_node node = { parent, location };
	uint64_t hash = hash_word((uint64_t)parent << 32 | location);
	uint32_t i;

	if (INDEX_FIND(&stacks->ix, hash, i, stacks->v[i].parent == parent && stacks->v[i].location == location))
		return i;
	if (!stacks->n) { /* the root */
		VEC_GROW(stacks->v, stacks->n, stacks->cap);
		stacks->v[stacks->n++] = (struct stack_node){ 0, LOCATION_NONE };
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
		out[n++] = stacks->v[stack].location;
	return n;
}

/* A parent is older than its children, so it has its new number first. */
uint32_t *stacks_keep(struct stacks *stacks, const bool *used, const uint32_t *locations)
{
	uint32_t *now = xcalloc(stacks->n + 1, sizeof(*now));
	size_t n = stacks->n ? 1 : 0;

	index_clear(&stacks->ix);
	for (size_t i = 1; i < stacks->n; i++) {
		struct stack_node node = { now[stacks->v[i].parent], locations[stacks->v[i].location] };

		if (!used[i])
			continue;
		now[i] = (uint32_t)n;
		index_add(&stacks->ix, hash_word((uint64_t)node.parent << 32 | node.location), (uint32_t)n);
		stacks->v[n++] = node;
	}
	stacks->n = n;
	return now;
}

/* ---- chains that were seen ---- */

/*
 * Raw chains that were seen, with the stack that each became: most samples of a program have a chain that
 * was there before, so one hash and one comparison stand for all its frames.
 *
 * An entry is HEAD_WORDS words (the version of the thread's maps; stack, number of addresses and mode; its
 * chain_reach), then the addresses. Kernel maps seldom change: then all is forgotten.
 */
enum { CACHE_WORDS = (4 << 20) / sizeof(uint64_t), HEAD_WORDS = 3, IPS_MAX = (1 << 24) - 1 };

/* How many addresses, and in what mode, in the lower half of a word. */
static uint32_t shape(const struct replay_sample *sample)
{
	return (uint32_t)(sample->n_ips << 8 | sample->mode);
}

uint64_t stack_cache_hash(const struct replay_sample *sample, uint64_t version)
{
	return hash_words(sample->ips, sample->n_ips) ^
	       (version ^ (uint64_t)shape(sample) << 32) * 0x9e3779b97f4a7c15ULL;
}

static void forget(struct stack_cache *cache)
{
	index_clear(&cache->ix);
	cache->n = 0;
}

/* Everything in the cache was found with these maps of the kernel. */
static void follow_kernel(struct stack_cache *cache, const struct replay *replay)
{
	if (cache->kernel_version == replay->kernel->version &&
	    cache->guest_version == replay->guest_kernel->version)
		return;
	forget(cache);
	cache->kernel_version = replay->kernel->version;
	cache->guest_version = replay->guest_kernel->version;
}

bool stack_cache_find(struct stack_cache *cache, const struct replay *replay,
		      const struct replay_sample *sample, uint64_t version, uint64_t hash,
		      struct cached_stack *found)
{
	uint32_t i;

	follow_kernel(cache, replay);
	for (size_t at = index_first(&cache->ix, hash); index_next(&cache->ix, hash, &at, &i);) {
		const uint64_t *words = cache->words + i;

		if (words[0] != version || (uint32_t)words[1] != shape(sample) ||
		    memcmp(words + HEAD_WORDS, sample->ips, sample->n_ips * sizeof(uint64_t)))
			continue;
		*found = (struct cached_stack){ (uint32_t)(words[1] >> 32), (uint32_t)words[2] };
		return true;
	}
	return false;
}

void stack_cache_add(struct stack_cache *cache, const struct replay_sample *sample, uint64_t version,
		     uint64_t hash, const struct cached_stack *stack)
{
	uint64_t *words;

	if (sample->n_ips > IPS_MAX || sample->n_ips > CACHE_WORDS - HEAD_WORDS)
		return;
	if (!cache->words)
		cache->words = xmalloc(CACHE_WORDS * sizeof(*cache->words));
	if (cache->n + HEAD_WORDS + sample->n_ips > CACHE_WORDS)
		forget(cache);
	words = cache->words + cache->n;
	words[0] = version;
	words[1] = (uint64_t)stack->stack << 32 | shape(sample);
	words[2] = stack->reach;
	memcpy(words + HEAD_WORDS, sample->ips, sample->n_ips * sizeof(uint64_t));
	index_add(&cache->ix, hash, (uint32_t)cache->n);
	cache->n += HEAD_WORDS + sample->n_ips;
}

void stack_cache_release(struct stack_cache *cache)
{
	free(cache->words);
	index_release(&cache->ix);
	*cache = (struct stack_cache){ .n = 0 };
}
