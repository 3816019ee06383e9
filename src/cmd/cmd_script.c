/*
 * pstat script: the samples of a recording one by one, with names; or its records as they lie in the file
 * (-D), and its header.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/sample_words.h"

struct script_words {
	struct sample_words sample; /* first: sample_options[] fills it */
	struct script_options script;
};

#define SCRIPT(name) .offset = offsetof(struct script_words, script.name)
#define DUMP(name) .offset = offsetof(struct script_words, sample.dump.name)

const struct option_row script_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_TEXT, 'F', "fields", "list", "these fields; +name adds one, -name leaves one out",
	  SCRIPT(fields) },
	{ OPTION_FLAG, 'G', "hide-call-graph", NULL, "no chains", SCRIPT(no_chains) },
	{ OPTION_FLAG, 'j', "json", NULL, "a JSON object for each sample", SCRIPT(json) },
	{ OPTION_FLAG, 0, "ns", NULL, "times with nine digits behind the point", SCRIPT(ns) },
	{ OPTION_FLAG, 0, "reltime", NULL, "times since the first sample", SCRIPT(reltime) },
	{ OPTION_FLAG, 0, "deltatime", NULL, "times since the sample before", SCRIPT(deltatime) },
	{ OPTION_FLAG, 0, "full-source-path", NULL, "files of source lines with their folders",
	  SCRIPT(full_source_path) },
	{ OPTION_FLAG, 0, "show-task-events", NULL, "forks, names and exits too", SCRIPT(show_tasks) },
	{ OPTION_FLAG, 0, "show-mmap-events", NULL, "maps too", SCRIPT(show_mmaps) },
	{ OPTION_FLAG, 0, "show-switch-events", NULL, "context switches too", SCRIPT(show_switches) },
	{ OPTION_FLAG, 0, "show-lost-events", NULL, "losses too", SCRIPT(show_lost) },
	{ OPTION_FLAG, 0, "show-namespace-events", NULL, "namespaces too", SCRIPT(show_namespaces) },
	{ OPTION_FLAG, 0, "show-cgroup-events", NULL, "cgroups too", SCRIPT(show_cgroups) },
	{ OPTION_FLAG, 0, "show-bpf-events", NULL, "BPF programs and kernel symbols too", SCRIPT(show_bpf) },
	{ OPTION_FLAG, 0, "show-text-poke-events", NULL, "changes of the kernel's code too",
	  SCRIPT(show_text_poke) },
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "every record with its place, name and fields",
	  DUMP(records) },
	{ OPTION_FLAG, 0, "header", NULL, "the header, before anything else", DUMP(header) },
	{ OPTION_FLAG, 0, "header-only", NULL, "the header and nothing else", DUMP(header_only) },
	{ OPTION_FLAG, 'I', "show-info", NULL, "the header with the machine's topology, before anything else",
	  DUMP(full_header) },
	{ .kind = OPTION_END, .more = sample_options },
};

static void run_script(struct sample_run *run, const struct script_words *words)
{
	const struct raw_dump_words *dump = &words->sample.dump;
	struct script *script = NULL;
	struct str err = STR_INIT;
	struct pager pager;

	if (script_new(&script, &words->script, &run->reader, &err)) {
		message_error(err.s);
		run->status = EXIT_BAD_USAGE;
	} else {
		pager_open(&pager, !words->sample.no_pager);
		if (dump->header || dump->full_header)
			reader_print_header(&run->reader, dump->full_header, &run->output.text);
		if (script_run(script, &run->output, sample_run_progress, run, &err) &&
		    !run->output.failed)
			sample_run_fail(run, err.s);
		output_end(&run->output);
		pager_close(&pager);
		sample_run_notes(run, script_session(script), &words->sample);
	}
	script_free(script);
	str_release(&err);
}

int cmd_script(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct script_words words = { 0 };
	struct sample_run run;
	struct str err = STR_INIT;
	int first, status = command_parse(self, argc, argv, &words, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (first < argc)
		return bad_usage("script: '%s' is not an option; the recording is named with -i",
				 argv[first]);
	if (raw_dump_only(&words.sample.dump))
		return raw_dump(&words.sample.dump);
	sample_words_finish(&words.sample, &err);
	str_release(&err);
	words.script.session = words.sample.session;
	words.script.filters = words.sample.filters;
	words.script.verbose = (unsigned)words.sample.verbose;
	words.script.session.sym.progress = sample_run_symbol_progress;
	words.script.session.sym.progress_context = &run;
	if (sample_run_open(&run, &words.sample))
		run_script(&run, &words);
	return sample_run_close(&run);
}
