/*
 * unwind_table: building and asking tables.
 *
 * All pools are bounded, whatever a file says: its rows by the bytes of its section, what they share by the
 * numbers here. Past these a row's rule is that another unwinder is to be asked.
 */
#include "unwind/unwind_table.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	RULES_MAX = 1 << 20,
	SAVED_MAX = 1 << 20,
	OPS_MAX = 1 << 15,
};

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->offsets);
	free(table->rules);
	free(table->rule);
	free(table->saved);
	free(table->blocks);
	free(table->ops);
	free(table);
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t vaddr)
{
	uint64_t offset = vaddr - table->base;
	const uint32_t *at = table->offsets;
	size_t n = table->n;

	if (vaddr < table->base || offset > UINT32_MAX || !n || offset < *at)
		return &table->rule[UNWIND_RULE_NUMBER_NONE];
	/* The last row at or below offset is in at[0 .. n - 1]. */
	while (n > 1) {
		size_t half = n / 2;

		at += at[half] <= offset ? half : 0;
		n -= half;
	}
	return &table->rule[table->rules[at - table->offsets]];
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	if (!table)
		return 0;
	return sizeof(*table) + table->n * (sizeof(*table->offsets) + sizeof(*table->rules)) +
	       table->n_rules * sizeof(*table->rule) + table->n_saved * sizeof(*table->saved) +
	       table->n_blocks * sizeof(*table->blocks) + table->n_ops * sizeof(*table->ops);
}

/* ---- making one ---- */

static uint32_t add_rule(struct unwind_builder *builder, const struct unwind_rule *rule)
{
	struct unwind_table *table = &builder->table;

	VEC_GROW(table->rule, table->n_rules, builder->cap_rules);
	table->rule[table->n_rules] = *rule;
	return (uint32_t)table->n_rules++;
}

void unwind_builder_init(struct unwind_builder *builder, uint64_t base)
{
	memset(builder, 0, sizeof(*builder));
	builder->table.base = base;
	add_rule(builder, &(struct unwind_rule){ .kind = UNWIND_RULE_NONE });
	add_rule(builder, &(struct unwind_rule){ .kind = UNWIND_RULE_OTHER });
}

void unwind_builder_row(struct unwind_builder *builder, uint64_t offset, uint32_t rule)
{
	struct unwind_table *table = &builder->table;
	size_t cap = builder->cap;

	if (offset > UINT32_MAX)
		return;
	if (table->n && table->offsets[table->n - 1] == offset)
		table->n--;
	if (table->n ? table->rules[table->n - 1] == rule : rule == UNWIND_RULE_NUMBER_NONE)
		return;
	VEC_GROW(table->offsets, table->n, builder->cap);
	VEC_GROW(table->rules, table->n, cap);
	table->offsets[table->n] = (uint32_t)offset;
	table->rules[table->n++] = rule;
}

/* The number of the list with these registers; negative: there are too many. */
static int64_t list_of(struct unwind_builder *builder, const struct unwind_saved *saved, uint8_t n)
{
	struct unwind_table *table = &builder->table;
	uint64_t hash = hash_bytes(saved, n * sizeof(*saved));
	uint32_t i;

	if (INDEX_FIND(&builder->by_saved, hash, i,
		       builder->lists[i].n == n &&
			       !memcmp(table->saved + builder->lists[i].first, saved, n * sizeof(*saved))))
		return i;
	if (table->n_saved + n > SAVED_MAX)
		return -1;
	index_add(&builder->by_saved, hash, (uint32_t)builder->n_lists);
	VEC_GROW(builder->lists, builder->n_lists, builder->cap_lists);
	builder->lists[builder->n_lists] = (struct unwind_lists){ (uint32_t)table->n_saved, n };
	for (uint8_t k = 0; k < n; k++) {
		VEC_GROW(table->saved, table->n_saved, builder->cap_saved);
		table->saved[table->n_saved++] = saved[k];
	}
	return (int64_t)builder->n_lists++;
}

static bool same_rule(const struct unwind_table *table, const struct unwind_rule *a, const struct unwind_rule *b,
		      const struct unwind_saved *saved)
{
	return a->cfa_offset == b->cfa_offset && a->n_saved == b->n_saved && a->kind == b->kind &&
	       a->cfa_reg == b->cfa_reg && a->cfa_expression == b->cfa_expression && a->signal == b->signal &&
	       (!a->n_saved || !memcmp(table->saved + a->saved, saved, a->n_saved * sizeof(*saved)));
}

/* What is restored, the return address first; and the kind of rule that this makes. */
static uint8_t collect(const struct unwind_state *state, unsigned return_reg, struct unwind_saved *saved,
		       struct unwind_rule *rule)
{
	uint64_t first = state->set & 1ULL << return_reg, left = state->set & ~first;
	uint8_t n = 0;

	rule->kind = state->cfa.cfa_expression ? UNWIND_RULE_GENERAL : UNWIND_RULE_PLAIN;
	while (first || left) {
		uint64_t *bits = first ? &first : &left;
		unsigned reg = (unsigned)__builtin_ctzll(*bits);

		*bits &= *bits - 1;
		memset(&saved[n], 0, sizeof(saved[n])); /* padding is compared */
		saved[n].offset = state->saved[reg].offset;
		saved[n].how = state->saved[reg].how;
		saved[n].reg = (uint8_t)reg;
		if (saved[n++].how != UNWIND_SAVED_AT)
			rule->kind = UNWIND_RULE_GENERAL;
	}
	if (state->set >> return_reg & 1 && state->saved[return_reg].how == UNWIND_SAVED_NOT)
		rule->kind = UNWIND_RULE_OUTERMOST;
	return n;
}

/* Nearly every row has a rule that was there before: that is found at once, by all that it says. */
uint32_t unwind_builder_rule(struct unwind_builder *builder, const struct unwind_state *state, unsigned return_reg)
{
	struct unwind_saved saved[UNWIND_REGS_MAX];
	struct unwind_rule rule = state->cfa;
	uint64_t hash;
	int64_t list;
	uint32_t i;

	rule.n_saved = collect(state, return_reg, saved, &rule);
	if (rule.kind == UNWIND_RULE_OUTERMOST)
		rule = (struct unwind_rule){ .kind = UNWIND_RULE_OUTERMOST, .signal = rule.signal };
	hash = hash_bytes(saved, rule.n_saved * sizeof(*saved)) ^
	       hash_words((uint64_t[]){ (uint32_t)rule.cfa_offset,
					(uint32_t)rule.kind << 24 | (uint32_t)rule.cfa_reg << 16 |
						(uint32_t)rule.cfa_expression << 8 | rule.signal }, 2);
	if (INDEX_FIND(&builder->by_rule, hash, i,
		       same_rule(&builder->table, &builder->table.rule[i], &rule, saved)))
		return i;
	list = rule.n_saved ? list_of(builder, saved, rule.n_saved) : 0;
	if (list < 0 || builder->table.n_rules == RULES_MAX)
		return UNWIND_RULE_NUMBER_OTHER;
	rule.saved = rule.n_saved ? builder->lists[list].first : 0;
	index_add(&builder->by_rule, hash, (uint32_t)builder->table.n_rules);
	return add_rule(builder, &rule);
}

int32_t unwind_builder_block(struct unwind_builder *builder, const uint8_t *bytes, size_t n, bool of_register)
{
	struct unwind_table *table = &builder->table;
	uint64_t hash = hash_bytes(bytes, n) + of_register;
	Dwarf_Op ops[UNWIND_OPS_MAX + 1] = { { .atom = DW_OP_call_frame_cfa, .offset = UINT64_MAX } };
	size_t first = of_register, n_ops;
	uint32_t i;

	if (INDEX_FIND(&builder->by_block, hash, i,
		       builder->texts[i].n == n && builder->texts[i].of_register == of_register &&
			       !memcmp(builder->texts[i].bytes, bytes, n)))
		return (int32_t)i;
	n_ops = unwind_ops_decode(bytes, n, ops + first, UNWIND_OPS_MAX);
	if (!n_ops || table->n_ops + first + n_ops > OPS_MAX)
		return -1;
	index_add(&builder->by_block, hash, (uint32_t)table->n_blocks);
	VEC_GROW(builder->texts, table->n_blocks, builder->cap_texts);
	builder->texts[table->n_blocks].bytes = bytes;
	builder->texts[table->n_blocks].n = n;
	builder->texts[table->n_blocks].of_register = of_register;
	VEC_GROW(table->blocks, table->n_blocks, builder->cap_blocks);
	table->blocks[table->n_blocks] =
		(struct unwind_block){ (uint32_t)table->n_ops, (uint32_t)(first + n_ops) };
	for (size_t k = 0; k < first + n_ops; k++) {
		VEC_GROW(table->ops, table->n_ops, builder->cap_ops);
		table->ops[table->n_ops++] = ops[k];
	}
	return (int32_t)table->n_blocks++;
}

/* What it has is enough: the rest of its room goes back. */
static void *fitted(void *v, size_t n, size_t bytes)
{
	return n ? xreallocarray(v, n, bytes) : v;
}

struct unwind_table *unwind_builder_done(struct unwind_builder *builder)
{
	struct unwind_table *table = xmalloc(sizeof(*table));

	*table = builder->table;
	table->offsets = fitted(table->offsets, table->n, sizeof(*table->offsets));
	table->rules = fitted(table->rules, table->n, sizeof(*table->rules));
	table->rule = fitted(table->rule, table->n_rules, sizeof(*table->rule));
	table->saved = fitted(table->saved, table->n_saved, sizeof(*table->saved));
	table->blocks = fitted(table->blocks, table->n_blocks, sizeof(*table->blocks));
	table->ops = fitted(table->ops, table->n_ops, sizeof(*table->ops));
	index_release(&builder->by_rule);
	index_release(&builder->by_saved);
	index_release(&builder->by_block);
	free(builder->lists);
	free(builder->texts);
	memset(builder, 0, sizeof(*builder));
	if (table->n || table->incomplete)
		return table;
	unwind_table_free(table);
	return NULL;
}
