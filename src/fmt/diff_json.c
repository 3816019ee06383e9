/* SPDX-License-Identifier: MIT */
/*
 * diff_json.c: a difference as one JSON document (-j). The schema:
 *
 *	{ "format": "pstat diff", "format_version": 1,
 *	  "confidence": 0.95, "per": "sample", "second", "unit" or "event",
 *	  "sides": [ { "recordings": [ text, ... ] }, ... ]     the first one is the baseline
 *	  "events": [ {
 *	    "name": text, "by_samples": true where periods are all 0 and samples stand for them,
 *	    "totals": [ { "samples", "period" }, ... ]          one a side
 *	    "rows": [ row, ... ] }, ... ] }                     in the order of the table
 *
 *	row: { key: text, ...         by the names of -s; a symbol stands without its "[.] "
 *	    "was": { key: text, ... } only where the baseline had it under another name
 *	    "level": "." user, "k" kernel, ...: as before a symbol
 *	    "sides": [ side, ... ] }
 *
 *	side: { "found": bool, "samples", "period", "rate": number: a part of 1, or periods per unit
 *	    and of all but the baseline, each null where nothing can be said:
 *	    "value": what -c asks for, "difference": of the rates, "low", "high": bounds of that,
 *	    "p": of such a difference by chance, "p_corrected": for all rows, "design_effect": number,
 *	    "basis": "sampling" or "runs", "verdict": "certain", "maybe", "noise" or "few" }
 */
#include "fmt/fmt_internal.h"

#include <math.h>
#include <stdlib.h>

static void add_number(struct str *out, const char *name, bool known, double value)
{
	if (known && isfinite(value))
		str_addf(out, ", \"%s\": %.9g", name, value);
	else
		str_addf(out, ", \"%s\": null", name);
}

static void add_keys(const struct diff *diff, const char *key, struct str *out)
{
	for (size_t i = 0; i < diff->n_keys; i++) {
		size_t len;
		const char *at = diff_key_text(key, i, &len);
		char *text, *start;

		if (diff->keys[i]->flags & KEY_FUNCTION)
			at = diff_key_plain(at, &len);
		text = xstrndup(at, len);
		start = text + strspn(text, " ");
		str_add(out, i ? ", " : "");
		str_add_json(out, diff->keys[i]->name);
		str_add(out, ": ");
		str_add_json(out, start);
		free(text);
	}
}

static void add_comparison(const struct diff *diff, const struct diff_row *row, size_t side, struct str *out)
{
	const struct diff_cell *cell = &row->cells[side];
	bool known = cell->verdict != DIFF_NONE;
	double value;
	bool has_value = diff_value(diff, row, side, &value);

	add_number(out, "value", has_value, value);
	add_number(out, "difference", known, cell->change.difference);
	add_number(out, "low", known, cell->change.low);
	add_number(out, "high", known, cell->change.high);
	add_number(out, "p", known, cell->change.p);
	add_number(out, "p_corrected", known && cell->verdict != DIFF_FEW, cell->corrected);
	add_number(out, "design_effect", known && !diff->sides[side].runs, cell->change.design_effect);
	str_addf(out, ", \"basis\": \"%s\", \"verdict\": ", diff->sides[side].runs ? "runs" : "sampling");
	if (known)
		str_addf(out, "\"%s\"", diff_verdict_name(cell->verdict));
	else
		str_add(out, "null");
}

static void add_row(const struct diff *diff, const struct diff_row *row, struct str *out)
{
	str_add(out, "\n{");
	add_keys(diff, row->key, out);
	if (row->was) {
		str_add(out, ", \"was\": {");
		add_keys(diff, row->was, out);
		str_addc(out, '}');
	}
	str_addf(out, "%s\"level\": \"%c\", \"sides\": [", diff->n_keys ? ", " : "", row->level);
	for (size_t side = 0; side < diff->n_sides; side++) {
		const struct diff_cell *cell = &row->cells[side];

		str_addf(out, "%s{\"found\": %s, \"samples\": %llu, \"period\": %llu", side ? ", " : "",
			 cell->found ? "true" : "false", (unsigned long long)cell->n_samples,
			 (unsigned long long)cell->period);
		add_number(out, "rate", true, cell->rate);
		if (side)
			add_comparison(diff, row, side, out);
		str_addc(out, '}');
	}
	str_add(out, "]}");
}

static void add_sides(const struct diff *diff, struct str *out)
{
	for (size_t side = 0; side < diff->n_sides; side++) {
		str_addf(out, "%s{\"recordings\": [", side ? ", " : "");
		for (size_t i = 0; i < diff->sides[side].n; i++) {
			str_add(out, i ? ", " : "");
			str_add_json(out, diff->sides[side].tables[i]->session->reader->path);
		}
		str_add(out, "]}");
	}
}

static void add_event(const struct diff *diff, const struct diff_event *event, struct output *output)
{
	struct str *out = &output->text;

	str_add(out, "\n{\"name\": ");
	str_add_json(out, event->name);
	str_addf(out, ", \"by_samples\": %s, \"totals\": [", event->by_samples ? "true" : "false");
	for (size_t side = 0; side < diff->n_sides; side++)
		str_addf(out, "%s{\"samples\": %llu, \"period\": %llu}", side ? ", " : "",
			 (unsigned long long)event->totals[side].n_samples,
			 (unsigned long long)event->totals[side].period);
	str_add(out, "], \"rows\": [");
	for (size_t i = 0; i < event->n && !output->failed; i++) {
		str_add(out, i ? "," : "");
		add_row(diff, event->rows[i], out);
		output_step(output);
	}
	str_add(out, "]}");
}

int diff_print_json(const struct diff *diff, struct output *output)
{
	static const char *const per[] = {
		[PER_SAMPLE] = "sample", [PER_SECOND] = "second", [PER_UNIT] = "unit", [PER_EVENT] = "event",
	};
	struct str *out = &output->text;

	str_add(out, "{\"format\": \"pstat diff\", \"format_version\": 1, ");
	str_addf(out, "\"confidence\": %g, \"per\": \"%s\",\n\"sides\": [", diff->options.confidence,
		 per[diff->options.per]);
	add_sides(diff, out);
	str_add(out, "],\n\"events\": [");
	for (size_t i = 0; i < diff->n_events; i++) {
		str_add(out, i ? "," : "");
		add_event(diff, &diff->events[i], output);
	}
	str_add(out, "]}\n");
	return output->failed;
}
