/*
 * Options of a recording -> attr fields. What the options mean stands in tables: which of them
 * contradict, and which add fields to each sample; the rest is one pass over the events:
 *
 *	how often (rate.c) -> what each sample holds -> :S groups -> who records what tasks do
 *
 * A term of an event (cpu-clock/call-graph=fp/) goes before the option of the command line.
 *
 * Source: perf_event_open(2).
 */
#include "record/aux_pmus.h"
#include "record/chains_later.h"
#include "record/rate.h"
#include "record/record.h"
#include "record/sample_regs.h"
#include "record/sampling_dumps.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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

static bool late_overwrite(const struct sampling *s)
{
	return s->overwrite && s->time_off;
}

/* To add a pair that cannot be: a row here and in tests/unit/test_sampling.c. */
static const struct clash {
	bool (*holds)(const struct sampling *sampling);
	const char *text;
} clashes[] = {
	{ period_and_freq, "-c and -F: give a period or a frequency, not both" },
	{ user_and_kernel, "--all-user and --all-kernel: nothing would be left to sample" },
	{ lbr_and_branches, "--call-graph lbr with -b or -j: both need the branch records" },
	{ stack_too_large, "--call-graph dwarf: at most 65528 bytes of stack fit in a sample" },
	{ late_overwrite, "--overwrite with --no-timestamp: a snapshot is put in order by time" },
};

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

struct pass {
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

static void set_max_stack(const struct pass *p, struct event *event)
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

static int set_dwarf(const struct pass *p, struct event *event)
{
	uint32_t bytes = event->terms.stack_size_bytes;

	if (!dwarf_regs)
		return fail(p->err, -ENOTSUP, "--call-graph dwarf: the registers of this architecture "
			    "are not known to pstat");
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

static int set_callchain(const struct pass *p, struct event *event)
{
	enum callchain_kind kind = callchain_of(p->sampling, event);

	if (kind == CALLCHAIN_NONE)
		return 0;
	event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
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

static int set_branches(const struct pass *p, struct event *event)
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

static void set_registers(const struct pass *p, struct event *event)
{
	event->attr.sample_regs_user = p->sampling->user_regs;
	event->attr.sample_regs_intr = p->sampling->intr_regs;
	if (p->sampling->user_regs)
		event->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	if (p->sampling->intr_regs)
		event->attr.sample_type |= PERF_SAMPLE_REGS_INTR;
}

static void set_time(const struct pass *p, struct event *event)
{
	if (event->terms.time == TERM_ON)
		event->attr.sample_type |= PERF_SAMPLE_TIME;
	else if (event->terms.time == TERM_OFF)
		event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	event->attr.use_clockid = p->sampling->has_clockid;
	event->attr.clockid = p->sampling->has_clockid ? p->sampling->clockid : 0;
}

/* What holds for all events, the dummy too. */
static void set_common(const struct pass *p, struct event *event)
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

static int set_event(const struct pass *p, struct event *event)
{
	int rc;

	set_common(p, event);
	set_registers(p, event);
	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		event->attr.sample_type |= PERF_SAMPLE_RAW;
	rc = rate_set(p->sampling, p->limit, event, p->notes, p->err);
	/*
	 * With the field the kernel takes a fixed period for an answer and samples each hit of a tracepoint
	 * or software event, whatever the period. Where it is fixed, the attr says what it is.
	 */
	if (!event->attr.freq && event->attr.sample_period > 1 && !p->sampling->period_field)
		event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (!rc)
		rc = set_branches(p, event);
	return rc ? rc : set_callchain(p, event);
}

/* ---- :S groups ---- */

static void note_children(const struct pass *p, const struct event *leader)
{
	if (p->target->kind == TARGET_CPUS || !p->sampling->inherit ||
	    leader->terms.inherit == TERM_OFF)
		return;
	note_add(p->notes, false, NULL, "%s: child processes and new threads are not sampled: a "
		 ":S group cannot follow them", leader->name);
}

/* Members are only read: their samples would be copies of the leader's. */
static void set_read_group(const struct pass *p, struct event *leader)
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
		/* It has no samples, and this layout in other records: the leader's. */
		member->attr.sample_type = leader->attr.sample_type;
		member->attr.sample_regs_user = leader->attr.sample_regs_user;
		member->attr.sample_regs_intr = leader->attr.sample_regs_intr;
		member->attr.sample_stack_user = leader->attr.sample_stack_user;
		member->attr.sample_max_stack = leader->attr.sample_max_stack;
		member->attr.branch_sample_type = leader->attr.branch_sample_type;
		member->attr.exclude_callchain_user = leader->attr.exclude_callchain_user;
	}
}

/* ---- what tasks do ---- */

/* Who walks a stack later looks into the tables of its program, and linkers put these beside the code. */
static bool dumps_stacks(const struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	}
	return false;
}

static void set_tracking(const struct pass *p, const struct event_list *events, struct event *event)
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
static bool sees_all(const struct pass *p, const struct event_list *events)
{
	const struct event *first = &events->v[0];

	if (p->target->kind == TARGET_CPUS || p->sampling->starts_late)
		return false;
	if ((first->cpus.n && !first->pmu_is_core) || first->cgroup || first->attr.pinned)
		return false;
	for (size_t i = 1; i < events->n; i++) {
		if ((events->v[i].attr.inherit && !first->attr.inherit) ||
		    events->v[i].expansion == EXPANSION_CORE_TYPES)
			return false;
	}
	return !first->attr.write_backward;
}

/*
 * It has no samples, and so no callchain either; but perf sched timehist shows callchains only where every
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
}

static int choose_tracking(const struct pass *p, struct event_list *events, const struct kern *kern,
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
	/* It never overflows, but a period makes it an event with samples for every reader. */
	dummy->attr.sample_period = 1;
	/* The values of a dummy belong to no group, and nobody asks for its children's. */
	dummy->attr.inherit_stat = 0;
	set_tracking_callchain(events, dummy);
	set_tracking(p, events, dummy);
	*tracking = dummy;
	return 0;
}

/* ---- the list ---- */

static int drop_unsampled(struct event_list *events, struct note_list *notes, struct str *err)
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
	if (!events->n)
		rc = fail(err, -EINVAL, "%s%sno event to sample", names.s, names.len ? ": " : "");
	else if (names.len)
		note_add(notes, false, NULL, "%s: left out: a time can be counted, not sampled",
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

static uint64_t stack_limit(const struct kern *kern)
{
	char *path = xasprintf("%s/sys/kernel/perf_event_max_stack", kern->host.procfs);
	uint64_t limit;

	if (read_u64_file(path, &limit))
		limit = 0;
	free(path);
	return limit;
}

static int apply(const struct pass *p, struct event_list *events, const struct kern *kern)
{
	struct event *tracking;
	int rc = 0;

	for (size_t i = 0; !rc && i < events->n; i++)
		rc = set_event(p, &events->v[i]);
	for (size_t i = 0; !rc && i < events->n; i++) {
		if (events->v[i].leader == i && events->v[i].read_group)
			set_read_group(p, &events->v[i]);
	}
	if (!rc)
		rc = choose_tracking(p, events, kern, &tracking);
	if (!rc && p->sampling->chains_later)
		chains_later_ask(events, tracking);
	return rc;
}

int sampling_apply(const struct sampling *sampling, const struct target *target,
		   struct event_list *events, const struct kern *kern, struct note_list *notes,
		   struct str *err)
{
	struct rate_limit limit;
	struct pass pass = {
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
	rc = aux_refuse(events, err);
	if (!rc)
		rc = drop_unsampled(events, notes, err);
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
	return apply(&pass, events, kern);
}
