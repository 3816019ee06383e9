/* SPDX-License-Identifier: MIT */
/*
 * The index of a .dwp file: the unit's part of each section, and indexes whose numbers are not to be believed. Whole
 * packages are tests/cli/dwarf_package.sh.
 */
#include "sym/dwarf_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SLOTS = 4, HEADER_WORDS = 4, WORDS = 8192 };

/* Two sections, 1 and 3, and one unit, 0x100000001, in the slot of its bits. */
static void fill(uint32_t *words, uint32_t version)
{
	static const uint32_t table[] = { 1, 3, 8, 16, 24, 32 };
	const uint64_t id = 0x100000001;

	memset(words, 0, WORDS * sizeof(*words));
	words[0] = version;
	words[1] = 2;
	words[2] = 1;
	words[3] = SLOTS;
	memcpy(&words[HEADER_WORDS + 2], &id, sizeof(id));
	words[HEADER_WORDS + 2 * SLOTS + 1] = 1;
	memcpy(&words[HEADER_WORDS + 3 * SLOTS], table, sizeof(table));
}

static struct dwarf_cursor bytes_of(const uint32_t *words, size_t n)
{
	const uint8_t *bytes = (const uint8_t *)words;

	return (struct dwarf_cursor){ .at = bytes, .end = bytes + n };
}

static void parts_of_a_unit(void **state)
{
	static const uint32_t versions[] = { 2, 5 };
	static uint32_t words[WORDS];
	static const uint8_t section[64];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct dwarf_cursor part = { .at = section, .end = section + 64 };
		struct dwarf_package_unit unit;

		fill(words, versions[i]);
		assert_true(dwarf_package_find(&unit, bytes_of(words, sizeof(words)), 0x100000001));
		assert_int_equal(unit.version, versions[i]);
		dwarf_package_part(&unit, 3, &part);
		assert_ptr_equal(part.at, section + 16);
		assert_int_equal(cursor_left(&part), 32);
		/* Longer than the section is; a section that the unit has not. */
		part = (struct dwarf_cursor){ .at = section, .end = section + 40 };
		dwarf_package_part(&unit, 3, &part);
		assert_null(part.at);
		part = (struct dwarf_cursor){ .at = section, .end = section + 64 };
		dwarf_package_part(&unit, 2, &part);
		assert_null(part.at);
		assert_false(dwarf_package_find(&unit, bytes_of(words, sizeof(words)), 0x100000002));
		/* Cut within its table. */
		assert_false(dwarf_package_find(&unit, bytes_of(words, 80), 0x100000001));
	}
}

/* So many sections of so many units that their table has 20,480 bytes, by 64 bits: billions of numbers to look at. */
static void sizes_that_wrap(void **state)
{
	static uint32_t words[WORDS];
	struct dwarf_package_unit unit;

	(void)state;
	fill(words, 5);
	words[1] = 2155070464u;
	words[2] = 1069961770u;
	assert_false(dwarf_package_find(&unit, bytes_of(words, sizeof(words)), 0x100000001));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_unit),
		cmocka_unit_test(sizes_that_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
