/* SPDX-License-Identifier: MIT */
/*
 * The options of `pstat profile`: bcc's letters where it has them, record's and report's names for all else.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/profile_options.h"
#include "cmd/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { DEFAULT_HZ = 49, SPOOL_INTERVAL_S = 60 };

static int take_interval(void *target, const char *argument, struct str *err)
{
	return take_span("--interval", argument, &((struct profile_words *)target)->interval_ns, err);
}

static int take_max_size(void *target, const char *argument, struct str *err)
{
	struct profile_words *words = target;

	if (parse_bytes(argument, &words->spool_max_bytes) || !words->spool_max_bytes)
		return fail(err, -EINVAL, "--max-size: '%s' is not a size such as 500M", argument);
	return 0;
}

static int take_max_age(void *target, const char *argument, struct str *err)
{
	return take_span("--max-age", argument, &((struct profile_words *)target)->spool_max_age_ns, err);
}

#define FIELD(name) .offset = offsetof(struct profile_words, name)
#define PLAN(name) FIELD(record.plan.name)
#define QUERY(name) FIELD(report.report.name)
#define REPORT(name) FIELD(report.name)
#define FILTER(name) FIELD(report.sample.filters.name)

const struct option_row profile_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to sample (default: the whole machine)" },
	{ OPTION_TEXT, 'p', "pid", "pids", "measure these running processes", PLAN(target.pids),
	  .value = VALUE_PIDS },
	{ OPTION_TEXT, 'L', "tid", "tids", "measure these running threads", PLAN(target.tids),
	  .value = VALUE_TIDS },
	{ OPTION_TEXT, 'u', "uid", "user", "measure all processes of this user", PLAN(target.user),
	  .value = VALUE_USER },
	{ OPTION_TEXT, 'C', "cpu", "cpus", "measure these CPUs, such as 0-3,7", PLAN(target.cpus),
	  .value = VALUE_CPUS },
	{ OPTION_CALL, 'G', "cgroup", "names", "measure these cgroups", .value = VALUE_CGROUPS,
	  .call = take_cgroups },
	{ OPTION_FLAG, 'I', "include-idle", NULL, "sample idle CPUs too", FIELD(idle) },
	{ OPTION_FLAG, 0, "no-inherit", NULL, "do not measure child processes", PLAN(sampling.inherit),
	  .off = true },
	{ OPTION_TEXT, 0, "comms", "names", "only samples of tasks with these names", FILTER(comms) },

	{ .kind = OPTION_GROUP, .help = "How to sample" },
	{ OPTION_CALL, 'F', "frequency", "hertz", "samples per second and CPU, or max (default 49)",
	  .value = VALUE_FREQUENCY, .call = take_frequency },
	{ OPTION_CALL, 'c', "count", "n", "take a sample every n events", .call = take_period },
	{ OPTION_CALL, 'e', "event", "list", "events, see pstat list (default cpu-clock)",
	  .value = VALUE_EVENTS,
	  .call = take_events },
	{ OPTION_CALL, 0, "filter", "expression", "filter the tracepoints of the preceding -e",
	  .call = take_filter },
	{ OPTION_FLAG, 0, "off-cpu", NULL, "sample waiting time, not the default event",
	  PLAN(sampling.off_cpu) },
	{ OPTION_FLAG, 0, "wakers", NULL, "--off-cpu, and who ended waits: offcpu-wakers",
	  PLAN(sampling.wakers) },
	{ OPTION_FLAG, 0, "wall", NULL, "sample all time, as one event wall-clock",
	  PLAN(sampling.wall) },
	{ OPTION_CALL, 0, "off-cpu-thresh", "ms", "leave out shorter waits (default 0)",
	  .call = take_off_cpu_least },
	{ OPTION_CALL, 0, "call-graph", "fp|dwarf[,bytes]|lbr|no", "how to find stacks (fp)",
	  .value = VALUE_ONE_OF,
	  .call = take_call_graph },
	{ OPTION_UNSIGNED, 0, "max-stack", "n", "keep at most n frames of a stack", PLAN(sampling.max_stack),
	  .min = 1,
	  .max = UINT16_MAX },
	{ OPTION_CALL, 'm', "mmap-pages", "pages or size", "size of each ring buffer (default 2M or less)",
	  .value = VALUE_SIZE, .call = take_ring_size },
	{ OPTION_UNSIGNED, 0, "stack-storage-size", "n", "keep at most n distinct stacks (no limit)",
	  FIELD(stacks_max), .min = 1, .max = 1 << 20 },
	{ OPTION_CHOICE, 0, "engine", "rings|bpf", "count samples in pstat, or the kernel (rings)",
	  FIELD(bpf), .value = VALUE_ONE_OF },
	{ OPTION_CALL, 'i', "interval", "seconds", "print one output per interval", .value = VALUE_TIME,
	  .call = take_interval },

	{ .kind = OPTION_GROUP, .help = "What to print (default: each stack with its process, the rarest first)" },
	{ OPTION_FLAG, 'U', "user-stacks-only", NULL, "use only the user frames of stacks",
	  REPORT(sample.user_stacks) },
	{ OPTION_FLAG, 'K', "kernel-stacks-only", NULL, "use only the kernel frames of stacks",
	  REPORT(sample.kernel_stacks) },
	{ OPTION_FLAG, 'a', "annotations", NULL, "mark kernel and inlined frames: _[k], _[i]",
	  QUERY(folded_annotate) },
	{ OPTION_FLAG, 'd', "delimited", NULL, "put a line between kernel and user frames",
	  QUERY(folded_delimiter) },
	{ OPTION_FLAG, 'f', "folded", NULL, "print one line per stack, for flame graphs", REPORT(folded) },
	{ OPTION_FLAG, 0, "stdio", NULL, "print a table with trees, as pstat report", REPORT(stdio) },
	{ OPTION_TEXT, 's', "sort", "keys", "--stdio, --json: keys that make a row",
	  QUERY(sort), .value = VALUE_REPORT_KEYS },
	{ OPTION_CALL, 0, "percent-limit", "percent", "--stdio, --json: leave out rows below this",
	  FIELD(report),
	  .call = take_percent_limit },
	{ OPTION_FLAG, 'j', "json", NULL, "print one JSON document", REPORT(json) },
#define EXPORT_OPTION(id, file, help)                                                                     \
	{ OPTION_CALL, 0, #id, "file", help, REPORT(exports[EXPORT_##id]), .argument_optional = true,     \
	  .value = VALUE_FILE, .call = take_export },
	REPORT_FILE_FORMATS(EXPORT_OPTION)
	{ .kind = OPTION_GROUP, .help = "Files for a fleet, see SPOOL in the manual" },
	{ OPTION_TEXT, 0, "spool", "folder", "write one pprof file per interval (-i 60)",
	  FIELD(spool), .value = VALUE_DIRECTORY },
	{ OPTION_CALL, 0, "max-size", "size", "--spool: delete the oldest files over 500M",
	  .value = VALUE_SIZE, .call = take_max_size },
	{ OPTION_CALL, 0, "max-age", "time", "--spool: delete files older than this: 7d", .value = VALUE_TIME,
	  .call = take_max_age },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_REFUSED, 0, "cgroupmap", "path", .help = "a map of BPF does not select cgroups",
	  .instead = "-G", .value = VALUE_FILE },
	{ OPTION_REFUSED, 0, "mntnsmap", "path", .help = "there is no filter for mount namespaces",
	  .instead = "-G with the container's cgroup", .value = VALUE_FILE },
	{ .kind = OPTION_END, .more = name_options, REPORT(sample) },
};

void profile_words_init(struct profile_words *words, const struct kern *kern)
{
	*words = (struct profile_words){ .idle = false };
	recording_words_init(&words->record, kern);
	report_words_init(&words->report);
	words->record.plan.sampling.callchain = CALLCHAIN_FP;
	words->report.report.folded_events = true;
}

void profile_words_release(struct profile_words *words)
{
	recording_words_release(&words->record);
}

/* Chooses what this user may sample: without rights to sample the machine its own processes. */
static void choose_target(struct profile_words *words)
{
	static char own_uid[16];
	const struct host_paths *host = &words->record.what.kern->host;
	struct target_spec *target = &words->record.plan.target;

	if (words->record.plan.argv || target->pids || target->tids || target->user || target->cpus ||
	    words->record.what.has_cgroups)
		return;
	words->own_only = perf_paranoid(host) > 0 && !may_profile_all(host);
	if (words->own_only) {
		note_add(&words->record.what.events.notes, false, "sudo sysctl kernel.perf_event_paranoid=0",
			 "only your own processes: the whole machine needs perf_event_paranoid 0 or CAP_PERFMON");
		snprintf(own_uid, sizeof(own_uid), "%u", (unsigned)geteuid());
		target->user = own_uid;
	}
}

static int add_default_event(struct profile_words *words, struct str *err)
{
	struct event_list *events = &words->record.what.events;
	struct sampling *sampling = &words->record.plan.sampling;
	const bool has_event = events->n || sampling->off_cpu;
	int rc = has_event ? 0 : event_list_parse(events, "cpu-clock", &words->record.what.kern->host, err);

	words->sampled = events->n;
	if (!sampling->period && !sampling->freq_hz && !sampling->freq_max)
		sampling->freq_hz = DEFAULT_HZ;
	/* The kernel's own clocks can leave idleness out; samples of other events are left out when they are read. */
	for (size_t i = 0; i < events->n && !words->idle; i++)
		if (events->v[i].attr.type == PERF_TYPE_SOFTWARE)
			events->v[i].attr.exclude_idle = 1;
	return rc;
}

static bool is_export(const struct report_words *report)
{
	bool given = false;

	for (size_t i = 0; i < ARRAY_SIZE(report->exports); i++)
		given |= report->exports[i].given;
	return given;
}

/* Outputs for other programs do not stand one after the other. */
static int check_interval(const struct profile_words *words)
{
	const struct report_words *report = &words->report;

	if (words->interval_ns && !words->spool && !report->output && is_export(report))
		return bad_usage("profile: --interval: several outputs of --%s do not go to one place; name a file, "
				 "and each gets a number", report->format->name);
	return 0;
}

/* A spool has one format; its files are named by the time of day, so samples have a clock that both know. */
static int complete_spool(struct profile_words *words)
{
	struct report_words *report = &words->report;
	struct sampling *sampling = &words->record.plan.sampling;

	if (!words->spool && (words->spool_max_bytes || words->spool_max_age_ns))
		return bad_usage("profile: --max-size and --max-age are limits of --spool");
	if (!words->spool)
		return 0;
	if (report->stdio || report->folded || report->json || is_export(report))
		return bad_usage("profile: --spool writes files for pprof; no other format goes with it");
	report->exports[EXPORT_pprof] = (struct export_choice){ .given = true, .file = "-" };
	if (!words->interval_ns)
		words->interval_ns = SPOOL_INTERVAL_S * NS_PER_S;
	sampling->has_clockid = true;
	sampling->clockid = CLOCK_MONOTONIC;
	return 0;
}

int profile_words_complete(struct profile_words *words)
{
	struct record_plan *plan = &words->record.plan;
	struct report_words *report = &words->report;
	struct sampling *sampling = &plan->sampling;
	struct str err = STR_INIT;
	int status = 0;

	words->record.quiet = report->sample.quiet;
	words->record.verbose = report->sample.verbose;
	report->sample.session.max_stack = sampling->max_stack;
	report->sample.filters.idle_hidden = !words->idle;
	sampling->off_cpu |= sampling->wakers;
	words->record.no_default_event = sampling->off_cpu;
	status = complete_spool(words);
	if (status)
		return status;
	report->stacks = !report->stdio && !report->folded && !report->json && !is_export(report);
	if (sampling->period && (sampling->freq_hz || sampling->freq_max))
		return bad_usage("profile: --frequency and --count: give one of them");
	choose_target(words);
	/* Samples are not kept one by one. */
	report->merge = report->exports[EXPORT_speedscope].given;
	status = report_words_finish(report);
	if (!status)
		status = check_interval(words);
	if (!status && (add_default_event(words, &err) || recording_words_complete(&words->record, &err)))
		status = bad_usage("%s", err.s);
	plan->path = NULL; /* no file */
	plan->build_ids = false;
	str_release(&err);
	return status;
}
