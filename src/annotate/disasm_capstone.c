/* SPDX-License-Identifier: MIT */
/*
 * disasm_capstone: instructions by capstone, a library that knows many machines. It is loaded when it is first needed,
 * and a failure is remembered with its reason.
 *
 * It says of each instruction to which groups it belongs (jump, call, return) and what its operands are: from them
 * comes where it goes and what it does with data. Everything else is its text.
 *
 * Source: the headers of capstone 4.
 */
#include "annotate/annotate_internal.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define LIBCAPSTONE "libcapstone.so." TEXT(CS_API_MAJOR)

#define CAPSTONE_FUNCTIONS(FN)                                                                                         \
	FN(cs_open) FN(cs_close) FN(cs_option) FN(cs_malloc) FN(cs_free) FN(cs_disasm_iter) FN(cs_insn_group) \
	FN(cs_regs_access)

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

/* ---- what instructions do with data ---- */

/*
 * The registers in DWARF's order, all of each first, then its lower half and smaller parts. Source: the psABI of
 * x86-64, "DWARF Register Number Mapping".
 */
enum { X86_PARTS = 5 };
static const uint8_t x86_registers[][X86_PARTS] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
};

static uint8_t x86_number(unsigned reg)
{
	for (unsigned i = 0; reg != X86_REG_INVALID && i < ARRAY_SIZE(x86_registers); i++)
		for (unsigned part = 0; part < X86_PARTS; part++)
			if (reg == x86_registers[i][part])
				return (uint8_t)i;
	return NO_REGISTER;
}

static bool x86_is_whole(const cs_x86_op *operand)
{
	return operand->type == X86_OP_REG && x86_number(operand->reg) != NO_REGISTER && operand->size == 8;
}

/* The address that a memory operand stands for; what it is for is the caller's. */
static void x86_address(const cs_insn *insn, const cs_x86_op *operand, struct data_access *out)
{
	bool relative = operand->mem.base == X86_REG_RIP;

	*out = (struct data_access){
		.segment = operand->mem.segment == X86_REG_FS || operand->mem.segment == X86_REG_GS,
		.base = relative ? NO_REGISTER : x86_number(operand->mem.base),
		.index = x86_number(operand->mem.index),
		.scale = (uint8_t)operand->mem.scale,
		.bytes = operand->size,
		.offset = operand->mem.disp + (relative ? (int64_t)insn->address + insn->size : 0),
	};
	out->placed = out->base == NO_REGISTER && !out->segment;
}

static void x86_move(const cs_insn *insn, struct data_effect *effect)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0], *from = to + 1;
	struct data_access address;

	if (insn->detail->x86.op_count != 2)
		return;
	if (insn->id == X86_INS_MOV && to->type == X86_OP_MEM && x86_is_whole(from)) {
		effect->move = MOVE_STORE;
		effect->from = x86_number(from->reg);
	}
	if (to->type != X86_OP_REG)
		return;
	effect->to = x86_number(to->reg);
	if (effect->to == NO_REGISTER)
		return;
	if ((insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) && from->type == X86_OP_IMM) {
		effect->move = MOVE_SUM;
		effect->number = from->imm;
	} else if (to->size != 8) {
		return;
	} else if (insn->id == X86_INS_LEA) {
		x86_address(insn, from, &address);
		effect->move = address.index == NO_REGISTER ? MOVE_SUM : MOVE_ELEMENT;
		effect->from = address.base;
		effect->other = address.scale == 1 ? address.index : NO_REGISTER;
		effect->number = address.offset;
	} else if (insn->id == X86_INS_MOV && from->type == X86_OP_MEM) {
		/* The thread pointer stands where it points to. */
		effect->move = effect->access.segment && effect->access.base == NO_REGISTER &&
				effect->access.index == NO_REGISTER && !effect->access.offset ? MOVE_THREAD : MOVE_LOAD;
	} else if (insn->id == X86_INS_MOV && x86_is_whole(from)) {
		effect->move = MOVE_SUM;
		effect->from = x86_number(from->reg);
	} else if (insn->id == X86_INS_ADD && x86_is_whole(from)) {
		effect->move = MOVE_ELEMENT;
		effect->from = effect->to;
		effect->other = x86_number(from->reg);
	} else if ((insn->id == X86_INS_ADD || insn->id == X86_INS_SUB) && from->type == X86_OP_IMM) {
		effect->move = MOVE_SUM;
		effect->from = effect->to;
		effect->number = insn->id == X86_INS_ADD ? from->imm : -from->imm;
	}
}

static bool x86_is_of_stack(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_PUSH:
	case X86_INS_POP:
	case X86_INS_CALL:
	case X86_INS_RET:
	case X86_INS_LEAVE:
	case X86_INS_ENTER:
		return true;
	}
	return false;
}

static void x86_effect(const cs_insn *insn, const struct disasm_instruction *instruction, struct data_effect *effect)
{
	const cs_x86 *x86 = &insn->detail->x86;

	(void)instruction;
	for (unsigned i = 0; i < x86->op_count && insn->id != X86_INS_LEA && insn->id != X86_INS_NOP; i++) {
		const cs_x86_op *operand = &x86->operands[i];

		if (operand->type != X86_OP_MEM)
			continue;
		x86_address(insn, operand, &effect->access);
		effect->access.writes = operand->access & CS_AC_WRITE;
		effect->access.reads = operand->access & CS_AC_READ || !effect->access.writes;
		break;
	}
	effect->compares = insn->id == X86_INS_CMP || insn->id == X86_INS_TEST;
	effect->stack = x86_is_of_stack(insn) && !effect->access.reads && !effect->access.writes;
	x86_move(insn, effect);
}

/* The number of x0 to x30 and sp. */
static uint8_t arm64_dwarf_number(unsigned reg)
{
	unsigned number = reg == ARM64_REG_SP ? ARM64_REGISTERS : arm64_number(reg);

	return number < ARM64_REGISTERS || reg == ARM64_REG_SP ? (uint8_t)number : NO_REGISTER;
}

static bool arm64_is_whole(const cs_arm64_op *operand)
{
	return operand->type == ARM64_OP_REG && arm64_dwarf_number(operand->reg) != NO_REGISTER &&
	       !(operand->reg >= ARM64_REG_W0 && operand->reg <= ARM64_REG_W30);
}

static void arm64_move(const cs_insn *insn, const struct disasm_instruction *instruction, struct data_effect *effect)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;
	const cs_arm64_op *op = arm64->operands;
	bool adds = insn->id == ARM64_INS_ADD;

	if (arm64->op_count < 2 || !arm64_is_whole(&op[0]))
		return;
	if ((insn->id == ARM64_INS_STR || insn->id == ARM64_INS_STUR) && op[1].type == ARM64_OP_MEM) {
		effect->move = MOVE_STORE;
		effect->from = arm64_dwarf_number(op[0].reg);
		return;
	}
	effect->to = arm64_dwarf_number(op[0].reg);
	if (insn->id == ARM64_INS_MRS && strstr(insn->op_str, "tpidr_el0")) {
		effect->move = MOVE_THREAD;
	} else if ((insn->id == ARM64_INS_LDR || insn->id == ARM64_INS_LDUR) && op[1].type == ARM64_OP_MEM) {
		effect->move = MOVE_LOAD;
	} else if (insn->id == ARM64_INS_MOV && arm64_is_whole(&op[1])) {
		effect->move = MOVE_SUM;
		effect->from = arm64_dwarf_number(op[1].reg);
	} else if (instruction->has_target && (adds || insn->id == ARM64_INS_ADR)) {
		effect->move = MOVE_SUM;
		effect->number = (int64_t)instruction->target;
	} else if ((adds || insn->id == ARM64_INS_SUB) && arm64->op_count == 3 && arm64_is_whole(&op[1])) {
		effect->from = arm64_dwarf_number(op[1].reg);
		effect->move = op[2].type == ARM64_OP_IMM ? MOVE_SUM : adds ? MOVE_ELEMENT : MOVE_NONE;
		if (effect->move == MOVE_ELEMENT && arm64_is_whole(&op[2]) && !op[2].shift.value)
			effect->other = arm64_dwarf_number(op[2].reg);
		if (op[2].type == ARM64_OP_IMM)
			effect->number = (adds ? op[2].imm : -op[2].imm) *
					 (op[2].shift.type == ARM64_SFT_LSL ? 1LL << (op[2].shift.value & 15) : 1);
	}
}

static void arm64_effect(const cs_insn *insn, const struct disasm_instruction *instruction, struct data_effect *effect)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;

	for (unsigned i = 0; i < arm64->op_count; i++) {
		const cs_arm64_op *operand = &arm64->operands[i];

		if (operand->type != ARM64_OP_MEM || !strncmp(insn->mnemonic, "prf", 3))
			continue;
		effect->access = (struct data_access){
			.writes = !strncmp(insn->mnemonic, "st", 2),
			.base = arm64_dwarf_number(operand->mem.base),
			.index = arm64_dwarf_number(operand->mem.index),
			.scale = 1,
			.offset = operand->mem.disp,
		};
		effect->access.reads = !effect->access.writes;
		if (!instruction->has_target)
			continue;
		effect->access.base = NO_REGISTER;
		effect->access.placed = true;
		effect->access.offset = (int64_t)instruction->target;
	}
	arm64_move(insn, instruction, effect);
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
	/* Sets all but what has changed. NULL: what instructions do with data is not known. */
	void (*effect)(const cs_insn *insn, const struct disasm_instruction *instruction, struct data_effect *effect);
	uint8_t (*number)(unsigned reg); /* as DWARF has it */
	uint32_t kept_by_calls; /* bits */
	uint8_t returned;
	uint8_t frame_pointer; /* that is never used for anything else; NO_REGISTER: there is none */
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1, true, x86_target, x86_vector_length, NULL, x86_jumps_always,
	  x86_effect, x86_number, 0xf0c8, 0, NO_REGISTER }, /* rbx, rbp, rsp, r12 to r15; rax */
	{ EM_386, CS_ARCH_X86, CS_MODE_32, 1, true, x86_target, NULL, NULL, x86_jumps_always, NULL, NULL, 0, 0,
	  NO_REGISTER },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, 4, false, arm64_target, NULL, arm64_calls, arm64_jumps_always,
	  arm64_effect, arm64_dwarf_number, 0xbff80000, 0, 29 }, /* x19 to x29, sp; x0 */
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

uint8_t disasm_frame_pointer(const struct disasm *disasm)
{
	return disasm->machine->frame_pointer;
}

uint32_t disasm_kept_by_calls(const struct disasm *disasm, uint8_t *returned)
{
	*returned = disasm->machine->returned;
	return disasm->machine->kept_by_calls;
}

void disasm_effect(const struct disasm *disasm, const struct disasm_instruction *instruction,
		   struct data_effect *effect)
{
	const struct disasm_machine *machine = disasm->machine;
	uint8_t n_read = 0, n_written = 0;
	cs_regs read, written;

	*effect = (struct data_effect){ .to = NO_REGISTER, .from = NO_REGISTER, .other = NO_REGISTER,
					.access = { .base = NO_REGISTER, .index = NO_REGISTER } };
	if (!machine->effect)
		return;
	machine->effect(disasm->insn, instruction, effect);
	if (disasm->lib->cs_regs_access(disasm->handle, disasm->insn, read, &n_read, written, &n_written))
		effect->changed = UINT32_MAX; /* not known: any may have */
	for (uint8_t i = 0; i < n_written; i++) {
		uint8_t number = machine->number(written[i]);

		if (number != NO_REGISTER)
			effect->changed |= 1U << number;
	}
	if (effect->to != NO_REGISTER && effect->move)
		effect->changed |= 1U << effect->to;
}
