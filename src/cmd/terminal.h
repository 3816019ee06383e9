/* SPDX-License-Identifier: MIT */
/*
 * terminal: what a descriptor's terminal can show. Private to cmd/.
 */
#ifndef PSTAT_TERMINAL_H
#define PSTAT_TERMINAL_H

#include <stdbool.h>

/*
 * The columns of the terminal that fd is: $COLUMNS, else its own. 0: it is not a terminal, or one that does not
 * know its size; text is then not made to fit.
 */
unsigned terminal_columns(int fd);
/* The lines of the terminal: $LINES, else its own; 0 likewise. */
unsigned terminal_lines(int fd);
/* terminal_columns for a sentence; 0 where it has a command in it: a line's end would be copied with that. */
unsigned terminal_columns_for(int fd, const char *sentence);
/* Is there a terminal for a browser, as far as is known without trying? Keys come from standard input. */
bool terminal_takes_keys(void);
enum color_mode { COLOR_DEFAULT, COLOR_ALWAYS, COLOR_NEVER, COLOR_AUTO };
/*
 * Colours wanted? By default and with COLOR_AUTO: on terminals that are not dumb and where NO_COLOR is not set
 * (https://no-color.org). Ask before pager_open(), which changes standard output.
 */
bool color_wanted(enum color_mode mode, int fd);
/* The dots for a left out part of a name: one character where the locale has it, else "...". */
const char *terminal_dots(void);

#endif
