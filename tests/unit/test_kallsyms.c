/* SPDX-License-Identifier: MIT */
/* The kernel's list of symbols: which lines count, modules, names of one address, hidden addresses. */
#include "sym/kallsyms.h"

#include "unit/fake_machine.h"

#include <errno.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct symbol_table table;
static bool zeroed;
static size_t n_taken;

static int set_up(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	symbol_table_init(&table);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symbol_table_release(&table);
	fake_machine_release(&machine);
	return 0;
}

/* Names of only_module, or of the kernel itself. */
static void take(void *context, const struct kallsyms_symbol *symbol)
{
	const char *only_module = context;

	if (symbol->module_len == (only_module ? strlen(only_module) : 0) &&
	    (!only_module || !memcmp(symbol->module, only_module, symbol->module_len)))
		kallsyms_add(&table, symbol), n_taken++;
}

static int read_text(const char *text, const char *module)
{
	char *path = xasprintf("%s/list", machine.root);
	struct str err = STR_INIT;
	int rc;

	fake_machine_file(&machine, "list", text);
	n_taken = 0;
	rc = kallsyms_each(path, take, (void *)(uintptr_t)module, &zeroed, &err);
	str_release(&err);
	free(path);
	symbol_table_finish(&table);
	return rc;
}

static const char *at(uint64_t addr)
{
	const struct symbol_row *row = symbol_table_find(&table, addr);

	return row ? table.names.s + row->name : "none";
}

static const char list[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t local_one\n"
			   "ffffffff81000200 W weak_one\n"
			   "ffffffff81000300 r constant\n"
			   "ffffffff81000400 D data_one\n"
			   "ffffffff81000500 A absolute\n"
			   "ffffffff81000600 t $x\n"
			   "ffffffffc0201000 t ext4_read\t[ext4]\n"
			   "ffffffffc0201100 t ext4_write\t[ext4]\n"
			   "ffffffffc0301000 t xfs_read\t[xfs]\n"
			   "garbage\n"
			   "ffffffff81000700\n"
			   "\n"
			   "ffffffff81000800 T\n"
			   "ffffffff81000800 T \n"
			   "10000000081000800 T too_many_digits\n"
			   "ffffffff81000900 T last";

static void functions_and_data_of_the_kernel(void **state)
{
	(void)state;
	assert_int_equal(read_text(list, NULL), 0);
	assert_int_equal(n_taken, 6);
	assert_false(zeroed);
	assert_int_equal(table.n, 5);
	assert_string_equal(at(0xffffffff81000000),
			    "_text"); /* the last of one address, as in perf */
	assert_string_equal(at(0xffffffff810000ff), "_text");
	assert_string_equal(at(0xffffffff81000100), "local_one");
	assert_string_equal(at(0xffffffff810003ff), "weak_one"); /* up to the next that counts */
	assert_string_equal(at(0xffffffff810008ff), "data_one");
	assert_string_equal(at(0xffffffff81000950), "last");
	assert_string_equal(at(0xffffffff80ffffff), "none");
	assert_string_equal(at(0xffffffffc0201000), "none");
	assert_int_equal(symbol_table_find(&table, 0xffffffff81000000)->binding, SYMBOL_GLOBAL);
	assert_int_equal(symbol_table_find(&table, 0xffffffff81000100)->binding, SYMBOL_LOCAL);
	assert_int_equal(symbol_table_find(&table, 0xffffffff81000200)->binding, SYMBOL_WEAK);
}

static void functions_of_one_module(void **state)
{
	(void)state;
	assert_int_equal(read_text(list, "ext4"), 0);
	assert_int_equal(n_taken, 2);
	assert_string_equal(at(0xffffffffc0201000), "ext4_read");
	assert_string_equal(at(0xffffffffc0201100), "ext4_write");
	assert_string_equal(at(0xffffffffc0301000), "none");
	assert_string_equal(at(0xffffffff81000000), "none");
}

static void hidden_addresses_are_noticed(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("0000000000000000 T _stext\n0000000000000000 t x\t[ext4]\n", NULL), 0);
	assert_true(zeroed);
	assert_int_equal(table.n, 0);
	assert_int_equal(read_text("", NULL), 0);
	assert_false(zeroed);
}

static void a_long_line_is_left_out(void **state)
{
	struct str text = STR_INIT;

	(void)state;
	str_add(&text, "ffffffff81000000 T first\nffffffff81000100 T ");
	str_pad(&text, 'x', 1 << 20);
	str_add(&text, "\nffffffff81000200 T second\n");
	assert_int_equal(read_text(text.s, NULL), 0);
	assert_int_equal(table.n, 2);
	assert_string_equal(at(0xffffffff81000150), "first");
	assert_string_equal(at(0xffffffff81000200), "second");
	str_release(&text);
}

static void a_missing_list_is_an_error(void **state)
{
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(kallsyms_each("/nowhere/kallsyms", take, NULL, &zeroed, &err), -ENOENT);
	assert_string_equal(err.s, "/nowhere/kallsyms: no such file");
	str_release(&err);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(functions_and_data_of_the_kernel), TEST(functions_of_one_module),
		TEST(hidden_addresses_are_noticed),     TEST(a_long_line_is_left_out),
		TEST(a_missing_list_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
