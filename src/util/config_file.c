/* SPDX-License-Identifier: MIT */
/* config_file: one pass over the lines; a value is unquoted over its own text. */
#include "util/util.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONFIG_BYTES_MAX = 1 << 20 };

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t\r");
}

static void lower(char *text)
{
	for (; *text; text++)
		*text = (char)tolower((unsigned char)*text);
}

/* The value after "=", without quotes, comment and blanks at the end; written over the text itself. */
static char *unquote(char *text)
{
	char *from = skip_blanks(text), *to = text, *end = text;
	bool quoted = false;

	for (; *from && (quoted || (*from != '#' && *from != ';')); from++) {
		if (*from == '"') {
			quoted = !quoted;
			continue;
		}
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
		if (quoted || !isspace((unsigned char)*from))
			end = to;
	}
	*end = '\0';
	return text;
}

/* "name = value" or "name" in a section. */
static void take_line(char *line, const char *section, unsigned number, config_fn *take, void *context)
{
	char *name = line, *at = line + strcspn(line, " \t\r=#;"), yes[] = "true", *value = yes, *key;
	bool set = *skip_blanks(at) == '=';

	if (at == name)
		return;
	if (set)
		value = unquote(skip_blanks(at) + 1);
	*at = '\0';
	lower(name);
	key = xasprintf("%s.%s", section, name);
	take(context, key, value, number);
	free(key);
}

void config_parse(char *text, config_fn *take, void *context)
{
	char *section = NULL, *line;
	unsigned number = 0;

	while ((line = strsep(&text, "\n")) != NULL) {
		number++;
		line = skip_blanks(line);
		if (*line == '[') {
			char *end = strchr(line, ']');

			section = end ? line + 1 : NULL;
			if (!end)
				continue;
			*end = '\0';
			lower(section);
			line = skip_blanks(end + 1);
		}
		if (section)
			take_line(line, section, number, take, context);
	}
}

int config_read(const char *path, config_fn *take, void *context, struct str *why)
{
	const struct foreign_options options = { .bytes_max = CONFIG_BYTES_MAX };
	struct stat st;
	int fd = foreign_open_here(path, &options, &st, why), rc = 0;
	char *text = NULL;
	ssize_t got;

	if (fd < 0)
		return fd;
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		rc = fail(why, -EPERM, "it is another user's");
	} else {
		text = xmalloc((size_t)st.st_size + 1);
		got = pread(fd, text, (size_t)st.st_size, 0);
		if (got < 0)
			rc = fail(why, -errno, "%s", strerror(errno));
		else
			text[got] = '\0', config_parse(text, take, context);
	}
	close(fd);
	free(text);
	return rc;
}

char *config_user_path(void)
{
	const char *named = getenv("PERF_CONFIG"), *home = getenv("HOME");

	if (named && *named)
		return xstrdup(named);
	return home && *home ? xasprintf("%s/.perfconfig", home) : NULL;
}
