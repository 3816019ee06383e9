/*
 * code_ranges: what maps and dumps of code made at run time have in common. Private to sym/.
 */
#ifndef PSTAT_CODE_RANGES_H
#define PSTAT_CODE_RANGES_H

#include "sym/code_file.h"

struct code_range {
	uint64_t start, end;
	uint32_t name; /* offset in names */
	uint64_t bytes_at; /* offset in the file of its code; 0: it has none */
};

/* Ranges in the order in which they came to be: a later one lies over earlier ones. */
struct code_ranges {
	struct code_range *v;
	size_t n, cap;
	struct str names; /* each ended by NUL */
	uint64_t work_left; /* see code_ranges_spend */
};
#define CODE_RANGES_INIT                                                                           \
	{                                                                                          \
		NULL, 0, 0, STR_INIT, CODE_WORK_FILE                                               \
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
/* Adds to the table (not finished) the parts of each that no later one covers. */
void code_ranges_flatten(const struct code_ranges *ranges, struct symbol_table *table);

#endif
