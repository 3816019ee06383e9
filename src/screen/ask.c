/* SPDX-License-Identifier: MIT */
/*
 * ask: keys that ask another question: other columns, another order, more or fewer rows, trees the other way
 * round. Each changes the query and asks again; what can't be answered is said, and the query stays what it was.
 */
#include "screen/screen_internal.h"

#include <stdio.h>

void act_next_event(struct screen *screen, int step)
{
	const struct table *table;
	size_t n, at;

	if (!screen_need_table(screen))
		return;
	table = screen->table;
	n = table->n_hists;
	at = screen->event;
	for (size_t i = 0; i < n; i++) {
		at = (at + n + (size_t)(step > 0 ? 1 : n - 1)) % n;
		if (!head_is_empty(&table->hists[at]))
			break;
	}
	if (at == screen->event) {
		screen_say(screen, "there is no other event with samples");
		return;
	}
	screen->event = at;
	screen->hist = &table->hists[at];
	rows_renew(screen);
}

/* ---- what is typed ---- */

/* The query is asked when it is drawn: once for all letters that were typed meanwhile. No text is wrong. */
static void filter_changed(struct screen *screen, const char *text)
{
	screen_drop_table(screen);
	screen->query.filters.symbol_filter = *text ? screen_keep(screen, text) : NULL;
	screen->dirty = true;
}

static void filter_done(struct screen *screen, const char *text)
{
	struct query query = screen->query;

	if (text) {
		screen_need_table(screen);
		return;
	}
	query.filters.symbol_filter = screen->filter_before;
	screen_ask(screen, &query);
}

void act_filter(struct screen *screen)
{
	const char *now = screen->query.filters.symbol_filter;

	screen->filter_before = now;
	prompt_open(screen, "Symbols with", now ? now : "", filter_changed, filter_done);
}

static void sort_done(struct screen *screen, const char *text)
{
	struct query query = screen->query;

	if (!text)
		return;
	query.sort = *text ? screen_keep(screen, text) : NULL;
	screen_ask(screen, &query);
}

void act_sort(struct screen *screen)
{
	if (screen_need_table(screen))
		prompt_open(screen, "Sort by", screen->query.sort ? screen->query.sort : screen->question->sort_text.s,
			    NULL, sort_done);
}

static void fields_done(struct screen *screen, const char *text)
{
	struct query query = screen->query;

	if (!text)
		return;
	query.fields = *text ? screen_keep(screen, text) : NULL;
	screen_ask(screen, &query);
}

/* Begins with the columns that are there, by the names that --fields has for them. */
void act_fields(struct screen *screen)
{
	struct str names = STR_INIT;
	const struct table *table;

	if (!screen_need_table(screen))
		return;
	table = screen->table;
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (i && column->title && column->title == column[-1].title)
			continue;
		str_addf(&names, "%s%s", i ? "," : "",
			 column->title		       ? column->title->name :
			 column->kind == COLUMN_NUMBER ? column->field->name :
							 column->key->name);
	}
	prompt_open(screen, "Columns", names.s, NULL, fields_done);
	str_release(&names);
}

enum { LIMIT_TEXT = 32 };

static void limit_text(double limit, char text[static LIMIT_TEXT])
{
	snprintf(text, LIMIT_TEXT, "%g", limit);
}

/* A limit of 0 is none for rows; branches then have the limit that they had at the beginning. */
static void limit_done(struct screen *screen, const char *text)
{
	struct query query = screen->query;
	char now[LIMIT_TEXT], typed[LIMIT_TEXT];
	double limit;

	if (!text)
		return;
	if (parse_double(text, &limit) || !(limit >= 0 && limit <= 100)) {
		screen_say(screen, "'%s' is not a number from 0 to 100", text);
		return;
	}
	limit_text(query.percent_limit, now);
	limit_text(limit, typed);
	if (!strcmp(now, typed))
		return;
	query.percent_limit = limit;
	query.chain.min_percent = limit > 0 ? limit : screen->least_branch;
	screen_ask(screen, &query);
}

void act_limit(struct screen *screen)
{
	char now[LIMIT_TEXT];

	limit_text(screen->query.percent_limit, now);
	prompt_open(screen, "Only rows and branches of at least (percent)", now, NULL, limit_done);
}

/* ---- switches ---- */

static void say_no_chains(struct screen *screen)
{
	screen_say(screen, "the recording has no callchains, or they are not shown");
}

void act_children(struct screen *screen)
{
	struct query query = screen->query;

	if (!screen_need_table(screen))
		return;
	if (query.view == VIEW_HIERARCHY || query.mem_mode) {
		screen_say(screen, query.view == VIEW_HIERARCHY ?
					   "nested rows have no Children; y makes them flat" :
					   "rows of --mem-mode have no Children");
		return;
	}
	query.children = !screen->table->question->children;
	if (screen_ask(screen, &query) && query.children && !screen->table->question->children)
		say_no_chains(screen);
}

void act_hierarchy(struct screen *screen)
{
	struct query query = screen->query;

	query.view = query.view == VIEW_HIERARCHY ? VIEW_FLAT_ENTRIES : VIEW_HIERARCHY;
	if (screen_need_table(screen))
		screen_ask(screen, &query);
}

void act_order(struct screen *screen)
{
	struct query query = screen->query;

	if (!screen_need_table(screen))
		return;
	query.chain.order = screen->table->question->order == CHAIN_CALLER ? CHAIN_CALLEE : CHAIN_CALLER;
	query.chain.order_set = true;
	if (!screen_ask(screen, &query))
		return;
	if (!screen->table->question->chains)
		say_no_chains(screen);
	else
		screen_say(screen, "call trees from the %s",
			   screen->table->question->order == CHAIN_CALLER ? "outermost caller in" :
									    "sampled function out");
}

/* The query has a column more, or less; unless all of them are named. */
static void ask_columns(struct screen *screen, const struct query *query, const char *changed)
{
	if (!screen_need_table(screen))
		return;
	if (query->fields && query->fields[0] != '+')
		screen_say(screen, "the columns are named: O and %s show this one", changed);
	else
		screen_ask(screen, query);
}

void act_samples(struct screen *screen)
{
	struct query query = screen->query;

	query.n_samples = !query.n_samples;
	ask_columns(screen, &query, "sample");
}

void act_period(struct screen *screen)
{
	struct query query = screen->query;

	query.total_period = !query.total_period;
	ask_columns(screen, &query, "period");
}

void act_latency(struct screen *screen)
{
	struct query query = screen->query;

	query.latency = !query.latency;
	ask_columns(screen, &query, "latency");
}

void act_relative(struct screen *screen)
{
	struct query query = screen->query;

	query.percentage_relative = !query.percentage_relative;
	if (screen_need_table(screen) && screen_ask(screen, &query))
		screen_say(screen, "percentages of %s", query.percentage_relative ? "what the filters left" : "all");
}

void act_idle(struct screen *screen)
{
	struct query query = screen->query;

	query.filters.idle_hidden = !query.filters.idle_hidden;
	if (screen_need_table(screen) && screen_ask(screen, &query))
		screen_say(screen, "idle tasks are %s", query.filters.idle_hidden ? "left out of rows and percentages" :
											"counted");
}

void act_group(struct screen *screen)
{
	struct query query = screen->query;

	if (!screen_need_table(screen))
		return;
	if (screen->table->n_hists < 2 && screen->hist->n_members < 2) {
		screen_say(screen, "there is no other event");
		return;
	}
	query.group_off = query.group || screen->hist->n_members > 1;
	query.group = !query.group_off;
	screen_ask(screen, &query);
}

void act_group_sort(struct screen *screen, int member)
{
	struct query query = screen->query;

	if (!screen_need_table(screen))
		return;
	if ((size_t)member >= screen->hist->n_members || screen->hist->n_members < 2) {
		screen_say(screen, "there is no event %d in a group here", member);
		return;
	}
	query.group_sort = (size_t)member;
	screen_ask(screen, &query);
}

void act_zero(struct screen *screen)
{
	const struct screen_source *source = screen->source;

	if (!source->zero) {
		screen_say(screen, "a recording stays what it is");
		return;
	}
	/* A table must be gone before its samples are forgotten. */
	screen_drop_table(screen);
	screen->seen = false;
	source->zero(source->context);
}

void act_pause(struct screen *screen)
{
	screen->source->pause(screen->source->context);
}
