/*
 * instructions: the code of a function as instructions: their texts, where they go, which lines and inlined functions
 * they belong to, and which samples.
 *
 * Bytes that are no instruction, or one that is not known, are shown as they are (".byte 0x06"), until an instruction
 * begins again: so it goes on behind data among the code, and the worst bytes cost a row each.
 */
#include "annotate/annotate_internal.h"

#include <stdlib.h>

enum { NAME_COLUMNS = 6 }; /* of an instruction's name, as objdump has it */

/* ---- texts ---- */

/* The function that an address as shown is in. */
static void name_target(struct annotation *annotation, struct annotate_instruction *instruction)
{
	const struct dso *dso = annotation->function->symbol->dso;
	struct symbols *symbols = annotation->private->session->symbols;
	const struct symbol *own = annotation->function->symbol, *symbol;
	uint64_t addr;

	if (!symbols_addr_of(symbols, dso, instruction->target, &addr))
		return;
	symbol = addr >= own->start && addr < own->end ? own : symbols_find(symbols, dso, addr);
	if (!symbol)
		return;
	instruction->target_symbol = symbol;
	instruction->target_name = symbol->name;
	instruction->target_offset = addr - symbol->start;
}

static void add_target(struct str *out, const struct annotate_instruction *instruction)
{
	str_addf(out, "%llx", (unsigned long long)instruction->target);
	if (!instruction->target_name)
		return;
	str_addf(out, " <%s", instruction->target_name);
	if (instruction->target_offset)
		str_addf(out, "+0x%llx", (unsigned long long)instruction->target_offset);
	str_addc(out, '>');
}

/* How many bytes of the operands are in front of the last one. */
static size_t before_last(const char *operands)
{
	const char *comma = strrchr(operands, ',');

	if (!comma)
		return 0;
	comma++;
	return (size_t)(comma - operands) + strspn(comma, " ");
}

static void set_text(struct annotation *annotation, struct annotate_instruction *instruction,
		     const struct disasm_instruction *found, struct str *text)
{
	str_reset(text);
	str_add_printable(text, found->name, strlen(found->name));
	if (found->operands[0]) {
		str_pad(text, ' ', text->len < NAME_COLUMNS ? NAME_COLUMNS - text->len : 0);
		str_addc(text, ' ');
	}
	instruction->operands = (uint32_t)text->len;
	if (found->has_target && found->target_is_last_operand) {
		str_add_printable(text, found->operands, before_last(found->operands));
		add_target(text, instruction);
	} else {
		str_add_printable(text, found->operands, strlen(found->operands));
		if (found->has_target) {
			str_add(text, "  # ");
			add_target(text, instruction);
		}
	}
	instruction->text = arena_strndup(&annotation->private->arena, text->s, text->len);
}

static void set_bad_text(struct annotation *annotation, struct annotate_instruction *instruction, struct str *text)
{
	str_reset(text);
	str_add(text, ".byte  ");
	instruction->operands = (uint32_t)text->len;
	for (unsigned i = 0; i < instruction->n_bytes; i++)
		str_addf(text, "%s0x%02x", i ? ", " : "", instruction->bytes[i]);
	instruction->bad = true;
	instruction->text = arena_strndup(&annotation->private->arena, text->s, text->len);
}

/* ---- one after the other ---- */

static struct frame_list frames_at(const struct annotation *annotation, uint64_t addr)
{
	const struct annotate_function *function = annotation->function;
	struct symbols *symbols = annotation->private->session->symbols;

	if (function->code)
		return symbols_code_frames(symbols, function->symbol->dso, function->code);
	return symbols_frames(symbols, function->symbol->dso, addr, SYM_LINES);
}

static void add_instruction(struct annotation *annotation, size_t *cap, struct disasm *disasm, uint64_t start,
			    size_t *at, struct str *text)
{
	const struct symbol_code *code = &annotation->private->code;
	struct disasm_instruction found;
	struct annotate_instruction *instruction;
	size_t left = code->n - *at;

	VEC_GROW(annotation->instructions, annotation->n_instructions, *cap);
	instruction = &annotation->instructions[annotation->n_instructions++];
	*instruction = (struct annotate_instruction){
		.addr = start + *at,
		.shown = code->shown + *at,
		.bytes = code->bytes + *at,
		.target_instruction = ANNOTATE_NONE,
		.frames = frames_at(annotation, start + *at),
	};
	if (disasm_next(disasm, instruction->bytes, left, instruction->shown, &found) && found.n_bytes &&
	    found.n_bytes <= left) {
		instruction->n_bytes = found.n_bytes;
		instruction->flow = found.flow;
		instruction->has_target = found.has_target;
		instruction->target = found.target;
		if (found.has_target)
			name_target(annotation, instruction);
		set_text(annotation, instruction, &found, text);
	} else {
		instruction->n_bytes = (uint8_t)disasm_unknown(disasm, instruction->bytes, left);
		set_bad_text(annotation, instruction, text);
	}
	*at += instruction->n_bytes;
}

/* The last instruction that begins at or before an address as shown; ANNOTATE_NONE: it is in none. */
static uint32_t instruction_at(const struct annotation *annotation, uint64_t shown)
{
	const struct annotate_instruction *v = annotation->instructions;
	size_t low = 0, high = annotation->n_instructions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v[middle].shown <= shown)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || shown - v[low - 1].shown >= v[low - 1].n_bytes)
		return ANNOTATE_NONE;
	return (uint32_t)(low - 1);
}

static void link_jumps(struct annotation *annotation)
{
	for (size_t i = 0; i < annotation->n_instructions; i++) {
		struct annotate_instruction *instruction = &annotation->instructions[i];
		uint32_t to = ANNOTATE_NONE;

		if (instruction->flow == FLOW_JUMP && instruction->has_target)
			to = instruction_at(annotation, instruction->target);
		if (to == ANNOTATE_NONE)
			continue;
		instruction->target_instruction = to;
		annotation->instructions[to].n_jumps_here++;
	}
}

void instructions_make(struct annotation *annotation, struct disasm *disasm, uint64_t start)
{
	struct str text = STR_INIT;
	size_t at = 0, cap = 0;

	while (at < annotation->private->code.n)
		add_instruction(annotation, &cap, disasm, start, &at, &text);
	link_jumps(annotation);
	str_release(&text);
}

/* A sample between the starts of two instructions is the first one's. */
void instructions_count(struct annotation *annotation)
{
	const struct annotate_function *function = annotation->function;
	struct annotate_cell *none = annotation_new_cells(annotation);
	struct annotate_cell **own = xcalloc(annotation->n_instructions + 1, sizeof(*own));

	for (size_t i = 0; i < function->n_addresses; i++) {
		const struct annotate_address *address = &function->addresses[i];
		uint64_t into = address->addr - annotation->instructions[0].addr;
		uint32_t at = instruction_at(annotation, annotation->instructions[0].shown + into);

		if (at != ANNOTATE_NONE && !own[at])
			own[at] = annotation_new_cells(annotation);
		annotation_add_cells(annotation, at == ANNOTATE_NONE ? annotation->elsewhere : own[at],
				     address->cells);
	}
	for (size_t i = 0; i < annotation->n_instructions; i++)
		annotation->instructions[i].cells = own[i] ? own[i] : none;
	free(own);
}
