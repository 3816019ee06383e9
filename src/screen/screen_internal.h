/*
 * screen_internal: what the files of the screen share. Private to screen/.
 *
 * Words:
 *
 *	view		what the terminal shows between title and status: rows, a text, a menu; they lie on each other
 *	row		a line of the table: an entry, or a frame of an entry's call tree
 *	id		of a row, and of no other: the same for the same functions or tasks in the next table, too
 *	zoom		a query that left something out, and what it says; the way back is the one before it
 *	prompt		the status line while something is typed
 */
#ifndef PSTAT_SCREEN_INTERNAL_H
#define PSTAT_SCREEN_INTERNAL_H

#include "screen/screen.h"
#include "screen/screen_terminal.h"

struct screen;

/* ---- view_rows.c ---- */

struct row {
	uint64_t id;
	const struct entry *entry;
	const struct call_node *node; /* NULL: the entry itself */
	unsigned depth;
	bool foldable, unfolded;
	bool continued; /* goes on from the row above, to which its numbers belong */
};
struct id_set { /* sorted */
	uint64_t *v;
	size_t n, cap;
};
struct row_tree {
	const struct entry *entry;
	struct call_tree *tree; /* or NULL: it has none */
};
struct row_list {
	struct row *v;
	size_t n, cap;
	struct row_tree *trees; /* made when they are first unfolded */
	size_t n_trees, cap_trees;
	struct index of_entry; /* of trees */
	struct id_set flipped; /* rows that are not as `all_unfolded` says */
	bool all_unfolded;
	struct id_count { /* while rows are made: kept, for there are as many as rows */
		uint64_t id;
		uint32_t n; /* rows that would have it */
	} *ids;
	size_t n_ids, cap_ids;
	struct index of_id; /* of ids */
};
void row_list_release(struct row_list *rows);
/* Before the table goes: all that points into it. */
void row_list_forget(struct row_list *rows);

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
	const char *help; /* NULL: it stands with the row above */
	void (*act)(struct screen *screen, int argument);
	int argument;
};
extern const struct key_row screen_keys[];
extern const size_t n_screen_keys;
const struct key_row *screen_key_find(unsigned view, int key);
/* All keys with what they do, for the help. */
void screen_keys_add(struct str *out);

/* ---- views ---- */

struct view {
	unsigned bit;
	/*
	 * The line above, and the lines down to the status line. NULL: those of the view below, as a prompt has it.
	 */
	void (*title)(const struct screen *screen, struct str *out);
	void (*draw)(struct screen *screen);
	/* A key that is in no row; NULL: nothing happens. */
	void (*typed)(struct screen *screen, int key);
	/* The column of the cursor while it is drawn; NULL: there is no cursor. */
	unsigned (*cursor)(const struct screen *screen);
};
extern const struct view view_rows, view_text, view_menu, view_prompt, view_code, view_diff;
enum { VIEWS_DEEP = 8 };

struct prompt {
	const char *label;
	struct str text;
	void (*changed)(struct screen *screen); /* NULL: nothing happens while it is typed */
	void (*done)(struct screen *screen, bool accepted);
};
struct menu {
	struct str title;
	struct str lines; /* each ended by '\n' */
	size_t n, selected, top;
	void (*chosen)(struct screen *screen, size_t i);
	uint64_t row; /* the menu of a row: its id; 0: there was none */
	struct str row_name;
};
struct shown_text {
	struct str title;
	struct str lines;
	size_t top, left;
};

/* A line of a function's code. */
struct code_line {
	size_t text, n; /* in code.text */
	enum annotate_row_kind kind;
	uint32_t instruction; /* it, or the one that follows; ANNOTATE_NONE: of the head */
	double percent; /* the greatest of its events */
	unsigned numbers; /* so many columns are numbers */
	size_t to; /* the instruction that it jumps to, in the function; SIZE_MAX: none */
	const struct symbol *callee; /* what it calls or jumps to, else; NULL: nothing that is known */
};
struct code_place {
	const struct symbol *symbol;
	size_t selected, top;
};
struct code {
	const struct symbol *symbol;
	struct annotate *annotate; /* the functions that have samples, of the table; NULL: not asked for */
	const struct hist *annotated; /* of whose events */
	struct session *session; /* that holds the files of what is shown; NULL: none does */
	bool used; /* options and look are the user's */
	struct annotate_options options;
	struct annotation_look look;
	struct str text;
	struct code_line *lines;
	size_t n, cap;
	size_t selected, top, left;
	size_t jump_to; /* the line that the selected one jumps to; SIZE_MAX: none */
	struct code_place *back; /* where one came from, the last one first to come back to */
	size_t n_back, cap_back;
	struct str search;
};

struct zoom {
	struct query query;
	const char *said; /* "comm: callers"; interned */
};

struct screen {
	const struct screen_options *options;
	const struct screen_source *source;
	const struct screen_diff *diff; /* NULL: tables are shown */
	struct terminal *terminal;
	struct text_index *texts; /* of queries */
	struct query query; /* what is shown */
	struct zoom *zooms; /* the queries before, the last one first to come back */
	size_t n_zooms, cap_zooms;
	struct query before_filter; /* while one is typed */
	const char *first_filter; /* of symbols, as the command line has it; or NULL */
	double least_branch; /* in percent, where there is no limit of rows */

	struct question *question; /* of the table */
	struct table *table; /* NULL: to be made anew */
	const struct hist *hist; /* of table->hists */
	size_t event; /* which of them */
	uint64_t made_ns, make_cost_ns;
	bool counting; /* a table is being made; the status line says so */
	struct row_list rows;
	uint64_t selected_id;
	size_t selected, top, left;
	bool whole_names;
	unsigned fitted; /* columns that the table's widths are for; 0: not yet */

	const struct view *views[VIEWS_DEEP];
	size_t n_views;
	struct prompt prompt;
	struct menu menu;
	struct shown_text text;
	struct code code;
	void (*printed)(struct screen *screen, struct output *output); /* what a prompt for a file's name is about */
	const struct zoom_row *chosen_from; /* zoom.c: the menu's lines are values of this row's key */
	struct str values; /* three texts a line, each ended by NUL: exact, shown, function */

	struct str message; /* in the status line until the next key */
	struct str scratch;
	struct str failed; /* why feeding ended */
	int fed; /* SCREEN_FED_*, or a negative errno */
	bool seen; /* there was a row */
	bool code_wanted; /* options->code has not been shown yet */
	bool dirty, leaving;
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
/* Lines between title and status. */
unsigned screen_body_lines(const struct screen *screen);
/* Text in a line of the body, counted from 0; what stands before the column `left` is not shown. */
void screen_put_line(struct screen *screen, unsigned line, const struct str *text, size_t left,
		     enum terminal_look look);
enum { MOVE_UP = 1, MOVE_DOWN, MOVE_PAGE_UP, MOVE_PAGE_DOWN, MOVE_FIRST, MOVE_LAST, MOVE_CLICK };
/* The line that a key leads to from line `at` of n, page lines being in sight. clicked: the line under the mouse. */
size_t screen_moved(int how, size_t at, size_t n, size_t page, size_t clicked);
/* A step to the right from the column `left` on, as long as lines that are so wide go on beyond the edge. */
size_t screen_scrolled(const struct screen *screen, size_t left, size_t step, size_t widest);
/* Columns up to the last that is not blank. */
size_t screen_line_columns(const struct str *line);
/* Opens the terminal, shows the first view until the user leaves, releases the screen. */
int screen_run_view(struct screen *screen, struct str *err);
/* Leaves the program, whatever lies on the rows. */
void act_leave(struct screen *screen, int argument);

/* ---- view_rows.c ---- */
/* The selected row stays what it was, where it is still there. */
void rows_renew(struct screen *screen);
const struct row *rows_selected(const struct screen *screen);
/*
 * The column of a key that says the same of all in the entry: in a hierarchy down to its own level. NULL: none
 * does.
 */
const struct column *rows_key_column(const struct table *table, const struct entry *entry, const char *key);
/* The selected row's function; NULL: it has none, or it is not known. */
const struct symbol *rows_selected_symbol(const struct screen *screen);
void act_move(struct screen *screen, int how);
enum { FOLD_ONE = 1, UNFOLD_BELOW, FOLD_BELOW, UNFOLD_ALL, FOLD_ALL };
void act_fold(struct screen *screen, int how);
void act_enter(struct screen *screen, int argument);
void act_scroll(struct screen *screen, int by);
void act_back(struct screen *screen, int key);
void act_whole_names(struct screen *screen, int argument);
void act_show_name(struct screen *screen, int argument);
/* The menu of all that can be done with the selected row. */
void act_menu(struct screen *screen, int argument);

/* ---- view_text.c ---- */
/* Shows screen->text.lines, which the caller has filled. */
void text_open(struct screen *screen, const char *title);
void act_text_move(struct screen *screen, int how);
void act_text_scroll(struct screen *screen, int by);
void act_close(struct screen *screen, int argument);
void act_help(struct screen *screen, int argument);
void act_notes(struct screen *screen, int argument);
void act_header(struct screen *screen, int argument);

/* ---- view_menu.c ---- */
/* Shows screen->menu.lines, which the caller has filled; chosen() is called with the line's number. */
void menu_open(struct screen *screen, const char *title, void (*chosen)(struct screen *screen, size_t i));
void act_menu_move(struct screen *screen, int how);
void act_menu_choose(struct screen *screen, int argument);

/* ---- view_prompt.c ---- */
void prompt_open(struct screen *screen, const char *label, const char *text, void (*changed)(struct screen *screen),
		 void (*done)(struct screen *screen, bool accepted));
/* The label, and of what is typed the end, as far as it fits; the cursor is after it. */
void prompt_add_line(const struct screen *screen, struct str *out);
void act_prompt_end(struct screen *screen, int accepted);
void act_prompt_delete(struct screen *screen, int all);

/* ---- zoom.c ---- */
enum zoom_kind {
	ZOOM_THREAD,
	ZOOM_DSO,
	ZOOM_COMM,
	ZOOM_CPU,
	ZOOM_SYMBOL,
	ZOOM_TIME,
	ZOOM_SOCKET,
	ZOOM_KERNEL,
	ZOOM_KINDS
};
void act_zoom(struct screen *screen, int kind);
/* One step, out of a zoom or of a filter that was typed; false: there was none. */
bool zoom_out(struct screen *screen);
/* "comm: callers, dso: libc.so.6" */
void zooms_add(const struct screen *screen, struct str *out);
void zooms_release(struct screen *screen);

/* ---- ask.c ---- */
void act_next_event(struct screen *screen, int step);
void act_filter(struct screen *screen, int argument);
void act_sort(struct screen *screen, int argument);
void act_fields(struct screen *screen, int argument);
void act_limit(struct screen *screen, int argument);
void act_children(struct screen *screen, int argument);
void act_hierarchy(struct screen *screen, int argument);
void act_order(struct screen *screen, int argument);
void act_samples(struct screen *screen, int argument);
void act_period(struct screen *screen, int argument);
void act_relative(struct screen *screen, int argument);
void act_group(struct screen *screen, int argument);
void act_group_sort(struct screen *screen, int member);
void act_zero(struct screen *screen, int argument);
void act_pause(struct screen *screen, int argument);

/* ---- view_code.c ---- */
/* Before the table goes. */
void code_forget(struct code *code);
void code_release(struct code *code);
/* The hottest instruction's line (step 0), or of those less hot than `from` the next one. SIZE_MAX: none. */
size_t code_hottest(const struct code *code, size_t from, int step);
void act_annotate(struct screen *screen, int argument);
/* Shows the function that options->code wants, or why it can't be shown. */
void code_begin(struct screen *screen);
void act_code_move(struct screen *screen, int how);
void act_code_hottest(struct screen *screen, int step);
void act_code_scroll(struct screen *screen, int by);
void act_code_enter(struct screen *screen, int argument);
void act_code_neighbour(struct screen *screen, int step);
void act_code_back(struct screen *screen, int argument);
void act_code_flip(struct screen *screen, int member);
void act_code_values(struct screen *screen, int argument);
void act_code_scope(struct screen *screen, int argument);
void act_code_base(struct screen *screen, int argument);
void act_code_search(struct screen *screen, int step);
void code_print(struct screen *screen, struct output *output);

/* ---- view_diff.c ---- */
void diff_print_shown(struct screen *screen, struct output *output);
void diff_print_graph(struct screen *screen, struct output *output);
void act_diff_move(struct screen *screen, int how);
void act_diff_scroll(struct screen *screen, int by);
void act_diff_event(struct screen *screen, int step);
void act_diff_row(struct screen *screen, int argument);

/* ---- save.c ---- */
enum { SAVE_TABLE, SAVE_CODE, SAVE_GRAPH };
void act_save(struct screen *screen, int what);

#endif
