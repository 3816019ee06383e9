/* SPDX-License-Identifier: MIT */
/*
 * sampling.c: options of a recording -> attr fields. What the options mean stands in tables: which of them
 * contradict, and which add fields to each sample; the rest is one pass over the events:
 *
 *	how often -> what each sample holds -> :S groups -> who records what tasks do -> which chains come later
 *
 * A term of an event (cpu-clock/call-graph=fp/) goes before the option of the command line. What the kernel limits
 * (kernel.perf_event_max_sample_rate, which it lowers by itself when interrupts take too long, and
 * kernel.perf_event_max_stack) is cut to the limit, and said.
 *
 * Source: perf_event_open(2); Documentation/admin-guide/sysctl/kernel.rst.
 */
#include "record/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEFAULT_HZ = 4000 };
enum { STACK_DUMP_BYTES_DEFAULT = 8192 }; /* perf's, and the least where nobody says how much */
#define RATE_LIMIT_NAME "kernel.perf_event_max_sample_rate"
#define SAMPLE_ALWAYS                                                                       \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define LBR_FILTER                                                                            \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_FLAGS | \
	 PERF_SAMPLE_BRANCH_NO_CYCLES | DATA_BRANCH_HW_INDEX)

/* ---- contradictions ---- */

static bool period_and_freq(const struct sampling *s)
{
	return s->period && (s->freq_hz || s->freq_max);
}

static bool user_and_kernel(const struct sampling *s)
{
	return s->all_user && s->all_kernel;
}

static bool lbr_and_branches(const struct sampling *s)
{
	return s->callchain == CALLCHAIN_LBR && s->branch_filter;
}

static bool stack_too_large(const struct sampling *s)
{
	return s->stack_dump_bytes > STACK_DUMP_BYTES_MAX;
}

static bool two_sides(const struct sampling *s)
{
	return s->user_chains && s->kernel_chains;
}

static bool copied_and_left_out(const struct sampling *s)
{
	return s->kernel_chains && s->callchain == CALLCHAIN_DWARF;
}

static bool late_overwrite(const struct sampling *s)
{
	return s->overwrite && s->time_off;
}

static bool off_cpu_overwrite(const struct sampling *s)
{
	return s->off_cpu && s->overwrite;
}

static bool off_cpu_without_time(const struct sampling *s)
{
	return s->off_cpu && s->time_off;
}

static bool off_cpu_without_samples(const struct sampling *s)
{
	return s->off_cpu && s->no_samples;
}

/* To add a pair that cannot be: a row here and in tests/unit/test_sampling.c. */
static const struct clash {
	bool (*holds)(const struct sampling *sampling);
	const char *text;
} clashes[] = {
	{ period_and_freq, "-c and -F: give a period or a frequency, not both" },
	{ user_and_kernel, "--all-user and --all-kernel: nothing would be left to sample" },
	{ lbr_and_branches, "--call-graph lbr with -b or -j: both need the branch records" },
	{ two_sides, "--user-callchains and --kernel-callchains: nothing would be left of callchains" },
	{ copied_and_left_out, "--kernel-callchains with --call-graph dwarf: what dwarf adds is the user's side" },
	{ stack_too_large, "--call-graph dwarf: at most 65528 bytes of stack fit in a sample" },
	{ late_overwrite, "--overwrite with --no-timestamp: a snapshot is put in order by time" },
	{ off_cpu_overwrite, "--off-cpu with --overwrite: half of a wait would be overwritten" },
	{ off_cpu_without_time, "--off-cpu with --no-timestamp: a wait is the time between two records" },
	{ off_cpu_without_samples, "--off-cpu with --no-samples: waits are samples" },
};

/* ---- how often ---- */

struct rate_limit {
	uint64_t max_hz; /* kernel.perf_event_max_sample_rate; 0: not known */
	uint64_t default_hz; /* for events without a rate of their own, within max_hz */
};

/* Cuts hz to the limit. */
static int clamp(uint64_t *hz, const char *what, const struct rate_limit *limit, bool strict,
		 struct note_list *notes, struct str *err)
{
	char *remedy;

	if (!limit->max_hz || *hz <= limit->max_hz)
		return 0;
	if (strict)
		return fail(err, -EINVAL, "%s: %llu Hz is over the limit of %llu, "
			    RATE_LIMIT_NAME, what, (unsigned long long)*hz, (unsigned long long)limit->max_hz);
	remedy = xasprintf("sysctl " RATE_LIMIT_NAME "=%llu", (unsigned long long)*hz);
	note_add(notes, false, remedy, "%s: %llu Hz lowered to %llu, the limit " RATE_LIMIT_NAME, what,
		 (unsigned long long)*hz, (unsigned long long)limit->max_hz);
	free(remedy);
	*hz = limit->max_hz;
	return 0;
}

/*
 * Reads the limit and settles -F by it, with a note. -EINVAL: --strict-freq and a frequency over the
 * limit, or -F max where the limit cannot be read.
 */
static int rate_limit_read(struct rate_limit *limit, const struct sampling *sampling,
			   const struct kern *kern, struct note_list *notes, struct str *err)
{
	char *path = xasprintf("%s/sys/kernel/perf_event_max_sample_rate", kern->host.procfs);
	int rc = read_u64_file(path, &limit->max_hz);

	free(path);
	if (rc)
		limit->max_hz = 0;
	limit->default_hz = sampling->freq_hz ? sampling->freq_hz : DEFAULT_HZ;
	if (sampling->freq_max) {
		limit->default_hz = limit->max_hz;
		return rc ? fail(err, -EINVAL, "-F max: " RATE_LIMIT_NAME " cannot be read: %s",
				 strerror(-rc)) : 0;
	}
	if (sampling->period || sampling->no_samples)
		return 0;
	return clamp(&limit->default_hz, sampling->freq_hz ? "-F" : "default frequency", limit,
		     sampling->strict_freq && sampling->freq_hz, notes, err);
}

/* Each hit is of interest, and there may be few of them. */
static bool hit_by_hit(const struct event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT ||
	       event->attr.type == PERF_TYPE_BREAKPOINT || !strcmp(event->source, "probe");
}

bool rate_is_reachable(const struct event *event)
{
	return !hit_by_hit(event) && (event->attr.type != PERF_TYPE_SOFTWARE || event_is_clock(event));
}

static void set_period(struct perf_event_attr *attr, uint64_t period)
{
	attr->freq = 0;
	attr->sample_period = period;
}

static void set_freq(struct perf_event_attr *attr, uint64_t hz)
{
	attr->freq = 1;
	attr->sample_freq = hz;
}

/*
 * The event's own term goes before -c and -F, and these before the default: what the event's vendor advises, 1 for
 * events that are hit one by one (tracepoints, breakpoints, probes), else limit->default_hz.
 */
static int rate_set(const struct sampling *sampling, const struct rate_limit *limit, struct event *event,
		    struct note_list *notes, struct str *err)
{
	struct perf_event_attr *attr = &event->attr;
	uint64_t hz = attr->sample_freq;
	int rc = 0;

	if (sampling->no_samples) {
		set_period(attr, 0);
	} else if (event->terms.has_freq) {
		rc = clamp(&hz, event->name, limit, sampling->strict_freq, notes, err);
		set_freq(attr, hz);
	} else if (event->terms.has_period) {
		set_period(attr, attr->sample_period);
	} else if (sampling->period) {
		set_period(attr, sampling->period);
	} else if (event->usual_period && !sampling->freq_hz && !sampling->freq_max) {
		set_period(attr, event->usual_period);
	} else if (hit_by_hit(event) && !sampling->freq_hz && !sampling->freq_max) {
		set_period(attr, 1);
	} else {
		set_freq(attr, limit->default_hz);
	}
	return rc;
}

/* ---- what each sample holds ---- */

#define OPTION(member) offsetof(struct sampling, member)

/* To add a field that an option asks for: a row here, in test_sampling.c, in pstat-record(1). */
static const struct field_option {
	size_t option; /* a bool in struct sampling */
	uint64_t bits;
} field_options[] = {
	{ OPTION(addr), PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC },
	{ OPTION(data_src), PERF_SAMPLE_DATA_SRC },
	{ OPTION(weight), DATA_SAMPLE_WEIGHT_STRUCT },
	{ OPTION(transaction), PERF_SAMPLE_TRANSACTION },
	{ OPTION(phys_addr), PERF_SAMPLE_PHYS_ADDR },
	{ OPTION(data_page_size), PERF_SAMPLE_DATA_PAGE_SIZE },
	{ OPTION(code_page_size), PERF_SAMPLE_CODE_PAGE_SIZE },
	{ OPTION(raw), PERF_SAMPLE_RAW },
	{ OPTION(all_cgroups), PERF_SAMPLE_CGROUP },
};

static uint64_t common_fields(const struct sampling *s)
{
	uint64_t bits = SAMPLE_ALWAYS;

	for (size_t i = 0; i < ARRAY_SIZE(field_options); i++) {
		if (*(const bool *)((const char *)s + field_options[i].option))
			bits |= field_options[i].bits;
	}
	if (s->time_off)
		bits &= ~(uint64_t)PERF_SAMPLE_TIME;
	return bits;
}

struct sampling_pass {
	const struct sampling *sampling;
	const struct target *target;
	const struct rate_limit *limit;
	uint64_t fields; /* of every event */
	uint64_t max_stack_limit; /* kernel.perf_event_max_stack; 0: not known */
	struct note_list *notes;
	struct str *err;
};

/* The words that event/terms.c lets through. */
static enum callchain_kind callchain_of(const struct sampling *s, const struct event *event)
{
	static const char *const words[] = { [CALLCHAIN_NONE] = "no", [CALLCHAIN_FP] = "fp",
					     [CALLCHAIN_DWARF] = "dwarf", [CALLCHAIN_LBR] = "lbr" };
	const char *term = event->terms.call_graph;

	for (size_t i = 0; term && i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i]) == strcspn(term, ",") &&
		    !strncmp(term, words[i], strlen(words[i])))
			return (enum callchain_kind)i;
	}
	return s->callchain;
}

bool sampling_wants_branches(const struct sampling *sampling, const struct event *event)
{
	return sampling->branch_filter || event->terms.branch_type ||
	       callchain_of(sampling, event) == CALLCHAIN_LBR;
}

static void set_max_stack(const struct sampling_pass *p, struct event *event)
{
	uint32_t depth = event->terms.max_stack ? event->terms.max_stack : p->sampling->max_stack;

	if (p->max_stack_limit && depth > p->max_stack_limit) {
		note_add(p->notes, false, NULL,
			 "max-stack: lowered to %llu, the limit kernel.perf_event_max_stack",
			 (unsigned long long)p->max_stack_limit);
		depth = (uint32_t)p->max_stack_limit;
	}
	event->attr.sample_max_stack = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
}

static int set_dwarf(const struct sampling_pass *p, struct event *event)
{
	uint32_t bytes = event->terms.stack_size_bytes;

	if (!dwarf_regs)
		return fail(p->err, -ENOTSUP, "--call-graph dwarf: pstat does not unwind stacks of this architecture");
	bytes = bytes ? bytes : p->sampling->stack_dump_bytes;
	bytes = bytes ? bytes : STACK_DUMP_BYTES_DEFAULT;
	event->attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	event->attr.sample_regs_user |= dwarf_regs;
	event->attr.sample_stack_user = (bytes + 7) & ~7U;
	/* The user's half comes from the stack: frame pointers would only be in the way. */
	event->attr.exclude_callchain_user = 1;
	return 0;
}

static void set_link_register(struct event *event)
{
	event->attr.sample_regs_user |= link_regs;
	if (link_regs)
		event->attr.sample_type |= PERF_SAMPLE_REGS_USER;
}

static int set_callchain(const struct sampling_pass *p, struct event *event)
{
	enum callchain_kind kind = callchain_of(p->sampling, event);

	if (kind == CALLCHAIN_NONE)
		return 0;
	event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	event->attr.exclude_callchain_kernel |= p->sampling->user_chains;
	event->attr.exclude_callchain_user |= p->sampling->kernel_chains;
	set_max_stack(p, event);
	if (kind == CALLCHAIN_FP)
		set_link_register(event);
	if (kind == CALLCHAIN_LBR) {
		if (p->sampling->branch_filter || event->terms.branch_type)
			return fail(p->err, -EINVAL, "%s: call-graph=lbr with a branch filter: both "
				    "need the branch records", event->name);
		event->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		event->attr.branch_sample_type = LBR_FILTER;
	}
	return kind == CALLCHAIN_DWARF ? set_dwarf(p, event) : 0;
}

static int set_branches(const struct sampling_pass *p, struct event *event)
{
	uint64_t filter = p->sampling->branch_filter;
	int rc = 0;

	if (event->terms.branch_type)
		rc = branch_filter_parse(event->terms.branch_type, &filter, p->err);
	if (rc || !filter)
		return rc;
	event->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	event->attr.branch_sample_type = filter;
	return 0;
}

static void set_registers(const struct sampling_pass *p, struct event *event)
{
	event->attr.sample_regs_user = p->sampling->user_regs;
	event->attr.sample_regs_intr = p->sampling->intr_regs;
	if (p->sampling->user_regs)
		event->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	if (p->sampling->intr_regs)
		event->attr.sample_type |= PERF_SAMPLE_REGS_INTR;
}

static void set_time(const struct sampling_pass *p, struct event *event)
{
	if (event->terms.time == TERM_ON)
		event->attr.sample_type |= PERF_SAMPLE_TIME;
	else if (event->terms.time == TERM_OFF)
		event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	event->attr.use_clockid = p->sampling->has_clockid;
	event->attr.clockid = p->sampling->has_clockid ? p->sampling->clockid : 0;
}

/* Sets what holds for all events, the dummy too. */
static void set_common(const struct sampling_pass *p, struct event *event)
{
	const struct sampling *s = p->sampling;
	enum term_switch overwrite = event->terms.overwrite;

	/* -t means these threads, and no others. */
	if (p->target->kind == TARGET_TASKS && !p->target->by_process)
		event->terms.inherit = TERM_OFF;
	event->attr.size = sizeof(event->attr);
	event->attr.sample_type = p->fields;
	event->attr.sample_id_all = 1;
	event->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				  PERF_FORMAT_ID | DATA_FORMAT_LOST;
	event->attr.inherit = event->terms.inherit == TERM_UNSET ? s->inherit :
								   event->terms.inherit == TERM_ON;
	event->attr.inherit_stat = s->inherit_stat && event->attr.inherit;
	event->attr.write_backward = overwrite == TERM_UNSET ? s->overwrite : overwrite == TERM_ON;
	set_time(p, event);
}

/*
 * The event of the context switches, of which the off-CPU stage makes samples of the waits: it samples each switch,
 * and has SWITCH records of its own, so that these begin and end with it. The place in the program tells waits apart,
 * so that a chain goes without saying. So it is with the wakeups that end them.
 */
static int set_off_cpu(const struct sampling_pass *p, struct event *event)
{
	struct sampling sampling = *p->sampling;
	struct sampling_pass pass = *p;

	if (sampling.callchain == CALLCHAIN_NONE)
		sampling.callchain = CALLCHAIN_FP;
	sampling.branch_filter = 0;
	pass.sampling = &sampling;
	set_common(&pass, event);
	event->attr.sample_type = p->fields & (SAMPLE_ALWAYS | PERF_SAMPLE_CGROUP);
	set_period(&event->attr, 1);
	event->attr.context_switch = event->off_cpu && !sampling.waits_counted;
	if (event->woken_at)
		event->attr.sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD;
	event->attr.exclude_callchain_kernel = sampling.all_user;
	return set_callchain(&pass, event);
}

/* Samples of tracepoints have fields, those of BPF programs what these write. */
static bool has_raw_data(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT ||
	       (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT);
}

static int set_event(const struct sampling_pass *p, struct event *event)
{
	int rc;

	if (event->off_cpu || event->woken_at)
		return set_off_cpu(p, event);
	set_common(p, event);
	set_registers(p, event);
	if (has_raw_data(&event->attr))
		event->attr.sample_type |= PERF_SAMPLE_RAW;
	rc = rate_set(p->sampling, p->limit, event, p->notes, p->err);
	/*
	 * The kernel samples each hit of a tracepoint or software event, whatever its fixed period, as long as samples
	 * have this field. The attr says what the period is, but for waits.
	 */
	if (!event->attr.freq && event->attr.sample_period > 1 && !p->sampling->period_field && !p->sampling->wall)
		event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (!rc)
		rc = set_branches(p, event);
	return rc ? rc : set_callchain(p, event);
}

/* ---- :S groups ---- */

static void note_children(const struct sampling_pass *p, const struct event *leader)
{
	if (p->target->kind == TARGET_CPUS || !p->sampling->inherit ||
	    leader->terms.inherit == TERM_OFF)
		return;
	note_add(p->notes, false, NULL, "%s: child processes and new threads are not sampled: a "
		 ":S group cannot follow them", leader->name);
}

/* Members are only read: their samples would be copies of the leader's. */
static void set_read_group(const struct sampling_pass *p, struct event *leader)
{
	leader->attr.sample_type |= PERF_SAMPLE_READ;
	if (leader->n_members < 2)
		return;
	note_children(p, leader);
	leader->attr.read_format |= PERF_FORMAT_GROUP;
	for (size_t i = 0; i < leader->n_members; i++) {
		struct event *member = leader + i;

		member->terms.inherit = TERM_OFF;
		member->attr.inherit = 0;
		member->attr.inherit_stat = 0;
		member->attr.read_format = leader->attr.read_format;
		member->attr.write_backward = leader->attr.write_backward;
		if (!i)
			continue;
		member->attr.freq = 0;
		member->attr.sample_period = 0;
		/* A member has no samples; its other records have the layout of the leader's. */
		member->attr.sample_type = leader->attr.sample_type;
		member->attr.sample_regs_user = leader->attr.sample_regs_user;
		member->attr.sample_regs_intr = leader->attr.sample_regs_intr;
		member->attr.sample_stack_user = leader->attr.sample_stack_user;
		member->attr.sample_max_stack = leader->attr.sample_max_stack;
		member->attr.branch_sample_type = leader->attr.branch_sample_type;
		member->attr.exclude_callchain_user = leader->attr.exclude_callchain_user;
		member->attr.exclude_callchain_kernel = leader->attr.exclude_callchain_kernel;
	}
}

/* ---- counters that reload each other ---- */

static const char *core_pmu(const struct event *event)
{
	if (*event->pmu_name)
		return event->pmu_is_core ? event->pmu_name : NULL;
	return event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_HW_CACHE ||
	       event->attr.type == PERF_TYPE_RAW ? "cpu" : NULL;
}

/* The kernel's format says which bits of an attr are a mask of counters: "config2:0-63". */
static bool reloads_counters(const char *pmu, const struct kern *kern)
{
	char *path = xasprintf("%s/bus/event_source/devices/%s/format/acr_mask", kern->host.sysfs, pmu);
	struct str format = STR_INIT;
	bool does = !read_line_file(path, &format) && !strncmp(format.s, "config2:", strlen("config2:"));

	str_release(&format);
	free(path);
	return does;
}

/*
 * Sets ratio-to-prev: the event before is sampled where this one is rarer than the ratio. Both count from zero; that
 * before comes to its period, and is a sample, unless this one comes to `ratio` times as much first: both start anew.
 *
 *	acr_mask (config2): the events of the group by whose overflow this one's counter is reloaded, bit n the n-th
 *	before   10         by this one
 *	this     11         by both
 *
 * Source: Linux, arch/x86/events/intel/core.c, "auto counter reload"; Intel Architecture Instruction Set Extensions,
 * "Auto Counter Reload".
 */
static int set_reload(const struct sampling_pass *p, struct event_list *events, size_t index, const struct kern *kern)
{
	struct event *event = &events->v[index], *before = event - 1;
	size_t nth = index - event->leader;
	const char *pmu = core_pmu(event), *other = nth ? core_pmu(before) : NULL;

	if (!nth)
		return fail(p->err, -EINVAL, "%s: ratio-to-prev: no event is before it in a group", event->name);
	if (!pmu || !other || strcmp(pmu, other))
		return fail(p->err, -EINVAL, "%s: ratio-to-prev: it and %s are not counted by one core unit",
			    event->name, before->name);
	if (before->attr.freq || !before->attr.sample_period)
		return fail(p->err, -EINVAL, "%s: ratio-to-prev: %s has no period\n"
			    "give one with -c or the term period=", event->name, before->name);
	if (!reloads_counters(pmu, kern))
		return fail(p->err, -ENOTSUP, "%s: ratio-to-prev: the unit %s does not reload counters: sysfs has no "
			    "acr_mask of it", event->name, pmu);
	if (before->attr.config2 || event->attr.config2 || nth > 63)
		return fail(p->err, -EINVAL, "%s: ratio-to-prev: config2 of it or of %s has another use", event->name,
			    before->name);
	before->attr.config2 = 1ull << nth;
	event->attr.config2 = 3ull << (nth - 1);
	set_period(&event->attr, (uint64_t)((double)before->attr.sample_period * event->terms.ratio_to_prev));
	return event->attr.sample_period ? 0 : fail(p->err, -EINVAL, "%s: ratio-to-prev: the period of %s times %g is "
						   "less than 1", event->name, before->name,
						   event->terms.ratio_to_prev);
}

/* ---- what tasks do ---- */

/* Stacks that are walked later need the tables of their program, and linkers put these beside the code. */
static bool dumps_stacks(const struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	}
	return false;
}

static void set_tracking(const struct sampling_pass *p, const struct event_list *events, struct event *event)
{
	const struct sampling *s = p->sampling;
	struct perf_event_attr *attr = &event->attr;

	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	attr->ksymbol = 1;
	attr->bpf_event = !s->no_bpf_events;
	attr->mmap_data = s->addr || s->data_maps || (s->stacks_raw && dumps_stacks(events));
	attr->namespaces = s->namespaces;
	attr->context_switch = s->switch_events;
	attr->cgroup = s->all_cgroups;
	attr->build_id = s->build_id;
}

/*
 * The kernel writes nothing about tasks for an event that is disabled, has no counter (pinned), is not
 * open where they run or does not follow their children. In a ring that is overwritten, what tasks did
 * long ago would be gone, and with it the meaning of the samples.
 */
static bool sees_all(const struct sampling_pass *p, const struct event_list *events)
{
	const struct event *first = &events->v[0];

	if (p->target->kind == TARGET_CPUS || p->sampling->starts_late)
		return false;
	if (event_is_moved(first) || first->cpus_chosen || first->cgroup || first->attr.pinned || first->off_cpu)
		return false;
	for (size_t i = 1; i < events->n; i++) {
		if ((events->v[i].attr.inherit && !first->attr.inherit) ||
		    events->v[i].expansion == EXPANSION_CORE_TYPES)
			return false;
	}
	return !first->attr.write_backward;
}

/*
 * The dummy has no samples, and so no callchain either; but perf sched timehist shows callchains only where every
 * event of the recording says that it has them.
 */
static void set_tracking_callchain(const struct event_list *events, struct event *dummy)
{
	const struct perf_event_attr *first = &events->v[0].attr;
	bool all = true;

	for (const struct event *event = events->v; event < dummy; event++)
		all = all && event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	if (!all)
		return;
	dummy->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	dummy->attr.sample_max_stack = first->sample_max_stack;
	dummy->attr.exclude_callchain_user = first->exclude_callchain_user;
	dummy->attr.exclude_callchain_kernel = first->exclude_callchain_kernel;
}

static int choose_tracking(const struct sampling_pass *p, struct event_list *events, const struct kern *kern,
			   struct event **tracking)
{
	struct event *dummy;
	int rc;

	if (sees_all(p, events)) {
		set_tracking(p, events, &events->v[0]);
		*tracking = &events->v[0];
		return 0;
	}
	rc = event_list_parse(events, "dummy:HG", &kern->host, p->err);
	if (rc)
		return rc;
	dummy = &events->v[events->n - 1];
	dummy->tracking = true;
	set_common(p, dummy);
	dummy->attr.write_backward = 0;
	/* The dummy never overflows, but a period makes it an event with samples for every reader. */
	dummy->attr.sample_period = 1;
	/* The values of a dummy belong to no group, and nobody asks for its children's. */
	dummy->attr.inherit_stat = 0;
	set_tracking_callchain(events, dummy);
	set_tracking(p, events, dummy);
	*tracking = dummy;
	return 0;
}

/* ---- user callchains that come later ---- */

/*
 * Chains that are not left to the kernel:
 *   - chains from a copy of the stack or from branch records: the kernel is not asked to walk anything;
 *   - samples without a time, as sample and record may lie in two rings, and only the time tells which comes first;
 *   - samples in rings that are overwritten: the records would be kept for long after them;
 *   - chains of limited length, for the limit does not hold for what comes later;
 *   - chains of waits, whose samples are held until the thread is back.
 */
static bool may_wait(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const uint64_t fields = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME;

	/* A member of a :S group has no samples of its own. */
	return !event->tracking && !event->off_cpu && attr->sample_period && (attr->sample_type & fields) == fields &&
	       !attr->exclude_callchain_user && !attr->sample_max_stack && !attr->write_backward &&
	       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

/*
 * Asks the kernel to find user callchains when the thread returns to user mode (Linux 6.19), where it may wait for a
 * page, and once for all samples of one stay in the kernel. A sample's chain then ends in a number, and a record of
 * its own brings the frames for all samples with that number; replay puts them together. The record comes to the event
 * that sees what tasks do (`tracking`), from whatever CPU the thread is on by then. The attrs are final otherwise.
 */
static void defer_chains(struct event_list *events, struct event *tracking)
{
	bool any = false;

	if (!(tracking->attr.sample_type & PERF_SAMPLE_TIME))
		return;
	for (size_t i = 0; i < events->n; i++) {
		if (!may_wait(&events->v[i]))
			continue;
		attr_set_defer(&events->v[i].attr, DEFER_CALLCHAIN);
		any = true;
	}
	if (any)
		attr_set_defer(&tracking->attr, attr_defer(&tracking->attr) | DEFER_OUTPUT);
}

/* ---- events that cannot be sampled ---- */

/*
 * Events that trace into an AUX buffer, a ring of bytes that only a decoder of this PMU understands; pstat maps none.
 * Such an event opens and starts like others: it would be a recording without a sample, and without a word. sysfs does
 * not tell it of a PMU, so their names stand here. A number may follow: arm_spe_0. To add one: a row here,
 * pstat-record(1).
 */
static const char *const aux_pmus[] = { "intel_pt", "intel_bts", "cs_etm", "arm_spe", "hisi_ptt" };

static bool pmu_needs_aux(const char *pmu_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(aux_pmus); i++) {
		size_t len = strlen(aux_pmus[i]);

		if (!strncmp(pmu_name, aux_pmus[i], len) &&
		    !pmu_name[len + strspn(pmu_name + len, "_0123456789")])
			return true;
	}
	return false;
}

static int refuse_aux(const struct event_list *events, struct str *err)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];

		if (pmu_needs_aux(event->pmu_name) || event->terms.aux_sample_size ||
		    event->terms.aux_output == TERM_ON)
			return fail(err, -EINVAL, "%s: it needs AUX buffers, which pstat does not record",
				    event->name);
	}
	return 0;
}

static int add_off_cpu(struct event_list *events, const struct kern *kern, struct str *err)
{
	int rc = event_list_parse(events, "context-switches:HG", &kern->host, err);
	struct event *event;

	if (rc)
		return rc;
	event = &events->v[events->n - 1];
	event->off_cpu = true;
	free(event->name);
	event->name = xstrdup("offcpu-time");
	return 0;
}

static int add_wakeups(struct event_list *events, const struct kern *kern, struct str *err)
{
	int rc = event_list_parse(events, "sched:sched_waking", &kern->host, err);
	struct event_field woken;
	struct event *event;

	if (rc)
		return rc;
	event = &events->v[events->n - 1];
	rc = event_field_find(event, &kern->host, "pid", &woken);
	event->woken_at = woken.at;
	return rc ? fail(err, rc, "sched:sched_waking: the kernel's description has no field pid") : 0;
}

static int drop_unsampled(struct event_list *events, bool others, struct note_list *notes, struct str *err)
{
	struct str names = STR_INIT;
	int rc = 0;

	for (size_t i = 0; i < events->n;) {
		if (events->v[i].kind == EVENT_KERNEL) {
			i++;
			continue;
		}
		str_addf(&names, "%s%s", names.len ? ", " : "", events->v[i].name);
		event_list_remove(events, i);
	}
	if (!events->n && !others)
		rc = fail(err, -EINVAL, "%s%sno event to sample", names.s, names.len ? ": " : "");
	else if (names.len)
		note_add(notes, false, NULL, "%s: left out: it can be counted, not sampled",
			 names.s);
	str_release(&names);
	return rc;
}

static int check_tracepoints(const struct event_list *events, struct str *err)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i].attr.type == PERF_TYPE_TRACEPOINT)
			return 0;
	}
	return fail(err, -EINVAL, "--exclude-perf: none of the events is a tracepoint");
}

/* ---- all of it ---- */

static uint64_t stack_limit(const struct kern *kern)
{
	char *path = xasprintf("%s/sys/kernel/perf_event_max_stack", kern->host.procfs);
	uint64_t limit;

	if (read_u64_file(path, &limit))
		limit = 0;
	free(path);
	return limit;
}

static int apply(const struct sampling_pass *p, struct event_list *events, const struct kern *kern)
{
	struct event *tracking;
	int rc = 0;

	for (size_t i = 0; !rc && i < events->n; i++)
		rc = set_event(p, &events->v[i]);
	for (size_t i = 0; !rc && i < events->n; i++)
		if (events->v[i].terms.ratio_to_prev > 0)
			rc = set_reload(p, events, i, kern);
	for (size_t i = 0; !rc && i < events->n; i++) {
		if (events->v[i].leader == i && events->v[i].read_group)
			set_read_group(p, &events->v[i]);
	}
	if (!rc)
		rc = choose_tracking(p, events, kern, &tracking);
	if (!rc && p->sampling->defer_chains)
		defer_chains(events, tracking);
	return rc;
}

int sampling_apply(const struct sampling *sampling, const struct target *target,
		   struct event_list *events, const struct kern *kern, struct note_list *notes,
		   struct str *err)
{
	struct rate_limit limit;
	struct sampling_pass pass = {
		.sampling = sampling,
		.target = target,
		.limit = &limit,
		.fields = common_fields(sampling),
		.max_stack_limit = stack_limit(kern),
		.notes = notes,
		.err = err,
	};
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(clashes); i++) {
		if (clashes[i].holds(sampling))
			return fail(err, -EINVAL, "%s", clashes[i].text);
	}
	rc = refuse_aux(events, err);
	if (!rc)
		rc = drop_unsampled(events, sampling->off_cpu, notes, err);
	if (!rc && sampling->exclude_perf)
		rc = check_tracepoints(events, err);
	if (!rc)
		rc = rate_limit_read(&limit, sampling, kern, notes, err);
	if (rc)
		return rc;
	if (sampling->all_user)
		event_list_only_user(events);
	if (sampling->all_kernel)
		event_list_only_kernel(events);
	if (sampling->off_cpu)
		rc = add_off_cpu(events, kern, err);
	if (!rc && sampling->wakers)
		rc = add_wakeups(events, kern, err);
	return rc ? rc : apply(&pass, events, kern);
}

/* ---- how much of its stack a sample copies ---- */

/* Bytes of a sample beside its dump, roughly: registers, the kernel's callchain. */
enum { OTHER_BYTES = 512, HELD_PART_OF_SECOND = 20 };

/*
 * A copy of a stack that is unwound at once costs room in the ring alone, and the file nothing. So it may be as large
 * as the ring allows: what is too short cuts chains, and what is too large loses samples when the recorder is not
 * there at once. On a busy machine it may be away for 50 ms.
 */
uint32_t stack_dump_for(uint64_t ring_bytes, uint64_t hz)
{
	static const uint32_t sizes[] = { 32768, 16384 };

	for (size_t i = 0; hz && i < ARRAY_SIZE(sizes); i++) {
		uint64_t sample_bytes = sizes[i] + OTHER_BYTES;

		if (hz <= ring_bytes / sample_bytes * HELD_PART_OF_SECOND)
			return sizes[i];
	}
	return STACK_DUMP_BYTES_DEFAULT;
}

static bool may_choose_dump(const struct sampling *sampling, const struct event *event)
{
	return (event->attr.sample_type & PERF_SAMPLE_STACK_USER) && !event->terms.stack_size_bytes &&
	       !sampling->stack_dump_bytes && !sampling->stacks_raw;
}

/* 0: not known, as with any event by period. */
static uint64_t samples_per_second(const struct event_list *events)
{
	uint64_t hz = 0;

	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];

		if (event->tracking || (event->leader != i && event->read_group))
			continue;
		if (!event->attr.freq)
			return 0;
		hz += event->attr.sample_freq;
	}
	return hz;
}

bool stack_dumps_fit(const struct sampling *sampling, struct event_list *events, uint64_t ring_bytes)
{
	uint32_t bytes = stack_dump_for(ring_bytes, samples_per_second(events));
	bool changed = false;

	for (size_t i = 0; i < events->n; i++) {
		struct event *event = &events->v[i];

		if (!may_choose_dump(sampling, event))
			continue;
		changed |= event->attr.sample_stack_user != bytes;
		event->attr.sample_stack_user = bytes;
	}
	return changed;
}
