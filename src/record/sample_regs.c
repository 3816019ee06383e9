/* SPDX-License-Identifier: MIT */
/*
 * The registers that samples can hold: one table per architecture, chosen here and nowhere else. Bits
 * are those of attr.sample_regs_user and sample_regs_intr.
 *
 * Source: arch/ARCH/include/uapi/asm/perf_regs.h.
 */
#include "record/recording.h"

#include <errno.h>
#include <strings.h>

struct reg_name {
	const char *name;
	unsigned bit;
};

#if defined(__x86_64__)
/* The segment registers (bits 12 to 15) are not among them: the kernel refuses them for 64-bit tasks. */
const uint64_t dwarf_regs = 0xff0fff;
const uint64_t link_regs = 0;
static const struct reg_name reg_names[] = {
	{ "AX", 0 },   { "BX", 1 },   { "CX", 2 },   { "DX", 3 },   { "SI", 4 },
	{ "DI", 5 },   { "BP", 6 },   { "SP", 7 },   { "IP", 8 },   { "FLAGS", 9 },
	{ "CS", 10 },  { "SS", 11 },  { "R8", 16 },  { "R9", 17 },  { "R10", 18 },
	{ "R11", 19 }, { "R12", 20 }, { "R13", 21 }, { "R14", 22 }, { "R15", 23 },
};
#elif defined(__aarch64__)
const uint64_t dwarf_regs = (1ULL << 33) - 1;
const uint64_t link_regs = 1ULL << 30;
static const struct reg_name reg_names[] = {
	{ "x0", 0 },   { "x1", 1 },   { "x2", 2 },   { "x3", 3 },   { "x4", 4 },
	{ "x5", 5 },   { "x6", 6 },   { "x7", 7 },   { "x8", 8 },   { "x9", 9 },
	{ "x10", 10 }, { "x11", 11 }, { "x12", 12 }, { "x13", 13 }, { "x14", 14 },
	{ "x15", 15 }, { "x16", 16 }, { "x17", 17 }, { "x18", 18 }, { "x19", 19 },
	{ "x20", 20 }, { "x21", 21 }, { "x22", 22 }, { "x23", 23 }, { "x24", 24 },
	{ "x25", 25 }, { "x26", 26 }, { "x27", 27 }, { "x28", 28 }, { "x29", 29 },
	{ "lr", 30 },  { "sp", 31 },  { "pc", 32 },
};
#elif defined(__riscv) && __riscv_xlen == 64
const uint64_t dwarf_regs = (1ULL << 32) - 1;
const uint64_t link_regs = 0; /* the kernel puts ra into the chain by itself */
static const struct reg_name reg_names[] = {
	{ "pc", 0 },   { "ra", 1 },   { "sp", 2 },   { "gp", 3 },   { "tp", 4 },
	{ "t0", 5 },   { "t1", 6 },   { "t2", 7 },   { "s0", 8 },   { "s1", 9 },
	{ "a0", 10 },  { "a1", 11 },  { "a2", 12 },  { "a3", 13 },  { "a4", 14 },
	{ "a5", 15 },  { "a6", 16 },  { "a7", 17 },  { "s2", 18 },  { "s3", 19 },
	{ "s4", 20 },  { "s5", 21 },  { "s6", 22 },  { "s7", 23 },  { "s8", 24 },
	{ "s9", 25 },  { "s10", 26 }, { "s11", 27 }, { "t3", 28 },  { "t4", 29 },
	{ "t5", 30 },  { "t6", 31 },
};
#else
const uint64_t dwarf_regs = 0;
const uint64_t link_regs = 0;
static const struct reg_name reg_names[] = { { "", 0 } };
#endif

bool sample_reg_row(size_t i, const char **name, const char **help)
{
	if (i >= ARRAY_SIZE(reg_names))
		return false;
	*name = reg_names[i].name;
	*help = "";
	return true;
}

static int unknown_register(const char *word, size_t len, struct str *err)
{
	str_add(err, "register '");
	str_add_printable(err, word, len);
	str_add(err, "': this architecture has no register with this name\nregisters:");
	for (size_t i = 0; i < ARRAY_SIZE(reg_names); i++)
		str_addf(err, " %s", reg_names[i].name);
	return -EINVAL;
}

int sample_regs_parse(const char *text, uint64_t *mask, struct str *err)
{
	uint64_t all = 0;

	if (!text) {
		*mask = dwarf_regs;
		return dwarf_regs ? 0 : fail(err, -ENOTSUP, "registers: pstat knows none of this architecture");
	}
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ","), i = 0;

		while (i < ARRAY_SIZE(reg_names) && (strlen(reg_names[i].name) != len || !len ||
						     strncasecmp(reg_names[i].name, at, len)))
			i++;
		if (i == ARRAY_SIZE(reg_names))
			return unknown_register(at, len, err);
		all |= 1ULL << reg_names[i].bit;
		at += len;
		if (!*at)
			break;
	}
	*mask = all;
	return 0;
}
