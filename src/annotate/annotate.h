/* SPDX-License-Identifier: MIT */
/*
 * annotate: where in a function its samples are: instructions, source lines, inlined functions.
 *
 *   profile: cells by location --functions.c--> the samples of each function, by address
 *                                                  |
 *   sym: bytes of code --disasm_*.c--> instructions +--> annotation.c: struct annotation, for text and screen
 *   sym: frames, lines --source_text.c--> texts ----+
 *
 * Locations are exact addresses, so a profile that was read once answers for each function in it without reading the
 * recording again. A sample belongs to the instruction that its address is in. Which one that is, is the processor's
 * choice: without precise events mostly one behind the one that was costly (skid).
 */
#ifndef PSTAT_ANNOTATE_H
#define PSTAT_ANNOTATE_H

#include "profile/profile.h"

/* ---- functions.c: which functions have samples ---- */

struct annotate_cell {
	uint64_t n_samples, period;
};
enum { ANNOTATE_NONE = UINT32_MAX };

struct annotate_function {
	const struct symbol *symbol; /* never NULL; it may be nameless */
	uint32_t code; /* of code made at run time: location_row.code */
	const struct annotate_cell *total; /* one for each event asked for */
	const struct annotate_address *addresses; /* ascending */
	size_t n_addresses;
	const struct cycle_run *runs; /* of its code between branches, of all events asked for; in no order */
	size_t n_runs;
};
struct cycle_run { /* of code that ended with a branch; those with the same facts are one */
	uint64_t start, end; /* location.addr of the first and the last instruction */
	uint64_t n, cycles; /* how often, and of all of them */
};
#define ANNOTATE_NO_START UINT64_MAX /* not known, or in another function */
struct annotate_address {
	uint64_t addr; /* location.addr */
	const struct annotate_cell *cells; /* one for each event */
};

struct annotate_query {
	/*
	 * Functions of this name alone, by symbol.name or .raw; NULL: all. The kernel's list of names takes longer to
	 * read than all else: without filters by file or symbol it is looked at only where no file has the name.
	 */
	const char *name;
	const struct filters *filters; /* by cell and location; NULL: all that the profile has */
	const size_t *events; /* indexes of the profile's, shown beside each other, the first decides the order */
	size_t n_events;
};
/* The functions of a profile that have samples of the events. What it has is its own; the profile has to stay. */
struct annotate;
struct annotate *annotate_new(struct profile *profile, const struct annotate_query *query);
void annotate_free(struct annotate *annotate); /* NULL is fine */
/* Heaviest first: by period of the first event, then of the others, then by name. i: from 0; NULL: no more. */
const struct annotate_function *annotate_function_at(const struct annotate *annotate, size_t i);
/* The function of a symbol; NULL: it has no samples. */
const struct annotate_function *annotate_function_of(struct annotate *annotate, const struct symbol *symbol);
/* The function of a symbol of a file, with or without samples: for going from one function to another. */
const struct annotate_function *annotate_function_any(struct annotate *annotate, const struct symbol *symbol);
/* The function that an inlined one is part of, which its samples count for; else the symbol itself. NULL: NULL. */
const struct symbol *annotate_around(struct session *session, const struct symbol *symbol);
/* Like location_symbol, without a look for inlined functions, which would read debug information of all files. */
const struct symbol *annotate_symbol_of(struct session *session, uint32_t location);
/*
 * Adds why no function of this name has samples: where it was inlined, or which one may be meant. A
 * sentence, and perhaps a line with what to do.
 */
void annotate_add_unknown(struct session *session, const char *name, struct str *out);
/* All samples of the event that were counted, inside of functions or not; event: index in the query. */
struct annotate_cell annotate_total(const struct annotate *annotate, size_t event);
/* Has the function at least this part of the samples of the first event, by their periods? */
bool annotate_is_heavy(const struct annotate *annotate, const struct annotate_function *function, double percent);

/* ---- cycles.c: what branches with cycles say; only of profiles with FACT_BLOCK_START or shape.runs ---- */

struct annotate_cycles {
	uint64_t n, cycles; /* runs, and cycles of all of them */
	uint64_t known, instructions; /* cycles and instructions of those whose start is known */
};
double annotate_ipc(const struct annotate_cycles *cycles); /* instructions per cycle; 0: not known */

/* ---- annotation.c: one of them, instruction by instruction ---- */

enum annotate_flow { FLOW_ON, FLOW_JUMP, FLOW_CALL, FLOW_RETURN };

struct annotate_instruction {
	uint64_t addr; /* location.addr */
	uint64_t shown; /* the same as the file has it, which objdump shows: a virtual address */
	const uint8_t *bytes;
	uint8_t n_bytes;
	bool bad; /* the bytes are no instruction that is known; text says ".byte 0x06" */
	enum annotate_flow flow; /* where it goes on; a conditional jump is one too */
	/* The address it names, if has_target: where it jumps, calls or, relative to its own, reads. As `shown`. */
	bool has_target;
	uint64_t target;
	uint32_t target_instruction; /* of a jump within the function; else ANNOTATE_NONE */
	const struct symbol *target_symbol; /* what is there of the file; NULL: not known, or the file has no bytes */
	const char *target_name; /* its name, printable, or NULL */
	uint64_t target_offset; /* from the start of target_name */
	/* "jmp    11fc <hot+0x2c>", printable; the operand alone begins at text + operands. */
	const char *text;
	uint32_t operands;
	uint32_t n_jumps_here; /* jumps of this function that go here */
	/* Innermost first, functions inlined here, and last the function itself: frames.v[0].line is its line. */
	struct frame_list frames;
	const struct annotate_cell *cells; /* one for each event */
	struct annotate_cycles *cycles; /* of the runs that end here; NULL: none does */
};

/* Rows as they are shown, from top to bottom. */
enum annotate_row_kind {
	ROW_INLINED, /* what follows belongs to other functions than before: frames of the instruction */
	ROW_SOURCE, /* a line of source; text NULL: its file can't be read */
	ROW_INSTRUCTION,
};
struct annotate_row {
	enum annotate_row_kind kind;
	uint32_t instruction; /* it, or the one that follows */
	struct source_line line;
	const char *text; /* of source: printable, tabs are blanks */
};

/* A source line's own sum. */
struct annotate_line {
	struct source_line line; /* file NULL: instructions without one */
	const char *text; /* as above */
	const struct annotate_cell *cells; /* one for each event */
};

struct annotate_options {
	bool intel; /* -M intel; else att. Only x86 has two */
	bool no_source; /* no ROW_SOURCE */
	const char *prefix; /* --prefix: goes in front of absolute names of source files */
	unsigned prefix_strip; /* --prefix-strip: folders that it takes the place of */
};

struct annotation {
	const struct annotate_function *function; /* of the struct annotate, which has to stay */
	const struct data_event **events; /* n_events */
	size_t n_events;
	const struct annotate_cell *totals; /* of the event, over all functions: annotate_total */
	struct annotate_instruction *instructions;
	size_t n_instructions;
	struct annotate_row *rows;
	size_t n_rows;
	struct annotate_line *lines; /* heaviest first, those without samples left out */
	size_t n_lines;
	/* Samples of the function at addresses that are not among the instructions; one for each event. */
	struct annotate_cell *elsewhere;
	bool has_cycles; /* at least one instruction has them */
	struct annotate_cycles cycles; /* of all runs whose start is known; n and cycles are not filled */
	size_t n_covered; /* instructions that these went over */
	bool cut; /* its file has more of the function than is shown: ANNOTATE_BYTES_MAX */
	char *code_from; /* where its code was read, printable */
	struct annotation_private *private;
};
#define ANNOTATE_BYTES_MAX ((size_t)1 << 20)

/*
 * *annotation, for annotation_free; or a negative errno with a sentence of why its code can't be shown, which names
 * neither the function nor its file: -ENOSYS where this build has no disassembler.
 */
int annotation_new(struct annotation **annotation, struct annotate *annotate, const struct annotate_function *function,
		   const struct annotate_options *options, struct str *err);
void annotation_free(struct annotation *annotation); /* NULL is fine */

/* The whole that a percentage is of. */
enum annotate_percent { PERCENT_LOCAL_PERIOD, PERCENT_LOCAL_HITS, PERCENT_GLOBAL_PERIOD, PERCENT_GLOBAL_HITS };
double annotation_percent(const struct annotation *annotation, size_t event, const struct annotate_cell *cell,
			  enum annotate_percent of);

/* ---- instructions.c: the instruction at a location, and lines of source, for those who print single samples ---- */

struct instructions; /* borrows the session */
struct instructions *instructions_new(struct session *session);
void instructions_free(struct instructions *instructions); /* NULL is fine */

enum { INSTRUCTION_BYTES_MAX = 15 }; /* of x86, whose instructions are the longest */
struct instruction_found {
	uint8_t bytes[INSTRUCTION_BYTES_MAX];
	uint8_t n_bytes; /* of the instruction; 0: the bytes there are none that is known */
	bool leaves; /* what follows it is not executed next: it jumps, calls or returns whatever the flags are */
	bool has_symbol; /* it goes to symbol + offset, which lies at target as its file has it */
	const struct symbol *symbol;
	uint64_t offset, target;
	/* Names it, e.g. "movl", and its operands as the disassembler has them; valid until the next call. */
	const char *name, *operands;
};
/* False: no file has the code of the location, or there is no disassembler for its machine. */
bool instruction_at_location(struct instructions *instructions, uint32_t location, struct instruction_found *found);
/*
 * Whether an instruction begins `at` bytes into code, of which the first instruction begins at its first byte.
 * Negative, with a clause: it can't be disassembled. machine: EM_*.
 */
int code_instruction_begins(uint16_t machine, const uint8_t *bytes, size_t n, size_t at, struct str *why);
/* A line of source, printable; lives as long as instructions. NULL: no such file or line. */
const char *instructions_source(struct instructions *instructions, const struct source_line *line);

/* ---- disasm_capstone.c: bytes of code -> one instruction after the other; disasm_capstone_none.c: left out ---- */

/* Registers are called by the numbers that DWARF gives them on their machine; those of data alone have none here. */
enum { CODE_REGISTERS = 32, NO_REGISTER = 255 };

/* Memory that an instruction reads or writes by an operand; the stack that it pushes to, or pops from, is none. */
struct data_access {
	bool reads, writes; /* neither: it has no such operand */
	bool segment; /* of x86: within %fs or %gs, as what each thread has of its own is */
	bool placed; /* what is added to registers is an address as the file has it: relative to the code, or alone */
	uint8_t base, index; /* NO_REGISTER: none */
	uint8_t scale; /* that index is multiplied by */
	uint8_t bytes; /* 0: not known */
	int64_t offset; /* added to the registers; an address, if placed */
};
enum register_move {
	MOVE_NONE, /* nothing that can be said of a register */
	MOVE_LOAD, /* to = all of what the access reads */
	MOVE_SUM, /* to = from + number; from NO_REGISTER: to = number, an address as the file has it */
	MOVE_ELEMENT, /* to = from + number + a multiple of something: an element of an array, mostly; from as above */
	MOVE_THREAD, /* to = the thread pointer, which the variables that each thread has are counted from */
	MOVE_STORE, /* all of what the access writes = from; to is NO_REGISTER */
};
/* An instruction's work on data, as far as types of data depend on it. */
struct data_effect {
	struct data_access access;
	enum register_move move;
	uint8_t to, from;
	uint8_t other; /* of MOVE_ELEMENT: what else may be a pointer, and `from` how far; NO_REGISTER: nothing */
	int64_t number;
	uint32_t changed; /* bits: registers that hold something else after it, `to` among them */
	bool stack; /* it pushes, pops, calls or returns, and has no other memory operand */
	bool compares; /* it sets flags, as a conditional jump after it needs, and nothing else */
};

struct disasm_instruction { /* valid until the next one is asked for */
	uint8_t n_bytes;
	const char *name; /* "callq" */
	const char *operands; /* "0x1139"; not printable as such: see annotation.c */
	enum annotate_flow flow;
	bool leaves; /* whatever the flags are, what follows is not executed next */
	/*
	 * The instruction names an address: jumps there, calls it or, relative to itself or to a page that one before
	 * it has put into a register (adrp), reads there.
	 */
	bool has_target;
	bool target_is_last_operand; /* it stands in the text, as its last operand */
	uint64_t target;
};
struct disasm;

/* Can code be disassembled? 0, -ENOSYS: left out of the build, or why the library can't be loaded. */
int annotate_try(struct str *err);
/* NULL with a clause: this build, this machine, or the library knows no such code. machine: EM_*. */
struct disasm *disasm_open(uint16_t machine, bool intel, struct str *why);
void disasm_close(struct disasm *disasm); /* NULL is fine */
/*
 * The instruction at an address; false: the n bytes begin with none. To be called from one address to the next, for
 * registers are remembered until the flow is left.
 */
bool disasm_next(struct disasm *disasm, const uint8_t *bytes, size_t n, uint64_t addr,
		 struct disasm_instruction *instruction);
/* Tells what the instruction that disasm_next came to does with data. The disassembler is one with `intel`. */
void disasm_effect(const struct disasm *disasm, const struct disasm_instruction *instruction,
		   struct data_effect *effect);
/* How much is to be passed over where there is none: all of one that is not known, where its length can be told. */
unsigned disasm_unknown(const struct disasm *disasm, const uint8_t *bytes, size_t n);
/* The register, by machine, that has nothing but the address of the frame, once that is made; NO_REGISTER: none. */
uint8_t disasm_frame_pointer(const struct disasm *disasm);
/* The registers that a call leaves as they were, as bits, and the one that it returns a value in; by machine. */
uint32_t disasm_kept_by_calls(const struct disasm *disasm, uint8_t *returned);

#endif
