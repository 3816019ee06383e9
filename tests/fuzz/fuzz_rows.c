/* SPDX-License-Identifier: MIT */
/*
 * fuzz_rows: any bytes as .eh_frame and as .debug_frame, for either architecture, made into rows; expressions in
 * them are computed. What was made is kept as bytes, and these are changed, as a file of the user's may be. The claim:
 * no crash, no sanitizer report, no endless loop; rows are in order, each has its rule, and memory is bounded by what
 * was read.
 */
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_expr.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x1000, CODE_BYTES = 0x10000, LOOKUPS = 64, STEPS = 64, CHANGES = 8 };

static void check(const struct unwind_table *table, size_t size)
{
	for (size_t i = 0; i < table->n; i++)
		if ((i && table->offsets[i] <= table->offsets[i - 1]) || table->rules[i] >= table->n_rules)
			abort();
	for (size_t i = 0; i < table->n_rules; i++) {
		const struct unwind_rule *rule = &table->rule[i];

		if (rule->n_saved > UNWIND_REGS_MAX || rule->saved + rule->n_saved > table->n_saved ||
		    (rule->cfa_expression && (size_t)rule->cfa_offset >= table->n_blocks))
			abort();
	}
	for (size_t i = 0; i < table->n_saved; i++)
		if (table->saved[i].reg >= UNWIND_REGS_MAX)
			abort();
	/* Two bytes make a row, and a rule of all registers; what is shared is bounded by itself. */
	if (table->n > size + 1 || unwind_table_bytes(table) > 1024 + size * 512)
		abort();
}

static void look_up(const struct unwind_table *table)
{
	for (uint64_t i = 0; i < LOOKUPS; i++)
		unwind_table_find(table, BASE - 2 + i * (CODE_BYTES / LOOKUPS));
	unwind_table_find(table, UINT64_MAX);
}

/* What the rules say is computed from these bytes as memory and registers. */
static void evaluate(const struct unwind_table *table, const struct unwind_arch *arch, const uint8_t *data, size_t size)
{
	struct unwind_memory memory = { .arch = arch, .stack = data, .stack_size = size, .sp = BASE, .budget = 10000 };
	struct unwind_regs regs = { .known = UINT64_MAX >> 31 };
	struct unwind_expr expr = { .memory = &memory, .regs = &regs, .has_cfa = true, .cfa = BASE };

	for (size_t i = 0; i < UNWIND_REGS_MAX; i++)
		regs.v[i] = BASE + 8 * i;
	for (size_t i = 0; i < table->n_blocks && i < STEPS; i++) {
		const struct unwind_block *block = &table->blocks[i];
		uint64_t value;
		bool is_value;

		if (block->first + block->n > table->n_ops)
			abort();
		unwind_expr_eval(&expr, table->ops + block->first, block->n, &value, &is_value);
	}
}

/* First as they are, then with the bytes that these name changed: pairs of a place and what is done to it. */
static void keep(const struct unwind_table *table, const struct unwind_arch *arch, const uint8_t *data, size_t size)
{
	struct str bytes = STR_INIT;
	struct unwind_table *again;
	size_t kept;

	unwind_table_put(table, &bytes);
	kept = bytes.len;
	again = unwind_table_take(bytes.s, bytes.len);
	if (!again || again->n != table->n || again->n_ops != table->n_ops)
		abort();
	unwind_table_free(again);
	for (size_t i = 0; i + 2 < size && i < 3 * CHANGES; i += 3)
		bytes.s[(data[i] << 8 | data[i + 1]) % kept] ^= (char)data[i + 2];
	again = unwind_table_take(bytes.s, bytes.len);
	if (again) {
		check(again, bytes.len);
		look_up(again);
		evaluate(again, arch, data, size);
	}
	unwind_table_free(again);
	str_release(&bytes);
}

/* All entries end within the code; after the last one nothing is said. */
static bool ends_well(const struct unwind_table *table)
{
	size_t last = table->n - 1;

	return !table->n || (table->offsets[last] <= CODE_BYTES && table->rules[last] == UNWIND_RULE_NUMBER_NONE);
}

static void make_rows(const struct cfi_section *section, const struct unwind_arch *arch)
{
	struct unwind_table *table = cfi_table(section, arch, BASE, CODE_BYTES);

	if (!table)
		return;
	check(table, section->n);
	if (!ends_well(table))
		abort();
	look_up(table);
	evaluate(table, arch, section->bytes, section->n);
	keep(table, arch, section->bytes, section->n);
	unwind_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const archs[] = { "x86_64", "aarch64" };
	uint8_t *copy = xmalloc(size ? size : 1);

	memcpy(copy, data, size);
	for (size_t i = 0; i < ARRAY_SIZE(archs) * 2; i++) {
		const struct cfi_section section = {
			.bytes = copy, .n = size, .vaddr = BASE + CODE_BYTES, .debug_frame = i & 1
		};

		make_rows(&section, unwind_arch_find(archs[i / 2]));
	}
	free(copy);
	return 0;
}
