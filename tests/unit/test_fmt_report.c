/* SPDX-License-Identifier: MIT */
/*
 * The formats of report, from a recording to text: what perf 6.1 prints of the same entries for --stdio, and
 * lines and JSON that hold whatever a name is. The order of the samples changes no text.
 */
#include "report_recording.h"

#include "hist/hist.h"

enum { SAMPLES_MAX = 7 };

/* To add a case: one row of cases[]. */
struct format_case {
	const char *what, *format; /* NULL: stdio */
	struct query query;
	bool color;
	const struct recorded_samples *samples; /* ended by one without a chain */
	unsigned n_events; /* 0: 1 */
	const char *from; /* the text is compared from here on; NULL: from its beginning */
	const char *expected;
	const char *holds[3]; /* parts of the text before that */
	const char *note, *no_note; /* parts of notes: one that there is, one that there isn't */
};

#define HEAD \
	"# To display the perf.data header info, please use --header/--header-only options.\n" \
	"#\n#\n# Total Lost Samples: 0\n#\n"
#define GRAPH(percent) .chain = { .kind = CHAIN_GRAPH, .min_percent = (percent) }
#define SAMPLES(...) ((const struct recorded_samples[]){ __VA_ARGS__, { 0 } })

static const struct recorded_samples some[] = {
	{ .chain = "main|a|b|c", .count = 10 },
	{ .chain = "main|a|b|d", .count = 20 },
	{ .chain = "main|a|b", .count = 5 },
	{ .chain = "main|e|k:entry|k:read", .count = 1 },
	{ .comm = "x", .chain = "main", .count = 4 },
	{ 0 },
};
static const struct recorded_samples awkward[] = {
	{ .comm = "a,b \"c\"", .chain = "main|com,ma \"q\"", .count = 1 },
	{ .comm = "esc\033[31m", .chain = "main|semi;colon", .count = 2 },
	{ .comm = "new\nline;x", .chain = "main|0x7000000077", .count = 3 },
	{ .comm = "bytes\xff", .chain = "", .count = 4 },
	{ 0 },
};
static const struct recorded_samples colored[] = {
	{ .chain = "main|a", .count = 94 },
	{ .chain = "main|b", .count = 5 },
	{ .chain = "main|c", .count = 1 },
	{ 0 },
};
static const struct recorded_samples equals[] = {
	{ .chain = "main|a|b", .count = 2 },
	{ .chain = "main|a|c", .count = 2 },
	{ .chain = "main|twin", .count = 2 },
	{ .chain = "main|" TWIN, .count = 2 },
	{ .comm = "x", .chain = "main|a|c", .count = 2 },
	{ .chain = "main|0x7000000077", .count = 2 },
	{ .comm = "x", .chain = "main|k:entry", .count = 2 },
	{ 0 },
};

static const struct format_case cases[] = {
	{ "chains", NULL, { .sort = "comm,sym", GRAPH(0.5) }, .samples = some,
	  .expected = HEAD
		      "# Samples: 40  of event 'cycles'\n"
		      "# Event count (approx.): 40000\n"
		      "#\n"
		      "# Overhead  Command  Symbol  \n"
		      "# ........  .......  ........\n"
		      "#\n"
		      "    50.00%  prog     [.] d\n"
		      "            |\n"
		      "            ---d\n"
		      "               b\n"
		      "               a\n"
		      "               main\n"
		      "\n"
		      "    25.00%  prog     [.] c\n"
		      "            |\n"
		      "            ---c\n"
		      "               b\n"
		      "               a\n"
		      "               main\n"
		      "\n"
		      "    12.50%  prog     [.] b\n"
		      "            |\n"
		      "            ---b\n"
		      "               a\n"
		      "               main\n"
		      "\n"
		      "    10.00%  x        [.] main\n"
		      "            |\n"
		      "            ---main\n"
		      "\n"
		      "     2.50%  prog     [k] read\n"
		      "            |\n"
		      "            ---read\n"
		      "               entry\n"
		      "               e\n"
		      "               main\n"
		      "\n\n\n" },
	{ "children", NULL,
	  { .sort = "comm", .children = -1, .n_samples = true, .total_period = true, .header_shown = true, GRAPH(0.5) },
	  .samples = some,
	  .expected = "#\n"
		      "# Total Lost Samples: 0\n"
		      "#\n"
		      "# Samples: 40  of event 'cycles'\n"
		      "# Event count (approx.): 40000\n"
		      "#\n"
		      "# Children      Self       Samples        Period  Command\n"
		      "# ........  ........  ............  ............  .......\n"
		      "#\n"
		      "    90.00%    90.00%            36         36000  prog   \n"
		      "            |\n"
		      "            ---main\n"
		      "               |          \n"
		      "               |--87.50%--a\n"
		      "               |          b\n"
		      "               |          |          \n"
		      "               |          |--50.00%--d\n"
		      "               |          |          \n"
		      "               |           --25.00%--c\n"
		      "               |          \n"
		      "                --2.50%--e\n"
		      "                          entry\n"
		      "                          read\n"
		      "\n"
		      "    10.00%    10.00%             4          4000  x      \n"
		      "            |\n"
		      "            ---main\n"
		      "\n\n\n" },
	/* Columns stay filled up, as perf has them; what holds a separator is one field all the same. */
	{ "separator", NULL, { .sort = "comm,sym", .separator = ",", .quiet = true, .n_samples = true },
	  .samples = awkward,
	  .expected = " 40.00% , 4          ,bytes\\xff    ,[.] main\n"
		      " 30.00% , 3          ,new\\x0aline;x,[.] 0x0000007000000077\n"
		      " 20.00% , 2          ,esc\\x1b[31m  ,[.] semi;colon\n"
		      " 10.00% , 1          ,\"a,b \"\"c\"\"      \",\"[.] com,ma \"\"q\"\"\"\n"
		      "\n\n" },
	{ "hierarchy", NULL, { .sort = "comm,sym", .children = -1, .view = VIEW_HIERARCHY, .percent_limit = 11 },
	  .samples = SAMPLES({ .chain = "main|a", .count = 50 },
			     { .chain = "main|b", .count = 20 },
			     { .chain = "main|c", .count = 2 },
			     { .comm = "x", .chain = "d", .count = 9 },
			     { .comm = "x", .chain = "e", .count = 9 },
			     { .comm = "x", .chain = "a", .count = 9 },
			     { .comm = "lo", .chain = "a", .count = 1 }),
	  .expected = HEAD
		      "# Samples: 100  of event 'cycles'\n"
		      "# Event count (approx.): 100000\n"
		      "#\n"
		      "#    Overhead  Command / Symbol\n"
		      "# ...........  ................\n"
		      "#\n"
		      "    72.00%     prog   \n"
		      "       50.00%     [.] a\n"
		      "       20.00%     [.] b\n"
		      "    27.00%     x      \n"
		      "                  no entry >= 11.00%\n"
		      "\n\n" },
	{ "stacks, the rarest first; of as many samples by process, then by stack", "stacks",
	  { .children = -1, GRAPH(0.5), .folded_delimiter = true }, .samples = some,
	  .expected = "    read\n    entry\n    --\n    e\n    main\n    -                prog (100)\n        1\n\n"
		      "    main\n    -                x (100)\n        4\n\n"
		      "    b\n    a\n    main\n    -                prog (100)\n        5\n\n"
		      "    c\n    b\n    a\n    main\n    -                prog (100)\n        10\n\n"
		      "    d\n    b\n    a\n    main\n    -                prog (100)\n        20\n\n" },
	{ "folded", "folded", { .children = -1, GRAPH(0.5) }, .samples = some,
	  .expected = "prog;main;a;b 5\n"
		      "prog;main;a;b;c 10\n"
		      "prog;main;a;b;d 20\n"
		      "prog;main;e;entry;read 1\n"
		      "x;main 4\n" },
	{ "folded, of awkward names", "folded", { .children = -1, GRAPH(0.5) }, .samples = awkward,
	  .expected = "a,b \"c\";main;com,ma \"q\" 1\n"
		      "bytes\\xff;main 4\n"
		      "esc\\x1b[31m;main;semi:colon 2\n"
		      "new\\x0aline:x;main;[unknown] 3\n" },
	/* Code of a perf-PID.map was made at run time. Of which keys entries are made does not matter. */
	{ "folded, with marks", "folded",
	  { .children = -1, GRAPH(0.5), .folded_annotate = true, .folded_delimiter = true, .sort = "cpu" },
	  .samples = some,
	  .expected = "prog;main_[j];a_[j];b_[j] 5\n"
		      "prog;main_[j];a_[j];b_[j];c_[j] 10\n"
		      "prog;main_[j];a_[j];b_[j];d_[j] 20\n"
		      "prog;main_[j];e_[j];-;entry_[k];read_[k] 1\n"
		      "x;main_[j] 4\n" },
	{ "folded, of two events", "folded", { .children = -1, GRAPH(0.5) }, .n_events = 2,
	  .samples = SAMPLES({ .chain = "main|a", .count = 7, .period = 5 },
			     { .chain = "main|b", .count = 3, .event = 1 }),
	  .expected = "prog;main;a 7\n", .note = "folded stacks: only those of cycles" },
	/* The other event has none: nothing to say, and the first that has some is it. */
	{ "folded, of the second event", "folded", { .children = -1, GRAPH(0.5) }, .n_events = 2,
	  .samples = SAMPLES({ .chain = "main|b", .count = 3, .event = 1 }),
	  .expected = "prog;main;b 3\n", .no_note = "folded" },
	{ "JSON", "json", { .sort = "comm,sym,cpu", GRAPH(20) },
	  .samples = SAMPLES({ .chain = "main|0x7000000077", .count = 3 },
			     { .comm = "q\"\\\xff\n", .chain = "main|com,ma \"q\"", .count = 1 },
			     { .chain = "main|a", .count = 1, .period = 200 }),
	  .holds = { "\"hostname\": \"host\", \"os_release\": null",
		     "\"cmdline\": null, \"first_sample_ns\": 1002, \"last_sample_ns\": 1008}",
		     "\"lost\": {\"samples\": 0, \"events\": 0, \"stacks\": 0, \"throttles\": 0, \"end\": null}" },
	  .from = "\"events\": [\n",
	  .expected = "\"events\": [\n"
		      "{\"name\": \"cycles\", \"samples\": 5, \"period\": 4200, \"shown_samples\": 5, "
		      "\"shown_period\": 4200, \"members\": [{\"name\": \"cycles\", \"samples\": 5, "
		      "\"period\": 4200, \"shown_samples\": 5, \"shown_period\": 4200}], "
		      "\"chains\": \"callee\", \"entries\": [\n"
		      "{\"samples\": 3, \"period\": 3000, \"columns\": {\"overhead\": 71.428571, "
		      "\"comm\": \"prog\", \"symbol\": \"0x0000007000000077\", \"cpu\": 0}, "
		      "\"level\": \".\", \"tree\": [{\"symbol\": null, \"dso\": null, "
		      "\"address\": \"0x7000000077\", \"samples\": 3, \"period\": 3000, "
		      "\"self_samples\": 0, \"self_period\": 0, \"children\": [{\"symbol\": \"main\", "
		      "\"dso\": \"[JIT] tid 100\", \"samples\": 3, \"period\": 3000, "
		      "\"self_samples\": 3, \"self_period\": 3000}]}]},\n"
		      "{\"samples\": 1, \"period\": 1000, \"columns\": {\"overhead\": 23.809524, "
		      "\"comm\": \"q\\\"\\\\\\\\xff\\\\x0a\", \"symbol\": \"com,ma \\\"q\\\"\", \"cpu\": "
		      "0}, "
		      "\"level\": \".\", \"tree\": [{\"symbol\": \"com,ma \\\"q\\\"\", "
		      "\"dso\": \"[JIT] tid 100\", \"samples\": 1, \"period\": 1000, "
		      "\"self_samples\": 0, \"self_period\": 0, \"children\": [{\"symbol\": \"main\", "
		      "\"dso\": \"[JIT] tid 100\", \"samples\": 1, \"period\": 1000, "
		      "\"self_samples\": 1, \"self_period\": 1000}]}]},\n"
		      "{\"samples\": 1, \"period\": 200, \"columns\": {\"overhead\": 4.761905, "
		      "\"comm\": \"prog\", \"symbol\": \"a\", \"cpu\": 0}, \"level\": \".\"}]}]}\n" },
	{ "colors", NULL, { .sort = "comm,sym", .quiet = true }, .color = true, .samples = colored,
	  .expected = "  \033[31m  94.00%\033[m  prog     [.] a\n"
		      "  \033[31m   5.00%\033[m  prog     [.] b\n"
		      "  \033[32m   1.00%\033[m  prog     [.] c\n"
		      "\n\n" },
	{ "no colors in fields", NULL, { .sort = "comm,sym", .quiet = true, .separator = ";" }, .color = true,
	  .samples = colored,
	  .expected = " 94.00% ;prog   ;[.] a\n"
		      " 5.00%  ;prog   ;[.] b\n"
		      " 1.00%  ;prog   ;[.] c\n"
		      "\n\n" },
	{ "group", NULL, { .sort = "sym", .group = true }, .n_events = 2,
	  .samples = SAMPLES({ .chain = "main|a", .count = 3 },
			     { .chain = "main|b", .count = 1 },
			     { .chain = "main|b", .count = 5, .event = 1 }),
	  .expected = HEAD
		      "# Samples: 9  of events 'cycles, faults'\n"
		      "# Event count (approx.): 9000\n"
		      "#\n"
		      "#         Overhead  Symbol\n"
		      "# ................  ......\n"
		      "#\n"
		      "    75.00%   0.00%  [.] a\n"
		      "    25.00% 100.00%  [.] b\n"
		      "\n\n" },
	{ "equal rows", NULL, { .sort = "comm,sym", .children = -1, .quiet = true }, .samples = equals,
	  .expected = "    71.43%     0.00%  prog     [.] main\n"
		      "    28.57%     0.00%  x        [.] main\n"
		      "    28.57%     0.00%  prog     [.] a\n"
		      "    14.29%    14.29%  prog     [.] b\n"
		      "    14.29%    14.29%  prog     [.] c\n"
		      "    14.29%    14.29%  x        [.] c\n"
		      "    14.29%    14.29%  prog     [.] twin\n"
		      "    14.29%    14.29%  prog     [.] twin\n"
		      "    14.29%    14.29%  prog     [.] 0x0000007000000077\n"
		      "    14.29%    14.29%  x        [k] entry\n"
		      "    14.29%     0.00%  x        [.] a\n"
		      "\n\n" },
	{ "equal branches", NULL, { .sort = "comm", .quiet = true, GRAPH(0.5) }, .samples = equals,
	  .expected = "    71.43%  prog   \n"
		      "            |          \n"
		      "            |--14.29%--twin\n"
		      "            |          main\n"
		      "            |          \n"
		      "            |--14.29%--twin\n"
		      "            |          main\n"
		      "            |          \n"
		      "            |--14.29%--c\n"
		      "            |          a\n"
		      "            |          main\n"
		      "            |          \n"
		      "            |--14.29%--b\n"
		      "            |          a\n"
		      "            |          main\n"
		      "            |          \n"
		      "             --14.29%--0x7000000077\n"
		      "                       main\n"
		      "\n"
		      "    28.57%  x      \n"
		      "            |          \n"
		      "            |--14.29%--c\n"
		      "            |          a\n"
		      "            |          main\n"
		      "            |          \n"
		      "             --14.29%--entry\n"
		      "                       main\n"
		      "\n\n\n" },
};

static bool is_as_expected(const struct format_case *row, const struct recorded_samples *samples, size_t n)
{
	struct recorded recorded = { .two_sockets = false };
	struct str text, notes = STR_INIT;
	struct query query = row->query;
	const char *from;
	bool is_right;

	record_samples(&recorded, samples, n, row->n_events ? row->n_events : 1);
	query.session = recorded_options(&recorded).session;
	query.needs = row->format ? report_format_find(row->format)->needs : 0;
	recorded_report(&recorded, &query, row->color, &text, &notes);
	from = row->from ? strstr(text.s, row->from) : text.s;
	is_right = from && !strcmp(from, row->expected);
	for (size_t i = 0; i < ARRAY_SIZE(row->holds); i++)
		is_right &= !row->holds[i] || strstr(text.s, row->holds[i]);
	is_right &= (!row->note || strstr(notes.s, row->note)) && (!row->no_note || !strstr(notes.s, row->no_note));
	if (!is_right)
		fprintf(stderr, "%s:\n%s\nnotes:\n%s\n", row->what, text.s, notes.s);
	str_release(&text);
	str_release(&notes);
	recorded_remove(&recorded);
	return is_right;
}

static void each_text_in_each_order(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct recorded_samples *samples = cases[i].samples;
		struct recorded_samples turned[2 * SAMPLES_MAX];
		size_t n = 0;

		while (samples[n].chain)
			n++;
		for (size_t k = 0; k < n; k++)
			turned[k] = turned[k + n] = samples[n - 1 - k];
		n_wrong += !is_as_expected(&cases[i], samples, n);
		for (size_t first = 0; first < n; first++)
			n_wrong += !is_as_expected(&cases[i], turned + first, n);
	}
	assert_int_equal(n_wrong, 0);
}

static void test_formats(void **state)
{
	(void)state;
	assert_ptr_equal(report_format_find("stdio"), &format_stdio);
	assert_ptr_equal(report_format_find("folded"), &format_folded);
	assert_ptr_equal(report_format_find("json"), &format_json);
	assert_null(report_format_find("jso"));
	assert_null(report_format_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_in_each_order),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
