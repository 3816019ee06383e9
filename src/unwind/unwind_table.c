/* SPDX-License-Identifier: MIT */
/*
 * unwind_table: asking tables, building them, and tables as bytes.
 *
 * All pools are bounded, whatever a file says: its rows by the bytes of its section, what they share by the
 * numbers here. Past these a row's rule is that another unwinder is to be asked.
 *
 * As bytes, in this machine's order:
 *
 *	"pstatUR" NUL | u64 base | u32 rows, rules, saved, blocks, ops, incomplete |
 *	u32 offset of each row | u32 rule of each row | rules, 3 u32 each | saved, 2 u32 each | blocks, 2 u32 each |
 *	operations, 4 u64 each
 *
 * They come from a file that anyone may have written who is this user: nothing in them is believed that a look-up or
 * a step relies on.
 */
#include "unwind/unwind_table.h"

#include "unwind/unwind_expr.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	RULES_MAX = 1 << 20,
	SAVED_MAX = 1 << 20,
	OPS_MAX = 1 << 15,
	/* How many words each takes as bytes. */
	RULE_WORDS = 3,
	SAVED_WORDS = 2,
	BLOCK_WORDS = 2,
	OP_WORDS = 4, /* of 64 bits */
};
static const char magic[8] = "pstatUR";

struct table_head {
	char magic[sizeof(magic)];
	uint64_t base;
	uint32_t n, n_rules, n_saved, n_blocks, n_ops, incomplete;
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

/* Lists what is restored, the return address first, and sets the kind of rule that this makes. */
static uint8_t collect(const struct unwind_row_state *state, unsigned return_reg, struct unwind_saved *saved,
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
uint32_t unwind_builder_rule(struct unwind_builder *builder, const struct unwind_row_state *state, unsigned return_reg)
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
	Dwarf_Op ops[EXPR_OPS_MAX + 1] = { { .atom = DW_OP_call_frame_cfa, .offset = UINT64_MAX } };
	size_t first = of_register, n_ops;
	uint32_t i;

	if (INDEX_FIND(&builder->by_block, hash, i,
		       builder->texts[i].n == n && builder->texts[i].of_register == of_register &&
			       !memcmp(builder->texts[i].bytes, bytes, n)))
		return (int32_t)i;
	n_ops = unwind_expr_decode(bytes, n, ops + first, EXPR_OPS_MAX);
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

/* Gives back the room that is not used. */
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

/* ---- a table as bytes ---- */

static void put_words(struct str *bytes, const uint32_t *words, size_t n)
{
	str_addn(bytes, (const char *)words, n * sizeof(*words));
}

static void put_ops(struct str *bytes, const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t words[OP_WORDS] = { ops[i].atom, ops[i].number, ops[i].number2, ops[i].offset };

		str_addn(bytes, (const char *)words, sizeof(words));
	}
}

void unwind_table_put(const struct unwind_table *table, struct str *bytes)
{
	struct table_head head = { .base = table->base,
			     .n = (uint32_t)table->n,
			     .n_rules = (uint32_t)table->n_rules,
			     .n_saved = (uint32_t)table->n_saved,
			     .n_blocks = (uint32_t)table->n_blocks,
			     .n_ops = (uint32_t)table->n_ops,
			     .incomplete = table->incomplete };

	memcpy(head.magic, magic, sizeof(magic));
	str_addn(bytes, (const char *)&head, sizeof(head));
	put_words(bytes, table->offsets, table->n);
	put_words(bytes, table->rules, table->n);
	for (size_t i = 0; i < table->n_rules; i++) {
		const struct unwind_rule *rule = &table->rule[i];
		uint32_t flags = (uint32_t)rule->cfa_expression | (uint32_t)rule->signal << 1;

		put_words(bytes, (uint32_t[RULE_WORDS]){ (uint32_t)rule->cfa_offset, rule->saved,
							 rule->n_saved | (uint32_t)rule->kind << 8 |
								 (uint32_t)rule->cfa_reg << 16 | flags << 24 },
			  RULE_WORDS);
	}
	for (size_t i = 0; i < table->n_saved; i++)
		put_words(bytes, (uint32_t[SAVED_WORDS]){ (uint32_t)table->saved[i].offset,
							  table->saved[i].reg | (uint32_t)table->saved[i].how << 8 },
			  SAVED_WORDS);
	for (size_t i = 0; i < table->n_blocks; i++)
		put_words(bytes, (uint32_t[BLOCK_WORDS]){ table->blocks[i].first, table->blocks[i].n }, BLOCK_WORDS);
	put_ops(bytes, table->ops, table->n_ops);
}

/* A head says how many bytes there must be. */
static uint64_t bytes_of(const struct table_head *head)
{
	return sizeof(*head) + sizeof(uint32_t) * (2 * (uint64_t)head->n + RULE_WORDS * (uint64_t)head->n_rules +
						   SAVED_WORDS * (uint64_t)head->n_saved +
						   BLOCK_WORDS * (uint64_t)head->n_blocks) +
	       sizeof(uint64_t) * OP_WORDS * (uint64_t)head->n_ops;
}

/* The next n words at *at; the caller has checked that there are so many. */
static void take(const uint8_t **at, void *words, size_t bytes)
{
	memcpy(words, *at, bytes);
	*at += bytes;
}

static bool take_rows(struct unwind_table *table, const uint8_t **at)
{
	bool good = true;

	table->offsets = xcalloc(table->n + 1, sizeof(*table->offsets));
	table->rules = xcalloc(table->n + 1, sizeof(*table->rules));
	take(at, table->offsets, table->n * sizeof(*table->offsets));
	take(at, table->rules, table->n * sizeof(*table->rules));
	for (size_t i = 0; i < table->n; i++)
		good &= table->rules[i] < table->n_rules && (!i || table->offsets[i - 1] < table->offsets[i]);
	return good;
}

static bool is_block(const struct unwind_table *table, int32_t number)
{
	return number >= 0 && (size_t)number < table->n_blocks;
}

static bool take_rules(struct unwind_table *table, const uint8_t **at)
{
	bool good = true;

	table->rule = xcalloc(table->n_rules + 1, sizeof(*table->rule));
	for (size_t i = 0; i < table->n_rules; i++) {
		struct unwind_rule *rule = &table->rule[i];
		uint32_t words[RULE_WORDS];

		take(at, words, sizeof(words));
		*rule = (struct unwind_rule){ .cfa_offset = (int32_t)words[0],
					      .saved = words[1],
					      .n_saved = (uint8_t)words[2],
					      .kind = (uint8_t)(words[2] >> 8),
					      .cfa_reg = (uint8_t)(words[2] >> 16),
					      .cfa_expression = words[2] >> 24 & 1,
					      .signal = words[2] >> 25 & 1 };
		good &= rule->kind <= UNWIND_RULE_OTHER && rule->cfa_reg < UNWIND_REGS_MAX &&
			rule->n_saved <= UNWIND_REGS_MAX &&
			(uint64_t)rule->saved + rule->n_saved <= table->n_saved &&
			(!rule->cfa_expression || is_block(table, rule->cfa_offset));
	}
	return good && table->n_rules > UNWIND_RULE_NUMBER_OTHER &&
	       table->rule[UNWIND_RULE_NUMBER_NONE].kind == UNWIND_RULE_NONE &&
	       table->rule[UNWIND_RULE_NUMBER_OTHER].kind == UNWIND_RULE_OTHER;
}

static bool is_saved(const struct unwind_table *table, const struct unwind_saved *saved)
{
	if (saved->reg >= UNWIND_REGS_MAX || saved->how > UNWIND_SAVED_NOT)
		return false;
	if (saved->how == UNWIND_SAVED_EXPRESSION || saved->how == UNWIND_SAVED_VALUE)
		return is_block(table, saved->offset);
	return saved->how != UNWIND_SAVED_REGISTER || (saved->offset >= 0 && saved->offset < UNWIND_REGS_MAX);
}

static bool take_saved(struct unwind_table *table, const uint8_t **at)
{
	bool good = true;

	table->saved = xcalloc(table->n_saved + 1, sizeof(*table->saved));
	for (size_t i = 0; i < table->n_saved; i++) {
		uint32_t words[SAVED_WORDS];

		take(at, words, sizeof(words));
		table->saved[i] = (struct unwind_saved){ .offset = (int32_t)words[0],
							 .reg = (uint8_t)words[1],
							 .how = (uint8_t)(words[1] >> 8) };
		good &= is_saved(table, &table->saved[i]);
	}
	return good;
}

static bool take_expressions(struct unwind_table *table, const uint8_t **at)
{
	bool good = true;

	table->blocks = xcalloc(table->n_blocks + 1, sizeof(*table->blocks));
	table->ops = xcalloc(table->n_ops + 1, sizeof(*table->ops));
	for (size_t i = 0; i < table->n_blocks; i++) {
		uint32_t words[BLOCK_WORDS];

		take(at, words, sizeof(words));
		table->blocks[i] = (struct unwind_block){ words[0], words[1] };
		good &= words[1] && (uint64_t)words[0] + words[1] <= table->n_ops;
	}
	for (size_t i = 0; i < table->n_ops; i++) {
		uint64_t words[OP_WORDS];

		take(at, words, sizeof(words));
		table->ops[i] = (Dwarf_Op){ .atom = (uint8_t)words[0], .number = words[1], .number2 = words[2],
					    .offset = words[3] };
	}
	return good;
}

struct unwind_table *unwind_table_take(const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	struct unwind_table *table;
	struct table_head head;

	if (n < sizeof(head))
		return NULL;
	take(&at, &head, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || bytes_of(&head) != n)
		return NULL;
	table = xcalloc(1, sizeof(*table));
	*table = (struct unwind_table){ .base = head.base,
					.n = head.n,
					.n_rules = head.n_rules,
					.n_saved = head.n_saved,
					.n_blocks = head.n_blocks,
					.n_ops = head.n_ops,
					.incomplete = head.incomplete };
	if (take_rows(table, &at) && take_rules(table, &at) && take_saved(table, &at) && take_expressions(table, &at))
		return table;
	unwind_table_free(table);
	return NULL;
}
