/* SPDX-License-Identifier: MIT */
/*
 * code_ranges: what maps and dumps of code made at run time have in common. A run-time compiler uses its memory again
 * and again, so that one address is of several functions in turn. The latest one wins, address by address:
 *
 *	time |    +--c--+              start and end of c cut b in two
 *	     |  +---b-----+
 *	     |     +---a----+
 *	     +-------------------> address:   b b c c c c c b b a
 *
 * That is what mappings do to each other, so an address space keeps it. Private to sym/.
 */
#ifndef PSTAT_CODE_RANGES_H
#define PSTAT_CODE_RANGES_H

#include "sym/code_file.h"

struct code_range {
	uint64_t start, end;
	uint32_t name; /* offset in names */
	uint32_t piece; /* number in a dump's pieces, see jitdump.h; perf maps have none */
};

/* Ranges in the order in which they came to be: a later one lies over earlier ones. */
struct code_ranges {
	struct code_range *v;
	size_t n, cap;
	struct str names; /* each ended by NUL */
	struct address_space latest; /* parts that no later one covers; map.prot is the number of the range */
	uint64_t clock; /* of that */
	uint64_t work_left; /* see code_ranges_spend */
};
#define CODE_RANGES_INIT                                                                           \
	{                                                                                          \
		.names = STR_INIT, .work_left = CODE_WORK_FILE                                     \
	}
void code_ranges_release(struct code_ranges *ranges);
/* false, and nothing added: it is empty, wraps around, has no name, or there are too many. */
bool code_ranges_add(struct code_ranges *ranges, uint64_t start, uint64_t size, const char *name,
		     size_t name_len);
/* The same under the name of an earlier range, which is kept once. */
bool code_ranges_add_again(struct code_ranges *ranges, uint64_t start, uint64_t size,
			   const struct code_range *earlier);
/*
 * To be called for each line or record, with the bytes of it that are looked at. false: it is too much: what
 * follows is left out. So neither the time nor the memory that a file takes is its writer's to choose.
 */
bool code_ranges_spend(struct code_ranges *ranges, size_t bytes);
/* The latest range at an address, or NULL. Valid until one is added. */
const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t addr);
/* Adds to the table (not finished) the parts of each that no later one covers. */
void code_ranges_flatten(const struct code_ranges *ranges, struct symbol_table *table);

#endif
