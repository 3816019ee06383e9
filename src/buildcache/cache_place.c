/* SPDX-License-Identifier: MIT */
/*
 * cache_place: which folder is the cache.
 *
 *	--buildid-dir | $PERF_BUILDID_DIR | buildid.dir of perf's configuration | $HOME/.debug
 *
 * perf's configuration is what git's is: sections in brackets, names and values between which a = stands, values that
 * may be quoted, comments after # and ;. Only this one value is looked for; the last one counts. As perf does, a
 * file that is neither ours nor root's is not believed.
 *
 * Source: perf-config(1); git-config(1), "Syntax".
 */
#include "buildcache/cache_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONFIG_BYTES_MAX = 1 << 20 };

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t\r");
}

/* The value after "=", without quotes, comment and blanks at the end; written over the text itself. */
static char *config_value(char *text)
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

/* The value of "dir = ..."; NULL: the line is another one. */
static char *dir_value(char *line)
{
	static const char key[] = "dir";
	char *at = skip_blanks(line);

	if (strncasecmp(at, key, strlen(key)) != 0)
		return NULL;
	at = skip_blanks(at + strlen(key));
	return *at == '=' ? config_value(at + 1) : NULL;
}

char *cache_config_dir(char *text)
{
	static const char section[] = "[buildid]";
	bool within = false;
	char *dir = NULL, *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		char *value;

		line = skip_blanks(line);
		if (*line == '[') {
			within = !strncasecmp(line, section, strlen(section));
			line += within ? strlen(section) : strlen(line);
		}
		value = within ? dir_value(line) : NULL;
		if (value && *value) {
			free(dir);
			dir = xstrdup(value);
		}
	}
	return dir;
}

static char *dir_of_config(const char *path)
{
	const struct foreign_options options = { .bytes_max = CONFIG_BYTES_MAX };
	struct str why = STR_INIT;
	struct stat st;
	char *text = NULL, *dir = NULL;
	int fd = foreign_open_here(path, &options, &st, &why);
	ssize_t got = -1;

	if (fd >= 0 && (st.st_uid == geteuid() || st.st_uid == 0)) {
		text = xmalloc((size_t)st.st_size + 1);
		got = pread(fd, text, (size_t)st.st_size, 0);
	}
	if (got >= 0) {
		text[got] = '\0';
		dir = cache_config_dir(text);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	str_release(&why);
	return dir;
}

/* NULL or "" are the same: not set. */
static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static char *configured(const char *home)
{
	const char *named = setting("PERF_CONFIG");
	char *path, *value, *dir;

	if (!named && !home)
		return NULL;
	path = named ? xstrdup(named) : xasprintf("%s/.perfconfig", home);
	value = dir_of_config(path);
	free(path);
	if (!value || strncmp(value, "~/", 2) != 0 || !home)
		return value;
	dir = xasprintf("%s%s", home, value + 1);
	free(value);
	return dir;
}

char *build_cache_place(const char *dir)
{
	const char *home = setting("HOME"), *named = dir ? dir : setting("PERF_BUILDID_DIR");
	char *place = named ? xstrdup(named) : configured(home);

	if (!place)
		return home ? xasprintf("%s/.debug", home) : NULL;
	if (strcmp(place, "/dev/null") != 0)
		return place;
	free(place);
	return NULL;
}
