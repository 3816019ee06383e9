/* SPDX-License-Identifier: MIT */
/*
 * Rows as bytes: what comes back says the same of each address; of bytes that are cut or changed nothing comes back
 * that a look-up, a step or an expression could not rely on.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BASE = 0x400000, RETURN_REG = 16, WORD = 4 };

static const uint8_t cfa_text[] = { DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0, DW_OP_lit15, DW_OP_and, DW_OP_plus };
static const uint8_t saved_text[] = { DW_OP_plus_uconst, 24 };

static struct unwind_row_state state_of(uint8_t reg, int32_t offset)
{
	struct unwind_row_state state = { .cfa = { .cfa_reg = reg, .cfa_offset = offset } };

	state.set = 1ULL << RETURN_REG;
	state.saved[RETURN_REG] = (struct unwind_saved){ .offset = -8, .how = UNWIND_SAVED_AT };
	return state;
}

/* A rule of each kind, with expressions for the CFA and a register. */
static struct unwind_table *some_table(void)
{
	struct unwind_builder builder;
	struct unwind_row_state state = state_of(7, 8);
	int32_t block;

	unwind_builder_init(&builder, BASE);
	unwind_builder_row(&builder, 0x10, unwind_builder_rule(&builder, &state, RETURN_REG));
	state.cfa.cfa_offset = 16;
	state.set |= 1ULL << 6;
	state.saved[6] = (struct unwind_saved){ .offset = -16, .how = UNWIND_SAVED_AT };
	unwind_builder_row(&builder, 0x11, unwind_builder_rule(&builder, &state, RETURN_REG));
	block = unwind_builder_block(&builder, saved_text, sizeof(saved_text), true);
	assert_true(block >= 0);
	state.saved[6] = (struct unwind_saved){ .offset = block, .how = UNWIND_SAVED_EXPRESSION };
	state.cfa.signal = true;
	unwind_builder_row(&builder, 0x20, unwind_builder_rule(&builder, &state, RETURN_REG));
	state = state_of(0, unwind_builder_block(&builder, cfa_text, sizeof(cfa_text), false));
	state.cfa.cfa_expression = true;
	unwind_builder_row(&builder, 0x30, unwind_builder_rule(&builder, &state, RETURN_REG));
	unwind_builder_row(&builder, 0x40, UNWIND_RULE_NUMBER_OTHER);
	unwind_builder_row(&builder, 0x50, UNWIND_RULE_NUMBER_NONE);
	builder.table.incomplete = true;
	return unwind_builder_done(&builder);
}

static void same_rules(const struct unwind_table *a, const struct unwind_table *b, uint64_t vaddr)
{
	const struct unwind_rule *one = unwind_table_find(a, vaddr), *other = unwind_table_find(b, vaddr);

	assert_int_equal(one->kind, other->kind);
	assert_int_equal(one->cfa_offset, other->cfa_offset);
	assert_int_equal(one->cfa_reg, other->cfa_reg);
	assert_int_equal(one->cfa_expression, other->cfa_expression);
	assert_int_equal(one->signal, other->signal);
	assert_int_equal(one->n_saved, other->n_saved);
	for (unsigned i = 0; i < one->n_saved; i++) {
		const struct unwind_saved *mine = &a->saved[one->saved + i], *its = &b->saved[other->saved + i];

		assert_int_equal(mine->reg, its->reg);
		assert_int_equal(mine->how, its->how);
		assert_int_equal(mine->offset, its->offset);
	}
}

static void test_round_trip(void **state)
{
	struct unwind_table *table = some_table(), *again;
	struct str bytes = STR_INIT, second = STR_INIT;

	(void)state;
	unwind_table_put(table, &bytes);
	again = unwind_table_take(bytes.s, bytes.len);
	assert_non_null(again);
	for (uint64_t vaddr = BASE - 1; vaddr < BASE + 0x60; vaddr++)
		same_rules(table, again, vaddr);
	assert_int_equal(again->n_blocks, 2);
	assert_int_equal(again->n_ops, table->n_ops);
	for (size_t i = 0; i < table->n_ops; i++) {
		assert_int_equal(again->ops[i].atom, table->ops[i].atom);
		assert_int_equal(again->ops[i].number, table->ops[i].number);
		assert_int_equal(again->ops[i].number2, table->ops[i].number2);
		assert_int_equal(again->ops[i].offset, table->ops[i].offset);
	}
	assert_true(again->incomplete);
	unwind_table_put(again, &second);
	assert_int_equal(bytes.len, second.len);
	assert_memory_equal(bytes.s, second.s, bytes.len);
	str_release(&bytes);
	str_release(&second);
	unwind_table_free(table);
	unwind_table_free(again);
}

/* All that other code takes for granted. */
static void in_bounds(const struct unwind_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		assert_true(table->rules[i] < table->n_rules);
		assert_true(!i || table->offsets[i - 1] < table->offsets[i]);
	}
	for (size_t i = 0; i < table->n_rules; i++) {
		const struct unwind_rule *rule = &table->rule[i];

		assert_true(rule->saved + rule->n_saved <= table->n_saved);
		assert_true(rule->cfa_reg < UNWIND_REGS_MAX);
		assert_true(!rule->cfa_expression || (size_t)rule->cfa_offset < table->n_blocks);
		assert_true(rule->kind <= UNWIND_RULE_OTHER);
	}
	for (size_t i = 0; i < table->n_saved; i++) {
		const struct unwind_saved *saved = &table->saved[i];
		bool expression = saved->how == UNWIND_SAVED_EXPRESSION || saved->how == UNWIND_SAVED_VALUE;

		assert_true(saved->reg < UNWIND_REGS_MAX && saved->how <= UNWIND_SAVED_NOT);
		assert_true(!expression || (size_t)saved->offset < table->n_blocks);
	}
	for (size_t i = 0; i < table->n_blocks; i++)
		assert_true(table->blocks[i].n && table->blocks[i].first + table->blocks[i].n <= table->n_ops);
	assert_int_equal(table->rule[UNWIND_RULE_NUMBER_NONE].kind, UNWIND_RULE_NONE);
}

static void test_changed_and_cut(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x10, 0x7f, 0x80, 0xff };
	struct unwind_table *table = some_table(), *taken;
	struct str bytes = STR_INIT;
	size_t n_taken = 0, n_refused = 0;

	(void)state;
	unwind_table_put(table, &bytes);
	for (size_t i = 0; i < bytes.len; i++)
		for (size_t k = 0; k < ARRAY_SIZE(changes); k++) {
			bytes.s[i] = (char)(bytes.s[i] ^ changes[k]);
			taken = unwind_table_take(bytes.s, bytes.len);
			bytes.s[i] = (char)(bytes.s[i] ^ changes[k]);
			if (taken)
				in_bounds(taken);
			n_taken += taken != NULL;
			n_refused += taken == NULL;
			unwind_table_free(taken);
		}
	/* An offset may be another one; a count may not. */
	assert_true(n_taken && n_refused);
	for (size_t n = 0; n < bytes.len; n++)
		assert_null(unwind_table_take(bytes.s, n));
	str_addc(&bytes, '\0');
	assert_null(unwind_table_take(bytes.s, bytes.len));
	str_release(&bytes);
	unwind_table_free(table);
}

/* Each one thing that is wrong in a table that is right otherwise. */
static void test_each_promise(void **state)
{
	struct unwind_table *table = some_table();
	const struct {
		void *field;
		size_t bytes;
		uint32_t value;
	} wrong[] = {
		{ &table->rules[0], WORD, (uint32_t)table->n_rules },
		{ &table->offsets[1], WORD, table->offsets[0] },
		{ &table->rule[2].saved, WORD, (uint32_t)table->n_saved },
		{ &table->rule[2].saved, WORD, UINT32_MAX },
		{ &table->rule[2].n_saved, 1, UNWIND_REGS_MAX + 1 },
		{ &table->rule[2].cfa_reg, 1, UNWIND_REGS_MAX },
		{ &table->rule[2].kind, 1, UNWIND_RULE_TRAMPOLINE },
		{ &table->rule[5].cfa_offset, WORD, (uint32_t)table->n_blocks },
		{ &table->rule[5].cfa_offset, WORD, UINT32_MAX },
		{ &table->rule[0].kind, 1, UNWIND_RULE_PLAIN },
		{ &table->rule[1].kind, 1, UNWIND_RULE_PLAIN },
		{ &table->saved[0].reg, 1, UNWIND_REGS_MAX },
		{ &table->saved[0].how, 1, UNWIND_SAVED_NOT + 1 },
		{ &table->saved[0].how, 1, UNWIND_SAVED_VALUE },
		{ &table->saved[0].how, 1, UNWIND_SAVED_REGISTER },
		{ &table->blocks[0].n, WORD, 0 },
		{ &table->blocks[1].first, WORD, (uint32_t)table->n_ops },
		{ &table->blocks[1].n, WORD, UINT32_MAX },
	};

	(void)state;
	assert_true(table->rule[5].cfa_expression);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct str bytes = STR_INIT;
		uint32_t before = 0;

		memcpy(&before, wrong[i].field, wrong[i].bytes);
		memcpy(wrong[i].field, &wrong[i].value, wrong[i].bytes);
		unwind_table_put(table, &bytes);
		memcpy(wrong[i].field, &before, wrong[i].bytes);
		if (unwind_table_take(bytes.s, bytes.len))
			fail_msg("number %zu was taken", i);
		str_reset(&bytes);
		unwind_table_put(table, &bytes);
		unwind_table_free(unwind_table_take(bytes.s, bytes.len));
		str_release(&bytes);
	}
	unwind_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_changed_and_cut),
		cmocka_unit_test(test_each_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
