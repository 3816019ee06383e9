/*
 * archive_folder.c: see archive_folder.h.
 *
 *	perf.data/data, perf.data/data.0, ... --> perf.data.PID.new/data, ... --all there, and a header--> perf.data
 *
 * Whatever is wrong with one file is wrong with all: without it the others would look whole.
 */
#include "cmd/archive_folder.h"
#include "buildcache/buildcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MODE = 0600 };

static int begin(struct archive_folder *folder, const char *path, struct str *err)
{
	*folder = (struct archive_folder){ .path = xstrdup(path) };
	return destination_begin_folder(&folder->beside, path, err);
}

/* What was made is gone, and what comes is refused. */
static void give_up(struct archive_folder *folder)
{
	DIR *names = folder->beside.fd < 0 ? NULL : fdopendir(fcntl(folder->beside.fd, F_DUPFD_CLOEXEC, 0));
	struct dirent *row;

	while (names && (row = readdir(names)) != NULL)
		if (row->d_name[0] != '.')
			unlinkat(dirfd(names), row->d_name, 0);
	if (names)
		closedir(names);
	destination_end(&folder->beside);
}

int archive_folder_add(struct archive_folder *folder, const char *path, const char *name, int from, struct str *err)
{
	int to, rc = 0;

	if (folder->path && strcmp(folder->path, path) != 0)
		return fail(err, -EINVAL, "of a second recording that is a folder");
	if (!folder->path)
		rc = begin(folder, path, err);
	if (!rc && folder->beside.fd < 0)
		return fail(err, -EINVAL, "of a recording that lacks another file");
	if (!rc) {
		to = openat(folder->beside.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
		rc = to < 0 ? -errno : archive_copy(from, to);
		if (to >= 0 && close(to) && !rc)
			rc = -errno;
		if (rc)
			fail(err, 0, "%s", strerror(-rc));
	}
	if (!rc && !strcmp(name, "data"))
		rc = archive_check_recording(from, err);
	folder->has_header |= !rc && !strcmp(name, "data");
	if (rc)
		give_up(folder);
	return rc;
}

int archive_folder_end(struct archive_folder *folder, bool whole, struct str *err)
{
	struct str why = STR_INIT;
	int rc = 0;

	if (folder->beside.fd < 0 || !whole)
		rc = fail(err, -EINVAL, "not all of it could be had");
	else if (!folder->has_header)
		rc = fail(err, -EINVAL, "a folder without a recording's header");
	else if ((rc = destination_put(&folder->beside, false, &why)) != 0)
		fail(err, rc, "%s", rc == -EEXIST ? "there is one of that name: -o gives it another name" : why.s);
	if (rc)
		give_up(folder);
	else
		destination_end(&folder->beside);
	free(folder->path);
	str_release(&why);
	*folder = (struct archive_folder){ 0 };
	return rc;
}
