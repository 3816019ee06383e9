/*
 * What goes together on the command line of `pstat stat`, and what it means where it says nothing.
 * Which words name one target is checked where targets are made (kern/target.c); here is the rest.
 */
#include "cmd/stat_settings.h"

#include "cmd/recording_place.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void stat_settings_init(struct stat_settings *settings, const struct kern *kern)
{
	*settings = (struct stat_settings){
		.inherit = true,
		.repeat = 1,
		.merge = true,
		.scale = true,
		.big_num = true,
		.csv_summary = true,
		.log_fd = -1,
		.metric_names = STR_INIT,
	};
	event_words_init(&settings->what, kern);
}

void stat_settings_release(struct stat_settings *settings)
{
	event_words_release(&settings->what);
	str_release(&settings->metric_names);
	free(settings->metrics);
	settings->metrics = NULL;
}

/* ---- what is said ---- */

static bool names_tasks(const struct stat_settings *w)
{
	return w->pids || w->tids;
}

static bool names_cpus(const struct stat_settings *w)
{
	return w->all_cpus || w->cpus;
}

static bool names_cgroups(const struct stat_settings *w)
{
	return w->what.has_cgroups || w->each_cgroup;
}

static bool adds_up_by_cpu(const struct stat_settings *w)
{
	for (int aggr = AGGR_CPU; aggr <= AGGR_NODE; aggr++)
		if (w->aggr[aggr])
			return true;
	return false;
}

static bool adds_up_by_thread(const struct stat_settings *w)
{
	return w->aggr[AGGR_THREAD];
}

enum aggr_mode stat_settings_aggr(const struct stat_settings *settings)
{
	for (int aggr = AGGR_CPU; aggr < N_AGGR; aggr++)
		if (settings->aggr[aggr])
			return (enum aggr_mode)aggr;
	return AGGR_TOTAL;
}

/* ---- what does not go together ---- */

static bool two_outputs(const struct stat_settings *w)
{
	return w->output && w->log_fd >= 0;
}

static bool append_to_nothing(const struct stat_settings *w)
{
	return w->append && !w->output;
}

static bool two_formats(const struct stat_settings *w)
{
	return w->json && w->separator;
}

static bool null_with_events(const struct stat_settings *w)
{
	return w->null_run && (w->what.events.n || w->metric_names.len || w->detailed);
}

static bool neither_user_nor_kernel(const struct stat_settings *w)
{
	return w->all_user && w->all_kernel;
}

static bool two_ways_to_add_up(const struct stat_settings *w)
{
	int n = 0;

	for (int aggr = AGGR_CPU; aggr < N_AGGR; aggr++)
		n += w->aggr[aggr];
	return n > 1;
}

static bool by_cpu_without_cpus(const struct stat_settings *w)
{
	return adds_up_by_cpu(w) && !names_cpus(w);
}

static bool by_thread_of_command(const struct stat_settings *w)
{
	return adds_up_by_thread(w) && !names_cpus(w) && !names_tasks(w);
}

static bool cgroups_of_tasks(const struct stat_settings *w)
{
	return names_cgroups(w) && names_tasks(w);
}

static bool cgroups_twice(const struct stat_settings *w)
{
	return w->what.has_cgroups && w->each_cgroup;
}

static bool no_intervals(const struct stat_settings *w)
{
	return !w->interval_ms && (w->interval_count || w->interval_clear);
}

static bool repeated_intervals(const struct stat_settings *w)
{
	return w->interval_ms && w->repeat != 1;
}

static bool repeat_without_command(const struct stat_settings *w)
{
	return w->repeat != 1 && !w->argv;
}

static bool passes_of_tasks(const struct stat_settings *w)
{
	return w->passes && names_tasks(w);
}

static bool passes_of_cpus(const struct stat_settings *w)
{
	return w->passes && (names_cpus(w) || names_cgroups(w) || adds_up_by_cpu(w));
}

static bool passes_of_intervals(const struct stat_settings *w)
{
	return w->passes && w->interval_ms;
}

static bool passes_for_ever(const struct stat_settings *w)
{
	return w->passes && !w->repeat;
}

static bool passes_of_recording(const struct stat_settings *w)
{
	return w->passes && w->record;
}

static bool passes_of_nothing(const struct stat_settings *w)
{
	return w->passes && w->null_run;
}

static bool passes_without_command(const struct stat_settings *w)
{
	return w->passes && !w->argv;
}

static bool warm_up_of_nothing(const struct stat_settings *w)
{
	return w->warm_up && !w->argv;
}

static bool recording_of_nothing(const struct stat_settings *w)
{
	return w->record && w->null_run;
}

static bool recording_of_repeats(const struct stat_settings *w)
{
	return w->record && w->repeat != 1;
}

/*
 * To add one: a function above, a row here, tests/cli/options.sh. The first that holds is told. First
 * those about printing, which are also those of `stat report`.
 */
struct contradiction {
	bool (*holds)(const struct stat_settings *settings);
	const char *text;
};
static const struct contradiction of_printing[] = {
	{ two_outputs, "--output and --log-fd: give one place to print to" },
	{ append_to_nothing, "--append: there is no --output to append to" },
	{ two_formats, "--json-output and --field-separator: give one format" },
	{ two_ways_to_add_up, "--no-aggr and the --per-X options: give one way to add up" },
};
static const struct contradiction of_counting[] = {
	{ null_with_events, "--null: it counts nothing, but events are given" },
	{ neither_user_nor_kernel, "--all-user and --all-kernel: nothing is left to count" },
	{ cgroups_twice, "--cgroup and --for-each-cgroup: give one of them" },
	{ cgroups_of_tasks, "--cgroup: cgroups are measured on CPUs, not with --pid or --tid" },
	{ by_cpu_without_cpus, "--no-aggr, --per-core and wider: they need -a or -C" },
	{ by_thread_of_command, "--per-thread: it needs -p, -t or -a" },
	{ no_intervals, "--interval-count and --interval-clear: they need -I" },
	{ repeated_intervals, "--repeat and --interval-print: give one of them" },
	{ recording_of_nothing, "--null: there would be no counts to record" },
	{ recording_of_repeats, "--repeat: a recording holds one run" },
	{ passes_of_nothing, "--passes and --null: there are no events to count in passes" },
	{ passes_of_tasks, "--passes: each pass runs a command anew; what runs already, as with --pid and "
			   "--tid, cannot be run again" },
	{ passes_of_cpus, "--passes: each pass runs a command anew; what else runs on CPUs or in cgroups "
			  "is not the same in each pass" },
	{ passes_of_intervals, "--passes and --interval-print: intervals of different runs are not the "
			       "same time" },
	{ passes_for_ever, "--passes: --repeat 0 never ends, and has a report for each run, but a run "
			   "counts a part of the events" },
	{ passes_of_recording, "--passes: a recording holds one run" },
	{ passes_without_command, "--passes: there is no command to run" },
	{ warm_up_of_nothing, "--warm-up: there is no command to run" },
	{ repeat_without_command, "--repeat: there is no command to repeat" },
};

/* -a goes without saying where nothing else is named, and for cgroups, as with perf. */
static void imply_all_cpus(struct stat_settings *w)
{
	if (!w->argv && !names_tasks(w) && !names_cpus(w))
		w->all_cpus = true;
	if (names_cgroups(w) && !names_cpus(w) && !names_tasks(w))
		w->all_cpus = true;
}

static int check(const struct stat_settings *settings, const struct contradiction *rows, size_t n,
		 struct str *err)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].holds(settings))
			return fail(err, -EINVAL, "%s", rows[i].text);
	return 0;
}

int stat_settings_check_report(const struct stat_settings *settings, struct str *err)
{
	return check(settings, of_printing, ARRAY_SIZE(of_printing), err);
}

/* ---- events ---- */

static bool on_cpus(const struct stat_settings *settings)
{
	return names_cpus(settings);
}

static bool on_tasks(const struct stat_settings *settings)
{
	return !names_cpus(settings);
}

/* Does the core PMU offer this event, or for "" any, by name? */
static bool core_pmu_has(const struct stat_settings *settings, const char *event)
{
	char *path = xasprintf("%s/bus/event_source/devices/cpu/events/%s", settings->what.kern->host.sysfs,
			       event);
	bool found = access(path, R_OK) == 0;

	free(path);
	return found;
}

/* The events of a plain `pstat stat`, in their order, and those that -d adds. */
static const struct default_event {
	int level; /* how many -d it takes; 0: only where no other event is given */
	const char *names;
	bool (*wanted)(const struct stat_settings *settings); /* NULL: always */
	bool of_few; /* only where the core PMU has it: "not supported" on all others helps no one */
} default_events[] = {
	{ 0, "task-clock", on_tasks, false },
	{ 0, "cpu-clock", on_cpus, false },
	{ 0, "context-switches,cpu-migrations,page-faults,cycles", NULL, false },
	{ 0, "stalled-cycles-frontend", NULL, true },
	{ 0, "stalled-cycles-backend", NULL, true },
	{ 0, "instructions,branches,branch-misses", NULL, false },
	{ 1, "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses", NULL, false },
	{ 2, "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	     "iTLB-load-misses", NULL, false },
	{ 3, "L1-dcache-prefetches,L1-dcache-prefetch-misses", NULL, false },
};

static int add_default_events(struct stat_settings *settings, struct str *err)
{
	bool others = settings->what.events.n || settings->metric_names.len;
	/* In a virtual machine there is mostly no core PMU, and to look for a file of it costs more than to count. */
	bool named = !others && core_pmu_has(settings, "");
	struct str list = STR_INIT;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(default_events) && !settings->null_run; i++) {
		const struct default_event *event = &default_events[i];

		if (event->level == 0 ? others : event->level > settings->detailed)
			continue;
		if (event->of_few && !(named && core_pmu_has(settings, event->names)))
			continue;
		if (!event->wanted || event->wanted(settings))
			str_addf(&list, "%s%s", list.len ? "," : "", event->names);
	}
	if (list.len)
		rc = event_list_parse(&settings->what.events, list.s, &settings->what.kern->host, err);
	str_release(&list);
	return rc;
}

static int add_metrics(struct stat_settings *settings, struct str *err)
{
	if (!settings->metric_names.len)
		return 0;
	return metrics_select(settings->metric_names.s, &settings->what.events, &settings->metrics,
			      &settings->n_metrics, &settings->what.kern->host, err);
}

static int add_cgroups(struct stat_settings *settings, struct str *err)
{
	struct str names = STR_INIT;
	int rc;

	if (!settings->each_cgroup)
		return event_words_add_cgroups(&settings->what, err);
	rc = cgroups_named(settings->each_cgroup, &settings->what.kern->host, &names, err);
	rc = rc ? rc : event_list_for_each_cgroup(&settings->what.events, names.s, err);
	str_release(&names);
	return rc;
}

int stat_settings_complete(struct stat_settings *settings, struct str *err)
{
	int rc;

	if (settings->record) {
		settings->recording = recording_target(settings->output);
		settings->output = NULL;
	}
	imply_all_cpus(settings);
	rc = check(settings, of_printing, ARRAY_SIZE(of_printing), err);
	if (!rc)
		rc = check(settings, of_counting, ARRAY_SIZE(of_counting), err);
	if (!rc)
		rc = add_default_events(settings, err);
	if (!rc)
		rc = add_metrics(settings, err);
	if (!rc)
		rc = add_cgroups(settings, err);
	if (rc)
		return rc;
	if (settings->all_user)
		event_list_only_user(&settings->what.events);
	if (settings->all_kernel)
		event_list_only_kernel(&settings->what.events);
	return 0;
}
