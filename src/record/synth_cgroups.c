/*
 * Cgroups -> CGROUP records: id and path of every folder of the hierarchy. The id that samples carry is
 * that of the folder's kernfs node, which is its inode number on 64-bit machines.
 *
 * Source: cgroups(7), perf_event_open(2) PERF_RECORD_CGROUP.
 */
#include "record/synth.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders still to be visited, as paths below the root: "/", "/a", "/a/b". */
struct folders {
	char **v;
	size_t n, cap;
};

static void push(struct folders *folders, const char *parent, const char *name)
{
	char *path = xasprintf("%s/%s", strcmp(parent, "/") ? parent : "", name);

	if (strlen(path) >= PATH_MAX) {
		free(path);
		return;
	}
	VEC_GROW(folders->v, folders->n, folders->cap);
	folders->v[folders->n++] = path;
}

/* A folder that is removed meanwhile has no record. */
static int visit(struct synth *synth, const char *root, const char *path, struct folders *folders)
{
	struct record_body body = { .type = RECORD_CGROUP };
	char *full = xasprintf("%s%s", root, path);
	int fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct dirent *entry;
	struct stat st;
	DIR *dir;
	int rc;

	free(full);
	if (fd < 0)
		return 0;
	dir = fstat(fd, &st) ? NULL : fdopendir(fd);
	if (!dir) {
		close(fd);
		return 0;
	}
	body.cgroup.id = st.st_ino;
	body.cgroup.path = path;
	rc = synth->fn(synth->data, &body);
	while (!rc && (entry = readdir(dir)) != NULL) {
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") &&
		    strcmp(entry->d_name, ".."))
			push(folders, path, entry->d_name);
	}
	closedir(dir);
	return rc;
}

int synth_cgroups(struct synth *synth)
{
	struct folders folders = { 0 };
	struct str root = STR_INIT;
	int rc = 0;

	if (cgroup_root(&synth->kern->host, &root))
		push(&folders, "/", "");
	while (folders.n) {
		char *path = folders.v[--folders.n];

		if (!rc)
			rc = visit(synth, root.s, path, &folders);
		free(path);
	}
	free(folders.v);
	str_release(&root);
	return rc;
}
