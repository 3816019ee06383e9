/* SPDX-License-Identifier: MIT */
/*
 * mounts.c: see mounts.h. A line of mountinfo is
 *
 *   36 35 98:0 /top /mnt/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *   id parent device root point options [tags...] - type source options of the file system
 */
#include "util/mounts.h"

#include "util/util.h"

#include <linux/stat.h> /* first: other headers define the modes of files unless they are defined */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * To add a file system that waits for somebody else: a row, with its number of statfs(2), or 0. A name that
 * ends in a dot has others after it. autofs waits for the program that mounts; the one that systemd has on
 * every machine, for binfmt_misc, lies in proc and is left out.
 */
static const struct slow_type {
	const char *name;
	uint32_t magic;
	enum mount_kind kind;
} slow_types[] = {
	{ "fuse", 0x65735546, MOUNT_OF_FUSE },
	{ "fuse.", 0, MOUNT_OF_FUSE },
	{ "fuseblk", 0, MOUNT_OF_FUSE },
	{ "virtiofs", 0, MOUNT_OF_NETWORK }, /* whose number is that of fuse */
	{ "nfs", 0x6969, MOUNT_OF_NETWORK },
	{ "nfs4", 0, MOUNT_OF_NETWORK },
	{ "cifs", 0xff534d42, MOUNT_OF_NETWORK },
	{ "smb3", 0xfe534d42, MOUNT_OF_NETWORK },
	{ "9p", 0x01021997, MOUNT_OF_NETWORK },
	{ "ceph", 0x00c36400, MOUNT_OF_NETWORK },
	{ "afs", 0x6b414653, MOUNT_OF_NETWORK },
	{ "lustre", 0x0bd00bd0, MOUNT_OF_NETWORK },
	{ "gpfs", 0x47504653, MOUNT_OF_NETWORK },
	{ "beegfs", 0x19830326, MOUNT_OF_NETWORK },
	{ "autofs", 0x0187, MOUNT_OF_NETWORK },
};

static enum mount_kind kind_of_type(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(slow_types); i++) {
		const char *name = slow_types[i].name;
		size_t n = strlen(name);

		if (name[n - 1] == '.' ? !strncmp(type, name, n) : !strcmp(type, name))
			return slow_types[i].kind;
	}
	return MOUNT_OF_KERNEL;
}

enum mount_kind mount_kind_of_magic(uint32_t magic)
{
	for (size_t i = 0; i < ARRAY_SIZE(slow_types); i++)
		if (slow_types[i].magic == magic && magic)
			return slow_types[i].kind;
	return MOUNT_OF_KERNEL;
}

/* The next word of a line; "" after the last. */
static char *next_word(char **at)
{
	char *word = *at, *end = word + strcspn(word, " ");

	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static void add_line(struct mounts *mounts, char *line)
{
	enum { POINT = 4, OPTIONS = 5 };
	struct mount mount = { 0 };
	const char *point = "", *word;
	char *owner;
	uint64_t number;

	for (unsigned i = 0; *line; i++) {
		word = next_word(&line);
		if (!i && parse_u64(word, 10, &mount.id))
			return;
		if (i == POINT)
			point = word;
		if (i > OPTIONS && !strcmp(word, "-"))
			break;
	}
	word = next_word(&line);
	mount.kind = kind_of_type(word);
	if (mount.kind == MOUNT_OF_KERNEL || (!strcmp(word, "autofs") && !strncmp(point, "/proc/", 6)))
		return;
	next_word(&line);
	owner = strstr(line, "user_id=");
	if (owner) {
		owner += strlen("user_id=");
		owner[strspn(owner, "0123456789")] = '\0';
		mount.owned = !parse_u64(owner, 10, &number) && number <= UINT32_MAX;
		mount.owner = mount.owned ? (uint32_t)number : 0;
	}
	VEC_GROW(mounts->v, mounts->n, mounts->cap);
	mounts->v[mounts->n++] = mount;
}

void mounts_read(struct mounts *mounts, const char *path)
{
	struct str text = STR_INIT;
	char *line;

	*mounts = (struct mounts){ 0 };
	if (!read_text_file(path, &text))
		for (char *at = text.s; (line = strsep(&at, "\n")) != NULL;)
			add_line(mounts, line);
	str_release(&text);
}

void mounts_release(struct mounts *mounts)
{
	free(mounts->v);
	*mounts = (struct mounts){ 0 };
}

const struct mount *mounts_find(const struct mounts *mounts, int fd)
{
	struct statx status = { 0 };

	/* Nothing is asked for that the file system would have to tell. */
	if (!mounts->n || syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) ||
	    !(status.stx_mask & STATX_MNT_ID))
		return NULL;
	for (size_t i = 0; i < mounts->n; i++)
		if (mounts->v[i].id == status.stx_mnt_id)
			return &mounts->v[i];
	return NULL;
}
