/* SPDX-License-Identifier: MIT */
/*
 * Which mounts may not answer, by lines of mountinfo as kernels write them.
 */
#include "util/mounts.h"
#include "util/util.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void read_text(struct mounts *mounts, const char *text)
{
	char path[] = "/tmp/mounts-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
	close(fd);
	mounts_read(mounts, path);
	unlink(path);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *line;
		bool found;
		struct mount mount;
	} cases[] = {
		{ "22 27 0:21 / /proc rw,relatime - proc proc rw\n", false, { 0 } },
		{ "27 1 254:0 / / rw - ext4 /dev/vda rw,user_id=7\n", false, { 0 } },
		{ "36 27 0:40 / /mnt rw shared:7 master:2 - nfs4 host:/x rw,vers=4.2\n", true,
		  { 36, MOUNT_OF_NETWORK, false, 0 } },
		{ "37 27 0:41 / /far rw,nosuid - fuse.sshfs u@host: rw,user_id=1000,group_id=1000\n",
		  true, { 37, MOUNT_OF_FUSE, true, 1000 } },
		{ "38 27 0:42 / /m - fuse x rw,user_id=4294967296\n", false, { 0 } },
		{ "38 27 0:42 / /m rw - fuse x rw,user_id=4294967296\n", true,
		  { 38, MOUNT_OF_FUSE, false, 0 } },
		{ "39 27 8:1 / /ntfs rw - fuseblk /dev/sda1 rw,user_id=0,allow_other\n", true,
		  { 39, MOUNT_OF_FUSE, true, 0 } },
		{ "40 22 0:43 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw,fd=29\n", false, { 0 } },
		{ "41 27 0:44 / /net rw - autofs auto rw,fd=29\n", true,
		  { 41, MOUNT_OF_NETWORK, false, 0 } },
		{ "42 27 0:45 / /a rw - fusectl none rw\n", false, { 0 } },
		{ "43 27 0:46 / /v rw - virtiofs tag rw\n", true, { 43, MOUNT_OF_NETWORK, false, 0 } },
		{ "x 27 0:46 / /v rw - nfs tag rw\n", false, { 0 } },
		{ "44 27 0:46 /", false, { 0 } },
		{ "", false, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mount *is = &cases[i].mount;
		struct mounts mounts;

		read_text(&mounts, cases[i].line);
		assert_int_equal(mounts.n, cases[i].found);
		if (mounts.n) {
			assert_int_equal(mounts.v[0].id, is->id);
			assert_int_equal(mounts.v[0].kind, is->kind);
			assert_int_equal(mounts.v[0].owned, is->owned);
			assert_int_equal(mounts.v[0].owner, is->owner);
		}
		mounts_release(&mounts);
	}
}

static void test_not_there(void **state)
{
	struct mounts mounts;

	(void)state;
	mounts_read(&mounts, "/nonexistent");
	assert_int_equal(mounts.n, 0);
	assert_null(mounts_find(&mounts, 0));
	mounts_release(&mounts);
}

/* The file that a mount is found by: its id is what this kernel says. */
static void test_of_file(void **state)
{
	struct mount none = { .id = UINT64_MAX, .kind = MOUNT_OF_FUSE };
	struct mounts mounts = { &none, 1, 1 };
	int fd = open("/", O_PATH | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_null(mounts_find(&mounts, fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_of_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
