/* SPDX-License-Identifier: MIT */
/*
 * The option rows of `pstat report`, and how they become a struct query.
 */
#include "cmd/command.h"
#include "cmd/sample_run.h"
#include "cmd/message.h"
#include "cmd/quantity.h"
#include "cmd/report_options.h"
#include "cmd/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static struct report_words *of(void *target)
{
	return target;
}

int take_chains(void *target, const char *argument, struct str *err)
{
	struct query *report = &of(target)->report;

	report->no_chains = false;
	report->chains_asked = true;
	return argument ? chain_options_parse(&report->chain, argument, err) : 0;
}

int take_percent_limit(void *target, const char *argument, struct str *err)
{
	double *limit = &of(target)->report.percent_limit;

	if (parse_double(argument, limit) || !(*limit >= 0 && *limit <= 100))
		return fail(err, -EINVAL, "--percent-limit: '%s' is not a number from 0 to 100", argument);
	/* Chains have the same limit; a -g after it may say otherwise. */
	of(target)->report.chain.min_percent = *limit;
	return 0;
}

int take_widths(void *target, const char *argument, struct str *err)
{
	if (argument[strspn(argument, "0123456789,")])
		return fail(err, -EINVAL, "--column-widths: '%s' is not a list of numbers such as 9,16", argument);
	of(target)->report.field_widths = argument;
	return 0;
}

static int take_quantum(void *target, const char *argument, struct str *err)
{
	if (parse_duration(argument, &of(target)->report.time_quantum_ns) ||
	    !of(target)->report.time_quantum_ns)
		return fail(err, -EINVAL, "--time-quantum: '%s' is not a time such as 10ms or 1s", argument);
	return 0;
}

int take_export(void *target, const char *argument, struct str *err)
{
	struct export_choice *choice = target;

	if (argument && !*argument)
		return fail(err, -EINVAL, "the file's name is missing after =");
	*choice = (struct export_choice){ .given = true, .file = argument };
	return 0;
}

#define WORD(name) .offset = offsetof(struct report_words, name)
#define REPORT(name) .offset = offsetof(struct report_words, report.name)
#define DUMP(name) .offset = offsetof(struct report_words, sample.dump.name)

const struct option_row report_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_TEXT, 's', "sort", "keys", "keys that make a row: comm,dso,symbol, ...",
	  REPORT(sort), .value = VALUE_REPORT_KEYS },
	{ OPTION_TEXT, 'F', "fields", "fields", "columns: overhead, sample, period, sort keys",
	  REPORT(fields), .value = VALUE_REPORT_KEYS },
	{ OPTION_FLAG, 0, "latency", NULL, "sort by wall-clock time (of record --latency)",
	  REPORT(latency) },
	{ OPTION_SWITCH, 0, "children", NULL, "add a column that includes callees",
	  WORD(children), .both = true },
	{ OPTION_CALL, 'g', "call-graph", "style", "chains: graph,0.5,caller,function,percent",
	  .argument_may_follow = true, .value = VALUE_CHAIN_STYLE, .call = take_chains },
	{ OPTION_FLAG, 0, "no-call-graph", NULL, "print no callchains", REPORT(no_chains) },
	{ OPTION_FLAG, 0, "show-ref-call-graph", NULL, "events without chains show those of the first with some",
	  REPORT(reference_chains) },
	{ OPTION_FLAG, 'G', "inverted", NULL, "print chains from the outermost caller on",
	  WORD(inverted) },
	{ OPTION_CALL, 0, "percent-limit", "percent", "leave out rows below this percentage",
	  .call = take_percent_limit },
	{ OPTION_CHOICE, 0, "percentage", "relative|absolute", "of filtered samples, or of all (default)",
	  .off = true, .value = VALUE_ONE_OF, REPORT(percentage_relative) },
	{ OPTION_FLAG, 'n', "show-nr-samples", NULL, "add a column with the number of samples",
	  REPORT(n_samples) },
	{ OPTION_FLAG, 0, "show-total-period", NULL, "add a column with the sum of periods",
	  REPORT(total_period) },
	{ OPTION_FLAG, 0, "show-cpu-utilization", NULL, "add columns for kernel and user mode",
	  REPORT(cpu_utilization) },
	{ OPTION_FLAG, 0, "showcpuutilization", NULL, "the same (perf's other name)", REPORT(cpu_utilization) },
	{ OPTION_SWITCH, 0, "group", NULL, "print events side by side, or one by one", WORD(group),
	  .both = true },
	{ OPTION_NUMBER, 0, "group-sort-idx", "n", "sort groups by event n (from 0)",
	  WORD(group_sort), .max = 65535 },
	{ OPTION_SWITCH, 0, "skip-empty", NULL, "print no table for events without samples",
	  WORD(skip_empty), .both = true },
	{ OPTION_FLAG, 'H', "hierarchy", NULL, "nest rows, one level per sort key", WORD(hierarchy) },
	{ OPTION_SWITCH, 'b', "branch-stack", NULL, "print one row per taken branch",
	  WORD(branch_stack), .both = true },
	{ OPTION_FLAG, 0, "branch-history", NULL, "show the branches before each sample in its chain",
	  REPORT(session.branch_history) },
	{ OPTION_FLAG, 0, "stitch-lbr", NULL, "go on with callers of earlier samples (--call-graph lbr)",
	  WORD(sample.session.stitch_calls) },
	{ OPTION_FLAG, 0, "mem-mode", NULL, "print one row per kind of memory access", REPORT(mem_mode) },
	{ OPTION_FLAG, 'T', "threads", NULL, "print the counts of each thread",
	  REPORT(threads_counted) },
	{ OPTION_TEXT, 'p', "parent", "regex", "name of the callers for the key parent",
	  REPORT(parent) },
	{ OPTION_FLAG, 'x', "exclude-other", NULL, "print only rows with such a caller",
	  REPORT(exclude_other) },
	{ OPTION_TEXT, 0, "ignore-callees", "regex", "count callees as part of these functions",
	  REPORT(ignore_callees) },
	{ OPTION_FLAG, 'U', "hide-unresolved", NULL, "print only rows with a function name",
	  REPORT(hide_unresolved) },
	{ OPTION_TEXT, 0, "symbol-filter", "text", "print only functions with this in the name",
	  WORD(sample.filters.symbol_filter) },
	{ OPTION_TEXT, 0, "socket-filter", "list", "only samples on CPUs of these sockets",
	  WORD(sample.filters.sockets) },
	{ OPTION_TEXT, 0, "parallelism", "list", "only samples with N running threads: 1, 2-4",
	  WORD(sample.filters.parallelism) },
	{ OPTION_CALL, 0, "time-quantum", "time", "unit of the sort key time (100ms)",
	  .value = VALUE_TIME, .call = take_quantum },
	{ OPTION_FLAG, 0, "ns", NULL, "print the key time with nine decimals", REPORT(ns) },
	{ OPTION_FLAG, 0, "full-source-path", NULL, "print source files with their folders",
	  REPORT(full_source_path) },
	{ OPTION_FLAG, 0, "raw-trace", NULL, "key trace: print raw fields",
	  REPORT(raw_trace) },
	{ .kind = OPTION_GROUP, .help = "How to print it" },
	{ OPTION_FLAG, 0, "stdio", NULL, "print a table with trees, as perf does", WORD(stdio) },
	{ OPTION_TEXT, 't', "field-separator", "text", "separate columns by this text",
	  REPORT(separator) },
	{ OPTION_CALL, 'w', "column-widths", "list", "widths of the columns", .call = take_widths },
	{ OPTION_FLAG, 0, "no-shorten", NULL, "do not shorten names to fit the terminal",
	  WORD(no_shorten) },
	{ OPTION_FLAG, 0, "stacks", NULL, "print each stack and its count, rarest first",
	  WORD(stacks) },
	{ OPTION_FLAG, 0, "folded", NULL, "print one line per stack, for flame graphs", WORD(folded) },
	{ OPTION_FLAG, 'a', "annotate-frames", NULL, "mark kernel and inlined frames: _[k], _[i]",
	  REPORT(folded_annotate) },
	{ OPTION_FLAG, 0, "delimiter", NULL, "put a frame - between user and kernel frames",
	  REPORT(folded_delimiter) },
	{ OPTION_FLAG, 'j', "json", NULL, "print one JSON document", WORD(json) },
#define EXPORT_OPTION(id, file, help)                                                                     \
	{ OPTION_CALL, 0, #id, "file", help, WORD(exports[EXPORT_##id]), .argument_optional = true,       \
	  .value = VALUE_FILE, .call = take_export },
	REPORT_EXPORTS(EXPORT_OPTION)
	{ OPTION_FLAG, 0, "merge", NULL, "--speedscope: merge equal stacks",
	  WORD(merge) },
	{ OPTION_FLAG, 0, "tui", NULL, "open the browser (default on a terminal)", WORD(tui) },
	{ OPTION_CHOICE, 'M', "disassembler-style", "att|intel", "syntax of x86 code in the browser (att)",
	  .value = VALUE_ONE_OF, WORD(code.intel) },
	{ OPTION_TEXT, 0, "prefix", "folder", "the browser looks for source files below this folder",
	  WORD(code.prefix), .value = VALUE_DIRECTORY },
	{ OPTION_UNSIGNED, 0, "prefix-strip", "n", "with --prefix: drop the first n folders", WORD(code.prefix_strip),
	  .max = 1000 },
	{ OPTION_CHOICE, 0, "percent-type", "local-period|local-hits|global-period|global-hits",
	  "percentages beside code in the browser: of the function (local), or of all", .value = VALUE_ONE_OF,
	  WORD(code_percent) },
	{ .kind = OPTION_GROUP, .help = "Something else to print" },
	{ OPTION_FLAG, 0, "total-cycles", NULL, "print blocks of code by their cycles (of record -b)",
	  WORD(total_cycles) },
	{ OPTION_FLAG, 0, "tasks", NULL, "print the recorded tasks as a tree", WORD(tasks) },
	{ OPTION_FLAG, 0, "mmaps", NULL, "the same, with their maps", WORD(mmaps) },
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "print every record with its fields",
	  DUMP(records) },
	{ OPTION_FLAG, 0, "stats", NULL, "print the number of records of each type", DUMP(stats) },
	{ OPTION_FLAG, 0, "header", NULL, "print the header first", DUMP(header) },
	{ OPTION_FLAG, 0, "header-only", NULL, "print the header only", DUMP(header_only) },
	{ OPTION_FLAG, 'I', "show-info", NULL, "print the header first, with the topology",
	  DUMP(full_header) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "addr2line", "path", .help = "pstat looks up lines itself", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "addr2line-style", "list", .help = "pstat looks up lines itself" },
	{ OPTION_ACCEPTED, 0, "asm-raw", NULL, .help = "a key switches it in the view of the code" },
	{ OPTION_ACCEPTED, 0, "demangle-kernel", NULL, .help = "names of the kernel are shown unchanged" },
	{ OPTION_ACCEPTED, 0, "itrace", "options",
	  .help = "instruction traces (AUX) are not decoded", .argument_optional = true },
	{ OPTION_ACCEPTED, 'm', "modules", NULL, .help = "modules are always looked up" },
	{ OPTION_ACCEPTED, 0, "objdump", "path", .help = "pstat disassembles itself", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "samples", "n",
	  .help = "pstat script shows single samples" },
	{ OPTION_ACCEPTED, 0, "source", NULL, .help = "a key switches it in the view of the code" },
	{ OPTION_REFUSED, 0, "pretty", "normal|raw",
	  .help = "the counts of threads have one format", .value = VALUE_ONE_OF },
	{ .kind = OPTION_END, .more = sample_options },
};

void report_words_init(struct report_words *words)
{
	*words = (struct report_words){ .children = -1, .group = -1, .branch_stack = -1, .skip_empty = -1 };
	words->report.chain = chain_options_default();
}

/* A format of that name and of the file's extension goes before the format of that name: "flamegraph.svg". */
static const struct report_format *find_format(const char *name, const char *file)
{
	const char *extension = strrchr(file, '.');
	const struct report_format *found = NULL;

	if (extension) {
		char *both = xasprintf("%s%s", name, extension);

		found = report_format_find(both);
		free(both);
	}
	return found ? found : report_format_find(name);
}

/* Puts the format that was asked for into words->format or words->export; neither: none was. */
static int choose_export(struct report_words *words)
{
	static const struct {
		const char *format, *file; /* file: its name on a terminal, where such a file is no good */
	} rows[N_EXPORTS] = {
#define EXPORT_ROW(id, file, help) { #id, file },
		REPORT_EXPORTS(EXPORT_ROW)
	};

	for (size_t i = 0; i < N_EXPORTS; i++) {
		const struct export_choice *given = &words->exports[i];
		const char *file = given->file ? given->file : isatty(STDOUT_FILENO) ? rows[i].file : "-";

		if (!given->given)
			continue;
		if (words->format || words->export)
			return bad_usage("--%s is one of two formats; give one", rows[i].format);
		words->unnamed = !given->file;
		words->output = strcmp(file, "-") != 0 ? file : NULL;
		words->packed = export_name_is_packed(file);
		words->export = words->merge ? NULL : export_text_format_find(rows[i].format);
		words->format = words->export ? NULL : find_format(rows[i].format, file);
	}
	if (words->merge && !words->exports[EXPORT_speedscope].given)
		return bad_usage("--merge is for --speedscope");
	return 0;
}

static int choose_format(struct report_words *words)
{
	const struct {
		bool given;
		const char *format;
	} texts[] = { { words->folded, "folded" }, { words->json, "json" }, { words->stacks, "stacks" },
		      { words->total_cycles, "total-cycles" } };
	int status = choose_export(words);
	bool export = words->format || words->export;
	const char *text = NULL;

	if (status)
		return status;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i].given)
			continue;
		if (text)
			return bad_usage("--%s and --%s are two formats; give one", text, texts[i].format);
		text = texts[i].format;
	}
	if (text && export)
		return bad_usage("--%s and what is for another program are two formats; give one", text);
	if (((text && !words->total_cycles) || export) && (words->sample.dump.header || words->sample.dump.full_header))
		return bad_usage("--header goes before a table; --header-only prints it by itself");
	if (!export)
		words->format = report_format_find(text ? text : "stdio");
	words->report.needs = words->format ? words->format->needs : 0;
	if (words->report.latency && !(words->report.needs & NEED_ENTRIES))
		return bad_usage("--latency is a column of tables, and %s is none",
				 words->folded ? "--folded" : "what is for another program");
	return 0;
}

/* Branches go from address to address, within one function, too. */
static void show_history(struct query *report)
{
	if (report->chain.key == CHAIN_BY_FUNCTION)
		report->chain.key = CHAIN_BY_ADDRESS;
	if (!report->sort && !report->fields)
		report->sort = "srcline,symbol,dso";
}

int report_words_finish(struct report_words *words)
{
	struct query *report = &words->report;
	int status = sample_words_finish(&words->sample);

	if (status)
		return status;
	words->sample.session.branch_history = report->session.branch_history;
	report->session = words->sample.session;
	if (report->session.branch_history)
		show_history(report);
	report->filters = words->sample.filters;
	report->verbose = (unsigned)words->sample.verbose;
	report->quiet = words->sample.quiet;
	report->header_shown = words->sample.dump.header || words->sample.dump.full_header;
	report->children = words->children;
	report->group = words->group == 1;
	report->group_off = !words->group;
	report->group_sort = (size_t)words->group_sort;
	report->empty_shown = !words->skip_empty;
	report->branch_stack = words->branch_stack == 1;
	report->branch_stack_off = !words->branch_stack;
	report->view = words->hierarchy ? VIEW_HIERARCHY : VIEW_FLAT_ENTRIES;
	if (words->inverted) {
		report->chain.order = CHAIN_CALLER;
		report->chain.order_set = true;
	}
	if (words->code.prefix_strip && !words->code.prefix)
		return bad_usage("--prefix-strip goes with --prefix");
	if (words->tui && words->stdio)
		return bad_usage("--tui and --stdio are two ways to show it; give one");
	return choose_format(words);
}

bool report_wants_screen(const struct report_words *words)
{
	const struct sample_words *sample = &words->sample;

	return !words->stdio && !words->report.reference_chains && !words->tasks && !words->mmaps &&
	       !sample->no_pager && !sample->dump.header && !sample->dump.full_header && !words->report.separator &&
	       !words->report.threads_counted &&
	       words->format == report_format_find("stdio") && terminal_takes_keys();
}
