/*
 * The keys: one row each, which says everything about it: what is pressed, where it works, what the help says,
 * what it does. perf's keys are the same where perf has one.
 *
 * To add one: a row here; its place in pstat-report(1) (tests/unit/test_screen_keys.c compares the two); a line
 * in tests/cli/browser.sh that presses it.
 */
#include "screen/screen_internal.h"

enum { CTRL_U = 'U' - '@', NAMES_COLUMNS = 18 };

#define CODE_FLIP(member) act_code_flip, offsetof(struct code, member)

const struct key_row screen_keys[] = {
	{ { KEY_GO_UP }, "Up", VIEW_ROWS, "the row above", act_move, MOVE_UP },
	{ { KEY_GO_UP }, "Up", VIEW_TEXT, NULL, act_text_move, MOVE_UP },
	{ { KEY_GO_UP }, "Up", VIEW_MENU, NULL, act_menu_move, MOVE_UP },
	{ { KEY_GO_DOWN }, "Down", VIEW_ROWS, "the row below", act_move, MOVE_DOWN },
	{ { KEY_GO_DOWN }, "Down", VIEW_TEXT, NULL, act_text_move, MOVE_DOWN },
	{ { KEY_GO_DOWN }, "Down", VIEW_MENU, NULL, act_menu_move, MOVE_DOWN },
	{ { KEY_PAGE_UP }, "PgUp", VIEW_ROWS, "a screen up", act_move, MOVE_PAGE_UP },
	{ { KEY_PAGE_UP }, "PgUp", VIEW_TEXT, NULL, act_text_move, MOVE_PAGE_UP },
	{ { KEY_PAGE_UP }, "PgUp", VIEW_MENU, NULL, act_menu_move, MOVE_PAGE_UP },
	{ { KEY_PAGE_DOWN, ' ' }, "PgDn, Space", VIEW_ROWS, "a screen down", act_move, MOVE_PAGE_DOWN },
	{ { KEY_PAGE_DOWN, ' ' }, "PgDn, Space", VIEW_TEXT, NULL, act_text_move, MOVE_PAGE_DOWN },
	{ { KEY_PAGE_DOWN, ' ' }, "PgDn, Space", VIEW_MENU, NULL, act_menu_move, MOVE_PAGE_DOWN },
	{ { KEY_FIRST }, "Home", VIEW_ROWS, "the first row", act_move, MOVE_FIRST },
	{ { KEY_FIRST }, "Home", VIEW_TEXT, NULL, act_text_move, MOVE_FIRST },
	{ { KEY_FIRST }, "Home", VIEW_MENU, NULL, act_menu_move, MOVE_FIRST },
	{ { KEY_LAST }, "End", VIEW_ROWS, "the last row", act_move, MOVE_LAST },
	{ { KEY_LAST }, "End", VIEW_TEXT, NULL, act_text_move, MOVE_LAST },
	{ { KEY_LAST }, "End", VIEW_MENU, NULL, act_menu_move, MOVE_LAST },
	{ { KEY_CLICK }, "Click", VIEW_ROWS, "selects the row; the wheel moves", act_move, MOVE_CLICK },
	{ { KEY_CLICK }, "Click", VIEW_MENU, NULL, act_menu_move, MOVE_CLICK },
	{ { KEY_WHEEL_UP }, "Wheel up", VIEW_ROWS, NULL, act_move, MOVE_UP },
	{ { KEY_WHEEL_DOWN }, "Wheel down", VIEW_ROWS, NULL, act_move, MOVE_DOWN },
	{ { KEY_WHEEL_UP }, "Wheel up", VIEW_TEXT, NULL, act_text_move, MOVE_UP },
	{ { KEY_WHEEL_DOWN }, "Wheel down", VIEW_TEXT, NULL, act_text_move, MOVE_DOWN },
	{ { KEY_RETURN }, "Enter", VIEW_ROWS, "unfolds or folds the row; else its menu", act_enter, 0 },
	{ { KEY_RETURN }, "Enter", VIEW_MENU, NULL, act_menu_choose, 0 },
	{ { KEY_RETURN }, "Enter", VIEW_TEXT, NULL, act_close, 0 },
	{ { KEY_RETURN }, "Enter", VIEW_PROMPT, NULL, act_prompt_end, 1 },
	{ { '+' }, "+", VIEW_ROWS, "unfolds or folds one level of the row", act_fold, FOLD_ONE },
	{ { 'e' }, "e", VIEW_ROWS, "unfolds all below the row", act_fold, UNFOLD_BELOW },
	{ { 'c' }, "c", VIEW_ROWS, "folds all below the row", act_fold, FOLD_BELOW },
	{ { 'E' }, "E", VIEW_ROWS, "unfolds all rows", act_fold, UNFOLD_ALL },
	{ { 'C' }, "C", VIEW_ROWS, "folds all rows", act_fold, FOLD_ALL },
	{ { 'g' }, "g", VIEW_ROWS, "call trees from the caller in, or the function out", act_order, 0 },
	{ { KEY_GO_RIGHT, '>' }, "Right, >", VIEW_ROWS, "to the right, with whole names", act_scroll, 1 },
	{ { KEY_GO_RIGHT, '>' }, "Right, >", VIEW_TEXT, NULL, act_text_scroll, 1 },
	{ { '<' }, "<", VIEW_ROWS, "back to the left", act_scroll, -1 },
	{ { KEY_GO_LEFT }, "Left", VIEW_ROWS, "back to the left; there: as Esc", act_back, KEY_GO_LEFT },
	{ { KEY_GO_LEFT, '<' }, "Left", VIEW_TEXT, NULL, act_text_scroll, -1 },
	{ { KEY_ESCAPE }, "Esc", VIEW_ROWS, "a step back: out of a filter, a zoom, a text", act_back, KEY_ESCAPE },
	{ { KEY_ESCAPE }, "Esc", VIEW_TEXT, NULL, act_close, 0 },
	{ { KEY_ESCAPE, KEY_GO_LEFT }, "Esc", VIEW_MENU, NULL, act_close, 0 },
	{ { KEY_ESCAPE }, "Esc", VIEW_PROMPT, NULL, act_prompt_end, 0 },
	{ { KEY_DELETE }, "Backspace", VIEW_PROMPT, "takes the last letter back", act_prompt_delete, 0 },
	{ { CTRL_U }, "Ctrl-U", VIEW_PROMPT, "takes all that is typed back", act_prompt_delete, 1 },
	{ { 'm' }, "m", VIEW_ROWS, "the menu of what can be done with the row", act_menu, 0 },
	{ { 'a' }, "a", VIEW_ROWS, "annotate: the code of the function", act_annotate, 0 },
	{ { 't' }, "t", VIEW_ROWS, "zooms into a thread", act_zoom, ZOOM_THREAD },
	{ { 'd' }, "d", VIEW_ROWS, "zooms into a file (dso)", act_zoom, ZOOM_DSO },
	{ { 'k' }, "k", VIEW_ROWS, "zooms into the kernel", act_zoom, ZOOM_KERNEL },
	{ { 'n' }, "n", VIEW_ROWS, "zooms into a task's name (comm)", act_zoom, ZOOM_COMM },
	{ { 's' }, "s", VIEW_ROWS, "zooms into a function (symbol)", act_zoom, ZOOM_SYMBOL },
	{ { 'u' }, "u", VIEW_ROWS, "zooms into a CPU", act_zoom, ZOOM_CPU },
	{ { 'S' }, "S", VIEW_ROWS, "zooms into a socket", act_zoom, ZOOM_SOCKET },
	{ { 'T' }, "T", VIEW_ROWS, "zooms into a span of time, as --time has it", act_zoom, ZOOM_TIME },
	{ { '/' }, "/", VIEW_ROWS, "only functions with what is typed in their names", act_filter, 0 },
	{ { 'o' }, "o", VIEW_ROWS, "sorts by other keys, as --sort has them", act_sort, 0 },
	{ { 'O' }, "O", VIEW_ROWS, "other columns, as --fields has them", act_fields, 0 },
	{ { 'N' }, "N", VIEW_ROWS, "a column with the number of samples, or none", act_samples, 0 },
	{ { 'p' }, "p", VIEW_ROWS, "a column with the sum of the periods, or none", act_period, 0 },
	{ { 'x' }, "x", VIEW_ROWS, "with what functions called (--children), or without", act_children, 0 },
	{ { 'y' }, "y", VIEW_ROWS, "rows within rows (--hierarchy), or flat", act_hierarchy, 0 },
	{ { 'F' }, "F", VIEW_ROWS, "percentages of all, or of what filters left", act_relative, 0 },
	{ { 'L' }, "L", VIEW_ROWS, "leaves out rows and branches below a percentage", act_limit, 0 },
	{ { KEY_TAB }, "Tab", VIEW_ROWS, "the next event", act_next_event, 1 },
	{ { KEY_BACK_TAB }, "Shift-Tab", VIEW_ROWS, "the event before", act_next_event, -1 },
	{ { 'G' }, "G", VIEW_ROWS, "all events beside each other, or one after the other", act_group, 0 },
	{ { '0' }, "0", VIEW_ROWS, "groups: rows by the first event's numbers; so 1 to 9", act_group_sort, 0 },
	{ { '1' }, "1", VIEW_ROWS, NULL, act_group_sort, 1 },
	{ { '2' }, "2", VIEW_ROWS, NULL, act_group_sort, 2 },
	{ { '3' }, "3", VIEW_ROWS, NULL, act_group_sort, 3 },
	{ { '4' }, "4", VIEW_ROWS, NULL, act_group_sort, 4 },
	{ { '5' }, "5", VIEW_ROWS, NULL, act_group_sort, 5 },
	{ { '6' }, "6", VIEW_ROWS, NULL, act_group_sort, 6 },
	{ { '7' }, "7", VIEW_ROWS, NULL, act_group_sort, 7 },
	{ { '8' }, "8", VIEW_ROWS, NULL, act_group_sort, 8 },
	{ { '9' }, "9", VIEW_ROWS, NULL, act_group_sort, 9 },
	{ { 'w' }, "w", VIEW_ROWS, "whole names, or names that fit", act_whole_names, 0 },
	{ { 'W' }, "W", VIEW_ROWS, "all of this row, with nothing shortened", act_show_name, 0 },
	{ { '!' }, "!", VIEW_ANY, "losses and doubts", act_notes, 0 },
	{ { 'i' }, "i", VIEW_ROWS, "what the recording says of itself", act_header, 0 },
	{ { 'P' }, "P", VIEW_ROWS, "prints the table to a file", act_save, SAVE_TABLE },
	{ { 'f', 'V' }, "f, V", VIEW_ROWS, "writes the flame graph of what is shown to a file", act_save, SAVE_GRAPH },
	{ { 'f' }, "f", VIEW_LIVE, "pstat top: stops taking samples, or goes on", act_pause, 0 },
	{ { 'z' }, "z", VIEW_ROWS, "pstat top: forgets what was counted so far", act_zero, 0 },
	{ { '?', 'h', KEY_HELP_F1 }, "?, h, F1", VIEW_ROWS, "all keys", act_help, 0 },
	{ { 'q' }, "q", VIEW_ROWS, "leaves; so does Ctrl-C, at any time", act_leave, 0 },
	{ { 'q' }, "q", VIEW_TEXT | VIEW_MENU, NULL, act_close, 0 },
	/* Keys of the code: after all others, as the help has them. */
	{ { KEY_GO_UP }, "Up", VIEW_CODE, NULL, act_code_move, MOVE_UP },
	{ { KEY_GO_DOWN }, "Down", VIEW_CODE, NULL, act_code_move, MOVE_DOWN },
	{ { KEY_PAGE_UP }, "PgUp", VIEW_CODE, NULL, act_code_move, MOVE_PAGE_UP },
	{ { KEY_PAGE_DOWN, ' ' }, "PgDn, Space", VIEW_CODE, NULL, act_code_move, MOVE_PAGE_DOWN },
	{ { KEY_FIRST }, "Home", VIEW_CODE, NULL, act_code_move, MOVE_FIRST },
	{ { KEY_LAST }, "End", VIEW_CODE, NULL, act_code_move, MOVE_LAST },
	{ { KEY_CLICK }, "Click", VIEW_CODE, NULL, act_code_move, MOVE_CLICK },
	{ { KEY_WHEEL_UP }, "Wheel up", VIEW_CODE, NULL, act_code_move, MOVE_UP },
	{ { KEY_WHEEL_DOWN }, "Wheel down", VIEW_CODE, NULL, act_code_move, MOVE_DOWN },
	{ { KEY_RETURN }, "Enter", VIEW_CODE, "goes where a jump goes, or into what is called", act_code_enter, 0 },
	{ { KEY_GO_RIGHT }, "Right", VIEW_CODE, "to the right", act_code_scroll, 1 },
	{ { KEY_GO_LEFT }, "Left", VIEW_CODE, "back to the left; there: as Esc", act_code_scroll, -1 },
	{ { KEY_ESCAPE, 'q' }, "Esc, q", VIEW_CODE, "back to the function before, or to the table", act_code_back, 0 },
	{ { 'H' }, "H", VIEW_CODE, "the hottest instruction", act_code_hottest, 0 },
	{ { KEY_TAB }, "Tab", VIEW_CODE, "the next hottest one", act_code_hottest, 1 },
	{ { KEY_BACK_TAB }, "Shift-Tab", VIEW_CODE, "the one before, which is hotter", act_code_hottest, -1 },
	{ { '>' }, ">", VIEW_CODE, "the function with next most samples", act_code_neighbour, 1 },
	{ { '<' }, "<", VIEW_CODE, "the one before, which has more", act_code_neighbour, -1 },
	{ { '/' }, "/", VIEW_CODE, "searches the lines for what is typed", act_code_search, 0 },
	{ { 'n' }, "n", VIEW_CODE, "the next line with that", act_code_search, 1 },
	{ { 'N' }, "N", VIEW_CODE, "the line before with that", act_code_search, -1 },
	{ { 's' }, "s", VIEW_CODE, "with lines of source, or without", CODE_FLIP(options.no_source) },
	{ { 't' }, "t", VIEW_CODE, "percentages, periods or numbers of samples", act_code_values, 0 },
	{ { 'p' }, "p", VIEW_CODE, "percentages of the function, or of all", act_code_scope, 0 },
	{ { 'b' }, "b", VIEW_CODE, "percentages of periods, or of samples", act_code_base, 0 },
	{ { 'k' }, "k", VIEW_CODE, "sums by line, and the line of each hot instruction", CODE_FLIP(look.lines) },
	{ { 'l' }, "l", VIEW_CODE, "files of source with their folders, or without", CODE_FLIP(look.full_paths) },
	{ { 'i' }, "i", VIEW_CODE, "the syntax of x86: att or intel", CODE_FLIP(options.intel) },
	{ { 'o' }, "o", VIEW_CODE, "the bytes of instructions, or none", CODE_FLIP(look.raw_bytes) },
	{ { 'j' }, "j", VIEW_CODE, "arrows at jumps, calls and returns, or none", CODE_FLIP(look.arrows) },
	{ { 'P' }, "P", VIEW_CODE, "prints the code to a file", act_save, SAVE_CODE },
	{ { '?', 'h', KEY_HELP_F1 }, "?, h, F1", VIEW_CODE, NULL, act_help, 0 },
	/* Keys of pstat diff. */
	{ { KEY_GO_UP, KEY_WHEEL_UP }, "Up", VIEW_DIFF, NULL, act_diff_move, MOVE_UP },
	{ { KEY_GO_DOWN, KEY_WHEEL_DOWN }, "Down", VIEW_DIFF, NULL, act_diff_move, MOVE_DOWN },
	{ { KEY_PAGE_UP }, "PgUp", VIEW_DIFF, NULL, act_diff_move, MOVE_PAGE_UP },
	{ { KEY_PAGE_DOWN, ' ' }, "PgDn, Space", VIEW_DIFF, NULL, act_diff_move, MOVE_PAGE_DOWN },
	{ { KEY_FIRST }, "Home", VIEW_DIFF, NULL, act_diff_move, MOVE_FIRST },
	{ { KEY_LAST }, "End", VIEW_DIFF, NULL, act_diff_move, MOVE_LAST },
	{ { KEY_CLICK }, "Click", VIEW_DIFF, NULL, act_diff_move, MOVE_CLICK },
	{ { KEY_GO_RIGHT, '>' }, "Right, >", VIEW_DIFF, NULL, act_diff_scroll, 1 },
	{ { KEY_GO_LEFT, '<' }, "Left", VIEW_DIFF, NULL, act_diff_scroll, -1 },
	{ { KEY_RETURN, 'W' }, "Enter, W", VIEW_DIFF, "pstat diff: all of this row", act_diff_row, 0 },
	{ { KEY_TAB }, "Tab", VIEW_DIFF, NULL, act_diff_event, 1 },
	{ { KEY_BACK_TAB }, "Shift-Tab", VIEW_DIFF, NULL, act_diff_event, -1 },
	{ { 'P' }, "P", VIEW_DIFF, NULL, act_save, SAVE_TABLE },
	{ { 'f', 'V' }, "f, V", VIEW_DIFF, NULL, act_save, SAVE_GRAPH },
	{ { '?', 'h', KEY_HELP_F1 }, "?, h, F1", VIEW_DIFF, NULL, act_help, 0 },
	{ { 'q' }, "q", VIEW_DIFF, NULL, act_leave, 0 },
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

void screen_keys_add(struct str *out)
{
	unsigned before = VIEW_ROWS;

	for (size_t i = 0; i < n_screen_keys; i++) {
		if (!screen_keys[i].help)
			continue;
		if (screen_keys[i].views == VIEW_CODE && before != VIEW_CODE)
			str_add(out, "\nIn the code of a function (a):\n");
		before = screen_keys[i].views;
		str_addf(out, "%-*s %s\n", NAMES_COLUMNS, screen_keys[i].names, screen_keys[i].help);
	}
}
