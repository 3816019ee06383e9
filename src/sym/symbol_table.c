/* SPDX-License-Identifier: MIT */
/*
 * symbol_table: symbols of one file, gathered in any order, then sorted once into an array that binary
 * searches answer from.
 *
 *   add add add ... -> finish: sort by start -> one row per start -> ends -> links outwards -> find
 *
 * Of several names of one address the first of these differences decides: a size before none; a name of today before
 * one that a library keeps for old programs ("cfree@GLIBC_2.2.5"); global, weak, local, in this order; fewer leading
 * underscores; the longer name; the one that comes first by its bytes. What is exported comes before what is local, so
 * that the name is the same one with and without a debug file. perf knows no old names, and has local before weak.
 *
 * Symbols may lie in one another (a label in a function, code put into a function's middle). Each row
 * therefore links to the nearest row before it that reaches over its start. An address is the row's that
 * starts last at or below it, or, where that row has ended, the first row's of these links that has not.
 */
#include "sym/sym_internal.h"

#include <stdlib.h>

enum {
	SYMBOLS_MAX = 100000000,
	OUTER_STEPS_MAX = 64, /* rows deeper in one another than that are nobody's code */
	PAGE_BYTES = 4096,
	DIGITS = 8,
	DIGIT_VALUES = 256,
	MARKED_ROWS = 32,
};

void symbol_table_init(struct symbol_table *table)
{
	*table = (struct symbol_table){ .names = STR_INIT };
}

void symbol_table_release(struct symbol_table *table)
{
	if (table->mapped) {
		elf_unmap(table->mapped, table->mapped_bytes);
	} else {
		free(table->v);
		free(table->aliases);
		free(table->marks);
		str_release(&table->names);
	}
	symbol_table_init(table);
}

void symbol_table_reserve(struct symbol_table *table, size_t n, size_t name_bytes)
{
	if (n <= SYMBOLS_MAX && n > table->cap - table->n) {
		table->cap = table->n + n;
		table->v = xreallocarray(table->v, table->cap, sizeof(*table->v));
	}
	str_reserve(&table->names, name_bytes);
}

void symbol_table_add_named(struct symbol_table *table, uint64_t start, uint64_t size, uint32_t name,
			    uint8_t binding)
{
	if (table->n >= SYMBOLS_MAX)
		return;
	VEC_GROW(table->v, table->n, table->cap);
	table->v[table->n++] = (struct symbol_row){
		.start = start,
		.size = size <= UINT64_MAX - start ? size : UINT64_MAX - start,
		.name = name,
		.binding = binding,
	};
}

uint32_t symbol_table_add_names(struct symbol_table *table, const char *names, size_t bytes)
{
	size_t at = table->names.len;

	if (bytes >= UINT32_MAX - at)
		return UINT32_MAX;
	str_addn(&table->names, names, bytes);
	return (uint32_t)at;
}

void symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name,
		      size_t name_len, uint8_t binding)
{
	size_t len = strnlen(name, name_len);

	if (table->n >= SYMBOLS_MAX || len >= UINT32_MAX - table->names.len)
		return;
	symbol_table_add_named(table, start, size, (uint32_t)table->names.len, binding);
	str_addn(&table->names, name, len);
	str_addc(&table->names, '\0');
}

void symbol_table_add_label(struct symbol_table *table, uint64_t start, const char *name, uint8_t binding)
{
	size_t n = table->n;

	symbol_table_add(table, start, 0, name, strlen(name), binding);
	if (table->n > n)
		table->v[n].label = 1;
}

/* ---- finish ---- */

static bool is_sorted(const struct symbol_table *table)
{
	for (size_t i = 1; i < table->n; i++)
		if (table->v[i - 1].start > table->v[i].start)
			return false;
	return true;
}

static unsigned digit_of(const struct symbol_row *row, unsigned digit)
{
	return row->start >> (8 * digit) & (DIGIT_VALUES - 1);
}

/* One pass of the sort below; false: all rows agree in this digit, nothing was moved. */
static bool sort_digit(const struct symbol_row *from, struct symbol_row *to, size_t n, unsigned digit)
{
	size_t place[DIGIT_VALUES] = { 0 };
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		place[digit_of(&from[i], digit)]++;
	if (place[digit_of(&from[0], digit)] == n)
		return false;
	for (size_t i = 0; i < DIGIT_VALUES; i++) {
		size_t count = place[i];

		place[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[place[digit_of(&from[i], digit)]++] = from[i];
	return true;
}

/* By digits, the lowest first: stable, and half of an address's digits are the same in all of a file. */
static void sort_rows(struct symbol_table *table)
{
	struct symbol_row *spare;

	if (is_sorted(table))
		return;
	spare = xreallocarray(NULL, table->n, sizeof(*spare));
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		struct symbol_row *from = table->v;

		if (!sort_digit(from, spare, table->n, digit))
			continue;
		table->v = spare;
		spare = from;
	}
	table->cap = table->n;
	free(spare);
}

/* "cfree@V1"; not "puts@plt". */
static bool is_of_old(const struct symbol_table *table, const struct symbol_row *row)
{
	const char *at = strchr(symbol_table_name(table, row), '@');

	return at && at[1] != '@' && strcmp(at, "@plt") != 0;
}

/* Compares two rows of one address by all but their names. Positive: b is to be shown, negative: a; 0: names decide. */
static int compare_facts(const struct symbol_table *table, const struct symbol_row *b, const struct symbol_row *a)
{
	bool a_old, b_old;

	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	a_old = is_of_old(table, a);
	b_old = is_of_old(table, b);
	return a_old != b_old ? a_old - b_old : b->binding - a->binding;
}

int symbol_name_compare(const char *b, const char *a)
{
	size_t a_lead = strspn(a, "_"), b_lead = strspn(b, "_"), a_len = strlen(a), b_len = strlen(b);

	if (a_lead != b_lead)
		return b_lead < a_lead ? 1 : -1;
	if (a_len != b_len)
		return b_len > a_len ? 1 : -1;
	return strcmp(a, b);
}

static bool may_be_mangled(const char *name)
{
	return (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D')) ||
	       !strncmp(name, OCAML_PREFIX, strlen(OCAML_PREFIX));
}

/* Two rows of one address that only their names tell apart: *best is the better one as they are in the file. */
static void keep_alias(struct symbol_table *table, struct symbol_row *best, const struct symbol_row *row)
{
	const char *best_name = symbol_table_name(table, best), *name = symbol_table_name(table, row);
	struct symbol_row alias = *row;

	if (symbol_name_compare(name, best_name) > 0) {
		alias = *best;
		*best = *row;
	}
	if (may_be_mangled(best_name) || may_be_mangled(name)) {
		VEC_GROW(table->aliases, table->n_aliases, table->cap_aliases);
		table->aliases[table->n_aliases++] = alias;
	}
}

static void drop_aliases(struct symbol_table *table, uint64_t start)
{
	while (table->n_aliases && table->aliases[table->n_aliases - 1].start == start)
		table->n_aliases--;
}

static void keep_one_per_start(struct symbol_table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct symbol_row row = table->v[i];
		int better;

		if (!n || table->v[n - 1].start != row.start) {
			table->v[n++] = row;
			continue;
		}
		better = compare_facts(table, &row, &table->v[n - 1]);
		if (better > 0) {
			drop_aliases(table, row.start);
			table->v[n - 1] = row;
		} else if (!better) {
			keep_alias(table, &table->v[n - 1], &row);
		}
	}
	table->n = n;
}

/* Rows are ascending: what reaches over a row's start begins before it. */
static void drop_labels_inside(struct symbol_table *table)
{
	uint64_t reach = 0;
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct symbol_row row = table->v[i];

		if (row.label && !row.size && row.start < reach)
			continue;
		if (row.start + row.size > reach)
			reach = row.start + row.size;
		table->v[n] = row;
		table->v[n++].label = 0;
	}
	table->n = n;
}

static void end_rows(struct symbol_table *table)
{
	struct symbol_row *last = &table->v[table->n - 1];

	for (struct symbol_row *row = table->v; row <= last; row++)
		row->open = !row->size;
	for (struct symbol_row *row = table->v; row < last; row++)
		if (!row->size)
			row->size = row[1].start - row->start;
	if (!last->size) {
		uint64_t into_page = last->start % PAGE_BYTES;
		uint64_t size = PAGE_BYTES + (into_page ? PAGE_BYTES - into_page : 0);

		last->size = size <= UINT64_MAX - last->start ? size : UINT64_MAX - last->start;
	}
}

/* The links are a stack while rows are passed: what has ended before a row is taken from its top. */
static void link_outwards(struct symbol_table *table)
{
	for (size_t i = 1; i < table->n; i++) {
		struct symbol_row *row = &table->v[i];
		size_t outer1 = i;

		while (outer1) {
			const struct symbol_row *outer = &table->v[outer1 - 1];

			if (outer->size > row->start - outer->start)
				break;
			outer1 = outer->outer1;
		}
		row->outer1 = outer1 & SYMBOL_OUTER_MAX;
	}
}

size_t symbol_table_marks(size_t n_rows)
{
	return (n_rows + MARKED_ROWS - 1) / MARKED_ROWS;
}

/* Rows of a large table are far apart: nearly all steps of a search are made in what lies close together. */
static void mark_rows(struct symbol_table *table)
{
	table->n_marks = symbol_table_marks(table->n);
	table->marks = xreallocarray(table->marks, table->n_marks, sizeof(*table->marks));
	for (size_t i = 0; i < table->n_marks; i++)
		table->marks[i] = table->v[i * MARKED_ROWS].start;
}

void symbol_table_finish(struct symbol_table *table)
{
	if (!table->n || table->mapped)
		return;
	sort_rows(table);
	keep_one_per_start(table);
	drop_labels_inside(table);
	end_rows(table);
	link_outwards(table);
	mark_rows(table);
}

/* ---- find ---- */

const struct symbol_row *symbol_table_aliases(const struct symbol_table *table, uint64_t start, size_t *n)
{
	size_t at = BISECT(i, 0, table->n_aliases, table->aliases[i].start < start);

	for (*n = 0; at + *n < table->n_aliases && table->aliases[at + *n].start == start;)
		++*n;
	return at < table->n_aliases ? table->aliases + at : NULL; /* of none there is no array */
}

/* How many marks are at or below addr. */
static size_t marks_below(const struct symbol_table *table, uint64_t addr)
{
	return BISECT(i, 0, table->n_marks, table->marks[i] <= addr);
}

const struct symbol_row *symbol_table_find(const struct symbol_table *table, uint64_t addr)
{
	size_t marks = marks_below(table, addr);
	size_t first = marks ? (marks - 1) * MARKED_ROWS + 1 : 0;
	size_t end = marks < table->n_marks ? marks * MARKED_ROWS : table->n;
	size_t above = BISECT(i, first, end, table->v[i].start <= addr);

	for (size_t row1 = above, steps = 0; row1 && row1 <= table->n && steps < OUTER_STEPS_MAX; steps++) {
		const struct symbol_row *row = &table->v[row1 - 1];

		if (addr - row->start < row->size)
			return row;
		row1 = row->outer1;
	}
	return NULL;
}
