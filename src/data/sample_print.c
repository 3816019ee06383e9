/* SPDX-License-Identifier: MIT */
/*
 * sample_print.c: the fields of a sample below its line in a dump. One row per field: its bit and
 * how its lines look. What is on the line itself (pid, tid, ip, period, addr) has no row.
 */
#include "data/decode.h"

typedef unsigned long long ull;

void read_values_print(const struct read_values *values, struct str *out)
{
	if (values->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		str_addf(out, "\n...... time enabled %llu", (ull)values->enabled_ns);
	if (values->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		str_addf(out, "\n...... time running %llu", (ull)values->running_ns);
	if (values->format & PERF_FORMAT_GROUP)
		str_addf(out, "\n.... group nr %llu", (ull)values->n);
	for (uint64_t i = 0; i < values->n; i++) {
		uint64_t id = 0, lost;

		read_values_id(values, i, &id);
		str_addf(out, "\n..... id %llu, value %llu", (ull)id,
			 (ull)read_values_value(values, i));
		if (read_values_lost(values, i, &lost))
			str_addf(out, ", lost %llu", (ull)lost);
	}
}

/* Kinds of branches: PERF_BR_* of the kernel, and from KIND_FURTHER on PERF_BR_NEW_*, which further bits say. */
enum { KIND_EXTENDED = 15, KIND_FURTHER = 16 };

unsigned branch_kind(uint64_t flags)
{
	const unsigned kind = flags >> 20 & 15;

	return kind == KIND_EXTENDED ? KIND_FURTHER + (flags >> 26 & 15) : kind;
}

const char *branch_kind_name(unsigned kind)
{
	static const char *const names[BRANCH_KINDS] = {
		"",	      "COND",	    "UNCOND",	  "IND",    "CALL",   "IND_CALL", "RET",    "SYSCALL",
		"SYSRET",     "COND_CALL",  "COND_RET",	  "ERET",   "IRQ",    "SERROR",	  "NO_TX",  NULL,
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3",	  "ARCH_4", "ARCH_5",
	};

	return names[kind] ? names[kind] : "";
}

static void read_print(const struct sample *s, struct str *out)
{
	str_add(out, "\n... sample_read:");
	read_values_print(&s->read, out);
}

static void callchain_print(const struct sample *s, struct str *out)
{
	str_addf(out, "\n... FP chain: nr:%llu", (ull)s->n_ips);
	for (uint64_t i = 0; i < s->n_ips; i++)
		str_addf(out, "\n..... %2llu: %016llx", (ull)i, (ull)s->ips[i]);
}

static void raw_print(const struct sample *s, struct str *out)
{
	str_addf(out, "\n... raw: size %u:", s->raw_size);
	for (uint32_t i = 0; i < s->raw_size; i++)
		str_addf(out, "%s%02x", i % 4 ? "" : " ", s->raw[i]);
}

static void branches_print(const struct sample *s, struct str *out)
{
	str_addf(out, "\n... branch stack: nr:%llu", (ull)s->n_branches);
	if (s->branch_hw_index != ~0ULL)
		str_addf(out, " hw_idx: %llu", (ull)s->branch_hw_index);
	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *b = &s->branches[i];

		str_addf(out, "\n..... %2llu: %016llx -> %016llx %llu cycles %s%s%s%s flags %#llx",
			 (ull)i, (ull)b->from, (ull)b->to, (ull)(b->flags >> 4 & 0xffff),
			 b->flags & 1 ? "M" : " ", b->flags & 2 ? "P" : " ",
			 b->flags & 8 ? "A" : " ", b->flags & 4 ? "T" : " ", (ull)b->flags);
		if (s->branch_counters)
			str_addf(out, " counters %#llx", (ull)s->branch_counters[i]);
	}
}

static void regs_print(const char *what, const struct sample_regs *regs, struct str *out)
{
	static const char *const abis[] = { "none", "32-bit", "64-bit" };
	unsigned k = 0;

	str_addf(out, "\n... %s regs: mask %#llx ABI %s", what, (ull)regs->mask,
		 regs->abi < ARRAY_SIZE(abis) ? abis[regs->abi] : "unknown");
	for (unsigned bit = 0; bit < 64 && regs->v; bit++)
		if (regs->mask >> bit & 1)
			str_addf(out, "\n.... reg %-2u  %#018llx", bit, (ull)regs->v[k++]);
}

static void user_regs_print(const struct sample *s, struct str *out)
{
	regs_print("user", &s->user_regs, out);
}

static void intr_regs_print(const struct sample *s, struct str *out)
{
	regs_print("intr", &s->intr_regs, out);
}

static void stack_print(const struct sample *s, struct str *out)
{
	str_addf(out, "\n... ustack: size %llu, offset %#llx", (ull)s->stack_dyn_size,
		 (ull)s->stack_size);
}

static void weight_print(const struct sample *s, struct str *out)
{
	str_addf(out, "\n... weight: %llu",
		 (ull)(s->has & PERF_SAMPLE_WEIGHT ? s->weight : s->weight & 0xffffffff));
	if (s->has & DATA_SAMPLE_WEIGHT_STRUCT)
		str_addf(out, ",%#llx,%#llx", (ull)(s->weight >> 32 & 0xffff),
			 (ull)(s->weight >> 48));
}

static void aux_print(const struct sample *s, struct str *out)
{
	str_addf(out, "\n... AUX area sample: size %llu", (ull)s->aux_size);
}

#define WORD(bit, text, member)                                                                    \
	{                                                                                          \
		bit, text, offsetof(struct sample, member), NULL                                   \
	}
static const struct {
	uint64_t bits;
	const char *format; /* of the 8-byte member at `at` */
	uint16_t at;
	void (*print)(const struct sample *s, struct str *out);
} rows[] = {
	WORD(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID, "\n... id: %llu", id),
	WORD(PERF_SAMPLE_STREAM_ID, "\n... stream id: %llu", stream_id),
	{ PERF_SAMPLE_READ, NULL, 0, read_print },
	{ PERF_SAMPLE_CALLCHAIN, NULL, 0, callchain_print },
	{ PERF_SAMPLE_RAW, NULL, 0, raw_print },
	{ PERF_SAMPLE_BRANCH_STACK, NULL, 0, branches_print },
	{ PERF_SAMPLE_REGS_USER, NULL, 0, user_regs_print },
	{ PERF_SAMPLE_STACK_USER, NULL, 0, stack_print },
	{ PERF_SAMPLE_WEIGHT | DATA_SAMPLE_WEIGHT_STRUCT, NULL, 0, weight_print },
	WORD(PERF_SAMPLE_DATA_SRC, "\n . data_src: %#llx", data_src),
	WORD(PERF_SAMPLE_TRANSACTION, "\n... transaction: %#llx", transaction),
	{ PERF_SAMPLE_REGS_INTR, NULL, 0, intr_regs_print },
	WORD(PERF_SAMPLE_PHYS_ADDR, "\n .. phys_addr: %#llx", phys_addr),
	WORD(PERF_SAMPLE_CGROUP, "\n... cgroup: %llu", cgroup),
	WORD(PERF_SAMPLE_DATA_PAGE_SIZE, "\n .. data page size: %llu", data_page_size),
	WORD(PERF_SAMPLE_CODE_PAGE_SIZE, "\n .. code page size: %llu", code_page_size),
	{ PERF_SAMPLE_AUX, NULL, 0, aux_print },
};

void sample_print(const struct sample *sample, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v;

		if (!(sample->has & rows[i].bits))
			continue;
		if (rows[i].print) {
			rows[i].print(sample, out);
			continue;
		}
		memcpy(&v, (const char *)sample + rows[i].at, sizeof(v));
		str_addf(out, rows[i].format, (ull)v);
	}
}
