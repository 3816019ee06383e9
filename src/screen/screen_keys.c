/* SPDX-License-Identifier: MIT */
/*
 * The keys: one row each, which says everything about it: what is pressed, where it works, what the help says,
 * what it does, and whether it has something to do. perf's keys are the same where perf has one.
 *
 * To add one: a row here; its place in pstat-report(1) (tests/unit/test_screen_keys.c compares the two); a line
 * in tests/cli/browser.sh that presses it.
 */
#include "screen/screen_internal.h"

enum { CTRL_U = 'U' - '@', NAMES_COLUMNS = 18 };
/* Views in which a line is selected; those the wheel moves; those that go sideways by the same keys. */
enum {
	SELECTING = VIEW_ANY & ~VIEW_TEXT,
	WHEELED = VIEW_ANY & ~VIEW_MENU,
	SIDEWAYS = VIEW_ROWS | VIEW_TEXT | VIEW_DIFF,
	HELPED = VIEW_ROWS | VIEW_CODE | VIEW_DIFF,
};

/* ---- where keys have something to do ---- */

static bool has_chains(const struct screen *screen)
{
	return events_sample_types(screen->source->recording->events) & PERF_SAMPLE_CALLCHAIN;
}

static bool has_folds(const struct screen *screen)
{
	return has_chains(screen) || screen->query.view == VIEW_HIERARCHY;
}

static bool has_switches(const struct screen *screen)
{
	return events_have_switches(screen->source->recording->events);
}

static bool has_other_events(const struct screen *screen)
{
	return screen->table && screen_has_next_event(screen);
}

static bool has_group(const struct screen *screen)
{
	return screen->table && screen->hist->n_members > 1;
}

static bool can_group(const struct screen *screen)
{
	return has_group(screen) || (screen->table && screen->table->n_hists > 1);
}

static bool has_header(const struct screen *screen)
{
	return screen->source->header;
}

static bool can_zero(const struct screen *screen)
{
	return screen->source->zero;
}

/* ---- the keys ---- */

const struct key_row screen_keys[] = {
	{ { KEY_GO_UP }, "Up", VIEW_ANY, "the row above", .act_by = act_move, MOVE_UP },
	{ { KEY_GO_DOWN }, "Down", VIEW_ANY, "the row below", .act_by = act_move, MOVE_DOWN },
	{ { KEY_PAGE_UP }, "PgUp", VIEW_ANY, "a screen up", .act_by = act_move, MOVE_PAGE_UP },
	{ { KEY_PAGE_DOWN, ' ' }, "PgDn, Space", VIEW_ANY, "a screen down", .act_by = act_move, MOVE_PAGE_DOWN },
	{ { KEY_FIRST }, "Home", VIEW_ANY, "the first row", .act_by = act_move, MOVE_FIRST },
	{ { KEY_LAST }, "End", VIEW_ANY, "the last row", .act_by = act_move, MOVE_LAST },
	{ { KEY_CLICK }, "Click", SELECTING, "selects the row; the wheel moves", .act_by = act_move, MOVE_CLICK },
	{ { KEY_WHEEL_UP }, "Wheel up", WHEELED, NULL, .act_by = act_move, MOVE_UP },
	{ { KEY_WHEEL_DOWN }, "Wheel down", WHEELED, NULL, .act_by = act_move, MOVE_DOWN },
	{ { KEY_RETURN }, "Enter", VIEW_ROWS, "unfolds or folds the row, or opens its menu", .act = act_enter },
	{ { KEY_RETURN }, "Enter", VIEW_MENU, NULL, .act = act_menu_choose },
	{ { KEY_RETURN }, "Enter", VIEW_TEXT, NULL, .act = act_close },
	{ { KEY_RETURN }, "Enter", VIEW_PROMPT, NULL, .act = act_prompt_accept },
	{ { '+' }, "+", VIEW_ROWS, "unfolds or folds one level of the row", .act = act_fold_row, .works = has_folds },
	{ { 'e' }, "e", VIEW_ROWS, "unfolds all below the row",
	  .act_by = act_fold_below, UNFOLD, .works = has_folds },
	{ { 'c' }, "c", VIEW_ROWS, "folds all below the row", .act_by = act_fold_below, FOLD, .works = has_folds },
	{ { 'E' }, "E", VIEW_ROWS, "unfolds all rows", .act_by = act_fold_all, UNFOLD, .works = has_folds },
	{ { 'C' }, "C", VIEW_ROWS, "folds all rows", .act_by = act_fold_all, FOLD, .works = has_folds },
	{ { 'g' }, "g", VIEW_ROWS, "call trees from the outermost caller, or from the function",
	  .act = act_order, .works = has_chains },
	{ { KEY_GO_RIGHT, '>' }, "Right, >", SIDEWAYS, "scrolls right, with whole names", .act_by = act_scroll, 1 },
	{ { '<' }, "<", SIDEWAYS, "scrolls left", .act_by = act_scroll, -1 },
	{ { KEY_GO_LEFT }, "Left", VIEW_ROWS, "scrolls left; at the left edge, does what Esc does", .act = act_left },
	{ { KEY_GO_LEFT }, "Left", VIEW_TEXT, NULL, .act_by = act_scroll, -1 },
	{ { KEY_ESCAPE }, "Esc", VIEW_ROWS, "a step back: out of a filter, a zoom, a text", .act = act_back },
	{ { KEY_ESCAPE }, "Esc", VIEW_TEXT, NULL, .act = act_close },
	{ { KEY_ESCAPE, KEY_GO_LEFT }, "Esc", VIEW_MENU, NULL, .act = act_close },
	{ { KEY_ESCAPE }, "Esc", VIEW_PROMPT, NULL, .act = act_prompt_cancel },
	{ { KEY_DELETE }, "Backspace", VIEW_PROMPT, "deletes the last letter", .act = act_prompt_delete },
	{ { CTRL_U }, "Ctrl-U", VIEW_PROMPT, "deletes the typed text", .act = act_prompt_delete_all },
	{ { 'm' }, "m", VIEW_ROWS, "the menu of the row", .act = act_menu },
	{ { 'a' }, "a", VIEW_ROWS, "annotate: the code of the function", .act = act_annotate },
	{ { 'D' }, "D", VIEW_ROWS, "data: the types that the row's samples touch", .act = act_types },
	{ { 't' }, "t", VIEW_ROWS, "zooms into a thread", .act_by = act_zoom, ZOOM_THREAD },
	{ { 'd' }, "d", VIEW_ROWS, "zooms into a file (dso)", .act_by = act_zoom, ZOOM_DSO },
	{ { 'k' }, "k", VIEW_ROWS, "zooms into the kernel", .act = act_zoom_kernel },
	{ { 'n' }, "n", VIEW_ROWS, "zooms into a task's name (comm)", .act_by = act_zoom, ZOOM_COMM },
	{ { 's' }, "s", VIEW_ROWS, "zooms into a function (symbol)", .act_by = act_zoom, ZOOM_SYMBOL },
	{ { 'u' }, "u", VIEW_ROWS, "zooms into a CPU", .act_by = act_zoom, ZOOM_CPU },
	{ { 'S' }, "S", VIEW_ROWS, "zooms into a socket", .act_by = act_zoom, ZOOM_SOCKET },
	{ { 'r' }, "r", VIEW_ROWS, "zooms into a number of threads that ran at once", .act_by = act_zoom,
	  ZOOM_PARALLELISM, .works = has_switches },
	{ { 'T' }, "T", VIEW_ROWS, "zooms into a span of time, as --time", .act = act_zoom_time },
	{ { '/' }, "/", VIEW_ROWS, "only functions with the typed text in their names", .act = act_filter },
	{ { 'o' }, "o", VIEW_ROWS, "sorts by other keys, as --sort", .act = act_sort },
	{ { 'O' }, "O", VIEW_ROWS, "chooses other columns, as --fields", .act = act_fields },
	{ { 'N' }, "N", VIEW_ROWS, "a column with the number of samples, or none", .act = act_samples },
	{ { 'p' }, "p", VIEW_ROWS, "a column with the sum of the periods, or none", .act = act_period },
	{ { 'l' }, "l", VIEW_ROWS, "rows by wall-clock time (--latency), or by CPU time",
	  .act = act_latency, .works = has_switches },
	{ { 'x' }, "x", VIEW_ROWS, "counts callees with their callers (--children), or not",
	  .act = act_children, .works = has_chains },
	{ { 'y' }, "y", VIEW_ROWS, "nested rows (--hierarchy), or flat", .act = act_hierarchy },
	{ { 'F' }, "F", VIEW_ROWS, "percentages of all samples, or of filtered ones", .act = act_relative },
	{ { 'I' }, "I", VIEW_ROWS, "shows samples of idle tasks (process 0), or hides them", .act = act_idle },
	{ { 'L' }, "L", VIEW_ROWS, "leaves out rows and branches below a percentage", .act = act_limit },
	{ { KEY_TAB }, "Tab", VIEW_ROWS, "the next event", .act_by = act_next_event, 1, .works = has_other_events },
	{ { KEY_BACK_TAB }, "Shift-Tab", VIEW_ROWS, "the event before",
	  .act_by = act_next_event, -1, .works = has_other_events },
	{ { 'G' }, "G", VIEW_ROWS, "all events side by side, or one after the other",
	  .act = act_group, .works = can_group },
	{ { '0' }, "0", VIEW_ROWS, "groups: sorts by the first event; 1 to 9: the next",
	  .act_by = act_group_sort, 0, .works = has_group },
	{ { '1' }, "1", VIEW_ROWS, NULL, .act_by = act_group_sort, 1 },
	{ { '2' }, "2", VIEW_ROWS, NULL, .act_by = act_group_sort, 2 },
	{ { '3' }, "3", VIEW_ROWS, NULL, .act_by = act_group_sort, 3 },
	{ { '4' }, "4", VIEW_ROWS, NULL, .act_by = act_group_sort, 4 },
	{ { '5' }, "5", VIEW_ROWS, NULL, .act_by = act_group_sort, 5 },
	{ { '6' }, "6", VIEW_ROWS, NULL, .act_by = act_group_sort, 6 },
	{ { '7' }, "7", VIEW_ROWS, NULL, .act_by = act_group_sort, 7 },
	{ { '8' }, "8", VIEW_ROWS, NULL, .act_by = act_group_sort, 8 },
	{ { '9' }, "9", VIEW_ROWS, NULL, .act_by = act_group_sort, 9 },
	{ { 'w' }, "w", VIEW_ROWS, "whole names, or names that fit", .act = act_whole_names },
	{ { 'W' }, "W", VIEW_ROWS, "the whole row, with nothing shortened", .act = act_show_name },
	{ { '!' }, "!", VIEW_ANY, "the notes: what is lost or in doubt", .act = act_notes },
	{ { 'i' }, "i", VIEW_ROWS, "the header of the recording", .act = act_header, .works = has_header },
	{ { 'P' }, "P", VIEW_ROWS, "prints the table to a file", .act = act_save_table },
	{ { 'f', 'V' }, "f, V", VIEW_ROWS, "writes the flame graph of what is shown to a file",
	  .act = act_save_graph },
	{ { 'f' }, "f", VIEW_LIVE, "pstat top: stops taking samples, or goes on", .act = act_pause },
	{ { 'z' }, "z", VIEW_ROWS, "pstat top: forgets what was counted so far", .act = act_zero, .works = can_zero },
	{ { '?', 'h', KEY_HELP_F1 }, "?, h, F1", HELPED, "the keys of this view", .act = act_help },
	{ { 'q' }, "q", VIEW_ROWS | VIEW_DIFF, "leaves; so does Ctrl-C, at any time", .act = act_leave },
	{ { 'q' }, "q", VIEW_TEXT | VIEW_MENU, NULL, .act = act_close },
	/* Keys of the code: after all others, as the help has them. */
	{ { KEY_RETURN }, "Enter", VIEW_CODE, "goes to the target of a jump, or into the called function",
	  .act = act_code_enter },
	{ { KEY_GO_RIGHT }, "Right", VIEW_CODE, "scrolls right", .act_by = act_scroll, 1 },
	{ { KEY_GO_LEFT }, "Left", VIEW_CODE, "scrolls left; at the left edge, does what Esc does",
	  .act_by = act_scroll, -1 },
	{ { KEY_ESCAPE, 'q' }, "Esc, q", VIEW_CODE, "back to the function before, or to the table",
	  .act = act_code_back },
	{ { 'H' }, "H", VIEW_CODE, "the hottest instruction", .act_by = act_code_hottest, 0 },
	{ { KEY_TAB }, "Tab", VIEW_CODE, "the next hottest instruction", .act_by = act_code_hottest, 1 },
	{ { KEY_BACK_TAB }, "Shift-Tab", VIEW_CODE, "the previous one, which is hotter",
	  .act_by = act_code_hottest, -1 },
	{ { '>' }, ">", VIEW_CODE, "the function with the next most samples", .act_by = act_code_neighbour, 1 },
	{ { '<' }, "<", VIEW_CODE, "the previous function, which has more", .act_by = act_code_neighbour, -1 },
	{ { '/' }, "/", VIEW_CODE, "searches the lines for the typed text", .act = act_code_search },
	{ { 'n' }, "n", VIEW_CODE, "the next line with that text", .act_by = act_code_search_on, 1 },
	{ { 'N' }, "N", VIEW_CODE, "the previous line with that text", .act_by = act_code_search_on, -1 },
	{ { 's' }, "s", VIEW_CODE, "shows lines of source, or hides them", .act_by = act_code_flip, CODE_SOURCE },
	{ { 't' }, "t", VIEW_CODE, "percentages, periods or numbers of samples", .act = act_code_values },
	{ { 'p' }, "p", VIEW_CODE, "percentages of the function, or of all samples", .act = act_code_scope },
	{ { 'b' }, "b", VIEW_CODE, "percentages of periods, or of samples", .act = act_code_base },
	{ { 'k' }, "k", VIEW_CODE, "sums by line, and the line of each hot instruction",
	  .act_by = act_code_flip, CODE_LINES },
	{ { 'l' }, "l", VIEW_CODE, "shows folders of source files, or hides them",
	  .act_by = act_code_flip, CODE_PATHS },
	{ { 'i' }, "i", VIEW_CODE, "the syntax of x86: att or intel", .act_by = act_code_flip, CODE_SYNTAX },
	{ { 'o' }, "o", VIEW_CODE, "shows the bytes of instructions, or hides them",
	  .act_by = act_code_flip, CODE_BYTES },
	{ { 'j' }, "j", VIEW_CODE, "shows arrows at jumps, calls and returns, or hides them",
	  .act_by = act_code_flip, CODE_ARROWS },
	{ { 'T' }, "T", VIEW_CODE, "shows the types of data beside the instructions",
	  .act_by = act_code_flip, CODE_TYPES },
	{ { 'P' }, "P", VIEW_CODE, "prints the code to a file", .act = act_code_save },
	/* Keys of pstat diff. */
	{ { KEY_RETURN, 'W' }, "Enter, W", VIEW_DIFF, "the whole row", .act = act_diff_row },
	{ { KEY_GO_LEFT }, "Left", VIEW_DIFF, "scrolls left", .act_by = act_scroll, -1 },
	{ { KEY_TAB }, "Tab", VIEW_DIFF, "the next event", .act_by = act_diff_event, 1,
	  .works = diff_has_other_events },
	{ { KEY_BACK_TAB }, "Shift-Tab", VIEW_DIFF, "the event before", .act_by = act_diff_event, -1,
	  .works = diff_has_other_events },
	{ { 'P' }, "P", VIEW_DIFF, "prints the table to a file", .act = act_diff_save },
	{ { 'f', 'V' }, "f, V", VIEW_DIFF, "writes the flame graph of the difference to a file",
	  .act = act_diff_save_graph },
};
const size_t n_screen_keys = ARRAY_SIZE(screen_keys);

const struct key_row *screen_key_find(unsigned view, int key)
{
	for (size_t i = 0; i < n_screen_keys; i++) {
		const struct key_row *row = &screen_keys[i];

		for (size_t k = 0; k < KEYS_OF_ROW && row->views & view; k++)
			if (row->keys[k] && row->keys[k] == key)
				return row;
	}
	return NULL;
}

void screen_key_act(struct screen *screen, const struct key_row *row)
{
	if (row->act)
		row->act(screen);
	else
		row->act_by(screen, row->by);
}

const struct key_row *screen_key_of(const struct screen *screen, int key)
{
	const struct view *top = screen->views[screen->n_views - 1];
	bool live = top == &view_rows && screen->source->pause;
	const struct key_row *row = live ? screen_key_find(VIEW_LIVE, key) : NULL;

	return row ? row : screen_key_find(top->bit, key);
}

/* Adds those names of a row whose keys lead to it: in a live view another row has `f`. False: there are none. */
static bool add_names(const struct screen *screen, const struct key_row *row, struct str *out)
{
	const char *name = row->names;
	const size_t before = out->len;

	for (size_t k = 0; k < KEYS_OF_ROW && *name; k++) {
		const size_t n = strcspn(name, ",");

		if (screen_key_of(screen, row->keys[k]) == row) {
			str_add(out, out->len > before ? ", " : "");
			str_addn(out, name, n);
		}
		name += n;
		name += strspn(name, ", ");
	}
	return out->len > before;
}

/* Adds the keys that only one view has, or those that several have. */
static void add_keys(const struct screen *screen, bool shared, struct str *out)
{
	struct str names = STR_INIT;

	for (size_t i = 0; i < n_screen_keys; i++) {
		const struct key_row *row = &screen_keys[i];

		str_reset(&names);
		if (row->help && !(row->views & (row->views - 1)) == !shared && add_names(screen, row, &names) &&
		    (!row->works || row->works(screen)))
			str_addf(out, "%-*s %s\n", NAMES_COLUMNS, names.s, row->help);
	}
	str_release(&names);
}

void screen_keys_add(const struct screen *screen, struct str *out)
{
	add_keys(screen, false, out);
	str_add(out, "\nAs in other views:\n");
	add_keys(screen, true, out);
}
