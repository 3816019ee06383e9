/* SPDX-License-Identifier: MIT */
/*
 * The number columns: which of an entry's sums a field shows, and how.
 */
#include "hist/fold_internal.h"

#include <strings.h>

#define STAT(name) .stat = offsetof(struct entry_stats, name)
#define TOTAL(name) .stat = offsetof(struct entry_total, name)
#define WEIGHT(i, fact)                                                                                                \
	.stat = offsetof(struct entry_sums, weights[i]), .width = 8, .facts = FACT(fact), .mean = true
/* All answers together are the entry's period: that is what rows are sorted by. */
#define ANSWERS(name) STAT(period), .percent = true, .answers = true, .respect = MEM_RESPECT_##name

/*
 * To add a field: a number in struct entry_stats if there is none yet, one row here, an entry in
 * pstat-report(1). The order is the one in which the beginning of a name is looked up.
 */
const struct field_row field_rows[] = {
	{ "overhead", "Overhead", "part of the period of all samples", STAT(period), true, false,
	  8 },
	{ "latency", "Latency", "part of wall-clock time: periods parted among the threads that ran at once",
	  STAT(latency), true, false, 8, .of_latency = true },
	{ "overhead_sys", "sys", "part that was sampled in the kernel", STAT(period_sys), true,
	  false, 8 },
	{ "overhead_us", "usr", "part that was sampled in user mode", STAT(period_us), true, false,
	  8 },
	{ "overhead_guest_sys", "guest sys", "part that was sampled in a guest's kernel",
	  STAT(period_guest_sys), true, false, 9 },
	{ "overhead_guest_us", "guest usr", "part that was sampled in a guest's user mode",
	  STAT(period_guest_us), true, false, 9 },
	{ "overhead_children", "Children", "the entry's part with all that it called", TOTAL(period),
	  true, true, 8 },
	{ "latency_children", "Latency", "the entry's part of wall-clock time with all that it called",
	  TOTAL(latency), true, true, 7, .of_latency = true },
	{ "sample", "Samples", "how many samples", STAT(n_samples), false, false, 12 },
	{ "period", "Period", "sum of the samples' periods", STAT(period), false, false, 12 },
	{ "weight1", "Weight1", "mean of the samples' weights", WEIGHT(0, WEIGHT) },
	{ "weight2", "Weight2", "mean of their latencies of instructions", WEIGHT(1, INS_LAT) },
	{ "weight3", "Weight3", "mean of their third weights, such as latencies of retirement",
	  WEIGHT(2, P_STAGE_CYC) },
	{ "op", "Mem Op", "parts by what was done: loads, stores, ...", ANSWERS(OP) },
	{ "cache", "Cache", "parts by the cache that answered", ANSWERS(CACHE) },
	{ "memory", "Memory", "parts by the memory that answered", ANSWERS(MEMORY) },
	{ "snoop", "Snoop", "parts by what other caches answered", ANSWERS(SNOOP) },
	{ "dtlb", "D-TLB", "parts by where translations of addresses were", ANSWERS(DTLB) },
};
const size_t n_field_rows = ARRAY_SIZE(field_rows);

const struct field_row field_self = {
	"overhead", "Self", "the entry's own part", STAT(period), true, false, 8,
};

const struct field_row *field_find(const char *name, size_t len)
{
	for (size_t i = 0; i < n_field_rows; i++)
		if (strlen(field_rows[i].name) == len &&
		    !strncasecmp(field_rows[i].name, name, len))
			return &field_rows[i];
	for (size_t i = 0; i < n_field_rows; i++)
		if (!strncasecmp(field_rows[i].name, name, len))
			return &field_rows[i];
	return NULL;
}

void field_answers(struct field_row *rows, enum mem_respect respect)
{
	for (unsigned i = 0; i < MEM_ANSWERS_MAX && mem_answer_name(respect, i); i++)
		rows[i] = (struct field_row){
			.name = mem_answer_name(respect, i),
			.header = mem_answer_name(respect, i),
			.stat = offsetof(struct entry_sums, periods) +
				(respect * MEM_ANSWERS_MAX + i) * sizeof(uint64_t),
			.percent = true,
			.width = 7,
			.facts = FACT(DATA_SRC),
			.tenths = true,
		};
}

/* ---- what stands in a column ---- */

static uint64_t key_value(const struct entry *entry, const struct column *column)
{
	uint64_t value = entry->values[column->key_index];

	return column->key->flags & KEY_TIMES_SAMPLES ? value * entry->self.n_samples : value;
}

void table_key_text(struct table *table, const struct entry *entry, const struct column *column, struct str *out)
{
	column->key->text(table, key_value(entry, column), out);
}

static uint64_t hash_key(struct table *table, const struct entry *entry, const struct column *column)
{
	uint64_t (*identity)(struct table *, uint64_t) = column->key->identity;
	struct str text = STR_INIT;
	uint64_t words[2];

	table_key_text(table, entry, column, &text);
	words[0] = hash_bytes(text.s, text.len);
	words[1] = identity ? identity(table, entry->values[column->key_index]) : 0;
	str_release(&text);
	return hash_words(words, ARRAY_SIZE(words));
}

static uint64_t known_hash(struct table *table, const struct entry *entry, const struct column *column)
{
	struct key_hashes *hashes = &table->private->cache->key_hashes;
	const uint64_t row[] = { column->key_index, key_value(entry, column) };
	const uint32_t i = row_set_intern(&hashes->values, row);

	if (i == hashes->n) {
		VEC_GROW(hashes->v, hashes->n, hashes->cap);
		hashes->v[hashes->n++] = hash_key(table, entry, column);
	}
	return hashes->v[i];
}

uint64_t table_entry_hash(struct table *table, const struct entry *entry)
{
	const bool levels = table->question->query.view == VIEW_HIERARCHY;
	uint64_t hash = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind == COLUMN_KEY && (!levels || column->level == entry->depth))
			hash = hash_word(hash ^ known_hash(table, entry, column));
	}
	return hash;
}

struct table_value table_value(const struct table *table, const struct hist *hist, const struct entry *entry,
			       const struct column *column, size_t member)
{
	struct table_value value = { .type = TABLE_NUMBER };

	if (column->kind == COLUMN_NUMBER) {
		if (column->field->percent) {
			value.type = TABLE_PERCENT;
			value.percent = entry_percent(table, hist, entry, column->field, member);
		} else if (column->field->mean) {
			value.type = TABLE_MEAN;
			value.percent = entry_mean(entry, column->field, member);
		} else {
			value.number = entry_number(entry, column->field, member);
		}
		return value;
	}
	value.type = column->key->type;
	value.number = key_value(entry, column);
	if (value.type != TABLE_TEXT && column->key->number &&
	    !column->key->number(table, value.number, &value.number))
		value.type = TABLE_TEXT;
	return value;
}
