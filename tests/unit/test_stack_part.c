/* SPDX-License-Identifier: MIT */
/*
 * Callchains cut to their user's or their kernel's side: hand-made samples in user space, in the kernel under user
 * frames, in the kernel alone and without a chain, as each kind of output has them. No sample is left out.
 */
#include "report_recording.h"

#include "profile/session_internal.h"

enum { MIXED = 5, USER = 1, KERNEL = 3, BARE = 1 }; /* ten, and no two rows have as many */

static const struct recorded_samples samples[] = {
	{ NULL, "main|a|k:read|k:write", MIXED, 0, 0, 0 },
	{ NULL, "main|b", USER, 0, 0, 0 },
	{ NULL, "k:entry|k:write", KERNEL, 0, 0, 0 },
	{ NULL, "", BARE, 0, 0, 0 },
};

/* Keeps the rows: neither the head nor empty lines. */
static void drop_head(struct str *text)
{
	struct str rows = STR_INIT;
	char *rest = text->s, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line && *line != '#')
			str_addf(&rows, "%s\n", line);
	str_release(text);
	*text = rows;
}

static void assert_report(const struct query *how, enum stack_part part, unsigned needs, const char *expected)
{
	struct recorded recorded = { .step_ns = 0 };
	struct query query;
	struct str text, notes = STR_INIT;

	record_samples(&recorded, samples, ARRAY_SIZE(samples), 1);
	query = recorded_options(&recorded);
	query.session.part = part;
	query.sort = how->sort;
	query.children = how->children;
	query.filters = how->filters;
	query.chain.kind = how->chain.kind;
	query.separator = how->separator;
	query.hide_unresolved = how->hide_unresolved;
	query.folded_annotate = how->folded_annotate;
	query.needs = needs;
	recorded_report(&recorded, &query, false, &text, &notes);
	drop_head(&text);
	assert_string_equal(text.s, expected);
	str_release(&text);
	str_release(&notes);
	recorded_remove(&recorded);
}

static unsigned folded_needs(void)
{
	return report_format_find("folded")->needs;
}

static void stacks(void **state)
{
	static const struct {
		enum stack_part part;
		const char *text;
	} rows[] = {
		{ STACK_WHOLE, "prog;entry;write 3\nprog;main 1\nprog;main;a;read;write 5\nprog;main;b 1\n" },
		{ STACK_USER, "prog;[kernel] 3\nprog;main 1\nprog;main;a 5\nprog;main;b 1\n" },
		{ STACK_KERNEL, "prog;[user] 2\nprog;entry;write 3\nprog;read;write 5\n" },
	};
	const struct query how = { .children = -1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_report(&how, rows[i].part, folded_needs(), rows[i].text);
}

static void marks_of_frames(void **state)
{
	const struct query how = { .children = -1, .folded_annotate = true, .hide_unresolved = true };

	(void)state;
	assert_report(&how, STACK_USER, folded_needs(), "prog;[kernel]_[k] 3\nprog;main_[j] 1\nprog;main_[j];a_[j] 5\n"
							"prog;main_[j];b_[j] 1\n");
}

/* Self and total: the function of a sample in the kernel is the innermost one of the user's. */
static void numbers(void **state)
{
	static const struct {
		enum stack_part part;
		const char *text;
	} rows[] = {
		{ STACK_USER, " 70.00% , 10.00% ,[.] main\n 50.00% , 50.00% ,[.] a\n"
			      " 30.00% , 30.00% ,[k] [kernel]\n 10.00% , 10.00% ,[.] b\n" },
		{ STACK_KERNEL, " 80.00% , 80.00% ,[k] write\n 50.00% , 0.00%  ,[k] read\n"
				" 30.00% , 0.00%  ,[k] entry\n 20.00% , 20.00% ,[.] [user]\n" },
	};
	const struct query how = { .sort = "sym", .children = 1, .chain = { .kind = CHAIN_NONE }, .separator = "," };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_report(&how, rows[i].part, 0, rows[i].text);
}

/* Rows without callers, too: nothing but the cut asks for the chain. */
static void rows_without_callers(void **state)
{
	const struct query how = { .sort = "dso,sym", .children = 0, .separator = ",",
				   .filters = { .symbols = "a,[kernel]" } };

	(void)state;
	assert_report(&how, STACK_USER, 0, " 50.00% ,[JIT] tid 100,[.] a\n 30.00% ,[kernel]     ,[k] [kernel]\n");
}

/* ---- sample by sample ---- */

struct taken {
	struct session *session;
	unsigned wants;
	struct str text; /* "ADDRESS=FILE ..." of each sample, or of each stack */
};

static int wants(void *context, const struct data_event *event, unsigned *wanted, struct str *err)
{
	const struct taken *taken = context;

	(void)event, (void)err;
	*wanted = taken->wants;
	return 0;
}

static void add_location(struct taken *taken, uint32_t location)
{
	const struct symbol *symbol = location_symbol(taken->session, location);

	str_addf(&taken->text, " %s", symbol ? symbol->name : "?");
}

static int take(void *context, const struct sink_sample *sample, struct str *err)
{
	struct taken *taken = context;
	const struct stacks *stacks = taken->session->stacks;

	(void)err;
	for (size_t i = 0; i < sample->frames.n; i++)
		add_location(taken, sample->frames.v[i].location);
	for (uint32_t stack = sample->stack; stack; stack = stacks->v[stack].parent)
		add_location(taken, stacks->v[stack].location);
	str_addc(&taken->text, '\n');
	return 0;
}

static void assert_samples(enum stack_part part, unsigned wanted, const char *symbols, const char *expected)
{
	static const struct recorded_samples once[] = {
		{ NULL, "main|a|k:read|k:write", 1, 0, 0, 0 },
		{ NULL, "main|b", 1, 0, 0, 0 },
		{ NULL, "k:entry|k:write", 1, 0, 0, 0 },
		{ NULL, "", 1, 0, 0, 0 },
	};
	const struct filter_options filter_options = { .symbols = symbols };
	struct recorded recorded = { .step_ns = 0 };
	struct taken taken = { .wants = SAMPLE_TAKEN | wanted, .text = STR_INIT };
	const struct sample_sink sink = { .context = &taken, .wants = wants, .sample = take };
	struct session_options options;
	struct str err = STR_INIT;
	struct session session;
	struct filters *filters;
	struct reader reader;

	record_samples(&recorded, once, ARRAY_SIZE(once), 1);
	options = recorded_options(&recorded).session;
	options.part = part;
	assert_int_equal(reader_open(&reader, recorded.data, &err), 0);
	assert_int_equal(session_init(&session, &reader, &options, &err), 0);
	taken.session = &session;
	assert_int_equal(filters_new(&filters, &filter_options, &session, &err), 0);
	assert_int_equal(sample_stream_run(&session, filters, &sink, &err), 0);
	assert_string_equal(taken.text.s, expected);
	filters_free(filters);
	session_release(&session);
	reader_close(&reader);
	recorded_remove(&recorded);
	str_release(&taken.text);
	str_release(&err);
}

static void samples_one_by_one(void **state)
{
	static const struct {
		enum stack_part part;
		unsigned wants;
		const char *symbols, *text;
	} rows[] = {
		{ STACK_WHOLE, SAMPLE_CHAIN, NULL, " write read a main\n b main\n write entry\n\n" },
		{ STACK_USER, SAMPLE_CHAIN, NULL, " a main\n b main\n [kernel]\n\n" },
		{ STACK_KERNEL, SAMPLE_CHAIN, NULL, " write read\n [user]\n write entry\n [user]\n" },
		{ STACK_WHOLE, SAMPLE_IP, NULL, " write\n b\n write\n main\n" },
		{ STACK_USER, SAMPLE_IP, NULL, " a\n b\n [kernel]\n main\n" },
		{ STACK_KERNEL, SAMPLE_IP, NULL, " write\n [user]\n write\n [user]\n" },
		{ STACK_WHOLE, SAMPLE_STACK, NULL, " write read a main\n b main\n write entry\n main\n" },
		{ STACK_USER, SAMPLE_STACK, NULL, " a main\n b main\n [kernel]\n main\n" },
		{ STACK_KERNEL, SAMPLE_STACK, NULL, " write read\n [user]\n write entry\n [user]\n" },
		{ STACK_USER, 0, NULL, "\n\n\n\n" },
		{ STACK_USER, SAMPLE_STACK, "a,[kernel]", " a main\n [kernel]\n" },
		{ STACK_USER, SAMPLE_CHAIN, "a", " a main\n" },
		{ STACK_USER, 0, "a", "\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_samples(rows[i].part, rows[i].wants, rows[i].symbols, rows[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks),
		cmocka_unit_test(marks_of_frames),
		cmocka_unit_test(numbers),
		cmocka_unit_test(rows_without_callers),
		cmocka_unit_test(samples_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
