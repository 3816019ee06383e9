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

/*
 * The value after "=", without quotes, comment and blanks at the end; written over the text itself. NULL: a quote is
 * not closed.
 */
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
	return quoted ? NULL : text;
}

static bool is_end(char byte)
{
	return !byte || byte == '#' || byte == ';';
}

/*
 * "name = value" or "name" in a section; section NULL: above the first one. NULL, or what is damaged.
 */
static const char *take_line(char *line, const char *section, unsigned number, const struct config_reader *reader)
{
	char *name = line, *at = line + strcspn(line, " \t\r=#;"), *rest = skip_blanks(at);
	char yes[] = "true", *value = yes, *key;

	if (is_end(*line))
		return NULL;
	if (!section)
		return "no [section] is above it";
	if (at == name)
		return "no name is before the =";
	if (*rest == '=')
		value = unquote(rest + 1);
	else if (!is_end(*rest))
		return "no = is after the name";
	if (!value)
		return "a quote is not closed";
	*at = '\0';
	lower(name);
	key = xasprintf("%s.%s", section, name);
	reader->value(reader->context, key, value, number);
	free(key);
	return NULL;
}

/* Cuts off the section's name, in lower case; returns what comes after it in the line. NULL: it is damaged. */
static char *end_of_section(char *name, const char **why)
{
	char *end = strchr(name, ']');

	*why = !end ? "[ has no ], so nothing up to the next section is used" : "the section has no name";
	if (!end || end == name)
		return NULL;
	*why = NULL;
	*end = '\0';
	lower(name);
	return end + 1;
}

void config_parse(char *text, const struct config_reader *reader)
{
	char *section = NULL, *line;
	bool lost = false; /* the section's own line is damaged, and was reported */
	unsigned number = 0;

	while ((line = strsep(&text, "\n")) != NULL) {
		const char *why = NULL;

		number++;
		line = skip_blanks(line);
		if (*line == '[') {
			section = line + 1;
			line = end_of_section(section, &why);
			lost = !line;
			line = line ? skip_blanks(line) : NULL;
		}
		if (!lost)
			why = take_line(line, section, number, reader);
		if (why && reader->damage)
			reader->damage(reader->context, number, why);
	}
}

/* Reports a byte 0, which ends the text, with the number of its line. */
static void report_zero(const char *text, size_t n, const struct config_reader *reader)
{
	const char *zero = memchr(text, '\0', n);
	unsigned line = 1;

	if (!zero || !reader->damage)
		return;
	for (const char *at = text; at < zero; at++)
		line += *at == '\n';
	reader->damage(reader->context, line, "a byte 0 ends the text here");
}

int config_read(const char *path, const struct config_reader *reader, struct str *why)
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
		text[got < 0 ? 0 : got] = '\0';
		report_zero(text, got < 0 ? 0 : (size_t)got, reader);
		config_parse(text, reader);
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
