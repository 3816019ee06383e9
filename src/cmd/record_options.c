/* SPDX-License-Identifier: MIT */
/*
 * record_options: the options of `pstat record`: one row each, under the headings of its man page. Above the table
 * stand the functions that read arguments with a form of their own; below it what a command line means as a whole:
 * which options exclude each other, and what holds where nothing is said. Each option fills the plan itself, except
 * for the few fields of struct recording_words that complete_plan() turns into the plan's.
 *
 * Options that contradict each other in the attrs are found where attrs are made (record/sampling.c).
 */
#include "cmd/record_options.h"

#include "buildcache/buildcache.h"
#include "cmd/command.h"
#include "cmd/quantity.h"
#include "cmd/recording_place.h"
#include "data/data.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- how often ---- */

int take_frequency(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	struct sampling *sampling = &words->plan.sampling;

	sampling->freq_max = !strcmp(argument, "max");
	if (sampling->freq_max)
		return 0;
	if (parse_u64(argument, 10, &sampling->freq_hz) || !sampling->freq_hz)
		return fail(err, -EINVAL, "--freq: '%s' is neither a number of samples per second nor "
			    "max", argument);
	return 0;
}

int take_period(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	if (parse_u64(argument, 0, &words->plan.sampling.period) || !words->plan.sampling.period)
		return fail(err, -EINVAL, "--count: '%s' is not a number of events", argument);
	return 0;
}

int take_off_cpu_least(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	uint64_t ms;

	if (parse_u64(argument, 10, &ms) || ms > UINT64_MAX / NS_PER_MS)
		return fail(err, -EINVAL, "--off-cpu-thresh: '%s' is not a number of ms", argument);
	words->has_off_cpu_least = true;
	words->plan.sampling.off_cpu_least_ns = ms * NS_PER_MS;
	return 0;
}

/* "10-20,30-40": the first number is a delay, the others are what follows it. */
static int take_windows(struct record_plan *plan, const char *argument, struct str *err)
{
	char *copy = xstrdup(argument), *rest = copy, *word;
	long from, to = 0;
	int rc = 0;

	free(plan->windows_ms);
	plan->windows_ms = xcalloc(strlen(argument) + 1, sizeof(*plan->windows_ms));
	while (!rc && (word = strsep(&rest, ",")) != NULL) {
		char *end = strchr(word, '-');

		if (end)
			*end++ = '\0';
		if (!end || parse_int(word, to + 1, INT_MAX, &from) || parse_int(end, from + 1, INT_MAX, &to)) {
			rc = fail(err, -EINVAL, "--delay: '%s' is no list of spans of ms, such as 10-20,30-40, in "
				  "ascending order from 1 on", argument);
			break;
		}
		if (plan->n_windows_ms)
			plan->windows_ms[plan->n_windows_ms++] = (uint64_t)from;
		else
			plan->delay_ms = from;
		plan->windows_ms[plan->n_windows_ms++] = (uint64_t)to;
	}
	free(copy);
	return rc;
}

static int take_start_delay(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	words->plan.n_windows_ms = 0;
	if (!parse_int(argument, -1, INT_MAX, &words->plan.delay_ms))
		return 0;
	if (*argument && strchr(argument + 1, '-'))
		return take_windows(&words->plan, argument, err);
	return fail(err, -EINVAL, "--delay: '%s' is not a number of ms from -1 to %d", argument, INT_MAX);
}

/* Filters of tracepoints are the kernel's to read; others name fields of samples, and are tried here. */
static int take_any_filter(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	struct sample_filter filter = { 0 };
	struct str why = STR_INIT;
	int rc;

	if (event_list_ends_with_tracepoints(&words->what.events))
		return take_filter(target, argument, err);
	rc = event_list_set_sample_filter(&words->what.events, argument, err);
	if (!rc && sample_filter_parse(&filter, argument, &why))
		rc = fail(err, -EINVAL, "--filter: %s", why.s);
	sample_filter_release(&filter);
	str_release(&why);
	return rc;
}

/* ---- callchains, branches, registers ---- */

static int take_stack_bytes(struct sampling *sampling, const char *text, struct str *err)
{
	uint64_t bytes;

	if (parse_u64(text, 0, &bytes) && parse_bytes(text, &bytes))
		return fail(err, -EINVAL, "--call-graph: '%s' is not a number of bytes", text);
	if (!bytes || bytes > 65528)
		return fail(err, -ERANGE, "--call-graph: %s bytes of stack: it must be 8 to 65528", text);
	sampling->stack_dump_bytes = (uint32_t)((bytes + 7) & ~7ull);
	return 0;
}

/* "raw", "8192" and "raw,8192". */
static int take_dwarf(struct sampling *sampling, const char *text, struct str *err)
{
	size_t len = strcspn(text, ",");

	if (len != strlen("raw") || strncmp(text, "raw", len))
		return take_stack_bytes(sampling, text, err);
	sampling->stacks_raw = true;
	return text[len] ? take_stack_bytes(sampling, text + len + 1, err) : 0;
}

/* To add a kind: a row here, sampling.c, pstat-record(1). */
static const struct {
	const char *name;
	enum callchain_kind kind;
} callchain_kinds[] = {
	{ "fp", CALLCHAIN_FP }, { "dwarf", CALLCHAIN_DWARF },
	{ "lbr", CALLCHAIN_LBR }, { "no", CALLCHAIN_NONE },
};

int take_call_graph(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	size_t len = strcspn(argument, ",");

	words->call_graph = false;
	words->plan.sampling.stacks_raw = false;
	words->plan.sampling.defer_chains = false;
	for (size_t i = 0; i < ARRAY_SIZE(callchain_kinds); i++) {
		if (strlen(callchain_kinds[i].name) != len ||
		    strncmp(callchain_kinds[i].name, argument, len))
			continue;
		words->plan.sampling.callchain = callchain_kinds[i].kind;
		if (!argument[len])
			return 0;
		if (callchain_kinds[i].kind == CALLCHAIN_DWARF)
			return take_dwarf(&words->plan.sampling, argument + len + 1, err);
		if (callchain_kinds[i].kind == CALLCHAIN_FP && !strcmp(argument + len, ",defer")) {
			words->plan.sampling.defer_chains = true;
			return 0;
		}
		return fail(err, -EINVAL, "--call-graph: only dwarf takes a size, and only fp the word defer");
	}
	return fail(err, -EINVAL, "--call-graph: '%s' is none of fp, dwarf, lbr and no", argument);
}

/* -g: another kind was asked for before, or the environment or the configuration names one. */
static int take_g(void *target, const char *argument, struct str *err)
{
	const char *kind = getenv("PSTAT_CALL_GRAPH");
	struct recording_words *words = target;

	(void)argument;
	if (kind && *kind && words->plan.sampling.callchain == CALLCHAIN_NONE)
		return take_call_graph(target, kind, err);
	words->call_graph = true;
	return 0;
}

int take_branch_filter(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	return branch_filter_parse(argument, &words->plan.sampling.branch_filter, err);
}

static int take_user_regs(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	return sample_regs_parse(argument, &words->plan.sampling.user_regs, err);
}

static int take_intr_regs(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	return sample_regs_parse(argument, &words->plan.sampling.intr_regs, err);
}

/* ---- clocks ---- */

/* clock_gettime(2). To add one: a row here, pstat-record(1). */
static const struct {
	const char *name; /* also with CLOCK_ before it, in any case */
	int id;
} clocks[] = {
	{ "realtime", CLOCK_REALTIME }, { "real", CLOCK_REALTIME },
	{ "monotonic", CLOCK_MONOTONIC }, { "mono", CLOCK_MONOTONIC },
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW }, { "raw", CLOCK_MONOTONIC_RAW },
	{ "boottime", CLOCK_BOOTTIME }, { "boot", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
};

bool clock_row(size_t i, const char **name, const char **help)
{
	if (i >= ARRAY_SIZE(clocks))
		return false;
	*name = clocks[i].name;
	*help = "";
	return true;
}

static int take_clock(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	const char *name = strncasecmp(argument, "CLOCK_", 6) ? argument : argument + 6;
	long number;

	words->plan.sampling.has_clockid = true;
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (!strcasecmp(clocks[i].name, name)) {
			words->plan.sampling.clockid = clocks[i].id;
			return 0;
		}
	}
	if (parse_int(argument, 0, INT_MAX, &number))
		return fail(err, -EINVAL, "--clockid: '%s' is neither a number nor one of realtime, "
			    "monotonic, monotonic_raw, boottime and tai", argument);
	words->plan.sampling.clockid = (int32_t)number;
	return 0;
}

/* ---- rings and threads ---- */

/* A plain number means pages. */
static int parse_ring(const char *text, uint64_t *bytes)
{
	if (parse_bytes(text, bytes)) {
		if (parse_u64(text, 10, bytes) || *bytes > UINT32_MAX)
			return -EINVAL;
		*bytes *= (uint64_t)sysconf(_SC_PAGESIZE);
	}
	return !*bytes || *bytes > 1ull << 40 ? -ERANGE : 0;
}

/* perf has "pages,pages", the second for AUX rings: there are none. */
int take_ring_size(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	const char *comma = strchr(argument, ',');
	char *own = xstrndup(argument, comma ? (size_t)(comma - argument) : strlen(argument));
	uint64_t bytes, aux_bytes;
	int rc = parse_ring(own, &bytes);

	free(own);
	if (!rc && comma)
		rc = parse_ring(comma + 1, &aux_bytes);
	if (rc == -ERANGE)
		return fail(err, -EINVAL, "--mmap-pages: '%s' is out of range", argument);
	if (rc)
		return fail(err, -EINVAL, "--mmap-pages: '%s' is neither a number of pages nor a size such as 512K or "
			    "2M", argument);
	words->plan.ring_bytes = bytes;
	return 0;
}

static int take_buffer_size(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	if (parse_bytes(argument, &words->plan.buffer_bytes) || !words->plan.buffer_bytes)
		return fail(err, -EINVAL, "--buffer-size: '%s' is not a size such as 64M", argument);
	if (words->plan.buffer_bytes > 1ull << 40)
		return fail(err, -EINVAL, "--buffer-size: '%s' is out of range", argument);
	return 0;
}

/* To add a way to split: a row here, record/reader_split.c, pstat-record(1). */
static const struct {
	const char *name;
	enum reader_split split;
} reader_splits[] = {
	{ "cpu", READERS_CPU }, { "core", READERS_CORE }, { "package", READERS_PACKAGE },
	{ "node", READERS_NODE }, { "numa", READERS_NODE },
};

static int take_kcore(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	(void)err;
	words->kcore = argument && *argument ? argument : "/proc/kcore";
	return 0;
}

static int drop_kcore(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	(void)argument;
	(void)err;
	words->kcore = NULL;
	return 0;
}

/* An empty argument (--threads=) means the default, as in perf. */
static int take_threads(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	words->plan.readers = READERS_CPU;
	if (!argument || !*argument)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(reader_splits); i++) {
		if (!strcmp(reader_splits[i].name, argument)) {
			words->plan.readers = reader_splits[i].split;
			return 0;
		}
	}
	if (!strchr(argument, '/'))
		return fail(err, -EINVAL, "--threads: '%s' is none of cpu, core, package and node, and no "
			    "mask such as 0-1/0:2-3/2", argument);
	words->plan.readers = READERS_MASKS;
	return reader_masks_parse(&words->plan.reader_masks, argument, err);
}

static int take_affinity(void *target, const char *argument, struct str *err)
{
	static const char *const known[] = { "node", "cpu", "sys" };
	struct recording_words *words = target;

	words->plan.affinity = !argument || strcmp(argument, "sys");
	for (size_t i = 0; argument && i < ARRAY_SIZE(known); i++) {
		if (!strcmp(known[i], argument))
			return 0;
	}
	return argument ? fail(err, -EINVAL, "--affinity: '%s' is none of cpu, node and sys", argument) :
			  0;
}

/* ---- the file ---- */

static int take_compression(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	long level = 1;

	if (argument && *argument == '=')
		argument++;
	if (argument && parse_int(argument, 1, 22, &level))
		return fail(err, -EINVAL, "--compression-level: '%s' is not a level (1 to 22)", argument);
	words->plan.zstd_level = (int)level;
	return 0;
}

static int take_cache_size(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	words->plan.cache_bytes = 0;
	if (strcmp(argument, "0") && (parse_bytes(argument, &words->plan.cache_bytes) || !words->plan.cache_bytes))
		return fail(err, -EINVAL, "--buildid-cache-size: '%s' is not a size such as 500M, nor 0 for no limit",
			    argument);
	return 0;
}

static int take_max_size(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	if (parse_bytes(argument, &words->plan.max_bytes) || !words->plan.max_bytes)
		return fail(err, -EINVAL, "--max-size: '%s' is not a size such as 100M", argument);
	return 0;
}

static int take_switch_output(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	struct record_plan *plan = &words->plan;

	if (!argument || !strcmp(argument, "signal"))
		plan->switch_on_signal = true;
	else if (parse_duration(argument, &plan->switch_ns) &&
		 parse_bytes(argument, &plan->switch_bytes))
		return fail(err, -EINVAL, "--switch-output: '%s' is neither signal nor a size such as "
			    "100M nor a time such as 30s", argument);
	return 0;
}

static int take_switch_event(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	words->plan.switch_on_signal = true;
	return event_list_parse(&words->switch_events, argument, &words->what.host, err);
}

static const struct {
	const char *name;
	unsigned bits;
} synth_words[] = {
	{ "no", 0 },
	{ "all", SYNTH_ALL },
	{ "task", SYNTH_TASKS },
	{ "mmap", SYNTH_TASKS | SYNTH_MMAPS },
	{ "cgroup", SYNTH_CGROUPS },
};

static int take_synth(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;
	char *copy = xstrdup(argument), *rest = copy, *word;
	int rc = 0;

	words->has_synth = true;
	words->plan.synth = 0;
	while (!rc && (word = strsep(&rest, ",")) != NULL) {
		size_t i = 0;

		while (i < ARRAY_SIZE(synth_words) && strcmp(synth_words[i].name, word))
			i++;
		if (i < ARRAY_SIZE(synth_words))
			words->plan.synth |= synth_words[i].bits;
		else
			rc = fail(err, -EINVAL, "--synth: '%s' is none of all, no, task, mmap and "
				  "cgroup", word);
	}
	free(copy);
	return rc;
}

/* ---- the options ---- */

#define FIELD(name) .offset = offsetof(struct recording_words, name)
#define PLAN(name) FIELD(plan.name)
#define SAMPLING(name) FIELD(plan.sampling.name)
#define LIMITS(low, high, what) .min = (low), .max = (high), .unit = (what)

const struct option_row record_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to sample" },
	{ OPTION_CALL, 'e', "event", "list", "events to measure, see pstat list; repeatable",
	  .value = VALUE_EVENTS, .call = take_events },
	{ OPTION_CALL, 0, "events-dir", "dir", "folder of vendors' JSON files, for the events and metrics after it",
	  .value = VALUE_DIRECTORY, .call = take_events_dir },
	{ OPTION_CALL, 0, "pfm-events", "list", "events by their libpfm4 names",
	  .value = VALUE_PFM_EVENTS, .call = take_pfm_events },
	{ OPTION_CALL, 0, "filter", "expression", "filter the preceding -e: tracepoints or samples",
	  .call = take_any_filter },
	{ OPTION_CALL, 'F', "freq", "hertz", "samples per second, or max (default 4000)",
	  .value = VALUE_FREQUENCY, .call = take_frequency },
	{ OPTION_CALL, 'c', "count", "n", "take a sample every n events", .call = take_period },
	{ OPTION_FLAG, 0, "strict-freq", NULL, "fail if the frequency is over the limit",
	  SAMPLING(strict_freq) },
	{ OPTION_FLAG, 0, "all-user", NULL, "sample in user mode only", SAMPLING(all_user) },
	{ OPTION_FLAG, 0, "all-kernel", NULL, "sample in the kernel only", SAMPLING(all_kernel) },
	{ OPTION_FLAG, 0, "exclude-perf", NULL, "leave out tracepoints that pstat itself hits",
	  SAMPLING(exclude_perf) },

	{ OPTION_FLAG, 0, "off-cpu", NULL, "sample waiting time too, as event offcpu-time", SAMPLING(off_cpu) },
	{ OPTION_FLAG, 0, "wakers", NULL, "--off-cpu, and who ended waits: offcpu-wakers",
	  SAMPLING(wakers) },
	{ OPTION_FLAG, 0, "wall", NULL, "sample all time, as one event wall-clock", SAMPLING(wall) },
	{ OPTION_CALL, 0, "off-cpu-thresh", "ms", "only count shorter waits (500; with --wall: 0)",
	  .call = take_off_cpu_least },

	{ .kind = OPTION_GROUP, .help = "What to record" },
	{ OPTION_FLAG, 'a', "all-cpus", NULL, "measure all CPUs", PLAN(target.all_cpus) },
	{ OPTION_TEXT, 'C', "cpu", "cpus", "measure these CPUs, such as 0-3,7",
	  PLAN(target.cpus), .value = VALUE_CPUS },
	{ OPTION_TEXT, 'p', "pid", "pids", "measure these running processes", PLAN(target.pids),
	  .value = VALUE_PIDS },
	{ OPTION_TEXT, 't', "tid", "tids", "measure these running threads", PLAN(target.tids),
	  .value = VALUE_TIDS },
	{ OPTION_TEXT, 'u', "uid", "user", "measure all processes of this user", PLAN(target.user),
	  .value = VALUE_USER },
	{ OPTION_CALL, 'G', "cgroup", "names", "measure cgroups: one per event, or one for all",
	  .value = VALUE_CGROUPS, .call = take_cgroups },
	{ OPTION_FLAG, 'i', "no-inherit", NULL, "do not measure child processes", SAMPLING(inherit),
	  .off = true },
	{ OPTION_FLAG, 0, "per-thread", NULL, "one ring per thread, not per CPU; no children",
	  PLAN(target.per_thread) },

	{ .kind = OPTION_GROUP, .help = "What a sample holds" },
	{ OPTION_CALL, 'g', NULL, NULL, "take callchains, by frame pointers unless configured", .call = take_g },
	{ OPTION_CALL, 0, "call-graph", "fp[,defer]|dwarf[,raw][,bytes]|lbr|no",
	  "take callchains, and how to find them",
	  .value = VALUE_ONE_OF, .call = take_call_graph },
	{ OPTION_UNSIGNED, 0, "max-stack", "n", "keep at most n frames of a callchain", SAMPLING(max_stack),
	  LIMITS(1, UINT16_MAX, NULL) },
	{ OPTION_FLAG, 0, "user-callchains", NULL, "take the user mode's part of callchains alone",
	  SAMPLING(user_chains) },
	{ OPTION_FLAG, 0, "kernel-callchains", NULL, "take the kernel's part of callchains alone",
	  SAMPLING(kernel_chains) },
	{ OPTION_FLAG, 'b', "branch-any", NULL, "record taken branches", FIELD(branches) },
	{ OPTION_CALL, 'j', "branch-filter", "list", "take branches of these kinds: any_call,u",
	  .value = VALUE_BRANCHES, .call = take_branch_filter },
	{ OPTION_FLAG, 'd', "data", NULL, "record data addresses and maps of data", SAMPLING(addr) },
	{ OPTION_FLAG, 0, "phys-data", NULL, "record physical data addresses", SAMPLING(phys_addr) },
	{ OPTION_FLAG, 0, "data-mmap", NULL, "record maps of data, without addresses", SAMPLING(data_maps) },
	{ OPTION_FLAG, 0, "sample-mem-info", NULL, "record the source of data: cache, memory, ...",
	  SAMPLING(data_src) },
	{ OPTION_FLAG, 0, "data-page-size", NULL, "record page sizes of data addresses",
	  SAMPLING(data_page_size) },
	{ OPTION_FLAG, 0, "code-page-size", NULL, "record page sizes of code addresses",
	  SAMPLING(code_page_size) },
	{ OPTION_FLAG, 'W', "weight", NULL, "record weights (the cost of an access)", SAMPLING(weight) },
	{ OPTION_FLAG, 0, "transaction", NULL, "record flags of hardware transactions", SAMPLING(transaction) },
	{ OPTION_FLAG, 'R', "raw-samples", NULL, "record raw data (tracepoints: always)", SAMPLING(raw) },
	{ OPTION_CALL, 0, "user-regs", "list", "record registers of user mode: these, or all general ones",
	  .argument_optional = true, .value = VALUE_REGISTERS, .call = take_user_regs },
	{ OPTION_CALL, 'I', "intr-regs", "list", "record registers of the sampled code: the same",
	  .argument_optional = true, .value = VALUE_REGISTERS, .call = take_intr_regs },
	{ OPTION_FLAG, 'P', "period", NULL, "record periods (default)", SAMPLING(period_field) },
	{ OPTION_FLAG, 'T', "timestamp", NULL, "record times (default)", SAMPLING(time_off), .off = true,
	  .both = true },
	{ OPTION_FLAG, 0, "sample-cpu", NULL, "record CPUs (default)", SAMPLING(cpu_field) },
	{ OPTION_FLAG, 0, "sample-identifier", NULL, "record ids at a fixed place (default)",
	  SAMPLING(id_field) },
	{ OPTION_CALL, 'k', "clockid", "clock", "clock of the times: monotonic, realtime, ...",
	  .value = VALUE_CLOCK, .call = take_clock },

	{ .kind = OPTION_GROUP, .help = "What else is recorded" },
	{ OPTION_FLAG, 's', "stat", NULL, "record the counts of each thread at its end",
	  SAMPLING(inherit_stat) },
	{ OPTION_FLAG, 'n', "no-samples", NULL, "record no samples, only task events", SAMPLING(no_samples) },
	{ OPTION_SWITCH, 0, "syscall-texts", NULL, "copy what arguments of system calls point at", FIELD(call_texts),
	  .both = true },
	{ OPTION_UNSIGNED, 0, "string-limit", "n", "copy n bytes of each buffer (default 32)", FIELD(string_limit),
	  .min = 0, .max = CALL_BYTES_MAX },
	{ OPTION_FLAG, 0, "namespaces", NULL, "record the namespaces of tasks", SAMPLING(namespaces) },
	{ OPTION_FLAG, 0, "no-bpf-event", NULL, "do not record addresses of BPF programs",
	  SAMPLING(no_bpf_events) },
	{ OPTION_FLAG, 0, "switch-events", NULL, "record context switches", SAMPLING(switch_events) },
	{ OPTION_FLAG, 0, "latency", NULL, "the same, for pstat report --latency", FIELD(latency) },
	{ OPTION_FLAG, 0, "all-cgroups", NULL, "record the cgroup of each sample", SAMPLING(all_cgroups) },
	{ OPTION_CALL, 0, "synth", "all|no|task|mmap|cgroup", "what to record of running tasks (default mmap)",
	  .value = VALUE_SOME_OF, .call = take_synth },
	{ OPTION_FLAG, 0, "tail-synthesize", NULL, "record running tasks at the end",
	  PLAN(tail_synthesize) },
	{ OPTION_FLAG, 'B', "no-buildid", NULL, "do not record build-ids", PLAN(build_ids),
	  .off = true },
	{ OPTION_FLAG, 0, "buildid-all", NULL, "record build-ids of all files (default)",
	  PLAN(build_ids_all) },
	{ OPTION_FLAG, 0, "buildid-mmap", NULL, "let the kernel record build-ids with the maps",
	  SAMPLING(build_id) },

	{ .kind = OPTION_GROUP, .help = "Which files to keep" },
	{ OPTION_FLAG, 'N', "no-buildid-cache", NULL, "do not copy sampled files into the cache", PLAN(cache),
	  .off = true },
	{ OPTION_CALL, 0, "buildid-cache-size", "size",
	  "limit of the cache (default 2G; 0: no limit)",
	  .value = VALUE_SIZE, .call = take_cache_size },
	{ OPTION_CALL, 0, "kcore", "file", "make a folder that has the kernel's code, too (/proc/kcore)",
	  .argument_optional = true, .value = VALUE_FILE, .call = take_kcore },
	{ OPTION_CALL, 0, "no-kcore", NULL, "make a file, also after --kcore", .call = drop_kcore },
	{ OPTION_TEXT, 0, "buildid-dir", "directory", "the build-id cache ($HOME/.debug)",
	  PLAN(cache_dir), .value = VALUE_DIRECTORY },
	{ OPTION_FLAG, 0, "symbols-in-file", NULL, "store symbol names in the recording",
	  FIELD(symbols_in_file) },
	{ OPTION_FLAG, 0, "no-cache", NULL, "do not use the cache in ~/.cache/pstat",
	  PLAN(no_cache) },

	{ .kind = OPTION_GROUP, .help = "How long" },
	{ OPTION_CALL, 'D', "delay", "ms", "start after n ms, or sample 10-20,30-40; -1: by --control",
	  .call = take_start_delay },
	{ OPTION_TEXT, 0, "control", "fd:n[,n] | fifo:path[,path]",
	  "read commands such as enable, write acks", FIELD(control),
	  .value = VALUE_CONTROL },
	{ OPTION_CALL, 0, "duration", "seconds", "stop after this time: 10, 0.5, 500ms, 5m", PLAN(duration_ns),
	  .value = VALUE_TIME, .call = take_duration },
	{ OPTION_CALL, 0, "max-size", "size", "stop when the file reaches this size (100M)",
	  .value = VALUE_SIZE, .call = take_max_size },

	{ .kind = OPTION_GROUP, .help = "Where to" },
	{ OPTION_TEXT, 'o', "output", "file", "the recording (pipe or perf.data); -: stdout",
	  PLAN(path), .value = VALUE_FILE },
	{ OPTION_CALL, 'z', "compression-level", "level", "compress (1 to 22, default 1)",
	  .argument_optional = true, .call = take_compression },
	{ OPTION_FLAG, 0, "timestamp-filename", NULL, "add date and time to the file name",
	  PLAN(timestamp_name) },
	{ OPTION_CALL, 0, "switch-output", "signal|size|time",
	  "start a new file on SIGUSR2, or at a size or age",
	  .argument_optional = true, .value = VALUE_SWITCH, .call = take_switch_output },
	{ OPTION_CALL, 0, "switch-output-event", "event", "start a new file each time this event occurs",
	  .value = VALUE_EVENTS, .call = take_switch_event },
	{ OPTION_UNSIGNED, 0, "switch-max-files", "n", "keep the last n files of --switch-output",
	  PLAN(switch_max_files), LIMITS(1, 1000000, NULL) },
	{ OPTION_FLAG, 0, "overwrite", NULL, "keep only the newest records in memory",
	  SAMPLING(overwrite) },

	{ .kind = OPTION_GROUP, .help = "How to read the ring buffers" },
	{ OPTION_CALL, 'm', "mmap-pages", "pages or size", "size of each ring buffer (default 2M or less)",
	  .value = VALUE_SIZE, .call = take_ring_size },
	{ OPTION_CALL, 0, "buffer-size", "size", "size of the write buffers (default 16M)",
	  .value = VALUE_SIZE, .call = take_buffer_size },
	{ OPTION_CALL, 0, "threads", "cpu|core|package|node|[cpus/cpus:...]",
	  "read ring buffers with several threads",
	  .argument_optional = true, .value = VALUE_ONE_OF, .call = take_threads },
	{ OPTION_CALL, 0, "affinity", "cpu|node|sys", "with --threads: bind each to the CPUs it reads",
	  .argument_optional = true, .value = VALUE_ONE_OF, .call = take_affinity },

	{ OPTION_NUMBER, 'r', "realtime", "priority", "read with this priority of SCHED_FIFO",
	  PLAN(realtime_priority), LIMITS(1, 99, NULL) },

	{ .kind = OPTION_GROUP, .help = "How to print" },
	{ OPTION_FLAG, 0, "dry-run", NULL, "open all events, but record nothing", PLAN(dry_run) },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print errors only", FIELD(quiet) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "report opened events and their samples",
	  FIELD(verbose) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "aio", "n",
	  .help = "writes never delay the reading of rings",
	  .argument_optional = true },
	{ OPTION_ACCEPTED, 0, "debuginfod", "urls",
	  .help = "pstat report --debuginfod asks the servers", .argument_optional = true },
	{ OPTION_ACCEPTED, 0, "mmap-flush", "size", .help = "each read empties a ring" },
	{ OPTION_ACCEPTED, 0, "no-buffering", NULL, .help = "rings are read all the time" },
	{ OPTION_ACCEPTED, 0, "num-thread-synthesize", "n",
	  .help = "one thread reads /proc", .min = 1, .max = INT_MAX },
	{ OPTION_ACCEPTED, 0, "proc-map-timeout", "ms",
	  .help = "reading /proc has no time limit", .min = 1, .max = INT_MAX },
	{ OPTION_ACCEPTED, 0, "running-time", NULL, .help = "values of groups always have times" },
	{ OPTION_ACCEPTED, 0, "timestamp-boundary", NULL,
	  .help = "the header always has both times" },
	{ OPTION_ACCEPTED, 0, "vmlinux", "file",
	  .help = "pstat report --vmlinux takes the file", .value = VALUE_FILE },
	{ OPTION_REFUSED, 0, "aux-sample", "options",
	  .help = "instruction traces (AUX) are not recorded", .argument_optional = true },
	{ OPTION_REFUSED, 'S', "snapshot", "options",
	  .help = "instruction traces (AUX) are not recorded",
	  .instead = "--overwrite keeps the newest records",
	  .argument_optional = true },
	{ OPTION_REFUSED, 0, "clang-opt", "options",
	  .help = "pstat builds no BPF programs", .instead = "-e with a probe, see pstat list probe" },
	{ OPTION_REFUSED, 0, "clang-path", "file",
	  .help = "pstat builds no BPF programs", .instead = "-e with a probe, see pstat list probe",
	  .value = VALUE_FILE },
	{ OPTION_REFUSED, 0, "group", NULL, .help = "groups are written with braces", .instead = "-e '{a,b}'" },
	{ OPTION_REFUSED, 0, "setup-filter", "pin|unpin",
	  .help = "no filters are kept for other users", .instead = "--filter, which works without rights, too",
	  .value = VALUE_ONE_OF },
	{ .kind = OPTION_END },
};

/* ---- the whole command line ---- */

void recording_words_init(struct recording_words *words, const struct kern *kern)
{
	*words = (struct recording_words){
		.string_limit = CALL_BYTES_DEFAULT,
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
	event_list_init(&words->switch_events);
	words->plan.events = &words->what.events;
	words->plan.switch_events = &words->switch_events;
}

void recording_words_release(struct recording_words *words)
{
	event_words_release(&words->what);
	event_list_release(&words->switch_events);
	reader_masks_release(&words->plan.reader_masks);
	free(words->plan.windows_ms);
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
	return w->plan.switch_max_files && !switches(w);
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

static bool off_cpu_cgroups(const struct recording_words *w)
{
	return w->plan.sampling.off_cpu && w->what.has_cgroups;
}

/* The waits are in ns, as the clocks' samples. */
static bool wall_of_others(const struct recording_words *w)
{
	const struct event_list *events = &w->what.events;

	return w->plan.sampling.wall && (events->n > 1 || (events->n && !event_is_clock(&events->v[0])));
}

static bool off_cpu_limit_alone(const struct recording_words *w)
{
	return w->has_off_cpu_least && !w->plan.sampling.off_cpu;
}

static bool threads_per_thread(const struct recording_words *w)
{
	return w->plan.target.per_thread && w->plan.readers != READERS_ONE;
}

static bool latency_of_cpus(const struct recording_words *w)
{
	return w->latency && (names_cpus(w) || w->what.has_cgroups);
}

static bool symbols_in_many(const struct recording_words *w)
{
	return w->symbols_in_file && switches(w);
}

static bool symbols_in_pipe(const struct recording_words *w)
{
	return w->symbols_in_file && to_pipe(w);
}

static bool kcore_elsewhere(const struct recording_words *w)
{
	return w->kcore && (to_pipe(w) || switches(w) || w->plan.timestamp_name);
}

/* To add one: a function above, a row here, a test in tests/cli/record_words.sh. The first that holds is reported. */
static const struct recording_conflict {
	bool (*holds)(const struct recording_words *words);
	const char *text;
} conflicts[] = {
	{ two_branch_options, "--branch-any and --branch-filter: give one of them" },
	{ pipe_with_name, "--output -: a pipe has no name that --switch-output or "
			  "--timestamp-filename could change" },
	{ files_without_switch, "--switch-max-files: it needs --switch-output" },
	{ affinity_alone, "--affinity: it needs --threads" },
	{ cgroups_of_tasks, "--cgroup: cgroups are sampled on CPUs, not with --pid or --tid" },
	{ threads_of_command, "--per-thread: there is nothing to record\n"
			      "give a command, -p, -t or -a" },
	{ kcore_elsewhere, "--kcore: the recording is a folder, not a pipe, nor the files of --switch-output or "
			   "--timestamp-filename" },
	{ symbols_in_pipe, "--symbols-in-file: a pipe has no place for them\n"
			   "record into a file with -o" },
	{ symbols_in_many, "--symbols-in-file: it is for one file, not for those of --switch-output\n"
			   "pstat archive --into-recording -i FILE puts them into one afterwards" },
	{ off_cpu_cgroups, "--off-cpu and --cgroup: a cgroup's events do not see when its threads come back" },
	{ off_cpu_limit_alone, "--off-cpu-thresh: it needs --off-cpu or --wall" },
	{ wall_of_others, "--wall: its event is a clock, cpu-clock or task-clock, alone" },
	{ latency_of_cpus, "--latency: it counts a program's threads that run at once, not what CPUs run\n"
			   "give a command, -p or -t, without -a, -C and -G" },
	{ threads_per_thread, "--per-thread and --threads: rings of threads belong to no CPU" },
};

static int check(const struct recording_words *words, struct str *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++)
		if (conflicts[i].holds(words))
			return fail(err, -EINVAL, "%s", conflicts[i].text);
	return 0;
}

/* ---- what goes without saying ---- */

/* Guests are left out, as with all events without letters; a P that was written has perf's meaning. */
static int add_default_event(struct recording_words *words, struct str *err)
{
	struct event_list *events = &words->what.events;
	const bool wall = words->plan.sampling.wall;
	int rc;

	if (events->n || (words->no_default_event && !wall))
		return 0;
	rc = event_list_parse(events, wall ? "cpu-clock" : "cycles:P", &words->what.kern->host, err);
	for (size_t i = 0; i < events->n && !wall; i++)
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
	sampling->addr |= sampling->phys_addr;
	sampling->switch_events |= words->latency;
	/*
	 * perf does the same: files are kept with the build-ids that the header has, and without these there are
	 * none.
	 */
	plan->cache = plan->cache && plan->build_ids && !sampling->build_id;
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

	if ((nothing || words->what.has_cgroups) && !names_cpus(words) && !names_tasks(words)) {
		words->whole_machine = !words->what.has_cgroups;
		words->plan.target.all_cpus = true;
	}
}

/* Options that change a file's name mean a file, also where standard output is a pipe. */
static void choose_path(struct recording_words *words)
{
	struct record_plan *plan = &words->plan;
	bool name_changes = switches(words) || plan->timestamp_name || words->kcore;

	if (plan->path)
		return;
	plan->path = name_changes ? "perf.data" : recording_target(NULL);
	words->piped = !strcmp(plan->path, "-");
}

/* Sums are of all the time only with all of the waits. */
static void imply_off_cpu(struct recording_words *words)
{
	struct sampling *sampling = &words->plan.sampling;

	sampling->off_cpu |= sampling->wall | sampling->wakers;
	if (sampling->wall && !words->has_off_cpu_least)
		sampling->off_cpu_least_ns = 0;
}

int recording_words_complete(struct recording_words *words, struct str *err)
{
	int rc;

	imply_all_cpus(words);
	imply_off_cpu(words);
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
