/*
 * The formats of report, from a recording to text: what perf 6.1 prints of the same entries for --stdio, and
 * lines and JSON that hold whatever a name is.
 */
#include "report_recording.h"

#include "hist/hist.h"

static void expect_report(const struct recorded_samples *samples, size_t n, unsigned n_events,
			  void (*set)(struct query *options), const char *expected)
{
	struct recorded recorded = { .two_sockets = false };
	struct query options;
	struct str text;

	record_samples(&recorded, samples, n, n_events);
	options = recorded_options(&recorded);
	set(&options);
	recorded_report(&recorded, &options, false, &text, NULL);
	assert_string_equal(text.s, expected);
	str_release(&text);
	recorded_remove(&recorded);
}

static const struct recorded_samples some[] = {
	{ .chain = "main|a|b|c", .count = 10 },
	{ .chain = "main|a|b|d", .count = 20 },
	{ .chain = "main|a|b", .count = 5 },
	{ .chain = "main|e|k:entry|k:read", .count = 1 },
	{ .comm = "x", .chain = "main", .count = 4 },
};

static void set_stdio(struct query *options)
{
	options->sort = "comm,sym";
	options->children = 0;
}

static void test_stdio(void **state)
{
	(void)state;
	expect_report(some, ARRAY_SIZE(some), 1, set_stdio,
		      "# To display the perf.data header info, please use "
		      "--header/--header-only options.\n"
		      "#\n"
		      "#\n"
		      "# Total Lost Samples: 0\n"
		      "#\n"
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
		      "\n\n\n");
}

static void set_children(struct query *options)
{
	options->sort = "comm";
	options->n_samples = options->total_period = true;
	options->header_shown = true;
}

static void test_children(void **state)
{
	(void)state;
	expect_report(some, ARRAY_SIZE(some), 1, set_children,
		      "#\n"
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
		      "\n\n\n");
}

static const struct recorded_samples awkward[] = {
	{ .comm = "a,b \"c\"", .chain = "main|com,ma \"q\"", .count = 1 },
	{ .comm = "esc\033[31m", .chain = "main|semi;colon", .count = 2 },
	{ .comm = "new\nline;x", .chain = "main|0x7000000077", .count = 3 },
	{ .comm = "bytes\xff", .chain = "", .count = 4 },
};

static void set_separator(struct query *options)
{
	options->sort = "comm,sym";
	options->separator = ",";
	options->children = 0;
	options->chain.kind = CHAIN_NONE;
	options->quiet = true;
	options->n_samples = true;
}

/* Columns stay filled up, as perf has them; what holds a separator is one field all the same. */
static void test_separator(void **state)
{
	(void)state;
	expect_report(awkward, ARRAY_SIZE(awkward), 1, set_separator,
		      " 40.00% , 4          ,bytes\\xff    ,[.] main\n"
		      " 30.00% , 3          ,new\\x0aline;x,[.] 0x0000007000000077\n"
		      " 20.00% , 2          ,esc\\x1b[31m  ,[.] semi;colon\n"
		      " 10.00% , 1          ,\"a,b \"\"c\"\"      \",\"[.] com,ma \"\"q\"\"\"\n"
		      "\n\n");
}

static void set_hierarchy(struct query *options)
{
	options->sort = "comm,sym";
	options->view = VIEW_HIERARCHY;
	options->chain.kind = CHAIN_NONE;
	options->percent_limit = 11;
}

static void test_hierarchy(void **state)
{
	static const struct recorded_samples samples[] = {
		{ .chain = "main|a", .count = 50 },
		{ .chain = "main|b", .count = 20 },
		{ .chain = "main|c", .count = 2 },
		{ .comm = "x", .chain = "d", .count = 9 },
		{ .comm = "x", .chain = "e", .count = 9 },
		{ .comm = "x", .chain = "a", .count = 9 },
		{ .comm = "lo", .chain = "a", .count = 1 },
	};

	(void)state;
	expect_report(samples, ARRAY_SIZE(samples), 1, set_hierarchy,
		      "# To display the perf.data header info, please use "
		      "--header/--header-only options.\n"
		      "#\n"
		      "#\n"
		      "# Total Lost Samples: 0\n"
		      "#\n"
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
		      "\n\n");
}

static void set_folded(struct query *options)
{
	options->needs = report_format_find("folded")->needs;
}

static void test_folded(void **state)
{
	(void)state;
	expect_report(some, ARRAY_SIZE(some), 1, set_folded,
		      "prog;main;a;b 5\n"
		      "prog;main;a;b;c 10\n"
		      "prog;main;a;b;d 20\n"
		      "prog;main;e;entry;read 1\n"
		      "x;main 4\n");
	expect_report(awkward, ARRAY_SIZE(awkward), 1, set_folded,
		      "a,b \"c\";main;com,ma \"q\" 1\n"
		      "bytes\\xff;main 4\n"
		      "esc\\x1b[31m;main;semi:colon 2\n"
		      "new\\x0aline:x;main;[unknown] 3\n");
}

static void set_folded_marks(struct query *options)
{
	options->needs = report_format_find("folded")->needs;
	options->folded_annotate = options->folded_delimiter = true;
	options->sort = "cpu"; /* what entries are made of does not matter */
}

/* Code of a perf-PID.map was made at run time. */
static void test_folded_marks(void **state)
{
	(void)state;
	expect_report(some, ARRAY_SIZE(some), 1, set_folded_marks,
		      "prog;main_[j];a_[j];b_[j] 5\n"
		      "prog;main_[j];a_[j];b_[j];c_[j] 10\n"
		      "prog;main_[j];a_[j];b_[j];d_[j] 20\n"
		      "prog;main_[j];e_[j];-;entry_[k];read_[k] 1\n"
		      "x;main_[j] 4\n");
}

static void test_folded_events(void **state)
{
	static const struct recorded_samples samples[] = {
		{ .chain = "main|a", .count = 7, .event = 0, .period = 5 },
		{ .chain = "main|b", .count = 3, .event = 1 },
	};
	struct recorded recorded = { .two_sockets = false };
	struct query options;
	struct str text, notes = STR_INIT;

	(void)state;
	record_samples(&recorded, samples, 2, 2);
	options = recorded_options(&recorded);
	set_folded(&options);
	recorded_report(&recorded, &options, false, &text, &notes);
	assert_string_equal(text.s, "prog;main;a 7\n");
	assert_non_null(strstr(notes.s, "folded stacks: only those of cycles"));
	str_release(&text);
	str_release(&notes);
	/* The other event has none: nothing to say, and the first that has some is it. */
	recorded_remove(&recorded);
	record_samples(&recorded, samples + 1, 1, 2);
	options = recorded_options(&recorded);
	set_folded(&options);
	recorded_report(&recorded, &options, false, &text, &notes);
	assert_string_equal(text.s, "prog;main;b 3\n");
	assert_null(strstr(notes.s, "folded"));
	str_release(&text);
	str_release(&notes);
	recorded_remove(&recorded);
}

static void set_json(struct query *options)
{
	options->needs = report_format_find("json")->needs;
	options->sort = "comm,sym,cpu";
	options->chain.min_percent = 20;
}

static void test_json(void **state)
{
	static const struct recorded_samples samples[] = {
		{ .chain = "main|0x7000000077", .count = 3 },
		{ .comm = "q\"\\\xff\n", .chain = "main|com,ma \"q\"", .count = 1 },
		{ .chain = "main|a", .count = 1, .period = 200 },
	};
	struct recorded recorded = { .two_sockets = false };
	struct query options;
	struct str text;
	const char *events;

	(void)state;
	record_samples(&recorded, samples, ARRAY_SIZE(samples), 1);
	options = recorded_options(&recorded);
	set_json(&options);
	options.children = 0;
	recorded_report(&recorded, &options, false, &text, NULL);
	assert_non_null(strstr(text.s, "\"hostname\": \"host\", \"os_release\": null"));
	assert_non_null(strstr(text.s, "\"cmdline\": null, \"first_sample_ns\": 1002, "
				       "\"last_sample_ns\": 1008}"));
	assert_non_null(strstr(text.s, "\"lost\": {\"samples\": 0, \"events\": 0, \"stacks\": 0, "
				       "\"throttles\": 0, \"end\": null}"));
	events = strstr(text.s, "\"events\": [\n");
	assert_non_null(events);
	assert_string_equal(
		events,
		"\"events\": [\n"
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
		"\"comm\": \"prog\", \"symbol\": \"a\", \"cpu\": 0}, \"level\": \".\"}]}]}\n");
	str_release(&text);
	recorded_remove(&recorded);
}

static void test_colors(void **state)
{
	static const struct recorded_samples samples[] = {
		{ .chain = "main|a", .count = 94 },
		{ .chain = "main|b", .count = 5 },
		{ .chain = "main|c", .count = 1 },
	};
	struct recorded recorded = { .two_sockets = false };
	struct query options;
	struct str text;

	(void)state;
	record_samples(&recorded, samples, 3, 1);
	options = recorded_options(&recorded);
	options.sort = "comm,sym";
	options.children = 0;
	options.quiet = true;
	options.chain.kind = CHAIN_NONE;
	recorded_report(&recorded, &options, true, &text, NULL);
	assert_string_equal(text.s, "  \033[31m  94.00%\033[m  prog     [.] a\n"
				    "  \033[31m   5.00%\033[m  prog     [.] b\n"
				    "  \033[32m   1.00%\033[m  prog     [.] c\n"
				    "\n\n");
	str_release(&text);
	options.separator = ";";
	recorded_report(&recorded, &options, true, &text, NULL);
	assert_null(strchr(text.s, '\033'));
	str_release(&text);
	recorded_remove(&recorded);
}

static void set_group(struct query *options)
{
	options->group = true;
	options->children = 0;
	options->sort = "sym";
	options->chain.kind = CHAIN_NONE;
}

static void test_group(void **state)
{
	static const struct recorded_samples samples[] = {
		{ .chain = "main|a", .count = 3 },
		{ .chain = "main|b", .count = 1 },
		{ .chain = "main|b", .count = 5, .event = 1 },
	};

	(void)state;
	expect_report(samples, ARRAY_SIZE(samples), 2, set_group,
		      "# To display the perf.data header info, please use "
		      "--header/--header-only options.\n"
		      "#\n"
		      "#\n"
		      "# Total Lost Samples: 0\n"
		      "#\n"
		      "# Samples: 9  of events 'cycles, faults'\n"
		      "# Event count (approx.): 9000\n"
		      "#\n"
		      "#         Overhead  Symbol\n"
		      "# ................  ......\n"
		      "#\n"
		      "    75.00%   0.00%  [.] a\n"
		      "    25.00% 100.00%  [.] b\n"
		      "\n\n");
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
		cmocka_unit_test(test_stdio),         cmocka_unit_test(test_children),
		cmocka_unit_test(test_separator),     cmocka_unit_test(test_hierarchy),
		cmocka_unit_test(test_folded),        cmocka_unit_test(test_folded_marks),
		cmocka_unit_test(test_folded_events), cmocka_unit_test(test_json),
		cmocka_unit_test(test_colors),        cmocka_unit_test(test_group),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
