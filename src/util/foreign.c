/* SPDX-License-Identifier: MIT */
/*
 * foreign.c: see foreign.h. Where the kernel has no openat2(2), or a sandbox forbids it, the path is
 * walked by hand, one name at a time: each step opens one name without following it, a link's text is put
 * in front of what is left, and ".." goes back along the descriptors of the way, so that the root is never left.
 */
#include "util/foreign.h"

#include "util/mounts.h"
#include "util/remote_open.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	LINKS_MAX = 40, /* as the kernel has it */
	DEPTH_MAX = 256, /* folders on the way */
	RACES_MAX = 16, /* EAGAIN of openat2: something was renamed meanwhile */
};

/* ---- file systems whose files are the kernel talking ---- */

/*
 * By the numbers of statfs(2), as in linux/magic.h and, for those that it lacks, the kernel's fs/ folders. To
 * add one: a row. File systems that store what people put there are never in it.
 */
static const struct kernel_fs {
	uint32_t magic;
	const char *name;
} kernel_file_systems[] = {
	{ 0x9fa0, "proc" },
	{ 0x62656572, "sysfs" },
	{ 0x64626720, "debugfs" },
	{ 0x74726163, "tracefs" },
	{ 0x73636673, "securityfs" },
	{ 0xf97cff8c, "selinuxfs" },
	{ 0x43415d53, "smackfs" },
	{ 0x5a3c69f0, "apparmorfs" },
	{ 0x27e0eb, "a cgroup file system" },
	{ 0x63677270, "a cgroup file system" },
	{ 0x7655821, "resctrl" },
	{ 0xcafe4a11, "the BPF file system" },
	{ 0x6165676c, "pstore" },
	{ 0xde5e81e4, "efivarfs" },
	{ 0x62656570, "configfs" },
	{ 0x42494e4d, "binfmt_misc" },
	{ 0x65735543, "fusectl" },
	{ 0x6e667364, "nfsd" },
	{ 0x67596969, "rpc_pipefs" },
	{ 0x6e736673, "nsfs" },
	{ 0x1cd1, "devpts" },
	{ 0x19800202, "mqueue" },
	{ 0x9fa2, "usbdevfs" },
	{ 0xabababab, "xenfs" },
};

/* Files of the kernel that are made to be read by anyone, any number of times. */
static const char *const kernel_files[] = {
	"kallsyms", "kcore", "modules", "notes", ".note.gnu.build-id",
};

static const char *kernel_fs_name(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_file_systems); i++)
		if (kernel_file_systems[i].magic == (uint32_t)fs.f_type)
			return kernel_file_systems[i].name;
	return NULL;
}

static bool is_kernel_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(kernel_files); i++)
		if (!strcmp(name, kernel_files[i]))
			return true;
	return false;
}

/* ---- below a root, by hand ---- */

struct path_walk {
	int fds[DEPTH_MAX]; /* the root, and the folders below it down to here */
	size_t depth; /* of fds in use; at least 1 */
	char rest[2 * PATH_MAX]; /* what is left of the path */
	unsigned links;
	bool no_link; /* the last name is taken as it is */
};

/* The folder by a descriptor of its own. */
static int open_again(int folder)
{
	return openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int walk_down(struct path_walk *walk, int fd)
{
	if (walk->depth == DEPTH_MAX) {
		close(fd);
		return -ENAMETOOLONG;
	}
	walk->fds[walk->depth++] = fd;
	return 0;
}

static void walk_up(struct path_walk *walk, size_t depth)
{
	while (walk->depth > depth)
		close(walk->fds[--walk->depth]);
}

/* The link's text before `rest`. */
static int walk_link(struct path_walk *walk, int link, const char *rest)
{
	char text[PATH_MAX], left[sizeof(walk->rest)];
	ssize_t len = readlinkat(link, "", text, sizeof(text) - 1);
	int n;

	if (len < 0)
		return -errno;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	text[len] = '\0';
	n = snprintf(left, sizeof(left), "%s/%s", text, rest);
	if (n < 0 || (size_t)n >= sizeof(left))
		return -ENAMETOOLONG;
	if (text[0] == '/')
		walk_up(walk, 1);
	memcpy(walk->rest, left, (size_t)n + 1);
	return 0;
}

/*
 * One name. 0: go on; 1: *fd is what the whole path names. The links of /proc that lead elsewhere are taken by
 * their text, like any link, and so stay below the root too.
 */
static int walk_step(struct path_walk *walk, int *fd)
{
	char *name = walk->rest + strspn(walk->rest, "/"), *end = name + strcspn(name, "/");
	char *rest = end + strspn(end, "/");
	bool last = !*rest;
	struct stat st;
	int rc = 0;

	*end = '\0';
	if (!strcmp(name, "..") || !strcmp(name, ".") || !*name) {
		if (name[0] && name[1] && walk->depth > 1)
			walk_up(walk, walk->depth - 1);
		if (last && (*fd = open_again(walk->fds[walk->depth - 1])) < 0)
			return -errno;
		memmove(walk->rest, rest, strlen(rest) + 1);
		return last;
	}
	*fd = openat(walk->fds[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &st))
		rc = -errno;
	else if (S_ISLNK(st.st_mode) && !(last && walk->no_link))
		rc = walk_link(walk, *fd, rest);
	else if (last)
		return 1;
	else
		memmove(walk->rest, rest, strlen(rest) + 1);
	if (!rc && S_ISDIR(st.st_mode))
		return walk_down(walk, *fd);
	if (!rc && !S_ISLNK(st.st_mode))
		rc = -ENOTDIR;
	if (*fd >= 0)
		close(*fd);
	return rc;
}

static int path_below_by_hand(int root, const char *path, bool no_link)
{
	struct path_walk walk = { .no_link = no_link };
	int fd = -1, rc = open_again(root);

	if (rc < 0)
		return -errno;
	walk.fds[walk.depth++] = rc;
	rc = !*path ? -ENOENT : strlen(path) < PATH_MAX ? 0 : -ENAMETOOLONG;
	if (!rc)
		memcpy(walk.rest, path, strlen(path) + 1);
	while (!rc)
		rc = walk_step(&walk, &fd);
	walk_up(&walk, 0);
	return rc < 0 ? rc : fd;
}

/* ---- the file, without opening it ---- */

/* "/12" and what follows; NULL: none. */
static const char *past_number(const char *at)
{
	size_t digits = *at == '/' ? strspn(at + 1, "0123456789") : 0;

	return digits ? at + 1 + digits : NULL;
}

size_t foreign_root_bytes(const char *path)
{
	static const char proc[] = "/proc", task[] = "/task", root[] = "/root";

	for (const char *at = strstr(path, proc); at; at = strstr(at + 1, proc)) {
		const char *end = past_number(at + strlen(proc));

		if (end && !strncmp(end, task, strlen(task)))
			end = past_number(end + strlen(task));
		if (!end || strncmp(end, root, strlen(root)))
			continue;
		end += strlen(root);
		if (!*end || *end == '/')
			return (size_t)(end - path);
	}
	return 0;
}

size_t foreign_process_bytes(const char *path)
{
	static const char proc[] = "/proc";

	for (const char *at = strstr(path, proc); at; at = strstr(at + 1, proc)) {
		const char *end = past_number(at + strlen(proc));

		if (end && *end == '/')
			return (size_t)(end - path);
	}
	return 0;
}

int foreign_own_descriptor(const char *path, const struct foreign_options *options)
{
	static const char *const folders[] = { "/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/" };
	uint64_t number;

	if (options->no_link || (options->root && strcmp(options->root, "/") != 0))
		return -1;
	if (!strcmp(path, "/dev/stdin"))
		return STDIN_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t n = strlen(folders[i]);

		if (!strncmp(path, folders[i], n) && !parse_u64(path + n, 10, &number) && number <= INT_MAX)
			return (int)number;
	}
	return -1;
}

static int path_below(int root, const char *path, const struct foreign_options *options)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (options->no_link ? (unsigned)O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	for (unsigned i = 0; !options->by_hand && i < RACES_MAX; i++) {
		int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

		if (fd >= 0)
			return fd;
		if (errno == EAGAIN)
			continue;
		if (errno != ENOSYS && errno != EPERM)
			return -errno;
		break; /* an old kernel, or a sandbox */
	}
	return path_below_by_hand(root, path, options->no_link);
}

static int look(const char *path, const struct foreign_options *options)
{
	size_t root_bytes = options->root ? 0 : foreign_root_bytes(path);
	char *named = root_bytes ? xstrndup(path, root_bytes) : NULL;
	const char *below = named ? named : options->root;
	int root, fd;

	if (!below || !strcmp(below, "/")) {
		fd = open(path, O_PATH | O_CLOEXEC | (options->no_link ? O_NOFOLLOW : 0));
		return fd < 0 ? -errno : fd;
	}
	root = open(below, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = root < 0 ? -errno : path_below(root, path + root_bytes, options);
	if (root >= 0)
		close(root);
	free(named);
	return fd;
}

/* ---- opening what was looked at ---- */

static int check(int fd, const char *path, const struct foreign_options *options, struct stat *st,
		 struct str *err)
{
	const char *fs;

	if (fstat(fd, st))
		return fail(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st->st_mode))
		return fail(err, -EINVAL, "not a regular file");
	fs = kernel_fs_name(fd);
	if (fs && !(options->kernel_file && is_kernel_file(path)))
		return fail(err, -EPERM, "on %s, where reading can have effects", fs);
	if (options->bytes_max && (uint64_t)st->st_size > options->bytes_max)
		return fail(err, -EFBIG,
			    "%llu bytes, more than the limit of %llu for such a file",
			    (unsigned long long)st->st_size,
			    (unsigned long long)options->bytes_max);
	return 0;
}

/*
 * Opens the name again, for where proc is not mounted and what was looked at can't be opened by its descriptor. Refuses
 * anything but the same file.
 */
static int open_by_name(const char *path, const struct stat *looked_at, struct str *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fail(err, -errno, "%s", strerror(errno));
	if (!fstat(fd, &st) && st.st_dev == looked_at->st_dev && st.st_ino == looked_at->st_ino)
		return fd;
	close(fd);
	return fail(err, -ESTALE, "it was replaced meanwhile");
}

static int open_looked_at(int fd, const char *path, const struct foreign_options *options, const struct stat *st,
			  struct str *err)
{
	const bool below_root = (options->root && strcmp(options->root, "/") != 0) || foreign_root_bytes(path);
	char self[64];
	int opened;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	opened = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (opened >= 0)
		return opened;
	if (errno == EACCES || errno == EPERM)
		return fail(err, -errno, "permission denied: it belongs to user %u",
			    (unsigned)st->st_uid);
	if (errno == ENOENT && !below_root)
		return open_by_name(path, st, err);
	return fail(err, -errno, "%s", errno == ENOENT ? "/proc is not mounted" : strerror(errno));
}

static const struct foreign_options plain;

bool foreign_path_may_wait(const char *path)
{
	return remote_open_needed(path, &plain);
}

int foreign_open(const char *path, const struct foreign_options *options, struct stat *st,
		 struct str *err)
{
	if (!options)
		options = &plain;
	return remote_open_needed(path, options) ? remote_open(path, options, st, err) :
						    foreign_open_here(path, options, st, err);
}

bool foreign_may_wait(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || mount_kind_of_magic((uint32_t)fs.f_type) != MOUNT_OF_KERNEL;
}

int foreign_open_here(const char *path, const struct foreign_options *options, struct stat *st,
		      struct str *err)
{
	int fd, rc;

	fd = look(path, options);
	if (fd < 0)
		return fail(err, fd, "%s", fd == -ENOENT ? "no such file" : strerror(-fd));
	rc = check(fd, path, options, st, err);
	if (!rc)
		rc = open_looked_at(fd, path, options, st, err);
	close(fd);
	return rc;
}
