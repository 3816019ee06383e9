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
/* Its lines: $LINES, else its own; 0 likewise. */
unsigned terminal_lines(int fd);
/* terminal_columns for a sentence; 0 where it has a command in it: a line's end would be copied with that. */
unsigned terminal_columns_for(int fd, const char *sentence);
/* Whether there is a terminal for a browser, as far as can be told without trying: keys come from standard input. */
bool terminal_takes_keys(void);
/* What stands for a left out part of a name: one character where the locale has it, else "...". */
const char *terminal_dots(void);

#endif
