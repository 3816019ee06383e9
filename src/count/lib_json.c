/* SPDX-License-Identifier: MIT */
/*
 * Readings as JSON, into a buffer of the caller's: one object, whose keys are the names of the events.
 *
 * The locale belongs to the program that the library is in: it may write 0,5 for a half, which JSON does not.
 */
#include "count/lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct json_text {
	char *at;
	size_t room; /* with the NUL */
	size_t n; /* how long the whole text is */
};

static void add(struct json_text *text, const char *bytes)
{
	for (; *bytes; bytes++, text->n++)
		if (text->n + 1 < text->room)
			text->at[text->n] = *bytes;
}

static bool has_value(const struct pstat_reading *reading)
{
	return reading->state == PSTAT_COUNTED || reading->state == PSTAT_SCALED || reading->state == PSTAT_LOWER_BOUND;
}

/* Whatever separates the fraction in this locale, of however many bytes, is a point here. */
static void add_fraction(struct json_text *text, double value)
{
	char raw[64], number[64];
	size_t n = 0;

	/* Takes as few digits as tell the number from its neighbours. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(raw, sizeof(raw), "%.*g", digits, value);
		if (strtod(raw, NULL) == value)
			break;
	}
	for (const char *p = raw; *p; p++) {
		bool plain = strchr("0123456789eE+-", *p);

		if (plain || !n || number[n - 1] != '.')
			number[n++] = plain ? *p : '.';
	}
	number[n] = '\0';
	add(text, number);
}

/* Adds the value of the event and of all that are summed with it. */
static void add_value(struct json_text *text, const struct pstat_readings *r, size_t first)
{
	uint64_t count = 0;
	double value = 0;
	bool any = false, whole = true;
	char number[32];

	for (size_t i = first; i < r->n; i++) {
		if (r->twin[i] != first || !has_value(&r->v[i]))
			continue;
		any = true;
		count += r->v[i].scaled;
		value += r->v[i].value;
		whole = whole && r->v[i].value == (double)r->v[i].scaled;
	}
	snprintf(number, sizeof(number), "%llu", (unsigned long long)count);
	if (!any)
		add(text, "null");
	else if (whole)
		add(text, number);
	else
		add_fraction(text, value);
}

/* ---- perf-utils' names ---- */

/* The generic events as perf-utils calls them in JSON (its struct tags); to add one: a row. */
static const struct {
	uint32_t type;
	uint64_t config;
	const char *name;
} utils_names[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu_cycles" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "cache_refs" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branch_instr" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "ref_cpu_cycles" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor_page_faults" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "major_page_faults" },
};
static const char *const utils_caches[] = { "l1_data", "l1_instr", "last_level", "data_tlb",
					    "instr_tlb", "bpu", "node" };
static const char *const utils_accesses[] = { "read", "write", "prefetch" };

static void add_cache_name(struct json_text *text, uint64_t config)
{
	add(text, utils_caches[config & 0xff]);
	add(text, "_");
	add(text, utils_accesses[config >> 8 & 0xff]);
	add(text, config >> 16 ? "_miss" : "_hit");
}

static bool is_cache_event(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HW_CACHE && (attr->config & 0xff) < ARRAY_SIZE(utils_caches) &&
	       (attr->config >> 8 & 0xff) < ARRAY_SIZE(utils_accesses) && attr->config >> 16 <= 1;
}

/* The name's letters and digits, others as _; modifiers after a colon are left out. */
static void add_plain_name(struct json_text *text, const char *name)
{
	const char *modifiers = strrchr(name, ':');
	size_t n = modifiers && strspn(modifiers + 1, "ukhGHISDPpWebR") == strlen(modifiers + 1) ?
			   (size_t)(modifiers - name) : strlen(name);
	char one[2] = "";

	for (size_t i = 0; i < n; i++) {
		one[0] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
		if (!((one[0] >= 'a' && one[0] <= 'z') || (one[0] >= '0' && one[0] <= '9')))
			one[0] = '_';
		add(text, one);
	}
}

static void add_utils_name(struct json_text *text, const struct pstat_readings *r, size_t i)
{
	const struct perf_event_attr *attr = &r->events.v[i].attr;
	const char *again = strrchr(r->json_names[i], '#'), *known = NULL;

	for (size_t k = 0; k < ARRAY_SIZE(utils_names); k++)
		if (utils_names[k].type == attr->type && utils_names[k].config == attr->config)
			known = utils_names[k].name;
	add(text, "\"");
	if (known)
		add(text, known);
	else if (is_cache_event(attr))
		add_cache_name(text, attr->config);
	else
		add_plain_name(text, r->v[i].name);
	/* A name that comes again: cycles#2 is cpu_cycles_2, with the quote that ends it. */
	add(text, again && strspn(again + 1, "0123456789") == strlen(again + 1) - 1 ? "_" : "\"");
	if (again && strspn(again + 1, "0123456789") == strlen(again + 1) - 1)
		add(text, again + 1);
}

/* ---- one event ---- */

/* Text of the library's own, of strerror(3) or of the machine's files. */
static void add_text(struct json_text *text, const char *words)
{
	static const char digits[] = "0123456789abcdef";
	char one[7] = "";

	if (!words) {
		add(text, "null");
		return;
	}
	add(text, "\"");
	for (; *words; words++) {
		unsigned char c = (unsigned char)*words;

		if (c < 0x20 || c == '"' || c == '\\')
			snprintf(one, sizeof(one), "\\u00%c%c", digits[c >> 4], digits[c & 15]);
		else
			snprintf(one, sizeof(one), "%c", c);
		add(text, one);
	}
	add(text, "\"");
}

/* The state and reason of events that are summed are those of the first that has no whole count. */
static void add_details(struct json_text *text, const struct pstat_readings *r, size_t first)
{
	const struct pstat_reading *worst = &r->v[first];
	uint64_t enabled_ns = 0, running_ns = 0;
	char numbers[96];

	for (size_t i = first; i < r->n; i++) {
		if (r->twin[i] != first)
			continue;
		enabled_ns += r->v[i].enabled_ns;
		running_ns += r->v[i].running_ns;
		if (worst->state == PSTAT_COUNTED)
			worst = &r->v[i];
	}
	snprintf(numbers, sizeof(numbers), ",\"enabled_ns\":%llu,\"running_ns\":%llu,\"state\":",
		 (unsigned long long)enabled_ns, (unsigned long long)running_ns);
	add(text, "{\"value\":");
	add_value(text, r, first);
	add(text, numbers);
	add_text(text, pstat_state_name(worst->state));
	add(text, ",\"reason\":");
	add_text(text, worst->reason);
	add(text, "}");
}

int pstat_readings_json_with(const struct pstat_readings *readings, unsigned int flags, char *text, size_t bytes)
{
	struct json_text out = { .at = text, .room = bytes };
	const char *before = "{";

	if (flags & ~(unsigned)(PSTAT_JSON_DETAILS | PSTAT_JSON_PERF_UTILS))
		return -EINVAL;
	for (size_t i = 0; i < readings->n; i++) {
		if (readings->twin[i] != i)
			continue;
		add(&out, before);
		if (flags & PSTAT_JSON_PERF_UTILS)
			add_utils_name(&out, readings, i);
		else
			add(&out, readings->json_names[i]);
		add(&out, ":");
		if (flags & PSTAT_JSON_DETAILS)
			add_details(&out, readings, i);
		else
			add_value(&out, readings, i);
		before = ",";
	}
	add(&out, readings->n ? "}" : "{}");
	if (bytes)
		text[out.n < bytes ? out.n : bytes - 1] = '\0';
	return (int)out.n;
}

int pstat_readings_json(const struct pstat_readings *readings, char *text, size_t bytes)
{
	return pstat_readings_json_with(readings, 0, text, bytes);
}
