/* SPDX-License-Identifier: MIT */
/*
 * The terms that every event understands: cycles/period=100000,name=x/.
 *
 * A term is one row: its name, what kind of value it takes, where the value goes in struct event,
 * its limits. A term of switch or number kind without a value means 1, as in perf; numbers are
 * decimal, or hexadecimal with 0x. A source's own terms (a PMU's formats and aliases) come after
 * these, raw hexadecimal (r1a) last.
 */
#include "event/source.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum term_kind {
	TERM_U64, /* attr field */
	TERM_PERIOD, /* attr.sample_period */
	TERM_FREQ, /* attr.sample_freq */
	TERM_U32,
	TERM_SWITCH,
	TERM_NEGATED_SWITCH, /* no-X */
	TERM_TEXT,
	TERM_RATIO, /* a positive real number */
	TERM_CPUS, /* a CPU, a span of them, or a PMU, which stands for its CPUs; given again: these, too */
	TERM_MISSING, /* in the event language, but not in the kernel headers of this build */
};

#define EVENT_FIELD(field) offsetof(struct event, field)
#define TERM_FIELD(field) offsetof(struct event, terms.field)

#ifdef PERF_ATTR_SIZE_VER8
#define CONFIG3_ROW { "config3", TERM_U64, EVENT_FIELD(attr.config3), 0, UINT64_MAX, NULL }
#else
#define CONFIG3_ROW { "config3", TERM_MISSING, 0, 0, 0, NULL }
#endif
#ifdef PERF_ATTR_SIZE_VER9
#define CONFIG4_ROW { "config4", TERM_U64, EVENT_FIELD(attr.config4), 0, UINT64_MAX, NULL }
#else
#define CONFIG4_ROW { "config4", TERM_MISSING, 0, 0, 0, NULL }
#endif

enum { MAX_CPU = (1 << 16) - 1 };
enum { MAX_STACK_DUMP_BYTES = 65528 }; /* kernel: below 64 KiB, a multiple of 8 */

static const char *const call_graph_words[] = { "fp", "dwarf", "lbr", "no", NULL };
static const char *const branch_words[] = {
	"any",	    "any_call", "any_ret", "ind_call", "ind_jmp", "call",    "cond",  "abort_tx",
	"in_tx",    "no_tx",	"u",	   "k",	       "hv",	  "no_flags", "no_cycles",
	"type_save", "save_type", "stack", "hw_index", "priv",	  "counter", NULL,
};

/*
 * To add a term: a row here, its value's place in struct event or struct event_terms, a row in
 * tests/unit/test_event.c, a line in pstat-stat(1).
 */
static const struct common_term {
	const char *name;
	enum term_kind kind;
	size_t field; /* offset in struct event */
	uint64_t min, max;
	const char *const *words; /* TERM_TEXT: the words a comma-separated value may begin with, or NULL */
} common_terms[] = {
	{ "config", TERM_U64, EVENT_FIELD(attr.config), 0, UINT64_MAX, NULL },
	{ "config1", TERM_U64, EVENT_FIELD(attr.config1), 0, UINT64_MAX, NULL },
	{ "config2", TERM_U64, EVENT_FIELD(attr.config2), 0, UINT64_MAX, NULL },
	CONFIG3_ROW,
	CONFIG4_ROW,
	{ "name", TERM_TEXT, EVENT_FIELD(name), 0, 0, NULL },
	{ "period", TERM_PERIOD, EVENT_FIELD(attr.sample_period), 1, INT64_MAX, NULL },
	{ "freq", TERM_FREQ, EVENT_FIELD(attr.sample_freq), 1, UINT32_MAX, NULL },
	{ "branch_type", TERM_TEXT, TERM_FIELD(branch_type), 0, 0, branch_words },
	{ "time", TERM_SWITCH, TERM_FIELD(time), 0, 1, NULL },
	{ "call-graph", TERM_TEXT, TERM_FIELD(call_graph), 0, 0, call_graph_words },
	{ "stack-size", TERM_U32, TERM_FIELD(stack_size_bytes), 1, MAX_STACK_DUMP_BYTES, NULL },
	{ "max-stack", TERM_U32, TERM_FIELD(max_stack), 1, UINT16_MAX, NULL },
	{ "nr", TERM_U32, TERM_FIELD(nr), 1, UINT32_MAX, NULL },
	{ "inherit", TERM_SWITCH, TERM_FIELD(inherit), 0, 1, NULL },
	{ "no-inherit", TERM_NEGATED_SWITCH, TERM_FIELD(inherit), 0, 1, NULL },
	{ "overwrite", TERM_SWITCH, TERM_FIELD(overwrite), 0, 1, NULL },
	{ "no-overwrite", TERM_NEGATED_SWITCH, TERM_FIELD(overwrite), 0, 1, NULL },
	{ "cpu", TERM_CPUS, 0, 0, 0, NULL },
	{ "percore", TERM_SWITCH, TERM_FIELD(percore), 0, 1, NULL },
	{ "aux-output", TERM_SWITCH, TERM_FIELD(aux_output), 0, 1, NULL },
	{ "aux-sample-size", TERM_U32, TERM_FIELD(aux_sample_size), 1, UINT32_MAX, NULL },
	{ "metric-id", TERM_TEXT, TERM_FIELD(metric_id), 0, 0, NULL },
	{ "ratio-to-prev", TERM_RATIO, TERM_FIELD(ratio_to_prev), 0, 0, NULL },
};

static const struct common_term *find_common(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(common_terms); i++)
		if (strcmp(common_terms[i].name, name) == 0)
			return &common_terms[i];
	return NULL;
}

/* Decimal, or hexadecimal with 0x: a leading 0 is not octal, as in perf. */
static int read_number(const char *text, uint64_t *out)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return isxdigit((unsigned char)text[2]) ? parse_u64(text + 2, 16, out) : -EINVAL;
	return isdigit((unsigned char)text[0]) ? parse_u64(text, 10, out) : -EINVAL;
}

static bool is_hex(const char *text)
{
	return *text && !text[strspn(text, "0123456789abcdefABCDEF")];
}

int term_number(struct event_parse *p, const struct spec_term *term, uint64_t max, uint64_t *out)
{
	int rc;

	*out = 1;
	if (!term->value)
		return 0;
	rc = read_number(term->value, out);
	if (rc == -EINVAL) {
		if (!p->error->code && is_hex(term->value))
			str_addf(&p->error->hint, "a hexadecimal number begins with 0x: %s=0x%s",
				 term->name, term->value);
		return spec_fail(p->error, rc, term->value_pos,
				 "%s needs a number, and '%s' is not one", term->name, term->value);
	}
	if (rc == -ERANGE || *out > max)
		return spec_fail(p->error, -ERANGE, term->value_pos,
				 "%s: %s is too big, at most %llu (0x%llx) fits", term->name,
				 term->value, (unsigned long long)max, (unsigned long long)max);
	return 0;
}

static int number_within(struct event_parse *p, const struct spec_term *term,
			 const struct common_term *row, uint64_t *out)
{
	int rc = term_number(p, term, row->max, out);

	if (!rc && *out < row->min)
		return spec_fail(p->error, -ERANGE, term->value_pos, "%s must be at least %llu",
				 term->name, (unsigned long long)row->min);
	return rc;
}

static int apply_switch(struct event_parse *p, const struct spec_term *term, bool negated,
			enum term_switch *out)
{
	uint64_t value = 1;

	if (term->value && (read_number(term->value, &value) || value > 1))
		return spec_fail(p->error, -EINVAL, term->value_pos, "%s must be 0 or 1, not '%s'",
				 term->name, term->value);
	*out = (value != 0) != negated ? TERM_ON : TERM_OFF;
	return 0;
}

/* Each part of "dwarf,8192" that begins with a letter must be one of words. */
static bool words_known(const char *value, const char *const *words)
{
	for (;;) {
		size_t n = strcspn(value, ","), i = 0;

		if (!isdigit((unsigned char)*value)) {
			while (words[i] && (strlen(words[i]) != n || strncmp(words[i], value, n)))
				i++;
			if (!words[i])
				return false;
		}
		if (!value[n])
			return true;
		value += n + 1;
	}
}

static void add_words(struct str *out, const char *term, const char *const *words)
{
	str_addf(out, "%s is one of:", term);
	for (; *words; words++)
		str_addf(out, " %s", *words);
}

static int apply_text(struct event_parse *p, const struct spec_term *term,
		      const struct common_term *row, char **out)
{
	uint64_t number;

	if (!term->value || !*term->value)
		return spec_fail(p->error, -EINVAL, term->name_pos, "%s needs a text: %s=%s",
				 term->name, term->name, row->words ? row->words[0] : "...");
	if (read_number(term->value, &number) != -EINVAL)
		return spec_fail(p->error, -EINVAL, term->value_pos,
				 "%s needs a text, '%s' is a number", term->name, term->value);
	if (row->words && !words_known(term->value, row->words)) {
		if (!p->error->code)
			add_words(&p->error->hint, term->name, row->words);
		return spec_fail(p->error, -EINVAL, term->value_pos, "%s does not know '%s'",
				 term->name, term->value);
	}
	free(*out);
	*out = xstrdup(term->value);
	return 0;
}

static int apply_ratio(struct event_parse *p, const struct spec_term *term, double *out)
{
	if (!term->value)
		return spec_fail(p->error, -EINVAL, term->name_pos, "%s needs a number: %s=2.0",
				 term->name, term->name);
	if (parse_double(term->value, out) || !(*out > 0 && *out < 1e18))
		return spec_fail(p->error, -EINVAL, term->value_pos,
				 "%s needs a number above 0, and '%s' is not one", term->name,
				 term->value);
	return 0;
}

static int apply_cpus(struct event_parse *p, const struct spec_term *term, struct event *event)
{
	struct intset *cpus = &event->terms.cpus, named = INTSET_INIT;
	const struct event_pmu *pmu;
	struct str why = STR_INIT;
	int rc = 0;

	if (!term->value)
		return spec_fail(p->error, -EINVAL, term->name_pos, "%s needs a CPU: %s=0", term->name, term->name);
	pmu = isdigit((unsigned char)term->value[0]) ? NULL : pmu_find(p, term->value);
	if (pmu)
		intset_copy(&named, &pmu->cpus);
	else if (intset_parse(&named, term->value, MAX_CPU, &why))
		rc = spec_fail(p->error, -EINVAL, term->value_pos, "%s needs a CPU, a span such as 0-3, or a unit: %s",
			       term->name, why.s);
	for (size_t i = 0; i < named.n; i++)
		intset_add(cpus, named.v[i]);
	/* A unit without a list counts on all CPUs. */
	event->terms.has_cpus = cpus->n;
	intset_release(&named);
	str_release(&why);
	return rc;
}

/* A period counts events, a frequency lets the kernel choose the period: only one can be asked for. */
static int apply_rate(struct event_parse *p, const struct spec_term *term,
		      const struct common_term *row, struct event *event)
{
	bool period = row->kind == TERM_PERIOD;
	uint64_t value;
	int rc;

	if (period ? event->terms.has_freq : event->terms.has_period)
		return spec_fail(p->error, -EINVAL, term->name_pos,
				 "period and freq exclude each other");
	rc = number_within(p, term, row, &value);
	if (rc)
		return rc;
	event->attr.freq = !period;
	if (period) {
		event->attr.sample_period = value;
		event->terms.has_period = true;
	} else {
		event->attr.sample_freq = value;
		event->terms.has_freq = true;
	}
	return 0;
}

static int apply_common_term(struct event_parse *p, const struct spec_term *term,
			     const struct common_term *row, struct event *event)
{
	void *field = (char *)event + row->field;
	uint64_t value;
	int rc;

	switch (row->kind) {
	case TERM_U64:
	case TERM_U32:
		rc = number_within(p, term, row, &value);
		if (!rc && row->kind == TERM_U64)
			*(__u64 *)field = value;
		else if (!rc)
			*(uint32_t *)field = (uint32_t)value;
		return rc;
	case TERM_PERIOD:
	case TERM_FREQ:
		return apply_rate(p, term, row, event);
	case TERM_SWITCH:
	case TERM_NEGATED_SWITCH:
		return apply_switch(p, term, row->kind == TERM_NEGATED_SWITCH, field);
	case TERM_TEXT:
		return apply_text(p, term, row, field);
	case TERM_RATIO:
		return apply_ratio(p, term, field);
	case TERM_CPUS:
		return apply_cpus(p, term, event);
	case TERM_MISSING:
		break;
	}
	return spec_fail(p->error, -EINVAL, term->name_pos,
			 "%s: the kernel headers that pstat was built with have no %s", row->name,
			 row->name);
}

/* r1a, r0x1a: the whole config in hexadecimal. 1 taken, 0 not of this form. */
static int apply_raw(struct event_parse *p, const struct spec_term *term, struct event *event)
{
	const char *digits = term->name + 1;
	uint64_t value;

	if (term->name[0] != 'r' || term->value)
		return 0;
	if (digits[0] == '0' && digits[1] == 'x')
		digits += 2;
	if (!is_hex(digits))
		return 0;
	if (parse_u64(digits, 16, &value))
		return spec_fail(p->error, -ERANGE, term->name_pos,
				 "'%s' has more than 64 bits", term->name);
	event->attr.config = value;
	return 1;
}

struct name_source {
	void (*add_names)(void *data, struct near_name *near, struct str *names);
	void *data;
};

static int unknown_term(struct event_parse *p, const struct spec_term *term,
			const struct name_source *own)
{
	struct str names = STR_INIT;
	struct near_name near;
	const char *best;

	if (p->error->code)
		return p->error->code;
	near_init(&near, term->name, strlen(term->name));
	if (own->add_names)
		own->add_names(own->data, &near, &names);
	for (size_t i = 0; i < ARRAY_SIZE(common_terms); i++) {
		if (common_terms[i].kind == TERM_MISSING)
			continue;
		near_consider(&near, common_terms[i].name);
		str_addf(&names, "%s%s", names.len ? ", " : "", common_terms[i].name);
	}
	str_add(&names, ", rHEX");
	best = near_best(&near);
	if (best)
		str_addf(&p->error->hint, "did you mean '%s'? ", best);
	str_addf(&p->error->hint, "valid terms: %s", names.s);
	str_release(&names);
	return spec_fail(p->error, -EINVAL, term->name_pos, "unknown term '%s'", term->name);
}

int event_apply_terms(struct event_parse *p, const struct spec_event *spec, struct event *event,
		      int (*other)(struct event_parse *p, const struct spec_term *term,
				   struct event *event, void *data),
		      void (*add_names)(void *data, struct near_name *near, struct str *names),
		      void *data)
{
	const struct name_source own = { add_names, data };

	for (size_t i = 0; i < spec->n_terms; i++) {
		const struct spec_term *term = &spec->terms[i];
		const struct common_term *row = find_common(term->name);
		int rc = row ? apply_common_term(p, term, row, event) : 0;

		if (!row && other)
			rc = other(p, term, event, data);
		if (!row && !rc)
			rc = apply_raw(p, term, event);
		if (!row && !rc)
			rc = unknown_term(p, term, &own);
		if (rc < 0)
			return rc;
	}
	return 0;
}
