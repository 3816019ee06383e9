/* SPDX-License-Identifier: MIT */
/*
 * The screen as a whole: waits for keys, feeds the source between them, makes the table when it is to be shown,
 * and draws: a title, the view on top, the status line.
 *
 * One thread does all of it. A table is gone before its source is fed (see screen.h) and made when something is
 * to be drawn, so that what is fed without end costs a table now and then, and a key costs one.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <stdlib.h>

enum {
	FIRST_MS = 50, /* while there is nothing to be seen, it is looked for so often */
	FEED_MS = 20, /* at most so long no key is looked for */
	TABLE_SHARE = 4, /* of the time while it is fed, this part goes into tables, at most: one of so many */
	SLOW_MS = 100, /* a table that is likely to take longer is announced */
	TITLE_LINES = 1,
	STATUS_LINES = 1,
	SCROLL_COLUMNS = 8,
};

/* Above these a percentage is red, or green, as in --stdio. */
#define HOT_PERCENT 5.0
#define WARM_PERCENT 0.5

static const struct view *const views[] = {
	&view_rows, &view_text, &view_menu, &view_prompt, &view_code, &view_diff,
};

const char *screen_keep(struct screen *screen, const char *text)
{
	return texts_get(screen->texts, texts_intern(screen->texts, text, strlen(text)));
}

void screen_say(struct screen *screen, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	/* One line: the first sentence says what is wrong. */
	str_reset(&screen->message);
	str_addn(&screen->message, text.s, strcspn(text.s, "\n"));
	str_release(&text);
	screen->dirty = true;
}

/* ---- the status line ---- */

static void put_bar(struct screen *screen, unsigned line, struct str *text)
{
	unsigned width = terminal_width(screen->terminal);
	size_t columns = text_columns(text->s, text->len);

	str_pad(text, ' ', columns < width ? width - columns : 0);
	terminal_put(screen->terminal, line, 0, width, text->s, text->len, LOOK_BAR);
}

static void draw_status(struct screen *screen)
{
	const struct screen_source *source = screen->source;
	unsigned lines = terminal_height(screen->terminal);
	struct str text = STR_INIT, status = STR_INIT;

	if (lines <= TITLE_LINES)
		return;
	if (screen->views[screen->n_views - 1] == &view_prompt) {
		prompt_add_line(screen, &text);
	} else if (screen->message.len) {
		str_add_printable(&text, screen->message.s, screen->message.len);
	} else {
		if (screen->counting)
			str_add(&status, "counting");
		else
			source->status(source->context, &status);
		str_add(&text, "? help  q quit");
		if (screen->options->title) {
			str_add(&text, "  ");
			str_add_printable(&text, screen->options->title, strlen(screen->options->title));
		}
		if (status.len)
			str_addf(&text, ": %s", status.s);
	}
	put_bar(screen, lines - 1, &text);
	str_release(&text);
	str_release(&status);
}

static void show(struct screen *screen)
{
	const struct view *top = screen->views[screen->n_views - 1];
	const unsigned cursor = top->cursor ? top->cursor(screen) : UINT32_MAX;

	terminal_show(screen->terminal, cursor == UINT32_MAX ? UINT32_MAX : terminal_height(screen->terminal) - 1,
		      cursor);
}

/*
 * Draws the status line before a table that is likely to take a while: with what has been typed so far, or with
 * "counting". Not while there is more to read: then tables are made all the time.
 */
static void announce(struct screen *screen)
{
	if (!screen->terminal || screen->fed != SCREEN_FED_ALL || screen->make_cost_ns < SLOW_MS * NS_PER_MS)
		return;
	screen->counting = true;
	draw_status(screen);
	show(screen);
	screen->counting = false;
}

/* ---- tables ---- */

void screen_drop_table(struct screen *screen)
{
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (views[i]->forget_table)
			views[i]->forget_table(screen);
	table_free(screen->table);
	question_free(screen->question);
	screen->table = NULL;
	screen->question = NULL;
	screen->hist = NULL;
}

/* Stays with the event that was shown, or goes on to the next that has something to show. */
static void choose_hist(struct screen *screen)
{
	const struct table *table = screen->table;

	if (screen->event >= table->n_hists)
		screen->event = 0;
	for (size_t i = 0; i < table->n_hists; i++) {
		if (!head_is_empty(&table->hists[screen->event]))
			break;
		screen->event = (screen->event + 1) % table->n_hists;
	}
	screen->hist = table->n_hists ? &table->hists[screen->event] : NULL;
}

bool screen_has_next_event(const struct screen *screen)
{
	for (size_t i = 0; i < screen->table->n_hists; i++)
		if (&screen->table->hists[i] != screen->hist && !head_is_empty(&screen->table->hists[i]))
			return true;
	return false;
}

int screen_table_of(const struct screen *screen, const struct query *query, struct question **question,
		    struct table **table, struct str *err)
{
	const struct screen_source *source = screen->source;
	int code = question_make(question, query, source->recording, err);

	*table = NULL;
	if (!code)
		code = source->make(source->context, table, *question, err);
	if (code) {
		question_free(*question);
		*question = NULL;
	}
	return code;
}

static int make_table(struct screen *screen, struct str *err)
{
	uint64_t begin_ns = now_ns();
	int code;

	announce(screen);
	screen_drop_table(screen);
	code = screen_table_of(screen, &screen->query, &screen->question, &screen->table, err);
	if (code)
		return code;
	choose_hist(screen);
	screen->seen |= rows_renew(screen);
	screen->made_ns = now_ns();
	screen->make_cost_ns = screen->made_ns - begin_ns;
	return 0;
}

bool screen_need_table(struct screen *screen)
{
	struct str err = STR_INIT;

	if (!screen->source->make)
		return false;
	if (!screen->table && make_table(screen, &err))
		screen_say(screen, "%s", err.s);
	str_release(&err);
	return screen->table && screen->hist;
}

bool screen_ask(struct screen *screen, const struct query *query)
{
	const struct screen_source *source = screen->source;
	const struct query before = screen->query;
	struct str err = STR_INIT;
	int code;

	screen->query = *query;
	screen->dirty = true;
	code = make_table(screen, &err);
	if (code) {
		screen_say(screen, "%s", err.s);
		screen->query = before;
	}
	if (screen->fed == SCREEN_FED_ALL && source->reads_on && source->reads_on(source->context))
		screen->fed = SCREEN_FED_MORE;
	str_release(&err);
	return !code;
}

/* ---- views ---- */

void screen_push_view(struct screen *screen, const struct view *view)
{
	if (screen->n_views < VIEWS_DEEP)
		screen->views[screen->n_views++] = view;
	screen->dirty = true;
}

void screen_pop_view(struct screen *screen)
{
	if (screen->n_views > 1)
		screen->n_views--;
	screen->dirty = true;
}

/* ---- lines ---- */

unsigned screen_body_lines(const struct screen *screen, unsigned heads)
{
	const unsigned lines = terminal_height(screen->terminal), others = TITLE_LINES + STATUS_LINES + heads;

	return lines > others ? lines - others : 0;
}

void screen_put_line(struct screen *screen, unsigned line, const struct str *text, size_t left,
		     enum terminal_look look)
{
	unsigned width = terminal_width(screen->terminal);
	size_t skipped = text_fitting(text->s, text->len, left), shown = text->len - skipped, columns;
	struct str blanks = STR_INIT;

	terminal_put(screen->terminal, line + TITLE_LINES, 0, width, text->s + skipped, shown, look);
	columns = text_columns(text->s + skipped, shown);
	if ((look != LOOK_SELECTED && look != LOOK_BAR) || columns >= width)
		return;
	/* The bar goes to the edge. */
	str_pad(&blanks, ' ', width - columns);
	terminal_put(screen->terminal, line + TITLE_LINES, (unsigned)columns, width, blanks.s, blanks.len, look);
	str_release(&blanks);
}

void screen_put_lines(struct screen *screen, const struct str *lines, const struct viewport *viewport,
		      size_t selected)
{
	const size_t end = viewport->top + screen_body_lines(screen, 0);
	const char *at = lines->s;

	for (size_t i = 0; *at && i < end; i++) {
		size_t len = strcspn(at, "\n");
		struct str line = STR_INIT;

		if (i >= viewport->top) {
			str_addn(&line, at, len);
			screen_put_line(screen, (unsigned)(i - viewport->top), &line, viewport->left,
					i == selected ? LOOK_SELECTED : LOOK_PLAIN);
			str_release(&line);
		}
		at += len + (at[len] == '\n');
	}
}

size_t screen_count_lines(const struct str *lines)
{
	size_t n = 0;

	for (const char *at = lines->s; *at; n++) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return n;
}

size_t screen_line_columns(const struct str *line)
{
	size_t n = line->len;

	while (n && line->s[n - 1] == ' ')
		n--;
	return text_columns(line->s, n);
}

enum terminal_look screen_percent_look(double percent)
{
	return percent >= HOT_PERCENT ? LOOK_HOT : percent > WARM_PERCENT ? LOOK_WARM : LOOK_PLAIN;
}

size_t screen_moved(enum movement how, size_t at, size_t n, size_t page)
{
	const size_t last = n ? n - 1 : 0;
	const size_t to[] = {
		[MOVE_UP] = at ? at - 1 : 0,
		[MOVE_DOWN] = at + 1,
		[MOVE_PAGE_UP] = at > page ? at - page : 0,
		[MOVE_PAGE_DOWN] = at + page,
		[MOVE_FIRST] = 0,
		[MOVE_LAST] = last,
		[MOVE_CLICK] = at,
	};

	return to[how] < last ? to[how] : last;
}

void viewport_clamp(struct viewport *viewport, const struct screen *screen, size_t n, unsigned heads)
{
	const size_t page = screen_body_lines(screen, heads);

	if (viewport->selected >= n)
		viewport->selected = n ? n - 1 : 0;
	if (viewport->top + page > n)
		viewport->top = n > page ? n - page : 0;
	if (viewport->selected < viewport->top)
		viewport->top = viewport->selected;
	if (page && viewport->selected >= viewport->top + page)
		viewport->top = viewport->selected - page + 1;
}

void viewport_move(struct viewport *viewport, const struct screen *screen, enum movement how, size_t n,
		   unsigned heads)
{
	const unsigned line = terminal_click(screen->terminal), first = TITLE_LINES + heads;

	if (how == MOVE_CLICK && line >= first && viewport->top + (line - first) < n)
		viewport->selected = viewport->top + (line - first);
	else
		viewport->selected = screen_moved(how, viewport->selected, n, screen_body_lines(screen, heads));
	viewport_clamp(viewport, screen, n, heads);
}

bool viewport_scroll(struct viewport *viewport, const struct screen *screen, int by, size_t widest)
{
	const size_t width = terminal_width(screen->terminal), end = widest > width ? widest - width : 0;
	const size_t left = viewport->left, right = left + SCROLL_COLUMNS;

	if (by < 0)
		viewport->left = left > SCROLL_COLUMNS ? left - SCROLL_COLUMNS : 0;
	else if (left < end)
		viewport->left = right < end ? right : end;
	return by > 0 || left;
}

/* ---- drawing ---- */

static void draw_title(struct screen *screen, const struct view *drawn)
{
	struct str text = STR_INIT;

	drawn->title(screen, &text);
	put_bar(screen, 0, &text);
	str_release(&text);
}

static void draw(struct screen *screen)
{
	const struct view *top = screen->views[screen->n_views - 1];
	const struct view *drawn = top->draw ? top : screen->views[screen->n_views - 2];

	screen_need_table(screen);
	terminal_clear(screen->terminal);
	drawn->draw(screen);
	draw_title(screen, drawn);
	draw_status(screen);
	show(screen);
	screen->dirty = false;
}

/* ---- keys ---- */

void act_leave(struct screen *screen)
{
	screen->leaving = true;
}

void act_close(struct screen *screen)
{
	screen_pop_view(screen);
}

void act_move(struct screen *screen, int how)
{
	screen->views[screen->n_views - 1]->move(screen, (enum movement)how);
}

void act_scroll(struct screen *screen, int by)
{
	screen->views[screen->n_views - 1]->scroll(screen, by);
}

/* Title and status line are no lines of a view. */
static bool is_beside_view(const struct screen *screen, int key)
{
	const unsigned line = terminal_click(screen->terminal);

	return key == KEY_CLICK && (line < TITLE_LINES || line - TITLE_LINES >= screen_body_lines(screen, 0));
}

static void take_key(struct screen *screen, int key)
{
	const struct view *top = screen->views[screen->n_views - 1];
	const struct key_row *row = screen_key_of(screen, key);

	screen->dirty = true;
	if (key == KEY_GONE)
		screen->leaving = true;
	if (key == KEY_SIZE || key == KEY_GONE || is_beside_view(screen, key))
		return;
	str_reset(&screen->message);
	if (row)
		screen_key_act(screen, row);
	else if (top->typed)
		top->typed(screen, key);
}

/* ---- feeding ---- */

static bool is_fed(const struct screen *screen)
{
	return screen->fed == SCREEN_FED_MORE || screen->fed == SCREEN_FED_LATER;
}

/* Enough was fed since the last table for another one. */
static bool is_due(const struct screen *screen)
{
	uint64_t since_ns = now_ns() - screen->made_ns;
	uint64_t least_ms = screen->seen ? screen->source->refresh_ms : FIRST_MS;

	return since_ns >= least_ms * NS_PER_MS && since_ns >= screen->make_cost_ns * TABLE_SHARE;
}

static void feed(struct screen *screen)
{
	const struct screen_source *source = screen->source;

	if (!source->feed || !is_fed(screen))
		return;
	screen_drop_table(screen);
	screen->fed = source->feed(source->context, FEED_MS * NS_PER_MS, &screen->failed);
	if (screen->fed < 0)
		screen_say(screen, "%s", screen->failed.s);
	if (!is_fed(screen) || is_due(screen))
		screen->dirty = true;
}

/* Shows the code that the user wants to begin with, unless another view has been opened meanwhile. */
static void show_code(struct screen *screen)
{
	screen->code_wanted = false;
	if (screen->n_views == 1)
		code_begin(screen);
}

static int wait_ms(const struct screen *screen)
{
	if (screen->fed == SCREEN_FED_MORE)
		return 0;
	return screen->fed == SCREEN_FED_LATER ? (int)screen->source->later_ms : -1;
}

/* Takes all keys that are there before it draws one table, so that keys held down don't queue up tables. */
static void run(struct screen *screen)
{
	int key;

	while (!screen->leaving) {
		if (screen->code_wanted && !is_fed(screen))
			show_code(screen);
		if (screen->dirty)
			draw(screen);
		key = terminal_key(screen->terminal, wait_ms(screen));
		while (key != KEY_NOTHING && !screen->leaving) {
			take_key(screen, key);
			key = terminal_key(screen->terminal, 0);
		}
		if (!screen->leaving && !screen->dirty)
			feed(screen);
	}
}

/* ---- contract ---- */

static void release(struct screen *screen)
{
	screen_drop_table(screen);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (views[i]->end)
			views[i]->end(screen);
	zooms_free(screen->zooms);
	texts_free(screen->texts);
	str_release(&screen->message);
	str_release(&screen->failed);
}

int screen_try(struct str *err)
{
	return terminal_try(err);
}

int screen_run_view(struct screen *screen, struct str *err)
{
	int code = 0;

	screen->texts = texts_new();
	screen->dirty = true;
	screen->message = screen->failed = (struct str)STR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (views[i]->begin)
			views[i]->begin(screen);
	if (screen->source->make)
		code = make_table(screen, err);
	if (!code)
		code = terminal_open(&screen->terminal, screen->options->color,
				     (unsigned char)screen->options->dots[0] >= 0x80, err);
	if (!code) {
		run(screen);
		terminal_close(screen->terminal);
	}
	release(screen);
	return code;
}

int screen_run(const struct screen_options *options, const struct screen_source *source, const struct query *query,
	       struct str *err)
{
	struct screen screen = {
		.options = options,
		.source = source,
		.query = *query,
		.zooms = zooms_new(query->filters.symbol_filter),
		.views = { &view_rows },
		.n_views = 1,
		.fed = source->feed ? SCREEN_FED_MORE : SCREEN_FED_ALL,
		.code_wanted = options->code,
	};

	screen.least_branch = query->percent_limit > 0 ? chain_options_default().min_percent : query->chain.min_percent;
	screen.query.needs = report_format_find("stdio")->needs;
	return screen_run_view(&screen, err);
}
