/* SPDX-License-Identifier: MIT */
/*
 * instructions: the instruction at one location, read from its file, and what it names; and lines of source. For those
 * who print samples one by one, where annotation.c shows whole functions.
 *
 * Nothing is kept of an instruction: callers remember what they made of it, by its location. A disassembler stays open
 * for each machine that the recording has code of.
 */
#include "annotate/annotate_internal.h"

#include <errno.h>
#include <stdlib.h>

struct machine_disasm {
	uint16_t machine; /* EM_* */
	struct disasm *disasm; /* NULL: there is none for it */
};
struct instructions {
	struct session *session;
	struct machine_disasm *machines;
	size_t n_machines, cap_machines;
	struct source_options source_options;
	struct source_texts *sources;
};

struct instructions *instructions_new(struct session *session)
{
	struct instructions *instructions = xcalloc(1, sizeof(*instructions));

	instructions->session = session;
	instructions->source_options.symfs = session->options.sym.symfs;
	instructions->sources = source_texts_new(&instructions->source_options);
	return instructions;
}

void instructions_free(struct instructions *instructions)
{
	if (!instructions)
		return;
	for (size_t i = 0; i < instructions->n_machines; i++)
		disasm_close(instructions->machines[i].disasm);
	free(instructions->machines);
	source_texts_free(instructions->sources);
	free(instructions);
}

static struct disasm *disasm_of(struct instructions *instructions, uint16_t machine)
{
	struct str ignored = STR_INIT;
	size_t i = 0;

	while (i < instructions->n_machines && instructions->machines[i].machine != machine)
		i++;
	if (i == instructions->n_machines) {
		VEC_GROW(instructions->machines, instructions->n_machines, instructions->cap_machines);
		instructions->machines[instructions->n_machines++] =
			(struct machine_disasm){ machine, disasm_open(machine, false, &ignored) };
	}
	str_release(&ignored);
	return instructions->machines[i].disasm;
}

/* The function that a jump or a call goes to, where the file has the target. */
static void name_target(struct instructions *instructions, const struct dso *dso, uint64_t target,
			struct instruction_found *found)
{
	struct symbols *symbols = instructions->session->symbols;
	uint64_t addr;

	if (!symbols_addr_of(symbols, dso, target, &addr))
		return;
	found->symbol = symbols_find(symbols, dso, addr);
	found->has_symbol = found->symbol;
	found->target = target;
	found->offset = found->symbol ? addr - found->symbol->start : 0;
}

static void disassemble(struct instructions *instructions, const struct dso *dso, const struct symbol_code *code,
			struct disasm *disasm, struct instruction_found *found)
{
	struct disasm_instruction next;

	if (!disasm_next(disasm, code->bytes, code->n, code->shown, &next)) {
		unsigned n = disasm_unknown(disasm, code->bytes, code->n);

		/* A length above 1 is that of an instruction; else the bytes are data. */
		found->n_bytes = n > 1 ? (uint8_t)n : 0;
		return;
	}
	found->n_bytes = next.n_bytes;
	found->name = next.name;
	found->operands = next.operands;
	found->leaves = next.leaves;
	if (next.has_target && next.target_is_last_operand && next.flow != FLOW_ON)
		name_target(instructions, dso, next.target, found);
}

bool instruction_at_location(struct instructions *instructions, uint32_t location, struct instruction_found *found)
{
	struct session *session = instructions->session;
	const struct location_row *row = &session->locations->v[location];
	struct symbol_code code = { 0 };
	struct disasm *disasm = NULL;
	struct str ignored = STR_INIT;

	*found = (struct instruction_found){ .name = "", .operands = "" };
	if (row->dso && !symbols_code(session->symbols, row->dso, row->addr, row->code, INSTRUCTION_BYTES_MAX, &code,
				      &ignored) && code.n)
		disasm = disasm_of(instructions, code.machine);
	if (disasm) {
		memcpy(found->bytes, code.bytes, code.n);
		disassemble(instructions, row->dso, &code, disasm, found);
	}
	symbol_code_release(&code);
	str_release(&ignored);
	return disasm;
}

int code_instruction_begins(uint16_t machine, const uint8_t *bytes, size_t n, size_t at, struct str *why)
{
	struct disasm *disasm = disasm_open(machine, false, why);
	size_t next = 0;

	if (!disasm)
		return -ENOSYS;
	while (next < at && next < n) {
		struct disasm_instruction instruction;

		next += disasm_next(disasm, bytes + next, n - next, next, &instruction) ?
				instruction.n_bytes : disasm_unknown(disasm, bytes + next, n - next);
	}
	disasm_close(disasm);
	return next == at;
}

const char *instructions_source(struct instructions *instructions, const struct source_line *line)
{
	return line->file ? source_text(instructions->sources, line->file, line->line) : NULL;
}
