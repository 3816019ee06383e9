/* SPDX-License-Identifier: MIT */
/* Rows of records through a temporary file: what was put in comes out, in its order, whatever its size. */
#include "profile/sample_spill.h"

#include <cmocka.h>
#include <stdlib.h>

enum { ROWS = 7, RECORDS = 5000 };

/* Times go forth and back, words are of all sizes, and now and then there is a text. */
static struct spill_record record_of(size_t row, size_t i, char *text)
{
	struct spill_record record = {
		.time = 1000000 * row + i * 37 - (i % 5) * 100,
		.word = i % 3 ? i : UINT64_MAX >> i % 64,
	};

	if (i % 11 == 0) {
		record.text_bytes = i % SPILL_TEXT_MAX;
		memset(text, 'a' + (int)(i % 26), record.text_bytes);
		record.text = text;
	}
	return record;
}

static void test_what_goes_in_comes_out(void **state)
{
	struct spill_row rows[ROWS] = { { 0 } };
	char text[SPILL_TEXT_MAX];
	struct str err = STR_INIT;
	struct sample_spill spill;

	(void)state;
	spill_init(&spill);
	for (size_t i = 0; i < RECORDS; i++)
		for (size_t row = 0; row < ROWS; row++) {
			const struct spill_record record = record_of(row, i, text);

			assert_int_equal(spill_add(&spill, &rows[row], &record, &err), 0);
			assert_true(rows[row].n_bytes <= SPILL_BYTES);
		}
	assert_true(spill.fd >= 0);
	for (size_t row = 0; row < ROWS; row++) {
		struct spill_reader reader;
		struct spill_record record;

		assert_int_equal(rows[row].n_records, RECORDS);
		spill_read(&reader, &spill, &rows[row]);
		for (size_t i = 0; i < RECORDS; i++) {
			const struct spill_record expected = record_of(row, i, text);

			assert_int_equal(spill_next(&reader, &record, &err), 1);
			assert_true(record.time == expected.time && record.word == expected.word);
			assert_int_equal(record.text_bytes, expected.text_bytes);
			assert_memory_equal(record.text_bytes ? record.text : "", text, record.text_bytes);
		}
		assert_int_equal(spill_next(&reader, &record, &err), 0);
		assert_int_equal(spill_next(&reader, &record, &err), 0);
		spill_row_release(&rows[row]);
	}
	spill_release(&spill);
	str_release(&err);
}

static void test_little_needs_no_file(void **state)
{
	struct spill_row row = { 0 };
	struct spill_reader reader;
	struct spill_record record = { .time = 5 };
	struct str err = STR_INIT;
	struct sample_spill spill;

	(void)state;
	spill_init(&spill);
	spill_read(&reader, &spill, &row);
	assert_int_equal(spill_next(&reader, &record, &err), 0);
	assert_int_equal(spill_add(&spill, &row, &record, &err), 0);
	assert_int_equal(spill.fd, -1);
	spill_read(&reader, &spill, &row);
	assert_int_equal(spill_next(&reader, &record, &err), 1);
	assert_int_equal(spill_next(&reader, &record, &err), 0);
	spill_row_release(&row);
	spill_release(&spill);
	str_release(&err);
}

static void test_long_texts_are_cut(void **state)
{
	char *text = xcalloc(1, 100000);
	struct spill_record record = { .text = text, .text_bytes = 100000 };
	struct spill_row row = { 0 };
	struct spill_reader reader;
	struct str err = STR_INIT;
	struct sample_spill spill;

	(void)state;
	spill_init(&spill);
	for (int i = 0; i < 5; i++)
		assert_int_equal(spill_add(&spill, &row, &record, &err), 0);
	spill_read(&reader, &spill, &row);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(spill_next(&reader, &record, &err), 1);
		assert_int_equal(record.text_bytes, SPILL_TEXT_MAX);
	}
	assert_int_equal(spill_next(&reader, &record, &err), 0);
	spill_row_release(&row);
	spill_release(&spill);
	str_release(&err);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_goes_in_comes_out),
		cmocka_unit_test(test_little_needs_no_file),
		cmocka_unit_test(test_long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
