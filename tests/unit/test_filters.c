/* SPDX-License-Identifier: MIT */
/* Filters: what texts mean, what they take, and what is said about wrong ones. */
#include "session_fixture.h"

/* ---- time ---- */

/* "START-END" of each range, in ns; "wrong: " and the sentence. 10 s to 20 s is the recording. */
static void expect_time(const char *text, const char *expected)
{
	struct time_ranges ranges = { .n = 0 };
	struct str out = STR_INIT, err = STR_INIT;

	if (time_ranges_parse(&ranges, text, 10000000000, 20000000000, &(struct info){ 0 }, &err))
		str_addf(&out, "wrong");
	for (size_t i = 0; i < ranges.n && !err.len; i++)
		str_addf(&out, "%s%llu-%lld", i ? " " : "",
			 (unsigned long long)ranges.v[i].start_ns, (long long)ranges.v[i].end_ns);
	assert_string_equal(out.s, expected);
	assert_int_equal(err.len > 0, !strcmp(expected, "wrong"));
	assert_true(!err.len || strstr(err.s, "--time"));
	str_release(&out);
	str_release(&err);
	time_ranges_release(&ranges);
}

static void seconds(void **state)
{
	(void)state;
	expect_time("1.5,2.25", "1500000000-2250000000");
	expect_time("1,", "1000000000--1");
	expect_time(",2", "0-2000000000");
	expect_time(",", "0--1");
	expect_time(".5,1.", "500000000-1000000000");
	expect_time("1,2 3,4", "1000000000-2000000000 3000000000-4000000000");
	expect_time(" 1, 2  3,", "1000000000-2000000000 3000000000--1");
	expect_time("0.123456789,1", "123456789-1000000000");
	/* More seconds than a clock of ns can have are the end of all time, whatever follows the point. */
	expect_time("0, 18446744074", "0--1");
	expect_time("1,99999999999999999999.5", "1000000000--1");
	expect_time("99999999999999999999,", "18446744073709551615--1");
}

static void parts(void **state)
{
	(void)state;
	expect_time("10%", "10000000000-11000000000");
	expect_time("10%/2", "11000000000-12000000000");
	expect_time("10%/10", "19000000000-20000000000");
	expect_time("10%/2,10%/1", "11000000000-12000000000 10000000000-11000000000");
	expect_time("0%-10%,30%-40%", "10000000000-11000000000 13000000000-14000000000");
	expect_time("0%-10% 99.5%-100%", "10000000000-11000000000 19950000000-20000000000");
}

static void wrong_times(void **state)
{
	static const char *const wrong[] = {
		"",
		"x",
		"1.5",
		"2,1",
		"1x,2",
		"1,2,3",
		"0.1234567891,",
		"-1,2",
		"1e3,",
		"10%/0",
		"10%/11",
		"10%/",
		"/3",
		"%/3",
		"10%-5%",
		"0-10%",
		"10%-",
		"200%",
		"0%",
		"-5%-10%",
		"nan%-1%",
		"0%-inf%",
		"33%/4",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		expect_time(wrong[i], "wrong");
}

static void ends_belong_to_a_range(void **state)
{
	struct time_ranges ranges = { .n = 0 };
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(time_ranges_parse(&ranges, "1,2 4,", 0, 0, &(struct info){ 0 }, &err), 0);
	assert_false(time_ranges_have(&ranges, 999999999));
	assert_true(time_ranges_have(&ranges, 1000000000));
	assert_true(time_ranges_have(&ranges, 2000000000));
	assert_false(time_ranges_have(&ranges, 2000000001));
	assert_true(time_ranges_have(&ranges, UINT64_MAX));
	time_ranges_release(&ranges);
	str_release(&err);
}

/* ---- samples ---- */

struct taken {
	const struct filters *filters;
	struct str text; /* times of those that are taken */
	unsigned dropped;
};

static int take(void *context, struct replay *replay, const struct replay_sample *sample,
		struct str *err)
{
	struct taken *taken = context;

	(void)replay, (void)err;
	taken->dropped += filters_drop_sample(taken->filters, sample);
	if (filters_take_sample(taken->filters, sample))
		str_addf(&taken->text, "%s%llu", taken->text.len ? " " : "",
			 (unsigned long long)sample->sample->time_ns / 1000000000);
	return 0;
}

/* Samples at 1 s to 6 s: "one" (42/42), "two" (42/43) and "two" (77/77) on CPU 1. */
static void make_recording(struct made_recording *recording)
{
	recording_init(recording);
	recording_comm(recording, 1, PID, PID, true, "one");
	recording_comm(recording, 1, PID, 43, false, "two");
	recording_comm(recording, 1, OTHER_PID, OTHER_PID, true, "two");
	for (unsigned i = 1; i <= 6; i++) {
		static const int pids[] = { PID, PID, OTHER_PID }, tids[] = { PID, 43, OTHER_PID };

		recording_sample(recording, i * 1000000000ULL, pids[(i - 1) % 3], tids[(i - 1) % 3], 0x400000);
	}
}

static void expect_taken(const struct filter_options *options, const char *expected,
			 unsigned dropped)
{
	struct session_options session_options = { .max_stack = 0 };
	struct filters *filters;
	struct fix_session f;
	struct made_recording recording;
	struct taken taken = { .text = STR_INIT };

	make_recording(&recording);
	session_open(&f, &recording, &session_options);
	if (filters_new(&filters, options, &f.session, &f.err))
		fail_msg("%s", f.err.s);
	taken.filters = filters;
	session_replay(&f, take, &taken);
	assert_string_equal(taken.text.s, expected);
	assert_int_equal(taken.dropped, dropped);
	str_release(&taken.text);
	filters_free(filters);
	session_close(&f, &recording);
}

static void samples(void **state)
{
	(void)state;
	expect_taken(&(struct filter_options){ .comms = NULL }, "1 2 3 4 5 6", 0);
	expect_taken(&(struct filter_options){ .comms = "one" }, "1 4", 0);
	expect_taken(&(struct filter_options){ .comms = "two,nosuch" }, "2 3 5 6", 0);
	expect_taken(&(struct filter_options){ .comms = "tw" }, "", 0);
	expect_taken(&(struct filter_options){ .comms = "" }, "1 2 3 4 5 6", 0);
	expect_taken(&(struct filter_options){ .pids = "42" }, "1 2 4 5", 0);
	expect_taken(&(struct filter_options){ .tids = "43,77" }, "2 3 5 6", 0);
	expect_taken(&(struct filter_options){ .pids = "42", .comms = "two" }, "2 5", 0);
	expect_taken(&(struct filter_options){ .cpus = "0-1" }, "1 2 3 4 5 6", 0);
	expect_taken(&(struct filter_options){ .cpus = "0,2-3" }, "", 6);
	expect_taken(&(struct filter_options){ .time = "2,3 6," }, "2 3 6", 3);
	expect_taken(&(struct filter_options){ .time = "2,5", .comms = "one" }, "4", 2);
}

static int try_options(const struct filter_options *options, uint64_t sample_type, struct str *err)
{
	struct session_options session_options = { .max_stack = 0 };
	struct filters *filters;
	struct fix_session f;
	struct made_recording recording;
	int code;

	make_recording(&recording);
	session_open(&f, &recording, &session_options);
	f.reader.events.v[0]->attr.sample_type = sample_type;
	str_reset(err);
	code = filters_new(&filters, options, &f.session, err);
	assert_int_equal(filters == NULL, code != 0);
	filters_free(filters);
	session_close(&f, &recording);
	return code;
}

static void wrong_texts(void **state)
{
	static const struct {
		struct filter_options options;
		const char *named;
	} rows[] = {
		{ { .pids = "x" }, "--pid" },
		{ { .tids = "1,-2" }, "--tid" },
		{ { .pids = "99999999999" }, "--pid" },
		{ { .cpus = "3-1" }, "--cpu" },
		{ { .cpus = "99999999" }, "--cpu" },
		{ { .cpus = "1" }, "--cpu" }, /* no event has its CPU */
		{ { .time = "later" }, "--time" },
		{ { .comms = "file:/nonexistent/names" }, "--comms" },
		{ { .dsos = "file:///nonexistent/names" }, "--dsos" },
	};
	struct str err = STR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(try_options(&rows[i].options, 0, &err), -EINVAL);
		if (!strstr(err.s, rows[i].named))
			fail_msg("'%s' does not name %s", err.s, rows[i].named);
	}
	str_release(&err);
}

/* A name that looks like something else has a backslash before it, and is found as it is. */
static void names_that_are_quoted(void **state)
{
	static const char *const names[] = {
		"a,b", "a\\,b", ",", "file:x", "file:///x", "\\file:x", "\\\\file:a,b", "\\x", "a\\b", "plain",
	};
	struct str err = STR_INIT, text = STR_INIT;
	struct name_set set;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		str_add(&text, i ? "," : "");
		name_set_quote(names[i], &text);
	}
	assert_int_equal(name_set_parse(&set, "--comms", text.s, &err), 0);
	assert_int_equal(set.n, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(name_set_has(&set, names[i]));
	name_set_release(&set);
	assert_string_equal(name_set_only("\\file:x"), "file:x");
	assert_string_equal(name_set_only("plain"), "plain");
	assert_null(name_set_only("file:x"));
	assert_null(name_set_only("a\\,b"));
	str_release(&text);
	str_release(&err);
}

static void names_from_a_file(void **state)
{
	static const char names[] = "libc.so.6\r\n\n/bin/x";
	struct name_set set;
	struct str err = STR_INIT, text = STR_INIT;
	char path[256];
	int fd;

	(void)state;
	fix_path(path, sizeof(path), "names");
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write_all(fd, names, sizeof(names) - 1), 0);
	close(fd);
	str_addf(&text, "first,file:%s,,last", path);
	assert_int_equal(name_set_parse(&set, "--dsos", text.s, &err), 0);
	assert_int_equal(set.n, 4);
	assert_true(name_set_has(&set, "first"));
	assert_true(name_set_has(&set, "libc.so.6"));
	assert_true(name_set_has(&set, "/bin/x"));
	assert_true(name_set_has(&set, "last"));
	assert_false(name_set_has(&set, ""));
	assert_false(name_set_has(&set, "libc.so"));
	name_set_release(&set);
	unlink(path);
	str_release(&text);
	str_release(&err);
}

/* ---- locations ---- */

static bool takes(const struct filter_options *options, const struct dso *dso, const char *name)
{
	const struct symbol symbol = { .dso = dso, .start = 0x100, .name = name, .raw = "_Zraw" };
	const struct location_row row = { .dso = (struct dso *)(uintptr_t)dso, .addr = 0x120, .ip = 0x400120 };
	struct session_options session_options = { .max_stack = 0 };
	struct filters *filters;
	struct fix_session f;
	struct made_recording recording;
	bool taken;

	make_recording(&recording);
	session_open(&f, &recording, &session_options);
	assert_int_equal(filters_new(&filters, options, &f.session, &f.err), 0);
	taken = filters_take_location(filters, &row, name ? &symbol : NULL);
	assert_int_equal(filters_take_location(filters, &row, name ? &symbol : NULL), taken);
	assert_true(filters_any(filters));
	filters_free(filters);
	session_close(&f, &recording);
	return taken;
}

static void locations(void **state)
{
	char path[] = "/usr/lib/libc.so.6", name[] = "libc.so.6";
	const struct dso dso = { .index = 3, .path = path, .name = name };

	(void)state;
	assert_true(takes(&(struct filter_options){ .dsos = "x,libc.so.6" }, &dso, "f"));
	assert_true(takes(&(struct filter_options){ .dsos = "/usr/lib/libc.so.6" }, &dso, NULL));
	assert_false(takes(&(struct filter_options){ .dsos = "libc" }, &dso, "f"));
	assert_false(takes(&(struct filter_options){ .dsos = "libc.so.6" }, NULL, "f"));
	assert_true(takes(&(struct filter_options){ .symbols = "g,f" }, &dso, "f"));
	assert_true(takes(&(struct filter_options){ .symbols = "_Zraw" }, &dso, "f"));
	assert_true(takes(&(struct filter_options){ .symbols = "0x400100" }, &dso, "f"));
	assert_true(takes(&(struct filter_options){ .symbols = "0x400120" }, &dso, "f"));
	assert_false(takes(&(struct filter_options){ .symbols = "0x400110" }, &dso, "f"));
	assert_false(takes(&(struct filter_options){ .symbols = "0x400110", .addr_range = 16 }, &dso, "f"));
	assert_true(takes(&(struct filter_options){ .symbols = "x,0x400110", .addr_range = 17 }, &dso, "f"));
	assert_false(takes(&(struct filter_options){ .symbols = "0x400121", .addr_range = 17 }, &dso, "f"));
	assert_false(takes(&(struct filter_options){ .symbols = "f" }, &dso, "ff"));
	assert_false(takes(&(struct filter_options){ .symbols = "f" }, &dso, NULL));
	assert_true(takes(&(struct filter_options){ .symbol_filter = "all" }, &dso, "malloc_all"));
	assert_false(takes(&(struct filter_options){ .symbol_filter = "all" }, &dso, "free"));
	assert_false(takes(&(struct filter_options){ .symbol_filter = "all" }, &dso, NULL));
}

/* ---- first and last sample ---- */

static void bounds_from_a_pass(void **state)
{
	struct made_recording recording;
	struct reader reader;
	struct str bytes, err = STR_INIT;
	uint64_t first_ns = 0, last_ns = 0;
	char path[256];
	int fd;

	(void)state;
	make_recording(&recording);
	recording_bytes(&recording, false, &bytes);
	fix_path(path, sizeof(path), "bounds");
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write_all(fd, bytes.s, bytes.len), 0);
	close(fd);
	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_false(info_has(&reader.info, FEATURE_SAMPLE_TIME));
	assert_int_equal(time_bounds(&reader, &first_ns, &last_ns, &err), 0);
	assert_int_equal(first_ns, 1000000000);
	assert_int_equal(last_ns, 6000000000);
	/* The header's word is taken where there is one. */
	reader.info.first_sample_ns = 5;
	reader.info.last_sample_ns = 7;
	info_set(&reader.info, FEATURE_SAMPLE_TIME);
	assert_int_equal(time_bounds(&reader, &first_ns, &last_ns, &err), 0);
	assert_int_equal(first_ns, 5);
	assert_int_equal(last_ns, 7);
	reader_close(&reader);
	unlink(path);
	str_release(&bytes);
	str_release(&err);
	recording_release(&recording);
}

static void no_bounds_in_a_pipe(void **state)
{
	char path[] = "-";
	const struct reader reader = { .path = path, .pipe = true };
	struct str err = STR_INIT;
	uint64_t first_ns, last_ns;

	(void)state;
	assert_int_equal(time_bounds(&reader, &first_ns, &last_ns, &err), -EINVAL);
	assert_non_null(strstr(err.s, "pipe"));
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds),
		cmocka_unit_test(parts),
		cmocka_unit_test(wrong_times),
		cmocka_unit_test(ends_belong_to_a_range),
		cmocka_unit_test(samples),
		cmocka_unit_test(wrong_texts),
		cmocka_unit_test(names_that_are_quoted),
		cmocka_unit_test(names_from_a_file),
		cmocka_unit_test(locations),
		cmocka_unit_test(bounds_from_a_pass),
		cmocka_unit_test(no_bounds_in_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
