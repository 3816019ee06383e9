/* SPDX-License-Identifier: MIT */
/*
 * zoom: only what one thread, file, task, CPU, function, socket or span of time has, and the way back.
 *
 * What is meant is the selected row's, where a column of it says that; else it is chosen from a list of all
 * there are, which is a table of its own, by that key alone. Filters are those of the command line, so that what
 * is shown can be had from --stdio, too.
 */
#include "screen/screen_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The thing to zoom into: an entry of a table, or a frame of its call tree. */
struct zoom_target {
	struct table *table;
	const struct entry *entry;
	const struct call_node *node; /* NULL: the entry itself */
	uint64_t value; /* of the zoom's key, where the table has it */
};

/* Which of its kind it is. */
struct zoom_value {
	struct str exact; /* the name or the number that the filter looks for */
	struct str shown; /* what the title says; empty: the same */
	uint64_t function; /* function_identity: others may have its name; 0: it is no function */
};

struct zoom {
	struct filter_options before; /* the filters to which it leads back */
	const char *said; /* "comm: callers"; interned */
};

struct zooms {
	struct zoom *v; /* the last one first to come back */
	size_t n, cap;
	const char *first_filter; /* of symbols, as the command line has it; or NULL */
	const struct zoom_row *chosen_from; /* of the menu */
	struct zoom_value *choices; /* its lines */
	size_t n_choices, cap_choices;
};

static void value_release(struct zoom_value *value)
{
	str_release(&value->exact);
	str_release(&value->shown);
}

/* To add one: a row, a key in screen_keys.c, its place in pstat-report(1). value: false: it is not known. */
struct zoom_row {
	const char *what; /* "thread" */
	const char *key; /* the sort key that tells them apart; NULL: it is typed */
	bool of_frame; /* frames have it, too */
	size_t filter; /* offset in struct filter_options */
	bool (*value)(const struct zoom_target *target, struct zoom_value *out);
};

static bool number_of_task(const struct zoom_target *target, struct zoom_value *out)
{
	str_addf(&out->exact, "%d", task_names_number(target->value));
	return true;
}

static bool plain_number(const struct zoom_target *target, struct zoom_value *out)
{
	str_addf(&out->exact, "%" PRIu64, target->value);
	return target->value != UINT64_MAX;
}

static bool comm_name(const struct zoom_target *target, struct zoom_value *out)
{
	const char *comm = session_comm(target->table->session, (uint32_t)target->value);

	str_add(&out->exact, comm ? comm : "");
	return out->exact.len;
}

static uint32_t location_of(const struct zoom_target *target)
{
	return target->node ? target->node->frame.location : target->entry->location;
}

static bool dso_name(const struct zoom_target *target, struct zoom_value *out)
{
	const struct locations *locations = target->table->session->locations;
	uint32_t location = location_of(target);

	if (location < locations->n && locations->v[location].dso)
		str_add(&out->exact, locations->v[location].dso->name);
	return out->exact.len;
}

/* Samples are those of the function around what is inlined: by that the filter asks. */
static const struct symbol *symbol_of(const struct zoom_target *target)
{
	struct session *session = target->table->session;

	if (target->node)
		return annotate_around(session, target->node->frame.symbol);
	if (location_of(target) >= session->locations->n)
		return NULL;
	return annotate_around(session, location_symbol(session, location_of(target)));
}

/* The name in the file where it differs from the one that is shown: that is exact. */
static bool symbol_name(const struct zoom_target *target, struct zoom_value *out)
{
	const struct symbol *symbol = symbol_of(target);

	if (!symbol)
		return false;
	str_add(&out->exact, symbol->raw ? symbol->raw : symbol->name);
	str_add(&out->shown, symbol->name);
	out->function = function_identity(symbol);
	return out->exact.len;
}

#define FILTER(name) offsetof(struct filter_options, name)
static const struct zoom_row zoom_rows[ZOOM_KINDS] = {
	[ZOOM_THREAD] = { "thread", "tid", false, FILTER(tids), number_of_task },
	[ZOOM_DSO] = { "dso", "dso", true, FILTER(dsos), dso_name },
	[ZOOM_COMM] = { "comm", "comm", false, FILTER(comms), comm_name },
	[ZOOM_CPU] = { "cpu", "cpu", false, FILTER(cpus), plain_number },
	[ZOOM_SYMBOL] = { "symbol", "symbol", true, FILTER(symbols), symbol_name },
	[ZOOM_SOCKET] = { "socket", "socket", false, FILTER(sockets), plain_number },
	[ZOOM_PARALLELISM] = { "parallelism", "parallelism", false, FILTER(parallelism), plain_number },
	[ZOOM_TIME] = { "time", NULL, false, FILTER(time), NULL },
};

/* ---- in and out ---- */

static void zoom_in(struct screen *screen, const struct zoom_row *row, const struct filter_options *filters,
		    const char *shown)
{
	struct query query = screen->query;
	struct zoom zoom = { .before = screen->query.filters };
	struct zooms *zooms = screen->zooms;
	struct str said = STR_INIT;

	query.filters = *filters;
	if (!screen_ask(screen, &query))
		return;
	str_addf(&said, "%s: ", row->what);
	str_add_printable(&said, shown, strlen(shown));
	zoom.said = screen_keep(screen, said.s);
	str_release(&said);
	VEC_GROW(zooms->v, zooms->n, zooms->cap);
	zooms->v[zooms->n++] = zoom;
}

static void zoom_by_text(struct screen *screen, const struct zoom_row *row, const char *text)
{
	struct filter_options filters = screen->query.filters;
	const char *kept = screen_keep(screen, text);

	memcpy((char *)&filters + row->filter, &kept, sizeof(kept));
	zoom_in(screen, row, &filters, text);
}

/* Keeps a name quoted as filters take it. */
static const char *keep_name(struct screen *screen, const char *name)
{
	struct str text = STR_INIT;
	const char *kept;

	name_set_quote(name, &text);
	kept = screen_keep(screen, text.s);
	str_release(&text);
	return kept;
}

/* The filter would let it through by this name. */
static bool is_named(const struct symbol *symbol, const char *name)
{
	return symbol && (!strcmp(symbol->name, name) || (symbol->raw && !strcmp(symbol->raw, name)));
}

/*
 * Names a function by its addresses and its file where others have its name, too: nothing else begins at an address
 * at which it was loaded.
 */
static void name_by_address(struct screen *screen, const struct zoom_value *value, struct filter_options *filters)
{
	struct session *session = screen->table->session;
	const struct symbol *function = NULL;
	struct str list = STR_INIT;
	uint64_t last = 0;
	bool others = false;

	for (uint32_t i = 0; i < session->locations->n; i++) {
		const struct location_row *row = &session->locations->v[i];
		const struct symbol *symbol = location_symbol(session, i);
		uint64_t address;

		if (!is_named(symbol, value->exact.s))
			continue;
		if (function_identity(symbol) != value->function) {
			others = true;
			continue;
		}
		/* Nearly always there is one; the filter does not mind if one is there again. */
		address = row->ip - (row->addr - symbol->start);
		if (!function || address != last)
			str_addf(&list, "%s0x%" PRIx64, list.len ? "," : "", address);
		function = symbol;
		last = address;
	}
	if (others && function) {
		filters->symbols = screen_keep(screen, list.s);
		filters->dsos = keep_name(screen, function->dso->path);
	}
	str_release(&list);
}

static void zoom_to(struct screen *screen, const struct zoom_row *row, const struct zoom_value *value)
{
	struct filter_options filters = screen->query.filters;
	const char *name = keep_name(screen, value->exact.s);

	memcpy((char *)&filters + row->filter, &name, sizeof(name));
	if (value->function && screen_need_table(screen))
		name_by_address(screen, value, &filters);
	zoom_in(screen, row, &filters, value->shown.len ? value->shown.s : value->exact.s);
}

/* A filter that was typed in the zoom (/) is a step of its own; other changes (order, columns) stay. */
bool zoom_out(struct screen *screen)
{
	struct zooms *zooms = screen->zooms;
	const struct zoom *last = zooms->n ? &zooms->v[zooms->n - 1] : NULL;
	struct query query = screen->query;
	const char *typed = query.filters.symbol_filter;
	const char *before = last ? last->before.symbol_filter : zooms->first_filter;

	if (typed && !text_same(typed, before)) {
		query.filters.symbol_filter = before;
		screen_ask(screen, &query);
		return true;
	}
	if (!last)
		return false;
	query.filters = last->before;
	if (screen_ask(screen, &query))
		zooms->n--;
	return true;
}

bool zooms_any(const struct screen *screen)
{
	return screen->zooms->n;
}

void zooms_add(const struct screen *screen, struct str *out)
{
	const char *typed = screen->query.filters.symbol_filter;

	for (size_t i = 0; i < screen->zooms->n; i++)
		str_addf(out, "%s%s", i ? ", " : "  ", screen->zooms->v[i].said);
	if (screen->query.filters.idle_hidden)
		str_add(out, "  without idle tasks");
	if (typed) {
		str_add(out, "  symbols with: ");
		str_add_printable(out, typed, strlen(typed));
	}
}

struct zooms *zooms_new(const char *first_filter)
{
	struct zooms *zooms = xcalloc(1, sizeof(*zooms));

	zooms->first_filter = first_filter;
	return zooms;
}

static void forget_choices(struct zooms *zooms)
{
	while (zooms->n_choices)
		value_release(&zooms->choices[--zooms->n_choices]);
}

void zooms_free(struct zooms *zooms)
{
	if (!zooms)
		return;
	forget_choices(zooms);
	free(zooms->choices);
	free(zooms->v);
	free(zooms);
}

/* ---- which one ---- */

/* Does the target say which? */
static bool find_value(struct zoom_target *target, const struct zoom_row *row)
{
	const struct column *column = rows_key_column(target->table, target->entry, row->key);

	if (column)
		target->value = target->entry->values[column->key_index];
	return column || (target->node && row->of_frame);
}

static void chosen(struct screen *screen, size_t i)
{
	zoom_to(screen, screen->zooms->chosen_from, &screen->zooms->choices[i]);
}

/* Adds lines of a table that has this key alone, and what each of them says. */
static void add_choices(struct screen *screen, struct table *table, const struct zoom_row *row, struct str *lines)
{
	const struct hist *hist = screen->event < table->n_hists ? &table->hists[screen->event] : NULL;
	struct zooms *zooms = screen->zooms;

	for (size_t i = 0; hist && i < hist->n; i++) {
		const struct entry *entry = hist->entries[i];
		struct zoom_target target = { .table = table, .entry = entry };
		struct output output = { .text = STR_INIT };
		struct zoom_value value = { .exact = STR_INIT, .shown = STR_INIT };

		if (!entry_is_shown(table, hist, entry) || !find_value(&target, row) || !row->value(&target, &value)) {
			value_release(&value);
			continue;
		}
		for (size_t c = 0; c < table->n_columns; c++) {
			str_add(&output.text, c ? "  " : "");
			fmt_add_cell(table, hist, entry, &table->columns[c], c + 1 == table->n_columns, &output);
		}
		str_addf(lines, "%s\n", output.text.s);
		str_release(&output.text);
		VEC_GROW(zooms->choices, zooms->n_choices, zooms->cap_choices);
		zooms->choices[zooms->n_choices++] = value;
	}
}

static void choose(struct screen *screen, const struct zoom_row *row)
{
	struct query query = screen->query;
	struct str err = STR_INIT, title = STR_INIT, lines = STR_INIT;
	struct question *question;
	struct table *table;

	query.sort = row->key;
	query.fields = NULL;
	query.no_chains = true; /* a value's sum needs none */
	query.view = VIEW_FLAT_ENTRIES;
	query.needs = NEED_ENTRIES;
	query.filters.symbol_filter = NULL;
	forget_choices(screen->zooms);
	if (screen_table_of(screen, &query, &question, &table, &err)) {
		screen_say(screen, "%s", err.s);
	} else {
		add_choices(screen, table, row, &lines);
		table_free(table);
		question_free(question);
		screen->zooms->chosen_from = row;
		str_addf(&title, "Which %s?", row->what);
		if (lines.len)
			menu_open(screen, title.s, &lines, chosen);
		else
			screen_say(screen, "no sample says its %s", row->what);
	}
	str_release(&title);
	str_release(&err);
}

void act_zoom(struct screen *screen, int kind)
{
	const struct zoom_row *row = &zoom_rows[kind];
	struct zoom_value value = { .exact = STR_INIT, .shown = STR_INIT };
	struct zoom_target target;
	const struct row *selected;

	if (!screen_need_table(screen))
		return;
	target = (struct zoom_target){ .table = screen->table };
	selected = rows_selected(screen);
	if (selected) {
		target.entry = selected->entry;
		target.node = row->of_frame ? selected->node : NULL;
	}
	if (!selected || !find_value(&target, row))
		choose(screen, row);
	else if (row->value(&target, &value))
		zoom_to(screen, row, &value);
	else
		screen_say(screen, "this row's %s has no name to zoom into", row->what);
	value_release(&value);
}

void act_zoom_kernel(struct screen *screen)
{
	if (screen_need_table(screen))
		zoom_by_text(screen, &zoom_rows[ZOOM_DSO], "[kernel.kallsyms]");
}

static void time_done(struct screen *screen, const char *text)
{
	if (text && *text)
		zoom_by_text(screen, &zoom_rows[ZOOM_TIME], text);
}

void act_zoom_time(struct screen *screen)
{
	const char *now = screen->query.filters.time;

	if (screen_need_table(screen))
		prompt_open(screen, "Time (start,stop in seconds, or 10%-20%)", now ? now : "", NULL, time_done);
}
