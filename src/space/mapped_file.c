/* SPDX-License-Identifier: MIT */
/*
 * mapped_file: the file that was mapped, and where it may be found while processes end, mounts differ and files are
 * replaced. A path alone proves nothing: a container has another file there. So each place is only a proposal, which
 * whoever looks opens by its own means, and mapped_file_is() says whether that is the file.
 *
 *	/proc/PID/root/PATH       in the mount namespace of a process that had it mapped
 *	/proc/PID/map_files/A-B   deleted or replaced meanwhile; root, or with CAP_CHECKPOINT_RESTORE
 *	/proc/PPID/root/PATH      the process has ended: what it descends from may see the same
 *	PATH                      here: all have ended, or are out of reach
 *
 * Each place is tried for all processes, the newest first, before the next place is.
 *
 * Source: proc_pid_root(5), proc_pid_map_files(5).
 */
#include "space/space.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

struct mapped_look {
	const struct mapped_file *file;
	const char *procfs;
	mapped_try_fn *try;
	void *context;
};

size_t mapping_seen_add(struct mapping_seen *seen, size_t n, const struct mapping_seen *newest)
{
	/* The first is kept: it may be the one that runs for long. */
	if (n == MAPPED_SEEN_MAX)
		memmove(&seen[1], &seen[2], (--n - 1) * sizeof(*seen));
	seen[n++] = *newest;
	return n;
}

/* Mappings on these file systems name another device than stat(2) does. */
static bool has_devices_of_its_own(int fd)
{
	enum { BTRFS = 0x9123683e, OVERLAYFS = 0x794c7630 };
	struct statfs fs;

	return !fstatfs(fd, &fs) && ((uint32_t)fs.f_type == (uint32_t)BTRFS || (uint32_t)fs.f_type == OVERLAYFS);
}

bool mapped_file_is(const struct mapped_file *file, int fd, const struct stat *st, const struct build_id *now)
{
	if (file->build_id.size)
		return now && build_id_same(now, &file->build_id);
	if (!file->inode || st->st_ino != file->inode)
		return false;
	return file->any_device || (major(st->st_dev) == file->major && minor(st->st_dev) == file->minor) ||
	       has_devices_of_its_own(fd);
}

static bool try_root_of(const struct mapped_look *look, uint32_t pid)
{
	char *root = xasprintf("%s/%" PRIu32 "/root", look->procfs, pid);
	bool found = look->try(look->context, root, look->file->path);

	free(root);
	return found;
}

static bool try_mapping(const struct mapped_look *look, const struct mapping_seen *seen)
{
	char *path = xasprintf("%s/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, look->procfs, seen->pid, seen->start,
			       seen->end);
	bool found = look->try(look->context, "", path);

	free(path);
	return found;
}

static bool try_place(const struct mapped_look *look, enum mapped_place place, const struct mapping_seen *seen)
{
	bool found = false;

	switch (place) {
	case MAPPED_IN_ROOT:
		return seen->root ? look->try(look->context, seen->root, look->file->path) :
				    try_root_of(look, seen->pid);
	case MAPPED_BY_RANGE:
		return try_mapping(look, seen);
	case MAPPED_IN_ANCESTORS:
		for (size_t i = 0; !found && i < MAPPED_ANCESTORS_MAX && seen->ancestors[i]; i++)
			found = try_root_of(look, seen->ancestors[i]);
		return found;
	case MAPPED_HERE:
		break;
	}
	return false;
}

/* The process has mapped the file twice in a row. */
static bool is_repeated(const struct mapped_file *file, size_t i)
{
	return i + 1 < file->n_seen && !file->seen[i].root && file->seen[i].pid == file->seen[i + 1].pid;
}

bool mapped_file_look(const struct mapped_file *file, const char *procfs, unsigned places, mapped_try_fn *try,
		      void *context)
{
	const struct mapped_look look = { file, procfs, try, context };

	for (enum mapped_place place = MAPPED_IN_ROOT; place < MAPPED_HERE; place <<= 1) {
		for (size_t i = file->n_seen; places & place && i-- > 0;) {
			if (place == MAPPED_IN_ROOT && is_repeated(file, i))
				continue;
			if (try_place(&look, place, &file->seen[i]))
				return true;
		}
	}
	return places & MAPPED_HERE && try(context, "", file->path);
}
