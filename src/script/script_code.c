/* SPDX-License-Identifier: MIT */
/*
 * script_code: the code of samples: the instruction at their address, the instructions between the branches of their
 * branch stack, and lines of source.
 *
 * A branch stack says where the program went, newest first: branches[0] is the last one taken. What was executed
 * between two of them is a block, from where the older one went to where the newer one left:
 *
 *	branches[1].to ... branches[0].from, branches[0].to ... the sample's own address
 *
 * Blocks are read from the files of the code, instruction by instruction. Of the oldest branch only its own instruction
 * is known, of the last block where it ends: at the sample, or at a branch that is not in the stack.
 *
 * Texts of instructions are made once for each location, as those of frames are (script_frame.c).
 */
#include "script/script_internal.h"

#include <stdlib.h>

typedef unsigned long long ull;

/* ---- one instruction ---- */

static struct instructions *instructions_of(struct script *script)
{
	if (!script->instructions)
		script->instructions = instructions_new(&script->session);
	return script->instructions;
}

static void add_bytes(const struct instruction_found *found, const char *apart, struct str *out)
{
	for (unsigned i = 0; i < found->n_bytes; i++)
		str_addf(out, "%s%02x", i ? apart : "", found->bytes[i]);
}

/* "callq leaf+0x0"; with_address: "callq leaf+0x0 [0x1139]", where its file has it. */
static void add_disassembled(const struct instruction_found *found, bool with_address, struct str *out)
{
	str_add_printable(out, found->name, strlen(found->name));
	str_addc(out, ' ');
	if (!found->has_symbol)
		str_add_printable(out, found->operands, strlen(found->operands));
	else
		str_addf(out, "%s+0x%llx", found->symbol->name, (unsigned long long)found->offset);
	if (found->has_symbol && with_address)
		str_addf(out, " [0x%llx]", (unsigned long long)found->target);
}

/* Fields of the sample's own instruction. */
static void add_insn(const struct instruction_found *found, uint64_t fields, struct str *out)
{
	if (fields & FIELD_BIT(FIELD_INSNLEN))
		str_addf(out, " ilen: %u", found->n_bytes);
	if (!found->n_bytes)
		return;
	if (fields & FIELD_BIT(FIELD_INSN)) {
		str_add(out, " insn: ");
		add_bytes(found, " ", out);
	}
	if (!(fields & FIELD_BIT(FIELD_DISASM)))
		return;
	str_add(out, "\t\t");
	if (*found->name)
		add_disassembled(found, false, out);
	else
		add_bytes(found, " ", out);
}

/* The same as members of a JSON object, each with its comma. */
static void add_json_insn(const struct instruction_found *found, uint64_t fields, struct str *out)
{
	struct str text = STR_INIT;

	if (!found->n_bytes)
		return;
	if (fields & (FIELD_BIT(FIELD_INSN) | FIELD_BIT(FIELD_INSNLEN))) {
		str_add(out, ",\"insn\":\"");
		add_bytes(found, "", out);
		str_addc(out, '"');
	}
	if ((fields & FIELD_BIT(FIELD_DISASM)) && *found->name) {
		add_disassembled(found, false, &text);
		str_add(out, ",\"disasm\":");
		str_add_json(out, text.s);
	}
	str_release(&text);
}

/* One of those between branches. */
static void add_block_insn(const struct instruction_found *found, uint64_t fields, struct str *out)
{
	if (!found->n_bytes) {
		str_add(out, "<bad>");
	} else if ((fields & FIELD_BIT(FIELD_BRSTACKDISASM)) && *found->name) {
		add_disassembled(found, true, out);
	} else {
		str_add(out, "insn: ");
		add_bytes(found, " ", out);
		str_addc(out, ' ');
	}
}

void script_make_instruction(struct script *script, const struct script_style *style, uint32_t location,
			     struct frame_text *text, struct str *out)
{
	struct instruction_found found;
	bool known = instruction_at_location(instructions_of(script), location, &found);

	if (!(style->fields & BLOCK_FIELDS))
		(script->options.json ? add_json_insn : add_insn)(&found, style->fields, out);
	else if (known)
		add_block_insn(&found, style->fields, out);
	text->n_bytes = found.n_bytes;
	text->leaves = found.leaves;
}


void script_add_insn(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		     struct str *out)
{
	uint32_t location = session_ip_location(&script->session, sample);
	const struct frame_text *text = script_text_of(script, event->insn_style, location);

	str_addn(out, text->text, text->len);
}

bool script_find_instruction(struct script *script, uint32_t location, struct instruction_found *found)
{
	return instruction_at_location(instructions_of(script), location, found);
}

/* ---- lines of source ---- */

/* The line of source that a thread was at last. */
struct last_line {
	int32_t tid;
	unsigned line;
	uint64_t file; /* hash of its name, which may be forgotten meanwhile */
};

static struct last_line *last_line_of(struct script *script, int32_t tid)
{
	struct last_lines *lines = &script->last_lines;
	uint64_t hash = hash_word((uint32_t)tid);
	uint32_t i;

	if (INDEX_FIND(&lines->by_tid, hash, i, lines->v[i].tid == tid))
		return &lines->v[i];
	VEC_GROW(lines->v, lines->n, lines->cap);
	index_add(&lines->by_tid, hash, (uint32_t)lines->n);
	lines->v[lines->n] = (struct last_line){ .tid = tid };
	return &lines->v[lines->n++];
}

void script_release_code(struct script *script)
{
	instructions_free(script->instructions);
	free(script->last_lines.v);
	index_release(&script->last_lines.by_tid);
}

const char *script_find_source(struct script *script, uint32_t location, struct source_line *line)
{
	*line = location_frames(&script->session, location, SYM_LINES)->v[0].line;
	return instructions_source(instructions_of(script), line);
}

/* "|12       sum += x;", unless the thread was at that line before. */
static void add_source(struct script *script, int32_t tid, uint32_t location, struct str *out)
{
	struct last_line *last = last_line_of(script, tid);
	struct source_line line;
	const char *text = script_find_source(script, location, &line);
	uint64_t file = line.file ? hash_bytes(line.file, strlen(line.file)) : 0;

	if (!text || (line.line == last->line && file == last->file))
		return;
	str_addf(out, "|%-8u %s\n", line.line, text);
	last->line = line.line;
	last->file = file;
}

void script_add_source(struct script *script, const struct replay_sample *sample, struct str *out)
{
	add_source(script, (int32_t)sample->sample->tid, session_ip_location(&script->session, sample), out);
}

/* ---- blocks ---- */

enum {
	BLOCK_BYTES_MAX = 16384 - INSTRUCTION_BYTES_MAX, /* as perf has it */
	SAMPLE_BYTES_MAX = 1 << 20, /* a branch stack may be anybody's invention: its blocks together */
	MISSED_JUMP_BYTES = 128,
	INSN_COLUMNS = 30,
};

struct block_writer {
	struct script *script;
	const struct script_event *event;
	const struct replay_sample *sample;
	const struct symbol *named; /* function that the last line with a name had */
	uint64_t cycles; /* of all branches so far that have some */
	uint64_t left; /* bytes of code that may still be shown of the sample */
	struct str *out;
};

static uint32_t location_at(const struct block_writer *writer, uint64_t ip)
{
	return session_address_location(&writer->script->session, writer->sample, ip);
}

static bool in_kernel(const struct block_writer *writer, uint64_t ip)
{
	uint32_t location = location_at(writer, ip); /* which may move the others */

	return location_is_kernel(&writer->script->session.locations->v[location]);
}

static const struct frame_text *instruction_at(const struct block_writer *writer, uint64_t ip)
{
	return script_text_of(writer->script, writer->event->block_style, location_at(writer, ip));
}

static void add_line(const struct block_writer *writer, uint32_t location, const char *prefix)
{
	struct session *session = &writer->script->session;
	const struct frame_list *frames = location_frames(session, location, SYM_LINES);

	script_add_line(writer->script, &session->locations->v[location], &frames->v[0].line, prefix, writer->out);
}

/* Names the function, "main+4:", unless it is the one that was named last. */
static void add_function(struct block_writer *writer, uint64_t ip)
{
	struct session *session = &writer->script->session;
	uint32_t location = location_at(writer, ip);
	const struct symbol *symbol = location_symbol(session, location);
	uint64_t offset;

	if (!symbol || symbol == writer->named)
		return;
	writer->named = symbol;
	offset = session->locations->v[location].addr - symbol->start;
	str_addf(writer->out, "\t%s", symbol->name);
	if (offset)
		str_addf(writer->out, "+%llu", (ull)offset);
	str_addc(writer->out, ':');
	if (script_prints(writer->event, FIELD_SRCLINE))
		add_line(writer, location, "\t");
	str_addc(writer->out, '\n');
}

/* Up to the instruction's length; the caller ends the line. How many bytes it has. */
static unsigned add_instruction(struct block_writer *writer, uint64_t ip, unsigned columns)
{
	const struct frame_text *text = instruction_at(writer, ip);
	unsigned n_bytes = text->n_bytes;

	str_addf(writer->out, "\t%016llx\t", (ull)ip);
	str_addn(writer->out, text->text, text->len);
	str_pad(writer->out, ' ', text->len < columns ? columns - text->len : 0);
	if (script_prints(writer->event, FIELD_BRSTACKINSNLEN))
		str_addf(writer->out, "\tilen: %u", n_bytes);
	return n_bytes;
}

static void end_line(struct block_writer *writer, uint64_t ip)
{
	str_addc(writer->out, '\n');
	if (script_prints(writer->event, FIELD_SRCCODE))
		add_source(writer->script, (int32_t)writer->sample->sample->tid, location_at(writer, ip), writer->out);
}

/* The instruction that a branch is, the last of n in its block: "# PRED 7 cycles [19] 1.29 IPC"; n 0: not known. */
static void add_branch(struct block_writer *writer, const struct sample_branch *branch, unsigned n)
{
	uint64_t flags = branch->flags, cycles = branch_cycles(flags);

	add_instruction(writer, branch->from, INSN_COLUMNS);
	if (script_prints(writer->event, FIELD_SRCLINE))
		add_line(writer, location_at(writer, branch->from), "\t srcline: ");
	str_addf(writer->out, "\t#%s%s%s%s", flags & BRANCH_PREDICTED ? " PRED" : "",
		 flags & BRANCH_MISPREDICTED ? " MISPRED" : "", flags & BRANCH_IN_TX ? " INTX" : "",
		 flags & BRANCH_ABORT ? " ABORT" : "");
	if (cycles) {
		writer->cycles += cycles;
		str_addf(writer->out, " %llu cycles [%llu]", (ull)cycles, (ull)writer->cycles);
		if (n)
			str_addf(writer->out, " %.2f IPC", (double)n / (double)cycles);
	}
	end_line(writer, branch->from);
}

/* Takes a block's bytes from those that are left. False: nothing can be shown of it. */
static bool take_block(struct block_writer *writer, uint64_t start, uint64_t end)
{
	if (!start || !end || end - start > BLOCK_BYTES_MAX || end - start > writer->left ||
	    !instruction_at(writer, start)->len)
		return false;
	writer->left -= end - start;
	return true;
}

/* A block that ends with a branch. */
static void add_block(struct block_writer *writer, uint64_t start, const struct sample_branch *branch)
{
	uint64_t ip = start;
	unsigned n = 0, n_bytes = 1;

	if (!take_block(writer, start, branch->from))
		return;
	for (; ip < branch->from && n_bytes && instruction_at(writer, ip)->len; ip += n_bytes, n++) {
		add_function(writer, ip);
		n_bytes = add_instruction(writer, ip, 0);
		end_line(writer, ip);
	}
	if (ip != branch->from) {
		str_add(writer->out, "\tmismatch of LBR data and executable\n");
		return;
	}
	add_function(writer, ip);
	add_branch(writer, branch, n + 1);
}

/* Adds what was executed since the last branch: up to the sample, as far as can be told. */
static void add_last_block(struct block_writer *writer, uint64_t start)
{
	const uint64_t kinds = writer->sample->event->attr.branch_sample_type;
	const bool complete = !kinds || (kinds & PERF_SAMPLE_BRANCH_ANY);
	uint64_t own = writer->sample->sample->ip, end = own < start ? start + MISSED_JUMP_BYTES : own;
	unsigned n_bytes = 1;

	if (in_kernel(writer, start) != in_kernel(writer, end) || !take_block(writer, start, end)) {
		add_function(writer, start);
		start = end = own;
		if (!take_block(writer, own, own))
			return;
	} else {
		add_function(writer, start);
	}
	for (uint64_t ip = start; ip <= end && n_bytes && instruction_at(writer, ip)->len; ip += n_bytes) {
		bool leaves = instruction_at(writer, ip)->leaves;

		n_bytes = add_instruction(writer, ip, 0);
		if (leaves && complete && ip != own) {
			str_add(writer->out, "\n\t... not reaching sample ...\n");
			return;
		}
		end_line(writer, ip);
	}
}

void script_add_blocks(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		       struct str *out)
{
	struct block_writer writer = {
		.script = script, .event = event, .sample = sample, .left = SAMPLE_BYTES_MAX, .out = out,
	};
	const struct sample *s = sample->sample;
	const struct sample_branch *v = s->branches;
	uint64_t n = s->n_branches, max = script->options.max_blocks;

	if (!n)
		return;
	n = max && n > max + 1 ? max + 1 : n;
	str_addc(out, '\n');
	if (take_block(&writer, v[n - 1].from, v[n - 1].from)) {
		add_function(&writer, v[n - 1].from);
		add_branch(&writer, &v[n - 1], 0);
	}
	for (uint64_t i = n - 1; i-- > 0;) {
		uint64_t start = v[i + 1].to;

		/* A filter has left out the way into the kernel or back: it goes on at the branch after. */
		if (start && v[i].from && i && in_kernel(&writer, start) != in_kernel(&writer, v[i].from))
			i--;
		if (in_kernel(&writer, start) == in_kernel(&writer, v[i].from))
			add_block(&writer, start, &v[i]);
	}
	if (v[0].from != s->ip && !(v[0].flags & BRANCH_ABORT))
		add_last_block(&writer, v[0].to);
}
