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

enum { COLUMNS_MAX = 65535 };

unsigned terminal_columns(int fd)
{
	const char *wanted = getenv("COLUMNS");
	struct winsize size = { 0 };
	long columns;

	if (!isatty(fd))
		return 0;
	if (wanted && !parse_int(wanted, 1, COLUMNS_MAX, &columns))
		return (unsigned)columns;
	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

unsigned terminal_columns_for(int fd, const char *sentence)
{
	return strstr(sentence, "sudo ") ? 0 : terminal_columns(fd);
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
