/*
 * pstat annotate: the code of the functions that were sampled, with the samples of each instruction.
 *
 * The recording is read once, into cells by address. Then, for each event or group: its functions, heaviest first, or
 * those that were named. Functions that can't be shown are reported with the reason, those of one file and reason
 * together. On a terminal it is the browser, which begins with the code.
 */
#include "annotate/annotate.h"
#include "cmd/annotate_options.h"
#include "cmd/browse.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Functions whose code can't be shown, by file and reason. */
struct missing {
	const struct dso *dso;
	char *why;
	const struct symbol *first;
	size_t n;
};
struct annotate_run {
	struct sample_run run;
	const struct annotate_words *words;
	struct profile *profile;
	struct missing *missing;
	size_t n_missing, cap_missing;
	size_t n_found; /* functions that were asked for and have samples */
	size_t n_shown;
};

/* ---- what is missing ---- */

static void add_missing(struct annotate_run *run, const struct symbol *symbol, const char *why)
{
	for (size_t i = 0; i < run->n_missing; i++) {
		struct missing *known = &run->missing[i];

		if (known->dso != symbol->dso || strcmp(known->why, why) != 0)
			continue;
		known->n += known->first != symbol;
		return;
	}
	VEC_GROW(run->missing, run->n_missing, run->cap_missing);
	run->missing[run->n_missing++] = (struct missing){ symbol->dso, xstrdup(why), symbol, 1 };
}

/* Reports all functions of a file and reason in one message. */
static void report_missing(struct annotate_run *run)
{
	for (size_t i = 0; i < run->n_missing; i++) {
		const struct missing *missing = &run->missing[i];
		char others[48] = "";

		if (missing->n > 1)
			snprintf(others, sizeof(others), " and %zu other function%s", missing->n - 1,
				 missing->n > 2 ? "s" : "");
		if (!run->words->skip_missing)
			message_error("%s%s of %s: %s", missing->first->name, others, missing->dso->name, missing->why);
		free(missing->why);
	}
	free(run->missing);
}

/* ---- functions ---- */

static void show_function(struct annotate_run *run, struct annotate *annotate,
			  const struct annotate_function *function)
{
	struct annotation *annotation;
	struct str why = STR_INIT;

	if (annotation_new(&annotation, annotate, function, &run->words->options, &why)) {
		add_missing(run, function->symbol, why.s);
	} else {
		progress_end(&run->run.progress);
		annotation_print(annotation, &run->words->look, &run->run.output);
		annotation_free(annotation);
		run->n_shown++;
	}
	str_release(&why);
}

static void show_events(struct annotate_run *run, const size_t *events, size_t n)
{
	const struct annotate_query query = {
		.name = run->words->symbol, .filters = run->profile->filters, .events = events, .n_events = n,
	};
	struct annotate *annotate = annotate_new(run->profile, &query);
	const struct annotate_function *function;

	for (size_t i = 0; !run->run.output.failed && (function = annotate_function_at(annotate, i)); i++) {
		run->n_found++;
		if (run->words->symbol || annotate_is_heavy(annotate, function, run->words->percent_limit))
			show_function(run, annotate, function);
	}
	annotate_free(annotate);
}

/* Events beside each other: a recorded group's, all with --group, each by itself with --no-group. */
static void show_all(struct annotate_run *run)
{
	const struct events *recorded = run->profile->session.recording->events;
	size_t n = run->profile->n_events < recorded->n ? run->profile->n_events : recorded->n;
	size_t *events = xcalloc(n + 1, sizeof(*events));

	for (size_t i = 0; i < n; i++)
		events[i] = i;
	for (size_t i = 0, members = 1; i < n; i += members) {
		members = 1;
		if (run->words->group > 0)
			members = n;
		else if (run->words->group < 0)
			while (i + members < n && recorded->v[i + members]->leader == recorded->v[i]->index)
				members++;
		show_events(run, events + i, members);
	}
	free(events);
}

/* ---- the text ---- */

static void annotate(struct annotate_run *run)
{
	const struct sample_words *sample = &run->words->sample;
	struct pager pager;
	struct str err = STR_INIT;

	if (profile_read(run->profile, sample_run_progress, &run->run, &err))
		sample_run_fail(&run->run, err.s);
	signals_spare_end();
	progress_end(&run->run.progress);
	pager_open(&pager, !sample->no_pager);
	show_all(run);
	output_end(&run->run.output);
	pager_close(&pager);
	if (run->words->symbol && !run->n_found && !err.len) {
		annotate_add_unknown(&run->profile->session, run->words->symbol, &err);
		sample_run_fail(&run->run, err.s);
	}
	if (run->n_missing && !run->n_shown && !run->words->skip_missing)
		run->run.status = EXIT_PSTAT_FAILED;
	report_missing(run);
	filters_add_note(run->profile->filters, &sample->filters, &run->profile->session,
			 &run->profile->session.notes);
	sample_run_notes(&run->run, &run->profile->session, sample);
	str_release(&err);
}

/*
 * False after a message: no function can be shown without a disassembler, which is said once and not for each file.
 */
static bool can_disassemble(struct annotate_run *run)
{
	struct str why = STR_INIT;
	int code = annotate_try(&why);

	if (code == -ENOSYS)
		message_error("annotate: this pstat was built without capstone, which disassembles\n"
			      "build it where capstone's headers are, or with WITH_CAPSTONE=1");
	else if (code)
		message_error("annotate: %s", why.s);
	if (code)
		run->run.status = EXIT_PSTAT_FAILED;
	str_release(&why);
	return !code;
}

/* ---- on a terminal ---- */

/* False: a text was asked for, or there is no screen to be had. */
static bool browse_code(struct sample_run *run, const struct annotate_words *words)
{
	const struct query query = {
		.session = words->sample.session,
		.filters = words->sample.filters,
		.sort = "dso,symbol",
		.chain = chain_options_default(),
		.group = words->group == 1,
		.group_off = !words->group,
		.percent_limit = words->percent_limit,
		.verbose = (unsigned)words->sample.verbose,
		.quiet = words->sample.quiet,
	};
	const struct screen_code code = { .symbol = words->symbol, .options = words->options, .look = words->look };
	const struct browse_words browsed = { .query = &query, .code = &code, .asked_for = words->tui };
	bool wanted = !words->stdio && !words->look.arrows && !words->sample.no_pager && terminal_takes_keys();

	if (!wanted)
		browse_not(words->tui, "it needs a terminal, and nothing that is only printed");
	return wanted && browse_recording(run, &browsed);
}

/* ---- the command ---- */

static void print_code(struct annotate_run *run)
{
	struct profile_options options = {
		.session = run->words->sample.session,
		.filters = run->words->sample.filters,
		.shape = { .facts = 1ULL << FACT_LOCATION },
		.files_filtered = true,
	};
	struct str err = STR_INIT;

	options.session.no_unwind = true;
	options.session.sym.kernel_late = run->words->symbol;
	if (profile_new(&run->profile, &options, &run->run.reader, &err)) {
		message_error("%s", err.s);
		run->run.status = EXIT_BAD_USAGE;
	} else {
		annotate(run);
	}
	profile_free(run->profile);
	str_release(&err);
}

static int run_annotate(struct annotate_words *words)
{
	struct annotate_run run = { .words = words };

	words->sample.session.sym.progress = sample_run_symbol_progress;
	words->sample.session.sym.progress_context = &run.run;
	if (sample_run_open(&run.run, &words->sample) && can_disassemble(&run) && !browse_code(&run.run, words))
		print_code(&run);
	return sample_run_close(&run.run);
}

static int take_symbol(struct annotate_words *words, int argc, char **argv, int first)
{
	if (first == argc)
		return 0;
	if (argc - first > 1)
		return bad_usage("annotate: one function at a time; '%s' is one too many", argv[first + 1]);
	if (words->symbol)
		return bad_usage("annotate: -s %s and %s: one of them", words->symbol, argv[first]);
	words->symbol = argv[first];
	return 0;
}

int cmd_annotate(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct annotate_words words;
	int first, status;

	(void)kern;
	annotate_words_init(&words);
	status = command_parse(self, argc, argv, &words, &first);
	if (status >= 0)
		return status;
	status = take_symbol(&words, argc, argv, first);
	if (status)
		return status;
	if (raw_dump_only(&words.sample.dump))
		return raw_dump(&words.sample.dump);
	status = annotate_words_finish(&words);
	return status ? status : run_annotate(&words);
}
