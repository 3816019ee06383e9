/* SPDX-License-Identifier: MIT */
/*
 * jitdump: jit-PID.dump, which run-time compilers write with their code in it: names, the code itself, its lines of
 * source and its unwind tables. A dump that still grows is read on from where it ended. Private to sym/; what others
 * need is in sym.h.
 */
#ifndef PSTAT_JITDUMP_H
#define PSTAT_JITDUMP_H

#include "sym/code_ranges.h"
#include "sym/code_times.h"

/* One code as it was loaded; moved, it stays this one. Places are offsets in the dump, 0 bytes: there is none. */
struct jit_piece {
	uint64_t loaded_at; /* address that its lines and its unwind table are about */
	uint64_t bytes_at, unwind_at, lines_at;
	uint32_t unwind_bytes, lines_bytes;
};

struct jitdump {
	char *path;
	struct code_rules rules; /* by which it is opened, each time that something is read */
	uint64_t next; /* offset of the first record that was not read; 0: nor was the header */
	uint64_t looked_at; /* its bytes, when it was read last */
	bool swap, other_clock, too_much;
	uint16_t machine; /* EM_* */
	struct code_ranges ranges;
	struct jit_piece *pieces;
	size_t n_pieces, cap_pieces;
	struct index by_code; /* of the codes below */
	struct jit_code *codes;
	size_t n_codes, cap_codes;
	struct jit_piece waiting; /* lines and unwind table of the code that will be loaded next */
	uint64_t waiting_lines_of; /* address of the code that these lines are of */
	struct str lines; /* of pieces[lines_of], which were looked at last */
	uint32_t lines_of;
};

struct jitdump *jitdump_new(const char *path, const struct code_rules *rules);
/*
 * Reads its records from where it ended the last time; a record that is not there in full is left for the next time.
 * err without a failure: what was left out. times, unless NULL: what was where when, not finished; none where the dump
 * has the times of another clock. Their names are the table's, after `names` bytes of others.
 */
int jitdump_read(struct jitdump *dump, struct code_times *times, size_t names, struct str *err);
/* At most out->n bytes of a range's code from addr on, into out->bytes, and whose machine's they are. */
int jitdump_code(struct jitdump *dump, const struct code_range *range, uint64_t addr, struct symbol_code *out,
		 struct str *err);
/* The line of an address in a range; false: it has none. The text stays until the next call. */
bool jitdump_line(struct jitdump *dump, const struct code_range *range, uint64_t addr, struct source_line *line);
/* The range as others have it. */
struct code_piece jitdump_piece_of(const struct jitdump *dump, const struct code_range *range);

#endif
