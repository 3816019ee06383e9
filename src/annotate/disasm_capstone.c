/* SPDX-License-Identifier: MIT */
/*
 * disasm_capstone: instructions by capstone, a library that knows many machines. It is loaded when it is first needed,
 * and a failure is remembered with its reason.
 *
 * It says of each instruction to which groups it belongs (jump, call, return) and what its operands are: from them
 * comes where it goes and what it reads. Everything else is its text.
 *
 * Source: the headers of capstone 4.
 */
#include "annotate/disasm.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define LIBCAPSTONE "libcapstone.so." TEXT(CS_API_MAJOR)

#define CAPSTONE_FUNCTIONS(FN)                                                                                         \
	FN(cs_open) FN(cs_close) FN(cs_option) FN(cs_malloc) FN(cs_free) FN(cs_disasm_iter) FN(cs_insn_group)

struct capstone {
#define MEMBER(name) __typeof__(name) *name;
	CAPSTONE_FUNCTIONS(MEMBER)
#undef MEMBER
};

static const struct capstone *capstone_load(struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct capstone, name) },
		CAPSTONE_FUNCTIONS(ROW)
#undef ROW
	};
	static struct str why = STR_INIT;
	static struct capstone functions;
	static bool tried, loaded;

	if (!tried)
		loaded = library_load(LIBCAPSTONE, symbols, ARRAY_SIZE(symbols), &functions, &why);
	tried = true;
	if (!loaded)
		str_add(err, why.s);
	return loaded ? &functions : NULL;
}

int annotate_try(struct str *err)
{
	return capstone_load(err) ? 0 : -ENOENT;
}

struct disasm {
	const struct capstone *lib;
	const struct disasm_machine *machine;
	csh handle;
	cs_insn *insn;
	/* Addresses in registers, see arm64_keep_page(); the bits say which. */
	uint64_t pages[32];
	uint32_t pages_known;
};

/* ---- machines ---- */

/* Takes the last operand, where it is an address. */
static bool x86_target(struct disasm *disasm, bool goes, struct disasm_instruction *out)
{
	const cs_insn *insn = disasm->insn;
	const cs_x86 *x86 = &insn->detail->x86;

	if (goes && x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM) {
		out->target = (uint64_t)x86->operands[0].imm;
		out->target_is_last_operand = true;
		return true;
	}
	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];

		if (operand->type != X86_OP_MEM || operand->mem.base != X86_REG_RIP ||
		    operand->mem.index != X86_REG_INVALID)
			continue;
		out->target = insn->address + insn->size + (uint64_t)operand->mem.disp;
		return true;
	}
	return false;
}

/*
 * Addresses take two instructions: adrp puts a page into a register, an add or the offset of a load or a store has the
 * rest. Pages are kept for what follows without a jump, until the register is written.
 */
enum { ARM64_REGISTERS = 31 };

/* The number of a register, as x or as w; ARM64_REGISTERS: it is none of these. */
static unsigned arm64_number(unsigned reg)
{
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return reg - ARM64_REG_X0;
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return reg - ARM64_REG_W0;
	return reg == ARM64_REG_X29 ? 29 : reg == ARM64_REG_X30 ? 30 : ARM64_REGISTERS;
}

/* The register that operand i adds a number to, and the number; ARM64_REGISTERS: it does not. */
static unsigned arm64_sum(const cs_insn *insn, unsigned i, int64_t *number)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;
	const cs_arm64_op *op = &arm64->operands[i];

	if (op->type == ARM64_OP_MEM && op->mem.index == ARM64_REG_INVALID) {
		*number = op->mem.disp;
		return arm64_number(op->mem.base);
	}
	if (insn->id != ARM64_INS_ADD || i != 1 || arm64->op_count != 3 || op->type != ARM64_OP_REG ||
	    op[1].type != ARM64_OP_IMM)
		return ARM64_REGISTERS;
	*number = op[1].shift.type == ARM64_SFT_LSL ? op[1].imm << op[1].shift.value : op[1].imm;
	return arm64_number(op->reg);
}

static bool arm64_in_page(const struct disasm *disasm, uint64_t *target)
{
	const cs_arm64 *arm64 = &disasm->insn->detail->arm64;

	for (unsigned i = 0; i < arm64->op_count; i++) {
		int64_t number;
		unsigned reg = arm64_sum(disasm->insn, i, &number);

		if (reg == ARM64_REGISTERS || !(disasm->pages_known >> reg & 1))
			continue;
		*target = disasm->pages[reg] + (uint64_t)number;
		return true;
	}
	return false;
}

static void arm64_keep_page(struct disasm *disasm)
{
	const cs_insn *insn = disasm->insn;
	const cs_arm64 *arm64 = &insn->detail->arm64;

	for (unsigned i = 0; i < arm64->op_count; i++) {
		const cs_arm64_op *op = &arm64->operands[i];
		unsigned reg = ARM64_REGISTERS;

		if (op->type == ARM64_OP_REG && op->access & CS_AC_WRITE)
			reg = arm64_number(op->reg);
		else if (op->type == ARM64_OP_MEM && arm64->writeback)
			reg = arm64_number(op->mem.base);
		if (reg == ARM64_REGISTERS)
			continue;
		disasm->pages_known &= ~(1U << reg);
		if (insn->id != ARM64_INS_ADRP || arm64->op_count != 2)
			continue;
		disasm->pages[reg] = (uint64_t)arm64->operands[1].imm;
		disasm->pages_known |= 1U << reg;
	}
}

static bool arm64_target(struct disasm *disasm, bool goes, struct disasm_instruction *out)
{
	const cs_insn *insn = disasm->insn;
	const cs_arm64 *arm64 = &insn->detail->arm64;
	const cs_arm64_op *last = arm64->op_count ? &arm64->operands[arm64->op_count - 1] : NULL;
	bool relative = insn->id == ARM64_INS_ADR || insn->id == ARM64_INS_ADRP;
	bool in_page = arm64_in_page(disasm, &out->target);

	arm64_keep_page(disasm);
	if (out->flow != FLOW_ON)
		disasm->pages_known = 0;
	if (in_page)
		return true;
	if (!last || last->type != ARM64_OP_IMM || (!goes && !relative))
		return false;
	out->target = (uint64_t)last->imm;
	out->target_is_last_operand = true;
	return true;
}

static bool arm64_calls(const cs_insn *insn)
{
	return insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR;
}

static bool x86_jumps_always(const cs_insn *insn)
{
	return insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP;
}

static bool arm64_jumps_always(const cs_insn *insn)
{
	return insn->id == ARM64_INS_BR || (insn->id == ARM64_INS_B && insn->detail->arm64.cc <= ARM64_CC_INVALID);
}

/* To add a machine: a row, its function, and its syntaxes; a test in test_annotate.c. */
static const struct disasm_machine {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode;
	unsigned step;
	bool two_syntaxes;
	bool (*target)(struct disasm *disasm, bool goes, struct disasm_instruction *out);
	unsigned (*length)(const uint8_t *bytes, size_t n); /* of some that the library may not know; NULL: none */
	bool (*calls)(const cs_insn *insn); /* what is a call without being in that group; NULL: nothing is */
	bool (*jumps_always)(const cs_insn *insn); /* a jump that no flag and no register decides about */
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1, true, x86_target, x86_vector_length, NULL, x86_jumps_always },
	{ EM_386, CS_ARCH_X86, CS_MODE_32, 1, true, x86_target, NULL, NULL, x86_jumps_always },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, 4, false, arm64_target, NULL, arm64_calls, arm64_jumps_always },
};

struct disasm *disasm_open(uint16_t machine, bool intel, struct str *why)
{
	const struct capstone *lib = capstone_load(why);
	struct disasm *disasm;

	if (!lib)
		return NULL;
	disasm = xcalloc(1, sizeof(*disasm));
	disasm->lib = lib;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == machine)
			disasm->machine = &machines[i];
	if (!disasm->machine || lib->cs_open(disasm->machine->arch, disasm->machine->mode, &disasm->handle)) {
		fail(why, 0, "its machine (ELF number %u) is not supported", machine);
		free(disasm);
		return NULL;
	}
	lib->cs_option(disasm->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (disasm->machine->two_syntaxes && !intel)
		lib->cs_option(disasm->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	disasm->insn = lib->cs_malloc(disasm->handle);
	if (!disasm->insn)
		memory_exhausted();
	return disasm;
}

void disasm_close(struct disasm *disasm)
{
	if (!disasm)
		return;
	disasm->lib->cs_free(disasm->insn, 1);
	disasm->lib->cs_close(&disasm->handle);
	free(disasm);
}

unsigned disasm_unknown(const struct disasm *disasm, const uint8_t *bytes, size_t n)
{
	const struct disasm_machine *machine = disasm->machine;
	unsigned length = machine->length ? machine->length(bytes, n) : 0;

	if (!length)
		length = machine->step;
	return length < n ? length : (unsigned)n;
}

static enum annotate_flow flow_of(const struct disasm *disasm)
{
	const struct disasm_machine *machine = disasm->machine;
	const cs_insn *insn = disasm->insn;

	if (disasm->lib->cs_insn_group(disasm->handle, insn, CS_GRP_CALL) ||
	    (machine->calls && machine->calls(insn)))
		return FLOW_CALL;
	if (disasm->lib->cs_insn_group(disasm->handle, insn, CS_GRP_RET))
		return FLOW_RETURN;
	return disasm->lib->cs_insn_group(disasm->handle, insn, CS_GRP_JUMP) ? FLOW_JUMP : FLOW_ON;
}

static bool leaves(const struct disasm *disasm, enum annotate_flow flow)
{
	const cs_insn *insn = disasm->insn;

	return flow == FLOW_CALL || flow == FLOW_RETURN ||
	       disasm->lib->cs_insn_group(disasm->handle, insn, CS_GRP_INT) ||
	       disasm->lib->cs_insn_group(disasm->handle, insn, CS_GRP_IRET) ||
	       (flow == FLOW_JUMP && disasm->machine->jumps_always(insn));
}

bool disasm_next(struct disasm *disasm, const uint8_t *bytes, size_t n, uint64_t addr,
		 struct disasm_instruction *instruction)
{
	if (!disasm->lib->cs_disasm_iter(disasm->handle, &bytes, &n, &addr, disasm->insn))
		return false;
	*instruction = (struct disasm_instruction){
		.n_bytes = (uint8_t)disasm->insn->size,
		.name = disasm->insn->mnemonic,
		.operands = disasm->insn->op_str,
		.flow = flow_of(disasm),
	};
	instruction->leaves = leaves(disasm, instruction->flow);
	instruction->has_target = disasm->machine->target(
		disasm, instruction->flow == FLOW_CALL || instruction->flow == FLOW_JUMP, instruction);
	return true;
}
