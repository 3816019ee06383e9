/* SPDX-License-Identifier: MIT */
/*
 * vendor: events by the names that vendors give them, -e INST_RETIRED.ANY.
 *
 *	{"EventName": "X.Y", "EventCode": "0xd1", "UMask": "0x20"}   ->   cpu/event=0xd1,umask=0x20/
 *
 * A field of a record is a term of the PMU, whose place in attr sysfs says: the number is the vendor's, the bits are
 * the kernel's. "Unit" says which PMU; without it the core's.
 */
#include "event/vendor.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

/* ---- which PMU ---- */

/* Units whose PMU the kernel calls otherwise; other units are a PMU's name, with or without "uncore_" before it. */
static const struct {
	const char *unit, *pmu;
} units[] = {
	{ "CBO", "cbox" },	 { "SBO", "sbox" },	  { "QPI LL", "qpi" },	 { "UPI LL", "upi" },
	{ "iMPH-U", "arb" },	 { "NCU", "clock" },	  { "L3PMC", "amd_l3" }, { "DFPMC", "amd_df" },
	{ "UMCPMC", "amd_umc" },
};

/* The word for pmu_match(); the caller frees. */
static char *pmu_word(const struct vendor_text *text)
{
	const char *unit = text->field[VENDOR_Unit], *type = text->field[VENDOR_CounterType];
	char *word = NULL, *whole;

	for (size_t i = 0; i < ARRAY_SIZE(units) && !word; i++)
		if (!strcmp(units[i].unit, unit))
			word = xstrdup(units[i].pmu);
	if (!word)
		word = xstrdup(unit);
	for (char *p = word; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (type && !strcmp(type, "FREERUN")) {
		whole = xasprintf("%s_free_running", word);
	} else if (strchr(word, ',')) {
		/* "hisi_sccl,ddrc": hisi_sccl1_ddrc0 */
		*strchr(word, ',') = '*';
		whole = xasprintf("%s*", word);
	} else {
		return word;
	}
	free(word);
	return whole;
}

static void add_core_pmus(struct event_parse *p, const char *core, struct pmu_set *set)
{
	const struct event_pmu_list *cores = pmu_core_pmus(p);

	for (size_t i = 0; i < cores->n; i++) {
		if (*core && strcmp(core, cores->v[i].name) != 0)
			continue;
		VEC_GROW(set->v, set->n, set->cap);
		set->v[set->n++] = pmu_get(p, cores->v[i].name);
	}
}

/* Compat is a pattern for what the PMU says it is, in its file `identifier`. */
static bool is_compatible(const struct pmu *pmu, const char *compat)
{
	char *path = xasprintf("%s/identifier", pmu->dir);
	struct str text = STR_INIT;
	bool fits = !read_line_file(path, &text) && vendor_pattern_matches(compat, text.s);

	str_release(&text);
	free(path);
	return fits;
}

/* Appends the PMUs that the record is about. */
static void add_pmus(struct event_parse *p, const struct vendor_record *record, const struct vendor_text *text,
		     struct pmu_set *set)
{
	const char *compat = text->field[VENDOR_Compat];
	size_t n = set->n;
	char *word;

	if (text->field[VENDOR_Unit]) {
		word = pmu_word(text);
		pmu_match(p, word, set);
		free(word);
	} else {
		add_core_pmus(p, vendor_record_core(vendor_catalog(p), record), set);
	}
	for (size_t i = n; i < set->n; i++)
		if (!compat || is_compatible(set->v[i], compat))
			set->v[n++] = set->v[i];
	set->n = n;
}

static bool set_has(const struct pmu_set *set, const struct pmu *pmu)
{
	size_t i = 0;

	while (i < set->n && set->v[i] != pmu)
		i++;
	return i < set->n;
}

static bool is_about(struct event_parse *p, const struct vendor_record *record, const struct vendor_text *text,
		     const struct pmu *pmu)
{
	struct pmu_set set = { 0 };
	bool about;

	add_pmus(p, record, text, &set);
	about = set_has(&set, pmu);
	pmu_set_release(&set);
	return about;
}

/* ---- fields -> terms ---- */

/* Fields that are a term each. Where the value is 0 nothing is said, as not every PMU has all of these. */
static const struct {
	enum vendor_field field;
	const char *term;
} number_terms[] = {
	{ VENDOR_CounterMask, "cmask" },     { VENDOR_Invert, "inv" },		  { VENDOR_EdgeDetect, "edge" },
	{ VENDOR_AnyThread, "any" },	     { VENDOR_PortMask, "ch_mask" },	  { VENDOR_FCMask, "fc_mask" },
	{ VENDOR_NodeType, "type" },	     { VENDOR_RdWrMask, "rdwrmask" },	  { VENDOR_EnAllCores, "enallcores" },
	{ VENDOR_EnAllSlices, "enallslices" }, { VENDOR_SliceId, "sliceid" }, { VENDOR_ThreadMask, "threadmask" },
};

/* Model specific registers that hold a part of an event's code; the kernel has terms for them. */
static const struct {
	uint64_t msr;
	const char *term;
} msr_terms[] = { { 0x1a6, "offcore_rsp" }, { 0x1a7, "offcore_rsp" }, { 0x3f6, "ldlat" }, { 0x3f7, "frontend" } };

/*
 * Events of Intel's fixed counters. The files have the number of the counter, and as code nothing, 0 with a mask, or
 * one that is no event (0xA of Bonnell). The kernel wants the code by which any counter counts the same, and then
 * takes the fixed one; for reference cycles it has a code that no counter has: event 0, mask 3.
 */
static const struct fixed_event {
	const char *name;
	uint64_t event, mask;
} fixed_events[] = {
	{ "INST_RETIRED.ANY", 0xc0, 0 },
	{ "CPU_CLK_UNHALTED.CORE", 0x3c, 0 },
	{ "CPU_CLK_UNHALTED.REF", 0, 3 },
	{ "CPU_CLK_UNHALTED.THREAD", 0x3c, 0 },
	{ "CPU_CLK_UNHALTED.THREAD_ANY", 0x3c, 0 },
};

struct alias_maker {
	struct pmu_alias *alias;
	const struct vendor_text *text;
	struct str *err;
};

/* The first number of "0xB7, 0xBB"; 0 where there is no such field. */
static int read_number(const struct alias_maker *m, enum vendor_field field, const char *name, uint64_t *number)
{
	const char *text = m->text->field[field];
	char *first;
	int rc;

	*number = 0;
	if (!text)
		return 0;
	text += strspn(text, " ");
	first = xstrndup(text, strcspn(text, ", "));
	rc = *first && strcmp(first, "0x") != 0 ? parse_u64(first, first[0] == '0' && first[1] ? 0 : 10, number) : 0;
	if (rc) {
		fail(m->err, -EINVAL, "the vendor's file says %s: '", name);
		str_add_printable(m->err, text, strlen(text));
		str_add(m->err, "', which is not a number");
	}
	free(first);
	return rc;
}

static void add_term(struct alias_maker *m, const char *name, uint64_t value)
{
	VEC_GROW(m->alias->terms, m->alias->n_terms, m->alias->terms_cap);
	m->alias->terms[m->alias->n_terms++] = (struct spec_term){
		.name = xstrdup(name),
		.value = xasprintf("0x%llx", (unsigned long long)value),
	};
}

#define READ(m, field, number) read_number(m, VENDOR_##field, #field, number)

/* The event of a fixed counter that has the alias's name, unless its record has a code for other counters. */
static const struct fixed_event *fixed_event(const struct alias_maker *m, bool has_code)
{
	const char *counter = m->text->field[VENDOR_Counter];

	if (has_code && !(counter && !strncasecmp(counter, "fixed", 5)))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(fixed_events); i++)
		if (!strcasecmp(fixed_events[i].name, m->alias->name))
			return &fixed_events[i];
	return NULL;
}

/* The code itself, in one of its forms. */
static int add_code(struct alias_maker *m)
{
	uint64_t event, more, mask, more_mask, code;
	const struct fixed_event *fixed;

	if (READ(m, ConfigCode, &code) || READ(m, EventCode, &event) || READ(m, ExtSel, &more) ||
	    READ(m, UMask, &mask) || READ(m, UMaskExt, &more_mask))
		return -EINVAL;
	if (m->text->field[VENDOR_ConfigCode]) {
		add_term(m, "config", code);
	} else if (m->text->field[VENDOR_EventidCode]) {
		if (READ(m, EventidCode, &code))
			return -EINVAL;
		add_term(m, "eventid", code);
	} else {
		fixed = fixed_event(m, event || more);
		add_term(m, "event", fixed ? fixed->event : event | more << 8);
		if (fixed) {
			mask = fixed->mask;
			more_mask = 0;
		}
	}
	if (mask || more_mask)
		add_term(m, "umask", mask | more_mask << 8);
	return 0;
}

static int add_numbers(struct alias_maker *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(number_terms); i++) {
		uint64_t number;
		int rc = read_number(m, number_terms[i].field, number_terms[i].term, &number);

		if (rc)
			return rc;
		if (number)
			add_term(m, number_terms[i].term, number);
	}
	return 0;
}

static int add_msr(struct alias_maker *m)
{
	uint64_t msr, value;

	if (READ(m, MSRIndex, &msr) || READ(m, MSRValue, &value))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(msr_terms); i++) {
		if (msr_terms[i].msr != msr)
			continue;
		add_term(m, msr_terms[i].term, value);
		return 0;
	}
	if (msr && value)
		return fail(m->err, -EINVAL, "it needs the register 0x%llx, which the kernel has no term for",
			    (unsigned long long)msr);
	return 0;
}

/* "filter_opc=0x1C8,filter_nc=1"; in Intel's own files it names registers, and says nothing that is a term. */
static int add_filter(struct alias_maker *m)
{
	const char *filter = m->text->field[VENDOR_Filter];
	char *copy, *rest, *word;
	int rc = 0;

	if (!filter || !strchr(filter, '='))
		return 0;
	rest = copy = xstrdup(filter);
	while (!rc && (word = strsep(&rest, ","))) {
		char *value = strchr(word, '=');
		uint64_t number;

		word += strspn(word, " ");
		if (!value)
			continue;
		*value++ = '\0';
		rc = parse_u64(value, 0, &number);
		if (rc)
			fail(m->err, rc, "the vendor's file has a filter whose value is not a number");
		else
			add_term(m, word, number);
	}
	free(copy);
	return rc;
}

const char *event_unit_split(const char *text, double *scale)
{
	for (size_t n = strspn(text, "0123456789.eE+-"); n; n--) {
		char *number = xstrndup(text, n);
		int rc = parse_double(number, scale);

		free(number);
		if (!rc)
			return text + n;
	}
	*scale = 1;
	return text;
}

static int make_alias(struct alias_maker *m, const char *name)
{
	const char *scale_unit = m->text->field[VENDOR_ScaleUnit], *unit = "";
	uint64_t once, period;
	struct str printable = STR_INIT;

	m->alias->name = xstrdup(name);
	m->alias->scale = 1;
	if (scale_unit)
		unit = event_unit_split(scale_unit, &m->alias->scale);
	m->alias->has_scale = m->alias->scale != 1;
	str_add_printable(&printable, unit, strlen(unit));
	m->alias->unit = xstrdup(printable.s);
	str_release(&printable);
	if (READ(m, PerPkg, &once) || READ(m, SampleAfterValue, &period))
		return -EINVAL;
	m->alias->per_pkg = once;
	m->alias->period = period;
	if (add_code(m) || add_numbers(m) || add_msr(m) || add_filter(m))
		return -EINVAL;
	return 0;
}

int vendor_alias_read(struct event_parse *p, struct pmu_alias *alias, const struct pmu *pmu, const char *name,
		      struct str *err)
{
	struct vendor_catalog *vendors = vendor_catalog(p);
	const struct vendor_record *record;
	struct vendor_text text;
	size_t n;

	for (record = vendor_find(vendors, name, &n); n; n--, record++) {
		struct alias_maker maker = { alias, &text, err };

		if (record->is_metric)
			continue;
		vendor_record_read(vendors, record, &text);
		if (is_about(p, record, &text, pmu))
			return make_alias(&maker, record->name);
	}
	return -ENOENT;
}

/* ---- events ---- */

static void add_new_pmus(struct event_parse *p, const struct vendor_record *record, const struct vendor_text *text,
			 struct pmu_set *set)
{
	struct pmu_set own = { 0 };

	add_pmus(p, record, text, &own);
	for (size_t i = 0; i < own.n; i++) {
		if (set_has(set, own.v[i]))
			continue;
		VEC_GROW(set->v, set->n, set->cap);
		set->v[set->n++] = own.v[i];
	}
	pmu_set_release(&own);
}

static int refuse_unit(struct event_parse *p, const struct spec_event *spec, const struct vendor_text *text)
{
	const char *unit = text->field[VENDOR_Unit] ? text->field[VENDOR_Unit] : "core";
	const char *compat = text->field[VENDOR_Compat];
	struct str name = STR_INIT;

	str_add_printable(&name, unit, strlen(unit));
	if (compat) {
		str_add(&name, " of ");
		str_add_printable(&name, compat, strlen(compat));
	}
	spec_fail(p->error, -ENOENT, spec->word_pos, "'%s' is counted by the unit %s, which this machine does not have",
		  spec->word, name.s);
	str_release(&name);
	return p->error->code;
}

static int vendor_lookup(struct event_parse *p, const struct spec_event *spec)
{
	struct vendor_catalog *vendors;
	const struct vendor_record *record;
	struct vendor_text text = { { NULL } };
	struct pmu_set set = { 0 };
	bool known = false;
	size_t n;
	int rc = 0;

	if (spec->kind != SPEC_WORD && spec->kind != SPEC_PMU)
		return 0;
	vendors = vendor_catalog(p);
	for (record = vendor_find(vendors, spec->word, &n); n; n--, record++) {
		if (record->is_metric)
			continue;
		known = true;
		vendor_record_read(vendors, record, &text);
		add_new_pmus(p, record, &text, &set);
	}
	if (set.n)
		rc = pmu_add_events(p, spec, true, &set);
	else if (known)
		rc = refuse_unit(p, spec, &text);
	if (set.n && *vendor_why(vendors))
		note_add(&p->list->notes, false, NULL, "%s", vendor_why(vendors));
	pmu_set_release(&set);
	return rc;
}

/* ---- metrics ---- */

/* A metric of a unit that this machine does not have is none. */
static bool has_unit(struct event_parse *p, const struct vendor_record *record, const struct vendor_text *text)
{
	struct pmu_set set = { 0 };
	bool has;

	if (!text->field[VENDOR_Unit])
		return true;
	add_pmus(p, record, text, &set);
	has = set.n;
	pmu_set_release(&set);
	return has;
}

static bool read_metric(struct event_parse *p, const struct vendor_record *record, struct event_metric *metric)
{
	struct vendor_text text;
	const char *brief, *more;

	vendor_record_read(vendor_catalog(p), record, &text);
	brief = text.field[VENDOR_BriefDescription];
	more = text.field[VENDOR_PublicDescription];
	*metric = (struct event_metric){
		.name = record->name,
		.groups = text.field[VENDOR_MetricGroup],
		.desc = brief ? brief : more ? more : "",
		.long_desc = more,
		.formula = text.field[VENDOR_MetricExpr],
		.threshold = text.field[VENDOR_MetricThreshold],
		.scale_unit = text.field[VENDOR_ScaleUnit],
		.unit = text.field[VENDOR_Unit],
	};
	return metric->formula && has_unit(p, record, &text);
}

const struct event_metric *event_metrics(struct event_list *list, const struct host_paths *host, size_t *n)
{
	struct event_parse p = { .list = list, .host = host, .vendors = &list->vendors };
	struct vendor_metrics *metrics = vendor_metrics(vendor_catalog(&p));
	const struct vendor_record *record;
	size_t left;

	for (record = vendor_records(list->vendors, &left); left && !metrics->read; left--, record++) {
		if (!record->is_metric)
			continue;
		VEC_GROW(metrics->v, metrics->n, metrics->cap);
		metrics->n += read_metric(&p, record, &metrics->v[metrics->n]);
	}
	metrics->read = true;
	pmu_catalog_free(p.catalog);
	*n = metrics->n;
	return metrics->v;
}

/* ---- list ---- */

/* The event as -e would take it without the vendor's name: "cpu/event=0xd1,umask=0x20/". */
static void add_encoding(struct str *out, const struct pmu *pmu, const struct pmu_alias *alias)
{
	str_addf(out, "%s/", pmu->info.name);
	for (size_t i = 0; i < alias->n_terms; i++)
		str_addf(out, "%s%s=%s", i ? "," : "", alias->terms[i].name, alias->terms[i].value);
	str_addc(out, '/');
}

static int list_record(struct event_parse *p, const struct vendor_record *record, event_info_fn fn, void *data)
{
	struct vendor_catalog *vendors = vendor_catalog(p);
	struct vendor_text text;
	struct pmu_set set = { 0 };
	struct pmu_alias alias = { 0 };
	struct str encoding = STR_INIT, ignored = STR_INIT;
	struct alias_maker maker = { &alias, &text, &ignored };
	int rc = 0;

	vendor_record_read(vendors, record, &text);
	add_pmus(p, record, &text, &set);
	if (set.n && !make_alias(&maker, record->name))
		add_encoding(&encoding, set.v[0], &alias);
	if (encoding.len) {
		const char *brief = text.field[VENDOR_BriefDescription], *more = text.field[VENDOR_PublicDescription];
		const char *deprecated = text.field[VENDOR_Deprecated];
		const struct event_info info = {
			.topic = vendor_source.topic.name, .name = record->name, .alias = "",
			.desc = brief ? brief : more ? more : "", .long_desc = more, .pmu_name = set.v[0]->info.name,
			.unit = alias.unit, .scale = alias.scale, .encoding = encoding.s,
			.deprecated = deprecated && strcmp(deprecated, "0") != 0,
		};

		rc = fn(&info, data);
	}
	pmu_alias_release(&alias);
	pmu_set_release(&set);
	str_release(&encoding);
	str_release(&ignored);
	return rc;
}

static int vendor_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	struct vendor_catalog *vendors = NULL;
	struct event_parse p = { .host = host, .vendors = &vendors };
	const struct vendor_record *record;
	size_t n;
	int rc = 0;

	vendor_catalog(&p);
	for (record = vendor_records(vendors, &n); n && !rc; n--, record++)
		if (!record->is_metric)
			rc = list_record(&p, record, fn, data);
	if (!rc && *vendor_why(vendors))
		rc = fail(err, -ENOENT, "%s", vendor_why(vendors));
	vendor_catalog_free(vendors);
	pmu_catalog_free(p.catalog);
	return rc;
}

const struct event_source vendor_source = {
	.topic = { "vendor", "Events of the CPU's vendor", "Kernel PMU event", false },
	.lookup = vendor_lookup,
	.list = vendor_list,
};
