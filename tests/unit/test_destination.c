/* SPDX-License-Identifier: MIT */
/*
 * Places for results that somebody else prepared: other users are played by giving files away, so most of
 * it needs root. A FIFO's other side is a thread or a child of the test.
 */
#include "util/destination.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER = 65534 };

static char *folder;
static struct str why = STR_INIT;

static char *below(const char *path)
{
	return xasprintf("%s/%s", folder, path);
}

static char *put(const char *path, const char *text)
{
	char *full = below(path);
	FILE *f = fopen(full, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
	return full;
}

static void give_away(const char *path)
{
	assert_int_equal(lchown(path, OTHER, OTHER), 0);
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	folder = xasprintf("%s/output-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder) || chmod(folder, 01777))
		abort();
	str_reset(&why);
	return 0;
}

static int teardown(void **state)
{
	char *command = xasprintf("rm -rf '%s'", folder);

	(void)state;
	if (system(command))
		abort();
	free(command);
	free(folder);
	str_release(&why);
	return 0;
}

static void need_root(void)
{
	if (!geteuid())
		return;
	printf("# skip: needs root\n");
	skip();
}

/* Writes "new", or expects that error. */
static void write_new(const char *path, bool append, int expected)
{
	int fd;

	str_reset(&why);
	fd = destination_open(path, append, &why);
	if (expected) {
		assert_int_equal(fd, expected);
		assert_true(why.len > 0);
		return;
	}
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(write(fd, "new", 3), 3);
	close(fd);
}

static void assert_text(const char *path, const char *expected)
{
	struct str text = STR_INIT;

	assert_int_equal(read_text_file(path, &text), 0);
	assert_string_equal(text.s, expected);
	str_release(&text);
}

static void test_files(void **state)
{
	char *path = below("file"), *old = put("old", "something old"), *link = below("link");

	(void)state;
	write_new(path, false, 0);
	assert_text(path, "new");
	write_new(old, false, 0);
	assert_text(old, "new");
	write_new(old, true, 0);
	assert_text(old, "newnew");
	assert_int_equal(symlink(old, link), 0);
	write_new(link, false, 0);
	assert_text(old, "new");
	write_new(folder, false, -EISDIR);
	free(path);
	path = below("nowhere/file");
	write_new(path, false, -ENOENT);
	free(path);
	free(old);
	free(link);
}

static void test_dangling_link(void **state)
{
	char *link = below("link"), *victim = below("victim");

	(void)state;
	assert_int_equal(symlink(victim, link), 0);
	write_new(link, false, 0);
	assert_text(victim, "new");
	if (geteuid())
		goto out;
	assert_int_equal(unlink(victim), 0);
	give_away(link);
	write_new(link, false, -EPERM);
	assert_int_equal(access(victim, F_OK), -1);
out:
	free(link);
	free(victim);
}

static void test_others_link(void **state)
{
	char *victim = put("victim", "precious"), *link = below("link"), *ours = below("ours");
	int fd = -1;

	(void)state;
	need_root();
	assert_int_equal(symlink(victim, link), 0);
	give_away(link);
	write_new(link, false, -EPERM);
	assert_string_equal(why.s, "a link of user 65534, not yours or root's");
	assert_text(victim, "precious");
	assert_int_equal(destination_open_stream(link, &fd, &why), 0);
	assert_int_equal(destination_open_control(link, &why), -EPERM);
	/* Behind one of ours, by a path from where that lies. */
	str_reset(&why);
	assert_int_equal(symlink("link", ours), 0);
	write_new(ours, false, -EPERM);
	assert_string_equal(why.s, "a link of user 65534, not yours or root's");
	assert_text(victim, "precious");
	assert_int_equal(lchown(link, geteuid(), getegid()), 0);
	write_new(ours, false, 0);
	assert_text(victim, "new");
	free(victim);
	free(link);
	free(ours);
}

static void test_odd_links(void **state)
{
	char *round = below("round"), *out = below("out");
	struct stat st, opened;
	int ends[2], fd;

	(void)state;
	assert_int_equal(symlink("round", round), 0);
	write_new(round, false, -ELOOP);
	/* As /dev/stdout is: what it leads to has no name. */
	assert_int_equal(pipe(ends), 0);
	str_reset(&why);
	free(round);
	round = xasprintf("/proc/self/fd/%d", ends[1]);
	assert_int_equal(symlink(round, out), 0);
	fd = destination_open(out, false, &why);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &opened) | fstat(ends[1], &st), 0);
	assert_true(opened.st_ino == st.st_ino && opened.st_dev == st.st_dev);
	close(fd);
	close(ends[0]);
	close(ends[1]);
	free(round);
	free(out);
}

static void test_others_file(void **state)
{
	char *path = put("file", "theirs");

	(void)state;
	need_root();
	give_away(path);
	write_new(path, false, -EPERM);
	assert_string_equal(
		why.s,
		"in a folder that others write to, a file of user 65534, not yours or root's");
	assert_text(path, "theirs");
	/* In their own folder it is theirs to have results in. */
	assert_int_equal(chmod(folder, 0755), 0);
	write_new(path, false, 0);
	assert_text(path, "new");
	assert_int_equal(chmod(folder, 01777), 0);
	give_away(folder);
	write_new(path, false, 0);
	free(path);
}

static void test_others_fifo(void **state)
{
	char *path = below("fifo"), *link = below("link");
	int fd = -1, reader;

	(void)state;
	need_root();
	assert_int_equal(mkfifo(path, 0666), 0);
	give_away(path);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	write_new(path, false, -EPERM);
	assert_string_equal(why.s, "a FIFO of user 65534, not yours or root's");
	str_reset(&why);
	assert_int_equal(destination_open_stream(path, &fd, &why), -EPERM);
	assert_int_equal(destination_open_control(path, &why), -EPERM);
	/* By a link of one's own it is theirs all the same. */
	assert_int_equal(symlink(path, link), 0);
	write_new(link, false, -EPERM);
	close(reader);
	free(path);
	free(link);
}

static void test_streams(void **state)
{
	char *file = put("file", ""), *fifo = below("fifo"), *name;
	int fd = -1, reader, fds[2];

	(void)state;
	assert_int_equal(destination_open_stream(file, &fd, &why), 0);
	assert_int_equal(destination_open_stream("/nowhere/x", &fd, &why), 0);
	assert_int_equal(destination_open_stream("/dev/null", &fd, &why), 1);
	close(fd);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_int_equal(destination_open_stream(fifo, &fd, &why), 1);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
	close(reader);
	assert_int_equal(pipe(fds), 0);
	assert_true(geteuid() || !fchown(fds[1], OTHER, OTHER)); /* the shell's, in front of sudo */
	name = xasprintf("/dev/fd/%d", fds[1]);
	assert_int_equal(destination_open_stream(name, &fd, &why), 1);
	close(fd);
	close(fds[0]);
	close(fds[1]);
	free(name);
	free(file);
	free(fifo);
}

/* A FIFO without a reader, in a child that has TERM masked as pstat has while it measures: TERM ends the wait. */
static void test_nobody_reads(void **state)
{
	char *fifo = below("fifo");
	sigset_t mask;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	pid = fork();
	if (!pid) {
		alarm(300);
		_exit(destination_open(fifo, false, &why) == -EINTR ? 7 : 1);
	}
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	free(fifo);
}

/* The reader may come later. */
static void test_a_late_reader(void **state)
{
	char *fifo = below("fifo"), text[4] = "";
	int fd, status;
	pid_t pid;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	pid = fork();
	if (!pid) {
		alarm(300);
		write_new(fifo, false, 0);
		_exit(0);
	}
	fd = open(fifo, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 3);
	assert_string_equal(text, "new");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	free(fifo);
}

static void test_control(void **state)
{
	char *fifo = below("fifo"), *file = put("file", "");
	int fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = destination_open_control(fifo, &why);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_NONBLOCK | O_RDWR);
	close(fd);
	assert_int_equal(destination_open_control(file, &why), -EINVAL);
	assert_int_equal(destination_open_control("/nowhere/fifo", &why), -ENOENT);
	free(fifo);
	free(file);
}

static void begin(struct destination *to, const char *path)
{
	if (destination_begin(to, path, &why))
		fail_msg("%s", why.s);
	assert_int_equal(write_all(to->fd, "new", 3), 0);
}

static bool is_there(const char *name)
{
	char *path = below(name);
	struct stat st;
	bool is = !lstat(path, &st);

	free(path);
	return is;
}

static void assert_below(const char *name, const char *text)
{
	char *path = below(name);

	assert_text(path, text);
	free(path);
}

static void test_beside(void **state)
{
	char *path = below("perf.data"), *first = xasprintf("perf.data.%d.new", (int)getpid()), *there = below(first);
	struct destination to, left;

	(void)state;
	begin(&left, path);
	assert_string_equal(left.beside, first);
	/* Left behind: replaced, and not removed by who made it. */
	begin(&to, path);
	assert_string_equal(to.beside, first);
	destination_end(&left);
	assert_true(is_there(first));
	assert_false(is_there("perf.data"));
	destination_end(&to);
	assert_false(is_there(first));
	/* It can't be taken away: as root a folder stands for what a sticky folder keeps. */
	assert_int_equal(mkdir(there, 0700), 0);
	begin(&to, path);
	assert_string_not_equal(to.beside, first);
	assert_int_equal(destination_put(&to, false, &why), 0);
	assert_below("perf.data", "new");
	destination_end(&to);
	/* In place of what is there only if that is wanted. */
	begin(&to, path);
	assert_int_equal(destination_put(&to, false, &why), -EEXIST);
	assert_int_equal(destination_put(&to, true, &why), 0);
	assert_int_equal(destination_rename(&to, "dated"), 0);
	assert_false(is_there("perf.data"));
	destination_end(&to);
	assert_below("dated", "new");
	free(there);
	free(first);
	free(path);
}

static void test_places_that_are_none(void **state)
{
	static const struct {
		const char *path;
		int code;
	} rows[] = {
		{ "", -EISDIR }, { "/", -EISDIR }, { "./", -EISDIR }, { "..", -EISDIR }, { "/nowhere/x", -ENOENT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct destination to;

		assert_int_equal(destination_begin(&to, rows[i].path, &why), rows[i].code);
		destination_end(&to);
	}
}

/* What somebody puts there meanwhile is neither renamed nor removed. */
static void test_exchanged(void **state)
{
	char *path = below("perf.data"), *victim = put("victim", "old");
	struct destination to;
	char *beside;

	(void)state;
	begin(&to, path);
	beside = below(to.beside);
	assert_int_equal(unlink(beside), 0);
	assert_int_equal(symlink(victim, beside), 0);
	assert_int_equal(destination_put(&to, true, &why), -ESTALE);
	assert_false(is_there("perf.data"));
	destination_end(&to);
	assert_int_equal(unlink(beside), 0); /* it is still there */
	free(beside);
	/* In its place: no other file gets another name. */
	begin(&to, path);
	assert_int_equal(destination_put(&to, true, &why), 0);
	assert_int_equal(rename(victim, path), 0);
	assert_int_equal(destination_rename(&to, "dated"), -ESTALE);
	destination_remove(&to, "perf.data", &to.inode);
	assert_below("perf.data", "old");
	destination_end(&to);
	free(victim);
	free(path);
}

/* The folder that was meant gets it, whatever has its name now. */
static void test_folder_exchanged(void **state)
{
	char *path = below("d/perf.data"), *was = below("d"), *is = below("moved"), *other = below("other");
	struct destination to;

	(void)state;
	assert_int_equal(mkdir(was, 0700) | mkdir(other, 0700), 0);
	begin(&to, path);
	assert_int_equal(rename(was, is), 0);
	assert_int_equal(symlink(other, was), 0);
	assert_int_equal(destination_put(&to, true, &why), 0);
	destination_end(&to);
	assert_below("moved/perf.data", "new");
	assert_false(is_there("other/perf.data"));
	free(other);
	free(is);
	free(was);
	free(path);
}

static void test_folder_beside(void **state)
{
	char *path = below("perf.data");
	struct destination to;

	(void)state;
	assert_int_equal(destination_begin_folder(&to, path, &why), 0);
	assert_true(is_there(to.beside));
	destination_end(&to);
	assert_int_equal(destination_begin_folder(&to, path, &why), 0);
	assert_int_equal(destination_put(&to, false, &why), 0);
	destination_end(&to);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing was left beside it */
	assert_int_equal(mkdir(folder, 0700), 0);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dangling_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_odd_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others_fifo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_streams, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_late_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_control, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_places_that_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exchanged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folder_exchanged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folder_beside, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
