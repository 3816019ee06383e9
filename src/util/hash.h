/* SPDX-License-Identifier: MIT */
/*
 * hash: open-addressed tables of 32-bit indexes. The elements lie in the caller's own array; a slot has the
 * element's index and 32 bits of its hash, so growing needs no look at the elements, and few
 * comparisons fail. Seeded with an address, so that input cannot be made whose keys all meet.
 *
 *	if (INDEX_FIND(ix, hash, i, same(v[i], key)))
 *		return i;
 *	index_add(ix, hash, n); v[n++] = key;
 *
 * What is only rows of words, or texts, has all of this in intern.h.
 */
#ifndef PSTAT_HASH_H
#define PSTAT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
	uint32_t hash, index1; /* index + 1; 0: empty */
};
struct index {
	struct index_slot *slots;
	size_t n_slots, n; /* n_slots is 0 or a power of 2 */
};
void index_release(struct index *ix);
void index_clear(struct index *ix); /* empty; memory kept */
void index_add(struct index *ix, uint64_t hash, uint32_t index);

static inline size_t index_first(const struct index *ix, uint64_t hash)
{
	return ix->n_slots ? (uint32_t)hash & (ix->n_slots - 1) : 0;
}

/* The next element whose 32 bits agree: true and *i; false: there is none. */
static inline bool index_next(const struct index *ix, uint64_t hash, size_t *at, uint32_t *i)
{
	while (ix->n_slots && ix->slots[*at].index1) {
		const struct index_slot *slot = &ix->slots[*at];

		*at = (*at + 1) & (ix->n_slots - 1);
		if (slot->hash == (uint32_t)hash) {
			*i = slot->index1 - 1;
			return true;
		}
	}
	return false;
}

/* True, and the number in i: the element for which `same`, an expression in i, holds. i: a uint32_t of the caller's. */
#define INDEX_FIND(ix, hash, i, same)                                                                       \
	({                                                                                                  \
		bool found_ = false;                                                                        \
		for (size_t at_ = index_first(ix, hash); !found_ && index_next(ix, hash, &at_, &(i));)      \
			found_ = (same);                                                                    \
		found_;                                                                                     \
	})

uint64_t hash_words(const uint64_t *words, size_t n);
uint64_t hash_bytes(const void *bytes, size_t n);
/* The same in each run, on machines of one byte order: tells whether a file is still as it was written. */
uint64_t checksum_bytes(const void *bytes, size_t n);
static inline uint64_t hash_word(uint64_t word)
{
	return hash_words(&word, 1);
}

#endif
