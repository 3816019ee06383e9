/* SPDX-License-Identifier: MIT */
/*
 * terminal without ncurses: there is none, and that is said; what would be browsed is printed. The other
 * functions are never called: nobody gets a terminal.
 */
#include "screen/screen_terminal.h"

#include <errno.h>

int terminal_try(struct str *err)
{
	(void)err;
	return -ENOSYS;
}

int terminal_open(struct terminal **terminal, bool color, bool utf8, struct str *err)
{
	(void)color, (void)utf8;
	*terminal = NULL;
	return fail(err, -ENOSYS, "ncurses was left out of this pstat");
}

void terminal_close(struct terminal *terminal)
{
	(void)terminal;
}

unsigned terminal_height(const struct terminal *terminal)
{
	(void)terminal;
	return 0;
}

unsigned terminal_width(const struct terminal *terminal)
{
	(void)terminal;
	return 0;
}

void terminal_clear(struct terminal *terminal)
{
	(void)terminal;
}

void terminal_put(struct terminal *terminal, unsigned line, unsigned column, unsigned columns, const char *text,
		  size_t n, enum terminal_look look)
{
	(void)terminal, (void)line, (void)column, (void)columns, (void)text, (void)n, (void)look;
}

void terminal_show(struct terminal *terminal, unsigned line, unsigned column)
{
	(void)terminal, (void)line, (void)column;
}

int terminal_key(struct terminal *terminal, int timeout_ms)
{
	(void)terminal, (void)timeout_ms;
	return KEY_GONE;
}

unsigned terminal_click(const struct terminal *terminal)
{
	(void)terminal;
	return 0;
}
