/* SPDX-License-Identifier: MIT */
/*
 * hash.c: see hash.h. The mixing step is a 64 x 64 -> 128 bit multiplication folded in half; the seed is
 * an address, which differs from run to run.
 */
#include "util/hash.h"

#include "util/util.h"

#include <stdlib.h>

static uint64_t seed(void)
{
	return (uint64_t)(uintptr_t)&str_empty * 0x9e3779b97f4a7c15ULL;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_words(const uint64_t *words, size_t n)
{
	uint64_t h = seed() ^ n;

	for (size_t i = 0; i < n; i++)
		h = mix(h ^ words[i] ^ 0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL);
	return mix(h, 0x8ebc6af09c88c6e3ULL);
}

static uint64_t fold(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t last = 0;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		h = mix(h ^ word ^ 0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL);
	}
	if (n)
		memcpy(&last, p, n);
	h = mix(h ^ last ^ 0xa0761d6478bd642fULL, 0xe7037ed1a0b428dbULL);
	return mix(h, 0x8ebc6af09c88c6e3ULL);
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	return fold(seed() ^ n, bytes, n);
}

uint64_t checksum_bytes(const void *bytes, size_t n)
{
	return fold(n, bytes, n);
}

void index_release(struct index *ix)
{
	free(ix->slots);
	*ix = (struct index){ NULL, 0, 0 };
}

void index_clear(struct index *ix)
{
	if (ix->n)
		memset(ix->slots, 0, ix->n_slots * sizeof(*ix->slots));
	ix->n = 0;
}

static void put(struct index *ix, struct index_slot slot)
{
	size_t at = slot.hash & (ix->n_slots - 1);

	while (ix->slots[at].index1)
		at = (at + 1) & (ix->n_slots - 1);
	ix->slots[at] = slot;
}

static void grow(struct index *ix)
{
	struct index old = *ix;

	ix->n_slots = old.n_slots ? old.n_slots * 2 : 64;
	ix->slots = xcalloc(ix->n_slots, sizeof(*ix->slots));
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slots[i].index1)
			put(ix, old.slots[i]);
	free(old.slots);
}

void index_add(struct index *ix, uint64_t hash, uint32_t index)
{
	if ((ix->n + 1) * 2 > ix->n_slots)
		grow(ix);
	put(ix, (struct index_slot){ (uint32_t)hash, index + 1 });
	ix->n++;
}
