/* SPDX-License-Identifier: MIT */
/*
 * remote_open.c: see remote_open.h. One helper for the process, started when it is first needed. First its own side: it
 * opens the file and hands it on, probes it, or copies it, by the kind of its file system. Copies are known by device,
 * inode, size and times, and a copy of a file's head grows when more of the file is asked for. Then the asking side:
 * whether a helper is needed at all, the question, and the wait for its answer.
 */
#include "util/remote_open.h"

#include "util/helper.h"
#include "util/mounts.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { WHY_BYTES = 240, CHUNK_BYTES = 1 << 20, COPIES_MAX = 32 };

struct open_question {
	uint64_t bytes_max, head_bytes;
	bool kernel_file, no_link, by_hand, has_root;
	bool of_descriptor; /* the path is one to the descriptor beside it */
	char texts[2 * PATH_MAX]; /* the path, its NUL, and the root where there is one */
};
enum { QUESTION_BYTES = offsetof(struct open_question, texts) };

struct open_answer { /* with a descriptor beside it where rc is 0 */
	int rc;
	struct stat st;
	char why[WHY_BYTES];
};

struct file_copy {
	struct stat of;
	int fd; /* of memory */
	uint64_t bytes; /* copied so far; zeros follow */
};

struct copies { /* used in the helper alone */
	struct file_copy v[COPIES_MAX];
	size_t n, next; /* `next`: the oldest, which makes room */
	atomic_uint *signs; /* of life, counted up with every step that was answered */
};

/* ---- the helper's own side: the files that it hands on ---- */

static bool same_contents(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void drop_copy(struct file_copy *copy)
{
	if (copy->fd >= 0)
		close(copy->fd);
	*copy = (struct file_copy){ .fd = -1 };
}

/* The copy of this file, perhaps without bytes yet. The oldest copies make room for a new one. */
static struct file_copy *copy_of(struct copies *copies, const struct stat *st)
{
	uint64_t kept = 0;
	struct file_copy *copy;

	for (size_t i = 0; i < copies->n; i++)
		if (copies->v[i].fd >= 0 && same_contents(&copies->v[i].of, st))
			return &copies->v[i];
	for (size_t i = 0; i < copies->n; i++)
		kept += copies->v[i].bytes;
	for (size_t i = 0; i < copies->n && kept > REMOTE_KEPT_BYTES - REMOTE_COPY_BYTES; i++) {
		copy = &copies->v[(copies->next + i) % copies->n];
		kept -= copy->bytes;
		drop_copy(copy);
	}
	copy = &copies->v[copies->next];
	if (copies->n < COPIES_MAX)
		copies->n++;
	else
		drop_copy(copy);
	copies->next = (copies->next + 1) % COPIES_MAX;
	*copy = (struct file_copy){ .of = *st };
	copy->fd = memfd_create("pstat-copy", MFD_CLOEXEC);
	return copy;
}

/* Adds the bytes of the file that the copy lacks, up to `end`. */
static int copy_on(struct copies *copies, struct file_copy *copy, int fd, uint64_t end)
{
	char *chunk = xmalloc(CHUNK_BYTES);
	int rc = 0;

	while (!rc && copy->bytes < end) {
		uint64_t left = end - copy->bytes;
		ssize_t got = pread(fd, chunk, left < CHUNK_BYTES ? left : CHUNK_BYTES,
				    (off_t)copy->bytes);

		if (got <= 0)
			rc = got < 0 ? -errno : -EIO; /* shorter than it says */
		else if (pwrite(copy->fd, chunk, (size_t)got, (off_t)copy->bytes) != got)
			rc = -ENOMEM;
		else
			copy->bytes += (uint64_t)got;
		atomic_fetch_add(copies->signs, 1);
	}
	free(chunk);
	return rc;
}

/*
 * Takes fd. Each asker gets an open file description of its own, which begins at the first byte. The copy has the
 * file's times.
 */
static int copy_file(struct copies *copies, int fd, const struct stat *st, uint64_t head_bytes,
		     struct str *err)
{
	uint64_t end = (uint64_t)st->st_size;
	struct file_copy *copy = copy_of(copies, st);
	char self[64];
	int rc = copy->fd < 0 || ftruncate(copy->fd, st->st_size) ? -errno : 0;

	if (head_bytes && head_bytes < end)
		end = head_bytes;
	if (!rc)
		rc = copy_on(copies, copy, fd, end);
	if (!rc && futimens(copy->fd, (struct timespec[]){ st->st_atim, st->st_mtim }))
		rc = -errno;
	close(fd);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", copy->fd);
	fd = rc ? rc : open(self, O_RDONLY | O_CLOEXEC);
	if (!rc && fd < 0)
		rc = -errno;
	if (rc)
		drop_copy(copy);
	return rc ? fail(err, rc, "%s", strerror(-rc)) : fd;
}

/* Takes fd. Reads the first and the last byte, so that whoever has the file has answered for both. */
static int probe_file(struct copies *copies, int fd, const struct stat *st, struct str *err)
{
	off_t places[] = { 0, st->st_size - 1 };
	char byte;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(places) && st->st_size > 0 && !rc; i++) {
		if (pread(fd, &byte, 1, places[i]) < 0)
			rc = fail(err, -errno, "%s", strerror(errno));
		atomic_fetch_add(copies->signs, 1);
	}
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* A program that the user or root runs is trusted to go on answering. */
static bool is_trusted(const struct mount *mount)
{
	return mount && mount->owned && (!mount->owner || mount->owner == geteuid());
}

/* Takes fd, a regular file whose status is *st. The descriptor to hand on, or a negative errno with a clause. */
static int file_to_hand_on(struct copies *copies, int fd, const struct stat *st, uint64_t head_bytes,
			   struct str *err)
{
	struct mounts mounts;
	const struct mount *mount;
	enum mount_kind kind;
	struct statfs fs;
	uint64_t wanted = head_bytes ? head_bytes : (uint64_t)st->st_size;
	bool trusted;

	atomic_fetch_add(copies->signs, 1);
	kind = fstatfs(fd, &fs) ? MOUNT_OF_FUSE : mount_kind_of_magic((uint32_t)fs.f_type);
	atomic_fetch_add(copies->signs, 1);
	if (kind == MOUNT_OF_KERNEL)
		return fd;
	mounts_read(&mounts, "/proc/self/mountinfo");
	mount = mounts_find(&mounts, fd);
	kind = mount ? mount->kind : kind;
	trusted = is_trusted(mount);
	mounts_release(&mounts);
	if (kind == MOUNT_OF_NETWORK || (wanted > REMOTE_COPY_BYTES && trusted))
		return probe_file(copies, fd, st, err);
	if (wanted <= REMOTE_COPY_BYTES)
		return copy_file(copies, fd, st, head_bytes, err);
	close(fd);
	return fail(err, -EFBIG, "%llu bytes, more than the %u that are read of another user's FUSE",
		    (unsigned long long)st->st_size, (unsigned)REMOTE_COPY_BYTES);
}

/* ---- the helper's own side: questions ---- */

static int open_asked(const struct open_question *question, int beside, struct stat *st, struct str *why)
{
	const char *path = question->texts;
	struct foreign_options options = {
		.root = question->has_root ? path + strlen(path) + 1 : NULL,
		.bytes_max = question->bytes_max,
		.kernel_file = question->kernel_file,
		.no_link = question->no_link,
		.by_hand = question->by_hand,
	};
	char here[64];

	if (!question->of_descriptor)
		return foreign_open_here(path, &options, st, why);
	if (beside < 0)
		return fail(why, -EMFILE, "%s", strerror(EMFILE));
	snprintf(here, sizeof(here), "/proc/self/fd/%d", beside);
	return foreign_open_here(here, &options, st, why);
}

static int answer_one(void *copies, const struct helper_question *asked, void *to)
{
	const struct open_question *question = asked->bytes;
	struct open_answer *answer = to;
	struct str why = STR_INIT;
	int fd = -EINVAL;

	((struct copies *)copies)->signs = asked->signs;
	if (asked->n > QUESTION_BYTES)
		fd = open_asked(question, asked->beside, &answer->st, &why);
	if (fd >= 0)
		fd = file_to_hand_on(copies, fd, &answer->st, question->head_bytes, &why);
	answer->rc = fd < 0 ? fd : 0;
	snprintf(answer->why, sizeof(answer->why), "%s", why.s);
	str_release(&why);
	return fd;
}

/* ---- the asking side ---- */

/* The one of this process. */
static struct remote {
	pthread_mutex_t lock; /* several threads may ask */
	int watch; /* mountinfo, which poll(2) tells about; -1: not opened yet, -2: not to be had */
	struct mounts mounts;
	ino_t space; /* inode of this process's mount namespace; 0: not asked yet */
	struct helper helper;
	struct copies copies; /* empty on this side; each helper begins with them so */
	unsigned failures;
} the_remote = { .lock = PTHREAD_MUTEX_INITIALIZER, .watch = -1 };

static void watch_mounts(struct remote *remote)
{
	struct pollfd pollfd = { .fd = remote->watch, .events = POLLPRI };

	if (remote->watch == -2 || (remote->watch >= 0 && poll(&pollfd, 1, 0) == 0))
		return;
	if (remote->watch == -1) {
		remote->watch = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
		if (remote->watch < 0)
			remote->watch = -2;
	}
	mounts_release(&remote->mounts);
	mounts_read(&remote->mounts, "/proc/self/mountinfo");
}

/* "/proc/12" of "/proc/12/root/x" where that process has mounts of its own, or NULL; heap. */
static char *process_elsewhere(struct remote *remote, const char *path)
{
	size_t n = foreign_process_bytes(path);
	char *process, *name;
	struct stat st;
	bool elsewhere;

	if (!n)
		return NULL;
	if (!remote->space && !stat("/proc/self/ns/mnt", &st))
		remote->space = st.st_ino;
	process = xstrndup(path, n);
	name = xasprintf("%s/ns/mnt", process);
	elsewhere = remote->space && !stat(name, &st) && st.st_ino != remote->space;
	free(name);
	if (elsewhere)
		return process;
	free(process);
	return NULL;
}

static bool are_there_any(const char *process)
{
	char *name = xasprintf("%s/mountinfo", process);
	struct mounts mounts;
	bool any;

	mounts_read(&mounts, name);
	any = mounts.n;
	mounts_release(&mounts);
	free(name);
	return any;
}

bool remote_open_needed(const char *path, const struct foreign_options *options)
{
	struct remote *remote = &the_remote;
	char *process;
	bool needed;

	pthread_mutex_lock(&remote->lock);
	process = process_elsewhere(remote, options->root ? options->root : path);
	if (process) {
		needed = are_there_any(process);
	} else {
		watch_mounts(remote);
		needed = remote->mounts.n;
	}
	pthread_mutex_unlock(&remote->lock);
	free(process);
	return needed;
}

/* False: it does not answer. */
static bool await(struct remote *remote)
{
	enum { LOOK_MS = 50 };
	struct pollfd pollfd = { .fd = remote->helper.socket, .events = POLLIN };
	uint64_t patience_ns = (REMOTE_PATIENCE_MS >> remote->failures) * NS_PER_MS;

	while (poll(&pollfd, 1, LOOK_MS) <= 0)
		if (helper_is_stuck(&remote->helper, patience_ns, REMOTE_TOTAL_MS * NS_PER_MS))
			return false;
	return true;
}

static int take_answer(struct helper *helper, struct open_answer *answer)
{
	int fd, rc = helper_take_answer(helper, answer, sizeof(*answer), &fd);

	if (rc <= 0)
		return rc ? rc : -EPIPE;
	return !answer->rc && fd < 0 ? -EPIPE : answer->rc ? answer->rc : fd;
}

static size_t put_question(struct open_question *question, const char *path, bool of_descriptor,
			   const struct foreign_options *options)
{
	size_t path_bytes = strlen(path) + 1;
	size_t root_bytes = options->root ? strlen(options->root) + 1 : 0;

	if (path_bytes > PATH_MAX || root_bytes > PATH_MAX - 1)
		return 0;
	*question = (struct open_question){
		.bytes_max = options->bytes_max,
		.head_bytes = options->head_bytes,
		.kernel_file = options->kernel_file,
		.no_link = options->no_link,
		.by_hand = options->by_hand,
		.has_root = options->root,
		.of_descriptor = of_descriptor,
	};
	memcpy(question->texts, path, path_bytes);
	if (root_bytes)
		memcpy(question->texts + path_bytes, options->root, root_bytes);
	return QUESTION_BYTES + path_bytes + root_bytes;
}

/* beside: a descriptor to go with it, or -1. */
static int ask(struct remote *remote, const struct open_question *question, size_t bytes, int beside,
	       struct open_answer *answer, struct str *err)
{
	const struct helper_work work = { sizeof(*question) - 1, sizeof(*answer), answer_one, &remote->copies };
	int rc = remote->helper.pid ? 0 : helper_start(&remote->helper, &work);

	if (!rc)
		rc = helper_ask(&remote->helper, question, bytes, beside);
	if (!rc && !await(remote)) {
		helper_leave(&remote->helper);
		remote->failures++;
		return fail(err, -ETIMEDOUT, "its file system does not answer");
	}
	if (!rc)
		rc = take_answer(&remote->helper, answer);
	if (rc >= 0 || answer->rc)
		return rc < 0 ? fail(err, rc, "%s", answer->why) : rc;
	if (remote->helper.pid) /* somebody has ended it */
		helper_leave(&remote->helper);
	return fail(err, rc, "it cannot be asked for: %s", strerror(-rc));
}

int remote_open(const char *path, const struct foreign_options *options, struct stat *st,
		struct str *err)
{
	int own = foreign_own_descriptor(path, options), rc;
	struct remote *remote = &the_remote;
	struct open_answer answer = { 0 };
	struct open_question *question;
	size_t bytes;

	if (own >= 0 && fcntl(own, F_GETFD) < 0)
		return fail(err, -ENOENT, "no such file");
	question = xmalloc(sizeof(*question));
	bytes = put_question(question, path, own >= 0, options);
	pthread_mutex_lock(&remote->lock);
	if (!bytes)
		rc = fail(err, -ENAMETOOLONG, "%s", strerror(ENAMETOOLONG));
	else if (remote->failures >= REMOTE_FAILURES_MAX)
		rc = fail(err, -ETIMEDOUT,
			  "not asked for: file systems that are mounted here do not answer");
	else
		rc = ask(remote, question, bytes, own, &answer, err);
	pthread_mutex_unlock(&remote->lock);
	free(question);
	if (rc >= 0)
		*st = answer.st;
	return rc;
}
