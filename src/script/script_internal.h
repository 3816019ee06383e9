/* SPDX-License-Identifier: MIT */
/*
 * script_internal: what the files of `pstat script` hand each other. Private to script/.
 *
 *   script.c         a struct sample_sink: each sample -> script_text.c or script_json.c -> output; other records
 *   script_fields.c  the fields: names, what a sample needs for them, defaults of each event type
 *   script_frame.c   frames as text, remembered per location and style
 *   script_regs.c    registers by their names
 *   script_python.c  samples as calls of Python functions, for -s
 *   script_tables.c  the same as rows of tables, for scripts that make a database
 *   script_generate.c  a script in Python with functions for the recording's events, for -g
 *   script_code.c    instructions: the sample's, and those between the branches of its stack; lines of source
 *
 * Words: a field is what -F names; a choice is what -F says for each type of event; a start is what every line
 * begins with; a style is how the frames of some events look; a location is an address of code in its file, as
 * profile/ has it; another record is one that is no sample.
 */
#ifndef PSTAT_SCRIPT_INTERNAL_H
#define PSTAT_SCRIPT_INTERNAL_H

#include "annotate/annotate.h"
#include "profile/profile.h"
#include "script/script.h"
#include "trace/trace.h"

enum script_field {
	FIELD_COMM,
	FIELD_PID,
	FIELD_TID,
	FIELD_CPU,
	FIELD_MISC,
	FIELD_TOD,
	FIELD_TIME,
	FIELD_PERIOD,
	FIELD_EVENT,
	FIELD_FLAGS,
	FIELD_TRACE,
	FIELD_ADDR,
	FIELD_DATA_SRC,
	FIELD_WEIGHT,
	FIELD_INS_LAT,
	FIELD_RETIRE_LAT,
	FIELD_IP,
	FIELD_SYM,
	FIELD_SYMOFF,
	FIELD_DSO,
	FIELD_DSOFF,
	FIELD_SRCLINE,
	FIELD_IREGS,
	FIELD_UREGS,
	FIELD_BRSTACK,
	FIELD_BRSTACKSYM,
	FIELD_BRSTACKOFF,
	FIELD_BPF_OUTPUT,
	FIELD_INSNLEN,
	FIELD_INSN,
	FIELD_DISASM,
	FIELD_BRSTACKINSN,
	FIELD_BRSTACKINSNLEN,
	FIELD_BRSTACKDISASM,
	FIELD_PHYS_ADDR,
	FIELD_DATA_PAGE_SIZE,
	FIELD_CODE_PAGE_SIZE,
	FIELD_CGROUP,
	FIELD_SRCCODE,
	/* Fields of hardware traces, which are not decoded, and of guests' recordings: no sample has them. */
	FIELD_SYNTH,
	FIELD_IPC,
	FIELD_CALLINDENT,
	FIELD_MACHINE_PID,
	FIELD_VCPU,
	SCRIPT_FIELDS,
};
#define FIELD_BIT(field) (1ULL << (field))
/* Fields that are texts of one instruction: of the sample's own, and of each between branches. */
#define INSN_FIELDS (FIELD_BIT(FIELD_INSN) | FIELD_BIT(FIELD_INSNLEN) | FIELD_BIT(FIELD_DISASM))
#define BLOCK_FIELDS \
	(FIELD_BIT(FIELD_BRSTACKINSN) | FIELD_BIT(FIELD_BRSTACKINSNLEN) | FIELD_BIT(FIELD_BRSTACKDISASM))

/* The fields that -F chooses, for each type of event: hw, sw, trace, ... */
enum { SCRIPT_TYPES = 8 };
struct script_choice {
	uint64_t fields[SCRIPT_TYPES]; /* FIELD_BIT; 0: samples of the type are not printed */
	uint64_t asked[SCRIPT_TYPES]; /* those of them that were asked for by name */
	uint64_t frames[SCRIPT_TYPES]; /* added where samples have chains: tracepoints have no code else */
};

/* How an event's samples are printed. */
struct script_event {
	uint64_t fields; /* FIELD_BIT; 0: nothing at all */
	bool chain; /* frames on lines of their own */
	char *name; /* printable */
	size_t name_len;
	size_t style; /* in script->styles */
	size_t insn_style, block_style; /* likewise: of the instruction, of those between branches; if asked for */
};

struct frame_text {
	const char *text; /* " main+0x1d (/usr/bin/x)": all that follows the address; NULL: not made yet */
	uint32_t len : 31; /* 0 of an instruction: no file has its code */
	uint32_t ends : 1; /* --stop-bt: callers are not printed */
	/* An instruction's bytes, 0 where they are none that is known; whether what follows it is not executed next. */
	uint8_t n_bytes;
	bool leaves;
};

/* How frames look, or instructions: most events share one, however many there are. */
struct script_style {
	uint64_t fields; /* those of a frame; FIELD_BIT */
	bool chain;
	struct frame_text *texts; /* by location */
	size_t n_texts;
};

/* One counter's, of a round that has not ended. */
struct script_count {
	uint32_t event, thread; /* indexes: of the recording's events, of its THREAD_MAPs */
	int32_t cpu; /* -1: any */
	uint64_t value, enabled_ns, running_ns;
};
struct script_counts { /* begins as { 0 } */
	struct script_count *v; /* of the round, as they are shown */
	size_t n, cap;
	struct script_count *last; /* each counter's last one, as it was stored: since its start */
	size_t n_last, cap_last;
	struct index by_counter; /* of last */
	int32_t *pids; /* of all THREAD_MAPs */
	size_t n_pids, cap_pids;
	bool header_printed;
	bool total; /* the recording was made to show the counts of all CPUs and threads in one */
};

struct script {
	struct script_options options;
	struct session session;
	struct filters *filters;
	struct name_set stops; /* --stop-bt */
	struct tracepoints *tracepoints;
	bool tracepoints_tried;
	uint64_t without_trace; /* samples of tracepoints whose text could not be made */
	struct script_choice choice;
	struct script_event *events; /* by index of the event */
	size_t n_events;
	bool events_named; /* of a pipe: chosen when all its events had names */
	struct script_style *styles; /* distinct ones, of all events */
	size_t n_styles, cap_styles;
	unsigned name_width; /* of the longest event name */
	uint64_t first_ns, last_ns; /* of samples printed, for --reltime and --deltatime */
	uint64_t tod_s; /* the second that tod is the text of */
	char tod[32];
	size_t data_src_width; /* of the longest data_src so far */
	bool header_printed;
	struct script_counts counts;
	struct script_python *python; /* NULL: text or JSON */
	struct script_tables *tables; /* NULL: a Python script, if there is one, takes no rows */
	struct output *output;
	void (*progress)(void *context, double part);
	void *progress_context;
	struct arena texts; /* of styles */
	struct instructions *instructions; /* NULL: nobody asked */
	struct last_lines { /* begins as { 0 } */
		struct last_line *v;
		size_t n, cap;
		struct index by_tid;
	} last_lines; /* of source, that threads were at; script_code.c */
	struct str scratch;
	struct str comm; /* printable: that of comm_id, which is 1 + a thread's comm; 0: none yet */
	uint64_t comm_id;
};

/* ---- script_fields.c ---- */

/*
 * To add a field: an enum above, a row there, its text in script_text.c (a row there, too, for most), its member in
 * script_json.c, a line in pstat-script(1).
 */
struct script_field_row {
	const char *name;
	const char *help;
	uint64_t needs; /* PERF_SAMPLE_*: any of them */
	const char *needs_name; /* "ADDR", as perf names it */
};
extern const struct script_field_row script_field_rows[SCRIPT_FIELDS];
/* Reads the lists of -F, each ended by a newline but the last; NULL: none. -EINVAL with a sentence. */
int script_read_choice(struct script_choice *choice, const char *lists, struct str *err);
/* Works out script->events from the choice and the recording. -EINVAL with a sentence. */
int script_choose_fields(struct script *script, struct str *err);

static inline bool script_prints(const struct script_event *event, enum script_field field)
{
	return event->fields & FIELD_BIT(field);
}

/* ---- script_frame.c ---- */

/* The styles of an event whose fields are chosen. */
void script_choose_styles(struct script *script, struct script_event *event);
/* The text of a location in a style: until the next text is asked for, or they are forgotten. */
const struct frame_text *script_text_of(struct script *script, size_t style, uint32_t location);
/* Locations or styles are not what they were: the texts made for them go. */
void script_forget_texts(struct script *script);
void script_release_styles(struct script *script);

/*
 * A frame's address and what follows it (symbol, offset, file, line); in a chain a line for it and for
 * each function inlined there, else no line's end. false: --stop-bt has it that the chain ends there.
 */
bool script_add_frame(struct script *script, const struct script_event *event, const struct chain_entry *frame);
/* " sym+0xoff (dso)" of any location, as far as the event's fields ask for it; not remembered. */
void script_add_location(struct script *script, uint64_t fields, uint32_t location, struct str *out);
/*
 * A file by its path, code made at run time by its perf map, all else by its name; with --show-kernel-path the kernel
 * by the file that its names are from.
 */
void script_add_dso(struct script *script, const struct dso *dso, struct str *out);
/* The same as JSON: an object, after those of the functions inlined there. false: as above. */
bool script_add_json_frame(struct script *script, const struct script_event *event, const struct chain_entry *frame);
enum { ADDRESS_COLUMNS = 16 }; /* addresses are on their right, with blanks before them */

/* "main.c:12" of a location behind the prefix; where no line is known the address in its file, as perf has it. */
void script_add_line(const struct script *script, const struct location_row *row, const struct source_line *line,
		     const char *prefix, struct str *out);

/* ---- script_code.c ---- */

/* The text of an instruction in a style, and what text has beside it. */
void script_make_instruction(struct script *script, const struct script_style *style, uint32_t location,
			     struct frame_text *text, struct str *out);
/* The sample's own instruction, of which the fields are asked for: in JSON as members, each with its comma. */
void script_add_insn(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		     struct str *out);
/* The instructions between the branches of the sample's branch stack, a line each, in the order of their execution. */
void script_add_blocks(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		       struct str *out);
/* The sample's line of source, as a line. */
void script_add_source(struct script *script, const struct replay_sample *sample, struct str *out);
/* The instruction at a location; false: no file has it. */
bool script_find_instruction(struct script *script, uint32_t location, struct instruction_found *found);
/* The innermost line of source at a location, and its text; NULL: its file is not there, or no line is known. */
const char *script_find_source(struct script *script, uint32_t location, struct source_line *line);
void script_release_code(struct script *script);

/* ---- script_text.c, script_json.c ---- */

/* The beginning of every line: of a sample or of another record. */
struct script_start {
	const struct thread *thread; /* NULL: not known */
	int32_t pid, tid;
	uint32_t cpu;
	uint64_t time_ns;
	uint64_t has; /* PERF_SAMPLE_* bits: which of them are known */
	uint16_t misc;
	uint32_t type; /* RECORD_* */
};
/* "comm  tid [cpu] seconds.microseconds: " */
void script_add_start(struct script *script, const struct script_event *event,
		      const struct script_start *start);
void script_text_sample(struct script *script, const struct script_event *event, const struct sink_sample *sample,
			const struct script_start *start);
void script_json_sample(struct script *script, const struct script_event *event, const struct sink_sample *sample,
			const struct script_start *start);
/* Another record in JSON, with its text. */
void script_json_record(struct script *script, const struct script_start *start, const struct record_body *body);
/* A frame's members after "ip". */
void script_json_frame(struct script *script, const struct location_row *row, const struct frame *frame, bool inlined,
		       struct str *out);
/* "f+0x4" of one end of a branch; "[unknown]". */
void script_add_branch_symbol(struct script *script, const struct replay_sample *sample, uint64_t ip, struct str *out);
/* "|OP LOAD|LVL L1 hit|..." */
void script_add_data_src(uint64_t data_src, struct str *out);
/* "COND", "CALL", ...; "": not said. */

/* ---- script.c ---- */
/* NULL where the recording has no formats, or the library is left out: then a note says so. */
struct tracepoints *script_tracepoints(struct script *script);

/* ---- script_regs.c ---- */
/* The names of registers by their bit in a mask, of the recording's architecture. */
const char *script_register_name(const struct reader *reader, unsigned bit); /* NULL: it has none */
/* " ABI:2    AX:0x1 ..."; nothing where there are no registers. */
void script_add_registers(const struct reader *reader, const struct sample_regs *regs, struct str *out);
/* "   AX:0x1 ", without the ABI. */
void script_add_register_values(const struct reader *reader, const struct sample_regs *regs, struct str *out);

/* ---- script_python.c ---- */
void script_python_new(struct script *script);
void script_python_free(struct script_python *python); /* NULL is fine */
void script_python_begin(struct script *script);
/* Bits of sample_wants; 0: no function takes samples of the event. */
unsigned script_python_wants(struct script *script, const struct data_event *event);
/* 0 or output->failed. */
int script_python_sample(struct script *script, const struct sink_sample *taken);
int script_python_record(struct script *script, const struct record *record, const struct record_body *body,
			 const struct thread *thread);
/* A counter's stored count, of a thread of that process, -1: of none; behind all of a round: its time. */
int script_python_count(struct script *script, const struct script_count *count, int32_t pid, uint64_t time_ns);
int script_python_round(struct script *script, uint64_t time_ns);
/* All calls so far are handed on; _end: and the end of them. */
int script_python_flush(struct script *script);
int script_python_end(struct script *script);
/* Locations are not what they were. */
void script_python_forget(struct script *script);

/* A call of a function by its number; its arguments follow, then the end. */
struct pickle *script_python_call(struct script *script, int function);
void script_python_call_end(struct script *script);
/* Between calls: those so far are handed on when they are many. 0 or output->failed. */
int script_python_step(struct script *script);
/* The number of a function; -1: the script has none of this name. */
int python_functions_find(const struct python_functions *functions, const char *name);
/* STB_LOCAL, STB_GLOBAL or STB_WEAK of a symbol table. */
unsigned script_binding(const struct symbol *symbol);
/* PERF_MEM_*_NA of perf_event_open(2) where no memory access was recorded. */
uint64_t script_data_source(const struct sample *s);
/* The sample's weight alone, without the latencies beside it; 0: it was not recorded. */
uint64_t script_weight(const struct sample *s);

/* ---- script_tables.c ---- */

/* Makes script->tables if the functions are of a script that asks for rows. */
void script_tables_new(struct script *script, const struct python_functions *functions);
void script_tables_free(struct script_tables *tables); /* NULL is fine */
/* The rows that are the same for all recordings. */
void script_tables_begin(struct script *script);
/* Files and functions of the event's data addresses are asked for. tables NULL: false. */
bool script_tables_wants_addresses(const struct script_tables *tables, const struct data_event *event);
/* Bits of sample_wants. */
unsigned script_tables_wants(const struct script_tables *tables, const struct data_event *event);
/* 0 or output->failed. */
int script_tables_sample(struct script *script, const struct sink_sample *taken);
/* True: the record is known from rows alone. thread: whose; or NULL. */
bool script_tables_record(struct script *script, const struct record *record, const struct record_body *body,
			  const struct thread *thread);
/* Locations are not what they were. */
void script_tables_forget(struct script_tables *tables);

#endif
