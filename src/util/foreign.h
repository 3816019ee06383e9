/* SPDX-License-Identifier: MIT */
/*
 * foreign: the one way to open a file whose name came from somebody else: from a recording, from
 * /proc, from another user's folder. Opening and reading can have effects of their own (a FIFO waits, a
 * tape rewinds, /proc/kmsg takes messages away from the log), and a link can lead anywhere. So a file is
 * looked at through a descriptor that opens nothing (O_PATH), and what has been looked at is what gets
 * opened:
 *
 *   path --below root, no way out of it--> O_PATH --regular? not of the kernel's? not too large?--> O_RDONLY
 *
 * Where a file system is mounted that may not answer (FUSE, a network), another process does this and the
 * reading, and has its time: remote_open.h says what comes from there, and why.
 *
 * The sources: openat2(2) for RESOLVE_IN_ROOT, statfs(2) for the types of file systems.
 */
#ifndef PSTAT_UTIL_FOREIGN_H
#define PSTAT_UTIL_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct str;

struct foreign_options {
	/*
	 * A folder that takes the place of / : "/proc/12/root" has what process 12 sees. Neither "..", nor
	 * links, nor the links of /proc that point elsewhere lead out of it. NULL: the process's root where
	 * the path itself begins with one (see foreign_root_bytes), else the whole file system, where links
	 * are followed as always.
	 */
	const char *root;
	uint64_t bytes_max; /* a larger file is refused; 0: any size */
	/* Only so many bytes of a file on FUSE are fetched, the others read as zeros; 0: all. */
	uint64_t head_bytes;
	/* The kernel's own files of these names may be read: kallsyms, kcore, notes and their like. */
	bool kernel_file;
	bool no_link; /* the last name of the path may not be a link: -EINVAL */
	bool by_hand; /* as on kernels without openat2(2), before 5.6; for tests */
};

/*
 * Opens it for reading: a descriptor (close-on-exec, never waits when opened) of a regular file, whose
 * status is then in *st; or a negative errno with one clause in err that does not name the path ("no such
 * file", "not a regular file", "on tracefs, where reading can have effects"). options may be NULL.
 * -EINVAL: not a regular file; -EFBIG: larger than bytes_max; -EPERM: on a file system of the kernel;
 * -ETIMEDOUT: its file system does not answer. Of a file on FUSE the descriptor is one of a copy, with the
 * file's time of writing: *st tells about the file.
 */
int foreign_open(const char *path, const struct foreign_options *options, struct stat *st,
		 struct str *err);

/* The same by this process, which waits for as long as a file system does: for the helper. */
int foreign_open_here(const char *path, const struct foreign_options *options, struct stat *st,
		      struct str *err);

/* May reading this open file wait for a network, or for a program that is its file system? */
bool foreign_may_wait(int fd);
/* Whether a helper process opens this path, as something may be mounted there that does not answer. */
bool foreign_path_may_wait(const char *path);

/*
 * How many bytes of a path name the root of a process, wherever proc is mounted: those of "/proc/12/root" in
 * "/proc/12/root/usr/bin/x", of "/proc/12/task/13/root" likewise; 0: it is no such path. Such a path is as
 * good as a root and a path: whoever is handed one opens it with foreign_open, which stays below the root.
 */
size_t foreign_root_bytes(const char *path);
/*
 * The descriptor of this process that the whole path is a link to ("/proc/self/fd/3", "/dev/stdin"), open or not; -1:
 * it is another path, or the options let no link lead there. In another process such a path means something else.
 */
int foreign_own_descriptor(const char *path, const struct foreign_options *options);
/* The bytes of "/proc/12" in a path that goes on from there, to its root or to another of its files; 0: none. */
size_t foreign_process_bytes(const char *path);

#endif
