/* SPDX-License-Identifier: MIT */
/*
 * A cgroup's name -> its folder, open; patterns -> names. perf events follow the perf_event hierarchy of cgroup v1
 * where one is mounted, else cgroup v2, in which they are always enabled.
 *
 * Source: cgroups(7), proc(5) for the escapes in mounts.
 */
#include "kern/slots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <sys/stat.h>

/* White space and backslash stand as \ooo in mounts; in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
		    at[3] >= '0' && at[3] <= '7') {
			*to = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

static bool has_option(char *options, const char *name)
{
	const char *option;

	while ((option = strsep(&options, ",")) != NULL) {
		if (!strcmp(option, name))
			return true;
	}
	return false;
}

bool cgroup_root(const struct host_paths *host, struct str *root)
{
	struct str text = STR_INIT;
	char *path = xasprintf("%s/mounts", host->procfs), *line, *rest;
	bool v1 = false;

	if (!read_text_file(path, &text)) {
		rest = text.len ? text.s : NULL;
		while (!v1 && (line = strsep(&rest, "\n")) != NULL) {
			char *dir, *type, *options;

			strsep(&line, " ");
			dir = strsep(&line, " ");
			type = strsep(&line, " ");
			options = strsep(&line, " ");
			if (!options)
				continue;
			v1 = !strcmp(type, "cgroup") && has_option(options, "perf_event");
			if (v1 || (!strcmp(type, "cgroup2") && !root->len)) {
				unescape(dir);
				str_reset(root);
				str_add(root, dir);
			}
		}
	}
	free(path);
	str_release(&text);
	return root->len != 0;
}

int cgroup_open(const char *name, const struct host_paths *host, struct str *err)
{
	struct str root = STR_INIT, shown = STR_INIT;
	int fd;

	str_add_printable(&shown, name, strlen(name));
	if (!cgroup_root(host, &root)) {
		fd = fail(err, -ENOENT,
			  "cgroup '%s': neither cgroup v2 nor a perf_event hierarchy is mounted",
			  shown.s);
	} else {
		str_addf(&root, "/%s", name);
		fd = open(root.s, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			fd = -errno;
			fail(err, fd, "cgroup '%s': ", shown.s);
			if (fd == -ENOENT || fd == -ENOTDIR)
				str_add(err, "there is no folder ");
			str_add_printable(err, root.s, root.len);
			if (fd != -ENOENT && fd != -ENOTDIR)
				str_addf(err, ": %s", strerror(-fd));
		}
	}
	str_release(&root);
	str_release(&shown);
	return fd;
}

/* ---- patterns ---- */

enum { PATTERNS_MAX = 64, CGROUPS_LOOKED_AT = 100000, CGROUPS_MATCHED = 1024 };

struct cgroup_search {
	regex_t patterns[PATTERNS_MAX];
	size_t n_patterns;
	size_t n_seen;
	struct str path; /* of the folder being looked at */
	size_t root_len;
	char *names[CGROUPS_MATCHED];
	size_t n_names;
	struct str *err;
};

static int add_pattern(struct cgroup_search *search, const char *text, size_t len)
{
	char *pattern = xstrndup(text, len), why[200];
	int code, rc = 0;

	if (search->n_patterns == PATTERNS_MAX) {
		rc = fail(search->err, -E2BIG, "--for-each-cgroup: more than %d patterns", PATTERNS_MAX);
	} else if (!len) {
		rc = fail(search->err, -EINVAL, "--for-each-cgroup: an empty name");
	} else {
		code = regcomp(&search->patterns[search->n_patterns], pattern, REG_NOSUB);
		if (code) {
			regerror(code, &search->patterns[search->n_patterns], why, sizeof(why));
			fail(search->err, 0, "--for-each-cgroup: '");
			str_add_printable(search->err, pattern, len);
			str_addf(search->err, "' is not a regular expression: %s", why);
			rc = -EINVAL;
		} else {
			search->n_patterns++;
		}
	}
	free(pattern);
	return rc;
}

static int add_patterns(struct cgroup_search *search, const char *list)
{
	int rc = 0;

	for (;;) {
		size_t len = strcspn(list, ",");

		rc = add_pattern(search, list, len);
		if (rc || !list[len])
			return rc;
		list += len + 1;
	}
}

static int consider(struct cgroup_search *search)
{
	const char *name = search->path.s + search->root_len + 1;
	bool matched = false;

	for (size_t i = 0; i < search->n_patterns && !matched; i++)
		matched = !regexec(&search->patterns[i], name, 0, NULL, 0);
	if (!matched)
		return 0;
	if (strchr(name, ','))
		return fail(search->err, -EINVAL, "--for-each-cgroup: a cgroup matches whose name has a comma");
	if (search->n_names == CGROUPS_MATCHED)
		return fail(search->err, -E2BIG, "--for-each-cgroup: more than %d cgroups match", CGROUPS_MATCHED);
	search->names[search->n_names++] = xstrdup(name);
	return 0;
}

/* Folders below that of search->path; one that is gone or may not be read has none. */
static int search_below(struct cgroup_search *search)
{
	DIR *dir = opendir(search->path.s);
	size_t len = search->path.len;
	struct dirent *entry;
	int rc = 0;

	while (dir && !rc && (entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (search->n_seen++ == CGROUPS_LOOKED_AT) {
			rc = fail(search->err, -E2BIG, "--for-each-cgroup: there are more than %d cgroups",
				  CGROUPS_LOOKED_AT);
			break;
		}
		str_addf(&search->path, "/%s", entry->d_name);
		rc = consider(search);
		rc = rc ? rc : search_below(search);
		search->path.len = len;
		search->path.s[len] = '\0';
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int search_all(struct cgroup_search *search, const char *list, struct str *names)
{
	int rc = add_patterns(search, list);

	rc = rc ? rc : search_below(search);
	if (!rc && !search->n_names) {
		rc = fail(search->err, -ENOENT, "--for-each-cgroup: no cgroup matches '");
		str_add_printable(search->err, list, strlen(list));
		str_addf(search->err, "' below %s", search->path.s);
	}
	qsort(search->names, search->n_names, sizeof(*search->names), by_name);
	for (size_t i = 0; i < search->n_names && !rc; i++)
		str_addf(names, "%s%s", i ? "," : "", search->names[i]);
	return rc;
}

static bool is_cgroup(const char *root, const char *name)
{
	char *path = xasprintf("%s/%s", root, name);
	struct stat st;
	bool is = !stat(path, &st) && S_ISDIR(st.st_mode);

	free(path);
	return is;
}

int cgroups_named(const char *list, const struct host_paths *host, struct str *names, struct str *err)
{
	struct cgroup_search *search;
	struct str root = STR_INIT;
	int rc;

	if (!strpbrk(list, "{}[]()|*+?^$") || !cgroup_root(host, &root) || is_cgroup(root.s, list)) {
		str_add(names, list);
		str_release(&root);
		return 0;
	}
	search = xcalloc(1, sizeof(*search));
	search->path = root;
	search->root_len = root.len;
	search->err = err;
	rc = search_all(search, list, names);
	for (size_t i = 0; i < search->n_names; i++)
		free(search->names[i]);
	for (size_t i = 0; i < search->n_patterns; i++)
		regfree(&search->patterns[i]);
	str_release(&search->path);
	free(search);
	return rc;
}
