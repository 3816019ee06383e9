/* SPDX-License-Identifier: MIT */
/*
 * How wide lines may be is asked once, before anything is written: a terminal that is made wider later has to wait
 * for the next run, and a pager that is told to chop lines gets them as wide as its terminal.
 *
 * The locale is looked at for one thing only: whether the terminal shows UTF-8. Its name says so; to load it would
 * cost reading files.
 */
#include "cmd/terminal.h"

#include "util/util.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SIZE_MOST = 65535 };

static bool ask_size(int fd, const char *variable, struct winsize *size, long *wanted)
{
	const char *text = getenv(variable);

	*wanted = 0;
	if (!isatty(fd))
		return false;
	return (text && !parse_int(text, 1, SIZE_MOST, wanted)) || !ioctl(fd, TIOCGWINSZ, size);
}

unsigned terminal_columns(int fd)
{
	struct winsize size = { 0 };
	long wanted;

	if (!ask_size(fd, "COLUMNS", &size, &wanted))
		return 0;
	return wanted ? (unsigned)wanted : size.ws_col;
}

unsigned terminal_lines(int fd)
{
	struct winsize size = { 0 };
	long wanted;

	if (!ask_size(fd, "LINES", &size, &wanted))
		return 0;
	return wanted ? (unsigned)wanted : size.ws_row;
}

unsigned terminal_columns_for(int fd, const char *sentence)
{
	return strstr(sentence, "sudo ") ? 0 : terminal_columns(fd);
}

bool terminal_takes_keys(void)
{
	const char *name = getenv("TERM");

	return name && *name && strcmp(name, "dumb") != 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool color_wanted(enum color_mode mode, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (mode == COLOR_ALWAYS || mode == COLOR_NEVER)
		return mode == COLOR_ALWAYS;
	return !(no_color && *no_color) && isatty(fd) && term && strcmp(term, "dumb") != 0;
}

/* The first that is set decides, as in locale(7). */
static const char *locale_of_letters(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return value;
	}
	return "";
}

const char *terminal_dots(void)
{
	const char *set = strchr(locale_of_letters(), '.');

	if (set && (!strncasecmp(set, ".utf-8", 6) || !strncasecmp(set, ".utf8", 5)))
		return "\xe2\x80\xa6";
	return "...";
}
