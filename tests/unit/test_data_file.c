/* SPDX-License-Identifier: MIT */
/* The reader on whole, cut and spoilt files: what can be read is read, the rest is named by its place. */
#include "data_fixture.h"

static void test_whole(void **state)
{
	struct fix_result r;
	struct str bytes;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	fix_read(bytes.s, bytes.len, &r);
	assert_int_equal(r.open_rc, 0);
	assert_int_equal(r.next_rc, 0);
	assert_int_equal(r.broken, 0);
	assert_int_equal(r.samples, FIX_SAMPLES);
	assert_int_equal(r.rounds, 1);
	assert_string_equal(r.missing.s, "");
	assert_int_equal(r.n_notes, 0);
	assert_has(r.dump.s, "PERF_RECORD_COMM exec: spin:42/42\n");
	assert_has(r.dump.s, ": [0x400000(0x2000) @ 0x1000 08:01 77 0]: r-xp /bin/spin\n");
	assert_has(r.dump.s, "PERF_RECORD_FORK(43:43):(42:42)\n");
	assert_has(r.dump.s, "PERF_RECORD_LOST id 101, lost 5\n");
	assert_has(r.dump.s, "PERF_RECORD_SAMPLE(IP, 0x2): 42/42: 0x401000 period: 1000 addr: 0\n");
	assert_has(r.dump.s, "... FP chain: nr:3\n.....  0: fffffffffffffe00\n");
	assert_has(r.dump.s, "event: page-faults\n");
	fix_result_release(&r);
	str_release(&bytes);
}

/* Each length up to the whole: an error, or every record that is whole and a sentence about the rest. */
static void test_every_length(void **state)
{
	unsigned last = 0;
	struct str bytes;
	struct fix_result r;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	for (size_t n = 0; n < bytes.len; n++) {
		fix_read(bytes.s, n, &r);
		if (r.open_rc) {
			assert_true(r.err.len > 0);
			assert_int_equal(r.records, 0);
		} else {
			assert_int_equal(r.broken, 0);
			assert_true(r.records >= last);
			assert_true(r.missing.len > 0 || r.n_notes > 0);
			last = r.records;
		}
		fix_result_release(&r);
	}
	fix_read(bytes.s, bytes.len, &r);
	assert_int_equal(r.records, last);
	fix_result_release(&r);
	str_release(&bytes);
}

static void test_every_pipe_length(void **state)
{
	unsigned last = 0;
	struct fix_result r, p;
	struct str bytes;

	(void)state;
	fix_recording((struct writer_options){ .pipe = true }, &bytes);
	for (size_t n = 0; n <= bytes.len; n += 3) {
		fix_read_pipe(bytes.s, n, &p);
		fix_read(bytes.s, n, &r);
		assert_int_equal(p.open_rc, r.open_rc);
		assert_int_equal(p.records, r.records);
		assert_string_equal(p.missing.s, r.missing.s);
		assert_true(p.records >= last);
		last = p.records;
		fix_result_release(&p);
		fix_result_release(&r);
	}
	fix_read_pipe(bytes.s, bytes.len, &p);
	assert_int_equal(p.samples, FIX_SAMPLES);
	assert_has(p.dump.s, "event: page-faults\n");
	fix_result_release(&p);
	str_release(&bytes);
}

/* Every bit of the header and of the attrs turned once: no crash, and errors have a sentence. */
static void test_header_bits(void **state)
{
	struct fix_result r;
	struct str bytes;
	size_t end;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	end = 104 + 2 * (sizeof(struct perf_event_attr) + 16) + 24;
	for (size_t i = 0; i < end * 8; i++) {
		bytes.s[i / 8] ^= (char)(1 << i % 8);
		fix_read(bytes.s, bytes.len, &r);
		if (r.open_rc || r.next_rc < 0)
			assert_true(r.err.len > 0);
		fix_result_release(&r);
		bytes.s[i / 8] ^= (char)(1 << i % 8);
	}
	str_release(&bytes);
}

static void put16(struct str *bytes, size_t at, uint16_t v)
{
	memcpy(bytes->s + at, &v, sizeof(v));
}

static void put64(struct str *bytes, size_t at, uint64_t v)
{
	memcpy(bytes->s + at, &v, sizeof(v));
}

static void test_record_size_0(void **state)
{
	struct fix_result r;
	struct str bytes;
	char place[64];
	size_t at;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	at = fix_find(&bytes, RECORD_FORK, 0);
	put16(&bytes, at + 6, 0);
	fix_read(bytes.s, bytes.len, &r);
	assert_int_equal(r.next_rc, -EINVAL);
	snprintf(place, sizeof(place), "at offset %#zx: FORK (7): its size is 0", at);
	assert_has(r.err.s, place);
	assert_has(r.dump.s, "MMAP2");
	fix_result_release(&r);
	str_release(&bytes);
}

/* A recorder that was killed: data size 0, or kept current but without features. */
static void test_killed(void **state)
{
	static const char zeros[32];
	struct fix_result r;
	struct str bytes;
	uint64_t data[2];
	unsigned all;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	memcpy(data, bytes.s + 40, sizeof(data));
	fix_read(bytes.s, bytes.len, &r);
	all = r.records;
	fix_result_release(&r);
	memcpy(bytes.s + 72, zeros, 32);
	bytes.len = data[0] + data[1];
	for (int zero = 0; zero < 2; zero++) {
		put64(&bytes, 48, zero ? 0 : data[1]);
		fix_read(bytes.s, bytes.len, &r);
		assert_int_equal(r.open_rc, 0);
		assert_int_equal(r.next_rc, 0);
		assert_int_equal(r.records, all);
		assert_has(r.note, "the recorder did not finish");
		fix_result_release(&r);
	}
	str_release(&bytes);
}

/* What was read of a recording whose header has a data size and no features yet. */
static void assert_data_alone(const struct str *bytes, size_t n, unsigned records, const char *dump)
{
	struct fix_result r;

	fix_read(bytes->s, n, &r);
	assert_string_equal(r.err.s, "");
	assert_int_equal(r.open_rc, 0);
	assert_int_equal(r.next_rc, 0);
	assert_int_equal(r.records, records);
	assert_int_equal(r.broken, 0);
	assert_string_equal(r.missing.s, "");
	assert_string_equal(r.dump.s, dump);
	assert_int_equal(r.n_notes, 1);
	assert_has(r.note, "the recorder did not finish");
	fix_result_release(&r);
}

/*
 * Killed while the features are written behind the data: the data size is true whatever follows. At every byte of
 * them the rest is missing, or is there as zeros, and each may lie behind random bytes.
 */
static void killed_at_every_byte(struct writer_options options)
{
	static const char zeros[32];
	struct fix_result whole;
	uint64_t data[2];
	struct str bytes, torn = STR_INIT;
	size_t end;

	fix_recording(options, &bytes);
	fix_read(bytes.s, bytes.len, &whole);
	assert_int_equal(whole.samples, FIX_SAMPLES);
	memcpy(data, bytes.s + 40, sizeof(data));
	end = data[0] + data[1];
	assert_true(bytes.len > end + 100);
	memcpy(bytes.s + 72, zeros, sizeof(zeros));
	for (size_t n = end; n <= bytes.len; n++) {
		assert_data_alone(&bytes, n, whole.records, whole.dump.s);
		str_reset(&torn);
		str_addn(&torn, bytes.s, n);
		str_pad(&torn, n % 2 ? '\0' : '\xa5', bytes.len - n);
		assert_data_alone(&torn, torn.len, whole.records, whole.dump.s);
	}
	str_release(&torn);
	str_release(&bytes);
	fix_result_release(&whole);
}

static void test_killed_in_features(void **state)
{
	(void)state;
	killed_at_every_byte((struct writer_options){ 0 });
}

static void test_killed_in_features_packed(void **state)
{
	struct zstd_out *out = NULL;
	struct str err = STR_INIT;
	int rc = zstd_out_new(&out, 3, &err);

	(void)state;
	zstd_out_free(out);
	str_release(&err);
	if (rc) {
		print_message("needs libzstd.so.1\n");
		skip();
	}
	killed_at_every_byte((struct writer_options){ .zstd_level = 3 });
}

/* The header's bits came to the disk, and not all of the features that they name (the machine went down). */
static void test_torn_features(void **state)
{
	struct fix_result r;
	uint64_t data[2];
	struct str bytes;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	memcpy(data, bytes.s + 40, sizeof(data));
	for (size_t n = bytes.len; n-- > data[0] + data[1];) {
		bytes.s[n] = 0;
		fix_read(bytes.s, bytes.len, &r);
		assert_string_equal(r.err.s, "");
		assert_int_equal(r.samples, FIX_SAMPLES);
		assert_string_equal(r.missing.s, "");
		fix_result_release(&r);
	}
	fix_read(bytes.s, bytes.len, &r);
	assert_has(r.note, "feature HOSTNAME (3): ");
	fix_result_release(&r);
	str_release(&bytes);
}

static void test_not_perf_data(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
	} cases[] = {
		{ "", 0, "is empty" },
		{ "PERFILE2", 8, "only 8 bytes" },
		{ "\x7f"
		  "ELF and more of it",
		  18, "does not begin with PERFILE2" },
		{ "PERFFILE12345678", 16, "before 2010" },
		{ "PERFILE2\x09\0\0\0\0\0\0\0", 16, "header" },
		{ "PERFILE2\x68\0\0\0\0\0\0\0", 16, "ends inside its header" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fix_result r;

		fix_read(cases[i].bytes, cases[i].n, &r);
		assert_int_equal(r.open_rc, -EINVAL);
		assert_has(r.err.s, cases[i].says);
		fix_result_release(&r);
	}
}

/* Offset of the i-th section in the feature table. */
static size_t feature_section(const struct str *bytes, unsigned i)
{
	uint64_t data[2];

	memcpy(data, bytes->s + 40, sizeof(data));
	return data[0] + data[1] + 16 * i;
}

static void test_features_outside_and_overlapping(void **state)
{
	static const struct {
		uint64_t offset, size;
		const char *says;
	} cases[] = {
		{ 1 << 30, 16,
		  "feature HOSTNAME (3): its section (offset 0x40000000, 16 bytes) is "
		  "outside the file" },
		{ 104, UINT64_MAX, "is outside the file" },
		{ UINT64_MAX, 16, "is outside the file" },
	};
	struct fix_result r;
	struct str bytes;
	size_t first;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	first = feature_section(&bytes, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put64(&bytes, first, cases[i].offset);
		put64(&bytes, first + 8, cases[i].size);
		fix_read(bytes.s, bytes.len, &r);
		assert_int_equal(r.open_rc, 0);
		assert_int_equal(r.samples, FIX_SAMPLES);
		assert_has(r.note, cases[i].says);
		fix_result_release(&r);
	}
	/* The second feature where the first one is. */
	str_release(&bytes);
	fix_recording((struct writer_options){ 0 }, &bytes);
	memcpy(bytes.s + first + 16, bytes.s + first, 16);
	fix_read(bytes.s, bytes.len, &r);
	assert_has(r.note, "feature ARCH (6)");
	assert_has(r.note, "lies over another one");
	fix_result_release(&r);
	str_release(&bytes);
}

static void test_ids_overlap(void **state)
{
	size_t entry = sizeof(struct perf_event_attr) + 16;
	struct fix_result r;
	struct str bytes;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	for (unsigned i = 0; i < 2; i++) {
		put64(&bytes, 104 + (i + 1) * entry - 16, 0);
		put64(&bytes, 104 + (i + 1) * entry - 8, bytes.len / 8 * 8);
	}
	fix_read(bytes.s, bytes.len, &r);
	assert_int_equal(r.open_rc, -EINVAL);
	assert_has(r.err.s, "ids of several events overlap");
	fix_result_release(&r);
	str_release(&bytes);
}

static void test_folder_and_missing_file(void **state)
{
	struct str bytes, err = STR_INIT;
	struct reader reader;
	struct record record;
	char folder[256], file[300];
	unsigned samples = 0;
	size_t at;
	int fd;

	(void)state;
	fix_recording((struct writer_options){ 0 }, &bytes);
	at = fix_find(&bytes, RECORD_SAMPLE, 0);
	fix_path(folder, sizeof(folder), "folder");
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(file, sizeof(file), "%s/data", folder);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write_all(fd, bytes.s, bytes.len), 0);
	close(fd);
	snprintf(file, sizeof(file), "%s/data.0", folder);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write_all(fd, bytes.s + at, 2 * (*(uint16_t *)(void *)(bytes.s + at + 6))),
			 0);
	close(fd);

	assert_int_equal(reader_open(&reader, folder, &err), 0);
	assert_int_equal(reader.n_streams, 2);
	while (reader_next(&reader, &record, &err) > 0)
		samples += record.type == RECORD_SAMPLE;
	assert_int_equal(samples, FIX_SAMPLES + 2);
	reader_close(&reader);

	unlink(file);
	snprintf(file, sizeof(file), "%s/data", folder);
	unlink(file);
	assert_int_equal(reader_open(&reader, folder, &err), -ENOENT);
	assert_has(err.s, "/data: No such file");
	reader_close(&reader);
	rmdir(folder);
	str_release(&err);
	str_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_every_pipe_length),
		cmocka_unit_test(test_header_bits),
		cmocka_unit_test(test_record_size_0),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_killed_in_features),
		cmocka_unit_test(test_killed_in_features_packed),
		cmocka_unit_test(test_torn_features),
		cmocka_unit_test(test_not_perf_data),
		cmocka_unit_test(test_features_outside_and_overlapping),
		cmocka_unit_test(test_ids_overlap),
		cmocka_unit_test(test_folder_and_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
