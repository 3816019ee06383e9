/* SPDX-License-Identifier: MIT */
/*
 * Small files of sysfs and procfs, read whole; and writes that are complete or an error.
 */
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 << 20 };

int read_text_file(const char *path, struct str *out)
{
	char buf[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	for (size_t total = 0;;) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		if (n <= 0)
			break;
		total += (size_t)n;
		if (total > FILE_BYTES_MAX) {
			rc = -EFBIG;
			break;
		}
		str_addn(out, buf, (size_t)n);
	}
	close(fd);
	return rc;
}

int read_line_file(const char *path, struct str *out)
{
	int rc;

	str_reset(out);
	rc = read_text_file(path, out);
	while (out->len && isspace((unsigned char)out->s[out->len - 1]))
		out->s[--out->len] = '\0';
	return rc;
}

int read_u64_file(const char *path, uint64_t *out)
{
	struct str text = STR_INIT;
	int rc = read_line_file(path, &text);

	if (!rc)
		rc = parse_u64(text.s, 0, out);
	str_release(&text);
	return rc;
}

int write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int write_all_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const char *p = bytes;

	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		p += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

/* The system call itself: musl has no function for it. */
int rename_new(int from_folder, const char *from, int to_folder, const char *to)
{
	return syscall(SYS_renameat2, from_folder, from, to_folder, to, RENAME_NOREPLACE) ? -errno : 0;
}
