/* SPDX-License-Identifier: MIT */
/*
 * A rule is a demand on a difference: "symbol>+2%". A rule is broken where a row is beyond its limit with the
 * difference's confidence, corrected for all rows that all rules look at: a single unlucky sample fails no build.
 */
#include "hist/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The last one: names of operators have them, too. */
static const char *find_sign(const char *text)
{
	const char *at = text + strlen(text);

	while (at > text && at[-1] != '>' && at[-1] != '<')
		at--;
	return at > text ? at - 1 : NULL;
}

static int refuse(const char *text, struct str *err)
{
	struct str shown = STR_INIT;

	str_add_printable(&shown, text, strlen(text));
	fail(err, 0, "--fail-if: '%s' is no rule such as 'main>+2%%' or '*>+5%%'", shown.s);
	str_release(&shown);
	return -EINVAL;
}

int diff_rule_parse(struct diff_rule *rule, const char *text, struct str *err)
{
	const char *sign = find_sign(text);
	size_t len;
	char *number;
	int code;

	*rule = (struct diff_rule){ .name = NULL };
	if (!sign || sign == text)
		return refuse(text, err);
	len = strlen(sign + 1);
	if (len < 2 || sign[len] != '%')
		return refuse(text, err);
	number = xstrndup(sign + 1, len - 1);
	code = parse_double(number + (*number == '+'), &rule->limit);
	free(number);
	if (code || !isfinite(rule->limit))
		return refuse(text, err);
	rule->sign = *sign == '>' ? 1 : -1;
	rule->name = xstrndup(text, (size_t)(sign - text));
	return 0;
}

/* Does the rule look at the row? By its function; by the first key where functions are no key. */
static bool is_about(const struct diff *diff, const struct diff_rule *rule, const struct diff_row *row)
{
	size_t i = 0, len;
	const char *text;
	char *name;
	bool match;

	while (i < diff->n_keys && strcmp(diff->keys[i]->name, "symbol") != 0)
		i++;
	text = diff_key_text(row->key, i < diff->n_keys ? i : 0, &len);
	if (i < diff->n_keys)
		text = diff_key_plain(text, &len);
	name = xstrndup(text, len);
	match = !strcmp(name, rule->name) || (has_glob_chars(rule->name) && glob_match(rule->name, name));
	free(name);
	return match;
}

/* The limit in the units of the rates. */
static double limit_of(const struct diff *diff, const struct diff_rule *rule, const struct diff_row *row)
{
	return rule->limit / 100 * (diff->options.per == PER_SAMPLE ? 1 : row->cells[0].rate);
}

struct rule_check {
	const struct diff *diff;
	const struct diff_rule *rule;
	size_t n_rows; /* that it looks at */
};

static void add_change(const struct rule_check *asked, const struct diff_row *row, const struct diff_cell *cell,
		       struct str *out)
{
	double base = row->cells[0].rate, scale = asked->diff->options.per == PER_SAMPLE ? 1 : base;
	double low = cell->change.low, high = cell->change.high;

	str_addf(out, "%+.2f%% (%+.2f%% to %+.2f%%)", 100 * cell->change.difference / scale, 100 * low / scale,
		 100 * high / scale);
}

/* 1: it is broken; -1: it would be, but that is not certain; 0: it is kept. */
static int judge(const struct rule_check *asked, const struct diff_row *row, const struct diff_cell *cell,
		 size_t n_questions)
{
	double limit = limit_of(asked->diff, asked->rule, row);
	double wrong;

	if (cell->verdict == DIFF_NONE || cell->verdict == DIFF_FEW || !(limit != 0 || row->cells[0].rate > 0 ||
								       asked->diff->options.per == PER_SAMPLE))
		return 0;
	if (asked->rule->sign * (cell->change.difference - limit) <= 0)
		return 0;
	wrong = 1 - change_beyond(&cell->change, limit, asked->rule->sign);
	return wrong * (double)n_questions < 1 - asked->diff->options.confidence ? 1 : -1;
}

static size_t count_rows(const struct diff *diff, const struct diff_rule *rule)
{
	size_t n = 0;

	for (size_t i = 0; i < diff->n_events; i++)
		for (size_t k = 0; k < diff->events[i].n; k++)
			n += is_about(diff, rule, diff->events[i].rows[k]);
	return n * (diff->n_sides - 1);
}

static bool look_at(const struct rule_check *asked, const struct diff_event *event, const struct diff_row *row,
		    size_t side, size_t n_questions, struct note_list *lines)
{
	const struct diff_cell *cell = &row->cells[side];
	struct str text = STR_INIT;
	int found = judge(asked, row, cell, n_questions);
	const char *key;

	if (found) {
		for (size_t i = 0; i < asked->diff->n_keys; i++) {
			size_t len;

			key = diff_key_text(row->key, i, &len);
			str_add(&text, i ? " " : "");
			str_addn(&text, key, len);
		}
		str_addf(&text, ": %s: ", event->name);
		add_change(asked, row, cell, &text);
		note_add(lines, false, NULL, "--fail-if '%s%c%+g%%': %s: %s", asked->rule->name,
			 asked->rule->sign > 0 ? '>' : '<', asked->rule->limit, text.s,
			 found > 0 ? "certain" : "not certain, so it is let pass");
	}
	str_release(&text);
	return found > 0;
}

bool diff_rule_broken(const struct diff *diff, const struct diff_rule *rule, size_t n_rules, struct note_list *lines)
{
	struct rule_check asked = { diff, rule, count_rows(diff, rule) };
	bool broken = false;

	for (size_t i = 0; i < diff->n_events; i++) {
		const struct diff_event *event = &diff->events[i];

		for (size_t k = 0; k < event->n; k++)
			for (size_t side = 1; side < diff->n_sides && is_about(diff, rule, event->rows[k]); side++)
				broken |= look_at(&asked, event, event->rows[k], side, asked.n_rows * n_rules, lines);
	}
	if (!asked.n_rows)
		note_add(lines, false, NULL, "--fail-if '%s%c%+g%%': no row has that name", rule->name,
			 rule->sign > 0 ? '>' : '<', rule->limit);
	return broken;
}
