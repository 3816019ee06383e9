/*
 * courier.c: see courier.h. One courier for the process, a helper (helper.h) that is started when it is first needed.
 * Its progress is a number in a page that both have.
 */
#include "util/courier.h"

#include "util/fetcher.h"
#include "util/helper.h"
#include "util/mounts.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WHY_BYTES = 240 };

/* What crosses the socket: one packet each way. */
struct question {
	uint64_t bytes_max, head_bytes;
	bool kernel_file, no_link, by_hand, has_root;
	bool of_descriptor; /* the path is one to the descriptor beside it */
	char texts[2 * PATH_MAX]; /* the path, and behind its NUL the root */
};
enum { QUESTION_BYTES = offsetof(struct question, texts) };

struct answer { /* with a descriptor beside it where rc is 0 */
	int rc;
	struct stat st;
	char why[WHY_BYTES];
};

/* ---- the courier's own side ---- */

/* beside: the descriptor that came with the question, or -1. */
static int open_for(const struct question *question, int beside, struct stat *st, struct str *why)
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

static void answer_one(int socket, struct fetcher *fetcher, const struct question *question, int beside)
{
	struct answer answer = { 0 };
	struct str why = STR_INIT;
	int fd = open_for(question, beside, &answer.st, &why);

	if (fd >= 0)
		fd = fetcher_take(fetcher, fd, &answer.st, question->head_bytes, &why);
	answer.rc = fd < 0 ? fd : 0;
	snprintf(answer.why, sizeof(answer.why), "%s", why.s);
	if (helper_send(socket, &answer, sizeof(answer), fd))
		_exit(1);
	if (fd >= 0)
		close(fd);
	str_release(&why);
}

/* progress: the page of it. */
static void serve(int socket, void *progress)
{
	struct fetcher *fetcher = fetcher_new(progress);
	struct question *question = xcalloc(1, sizeof(*question));
	ssize_t got;
	int beside;

	while ((got = helper_receive(socket, question, sizeof(*question) - 1, 0, &beside)) > QUESTION_BYTES) {
		((char *)question)[got] = '\0';
		answer_one(socket, fetcher, question, beside);
		if (beside >= 0)
			close(beside);
	}
}

/* ---- this side ---- */

/* The one of this process; what the lock is for: several threads may ask. */
static struct courier {
	pthread_mutex_t lock;
	int watch; /* mountinfo, which poll(2) tells about; -1: not opened yet, -2: not to be had */
	struct mounts mounts;
	ino_t space; /* inode of this process's mount namespace; 0: not asked yet */
	struct helper helper;
	atomic_uint *progress;
	unsigned failures;
} the_courier = { .lock = PTHREAD_MUTEX_INITIALIZER, .watch = -1 };

static void watch_mounts(struct courier *courier)
{
	struct pollfd pollfd = { .fd = courier->watch, .events = POLLPRI };

	if (courier->watch == -2 || (courier->watch >= 0 && poll(&pollfd, 1, 0) == 0))
		return;
	if (courier->watch == -1) {
		courier->watch = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
		if (courier->watch < 0)
			courier->watch = -2;
	}
	mounts_release(&courier->mounts);
	mounts_read(&courier->mounts, "/proc/self/mountinfo");
}

/* "/proc/12" of "/proc/12/root/x" where that process has mounts of its own, or NULL; heap. */
static char *process_elsewhere(struct courier *courier, const char *path)
{
	size_t n = foreign_process_bytes(path);
	char *process, *name;
	struct stat st;
	bool elsewhere;

	if (!n)
		return NULL;
	if (!courier->space && !stat("/proc/self/ns/mnt", &st))
		courier->space = st.st_ino;
	process = xstrndup(path, n);
	name = xasprintf("%s/ns/mnt", process);
	elsewhere = courier->space && !stat(name, &st) && st.st_ino != courier->space;
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

bool courier_needed(const char *path, const struct foreign_options *options)
{
	struct courier *courier = &the_courier;
	char *process;
	bool needed;

	pthread_mutex_lock(&courier->lock);
	process = process_elsewhere(courier, options->root ? options->root : path);
	if (process) {
		needed = are_there_any(process);
	} else {
		watch_mounts(courier);
		needed = courier->mounts.n;
	}
	pthread_mutex_unlock(&courier->lock);
	free(process);
	return needed;
}

static int start(struct courier *courier)
{
	if (!courier->progress) {
		void *page = mmap(NULL, sizeof(*courier->progress), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			return -errno;
		courier->progress = page;
	}
	return helper_start(&courier->helper, serve, courier->progress);
}

/* It may still wait when this process is long gone; its page of progress is then its own. */
static void leave_behind(struct courier *courier)
{
	helper_leave(&courier->helper);
	munmap(courier->progress, sizeof(*courier->progress));
	courier->progress = NULL;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* False: too long without a sign. */
static bool await(const struct courier *courier)
{
	enum { LOOK_MS = 50 };
	int64_t patience = COURIER_PATIENCE_MS >> courier->failures;
	int64_t begin = now_ms(), last = begin;
	unsigned seen = atomic_load(courier->progress);
	struct pollfd pollfd = { .fd = courier->helper.socket, .events = POLLIN };

	for (;;) {
		int64_t now;

		if (poll(&pollfd, 1, LOOK_MS) > 0)
			return true;
		now = now_ms();
		if (atomic_load(courier->progress) != seen) {
			seen = atomic_load(courier->progress);
			last = now;
		}
		if (now - begin >= COURIER_TOTAL_MS)
			return false;
		if (now - last < patience)
			continue;
		/* On a busy machine it is no file system that it waits for. */
		if (!helper_is_runnable(&courier->helper))
			return false;
		last = now;
	}
}

static int take_answer(const struct courier *courier, struct answer *answer)
{
	int fd;
	bool whole = helper_receive(courier->helper.socket, answer, sizeof(*answer), 0, &fd) == sizeof(*answer);

	if (whole && !answer->rc && fd >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return whole && answer->rc ? answer->rc : -EPIPE;
}

static size_t put_question(struct question *question, const char *path, bool of_descriptor,
			   const struct foreign_options *options)
{
	size_t path_bytes = strlen(path) + 1;
	size_t root_bytes = options->root ? strlen(options->root) + 1 : 0;

	if (path_bytes > PATH_MAX || root_bytes > PATH_MAX - 1)
		return 0;
	*question = (struct question){
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
static int ask(struct courier *courier, const struct question *question, size_t bytes, int beside,
	       struct answer *answer, struct str *err)
{
	int rc = courier->helper.pid ? 0 : start(courier);

	if (!rc)
		rc = helper_send(courier->helper.socket, question, bytes, beside);
	if (!rc && !await(courier)) {
		leave_behind(courier);
		courier->failures++;
		return fail(err, -ETIMEDOUT, "its file system does not answer");
	}
	if (!rc)
		rc = take_answer(courier, answer);
	if (rc >= 0 || answer->rc)
		return rc < 0 ? fail(err, rc, "%s", answer->why) : rc;
	if (courier->helper.pid) /* somebody has ended it */
		leave_behind(courier);
	return fail(err, rc, "it cannot be asked for: %s", strerror(-rc));
}

int courier_open(const char *path, const struct foreign_options *options, struct stat *st,
		 struct str *err)
{
	int own = foreign_own_descriptor(path, options), rc;
	struct courier *courier = &the_courier;
	struct answer answer = { 0 };
	struct question *question;
	size_t bytes;

	if (own >= 0 && fcntl(own, F_GETFD) < 0)
		return fail(err, -ENOENT, "no such file");
	question = xmalloc(sizeof(*question));
	bytes = put_question(question, path, own >= 0, options);
	pthread_mutex_lock(&courier->lock);
	if (!bytes)
		rc = fail(err, -ENAMETOOLONG, "%s", strerror(ENAMETOOLONG));
	else if (courier->failures >= COURIER_FAILURES_MAX)
		rc = fail(err, -ETIMEDOUT,
			  "not asked for: file systems that are mounted here do not answer");
	else
		rc = ask(courier, question, bytes, own, &answer, err);
	pthread_mutex_unlock(&courier->lock);
	free(question);
	if (rc >= 0)
		*st = answer.st;
	return rc;
}
