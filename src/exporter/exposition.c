/* SPDX-License-Identifier: MIT */
/*
 * Sums -> text. A metric family is a row of families[]; both formats are written from the same rows, and differ in what
 * a family is called and in the line at the end:
 *
 *   text 0.0.4     # TYPE pstat_event_total counter     pstat_event_total{event="cycles",mode="all"} 1
 *   OpenMetrics    # TYPE pstat_event counter           pstat_event_total{event="cycles",mode="all"} 1
 *                                                       # EOF
 *
 * A family without a sample is left out. Numbers are complete, and the same in every locale; a later one is never
 * smaller, as rounding keeps the order.
 */
#include "exporter/exporter_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum family_kind { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_INFO };

struct exposition;

struct metric_family {
	const char *name; /* OpenMetrics' name of it, without the suffix of its kind */
	enum family_kind kind;
	const char *unit; /* the end of the name; or NULL */
	const char *help;
	void (*samples)(struct exposition *x);
	/* Families of event rows: which they have, and the number of each. */
	enum quantity quantity;
	void (*value)(struct str *out, const struct series_row *row, const struct read_sum *sum);
	const struct node_name *node; /* this row of node_names[] alone */
};

struct exposition {
	const struct exporter *exporter;
	enum exposition_format format;
	struct str *out;
	const struct metric_family *family;
	bool begun; /* the family's head is written */
};

static const struct {
	const char *word, *suffix, *text_word;
} kinds[] = {
	[FAMILY_COUNTER] = { "counter", "_total", "counter" },
	[FAMILY_GAUGE] = { "gauge", "", "gauge" },
	[FAMILY_INFO] = { "info", "_info", "gauge" },
};

/* ---- lines ---- */

static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~' && *text != '\\' && *text != '"')
		text++;
	return !*text;
}

/* Control characters become the four characters \xNN, whose backslash is escaped like any other. */
static void add_escaped(struct str *out, const char *text)
{
	struct str printable = STR_INIT;

	if (is_plain(text)) {
		str_add(out, text);
		return;
	}
	str_add_printable(&printable, text, strlen(text));
	for (const char *at = printable.s; *at; at++) {
		if (*at == '\\' || *at == '"')
			str_addc(out, '\\');
		str_addc(out, *at);
	}
	str_release(&printable);
}

static void begin_family(struct exposition *x)
{
	const struct metric_family *family = x->family;
	bool open = x->format == EXPOSITION_OPENMETRICS;
	const char *suffix = open ? "" : kinds[family->kind].suffix;

	if (x->begun)
		return;
	x->begun = true;
	str_addf(x->out, "# HELP %s%s %s\n", family->name, suffix, family->help);
	str_addf(x->out, "# TYPE %s%s %s\n", family->name, suffix,
		 open ? kinds[family->kind].word : kinds[family->kind].text_word);
	if (open && family->unit)
		str_addf(x->out, "# UNIT %s %s\n", family->name, family->unit);
}

/* The beginning of a sample; labels and a number follow. */
static void begin_sample(struct exposition *x)
{
	begin_family(x);
	str_add(x->out, x->family->name);
	str_add(x->out, kinds[x->family->kind].suffix);
}

static void add_label(struct exposition *x, const char *name, const char *value)
{
	bool first = x->out->s[x->out->len - 1] != '"';

	str_addc(x->out, first ? '{' : ',');
	str_add(x->out, name);
	str_add(x->out, "=\"");
	add_escaped(x->out, value);
	str_addc(x->out, '"');
}

static void add_number_label(struct exposition *x, const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value < 0 ? 0 : value);
	add_label(x, name, text);
}

/* ---- numbers ---- */

static void add_seconds(struct str *out, uint64_t ns)
{
	str_addf(out, "%llu.%09llu", (unsigned long long)(ns / NS_PER_S), (unsigned long long)(ns % NS_PER_S));
}

static void put_value(struct str *out, const struct series_row *row, const struct read_sum *sum)
{
	if (row->quantity == QUANTITY_SECONDS)
		add_seconds(out, sum->value);
	else if (row->quantity == QUANTITY_COUNT)
		str_add_u64(out, sum->value);
	else
		str_addf(out, "%.17g", (double)sum->value * row->factor);
}

static void put_enabled(struct str *out, const struct series_row *row, const struct read_sum *sum)
{
	(void)row;
	add_seconds(out, sum->enabled_ns);
}

static void put_running(struct str *out, const struct series_row *row, const struct read_sum *sum)
{
	(void)row;
	add_seconds(out, sum->running_ns);
}

/* ---- samples of event rows ---- */

static void add_place(struct exposition *x, const struct aggr_key *key)
{
	if (key->rest)
		return;
	if (key->mode == AGGR_CPU)
		add_number_label(x, "cpu", key->cpu);
	else if (key->mode == AGGR_SOCKET)
		add_number_label(x, "socket", key->socket);
}

static void add_event_sample(struct exposition *x, const struct metric_scope *scope, const struct series_row *row,
			     const struct aggr_key *key, const struct read_sum *sum)
{
	begin_sample(x);
	if (!x->family->node) {
		add_label(x, "event", row->event);
		add_label(x, "mode", row->mode);
		if (scope->cgroup)
			add_label(x, "cgroup", scope->cgroup);
	}
	add_place(x, key);
	if (x->out->s[x->out->len - 1] == '"')
		str_addc(x->out, '}');
	str_addc(x->out, ' ');
	x->family->value(x->out, row, sum);
	str_addc(x->out, '\n');
}

/* A row in each of its places: what was not counted there is absent. */
static void add_row(struct exposition *x, const struct metric_scope *scope, size_t row)
{
	const struct aggregation *agg = scope->counts;
	bool of_value = x->family->value == put_value;

	for (size_t i = 0; i < agg->n_keys; i++) {
		size_t key = agg->key_order[i];
		const struct aggr_value *value = aggregation_value(agg, row, key);

		if (of_value ? value->summed.running_ns : value->is_open || value->summed.enabled_ns)
			add_event_sample(x, scope, &scope->rows[row], &agg->keys[key], &value->summed);
	}
}

static bool is_of_family(const struct metric_family *family, const struct series_row *row)
{
	if (family->value != put_value)
		return true;
	return family->node == row->node && (family->node || family->quantity == row->quantity);
}

static void add_event_rows(struct exposition *x)
{
	for (size_t s = 0; s < x->exporter->n_scopes; s++) {
		const struct metric_scope *scope = x->exporter->scopes[s];

		for (size_t row = 0; row < scope->counts->n_rows; row++)
			if (is_of_family(x->family, &scope->rows[row]))
				add_row(x, scope, row);
	}
}

/* ---- samples of others ---- */

static bool same_support(const struct series_row *a, const struct series_row *b)
{
	return !strcmp(a->event, b->event) && text_same(a->reason, b->reason);
}

/* Has an earlier row, of another mode or cgroup, said the same? */
static bool support_is_known(const struct exporter *exporter, size_t scope, size_t row)
{
	const struct series_row *of = &exporter->scopes[scope]->rows[row];

	for (size_t s = 0; s <= scope; s++)
		for (size_t i = 0; i < (s == scope ? row : exporter->scopes[s]->counts->n_rows); i++)
			if (same_support(&exporter->scopes[s]->rows[i], of))
				return true;
	return false;
}

static void add_support(struct exposition *x)
{
	for (size_t s = 0; s < x->exporter->n_scopes; s++) {
		const struct metric_scope *scope = x->exporter->scopes[s];

		for (size_t i = 0; i < scope->counts->n_rows; i++) {
			if (support_is_known(x->exporter, s, i))
				continue;
			begin_sample(x);
			add_label(x, "event", scope->rows[i].event);
			add_label(x, "reason", scope->rows[i].reason ? scope->rows[i].reason : "");
			str_addf(x->out, "} %d\n", !scope->rows[i].reason);
		}
	}
}

static void add_build(struct exposition *x)
{
	begin_sample(x);
	add_label(x, "version", PSTAT_VERSION);
	str_add(x->out, "} 1\n");
}

static void add_start(struct exposition *x)
{
	begin_sample(x);
	str_addf(x->out, " %.3f\n", x->exporter->start_time);
}

static const char *const failure_names[] = {
	[FAILED_READ] = "read", [FAILED_PIN] = "pin", [FAILED_OPEN] = "open",
};

static void add_failures(struct exposition *x)
{
	for (size_t i = 0; i < FAILED_READS; i++) {
		begin_sample(x);
		add_label(x, "reason", failure_names[i]);
		str_addf(x->out, "} %llu\n", (unsigned long long)x->exporter->failed[i]);
	}
}

/* ---- the families ---- */

/* To add one: a row, pstat-exporter(1), tests/unit/test_exporter.c. */
static const struct metric_family families[] = {
	{ "pstat_event", FAMILY_COUNTER, NULL, "Events, scaled where they shared a counter.", .samples = add_event_rows,
	  .quantity = QUANTITY_COUNT, .value = put_value },
	{ "pstat_event_seconds", FAMILY_COUNTER, "seconds", "Time that an event of a clock counted.",
	  .samples = add_event_rows,
	  .quantity = QUANTITY_SECONDS, .value = put_value },
	{ "pstat_event_joules", FAMILY_COUNTER, "joules", "Energy that an event counted.", .samples = add_event_rows,
	  .quantity = QUANTITY_JOULES, .value = put_value },
	{ "pstat_event_bytes", FAMILY_COUNTER, "bytes", "Data that an event counted.", .samples = add_event_rows,
	  .quantity = QUANTITY_BYTES, .value = put_value },
	{ "pstat_event_enabled_seconds", FAMILY_COUNTER, "seconds",
	  "Time for which an event was enabled, summed over its counters.",
	  .samples = add_event_rows, .value = put_enabled },
	{ "pstat_event_running_seconds", FAMILY_COUNTER, "seconds",
	  "Time for which an event was counted, summed over its counters.",
	  .samples = add_event_rows, .value = put_running },
	{ "pstat_event_supported", FAMILY_GAUGE, NULL, "Whether an event can be counted here, or why not.",
	  .samples = add_support },
	{ "pstat_build", FAMILY_INFO, NULL, "The version of pstat.", .samples = add_build },
	{ "pstat_start_time_seconds", FAMILY_GAUGE, "seconds", "When counting began, in seconds since 1970.",
	  .samples = add_start },
	{ "pstat_reads_failed", FAMILY_COUNTER, NULL,
	  "Counters that could not be read, lost their pin, or could not be opened again.", .samples = add_failures },
};

static void add_family(struct exposition *x, const struct metric_family *family)
{
	x->family = family;
	x->begun = false;
	family->samples(x);
}

static void add_node_families(struct exposition *x)
{
	for (const struct node_name *node = node_names; node->name; node++) {
		char *name = xasprintf("node_perf_%s", node->name), *help = xasprintf("Number of %s.", node->help);
		const struct metric_family family = {
			name, FAMILY_COUNTER, NULL, help, .samples = add_event_rows, .value = put_value, .node = node,
		};

		add_family(x, &family);
		free(name);
		free(help);
	}
}

void exporter_write(const struct exporter *exporter, enum exposition_format format, struct str *out)
{
	struct exposition x = { .exporter = exporter, .format = format, .out = out };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		add_family(&x, &families[i]);
	if (exporter->plan.node_names)
		add_node_families(&x);
	if (format == EXPOSITION_OPENMETRICS)
		str_add(out, "# EOF\n");
}
