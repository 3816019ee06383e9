/* SPDX-License-Identifier: MIT */
/*
 * pstat script: the samples of a recording one by one, with names; or its records as they lie in the file
 * (-D), and its header.
 */
#include "cmd/command.h"
#include "cmd/event_dumps.h"
#include "cmd/message.h"
#include "cmd/perf_scripts.h"
#include "cmd/python_run.h"
#include "cmd/sample_run.h"
#include "script/script.h"

#include <errno.h>
#include <stdlib.h>

struct script_words {
	struct sample_words sample; /* first: sample_options[] fills it */
	struct script_options script;
	struct str fields; /* each -F on a line */
	const char *python; /* -s */
	bool list; /* -l */
	const char *generate; /* -g */
	char **arguments; /* of that script; ended by NULL */
	bool per_event;
};

static int take_fields(void *target, const char *argument, struct str *err)
{
	struct script_words *words = target;

	(void)err;
	str_addf(&words->fields, "%s%s", words->script.fields ? "\n" : "", argument);
	words->script.fields = words->fields.s;
	return 0;
}

/* perf's words for a trace by hardware: what it prints of samples is printed of all others. */
static int take_trace(struct script_words *words, const char *fields, struct str *err)
{
	words->script.ns = true;
	return take_fields(words, fields, err);
}

static int take_insn_trace(void *target, const char *argument, struct str *err)
{
	bool disasm = argument && !strcmp(argument, "disasm");

	if (argument && !disasm && strcmp(argument, "raw") != 0)
		return fail(err, -EINVAL, "--insn-trace: '%s' is not raw or disasm", argument);
	return take_trace(target, disasm ? "+disasm,-event,-period" : "+insn,-event,-period", err);
}

static int take_call_trace(void *target, const char *argument, struct str *err)
{
	(void)argument;
	return take_trace(target, "-ip,-addr,-event,-period,+callindent", err);
}

static int take_call_ret_trace(void *target, const char *argument, struct str *err)
{
	(void)argument;
	return take_trace(target, "-ip,-addr,-event,-period,+callindent,+flags", err);
}

/* perf hands its output to the program xed; options of that mean nothing here. */
static int take_xed(void *target, const char *argument, struct str *err)
{
	struct script_words *words = target;

	(void)argument, (void)err;
	words->script.xed = true;
	return 0;
}

#define SCRIPT(name) .offset = offsetof(struct script_words, script.name)
#define DUMP(name) .offset = offsetof(struct script_words, sample.dump.name)

const struct option_row script_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_CALL, 'F', "fields", "list",
	  "print these fields; +name adds, -name removes", .call = take_fields,
	  .value = VALUE_SCRIPT_FIELDS },
	{ OPTION_FLAG, 'G', "hide-call-graph", NULL, "print no callchains", SCRIPT(no_chains) },
	{ OPTION_FLAG, 0, "stitch-lbr", NULL, "go on with callers of earlier samples (--call-graph lbr)",
	  .offset = offsetof(struct script_words, sample.session.stitch_calls) },
	{ OPTION_TEXT, 0, "stop-bt", "names", "end callchains at these functions", SCRIPT(stop_bt) },
	{ OPTION_UNSIGNED, 0, "max-blocks", "n", "print at most n blocks of -F brstackinsn", SCRIPT(max_blocks),
	  .min = 1, .max = 65535 },
	{ OPTION_CALL, 0, "insn-trace", "raw|disasm", "the same as --ns -F +insn,-event,-period",
	  .argument_optional = true, .value = VALUE_ONE_OF, .call = take_insn_trace },
	{ OPTION_CALL, 0, "call-trace", NULL, "the same as --ns -F -ip,-addr,-event,-period", .call = take_call_trace },
	{ OPTION_CALL, 0, "call-ret-trace", NULL, "the same with +flags", .call = take_call_ret_trace },
	{ OPTION_CALL, 0, "xed", "options", "print instructions in words where fields have their bytes",
	  .argument_optional = true, .call = take_xed },
	{ OPTION_UNSIGNED, 0, "addr-range", "bytes", "-S 0xADDRESS: samples from there on",
	  .offset = offsetof(struct script_words, sample.filters.addr_range), .min = 1, .max = UINT32_MAX },
	{ OPTION_FLAG, 'L', "Latency", NULL, "print shorter lines: the CPU without brackets, names cut",
	  SCRIPT(latency) },
	{ OPTION_FLAG, 0, "per-event-dump", NULL, "write a file for each event: RECORDING.EVENT.dump",
	  .offset = offsetof(struct script_words, per_event) },
	{ OPTION_FLAG, 'j', "json", NULL, "print one JSON object per sample", SCRIPT(json) },
	{ OPTION_TEXT, 's', "script", "file", "call the functions of a Python script written for perf",
	  .offset = offsetof(struct script_words, python), .value = VALUE_FILE },
	{ OPTION_TEXT, 'g', "gen-script", "file",
	  "write a script with functions for the recording's events; python: perf-script.py",
	  .offset = offsetof(struct script_words, generate), .value = VALUE_FILE },
	{ OPTION_FLAG, 'l', "list", NULL, "list perf's scripts, which are called by their names",
	  .offset = offsetof(struct script_words, list) },
	{ OPTION_FLAG, 0, "ns", NULL, "print times with nine decimals", SCRIPT(ns) },
	{ OPTION_FLAG, 0, "reltime", NULL, "print times since the first sample", SCRIPT(reltime) },
	{ OPTION_FLAG, 0, "deltatime", NULL, "print times since the previous sample", SCRIPT(deltatime) },
	{ OPTION_FLAG, 0, "full-source-path", NULL, "print source files with their folders",
	  SCRIPT(full_source_path) },
	{ OPTION_FLAG, 0, "show-task-events", NULL, "print forks, names and exits too", SCRIPT(show_tasks) },
	{ OPTION_FLAG, 0, "show-mmap-events", NULL, "print maps too", SCRIPT(show_mmaps) },
	{ OPTION_FLAG, 0, "show-switch-events", NULL, "print context switches too", SCRIPT(show_switches) },
	{ OPTION_FLAG, 0, "show-lost-events", NULL, "print losses too", SCRIPT(show_lost) },
	{ OPTION_FLAG, 0, "show-namespace-events", NULL, "print namespaces too", SCRIPT(show_namespaces) },
	{ OPTION_FLAG, 0, "show-cgroup-events", NULL, "print cgroups too", SCRIPT(show_cgroups) },
	{ OPTION_FLAG, 0, "show-bpf-events", NULL, "print BPF programs and kernel symbols too",
	  SCRIPT(show_bpf) },
	{ OPTION_FLAG, 0, "show-text-poke-events", NULL, "print changes of the kernel's code too",
	  SCRIPT(show_text_poke) },
	{ OPTION_FLAG, 0, "show-round-events", NULL, "print rounds of the recorder through its rings too",
	  SCRIPT(show_rounds) },
	{ OPTION_FLAG, 0, "show-kernel-path", NULL, "print the ELF file of the kernel's names, not [kernel.kallsyms]",
	  SCRIPT(kernel_path) },
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "print every record with its fields",
	  DUMP(records) },
	{ OPTION_FLAG, 0, "dump-unsorted-raw-trace", NULL, "the same, in file order",
	  DUMP(records) },
	{ OPTION_FLAG, 0, "header", NULL, "print the header first", DUMP(header) },
	{ OPTION_FLAG, 0, "header-only", NULL, "print the header only", DUMP(header_only) },
	{ OPTION_FLAG, 'I', "show-info", NULL, "print the header first, with the topology",
	  DUMP(full_header) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 'a', "all-cpus", NULL, .help = "a recording is made by pstat record -a" },
	{ OPTION_ACCEPTED, 0, "addr2line", "path", .help = "pstat looks up lines itself", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 'd', "debug-mode", NULL, .help = "order and losses are always checked" },
	{ OPTION_ACCEPTED, 0, "demangle-kernel", NULL, .help = "names of the kernel are shown unchanged" },
	{ OPTION_ACCEPTED, 0, "itrace", "options",
	  .help = "instruction traces (AUX) are not decoded", .argument_optional = true },
	{ OPTION_ACCEPTED, 0, "merge-callchains", NULL,
	  .help = "callchains in two parts are always joined" },
	{ OPTION_REFUSED, 0, "no-merge-callchains", NULL,
	  .help = "callchains in two parts are always joined" },
	{ OPTION_REFUSED, 0, "graph-function", "names", .help = "instruction traces (AUX) are not decoded" },
	{ OPTION_REFUSED, 0, "dlfilter", "file",
	  .help = "filters in C are not loaded", .instead = "-j prints each sample as JSON, for your own program",
	  .value = VALUE_FILE },
	{ OPTION_REFUSED, 0, "dlarg", "argument",
	  .help = "filters in C are not loaded", .instead = "-j prints each sample as JSON, for your own program" },
	{ OPTION_REFUSED, 0, "list-dlfilters", NULL,
	  .help = "filters in C are not loaded", .instead = "-j prints each sample as JSON, for your own program" },
	{ OPTION_REFUSED, 0, "guest-code", NULL, .help = "names of guests are not looked up" },
	{ OPTION_REFUSED, 0, "guestkallsyms", "file",
	  .help = "names of guests are not looked up", .value = VALUE_FILE },
	{ OPTION_REFUSED, 0, "guestmodules", "file",
	  .help = "names of guests are not looked up", .value = VALUE_FILE },
	{ OPTION_REFUSED, 0, "guestmount", "directory",
	  .help = "names of guests are not looked up", .value = VALUE_DIRECTORY },
	{ OPTION_REFUSED, 0, "guestvmlinux", "file",
	  .help = "names of guests are not looked up", .value = VALUE_FILE },
	{ .kind = OPTION_END, .more = sample_options },
};

/* Opens a file for each known event, so that there is one also of an event without samples. */
static int open_dumps(struct event_dumps *dumps, const struct events *events, struct str *err)
{
	for (size_t i = 0; i < events->n; i++)
		if (!event_dumps_output(dumps, events->v[i], false, err))
			return -EIO;
	return 0;
}

/* dumps NULL: all goes to run's output. */
static void run_script(struct sample_run *run, const struct script_words *words, struct event_dumps *dumps)
{
	struct script *script = NULL;
	struct str err = STR_INIT;
	struct pager pager;
	int rc;

	if (script_new(&script, &words->script, &run->reader, &err)) {
		message_error("%s", err.s);
		run->status = EXIT_BAD_USAGE;
	} else {
		pager_open(&pager, !words->sample.no_pager && !words->python);
		rc = dumps ? open_dumps(dumps, &run->reader.events, &err) : 0;
		if (!rc)
			rc = script_run(script, &run->output, sample_run_progress, run, &err);
		output_end(&run->output);
		pager_close(&pager);
		/* Errors come after the text, and not on the pager's screen. */
		if (rc && !run->output.failed)
			sample_run_fail(run, err.s);
		sample_run_notes(run, script_session(script), &words->sample);
	}
	script_free(script);
	str_release(&err);
}

/* The file that -g names, or the one that perf writes where only a language is named. NULL after a message. */
static const char *generated_path(const char *word)
{
	size_t len = strlen(word);

	if (!strcmp(word, "python") || !strcmp(word, "py"))
		return "perf-script.py";
	if (len > 3 && !strcmp(word + len - 3, ".py"))
		return word;
	message_error("script: -g: '%s' is neither python nor a file whose name ends in .py", word);
	return NULL;
}

static void generate(struct sample_run *run, const struct script_words *words)
{
	const char *path = generated_path(words->generate);
	struct script *script = NULL;
	struct str err = STR_INIT;

	if (!path) {
		run->status = EXIT_BAD_USAGE;
	} else if (script_new(&script, &words->script, &run->reader, &err)) {
		message_error("%s", err.s);
		run->status = EXIT_BAD_USAGE;
	} else if (sample_run_to_file(run, path)) {
		if (script_generate(script, &run->output, &err))
			sample_run_fail(run, err.s);
		if (sample_run_end_file(run, path) && !words->sample.quiet)
			message_written("script", path);
		sample_run_notes(run, script_session(script), &words->sample);
	}
	script_free(script);
	str_release(&err);
}

static int write_calls(void *context, struct str *text)
{
	return python_write(context, text);
}

/* Samples are calls of the script's functions, and the script says what there is to say. */
static void run_python(struct sample_run *run, struct script_words *words)
{
	struct python_run python = { 0 };
	char *path = perf_scripts_find(words->python);
	int status;

	if (!path) {
		run->status = EXIT_BAD_USAGE;
		return;
	}
	words->arguments[0] = path;
	run->status = python_start(&python, words->arguments, run->reader.pipe);
	if (python.pid) {
		words->script.python = &python.functions;
		run->output.write = write_calls;
		run->output.context = &python;
		run_script(run, words, NULL);
		/* Python has ended, or ends now: its status says how. */
		if (run->output.failed == -EPIPE || run->output.failed == -ECANCELED)
			run->output.failed = 0;
		str_reset(&run->output.text); /* calls that nobody takes are no text */
		status = python_end(&python);
		run->status = run->status ? run->status : status;
	}
	run->output.write = output_to_stdout;
	free(path);
}

static void run_to_dumps(struct sample_run *run, struct script_words *words)
{
	const char *input = words->sample.dump.input;
	struct event_dumps dumps = { .recording = input && strcmp(input, "-") != 0 ? input : "perf.data" };
	const struct script_outputs outputs = { event_dumps_output, &dumps };
	int status;

	words->script.outputs = &outputs;
	run_script(run, words, &dumps);
	status = event_dumps_end(&dumps, words->sample.quiet);
	run->status = run->status ? run->status : status;
}

static int print(struct script_words *words)
{
	const struct raw_dump_words *dump = &words->sample.dump;
	struct sample_run run;
	int status;

	if (words->script.json && (dump->records || dump->header || dump->header_only || dump->full_header))
		return bad_usage("script: -j prints samples; -D and the header are text: ask for them by "
				 "themselves");
	if (words->script.reltime && words->script.deltatime)
		return bad_usage("script: --reltime and --deltatime: one of them");
	if (raw_dump_only(dump))
		return raw_dump(dump);
	status = sample_words_finish(&words->sample);
	if (status)
		return status;
	words->script.session = words->sample.session;
	/* Samples as they are in the file, and as others print them. */
	words->script.session.as_recorded = true;
	words->script.filters = words->sample.filters;
	words->script.verbose = (unsigned)words->sample.verbose;
	words->script.header = dump->header || dump->full_header;
	words->script.full_header = dump->full_header;
	words->script.session.sym.progress = sample_run_symbol_progress;
	words->script.session.sym.progress_context = &run;
	if (sample_run_open(&run, &words->sample)) {
		if (words->generate)
			generate(&run, words);
		else if (words->python)
			run_python(&run, words);
		else if (words->per_event)
			run_to_dumps(&run, words);
		else
			run_script(&run, words, NULL);
	}
	return sample_run_close(&run);
}

int cmd_script(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct script_words words = { .fields = STR_INIT };
	struct str list = STR_INIT;
	int first, status = command_parse(self, argc, argv, &words, &first);

	(void)kern;
	if (status < 0 && words.list) {
		perf_scripts_list(&list);
		status = message_stdout(&list);
	}
	if (status < 0 && first < argc && !words.python)
		status = perf_scripts_run(argv + first);
	if (status < 0) {
		/* A place in front of the arguments: for the script's path. */
		words.arguments = argv + first - 1;
		status = print(&words);
	}
	str_release(&words.fields);
	str_release(&list);
	return status;
}
