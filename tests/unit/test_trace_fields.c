/* SPDX-License-Identifier: MIT */
/*
 * Fields of tracepoints: a recording's formats made here, so what they say of a sample's bytes is known. What
 * does not fit its format is refused, and never read beyond its end.
 */
#include "fmt/fmt.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ID = 77, RAW_BYTES = 40, DYNAMIC_AT = 44 };

static const char format[] = "name: wake\n"
			     "ID: 77\n"
			     "format:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
			     "\tfield:short prio;\toffset:16;\tsize:2;\tsigned:1;\n"
			     "\tfield:u16 flags;\toffset:18;\tsize:2;\tsigned:0;\n"
			     "\tfield:int pid;\toffset:20;\tsize:4;\tsigned:1;\n"
			     "\tfield:u64 bytes;\toffset:24;\tsize:8;\tsigned:0;\n"
			     "\tfield:u16 hash[2];\toffset:32;\tsize:4;\tsigned:0;\n"
			     "\tfield:__data_loc char[] name;\toffset:36;\tsize:4;\tsigned:0;\n"
			     "\n"
			     "print fmt: \"comm=%s pid=%d bytes=%llu name=%s\", REC->comm, REC->pid, "
			     "REC->bytes, __get_str(name)\n";

struct made {
	struct str bytes; /* TRACING_DATA */
	struct str raw;
	struct str err, text;
	struct info info;
	struct recording_info recording;
	struct data_event event;
	struct sample sample;
	struct tracepoints *tracepoints;
};

static void put(struct str *out, uint64_t value, size_t n)
{
	str_addn(out, (const char *)&value, n);
}

static void put_sized(struct str *out, const char *text, size_t n)
{
	put(out, n, 8);
	str_addn(out, text, n);
}

/* In the layout that src/record/tracing_data.c draws. */
static void make_tracing_data(struct str *out)
{
	const uint16_t one = 1;

	str_addn(out, "\x17\x08\x44tracing", 10);
	str_addn(out, "0.6", 4);
	put(out, *(const uint8_t *)&one != 1, 1);
	put(out, sizeof(long), 1);
	put(out, 4096, 4);
	str_addn(out, "header_page", 12);
	put_sized(out, "", 0);
	str_addn(out, "header_event", 13);
	put_sized(out, "", 0);
	put(out, 0, 4);
	put(out, 1, 4);
	str_addn(out, "sched", 6);
	put(out, 1, 4);
	put_sized(out, format, strlen(format));
	put(out, 0, 4);
	put(out, 0, 4);
	put(out, 0, 8);
}

static void make_raw(struct str *raw)
{
	put(raw, ID, 2);
	put(raw, 0, 2);
	put(raw, 42, 4);
	str_addn(raw, "sh\x1b\0\0\0\0", 8);
	put(raw, (uint16_t)-5, 2);
	put(raw, 0xfff0, 2);
	put(raw, (uint32_t)-1, 4);
	put(raw, 0xfedcba9876543210, 8);
	str_addn(raw, "\x01\x02\xfe\xff", 4);
	put(raw, DYNAMIC_AT | 6 << 16, 4); /* behind four bytes of padding */
	assert_int_equal(raw->len, RAW_BYTES);
	put(raw, 0, 4);
	str_addn(raw, "worker", 7);
}

static int make(void **state)
{
	struct made *m = xcalloc(1, sizeof(*m));

	*state = m;
	str_init(&m->bytes);
	str_init(&m->raw);
	str_init(&m->err);
	str_init(&m->text);
	make_tracing_data(&m->bytes);
	make_raw(&m->raw);
	m->recording.info = &m->info;
	m->info.tracing_data = (uint8_t *)m->bytes.s;
	m->info.tracing_data_size = m->bytes.len;
	m->event.attr.type = PERF_TYPE_TRACEPOINT;
	m->event.attr.config = ID;
	m->sample.has = PERF_SAMPLE_RAW;
	m->sample.raw = (const uint8_t *)m->raw.s;
	m->sample.raw_size = (uint32_t)m->raw.len;
	return 0;
}

static int unmake(void **state)
{
	struct made *m = *state;

	tracepoints_free(m->tracepoints);
	str_release(&m->bytes);
	str_release(&m->raw);
	str_release(&m->err);
	str_release(&m->text);
	free(m);
	return 0;
}

static void load(struct made *m)
{
	m->tracepoints = tracepoints_new(&m->recording, &m->err);
	if (!m->tracepoints)
		fail_msg("%s", m->err.s);
}

static void test_text(void **state)
{
	struct made *m = *state;

	load(m);
	assert_true(tracepoint_print(m->tracepoints, &m->event, &m->sample, &m->text));
	assert_string_equal(m->text.s,
			    "comm=sh\\x1b pid=-1 bytes=18364758544493064720 name=worker");
}

/* Places are read all at once; one of size 0 is left out, and one behind the sample's end fails. */
static void test_places(void **state)
{
	enum { N = 5, UNTOUCHED = 7 };
	static const char *const names[N] = { "prio", "flags", "pid", NULL, "bytes" };
	static const uint64_t values[N] = { (uint64_t)-5, 0xfff0, (uint64_t)-1, UNTOUCHED, 0xfedcba9876543210 };
	struct tracepoint_place places[N] = { { .size = 0 } };
	uint64_t numbers[N] = { 0, 0, 0, UNTOUCHED, 0 };
	struct made *m = *state;

	load(m);
	for (size_t i = 0; i < N; i++)
		if (names[i])
			assert_true(tracepoint_place(m->tracepoints, &m->event, names[i], &places[i]));
	assert_true(tracepoint_places_read(places, N, &m->sample, numbers));
	assert_memory_equal(numbers, values, sizeof(values));
	m->sample.raw_size = 31; /* of bytes, at 24, one is missing */
	assert_false(tracepoint_places_read(places, N, &m->sample, numbers));
	assert_true(tracepoint_places_read(places, N - 1, &m->sample, numbers));
	assert_false(tracepoint_place_read(&places[3], &m->sample, numbers));
	m->sample.has = 0;
	assert_false(tracepoint_places_read(places, 1, &m->sample, numbers));
}

static void test_values(void **state)
{
	static const struct {
		const char *field, *text;
		bool is_number;
		int64_t number;
	} rows[] = {
		{ "common_pid", "42", true, 42 },
		{ "comm", "sh\\x1b", false, 0 },
		{ "prio", "-5", true, -5 },
		{ "flags", "65520", true, 65520 },
		{ "pid", "-1", true, -1 },
		{ "bytes", "18364758544493064720", true, (int64_t)0xfedcba9876543210 },
		{ "hash", "01 02 fe ff", false, 0 },
		{ "name", "worker", false, 0 },
	};
	struct made *m = *state;

	load(m);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t number = 0;
		bool is_number;

		str_reset(&m->text);
		assert_true(tracepoint_value(m->tracepoints, &m->event, &m->sample, rows[i].field, &m->text,
					     &number, &is_number));
		assert_string_equal(m->text.s, rows[i].text);
		assert_int_equal(is_number, rows[i].is_number);
		assert_int_equal(number, rows[i].number);
	}
}

static void test_fields(void **state)
{
	struct made *m = *state;
	struct tracepoint_field field;
	size_t n;

	load(m);
	n = tracepoint_n_fields(m->tracepoints, &m->event);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++) {
		assert_true(tracepoint_field(m->tracepoints, &m->event, i, &field));
		str_addf(&m->text, "%s%s%s%s%s:%u", i ? " " : "", field.name, field.is_string ? "$" : "",
			 field.is_array ? "[]" : "", field.is_signed ? "-" : "", field.size);
	}
	assert_string_equal(m->text.s, "comm$[]:8 prio-:2 flags:2 pid-:4 bytes:8 hash[]:4 name$[]:4");
	assert_false(tracepoint_field(m->tracepoints, &m->event, n, &field));
}

static bool prints(struct made *m)
{
	int64_t number;
	bool is_number, value;

	str_reset(&m->text);
	value = tracepoint_value(m->tracepoints, &m->event, &m->sample, "pid", &m->text, &number, &is_number);
	str_reset(&m->text);
	assert_int_equal(tracepoint_print(m->tracepoints, &m->event, &m->sample, &m->text), value);
	return value;
}

/* Copies of just so many bytes, so that a sanitizer sees each byte read beyond them. */
static void test_samples_that_do_not_fit(void **state)
{
	struct made *m = *state;

	load(m);
	for (size_t n = 0; n < DYNAMIC_AT + 6; n++) {
		uint8_t *bytes = xmalloc(n ? n : 1);

		memcpy(bytes, m->raw.s, n);
		m->sample.raw = bytes;
		m->sample.raw_size = (uint32_t)n;
		assert_false(prints(m));
		free(bytes);
	}
	m->sample.raw = (const uint8_t *)m->raw.s;
	m->sample.raw_size = DYNAMIC_AT + 6;
	assert_true(prints(m));
	m->raw.s[39] = 0x7f; /* the text's length */
	assert_false(prints(m));
	m->raw.s[39] = 0;
	m->raw.s[0] = ID + 1;
	assert_false(prints(m));
	m->raw.s[0] = ID;
	m->sample.has = 0;
	assert_false(prints(m));
}

static void test_what_is_not_there(void **state)
{
	struct made *m = *state;
	int64_t number;
	bool is_number;

	load(m);
	assert_false(tracepoint_value(m->tracepoints, &m->event, &m->sample, "colour", &m->text, &number,
				      &is_number));
	m->event.index = 1;
	m->event.attr.config = ID + 1;
	assert_int_equal(tracepoint_n_fields(m->tracepoints, &m->event), 0);
	assert_false(tracepoint_print(m->tracepoints, &m->event, &m->sample, &m->text));
	m->event.index = 2;
	m->event.attr.config = ID;
	m->event.attr.type = PERF_TYPE_SOFTWARE;
	assert_int_equal(tracepoint_n_fields(m->tracepoints, &m->event), 0);
}

static void test_no_formats(void **state)
{
	struct made *m = *state;

	m->bytes.s[3] = 'x';
	assert_null(tracepoints_new(&m->recording, &m->err));
	assert_string_equal(m->err.s, "the recording's formats of tracepoints are broken");
	m->info.tracing_data_size = 0;
	str_reset(&m->err);
	assert_null(tracepoints_new(&m->recording, &m->err));
	assert_string_equal(m->err.s, "the recording has no formats of tracepoints");
}

/* Cut anywhere: no crash, and all formats or none of a recording with one. */
static void test_cut_formats(void **state)
{
	struct made *m = *state;

	for (size_t n = 1; n < m->bytes.len; n += 7) {
		uint8_t *bytes = xmalloc(n);
		struct tracepoints *tracepoints;

		memcpy(bytes, m->bytes.s, n);
		m->info.tracing_data = bytes;
		m->info.tracing_data_size = n;
		tracepoints = tracepoints_new(&m->recording, &m->err);
		if (tracepoints)
			assert_int_equal(tracepoint_n_fields(tracepoints, &m->event),
					 n >= m->bytes.len - 16 ? 7 : 0);
		tracepoints_free(tracepoints);
		free(bytes);
	}
	m->info.tracing_data = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, make, unmake),
		cmocka_unit_test_setup_teardown(test_places, make, unmake),
		cmocka_unit_test_setup_teardown(test_values, make, unmake),
		cmocka_unit_test_setup_teardown(test_fields, make, unmake),
		cmocka_unit_test_setup_teardown(test_samples_that_do_not_fit, make, unmake),
		cmocka_unit_test_setup_teardown(test_what_is_not_there, make, unmake),
		cmocka_unit_test_setup_teardown(test_no_formats, make, unmake),
		cmocka_unit_test_setup_teardown(test_cut_formats, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
