/* SPDX-License-Identifier: MIT */
/*
 * The sorted table of symbols: which name of an address is shown, where symbols end, and which of
 * several that lie in one another an address belongs to. The answers of a large random table are compared
 * with those of a search through all of it.
 */
#include "sym/sym_internal.h"

#include <stdio.h>

#include <cmocka.h>

static struct symbol_table table;

static int set_up(void **state)
{
	(void)state;
	symbol_table_init(&table);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symbol_table_release(&table);
	return 0;
}

static void add(uint64_t start, uint64_t size, const char *name, uint8_t binding)
{
	symbol_table_add(&table, start, size, name, strlen(name), binding);
}

static const char *at(uint64_t addr)
{
	const struct symbol_row *row = symbol_table_find(&table, addr);

	return row ? table.names.s + row->name : "none";
}

static void empty_tables_find_nothing(void **state)
{
	(void)state;
	symbol_table_finish(&table);
	assert_string_equal(at(0), "none");
	assert_string_equal(at(UINT64_MAX), "none");
}

static void symbols_cover_their_size(void **state)
{
	(void)state;
	add(0x2000, 0x10, "second", SYMBOL_GLOBAL);
	add(0x1000, 0x20, "first", SYMBOL_LOCAL);
	symbol_table_finish(&table);
	assert_string_equal(at(0xfff), "none");
	assert_string_equal(at(0x1000), "first");
	assert_string_equal(at(0x101f), "first");
	assert_string_equal(at(0x1020), "none");
	assert_string_equal(at(0x200f), "second");
	assert_string_equal(at(0x2010), "none");
	assert_int_equal(table.v[0].binding, SYMBOL_LOCAL);
	assert_int_equal(table.v[1].binding, SYMBOL_GLOBAL);
}

/* Such as glibc's __syscall_cancel_arch_end, behind the system call in __syscall_cancel_arch. */
static void labels_are_for_code_that_no_symbol_holds(void **state)
{
	(void)state;
	add(0x1000, 0x100, "function", SYMBOL_LOCAL);
	add(0x1080, 0x10, "inner", SYMBOL_LOCAL);
	add(0x1200, 0, "unsized", SYMBOL_GLOBAL);
	symbol_table_add_label(&table, 0x1020, "inside", SYMBOL_GLOBAL);
	symbol_table_add_label(&table, 0x1098, "behind_inner", SYMBOL_GLOBAL);
	symbol_table_add_label(&table, 0x1000, "at_its_start", SYMBOL_GLOBAL);
	symbol_table_add_label(&table, 0x1100, "behind", SYMBOL_LOCAL);
	symbol_table_add_label(&table, 0x1110, "and_another", SYMBOL_LOCAL);
	symbol_table_add_label(&table, 0x1210, "in_no_size", SYMBOL_LOCAL);
	symbol_table_finish(&table);
	assert_string_equal(at(0x1000), "function");
	assert_string_equal(at(0x1020), "function");
	assert_string_equal(at(0x1088), "inner");
	assert_string_equal(at(0x1098), "function");
	assert_string_equal(at(0x10ff), "function");
	assert_string_equal(at(0x1100), "behind");
	assert_string_equal(at(0x110f), "behind");
	assert_string_equal(at(0x1110), "and_another");
	assert_string_equal(at(0x1208), "unsized");
	assert_string_equal(at(0x1210), "in_no_size");
	assert_int_equal(table.n, 6);
}

/* Whichever comes first in the file. perf 6.1 shows the same, but for local before weak, and names with versions. */
static void the_best_of_several_names_is_kept(void **state)
{
	static const struct {
		const char *name;
		uint64_t size;
		uint8_t binding;
	} pairs[][2] = { /* the first of two is the better one */
		{ { "sized_local", 4, SYMBOL_LOCAL }, { "unsized_global_longer", 0, SYMBOL_GLOBAL } },
		{ { "global", 4, SYMBOL_GLOBAL }, { "local_longer", 4, SYMBOL_LOCAL } },
		{ { "global", 4, SYMBOL_GLOBAL }, { "weak_longer", 4, SYMBOL_WEAK } },
		{ { "weak", 4, SYMBOL_WEAK }, { "local_longer", 4, SYMBOL_LOCAL } },
		{ { "plain", 4, SYMBOL_GLOBAL }, { "_one_underscore", 4, SYMBOL_GLOBAL } },
		{ { "_one", 4, SYMBOL_GLOBAL }, { "__two_underscores", 4, SYMBOL_GLOBAL } },
		{ { "free", 4, SYMBOL_GLOBAL }, { "cfree@V1", 4, SYMBOL_GLOBAL } },
		{ { "weak_of_today", 4, SYMBOL_WEAK }, { "global_of_old@V1", 4, SYMBOL_GLOBAL } },
		{ { "sized_of_old@V1", 4, SYMBOL_GLOBAL }, { "unsized", 0, SYMBOL_GLOBAL } },
		{ { "longer@plt", 4, SYMBOL_GLOBAL }, { "short", 4, SYMBOL_GLOBAL } },
		{ { "came1st", 4, SYMBOL_GLOBAL }, { "came2nd", 4, SYMBOL_GLOBAL } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		for (size_t k = 0; k < 2; k++)
			add(0x1000 + 16 * i, pairs[i][k].size, pairs[i][k].name, pairs[i][k].binding);
		for (size_t k = 2; k-- > 0;)
			add(0x8000 + 16 * i, pairs[i][k].size, pairs[i][k].name, pairs[i][k].binding);
	}
	symbol_table_finish(&table);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		assert_string_equal(at(0x1000 + 16 * i), pairs[i][0].name);
		assert_string_equal(at(0x8000 + 16 * i), pairs[i][0].name);
	}
}

static void symbols_without_a_size_end_at_the_next(void **state)
{
	(void)state;
	add(0x1000, 0, "label", SYMBOL_LOCAL);
	add(0x1100, 8, "function", SYMBOL_GLOBAL);
	add(0x1234, 0, "last", SYMBOL_LOCAL);
	symbol_table_finish(&table);
	assert_string_equal(at(0x10ff), "label");
	assert_string_equal(at(0x1100), "function");
	assert_string_equal(at(0x1108), "none");
	/* A page after its page's end, as perf does. */
	assert_string_equal(at(0x2fff), "last");
	assert_string_equal(at(0x3000), "none");
}

static void inner_symbols_win_and_then_the_outer_goes_on(void **state)
{
	(void)state;
	add(0x1000, 0x1000, "outer", SYMBOL_GLOBAL);
	add(0x1100, 0x100, "middle", SYMBOL_GLOBAL);
	add(0x1110, 0x10, "inner", SYMBOL_GLOBAL);
	add(0x1180, 0x200, "over_the_end", SYMBOL_GLOBAL);
	add(0x1800, 0x10, "later", SYMBOL_GLOBAL);
	symbol_table_finish(&table);
	assert_string_equal(at(0x10ff), "outer");
	assert_string_equal(at(0x110f), "middle");
	assert_string_equal(at(0x111f), "inner");
	assert_string_equal(at(0x1120), "middle");
	assert_string_equal(at(0x1200), "over_the_end");
	assert_string_equal(at(0x1380), "outer");
	assert_string_equal(at(0x180f), "later");
	assert_string_equal(at(0x1810), "outer");
	assert_string_equal(at(0x2000), "none");
}

static void sizes_do_not_wrap(void **state)
{
	(void)state;
	add(UINT64_MAX - 15, UINT64_MAX, "huge", SYMBOL_GLOBAL);
	add(UINT64_MAX - 3, 0, "end", SYMBOL_GLOBAL);
	symbol_table_finish(&table);
	assert_string_equal(at(0), "none");
	assert_string_equal(at(UINT64_MAX - 15), "huge");
	assert_string_equal(at(UINT64_MAX - 1), "end");
}

static void names_are_copied_up_to_a_nul(void **state)
{
	static const char text[] = "four\0hidden";

	(void)state;
	symbol_table_add(&table, 1, 1, text, 2, SYMBOL_GLOBAL);
	symbol_table_add(&table, 2, 1, text, sizeof(text), SYMBOL_GLOBAL);
	symbol_table_finish(&table);
	assert_string_equal(at(1), "fo");
	assert_string_equal(at(2), "four");
}

/* ---- a large table against a search through all of it ---- */

enum { MANY = 3000, LOOK_UPS = 3000, SPREAD = 40000 };

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static const char *searched(const uint64_t *starts, const uint64_t *ends, char (*names)[24],
			    uint64_t addr)
{
	const char *best = "none";
	uint64_t start = 0;

	for (size_t i = 0; i < MANY; i++)
		if (starts[i] <= addr && addr < ends[i] && starts[i] >= start) {
			best = names[i];
			start = starts[i];
		}
	return best;
}

static void many_symbols_are_found_as_by_a_full_search(void **state)
{
	static uint64_t starts[MANY], ends[MANY];
	static char names[MANY][24];
	uint64_t seed = 42;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		/* Starts are distinct; every eighth symbol is long enough to hold others. */
		starts[i] = (UINT64_C(0xffffffff) << 32) + i * SPREAD / MANY * 8 + i % 2 * 4;
		ends[i] = starts[i] + 1 + next_random(&seed) % (i % 8 ? 100 : 2000);
		snprintf(names[i], sizeof(names[i]), "symbol_%zu", i);
	}
	for (size_t i = 0; i < MANY; i++) {
		size_t k = i * 1009 % MANY; /* 1009 is prime: each once, in no order */

		add(starts[k], ends[k] - starts[k], names[k], SYMBOL_GLOBAL);
	}
	symbol_table_finish(&table);
	assert_int_equal(table.n, MANY);
	for (size_t i = 0; i < LOOK_UPS; i++) {
		uint64_t addr = starts[0] + next_random(&seed) % (8 * SPREAD + 4000);

		assert_string_equal(at(addr), searched(starts, ends, names, addr));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(empty_tables_find_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(symbols_cover_their_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(labels_are_for_code_that_no_symbol_holds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_best_of_several_names_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(symbols_without_a_size_end_at_the_next, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(inner_symbols_win_and_then_the_outer_goes_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(sizes_do_not_wrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_are_copied_up_to_a_nul, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_symbols_are_found_as_by_a_full_search, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
