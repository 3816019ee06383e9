/* SPDX-License-Identifier: MIT */
/*
 * screen_internal: what the files of the screen share. Private to screen/.
 *
 * The way of a key to a table that is drawn again:
 *
 *	terminal_key()		screen.c waits for it, and feeds the source meanwhile
 *	screen_keys[]		its row: where it works, and the function
 *	act_x()			changes the query (ask.c, zoom.c), or what is in sight of a view (view_x.c)
 *	screen_ask()		query -> question -> source.make() -> table; where there is no answer, it says why
 *	rows_renew()		table -> rows, the selected one at the same height as before
 *	draw()			the title, the lines of the view that are in sight, the status line
 *	terminal_put()		characters; terminal_show() writes those that are others now
 *
 * Words:
 *
 *	view		what the terminal shows between title and status: rows, a text, a menu; they lie on each other
 *	row		a line of the table: an entry, or a frame of an entry's call tree
 *	id		of a row, and of no other: the same for the same functions or tasks in the next table, too
 *	zoom		a filter that left something out, and what it says; the way back is the one before it
 *	prompt		the status line while something is typed
 */
#ifndef PSTAT_SCREEN_INTERNAL_H
#define PSTAT_SCREEN_INTERNAL_H

#include "screen/screen.h"
#include "screen/screen_terminal.h"

struct screen;

/* ---- lines ---- */

/* The part of a view's lines that is in sight, and which of them is selected. */
struct viewport {
	size_t selected;
	size_t top; /* the first line in sight */
	size_t left; /* columns that are not in sight */
};
enum movement { MOVE_UP = 1, MOVE_DOWN, MOVE_PAGE_UP, MOVE_PAGE_DOWN, MOVE_FIRST, MOVE_LAST, MOVE_CLICK };

/* ---- views ---- */

struct view {
	unsigned bit;
	/*
	 * The line above, and the lines down to the status line. NULL: those of the view below, as a prompt has it.
	 */
	void (*title)(const struct screen *screen, struct str *out);
	void (*draw)(struct screen *screen);
	void (*move)(struct screen *screen, enum movement how);
	void (*scroll)(struct screen *screen, int by); /* to the right, or to the left if negative */
	/* A key that is in no row; NULL: nothing happens. */
	void (*typed)(struct screen *screen, int key);
	/* The column of the cursor while it is drawn; NULL: there is no cursor. */
	unsigned (*cursor)(const struct screen *screen);
	/* Makes the view's own state, a member of struct screen; frees it. NULL: it has none to make. */
	void (*begin)(struct screen *screen);
	void (*end)(struct screen *screen);
	/* The table goes: forgets all that points into it. NULL: nothing does. */
	void (*forget_table)(struct screen *screen);
};
extern const struct view view_rows, view_text, view_menu, view_prompt, view_code, view_diff;
enum { VIEWS_DEEP = 8 };

/* ---- the screen ---- */

/*
 * Shared by all views: the query, its answer, and which views lie on each other. All else belongs to the file that is
 * named beside it, which alone touches it.
 */
struct screen {
	const struct screen_options *options;
	const struct screen_source *source;
	struct terminal *terminal;
	struct text_index *texts; /* of queries */

	struct query query; /* what is shown */
	struct question *question; /* of the table */
	struct table *table; /* NULL: to be made anew */
	const struct hist *hist; /* of table->hists */
	size_t event; /* which of them */

	int fed; /* SCREEN_FED_*, or a negative errno */
	bool seen; /* there was a row */
	bool dirty, leaving;
	const struct view *views[VIEWS_DEEP];
	size_t n_views;
	struct str message; /* in the status line until the next key */

	struct rows_view *rows; /* view_rows.c */
	struct text_view *text; /* view_text.c */
	struct menu *menu; /* view_menu.c */
	struct prompt *prompt; /* view_prompt.c */
	struct code_view *code; /* view_code.c */
	struct diff_view *diff; /* view_diff.c */
	struct zooms *zooms; /* zoom.c */
	const char *filter_before; /* ask.c: of symbols, before one is typed */
	double least_branch; /* ask.c: in percent, where there is no limit of rows */
	void (*print)(struct screen *screen, struct output *output); /* save.c: to the file whose name is typed */
	uint64_t made_ns, make_cost_ns; /* screen.c: of the last table */
	bool counting; /* screen.c: a table is being made; the status line says so */
	bool code_wanted; /* screen.c: options->code has not been shown yet */
	struct str failed; /* screen.c: why feeding ended */
};

/* ---- screen.c ---- */
/* A table that the caller frees, and then its question; both NULL where it fails, with a sentence. */
int screen_table_of(const struct screen *screen, const struct query *query, struct question **question,
		    struct table **table, struct str *err);
/* Makes the table, if it has to be; false: there is none, and the status line says why. */
bool screen_need_table(struct screen *screen);
/* For whoever makes another one, which may need what this one is of; it is made again when it is needed. */
void screen_drop_table(struct screen *screen);
/* The query has changed: the table is made anew. False: it can't be answered, and is as it was before. */
bool screen_ask(struct screen *screen, const struct query *query);
/* Has another event of the table something to show? */
bool screen_has_next_event(const struct screen *screen);
void screen_say(struct screen *screen, const char *fmt, ...) PRINTF_LIKE(2, 3);
void screen_push_view(struct screen *screen, const struct view *view);
void screen_pop_view(struct screen *screen);
/* A text that stays until the screen is left. */
const char *screen_keep(struct screen *screen, const char *text);
/* Opens the terminal, shows the first view until the user leaves, releases the screen. */
int screen_run_view(struct screen *screen, struct str *err);

/* Lines between title and status, below so many heads. */
unsigned screen_body_lines(const struct screen *screen, unsigned heads);
/* Text in a line of the body, counted from 0; what stands before the column `left` is not shown. */
void screen_put_line(struct screen *screen, unsigned line, const struct str *text, size_t left,
		     enum terminal_look look);
/* Puts the lines that the viewport has in sight, each ended by '\n'; selected: which one is, SIZE_MAX: none. */
void screen_put_lines(struct screen *screen, const struct str *lines, const struct viewport *viewport,
		      size_t selected);
size_t screen_count_lines(const struct str *lines);
/* Columns up to the last that is not blank. */
size_t screen_line_columns(const struct str *line);
enum terminal_look screen_percent_look(double percent);
/* The line that a key leads to from line `at` of n, `page` lines being in sight. */
size_t screen_moved(enum movement how, size_t at, size_t n, size_t page);
/* Selects what a key leads to, of n lines below so many heads, and keeps it in sight. */
void viewport_move(struct viewport *viewport, const struct screen *screen, enum movement how, size_t n,
		   unsigned heads);
/* The selected line is one of n, and in sight; no line is wasted below the last one. */
void viewport_clamp(struct viewport *viewport, const struct screen *screen, size_t n, unsigned heads);
/*
 * A step to the left, or to the right as long as lines `widest` columns wide go on beyond the edge. False: it was to
 * the left, and there is nothing more.
 */
bool viewport_scroll(struct viewport *viewport, const struct screen *screen, int by, size_t widest);

/* ---- screen_keys.c ---- */

enum {
	VIEW_ROWS = 1,
	VIEW_TEXT = 2,
	VIEW_MENU = 4,
	VIEW_PROMPT = 8,
	VIEW_CODE = 16,
	VIEW_DIFF = 32,
	VIEW_LIVE = 64, /* rows of what can stand still: these keys before those of rows */
	VIEW_ANY = VIEW_ROWS | VIEW_TEXT | VIEW_MENU | VIEW_CODE | VIEW_DIFF
};
enum { KEYS_OF_ROW = 4 };
struct key_row {
	int keys[KEYS_OF_ROW]; /* 0: no more */
	const char *names; /* as the help and the manual have them: "Enter, +" */
	unsigned views; /* where it works, bits */
	const char *help; /* NULL: it stands with the row above, or goes without saying */
	void (*act)(struct screen *screen);
	void (*act_by)(struct screen *screen, int by); /* where act is NULL */
	int by; /* how far, which way, which one */
	/* Has it something to do now, in its view? If not, the help leaves it out. NULL: always. */
	bool (*works)(const struct screen *screen);
};
extern const struct key_row screen_keys[];
extern const size_t n_screen_keys;
const struct key_row *screen_key_find(unsigned view, int key);
void screen_key_act(struct screen *screen, const struct key_row *row);
/* The row of a key in the view on top; NULL: it does nothing there. */
const struct key_row *screen_key_of(const struct screen *screen, int key);
/* Adds the keys that have something to do in the view on top, with what they do: its own first. */
void screen_keys_add(const struct screen *screen, struct str *out);

/* Keys of all views. */
void act_move(struct screen *screen, int how);
void act_scroll(struct screen *screen, int by);
void act_close(struct screen *screen);
/* Leaves the program, whatever lies on the rows. */
void act_leave(struct screen *screen);

/* ---- view_rows.c ---- */

struct row {
	uint64_t id;
	const struct entry *entry;
	const struct call_node *node; /* NULL: the entry itself */
	unsigned depth;
	bool foldable, unfolded;
	bool continued; /* goes on from the row above, to which its numbers belong */
};
/* Makes the rows of screen->hist; the selected one stays what it was, where it is still there. Is there one? */
bool rows_renew(struct screen *screen);
const struct row *rows_selected(const struct screen *screen);
/*
 * The column of a key that says the same of all in the entry: in a hierarchy down to its own level. NULL: none
 * does.
 */
const struct column *rows_key_column(const struct table *table, const struct entry *entry, const char *key);
/* The selected row's function; NULL: it has none, or it is not known. */
const struct symbol *rows_selected_symbol(const struct screen *screen);
/* The table as --stdio has it, of all events. */
void rows_print(struct screen *screen, struct output *output);
void act_enter(struct screen *screen);
void act_fold_row(struct screen *screen);
enum { FOLD, UNFOLD };
void act_fold_below(struct screen *screen, int unfold);
void act_fold_all(struct screen *screen, int unfold);
void act_left(struct screen *screen);
void act_back(struct screen *screen);
void act_whole_names(struct screen *screen);
void act_show_name(struct screen *screen);
/* The menu of all that can be done with the selected row. */
void act_menu(struct screen *screen);

/* ---- view_text.c ---- */
/* Shows the lines, which it takes: none are left. */
void text_open(struct screen *screen, const char *title, struct str *lines);
void act_help(struct screen *screen);
void act_notes(struct screen *screen);
void act_header(struct screen *screen);

/* ---- view_menu.c ---- */
/* Shows the lines, which it takes: none are left. chosen() is called with a line's number, from 0. */
void menu_open(struct screen *screen, const char *title, struct str *lines,
	       void (*chosen)(struct screen *screen, size_t i));
void act_menu_choose(struct screen *screen);

/* ---- view_prompt.c ---- */
/*
 * Has a text edited. changed: called after each letter; NULL: nothing happens meanwhile. done: the text when it is
 * done, NULL if it is given up.
 */
void prompt_open(struct screen *screen, const char *label, const char *text,
		 void (*changed)(struct screen *screen, const char *text),
		 void (*done)(struct screen *screen, const char *text));
/* The label, and of what is typed the end, as far as it fits; the cursor is after it. */
void prompt_add_line(const struct screen *screen, struct str *out);
void act_prompt_accept(struct screen *screen);
void act_prompt_cancel(struct screen *screen);
void act_prompt_delete(struct screen *screen);
void act_prompt_delete_all(struct screen *screen);

/* ---- zoom.c ---- */
enum zoom_kind {
	ZOOM_THREAD,
	ZOOM_DSO,
	ZOOM_COMM,
	ZOOM_CPU,
	ZOOM_SYMBOL,
	ZOOM_SOCKET,
	ZOOM_PARALLELISM,
	ZOOM_TIME,
	ZOOM_KINDS
};
/* first_filter: of symbols, as the command line has it; or NULL. */
struct zooms *zooms_new(const char *first_filter);
void zooms_free(struct zooms *zooms); /* NULL is fine */
/* Into what the selected row says, or what is chosen from a list; kind: enum zoom_kind, but ZOOM_TIME. */
void act_zoom(struct screen *screen, int kind);
void act_zoom_kernel(struct screen *screen);
void act_zoom_time(struct screen *screen);
/* One step, out of a zoom or of a filter that was typed; false: there was none. */
bool zoom_out(struct screen *screen);
bool zooms_any(const struct screen *screen);
/* "comm: callers, dso: libc.so.6" */
void zooms_add(const struct screen *screen, struct str *out);

/* ---- ask.c ---- */
void act_next_event(struct screen *screen, int step);
void act_filter(struct screen *screen);
void act_sort(struct screen *screen);
void act_fields(struct screen *screen);
void act_limit(struct screen *screen);
void act_children(struct screen *screen);
void act_hierarchy(struct screen *screen);
void act_order(struct screen *screen);
void act_samples(struct screen *screen);
void act_period(struct screen *screen);
void act_latency(struct screen *screen);
void act_relative(struct screen *screen);
void act_idle(struct screen *screen);
void act_group(struct screen *screen);
void act_group_sort(struct screen *screen, int member);
void act_zero(struct screen *screen);
void act_pause(struct screen *screen);

/* ---- view_code.c ---- */

/* A line of a function's code. */
struct code_line {
	size_t text, n; /* in the view's text */
	enum annotate_row_kind kind;
	uint32_t instruction; /* it, or the one that follows; ANNOTATE_NONE: of the head */
	double percent; /* the greatest of its events */
	unsigned numbers; /* so many columns are numbers */
	size_t to; /* the instruction that it jumps to, in the function; SIZE_MAX: none */
	const struct symbol *callee; /* what it calls or jumps to, else; NULL: nothing that is known */
};
/* The hottest of n lines (step 0), or of those less hot than `from` the next one. SIZE_MAX: none. */
size_t code_hottest(const struct code_line *lines, size_t n, size_t from, int step);
void act_annotate(struct screen *screen);
/* Shows the function that options->code wants, or why it can't be shown. */
void code_begin(struct screen *screen);
void act_code_hottest(struct screen *screen, int step);
void act_code_enter(struct screen *screen);
void act_code_neighbour(struct screen *screen, int step);
void act_code_back(struct screen *screen);
enum { CODE_SOURCE, CODE_SYNTAX, CODE_LINES, CODE_PATHS, CODE_BYTES, CODE_ARROWS, CODE_TYPES };
void act_code_flip(struct screen *screen, int which);
void act_code_values(struct screen *screen);
void act_code_scope(struct screen *screen);
void act_code_base(struct screen *screen);
void act_code_search(struct screen *screen);
void act_code_search_on(struct screen *screen, int step);
void act_code_save(struct screen *screen);

/* ---- show_types.c ---- */
void act_types(struct screen *screen);

/* ---- view_diff.c ---- */
bool diff_has_other_events(const struct screen *screen);
void act_diff_event(struct screen *screen, int step);
void act_diff_row(struct screen *screen);
void act_diff_save(struct screen *screen);
void act_diff_save_graph(struct screen *screen);

/* ---- save.c ---- */
/* Asks for the name of a new file, and prints to it. path: where editing begins. */
void save_as(struct screen *screen, const char *path, void (*print)(struct screen *screen, struct output *output));
/* The same; path has a number in it, "perf.hist.%u", which is the first that is free. */
void save_numbered(struct screen *screen, const char *path,
		   void (*print)(struct screen *screen, struct output *output));
void act_save_table(struct screen *screen);
void act_save_graph(struct screen *screen);

#endif
