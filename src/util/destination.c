/* SPDX-License-Identifier: MIT */
/*
 * destination.c: see destination.h. Each place is looked at before it is opened and again through its descriptor, as
 * it may be exchanged in between; a file is emptied only after that.
 */
#include "util/destination.h"

#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum {
	NAMES_MAX = 64, /* tries for a name that nobody had */
	ASK_READER_NS = 20000000, /* how often a FIFO is asked for its reader */
	LINKS_MAX = 40, /* as the kernel has it */
	PROC_FS = 0x9fa0, /* statfs(2) */
	PIPE_FS = 0x50495045, /* statfs(2): anonymous pipes, which nobody can place anywhere */
};

/* ---- who put it there ---- */

static bool is_trusted(uid_t user)
{
	return user == 0 || user == geteuid();
}

/* May others put files there, but not take away each other's? */
static bool is_open_folder(const char *path, uid_t *owner)
{
	char *copy = xstrdup(path);
	struct stat st;
	bool is = !stat(dirname(copy), &st) && (st.st_mode & S_ISVTX) &&
		  (st.st_mode & (S_IWOTH | S_IWGRP));

	free(copy);
	*owner = st.st_uid;
	return is;
}

static bool is_anonymous(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PIPE_FS;
}

static int refuse(const struct stat *st, const char *what, struct str *err)
{
	return fail(err, -EPERM, "%s of user %u, not yours or root's", what, (unsigned)st->st_uid);
}

static int check_link(const struct stat *link, struct str *err)
{
	return S_ISLNK(link->st_mode) && !is_trusted(link->st_uid) ? refuse(link, "a link", err)
								   : 0;
}

/* Checks what a descriptor is open on. */
static int check_opened(const char *path, int fd, struct stat *st, struct str *err)
{
	uid_t folder_owner;

	if (fstat(fd, st))
		return fail(err, -errno, "%s", strerror(errno));
	if (S_ISFIFO(st->st_mode) && !is_trusted(st->st_uid) && !is_anonymous(fd))
		return refuse(st, "a FIFO", err);
	if (S_ISREG(st->st_mode) && !is_trusted(st->st_uid) &&
	    is_open_folder(path, &folder_owner) && st->st_uid != folder_owner)
		return refuse(st, "in a folder that others write to, a file", err);
	return 0;
}

/* ---- opening, without waiting for ever ---- */

/* SIGINT and its like, also where they are masked. */
static bool is_signalled(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t pending;

	if (!sigpending(&pending))
		for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
			if (sigismember(&pending, signals[i]) == 1)
				return true;
	return false;
}

/* Opens like open(2); a FIFO that nobody reads answers ENXIO until somebody does. */
static int open_when_read(const char *path, int flags)
{
	const struct timespec pause = { .tv_nsec = ASK_READER_NS };
	int fd;

	while ((fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0 && errno == ENXIO)
		if (is_signalled() || nanosleep(&pause, NULL)) {
			errno = EINTR;
			return -1;
		}
	return fd;
}

static int fail_to_open(struct str *err)
{
	if (errno == EINTR)
		return fail(err, -EINTR, "no reader opened it before the signal");
	return fail(err, -errno, "%s", strerror(errno));
}

/* The path that a link leads to, seen from where the link lies; NULL: it is too long. */
static char *behind_link(const char *path, int link)
{
	const char *slash = strrchr(path, '/');
	char text[PATH_MAX];
	ssize_t n = readlinkat(link, "", text, sizeof(text));

	if (n <= 0 || n == sizeof(text))
		return NULL;
	return xasprintf("%.*s%.*s", slash && text[0] != '/' ? (int)(slash + 1 - path) : 0, path, (int)n, text);
}

/*
 * *end, which the caller frees: where the path leads, through links of ours and root's alone, each of which is read by
 * the descriptor that it was looked at by: exchanged meanwhile, it leads nowhere else. It is no link itself, but one of
 * /proc, as behind /dev/stdout, whose text is no path.
 */
static int follow_links(const char *path, char **end, bool *is_proc, struct str *err)
{
	*end = xstrdup(path);
	*is_proc = false;
	for (int i = 0; i < LINKS_MAX; i++) {
		int fd = open(*end, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = 0;
		char *next = NULL;
		struct statfs fs;
		struct stat st;

		if (fd < 0) /* the error is for whoever opens it */
			return 0;
		if (!fstat(fd, &st) && S_ISLNK(st.st_mode)) {
			*is_proc = !fstatfs(fd, &fs) && fs.f_type == PROC_FS;
			rc = check_link(&st, err);
			next = rc || *is_proc ? NULL : behind_link(*end, fd);
			if (!rc && !*is_proc && !next)
				rc = fail(err, -ENAMETOOLONG, "%s", strerror(ENAMETOOLONG));
		}
		close(fd);
		if (!next)
			return rc;
		free(*end);
		*end = next;
	}
	return fail(err, -ELOOP, "%s", strerror(ELOOP));
}

/* Opens what is there already, behind links: -ENOENT without a sentence if nothing is. */
static int open_existing(const char *path, bool is_proc, int flags, struct stat *st, struct str *err)
{
	struct stat there;
	int fd, rc;

	if (lstat(path, &there))
		return errno == ENOENT ? -ENOENT : fail(err, -errno, "%s", strerror(errno));
	if (S_ISFIFO(there.st_mode) && !is_trusted(there.st_uid))
		return refuse(&there, "a FIFO", err);
	fd = open_when_read(path, (flags & ~O_CREAT) | (is_proc ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : fail_to_open(err);
	rc = check_opened(path, fd, st, err);
	if (!rc && fcntl(fd, F_SETFL, flags & O_APPEND))
		rc = fail(err, -errno, "%s", strerror(errno));
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static int open_behind_links(const char *path, int flags, struct stat *st, struct str *err)
{
	bool is_proc;
	char *end;
	int fd = follow_links(path, &end, &is_proc, err);

	if (!fd)
		fd = open_existing(end, is_proc, flags, st, err);
	/* A link to nothing: the file that it names is made, as the shell's > does. */
	if (fd == -ENOENT && (flags & O_CREAT)) {
		fd = open(end, flags | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
		if (fd < 0 || fstat(fd, st))
			fd = fail_to_open(err);
	}
	free(end);
	return fd;
}

int destination_open(const char *path, bool append, struct str *err)
{
	struct stat st;
	int fd = open_behind_links(path, O_WRONLY | O_CREAT | (append ? O_APPEND : 0), &st, err);

	if (fd >= 0 && S_ISREG(st.st_mode) && !append && ftruncate(fd, 0)) {
		close(fd);
		return fail(err, -errno, "%s", strerror(errno));
	}
	return fd;
}

int destination_open_stream(const char *path, int *fd, struct str *err)
{
	struct stat st, link;

	if (lstat(path, &link) || (S_ISLNK(link.st_mode) && !is_trusted(link.st_uid)) ||
	    stat(path, &st) || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
		return 0;
	*fd = open_behind_links(path, O_WRONLY, &st, err);
	if (*fd == -ENOENT)
		return fail(err, -ENOENT, "%s", strerror(ENOENT));
	return *fd < 0 ? *fd : 1;
}

int destination_open_control(const char *path, struct str *err)
{
	struct stat st;
	int fd = open_behind_links(path, O_RDWR, &st, err);

	if (fd == -ENOENT)
		return fail(err, -ENOENT, "%s", strerror(ENOENT));
	if (fd >= 0 && !S_ISFIFO(st.st_mode)) {
		close(fd);
		return fail(err, -EINVAL, "not a FIFO");
	}
	if (fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK)) {
		close(fd);
		return fail(err, -errno, "%s", strerror(errno));
	}
	return fd;
}

/* ---- beside its place ---- */

/* NAME.PID.new, a name that shows whose it is if it stays; then names that nobody can foresee. */
static char *name_beside(const char *name, unsigned tried)
{
	uint64_t random = 0;

	if (tried < 2)
		return xasprintf("%s.%d.new", name, (int)getpid());
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = now_ns() + tried;
	return xasprintf("%s.%d.%08x.new", name, (int)getpid(), (unsigned)random);
}

/* The folder of the path, and the name in it. */
static int hold_folder(struct destination *to, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash == path ? xstrdup("/") : slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");

	to->name = xstrdup(name);
	to->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (to->folder < 0)
		return -errno;
	return !*name || !strcmp(name, ".") || !strcmp(name, "..") ? -EISDIR : 0;
}

/* A new file (of that mode) or folder (0700) under a name that nobody had. 0 or a negative errno. */
static int make_beside(struct destination *to, bool folder, mode_t mode)
{
	int how = O_NOFOLLOW | O_CLOEXEC | (folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT | O_EXCL);

	for (unsigned i = 0; i < NAMES_MAX; i++) {
		struct stat st;
		int rc = 0;

		to->beside = name_beside(to->name, i);
		if (folder && mkdirat(to->folder, to->beside, 0700))
			rc = -errno;
		if (!rc)
			to->fd = openat(to->folder, to->beside, how, mode);
		if (!rc && (to->fd < 0 || fstat(to->fd, &st)))
			rc = -errno;
		if (!rc) {
			to->inode = (struct inode){ st.st_dev, st.st_ino };
			return 0;
		}
		/* A process that had this number before has left it; another user's stays. */
		if (!i && rc == -EEXIST)
			unlinkat(to->folder, to->beside, 0);
		free(to->beside);
		to->beside = NULL;
		if (rc != -EEXIST)
			return rc;
	}
	return -EEXIST;
}

static int begin(struct destination *to, const char *path, bool folder, mode_t mode, struct str *err)
{
	int rc;

	*to = (struct destination){ .fd = -1 };
	rc = hold_folder(to, path);
	if (!rc)
		rc = make_beside(to, folder, mode);
	return rc ? fail(err, rc, "cannot be created: %s", strerror(-rc)) : 0;
}

int destination_begin(struct destination *to, const char *path, struct str *err)
{
	return begin(to, path, false, 0600, err);
}

int destination_begin_public(struct destination *to, const char *path, struct str *err)
{
	return begin(to, path, false, 0666, err);
}

int destination_begin_folder(struct destination *to, const char *path, struct str *err)
{
	return begin(to, path, true, 0600, err);
}

int destination_begin_in(struct destination *to, int folder, const char *name, struct str *err)
{
	int rc;

	*to = (struct destination){ .fd = -1, .name = xstrdup(name) };
	to->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	rc = to->folder < 0 ? -errno : make_beside(to, false, 0666);
	return rc ? fail(err, rc, "cannot be created: %s", strerror(-rc)) : 0;
}

int destination_fill(const struct destination *to, const struct str *bytes, struct str *err)
{
	int rc = write_all(to->fd, bytes->s, bytes->len);

	if (!rc && fsync(to->fd))
		rc = -errno;
	return rc ? fail(err, rc, "%s", strerror(-rc)) : 0;
}

static bool leads_to(int folder, const char *name, const struct inode *inode)
{
	struct stat st;

	return !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == inode->dev && st.st_ino == inode->ino;
}

/* Some file systems can't rename without replacing. */
static int rename_in(const struct destination *to, const char *from, const char *name, bool over)
{
	int rc;

	if (!leads_to(to->folder, from, &to->inode))
		return -ESTALE;
	rc = over ? -EINVAL : rename_new(to->folder, from, to->folder, name);
	if (rc != -EINVAL && rc != -ENOSYS)
		return rc;
	if (!over && !faccessat(to->folder, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(to->folder, from, to->folder, name) ? -errno : 0;
}

int destination_put(struct destination *to, bool over, struct str *err)
{
	int again = fcntl(to->fd, F_DUPFD_CLOEXEC, 0), rc = again < 0 || close(again) ? -errno : 0;

	if (!rc)
		rc = rename_in(to, to->beside, to->name, over);
	if (rc)
		return fail(err, rc, "%s", rc == -ESTALE ? "another process replaced it while it was written" :
							    strerror(-rc));
	free(to->beside);
	to->beside = NULL;
	return 0;
}

int destination_sync_name(const struct destination *to, struct str *err)
{
	int fd = openat(to->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0) /* some may not be opened */
		return 0;
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		rc = fail(err, -errno, "%s", strerror(errno));
	close(fd);
	return rc;
}

int destination_write_whole(const char *path, const struct str *bytes, struct str *err)
{
	struct destination to;
	int rc = destination_begin_public(&to, path, err);

	if (!rc)
		rc = destination_fill(&to, bytes, err);
	if (!rc)
		rc = destination_put(&to, true, err);
	if (!rc)
		rc = destination_sync_name(&to, err);
	destination_end(&to);
	return rc;
}

int destination_rename(const struct destination *to, const char *name)
{
	return rename_in(to, to->name, name, false);
}

void destination_remove(const struct destination *to, const char *name, const struct inode *inode)
{
	if (leads_to(to->folder, name, inode) && unlinkat(to->folder, name, 0) && errno == EISDIR)
		unlinkat(to->folder, name, AT_REMOVEDIR);
}

void destination_end(struct destination *to)
{
	if (!to->name)
		return;
	if (to->beside)
		destination_remove(to, to->beside, &to->inode);
	if (to->fd >= 0)
		close(to->fd);
	if (to->folder >= 0)
		close(to->folder);
	free(to->name);
	free(to->beside);
	*to = (struct destination){ .fd = -1 };
}

/* ---- without a name ---- */

int destination_create_nameless(const char *folder, struct str *err)
{
	const char *named = getenv("TMPDIR");
	int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
	char *path;

	if (fd >= 0)
		return fd;
	path = xasprintf("%s/pstat-XXXXXX", named && *named ? named : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = fail(err, -errno, "%s: %s", path, strerror(errno));
	else
		unlink(path);
	free(path);
	return fd;
}
