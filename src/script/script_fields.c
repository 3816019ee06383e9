/* SPDX-License-Identifier: MIT */
/*
 * script_fields: which fields are printed of which event. A recording's events have different sample
 * types; the defaults leave out what an event does not have, and what was asked for by name and no event
 * has is an error.
 *
 * First -F is read, into one set of fields for each type of event; then, when the events are known, each
 * gets its type's set, without what its samples lack. A type whose set is empty is not printed.
 */
#include "script/script_internal.h"

#include <errno.h>

#define ROW(field, name, help, needs, needs_name) [field] = { name, help, needs, needs_name }

const struct script_field_row script_field_rows[SCRIPT_FIELDS] = {
	ROW(FIELD_COMM, "comm", "name of the thread", PERF_SAMPLE_TID, "TID"),
	ROW(FIELD_PID, "pid", "process", PERF_SAMPLE_TID, "TID"),
	ROW(FIELD_TID, "tid", "thread", PERF_SAMPLE_TID, "TID"),
	ROW(FIELD_CPU, "cpu", "CPU", PERF_SAMPLE_CPU, "CPU"),
	ROW(FIELD_MISC, "misc", "K kernel, U user, H hypervisor, G guest kernel, g guest user", 0, NULL),
	ROW(FIELD_TOD, "tod", "time of day, where it was recorded with -k", PERF_SAMPLE_TIME, "TIME"),
	ROW(FIELD_TIME, "time", "seconds of the recording's clock", PERF_SAMPLE_TIME, "TIME"),
	ROW(FIELD_PERIOD, "period", "events that this sample stands for", 0, NULL),
	ROW(FIELD_EVENT, "event", "name of the event", 0, NULL),
	ROW(FIELD_FLAGS, "flags", "kind of a branch in hardware traces: empty", 0, NULL),
	ROW(FIELD_TRACE, "trace", "a tracepoint's fields as text", PERF_SAMPLE_RAW, "RAW"),
	ROW(FIELD_ADDR, "addr", "address of the data or of the branch's target", PERF_SAMPLE_ADDR, "ADDR"),
	ROW(FIELD_DATA_SRC, "data_src", "where memory was found", PERF_SAMPLE_DATA_SRC, "DATA_SRC"),
	ROW(FIELD_WEIGHT, "weight", "cost, mostly cycles", PERF_SAMPLE_WEIGHT | DATA_SAMPLE_WEIGHT_STRUCT,
	    "WEIGHT"),
	ROW(FIELD_INS_LAT, "ins_lat", "latency of the instruction", DATA_SAMPLE_WEIGHT_STRUCT,
	    "WEIGHT_STRUCT"),
	ROW(FIELD_RETIRE_LAT, "retire_lat", "cycles until the instruction retired", DATA_SAMPLE_WEIGHT_STRUCT,
	    "WEIGHT_STRUCT"),
	ROW(FIELD_IP, "ip", "address of the code", PERF_SAMPLE_IP, "IP"),
	ROW(FIELD_SYM, "sym", "function", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP"),
	ROW(FIELD_SYMOFF, "symoff", "offset in the function", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP"),
	ROW(FIELD_DSO, "dso", "file that has the code", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP"),
	ROW(FIELD_DSOFF, "dsoff", "the same with the offset in the file", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, "IP"),
	ROW(FIELD_SRCLINE, "srcline", "source file and line, on a line of its own", PERF_SAMPLE_IP, "IP"),
	ROW(FIELD_IREGS, "iregs", "registers where it happened", PERF_SAMPLE_REGS_INTR, "REGS_INTR"),
	ROW(FIELD_UREGS, "uregs", "registers of user mode", PERF_SAMPLE_REGS_USER, "REGS_USER"),
	ROW(FIELD_BRSTACK, "brstack", "branches taken: from/to/flags", PERF_SAMPLE_BRANCH_STACK,
	    "BRANCH_STACK"),
	ROW(FIELD_BRSTACKSYM, "brstacksym", "the same with functions", PERF_SAMPLE_BRANCH_STACK,
	    "BRANCH_STACK"),
	ROW(FIELD_BRSTACKOFF, "brstackoff", "the same with offsets in the file", PERF_SAMPLE_BRANCH_STACK,
	    "BRANCH_STACK"),
	ROW(FIELD_BPF_OUTPUT, "bpf-output", "bytes that a BPF program wrote", PERF_SAMPLE_RAW, "RAW"),
	ROW(FIELD_INSNLEN, "insnlen", "bytes of the instruction", PERF_SAMPLE_IP, "IP"),
	ROW(FIELD_INSN, "insn", "the instruction's bytes", PERF_SAMPLE_IP, "IP"),
	ROW(FIELD_DISASM, "disasm", "the instruction in the assembler's words", PERF_SAMPLE_IP, "IP"),
	ROW(FIELD_BRSTACKINSN, "brstackinsn", "instructions between branches, a line each",
	    PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"),
	ROW(FIELD_BRSTACKINSNLEN, "brstackinsnlen", "the same with their lengths", PERF_SAMPLE_BRANCH_STACK,
	    "BRANCH_STACK"),
	ROW(FIELD_BRSTACKDISASM, "brstackdisasm", "the same in the assembler's words", PERF_SAMPLE_BRANCH_STACK,
	    "BRANCH_STACK"),
	ROW(FIELD_PHYS_ADDR, "phys_addr", "physical address of the data", PERF_SAMPLE_PHYS_ADDR,
	    "PHYS_ADDR"),
	ROW(FIELD_DATA_PAGE_SIZE, "data_page_size", "page size at the data's address",
	    PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"),
	ROW(FIELD_CODE_PAGE_SIZE, "code_page_size", "page size at the code's address",
	    PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"),
	ROW(FIELD_CGROUP, "cgroup", "cgroup of the task", PERF_SAMPLE_CGROUP, "CGROUP"),
	ROW(FIELD_SRCCODE, "srccode", "line of source, where it is not the thread's last one", PERF_SAMPLE_IP, "IP"),
	ROW(FIELD_SYNTH, "synth", "what a decoder of hardware traces adds: empty", 0, NULL),
	ROW(FIELD_IPC, "ipc", "instructions per cycle in hardware traces: empty", 0, NULL),
	ROW(FIELD_CALLINDENT, "callindent", "depth of a call in hardware traces: empty", 0, NULL),
	ROW(FIELD_MACHINE_PID, "machine_pid", "guest that a sample was merged from: empty", 0, NULL),
	ROW(FIELD_VCPU, "vcpu", "the guest's CPU: empty", 0, NULL),
};

/* Fields of perf that pstat does not have, and why. */
static const struct {
	const char *name, *why;
} missing_fields[] = {
	{ "metric", "metrics are those of pstat stat" },
	{ "brcntr", "counters of branches (record -j counter) are not read" },
};

bool script_field_row(size_t i, const char **name, const char **help)
{
	if (i >= SCRIPT_FIELDS)
		return false;
	*name = script_field_rows[i].name;
	*help = script_field_rows[i].help;
	return true;
}

#define BIT(name) FIELD_BIT(FIELD_##name)
#define HEAD_FIELDS (BIT(COMM) | BIT(TID) | BIT(CPU) | BIT(TIME) | BIT(EVENT))
#define CODE_FIELDS (BIT(IP) | BIT(SYM) | BIT(SYMOFF) | BIT(DSO))
#define SYNTH_TYPE (INT32_MAX + 1U) /* of what decoders of hardware traces add */
#define MEMORY_FIELDS                                                                               \
	(BIT(ADDR) | BIT(DATA_SRC) | BIT(WEIGHT) | BIT(INS_LAT) | BIT(PHYS_ADDR) |                  \
	 BIT(DATA_PAGE_SIZE) | BIT(CODE_PAGE_SIZE))

/*
 * The types that -F can name; what is printed of them by default, and the fields that others cannot have.
 * The last row is all others.
 */
static const struct type_row {
	const char *name, *title;
	uint32_t type;
	uint64_t fields, only_here;
} types[SCRIPT_TYPES] = {
	{ "hw", "hardware events", PERF_TYPE_HARDWARE, HEAD_FIELDS | CODE_FIELDS | BIT(PERIOD), 0 },
	{ "sw", "software events", PERF_TYPE_SOFTWARE,
	  HEAD_FIELDS | CODE_FIELDS | BIT(PERIOD) | BIT(BPF_OUTPUT), BIT(BPF_OUTPUT) },
	{ "trace", "tracepoints", PERF_TYPE_TRACEPOINT, HEAD_FIELDS | BIT(TRACE), BIT(TRACE) },
	{ "raw", "raw events", PERF_TYPE_RAW, HEAD_FIELDS | CODE_FIELDS | BIT(PERIOD) | MEMORY_FIELDS, 0 },
	{ "break", "breakpoints", PERF_TYPE_BREAKPOINT, HEAD_FIELDS | CODE_FIELDS | BIT(PERIOD), 0 },
	{ "cache", "cache events", PERF_TYPE_HW_CACHE, HEAD_FIELDS | CODE_FIELDS | BIT(PERIOD), 0 },
	{ "synth", "synthesized events", SYNTH_TYPE, HEAD_FIELDS | CODE_FIELDS | BIT(SYNTH), 0 },
	{ "other", "other events", UINT32_MAX, HEAD_FIELDS | CODE_FIELDS | BIT(PERIOD), 0 },
};

static size_t type_of(const struct data_event *event)
{
	size_t i = 0;

	while (i + 1 < SCRIPT_TYPES && types[i].type != event->attr.type)
		i++;
	return i;
}

/* ---- -F ---- */

static int find_field(const char *name, size_t len, struct str *err)
{
	struct near_name near;

	near_init(&near, name, len);
	for (int i = 0; i < SCRIPT_FIELDS; i++) {
		const char *known = script_field_rows[i].name;

		if (strlen(known) == len && !strncmp(known, name, len))
			return i;
		near_consider(&near, known);
	}
	for (size_t i = 0; i < ARRAY_SIZE(missing_fields); i++)
		if (strlen(missing_fields[i].name) == len && !strncmp(missing_fields[i].name, name, len))
			return fail(err, -EINVAL, "-F %s: %s", missing_fields[i].name,
				    missing_fields[i].why);
	fail(err, 0, "-F: there is no field '%.*s'", (int)len, name);
	if (near_best(&near))
		str_addf(err, "\ndid you mean %s?", near_best(&near));
	return -EINVAL;
}

/* One -F: the types that it is for, and its fields. */
struct field_list {
	const char *at, *end;
	size_t first, last; /* types */
};

/* "sw:": *list is moved past it. */
static int take_type(struct field_list *list, struct str *err)
{
	const char *colon = memchr(list->at, ':', (size_t)(list->end - list->at));
	size_t len = colon ? (size_t)(colon - list->at) : 0;

	list->first = 0;
	list->last = SCRIPT_TYPES - 1;
	if (!colon)
		return 0;
	for (size_t i = 0; i < SCRIPT_TYPES; i++) {
		if (strlen(types[i].name) != len || strncmp(types[i].name, list->at, len) != 0)
			continue;
		list->first = list->last = i;
		list->at = colon + 1;
		return 0;
	}
	return fail(err, -EINVAL, "-F: '%.*s' is not hw, sw, trace, raw, break, cache, synth or other", (int)len,
		    list->at);
}

/* Fields that only another type of event has are left out of a list for all, and refused for one. */
static int check_type(const struct field_list *list, size_t type, int field, struct str *err)
{
	for (size_t i = 0; i < SCRIPT_TYPES; i++) {
		if (i == type || !(types[i].only_here & FIELD_BIT(field)))
			continue;
		if (list->first == list->last)
			return fail(err, -EINVAL, "-F %s:%s: only %s have that", types[type].name,
				    script_field_rows[field].name, types[i].title);
		return 1;
	}
	return 0;
}

static int take_field(struct script_choice *choice, const struct field_list *list, char sign, int field,
		      struct str *err)
{
	for (size_t i = list->first; i <= list->last; i++) {
		int rc = check_type(list, i, field, err);

		if (rc < 0)
			return rc;
		if (rc)
			continue;
		if (sign == '-') {
			choice->fields[i] &= ~FIELD_BIT(field);
			choice->asked[i] &= ~FIELD_BIT(field);
			choice->frames[i] &= ~FIELD_BIT(field);
		} else {
			choice->fields[i] |= FIELD_BIT(field);
			choice->asked[i] |= FIELD_BIT(field);
		}
	}
	return 0;
}

static bool is_sign(char c)
{
	return c == '+' || c == '-';
}

static int take_list(struct script_choice *choice, const char *text, size_t len, struct str *err)
{
	struct field_list list = { .at = text, .end = text + len };
	int rc = take_type(&list, err);
	bool signs = list.at < list.end && is_sign(*list.at);

	if (!rc && list.at == list.end && list.first != list.last)
		return fail(err, -EINVAL, "-F: an empty list leaves nothing to print");
	for (size_t i = list.first; i <= list.last && !rc; i++) {
		if (!signs)
			choice->fields[i] = choice->asked[i] = choice->frames[i] = 0;
	}
	for (size_t n; !rc && list.at < list.end; list.at += n + (list.at + n < list.end)) {
		const char *comma = memchr(list.at, ',', (size_t)(list.end - list.at));
		int field;

		n = (size_t)((comma ? comma : list.end) - list.at);
		if (!n)
			continue;
		if (is_sign(*list.at) != signs)
			return fail(err, -EINVAL, "-F %.*s: +field and -field change the fields, others "
						  "replace them: not both in one list", (int)len, text);
		field = find_field(list.at + signs, n - signs, err);
		rc = field < 0 ? field : take_field(choice, &list, *list.at, field, err);
	}
	return rc;
}

/* A field that is asked for by name and would stay invisible is an error. */
static int check_pairs(const struct script_choice *choice, struct str *err)
{
	static const struct {
		enum script_field field;
		uint64_t with; /* any of these */
		const char *what;
	} pairs[] = {
		{ FIELD_SYMOFF, BIT(SYM), "it is printed after the function: add sym" },
		{ FIELD_SRCLINE, BIT(IP) | BLOCK_FIELDS, "it is printed below the address: add ip" },
		{ FIELD_SYM, BIT(IP) | BIT(ADDR), "it is printed after an address: add ip or addr" },
		{ FIELD_DSO, BIT(IP) | BIT(ADDR) | BIT(BRSTACK) | BIT(BRSTACKSYM) | BIT(BRSTACKOFF),
		  "it is printed after an address: add ip or addr" },
		{ FIELD_DSOFF, BIT(IP) | BIT(ADDR), "it is printed after an address: add ip or addr" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		bool asked = false, visible = false;

		for (size_t type = 0; type < SCRIPT_TYPES; type++) {
			if (!(choice->asked[type] & FIELD_BIT(pairs[i].field)))
				continue;
			asked = true;
			visible |= choice->fields[type] & pairs[i].with;
		}
		if (asked && !visible)
			return fail(err, -EINVAL, "-F %s: %s", script_field_rows[pairs[i].field].name,
				    pairs[i].what);
	}
	return 0;
}

int script_read_choice(struct script_choice *choice, const char *lists, struct str *err)
{
	int rc = 0;

	*choice = (struct script_choice){ .fields = { 0 } };
	for (size_t i = 0; i < SCRIPT_TYPES; i++) {
		choice->fields[i] = types[i].fields;
		choice->frames[i] = CODE_FIELDS;
	}
	while (lists && !rc) {
		size_t len = strcspn(lists, "\n");

		rc = take_list(choice, lists, len, err);
		lists = lists[len] ? lists + len + 1 : NULL;
	}
	return rc ? rc : check_pairs(choice, err);
}

/* ---- the events ---- */

static bool is_dummy(const struct data_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_DUMMY;
}

static bool has_field(const struct data_event *event, int field)
{
	uint64_t needs = script_field_rows[field].needs;

	return !needs || (event_sample_has(event) & needs);
}

/* A field that was asked for by name, and that no event that it was meant for has. */
static int check_asked(const struct script *script, int field, struct str *err)
{
	const struct events *events = script->session.recording->events;
	const struct data_event *without = NULL;
	struct str name = STR_INIT;

	for (size_t i = 0; i < events->n; i++) {
		if (!(script->choice.asked[type_of(events->v[i])] & FIELD_BIT(field)) ||
		    is_dummy(events->v[i]))
			continue;
		if (has_field(events->v[i], field))
			return 0;
		without = without ? without : events->v[i];
	}
	if (!without)
		return 0;
	data_event_add_name(without, &name);
	fail(err, 0, "-F %s: the samples of %s have no %s", script_field_rows[field].name, name.s,
	     script_field_rows[field].needs_name);
	str_release(&name);
	return -EINVAL;
}

static int check_time_of_day(const struct script *script, struct str *err)
{
	uint64_t asked = 0;

	for (size_t i = 0; i < SCRIPT_TYPES; i++)
		asked |= script->choice.asked[i];
	if (!(asked & BIT(TOD)) || info_has(script->session.recording->info, FEATURE_CLOCK_DATA))
		return 0;
	return fail(err, -EINVAL, "-F tod: the recording does not have the time of day of its clock\n"
				  "record with pstat record, or perf record -k monotonic");
}

/* Instructions are asked for: can they be told apart? Between branches: are those all that were taken? */
static int check_instructions(const struct script *script, struct str *err)
{
	const struct events *events = script->session.recording->events;
	uint64_t asked = 0, branches = 0;
	struct str why = STR_INIT;
	int rc = 0;

	for (size_t i = 0; i < SCRIPT_TYPES; i++)
		asked |= script->choice.asked[i] & (INSN_FIELDS | BLOCK_FIELDS);
	for (size_t i = 0; i < events->n; i++)
		branches |= events->v[i]->attr.branch_sample_type;
	if ((asked & BLOCK_FIELDS) && !(branches & PERF_SAMPLE_BRANCH_ANY))
		rc = fail(err, -EINVAL, "-F brstackinsn: the recording does not have all branches taken\n"
					"record with -b");
	if (!rc && asked && annotate_try(&why))
		rc = fail(err, -EINVAL, "-F insn: %s",
			  why.len ? why.s : "this pstat was built without capstone, which disassembles");
	str_release(&why);
	return rc;
}

static void choose_event(struct script *script, const struct data_event *event, struct script_event *out)
{
	size_t type = type_of(event);
	bool has_chain = event_sample_has(event) & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER);
	struct str name = STR_INIT;

	out->fields = script->choice.fields[type];
	if (out->fields & BIT(DSOFF)) /* the offset needs the file in front of it */
		out->fields |= BIT(DSO);
	if (has_chain && !script->options.no_chains)
		out->fields |= script->choice.frames[type];
	if (event->attr.type != PERF_TYPE_SOFTWARE || event->attr.config != PERF_COUNT_SW_BPF_OUTPUT ||
	    event_is_off_cpu(event))
		out->fields &= ~BIT(BPF_OUTPUT);
	for (int i = 0; i < SCRIPT_FIELDS; i++)
		if (!has_field(event, i))
			out->fields &= ~FIELD_BIT(i);
	out->chain = has_chain && !script->options.no_chains && script_prints(out, FIELD_IP);
	if (script->options.xed && (out->fields & BIT(INSN)))
		out->fields ^= BIT(INSN) | BIT(DISASM);
	if (script->options.xed && (out->fields & BIT(BRSTACKINSN)))
		out->fields |= BIT(BRSTACKDISASM);
	if (out->fields & BIT(BRSTACKDISASM)) /* all three are one text */
		out->fields |= BIT(BRSTACKINSN);
	data_event_add_name(event, &name);
	if (name.len > script->name_width)
		script->name_width = (unsigned)name.len;
	out->name = str_detach(&name);
	out->name_len = strlen(out->name);
	script_choose_styles(script, out);
}

int script_choose_fields(struct script *script, struct str *err)
{
	const struct events *events = script->session.recording->events;
	int rc = check_time_of_day(script, err);

	for (int i = 0; i < SCRIPT_FIELDS && !rc; i++)
		rc = check_asked(script, i, err);
	rc = rc ? rc : check_instructions(script, err);
	script->events = xcalloc(events->n ? events->n : 1, sizeof(*script->events));
	script->n_events = events->n;
	for (size_t i = 0; i < events->n; i++)
		choose_event(script, events->v[i], &script->events[i]);
	return rc;
}
