/*
 * A cgroup's name -> its folder, open. perf events follow the perf_event hierarchy of cgroup v1
 * where one is mounted, else cgroup v2, in which they are always enabled.
 *
 * Source: cgroups(7), proc(5) for the escapes in mounts.
 */
#include "kern/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

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
