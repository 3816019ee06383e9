/* SPDX-License-Identifier: MIT */
/*
 * Metrics of the vendors' files: -M names that metric_table.c does not have.
 *
 *	MetricExpr "1 / cpi"  --names of other metrics are their formulas--> program with the names of events
 *	names --parsed as -e would--> attrs, by which lines are recognized; "#smt_on" --> a number
 *	events that are not there yet --> a weak group of those of the core; what other units count stands alone
 *
 * Intel's topdown-* events are counted in groups that slots leads; the kernel takes no others.
 */
#include "stat/metric.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct made_metric {
	struct metric metric; /* the first member: a metric that is made is freed as this */
	char *unit;
	struct expr *expr;
	struct metric_word *words; /* by name of expr */
};

/* The ground of all metrics of one -M. */
struct maker {
	struct event_list *events;
	const struct metric_ground *ground;
	const struct event_metric *known;
	size_t n_known;
	const char *unit; /* of the metric at hand, or NULL */
	struct str *err;
};

const struct expr *metric_made_expr(const struct metric *metric)
{
	return ((const struct made_metric *)metric)->expr;
}

const struct metric_word *metric_made_word(const struct metric *metric, size_t input)
{
	return &((const struct made_metric *)metric)->words[input];
}

static void made_metric_free(struct made_metric *made)
{
	for (size_t i = 0; i < expr_n_names(made->expr); i++) {
		free(made->words[i].spec);
		free(made->words[i].attrs);
		intset_release(&made->words[i].cpus);
	}
	free(made->words);
	expr_free(made->expr);
	free(made->unit);
	free(made);
}

void metrics_release(const struct metric ***chosen, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		if ((*chosen)[i]->is_made)
			made_metric_free((struct made_metric *)(uintptr_t)(*chosen)[i]);
	free(*chosen);
	*chosen = NULL;
	*n = 0;
}

/* ---- names in a formula ---- */

static bool same_unit(const char *a, const char *b)
{
	return a && b ? !strcasecmp(a, b) : a == b;
}

/* On a machine with several kinds of cores a metric may be there for each: that of the same one goes before. */
static const char *formula_of(void *data, const char *name, size_t len)
{
	const struct maker *maker = data;
	const char *first = NULL;

	for (size_t i = 0; i < maker->n_known; i++) {
		const struct event_metric *known = &maker->known[i];

		if (strlen(known->name) != len || strncasecmp(known->name, name, len) != 0)
			continue;
		if (same_unit(known->unit, maker->unit))
			return known->formula;
		first = first ? first : known->formula;
	}
	return first;
}

/* "cpu@X.Y\,cmask\=1@" -> "cpu/X.Y,cmask=1/" */
static char *event_text(const struct expr_name *name)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < name->len; i++) {
		if (name->text[i] == '\\' && i + 1 < name->len)
			str_addc(&text, name->text[++i]);
		else
			str_addc(&text, name->text[i] == '@' ? '/' : name->text[i]);
	}
	return text.len ? str_detach(&text) : xstrdup("");
}

static double ground_value(const struct metric_ground *ground, enum event_kind kind)
{
	return kind == EVENT_CORE_WIDE ? ground->core_wide : ground->cpus;
}

/* An event that the formula names, as -e has parsed it: what it is to the metric. */
static void take_event(struct metric_word *word, const struct event *event, const struct metric_ground *ground)
{
	switch (event->kind) {
	case EVENT_KERNEL:
		word->attrs = xreallocarray(word->attrs, word->n_attrs + 1, sizeof(*word->attrs));
		word->attrs[word->n_attrs++] = event->attr;
		intset_copy(&word->cpus, &event->terms.cpus);
		word->is_core |= event->pmu_is_core || event->attr.type == PERF_TYPE_HARDWARE ||
				 event->attr.type == PERF_TYPE_HW_CACHE;
		break;
	case EVENT_DURATION_TIME:
		word->source = METRIC_ELAPSED_NS;
		break;
	case EVENT_FACT:
		word->source = event->fact_unknown ? METRIC_UNKNOWN : METRIC_FACT;
		word->fact = (double)event->fact;
		break;
	case EVENT_TARGET_CPU:
	case EVENT_CORE_WIDE:
		word->source = METRIC_FACT;
		word->fact = ground_value(ground, event->kind);
		break;
	default:
		word->source = METRIC_UNKNOWN;
	}
}

/* The names of the machine's numbers are those of events; upper case is allowed. */
static void lower(char *text)
{
	for (; *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text += 'a' - 'A';
}

/* 0, or a negative errno with the parser's lines in err: a name that is counted is no event here. */
static int resolve(const struct maker *maker, const struct expr_name *name, struct metric_word *word, struct str *err)
{
	struct event_list list;
	int rc;

	word->spec = event_text(name);
	word->source = METRIC_COUNT;
	if (word->spec[0] == '#') {
		memmove(word->spec, word->spec + 1, strlen(word->spec));
		lower(word->spec);
	}
	/* The vendors' files are read once: the list has them meanwhile. */
	event_list_init(&list);
	list.vendors = maker->events->vendors;
	rc = event_list_parse(&list, word->spec, maker->ground->host, err);
	maker->events->vendors = list.vendors;
	list.vendors = NULL;
	for (size_t i = 0; i < list.n; i++)
		take_event(word, &list.v[i], maker->ground);
	event_list_release(&list);
	if (rc && !name->counted)
		str_reset(err);
	return name->counted ? rc : 0;
}

/* ---- one metric ---- */

static void describe(struct made_metric *made, const struct event_metric *from)
{
	struct str unit = STR_INIT;
	double scale = 1;
	const char *rest = from->scale_unit ? event_unit_split(from->scale_unit, &scale) : "";

	str_add_printable(&unit, rest, strlen(rest));
	str_add(&unit, unit.len ? " " : "");
	str_add_printable(&unit, from->name, strlen(from->name));
	made->unit = str_detach(&unit);
	made->metric = (struct metric){
		.name = made->unit + (strlen(made->unit) - strlen(from->name)),
		.group = from->groups,
		.desc = from->desc,
		.formula = from->formula,
		.unit = made->unit,
		.decimals = from->scale_unit ? 1 : 2,
		.is_made = true,
		.scale = scale,
	};
}

static struct made_metric *make_metric(struct maker *maker, const struct event_metric *from, struct str *err)
{
	const struct expr_others others = { formula_of, maker };
	const char *threshold = maker->ground->no_thresholds ? NULL : from->threshold, *why = NULL;
	struct expr *expr = expr_compile_perf(from->formula, threshold, &others, &why);
	struct made_metric *made;
	int rc = 0;

	if (!expr) {
		fail(err, -EINVAL, "%s", why);
		return NULL;
	}
	made = xcalloc(1, sizeof(*made));
	made->expr = expr;
	made->words = xcalloc(expr_n_names(expr) + 1, sizeof(*made->words));
	describe(made, from);
	for (size_t i = 0; i < expr_n_names(expr) && !rc; i++)
		rc = resolve(maker, expr_name(expr, i), &made->words[i], err);
	if (!rc)
		return made;
	made_metric_free(made);
	return NULL;
}

/* ---- its events ---- */

static bool is_wanted(const struct event *event, const struct metric_word *word)
{
	return event->kind == EVENT_KERNEL && !event->cgroup &&
	       metric_word_means(word, &event->attr, &event->terms.cpus);
}

static bool group_has(const struct event_list *events, size_t leader, const struct metric_word *word)
{
	for (size_t i = leader; i < leader + events->v[leader].n_members; i++)
		if (is_wanted(&events->v[i], word))
			return true;
	return false;
}

/* Intel's counters of slots, as the kernel's sysfs has them: event 0, masks from 0x80; slots itself 4. */
static bool is_topdown(const struct metric_word *word)
{
	for (size_t i = 0; i < word->n_attrs; i++)
		if (word->is_core && (word->attrs[i].config & 0xff) == 0 && word->attrs[i].config >= 0x8000 &&
		    word->attrs[i].config < 0x8800 && word->attrs[i].type != PERF_TYPE_HW_CACHE)
			return true;
	return false;
}

static bool is_slots(const struct metric_word *word)
{
	return word->n_attrs && word->is_core && word->attrs[0].config == 0x400 &&
	       word->attrs[0].type != PERF_TYPE_HW_CACHE && word->attrs[0].type != PERF_TYPE_HARDWARE;
}

struct weak_group {
	const struct metric_word **v;
	size_t n;
};

static bool is_there(const struct event_list *events, const struct weak_group *group)
{
	for (size_t i = 0; i < events->n; i++) {
		size_t k = 0;

		if (events->v[i].leader != i)
			continue;
		while (k < group->n && group_has(events, i, group->v[k]))
			k++;
		if (k == group->n)
			return true;
	}
	return false;
}

static void add_spec(struct str *spec, const char *text)
{
	str_addf(spec, "%s%s", spec->len && spec->s[spec->len - 1] != '{' ? "," : "", text);
}

/* The slots of a topdown group stand first, also if no formula names them. */
static void lead_with_slots(const struct weak_group *group, struct str *spec)
{
	bool topdown = false, named = false;

	for (size_t i = 0; i < group->n; i++)
		topdown |= is_topdown(group->v[i]);
	for (size_t i = 0; i < group->n && topdown; i++) {
		if (!is_slots(group->v[i]))
			continue;
		add_spec(spec, group->v[i]->spec);
		named = true;
	}
	if (topdown && !named)
		add_spec(spec, "slots");
	for (size_t i = 0; i < group->n; i++)
		if (!topdown || !is_slots(group->v[i]))
			add_spec(spec, group->v[i]->spec);
}

static int add_group(struct maker *maker, const struct weak_group *group)
{
	struct str spec = STR_INIT;
	bool braces = group->n > 1 || (group->n && is_topdown(group->v[0]));
	int rc = 0;

	if (!group->n || is_there(maker->events, group))
		return 0;
	if (braces)
		str_addc(&spec, '{');
	lead_with_slots(group, &spec);
	if (braces)
		str_add(&spec, "}:W");
	rc = event_list_parse(maker->events, spec.s, maker->ground->host, maker->err);
	str_release(&spec);
	return rc;
}

/* Once each, though formulas may name an event in several ways. */
static void want(struct weak_group *group, const struct metric_word *word)
{
	for (size_t i = 0; i < group->n; i++)
		if (metric_word_means(group->v[i], &word->attrs[0], &word->cpus))
			return;
	group->v[group->n++] = word;
}

static int add_events(struct maker *maker, const struct made_metric *made)
{
	size_t n = expr_n_names(made->expr);
	struct weak_group core = { .v = xcalloc(n + 1, sizeof(*core.v)) };
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		const struct metric_word *word = &made->words[i];
		struct weak_group alone = { .v = &word, .n = 1 };

		if (!expr_name(made->expr, i)->counted || !word->n_attrs)
			continue;
		if (word->is_core)
			want(&core, word);
		else
			rc = add_group(maker, &alone);
	}
	rc = rc ? rc : add_group(maker, &core);
	free(core.v);
	return rc;
}

/* ---- -M ---- */

static bool is_in_group(const char *groups, const char *word)
{
	size_t len;

	for (; groups && *groups; groups += len + (groups[len] != '\0')) {
		char *group;
		bool same;

		len = strcspn(groups, ";,");
		group = xstrndup(groups, len);
		same = has_glob_chars(word) ? glob_match(word, group) : !strcasecmp(word, group);
		free(group);
		if (same)
			return true;
	}
	return false;
}

bool metric_known_is_called(const struct event_metric *known, const char *word)
{
	return (has_glob_chars(word) ? glob_match(word, known->name) : !strcasecmp(word, known->name)) ||
	       is_in_group(known->groups, word);
}

static bool is_chosen(const struct metric *const *chosen, size_t n, const struct event_metric *known)
{
	for (size_t i = 0; i < n; i++)
		if (chosen[i]->formula == known->formula)
			return true;
	return false;
}

static int choose(struct maker *maker, const struct event_metric *known, const struct metric ***chosen,
		  size_t *n_chosen, struct str *why)
{
	struct made_metric *made;
	int rc;

	maker->unit = known->unit;
	made = make_metric(maker, known, why);
	if (!made)
		return -ENOENT;
	rc = add_events(maker, made);
	if (rc) {
		made_metric_free(made);
		return rc;
	}
	made->metric.number = *n_chosen;
	*chosen = xreallocarray(*chosen, *n_chosen + 1, sizeof(**chosen));
	(*chosen)[(*n_chosen)++] = &made->metric;
	return 0;
}

/* A line with the first one of why. */
static void add_reason(struct str *out, const struct event_metric *known, const struct str *why)
{
	str_add(out, "metric '");
	str_add_printable(out, known->name, strlen(known->name));
	str_add(out, "' cannot be computed here: ");
	str_addn(out, why->s, strcspn(why->s, "\n"));
	str_addc(out, '\n');
}

/* A note for each line. */
static void add_notes(struct note_list *notes, const char *lines)
{
	size_t len;

	for (; *lines; lines += len + 1) {
		len = strcspn(lines, "\n");
		note_add(notes, false, NULL, "%.*s", (int)len, lines);
	}
}

/* Chooses those of maker->known; *reasons gets a line for each that cannot be computed here. */
static int choose_known(struct maker *maker, const char *word, const struct metric ***chosen, size_t *n_chosen,
			struct str *reasons, size_t *n_good)
{
	int rc = 0;

	for (size_t i = 0; i < maker->n_known && !rc; i++) {
		const struct event_metric *known = &maker->known[i];
		struct str why = STR_INIT;

		if (!metric_known_is_called(known, word))
			continue;
		if (!is_chosen(*chosen, *n_chosen, known))
			rc = choose(maker, known, chosen, n_chosen, &why);
		*n_good += !rc;
		if (rc == -ENOENT) {
			add_reason(reasons, known, &why);
			rc = 0;
		}
		str_release(&why);
	}
	return rc;
}

int metrics_make(const char *word, struct event_list *events, const struct metric ***chosen, size_t *n_chosen,
		 const struct metric_ground *ground, struct str *err)
{
	struct maker maker = { .events = events, .ground = ground, .err = err };
	struct str reasons = STR_INIT, ignored = STR_INIT;
	size_t n_good = 0;
	int rc;

	maker.known = event_metrics(events, ground->host, &maker.n_known);
	rc = choose_known(&maker, word, chosen, n_chosen, &reasons, &n_good);
	/* Rows for other machines than this one are among these. */
	maker.known = kernel_metrics;
	maker.n_known = n_kernel_metrics;
	if (!rc && !n_good)
		rc = choose_known(&maker, word, chosen, n_chosen, reasons.len ? &ignored : &reasons, &n_good);
	else if (!rc)
		add_notes(&events->notes, reasons.s);
	if (!rc && !n_good && reasons.len)
		rc = fail(err, -EINVAL, "%.*s", (int)strcspn(reasons.s, "\n"), reasons.s);
	str_release(&reasons);
	str_release(&ignored);
	return rc ? rc : n_good > 0;
}
