/* SPDX-License-Identifier: MIT */
/*
 * Numbers by chance: splitmix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014), the same from the same seed on each
 * machine; the order of a round by Fisher and Yates' shuffle.
 */
#include "compare/compare.h"

static uint64_t next(struct chance *chance)
{
	uint64_t x = chance->state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

uint64_t chance_below(struct chance *chance, uint64_t n)
{
	/* The last numbers, which are no whole turn of n, would favour the low ones. */
	uint64_t x, most = UINT64_MAX - UINT64_MAX % n;

	do {
		x = next(chance);
	} while (x >= most);
	return x % n;
}

void chance_order(struct chance *chance, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t left = n; left > 1; left--) {
		size_t at = chance_below(chance, left), taken = order[at];

		order[at] = order[left - 1];
		order[left - 1] = taken;
	}
}
