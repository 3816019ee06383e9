/*
 * What goes together on the command line of `pstat record`, and what it means where it says nothing.
 * Which options contradict each other in the attrs is checked where those are made (record/sampling.c).
 */
#include "cmd/record_words.h"

#include "buildcache/buildcache.h"
#include "cmd/recording_place.h"

#include <errno.h>
#include <stdlib.h>

void record_words_init(struct recording_words *words, const struct kern *kern)
{
	*words = (struct recording_words){
		.plan = {
			.build_ids = true,
			.cache = true,
			.cache_bytes = BUILD_CACHE_BYTES_DEFAULT,
			.synth = SYNTH_TASKS | SYNTH_MMAPS,
			.sampling = { .inherit = true },
			.control_fd = -1,
			.ack_fd = -1,
			.end_fd = -1,
			.kern = kern,
		},
	};
	event_words_init(&words->what, kern);
	words->plan.events = &words->what.events;
}

void record_words_release(struct recording_words *words)
{
	event_words_release(&words->what);
	reader_masks_release(&words->plan.reader_masks);
}

/* ---- what is said ---- */

static bool names_tasks(const struct recording_words *w)
{
	return w->plan.target.pids || w->plan.target.tids || w->plan.target.user;
}

static bool names_cpus(const struct recording_words *w)
{
	return w->plan.target.all_cpus || w->plan.target.cpus;
}

static bool switches(const struct recording_words *w)
{
	return w->plan.switch_on_signal || w->plan.switch_bytes || w->plan.switch_ns;
}

static bool to_pipe(const struct recording_words *w)
{
	return !strcmp(w->plan.path, "-");
}

/* ---- what does not go together ---- */

static bool two_branch_options(const struct recording_words *w)
{
	return w->branches && w->plan.sampling.branch_filter;
}

static bool pipe_with_name(const struct recording_words *w)
{
	return to_pipe(w) && (switches(w) || w->plan.timestamp_name);
}

static bool files_without_switch(const struct recording_words *w)
{
	return w->switch_max_files && !switches(w);
}

static bool affinity_alone(const struct recording_words *w)
{
	return w->plan.affinity && w->plan.readers == READERS_ONE;
}

static bool cgroups_of_tasks(const struct recording_words *w)
{
	return w->what.has_cgroups && names_tasks(w);
}

static bool threads_of_command(const struct recording_words *w)
{
	return w->plan.target.per_thread && !names_tasks(w) && !names_cpus(w) && !w->plan.argv;
}

static bool threads_per_thread(const struct recording_words *w)
{
	return w->plan.target.per_thread && w->plan.readers != READERS_ONE;
}

static bool symbols_in_many(const struct recording_words *w)
{
	return w->symbols_in_file && switches(w);
}

static bool symbols_in_pipe(const struct recording_words *w)
{
	return w->symbols_in_file && to_pipe(w);
}

/* To add one: a function above, a row here, tests/cli/record_options.sh. The first that holds is told. */
static const struct contradiction {
	bool (*holds)(const struct recording_words *words);
	const char *text;
} contradictions[] = {
	{ two_branch_options, "--branch-any and --branch-filter: give one of them" },
	{ pipe_with_name, "--output -: a pipe has no name that --switch-output or "
			  "--timestamp-filename could change" },
	{ files_without_switch, "--switch-max-files: it needs --switch-output" },
	{ affinity_alone, "--affinity: it needs --threads" },
	{ cgroups_of_tasks, "--cgroup: cgroups are sampled on CPUs, not with --pid or --tid" },
	{ threads_of_command, "--per-thread: there is nothing to record\n"
			      "give a command, -p, -t or -a" },
	{ symbols_in_pipe, "--symbols-in-file: a pipe has no place for them\n"
			   "record into a file with -o" },
	{ symbols_in_many, "--symbols-in-file: it is for one file, not for those of --switch-output\n"
			   "pstat archive --into-recording -i FILE puts them into one afterwards" },
	{ threads_per_thread, "--per-thread and --threads: rings of threads belong to no CPU" },
};

static int check(const struct recording_words *words, struct str *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(contradictions); i++)
		if (contradictions[i].holds(words))
			return fail(err, -EINVAL, "%s", contradictions[i].text);
	return 0;
}

/* ---- what goes without saying ---- */

/* Guests are left out, as with all events without letters; a P that was written has perf's meaning. */
static int add_default_event(struct recording_words *words, struct str *err)
{
	struct event_list *events = &words->what.events;
	int rc;

	if (events->n)
		return 0;
	rc = event_list_parse(events, "cycles:P", &words->what.kern->host, err);
	for (size_t i = 0; i < events->n; i++)
		events->v[i].attr.exclude_guest = 1;
	return rc;
}

static void complete_plan(struct recording_words *words)
{
	struct record_plan *plan = &words->plan;
	struct sampling *sampling = &plan->sampling;

	if (words->call_graph && sampling->callchain == CALLCHAIN_NONE)
		sampling->callchain = CALLCHAIN_FP;
	if (words->branches)
		sampling->branch_filter = PERF_SAMPLE_BRANCH_ANY;
	if (words->physical)
		sampling->phys_addr = sampling->addr = true;
	sampling->max_stack = (uint32_t)words->max_stack;
	/* As in perf: who leaves build-ids to the kernel, or has none, wants no files to go with them. */
	plan->cache = plan->cache && plan->build_ids && !sampling->build_id;
	plan->switch_max_files = (unsigned)words->switch_max_files;
	if (!words->has_synth && sampling->all_cgroups)
		plan->synth |= SYNTH_CGROUPS;
	if (sampling->all_user)
		event_list_only_user(&words->what.events);
	if (sampling->all_kernel)
		event_list_only_kernel(&words->what.events);
}

/* -a goes without saying where nothing else is named, and for cgroups; not for rings of threads. */
static void imply_all_cpus(struct recording_words *words)
{
	bool nothing = !words->plan.argv && !words->plan.target.per_thread;

	if ((nothing || words->what.has_cgroups) && !names_cpus(words) && !names_tasks(words))
		words->plan.target.all_cpus = true;
}

/* Options that change a file's name mean a file, also where standard output is a pipe. */
static void choose_path(struct recording_words *words)
{
	struct record_plan *plan = &words->plan;
	bool name_changes = switches(words) || plan->timestamp_name;

	if (!plan->path)
		plan->path = name_changes ? "perf.data" : recording_target(NULL);
}

int record_words_complete(struct recording_words *words, struct str *err)
{
	int rc;

	imply_all_cpus(words);
	choose_path(words);
	rc = check(words, err);
	if (!rc)
		rc = add_default_event(words, err);
	if (!rc)
		rc = event_words_add_cgroups(&words->what, err);
	if (!rc)
		complete_plan(words);
	return rc;
}
