/* SPDX-License-Identifier: MIT */
/*
 * script_regs: sampled registers by name. A mask has a bit for each; which bit is which register depends on
 * the architecture of the recording.
 *
 * To add an architecture: a table by bit, a row in architectures[].
 *
 * Source: arch/ARCH/include/uapi/asm/perf_regs.h.
 */
#include "script/script_internal.h"

#include <sys/utsname.h>

enum { MASK_BITS = 64 };

/* From bit 32 on the vector registers, two words each. */
#define XMM(n) [32 + 2 * (n)] = "XMM" #n, [33 + 2 * (n)] = "XMM" #n
static const char *const x86_names[MASK_BITS] = {
	"AX", "BX", "CX", "DX", "SI", "DI",  "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
	"DS", "ES", "FS", "GS", "R8", "R9",  "R10", "R11", "R12", "R13",   "R14", "R15",
	XMM(0),  XMM(1),  XMM(2),  XMM(3),  XMM(4),  XMM(5),  XMM(6),  XMM(7),
	XMM(8),  XMM(9),  XMM(10), XMM(11), XMM(12), XMM(13), XMM(14), XMM(15),
};

static const char *const arm64_names[MASK_BITS] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",
	[46] = "vg",
};

static const char *const riscv_names[MASK_BITS] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static const struct {
	const char *begins; /* how its name in uname(2) begins */
	const char *const *names;
} architectures[] = {
	{ "x86_64", x86_names }, { "i386", x86_names },     { "i486", x86_names },  { "i586", x86_names },
	{ "i686", x86_names },   { "aarch64", arm64_names }, { "arm64", arm64_names },
	{ "riscv", riscv_names },
};

const char *script_register_name(const struct reader *reader, unsigned bit)
{
	const char *arch = reader->info.arch;
	struct utsname host;

	if (!arch && !uname(&host)) /* it doesn't say: taken as one of this machine */
		arch = host.machine;
	for (size_t i = 0; arch && i < ARRAY_SIZE(architectures); i++)
		if (!strncmp(arch, architectures[i].begins, strlen(architectures[i].begins)))
			return architectures[i].names[bit];
	return NULL;
}

void script_add_register_values(const struct reader *reader, const struct sample_regs *regs, struct str *out)
{
	unsigned n = 0;

	for (unsigned bit = 0; regs->v && bit < MASK_BITS && n < regs->n; bit++) {
		const char *name = script_register_name(reader, bit);

		if (regs->mask >> bit & 1)
			str_addf(out, "%5s:0x%llx ", name ? name : "unknown",
				 (unsigned long long)regs->v[n++]);
	}
}

void script_add_registers(const struct reader *reader, const struct sample_regs *regs, struct str *out)
{
	if (regs->v)
		str_addf(out, " ABI:%llu ", (unsigned long long)regs->abi);
	script_add_register_values(reader, regs, out);
}
