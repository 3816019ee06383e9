/* SPDX-License-Identifier: MIT */
/*
 * The other byte order: the fixture's recording is turned into what a big-endian machine would have
 * written, by a table of widths that knows nothing of the code under test, and must read the same.
 */
#include "data_fixture.h"

static void turn(char *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		char c = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = c;
	}
}

/* widths: one digit per number, in order; '.' skips a byte. Returns what follows. */
static char *turn_all(char *p, const char *widths)
{
	for (; *widths; widths++) {
		if (*widths == '.') {
			p++;
			continue;
		}
		turn(p, (size_t)(*widths - '0'));
		p += *widths - '0';
	}
	return p;
}

/* Bit-fields: a big-endian compiler allocates from the top, so the bits of each byte turn round. */
static void turn_flags(char *p)
{
	uint64_t in, out = 0;

	memcpy(&in, p, sizeof(in));
	/* fields of one bit, but precise_ip (bits 15 and 16) keeps its inner order */
	for (unsigned bit = 0; bit < 64; bit++)
		out |= (in >> bit & 1) << (bit == 15 ? 47 : bit == 16 ? 48 : 63 - bit);
	memcpy(p, &out, sizeof(out));
	turn(p, 8);
}

static void turn_attr(char *p)
{
	turn_all(p, "44888");
	turn_all(p + 32, "8");
	turn_flags(p + 40);
	turn_all(p + 48, "44"
			 "8888"
			 "44"
			 "8"
			 "422"
			 "44"
			 "8");
}

/* After the 8 bytes of the header. The trailer of the fixture's events: TID, TIME, CPU, IDENTIFIER. */
static const struct {
	uint32_t type;
	const char *widths;
} layouts[] = {
	{ RECORD_COMM, "44........44"
		       "8"
		       "44"
		       "8" },
	{ RECORD_MMAP2, "44"
			"888"
			"44"
			"88"
			"44"
			"................"
			"44"
			"8"
			"44"
			"8" },
	{ RECORD_FORK, "44448"
		       "44"
		       "8"
		       "44"
		       "8" },
	{ RECORD_EXIT, "44448"
		       "44"
		       "8"
		       "44"
		       "8" },
	{ RECORD_LOST, "88"
		       "44"
		       "8"
		       "44"
		       "8" },
	{ RECORD_SAMPLE, "8"
			 "8"
			 "44"
			 "8"
			 "44"
			 "8"
			 "8"
			 "888" },
	{ RECORD_FINISHED_ROUND, "" },
};

/* HOSTNAME, ARCH: u32 and a text of 64 bytes; CMDLINE: two such texts. */
static void turn_feature(unsigned id, char *p)
{
	switch (id) {
	case FEATURE_NRCPUS:
		turn_all(p, "44");
		return;
	case FEATURE_SAMPLE_TIME:
		turn_all(p, "88");
		return;
	case FEATURE_CMDLINE:
		turn_all(p, "44");
		turn_all(p + 8 + 64, "4");
		return;
	case FEATURE_EVENT_DESC:
		turn_all(p, "44");
		p += 8;
		for (unsigned i = 0; i < 2; i++) {
			turn_attr(p);
			p += sizeof(struct perf_event_attr);
			turn_all(p, "44");
			p += 8 + 64;
			p = turn_all(p, i ? "8" : "88");
		}
		return;
	default:
		turn_all(p, "4");
	}
}

static void turn_record(char *p)
{
	uint32_t type;
	uint64_t feature;

	memcpy(&type, p, 4);
	memcpy(&feature, p + 8, 8);
	turn_all(p, "422");
	if (type == RECORD_HEADER_FEATURE) {
		turn_all(p + 8, "8");
		turn_feature((unsigned)feature, p + 16);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].type == type) {
			turn_all(p + 8, layouts[i].widths);
			return;
		}
	fail_msg("record type %u has no layout in this test", type);
}

static void turn_file(struct str *bytes)
{
	uint64_t head[13], section[2];
	size_t entry, at;
	char *s = bytes->s;

	memcpy(head, s, sizeof(head));
	entry = head[2];
	at = head[5] + head[6]; /* feature table */
	for (unsigned i = 0; i < 64; i++) {
		if (!(head[9] >> i & 1))
			continue;
		memcpy(section, s + at, sizeof(section));
		turn_feature(i, s + section[0]);
		turn_all(s + at, "88");
		at += 16;
	}
	for (at = head[5]; at < head[5] + head[6];) {
		uint16_t size;

		memcpy(&size, s + at + 6, 2);
		turn_record(s + at);
		at += size;
	}
	for (size_t i = 0; i < head[4] / entry; i++) {
		turn_attr(s + 104 + i * entry);
		turn_all(s + 104 + (i + 1) * entry - 16, "88");
	}
	turn_all(s + 104 + head[4], "888");
	turn_all(s, "8888888888888");
}

static void test_same_records(void **state)
{
	struct fix_result native, foreign;
	struct str bytes;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	fix_read(bytes.s, bytes.len, &native);
	turn_file(&bytes);
	assert_memory_equal(bytes.s, "2ELIFREP", 8);
	fix_read(bytes.s, bytes.len, &foreign);
	assert_string_equal(foreign.err.s, "");
	assert_int_equal(foreign.n_notes, 0);
	assert_int_equal(foreign.broken, 0);
	assert_string_equal(foreign.dump.s, native.dump.s);
	fix_result_release(&native);
	fix_result_release(&foreign);
	str_release(&bytes);
}

static void test_header_and_attr(void **state)
{
	const struct evlist_options options = { .verbose = true };
	struct str bytes, err = STR_INIT, native = STR_INIT, foreign = STR_INIT;
	struct reader reader;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	assert_int_equal(reader_open_fd(&reader, fix_memory_file(bytes.s, bytes.len), "x", &err),
			 0);
	events_print(&reader.events, &reader.info, &options, &native);
	info_print(&reader.info, &reader.events, true, &native);
	reader_close(&reader);
	turn_file(&bytes);
	assert_int_equal(reader_open_fd(&reader, fix_memory_file(bytes.s, bytes.len), "x", &err),
			 0);
	assert_true(reader.swap);
	events_print(&reader.events, &reader.info, &options, &foreign);
	info_print(&reader.info, &reader.events, true, &foreign);
	reader_close(&reader);
	assert_string_equal(foreign.s, native.s);
	assert_has(native.s, "precise_ip: 1, sample_id_all: 1");
	str_release(&bytes);
	str_release(&native);
	str_release(&foreign);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_records),
		cmocka_unit_test(test_header_and_attr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
