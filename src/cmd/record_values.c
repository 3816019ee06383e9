/*
 * Arguments of `pstat record` that have a form of their own. Each function fills the plan, or says
 * what is wrong in a sentence that begins with the option.
 */
#include "cmd/quantity.h"
#include "cmd/record_words.h"

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

int take_start_delay(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	if (!parse_int(argument, -1, INT_MAX, &words->plan.delay_ms))
		return 0;
	if (*argument && strchr(argument + 1, '-'))
		return fail(err, -ENOTSUP, "--delay: spans such as '%s' are not recorded one by one; --control enables "
			    "and disables while it runs", argument);
	return fail(err, -EINVAL, "--delay: '%s' is not a number of ms from -1 to %d", argument, INT_MAX);
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
	words->plan.sampling.chains_later = false;
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
			words->plan.sampling.chains_later = true;
			return 0;
		}
		return fail(err, -EINVAL, "--call-graph: only dwarf takes a size, and only fp the word defer");
	}
	return fail(err, -EINVAL, "--call-graph: '%s' is none of fp, dwarf, lbr and no", argument);
}

int take_branch_filter(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	return branch_filter_parse(argument, &words->plan.sampling.branch_filter, err);
}

int take_user_regs(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	return sample_regs_parse(argument, &words->plan.sampling.user_regs, err);
}

int take_intr_regs(void *target, const char *argument, struct str *err)
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

int take_clock(void *target, const char *argument, struct str *err)
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

int take_buffer_size(void *target, const char *argument, struct str *err)
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

/* Nothing behind the = means the default, as in perf. */
int take_threads(void *target, const char *argument, struct str *err)
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

int take_affinity(void *target, const char *argument, struct str *err)
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

int take_compression(void *target, const char *argument, struct str *err)
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

int take_cache_size(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	words->plan.cache_bytes = 0;
	if (strcmp(argument, "0") && (parse_bytes(argument, &words->plan.cache_bytes) || !words->plan.cache_bytes))
		return fail(err, -EINVAL, "--buildid-cache-size: '%s' is not a size such as 500M, nor 0 for no limit",
			    argument);
	return 0;
}

int take_max_size(void *target, const char *argument, struct str *err)
{
	struct recording_words *words = target;

	if (parse_bytes(argument, &words->plan.max_bytes) || !words->plan.max_bytes)
		return fail(err, -EINVAL, "--max-size: '%s' is not a size such as 100M", argument);
	return 0;
}

int take_switch_output(void *target, const char *argument, struct str *err)
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

int take_synth(void *target, const char *argument, struct str *err)
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
