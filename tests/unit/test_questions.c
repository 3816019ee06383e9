/* SPDX-License-Identifier: MIT */
/*
 * One profile, many questions: what table_make says of a profile that was read once, for whatever may come, is what a
 * report says that reads the recording for this question alone.
 */
#include "ask_fixture.h"
#include "data_fixture.h"

#include "fmt/fmt.h"
#include "hist/fold_internal.h"
#include "profile/session_internal.h"

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define CHAINS .chain = { .kind = CHAIN_GRAPH, .min_percent = 0.5, .order = CHAIN_CALLER }

static const struct asking {
	const char *format;
	struct query options;
	bool of_file; /* its answer is in no cell: the file is read again */
} questions[] = {
	{ "stdio", { .children = -1, CHAINS }, false },
	{ "stdio", { .children = 0, CHAINS }, false },
	{ "stdio", { .children = -1, CHAINS, .n_samples = true, .percent_limit = 2 }, false },
	{ "stdio",
	  { .children = 1, .chain = { .kind = CHAIN_GRAPH, .order = CHAIN_CALLEE, .order_set = true } },
	  false },
	{ "stdio", { .children = -1, .sort = "dso" }, false },
	{ "stdio", { .children = 0, .sort = "dso,sym", .n_samples = true, .total_period = true }, false },
	{ "stdio", { .children = 0, .sort = "comm", .cpu_utilization = true }, false },
	{ "stdio", { .children = 0, .sort = "tid,cpu" }, false },
	{ "stdio", { .children = 0, .sort = "tgid,dso" }, false },
	{ "stdio", { .children = -1, .sort = "sym,parent", .exclude_other = false }, false },
	{ "stdio", { .children = 0, .sort = "sym", .filters = { .comms = "callers,one,app" } }, false },
	{ "stdio", { .children = 0, .sort = "sym", .filters = { .comms = "app" } }, false },
	{ "stdio", { .children = 0, .sort = "sym", .filters = { .comms = "callers,one" } }, false },
	{ "stdio", { .children = 0, .sort = "comm,sym", .filters = { .pids = "1000,42" } }, false },
	{ "stdio", { .children = 0, .sort = "comm,sym", .filters = { .tids = "1000,43" } }, false },
	{ "stdio", { .children = -1, CHAINS, .filters = { .symbol_filter = "a" } }, false },
	{ "stdio", { .children = -1, .sort = "dso", .filters = { .symbol_filter = "m" } }, false },
	{ "stdio", { .children = 0, .percentage_relative = true, .filters = { .dsos = "app,libc.so.6" } }, false },
	{ "stdio", { .children = 0, .percent_limit = 5, CHAINS }, false },
	{ "stdio", { .children = -1, CHAINS, .filters = { .dsos = "app" } }, false },
	{ "stdio", { .children = -1, CHAINS, .filters = { .dsos = "libc.so.6,[kernel.kallsyms]" } }, false },
	{ "stdio", { .children = -1, CHAINS, .filters = { .comms = "app", .symbols = "main" } }, false },
	{ "stdio", { .children = 0, .hide_unresolved = true, .filters = { .dsos = "app" } }, false },
	{ "stdio", { .children = 0, .group = true, .sort = "dso", .filters = { .dsos = "app" } }, false },
	{ "stdio", { .children = 0, .ignore_callees = "[a-m]", CHAINS }, false },
	{ "stdio", { .children = 0, .hide_unresolved = true }, false },
	{ "stdio", { .children = 0, .sort = "srcfile,srcline" }, false },
	{ "stdio", { .children = 0, .sort = "srcfile,srcline", .full_source_path = true }, false },
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
static void print(struct table *table, const struct asking *question, struct str *text)
{
	struct output output = { .text = STR_INIT };

	if (table)
		assert_int_equal(report_format_find(question->format)->print(table, &output), 0);
	str_addn(text, output.text.s, output.text.len);
	str_release(&output.text);
}

static struct query options_of(const struct asking *question)
{
	struct query options = question->options;

	options.session = session_options;
	options.needs = report_format_find(question->format)->needs;
	return options;
}

static void ask_alone(const char *path, const struct asking *question, struct str *text)
{
	const struct query options = options_of(question);
	struct asked asked;
	struct reader reader;

	assert_int_equal(reader_open(&reader, path, text), 0);
	asked_alone(&asked, &options, &reader, text);
	print(asked.table, question, text);
	asked_release(&asked);
	reader_close(&reader);
}

static void ask_profile(struct profile *profile, struct fold_cache *cache, const char *name,
			const struct asking *question, struct str *text)
{
	const struct query options = options_of(question);
	struct asked asked;
	int code = asked_of_either(&asked, profile, &options, cache, text);

	print(asked.table, question, text);
	/* Tracepoints are by themselves told apart by their texts, which are in no cell. */
	if (!code && strcmp(name, "tracepoints") != 0)
		assert_int_equal(asked.reader != NULL, question->of_file);
	asked_release(&asked);
}

static void ask_again(struct profile *profile, struct fold_cache *cache, const char *name, size_t question,
		      const struct str *alone)
{
	struct str asked = STR_INIT;

	ask_profile(profile, cache, name, &questions[question], &asked);
	if (strcmp(alone->s, asked.s))
		fail_msg("%s, question %zu: alone\n%s\nof the profile\n%s", name, question, alone->s, asked.s);
	str_release(&asked);
}

/* Those of cells each after each other one: what a table leaves to the next one is what that would have made. */
static void ask_each(const char *name, const char *path, struct profile *profile, struct fold_cache *cache)
{
	enum { N = ARRAY_SIZE(questions) };
	struct str alone[N];

	for (size_t i = 0; i < N; i++) {
		str_init(&alone[i]);
		ask_alone(path, &questions[i], &alone[i]);
		ask_again(profile, NULL, name, i, &alone[i]);
	}
	for (size_t i = 0; i < N; i++) {
		if (questions[i].of_file)
			continue;
		ask_again(profile, cache, name, i, &alone[i]);
		/* There and back: two tables show both orders of a pair. */
		for (size_t next = i; next < N; next++) {
			if (questions[next].of_file)
				continue;
			ask_again(profile, cache, name, next, &alone[next]);
			ask_again(profile, cache, name, i, &alone[i]);
		}
	}
	for (size_t i = 0; i < N; i++)
		str_release(&alone[i]);
}

static void ask_all(const char *name)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session = session_options };
	struct fold_cache *cache = fold_cache_new();
	struct profile *profile;
	struct reader reader;
	struct str err = STR_INIT;
	struct str ignored = STR_INIT;
	char path[128];

	snprintf(path, sizeof(path), "tests/golden/%s.data", name);
	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
	ask_each(name, path, profile, cache);
	/* Nothing that a cell has is dropped, and new numbers are as good as the old ones. */
	profile_compact(profile, 0);
	session_forget_frames(&profile->session);
	assert_int_equal(symbols_forgettable(profile->session.symbols), 0);
	for (size_t i = 0; i < profile->session.locations->n; i++) /* frames that are gone */
		assert_true(!profile->session.locations->v[i].framed || !profile->session.locations->v[i].dso);
	ask_each(name, path, profile, cache);
	profile_free(profile);
	reader_close(&reader);
	fold_cache_free(cache);
	/* Fed with as little as can be, asked in between. */
	assert_int_equal(reader_open(&reader, path, &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	cache = fold_cache_new();
	while (profile_feed(profile, &reader.source, 0, &err) > 0)
		ask_profile(profile, cache, name, &questions[1], &ignored);
	profile_end(profile);
	ask_each(name, path, profile, cache);
	fold_cache_free(cache);
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

#define ALL .children = -1, CHAINS
#define BY_PARENT(regex) { .children = -1, CHAINS, .sort = "parent", .parent = (regex) }
static const struct {
	struct query first, then;
	bool frames, groups; /* are those of the first */
	bool cells; /* of which its groups were made are known by the groups of the first */
} pairs[] = {
	{ { ALL }, { ALL }, true, true, false },
	{ { ALL }, { .children = 0, CHAINS, .n_samples = true, .total_period = true }, true, true, false },
	{ { ALL }, { ALL, .percentage_relative = true, .percent_limit = 3 }, true, true, false },
	{ { ALL }, { ALL, .filters = { .symbol_filter = "a" } }, true, true, false },
	/* Other groups of the same cells; where filters ask for more facts, cells are others, too. */
	{ { ALL }, { ALL, .filters = { .comms = "app" } }, true, false, true },
	{ { ALL }, { ALL, .filters = { .symbols = "a" } }, true, false, true },
	{ { ALL }, { ALL, .filters = { .dsos = "app" } }, true, false, true },
	{ { ALL }, { ALL, .exclude_other = true, .sort = "comm,dso,sym" }, true, false, true },
	{ { ALL, .filters = { .pids = "1" } }, { ALL, .filters = { .pids = "1000" } }, true, false, true },
	{ { ALL, .filters = { .tids = "1" } }, { ALL, .filters = { .tids = "1000" } }, true, false, true },
	{ { ALL }, { ALL, .filters = { .tids = "1000" } }, true, false, false },
	/* Other cells. */
	{ { ALL, .filters = { .cpus = "0" } }, { ALL, .filters = { .cpus = "1" } }, true, false, false },
	{ { ALL, .filters = { .user_hidden = true } },
	  { ALL, .filters = { .user_hidden = true, .kernel_hidden = true } }, true, false, false },
	{ { ALL, .filters = { .kernel_hidden = true } },
	  { ALL, .filters = { .user_hidden = true, .kernel_hidden = true } }, true, false, false },
	{ { ALL }, { ALL, .group = true }, true, false, false },
	{ { ALL }, { ALL, .group_off = true }, true, false, false },
	{ { ALL, .ignore_callees = "b" }, { ALL, .ignore_callees = "a" }, true, false, false },
	/* Other frames, or other values of their keys. */
	{ { ALL }, { ALL, .sort = "dso" }, false, false, false },
	{ { ALL }, { ALL, .hide_unresolved = true }, false, false, false },
	{ { ALL }, { ALL, .verbose = 1 }, false, false, false },
	{ { ALL, .sort = "srcline" }, { ALL, .sort = "srcline", .full_source_path = true }, false, false, false },
	{ { ALL }, { .children = -1, .chain = { .kind = CHAIN_GRAPH, .key = CHAIN_BY_ADDRESS } }, false, false, false },
	{ { .children = 0, .no_chains = true }, { .children = 0, .no_chains = true, .ignore_callees = "a" },
	  false, false, false },
	{ { .children = 0, CHAINS, .sort = "parent" }, { .children = 0, .no_chains = true, .sort = "parent" },
	  false, false, false },
	{ BY_PARENT("a"), BY_PARENT("b"), false, false, false },
	{ BY_PARENT("a"),
	  { .children = -1, .sort = "parent", .parent = "a",
	    .chain = { .kind = CHAIN_GRAPH, .order = CHAIN_CALLEE, .order_set = true } }, false, false, false },
};

/* A table takes over what the last one left, as far as it would make the same. */
static void what_is_left_is_taken(void **state)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session = session_options };
	struct fold_cache *cache = fold_cache_new();
	struct profile *profile;
	struct reader reader;
	struct fold_key first;
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(reader_open(&reader, "tests/golden/deep_chain.data", &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct group *groups;
		struct asked asked;

		assert_int_equal(asked_of(&asked, profile, &pairs[i].first, cache, &err), 0);
		groups = cache->sets[0].v[0].v;
		first = cache->sets[0].key;
		asked_release(&asked);
		assert_int_equal(asked_of(&asked, profile, &pairs[i].then, cache, &err), 0);
		assert_int_equal(fold_keys_agree(&cache->sets[0].key, &first, FOLD_FRAMES), pairs[i].frames);
		assert_int_equal(fold_keys_agree(&cache->sets[0].key, &first, FOLD_GROUPS), pairs[i].groups);
		if (pairs[i].groups)
			assert_ptr_equal(cache->sets[0].v[0].v, groups);
		else
			assert_int_equal(fold_cache_groups_before(cache, 0) != NULL, pairs[i].cells);
		asked_release(&asked);
	}
	fold_cache_free(cache);
	profile_free(profile);
	reader_close(&reader);
	str_release(&err);
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
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session = session_options };
	const struct query time = { .children = 0, .sort = "time", .session = session_options };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		struct profile *profile;
		struct asked asked;
		struct reader reader;
		struct str err = STR_INIT;

		assert_int_equal(reader_open_fd(&reader, pipe_of("tests/golden/in_a_pipe.data"), "-", &err), 0);
		if (kept[i])
			assert_int_equal(reader_keep(&reader, kept[i], &err), 0);
		assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
		assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
		assert_int_equal(asked_of_either(&asked, profile, &time, NULL, &err), codes[i]);
		if (codes[i])
			assert_non_null(strstr(err.s, "came through a pipe"));
		else
			assert_true(asked.table->n_hists && asked.table->hists[0].n);
		asked_release(&asked);
		profile_free(profile);
		reader_close(&reader);
		str_release(&err);
	}
}

/* ---- a profile without records ---- */

static char made_path[] = "/a/app";
static struct dso made_dso = { .kind = DSO_FILE, .path = made_path, .name = made_path + 3, .pid = -1 };
static const struct symbol made_main = { &made_dso, 0x100, 0x200, "main", "main", 'g', false, 0, false };
static const struct symbol made_work = { &made_dso, 0x200, 0x300, "work", "work", 'g', false, 0, false };
static const struct symbol made_leaf = { &made_dso, 0x300, 0x400, "leaf", "leaf", 'g', false, 0, false };

static const struct symbol made_caller = { &made_dso, 0x500, 0x600, "outermost", "outermost", 'g', false, 0, false };
static const struct symbol made_gone = { &made_dso, 0x400, 0x500, "gone", "gone", 'g', false, 0, false };

static uint32_t made_location_at(struct profile *profile, const struct symbol *symbol, uint64_t offset,
				 struct frame *frame)
{
	const struct location location = { .dso = &made_dso, .addr = symbol->start + offset, .mode = MISC_USER };
	uint32_t number = locations_intern(profile->session.locations, &location, 0x7f0000 + location.addr, 0, false);
	struct location_row *row = &profile->session.locations->v[number];

	*frame = (struct frame){ .symbol = symbol };
	row->frames = (struct frame_list){ frame, 1 };
	row->framed = true;
	return number;
}

static uint32_t made_location(struct profile *profile, const struct symbol *symbol, struct frame *frame)
{
	return made_location_at(profile, symbol, 0, frame);
}

static void made_sample_of(struct profile *profile, uint64_t tid, uint32_t location, uint32_t stack, uint64_t cpu,
			   uint64_t period)
{
	const struct cell_values values = { .n_samples = 1, .period = period };
	struct profile_event *event = profile->events[0];
	uint64_t facts[FACTS] = { 0 };

	facts[FACT_TID] = tid << 32; /* see task_names_number */
	facts[FACT_LOCATION] = location;
	facts[FACT_STACK] = stack;
	facts[FACT_CPU] = cpu;
	facts[FACT_MISC] = MISC_USER;
	cells_add(&event->cells, facts, &values);
	event->totals.n_samples++;
	event->totals.period += period;
	event->totals.period_us += period;
	profile->n_changes++;
}

static void made_sample(struct profile *profile, uint32_t location, uint32_t stack, uint64_t cpu, uint64_t period)
{
	made_sample_of(profile, 0, location, stack, cpu, period);
}

static struct fold_cache *made_cache; /* of the profile below */

/* A profile that is fed by hand; `bytes` are of the recording that has its events, whose samples are forgotten. */
static struct profile *made_profile(struct reader *reader, struct str *bytes)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session = session_options };
	struct profile *profile;
	struct str err = STR_INIT;

	fix_recording((struct writer_options){ .flush_bytes = 0 }, bytes);
	assert_int_equal(reader_open_fd(reader, fix_memory_file(bytes->s, bytes->len), "made", &err), 0);
	assert_int_equal(profile_new(&profile, &options, reader, &err), 0);
	assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
	profile_compact(profile, 8);
	made_cache = fold_cache_new();
	return profile;
}

/* "total self functions", a line for each entry. */
static void assert_table(struct profile *profile, struct query query, const char *expected)
{
	struct str text = STR_INIT, err = STR_INIT;
	const struct table *table;
	struct asked asked;

	query.session = session_options;
	query.needs = NEED_ENTRIES | NEED_TREES;
	assert_int_equal(asked_of(&asked, profile, &query, made_cache, &err), 0);
	table = asked.table;
	for (size_t i = 0; i < table->hists[0].n; i++) {
		const struct entry *entry = table->hists[0].entries[i];

		str_addf(&text, "%d %d", (int)entry->total.period, (int)entry->self.period);
		for (size_t c = 0; c < table->n_columns; c++)
			if (table->columns[c].kind == COLUMN_KEY) {
				str_addc(&text, ' ');
				table_key_text(asked.table, entry, &table->columns[c], &text);
			}
		str_addc(&text, '\n');
	}
	assert_string_equal(text.s, expected);
	asked_release(&asked);
	str_release(&text);
}

static void counts_made_by_hand(void **state)
{
	struct frame frames[4];
	struct profile *profile;
	struct reader reader;
	struct str bytes;
	uint32_t main_location, work, leaf, way;

	(void)state;
	profile = made_profile(&reader, &bytes);
	made_location(profile, &made_gone, &frames[3]);
	main_location = made_location(profile, &made_main, &frames[0]);
	work = made_location(profile, &made_work, &frames[1]);
	leaf = made_location(profile, &made_leaf, &frames[2]);
	/* main calls work, which calls leaf; CPU 1 only saw leaf. */
	way = stacks_child(profile->session.stacks, 0, main_location);
	made_sample(profile, main_location, way, 0, 1);
	way = stacks_child(profile->session.stacks, way, work);
	made_sample(profile, work, way, 0, 20);
	way = stacks_child(profile->session.stacks, way, leaf);
	made_sample(profile, leaf, way, 0, 300);
	made_sample(profile, leaf, way, 1, 4000);
	assert_table(profile, (struct query){ .children = 0, .sort = "sym" },
		     "0 4300 [.] leaf\n0 20 [.] work\n0 1 [.] main\n");
	assert_table(profile, (struct query){ .children = 0, .sort = "cpu" }, "0 4000 001\n0 321 000\n");
	assert_table(profile, (struct query){ .children = 0, .sort = "sym", .filters = { .cpus = "0" } },
		     "0 300 [.] leaf\n0 20 [.] work\n0 1 [.] main\n");
	assert_table(profile, (struct query){ .children = 0, .sort = "dso", .filters = { .symbols = "work,main" } },
		     "0 21 app\n");
	/* What comes later is in the next answer. */
	made_sample(profile, work, stacks_child(profile->session.stacks, 0, work), 1, 50000);
	assert_table(profile, (struct query){ .children = 0, .sort = "sym" },
		     "0 50020 [.] work\n0 4300 [.] leaf\n0 1 [.] main\n");
	/* A location that no cell has goes: all have other numbers. */
	profile_compact(profile, 0);
	assert_int_equal(profile->session.locations->n, 3);
	assert_table(profile, (struct query){ .children = 0, .sort = "sym" },
		     "0 50020 [.] work\n0 4300 [.] leaf\n0 1 [.] main\n");
	fold_cache_free(made_cache);
	profile_free(profile);
	reader_close(&reader);
	str_release(&bytes);
}

/* Several addresses of a function are cells of one group, also where the groups of another filter tell which. */
static void groups_of_another_filter(void **state)
{
	static const struct query all = { .children = 0, .sort = "sym" };
	static const struct query filtered = { .children = 0, .sort = "sym", .filters = { .symbols = "work,leaf" } };
	static const struct query fewer = { .children = 0, .sort = "sym", .filters = { .symbols = "leaf" } };
	const struct symbol *const symbols[] = { &made_main, &made_work, &made_leaf };
	struct frame frames[9];
	struct profile *profile;
	struct reader reader;
	struct str bytes;

	(void)state;
	profile = made_profile(&reader, &bytes);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		made_sample(profile, made_location_at(profile, symbols[i % 3], i, &frames[i]), 0, 0, 1U << i);
	assert_table(profile, all, "0 292 [.] leaf\n0 146 [.] work\n0 73 [.] main\n");
	assert_table(profile, filtered, "0 292 [.] leaf\n0 146 [.] work\n");
	assert_table(profile, all, "0 292 [.] leaf\n0 146 [.] work\n0 73 [.] main\n");
	assert_table(profile, fewer, "0 292 [.] leaf\n");
	assert_table(profile, filtered, "0 292 [.] leaf\n0 146 [.] work\n");
	fold_cache_free(made_cache);
	profile_free(profile);
	reader_close(&reader);
	str_release(&bytes);
}

/* Of a group some cells are in those of the other filter, and some are not. */
static void groups_of_a_filter_that_took_less(void **state)
{
	static const char *const tids[] = { "1", "1,2", "2", "1,2" };
	static const char *const expected[] = { "0 100 [.] work\n0 1 [.] main\n", "0 1100 [.] work\n0 11 [.] main\n",
						"0 1000 [.] work\n0 10 [.] main\n",
						"0 1100 [.] work\n0 11 [.] main\n" };
	uint32_t main_location, work;
	struct frame frames[2];
	struct profile *profile;
	struct reader reader;
	struct str bytes;

	(void)state;
	profile = made_profile(&reader, &bytes);
	main_location = made_location(profile, &made_main, &frames[0]);
	work = made_location(profile, &made_work, &frames[1]);
	made_sample_of(profile, 1, main_location, 0, 0, 1);
	made_sample_of(profile, 2, main_location, 0, 0, 10);
	made_sample_of(profile, 1, work, 0, 0, 100);
	made_sample_of(profile, 2, work, 0, 0, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(tids); i++) {
		const struct query query = { .children = 0, .sort = "sym", .filters = { .tids = tids[i] } };
		const struct query between = { .children = 0, .sort = "sym", .filters = { .tids = "9" } };

		assert_table(profile, query, expected[i]);
		/* The oldest groups go: then these are of the last row alone. */
		if (i == 1)
			assert_table(profile, between, "");
	}
	fold_cache_free(made_cache);
	profile_free(profile);
	reader_close(&reader);
	str_release(&bytes);
}

static void ask_of(struct asked *asked, struct profile *profile, bool children)
{
	struct query query = { .children = children, .sort = "sym", CHAINS, .session = session_options };
	struct str err = STR_INIT;

	query.needs = NEED_ENTRIES;
	assert_int_equal(asked_of(asked, profile, &query, made_cache, &err), 0);
}

/* Entries in their order by name: where they stand is by name, and they are found by address. */
static void what_is_the_same_of_entries(void **state)
{
	enum { CALLER, LEAF, MAIN, WORK, N };
	const struct symbol *const symbols[N] = { &made_caller, &made_leaf, &made_main, &made_work };
	uint32_t locations[N], way;
	uint64_t hashes[N];
	struct frame frames[N];
	struct profile *profile;
	struct reader reader;
	struct str bytes;

	(void)state;
	profile = made_profile(&reader, &bytes);
	for (size_t i = 0; i < N; i++)
		locations[i] = made_location(profile, symbols[i], &frames[i]);
	way = stacks_child(profile->session.stacks, 0, locations[CALLER]);
	for (size_t i = LEAF; i < N; i++)
		made_sample(profile, locations[i], stacks_child(profile->session.stacks, way, locations[i]), 0, 5);
	for (int round = 0; round < 3; round++) {
		const bool children = round != 1;
		struct table *table;
		const struct hist *hist;
		struct asked asked;

		ask_of(&asked, profile, children);
		table = asked.table;
		hist = &table->hists[0];

		assert_int_equal(hist->n, children ? N : N - 1);
		assert_int_equal(hist->widths[0], strlen(children ? "[.] outermost" : "[.] leaf"));
		for (size_t i = 0; i < hist->n; i++) {
			const size_t at = children ? i : i + 1;
			const uint64_t hash = table_entry_hash(table, hist->entries[i]);
			struct str text = STR_INIT;

			table_key_text(table, hist->entries[i], &table->columns[table->n_columns - 1], &text);
			assert_string_equal(text.s + strlen("[.] "), symbols[at]->name);
			str_release(&text);
			if (!round)
				hashes[at] = hash;
			assert_int_equal(hashes[at], hash);
			for (size_t k = 0; k < at && !round; k++)
				assert_int_not_equal(hashes[k], hash);
		}
		asked_release(&asked);
	}
	fold_cache_free(made_cache);
	profile_free(profile);
	reader_close(&reader);
	str_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_answers),
		cmocka_unit_test(what_is_left_is_taken),
		cmocka_unit_test(a_pipe_is_kept_or_not),
		cmocka_unit_test(counts_made_by_hand),
		cmocka_unit_test(groups_of_another_filter),
		cmocka_unit_test(groups_of_a_filter_that_took_less),
		cmocka_unit_test(what_is_the_same_of_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
