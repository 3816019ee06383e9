/* SPDX-License-Identifier: MIT */
/* The option parser: every way to write an option, every way to get it wrong, and -h. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail /* cmocka has one too */
#include "cmd/options.h"

#include <errno.h>
#include <stdlib.h>

struct words {
	bool all, inherit, scale;
	int verbose;
	long interval, repeat;
	unsigned depth;
	bool intel, relative;
	int percent;
	const char *output, *graph;
	struct str events;
};

static int take_event(void *target, const char *argument, struct str *err)
{
	struct words *words = target;

	if (!strcmp(argument, "bad"))
		return fail(err, -EINVAL, "--event: 'bad' is not an event");
	str_addf(&words->events, "%s;", argument);
	return 0;
}

#define FIELD(name) .offset = offsetof(struct words, name)

static const struct option_row rows[] = {
	{ .kind = OPTION_GROUP, .help = "What" },
	{ OPTION_CALL, 'e', "event", "list", "events", .call = take_event },
	{ OPTION_FLAG, 'a', "all-cpus", NULL, "all CPUs", FIELD(all) },
	{ OPTION_FLAG, 'i', "no-inherit", NULL, "no children", FIELD(inherit), .off = true },
	{ OPTION_FLAG, 0, "scale", NULL, "scale", FIELD(scale), .both = true },
	{ .kind = OPTION_GROUP, .help = "How" },
	{ OPTION_COUNT, 'v', "verbose", NULL, "say more", FIELD(verbose) },
	{ OPTION_NUMBER, 'I', "interval-print", "ms", "intervals", FIELD(interval), .min = 1, .max = 1000,
	  .unit = "ms" },
	{ OPTION_FLAG, 0, "interval-clear", NULL, "clear", FIELD(all) },
	{ OPTION_NUMBER, 'r', "repeat", "n", "repeat", FIELD(repeat), .min = 0, .max = LONG_MAX },
	{ OPTION_TEXT, 'o', "output", "file", "file", FIELD(output) },
	{ OPTION_TEXT, 'g', "call-graph", "mode", "graph", FIELD(graph), .argument_optional = true },
	{ OPTION_FLAG, 0, "no-call-graph", NULL, "none", FIELD(all) },
	{ OPTION_TEXT, 'm', "may-follow", "mode", "mode", FIELD(graph), .argument_may_follow = true },
	{ OPTION_UNSIGNED, 0, "depth", "n", "depth", FIELD(depth), .min = 1, .max = 99 },
	{ OPTION_CHOICE, 0, "syntax", "att|intel", "syntax", FIELD(intel) },
	{ OPTION_CHOICE, 0, "share", "relative|absolute", "share", FIELD(relative), .off = true },
	{ OPTION_CHOICE, 'P', "percent", "local|local-hits|global", "percent", FIELD(percent), .min = 5 },
	{ OPTION_FLAG, 0, "a-name-that-fills-the-whole-column", NULL, "long", FIELD(all) },
	{ OPTION_ACCEPTED, 0, "threads", "n", .help = "one is enough", .min = 1, .max = 9 },
	{ OPTION_ACCEPTED, 'Q', "quick", NULL, .help = "it is" },
	{ OPTION_REFUSED, 'K', "kcore", NULL, .help = "it is large",
	  .instead = "a smaller one, of which a line of eighty columns cannot hold all the words" },
	{ OPTION_REFUSED, 0, "level", "n", .help = "there is one" },
	{ .kind = OPTION_END },
};

struct result {
	struct words words;
	int rc, first, argc;
	struct str err;
};

static struct result parse(const char *const *argv)
{
	struct result r = { .words = { .inherit = true, .scale = true, .events = STR_INIT }, .err = STR_INIT };
	char *copy[32];

	while (argv[r.argc])
		r.argc++;
	assert_true((size_t)r.argc < ARRAY_SIZE(copy));
	/* main()'s argv is not const, but the parser only reads it. */
	memcpy(copy, argv, ((size_t)r.argc + 1) * sizeof(*copy));
	r.rc = options_parse(rows, r.argc, copy, &r.words, &r.first, &r.err);
	return r;
}

#define PARSE(...) parse((const char *const[]){ "pstat", __VA_ARGS__, NULL })

static void fails(struct result r, const char *message)
{
	assert_int_equal(r.rc, -EINVAL);
	assert_string_equal(r.err.s, message);
	str_release(&r.err);
	str_release(&r.words.events);
}

static void events_are(struct result r, const char *events, int first)
{
	assert_string_equal(r.err.s, "");
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.words.events.s, events);
	assert_int_equal(r.first, first);
	str_release(&r.words.events);
}

static void test_ways_to_give_an_argument(void **state)
{
	(void)state;
	events_are(PARSE("-e", "cs"), "cs;", 3);
	events_are(PARSE("-ecs"), "cs;", 2);
	events_are(PARSE("--event=cs"), "cs;", 2);
	events_are(PARSE("--event", "cs"), "cs;", 3);
	events_are(PARSE("--ev=cs", "--even", "faults"), "cs;faults;", 4);
	events_are(PARSE("-e", "cs", "-e", "faults"), "cs;faults;", 5);
	events_are(PARSE("--event="), ";", 2);
	events_are(PARSE("-e", "-a"), "-a;", 3);
}

static void test_bundles(void **state)
{
	struct result r = PARSE("-avve", "cs", "-iI100");

	(void)state;
	assert_true(r.words.all);
	assert_false(r.words.inherit);
	assert_int_equal(r.words.verbose, 2);
	assert_int_equal(r.words.interval, 100);
	events_are(r, "cs;", 4);
}

static void test_negation(void **state)
{
	(void)state;
	assert_false(PARSE("--no-scale").words.scale);
	assert_true(PARSE("--no-scale", "--scale").words.scale);
	assert_false(PARSE("--no-inherit").words.inherit);
	assert_true(PARSE("-i", "--inherit").words.inherit);
	assert_int_equal(PARSE("-vv", "--no-verbose").words.verbose, 0);
	assert_false(PARSE("-a", "--no-all").words.all);
	fails(PARSE("--no-output"), "--no-output: there is no such option");
	/* A name of its own is no other row's negation. */
	assert_string_equal(PARSE("--call-graph=fp").words.graph, "fp");
	assert_string_equal(PARSE("--call-g=fp").words.graph, "fp");
	assert_true(PARSE("--no-call-graph").words.all);
}

static void test_where_options_end(void **state)
{
	(void)state;
	events_are(PARSE("-e", "cs", "ls", "-l"), "cs;", 3);
	events_are(PARSE("-e", "cs", "--", "-l"), "cs;", 4);
	events_are(PARSE("-e", "cs", "-", "-e", "x"), "cs;", 3);
	events_are(PARSE("--"), "", 2);
	assert_int_equal(PARSE("-a", "-h", "--bogus").rc, OPTIONS_HELP);
	assert_int_equal(PARSE("--help").rc, OPTIONS_HELP);
	assert_int_equal(PARSE("--he").rc, OPTIONS_HELP);
}

static void test_optional_arguments(void **state)
{
	struct result r = PARSE("-g", "dwarf");

	(void)state;
	assert_null(r.words.graph);
	assert_int_equal(r.first, 2);
	assert_string_equal(PARSE("-gdwarf").words.graph, "dwarf");
	assert_string_equal(PARSE("--call-graph=fp").words.graph, "fp");
	assert_null(PARSE("--call-graph", "fp").words.graph);
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-r", "0").words.repeat, 0);
	assert_int_equal(PARSE("-I", "1000").words.interval, 1000);
	fails(PARSE("-I", "abc"), "--interval-print: 'abc' is not a number (1 to 1000 ms)");
	fails(PARSE("--interval-print="), "--interval-print: '' is not a number (1 to 1000 ms)");
	fails(PARSE("-I", "5x"), "--interval-print: '5x' is not a number (1 to 1000 ms)");
	fails(PARSE("-I", "0"), "--interval-print: '0' is out of range (1 to 1000 ms)");
	fails(PARSE("-I", "1001"), "--interval-print: '1001' is out of range (1 to 1000 ms)");
	fails(PARSE("-r", "-1"), "--repeat: '-1' is out of range (0 or more)");
	fails(PARSE("-r", "99999999999999999999"),
	      "--repeat: '99999999999999999999' is out of range (0 or more)");
}

static void test_choices(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--depth", "99").words.depth, 99);
	assert_true(PARSE("--syntax", "intel").words.intel);
	assert_false(PARSE("--syntax=intel", "--syntax=att").words.intel);
	assert_true(PARSE("--share=relative").words.relative);
	assert_false(PARSE("--share=relative", "--share=absolute").words.relative);
	assert_int_equal(PARSE("-P", "local").words.percent, 5);
	assert_int_equal(PARSE("-P", "local-hits").words.percent, 6);
	assert_int_equal(PARSE("-Pglobal").words.percent, 7);
	fails(PARSE("--depth", "100"), "--depth: '100' is out of range (1 to 99)");
	fails(PARSE("--syntax", "int"), "--syntax: 'int' is not att or intel");
	fails(PARSE("-P", "local|local-hits"), "--percent: 'local|local-hits' is not local, local-hits or global");
	fails(PARSE("-P", ""), "--percent: '' is not local, local-hits or global");
}

static void test_wrong_words(void **state)
{
	(void)state;
	fails(PARSE("-q"), "-q: there is no such option");
	fails(PARSE("-aq"), "-q: there is no such option");
	fails(PARSE("--bogus"), "--bogus: there is no such option");
	fails(PARSE("--outptu", "x"), "--outptu: there is no such option\ndid you mean --output?");
	fails(PARSE("--interval"), "--interval: this could be --interval-print, --interval-clear");
	fails(PARSE("-o"), "--output: an argument is missing: <file>");
	fails(PARSE("--output"), "--output: an argument is missing: <file>");
	fails(PARSE("--all-cpus=1"), "--all-cpus: it takes no argument, but '1' was given");
	fails(PARSE("-e", "bad"), "--event: 'bad' is not an event");
	fails(PARSE("--=x"), "--: there is no such option");
}

static void test_help(void **state)
{
	struct str out = STR_INIT;

	(void)state;
	options_add_help(&out, rows);
	assert_string_equal(out.s,
			    "\nWhat\n"
			    "    -e, --event <list>            events\n"
			    "    -a, --all-cpus                all CPUs\n"
			    "    -i, --no-inherit              no children\n"
			    "    --scale, --no-scale           scale\n"
			    "\nHow\n"
			    "    -v, --verbose                 say more\n"
			    "    -I, --interval-print <ms>     intervals\n"
			    "    --interval-clear              clear\n"
			    "    -r, --repeat <n>              repeat\n"
			    "    -o, --output <file>           file\n"
			    "    -g, --call-graph[=<mode>]     graph\n"
			    "    --no-call-graph               none\n"
			    "    -m, --may-follow [<mode>]     mode\n"
			    "    --depth <n>                   depth\n"
			    "    --syntax <att|intel>          syntax\n"
			    "    --share <relative|absolute>   share\n"
			    "    -P, --percent <local|local-hits|global>\n"
			    "                                  percent\n"
			    "    --a-name-that-fills-the-whole-column\n"
			    "                                  long\n"
			    "    --threads <n>                 accepted: one is enough\n"
			    "    -Q, --quick                   accepted: it is\n"
			    "    -K, --kcore                   refused: it is large; instead: a smaller one,\n"
			    "                                  of which a line of eighty columns cannot hold\n"
			    "                                  all the words\n"
			    "    --level <n>                   refused: there is one\n");
	str_release(&out);
}

/* perf's options without a meaning here are taken with all their forms; those that are refused say why. */
static void test_accepted_and_refused(void **state)
{
#define LARGE                                                                  \
	"--kcore: perf has this option, pstat does not: it is large\n"         \
	"instead: a smaller one, of which a line of eighty columns cannot hold all the words"
	static const char *const refused[][3] = {
		{ "--kcore", LARGE }, { "-aK", LARGE },
		{ "--level=2", "--level: perf has this option, pstat does not: there is one" },
	};

	(void)state;
	events_are(PARSE("--threads", "2", "-Q", "--no-quick", "--no-kcore", "-e", "cs"), "cs;", 8);
	fails(PARSE("--threads=none"), "--threads: 'none' is not a number (1 to 9)");
	fails(PARSE("--threads", "10"), "--threads: '10' is out of range (1 to 9)");
	fails(PARSE("--no-level"), "--no-level: there is no such option");
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct result r = PARSE(refused[i][0]);

		assert_int_equal(r.rc, -ENOTSUP);
		assert_string_equal(r.err.s, refused[i][1]);
		str_release(&r.err);
	}
}

/* Options on both sides of other words: where those end up, "|" before the first of them. */
static void assert_all(const char *line, const char *want)
{
	struct str err = STR_INIT, got = STR_INIT;
	struct words words = { .events = STR_INIT };
	char *text = xstrdup(line), *rest = text, *argv[16], *word;
	int argc = 0, first;

	while ((word = strsep(&rest, " ")) != NULL)
		argv[argc++] = word;
	assert_int_equal(options_parse_all(rows, argc, argv, &words, &first, &err), 0);
	str_addf(&got, "%s", words.events.len ? words.events.s : "");
	for (int i = 1; i < argc; i++)
		str_addf(&got, "%s %s", i == first ? " |" : "", argv[i]);
	assert_string_equal(got.s, want);
	str_release(&words.events);
	str_release(&got);
	str_release(&err);
	free(text);
}

static void test_options_on_both_sides(void **state)
{
	(void)state;
	assert_all("list", "");
	assert_all("list sw -e cs", "cs; -e cs | sw");
	assert_all("list -a sw -e cs hw - -v", "cs; -a -e cs -v | sw hw -");
	assert_all("list sw -e cs -- -a hw -v", "cs; -e cs -- | sw -a hw -v");
	assert_all("list -m fp sw -m -a hw", " -m fp -m -a | sw hw");
	assert_all("list sw -e -- -a hw", "--; -e -- -a | sw hw");
}

/* ---- where the last word stands ---- */

static struct option_place place(const char *const *argv)
{
	struct option_place found;
	char *words[8] = { NULL };
	int argc = 0;

	for (; argv[argc]; argc++)
		words[argc] = xstrdup(argv[argc]);
	options_place(rows, argc, words, &found);
	while (argc)
		free(words[--argc]);
	return found;
}
#define PLACE(...) place((const char *const[]){ "stat", __VA_ARGS__, NULL })

static void test_place_of_options(void **state)
{
	(void)state;
	assert_int_equal(PLACE("-").what, PLACE_NAME);
	assert_int_equal(PLACE("--").what, PLACE_NAME);
	assert_int_equal(PLACE("--ev").what, PLACE_NAME);
	assert_int_equal(PLACE("-ae").what, PLACE_NAME);
	assert_int_equal(PLACE("-e", "cs", "-o").what, PLACE_NAME);
	assert_int_equal(PLACE("--event=cs", "--nosuch", "-Z", "-").what, PLACE_NAME);
	/* An argument that is optional does not take the next word. */
	assert_int_equal(PLACE("-g", "--ev").what, PLACE_NAME);
	assert_int_equal(PLACE("-m", "--ev").what, PLACE_NAME);
}

static void assert_value(struct option_place found, const char *name, size_t start)
{
	assert_int_equal(found.what, PLACE_VALUE);
	assert_non_null(found.row);
	assert_string_equal(found.row->name, name);
	assert_int_equal(found.start, start);
}

static void test_place_of_values(void **state)
{
	(void)state;
	assert_value(PLACE("-e", ""), "event", 0);
	assert_value(PLACE("-e", "-x"), "event", 0);
	assert_value(PLACE("-e", "--"), "event", 0);
	assert_value(PLACE("-ecs"), "event", 2);
	assert_value(PLACE("-avecs"), "event", 4);
	assert_value(PLACE("-ae", "cs"), "event", 0);
	assert_value(PLACE("--event=cs"), "event", 8);
	assert_value(PLACE("--event="), "event", 8);
	assert_value(PLACE("--even", "cs"), "event", 0);
	assert_value(PLACE("-g", "-o", "x"), "output", 0);
	assert_value(PLACE("-gx"), "call-graph", 2);
	assert_value(PLACE("--call-graph=x"), "call-graph", 13);
	assert_value(PLACE("-m", "x"), "may-follow", 0);
	assert_int_equal(PLACE("--nosuch=x").what, PLACE_VALUE);
	assert_null(PLACE("--nosuch=x").row);
	assert_null(PLACE("--all-cpus=x").row);
	assert_null(PLACE("--interval=x").row); /* this could be two */
}

static void assert_operand(struct option_place found, int first, bool after_dashes)
{
	assert_int_equal(found.what, PLACE_OPERAND);
	assert_int_equal(found.first, first);
	assert_int_equal(found.after_dashes, after_dashes);
}

static void test_place_of_operands(void **state)
{
	(void)state;
	assert_operand(PLACE(""), 1, false);
	assert_operand(PLACE("ls"), 1, false);
	assert_operand(PLACE("ls", "-e", "x"), 1, false);
	assert_operand(PLACE("-e", "cs", "ls", "--event="), 3, false);
	assert_operand(PLACE("--", "ls"), 2, true);
	assert_operand(PLACE("-a", "--", "-e", "x"), 3, true);
	assert_operand(PLACE("-g", "ls"), 2, false);
	assert_operand(PLACE("-m", "x", "ls"), 3, false);
	assert_operand(PLACE("-", "x"), 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways_to_give_an_argument),
		cmocka_unit_test(test_bundles),
		cmocka_unit_test(test_negation),
		cmocka_unit_test(test_where_options_end),
		cmocka_unit_test(test_optional_arguments),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_wrong_words),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_accepted_and_refused), cmocka_unit_test(test_options_on_both_sides),
		cmocka_unit_test(test_place_of_options),
		cmocka_unit_test(test_place_of_values),
		cmocka_unit_test(test_place_of_operands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
