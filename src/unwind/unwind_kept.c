/*
 * unwind_kept.c: see unwind_kept.h.
 */
#include "unwind/unwind_kept.h"

#include <stdlib.h>

enum {
	KEPT_VERSION = 1, /* of what rows say of the same section */
	KEPT_BYTES_MIN = 1 << 17, /* of a section; rows of a smaller one are made in a millisecond */
	RULE_WORDS = 3,
	SAVED_WORDS = 2,
	BLOCK_WORDS = 2,
	OP_WORDS = 4, /* of 64 bits */
};
static const char magic[8] = "pstatUR";

struct head {
	char magic[sizeof(magic)];
	uint64_t base;
	uint32_t n, n_rules, n_saved, n_blocks, n_ops, incomplete;
};

/* ---- to bytes ---- */

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
	struct head head = { .base = table->base,
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

/* ---- from bytes ---- */

static uint64_t bytes_of(const struct head *head)
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
	struct head head;

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

/* ---- where they are kept ---- */

void unwind_kept_key(const struct unwind *unwind, const struct image *image, const struct elf_file *file,
		     const char *section, uint64_t section_bytes, struct str *key)
{
	if (!unwind->keeper || section_bytes < KEPT_BYTES_MIN || image->dso->kind != DSO_FILE || !file->build_id.size)
		return;
	str_addf(key, "rows %d " PSTAT_VERSION " %s of machine %u at %llx-%llx\n", KEPT_VERSION, section, file->machine,
		 (unsigned long long)image->start, (unsigned long long)image->end);
	elf_file_identity(file, key);
}

struct unwind_table *unwind_kept_read(const struct unwind *unwind, const struct build_id *id, const struct str *key)
{
	struct unwind_table *table = NULL;
	struct str bytes = STR_INIT;

	if (key->len && unwind->keeper->read(unwind->file_context, id, key, &bytes))
		table = unwind_table_take(bytes.s, bytes.len);
	str_release(&bytes);
	return table;
}

void unwind_kept_write(const struct unwind *unwind, const struct build_id *id, const struct str *key,
		       const struct unwind_table *table)
{
	struct str bytes = STR_INIT;

	if (!key->len || !table)
		return;
	unwind_table_put(table, &bytes);
	unwind->keeper->write(unwind->file_context, id, key, &bytes);
	str_release(&bytes);
}
