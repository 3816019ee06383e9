/*
 * One profile, many questions: what table_make says of a profile that was read once, for whatever may come, is what a
 * report says that reads the recording for this question alone.
 */
#include "data_fixture.h"

#include "fmt/fmt.h"

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define CHAINS .chain = { .kind = CHAIN_GRAPH, .min_percent = 0.5, .order = CHAIN_CALLER }

static const struct question {
	const char *format;
	struct query options;
	bool of_file; /* its answer is in no cell: the file is read again */
} questions[] = {
	{ "stdio", { .children = -1, CHAINS }, false },
	{ "stdio", { .children = 0, CHAINS }, false },
	{ "stdio", { .children = -1, .sort = "dso" }, false },
	{ "stdio", { .children = 0, .sort = "dso,sym", .n_samples = true, .total_period = true }, false },
	{ "stdio", { .children = 0, .sort = "comm", .cpu_utilization = true }, false },
	{ "stdio", { .children = 0, .sort = "tid,cpu" }, false },
	{ "stdio", { .children = 0, .sort = "tgid,dso" }, false },
	{ "stdio", { .children = -1, .sort = "sym,parent", .exclude_other = false }, false },
	{ "stdio", { .children = 0, .sort = "sym", .filters = { .comms = "callers,one,app" } }, false },
	{ "stdio", { .children = 0, .sort = "comm,sym", .filters = { .pids = "1000,42" } }, false },
	{ "stdio", { .children = 0, .sort = "comm,sym", .filters = { .tids = "1000,43" } }, false },
	{ "stdio", { .children = -1, CHAINS, .filters = { .symbol_filter = "a" } }, false },
	{ "stdio", { .children = 0, .percentage_relative = true, .filters = { .dsos = "app,libc.so.6" } }, false },
	{ "stdio", { .children = 0, .percent_limit = 5, CHAINS }, false },
	{ "stdio", { .children = 0, .ignore_callees = "[a-m]", CHAINS }, false },
	{ "stdio", { .children = 0, .hide_unresolved = true }, false },
	{ "stdio", { .children = -1, .view = VIEW_HIERARCHY, CHAINS }, false },
	{ "stdio",
	  { .children = 0, .chain = { .kind = CHAIN_FLAT, .order = CHAIN_CALLEE, .order_set = true } },
	  false },
	{ "stdio", { .children = 0, .fields = "overhead_us,overhead_sys,sample,period,sym" }, false },
	{ "stdio", { .children = 0, .sort = "addr,symbol_size,dso_size" }, false },
	{ "stdio", { .children = 0, .group = true, .sort = "dso" }, false },
	{ "folded", { .folded_annotate = true, .folded_delimiter = true }, false },
	{ "folded", { .filters = { .comms = "callers,app" } }, false },
	{ "json", { .children = -1, CHAINS }, false },
	{ "stdio", { .children = 0, .sort = "time,comm" }, true },
	{ "stdio", { .children = 0, .sort = "local_weight,sym" }, true },
	{ "stdio", { .children = 0, .sort = "comm", .filters = { .time = "10%-60%" } }, true },
	{ "stdio", { .children = 0, .sort = "mem,symbol_daddr", .mem_mode = true }, true },
	{ "stdio", { .children = 0, .sort = "trace" }, true },
};

static const struct session_options session_options = {
	.sym = { .symfs = "/nonexistent",
		 .map_dir = "/nonexistent",
		 .kallsyms = "/nonexistent",
		 .ignore_vmlinux = true },
};

/* The table's text, and its error where there is none. */
static void print(struct table *table, const struct question *question, struct str *text)
{
	struct output output = { .text = STR_INIT };

	if (table)
		assert_int_equal(report_format_find(question->format)->print(table, &output), 0);
	str_addn(text, output.text.s, output.text.len);
	str_release(&output.text);
}

static struct query options_of(const struct question *question)
{
	struct query options = question->options;

	options.session = session_options;
	options.needs = report_format_find(question->format)->needs;
	return options;
}

static void ask_alone(const char *path, const struct question *question, struct str *text)
{
	const struct query options = options_of(question);
	struct table *table = NULL;
	struct reader reader;

	assert_int_equal(reader_open(&reader, path, text), 0);
	if (!table_new(&table, &options, &reader, text))
		table_run(table, NULL, NULL, text);
	print(table, question, text);
	table_free(table);
	reader_close(&reader);
}

static void ask_profile(struct profile *profile, const char *name, const struct question *question, struct str *text)
{
	const struct query options = options_of(question);
	struct table *table = NULL;
	int code = table_make(&table, profile, &options, text);

	print(table, question, text);
	/* Tracepoints are by themselves told apart by their texts, which are in no cell. */
	if (!code && strcmp(name, "tracepoints") != 0)
		assert_int_equal(table->reader_owned != NULL, question->of_file);
	table_free(table);
}

static void ask_each(const char *name, const char *path, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		struct str alone = STR_INIT, asked = STR_INIT;

		ask_alone(path, &questions[i], &alone);
		ask_profile(profile, name, &questions[i], &asked);
		if (strcmp(alone.s, asked.s))
			fail_msg("%s, question %zu: alone\n%s\nof the profile\n%s", name, i, alone.s, asked.s);
		str_release(&alone);
		str_release(&asked);
	}
}

static void ask_all(const char *name)
{
	const struct profile_options options = { .session = session_options };
	struct profile *profile;
	struct reader reader;
	struct str err = STR_INIT;
	struct str ignored = STR_INIT;
	char path[128];

	snprintf(path, sizeof(path), "tests/golden/%s.data", name);
	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
	ask_each(name, path, profile);
	/* Nothing that a cell has is dropped, and new numbers are as good as the old ones. */
	profile_compact(profile, 0);
	ask_each(name, path, profile);
	profile_free(profile);
	reader_close(&reader);
	/* Fed with as little as can be, asked in between. */
	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	while (profile_feed(profile, &reader.source, 0, &err) > 0)
		ask_profile(profile, name, &questions[1], &ignored);
	profile_end(profile);
	ask_each(name, path, profile);
	profile_free(profile);
	reader_close(&reader);
	str_release(&ignored);
	str_release(&err);
}

/* Recordings with chains, groups, the kernel and modules, several events, tracepoints, memory samples. */
static void the_same_answers(void **state)
{
	static const char *const names[] = { "plain",	      "kernel_and_module", "deep_chain", "group_read",
					     "mem_samples",   "tracepoints",	   "lost",	 "tid_reuse",
					     "hostile_names", "weight_struct",	   "renamed" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ask_all(names[i]);
}

/* A file's bytes as they come through a pipe, which holds all of them. */
static int pipe_of(const char *path)
{
	struct str bytes = STR_INIT;
	int fds[2];

	assert_int_equal(read_text_file(path, &bytes), 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], bytes.s, bytes.len), bytes.len);
	close(fds[1]);
	str_release(&bytes);
	return fds[0];
}

/* What only the recording can tell is not to be had of a pipe that was not kept, and the reason is said. */
static void a_pipe_is_kept_or_not(void **state)
{
	static const uint64_t kept[] = { 0, 1000, 1 << 20 };
	static const int codes[] = { -ESPIPE, -EFBIG, 0 };
	const struct profile_options options = { .session = session_options };
	const struct query time = { .children = 0, .sort = "time", .session = session_options };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		struct profile *profile;
		struct table *table;
		struct reader reader;
		struct str err = STR_INIT;

		assert_int_equal(reader_open_fd(&reader, pipe_of("tests/golden/in_a_pipe.data"), "-", &err), 0);
		if (kept[i])
			assert_int_equal(reader_keep(&reader, kept[i], &err), 0);
		assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
		assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
		assert_int_equal(table_make(&table, profile, &time, &err), codes[i]);
		if (codes[i])
			assert_non_null(strstr(err.s, "came through a pipe"));
		else
			assert_true(table->n_hists && table->hists[0].n);
		table_free(table);
		profile_free(profile);
		reader_close(&reader);
		str_release(&err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_answers),
		cmocka_unit_test(a_pipe_is_kept_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
