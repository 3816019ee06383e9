/*
 * pstat annotate: the code of the functions that were sampled, with the samples of each instruction.
 *
 * The recording is read once, into cells by address. Then, for each event or group: its functions, heaviest first, or
 * those that were named. What can't be shown is told with its reason, functions of one file and reason together.
 */
#include "annotate/annotate.h"
#include "cmd/annotate_words.h"
#include "cmd/command.h"
#include "cmd/message.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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

/* A part of a large file is not worth a message each. */
static void tell_missing(struct annotate_run *run)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < run->n_missing; i++) {
		const struct missing *missing = &run->missing[i];

		str_reset(&text);
		str_addf(&text, "%s", missing->first->name);
		if (missing->n > 1)
			str_addf(&text, " and %zu other function%s", missing->n - 1, missing->n > 2 ? "s" : "");
		str_addf(&text, " of %s: %s", missing->dso->name, missing->why);
		if (!run->words->skip_missing)
			message_error(text.s);
		free(missing->why);
	}
	free(run->missing);
	str_release(&text);
}

/* ---- functions ---- */

static bool is_heavy(const struct annotate_words *words, const struct annotate *annotate,
		     const struct annotate_function *function)
{
	uint64_t all = annotate_total(annotate, 0).period;

	return 100.0 * (double)function->total[0].period >= words->percent_limit * (double)all;
}

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
		if (run->words->symbol || is_heavy(run->words, annotate, function))
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

/* ---- a name that no function with samples has ---- */

/* Where the name is that of a function that was inlined, it is told where. */
static const struct symbol *inlined_into(struct annotate_run *run, const char *name)
{
	struct session *session = &run->profile->session;

	for (size_t i = 0; i < session->locations->n; i++) {
		const struct frame_list *frames = location_frames(session, (uint32_t)i, 0);

		for (size_t f = 0; f + 1 < frames->n; f++)
			if (frames->v[f].symbol && (!strcmp(frames->v[f].symbol->name, name) ||
						    !strcmp(frames->v[f].symbol->raw, name)))
				return frames->v[frames->n - 1].symbol;
	}
	return NULL;
}

static void tell_unknown(struct annotate_run *run)
{
	const char *name = run->words->symbol;
	struct session *session = &run->profile->session;
	const struct symbol *in = inlined_into(run, name);
	struct str text = STR_INIT;
	struct near_name near;

	near_init(&near, name, strlen(name));
	for (size_t i = 0; i < session->locations->n; i++)
		if (location_symbol(session, (uint32_t)i))
			near_consider(&near, location_symbol(session, (uint32_t)i)->name);
	str_addf(&text, "no samples in a function '%s'", name);
	if (in)
		str_addf(&text, "; it was inlined, into %s among others\nannotate that one: pstat annotate %s",
			 in->name, in->name);
	else if (near_best(&near) && strcmp(near_best(&near), name) != 0) /* else a filter leaves it out */
		str_addf(&text, "\ndid you mean %s?", near_best(&near));
	sample_run_fail(&run->run, text.s);
	str_release(&text);
}

/* ---- the command ---- */

/* Addresses are all that is asked about. */
static int choose_addresses(void *context, struct profile *profile, struct profile_shape *shape, struct str *err)
{
	(void)context, (void)profile, (void)err;
	shape->facts = 1ULL << FACT_LOCATION;
	return 0;
}

static void annotate(struct annotate_run *run)
{
	const struct sample_words *sample = &run->words->sample;
	struct pager pager;
	struct str err = STR_INIT;

	run->profile->session.files_shown = run->profile->filters;
	if (profile_read(run->profile, sample_run_progress, &run->run, &err))
		sample_run_fail(&run->run, err.s);
	progress_end(&run->run.progress);
	pager_open(&pager, !sample->no_pager);
	show_all(run);
	output_end(&run->run.output);
	pager_close(&pager);
	if (run->words->symbol && !run->n_found && !err.len)
		tell_unknown(run);
	if (run->n_missing && !run->n_shown && !run->words->skip_missing)
		run->run.status = EXIT_PSTAT_FAILED;
	tell_missing(run);
	filters_add_note(run->profile->filters, &sample->filters, &run->profile->session);
	sample_run_notes(&run->run, &run->profile->session, sample);
	str_release(&err);
}

/* Without a disassembler there is nothing to be shown of any function: that is said once, not for each file. */
static bool can_disassemble(struct annotate_run *run)
{
	struct str why = STR_INIT, text = STR_INIT;
	int code = annotate_try(&why);

	if (code == -ENOSYS)
		str_add(&text, "annotate: this pstat was built without capstone, which disassembles\n"
			       "build it where capstone's headers are, or with WITH_CAPSTONE=1");
	else if (code)
		str_addf(&text, "annotate: %s", why.s);
	if (code) {
		message_error(text.s);
		run->run.status = EXIT_PSTAT_FAILED;
	}
	str_release(&why);
	str_release(&text);
	return !code;
}

static int run_annotate(struct annotate_words *words)
{
	struct annotate_run run = { .words = words };
	struct profile_options options = {
		.session = words->sample.session,
		.filters = words->sample.filters,
		.choose = choose_addresses,
	};
	struct str err = STR_INIT;

	options.session.sym.progress = sample_run_symbol_progress;
	options.session.sym.progress_context = &run.run;
	options.session.no_unwind = true;
	options.session.sym.kernel_late = words->symbol;
	if (sample_run_open(&run.run, &words->sample)) {
		if (profile_new(&run.profile, &options, &run.run.reader, &err)) {
			message_error(err.s);
			run.run.status = EXIT_BAD_USAGE;
		} else if (can_disassemble(&run)) {
			annotate(&run);
		}
		profile_free(run.profile);
	}
	str_release(&err);
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
