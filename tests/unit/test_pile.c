/* Rows of records through a temporary file: what was put in comes out, in its order, whatever its size. */
#include "export/pile.h"

#include <cmocka.h>
#include <stdlib.h>

enum { ROWS = 7, RECORDS = 5000 };

/* Times go forth and back, words are of all sizes, and now and then there is a text. */
static struct pile_record record_of(size_t row, size_t i, char *text)
{
	struct pile_record record = {
		.time = 1000000 * row + i * 37 - (i % 5) * 100,
		.word = i % 3 ? i : UINT64_MAX >> i % 64,
	};

	if (i % 11 == 0) {
		record.text_bytes = i % PILE_TEXT_MAX;
		memset(text, 'a' + (int)(i % 26), record.text_bytes);
		record.text = text;
	}
	return record;
}

static void test_what_goes_in_comes_out(void **state)
{
	struct pile_row rows[ROWS] = { { 0 } };
	char text[PILE_TEXT_MAX];
	struct str err = STR_INIT;
	struct pile pile;

	(void)state;
	pile_init(&pile);
	for (size_t i = 0; i < RECORDS; i++)
		for (size_t row = 0; row < ROWS; row++) {
			const struct pile_record record = record_of(row, i, text);

			assert_int_equal(pile_add(&pile, &rows[row], &record, &err), 0);
			assert_true(rows[row].n_bytes <= PILE_BYTES);
		}
	assert_true(pile.fd >= 0);
	for (size_t row = 0; row < ROWS; row++) {
		struct pile_reader reader;
		struct pile_record record;

		assert_int_equal(rows[row].n_records, RECORDS);
		pile_read(&reader, &pile, &rows[row]);
		for (size_t i = 0; i < RECORDS; i++) {
			const struct pile_record expected = record_of(row, i, text);

			assert_int_equal(pile_next(&reader, &record, &err), 1);
			assert_true(record.time == expected.time && record.word == expected.word);
			assert_int_equal(record.text_bytes, expected.text_bytes);
			assert_memory_equal(record.text_bytes ? record.text : "", text, record.text_bytes);
		}
		assert_int_equal(pile_next(&reader, &record, &err), 0);
		assert_int_equal(pile_next(&reader, &record, &err), 0);
		pile_row_release(&rows[row]);
	}
	pile_release(&pile);
	str_release(&err);
}

static void test_little_needs_no_file(void **state)
{
	struct pile_row row = { 0 };
	struct pile_reader reader;
	struct pile_record record = { .time = 5 };
	struct str err = STR_INIT;
	struct pile pile;

	(void)state;
	pile_init(&pile);
	pile_read(&reader, &pile, &row);
	assert_int_equal(pile_next(&reader, &record, &err), 0);
	assert_int_equal(pile_add(&pile, &row, &record, &err), 0);
	assert_int_equal(pile.fd, -1);
	pile_read(&reader, &pile, &row);
	assert_int_equal(pile_next(&reader, &record, &err), 1);
	assert_int_equal(pile_next(&reader, &record, &err), 0);
	pile_row_release(&row);
	pile_release(&pile);
	str_release(&err);
}

static void test_long_texts_are_cut(void **state)
{
	char *text = xcalloc(1, 100000);
	struct pile_record record = { .text = text, .text_bytes = 100000 };
	struct pile_row row = { 0 };
	struct pile_reader reader;
	struct str err = STR_INIT;
	struct pile pile;

	(void)state;
	pile_init(&pile);
	for (int i = 0; i < 5; i++)
		assert_int_equal(pile_add(&pile, &row, &record, &err), 0);
	pile_read(&reader, &pile, &row);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pile_next(&reader, &record, &err), 1);
		assert_int_equal(record.text_bytes, PILE_TEXT_MAX);
	}
	assert_int_equal(pile_next(&reader, &record, &err), 0);
	pile_row_release(&row);
	pile_release(&pile);
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
