/* SPDX-License-Identifier: MIT */
/*
 * pstat sched: when tasks ran and why they waited. `record` is pstat record with the events of the scheduler; the other
 * commands are views of such a recording, also of one that perf sched record made.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/sample_run.h"
#include "cmd/sched_options.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- record ---- */

/* The events, as perf sched records them. Optional ones are left out where the kernel does not have them. */
static const struct {
	const char *name;
	bool optional;
	const char *instead_of;
} recorded[] = {
	{ "sched:sched_switch", false, NULL },
	{ "sched:sched_stat_wait", true, NULL },
	{ "sched:sched_stat_sleep", true, NULL },
	{ "sched:sched_stat_iowait", true, NULL },
	{ "sched:sched_stat_runtime", false, NULL },
	{ "sched:sched_process_fork", false, NULL },
	{ "sched:sched_wakeup_new", false, NULL },
	{ "sched:sched_migrate_task", false, NULL },
	{ "sched:sched_waking", true, NULL },
	{ "sched:sched_wakeup", false, "sched:sched_waking" },
};

static int collect_name(const struct event_info *info, void *data)
{
	str_addf(data, " %s ", info->name);
	return 0;
}

static bool is_there(const struct str *names, const char *name)
{
	char *word = xasprintf(" %s ", name);
	bool found = strstr(names->s, word);

	free(word);
	return found;
}

/* A list for -e. Where tracefs can't be read, record says so about the events that are not optional. */
static char *recorded_events(const struct kern *kern)
{
	struct str names = STR_INIT, list = STR_INIT;

	event_walk_tracepoints("sched", &kern->host, collect_name, &names);
	for (size_t i = 0; i < ARRAY_SIZE(recorded); i++) {
		const char *other = recorded[i].instead_of;

		if ((recorded[i].optional && !is_there(&names, recorded[i].name)) || (other && is_there(&names, other)))
			continue;
		str_addf(&list, "%s%s", list.len ? "," : "", recorded[i].name);
	}
	str_release(&names);
	return str_detach(&list);
}

/* argv[0] is "record"; what follows may be any options of pstat record, and a command. */
static int record(int argc, char **argv, const struct kern *kern)
{
	char name[] = "record", all[] = "-a", period[] = "-c", one[] = "1", pages[] = "-m", room[] = "1024",
	     event[] = "-e", *events = recorded_events(kern);
	char *own[] = { name, all, period, one, pages, room, event, events };
	char **words = xcalloc(ARRAY_SIZE(own) + (size_t)argc, sizeof(*words));
	const struct command *command = command_find(name);
	int status;

	memcpy(words, own, sizeof(own));
	memcpy(words + ARRAY_SIZE(own), argv + 1, (size_t)(argc - 1) * sizeof(*words));
	status = command->run(command, (int)ARRAY_SIZE(own) + argc - 1, words, kern);
	free(words);
	free(events);
	return status;
}

/* perf's word for pstat script: argv[0] is "script", what follows are its options. */
static int script(int argc, char **argv, const struct kern *kern)
{
	const struct command *command = command_find(argv[0]);

	return command->run(command, argc, argv, kern);
}

/* ---- views ---- */

static void add_notes(struct sched *sched)
{
	const struct sched_totals *totals = sched_totals(sched);
	struct note_list *notes = &sched_session(sched)->notes;

	if (totals->n_mismatched)
		note_add(notes, false, NULL,
			 "%llu of %llu switches are from a task that the CPU did not run: events are missing, and such "
			 "runs have no time", (unsigned long long)totals->n_mismatched,
			 (unsigned long long)totals->n_switches);
	if (totals->n_backward)
		note_add(notes, false, NULL, "%llu events are older than the one before them",
			 (unsigned long long)totals->n_backward);
	if (totals->n_unfit)
		note_add(notes, false, NULL, "%llu samples without CPU, time or fields of their event are left out",
			 (unsigned long long)totals->n_unfit);
}

static int print_timehist(struct sched *sched, struct sched_words *words, struct sample_run *run, struct str *err)
{
	return timehist_print(sched, &words->timehist, &run->output, sample_run_progress, run, err);
}

static int print_latency(struct sched *sched, struct sched_words *words, struct sample_run *run, struct str *err)
{
	return latency_print(sched, &words->latency, &run->output, sample_run_progress, run, err);
}

static int print_map(struct sched *sched, struct sched_words *words, struct sample_run *run, struct str *err)
{
	return cpu_map_print(sched, &words->map, &run->output, sample_run_progress, run, err);
}

static int print_times(struct sched *sched, struct sched_words *words, struct sample_run *run, struct str *err)
{
	return task_times_print(sched, &words->times, &run->output, sample_run_progress, run, err);
}

/* A page without a name goes to standard output, or where that is a terminal into a file of the default name. */
static int print_page(struct sched *sched, struct sched_words *words, struct sample_run *run, struct str *err)
{
	const bool unnamed = !words->output && isatty(STDOUT_FILENO);
	const char *file = unnamed ? "sched.html" : words->output;
	const char *path = file && strcmp(file, "-") != 0 ? file : NULL;
	int rc;

	if (!sample_run_to_file(run, path))
		return 0;
	rc = page_print(sched, &words->page, &run->output, sample_run_progress, run, err);
	if (!sample_run_end_file(run, path))
		return 0;
	if (!rc && unnamed && !words->sample.quiet)
		message_written("page", path);
	return rc;
}

typedef int print_view(struct sched *sched, struct sched_words *words, struct sample_run *run, struct str *err);

static int run_view(struct sched_words *words, print_view *print)
{
	struct sched_options options = { .session = words->sample.session };
	struct sched *sched = NULL;
	struct sample_run run;
	struct str err = STR_INIT;
	struct pager pager;
	int rc;

	options.session.as_recorded = true;
	options.session.sym.progress = sample_run_symbol_progress;
	options.session.sym.progress_context = &run;
	if (!sample_run_open(&run, &words->sample))
		return sample_run_close(&run);
	rc = sched_new(&sched, &options, &run.reader, &err);
	if (!rc) {
		pager_open(&pager, !words->sample.no_pager && !words->interval_ms && print != print_page);
		rc = print(sched, words, &run, &err);
		output_end(&run.output);
		pager_close(&pager);
	}
	if (rc && !run.output.failed)
		sample_run_fail(&run, err.s);
	add_notes(sched);
	sample_run_notes(&run, sched_session(sched), &words->sample);
	sched_free(sched);
	str_release(&err);
	return sample_run_close(&run);
}

static int view(const struct command *self, print_view *print, int argc, char **argv, struct sched_words *words)
{
	struct str err = STR_INIT;
	int status = command_parse(self, argc, argv, words, NULL);

	if (status >= 0)
		return status;
	if (raw_dump_only(&words->sample.dump))
		return raw_dump(&words->sample.dump);
	status = sample_words_finish(&words->sample);
	if (!status && sched_words_finish(words, &err))
		status = bad_usage("%s: %s", self->name, err.s);
	if (!status)
		status = run_view(words, print);
	str_release(&err);
	return status;
}

/* ---- which command ---- */

/* To add one: a row in each table, its options in sched_options.c, man/pstat-sched-X.1. */
const struct command sched_parts[] = {
	{ "sched record", "[<options>] [<command>]", "sample the events of the scheduler into a file",
	  record_options, "", .run = cmd_sched, .measures = true, .options_end = true },
	{ "sched timehist", "[<options>]", "print each run of a task, and how long it had waited", timehist_options, "",
	  .run = cmd_sched },
	{ "sched latency", "[<options>]", "print how long tasks that could run waited for a CPU", latency_options, "",
	  .run = cmd_sched },
	{ "sched map", "[<options>]", "print which task each CPU runs, a line for each switch", map_options, "",
	  .run = cmd_sched },
	{ "sched tasks", "[<options>]", "print what each task did with its time, and what woke it", task_times_options,
	  "", .run = cmd_sched },
	{ "sched page", "[<options>]", "write a page for a browser: when CPUs and tasks ran", page_options, "",
	  .run = cmd_sched },
	{ .name = NULL },
};
static print_view *const views[ARRAY_SIZE(sched_parts)] = {
	NULL, print_timehist, print_latency, print_map, print_times, print_page,
};

/* Commands of perf sched that are none here. */
static const struct {
	const char *name, *why;
} perf_parts[] = {
	{ "replay", "threads that only sleep and compute as the recorded ones did are not made" },
	{ "stats", "the kernel's /proc/schedstat is not recorded; of tasks: pstat sched tasks" },
};

static int refuse_part(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(perf_parts); i++)
		if (!strcmp(perf_parts[i].name, word))
			return bad_usage("sched %s is a command of perf that pstat does not have: %s", word,
					 perf_parts[i].why);
	return bad_usage("sched: '%s' is not a command of it; pstat sched -h lists them", word);
}

static int run_part(int argc, char **argv, struct sched_words *words, const struct kern *kern)
{
	for (size_t i = 0; sched_parts[i].name; i++) {
		if (strcmp(strrchr(sched_parts[i].name, ' ') + 1, argv[0]) != 0)
			continue;
		return views[i] ? view(&sched_parts[i], views[i], argc, argv, words) : record(argc, argv, kern);
	}
	return !strcmp(argv[0], "script") ? script(argc, argv, kern) : refuse_part(argv[0]);
}

int cmd_sched(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct sched_words words = {
		.timehist = { .max_stack = 5 },
		.latency = { .keys = { LATENCY_AVG, LATENCY_MAX, LATENCY_SWITCH, LATENCY_RUNTIME },
			     .n_keys = LATENCY_KEYS },
	};
	int first, status = command_parse(self, argc, argv, &words, &first);

	if (status < 0)
		status = first < argc ? run_part(argc - first, argv + first, &words, kern) :
					bad_usage("sched: give what to do: record, timehist, latency, map, "
						  "tasks or page");
	sched_words_release(&words);
	return status;
}
