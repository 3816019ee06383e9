/* SPDX-License-Identifier: MIT */
/*
 * terminal: characters on a terminal, keys from it. One of terminal_ncurses.c and terminal_ncurses_none.c is in
 * the program; no caller knows which. Private to screen/.
 *
 * Texts are UTF-8 as str_add_printable leaves them; where the terminal has no UTF-8 arrows become those of ASCII, and
 * other characters '?'.
 * What is beyond the edges is cut.
 */
#ifndef PSTAT_SCREEN_TERMINAL_H
#define PSTAT_SCREEN_TERMINAL_H

#include "util/util.h"

/* Keys are characters, or these. */
enum terminal_key {
	KEY_NOTHING, /* the time is over */
	KEY_TAB = '\t',
	KEY_RETURN = '\r',
	KEY_ESCAPE = 27,
	KEY_DELETE = 127, /* backspace */
	KEY_OF_TERMINAL = 0x110000, /* after all characters */
	KEY_GO_UP,
	KEY_GO_DOWN,
	KEY_GO_LEFT,
	KEY_GO_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST, /* Home */
	KEY_LAST, /* End */
	KEY_BACK_TAB,
	KEY_HELP_F1,
	KEY_CLICK, /* terminal_click says where */
	KEY_WHEEL_UP,
	KEY_WHEEL_DOWN,
	KEY_SIZE, /* the terminal has another size */
	KEY_GONE, /* the terminal is gone: no key will come */
};

/* How text looks. Without colours they differ by brightness, or not at all. */
enum terminal_look {
	LOOK_PLAIN,
	LOOK_SELECTED,
	LOOK_HEAD, /* heads of columns */
	LOOK_BAR, /* title and status */
	LOOK_HOT, /* much: red */
	LOOK_WARM, /* some: green */
	LOOK_DIM, /* rails, what is less important */
	LOOK_SOURCE, /* lines of source among code: blue */
	LOOKS,
};

struct terminal;
/* -ENOSYS: built without; another negative errno: the library can't be loaded, with a sentence. */
int terminal_try(struct str *err);
/*
 * Takes the terminal of standard input and output; with a sentence -ENOSYS, -ENOTTY (no terminal, or one that
 * terminfo does not know) or another negative errno. One at a time. utf8: may it show UTF-8?
 */
int terminal_open(struct terminal **terminal, bool color, bool utf8, struct str *err);
/* Puts the terminal back as it was before. NULL is fine. */
void terminal_close(struct terminal *terminal);
unsigned terminal_height(const struct terminal *terminal);
unsigned terminal_width(const struct terminal *terminal);
/* Blanks everywhere; then text, which is shown when all is there. */
void terminal_clear(struct terminal *terminal);
/* From a line and column on, at most `columns` columns. */
void terminal_put(struct terminal *terminal, unsigned line, unsigned column, unsigned columns, const char *text,
		  size_t n, enum terminal_look look);
/* Line and column of the cursor; line beyond the last: none. */
void terminal_show(struct terminal *terminal, unsigned line, unsigned column);
/* The next key; waits for it timeout_ms, -1: for ever. */
int terminal_key(struct terminal *terminal, int timeout_ms);
/* The line of the mouse for KEY_CLICK. */
unsigned terminal_click(const struct terminal *terminal);

#endif
