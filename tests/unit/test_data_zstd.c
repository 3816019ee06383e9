/* SPDX-License-Identifier: MIT */
/* Packed recordings: 81 as the writer makes it, 83 put together here, records that straddle, bombs. */
#include "data_fixture.h"

static bool have_zstd(void)
{
	struct zstd_out *out = NULL;
	struct str err = STR_INIT;
	int rc = zstd_out_new(&out, 1, &err);

	zstd_out_free(out);
	str_release(&err);
	return !rc;
}

#define NEED_ZSTD()                                                                                \
	do {                                                                                       \
		(void)state;                                                                       \
		if (!have_zstd()) {                                                                \
			print_message("needs libzstd.so.1\n");                                     \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* flush_bytes of 1 makes a COMPRESSED record for each record. */
static void test_round_trip(void **state)
{
	struct fix_result plain, packed;
	struct str bytes;

	NEED_ZSTD();
	fix_recording((struct writer_options){ 0 }, &bytes);
	fix_read(bytes.s, bytes.len, &plain);
	str_release(&bytes);
	for (size_t flush = 0; flush < 2; flush++) {
		fix_recording((struct writer_options){ .zstd_level = 3, .flush_bytes = flush },
			      &bytes);
		fix_read(bytes.s, bytes.len, &packed);
		assert_int_equal(packed.next_rc, 0);
		assert_int_equal(packed.broken, 0);
		assert_int_equal(packed.samples, plain.samples);
		assert_int_equal(packed.rounds, plain.rounds);
		assert_has(packed.dump.s, "+0x");
		assert_has(packed.dump.s, "r-xp /bin/spin\n");
		assert_has(packed.dump.s, "PERF_RECORD_COMPRESSED");
		fix_result_release(&packed);
		str_release(&bytes);
	}
	fix_result_release(&plain);
}

/*
 * A recorder that is killed after a flush leaves no feature table. Readers need COMPRESSED before they unpack, so it is
 * a record that is not packed itself.
 */
static void test_killed_before_its_end(void **state)
{
	struct writer_options options = { .zstd_level = 3 };
	struct writer writer;
	struct reader reader;
	struct record record;
	struct events events;
	struct info info;
	struct str err = STR_INIT;
	unsigned samples = 0, features = 0;
	char path[256];

	NEED_ZSTD();
	fix_path(path, sizeof(path), "killed");
	options.path = path;
	fix_events(&events);
	fix_info(&info);
	assert_int_equal(writer_open(&writer, &options, &events, &info, &err), 0);
	fix_write(&writer, &events);
	assert_int_equal(writer_flush(&writer, &err), 0);
	writer_close(&writer);

	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_false(info_has(&reader.info, FEATURE_COMPRESSED));
	while (reader_next(&reader, &record, &err) > 0) {
		if (record.type == RECORD_COMPRESSED)
			assert_true(info_has(&reader.info, FEATURE_COMPRESSED));
		if (record.type == RECORD_HEADER_FEATURE) {
			assert_false(record.compressed);
			features++;
		}
		samples += record.type == RECORD_SAMPLE && record.compressed;
	}
	assert_string_equal(err.s, "");
	assert_true(features > 0);
	assert_int_equal(samples, FIX_SAMPLES);
	assert_true(reader.info.comp_chunk_bytes > 0);
	reader_close(&reader);
	unlink(path);
	events_release(&events);
	info_release(&info);
	str_release(&err);
}

/* A pipe recording whose data are the given packed bytes, cut into records at `cut`. */
static void packed_pipe(struct str *out, const struct str *packed, size_t cut, uint32_t type)
{
	struct str head;
	size_t at;

	fix_recording((struct writer_options){ .pipe = true }, &head);
	at = fix_find(&head, RECORD_COMM, 0);
	str_addn(out, head.s, at);
	for (size_t k = 0; k < packed->len; k += cut) {
		size_t n = packed->len - k < cut ? packed->len - k : cut;
		size_t size = type == RECORD_COMPRESSED ? 8 + n : (16 + n + 7) / 8 * 8;
		uint64_t head_words[2] = { type | (uint64_t)size << 48, n };
		size_t head_bytes = type == RECORD_COMPRESSED ? 8 : 16;

		str_addn(out, (const char *)head_words, head_bytes);
		str_addn(out, packed->s + k, n);
		str_pad(out, '\0', size - head_bytes - n);
	}
	str_release(&head);
}

static void pack(const struct str *bytes, struct str *packed)
{
	struct zstd_out *out;
	struct str err = STR_INIT;

	assert_int_equal(zstd_out_new(&out, 3, &err), 0);
	assert_int_equal(zstd_out_add(out, bytes->s, bytes->len, packed, &err), 0);
	zstd_out_free(out);
	str_release(&err);
}

/* Cut at every length, both record types, through files and pipes. */
static void test_straddling(void **state)
{
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };
	struct str records, packed = STR_INIT;
	struct str plain;
	size_t at;

	NEED_ZSTD();
	fix_recording((struct writer_options){ .pipe = true }, &plain);
	at = fix_find(&plain, RECORD_COMM, 0);
	str_init(&records);
	str_addn(&records, plain.s + at, plain.len - at);
	pack(&records, &packed);
	for (size_t cut = 1; cut < packed.len + 1; cut += 7) {
		struct fix_result r;
		struct str bytes = STR_INIT;

		packed_pipe(&bytes, &packed, cut, types[cut % 2]);
		if (cut % 3)
			fix_read(bytes.s, bytes.len, &r);
		else
			fix_read_pipe(bytes.s, bytes.len, &r);
		assert_string_equal(r.err.s, "");
		assert_int_equal(r.samples, FIX_SAMPLES);
		assert_int_equal(r.rounds, 1);
		assert_string_equal(r.missing.s, "");
		fix_result_release(&r);
		/* Without its last byte: a sentence. */
		fix_read(bytes.s, bytes.len - 1, &r);
		assert_true(r.missing.len > 0);
		fix_result_release(&r);
		str_release(&bytes);
	}
	str_release(&packed);
	str_release(&records);
	str_release(&plain);
}

/* The reader refuses it with these words. Records that came before are not decoded: there are millions of them. */
static void refused(const struct str *packed, const char *why)
{
	struct str bytes = STR_INIT, err = STR_INIT;
	struct reader reader;
	struct record record;
	int rc;

	packed_pipe(&bytes, packed, 60000, RECORD_COMPRESSED);
	assert_int_equal(reader_open_fd(&reader, fix_memory_file(bytes.s, bytes.len), "input", &err), 0);
	while ((rc = reader_next(&reader, &record, &err)) > 0)
		;
	assert_int_equal(rc, -EINVAL);
	assert_has(err.s, why);
	reader_close(&reader);
	str_release(&err);
	str_release(&bytes);
}

/* Packs the text again and again, up to this many bytes. */
static void pack_many(const struct str *text, size_t bytes, struct str *packed)
{
	struct str many = STR_INIT;

	while (many.len < bytes)
		str_addn(&many, text->s, text->len);
	str_reset(packed);
	pack(&many, packed);
	str_release(&many);
}

/* Zeros end at once (a record of size 0); what is far smaller packed than any recording is refused. */
static void test_bombs(void **state)
{
	struct str text = STR_INIT, packed = STR_INIT, ignored = STR_INIT;
	struct record_body round = { .type = RECORD_FINISHED_ROUND };

	NEED_ZSTD();
	str_pad(&text, '\0', 1 << 20);
	pack(&text, &packed);
	refused(&packed, "its size is 0");

	/* The smallest record, millions of times: few bytes, much work. */
	str_reset(&text);
	record_encode(&round, NULL, &text, &ignored);
	pack_many(&text, 5u << 23, &packed);
	refused(&packed, "it unpacks to more than 4 records for each of its bytes: refused");

	/* One large record, many times: more than is allowed whatever the size, and for this size. */
	memcpy(text.s + 6, "\xf8\xff", 2);
	str_pad(&text, 'x', 0xfff8 - 8);
	pack_many(&text, 200u << 20, &packed);
	assert_true(packed.len < 60000);
	refused(&packed, "COMPRESSED (81): it unpacks to more than 4096 times its size: refused");
	str_release(&text);
	str_release(&packed);
	str_release(&ignored);
}

static void test_damaged(void **state)
{
	struct str bytes;
	struct fix_result r;
	size_t at;

	NEED_ZSTD();
	fix_recording((struct writer_options){ .zstd_level = 3 }, &bytes);
	at = fix_find(&bytes, RECORD_COMPRESSED, 0);
	bytes.s[at + 8] ^= 0x55;
	fix_read(bytes.s, bytes.len, &r);
	assert_int_equal(r.next_rc, -EINVAL);
	assert_has(r.err.s, "COMPRESSED (81): zstd: ");
	fix_result_release(&r);
	str_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_killed_before_its_end),
		cmocka_unit_test(test_straddling),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
