/* SPDX-License-Identifier: MIT */
/*
 * Files that others named: nothing but regular files, nothing of the kernel's, no way out of a root. Each
 * case of a root is asked twice, of openat2(2) and of the walk by hand.
 */
#include "util/remote_open.h"
#include "util/foreign.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char *folder;
static struct str why = STR_INIT;

static char *below(const char *path)
{
	return xasprintf("%s/%s", folder, path);
}

static void put(const char *path, const char *text)
{
	char *full = below(path);
	FILE *f = fopen(full, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
	free(full);
}

static void put_link(const char *path, const char *to)
{
	char *full = below(path);

	assert_int_equal(symlink(to, full), 0);
	free(full);
}

static void put_folder(const char *path)
{
	char *full = below(path);

	assert_int_equal(mkdir(full, 0755), 0);
	free(full);
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	folder = xasprintf("%s/foreign-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		abort();
	put("outside", "outside");
	put_folder("root");
	put_folder("root/bin");
	put_folder("root/bin/deep");
	put("root/app", "app");
	put("root/bin/app", "bin/app");
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

/* The file's text, or "-E" and the error's number, in a buffer that the next call reuses. Closes fd. */
static const char *text_of(int fd)
{
	static char text[256];
	ssize_t got;

	if (fd < 0) {
		assert_true(why.len > 0);
		snprintf(text, sizeof(text), "-E%d", -fd);
		return text;
	}
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	got = read(fd, text, sizeof(text) - 1);
	assert_true(got >= 0);
	text[got] = '\0';
	close(fd);
	return text;
}

static const char *read_by(const char *path, const struct foreign_options *options)
{
	struct stat st;

	str_reset(&why);
	return text_of(foreign_open(path, options, &st, &why));
}

static const char *by_helper(const char *path, const struct foreign_options *options)
{
	struct stat st;

	str_reset(&why);
	return text_of(remote_open(path, options, &st, &why));
}

static void in_root(const char *path, const char *expected)
{
	char *root = below("root");

	for (int by_hand = 0; by_hand < 2; by_hand++)
		assert_string_equal(read_by(path, &(struct foreign_options){ .root = root,
									     .by_hand = by_hand }),
				    expected);
	free(root);
}

static const char *error(int code)
{
	static char text[16];

	snprintf(text, sizeof(text), "-E%d", code);
	return text;
}

static void test_below_a_root(void **state)
{
	(void)state;
	in_root("/app", "app");
	in_root("app", "app");
	in_root("//bin/./app", "bin/app");
	in_root("/bin/deep/../app", "bin/app");
	in_root("/nosuch", error(ENOENT));
	in_root("/app/x", error(ENOTDIR));
	in_root("/bin", error(EINVAL));
	in_root("/", error(EINVAL));
	in_root("", error(ENOENT));
}

static void test_no_way_out(void **state)
{
	char *outside = below("outside"), *name = xasprintf("/%s", outside);

	(void)state;
	in_root("/../outside", error(ENOENT));
	in_root("/bin/../../outside", error(ENOENT));
	in_root("../../../../../../../../etc/passwd", error(ENOENT));
	in_root(name, error(ENOENT));
	put_link("root/up", "../outside");
	in_root("/up", error(ENOENT));
	put_link("root/absolute", outside);
	in_root("/absolute", error(ENOENT));
	put_link("root/passwd", "/etc/passwd");
	in_root("/passwd", error(ENOENT));
	put_link("root/etc", "/");
	in_root("/etc/etc/etc/app", "app");
	put_link("root/bin/other", "/bin/../app");
	in_root("/bin/other", "app");
	put_link("root/bin/beside", "app");
	in_root("/bin/beside", "bin/app");
	put_link("root/folder", "bin/deep/..");
	in_root("/folder/app", "bin/app");
	put_link("root/loop", "loop");
	in_root("/loop", error(ELOOP));
	free(name);
	free(outside);
}

static void test_too_long(void **state)
{
	struct str path = STR_INIT;

	(void)state;
	for (int i = 0; i < 3000; i++)
		str_add(&path, "/.");
	str_add(&path, "/app");
	in_root(path.s, error(ENAMETOOLONG));
	str_release(&path);
}

static void test_nothing_but_regular_files(void **state)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char *fifo = below("root/fifo");
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(mkfifo(fifo, 0666), 0);
	in_root("/fifo", error(EINVAL)); /* and returns, although nobody writes to it */
	assert_string_equal(read_by(fifo, NULL), error(EINVAL));
	assert_string_equal(why.s, "not a regular file");
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/root/socket", folder);
	if (strlen(folder) + 20 < sizeof(name.sun_path) &&
	    !bind(fd, (struct sockaddr *)&name, sizeof(name)))
		in_root("/socket", error(EINVAL));
	close(fd);
	assert_string_equal(read_by("/dev/null", NULL), error(EINVAL));
	assert_string_equal(read_by(folder, NULL), error(EINVAL));
	free(fifo);
}

static void test_the_kernels_files(void **state)
{
	(void)state;
	assert_string_equal(read_by("/proc/self/cmdline", NULL), error(EPERM));
	assert_string_equal(why.s, "on proc, where reading can have effects");
	assert_string_equal(read_by("/proc/self/cmdline",
				    &(struct foreign_options){ .kernel_file = true }),
			    error(EPERM));
	assert_int_not_equal(
		strcmp(read_by("/proc/kallsyms", &(struct foreign_options){ .kernel_file = true }),
		       error(EPERM)),
		0);
	/* A link to one is one. */
	put_link("to_proc", "/proc/self/cmdline");
	char *link = below("to_proc");
	assert_string_equal(read_by(link, NULL), error(EPERM));
	free(link);
}

static void test_sizes(void **state)
{
	(void)state;
	char *root = below("root");
	struct foreign_options options = { .root = root, .bytes_max = 3 };

	assert_string_equal(read_by("/app", &options), "app");
	assert_string_equal(read_by("/bin/app", &options), error(EFBIG));
	assert_string_equal(why.s, "7 bytes, more than the limit of 3 for such a file");
	free(root);
}

static void test_what_is_plain(void **state)
{
	char *app = below("root/app"), *link = below("link"), *no_root = below("nosuch");

	(void)state;
	assert_string_equal(read_by(app, NULL), "app");
	put_link("link", "root/app");
	assert_string_equal(read_by(link, NULL), "app");
	assert_string_equal(read_by("/app", &(struct foreign_options){ .root = no_root }),
			    error(ENOENT));
	if (geteuid()) {
		assert_int_equal(chmod(app, 0), 0);
		assert_string_equal(read_by(app, NULL), error(EACCES));
	}
	free(app);
	free(link);
	free(no_root);
}

/* What process 1234 sees of itself: the root of a process is a link that has to be followed. */
static void test_root_of_a_process(void **state)
{
	char *root = xasprintf("/proc/%d/root", (int)getpid()), *app = below("root/app");

	(void)state;
	assert_string_equal(read_by(app, &(struct foreign_options){ .root = root }), "app");
	assert_string_equal(
		read_by(app, &(struct foreign_options){ .root = root, .by_hand = true }), "app");
	free(root);
	free(app);
}

static void test_a_path_that_begins_with_such_a_root(void **state)
{
	char *root = below("proc/12/root"), *app = below("proc/12/root/bin/app");
	char *up = below("proc/12/root/up"), *task = below("proc/12/task/13/root/x");
	char *old = below("root");

	(void)state;
	put_folder("proc");
	put_folder("proc/12");
	assert_int_equal(rename(old, root), 0);
	put("proc/12/outside", "outside");
	put_link("proc/12/root/up", "../outside");
	assert_string_equal(read_by(app, NULL), "bin/app");
	assert_string_equal(read_by(up, NULL), error(ENOENT));
	assert_string_equal(read_by(up, &(struct foreign_options){ .by_hand = true }), error(ENOENT));
	assert_int_equal(foreign_root_bytes(app), strlen(root));
	assert_int_equal(foreign_root_bytes(root), strlen(root));
	assert_int_equal(foreign_root_bytes(task), strlen(task) - 2);
	assert_int_equal(foreign_root_bytes("/proc/proc/12/root/x"), strlen("/proc/proc/12/root"));
	assert_int_equal(foreign_root_bytes("/proc/12/rooted/x"), 0);
	assert_int_equal(foreign_root_bytes("/proc/x/root/x"), 0);
	assert_int_equal(foreign_root_bytes("/proc/self/root/x"), 0);
	assert_int_equal(foreign_root_bytes("/process/12/root"), 0);
	free(old);
	free(task);
	free(up);
	free(app);
	free(root);
}

static void test_no_link(void **state)
{
	struct foreign_options options = { .no_link = true };
	char *link = below("link"), *app = below("root/app"), *root = below("root");

	(void)state;
	put_link("link", app);
	put_link("root/link", "app");
	put_link("root/to_bin", "bin");
	assert_string_equal(read_by(link, NULL), "app");
	assert_string_equal(read_by(link, &options), error(EINVAL));
	options.root = root;
	for (int by_hand = 0; by_hand < 2; by_hand++) {
		options.by_hand = by_hand;
		assert_string_equal(read_by("/link", &options), error(EINVAL));
		assert_string_equal(read_by("/to_bin/app", &options), "bin/app");
	}
	free(root);
	free(app);
	free(link);
}

/*
 * Descriptors of this process are in no other: neither those that were open when the helper began nor those since.
 */
static void test_own_descriptors_by_the_helper(void **state)
{
	static const char *const ways[] = { "/proc/self/fd/%d", "/proc/thread-self/fd/%d", "/dev/fd/%d" };
	const struct foreign_options plain = { 0 };
	char *root = below("root"), *app = below("root/app"), *other = below("other");
	struct foreign_options rooted = { .root = root };
	int early = open(app, O_RDONLY | O_CLOEXEC), late;

	(void)state;
	put("other", "other");
	assert_string_equal(by_helper(app, &plain), "app");
	late = open(other, O_RDONLY | O_CLOEXEC);
	unlink(other);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		char path[64];

		snprintf(path, sizeof(path), ways[i], early);
		assert_string_equal(by_helper(path, &plain), "app");
		assert_string_equal(by_helper(path, &rooted), error(ENOENT));
		snprintf(path, sizeof(path), ways[i], late);
		assert_string_equal(by_helper(path, &plain), "other");
	}
	/* Not open here; 3 or so is one of the helper's own. */
	close(late);
	for (int fd = 0; fd <= late; fd++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (fcntl(fd, F_GETFD) < 0)
			assert_string_equal(by_helper(path, &plain), error(ENOENT));
	}
	assert_string_equal(by_helper(app, &plain), "app");
	close(early);
	free(other);
	free(app);
	free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_below_a_root, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_way_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_but_regular_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_kernels_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_plain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_root_of_a_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_path_that_begins_with_such_a_root, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_no_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_descriptors_by_the_helper, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
