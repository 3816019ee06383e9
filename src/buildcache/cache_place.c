/* SPDX-License-Identifier: MIT */
/*
 * cache_place: which folder is the cache.
 *
 *	--buildid-dir | $PERF_BUILDID_DIR | buildid.dir of perf's configuration | $HOME/.debug
 *
 * Source: perf-config(1).
 */
#include "buildcache/cache_internal.h"

#include <stdlib.h>

/* The last one counts. */
static void take_dir(void *context, const char *key, const char *value, unsigned line)
{
	char **dir = context;

	(void)line;
	if (strcmp(key, "buildid.dir") != 0 || !*value)
		return;
	free(*dir);
	*dir = xstrdup(value);
}

static char *dir_of_config(const char *path)
{
	struct str why = STR_INIT;
	char *dir = NULL;
	const struct config_reader reader = { .value = take_dir, .context = &dir };

	config_read(path, &reader, &why);
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
	char *path = config_user_path(), *value = path ? dir_of_config(path) : NULL, *dir;

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
